//! Depths that are not clamped to the range of the viewport.

use ash::vk;
use vitric_vulkan::names::EXT_DEPTH_CLAMP_CONTROL_NAME;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, State, Target, render};

case!("attachments.depth.zero_one", "VK_EXT_depth_clamp_zero_one", zero_one);

/// Checks that a depth that is neither clipped nor clamped to the viewport is clamped to 0 and 1,
/// or not at all for unrestricted float depths.
fn zero_one(gpu: &Gpu) -> Case {
    if gpu.extension_features.zero_one.depth_clamp_zero_one == 0
        || gpu.extension_features.depth_clip.depth_clip_enable == 0
    {
        return Err(Outcome::NotSupported("clamping to 0 and 1".into()));
    }
    // A viewport from 0.25 to 0.75: depths of 2 and -1 are 1.25 and -0.25, and the cleared depths
    // lie between.
    let (fixed, float) = (vk::Format::D16_UNORM, vk::Format::D32_SFLOAT);
    let mut rows = Vec::new();
    for format in [fixed, float] {
        rows.extend([(format, 2.0, 0.9, false, false), (format, 2.0, 0.9, true, true)]);
        rows.extend([(format, -1.0, 0.1, false, true), (format, -1.0, 0.1, true, false)]);
    }
    if gpu.has(vk::EXT_DEPTH_RANGE_UNRESTRICTED_NAME) {
        rows.extend([
            (float, 2.0, 1.1, false, false),
            (float, -1.0, -0.1, false, true),
            (float, 2.0, 1.3, false, true),
        ]);
    }
    for (format, depth, clear, clamps, passes) in rows {
        let mut state = State::default();
        (state.viewport.min_depth, state.viewport.max_depth) = (0.25, 0.75);
        state.raster.depth_clamp_enable = u32::from(clamps);
        state.extensions.depth_clip = Some(false);
        state.depth_stencil.depth_test_enable = vk::TRUE;
        state.depth_stencil.depth_compare_op = vk::CompareOp::LESS;
        let clear_depth = vk::ClearDepthStencilValue { depth: clear, stencil: 0 };
        let target = Target { depth: format, clear_depth, ..Target::default() };
        for dynamic3 in [false, true] {
            let state = State { dynamic3, ..state.clone() };
            let pixels = render(gpu, &target, &[Draw::rect(state, FULL, [1.0; 4]).at(depth)])?;
            let expected = if passes { [255; 4] } else { [0; 4] };
            check(pixels[0] == expected, || format!("{format:?}: {depth} with {clear}, clamped: {clamps}, is wrong"))?;
        }
    }
    Ok(())
}

case!("attachments.depth.clamp_range", "VK_EXT_depth_clamp_control", clamp_range);

/// Checks depths at the ends of ranges that are not the viewport's: of the rasterizer and of a
/// shader, with and without clamping.
fn clamp_range(gpu: &Gpu) -> Case {
    gpu.need(EXT_DEPTH_CLAMP_CONTROL_NAME)?;
    let (fixed, float) = (vk::Format::D16_UNORM, vk::Format::D32_SFLOAT);
    // A viewport from 0.25 to 0.75. The second depth is that in the window.
    let mut rows = Vec::new();
    for format in [fixed, float] {
        for range in [[0.375, 0.625], [0.0, 1.0], [0.125, 0.5], [0.5, 0.5]] {
            rows.extend([2.0, 0.75, 0.5, 0.25, -0.5].map(|depth: f32| (format, range, depth, 0.25 + 0.5 * depth)));
        }
    }
    if gpu.has(vk::EXT_DEPTH_RANGE_UNRESTRICTED_NAME) {
        rows.extend([(float, [-2.0, 3.0], -8.0, -3.75), (float, [-2.0, 3.0], 8.0, 4.25)]);
    }
    for (format, range, depth, window) in rows {
        let expected = f32::clamp(window, range[0], range[1]);
        let target = Target { depth: format, ..Target::default() };
        for (dynamic3, linked, writes) in [
            (false, false, false),
            (true, false, false),
            (false, true, false),
            (false, false, true),
            (true, false, true),
        ] {
            // A shader writes the depth in the window.
            let mut state = State { dynamic3, linked, ..State::default() };
            (state.viewport.min_depth, state.viewport.max_depth) = (0.25, 0.75);
            state.raster.depth_clamp_enable = vk::TRUE;
            state.extensions.clamp_range = Some(range);
            let tests = vk::PipelineDepthStencilStateCreateInfo::default().depth_test_enable(true);
            state.depth_stencil = tests.depth_write_enable(true).depth_compare_op(vk::CompareOp::ALWAYS);
            let around = [expected - 1e-4, expected + 1e-4];
            let [least, most] = if format == float { around } else { around.map(|depth| depth.clamp(0.0, 1.0)) };
            let bounds = tests.depth_bounds_test_enable(true).min_depth_bounds(least).max_depth_bounds(most);
            let depth_stencil = bounds.depth_compare_op(vk::CompareOp::ALWAYS);
            let shown = State { depth_stencil, ..State::default() };
            if writes {
                state.fragment = shader!("window_depth.frag");
            }
            let draw = Draw { extra: window, ..Draw::rect(state, FULL, [1.0, 0.0, 0.0, 0.0]).at(depth) };
            let draws = [draw, Draw::rect(add(shown), FULL, [0.0, 1.0, 0.0, 0.0])];
            let pixels = render(gpu, &target, &draws)?;
            check(pixels.iter().all(|pixel| *pixel == [255, 255, 0, 0]), || {
                format!(
                    "{format:?}: {window} in {range:?} is not {expected}, dynamic: {dynamic3}, by shader: {writes}: {:?}",
                    pixels[0]
                )
            })?;
        }
    }
    Ok(())
}

case!("attachments.depth.unrestricted", "VK_EXT_depth_range_unrestricted", unrestricted);

/// Checks that viewports, clears and bounds beyond 0 and 1 store depths unchanged.
fn unrestricted(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DEPTH_RANGE_UNRESTRICTED_NAME)?;
    let state = |op, bounds: Option<[f32; 2]>| {
        let mut state = State::default();
        (state.viewport.min_depth, state.viewport.max_depth) = (-2.0, 3.0);
        state.depth_stencil = state.depth_stencil.depth_test_enable(true).depth_write_enable(true).depth_compare_op(op);
        if let Some([least, most]) = bounds {
            state.depth_stencil =
                state.depth_stencil.depth_bounds_test_enable(true).min_depth_bounds(least).max_depth_bounds(most);
        }
        state
    };
    let (less, greater, equal) = (vk::CompareOp::LESS, vk::CompareOp::GREATER, vk::CompareOp::EQUAL);
    // 0.25 of the way from -2 to 3 is -0.75, and 0.9 is 2.5.
    for (op, clear, depth, stored) in [(less, -0.5, 0.25, -0.75f32), (greater, 2.0, 0.9, 2.5)] {
        let clear_depth = vk::ClearDepthStencilValue { depth: clear, stencil: 0 };
        let target = Target { depth: vk::Format::D32_SFLOAT, clear_depth, ..Target::default() };
        let around = [stored - 0.01, stored + 0.01];
        let mut draws = vec![
            Draw::rect(state(op, None), FULL, [1.0, 0.0, 0.0, 0.0]).at(depth),
            Draw::rect(add(state(equal, None)), FULL, [0.0, 1.0, 0.0, 0.0]).at(depth),
        ];
        if gpu.features.depth_bounds != 0 {
            let always = vk::CompareOp::ALWAYS;
            draws.push(Draw::rect(add(state(always, Some(around))), FULL, [0.0, 0.0, 1.0, 0.0]).at(0.0));
        }
        let expected = [255, 255, if draws.len() == 3 { 255 } else { 0 }, 0];
        let pixels = render(gpu, &target, &draws)?;
        check(pixels.iter().all(|pixel| *pixel == expected), || format!("depth {stored}: {:?}", pixels[0]))?;
    }
    Ok(())
}

/// Returns a state that adds colours.
fn add(mut state: State) -> State {
    state.blend.blend_enable = vk::TRUE;
    (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) =
        (vk::BlendFactor::ONE, vk::BlendFactor::ONE);
    state
}
