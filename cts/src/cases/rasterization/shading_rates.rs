//! `VK_KHR_fragment_shading_rate`: pictures of fragments of several pixels, compared with a model
//! sample by sample.

mod density_maps;
mod model;
mod scene;

use ash::vk;
use ash::vk::{ConservativeRasterizationModeEXT as Mode, FragmentShadingRateCombinerOpKHR as Op};

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use model::{Effect, Samples, Shape, Size, Sizes, Test, UNITS, word};
use scene::{SIDE, Scene, TexelKind, Texels, render};

const PLAIN: &[u8] = shader!("rates.frag");
const DISCARD: &[u8] = shader!("rates_discard.frag");
const DEPTH: &[u8] = shader!("rates_depth.frag");
const MASK: &[u8] = shader!("rates_mask.frag");
const SAMPLES: &[u8] = shader!("rates_samples.frag");
const CENTROID: &[u8] = shader!("rates_centroid.frag");
const ALPHA: &[u8] = shader!("rates_alpha.frag");
const BY_SAMPLE: &[u8] = shader!("rates_sample.frag");
const ROUTED: &[u8] = shader!("rates_routed.vert");

/// The mask that `rates_samples.frag` writes.
const WRITTEN_MASK: u32 = 0x5a3c_96e1;

/// Every fragment size.
const SIZES: [Size; 9] = [[1, 1], [1, 2], [1, 4], [2, 1], [2, 2], [2, 4], [4, 1], [4, 2], [4, 4]];

/// Every combiner.
const OPS: [(&str, Op); 5] =
    [("keep", Op::KEEP), ("replace", Op::REPLACE), ("min", Op::MIN), ("max", Op::MAX), ("mul", Op::MUL)];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let mut add = |name: String, run: Box<dyn Fn(&Gpu) -> Case>| {
        let run = move |gpu: &Gpu| gpu.need(vk::KHR_FRAGMENT_SHADING_RATE_NAME).and_then(|()| run(gpu));
        cases.push(Entry::new(format!("rates.{name}"), "Fragment Shading Rates", run));
    };
    for (first, op0) in OPS {
        for ((second, op1), samples) in OPS.into_iter().flat_map(|op| [1, 4].map(|samples| (op, samples))) {
            let run = move |gpu: &Gpu| combine(gpu, [op0, op1], samples);
            add(format!("combine.{first}_{second}_x{samples}"), Box::new(run));
        }
    }
    for (size, rendering) in
        [[8, 8], [8, 64], [64, 8], [16, 32]].into_iter().flat_map(|size| [(size, false), (size, true)])
    {
        let name = format!("attachment.texel_{}x{}_{}", size[0], size[1], if rendering { "rendering" } else { "pass" });
        add(name, Box::new(move |gpu: &Gpu| texels(gpu, size, rendering)));
    }
    for (name, layers, views) in
        [("layers", 3, 0), ("layers_of_one", 1, 0), ("views", 3, 0b101), ("views_of_one", 1, 0b101)]
    {
        add(format!("attachment.{name}"), Box::new(move |gpu: &Gpu| layered(gpu, layers, views)));
    }
    for (name, rendering) in [("pass", false), ("rendering", true)] {
        let run = move |gpu: &Gpu| shifted(gpu, &Scene { rendering, ..Scene::default() });
        add(format!("attachment.shifted_{name}"), Box::new(run));
        let run = move |gpu: &Gpu| shifted(gpu, &Scene { rendering, secondary: true, ..Scene::default() });
        add(format!("attachment.secondary_{name}"), Box::new(run));
    }
    for samples in [1, 4] {
        for (name, run) in FRAGMENTS {
            add(format!("fragment.{name}_x{samples}"), Box::new(move |gpu: &Gpu| run(gpu, samples)));
        }
    }
}

/// A case for a number of samples.
type OfSamples = fn(&Gpu, u32) -> Case;

/// Cases for each number of samples.
const FRAGMENTS: &[(&str, OfSamples)] = &[
    ("depth", depth),
    ("written_depth", written_depth),
    ("discard", discard),
    ("blending", blending),
    ("sample_mask", |gpu, samples| alone(gpu, samples, (PLAIN, Effect::Plain), |draw| draw.sample_mask = 0b0110_1101)),
    ("shown_samples", |gpu, samples| alone(gpu, samples, (MASK, Effect::ShowsSamples), |_| ())),
    ("cut_samples", |gpu, samples| alone(gpu, samples, (SAMPLES, Effect::CutsSamples(WRITTEN_MASK)), |_| ())),
    ("alpha", |gpu, samples| alone(gpu, samples, (ALPHA, Effect::HasAlpha), |draw| draw.alpha_to_coverage = true)),
    ("over", |gpu, samples| {
        alone(gpu, samples, (PLAIN, Effect::Plain), |draw| draw.conservative = Some(Mode::OVERESTIMATE))
    }),
    ("under", |gpu, samples| {
        alone(gpu, samples, (PLAIN, Effect::Plain), |draw| draw.conservative = Some(Mode::UNDERESTIMATE))
    }),
    ("queries", queries),
    ("statistics", statistics),
    ("centroid", centroid),
    ("by_sample", by_sample),
];

/// Returns the sample counts and sizes that the device reports.
fn rates(gpu: &Gpu) -> Result<Vec<(u32, Size)>, Outcome> {
    let extension = ash::khr::fragment_shading_rate::Instance::new(&gpu.entry, &gpu.instance);
    let ask = extension.fp().get_physical_device_fragment_shading_rates_khr;
    let (mut count, none) = (0, std::ptr::null_mut());
    // SAFETY: the instance has what the extension needs, and there is room for as many as there
    // are.
    let all = unsafe {
        ask(gpu.physical, &mut count, none).result()?;
        let mut all = vec![vk::PhysicalDeviceFragmentShadingRateKHR::default(); count as usize];
        ask(gpu.physical, &mut count, all.as_mut_ptr()).result()?;
        all
    };
    let size = |size: vk::Extent2D| [size.width, size.height];
    Ok(all.iter().map(|rate| (rate.sample_counts.as_raw(), size(rate.fragment_size))).collect())
}

fn sizes(gpu: &Gpu, samples: u32, wide: bool) -> Result<Sizes, Outcome> {
    let fits = |(counts, size): (u32, Size)| (counts & samples != 0).then_some(size);
    Ok(Sizes { all: rates(gpu)?.into_iter().filter_map(fits).collect(), wide })
}

fn own_properties(gpu: &Gpu) -> vk::PhysicalDeviceFragmentShadingRatePropertiesKHR<'static> {
    let mut own = vk::PhysicalDeviceFragmentShadingRatePropertiesKHR::default();
    gpu.properties2(&mut own);
    own.p_next = std::ptr::null_mut();
    own
}

case!("rates.device.list", "Fragment Shading Rates", [vk::KHR_FRAGMENT_SHADING_RATE_NAME], list);

fn list(gpu: &Gpu) -> Case {
    let (all, limits) = (rates(gpu)?, own_properties(gpu));
    check(all.is_sorted_by_key(|(_, size)| std::cmp::Reverse(*size)), || format!("order: {all:?}"))?;
    let counts = gpu.properties.limits.framebuffer_color_sample_counts.as_raw() & 0b111;
    for (needed, size) in [(counts, [2, 2]), (counts, [2, 1]), (u32::MAX, [1, 1])] {
        let found = all.iter().filter(|(counts, has)| counts & needed == needed && *has == size).count();
        check(found == 1, || format!("{size:?} in {all:?}"))?;
    }
    for &(counts, [width, height]) in all.iter().filter(|(_, size)| *size != [1, 1]) {
        let most = 1 << counts.ilog2();
        let fits = width * height * most <= limits.max_fragment_shading_rate_coverage_samples
            && most <= limits.max_fragment_shading_rate_rasterization_samples.as_raw()
            && width <= limits.max_fragment_size.width
            && height <= limits.max_fragment_size.height;
        check(fits && width.is_power_of_two() && height.is_power_of_two(), || {
            format!("{width}x{height}: {counts:#x}")
        })?;
    }
    // A count that is too small.
    let extension = ash::khr::fragment_shading_rate::Instance::new(&gpu.entry, &gpu.instance);
    let (mut count, mut some) = (1, [vk::PhysicalDeviceFragmentShadingRateKHR::default(); 2]);
    let ask = extension.fp().get_physical_device_fragment_shading_rates_khr;
    // SAFETY: there is room for as many as are asked for.
    let code = unsafe { ask(gpu.physical, &mut count, some.as_mut_ptr()) };
    let untouched = some[1].fragment_size.width == 0;
    check(code == vk::Result::INCOMPLETE && count == 1 && untouched, || format!("{code:?}, {count}"))
}

case!("rates.device.properties", "Fragment Shading Rates", [vk::KHR_FRAGMENT_SHADING_RATE_NAME], properties);

/// Checks properties. Source: the table "Required Limits".
fn properties(gpu: &Gpu) -> Case {
    let own = own_properties(gpu);
    let (least, most) =
        (own.min_fragment_shading_rate_attachment_texel_size, own.max_fragment_shading_rate_attachment_texel_size);
    let texels = least.width <= 32 && least.height <= 32 && most.width >= 8 && most.height >= 8;
    let powers = [least.width, least.height, most.width, most.height].iter().all(|size| size.is_power_of_two());
    let fragments = own.max_fragment_size.width >= 2
        && own.max_fragment_size.height >= 2
        && own.max_fragment_size_aspect_ratio >= 2
        && own.max_fragment_shading_rate_coverage_samples >= 16
        && own.max_fragment_shading_rate_rasterization_samples.as_raw() >= 4;
    let masks = own.fragment_shading_rate_with_shader_sample_mask == 0
        || own.max_fragment_shading_rate_coverage_samples <= gpu.properties.limits.max_sample_mask_words * 32;
    check(texels && powers && fragments && masks, || format!("{own:?}"))?;
    // SAFETY: the device is alive.
    let format = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, vk::Format::R8_UINT) };
    let attachment = vk::FormatFeatureFlags::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    check(format.optimal_tiling_features.contains(attachment), || "no R8_UINT".into())
}

/// Returns triangles of all sizes whose sides pass through no sample and whose corners have
/// different rates.
fn random(seed: u64, count: usize, samples: u32) -> Vec<Shape> {
    let mut numbers = Random::new(seed);
    let mut shapes = Vec::new();
    while shapes.len() < count {
        let size = numbers.pick(&[6, 14, 40, 64]) * 8;
        let origin = [numbers.below(SIDE * 8), numbers.below(SIDE * 8)];
        let mut corner = || {
            let place = origin.map(|start| (start + numbers.below(size)).min(SIDE * 8));
            (place.map(|eighths| i64::from(eighths) * UNITS / 8), word(numbers.pick(&SIZES)))
        };
        let [(a, first), (b, second), (c, third)] = [corner(), corner(), corner()];
        let shape = Shape { words: [first, second, third], ..Shape::new([a, b, c], 0) };
        if !shape.is_ambiguous(samples) {
            shapes.push(shape);
        }
    }
    shapes
}

/// Returns random fragment sizes, texel by texel.
fn random_texels(seed: u64, size: [u32; 2], layers: usize) -> Texels {
    let mut numbers = Random::new(seed);
    let mut texels = Texels { size, layers: Vec::new(), kind: TexelKind::Sizes };
    let [width, height] = texels.extent();
    for _ in 0..layers {
        texels.layers.push((0..width * height).map(|_| word(numbers.pick(&SIZES))).collect());
    }
    texels
}

/// Renders, and compares with the model. Where several sizes are permitted, the device must choose
/// consistently.
fn compare(gpu: &Gpu, scene: &Scene, tests: &[Test]) -> Case {
    let draws: Vec<_> = tests.iter().map(|test| test.draw.clone()).collect();
    let got: Vec<[f32; 4]> = render(gpu, scene, &draws)?.iter().map(|words| words.map(f32::from_bits)).collect();
    let mut wrong = String::new();
    for wide in [true, false] {
        let sizes = sizes(gpu, scene.samples, wide)?;
        let layer = |layer: u32| {
            if scene.views != 0 && scene.views >> layer & 1 == 0 {
                return vec![[0.0; 4]; (scene.size[0] * scene.size[1]) as usize];
            }
            Samples::of(scene, layer, tests, &sizes).pixels()
        };
        let expected: Vec<_> = (0..scene.layers).flat_map(layer).collect();
        // Contents outside of the render area are undefined.
        let [width, height] = scene.size;
        let place = |index: usize| [index as u32 % width, index as u32 / width];
        let is_wrong = |&index: &usize| {
            let [x, y] = place(index);
            scene.includes([x, y % height]) && got[index] != expected[index]
        };
        let Some(index) = (0..expected.len()).find(is_wrong) else { return Ok(()) };
        let ([x, y], count) = (place(index), (0..expected.len()).filter(is_wrong).count());
        wrong += &format!("({x}, {y}): {:?} instead of {:?}, {count} pixels; ", got[index], expected[index]);
    }
    Err(Outcome::Fail(wrong))
}

/// Combines all sizes of pipelines with sizes of primitives and of texels.
fn combine(gpu: &Gpu, ops: [Op; 2], samples: u32) -> Case {
    for (seed, size) in (0..).zip(SIZES) {
        let texels = Some(random_texels(seed, [8; 2], 1));
        let scene = Scene { samples, texels, ..Scene::default() };
        let mut shapes = vec![Shape::full(word(SIZES[(seed as usize * 5 + 2) % 9]))];
        shapes.extend(random(seed + 100, 10, samples));
        let mut test = Test::new(PLAIN, shapes, Effect::Plain);
        // By pipelines or by commands.
        (test.draw.size, test.draw.ops, test.draw.dynamic) = (size, ops, seed % 2 != 0);
        compare(gpu, &scene, &[test])?;
    }
    Ok(())
}

/// Checks texels of different sizes for a target whose edges cut fragments.
fn texels(gpu: &Gpu, size: [u32; 2], rendering: bool) -> Case {
    let texels = Some(random_texels(7, size, 1));
    let scene = Scene { size: [61, 45], texels, rendering, ..Scene::default() };
    let mut test = Test::new(PLAIN, [vec![Shape::full(0)], random(8, 6, 1)].concat(), Effect::Plain);
    test.draw.ops = [Op::KEEP, Op::REPLACE];
    compare(gpu, &scene, &[test])
}

/// Checks a render area that begins within a texel.
fn shifted(gpu: &Gpu, scene: &Scene) -> Case {
    for first in [[0, 0], [13, 0], [3, 21], [38, 55]] {
        let scene = Scene { first, texels: Some(random_texels(10, [16, 8], 1)), ..scene.clone() };
        let mut test = Test::new(PLAIN, [vec![Shape::full(0)], random(12, 6, 1)].concat(), Effect::Plain);
        test.draw.ops = [Op::KEEP, Op::REPLACE];
        compare(gpu, &scene, &[test])?;
    }
    Ok(())
}

/// Checks rate attachments with as many layers as the target, or with one layer for all.
fn layered(gpu: &Gpu, layers: usize, views: u32) -> Case {
    for rendering in [false, true] {
        let texels = Some(random_texels(9, [16; 2], layers));
        let scene = Scene { layers: 3, views, texels, rendering, ..Scene::default() };
        let shapes: Vec<_> = if views == 0 {
            (0..3).map(|layer| Shape { layer, ..Shape::full(0) }).collect()
        } else {
            vec![Shape::full(0)]
        };
        let mut test = Test::new(PLAIN, shapes, Effect::Plain);
        test.draw.ops = [Op::KEEP, Op::MAX];
        if views == 0 {
            test.draw.vertex = ROUTED;
            let named = test.shapes.iter().flat_map(|shape| [shape.layer; 3]);
            for (vertex, layer) in test.draw.vertices.iter_mut().zip(named) {
                vertex[1] = [vertex[1][0], layer as f32, 0.0, 1.0];
            }
        }
        compare(gpu, &scene, &[test])?;
    }
    Ok(())
}

case!("rates.primitive.viewports", "Fragment Shading Rates", [vk::KHR_FRAGMENT_SHADING_RATE_NAME], viewports);

/// Draws primitives with sizes in a viewport five pixels farther right.
fn viewports(gpu: &Gpu) -> Case {
    let mut shapes = random(11, 12, 1);
    let mut test = Test::new(PLAIN, shapes.clone(), Effect::Plain);
    (test.draw.vertex, test.draw.viewports, test.draw.ops) = (ROUTED, 2, [Op::REPLACE, Op::KEEP]);
    for (number, vertices) in test.draw.vertices.chunks_mut(3).enumerate() {
        vertices.iter_mut().for_each(|vertex| vertex[1] = [vertex[1][0], 0.0, (number % 2) as f32, 1.0]);
    }
    for shape in shapes.iter_mut().skip(1).step_by(2) {
        shape.corners.iter_mut().for_each(|corner| corner[0] += 5 * UNITS);
    }
    test.shapes = shapes;
    compare(gpu, &Scene::default(), &[test])
}

case!("rates.primitive.points", "Fragment Shading Rates", [vk::KHR_FRAGMENT_SHADING_RATE_NAME], points);

fn points(gpu: &Gpu) -> Case {
    let point = |number: i64| {
        let place = [number * 13 % 61 * UNITS + 37, number * 29 % 59 * UNITS + 101];
        Shape { point: Some(7.0), ..Shape::new([place; 3], word(SIZES[number as usize % 9])) }
    };
    let mut test = Test::new(PLAIN, (0..20).map(point).collect(), Effect::Plain);
    (test.draw.topology, test.draw.ops) = (vk::PrimitiveTopology::POINT_LIST, [Op::REPLACE, Op::KEEP]);
    compare(gpu, &Scene::default(), &[test])
}

/// Draws triangles with fragments of every size by one shader.
fn alone(
    gpu: &Gpu,
    samples: u32,
    (fragment, effect): (&'static [u8], Effect),
    change: impl Fn(&mut scene::RatedDraw),
) -> Case {
    for (seed, size) in (20..).zip(SIZES) {
        let shapes = [vec![Shape::full(0)], random(seed, 8, samples)].concat();
        let mut test = Test::new(fragment, shapes, effect);
        test.draw.size = size;
        change(&mut test.draw);
        compare(gpu, &Scene { samples, ..Scene::default() }, &[test])?;
    }
    Ok(())
}

/// Checks that depth is evaluated at samples, also in larger fragments.
fn depth(gpu: &Gpu, samples: u32) -> Case {
    for size in SIZES {
        let mut tests = Vec::new();
        let sloped = Shape { depth: [0.0, 1.0 / 64.0], ..Shape::full(0) };
        let flat = Shape { depth: [27.0 / 64.0 + 1.0 / 512.0, 0.0], ..Shape::full(0) };
        for shapes in [vec![sloped], vec![flat], random(31, 5, samples)] {
            let mut test = Test::new(PLAIN, shapes, Effect::Plain);
            (test.draw.size, test.draw.depth) = (size, vk::CompareOp::LESS);
            tests.push(test);
        }
        compare(gpu, &Scene { samples, ..Scene::default() }, &tests)?;
    }
    Ok(())
}

/// Checks that a fragment's own depth applies to all of its samples.
fn written_depth(gpu: &Gpu, samples: u32) -> Case {
    for size in SIZES {
        let flat = Shape { depth: [27.0 / 64.0 + 1.0 / 512.0, 0.0], ..Shape::full(0) };
        let mut tests = vec![
            Test::new(PLAIN, vec![flat], Effect::Plain),
            Test::new(DEPTH, random(33, 6, samples), Effect::WritesDepth),
        ];
        for test in &mut tests {
            (test.draw.size, test.draw.depth) = (size, vk::CompareOp::LESS);
        }
        compare(gpu, &Scene { samples, ..Scene::default() }, &tests)?;
    }
    Ok(())
}

/// Checks that discarded fragments write no depth.
fn discard(gpu: &Gpu, samples: u32) -> Case {
    for size in SIZES {
        let near = random(35, 5, samples).into_iter().map(|shape| Shape { depth: [0.25, 0.0], ..shape });
        let mut tests = vec![
            Test::new(DISCARD, near.collect(), Effect::Discards),
            Test::new(PLAIN, vec![Shape::full(0)], Effect::Plain),
        ];
        for test in &mut tests {
            (test.draw.size, test.draw.depth) = (size, vk::CompareOp::LESS);
        }
        compare(gpu, &Scene { samples, ..Scene::default() }, &tests)?;
    }
    Ok(())
}

/// Checks that the colours of all fragments that cover a sample are added, also where sizes differ.
fn blending(gpu: &Gpu, samples: u32) -> Case {
    let mut test = Test::new(PLAIN, random(37, 24, samples), Effect::Plain);
    (test.draw.ops, test.draw.adds) = ([Op::REPLACE, Op::MAX], true);
    let scene = Scene { samples, texels: Some(random_texels(38, [8; 2], 1)), ..Scene::default() };
    compare(gpu, &scene, &[test])
}

/// Checks that queries count samples, not fragments.
fn queries(gpu: &Gpu, samples: u32) -> Case {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
    for (fragment, effect) in [(PLAIN, Effect::Plain), (DISCARD, Effect::Discards)] {
        for size in SIZES {
            let mut test = Test::new(fragment, random(39, 6, samples), effect);
            test.draw.size = size;
            counted(gpu, &Scene { samples, ..Scene::default() }, (test, &info), |model| model.passed[0])?;
        }
    }
    Ok(())
}

/// Checks that statistics count fragments, not samples.
fn statistics(gpu: &Gpu, samples: u32) -> Case {
    need_statistics(gpu)?;
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::PIPELINE_STATISTICS)
        .pipeline_statistics(vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS)
        .query_count(1);
    for size in SIZES {
        // Fragments of additive blending cannot be skipped.
        let mut test = Test::new(PLAIN, random(45, 6, samples), Effect::Plain);
        (test.draw.size, test.draw.adds) = (size, true);
        counted(gpu, &Scene { samples, ..Scene::default() }, (test, &info), |model| model.shaded)?;
    }
    Ok(())
}

/// Ends a case unless the device counts fragments.
fn need_statistics(gpu: &Gpu) -> Case {
    match gpu.features.pipeline_statistics_query {
        vk::FALSE => Err(Outcome::NotSupported("pipelineStatisticsQuery".into())),
        _ => Ok(()),
    }
}

/// Checks that a draw in a query counts as many as the model.
fn counted(
    gpu: &Gpu,
    scene: &Scene,
    (mut test, info): (Test, &vk::QueryPoolCreateInfo<'_>),
    count: impl Fn(&Samples<'_>) -> u64,
) -> Case {
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(info, None) }?;
    test.draw.query = Some(pool);
    if info.query_type == vk::QueryType::OCCLUSION {
        test.draw.control = vk::QueryControlFlags::PRECISE;
    }
    render(gpu, scene, std::slice::from_ref(&test.draw))?;
    let mut got = [0u64];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the pool has the query, and nothing uses it.
    unsafe {
        gpu.device.get_query_pool_results(pool, 0, &mut got, flags)?;
        gpu.device.destroy_query_pool(pool, None);
    }
    let (size, tests) = (test.draw.size, [test]);
    for wide in [true, false] {
        if got[0] == count(&Samples::of(scene, 0, &tests, &sizes(gpu, scene.samples, wide)?)) {
            return Ok(());
        }
    }
    Err(Outcome::Fail(format!("{size:?}: {} is none of what the model counts", got[0])))
}

/// Checks that inputs are evaluated in the primitive and in the fragment.
fn centroid(gpu: &Gpu, samples: u32) -> Case {
    let scene = Scene { samples, ..Scene::default() };
    for (seed, size) in (40..).zip(SIZES) {
        let shape = random(seed, 4, samples).into_iter().max_by_key(spread).unwrap_or(Shape::full(0));
        let mut test = Test::new(CENTROID, vec![shape], Effect::Plain);
        test.draw.size = size;
        let pixels = render(gpu, &scene, std::slice::from_ref(&test.draw))?;
        for (index, words) in (0..).zip(&pixels) {
            let pixel: [u32; 2] = [index % SIDE, index / SIDE];
            let is_covered = |sample: u32| shape.contains(model::place(pixel, sample, samples));
            // Partly covered pixels mix colours.
            if !(0..samples).all(is_covered) {
                continue;
            }
            let [x, y, centre_x, centre_y] = words.map(f32::from_bits);
            let near = |place: f32, centre: f32| (place - centre).abs() <= 2.0;
            let units = [x, y].map(|pixels| (f64::from(pixels) * UNITS as f64).round() as i64);
            // Rounded positions may lie slightly outside.
            let around = [[0, 0], [2, 0], [-2, 0], [0, 2], [0, -2]];
            let inside = around.iter().any(|[dx, dy]| shape.contains([units[0] + dx, units[1] + dy]));
            check(inside && near(x, centre_x) && near(y, centre_y), || format!("{size:?}, {pixel:?}: {x}, {y}"))?;
        }
    }
    Ok(())
}

/// Returns the extent of a triangle.
fn spread(shape: &Shape) -> i64 {
    let span = |axis: usize| {
        let places = shape.corners.map(|corner| corner[axis]);
        places.iter().max().unwrap_or(&0) - places.iter().min().unwrap_or(&0)
    };
    span(0) * span(1)
}

/// Checks that sample shading, by state and by shader, makes fragments single pixels.
fn by_sample(gpu: &Gpu, samples: u32) -> Case {
    let scene = Scene { samples, ..Scene::default() };
    for (fragment, by_state) in [(BY_SAMPLE, false), (BY_SAMPLE, true), (PLAIN, true)] {
        let mut draw = scene::RatedDraw::new(fragment, Shape::full(word([4, 2])).vertices());
        (draw.size, draw.ops, draw.by_sample) = ([4, 4], [Op::MAX, Op::KEEP], by_state);
        for (index, words) in (0..).zip(render(gpu, &scene, &[draw])?) {
            let [x, y, rate, _] = words.map(f32::from_bits);
            let pixel = [index % SIDE, index / SIDE].map(|place| place as f32);
            // The average of all samples is near the middle.
            let inside = [x, y].iter().zip(pixel).all(|(place, pixel)| (place - pixel - 0.5).abs() < 0.01);
            check(inside && rate == 0.0, || format!("{pixel:?}: {x}, {y}, {rate}"))?;
        }
    }
    Ok(())
}
