//! Memory exhaustion, lazily allocated memory, and contents that passes and transitions discard:
//! no other contents may be lost.

use ash::vk::{ImageLayout as L, ImageUsageFlags as U};
use ash::{khr, vk};

use crate::cases::support::conditions::supports;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check};

const STORE_ALL: &[u8] = shader!("store_all.comp");
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

/// Texels of a side: an image has more than 64 KiB.
const SIDE: u32 = 256;

fn texel(number: u32) -> u32 {
    number.wrapping_mul(2_654_435_761)
}

/// Returns texels of 4 bytes that no compression makes smaller.
fn noise() -> Vec<u8> {
    (0..SIDE * SIDE).flat_map(|number| texel(number).to_le_bytes()).collect()
}

fn image(gpu: &Gpu, usage: U) -> Result<Image, Outcome> {
    gpu.image(&ImageDesc::color(vk::Format::R32_UINT, [SIDE; 2], usage | U::TRANSFER_SRC | U::TRANSFER_DST))
}

/// Checks that an image in the transfer source layout holds the noise.
fn check_noise(gpu: &Gpu, image: &Image) -> Case {
    for round in 0..2 {
        gpu.run(|_| ())?;
        let found = gpu.read_image(image, COLOR, 4)?;
        let wrong =
            found.as_chunks().0.iter().zip(0..).find(|&(&bytes, number)| u32::from_le_bytes(bytes) != texel(number));
        check(wrong.is_none(), || format!("texel {wrong:?} in round {round}"))?;
    }
    Ok(())
}

case!("memory.exhausted.images", "Device Memory Allocation", exhausted);

/// Allocates until memory is exhausted and checks that this is an error: earlier memory keeps its
/// contents, and freed memory can be allocated again.
fn exhausted(gpu: &Gpu) -> Case {
    let kept = image(gpu, U::SAMPLED)?;
    gpu.write_image(&kept, COLOR, &noise(), L::TRANSFER_SRC_OPTIMAL)?;
    let heap = gpu.memory.memory_types[0].heap_index as usize;
    let piece = (gpu.memory.memory_heaps[heap].size / 7).next_multiple_of(1 << 20);
    let info = vk::MemoryAllocateInfo::default().allocation_size(piece).memory_type_index(0);
    let (mut taken, mut refused) = (Vec::new(), None);
    // SAFETY: the info is valid; nothing uses the memory before it is freed.
    unsafe {
        while refused.is_none() && taken.len() < 64 {
            match gpu.device.allocate_memory(&info, None) {
                Ok(memory) => taken.push(memory),
                Err(code) => refused = Some(code),
            }
        }
        taken.iter().for_each(|memory| gpu.device.free_memory(*memory, None));
    }
    let code = refused.ok_or_else(|| Outcome::Fail(format!("{} sevenths of the heap were had", taken.len())))?;
    check(code == vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, || format!("memory ran out with {code:?}"))?;
    let other = image(gpu, U::SAMPLED)?;
    gpu.write_image(&other, COLOR, &noise(), L::TRANSFER_SRC_OPTIMAL)?;
    check_noise(gpu, &other)?;
    check_noise(gpu, &kept)
}

/// Records a pass that clears an image and ends with the store operation `store`.
fn clear(gpu: &Gpu, commands: vk::CommandBuffer, image: &Image, store: vk::AttachmentStoreOp) {
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let attachments = [vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(L::GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(store)
        .clear_value(vk::ClearValue { color: vk::ClearColorValue { uint32: [7; 4] } })];
    let extent = vk::Extent2D { width: SIDE, height: SIDE };
    let area = vk::Rect2D { extent, ..Default::default() };
    let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&attachments);
    // SAFETY: the command buffer is recording, and the image is in the layout.
    unsafe {
        second.cmd_begin_rendering(commands, &info);
        second.cmd_end_rendering(commands);
    }
}

const LOST: vk::AttachmentStoreOp = vk::AttachmentStoreOp::DONT_CARE;
const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;

case!("memory.contents.behind_lost", "Render Pass Store Operations", behind_lost);

/// Checks that a copy to an image after a pass that discards its contents is kept, also in the
/// same submission.
fn behind_lost(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let (image, source) = (image(gpu, U::COLOR_ATTACHMENT)?, gpu.buffer_with(&noise())?);
    let region = crate::harness::whole(&image, COLOR);
    for round in 0..3 {
        let copy = |commands| {
            // SAFETY: the command buffer is recording.
            unsafe {
                gpu.device.cmd_copy_buffer_to_image(commands, source.handle, image.handle, L::GENERAL, &[region]);
            }
            gpu.barrier(commands, Some(Transition { image: &image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
        };
        gpu.run(|commands| {
            let old = if round == 0 { L::UNDEFINED } else { L::TRANSFER_SRC_OPTIMAL };
            gpu.barrier(commands, Some(Transition { image: &image, from: old, to: L::GENERAL }));
            clear(gpu, commands, &image, LOST);
            gpu.barrier(commands, None);
            if round == 1 {
                copy(commands);
            }
        })?;
        if round != 1 {
            gpu.run(|_| ())?;
            gpu.run(copy)?;
        }
        check_noise(gpu, &image)?;
    }
    // The contents that another pass stores are not lost either.
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: L::TRANSFER_SRC_OPTIMAL, to: L::GENERAL }));
        clear(gpu, commands, &image, LOST);
        gpu.barrier(commands, None);
        clear(gpu, commands, &image, STORE);
        gpu.barrier(commands, Some(Transition { image: &image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
    })?;
    gpu.run(|_| ())?;
    check_texels(gpu, &image, |_, _| 7)
}

/// Compares an image in the transfer source layout with the expected words by column and row, also
/// if it was read before.
fn check_texels(gpu: &Gpu, image: &Image, expected: impl Fn(u32, u32) -> u32) -> Case {
    for round in 0..2 {
        let found = gpu.read_image(image, COLOR, 4)?;
        for (&bytes, number) in found.as_chunks().0.iter().zip(0..) {
            let (x, y, found) = (number % SIDE, number / SIDE, u32::from_le_bytes(bytes));
            check(found == expected(x, y), || {
                format!("{found} instead of {} at ({x}, {y}) in round {round}", expected(x, y))
            })?;
        }
    }
    Ok(())
}

case!("memory.contents.behind_clear", "Render Pass Load Operations", behind_clear);

/// Checks that a pass without draws clears an image everywhere for the commands that follow, in
/// the same submission and in later ones.
fn behind_clear(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let (image, source) = (image(gpu, U::COLOR_ATTACHMENT)?, gpu.buffer_with(&noise())?);
    let rows = 40;
    let mut region = crate::harness::whole(&image, COLOR);
    region.image_extent.height = rows;
    for round in 0..4u32 {
        gpu.run(|commands| {
            let old = if round == 0 { L::UNDEFINED } else { L::TRANSFER_SRC_OPTIMAL };
            gpu.barrier(commands, Some(Transition { image: &image, from: old, to: L::GENERAL }));
            clear(gpu, commands, &image, STORE);
            gpu.barrier(commands, None);
            if round & 1 != 0 {
                // SAFETY: the command buffer is recording.
                unsafe {
                    gpu.device.cmd_copy_buffer_to_image(commands, source.handle, image.handle, L::GENERAL, &[region]);
                }
            }
            if round & 2 != 0 {
                clear_part(gpu, commands, &image);
            }
            gpu.barrier(commands, Some(Transition { image: &image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
        })?;
        check_texels(gpu, &image, |x, y| match (x, y) {
            (20..120, 30..200) if round & 2 != 0 => 11,
            (_, y) if y < rows && round & 1 != 0 => texel(y * SIDE + x),
            _ => 7,
        })?;
    }
    Ok(())
}

/// Records a pass that loads an image and clears a part of it to 11.
fn clear_part(gpu: &Gpu, commands: vk::CommandBuffer, image: &Image) {
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let attachments = [vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(L::GENERAL)
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(STORE)];
    let area =
        |x, y, width, height| vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } };
    let info = vk::RenderingInfo::default().render_area(area(0, 0, SIDE, SIDE)).layer_count(1);
    let part = vk::ClearRect { rect: area(20, 30, 100, 170), base_array_layer: 0, layer_count: 1 };
    let clear_value = vk::ClearValue { color: vk::ClearColorValue { uint32: [11; 4] } };
    let clear = vk::ClearAttachment { aspect_mask: COLOR, color_attachment: 0, clear_value };
    // SAFETY: the command buffer is recording, and the image is in the layout.
    unsafe {
        gpu.barrier(commands, None);
        second.cmd_begin_rendering(commands, &info.color_attachments(&attachments));
        gpu.device.cmd_clear_attachments(commands, &[clear], &[part]);
        second.cmd_end_rendering(commands);
    }
}

case!("memory.contents.behind_clear_command", "Clear Commands", behind_clear_command);

/// Clears a whole image, some of its levels, and again. Copies and blits must find the last clear.
fn behind_clear_command(gpu: &Gpu) -> Case {
    let usage = U::TRANSFER_SRC | U::TRANSFER_DST;
    let desc = ImageDesc { levels: 3, ..ImageDesc::color(vk::Format::R32_UINT, [SIDE; 2], usage) };
    let (image, copy, blitted) = (gpu.image(&desc)?, gpu.image(&desc)?, gpu.image(&desc)?);
    let clear = |commands, levels: std::ops::Range<u32>, value| {
        let range = crate::harness::range(COLOR, levels.start, levels.len() as u32);
        let value = vk::ClearColorValue { uint32: [value; 4] };
        // SAFETY: the command buffer is recording, and the image is in the layout.
        unsafe { gpu.device.cmd_clear_color_image(commands, image.handle, L::GENERAL, &value, &[range]) };
        gpu.barrier(commands, None);
    };
    // SAFETY: the command buffer is recording, and images are in these layouts.
    let take = |commands, level, target: &Image, blits: bool| unsafe {
        let layers = |mip_level| vk::ImageSubresourceLayers { mip_level, ..crate::harness::layers(COLOR) };
        let extent = vk::Extent3D { width: SIDE >> level, height: SIDE >> level, depth: 1 };
        let end = vk::Offset3D { x: (SIDE >> level) as i32, y: (SIDE >> level) as i32, z: 1 };
        let offsets = [vk::Offset3D::default(), end];
        let copied = vk::ImageCopy::default().src_subresource(layers(level)).dst_subresource(layers(0)).extent(extent);
        let blit = vk::ImageBlit::default().src_subresource(layers(level)).dst_subresource(layers(0));
        let blit = blit.src_offsets(offsets).dst_offsets(offsets);
        let (from, to) = (image.handle, target.handle);
        match blits {
            true => gpu.device.cmd_blit_image(commands, from, L::GENERAL, to, L::GENERAL, &[blit], vk::Filter::NEAREST),
            false => gpu.device.cmd_copy_image(commands, from, L::GENERAL, to, L::GENERAL, &[copied]),
        }
        gpu.barrier(commands, None);
    };
    gpu.run(|commands| {
        for image in [&image, &copy, &blitted] {
            gpu.barrier(commands, Some(Transition { image, from: L::UNDEFINED, to: L::GENERAL }));
        }
        clear(commands, 0..3, 5);
        take(commands, 0, &copy, false);
        take(commands, 0, &blitted, true);
        clear(commands, 0..3, 6);
        clear(commands, 1..2, 8);
        take(commands, 1, &copy, false);
        take(commands, 2, &blitted, true);
        for image in [&image, &copy, &blitted] {
            gpu.barrier(commands, Some(Transition { image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
        }
    })?;
    let inside = |x: u32, y: u32, level: u32| x.max(y) < SIDE >> level;
    check_texels(gpu, &image, |_, _| 6)?;
    check_texels(gpu, &copy, |x, y| if inside(x, y, 1) { 8 } else { 5 })?;
    check_texels(gpu, &blitted, |x, y| if inside(x, y, 2) { 6 } else { 5 })
}

case!("memory.contents.loaded_stencil", "Render Pass Load Operations", loaded_stencil);

/// Loads a stencil in a pass without depth. Operations that leave depth out must lose nothing.
fn loaded_stencil(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let (format, stencil) = (vk::Format::S8_UINT, vk::ImageAspectFlags::STENCIL);
    if !supports(gpu, format, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT)? {
        return Err(Outcome::NotSupported("stencils alone".into()));
    }
    let usage = U::DEPTH_STENCIL_ATTACHMENT | U::TRANSFER_SRC | U::TRANSFER_DST;
    let desc = ImageDesc { aspects: stencil, ..ImageDesc::color(format, [2 * SIDE; 2], usage) };
    let (image, second) = (gpu.image(&desc)?, khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device));
    let attachment = vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(L::GENERAL)
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(STORE);
    let area = vk::Rect2D { extent: vk::Extent2D { width: 2 * SIDE, height: 2 * SIDE }, ..Default::default() };
    let info = vk::RenderingInfo::default().render_area(area).layer_count(1).stencil_attachment(&attachment);
    let value = vk::ClearAttachment {
        aspect_mask: stencil,
        clear_value: vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.0, stencil: 9 } },
        ..Default::default()
    };
    let corner = vk::Extent2D { width: 8, height: 8 };
    let rect = vk::Rect2D { extent: corner, ..Default::default() };
    let corner = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: L::UNDEFINED, to: L::GENERAL }));
        let (range, old) =
            (crate::harness::range(stencil, 0, 1), vk::ClearDepthStencilValue { depth: 0.0, stencil: 17 });
        // SAFETY: the command buffer is recording, and the image is in the layout.
        unsafe {
            gpu.device.cmd_clear_depth_stencil_image(commands, image.handle, L::GENERAL, &old, &[range]);
            gpu.barrier(commands, None);
            second.cmd_begin_rendering(commands, &info);
            gpu.device.cmd_clear_attachments(commands, &[value], &[corner]);
            second.cmd_end_rendering(commands);
        }
        gpu.barrier(commands, Some(Transition { image: &image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
    })?;
    let found = gpu.read_image(&image, stencil, 1)?;
    let expected = |at: usize| if at % (2 * SIDE as usize) < 8 && at / (2 * SIDE as usize) < 8 { 9 } else { 17 };
    let wrong = found.iter().enumerate().find(|&(at, &value)| value != expected(at));
    check(wrong.is_none(), || format!("pixel and stencil: {wrong:?}"))
}

case!("memory.contents.behind_undefined", "Image Layout Transitions", behind_undefined);

/// Checks that a transition from the undefined layout affects neither later contents nor other
/// images.
fn behind_undefined(gpu: &Gpu) -> Case {
    let (image, other) = (image(gpu, U::SAMPLED)?, image(gpu, U::SAMPLED)?);
    gpu.write_image(&other, COLOR, &noise(), L::TRANSFER_SRC_OPTIMAL)?;
    for _ in 0..3 {
        gpu.write_image(&image, COLOR, &noise(), L::TRANSFER_SRC_OPTIMAL)?;
        check_noise(gpu, &image)?;
        check_noise(gpu, &other)?;
    }
    // Transitions to layouts for reads and back keep the contents.
    for _ in 0..2 {
        gpu.run(|commands| {
            gpu.barrier(
                commands,
                Some(Transition { image: &image, from: L::TRANSFER_SRC_OPTIMAL, to: L::SHADER_READ_ONLY_OPTIMAL }),
            );
            gpu.barrier(
                commands,
                Some(Transition { image: &image, from: L::SHADER_READ_ONLY_OPTIMAL, to: L::GENERAL }),
            );
            gpu.barrier(commands, Some(Transition { image: &image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
        })?;
        check_noise(gpu, &image)?;
    }
    Ok(())
}

case!("memory.contents.stored_behind_lost", "Render Pass Store Operations", |gpu| stored_behind(gpu, LOST));
case!("memory.contents.stored_behind_clear", "Render Pass Load Operations", |gpu| stored_behind(gpu, STORE));

/// Stores to an image from a shader, discards or clears it in a pass, and stores again through the
/// set that was bound before the pass.
fn stored_behind(gpu: &Gpu, store: vk::AttachmentStoreOp) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let image = image(gpu, U::COLOR_ATTACHMENT | U::STORAGE)?;
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_IMAGE])?;
    let info = [vk::DescriptorImageInfo { image_view: image.view, image_layout: L::GENERAL, ..Default::default() }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).image_info(&info);
    let compute = gpu.compute_with(STORE_ALL, None, (set_layout, set))?;
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        gpu.device.update_descriptor_sets(&[write.descriptor_type(vk::DescriptorType::STORAGE_IMAGE)], &[]);
        gpu.run(|commands| {
            gpu.barrier(commands, Some(Transition { image: &image, from: L::UNDEFINED, to: L::GENERAL }));
            gpu.bind_compute(commands, &compute, &[]);
            gpu.device.cmd_dispatch(commands, SIDE / 16, SIDE / 16, 1);
            gpu.barrier(commands, None);
            clear(gpu, commands, &image, store);
            gpu.barrier(commands, None);
            gpu.device.cmd_dispatch(commands, SIDE / 16, SIDE / 16, 1);
            gpu.barrier(commands, Some(Transition { image: &image, from: L::GENERAL, to: L::TRANSFER_SRC_OPTIMAL }));
        })?;
    }
    check_noise(gpu, &image)
}

case!("memory.contents.aliased", "Memory Aliasing", aliased);

/// Uses two images in the same memory in turns: contents that one of them discards must not affect
/// the other.
fn aliased(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::ALIAS)
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(U::COLOR_ATTACHMENT | U::TRANSFER_SRC | U::TRANSFER_DST);
    // SAFETY: valid infos; both are bound once.
    let images = unsafe {
        let handles = [gpu.device.create_image(&info, None)?, gpu.device.create_image(&info, None)?];
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(handles[0]), false)?;
        let made = handles.map(|handle| -> Result<Image, Outcome> {
            gpu.device.bind_image_memory(handle, memory, 0)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(vk::Format::R32_UINT)
                .subresource_range(crate::harness::range(COLOR, 0, 1));
            let view = gpu.device.create_image_view(&info, None)?;
            let extent = vk::Extent3D { width: SIDE, height: SIDE, depth: 1 };
            Ok(Image { handle, view, extent, aspects: COLOR, levels: 1 })
        });
        let [first, second] = made;
        [first?, second?]
    };
    for round in 0..4 {
        let [loses, has] = if round % 2 == 0 { [0, 1] } else { [1, 0] }.map(|number| &images[number]);
        gpu.run(|commands| {
            gpu.barrier(commands, Some(Transition { image: loses, from: L::UNDEFINED, to: L::GENERAL }));
            clear(gpu, commands, loses, LOST);
            gpu.barrier(commands, None);
        })?;
        gpu.write_image(has, COLOR, &noise(), L::TRANSFER_SRC_OPTIMAL)?;
        check_noise(gpu, has)?;
    }
    Ok(())
}

case!("memory.lazy.transient", "Lazily Allocated Memory", lazy);

/// Uses a multisampled image that is never stored, in lazily allocated memory.
fn lazy(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let types = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
    let is_lazy = |kind: &vk::MemoryType| kind.property_flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED);
    let Some(lazy) = types.iter().position(is_lazy) else {
        return Err(Outcome::NotSupported("lazily allocated memory".into()));
    };
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_4)
        .usage(U::COLOR_ATTACHMENT | U::TRANSIENT_ATTACHMENT);
    let resolved = ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIDE; 2], U::COLOR_ATTACHMENT | U::TRANSFER_SRC);
    let resolved = gpu.image(&resolved)?;
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: valid infos; the command buffers are recording.
    unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(handle);
        check(needs.memory_type_bits >> lazy & 1 != 0, || "a transient image may not lie there".into())?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(lazy as u32);
        let memory = gpu.device.allocate_memory(&info, None)?;
        check(gpu.device.get_device_memory_commitment(memory) == 0, || {
            "memory was there before it was touched".into()
        })?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        let view = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(crate::harness::range(COLOR, 0, 1));
        let view = gpu.device.create_image_view(&view, None)?;
        let many = Image { handle, view, extent: resolved.extent, aspects: COLOR, levels: 1 };
        for round in [3u8, 200] {
            let value = f32::from(round) / 255.0;
            let attachments = [vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(L::COLOR_ATTACHMENT_OPTIMAL)
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(resolved.view)
                .resolve_image_layout(L::COLOR_ATTACHMENT_OPTIMAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(LOST)
                .clear_value(vk::ClearValue { color: vk::ClearColorValue { float32: [value; 4] } })];
            let extent = vk::Extent2D { width: SIDE, height: SIDE };
            let info = vk::RenderingInfo::default()
                .render_area(vk::Rect2D { extent, ..Default::default() })
                .layer_count(1)
                .color_attachments(&attachments);
            gpu.run(|commands| {
                for image in [&many, &resolved] {
                    gpu.barrier(
                        commands,
                        Some(Transition { image, from: L::UNDEFINED, to: L::COLOR_ATTACHMENT_OPTIMAL }),
                    );
                }
                second.cmd_begin_rendering(commands, &info);
                second.cmd_end_rendering(commands);
                gpu.barrier(
                    commands,
                    Some(Transition {
                        image: &resolved,
                        from: L::COLOR_ATTACHMENT_OPTIMAL,
                        to: L::TRANSFER_SRC_OPTIMAL,
                    }),
                );
            })?;
            let found = gpu.read_image(&resolved, COLOR, 4)?;
            check(found.iter().all(|byte| *byte == round), || format!("it is not cleared to {round}"))?;
            let committed = gpu.device.get_device_memory_commitment(memory);
            check(committed <= needs.size, || format!("{committed} bytes of {}", needs.size))?;
        }
    }
    Ok(())
}
