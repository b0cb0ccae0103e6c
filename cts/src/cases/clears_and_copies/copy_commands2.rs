//! Copies, blits and resolves by the structures of `VK_KHR_copy_commands2`.

use ash::{khr, vk};

use crate::cases::support::images::{GENERAL, image};
use crate::harness::{Case, Gpu, Transition, check, layers, range};
use crate::render::SIZE;

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const EXTENT: vk::Extent3D = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };

case!("core13.copies2.chain", "VK_KHR_copy_commands2", copies2);

/// Copies texels from a buffer to a second buffer, to an image, to another image four columns to
/// the right, mirrored to a third image, and back.
fn copies2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_COPY_COMMANDS2_NAME)?;
    let second = khr::copy_commands2::Device::new(&gpu.instance, &gpu.device);
    let words: Vec<u32> = (0..SIZE * SIZE).map(|at| at * 0x0101_0003).collect();
    let (start, staged) = (gpu.buffer_with(&words)?, gpu.buffer(words.len() as u64 * 4)?);
    let out = gpu.buffer(words.len() as u64 * 4)?;
    let images = [image(gpu, ONE)?, image(gpu, ONE)?, image(gpu, ONE)?];
    let [a, b, c] = images.map(|image| image.handle);
    let part = layers(ASPECT);
    let bytes = [vk::BufferCopy2::default().size(staged.size)];
    let texels = [vk::BufferImageCopy2::default().image_subresource(part).image_extent(EXTENT)];
    let moved = [vk::ImageCopy2::default()
        .src_subresource(part)
        .dst_subresource(part)
        .dst_offset(vk::Offset3D { x: 4, y: 0, z: 0 })
        .extent(vk::Extent3D { width: SIZE - 4, ..EXTENT })];
    let corner = |x: i32, y: i32, z: i32| vk::Offset3D { x, y, z };
    let side = SIZE as i32;
    let mirrored = [vk::ImageBlit2::default()
        .src_subresource(part)
        .src_offsets([corner(0, 0, 0), corner(side, side, 1)])
        .dst_subresource(part)
        .dst_offsets([corner(side, 0, 0), corner(0, side, 1)])];
    gpu.run(|commands| {
        for image in &images {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        let (value, all) = (vk::ClearColorValue { uint32: [0; 4] }, [range(ASPECT, 0, 1)]);
        // SAFETY: the command buffer is recording; all copies are inside of what they name.
        unsafe {
            gpu.device.cmd_clear_color_image(commands, b, GENERAL, &value, &all);
            let info = vk::CopyBufferInfo2::default().src_buffer(start.handle).dst_buffer(staged.handle);
            second.cmd_copy_buffer2(commands, &info.regions(&bytes));
            gpu.barrier(commands, None);
            let info = vk::CopyBufferToImageInfo2::default().src_buffer(staged.handle).dst_image(a);
            second.cmd_copy_buffer_to_image2(commands, &info.dst_image_layout(GENERAL).regions(&texels));
            gpu.barrier(commands, None);
            let info = vk::CopyImageInfo2::default().src_image(a).src_image_layout(GENERAL);
            second.cmd_copy_image2(commands, &info.dst_image(b).dst_image_layout(GENERAL).regions(&moved));
            gpu.barrier(commands, None);
            let info = vk::BlitImageInfo2::default().src_image(b).src_image_layout(GENERAL).dst_image(c);
            let info = info.dst_image_layout(GENERAL).filter(vk::Filter::NEAREST);
            second.cmd_blit_image2(commands, &info.regions(&mirrored));
            gpu.barrier(commands, None);
            let info = vk::CopyImageToBufferInfo2::default().src_image(c).src_image_layout(GENERAL);
            second.cmd_copy_image_to_buffer2(commands, &info.dst_buffer(out.handle).regions(&texels));
        }
        gpu.barrier(commands, None);
    })?;
    for (at, found) in (0u32..).zip(out.words()) {
        let (x, y) = (SIZE - 1 - at % SIZE, at / SIZE);
        let expected = if x < 4 { 0 } else { words[(y * SIZE + x - 4) as usize] };
        check(found == expected, || format!("texel {at} is {found:x}, not {expected:x}"))?;
    }
    Ok(())
}

case!("core13.copies2.resolve", "VK_KHR_copy_commands2", resolve2);

fn resolve2(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_COPY_COMMANDS2_NAME)?;
    let second = khr::copy_commands2::Device::new(&gpu.instance, &gpu.device);
    let (from, to) = (image(gpu, FOUR)?, image(gpu, ONE)?);
    let regions =
        [vk::ImageResolve2::default().src_subresource(layers(ASPECT)).dst_subresource(layers(ASPECT)).extent(EXTENT)];
    gpu.run(|commands| {
        for image in [&from, &to] {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        let (value, all) = (vk::ClearColorValue { float32: [0.2, 0.4, 0.6, 1.0] }, [range(ASPECT, 0, 1)]);
        // SAFETY: the command buffer is recording.
        unsafe {
            gpu.device.cmd_clear_color_image(commands, from.handle, GENERAL, &value, &all);
            gpu.barrier(commands, None);
            let info = vk::ResolveImageInfo2::default().src_image(from.handle).src_image_layout(GENERAL);
            let info = info.dst_image(to.handle).dst_image_layout(GENERAL);
            second.cmd_resolve_image2(commands, &info.regions(&regions));
        }
        gpu.barrier(
            commands,
            Some(Transition { image: &to, from: GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
        );
    })?;
    let bytes = gpu.read_image(&to, ASPECT, 4)?;
    check(bytes.chunks(4).all(|texel| texel == [51, 102, 153, 255]), || format!("{:?}", &bytes[..4]))
}
