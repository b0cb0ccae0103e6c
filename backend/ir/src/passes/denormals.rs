//! Removal of flushes of denormals that have no effect: their operand is known not to be denormal.
//!
//! The front end flushes the operands and the result of each operation of a program that requests
//! it. Most operands are results that are already flushed.
//!
//! The pass assumes that no value is denormal and corrects this assumption until nothing changes.
//! So values that a loop carries in locals are found, too.

use std::slice;

use foldhash::HashMap;

use crate::{BinaryOp, Function, Inst, LEAST_HALF, LEAST_SINGLE, Local, TernaryOp, UnaryOp, Value, Wide, WideOp};

/// Set of the kinds of denormals that a value may be.
type Kinds = u8;

/// A denormal single-precision float.
const SINGLE: Kinds = 1;
/// A single-precision float that is less than the least normal half, and not 0.
const HALF: Kinds = 2;
/// A word whose low 16 bits are a denormal half.
const CODE: Kinds = 4;
/// The low word of a denormal double. The words of other doubles are the two results of one
/// instruction.
const DOUBLE: Kinds = 8;
const ANY: Kinds = SINGLE | HALF | CODE | DOUBLE;

/// Maximum number of scans of a function. No flush is removed if more are needed.
const MAX_SCANS: usize = 16;

/// Bits of 2^-64. A sum or a fused multiply-add with a constant of at least this magnitude is 0 or
/// not denormal, because its last place is much greater than the least normal float.
const LEAST_ADDEND: u32 = 0x1f80_0000;

/// Bits of 1 as a float.
const ONE: u32 = 0x3f80_0000;

/// Removes flushes without effect.
pub fn run(function: &mut Function) {
    if !function.insts.iter().any(|inst| flushed(inst).is_some()) {
        return;
    }
    let Some(facts) = Facts::of_function(function) else { return };
    let mut replaced: HashMap<Value, Value> = HashMap::default();
    function.insts.retain_mut(|inst| {
        let needless = flushed(inst).is_some_and(|(kinds, words)| facts.of_words(words) & kinds == 0);
        inst.map_operands(|value| replaced.get(&value).copied().unwrap_or(value));
        match inst {
            _ if !needless => return true,
            Inst::Unary { result, a, .. } => drop(replaced.insert(*result, *a)),
            Inst::Wide(wide) => {
                let results = [wide.result, Value(wide.result.0 + 1)];
                replaced.extend(results.into_iter().zip(wide.words.iter().copied()));
            }
            _ => return true,
        }
        false
    });
}

/// Returns the kinds of denormals that a flush maps to zeros, and the words of its operand.
fn flushed(inst: &Inst) -> Option<(Kinds, &[Value])> {
    match inst {
        Inst::Unary { op: UnaryOp::FlushDenormal, a, .. } => Some((SINGLE, slice::from_ref(a))),
        Inst::Unary { op: UnaryOp::FlushHalfDenormal, a, .. } => Some((SINGLE | HALF, slice::from_ref(a))),
        Inst::Wide(wide) if wide.op == WideOp::FlushDenormal => Some((DOUBLE, &wide.words)),
        _ => None,
    }
}

/// Kinds of denormals that values and words of locals may be.
struct Facts {
    values: Vec<Kinds>,
    /// Bits of constants.
    constants: HashMap<Value, u32>,
    /// Kinds of each word of each local.
    locals: Vec<Vec<Kinds>>,
    has_changed: bool,
}

impl Facts {
    /// Finds the facts of a function. Returns `None` if it takes too long.
    fn of_function(function: &Function) -> Option<Self> {
        let mut facts = Self {
            values: vec![0; function.types.len()],
            constants: HashMap::default(),
            locals: function.locals.iter().map(|&words| vec![0; words as usize]).collect(),
            has_changed: false,
        };
        for _ in 0..MAX_SCANS {
            facts.has_changed = false;
            function.insts.iter().for_each(|inst| facts.scan(inst));
            if !facts.has_changed {
                return Some(facts);
            }
        }
        None
    }

    fn of(&self, value: Value) -> Kinds {
        self.values[value.0 as usize]
    }

    /// Returns the kinds of a word or of the words of a double.
    fn of_words(&self, words: &[Value]) -> Kinds {
        match *words {
            [word] => self.of(word),
            [low, high] if high.0 == low.0 + 1 => self.of(low),
            _ => ANY,
        }
    }

    fn scan(&mut self, inst: &Inst) {
        match inst {
            Inst::Const { result, word } => drop(self.constants.insert(*result, *word)),
            Inst::LocalStore { local, base, index, value, .. } => {
                let kinds = self.of(*value);
                return self.store(*local, index.is_none().then_some(*base), kinds);
            }
            _ => {}
        }
        let kinds = self.result(inst);
        inst.results().for_each(|result| self.add(result, kinds));
    }

    fn add(&mut self, value: Value, kinds: Kinds) {
        let known = &mut self.values[value.0 as usize];
        self.has_changed |= kinds & !*known != 0;
        *known |= kinds;
    }

    /// Adds the kinds of a stored value to a word of a local, or to all words without `word`.
    fn store(&mut self, local: Local, word: Option<u32>, kinds: Kinds) {
        let words = &mut self.locals[local.0 as usize];
        let words = match word {
            Some(word) => words.get_mut(word as usize..=word as usize),
            None => Some(&mut words[..]),
        };
        for known in words.into_iter().flatten() {
            self.has_changed |= kinds & !*known != 0;
            *known |= kinds;
        }
    }

    /// Returns the kinds of denormals that the results of an instruction may be.
    fn result(&self, inst: &Inst) -> Kinds {
        match inst {
            Inst::Wide(wide) => self.wide(wide),
            Inst::Const { word, .. } => of_constant(*word) | DOUBLE,
            Inst::Unary { op, a, .. } => of_unary(*op, self.of(*a)) | DOUBLE,
            Inst::Binary { op, a, b, .. } => self.binary(*op, *a, *b) | DOUBLE,
            Inst::Ternary { op: TernaryOp::Fma, c, .. } if self.is_at_least(*c, LEAST_ADDEND) => HALF | CODE | DOUBLE,
            Inst::Ternary { op: TernaryOp::Fma, .. } => ANY,
            Inst::Ternary { b, c, .. } => self.of(*b) | self.of(*c) | DOUBLE,
            Inst::LocalLoad { local, base, index, .. } => {
                let words = &self.locals[local.0 as usize];
                match index {
                    None => words.get(*base as usize).copied().unwrap_or(ANY) | DOUBLE,
                    Some(_) => words.iter().fold(DOUBLE, |all, kinds| all | kinds),
                }
            }
            _ => ANY,
        }
    }

    fn binary(&self, op: BinaryOp, a: Value, b: Value) -> Kinds {
        use BinaryOp as B;
        match op {
            B::FMin | B::FMax | B::FMinNum | B::FMaxNum => self.of(a) | self.of(b),
            B::FMul if self.is_at_least(b, ONE) => self.of(a) | CODE,
            B::FMul if self.is_at_least(a, ONE) => self.of(b) | CODE,
            B::FAdd | B::FSub if self.is_at_least(a, LEAST_ADDEND) || self.is_at_least(b, LEAST_ADDEND) => HALF | CODE,
            _ => ANY,
        }
    }

    /// Returns true for a constant with at least the magnitude of the float with bits `least`.
    fn is_at_least(&self, value: Value, least: u32) -> bool {
        self.constants.get(&value).is_some_and(|word| word & 0x7fff_ffff >= least)
    }

    fn wide(&self, wide: &Wide) -> Kinds {
        use WideOp as W;
        let single = ANY & !DOUBLE;
        match wide.op {
            W::FlushDenormal | W::Sqrt | W::Floor | W::Ceil | W::Trunc | W::RoundEven => single,
            W::F32ToF64 | W::S64ToF64 | W::U64ToF64 => single,
            W::FMin | W::FMax => self.of_words(&wide.words[..2]) | self.of_words(&wide.words[2..]) | single,
            W::S64ToF32 | W::U64ToF32 => CODE | DOUBLE,
            _ => ANY,
        }
    }
}

/// Returns the kinds of denormals of a constant, except those of doubles.
fn of_constant(word: u32) -> Kinds {
    let size = word & 0x7fff_ffff;
    let is = |kind: Kinds, is: bool| if is { kind } else { 0 };
    let code = is(CODE, word & 0x7c00 == 0 && word & 0x3ff != 0);
    is(SINGLE, size != 0 && size < LEAST_SINGLE) | is(HALF, size != 0 && size < LEAST_HALF) | code
}

fn of_unary(op: UnaryOp, a: Kinds) -> Kinds {
    use UnaryOp as U;
    match op {
        U::Copy | U::AsFloat | U::FNeg | U::FAbs => a,
        U::FlushDenormal => a & !SINGLE | CODE,
        U::FlushHalfDenormal | U::SToF | U::UToF | U::Floor | U::Ceil | U::Trunc | U::RoundEven => CODE,
        // A square root is greater than its operand if that is less than 1.
        U::Sqrt => a & HALF | CODE,
        U::FloatToHalf => SINGLE | HALF | if a & HALF == 0 { 0 } else { CODE },
        // A denormal half is a normal single-precision float.
        U::HalfToFloat => CODE | if a & CODE == 0 { 0 } else { HALF },
        _ => ANY,
    }
}
