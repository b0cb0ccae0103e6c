//! The wave interpreter: the oracle every code generator is checked against.
//!
//! A wave is 16 lanes. Its state (program counter, lane masks, registers) is explicit, so that it stops at a barrier and
//! goes on later. Lanes that leave a region early are *gone* until the region they left for ends; killed lanes stay gone.
//! An instruction under an empty mask is skipped by jumping to the end of its region. A value that is defined in a loop may
//! be used after it, so writes are masked in loops.

mod image;
mod jumps;
mod wave;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::ir::{Function, Inst};
use super::runtime::{Bindings, SharedMemory};

pub use wave::Wave;

pub use super::runtime::kernels::{Lanes, Mask, WAVE};

/// A function prepared for interpretation: every marker knows where to jump.
#[derive(Debug)]
pub struct Executable {
    function: Function,
    jumps: Vec<u32>,
    local_bases: Vec<u32>,
    local_words: u32,
    constants: usize,
    has_barrier: bool,
}

impl Executable {
    /// Prepares a verified function.
    pub fn new(function: Function) -> Self {
        let jumps = jumps::targets(&function.insts);
        let mut local_words = 0;
        let mut local_bases = Vec::with_capacity(function.locals.len());
        for words in &function.locals {
            local_bases.push(local_words);
            local_words += words;
        }
        let constants = function.insts.iter().take_while(|inst| matches!(inst, Inst::Const { .. })).count();
        let has_barrier = function.insts.contains(&Inst::Barrier);
        Self { function, jumps, local_bases, local_words, constants, has_barrier }
    }

    /// The IR.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Whether waves of a workgroup wait for each other.
    pub fn has_barrier(&self) -> bool {
        self.has_barrier
    }
}

/// When running programs must stop.
#[derive(Debug)]
pub struct Deadline {
    limit: Instant,
    expired: AtomicBool,
}

impl Deadline {
    /// Now plus `time`.
    pub fn after(time: Duration) -> Arc<Self> {
        Arc::new(Self { limit: Instant::now() + time, expired: AtomicBool::new(false) })
    }

    /// Whether a program was or must be stopped.
    pub fn expired(&self) -> bool {
        if self.expired.load(Ordering::Relaxed) {
            return true;
        }
        let now = Instant::now() >= self.limit;
        if now {
            self.expired.store(true, Ordering::Relaxed);
        }
        now
    }

    /// Whether a program was stopped.
    pub fn was_hit(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }
}

/// Evaluates fragment inputs at other places than the declared one.
pub trait Interpolator {
    /// Input word `slot` of `lane` at an offset in pixels from the pixel's centre.
    fn at_offset(&self, slot: u32, lane: usize, offset: [f32; 2]) -> u32;
    /// Offset of a sample of `lane`'s pixel from its centre.
    fn sample_offset(&self, sample: u32) -> [f32; 2];
    /// Offset of `lane`'s centroid from the pixel's centre.
    fn centroid_offset(&self, lane: usize) -> [f32; 2];
}

/// What a wave runs in.
pub struct Environment<'a> {
    /// Resources.
    pub bindings: &'a Bindings,
    /// Push constants.
    pub push: &'a [u8],
    /// Shared memory of the workgroup.
    pub shared: Option<&'a SharedMemory>,
    /// Evaluation of fragment inputs.
    pub interpolator: Option<&'a dyn Interpolator>,
    /// When to stop.
    pub deadline: &'a Deadline,
}

/// How a wave stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At the end.
    Done,
    /// At a barrier: run it again when the other waves are there.
    Barrier,
    /// By the deadline.
    Interrupted,
}

#[cfg(test)]
mod tests;
