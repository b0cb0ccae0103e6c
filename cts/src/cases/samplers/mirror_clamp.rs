//! The address mode "mirror clamp to edge".

use ash::vk;

use crate::harness::{Case, Gpu, ImageDesc, check};
use crate::render::{Draw, FULL, SampledImage, State, TEXTURE, Target, render};

case!("core12.samplers.mirror_clamp", "VK_KHR_sampler_mirror_clamp_to_edge", mirror_clamp);

/// Checks that the texture from 0 to -2 equals the texture from 0 to 2 with its edge repeated.
fn mirror_clamp(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SAMPLER_MIRROR_CLAMP_TO_EDGE_NAME)?;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [4, 4], usage))?;
    let data: Vec<u8> = (0..64u32).map(|byte| (byte * 41 % 256) as u8).collect();
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.write_image(&image, vk::ImageAspectFlags::COLOR, &data, layout)?;
    let picture = |mode, end| {
        let info = vk::SamplerCreateInfo::default().address_mode_u(mode).address_mode_v(mode).address_mode_w(mode);
        // SAFETY: the info is valid.
        let sampler = unsafe { gpu.device.create_sampler(&info, None) }?;
        let mut draw = Draw::rect(State { fragment: TEXTURE, ..State::default() }, FULL, [0.0; 4]);
        (draw.extra, draw.image) = (end, Some(SampledImage { view: image.view, sampler, layout }));
        render(gpu, &Target::default(), &[draw])
    };
    let expected = picture(vk::SamplerAddressMode::CLAMP_TO_EDGE, 2.0)?;
    let found = picture(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE, -2.0)?;
    check(found == expected, || "the picture is not mirrored at 0".into())?;
    check(picture(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE, 2.0)? == expected, || "it is not clamped at 1".into())
}
