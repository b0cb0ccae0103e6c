//! The universal grid, edge equations, and coverage at any resolution.
//!
//! Positions snap once to the grid: 1/256 pixel, y down. A triangle is three edge equations
//! `E(x,y) = Ax + By + C` in grid
//! units, oriented so that the inside is positive. Coverage of a cell of any power-of-two size is
//! an evaluation of the same
//! equations (multi-resolution consistent rasterization, DESIGN 3.4). Bit budget: clipping keeps
//! coordinates within 2^17
//! pixels, 2^25 units; A and B fit 26 bits, products 52, sums 54: `i64` never overflows.

mod group;
mod multisample;
mod rate;
mod shape;
mod tiles;

pub use group::{
    SIDE, block_of_group, by_rows, group_of_block, group_of_pixel, may_cover_group, pixel_of_bit, pixels_inside,
};
pub use multisample::{MultisampleState, SampleLocations, has_all_samples, sample_mask};
pub use rate::{Combiner, DENSITY_TEXEL_SIZES, MAX_COVERAGE, Rate, RateState, TEXEL_SIZES};
pub use shape::{Plane, Shape};
pub use tiles::{Grid, TileRect, within};

/// Fractional bits of the grid: `subPixelPrecisionBits`.
pub const SUBPIXEL_BITS: u32 = 8;
/// Grid units per pixel.
pub const UNITS: i64 = 1 << SUBPIXEL_BITS;
/// Pixels along a tile's side, as a power of two.
pub const TILE_LOG2: u32 = 6;
/// Pixels along a group's side, as a power of two.
pub const GROUP_LOG2: u32 = 3;

/// Greatest absolute coordinate of a position, in units: 2^21 pixels. Viewports of valid programs
/// reach less far, and products of
/// edge equations fit 64 bits.
pub const MAX_COORDINATE: i64 = 1 << 29;

/// Snaps a coordinate in pixels to the grid, to nearest even. Returns units, 0 for NaN.
#[inline]
pub fn snap(pixels: f32) -> i32 {
    // Beside this number doubles are integers, with their low bits last; rounding and conversion
    // are one addition.
    const INTEGERS: f64 = (3u64 << 51) as f64;
    let farthest = MAX_COORDINATE as f64;
    let units = f64::from(pixels) * UNITS as f64;
    let units = if units.is_nan() { 0.0 } else { units };
    let units = if units > -farthest { units } else { -farthest };
    let units = if units < farthest { units } else { farthest };
    (units + INTEGERS).to_bits() as i32
}

/// Maximum number of samples of a pixel.
pub const MAX_SAMPLES: u32 = 16;

/// Returns the standard sample locations of 1, 2, 4, 8 or 16 samples, in units from the pixel's
/// upper left corner.
///
/// Source: Vulkan specification, "Multisampling", standard sample locations, which are multiples
/// of 1/16.
pub fn sample_positions(samples: u32) -> &'static [[i64; 2]] {
    const fn places<const N: usize>(mut sixteenths: [[i64; 2]; N]) -> [[i64; 2]; N] {
        let mut sample = 0;
        while sample < N {
            let [x, y] = sixteenths[sample];
            sixteenths[sample] = [x * (UNITS / 16), y * (UNITS / 16)];
            sample += 1;
        }
        sixteenths
    }
    static ONE: [[i64; 2]; 1] = places([[8, 8]]);
    static TWO: [[i64; 2]; 2] = places([[12, 12], [4, 4]]);
    static FOUR: [[i64; 2]; 4] = places([[6, 2], [14, 6], [2, 10], [10, 14]]);
    static EIGHT: [[i64; 2]; 8] = places([[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]]);
    static SIXTEEN: [[i64; 2]; 16] = places([
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
    ]);
    match samples {
        2 => &TWO,
        4 => &FOUR,
        8 => &EIGHT,
        16 => &SIXTEEN,
        _ => &ONE,
    }
}

/// Evaluation of coverage at several resolutions. Pictures do not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Coverage {
    /// Every sample in the bounds of a primitive is evaluated.
    Flat,
    /// Tiles, groups and blocks are evaluated first, and samples only inside of those that a
    /// primitive touches and does not cover.
    #[default]
    Hierarchical,
}

/// Criterion by which a cell counts as covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Criterion {
    /// The triangle touches the cell with positive area.
    Conservative,
    /// The triangle and the cell have a point in common, if only on their sides.
    Touching,
    /// The triangle covers all of the cell.
    Inner,
    /// The triangle covers all of the cell, and no edge of the triangle touches the cell's sides
    /// or corners.
    Interior,
    /// The triangle covers the cell's centre.
    Centre,
}

impl Criterion {
    /// Returns the criterion that a cell must meet for all its pixels to be covered. `pixels` is
    /// the criterion of pixels, if coverage is not determined by samples.
    pub fn of_full_cells(pixels: Option<Self>) -> Self {
        match pixels {
            Some(Self::Interior) => Self::Interior,
            _ => Self::Inner,
        }
    }
}

/// An edge equation `a * x + b * y + c`, which is not negative inside. `bias` (0 or 1) assigns
/// points on an edge to one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edge {
    a: i64,
    b: i64,
    c: i64,
    bias: i64,
}

impl Edge {
    fn new([x0, y0]: [i64; 2], [x1, y1]: [i64; 2]) -> Self {
        let (dx, dy) = (x1 - x0, y1 - y0);
        // The inside is positive and y points down, so left edges go up and top edges go right.
        let top_left = dy < 0 || (dy == 0 && dx > 0);
        Self { a: -dy, b: dx, c: dy * x0 - dx * y0, bias: i64::from(!top_left) }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.a * x + self.b * y + self.c
    }

    /// Returns the largest value in the cell of side `size` at (x, y).
    fn largest(&self, x: i64, y: i64, size: i64) -> i64 {
        self.at(x, y) + self.a.max(0) * size + self.b.max(0) * size
    }

    /// Returns the smallest value in the cell of side `size` at (x, y).
    fn smallest(&self, x: i64, y: i64, size: i64) -> i64 {
        self.at(x, y) + self.a.min(0) * size + self.b.min(0) * size
    }
}

/// A triangle on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    edges: [Edge; 3],
    min: [i64; 2],
    max: [i64; 2],
}

impl Triangle {
    /// Returns the triangle of three snapped positions of either winding, or `None` if its area is
    /// zero.
    pub fn new(v: [[i64; 2]; 3]) -> Option<Self> {
        let area = signed_area(v);
        let v = match area {
            0 => return None,
            area if area < 0 => [v[0], v[2], v[1]],
            _ => v,
        };
        Some(Self::clockwise(v))
    }

    /// Returns the triangle of three snapped positions in clockwise order, whose area is not zero.
    pub fn clockwise(v: [[i64; 2]; 3]) -> Self {
        let edges = [Edge::new(v[0], v[1]), Edge::new(v[1], v[2]), Edge::new(v[2], v[0])];
        let bound = |pick: fn(i64, i64) -> i64, axis: usize| pick(pick(v[0][axis], v[1][axis]), v[2][axis]);
        Self { edges, min: [bound(i64::min, 0), bound(i64::min, 1)], max: [bound(i64::max, 0), bound(i64::max, 1)] }
    }

    /// Returns the pixels whose samples may be covered, as `[x0, y0, x1, y1]` with exclusive ends.
    pub fn pixel_bounds(&self) -> [i64; 4] {
        let below = |units: i64| units.div_euclid(UNITS);
        [below(self.min[0]), below(self.min[1]), below(self.max[0]) + 1, below(self.max[1]) + 1]
    }

    /// Returns the pixels whose centres may be covered. The rectangle is empty if the triangle
    /// lies between centres.
    #[inline]
    pub fn centre_bounds(&self) -> [i64; 4] {
        let first = |units: i64| (units + UNITS / 2 - 1).div_euclid(UNITS);
        let end = |units: i64| (units - UNITS / 2).div_euclid(UNITS) + 1;
        [first(self.min[0]), first(self.min[1]), end(self.max[0]), end(self.max[1])]
    }

    /// Returns true if the cell of side `size` units at (`x`, `y`) is covered by a criterion.
    pub fn covers_cell(&self, x: i64, y: i64, size: i64, criterion: Criterion) -> bool {
        match criterion {
            Criterion::Conservative => {
                let overlaps = x < self.max[0] && x + size > self.min[0] && y < self.max[1] && y + size > self.min[1];
                overlaps && self.edges.iter().all(|edge| edge.largest(x, y, size) > 0)
            }
            Criterion::Touching => {
                let meets = x <= self.max[0] && x + size >= self.min[0] && y <= self.max[1] && y + size >= self.min[1];
                meets && self.edges.iter().all(|edge| edge.largest(x, y, size) >= 0)
            }
            Criterion::Inner => self.edges.iter().all(|edge| edge.smallest(x, y, size) >= 0),
            Criterion::Interior => self.edges.iter().all(|edge| edge.smallest(x, y, size) > 0),
            Criterion::Centre => self.covers_point(x + size / 2, y + size / 2),
        }
    }

    /// Returns true if a point is covered by the standard criterion, with the top-left rule.
    #[inline]
    pub fn covers_point(&self, x: i64, y: i64) -> bool {
        self.edges.iter().all(|edge| edge.at(x, y) >= edge.bias)
    }
}

impl Triangle {
    /// Returns triangles that stand for a convex polygon of at least three clockwise corners. The
    /// polygon touches a cell, or covers all
    /// of it, exactly where each triangle does. Coverage of points by the triangles says nothing
    /// of the polygon.
    pub fn of_polygon(corners: &[[i64; 2]]) -> Vec<Self> {
        let bound = |pick: fn(i64, i64) -> i64| {
            [0, 1].map(|axis: usize| corners.iter().map(|corner| corner[axis]).reduce(pick).unwrap_or(0))
        };
        let (min, max) = (bound(i64::min), bound(i64::max));
        let edge = |number: usize| Edge::new(corners[number], corners[(number + 1) % corners.len()]);
        let last = corners.len() - 1;
        let part = |first: usize| Self { edges: [0, 1, 2].map(|next| edge((first + next).min(last))), min, max };
        (0..corners.len()).step_by(3).map(part).collect()
    }
}

/// Returns the clockwise corners of the convex hull of some places, fewer than three if the hull
/// has no area.
pub fn hull(mut places: Vec<[i64; 2]>) -> Vec<[i64; 2]> {
    places.sort_unstable();
    places.dedup();
    let mut around = Vec::new();
    // One side goes from left to right, the other one back.
    for way in [places.clone(), places.into_iter().rev().collect()] {
        let first = around.len();
        for place in way {
            while let [.., a, b] = around[first..]
                && signed_area([a, b, place]) <= 0
            {
                around.pop();
            }
            around.push(place);
        }
        around.pop();
    }
    around
}

/// Returns twice the area of a triangle, positive if it is clockwise on the screen.
pub fn signed_area(v: [[i64; 2]; 3]) -> i64 {
    (v[1][0] - v[0][0]) * (v[2][1] - v[0][1]) - (v[1][1] - v[0][1]) * (v[2][0] - v[0][0])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// DESIGN 3.4's triangle on a 16x16 grid of units, scaled so that a unit is a pixel.
    fn golden() -> Triangle {
        Triangle::new([[3, 2], [7, 12], [13, 7]].map(|p: [i64; 2]| p.map(|c| c * UNITS))).unwrap()
    }

    #[test]
    fn golden_conservative_coverage() {
        assert_eq!(golden_rows(4, Criterion::Conservative), ["1100", "1111", "0110", "0000"]);
        // The lowest corner touches a cell of the last row.
        assert_eq!(golden_rows(4, Criterion::Touching), ["1100", "1111", "0110", "0100"]);
    }

    /// Returns the cells of `size` units that the golden triangle covers, row by row.
    fn golden_rows(size: i64, criterion: Criterion) -> Vec<String> {
        let side = size * UNITS;
        let covers = |x: i64, y: i64| golden().covers_cell(x * side, y * side, side, criterion);
        let row = |y: i64| (0..16 / size).map(|x| if covers(x, y) { '1' } else { '0' }).collect();
        (0..16 / size).map(row).collect()
    }

    /// Literal coverage by the criteria that test areas, at all resolutions.
    #[test]
    fn golden_coverage_of_areas() {
        let touched = [
            "0000000000000000",
            "0000000000000000",
            "0001100000000000",
            "0001111000000000",
            "0001111110000000",
            "0000111111100000",
            "0000111111111000",
            "0000011111111000",
            "0000011111110000",
            "0000011111100000",
            "0000001111000000",
            "0000001110000000",
            "0000000000000000",
            "0000000000000000",
            "0000000000000000",
            "0000000000000000",
        ];
        assert_eq!(golden_rows(1, Criterion::Conservative), touched);
        let touched = ["00000000", "01110000", "01111100", "00111110", "00111100", "00011000", "00000000", "00000000"];
        assert_eq!(golden_rows(2, Criterion::Conservative), touched);
        assert_eq!(golden_rows(4, Criterion::Conservative), ["1100", "1111", "0110", "0000"]);
        assert_eq!(golden_rows(8, Criterion::Conservative), ["11", "11"]);
        let covered = [
            "0000000000000000",
            "0000000000000000",
            "0000000000000000",
            "0000100000000000",
            "0000011000000000",
            "0000011110000000",
            "0000011111100000",
            "0000001111100000",
            "0000001111000000",
            "0000000110000000",
            "0000000100000000",
            "0000000000000000",
            "0000000000000000",
            "0000000000000000",
            "0000000000000000",
            "0000000000000000",
        ];
        assert_eq!(golden_rows(1, Criterion::Inner), covered);
        let covered = ["00000000", "00000000", "00000000", "00011000", "00000000", "00000000", "00000000", "00000000"];
        assert_eq!(golden_rows(2, Criterion::Inner), covered);
        assert_eq!(golden_rows(4, Criterion::Inner), ["0000"; 4]);
        // Edges touch sides or corners of five covered units.
        let inner: usize = golden_rows(1, Criterion::Inner).iter().map(|row| row.matches('1').count()).sum();
        let interior: usize = golden_rows(1, Criterion::Interior).iter().map(|row| row.matches('1').count()).sum();
        assert_eq!((inner, interior), (25, 20));
    }

    #[test]
    fn golden_standard_coverage() {
        let spans = [
            (2, 3, 3),
            (3, 4, 5),
            (4, 4, 7),
            (5, 4, 9),
            (6, 5, 11),
            (7, 5, 11),
            (8, 6, 10),
            (9, 6, 9),
            (10, 6, 8),
            (11, 7, 7),
        ];
        for y in 0..16 {
            for x in 0..16 {
                let expected = spans.iter().any(|&(row, low, high)| row == y && (low..=high).contains(&x));
                let centre = |pixel: i64| pixel * UNITS + UNITS / 2;
                assert_eq!(golden().covers_point(centre(x), centre(y)), expected, "({x}, {y})");
            }
        }
    }

    /// One snap on the common grid gives half and full resolution the same logical positions; two
    /// snaps would not.
    #[test]
    fn golden_common_grid() {
        let half = [[1.3f32, 1.2], [3.7, 5.9], [6.3, 3.7]];
        // The common resolution is the full one: a half-resolution position is snapped at twice
        // its value.
        let snap = |pixels: f32| i64::from(snap(pixels));
        let common = half.map(|p| p.map(|c| snap(c * 2.0)));
        let full = half.map(|p| [p[0] * 2.0, p[1] * 2.0]).map(|p| p.map(snap));
        assert_eq!(common, full);
        let twice = half.map(|p| p.map(|c| snap(c) * 2));
        assert_ne!(twice, full);
        // A half-resolution pixel is covered conservatively exactly when one of its four full ones
        // is.
        let triangle = Triangle::new(common).unwrap();
        let covers = |x: i64, y: i64, size: i64| triangle.covers_cell(x, y, size, Criterion::Conservative);
        for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x * 2 * UNITS, y * 2 * UNITS))) {
            let small = [(0, 0), (UNITS, 0), (0, UNITS), (UNITS, UNITS)];
            assert_eq!(covers(x, y, 2 * UNITS), small.iter().any(|(dx, dy)| covers(x + dx, y + dy, UNITS)));
        }
    }

    fn point() -> impl Strategy<Value = [i64; 2]> {
        [0..16 * UNITS, 0..16 * UNITS]
    }

    #[test]
    fn hulls_leave_out_what_is_inside() {
        let square = [[0, 0], [8, 0], [8, 8], [0, 8]];
        let more = [[4, 4], [4, 0], [8, 8], [0, 3], [1, 7]];
        assert_eq!(hull([&square[..], &more].concat()), square);
        assert!(hull(vec![[0, 0], [4, 4], [2, 2], [4, 4]]).len() < 3 && hull(vec![[1, 1]]).len() < 3);
    }

    proptest! {
        /// A cell is touched exactly if one of the cells of half or a quarter of its size is
        /// touched, and covered exactly if all of them are. A covered sample lies in a touched cell
        /// of each size, and all samples of a covered cell are covered.
        #[test]
        fn resolutions_are_consistent(v in [point(), point(), point()], x in 0i64..4, y in 0i64..4) {
            let Some(triangle) = Triangle::new(v) else { return Ok(()) };
            let size = 4 * UNITS;
            let (x, y) = (x * size, y * size);
            let covers = |[x, y]: [i64; 2], size, criterion| triangle.covers_cell(x, y, size, criterion);
            for parts in [2, 4] {
                let part = size / parts;
                let cells = || (0..parts * parts).map(|at| [x + at % parts * part, y + at / parts * part]);
                // The address of the large cell is that of the small one, shifted.
                prop_assert!(cells().all(|[px, py]| (px >> 10, py >> 10) == (x >> 10, y >> 10)));
                let touches = |criterion| cells().any(|cell| covers(cell, part, criterion));
                let any = touches(Criterion::Conservative);
                prop_assert_eq!(covers([x, y], size, Criterion::Conservative), any);
                prop_assert_eq!(covers([x, y], size, Criterion::Touching), touches(Criterion::Touching));
                prop_assert!(!any || touches(Criterion::Touching));
                let all = cells().all(|cell| covers(cell, part, Criterion::Inner));
                prop_assert_eq!(covers([x, y], size, Criterion::Inner), all);
                let some = cells().any(|cell| covers(cell, part, Criterion::Centre));
                prop_assert!(!some || any);
                prop_assert!(!all || cells().all(|cell| covers(cell, part, Criterion::Centre)));
            }
        }

        /// A polygon touches what any of its parts touches, and covers what it covers with all of
        /// its area.
        #[test]
        fn polygons_are_covered_like_their_parts(places in prop::collection::vec(point(), 3..9), x in 0i64..16, y in 0i64..16) {
            let corners = hull(places);
            prop_assume!(corners.len() > 2);
            let all = |criterion| {
                let covers = |part: &Triangle| part.covers_cell(x * UNITS, y * UNITS, UNITS, criterion);
                Triangle::of_polygon(&corners).iter().all(covers)
            };
            let fan = corners[1..].windows(2).map(|pair| Triangle::clockwise([corners[0], pair[0], pair[1]]));
            for criterion in [Criterion::Conservative, Criterion::Touching] {
                let touched = fan.clone().any(|part| part.covers_cell(x * UNITS, y * UNITS, UNITS, criterion));
                prop_assert_eq!(all(criterion), touched, "{:?}", criterion);
            }
            let inside = |[x, y]: [i64; 2]| {
                (0..corners.len()).all(|at| signed_area([corners[at], corners[(at + 1) % corners.len()], [x, y]]) >= 0)
            };
            let cell = [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]].map(|place| place.map(|units| units * UNITS));
            prop_assert_eq!(all(Criterion::Inner), cell.into_iter().all(inside));
        }

        /// Against exact rational arithmetic: strictly inside by barycentric signs.
        #[test]
        fn coverage_agrees_with_exact_arithmetic(v in [point(), point(), point()]) {
            let Some(triangle) = Triangle::new(v) else { return Ok(()) };
            for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x * UNITS + 128, y * UNITS + 128))) {
                let orientation = i128::from(signed_area(v)).signum();
                let side = |p: [i64; 2], q: [i64; 2]| i128::from(signed_area([p, q, [x, y]])) * orientation;
                let sides = [side(v[0], v[1]), side(v[1], v[2]), side(v[2], v[0])];
                let covered = triangle.covers_point(x, y);
                let [x0, y0, x1, y1] = triangle.centre_bounds();
                let (px, py) = (x.div_euclid(UNITS), y.div_euclid(UNITS));
                prop_assert!(!covered || (x0..x1).contains(&px) && (y0..y1).contains(&py));
                if sides.iter().all(|&side| side > 0) {
                    prop_assert!(covered);
                }
                if sides.iter().any(|&side| side < 0) {
                    prop_assert!(!covered);
                }
                // Resolutions are consistent: a covered point lies in a conservatively covered
                // cell.
                if covered {
                    let conservative = triangle.covers_cell(x - 128, y - 128, UNITS, Criterion::Conservative);
                    prop_assert!(conservative);
                }
            }
        }

        /// Two triangles that share an edge, opposite points on either side: every sample inside
        /// the quadrilateral once.
        #[test]
        fn shared_edges_are_covered_once(a in point(), b in point(), c in point(), d in point()) {
            let (left, right) = (signed_area([a, b, c]), signed_area([a, b, d]));
            prop_assume!(left.signum() * right.signum() < 0);
            let (first, second) = (Triangle::new([a, b, c]).unwrap(), Triangle::new([b, a, d]).unwrap());
            for (x, y) in (0..16).flat_map(|y| (0..16).map(move |x| (x * UNITS + 128, y * UNITS + 128))) {
                prop_assert!(!(first.covers_point(x, y) && second.covers_point(x, y)));
                let on_edge = signed_area([a, b, [x, y]]) == 0;
                let inside = |p: [i64; 2], q: [i64; 2], r: [i64; 2]| {
                    signed_area([p, q, [x, y]]) * signed_area([p, q, r]).signum() > 0
                };
                // On the shared edge, and strictly inside of the other four.
                if on_edge && inside(b, c, a) && inside(c, a, b) && inside(b, d, a) && inside(d, a, b) {
                    prop_assert!(first.covers_point(x, y) != second.covers_point(x, y));
                }
            }
        }
    }
}
