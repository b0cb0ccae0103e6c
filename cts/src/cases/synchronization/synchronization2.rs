//! Submissions, barriers and events of `VK_KHR_synchronization2`.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, check};

const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

/// Records a dependency of all commands on all commands.
fn dependency(gpu: &Gpu, commands: vk::CommandBuffer) {
    let second = khr::synchronization2::Device::new(&gpu.instance, &gpu.device);
    let memory = [vk::MemoryBarrier2::default()
        .src_stage_mask(ALL)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(ALL)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)];
    // SAFETY: the command buffer is recording outside of a pass.
    unsafe { second.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&memory)) };
}

case!("core13.sync2.submit", "VK_KHR_synchronization2", submit2);

/// Submits two batches in one call, the second of which waits for a semaphore of the first, with a
/// fence and a timestamp.
fn submit2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SYNCHRONIZATION2_NAME)?;
    let second = khr::synchronization2::Device::new(&gpu.instance, &gpu.device);
    let (buffer, out) = (gpu.buffer(64)?, gpu.buffer(64)?);
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(2);
    let pool = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
    // SAFETY: valid usage: each wait has its signal.
    unsafe {
        let pool = gpu.device.create_query_pool(&pool, None)?;
        let commands = gpu.device.allocate_command_buffers(&info)?;
        for &commands in &commands {
            gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        }
        gpu.device.cmd_fill_buffer(commands[0], buffer.handle, 0, 64, 77);
        dependency(gpu, commands[0]);
        gpu.device.cmd_reset_query_pool(commands[1], pool, 0, 1);
        let copy = [vk::BufferCopy { size: 64, ..Default::default() }];
        gpu.device.cmd_copy_buffer(commands[1], buffer.handle, out.handle, &copy);
        second.cmd_write_timestamp2(commands[1], vk::PipelineStageFlags2::COPY, pool, 0);
        dependency(gpu, commands[1]);
        for &commands in &commands {
            gpu.device.end_command_buffer(commands)?;
        }
        let semaphore = gpu.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?;
        let fence = gpu.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let between = [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(ALL)];
        let lists = [0, 1].map(|number| [vk::CommandBufferSubmitInfo::default().command_buffer(commands[number])]);
        let submits = [
            vk::SubmitInfo2::default().command_buffer_infos(&lists[0]).signal_semaphore_infos(&between),
            vk::SubmitInfo2::default().command_buffer_infos(&lists[1]).wait_semaphore_infos(&between),
        ];
        second.queue_submit2(gpu.queue, &submits, fence)?;
        gpu.device.wait_for_fences(&[fence], true, u64::MAX)?;
        let mut time = [0u64];
        gpu.device.get_query_pool_results(pool, 0, &mut time, vk::QueryResultFlags::TYPE_64)?;
        gpu.device.queue_wait_idle(gpu.queue)?;
    }
    check(out.words() == [77; 16], || format!("{:?}", out.words()))
}

case!("core13.sync2.events", "VK_KHR_synchronization2", events2);

fn events2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SYNCHRONIZATION2_NAME)?;
    let second = khr::synchronization2::Device::new(&gpu.instance, &gpu.device);
    let buffer = gpu.buffer(64)?;
    // SAFETY: valid usage.
    unsafe {
        let event = gpu.device.create_event(&vk::EventCreateInfo::default(), None)?;
        gpu.run(|commands| {
            let memory = [vk::MemoryBarrier2::default().src_stage_mask(ALL).dst_stage_mask(ALL)];
            let dependency = vk::DependencyInfo::default().memory_barriers(&memory);
            gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, 64, 5);
            second.cmd_set_event2(commands, event, &dependency);
            second.cmd_wait_events2(commands, &[event], &[dependency]);
            gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, 32, 6);
            gpu.barrier(commands, None);
        })?;
        check(gpu.device.get_event_status(event)?, || "the event is not set".into())?;
        gpu.run(|commands| second.cmd_reset_event2(commands, event, ALL))?;
        check(!gpu.device.get_event_status(event)?, || "the event is still set".into())?;
    }
    check(buffer.words()[7..9] == [6, 5], || format!("{:?}", buffer.words()))
}
