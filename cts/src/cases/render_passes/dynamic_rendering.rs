//! Dynamic rendering: colours, resolves, suspended instances, one aspect of depth and stencil.

use ash::{khr, vk};

use crate::cases::support::fills::Fills;
use crate::cases::support::images::{GENERAL, image};
use crate::cases::support::pipelines::{Depth, PipelineDesc, pipeline_of, whole};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, range};
use crate::render::{FULL, SIZE};

const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

fn depth_image(gpu: &Gpu, samples: vk::SampleCountFlags) -> Result<Image, Outcome> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let aspects = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    gpu.image(&ImageDesc { format, size: [SIZE; 2], levels: 1, samples, usage, aspects })
}

pub(in crate::cases) fn attachment(
    image: &Image,
    load: vk::AttachmentLoadOp,
    clear_value: vk::ClearValue,
) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(GENERAL)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(clear_value)
}

pub(in crate::cases) const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;

pub(in crate::cases) fn clear_depth(depth: f32, stencil: u32) -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil } }
}

pub(in crate::cases) fn clear_color(float32: [f32; 4]) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32 } }
}

/// Creates a pipeline for dynamic rendering.
pub(in crate::cases) fn pipeline(
    gpu: &Gpu,
    layout: vk::PipelineLayout,
    samples: vk::SampleCountFlags,
    depth: Depth,
) -> Result<vk::Pipeline, Outcome> {
    pipeline_of(gpu, &PipelineDesc { samples, depth, ..PipelineDesc::plain(layout) })
}

case!("core13.rendering.color", "VK_KHR_dynamic_rendering", |gpu| rendering(gpu, ONE, false));
case!("core13.rendering.samples", "VK_KHR_dynamic_rendering", |gpu| rendering(gpu, FOUR, false));
case!("core13.rendering.suspended", "VK_KHR_dynamic_rendering", |gpu| rendering(gpu, FOUR, true));

/// Clears, draws and resolves colour and depth, in one instance or in two parts of one.
fn rendering(gpu: &Gpu, samples: vk::SampleCountFlags, suspended: bool) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (color, depth) = (image(gpu, samples)?, depth_image(gpu, samples)?);
    let (resolved, resolved_depth) = (image(gpu, ONE)?, depth_image(gpu, ONE)?);
    let layout = gpu.layout(&[])?;
    let pipeline = pipeline(gpu, layout, samples, Depth::Less)?;
    let mut colors = [attachment(&color, CLEAR, clear_color([0.0, 0.0, 1.0, 1.0]))];
    let mut depths = attachment(&depth, CLEAR, clear_depth(0.6, 0));
    if samples != ONE {
        let mode = vk::ResolveModeFlags::AVERAGE;
        colors =
            colors.map(|info| info.resolve_mode(mode).resolve_image_view(resolved.view).resolve_image_layout(GENERAL));
        let mode = vk::ResolveModeFlags::MIN;
        depths = depths.resolve_mode(mode).resolve_image_view(resolved_depth.view).resolve_image_layout(GENERAL);
    }
    let info = vk::RenderingInfo::default()
        .render_area(whole())
        .layer_count(1)
        .color_attachments(&colors)
        .depth_attachment(&depths)
        .stencil_attachment(&depths);
    let (result, result_depth) = if samples == ONE { (color, depth) } else { (resolved, resolved_depth) };
    gpu.run(|commands| {
        for image in [&color, &depth, &resolved, &resolved_depth] {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        let draws = Fills { commands, pipeline, layout };
        // SAFETY: the command buffer is recording.
        unsafe {
            let first = if suspended { vk::RenderingFlags::SUSPENDING } else { vk::RenderingFlags::empty() };
            second.cmd_begin_rendering(commands, &info.flags(first));
            draws.fill(gpu, [-1.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.3, 1.0, 0.0]);
            if suspended {
                second.cmd_end_rendering(commands);
                second.cmd_begin_rendering(commands, &info.flags(vk::RenderingFlags::RESUMING));
            }
            // In front of the cleared depth, behind the first draw.
            draws.fill(gpu, [-1.0, -1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.5, 1.0, 0.0]);
            // Behind both.
            draws.fill(gpu, FULL, [1.0; 4], [0.7, 1.0, 0.0]);
            second.cmd_end_rendering(commands);
        }
        for image in [&result, &result_depth] {
            gpu.barrier(commands, Some(Transition { image, from: GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }));
        }
    })?;
    let bytes = gpu.read_image(&result, ASPECT, 4)?;
    let depths = gpu.read_image(&result_depth, vk::ImageAspectFlags::DEPTH, 4)?;
    for (at, (texel, depth)) in (0u32..).zip(bytes.chunks(4).zip(depths.chunks(4))) {
        let (expected, wanted) = match (at % SIZE < 8, at / SIZE < 8) {
            (true, _) => ([255, 0, 0, 255], 0.3),
            (false, true) => ([0, 255, 0, 255], 0.5),
            (false, false) => ([0, 0, 255, 255], 0.6f32),
        };
        let depth = f32::from_le_bytes([depth[0], depth[1], depth[2], depth[3]]);
        let good = texel == expected && (depth - wanted).abs() < 1e-6;
        check(good, || format!("pixel {at} is {texel:?} at {depth}, not {expected:?} at {wanted}"))?;
    }
    Ok(())
}

case!("core13.rendering.stencil_without_depth", "VK_KHR_dynamic_rendering", |gpu| one_aspect(gpu, true));
case!("core13.rendering.depth_without_stencil", "VK_KHR_dynamic_rendering", |gpu| one_aspect(gpu, false));

/// Attaches only one aspect of an image: the other one's test passes, and its contents stay.
fn one_aspect(gpu: &Gpu, stencil: bool) -> Case {
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let (color, depth) = (image(gpu, FOUR)?, depth_image(gpu, FOUR)?);
    let (resolved, resolved_depth) = (image(gpu, ONE)?, depth_image(gpu, ONE)?);
    let layout = gpu.layout(&[])?;
    // The draw writes depth and stencil, each where it is attached.
    let only = if stencil { vk::ImageAspectFlags::STENCIL } else { vk::ImageAspectFlags::DEPTH };
    let pipelines = [0, 1, 2, 3].map(|sample| pipeline(gpu, layout, FOUR, Depth::OfSample(sample, only)));
    let pipelines = pipelines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let colors = [attachment(&color, CLEAR, clear_color([0.0, 0.0, 1.0, 1.0]))
        .resolve_mode(vk::ResolveModeFlags::AVERAGE)
        .resolve_image_view(resolved.view)
        .resolve_image_layout(GENERAL)];
    let one = attachment(&depth, CLEAR, clear_depth(0.25, 9));
    let info = vk::RenderingInfo::default().render_area(whole()).layer_count(1).color_attachments(&colors);
    let info = if stencil { info.stencil_attachment(&one) } else { info.depth_attachment(&one) };
    let both = attachment(&depth, vk::AttachmentLoadOp::LOAD, clear_depth(0.0, 0))
        .resolve_mode(vk::ResolveModeFlags::SAMPLE_ZERO)
        .resolve_image_view(resolved_depth.view)
        .resolve_image_layout(GENERAL);
    let last = vk::RenderingInfo::default().render_area(whole()).layer_count(1);
    let last = last.depth_attachment(&both).stencil_attachment(&both);
    let aspects = depth.aspects;
    let clear = vk::ClearAttachment { aspect_mask: aspects, color_attachment: 0, clear_value: clear_depth(0.125, 3) };
    let top = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: 4 }, ..Default::default() };
    let top = vk::ClearRect { rect: top, base_array_layer: 0, layer_count: 1 };
    gpu.run(|commands| {
        for image in [&color, &depth, &resolved, &resolved_depth] {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        // SAFETY: the command buffer is recording.
        unsafe {
            let (value, all) = (vk::ClearDepthStencilValue { depth: 0.75, stencil: 200 }, [range(aspects, 0, 1)]);
            gpu.device.cmd_clear_depth_stencil_image(commands, depth.handle, GENERAL, &value, &all);
            gpu.barrier(commands, None);
            second.cmd_begin_rendering(commands, &info);
            gpu.device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, 77);
            for &pipeline in &pipelines {
                Fills { commands, pipeline, layout }.fill(
                    gpu,
                    [-1.0, -1.0, 0.0, 1.0],
                    [1.0, 0.0, 0.0, 1.0],
                    [0.5, 1.0, 0.0],
                );
            }
            gpu.device.cmd_clear_attachments(commands, &[vk::ClearAttachment { aspect_mask: only, ..clear }], &[top]);
            second.cmd_end_rendering(commands);
            gpu.barrier(commands, None);
            second.cmd_begin_rendering(commands, &last);
            second.cmd_end_rendering(commands);
        }
        for image in [&resolved, &resolved_depth] {
            gpu.barrier(commands, Some(Transition { image, from: GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }));
        }
    })?;
    let bytes = gpu.read_image(&resolved, ASPECT, 4)?;
    let depths = gpu.read_image(&resolved_depth, vk::ImageAspectFlags::DEPTH, 4)?;
    let stencils = gpu.read_image(&resolved_depth, vk::ImageAspectFlags::STENCIL, 1)?;
    for (at, texel) in (0u32..).zip(bytes.chunks(4)) {
        let (left, above) = (at % SIZE < 8, at / SIZE < 4);
        let color = if left { [255, 0, 0, 255] } else { [0, 0, 255, 255] };
        let pick = |cleared, drawn, begun| {
            if above {
                cleared
            } else if left {
                drawn
            } else {
                begun
            }
        };
        let (depth, mark) = if stencil { (0.75, pick(3, 77, 9)) } else { (f32::from(pick(1u8, 4, 2)) * 0.125, 200) };
        let place = at as usize * 4;
        let found = f32::from_le_bytes([depths[place], depths[place + 1], depths[place + 2], depths[place + 3]]);
        let good = texel == color && found == depth && stencils[at as usize] == mark;
        check(good, || {
            format!("pixel {at}: {texel:?}, {found}, {}; not {color:?}, {depth}, {mark}", stencils[at as usize])
        })?;
    }
    Ok(())
}
