//! Memory instructions and interpolation over the lanes of a wave, as the interpreter and generated code execute them.
//!
//! Operands come as lanes by the number of the value: the interpreter's registers, or what generated code stored for a call.

use std::sync::atomic::Ordering;

use super::kernels::{Lanes, Mask, WAVE};
use super::{Environment, perform};
use crate::shader::ir::{AtomicOp, Inst, InterpolateAt, Space, Value};

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
    /// Executes a load, store, atomic, buffer length or interpolation. The result is 0 in lanes it is not executed for.
    /// With `uniform` operands a load is done once, for all lanes.
    pub fn execute(&self, inst: &Inst, uniform: bool) -> Lanes {
        match inst {
            Inst::Load { space, offset, .. } if uniform => [self.load(*space, *offset, 0); WAVE],
            Inst::Load { space, offset, .. } => {
                self.for_lanes(self.masks.active, |lane| self.load(*space, *offset, lane))
            }
            Inst::Store { space, offset, value } => self.for_lanes(self.masks.effective, |lane| {
                self.store(*space, *offset, self.word(*value, lane), lane);
                0
            }),
            Inst::Atomic { space, offset, op, value, comparator, .. } => self.for_lanes(self.masks.effective, |lane| {
                let operands = (self.word(*value, lane), self.optional(*comparator, lane));
                self.atomic(*space, *offset, (*op, operands), lane)
            }),
            Inst::BufferLength { resource, element, .. } => {
                std::array::from_fn(|lane| self.environment.bindings.length(*resource, self.optional(*element, lane)))
            }
            Inst::Interpolate { slot, at, .. } => self.interpolate(*slot, *at),
            _ => [0; WAVE],
        }
    }

    fn for_lanes(&self, mask: Mask, word: impl Fn(usize) -> u32) -> Lanes {
        let mut lanes = [0; WAVE];
        for lane in lanes_of(mask) {
            lanes[lane] = word(lane);
        }
        lanes
    }

    fn word(&self, value: Value, lane: usize) -> u32 {
        self.registers[value.0 as usize][lane]
    }

    fn optional(&self, value: Option<Value>, lane: usize) -> u32 {
        value.map_or(0, |value| self.word(value, lane))
    }

    #[inline]
    fn load(&self, space: Space, offset: Value, lane: usize) -> u32 {
        let offset = self.word(offset, lane);
        match space {
            Space::Buffer { resource, element } => {
                self.environment.bindings.load(resource, self.optional(element, lane), offset)
            }
            Space::Push => push_word(self.environment.push, offset),
            Space::Shared => {
                let word = self.environment.shared.and_then(|shared| shared.word(offset));
                word.map_or(0, |word| word.load(Ordering::Relaxed))
            }
        }
    }

    fn store(&self, space: Space, offset: Value, word: u32, lane: usize) {
        let offset = self.word(offset, lane);
        match space {
            Space::Buffer { resource, element } => {
                self.environment.bindings.store(resource, self.optional(element, lane), offset, word);
            }
            Space::Shared => {
                if let Some(slot) = self.environment.shared.and_then(|shared| shared.word(offset)) {
                    slot.store(word, Ordering::Relaxed);
                }
            }
            Space::Push => {}
        }
    }

    fn atomic(
        &self,
        space: Space,
        offset: Value,
        (op, (value, comparator)): (AtomicOp, (u32, u32)),
        lane: usize,
    ) -> u32 {
        let offset = self.word(offset, lane);
        let word = match space {
            Space::Buffer { resource, element } => {
                self.environment.bindings.atomic(resource, self.optional(element, lane), offset)
            }
            Space::Shared => self.environment.shared.and_then(|shared| shared.word(offset)),
            Space::Push => None,
        };
        word.map_or(0, |word| perform(word, op, value, comparator))
    }

    fn interpolate(&self, slot: u32, at: InterpolateAt) -> Lanes {
        let Some(interpolator) = self.environment.interpolator else { return [0; WAVE] };
        let offset = |lane: usize| match at {
            InterpolateAt::Centroid => interpolator.centroid_offset(lane),
            InterpolateAt::Sample(sample) => interpolator.sample_offset(self.word(sample, lane)),
            InterpolateAt::Offset(x, y) => [x, y].map(|value| f32::from_bits(self.word(value, lane))),
        };
        std::array::from_fn(|lane| interpolator.at_offset(slot, lane, offset(lane)))
    }
}

fn push_word(push: &[u8], offset: u32) -> u32 {
    let bytes = push.get(offset as usize..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
