//! Dynamic state newer than that of Vulkan 1.0: `VK_EXT_extended_dynamic_state` and its successor.

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, Kind, State, TRIANGLES, Target, render};

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add = |name: &str, section, run: fn(&Gpu) -> Case| {
        all.push(Entry::new(format!("core13.dynamic.{name}"), section, run))
    };
    add("facing", "VK_EXT_extended_dynamic_state", |gpu| same_pictures(gpu, &facings()));
    add("depth", "VK_EXT_extended_dynamic_state", |gpu| same_pictures(gpu, &depths()));
    add("stencil", "VK_EXT_extended_dynamic_state", |gpu| same_pictures(gpu, &stencils()));
    add("topology", "VK_EXT_extended_dynamic_state2", |gpu| same_pictures(gpu, &topologies(gpu)?));
    add("raster", "VK_EXT_extended_dynamic_state2", |gpu| same_pictures(gpu, &rasters()));
}

/// The same pictures with everything in pipelines and with everything set by commands, one pipeline after the other. And pictures are
/// not all the same, which would show nothing.
fn same_pictures(gpu: &Gpu, pictures: &[Vec<Draw>]) -> Case {
    let (first, second) = (&gpu.more.dynamic_state, &gpu.more.dynamic_state2);
    let features =
        [first.extended_dynamic_state, second.extended_dynamic_state2, second.extended_dynamic_state2_logic_op];
    if features.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("dynamic state".into()));
    }
    let target = Target { depth: vk::Format::D32_SFLOAT_S8_UINT, clear: [0.25; 4], ..Target::default() };
    let mut seen = std::collections::HashSet::new();
    for (number, draws) in pictures.iter().enumerate() {
        let expected = render(gpu, &target, draws)?;
        let extended = |draw: &Draw| Draw { state: State { extended: true, ..draw.state.clone() }, ..draw.clone() };
        let found = render(gpu, &target, &draws.iter().map(extended).collect::<Vec<_>>())?;
        check(found == expected, || format!("picture {number} differs"))?;
        seen.insert(expected);
    }
    check(seen.len() * 3 >= pictures.len(), || format!("only {} pictures differ", seen.len()))
}

/// A large rectangle, and one in front of a part of it.
fn two(state: &State) -> Vec<Draw> {
    vec![
        Draw::rect(state.clone(), [-0.8, -0.9, 0.6, 0.7], [1.0, 0.0, 0.0, 1.0]).at(0.6),
        Draw::rect(state.clone(), [-0.2, -0.5, 0.9, 0.9], [0.0, 1.0, 0.0, 1.0]).at(0.4),
        Draw::rect(state.clone(), [0.5, 0.4, -0.5, -0.6], [0.0, 0.0, 1.0, 1.0]).at(0.5),
    ]
}

fn facings() -> Vec<Vec<Draw>> {
    let modes = [vk::CullModeFlags::NONE, vk::CullModeFlags::FRONT, vk::CullModeFlags::BACK];
    let faces = [vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE];
    let picture = |mode, face| {
        let mut state = State::default();
        (state.raster.cull_mode, state.raster.front_face) = (mode, face);
        let mut draws = two(&state);
        // One that faces the other way.
        draws.push(Draw::rect(state, [0.9, -0.9, -0.9, -0.4], [1.0; 4]));
        draws
    };
    modes.into_iter().flat_map(|mode| faces.map(|face| picture(mode, face))).collect()
}

fn depths() -> Vec<Vec<Draw>> {
    let mut pictures = Vec::new();
    for compare in [vk::CompareOp::LESS, vk::CompareOp::GREATER_OR_EQUAL, vk::CompareOp::ALWAYS, vk::CompareOp::NEVER] {
        for write in [vk::TRUE, vk::FALSE] {
            let mut state = State::default();
            state.depth_stencil.depth_test_enable = vk::TRUE;
            (state.depth_stencil.depth_write_enable, state.depth_stencil.depth_compare_op) = (write, compare);
            pictures.push(two(&state));
        }
    }
    pictures
}

fn stencils() -> Vec<Vec<Draw>> {
    use vk::StencilOp as S;
    let picture = |ops: [S; 3], compare| {
        let face = vk::StencilOpState {
            fail_op: ops[0],
            pass_op: ops[1],
            depth_fail_op: ops[2],
            compare_op: compare,
            compare_mask: 0xff,
            write_mask: 0xff,
            reference: 1,
        };
        let mut state = State::default();
        state.depth_stencil.stencil_test_enable = vk::TRUE;
        (state.depth_stencil.front, state.depth_stencil.back) = (face, face);
        two(&state)
    };
    let (less, equal) = (vk::CompareOp::GREATER, vk::CompareOp::EQUAL);
    vec![
        picture([S::KEEP, S::REPLACE, S::KEEP], less),
        picture([S::INCREMENT_AND_CLAMP, S::KEEP, S::KEEP], equal),
        picture([S::KEEP, S::KEEP, S::KEEP], less),
        picture([S::INVERT, S::INVERT, S::INVERT], equal),
    ]
}

/// Lists, strips and fans of the same vertices, with and without restart.
fn topologies(gpu: &Gpu) -> Result<Vec<Vec<Draw>>, Outcome> {
    use vk::PrimitiveTopology as T;
    let corners: [[f32; 2]; 6] = [[-0.9, -0.8], [0.7, -0.9], [-0.6, 0.3], [0.8, 0.2], [-0.3, 0.9], [0.5, 0.8]];
    let colored = |(number, [x, y]): (usize, &[f32; 2])| {
        let red = number as f32 / 5.0;
        [*x, *y, 0.5, 1.0, red, 1.0 - red, 0.5, 1.0]
    };
    let vertices: Vec<f32> = corners.iter().enumerate().flat_map(colored).collect();
    let buffer = gpu.buffer_with(&vertices)?;
    let indices = gpu.buffer_with(&[0u16, 1, 2, 3, u16::MAX, 2, 4, 5])?;
    let mut pictures = Vec::new();
    for topology in [T::TRIANGLE_LIST, T::TRIANGLE_STRIP, T::TRIANGLE_FAN, T::LINE_LIST, T::LINE_STRIP] {
        let restarts = !matches!(topology, T::TRIANGLE_LIST | T::LINE_LIST);
        let state = State { vertex: TRIANGLES, topology, restart: restarts, ..State::default() };
        let mut plain = Draw::rect(State { restart: false, ..state.clone() }, FULL, [0.0; 4]);
        plain.kind = Kind::VertexBuffer { buffer, count: 6 };
        pictures.push(vec![plain]);
        if restarts {
            let mut indexed = Draw::rect(state, FULL, [0.0; 4]);
            let kind = vk::IndexType::UINT16;
            indexed.kind = Kind::Indexed { buffer, indices, count: 8, kind };
            pictures.push(vec![indexed]);
        }
    }
    Ok(pictures)
}

/// Discarded primitives, depth bias and logic operations.
fn rasters() -> Vec<Vec<Draw>> {
    let mut pictures = vec![two(&State::default())];
    let mut discards = State::default();
    discards.raster.rasterizer_discard_enable = vk::TRUE;
    pictures.push(two(&discards));
    for bias in [vk::TRUE, vk::FALSE] {
        let mut state = State::default();
        state.depth_stencil.depth_test_enable = vk::TRUE;
        state.depth_stencil.depth_write_enable = vk::TRUE;
        state.depth_stencil.depth_compare_op = vk::CompareOp::LESS;
        let mut draws = two(&state);
        for draw in &mut draws[1..] {
            draw.state.raster.depth_bias_enable = bias;
            draw.state.raster.depth_bias_constant_factor = 4e6;
        }
        pictures.push(draws);
    }
    for logic in [vk::LogicOp::XOR, vk::LogicOp::AND_INVERTED, vk::LogicOp::NO_OP] {
        pictures.push(two(&State { logic: Some(logic), ..State::default() }));
    }
    pictures
}
