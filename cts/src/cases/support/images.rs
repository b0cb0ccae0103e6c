//! Images and pipelines of dynamic rendering and of copies.

use ash::vk;

use crate::harness::{Gpu, Image, ImageDesc, Outcome};
use crate::render::SIZE;

pub(in crate::cases) const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub(in crate::cases) const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Creates a colour image of the default size.
pub(in crate::cases) fn image(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let usage =
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.image(&ImageDesc { samples, ..ImageDesc::color(RGBA, [SIZE; 2], usage) })
}
