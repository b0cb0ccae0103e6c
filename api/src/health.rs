//! Health of a device: whether it is lost, and the reason.
//!
//! Source: Vulkan specification, "Lost Device".

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

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
            return "the process is a child of the one that made the device".to_owned();
        }
        self.why.lock().clone()
    }

    /// Marks the device as lost because it is being destroyed, so that waits in other threads end.
    pub(crate) fn end(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Calls `work`, and marks the device as lost if it panics.
    pub(crate) fn lose_if_panics(&self, work: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.lose("a queue failed, which is a fault of Vitric");
        }
    }

    /// Marks the device as lost. The first call also sends `why` to the messengers as an error.
    pub fn lose(&self, why: &str) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            *self.why.lock() = why.to_owned();
            self.messages.error(&format!("the device was lost: {why}"));
        }
    }
}
