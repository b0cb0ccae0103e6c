//! Groups: 8x8 pixels at once, by one evaluation of the same edge equations.
//!
//! A group's pixels are bits of a 64-bit word: bit `8 * y + x`.

use super::{Triangle, UNITS};
use crate::shader::runtime::kernels::kernel;

/// Pixels along a group's side.
pub const SIDE: usize = 8;

/// Values of three edges at the first pixel's centre, less what an edge needs to cover a point, and their changes from pixel to
/// pixel in x and y.
type Steps = [[i64; 3]; 3];

#[inline(always)]
fn covered_pixels([start, dx, dy]: &Steps) -> u64 {
    let mut rows = [0u64; SIDE];
    for (y, row) in rows.iter_mut().enumerate() {
        let mut outside = [0i64; SIDE];
        for edge in 0..3 {
            let first = start[edge] + dy[edge] * y as i64;
            for (x, outside) in outside.iter_mut().enumerate() {
                // The sign is all that counts.
                *outside |= first + dx[edge] * x as i64;
            }
        }
        for (x, outside) in outside.iter().enumerate() {
            *row |= u64::from(*outside >= 0) << x;
        }
    }
    rows.iter().enumerate().fold(0, |mask, (y, row)| mask | row << (SIDE * y))
}

kernel!(
    /// The pixels at whose centres no edge is negative.
    covered, covered_wide, covered_pixels, (steps: &Steps) -> u64
);

impl Triangle {
    /// The pixels of the group at pixel (`x`, `y`) whose centres are covered: the standard criterion, as
    /// [`Triangle::covers_point`] has it.
    pub fn covers_group(&self, x: i64, y: i64) -> u64 {
        let centre = |pixel: i64| pixel * UNITS + UNITS / 2;
        let start = self.edges.map(|edge| edge.at(centre(x), centre(y)) - edge.bias);
        covered(&[start, self.edges.map(|edge| edge.a * UNITS), self.edges.map(|edge| edge.b * UNITS)])
    }
}

/// The pixels of the group at (`x`, `y`) that lie in the window `[x0, y0, x1, y1]`, the last ones not included.
pub fn pixels_inside(x: i64, y: i64, window: [i64; 4]) -> u64 {
    let span = |low: i64, high: i64| {
        let (low, high) = (low.clamp(0, SIDE as i64), high.clamp(0, SIDE as i64));
        if low < high { (0xffu64 >> (8 - (high - low))) << low } else { 0 }
    };
    let (columns, rows) = (span(window[0] - x, window[2] - x), span(window[1] - y, window[3] - y));
    (0..SIDE).filter(|row| rows >> row & 1 != 0).fold(0, |mask, row| mask | columns << (SIDE * row))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_are_covered_like_their_pixels(
            v in prop::array::uniform3([-40 * UNITS..60 * UNITS, -40 * UNITS..60 * UNITS]), x in -3i64..3, y in -3i64..3,
            window in [-30i64..30, -30i64..30, -30i64..30, -30i64..30],
        ) {
            let Some(triangle) = Triangle::new(v) else { return Ok(()) };
            let (x, y) = (x * 8, y * 8);
            let (mask, inside) = (triangle.covers_group(x, y), pixels_inside(x, y, window));
            for bit in 0..64i64 {
                let (px, py) = (x + bit % 8, y + bit / 8);
                let covers = triangle.covers_point(px * UNITS + UNITS / 2, py * UNITS + UNITS / 2);
                prop_assert_eq!(mask >> bit & 1 != 0, covers, "({}, {})", px, py);
                let within = px >= window[0] && px < window[2] && py >= window[1] && py < window[3];
                prop_assert_eq!(inside >> bit & 1 != 0, within, "({}, {})", px, py);
            }
        }
    }
}
