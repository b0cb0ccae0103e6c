//! `VK_EXT_sample_locations`: coverage, depth and interpolation at custom locations, compared with
//! exact arithmetic.

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::Locations;
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

/// Corners and locations are multiples of 1/16 of a pixel, which every device supports.
const STEPS: i64 = 16;

/// A position in steps.
type Place = [i64; 2];

/// How locations are set: by the pipeline, by a command, by commands that also enable them, or by
/// a library.
const WAYS: [&str; 4] = ["static", "dynamic", "enabled", "linked"];

/// A shader that shows the sample positions, and a value interpolated at the second sample.
const SHOWN: &[u8] = shader!("locations.frag");

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let mut add = |name: String, run: Box<dyn Fn(&Gpu) -> Case + Send + Sync>| {
        cases.push(Entry::new(name, "Custom Sample Locations", move |gpu: &Gpu| run(gpu)));
    };
    add("locations.device.properties".into(), Box::new(properties));
    for samples in [2, 4, 8, 16] {
        for way in WAYS {
            add(format!("locations.coverage.{way}_{samples}"), Box::new(move |gpu| coverage(gpu, samples, way)));
        }
        for seed in 0..4 {
            add(format!("locations.depth.x{samples}_seed{seed}"), Box::new(move |gpu| depth(gpu, samples, seed)));
        }
        add(format!("locations.interpolation.x{samples}"), Box::new(move |gpu| interpolation(gpu, samples)));
        add(format!("locations.shader.x{samples}"), Box::new(move |gpu| shown(gpu, samples)));
    }
    add("locations.draws.several".into(), Box::new(several));
    add("locations.draws.finest".into(), Box::new(finest));
}

fn own_properties(gpu: &Gpu) -> Result<vk::PhysicalDeviceSampleLocationsPropertiesEXT<'static>, Outcome> {
    gpu.need(vk::EXT_SAMPLE_LOCATIONS_NAME)?;
    let mut own = vk::PhysicalDeviceSampleLocationsPropertiesEXT::default();
    gpu.properties2(&mut own);
    own.p_next = std::ptr::null_mut();
    Ok(own)
}

fn supported(gpu: &Gpu, samples: u32) -> Case {
    match own_properties(gpu)?.sample_location_sample_counts.contains(vk::SampleCountFlags::from_raw(samples)) {
        true => Ok(()),
        false => Err(Outcome::NotSupported(format!("locations of {samples} samples"))),
    }
}

/// Checks the required properties, and that grids are reported exactly for sample counts with
/// custom locations.
fn properties(gpu: &Gpu) -> Case {
    let own = own_properties(gpu)?;
    let [least, most] = own.sample_location_coordinate_range;
    let counts = own.sample_location_sample_counts;
    let enough = counts.contains(vk::SampleCountFlags::TYPE_4) && own.sample_location_sub_pixel_bits >= 4;
    check(enough && least <= 0.0 && most >= 0.9375, || format!("{own:?}"))?;
    let extension = ash::ext::sample_locations::Instance::new(&gpu.entry, &gpu.instance);
    for bit in 0..7 {
        let samples = vk::SampleCountFlags::from_raw(1 << bit);
        let mut found = vk::MultisamplePropertiesEXT::default();
        // SAFETY: the structure is valid.
        unsafe { extension.get_physical_device_multisample_properties(gpu.physical, samples, &mut found) };
        let (grid, most) = (found.max_sample_location_grid_size, own.max_sample_location_grid_size);
        let is_good = match counts.contains(samples) {
            true => grid.width >= most.width.min(1) && grid.height >= most.height.min(1),
            false => (grid.width, grid.height) == (0, 0),
        };
        check(is_good, || format!("{samples:?}: {grid:?}"))?;
    }
    Ok(())
}

fn random(numbers: &mut Random, samples: u32) -> Vec<Place> {
    (0..samples).map(|_| [0, 1].map(|_| i64::from(numbers.below(STEPS as u32)))).collect()
}

/// Returns a state with locations that are set as `way` says.
fn state(places: &[Place], way: &str) -> State {
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.extensions.locations =
        Some(Locations::new(places.iter().map(|place| place.map(|steps| steps as f32 / STEPS as f32))));
    state.dynamic = way == "dynamic";
    state.dynamic3 = way == "enabled";
    state.linked = way == "linked";
    state
}

/// Value that each fragment adds to a channel. 16 samples share it without remainder.
const SHARE: u8 = 16;

fn adds(mut state: State) -> State {
    state.blend.blend_enable = vk::TRUE;
    (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) =
        (vk::BlendFactor::ONE, vk::BlendFactor::ONE);
    state
}

fn clip(steps: i64) -> f32 {
    steps as f32 * 2.0 / (SIZE as f32 * STEPS as f32) - 1.0
}

fn draw(gpu: &Gpu, state: State, corners: &[(Place, f32)], color: [f32; 4]) -> Result<Draw, Outcome> {
    let vertex = |&([x, y], z): &(Place, f32)| [[clip(x), clip(y), z, 1.0], color];
    let vertices: Vec<[[f32; 4]; 2]> = corners.iter().map(vertex).collect();
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: corners.len() as u32 };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

fn target(samples: u32) -> Target {
    Target { samples: vk::SampleCountFlags::from_raw(samples), ..Target::default() }
}

/// Returns true if a position is in a triangle, by the top-left rule.
fn covers(corners: &[Place], [x, y]: Place) -> bool {
    let area = |a: Place, b: Place, c: Place| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let [a, b, c] = [corners[0], corners[1], corners[2]];
    let corners = if area(a, b, c) < 0 { [a, c, b] } else { [a, b, c] };
    area(a, b, c) != 0
        && (0..3).all(|edge| {
            let (from, to) = (corners[edge], corners[(edge + 1) % 3]);
            let top_left = to[1] < from[1] || (to[1] == from[1] && to[0] > from[0]);
            let value = area(from, to, [x, y]);
            value > 0 || (value == 0 && top_left)
        })
}

/// Returns the columns and rows of all pixels, row by row.
fn pixels() -> impl Iterator<Item = [i64; 2]> {
    (0..i64::from(SIZE)).flat_map(|y| (0..i64::from(SIZE)).map(move |x| [x, y]))
}

fn at([x, y]: [i64; 2], [dx, dy]: Place) -> Place {
    [x * STEPS + dx, y * STEPS + dy]
}

/// Draws random triangles, in red with all samples, in green with some.
fn coverage(gpu: &Gpu, samples: u32, way: &str) -> Case {
    supported(gpu, samples)?;
    if way == "enabled" && gpu.extension_features.dynamic_state3.extended_dynamic_state3_sample_locations_enable == 0 {
        return Err(Outcome::NotSupported("dynamic sample locations".into()));
    }
    for seed in 0..4 {
        let mut numbers = Random::new(seed * 7 + u64::from(samples));
        let places = random(&mut numbers, samples);
        let extent = SIZE * STEPS as u32;
        let corners: Vec<(Place, f32)> =
            (0..36).map(|_| ([0, 1].map(|_| i64::from(numbers.below(extent))), 0.5)).collect();
        let mask = numbers.below(1 << samples);
        let share = f32::from(SHARE) / 255.0;
        let masked = State { sample_mask: mask, ..adds(state(&places, way)) };
        let draws = [
            draw(gpu, adds(state(&places, way)), &corners, [share, 0.0, 0.0, 0.0])?,
            draw(gpu, masked, &corners, [0.0, share, 0.0, 0.0])?,
        ];
        let found = render(gpu, &target(samples), &draws)?;
        for (pixel, got) in pixels().zip(&found) {
            let mut expected = [0; 2];
            for (sample, &place) in places.iter().enumerate() {
                let place = at(pixel, place);
                let triangles = corners.chunks(3).map(|corners| [corners[0].0, corners[1].0, corners[2].0]);
                let count = triangles.filter(|corners| covers(corners, place)).count();
                expected[0] += count * usize::from(SHARE);
                expected[1] += count * usize::from(SHARE) * (mask as usize >> sample & 1);
            }
            let expected = expected.map(|sum| (sum / samples as usize) as u8);
            check(got[..2] == expected, || format!("seed {seed}, {pixel:?}: {got:?} instead of {expected:?}"))?;
        }
    }
    Ok(())
}

/// Returns vertices over the whole target, with depths from 0 on the left to 1 on the right.
fn slope() -> [(Place, f32); 6] {
    let far = i64::from(SIZE) * STEPS;
    let [a, b, c, d] = [([0, 0], 0.0), ([far, 0], 1.0), ([far, far], 1.0), ([0, far], 0.0)];
    [a, b, c, a, c, d]
}

fn level(depth: f32) -> [(Place, f32); 6] {
    slope().map(|(place, _)| (place, depth))
}

fn tested(mut state: State, op: vk::CompareOp, writes: bool) -> State {
    state.depth_stencil = state.depth_stencil.depth_test_enable(true).depth_write_enable(writes).depth_compare_op(op);
    state
}

/// Draws depths that increase from left to right, and one in between. The number of nearer samples
/// must match the locations.
fn depth(gpu: &Gpu, samples: u32, seed: u64) -> Case {
    supported(gpu, samples)?;
    let mut numbers = Random::new(seed + 100);
    let places = random(&mut numbers, samples);
    // Halfway between two steps.
    let steps = f64::from(numbers.below(SIZE * STEPS as u32)) + 0.5;
    let depth = (steps / (f64::from(SIZE) * STEPS as f64)) as f32;
    let state = || state(&places, WAYS[seed as usize % WAYS.len()]);
    let draws = [
        draw(gpu, tested(state(), vk::CompareOp::ALWAYS, true), &slope(), [0.0, 1.0, 0.0, 1.0])?,
        draw(gpu, tested(state(), vk::CompareOp::LESS, true), &level(depth), [1.0, 0.0, 0.0, 1.0])?,
        // Geometry with equal locations has equal depths.
        draw(gpu, adds(tested(state(), vk::CompareOp::EQUAL, false)), &slope(), [0.0, 0.0, 1.0, 0.0])?,
    ];
    let found = render(gpu, &Target { depth: vk::Format::D32_SFLOAT, ..target(samples) }, &draws)?;
    for (pixel, got) in pixels().zip(&found) {
        let nearer = places.iter().filter(|&&place| at(pixel, place)[0] as f64 > steps).count();
        let share = |count: usize| count as f64 * 255.0 / f64::from(samples);
        let rest = share(places.len() - nearer);
        let close = |got: u8, expected: f64| (f64::from(got) - expected).abs() <= 1.0;
        let is_good = close(got[0], share(nearer)) && close(got[1], rest) && close(got[2], rest);
        check(is_good, || format!("{pixel:?}: {got:?} with {nearer} nearer"))?;
    }
    Ok(())
}

/// Returns a draw of colours that increase from left to right and from top to bottom.
fn gradient(gpu: &Gpu, state: State) -> Result<Draw, Outcome> {
    let far = i64::from(SIZE) * STEPS;
    let vertex = |[x, y]: Place| {
        let share = |steps: i64| steps as f32 / far as f32;
        [[clip(x), clip(y), 0.5, 1.0], [share(x), share(y), 0.0, 1.0]]
    };
    let vertices = slope().map(|(place, _)| vertex(place));
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: 6 };
    Ok(Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) })
}

fn mean(places: &[Place]) -> [f64; 2] {
    [0, 1].map(|axis| places.iter().map(|place| place[axis] as f64).sum::<f64>() / (places.len() as f64 * STEPS as f64))
}

fn near(got: u8, expected: f64) -> bool {
    (f64::from(got) - expected * 255.0).abs() <= 1.01
}

/// Checks that samples that are shaded separately have the colours of their locations.
fn interpolation(gpu: &Gpu, samples: u32) -> Case {
    supported(gpu, samples)?;
    if gpu.features.sample_rate_shading == 0 {
        return Err(Outcome::NotSupported("sample shading".into()));
    }
    for seed in 0..4 {
        let mut places = random(&mut Random::new(seed + 31), samples);
        if seed == 0 {
            // As far from the centre as possible.
            places.fill([0, STEPS - 1]);
        }
        let state = State { by_sample: true, ..state(&places, WAYS[seed as usize]) };
        let found = render(gpu, &target(samples), &[gradient(gpu, state)?])?;
        let mean = mean(&places);
        for (pixel, got) in pixels().zip(&found) {
            let is_good = (0..2).all(|axis| near(got[axis], (pixel[axis] as f64 + mean[axis]) / f64::from(SIZE)));
            check(is_good, || format!("seed {seed}, {pixel:?}: {got:?} with {mean:?}"))?;
        }
    }
    Ok(())
}

/// Checks `gl_SamplePosition`, and `interpolateAtSample` of the second sample.
fn shown(gpu: &Gpu, samples: u32) -> Case {
    supported(gpu, samples)?;
    if gpu.features.sample_rate_shading == 0 {
        return Err(Outcome::NotSupported("sample shading".into()));
    }
    for seed in 0..4 {
        let places = random(&mut Random::new(seed + 57), samples);
        let state = State { fragment: SHOWN, ..state(&places, WAYS[seed as usize]) };
        let found = render(gpu, &target(samples), &[gradient(gpu, state)?])?;
        let (mean, second) = (mean(&places), places[1].map(|steps| steps as f64 / STEPS as f64));
        for (pixel, got) in pixels().zip(&found) {
            let at = |axis: usize| (pixel[axis] as f64 + second[axis]) / f64::from(SIZE);
            let expected = [mean[0], mean[1], at(0), at(1)];
            let is_good = got.iter().zip(expected).all(|(&got, expected)| near(got, expected));
            check(is_good, || format!("seed {seed}, {pixel:?}: {got:?} instead of {expected:?}"))?;
        }
    }
    Ok(())
}

/// Draws in one subpass with different locations each, where the device supports that, with
/// standard locations between.
fn several(gpu: &Gpu) -> Case {
    supported(gpu, 4)?;
    if own_properties(gpu)?.variable_sample_locations == 0 {
        return Err(Outcome::NotSupported("other locations within a subpass".into()));
    }
    // The left half of a pixel's column, for samples that lie all left or all right of the edge.
    let half =
        |x: i64| [([0, 0], 0.5), ([x, 0], 0.5), ([x, 256], 0.5), ([0, 0], 0.5), ([x, 256], 0.5), ([0, 256], 0.5)];
    let corners = half(8 * STEPS + 8);
    let colors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let states = [
        state(&[[15, 3]; 4], "static"),
        state(&[[0, 9]; 4], "static"),
        State { vertex: TRIANGLES, ..State::default() },
    ];
    let draws: Vec<Draw> = states
        .into_iter()
        .zip(colors)
        .map(|(state, color)| draw(gpu, adds(state), &corners, color))
        .collect::<Result<_, _>>()?;
    let found = render(gpu, &target(4), &draws)?;
    for ([x, y], got) in pixels().zip(&found) {
        let expected = match x {
            0..8 => [255, 255, 255],
            8 => [0, 255, 128],
            _ => [0; 3],
        };
        let good = got.iter().zip(expected).all(|(&got, expected): (&u8, u8)| got.abs_diff(expected) <= 1);
        check(good, || format!("[{x}, {y}]: {got:?} instead of {expected:?}"))?;
    }
    let nothing = Draw::rect(State { sample_mask: 0, ..state(&[[1, 1]; 4], "static") }, FULL, [1.0; 4]);
    let nothing = Draw { state: State { vertex: crate::render::RECT, ..nothing.state }, ..nothing };
    let empty = render(gpu, &target(4), &[nothing])?;
    check(empty.iter().all(|pixel| *pixel == [0; 4]), || "masked samples are written".into())
}

/// Draws triangles no larger than a step of the finest grid of locations, each around one
/// location. Positions must have at least this resolution.
fn finest(gpu: &Gpu) -> Case {
    supported(gpu, 4)?;
    let steps = 1u32 << own_properties(gpu)?.sample_location_sub_pixel_bits.min(20);
    let mut numbers = Random::new(77);
    for _ in 0..8 {
        // Four samples in a row of pixels. Each has triangles around the locations up to its own
        // number.
        let places: Vec<[f32; 2]> =
            (0..4).map(|_| [0, 1].map(|_| numbers.below(steps) as f32 / steps as f32)).collect();
        let step = 1.0 / steps as f32;
        let clip = |pixels: f32| pixels * 2.0 / SIZE as f32 - 1.0;
        let mut vertices = Vec::new();
        for (pixel, sample) in (0..4).flat_map(|pixel| (0..=pixel).map(move |sample| (pixel, sample))) {
            let [x, y] = [places[sample][0] + pixel as f32, places[sample][1]];
            for [dx, dy] in [[0.0, -0.5], [-0.5, 0.35], [0.5, 0.35f32]] {
                vertices.push([[clip(x + dx * step), clip(y + dy * step), 0.5, 1.0], [1.0; 4]]);
            }
        }
        let mut state = State { vertex: TRIANGLES, ..State::default() };
        state.extensions.locations = Some(Locations::new(places.iter().copied()));
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 };
        let found = render(gpu, &target(4), &[Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) }])?;
        for (pixel, got) in found[..5].iter().enumerate() {
            let whole = if pixel < 4 { (pixel as u32 + 1) * 255 / 4 } else { 0 };
            check(u32::from(got[0]).abs_diff(whole) <= 1, || format!("pixel {pixel}: {got:?}, {places:?}"))?;
        }
    }
    Ok(())
}
