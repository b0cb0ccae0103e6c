//! Lowering of locals, inputs, outputs and buffers.
//!
//! A robust access costs one comparison: an offset less than the entry's limit is of a dword
//! wholly inside. A uniform load that is out of bounds loads a zero from the frame instead. Lanes
//! of a gather or scatter that are out of bounds are masked off. If the dwords of the lanes are
//! adjacent, whole vectors are loaded and stored under such a mask.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_base::simd::{Mask, WAVE};
use vitric_ir::{Inst, Local, Part, Space, Value};

use super::super::machine::{Base, MachineInst, Mem, Operand, SCALAR, VECTOR};
use super::super::table::{Compare, Order, V};
use super::classify::Form;
use super::convert::{Key, Of};
use super::emit::Source;
use super::variables::Variables;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::frame::{BufferEntry, Frame, LANES_BYTES, ResourceEntry, RoutineEntry};
use crate::{Outputs, Target};

/// Binary logarithm of the size of a buffer entry in bytes.
const ENTRY_SHIFT: i32 = 4;
const _: () = assert!(size_of::<BufferEntry>() == 1 << ENTRY_SHIFT);

/// Distance between the dwords of adjacent lanes in contiguous accesses, in bytes.
pub(super) const LANE_BYTES: u32 = 4;

/// Size of push constants in bytes that code reads without a bounds check. The host supplies at
/// least `Lowered::pushed_bytes` bytes.
const MAX_PUSHED: u32 = 512;

/// Offset of a resource's number of buffers.
const COUNT: usize = std::mem::offset_of!(ResourceEntry, count);
/// Offset of a buffer entry's limit.
const LIMIT: usize = std::mem::offset_of!(BufferEntry, limit);
/// Offset of a buffer entry's size.
const SIZE: usize = std::mem::offset_of!(BufferEntry, size);

/// Range of memory for an access: its first byte and the operand of its limit.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) base: VReg,
    pub(super) limit: Mem,
}

/// Returns the image instruction, if any, and the number of the resource of a space of texels. Its
/// offsets are known to be in bounds.
pub(super) fn texels_of(space: Space) -> Option<(Of, u32)> {
    match space {
        Space::Texels(resource) => Some((None, resource)),
        Space::OfImage { image, part: Part::Texels(resource) } => Some((Some(image), resource)),
        _ => None,
    }
}

impl Lower<'_> {
    // ---- locals --------------------------------------------------------------------------------

    pub(super) fn local(&mut self, inst: &Inst) -> Result<()> {
        match inst {
            Inst::LocalLoad { result, .. } => match self.words.of(inst) {
                Some(word) => self.load_word(*result, word),
                None => self.load_indexed(inst)?,
            },
            Inst::LocalStore { value, all, .. } => match self.words.of(inst) {
                Some(word) => self.store_word(word, *value, *all),
                None => self.store_indexed(inst)?,
            },
            Inst::TableLoad { result, table, index } => self.load_table(*result, *table, *index)?,
            _ => {}
        }
        Ok(())
    }

    /// Defines a value as a variable's content. If their forms differ, the value is converted when
    /// it is used.
    fn load_word(&mut self, result: Value, word: u32) {
        let form = self.forms.words[word as usize];
        let location = match (self.variables.get(Variables::word(word)), form) {
            (None, _) => ValueLocation::Constant(0),
            (Some(parts), Form::Scalar) => ValueLocation::Scalar(parts.at(0)),
            (Some(parts), Form::Vector) => ValueLocation::Vector(parts),
            (Some(parts), Form::Mask) => ValueLocation::Mask(parts),
        };
        self.set_location(result, location);
    }

    fn store_word(&mut self, word: u32, value: Value, all: bool) {
        let variable = Variables::word(word);
        let form = self.forms.words[word as usize];
        let new = self.in_form(value, form);
        let content = if all { new } else { self.blend_word(form, self.variables.get(variable), (value, new)) };
        self.variables.set(variable, Some(content));
    }

    fn blend_word(&mut self, form: Form, old: Option<WaveRegs>, (value, new): (Value, WaveRegs)) -> WaveRegs {
        let active = self.active_mask();
        if form == Form::Mask {
            let taken = self.mask_and(active, new);
            let Some(old) = old else { return taken };
            let kept = self.mask_and_not(active, old);
            return self.mask_or(taken, kept);
        }
        let old = old.unwrap_or_else(|| self.cached(Key::Constant(0), |lower| lower.broadcast_constant(0)));
        let new = if self.constant(value).is_some() { self.source(value) } else { Source::WaveRegs(new) };
        self.blend(active, old, new)
    }

    /// Returns the index of an indexed access with its base added, and the lanes in which it is
    /// inside the array.
    fn word_index(&mut self, local: Local, base: u32, index: Option<Value>) -> (WaveRegs, WaveRegs) {
        let words = self.ir.locals[local.0 as usize];
        let index = match index {
            Some(index) => self.vector(index),
            None => self.broadcast_constant(0),
        };
        let word = self.vector2(V::AddI, index, Source::Constant(base));
        let inside = self.compare(Compare::Unsigned(Order::Less), word, Source::Constant(words));
        (word, inside)
    }

    /// Returns the byte offsets of the lanes' dwords in a local, in which 16 lanes are adjacent.
    fn lane_offsets(&mut self, word: WaveRegs) -> WaveRegs {
        use super::super::table::Shift;
        let bytes = self.shift(Shift::Left, word, LANES_BYTES.trailing_zeros());
        let lanes: Vec<u8> = (0..16u32).flat_map(|lane| (lane * 4).to_le_bytes()).collect();
        let at = self.pooled(lanes);
        let target = self.target;
        self.parts(target.parts(), |lower, part| {
            let memory = Operand::Mem(Mem::pool(at + 32 * part as u32, false));
            lower.define(VECTOR, V::AddI.code(target), &[Operand::Use(bytes.at(part)), memory])
        })
    }

    fn local_base(&mut self, local: Local) -> VReg {
        let memory = Operand::Mem(Mem::frame(self.locals[local.0 as usize]));
        self.define(SCALAR, Code::Lea_r64_m, &[memory])
    }

    /// Returns the memory of a wave's dwords at a uniform index, or `otherwise` if the index is
    /// out of bounds.
    fn lanes_of_word(&mut self, local: Local, base: u32, index: Value, otherwise: Mem) -> Mem {
        let words = self.ir.locals[local.0 as usize];
        let (index, otherwise) = (self.scalar(index), self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(otherwise)]));
        let word = self.change(Code::Add_rm32_imm32, index, &[Operand::Imm(base as i32)]);
        let bytes = self.change(Code::Shl_rm64_imm8, word, &[Operand::Imm(LANES_BYTES.ilog2() as i32)]);
        let lanes = Mem::at(self.local_base(local), 0).indexed(bytes, 1);
        let lanes = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(lanes)]);
        self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(word), Operand::Imm(words as i32)]);
        Mem::at(self.change(Code::Cmovae_r64_rm64, lanes, &[Operand::Use(otherwise)]), 0)
    }

    fn load_indexed(&mut self, inst: &Inst) -> Result<()> {
        let Inst::LocalLoad { result, local, base, index } = inst else { return Ok(()) };
        let words = self.ir.locals[local.0 as usize];
        if index.is_none() {
            let location = if *base < words {
                let at = self.locals[local.0 as usize] + *base as usize * LANES_BYTES;
                ValueLocation::Vector(self.load_lanes(Mem::frame(at), self.target.parts()))
            } else {
                ValueLocation::Constant(0)
            };
            self.set_location(*result, location);
            return Ok(());
        }
        if let Some(index) = index.filter(|index| self.is_uniform(*index)) {
            let zeros = self.pooled(vec![0; LANES_BYTES]);
            let lanes = self.lanes_of_word(*local, *base, index, Mem::pool(zeros, false));
            let parts = self.load_lanes(lanes, self.target.parts());
            self.set_location(*result, ValueLocation::Vector(parts));
            return Ok(());
        }
        let (word, inside) = self.word_index(*local, *base, *index);
        let offsets = self.lane_offsets(word);
        let base = self.local_base(*local);
        let parts = self.gather(base, offsets, inside);
        self.set_location(*result, ValueLocation::Vector(parts));
        Ok(())
    }

    fn store_indexed(&mut self, inst: &Inst) -> Result<()> {
        let Inst::LocalStore { local, base, index, value, .. } = inst else { return Ok(()) };
        let new = self.vector(*value);
        let active = self.active_mask();
        if index.is_none() {
            if *base >= self.ir.locals[local.0 as usize] {
                return Ok(());
            }
            let at = Mem::frame(self.locals[local.0 as usize] + *base as usize * LANES_BYTES);
            self.store_lanes(at, new, active);
            return Ok(());
        }
        if let Some(index) = index.filter(|index| self.is_uniform(*index)) {
            let lanes = self.lanes_of_word(*local, *base, index, Mem::frame(Frame::RESULT));
            self.store_lanes(lanes, new, active);
            return Ok(());
        }
        let (word, inside) = self.word_index(*local, *base, *index);
        let lanes = self.mask_and(inside, active);
        let offsets = self.lane_offsets(word);
        let base = self.local_base(*local);
        self.scatter(base, offsets, (new, lanes));
        Ok(())
    }

    // ---- lanes in memory -----------------------------------------------------------------------

    /// Loads the dwords of a wave from adjacent addresses.
    pub(super) fn load_lanes(&mut self, memory: Mem, count: usize) -> WaveRegs {
        let code = self.target.load();
        self.parts(count, |lower, part| {
            let displacement = memory.displacement + (part * lower.target.vector_bytes()) as i32;
            lower.define(VECTOR, code, &[Operand::Mem(Mem { displacement, ..memory })])
        })
    }

    /// Returns the memory operand of one register's part of a wave's adjacent dwords.
    pub(super) fn part_of(&self, memory: Mem, part: usize) -> Operand {
        let displacement = memory.displacement + (part * self.target.vector_bytes()) as i32;
        Operand::Mem(Mem { displacement, ..memory })
    }

    /// Stores the lanes of a mask to memory that no other thread accesses. Masked stores of AVX2
    /// are ten times slower than plain stores on some processors. With AVX2 the other lanes'
    /// dwords are therefore written back unchanged.
    pub(super) fn store_lanes(&mut self, memory: Mem, words: WaveRegs, lanes: WaveRegs) {
        for part in 0..self.target.parts() {
            let memory = self.part_of(memory, part);
            match self.target {
                Target::Avx512 => {
                    let operands = [memory, Operand::Use(words.at(part))];
                    self.masked(Code::EVEX_Vmovups_zmmm512_k1z_zmm, &operands, lanes.at(part), false);
                }
                Target::Avx2 => {
                    let stored = self.define(VECTOR, Code::VEX_Vmovups_ymm_ymmm256, &[memory]);
                    let sources = [stored, words.at(part), lanes.at(part)].map(Operand::Use);
                    let words = self.define(VECTOR, Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm, &sources);
                    self.plain(Code::VEX_Vmovups_ymmm256_ymm, &[memory, Operand::Use(words)]);
                }
            }
        }
    }

    /// Stores the lanes of a mask to memory that other threads may access. Other lanes' dwords are
    /// not written.
    fn store_consecutive(&mut self, memory: Mem, words: WaveRegs, lanes: WaveRegs) {
        if self.target == Target::Avx512 {
            return self.store_lanes(memory, words, lanes);
        }
        self.if_all(lanes, |lower, all| {
            for part in 0..lower.target.parts() {
                let (memory, words) = (lower.part_of(memory, part), Operand::Use(words.at(part)));
                match all {
                    true => lower.plain(Code::VEX_Vmovups_ymmm256_ymm, &[memory, words]),
                    false => {
                        let operands = [memory, Operand::Use(lanes.at(part)), words];
                        lower.plain(Code::VEX_Vmaskmovps_m256_ymm_ymm, &operands);
                    }
                }
            }
        });
    }

    /// Emits two branches that join: one for a mask with all lanes, which is the common case, and
    /// one for all other masks. The closure `way` emits a branch and is passed true for the first
    /// one.
    pub(super) fn if_all(&mut self, lanes: WaveRegs, way: impl Fn(&mut Self, bool)) {
        let bits = self.mask_bits(lanes);
        self.plain(Code::Cmp_rm32_imm32, &[Operand::Use(bits), Operand::Imm(Mask::MAX.into())]);
        let [whole, others, end] = [(); 3].map(|()| self.out.block());
        self.push(MachineInst::Branch { code: Code::Je_rel32_64, then: whole, otherwise: others });
        for block in [whole, others] {
            self.block = Some(block);
            way(self, block == whole);
            self.push(MachineInst::Jump { to: end, arguments: Vec::new() });
        }
        self.block = Some(end);
    }

    /// Loads dwords at byte offsets from an address in the lanes of a mask. Other lanes get 0.
    pub(super) fn gather(&mut self, base: VReg, offsets: WaveRegs, lanes: WaveRegs) -> WaveRegs {
        if self.loads_by_lane() {
            let words = self.load_by_lane(base, offsets, lanes);
            return self.keep(lanes, words);
        }
        let (from, to) = (self.zero_vector().at(0), self.vector_register());
        let memory = Operand::Mem(Mem::at(base, 0).indexed(offsets.at(0), 1));
        let operands = [Operand::Change { from, to }, memory];
        self.masked_change(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, &operands, lanes.at(0));
        WaveRegs::one(to)
    }

    /// Returns the first byte of a range, or the address of a dword in the frame if the range is
    /// empty.
    fn any_word(&mut self, range: Range) -> VReg {
        if !self.loads_by_lane() {
            return range.base;
        }
        let nothing = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::frame(Frame::ZERO))]);
        self.plain(Code::Cmp_rm32_imm32, &[Operand::Mem(range.limit), Operand::Imm(0)]);
        self.change(Code::Cmove_r64_rm64, range.base, &[Operand::Use(nothing)])
    }

    /// Stores dwords of the lanes of a mask at byte offsets from an address, in ascending lane
    /// order.
    fn scatter(&mut self, base: VReg, offsets: WaveRegs, (words, lanes): (WaveRegs, WaveRegs)) {
        match self.target {
            Target::Avx512 => {
                let memory = Operand::Mem(Mem::at(base, 0).indexed(offsets.at(0), 1));
                let operands = [memory, Operand::Use(words.at(0))];
                self.masked_change(Code::EVEX_Vpscatterdd_vm32z_k1_zmm, &operands, lanes.at(0));
            }
            Target::Avx2 => self.scatter_by_lane(base, offsets, (words, lanes), 4),
        }
    }

    /// Stores the low `bytes` bytes of the dwords of the lanes of a mask, lane by lane.
    ///
    /// AVX2 has no scatter, and neither target has one for parts of dwords. Offsets and dwords go
    /// through the frame's arguments. Lanes outside the mask store to the frame instead.
    pub(super) fn scatter_by_lane(
        &mut self,
        base: VReg,
        offsets: WaveRegs,
        (words, lanes): (WaveRegs, WaveRegs),
        bytes: u32,
    ) {
        let store = match bytes {
            1 => Code::Mov_rm8_r8,
            2 => Code::Mov_rm16_r16,
            _ => Code::Mov_rm32_r32,
        };
        for (argument, parts) in [offsets, words].into_iter().enumerate() {
            self.store_argument(argument, parts);
        }
        let bits = self.mask_bits(lanes);
        let nowhere = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::frame(Frame::RESULT))]);
        for lane in 0..16 {
            let offset = Operand::Mem(Mem::frame(Frame::ARGUMENT + lane * 4));
            let offset = self.define(SCALAR, Code::Mov_r32_rm32, &[offset]);
            let word = Operand::Mem(Mem::frame(Frame::ARGUMENT + LANES_BYTES + lane * 4));
            let word = self.define(SCALAR, Code::Mov_r32_rm32, &[word]);
            let address = Operand::Mem(Mem::at(base, 0).indexed(offset, 1));
            let address = self.define(SCALAR, Code::Lea_r64_m, &[address]);
            self.plain(Code::Bt_rm32_imm8, &[Operand::Use(bits), Operand::Imm(lane as i32)]);
            let address = self.change(Code::Cmovae_r64_rm64, address, &[Operand::Use(nowhere)]);
            self.plain(store, &[Operand::Mem(Mem::at(address, 0)), Operand::Use(word)]);
        }
    }

    pub(super) fn store_argument(&mut self, argument: usize, parts: WaveRegs) {
        self.store_wave(Mem::frame(Frame::ARGUMENT + argument * LANES_BYTES), parts);
    }

    /// Stores the dwords of all lanes.
    pub(super) fn store_wave(&mut self, memory: Mem, words: WaveRegs) {
        for part in 0..self.target.parts() {
            let memory = self.part_of(memory, part);
            self.plain(self.target.store(), &[memory, Operand::Use(words.at(part))]);
        }
    }

    /// Loads a uniform dword in the form that `classify` chose for the value.
    pub(super) fn load_uniform(&mut self, result: Value, memory: Mem) {
        let location = if self.forms.values[result.0 as usize] == Form::Scalar {
            ValueLocation::Scalar(self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Mem(memory)]))
        } else {
            ValueLocation::Vector(WaveRegs::one(self.load_broadcast(memory)))
        };
        self.set_location(result, location);
    }

    // ---- interface -----------------------------------------------------------------------------

    pub(super) fn pointer(&mut self, field: usize) -> VReg {
        self.define(SCALAR, Code::Mov_r64_rm64, &[Operand::Mem(Mem::frame(field))])
    }

    pub(super) fn input(&mut self, result: Value, slot: u32) {
        let inputs = self.cached(Key::Inputs, |lower| WaveRegs::one(lower.pointer(Frame::INPUTS))).at(0);
        let memory = Mem::at(inputs, slot as usize * LANES_BYTES);
        if self.is_uniform(result) {
            return self.set_location(result, ValueLocation::Memory(memory));
        }
        let parts = self.load_lanes(memory, self.target.parts());
        self.set_location(result, ValueLocation::Vector(parts));
    }

    pub(super) fn parameter(&mut self, result: Value, word: u32, of: Option<Value>) {
        let parameters = self.cached(Key::Parameters, |lower| WaveRegs::one(lower.pointer(Frame::PARAMETERS))).at(0);
        let words = word as usize * LANES_BYTES;
        match of.map_or(Ok(0), |of| self.constant(of).ok_or(of)) {
            Ok(one) => {
                let lane = one as usize % WAVE * LANE_BYTES as usize;
                self.set_location(result, ValueLocation::Memory(Mem::at(parameters, words + lane)));
            }
            Err(of) => {
                let rows = [0, LANES_BYTES / 2].map(|half| Operand::Mem(Mem::at(parameters, words + half)));
                self.pick(result, rows, of);
            }
        }
    }

    pub(super) fn output(&mut self, slot: u32, value: Value) {
        let words = self.vector(value);
        let memory = Mem::at(self.pointer(Frame::OUTPUTS), slot as usize * LANES_BYTES);
        // Inside a region, inactive lanes may have written another value to this output in another
        // branch. Outside of all regions, inactive lanes have ended, so all lanes can be
        // overwritten.
        if self.options.outputs == Outputs::Filled && self.open.is_empty() {
            return self.store_wave(memory, words);
        }
        let active = self.active_mask();
        self.store_lanes(memory, words, active);
    }

    pub(super) fn is_helper(&mut self, result: Value) {
        let real = self.start_mask(Frame::REAL, Frame::REAL_LANES);
        let mask = self.mask_not(real);
        self.set_location(result, ValueLocation::Mask(mask));
    }

    /// Returns the active lanes that are not helpers, whose side effects count.
    pub(super) fn effective(&mut self) -> WaveRegs {
        let active = self.active_mask();
        if self.options.with_all_lanes && !self.demotes {
            return active;
        }
        let make = |lower: &mut Self| {
            let real = lower.start_mask(Frame::REAL, Frame::REAL_LANES);
            lower.mask_and(active, real)
        };
        // Lanes that become helpers change the mask, so it is cached only if the program has no
        // demotion.
        if self.demotes { make(self) } else { self.cached(Key::Effective(active.at(0)), make) }
    }

    // ---- buffers -------------------------------------------------------------------------------

    pub(super) fn access(&mut self, inst: &Inst) -> Result<()> {
        match inst {
            Inst::Load { result, space, offset } if self.is_direct(*space) => self.load(*result, *space, *offset),
            Inst::Store { space, offset, value } if self.is_direct(*space) => self.store(*space, *offset, *value),
            Inst::StorePart { space, offset, value, bytes } if self.is_direct(*space) => {
                self.store_part(*space, *offset, (*value, *bytes));
            }
            Inst::Load { result, space, offset } if let Some(location) = self.location(*space, *offset) => {
                self.load_located(inst, *result, location)?;
            }
            Inst::Store { space, offset, value } if let Some(location) = self.location(*space, *offset) => {
                self.store_located(inst, location, *value)?;
            }
            Inst::Atomic { space, .. } if self.has_atomics(*space) => self.atomic(inst)?,
            Inst::BufferLength { result, resource, element, word: None } if self.is_element_uniform(*element) => {
                let entry = self.entry(*resource, *element);
                self.load_uniform(*result, Mem::at(entry, SIZE));
            }
            _ => {
                let uniform = inst.results().next().is_some_and(|result| self.is_uniform(result));
                self.call(inst, uniform)?;
            }
        }
        Ok(())
    }

    /// Returns true if all lanes access the same range.
    fn is_direct(&self, space: Space) -> bool {
        match space {
            Space::Buffer { element, .. } => self.is_element_uniform(element),
            Space::Push
            | Space::Texels(_)
            | Space::Levels(_)
            | Space::OfImage { .. }
            | Space::Range(_)
            | Space::Quads(_)
            | Space::Block(_)
            | Space::Shared => true,
            Space::Clock | Space::Address { .. } | Space::Far { .. } => false,
        }
    }

    /// Returns true if atomic operations on a space are generated code. Push constants are
    /// read-only for all programs, so they have none.
    fn has_atomics(&mut self, space: Space) -> bool {
        match space {
            Space::Buffer { element, .. } => self.is_element_uniform(element),
            Space::Shared | Space::Address { .. } => true,
            Space::Far { resource, .. } => self.far_range(resource).is_some(),
            Space::OfImage { .. } => space.is_buffer(),
            _ => false,
        }
    }

    fn is_element_uniform(&self, element: Option<Value>) -> bool {
        element.is_none_or(|element| self.is_uniform(element))
    }

    /// Returns the address of a buffer's entry. An element out of bounds has an empty entry.
    fn entry(&mut self, resource: u32, element: Option<Value>) -> VReg {
        match element.map(|element| (self.constant(element), element)) {
            None | Some((Some(0), _)) => self.first_entry(None, resource),
            Some((_, element)) => self.entry_of(resource, element),
        }
    }

    /// Returns the address of the entry of a resource's first buffer.
    fn first_entry(&mut self, of: Of, resource: u32) -> VReg {
        let entry = |lower: &mut Self| {
            let at = lower.buffers_of(of, resource);
            WaveRegs::one(lower.load_pointer(at))
        };
        self.cached(Key::Entry(of, resource), entry).at(0)
    }

    /// Returns the memory operand of the address of a resource's entries.
    fn buffers_of(&mut self, of: Of, resource: u32) -> Mem {
        let resources = match of {
            None => self.pointer(Frame::RESOURCES),
            Some(image) => {
                let at = self.field_of_routine(image, RoutineEntry::RESOURCES);
                self.load_pointer(at)
            }
        };
        Mem::at(resources, resource as usize * size_of::<ResourceEntry>())
    }

    /// Returns the memory operand of a field of the routine of an image instruction.
    fn field_of_routine(&mut self, image: u32, field: usize) -> Mem {
        Mem::at(self.pointer(Frame::ROUTINES), image as usize * RoutineEntry::BYTES + field)
    }

    fn entry_of(&mut self, resource: u32, element: Value) -> VReg {
        let at = self.buffers_of(None, resource);
        let element = self.scalar(element);
        let index = self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(element)]);
        let bytes = self.change(Code::Shl_rm64_imm8, index, &[Operand::Imm(ENTRY_SHIFT)]);
        let entry = self.change(Code::Add_r64_rm64, bytes, &[Operand::Mem(at)]);
        let count = Mem { displacement: at.displacement + COUNT as i32, ..at };
        self.plain(Code::Cmp_r32_rm32, &[Operand::Use(element), Operand::Mem(count)]);
        self.change(Code::Cmovae_r64_rm64, entry, &[Operand::Mem(Mem::frame(Frame::NOTHING))])
    }

    pub(super) fn range(&mut self, space: Space) -> Range {
        let field = match space {
            Space::Buffer { resource, element } => {
                let entry = self.entry(resource, element);
                let is_first = element.is_none_or(|element| self.constant(element) == Some(0));
                let base =
                    if is_first { self.first_byte(None, resource) } else { self.load_pointer(Mem::at(entry, 0)) };
                return Range { base, limit: Mem::at(entry, LIMIT) };
            }
            Space::Texels(resource) => return self.first_range(None, resource),
            Space::OfImage { image, part: Part::Buffer(resource) | Part::Texels(resource) } => {
                return self.first_range(Some(image), resource);
            }
            Space::Range(number) | Space::Quads(number) | Space::Block(number) => {
                let entries = self.pointer(Frame::RANGES);
                let entry = number as usize * size_of::<BufferEntry>();
                let base = self.load_pointer(Mem::at(entries, entry));
                return Range { base, limit: Mem::at(entries, entry + LIMIT) };
            }
            // Dwords that are known to be in bounds need no limit (`known_word`, `load`).
            Space::Push | Space::Levels(_) | Space::OfImage { .. } => Frame::PUSH,
            // Accesses whose operands locate memory find their range in `address`. The runtime
            // executes loads of the clock.
            Space::Shared | Space::Clock | Space::Address { .. } | Space::Far { .. } => Frame::SHARED,
        };
        Range { base: self.pointer(field), limit: Mem::frame(field + LIMIT) }
    }

    /// Returns the range of a resource's first buffer.
    fn first_range(&mut self, of: Of, resource: u32) -> Range {
        let entry = self.first_entry(of, resource);
        Range { base: self.first_byte(of, resource), limit: Mem::at(entry, LIMIT) }
    }

    /// Returns the first byte of a resource's first buffer.
    pub(super) fn first_byte(&mut self, of: Of, resource: u32) -> VReg {
        let entry = self.first_entry(of, resource);
        self.cached(Key::Base(of, resource), |lower| WaveRegs::one(lower.load_pointer(Mem::at(entry, 0)))).at(0)
    }

    pub(super) fn load_pointer(&mut self, at: Mem) -> VReg {
        self.define(SCALAR, Code::Mov_r64_rm64, &[Operand::Mem(at)])
    }

    /// Returns the first byte of the push constants.
    fn pushed(&mut self, of: Of) -> VReg {
        let pushed = |lower: &mut Self| match of {
            None => WaveRegs::one(lower.pointer(Frame::PUSH)),
            Some(image) => {
                let at = lower.field_of_routine(image, RoutineEntry::PUSH);
                WaveRegs::one(lower.load_pointer(at))
            }
        };
        self.cached(Key::Push(of), pushed).at(0)
    }

    /// Returns the memory operand of a uniform dword, if it is known to be in bounds.
    fn known_word(&mut self, space: Space, offset: Value) -> Option<Mem> {
        let (of, behind, is_known) = match space {
            Space::Push => (None, 0, false),
            Space::Levels(behind) => (None, behind, true),
            Space::OfImage { image, part: Part::Levels(behind) } => (Some(image), behind, true),
            _ => return None,
        };
        match self.constant(offset).map(|offset| offset.saturating_add(behind)) {
            Some(offset) if offset % 4 == 0 && offset < MAX_PUSHED => {
                if of.is_none() {
                    self.pushed_bytes = self.pushed_bytes.max(offset as usize + 4);
                }
                Some(Mem::at(self.pushed(of), offset as usize))
            }
            _ if is_known && self.is_uniform(offset) => {
                let offset = self.scalar(offset);
                Some(Mem::at(self.pushed(of), behind as usize).indexed(offset, 1))
            }
            _ => None,
        }
    }

    /// Returns the address `behind` bytes into the push constants, where dwords are known to be in
    /// bounds.
    fn levels(&mut self, of: Of, behind: u32) -> VReg {
        let at = Mem::at(self.pushed(of), behind as usize);
        self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(at)])
    }

    fn load(&mut self, result: Value, space: Space, offset: Value) {
        // The load of a texel's first dword has loaded this dword too.
        if self.values[result.0 as usize] != ValueLocation::Nowhere {
            return;
        }
        if self.load_texel(space, offset) {
            return;
        }
        if let Some(memory) = self.known_word(space, offset) {
            return self.set_location(result, ValueLocation::Memory(memory));
        }
        let known = match space {
            Space::Levels(behind) => Some(self.levels(None, behind)),
            Space::OfImage { image, part: Part::Levels(behind) } => Some(self.levels(Some(image), behind)),
            space => texels_of(space)
                .filter(|_| !self.is_uniform(offset))
                .map(|(of, resource)| self.first_byte(of, resource)),
        };
        if let Some(base) = known {
            let (offsets, active) = (self.vector(offset), self.active_mask());
            let parts = match self.loads_by_lane() {
                true => self.load_by_lane(base, offsets, active),
                false => self.gather(base, offsets, active),
            };
            return self.set_location(result, ValueLocation::Vector(parts));
        }
        let range = self.range(space);
        if let Space::Block(_) = space {
            let parts = self.load_block(range, offset);
            return self.set_location(result, ValueLocation::Vector(parts));
        }
        if self.is_uniform(offset) {
            let address = self.uniform_address(range, offset);
            return self.load_uniform(result, Mem::at(address, 0));
        }
        let offsets = self.vector(offset);
        if let Space::Quads(_) = space {
            let parts = self.load_quads(range, offsets);
            return self.set_location(result, ValueLocation::Vector(parts));
        }
        let active = self.active_mask();
        let lanes = self.inside(range, offsets, active);
        let parts = self.load_lanes_of(range, (offsets, self.follows(offset)), lanes);
        self.set_location(result, ValueLocation::Vector(parts));
    }

    /// Loads dwords of a range. The offsets are inside it in the lanes of a mask. `follow` is true
    /// if the dwords are adjacent.
    pub(super) fn load_lanes_of(
        &mut self,
        range: Range,
        (offsets, follow): (WaveRegs, bool),
        lanes: WaveRegs,
    ) -> WaveRegs {
        if follow {
            let memory = self.first_word(range.base, offsets);
            return self.load_consecutive(memory, lanes);
        }
        let base = self.any_word(range);
        self.gather(base, offsets, lanes)
    }

    /// Returns true if the dwords of the lanes are adjacent.
    pub(super) fn follows(&self, offset: Value) -> bool {
        self.facts.strides[offset.0 as usize] == Some(LANE_BYTES)
    }

    /// Returns the memory operand of the first lane's dword. Offsets of lanes inside the range are
    /// less than 2^31. If the first lane's offset wrapped around, its distance to them is also
    /// less than 2^31. As a signed offset it therefore leads to the dwords of all lanes.
    pub(super) fn first_word(&mut self, base: VReg, offsets: WaveRegs) -> Mem {
        let first = self.first_lane(offsets.at(0));
        let first = self.define(SCALAR, Code::Movsxd_r64_rm32, &[Operand::Use(first)]);
        Mem::at(base, 0).indexed(first, 1)
    }

    /// Loads adjacent dwords. Lanes outside the mask get 0, and their memory is not accessed.
    fn load_consecutive(&mut self, memory: Mem, lanes: WaveRegs) -> WaveRegs {
        self.parts(self.target.parts(), |lower, part| {
            let displacement = (part * lower.target.vector_bytes()) as i32;
            let memory = Operand::Mem(Mem { displacement, ..memory });
            match lower.target {
                Target::Avx512 => {
                    let result = lower.vector_register();
                    let operands = [Operand::Def(result), memory];
                    lower.masked(Code::EVEX_Vmovups_zmm_k1z_zmmm512, &operands, lanes.at(0), true);
                    result
                }
                Target::Avx2 => {
                    let sources = [Operand::Use(lanes.at(part)), memory];
                    lower.define(VECTOR, Code::VEX_Vmaskmovps_ymm_ymm_m256, &sources)
                }
            }
        })
    }

    /// Returns the address of a dword that all lanes load, or of a zero if it is out of bounds.
    fn uniform_address(&mut self, range: Range, offset: Value) -> VReg {
        let offset = self.scalar(offset);
        let memory =
            Mem { base: Base::Register(range.base), index: Some((offset, 1)), displacement: 0, broadcast: false };
        let inside = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(memory)]);
        let zero = self.define(SCALAR, Code::Lea_r64_m, &[Operand::Mem(Mem::frame(Frame::ZERO))]);
        self.plain(Code::Cmp_r32_rm32, &[Operand::Use(offset), Operand::Mem(range.limit)]);
        self.change(Code::Cmovae_r64_rm64, inside, &[Operand::Use(zero)])
    }

    /// Returns the lanes of a mask whose offsets are inside a range.
    pub(super) fn inside(&mut self, range: Range, offsets: WaveRegs, lanes: WaveRegs) -> WaveRegs {
        match self.target {
            Target::Avx512 => {
                let result = self.out.register(super::super::machine::MASK);
                let limit = Operand::Mem(range.limit.broadcast());
                let predicate = Operand::Imm(Order::Less.predicate());
                let operands = [Operand::Def(result), Operand::Use(offsets.at(0)), limit, predicate];
                self.masked(Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, &operands, lanes.at(0), false);
                WaveRegs::one(result)
            }
            Target::Avx2 => {
                let limit = Operand::Mem(range.limit);
                let limit = WaveRegs::one(self.define(VECTOR, Code::VEX_Vpbroadcastd_ymm_xmmm32, &[limit]));
                let inside = self.compare(Compare::Unsigned(Order::Less), offsets, Source::WaveRegs(limit));
                self.mask_and(inside, lanes)
            }
        }
    }

    fn store(&mut self, space: Space, offset: Value, value: Value) {
        if space == Space::Push {
            return;
        }
        let words = self.vector(value);
        let range = self.range(space);
        let effective = self.effective();
        if let Space::Block(_) = space {
            return self.store_block(range.base, offset, (words, effective));
        }
        let offsets = self.vector(offset);
        if let Space::Quads(_) = space {
            return self.store_quads(range.base, offsets, (words, effective));
        }
        let lanes = self.inside(range, offsets, effective);
        self.store_lanes_of(range, (offsets, self.follows(offset)), (words, lanes));
    }

    /// Stores dwords to a range. The offsets are inside it in the lanes of a mask. `follow` is
    /// true if the dwords are adjacent.
    pub(super) fn store_lanes_of(
        &mut self,
        range: Range,
        (offsets, follow): (WaveRegs, bool),
        (words, lanes): (WaveRegs, WaveRegs),
    ) {
        if follow {
            let memory = self.first_word(range.base, offsets);
            return self.store_consecutive(memory, words, lanes);
        }
        self.scatter(range.base, offsets, (words, lanes));
    }
}
