//! Bounds of the primitives that the look-ahead tests against Hi-Z: of single primitives, and
//! joint ones of blocks and chunks.
//!
//! Depths of fragments stay between those of the corners (`Rules::depths_within_corners`), so no
//! part of a primitive is nearer than its nearest corner. Depths are kept as nearness: smaller
//! values are nearer, in either direction of the comparison.
//!
//! Source: DESIGN 3.3, 3.2.

use vitric_base::simd::kernel;

use super::kernel::outside;
use super::triangles::Pixels;

/// Bounds of primitives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Pixels that the primitives may cover: `[x0, y0, x1, y1]`, exclusive at the end, saturated.
    pub pixels: Pixels,
    /// Least nearness of any of their depths, which are not clamped. It is
    /// [`f32::NEG_INFINITY`] if the primitives must not be dropped or if nothing is known.
    pub nearness: f32,
}

impl Default for Extent {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Extent {
    /// Bounds of no primitive.
    pub const NOTHING: Self = Self { pixels: [i16::MAX, i16::MAX, i16::MIN, i16::MIN], nearness: f32::INFINITY };

    /// Bounds of a primitive that may lie anywhere.
    pub const ANYWHERE: Self = Self { pixels: [i16::MIN, i16::MIN, i16::MAX, i16::MAX], nearness: f32::NEG_INFINITY };

    /// Extends the bounds by other bounds.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        let [x0, y0, x1, y1] = self.pixels;
        let [left, top, right, bottom] = other.pixels;
        self.pixels = [x0.min(left), y0.min(top), x1.max(right), y1.max(bottom)];
        self.nearness = self.nearness.min(other.nearness);
    }
}

#[inline(always)]
fn outside_lanes(outside: &[u32]) -> bool {
    outside.iter().fold(u32::MAX, |all, outside| all & outside) & outside::REJECTED != 0
}

kernel!(
    /// Returns true if all vertices lie outside of one common plane, given their `outside` bits.
    pub is_outside, outside_lanes, (outside: &[u32]) -> bool
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joint_bounds_hold_all_of_them() {
        let mut all = Extent::NOTHING;
        all.join(&Extent { pixels: [3, -4, 9, 5], nearness: 0.5 });
        assert_eq!(all, Extent { pixels: [3, -4, 9, 5], nearness: 0.5 });
        all.join(&Extent { pixels: [5, -8, 10, 2], nearness: 0.75 });
        assert_eq!(all, Extent { pixels: [3, -8, 10, 5], nearness: 0.5 });
        all.join(&Extent::ANYWHERE);
        assert_eq!(all, Extent::ANYWHERE);
    }

    #[test]
    fn vertices_beyond_one_plane_are_outside() {
        let [left, right] = [1 << outside::PLANE, 2 << outside::PLANE];
        assert!(is_outside(&[left; 17]) && is_outside(&[left, left | right]));
        assert!(!is_outside(&[left, right]) && !is_outside(&[left, 0]) && !is_outside(&[0; 3]));
    }
}
