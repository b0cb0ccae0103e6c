//! `VK_EXT_fragment_density_map` and `VK_EXT_fragment_density_map2`: pictures of fragments whose
//! sizes a density map sets, compared with the model of shading rates.
//!
//! The specification permits smaller fragments. The cases expect those that the density allows, up
//! to 4x4 pixels. Coverage is compared only where a primitive covers whole fragments or none of
//! their pixels, because fragments share one set of samples.

use ash::vk;
use ash::vk::FragmentShadingRateCombinerOpKHR as Op;

use super::model::{Effect, Samples, Shape, Size, Test, UNITS, place, word};
use super::scene::{ReadTime, SIDE, Scene, TexelKind, Texels, render};
use super::{SIZES, compare, counted, random, random_texels, sizes};
use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};

const VERTEX: &[u8] = shader!("density.vert");
const PLAIN: &[u8] = shader!("density.frag");
const DEPTH: &[u8] = shader!("density_depth.frag");
const SAMPLES: &[u8] = shader!("density_samples.frag");
/// Extensions that cases use. The sizes of fragments are those of shading rates.
const NAMES: [&std::ffi::CStr; 3] =
    [vk::EXT_FRAGMENT_DENSITY_MAP_NAME, vk::EXT_FRAGMENT_DENSITY_MAP2_NAME, vk::KHR_FRAGMENT_SHADING_RATE_NAME];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let mut add = |name: String, run: Box<dyn Fn(&Gpu) -> Case>| {
        let run = move |gpu: &Gpu| {
            NAMES.into_iter().try_for_each(|name| gpu.need(name))?;
            run(&gpu.with_density_maps()?)
        };
        cases.push(Entry::new(format!("density_maps.{name}"), "Fragment Density Map Operations", run));
    };
    for (size, rendering) in
        [[8, 8], [8, 64], [64, 8], [16, 32]].into_iter().flat_map(|size| [(size, false), (size, true)])
    {
        let name = format!("map.texel_{}x{}_{}", size[0], size[1], if rendering { "rendering" } else { "pass" });
        add(name, Box::new(move |gpu: &Gpu| texels(gpu, size, rendering)));
    }
    for (name, layers) in [("views", 3), ("views_of_one", 1)] {
        add(format!("map.{name}"), Box::new(move |gpu: &Gpu| views(gpu, layers)));
    }
    for (name, reading) in
        [("recorded", ReadTime::Recorded), ("deferred", ReadTime::Deferred), ("dynamic", ReadTime::Dynamic)]
    {
        add(format!("map.{name}"), Box::new(move |gpu: &Gpu| read(gpu, reading)));
    }
    for (name, rendering) in [("pass", false), ("rendering", true)] {
        let run = move |gpu: &Gpu| shifted(gpu, &Scene { rendering, ..Scene::default() });
        add(format!("map.shifted_{name}"), Box::new(run));
        let run = move |gpu: &Gpu| shifted(gpu, &Scene { rendering, secondary: true, ..Scene::default() });
        add(format!("map.secondary_{name}"), Box::new(run));
    }
    add("map.first_version".into(), Box::new(first_version));
    for samples in [1, 4] {
        for (name, run) in FRAGMENTS {
            add(format!("fragment.{name}_x{samples}"), Box::new(move |gpu: &Gpu| run(gpu, samples)));
        }
    }
    add("fragment.samples_x4".into(), Box::new(shared_samples));
    add("device.properties".into(), Box::new(properties));
}

/// A case for a number of samples.
type OfSamples = fn(&Gpu, u32) -> Case;

/// Cases for each number of samples.
const FRAGMENTS: &[(&str, OfSamples)] = &[
    ("depth", depth),
    ("blending", blending),
    ("edges", edges),
    ("subsampled", subsampled),
    ("invocations", invocations),
    ("by_sample", by_sample),
];

/// Returns the texels of a map of random densities.
fn densities(seed: u64, size: Size, layers: usize) -> Option<Texels> {
    let kind = TexelKind::Densities(ReadTime::Recorded);
    Some(Texels { kind, ..random_texels(seed, size, layers) })
}

/// Returns a draw whose fragments have the sizes of the map.
fn draw(fragment: &'static [u8], shapes: Vec<Shape>, effect: Effect) -> Test {
    let mut test = Test::new(fragment, shapes, effect);
    (test.draw.vertex, test.draw.ops) = (VERTEX, [Op::KEEP, Op::REPLACE]);
    test
}

/// Draws a triangle over the whole target.
fn full() -> Test {
    draw(PLAIN, vec![Shape::full(0)], Effect::Plain)
}

/// Checks maps of different sizes for a target that ends inside of fragments.
fn texels(gpu: &Gpu, size: Size, rendering: bool) -> Case {
    let scene = Scene { size: [61, 45], texels: densities(7, size, 1), rendering, ..Scene::default() };
    compare(gpu, &scene, &[full()])
}

/// Checks a render area that begins within a texel.
fn shifted(gpu: &Gpu, scene: &Scene) -> Case {
    for (first, samples) in [[0, 0], [13, 0], [3, 21], [38, 55]].into_iter().flat_map(|first| [(first, 1), (first, 4)])
    {
        compare(gpu, &Scene { first, samples, texels: densities(29, [16, 8], 1), ..scene.clone() }, &[full()])?;
    }
    Ok(())
}

/// Checks render passes of the first version.
fn first_version(gpu: &Gpu) -> Case {
    for samples in [1, 4] {
        let texels = densities(27, [8; 2], 1);
        compare(gpu, &Scene { samples, texels, first_version: true, ..Scene::default() }, &[full()])?;
    }
    Ok(())
}

/// Checks that each view has the densities of its layer, or those of the only layer.
fn views(gpu: &Gpu, layers: usize) -> Case {
    for rendering in [false, true] {
        // The map of a rendering without render pass has a layer for each view.
        if rendering && layers == 1 {
            continue;
        }
        let texels = densities(9, [16; 2], layers);
        compare(gpu, &Scene { layers: 3, views: 0b101, texels, rendering, ..Scene::default() }, &[full()])?;
    }
    Ok(())
}

/// Checks that a map may be written until it is read.
fn read(gpu: &Gpu, reading: ReadTime) -> Case {
    let (first, second) = (&gpu.extension_features.density_maps, &gpu.extension_features.density_maps2);
    let is_supported = match reading {
        ReadTime::Recorded => vk::TRUE,
        ReadTime::Deferred => second.fragment_density_map_deferred,
        ReadTime::Dynamic => first.fragment_density_map_dynamic,
    };
    if is_supported == vk::FALSE {
        return Err(Outcome::NotSupported(format!("{reading:?} views")));
    }
    for rendering in [false, true] {
        let kind = TexelKind::Densities(reading);
        let texels = densities(11, [8; 2], 1).map(|texels| Texels { kind, ..texels });
        compare(gpu, &Scene { texels, rendering, ..Scene::default() }, &[full()])?;
    }
    Ok(())
}

/// Checks that a fragment's own depth applies to all of its pixels.
fn depth(gpu: &Gpu, samples: u32) -> Case {
    let flat = Shape { depth: [27.0 / 64.0 + 1.0 / 512.0, 0.0], ..Shape::full(0) };
    let written = draw(DEPTH, vec![Shape::full(0)], Effect::WritesDepth);
    let mut tests = [draw(PLAIN, vec![flat], Effect::Plain), written];
    tests.iter_mut().for_each(|test| test.draw.depth = vk::CompareOp::LESS);
    compare(gpu, &Scene { samples, texels: densities(13, [8; 2], 1), ..Scene::default() }, &tests)
}

/// Checks that colours of several fragments at a place are added.
fn blending(gpu: &Gpu, samples: u32) -> Case {
    let mut test = draw(PLAIN, vec![Shape::full(0); 3], Effect::Plain);
    test.draw.adds = true;
    compare(gpu, &Scene { samples, texels: densities(15, [8; 2], 1), ..Scene::default() }, &[test])
}

/// Checks that triangles colour all pixels of the fragments that they cover, and no pixel of those
/// that they do not touch.
fn edges(gpu: &Gpu, samples: u32) -> Case {
    let texels = densities(17, [8; 2], 1);
    let scene = Scene { samples, texels, ..Scene::default() };
    for shape in random(18, 6, samples) {
        let test = draw(PLAIN, vec![shape], Effect::Plain);
        let got = render(gpu, &scene, std::slice::from_ref(&test.draw))?;
        let all = Samples::of(&scene, 0, &[full()], &sizes(gpu, samples, true)?).pixels();
        for (index, (words, whole)) in (0..).zip(got.iter().zip(all)) {
            let pixel = [index % SIDE, index / SIDE];
            let size = [whole[3] as u32 / 16, whole[3] as u32 % 16];
            let first: Size = std::array::from_fn(|axis| pixel[axis] / size[axis] * size[axis]);
            let cell = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [first[0] + x, first[1] + y]));
            // The corners of pixels decide, wherever samples are.
            let corners = cell.flat_map(|[x, y]| [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]);
            let inside = corners.filter(|corner| shape.contains(corner.map(|pixels| i64::from(pixels) * UNITS)));
            let color = words.map(f32::from_bits);
            if inside.count() as u32 == size[0] * size[1] * 4 {
                check(color == whole, || format!("{pixel:?}: {color:?} instead of {whole:?}"))?;
            }
            let is_apart = |axis: usize| {
                let places = shape.corners.map(|corner| corner[axis] / UNITS);
                places.iter().all(|&place| place + 1 < i64::from(first[axis]))
                    || places.iter().all(|&place| place > i64::from(first[axis] + size[axis]))
            };
            if is_apart(0) || is_apart(1) {
                check(color == [0.0; 4], || format!("{pixel:?}: {color:?} outside"))?;
            }
        }
    }
    Ok(())
}

/// Checks the texels of subsampled images, which subsampled samplers read.
fn subsampled(gpu: &Gpu, samples: u32) -> Case {
    for rendering in [false, true] {
        let texels = densities(19, [8; 2], 1);
        let scene = Scene { samples, texels, rendering, subsampled: true, ..Scene::default() };
        compare(gpu, &scene, &[full()])?;
    }
    Ok(())
}

/// Checks that each fragment is shaded once.
fn invocations(gpu: &Gpu, samples: u32) -> Case {
    super::need_statistics(gpu)?;
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::PIPELINE_STATISTICS)
        .pipeline_statistics(vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS)
        .query_count(1);
    for size in SIZES {
        let texels = densities(21, [8; 2], 1).map(|texels| {
            let layers = texels.layers.iter().map(|layer| vec![word(size); layer.len()]).collect();
            Texels { layers, ..texels }
        });
        let scene = Scene { samples, texels, ..Scene::default() };
        let mut test = full();
        // Fragments of additive blending cannot be skipped.
        test.draw.adds = true;
        counted(gpu, &scene, (test, &info), |model| model.shaded)?;
    }
    Ok(())
}

/// Checks that sample shading makes fragments single pixels, and that they know how often they are
/// shaded.
fn by_sample(gpu: &Gpu, samples: u32) -> Case {
    let mut test = full();
    test.draw.by_sample = true;
    let scene = Scene { samples, texels: densities(23, [8; 2], 1), ..Scene::default() };
    for (index, words) in (0..).zip(render(gpu, &scene, &[test.draw])?) {
        let [_, _, shown, size] = words.map(f32::from_bits);
        let expected = [(samples as f32 - 1.0) * 16.0, 17.0];
        check([shown, size] == expected, || format!("pixel {index}: {shown}, {size} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Checks that the pixels of a fragment share one set of samples: the program reads and writes one
/// mask, and the locations of the samples are scaled.
fn shared_samples(gpu: &Gpu) -> Case {
    let samples = 4;
    let scene = Scene { samples, texels: densities(25, [8; 2], 1), ..Scene::default() };
    let test = draw(SAMPLES, vec![Shape::full(0)], Effect::Plain);
    let got = render(gpu, &scene, &[test.draw])?;
    let all = Samples::of(&scene, 0, &[full()], &sizes(gpu, samples, true)?).pixels();
    let location = place([0, 0], 2, samples).map(|units| units as f32 / UNITS as f32);
    for (index, (words, [_, _, _, size])) in (0u32..).zip(got.iter().zip(all)) {
        let size = [size as u32 / 16, size as u32 % 16].map(|pixels| pixels as f32);
        // The program writes two of four samples.
        let expected = [15.0, size[0] * (location[0] - 0.5), size[1] * (location[1] - 0.5), 1.0].map(|part| part / 2.0);
        let color = words.map(f32::from_bits);
        let is_near = color.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01);
        let pixel = [index % SIDE, index / SIDE];
        check(is_near, || format!("{pixel:?}: {color:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Checks features, limits and the format of maps.
fn properties(gpu: &Gpu) -> Case {
    let mut own = vk::PhysicalDeviceFragmentDensityMapPropertiesEXT::default();
    gpu.properties2(&mut own);
    let mut newer = vk::PhysicalDeviceFragmentDensityMap2PropertiesEXT::default();
    gpu.properties2(&mut newer);
    let (least, most) = (own.min_fragment_density_texel_size, own.max_fragment_density_texel_size);
    let limits = least.width >= 1 && least.height >= 1 && most.width >= least.width && most.height >= least.height;
    check(limits, || format!("{least:?} to {most:?}"))?;
    let most = (newer.max_subsampled_array_layers, newer.max_descriptor_set_subsampled_samplers);
    check(most.0 >= 2 && most.1 >= 1, || format!("{most:?}"))?;
    check(gpu.extension_features.density_maps.fragment_density_map == vk::TRUE, || "no fragmentDensityMap".into())?;
    // SAFETY: the device is alive.
    let format = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, vk::Format::R8G8_UNORM) };
    let map = vk::FormatFeatureFlags::FRAGMENT_DENSITY_MAP_EXT;
    check(format.optimal_tiling_features.contains(map), || "no R8G8_UNORM".into())
}
