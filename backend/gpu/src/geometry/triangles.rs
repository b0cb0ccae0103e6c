//! Triangles that wait for their tiles: the vertices they share, and the data that sorting them
//! into tiles needs.
//!
//! Data for their fragments is computed tile by tile, see `batch`. It is much larger than a
//! vertex, and storing it would cost memory bandwidth.

use std::ops::Range;

use vitric_base::simd::{Lanes, Vectors, WAVE};
use vitric_exec::runtime::rows::{BLOCK, Chunk, prefetch};

use super::kernel::output;
use super::lines::Cover;
use super::plan::{Facing, PixelBounds};
use super::plan::{Plan, VaryingSource};
use crate::raster::Shape;
#[cfg(test)]
use crate::raster::UNITS;
use crate::raster::{Criterion, Triangle, may_cover_group, snap};

/// Maximum number of triangles in a window, and of windows in a pass over tiles. A triangle is
/// addressed by 16 bits of each.
pub const MAX_TRIANGLES: usize = 1 << 16;

/// Pixels that a triangle may cover: `[x0, y0, x1, y1]`, exclusive at the end, saturated. No
/// attachment is larger than 16 bits can address.
pub type Pixels = [i16; 4];

/// A triangle without its pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Rows of the vertices, in their order. The rules of the plan say which one is provoking.
    pub(super) rows: [u32; 3],
    /// Number of the triangle's primitive in its draw's instance.
    pub(super) id: u32,
    pub(super) facing: Facing,
    /// Number of the cover, if the covered area differs from that of the corners.
    pub(super) cover: Option<u32>,
}

/// A waiting triangle. Tiles access triangles in any order, so all data of one is stored together.
#[derive(Debug, Clone, Copy)]
struct Packed {
    /// Rows of the vertices. The bits from `FACING` on in the first row hold the facing.
    rows: [u32; 3],
    id: u32,
    /// First pixels and exclusive ends: x in the low half, y in the high half.
    pixels: [u32; 2],
}

impl Packed {
    fn pixels(&self) -> Pixels {
        let [first, end] = self.pixels;
        [first as i16, (first >> 16) as i16, end as i16, (end >> 16) as i16]
    }
}

/// Up to sixteen consecutive triangles as tests in front of the tiler read them, one a lane. Unused
/// lanes repeat the last triangle.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct TestLanes {
    /// First pixels and exclusive ends that the triangles may cover: x in the low half, y in the
    /// high half.
    pub pixels: [Lanes; 2],
    /// Depths of the corners, before bias and clamp.
    pub depths: [[f32; WAVE]; 3],
}

/// Position of the [`Facing`] bits in the first row's number. Windows have fewer vertices than
/// that.
pub(super) const FACING: u32 = 30;

/// Triangles of draws with one plan, in order.
#[derive(Debug)]
pub struct Triangles {
    plan: Plan,
    /// Number of chunks of a row, by the plan.
    row_chunks: usize,
    /// Rows, at least as many as vertices: window coordinates, 1/w, and the input components of
    /// the fragment program.
    rows: Vectors,
    vertices: usize,
    packed: Vec<Packed>,
    covers: Vec<Cover>,
    /// Corners of polygons, clockwise, units.
    polygons: Vec<Vec<[i64; 2]>>,
    /// For each triangle the number of its cover, or [`NO_COVER`] if it covers the area of its
    /// corners. Empty if no triangle has a cover.
    cover_of: Vec<u32>,
    /// Attachment layer to draw to.
    layer: u32,
    /// Upper bounds of the widths and of the heights of all triangles, pixels.
    max_extent: [i16; 2],
}

const NO_COVER: u32 = u32::MAX;

/// Fills the lanes from `count` on with the value of the last lane before them.
fn repeat_last<T: Copy>(lanes: &mut [T; WAVE], count: usize) {
    let last = lanes[count - 1];
    lanes[count..].fill(last);
}

impl Default for Triangles {
    fn default() -> Self {
        let plan = Plan::default();
        Self {
            row_chunks: plan.row_chunks(),
            plan,
            rows: Vectors::default(),
            vertices: 0,
            packed: Vec::new(),
            covers: Vec::new(),
            polygons: Vec::new(),
            cover_of: Vec::new(),
            layer: 0,
            max_extent: [0; 2],
        }
    }
}

impl Triangles {
    /// Clears the buffer and reserves room for `room` triangles of a layer.
    pub(crate) fn start(&mut self, plan: Plan, room: usize, layer: u32) {
        self.row_chunks = plan.row_chunks();
        (self.plan, self.layer, self.max_extent) = (plan, layer, [0; 2]);
        self.vertices = 0;
        self.covers.clear();
        self.polygons.clear();
        self.cover_of.clear();
        self.packed.clear();
        self.packed.reserve(room);
    }

    /// Clears the buffer and copies the vertices, covers and polygons of another buffer.
    pub(super) fn start_after(&mut self, others: &Self) {
        self.start(others.plan.clone(), 0, others.layer);
        self.covers.clone_from(&others.covers);
        self.polygons.clone_from(&others.polygons);
        self.rows.clone_from(&others.rows);
        self.vertices = others.vertices;
    }

    /// Returns the number of triangles.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Returns true if there are no triangles.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Returns the memory use in equivalents of triangles. Meshes that share vertices and
    /// triangles that share none are both covered, and vertices of culled triangles count.
    pub fn weight(&self) -> usize {
        self.len().max(self.vertices / 4)
    }

    /// Returns the bytes of the triangles, their covers and their vertices.
    pub fn bytes(&self) -> usize {
        let rows = self.vertices * self.row_chunks * size_of::<Chunk>();
        size_of_val(&*self.packed) + size_of_val(&*self.covers) + size_of_val(&*self.cover_of) + rows
    }

    /// Returns the bytes of memory that the buffer would keep if it were cleared, except polygons.
    pub fn capacity_bytes(&self) -> usize {
        let covers = self.covers.capacity() * size_of::<Cover>() + self.cover_of.capacity() * size_of::<u32>();
        self.rows.capacity() * size_of::<Lanes>() + self.packed.capacity() * size_of::<Packed>() + covers
    }

    /// Returns false if no triangle is large enough to cover a group of pixels.
    pub fn may_cover_groups(&self) -> bool {
        let [width, height] = self.max_extent.map(i64::from);
        may_cover_group([0, 0, width, height])
    }

    /// Drops the vertices from a number on. No triangle may use them.
    pub(super) fn forget_rows(&mut self, from: usize) {
        self.vertices = from;
    }

    /// Returns the number of vertices that have rows.
    pub(super) fn vertices(&self) -> usize {
        self.vertices
    }

    /// Returns the attachment layer to draw to.
    pub fn layer(&self) -> u32 {
        self.layer
    }

    /// Returns the plan by which the triangles are set up.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the pixels that a triangle may cover.
    #[inline]
    pub fn pixels(&self, index: u32) -> Pixels {
        self.packed[index as usize].pixels()
    }

    /// Returns the criterion that a cell must meet for any of its pixels to be covered.
    pub fn outer_criterion(&self) -> Criterion {
        match self.plan.rules.bounds {
            PixelBounds::Touched => Criterion::Touching,
            _ => Criterion::Conservative,
        }
    }

    /// Returns a triangle's covered area.
    pub fn triangle(&self, index: u32) -> Triangle {
        let place = |row: u32| {
            let [x, y, ..] = self.row(row)[0].map(f32::from_bits);
            [snap(x), snap(y)].map(i64::from)
        };
        let (Entry { rows, cover, .. }, _) = self.entry(index);
        if let Some(parts) = cover.and_then(|number| self.polygon(self.cover(number))) {
            // Every pixel that touches the polygon touches this part.
            return parts[0];
        }
        let corners = match cover {
            Some(number) => self.cover(number).corners.map(|corner| corner.map(i64::from)),
            None => [place(rows[0]), place(rows[1]), place(rows[2])],
        };
        Triangle::new(corners).expect("what has no area is culled")
    }

    /// Returns the depths of a triangle's corners, before bias and clamp.
    #[inline]
    pub fn depths(&self, index: u32) -> [f32; 3] {
        let depth = |row: u32| f32::from_bits(self.row(row)[0][output::WINDOW + 2]);
        let [first, second, third] = self.rows_of(index);
        [depth(first), depth(second), depth(third)]
    }

    /// Reads triangles for tests. `range` has at most sixteen.
    #[inline]
    pub fn read_lanes(&self, range: Range<u32>, lanes: &mut TestLanes) {
        let (words, stride) = (self.rows.as_flattened(), self.row_chunks * BLOCK);
        let packed = &self.packed[range.start as usize..range.end as usize];
        for (lane, Packed { rows: [first, second, third], pixels, .. }) in packed.iter().enumerate() {
            let depth = |row: u32| f32::from_bits(words[row as usize * stride + output::WINDOW + 2]);
            lanes.pixels[0][lane] = pixels[0];
            lanes.pixels[1][lane] = pixels[1];
            lanes.depths[0][lane] = depth(first & ((1 << FACING) - 1));
            lanes.depths[1][lane] = depth(*second);
            lanes.depths[2][lane] = depth(*third);
        }
        let count = packed.len();
        if count < WAVE {
            lanes.pixels.iter_mut().for_each(|lanes| repeat_last(lanes, count));
            lanes.depths.iter_mut().for_each(|lanes| repeat_last(lanes, count));
        }
    }

    /// Returns the range that depths of fragments are clamped to, and true if they stay between
    /// those of their triangle's corners.
    pub fn depth_limits(&self) -> ([f32; 2], bool) {
        (self.plan.rules.depth_range, self.plan.rules.depths_within_corners)
    }

    /// Returns the position and depth slopes of a triangle as its tiles compute them. Other fields
    /// of the shape are left at their defaults.
    pub fn shape(&self, index: u32) -> Shape {
        self.plan.depth_shape(self.places(index))
    }

    /// Returns the corners of a triangle in the window: x, y and depth.
    pub(super) fn places(&self, index: u32) -> [[f32; 3]; 3] {
        let place = |row: u32| {
            let [x, y, depth, ..] = self.row(row)[0].map(f32::from_bits);
            [x, y, depth]
        };
        let [first, second, third] = self.rows_of(index);
        [place(first), place(second), place(third)]
    }

    /// Returns the rows of a triangle's vertices.
    #[inline]
    fn rows_of(&self, index: u32) -> [u32; 3] {
        let [first, second, third] = self.packed[index as usize].rows;
        [first & ((1 << FACING) - 1), second, third]
    }

    /// Returns a triangle, and the pixels that it may cover.
    #[inline]
    pub(super) fn entry(&self, index: u32) -> (Entry, Pixels) {
        let packed = self.packed[index as usize];
        let Packed { rows: [first, second, third], id, .. } = packed;
        let facing = match first >> FACING {
            0 => Facing::Back,
            1 => Facing::Front,
            _ => Facing::ByWinding,
        };
        let cover = self.cover_of.get(index as usize).copied().filter(|&number| number != NO_COVER);
        (Entry { rows: [first & ((1 << FACING) - 1), second, third], id, facing, cover }, packed.pixels())
    }

    /// Prefetches a triangle.
    #[inline]
    pub(super) fn prefetch(&self, index: u32) {
        prefetch(&self.packed[index as usize]);
    }

    /// Returns the cover with a number.
    pub(super) fn cover(&self, number: u32) -> &Cover {
        &self.covers[number as usize]
    }

    /// Returns true if a triangle represents a polygon. [`Self::triangle`] then returns a part of
    /// it.
    pub fn is_polygon(&self, index: u32) -> bool {
        !self.polygons.is_empty()
            && self.entry(index).0.cover.is_some_and(|number| self.cover(number).polygon.is_some())
    }

    /// Returns the parts of a cover's polygon, or `None` if the cover is not a polygon.
    pub(super) fn polygon(&self, cover: &Cover) -> Option<Vec<Triangle>> {
        cover.polygon.map(|number| Triangle::of_polygon(&self.polygons[number as usize]))
    }

    /// Adds the corners of a polygon, clockwise, at least three. Returns the polygon's number.
    pub(super) fn add_polygon(&mut self, corners: Vec<[i64; 2]>) -> u32 {
        self.polygons.push(corners);
        self.polygons.len() as u32 - 1
    }

    /// Adds a cover. Returns its number.
    pub(super) fn add_cover(&mut self, cover: Cover) -> u32 {
        self.covers.push(cover);
        self.covers.len() as u32 - 1
    }

    /// Returns the number of chunks in a vertex's row.
    pub(super) fn row_chunks(&self) -> usize {
        self.row_chunks
    }

    /// Returns the components of a vertex.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[Chunk] {
        let chunks = self.row_chunks;
        &self.rows.as_flattened().as_chunks().0[row as usize * chunks..][..chunks]
    }

    /// Adds rows for `count` vertices, to be filled in by the caller. Returns the rows and the
    /// number of the first.
    pub(super) fn add_rows(&mut self, count: usize) -> (&mut [Chunk], u32) {
        let (first, chunks) = (self.vertices, self.row_chunks);
        self.vertices += count;
        let lines = (self.vertices * chunks * BLOCK).div_ceil(WAVE);
        if self.rows.len() < lines {
            self.rows.resize(lines);
        }
        (&mut self.rows.as_flattened_mut().as_chunks_mut().0[first * chunks..self.vertices * chunks], first as u32)
    }

    /// Adds a vertex with its window coordinates and 1/w. `word` returns the bits of each varying
    /// by the plan. Returns the number of the row.
    pub(super) fn add_row(&mut self, place: [f32; 4], word: impl Fn(usize, &VaryingSource) -> u32) -> u32 {
        let number = self.add_rows(1).1;
        let Self { plan, rows, row_chunks, .. } = self;
        let row = &mut rows.as_flattened_mut()[number as usize * *row_chunks * BLOCK..];
        let (first, words) = row.split_at_mut(place.len());
        first.copy_from_slice(&place.map(f32::to_bits));
        // A plain loop, because chained iterators are not inlined here.
        for (index, (to, source)) in words.iter_mut().zip(&plan.sources).enumerate() {
            *to = word(index, source);
        }
        number
    }

    /// Adds the triangles of the lanes set in `lives`. `words` is packed by [`super::cull`], and
    /// `covers` holds the lanes that have a cover.
    #[inline]
    pub(super) fn push_lanes(&mut self, words: &[Lanes; 6], survives: &[bool; WAVE], covers: &[(usize, u32)]) {
        debug_assert!(words[1].iter().chain(&words[2]).all(|row| row >> FACING == 0), "a window of 2^30 vertices");
        let of_lane = |lane: usize| {
            let word = |number: usize| words[number][lane];
            Packed { rows: [word(0), word(1), word(2)], id: word(3), pixels: [word(4), word(5)] }
        };
        self.grow_extent([&words[4], &words[5]], survives);
        if survives == &[true; WAVE] && covers.is_empty() && self.cover_of.is_empty() {
            self.packed.extend((0..WAVE).map(of_lane));
            return;
        }
        for lane in (0..WAVE).filter(|&lane| survives[lane]) {
            let cover = covers.iter().find(|cover| cover.0 == lane);
            if cover.is_some() || !self.cover_of.is_empty() {
                self.cover_of.resize(self.packed.len(), NO_COVER);
                self.cover_of.push(cover.map_or(NO_COVER, |cover| cover.1));
            }
            self.packed.push(of_lane(lane));
        }
    }

    /// Grows the greatest extent to hold the pixels of the lanes set in `survives`.
    #[inline(always)]
    fn grow_extent(&mut self, [first, end]: [&Lanes; 2], survives: &[bool; WAVE]) {
        let [mut width, mut height] = self.max_extent;
        for lane in 0..WAVE {
            let shown = -i16::from(survives[lane]);
            let [first, end] = [first[lane], end[lane]];
            width = width.max((end as i16).saturating_sub(first as i16) & shown);
            height = height.max(((end >> 16) as i16).saturating_sub((first >> 16) as i16) & shown);
        }
        self.max_extent = [width, height];
    }
}

#[cfg(test)]
impl Triangles {
    /// Adds a triangle with corners in the window: x, y, and depth from 0 to 1. Returns false if
    /// the triangle covers nothing.
    pub fn push_corners(&mut self, corners: [[f32; 3]; 3]) -> bool {
        (self.plan.rules.depth_range, self.plan.rules.depths_within_corners) = ([0.0, 1.0], true);
        let grid = corners.map(|[x, y, _]| [x, y].map(|pixels| i64::from(snap(pixels))));
        let Some(triangle) = Triangle::new(grid) else { return false };
        let rows = corners.map(|[x, y, z]| self.add_row([x, y, z, 1.0], |_, _| 0));
        let covered = triangle.pixel_bounds().map(|bound| bound as i16);
        self.push(rows, covered);
        true
    }

    /// Adds a clockwise triangle with corners between pixels.
    pub fn push_pixels(&mut self, corners: [[i64; 2]; 3]) {
        let rows = corners.map(|[x, y]| self.add_row([x as f32, y as f32, 0.0, 0.0], |_, _| 0));
        let covered = Triangle::clockwise(corners.map(|corner| corner.map(|pixels| pixels * UNITS))).pixel_bounds();
        self.push(rows, covered.map(|bound| bound as i16));
    }

    fn push(&mut self, [first, second, third]: [u32; 3], covered: Pixels) {
        let [x0, y0, x1, y1] = covered.map(|pixel| u32::from(pixel as u16));
        let rows = [first | (Facing::ByWinding as u32) << FACING, second, third];
        let pixels = [x0 | y0 << 16, x1 | y1 << 16];
        self.packed.push(Packed { rows, id: 0, pixels });
        self.grow_extent(pixels.map(|word| [word; WAVE]).each_ref(), &[true; WAVE]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_extent_tells_if_any_triangle_may_cover_a_group() {
        let mut triangles = Triangles::default();
        let mut add = |corners| {
            triangles.push_pixels(corners);
            (triangles.max_extent, triangles.may_cover_groups())
        };
        let (wide, high) = ([[-9, 0], [50, 0], [50, 5]], [[7, 7], [12, 7], [12, 20]]);
        assert_eq!(add(wide), ([60, 6], false));
        assert_eq!(add(high), ([60, 14], true), "no single triangle is large enough, but the bound is");
        triangles.start(Plan::default(), 0, 0);
        assert!(!triangles.may_cover_groups());
    }

    #[test]
    fn lanes_that_do_not_survive_have_no_extent() {
        let mut words = [[0; WAVE]; 6];
        words[5] = [9 | 30 << 16; WAVE];
        words[5][3] = 100 | 200 << 16;
        let mut triangles = Triangles::default();
        triangles.push_lanes(&words, &std::array::from_fn(|lane| lane != 3), &[]);
        assert_eq!(triangles.max_extent, [9, 30]);
    }
}
