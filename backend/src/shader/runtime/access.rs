//! Memory instructions over the lanes of a wave, as the interpreter and generated code execute them.
//!
//! Operands come as lanes by the number of the value: the interpreter's registers, or what generated code stored for a call.

use std::sync::atomic::Ordering;

use super::Environment;
use super::bindings::{perform, perform_alone, perform_wide};
use super::clock;
use super::kernels::{self, Lanes, Mask, WAVE};
use crate::memory::Allocation;
use crate::shader::ir::{Atomic64, Inst, Space, Value, Wide};

/// Which lanes an instruction is executed for.
#[derive(Debug, Clone, Copy)]
pub struct Masks {
    /// Lanes that run.
    pub active: Mask,
    /// Lanes that run and whose effects count: no helpers.
    pub effective: Mask,
}

/// The lanes of a mask, ascending.
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            lane
        })
    })
}

/// One memory instruction over a wave.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Operands, by the number of the value.
    pub registers: &'a [Lanes],
    /// Lanes to execute it for.
    pub masks: Masks,
    /// What the wave runs in.
    pub environment: &'a Environment<'a>,
}

impl<'a> Access<'a> {
    /// Executes an instruction that reaches memory or is left to the runtime. The words of its results are
    /// 0 in lanes it is not executed for. With `uniform` operands a load is done once, for all lanes.
    pub fn execute(&self, inst: &Inst, uniform: bool) -> [Lanes; 2] {
        let effective = self.masks.effective;
        let one = |lanes| [lanes, [0; WAVE]];
        match inst {
            Inst::Wide(wide) => self.wide(wide),
            Inst::Atomic64(atomic) => self.atomics_wide(atomic),
            Inst::Load { space, offset, .. } if uniform => {
                one([self.load(&mut self.reach(*space), self.word(*offset, 0), 0); WAVE])
            }
            Inst::Load { space, offset, .. } => {
                let mut reach = self.reach(*space);
                one(for_lanes(self.masks.active, |lane| self.load(&mut reach, self.word(*offset, lane), lane)))
            }
            Inst::Store { space, offset, value } => {
                let mut reach = self.reach(*space);
                for lane in lanes_of(effective) {
                    let word = self.word(*value, lane).to_le_bytes();
                    self.store(&mut reach, self.word(*offset, lane), &word, lane);
                }
                [[0; WAVE]; 2]
            }
            Inst::StorePart { space, offset, value, bytes } => {
                let mut reach = self.reach(*space);
                for lane in lanes_of(effective) {
                    let word = self.word(*value, lane).to_le_bytes();
                    self.store(&mut reach, self.word(*offset, lane), &word[..*bytes as usize], lane);
                }
                [[0; WAVE]; 2]
            }
            Inst::Atomic { space: Space::Shared, offset, op, value, comparator, .. } => {
                one(for_lanes(effective, |lane| {
                    let word = self.environment.shared.and_then(|shared| shared.word(self.word(*offset, lane)));
                    let operands = (self.word(*value, lane), self.optional(*comparator, lane));
                    word.map_or(0, |word| perform_alone(word, *op, operands))
                }))
            }
            Inst::Atomic { space, offset, op, value, comparator, .. } => {
                let mut reach = self.reach(*space);
                one(for_lanes(effective, |lane| {
                    let place = reach.place(self.word(*offset, lane), lane, 4);
                    let word = place.and_then(|(memory, at)| memory.atomic_u32(at));
                    let (value, comparator) = (self.word(*value, lane), self.optional(*comparator, lane));
                    word.map_or(0, |word| perform(word, *op, value, comparator))
                }))
            }
            Inst::BufferLength { resource, element, .. } => one(std::array::from_fn(|lane| {
                self.environment.bindings.length(*resource, self.optional(*element, lane))
            })),
            _ => [[0; WAVE]; 2],
        }
    }

    fn word(&self, value: Value, lane: usize) -> u32 {
        self.registers[value.0 as usize][lane]
    }

    fn pair(&self, [low, high]: [Value; 2], lane: usize) -> u64 {
        u64::from(self.word(low, lane)) | u64::from(self.word(high, lane)) << 32
    }

    fn optional(&self, value: Option<Value>, lane: usize) -> u32 {
        value.map_or(0, |value| self.word(value, lane))
    }

    /// An operation on 64-bit numbers, in all lanes.
    fn wide(&self, wide: &Wide) -> [Lanes; 2] {
        static NOTHING: Lanes = [0; WAVE];
        let mut operands = [[&NOTHING; 2]; 3];
        for (operand, &word) in operands.as_flattened_mut().iter_mut().zip(&wide.words) {
            *operand = &self.registers[word.0 as usize];
        }
        kernels::wide(wide.op, &operands)
    }

    fn reach(&self, space: Space) -> Reach<'a> {
        Reach { access: *self, space, last: None }
    }

    #[inline]
    fn load(&self, reach: &mut Reach<'_>, offset: u32, lane: usize) -> u32 {
        match reach.space {
            Space::Push => push_word(self.environment.push, offset),
            Space::Levels(behind) => push_word(self.environment.push, offset.wrapping_add(behind)),
            Space::Shared => {
                let word = self.environment.shared.and_then(|shared| shared.word(offset));
                word.map_or(0, |word| word.load(Ordering::Relaxed))
            }
            _ => {
                let mut word = [0; 4];
                if let Some((memory, at)) = reach.place(offset, lane, 4) {
                    memory.read(at, &mut word);
                }
                u32::from_le_bytes(word)
            }
        }
    }

    #[inline]
    fn store(&self, reach: &mut Reach<'_>, offset: u32, bytes: &[u8], lane: usize) {
        if reach.space != Space::Shared {
            if let Some((memory, at)) = reach.place(offset, lane, bytes.len() as u64) {
                memory.write(at, bytes);
            }
            return;
        }
        let Some(slot) = self.environment.shared.and_then(|shared| shared.word(offset)) else { return };
        // A part of a word: lanes of a workgroup run on one thread.
        let mut word = slot.load(Ordering::Relaxed).to_le_bytes();
        let first = offset as usize % 4;
        for (byte, new) in word[first..].iter_mut().zip(bytes) {
            *byte = *new;
        }
        slot.store(u32::from_le_bytes(word), Ordering::Relaxed);
    }

    fn atomics_wide(&self, atomic: &Atomic64) -> [Lanes; 2] {
        let mut reach = self.reach(atomic.space);
        let mut lanes = [[0; WAVE]; 2];
        for lane in lanes_of(self.masks.effective) {
            let offset = self.word(atomic.offset, lane);
            let word = match atomic.space {
                Space::Shared => self.environment.shared.and_then(|shared| shared.wide_word(offset)),
                Space::Clock => None,
                _ => reach.place(offset, lane, 8).and_then(|(memory, at)| memory.atomic_u64(at)),
            };
            let comparator = atomic.comparator.map_or(0, |words| self.pair(words, lane));
            let old = match word {
                Some(word) => perform_wide(word, atomic.op, self.pair(atomic.value, lane), comparator),
                None if atomic.space == Space::Clock => clock::now(),
                None => 0,
            };
            [lanes[0][lane], lanes[1][lane]] = [old as u32, (old >> 32) as u32];
        }
        lanes
    }
}

fn for_lanes(mask: Mask, mut word: impl FnMut(usize) -> u32) -> Lanes {
    let mut lanes = [0; WAVE];
    for lane in lanes_of(mask) {
        lanes[lane] = word(lane);
    }
    lanes
}

/// Where lanes reach memory one after the other: most of them where the one before did.
struct Reach<'a> {
    access: Access<'a>,
    space: Space,
    /// Element of the resource, and what it is.
    last: Option<(u32, Span<'a>)>,
}

/// Bytes of memory.
#[derive(Clone, Copy)]
struct Span<'a> {
    memory: &'a Allocation,
    /// Where in the memory it begins.
    start: u64,
    /// What programs call its first byte: 0 but for addresses.
    first: u64,
    size: u64,
}

impl<'a> Span<'a> {
    /// A buffer, rounded up to whole words.
    fn of_buffer((memory, start, size): (&'a Allocation, u64, u64)) -> Self {
        Self { memory, start, first: 0, size: size.next_multiple_of(4) }
    }

    fn place(&self, at: u64, bytes: u64) -> Option<(&'a Allocation, u64)> {
        let offset = at.wrapping_sub(self.first);
        (offset.saturating_add(bytes) <= self.size).then_some((self.memory, self.start + offset))
    }
}

impl<'a> Reach<'a> {
    /// The memory that holds `bytes` bytes of a buffer or at an address, and where.
    #[inline]
    fn place(&mut self, offset: u32, lane: usize, bytes: u64) -> Option<(&'a Allocation, u64)> {
        let (element, at, bytes) = match self.space {
            Space::Buffer { element, .. } => (self.access.optional(element, lane), offset.into(), bytes),
            // An allocation says itself what bytes behind the first one are in it.
            Space::Address { high } => (0, u64::from(offset) | u64::from(self.access.word(high, lane)) << 32, 1),
            _ => (0, offset.into(), bytes),
        };
        if let Some((known, span)) = &self.last
            && *known == element
            && let Some(found) = span.place(at, bytes)
        {
            return Some(found);
        }
        let span = self.find(element, at)?;
        self.last = Some((element, span));
        span.place(at, bytes)
    }

    #[inline(never)]
    fn find(&self, element: u32, at: u64) -> Option<Span<'a>> {
        let (bindings, ranges) = (self.access.environment.bindings, self.access.environment.ranges);
        match self.space {
            Space::Buffer { resource, .. } => bindings.buffer(resource, element).map(Span::of_buffer),
            Space::Texels(resource) => bindings.buffer(resource, 0).map(Span::of_buffer),
            Space::Range(number) | Space::Quads(number) => ranges.buffer(number).map(Span::of_buffer),
            Space::Address { .. } => {
                let (first, memory) = bindings.addresses().range(at)?;
                Some(Span { memory, start: 0, first, size: memory.size() })
            }
            Space::Push | Space::Levels(_) | Space::Shared | Space::Clock => None,
        }
    }
}

fn push_word(push: &[u8], offset: u32) -> u32 {
    let bytes = push.get(offset as usize..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
