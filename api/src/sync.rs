//! Fences, and binary and timeline semaphores. Source: Vulkan specification, "Synchronization and Cache Control".

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// A flag that is waited for: what fences are made of.
#[derive(Debug, Default)]
pub struct Signal {
    set: Mutex<bool>,
    changed: Condvar,
}

/// A fence.
pub type Fence = Signal;

/// A semaphore: a number that is waited for. That of a binary one is 0 or 1.
#[derive(Debug)]
pub struct Semaphore {
    is_timeline: bool,
    value: Mutex<u64>,
    changed: Condvar,
}

impl Semaphore {
    /// A binary semaphore, unsignaled.
    pub fn binary() -> Arc<Self> {
        Arc::new(Self { is_timeline: false, value: Mutex::new(0), changed: Condvar::new() })
    }

    /// A timeline semaphore that begins at `value`.
    pub fn timeline(value: u64) -> Arc<Self> {
        Arc::new(Self { is_timeline: true, value: Mutex::new(value), changed: Condvar::new() })
    }

    /// Signals it, and wakes all who wait. `value` is that of a timeline, which never goes back.
    pub fn signal(&self, value: u64) {
        let mut current = self.value.lock();
        *current = if self.is_timeline { value.max(*current) } else { 1 };
        self.changed.notify_all();
    }

    /// The number of a timeline; of a binary semaphore whether it is signaled.
    pub fn value(&self) -> u64 {
        *self.value.lock()
    }

    /// What a wait for `value` waits for.
    fn wanted(&self, value: u64) -> u64 {
        if self.is_timeline { value } else { 1 }
    }

    /// Waits as a queue does: until `value` is reached; a binary semaphore is unsignaled in the same step. `give_up` is asked every 20
    /// milliseconds; when it returns true, the semaphore stays as it is and this returns false.
    pub fn consume(&self, value: u64, give_up: impl Fn() -> bool) -> bool {
        let wanted = self.wanted(value);
        let mut current = self.value.lock();
        while *current < wanted {
            if give_up() {
                return false;
            }
            self.changed.wait_for(&mut current, Duration::from_millis(20));
        }
        if !self.is_timeline {
            *current = 0;
        }
        true
    }

    /// Waits as the host does, for ever without a deadline. Returns whether `value` was reached in time.
    pub fn wait_until(&self, value: u64, deadline: Option<Instant>) -> bool {
        let wanted = self.wanted(value);
        let mut current = self.value.lock();
        match deadline {
            None => self.changed.wait_while(&mut current, |current| *current < wanted),
            Some(deadline) => drop(self.changed.wait_while_until(&mut current, |current| *current < wanted, deadline)),
        }
        *current >= wanted
    }
}

impl Signal {
    /// A signal that is set, or not.
    pub fn new(set: bool) -> Arc<Self> {
        Arc::new(Self { set: Mutex::new(set), changed: Condvar::new() })
    }

    /// Sets it and wakes all who wait.
    pub fn signal(&self) {
        *self.set.lock() = true;
        self.changed.notify_all();
    }

    /// Unsets it.
    pub fn reset(&self) {
        *self.set.lock() = false;
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        *self.set.lock()
    }

    /// Waits until it is set, for ever without a deadline. Returns whether it was in time; a deadline that has passed asks
    /// for the state as it is.
    pub fn wait_until(&self, deadline: Option<Instant>) -> bool {
        let mut set = self.set.lock();
        match deadline {
            None => self.changed.wait_while(&mut set, |set| !*set),
            Some(deadline) => drop(self.changed.wait_while_until(&mut set, |set| !*set, deadline)),
        }
        *set
    }
}

/// The moment `timeout` nanoseconds from now; `None` (wait for ever) for `u64::MAX` and all that is over 73 years.
pub fn deadline(timeout: u64) -> Option<Instant> {
    // Nobody waits for 2^61 nanoseconds.
    if timeout > 1 << 61 { None } else { Instant::now().checked_add(Duration::from_nanos(timeout)) }
}

/// `vkWaitForFences`: waits for all of the fences, or for any, `timeout` nanoseconds at most; 0 does not wait. Returns
/// whether that came in time.
pub fn wait_for_fences(fences: &[Arc<Fence>], all: bool, timeout: u64) -> bool {
    wait_for(fences.len(), all, timeout, |number, until| fences[number].wait_until(until))
}

/// `vkWaitSemaphores`: the same for semaphores that reach their values.
pub fn wait_for_semaphores(semaphores: &[(Arc<Semaphore>, u64)], all: bool, timeout: u64) -> bool {
    wait_for(semaphores.len(), all, timeout, |number, until| {
        let (semaphore, value) = &semaphores[number];
        semaphore.wait_until(*value, until)
    })
}

/// Waits for all of `count` things, or for any, `timeout` nanoseconds at most. `wait` waits for one until a moment.
fn wait_for(count: usize, all: bool, timeout: u64, wait: impl Fn(usize, Option<Instant>) -> bool) -> bool {
    let until = deadline(timeout);
    if all || count == 1 {
        return (0..count).all(|number| wait(number, until));
    }
    loop {
        let now = Instant::now();
        if (0..count).any(|number| wait(number, Some(now))) {
            return true;
        }
        if until.is_some_and(|until| now >= until) {
            return false;
        }
        // A short wait on the first: there is no common condition.
        let step = now + Duration::from_micros(200);
        wait(0, Some(until.map_or(step, |until| until.min(step))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_any_and_all() {
        let fences = [Signal::new(false), Signal::new(true)];
        assert!(wait_for_fences(&fences, false, 0));
        assert!(!wait_for_fences(&fences, true, 1_000_000));
        fences[0].signal();
        assert!(wait_for_fences(&fences, true, u64::MAX));
    }

    #[test]
    fn consuming_a_binary_semaphore_unsets_it() {
        let semaphore = Semaphore::binary();
        semaphore.signal(0);
        assert!(semaphore.consume(0, || false));
        assert!(!semaphore.consume(0, || true));
    }

    #[test]
    fn timelines_only_go_on() {
        let semaphore = Semaphore::timeline(5);
        assert!(semaphore.consume(5, || false) && !semaphore.consume(6, || true));
        semaphore.signal(9);
        semaphore.signal(7);
        assert_eq!(semaphore.value(), 9);
        assert!(semaphore.consume(8, || false) && semaphore.consume(8, || false));
        let pair = [(semaphore.clone(), 9), (Semaphore::timeline(0), 1)];
        assert!(wait_for_semaphores(&pair, false, 0) && !wait_for_semaphores(&pair, true, 1_000_000));
        pair[1].0.signal(1);
        assert!(wait_for_semaphores(&pair, true, 0));
    }
}
