//! Image views of volume slices and of compressed blocks, and copies between slices and layers.

use ash::vk;
use ash::vk::DescriptorType as D;

use crate::harness::{Case, Gpu, Image, Outcome, Transition, check, range, whole};
use crate::render::{Draw, FULL, SIZE, SampledImage, State, TEXTURE, Target, render};

const BLOCKS: &[u8] = shader!("blocks.comp");

/// Creates a 3D image of 16x16x4 texels of four bytes.
fn volume(gpu: &Gpu) -> Result<Image, Outcome> {
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 4 };
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE)
        .image_type(vk::ImageType::TYPE_3D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(
            vk::ImageUsageFlags::COLOR_ATTACHMENT
                | vk::ImageUsageFlags::TRANSFER_SRC
                | vk::ImageUsageFlags::TRANSFER_DST,
        );
    let handle = gpu.bound_image(&info)?;
    Ok(Image { handle, view: vk::ImageView::null(), extent, aspects: vk::ImageAspectFlags::COLOR, levels: 1 })
}

/// Returns the texels of a volume, slice by slice.
fn slices_of(gpu: &Gpu, image: &Image) -> Result<Vec<u32>, Outcome> {
    let out = gpu.buffer(u64::from(SIZE * SIZE * 4 * 4))?;
    gpu.run(|commands| {
        let region = whole(image, vk::ImageAspectFlags::COLOR);
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: the image is in the layout, and the buffer holds all of it.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, layout, out.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    Ok(out.words())
}

case!("core11.maintenance.slices", "VK_KHR_maintenance1", slices);

/// Renders to two slices of a volume in one pass, by views of one layer of two dimensions.
fn slices(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE1_NAME)?;
    let image = volume(gpu)?;
    let view = |slice: u32, kind| {
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(kind)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(vk::ImageSubresourceRange {
                base_array_layer: slice,
                ..range(vk::ImageAspectFlags::COLOR, 0, 1)
            });
        // SAFETY: the info is valid.
        unsafe { gpu.device.create_image_view(&info, None) }
    };
    let views = [view(2, vk::ImageViewType::TYPE_2D)?, view(1, vk::ImageViewType::TYPE_2D_ARRAY)?];
    let description = vk::AttachmentDescription::default()
        .format(vk::Format::R8G8B8A8_UNORM)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .initial_layout(vk::ImageLayout::GENERAL)
        .final_layout(vk::ImageLayout::GENERAL);
    let layout = vk::ImageLayout::GENERAL;
    let colors = [0, 1].map(|attachment| vk::AttachmentReference { attachment, layout });
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let descriptions = [description; 2];
    let info = vk::RenderPassCreateInfo::default().attachments(&descriptions).subpasses(&subpasses);
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        let pass = gpu.device.create_render_pass(&info, None)?;
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        let framebuffer = gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None)?;
        let color = |float32| vk::ClearValue { color: vk::ClearColorValue { float32 } };
        let clears = [color([1.0, 0.0, 0.0, 1.0]), color([0.0, 0.0, 1.0, 1.0])];
        let extent = vk::Extent2D { width: SIZE, height: SIZE };
        let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).clear_values(&clears);
        let begin = begin.render_area(vk::Rect2D { extent, ..Default::default() });
        gpu.run(|commands| {
            gpu.barrier(
                commands,
                Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: vk::ImageLayout::GENERAL }),
            );
            let all = [range(vk::ImageAspectFlags::COLOR, 0, 1)];
            let zero = vk::ClearColorValue { float32: [0.0; 4] };
            gpu.device.cmd_clear_color_image(commands, image.handle, vk::ImageLayout::GENERAL, &zero, &all);
            gpu.barrier(commands, None);
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            gpu.device.cmd_end_render_pass(commands);
            gpu.barrier(
                commands,
                Some(Transition {
                    image: &image,
                    from: vk::ImageLayout::GENERAL,
                    to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                }),
            );
        })?;
    }
    expect_slices(&slices_of(gpu, &image)?, [0, 0xffff_0000, 0xff00_00ff, 0])
}

fn expect_slices(words: &[u32], expected: [u32; 4]) -> Case {
    for (slice, (words, expected)) in words.chunks((SIZE * SIZE) as usize).zip(expected).enumerate() {
        let wrong = words.iter().find(|&&word| word != expected);
        check(wrong.is_none(), || format!("slice {slice} has {wrong:x?}, not {expected:x}"))?;
    }
    Ok(())
}

case!("core11.maintenance.copy_to_slices", "VK_KHR_maintenance1", copy_to_slices);

/// Copies layers of an array to slices of a volume, and slices to layers.
fn copy_to_slices(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE1_NAME)?;
    let (image, second) = (volume(gpu)?, volume(gpu)?);
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { depth: 1, ..image.extent })
        .mip_levels(1)
        .array_layers(3)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let color = vk::ImageAspectFlags::COLOR;
    let general = vk::ImageLayout::GENERAL;
    let part = |base_array_layer, layer_count| vk::ImageSubresourceLayers {
        aspect_mask: color,
        mip_level: 0,
        base_array_layer,
        layer_count,
    };
    let copy = |src: (u32, u32, i32), dst: (u32, u32, i32), depth| vk::ImageCopy {
        src_subresource: part(src.0, src.1),
        src_offset: vk::Offset3D { x: 0, y: 0, z: src.2 },
        dst_subresource: part(dst.0, dst.1),
        dst_offset: vk::Offset3D { x: 0, y: 0, z: dst.2 },
        extent: vk::Extent3D { depth, ..image.extent },
    };
    // SAFETY: valid infos; memory is bound once; the copies stay inside.
    unsafe {
        let array = gpu.bound_image(&info)?;
        let clear = |commands, handle, layer: u32, layer_count, red: f32| {
            let part = vk::ImageSubresourceRange { base_array_layer: layer, layer_count, ..range(color, 0, 1) };
            let value = vk::ClearColorValue { float32: [red, 0.0, 0.0, 0.0] };
            gpu.device.cmd_clear_color_image(commands, handle, general, &value, &[part]);
        };
        gpu.run(|commands| {
            for image in [&image, &second] {
                gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: general }));
            }
            let all = vk::PipelineStageFlags::ALL_COMMANDS;
            let layers = vk::ImageMemoryBarrier::default()
                .dst_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .new_layout(general)
                .image(array)
                .subresource_range(vk::ImageSubresourceRange { layer_count: 3, ..range(color, 0, 1) });
            gpu.device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[layers]);
            clear(commands, image.handle, 0, 1, 9.0 / 255.0);
            clear(commands, second.handle, 0, 1, 9.0 / 255.0);
            (0..3).for_each(|layer| clear(commands, array, layer, 1, (layer + 1) as f32 / 255.0));
            gpu.barrier(commands, None);
            let regions = [copy((1, 2, 0), (0, 1, 2), 2)];
            gpu.device.cmd_copy_image(commands, array, general, image.handle, general, &regions);
            gpu.barrier(commands, None);
            // Slices 1 and 2, with 9 and 2, become layers 0 and 1, and then slices 0 and 1 of
            // another volume.
            let regions = [copy((0, 1, 1), (0, 2, 0), 2)];
            gpu.device.cmd_copy_image(commands, image.handle, general, array, general, &regions);
            gpu.barrier(commands, None);
            let regions = [copy((0, 3, 0), (0, 1, 0), 3)];
            gpu.device.cmd_copy_image(commands, array, general, second.handle, general, &regions);
            for image in [&image, &second] {
                gpu.barrier(
                    commands,
                    Some(Transition { image, from: general, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
                );
            }
        })?;
    }
    expect_slices(&slices_of(gpu, &image)?, [9, 9, 2, 3])?;
    expect_slices(&slices_of(gpu, &second)?, [9, 2, 3, 9])
}

case!("core11.maintenance.block_views", "VK_KHR_maintenance2", block_views);

/// Writes blocks of a compressed image as texels in a shader, and samples them.
fn block_views(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE2_NAME)?;
    let (blocks, texels) = (vk::Format::BC1_RGB_UNORM_BLOCK, vk::Format::R32G32_UINT);
    let flags = vk::ImageCreateFlags::MUTABLE_FORMAT
        | vk::ImageCreateFlags::EXTENDED_USAGE
        | vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE;
    let extent = vk::Extent3D { width: 16, height: 16, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(vk::ImageType::TYPE_2D)
        .format(blocks)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED);
    // SAFETY: valid infos; memory is bound once; descriptors are written before they are used.
    let (image, sampled) = unsafe {
        let handle = gpu.bound_image(&info)?;
        let view = |format, usage| {
            let mut usage = vk::ImageViewUsageCreateInfo::default().usage(usage);
            let info = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range(vk::ImageAspectFlags::COLOR, 0, 1))
                .push_next(&mut usage);
            gpu.device.create_image_view(&info, None)
        };
        let stored = view(texels, vk::ImageUsageFlags::STORAGE)?;
        let image = Image { handle, view: stored, extent, aspects: vk::ImageAspectFlags::COLOR, levels: 1 };
        (image, view(blocks, vk::ImageUsageFlags::SAMPLED)?)
    };
    let (set_layout, set) = gpu.set(&[D::STORAGE_IMAGE])?;
    let info = [vk::DescriptorImageInfo {
        image_view: image.view,
        image_layout: vk::ImageLayout::GENERAL,
        ..Default::default()
    }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(D::STORAGE_IMAGE).image_info(&info);
    let compute = gpu.compute_with(BLOCKS, None, (set_layout, set))?;
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        gpu.device.update_descriptor_sets(&[write], &[]);
        gpu.run(|commands| {
            gpu.barrier(
                commands,
                Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: vk::ImageLayout::GENERAL }),
            );
            gpu.bind_compute(commands, &compute, &[]);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
            gpu.barrier(commands, None);
        })?;
        let sampler = gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None)?;
        let mut draw = Draw::rect(State { fragment: TEXTURE, ..State::default() }, FULL, [0.0; 4]);
        draw.image = Some(SampledImage { view: sampled, sampler, layout: vk::ImageLayout::GENERAL });
        let pixels = render(gpu, &Target::default(), &[draw])?;
        for (at, pixel) in (0u32..).zip(pixels) {
            let (x, y) = (at % SIZE / 4, at / SIZE / 4);
            let (red, green) = (x * 8 * 255 / 31, y * 16 * 255 / 63);
            let near = pixel[0].abs_diff(red as u8) <= 1 && pixel[1].abs_diff(green as u8) <= 1 && pixel[2] == 0;
            check(near, || format!("block ({x}, {y}) is {pixel:?}, not of {red} and {green}"))?;
        }
    }
    Ok(())
}
