//! Subresource layouts, image views of remaining layers, and usage flags in 64 bits.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::conditions::need5;
use crate::harness::{Case, Gpu, check};

const PAIR: &[u8] = shader!("pair.comp");
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

case!("maintenance.five.layouts", "VK_KHR_maintenance5", subresource_layouts);

/// Checks that the predicted layout of an image is its actual layout.
fn subresource_layouts(gpu: &Gpu) -> Case {
    let commands = need5(gpu)?;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 37, height: 5, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::LINEAR)
        .usage(vk::ImageUsageFlags::TRANSFER_DST);
    let subresource = vk::ImageSubresource { aspect_mask: COLOR, mip_level: 0, array_layer: 0 };
    let part = vk::ImageSubresource2KHR::default().image_subresource(subresource);
    let (mut before, mut after) = (vk::SubresourceLayout2KHR::default(), vk::SubresourceLayout2KHR::default());
    // SAFETY: the structures are alive; the image is valid.
    let plain = unsafe {
        let asked = vk::DeviceImageSubresourceInfoKHR::default().create_info(&info).subresource(&part);
        commands.get_device_image_subresource_layout(&asked, &mut before);
        let image = gpu.device.create_image(&info, None)?;
        commands.get_image_subresource_layout2(image, &part, &mut after);
        gpu.device.get_image_subresource_layout(image, subresource)
    };
    let numbers = |layout: &vk::SubresourceLayout| (layout.offset, layout.size, layout.row_pitch);
    let all = [&before.subresource_layout, &after.subresource_layout, &plain].map(numbers);
    check(all[0] == all[1] && all[1] == all[2] && all[0].2 >= 37 * 4, || format!("{all:?}"))
}

case!("maintenance.five.remaining_layers", "VK_KHR_maintenance5", remaining_layers);

/// Copies all layers from a first one on by `VK_REMAINING_ARRAY_LAYERS`.
fn remaining_layers(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: 2, height: 2, depth: 1 })
        .mip_levels(1)
        .array_layers(5)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC);
    let (words, out) = (gpu.buffer_with(&(1..=20).collect::<Vec<u32>>())?, gpu.buffer(80)?);
    let part = |base_array_layer, layer_count| vk::ImageSubresourceLayers {
        aspect_mask: COLOR,
        mip_level: 0,
        base_array_layer,
        layer_count,
    };
    let image_extent = vk::Extent3D { width: 2, height: 2, depth: 1 };
    let copy = |image_subresource| vk::BufferImageCopy { image_subresource, image_extent, ..Default::default() };
    let all = vk::REMAINING_ARRAY_LAYERS;
    // SAFETY: the image is bound once, and used in the general layout.
    unsafe {
        let made = [gpu.bound_image(&info)?, gpu.bound_image(&info)?];
        let general = vk::ImageLayout::GENERAL;
        gpu.run(|commands| {
            gpu.device.cmd_copy_buffer_to_image(commands, words.handle, made[0], general, &[copy(part(0, all))]);
            gpu.barrier(commands, None);
            let region = vk::ImageCopy {
                src_subresource: part(2, all),
                dst_subresource: part(2, all),
                extent: image_extent,
                ..Default::default()
            };
            gpu.device.cmd_copy_image(commands, made[0], general, made[1], general, &[region]);
            gpu.barrier(commands, None);
            gpu.device.cmd_copy_image_to_buffer(commands, made[1], general, out.handle, &[copy(part(2, all))]);
            gpu.barrier(commands, None);
        })?;
    }
    let expected: Vec<u32> = (9..=20).chain([0; 8]).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}

case!("maintenance.five.flags", "VK_KHR_maintenance5", flags);

/// Checks 64-bit flags: a pipeline that must not be compiled is refused, and buffers get their
/// usage.
pub(in crate::cases) fn flags(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default().usage(vk::BufferUsageFlags2KHR::STORAGE_BUFFER);
    let info = vk::BufferCreateInfo::default().size(64).push_next(&mut usage);
    // SAFETY: valid infos.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        check(gpu.device.get_buffer_memory_requirements(buffer).size >= 64, || "no size".into())?;
        gpu.device.destroy_buffer(buffer, None);
    }
    addressed_by_long_flags(gpu)?;
    let (first, _) = gpu.set(&[T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER])?;
    let (second, _) = gpu.set(&[T::STORAGE_BUFFER])?;
    let layout = gpu.layout(&[first, second])?;
    let code: Vec<u32> = PAIR.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    // A constant that the shader lacks makes a program that nobody has compiled.
    let entries = [vk::SpecializationMapEntry { constant_id: 4711, offset: 0, size: 4 }];
    let data = 17u32.to_le_bytes();
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut module = vk::ShaderModuleCreateInfo::default().code(&code);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .specialization_info(&constants)
        .push_next(&mut module);
    let wanted = vk::PipelineCreateFlags2KHR::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    let mut long = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(wanted);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).push_next(&mut long)];
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let code = made.map_err(|(_, code)| code).err();
    check(code == Some(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT), || format!("{code:?}"))
}

/// Checks that a buffer has an address if the 64-bit flags ask for it, whatever the 32-bit flags
/// say.
fn addressed_by_long_flags(gpu: &Gpu) -> Case {
    if gpu.extension_features.addresses.buffer_device_address == vk::FALSE {
        return Ok(());
    }
    let wanted = vk::BufferUsageFlags2KHR::SHADER_DEVICE_ADDRESS | vk::BufferUsageFlags2KHR::STORAGE_BUFFER;
    let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default().usage(wanted);
    let info = vk::BufferCreateInfo::default().size(64).push_next(&mut usage);
    let buffer = gpu.buffer_with_memory(&info, vk::MemoryAllocateFlags::DEVICE_ADDRESS)?;
    let addresses = ash::khr::buffer_device_address::Device::new(&gpu.instance, &gpu.device);
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
    // SAFETY: the buffer is bound, and has an address.
    let address = unsafe { addresses.get_buffer_device_address(&info) };
    check(address != 0, || "a buffer with an address has none".into())
}
