//! Attachments that a pass samples while it renders to them.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, State, TEXTURE, Target, render};

case!("attachments.feedback.cleared", "VK_EXT_attachment_feedback_loop_layout", feedback);

/// Samples the cleared colour of the attachment outside of the draw's own pixels, and adds it.
fn feedback(gpu: &Gpu) -> Case {
    if gpu.extension_features.feedback_loop.attachment_feedback_loop_layout == vk::FALSE {
        return Err(Outcome::NotSupported("feedback loops".into()));
    }
    let side = 256;
    let feedback = vk::ImageAspectFlags::COLOR;
    let mut state = State { fragment: TEXTURE, feedback, ..State::default() };
    (state.viewport.width, state.viewport.height) = (side as f32, side as f32);
    state.scissor.extent = vk::Extent2D { width: side, height: side };
    state.blend.blend_enable = vk::TRUE;
    (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) =
        (vk::BlendFactor::ONE, vk::BlendFactor::ONE);
    let target = Target { size: [side; 2], clear: [0.25; 4], ..Target::default() };
    for (linked, dynamic3) in feedback_ways(gpu) {
        let state = State { linked, dynamic3, ..state.clone() };
        // The right half. Texture coordinates are those of the upper left quarter.
        let mut draw = Draw::rect(state, [0.0, -1.0, 1.0, 1.0], [1.0; 4]);
        draw.extra = 0.5;
        let pixels = render(gpu, &target, &[draw])?;
        for (at, pixel) in pixels.iter().enumerate() {
            let expected = if at as u32 % side < side / 2 { 64 } else { 128 };
            check(pixel[0].abs_diff(expected) <= 1, || format!("pixel {at} is {pixel:?}, not of {expected}"))?;
        }
    }
    Ok(())
}

/// Returns how pipelines declare the loop: directly, in a library, or by a command.
fn feedback_ways(gpu: &Gpu) -> impl Iterator<Item = (bool, bool)> {
    let has_dynamic = gpu.extension_features.feedback_dynamic.attachment_feedback_loop_dynamic_state != 0;
    [(false, false), (true, false), (false, true)].into_iter().filter(move |(_, dynamic3)| has_dynamic || !dynamic3)
}

case!("attachments.feedback.depth", "VK_EXT_attachment_feedback_loop_layout", depth_feedback);

/// Checks that a fragment that samples the depth it is tested against reads the depth from before
/// its own write.
fn depth_feedback(gpu: &Gpu) -> Case {
    if gpu.extension_features.feedback_loop.attachment_feedback_loop_layout == vk::FALSE {
        return Err(Outcome::NotSupported("feedback loops".into()));
    }
    let feedback = vk::ImageAspectFlags::DEPTH;
    let depth_stencil = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    let clear_depth = vk::ClearDepthStencilValue { depth: 0.75, stencil: 0 };
    let target = Target { depth: vk::Format::D32_SFLOAT, clear_depth, ..Target::default() };
    for (linked, dynamic3) in feedback_ways(gpu) {
        let state = State { fragment: TEXTURE, feedback, depth_stencil, linked, dynamic3, ..State::default() };
        // Two draws in one pass: the second one reads the depth of the first.
        let draws = [0.5, 0.25].map(|depth| Draw::rect(state.clone(), FULL, [1.0; 4]).at(depth));
        for (count, expected) in [(1, 191u8), (2, 128)] {
            let pixels = render(gpu, &target, &draws[..count])?;
            let is_right = |pixel: &[u8; 4]| pixel[0].abs_diff(expected) <= 1;
            check(pixels.iter().all(is_right), || format!("{count}: {:?}, not {expected}", pixels[0]))?;
        }
    }
    Ok(())
}
