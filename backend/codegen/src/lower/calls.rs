//! Calls of the runtime for instructions that generated code does not execute itself.

use iced_x86::Code;
use vitric_ir::{Inst, Type, Value};

use super::super::machine::{MachineInst, Mem, Operand, VECTOR};
use super::classify::Form;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::frame::{ARGUMENTS, Frame, LANES_BYTES};
use crate::{Site, Target};

impl Lower<'_> {
    /// Calls the runtime to execute an instruction. Its operands are stored to the frame's
    /// arguments, and its results are loaded from there.
    pub(super) fn call(&mut self, inst: &Inst, uniform: bool) -> Result<()> {
        let (numbered, arguments) = inst.numbered();
        if arguments.len() > ARGUMENTS {
            return Err("an instruction with too many operands".into());
        }
        for (argument, &value) in arguments.iter().enumerate() {
            let parts = self.vector(value);
            self.store_argument(argument, parts);
        }
        let active = self.active_mask();
        let bits = self.mask_bits(active);
        self.plain(Code::Mov_rm16_r16, &[Operand::Mem(Mem::frame(Frame::CALL_ACTIVE)), Operand::Use(bits)]);
        let (defined, number) = (numbered.results(), self.sites.len() as u32);
        let site = Site::new(numbered, uniform);
        let routine = site.one_image;
        let lanes = routine.map(|_| self.lanes_of_routine(&site.inst));
        self.sites.push(site);
        self.push(MachineInst::Call { site: number, routine });
        for (index, result) in defined.enumerate() {
            match lanes {
                Some(lanes) => self.load_result_of(lanes, result, index),
                None => self.load_result(result, index),
            }
        }
        Ok(())
    }

    /// Runs `inside` where the conditional jump `code` is taken, and calls the runtime elsewhere.
    /// `inside` computes the result of the instruction, if it has one. The runtime may record the
    /// address range that it finds at index `cached_range`.
    pub(super) fn call_unless(
        &mut self,
        code: Code,
        inst: &Inst,
        cached_range: Option<u32>,
        inside: impl FnOnce(&mut Self),
    ) -> Result<()> {
        let result = inst.results().next();
        let [then, otherwise, join] = [0; 3].map(|_| self.out.block());
        self.push(MachineInst::Branch { code, then, otherwise });
        let uniform = result.is_some_and(|result| self.is_uniform(result));
        let form = result.map(|result| (result, self.forms.values[result.0 as usize]));
        // Conversions that one branch computes do not exist in the other.
        let mark = self.converted.mark();
        self.block = Some(then);
        inside(self);
        let found = self.leave_for(join, form);
        self.converted.forget(mark);
        self.block = Some(otherwise);
        self.call(inst, uniform)?;
        if let Some(site) = self.sites.last_mut() {
            site.cached_range = cached_range;
        }
        self.leave_for(join, form);
        self.converted.forget(mark);
        self.block = Some(join);
        if let (Some(found), Some((result, form))) = (found, form) {
            let parts = self.parts(found.count, |lower, part| lower.out.register(found.at(part).class()));
            self.out.blocks[join.index()].parameters = (0..parts.count).map(|part| parts.at(part)).collect();
            let location =
                if form == Form::Scalar { ValueLocation::Scalar(parts.at(0)) } else { ValueLocation::Vector(parts) };
            self.set_location(result, location);
        }
        Ok(())
    }

    /// Jumps to `join` and passes a value as arguments, in its form.
    fn leave_for(&mut self, join: regalloc2::Block, value: Option<(Value, Form)>) -> Option<WaveRegs> {
        let parts = value.map(|(value, form)| self.in_form(value, form));
        let arguments = parts.map_or_else(Vec::new, |parts| (0..parts.count).map(|part| parts.at(part)).collect());
        self.push(MachineInst::Jump { to: join, arguments });
        parts
    }

    /// Stores the lanes for which an image instruction runs its routine to the routine's frame.
    /// Returns the lanes.
    fn lanes_of_routine(&mut self, inst: &Inst) -> WaveRegs {
        let has_effect = matches!(inst, Inst::Image(image) if image.op.has_effect());
        let lanes = if has_effect { self.effective() } else { self.active_mask() };
        let frame = self.pointer(Frame::NESTED);
        let (code, at) = match self.target {
            Target::Avx512 => (Code::VEX_Kmovw_m16_kr, Frame::ACTIVE),
            Target::Avx2 => (Code::VEX_Vmovups_ymmm256_ymm, Frame::ACTIVE_LANES),
        };
        for part in 0..self.target.parts() {
            let memory = self.part_of(Mem::at(frame, at), part);
            self.plain(code, &[memory, Operand::Use(lanes.at(part))]);
        }
        lanes
    }

    /// Loads a result of a routine. Lanes that did not run the routine get 0, because their
    /// contents in the frame are unspecified.
    fn load_result_of(&mut self, lanes: WaveRegs, result: Value, index: usize) {
        let memory = Mem::frame(Frame::RESULT + index * LANES_BYTES);
        let parts = self.parts(self.target.parts(), |lower, part| {
            let memory = lower.part_of(memory, part);
            match lower.target {
                Target::Avx512 => {
                    let result = lower.vector_register();
                    let operands = [Operand::Def(result), memory];
                    lower.masked(Code::EVEX_Vmovups_zmm_k1z_zmmm512, &operands, lanes.at(part), true);
                    result
                }
                Target::Avx2 => {
                    let sources = [Operand::Use(lanes.at(part)), memory];
                    lower.define(VECTOR, Code::VEX_Vandps_ymm_ymm_ymmm256, &sources)
                }
            }
        });
        self.set_location(result, ValueLocation::Vector(parts));
    }

    pub(super) fn load_result(&mut self, result: Value, index: usize) {
        let memory = Mem::frame(Frame::RESULT + index * LANES_BYTES);
        if self.is_uniform(result) {
            return self.load_uniform(result, memory);
        }
        let parts = self.load_lanes(memory, self.target.parts());
        let location = if self.ir.types[result.0 as usize] == Type::Bool {
            ValueLocation::Mask(self.words_to_mask(parts))
        } else {
            ValueLocation::Vector(parts)
        };
        self.set_location(result, location);
    }
}
