//! Health of a device: whether it is lost, and the reason.
//!
//! Source: Vulkan specification, "Lost Device".

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use vitric_base::panics;
use vitric_gpu::command::LossReport;

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
    /// Fault that lost the device, if any.
    fault: Mutex<Option<Fault>>,
    /// Notified when the device gets its fault.
    faulted: Condvar,
    /// Messengers of the instance.
    pub messages: Arc<Messages>,
}

/// Fault that lost a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// Reason for the loss.
    pub why: String,
    /// True if a command exceeded the time limit.
    pub timed_out: bool,
    /// Message of the program that aborted, if one has.
    pub message: Option<Vec<u8>>,
    /// True if the application has received its report.
    is_reported: bool,
}

impl Fault {
    /// Creates a fault that no time limit caused.
    fn new(why: &str) -> Self {
        Self { why: why.to_owned(), ..Self::default() }
    }
}

impl Default for Health {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Health {
    /// Returns the health of a device that is not lost.
    pub fn new(messages: Arc<Messages>) -> Self {
        let (lost, ends_waits, fault, faulted) = Default::default();
        Self { lost, ends_waits, forks: process::forks(), fault, faulted, messages }
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
        self.fault.lock().as_ref().map_or_else(String::new, |fault| fault.why.clone())
    }

    /// Returns the message of the program that aborted, if one has.
    pub fn abort_message(&self) -> Option<Vec<u8>> {
        self.fault.lock().as_ref().and_then(|fault| fault.message.clone())
    }

    /// Marks the device as lost because it is being destroyed, so that waits in other threads end.
    pub(crate) fn end(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Marks the device as lost. The first call also sends `why` to the messengers as an error.
    pub fn lose(&self, why: &str) {
        self.lose_by(Fault::new(why));
    }

    /// Marks the device as lost because a command list could not be executed.
    pub(crate) fn lose_by_execution(&self, report: &LossReport) {
        let (timed_out, message) = (report.timed_out(), report.message().map(<[u8]>::to_vec));
        self.lose_by(Fault { timed_out, message, ..Fault::new(&report.to_string()) });
    }

    fn lose_by(&self, fault: Fault) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            let message = format!("the device was lost: {}", fault.why);
            *self.fault.lock() = Some(fault);
            self.faulted.notify_all();
            self.messages.error(&message);
        }
    }

    /// Waits for a fault that was not reported, and calls `report` with it. The fault counts as
    /// reported if `report` returns true. Returns false if no fault occurs in time.
    pub fn report_fault(&self, timeout: Duration, report: impl FnOnce(&Fault) -> bool) -> bool {
        let end = Instant::now().checked_add(timeout);
        let mut fault = self.fault.lock();
        loop {
            match &mut *fault {
                Some(fault) if fault.is_reported => return false,
                Some(fault) => {
                    fault.is_reported = report(fault);
                    return true;
                }
                None if self.is_lost() && self.is_forked() => return false,
                None => {}
            }
            match end {
                Some(end) if self.faulted.wait_until(&mut fault, end).timed_out() && fault.is_none() => return false,
                Some(_) => {}
                None => self.faulted.wait(&mut fault),
            }
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

    #[test]
    fn a_fault_is_reported_once() {
        let health = Health::default();
        let hear = |timeout| {
            let mut heard = None;
            let is_there = health.report_fault(timeout, |fault| {
                heard = Some(fault.clone());
                true
            });
            assert_eq!(is_there, heard.is_some());
            heard
        };
        assert_eq!(hear(Duration::ZERO), None);
        assert_eq!(hear(Duration::from_millis(1)), None);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| hear(Duration::MAX));
            health.lose("a reason");
            assert_eq!(waiter.join().unwrap(), Some(Fault::new("a reason")));
        });
        assert_eq!(hear(Duration::MAX), None);
        assert_eq!(health.why(), "a reason");
    }
}
