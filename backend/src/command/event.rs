//! Events: a flag set and reset by host and device, waited for by the device.
//!
//! Source: Vulkan specification, "Synchronization and Cache Control", Events.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

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

    /// Waits until the event is signaled, or `timeout` has passed. Returns whether it is signaled.
    pub fn wait(&self, timeout: Duration) -> bool {
        let mut signaled = self.signaled.lock();
        self.changed.wait_while_for(&mut signaled, |signaled| !*signaled, timeout);
        *signaled
    }
}
