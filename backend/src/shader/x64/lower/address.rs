//! Memory by address: generated code looks where it found memory last time, and leaves what lies elsewhere to the runtime.
//!
//! Each access has a place in the wave's frame for a range of addresses. Where all lanes are inside of it the access is one of that range;
//! else the runtime does it, lane by lane, and notes where the first lane's address led.

use iced_x86::Code;

use super::super::machine::{Kind, Mem, Operand, SCALAR};
use super::super::table::{Compare, Order, V};
use super::classify::Form;
use super::emit::Source;
use super::memory::Range;
use super::{Held, Lower, Parts, Result};
use crate::shader::ir::{Inst, Value};
use crate::shader::runtime::frame::{Frame, REACHES, Reach};
use crate::shader::x64::Target;

/// Bytes from the low to the high word of a number in memory.
const HIGH: i32 = 4;

impl Lower<'_> {
    /// Loads a word of each lane at the address whose words are given.
    pub(super) fn load_at_address(&mut self, inst: &Inst, result: Value, address: [Value; 2]) -> Result<()> {
        let reach = self.next_reach();
        let known = if self.is_uniform(result) {
            let (base, offset) = self.uniform_reach(reach, address);
            self.either(
                (Code::Jb_rel32_64, inst, reach),
                |lower| lower.load_uniform(result, Mem::at(base, 0).indexed(offset, 1)),
                Some(result),
            )?
        } else {
            let active = self.active_mask();
            let (range, offsets) = self.lanes_in_reach(reach, address, active);
            let follow = self.follows(address[0]);
            self.either(
                (Code::Je_rel32_64, inst, reach),
                |lower| {
                    let parts = lower.load_lanes_of(range, (offsets, follow), active);
                    lower.hold(result, Held::Vector(parts));
                },
                Some(result),
            )?
        };
        if let Some(parts) = known {
            let held = match self.forms.values[result.0 as usize] {
                Form::Scalar => Held::Scalar(parts.at(0)),
                _ => Held::Vector(parts),
            };
            self.hold(result, held);
        }
        Ok(())
    }

    /// Stores a word of each lane that is no helper.
    pub(super) fn store_at_address(&mut self, inst: &Inst, address: [Value; 2], value: Value) -> Result<()> {
        let reach = self.next_reach();
        let (words, effective) = (self.vector(value), self.effective());
        let (range, offsets) = self.lanes_in_reach(reach, address, effective);
        let follow = self.follows(address[0]);
        let store = |lower: &mut Self| lower.store_lanes_of(range, (offsets, follow), (words, effective));
        self.either((Code::Je_rel32_64, inst, reach), store, None)?;
        Ok(())
    }

    fn next_reach(&mut self) -> u32 {
        self.reaches += 1;
        (self.reaches - 1) % REACHES as u32
    }

    fn reach_field(reach: u32, field: usize) -> Mem {
        Mem::frame(Frame::REACHES + reach as usize * Reach::BYTES + field)
    }

    /// What a range has at its start, and an address's distance from there; sets the flags as below when that is inside.
    fn uniform_reach(&mut self, reach: u32, [low, high]: [Value; 2]) -> (regalloc2::VReg, regalloc2::VReg) {
        let (low, high) = (self.scalar(low), self.scalar(high));
        let [low, high] = [low, high].map(|word| self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(word)]));
        let high = self.change(Code::Shl_rm64_imm8, high, &[Operand::Imm(32)]);
        let address = self.change(Code::Add_r64_rm64, high, &[Operand::Use(low)]);
        let first = Operand::Mem(Self::reach_field(reach, Reach::FIRST));
        let offset = self.change(Code::Sub_r64_rm64, address, &[first]);
        let base = self.load_pointer(Self::reach_field(reach, Reach::BASE));
        let limit = Operand::Mem(Self::reach_field(reach, Reach::LIMIT));
        self.plain(Code::Cmp_r64_rm64, &[Operand::Use(offset), limit]);
        (base, offset)
    }

    /// A range, and the distances of the lanes' addresses from its start; sets the flags as equal when those of all lanes of a mask are inside.
    fn lanes_in_reach(&mut self, reach: u32, [low, high]: [Value; 2], lanes: Parts) -> (Range, Parts) {
        let (low, high) = (self.vector(low), self.vector(high));
        let first = Self::reach_field(reach, Reach::FIRST);
        let [first_low, first_high] = [0, HIGH].map(|behind| {
            let memory = Mem { displacement: first.displacement + behind, ..first };
            match self.target {
                Target::Avx512 => Source::Memory(memory.broadcast()),
                Target::Avx2 => Source::Parts(Parts::one(self.load_broadcast(memory))),
            }
        });
        let base = self.load_pointer(Self::reach_field(reach, Reach::BASE));
        let range = Range { base, limit: Self::reach_field(reach, Reach::LIMIT) };
        let offsets = self.vector2(V::SubI, low, first_low);
        let alike = self.compare(Compare::Signed(Order::Equal), high, first_high);
        let inside = self.inside(range, offsets, alike);
        let outside = self.mask_and_not(inside, lanes);
        self.test_mask(outside);
        (range, offsets)
    }

    /// Does one thing where a jump is taken, else leaves the instruction to the runtime; says what the result's value is then.
    fn either(
        &mut self,
        (code, inst, reach): (Code, &Inst, u32),
        inside: impl FnOnce(&mut Self),
        result: Option<Value>,
    ) -> Result<Option<Parts>> {
        let [then, otherwise, join] = [0; 3].map(|_| self.out.block());
        self.push(Kind::Branch { code, then, otherwise });
        let uniform = result.is_some_and(|result| self.is_uniform(result));
        let form = result.map(|result| (result, self.forms.values[result.0 as usize]));
        // What is converted on one way is not there on the other.
        let mark = self.converted.mark();
        self.block = Some(then);
        inside(self);
        let found = self.leave_for(join, form);
        self.converted.forget(mark);
        self.block = Some(otherwise);
        self.call(inst, uniform)?;
        if let Some(site) = self.sites.last_mut() {
            site.reach = Some(reach);
        }
        self.leave_for(join, form);
        self.converted.forget(mark);
        self.block = Some(join);
        Ok(found.map(|found| {
            let parts = self.parts(found.count, |lower, part| lower.out.register(found.at(part).class()));
            self.out.blocks[join.index()].parameters = (0..parts.count).map(|part| parts.at(part)).collect();
            parts
        }))
    }

    /// Jumps to where ways meet, with a value in a form.
    fn leave_for(&mut self, join: regalloc2::Block, value: Option<(Value, Form)>) -> Option<Parts> {
        let parts = value.map(|(value, form)| self.in_form(value, form));
        let arguments = parts.map_or_else(Vec::new, |parts| (0..parts.count).map(|part| parts.at(part)).collect());
        self.push(Kind::Jump { to: join, arguments });
        parts
    }
}
