//! Timeline semaphores, signaled and waited for by host and queues.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, Outcome, check};

fn timeline(gpu: &Gpu, value: u64) -> Result<vk::Semaphore, Outcome> {
    let mut kind =
        vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(value);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_semaphore(&info, None) }?)
}

case!("core12.timeline.host", "VK_KHR_timeline_semaphore", timeline_host);

/// Signals and waits for semaphores on the host, for one and for any of several.
fn timeline_host(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_TIMELINE_SEMAPHORE_NAME)?;
    let second = khr::timeline_semaphore::Device::new(&gpu.instance, &gpu.device);
    let both = [timeline(gpu, 7)?, timeline(gpu, 0)?];
    let wait = |values: [u64; 2], flags| {
        let info = vk::SemaphoreWaitInfo::default().semaphores(&both).values(&values).flags(flags);
        // SAFETY: the semaphores are valid.
        unsafe { second.wait_semaphores(&info, 1_000_000) }
    };
    let (all, any) = (vk::SemaphoreWaitFlags::empty(), vk::SemaphoreWaitFlags::ANY);
    check(wait([7, 0], all).is_ok(), || "values that are reached were waited for".into())?;
    check(wait([8, 1], any) == Err(vk::Result::TIMEOUT), || "a wait for what nobody does came back".into())?;
    // SAFETY: valid usage: values grow.
    unsafe {
        second.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(both[1]).value(1 << 40))?;
        let value = second.get_semaphore_counter_value(both[1])?;
        check(value == 1 << 40, || format!("the counter is {value}"))?;
    }
    check(wait([8, 1], any).is_ok(), || "one of two is not enough".into())?;
    check(wait([8, 1], all) == Err(vk::Result::TIMEOUT), || "one of two is enough".into())
}

case!("core12.timeline.queue", "VK_KHR_timeline_semaphore", timeline_queue);

/// Submits a batch that waits for a value that the host signals later, and a second batch that
/// waits for the first.
fn timeline_queue(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_TIMELINE_SEMAPHORE_NAME)?;
    let second = khr::timeline_semaphore::Device::new(&gpu.instance, &gpu.device);
    let semaphore = [timeline(gpu, 1)?];
    let buffer = gpu.buffer(256)?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(2);
    // SAFETY: valid usage: each wait has its signal.
    unsafe {
        let commands = gpu.device.allocate_command_buffers(&info)?;
        for (number, &commands) in commands.iter().enumerate() {
            gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            gpu.device.cmd_fill_buffer(commands, buffer.handle, number as u64 * 128, 256 - 128, number as u32 + 5);
            gpu.barrier(commands, None);
            gpu.device.end_command_buffer(commands)?;
        }
        let values = [[2], [3], [4]];
        let mut timelines = [0, 1].map(|number| {
            vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(&values[number])
                .signal_semaphore_values(&values[number + 1])
        });
        let [first, last] = &mut timelines;
        let submit = |number: usize| {
            vk::SubmitInfo::default()
                .wait_semaphores(&semaphore)
                .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
                .signal_semaphores(&semaphore)
                .command_buffers(&commands[number..=number])
        };
        let submits = [submit(0).push_next(first), submit(1).push_next(last)];
        gpu.device.queue_submit(gpu.queue, &submits, vk::Fence::null())?;
        let before = second.get_semaphore_counter_value(semaphore[0])?;
        check(before == 1 && buffer.words()[0] == 0, || "the queue did not wait".into())?;
        second.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore[0]).value(2))?;
        let value = [4];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphore).values(&value);
        second.wait_semaphores(&info, u64::MAX)?;
        let words = buffer.words();
        check(words[0] == 5 && words[63] == 6, || format!("{words:?}"))?;
        gpu.device.queue_wait_idle(gpu.queue)?;
    }
    Ok(())
}
