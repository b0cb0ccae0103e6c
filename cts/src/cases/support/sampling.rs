//! Images, samplers and draws of cases that sample an image.

use ash::vk;

use crate::harness::{Gpu, Outcome};
use crate::render::{Draw, FULL, SampledImage, State, Target, render};

/// Returns the usage of images that are written by copies and clears, sampled and read back.
pub(in crate::cases) fn usage() -> vk::ImageUsageFlags {
    vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC
}

/// Creates a sampler.
pub(in crate::cases) fn sampler(gpu: &Gpu, info: &vk::SamplerCreateInfo<'_>) -> Result<vk::Sampler, Outcome> {
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_sampler(info, None) }?)
}

/// Draws an image over the target with coordinates from 0 to `extent`.
pub(in crate::cases) fn draw_sampled(
    gpu: &Gpu,
    fragment: &'static [u8],
    image: SampledImage,
    extent: f32,
) -> Result<Vec<[u8; 4]>, Outcome> {
    let state = State { fragment, ..State::default() };
    let draw = Draw { extra: extent, image: Some(image), ..Draw::rect(state, FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])
}
