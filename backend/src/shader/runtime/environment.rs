//! What a wave runs in, and how it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Bindings, Ranges, SharedMemory};

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

/// What a wave runs in.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Resources.
    pub bindings: &'a Bindings,
    /// Parameters: word `n` is the one at `n * WAVE`, so that those of sixteen primitives lie lane by lane; at least as many as the
    /// program has.
    pub parameters: &'a [u32],
    /// Ranges of memory that the program reaches by number: at least as many as it has.
    pub ranges: &'a Ranges,
    /// Push constants.
    pub push: &'a [u8],
    /// Shared memory of the workgroup.
    pub shared: Option<&'a SharedMemory>,
    /// When to stop.
    pub deadline: &'a Deadline,
}

impl<'a> Environment<'a> {
    /// Resources, and a time to stop; nothing else.
    pub fn new(bindings: &'a Bindings, deadline: &'a Deadline) -> Self {
        Self { bindings, parameters: &[], ranges: Ranges::none(), push: &[], shared: None, deadline }
    }
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
