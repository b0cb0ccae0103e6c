//! Dynamic state newer than that of Vulkan 1.0: `VK_EXT_extended_dynamic_state` and its
//! successors. Pipelines that are linked of libraries draw the same as complete ones.

use ash::vk;

use crate::Entry;
use crate::cases::support::conditions::need_dynamic3;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{COLOR, Draw, FLAT, FLAT_COLOR, FULL, Kind, Lines, State, TRIANGLES, Target, render};

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let mut add = |name: &str, pictures: fn(&Gpu) -> Result<Vec<Vec<Draw>>, Outcome>| {
        let late = move |gpu: &Gpu| late_pictures(gpu, &pictures(gpu)?);
        cases.push(Entry::new(format!("dynamic3.late.{name}"), "VK_EXT_extended_dynamic_state3", late));
        let linked = move |gpu: &Gpu| linked_pictures(gpu, &pictures(gpu)?);
        cases.push(Entry::new(format!("pipelines.linked.{name}"), "VK_EXT_graphics_pipeline_library", linked));
    };
    add("blending", |_| Ok(blendings()));
    add("logic", |_| Ok(rasters()));
    add("samples", |_| Ok(coverages()));
    add("polygons", polygons);
    add("lines", lines);
    add("vertices", topologies);
    add("depth", |_| Ok(depths().into_iter().chain(clips()).collect()));
    add("stencil", |_| Ok(stencils()));
    add("color_write", |_| Ok(color_writes()));
    let run = |gpu: &Gpu| both_late(gpu, &topologies(gpu)?);
    cases.push(Entry::new("dynamic3.late.all", "VK_EXT_extended_dynamic_state3", run));
}

fn late_pictures(gpu: &Gpu, pictures: &[Vec<Draw>]) -> Case {
    need_dynamic3(gpu)?;
    same_as(gpu, pictures, |state| state.dynamic3 = true)
}

fn both_late(gpu: &Gpu, pictures: &[Vec<Draw>]) -> Case {
    need_dynamic3(gpu)?;
    let mut limits = vk::PhysicalDeviceExtendedDynamicState3PropertiesEXT::default();
    gpu.properties2(&mut limits);
    if limits.dynamic_primitive_topology_unrestricted == vk::FALSE {
        return Err(Outcome::NotSupported("topologies of any kind".into()));
    }
    same_as(gpu, pictures, |state| (state.dynamic3, state.extended, state.dynamic) = (true, true, true))
}

fn linked_pictures(gpu: &Gpu, pictures: &[Vec<Draw>]) -> Case {
    if gpu.extension_features.libraries.graphics_pipeline_library == vk::FALSE {
        return Err(Outcome::NotSupported("libraries of pipelines".into()));
    }
    same_as(gpu, pictures, |state| state.linked = true)?;
    same_as(gpu, pictures, |state| (state.linked, state.dynamic) = (true, true))
}

/// Checks that pictures stay the same with changed pipelines, with one sample and with four, and
/// that the pictures differ from each other.
fn same_as(gpu: &Gpu, pictures: &[Vec<Draw>], change: impl Fn(&mut State)) -> Case {
    let mut seen = std::collections::HashSet::new();
    for samples in [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4] {
        let depth = vk::Format::D32_SFLOAT_S8_UINT;
        let target = Target { samples, depth, clear: [0.25; 4], ..Target::default() };
        for (number, draws) in pictures.iter().enumerate() {
            let expected = render(gpu, &target, draws)?;
            let changed = |draw: &Draw| {
                let mut draw = draw.clone();
                change(&mut draw.state);
                draw
            };
            let found = render(gpu, &target, &draws.iter().map(changed).collect::<Vec<_>>())?;
            check(found == expected, || format!("picture {number} differs with {samples:?}"))?;
            seen.insert(expected);
        }
    }
    check(seen.len() * 3 >= pictures.len(), || format!("only {} pictures differ", seen.len()))
}

fn blendings() -> Vec<Vec<Draw>> {
    use vk::{BlendFactor as F, BlendOp as O, ColorComponentFlags as C};
    let picture = |src, dst, op, mask| {
        let blend = vk::PipelineColorBlendAttachmentState {
            blend_enable: vk::TRUE,
            src_color_blend_factor: src,
            dst_color_blend_factor: dst,
            color_blend_op: op,
            src_alpha_blend_factor: dst,
            dst_alpha_blend_factor: src,
            alpha_blend_op: O::ADD,
            color_write_mask: mask,
        };
        let mut draws = two(&State { blend, ..State::default() });
        draws.iter_mut().for_each(|draw| draw.color[3] = 0.6);
        draws
    };
    vec![
        picture(F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA, O::ADD, C::RGBA),
        picture(F::ONE, F::ONE, O::REVERSE_SUBTRACT, C::RGBA),
        picture(F::DST_COLOR, F::SRC_COLOR, O::ADD, C::R | C::B),
        picture(F::ONE, F::ZERO, O::MAX, C::G),
        two(&State::default()),
    ]
}

/// Returns draws with sample masks and with alpha to coverage.
fn coverages() -> Vec<Vec<Draw>> {
    let masked = |sample_mask| two(&State { sample_mask, ..State::default() });
    let mut faint = two(&State { alpha_to_coverage: true, ..State::default() });
    faint.iter_mut().for_each(|draw| draw.color[3] = 0.4);
    vec![masked(u32::MAX), masked(1), masked(0), faint]
}

/// Returns triangles with colours at their corners: filled, as lines and as points, with either
/// provoking vertex, and rasterized conservatively.
fn polygons(gpu: &Gpu) -> Result<Vec<Vec<Draw>>, Outcome> {
    let mut pictures = Vec::new();
    for (mode, vertex, fragment) in [
        (vk::PolygonMode::FILL, TRIANGLES, COLOR),
        (vk::PolygonMode::LINE, TRIANGLES, COLOR),
        (vk::PolygonMode::POINT, TRIANGLES, COLOR),
        (vk::PolygonMode::FILL, FLAT, FLAT_COLOR),
    ] {
        let mut state = State { vertex, fragment, ..State::default() };
        state.raster.polygon_mode = mode;
        pictures.push(vec![corners(gpu, state)?]);
    }
    let mut last = State { vertex: FLAT, fragment: FLAT_COLOR, ..State::default() };
    last.extensions.provoking_last = true;
    pictures.push(vec![corners(gpu, last)?]);
    for mode in
        [vk::ConservativeRasterizationModeEXT::OVERESTIMATE, vk::ConservativeRasterizationModeEXT::UNDERESTIMATE]
    {
        let mut state = State { vertex: TRIANGLES, ..State::default() };
        state.extensions.conservative = Some(mode);
        pictures.push(vec![corners(gpu, state)?]);
    }
    Ok(pictures)
}

/// Returns a draw of two triangles, or three lines, with colours at their corners.
fn corners(gpu: &Gpu, state: State) -> Result<Draw, Outcome> {
    let places: [[f32; 2]; 6] = [[-0.9, -0.8], [0.7, -0.9], [-0.6, 0.3], [0.83, 0.21], [-0.3, 0.9], [0.57, 0.84]];
    let colored = |(number, [x, y]): (usize, &[f32; 2])| {
        let red = number as f32 / 5.0;
        [*x, *y, 0.5, 1.0, red, 1.0 - red, 0.5, 1.0]
    };
    let vertices: Vec<f32> = places.iter().enumerate().flat_map(colored).collect();
    let mut draw = Draw::rect(state, FULL, [0.0; 4]);
    draw.kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: 6 };
    Ok(draw)
}

fn lines(gpu: &Gpu) -> Result<Vec<Vec<Draw>>, Outcome> {
    use vk::LineRasterizationModeKHR as M;
    let mut pictures = Vec::new();
    for (mode, stipple) in [
        (M::RECTANGULAR, None),
        (M::BRESENHAM, None),
        (M::RECTANGULAR_SMOOTH, None),
        (M::BRESENHAM, Some((2, 0x5555))),
        (M::RECTANGULAR, Some((1, 0x3333))),
    ] {
        let topology = vk::PrimitiveTopology::LINE_LIST;
        let mut state = State { vertex: TRIANGLES, topology, ..State::default() };
        state.extensions.lines = Some(Lines { mode, stipple });
        pictures.push(vec![corners(gpu, state)?]);
    }
    Ok(pictures)
}

/// Returns rectangles in front of and behind the view volume, clipped and clamped, with depth from
/// 0 or -1 on.
fn clips() -> Vec<Vec<Draw>> {
    let picture = |clamps: bool, clip, from_minus_one| {
        let mut state = State::default();
        state.raster.depth_clamp_enable = clamps.into();
        (state.extensions.depth_clip, state.extensions.negative_one_to_one) = (clip, from_minus_one);
        let tests = &mut state.depth_stencil;
        (tests.depth_test_enable, tests.depth_write_enable) = (vk::TRUE, vk::TRUE);
        tests.depth_compare_op = vk::CompareOp::LESS_OR_EQUAL;
        vec![
            Draw::rect(state.clone(), [-0.9, -0.9, 0.3, 0.3], [1.0, 0.0, 0.0, 1.0]).at(-0.5),
            Draw::rect(state.clone(), [-0.3, -0.3, 0.9, 0.9], [0.0, 1.0, 0.0, 1.0]).at(0.0),
            Draw::rect(state, [0.1, -0.8, 0.7, 0.8], [0.0, 0.0, 1.0, 1.0]).at(1.5),
        ]
    };
    vec![
        picture(false, None, false),
        picture(true, None, false),
        picture(true, Some(true), true),
        picture(false, None, true),
    ]
}

/// Returns draws with colour writes enabled and disabled.
fn color_writes() -> Vec<Vec<Draw>> {
    let picture = |writes: [bool; 3]| {
        let mut draws = two(&State::default());
        for (draw, writes) in draws.iter_mut().zip(writes) {
            draw.state.extensions.color_write = Some(writes);
        }
        draws
    };
    vec![picture([true; 3]), picture([true, false, true]), picture([false, true, true]), picture([false; 3])]
}

case!("core13.dynamic.facing", "VK_EXT_extended_dynamic_state", |gpu| same_pictures(gpu, &facings()));
case!("core13.dynamic.depth", "VK_EXT_extended_dynamic_state", |gpu| same_pictures(gpu, &depths()));
case!("core13.dynamic.stencil", "VK_EXT_extended_dynamic_state", |gpu| same_pictures(gpu, &stencils()));
case!("core13.dynamic.topology", "VK_EXT_extended_dynamic_state2", |gpu| same_pictures(gpu, &topologies(gpu)?));
case!("core13.dynamic.raster", "VK_EXT_extended_dynamic_state2", |gpu| same_pictures(gpu, &rasters()));

/// Checks that pictures are the same with fixed and with dynamic state, one pipeline after the
/// other, and that the pictures differ from each other.
fn same_pictures(gpu: &Gpu, pictures: &[Vec<Draw>]) -> Case {
    let (first, second) = (&gpu.extension_features.dynamic_state, &gpu.extension_features.dynamic_state2);
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

/// Returns a large rectangle, and one in front of a part of it.
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
        // This one is a back face.
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

/// Returns lists, strips and fans of the same vertices, with and without primitive restart.
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

/// Returns draws with rasterizer discard, depth bias and logic operations.
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
