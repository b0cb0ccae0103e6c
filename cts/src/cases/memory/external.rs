//! External memory, addresses for capture and replay, and memory budgets.

use std::os::fd::RawFd;

use ash::vk::{ExternalMemoryFeatureFlags as F, ExternalMemoryHandleTypeFlags as T};
use ash::{ext, khr, vk};

use crate::harness::{Case, Gpu, Image, Outcome, check, range};

fn query(gpu: &Gpu) -> khr::get_physical_device_properties2::Instance {
    khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance)
}

case!("memory.budget.use", "VK_EXT_memory_budget", budget);

/// Checks that allocations count as used memory, and that no heap's budget is larger than the
/// heap.
fn budget(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_MEMORY_BUDGET_NAME)?;
    let look = |gpu: &Gpu| {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut memory = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the structures live as long as the call.
        unsafe { query(gpu).get_physical_device_memory_properties2(gpu.physical, &mut memory) };
        (memory.memory_properties, budget.heap_budget, budget.heap_usage)
    };
    let (_, _, before) = look(gpu);
    let size = 3 << 20;
    gpu.allocate(vk::MemoryRequirements { size, alignment: 1, memory_type_bits: u32::MAX }, true)?;
    let (memory, budgets, after) = look(gpu);
    // The values are those of the process, through every instance.
    let (_, _, elsewhere) = look(&Gpu::new(gpu.entry.clone())?);
    let count = memory.memory_heap_count as usize;
    for (heap, budget) in memory.memory_heaps[..count].iter().zip(budgets) {
        check(budget > 0 && budget <= heap.size, || format!("a budget of {budget} in {heap:?}"))?;
    }
    let [before, after, elsewhere] = [before, after, elsewhere].map(|usage| usage[..count].iter().sum::<u64>());
    check(after >= before + size, || format!("{before} bytes are used, then {after}"))?;
    check(elsewhere >= after, || format!("{after} bytes are used, {elsewhere} for another instance"))?;
    check(budgets[count..].iter().all(|&budget| budget == 0), || format!("{budgets:?}"))
}

/// A buffer and its memory, with the buffer's address and the opaque capture addresses of memory
/// and buffer.
type Captured = (vk::Buffer, vk::DeviceMemory, [u64; 3]);

fn captured(gpu: &Gpu, asked: [u64; 2]) -> Result<Captured, vk::Result> {
    let second = khr::buffer_device_address::Device::new(&gpu.instance, &gpu.device);
    let mut of_buffer = vk::BufferOpaqueCaptureAddressCreateInfo::default().opaque_capture_address(asked[1]);
    let mut of_memory = vk::MemoryOpaqueCaptureAddressAllocateInfo::default().opaque_capture_address(asked[0]);
    let mut flags = vk::MemoryAllocateFlagsInfo::default()
        .flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS | vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY);
    let info = vk::BufferCreateInfo::default()
        .size(4096)
        .flags(vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY)
        .usage(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
        .push_next(&mut of_buffer);
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        let needs = gpu.device.get_buffer_memory_requirements(buffer);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size + 256)
            .memory_type_index(needs.memory_type_bits.trailing_zeros())
            .push_next(&mut flags)
            .push_next(&mut of_memory);
        let memory = gpu.device.allocate_memory(&info, None)?;
        gpu.device.bind_buffer_memory(buffer, memory, 256)?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let of_memory = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(memory);
        let addresses = [
            second.get_buffer_device_address(&info),
            second.get_device_memory_opaque_capture_address(&of_memory),
            second.get_buffer_opaque_capture_address(&info),
        ];
        Ok((buffer, memory, addresses))
    }
}

case!("memory.capture.replay", "vkGetDeviceMemoryOpaqueCaptureAddress", replay);

/// Checks that another device gives the same addresses on request, also in another order, and none
/// twice.
fn replay(gpu: &Gpu) -> Case {
    if gpu.extension_features.addresses.buffer_device_address_capture_replay == 0 {
        return Err(Outcome::NotSupported("addresses that are captured".into()));
    }
    let (first, second) = (captured(gpu, [0; 2])?, captured(gpu, [0; 2])?);
    check(first.2[0] != 0 && first.2[0] != second.2[0], || format!("{first:x?}, {second:x?}"))?;
    let other = gpu.with_queues(&[(0, &[1.0])])?;
    for (_, _, addresses) in [second, first] {
        let again = captured(&other[0], [addresses[1], addresses[2]])?;
        check(again.2 == addresses, || format!("{:x?}, not {addresses:x?}", again.2))?;
    }
    let taken = captured(&other[0], [first.2[1], first.2[2]]);
    check(taken.err() == Some(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS), || format!("{taken:x?}"))?;
    // SAFETY: both are in no use.
    unsafe {
        gpu.device.destroy_buffer(first.0, None);
        gpu.device.free_memory(first.1, None);
    }
    let again = captured(gpu, [first.2[1], first.2[2]])?;
    check(again.2 == first.2, || format!("{:x?}, not {:x?}", again.2, first.2))
}

/// Returns the properties of a handle type for memory of buffers.
fn of_buffers(gpu: &Gpu, kind: T) -> vk::ExternalMemoryProperties {
    let queries = khr::external_memory_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let info =
        vk::PhysicalDeviceExternalBufferInfo::default().usage(vk::BufferUsageFlags::TRANSFER_DST).handle_type(kind);
    let mut found = vk::ExternalBufferProperties::default();
    // SAFETY: the structures live as long as the call.
    unsafe { (queries.fp().get_physical_device_external_buffer_properties_khr)(gpu.physical, &info, &mut found) };
    found.external_memory_properties
}

fn is_consistent(kind: T, found: vk::ExternalMemoryProperties) -> bool {
    let features = found.external_memory_features;
    let exports = features.contains(F::EXPORTABLE);
    let imports = features.contains(F::IMPORTABLE);
    let from_imported = found.export_from_imported_handle_types;
    (!exports && !imports || found.compatible_handle_types.contains(kind))
        && (from_imported.is_empty() || (imports && found.compatible_handle_types.contains(from_imported)))
}

case!("external.memory.properties", "vkGetPhysicalDeviceExternalBufferProperties", properties);

fn properties(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_EXTERNAL_MEMORY_NAME)?;
    for bit in 0..16 {
        let kind = T::from_raw(1 << bit);
        let found = of_buffers(gpu, kind);
        check(is_consistent(kind, found), || format!("{kind:?}: {found:?}"))?;
    }
    let both = |kind| of_buffers(gpu, kind).external_memory_features.contains(F::EXPORTABLE | F::IMPORTABLE);
    let opaque = !gpu.has(vk::KHR_EXTERNAL_MEMORY_FD_NAME) || both(T::OPAQUE_FD);
    check(opaque, || "opaque descriptors of memory are no use".into())
}

case!("external.memory.images", "VkPhysicalDeviceExternalImageFormatInfo", image_properties);

fn image_properties(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_EXTERNAL_MEMORY_NAME)?;
    for bit in 0..16 {
        let kind = T::from_raw(1 << bit);
        let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(kind);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(vk::ImageUsageFlags::SAMPLED)
            .push_next(&mut external);
        let mut found = vk::ExternalImageFormatProperties::default();
        let mut out = vk::ImageFormatProperties2::default().push_next(&mut found);
        // SAFETY: the structures live as long as the call.
        let result = unsafe { query(gpu).get_physical_device_image_format_properties2(gpu.physical, &info, &mut out) };
        let found = found.external_memory_properties;
        match result {
            Ok(()) => {
                let works = is_consistent(kind, found) && !found.external_memory_features.is_empty();
                check(works, || format!("{kind:?}: {found:?}"))?;
            }
            Err(code) => check(code == vk::Result::ERROR_FORMAT_NOT_SUPPORTED, || format!("{kind:?}: {code:?}"))?,
        }
    }
    Ok(())
}

case!("external.memory.devices", "VK_KHR_external_memory_fd", devices);

/// Shares memory between devices, also after the first is destroyed.
fn devices(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_EXTERNAL_MEMORY_FD_NAME)?;
    let other = gpu.with_queues(&[(0, &[1.0])])?.remove(0);
    let make = |gpu: &Gpu, import: Option<RawFd>| -> Result<(vk::Buffer, vk::DeviceMemory), Outcome> {
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(T::OPAQUE_FD);
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(1 << 16).usage(usage).push_next(&mut external);
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(T::OPAQUE_FD);
        let mut from = vk::ImportMemoryFdInfoKHR::default().handle_type(T::OPAQUE_FD).fd(import.unwrap_or(-1));
        // SAFETY: infos are valid, and handles alive.
        unsafe {
            let buffer = gpu.device.create_buffer(&info, None)?;
            let needs = gpu.device.get_buffer_memory_requirements(buffer);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(needs.memory_type_bits.trailing_zeros());
            let info = if import.is_some() { info.push_next(&mut from) } else { info.push_next(&mut export) };
            let memory = gpu.device.allocate_memory(&info, None)?;
            gpu.device.bind_buffer_memory(buffer, memory, 0)?;
            Ok((buffer, memory))
        }
    };
    let (buffer, memory) = make(&other, None)?;
    // SAFETY: the memory was made to be exported; the command buffer is recording.
    let descriptor = unsafe {
        other.run(|commands| other.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0x0102_0304))?;
        let exports = khr::external_memory_fd::Device::new(&other.instance, &other.device);
        let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(T::OPAQUE_FD);
        let descriptor = exports.get_memory_fd(&info)?;
        other.device.destroy_buffer(buffer, None);
        other.device.free_memory(memory, None);
        descriptor
    };
    let (buffer, _) = make(gpu, Some(descriptor))?;
    let target = gpu.buffer(1 << 16)?;
    let region = vk::BufferCopy { size: 1 << 16, ..Default::default() };
    // SAFETY: the region lies in both buffers.
    gpu.run(|commands| unsafe { gpu.device.cmd_copy_buffer(commands, buffer, target.handle, &[region]) })?;
    check(target.words().iter().all(|&word| word == 0x0102_0304), || "other words".into())
}

/// Creates an image of 19x13 words in its own memory, which is either exported or imported.
fn external_image(gpu: &Gpu, import: Option<RawFd>) -> Result<(Image, vk::DeviceMemory), Outcome> {
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(T::OPAQUE_FD);
    let extent = vk::Extent3D { width: 19, height: 13, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)
        .push_next(&mut external);
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(T::OPAQUE_FD);
    let mut from = vk::ImportMemoryFdInfoKHR::default().handle_type(T::OPAQUE_FD).fd(import.unwrap_or(-1));
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(handle);
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(handle);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros())
            .push_next(&mut dedicated);
        let info = if import.is_some() { info.push_next(&mut from) } else { info.push_next(&mut export) };
        let memory = gpu.device.allocate_memory(&info, None)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        let aspects = vk::ImageAspectFlags::COLOR;
        Ok((Image { handle, view: vk::ImageView::null(), extent, aspects, levels: 1 }, memory))
    }
}

case!("external.memory.image", "VK_KHR_external_memory_fd", shared_image);

/// Reads an image on one device that another device wrote, in dedicated memory.
fn shared_image(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_EXTERNAL_MEMORY_FD_NAME)?;
    gpu.need(vk::KHR_DEDICATED_ALLOCATION_NAME)?;
    let other = gpu.with_queues(&[(0, &[1.0])])?.remove(0);
    let (image, memory) = external_image(&other, None)?;
    let words: Vec<u32> = (0..19 * 13).map(|word| word * 77).collect();
    let (aspect, layout) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    other.write_image(&image, aspect, bytemuck::cast_slice(&words), layout)?;
    let hand_over = |gpu: &Gpu, image: &Image, from, to| {
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(access)
            .dst_access_mask(access)
            .old_layout(layout)
            .new_layout(layout)
            .src_queue_family_index(from)
            .dst_queue_family_index(to)
            .image(image.handle)
            .subresource_range(range(aspect, 0, 1));
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer is recording, and everything named is alive.
        gpu.run(|commands| unsafe {
            let none = vk::DependencyFlags::empty();
            gpu.device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]);
        })
    };
    hand_over(&other, &image, 0, vk::QUEUE_FAMILY_EXTERNAL)?;
    let exports = khr::external_memory_fd::Device::new(&other.instance, &other.device);
    let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(T::OPAQUE_FD);
    // SAFETY: the memory was made to be exported.
    let descriptor = unsafe { exports.get_memory_fd(&info)? };
    let (image, _) = external_image(gpu, Some(descriptor))?;
    hand_over(gpu, &image, vk::QUEUE_FAMILY_EXTERNAL, 0)?;
    let read = gpu.read_image(&image, aspect, 4)?;
    check(read == bytemuck::cast_slice::<u32, u8>(&words), || "other texels".into())
}

case!("external.memory.host", "VK_EXT_external_memory_host", host);

/// Binds a buffer to memory of the application.
fn host(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_EXTERNAL_MEMORY_HOST_NAME)?;
    let mut limits = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    // SAFETY: the structures live as long as the call.
    unsafe { query(gpu).get_physical_device_properties2(gpu.physical, &mut properties) };
    let alignment = limits.min_imported_host_pointer_alignment as usize;
    check(alignment.is_power_of_two(), || format!("an alignment of {alignment}"))?;
    let words = vec![1u32; alignment / 2];
    let first = words.as_ptr().align_offset(alignment);
    let pointer = words[first..].as_ptr().cast_mut();
    let size = alignment as u64;
    let mut import =
        vk::ImportMemoryHostPointerInfoEXT::default().handle_type(T::HOST_ALLOCATION_EXT).host_pointer(pointer.cast());
    let queries = ext::external_memory_host::Device::new(&gpu.instance, &gpu.device);
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(T::HOST_ALLOCATION_EXT);
    let info =
        vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST).push_next(&mut external);
    // SAFETY: infos are valid, handles alive, and the words live longer than the memory.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        let needs = gpu.device.get_buffer_memory_requirements(buffer);
        let mut types = vk::MemoryHostPointerPropertiesEXT::default();
        let (device, kind) = (gpu.device.handle(), T::HOST_ALLOCATION_EXT);
        let query = queries.fp().get_memory_host_pointer_properties_ext;
        query(device, kind, pointer.cast(), &mut types).result()?;
        let bits = types.memory_type_bits & needs.memory_type_bits;
        check(bits != 0, || "no type of memory".into())?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(bits.trailing_zeros())
            .push_next(&mut import);
        let memory = gpu.device.allocate_memory(&info, None)?;
        gpu.device.bind_buffer_memory(buffer, memory, 0)?;
        gpu.run(|commands| gpu.device.cmd_fill_buffer(commands, buffer, 8, size - 16, 6))?;
        gpu.device.destroy_buffer(buffer, None);
        gpu.device.free_memory(memory, None);
    }
    let last = first + alignment / 4;
    let expected = |index: usize| if (first + 2..last - 2).contains(&index) { 6 } else { 1 };
    // SAFETY: the words are the vector's own; the device has written some of them through the
    // pointer.
    let good = (0..words.len()).all(|index| unsafe { words.as_ptr().add(index).read_volatile() } == expected(index));
    check(good, || "other words".into())
}

case!("external.semaphores.properties", "vkGetPhysicalDeviceExternalSemaphoreProperties", semaphores);

fn semaphores(gpu: &Gpu) -> Case {
    use vk::ExternalSemaphoreFeatureFlags as F;
    gpu.need(vk::KHR_EXTERNAL_SEMAPHORE_FD_NAME)?;
    let queries = khr::external_semaphore_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let kind = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;
    for ty in [vk::SemaphoreType::BINARY, vk::SemaphoreType::TIMELINE] {
        let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
        let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(kind).push_next(&mut ty);
        let mut found = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the structures live as long as the call.
        unsafe {
            (queries.fp().get_physical_device_external_semaphore_properties_khr)(gpu.physical, &info, &mut found)
        };
        let works = found.external_semaphore_features.contains(F::EXPORTABLE | F::IMPORTABLE);
        check(works && found.compatible_handle_types.contains(kind), || format!("{found:?}"))?;
    }
    Ok(())
}

case!("external.fences.properties", "vkGetPhysicalDeviceExternalFenceProperties", fences);

fn fences(gpu: &Gpu) -> Case {
    use vk::ExternalFenceFeatureFlags as F;
    gpu.need(vk::KHR_EXTERNAL_FENCE_FD_NAME)?;
    let queries = khr::external_fence_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let kind = vk::ExternalFenceHandleTypeFlags::OPAQUE_FD;
    let info = vk::PhysicalDeviceExternalFenceInfo::default().handle_type(kind);
    let mut found = vk::ExternalFenceProperties::default();
    // SAFETY: the structures live as long as the call.
    unsafe { (queries.fp().get_physical_device_external_fence_properties_khr)(gpu.physical, &info, &mut found) };
    let works = found.external_fence_features.contains(F::EXPORTABLE | F::IMPORTABLE);
    check(works && found.compatible_handle_types.contains(kind), || format!("{found:?}"))
}
