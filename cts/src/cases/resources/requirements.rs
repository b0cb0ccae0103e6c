//! Memory requirements of resources that are not created, and alignments of texel buffers.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, check};

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

case!("core13.device.requirements", "VK_KHR_maintenance4", requirements);

/// Checks that the requirements of resources that do not exist are those of created ones.
fn requirements(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE4_NAME)?;
    let second = khr::maintenance4::Device::new(&gpu.instance, &gpu.device);
    let buffer = vk::BufferCreateInfo::default().size(1234).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
    let image = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(RGBA)
        .extent(vk::Extent3D { width: 37, height: 21, depth: 1 })
        .mip_levels(3)
        .array_layers(2)
        .samples(ONE)
        .usage(vk::ImageUsageFlags::SAMPLED);
    let same = |a: vk::MemoryRequirements, b: vk::MemoryRequirements| {
        (a.size, a.alignment, a.memory_type_bits) == (b.size, b.alignment, b.memory_type_bits)
    };
    // SAFETY: valid infos.
    unsafe {
        let made = gpu.device.get_buffer_memory_requirements(gpu.device.create_buffer(&buffer, None)?);
        let mut asked = vk::MemoryRequirements2::default();
        let info = vk::DeviceBufferMemoryRequirements::default().create_info(&buffer);
        second.get_device_buffer_memory_requirements(&info, &mut asked);
        check(same(made, asked.memory_requirements), || format!("{made:?}, {asked:?}"))?;
        let made = gpu.device.get_image_memory_requirements(gpu.device.create_image(&image, None)?);
        let info = vk::DeviceImageMemoryRequirements::default().create_info(&image);
        second.get_device_image_memory_requirements(&info, &mut asked);
        check(same(made, asked.memory_requirements), || format!("{made:?}, {asked:?}"))?;
        let count = second.get_device_image_sparse_memory_requirements_len(&info);
        check(count == 0, || format!("{count} sparse requirements"))?;
        let mut own = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
        let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
        query.get_physical_device_properties2(gpu.physical, &mut all);
        check(own.max_buffer_size >= 1 << 30, || format!("{own:?}"))
    }
}

case!("core13.device.texel_alignment", "VK_EXT_texel_buffer_alignment", texel_alignment);

/// Checks that alignments are powers of two of at most 256.
fn texel_alignment(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_TEXEL_BUFFER_ALIGNMENT_NAME)?;
    let mut own = vk::PhysicalDeviceTexelBufferAlignmentProperties::default();
    gpu.properties2(&mut own);
    let both = [own.storage_texel_buffer_offset_alignment_bytes, own.uniform_texel_buffer_offset_alignment_bytes];
    check(both.iter().all(|bytes| bytes.is_power_of_two() && *bytes <= 256), || format!("{own:?}"))
}
