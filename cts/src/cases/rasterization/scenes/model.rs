//! The model of scenes: one triangle after the other, sample by sample.

use ash::vk;

use super::{Layer, Program, Scene, Triangle, UNITS, VIEW, WIDTH, turned};
use crate::cases::support::conditions::holds;

/// Depths that differ by less may be in either order.
const NEAR: f64 = 1e-4;

/// A count, and by how much it may be larger.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    least: u64,
    unsure: u64,
}

impl Count {
    fn add(&mut self, sure: bool) {
        *if sure { &mut self.least } else { &mut self.unsure } += 1;
    }

    pub(super) fn holds(self, value: u64) -> bool {
        (self.least..=self.least + self.unsure).contains(&value)
    }
}

/// Contents of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) color: [u8; 4],
    pub(super) depth: f64,
    /// The depth is not rounded.
    pub(super) exact: bool,
    /// Depths were too close to tell which colour the sample holds.
    pub(super) unsure: bool,
    /// Depths were too close to tell which depth the sample holds.
    pub(super) depth_unsure: bool,
}

/// Effects of a draw in the model.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effects {
    pub(super) passed: Count,
    pub(super) runs: Count,
}

pub(super) struct Model<'a> {
    pub(super) scene: &'a Scene,
    pub(super) samples: Vec<Sample>,
}

/// Returns the standard locations of samples in a pixel, in sixteenths.
fn locations(samples: u32) -> &'static [[i64; 2]] {
    match samples {
        2 => &[[12, 12], [4, 4]],
        4 => &[[6, 2], [14, 6], [2, 10], [10, 14]],
        8 => &[[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]],
        16 => &[
            [9, 9],
            [7, 5],
            [5, 10],
            [12, 7],
            [3, 6],
            [10, 13],
            [13, 11],
            [11, 3],
            [6, 14],
            [8, 1],
            [4, 2],
            [2, 12],
            [0, 8],
            [15, 4],
            [14, 15],
            [1, 0],
        ],
        _ => &[[8, 8]],
    }
}

fn turn([a, b, c]: [[i64; 2]; 3]) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

impl Triangle {
    /// Returns true if a point lies in the triangle, by the top-left rule.
    fn covers(&self, point: [i64; 2]) -> bool {
        let [a, b, c] = self.corners;
        let area = turn(self.corners);
        let clockwise = if area > 0 { [a, b, c] } else { [a, c, b] };
        area != 0
            && (0..3).all(|edge| {
                let (from, to) = (clockwise[edge], clockwise[(edge + 1) % 3]);
                let is_top_left = to[1] < from[1] || to[1] == from[1] && to[0] > from[0];
                let side = turn([from, to, point]);
                side > 0 || side == 0 && is_top_left
            })
    }

    /// Returns true if a corner lies so far outside of the view volume that clipping takes place.
    fn is_far(&self) -> bool {
        let middle = (VIEW as i64 * UNITS) / 2;
        self.corners.iter().flatten().any(|&place| (place - middle).abs() > middle)
    }

    /// Returns true if it has one depth, which is a multiple of 1/64.
    fn is_flat(&self) -> bool {
        self.depths.iter().all(|&depth| depth == self.depths[0])
    }

    fn depth_at(&self, point: [i64; 2]) -> f64 {
        let [a, b, c] = self.corners;
        let area = turn(self.corners) as f64;
        let weights = [turn([point, b, c]), turn([a, point, c]), turn([a, b, point])];
        let depth: f64 = weights.iter().zip(self.depths).map(|(&weight, depth)| weight as f64 * f64::from(depth)).sum();
        depth / area
    }
}

impl Model<'_> {
    pub(super) fn layer(&mut self, layer: &Layer) -> Effects {
        let mut effects = Effects::default();
        for triangle in &layer.triangles {
            let clockwise = turn(triangle.corners) > 0;
            let front = clockwise == (layer.front == vk::FrontFace::CLOCKWISE);
            if layer.cull == vk::CullModeFlags::BACK && !front {
                continue;
            }
            // Nothing lies outside of the view volume.
            let [x0, y0, x1, y1] = layer.scissor.map(|edge| edge.min(VIEW as u32));
            let bound = |axis: usize| triangle.corners.map(|corner| corner[axis].div_euclid(UNITS));
            let (xs, ys) = (bound(0), bound(1));
            let within = |values: [i64; 3], low: u32, high: u32| {
                let least = values.iter().fold(i64::MAX, |least, &value| least.min(value));
                let most = values.iter().fold(i64::MIN, |most, &value| most.max(value));
                (least.max(low.into())..(most + 1).min(high.into())).map(|pixel| pixel as u32)
            };
            for y in within(ys, y0, y1) {
                for x in within(xs, x0, x1) {
                    self.pixel(layer, triangle, [x, y], &mut effects);
                }
            }
        }
        effects
    }

    fn pixel(&mut self, layer: &Layer, triangle: &Triangle, [x, y]: [u32; 2], effects: &mut Effects) {
        let corner = [x, y].map(|pixel| i64::from(pixel) * UNITS);
        let places =
            locations(self.scene.samples).iter().map(|at| [0, 1].map(|axis| corner[axis] + at[axis] * UNITS / 16));
        let covered: Vec<(usize, [i64; 2])> = places.enumerate().filter(|(_, place)| triangle.covers(*place)).collect();
        if covered.is_empty() {
            return;
        }
        // Discarded fragments ran, too.
        let discarded = layer.program.discards() && (x + y) % 2 == 1;
        let is_late = layer.program != Program::HolesEarly;
        let (mut runs, mut may_run) = (layer.program == Program::Late, false);
        let own = layer.program.own_depth([x, y]);
        let by_alpha =
            if layer.alpha_to_coverage { alpha_mask(triangle.color[3], self.scene.samples) } else { u32::MAX };
        let taken = if is_late { layer.program.mask([x, y]) & by_alpha } else { u32::MAX };
        let mask = layer.samples & taken;
        let kept = |&(number, _): &(usize, _)| (!discarded || !is_late) && mask >> number & 1 != 0;
        for (number, place) in covered.into_iter().filter(kept) {
            let sample = &mut self.samples[((y * WIDTH + x) * self.scene.samples) as usize + number];
            let (depth, stored) = (own.unwrap_or_else(|| triangle.depth_at(place)), sample.depth);
            let exact = own.is_some() || triangle.is_flat();
            let both_exact = exact && sample.exact;
            let sure = !sample.depth_unsure && (!layer.test || is_sure(layer.op, [depth, stored], both_exact));
            let passes = !layer.test || holds(layer.op, rounded(depth), rounded(stored));
            if !sure {
                (sample.unsure, sample.depth_unsure, may_run) = (true, true, true);
                effects.passed.add(false);
                continue;
            }
            if passes {
                runs = true;
                effects.passed.add(true);
                if !discarded && by_alpha >> number & 1 != 0 {
                    sample.cover(layer, turned(layer.program, triangle.color, number));
                }
                if layer.test && layer.write {
                    (sample.depth, sample.exact) = (depth, exact);
                }
            }
        }
        if runs || may_run {
            effects.runs.add(runs);
            // Clipping may split a triangle, with a pixel's samples in both parts.
            if self.scene.samples > 1 && triangle.is_far() {
                effects.runs.add(false);
            }
        }
    }
}

/// Returns the first samples, as many as alpha's share.
fn alpha_mask(alpha: u8, samples: u32) -> u32 {
    (1 << (f64::from(alpha) / 255.0 * f64::from(samples)).round() as u32) - 1
}

/// Rounds a depth so that equal depths stay equal and slopes nearly equal.
fn rounded(depth: f64) -> i64 {
    (depth * 1e6).round() as i64
}

/// Returns true if the result of a comparison does not depend on the rounding of depths.
fn is_sure(op: vk::CompareOp, [depth, stored]: [f64; 2], exact: bool) -> bool {
    matches!(op, vk::CompareOp::ALWAYS | vk::CompareOp::NEVER) || (depth - stored).abs() > NEAR || exact
}

impl Sample {
    fn cover(&mut self, layer: &Layer, color: [u8; 4]) {
        for (component, stored) in self.color.iter_mut().enumerate().filter(|(bit, _)| layer.mask >> bit & 1 != 0) {
            let source = color[component];
            *stored = match layer.blend {
                None => source,
                Some(vk::BlendOp::ADD) => stored.saturating_add(source),
                Some(vk::BlendOp::MAX) => source.max(*stored),
                _ => source.min(*stored),
            };
        }
    }
}
