//! Command pools and buffers: states and recording.
//!
//! Source: Vulkan specification, "Command Buffers".

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use parking_lot::Mutex;
use vitric_base::host_memory;
use vitric_gpu::command::{Command, CommandList, InlineData};

use crate::families::{self, FAMILIES};
use crate::{Error, Result};

/// State of a command buffer; *pending* is counted apart.
#[derive(Debug, Default)]
enum State {
    #[default]
    Initial,
    Recording(CommandList),
    Executable(Arc<CommandList>),
    /// The host had no memory for a command.
    OutOfMemory,
    Invalid,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    one_time: bool,
}

/// Commands between two looks at the margin of the host's memory: they take some besides their own bytes.
const PERIOD: usize = 1 << 10;

/// Makes room for a command and its bytes. Returns false if the host has no memory for them.
fn has_room(list: &mut CommandList, bytes: usize) -> bool {
    let count = list.commands.len();
    let is_full = count == list.commands.capacity() || list.bytes.capacity() - list.bytes.len() < bytes;
    if !is_full && !count.is_multiple_of(PERIOD) {
        return true;
    }
    let is_small = count < PERIOD && bytes < PERIOD;
    list.commands.try_reserve(1).is_ok()
        && list.bytes.try_reserve(bytes).is_ok()
        && (is_small || host_memory::has_room(0))
}

/// What submissions of a command buffer share with it.
#[derive(Debug, Default)]
struct Shared {
    pending: AtomicU32,
    /// Memory of what was recorded before, for what is recorded next.
    spare: Mutex<CommandList>,
}

impl Shared {
    /// Drops what was recorded, and keeps its memory, unless somebody else still has it.
    fn reclaim(&self, list: Arc<CommandList>) {
        if let Some(mut list) = Arc::into_inner(list) {
            list.clear();
            let mut spare = self.spare.lock();
            if spare.commands.capacity() < list.commands.capacity() {
                *spare = list;
            }
        }
    }
}

/// A command buffer. The specification has the application synchronise its use; the lock is never contended.
#[derive(Debug)]
pub struct CommandBuffer {
    inner: Mutex<Inner>,
    shared: Arc<Shared>,
    /// Whether it is executed from other command buffers.
    pub secondary: bool,
    /// Index of the family of queues that it is for.
    pub family: u32,
    /// What those queues do.
    abilities: vk::QueueFlags,
}

/// Held while a submission of a command buffer is pending.
#[derive(Debug)]
pub struct Pending {
    shared: Arc<Shared>,
    /// What was recorded, until the submission is complete.
    list: Option<Arc<CommandList>>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.list.take().into_iter().for_each(|list| self.shared.reclaim(list));
        self.shared.pending.fetch_sub(1, Ordering::AcqRel);
    }
}

impl CommandBuffer {
    /// A command buffer in the initial state, for queues of a family.
    ///
    /// # Errors
    /// [`Error::Unknown`] when there is no such family.
    pub fn new(secondary: bool, family: u32) -> Result<Arc<Self>> {
        let abilities = families::find(family).ok_or(Error::Unknown)?.flags;
        let (inner, shared) = Default::default();
        Ok(Arc::new(Self { inner, shared, secondary, family, abilities }))
    }

    /// Begins recording; what was recorded before is dropped. `one_time`: the recording is good for one submission
    /// (`VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT`).
    pub fn begin(&self, one_time: bool) {
        self.reset();
        let list = std::mem::take(&mut *self.shared.spare.lock());
        *self.inner.lock() = Inner { state: State::Recording(list), one_time };
    }

    /// Ends recording.
    ///
    /// # Errors
    /// [`Error::Unknown`] when the command buffer is not recording, [`Error::OutOfHostMemory`] when there was no memory for a
    /// command; it is invalid then.
    pub fn end(&self) -> Result<()> {
        let mut inner = self.inner.lock();
        match std::mem::take(&mut inner.state) {
            State::Recording(list) => {
                inner.state = State::Executable(Arc::new(list));
                Ok(())
            }
            before => {
                inner.state = State::Invalid;
                Err(if matches!(before, State::OutOfMemory) { Error::OutOfHostMemory } else { Error::Unknown })
            }
        }
    }

    /// Back to the initial state, from any. Submissions that are pending go on: they own what was recorded.
    pub fn reset(&self) {
        let before = std::mem::take(&mut *self.inner.lock());
        match before.state {
            State::Recording(list) => self.shared.reclaim(Arc::new(list)),
            State::Executable(list) => self.shared.reclaim(list),
            State::Initial | State::OutOfMemory | State::Invalid => {}
        }
    }

    /// Gives back the memory that is kept for what will be recorded.
    pub fn release(&self) {
        *self.shared.spare.lock() = CommandList::default();
    }

    /// Appends a command; ignored when not recording, since `vkCmd*` returns no error. A command that queues of the family do
    /// not take is dropped; whether it was not.
    pub fn record(&self, command: Command) -> bool {
        let is_taken = self.takes(&command);
        let mut inner = self.inner.lock();
        if is_taken && let State::Recording(list) = &mut inner.state {
            match has_room(list, 0) {
                true => list.commands.push(command),
                false => inner.state = State::OutOfMemory,
            }
        }
        is_taken
    }

    /// The same for a command that brings bytes along.
    pub fn record_with(&self, bytes: &[u8], make: impl FnOnce(InlineData) -> Command) -> bool {
        let mut inner = self.inner.lock();
        let start = if let State::Recording(list) = &inner.state { list.bytes.len() } else { 0 };
        let command = make(InlineData { start, count: bytes.len() as u32 });
        let is_taken = self.takes(&command);
        if is_taken && let State::Recording(list) = &mut inner.state {
            if has_room(list, bytes.len()) {
                list.bytes.extend_from_slice(bytes);
                list.commands.push(command);
            } else {
                inner.state = State::OutOfMemory;
            }
        }
        is_taken
    }

    /// Whether queues of the family take a command.
    #[inline]
    fn takes(&self, command: &Command) -> bool {
        // The first family takes everything.
        self.abilities == FAMILIES[0].flags || self.abilities.intersects(families::needs(command))
    }

    /// The recorded list, for execution from a primary command buffer.
    ///
    /// # Errors
    /// [`Error::Unknown`] when recording was not completed.
    pub fn list(&self) -> Result<Arc<CommandList>> {
        match &self.inner.lock().state {
            State::Executable(list) => Ok(list.clone()),
            _ => Err(Error::Unknown),
        }
    }

    /// The recorded list, with the command buffer pending until the second value is dropped. A buffer for one submission
    /// becomes invalid.
    ///
    /// # Errors
    /// [`Error::Unknown`] when recording was not completed.
    pub fn submit(&self) -> Result<(Arc<CommandList>, Pending)> {
        let list = self.list()?;
        let mut inner = self.inner.lock();
        if inner.one_time {
            inner.state = State::Invalid;
        }
        self.shared.pending.fetch_add(1, Ordering::AcqRel);
        let pending = Pending { shared: self.shared.clone(), list: Some(list.clone()) };
        Ok((list, pending))
    }

    /// Whether at least one submission of it is not complete yet.
    pub fn is_pending(&self) -> bool {
        self.shared.pending.load(Ordering::Acquire) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states() {
        let buffer = CommandBuffer::new(false, 0).unwrap();
        buffer.record(Command::EndPass);
        assert_eq!(buffer.end().unwrap_err(), Error::Unknown);
        buffer.begin(true);
        buffer.record(Command::PipelineBarrier);
        assert!(buffer.list().is_err());
        buffer.end().unwrap();
        let (list, pending) = buffer.submit().unwrap();
        assert_eq!(list.commands.len(), 1);
        assert!(buffer.is_pending());
        drop((list, pending));
        assert!(!buffer.is_pending());
        assert!(buffer.submit().is_err(), "submitted once only");
        buffer.reset();
        assert!(buffer.list().is_err());
        let kept = |buffer: &CommandBuffer| buffer.shared.spare.lock().commands.capacity();
        assert!(kept(&buffer) > 0, "the memory of what was executed");
        buffer.release();
        assert_eq!(kept(&buffer), 0);
    }

    #[test]
    fn what_others_execute_is_kept() {
        let buffer = CommandBuffer::new(true, 0).unwrap();
        buffer.begin(false);
        buffer.record(Command::PipelineBarrier);
        buffer.end().unwrap();
        let list = buffer.list().unwrap();
        buffer.reset();
        assert_eq!(list.commands.len(), 1);
        buffer.begin(false);
        buffer.record(Command::EndPass);
        buffer.begin(false);
        buffer.end().unwrap();
        assert!(buffer.list().unwrap().commands.is_empty(), "what was recorded before is dropped");
    }

    #[test]
    fn queues_that_copy_take_no_dispatches() {
        let buffer = CommandBuffer::new(false, 2).unwrap();
        buffer.begin(false);
        assert!(!buffer.record(Command::Dispatch { base: [0; 3], groups: [1; 3] }));
        assert!(buffer.record(Command::PipelineBarrier));
        buffer.end().unwrap();
        assert_eq!(buffer.list().unwrap().commands.len(), 1);
        assert!(CommandBuffer::new(false, FAMILIES.len() as u32).is_err());
    }
}
