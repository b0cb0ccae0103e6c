//! Fragment built-ins, discard, derivatives, depth from the shader, depth bounds, early tests.

use ash::vk;

use crate::cases::support::stages::{compare, depth_test, distances, draw, require};
use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, State, Target, render};

const DEPTH: &[u8] = shader!("depth.frag");
const EARLY: &[u8] = shader!("early.frag");
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

case!("fragment.builtins.frag_coord", "Built-In Variables: FragCoord", frag_coord);

fn frag_coord(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(0, RED).at(0.25)])?;
    compare(&pixels, |x, y| [x as u8, y as u8, 64, 255])
}

case!("fragment.builtins.frag_coord_unclamped", "Built-In Variables: FragCoord", frag_coord_unclamped);

/// Checks that fragment shaders see the interpolated depth before clamping.
fn frag_coord_unclamped(gpu: &Gpu) -> Case {
    distances(gpu)?;
    require(gpu.features.depth_clamp, "depth clamp")?;
    let mut far = draw(0, RED).at(1.5);
    far.state.viewport.max_depth = 0.5;
    far.state.raster.depth_clamp_enable = vk::TRUE;
    compare(&render(gpu, &Target::default(), &[far])?, |x, y| [x as u8, y as u8, 191, 255])
}

case!("fragment.builtins.front_facing", "Built-In Variables: FrontFacing", front_facing);

fn front_facing(gpu: &Gpu) -> Case {
    distances(gpu)?;
    for (front_face, expected) in
        [(vk::FrontFace::CLOCKWISE, [0, 255, 0, 255]), (vk::FrontFace::COUNTER_CLOCKWISE, [255, 0, 0, 255])]
    {
        let mut draw = draw(1, RED);
        draw.state.raster.front_face = front_face;
        compare(&render(gpu, &Target::default(), &[draw])?, |_, _| expected)?;
    }
    Ok(())
}

case!("fragment.builtins.point_coord", "Built-In Variables: PointCoord", point_coord);

/// Draws a point as large as the target, over which the point coordinate grows.
fn point_coord(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let mut draw = Draw { extra: 16.0, kind: Kind::Vertices(1), rect: [0.0; 4], ..draw(10, RED) };
    draw.state.topology = vk::PrimitiveTopology::POINT_LIST;
    let pixels = render(gpu, &Target::default(), &[draw])?;
    compare(&pixels, |x, y| [x as u8, y as u8, 0, 255])
}

case!("fragment.discard.checkerboard", "Fragment Shader Execution", discard);

/// Checks that a discarded fragment writes neither colour nor depth: a later draw behind it is
/// visible there.
fn discard(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let mut near = draw(2, RED).at(0.25);
    depth_test(&mut near.state, vk::CompareOp::LESS);
    let mut far = draw(11, GREEN).at(0.5);
    depth_test(&mut far.state, vk::CompareOp::LESS);
    let target = Target { depth: vk::Format::D16_UNORM, ..Target::default() };
    let pixels = render(gpu, &target, &[near, far])?;
    compare(&pixels, |x, y| if (x + y) % 2 == 0 { [0, 255, 0, 255] } else { [255, 0, 0, 255] })
}

case!("fragment.derivatives.of_the_place", "Derivative Operations", derivatives);

fn derivatives(gpu: &Gpu) -> Case {
    distances(gpu)?;
    compare(&render(gpu, &Target::default(), &[draw(3, RED)])?, |_, _| [10, 20, 60, 255])
}

case!("fragment.depth.replaced", "Depth Test", replaced_depth);

fn replaced_depth(gpu: &Gpu) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let with = |fragment, color, depth| {
        let mut draw = Draw::rect(State { fragment, ..State::default() }, FULL, color).at(depth);
        depth_test(&mut draw.state, vk::CompareOp::LESS);
        draw
    };
    // At depth 0.5: behind the depths of the left half, in front of those of the right half.
    let pixels = render(gpu, &target, &[with(DEPTH, RED, 0.0), with(crate::render::COLOR, GREEN, 0.5)])?;
    compare(&pixels, |x, _| if x < 8 { [255, 0, 0, 255] } else { [0, 255, 0, 255] })
}

case!("fragment.depth.replaced_clamped", "Depth Clamping and Range Adjustment", replaced_depth_clamped);

/// Checks that a depth from the shader is clamped to the viewport's range.
fn replaced_depth_clamped(gpu: &Gpu) -> Case {
    require(gpu.features.depth_clamp, "depth clamp")?;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    // The shader writes 0.1 into the left half and 0.9 into the right half.
    let mut written = Draw::rect(State { fragment: DEPTH, ..State::default() }, FULL, RED);
    depth_test(&mut written.state, vk::CompareOp::ALWAYS);
    written.state.viewport.min_depth = 0.25;
    written.state.viewport.max_depth = 0.75;
    written.state.raster.depth_clamp_enable = vk::TRUE;
    for (depth, left, right) in [(0.25, GREEN, RED), (0.75, RED, GREEN)] {
        let mut equal = Draw::rect(State::default(), FULL, GREEN).at(depth);
        depth_test(&mut equal.state, vk::CompareOp::EQUAL);
        let color = |color: [f32; 4]| color.map(|value| (value * 255.0) as u8);
        let pixels = render(gpu, &target, &[written.clone(), equal])?;
        compare(&pixels, |x, _| color(if x < 8 { left } else { right }))?;
    }
    Ok(())
}

case!("fragment.depth.bounds", "Depth Bounds Test", depth_bounds);

fn depth_bounds(gpu: &Gpu) -> Case {
    require(gpu.features.depth_bounds, "depth bounds")?;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let mut first = Draw::rect(State { fragment: DEPTH, ..State::default() }, FULL, RED);
    depth_test(&mut first.state, vk::CompareOp::ALWAYS);
    let mut second = Draw::rect(State::default(), FULL, GREEN);
    second.state.depth_stencil.depth_bounds_test_enable = vk::TRUE;
    second.state.depth_stencil.min_depth_bounds = 0.5;
    second.state.depth_stencil.max_depth_bounds = 1.0;
    // The bounds apply to the depth in the attachment.
    let pixels = render(gpu, &target, &[first, second])?;
    compare(&pixels, |x, _| if x < 8 { [255, 0, 0, 255] } else { [0, 255, 0, 255] })
}

case!("fragment.depth.clamp", "Depth Clamping and Range Adjustment", depth_clamp);

fn depth_clamp(gpu: &Gpu) -> Case {
    require(gpu.features.depth_clamp, "depth clamp")?;
    let mut behind = Draw::rect(State::default(), FULL, RED).at(1.5);
    behind.state.raster.depth_clamp_enable = vk::TRUE;
    compare(&render(gpu, &Target::default(), &[behind])?, |_, _| [255, 0, 0, 255])
}

case!("fragment.depth.clipped", "Primitive Clipping", depth_clip);

fn depth_clip(gpu: &Gpu) -> Case {
    for depth in [-0.5, 1.5] {
        let outside = Draw::rect(State::default(), FULL, RED).at(depth);
        compare(&render(gpu, &Target::default(), &[outside])?, |_, _| [0; 4])?;
    }
    Ok(())
}

case!("fragment.depth.bias_clamped", "Depth Bias", bias_clamp);

/// Checks a huge bias that the clamp makes small: the second rectangle stays in front of the
/// first.
fn bias_clamp(gpu: &Gpu) -> Case {
    require(gpu.features.depth_bias_clamp, "depth bias clamp")?;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let mut first = Draw::rect(State::default(), FULL, RED).at(0.5);
    depth_test(&mut first.state, vk::CompareOp::LESS);
    for (clamp, expected) in [(0.05, [0, 255, 0, 255]), (0.2, [255, 0, 0, 255])] {
        let mut second = Draw::rect(State::default(), FULL, GREEN).at(0.4);
        depth_test(&mut second.state, vk::CompareOp::LESS);
        second.state.raster.depth_bias_enable = vk::TRUE;
        second.state.raster.depth_bias_constant_factor = 1e9;
        second.state.raster.depth_bias_clamp = clamp;
        compare(&render(gpu, &target, &[first.clone(), second])?, |_, _| expected)?;
    }
    Ok(())
}

case!("fragment.early_tests.count", "Early Fragment Tests", early_tests);

/// Checks that fragments that fail early tests do not run.
fn early_tests(gpu: &Gpu) -> Case {
    require(gpu.features.fragment_stores_and_atomics, "stores in fragment shaders")?;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let mut left = Draw::rect(State::default(), [-1.0, -1.0, 0.0, 1.0], RED).at(0.2);
    depth_test(&mut left.state, vk::CompareOp::LESS);
    let counter = gpu.buffer(16)?;
    let state = State { fragment: EARLY, ..State::default() };
    let mut whole = Draw { storage: Some(counter), ..Draw::rect(state, FULL, GREEN).at(0.6) };
    depth_test(&mut whole.state, vk::CompareOp::LESS);
    let pixels = render(gpu, &target, &[left, whole])?;
    compare(&pixels, |x, _| if x < 8 { [255, 0, 0, 255] } else { [0, 255, 0, 255] })?;
    let runs = counter.words()[0];
    check(runs == 128, || format!("{runs} runs"))
}
