//! Constant folding and algebraic identities. Constants move to the head of the function, without
//! duplicates.
//!
//! The folder uses the definitions of operations in `ops`, which the interpreter uses, too.

use foldhash::{HashMap, HashSet};

use crate::{BinaryOp, Function, Inst, TernaryOp, Type, UnaryOp, Value, Wide};

/// Facts about values.
struct Known {
    words: HashMap<Value, u32>,
    /// Replacement of each value that was removed.
    replaced: HashMap<Value, Value>,
    /// Unary or binary instruction that defines each value.
    made_by: HashMap<Value, Inst>,
    /// Floats that are not constant and never NaN.
    numbers: HashSet<Value>,
}

/// Result of folding an instruction.
enum Folded {
    Kept,
    Constant(u32),
    Same(Value),
    Changed(Inst),
    /// Bits of a word that a mask keeps.
    Masked(Value, u32),
}

/// Folds constants and identities.
pub fn run(function: &mut Function) {
    let mut known = Known {
        words: HashMap::default(),
        replaced: HashMap::default(),
        made_by: HashMap::default(),
        numbers: HashSet::default(),
    };
    let mut constants: HashMap<(u32, Type), Value> = HashMap::default();
    let (mut head, mut out) = (Vec::new(), Vec::with_capacity(function.insts.len()));
    for mut inst in std::mem::take(&mut function.insts) {
        inst.map_operands(|value| known.replaced.get(&value).copied().unwrap_or(value));
        if let Inst::Wide(wide) = &inst
            && let Some(words) = known.wide(wide)
        {
            for (result, word) in inst.results().zip(words) {
                head.push(Inst::Const { result, word });
                known.words.insert(result, word);
            }
            continue;
        }
        let result = inst.results().next();
        if let Some(result) = result
            && known.gives_number(&inst)
        {
            known.numbers.insert(result);
        }
        let folded = match &inst {
            Inst::Const { word, .. } => Folded::Constant(*word),
            _ => known.fold(function, &inst),
        };
        match (folded, result) {
            (Folded::Masked(a, mask), Some(result)) => {
                let key = (mask, Type::I32);
                let b = *constants.entry(key).or_insert_with(|| {
                    let mask = Value(function.types.len() as u32);
                    function.types.push(Type::I32);
                    head.push(Inst::Const { result: mask, word: key.0 });
                    known.words.insert(mask, key.0);
                    mask
                });
                let inst = Inst::Binary { result, op: BinaryOp::And, a, b };
                known.made_by.insert(result, inst.clone());
                out.push(inst);
            }
            (Folded::Constant(word), Some(result)) => {
                let key = (word, function.types[result.0 as usize]);
                let first = *constants.entry(key).or_insert_with(|| {
                    head.push(Inst::Const { result, word });
                    result
                });
                known.words.insert(result, word);
                known.replaced.insert(result, first);
            }
            (Folded::Same(value), Some(result)) => drop(known.replaced.insert(result, value)),
            (Folded::Changed(inst), Some(result)) => {
                known.made_by.insert(result, inst.clone());
                out.push(inst);
            }
            _ => {
                if let (Inst::Unary { .. } | Inst::Binary { .. }, Some(result)) = (&inst, result) {
                    known.made_by.insert(result, inst.clone());
                }
                out.push(inst);
            }
        }
    }
    head.append(&mut out);
    function.insts = head;
}

impl Known {
    /// Returns the result words of a wide operation with constant operands.
    fn wide(&self, wide: &Wide) -> Option<[u32; 2]> {
        let words: Option<Vec<u32>> = wide.words.iter().map(|word| self.words.get(word).copied()).collect();
        words.map(|words| wide.op.apply_words(&words))
    }

    fn word(&self, value: Value) -> Option<u32> {
        self.words.get(&value).copied()
    }

    /// Returns true if a float is known not to be NaN.
    fn is_number(&self, value: Value) -> bool {
        match self.word(value) {
            Some(word) => !f32::from_bits(word).is_nan(),
            None => self.numbers.contains(&value),
        }
    }

    /// Returns true if an instruction is known not to return NaN, for all operands or for its
    /// known operands. `FMin` and `FMax` never return NaN if the first operand is a number.
    fn gives_number(&self, inst: &Inst) -> bool {
        use UnaryOp as U;
        match inst {
            Inst::Unary { op: U::SToF | U::UToF, .. } => true,
            Inst::Unary { op: U::FNeg | U::FAbs | U::Floor | U::Ceil | U::Trunc | U::RoundEven, a, .. }
            | Inst::Binary { op: BinaryOp::FMin | BinaryOp::FMax, a, .. } => self.is_number(*a),
            Inst::Binary { op: BinaryOp::FMinNum | BinaryOp::FMaxNum, a, b, .. } => {
                self.is_number(*a) || self.is_number(*b)
            }
            Inst::Ternary { op: TernaryOp::SelectFloat, b, c, .. } => self.is_number(*b) && self.is_number(*c),
            _ => false,
        }
    }

    fn fold(&self, function: &Function, inst: &Inst) -> Folded {
        match inst {
            Inst::Unary { result, op, a } => self.unary(function, (*result, *op), *a),
            Inst::Binary { result, op, a, b } => match (self.binary(*op, *a, *b), op) {
                (Folded::Kept, BinaryOp::FMinNum) => self.of_number(*result, BinaryOp::FMin, (*a, *b)),
                (Folded::Kept, BinaryOp::FMaxNum) => self.of_number(*result, BinaryOp::FMax, (*a, *b)),
                (folded, _) => folded,
            },
            Inst::Ternary { op, a, b, c, .. } => self.ternary(*op, [*a, *b, *c]),
            Inst::TableLoad { table, index, .. } => match self.word(*index) {
                Some(index) => {
                    let words = &function.tables[table.0 as usize];
                    Folded::Constant(words.get(index as usize).copied().unwrap_or(0))
                }
                None => Folded::Kept,
            },
            _ => Folded::Kept,
        }
    }

    fn unary(&self, function: &Function, (result, op): (Value, UnaryOp), a: Value) -> Folded {
        if let Some(word) = self.word(a) {
            return Folded::Constant(op.apply(word));
        }
        let same_type = function.types[a.0 as usize] == function.types[result.0 as usize];
        match op {
            UnaryOp::Copy | UnaryOp::AsFloat | UnaryOp::AsBool if same_type => Folded::Same(a),
            UnaryOp::LogicalNot => self.negated(result, a),
            UnaryOp::IsNan if self.is_number(a) => Folded::Constant(0),
            // A half that is only copied keeps its bits. A signalling NaN stays signalling.
            UnaryOp::FloatToHalf => match self.made_by.get(&a) {
                Some(Inst::Unary { op: UnaryOp::HalfToFloat, a, .. }) => Folded::Masked(*a, 0xffff),
                _ => Folded::Kept,
            },
            _ => Folded::Kept,
        }
    }

    /// Replaces `FMinNum` or `FMaxNum` whose second operand is a number by `FMin` or `FMax` with
    /// exchanged operands.
    fn of_number(&self, result: Value, op: BinaryOp, (a, b): (Value, Value)) -> Folded {
        if self.is_number(b) { Folded::Changed(Inst::Binary { result, op, a: b, b: a }) } else { Folded::Kept }
    }

    /// Replaces the negation of a comparison by the opposite comparison.
    fn negated(&self, result: Value, a: Value) -> Folded {
        let (op, a, b) = match self.made_by.get(&a) {
            Some(Inst::Unary { op: UnaryOp::LogicalNot, a, .. }) => return Folded::Same(*a),
            Some(Inst::Binary { op, a, b, .. }) => (*op, *a, *b),
            _ => return Folded::Kept,
        };
        let (op, a, b) = match op {
            BinaryOp::IEq => (BinaryOp::INe, a, b),
            BinaryOp::INe => (BinaryOp::IEq, a, b),
            BinaryOp::SLt => (BinaryOp::SLe, b, a),
            BinaryOp::SLe => (BinaryOp::SLt, b, a),
            BinaryOp::ULt => (BinaryOp::ULe, b, a),
            BinaryOp::ULe => (BinaryOp::ULt, b, a),
            BinaryOp::FEq => (BinaryOp::FNe, a, b),
            BinaryOp::FNe => (BinaryOp::FEq, a, b),
            _ => return Folded::Kept,
        };
        Folded::Changed(Inst::Binary { result, op, a, b })
    }

    fn binary(&self, op: BinaryOp, a: Value, b: Value) -> Folded {
        use BinaryOp as Op;
        match (self.word(a), self.word(b)) {
            (Some(a), Some(b)) => Folded::Constant(op.apply(a, b)),
            (Some(word), None) if commutes(op) => self.with_constant(op, b, word),
            (None, Some(word)) => self.with_constant(op, a, word),
            _ => match op {
                Op::ISub | Op::Xor | Op::LogicalNe if a == b => Folded::Constant(0),
                Op::And | Op::Or | Op::LogicalAnd | Op::LogicalOr if a == b => Folded::Same(a),
                Op::Or => self.union(a, b),
                _ => Folded::Kept,
            },
        }
    }

    /// Returns the value and the mask of a conjunction with a constant.
    fn masked(&self, value: Value) -> Option<(Value, u32)> {
        match self.made_by.get(&value) {
            Some(Inst::Binary { op: BinaryOp::And, a, b, .. }) => match (self.word(*a), self.word(*b)) {
                (None, Some(mask)) => Some((*a, mask)),
                (Some(mask), None) => Some((*b, mask)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Folds `Or` of two parts of one word.
    fn union(&self, a: Value, b: Value) -> Folded {
        match (self.masked(a), self.masked(b)) {
            (Some((a, first)), Some((b, second))) if a == b => match first | second {
                u32::MAX => Folded::Same(a),
                mask => Folded::Masked(a, mask),
            },
            _ => Folded::Kept,
        }
    }

    /// Folds the shift to the left of bits that were shifted to the right as far.
    fn shifted_back(&self, a: Value, count: u32) -> Folded {
        let (right, mask) = self.masked(a).unwrap_or((a, u32::MAX));
        match self.made_by.get(&right) {
            Some(Inst::Binary { op: BinaryOp::ShrLogical, a, b, .. }) if self.word(*b) == Some(count) && count < 32 => {
                Folded::Masked(*a, mask << count)
            }
            _ => Folded::Kept,
        }
    }

    /// Folds `op(a, constant)`.
    fn with_constant(&self, op: BinaryOp, a: Value, word: u32) -> Folded {
        match self.made_by.get(&a) {
            // A mask that keeps all bits of the earlier mask has no effect.
            Some(Inst::Binary { op: BinaryOp::And, a: x, b: y, .. }) if op == BinaryOp::And => {
                let mask = self.word(*x).or(self.word(*y));
                if mask.is_some_and(|mask| mask & word == mask) { Folded::Same(a) } else { with_constant(op, a, word) }
            }
            _ => match with_constant(op, a, word) {
                Folded::Kept if op == BinaryOp::Shl => self.shifted_back(a, word),
                folded => folded,
            },
        }
    }

    fn ternary(&self, op: TernaryOp, [a, b, c]: [Value; 3]) -> Folded {
        if let (Some(a), Some(b), Some(c)) = (self.word(a), self.word(b), self.word(c)) {
            return Folded::Constant(op.apply(a, b, c));
        }
        let selects = matches!(op, TernaryOp::Select | TernaryOp::SelectFloat | TernaryOp::SelectBool);
        match self.word(a) {
            Some(condition) if selects => Folded::Same(if condition != 0 { b } else { c }),
            _ if selects && b == c => Folded::Same(b),
            _ => Folded::Kept,
        }
    }
}

/// Folds `op(a, constant)` by the identities of `op`.
fn with_constant(op: BinaryOp, a: Value, word: u32) -> Folded {
    use BinaryOp as Op;
    match (op, word) {
        (Op::IAdd | Op::ISub | Op::Or | Op::Xor | Op::Shl | Op::ShrLogical | Op::ShrArithmetic, 0)
        | (Op::IMul | Op::UDiv | Op::SDiv, 1)
        | (Op::And, u32::MAX)
        | (Op::LogicalOr | Op::LogicalNe, 0)
        | (Op::LogicalAnd | Op::LogicalEq, 1) => Folded::Same(a),
        (Op::IMul | Op::And | Op::LogicalAnd, 0) => Folded::Constant(0),
        (Op::LogicalOr, 1) => Folded::Constant(1),
        _ => Folded::Kept,
    }
}

fn commutes(op: BinaryOp) -> bool {
    use BinaryOp as Op;
    matches!(
        op,
        Op::IAdd
            | Op::IMul
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEq
            | Op::LogicalNe
    )
}
