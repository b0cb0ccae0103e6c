//! Translation of one instruction: selects the module that translates its family.

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::{Decoration, ExecutionModel, Op, Scope};
use vitric_ir::{AtomicOp, BinaryOp, Inst, Space, Type, Value};

use super::{Operand, Translator};
use crate::number::{self, Number, NumberTypes};
use crate::parse::Instruction;
use crate::{Error, Result};

/// Operation and operands of an atomic instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtomicOperands {
    /// Operation.
    pub op: AtomicOp,
    /// Operand.
    pub value: Value,
    /// Value to compare the memory with, for compare-exchange.
    pub comparator: Option<Value>,
}

impl Translator<'_> {
    pub(super) fn instruction(&mut self, inst: &Instruction) -> Result<()> {
        self.is_flushing = self.constants.has_flushes() && number::is_flushing(inst.op);
        let translated = self.translate(inst);
        self.is_flushing = false;
        translated
    }

    fn translate(&mut self, inst: &Instruction) -> Result<()> {
        use Op as O;
        match inst.op {
            O::Nop | O::MemoryBarrier => Ok(()),
            O::Undef => self.undefined(inst),
            O::Variable => self.variable(inst),
            O::Load => self.load_instruction(inst),
            O::Store => {
                let (ty, _) = self.operand(inst.word(1)?)?;
                let pointer = self.pointer_to(inst.word(0)?, ty)?;
                self.store_operand(&pointer, inst.word(1)?)
            }
            O::CopyMemory => self.copy_instruction(inst),
            O::CopyMemorySized => self.copy_bytes(inst),
            O::AccessChain | O::InBoundsAccessChain => self.access_chain(inst),
            O::PtrAccessChain | O::InBoundsPtrAccessChain => self.pointer_chain(inst),
            O::UntypedAccessChainKHR | O::UntypedInBoundsAccessChainKHR => self.untyped_chain(inst),
            O::UntypedPtrAccessChainKHR | O::UntypedInBoundsPtrAccessChainKHR => self.untyped_pointer_chain(inst),
            O::UntypedArrayLengthKHR => self.untyped_array_length(inst),
            O::PtrEqual | O::PtrNotEqual | O::PtrDiff => self.compare_pointers(inst),
            O::ConvertPtrToU | O::ConvertUToPtr => {
                let word = self.word(inst.word(2)?)?;
                let ty = Number::of(self.module, inst.word(0)?)?.ir();
                let word = if ty.is_wide() { self.builder.cast(word, ty) } else { self.builder.split(word)[0] };
                self.define_words(inst.word(1)?, inst.word(0)?, vec![word])
            }
            O::CopyLogical => match self.operand(inst.word(2)?)?.1 {
                large @ (Operand::Large(_) | Operand::Parts(_)) => self.define(inst.word(1)?, inst.word(0)?, large),
                _ => {
                    let words = self.words(inst.word(2)?)?;
                    self.define_words(inst.word(1)?, inst.word(0)?, words.to_vec())
                }
            },
            O::ArrayLength => self.array_length(inst),
            O::FunctionCall => self.function_call(inst),
            O::CopyObject => {
                let (_, operand) = self.operand(inst.word(2)?)?;
                self.define(inst.word(1)?, inst.word(0)?, operand)
            }
            O::CompositeConstruct
            | O::CompositeConstructReplicateEXT
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
            O::ExtInst | O::ExtInstWithForwardRefsKHR => self.extended(inst),
            O::ControlBarrier => self.control_barrier(inst),
            O::Select => self.select(inst),
            O::DemoteToHelperInvocation => {
                self.facts.may_discard = true;
                self.builder.push(Inst::Demote);
                Ok(())
            }
            O::IsHelperInvocationEXT => {
                let result = self.builder.value(Type::Bool);
                self.builder.push(Inst::IsHelper { result });
                self.define_words(inst.word(1)?, inst.word(0)?, vec![result])
            }
            // Fragments of a pixel are shaded one after the other, in order
            // (`FragmentFacts::interlock`), so no code is needed.
            O::BeginInvocationInterlockEXT | O::EndInvocationInterlockEXT => Ok(()),
            O::SetMeshOutputsEXT => self.leave_counts(inst),
            O::EmitVertex | O::EndPrimitive | O::EmitStreamVertex | O::EndStreamPrimitive => self.emit_vertex(inst),
            O::ReadClockKHR => self.read_clock(inst),
            O::AssumeTrueKHR => Ok(()),
            O::ExpectKHR => {
                let (_, operand) = self.operand(inst.word(2)?)?;
                self.define(inst.word(1)?, inst.word(0)?, operand)
            }
            O::ColorAttachmentReadEXT => self.read_color(inst),
            O::DepthAttachmentReadEXT | O::StencilAttachmentReadEXT => self.read_depth_or_stencil(inst),
            op if super::subgroup::is_subgroup(op) => self.subgroup(inst),
            op if super::cooperative::is_cooperative(op) => self.cooperative(inst),
            op if super::dot::is_dot(op) => self.integer_dot(inst),
            op if is_atomic(op) => self.atomic_instruction(inst),
            op if super::image::is_image(op) => self.image_instruction(inst),
            _ => self.arithmetic(inst),
        }
    }

    /// Translates `OpControlBarrier`. The invocations of a workgroup wait for each other; those of
    /// a subgroup run in lockstep and need no barrier.
    fn control_barrier(&mut self, inst: &Instruction) -> Result<()> {
        let scope = self.constants.scalar(inst.word(0)?).and_then(Scope::from_u32);
        let is_narrow = matches!(scope, Some(Scope::Subgroup | Scope::Invocation));
        let waits = self.has_workgroups() || self.model == ExecutionModel::TessellationControl;
        if !is_narrow && waits {
            self.builder.push(Inst::Barrier);
        }
        Ok(())
    }

    /// Translates `OpSelect` for each scalar. The condition is one boolean for a whole composite,
    /// or a vector with one boolean per component.
    fn select(&mut self, inst: &Instruction) -> Result<()> {
        let conditions = self.words(inst.word(2)?)?;
        let ty = inst.word(0)?;
        if self.is_large(ty)? {
            return self.select_large(inst, &conditions);
        }
        let (yes, no) = (self.words(inst.word(3)?)?, self.words(inst.word(4)?)?);
        let scalars = self.scalars(ty)?;
        let sizes = [yes.len(), no.len(), if conditions.len() == 1 { scalars.len() } else { conditions.len() }];
        if sizes.iter().any(|&size| size != scalars.len()) {
            return Err(Error::Malformed("a selection of different sizes"));
        }
        let mut words = Vec::with_capacity(scalars.len());
        for (at, scalar) in scalars.into_iter().enumerate() {
            let condition = conditions[if conditions.len() == 1 { 0 } else { at }];
            let word = self.builder.select(condition, yes[at], no[at]);
            words.push(self.builder.cast(word, scalar));
        }
        self.define_words(inst.word(1)?, ty, words)
    }

    /// Translates `OpReadClockKHR`. The result is one 64-bit number or two dwords. Subgroup and
    /// device scope have the same clock.
    fn read_clock(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let (zero, nothing) = (self.builder.int(0), self.builder.wide_constant(0, Type::I64));
        let time = self.builder.atomic64(Space::Clock, zero, AtomicOp::Load, nothing, None);
        let words = match self.words_of(ty)? {
            1 => vec![self.builder.cast(time, Type::I64)],
            _ => self.builder.split(time).to_vec(),
        };
        self.define_words(id, ty, words)
    }

    fn undefined(&mut self, inst: &Instruction) -> Result<()> {
        let ty = inst.word(0)?;
        if self.is_large(ty)? {
            return self.define_large(inst, |_, _| Ok(()));
        }
        let scalars = self.scalars(ty)?;
        let words = scalars.into_iter().map(|ty| self.zero(ty)).collect();
        self.define_words(inst.word(1)?, ty, words)
    }

    /// Returns the zero of a type.
    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty.is_wide() {
            true => self.builder.wide_constant(0, ty),
            false => self.builder.constant(0, ty),
        }
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
            self.store_operand(&target, initializer)?;
        }
        self.define(id, pointer, Operand::Pointer(Rc::new(target)))
    }

    /// Returns the table of a variable that only ever has one constant as its value, or `None` for
    /// other variables.
    pub(super) fn constant_table(&mut self, id: u32, ty: u32, initializer: Option<u32>) -> Result<Option<super::Base>> {
        let object = self.usage.only_object(id, initializer);
        let Some((object, words)) = object.and_then(|id| Some((id, self.constants.get(id)?.1))) else {
            return Ok(None);
        };
        if words.len() != self.words_of(ty)? as usize {
            return Ok(None);
        }
        self.table_of(object, ty).map(Some)
    }

    /// Returns the table of a constant.
    pub(super) fn table_of(&mut self, id: u32, ty: u32) -> Result<super::Base> {
        if let Some(&(table, high)) = self.tables.get(&id) {
            return Ok(super::Base::Table(table, high));
        }
        let (_, words) = self.constants.get(id).ok_or(Error::Malformed("an id is used before its definition"))?;
        let is_wide = self.constants.has_wide(self.module, ty)?;
        let table = self.builder.table(words.iter().map(|&word| word as u32).collect());
        let high = is_wide.then(|| self.builder.table(words.iter().map(|&word| (word >> 32) as u32).collect()));
        self.tables.insert(id, (table, high));
        Ok(super::Base::Table(table, high))
    }

    fn load_instruction(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let pointer = self.pointer_to(inst.word(2)?, ty)?;
        if self.is_opaque(ty)? {
            return self.define(id, ty, Operand::Pointer(pointer));
        }
        if self.is_large(ty)? && pointer.is_plain() {
            return self.load_large(inst, &pointer);
        }
        let words = self.load(&pointer)?;
        self.define_words(id, ty, words)
    }

    /// Translates componentwise operations.
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
        if inst.op == Op::Bitcast {
            return self.bitcast(inst);
        }
        let types = self.operation_types(inst)?;
        let scalars = self.scalars(ty)?;
        let contracts = self.may_contract(inst, types.to);
        let mut words = Vec::with_capacity(scalars.len());
        // The result structure of carry and borrow operations has twice as many scalars as an
        // operand.
        let count = operands.first().map_or(0, |operand| operand.len());
        for (index, &ty) in scalars.iter().enumerate() {
            // A scalar operand, such as a bit field's offset, applies to every component.
            let word = |words: &Rc<[Value]>| match &words[..] {
                &[word] => Some(word),
                words => words.get(index % words.len().max(1)).copied(),
            };
            let operands: Option<SmallVec<[Value; 4]>> = operands.iter().map(word).collect();
            let operands = operands.ok_or(Error::Malformed("an operation on nothing"))?;
            let second = returns_two(inst.op) && index >= count;
            let value = match (&operands[..], contracts) {
                (&[x, y], Some(relaxed)) => self.contracted(relaxed, inst.op, x, y),
                _ => number::component(&mut self.builder, inst.op, &operands, types, second)?,
            };
            words.push(self.builder.cast(value, ty));
        }
        if inst.op == Op::FConvert && types.to == Number::Float(16) && self.rounds_towards_zero(id) {
            let wide: Vec<Value> = operands.iter().flat_map(|operand| operand.iter().copied()).collect();
            words = wide.iter().map(|&word| number::half_towards_zero(&mut self.builder, word, types.from)).collect();
        }
        let words = self.redistributed(inst.word(2)?, ty, words)?;
        self.define_words(id, ty, words)
    }

    /// Returns the scalar types of the first operand and of the result.
    fn operation_types(&mut self, inst: &Instruction) -> Result<NumberTypes> {
        let (from, _) = self.operand(inst.word(2)?)?;
        let from = Number::of(self.module, from)?;
        // Carry and borrow operations return a structure of two members with the operands' type.
        let to = if returns_two(inst.op) { from } else { Number::of(self.module, inst.word(0)?)? };
        let to = match to {
            Number::Encoded(encoding) if self.saturates(inst.word(1)?) => Number::Encoded(encoding.saturating()),
            to => to,
        };
        Ok(NumberTypes { from, to })
    }

    /// Returns true for results with the decoration `FPRoundingMode RTZ`.
    fn rounds_towards_zero(&self, id: u32) -> bool {
        self.module.decoration_word((id, None), Decoration::FPRoundingMode) == Some(1)
    }

    /// Returns true for conversions to 8-bit floats that saturate.
    fn saturates(&self, id: u32) -> bool {
        self.module.decoration((id, None), Decoration::SaturatedToLargestFloat8NormalConversionEXT).is_some()
    }

    /// Translates `OpBitcast`, also between pointers and integers.
    fn bitcast(&mut self, inst: &Instruction) -> Result<()> {
        let (from, words) = self.typed_words(inst.word(2)?)?;
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let count = self.words_of(ty)? as usize;
        let types = NumberTypes { from: Number::of(self.module, from)?, to: Number::of(self.module, ty)? };
        let words = number::bitcast(&mut self.builder, &words, types, count);
        let words = self.redistributed(inst.word(2)?, ty, words)?;
        self.define_words(id, ty, words)
    }

    fn atomic_instruction(&mut self, inst: &Instruction) -> Result<()> {
        let is_store = inst.op == Op::AtomicStore;
        // Pointer, scope and semantics come first. Operations other than stores have type and
        // result id before them.
        let at = if is_store { 0 } else { 2 };
        let ty = if is_store { self.operand(inst.word(3)?)?.0 } else { inst.word(0)? };
        let pointer = self.pointer_to(inst.word(at)?, ty)?;
        let operands = self.atomic_operands(inst, at)?;
        let result = match &pointer.texel {
            Some(_) => self.texel_atomic(inst, &pointer, operands)?,
            None => self.atomic_word(&pointer, operands)?,
        };
        if is_store { Ok(()) } else { self.define_words(inst.word(1)?, inst.word(0)?, vec![result]) }
    }

    /// Returns the operation and the operands of an atomic instruction, whose pointer is word `at`.
    fn atomic_operands(&mut self, inst: &Instruction, at: usize) -> Result<AtomicOperands> {
        use Op as O;
        let implied = |op, value| Ok(AtomicOperands { op, value, comparator: None });
        let op = match inst.op {
            O::AtomicLoad => return implied(AtomicOp::Load, self.atomic_constant(inst, 0)?),
            O::AtomicIIncrement => return implied(AtomicOp::Add, self.atomic_constant(inst, 1)?),
            O::AtomicIDecrement => return implied(AtomicOp::Sub, self.atomic_constant(inst, 1)?),
            O::AtomicCompareExchange => {
                let (value, comparator) = (self.word(inst.word(at + 4)?)?, self.word(inst.word(at + 5)?)?);
                return Ok(AtomicOperands { op: AtomicOp::CompareExchange, value, comparator: Some(comparator) });
            }
            O::AtomicStore => AtomicOp::Store,
            O::AtomicExchange => AtomicOp::Exchange,
            O::AtomicIAdd => AtomicOp::Add,
            O::AtomicISub => AtomicOp::Sub,
            O::AtomicSMin => AtomicOp::SMin,
            O::AtomicUMin => AtomicOp::UMin,
            O::AtomicSMax => AtomicOp::SMax,
            O::AtomicUMax => AtomicOp::UMax,
            O::AtomicAnd => AtomicOp::And,
            O::AtomicOr => AtomicOp::Or,
            O::AtomicXor => AtomicOp::Xor,
            O::AtomicFAddEXT => AtomicOp::FAdd,
            O::AtomicFMinEXT => AtomicOp::FMin,
            O::AtomicFMaxEXT => AtomicOp::FMax,
            other => return Err(Error::Unsupported(format!("{other:?}"))),
        };
        Ok(AtomicOperands { op, value: self.word(inst.word(at + 3)?)?, comparator: None })
    }

    /// Appends an atomic operation on a texel: a 32-bit or 64-bit integer, or a float.
    fn texel_atomic(
        &mut self,
        inst: &Instruction,
        pointer: &Rc<super::Pointer>,
        operands: AtomicOperands,
    ) -> Result<Value> {
        let AtomicOperands { op, value, comparator } = operands;
        let is_wide = self.builder.is_wide(value);
        let mut words = |value| match is_wide {
            true => self.builder.split(value).to_vec(),
            false => vec![self.builder.cast(value, Type::I32)],
        };
        let (value, comparator) = (words(value), comparator.map_or_else(Vec::new, words));
        let before = self.image_atomic(pointer, op, value, comparator)?;
        let before = if let [low, high] = before[..] { self.builder.join(low, high, Type::I64) } else { before[0] };
        if inst.op == Op::AtomicStore {
            return Ok(before);
        }
        let number = Number::of(self.module, inst.word(0)?)?;
        Ok(self.builder.cast(before, number.ir()))
    }

    /// Returns an operand that the operation implies, with the width of its result.
    fn atomic_constant(&mut self, inst: &Instruction, value: u64) -> Result<Value> {
        Ok(match Number::of(self.module, inst.word(0)?)?.ir() {
            Type::I64 | Type::F64 => self.builder.wide_constant(value, Type::I64),
            _ => self.builder.int(value as u32),
        })
    }
}

/// Returns true for operations whose result is a structure of two scalars or vectors.
fn returns_two(op: Op) -> bool {
    matches!(op, Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended)
}

fn is_atomic(op: Op) -> bool {
    let number = op as u32;
    (Op::AtomicLoad as u32..=Op::AtomicXor as u32).contains(&number)
        || matches!(op, Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT)
}
