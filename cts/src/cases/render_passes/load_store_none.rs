//! Load and store operations "none".

use ash::vk;

use crate::harness::{Case, Gpu, ImageDesc, check};
use crate::render::SIZE;

case!("commands.attachments.none", "VK_EXT_load_store_op_none", none_operations);

/// Checks that attachments with operations "none" keep their contents where nothing is drawn.
fn none_operations(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_LOAD_STORE_OP_NONE_NAME)?;
    let usage =
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIZE; 2], usage))?;
    let (aspect, layout) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::GENERAL);
    let bytes = [10, 20, 30, 40].repeat((SIZE * SIZE) as usize);
    gpu.write_image(&image, aspect, &bytes, layout)?;
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::R8G8B8A8_UNORM)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::NONE_EXT)
        .store_op(vk::AttachmentStoreOp::NONE)
        .initial_layout(layout)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let colors = [vk::AttachmentReference { attachment: 0, layout }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&colors)];
    let pass = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let views = [image.view];
    // SAFETY: valid infos; everything that is named is alive.
    unsafe {
        let pass = gpu.device.create_render_pass(&pass, None)?;
        let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views);
        let framebuffer = gpu.device.create_framebuffer(&info.width(SIZE).height(SIZE).layers(1), None)?;
        gpu.run(|commands| {
            let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer);
            let extent = vk::Extent2D { width: SIZE, height: SIZE };
            let begin = begin.render_area(vk::Rect2D { extent, ..Default::default() });
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            gpu.device.cmd_end_render_pass(commands);
            gpu.barrier(commands, None);
        })?;
    }
    check(gpu.read_image(&image, aspect, 4)? == bytes, || "something was written".into())
}
