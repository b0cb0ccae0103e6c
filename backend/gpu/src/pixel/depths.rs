//! Depths of a primitive at places of pixels, each operation rounded as everywhere.

use crate::raster::{Shape, UNITS};

/// A sample's place in its pixel, 0 to 1, of the locations of all.
pub(super) fn sample_place(locations: &[[i64; 2]], sample: u32) -> [f32; 2] {
    locations[sample as usize % locations.len()].map(|units| units as f32 / UNITS as f32)
}

/// Depth of a primitive at an offset from its reference point.
#[inline(always)]
pub(super) fn depth_at(shape: &Shape, x: f32, y: f32) -> f32 {
    depth_in_range(shape, shape.depth.at(x, y))
}

/// A depth as it is tested and stored, also one that a program wrote. Source: Vulkan specification, "Depth Clamping and Range
/// Adjustment".
#[inline(always)]
pub(super) fn depth_in_range(shape: &Shape, depth: f32) -> f32 {
    let [near, far] = shape.depth_range;
    // As generated code has it, also of NaN and of zeros with either sign.
    let depth = if near < depth { depth } else { near };
    if depth < far { depth } else { far }
}

/// Depths at a place in each pixel of the quad at (`x`, `y`).
pub(super) fn depths_of_quad(shape: &Shape, [x, y]: [u32; 2], place: [f32; 2]) -> [f32; 4] {
    let along = |first: u32, axis: usize| [first, first + 1].map(|at| at as f32 - shape.reference[axis] + place[axis]);
    let ([left, right], [upper, lower]) = (along(x, 0), along(y, 1));
    [[left, upper], [right, upper], [left, lower], [right, lower]].map(|[x, y]| depth_at(shape, x, y))
}
