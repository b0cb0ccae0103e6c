//! Values of many scalars, which are kept in memory instead of being flattened.
//!
//! A load of unchanging memory (constants, push constants and uniform blocks) yields a pointer to
//! it. If a program only extracts parts of a value, only these parts are loaded. Otherwise loops
//! copy the value to a local that belongs to the instruction. The number of instructions therefore
//! does not depend on the number of scalars, and memory is the limit.

use std::rc::Rc;

use foldhash::HashMap;
use spirv::Op;
use vitric_ir::{BinaryOp, Inst, Local, Type, Value};

use super::memory::{Base, Element, Pointer};
use super::{Operand, Translator};
use crate::module::Ty;
use crate::parse::Instruction;
use crate::usage::Extracts;
use crate::{Error, Result};

/// Maximum number of scalars of a value that is flattened.
pub(super) const FLAT_WORDS: u32 = 1 << 12;

/// Number of scalars that one iteration of a copying loop moves.
const UNROLLED_WORDS: u32 = 16;

/// Flag that distinguishes the local of a result from that of a variable or phi with the same id.
/// It exceeds the largest id.
const OF_RESULT: u32 = 1 << 31;

impl Translator<'_> {
    /// Translates an `OpLoad` of a value of many scalars.
    pub(super) fn load_large(&mut self, inst: &Instruction, pointer: &Rc<Pointer>) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        if self.words_of(pointer.ty)? != self.words_of(ty)? {
            return Err(Error::Malformed("a load of another type"));
        }
        if self.is_constant(pointer) || self.is_copied(id, pointer)? {
            return self.define(id, ty, Operand::Large(pointer.clone()));
        }
        match self.load_parts(inst, pointer)? {
            Some(parts) => self.define(id, ty, Operand::Parts(Rc::new(parts))),
            None => self.define_large(inst, |this, target| this.copy(target, pointer)),
        }
    }

    /// Returns true if the program never changes the pointee.
    fn is_constant(&self, pointer: &Pointer) -> bool {
        match pointer.base {
            Base::Table(..) | Base::Push => true,
            Base::Resource(resource) => self.uniform_buffers.contains(&resource),
            _ => false,
        }
    }

    /// Returns true if the only use of a loaded value is a store by the next instruction. Source
    /// or target must be a variable, because variables do not alias other memory.
    fn is_copied(&mut self, id: u32, source: &Pointer) -> Result<bool> {
        let Some([target, _]) = self.next_store.filter(|[_, object]| *object == id) else { return Ok(false) };
        let is_variable = |pointer: &Pointer| matches!(pointer.base, Base::Local(_));
        let target = self.pointer(target)?;
        let extracts = self.extracts();
        let is_only_use = extracts.uses_besides(id) == 1 && extracts.paths(id).is_empty();
        Ok(is_only_use && (is_variable(source) || is_variable(&target)))
    }

    fn extracts(&mut self) -> &Extracts {
        let (module, entry) = (self.module, self.calls.first().copied().unwrap_or(0));
        self.extracts.get_or_insert_with(|| Extracts::new(module, entry))
    }

    /// Loads the extracted parts of a value, by the numbers of their scalars. Returns `None` if
    /// the value has other uses.
    fn load_parts(&mut self, inst: &Instruction, pointer: &Pointer) -> Result<Option<HashMap<u32, Value>>> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let extracts = self.extracts();
        if extracts.uses_besides(id) > 0 {
            return Ok(None);
        }
        let (mut paths, mut total) = (extracts.paths(id).to_vec(), 0);
        paths.sort_unstable();
        paths.dedup();
        for path in &paths {
            let (_, part) = self.constants.part(self.module, ty, path)?;
            total = self.words_of(part)?.saturating_add(total);
        }
        if total > FLAT_WORDS {
            return Ok(None);
        }
        let mut parts = HashMap::default();
        for path in &paths {
            let (first, _) = self.constants.part(self.module, ty, path)?;
            let part = self.part_of(pointer, path)?;
            let words = self.load(&part)?;
            self.charge_work(words.len())?;
            parts.extend((first..).zip(words));
        }
        Ok(Some(parts))
    }

    /// Returns a pointer to the part of a pointee that literal indices name.
    fn part_of(&mut self, pointer: &Pointer, path: &[u32]) -> Result<Pointer> {
        let mut part = pointer.clone();
        path.iter().try_for_each(|&index| self.step_literal(&mut part, index))?;
        Ok(part)
    }

    /// Defines the result of an instruction as a local that `fill` writes.
    pub(super) fn define_large(
        &mut self,
        inst: &Instruction,
        fill: impl FnOnce(&mut Self, &Pointer) -> Result<()>,
    ) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        let local = self.local_for(id | OF_RESULT, self.words_of(ty)?)?;
        let target = Pointer::new(Base::Local(local), ty);
        fill(self, &target)?;
        self.define(id, ty, Operand::Large(Rc::new(target)))
    }

    /// Defines the result of an instruction as the current contents of a local.
    pub(super) fn define_from_local(&mut self, inst: &Instruction, local: Local) -> Result<()> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        if self.is_large(ty)? {
            return self.define_large(inst, |this, target| this.copy(target, &Pointer::new(Base::Local(local), ty)));
        }
        let scalars = self.scalars(ty)?;
        let load = |(word, ty)| self.builder.local_load(local, word as u32, None, ty);
        let words: Vec<Value> = scalars.into_iter().enumerate().map(load).collect();
        self.define_words(id, ty, words)
    }

    /// Stores a value to a local of a type.
    pub(super) fn store_local(&mut self, (local, ty): (Local, Option<u32>), id: u32) -> Result<()> {
        if let (Operand::Large(source), Some(ty)) = (self.operand(id)?.1, ty) {
            return self.copy(&Pointer::new(Base::Local(local), ty), &source);
        }
        for (word, &value) in self.words(id)?.iter().enumerate() {
            self.builder.local_store(local, word as u32, None, value);
        }
        Ok(())
    }

    /// Stores a value with any number of scalars.
    pub(super) fn store_operand(&mut self, target: &Pointer, id: u32) -> Result<()> {
        match self.operand(id)?.1 {
            Operand::Large(source) => self.copy(target, &source),
            _ => {
                let words = self.words(id)?;
                self.store(target, &words)
            }
        }
    }

    /// Copies the pointee of `source` to that of `target`. Their layouts may differ.
    pub(super) fn copy(&mut self, target: &Pointer, source: &Pointer) -> Result<()> {
        let words = self.words_of(source.ty)?;
        if words != self.words_of(target.ty)? {
            return Err(Error::Malformed("a copy of another type"));
        }
        // The table already contains every value that is stored.
        if matches!(target.base, Base::Table(..)) {
            return Ok(());
        }
        self.charge_work(1)?;
        let in_memory = words > UNROLLED_WORDS && target.is_plain() && source.is_plain();
        let module = self.module;
        match (module.ty(source.ty)?, module.ty(target.ty)?) {
            (Ty::Struct(members), Ty::Struct(others)) if in_memory && members.len() == others.len() => {
                (0..members.len() as u32).try_for_each(|index| {
                    let (target, source) = (self.part_of(target, &[index])?, self.part_of(source, &[index])?);
                    self.copy(&target, &source)
                })
            }
            (&Ty::Array(part, length), Ty::Array(..)) if in_memory => {
                let count = self.constants.length(length)?;
                self.for_each(count, self.words_of(part)?, |this, element| {
                    let (target, source) = (this.element(target, element)?, this.element(source, element)?);
                    this.copy(&target, &source)
                })
            }
            _ => {
                let words = self.load(source)?;
                self.charge_work(words.len())?;
                self.store(target, &words)
            }
        }
    }

    /// Calls `act` for the elements of an array, in a loop if they have many scalars.
    fn for_each(
        &mut self,
        count: u32,
        words: u32,
        mut act: impl FnMut(&mut Self, Element) -> Result<()>,
    ) -> Result<()> {
        let step = (UNROLLED_WORDS / words.max(1)).max(1);
        let rounds = if count / step > 1 { count / step } else { 0 };
        if rounds > 0 {
            self.repeat(rounds, |this, round| {
                (0..step).try_for_each(|first| act(this, Element { first, round: Some(round), step }))
            })?;
        }
        (rounds * step..count).try_for_each(|first| act(self, Element { first, round: None, step: 0 }))
    }

    /// Emits a loop with `rounds` iterations.
    fn repeat(&mut self, rounds: u32, act: impl FnOnce(&mut Self, Value) -> Result<()>) -> Result<()> {
        let counter = self.new_local(1)?;
        let first = self.builder.int(0);
        self.builder.local_store(counter, 0, None, first);
        let scope = self.scopes.open(&mut self.builder, Inst::Loop);
        let round = self.builder.local_load(counter, 0, None, Type::I32);
        let end = self.builder.int(rounds);
        let condition = self.builder.binary(BinaryOp::IEq, round, end);
        self.builder.push(Inst::If { condition });
        self.builder.push(Inst::Break { depth: scope });
        self.builder.push(Inst::EndIf);
        act(self, round)?;
        self.builder.push(Inst::Continuing);
        let (round, one) = (self.builder.local_load(counter, 0, None, Type::I32), self.builder.int(1));
        let next = self.builder.binary(BinaryOp::IAdd, round, one);
        self.builder.local_store(counter, 0, None, next);
        self.builder.push(Inst::EndLoop);
        Ok(())
    }

    /// Translates operations on composites in memory and on composites of images. Returns false
    /// for others.
    pub(super) fn composite_in_memory(&mut self, inst: &Instruction) -> Result<bool> {
        if inst.op == Op::CompositeExtract {
            return self.extract_in_memory(inst);
        }
        let ty = inst.word(0)?;
        if !self.is_large(ty)? {
            return Ok(false);
        }
        match inst.op {
            Op::CompositeConstruct => self.define_large(inst, |this, target| this.construct(inst, target))?,
            Op::CompositeConstructReplicateEXT => {
                let part = inst.word(2)?;
                let &Ty::Array(element, length) = self.module.ty(ty)? else { return Ok(false) };
                let (count, words) = (self.constants.length(length)?, self.words_of(element)?);
                self.define_large(inst, |this, target| {
                    this.for_each(count, words, |this, element| {
                        let target = this.element(target, element)?;
                        this.store_operand(&target, part)
                    })
                })?;
            }
            Op::CompositeInsert => {
                let (object, whole) = (inst.word(2)?, inst.word(3)?);
                self.define_large(inst, |this, target| {
                    this.store_operand(target, whole)?;
                    let part = this.part_of(target, inst.rest(4))?;
                    this.store_operand(&part, object)
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn construct(&mut self, inst: &Instruction, target: &Pointer) -> Result<()> {
        let count = match self.module.ty(target.ty)? {
            Ty::Struct(members) => members.len(),
            Ty::Array(_, length) => self.constants.length(*length)? as usize,
            _ => 0,
        };
        if count != inst.rest(2).len() {
            return Err(Error::Malformed("a composite of another type"));
        }
        for (index, &part) in inst.rest(2).iter().enumerate() {
            self.charge_work(1)?;
            let target = self.part_of(target, &[index as u32])?;
            self.store_operand(&target, part)?;
        }
        Ok(())
    }

    fn extract_in_memory(&mut self, inst: &Instruction) -> Result<bool> {
        let (ty, id, path) = (inst.word(0)?, inst.word(1)?, inst.rest(3));
        match self.operand(inst.word(2)?)? {
            (_, Operand::Pointer(pointer)) if self.is_opaque(pointer.ty)? => {
                let part = self.part_of(&pointer, path)?;
                self.define(id, ty, Operand::Pointer(Rc::new(part)))?;
            }
            (_, Operand::Large(pointer)) => {
                let part = self.part_of(&pointer, path)?;
                if self.is_large(part.ty)? {
                    self.define(id, ty, Operand::Large(Rc::new(part)))?;
                } else {
                    let words = self.load(&part)?;
                    self.define_words(id, ty, words)?;
                }
            }
            (whole, Operand::Parts(words)) => {
                let (first, part) = self.constants.part(self.module, whole, path)?;
                let words = (first..first + self.words_of(part)?).map(|word| words.get(&word).copied());
                let words: Option<Vec<Value>> = words.collect();
                self.define_words(id, ty, words.ok_or(Error::Malformed("a part of another value"))?)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Translates an `OpSelect` of two values of many scalars.
    pub(super) fn select_large(&mut self, inst: &Instruction, conditions: &[Value]) -> Result<()> {
        let &[condition] = conditions else { return Err(Error::Malformed("a selection of different sizes")) };
        self.define_large(inst, |this, target| {
            this.builder.push(Inst::If { condition });
            this.store_operand(target, inst.word(3)?)?;
            this.builder.push(Inst::Else);
            this.store_operand(target, inst.word(4)?)?;
            this.builder.push(Inst::EndIf);
            Ok(())
        })
    }

    /// Translates `OpCopyMemory`.
    pub(super) fn copy_memory(&mut self, target: &Pointer, source: &Pointer) -> Result<()> {
        if self.is_large(source.ty)? && self.is_large(target.ty)? {
            return self.copy(target, source);
        }
        let words = self.load(source)?;
        self.store(target, &words)
    }
}
