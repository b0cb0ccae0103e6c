//! What stages hand to each other: fragment built-ins, interpolation, discard, derivatives, clip and cull distances, depth
//! from the program, early tests, instances, polygon modes, dynamic state.

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

const VERTEX: &[u8] = include_bytes!("../../shaders/stages.vert.spv");
const FRAGMENT: &[u8] = include_bytes!("../../shaders/stages.frag.spv");
const DEPTH: &[u8] = include_bytes!("../../shaders/depth.frag.spv");
const EARLY: &[u8] = include_bytes!("../../shaders/early.frag.spv");
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

pub(super) fn cases(all: &mut Vec<Entry>) {
    let mut add = |name: &str, section, run: fn(&Gpu) -> Case| all.push(Entry::new(name, section, run));
    add("fragment.builtins.frag_coord", "Built-In Variables: FragCoord", frag_coord);
    add("fragment.builtins.frag_coord_unclamped", "Built-In Variables: FragCoord", frag_coord_unclamped);
    add("fragment.builtins.front_facing", "Built-In Variables: FrontFacing", front_facing);
    add("fragment.builtins.point_coord", "Built-In Variables: PointCoord", point_coord);
    add("fragment.discard.checkerboard", "Fragment Shader Execution", discard);
    add("fragment.derivatives.of_the_place", "Derivative Operations", derivatives);
    add("fragment.depth.replaced", "Depth Test", replaced_depth);
    add("fragment.depth.replaced_clamped", "Depth Clamping and Range Adjustment", replaced_depth_clamped);
    add("fragment.depth.bounds", "Depth Bounds Test", depth_bounds);
    add("fragment.depth.clamp", "Depth Clamping and Range Adjustment", depth_clamp);
    add("fragment.depth.clipped", "Primitive Clipping", depth_clip);
    add("fragment.depth.bias_clamped", "Depth Bias", bias_clamp);
    add("fragment.early_tests.count", "Early Fragment Tests", early_tests);
    add("raster.interpolation.perspective", "Interpolation Decorations", perspective);
    add("raster.interpolation.flat", "Flat Shading", flat);
    add("raster.clipping.clip_distances", "Primitive Clipping", clip_distances);
    add("raster.clipping.cull_distances", "Primitive Culling", cull_distances);
    add("raster.polygon_mode.line", "Polygon Mode", polygon_lines);
    add("raster.polygon_mode.point", "Polygon Mode", polygon_points);
    add("raster.polygon_mode.point_clipped", "Polygon Mode", clipped_points);
    add("raster.lines.wide", "Line Segments", wide_line);
    add("drawing.instances.first_and_count", "Programmable Primitive Shading", instances);
    add("drawing.dynamic_state.all", "Dynamic State", dynamic_state);
    add("drawing.dynamic_state.stencil", "Dynamic State", dynamic_stencil);
}

fn state() -> State {
    State { vertex: VERTEX, fragment: FRAGMENT, ..State::default() }
}

fn draw(show: u32, color: [f32; 4]) -> Draw {
    Draw { show: show as f32, ..Draw::rect(state(), FULL, color) }
}

/// Compares every pixel with what a function of its place says, to within one.
fn compare(pixels: &[[u8; 4]], expected: impl Fn(u32, u32) -> [u8; 4]) -> Case {
    for (index, pixel) in pixels.iter().enumerate() {
        let (x, y) = (index as u32 % SIZE, index as u32 / SIZE);
        let wanted = expected(x, y);
        let close = pixel.iter().zip(wanted).all(|(&a, b)| a.abs_diff(b) <= 1);
        check(close, || format!("({x}, {y}) is {pixel:?}, not {wanted:?}"))?;
    }
    Ok(())
}

fn require(supported: vk::Bool32, what: &str) -> Case {
    if supported == vk::TRUE { Ok(()) } else { Err(Outcome::NotSupported(what.into())) }
}

/// Clip and cull distances are among the outputs of every draw here.
fn distances(gpu: &Gpu) -> Case {
    require(gpu.features.shader_clip_distance, "clip distances")?;
    require(gpu.features.shader_cull_distance, "cull distances")
}

fn frag_coord(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(0, RED).at(0.25)])?;
    compare(&pixels, |x, y| [x as u8, y as u8, 64, 255])
}

/// Programs see the depth that was interpolated: it is clamped behind them.
fn frag_coord_unclamped(gpu: &Gpu) -> Case {
    distances(gpu)?;
    require(gpu.features.depth_clamp, "depth clamp")?;
    let mut far = draw(0, RED).at(1.5);
    far.state.viewport.max_depth = 0.5;
    far.state.raster.depth_clamp_enable = vk::TRUE;
    compare(&render(gpu, &Target::default(), &[far])?, |x, y| [x as u8, y as u8, 191, 255])
}

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

/// A point as large as the target: the coordinate runs over it.
fn point_coord(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let mut draw = Draw { extra: 16.0, kind: Kind::Vertices(1), rect: [0.0; 4], ..draw(10, RED) };
    draw.state.topology = vk::PrimitiveTopology::POINT_LIST;
    let pixels = render(gpu, &Target::default(), &[draw])?;
    compare(&pixels, |x, y| [x as u8, y as u8, 0, 255])
}

/// A discarded fragment writes neither colour nor depth: what is drawn behind shows there.
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

fn depth_test(state: &mut State, op: vk::CompareOp) {
    state.depth_stencil.depth_test_enable = vk::TRUE;
    state.depth_stencil.depth_write_enable = vk::TRUE;
    state.depth_stencil.depth_compare_op = op;
}

fn derivatives(gpu: &Gpu) -> Case {
    distances(gpu)?;
    compare(&render(gpu, &Target::default(), &[draw(3, RED)])?, |_, _| [10, 20, 60, 255])
}

fn replaced_depth(gpu: &Gpu) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let with = |fragment, color, depth| {
        let mut draw = Draw::rect(State { fragment, ..State::default() }, FULL, color).at(depth);
        depth_test(&mut draw.state, vk::CompareOp::LESS);
        draw
    };
    // At depth 0.5: behind what the left half wrote, in front of the right one.
    let pixels = render(gpu, &target, &[with(DEPTH, RED, 0.0), with(crate::render::COLOR, GREEN, 0.5)])?;
    compare(&pixels, |x, _| if x < 8 { [255, 0, 0, 255] } else { [0, 255, 0, 255] })
}

/// A depth from the program is clamped to the viewport's range.
fn replaced_depth_clamped(gpu: &Gpu) -> Case {
    require(gpu.features.depth_clamp, "depth clamp")?;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    // The program writes 0.1 into the left half and 0.9 into the right one.
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

fn depth_bounds(gpu: &Gpu) -> Case {
    require(gpu.features.depth_bounds, "depth bounds")?;
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let mut first = Draw::rect(State { fragment: DEPTH, ..State::default() }, FULL, RED);
    depth_test(&mut first.state, vk::CompareOp::ALWAYS);
    let mut second = Draw::rect(State::default(), FULL, GREEN);
    second.state.depth_stencil.depth_bounds_test_enable = vk::TRUE;
    second.state.depth_stencil.min_depth_bounds = 0.5;
    second.state.depth_stencil.max_depth_bounds = 1.0;
    // The bounds are about what is in the attachment.
    let pixels = render(gpu, &target, &[first, second])?;
    compare(&pixels, |x, _| if x < 8 { [255, 0, 0, 255] } else { [0, 255, 0, 255] })
}

fn depth_clamp(gpu: &Gpu) -> Case {
    require(gpu.features.depth_clamp, "depth clamp")?;
    let mut behind = Draw::rect(State::default(), FULL, RED).at(1.5);
    behind.state.raster.depth_clamp_enable = vk::TRUE;
    compare(&render(gpu, &Target::default(), &[behind])?, |_, _| [255, 0, 0, 255])
}

fn depth_clip(gpu: &Gpu) -> Case {
    for depth in [-0.5, 1.5] {
        let outside = Draw::rect(State::default(), FULL, RED).at(depth);
        compare(&render(gpu, &Target::default(), &[outside])?, |_, _| [0; 4])?;
    }
    Ok(())
}

/// A huge bias that a clamp makes small: the second rectangle stays in front of the first.
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

/// Fragments that fail early tests do not run.
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

/// w runs from 1 to 4: a smooth value is bent towards the near side, one without perspective is not.
fn perspective(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(4, RED)])?;
    compare(&pixels, |x, _| {
        let t = (x as f32 + 0.5) / SIZE as f32;
        let smooth = (t / 4.0) / ((1.0 - t) + t / 4.0);
        [(smooth * 255.0).round() as u8, (t * 255.0).round() as u8, 0, 255]
    })
}

/// The first vertex provokes: vertices 0 and 3 of the two triangles.
fn flat(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(5, RED)])?;
    for pixel in [pixels[0], pixels[255]] {
        check(pixel == [0, 0, 0, 255] || pixel == [48, 0, 0, 255], || format!("{pixel:?}"))?;
    }
    check(pixels[0] == [0, 0, 0, 255] && pixels[255] == [48, 0, 0, 255], || "the wrong vertex".into())
}

fn clip_distances(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(6, RED)])?;
    compare(&pixels, |x, y| if x < 8 && y >= 4 { [255, 0, 0, 255] } else { [0; 4] })
}

/// A triangle is culled when one distance is negative at all of its vertices, and whole otherwise.
fn cull_distances(gpu: &Gpu) -> Case {
    distances(gpu)?;
    compare(&render(gpu, &Target::default(), &[draw(7, RED)])?, |_, _| [0; 4])?;
    compare(&render(gpu, &Target::default(), &[draw(8, RED)])?, |_, _| [255, 0, 0, 255])
}

fn with_mode(mode: vk::PolygonMode) -> Draw {
    // Pixel centres: from (2, 2) to (13, 13).
    let at = |pixel: f32| (pixel + 0.5) / 8.0 - 1.0;
    let mut draw = Draw::rect(State::default(), [at(2.0), at(2.0), at(13.0), at(13.0)], RED);
    draw.state.raster.polygon_mode = mode;
    draw
}

/// The outline and the diagonal, and nothing inside.
fn polygon_lines(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    let pixels = render(gpu, &Target::default(), &[with_mode(vk::PolygonMode::LINE)])?;
    let is_red = |x: u32, y: u32| pixels[(y * SIZE + x) as usize] == [255, 0, 0, 255];
    for inner in 4..12 {
        check(is_red(inner, 2) || is_red(inner, 1), || format!("no top edge at {inner}"))?;
        check(is_red(2, inner) || is_red(1, inner), || format!("no left edge at {inner}"))?;
    }
    check(!is_red(5, 5) && !is_red(11, 11) && !is_red(0, 0), || "the inside is filled".into())
}

fn polygon_points(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    let pixels = render(gpu, &Target::default(), &[with_mode(vk::PolygonMode::POINT)])?;
    let count = pixels.iter().filter(|&&pixel| pixel == [255, 0, 0, 255]).count();
    check(count == 4, || format!("{count} pixels"))
}

/// Of a triangle that is larger than the view there is the vertex that is in it, and no corner that clipping made.
fn clipped_points(gpu: &Gpu) -> Case {
    require(gpu.features.fill_mode_non_solid, "fill modes")?;
    let vertices = [[2.0f32, 2.0], [2.0, -1.0], [0.0625, 0.0625]].map(|[x, y]| [[x, y, 0.5, 1.0], [1.0; 4]]);
    let buffer = gpu.buffer_with(&vertices)?;
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.raster.polygon_mode = vk::PolygonMode::POINT;
    let draw = Draw { kind: Kind::VertexBuffer { buffer, count: 3 }, ..Draw::rect(state, FULL, [0.0; 4]) };
    compare(&render(gpu, &Target::default(), &[draw])?, |x, y| if [x, y] == [8; 2] { [255; 4] } else { [0; 4] })
}

fn wide_line(gpu: &Gpu) -> Case {
    require(gpu.features.wide_lines, "wide lines")?;
    let state = State { vertex: crate::render::POINTS, topology: vk::PrimitiveTopology::LINE_LIST, ..State::default() };
    let buffer = gpu.buffer_with(&[[-1.0f32, 0.0], [1.0, 0.0]])?;
    let mut draw = Draw { kind: Kind::VertexBuffer { buffer, count: 2 }, ..Draw::rect(state, FULL, RED) };
    draw.state.raster.line_width = 4.0;
    compare(
        &render(gpu, &Target::default(), &[draw])?,
        |_, y| if (6..10).contains(&y) { [255, 0, 0, 255] } else { [0; 4] },
    )
}

/// Two instances from number 1 on: the second and third quarter, each of its own colour.
fn instances(gpu: &Gpu) -> Case {
    distances(gpu)?;
    let draw = Draw { kind: Kind::Instances { first: 1, count: 2 }, ..draw(9, RED) };
    let pixels = render(gpu, &Target::default(), &[draw])?;
    compare(&pixels, |x, y| match (x / 4, y / 2) {
        (quarter @ 1..=2, 3..=4) => {
            // Both triangles: the first vertex of each is number 0 or 3.
            let red = pixels[(y * SIZE + x) as usize][0];
            [if red == 48 { 48 } else { 0 }, quarter as u8 * 16, 0, 255]
        }
        _ => [0; 4],
    })
}

/// Everything dynamic gives the picture that the same values in the pipeline give.
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
    // 0x1d is written but for bit 3: 0x15, whose low bits are 5.
    let left = [-1.0, -1.0, 0.0, 1.0];
    let mark = with(left, RED, vk::StencilOp::REPLACE, vk::CompareOp::ALWAYS, 0x1d);
    let test = with(FULL, GREEN, vk::StencilOp::KEEP, vk::CompareOp::EQUAL, 0x25);
    let pixels = render(gpu, &target, &[mark, test])?;
    compare(&pixels, |x, _| if x < 8 { [0, 255, 0, 255] } else { [0; 4] })
}
