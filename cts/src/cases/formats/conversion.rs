//! Format conversion: copies between buffers and images, clears, and blits to other formats.

use ash::vk;
use ash::vk::Format as F;

use crate::Entry;
use crate::cases::support::conditions::supports;
use crate::harness::{Case, Gpu, ImageDesc, Transition, check, layers, range};

/// Colour formats, bytes of a texel, and components.
const COLORS: &[(&str, F, u32, usize)] = &[
    ("r8_unorm", F::R8_UNORM, 1, 1),
    ("r8_snorm", F::R8_SNORM, 1, 1),
    ("r8_uint", F::R8_UINT, 1, 1),
    ("r8_sint", F::R8_SINT, 1, 1),
    ("r8g8_unorm", F::R8G8_UNORM, 2, 2),
    ("r8g8_uint", F::R8G8_UINT, 2, 2),
    ("r8g8b8a8_unorm", F::R8G8B8A8_UNORM, 4, 4),
    ("r8g8b8a8_snorm", F::R8G8B8A8_SNORM, 4, 4),
    ("r8g8b8a8_uint", F::R8G8B8A8_UINT, 4, 4),
    ("r8g8b8a8_sint", F::R8G8B8A8_SINT, 4, 4),
    ("r8g8b8a8_srgb", F::R8G8B8A8_SRGB, 4, 4),
    ("b8g8r8a8_unorm", F::B8G8R8A8_UNORM, 4, 4),
    ("b8g8r8a8_srgb", F::B8G8R8A8_SRGB, 4, 4),
    ("a8b8g8r8_unorm", F::A8B8G8R8_UNORM_PACK32, 4, 4),
    ("a2b10g10r10_unorm", F::A2B10G10R10_UNORM_PACK32, 4, 4),
    ("a2b10g10r10_uint", F::A2B10G10R10_UINT_PACK32, 4, 4),
    ("r5g6b5_unorm", F::R5G6B5_UNORM_PACK16, 2, 3),
    ("a1r5g5b5_unorm", F::A1R5G5B5_UNORM_PACK16, 2, 4),
    ("r16_uint", F::R16_UINT, 2, 1),
    ("r16_sint", F::R16_SINT, 2, 1),
    ("r16_sfloat", F::R16_SFLOAT, 2, 1),
    ("r16g16_uint", F::R16G16_UINT, 4, 2),
    ("r16g16_sfloat", F::R16G16_SFLOAT, 4, 2),
    ("r16g16b16a16_uint", F::R16G16B16A16_UINT, 8, 4),
    ("r16g16b16a16_sint", F::R16G16B16A16_SINT, 8, 4),
    ("r16g16b16a16_sfloat", F::R16G16B16A16_SFLOAT, 8, 4),
    ("r32_uint", F::R32_UINT, 4, 1),
    ("r32_sint", F::R32_SINT, 4, 1),
    ("r32_sfloat", F::R32_SFLOAT, 4, 1),
    ("r32g32_uint", F::R32G32_UINT, 8, 2),
    ("r32g32_sfloat", F::R32G32_SFLOAT, 8, 2),
    ("r32g32b32a32_uint", F::R32G32B32A32_UINT, 16, 4),
    ("r32g32b32a32_sfloat", F::R32G32B32A32_SFLOAT, 16, 4),
    ("b10g11r11_ufloat", F::B10G11R11_UFLOAT_PACK32, 4, 3),
    ("a4r4g4b4_unorm", F::A4R4G4B4_UNORM_PACK16, 2, 4),
    ("a4b4g4r4_unorm", F::A4B4G4R4_UNORM_PACK16, 2, 4),
    ("r10x6_unorm", F::R10X6_UNORM_PACK16, 2, 1),
    ("r10x6g10x6b10x6a10x6_unorm", F::R10X6G10X6B10X6A10X6_UNORM_4PACK16, 8, 4),
    ("e5b9g9r9_ufloat", F::E5B9G9R9_UFLOAT_PACK32, 4, 3),
];

const SIDE: u32 = 11;

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for &(name, format, bytes, components) in COLORS {
        let section = "Required Format Support";
        cases.push(Entry::new(format!("formats.copy.{name}"), section, move |gpu| round_trip(gpu, format, bytes)));
        let clear = move |gpu: &Gpu| clear_and_convert(gpu, format, components);
        cases.push(Entry::new(format!("formats.clear.{name}"), "Clearing Images", clear));
    }
    for (name, format) in [("d16_unorm", F::D16_UNORM), ("d32_sfloat", F::D32_SFLOAT)] {
        cases.push(Entry::new(format!("formats.depth.{name}"), "Clearing Images", move |gpu| clear_depth(gpu, format)));
    }
}

fn is_integer(format: F) -> bool {
    format!("{format:?}").contains("INT")
}

/// Ends a case of a format whose extension the device lacks.
fn need(gpu: &Gpu, format: F) -> Case {
    match format {
        F::A4R4G4B4_UNORM_PACK16 | F::A4B4G4R4_UNORM_PACK16 => gpu.need(vk::EXT_4444_FORMATS_NAME),
        F::R10X6_UNORM_PACK16 | F::R10X6G10X6B10X6A10X6_UNORM_4PACK16 => gpu.need(vk::EXT_RGBA10X6_FORMATS_NAME),
        _ => Ok(()),
    }
}

/// Copies a buffer to an image, to another image and back to a buffer.
fn round_trip(gpu: &Gpu, format: F, bytes: u32) -> Case {
    need(gpu, format)?;
    check(supports(gpu, format, vk::FormatFeatureFlags::SAMPLED_IMAGE)?, || "not sampled".into())?;
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let desc = ImageDesc::color(format, [SIDE; 2], usage);
    let (first, second) = (gpu.image(&desc)?, gpu.image(&desc)?);
    let data: Vec<u8> = (0..SIDE * SIDE * bytes).map(|index| (index.wrapping_mul(37) >> 1) as u8 & 0x3b).collect();
    let aspect = vk::ImageAspectFlags::COLOR;
    let (source, target) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    gpu.write_image(&first, aspect, &data, source)?;
    let region = vk::ImageCopy {
        src_subresource: layers(aspect),
        dst_subresource: layers(aspect),
        extent: first.extent,
        ..Default::default()
    };
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &second, from: vk::ImageLayout::UNDEFINED, to: target }));
        // SAFETY: both images are in the layouts named, and the region lies in both.
        unsafe { gpu.device.cmd_copy_image(commands, first.handle, source, second.handle, target, &[region]) };
        gpu.barrier(commands, Some(Transition { image: &second, from: target, to: source }));
    })?;
    check(gpu.read_image(&second, aspect, bytes)? == data, || "texels changed on the way".into())
}

/// Clears to ones and zeros, and reads the image through a blit to 32-bit components.
fn clear_and_convert(gpu: &Gpu, format: F, components: usize) -> Case {
    need(gpu, format)?;
    let aspect = vk::ImageAspectFlags::COLOR;
    let integer = is_integer(format);
    let signed = format!("{format:?}").contains("SINT");
    let wide = match (integer, signed) {
        (true, true) => F::R32G32B32A32_SINT,
        (true, false) => F::R32G32B32A32_UINT,
        _ => F::R32G32B32A32_SFLOAT,
    };
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let (small, large) =
        (gpu.image(&ImageDesc::color(format, [4; 2], usage))?, gpu.image(&ImageDesc::color(wide, [4; 2], usage))?);
    let one = if integer { 1 } else { 1.0f32.to_bits() };
    let words = [one, 0, one, one];
    let value = vk::ClearColorValue { uint32: words };
    let (source, target) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    let corner = vk::Offset3D { x: 4, y: 4, z: 1 };
    let region = vk::ImageBlit {
        src_subresource: layers(aspect),
        dst_subresource: layers(aspect),
        src_offsets: [vk::Offset3D::default(), corner],
        dst_offsets: [vk::Offset3D::default(), corner],
    };
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &small, from: vk::ImageLayout::UNDEFINED, to: target }));
        gpu.barrier(commands, Some(Transition { image: &large, from: vk::ImageLayout::UNDEFINED, to: target }));
        // SAFETY: both images are in the layouts named, and the regions lie in both.
        unsafe {
            gpu.device.cmd_clear_color_image(commands, small.handle, target, &value, &[range(aspect, 0, 1)]);
            gpu.barrier(commands, Some(Transition { image: &small, from: target, to: source }));
            let filter = vk::Filter::NEAREST;
            gpu.device.cmd_blit_image(commands, small.handle, source, large.handle, target, &[region], filter);
        }
        gpu.barrier(commands, Some(Transition { image: &large, from: target, to: source }));
    })?;
    let bytes = gpu.read_image(&large, aspect, 16)?;
    let read: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let expected: [u32; 4] = std::array::from_fn(|index| match index {
        3 if components < 4 => one,
        index if index < components => words[index],
        _ => 0,
    });
    check(read.chunks_exact(4).all(|texel| texel == expected), || format!("{:x?} for {expected:x?}", &read[..4]))
}

fn clear_depth(gpu: &Gpu, format: F) -> Case {
    let aspect = vk::ImageAspectFlags::DEPTH;
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc { aspects: aspect, ..ImageDesc::color(format, [4; 2], usage) })?;
    let value = vk::ClearDepthStencilValue { depth: 0.5, stencil: 0 };
    let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: target }));
        let ranges = [range(aspect, 0, 1)];
        // SAFETY: the image is in the target layout.
        unsafe { gpu.device.cmd_clear_depth_stencil_image(commands, image.handle, target, &value, &ranges) };
        gpu.barrier(
            commands,
            Some(Transition { image: &image, from: target, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
        );
    })?;
    let bytes = if format == F::D16_UNORM { 2 } else { 4 };
    let data = gpu.read_image(&image, aspect, bytes)?;
    let good = match bytes {
        2 => data.chunks(2).all(|texel| (u16::from_le_bytes([texel[0], texel[1]]) as i32 - 0x8000).abs() <= 1),
        _ => data.chunks(4).all(|texel| f32::from_le_bytes([texel[0], texel[1], texel[2], texel[3]]) == 0.5),
    };
    check(good, || format!("{:?}", &data[..4]))
}
