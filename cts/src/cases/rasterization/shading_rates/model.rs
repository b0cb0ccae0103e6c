//! A model of fragments of several pixels, sample by sample, by the text of the specification.

use std::collections::BTreeMap;

use ash::vk::{self, FragmentShadingRateCombinerOpKHR as Op};

use super::scene::{RatedDraw, Scene, Vertex};
use crate::cases::rasterization::conservative::{covers_wholly, meets};

/// Units of positions in a pixel.
pub const UNITS: i64 = 256;

/// Width and height of a fragment.
pub type Size = [u32; 2];

/// A primitive with one size of fragments.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Corners of the triangle, in units.
    pub corners: [[i64; 2]; 3],
    /// The rate of each corner. The first one counts.
    pub words: [u8; 3],
    /// Depth at the left side, and the increment for each pixel.
    pub depth: [f64; 2],
    pub layer: u32,
    /// Width in pixels of a square around the first corner, which is drawn instead.
    pub point: Option<f32>,
}

impl Shape {
    pub fn new(corners: [[i64; 2]; 3], word: u8) -> Self {
        Self { corners, words: [word; 3], depth: [0.5, 0.0], layer: 0, point: None }
    }

    /// Returns a triangle over the whole target.
    pub fn full(word: u8) -> Self {
        let far = 128 * UNITS;
        Self::new([[0, 0], [far, 0], [0, far]], word)
    }

    pub fn vertices(&self) -> Vec<Vertex> {
        let place = |units: i64| (units as f64 / UNITS as f64) as f32;
        let count = if self.point.is_some() { 1 } else { 3 };
        let vertex = |(corner, word): (&[i64; 2], &u8)| {
            let [x, y] = corner.map(place);
            let depth = self.depth[0] + self.depth[1] * f64::from(x);
            [[x, y, depth as f32, 1.0], [f32::from(*word), x, y, self.point.unwrap_or(1.0)]]
        };
        self.corners.iter().zip(&self.words).map(vertex).take(count).collect()
    }

    fn sides(&self, [x, y]: [i64; 2]) -> [i64; 3] {
        let turn = |a: [i64; 2], b: [i64; 2]| (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        let [a, b, c] = self.corners;
        let sign = ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).signum();
        [turn(a, b), turn(b, c), turn(c, a)].map(|side| side * sign)
    }

    /// Returns true if a position is inside. No tested position lies on a side.
    pub fn contains(&self, place: [i64; 2]) -> bool {
        match self.point {
            Some(size) => {
                let half = (f64::from(size) * UNITS as f64 / 2.0) as i64;
                (0..2).all(|axis| (place[axis] - self.corners[0][axis]).abs() < half)
            }
            None => self.sides(place).iter().all(|&side| side > 0),
        }
    }

    /// Returns true if a sample lies on the line of a side.
    pub fn is_ambiguous(&self, samples: u32) -> bool {
        let pixels = (0..64).flat_map(|y| (0..64).map(move |x| [x, y]));
        let mut places = pixels.flat_map(|pixel| (0..samples).map(move |sample| place(pixel, sample, samples)));
        places.any(|place| self.sides(place).contains(&0))
    }
}

/// Returns the position of a sample. Source: "Standard Sample Locations".
pub fn place([x, y]: [u32; 2], sample: u32, samples: u32) -> [i64; 2] {
    let sixteenths: [i64; 2] = match samples {
        1 => [8, 8],
        2 => [[12, 12], [4, 4]][sample as usize],
        _ => [[6, 2], [14, 6], [2, 10], [10, 14]][sample as usize],
    };
    [i64::from(x) * UNITS + sixteenths[0] * 16, i64::from(y) * UNITS + sixteenths[1] * 16]
}

/// The sizes that a device supports for a number of samples, and which of two equally good ones it
/// takes.
#[derive(Clone)]
pub struct Sizes {
    pub all: Vec<Size>,
    pub wide: bool,
}

impl Sizes {
    /// Returns the supported size that a size is clamped to. Source: "Combining the Fragment
    /// Shading Rates".
    fn clamped(&self, size: Size) -> Size {
        if self.all.contains(&size) {
            return size;
        }
        let mut left: Vec<Size> =
            self.all.iter().copied().filter(|[width, height]| *width <= size[0] && *height <= size[1]).collect();
        let area = left.iter().map(|[width, height]| width * height).max().unwrap_or(1);
        left.retain(|[width, height]| width * height == area);
        let sum = left.iter().map(|[width, height]| width + height).min().unwrap_or(2);
        left.retain(|[width, height]| width + height == sum);
        let chosen = if self.wide { left.iter().max() } else { left.iter().min() };
        chosen.copied().unwrap_or([1; 2])
    }

    fn combined(&self, op: Op, a: Size, b: Size) -> Size {
        let (a, b) = (self.clamped(a), self.clamped(b));
        std::array::from_fn(|axis| match op {
            Op::REPLACE => b[axis],
            Op::MIN => a[axis].min(b[axis]),
            Op::MAX => a[axis].max(b[axis]),
            Op::MUL => a[axis] * b[axis],
            _ => a[axis],
        })
    }
}

fn decoded(word: u8) -> Size {
    [1 << ((word / 4) & 3), 1 << (word & 3)]
}

/// Returns the size as shaders see it.
pub fn word(size: Size) -> u8 {
    (size[0].trailing_zeros() * 4 + size[1].trailing_zeros()) as u8
}

/// Effects of fragment shaders.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Plain,
    /// Discards every second fragment.
    Discards,
    /// Writes the fragment's own depth.
    WritesDepth,
    /// Keeps only the samples of this mask.
    CutsSamples(u32),
    /// Shows the mask of samples.
    ShowsSamples,
    /// Sets alpha to the horizontal position of the fragment.
    HasAlpha,
}

/// A draw and its primitives.
pub struct Test {
    pub draw: RatedDraw,
    pub shapes: Vec<Shape>,
    pub effect: Effect,
}

/// A pixel of a layer that a primitive covers.
#[derive(Clone, Copy)]
struct Place<'a> {
    shape: &'a Shape,
    pixel: [u32; 2],
    layer: u32,
}

impl Test {
    pub fn new(fragment: &'static [u8], shapes: Vec<Shape>, effect: Effect) -> Self {
        let draw = RatedDraw::new(fragment, shapes.iter().flat_map(Shape::vertices).collect());
        Self { draw, shapes, effect }
    }

    fn covers(&self, shape: &Shape, pixel: [u32; 2], sample: (u32, u32)) -> bool {
        let Some(mode) = self.draw.conservative else { return shape.contains(place(pixel, sample.0, sample.1)) };
        let corners = shape.corners.map(|corner| corner.map(|units| units as f64 / UNITS as f64));
        let pixel = pixel.map(f64::from);
        match mode {
            vk::ConservativeRasterizationModeEXT::OVERESTIMATE => meets(&corners, pixel),
            _ => covers_wholly(&corners, pixel),
        }
    }

    /// Returns the size of fragments at a pixel.
    fn size(&self, scene: &Scene, sizes: &Sizes, place: Place<'_>) -> Size {
        let Place { shape, pixel, layer } = place;
        let texel = scene.texels.as_ref().map_or(0, |texels| texels.at(pixel, layer as usize));
        if self.draw.by_sample {
            return [1; 2];
        }
        let first = sizes.combined(self.draw.ops[0], self.draw.size, decoded(shape.words[0]));
        sizes.clamped(sizes.combined(self.draw.ops[1], first, decoded(texel)))
    }
}

/// Samples of a picture, with depths.
pub struct Samples<'a> {
    scene: &'a Scene,
    layer: u32,
    colors: Vec<[f64; 4]>,
    depths: Vec<f64>,
    /// Samples that passed, by draw.
    pub passed: Vec<u64>,
    /// Fragments that were shaded.
    pub shaded: u64,
}

/// The samples that a fragment covers, by its first pixel and its size.
type Fragments = BTreeMap<([u32; 2], Size), Vec<([u32; 2], u32)>>;

impl<'a> Samples<'a> {
    /// Returns the picture of draws in a layer.
    pub fn of(scene: &'a Scene, layer: u32, tests: &[Test], sizes: &Sizes) -> Self {
        let count = (scene.size[0] * scene.size[1] * scene.samples) as usize;
        let mut all = Self {
            scene,
            layer,
            colors: vec![[0.0; 4]; count],
            depths: vec![1.0; count],
            passed: Vec::new(),
            shaded: 0,
        };
        for test in tests {
            all.passed.push(0);
            for shape in test.shapes.iter().filter(|shape| scene.views != 0 || shape.layer == layer) {
                for (fragment, covered) in all.fragments(test, shape, sizes) {
                    all.shade(test, shape, fragment, &covered);
                }
            }
        }
        all
    }

    fn fragments(&self, test: &Test, shape: &Shape, sizes: &Sizes) -> Fragments {
        let ([width, height], samples) = (self.scene.size, self.scene.samples);
        let mut fragments = Fragments::new();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        for pixel in pixels.filter(|pixel| self.scene.includes(*pixel)) {
            let size = test.size(self.scene, sizes, Place { shape, pixel, layer: self.layer });
            let first = std::array::from_fn(|axis| pixel[axis] / size[axis] * size[axis]);
            let covered = |sample: &u32| {
                test.draw.sample_mask >> sample & 1 != 0 && test.covers(shape, pixel, (*sample, samples))
            };
            for sample in (0..samples).filter(covered) {
                fragments.entry((first, size)).or_default().push((pixel, sample));
            }
        }
        fragments
    }

    /// Returns the number of a sample in its fragment's coverage. Source: "Multisampling", the
    /// coverage index.
    fn coverage_index(&self, (first, size): ([u32; 2], Size), (pixel, sample): ([u32; 2], u32)) -> u32 {
        let p = (pixel[0] - first[0]) + (pixel[1] - first[1]) * size[0];
        sample + self.scene.samples * (size[0] * size[1] - 1 - p)
    }

    fn shade(&mut self, test: &Test, shape: &Shape, fragment: ([u32; 2], Size), covered: &[([u32; 2], u32)]) {
        self.shaded += 1;
        let (first, size) = fragment;
        let centre: [f64; 2] = std::array::from_fn(|axis| f64::from(first[axis]) + f64::from(size[axis]) / 2.0);
        let is_odd = (first[0] / size[0] + first[1] / size[1]) % 2 != 0;
        if test.effect == Effect::Discards && is_odd {
            return;
        }
        let mask = covered.iter().fold(0u32, |mask, &sample| mask | 1 << self.coverage_index(fragment, sample));
        let size_word = f64::from(word(size));
        let color = match test.effect {
            Effect::ShowsSamples => [f64::from(mask & 0xffff), f64::from(mask >> 16), size_word, 1.0],
            Effect::HasAlpha => [centre[0], centre[1], 1.0, centre[0] / 64.0],
            _ => [centre[0], centre[1], size_word, f64::from(size[0] * 16 + size[1])],
        };
        // As many samples of each pixel as alpha's share.
        let alpha = if test.draw.alpha_to_coverage { color[3].clamp(0.0, 1.0) } else { 1.0 };
        let shown = (alpha * f64::from(self.scene.samples) + 0.5) as u32;
        for &(pixel, sample) in covered {
            let is_cut = match test.effect {
                Effect::CutsSamples(mask) => mask >> self.coverage_index(fragment, (pixel, sample)) & 1 == 0,
                _ => false,
            };
            let x = place(pixel, sample, self.scene.samples)[0] as f64 / UNITS as f64;
            let depth = match test.effect {
                Effect::WritesDepth => centre[0] / 64.0,
                _ => shape.depth[0] + shape.depth[1] * x,
            };
            if !is_cut && sample < shown {
                self.put(test, (pixel, sample), depth, color);
            }
        }
    }

    fn put(&mut self, test: &Test, (pixel, sample): ([u32; 2], u32), depth: f64, color: [f64; 4]) {
        let index = ((pixel[1] * self.scene.size[0] + pixel[0]) * self.scene.samples + sample) as usize;
        if test.draw.depth == vk::CompareOp::LESS && depth >= self.depths[index] {
            return;
        }
        self.depths[index] = depth;
        if let Some(passed) = self.passed.last_mut() {
            *passed += 1;
        }
        let old = if test.draw.adds { self.colors[index] } else { [0.0; 4] };
        self.colors[index] = std::array::from_fn(|part| old[part] + color[part]);
    }

    /// Returns the pixels: exact averages of their samples.
    pub fn pixels(&self) -> Vec<[f32; 4]> {
        let samples = self.scene.samples as usize;
        let average = |colors: &[[f64; 4]]| -> [f32; 4] {
            std::array::from_fn(|part| (colors.iter().map(|color| color[part]).sum::<f64>() / samples as f64) as f32)
        };
        self.colors.chunks(samples).map(average).collect()
    }
}
