//! Samplers: addressing, filters, levels, borders, depth comparison.

use ash::vk;

use crate::Entry;
use crate::cases::support::conditions::holds;
use crate::cases::support::sampling::{draw_sampled, sampler, usage};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, layers, range};
use crate::render::{COMPARE, SIZE, SampledImage, TEXTURE};

const BORDER: &[u8] = shader!("border.comp");
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let modes = [
        ("repeat", vk::SamplerAddressMode::REPEAT, [0u8, 1, 0, 1]),
        ("mirrored_repeat", vk::SamplerAddressMode::MIRRORED_REPEAT, [0, 1, 1, 0]),
        ("clamp_to_edge", vk::SamplerAddressMode::CLAMP_TO_EDGE, [0, 1, 1, 1]),
        ("clamp_to_border", vk::SamplerAddressMode::CLAMP_TO_BORDER, [0, 1, 2, 2]),
    ];
    for (name, mode, texels) in modes {
        let run = move |gpu: &Gpu| addressing(gpu, mode, texels, vk::BorderColor::FLOAT_OPAQUE_WHITE);
        cases.push(Entry::new(format!("samplers.address_mode.{name}"), "Samplers", run));
    }
    let borders = [
        ("transparent_black", vk::BorderColor::FLOAT_TRANSPARENT_BLACK),
        ("opaque_black", vk::BorderColor::FLOAT_OPAQUE_BLACK),
        ("opaque_white", vk::BorderColor::FLOAT_OPAQUE_WHITE),
    ];
    for (name, border) in borders {
        let mode = vk::SamplerAddressMode::CLAMP_TO_BORDER;
        let run = move |gpu: &Gpu| addressing(gpu, mode, [0, 1, 2, 2], border);
        cases.push(Entry::new(format!("samplers.border.{name}"), "Samplers", run));
    }
    for level in 0..3u32 {
        let run = move |gpu: &Gpu| levels(gpu, level);
        cases.push(Entry::new(format!("samplers.levels.level{level}"), "Image Level-of-Detail Operations", run));
    }
    for number in 0..8 {
        let op = vk::CompareOp::from_raw(number);
        let run = move |gpu: &Gpu| compare(gpu, op);
        cases.push(Entry::new(format!("samplers.compare.op{number}"), "Depth Compare Operation", run));
    }
}

/// Creates an image two texels wide: red and green.
fn two_texels(gpu: &Gpu) -> Result<Image, Outcome> {
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [2, 1], usage()))?;
    gpu.write_image(&image, vk::ImageAspectFlags::COLOR, &[255, 0, 0, 255, 0, 255, 0, 255], READ)?;
    Ok(image)
}

/// Draws coordinates from 0 to 2: each quarter of the target shows one texel.
fn addressing(gpu: &Gpu, mode: vk::SamplerAddressMode, texels: [u8; 4], border: vk::BorderColor) -> Case {
    let image = two_texels(gpu)?;
    let info = vk::SamplerCreateInfo::default().address_mode_u(mode).address_mode_v(vk::SamplerAddressMode::REPEAT);
    let sampler = sampler(gpu, &info.border_color(border))?;
    let pixels = draw_sampled(gpu, TEXTURE, SampledImage { view: image.view, sampler, layout: READ }, 2.0)?;
    let border = match border {
        vk::BorderColor::FLOAT_TRANSPARENT_BLACK => [0; 4],
        vk::BorderColor::FLOAT_OPAQUE_BLACK => [0, 0, 0, 255],
        _ => [255; 4],
    };
    let colors = [[255, 0, 0, 255], [0, 255, 0, 255], border];
    for (quarter, texel) in texels.into_iter().enumerate() {
        let pixel = pixels[(SIZE * 8) as usize + quarter * 4 + 1];
        check(pixel == colors[usize::from(texel)], || format!("quarter {quarter}: {pixel:?}"))?;
    }
    Ok(())
}

case!("samplers.immutable.copies", "Descriptor Set Updates", immutable_copies);

/// Checks that a set keeps the immutable samplers of its layout through writes and copies.
fn immutable_copies(gpu: &Gpu) -> Case {
    use vk::DescriptorType as T;
    let border = |color| {
        let mode = vk::SamplerAddressMode::CLAMP_TO_BORDER;
        let info = vk::SamplerCreateInfo::default().address_mode_u(mode).address_mode_v(mode).border_color(color);
        sampler(gpu, &info)
    };
    let black = [border(vk::BorderColor::FLOAT_OPAQUE_BLACK)?];
    let white = border(vk::BorderColor::FLOAT_OPAQUE_WHITE)?;
    let (image, out) = (two_texels(gpu)?, gpu.buffer(16)?);
    let kinds = [T::COMBINED_IMAGE_SAMPLER, T::STORAGE_BUFFER];
    let (_, source) = gpu.set(&kinds)?;
    let stages = vk::ShaderStageFlags::COMPUTE;
    let mut bindings = [0, 1].map(|number: usize| {
        let binding = vk::DescriptorSetLayoutBinding::default().binding(number as u32).stage_flags(stages);
        binding.descriptor_type(kinds[number]).descriptor_count(1)
    });
    bindings[0] = bindings[0].immutable_samplers(&black);
    let (set_layout, target) = gpu.set_of(&kinds, &bindings)?;
    let layout = gpu.layout(&[set_layout])?;
    let pipeline = crate::cases::support::compute::pipeline(gpu, BORDER, layout)?;
    let images = [vk::DescriptorImageInfo { sampler: white, image_view: image.view, image_layout: READ }];
    let buffers = [vk::DescriptorBufferInfo { buffer: out.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let of_image = vk::WriteDescriptorSet::default().descriptor_type(kinds[0]).image_info(&images);
    let of_buffer = vk::WriteDescriptorSet::default().descriptor_type(kinds[1]).buffer_info(&buffers);
    let copy = [vk::CopyDescriptorSet::default().src_set(source).dst_set(target).descriptor_count(1)];
    for copies in [false, true] {
        let writes = [of_image.dst_set(if copies { source } else { target }), of_buffer.dst_set(target).dst_binding(1)];
        // SAFETY: nothing uses the sets.
        unsafe { gpu.device.update_descriptor_sets(&writes, if copies { &copy } else { &[] }) };
        out.write(&[7; 16]);
        gpu.run(|commands| {
            let point = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_bind_pipeline(commands, point, pipeline);
                gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[target], &[]);
                gpu.device.cmd_dispatch(commands, 1, 1, 1);
            }
            gpu.barrier(commands, None);
        })?;
        check(out.floats() == [0.0, 0.0, 0.0, 1.0], || format!("copied: {copies}, {:?}", out.floats()))?;
    }
    Ok(())
}

case!("samplers.filter.linear", "Texel Filtering", linear);

fn linear(gpu: &Gpu) -> Case {
    let image = two_texels(gpu)?;
    let info = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR).min_filter(vk::Filter::LINEAR);
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let sampler = sampler(gpu, &info.address_mode_u(edge).address_mode_v(edge))?;
    let pixels = draw_sampled(gpu, TEXTURE, SampledImage { view: image.view, sampler, layout: READ }, 1.0)?;
    for x in 0..SIZE {
        let share = ((x as f32 + 0.5) / SIZE as f32 * 2.0 - 0.5).clamp(0.0, 1.0);
        let [red, green, ..] = pixels[x as usize].map(f32::from);
        let good = (red - (1.0 - share) * 255.0).abs() <= 2.0 && (green - share * 255.0).abs() <= 2.0;
        check(good, || format!("column {x}: {red} {green}"))?;
    }
    Ok(())
}

/// Draws an image of 64x64 texels with levels of one colour each, so small that `level` is used.
fn levels(gpu: &Gpu, level: u32) -> Case {
    let image =
        gpu.image(&ImageDesc { levels: 5, ..ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIZE; 2], usage()) })?;
    let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: target }));
        for number in 0..5u32 {
            let value = vk::ClearColorValue { float32: [number as f32 * 0.2, 0.0, 0.0, 1.0] };
            let ranges = [range(vk::ImageAspectFlags::COLOR, number, 1)];
            // SAFETY: the image is in the target layout.
            unsafe { gpu.device.cmd_clear_color_image(commands, image.handle, target, &value, &ranges) };
        }
        gpu.barrier(commands, Some(Transition { image: &image, from: target, to: READ }));
    })?;
    let sampler = sampler(gpu, &vk::SamplerCreateInfo::default().max_lod(8.0))?;
    let pixels =
        draw_sampled(gpu, TEXTURE, SampledImage { view: image.view, sampler, layout: READ }, (1u32 << level) as f32)?;
    let expected = (level as f32 * 0.2 * 255.0).round() as u8;
    check(pixels.iter().all(|pixel| pixel[0] == expected), || format!("{:?} instead of {expected}", pixels[17]))
}

/// Compares a depth image of 0.25, 0.5 and 0.75 with the reference 0.5.
fn compare(gpu: &Gpu, op: vk::CompareOp) -> Case {
    let aspect = vk::ImageAspectFlags::DEPTH;
    let desc = ImageDesc { aspects: aspect, ..ImageDesc::color(vk::Format::D32_SFLOAT, [1, 1], usage()) };
    for stored in [0.25f32, 0.5, 0.75] {
        let image = gpu.image(&desc)?;
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let buffer = gpu.buffer_with(&[stored])?;
        let region =
            vk::BufferImageCopy { image_subresource: layers(aspect), image_extent: image.extent, ..Default::default() };
        gpu.run(|commands| {
            gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: target }));
            // SAFETY: the image is in the target layout, and the buffer holds the texel.
            unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, target, &[region]) };
            gpu.barrier(commands, Some(Transition { image: &image, from: target, to: READ }));
        })?;
        let sampler = sampler(gpu, &vk::SamplerCreateInfo::default().compare_enable(true).compare_op(op))?;
        let pixels = draw_sampled(gpu, COMPARE, SampledImage { view: image.view, sampler, layout: READ }, 1.0)?;
        let expected = if holds(op, 0.5, stored) { 255 } else { 0 };
        check(pixels.iter().all(|pixel| pixel[0] == expected), || format!("0.5 against {stored}: {:?}", pixels[0]))?;
    }
    Ok(())
}
