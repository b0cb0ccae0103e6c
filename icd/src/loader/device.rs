//! Devices and queues. Source: Vulkan specification, "Devices and Queues", "Command Buffers"
//! (submission).

use std::ffi::c_void;
use std::fmt::Debug;
use std::sync::{Arc, Once};
use std::time::Duration;

use ash::vk::{self, Handle, TaggedStructure};
use vitric_api::debug::Messages;
use vitric_api::device::{Device, DeviceDesc, check_features};
use vitric_api::families::{QueueRequest, check_global_priority};
use vitric_api::health::Fault;
use vitric_api::pipeline::Programs;
use vitric_api::queue::{self, Batch};
use vitric_api::report;
use vitric_api::structures::{self, Structures};
use vitric_api::sync::{Payload, Semaphore};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_gpu::state::DepthLimits;
use vitric_ir::interface::abort::ABORT_AREA_BYTES;
use vitric_memory::Allocation;
use vitric_vulkan::{
    DEVICE_FAULT_FLAG_DEVICE_LOST_KHR, DEVICE_FAULT_FLAG_WATCHDOG_TIMEOUT_KHR, DeviceFaultDebugInfoKHR,
    DeviceFaultInfoKHR, DeviceFaultShaderAbortMessageInfoKHR, DevicePipelineBinaryInternalCacheControlKHR,
    PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR, PhysicalDeviceShaderAbortFeaturesKHR, sys,
};

use crate::call::{Array, Call, Listing, New, Out, answer, put_name};
use crate::object::map::PlacedMaps;
use crate::object::memory_report::MemoryReports;
use crate::object::{
    CommandObject, DeviceObject, DeviceQueue, PhysicalObject, Queue, QueueObject, check, device, need, protection,
};
use crate::process;
use crate::slots::{self, Ending, Marked};

#[entry(vkCreateDevice)]
fn create_device(
    call: Call<'_>,
    physical: vk::PhysicalDevice,
    info: Option<&vk::DeviceCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Device>,
) -> Result<vk::Result> {
    let physical = PhysicalObject::from_handle(call, physical).ok_or(Error::InitializationFailed)?;
    let info = check::checked(call, &physical.messages, info).map_err(|_| Error::InitializationFailed)?;
    let names = call.slice(info.pp_enabled_extension_names, info.enabled_extension_count);
    let extensions: Vec<String> = names.iter().map(|&name| call.string(name)).collect();
    let requests = requested_queues(call, info)?;
    let features = enabled_features(call, &physical.messages, info)?;
    let (messages, heap) = (physical.messages.clone(), physical.heap.clone());
    let version = physical.version;
    let desc = DeviceDesc { version, queues: &requests, features: &features, extensions: &extensions };
    let memory_reports = MemoryReports::new(call, &messages, info.p_next)?;
    let created = Device::new(messages, heap.clone(), &desc)?;
    let aborts: Option<&PhysicalDeviceShaderAbortFeaturesKHR> = call.find(info.p_next);
    if aborts.is_some_and(|aborts| aborts.shader_abort != vk::FALSE) {
        let area = Allocation::new(&heap, ABORT_AREA_BYTES).map_err(|_| Error::OutOfDeviceMemory)?;
        created.gpu().set_abort_area(&area);
    }
    if created.gpu().counters().is_some() {
        report_at_exit();
    }
    let queues = created.queues().to_vec();
    let report: Option<&vk::PhysicalDeviceAddressBindingReportFeaturesEXT<'_>> = call.find(info.p_next);
    let reports_addresses = report.is_some_and(|report| report.report_address_binding != 0);
    let robust: Option<&vk::PhysicalDeviceRobustness2FeaturesEXT<'_>> = call.find(info.p_next);
    let exact_vertices = robust.is_some_and(|robust| robust.robust_buffer_access2 != 0);
    let clamp: Option<&vk::PhysicalDeviceDepthClampZeroOneFeaturesEXT<'_>> = call.find(info.p_next);
    let is_unrestricted = extensions.iter().any(|name| name == "VK_EXT_depth_range_unrestricted");
    let depth_limits = match clamp.is_some_and(|clamp| clamp.depth_clamp_zero_one != 0) {
        true if is_unrestricted => DepthLimits::Format,
        true => DepthLimits::ZeroOne,
        false => DepthLimits::Viewport,
    };
    let object = DeviceObject::new(created, physical, extensions);
    let cache: Option<&DevicePipelineBinaryInternalCacheControlKHR> = call.find(info.p_next);
    let programs = Programs::new(cache.is_some_and(|cache| cache.disable_internal_cache != 0));
    let placed_maps = PlacedMaps::new(call, info.p_next);
    let object =
        DeviceObject { exact_vertices, depth_limits, reports_addresses, memory_reports, placed_maps, ..object };
    let object = DeviceObject { programs, protects: protection::is_enabled(call, info.p_next), ..object };
    let instance = physical.instance;
    let handle = object.into_handle(instance);
    let object = |queue: Arc<queue::Queue>| DeviceQueue {
        family: queue.family,
        flags: queue.flags,
        handle: QueueObject { device: handle, queue }.into_handle(instance),
    };
    let queues = queues.into_iter().map(object).collect();
    // No other thread has access to the device yet.
    let _ = device(call, vk::Device::from_raw(handle))?.queues.set(queues);
    Ok(out.put(handle))
}

/// Registers a handler that writes the counters of live devices when the process ends, or when
/// this library is unloaded.
fn report_at_exit() {
    extern "C" fn leave() {
        // SAFETY: the closure uses no pointer of the application.
        unsafe {
            answer("end of the process", (), |_| {
                report::leave_all();
                Ok(())
            });
        }
    }
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: no panic leaves the handler. If this is a shared library, the C library calls
        // the handler before it unloads the library.
        let failed = unsafe { libc::atexit(leave) } != 0;
        if failed {
            log::warn!(
                "VITRIC_COUNTERS: atexit failed: destroy every device, because devices that live until the process ends \
                 leave no counters"
            );
        }
    });
}

/// Returns the requested queues.
fn requested_queues(call: Call<'_>, info: &vk::DeviceCreateInfo<'_>) -> Result<Vec<QueueRequest>> {
    let infos = call.slice(info.p_queue_create_infos, info.queue_create_info_count);
    let synchronized: Option<&PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR> = call.find(info.p_next);
    let mut allowed = 0;
    if synchronized.is_some_and(|feature| feature.internally_synchronized_queues != 0) {
        allowed |= sys::DeviceQueueCreateFlags::INTERNALLY_SYNCHRONIZED_KHR.bits();
    }
    if protection::is_enabled(call, info.p_next) {
        allowed |= vk::DeviceQueueCreateFlags::PROTECTED.as_raw();
    }
    let wanted = |info: &vk::DeviceQueueCreateInfo<'_>| {
        if info.flags.as_raw() & !allowed != 0 {
            return Err(Error::FeatureNotPresent);
        }
        let beside: Option<&vk::DeviceQueueGlobalPriorityCreateInfoKHR<'_>> = call.find(info.p_next);
        beside.map_or(Ok(()), |beside| check_global_priority(beside.global_priority))?;
        let priorities = call.slice(info.p_queue_priorities, info.queue_count).to_vec();
        Ok(QueueRequest { family: info.queue_family_index, flags: info.flags, priorities })
    };
    infos.iter().map(wanted).collect()
}

/// Returns the enabled features of Vulkan 1.0, or an error if an enabled feature is not supported.
fn enabled_features(
    call: Call<'_>,
    messages: &Messages,
    info: &vk::DeviceCreateInfo<'_>,
) -> Result<vk::PhysicalDeviceFeatures> {
    let mut checker = Checker { call, messages, next: info.p_next, result: Ok(()) };
    structures::features(&mut checker);
    checker.result?;
    check_rates(call, messages, info);
    let chained = call.find::<vk::PhysicalDeviceFeatures2<'_>>(info.p_next).map(|features| features.features);
    Ok(chained.or_else(|| call.get(info.p_enabled_features).copied()).unwrap_or_default())
}

/// Sends a warning if shading rates and density maps are enabled together, which the specification
/// forbids.
fn check_rates(call: Call<'_>, messages: &Messages, info: &vk::DeviceCreateInfo<'_>) {
    let rates: Option<&vk::PhysicalDeviceFragmentShadingRateFeaturesKHR<'_>> = call.find(info.p_next);
    let maps: Option<&vk::PhysicalDeviceFragmentDensityMapFeaturesEXT<'_>> = call.find(info.p_next);
    let has_rates = rates.is_some_and(|rates| {
        let sources = rates.pipeline_fragment_shading_rate | rates.primitive_fragment_shading_rate;
        (sources | rates.attachment_fragment_shading_rate) != vk::FALSE
    });
    if has_rates && maps.is_some_and(|maps| maps.fragment_density_map != vk::FALSE) {
        messages.warn("fragmentDensityMap is enabled together with fragment shading rates: enable only one of them");
    }
}

/// Compares the features in an application's chain with the supported ones.
struct Checker<'a> {
    call: Call<'a>,
    messages: &'a Messages,
    next: *const c_void,
    result: Result<()>,
}

impl Structures for Checker<'_> {
    fn put<T: TaggedStructure + Debug>(&mut self, supported: T) {
        if let Some(wanted) = self.call.find::<T>(self.next) {
            self.result = self.result.and(check_features(self.messages, wanted, &supported));
        }
    }
}

#[entry(vkDestroyDevice)]
fn destroy_device(call: Call<'_>, handle: vk::Device, _: *const vk::AllocationCallbacks<'_>) {
    let Some(object) = DeviceObject::from_handle(call, handle) else { return };
    // A forked process must not use the objects, because threads that do not exist here may have
    // been using them.
    let ending = if object.device.health().is_forked() { Ending::Forget } else { Ending::Drop };
    if ending == Ending::Drop {
        object.device.close();
        for pool in object.command_pools.all() {
            // SAFETY: this call keeps no reference to the objects, and by valid usage no other
            // call uses them.
            pool.take().for_each(|buffer| unsafe { CommandObject::destroy(call, buffer) });
        }
    }
    for &DeviceQueue { handle: queue, .. } in object.queues() {
        // SAFETY: this call keeps no reference to the object, and by valid usage no other call
        // uses it.
        unsafe { QueueObject::end(call, vk::Queue::from_raw(queue), ending) };
    }
    let word = slots::loader_word::<DeviceObject, _>(call, handle);
    // SAFETY: this call does not use the object from here on, and by valid usage no other call
    // uses it.
    unsafe { DeviceObject::end(call, handle, ending) };
    slots::redirect_dead::<DeviceObject>(word);
    slots::redirect_dead::<QueueObject>(word);
    slots::redirect_dead::<CommandObject>(word);
    if ending == Ending::Drop {
        process::give_memory_back();
    }
}

#[entry(vkGetDeviceQueue)]
fn get_device_queue(call: Call<'_>, handle: vk::Device, family: u32, index: u32, mut out: Out<'_, vk::Queue>) {
    let info = vk::DeviceQueueInfo2::default().queue_family_index(family).queue_index(index);
    out.write(find_queue(call, handle, &info));
}

/// Returns a queue, or null if there is none with this index, family and flags.
fn find_queue(call: Call<'_>, handle: vk::Device, info: &vk::DeviceQueueInfo2<'_>) -> vk::Queue {
    let queues = DeviceObject::from_handle(call, handle).map_or(&[][..], |object| object.queues());
    let is_named = |queue: &&DeviceQueue| (queue.family, queue.flags) == (info.queue_family_index, info.flags);
    let found = queues.iter().filter(is_named).nth(info.queue_index as usize);
    vk::Queue::from_raw(found.map_or(0, |queue| queue.handle))
}

#[entry(vkGetDeviceQueue2)]
fn get_device_queue2(
    call: Call<'_>,
    handle: vk::Device,
    info: Option<&vk::DeviceQueueInfo2<'_>>,
    mut out: Out<'_, vk::Queue>,
) {
    out.write(info.map_or(vk::Queue::null(), |info| find_queue(call, handle, info)));
}

#[entry(vkDeviceWaitIdle)]
fn device_wait_idle(object: &DeviceObject) -> Result<vk::Result> {
    object.device.wait_idle().map(|()| vk::Result::SUCCESS)
}

#[entry(vkQueueWaitIdle)]
fn queue_wait_idle(queue: Queue<'_>) -> Result<vk::Result> {
    queue.queue.wait_idle().map(|()| vk::Result::SUCCESS)
}

#[entry(vkQueueSubmit)]
fn queue_submit(
    call: Call<'_>,
    queue: Queue<'_>,
    #[len] count: u32,
    submits: Array<'_, vk::SubmitInfo<'_>>,
    fence: vk::Fence,
) -> Result<vk::Result> {
    submit(queue, submits, fence, |info| batch(call, queue, info))
}

#[entry(vkQueueSubmit2)]
fn queue_submit2(
    call: Call<'_>,
    queue: Queue<'_>,
    #[len] count: u32,
    submits: Array<'_, vk::SubmitInfo2<'_>>,
    fence: vk::Fence,
) -> Result<vk::Result> {
    submit(queue, submits, fence, |info| batch2(call, queue, info))
}

/// Submits batches, which `batch` creates from the descriptions.
fn submit<I>(
    to: Queue<'_>,
    submits: Array<'_, I>,
    fence: vk::Fence,
    batch: impl Fn(&I) -> Result<Batch>,
) -> Result<vk::Result> {
    let owner = to.device;
    let submits = check::array(owner, "pSubmits", submits)?;
    let fence = match fence.is_null() {
        true => None,
        false => Some(need(owner, &owner.fences, fence)?.payload()),
    };
    let batches = submits.iter().map(batch).collect::<Result<Vec<Batch>>>()?;
    to.queue.submit(batches, fence).map(|()| vk::Result::SUCCESS)
}

/// Creates a batch from a `VkSubmitInfo`.
fn batch(call: Call<'_>, to: Queue<'_>, submit: &vk::SubmitInfo<'_>) -> Result<Batch> {
    let owner = to.device;
    let timelines: Option<&vk::TimelineSemaphoreSubmitInfo<'_>> = call.find(submit.p_next);
    let (waits, signals) = timelines.map_or((&[][..], &[][..]), |timelines| {
        let waits = call.slice(timelines.p_wait_semaphore_values, timelines.wait_semaphore_value_count);
        (waits, call.slice(timelines.p_signal_semaphore_values, timelines.signal_semaphore_value_count))
    });
    fn pairs(all: &[vk::Semaphore], values: &[u64]) -> impl Iterator<Item = (vk::Semaphore, u64)> {
        let value = |number: usize| values.get(number).copied().unwrap_or(0);
        all.iter().enumerate().map(move |(number, &semaphore)| (semaphore, value(number)))
    }
    let waited = call.array(submit.p_wait_semaphores, submit.wait_semaphore_count);
    let waits = pairs(check::array(owner, "pWaitSemaphores", waited)?, waits);
    let signaled = call.array(submit.p_signal_semaphores, submit.signal_semaphore_count);
    let signals = pairs(check::array(owner, "pSignalSemaphores", signaled)?, signals);
    let waits = semaphores(owner, waits, Semaphore::take_payload)?;
    let signals = semaphores(owner, signals, Semaphore::payload)?;
    let buffers = call.array(submit.p_command_buffers, submit.command_buffer_count);
    let buffers = check::array(owner, "pCommandBuffers", buffers)?;
    let protected: Option<&vk::ProtectedSubmitInfo<'_>> = call.find(submit.p_next);
    let is_protected = protected.is_some_and(|protected| protected.protected_submit != 0);
    Ok(Batch { waits, signals, ..with_buffers(call, to, buffers.iter().copied(), is_protected)? })
}

/// Creates a batch from a `VkSubmitInfo2`.
fn batch2(call: Call<'_>, to: Queue<'_>, submit: &vk::SubmitInfo2<'_>) -> Result<Batch> {
    let owner = to.device;
    fn pairs(infos: &[vk::SemaphoreSubmitInfo<'_>]) -> impl Iterator<Item = (vk::Semaphore, u64)> {
        infos.iter().map(|info| (info.semaphore, info.value))
    }
    let waits = call.array(submit.p_wait_semaphore_infos, submit.wait_semaphore_info_count);
    let waits = pairs(check::array(owner, "pWaitSemaphoreInfos", waits)?);
    let signals = call.array(submit.p_signal_semaphore_infos, submit.signal_semaphore_info_count);
    let signals = pairs(check::array(owner, "pSignalSemaphoreInfos", signals)?);
    let buffers = call.array(submit.p_command_buffer_infos, submit.command_buffer_info_count);
    let buffers = check::array(owner, "pCommandBufferInfos", buffers)?;
    let waits = semaphores(owner, waits, Semaphore::take_payload)?;
    let signals = semaphores(owner, signals, Semaphore::payload)?;
    let (buffers, is_protected) =
        (buffers.iter().map(|info| info.command_buffer), submit.flags.contains(vk::SubmitFlags::PROTECTED));
    Ok(Batch { waits, signals, ..with_buffers(call, to, buffers, is_protected)? })
}

/// Returns the payloads of semaphores with their wait or signal values.
fn semaphores(
    owner: &DeviceObject,
    pairs: impl Iterator<Item = (vk::Semaphore, u64)>,
    payload: impl Fn(&Semaphore) -> Arc<Payload>,
) -> Result<Vec<(Arc<Payload>, u64)>> {
    pairs.map(|(semaphore, value)| Ok((payload(&*need(owner, &owner.semaphores, semaphore)?), value))).collect()
}

/// Creates a batch of command buffers, which must be allocated for the family of `to`, and must all
/// be protected or not protected like the batch.
fn with_buffers(
    call: Call<'_>,
    to: Queue<'_>,
    buffers: impl Iterator<Item = vk::CommandBuffer>,
    is_protected: bool,
) -> Result<Batch> {
    let messages = to.device.messages();
    if is_protected && !to.queue.flags.contains(vk::DeviceQueueCreateFlags::PROTECTED) {
        messages.error("a protected batch on a queue that is not: expected a queue that is created as protected");
        return Err(Error::Unknown);
    }
    let mut batch = Batch::default();
    for buffer in buffers {
        let found = to.device.command_buffer(call, buffer, to.queue.family)?;
        if found.protection.is_protected() != is_protected {
            let name = to.device.describe(buffer);
            messages.error(&format!(
                "{name} is in a batch whose protection is {is_protected}: expected protected command buffers in \
                 protected batches only, and no others there"
            ));
            return Err(Error::Unknown);
        }
        let (list, pending) = to.device.report_unless_executable(buffer, found.submit())?;
        batch.lists.push(list);
        batch.pending.push(pending);
    }
    Ok(batch)
}

#[entry(vkQueueBindSparse)]
fn queue_bind_sparse(_: vk::Queue, _: u32, _: *const vk::BindSparseInfo<'_>, _: vk::Fence) -> vk::Result {
    // The queue family does not offer sparse binding.
    Error::FeatureNotPresent.code()
}

/// Writes the reason for a device loss, without addresses and binaries.
#[entry(vkGetDeviceFaultInfoEXT)]
fn get_device_fault_info(
    object: &DeviceObject,
    mut counts: Out<'_, vk::DeviceFaultCountsEXT<'_>>,
    out: Option<Out<'_, vk::DeviceFaultInfoEXT<'_>>>,
) -> Result<vk::Result> {
    (counts.address_info_count, counts.vendor_info_count, counts.vendor_binary_size) = (0, 0, 0);
    if let Some(mut out) = out {
        put_name(&mut out.description, &object.device.health().why());
    }
    Ok(vk::Result::SUCCESS)
}

/// Reports the fault that lost a device to one caller.
#[entry(vkGetDeviceFaultReportsKHR)]
fn get_device_fault_reports(
    object: &DeviceObject,
    timeout: u64,
    #[len] count: *mut u32,
    out: Listing<'_, DeviceFaultInfoKHR>,
) -> Result<vk::Result> {
    let health = object.device.health();
    let (mut listing, mut listed) = (Some(out), Ok(vk::Result::TIMEOUT));
    health.report_fault(Duration::from_nanos(timeout), |fault| {
        let mut is_written = false;
        let write = |out: &mut DeviceFaultInfoKHR, fault: &Fault| {
            out.flags = DEVICE_FAULT_FLAG_DEVICE_LOST_KHR;
            if fault.timed_out {
                out.flags |= DEVICE_FAULT_FLAG_WATCHDOG_TIMEOUT_KHR;
            }
            out.group_id = 1;
            put_name(&mut out.description, &fault.why);
            is_written = true;
        };
        listed = listing.take().map_or(Err(Error::Unknown), |out| out.put_with([fault].into_iter(), write));
        is_written
    });
    match listing {
        // No fault has occurred.
        Some(out) => out.put_with(std::iter::empty(), |_, ()| ()).map(|_| vk::Result::TIMEOUT),
        None => listed,
    }
}

/// Writes the message of a shader that aborted. There are no binaries.
#[entry(vkGetDeviceFaultDebugInfoKHR)]
fn get_device_fault_debug_info(
    call: Call<'_>,
    object: &DeviceObject,
    mut info: Out<'_, DeviceFaultDebugInfoKHR>,
) -> vk::Result {
    info.vendor_binary_size = 0;
    let Some(mut out) = call.find_output::<DeviceFaultShaderAbortMessageInfoKHR>(info.next) else {
        return vk::Result::SUCCESS;
    };
    // A message follows its size, at a multiple of 8 bytes.
    let message = object.device.health().abort_message();
    let pair = message.map_or_else(Vec::new, |message| [&(message.len() as u64).to_le_bytes()[..], &message].concat());
    if out.message_data.is_null() {
        out.message_data_size = pair.len() as u64;
        return vk::Result::SUCCESS;
    }
    let room = pair.len().min(usize::try_from(out.message_data_size).unwrap_or(usize::MAX));
    call.outputs(out.message_data.cast::<u8>(), room).copy_from_slice(&pair[..room]);
    out.message_data_size = room as u64;
    if room < pair.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}

/// Writes the features of a device's own memory, because a group has one device.
#[entry(vkGetDeviceGroupPeerMemoryFeatures)]
fn get_device_group_peer_memory_features(
    _: vk::Device,
    _: u32,
    _: u32,
    _: u32,
    mut out: Out<'_, vk::PeerMemoryFeatureFlags>,
) {
    use vk::PeerMemoryFeatureFlags as F;
    *out = F::COPY_SRC | F::COPY_DST | F::GENERIC_SRC | F::GENERIC_DST;
}
