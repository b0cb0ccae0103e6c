//! Decode modes of ASTC blocks. The components have 16 bits, which half floats round and 8-bit
//! codes cut. Source: `VK_EXT_astc_decode_mode`.

use ash::ext;
use ash::vk::{self, Format as F};

use crate::Entry;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check};
use crate::render::{Draw, FULL, SIZE, SampledImage, State, TEXTURE, Target, render};

/// Components of two blocks, as 16 bits.
const BLOCKS: [u16; 2] = [0x01ff, 0x03ff];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format, block) in [
        ("4x4_unorm", F::ASTC_4X4_UNORM_BLOCK, [4, 4]),
        ("5x4_unorm", F::ASTC_5X4_UNORM_BLOCK, [5, 4]),
        ("8x8_unorm", F::ASTC_8X8_UNORM_BLOCK, [8, 8]),
        ("12x12_unorm", F::ASTC_12X12_UNORM_BLOCK, [12, 12]),
        ("4x4_sfloat", F::ASTC_4X4_SFLOAT_BLOCK, [4, 4]),
        ("10x6_sfloat", F::ASTC_10X6_SFLOAT_BLOCK, [10, 6]),
        ("4x4_srgb", F::ASTC_4X4_SRGB_BLOCK, [4, 4]),
    ] {
        for (filter_name, filter) in [("nearest", vk::Filter::NEAREST), ("linear", vk::Filter::LINEAR)] {
            let run = move |gpu: &Gpu| sampled(gpu, (format, block), filter);
            let name = format!("compressed.decode_modes.{name}_{filter_name}");
            cases.push(Entry::new(name, "VkImageViewASTCDecodeModeEXT", run));
        }
    }
}

/// Returns a block of one value.
fn block(component: u16) -> Vec<u8> {
    let head = (!0u64 << 12 | 0xdfc).to_le_bytes();
    head.into_iter().chain(component.to_le_bytes().repeat(4)).collect()
}

/// Returns the value of a component that is decoded in a mode.
fn decoded(component: u16, mode: Option<F>, format: F) -> f32 {
    let code = f32::from(component >> 8) / 255.0;
    match mode {
        _ if format == F::ASTC_4X4_SRGB_BLOCK => code / 12.92,
        Some(F::R8G8B8A8_UNORM) => code,
        _ => f32::from(component) / 65536.0,
    }
}

/// Samples two blocks by views of each mode.
fn sampled(gpu: &Gpu, (format, [width, height]): (F, [u32; 2]), filter: vk::Filter) -> Case {
    gpu.need(ext::astc_decode_mode::NAME)?;
    // SAFETY: the physical device is valid.
    let found = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
    let needed = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
    if !found.optimal_tiling_features.contains(needed) {
        return Err(Outcome::NotSupported(format!("{format:?}")));
    }
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(format, [2 * width, height], usage))?;
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.write_image(&image, image.aspects, &BLOCKS.map(block).concat(), layout)?;
    let sampler = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&sampler, None)? };
    for mode in [None, Some(F::R16G16B16A16_SFLOAT), Some(F::R8G8B8A8_UNORM)] {
        let texels = shown(gpu, &image, format, mode, sampler)?;
        let [left, right] = BLOCKS.map(|component| decoded(component, mode, format));
        for (number, texel) in texels.iter().enumerate() {
            let column = number as u32 % SIZE;
            let at = (column as f32 + 0.5) / SIZE as f32 * (2 * width) as f32;
            let share = match filter {
                vk::Filter::NEAREST => f32::from(u8::from(at >= width as f32)),
                _ => (at - 0.5 - (width as f32 - 1.0)).clamp(0.0, 1.0),
            };
            let expected = left + (right - left) * share;
            check((texel - expected).abs() < 1e-3, || format!("{mode:?}, column {column}: {texel}, not {expected}"))?;
        }
    }
    Ok(())
}

/// Returns the red components of pixels that sample an image by a view of a mode.
fn shown(gpu: &Gpu, image: &Image, format: F, mode: Option<F>, sampler: vk::Sampler) -> Result<Vec<f32>, Outcome> {
    let mut decode = vk::ImageViewASTCDecodeModeEXT::default().decode_mode(mode.unwrap_or_default());
    let mut info = vk::ImageViewCreateInfo::default()
        .image(image.handle)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(crate::harness::range(image.aspects, 0, 1));
    if mode.is_some() {
        info = info.push_next(&mut decode);
    }
    // SAFETY: the info is valid.
    let view = unsafe { gpu.device.create_image_view(&info, None)? };
    let sampled = SampledImage { view, sampler, layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL };
    let state = State { fragment: TEXTURE, ..State::default() };
    let draw = Draw { image: Some(sampled), ..Draw::rect(state, FULL, [1.0; 4]) };
    let target = Target { format: F::R32G32B32A32_SFLOAT, ..Target::default() };
    let pixels = render(gpu, &target, &[draw])?;
    Ok(pixels.iter().step_by(4).map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
