//! Framebuffers without images.

use ash::vk;

use crate::cases::support::pipelines::whole;
use crate::harness::{Case, Gpu, ImageDesc, check};
use crate::render::SIZE;

case!("core12.framebuffers.imageless", "VK_KHR_imageless_framebuffer", imageless);

/// Clears two images through one framebuffer without images.
fn imageless(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_IMAGELESS_FRAMEBUFFER_NAME)?;
    let format = vk::Format::R8G8B8A8_UNORM;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let desc = ImageDesc::color(format, [SIZE; 2], usage);
    let images = [gpu.image(&desc)?, gpu.image(&desc)?];
    let attachments = [vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let colors = [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let formats = [format];
    let described = [vk::FramebufferAttachmentImageInfo::default()
        .usage(usage)
        .width(SIZE)
        .height(SIZE)
        .layer_count(1)
        .view_formats(&formats)];
    let mut described = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&described);
    // SAFETY: valid infos; the command buffer is recording.
    unsafe {
        let pass = gpu.device.create_render_pass(&info, None)?;
        let mut info = vk::FramebufferCreateInfo::default()
            .flags(vk::FramebufferCreateFlags::IMAGELESS)
            .render_pass(pass)
            .width(SIZE)
            .height(SIZE)
            .layers(1)
            .push_next(&mut described);
        info.attachment_count = 1;
        let framebuffer = gpu.device.create_framebuffer(&info, None)?;
        gpu.run(|commands| {
            for (image, red) in images.iter().zip([0.2, 0.6]) {
                let views = [image.view];
                let mut named = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
                let clears = [vk::ClearValue { color: vk::ClearColorValue { float32: [red, 0.0, 0.0, 0.0] } }];
                let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
                let begin = begin.render_area(whole()).clear_values(&clears).push_next(&mut named);
                gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                gpu.device.cmd_end_render_pass(commands);
            }
            gpu.barrier(commands, None);
        })?;
    }
    for (image, red) in images.iter().zip([51, 153]) {
        let bytes = gpu.read_image(image, vk::ImageAspectFlags::COLOR, 4)?;
        check(bytes.chunks(4).all(|texel| texel == [red, 0, 0, 0]), || format!("{:?}, not {red}", &bytes[..4]))?;
    }
    Ok(())
}
