//! Fragment shader interlock.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

const INTERLOCK: &[u8] = shader!("interlock.frag");
const INTERLOCK_SAMPLES: &[u8] = shader!("interlock_samples.frag");
const INTERLOCK_UNORDERED: &[u8] = shader!("interlock_unordered.frag");
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

/// Returns rectangles of whole pixels: x and y from and to, and the colour that each adds.
fn rectangles() -> Vec<([u32; 4], u32)> {
    let mut seed = 12345u32;
    let mut next = |limit: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % limit
    };
    let mut rectangle = |_| {
        let (x, y) = (next(SIZE - 1), next(SIZE - 1));
        ([x, y, x + 1 + next(SIZE - x), y + 1 + next(SIZE - y)], next(256))
    };
    (0..60).map(&mut rectangle).collect()
}

/// Returns the vertices of rectangles, two triangles each, with positions and colours.
fn vertices(rectangles: &[([u32; 4], u32)]) -> Vec<f32> {
    let clip = |pixel: u32| pixel as f32 / (SIZE as f32 / 2.0) - 1.0;
    let corners = [(0, 1), (2, 1), (0, 3), (2, 1), (2, 3), (0, 3)];
    let vertex = |(place, value): &([u32; 4], u32), (x, y): (usize, usize)| {
        [clip(place[x]), clip(place[y]), 0.5, 1.0, *value as f32 / 255.0, 0.0, 0.0, 1.0]
    };
    rectangles.iter().flat_map(|rect| corners.into_iter().flat_map(move |corner| vertex(rect, corner))).collect()
}

case!("shaders.interlock.pixels", "VK_EXT_fragment_shader_interlock", |gpu| interlock(gpu, INTERLOCK, false, 3));
case!("shaders.interlock.samples", "VK_EXT_fragment_shader_interlock", |gpu| interlock(
    gpu,
    INTERLOCK_SAMPLES,
    true,
    3
));
case!("shaders.interlock.unordered", "VK_EXT_fragment_shader_interlock", |gpu| {
    interlock(gpu, INTERLOCK_UNORDERED, false, 1)
});

/// Draws overlapping rectangles in two draws. Each multiplies a pixel's word by `factor` and adds
/// its colour, so that the word shows the order for any factor but 1.
fn interlock(gpu: &Gpu, fragment: &'static [u8], by_samples: bool, factor: u32) -> Case {
    let features = &gpu.extension_features.interlock;
    if features.fragment_shader_pixel_interlock & features.fragment_shader_sample_interlock == 0 {
        return Err(Outcome::NotSupported("fragments that exclude each other".into()));
    }
    let samples = if by_samples { 4 } else { 1 };
    let storage = gpu.buffer(u64::from(SIZE * SIZE * samples * 4))?;
    let all = rectangles();
    let state = State { vertex: TRIANGLES, fragment, by_sample: by_samples, ..State::default() };
    let mut draws = Vec::new();
    for part in all.chunks(all.len() / 2) {
        let buffer = gpu.buffer_with(&vertices(part))?;
        let kind = Kind::VertexBuffer { buffer, count: part.len() as u32 * 6 };
        draws.push(Draw { kind, storage: Some(storage), ..Draw::rect(state.clone(), FULL, [1.0; 4]) });
    }
    let target = Target { samples: if by_samples { FOUR } else { ONE }, ..Target::default() };
    render(gpu, &target, &draws)?;
    for (index, word) in (0..).zip(storage.words()) {
        let pixel = index / samples;
        let (x, y) = (pixel % SIZE, pixel / SIZE);
        let covers = |[left, top, right, bottom]: [u32; 4]| (left..right).contains(&x) && (top..bottom).contains(&y);
        let over = all.iter().filter(|(place, _)| covers(*place));
        let expected = over.fold(0u32, |word, (_, value)| word.wrapping_mul(factor).wrapping_add(*value));
        check(word == expected, || format!("({x}, {y}): {word:#x}, not {expected:#x}"))?;
    }
    Ok(())
}
