//! Execution of command lists, and reports of why execution ended early.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use vitric_base::panics;

use super::CommandList;
use super::name::RunningCommand;
use super::processor::{MAX_NESTED, Processor};
use crate::gpu::{DeviceLost, Gpu};

/// A message that says which command stopped the GPU and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct LossReport {
    text: String,
    timed_out: bool,
    message: Option<Vec<u8>>,
}

impl LossReport {
    /// Reports a command that did not end.
    fn new(lost: DeviceLost, running: &RunningCommand, limit: Duration) -> Self {
        let why = match lost {
            DeviceLost::TimedOut(stage) => format!(
                "timed out in the {}: a command may take {} ms (VITRIC_TIMEOUT_MS)",
                stage.name(),
                limit.as_millis()
            ),
            DeviceLost::EventNotSet => "the event that it waits for was not set in time".into(),
            DeviceLost::NestedTooDeep => {
                format!("secondary command buffers are nested more than {MAX_NESTED} deep")
            }
            DeviceLost::OutOfMemory => "there is no memory for an image".into(),
            DeviceLost::FarMemory(failed) => failed.to_string(),
        };
        let timed_out = matches!(lost, DeviceLost::TimedOut(_) | DeviceLost::EventNotSet);
        Self { text: format!("{running}: {why}"), timed_out, message: None }
    }

    /// Reports a panic.
    fn of_panic(panic: &(dyn Any + Send), running: &RunningCommand) -> Self {
        Self { text: format!("{running}: {}", panics::describe(panic)), timed_out: false, message: None }
    }

    /// Reports a program that aborted with a message.
    fn of_abort(message: Vec<u8>) -> Self {
        let text = format!("a shader aborted with a message of {} bytes", message.len());
        Self { text, timed_out: false, message: Some(message) }
    }

    /// Returns the message of the program that aborted, if one has.
    pub fn message(&self) -> Option<&[u8]> {
        self.message.as_deref()
    }

    /// Returns true if a command exceeded a time limit.
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }
}

impl Gpu {
    /// Executes command lists one after the other, which must all be protected or none. Returns
    /// when all their work is complete and visible.
    ///
    /// # Errors
    /// A [`LossReport`] if the device is lost: a program was interrupted, or the emulation failed.
    pub fn execute(&self, lists: &[Arc<CommandList>]) -> Result<(), LossReport> {
        let mut running = RunningCommand::default();
        let run = || {
            let mut processor = Processor::new(self, lists.iter().any(|list| list.is_protected));
            // The host may have written mapped memory.
            self.depths().wrote_any(|memory| memory.is_mapped());
            let execute = || {
                let done = lists.iter().try_for_each(|list| processor.execute(list));
                done.and(processor.finish())
            };
            let done = catch_unwind(AssertUnwindSafe(execute));
            running = processor.running().clone();
            done
        };
        self.begin_execution();
        let access = self.synchronized().begin();
        let done = match catch_unwind(AssertUnwindSafe(run)).flatten() {
            Ok(done) => done.map_err(|lost| LossReport::new(lost, &running, self.config().timeout)),
            Err(panic) => Err(LossReport::of_panic(&*panic, &running)),
        };
        drop(access);
        // An abort is the first reason, because other programs may wait for the one that aborted.
        let done = self.abort_message().map_or(done, |message| Err(LossReport::of_abort(message)));
        self.end_execution();
        if done.is_err() {
            self.depths().forget();
        }
        done
    }
}
