//! Coverage of groups: 8x8 pixels by one evaluation of the edge equations.
//!
//! The pixels of a group are bits of a 64-bit word, in the order in which surfaces store lines.
//! Each 16 bits are two rows, and the
//! lanes of a wave. Each four bits are a 2x2 quad, in the order (0,0) (1,0) (0,1) (1,1).

use vitric_base::simd::{WAVE, highest_bits, kernel};

use super::{Criterion, SUBPIXEL_BITS, Triangle, UNITS};

/// Pixels along a group's side.
pub const SIDE: usize = 8;

/// Lanes of a wave that hold the upper of its two rows of pixels.
static UPPER_LANES: [u16; 256] = {
    let mut lanes = [0; 256];
    let mut row = 0;
    while row < 256 {
        let mut x = 0;
        while x < SIDE {
            lanes[row] |= ((row >> x & 1) << (x / 2 * 4 + x % 2)) as u16;
            x += 1;
        }
        row += 1;
    }
    lanes
};

/// Returns the bits in a group's word of the pixels of row `y`, given as bits of a byte.
#[inline(always)]
fn pixels_of_row(y: usize, row: usize) -> u64 {
    u64::from(UPPER_LANES[row & 0xff]) << (y / 2 * 16 + y % 2 * 2)
}

/// Returns the place in its group of the pixel of a bit: column and row.
#[inline]
pub const fn pixel_of_bit(bit: u32) -> [u32; 2] {
    [bit >> 1 & 6 | bit & 1, bit >> 3 & 6 | bit >> 1 & 1]
}

/// Returns the bits of a mask of 8x8 cells in the order of rows: bit `y * 8 + x` for the cell at
/// (`x`, `y`).
#[inline]
pub fn by_rows(mask: u64) -> u64 {
    // From its lowest bit, the number of a cell's bit has the bits x0 y0 x1 x2. They become
    // x0 x1 y0 x2, then x0 x1 x2 y0.
    let swapped = |mask: u64, shift: u32, low: u64| {
        let different = (mask >> shift ^ mask) & low;
        mask ^ different ^ different << shift
    };
    swapped(swapped(mask, 2, 0x0c0c_0c0c_0c0c_0c0c), 4, 0x00f0_00f0_00f0_00f0)
}

/// Returns the pixels of a 4x4 block of a group in the order of a wave's lanes, given the block's
/// number along each axis.
#[inline]
pub fn block_of_group(pixels: u64, [x, y]: [u32; 2]) -> u16 {
    let [upper, lower] = [0, 16].map(|strip| (pixels >> (32 * y + strip + 8 * x)) as u16 & 0xff);
    upper | lower << 8
}

/// Returns the group of a 4x4 block as its first pixel, and the block's pixels as pixels of the
/// group. `pixels` are in the order of a wave's lanes. `block` is the block's first pixel.
#[inline]
pub fn group_of_block([x, y]: [u32; 2], pixels: u16) -> ([u32; 2], u64) {
    let first = 8 * (y & 4) + 2 * (x & 4);
    let [upper, lower] = [pixels & 0xff, pixels >> 8].map(u64::from);
    ([x & !7, y & !7], (upper | lower << 16) << first)
}

/// Returns the first pixel of a pixel's group, and the number of the pixel's bit.
#[inline]
pub fn group_of_pixel([x, y]: [u32; 2]) -> ([u32; 2], u32) {
    ([x & !7, y & !7], (y & 6) << 3 | (x & 6) << 1 | (y & 1) << 1 | x & 1)
}

/// Values of three edges at the sample of a group's first pixel, less their bias, and their
/// changes from pixel to pixel in x and y.
type Steps = [[i32; 3]; 3];

#[inline(always)]
fn covered_pixels([start, dx, dy]: &Steps) -> u64 {
    let mut mask = 0;
    for strip in 0..4 {
        let mut outside = [0; WAVE];
        for edge in 0..3 {
            let first = start[edge] + dy[edge] * (strip * 2);
            for (lane, outside) in outside.iter_mut().enumerate() {
                let (x, y) = (lane as i32 / 4 * 2 + lane as i32 % 2, lane as i32 / 2 % 2);
                // Only the sign counts.
                *outside |= (first + dx[edge] * x + dy[edge] * y) as u32;
            }
        }
        mask |= u64::from(!highest_bits(&outside)) << (strip * 16);
    }
    mask
}

kernel!(
    /// Returns the mask of pixels at whose samples no edge is negative.
    covered, covered_pixels, (steps: &Steps) -> u64
);

/// Greatest length of an edge along an axis after clipping, in units. Seven steps along both axes
/// change a value by less than [`MAX_EDGE_VALUE`].
const MAX_EDGE: i64 = 1 << 26;

/// Absolute value beyond which an edge has the same sign in all pixels of a group.
const MAX_EDGE_VALUE: i64 = 1 << 30;

impl Triangle {
    /// Returns the mask of pixels of the group at pixel (`x`, `y`) whose samples are covered, as
    /// [`Triangle::covers_point`] decides. The
    /// place of the sample in its pixel is in units.
    pub fn covers_group(&self, x: i64, y: i64, [at_x, at_y]: [i64; 2]) -> u64 {
        self.covers_from(self.edges.map(|edge| edge.at(x * UNITS + at_x, y * UNITS + at_y) - edge.bias), 0)
    }

    /// Returns the mask of pixels of the group at pixel (`x`, `y`) that are covered, as
    /// [`Triangle::covers_cell`] decides.
    pub fn covers_group_by(&self, x: i64, y: i64, criterion: Criterion) -> u64 {
        self.covers_cells([x, y], 0, criterion)
    }

    /// Returns the mask of cells of a square of 8x8 cells that are covered, as
    /// [`Triangle::covers_cell`] decides. Cells have `2^side_log2` pixels along a side. The square
    /// begins at a pixel of which both coordinates are multiples of that.
    pub fn covers_cells(&self, [x, y]: [i64; 2], side_log2: u32, criterion: Criterion) -> u64 {
        let (left, top, size) = (x * UNITS, y * UNITS, UNITS << side_log2);
        let covers = |values: [i64; 3]| self.covers_from(values, side_log2);
        match criterion {
            Criterion::Centre => covers(self.edges.map(|edge| edge.at(left + size / 2, top + size / 2) - edge.bias)),
            Criterion::Inner => covers(self.edges.map(|edge| edge.smallest(left, top, size))),
            Criterion::Interior => covers(self.edges.map(|edge| edge.smallest(left, top, size) - 1)),
            Criterion::Conservative => {
                let first = |axis: usize| self.min[axis].div_euclid(size);
                let end = |axis: usize| (self.max[axis] + size - 1).div_euclid(size);
                let bounds = [first(0), first(1), end(0), end(1)];
                covers(self.edges.map(|edge| edge.largest(left, top, size) - 1))
                    & pixels_inside(x >> side_log2, y >> side_log2, bounds)
            }
            Criterion::Touching => {
                let first = |axis: usize| (self.min[axis] - 1).div_euclid(size);
                let end = |axis: usize| self.max[axis].div_euclid(size) + 1;
                let bounds = [first(0), first(1), end(0), end(1)];
                covers(self.edges.map(|edge| edge.largest(left, top, size)))
                    & pixels_inside(x >> side_log2, y >> side_log2, bounds)
            }
        }
    }

    /// Returns the mask of cells at which no edge is negative, given the values of the edges at
    /// the first of 8x8 cells of `2^side_log2` pixels along a side.
    fn covers_from(&self, start: [i64; 3], side_log2: u32) -> u64 {
        // Values change by multiples of a cell's side, so lower bits do not change their signs.
        let bits = SUBPIXEL_BITS + side_log2;
        let start = start.map(|value| (value >> bits).clamp(-MAX_EDGE_VALUE, MAX_EDGE_VALUE) as i32);
        let step = |factor: i64| factor.clamp(-MAX_EDGE, MAX_EDGE) as i32;
        covered(&[start, self.edges.map(|edge| step(edge.a)), self.edges.map(|edge| step(edge.b))])
    }
}

/// Returns the mask of pixels of the group at (`x`, `y`) that lie in the window `[x0, y0, x1, y1]`
/// with exclusive ends.
pub fn pixels_inside(x: i64, y: i64, window: [i64; 4]) -> u64 {
    let span = |low: i64, high: i64| {
        let (low, high) = (low.clamp(0, SIDE as i64), high.clamp(0, SIDE as i64));
        if low < high { (0xffu64 >> (8 - (high - low))) << low } else { 0 }
    };
    let (columns, rows) = (span(window[0] - x, window[2] - x), span(window[1] - y, window[3] - y));
    if columns & rows == 0xff {
        return u64::MAX;
    }
    (0..SIDE).filter(|row| rows >> row & 1 != 0).fold(0, |mask, row| mask | pixels_of_row(row, columns as usize))
}

/// Returns true if a triangle whose pixels lie in a rectangle may cover a group. A rectangle
/// inside of a triangle takes at most half of
/// the triangle, which takes at most half of its bounds. Bounds may reach half a pixel beyond.
#[inline]
pub fn may_cover_group([x0, y0, x1, y1]: [i64; 4]) -> bool {
    let (width, height, side) = (x1 - x0, y1 - y0, SIDE as i64);
    width >= side && height >= side && (width + 1) * (height + 1) >= 4 * side * side
}

impl Triangle {
    /// Returns true if the triangle's area is large enough to cover a group, which takes at most
    /// half of it. Slivers have large bounds.
    /// The sum of the three edges is twice the area everywhere.
    #[inline]
    pub fn may_cover_group(&self) -> bool {
        let side = SIDE as i64 * UNITS;
        self.edges.iter().map(|edge| edge.c).sum::<i64>() >= 4 * side * side
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CRITERIA: [Criterion; 5] =
        [Criterion::Conservative, Criterion::Touching, Criterion::Inner, Criterion::Interior, Criterion::Centre];

    #[test]
    fn bits_name_pixels() {
        for bit in 0..64 {
            let [x, y] = pixel_of_bit(bit);
            assert_eq!(group_of_pixel([40 + x, 16 + y]), ([40, 16], bit));
            assert_eq!(by_rows(1 << bit), 1 << (y * 8 + x));
        }
    }

    #[test]
    fn blocks_have_the_pixels_of_their_group() {
        for bit in 0..64 {
            let [x, y] = pixel_of_bit(bit);
            for block in [[0, 0], [1, 0], [0, 1], [1, 1]] {
                let pixels = block_of_group(1 << bit, block);
                assert_eq!(pixels != 0, block == [x / 4, y / 4]);
                // Bits 0 and 2 of a lane's number are x, bits 1 and 3 are y.
                let lane = x & 1 | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2;
                assert!(pixels == 0 || pixels == 1 << lane);
            }
        }
    }

    proptest! {
        #[test]
        fn small_triangles_cover_no_group(v in prop::array::uniform3([0..40 * UNITS, 0..40 * UNITS])) {
            let Some(triangle) = Triangle::new(v) else { return Ok(()) };
            let mut groups = (0..5).flat_map(|y| (0..5).map(move |x| [x * 8 * UNITS, y * 8 * UNITS]));
            let covers = groups.any(|[x, y]| triangle.covers_cell(x, y, 8 * UNITS, Criterion::Inner));
            let may = may_cover_group(triangle.centre_bounds()) && may_cover_group(triangle.pixel_bounds());
            prop_assert!(!covers || may && triangle.may_cover_group());
        }

        #[test]
        fn cells_of_all_sizes_are_covered_as_defined(
            v in prop::array::uniform3([-400 * UNITS..600 * UNITS, -400 * UNITS..600 * UNITS]),
            place in [-8i64..8, -8i64..8], side_log2 in 0u32..7,
        ) {
            let Some(triangle) = Triangle::new(v) else { return Ok(()) };
            let place = place.map(|cells| cells << side_log2);
            for criterion in CRITERIA {
                let mask = triangle.covers_cells(place, side_log2, criterion);
                for bit in 0..64 {
                    let cell = pixel_of_bit(bit).map(i64::from);
                    let [x, y] = [0, 1].map(|axis: usize| (place[axis] + (cell[axis] << side_log2)) * UNITS);
                    let covers = triangle.covers_cell(x, y, UNITS << side_log2, criterion);
                    prop_assert_eq!(mask >> bit & 1 != 0, covers, "({}, {}), {:?}", x, y, criterion);
                }
            }
        }

        #[test]
        fn groups_are_covered_like_their_pixels(
            v in prop::array::uniform3([-40 * UNITS..60 * UNITS, -40 * UNITS..60 * UNITS]), x in -3i64..3, y in -3i64..3,
            window in [-30i64..30, -30i64..30, -30i64..30, -30i64..30], at in [0i64..256, 0i64..256],
        ) {
            let Some(triangle) = Triangle::new(v) else { return Ok(()) };
            let (x, y) = (x * 8, y * 8);
            let (mask, inside) = (triangle.covers_group(x, y, at), pixels_inside(x, y, window));
            let by_criterion = CRITERIA.map(|criterion| triangle.covers_group_by(x, y, criterion));
            for bit in 0..64 {
                let [px, py] = pixel_of_bit(bit).map(i64::from);
                let (px, py) = (x + px, y + py);
                let cell = |criterion| triangle.covers_cell(px * UNITS, py * UNITS, UNITS, criterion);
                for (criterion, mask) in CRITERIA.into_iter().zip(by_criterion) {
                    prop_assert_eq!(mask >> bit & 1 != 0, cell(criterion), "({}, {}), {:?}", px, py, criterion);
                }
                let covers = triangle.covers_point(px * UNITS + at[0], py * UNITS + at[1]);
                prop_assert_eq!(mask >> bit & 1 != 0, covers, "({}, {})", px, py);
                let within = px >= window[0] && px < window[2] && py >= window[1] && py < window[3];
                prop_assert_eq!(inside >> bit & 1 != 0, within, "({}, {})", px, py);
            }
        }
    }
}
