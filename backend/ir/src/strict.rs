//! The strict verifier. Definitions must dominate uses, and operands must have the types that
//! their operations require.
//!
//! Functions that a front end produces from well-formed SPIR-V pass, and they still pass after
//! every optimization pass. [`verify`](super::verify) requires less, because the interpreter needs
//! less. There, a value that was not defined on the executed path is some word, which is equal in
//! every run.
//!
//! Dominance is exact for structured control flow. The values defined at a point are those defined
//! on every path to it. Regions therefore intersect the sets at their end and at each `Break` or
//! `Continue` that leads there. At an unreachable point, every value counts as defined.

use super::verify::VerifyError;
use super::{BinaryOp, Function, Inst, MatrixOp, TernaryOp, Type, UnaryOp, Value};

/// Set of values, as a bit mask.
type Set = Vec<u64>;

/// Checks a function that passed [`verify`](super::verify).
///
/// # Errors
/// Returns the first problem that is found.
pub fn verify_strictly(function: &Function) -> Result<(), VerifyError> {
    let words = function.types.len().div_ceil(64);
    let mut flow = Flow { defined: vec![0; words], everything: vec![u64::MAX; words], open: Vec::new() };
    for (at, inst) in function.insts.iter().enumerate() {
        let mut undefined = false;
        inst.operands(|value| undefined |= !flow.has(value));
        let checked = if undefined { Err("operand is not defined on every way") } else { types(function, inst) };
        checked.map_err(|problem| VerifyError { at, problem })?;
        flow.step(inst);
    }
    Ok(())
}

struct Region {
    /// Values defined before the region.
    before: Set,
    /// Values defined on every path to the region's end so far.
    end: Set,
    /// Values defined on every path to a loop's continuing part so far.
    continuing: Set,
    /// True if `Break` and `Continue` count the region.
    is_target: bool,
}

struct Flow {
    defined: Set,
    everything: Set,
    open: Vec<Region>,
}

fn intersect(set: &mut Set, other: &Set) {
    set.iter_mut().zip(other).for_each(|(word, other)| *word &= other);
}

impl Flow {
    fn has(&self, value: Value) -> bool {
        self.defined.get(value.0 as usize / 64).is_some_and(|word| word >> (value.0 % 64) & 1 != 0)
    }

    fn step(&mut self, inst: &Inst) {
        match inst {
            Inst::If { .. } => self.enter(false),
            Inst::Block | Inst::Loop => self.enter(true),
            Inst::Else => self.otherwise(),
            Inst::EndIf => self.end_if(),
            Inst::Continuing => self.continuing(),
            Inst::EndBlock => self.end_target(false),
            Inst::EndLoop => self.end_target(true),
            Inst::Break { depth } => self.leave(*depth, |region| &mut region.end),
            Inst::Continue { depth } => self.leave(*depth, |region| &mut region.continuing),
            Inst::Kill => self.defined.clone_from(&self.everything),
            _ => inst.results().for_each(|value| self.defined[value.0 as usize / 64] |= 1 << (value.0 % 64)),
        }
    }

    fn enter(&mut self, is_target: bool) {
        let before = self.defined.clone();
        let (end, continuing) = (self.everything.clone(), self.everything.clone());
        self.open.push(Region { before, end, continuing, is_target });
    }

    /// Saves the set at the end of the first branch, and starts the second branch with the set
    /// before the `If`.
    fn otherwise(&mut self) {
        if let Some(region) = self.open.last_mut() {
            region.end = std::mem::replace(&mut self.defined, region.before.clone());
            // Both branches exist, so no path leads from the condition directly to the end.
            region.before.clone_from(&self.everything);
        }
    }

    fn end_if(&mut self) {
        if let Some(region) = self.open.pop() {
            intersect(&mut self.defined, &region.end);
            intersect(&mut self.defined, &region.before);
        }
    }

    fn continuing(&mut self) {
        if let Some(region) = self.open.last() {
            intersect(&mut self.defined, &region.continuing);
        }
    }

    /// Ends a block or a loop. A loop ends by `Break` only.
    fn end_target(&mut self, is_loop: bool) {
        let Some(region) = self.open.pop() else { return };
        if is_loop {
            self.defined = region.end;
        } else {
            intersect(&mut self.defined, &region.end);
        }
    }

    fn leave(&mut self, depth: u32, place: impl Fn(&mut Region) -> &mut Set) {
        let target = self.open.iter_mut().rev().filter(|region| region.is_target).nth(depth as usize);
        if let Some(region) = target {
            intersect(place(region), &self.defined);
        }
        self.defined.clone_from(&self.everything);
    }
}

fn types(function: &Function, inst: &Inst) -> Result<(), &'static str> {
    let ty = |value: &Value| function.types.get(value.0 as usize).copied();
    let is = |value: &Value, wanted: Type| ty(value) == Some(wanted);
    let index = |value: &Option<Value>| value.as_ref().is_none_or(|value| is(value, Type::I32));
    let right = match inst {
        Inst::Unary { result, op, a } => {
            is(result, op.result()) && unary_operand(*op).is_none_or(|wanted| is(a, wanted))
        }
        Inst::Binary { result, op, a, b } => {
            let wanted = binary_operands(*op);
            is(result, op.result()) && is(a, wanted.0) && is(b, wanted.1)
        }
        Inst::Ternary { result, op, a, b, c } => {
            let wanted = ternary_operands(*op);
            is(result, op.result()) && is(a, wanted.0) && is(b, wanted.1) && is(c, wanted.1)
        }
        Inst::LocalLoad { index: at, .. } | Inst::LocalStore { index: at, .. } => index(at),
        Inst::TableLoad { index: at, .. } => is(at, Type::I32),
        Inst::Parameter { of, .. } => of.is_none_or(|of| is(&of, Type::I32)),
        Inst::Load { space, offset, .. }
        | Inst::Store { space, offset, .. }
        | Inst::StorePart { space, offset, .. }
        | Inst::Atomic { space, offset, .. } => is(offset, Type::I32) && index(&space.operand()),
        Inst::If { condition } => is(condition, Type::Bool),
        Inst::Ballot { result, a } => is(result, Type::I32) && is(a, Type::Bool),
        Inst::Shuffle { result, a, index } => ty(result) == ty(a) && is(index, Type::I32),
        Inst::Lane { result } => is(result, Type::I32),
        Inst::IsActive { result } => is(result, Type::Bool),
        Inst::MatrixLoad(load) => {
            let wanted = load.form.has_narrow_floats().then_some(Type::F32);
            is(&load.offset, Type::I32)
                && is(&load.stride, Type::I32)
                && inst.results().all(|result| wanted.is_none_or(|wanted| is(&result, wanted)))
        }
        Inst::MatrixStore(store) => is(&store.offset, Type::I32) && is(&store.stride, Type::I32),
        Inst::MatrixMultiply(product) => {
            let wanted = if product.op == MatrixOp::Floats { Type::F32 } else { Type::I32 };
            product.words.iter().all(|word| is(word, wanted)) && inst.results().all(|result| is(&result, wanted))
        }
        Inst::Atomic64(atomic) => is(&atomic.offset, Type::I32),
        _ => true,
    };
    if right { Ok(()) } else { Err("operand or result of another type") }
}

/// Returns the operand type that an operation requires, or `None` if it accepts any type.
const fn unary_operand(op: UnaryOp) -> Option<Type> {
    use UnaryOp::{AsBool, AsFloat, BitCount, BitNot, Copy, HalfToFloat, INeg, LogicalNot, SAbs, SToF, UToF};
    match op {
        Copy | AsFloat | AsBool => None,
        LogicalNot => Some(Type::Bool),
        INeg | BitNot | SAbs | BitCount | SToF | UToF | HalfToFloat => Some(Type::I32),
        _ => Some(Type::F32),
    }
}

const fn binary_operands(op: BinaryOp) -> (Type, Type) {
    use BinaryOp::{
        FAdd, FDiv, FEq, FLe, FLt, FMax, FMaxNum, FMin, FMinNum, FMul, FNe, FSub, LogicalAnd, LogicalEq, LogicalNe,
        LogicalOr,
    };
    match op {
        LogicalAnd | LogicalOr | LogicalEq | LogicalNe => (Type::Bool, Type::Bool),
        FAdd | FSub | FMul | FDiv | FMin | FMax | FMinNum | FMaxNum | FEq | FNe | FLt | FLe => (Type::F32, Type::F32),
        _ => (Type::I32, Type::I32),
    }
}

/// Returns the required types of the first operand and of the other two.
const fn ternary_operands(op: TernaryOp) -> (Type, Type) {
    match op {
        TernaryOp::Select => (Type::Bool, Type::I32),
        TernaryOp::SelectFloat => (Type::Bool, Type::F32),
        TernaryOp::SelectBool => (Type::Bool, Type::Bool),
        TernaryOp::Fma => (Type::F32, Type::F32),
    }
}
