//! Transfer commands beyond their plain forms: edge sizes, row lengths, aspects, ranges of levels and layers, blits, resolves.
//!
//! Every image lives in the general layout, so that cases differ in nothing but the command they are about.

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, ImageDesc, Outcome, check};

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add = |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(name, section, run));
    add("copies.buffers.fill_to_an_odd_end", "Filling Buffers", fill_to_an_odd_end);
    add("copies.buffers.update_largest", "Updating Buffers", update_largest);
    add("copies.buffer_images.row_length", "Copying Data Between Buffers and Images", row_length);
    add("copies.buffer_images.aspects", "Copying Data Between Buffers and Images", aspects);
    add("copies.images.between_slices", "Copying Data Between Images", between_slices);
    add("clears.color.ranges", "Clearing Images Outside a Render Pass Instance", clear_ranges);
    add("clears.depth_stencil.one_aspect", "Clearing Images Outside a Render Pass Instance", clear_one_aspect);
    add("blits.nearest.mirrored", "Image Copies With Scaling", blit_mirrored);
    add("blits.nearest.converted", "Image Copies With Scaling", blit_converted);
    add("blits.linear.magnified", "Image Copies With Scaling", blit_linear);
    add("resolves.command.offset", "Resolving Multisample Images", resolve_offset);
    add("queries.copy.stride_and_availability", "Query Operation", copy_results);
    add("queries.results.unavailable", "Query Operation", unavailable_results);
    add("images.storage.cube_array", "Image Operations", storage_cube_array);
    add("images.storage.samples", "Image Operations", storage_samples);
    add("pipelines.cache.foreign_data", "Pipeline Cache", foreign_cache);
    add("pipelines.cache.round_trip", "Pipeline Cache", cache_round_trip);
}

/// What a test image is; one of 12 layers is a storage image of two cubes.
#[derive(Clone, Copy)]
struct Shape {
    format: vk::Format,
    extent: [u32; 3],
    levels: u32,
    layers: u32,
    samples: vk::SampleCountFlags,
}

impl Shape {
    fn new(format: vk::Format, extent: [u32; 3]) -> Self {
        Self { format, extent, levels: 1, layers: 1, samples: vk::SampleCountFlags::TYPE_1 }
    }
}

/// Every level and layer of some aspects.
fn everything(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    let (level_count, layer_count) = (vk::REMAINING_MIP_LEVELS, vk::REMAINING_ARRAY_LAYERS);
    vk::ImageSubresourceRange { aspect_mask, level_count, layer_count, ..Default::default() }
}

/// An image of undefined content in the general layout.
fn image(gpu: &Gpu, shape: Shape, aspects: vk::ImageAspectFlags) -> Result<vk::Image, Outcome> {
    let [width, height, depth] = shape.extent;
    let more = match (shape.samples == vk::SampleCountFlags::TYPE_1, shape.layers == 12) {
        (false, _) => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        (_, true) => vk::ImageUsageFlags::STORAGE,
        _ => vk::ImageUsageFlags::empty(),
    };
    let cubes = if shape.layers == 12 { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { Default::default() };
    let info = vk::ImageCreateInfo::default()
        .flags(cubes)
        .image_type(if depth > 1 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
        .format(shape.format)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(shape.levels)
        .array_layers(shape.layers)
        .samples(shape.samples)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | more);
    // SAFETY: the info is valid; memory is bound once.
    let handle = unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(handle), false)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        handle
    };
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .new_layout(GENERAL)
        .image(handle)
        .subresource_range(everything(aspects));
    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the command buffer is recording.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_pipeline_barrier(commands, stage, stage, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
    })?;
    Ok(handle)
}

fn part(aspect_mask: vk::ImageAspectFlags, mip_level: u32, base_array_layer: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer, layer_count: 1 }
}

fn offset([x, y, z]: [i32; 3]) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}

fn extent([width, height, depth]: [u32; 3]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth }
}

/// Tightly packed texels of one subresource.
fn region(subresource: vk::ImageSubresourceLayers, size: [u32; 3]) -> vk::BufferImageCopy {
    vk::BufferImageCopy { image_subresource: subresource, image_extent: extent(size), ..Default::default() }
}

fn upload<T: bytemuck::Pod>(gpu: &Gpu, image: vk::Image, data: &[T], region: vk::BufferImageCopy) -> Case {
    let source = gpu.buffer_with(data)?;
    // SAFETY: the image is in the general layout, and the buffer holds all of the region.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_copy_buffer_to_image(commands, source.handle, image, GENERAL, &[region]);
        gpu.barrier(commands, None);
    })
}

fn download(gpu: &Gpu, image: vk::Image, bytes: u64, region: vk::BufferImageCopy) -> Result<Vec<u8>, Outcome> {
    let target = gpu.buffer(bytes)?;
    gpu.run(|commands| {
        gpu.barrier(commands, None);
        // SAFETY: the image is in the general layout, and the buffer holds all of the region.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image, GENERAL, target.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    Ok(target.read(0, bytes as usize))
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &[T], expected: &[T]) -> Case {
    check(got == expected, || format!("{got:?} instead of {expected:?}"))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn fill_to_an_odd_end(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(18)?;
    // SAFETY: the offset lies in the buffer; the whole size is rounded down to words.
    gpu.run(|commands| unsafe { gpu.device.cmd_fill_buffer(commands, buffer.handle, 4, vk::WHOLE_SIZE, !0) })?;
    let expected: Vec<u8> = (0..18).map(|byte| if (4..16).contains(&byte) { 255 } else { 0 }).collect();
    equal(&buffer.read(0, 18), &expected)
}

fn update_largest(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(65544)?;
    let data: Vec<u8> = (0..65536u32).map(|byte| (byte % 251) as u8).collect();
    // SAFETY: the range lies in the buffer and is as large as may be.
    gpu.run(|commands| unsafe { gpu.device.cmd_update_buffer(commands, buffer.handle, 4, &data) })?;
    let got = buffer.read(0, 65544);
    check(got[4..65540] == data && got[..4] == [0; 4] && got[65540..] == [0; 4], || "other bytes".into())
}

fn row_length(gpu: &Gpu) -> Case {
    let shape = Shape { layers: 2, ..Shape::new(vk::Format::R32_UINT, [4, 4, 1]) };
    let image = image(gpu, shape, COLOR)?;
    let both = vk::ImageSubresourceLayers { layer_count: 2, ..part(COLOR, 0, 0) };
    upload(gpu, image, &[9u32; 32], region(both, [4, 4, 1]))?;
    let padded = vk::BufferImageCopy {
        buffer_offset: 8,
        buffer_row_length: 5,
        buffer_image_height: 3,
        image_offset: offset([1, 2, 0]),
        ..region(both, [3, 2, 1])
    };
    upload(gpu, image, &(0..32u32).collect::<Vec<_>>(), padded)?;
    let got = words(&download(gpu, image, 128, region(both, [4, 4, 1]))?);
    let expected: Vec<u32> = (0..32u32)
        .map(|texel| match (texel % 4, texel / 4 % 4, texel / 16) {
            (x @ 1.., y @ 2.., layer) => 2 + layer * 15 + (y - 2) * 5 + x - 1,
            _ => 9,
        })
        .collect();
    equal(&got, &expected)
}

/// A format with depth and stencil that the device has, and its bytes of depth in a buffer.
fn depth_stencil(gpu: &Gpu) -> Result<vk::Format, Outcome> {
    let wanted = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
    let has = |&format: &vk::Format| {
        // SAFETY: the device is valid.
        let properties = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
        properties.optimal_tiling_features.contains(wanted)
    };
    let found = [vk::Format::D32_SFLOAT_S8_UINT, vk::Format::D24_UNORM_S8_UINT].into_iter().find(has);
    found.ok_or_else(|| Outcome::Fail("neither mandatory format with stencil".into()))
}

const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
const STENCIL: vk::ImageAspectFlags = vk::ImageAspectFlags::STENCIL;

fn aspects(gpu: &Gpu) -> Case {
    let image = image(gpu, Shape::new(depth_stencil(gpu)?, [4, 2, 1]), DEPTH | STENCIL)?;
    // Words that are a depth as a float and as 24 bits.
    let depths: Vec<u32> = (0..8).map(|texel| 0x003f_0000 + texel).collect();
    let stencils: Vec<u8> = (100..108).collect();
    upload(gpu, image, &depths, region(part(DEPTH, 0, 0), [4, 2, 1]))?;
    upload(gpu, image, &stencils, region(part(STENCIL, 0, 0), [4, 2, 1]))?;
    let got = words(&download(gpu, image, 32, region(part(DEPTH, 0, 0), [4, 2, 1]))?);
    equal(&got.iter().map(|word| word & 0x00ff_ffff).collect::<Vec<_>>(), &depths)?;
    equal(&download(gpu, image, 8, region(part(STENCIL, 0, 0), [4, 2, 1]))?, &stencils)
}

fn between_slices(gpu: &Gpu) -> Case {
    let shape = Shape::new(vk::Format::R32_UINT, [2, 2, 3]);
    let (source, target) = (image(gpu, shape, COLOR)?, image(gpu, shape, COLOR)?);
    let all = region(part(COLOR, 0, 0), [2, 2, 3]);
    upload(gpu, source, &(0..12u32).collect::<Vec<_>>(), all)?;
    upload(gpu, target, &[50u32; 12], all)?;
    let copy = vk::ImageCopy {
        src_subresource: part(COLOR, 0, 0),
        src_offset: offset([1, 0, 0]),
        dst_subresource: part(COLOR, 0, 0),
        dst_offset: offset([0, 0, 1]),
        extent: extent([1, 2, 2]),
    };
    // SAFETY: the region lies in both images, which are in the general layout.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_copy_image(commands, source, GENERAL, target, GENERAL, &[copy]);
    })?;
    let got = words(&download(gpu, target, 48, all)?);
    equal(&got, &[50, 50, 50, 50, 1, 50, 3, 50, 5, 50, 7, 50])
}

fn clear_color(gpu: &Gpu, image: vk::Image, value: u32, range: vk::ImageSubresourceRange) -> Case {
    let value = vk::ClearColorValue { uint32: [value; 4] };
    gpu.run(|commands| {
        gpu.barrier(commands, None);
        // SAFETY: the image is in the general layout.
        unsafe { gpu.device.cmd_clear_color_image(commands, image, GENERAL, &value, &[range]) };
        gpu.barrier(commands, None);
    })
}

fn clear_ranges(gpu: &Gpu) -> Case {
    let image = image(gpu, Shape { levels: 3, layers: 3, ..Shape::new(vk::Format::R32_UINT, [4, 4, 1]) }, COLOR)?;
    clear_color(gpu, image, 1, everything(COLOR))?;
    clear_color(
        gpu,
        image,
        2,
        vk::ImageSubresourceRange { base_mip_level: 1, base_array_layer: 2, ..everything(COLOR) },
    )?;
    for (level, layer) in (0..3).flat_map(|level| (0..3).map(move |layer| (level, layer))) {
        let side = 4 >> level;
        let got = download(gpu, image, u64::from(side * side * 4), region(part(COLOR, level, layer), [side, side, 1]))?;
        let value = if level >= 1 && layer == 2 { 2 } else { 1 };
        equal(&words(&got), &vec![value; (side * side) as usize])?;
    }
    Ok(())
}

fn clear_one_aspect(gpu: &Gpu) -> Case {
    let image = image(gpu, Shape::new(depth_stencil(gpu)?, [2, 2, 1]), DEPTH | STENCIL)?;
    for (aspect, depth, stencil) in [(DEPTH | STENCIL, 0.0, 3), (STENCIL, 1.0, 77)] {
        let value = vk::ClearDepthStencilValue { depth, stencil };
        gpu.run(|commands| {
            // SAFETY: the image is in the general layout.
            unsafe {
                gpu.device.cmd_clear_depth_stencil_image(commands, image, GENERAL, &value, &[everything(aspect)]);
            }
            gpu.barrier(commands, None);
        })?;
    }
    let depths = words(&download(gpu, image, 16, region(part(DEPTH, 0, 0), [2, 2, 1]))?);
    equal(&depths.iter().map(|word| word & 0x00ff_ffff).collect::<Vec<_>>(), &[0; 4])?;
    equal(&download(gpu, image, 4, region(part(STENCIL, 0, 0), [2, 2, 1]))?, &[77; 4])
}

/// Blits the whole of a row of 4 texels onto the given span of a row of 8.
fn blit<T: bytemuck::Pod>(
    gpu: &Gpu,
    formats: [vk::Format; 2],
    row: &[T],
    span: [i32; 2],
    filter: vk::Filter,
) -> Result<Vec<u8>, Outcome> {
    let source = image(gpu, Shape::new(formats[0], [4, 1, 1]), COLOR)?;
    let target = image(gpu, Shape::new(formats[1], [8, 1, 1]), COLOR)?;
    upload(gpu, source, row, region(part(COLOR, 0, 0), [4, 1, 1]))?;
    clear_color(gpu, target, 0, everything(COLOR))?;
    let blit = vk::ImageBlit {
        src_subresource: part(COLOR, 0, 0),
        src_offsets: [offset([0; 3]), offset([4, 1, 1])],
        dst_subresource: part(COLOR, 0, 0),
        dst_offsets: [offset([span[0], 0, 0]), offset([span[1], 1, 1])],
    };
    // SAFETY: the region lies in both images, which are in the general layout.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_blit_image(commands, source, GENERAL, target, GENERAL, &[blit], filter);
    })?;
    download(gpu, target, 32, region(part(COLOR, 0, 0), [8, 1, 1]))
}

fn blit_mirrored(gpu: &Gpu) -> Case {
    let got = blit(gpu, [vk::Format::R32_UINT; 2], &[1u32, 2, 3, 4], [8, 0], vk::Filter::NEAREST)?;
    equal(&words(&got), &[4, 4, 3, 3, 2, 2, 1, 1])
}

fn blit_converted(gpu: &Gpu) -> Case {
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_UNORM];
    let row = [0x0403_0201u32, 0x0807_0605, 0xff80_4000, 0x0102_0304];
    let got = blit(gpu, formats, &row, [2, 6], vk::Filter::NEAREST)?;
    equal(&words(&got), &[0, 0, 0x0401_0203, 0x0805_0607, 0xff00_4080, 0x0104_0302, 0, 0])
}

fn blit_linear(gpu: &Gpu) -> Case {
    let format = [vk::Format::R32_SFLOAT; 2];
    // SAFETY: the device is valid.
    let properties = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format[0]) };
    if !properties.optimal_tiling_features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR) {
        return Err(Outcome::NotSupported("R32_SFLOAT is not filtered".into()));
    }
    let got = blit(gpu, format, &[0.0f32, 4.0, 8.0, 0.0], [0, 8], vk::Filter::LINEAR)?;
    let floats: Vec<f32> = words(&got).into_iter().map(f32::from_bits).collect();
    equal(&floats, &[0.0, 1.0, 3.0, 5.0, 7.0, 6.0, 2.0, 0.0])
}

fn resolve_offset(gpu: &Gpu) -> Case {
    let shape = Shape::new(vk::Format::R8G8B8A8_UNORM, [4, 4, 1]);
    let source = image(gpu, Shape { samples: vk::SampleCountFlags::TYPE_4, ..shape }, COLOR)?;
    let target = image(gpu, shape, COLOR)?;
    let value = vk::ClearColorValue { float32: [1.0, 0.0, 1.0, 0.0] };
    // SAFETY: the image is in the general layout.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_clear_color_image(commands, source, GENERAL, &value, &[everything(COLOR)]);
    })?;
    clear_color(gpu, target, 0, everything(COLOR))?;
    let resolve = vk::ImageResolve {
        src_subresource: part(COLOR, 0, 0),
        dst_subresource: part(COLOR, 0, 0),
        dst_offset: offset([1, 2, 0]),
        extent: extent([2, 1, 1]),
        ..Default::default()
    };
    // SAFETY: the region lies in both images, which are in the general layout.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_resolve_image(commands, source, GENERAL, target, GENERAL, &[resolve]);
    })?;
    let got = words(&download(gpu, target, 64, region(part(COLOR, 0, 0), [4, 4, 1]))?);
    let expected: Vec<u32> = (0..16).map(|texel| if [9, 10].contains(&texel) { 0x00ff_00ff } else { 0 }).collect();
    equal(&got, &expected)
}

fn copy_results(gpu: &Gpu) -> Case {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let buffer = gpu.buffer_with(&[9u64; 8])?;
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::WAIT;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording; the buffer holds both results.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
            for query in 0..2 {
                gpu.device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::empty());
                gpu.device.cmd_end_query(commands, pool, query);
            }
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, buffer.handle, 8, 24, flags);
        }
        gpu.barrier(commands, None);
    })?;
    let got: Vec<u64> = words(&buffer.read(0, 64)).chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect();
    equal(&got, &[9, 0, 1, 9, 0, 1, 9, 9])
}

/// Of a query that is not available nothing but that is written, by the host's command and the device's.
fn unavailable_results(gpu: &Gpu) -> Case {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let buffer = gpu.buffer_with(&[9u32; 5])?;
    let flags = vk::QueryResultFlags::WITH_AVAILABILITY;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording; the buffer holds both results.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
            gpu.device.cmd_begin_query(commands, pool, 1, vk::QueryControlFlags::empty());
            gpu.device.cmd_end_query(commands, pool, 1);
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, buffer.handle, 4, 8, flags);
        }
        gpu.barrier(commands, None);
    })?;
    equal(&words(&buffer.read(0, 20)), &[9, 9, 0, 0, 1])?;
    let mut results = [[7u32; 2]; 2];
    // SAFETY: the pool is valid; there is room for both results.
    let code = unsafe { gpu.device.get_query_pool_results(pool, 0, &mut results, flags) };
    check(code == Err(vk::Result::NOT_READY), || format!("an unavailable query gave {code:?}"))?;
    equal(&results, &[[7, 0], [0, 1]])
}

fn foreign_cache(gpu: &Gpu) -> Case {
    let make = |data: &[u8]| {
        // SAFETY: a cache takes any data that begins with a header; a foreign one is ignored.
        unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default().initial_data(data), None) }
    };
    let empty = make(&[])?;
    // SAFETY: the cache is valid.
    let own = unsafe { gpu.device.get_pipeline_cache_data(empty)? };
    check(own.len() >= 32, || format!("{} bytes", own.len()))?;
    let header = words(&own[..16]);
    let device = &gpu.properties;
    equal(&header, &[32, 1, device.vendor_id, device.device_id])?;
    equal(&own[16..32], &device.pipeline_cache_uuid)?;
    let mut foreign = own.clone();
    foreign[16..32].iter_mut().for_each(|byte| *byte ^= 0xff);
    let caches = [make(&own)?, make(&foreign)?];
    // SAFETY: the caches are valid and the target is none of the sources.
    let data = unsafe {
        gpu.device.merge_pipeline_caches(empty, &caches)?;
        gpu.device.get_pipeline_cache_data(empty)?
    };
    equal(&data[..32], &own[..32])
}

/// What a cache gave makes the same pipeline again, whole or in part.
fn cache_round_trip(gpu: &Gpu) -> Case {
    let make = |data: &[u8]| {
        // SAFETY: a cache takes any data that begins with a header.
        unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default().initial_data(data), None) }
    };
    let (set_layout, _) = gpu.set(&[vk::DescriptorType::STORAGE_BUFFER; 2])?;
    let layout = gpu.layout(&[set_layout])?;
    let module = gpu.module(include_bytes!("../../shaders/unary.comp.spv"))?;
    let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage.module(module).name(c"main")).layout(layout)];
    let first = make(&[])?;
    // SAFETY: valid infos and caches; the last call is told of too little room, and writes no more than that.
    let (data, size, code) = unsafe {
        gpu.device.create_compute_pipelines(first, &info, None).map_err(|(_, code)| code)?;
        let data = gpu.device.get_pipeline_cache_data(first)?;
        let mut size = data.len() - 1;
        let mut part = vec![0u8; size];
        let get = gpu.device.fp_v1_0().get_pipeline_cache_data;
        let code = get(gpu.device.handle(), first, &mut size, part.as_mut_ptr().cast());
        part.truncate(size);
        make(&part)?;
        (data, size, code)
    };
    check(code == vk::Result::INCOMPLETE && size < data.len(), || format!("{code:?} with {size} bytes"))?;
    let second = make(&data)?;
    // SAFETY: infos and caches are valid, and the data fit the memory that the call fills.
    let again = unsafe {
        gpu.device.create_compute_pipelines(second, &info, None).map_err(|(_, code)| code)?;
        gpu.device.get_pipeline_cache_data(second)?
    };
    equal(&again[..32], &data[..32])
}

fn storage_cube_array(gpu: &Gpu) -> Case {
    if gpu.features.image_cube_array == vk::FALSE {
        return Err(Outcome::NotSupported("no cube arrays".into()));
    }
    let image = image(gpu, Shape { layers: 12, ..Shape::new(vk::Format::R32_UINT, [2, 2, 1]) }, COLOR)?;
    let all = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers { layer_count: 12, ..part(COLOR, 0, 0) },
        ..region(part(COLOR, 0, 0), [2, 2, 1])
    };
    upload(gpu, image, &(0..48u32).collect::<Vec<_>>(), all)?;
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::CUBE_ARRAY)
        .format(vk::Format::R32_UINT)
        .subresource_range(vk::ImageSubresourceRange { layer_count: 12, level_count: 1, ..everything(COLOR) });
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_IMAGE])?;
    let layout = gpu.layout(&[set_layout])?;
    let module = gpu.module(include_bytes!("../../shaders/cube_array.comp.spv"))?;
    let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
    let pipeline = [vk::ComputePipelineCreateInfo::default().stage(stage.module(module).name(c"main")).layout(layout)];
    // SAFETY: valid infos; the descriptor is written before it is used.
    let pipeline = unsafe {
        let image_view = gpu.device.create_image_view(&info, None)?;
        let images = [vk::DescriptorImageInfo { image_view, image_layout: GENERAL, ..Default::default() }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).image_info(&images);
        gpu.device.update_descriptor_sets(&[write.descriptor_type(vk::DescriptorType::STORAGE_IMAGE)], &[]);
        gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &pipeline, None).map_err(|(_, code)| code)?[0]
    };
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        let point = vk::PipelineBindPoint::COMPUTE;
        gpu.device.cmd_bind_pipeline(commands, point, pipeline);
        gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
        gpu.device.cmd_dispatch(commands, 1, 1, 12);
    })?;
    let expected: Vec<u32> = (0..48).map(|texel| texel + texel / 4 * 1000).collect();
    equal(&words(&download(gpu, image, 192, all)?), &expected)
}

/// Samples of storage images are stored, read and counted on each for itself.
fn storage_samples(gpu: &Gpu) -> Case {
    if gpu.features.shader_storage_image_multisample == 0 {
        return Err(Outcome::NotSupported("storage images with samples".into()));
    }
    for count in [2, 4, 8, 16] {
        let samples = vk::SampleCountFlags::from_raw(count);
        if gpu.properties.limits.storage_image_sample_counts.contains(samples) {
            samples_of(gpu, samples)?;
        }
    }
    Ok(())
}

fn samples_of(gpu: &Gpu, samples: vk::SampleCountFlags) -> Case {
    let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc { samples, ..ImageDesc::color(vk::Format::R32_UINT, [8; 2], usage) })?;
    let view = vk::ImageViewCreateInfo::default()
        .image(image.handle)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .subresource_range(vk::ImageSubresourceRange { layer_count: 1, level_count: 1, ..everything(COLOR) });
    // SAFETY: the info is valid.
    let image_view = unsafe { gpu.device.create_image_view(&view, None) }?;
    let words = gpu.buffer(256)?;
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_IMAGE, vk::DescriptorType::STORAGE_BUFFER])?;
    let layout = gpu.layout(&[set_layout])?;
    let module = gpu.module(include_bytes!("../../shaders/samples.comp.spv"))?;
    let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
    let pipeline = [vk::ComputePipelineCreateInfo::default().stage(stage.module(module).name(c"main")).layout(layout)];
    let images = [vk::DescriptorImageInfo { image_view, image_layout: GENERAL, ..Default::default() }];
    let buffers = [vk::DescriptorBufferInfo { buffer: words.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set);
    let writes = [
        write.descriptor_type(vk::DescriptorType::STORAGE_IMAGE).image_info(&images),
        write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&buffers),
    ];
    // SAFETY: valid infos; the descriptors are written before they are used.
    let pipeline = unsafe {
        gpu.device.update_descriptor_sets(&writes, &[]);
        gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &pipeline, None).map_err(|(_, code)| code)?[0]
    };
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        let point = vk::PipelineBindPoint::COMPUTE;
        gpu.barrier(commands, Some((&image, vk::ImageLayout::UNDEFINED, GENERAL)));
        gpu.device.cmd_bind_pipeline(commands, point, pipeline);
        gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
        gpu.device.cmd_dispatch(commands, 1, 1, 1);
        gpu.barrier(commands, None);
    })?;
    let count = samples.as_raw();
    let expected = |own: u32| {
        let other = (0..count).fold(0u32, |sum, i| sum.wrapping_mul(3).wrapping_add((63 - own) * 16 + i));
        let before = own * 16 + count - 1;
        other.wrapping_add(before * 1000 + (before + 5) * 7 + 8)
    };
    equal(&words.words(), &(0..64).map(expected).collect::<Vec<_>>())
}
