//! `VK_KHR_line_rasterization`: lines of all modes compared with the specification's definitions,
//! evaluated pixel by pixel.
//!
//! Bresenham lines are compared with the diamond-exit rule itself, in which endpoints are moved by
//! an infinitely small amount. Numbers of the model have components for this amount and for its
//! square.

use ash::vk;
use ash::vk::{LineRasterizationModeKHR as Mode, PrimitiveTopology as T};

use crate::Entry;
use crate::cases::rasterization::diamond_exit::{Line, Place, SIDE, UNITS, count, fragments, is_in_view};
use crate::cases::support::conditions::need_samples;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{Draw, FLAT, FLAT_COLOR, Kind, Lines, State, TRIANGLES, Target, render};

const SECTION: &str = "Line Segments";

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let kinds: [(&str, Kinds); 6] = [
        ("any", Kinds::Any),
        ("centres", Kinds::Centres),
        ("edges", Kinds::Edges),
        ("short", Kinds::Short),
        ("long", Kinds::Long),
        ("slopes", Kinds::Slopes),
    ];
    for (name, kind) in kinds {
        for (number, width) in (0..).zip([1.0, 1.0, 1.0, 2.0, 3.25, 7.0]) {
            let run = move |gpu: &Gpu| bresenham(gpu, &random(kind, number), width, 1 << (number % 5));
            cases.push(Entry::new(format!("lines.bresenham.{name}{number}"), SECTION, run));
        }
        for (number, width) in (20..).zip([33.0, 100.0, 256.0]) {
            let run = move |gpu: &Gpu| wide(gpu, &random(kind, number), width);
            cases.push(Entry::new(format!("lines.widths.{name}_{width}"), SECTION, run));
        }
        for (number, samples) in [(6, 1), (7, 4)] {
            let run = move |gpu: &Gpu| rectangular(gpu, &random(kind, number), samples);
            cases.push(Entry::new(format!("lines.rectangular.{name}_{samples}"), SECTION, run));
        }
        let run = move |gpu: &Gpu| smooth(gpu, &random(kind, 8), [1.0, 2.5, 6.0][name.len() % 3]);
        cases.push(Entry::new(format!("lines.smooth.{name}"), "Smooth Lines", run));
        for (number, stipple) in [(9, (1, 0x5a5f)), (10, (3, 0x00ff)), (11, (7, 0x9249)), (12, (256, 0x0001))] {
            let run = move |gpu: &Gpu| bresenham_stipple(gpu, kind, number, stipple);
            cases.push(Entry::new(format!("lines.stipple.bresenham_{name}{number}"), "Line Stipple", run));
            let run = move |gpu: &Gpu| rectangular_stipple(gpu, kind, number, stipple);
            cases.push(Entry::new(format!("lines.stipple.rectangular_{name}{number}"), "Line Stipple", run));
        }
    }
}

/// Positions of the ends of random lines.
#[derive(Clone, Copy, PartialEq)]
enum Kinds {
    Any,
    /// Centres of pixels.
    Centres,
    /// Edges and corners of diamonds.
    Edges,
    /// Within a pixel of each other.
    Short,
    /// Far outside of the target.
    Long,
    /// Horizontal, vertical and diagonal.
    Slopes,
}

/// Returns lines. Connected lines follow each other.
fn random(kind: Kinds, seed: u64) -> Vec<Line> {
    let mut numbers = Random::new(seed * 6 + kind as u64);
    let mut lines: Vec<Line> = Vec::new();
    for _ in 0..40 {
        let from = match lines.last() {
            Some(last) if numbers.one_in(2) => last[1],
            _ => place(&mut numbers, kind),
        };
        let to = match kind {
            Kinds::Short => from.map(|units| units + i64::from(numbers.below(512)) - 256),
            Kinds::Slopes => {
                let length = i64::from(numbers.below(40 * 256)) - 20 * 256;
                let [x, y] = numbers.pick(&[[1, 0], [0, 1], [1, 1], [1, -1]]);
                [from[0] + x * length, from[1] + y * length]
            }
            _ => place(&mut numbers, kind),
        };
        lines.push([from, to]);
    }
    lines
}

fn place(numbers: &mut Random, kind: Kinds) -> Place {
    let mut below = |limit: i64| i64::from(numbers.below(limit as u32));
    let pixel = [below(SIDE), below(SIDE)];
    match kind {
        Kinds::Centres => pixel.map(|pixel| pixel * UNITS + UNITS / 2),
        Kinds::Edges => {
            let (part, side) = (below(129), below(4));
            let step =
                [[part, 128 - part], [-part, 128 - part], [part, part - 128], [-part, part - 128]][side as usize];
            [0, 1].map(|axis: usize| pixel[axis] * UNITS + UNITS / 2 + step[axis])
        }
        Kinds::Long => [below(1 << 19) - (1 << 18), below(1 << 19) - (1 << 18)],
        _ => pixel.map(|pixel| pixel * UNITS + below(UNITS)),
    }
}

fn supported(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_LINE_RASTERIZATION_NAME)
}

/// Returns the state of lines whose colours are added.
fn state(mode: Mode, width: f32, stipple: Option<(u32, u16)>) -> State {
    let mut state = State { vertex: TRIANGLES, topology: T::LINE_LIST, ..State::default() };
    state.extensions.lines = Some(Lines { mode, stipple });
    state.raster.line_width = width;
    (state.viewport.width, state.viewport.height) = (SIDE as f32, SIDE as f32);
    state.scissor.extent = vk::Extent2D { width: SIDE as u32, height: SIDE as u32 };
    state.blend.blend_enable = vk::TRUE;
    let one = vk::BlendFactor::ONE;
    (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) = (one, one);
    (state.blend.src_alpha_blend_factor, state.blend.dst_alpha_blend_factor) = (one, one);
    state
}

/// Red of one line. The red of lines is added.
const STEP: f32 = 1.0 / 255.0;

/// Returns vertices at positions, with depths and a colour.
fn vertices(places: &[Place], depths: &[f32], color: [f32; 4]) -> Vec<[[f32; 4]; 2]> {
    let clip = |units: i64| (units as f64 / (SIDE * UNITS / 2) as f64 - 1.0) as f32;
    let vertex = |(place, depth): (&Place, &f32)| [[clip(place[0]), clip(place[1]), *depth, 1.0], color];
    places.iter().zip(depths.iter().cycle()).map(vertex).collect()
}

fn draw(gpu: &Gpu, state: State, vertices: &[[[f32; 4]; 2]]) -> Result<Draw, Outcome> {
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(vertices)?, count: vertices.len() as u32 };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

fn target(samples: u32) -> Target {
    let samples = vk::SampleCountFlags::from_raw(samples);
    Target { size: [SIDE as u32; 2], samples, ..Target::default() }
}

/// Returns the red of each pixel of draws.
fn reds(gpu: &Gpu, samples: u32, draws: &[Draw]) -> Result<Vec<i64>, Outcome> {
    Ok(render(gpu, &target(samples), draws)?.iter().map(|pixel| i64::from(pixel[0])).collect())
}

/// Compares the numbers of times that pixels were covered with the expected numbers.
fn compare(got: &[i64], expected: &[i64]) -> Case {
    for (index, (got, expected)) in (0..).zip(got.iter().zip(expected)) {
        check(got == expected, || format!("({}, {}): {got} times, not {expected}", index % SIDE, index / SIDE))?;
    }
    Ok(())
}

fn index([x, y]: [i64; 2]) -> usize {
    (y * SIDE + x) as usize
}

/// Returns how often lines cover each pixel, with the fragments that `drawn` selects.
fn expected(lines: &[Line], width: i64, drawn: impl Fn(usize, i64) -> bool) -> Vec<i64> {
    let mut counts = vec![0; (SIDE * SIDE) as usize];
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_in_view(**line)) {
        for (pixel, along) in fragments(*line, width) {
            counts[index(pixel)] += i64::from(drawn(number, along));
        }
    }
    counts
}

case!("lines.device.properties", "Features", properties);

fn properties(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let mut own = vk::PhysicalDeviceLineRasterizationPropertiesKHR::default();
    gpu.properties2(&mut own);
    check(own.line_sub_pixel_precision_bits >= 4, || format!("{own:?}"))?;
    let lines = &gpu.extension_features.lines;
    let any = lines.rectangular_lines | lines.bresenham_lines | lines.smooth_lines;
    check(any != 0, || "a device with the extension has one of its features".into())
}

fn bresenham(gpu: &Gpu, lines: &[Line], width: f32, samples: u32) -> Case {
    supported(gpu)?;
    need_samples(gpu, samples)?;
    let state = state(Mode::BRESENHAM, width, None);
    let draw = draw(gpu, state, &vertices(lines.as_flattened(), &[0.5], [STEP, 0.0, 0.0, 0.0]))?;
    compare(&reds(gpu, samples, &[draw])?, &expected(lines, width.round() as i64, |_, _| true))
}

/// Returns true if a bit of a stipple is set.
fn is_drawn((factor, pattern): (u32, u16), counter: i64) -> bool {
    pattern >> (counter / i64::from(factor) % 16) & 1 != 0
}

/// Returns runs of connected lines, each as a list of positions.
fn strips(lines: &[Line]) -> Vec<Vec<Place>> {
    let mut strips: Vec<Vec<Place>> = Vec::new();
    for line in lines {
        match strips.last_mut().filter(|strip| strip.last() == Some(&line[0])) {
            Some(strip) => strip.push(line[1]),
            None => strips.push(line.to_vec()),
        }
    }
    strips
}

/// Returns a draw of lines as strips, by an index buffer with restarts.
fn indexed(gpu: &Gpu, mut state: State, strips: &[Vec<Place>], color: [f32; 4]) -> Result<Draw, Outcome> {
    (state.topology, state.restart) = (T::LINE_STRIP, true);
    let (mut places, mut indices) = (Vec::new(), Vec::new());
    for strip in strips {
        indices.extend((0..strip.len() as u32).map(|number| places.len() as u32 + number));
        places.extend_from_slice(strip);
        indices.push(u32::MAX);
    }
    let buffer = gpu.buffer_with(&vertices(&places, &[0.5], color))?;
    let (count, kind) = (indices.len() as u32, vk::IndexType::UINT32);
    let kind = Kind::Indexed { buffer, indices: gpu.buffer_with(&indices)?, count, kind };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

/// Compares stippled lines. The counter restarts for each line of a list, and continues in strips.
fn bresenham_stipple(gpu: &Gpu, kind: Kinds, seed: u64, stipple: (u32, u16)) -> Case {
    supported(gpu)?;
    let (lines, width) = (random(kind, seed), 1 + seed as i64 % 2 * 2);
    let (color, state) = ([STEP, 0.0, 0.0, 0.0], state(Mode::BRESENHAM, width as f32, Some(stipple)));
    let list = draw(gpu, state.clone(), &vertices(lines.as_flattened(), &[0.5], color))?;
    compare(&reds(gpu, 1, &[list])?, &expected(&lines, width, |_, along| is_drawn(stipple, along)))?;
    let strips = strips(&lines);
    let mut counters = Vec::new();
    for strip in &strips {
        let mut counter = 0;
        for pair in strip.windows(2) {
            counters.push(counter);
            let mut line = [pair[0], pair[1]];
            let minor = usize::from((line[1][0] - line[0][0]).abs() >= (line[1][1] - line[0][1]).abs());
            line.iter_mut().for_each(|end| end[minor] -= (width - 1) * UNITS / 2);
            counter += count(line);
        }
    }
    let strips = indexed(gpu, state, &strips, color)?;
    let drawn = |number: usize, along: i64| is_drawn(stipple, counters[number] + along);
    compare(&reds(gpu, 1, &[strips])?, &expected(&lines, width, drawn))
}

/// Returns the coordinates of a point along and across a line, in pixels, and the line's length.
fn in_frame(line: Line, point: [f64; 2]) -> ([f64; 2], f64) {
    let [from, to] = line.map(|end| end.map(|units| units as f64 / UNITS as f64));
    let delta = [to[0] - from[0], to[1] - from[1]];
    let length = delta[0].hypot(delta[1]);
    let offset = [point[0] - from[0], point[1] - from[1]];
    let along = (offset[0] * delta[0] + offset[1] * delta[1]) / length;
    let across = (offset[1] * delta[0] - offset[0] * delta[1]) / length;
    ([along, across], length)
}

/// Distance from a border, in pixels, within which a point may be on either side.
const NEAR: f64 = 1.0 / 64.0;

/// Returns the least and greatest number of times that rectangles cover a point. `drawn` decides
/// by the number of a line and the distance along it.
fn covered(lines: &[Line], width: f64, point: [f64; 2], drawn: impl Fn(usize, f64) -> bool) -> [i64; 2] {
    let mut counts = [0, 0];
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| line[0] != line[1] && is_in_view(**line)) {
        let ([along, across], length) = in_frame(*line, point);
        let within = |more: f64| across.abs() < width / 2.0 + more && along > -more && along < length + more;
        let bits = [-NEAR, 0.0, NEAR].map(|step| drawn(number, (along + step).max(0.0)));
        counts[0] += i64::from(within(-NEAR) && bits.iter().all(|bit| *bit));
        counts[1] += i64::from(within(NEAR) && bits.iter().any(|bit| *bit));
    }
    counts
}

/// Compares with rectangles, sample by sample.
fn compare_rectangles(
    got: &[i64],
    lines: &[Line],
    (width, samples): (f64, u32),
    drawn: impl Fn(usize, f64) -> bool,
) -> Case {
    // Source: "Multisampling", standard sample locations.
    let places: &[[f64; 2]] = match samples {
        4 => &[[0.375, 0.125], [0.875, 0.375], [0.125, 0.625], [0.625, 0.875]],
        _ => &[[0.5, 0.5]],
    };
    for (number, got) in (0..).zip(got) {
        let mut sum = [0, 0];
        for place in places {
            let point = [(number % SIDE) as f64 + place[0], (number / SIDE) as f64 + place[1]];
            let counts = covered(lines, width, point, &drawn);
            sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
        // Each line adds 4. With several samples the mean is rounded.
        let (low, high) = (sum[0] as f64 * 4.0 / f64::from(samples), sum[1] as f64 * 4.0 / f64::from(samples));
        let right = (low - 0.6..=high + 0.6).contains(&(*got as f64));
        check(right, || format!("({}, {}): {got}, not {low} to {high}", number % SIDE, number / SIDE))?;
    }
    Ok(())
}

fn rectangular(gpu: &Gpu, lines: &[Line], samples: u32) -> Case {
    supported(gpu)?;
    for (mode, width) in [(Mode::RECTANGULAR, 1.0), (Mode::RECTANGULAR, 3.5), (Mode::DEFAULT, 2.0)] {
        let vertices = vertices(lines.as_flattened(), &[0.5], [4.0 * STEP, 0.0, 0.0, 0.0]);
        let draw = draw(gpu, state(mode, width, None), &vertices)?;
        let got = reds(gpu, samples, &[draw])?;
        compare_rectangles(&got, lines, (f64::from(width), samples), |_, _| true)?;
    }
    Ok(())
}

/// Draws lines of many pixels up to the greatest width of any device, a few of each.
fn wide(gpu: &Gpu, lines: &[Line], width: f32) -> Case {
    supported(gpu)?;
    // SAFETY: the physical device is valid.
    let limits = unsafe { gpu.instance.get_physical_device_properties(gpu.physical) }.limits;
    if gpu.features.wide_lines == 0 || limits.line_width_range[1] < width {
        return Err(Outcome::NotSupported(format!("lines {width} pixels wide")));
    }
    let lines = &lines[..lines.len().min(12)];
    bresenham(gpu, lines, width, 1)?;
    let vertices = vertices(lines.as_flattened(), &[0.5], [4.0 * STEP, 0.0, 0.0, 0.0]);
    let draw = draw(gpu, state(Mode::RECTANGULAR, width, None), &vertices)?;
    compare_rectangles(&reds(gpu, 1, &[draw])?, lines, (f64::from(width), 1), |_, _| true)
}

fn rectangular_stipple(gpu: &Gpu, kind: Kinds, seed: u64, stipple: (u32, u16)) -> Case {
    supported(gpu)?;
    let (lines, width, samples) =
        (random(kind, seed), 1.0 + (seed % 3) as f32, if seed.is_multiple_of(2) { 1 } else { 4 });
    let color = [4.0 * STEP, 0.0, 0.0, 0.0];
    let state = state(Mode::RECTANGULAR, width, Some(stipple));
    let list = draw(gpu, state.clone(), &vertices(lines.as_flattened(), &[0.5], color))?;
    let size = (f64::from(width), samples);
    let drawn = |distance: f64| is_drawn(stipple, distance.floor() as i64);
    compare_rectangles(&reds(gpu, samples, &[list])?, &lines, size, |_, along| drawn(along))?;
    let (strips, mut before) = (strips(&lines), Vec::new());
    for strip in &strips {
        let mut distance = 0.0;
        for pair in strip.windows(2) {
            before.push(distance);
            distance += if pair[0] == pair[1] { 0.0 } else { in_frame([pair[0], pair[1]], [0.0; 2]).1 };
        }
    }
    let strips = indexed(gpu, state, &strips, color)?;
    let got = reds(gpu, samples, &[strips])?;
    compare_rectangles(&got, &lines, size, |number, along| drawn(before[number] + along))
}

/// Distance of a point from one side of a rectangle, positive inside, in its frame, by length and
/// half of the width.
type Room = fn([f64; 2], f64, f64) -> f64;

/// Returns the area of a line's rectangle in a pixel, by clipping the pixel at four lines.
fn area_inside(line: Line, width: f64, [x, y]: [f64; 2]) -> f64 {
    let mut polygon = vec![[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
    let length = in_frame(line, [0.0; 2]).1;
    let rooms: [Room; 4] = [
        |[along, _], _, _| along,
        |[along, _], length, _| length - along,
        |[_, across], _, half| half - across,
        |[_, across], _, half| half + across,
    ];
    for room in rooms {
        let distance = |point: &[f64; 2]| room(in_frame(line, *point).0, length, width / 2.0);
        let mut kept = Vec::new();
        for (number, here) in polygon.iter().enumerate() {
            let next = &polygon[(number + 1) % polygon.len()];
            let (a, b) = (distance(here), distance(next));
            if a >= 0.0 {
                kept.push(*here);
            }
            if a * b < 0.0 {
                kept.push([0, 1].map(|axis: usize| here[axis] + (next[axis] - here[axis]) * a / (a - b)));
            }
        }
        polygon = kept;
    }
    let turn = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[1] - a[1] * b[0];
    let twice: f64 = (0..polygon.len()).map(|at| turn(&polygon[at], &polygon[(at + 1) % polygon.len()])).sum();
    twice.abs() / 2.0
}

/// Draws lines one by one and checks that alpha is about the area of the line in a pixel.
fn smooth(gpu: &Gpu, lines: &[Line], width: f32) -> Case {
    supported(gpu)?;
    for line in lines.iter().filter(|line| line[0] != line[1] && is_in_view(**line)).take(12) {
        let draw =
            draw(gpu, state(Mode::RECTANGULAR_SMOOTH, width, None), &vertices(line, &[0.5], [STEP, 0.0, 0.0, 1.0]))?;
        let pixels = render(gpu, &target(1), &[draw])?;
        let (mut sum, mut wanted) = (0.0, 0.0);
        for (number, pixel) in (0..).zip(&pixels) {
            let place = [(number % SIDE) as f64, (number / SIDE) as f64];
            let (got, area) = (f64::from(pixel[3]) / 255.0, area_inside(*line, f64::from(width), place));
            check((got - area).abs() < 0.12 && pixel[0] <= 1, || {
                format!("{line:?} at {place:?}: {got} of {area}, {pixel:?}")
            })?;
            (sum, wanted) = (sum + got, wanted + area);
        }
        check((sum - wanted).abs() < 0.01 * wanted + 0.25, || format!("{line:?}: {sum} of {wanted} in all"))?;
    }
    Ok(())
}

case!("lines.smooth.blend", "Smooth Lines", smooth_exact);

/// Checks the exact area along the axes: alpha multiplies, and colours and later alphas do not
/// change.
fn smooth_exact(gpu: &Gpu) -> Case {
    supported(gpu)?;
    // From x 4.25 to 10.5, 2 pixels wide around y 20.25.
    let line = [[1088, 5184], [2688, 5184]];
    let mut state = state(Mode::RECTANGULAR_SMOOTH, 2.0, None);
    state.blend.src_color_blend_factor = vk::BlendFactor::SRC_ALPHA;
    let draw = draw(gpu, state, &vertices(&line, &[0.5], [1.0, 0.0, 0.0, 0.5]))?;
    let pixels = render(gpu, &target(1), &[draw])?;
    for (number, pixel) in (0..).zip(&pixels) {
        let part = |low: f64, high: f64, at: i64| ((at as f64 + 1.0).min(high) - (at as f64).max(low)).max(0.0);
        let share = part(4.25, 10.5, number % SIDE) * part(19.25, 21.25, number / SIDE);
        let wanted = share * 127.5;
        let near = |got: u8| (f64::from(got) - wanted).abs() < 1.1;
        check(near(pixel[0]) && near(pixel[3]), || {
            format!("({}, {}): {pixel:?}, not {wanted}", number % SIDE, number / SIDE)
        })?;
    }
    Ok(())
}

case!("lines.smooth.samples", "Smooth Lines", smooth_samples);

/// Checks that coverage goes to alpha: with several samples, all of them are covered.
fn smooth_samples(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let line = [[1000, 2000], [14000, 9000]];
    let draw =
        |gpu| draw(gpu, state(Mode::RECTANGULAR_SMOOTH, 3.0, None), &vertices(&line, &[0.5], [0.2, 0.0, 0.0, 1.0]));
    let one = render(gpu, &target(1), &[draw(gpu)?])?;
    for samples in [4, 16] {
        need_samples(gpu, samples)?;
        let several = render(gpu, &target(samples), &[draw(gpu)?])?;
        let near = |(a, b): (&[u8; 4], &[u8; 4])| a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 1);
        check(one.iter().zip(&several).all(near), || format!("{samples} samples"))?;
    }
    Ok(())
}

case!("lines.stipple.smooth", "Line Stipple", smooth_stipple);

/// Checks dashes along an axis, each of them smooth at its ends.
fn smooth_stipple(gpu: &Gpu) -> Case {
    supported(gpu)?;
    // From x 8.5 on, 4 pixels with and 4 without the line.
    let line = [[2176, 5248], [2176 + 24 * 256, 5248]];
    let state = state(Mode::RECTANGULAR_SMOOTH, 1.0, Some((4, 0x5555)));
    let pixels = render(gpu, &target(1), &[draw(gpu, state, &vertices(&line, &[0.5], [0.0, 0.0, 0.0, 1.0]))?])?;
    for x in 0..SIDE {
        let part = |start: f64| ((x as f64 + 1.0).min(start + 4.0) - (x as f64).max(start)).max(0.0);
        let wanted = [8.5, 16.5, 24.5].map(part).iter().sum::<f64>() * 255.0;
        let got = pixels[index([x, 20])][3];
        check((f64::from(got) - wanted).abs() < 2.0, || format!("{x}: {got}, not {wanted}"))?;
    }
    Ok(())
}

case!("lines.clip.halves", "Primitive Clipping", halves);

/// Draws lines that a plane cuts in the middle: both halves together must give the whole line.
fn halves(gpu: &Gpu) -> Case {
    supported(gpu)?;
    for kind in [Kinds::Any, Kinds::Centres, Kinds::Edges, Kinds::Slopes] {
        let mut lines = random(kind, 21);
        // Halves outside of the view volume are invisible at any width.
        lines.retain(|line| line.as_flattened().iter().all(|units| (0..=SIDE * UNITS).contains(units)));
        for width in [1.0, 4.0] {
            let half = |depths: [f32; 2]| {
                draw(
                    gpu,
                    state(Mode::BRESENHAM, width, None),
                    &vertices(lines.as_flattened(), &depths, [STEP, 0.0, 0.0, 0.0]),
                )
            };
            let got = reds(gpu, 1, &[half([-0.5, 0.5])?, half([0.5, -0.5])?])?;
            compare(&got, &expected(&lines, width as i64, |_, _| true))?;
        }
    }
    Ok(())
}

case!("lines.clip.beside", "Primitive Clipping", beside);

/// Checks that wide lines beside the view volume are invisible in every mode.
fn beside(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let lines = [[[-300, 0], [-300, 16000]], [[0, 16384 + 300], [16000, 16384 + 300]], [[-1200, 900], [900, -1200]]];
    for mode in [Mode::RECTANGULAR, Mode::BRESENHAM, Mode::RECTANGULAR_SMOOTH] {
        let vertices = vertices(lines.as_flattened(), &[0.5], [1.0; 4]);
        let got = reds(gpu, 1, &[draw(gpu, state(mode, 8.0, None), &vertices)?])?;
        check(got.iter().all(|red| *red == 0), || format!("{mode:?}"))?;
    }
    Ok(())
}

case!("lines.clip.stipple", "Line Stipple", clipped_stipple);

/// Checks that the counter continues over lines that clipping shortens or removes.
fn clipped_stipple(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (stipple, color) = ((3, 0x0137), [STEP, 0.0, 0.0, 0.0]);
    let strip = [[2560, 1400], [20000, 1500], [20100, 9000], [-3000, 9100], [-3000, 12000], [9000, 13000]];
    let lines: Vec<Line> = strip.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    let mut state = state(Mode::BRESENHAM, 1.0, Some(stipple));
    state.topology = T::LINE_STRIP;
    let got = reds(gpu, 1, &[draw(gpu, state, &vertices(&strip, &[0.5], color))?])?;
    let before = |number: usize| lines[..number].iter().map(|line| count(*line)).sum::<i64>();
    compare(&got, &expected(&lines, 1, |number, along| is_drawn(stipple, before(number) + along)))
}

case!("lines.stipple.restart", "Line Stipple", restart);

/// Draws strips that begin where the previous one ended, and more lines than are set up at once.
fn restart(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (stipple, color) = ((2, 0x3335), [STEP, 0.0, 0.0, 0.0]);
    let mut numbers = Random::new(5);
    let mut places = vec![[0, 0]];
    for _ in 0..300 {
        let last: Place = places[places.len() - 1];
        places.push(last.map(|units| (units + i64::from(numbers.below(3000)) - 1400).clamp(0, SIDE * UNITS)));
    }
    // All lines in one strip, and strips that share a position.
    for parts in [&[(0, 301)][..], &[(0, 100), (99, 220), (219, 301)]] {
        let strips: Vec<Vec<Place>> = parts.iter().map(|&(start, end)| places[start..end].to_vec()).collect();
        let draw = indexed(gpu, state(Mode::BRESENHAM, 1.0, Some(stipple)), &strips, color)?;
        let (mut lines, mut counters) = (Vec::new(), Vec::new());
        for strip in &strips {
            let mut counter = 0;
            for pair in strip.windows(2) {
                lines.push([pair[0], pair[1]]);
                counters.push(counter);
                counter += count([pair[0], pair[1]]);
            }
        }
        let drawn = |number: usize, along: i64| is_drawn(stipple, counters[number] + along);
        compare(&reds(gpu, 1, &[draw])?, &expected(&lines, 1, drawn))?;
    }
    Ok(())
}

case!("lines.polygons.bresenham", "Polygon Mode", polygons);

/// Draws edges of triangles in the order of their corners, without edges that clipping adds.
fn polygons(gpu: &Gpu) -> Case {
    supported(gpu)?;
    for (kind, width) in [(Kinds::Any, 1.0), (Kinds::Long, 1.0), (Kinds::Edges, 3.0)] {
        let places: Vec<Place> = random(kind, 31).as_flattened()[..36].to_vec();
        let edges = |corners: &[Place]| [[corners[0], corners[1]], [corners[1], corners[2]], [corners[2], corners[0]]];
        let lines: Vec<Line> = places.chunks(3).flat_map(edges).collect();
        let mut state = state(Mode::BRESENHAM, width, None);
        (state.topology, state.raster.polygon_mode) = (T::TRIANGLE_LIST, vk::PolygonMode::LINE);
        let draw = draw(gpu, state, &vertices(&places, &[0.5], [STEP, 0.0, 0.0, 0.0]))?;
        compare(&reds(gpu, 4, &[draw])?, &expected(&lines, width as i64, |_, _| true))?;
    }
    Ok(())
}

case!("lines.polygons.stipple", "Polygon Mode", polygon_stipple);

/// Checks that edges are stippled, beginning at the first corner.
fn polygon_stipple(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let places = [[640, 640], [9000, 1000], [2000, 8000]];
    let mut state = state(Mode::BRESENHAM, 1.0, Some((1, 0x00ff)));
    (state.topology, state.raster.polygon_mode) = (T::TRIANGLE_LIST, vk::PolygonMode::LINE);
    let got = reds(gpu, 1, &[draw(gpu, state, &vertices(&places, &[0.5], [STEP, 0.0, 0.0, 0.0]))?])?;
    let first = expected(&[[places[0], places[1]]], 1, |_, along| along % 16 < 8);
    let all = expected(&[[places[0], places[1]], [places[1], places[2]], [places[2], places[0]]], 1, |_, _| true);
    let within = got.iter().zip(&all).all(|(got, all)| got <= all);
    let drawn = got.iter().zip(&first).all(|(got, first)| got >= first);
    let half = got.iter().sum::<i64>() * 2;
    let near = (half - all.iter().sum::<i64>()).abs() <= 3 * 16;
    check(within && drawn && near, || format!("{within} {drawn} {half}"))
}

case!("lines.widths.clamped", SECTION, widths);

/// Checks that unsupported widths are rounded to the nearest supported width.
fn widths(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let limits = gpu.properties.limits.line_width_range;
    let line = [[2000, 2000], [12000, 3000]];
    for (width, nearest) in [(0.25, limits[0].round().max(1.0)), (1.4, 1.0), (1.6, 2.0), (1000.0, limits[1].round())] {
        let draw = draw(gpu, state(Mode::BRESENHAM, width, None), &vertices(&line, &[0.5], [STEP, 0.0, 0.0, 0.0]))?;
        compare(&reds(gpu, 1, &[draw])?, &expected(&[line], nearest as i64, |_, _| true))?;
    }
    Ok(())
}

case!("lines.values.perspective", SECTION, values);

/// Checks values along lines by the position of each pixel's centre, with perspective: of whole
/// lines, of dashes, and of clipped lines.
fn values(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let ends = [([5.25, 7.125], 1.0f32, -0.25f32), ([58.0, 40.5], 4.0, 0.75)];
    let vertex = |&([x, y], w, red): &([f32; 2], f32, f32), z: f32| {
        let clip = |pixel: f32| (pixel / 32.0 - 1.0) * w;
        [[clip(x), clip(y), z, w], [red, 0.0, 0.0, 1.0]]
    };
    let line = ends.map(|(place, ..)| place.map(|pixel: f32| (pixel * UNITS as f32) as i64));
    for mode in [Mode::BRESENHAM, Mode::RECTANGULAR, Mode::RECTANGULAR_SMOOTH] {
        // In the second round the part behind the near plane is clipped.
        for (stipple, near) in [(None, 0.5), (Some((3, 0x0f35)), 0.5), (None, -0.5)] {
            let mut state = state(mode, 1.0, stipple);
            state.blend.blend_enable = vk::FALSE;
            let pixels =
                render(gpu, &target(1), &[draw(gpu, state, &[vertex(&ends[0], near), vertex(&ends[1], 2.0)])?])?;
            let mut seen = 0;
            for (number, pixel) in (0..).zip(&pixels).filter(|(_, pixel)| pixel[3] != 0) {
                let centre = [(number % SIDE) as f64 + 0.5, (number / SIDE) as f64 + 0.5];
                let ([along, _], length) = in_frame(line, centre);
                let share = along / length;
                let [a, b] = ends.map(|(_, w, red)| (f64::from(w), f64::from(red)));
                let over = (1.0 - share) * a.1 / a.0 + share * b.1 / b.0;
                let wanted = (over / ((1.0 - share) / a.0 + share / b.0)).clamp(0.0, 1.0) * 255.0;
                check((f64::from(pixel[0]) - wanted).abs() < 0.75, || {
                    format!("{mode:?} at {centre:?}: {pixel:?}, not {wanted}")
                })?;
                seen += 1;
            }
            check(seen > 20, || format!("{mode:?}: {seen} pixels"))?;
        }
    }
    Ok(())
}

case!("lines.extremes.places", SECTION, extremes);

/// Draws lines with invalid and extreme positions beside valid lines, which must be drawn
/// correctly.
fn extremes(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let special = [0.0, 1.0, -1.0, 1e-30, 1e9, -3e38, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 4.0, -0.5];
    let mut numbers = Random::new(77);
    let good = [[1000, 2000], [12000, 9000]];
    for mode in [Mode::BRESENHAM, Mode::RECTANGULAR, Mode::RECTANGULAR_SMOOTH] {
        for (topology, stipple) in
            [(T::LINE_LIST, None), (T::LINE_LIST, Some((1, 0x5555))), (T::LINE_STRIP, Some((256, 0x7fff)))]
        {
            let mut state = state(mode, 3.0, stipple);
            (state.vertex, state.fragment, state.topology) = (FLAT, FLAT_COLOR, topology);
            // These lines add nothing wherever they are drawn.
            let strange: Vec<[[f32; 4]; 2]> =
                (0..200).map(|_| [[0; 4].map(|_| numbers.pick(&special)), [0.0; 4]]).collect();
            let draws = [
                draw(gpu, state.clone(), &vertices(&good, &[0.5], [STEP, 0.0, 0.0, 1.0]))?,
                draw(gpu, state, &strange)?,
            ];
            let [alone, both] = [reds(gpu, 1, &draws[..1])?, reds(gpu, 1, &draws)?];
            check(alone.iter().any(|red| *red != 0), || format!("{mode:?}, {stipple:?}"))?;
            compare(&both, &alone)?;
        }
    }
    Ok(())
}

case!("lines.dynamic.stipple", "Line Stipple", dynamic);

/// Checks a stipple that is set by a command.
fn dynamic(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (lines, stipple) = (random(Kinds::Any, 41), (2, 0x0f35));
    let state = State { dynamic: true, ..state(Mode::BRESENHAM, 1.0, Some(stipple)) };
    let draw = draw(gpu, state, &vertices(lines.as_flattened(), &[0.5], [STEP, 0.0, 0.0, 0.0]))?;
    compare(&reds(gpu, 1, &[draw])?, &expected(&lines, 1, |_, along| is_drawn(stipple, along)))
}
