//! Fences, semaphores and events. Source: Vulkan specification, "Synchronization and Cache
//! Control".

use std::sync::Arc;

use ash::vk;
use vitric_api::Result;
use vitric_api::queue;
use vitric_api::sync::{Payload, PayloadKind, Primitive};
use vitric_entry::entry;
use vitric_gpu::command::Event;

use super::{DeviceObject, check, destroy, need};
use crate::call::{Array, Call, In, New, Out};

#[entry(vkCreateFence)]
fn create_fence(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::FenceCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Fence>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let signaled = info.flags.contains(vk::FenceCreateFlags::SIGNALED);
    let exported: Option<&vk::ExportFenceCreateInfo<'_>> = call.find(info.p_next);
    let payload = match exported.is_some_and(|info| !info.handle_types.is_empty()) {
        true => Payload::shared(PayloadKind::Fence, u64::from(signaled))?,
        false => Payload::new(PayloadKind::Fence, u64::from(signaled)),
    };
    Ok(out.put(object.fences.insert(Primitive::new(payload))))
}

#[entry(vkDestroyFence)]
fn destroy_fence(object: &DeviceObject, fence: vk::Fence, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.fences, fence);
}

#[entry(vkResetFences)]
fn reset_fences(object: &DeviceObject, #[len] count: u32, fences: Array<'_, vk::Fence>) -> Result<vk::Result> {
    for &fence in check::array(object, "pFences", fences)? {
        need(object, &object.fences, fence)?.reset();
    }
    Ok(vk::Result::SUCCESS)
}

#[entry(vkGetFenceStatus)]
fn get_fence_status(object: &DeviceObject, fence: vk::Fence) -> Result<vk::Result> {
    let set = need(object, &object.fences, fence)?.payload().is_set();
    object.device.health().check()?;
    Ok(if set { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
}

#[entry(vkWaitForFences)]
fn wait_for_fences(
    object: &DeviceObject,
    #[len] count: u32,
    fences: Array<'_, vk::Fence>,
    all: vk::Bool32,
    timeout: u64,
) -> Result<vk::Result> {
    let fences = check::array(object, "pFences", fences)?.iter();
    let fences = fences.map(|&fence| Ok((need(object, &object.fences, fence)?.payload(), 1)));
    wait(object, &fences.collect::<Result<Vec<_>>>()?, all != 0, timeout)
}

/// Waits up to `timeout` nanoseconds for payloads and their values.
fn wait(object: &DeviceObject, payloads: &[(Arc<Payload>, u64)], all: bool, timeout: u64) -> Result<vk::Result> {
    if payloads.iter().all(|(payload, value)| payload.has_reached(*value)) {
        return object.device.health().check().map(|()| vk::Result::SUCCESS);
    }
    // The device may be destroyed meanwhile, which ends the wait.
    let (queues, health) = (object.device.queues().clone(), object.device.health().clone());
    let in_time = queue::wait(&queues, &health, payloads, all, timeout);
    health.check()?;
    Ok(if in_time { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
}

#[entry(vkCreateSemaphore)]
fn create_semaphore(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::SemaphoreCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Semaphore>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let kind: Option<&vk::SemaphoreTypeCreateInfo<'_>> = call.find(info.p_next);
    let (kind, value) = match kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE) {
        Some(timeline) => (PayloadKind::Timeline, timeline.initial_value),
        None => (PayloadKind::Binary, 0),
    };
    let exported: Option<&vk::ExportSemaphoreCreateInfo<'_>> = call.find(info.p_next);
    let payload = match exported.is_some_and(|info| !info.handle_types.is_empty()) {
        true => Payload::shared(kind, value)?,
        false => Payload::new(kind, value),
    };
    Ok(out.put(object.semaphores.insert(Primitive::new(payload))))
}

#[entry(vkGetSemaphoreCounterValue)]
fn get_semaphore_counter_value(
    object: &DeviceObject,
    semaphore: vk::Semaphore,
    mut out: Out<'_, u64>,
) -> Result<vk::Result> {
    let value = need(object, &object.semaphores, semaphore)?.payload().value();
    object.device.health().check()?;
    out.write(value);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkSignalSemaphore)]
fn signal_semaphore(object: &DeviceObject, info: In<'_, vk::SemaphoreSignalInfo<'_>>) -> Result<vk::Result> {
    need(object, &object.semaphores, info.semaphore)?.payload().signal(info.value);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkWaitSemaphores)]
fn wait_semaphores(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, vk::SemaphoreWaitInfo<'_>>,
    timeout: u64,
) -> Result<vk::Result> {
    let semaphores = call.array(info.p_semaphores, info.semaphore_count);
    let values = call.array(info.p_values, info.semaphore_count);
    let pairs = check::array(object, "pSemaphores", semaphores)?.iter().zip(check::array(object, "pValues", values)?);
    let pairs = pairs.map(|(&semaphore, &value)| Ok((need(object, &object.semaphores, semaphore)?.payload(), value)));
    let all = !info.flags.contains(vk::SemaphoreWaitFlags::ANY);
    wait(object, &pairs.collect::<Result<Vec<_>>>()?, all, timeout)
}

#[entry(vkDestroySemaphore)]
fn destroy_semaphore(object: &DeviceObject, semaphore: vk::Semaphore, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.semaphores, semaphore);
}

#[entry(vkCreateEvent)]
fn create_event(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::EventCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Event>,
) -> Result<vk::Result> {
    check::info(call, object, info)?;
    Ok(out.put(object.events.insert(Arc::new(Event::default()))))
}

#[entry(vkDestroyEvent)]
fn destroy_event(object: &DeviceObject, event: vk::Event, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.events, event);
}

#[entry(vkGetEventStatus)]
fn get_event_status(object: &DeviceObject, event: vk::Event) -> Result<vk::Result> {
    object.device.health().check()?;
    let set = need(object, &object.events, event)?.is_set();
    Ok(if set { vk::Result::EVENT_SET } else { vk::Result::EVENT_RESET })
}

#[entry(vkSetEvent)]
fn set_event(object: &DeviceObject, event: vk::Event) -> Result<vk::Result> {
    need(object, &object.events, event)?.set();
    Ok(vk::Result::SUCCESS)
}

#[entry(vkResetEvent)]
fn reset_event(object: &DeviceObject, event: vk::Event) -> Result<vk::Result> {
    need(object, &object.events, event)?.reset();
    Ok(vk::Result::SUCCESS)
}
