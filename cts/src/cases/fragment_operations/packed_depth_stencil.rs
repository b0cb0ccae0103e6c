//! Depth and stencil that a device may keep in one word.

use ash::{khr, vk};

use crate::cases::render_passes::dynamic_rendering::{CLEAR, attachment, clear_color, clear_depth};
use crate::cases::support::conditions::supports;
use crate::cases::support::fills::Fills;
use crate::cases::support::images::GENERAL;
use crate::cases::support::pipelines::{Depth, PACKED, PipelineDesc, pipeline_of, square};
use crate::harness::{Case, Gpu, ImageDesc, Outcome, Transition, check, range};
use crate::render::FULL;

case!("attachments.packed.depth_beside_stencil", "VK_KHR_dynamic_rendering", depth_beside_stencil);

/// Attaches depth alone, of an image whose stencil may lie in the same words, and clears and draws
/// it repeatedly, in whole tiles and in parts. Checks that stencil is unchanged.
fn depth_beside_stencil(gpu: &Gpu) -> Case {
    const SIDE: u32 = 200;
    gpu.need(vk::KHR_DYNAMIC_RENDERING_NAME)?;
    if !supports(gpu, PACKED, vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT)? {
        return Err(Outcome::NotSupported(format!("{PACKED:?}")));
    }
    let second = khr::dynamic_rendering::Device::new(&gpu.instance, &gpu.device);
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let attached = [vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT];
    let color = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIDE; 2], usage | attached[0]))?;
    let aspects = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let desc = ImageDesc { aspects, ..ImageDesc::color(PACKED, [SIDE; 2], usage | attached[1]) };
    let depth = gpu.image(&desc)?;
    let layout = gpu.layout(&[])?;
    let desc = PipelineDesc { side: SIDE, depth: Depth::LessAlone, ..PipelineDesc::plain(layout) };
    let pipeline = pipeline_of(gpu, &desc)?;
    gpu.run(|commands| {
        for image in [&color, &depth] {
            gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        }
        // SAFETY: the command buffer is recording.
        unsafe {
            let (value, all) = (vk::ClearDepthStencilValue { depth: 0.75, stencil: 0xa5 }, [range(aspects, 0, 1)]);
            gpu.device.cmd_clear_depth_stencil_image(commands, depth.handle, GENERAL, &value, &all);
        }
        gpu.barrier(commands, None);
        for load in [CLEAR, vk::AttachmentLoadOp::LOAD, CLEAR] {
            let colors = [attachment(&color, load, clear_color([0.0, 0.0, 1.0, 1.0]))];
            let depths = attachment(&depth, load, clear_depth(1.0, 0));
            let info = vk::RenderingInfo::default().render_area(square(SIDE)).layer_count(1).color_attachments(&colors);
            // SAFETY: the command buffer is recording.
            unsafe { second.cmd_begin_rendering(commands, &info.depth_attachment(&depths)) };
            let draws = Fills { commands, pipeline, layout };
            let nearer = if load == CLEAR { 0.5 } else { 0.25 };
            draws.fill(gpu, FULL, [0.0, 1.0, 0.0, 1.0], [nearer, 1.0, 0.0]);
            draws.fill(gpu, [-1.0, -1.0, 0.1, 0.3], [1.0, 0.0, 0.0, 1.0], [nearer - 0.125, 1.0, 0.0]);
            // SAFETY: the instance was begun.
            unsafe { second.cmd_end_rendering(commands) };
            gpu.barrier(commands, None);
        }
        gpu.barrier(
            commands,
            Some(Transition { image: &depth, from: GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
        );
    })?;
    let stencils = gpu.read_image(&depth, vk::ImageAspectFlags::STENCIL, 1)?;
    let wrong = stencils.iter().position(|&stencil| stencil != 0xa5);
    check(wrong.is_none(), || format!("stencil {:#x} of texel {wrong:?}", stencils[wrong.unwrap_or(0)]))?;
    let depths = gpu.read_image(&depth, vk::ImageAspectFlags::DEPTH, 4)?;
    let code = |depth: f64| (depth * 16_777_215.0).round_ties_even() as u32;
    for (at, texel) in (0u32..).zip(depths.chunks(4)) {
        let found = u32::from_le_bytes([texel[0], texel[1], texel[2], 0]);
        let (x, y) = (at % SIDE, at / SIDE);
        let expected = code(if x < 110 && y < 130 { 0.375 } else { 0.5 });
        check(found == expected, || format!("depth {found:#x} at {x}, {y}, not {expected:#x}"))?;
    }
    Ok(())
}
