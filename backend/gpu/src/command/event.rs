//! Events: a flag set and reset by host and device, waited for by the device.
//!
//! Source: Vulkan specification, "Synchronization and Cache Control", Events.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long is waited before it is asked whether to go on.
const TURN: Duration = Duration::from_millis(10);

/// An event, unsignaled at first.
#[derive(Debug, Default)]
pub struct Event {
    signaled: Mutex<bool>,
    changed: Condvar,
}

impl Event {
    /// Signals the event and wakes who waits for it.
    pub fn set(&self) {
        *self.signaled.lock() = true;
        self.changed.notify_all();
    }

    /// Unsignals the event.
    pub fn reset(&self) {
        *self.signaled.lock() = false;
    }

    /// Whether the event is signaled.
    pub fn is_set(&self) -> bool {
        *self.signaled.lock()
    }

    /// Waits until the event is signaled, `timeout` has passed, or `give_up` returns true, which is asked every few milliseconds. Returns
    /// whether it is signaled.
    pub fn wait(&self, timeout: Duration, give_up: impl Fn() -> bool) -> bool {
        let until = Instant::now() + timeout;
        let mut signaled = self.signaled.lock();
        while !*signaled && !give_up() && Instant::now() < until {
            self.changed.wait_until(&mut signaled, until.min(Instant::now() + TURN));
        }
        *signaled
    }
}
