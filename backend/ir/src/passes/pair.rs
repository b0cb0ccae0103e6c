//! Pairing: interleaves a function for two waves, operation by operation, so that one wave
//! computes while the other waits for results.
//!
//! Computations that are equal for both waves stay single: constants, parameters, inputs that are
//! declared equal, and values computed from them. All conditions must be equal, so that both waves
//! follow the same path. The function must have no effects except outputs, or only effects whose
//! order between waves is not observable. Effects of compute shaders, and of pixels at different
//! positions, have no observable order.
//!
//! Input word `s` of the second wave is word `inputs + s`. Output words are numbered likewise.
//! Pairing is faster if latency bounds the function and the registers suffice for both waves.
//! Source: DESIGN 4.

use crate::{Effect, Function, Inst, Local, Type, Value};

/// Minimum number of instructions for which pairing is beneficial in a function without a loop.
const MIN_PAIRED: usize = 48;

/// Maximum number of simultaneously live values of one wave. The number was measured: an
/// occasional spill costs less than waiting.
const MAX_LIVE: usize = 24;

/// Values and locals that are equal for both waves.
struct Shared {
    values: Vec<bool>,
    locals: Vec<bool>,
}

/// Effects that paired functions may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// None: functions compute outputs only.
    Refused,
    /// Memory accesses in all lanes of both waves.
    Allowed,
}

/// Pairs a function with `inputs` input words and `outputs` output words. Returns `None` if
/// pairing is impossible or not beneficial.
pub fn run(
    function: &Function,
    (inputs, outputs): (u32, u32),
    effects: Effects,
    same_input: impl Fn(u32) -> bool,
) -> Option<Function> {
    if function.insts.len() < MIN_PAIRED && !function.insts.contains(&Inst::Loop) {
        return None;
    }
    let hinders = |inst| depends_on_wave(inst) || effects == Effects::Refused && has_effect(inst);
    if function.insts.iter().any(hinders) {
        return None;
    }
    let shared = Shared::new(function, same_input)?;
    if max_live(function, &shared) > MAX_LIVE {
        return None;
    }
    Some(paired(function, &shared, (inputs, outputs)))
}

/// Returns true if an instruction waits for other waves, or distinguishes active lanes from
/// inactive ones.
pub fn depends_on_wave(inst: &Inst) -> bool {
    matches!(inst, Inst::IsHelper { .. } | Inst::IsActive { .. } | Inst::Interpolate { .. })
        || matches!(inst.effect(), Effect::Lane | Effect::Barrier)
}

/// Returns true if an instruction has an effect on memory, or operands locate its memory.
pub fn has_effect(inst: &Inst) -> bool {
    let reads_memory = matches!(inst, Inst::Load { .. } | Inst::MatrixLoad(_));
    inst.effect() == Effect::Memory || reads_memory && inst.space().is_some_and(|space| space.is_located())
}

impl Shared {
    /// Finds the values and locals that are equal for both waves. Returns `None` if a condition
    /// differs.
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
                        for result in inst.results() {
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
        inst.operands(|value| same &= self.values[value.0 as usize]);
        same
    }
}

/// Returns the maximum number of simultaneously live values of one wave, plus the words of its
/// locals.
fn max_live(function: &Function, shared: &Shared) -> usize {
    let differs = |value: Value| !shared.values[value.0 as usize] && function.types[value.0 as usize] != Type::Bool;
    let loops = loops(function);
    let mut defined = vec![0; function.types.len()];
    let mut last = vec![0; function.types.len()];
    for (at, inst) in function.insts.iter().enumerate() {
        for result in inst.results() {
            (defined[result.0 as usize], last[result.0 as usize]) = (at, at);
        }
        inst.operands(|value| {
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

/// Returns the positions of the first and last instruction of each loop.
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
            _ => inst.results().all(|result| shared.values[result.0 as usize]),
        };
        for wave in 0..if single { 1 } else { 2 } {
            let mut copy = inst.clone();
            copy.map_operands(|value| values[wave][value.0 as usize]);
            let first = Value(out.types.len() as u32);
            for result in inst.results() {
                for values in &mut values[wave..if single { 2 } else { wave + 1 }] {
                    values[result.0 as usize] = Value(out.types.len() as u32);
                }
                out.types.push(function.types[result.0 as usize]);
            }
            copy.map_results(|_| first);
            of_wave(&mut copy, &places[wave], wave as u32 * inputs, wave as u32 * outputs, single);
            out.insts.push(copy);
        }
    }
    out
}

/// Replaces the slots and locals of an instruction by those of a wave.
fn of_wave(inst: &mut Inst, places: &[Local], inputs: u32, outputs: u32, single: bool) {
    match inst {
        Inst::Input { slot, .. } if !single => *slot += inputs,
        Inst::Output { slot, .. } => *slot += outputs,
        Inst::LocalLoad { local, .. } | Inst::LocalStore { local, .. } => *local = places[local.0 as usize],
        _ => {}
    }
}
