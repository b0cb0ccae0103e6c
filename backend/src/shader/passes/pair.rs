//! Pairing: a function over two waves at once, operation by operation, so that one computes while the other waits for results.
//!
//! What is the same for both waves stays single: constants, parameters, inputs that are declared so, and what is computed of
//! them. All conditions must be of that kind, so that both waves take the same way, and the function must have no effect but its
//! outputs, or effects whose order between waves does not show (those of compute shaders, and of pixels at different places). Input
//! word `s` of the second wave is word `inputs + s`, output words likewise. It pays when latency bounds the function and registers
//! hold both waves. Source: DESIGN 4.

use super::super::ir::{Function, Inst, Local, Space, Type, Value, map_operands, map_results, operands, results};

/// Instructions under which pairing gains nothing without a loop.
const LEAST: usize = 48;

/// Values of one wave that are live at once, at most: measured, as what is spilled now and then costs less than waiting.
const MOST_LIVE: usize = 24;

/// What is the same for both waves.
struct Shared {
    values: Vec<bool>,
    locals: Vec<bool>,
}

/// Which functions may be paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Those that only compute outputs.
    Refused,
    /// Those that reach memory, too, in all lanes of both waves.
    Allowed,
}

/// Pairs a function with `inputs` input words and `outputs` output words. `None` where it cannot be done, or does not pay.
pub fn run(
    function: &Function,
    (inputs, outputs): (u32, u32),
    effects: Effects,
    same_input: impl Fn(u32) -> bool,
) -> Option<Function> {
    if function.insts.len() < LEAST && !function.insts.contains(&Inst::Loop) {
        return None;
    }
    let hinders = |inst| parts_waves(inst) || effects == Effects::Refused && has_effect(inst);
    if function.insts.iter().any(hinders) {
        return None;
    }
    let shared = Shared::new(function, same_input)?;
    if most_live(function, &shared) > MOST_LIVE {
        return None;
    }
    Some(paired(function, &shared, (inputs, outputs)))
}

/// Whether an instruction waits for other waves, or tells lanes apart that run from those that do not.
pub fn parts_waves(inst: &Inst) -> bool {
    use Inst::{Barrier, Demote, Interpolate, IsActive, IsHelper, Kill};
    matches!(inst, Kill | Demote | Barrier | IsHelper { .. } | IsActive { .. } | Interpolate { .. })
}

/// Whether an instruction does more than compute.
pub fn has_effect(inst: &Inst) -> bool {
    match inst {
        Inst::Store { .. } | Inst::StorePart { .. } | Inst::Atomic { .. } | Inst::Atomic64(_) => true,
        Inst::Load { space: Space::Address { .. }, .. } => true,
        Inst::Image(image) => image.op.has_effect(),
        _ => false,
    }
}

impl Shared {
    /// `None` when a condition differs.
    fn new(function: &Function, same_input: impl Fn(u32) -> bool) -> Option<Self> {
        let mut shared = Self { values: vec![true; function.types.len()], locals: vec![true; function.locals.len()] };
        loop {
            let mut changed = false;
            for inst in &function.insts {
                let same = shared.is_same(inst, &same_input);
                match inst {
                    Inst::If { .. } if !same => return None,
                    Inst::LocalStore { local: Local(local), .. } if !same => {
                        changed |= std::mem::replace(&mut shared.locals[*local as usize], false);
                    }
                    _ if !same => {
                        for result in results(inst) {
                            changed |= std::mem::replace(&mut shared.values[result.0 as usize], false);
                        }
                    }
                    _ => {}
                }
            }
            if !changed {
                return Some(shared);
            }
        }
    }

    fn is_same(&self, inst: &Inst, same_input: &impl Fn(u32) -> bool) -> bool {
        let mut same = match inst {
            Inst::Input { slot, .. } => same_input(*slot),
            Inst::Output { .. } => false,
            inst if has_effect(inst) => false,
            Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } => self.locals[local.0 as usize],
            _ => true,
        };
        operands(inst, |value| same &= self.values[value.0 as usize]);
        same
    }
}

/// Values and words of locals of one wave that are live at once.
fn most_live(function: &Function, shared: &Shared) -> usize {
    let differs = |value: Value| !shared.values[value.0 as usize] && function.types[value.0 as usize] != Type::Bool;
    let loops = loops(function);
    let mut defined = vec![0; function.types.len()];
    let mut last = vec![0; function.types.len()];
    for (at, inst) in function.insts.iter().enumerate() {
        for result in results(inst) {
            (defined[result.0 as usize], last[result.0 as usize]) = (at, at);
        }
        operands(inst, |value| {
            let start = defined[value.0 as usize];
            let around = loops.iter().filter(|(first, end)| start < *first && *first < at && at < *end);
            let end = around.map(|(_, end)| *end).max().unwrap_or(at);
            last[value.0 as usize] = end.max(last[value.0 as usize]);
        });
    }
    let mut changes = vec![0isize; function.insts.len() + 1];
    for value in (0..function.types.len() as u32).map(Value).filter(|value| differs(*value)) {
        changes[defined[value.0 as usize]] += 1;
        changes[last[value.0 as usize]] -= 1;
    }
    let words: u32 =
        function.locals.iter().zip(&shared.locals).filter(|(_, shared)| !**shared).map(|(words, _)| words).sum();
    let live = changes.iter().scan(0, |live, change| {
        *live += change;
        Some(*live)
    });
    live.max().unwrap_or(0) as usize + words as usize
}

/// First and last instruction of each loop.
fn loops(function: &Function) -> Vec<(usize, usize)> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for (at, inst) in function.insts.iter().enumerate() {
        match inst {
            Inst::Loop => open.push(at),
            Inst::EndLoop => all.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    all
}

fn paired(function: &Function, shared: &Shared, (inputs, outputs): (u32, u32)) -> Function {
    let (tables, routines) = (function.tables.clone(), function.routines.clone());
    let mut out = Function { tables, routines, ..Function::default() };
    let mut places = [Vec::new(), Vec::new()];
    for (&words, &is_shared) in function.locals.iter().zip(&shared.locals) {
        for (wave, places) in places.iter_mut().enumerate() {
            if wave == 0 || !is_shared {
                out.locals.push(words);
            }
            places.push(Local(out.locals.len() as u32 - 1));
        }
    }
    let mut values = [(); 2].map(|()| vec![Value(0); function.types.len()]);
    for inst in &function.insts {
        let single = match inst {
            Inst::Output { .. } => false,
            inst if has_effect(inst) => false,
            Inst::LocalStore { local, .. } => shared.locals[local.0 as usize],
            _ => results(inst).iter().all(|result| shared.values[result.0 as usize]),
        };
        for wave in 0..if single { 1 } else { 2 } {
            let mut copy = inst.clone();
            map_operands(&mut copy, |value| values[wave][value.0 as usize]);
            let first = Value(out.types.len() as u32);
            for result in results(inst) {
                for values in &mut values[wave..if single { 2 } else { wave + 1 }] {
                    values[result.0 as usize] = Value(out.types.len() as u32);
                }
                out.types.push(function.types[result.0 as usize]);
            }
            map_results(&mut copy, |_| first);
            of_wave(&mut copy, &places[wave], wave as u32 * inputs, wave as u32 * outputs, single);
            out.insts.push(copy);
        }
    }
    out
}

/// The slots and locals of a wave.
fn of_wave(inst: &mut Inst, places: &[Local], inputs: u32, outputs: u32, single: bool) {
    match inst {
        Inst::Input { slot, .. } if !single => *slot += inputs,
        Inst::Output { slot, .. } => *slot += outputs,
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } => *local = places[local.0 as usize],
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::ir::{BinaryOp as B, Builder, TernaryOp as T, UnaryOp as U, verify, verify_strictly};
    use crate::shader::testing::run_everywhere;

    /// A function of two inputs that differ and one that does not, with a loop that turns as often as the latter says.
    fn function() -> Function {
        let mut b = Builder::new();
        let [x, y] = [0, 1].map(|slot| b.input(slot, Type::F32));
        let turns = b.input(2, Type::I32);
        let (state, counter) = (b.local(2), b.local(1));
        b.local_store(state, 0, None, x);
        b.local_store(state, 1, None, y);
        let (zero, one) = (b.int(0), b.int(1));
        b.local_store(counter, 0, None, zero);
        b.push(Inst::Loop);
        let count = b.local_load(counter, 0, None, Type::I32);
        let done = b.binary(B::ULe, turns, count);
        b.push(Inst::If { condition: done });
        b.push(Inst::Break { depth: 0 });
        b.push(Inst::EndIf);
        for step in 0..12u8 {
            let [x, y] = [0, 1].map(|word| b.local_load(state, word, None, Type::F32));
            let factor = b.float(f32::from(step) * 0.125);
            let sum = b.ternary(T::Fma, x, factor, y);
            let rest = b.unary(U::Floor, sum);
            let next = b.binary(B::FSub, sum, rest);
            b.local_store(state, u32::from(step % 2), None, next);
        }
        let next = b.binary(B::IAdd, count, one);
        b.local_store(counter, 0, None, next);
        b.push(Inst::Continuing);
        b.push(Inst::EndLoop);
        let results = [0, 1].map(|word| b.local_load(state, word, None, Type::F32));
        let slope = b.unary(U::DdxFine, results[0]);
        for (slot, value) in (0..).zip(results.into_iter().chain([slope])) {
            b.push(Inst::Output { slot, value });
        }
        b.finish()
    }

    #[test]
    fn both_waves_compute_what_one_does() {
        let function = function();
        let paired = run(&function, (3, 3), Effects::Refused, |slot| slot == 2).unwrap();
        assert_eq!((verify(&paired), verify_strictly(&paired)), (Ok(()), Ok(())));
        // The counter and what is computed of it stay single.
        let count =
            |function: &Function, wanted: fn(&Inst) -> bool| function.insts.iter().filter(|inst| wanted(inst)).count();
        let (compares, loads) =
            (|inst: &Inst| matches!(inst, Inst::If { .. }), |inst: &Inst| matches!(inst, Inst::LocalLoad { .. }));
        assert_eq!((count(&paired, compares), count(&function, compares)), (1, 1));
        assert_eq!(count(&paired, loads), count(&function, loads) * 2 - 1);
        let lane = |number: u32| {
            let float = |step: u32| (number as f32 * 0.37 + step as f32).to_bits();
            vec![float(1), float(2), 5]
        };
        let expected = std::cell::RefCell::new(Vec::new());
        run_everywhere(&function, &(0..32).map(lane).collect::<Vec<_>>(), 3, |_, output| {
            expected.borrow_mut().push(output.to_vec());
        });
        let expected = expected.into_inner();
        // Lanes of the second wave are those of the first, 16 further on.
        let pairs: Vec<Vec<u32>> = (0..16).map(|number| [lane(number), lane(number + 16)].concat()).collect();
        let next = std::cell::Cell::new(0);
        run_everywhere(&paired, &pairs, 6, |_, output| {
            let number = next.replace((next.get() + 1) % 16);
            assert_eq!(output[..3], expected[number]);
            assert_eq!(output[3..], expected[number + 16]);
        });
    }

    /// Invocations that each take a number, and write it where they say.
    #[test]
    fn both_waves_have_their_effects() {
        let mut b = Builder::new();
        let buffer = Space::Buffer { resource: 0, element: None };
        let (index, zero, one) = (b.input(0, Type::I32), b.int(0), b.int(1));
        let taken = b.value(Type::I32);
        b.push(Inst::Loop);
        let (op, comparator) = (crate::shader::ir::AtomicOp::Add, None);
        b.push(Inst::Atomic { result: taken, space: buffer, offset: zero, op, value: one, comparator });
        let four = b.int(4);
        let offset = b.binary(B::IMul, index, four);
        b.push(Inst::Store { space: buffer, offset, value: one });
        b.push(Inst::Break { depth: 0 });
        b.push(Inst::Continuing);
        b.push(Inst::EndLoop);
        let paired = run(&b.finish(), (1, 0), Effects::Allowed, |_| false).unwrap();
        assert_eq!(verify(&paired), Ok(()));
        let count = |wanted: fn(&Inst) -> bool| paired.insts.iter().filter(|inst| wanted(inst)).count();
        assert_eq!(count(|inst| matches!(inst, Inst::Atomic { .. })), 2);
        assert_eq!(count(|inst| matches!(inst, Inst::Store { .. })), 2);
    }

    #[test]
    fn what_may_part_the_waves_is_left_alone() {
        let function = function();
        assert!(run(&function, (3, 3), Effects::Refused, |_| false).is_none(), "the loop would turn differently");
        let mut killing = function.clone();
        killing.insts.push(Inst::Kill);
        assert!(run(&killing, (3, 3), Effects::Allowed, |slot| slot == 2).is_none());
    }
}
