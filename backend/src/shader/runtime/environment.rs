//! What a wave runs in, and how it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Bindings, SharedMemory};

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
