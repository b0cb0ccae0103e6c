//! Subresource layouts, linear images, image views of remaining layers, and usage flags in 64 bits.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::Entry;
use crate::cases::support::conditions::need5;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;

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

cases!(append_linear);

/// A linear image.
#[derive(Clone, Copy)]
struct Linear {
    kind: vk::ImageType,
    size: [u32; 3],
    levels: u32,
    layers: u32,
}

const LINEAR: [(&str, Linear); 4] = [
    ("lines", Linear { kind: vk::ImageType::TYPE_1D, size: [37, 1, 1], levels: 6, layers: 3 }),
    ("planes", Linear { kind: vk::ImageType::TYPE_2D, size: [37, 5, 1], levels: 1, layers: 1 }),
    ("layers", Linear { kind: vk::ImageType::TYPE_2D, size: [19, 12, 1], levels: 5, layers: 2 }),
    ("volume", Linear { kind: vk::ImageType::TYPE_3D, size: [9, 5, 7], levels: 4, layers: 1 }),
];

fn append_linear(cases: &mut Vec<Entry>) {
    for (name, image) in LINEAR {
        let run = move |gpu: &Gpu| {
            let formats = [(vk::Format::R8_UINT, 1), (vk::Format::R32G32B32A32_SFLOAT, 16)];
            formats.into_iter().try_for_each(|format| linear(gpu, format, image))
        };
        cases.push(Entry::new(format!("resources.linear.{name}"), "Subresource Layouts", run));
    }
}

/// Checks that copies to and from all levels and layers of a linear image have the texels where
/// the layouts of its subresources say, in the memory that the host sees.
fn linear(gpu: &Gpu, (format, bytes): (vk::Format, u32), image: Linear) -> Case {
    let Linear { kind, size: [width, height, depth], levels, layers } = image;
    let (tiling, usage) =
        (vk::ImageTiling::LINEAR, vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC);
    let flags = vk::ImageCreateFlags::empty();
    // SAFETY: the physical device is alive.
    let limits = unsafe {
        gpu.instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, flags)
    };
    if !limits.is_ok_and(|limits| limits.max_mip_levels >= levels && limits.max_array_layers >= layers) {
        return Err(Outcome::NotSupported(format!("linear images of {format:?} with {levels} levels")));
    }
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(format)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(levels)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(tiling)
        .usage(usage);
    // SAFETY: the info is valid, and memory is bound once and mapped as a whole.
    let (image, pointer) = unsafe {
        let image = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(image), true)?;
        gpu.device.bind_image_memory(image, memory, 0)?;
        let pointer = gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        (image, pointer.cast::<u8>())
    };
    let mut regions = Vec::new();
    // Places of all texels in the memory, in their order in the buffer.
    let mut places = Vec::new();
    for (mip_level, array_layer) in (0..levels).flat_map(|level| (0..layers).map(move |layer| (level, layer))) {
        let [width, height, depth] = [width, height, depth].map(|size| (size >> mip_level).max(1));
        regions.push(vk::BufferImageCopy {
            buffer_offset: places.len() as u64 * u64::from(bytes),
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: COLOR,
                mip_level,
                base_array_layer: array_layer,
                layer_count: 1,
            },
            image_extent: vk::Extent3D { width, height, depth },
            ..Default::default()
        });
        let subresource = vk::ImageSubresource { aspect_mask: COLOR, mip_level, array_layer };
        // SAFETY: the image is linear and has the subresource.
        let layout = unsafe { gpu.device.get_image_subresource_layout(image, subresource) };
        let rows = (0..depth).flat_map(|z| (0..height).map(move |y| [z, y].map(u64::from)));
        places.extend(rows.flat_map(|[z, y]| {
            let row = layout.offset + z * layout.depth_pitch + y * layout.row_pitch;
            (0..width).map(move |x| (row + u64::from(x * bytes)) as usize)
        }));
    }
    let bytes = bytes as usize;
    let mut numbers = Random::new(u64::from(width));
    let data: Vec<u8> = (0..places.len() * bytes).map(|_| numbers.below(256) as u8).collect();
    let (source, out) = (gpu.buffer_with(&data)?, gpu.buffer(data.len() as u64)?);
    let general = vk::ImageLayout::GENERAL;
    gpu.to_general(image)?;
    gpu.run(|commands| {
        // SAFETY: the image is in the general layout, and regions lie in it and in the buffer.
        unsafe { gpu.device.cmd_copy_buffer_to_image(commands, source.handle, image, general, &regions) };
        gpu.barrier(commands, None);
    })?;
    for (texel, &place) in data.chunks_exact(bytes).zip(&places) {
        // SAFETY: the place lies in the mapped memory, which the device no longer writes.
        let found = unsafe { std::slice::from_raw_parts_mut(pointer.add(place), bytes) };
        check(found == texel, || format!("byte {place}: {found:?} instead of {texel:?}"))?;
        found.iter_mut().for_each(|byte| *byte ^= 0xff);
    }
    gpu.run(|commands| {
        // SAFETY: as above.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image, general, out.handle, &regions) };
        gpu.barrier(commands, None);
    })?;
    let back: Vec<u8> = out.read(0, data.len()).iter().map(|byte| byte ^ 0xff).collect();
    check(back == data, || "the texels that the host wrote were not copied".into())
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
