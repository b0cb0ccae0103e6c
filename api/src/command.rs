//! Command pools and command buffers: their states and recording.
//!
//! Source: Vulkan specification, "Command Buffers".

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;
use parking_lot::Mutex;
use vitric_base::host_memory;
use vitric_gpu::command::{Command, CommandList, InlineData};

use crate::families::{self, FAMILIES};
use crate::protection::Protection;
use crate::{Error, Result};

/// State of a command buffer. The *pending* state is counted separately, in [`Shared`].
#[derive(Debug, Default)]
enum State {
    #[default]
    Initial,
    Recording(CommandList),
    Executable(Arc<CommandList>),
    /// Recording failed because the host had no memory for a command.
    OutOfMemory,
    Invalid,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    one_time: bool,
}

/// Number of commands between two checks of the host's memory margin. The checks are needed
/// because commands also allocate memory outside of the list.
const PERIOD: usize = 1 << 10;

/// Reserves memory for a command and its bytes. Returns false if the host has no memory for them.
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

/// State that a command buffer shares with its submissions.
#[derive(Debug, Default)]
struct Shared {
    pending: AtomicU32,
    /// Allocation of the previous recording, reused by the next one.
    spare: Mutex<CommandList>,
}

impl Shared {
    /// Clears a recording and keeps its allocation, unless the list has other owners.
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

/// A command buffer. The specification makes the application synchronise its use, so the lock is
/// never contended.
#[derive(Debug)]
pub struct CommandBuffer {
    inner: Mutex<Inner>,
    shared: Arc<Shared>,
    /// True if the command buffer is executed from other command buffers.
    pub secondary: bool,
    /// Index of the queue family that the command buffer is allocated for.
    pub family: u32,
    /// Capabilities of that family's queues.
    abilities: vk::QueueFlags,
    /// Protection of its memory accesses.
    pub protection: Protection,
}

/// Command that a command buffer must not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedCommand {
    /// Name of the command.
    pub name: &'static str,
    /// Reason.
    pub reason: DropReason,
}

/// Reason why a command is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The queues of the family have none of these capabilities, of which they need one.
    Unsupported(vk::QueueFlags),
    /// The command breaks the rules of protected memory.
    Protection,
}

impl DroppedCommand {
    #[cold]
    fn unsupported(command: &Command) -> Self {
        Self { name: command.name(), reason: DropReason::Unsupported(families::needs(command)) }
    }

    #[cold]
    fn by_protection(command: &Command) -> Self {
        Self { name: command.name(), reason: DropReason::Protection }
    }
}

/// Guard that keeps a command buffer pending until the submission is complete.
#[derive(Debug)]
pub struct Pending {
    shared: Arc<Shared>,
    /// Recorded commands, until the submission is complete.
    list: Option<Arc<CommandList>>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.list.take().into_iter().for_each(|list| self.shared.reclaim(list));
        self.shared.pending.fetch_sub(1, Ordering::AcqRel);
    }
}

impl CommandBuffer {
    /// Creates a command buffer in the initial state, for queues of a family.
    ///
    /// # Errors
    /// [`Error::Unknown`] if `family` is not the index of a family.
    pub fn new(secondary: bool, family: u32, protection: Protection) -> Result<Arc<Self>> {
        let abilities = families::find(family).ok_or(Error::Unknown)?.flags;
        let (inner, shared) = Default::default();
        Ok(Arc::new(Self { inner, shared, secondary, family, abilities, protection }))
    }

    /// Begins recording and drops the previous recording. With `one_time`, the recording can be
    /// submitted once (`VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT`).
    pub fn begin(&self, one_time: bool) {
        self.reset();
        let spare = std::mem::take(&mut *self.shared.spare.lock());
        let list = CommandList { is_protected: self.protection.is_protected(), ..spare };
        *self.inner.lock() = Inner { state: State::Recording(list), one_time };
    }

    /// Ends recording. A command buffer whose recording failed becomes invalid.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the command buffer is not recording, [`Error::OutOfHostMemory`] if
    /// the host had no memory for a command.
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

    /// Returns to the initial state from any state. Pending submissions own their commands and
    /// continue.
    pub fn reset(&self) {
        let before = std::mem::take(&mut *self.inner.lock());
        match before.state {
            State::Recording(list) => self.shared.reclaim(Arc::new(list)),
            State::Executable(list) => self.shared.reclaim(list),
            State::Initial | State::OutOfMemory | State::Invalid => {}
        }
    }

    /// Frees the allocation that is kept for the next recording.
    pub fn release(&self) {
        *self.shared.spare.lock() = CommandList::default();
    }

    /// Appends a command if the command buffer is recording. `vkCmd*` returns no errors.
    ///
    /// # Errors
    /// [`DroppedCommand`] if the command buffer must not contain the command, which is dropped.
    pub fn record(&self, command: Command) -> std::result::Result<(), DroppedCommand> {
        self.check(&command)?;
        let mut inner = self.inner.lock();
        if let State::Recording(list) = &mut inner.state {
            match has_room(list, 0) {
                true => list.commands.push(command),
                false => inner.state = State::OutOfMemory,
            }
        }
        Ok(())
    }

    /// Appends a command that refers to `bytes`, which are copied into the list.
    ///
    /// # Errors
    /// See [`Self::record`].
    pub fn record_with(
        &self,
        bytes: &[u8],
        make: impl FnOnce(InlineData) -> Command,
    ) -> std::result::Result<(), DroppedCommand> {
        let mut inner = self.inner.lock();
        let start = if let State::Recording(list) = &inner.state { list.bytes.len() } else { 0 };
        let command = make(InlineData { start, count: bytes.len() as u32 });
        self.check(&command)?;
        if let State::Recording(list) = &mut inner.state {
            if has_room(list, bytes.len()) {
                list.bytes.extend_from_slice(bytes);
                list.commands.push(command);
            } else {
                inner.state = State::OutOfMemory;
            }
        }
        Ok(())
    }

    /// Checks that queues of the family support a command, and that the command breaks no rule of
    /// protected memory.
    #[inline]
    fn check(&self, command: &Command) -> std::result::Result<(), DroppedCommand> {
        // The first family supports every command.
        let is_supported = self.abilities == FAMILIES[0].flags || self.abilities.intersects(families::needs(command));
        match is_supported {
            true if self.protection.allows(command) => Ok(()),
            true => Err(DroppedCommand::by_protection(command)),
            false => Err(DroppedCommand::unsupported(command)),
        }
    }

    /// Returns the recorded list, for execution from another command buffer.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the command buffer is not executable.
    pub fn list(&self) -> Result<Arc<CommandList>> {
        match &self.inner.lock().state {
            State::Executable(list) => Ok(list.clone()),
            _ => Err(Error::Unknown),
        }
    }

    /// Returns the recorded list. The command buffer is pending until the second value is dropped.
    /// A command buffer for one submission becomes invalid.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the command buffer is not executable.
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

    /// Returns true if at least one submission is not complete.
    pub fn is_pending(&self) -> bool {
        self.shared.pending.load(Ordering::Acquire) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(secondary: bool, family: u32) -> Arc<CommandBuffer> {
        CommandBuffer::new(secondary, family, Protection::default()).unwrap()
    }

    #[test]
    fn states() {
        let buffer = new(false, 0);
        buffer.record(Command::EndPass).unwrap();
        assert_eq!(buffer.end().unwrap_err(), Error::Unknown);
        buffer.begin(true);
        buffer.record(Command::PipelineBarrier).unwrap();
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
        let buffer = new(true, 0);
        buffer.begin(false);
        buffer.record(Command::PipelineBarrier).unwrap();
        buffer.end().unwrap();
        let list = buffer.list().unwrap();
        buffer.reset();
        assert_eq!(list.commands.len(), 1);
        buffer.begin(false);
        buffer.record(Command::EndPass).unwrap();
        buffer.begin(false);
        buffer.end().unwrap();
        assert!(buffer.list().unwrap().commands.is_empty(), "what was recorded before is dropped");
    }

    #[test]
    fn queues_that_copy_take_no_dispatches() {
        let buffer = new(false, 2);
        buffer.begin(false);
        let refused = buffer.record(Command::Dispatch { base: [0; 3], groups: [1; 3] }).unwrap_err();
        let reason = DropReason::Unsupported(vk::QueueFlags::COMPUTE);
        assert_eq!(refused, DroppedCommand { name: "vkCmdDispatch", reason });
        buffer.record(Command::PipelineBarrier).unwrap();
        buffer.end().unwrap();
        assert_eq!(buffer.list().unwrap().commands.len(), 1);
        assert!(CommandBuffer::new(false, FAMILIES.len() as u32, Protection::default()).is_err());
    }
}
