//! Memory by address: generated code looks where it found memory last time, and leaves what lies elsewhere to the runtime.
//!
//! Each access has a place in the wave's frame for a range of addresses. Where all lanes are inside of it the access is one of that range;
//! else the runtime does it, lane by lane, and notes where the first lane's address led.

use iced_x86::Code;
use vitric_ir::{Inst, Value};

use super::super::machine::{Mem, Operand, SCALAR};
use super::super::table::{Compare, Order, V};
use super::emit::Source;
use super::memory::Range;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::Target;
use crate::frame::{Frame, REACHES, Reach};

/// Bytes from the low to the high word of a number in memory.
const HIGH: i32 = 4;

impl Lower<'_> {
    /// Loads a word of each lane at the address whose words are given.
    pub(super) fn load_at_address(&mut self, inst: &Inst, result: Value, address: [Value; 2]) -> Result<()> {
        let reach = self.next_reach();
        if self.is_uniform(result) {
            let (base, offset) = self.uniform_reach(reach, address);
            let load = |lower: &mut Self| lower.load_uniform(result, Mem::at(base, 0).indexed(offset, 1));
            return self.call_unless((Code::Jb_rel32_64, inst, Some(reach)), load, Some(result));
        }
        let active = self.active_mask();
        let (range, offsets) = self.lanes_in_reach(reach, address, active);
        let follow = self.follows(address[0]);
        let load = |lower: &mut Self| {
            let parts = lower.load_lanes_of(range, (offsets, follow), active);
            lower.hold(result, ValueLocation::Vector(parts));
        };
        self.call_unless((Code::Je_rel32_64, inst, Some(reach)), load, Some(result))
    }

    /// Stores a word of each lane that is no helper.
    pub(super) fn store_at_address(&mut self, inst: &Inst, address: [Value; 2], value: Value) -> Result<()> {
        let reach = self.next_reach();
        let (words, effective) = (self.vector(value), self.effective());
        let (range, offsets) = self.lanes_in_reach(reach, address, effective);
        let follow = self.follows(address[0]);
        let store = |lower: &mut Self| lower.store_lanes_of(range, (offsets, follow), (words, effective));
        self.call_unless((Code::Je_rel32_64, inst, Some(reach)), store, None)
    }

    pub(super) fn next_reach(&mut self) -> u32 {
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
    fn lanes_in_reach(&mut self, reach: u32, address: [Value; 2], lanes: WaveRegs) -> (Range, WaveRegs) {
        let (range, offsets, inside) = self.in_reach(reach, address);
        let outside = self.mask_and_not(inside, lanes);
        self.test_mask(outside);
        (range, offsets)
    }

    /// A range, the distances of the lanes' addresses from its start, and the lanes in which those are inside.
    pub(super) fn in_reach(&mut self, reach: u32, [low, high]: [Value; 2]) -> (Range, WaveRegs, WaveRegs) {
        let (low, high) = (self.vector(low), self.vector(high));
        let first = Self::reach_field(reach, Reach::FIRST);
        let [first_low, first_high] = [0, HIGH].map(|behind| {
            let memory = Mem { displacement: first.displacement + behind, ..first };
            match self.target {
                Target::Avx512 => Source::Memory(memory.broadcast()),
                Target::Avx2 => Source::WaveRegs(WaveRegs::one(self.load_broadcast(memory))),
            }
        });
        let base = self.load_pointer(Self::reach_field(reach, Reach::BASE));
        let range = Range { base, limit: Self::reach_field(reach, Reach::LIMIT) };
        let offsets = self.vector2(V::SubI, low, first_low);
        let alike = self.compare(Compare::Signed(Order::Equal), high, first_high);
        let inside = self.inside(range, offsets, alike);
        (range, offsets, inside)
    }
}
