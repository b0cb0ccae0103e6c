//! Choice of the form of each value and each variable, before registers are allocated.

use foldhash::HashMap;
use vitric_ir::passes::uniformity::{Uniformity, Words};
use vitric_ir::{BinaryOp, Function, Inst, TernaryOp, Type, UnaryOp, Value};

/// Form of a value or a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A general register with a uniform value.
    Scalar,
    /// Vectors; a uniform value may use one register for both halves.
    Vector,
    /// A lane mask.
    Mask,
}

/// Forms of the values and variables of a function.
#[derive(Debug)]
pub struct Forms {
    /// Form of each value.
    pub values: Vec<Form>,
    /// Form of each dword of the locals.
    pub words: Vec<Form>,
    /// Constants and their dwords.
    pub constants: HashMap<Value, u32>,
    /// Uses of the values.
    pub uses: Uses,
}

/// Uses of the values of a function.
#[derive(Debug)]
pub struct Uses {
    /// For each value, true if it has exactly one use.
    pub once: Vec<bool>,
    /// For each value, true if its only use is the condition of an `If`.
    pub only_branches: Vec<bool>,
    /// For each value, true if it is a comparison of floats whose only use is a negation.
    pub opposite: Vec<bool>,
}

/// Chooses the forms.
pub fn run(function: &Function, facts: &Uniformity, words: &Words) -> Forms {
    let constant = |inst: &Inst| match inst {
        Inst::Const { result, word } => Some((*result, *word)),
        _ => None,
    };
    let mut forms = Forms {
        values: vec![Form::Vector; function.types.len()],
        words: word_forms(function, facts, words),
        constants: function.insts.iter().filter_map(constant).collect(),
        uses: uses(function),
    };
    for inst in &function.insts {
        let Some(result) = single_result(inst) else { continue };
        let is_bool = function.types[result.0 as usize] == Type::Bool;
        let form = if facts.values[result.0 as usize] && forms.is_scalar(function, inst, words) {
            Form::Scalar
        } else if is_bool {
            Form::Mask
        } else {
            Form::Vector
        };
        forms.values[result.0 as usize] = form;
    }
    forms
}

/// Finds the uses of the values.
fn uses(function: &Function) -> Uses {
    let mut uses = vec![0u32; function.types.len()];
    let [mut branches, mut compares, mut negated] = [(); 3].map(|()| vec![false; function.types.len()]);
    for inst in &function.insts {
        inst.operands(|value| uses[value.0 as usize] += 1);
        match inst {
            Inst::If { condition } => branches[condition.0 as usize] = true,
            Inst::Unary { op: UnaryOp::LogicalNot, a, .. } => negated[a.0 as usize] = true,
            Inst::Binary { result, op: BinaryOp::FEq | BinaryOp::FNe | BinaryOp::FLt | BinaryOp::FLe, .. } => {
                compares[result.0 as usize] = true;
            }
            _ => {}
        }
    }
    let once: Vec<bool> = uses.into_iter().map(|uses| uses == 1).collect();
    let only_branches = once.iter().zip(branches).map(|(&once, branches)| once && branches).collect();
    let negated = once.iter().zip(negated).map(|(&once, negated)| once && negated);
    let opposite = negated.zip(compares).map(|(negated, compares)| negated && compares).collect();
    Uses { once, only_branches, opposite }
}

fn single_result(inst: &Inst) -> Option<Value> {
    let mut results = inst.results();
    if results.len() == 1 { results.next() } else { None }
}

/// Chooses the forms of variables. The type of the first stored value determines the form.
fn word_forms(function: &Function, facts: &Uniformity, words: &Words) -> Vec<Form> {
    let mut forms: Vec<Option<Form>> = vec![None; words.count as usize];
    for inst in &function.insts {
        let (Some(word), Inst::LocalStore { value, .. }) = (words.of(inst), inst) else { continue };
        let form = match (function.types[value.0 as usize], facts.words[word as usize]) {
            (Type::Bool | Type::I32, true) => Form::Scalar,
            (Type::Bool, false) => Form::Mask,
            _ => Form::Vector,
        };
        forms[word as usize].get_or_insert(form);
    }
    forms.into_iter().map(|form| form.unwrap_or(Form::Vector)).collect()
}

impl Forms {
    fn of(&self, value: Value) -> Form {
        self.values[value.0 as usize]
    }

    /// Returns true if a uniform result is to be computed in general registers.
    fn is_scalar(&self, function: &Function, inst: &Inst, words: &Words) -> bool {
        let scalar = |value: &Value| self.of(*value) == Form::Scalar;
        let is_float = |value: &Value| function.types[value.0 as usize] == Type::F32;
        match inst {
            Inst::Const { .. } => true,
            Inst::Unary { op, a, .. } => is_scalar_unary(*op) && scalar(a),
            Inst::Binary { op, a, b, .. } => self.is_scalar_binary(*op, *b) && scalar(a) && scalar(b),
            Inst::Ternary { op: TernaryOp::Select | TernaryOp::SelectBool, a, b, c, .. } => {
                [a, b, c].into_iter().all(scalar)
            }
            Inst::LocalLoad { .. } => words.of(inst).is_some_and(|word| self.words[word as usize] == Form::Scalar),
            Inst::Load { result, .. }
            | Inst::Input { result, .. }
            | Inst::Parameter { result, of: None, .. }
            | Inst::TableLoad { result, .. } => !is_float(result),
            Inst::BufferLength { .. } | Inst::Ballot { .. } => true,
            _ => false,
        }
    }

    fn is_scalar_binary(&self, op: BinaryOp, b: Value) -> bool {
        match op {
            BinaryOp::IAdd
            | BinaryOp::ISub
            | BinaryOp::IMul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::IEq
            | BinaryOp::INe
            | BinaryOp::SLt
            | BinaryOp::SLe
            | BinaryOp::ULt
            | BinaryOp::ULe
            | BinaryOp::LogicalAnd
            | BinaryOp::LogicalOr
            | BinaryOp::LogicalEq
            | BinaryOp::LogicalNe => true,
            // Shifts of general registers use the count modulo 32.
            BinaryOp::Shl | BinaryOp::ShrLogical | BinaryOp::ShrArithmetic => {
                self.constants.get(&b).is_some_and(|&count| count < 32)
            }
            _ => false,
        }
    }
}

/// Returns true if general registers support a unary operation.
pub fn is_scalar_unary(op: UnaryOp) -> bool {
    matches!(
        op,
        UnaryOp::Copy | UnaryOp::AsBool | UnaryOp::LogicalNot | UnaryOp::INeg | UnaryOp::BitNot | UnaryOp::BitCount
    )
}
