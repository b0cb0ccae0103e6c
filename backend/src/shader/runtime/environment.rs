//! What a wave runs in, and how it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Bindings, Ranges, SharedMemory};

/// When running programs must stop.
#[derive(Debug)]
pub struct Deadline {
    time: Duration,
    made: Instant,
    /// Nanoseconds from then on; 0 until somebody looks at it for the first time.
    limit: AtomicU64,
    expired: AtomicBool,
}

impl Deadline {
    /// So long after the first look at it.
    pub fn after(time: Duration) -> Arc<Self> {
        let (limit, expired) = Default::default();
        Arc::new(Self { time, made: Instant::now(), limit, expired })
    }

    /// Begins again, with the next look at it. No program runs.
    pub fn restart(&self) {
        self.limit.store(0, Ordering::Relaxed);
    }

    /// Whether a program was or must be stopped.
    pub fn expired(&self) -> bool {
        if self.expired.load(Ordering::Relaxed) {
            return true;
        }
        let now = self.made.elapsed().as_nanos() as u64;
        let limit = now.saturating_add(self.time.as_nanos() as u64).max(1);
        let begun = self.limit.compare_exchange(0, limit, Ordering::Relaxed, Ordering::Relaxed);
        let is_over = now >= begun.map_or_else(|limit| limit, |_| limit);
        if is_over {
            self.expired.store(true, Ordering::Relaxed);
        }
        is_over
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
