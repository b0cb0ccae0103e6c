//! `VK_EXT_conservative_rasterization`: random triangles compared with the exact areas of their
//! parts in pixels.

use ash::vk;
use ash::vk::ConservativeRasterizationModeEXT as Mode;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{Draw, Kind, State, TRIANGLES, Target, render};

const FULLY_COVERED: &[u8] = shader!("fully_covered.frag");

/// Pixels of a side of the target.
const SIDE: u32 = 64;

/// Corners lie on multiples of this number of pixels.
const STEP: f64 = 1.0 / 16.0;

/// A position in pixels.
pub(in crate::cases) type Point = [f64; 2];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, mode) in [("over", Mode::OVERESTIMATE), ("under", Mode::UNDERESTIMATE)] {
        for (samples, seeds) in [(1, 0..16), (4, 16..20)] {
            for seed in seeds {
                let run = move |gpu: &Gpu| triangles(gpu, mode, samples, seed);
                cases.push(Entry::new(format!("conservative.{name}.seed{seed}"), "Conservative Rasterization", run));
            }
        }
    }
    for (name, mode) in [("over", Mode::OVERESTIMATE), ("under", Mode::UNDERESTIMATE)] {
        for (samples, seeds) in [(1, 30..36), (4, 36..38)] {
            for seed in seeds {
                let run = move |gpu: &Gpu| clipped(gpu, mode, samples, seed);
                cases.push(Entry::new(format!("conservative.{name}.clipped{seed}"), "Conservative Rasterization", run));
            }
        }
    }
    for seed in 50..54 {
        let run = move |gpu: &Gpu| without_area(gpu, seed);
        cases.push(Entry::new(format!("conservative.degenerate.seed{seed}"), "Conservative Rasterization", run));
    }
    let modes = [("over", Mode::OVERESTIMATE), ("under", Mode::UNDERESTIMATE), ("off", Mode::DISABLED)];
    for (name, mode) in modes {
        for (samples, seed) in [(1, 60), (4, 61)] {
            let run = move |gpu: &Gpu| fully_covered(gpu, mode, samples, seed);
            let name = format!("conservative.fully_covered.{name}{samples}");
            cases.push(Entry::new(name, "VK_EXT_conservative_rasterization, FullyCoveredEXT", run));
        }
    }
    for (name, mode) in [("over", Mode::OVERESTIMATE), ("under", Mode::UNDERESTIMATE)] {
        let name = format!("conservative.fully_covered.touched_{name}");
        let chapter = "VK_EXT_conservative_rasterization, FullyCoveredEXT";
        cases.push(Entry::new(name, chapter, move |gpu: &Gpu| touched(gpu, mode)));
    }
    for (state, mode) in [("one_state", Some(Mode::UNDERESTIMATE)), ("two_states", None)] {
        for (name, order) in [("front_first", [0, 1]), ("front_last", [1, 0])] {
            let run = move |gpu: &Gpu| beside_edges(gpu, mode, order);
            let name = format!("conservative.under_edges.{name}_{state}");
            cases.push(Entry::new(name, "Conservative Rasterization", run));
        }
    }
    let run = |gpu: &Gpu| supported(gpu).and_then(|()| properties(gpu).map(drop));
    cases.push(Entry::new("conservative.device.properties", "Conservative Rasterization", run));
}

fn supported(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_CONSERVATIVE_RASTERIZATION_NAME)
}

/// Returns the device's properties.
fn properties(gpu: &Gpu) -> Result<vk::PhysicalDeviceConservativeRasterizationPropertiesEXT<'static>, Outcome> {
    let mut own = vk::PhysicalDeviceConservativeRasterizationPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
    let query = ash::khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the instance has the extension, and the chain is valid.
    unsafe { query.get_physical_device_properties2(gpu.physical, &mut all) };
    let named = all.properties.device_name == gpu.properties.device_name;
    let within = own.primitive_overestimation_size >= 0.0 && own.max_extra_primitive_overestimation_size >= 0.0;
    check(named && within, || format!("{own:?}"))?;
    own.p_next = std::ptr::null_mut();
    Ok(own)
}

case!("conservative.device.points", "Conservative Rasterization", points);

/// Checks that a point of one pixel is rasterized as usual: the mode applies to polygons only.
fn points(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let draw = draw(
        gpu,
        Corners { points: &[[8.5, 8.5]], depths: &[0.5] },
        Mode::OVERESTIMATE,
        vk::PrimitiveTopology::POINT_LIST,
    )?;
    let pixels = render(gpu, &Target { size: [SIDE; 2], ..Target::default() }, &[draw])?;
    let covered = pixels.iter().filter(|pixel| pixel[0] != 0).count();
    check(covered == 1, || format!("{covered} pixels"))
}

/// Returns a draw of corners with their depths, which repeat. Each triangle adds 1 to red.
fn draw(gpu: &Gpu, corners: Corners<'_>, mode: Mode, topology: vk::PrimitiveTopology) -> Result<Draw, Outcome> {
    draw_colored(gpu, corners, [1.0 / 255.0, 0.0, 0.0, 1.0], mode, topology)
}

/// Corners of triangles, and a depth for each.
#[derive(Clone, Copy)]
struct Corners<'a> {
    points: &'a [Point],
    depths: &'a [f32],
}

/// Returns the draw with another colour at the corners that are not the first of a triangle.
fn draw_colored(
    gpu: &Gpu,
    Corners { points: corners, depths }: Corners<'_>,
    others: [f32; 4],
    mode: Mode,
    topology: vk::PrimitiveTopology,
) -> Result<Draw, Outcome> {
    let mut state = State { vertex: TRIANGLES, topology, ..State::default() };
    state.extensions.conservative = Some(mode);
    (state.viewport.width, state.viewport.height) = (SIDE as f32, SIDE as f32);
    state.scissor.extent = vk::Extent2D { width: SIDE, height: SIDE };
    // Each triangle adds 1 to red.
    state.blend.blend_enable = vk::TRUE;
    (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) =
        (vk::BlendFactor::ONE, vk::BlendFactor::ONE);
    let place = |pixels: f64| (pixels * 2.0 / f64::from(SIDE) - 1.0) as f32;
    // The first corner of a triangle is provoking.
    let color = |number: usize| if number.is_multiple_of(3) { [1.0 / 255.0, 0.0, 0.0, 1.0] } else { others };
    let corner = |(number, (&[x, y], &z)): (usize, (&Point, &f32))| [[place(x), place(y), z, 1.0], color(number)];
    let vertices: Vec<[[f32; 4]; 2]> = corners.iter().zip(depths.iter().cycle()).enumerate().map(corner).collect();
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: corners.len() as u32 };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

/// Side of the target in pixels for draws over several tiles.
const WIDE: u32 = 128;

/// Returns a draw of triangles with corners in clip coordinates, which writes depth to a target of
/// [`WIDE`] pixels.
fn wide(gpu: &Gpu, corners: &[[f32; 2]], depth: f32, color: [f32; 4], mode: Option<Mode>) -> Result<Draw, Outcome> {
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.extensions.conservative = mode;
    (state.viewport.width, state.viewport.height) = (WIDE as f32, WIDE as f32);
    state.scissor.extent = vk::Extent2D { width: WIDE, height: WIDE };
    (state.depth_stencil.depth_test_enable, state.depth_stencil.depth_write_enable) = (vk::TRUE, vk::TRUE);
    state.depth_stencil.depth_compare_op = vk::CompareOp::LESS;
    let vertices: Vec<_> = corners.iter().map(|&[x, y]| [[x, y, depth, 1.0], color]).collect();
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: corners.len() as u32 };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

/// Draws an underestimated pair of triangles, and behind it a triangle of another mode, in an
/// order. Pixels that the sides of the pair touch must show the triangle, because the pair hides
/// nothing there.
fn beside_edges(gpu: &Gpu, mode: Option<Mode>, order: [usize; 2]) -> Case {
    supported(gpu)?;
    let pair = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
    let front = wide(gpu, &pair, 0.25, [1.0, 0.0, 0.0, 1.0], Some(Mode::UNDERESTIMATE))?;
    let behind = wide(gpu, &[[-2.0, -2.0], [8.0, -2.0], [-2.0, 8.0]], 0.625, [0.0, 1.0, 0.0, 1.0], mode)?;
    let draws = [front, behind];
    let draws = order.map(|number| draws[number].clone());
    let target = Target { size: [WIDE; 2], depth: vk::Format::D32_SFLOAT, ..Target::default() };
    for (index, got) in (0..).zip(&render(gpu, &target, &draws)?) {
        let [x, y] = [index % WIDE, index / WIDE];
        let is_touched = [x, y].iter().any(|place| [0, WIDE - 1].contains(place));
        // The common side of the pair runs through corners of these pixels.
        let is_touched = is_touched || [WIDE - 2, WIDE - 1, WIDE].contains(&(x + y));
        let expected = if is_touched { [0, 255, 0, 255] } else { [255, 0, 0, 255] };
        check(*got == expected, || format!("({x}, {y}): {got:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Returns the corners of triangles of all sizes.
fn random(seed: u64) -> Vec<Point> {
    let mut numbers = Random::new(seed);
    let mut below = |limit: u32| numbers.below(limit);
    let mut corners = Vec::new();
    for _ in 0..40 {
        let size = [2, 5, 12, 40, 64][below(5) as usize] * 16;
        let origin = [below(SIDE * 16), below(SIDE * 16)];
        let triangle: [Point; 3] =
            std::array::from_fn(|_| origin.map(|start| f64::from((start + below(size)).min(SIDE * 16)) * STEP));
        // Other cases test triangles without area.
        let [[ax, ay], [bx, by], [cx, cy]] = triangle;
        if (bx - ax) * (cy - ay) != (by - ay) * (cx - ax) {
            corners.extend(triangle);
        }
    }
    corners
}

/// Returns the area of a triangle in a pixel, by clipping the triangle at four lines.
fn area_inside(triangle: &[Point], [x, y]: Point) -> f64 {
    let mut polygon = triangle.to_vec();
    let sides: [(usize, f64, f64); 4] = [(0, 1.0, x), (0, -1.0, -x - 1.0), (1, 1.0, y), (1, -1.0, -y - 1.0)];
    for (axis, sign, limit) in sides {
        let distance = |point: &Point| point[axis] * sign - limit;
        let mut kept = Vec::new();
        for (index, here) in polygon.iter().enumerate() {
            let next = &polygon[(index + 1) % polygon.len()];
            let (a, b) = (distance(here), distance(next));
            if a >= 0.0 {
                kept.push(*here);
            }
            if a * b < 0.0 {
                let share = a / (a - b);
                kept.push([0, 1].map(|axis: usize| here[axis] + (next[axis] - here[axis]) * share));
            }
        }
        polygon = kept;
    }
    let turn = |a: &Point, b: &Point| a[0] * b[1] - a[1] * b[0];
    let twice: f64 = (0..polygon.len()).map(|at| turn(&polygon[at], &polygon[(at + 1) % polygon.len()])).sum();
    twice.abs() / 2.0
}

fn triangles(gpu: &Gpu, mode: Mode, samples: u32, seed: u64) -> Case {
    supported(gpu)?;
    let corners = random(seed);
    let draw = draw(gpu, Corners { points: &corners, depths: &[0.5] }, mode, vk::PrimitiveTopology::TRIANGLE_LIST)?;
    let samples = vk::SampleCountFlags::from_raw(samples);
    let pixels = render(gpu, &Target { size: [SIDE; 2], samples, ..Target::default() }, &[draw])?;
    compare(&pixels, mode, corners.chunks(3))
}

/// Returns true if a side of a polygon touches a corner of a pixel that lies in the polygon.
fn touches(polygon: &[Point], [x, y]: Point) -> bool {
    let corners = [[x, y], [x + 1.0, y], [x, y + 1.0], [x + 1.0, y + 1.0]];
    let sides = (0..polygon.len()).map(|at| (polygon[at], polygon[(at + 1) % polygon.len()]));
    sides.filter(|(a, b)| a != b).any(|([ax, ay], [bx, by])| {
        corners.iter().any(|[x, y]| ((bx - ax) * (y - ay) - (by - ay) * (x - ax)).abs() < 1e-9)
    })
}

/// Returns true if a convex polygon and a pixel have a point in common, if only on their sides. The
/// corners of the polygon lie on a grid of pixels divided by a small power of two.
///
/// Source: appendix `VK_EXT_conservative_rasterization`.
pub(in crate::cases) fn meets(polygon: &[Point], [x, y]: Point) -> bool {
    let pixel = [[x, y], [x + 1.0, y], [x, y + 1.0], [x + 1.0, y + 1.0]];
    let turn = |[ax, ay]: Point, [bx, by]: Point, [x, y]: Point| (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    let sides = || (0..polygon.len()).map(|at| (polygon[at], polygon[(at + 1) % polygon.len()]));
    let area: f64 = sides().map(|([ax, ay], [bx, by])| ax * by - ay * bx).sum();
    // Where the two lie on different sides of a line through a side of either, they do not meet.
    let is_apart = |(a, b): (Point, Point)| pixel.iter().all(|corner| turn(a, b, *corner) * area.signum() < 0.0);
    let is_beyond = |axis: usize| {
        let [least, most] = [pixel[0][axis], pixel[3][axis]];
        polygon.iter().all(|corner| corner[axis] < least) || polygon.iter().all(|corner| corner[axis] > most)
    };
    !polygon.is_empty() && !is_beyond(0) && !is_beyond(1) && !sides().any(is_apart)
}

/// Returns true if a pixel lies in a polygon with its sides and corners.
pub(in crate::cases) fn covers_wholly(polygon: &[Point], pixel: Point) -> bool {
    area_inside(polygon, pixel) > 1.0 - 1e-9 && !touches(polygon, pixel)
}

/// Checks that each polygon covers every expected pixel once.
fn compare<'p>(pixels: &[[u8; 4]], mode: Mode, polygons: impl Iterator<Item = &'p [Point]> + Clone) -> Case {
    for (index, got) in (0..).zip(pixels) {
        let place = [f64::from(index % SIDE), f64::from(index / SIDE)];
        let covers = |polygon: &&[Point]| match mode {
            Mode::OVERESTIMATE => meets(polygon, place),
            _ => covers_wholly(polygon, place),
        };
        let expected = polygons.clone().filter(covers).count();
        check(usize::from(got[0]) == expected, || format!("{place:?}: {} times instead of {expected}", got[0]))?;
    }
    Ok(())
}

/// Depths of corners by triangle: in front of the near plane, behind the far plane, or both, so
/// that sides are cut into halves and quarters.
const CUT: [[f32; 3]; 5] = [[0.5, 0.5, -0.5], [0.5, 1.5, 0.5], [-0.5, 1.5, 0.5], [1.5, -0.5, 1.5], [-0.5, -0.5, 1.5]];

/// Returns the part of a triangle between the planes.
fn between_planes(corners: &[Point], depths: [f32; 3]) -> Vec<Point> {
    let mut polygon: Vec<(Point, f64)> = corners.iter().copied().zip(depths.map(f64::from)).collect();
    for (sign, limit) in [(1.0, 0.0), (-1.0, -1.0)] {
        let mut kept = Vec::new();
        for (index, here) in polygon.iter().enumerate() {
            let next = &polygon[(index + 1) % polygon.len()];
            let (a, b) = (here.1 * sign - limit, next.1 * sign - limit);
            if a >= 0.0 {
                kept.push(*here);
            }
            if a * b < 0.0 {
                let share = a / (a - b);
                let place = [0, 1].map(|axis: usize| here.0[axis] + (next.0[axis] - here.0[axis]) * share);
                kept.push((place, here.1 + (next.1 - here.1) * share));
            }
        }
        polygon = kept;
    }
    polygon.into_iter().map(|(place, _)| place).collect()
}

/// Draws triangles that the near and far planes cut. Polygons must be covered as a whole, not as
/// the triangles that they are split into.
fn clipped(gpu: &Gpu, mode: Mode, samples: u32, seed: u64) -> Case {
    supported(gpu)?;
    let corners = random(seed);
    let draw = draw(
        gpu,
        Corners { points: &corners, depths: CUT.as_flattened() },
        mode,
        vk::PrimitiveTopology::TRIANGLE_LIST,
    )?;
    let samples = vk::SampleCountFlags::from_raw(samples);
    let pixels = render(gpu, &Target { size: [SIDE; 2], samples, ..Target::default() }, &[draw])?;
    let cut = corners.chunks(3).zip(CUT.into_iter().cycle()).map(|(corners, depths)| between_planes(corners, depths));
    let polygons: Vec<Vec<Point>> = cut.collect();
    compare(&pixels, mode, polygons.iter().map(Vec::as_slice))
}

/// Returns true if a part of a segment lies in a box.
fn passes(a: Point, b: Point, low: Point, high: Point) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for axis in 0..2 {
        let (start, step) = (a[axis], b[axis] - a[axis]);
        if step == 0.0 {
            if start < low[axis] || start > high[axis] {
                return false;
            }
            continue;
        }
        let ends = [(low[axis] - start) / step, (high[axis] - start) / step];
        from = from.max(ends[0].min(ends[1]));
        to = to.min(ends[0].max(ends[1]));
    }
    from <= to
}

/// Returns triangles that are a line or a point: the ends of each, and the corners.
fn flat_triangles(seed: u64) -> (Vec<[Point; 2]>, Vec<Point>) {
    let mut numbers = Random::new(seed);
    let (mut segments, mut corners) = (Vec::new(), Vec::new());
    for number in 0..40 {
        // Corners never lie on sides of pixels, and the points halfway between them lie on the
        // grid.
        let mut place = || [0, 1].map(|_| f64::from(2 + numbers.below(SIDE * 8 - 4) * 2) / 16.0 + 1.0 / 32.0);
        let (a, b) = (place(), place());
        let middle = [0, 1].map(|axis: usize| (a[axis] + b[axis]) / 2.0);
        let (ends, triangle) = match number % 4 {
            0 => ([a, a], [a, a, a]),
            1 => ([a, b], [a, b, a]),
            2 => ([a, b], [middle, a, b]),
            _ => ([a, [a[0], b[1]]], [[a[0], b[1]], a, a]),
        };
        segments.push(ends);
        corners.extend(triangle);
    }
    (segments, corners)
}

/// Checks that triangles without area cover the pixels that they touch, once each, with the values
/// of their first corner.
fn without_area(gpu: &Gpu, seed: u64) -> Case {
    supported(gpu)?;
    if properties(gpu)?.degenerate_triangles_rasterized == 0 {
        return Err(Outcome::NotSupported("degenerateTrianglesRasterized".into()));
    }
    let (segments, corners) = flat_triangles(seed);
    let list = vk::PrimitiveTopology::TRIANGLE_LIST;
    let others = [0.0, 1.0, 1.0, 1.0];
    let draw =
        draw_colored(gpu, Corners { points: &corners, depths: &[0.5, 0.25, 0.75] }, others, Mode::OVERESTIMATE, list)?;
    let pixels = render(gpu, &Target { size: [SIDE; 2], ..Target::default() }, &[draw])?;
    for (index, got) in (0..).zip(pixels) {
        let [x, y] = [f64::from(index % SIDE), f64::from(index / SIDE)];
        // A pixel close to a side or corner may be on either side.
        let count = |margin: f64| {
            let (low, high) = ([x - margin, y - margin], [x + 1.0 + margin, y + 1.0 + margin]);
            segments.iter().filter(|[a, b]| passes(*a, *b, low, high)).count()
        };
        let (least, most) = (count(-1.0 / 64.0), count(1.0 / 64.0));
        let covered = usize::from(got[0]);
        check((least..=most).contains(&covered), || format!("[{x}, {y}]: {covered} times, not {least} to {most}"))?;
        check(got[1] == 0 && got[2] == 0, || format!("[{x}, {y}]: {got:?} is not of the first corner"))?;
    }
    Ok(())
}

case!("conservative.degenerate.culled", "Conservative Rasterization", culled);

/// Checks that triangles without area are back faces.
fn culled(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if properties(gpu)?.degenerate_triangles_rasterized == 0 {
        return Err(Outcome::NotSupported("degenerateTrianglesRasterized".into()));
    }
    let (_, corners) = flat_triangles(70);
    for (cull, is_drawn) in [(vk::CullModeFlags::BACK, false), (vk::CullModeFlags::FRONT, true)] {
        let list = vk::PrimitiveTopology::TRIANGLE_LIST;
        let mut draw = draw(gpu, Corners { points: &corners, depths: &[0.5] }, Mode::OVERESTIMATE, list)?;
        draw.state.raster.cull_mode = cull;
        let pixels = render(gpu, &Target { size: [SIDE; 2], ..Target::default() }, &[draw])?;
        let any = pixels.iter().any(|pixel| pixel[0] != 0);
        check(any == is_drawn, || format!("{cull:?}: drawn {any}"))?;
    }
    Ok(())
}

/// Checks that fragments see whether their primitive covers them fully, with conservative
/// rasterization.
fn fully_covered(gpu: &Gpu, mode: Mode, samples: u32, seed: u64) -> Case {
    supported(gpu)?;
    if properties(gpu)?.fully_covered_fragment_shader_input_variable == 0 {
        return Err(Outcome::NotSupported("fullyCoveredFragmentShaderInputVariable".into()));
    }
    let corners = random(seed);
    let mut draw = draw(gpu, Corners { points: &corners, depths: &[0.5] }, mode, vk::PrimitiveTopology::TRIANGLE_LIST)?;
    draw.state.fragment = FULLY_COVERED;
    let samples = vk::SampleCountFlags::from_raw(samples);
    let pixels = render(gpu, &Target { size: [SIDE; 2], samples, ..Target::default() }, &[draw])?;
    for (index, got) in (0..).zip(&pixels) {
        let place = [f64::from(index % SIDE), f64::from(index / SIDE)];
        let count = |covers: &dyn Fn(&[Point]) -> bool| corners.chunks(3).filter(|corners| covers(corners)).count();
        let (least, most) = match mode {
            Mode::DISABLED => (0, 0),
            // Where a side passes through a corner of the pixel, both values are right.
            _ => (
                count(&|corners| covers_wholly(corners, place)),
                count(&|corners| area_inside(corners, place) > 1.0 - 1e-9),
            ),
        };
        let full = usize::from(got[1]);
        check((least..=most).contains(&full), || format!("{place:?}: {full} wholly, not {least} to {most}"))?;
    }
    let any = pixels.iter().any(|pixel| pixel[1] != 0);
    check(any == (mode != Mode::DISABLED), || format!("{mode:?}: any pixel is covered wholly: {any}"))
}

/// Checks that overestimation covers pixels of which a triangle touches a side or corner only, and
/// that pixels which its edges touch do not count as fully covered. Underestimation covers those
/// that do.
fn touched(gpu: &Gpu, mode: Mode) -> Case {
    supported(gpu)?;
    if properties(gpu)?.fully_covered_fragment_shader_input_variable == 0 {
        return Err(Outcome::NotSupported("fullyCoveredFragmentShaderInputVariable".into()));
    }
    let points = [[0.0, 0.0], [16.0, 0.0], [0.0, 16.0]];
    let mut draw = draw(gpu, Corners { points: &points, depths: &[0.5] }, mode, vk::PrimitiveTopology::TRIANGLE_LIST)?;
    draw.state.fragment = FULLY_COVERED;
    let pixels = render(gpu, &Target { size: [SIDE; 2], ..Target::default() }, &[draw])?;
    for (index, got) in (0..).zip(&pixels) {
        let [x, y] = [index % SIDE, index / SIDE];
        let inside = u8::from(x > 0 && y > 0 && x + y + 2 < 16);
        let drawn = if mode == Mode::UNDERESTIMATE { inside } else { u8::from(x + y <= 16) };
        check(got[..2] == [drawn, inside], || format!("({x}, {y}): {got:?} instead of {drawn} and {inside}"))?;
    }
    Ok(())
}
