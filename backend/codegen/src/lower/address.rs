//! Memory accesses by address, or by location in a far resource. Generated code handles the range
//! that it found last time, and the runtime handles all others.
//!
//! Each access by address has an entry for a range in the wave's frame, and all accesses of a far
//! resource have one. If the addresses of all lanes are inside it, the access is an ordinary access
//! of that range. Otherwise the runtime executes it lane by lane, and records the range that
//! contains the first lane's address.

use iced_x86::Code;
use regalloc2::VReg;
use vitric_ir::{Inst, Space, Value};

use super::super::machine::{Mem, Operand, SCALAR};
use super::super::table::{Compare, Order, V};
use super::emit::Source;
use super::memory::Range;
use super::{Lower, Result, ValueLocation, WaveRegs};
use crate::Target;
use crate::frame::{ADDRESS_RANGES, CachedRange, FAR_RANGES, Frame};

/// Distance from the low to the high dword of a 64-bit number in memory, in bytes.
const HIGH: i32 = 4;

/// Memory that operands locate.
#[derive(Clone, Copy)]
pub(super) struct Location {
    /// Low and high dwords of the address, or of the location in a far resource.
    pub address: [Value; 2],
    /// Index of the frame's range.
    pub cached_range: u32,
}

/// Offsets of the lanes' addresses in a range.
#[derive(Clone, Copy)]
pub(super) struct RangeOffsets {
    /// Range that an earlier look-up found.
    pub range: Range,
    /// Difference of each lane's address from the first byte of the range.
    pub offsets: WaveRegs,
    /// Mask of the lanes whose addresses are inside the range.
    pub inside: WaveRegs,
}

impl Lower<'_> {
    /// Returns the location of an access, if operands locate its memory in a range of the frame.
    pub(super) fn location(&mut self, space: Space, offset: Value) -> Option<Location> {
        let cached_range = match space {
            Space::Address { .. } => self.next_cached_range(),
            Space::Far { resource, .. } => self.far_range(resource)?,
            _ => return None,
        };
        Some(Location { address: [offset, space.operand()?], cached_range })
    }

    /// Loads a dword per lane.
    pub(super) fn load_located(&mut self, inst: &Inst, result: Value, location: Location) -> Result<()> {
        let Location { address, cached_range } = location;
        if self.is_uniform(result) {
            let (base, offset) = self.uniform_in_range(cached_range, address);
            let load = |lower: &mut Self| lower.load_uniform(result, Mem::at(base, 0).indexed(offset, 1));
            return self.call_unless(Code::Jb_rel32_64, inst, Some(cached_range), load);
        }
        let active = self.active_mask();
        let (range, offsets) = self.lanes_in_range(cached_range, address, active);
        let follow = self.follows(address[0]);
        let load = |lower: &mut Self| {
            let parts = lower.load_lanes_of(range, (offsets, follow), active);
            lower.set_location(result, ValueLocation::Vector(parts));
        };
        self.call_unless(Code::Je_rel32_64, inst, Some(cached_range), load)
    }

    /// Stores a dword of each lane that is not a helper.
    pub(super) fn store_located(&mut self, inst: &Inst, location: Location, value: Value) -> Result<()> {
        let Location { address, cached_range } = location;
        let (words, effective) = (self.vector(value), self.effective());
        let (range, offsets) = self.lanes_in_range(cached_range, address, effective);
        let follow = self.follows(address[0]);
        let store = |lower: &mut Self| lower.store_lanes_of(range, (offsets, follow), (words, effective));
        self.call_unless(Code::Je_rel32_64, inst, Some(cached_range), store)
    }

    fn next_cached_range(&mut self) -> u32 {
        self.cached_ranges += 1;
        (self.cached_ranges - 1) % ADDRESS_RANGES as u32
    }

    /// Returns the index of the range of a far resource, or `None` if too many have one.
    pub(super) fn far_range(&mut self, resource: u32) -> Option<u32> {
        let known = self.far_resources.iter().position(|other| *other == resource);
        let number = known.unwrap_or_else(|| {
            self.far_resources.push(resource);
            self.far_resources.len() - 1
        });
        (number < FAR_RANGES).then_some((ADDRESS_RANGES + number) as u32)
    }

    fn cached_range_field(cached_range: u32, field: usize) -> Mem {
        Mem::frame(Frame::CACHED_RANGES + cached_range as usize * CachedRange::BYTES + field)
    }

    /// Returns the base of a range and the offset of an address in it. Sets the flags to "below"
    /// if the offset is inside the range.
    fn uniform_in_range(&mut self, cached_range: u32, address: [Value; 2]) -> (VReg, VReg) {
        let (range, offset) = self.offset_in_range(cached_range, address);
        self.plain(Code::Cmp_r64_rm64, &[Operand::Use(offset), Operand::Mem(range.limit)]);
        (range.base, offset)
    }

    /// Returns a range and the offset of an address in it.
    pub(super) fn offset_in_range(&mut self, cached_range: u32, [low, high]: [Value; 2]) -> (Range, VReg) {
        let (low, high) = (self.scalar(low), self.scalar(high));
        let [low, high] = [low, high].map(|word| self.define(SCALAR, Code::Mov_r32_rm32, &[Operand::Use(word)]));
        let high = self.change(Code::Shl_rm64_imm8, high, &[Operand::Imm(32)]);
        let address = self.change(Code::Add_r64_rm64, high, &[Operand::Use(low)]);
        let first = Operand::Mem(Self::cached_range_field(cached_range, CachedRange::FIRST));
        let offset = self.change(Code::Sub_r64_rm64, address, &[first]);
        let base = self.load_pointer(Self::cached_range_field(cached_range, CachedRange::BASE));
        (Range { base, limit: Self::cached_range_field(cached_range, CachedRange::LIMIT) }, offset)
    }

    /// Returns a range and the offsets of the lanes' addresses in it. Sets the flags to "equal" if
    /// the offsets of all lanes of the mask `lanes` are inside.
    fn lanes_in_range(&mut self, cached_range: u32, address: [Value; 2], lanes: WaveRegs) -> (Range, WaveRegs) {
        let RangeOffsets { range, offsets, inside } = self.in_cached_range(cached_range, address);
        let outside = self.mask_and_not(inside, lanes);
        self.test_mask(outside);
        (range, offsets)
    }

    /// Returns the offsets of the lanes' addresses in a range.
    pub(super) fn in_cached_range(&mut self, cached_range: u32, [low, high]: [Value; 2]) -> RangeOffsets {
        let (low, high) = (self.vector(low), self.vector(high));
        let first = Self::cached_range_field(cached_range, CachedRange::FIRST);
        let [first_low, first_high] = [0, HIGH].map(|behind| {
            let memory = Mem { displacement: first.displacement + behind, ..first };
            match self.target {
                Target::Avx512 => Source::Memory(memory.broadcast()),
                Target::Avx2 => Source::WaveRegs(WaveRegs::one(self.load_broadcast(memory))),
            }
        });
        let base = self.load_pointer(Self::cached_range_field(cached_range, CachedRange::BASE));
        let range = Range { base, limit: Self::cached_range_field(cached_range, CachedRange::LIMIT) };
        let offsets = self.vector2(V::SubI, low, first_low);
        let alike = self.compare(Compare::Signed(Order::Equal), high, first_high);
        let inside = self.inside(range, offsets, alike);
        RangeOffsets { range, offsets, inside }
    }
}
