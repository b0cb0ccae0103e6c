//! Devices and queues. Source: Vulkan specification, "Devices and Queues", "Command Buffers" (submission).

use std::ffi::c_void;
use std::fmt::Debug;
use std::sync::{Arc, Once};

use ash::vk::{self, Handle, TaggedStructure};
use vitric_api::debug::Messages;
use vitric_api::device::{Device, check_features};
use vitric_api::families::{Wanted, check_global_priority};
use vitric_api::queue::{Batch, Queue};
use vitric_api::structures::{self, Structures};
use vitric_api::sync::{Payload, Semaphore};
use vitric_api::{Error, Result, report};
use vitric_gpu::state::DepthLimits;

use crate::objects::{self, CommandObject, DeviceObject, Marked, PhysicalObject, QueueObject, device, need};
use crate::slots::{self, Ending};
use crate::{check, newer, process, raw};

pub extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    raw::create(out, || {
        let physical = PhysicalObject::from_handle(physical).ok_or(Error::InitializationFailed)?;
        let info = check::checked(&physical.messages, info).map_err(|_| Error::InitializationFailed)?;
        let names = raw::slice(info.pp_enabled_extension_names, info.enabled_extension_count);
        let extensions: Vec<String> = names.iter().map(|&name| raw::string(name)).collect();
        let queues = wanted_queues(raw::slice(info.p_queue_create_infos, info.queue_create_info_count))?;
        let features = enabled_features(&physical.messages, info)?;
        let (messages, heap) = (physical.messages.clone(), physical.heap.clone());
        let created = Device::new(messages, physical.version, heap, &queues, &features, &extensions)?;
        if created.gpu().counters().is_some() {
            report_at_exit();
        }
        let queues = created.queues().to_vec();
        let report: Option<&vk::PhysicalDeviceAddressBindingReportFeaturesEXT<'_>> = raw::find(info.p_next);
        let reports_addresses = report.is_some_and(|report| report.report_address_binding != 0);
        let robust: Option<&vk::PhysicalDeviceRobustness2FeaturesEXT<'_>> = raw::find(info.p_next);
        let exact_vertices = robust.is_some_and(|robust| robust.robust_buffer_access2 != 0);
        let clamp: Option<&vk::PhysicalDeviceDepthClampZeroOneFeaturesEXT<'_>> = raw::find(info.p_next);
        let is_unrestricted = extensions.iter().any(|name| name == "VK_EXT_depth_range_unrestricted");
        let depth_limits = match clamp.is_some_and(|clamp| clamp.depth_clamp_zero_one != 0) {
            true if is_unrestricted => DepthLimits::Format,
            true => DepthLimits::ZeroOne,
            false => DepthLimits::Viewport,
        };
        let object = DeviceObject::new(created, physical, extensions);
        let object = DeviceObject { exact_vertices, depth_limits, reports_addresses, ..object };
        let instance = physical.instance;
        let handle = object.into_handle(instance);
        let object = |queue: Arc<Queue>| (queue.family, QueueObject { device: handle, queue }.into_handle(instance));
        let queues = queues.into_iter().map(object).collect();
        // Nobody else has seen the device yet.
        let _ = device(vk::Device::from_raw(handle))?.queues.set(queues);
        Ok(handle)
    })
}

/// Has devices that are not destroyed leave what they counted when the process ends, or when this library is unloaded.
fn report_at_exit() {
    extern "C" fn leave() {
        raw::guard_void(report::leave_all);
    }
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the handler lets no panic out. Where this is a library that is unloaded, C's library calls it before.
        let failed = unsafe { libc::atexit(leave) } != 0;
        if failed {
            log::warn!("devices that are not destroyed leave no counters: no handler can be registered for the end of the process");
        }
    });
}

/// Queues that a device is to have; none is protected.
fn wanted_queues(infos: &[vk::DeviceQueueCreateInfo<'_>]) -> Result<Vec<Wanted>> {
    let wanted = |info: &vk::DeviceQueueCreateInfo<'_>| {
        if !info.flags.is_empty() {
            return Err(Error::FeatureNotPresent);
        }
        let beside: Option<&vk::DeviceQueueGlobalPriorityCreateInfoKHR<'_>> = raw::find(info.p_next);
        beside.map_or(Ok(()), |beside| check_global_priority(beside.global_priority))?;
        let priorities = raw::slice(info.p_queue_priorities, info.queue_count).to_vec();
        Ok(Wanted { family: info.queue_family_index, priorities })
    };
    infos.iter().map(wanted).collect()
}

/// The features of 1.0 that are enabled; an error when one of another structure is that is not there.
fn enabled_features(messages: &Messages, info: &vk::DeviceCreateInfo<'_>) -> Result<vk::PhysicalDeviceFeatures> {
    let mut checker = Checker { messages, next: info.p_next, result: Ok(()) };
    structures::features(&mut checker);
    newer::features(&mut checker);
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
        let Some(object) = DeviceObject::from_handle(handle) else { return };
        // In a forked process nothing of it may be touched: threads that are not there may have been using it.
        let ending = if object.device.health().is_forked() { Ending::Forget } else { Ending::Drop };
        if ending == Ending::Drop {
            object.device.close();
            for pool in object.command_pools.all() {
                pool.take().for_each(CommandObject::destroy);
            }
        }
        for &(_, queue) in object.queues() {
            QueueObject::end(vk::Queue::from_raw(queue), ending);
        }
        let word = slots::loader_word(handle);
        DeviceObject::end(handle, ending);
        slots::bury(word);
        if ending == Ending::Drop {
            process::give_memory_back();
        }
    });
}

pub extern "system" fn queue(handle: vk::Device, family: u32, index: u32, out: *mut vk::Queue) {
    raw::guard_void(|| {
        let queues = DeviceObject::from_handle(handle).map_or(&[][..], |object| object.queues());
        let found = queues.iter().filter(|(of, _)| *of == family).nth(index as usize);
        if let Some(out) = raw::output(out) {
            *out = vk::Queue::from_raw(found.map_or(0, |(_, queue)| *queue));
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
    raw::guard(|| objects::queue(handle)?.1.queue.wait_idle().map(|()| vk::Result::SUCCESS))
}

pub extern "system" fn queue_submit(
    handle: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    submit(handle, (submits, count), fence, batch)
}

pub extern "system" fn queue_submit2(
    handle: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    submit(handle, (submits, count), fence, batch2)
}

fn submit<I>(
    handle: vk::Queue,
    (submits, count): (*const I, u32),
    fence: vk::Fence,
    batch: impl Fn(&DeviceObject, u32, &I) -> Result<Batch>,
) -> vk::Result {
    raw::guard(|| {
        let (owner, object) = objects::queue(handle)?;
        let submits = check::array(owner, "pSubmits", submits, count)?;
        let fence = match fence.is_null() {
            true => None,
            false => Some(need(owner, &owner.fences, fence)?.payload()),
        };
        let batches =
            submits.iter().map(|submit| batch(owner, object.queue.family, submit)).collect::<Result<Vec<Batch>>>()?;
        object.queue.submit(batches, fence).map(|()| vk::Result::SUCCESS)
    })
}

fn batch(owner: &DeviceObject, family: u32, submit: &vk::SubmitInfo<'_>) -> Result<Batch> {
    let timelines: Option<&vk::TimelineSemaphoreSubmitInfo<'_>> = raw::find(submit.p_next);
    let (waits, signals) = timelines.map_or((&[][..], &[][..]), |timelines| {
        let waits = raw::slice(timelines.p_wait_semaphore_values, timelines.wait_semaphore_value_count);
        (waits, raw::slice(timelines.p_signal_semaphore_values, timelines.signal_semaphore_value_count))
    });
    fn pairs(all: &[vk::Semaphore], values: &[u64]) -> impl Iterator<Item = (vk::Semaphore, u64)> {
        let value = |number: usize| values.get(number).copied().unwrap_or(0);
        all.iter().enumerate().map(move |(number, &semaphore)| (semaphore, value(number)))
    }
    let waits =
        pairs(check::array(owner, "pWaitSemaphores", submit.p_wait_semaphores, submit.wait_semaphore_count)?, waits);
    let signals = pairs(
        check::array(owner, "pSignalSemaphores", submit.p_signal_semaphores, submit.signal_semaphore_count)?,
        signals,
    );
    Ok(Batch {
        waits: semaphores(owner, waits, Semaphore::take_payload)?,
        signals: semaphores(owner, signals, Semaphore::payload)?,
        ..with_buffers(
            owner,
            family,
            check::array(owner, "pCommandBuffers", submit.p_command_buffers, submit.command_buffer_count)?
                .iter()
                .copied(),
        )?
    })
}

fn batch2(owner: &DeviceObject, family: u32, submit: &vk::SubmitInfo2<'_>) -> Result<Batch> {
    fn pairs(infos: &[vk::SemaphoreSubmitInfo<'_>]) -> impl Iterator<Item = (vk::Semaphore, u64)> {
        infos.iter().map(|info| (info.semaphore, info.value))
    }
    let waits = pairs(check::array(
        owner,
        "pWaitSemaphoreInfos",
        submit.p_wait_semaphore_infos,
        submit.wait_semaphore_info_count,
    )?);
    let signals = pairs(check::array(
        owner,
        "pSignalSemaphoreInfos",
        submit.p_signal_semaphore_infos,
        submit.signal_semaphore_info_count,
    )?);
    let buffers =
        check::array(owner, "pCommandBufferInfos", submit.p_command_buffer_infos, submit.command_buffer_info_count)?;
    Ok(Batch {
        waits: semaphores(owner, waits, Semaphore::take_payload)?,
        signals: semaphores(owner, signals, Semaphore::payload)?,
        ..with_buffers(owner, family, buffers.iter().map(|info| info.command_buffer))?
    })
}

/// Semaphores with the values that they are to reach, or to get.
fn semaphores(
    owner: &DeviceObject,
    pairs: impl Iterator<Item = (vk::Semaphore, u64)>,
    payload: impl Fn(&Semaphore) -> Arc<Payload>,
) -> Result<Vec<(Arc<Payload>, u64)>> {
    pairs.map(|(semaphore, value)| Ok((payload(&*need(owner, &owner.semaphores, semaphore)?), value))).collect()
}

/// A batch of command buffers, which are for queues of a family.
fn with_buffers(owner: &DeviceObject, family: u32, buffers: impl Iterator<Item = vk::CommandBuffer>) -> Result<Batch> {
    let mut batch = Batch::default();
    for buffer in buffers {
        let object = CommandObject::from_handle(buffer).ok_or(Error::Unknown)?;
        if object.buffer.family != family {
            owner.messages().error(&format!("{} is for queues of another family", owner.describe(buffer)));
            return Err(Error::Unknown);
        }
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

/// What is known of why the device was lost: how, not where.
pub extern "system" fn fault_info(
    handle: vk::Device,
    counts: *mut vk::DeviceFaultCountsEXT<'_>,
    out: *mut vk::DeviceFaultInfoEXT<'_>,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let counts = raw::output(counts).ok_or(Error::Unknown)?;
        (counts.address_info_count, counts.vendor_info_count, counts.vendor_binary_size) = (0, 0, 0);
        if let Some(out) = raw::output(out) {
            raw::put_name(&mut out.description, &object.device.health().why());
        }
        Ok(vk::Result::SUCCESS)
    })
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
