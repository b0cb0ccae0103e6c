//! Health of a device: whether it is lost, and the reason.
//!
//! Source: Vulkan specification, "Lost Device".

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use vitric_base::panics;

use crate::debug::Messages;
use crate::{Error, Result, process};

/// Health of a device. Its queues, its swapchains and the host's waits share it.
#[derive(Debug)]
pub struct Health {
    lost: AtomicBool,
    /// True once queues stop waiting for semaphores that are unsignaled.
    pub(crate) ends_waits: AtomicBool,
    /// Number of forks before the device was created.
    forks: u32,
    /// Reason for the loss; empty if the device is not lost.
    why: Mutex<String>,
    /// Messengers of the instance.
    pub messages: Arc<Messages>,
}

impl Default for Health {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Health {
    /// Returns the health of a device that is not lost.
    pub fn new(messages: Arc<Messages>) -> Self {
        let (lost, ends_waits) = Default::default();
        Self { lost, ends_waits, forks: process::forks(), why: Mutex::default(), messages }
    }

    /// Fails if the device is lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] in every call after the loss.
    pub fn check(&self) -> Result<()> {
        if self.is_lost() { Err(Error::DeviceLost) } else { Ok(()) }
    }

    /// Returns true if the device is lost or belongs to a parent process.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire) || self.is_forked()
    }

    /// Returns true if a parent process created the device. A forked child lacks its threads.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.forks != process::forks()
    }

    /// Returns true if queues must stop waiting for semaphores that are unsignaled.
    pub(crate) fn gives_up(&self) -> bool {
        self.ends_waits.load(Ordering::Acquire) || self.is_lost()
    }

    /// Returns the reason for the loss, or an empty string if the device is not lost.
    pub fn why(&self) -> String {
        if self.is_forked() {
            return "the parent process created it: a child process must create devices of its own".to_owned();
        }
        self.why.lock().clone()
    }

    /// Marks the device as lost because it is being destroyed, so that waits in other threads end.
    pub(crate) fn end(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Marks the device as lost. The first call also sends `why` to the messengers as an error.
    pub fn lose(&self, why: &str) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            *self.why.lock() = why.to_owned();
            self.messages.error(&format!("the device was lost: {why}"));
        }
    }

    /// Marks the device as lost because the driver panicked in `work`.
    pub fn lose_by_panic(&self, work: &str, panic: &(dyn Any + Send)) {
        self.lose(&format!("{work}: {}", panics::describe(panic)));
    }

    /// Calls `work`, whose panic loses the device.
    pub(crate) fn guard(&self, name: &str, work: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.lose_by_panic(name, &*panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_loses_the_device_and_says_how_to_report_it() {
        let health = Health::default();
        health.guard("queue", || ());
        assert!(!health.is_lost());
        health.guard("queue", || panic!("odd"));
        let why = health.why();
        assert!(health.is_lost() && why.starts_with("queue: panic: odd.") && why.contains("please report it"), "{why}");
    }
}
