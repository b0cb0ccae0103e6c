//! Pipelines and instances of dynamic rendering of which one lacks attachments of the other.
//! Source: `VK_EXT_dynamic_rendering_unused_attachments`.

use ash::{khr, vk};

use super::dynamic_rendering::{CLEAR, attachment, clear_color, clear_depth};
use crate::cases::support::fills::Fills;
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, ImageDesc, Outcome, Transition, check};
use crate::render::{COLOR, FULL, RECT, SIZE};

const SEVERAL: &[u8] = shader!("several.frag");
const ALL: vk::ColorComponentFlags = vk::ColorComponentFlags::RGBA;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

fn supported(gpu: &Gpu) -> Case {
    match gpu.extension_features.unused_attachments.dynamic_rendering_unused_attachments {
        0 => Err(Outcome::NotSupported("dynamicRenderingUnusedAttachments".into())),
        _ => Ok(()),
    }
}

case!("rendering.unused.null_colors", "VK_EXT_dynamic_rendering_unused_attachments", |gpu| colors(
    gpu,
    3,
    [true, false]
));
case!("rendering.unused.first_null", "VK_EXT_dynamic_rendering_unused_attachments", |gpu| colors(
    gpu,
    2,
    [false, true]
));
case!("rendering.unused.fewer_formats", "VK_EXT_dynamic_rendering_unused_attachments", |gpu| colors(
    gpu,
    1,
    [true, true]
));

/// Draws with a pipeline of some colour formats to attachments, some of which have no image. An
/// attachment without a format keeps its contents.
fn colors(gpu: &Gpu, formats: usize, has_image: [bool; 2]) -> Case {
    supported(gpu)?;
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let images = [image(gpu, ONE)?, image(gpu, ONE)?];
    let layout = gpu.layout(&[])?;
    let masks = vec![ALL; formats];
    let pipeline =
        pipeline_of(gpu, &PipelineDesc { shaders: [RECT, SEVERAL], masks: &masks, ..PipelineDesc::plain(layout) })?;
    let info = |number: usize| match has_image[number] {
        true => attachment(&images[number], CLEAR, clear_color([0.0, 0.0, 1.0, 1.0])),
        false => vk::RenderingAttachmentInfo::default(),
    };
    let attachments = [info(0), info(1)];
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&attachments);
    gpu.run(|commands| {
        for image in &images {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        // SAFETY: the command buffer is recording.
        unsafe { rendering.cmd_begin_rendering(commands, &info) };
        Fills { commands, pipeline, layout }.fill(gpu, FULL, [1.0, 0.5, 0.25, 1.0], [0.5, 1.0, 0.0]);
        // SAFETY: the command buffer is recording in a pass.
        unsafe { rendering.cmd_end_rendering(commands) };
        for image in &images {
            let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            gpu.barrier(commands, Some(Transition { image, from: GENERAL, to }));
        }
    })?;
    for (number, image) in images.iter().enumerate().filter(|(number, _)| has_image[*number]) {
        let bytes = gpu.read_image(image, ASPECT, 4)?;
        let is_cleared = bytes.chunks(4).all(|texel| texel == [0, 0, 255, 255]);
        let is_drawn = bytes.chunks(4).all(|texel| texel != [0, 0, 255, 255]);
        let good = if number < formats { is_drawn } else { is_cleared };
        check(good, || format!("attachment {number} has {:?}", &bytes[..4]))?;
    }
    Ok(())
}

case!("rendering.unused.depth_without_format", "VK_EXT_dynamic_rendering_unused_attachments", |gpu| depth(gpu, true));
case!("rendering.unused.format_without_depth", "VK_EXT_dynamic_rendering_unused_attachments", |gpu| depth(gpu, false));

/// Draws behind the cleared depth. If the pipeline or the instance has no depth, no fragment fails
/// the test, and depths stay.
fn depth(gpu: &Gpu, is_attached: bool) -> Case {
    supported(gpu)?;
    let rendering = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let desc = ImageDesc::color(vk::Format::D32_SFLOAT_S8_UINT, [SIZE; 2], usage);
    let (color, depths) = (image(gpu, ONE)?, gpu.image(&ImageDesc { aspects: both, ..desc })?);
    let layout = gpu.layout(&[])?;
    let depth = if is_attached { Depth::LessUnattached } else { Depth::Less };
    let pipeline = pipeline_of(gpu, &PipelineDesc { shaders: [RECT, COLOR], depth, ..PipelineDesc::plain(layout) })?;
    let colors = [attachment(&color, CLEAR, clear_color([0.0; 4]))];
    let attached = attachment(&depths, CLEAR, clear_depth(0.25, 3));
    let mut info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    if is_attached {
        info = info.depth_attachment(&attached).stencil_attachment(&attached);
    }
    let to = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    gpu.run(|commands| {
        for image in [&color, &depths] {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        // SAFETY: the command buffer is recording.
        unsafe { rendering.cmd_begin_rendering(commands, &info) };
        Fills { commands, pipeline, layout }.fill(gpu, FULL, [1.0; 4], [0.5, 1.0, 0.0]);
        // SAFETY: the command buffer is recording in a pass.
        unsafe { rendering.cmd_end_rendering(commands) };
        for image in [&color, &depths] {
            gpu.barrier(commands, Some(Transition { image, from: GENERAL, to }));
        }
    })?;
    let bytes = gpu.read_image(&color, ASPECT, 4)?;
    check(bytes.iter().all(|&byte| byte == 255), || format!("colour {:?}", &bytes[..4]))?;
    if is_attached {
        let bytes = gpu.read_image(&depths, vk::ImageAspectFlags::DEPTH, 4)?;
        check(bytes.chunks(4).all(|depth| depth == 0.25f32.to_le_bytes()), || format!("depth {:?}", &bytes[..4]))?;
    }
    Ok(())
}
