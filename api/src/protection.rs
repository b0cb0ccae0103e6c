//! Rules of protected memory for recorded commands. A command that breaks a rule is dropped.
//!
//! Descriptors and device addresses are checked when commands execute, because their memory is not
//! known before. Source: Vulkan specification, "Protected Memory Access Rules", and the valid usage
//! of each command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use vitric_gpu::command::{Command, PassBegin};
use vitric_gpu::state::{PassDesc, SubpassDesc};
use vitric_memory::{Buffer, Surface};

/// Protection of a command buffer.
#[derive(Debug, Clone, Default)]
pub struct Protection {
    is_protected: bool,
    has_resources: Arc<AtomicBool>,
}

impl Protection {
    /// Creates the protection of a command buffer. `has_resources` is true once the device has a
    /// protected resource.
    pub fn new(is_protected: bool, has_resources: Arc<AtomicBool>) -> Self {
        Self { is_protected, has_resources }
    }

    /// Returns true if the command buffer is protected.
    pub fn is_protected(&self) -> bool {
        self.is_protected
    }

    /// Returns true if the command buffer may contain a command.
    #[inline]
    pub fn allows(&self, command: &Command) -> bool {
        let applies = self.is_protected || self.has_resources.load(Ordering::Acquire);
        !applies || self.has_only_allowed_operands(command)
    }

    fn has_only_allowed_operands(&self, command: &Command) -> bool {
        use Command as C;
        match command {
            C::BeginPass(begin) => self.may_render(begin),
            C::BindVertexBuffers { buffers, .. } => buffers.iter().flatten().all(|range| self.reads(&*range.buffer)),
            C::BindIndexBuffer { range, .. } => range.iter().all(|range| self.reads(&*range.buffer)),
            C::BeginConditional { buffer, .. } => self.reads(&**buffer),
            C::CopyBuffer { source, target, .. } => self.reads(&**source) && self.writes(&**target),
            C::CopyImage { source, target, .. }
            | C::BlitImage { source, target, .. }
            | C::ResolveImage { source, target, .. } => self.reads(&**source) && self.writes(&**target),
            C::CopyBufferToImage { source, target, .. } => self.reads(&**source) && self.writes(&**target),
            C::CopyImageToBuffer { source, target, .. } => self.reads(&**source) && self.writes(&**target),
            C::UpdateBuffer { target, .. } | C::FillBuffer { target, .. } | C::CopyQueryPoolResults { target, .. } => {
                self.writes(&**target)
            }
            C::ClearColorImage { target, .. } | C::ClearDepthStencilImage { target, .. } => self.writes(&**target),
            C::BindFeedbackBuffers { buffers, .. } => buffers.iter().all(|range| self.writes(&*range.buffer)),
            C::BeginFeedback { counters, .. } | C::EndFeedback { counters, .. } => {
                counters.iter().flatten().all(|(buffer, _)| self.writes(&**buffer))
            }
            C::Execute(lists) => lists.iter().all(|list| list.is_protected == self.is_protected),
            C::DrawIndirect { buffer, counted, .. } | C::DrawMeshIndirect { buffer, counted, .. } => {
                self.reads_parameters(buffer) && counted.iter().all(|(buffer, _)| self.reads_parameters(buffer))
            }
            C::DispatchIndirect { buffer, .. } | C::DrawByteCount { counter: buffer, .. } => {
                self.reads_parameters(buffer)
            }
            C::CopyMemoryToImageIndirect { target, .. } => !self.is_protected && self.writes(&**target),
            // The results of queries are visible to the host.
            C::CopyMemoryIndirect(_) | C::BeginQuery { .. } | C::EndQuery { .. } => !self.is_protected,
            // The memory of descriptors is checked when the commands execute.
            _ => true,
        }
    }

    /// Returns true if commands may read a resource.
    fn reads(&self, resource: &impl Resource) -> bool {
        self.is_protected || !resource.is_protected()
    }

    /// Returns true if commands may write a resource.
    fn writes(&self, resource: &impl Resource) -> bool {
        self.is_protected == resource.is_protected()
    }

    /// Returns true if commands may read their parameters from a buffer.
    fn reads_parameters(&self, buffer: &Buffer) -> bool {
        !self.is_protected && !buffer.is_protected()
    }

    /// Returns true if a pass may begin: if its attachments may be read, and those that it writes
    /// may be written.
    fn may_render(&self, begin: &PassBegin) -> bool {
        (0..).zip(&begin.views).all(|(number, view)| match is_written(&begin.pass, number) {
            true => self.writes(&*view.surface),
            false => self.reads(&*view.surface),
        })
    }
}

/// Returns true if a pass may write an attachment. Depth and stencil count as written.
fn is_written(pass: &PassDesc, number: u32) -> bool {
    let is_used = |attachment: &Option<u32>| *attachment == Some(number);
    let is_target = |subpass: &SubpassDesc| {
        subpass.colors.iter().chain(&subpass.resolves).chain([&subpass.depth_stencil]).any(is_used)
            || subpass.depth_resolve.is_some_and(|resolve| resolve.attachment == number)
    };
    let is_cleared = pass
        .attachments
        .get(number as usize)
        .is_some_and(|attachment| [attachment.load, attachment.stencil_load].contains(&vk::AttachmentLoadOp::CLEAR));
    is_cleared || pass.subpasses.iter().any(is_target)
}

/// A buffer or an image.
trait Resource {
    fn is_protected(&self) -> bool;
}

impl Resource for Buffer {
    fn is_protected(&self) -> bool {
        self.is_protected()
    }
}

impl Resource for Surface {
    fn is_protected(&self) -> bool {
        self.is_protected()
    }
}

#[cfg(test)]
mod tests {
    use vitric_memory::BufferAddress;

    use super::*;

    #[test]
    fn protected_memory_does_not_leave_protected_command_buffers() {
        let has_resources = Arc::new(AtomicBool::new(false));
        let [plain, protected] = [false, true].map(|protected| Protection::new(protected, has_resources.clone()));
        let buffers = [Buffer::new(4), Buffer::protected(4, BufferAddress::None)];
        let copy = |from: usize, to: usize| Command::CopyBuffer {
            source: buffers[from].clone(),
            target: buffers[to].clone(),
            regions: Default::default(),
        };
        assert!(plain.allows(&copy(0, 1)), "nothing is checked without protected resources");
        assert!(!protected.allows(&copy(0, 0)));
        has_resources.store(true, Ordering::Release);
        let allowed = |protection: &Protection| {
            [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(from, to)| protection.allows(&copy(from, to)))
        };
        assert_eq!(allowed(&plain), [true, false, false, false]);
        assert_eq!(allowed(&protected), [false, true, false, true]);
        let dispatch = Command::DispatchIndirect { buffer: buffers[0].clone(), offset: 0 };
        assert!(plain.allows(&dispatch) && !protected.allows(&dispatch));
    }

    #[test]
    fn attachments_that_are_only_read_are_not_written() {
        let subpass = SubpassDesc { inputs: vec![Some(0)], colors: vec![Some(1)], ..SubpassDesc::default() };
        let pass = PassDesc { subpasses: vec![subpass], ..PassDesc::default() };
        assert_eq!([0, 1].map(|number| is_written(&pass, number)), [false, true]);
    }
}
