//! Required limits, memory types, queue families and extensions of devices.

use std::ffi::CStr;

use ash::{khr, vk};

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};

/// `VK_GOOGLE_surfaceless_query`.
const SURFACELESS: &CStr = vk::GOOGLE_SURFACELESS_QUERY_NAME;

type Limit = (&'static str, fn(&vk::PhysicalDeviceLimits) -> bool);

/// Rows of the specification's table of required limits.
const LIMITS: &[Limit] = &[
    ("max_image_dimension_1d", |limits| limits.max_image_dimension1_d >= 4096),
    ("max_image_dimension_2d", |limits| limits.max_image_dimension2_d >= 4096),
    ("max_image_dimension_3d", |limits| limits.max_image_dimension3_d >= 256),
    ("max_image_dimension_cube", |limits| limits.max_image_dimension_cube >= 4096),
    ("max_image_array_layers", |limits| limits.max_image_array_layers >= 256),
    ("max_texel_buffer_elements", |limits| limits.max_texel_buffer_elements >= 65536),
    ("max_uniform_buffer_range", |limits| limits.max_uniform_buffer_range >= 16384),
    ("max_storage_buffer_range", |limits| limits.max_storage_buffer_range >= 1 << 27),
    ("max_push_constants_size", |limits| limits.max_push_constants_size >= 128),
    ("max_memory_allocation_count", |limits| limits.max_memory_allocation_count >= 4096),
    ("max_sampler_allocation_count", |limits| limits.max_sampler_allocation_count >= 4000),
    ("max_bound_descriptor_sets", |limits| limits.max_bound_descriptor_sets >= 4),
    ("max_vertex_input_attributes", |limits| limits.max_vertex_input_attributes >= 16),
    ("max_vertex_input_bindings", |limits| limits.max_vertex_input_bindings >= 16),
    ("max_vertex_output_components", |limits| limits.max_vertex_output_components >= 64),
    ("max_fragment_input_components", |limits| limits.max_fragment_input_components >= 64),
    ("max_fragment_output_attachments", |limits| limits.max_fragment_output_attachments >= 4),
    ("max_compute_shared_memory_size", |limits| limits.max_compute_shared_memory_size >= 16384),
    ("max_compute_work_group_invocations", |limits| limits.max_compute_work_group_invocations >= 128),
    ("sub_pixel_precision_bits", |limits| limits.sub_pixel_precision_bits >= 4),
    ("sub_texel_precision_bits", |limits| limits.sub_texel_precision_bits >= 4),
    ("max_sampler_lod_bias", |limits| limits.max_sampler_lod_bias >= 2.0),
    ("min_memory_map_alignment", |limits| limits.min_memory_map_alignment >= 64),
    ("min_uniform_buffer_offset_alignment", |limits| limits.min_uniform_buffer_offset_alignment <= 256),
    ("max_color_attachments", |limits| limits.max_color_attachments >= 4),
    ("framebuffer_sample_counts", |limits| {
        limits.framebuffer_color_sample_counts.contains(vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4)
    }),
    ("non_coherent_atom_size", |limits| limits.non_coherent_atom_size.is_power_of_two()),
];

case!("devices.features.robustness", "Feature Requirements", |gpu| {
    check(gpu.features.robust_buffer_access != 0, || "robustBufferAccess is required".into())
});

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for &(name, holds) in LIMITS {
        let run = move |gpu: &Gpu| check(holds(&gpu.properties.limits), || format!("{name} is under what is required"));
        cases.push(Entry::new(format!("devices.limits.{name}"), "Required Limits", run));
    }
}

case!("devices.extensions.promoted", "Extension Dependencies", promoted);

/// Checks extensions that were promoted without a change but for their names: where the newer one
/// is supported, so is the older one, and a device can be created with either alone.
fn promoted(gpu: &Gpu) -> Case {
    const PAIRS: [[&CStr; 2]; 8] = [
        [vk::KHR_INDEX_TYPE_UINT8_NAME, vk::EXT_INDEX_TYPE_UINT8_NAME],
        [vk::KHR_LINE_RASTERIZATION_NAME, vk::EXT_LINE_RASTERIZATION_NAME],
        [vk::KHR_VERTEX_ATTRIBUTE_DIVISOR_NAME, vk::EXT_VERTEX_ATTRIBUTE_DIVISOR_NAME],
        [vk::KHR_LOAD_STORE_OP_NONE_NAME, vk::EXT_LOAD_STORE_OP_NONE_NAME],
        [vk::KHR_GLOBAL_PRIORITY_NAME, vk::EXT_GLOBAL_PRIORITY_NAME],
        [vk::KHR_CALIBRATED_TIMESTAMPS_NAME, vk::EXT_CALIBRATED_TIMESTAMPS_NAME],
        [c"VK_KHR_robustness2", vk::EXT_ROBUSTNESS2_NAME],
        [c"VK_KHR_depth_clamp_zero_one", vk::EXT_DEPTH_CLAMP_ZERO_ONE_NAME],
    ];
    // SAFETY: the physical device is valid.
    let known = unsafe { gpu.instance.enumerate_device_extension_properties(gpu.physical)? };
    let has = |name: &CStr| known.iter().any(|known| known.extension_name_as_c_str() == Ok(name));
    for [newer, older] in PAIRS.iter().filter(|[newer, _]| has(newer)) {
        check(has(older), || format!("{newer:?} without {older:?}"))?;
        for name in [newer, older] {
            let (queues, names) = ([vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])], [name.as_ptr()]);
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            // SAFETY: the info is valid; the device is destroyed once.
            let made = unsafe { gpu.instance.create_device(gpu.physical, &info, None) };
            // SAFETY: the device is destroyed once, and nothing of it is used.
            let made = made.map(|device| unsafe { device.destroy_device(None) });
            check(made.is_ok(), || format!("a device with {name:?}: {made:?}"))?;
        }
    }
    Ok(())
}

case!("devices.surfaces.none", "Querying for WSI Support", no_surface);

/// Checks that capabilities of all surfaces can be queried without a surface
/// (`VK_GOOGLE_surfaceless_query`).
fn no_surface(gpu: &Gpu) -> Case {
    const NAMES: [&CStr; 3] = [khr::surface::NAME, khr::get_surface_capabilities2::NAME, SURFACELESS];
    // SAFETY: there is no layer of no name.
    let known = unsafe { gpu.entry.enumerate_instance_extension_properties(None)? };
    let has = |name: &&CStr| known.iter().any(|known| known.extension_name_as_c_str() == Ok(*name));
    if let Some(missing) = NAMES.iter().find(|name| !has(name)) {
        return Err(Outcome::NotSupported(missing.to_string_lossy().into_owned()));
    }
    let names = NAMES.map(CStr::as_ptr);
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    // SAFETY: valid usage; the instance is destroyed once, after its last use.
    unsafe {
        let made = gpu.entry.create_instance(&info, None)?;
        let surfaces = khr::surface::Instance::new(&gpu.entry, &made);
        let second = khr::get_surface_capabilities2::Instance::new(&gpu.entry, &made);
        let found = made.enumerate_physical_devices().and_then(|devices| {
            let none = vk::PhysicalDeviceSurfaceInfo2KHR::default();
            let mut capabilities = vk::SurfaceCapabilities2KHR::default();
            second.get_physical_device_surface_capabilities2(devices[0], &none, &mut capabilities)?;
            let formats = surfaces.get_physical_device_surface_formats(devices[0], none.surface)?;
            let modes = surfaces.get_physical_device_surface_present_modes(devices[0], none.surface)?;
            Ok((capabilities.surface_capabilities, formats, modes))
        });
        made.destroy_instance(None);
        let (all, formats, modes) = found?;
        check(!formats.is_empty() && modes == [vk::PresentModeKHR::FIFO], || format!("{formats:?}, {modes:?}"))?;
        let numbers = [all.min_image_count, all.max_image_count, all.current_extent.width, all.current_extent.height];
        let is_told = all.current_transform == vk::SurfaceTransformFlagsKHR::INHERIT && numbers == [u32::MAX; 4];
        check(is_told && all.supported_usage_flags.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT), || {
            format!("{all:?}")
        })
    }
}

case!("devices.memory.types", "Device Memory Properties", memory_types);

fn memory_types(gpu: &Gpu) -> Case {
    // SAFETY: the physical device is valid.
    let memory = unsafe { gpu.instance.get_physical_device_memory_properties(gpu.physical) };
    let types = &memory.memory_types[..memory.memory_type_count as usize];
    let has = |flags| types.iter().any(|kind| kind.property_flags.contains(flags));
    let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    check(has(coherent) && has(vk::MemoryPropertyFlags::DEVICE_LOCAL), || "a required memory type is missing".into())?;
    check(types.iter().all(|kind| kind.heap_index < memory.memory_heap_count), || "a heap is missing".into())
}

case!("devices.memory.out_of_memory", "Device Memory Allocation", out_of_memory);

fn out_of_memory(gpu: &Gpu) -> Case {
    let needs = vk::MemoryRequirements { size: 1 << 50, alignment: 1, memory_type_bits: u32::MAX };
    match gpu.allocate(needs, false) {
        Err(Outcome::Fail(message)) if message.contains("MEMORY") => Ok(()),
        other => Err(Outcome::Fail(format!("a petabyte gave {:?}", other.is_ok()))),
    }
}

case!("devices.memory.map2", "VK_KHR_map_memory2", map2);

/// Maps memory twice, one mapping after the other, by the structures of `VK_KHR_map_memory2`.
fn map2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAP_MEMORY2_NAME)?;
    let extension = ash::khr::map_memory2::Device::new(&gpu.instance, &gpu.device);
    let needs = vk::MemoryRequirements { size: 4096, alignment: 1, memory_type_bits: u32::MAX };
    let memory = gpu.allocate(needs, true)?;
    let info = vk::MemoryMapInfoKHR::default().memory(memory);
    let unmap = vk::MemoryUnmapInfoKHR::default().memory(memory);
    let bytes: Vec<u8> = (0..=255).collect();
    let map = |info: vk::MemoryMapInfoKHR<'_>| {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the memory is not mapped; the range lies in it.
        unsafe { (extension.fp().map_memory2_khr)(gpu.device.handle(), &raw const info, &raw mut pointer) }.result()?;
        Ok::<_, Outcome>(pointer.cast::<u8>())
    };
    // SAFETY: the memory is mapped.
    let unmap = || unsafe { (extension.fp().unmap_memory2_khr)(gpu.device.handle(), &raw const unmap) }.result();
    let whole = map(info.size(vk::WHOLE_SIZE))?;
    // SAFETY: the memory is mapped, and large enough.
    unsafe { whole.add(512).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    unmap()?;
    let part = map(info.offset(512).size(256))?;
    // SAFETY: so many bytes are mapped, and nobody writes them.
    let found = unsafe { std::slice::from_raw_parts(part, 256) }.to_vec();
    unmap()?;
    // SAFETY: nothing is bound to the memory.
    unsafe { gpu.device.free_memory(memory, None) };
    check(found == bytes, || format!("{found:?}"))
}

case!("devices.memory.alignment", "Resource Memory Association", alignment);

fn alignment(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(1000)?;
    // SAFETY: the buffer is valid.
    let needs = unsafe { gpu.device.get_buffer_memory_requirements(buffer.handle) };
    let good = needs.size >= 1000 && needs.alignment.is_power_of_two() && needs.memory_type_bits != 0;
    check(good, || format!("{needs:?}"))
}

case!("devices.queues.family", "Physical Device Enumeration", queue_family);

fn queue_family(gpu: &Gpu) -> Case {
    // SAFETY: the physical device is valid.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let both = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    check(families.iter().any(|family| family.queue_flags.contains(both)), || "no family does both".into())
}
