//! `VK_EXT_rasterization_order_attachment_access`: fragments read the results of earlier fragments
//! of the same pixel without a barrier.

use ash::vk;

use crate::cases::support::pipelines::whole;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check};
use crate::render::SIZE;

pub(super) const VERTEX: &[u8] = shader!("ordered.vert");
const COLOR: &[u8] = shader!("ordered_color.frag");
const DEPTH: &[u8] = shader!("ordered_depth.frag");

/// Rectangles of each of two draws.
pub(super) const RECTANGLES: u32 = 40;

/// Creates a pass of one subpass that reads the attachment that it writes.
fn pass_of(gpu: &Gpu, format: vk::Format) -> Result<vk::RenderPass, Outcome> {
    let is_color = format == vk::Format::R32_UINT;
    let attachments = [vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let reference = [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::GENERAL }];
    let subpass = vk::SubpassDescription::default().input_attachments(&reference);
    let subpass = match is_color {
        true => subpass
            .color_attachments(&reference)
            .flags(vk::SubpassDescriptionFlags::RASTERIZATION_ORDER_ATTACHMENT_COLOR_ACCESS_EXT),
        false => subpass
            .depth_stencil_attachment(&reference[0])
            .flags(vk::SubpassDescriptionFlags::RASTERIZATION_ORDER_ATTACHMENT_DEPTH_ACCESS_EXT),
    };
    let subpasses = [subpass];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_render_pass(&info, None) }?)
}

/// Creates a pipeline with ordered fragments.
fn pipeline(
    gpu: &Gpu,
    pass: vk::RenderPass,
    layout: vk::PipelineLayout,
    format: vk::Format,
) -> Result<vk::Pipeline, Outcome> {
    let is_color = format == vk::Format::R32_UINT;
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, gpu.module(VERTEX)?),
        stage(vk::ShaderStageFlags::FRAGMENT, gpu.module(if is_color { COLOR } else { DEPTH })?),
    ];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let side = SIZE as f32;
    let viewports = [vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() }];
    let scissors = [whole()];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .flags(vk::PipelineDepthStencilStateCreateFlags::RASTERIZATION_ORDER_ATTACHMENT_DEPTH_ACCESS_EXT)
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::ALWAYS);
    let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default()
        .flags(vk::PipelineColorBlendStateCreateFlags::RASTERIZATION_ORDER_ATTACHMENT_ACCESS_EXT)
        .attachments(&blends);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .layout(layout)
        .render_pass(pass);
    let info = if is_color { info.color_blend_state(&blend) } else { info.depth_stencil_state(&depth) };
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    Ok(made.map_err(|(_, code)| code)?[0])
}

/// Creates a set with the attachment as input.
fn input_of(gpu: &Gpu, image: &Image) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
    let kind = vk::DescriptorType::INPUT_ATTACHMENT;
    let (layout, set) = gpu.set_for(&[kind], vk::ShaderStageFlags::FRAGMENT)?;
    let (image_layout, sampler) = (vk::ImageLayout::GENERAL, vk::Sampler::null());
    let info = [vk::DescriptorImageInfo { image_view: image.view, image_layout, sampler }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(kind).image_info(&info);
    // SAFETY: the set is new, and nothing uses it.
    unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    Ok((layout, set))
}

case!("attachments.ordered.colors", "VK_EXT_rasterization_order_attachment_access", |gpu| ordered(
    gpu,
    vk::Format::R32_UINT
));

case!("attachments.ordered.depths", "VK_EXT_rasterization_order_attachment_access", |gpu| ordered(
    gpu,
    vk::Format::D32_SFLOAT
));

/// Draws rectangles in two draws whose fragments compute with the attachment's contents.
fn ordered(gpu: &Gpu, format: vk::Format) -> Case {
    let is_color = format == vk::Format::R32_UINT;
    let own = &gpu.extension_features.ordered;
    let has = if is_color {
        own.rasterization_order_color_attachment_access
    } else {
        own.rasterization_order_depth_attachment_access
    };
    if has == 0 {
        return Err(Outcome::NotSupported("attachments in rasterization order".into()));
    }
    let (aspects, usage) = match is_color {
        true => (vk::ImageAspectFlags::COLOR, vk::ImageUsageFlags::COLOR_ATTACHMENT),
        false => (vk::ImageAspectFlags::DEPTH, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
    };
    let usage = usage | vk::ImageUsageFlags::INPUT_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc { aspects, ..ImageDesc::color(format, [SIZE; 2], usage) })?;
    let (set_layout, set) = input_of(gpu, &image)?;
    let (pass, layout) = (pass_of(gpu, format)?, gpu.layout(&[set_layout])?);
    let pipeline = pipeline(gpu, pass, layout, format)?;
    let views = [image.view];
    let info = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(&views).width(SIZE).height(SIZE);
    // SAFETY: the info is valid.
    let framebuffer = unsafe { gpu.device.create_framebuffer(&info.layers(1), None) }?;
    let clear = match is_color {
        true => vk::ClearValue { color: vk::ClearColorValue { uint32: [5; 4] } },
        false => vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.75, stencil: 0 } },
    };
    let clears = [clear];
    let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(framebuffer).render_area(whole());
    let begin = begin.clear_values(&clears);
    gpu.run(|commands| {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            gpu.device.cmd_bind_pipeline(commands, point, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            gpu.device.cmd_draw(commands, 6, RECTANGLES, 0, 0);
            gpu.device.cmd_draw(commands, 6, RECTANGLES, 0, RECTANGLES);
            gpu.device.cmd_end_render_pass(commands);
        }
        gpu.barrier(commands, None);
    })?;
    check_ordered(&gpu.read_image(&image, aspects, 4)?, if is_color { fold_colors } else { fold_depths })
}

/// Returns the colour that rectangles leave in a pixel that was 5.
pub(super) fn fold_colors(rectangles: &mut dyn Iterator<Item = u32>) -> u32 {
    rectangles.fold(5u32, |word, n| word.wrapping_mul(3).wrapping_add(n + 1))
}

/// Returns the bits of the depth that rectangles leave in a pixel that was at 0.75.
pub(super) fn fold_depths(rectangles: &mut dyn Iterator<Item = u32>) -> u32 {
    rectangles.fold(0.75f32, |depth, n| (depth + (n % 16) as f32 / 16.0) * 0.5).to_bits()
}

/// Checks the words of all pixels after both draws. `fold` returns the word that the rectangles on
/// a pixel leave there.
pub(super) fn check_ordered(found: &[u8], fold: fn(&mut dyn Iterator<Item = u32>) -> u32) -> Case {
    for (at, found) in (0..).zip(found.chunks_exact(4)) {
        let (x, y): (u32, u32) = (at % SIZE, at / SIZE);
        let covers = |n: &u32| (n % 7..SIZE - n % 5).contains(&x) && (n % 3..SIZE - n % 4).contains(&y);
        let expected = fold(&mut (0..2 * RECTANGLES).filter(covers));
        let found = u32::from_le_bytes([found[0], found[1], found[2], found[3]]);
        check(found == expected, || format!("({x}, {y}) is {found:x}, not {expected:x}"))?;
    }
    Ok(())
}
