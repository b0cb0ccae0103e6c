//! Health of a device: lost or not, and the reason.
//!
//! Source: Vulkan specification, "Lost Device".

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::debug::Messages;
use crate::{Error, Result, process};

/// Health of a device: shared by its queues, its swapchains and the waits of the host.
#[derive(Debug)]
pub struct Health {
    lost: AtomicBool,
    /// True once queues give up semaphores that nothing has signalled.
    pub(crate) ends_waits: AtomicBool,
    /// Forks before the device was made.
    forks: u32,
    /// Why it was lost.
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
    /// A healthy device.
    pub fn new(messages: Arc<Messages>) -> Self {
        let (lost, ends_waits) = Default::default();
        Self { lost, ends_waits, forks: process::forks(), why: Mutex::default(), messages }
    }

    /// Fails when the device was lost.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], from the loss on for ever.
    pub fn check(&self) -> Result<()> {
        if self.is_lost() { Err(Error::DeviceLost) } else { Ok(()) }
    }

    /// Returns true if the device was lost, or belongs to another process.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire) || self.is_forked()
    }

    /// Returns true if a parent process created the device. A forked child lacks its threads.
    #[inline]
    pub fn is_forked(&self) -> bool {
        self.forks != process::forks()
    }

    /// Returns true if queues give up semaphores that nothing has signalled.
    pub(crate) fn gives_up(&self) -> bool {
        self.ends_waits.load(Ordering::Acquire) || self.is_lost()
    }

    /// Why the device was lost; nothing, when it was not.
    pub fn why(&self) -> String {
        if self.is_forked() {
            return "the process is a child of the one that made the device".to_owned();
        }
        self.why.lock().clone()
    }

    /// Marks the device as lost because it is being destroyed, so that waits of other threads end.
    pub(crate) fn end(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Marks the device as lost; the first time also sends `why` to the messengers, as an error.
    pub fn lose(&self, why: &str) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            *self.why.lock() = why.to_owned();
            self.messages.error(&format!("the device was lost: {why}"));
        }
    }
}
