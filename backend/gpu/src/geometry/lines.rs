//! Lines on the grid: pixels whose diamonds a line exits, rectangles around a line, and the drawn
//! runs of a stipple.
//!
//! All lines end as triangles, so that one rasterizer serves every primitive. A Bresenham line is
//! two triangles that are longer than the line, limited to the pixels between its first and its
//! last one along the major axis. Their edges select the pixel of each column (or row). The fill
//! rule does so exactly as the perturbation of the specification, in integers.
//!
//! Source: Vulkan specification, "Line Segments".

use std::ops::Range;

use crate::raster::{MAX_COORDINATE, UNITS};
use crate::state::LineStipple;

/// Minimum and maximum line width, pixels.
pub const LINE_WIDTHS: [f32; 2] = [1.0, 256.0];

/// A point on the grid, units.
pub(super) type GridPoint = [i64; 2];

/// Covered area of a triangle whose attributes come from other corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cover {
    /// Corners on the grid, units.
    pub(super) corners: [[i32; 2]; 3],
    /// Pixels that the area is limited to: `[x0, y0, x1, y1]`, exclusive at the end.
    pub(super) window: [i32; 4],
    /// Number of a polygon that is covered instead. The corners are then three of those of its
    /// bounding rectangle.
    pub(super) polygon: Option<u32>,
}

impl Cover {
    /// Creates the cover of a polygon with the given corners and number.
    pub(super) fn of_polygon(corners: &[GridPoint], number: u32) -> Self {
        let bound = |pick: fn(i64, i64) -> i64, axis: usize| {
            corners.iter().map(|corner| corner[axis]).reduce(pick).unwrap_or(0) as i32
        };
        let (left, top, right, bottom) =
            (bound(i64::min, 0), bound(i64::min, 1), bound(i64::max, 0), bound(i64::max, 1));
        Self { corners: [[left, top], [right, top], [left, bottom]], window: EVERYWHERE, polygon: Some(number) }
    }
}

/// Limits that include all pixels.
const EVERYWHERE: [i32; 4] = [i32::MIN, i32::MIN, i32::MAX, i32::MAX];

/// Splits a quadrilateral, whose corners go around it, into two triangles.
fn halves(corners: [GridPoint; 4], window: [i32; 4]) -> [Cover; 2] {
    let [a, b, c, d] = corners.map(|corner| corner.map(|units| units as i32));
    [[a, b, c], [a, c, d]].map(|corners| Cover { corners, window, polygon: None })
}

/// Returns the coordinate of a pixel's centre, units.
fn centre(pixel: i64) -> i64 {
    pixel * UNITS + UNITS / 2
}

/// Returns the first pixel whose centre is at or after a coordinate.
fn first_pixel(units: i64) -> i64 {
    (units + UNITS / 2 - 1).div_euclid(UNITS)
}

/// A Bresenham line: `count` pixels along its major axis, in order from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Diamonds {
    /// Ends of the line, moved so that the first pixel across belongs to the line between them.
    ends: [GridPoint; 2],
    /// Major axis: the axis along which the line is longer, or x if both are equal.
    pub(super) major: usize,
    /// First pixel along the major axis.
    first: i64,
    /// Direction along the major axis, 1 or -1.
    step: i64,
    /// Number of pixels along the major axis.
    pub(super) count: i64,
    /// Number of pixels across.
    width: i64,
}

impl Diamonds {
    /// Creates a line between two points that is `width` pixels wide. Returns `None` if the line
    /// exits no diamond.
    pub(super) fn new(mut ends: [GridPoint; 2], width: i64) -> Option<Self> {
        let delta = |axis: usize| ends[1][axis] - ends[0][axis];
        let major = usize::from(delta(1).abs() > delta(0).abs());
        let step = delta(major).signum();
        ends.iter_mut().for_each(|end| end[1 - major] -= (width - 1) * UNITS / 2);
        if step == 0 {
            return None;
        }
        let [start, end] = ends;
        // A line that begins after the middle of a diamond exits it if it begins inside of it.
        let begins = |pixel: &i64| {
            let before = (centre(*pixel) - start[major]) * step;
            before > 0 || before == 0 && step > 0 || is_in_diamond(start, major, *pixel)
        };
        // A line that ends after the middle of a diamond exits it unless it ends inside of it.
        let ends_behind = |pixel: &i64| {
            let behind = (end[major] - centre(*pixel)) * step;
            (behind > 0 || behind == 0 && step < 0) && !is_in_diamond(end, major, *pixel)
        };
        let pixel_of = |place: GridPoint| place[major].div_euclid(UNITS);
        let first = (-1..=1).map(|number| pixel_of(start) + number * step).find(begins)?;
        let last = (-1..=2).map(|number| pixel_of(end) - number * step).find(ends_behind)?;
        let count = (last - first) * step + 1;
        (count > 0).then_some(Self { ends, major, first, step, count, width })
    }

    /// Returns the numbers of the pixels whose centres lie after the first cut and before the
    /// second. Cuts are coordinates along the major axis.
    pub(super) fn between(&self, cuts: [Option<i64>; 2]) -> Range<i64> {
        // Two lines that are cut at one point share no pixel and leave none out.
        let number = |units: i64| match self.step {
            1 => first_pixel(units) - self.first,
            _ => self.first - first_pixel(units) + 1,
        };
        cuts[0].map_or(0, number).max(0)..cuts[1].map_or(self.count, number).min(self.count)
    }

    /// Returns the numbers of the pixels from `low` up to but not including `high`, pixels along
    /// the major axis.
    pub(super) fn within(&self, [low, high]: [i64; 2]) -> Range<i64> {
        match self.step {
            1 => low - self.first..high - self.first,
            _ => self.first - high + 1..self.first - low + 1,
        }
    }

    /// Returns the covered areas of the line at the pixels with the given numbers.
    pub(super) fn covers(&self, run: Range<i64>) -> [Cover; 2] {
        let (minor, delta) = (1 - self.major, [0, 1].map(|axis: usize| self.ends[1][axis] - self.ends[0][axis]));
        // Extending the line by whole multiples of itself keeps the corners on the grid and beyond
        // the first and last centres.
        let times = UNITS / delta[self.major].abs() + 1;
        let place = |end: usize, across: i64| {
            let sign = if end == 0 { -times } else { times };
            let mut place = [0, 1].map(|axis: usize| self.ends[end][axis] + delta[axis] * sign);
            place[minor] += across;
            place
        };
        let (low, high) = (-UNITS / 2, self.width * UNITS - UNITS / 2);
        let corners = [place(0, low), place(1, low), place(1, high), place(0, high)];
        let (near, far) = (self.first + run.start * self.step, self.first + (run.end - 1) * self.step);
        let mut window = EVERYWHERE;
        (window[self.major], window[self.major + 2]) = (near.min(far) as i32, near.max(far) as i32 + 1);
        halves(corners, window)
    }
}

/// Returns true if a point lies in the diamond of a pixel, after the perturbation: very little to
/// the left, and even less upwards. `pixel` is the pixel's number along the major axis. Its row or
/// column is the point's.
fn is_in_diamond(place: GridPoint, major: usize, pixel: i64) -> bool {
    // A point between two pixels belongs to the one before.
    let mut middle = place.map(|units| centre((units - 1).div_euclid(UNITS)));
    middle[major] = centre(pixel);
    let distance = (place[0] - middle[0]).abs() + (place[1] - middle[1]).abs();
    distance < UNITS / 2 || distance == UNITS / 2 && place[0] > middle[0]
}

/// A line as a rectangle, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rectangle {
    start: [f64; 2],
    /// Vector of one pixel along the line.
    along: [f64; 2],
    /// Length.
    pub(super) length: f64,
    /// Half of the width.
    half: f64,
}

impl Rectangle {
    /// Creates the rectangle of a line between two points, `width` pixels wide.
    pub(super) fn new([start, end]: [[f32; 2]; 2], width: f32) -> Self {
        let [start, end] = [start, end].map(|place| place.map(f64::from));
        let delta = [0, 1].map(|axis: usize| end[axis] - start[axis]);
        let length = (delta[0] * delta[0] + delta[1] * delta[1]).sqrt();
        Self { start, along: delta.map(|part| part / length), length, half: f64::from(width) * 0.5 }
    }

    /// Returns half of a pixel's extent along the line, which equals that across it.
    fn reach(&self) -> f64 {
        (self.along[0].abs() + self.along[1].abs()) * 0.5
    }

    /// Returns the area that contains the centres of all pixels that the rectangle may touch
    /// between two distances. Areas of parts that are a pixel or more apart share no centre.
    pub(super) fn touches(&self, [from, to]: [f64; 2]) -> [Cover; 2] {
        let reach = self.reach();
        let is_end = [from < 1.0, to > self.length - 1.0];
        let [before, behind] = is_end.map(|is_end| if is_end { reach } else { 0.5 });
        self.covers([from - before, to + behind], reach)
    }

    /// Returns the area between two distances along the line, extended by `more` pixels on both
    /// sides.
    pub(super) fn covers(&self, [from, to]: [f64; 2], more: f64) -> [Cover; 2] {
        let across = [-self.along[1], self.along[0]].map(|part| part * (self.half + more));
        let place = |distance: f64, side: f64| {
            [0, 1].map(|axis: usize| snap(self.start[axis] + self.along[axis] * distance + across[axis] * side))
        };
        halves([place(from, 1.0), place(to, 1.0), place(to, -1.0), place(from, -1.0)], EVERYWHERE)
    }

    /// Returns the distances of the line's ends, at its upper and its lower side, from the four
    /// sides of the part between two distances.
    pub(super) fn sides(&self, [from, to]: [f64; 2]) -> [[f32; 4]; 4] {
        let width = self.half * 2.0;
        let corner = |at: f64, above: f64| [above, width - above, at - from, to - at].map(|distance| distance as f32);
        [corner(0.0, 0.0), corner(self.length, 0.0), corner(self.length, width), corner(0.0, width)]
    }

    /// Returns the distances between which the line may touch the pixels `[x0, y0, x1, y1]`, or
    /// `None` if it touches none of them.
    pub(super) fn within(&self, area: [f64; 4]) -> Option<[f64; 2]> {
        let (mut range, more) = ([0.0, self.length], self.half + 2.0);
        for axis in 0..2 {
            let (start, along) = (self.start[axis], self.along[axis]);
            let (low, high) = (area[axis] - more - start, area[axis + 2] + more - start);
            if along == 0.0 {
                range[1] = if low <= 0.0 && 0.0 <= high { range[1] } else { -1.0 };
                continue;
            }
            let (one, other) = (low / along, high / along);
            range = [range[0].max(one.min(other)), range[1].min(one.max(other))];
        }
        (range[0] < range[1]).then_some(range)
    }
}

/// Snaps a coordinate in pixels to the grid.
fn snap(pixels: f64) -> i64 {
    (pixels * UNITS as f64).round_ties_even().clamp(-(MAX_COORDINATE as f64), MAX_COORDINATE as f64) as i64
}

/// Returns the drawn parts of a line between two values of its stipple counter, in order. Neither
/// value is negative.
///
/// Source: "Line Stipple".
pub(super) fn runs(stipple: Option<LineStipple>, [from, to]: [f64; 2]) -> impl Iterator<Item = [f64; 2]> {
    // Without a stipple the whole line is drawn.
    let LineStipple { factor, pattern } = stipple.unwrap_or(LineStipple { factor: 1, pattern: u16::MAX });
    let factor = f64::from(factor.max(1));
    let last = if pattern == u16::MAX { 1 } else { (to / factor).ceil() as u64 };
    let mut at = if pattern == u16::MAX { 0 } else { (from / factor) as u64 };
    let is_drawn = move |bit: u64| pattern >> (bit % 16) & 1 != 0;
    std::iter::from_fn(move || {
        at += (at..last).take_while(|&bit| !is_drawn(bit)).count() as u64;
        let start = at;
        at += (at..last).take_while(|&bit| is_drawn(bit)).count() as u64;
        (start < at).then(|| match pattern {
            u16::MAX => [from, to],
            _ => [from.max(start as f64 * factor), to.min(at as f64 * factor)],
        })
    })
    .filter(|[start, end]| start < end)
}

/// Returns a stipple counter without whole repetitions of the pattern.
pub(super) fn wrapped(stipple: LineStipple, counter: f64) -> f64 {
    counter % f64::from(stipple.factor.max(1) * 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::Triangle;

    /// Returns the covered pixels in the order of their numbers along the line.
    fn pixels(line: &Diamonds) -> Vec<Vec<[i64; 2]>> {
        let at = |number: i64| {
            let covers = line.covers(number..number + 1);
            let is_covered = |&[x, y]: &[i64; 2]| {
                let covering = covers.iter().filter(|cover| {
                    let [x0, y0, x1, y1] = cover.window.map(i64::from);
                    let triangle = Triangle::new(cover.corners.map(|corner| corner.map(i64::from))).unwrap();
                    let is_inside = (x0..x1).contains(&x) && (y0..y1).contains(&y);
                    is_inside && triangle.covers_point(centre(x), centre(y))
                });
                let count = covering.count();
                assert!(count < 2, "({x}, {y}) is covered twice");
                count == 1
            };
            (-2..20).flat_map(|y| (-2..20).map(move |x| [x, y])).filter(is_covered).collect()
        };
        (0..line.count).map(at).collect()
    }

    fn line(from: GridPoint, to: GridPoint, width: i64) -> Vec<Vec<[i64; 2]>> {
        let half_pixels = |place: GridPoint| place.map(|halves| halves * UNITS / 2);
        Diamonds::new([half_pixels(from), half_pixels(to)], width).map_or(Vec::new(), |line| pixels(&line))
    }

    #[test]
    fn lines_between_centres_are_those_of_bresenham() {
        // From (1, 1) to (6, 3) without the last pixel.
        let expected = [[1, 1], [2, 1], [3, 2], [4, 2], [5, 3]];
        assert_eq!(line([3, 3], [13, 7], 1), expected.map(|pixel| vec![pixel]));
        assert_eq!(line([3, 3], [3, 9], 1), [[1, 1], [1, 2], [1, 3]].map(|pixel| vec![pixel]));
        assert_eq!(line([9, 3], [3, 3], 1), [[4, 1], [3, 1], [2, 1]].map(|pixel| vec![pixel]));
        assert!(line([3, 3], [3, 3], 1).is_empty());
        // The upper pixel is drawn between rows, the left one between columns.
        assert_eq!(line([3, 4], [7, 4], 1), [[1, 1], [2, 1]].map(|pixel| vec![pixel]));
        assert_eq!(line([4, 7], [4, 3], 1), [[1, 3], [1, 2]].map(|pixel| vec![pixel]));
        assert_eq!(line([3, 5], [7, 5], 3), [[[1, 1], [1, 2], [1, 3]], [[2, 1], [2, 2], [2, 3]]]);
    }

    #[test]
    fn cuts_part_lines() {
        for ends in [[[100, 300], [4000, 1500]], [[4000, 1500], [100, 300]]] {
            let line = Diamonds::new(ends, 1).unwrap();
            assert_eq!(line.between([None, None]), 0..line.count);
            for cut in [700, 1152, 1153] {
                let (before, behind) = (line.between([None, Some(cut)]), line.between([Some(cut), None]));
                assert_eq!((before.start, before.end, behind.end), (0, behind.start, line.count));
            }
            assert_eq!(
                line.between([Some(1152), Some(1153)]).count() + line.between([Some(1153), Some(1152)]).count(),
                1
            );
            let seen = line.within([3, 5]);
            assert_eq!(seen.count(), 2);
        }
    }

    #[test]
    fn stipples_let_runs_through() {
        let of = |factor, pattern, range| runs(Some(LineStipple { factor, pattern }), range).collect::<Vec<_>>();
        assert_eq!(of(1, 0b1101, [0.0, 18.0]), [[0.0, 1.0], [2.0, 4.0], [16.0, 17.0]]);
        assert_eq!(of(3, 0b1101, [2.5, 10.0]), [[2.5, 3.0], [6.0, 10.0]]);
        assert_eq!(of(5, 0, [0.0, 1000.0]), [[0.0; 2]; 0]);
        assert_eq!(of(5, 0xffff, [7.25, 1000.0]), [[7.25, 1000.0]]);
        assert_eq!(of(0, 1, [15.5, 16.5]), [[16.0, 16.5]]);
        assert_eq!(runs(None, [3.0, 9.0]).collect::<Vec<_>>(), [[3.0, 9.0]]);
        assert_eq!(runs(None, [9.0, 3.0]).count(), 0);
        assert_eq!(wrapped(LineStipple { factor: 2, pattern: 1 }, 35.5), 3.5);
    }

    #[test]
    fn rectangles_know_where_they_may_be_seen() {
        let rectangle = Rectangle::new([[-100.0, 10.0], [100.0, 10.0]], 2.0);
        assert_eq!(rectangle.length, 200.0);
        assert_eq!(rectangle.within([0.0, 0.0, 64.0, 64.0]), Some([97.0, 167.0]));
        assert_eq!(rectangle.within([0.0, 20.0, 64.0, 64.0]), None);
        let [first, second] = rectangle.covers([100.0, 101.5], 0.0);
        assert_eq!(first.corners, [[0, 11 * 256], [384, 11 * 256], [384, 9 * 256]]);
        assert_eq!(second.corners, [[0, 11 * 256], [384, 9 * 256], [0, 9 * 256]]);
        assert_eq!(rectangle.sides([100.0, 101.5])[1], [0.0, 2.0, 100.0, -98.5]);
    }
}
