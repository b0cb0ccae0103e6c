//! Joint bounds of the vertices of a block of primitives, which the look-ahead tests before it
//! tests any primitive.
//!
//! Bounds are computed sixteen vertices at a time from the outputs of the position kernel. Depths
//! of fragments stay between those of corners (`Rules::depths_within_corners`), so no part of the
//! block is nearer than its nearest vertex.
//!
//! Source: DESIGN 3.3, 3.2.

use vitric_base::simd::{WAVE, kernel};

use super::kernel::outside;
use super::triangles::Pixels;
use crate::hiz::DepthRange;
use crate::raster::{SUBPIXEL_BITS, snap};

/// Bounds of a group of primitives.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Extent {
    /// Wholly outside of the view volume or of a clip or cull distance.
    Outside,
    /// Unknown: some primitives cross the view volume, or nothing is known.
    #[default]
    Anywhere,
    /// Bounds in pixels, and range of depths in the window, which are not clamped.
    Within(Pixels, DepthRange),
}

/// Minimum and maximum of vertices' x, y and depth, and the `outside` bits of any and of all
/// vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
struct VertexBounds {
    low: [f32; 3],
    high: [f32; 3],
    any: u32,
    all: u32,
    /// True if any coordinate is NaN.
    has_nan: bool,
}

impl Extent {
    /// Computes the bounds of vertices from their x, y, depth, and `outside` bits.
    pub(super) fn of(vertices: [&[u32]; 4]) -> Self {
        let VertexBounds { low, high, any, all, has_nan } = sum(vertices);
        if all & outside::REJECTED != 0 {
            return Self::Outside;
        }
        if any & (outside::CLIPPED | 1 << outside::NAN) != 0 || has_nan {
            return Self::Anywhere;
        }
        let pixel = |place: f32| (snap(place) >> SUBPIXEL_BITS).clamp(i16::MIN.into(), i16::MAX.into());
        let end = |place: f32| (pixel(place) + 1).min(i16::MAX.into());
        let pixels = [pixel(low[0]), pixel(low[1]), end(high[0]), end(high[1])].map(|bound| bound as i16);
        Self::Within(pixels, DepthRange { min: low[2], max: high[2] })
    }
}

/// Minimum and maximum of floats.
#[derive(Clone, Copy)]
struct FloatBounds {
    low: f32,
    high: f32,
    /// True if any of the floats is NaN.
    has_nan: bool,
}

/// Returns the bounds of floats. Lanes are separate arrays, which fit in registers.
#[inline(always)]
fn bounds(words: &[u32]) -> FloatBounds {
    let (mut low, mut high, mut odd) = ([f32::INFINITY; WAVE], [f32::NEG_INFINITY; WAVE], [0u32; WAVE]);
    let (chunks, rest) = words.as_chunks::<WAVE>();
    for chunk in chunks {
        for lane in 0..WAVE {
            let place = f32::from_bits(chunk[lane]);
            low[lane] = if place < low[lane] { place } else { low[lane] };
            high[lane] = if place > high[lane] { place } else { high[lane] };
            odd[lane] |= u32::from(place.is_nan());
        }
    }
    for (lane, &word) in rest.iter().enumerate() {
        let place = f32::from_bits(word);
        low[lane] = if place < low[lane] { place } else { low[lane] };
        high[lane] = if place > high[lane] { place } else { high[lane] };
        odd[lane] |= u32::from(place.is_nan());
    }
    let (mut least, mut greatest, mut any) = (low[0], high[0], odd[0]);
    for lane in 1..WAVE {
        least = least.min(low[lane]);
        greatest = greatest.max(high[lane]);
        any |= odd[lane];
    }
    FloatBounds { low: least, high: greatest, has_nan: any != 0 }
}

#[inline(always)]
fn sum_lanes(vertices: [&[u32]; 4]) -> VertexBounds {
    let [x, y, z, outside] = vertices;
    let axes = [bounds(x), bounds(y), bounds(z)];
    let (mut any, mut all) = (0, u32::MAX);
    for &outside in outside {
        any |= outside;
        all &= outside;
    }
    let has_nan = axes[0].has_nan | axes[1].has_nan | axes[2].has_nan;
    VertexBounds { low: axes.map(|axis| axis.low), high: axes.map(|axis| axis.high), any, all, has_nan }
}

#[inline(always)]
fn outside_lanes(outside: &[u32]) -> bool {
    outside.iter().fold(u32::MAX, |all, outside| all & outside) & outside::REJECTED != 0
}

kernel!(
    /// Returns true if all vertices lie outside of one common plane, given their `outside` bits.
    pub is_outside, outside_lanes, (outside: &[u32]) -> bool
);

kernel!(
    /// Summarizes vertices, at least one.
    sum, sum_lanes, (vertices: [&[u32]; 4]) -> VertexBounds
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(vertices: &[([f32; 3], u32)]) -> Extent {
        let words = [0, 1, 2].map(|axis: usize| vertices.iter().map(|(place, _)| place[axis].to_bits()).collect());
        let outside: Vec<u32> = vertices.iter().map(|(_, outside)| *outside).collect();
        let [x, y, z]: [Vec<u32>; 3] = words;
        Extent::of([&x, &y, &z, &outside])
    }

    #[test]
    fn vertices_outside_of_one_plane_are_outside_together() {
        let (left, right, clip) = (1 << outside::PLANE, 2 << outside::PLANE, 1 << outside::CLIP);
        let place = [1.0, 2.0, 0.5];
        assert_eq!(of(&[(place, left | clip), (place, left)]), Extent::Outside);
        assert_eq!(of(&[(place, clip), (place, clip | right)]), Extent::Outside);
        assert_eq!(of(&[(place, left), (place, right)]), Extent::Anywhere, "they cross two planes");
        assert_eq!(of(&[(place, 0), (place, right)]), Extent::Anywhere);
        assert_eq!(of(&[(place, 0), (place, 1 << outside::NAN)]), Extent::Anywhere);
        assert_eq!(of(&[(place, 0), ([1.0, f32::NAN, 0.5], 0)]), Extent::Anywhere);
        let cull = 1 << outside::CULL;
        assert_eq!(of(&[(place, cull); 17]), Extent::Outside);
        assert_eq!(of(&[(place, 0), (place, cull)]), Extent::Within([1, 2, 2, 3], DepthRange::of(0.5)));
    }

    proptest! {
        /// Every vertex lies in the extent, and the extent is tight.
        #[test]
        fn extents_are_those_of_their_vertices(
            vertices in prop::collection::vec((-300.0f32..300.0, -9.0f32..9.0, -1.0f32..2.0), 1..90),
        ) {
            let vertices: Vec<_> = vertices.into_iter().map(|(x, y, z)| ([x, y, z], 0)).collect();
            let Extent::Within(pixels, DepthRange { min: near, max: far }) = of(&vertices) else { panic!("all lie inside") };
            let all = |axis: usize| vertices.iter().map(move |(place, _)| place[axis]);
            let least = |axis: usize| all(axis).fold(f32::INFINITY, f32::min);
            let most = |axis: usize| all(axis).fold(f32::NEG_INFINITY, f32::max);
            let pixel = |place: f32| (f64::from(place) * 256.0).round_ties_even().div_euclid(256.0) as i16;
            prop_assert_eq!(pixels, [pixel(least(0)), pixel(least(1)), pixel(most(0)) + 1, pixel(most(1)) + 1]);
            prop_assert_eq!([near, far], [least(2), most(2)]);
        }
    }
}
