//! Devices and queues. Source: Vulkan specification, "Devices and Queues", "Command Buffers" (submission).

use std::ffi::c_void;
use std::fmt::Debug;
use std::sync::Arc;

use ash::vk::{self, Handle, TaggedStructure};
use vitric_api::debug::Messages;
use vitric_api::device::{Device, check_features};
use vitric_api::queue::Batch;
use vitric_api::structures::{self, Structures};
use vitric_api::sync::Semaphore;
use vitric_api::{Error, Result};

use crate::objects::{CommandObject, DeviceObject, Marked, PhysicalObject, QueueObject, device, need};
use crate::raw;

pub extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    raw::create(out, || {
        let physical = PhysicalObject::from_handle(physical).ok_or(Error::InitializationFailed)?;
        let info = raw::input(info).ok_or(Error::InitializationFailed)?;
        let names = raw::slice(info.pp_enabled_extension_names, info.enabled_extension_count);
        let extensions: Vec<String> = names.iter().map(|&name| raw::string(name)).collect();
        let queues = raw::slice(info.p_queue_create_infos, info.queue_create_info_count);
        let count = queues.iter().map(|queue| queue.queue_count).sum();
        let features = enabled_features(&physical.messages, info)?;
        let created = Device::new(physical.messages.clone(), physical.version, count, &features, &extensions)?;
        let queues = created.queues().to_vec();
        let handle = DeviceObject::new(created, physical, extensions).into_handle();
        let queues = queues.into_iter().map(|queue| QueueObject { device: handle, queue }.into_handle()).collect();
        set_queues(handle, queues);
        Ok(handle)
    })
}

/// Gives a device that nobody else has seen yet its queues' handles.
fn set_queues(handle: u64, queues: Vec<u64>) {
    if let Some(found) = raw::output(handle as *mut crate::objects::Dispatchable<DeviceObject>) {
        found.object.queues = queues;
    }
}

/// The features of 1.0 that are enabled; an error when one of another structure is that is not there.
fn enabled_features(messages: &Messages, info: &vk::DeviceCreateInfo<'_>) -> Result<vk::PhysicalDeviceFeatures> {
    let mut checker = Checker { messages, next: info.p_next, result: Ok(()) };
    structures::features(&mut checker);
    checker.result?;
    let chained = raw::find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next).map(|features| features.features);
    Ok(chained.or_else(|| raw::input(info.p_enabled_features).copied()).unwrap_or_default())
}

/// Compares what an application has in its chain with what there is.
struct Checker<'a> {
    messages: &'a Messages,
    next: *const c_void,
    result: Result<()>,
}

impl Structures for Checker<'_> {
    fn put<T: TaggedStructure + Debug>(&mut self, supported: T) {
        if let Some(wanted) = raw::find::<T>(self.next) {
            self.result = self.result.and(check_features(self.messages, wanted, &supported));
        }
    }
}

pub extern "system" fn destroy(handle: vk::Device, _: *const vk::AllocationCallbacks<'_>) {
    raw::guard_void(|| {
        if let Some(object) = DeviceObject::from_handle(handle) {
            let _ = object.device.wait_idle();
            for &queue in &object.queues {
                QueueObject::destroy(vk::Queue::from_raw(queue));
            }
        }
        DeviceObject::destroy(handle);
    });
}

pub extern "system" fn queue(handle: vk::Device, _family: u32, index: u32, out: *mut vk::Queue) {
    raw::guard_void(|| {
        let found = DeviceObject::from_handle(handle).and_then(|object| object.queues.get(index as usize));
        if let Some(out) = raw::output(out) {
            *out = vk::Queue::from_raw(found.copied().unwrap_or(0));
        }
    });
}

pub extern "system" fn queue2(handle: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) {
    // No queue is protected: one that is asked for with flags is none.
    match raw::input(info).filter(|info| info.flags.is_empty()) {
        Some(info) => queue(handle, info.queue_family_index, info.queue_index, out),
        None => queue(handle, 0, u32::MAX, out),
    }
}

pub extern "system" fn wait_idle(handle: vk::Device) -> vk::Result {
    raw::guard(|| device(handle)?.device.wait_idle().map(|()| vk::Result::SUCCESS))
}

pub extern "system" fn queue_wait_idle(handle: vk::Queue) -> vk::Result {
    raw::guard(|| {
        let object = QueueObject::from_handle(handle).ok_or(Error::Unknown)?;
        object.queue.wait_idle().map(|()| vk::Result::SUCCESS)
    })
}

pub extern "system" fn queue_submit(
    handle: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    submit(handle, raw::slice(submits, count), fence, batch)
}

pub extern "system" fn queue_submit2(
    handle: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    submit(handle, raw::slice(submits, count), fence, batch2)
}

fn submit<I>(
    handle: vk::Queue,
    submits: &[I],
    fence: vk::Fence,
    batch: impl Fn(&DeviceObject, &I) -> Result<Batch>,
) -> vk::Result {
    raw::guard(|| {
        let object = QueueObject::from_handle(handle).ok_or(Error::Unknown)?;
        let owner = device(vk::Device::from_raw(object.device))?;
        let fence = match fence.is_null() {
            true => None,
            false => Some(need(owner, &owner.fences, fence)?),
        };
        let batches = submits.iter().map(|submit| batch(owner, submit)).collect::<Result<Vec<Batch>>>()?;
        object.queue.submit(batches, fence).map(|()| vk::Result::SUCCESS)
    })
}

fn batch(owner: &DeviceObject, submit: &vk::SubmitInfo<'_>) -> Result<Batch> {
    let timelines: Option<&vk::TimelineSemaphoreSubmitInfo<'_>> = raw::find(submit.p_next);
    let (waits, signals) = timelines.map_or((&[][..], &[][..]), |timelines| {
        let waits = raw::slice(timelines.p_wait_semaphore_values, timelines.wait_semaphore_value_count);
        (waits, raw::slice(timelines.p_signal_semaphore_values, timelines.signal_semaphore_value_count))
    });
    let semaphores = |pointer, count, values: &[u64]| {
        let pairs = raw::slice(pointer, count).iter().enumerate();
        let pairs = pairs.map(|(number, &semaphore)| (semaphore, values.get(number).copied().unwrap_or(0)));
        semaphores(owner, pairs)
    };
    Ok(Batch {
        waits: semaphores(submit.p_wait_semaphores, submit.wait_semaphore_count, waits)?,
        signals: semaphores(submit.p_signal_semaphores, submit.signal_semaphore_count, signals)?,
        ..with_buffers(raw::slice(submit.p_command_buffers, submit.command_buffer_count).iter().copied())?
    })
}

fn batch2(owner: &DeviceObject, submit: &vk::SubmitInfo2<'_>) -> Result<Batch> {
    let pairs = |pointer, count| {
        let infos: &[vk::SemaphoreSubmitInfo<'_>] = raw::slice(pointer, count);
        semaphores(owner, infos.iter().map(|info| (info.semaphore, info.value)))
    };
    let buffers = raw::slice(submit.p_command_buffer_infos, submit.command_buffer_info_count);
    Ok(Batch {
        waits: pairs(submit.p_wait_semaphore_infos, submit.wait_semaphore_info_count)?,
        signals: pairs(submit.p_signal_semaphore_infos, submit.signal_semaphore_info_count)?,
        ..with_buffers(buffers.iter().map(|info| info.command_buffer))?
    })
}

/// Semaphores with the values that they are to reach, or to get.
fn semaphores(
    owner: &DeviceObject,
    pairs: impl Iterator<Item = (vk::Semaphore, u64)>,
) -> Result<Vec<(Arc<Semaphore>, u64)>> {
    pairs.map(|(semaphore, value)| Ok((need(owner, &owner.semaphores, semaphore)?, value))).collect()
}

/// A batch of command buffers.
fn with_buffers(buffers: impl Iterator<Item = vk::CommandBuffer>) -> Result<Batch> {
    let mut batch = Batch::default();
    for buffer in buffers {
        let object = CommandObject::from_handle(buffer).ok_or(Error::Unknown)?;
        let (list, pending) = object.buffer.submit()?;
        batch.lists.push(list);
        batch.pending.push(pending);
    }
    Ok(batch)
}

pub extern "system" fn queue_bind_sparse(
    _: vk::Queue,
    _: u32,
    _: *const vk::BindSparseInfo<'_>,
    _: vk::Fence,
) -> vk::Result {
    // The queue family does not offer sparse binding.
    Error::FeatureNotPresent.code()
}

/// The owner of a queue, for presentation.
pub fn of_queue<'a>(handle: vk::Queue) -> Result<(&'a DeviceObject, Arc<vitric_api::queue::Queue>)> {
    let object = QueueObject::from_handle(handle).ok_or(Error::Unknown)?;
    Ok((device(vk::Device::from_raw(object.device))?, object.queue.clone()))
}

/// Memory of the one device of a group, as that device itself sees it.
pub extern "system" fn peer_memory(
    _: vk::Device,
    _heap: u32,
    _local: u32,
    _remote: u32,
    out: *mut vk::PeerMemoryFeatureFlags,
) {
    use vk::PeerMemoryFeatureFlags as F;
    if let Some(out) = raw::output(out) {
        *out = F::COPY_SRC | F::COPY_DST | F::GENERIC_SRC | F::GENERIC_DST;
    }
}
