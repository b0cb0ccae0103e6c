//! Secondary command buffers, and command buffers that are submitted again.

use ash::vk;

use crate::harness::{Case, Gpu, check};

case!("commands.secondary.execute", "Secondary Command Buffer Execution", secondary);

fn secondary(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(16)?;
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(gpu.pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    let inheritance = vk::CommandBufferInheritanceInfo::default();
    // SAFETY: the secondary buffer is complete before it is executed.
    let inner = unsafe {
        let inner = gpu.device.allocate_command_buffers(&info)?[0];
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        gpu.device.begin_command_buffer(inner, &begin)?;
        gpu.device.cmd_fill_buffer(inner, buffer.handle, 0, vk::WHOLE_SIZE, 5);
        gpu.device.end_command_buffer(inner)?;
        inner
    };
    // SAFETY: the command buffer is recording.
    gpu.run(|commands| unsafe { gpu.device.cmd_execute_commands(commands, &[inner]) })?;
    check(buffer.words() == [5; 4], || format!("{:?}", buffer.words()))
}

case!("commands.buffers.resubmit", "Command Buffer Lifecycle", resubmit);

fn resubmit(gpu: &Gpu) -> Case {
    let (source, target) = (gpu.buffer_with(&[1u32])?, gpu.buffer(4)?);
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(1);
    // SAFETY: the command buffer is complete, and each submission is waited for.
    unsafe {
        let commands = gpu.device.allocate_command_buffers(&info)?;
        gpu.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
        let region = vk::BufferCopy { size: 4, ..Default::default() };
        gpu.device.cmd_copy_buffer(commands[0], source.handle, target.handle, &[region]);
        gpu.device.end_command_buffer(commands[0])?;
        for value in [3u32, 9] {
            source.write(&value.to_le_bytes());
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            gpu.device.queue_submit(gpu.queue, &submits, vk::Fence::null())?;
            gpu.device.queue_wait_idle(gpu.queue)?;
            check(target.words() == [value], || format!("{:?}", target.words()))?;
        }
    }
    Ok(())
}
