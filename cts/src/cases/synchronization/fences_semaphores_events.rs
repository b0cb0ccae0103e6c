//! Fences, semaphores and events.

use ash::vk;

use crate::harness::{Case, Gpu, check};

fn fence(gpu: &Gpu, flags: vk::FenceCreateFlags) -> Result<vk::Fence, crate::harness::Outcome> {
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_fence(&vk::FenceCreateInfo::default().flags(flags), None) }?)
}

case!("synchronization.fences.signaled_at_creation", "Fences", signaled_fence);

fn signaled_fence(gpu: &Gpu) -> Case {
    let fence = fence(gpu, vk::FenceCreateFlags::SIGNALED)?;
    // SAFETY: the fence is valid and in no submission.
    unsafe {
        check(gpu.device.get_fence_status(fence)?, || "not signaled".into())?;
        gpu.device.reset_fences(&[fence])?;
        check(!gpu.device.get_fence_status(fence)?, || "still signaled".into())
    }
}

case!("synchronization.fences.submit_and_wait", "Fences", submit_fence);

fn submit_fence(gpu: &Gpu) -> Case {
    let fence = fence(gpu, vk::FenceCreateFlags::empty())?;
    // SAFETY: an empty submission is valid.
    unsafe {
        gpu.device.queue_submit(gpu.queue, &[], fence)?;
        gpu.device.wait_for_fences(&[fence], true, u64::MAX)?;
        check(gpu.device.get_fence_status(fence)?, || "not signaled".into())
    }
}

case!("synchronization.fences.timeout", "Fences", fence_timeout);

fn fence_timeout(gpu: &Gpu) -> Case {
    let fence = fence(gpu, vk::FenceCreateFlags::empty())?;
    // SAFETY: the fence is valid.
    let waited = unsafe { gpu.device.wait_for_fences(&[fence], true, 1_000_000) };
    check(waited == Err(vk::Result::TIMEOUT), || format!("{waited:?}"))
}

case!("synchronization.semaphores.chain", "Semaphores", semaphore_chain);

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

case!("synchronization.events.host", "Events", host_event);

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

case!("synchronization.events.device", "Events", device_event);

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
