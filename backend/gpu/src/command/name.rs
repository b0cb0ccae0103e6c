//! Names of commands for messages.

use std::fmt;

use super::Command;

impl Command {
    /// Returns the name of the Vulkan command that records this command. If several Vulkan
    /// commands record it, the oldest is named.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BeginPass(_) => "vkCmdBeginRenderPass",
            Self::NextSubpass => "vkCmdNextSubpass",
            Self::EndPass => "vkCmdEndRenderPass",
            Self::Draw { .. } => "vkCmdDraw",
            Self::DrawIndexed { .. } => "vkCmdDrawIndexed",
            Self::DrawIndirect { counted: None, indexed: false, .. } => "vkCmdDrawIndirect",
            Self::DrawIndirect { counted: None, .. } => "vkCmdDrawIndexedIndirect",
            Self::DrawIndirect { indexed: false, .. } => "vkCmdDrawIndirectCount",
            Self::DrawIndirect { .. } => "vkCmdDrawIndexedIndirectCount",
            Self::DrawMulti { indexed: false, .. } => "vkCmdDrawMultiEXT",
            Self::DrawMulti { .. } => "vkCmdDrawMultiIndexedEXT",
            Self::DrawByteCount { .. } => "vkCmdDrawIndirectByteCountEXT",
            Self::DrawMesh { .. } => "vkCmdDrawMeshTasksEXT",
            Self::DrawMeshIndirect { counted: None, .. } => "vkCmdDrawMeshTasksIndirectEXT",
            Self::DrawMeshIndirect { .. } => "vkCmdDrawMeshTasksIndirectCountEXT",
            Self::Dispatch { .. } => "vkCmdDispatch",
            Self::DispatchIndirect { .. } => "vkCmdDispatchIndirect",
            Self::PipelineBarrier => "vkCmdPipelineBarrier",
            Self::WaitEvents(_) => "vkCmdWaitEvents",
            Self::CopyQueryPoolResults { .. } => "vkCmdCopyQueryPoolResults",
            Self::Execute(_) => "vkCmdExecuteCommands",
            other => other.name_of_transfer().unwrap_or("a command that sets state"),
        }
    }

    fn name_of_transfer(&self) -> Option<&'static str> {
        Some(match self {
            Self::CopyBuffer { .. } => "vkCmdCopyBuffer",
            Self::CopyImage { .. } => "vkCmdCopyImage",
            Self::BlitImage { .. } => "vkCmdBlitImage",
            Self::CopyBufferToImage { .. } => "vkCmdCopyBufferToImage",
            Self::CopyImageToBuffer { .. } => "vkCmdCopyImageToBuffer",
            Self::CopyMemoryIndirect(_) => "vkCmdCopyMemoryIndirectKHR",
            Self::CopyMemoryToImageIndirect { .. } => "vkCmdCopyMemoryToImageIndirectKHR",
            Self::UpdateBuffer { .. } => "vkCmdUpdateBuffer",
            Self::FillBuffer { .. } => "vkCmdFillBuffer",
            Self::ClearColorImage { .. } => "vkCmdClearColorImage",
            Self::ClearDepthStencilImage { .. } => "vkCmdClearDepthStencilImage",
            Self::ClearAttachments(_) => "vkCmdClearAttachments",
            Self::ResolveImage { .. } => "vkCmdResolveImage",
            Self::BeginQuery { .. } => "vkCmdBeginQuery",
            Self::EndQuery { .. } => "vkCmdEndQuery",
            Self::ResetQueryPool { .. } => "vkCmdResetQueryPool",
            Self::WriteTimestamp { .. } => "vkCmdWriteTimestamp",
            _ => return None,
        })
    }

    /// Returns the amount of work in the parameters of the Vulkan command. The text is empty if
    /// the amount is not a parameter.
    fn size(&self) -> String {
        match self {
            Self::Draw { vertices, instances, .. } => format!("({vertices} vertices, {instances} instances)"),
            Self::DrawIndexed { indices, instances, .. } => format!("({indices} indices, {instances} instances)"),
            Self::Dispatch { groups: [x, y, z], .. } | Self::DrawMesh { groups: [x, y, z] } => {
                format!("({x}, {y}, {z})")
            }
            _ => String::new(),
        }
    }
}

/// The running command: its name, and its position in the submission.
#[derive(Debug, Clone, Default)]
pub struct RunningCommand {
    /// Number of the command buffer in its batch, from 1 on; 0 before the first.
    pub(super) list: usize,
    /// Number of the command in its command buffer, primary or secondary, from 0 on. Recorded
    /// state commands count, too.
    number: usize,
    name: &'static str,
    size: String,
}

impl RunningCommand {
    /// Records the command that begins.
    pub(super) fn begin(&mut self, command: &Command, number: usize) {
        (self.name, self.number) = (command.name(), number);
    }

    /// Records the amount of work of the command that failed. Only the innermost of
    /// nested commands is recorded.
    pub(super) fn describe(&mut self, command: &Command) {
        if self.size.is_empty() && !matches!(command, Command::Execute(_)) {
            self.size = command.size();
        }
    }
}

impl fmt::Display for RunningCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { list, number, name, size } = self;
        match list {
            0 => write!(out, "before the first command"),
            _ => write!(out, "{name}{size}, command {number} of command buffer {list}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_command_is_named_with_its_size() {
        let mut running = RunningCommand::default();
        assert_eq!(running.to_string(), "before the first command");
        let dispatch = Command::Dispatch { base: [0; 3], groups: [65535, 2, 1] };
        running.list = 1;
        running.begin(&dispatch, 7);
        running.describe(&dispatch);
        running.describe(&Command::Execute(Default::default()));
        assert_eq!(running.to_string(), "vkCmdDispatch(65535, 2, 1), command 7 of command buffer 1");
    }
}
