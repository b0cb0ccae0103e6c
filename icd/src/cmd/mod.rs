//! Recorded commands (`vkCmd*`), with one file for each group of commands.
//!
//! An entry point resolves its handles, builds one `Command` and records it through its
//! [`Recorder`]. Source: Vulkan specification, "Command Buffers".

pub mod address;
pub mod bind;
pub mod draw;
pub mod feedback;
pub mod pass;
pub mod query;
pub mod rendering;
pub mod state;
pub mod sync;
pub mod transfer;

use ash::vk;
use vitric_api::command::{CommandBuffer, DropReason, DroppedCommand};
use vitric_api::{Error, Result};
use vitric_gpu::command::{Command, InlineData};

use crate::call::{Call, Param, Typed};
use crate::object::check::{self, Check};
use crate::object::{CommandObject, DeviceObject};
use crate::slots::Marked;

/// The command buffer that an entry point records to, with its device.
#[derive(Clone, Copy)]
pub struct Recorder<'c> {
    /// The device of the command buffer.
    pub device: &'c DeviceObject,
    /// The command buffer.
    pub buffer: &'c CommandBuffer,
}

impl<'c> Typed for Recorder<'c> {
    type Raw = vk::CommandBuffer;
    type Scope = Call<'c>;
}

impl<'c> Param for Recorder<'c> {
    #[inline]
    fn translate(handle: vk::CommandBuffer, call: Call<'c>) -> Result<Self> {
        let object = CommandObject::from_handle(call, handle).ok_or(Error::Unknown)?;
        let device = <vk::Device as vk::Handle>::from_raw(object.device);
        let device = DeviceObject::from_handle(call, device).ok_or(Error::Unknown)?;
        Ok(Self { device, buffer: &object.buffer })
    }
}

impl Recorder<'_> {
    /// Records a command. Sends a message if the command buffer must not contain it.
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "most entry points end with it")]
    pub fn record(self, command: Command) -> Result<()> {
        self.buffer.record(command).unwrap_or_else(|dropped| self.report(dropped));
        Ok(())
    }

    /// Records a command with bytes. `command` builds it from their location.
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "most entry points end with it")]
    pub fn record_with(self, bytes: &[u8], command: impl FnOnce(InlineData) -> Command) -> Result<()> {
        self.buffer.record_with(bytes, command).unwrap_or_else(|dropped| self.report(dropped));
        Ok(())
    }

    /// Sends the message that a command is dropped.
    #[cold]
    fn report(self, DroppedCommand { name, reason }: DroppedCommand) {
        let family = self.buffer.family;
        self.device.messages().error(&match reason {
            DropReason::Unsupported(needs) => {
                format!("{name}: queues of family {family} do not support it: expected a family with one of {needs:?}")
            }
            DropReason::Protection if self.buffer.protection.is_protected() => format!(
                "{name} in a protected command buffer is dropped: expected that it writes protected resources only, \
                 and is neither indirect nor a query"
            ),
            DropReason::Protection => {
                format!("{name} in an unprotected command buffer is dropped: expected unprotected resources only")
            }
        });
    }

    /// Checks values of a command.
    ///
    /// # Errors
    /// [`Error::Unknown`] if one is not allowed: a message was sent.
    pub fn check(self, call: Call<'_>, name: &'static str, test: impl FnOnce(Check<'_>) -> Result<()>) -> Result<()> {
        check::value(call, self.device, name, test)
    }
}
