//! Setup of sixteen triangles at a time, from rows of vertices to the primitives of a tile: edges,
//! planes, depth bias, range of depths.
//!
//! Culled triangles do not reach this module (see `cull`). Lines and points arrive as the
//! triangles they are made of. Planes go through the corners as snapped to the grid, like edges.
//! Rounding in the viewport transform therefore does not move values that are exact on whole
//! pixels. Planes are solved in `f64` relative to the first vertex, rounded to `f32`, and
//! evaluated in `f32` with one sequence of operations everywhere.
//!
//! Source: Vulkan specification, "Rasterization".

use vitric_base::simd::{Lanes, Vectors, WAVE, kernel};
use vitric_exec::runtime::rows::{BLOCK, Chunk, gather, prefetch};

use super::cull::{Axes, Floats, Ints, area, each, fronts, grid_area, on_grid, three, turn_clockwise, two};
use super::kernel::output;
use super::lines::Cover;
use super::plan::Rules;
use super::plan::{Plan, VaryingSource, depth_bias, inverse_of_area};
use super::triangles::{Entry, Triangles};
use super::varies::Varies;
use crate::raster::Shape;
use crate::raster::{GROUP_LOG2, TILE_LOG2, Triangle, UNITS};
use crate::state::DepthBias;

/// Up to sixteen triangles to be set up, one a lane.
#[repr(C, align(64))]
#[derive(Debug)]
pub(super) struct SetUpLanes<'t> {
    /// The vertices' rows, corner by corner.
    rows: [[&'t [Chunk]; WAVE]; 3],
    facing: Lanes,
    id: Lanes,
    /// Bounds of the pixels that the triangles may cover.
    pixels: [Ints; 4],
    /// Lanes whose covered area differs from that of their corners.
    covers: Vec<(usize, Cover)>,
    /// Lanes that cover polygons.
    pub(super) polygons: Vec<(usize, Vec<Triangle>)>,
    count: usize,
}

impl<'t> SetUpLanes<'t> {
    /// No triangles.
    pub(super) const NONE: Self = Self {
        rows: [[&[]; WAVE]; 3],
        facing: [0; WAVE],
        id: [0; WAVE],
        pixels: [[0; WAVE]; 4],
        covers: Vec::new(),
        polygons: Vec::new(),
        count: 0,
    };

    /// Reads up to 16 triangles, and prefetches the rows of their vertices.
    pub(super) fn look_up(&mut self, triangles: impl Iterator<Item = (&'t Triangles, u32)>) {
        self.covers.clear();
        self.polygons.clear();
        let mut count = 0;
        for (lane, (triangles, index)) in triangles.take(WAVE).enumerate() {
            let (Entry { rows, id, facing, cover }, pixels) = triangles.entry(index);
            if let Some(cover) = cover.map(|number| triangles.cover(number)) {
                self.covers.push((lane, *cover));
                self.polygons.extend(triangles.polygon(cover).map(|parts| (lane, parts)));
            }
            for (of_corner, number) in self.rows.iter_mut().zip(rows) {
                let row = triangles.row(number);
                row.iter().step_by(2).for_each(prefetch);
                of_corner[lane] = row;
            }
            (self.facing[lane], self.id[lane]) = (facing as u32, id);
            for (bounds, bound) in self.pixels.iter_mut().zip(pixels) {
                bounds[lane] = bound.into();
            }
            count = lane + 1;
        }
        self.count = count;
        if count < WAVE {
            self.pixels.iter_mut().for_each(|bounds| bounds[count..].fill(0));
            for rows in &mut self.rows {
                // Unused lanes need valid rows, but their results are not read.
                let first = rows[0];
                rows[count..].fill(first);
            }
        }
    }

    /// Returns true if the covered area of any triangle differs from that of its corners.
    pub(super) fn has_covers(&self) -> bool {
        !self.covers.is_empty()
    }

    /// Returns true if any triangle may cover a group, and the approximate number of pixels that
    /// the triangles cover in a tile.
    pub(super) fn measure(&self) -> (bool, i32) {
        measure(&self.pixels)
    }
}

/// Gathered vertex components of triangles, one triangle a lane. Callers alternate between two
/// batches. A vector that is loaded directly after narrower stores have filled it would wait until
/// these stores have reached the cache.
#[derive(Debug, Default)]
pub struct TriangleBatch {
    /// Corner by corner: window coordinates, 1/w, and the input components of the fragment
    /// program.
    words: [Vectors; 3],
}

impl TriangleBatch {
    /// Returns one component of each corner.
    #[inline(always)]
    fn words(&self, word: usize) -> [&Lanes; 3] {
        three(|corner| &self.words[corner][word])
    }

    /// Returns one component of each corner, as floats.
    #[inline(always)]
    fn floats(&self, word: usize) -> [&Floats; 3] {
        three(|corner| bytemuck::must_cast_ref(&self.words[corner][word]))
    }

    #[inline(always)]
    fn place(&self) -> Axes<&Floats> {
        two(|axis| self.floats(output::WINDOW + axis))
    }

    #[inline(always)]
    fn depth(&self) -> [&Floats; 3] {
        self.floats(output::WINDOW + 2)
    }

    #[inline(always)]
    fn inverse_w(&self) -> [&Floats; 3] {
        self.floats(output::WINDOW + 3)
    }

    /// Gathers the vertex components of triangles.
    pub(super) fn gather(&mut self, plan: &Plan, lanes: &SetUpLanes<'_>) {
        for (rows, words) in lanes.rows.iter().zip(&mut self.words).filter(|_| lanes.count > 0) {
            words.resize(plan.row_chunks() * BLOCK);
            gather(rows, words);
        }
    }

    /// Sets up the gathered triangles into `words`. Returns the attributes that vary within any of
    /// them.
    pub(super) fn set_up(&self, plan: &Plan, lanes: &SetUpLanes<'_>, words: &mut [Lanes]) -> Varies {
        let varies = solve(self, lanes, plan, words);
        for (words, pixels) in part::<4>(words, Shape::PIXELS).iter_mut().zip(&lanes.pixels) {
            *words = bytemuck::must_cast(*pixels);
        }
        if lanes.has_covers() {
            replace(&lanes.covers, words);
        }
        if let Some(bias) = plan.bias {
            self.bias(plan, bias, words);
        }
        bound_depths(&lanes.pixels, &plan.rules, words);
        if plan.rules.samples == 1 {
            cover(&lanes.pixels, words);
        }
        varies
    }

    fn bias(&self, plan: &Plan, bias: DepthBias, words: &mut [Lanes]) {
        let ([origin, dx, dy], depths) = ([0, 1, 2].map(|word| (Shape::DEPTH + word) as usize), self.depth());
        for lane in 0..WAVE {
            let slopes = [dx, dy].map(|word| f32::from_bits(words[word][lane]));
            let moved = depth_bias(bias, plan.depth_bits, slopes, depths.iter().map(|corner| corner[lane]));
            words[origin][lane] = (f32::from_bits(words[origin][lane]) + moved).to_bits();
        }
    }
}

/// Replaces the covered areas of triangles.
#[cold]
fn replace(covers: &[(usize, Cover)], words: &mut [Lanes]) {
    let corners: &mut [Lanes; 6] = part(words, Shape::CORNERS);
    let mut grid = two(|axis| three(|corner| each(|lane| corners[corner * 2 + axis][lane] as i32)));
    for (lane, cover) in covers {
        for (corner, place) in cover.corners.iter().enumerate() {
            (grid[0][corner][*lane], grid[1][corner][*lane]) = (place[0], place[1]);
        }
    }
    let area = each(|lane| grid_area(&grid, lane));
    turn_clockwise(&mut grid, &area);
    put_coverage(&grid, words);
}

/// Returns the `N` dwords of primitives from `first` on.
#[inline(always)]
fn part<const N: usize>(words: &mut [Lanes], first: u32) -> &mut [Lanes; N] {
    words[first as usize..].first_chunk_mut().expect("every primitive has these words")
}

/// Writes the dwords of the edge from a corner to the next.
#[inline(always)]
fn edge_words([x, y]: &Axes<Ints>, edge: usize, [dx, dy, origin]: &mut [Lanes; 3]) {
    let (next, units) = ((edge + 1) % 3, UNITS as i32);
    for lane in 0..WAVE {
        let (a, b) = (y[edge][lane] - y[next][lane], x[next][lane] - x[edge][lane]);
        // Left edges go up and top edges go right, with the inside positive and y down.
        let leading = if a == 0 { b } else { a };
        let along_x = a.wrapping_mul((units / 2).wrapping_sub(x[edge][lane]));
        let along_y = b.wrapping_mul((units / 2).wrapping_sub(y[edge][lane]));
        dx[lane] = a.wrapping_mul(units) as u32;
        dy[lane] = b.wrapping_mul(units) as u32;
        origin[lane] = along_x.wrapping_add(along_y).wrapping_sub(i32::from(leading <= 0)) as u32;
    }
}

/// Returns the edges from the first corner to the others along an axis. This is a function because
/// a closure that the compiler does not inline is compiled for the lowest instruction set.
#[inline(always)]
fn edges_from_first(axis: &[Ints; 3]) -> [[f64; WAVE]; 2] {
    let mut edges = [[0.0; WAVE]; 2];
    for (edge, corner) in edges.iter_mut().zip(&axis[1..]) {
        for lane in 0..WAVE {
            edge[lane] = f64::from(corner[lane] - axis[0][lane]);
        }
    }
    edges
}

/// Edges from the first corner to the others, in grid units, and the reciprocal of the area they
/// span.
struct Solver {
    x: [[f64; WAVE]; 2],
    y: [[f64; WAVE]; 2],
    inverse_area: [f64; WAVE],
}

impl Solver {
    #[inline(always)]
    fn new(grid: &Axes<Ints>) -> Self {
        let (x, y) = (edges_from_first(&grid[0]), edges_from_first(&grid[1]));
        Self { inverse_area: each(|lane| inverse_of_area(area([&x, &y], lane))), x, y }
    }

    /// Writes the plane through the values at the corners: origin and slopes.
    #[inline(always)]
    fn plane(&self, [a, b, c]: [&Floats; 3], [origin, dx, dy]: &mut [Lanes; 3]) {
        for lane in 0..WAVE {
            let rise = |to: &Floats| f64::from(to[lane]) - f64::from(a[lane]);
            let (to_b, to_c) = (rise(b), rise(c));
            let slope_x = (to_b * self.y[1][lane] - to_c * self.y[0][lane]) * self.inverse_area[lane];
            let slope_y = (to_c * self.x[0][lane] - to_b * self.x[1][lane]) * self.inverse_area[lane];
            origin[lane] = a[lane].to_bits();
            dx[lane] = (slope_x as f32).to_bits();
            dy[lane] = (slope_y as f32).to_bits();
        }
    }

    /// Writes the plane through the values at the corners, where zero slopes may have either sign.
    /// Returns true if there may be slopes. Flat or single-coloured geometry has none, so the
    /// check skips most planes.
    #[inline(always)]
    fn may_slope(&self, values: [&Floats; 3], words: &mut [Lanes; 3]) -> bool {
        let slopes = !are_same(values);
        match slopes {
            true => self.plane(values, words),
            false => *words = [each(|lane| values[0][lane].to_bits()), [0; WAVE], [0; WAVE]],
        }
        slopes
    }
}

/// Returns true if each triangle has equal values at all of its corners, so that its plane is
/// exactly that value everywhere. The values must be finite and not negative zero.
#[inline(always)]
fn are_same([a, b, c]: [&Floats; 3]) -> bool {
    let mut differs = 0;
    for lane in 0..WAVE {
        let [a, b, c] = [a, b, c].map(|values| values[lane].to_bits());
        let is_special = a << 1 >= f32::INFINITY.to_bits() << 1 || a == (-0.0f32).to_bits();
        differs |= a ^ b | a ^ c | u32::from(is_special);
    }
    differs == 0
}

/// Values of an input component at the corners of triangles.
#[derive(Clone, Copy)]
struct CornerValues<'v> {
    values: [&'v Lanes; 3],
    inverse_w: [&'v Floats; 3],
    /// The corner that supplies flat values: the first or the last one.
    provoking: usize,
}

/// Writes the dwords of one input component of the fragment program. Returns true if the component
/// may vary within triangles.
#[inline(always)]
fn input_words(
    solver: &Solver,
    source: VaryingSource,
    CornerValues { values, inverse_w, provoking }: CornerValues<'_>,
    words: &mut [Lanes; 3],
) -> bool {
    let value = |corner: usize, lane: usize| f32::from_bits(values[corner][lane]);
    match source {
        VaryingSource::None => {}
        VaryingSource::Flat => words[0] = *values[provoking],
        VaryingSource::Vertex(_) => words[0] = *values[0],
        VaryingSource::Point(_) => (words[0], words[1]) = (*values[0], *values[1]),
        VaryingSource::Linear | VaryingSource::Side | VaryingSource::Weight(_, false) => {
            let [a, b, c] = three(|corner| each(|lane| value(corner, lane)));
            return solver.may_slope([&a, &b, &c], words);
        }
        VaryingSource::Perspective | VaryingSource::Weight(_, true) => {
            let [a, b, c] = three(|corner| each(|lane| value(corner, lane) * inverse_w[corner][lane]));
            return solver.may_slope([&a, &b, &c], words);
        }
    }
    true
}

/// Writes edges and corners.
#[inline(always)]
fn put_coverage(grid: &Axes<Ints>, words: &mut [Lanes]) {
    for edge in 0..3 {
        edge_words(grid, edge, part(words, Shape::EDGES + edge as u32 * 3));
    }
    for (corner, words) in part::<6>(words, Shape::CORNERS).as_chunks_mut::<2>().0.iter_mut().enumerate() {
        *words = two(|axis| each(|lane| grid[axis][corner][lane] as u32));
    }
}

#[inline(always)]
fn solve_lanes(batch: &TriangleBatch, lanes: &SetUpLanes<'_>, plan: &Plan, words: &mut [Lanes]) -> Varies {
    let (place, Plan { rules, sources, .. }) = (batch.place(), plan);
    let front = fronts(&place, &lanes.facing, rules);
    let mut grid = on_grid(&place);
    let (solver, inverse_w) = (Solver::new(&grid), batch.inverse_w());
    let area = each(|lane| grid_area(&grid, lane));
    turn_clockwise(&mut grid, &area);
    let w_slopes = solver.may_slope(inverse_w, part(words, Shape::INVERSE_W));
    let depth_slopes = solver.may_slope(batch.depth(), part(words, Shape::DEPTH));
    put_coverage(&grid, words);
    let w_varies = w_slopes || inverse_w[0].iter().any(|value| *value != 1.0);
    let mut varies = Varies::NONE.with_w(w_varies).with_depth(depth_slopes);
    for (index, source) in sources.iter().enumerate() {
        let (values, words) = (batch.words(output::VARYINGS + index), part(words, Shape::first_word(index)));
        let corners = CornerValues { values, inverse_w, provoking: rules.provoking };
        let changes = input_words(&solver, *source, corners, words);
        varies = varies.with_input(index, changes);
    }
    *part(words, Shape::REFERENCE) = two(|axis| each(|lane| (grid[axis][0][lane] as f32 / UNITS as f32).to_bits()));
    let depths = batch.depth();
    let range = |end: usize| each(|lane| rules.depths_of(depths.map(|corner| corner[lane]))[end].to_bits());
    *part(words, Shape::DEPTH_RANGE) = two(range);
    *part(words, Shape::FRONT) = [each(|lane| u32::from(front[lane])), lanes.id];
    varies.settled()
}

kernel!(
    /// Writes the dwords of triangles but for depth bias and the range of depths. Returns the
    /// attributes that vary within any triangle.
    solve, solve_lanes, (batch: &TriangleBatch, lanes: &SetUpLanes<'_>, plan: &Plan, words: &mut [Lanes]) -> Varies
);

/// Writes the minimum and the maximum depth at the pixels that a triangle may cover, like
/// `hiz::depths_over` in vector form.
#[inline(always)]
fn bound_depths_lanes(pixels: &[Ints; 4], rules: &Rules, words: &mut [Lanes]) {
    let [first, last] = if rules.samples == 1 { [0.5, 0.5] } else { [0.0, 1.0] };
    let word = |first: u32, number: usize| each(|lane| f32::from_bits(words[first as usize + number][lane]));
    let (reference, [origin, dx, dy]) =
        (two(|axis| word(Shape::REFERENCE, axis)), three(|part| word(Shape::DEPTH, part)));
    let [near, far] = two(|end| word(Shape::DEPTH_RANGE, end));
    let low = |axis: usize| each(|lane| pixels[axis][lane] as f32 - reference[axis][lane] + first);
    let high = |axis: usize| each(|lane| (pixels[axis + 2][lane] - 1) as f32 - reference[axis][lane] + last);
    let (xs, ys) = ([low(0), high(0)], [low(1), high(1)]);
    let corner = |x: usize, y: usize| {
        each(|lane| (origin[lane] + dx[lane] * xs[x][lane] + dy[lane] * ys[y][lane]).max(near[lane]).min(far[lane]))
    };
    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
    words[Shape::DEPTHS as usize] = each(|lane| a[lane].min(b[lane]).min(c[lane].min(d[lane])).to_bits());
    words[Shape::DEPTHS as usize + 1] = each(|lane| a[lane].max(b[lane]).max(c[lane].max(d[lane])).to_bits());
}

kernel!(
    /// Writes the range of depths.
    bound_depths, bound_depths_lanes, (pixels: &[Ints; 4], rules: &Rules, words: &mut [Lanes])
);

/// Returns true if any triangle may cover a group by the rule of `may_cover_group`. Also returns
/// half of the number of pixels in the triangles' bounds, with each bounds clamped to the size of
/// a tile.
#[inline(always)]
fn measure_lanes([x0, y0, x1, y1]: &[Ints; 4]) -> (bool, i32) {
    let (group, tile) = (1 << GROUP_LOG2, 1 << TILE_LOG2);
    let (mut large, mut count) = (0, 0);
    for lane in 0..WAVE {
        let (width, height) = (x1[lane] - x0[lane], y1[lane] - y0[lane]);
        let is_long = (width >= group) & (height >= group);
        let [wide, high] = [width, height].map(|pixels| pixels.min(4 * group * group) + 1);
        large |= u32::from(is_long & (wide * high >= 4 * group * group));
        count += width.min(tile) * height.min(tile) / 2;
    }
    (large != 0, count)
}

kernel!(
    /// Measures triangles by the bounds of their pixels.
    measure, measure_lanes, (pixels: &[Ints; 4]) -> (bool, i32)
);

/// Writes the mask of the first pixels of each triangle that lie inside its edges.
#[inline(always)]
fn cover_lanes([x, y, ..]: &[Ints; 4], words: &mut [Lanes]) {
    let mut covered = [0; WAVE];
    let edges: &[Lanes; 9] = part(words, Shape::EDGES);
    for lane in 0..WAVE {
        let edge = |edge: usize| {
            let [dx, dy, origin] = three(|word| edges[edge * 3 + word][lane]);
            let along_x = dx.wrapping_mul(x[lane] as u32);
            (dx, dy, origin.wrapping_add(along_x).wrapping_add(dy.wrapping_mul(y[lane] as u32)))
        };
        let (a, b, c) = (edge(0), edge(1), edge(2));
        // The code has no inner loops, so that the compiler vectorizes across lanes.
        let at = |(dx, dy, first): (u32, u32, u32), column: u32, row: u32| {
            first.wrapping_add(dx.wrapping_mul(column)).wrapping_add(dy.wrapping_mul(row))
        };
        let pixel = |column: u32, row: u32| {
            let outside = at(a, column, row) | at(b, column, row) | at(c, column, row);
            (!outside >> 31) << (row * Shape::COVERED_SIDE + column)
        };
        let line = |row: u32| pixel(0, row) | pixel(1, row) | pixel(2, row) | pixel(3, row);
        covered[lane] = line(0) | line(1) | line(2) | line(3);
    }
    words[Shape::COVERED as usize] = covered;
}

kernel!(
    /// Writes the mask of the first pixels that are covered, with one sample a pixel.
    cover, cover_lanes, (pixels: &[Ints; 4], words: &mut [Lanes])
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::PrimitiveWords;
    use crate::geometry::Primitives;
    use crate::geometry::cull::CullQueue;
    use crate::geometry::plan::Facing;
    use crate::geometry::plan::PixelBounds;
    use crate::hiz::{DepthFormat, depths_over};
    use crate::raster::{Plane, snap};

    /// Generates a coordinate of a small triangle, of a large one, or a special value such as NaN.
    fn coordinate() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => -4.0f32..40.0,
            2 => (-4i32..40).prop_map(|pixel| pixel as f32 + 0.5),
            1 => -5e4f32..5e4,
            1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, -1e30, 0.0]),
        ]
    }

    fn corner() -> impl Strategy<Value = [f32; 4]> {
        (coordinate(), coordinate(), -0.5f32..1.5, 0.01f32..4.0).prop_map(|(x, y, z, w)| [x, y, z, 1.0 / w])
    }

    /// Returns the plane through three values by its definition.
    fn plane(corners: &[[f32; 4]; 3], values: [f32; 3]) -> Plane {
        let edge = |to: usize, axis: usize| f64::from(snap(corners[to][axis]) - snap(corners[0][axis]));
        let rise = |to: usize| f64::from(values[to]) - f64::from(values[0]);
        let inverse_area = UNITS as f64 / (edge(1, 0) * edge(2, 1) - edge(1, 1) * edge(2, 0));
        let dx = (rise(1) * edge(2, 1) - rise(2) * edge(1, 1)) * inverse_area;
        let dy = (rise(2) * edge(1, 0) - rise(1) * edge(2, 0)) * inverse_area;
        Plane { origin: values[0], dx: dx as f32, dy: dy as f32 }
    }

    /// Returns true if the centre of a pixel lies inside all edges in `words`.
    fn covers(words: PrimitiveWords<'_>, [x, y]: [i64; 2]) -> bool {
        [0, 3, 6].map(|edge| [0, 1, 2].map(|word| words.get(Shape::EDGES + edge + word))).iter().all(
            |&[dx, dy, origin]| {
                let along = dx.wrapping_mul(x as u32).wrapping_add(dy.wrapping_mul(y as u32));
                origin.wrapping_add(along) as i32 >= 0
            },
        )
    }

    /// Culls one triangle among others and sets it up, with a flat, a linear and a perspective
    /// input whose values are the depths.
    fn set_up(corners: &[[f32; 4]; 3], rules: &Rules) -> Primitives {
        let plan = Plan {
            rules: *rules,
            sources: [VaryingSource::Flat, VaryingSource::Linear, VaryingSource::Perspective, VaryingSource::None]
                .into_iter()
                .collect(),
            ..Plan::default()
        };
        let (mut triangles, mut queue, mut primitives) =
            (Triangles::default(), CullQueue::default(), Primitives::default());
        triangles.start(plan.clone(), 0, 0);
        let nowhere = [[0.0; 4]; 3];
        for corners in [&nowhere, corners, &nowhere] {
            let rows = corners.map(|[x, y, z, inverse_w]| triangles.add_row([x, y, z, inverse_w], |_, _| z.to_bits()));
            queue.push(Entry { rows, id: 7, facing: Facing::ByWinding, cover: None }, &triangles);
        }
        queue.flush(&mut triangles, None);
        let all: Vec<u32> = (0..triangles.len() as u32).collect();
        primitives.set_up(&plan, (&all, |index| (&triangles, index)), &mut Default::default());
        if let Some(index) = (0..triangles.len() as u32).next() {
            assert_eq!(triangles.triangle(index), primitives.triangle(index));
            let bias = DepthBias { constant: 3.0, slope: 1.5, clamp: 0.01, ..DepthBias::default() };
            for plan in [plan.clone(), Plan { bias: Some(bias), depth_bits: 24, ..plan }] {
                let mut biased = Primitives::default();
                biased.set_up(&plan, (&all, |index| (&triangles, index)), &mut Default::default());
                let (early, late) = (plan.depth_shape(triangles.places(index)), biased.shape(index));
                let bits = |shape: &Shape| [shape.depth.origin, shape.depth.dx, shape.depth.dy].map(f32::to_bits);
                assert_eq!((early.reference, early.depth_range), (late.reference, late.depth_range));
                assert!(bits(&early) == bits(&late) || late.depth.origin.is_nan() || late.depth.dx.is_nan());
            }
        }
        primitives
    }

    proptest! {
        #[test]
        fn triangles_are_set_up_as_defined(
            corners in prop::array::uniform3(corner()), samples in prop::sample::select(vec![1u32, 4]), culls: [bool; 2],
            clockwise_is_front: bool, provoking in prop::sample::select(vec![0usize, 2]), depths_within_corners: bool,
        ) {
            let depth_range = [0.25, 0.75];
            let bounds = if samples == 1 { PixelBounds::Centres } else { PixelBounds::Partial };
            let rules = Rules { clockwise_is_front, culls, depth_range, depths_within_corners, samples, bounds, provoking };
            let primitives = set_up(&corners, &rules);
            let survives = !primitives.is_empty();
            let grid = corners.map(|[x, y, ..]| [i64::from(snap(x)), i64::from(snap(y))]);
            let finite = corners.iter().all(|[x, y, ..]| x.is_finite() && y.is_finite());
            let triangle = Triangle::new(grid).filter(|_| finite);
            let Some(triangle) = triangle else { prop_assert!(!survives); return Ok(()) };
            let pixels = if samples == 1 { triangle.centre_bounds() } else { triangle.pixel_bounds() };
            let turn = |a: [f32; 4], b: [f32; 4]| f64::from(a[0]) * f64::from(b[1]) - f64::from(b[0]) * f64::from(a[1]);
            let area = turn(corners[0], corners[1]) + turn(corners[1], corners[2]) + turn(corners[2], corners[0]);
            let front = (area > 0.0) == clockwise_is_front;
            let expected = pixels[0] < pixels[2] && pixels[1] < pixels[3] && !culls[usize::from(front)];
            let edge = |to: usize, axis: usize| f64::from(corners[to][axis]) - f64::from(corners[0][axis]);
            let is_solvable = edge(1, 0) * edge(2, 1) - edge(1, 1) * edge(2, 0) != 0.0;
            prop_assert_eq!(survives, expected && is_solvable);
            if !survives {
                return Ok(());
            }
            prop_assert_eq!(primitives.triangle(0), triangle);
            let kept = pixels.map(|bound| bound.clamp(-32_768, 32_767));
            prop_assert_eq!(primitives.pixels(0), kept);
            let shape = primitives.shape(0);
            let depths = corners.map(|corner| corner[2].clamp(0.25, 0.75));
            let least = |depths: [f32; 3]| depths.into_iter().fold(f32::INFINITY, f32::min);
            let own = [least(depths), -least(depths.map(|depth| -depth))];
            let range = if depths_within_corners { own } else { depth_range };
            prop_assert_eq!((shape.front, shape.depth_range, shape.id), (front, range, 7));
            prop_assert_eq!(shape.inverse_w, plane(&corners, corners.map(|corner| corner[3])));
            prop_assert_eq!(shape.depth, plane(&corners, corners.map(|corner| corner[2])));
            let words = primitives.words(0);
            let input =
                |index: usize| [0, 1, 2].map(|word| f32::from_bits(words.get(Shape::first_word(index) + word)));
            let [flat, linear, perspective] = [input(0), input(1), input(2)];
            prop_assert_eq!(flat, [corners[provoking][2], 0.0, 0.0]);
            prop_assert_eq!(linear, [shape.depth.origin, shape.depth.dx, shape.depth.dy]);
            let over_w = plane(&corners, corners.map(|corner| corner[2] * corner[3]));
            prop_assert_eq!(perspective, [over_w.origin, over_w.dx, over_w.dy]);
            let range = depths_over(&shape, kept, DepthFormat { bits: 32, samples });
            prop_assert!(primitives.bounds_of(0).depths == range || range.min.is_nan());
            for bit in (0..16).filter(|_| samples == 1 && (0..2).all(|axis| pixels[axis + 2] - pixels[axis] <= 4)) {
                let centre = [kept[0] + bit % 4, kept[1] + bit / 4].map(|pixel| pixel * UNITS + UNITS / 2);
                let is_covered = triangle.covers_point(centre[0], centre[1]);
                prop_assert_eq!(words.get(Shape::COVERED) >> bit & 1 != 0, is_covered);
            }
            // Edge dwords are exact near small triangles.
            if (0..2).all(|axis| pixels[axis + 2] - pixels[axis] <= 30) {
                for x in pixels[0] - 2..pixels[2] + 2 {
                    for y in pixels[1] - 2..pixels[3] + 2 {
                        let centre = [x, y].map(|pixel| pixel * UNITS + UNITS / 2);
                        prop_assert_eq!(covers(words, [x, y]), triangle.covers_point(centre[0], centre[1]));
                    }
                }
            }
        }
    }
}
