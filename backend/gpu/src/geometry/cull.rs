//! Culling of sixteen triangles at a time: facing, face culling, and the pixels that each triangle
//! may cover.
//!
//! The remaining triangles wait for their tiles.
//!
//! Source: Vulkan specification, "Basic Polygon Rasterization", "Polygon Mode".

use vitric_base::simd::{Lanes, WAVE, kernel};

use super::kernel::outside;
use super::lines::Cover;
use super::plan::{Facing, PixelBounds, Rules};
use super::shading::CullVertex;
use super::triangles::{Entry, FACING, Triangles};
use crate::raster::{UNITS, snap};

pub(super) type Floats = [f32; WAVE];
pub(super) type Ints = [i32; WAVE];

/// x and y, corner by corner.
pub(super) type Axes<T> = [[T; 3]; 2];

/// Queue of up to sixteen triangles to be culled, one a lane.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct CullQueue {
    place: Axes<Floats>,
    rows: [Lanes; 3],
    facing: Lanes,
    id: Lanes,
    /// Lanes whose covered area differs from that of their corners, with the number of the cover.
    covers: Vec<(usize, u32)>,
    count: usize,
    /// Mask of the lanes whose triangle lies wholly outside of the view volume.
    rejected: u32,
    /// Temporary bounds of the pixels that the triangles may cover. `packed` holds the packed
    /// triangles.
    pixels: [Ints; 4],
    packed: [Lanes; 6],
}

impl CullQueue {
    /// Returns true if every lane is occupied.
    pub(super) fn is_full(&self) -> bool {
        self.count == WAVE
    }

    /// Adds a triangle whose vertices are rows of `triangles`. The buffer must not be full.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry, triangles: &Triangles) {
        let (lane, Entry { rows, id, facing, cover }) = (self.count, entry);
        for (corner, row) in rows.into_iter().enumerate() {
            let [x, y, ..] = triangles.row(row)[0];
            self.place[0][corner][lane] = f32::from_bits(x);
            self.place[1][corner][lane] = f32::from_bits(y);
            self.rows[corner][lane] = row;
        }
        (self.facing[lane], self.id[lane]) = (facing as u32, id);
        self.covers.extend(cover.map(|number| (lane, number)));
        self.count += 1;
    }

    /// Fills all lanes with sixteen triangles, unless one of them has to be clipped. The buffer
    /// must be empty.
    ///
    /// `corners` holds three vertex indices a triangle, `first_row` is the row of vertex 0, and
    /// `id` holds the triangles' numbers. Facing follows from winding. Returns the number of
    /// triangles that lie wholly outside and are dropped, or `None` if a triangle has to be
    /// clipped.
    #[inline]
    pub(super) fn take(
        &mut self,
        (vertices, corners): (&[CullVertex], &[u32; 3 * WAVE]),
        first_row: u32,
        id: Lanes,
    ) -> Option<u32> {
        let (mut cut, mut rejected) = (0, 0);
        for (lane, corners) in corners.as_chunks::<3>().0.iter().enumerate() {
            let (mut any, mut all) = (0, u32::MAX);
            for (corner, &vertex) in corners.iter().enumerate() {
                let CullVertex { x, y, outside } = vertices[vertex as usize];
                (any, all) = (any | outside, all & outside);
                self.place[0][corner][lane] = x;
                self.place[1][corner][lane] = y;
                self.rows[corner][lane] = first_row + vertex;
            }
            let is_rejected = all & outside::REJECTED != 0;
            rejected |= u32::from(is_rejected) << lane;
            cut |= if is_rejected { 0 } else { any };
        }
        if cut & !outside::SIDES_OF_VIEW != 0 {
            return None;
        }
        self.rejected = rejected;
        (self.facing, self.id, self.count) = ([Facing::ByWinding as u32; WAVE], id, WAVE);
        Some(rejected.count_ones())
    }

    /// Culls the queued triangles and adds the remaining ones to `out`. With `cut`, limits them
    /// to the pixels `[x0, y0, x1, y1]`, exclusive at the end.
    pub(super) fn flush(&mut self, out: &mut Triangles, cut: Option<[i64; 4]>) {
        let (count, rejected) = (std::mem::take(&mut self.count), std::mem::take(&mut self.rejected));
        if rejected.count_ones() as usize == count {
            return;
        }
        let Self { place, rows, facing, id, covers, pixels, packed, .. } = self;
        let (mut survives, rules) = ([false; WAVE], out.plan().rules);
        cull(place, facing, &rules, (&mut survives, pixels));
        if !covers.is_empty() {
            replace(covers, &rules, out, (&mut survives, pixels));
        }
        if let Some(cut) = cut {
            cut_to(cut, (&mut survives, pixels));
        }
        pack(TriangleLanes { rows, facing, id }, pixels, packed);
        survives[count..].fill(false);
        survives.iter_mut().enumerate().for_each(|(lane, survives)| *survives &= rejected >> lane & 1 == 0);
        out.push_lanes(packed, &survives, covers);
        covers.clear();
    }
}

/// Culls by the covered areas of triangles instead of by their corners.
#[cold]
fn replace(
    covers: &[(usize, u32)],
    rules: &Rules,
    of: &Triangles,
    (survives, pixels): (&mut [bool; WAVE], &mut [Ints; 4]),
) {
    let covers = || covers.iter().map(|&(lane, number)| (lane, of.cover(number)));
    let mut grid = [[[0; WAVE]; 3]; 2];
    for (lane, cover) in covers() {
        for (corner, place) in cover.corners.iter().enumerate() {
            (grid[0][corner][lane], grid[1][corner][lane]) = (place[0], place[1]);
        }
    }
    let touched = bounds(&grid, rules.bounds);
    for (lane, Cover { window, .. }) in covers() {
        let cut = [0, 1, 2, 3].map(|bound: usize| match bound {
            0 | 1 => touched[bound][lane].max(window[bound]),
            _ => touched[bound][lane].min(window[bound]),
        });
        (0..4).for_each(|bound| pixels[bound][lane] = cut[bound]);
        survives[lane] = grid_area(&grid, lane) != 0 && cut[0] < cut[2] && cut[1] < cut[3];
    }
}

/// Limits triangles to an area of pixels.
#[cold]
fn cut_to(area: [i64; 4], (survives, pixels): (&mut [bool; WAVE], &mut [Ints; 4])) {
    for (bound, lanes) in pixels.iter_mut().enumerate() {
        let limit = area[bound] as i32;
        *lanes = lanes.map(|pixel| if bound < 2 { pixel.max(limit) } else { pixel.min(limit) });
    }
    for (lane, survives) in survives.iter_mut().enumerate() {
        *survives &= pixels[0][lane] < pixels[2][lane] && pixels[1][lane] < pixels[3][lane];
    }
}

#[inline(always)]
pub(super) fn each<T: Copy + Default>(apply: impl Fn(usize) -> T) -> [T; WAVE] {
    let mut out = [T::default(); WAVE];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = apply(lane);
    }
    out
}

/// Calls `apply` with 0 and 1. The compiler does not always inline `array::map`.
#[inline(always)]
pub(super) fn two<T>(apply: impl Fn(usize) -> T) -> [T; 2] {
    [apply(0), apply(1)]
}

#[inline(always)]
pub(super) fn three<T>(apply: impl Fn(usize) -> T) -> [T; 3] {
    [apply(0), apply(1), apply(2)]
}

/// Returns true if a triangle's winding is clockwise on a screen with y down, by positions that
/// are not snapped.
#[inline(always)]
pub(super) fn is_clockwise([x, y]: &Axes<&Floats>, lane: usize) -> bool {
    let wide = |corner: usize| [f64::from(x[corner][lane]), f64::from(y[corner][lane])];
    let turn = |[x0, y0]: [f64; 2], [x1, y1]: [f64; 2]| x0 * y1 - x1 * y0;
    0.0 + turn(wide(0), wide(1)) + turn(wide(1), wide(2)) + turn(wide(2), wide(0)) > 0.0
}

/// Returns twice the signed area on the grid, positive if clockwise.
#[inline(always)]
pub(super) fn grid_area(grid: &Axes<Ints>, lane: usize) -> i64 {
    let step = |axis: usize, to: usize| i64::from(grid[axis][to][lane] - grid[axis][0][lane]);
    step(0, 1) * step(1, 2) - step(1, 1) * step(0, 2)
}

/// Returns the mask of triangles that face the front.
#[inline(always)]
pub(super) fn fronts(place: &Axes<&Floats>, facing: &Lanes, rules: &Rules) -> [bool; WAVE] {
    each(|lane| {
        let own = is_clockwise(place, lane) == rules.clockwise_is_front;
        (facing[lane] == Facing::Front as u32) | ((facing[lane] == Facing::ByWinding as u32) & own)
    })
}

/// Returns the corners snapped to the grid, units.
#[inline(always)]
pub(super) fn on_grid(place: &Axes<&Floats>) -> Axes<Ints> {
    two(|axis| three(|corner| each(|lane| snap(place[axis][corner][lane]))))
}

/// Returns the edges from the first corner to the others, x and y, pixels.
#[inline(always)]
pub(super) fn edges([x, y]: &Axes<&Floats>) -> [[[f64; WAVE]; 2]; 2] {
    let edge = |axis: &[&Floats; 3], to: usize| each(|lane| f64::from(axis[to][lane]) - f64::from(axis[0][lane]));
    [[edge(x, 1), edge(x, 2)], [edge(y, 1), edge(y, 2)]]
}

/// Returns the signed area of the parallelogram that edges span.
#[inline(always)]
pub(super) fn area([x, y]: [&[[f64; WAVE]; 2]; 2], lane: usize) -> f64 {
    x[0][lane] * y[1][lane] - y[0][lane] * x[1][lane]
}

/// Swaps corners so that triangles are clockwise.
#[inline(always)]
pub(super) fn turn_clockwise(grid: &mut Axes<Ints>, area: &[i64; WAVE]) {
    for [_, second, third] in grid {
        for lane in 0..WAVE {
            // Branch-free swap: `turns` has all bits set if the corners are swapped.
            let (b, c, turns) = (second[lane], third[lane], (area[lane] >> 63) as i32);
            second[lane] = b ^ ((b ^ c) & turns);
            third[lane] = c ^ ((b ^ c) & turns);
        }
    }
}

/// Returns the pixels that triangles may cover: first and last pixels in x and y, exclusive at the
/// end.
#[inline(always)]
fn bounds(grid: &Axes<Ints>, bounds: PixelBounds) -> [Ints; 4] {
    let units = UNITS as i32;
    let [before, after] = match bounds {
        PixelBounds::Centres => [units / 2 - 1, units / 2],
        PixelBounds::Partial => [0, 0],
        PixelBounds::Touched => [-1, 0],
    };
    let first = |axis: usize| {
        let [a, b, c] = &grid[axis];
        each(|lane| (a[lane].min(b[lane]).min(c[lane]) + before) >> UNITS.ilog2())
    };
    let end = |axis: usize| {
        let [a, b, c] = &grid[axis];
        each(|lane| ((a[lane].max(b[lane]).max(c[lane]) - after) >> UNITS.ilog2()) + 1)
    };
    [first(0), first(1), end(0), end(1)]
}

#[inline(always)]
fn cull_lanes(
    place: &Axes<Floats>,
    facing: &Lanes,
    rules: &Rules,
    (survives, pixels): (&mut [bool; WAVE], &mut [Ints; 4]),
) {
    let place = two(|axis| three(|corner| &place[axis][corner]));
    let front = fronts(&place, facing, rules);
    let grid = on_grid(&place);
    *pixels = bounds(&grid, rules.bounds);
    let [x, y] = edges(&place);
    let [culls_back, culls_front] = rules.culls;
    *survives = each(|lane| {
        let has_pixels = (pixels[0][lane] < pixels[2][lane]) & (pixels[1][lane] < pixels[3][lane]);
        let area = area([&x, &y], lane);
        let is_solvable = (area != 0.0) & area.is_finite();
        let culled = if front[lane] { culls_front } else { culls_back };
        (grid_area(&grid, lane) != 0)
            & has_pixels
            & is_solvable
            & !(culled & (facing[lane] == Facing::ByWinding as u32))
    });
}

/// Vertices, facings and numbers of triangles, one triangle a lane.
#[derive(Clone, Copy)]
struct TriangleLanes<'l> {
    rows: &'l [Lanes; 3],
    facing: &'l Lanes,
    id: &'l Lanes,
}

#[inline(always)]
fn pack_lanes(
    TriangleLanes { rows, facing, id }: TriangleLanes<'_>,
    [x0, y0, x1, y1]: &[Ints; 4],
    packed: &mut [Lanes; 6],
) {
    let short = |pixel: i32| pixel.clamp(i16::MIN.into(), i16::MAX.into()) as u32;
    let pair = |x: &Ints, y: &Ints| each(|lane| short(x[lane]) & 0xffff | short(y[lane]) << 16);
    let first = each(|lane| rows[0][lane] | facing[lane] << FACING);
    *packed = [first, rows[1], rows[2], *id, pair(x0, y0), pair(x1, y1)];
}

kernel!(
    /// Packs triangles as they are stored until their tiles are drawn: rows, facing, numbers, and
    /// pixels saturated to 16 bits.
    pack, pack_lanes, (triangles: TriangleLanes<'_>, pixels: &[Ints; 4], packed: &mut [Lanes; 6])
);

kernel!(
    /// Finds the triangles that remain, and the pixels that they may cover.
    pub(super) cull, cull_lanes,
    (place: &Axes<Floats>, facing: &Lanes, rules: &Rules, out: (&mut [bool; WAVE], &mut [Ints; 4]))
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_sixteen_those_beside_the_view_become_nothing() {
        let vertex = |x: f32, y: f32, outside: u32| CullVertex { x, y, outside };
        let (left, above, near) = (1 << outside::SIDE, 4 << outside::SIDE, 1 << outside::PLANE);
        let vertices = [
            vertex(0.0, 0.0, 0),
            vertex(9.0, 0.0, 0),
            vertex(0.0, 9.0, 0),
            vertex(-9.0, 0.0, left),
            vertex(-9.0, -9.0, left | above),
            vertex(0.0, -9.0, above),
            vertex(-9.0, 9.0, left | near),
        ];
        let take = |triangle: &dyn Fn(usize) -> [u32; 3]| {
            let corners: Vec<u32> = (0..WAVE).flat_map(triangle).collect();
            let mut queue = CullQueue::default();
            let taken = queue.take((&vertices, corners.as_slice().try_into().unwrap()), 100, [7; WAVE]);
            (taken, queue)
        };
        let (taken, queue) = take(&|lane| if lane % 4 == 1 { [3, 4, 6] } else { [0, 1, 2] });
        assert_eq!((taken, queue.rejected), (Some(4), 0x2222));
        assert_eq!((queue.rows[2][0], queue.is_full()), (102, true));
        assert_eq!(take(&|_| [3, 4, 3]).0, Some(16));
        // Triangles that reach into the view from one side are not clipped, but those from behind
        // the eye are.
        assert_eq!(take(&|_| [3, 5, 1]).0, Some(0));
        assert_eq!(take(&|lane| if lane == 9 { [0, 1, 6] } else { [0, 1, 2] }).0, None);
    }
    #[test]
    fn bounds_contain_the_pixels_that_triangles_may_cover() {
        let pixels = |corners: [[i32; 2]; 3], kind| {
            let grid = two(|axis| three(|corner| [corners[corner][axis]; WAVE]));
            bounds(&grid, kind).map(|bound| bound[3])
        };
        // Corners lie in corners of pixels, at centres, and in between.
        let (whole, half, odd) = (256, 128, 37);
        let aligned = [[2 * whole, 3 * whole], [5 * whole, 3 * whole], [2 * whole, 7 * whole]];
        assert_eq!(pixels(aligned, PixelBounds::Centres), [2, 3, 5, 7]);
        assert_eq!(pixels(aligned, PixelBounds::Partial), [2, 3, 6, 8]);
        assert_eq!(pixels(aligned, PixelBounds::Touched), [1, 2, 6, 8]);
        let moved = |by: i32| aligned.map(|corner| corner.map(|at| at + by));
        assert_eq!(pixels(moved(half), PixelBounds::Centres), [2, 3, 6, 8]);
        assert_eq!(pixels(moved(half + 1), PixelBounds::Centres), [3, 4, 6, 8]);
        for kind in [PixelBounds::Partial, PixelBounds::Touched] {
            assert_eq!(pixels(moved(odd), kind), [2, 3, 6, 8], "{kind:?}");
        }
    }
}
