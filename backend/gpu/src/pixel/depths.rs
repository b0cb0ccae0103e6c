//! Depths of a primitive at sample locations.
//!
//! Every path rounds each operation alike, so that equal depths compare equal.

use crate::raster::{Shape, UNITS};

/// Returns the location of a sample in its pixel, from 0 to 1. `locations` are those of all
/// samples, in [`UNITS`].
pub(super) fn sample_place(locations: &[[i64; 2]], sample: u32) -> [f32; 2] {
    locations[sample as usize % locations.len()].map(|units| units as f32 / UNITS as f32)
}

/// Returns the depth of a primitive at an offset from its reference point, in pixels.
#[inline(always)]
pub(super) fn depth_at(shape: &Shape, x: f32, y: f32) -> f32 {
    depth_in_range(shape, shape.depth.at(x, y))
}

/// Clamps a depth to the depth range before it is tested and stored.
///
/// This includes depths that a fragment program wrote. Source: Vulkan specification, "Depth
/// Clamping and Range Adjustment".
#[inline(always)]
pub(super) fn depth_in_range(shape: &Shape, depth: f32) -> f32 {
    let [near, far] = shape.depth_range;
    // These comparisons match generated code, also for NaN and for signed zeros.
    let depth = if near < depth { depth } else { near };
    if depth < far { depth } else { far }
}

/// Returns the depths at location `place` in each pixel of the quad whose first pixel is (`x`,
/// `y`).
pub(super) fn depths_of_quad(shape: &Shape, [x, y]: [u32; 2], place: [f32; 2]) -> [f32; 4] {
    let along = |first: u32, axis: usize| [first, first + 1].map(|at| at as f32 - shape.reference[axis] + place[axis]);
    let ([left, right], [upper, lower]) = (along(x, 0), along(y, 1));
    [[left, upper], [right, upper], [left, lower], [right, lower]].map(|[x, y]| depth_at(shape, x, y))
}
