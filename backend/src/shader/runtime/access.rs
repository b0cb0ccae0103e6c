//! Memory instructions over the lanes of a wave, as the interpreter and generated code execute them.
//!
//! Operands come as lanes by the number of the value: the interpreter's registers, or what generated code stored for a call.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::Environment;
use super::bindings::{perform, perform_wide};
use super::clock;
use super::kernels::{Lanes, Mask, WAVE};
use crate::memory::Allocation;
use crate::shader::ir::{Atomic64, AtomicOp, Inst, Space, Value, Wide};

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

impl Access<'_> {
    /// Executes an instruction that reaches memory or is left to the runtime. The words of its results are
    /// 0 in lanes it is not executed for. With `uniform` operands a load is done once, for all lanes.
    pub fn execute(&self, inst: &Inst, uniform: bool) -> [Lanes; 2] {
        let one = |lanes| [lanes, [0; WAVE]];
        match inst {
            Inst::Wide(wide) => return self.for_pairs(Mask::MAX, |lane| self.wide(wide, lane)),
            Inst::Atomic64(atomic) => {
                return self.for_pairs(self.masks.effective, |lane| self.atomic_wide(atomic, lane).unwrap_or([0; 2]));
            }
            _ => {}
        }
        one(match inst {
            Inst::Load { space, offset, .. } if uniform => [self.load(*space, *offset, 0); WAVE],
            Inst::Load { space, offset, .. } => {
                self.for_lanes(self.masks.active, |lane| self.load(*space, *offset, lane))
            }
            Inst::Store { space, offset, value } => self.for_lanes(self.masks.effective, |lane| {
                self.store(*space, *offset, &self.word(*value, lane).to_le_bytes(), lane);
                0
            }),
            Inst::StorePart { space, offset, value, bytes } => self.for_lanes(self.masks.effective, |lane| {
                let word = self.word(*value, lane).to_le_bytes();
                self.store(*space, *offset, &word[..*bytes as usize], lane);
                0
            }),
            Inst::Atomic { space, offset, op, value, comparator, .. } => self.for_lanes(self.masks.effective, |lane| {
                let operands = (self.word(*value, lane), self.optional(*comparator, lane));
                self.atomic(*space, *offset, (*op, operands), lane).unwrap_or(0)
            }),
            Inst::BufferLength { resource, element, .. } => {
                std::array::from_fn(|lane| self.environment.bindings.length(*resource, self.optional(*element, lane)))
            }
            _ => [0; WAVE],
        })
    }

    fn for_lanes(&self, mask: Mask, word: impl Fn(usize) -> u32) -> Lanes {
        let mut lanes = [0; WAVE];
        for lane in lanes_of(mask) {
            lanes[lane] = word(lane);
        }
        lanes
    }

    fn for_pairs(&self, mask: Mask, words: impl Fn(usize) -> [u32; 2]) -> [Lanes; 2] {
        let mut lanes = [[0; WAVE]; 2];
        for lane in lanes_of(mask) {
            [lanes[0][lane], lanes[1][lane]] = words(lane);
        }
        lanes
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

    fn wide(&self, wide: &Wide, lane: usize) -> [u32; 2] {
        let words: SmallVec<[u32; 6]> = wide.words.iter().map(|&word| self.word(word, lane)).collect();
        wide.op.apply_words(&words)
    }

    /// The memory that holds `bytes` bytes of a buffer or at an address.
    #[inline]
    fn place(&self, space: Space, offset: u32, lane: usize, bytes: u64) -> Option<(&Allocation, u64)> {
        match space {
            Space::Buffer { resource, element } => {
                self.environment.bindings.place(resource, self.optional(element, lane), offset, bytes)
            }
            Space::Address { high } => {
                let address = u64::from(offset) | u64::from(self.word(high, lane)) << 32;
                self.environment.bindings.addresses().find(address)
            }
            Space::Range(number) | Space::Quads(number) => self.environment.ranges.place(number, offset, bytes),
            Space::Texels(resource) => self.environment.bindings.place(resource, 0, offset, bytes),
            Space::Push | Space::Levels(_) | Space::Shared | Space::Clock => None,
        }
    }

    #[inline]
    fn load(&self, space: Space, offset: Value, lane: usize) -> u32 {
        let offset = self.word(offset, lane);
        match space {
            Space::Push => push_word(self.environment.push, offset),
            Space::Levels(behind) => push_word(self.environment.push, offset.wrapping_add(behind)),
            Space::Shared => {
                let word = self.environment.shared.and_then(|shared| shared.word(offset));
                word.map_or(0, |word| word.load(Ordering::Relaxed))
            }
            _ => {
                let mut word = [0; 4];
                if let Some((memory, at)) = self.place(space, offset, lane, 4) {
                    memory.read(at, &mut word);
                }
                u32::from_le_bytes(word)
            }
        }
    }

    fn store(&self, space: Space, offset: Value, bytes: &[u8], lane: usize) {
        let offset = self.word(offset, lane);
        if space != Space::Shared {
            if let Some((memory, at)) = self.place(space, offset, lane, bytes.len() as u64) {
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

    fn atomic(
        &self,
        space: Space,
        offset: Value,
        (op, (value, comparator)): (AtomicOp, (u32, u32)),
        lane: usize,
    ) -> Option<u32> {
        let offset = self.word(offset, lane);
        let word = if space == Space::Shared {
            self.environment.shared?.word(offset)
        } else {
            let (memory, at) = self.place(space, offset, lane, 4)?;
            memory.atomic_u32(at)
        };
        Some(perform(word?, op, value, comparator))
    }

    fn atomic_wide(&self, atomic: &Atomic64, lane: usize) -> Option<[u32; 2]> {
        let offset = self.word(atomic.offset, lane);
        if atomic.space == Space::Clock {
            let now = clock::now();
            return Some([now as u32, (now >> 32) as u32]);
        }
        let word = if atomic.space == Space::Shared {
            self.environment.shared?.wide_word(offset)
        } else {
            let (memory, at) = self.place(atomic.space, offset, lane, 8)?;
            memory.atomic_u64(at)
        };
        let comparator = atomic.comparator.map_or(0, |words| self.pair(words, lane));
        let old = perform_wide(word?, atomic.op, self.pair(atomic.value, lane), comparator);
        Some([old as u32, (old >> 32) as u32])
    }
}

fn push_word(push: &[u8], offset: u32) -> u32 {
    let bytes = push.get(offset as usize..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
