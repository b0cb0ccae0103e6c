//! Transfer commands beyond their plain forms: edge sizes, row lengths, aspects, ranges, blits,
//! resolves.
//!
//! Every image lives in the general layout, so that cases differ only in the command they test.

use ash::vk;

use crate::cases::support::transfer_images::{
    ImageShape, download, equal, everything, extent, image, part, region, upload, words,
};
use crate::harness::{Case, Gpu, Outcome, check};

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

fn offset([x, y, z]: [i32; 3]) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}

case!("copies.buffers.fill_to_an_odd_end", "Filling Buffers", fill_to_an_odd_end);

fn fill_to_an_odd_end(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(18)?;
    // SAFETY: the offset lies in the buffer; the whole size is rounded down to words.
    gpu.run(|commands| unsafe { gpu.device.cmd_fill_buffer(commands, buffer.handle, 4, vk::WHOLE_SIZE, !0) })?;
    let expected: Vec<u8> = (0..18).map(|byte| if (4..16).contains(&byte) { 255 } else { 0 }).collect();
    equal(&buffer.read(0, 18), &expected)
}

case!("copies.buffers.update_largest", "Updating Buffers", update_largest);

fn update_largest(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer(65544)?;
    let data: Vec<u8> = (0..65536u32).map(|byte| (byte % 251) as u8).collect();
    // SAFETY: the range lies in the buffer and is as large as may be.
    gpu.run(|commands| unsafe { gpu.device.cmd_update_buffer(commands, buffer.handle, 4, &data) })?;
    let got = buffer.read(0, 65544);
    check(got[4..65540] == data && got[..4] == [0; 4] && got[65540..] == [0; 4], || "other bytes".into())
}

case!("copies.buffer_images.row_length", "Copying Data Between Buffers and Images", row_length);

fn row_length(gpu: &Gpu) -> Case {
    let shape = ImageShape { layers: 2, ..ImageShape::new(vk::Format::R32_UINT, [4, 4, 1]) };
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

/// Returns a format with depth and stencil that the device supports, and the bytes of its depth in
/// a buffer.
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

case!("copies.buffer_images.aspects", "Copying Data Between Buffers and Images", aspects);

pub(in crate::cases) fn aspects(gpu: &Gpu) -> Case {
    let image = image(gpu, ImageShape::new(depth_stencil(gpu)?, [4, 2, 1]), DEPTH | STENCIL)?;
    // Bit patterns that are valid depths both as floats and as 24-bit integers.
    let depths: Vec<u32> = (0..8).map(|texel| 0x003f_0000 + texel).collect();
    let stencils: Vec<u8> = (100..108).collect();
    upload(gpu, image, &depths, region(part(DEPTH, 0, 0), [4, 2, 1]))?;
    upload(gpu, image, &stencils, region(part(STENCIL, 0, 0), [4, 2, 1]))?;
    let got = words(&download(gpu, image, 32, region(part(DEPTH, 0, 0), [4, 2, 1]))?);
    equal(&got.iter().map(|word| word & 0x00ff_ffff).collect::<Vec<_>>(), &depths)?;
    equal(&download(gpu, image, 8, region(part(STENCIL, 0, 0), [4, 2, 1]))?, &stencils)
}

case!("copies.images.between_slices", "Copying Data Between Images", between_slices);

fn between_slices(gpu: &Gpu) -> Case {
    let shape = ImageShape::new(vk::Format::R32_UINT, [2, 2, 3]);
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

case!("clears.color.ranges", "Clearing Images Outside a Render Pass Instance", clear_ranges);

fn clear_ranges(gpu: &Gpu) -> Case {
    let image =
        image(gpu, ImageShape { levels: 3, layers: 3, ..ImageShape::new(vk::Format::R32_UINT, [4, 4, 1]) }, COLOR)?;
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

case!("clears.depth_stencil.one_aspect", "Clearing Images Outside a Render Pass Instance", clear_one_aspect);

fn clear_one_aspect(gpu: &Gpu) -> Case {
    let image = image(gpu, ImageShape::new(depth_stencil(gpu)?, [2, 2, 1]), DEPTH | STENCIL)?;
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

/// Blits a row of 4 texels to the given span of a row of 8 texels.
fn blit<T: bytemuck::Pod>(
    gpu: &Gpu,
    formats: [vk::Format; 2],
    row: &[T],
    span: [i32; 2],
    filter: vk::Filter,
) -> Result<Vec<u8>, Outcome> {
    let source = image(gpu, ImageShape::new(formats[0], [4, 1, 1]), COLOR)?;
    let target = image(gpu, ImageShape::new(formats[1], [8, 1, 1]), COLOR)?;
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

case!("blits.nearest.mirrored", "Image Copies With Scaling", blit_mirrored);

fn blit_mirrored(gpu: &Gpu) -> Case {
    let got = blit(gpu, [vk::Format::R32_UINT; 2], &[1u32, 2, 3, 4], [8, 0], vk::Filter::NEAREST)?;
    equal(&words(&got), &[4, 4, 3, 3, 2, 2, 1, 1])
}

case!("blits.nearest.converted", "Image Copies With Scaling", blit_converted);

fn blit_converted(gpu: &Gpu) -> Case {
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_UNORM];
    let row = [0x0403_0201u32, 0x0807_0605, 0xff80_4000, 0x0102_0304];
    let got = blit(gpu, formats, &row, [2, 6], vk::Filter::NEAREST)?;
    equal(&words(&got), &[0, 0, 0x0401_0203, 0x0805_0607, 0xff00_4080, 0x0104_0302, 0, 0])
}

case!("blits.linear.magnified", "Image Copies With Scaling", blit_linear);

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

case!("resolves.command.offset", "Resolving Multisample Images", resolve_offset);

fn resolve_offset(gpu: &Gpu) -> Case {
    let shape = ImageShape::new(vk::Format::R8G8B8A8_UNORM, [4, 4, 1]);
    let source = image(gpu, ImageShape { samples: vk::SampleCountFlags::TYPE_4, ..shape }, COLOR)?;
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
