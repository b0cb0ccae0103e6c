//! Fences, semaphores and events. Source: Vulkan specification, "Synchronization and Cache Control".

use std::sync::Arc;

use ash::vk;
use vitric_api::sync::{Kind, Payload, Primitive, wait_for_fences, wait_for_semaphores};
use vitric_api::{Error, Result};
use vitric_gpu::command::Event;

use crate::objects::{destroy, device, need};
use crate::{check, raw};

pub extern "system" fn create_fence(
    handle: vk::Device,
    info: *const vk::FenceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Fence,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let signaled = info.flags.contains(vk::FenceCreateFlags::SIGNALED);
        let exported: Option<&vk::ExportFenceCreateInfo<'_>> = raw::find(info.p_next);
        let payload = match exported.is_some_and(|info| !info.handle_types.is_empty()) {
            true => Payload::shared(Kind::Fence, u64::from(signaled))?,
            false => Payload::new(Kind::Fence, u64::from(signaled)),
        };
        Ok(object.fences.insert(Primitive::new(payload)))
    })
}

pub extern "system" fn destroy_fence(handle: vk::Device, fence: vk::Fence, _: *const vk::AllocationCallbacks<'_>) {
    destroy(handle, |object| &object.fences, fence);
}

pub extern "system" fn reset_fences(handle: vk::Device, count: u32, fences: *const vk::Fence) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        for &fence in check::array(object, "pFences", fences, count)? {
            need(object, &object.fences, fence)?.reset();
        }
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn fence_status(handle: vk::Device, fence: vk::Fence) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let set = need(object, &object.fences, fence)?.payload().is_set();
        object.device.health().check()?;
        Ok(if set { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
    })
}

pub extern "system" fn wait(
    handle: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let fences = check::array(object, "pFences", fences, count)?.iter();
        let fences = fences.map(|&fence| Ok(need(object, &object.fences, fence)?.payload()));
        let fences: Vec<_> = fences.collect::<Result<_>>()?;
        // The device may be destroyed meanwhile, which ends the wait.
        let health = object.device.health().clone();
        let in_time = fences.is_empty() || wait_for_fences(&fences, all != 0, timeout, &health);
        health.check()?;
        Ok(if in_time { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
    })
}

pub extern "system" fn create_semaphore(
    handle: vk::Device,
    info: *const vk::SemaphoreCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Semaphore,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let kind: Option<&vk::SemaphoreTypeCreateInfo<'_>> = raw::find(info.p_next);
        let (kind, value) = match kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE) {
            Some(timeline) => (Kind::Timeline, timeline.initial_value),
            None => (Kind::Binary, 0),
        };
        let exported: Option<&vk::ExportSemaphoreCreateInfo<'_>> = raw::find(info.p_next);
        let payload = match exported.is_some_and(|info| !info.handle_types.is_empty()) {
            true => Payload::shared(kind, value)?,
            false => Payload::new(kind, value),
        };
        Ok(object.semaphores.insert(Primitive::new(payload)))
    })
}

pub extern "system" fn semaphore_value(handle: vk::Device, semaphore: vk::Semaphore, out: *mut u64) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let value = need(object, &object.semaphores, semaphore)?.payload().value();
        object.device.health().check()?;
        *raw::output(out).ok_or(Error::Unknown)? = value;
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn signal_semaphore(handle: vk::Device, info: *const vk::SemaphoreSignalInfo<'_>) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        need(object, &object.semaphores, info.semaphore)?.payload().signal(info.value);
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn wait_semaphores(
    handle: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let semaphores = check::array(object, "pSemaphores", info.p_semaphores, info.semaphore_count)?.iter();
        let pairs = semaphores.zip(check::array(object, "pValues", info.p_values, info.semaphore_count)?);
        let pairs =
            pairs.map(|(&semaphore, &value)| Ok((need(object, &object.semaphores, semaphore)?.payload(), value)));
        let pairs: Vec<_> = pairs.collect::<Result<_>>()?;
        let all = !info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        let health = object.device.health().clone();
        let in_time = pairs.is_empty() || wait_for_semaphores(&pairs, all, timeout, &health);
        health.check()?;
        Ok(if in_time { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
    })
}

pub extern "system" fn destroy_semaphore(
    handle: vk::Device,
    semaphore: vk::Semaphore,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.semaphores, semaphore);
}

pub extern "system" fn create_event(
    handle: vk::Device,
    info: *const vk::EventCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Event,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        check::info(object, info)?;
        Ok(object.events.insert(Arc::new(Event::default())))
    })
}

pub extern "system" fn destroy_event(handle: vk::Device, event: vk::Event, _: *const vk::AllocationCallbacks<'_>) {
    destroy(handle, |object| &object.events, event);
}

pub extern "system" fn event_status(handle: vk::Device, event: vk::Event) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        object.device.health().check()?;
        let set = need(object, &object.events, event)?.is_set();
        Ok(if set { vk::Result::EVENT_SET } else { vk::Result::EVENT_RESET })
    })
}

pub extern "system" fn set_event(handle: vk::Device, event: vk::Event) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        need(object, &object.events, event)?.set();
        Ok(vk::Result::SUCCESS)
    })
}

pub extern "system" fn reset_event(handle: vk::Device, event: vk::Event) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        need(object, &object.events, event)?.reset();
        Ok(vk::Result::SUCCESS)
    })
}
