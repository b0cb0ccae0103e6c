//! Separate usages of the stencil aspect.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, check};

case!("core12.images.stencil_usage", "VK_EXT_separate_stencil_usage", stencil_usage);

/// Checks usages of stencil that depth lacks, and that a usage that neither aspect supports is
/// refused.
fn stencil_usage(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SEPARATE_STENCIL_USAGE_NAME)?;
    let query = khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    let supports = |usage| {
        let mut stencil = vk::ImageStencilUsageCreateInfo::default().stencil_usage(usage);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(vk::Format::D32_SFLOAT_S8_UINT)
            .ty(vk::ImageType::TYPE_2D)
            .usage(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT)
            .push_next(&mut stencil);
        // SAFETY: the info is valid.
        unsafe {
            query.get_physical_device_image_format_properties2(
                gpu.physical,
                &info,
                &mut vk::ImageFormatProperties2::default(),
            )
        }
        .is_ok()
    };
    let sampled = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    check(supports(sampled), || "stencil cannot be sampled".into())?;
    check(!supports(vk::ImageUsageFlags::COLOR_ATTACHMENT), || "stencil as colour".into())
}
