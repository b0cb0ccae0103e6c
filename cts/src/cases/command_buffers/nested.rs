//! Secondary command buffers that execute secondary command buffers.

use ash::vk;

use crate::cases::support::pairs::secondary;
use crate::harness::{Case, Gpu, Outcome, check};

case!("commands.lists.nested", "VK_EXT_nested_command_buffer", nested);

/// Executes secondary command buffers within each other, to the depth that the device supports and
/// to at most 10 levels.
fn nested(gpu: &Gpu) -> Case {
    if gpu.extension_features.nested.nested_command_buffer == vk::FALSE {
        return Err(Outcome::NotSupported("nested lists".into()));
    }
    let mut limits = vk::PhysicalDeviceNestedCommandBufferPropertiesEXT::default();
    gpu.properties2(&mut limits);
    let depth = limits.max_command_buffer_nesting_level.min(10);
    check(depth >= 1, || "no level".into())?;
    let out = gpu.buffer(64)?;
    let mut inner: Option<vk::CommandBuffer> = None;
    for level in 0..depth {
        let list = secondary(gpu)?;
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: valid usage: each list is executed by one.
        unsafe {
            gpu.device.begin_command_buffer(list, &begin)?;
            gpu.device.cmd_fill_buffer(list, out.handle, u64::from(level) * 4, 4, level + 1);
            inner.into_iter().for_each(|inner| gpu.device.cmd_execute_commands(list, &[inner]));
            gpu.device.end_command_buffer(list)?;
        }
        inner = Some(list);
    }
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording.
        unsafe { inner.into_iter().for_each(|inner| gpu.device.cmd_execute_commands(commands, &[inner])) };
        gpu.barrier(commands, None);
    })?;
    let expected: Vec<u32> = (0..16).map(|level| if level < depth { level + 1 } else { 0 }).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}
