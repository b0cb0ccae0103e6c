//! One instruction: chooses the family that translates it.

use std::rc::Rc;

use spirv::Op;

use super::{Operand, Translator, scalar};
use crate::shader::ir::{AtomicOp, BinaryOp, Inst, UnaryOp, Value};
use crate::shader::routines;
use crate::shader::spirv::module::Ty;
use crate::shader::spirv::parse::Instruction;
use crate::shader::spirv::{Error, Result};

impl Translator<'_> {
    pub(super) fn instruction(&mut self, inst: &Instruction) -> Result<()> {
        use Op as O;
        match inst.op {
            O::Nop | O::Line | O::NoLine | O::MemoryBarrier => Ok(()),
            O::Undef => self.undefined(inst),
            O::Variable => self.variable(inst),
            O::Load => self.load_instruction(inst),
            O::Store => {
                let words = self.words(inst.word(1)?)?;
                let pointer = self.pointer(inst.word(0)?)?;
                self.store(&pointer, &words)
            }
            O::CopyMemory => {
                let words = {
                    let source = self.pointer(inst.word(1)?)?;
                    self.load(&source)?
                };
                let target = self.pointer(inst.word(0)?)?;
                self.store(&target, &words)
            }
            O::AccessChain | O::InBoundsAccessChain => self.access_chain(inst),
            O::ArrayLength => self.array_length(inst),
            O::FunctionCall => self.function_call(inst),
            O::CopyObject => {
                let (_, operand) = self.operand(inst.word(2)?)?;
                self.define(inst.word(1)?, inst.word(0)?, operand)
            }
            O::CompositeConstruct
            | O::CompositeExtract
            | O::CompositeInsert
            | O::VectorShuffle
            | O::VectorExtractDynamic
            | O::VectorInsertDynamic
            | O::Transpose
            | O::OuterProduct
            | O::Dot
            | O::VectorTimesScalar
            | O::MatrixTimesScalar
            | O::MatrixTimesVector
            | O::VectorTimesMatrix
            | O::MatrixTimesMatrix => self.composite(inst),
            O::ExtInst => self.extended(inst),
            O::ControlBarrier => {
                self.builder.push(Inst::Barrier);
                Ok(())
            }
            op if is_atomic(op) => self.atomic_instruction(inst),
            op if super::image::is_image(op) => self.image_instruction(inst),
            _ => self.arithmetic(inst),
        }
    }

    fn undefined(&mut self, inst: &Instruction) -> Result<()> {
        let ty = inst.word(0)?;
        let scalars = self.scalars(ty)?;
        let words = scalars.into_iter().map(|ty| self.builder.constant(0, ty)).collect();
        self.define_words(inst.word(1)?, ty, words)
    }

    fn variable(&mut self, inst: &Instruction) -> Result<()> {
        let (pointer, id) = (inst.word(0)?, inst.word(1)?);
        let (_, ty) = self.module.pointee(pointer)?;
        let initializer = inst.words.get(3).copied();
        if let Some(base) = self.constant_table(id, ty, initializer)? {
            return self.define(id, pointer, Operand::Pointer(Rc::new(super::Pointer::new(base, ty))));
        }
        let local = self.local_for(id, self.words_of(ty)?)?;
        let target = super::Pointer::new(super::Base::Local(local), ty);
        if let Some(initializer) = initializer {
            let words = self.words(initializer)?;
            self.store(&target, &words)?;
        }
        self.define(id, pointer, Operand::Pointer(Rc::new(target)))
    }

    /// A local that only ever holds one constant is a table.
    fn constant_table(&mut self, id: u32, ty: u32, initializer: Option<u32>) -> Result<Option<super::Base>> {
        let object = self.usage.only_object(id, initializer);
        let Some((_, words)) = object.and_then(|object| self.constants.get(object)) else { return Ok(None) };
        if words.len() != self.words_of(ty)? as usize {
            return Ok(None);
        }
        let words = words.to_vec();
        if let Some(&table) = self.tables.get(&id) {
            return Ok(Some(super::Base::Table(table)));
        }
        let table = self.builder.table(words);
        self.tables.insert(id, table);
        Ok(Some(super::Base::Table(table)))
    }

    fn load_instruction(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let pointer = self.pointer(inst.word(2)?)?;
        if matches!(self.module.ty(ty)?, Ty::Image(_) | Ty::Sampler | Ty::SampledImage(_) | Ty::Pointer(..)) {
            return self.define(id, ty, Operand::Pointer(pointer));
        }
        let words = self.load(&pointer)?;
        self.define_words(id, ty, words)
    }

    /// Operations that act component by component.
    fn arithmetic(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let operands: Vec<Rc<[Value]>> = inst.rest(2).iter().map(|&id| self.words(id)).collect::<Result<_>>()?;
        if matches!(inst.op, Op::All | Op::Any) {
            let op = if inst.op == Op::All { BinaryOp::LogicalAnd } else { BinaryOp::LogicalOr };
            let all =
                operands.first().and_then(|words| words.iter().copied().reduce(|a, b| self.builder.binary(op, a, b)));
            let word = all.ok_or(Error::Malformed("an empty vector"))?;
            return self.define_words(id, ty, vec![word]);
        }
        let scalars = self.scalars(ty)?;
        let contracts = self.may_contract(inst.op, id);
        let mut words = Vec::with_capacity(scalars.len());
        // The structure results of carry and borrow operations have twice the operands' words.
        let count = operands.first().map_or(0, |operand| operand.len());
        for (index, &ty) in scalars.iter().enumerate() {
            // Scalars (a bit field's offset, a selection's condition) serve every component.
            let word = |operand: usize| match operands.get(operand).map(|words| &words[..]) {
                Some(&[word]) => Some(word),
                Some(words) => words.get(index % words.len().max(1)).copied(),
                None => None,
            };
            let second = returns_two(inst.op) && index >= count;
            let value = match (word(0), word(1)) {
                (Some(x), Some(y)) if contracts => self.contracted(inst.op, x, y),
                operands => self.component(inst.op, [operands.0, operands.1, word(2), word(3)], second)?,
            };
            words.push(self.builder.cast(value, ty));
        }
        self.define_words(id, ty, words)
    }

    /// One component. `second` asks for the second member of operations that return two.
    fn component(&mut self, op: Op, operands: [Option<Value>; 4], second: bool) -> Result<Value> {
        let b = &mut self.builder;
        let [Some(x), y, z, w] = operands else { return Err(Error::Unsupported(format!("{op:?}"))) };
        if let Some(op) = scalar::unary(op) {
            return Ok(b.unary(op, x));
        }
        if let Some(routine) = scalar::routine_of_one(op) {
            return Ok(routine(b, x));
        }
        if op == Op::Bitcast {
            return Ok(x);
        }
        if matches!(op, Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse) {
            let fine = op == Op::FwidthFine;
            let (along_x, along_y) =
                if fine { (UnaryOp::DdxFine, UnaryOp::DdyFine) } else { (UnaryOp::DdxCoarse, UnaryOp::DdyCoarse) };
            let [dx, dy] = [along_x, along_y].map(|op| {
                let change = b.unary(op, x);
                b.unary(UnaryOp::FAbs, change)
            });
            return Ok(b.binary(BinaryOp::FAdd, dx, dy));
        }
        let Some(y) = y else { return Err(Error::Unsupported(format!("{op:?}"))) };
        if let Some((op, swapped)) = scalar::binary(op) {
            return Ok(if swapped { b.binary(op, y, x) } else { b.binary(op, x, y) });
        }
        if let Some(routine) = scalar::routine_of_two(op) {
            return Ok(routine(b, x, y));
        }
        if let Some((op, swapped)) = scalar::negated_binary(op) {
            let inverse = if swapped { b.binary(op, y, x) } else { b.binary(op, x, y) };
            return Ok(b.unary(UnaryOp::LogicalNot, inverse));
        }
        match op {
            Op::FUnordEqual | Op::FOrdNotEqual => Ok(self.unordered(op, x, y)),
            Op::IAddCarry => Ok(if second { routines::add_carry(b, x, y) } else { b.binary(BinaryOp::IAdd, x, y) }),
            Op::ISubBorrow => Ok(if second { routines::sub_borrow(b, x, y) } else { b.binary(BinaryOp::ISub, x, y) }),
            Op::UMulExtended => Ok(b.binary(if second { BinaryOp::UMulHi } else { BinaryOp::IMul }, x, y)),
            Op::SMulExtended => Ok(b.binary(if second { BinaryOp::SMulHi } else { BinaryOp::IMul }, x, y)),
            _ => self.wide_component(op, [x, y], z, w),
        }
    }

    /// Equal-or-unordered, and ordered-and-unequal.
    fn unordered(&mut self, op: Op, x: Value, y: Value) -> Value {
        let b = &mut self.builder;
        let (less, greater) = (b.binary(BinaryOp::FLt, x, y), b.binary(BinaryOp::FLt, y, x));
        let different = b.binary(BinaryOp::LogicalOr, less, greater);
        if op == Op::FOrdNotEqual { different } else { b.unary(UnaryOp::LogicalNot, different) }
    }

    fn wide_component(&mut self, op: Op, [x, y]: [Value; 2], z: Option<Value>, w: Option<Value>) -> Result<Value> {
        let b = &mut self.builder;
        match (op, z, w) {
            (Op::Select, Some(z), _) => Ok(b.select(x, y, z)),
            (Op::BitFieldSExtract, Some(z), _) => Ok(routines::extract_signed(b, x, y, z)),
            (Op::BitFieldUExtract, Some(z), _) => Ok(routines::extract_unsigned(b, x, y, z)),
            (Op::BitFieldInsert, Some(offset), Some(count)) => {
                let mask = routines::bit_field_mask(b, offset, count);
                let shifted = b.binary(BinaryOp::Shl, y, offset);
                let inserted = b.binary(BinaryOp::And, shifted, mask);
                let inverse = b.unary(UnaryOp::BitNot, mask);
                let kept = b.binary(BinaryOp::And, x, inverse);
                Ok(b.binary(BinaryOp::Or, kept, inserted))
            }
            _ => Err(Error::Unsupported(format!("{op:?}"))),
        }
    }

    fn atomic_instruction(&mut self, inst: &Instruction) -> Result<()> {
        let is_store = inst.op == Op::AtomicStore;
        // Pointer, scope and semantics come first; a store has no result before them.
        let at = if is_store { 0 } else { 2 };
        let pointer = self.pointer(inst.word(at)?)?;
        let (op, value, comparator) = self.atomic_operands(inst, at)?;
        let result = match &pointer.texel {
            Some(_) => self.image_atomic(&pointer, op, value, comparator)?,
            None => self.atomic_word(&pointer, op, value, comparator)?,
        };
        if is_store { Ok(()) } else { self.define_words(inst.word(1)?, inst.word(0)?, vec![result]) }
    }

    fn atomic_operands(&mut self, inst: &Instruction, at: usize) -> Result<(AtomicOp, Value, Option<Value>)> {
        use Op as O;
        let simple = |op| Ok::<_, Error>((op, 3));
        let (op, index) = match inst.op {
            O::AtomicLoad => return Ok((AtomicOp::Load, self.builder.int(0), None)),
            O::AtomicIIncrement => return Ok((AtomicOp::Add, self.builder.int(1), None)),
            O::AtomicIDecrement => return Ok((AtomicOp::Sub, self.builder.int(1), None)),
            O::AtomicCompareExchange => {
                let (value, comparator) = (self.word(inst.word(at + 4)?)?, self.word(inst.word(at + 5)?)?);
                return Ok((AtomicOp::CompareExchange, value, Some(comparator)));
            }
            O::AtomicStore => simple(AtomicOp::Store)?,
            O::AtomicExchange => simple(AtomicOp::Exchange)?,
            O::AtomicIAdd => simple(AtomicOp::Add)?,
            O::AtomicISub => simple(AtomicOp::Sub)?,
            O::AtomicSMin => simple(AtomicOp::SMin)?,
            O::AtomicUMin => simple(AtomicOp::UMin)?,
            O::AtomicSMax => simple(AtomicOp::SMax)?,
            O::AtomicUMax => simple(AtomicOp::UMax)?,
            O::AtomicAnd => simple(AtomicOp::And)?,
            O::AtomicOr => simple(AtomicOp::Or)?,
            O::AtomicXor => simple(AtomicOp::Xor)?,
            other => return Err(Error::Unsupported(format!("{other:?}"))),
        };
        Ok((op, self.word(inst.word(at + index)?)?, None))
    }
}

/// Operations whose result is a structure of two words or vectors.
fn returns_two(op: Op) -> bool {
    matches!(op, Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended)
}

fn is_atomic(op: Op) -> bool {
    let number = op as u32;
    (Op::AtomicLoad as u32..=Op::AtomicXor as u32).contains(&number)
}
