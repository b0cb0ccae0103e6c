//! Fences, semaphores, events, queries, and commands that move bytes between buffers.

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, check};

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add = |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(name, section, run));
    add("synchronization.fences.signaled_at_creation", "Fences", signaled_fence);
    add("synchronization.fences.submit_and_wait", "Fences", submit_fence);
    add("synchronization.fences.timeout", "Fences", fence_timeout);
    add("synchronization.semaphores.chain", "Semaphores", semaphore_chain);
    add("synchronization.events.host", "Events", host_event);
    add("synchronization.events.device", "Events", device_event);
    add("queries.timestamps.ascend", "Timestamp Queries", timestamps);
    add("queries.reset.unavailable", "Query Operation", reset_is_unavailable);
    add("copies.buffers.copy", "Copying Data Between Buffers", copy_buffer);
    add("copies.buffers.fill", "Filling Buffers", fill_buffer);
    add("copies.buffers.update", "Updating Buffers", update_buffer);
    add("commands.secondary.execute", "Secondary Command Buffer Execution", secondary);
    add("commands.buffers.resubmit", "Command Buffer Lifecycle", resubmit);
}

fn fence(gpu: &Gpu, flags: vk::FenceCreateFlags) -> Result<vk::Fence, crate::harness::Outcome> {
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default().flags(flags), None) }?)
}

fn signaled_fence(gpu: &Gpu) -> Case {
    let fence = fence(gpu, vk::FenceCreateFlags::SIGNALED)?;
    // SAFETY: the fence is valid and in no submission.
    unsafe {
        check(gpu.device.get_fence_status(fence)?, || "not signaled".into())?;
        gpu.device.reset_fences(&[fence])?;
        check(!gpu.device.get_fence_status(fence)?, || "still signaled".into())
    }
}

fn submit_fence(gpu: &Gpu) -> Case {
    let fence = fence(gpu, vk::FenceCreateFlags::empty())?;
    // SAFETY: an empty submission is valid.
    unsafe {
        gpu.device.queue_submit(gpu.queue, &[], fence)?;
        gpu.device.wait_for_fences(&[fence], true, u64::MAX)?;
        check(gpu.device.get_fence_status(fence)?, || "not signaled".into())
    }
}

fn fence_timeout(gpu: &Gpu) -> Case {
    let fence = fence(gpu, vk::FenceCreateFlags::empty())?;
    // SAFETY: the fence is valid.
    let waited = unsafe { gpu.device.wait_for_fences(&[fence], true, 1_000_000) };
    check(waited == Err(vk::Result::TIMEOUT), || format!("{waited:?}"))
}

fn semaphore_chain(gpu: &Gpu) -> Case {
    // SAFETY: each semaphore is signaled once and waited for once.
    unsafe {
        let semaphores = [gpu.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?];
        let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
        let first = vk::SubmitInfo::default().signal_semaphores(&semaphores);
        let second = vk::SubmitInfo::default().wait_semaphores(&semaphores).wait_dst_stage_mask(&stages);
        gpu.device.queue_submit(gpu.queue, &[first, second], vk::Fence::null())?;
        Ok(gpu.device.queue_wait_idle(gpu.queue)?)
    }
}

fn event(gpu: &Gpu) -> Result<vk::Event, crate::harness::Outcome> {
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_event(&vk::EventCreateInfo::default(), None) }?)
}

fn host_event(gpu: &Gpu) -> Case {
    let event = event(gpu)?;
    // SAFETY: the event is valid and nothing else uses it.
    unsafe {
        check(!gpu.device.get_event_status(event)?, || "signaled at creation".into())?;
        gpu.device.set_event(event)?;
        check(gpu.device.get_event_status(event)?, || "not set".into())?;
        gpu.device.reset_event(event)?;
        check(!gpu.device.get_event_status(event)?, || "not reset".into())
    }
}

fn device_event(gpu: &Gpu) -> Case {
    let event = event(gpu)?;
    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the command buffer is recording, and the event is alive.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_set_event(commands, event, stage);
        gpu.device.cmd_wait_events(commands, &[event], stage, stage, &[], &[], &[]);
    })?;
    // SAFETY: the event is valid.
    check(unsafe { gpu.device.get_event_status(event)? }, || "not set by the device".into())
}

fn pool(gpu: &Gpu, kind: vk::QueryType, count: u32) -> Result<vk::QueryPool, crate::harness::Outcome> {
    let info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(count);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_query_pool(&info, None) }?)
}

fn timestamps(gpu: &Gpu) -> Case {
    let pool = pool(gpu, vk::QueryType::TIMESTAMP, 2)?;
    let buffer = gpu.buffer(1 << 20)?;
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
        gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 0);
        gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 1);
        gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 1);
    })?;
    let mut times = [0u64; 2];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the queries are available.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut times, flags)? };
    check(times[0] <= times[1], || format!("{times:?}"))
}

fn reset_is_unavailable(gpu: &Gpu) -> Case {
    let pool = pool(gpu, vk::QueryType::OCCLUSION, 1)?;
    // SAFETY: the command buffer is recording, and the pool is alive.
    gpu.run(|commands| unsafe { gpu.device.cmd_reset_query_pool(commands, pool, 0, 1) })?;
    let mut value = [7u32];
    // SAFETY: the query is reset.
    let got = unsafe { gpu.device.get_query_pool_results(pool, 0, &mut value, vk::QueryResultFlags::empty()) };
    check(got == Err(vk::Result::NOT_READY), || format!("{got:?}"))
}

fn copy_buffer(gpu: &Gpu) -> Case {
    let source = gpu.buffer_with(&(0..64u32).collect::<Vec<_>>())?;
    let target = gpu.buffer(256)?;
    let region = vk::BufferCopy { src_offset: 16, dst_offset: 32, size: 40 };
    // SAFETY: the region lies in both buffers.
    gpu.run(|commands| unsafe { gpu.device.cmd_copy_buffer(commands, source.handle, target.handle, &[region]) })?;
    let words = target.words();
    let expected = |index: usize| if (8..18).contains(&index) { index as u32 - 4 } else { 0 };
    check(words.iter().enumerate().all(|(index, &word)| word == expected(index)), || format!("{words:?}"))
}

fn fill_buffer(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(64)?;
    // SAFETY: the range lies in the buffer.
    gpu.run(|commands| unsafe { gpu.device.cmd_fill_buffer(commands, buffer.handle, 8, 16, 0xabcd_1234) })?;
    let words = buffer.words();
    let filled = |index: usize| if (2..6).contains(&index) { 0xabcd_1234 } else { 0 };
    check(words.iter().enumerate().all(|(index, &word)| word == filled(index)), || format!("{words:x?}"))
}

fn update_buffer(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(16)?;
    // SAFETY: the range lies in the buffer.
    gpu.run(|commands| unsafe { gpu.device.cmd_update_buffer(commands, buffer.handle, 4, &[1, 0, 0, 0, 2, 0, 0, 0]) })?;
    check(buffer.words() == [0, 1, 2, 0], || format!("{:?}", buffer.words()))
}

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
