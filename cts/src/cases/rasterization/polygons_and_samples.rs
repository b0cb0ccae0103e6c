//! Culling, clipping, viewports, scissors, samples and points.

use ash::vk;
use ash::vk::PrimitiveTopology as T;

use crate::Entry;
use crate::cases::support::conditions::need_samples;
use crate::cases::support::vertices::{count, red, vertices};
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

static LINEAR: &[u8] = shader!("linear.frag");
static CENTROID: &[u8] = shader!("centroid.frag");
static CENTROID_NAMED: &[u8] = shader!("centroid_named.frag");
static SAMPLE_EDGES: &[u8] = shader!("sample_edges.frag");
static STEP: &[u8] = shader!("step.frag");

/// Pixels of a side of the target.
const SIDE: f32 = SIZE as f32;

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

cases!(append_rasterization);

fn append_rasterization(cases: &mut Vec<Entry>) {
    for mode in 0..4u32 {
        for winding in [vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE] {
            let side = if winding == vk::FrontFace::CLOCKWISE { "clockwise" } else { "counter_clockwise" };
            let run = move |gpu: &Gpu| culling(gpu, vk::CullModeFlags::from_raw(mode), winding);
            cases.push(Entry::new(format!("raster.culling.mode{mode}_{side}"), "Basic Polygon Rasterization", run));
        }
    }
    // The viewport is [4, 12) in both directions: 1 in clip coordinates is 4 pixels.
    let clipped: [(&str, T, &[[f32; 2]], usize); 5] = [
        ("polygon", T::TRIANGLE_LIST, &[[-2.0, -2.0], [6.0, -2.0], [-2.0, 6.0]], 64),
        ("line", T::LINE_LIST, &[[-2.0, 0.125], [2.0, 0.125]], 8),
        ("point_inside", T::POINT_LIST, &[[0.75, 0.0]], 16),
        ("point_outside", T::POINT_LIST, &[[1.25, 0.0]], 0),
        ("point_far_outside", T::POINT_LIST, &[[0.0, -30.0]], 0),
    ];
    for (name, topology, vertices, pixels) in clipped {
        let run = move |gpu: &Gpu| clip(gpu, topology, vertices, Square { start: 4.0, side: 8.0 }, pixels);
        cases.push(Entry::new(format!("raster.clip.{name}"), "Primitive Clipping", run));
    }
    // Edges between pixels: pixels whose centres are inside are covered.
    let large = &[[-9.0, -9.0], [30.0, -9.0], [-9.0, 30.0]];
    let run = move |gpu: &Gpu| clip(gpu, T::TRIANGLE_LIST, large, Square { start: 3.75, side: 6.5 }, 36);
    cases.push(Entry::new("raster.clip.between_pixels", "Primitive Clipping", run));
    for samples in [2, 4, 8, 16] {
        let mut add = |name: &str, section, run: fn(&Gpu, u32) -> Case| {
            let run = move |gpu: &Gpu| need_samples(gpu, samples).and_then(|()| run(gpu, samples));
            cases.push(Entry::new(format!("raster.samples.{name}_{samples}"), section, run));
        };
        add("resolve", "Multisampling", resolve);
        add("mask", "Sample Mask Test", sample_mask);
        add("alpha_to_coverage", "Multisample Coverage", alpha_to_coverage);
        add("shading", "Sample Shading", sample_shading);
        add("edges", "Interpolation", sample_edges);
        add("centroid", "Interpolation", |gpu, samples| centroid(gpu, samples, CENTROID));
        add("centroid_named", "Interpolation", |gpu, samples| centroid(gpu, samples, CENTROID_NAMED));
    }
}

/// A square viewport on the diagonal of the target, in pixels.
#[derive(Clone, Copy)]
struct Square {
    start: f32,
    side: f32,
}

/// Draws with a square viewport that is smaller than the target, and checks the number of red
/// pixels.
fn clip(gpu: &Gpu, topology: T, positions: &[[f32; 2]], square: Square, pixels: usize) -> Case {
    let Square { start, side } = square;
    let mut draw = Draw { extra: 4.0, ..vertices(gpu, topology, positions)? };
    draw.state.viewport = vk::Viewport { x: start, y: start, width: side, height: side, ..draw.state.viewport };
    red(gpu, &Target::default(), &[draw], pixels)
}

fn culling(gpu: &Gpu, cull_mode: vk::CullModeFlags, front_face: vk::FrontFace) -> Case {
    let mut state = State::default();
    state.raster.cull_mode = cull_mode;
    state.raster.front_face = front_face;
    // The rectangle's triangles are clockwise on the screen.
    let is_front = front_face == vk::FrontFace::CLOCKWISE;
    let culled = if is_front { vk::CullModeFlags::FRONT } else { vk::CullModeFlags::BACK };
    let expected = if cull_mode.contains(culled) { 0 } else { 256 };
    red(gpu, &Target::default(), &[Draw::rect(state, FULL, RED)], expected)
}

case!("raster.viewport.quarter", "Controlling the Viewport", viewport);

fn viewport(gpu: &Gpu) -> Case {
    let mut state = State::default();
    state.viewport.width /= 2.0;
    state.viewport.height /= 2.0;
    red(gpu, &Target::default(), &[Draw::rect(state, FULL, RED)], 64)
}

case!("raster.scissor.inside", "Scissor Test", scissor);

fn scissor(gpu: &Gpu) -> Case {
    let scissor = vk::Rect2D { offset: vk::Offset2D { x: 3, y: 5 }, extent: vk::Extent2D { width: 4, height: SIZE } };
    let state = State { scissor, ..State::default() };
    red(gpu, &Target::default(), &[Draw::rect(state, FULL, RED)], 4 * 11)
}

fn multisampled(samples: u32) -> Target {
    Target { samples: vk::SampleCountFlags::from_raw(samples), ..Target::default() }
}

/// Draws a rectangle that ends in the middle of a column, where half of the samples are covered.
fn resolve(gpu: &Gpu, samples: u32) -> Case {
    let rect = [-1.0, -1.0, 0.0625, 1.0];
    let pixels = render(gpu, &multisampled(samples), &[Draw::rect(State::default(), rect, RED)])?;
    let full = count(&pixels, [255, 0, 0, 255]);
    // Two of 16 samples lie on the edge, so seven to nine samples may be left of it.
    let half = pixels.iter().filter(|pixel| (112..=144).contains(&pixel[0])).count();
    check(full == 8 * 16 && half == 16, || format!("{full} full and {half} half"))
}

fn sample_mask(gpu: &Gpu, samples: u32) -> Case {
    let state = State { sample_mask: 0b0001, ..State::default() };
    let pixels = render(gpu, &multisampled(samples), &[Draw::rect(state, FULL, RED)])?;
    let share = (255 / samples) as u8;
    check(pixels.iter().all(|pixel| pixel[0].abs_diff(share) <= 4), || format!("{:?}", pixels[0]))
}

/// Draws a step right of the middle of a column of pixels, in a small triangle and in the whole
/// target. With sample shading, half of the column's samples are 1.
fn sample_shading(gpu: &Gpu, samples: u32) -> Case {
    if gpu.features.sample_rate_shading == 0 {
        return Err(Outcome::NotSupported("sampleRateShading".into()));
    }
    let place = |pixel: f32| pixel / (SIDE / 2.0) - 1.0;
    // Red is x in pixels, less 3, so that it crosses a half at 3.5.
    let vertex = |x: f32, y: f32| [[place(x), place(y), 0.5, 1.0], [x - 3.0, 0.0, 0.0, 1.0]];
    for (by_sample, size) in [(true, 8.0), (true, 40.0), (false, 8.0), (false, 40.0)] {
        let corners = [vertex(0.0, 0.0), vertex(size, 0.0), vertex(0.0, size)];
        let state = State { vertex: TRIANGLES, fragment: STEP, by_sample, ..State::default() };
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&corners)?, count: 3 };
        let pixels = render(gpu, &multisampled(samples), &[Draw { kind, ..Draw::rect(state, FULL, RED) }])?;
        // A pixel that lies inside, with the step in its middle.
        let got = pixels[(SIZE + 3) as usize][0];
        let right = if by_sample { (100..=155).contains(&got) } else { got == 0 || got == 255 };
        check(right, || format!("{got} of a triangle of {size} pixels, by sample: {by_sample}"))?;
    }
    Ok(())
}

/// Draws squares on whole pixels with an attribute that counts pixels: samples between two pixels
/// must have the value of their own pixel. The target's sides are no powers of two, so that
/// positions are rounded.
fn sample_edges(gpu: &Gpu, samples: u32) -> Case {
    if gpu.features.sample_rate_shading == 0 {
        return Err(Outcome::NotSupported("sampleRateShading".into()));
    }
    let (size, side) = ([50, 40], 30.0f32);
    let target = Target { size, ..multisampled(samples) };
    for [x, y] in [[0.0f32, 0.0], [10.0, 10.0], [17.0, 3.0], [5.0, -7.0], [33.0, 21.0]] {
        let mut state = State { fragment: SAMPLE_EDGES, by_sample: true, ..State::default() };
        let [width, height] = size.map(|pixels| pixels as f32);
        state.viewport = vk::Viewport { width, height, ..state.viewport };
        state.scissor.extent = vk::Extent2D { width: size[0], height: size[1] };
        let place = |x: f32, y: f32| [2.0 * x / width - 1.0, 2.0 * y / height - 1.0];
        let rect = [place(x, y), place(x + side, y + side)].concat();
        let rect = [rect[0], rect[1], rect[2], rect[3]];
        let draw = Draw { extra: side, ..Draw::rect(state, rect, [x, y, 0.0, 0.0]) };
        let pixels = render(gpu, &target, &[draw])?;
        let drawn = pixels.iter().filter(|&&pixel| pixel != [0; 4]).count();
        check(drawn >= 17 * 19, || format!("{drawn} pixels"))?;
        for (at, &pixel) in (0..).zip(&pixels) {
            let place = [at % size[0], at / size[0]];
            check(matches!(pixel, [0, 0, 0, 0] | [0, 255, 0, 255]), || format!("{x}, {y}: {place:?} is {pixel:?}"))?;
        }
    }
    Ok(())
}

/// Draws a triangle in each cell of a target with colours that encode window positions. Centroid
/// positions must lie in their pixel and in the triangle.
fn centroid(gpu: &Gpu, samples: u32, fragment: &'static [u8]) -> Case {
    const SIZE: [u32; 2] = [160, 96];
    let mut numbers = Random::new(samples.into());
    for cell in [16, 80] {
        let columns = SIZE[0] / cell;
        let mut triangle = |number: u32| {
            let origin = [number % columns * cell, number / columns * cell];
            [(); 3].map(|()| origin.map(|start| start as f32 + numbers.below(cell * 16) as f32 / 16.0))
        };
        let triangles: Vec<_> = (0..columns * (SIZE[1] / cell)).map(&mut triangle).collect();
        let [width, height] = SIZE.map(|side| side as f32);
        let vertex = |&[x, y]: &[f32; 2]| [[x / width * 2.0 - 1.0, y / height * 2.0 - 1.0, 0.5, 1.0], [x, y, 0.0, 1.0]];
        let vertices: Vec<[[f32; 4]; 2]> = triangles.as_flattened().iter().map(vertex).collect();
        let viewport = vk::Viewport { width, height, max_depth: 1.0, ..Default::default() };
        let scissor = vk::Rect2D { extent: vk::Extent2D { width: SIZE[0], height: SIZE[1] }, ..Default::default() };
        let state = State { vertex: TRIANGLES, fragment, viewport, scissor, ..State::default() };
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 };
        let target = Target { size: SIZE, format: vk::Format::R32G32B32A32_SFLOAT, ..multisampled(samples) };
        let words = render(gpu, &target, &[Draw { kind, ..Draw::rect(state, FULL, RED) }])?;
        let mut parts = 0;
        for (number, words) in words.as_chunks::<4>().0.iter().enumerate() {
            let [x, y, share, _] = words.map(f32::from_le_bytes);
            if share == 0.0 {
                continue;
            }
            parts += u32::from(share < 1.0);
            let pixel = [number as u32 % SIZE[0], number as u32 / SIZE[0]];
            let place = [x / share, y / share];
            let in_window = [0, 1].map(|axis: usize| pixel[axis] as f32 + place[axis]);
            let triangle = triangles[(pixel[1] / cell * columns + pixel[0] / cell) as usize];
            let inside = place.iter().all(|place| (-0.01..=1.01).contains(place)) && is_near(triangle, in_window);
            check(inside, || format!("{pixel:?}: {place:?}, {share} of the samples, of {triangle:?}"))?;
        }
        check(parts > 40, || format!("{parts} pixels are partly covered"))?;
    }
    Ok(())
}

/// Returns true if a point lies in a triangle, or as near as a rounding error.
fn is_near(corners: [[f32; 2]; 3], [x, y]: [f32; 2]) -> bool {
    let side = |[a, b]: [[f32; 2]; 2]| {
        let [along, across] = [b[0] - a[0], b[1] - a[1]];
        (along * (y - a[1]) - across * (x - a[0])) / along.hypot(across).max(1e-3)
    };
    let [a, b, c] = corners;
    let sides = [[a, b], [b, c], [c, a]].map(side);
    sides.iter().all(|&side| side > -0.02) || sides.iter().all(|&side| side < 0.02)
}

fn alpha_to_coverage(gpu: &Gpu, samples: u32) -> Case {
    for (alpha, low, high) in [(0.0, 0, 0), (1.0, 255, 255), (0.5, 60, 195)] {
        let state = State { alpha_to_coverage: true, ..State::default() };
        let draw = Draw::rect(state, FULL, [1.0, 0.0, 0.0, alpha]);
        let pixels = render(gpu, &multisampled(samples), &[draw])?;
        check(pixels.iter().all(|pixel| (low..=high).contains(&pixel[0])), || {
            format!("alpha {alpha}: {:?}", pixels[0])
        })?;
    }
    Ok(())
}

case!("raster.points.size", "Points", point_size);

fn point_size(gpu: &Gpu) -> Case {
    let draw = vertices(gpu, T::POINT_LIST, &[[0.0, 0.0]])?;
    red(gpu, &Target::default(), &[Draw { extra: 6.0, ..draw }], 36)
}

/// Draws vertices whose colours, linear in the window, encode window positions.
fn places(gpu: &Gpu, vertices: &[[f32; 4]], topology: T) -> Result<Vec<[u8; 4]>, Outcome> {
    let share = |place: f32, w: f32| (place / w + 1.0) * 0.5;
    let vertex = |&[x, y, z, w]: &[f32; 4]| [[x, y, z, w], [share(x, w), share(y, w), 0.0, 1.0]];
    let vertices: Vec<[[f32; 4]; 2]> = vertices.iter().map(vertex).collect();
    let state = State { vertex: TRIANGLES, fragment: LINEAR, topology, ..State::default() };
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 };
    render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) }])
}

/// Checks that covered pixels have the colours of their positions. Returns their number.
fn compare_places(pixels: &[[u8; 4]], axes: usize) -> Result<usize, Outcome> {
    let mut covered = 0;
    for (at, pixel) in (0..).zip(pixels).filter(|(_, pixel)| pixel[3] != 0) {
        let expected = [at % SIZE, at / SIZE].map(|pixel| (pixel as f32 + 0.5) / SIDE * 255.0);
        let good = (0..axes).all(|axis| (f32::from(pixel[axis]) - expected[axis]).abs() <= 1.0);
        check(good, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
        covered += 1;
    }
    Ok(covered)
}

case!("raster.clipping.noperspective", "Clipping Shader Outputs", noperspective);

/// Draws triangles across the near plane, behind the eye and far to the sides. Clipping must not
/// change values of the visible part.
fn noperspective(gpu: &Gpu) -> Case {
    let corners = [
        // In front of the near plane, with different values of w.
        [[-1.0, -1.0, 0.5, 1.0], [3.0, -3.0, 1.5, 3.0], [-0.5, 1.0, -0.5, 0.5]],
        // Behind the eye.
        [[-1.0, -1.0, 0.5, 1.0], [30.0, -1.0, 0.5, 1.0], [-1.0, 2.0, 0.5, -0.5]],
        [[-1.5, 0.9, 0.1, 2.0], [1.0, 0.25, 0.9, 1.0], [0.0, 4.0, -3.0, -1.0]],
        // Far away on both sides.
        [[-60.0, -1.0, 0.5, 1.0], [300.0, -4.0, 2.0, 4.0], [0.0, 2.0, 0.5, 2.0]],
    ];
    for (number, corners) in corners.iter().enumerate() {
        let covered = compare_places(&places(gpu, corners, T::TRIANGLE_LIST)?, 2)?;
        check(covered > 16, || format!("triangle {number}: {covered} pixels"))?;
    }
    Ok(())
}

case!("raster.clipping.noperspective_lines", "Clipping Shader Outputs", noperspective_lines);

/// Repeats `noperspective` with lines from left to right.
fn noperspective_lines(gpu: &Gpu) -> Case {
    let y = 1.0 / SIDE;
    for ends in [[[-30.0, y, 0.5, 1.0], [2.0, 2.0 * y, 1.0, 2.0]], [[-2.0, 2.0 * y, -1.0, 2.0], [0.75, y, 0.9, 1.0]]] {
        let covered = compare_places(&places(gpu, &ends, T::LINE_LIST)?, 1)?;
        check(covered >= 4, || format!("{ends:?}: {covered} pixels"))?;
    }
    Ok(())
}
