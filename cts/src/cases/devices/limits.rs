//! Supported limits beyond the required ones, each at its end.

use ash::vk;
use ash::vk::DescriptorType as D;

use crate::harness::{Case, Gpu, ImageDesc, Outcome, check};
use crate::render::{Draw, FULL, Kind, POINTS, SIZE, State, Target, render};

const OFFSETS: &[u8] = shader!("offsets.comp");
const COMPONENTS_VERTEX: &[u8] = shader!("components.vert");
const COMPONENTS: &[u8] = shader!("components.frag");
const FARTHEST: &[u8] = shader!("farthest.frag");
const PUSH: &[u8] = shader!("push_all.comp");

/// Pixels of a side of the target.
const SIDE: f32 = SIZE as f32;

/// Returns the limits of the device, or ends the case where `has` refuses them.
fn limits(gpu: &Gpu, has: impl Fn(&vk::PhysicalDeviceLimits) -> bool) -> Result<vk::PhysicalDeviceLimits, Outcome> {
    // SAFETY: the physical device is valid.
    let limits = unsafe { gpu.instance.get_physical_device_properties(gpu.physical) }.limits;
    if has(&limits) { Ok(limits) } else { Err(Outcome::NotSupported("a limit is lower".into())) }
}

/// Ends a case where the device's limits are lower.
fn need(gpu: &Gpu, has: impl Fn(&vk::PhysicalDeviceLimits) -> bool) -> Case {
    limits(gpu, has).map(drop)
}

case!("limits.texels.offsets", "Texel Coordinate Systems", offsets);

/// Checks offsets from -32 to 31 of samples, fetches and gathers.
fn offsets(gpu: &Gpu) -> Case {
    need(gpu, |limits| {
        limits.min_texel_offset <= -32
            && limits.max_texel_offset >= 31
            && limits.min_texel_gather_offset <= -32
            && limits.max_texel_gather_offset >= 31
    })?;
    if gpu.features.shader_image_gather_extended == 0 {
        return Err(Outcome::NotSupported("shaderImageGatherExtended".into()));
    }
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(vk::Format::R32_UINT, [128; 2], usage))?;
    let texels: Vec<u32> = (0..128 * 128).collect();
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.write_image(&image, vk::ImageAspectFlags::COLOR, bytemuck::cast_slice(&texels), layout)?;
    let out = gpu.buffer(48)?;
    let (set_layout, set) = gpu.set(&[D::COMBINED_IMAGE_SAMPLER, D::STORAGE_BUFFER])?;
    // SAFETY: valid infos; descriptors are written before they are used; everything named is alive.
    unsafe {
        let sampler = gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None)?;
        let images = [vk::DescriptorImageInfo { sampler, image_view: image.view, image_layout: layout }];
        let buffers = [vk::DescriptorBufferInfo { buffer: out.handle, offset: 0, range: vk::WHOLE_SIZE }];
        let write = |binding| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
        let writes = [
            write(0).descriptor_type(D::COMBINED_IMAGE_SAMPLER).image_info(&images),
            write(1).descriptor_type(D::STORAGE_BUFFER).buffer_info(&buffers),
        ];
        gpu.device.update_descriptor_sets(&writes, &[]);
    }
    gpu.dispatch(&gpu.compute_with(OFFSETS, None, (set_layout, set))?, &[], [1; 3])?;
    let at = |x: u32, y: u32| y * 128 + x;
    let gathered = |x: u32, y: u32| [at(x - 1, y), at(x, y), at(x, y - 1), at(x - 1, y - 1)];
    let single = [at(8, 81), at(71, 18), at(8, 18), at(71, 81)];
    let expected: Vec<u32> = [single, gathered(8, 18), gathered(71, 81)].concat();
    check(out.words() == expected, || format!("{:?} instead of {expected:?}", out.words()))
}

fn near(pixel: [u8; 4], wanted: [f32; 4]) -> bool {
    pixel.iter().zip(wanted).all(|(&got, wanted)| (f32::from(got) - wanted * 255.0).abs() <= 1.0)
}

case!("limits.stages.components", "Location Assignment", components);

/// Passes 124 components beside the position between stages.
fn components(gpu: &Gpu) -> Case {
    need(gpu, |limits| limits.max_vertex_output_components >= 128 && limits.max_fragment_input_components >= 128)?;
    let state = State { vertex: COMPONENTS_VERTEX, fragment: COMPONENTS, ..State::default() };
    let pixels = render(gpu, &Target::default(), &[Draw::rect(state, FULL, [0.0; 4])])?;
    for (number, pixel) in (0..).zip(pixels) {
        let place = [number % SIZE, number / SIZE].map(|at| (at as f32 + 0.5) / SIZE as f32);
        let wanted = [1.0, place[0], place[1], 1.0];
        check(near(pixel, wanted), || format!("pixel {number}: {pixel:?} instead of {wanted:?}"))?;
    }
    Ok(())
}

case!("limits.fragments.interpolation", "Interpolation Functions", interpolation);

/// Interpolates inputs two pixels beside a fragment's centre, also outside of the primitive.
fn interpolation(gpu: &Gpu) -> Case {
    need(gpu, |limits| limits.min_interpolation_offset <= -2.0 && limits.max_interpolation_offset >= 2.0)?;
    if gpu.features.sample_rate_shading == 0 {
        return Err(Outcome::NotSupported("sampleRateShading".into()));
    }
    let state = State { fragment: FARTHEST, ..State::default() };
    let draw = Draw { extra: 1.0, ..Draw::rect(state, FULL, [0.0; 4]) };
    for (number, pixel) in render(gpu, &Target::default(), &[draw])?.into_iter().enumerate() {
        // Four times two pixels of 16.
        check(near(pixel, [0.5; 4]), || format!("pixel {number}: {pixel:?}"))?;
    }
    Ok(())
}

case!("limits.points.largest", "Points", largest_point);

/// Draws a point of the largest size, which covers a corner of the target.
fn largest_point(gpu: &Gpu) -> Case {
    if gpu.features.large_points == 0 {
        return Err(Outcome::NotSupported("largePoints".into()));
    }
    let size = limits(gpu, |limits| limits.point_size_range[1] >= 64.0)?.point_size_range[1];
    let buffer = gpu.buffer_with(&[0.0f32, 0.0])?;
    for columns in [3u32, 8] {
        let mut state = State { vertex: POINTS, topology: vk::PrimitiveTopology::POINT_LIST, ..State::default() };
        // The point's centre is the viewport's centre.
        let corner = columns as f32 - size / 2.0 - SIDE / 2.0;
        (state.viewport.x, state.viewport.y) = (corner, corner);
        let kind = Kind::VertexBuffer { buffer, count: 1 };
        let draw = Draw { kind, extra: size, ..Draw::rect(state, FULL, [1.0; 4]) };
        let pixels = render(gpu, &Target::default(), &[draw])?;
        for (number, pixel) in (0..).zip(pixels) {
            let inside = number % SIZE < columns && number / SIZE < columns;
            check((pixel[0] == 255) == inside, || format!("{columns} columns, pixel {number}: {pixel:?}"))?;
        }
    }
    Ok(())
}

case!("limits.push.all_bytes", "Push Constant Updates", push_constants);

/// Pushes the largest number of bytes of push constants, in two parts.
fn push_constants(gpu: &Gpu) -> Case {
    need(gpu, |limits| limits.max_push_constants_size >= 256)?;
    let out = gpu.buffer(256)?;
    let (set_layout, set) = gpu.set(&[D::STORAGE_BUFFER])?;
    let stages = vk::ShaderStageFlags::COMPUTE;
    let (sets, push) = ([set_layout], [vk::PushConstantRange { stage_flags: stages, offset: 0, size: 256 }]);
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
    let words: Vec<u32> = (0..64).map(|word| word * 0x0101_0101 + 7).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    // SAFETY: valid infos; descriptors are written before they are used; everything named is alive.
    unsafe {
        let layout = gpu.device.create_pipeline_layout(&info, None)?;
        let buffers = [vk::DescriptorBufferInfo { buffer: out.handle, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(D::STORAGE_BUFFER);
        gpu.device.update_descriptor_sets(&[write.buffer_info(&buffers)], &[]);
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(stages).module(gpu.module(PUSH)?).name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let made = gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        let pipeline = made.map_err(|(_, code)| code)?[0];
        gpu.run(|commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            gpu.device.cmd_bind_pipeline(commands, point, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            gpu.device.cmd_push_constants(commands, layout, stages, 200, &bytes[200..]);
            gpu.device.cmd_push_constants(commands, layout, stages, 0, &bytes[..200]);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
    }
    check(out.words() == words, || format!("{:x?}", out.words()))
}

case!("limits.volumes.largest", "Image Limits", largest_volume);

/// Creates volumes as deep, as wide and as high as the limit, one axis at a time.
fn largest_volume(gpu: &Gpu) -> Case {
    let side = limits(gpu, |limits| limits.max_image_dimension3_d >= 2048)?.max_image_dimension3_d;
    for extent in [[side, 1, 1], [1, side, 1], [1, 1, side]] {
        let [width, height, depth] = extent;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_3D)
            .format(vk::Format::R8_UNORM)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let aspects = vk::ImageAspectFlags::COLOR;
        let handle = gpu.bound_image(&info)?;
        let view = vk::ImageView::null();
        let image = crate::harness::Image { handle, view, extent: info.extent, aspects, levels: 1 };
        let data: Vec<u8> = (0..side).map(|texel| ((texel * 7) >> 3) as u8).collect();
        gpu.write_image(&image, aspects, &data, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)?;
        // The texels of all slices lie one behind the other.
        let back = gpu.buffer(u64::from(side))?;
        let region = crate::harness::whole(&image, aspects);
        gpu.run(|commands| {
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: the image is in the layout, and the buffer holds all of the region.
            unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, layout, back.handle, &[region]) };
            gpu.barrier(commands, None);
        })?;
        check(back.read(0, side as usize) == data, || format!("{extent:?}"))?;
    }
    Ok(())
}
