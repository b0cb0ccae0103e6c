//! Instanced draws, and dynamic state of Vulkan 1.0.

use ash::vk;

use crate::cases::support::stages::{compare, depth_test, distances, draw};
use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, Target, render};

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

case!("drawing.instances.first_and_count", "Programmable Primitive Shading", instances);

/// Draws two instances from number 1 on: the second and third quarter of the target, each in its
/// own colour.
fn instances(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let draw = Draw { kind: Kind::Instances { first: 1, count: 2 }, ..draw(9, RED) };
    let pixels = render(gpu, &Target::default(), &[draw])?;
    compare(&pixels, |x, y| match (x / 4, y / 2) {
        (quarter @ 1..=2, 3..=4) => {
            // Both triangles have this colour: the first vertex of each is number 0 or 3.
            let red = pixels[(y * SIZE + x) as usize][0];
            [if red == 48 { 48 } else { 0 }, quarter as u8 * 16, 0, 255]
        }
        _ => [0; 4],
    })
}

case!("drawing.dynamic_state.all", "Dynamic State", dynamic_state);

/// Checks that dynamic state gives the picture of the same values in the pipeline.
fn dynamic_state(gpu: &Gpu) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let picture = |dynamic: bool| {
        let base = Draw::rect(State::default(), FULL, [0.2, 0.4, 0.6, 1.0]).at(0.5);
        let mut over = Draw::rect(State { dynamic, ..State::default() }, FULL, [0.5, 0.25, 1.0, 0.5]).at(0.5);
        depth_test(&mut over.state, vk::CompareOp::LESS);
        over.state.raster.depth_bias_enable = vk::TRUE;
        over.state.raster.depth_bias_constant_factor = -16.0;
        over.state.viewport = vk::Viewport { x: 2.0, y: 3.0, width: 10.0, height: 9.0, min_depth: 0.0, max_depth: 1.0 };
        over.state.scissor =
            vk::Rect2D { offset: vk::Offset2D { x: 4, y: 4 }, extent: vk::Extent2D { width: 20, height: 6 } };
        over.state.constants = [0.25, 0.5, 0.75, 1.0];
        over.state.blend.blend_enable = vk::TRUE;
        over.state.blend.src_color_blend_factor = vk::BlendFactor::CONSTANT_COLOR;
        over.state.blend.dst_color_blend_factor = vk::BlendFactor::ONE;
        let mut first = base.clone();
        depth_test(&mut first.state, vk::CompareOp::ALWAYS);
        render(gpu, &target, &[first, over])
    };
    let (fixed, dynamic) = (picture(false)?, picture(true)?);
    check(fixed == dynamic, || "the pictures differ".into())?;
    check(fixed.iter().any(|pixel| *pixel != fixed[0]), || "nothing was drawn".into())
}

case!("drawing.dynamic_state.stencil", "Dynamic State", dynamic_stencil);

fn dynamic_stencil(gpu: &Gpu) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT_S8_UINT, ..Target::default() };
    let with = |rect, color, op, compare_op, reference| {
        let mut draw = Draw::rect(State { dynamic: true, ..State::default() }, rect, color);
        let face = vk::StencilOpState {
            pass_op: op,
            compare_op,
            compare_mask: 0x0f,
            write_mask: 0xf7,
            reference,
            ..Default::default()
        };
        draw.state.depth_stencil.stencil_test_enable = vk::TRUE;
        (draw.state.depth_stencil.front, draw.state.depth_stencil.back) = (face, face);
        draw
    };
    // The write mask keeps bit 3 of 0x1d: 0x15, whose low bits are 5.
    let left = [-1.0, -1.0, 0.0, 1.0];
    let mark = with(left, RED, vk::StencilOp::REPLACE, vk::CompareOp::ALWAYS, 0x1d);
    let test = with(FULL, GREEN, vk::StencilOp::KEEP, vk::CompareOp::EQUAL, 0x25);
    let pixels = render(gpu, &target, &[mark, test])?;
    compare(&pixels, |x, _| if x < 8 { [0, 255, 0, 255] } else { [0; 4] })
}
