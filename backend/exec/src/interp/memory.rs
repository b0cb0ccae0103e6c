//! Memory instructions over the lanes of a wave, for the interpreter and for generated code.
//!
//! Operands are lanes indexed by value number. They come from the interpreter's registers, or from
//! memory that generated code writes before a call.

use std::sync::atomic::{AtomicU64, Ordering};

use vitric_base::clock;
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::{Atomic64, AtomicOp, Inst, Part, Space, Value, Wide};
use vitric_memory::Allocation;

use super::environment::{Access, Environment};
use crate::runtime::frame::CachedRange;
use crate::runtime::{Atomics, BoundBuffer, SharedMemory, kernels, lanes_of, perform, perform_wide};

/// Byte offset of each lane's word from the first word of a block (`Space::Block`).
static BLOCK: Lanes = {
    let (mut lanes, mut lane) = ([0; WAVE], 0);
    while lane < WAVE as u32 {
        lanes[lane as usize] = lane % 8 * 4 + lane / 8 * Space::BLOCK_ROW;
        lane += 1;
    }
    lanes
};

/// Bits of a location in a far resource that are the offset.
pub(super) const OFFSET_BITS: u64 = (1 << Space::FAR_BITS) - 1;

impl<'a> Access<'a> {
    /// Executes an instruction that accesses memory or that generated code leaves to the runtime.
    ///
    /// Results are 0 in lanes that the instruction is not executed for. If the operands are
    /// `uniform`, a load runs once for all lanes.
    pub fn execute(&self, inst: &Inst, uniform: bool) -> [Lanes; 2] {
        let one = |lanes| [lanes, [0; WAVE]];
        match inst {
            Inst::Wide(wide) => self.wide(wide),
            Inst::Atomic64(atomic) => self.atomics64(atomic),
            Inst::Load { space, offset, .. } if uniform => one([self.load(1, *space, *offset)[0]; WAVE]),
            Inst::Load { space, offset, .. } => one(self.load(self.masks.active, *space, *offset)),
            Inst::Store { space, offset, value } => self.store(*space, *offset, *value, 4),
            Inst::StorePart { space, offset, value, bytes } => self.store(*space, *offset, *value, *bytes as usize),
            Inst::Atomic { space, offset, op, value, comparator, .. } => {
                one(self.atomics(*space, *offset, *op, *value, *comparator))
            }
            Inst::BufferLength { resource, element, word, .. } => one(std::array::from_fn(|lane| {
                let bytes = self.environment.bindings.length(*resource, self.optional(*element, lane));
                match word {
                    Some(word) => (bytes >> (32 * (word & 1))) as u32,
                    None => bytes.min(u32::MAX.into()) as u32,
                }
            })),
            _ => [[0; WAVE]; 2],
        }
    }

    /// Returns the memory that the first lane of a load or store accesses whose operands locate
    /// the memory, if there is any.
    pub fn cached_range(&self, inst: &Inst) -> Option<CachedRange> {
        let (space, offset, lanes) = match inst {
            Inst::Load { space, offset, .. } => (space, offset, self.masks.active),
            Inst::Store { space, offset, .. } => (space, offset, self.masks.effective),
            Inst::MatrixLoad(load) => (&load.space, &load.offset, 1),
            Inst::MatrixStore(store) => (&store.space, &store.offset, 1),
            _ => return None,
        };
        let address = self.pair([*offset, space.operand()?], lanes_of(lanes).next()?);
        if let Space::Far { resource, .. } = *space {
            let BoundBuffer { memory, start, size } = self.far_buffer(resource, address)?;
            let size = size.min(memory.size().saturating_sub(start));
            let host = memory.host_pointer().wrapping_add(start as usize);
            let range = |offset| CachedRange::new(address, address - offset, (host, size));
            return Some(address & OFFSET_BITS).filter(|offset| *offset < size).map(range);
        }
        let addresses = self.environment.bindings.addresses();
        addresses
            .range(address)
            // Loads and stores may share a cached range.
            .filter(|(_, memory)| addresses.is_writable(memory))
            .map(|(first, memory)| CachedRange::new(address, first, (memory.host_pointer(), memory.size())))
    }

    /// Returns the buffer that a location in a far resource names.
    fn far_buffer(&self, resource: u32, location: u64) -> Option<BoundBuffer<'a>> {
        self.environment.bindings.buffer(resource, (location >> Space::FAR_BITS) as u32)
    }

    fn pair(&self, [low, high]: [Value; 2], lane: usize) -> u64 {
        u64::from(self.word(low, lane)) | u64::from(self.word(high, lane)) << 32
    }

    /// Executes an operation on 64-bit numbers in all lanes.
    fn wide(&self, wide: &Wide) -> [Lanes; 2] {
        static NOTHING: Lanes = [0; WAVE];
        let mut operands = [[&NOTHING; 2]; 3];
        for (operand, &word) in operands.as_flattened_mut().iter_mut().zip(&wide.words) {
            *operand = self.lanes(word);
        }
        kernels::wide(wide.op, &operands)
    }

    /// Loads the words of the lanes of a mask.
    pub(super) fn load(&self, mask: Mask, space: Space, offset: Value) -> Lanes {
        let mut lanes = [0; WAVE];
        let offsets = self.lanes(offset);
        let mut each = |word: &dyn Fn(u32) -> u32| lanes_of(mask).for_each(|lane| lanes[lane] = word(offsets[lane]));
        match space {
            Space::Push => each(&|offset| push_word(self.environment.push, offset)),
            Space::Levels(behind) => each(&|offset| push_word(self.environment.push, offset.wrapping_add(behind))),
            Space::OfImage { image, part: Part::Levels(behind) } => {
                let push = self.environment.bindings.lookups().existing(image).map_or(&[][..], |found| &found.push);
                each(&|offset| push_word(push, offset.wrapping_add(behind)));
            }
            Space::Shared => each(&|offset| {
                let word = self.environment.shared.and_then(|shared| shared.word(offset));
                word.map_or(0, |word| word.load(Ordering::Relaxed))
            }),
            _ => self.for_each_access(mask, space, offset, 4, |lane, memory, at| {
                let mut word = [0; 4];
                memory.read(at, &mut word);
                lanes[lane] = u32::from_le_bytes(word);
            }),
        }
        lanes
    }

    /// Stores the first `bytes` bytes of each lane's word. The results are 0. Partial words at
    /// offsets that are not multiples of their size are dropped.
    pub(super) fn store(&self, space: Space, offset: Value, value: Value, bytes: usize) -> [Lanes; 2] {
        let (mut effective, words) = (self.masks.effective, self.lanes(value));
        if bytes < 4 {
            let aligned = lanes_of(effective).filter(|&lane| self.word(offset, lane).is_multiple_of(bytes as u32));
            effective = aligned.fold(0, |lanes, lane| lanes | 1 << lane);
        }
        if space != Space::Shared {
            self.for_each_access(effective, space, offset, bytes as u64, |lane, memory, at| match bytes {
                _ if !self.may_write(space, memory) => {}
                4 => memory.write(at, &words[lane].to_le_bytes()),
                _ => memory.write(at, &words[lane].to_le_bytes()[..bytes]),
            });
            return [[0; WAVE]; 2];
        }
        for lane in lanes_of(effective) {
            let offset = self.word(offset, lane);
            let Some(slot) = self.environment.shared.and_then(|shared| shared.word(offset)) else { continue };
            // Partial words need no atomic update, because all lanes of a workgroup run on one
            // thread.
            let mut word = slot.load(Ordering::Relaxed).to_le_bytes();
            let first = offset as usize % 4;
            for (byte, new) in word[first..].iter_mut().zip(&words[lane].to_le_bytes()[..bytes]) {
                *byte = *new;
            }
            slot.store(u32::from_le_bytes(word), Ordering::Relaxed);
        }
        [[0; WAVE]; 2]
    }

    fn atomics(&self, space: Space, offset: Value, op: AtomicOp, value: Value, comparator: Option<Value>) -> Lanes {
        let mut found = [0; WAVE];
        let atomics = Atomics {
            op,
            lanes: self.masks.effective,
            offsets: self.lanes(offset),
            values: self.lanes(value),
            comparators: comparator.map(|lanes| self.lanes(lanes)),
        };
        match space {
            Space::Shared => {
                let words = self.environment.shared.map_or(&[][..], SharedMemory::words);
                atomics.perform_alone(words, &mut found);
            }
            _ if space.is_located() => self.for_each_access(atomics.lanes, space, offset, 4, |lane, memory, at| {
                let comparator = atomics.comparators.map_or(0, |lanes| lanes[lane]);
                let word = memory.atomic_u32(at).filter(|_| self.may_write(space, memory));
                found[lane] = word.map_or(0, |word| perform(word, op, atomics.values[lane], comparator));
            }),
            _ => self.for_each_buffer(atomics.lanes, space, |lanes, BoundBuffer { memory, start, size }| {
                atomics.of(lanes).perform(memory.atomic_words(start, size), &mut found);
            }),
        }
        found
    }

    fn atomics64(&self, atomic: &Atomic64) -> [Lanes; 2] {
        let (effective, mut lanes) = (self.masks.effective, [[0; WAVE]; 2]);
        let mut set = |lane: usize, old: u64| [lanes[0][lane], lanes[1][lane]] = [old as u32, (old >> 32) as u32];
        let perform = |lane, word: Option<&AtomicU64>| {
            let comparator = atomic.comparator.map_or(0, |words| self.pair(words, lane));
            word.map_or(0, |word| perform_wide(word, atomic.op, self.pair(atomic.value, lane), comparator))
        };
        match atomic.space {
            Space::Clock => lanes_of(effective).for_each(|lane| set(lane, clock::monotonic())),
            Space::Shared => lanes_of(effective).for_each(|lane| {
                let offset = self.word(atomic.offset, lane);
                set(lane, perform(lane, self.environment.shared.and_then(|shared| shared.wide_word(offset))));
            }),
            space => self.for_each_access(effective, space, atomic.offset, 8, |lane, memory, at| {
                set(lane, perform(lane, memory.atomic_u64(at).filter(|_| self.may_write(space, memory))));
            }),
        }
        lanes
    }

    /// Returns true if the submission may write memory. Descriptors that it may not write are not
    /// bound.
    fn may_write(&self, space: Space, memory: &Allocation) -> bool {
        !matches!(space, Space::Address { .. }) || self.environment.bindings.addresses().is_writable(memory)
    }

    /// Calls `act` for each lane of a mask whose access of `bytes` bytes is in bounds. The access
    /// is to a buffer or by address. Memory is looked up once for all lanes that access it.
    #[inline]
    fn for_each_access(
        &self,
        mask: Mask,
        space: Space,
        offset: Value,
        bytes: u64,
        mut act: impl FnMut(usize, &'a Allocation, u64),
    ) {
        let offsets = self.lanes(offset);
        let in_block: Lanes;
        let offsets = match space {
            Space::Block(_) => {
                in_block = std::array::from_fn(|lane| offsets[lane].wrapping_add(BLOCK[lane]));
                &in_block
            }
            _ => offsets,
        };
        let high = match space {
            Space::Address { high } => high,
            Space::Far { resource, high } => {
                for lane in lanes_of(mask) {
                    let address = self.pair([offset, high], lane);
                    let (buffer, at) = (self.far_buffer(resource, address), address & OFFSET_BITS);
                    let found = buffer.filter(|buffer| at + bytes <= buffer.size.next_multiple_of(4));
                    found.into_iter().for_each(|buffer| act(lane, buffer.memory, buffer.start + at));
                }
                return;
            }
            _ => {
                return self.for_each_buffer(mask, space, |lanes, buffer| {
                    for_each_in_buffer(buffer, offsets, lanes, bytes, &mut act)
                });
            }
        };
        let highs = self.lanes(high);
        let address = |lane: usize| u64::from(offsets[lane]) | u64::from(highs[lane]) << 32;
        let mut rest = mask;
        while rest != 0 {
            let found = self.environment.bindings.addresses().range(address(rest.trailing_zeros() as usize));
            let Some((first, memory)) = found else {
                rest &= rest - 1;
                continue;
            };
            for lane in lanes_of(rest) {
                let at = address(lane).wrapping_sub(first);
                // The allocation checks the bytes after the first one.
                if at < memory.size() {
                    act(lane, memory, at);
                    rest &= !(1 << lane);
                }
            }
        }
    }

    /// Calls `act` once for each distinct buffer that lanes of a mask access. `act` receives these
    /// lanes and the buffer.
    #[inline]
    fn for_each_buffer(&self, mask: Mask, space: Space, mut act: impl FnMut(Mask, BoundBuffer<'a>)) {
        let Environment { bindings, ranges, .. } = *self.environment;
        let mut pass_on = |lanes, buffer: Option<_>| buffer.into_iter().for_each(|buffer| act(lanes, buffer));
        match space {
            Space::Buffer { resource, element: Some(element) } => {
                let elements = self.lanes(element);
                let mut rest = mask;
                while rest != 0 {
                    let chosen = elements[rest.trailing_zeros() as usize];
                    let same =
                        lanes_of(rest).filter(|&lane| elements[lane] == chosen).fold(0, |all, lane| all | 1 << lane);
                    pass_on(same, bindings.buffer(resource, chosen));
                    rest &= !same;
                }
            }
            Space::Buffer { resource, element: None } | Space::Texels(resource) => {
                pass_on(mask, bindings.buffer(resource, 0));
            }
            Space::OfImage { image, part: Part::Buffer(resource) | Part::Texels(resource) } => {
                pass_on(mask, bindings.lookups().existing(image).and_then(|found| found.bindings.buffer(resource, 0)));
            }
            Space::Range(number) | Space::Quads(number) | Space::Block(number) => pass_on(mask, ranges.buffer(number)),
            Space::Push
            | Space::Levels(_)
            | Space::Shared
            | Space::Clock
            | Space::Address { .. }
            | Space::Far { .. } => {}
            Space::OfImage { part: Part::Levels(_), .. } => {}
        }
    }
}

/// Calls `act` for each lane of a mask whose access of `bytes` bytes is inside the buffer. The
/// size of the buffer is rounded up to whole words.
#[inline]
fn for_each_in_buffer<'a>(
    BoundBuffer { memory, start, size }: BoundBuffer<'a>,
    offsets: &Lanes,
    mask: Mask,
    bytes: u64,
    act: &mut impl FnMut(usize, &'a Allocation, u64),
) {
    let size = size.next_multiple_of(4);
    for lane in lanes_of(mask) {
        let at = u64::from(offsets[lane]);
        if at + bytes <= size {
            act(lane, memory, start + at);
        }
    }
}

fn push_word(push: &[u8], offset: u32) -> u32 {
    let bytes = push.get(offset as usize..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
