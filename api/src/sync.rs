//! Fences and binary semaphores. Source: Vulkan specification, "Synchronization and Cache Control".

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// A flag that is waited for: what fences and semaphores are made of.
#[derive(Debug, Default)]
pub struct Signal {
    set: Mutex<bool>,
    changed: Condvar,
}

/// A fence.
pub type Fence = Signal;
/// A binary semaphore.
pub type Semaphore = Signal;

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

    /// Waits until it is set and unsets it, in one step. `give_up` is asked every 20 milliseconds; when it returns true, the
    /// signal stays as it is and this returns false.
    pub fn consume(&self, give_up: impl Fn() -> bool) -> bool {
        let mut set = self.set.lock();
        while !*set {
            if give_up() {
                return false;
            }
            self.changed.wait_for(&mut set, Duration::from_millis(20));
        }
        *set = false;
        true
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
    let until = deadline(timeout);
    if all || fences.len() == 1 {
        return fences.iter().all(|fence| fence.wait_until(until));
    }
    loop {
        if fences.iter().any(|fence| fence.is_set()) {
            return true;
        }
        let now = Instant::now();
        if until.is_some_and(|until| now >= until) {
            return false;
        }
        // A short wait on the first: there is no common condition.
        let step = now + Duration::from_micros(200);
        fences[0].wait_until(Some(until.map_or(step, |until| until.min(step))));
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
    fn consuming_a_semaphore_unsets_it() {
        let semaphore = Signal::new(true);
        assert!(semaphore.consume(|| false));
        assert!(!semaphore.consume(|| true));
    }
}
