//! Image operations of shaders: every image type, fetches, gathers, offsets, sizes, storage
//! images, texel buffers; with both tilings.
//!
//! Texel `i` of image `k` holds `1000 * k + i`, so every result shows where it was read.

use ash::vk;
use ash::vk::DescriptorType as D;

use crate::Entry;
use crate::harness::{Buffer, Case, Gpu, Outcome, check, layers};

const IMAGES: &[u8] = shader!("images.comp");

/// Name of a shader case, and the expected result of a lane.
type Part = (&'static str, fn(u32) -> u32);

/// In the order of the shader's cases.
const PARTS: &[Part] = &[
    ("fetch.image_1d", |l| l % 8),
    ("fetch.image_1d_array", |l| 1000 + l / 8 % 3 * 8 + l % 8),
    ("fetch.image_2d", |l| 2000 + l),
    ("fetch.image_2d_array", |l| 3000 + l % 3 * 32 + l / 8 % 4 * 8 + l % 8),
    ("fetch.image_3d", |l| 4000 + l),
    ("sample.cube", |l| 5000 + l % 6 * 16 + l / 4 % 4 * 4 + l % 4),
    ("query.size_2d_array", |_| 30408),
    ("query.size_3d_and_cube", |_| 40404 + 400_000),
    ("sample.image_2d", |l| 2000 + l),
    ("sample.offset", |l| 2000 + (l / 8).saturating_sub(2) * 8 + (l % 8 + 1).min(7)),
    ("sample.gather", |l| {
        let first = 2000 + l / 7 % 7 * 8 + l % 7;
        first + 2 * (first + 8) + 4 * (first + 9) + 8 * (first + 1)
    }),
    ("query.levels", |_| 11),
    ("storage.store_and_load", |l| (63 - l) * 5),
    ("storage.atomic_add", |_| 64),
    ("storage.atomic_max", |l| 56 + l % 8),
    ("texel_buffers.fetch", |l| 6000 + l),
    ("texel_buffers.size", |_| 64064),
    ("texel_buffers.store_and_load", |l| (63 - l) * 7),
    ("storage.store_outside", |_| 0),
    ("query.storage_size", |_| 808),
    ("sample.projected", |l| 2000 + l),
    ("sample.layer_rounding", |l| 3000 + ((l as f32 * 0.3).round_ties_even() as u32).min(2) * 32 + l % 8),
    ("sample.gradients", |l| 2000 + l),
    ("sample.image_3d", |l| 4000 + l),
    ("fetch.offset", |l| 2000 + (l / 8 % 4 + 2) * 8 + l % 4 + 3),
    ("storage.atomic_exchange", |l| l + 500),
    ("texel_buffers.atomic_add", |l| (0..16).map(|step| step * 4 + l % 4).sum()),
    ("sample.image_1d_array", |l| 1000 + l / 8 % 3 * 8 + l % 8),
];

/// Type, view type, extent and layers of an image.
type Shape = (vk::ImageType, vk::ImageViewType, [u32; 3], u32);

/// Shapes of the images at bindings 0 to 5.
const SHAPES: [Shape; 6] = [
    (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D, [8, 1, 1], 1),
    (vk::ImageType::TYPE_1D, vk::ImageViewType::TYPE_1D_ARRAY, [8, 1, 1], 3),
    (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D, [8, 8, 1], 1),
    (vk::ImageType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY, [8, 4, 1], 3),
    (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D, [4, 4, 4], 1),
    (vk::ImageType::TYPE_2D, vk::ImageViewType::CUBE, [4, 4, 1], 6),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (number, &(name, expected)) in PARTS.iter().enumerate() {
        for (group, tiling) in [("images", vk::ImageTiling::OPTIMAL), ("linear_images", vk::ImageTiling::LINEAR)] {
            let run = move |gpu: &Gpu| run(gpu, tiling, number as i32, expected);
            cases.push(Entry::new(format!("{group}.{name}"), "Image Operations", run));
        }
    }
}

/// Creates an image with the texels `data`, in the general layout. Its tiling is optimal where the
/// device lacks `tiling`.
fn image(
    gpu: &Gpu,
    tiling: vk::ImageTiling,
    shape: Shape,
    format: vk::Format,
    data: &[u32],
) -> Result<vk::ImageView, Outcome> {
    let (kind, view, [width, height, depth], count) = shape;
    let extent = vk::Extent3D { width, height, depth };
    let cube = view == vk::ImageViewType::CUBE;
    let shader =
        if format == vk::Format::R32_UINT { vk::ImageUsageFlags::STORAGE } else { vk::ImageUsageFlags::SAMPLED };
    let usage = shader | vk::ImageUsageFlags::TRANSFER_DST;
    let flags = if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() };
    // SAFETY: the physical device is alive.
    let limits = unsafe {
        gpu.instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, flags)
    };
    let has_tiling = limits.is_ok_and(|limits| limits.max_array_layers >= count);
    let info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(kind)
        .tiling(if has_tiling { tiling } else { vk::ImageTiling::OPTIMAL })
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(count)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let aspect = vk::ImageAspectFlags::COLOR;
    let range = vk::ImageSubresourceRange { layer_count: count, ..crate::harness::range(aspect, 0, 1) };
    let source = gpu.buffer_with(data)?;
    // SAFETY: valid infos; memory is bound once.
    let (handle, view) = unsafe {
        let handle = gpu.bound_image(&info)?;
        let info = vk::ImageViewCreateInfo::default().image(handle).view_type(view).format(format);
        (handle, gpu.device.create_image_view(&info.subresource_range(range), None)?)
    };
    let subresource = vk::ImageSubresourceLayers { layer_count: count, ..layers(aspect) };
    let region = vk::BufferImageCopy { image_subresource: subresource, image_extent: extent, ..Default::default() };
    let general = vk::ImageLayout::GENERAL;
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .new_layout(general)
        .image(handle)
        .subresource_range(range);
    gpu.run(|commands| {
        let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is recording, and the buffer holds all of the region.
        unsafe {
            gpu.device.cmd_pipeline_barrier(commands, top, transfer, none, &[], &[], &[barrier]);
            gpu.device.cmd_copy_buffer_to_image(commands, source.handle, handle, general, &[region]);
        }
        gpu.barrier(commands, None);
    })?;
    Ok(view)
}

/// Creates the images of bindings 0 to 6, with a sampler that takes the nearest texel.
fn image_infos(gpu: &Gpu, tiling: vk::ImageTiling) -> Result<Vec<vk::DescriptorImageInfo>, Outcome> {
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let info = vk::SamplerCreateInfo::default().address_mode_u(edge).address_mode_v(edge).address_mode_w(edge);
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&info, None) }?;
    let describe = |image_view| vk::DescriptorImageInfo { sampler, image_view, image_layout: vk::ImageLayout::GENERAL };
    let mut infos = Vec::new();
    for (number, &shape) in SHAPES.iter().enumerate() {
        let texels = shape.2.iter().product::<u32>() * shape.3;
        let data: Vec<u32> = (0..texels).map(|texel| ((1000 * number as u32 + texel) as f32).to_bits()).collect();
        infos.push(describe(image(gpu, tiling, shape, vk::Format::R32_SFLOAT, &data)?));
    }
    infos.push(describe(image(gpu, tiling, SHAPES[2], vk::Format::R32_UINT, &[0; 64])?));
    Ok(infos)
}

/// Creates a texel buffer view with this content.
pub(in crate::cases) fn texel_view(
    gpu: &Gpu,
    usage: vk::BufferUsageFlags,
    format: vk::Format,
    data: &[u32],
) -> Result<vk::BufferView, Outcome> {
    let bytes: &[u8] = bytemuck::cast_slice(data);
    let info = vk::BufferCreateInfo::default().size(bytes.len() as u64).usage(usage);
    // SAFETY: valid infos; memory is bound once, and mapped for its whole size, and not in use
    // while it is written.
    unsafe {
        let handle = gpu.device.create_buffer(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_buffer_memory_requirements(handle), true)?;
        gpu.device.bind_buffer_memory(handle, memory, 0)?;
        let pointer = gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u8>();
        pointer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        let info = vk::BufferViewCreateInfo::default().buffer(handle).format(format).range(vk::WHOLE_SIZE);
        Ok(gpu.device.create_buffer_view(&info, None)?)
    }
}

/// Creates every resource of the shader, and returns the set and its layout.
fn bind(
    gpu: &Gpu,
    tiling: vk::ImageTiling,
    output: Buffer,
) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
    let mut kinds = vec![D::COMBINED_IMAGE_SAMPLER; 6];
    kinds.extend([D::STORAGE_IMAGE, D::UNIFORM_TEXEL_BUFFER, D::STORAGE_TEXEL_BUFFER, D::STORAGE_BUFFER]);
    let (layout, set) = gpu.set(&kinds)?;
    let images: Vec<[vk::DescriptorImageInfo; 1]> = image_infos(gpu, tiling)?.into_iter().map(|info| [info]).collect();
    let floats: Vec<u32> = (0..64).map(|texel| ((6000 + texel) as f32).to_bits()).collect();
    let usage = vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER;
    let uniform = [texel_view(gpu, usage, vk::Format::R32_SFLOAT, &floats)?];
    let storage = [texel_view(gpu, vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER, vk::Format::R32_UINT, &[0; 64])?];
    let buffer = [vk::DescriptorBufferInfo { buffer: output.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = |binding: usize| {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
        write.descriptor_type(kinds[binding])
    };
    let mut writes: Vec<_> = images.iter().enumerate().map(|(binding, info)| write(binding).image_info(info)).collect();
    writes.push(write(7).texel_buffer_view(&uniform));
    writes.push(write(8).texel_buffer_view(&storage));
    writes.push(write(9).buffer_info(&buffer));
    // SAFETY: the set is new, and everything named is alive.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    Ok((layout, set))
}

fn run(gpu: &Gpu, tiling: vk::ImageTiling, number: i32, expected: fn(u32) -> u32) -> Case {
    let output = gpu.buffer(256)?;
    let (set_layout, set) = bind(gpu, tiling, output)?;
    gpu.dispatch(&gpu.compute_with(IMAGES, Some(number), (set_layout, set))?, &[], [1; 3])?;
    for (lane, got) in (0..).zip(output.words()) {
        check(got == expected(lane), || format!("lane {lane}: {got} instead of {}", expected(lane)))?;
    }
    Ok(())
}
