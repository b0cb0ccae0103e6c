//! Events: flags that host and device set and reset, and that the device waits for.
//!
//! Source: Vulkan specification, "Synchronization and Cache Control", Events.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Interval between two checks of `give_up` during a wait.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// An event, initially unsignaled.
#[derive(Debug, Default)]
pub struct Event {
    signaled: Mutex<bool>,
    changed: Condvar,
}

impl Event {
    /// Signals the event and wakes all waiting threads.
    pub fn set(&self) {
        *self.signaled.lock() = true;
        self.changed.notify_all();
    }

    /// Unsignals the event.
    pub fn reset(&self) {
        *self.signaled.lock() = false;
    }

    /// Returns true if the event is signaled.
    pub fn is_set(&self) -> bool {
        *self.signaled.lock()
    }

    /// Waits until the event is signaled, `timeout` has passed, or `give_up` returns true.
    ///
    /// `give_up` is called every few milliseconds. Returns true if the event is signaled.
    pub fn wait(&self, timeout: Duration, give_up: impl Fn() -> bool) -> bool {
        let until = Instant::now() + timeout;
        let mut signaled = self.signaled.lock();
        while !*signaled && !give_up() && Instant::now() < until {
            self.changed.wait_until(&mut signaled, until.min(Instant::now() + CHECK_INTERVAL));
        }
        *signaled
    }
}
