//! Fragment operations: depth, stencil, depth bounds.

use ash::vk;

use crate::Entry;
use crate::cases::support::conditions::holds;
use crate::cases::support::stages::stencil_state;
use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, State, Target, render};

const OPS: [(&str, vk::CompareOp); 8] = [
    ("never", vk::CompareOp::NEVER),
    ("less", vk::CompareOp::LESS),
    ("equal", vk::CompareOp::EQUAL),
    ("less_or_equal", vk::CompareOp::LESS_OR_EQUAL),
    ("greater", vk::CompareOp::GREATER),
    ("not_equal", vk::CompareOp::NOT_EQUAL),
    ("greater_or_equal", vk::CompareOp::GREATER_OR_EQUAL),
    ("always", vk::CompareOp::ALWAYS),
];

const STENCIL_OPS: [(&str, vk::StencilOp, u32); 8] = [
    ("keep", vk::StencilOp::KEEP, 255),
    ("zero", vk::StencilOp::ZERO, 0),
    ("replace", vk::StencilOp::REPLACE, 0x5a),
    ("increment_and_clamp", vk::StencilOp::INCREMENT_AND_CLAMP, 255),
    ("decrement_and_clamp", vk::StencilOp::DECREMENT_AND_CLAMP, 254),
    ("invert", vk::StencilOp::INVERT, 0),
    ("increment_and_wrap", vk::StencilOp::INCREMENT_AND_WRAP, 0),
    ("decrement_and_wrap", vk::StencilOp::DECREMENT_AND_WRAP, 254),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (format_name, format) in [("d16", vk::Format::D16_UNORM), ("d32", vk::Format::D32_SFLOAT)] {
        for (name, op) in OPS {
            let run = move |gpu: &Gpu| depth(gpu, format, op);
            cases.push(Entry::new(format!("fragment.depth.{format_name}_{name}"), "Depth Test", run));
        }
    }
    for (name, op) in OPS {
        cases.push(Entry::new(format!("fragment.stencil.compare_{name}"), "Stencil Test", move |gpu| stencil(gpu, op)));
    }
    for (name, op, result) in STENCIL_OPS {
        let run = move |gpu: &Gpu| stencil_op(gpu, op, result);
        cases.push(Entry::new(format!("fragment.stencil.op_{name}"), "Stencil Test", run));
    }
}

fn stencil_format(gpu: &Gpu) -> vk::Format {
    let wanted = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
    let formats = [vk::Format::D24_UNORM_S8_UINT, vk::Format::D32_SFLOAT_S8_UINT];
    let supported = |format: &vk::Format| {
        // SAFETY: the physical device is valid.
        let properties = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, *format) };
        properties.optimal_tiling_features.contains(wanted)
    };
    formats.into_iter().find(supported).unwrap_or(formats[1])
}

fn tested(op: vk::CompareOp, write: bool) -> State {
    let mut state = State::default();
    state.depth_stencil = state.depth_stencil.depth_test_enable(true).depth_write_enable(write).depth_compare_op(op);
    state
}

/// Draws three rectangles: nearer than, at, and farther than the cleared depth.
fn depth(gpu: &Gpu, format: vk::Format, op: vk::CompareOp) -> Case {
    for (fragment, stored) in [(0.25f32, 0.5f32), (0.5, 0.5), (0.75, 0.5)] {
        let clear_depth = vk::ClearDepthStencilValue { depth: stored, stencil: 0 };
        let target = Target { depth: format, clear_depth, ..Target::default() };
        let pixels = render(gpu, &target, &[Draw::rect(tested(op, true), FULL, [1.0; 4]).at(fragment)])?;
        let expected = if holds(op, fragment, stored) { 255 } else { 0 };
        check(pixels.iter().all(|pixel| pixel[0] == expected), || {
            format!("{fragment} against {stored}: {:?}", pixels[0])
        })?;
    }
    Ok(())
}

case!("fragment.depth.no_write", "Depth Test", no_write);

fn no_write(gpu: &Gpu) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let first = Draw::rect(tested(vk::CompareOp::LESS, false), FULL, [0.0, 1.0, 0.0, 1.0]).at(0.25);
    let second = Draw::rect(tested(vk::CompareOp::LESS, true), FULL, [1.0, 0.0, 0.0, 1.0]).at(0.5);
    let pixels = render(gpu, &target, &[first, second])?;
    check(pixels.iter().all(|&pixel| pixel == [255, 0, 0, 255]), || format!("{:?}", pixels[0]))
}

case!("fragment.depth.bias", "Depth Bias", bias);

/// Draws two rectangles at one depth, of which only the bias makes the second nearer.
fn bias(gpu: &Gpu) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let first = Draw::rect(tested(vk::CompareOp::LESS, true), FULL, [0.0, 1.0, 0.0, 1.0]);
    let mut state = tested(vk::CompareOp::LESS, true);
    state.raster.depth_bias_enable = vk::TRUE;
    state.raster.depth_bias_constant_factor = -4.0;
    let pixels = render(gpu, &target, &[first, Draw::rect(state, FULL, [1.0, 0.0, 0.0, 1.0])])?;
    check(pixels.iter().all(|&pixel| pixel == [255, 0, 0, 255]), || format!("{:?}", pixels[0]))
}

fn stencil_target(gpu: &Gpu, stencil: u32) -> Target {
    let clear_depth = vk::ClearDepthStencilValue { depth: 1.0, stencil };
    Target { depth: stencil_format(gpu), clear_depth, ..Target::default() }
}

fn stencil(gpu: &Gpu, op: vk::CompareOp) -> Case {
    for reference in [3u32, 7, 9] {
        let draw = Draw::rect(stencil_state(op, vk::StencilOp::KEEP, reference), FULL, [1.0; 4]);
        let pixels = render(gpu, &stencil_target(gpu, 7), &[draw])?;
        let expected = if holds(op, reference, 7) { 255 } else { 0 };
        check(pixels.iter().all(|pixel| pixel[0] == expected), || format!("{reference} against 7: {:?}", pixels[0]))?;
    }
    Ok(())
}

/// Applies an operation to the stencil value 255, then draws where the result is the expected one.
fn stencil_op(gpu: &Gpu, op: vk::StencilOp, result: u32) -> Case {
    let start = 255;
    let first = Draw::rect(stencil_state(vk::CompareOp::ALWAYS, op, 0x5a), FULL, [0.0; 4]);
    let second = Draw::rect(stencil_state(vk::CompareOp::EQUAL, vk::StencilOp::KEEP, result), FULL, [1.0; 4]);
    let pixels = render(gpu, &stencil_target(gpu, start), &[first, second])?;
    check(pixels.iter().all(|pixel| pixel[0] == 255), || format!("255 did not become {result}"))
}
