//! Look-ahead of a draw: its chunks go through the cull pipe before any of its primitives is
//! shaded in full, and the primitives that remain are tested against Hi-Z when they are replayed.
//!
//! The cull pipe keeps a bit for each primitive that remains, and the bounds of that primitive, of
//! its block and of its chunk. The replay tests chunk, block and primitive, in this order, so that
//! positions are shaded once. Source: DESIGN 3.3.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use vitric_base::simd::WAVE;

use super::extent::{self, Extent};
use super::kernel::position;
use super::plan::Plan;
use super::posh::{
    BLOCK, ChunkIndices, CulledWave, Interrupted, PositionedTriangles, VertexSpan, cull_wave, shade_span, span,
};
use super::shading::{PositionSource, Positions};
use crate::hiz::{DepthDirection, DepthRange, HizUpdate, OcclusionTest};
use crate::raster::{Triangle, may_cover_group, snap};

/// Number of primitives in a chunk, whose positions are shaded at once. A high number avoids
/// shading shared vertices again, since each chunk shades all of its vertices.
pub const LOOKAHEAD_CHUNK: usize = 32 * BLOCK;

/// Rules by which the primitives of a draw are bounded.
#[derive(Clone, Copy)]
pub struct BoundRules {
    /// Direction in which primitives may be hidden.
    pub direction: DepthDirection,
    /// True if hidden primitives of the draw may be dropped.
    pub is_droppable: bool,
    /// True if its primitives update Hi-Z.
    pub updates_hiz: bool,
}

/// Primitives of a block that remain after culling.
#[derive(Debug, Clone, Copy)]
struct CulledBlock {
    /// Bounds of all of them.
    extent: Extent,
    /// A bit for each.
    remaining: u128,
    /// Number of primitives that remain in earlier blocks.
    first: u32,
}

/// Results of the cull pipe for a chunk.
#[derive(Debug, Default)]
pub struct ChunkBounds {
    /// Joint bounds of the primitives that remain.
    whole: Extent,
    /// Blocks of the chunk; none if the whole chunk is outside.
    blocks: Vec<CulledBlock>,
    /// Bounds of the primitives that remain, in order.
    primitives: Vec<Extent>,
    /// Hi-Z updates of the primitives that remain.
    pub updates: Vec<HizUpdate>,
    /// Number of vertices whose positions were shaded.
    pub vertices: usize,
    /// Number of primitives outside of the view volume or of a clip or cull distance, or with NaN
    /// positions.
    pub by_volume: usize,
    /// Number of primitives culled by their facing, or that cover no sample.
    pub by_facing: usize,
}

/// Bounds of a chunk, once computed. They are `None` if the vertex indices lie too far apart.
pub type ChunkCell = OnceLock<Option<ChunkBounds>>;

/// Numbers of primitives that remained after culling but are not drawn.
#[derive(Debug, Default)]
pub struct DropCounts {
    /// Primitives that Hi-Z hides.
    pub hidden: AtomicUsize,
    /// Primitives outside of the scissor or the render area.
    pub outside: AtomicUsize,
}

/// Look-ahead results of a draw, and the Hi-Z bounds that its primitives are tested against.
#[derive(Clone, Copy)]
pub struct DrawBounds<'a> {
    /// Bounds of the draw's chunks, instance by instance.
    pub chunks: &'a [ChunkCell],
    /// Test against the Hi-Z bounds.
    pub test: OcclusionTest<'a>,
    /// Counts of the primitives that are dropped.
    pub dropped: &'a DropCounts,
}

/// Result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestResult {
    Outside,
    Hidden,
    Visible,
}

impl DropCounts {
    fn add(&self, result: TestResult, count: usize) {
        match result {
            TestResult::Outside => self.outside.fetch_add(count, Ordering::Relaxed),
            TestResult::Hidden => self.hidden.fetch_add(count, Ordering::Relaxed),
            TestResult::Visible => 0,
        };
    }
}

impl DrawBounds<'_> {
    #[inline]
    fn result(&self, extent: &Extent) -> TestResult {
        let Some(pixels) = self.test.touchable(extent.pixels.map(i64::from)) else { return TestResult::Outside };
        let is_hidden = extent.nearness > f32::NEG_INFINITY
            && self.test.hides(pixels, DepthRange::of(self.test.direction().nearness(extent.nearness)));
        if is_hidden { TestResult::Hidden } else { TestResult::Visible }
    }

    /// Returns the number of primitives of a chunk that may have to be drawn, as far as the bounds
    /// of the whole chunk say. Counts them as dropped if there are none. `primitives` is their
    /// number if the chunk has no bounds.
    pub fn test_chunk(&self, chunk: usize, primitives: usize) -> usize {
        let Some(bounds) = self.chunks[chunk].get().and_then(Option::as_ref) else { return primitives };
        let count = bounds.primitives.len();
        match self.result(&bounds.whole) {
            TestResult::Visible => count,
            result => {
                self.dropped.add(result, count);
                0
            }
        }
    }

    /// Returns the bounds of a chunk if they are known.
    pub(super) fn chunk(&self, chunk: usize) -> Option<&ChunkBounds> {
        self.chunks[chunk].get()?.as_ref()
    }

    /// Replaces `visible` with the primitives of a range of a chunk that may be visible, as numbers
    /// in the range. Returns the number of those that remained before the tests.
    pub(super) fn list_visible(&self, bounds: &ChunkBounds, range: &Range<usize>, visible: &mut Vec<u32>) -> usize {
        visible.clear();
        let mut tested = 0;
        for (number, block) in
            bounds.blocks.iter().enumerate().take(range.end.div_ceil(BLOCK)).skip(range.start / BLOCK)
        {
            let start = number * BLOCK;
            let below =
                |end: usize| 1u128.checked_shl(end.saturating_sub(start) as u32).map_or(u128::MAX, |bit| bit - 1);
            let before = below(range.start);
            let mut rest = block.remaining & below(range.end) & !before;
            let count = rest.count_ones() as usize;
            tested += count;
            if rest == 0 {
                continue;
            }
            let result = self.result(&block.extent);
            if result != TestResult::Visible {
                self.dropped.add(result, count);
                continue;
            }
            let first = (block.first + (block.remaining & before).count_ones()) as usize;
            for extent in &bounds.primitives[first..first + count] {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                match self.result(extent) {
                    TestResult::Visible => visible.push((start + bit - range.start) as u32),
                    result => self.dropped.add(result, 1),
                }
            }
        }
        tested
    }
}

impl ChunkBounds {
    /// Returns the number of primitives that remain after culling.
    pub fn remaining(&self) -> usize {
        self.primitives.len()
    }

    /// Returns the least nearness of the primitives that remain.
    pub fn nearness(&self) -> f32 {
        self.whole.nearness
    }

    /// Returns the number of bytes of the results.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.blocks) + size_of_val(&*self.primitives) + size_of_val(&*self.updates)
    }

    /// Adds up to sixteen triangles, which are number `wave` in their block.
    fn add_wave(
        &mut self,
        triangles: PositionedTriangles<'_>,
        wave: usize,
        (rules, plan): (&BoundRules, &Plan),
        block: &mut CulledBlock,
    ) {
        let found = cull_wave(triangles, &plan.rules);
        let all = (1u32 << triangles.len()) - 1;
        self.by_volume += (all & !found.inside).count_ones() as usize;
        self.by_facing += (all & found.inside & !found.visible).count_ones() as usize;
        let mut rest = found.visible & all;
        block.remaining |= u128::from(rest) << (wave * WAVE);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let extent = extent_of(&found, triangles, lane, rules);
            block.extent.join(&extent);
            self.primitives.push(extent);
            if rules.updates_hiz && found.crossing >> lane & 1 == 0 {
                self.updates.extend(update(triangles, plan, lane, extent.pixels.map(i64::from)));
            }
        }
    }
}

/// Returns the bounds of a triangle of a wave.
#[inline]
fn extent_of(found: &CulledWave, triangles: PositionedTriangles<'_>, lane: usize, rules: &BoundRules) -> Extent {
    if found.crossing >> lane & 1 != 0 {
        return Extent::ANYWHERE;
    }
    let pixels =
        [0, 1, 2, 3].map(|bound: usize| found.pixels[bound][lane].clamp(i16::MIN.into(), i16::MAX.into()) as i16);
    let [_, _, z, _] = triangles.positions.words();
    let near = |corner: usize| rules.direction.nearness(f32::from_bits(z[triangles.position(lane * 3 + corner)]));
    let [a, b, c] = [0, 1, 2].map(near);
    let is_known = rules.is_droppable && !(a + b + c).is_nan();
    Extent { pixels, nearness: if is_known { a.min(b).min(c) } else { f32::NEG_INFINITY } }
}

/// Returns the Hi-Z update of a triangle of a wave, if it may cover whole groups.
fn update(triangles: PositionedTriangles<'_>, plan: &Plan, lane: usize, pixels: [i64; 4]) -> Option<HizUpdate> {
    if !may_cover_group(pixels) {
        return None;
    }
    let [x, y, z, _] = triangles.positions.words();
    let places = [0, 1, 2].map(|corner: usize| {
        let vertex = triangles.position(lane * 3 + corner);
        [x, y, z].map(|words| f32::from_bits(words[vertex]))
    });
    let triangle = Triangle::new(places.map(|[x, y, _]| [x, y].map(|place| i64::from(snap(place)))))?;
    triangle.may_cover_group().then(|| HizUpdate { triangle, shape: plan.depth_shape(places), pixels })
}

/// Runs the cull pipe for triangles with the given corners. Returns `Ok(None)` if the vertex
/// indices lie too far apart to shade the whole range.
///
/// # Errors
/// Returns an error if the program was interrupted.
pub(super) fn bound_chunk(
    draw: PositionSource<'_>,
    indices: &ChunkIndices<'_>,
    (rules, plan): (&BoundRules, &Plan),
    positions: &mut Positions,
) -> Result<Option<ChunkBounds>, Interrupted> {
    let Some(shaded) = shade_span(draw, indices, positions)? else { return Ok(None) };
    Ok(Some(bound_triangles(positions, indices.vertices, shaded, (rules, plan))))
}

/// Culls triangles, given their corners and the vertices that have positions.
fn bound_triangles(
    positions: &Positions,
    corners: &[u32],
    VertexSpan { first, count }: VertexSpan,
    rules: (&BoundRules, &Plan),
) -> ChunkBounds {
    let outside = positions.words()[position::OUTSIDE];
    let primitives = corners.len() / 3;
    let mut bounds = ChunkBounds { vertices: count, ..ChunkBounds::default() };
    if corners.len() > 3 * BLOCK && extent::is_outside(&outside[..count]) {
        bounds.by_volume = primitives;
        return bounds;
    }
    bounds.blocks.reserve_exact(primitives.div_ceil(BLOCK));
    // About half of a closed mesh faces away.
    bounds.primitives.reserve(primitives.div_ceil(2));
    for corners in corners.chunks(3 * BLOCK) {
        let mut block = CulledBlock { extent: Extent::NOTHING, remaining: 0, first: bounds.primitives.len() as u32 };
        let [least, greatest] = span(corners).map(|vertex| (vertex - first) as usize);
        if extent::is_outside(&outside[least..=greatest]) {
            bounds.by_volume += corners.len() / 3;
        } else {
            let triangles = PositionedTriangles { positions, corners, first };
            triangles.waves().enumerate().for_each(|(wave, of)| bounds.add_wave(of, wave, rules, &mut block));
        }
        bounds.whole.join(&block.extent);
        bounds.blocks.push(block);
    }
    bounds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::kernel::outside;
    use super::super::plan::Rules;
    use super::*;
    use crate::hiz::{EarlyBounds, Hierarchy, Hiz};
    use crate::raster::Grid;

    const DROPPABLE: BoundRules = BoundRules { direction: DepthDirection::Less, is_droppable: true, updates_hiz: true };

    type TestVertex = ([f32; 3], u32);

    fn bound(vertices: &[TestVertex], corners: &[u32], rules: &BoundRules) -> ChunkBounds {
        let words = |&([x, y, z], outside): &TestVertex| [x.to_bits(), y.to_bits(), z.to_bits(), outside];
        let positions = Positions::of(vertices.iter().map(words));
        let span = VertexSpan { first: 0, count: vertices.len() };
        bound_triangles(&positions, corners, span, (rules, &Plan { rules: Rules::TEST, ..Plan::default() }))
    }

    /// Early bounds of an image of 128x64 pixels whose first tile has a depth of 0.5 and whose
    /// second tile is unknown.
    fn half_known(grid: &Grid) -> EarlyBounds {
        let hierarchy = Hierarchy::new([128, 64], Hiz::Always);
        hierarchy.clear([0, 0, 64, 64], 0.5);
        let mut early = EarlyBounds::default();
        early.begin(DepthDirection::Less, grid.places().map(|(_, pixel)| hierarchy.known(pixel)));
        early
    }

    /// Lists the visible primitives of a range, and returns the counts of hidden ones and of those
    /// outside of the scissor, too.
    fn visible(bounds: ChunkBounds, range: Range<usize>, scissor: [i64; 4]) -> (Vec<u32>, [usize; 2]) {
        let grid = Grid::new([0, 0, 128, 64], 1);
        let early = half_known(&grid);
        let test = OcclusionTest::new(&early, &grid, scissor, (32, DepthRange { min: 0.0, max: 1.0 })).unwrap();
        let (dropped, chunks) = (DropCounts::default(), [ChunkCell::from(Some(bounds))]);
        let bounds = DrawBounds { chunks: &chunks, test, dropped: &dropped };
        let mut visible = vec![7];
        let tested = bounds.list_visible(bounds.chunk(0).unwrap(), &range, &mut visible);
        let counts = [dropped.hidden.into_inner(), dropped.outside.into_inner()];
        assert_eq!(tested, visible.len() + counts[0] + counts[1]);
        (visible, counts)
    }

    /// One triangle of each fate: each kind of kill has its exact number.
    #[test]
    fn each_kind_of_kill_is_counted_once() {
        let (left, clip) = (1 << outside::PLANE, 1 << outside::CLIP);
        let near = |x: f32, y: f32| ([x, y, 0.25], 0);
        let far = |x: f32, y: f32| ([x, y, 0.75], 0);
        let vertices = [
            near(1.0, 1.0),
            near(9.0, 1.0),
            near(1.0, 9.0), // 0: before the known depth
            far(1.0, 1.0),
            far(9.0, 1.0),
            far(1.0, 9.0), // 3: behind it
            far(70.0, 1.0),
            far(79.0, 1.0),
            far(70.0, 9.0), // 6: behind, where nothing is known
            far(1.0, 50.0),
            far(9.0, 50.0),
            far(1.0, 59.0), // 9: outside of the scissor
            ([-9.0, 1.0, 0.5], left),
            ([-9.0, 1.0, 0.5], left),
            ([-9.0, 9.0, 0.5], left | clip), // 12: outside
            far(20.0, 1.0),
            ([30.0, 1.0, 0.75], left),
            far(20.0, 9.0), // 15: crosses a plane
            far(20.2, 1.2),
            far(20.3, 1.2),
            far(20.2, 1.3), // 18: covers no sample
        ];
        let turned = [3, 5, 4];
        let corners: Vec<u32> = (0..21).chain(turned).collect();
        let bounds = bound(&vertices, &corners, &DROPPABLE);
        assert_eq!((bounds.vertices, bounds.by_volume, bounds.by_facing), (21, 1, 2));
        assert_eq!(bounds.primitives.len(), 5);
        let (seen, counts) = visible(bounds, 0..8, [0, 0, 128, 40]);
        assert_eq!((seen, counts), (vec![0, 2, 5], [1, 1]));
        // A draw that must not lose primitives keeps the hidden one.
        let kept = bound(&vertices, &corners, &BoundRules { is_droppable: false, ..DROPPABLE });
        assert_eq!(visible(kept, 0..8, [0, 0, 128, 64]), (vec![0, 1, 2, 3, 5], [0, 0]));
    }

    #[test]
    fn parts_of_blocks_are_listed_alone() {
        // Three blocks of equal triangles; every fifth is turned away, and the second block is
        // hidden as a whole.
        let place = |z: f32| [([1.0, 1.0, z], 0), ([9.0, 1.0, z], 0), ([1.0, 9.0, z], 0)];
        let vertices = [place(0.25), place(0.75)].concat();
        let triangle = |number: usize| {
            let first = if (BLOCK..2 * BLOCK).contains(&number) { 3 } else { 0 };
            if number.is_multiple_of(5) { [first, first + 2, first + 1] } else { [first, first + 1, first + 2] }
        };
        let corners: Vec<u32> = (0..3 * BLOCK).flat_map(triangle).collect();
        let range = 100..2 * BLOCK + 9;
        let (seen, counts) = visible(bound(&vertices, &corners, &DROPPABLE), range.clone(), [0, 0, 128, 64]);
        let expected = range.clone().filter(|number| number % 5 != 0 && !(BLOCK..2 * BLOCK).contains(number));
        assert_eq!(seen, expected.map(|number| (number - range.start) as u32).collect::<Vec<_>>());
        assert_eq!(counts, [(BLOCK..2 * BLOCK).filter(|number| number % 5 != 0).count(), 0]);
    }

    #[test]
    fn large_whole_triangles_update_hiz() {
        let right = 2 << outside::PLANE;
        let vertices = [
            ([0.0, 0.0, 0.25], 0),
            ([40.0, 0.0, 0.5], 0),
            ([0.0, 40.0, 0.75], 0),
            ([90.0, 0.0, 0.5], right),
            ([7.0, 0.0, 0.5], 0),
        ];
        // The last three triangles face away, cross the view volume, and are too narrow for a
        // group.
        let corners = [[0, 1, 2], [0, 2, 1], [0, 3, 2], [0, 4, 2]].concat();
        let updates = bound(&vertices, &corners, &DROPPABLE).updates;
        assert_eq!(updates.len(), 1);
        let HizUpdate { triangle, shape, pixels } = updates[0];
        assert_eq!((pixels, triangle.centre_bounds()), ([0, 0, 40, 40], [0, 0, 40, 40]));
        assert_eq!((shape.depth.origin, shape.depth_range), (0.25, [0.25, 0.75]));
        assert!(bound(&vertices, &corners, &BoundRules { updates_hiz: false, ..DROPPABLE }).updates.is_empty());
    }

    proptest! {
        /// Each primitive that remains lies in its bounds, in those of its block and of the chunk.
        #[test]
        fn bounds_hold_their_primitives(
            places in prop::collection::vec((-300.0f32..300.0, -90.0f32..90.0, -1.0f32..2.0), 40),
            corners in prop::collection::vec(prop::array::uniform3(0u32..40), 1..400),
        ) {
            let vertices: Vec<_> = places.iter().map(|&(x, y, z)| ([x, y, z], 0)).collect();
            let bounds = bound(&vertices, corners.as_flattened(), &DROPPABLE);
            let mut next = 0;
            for (number, block) in bounds.blocks.iter().enumerate() {
                prop_assert_eq!(block.first as usize, next);
                for bit in (0..BLOCK).filter(|bit| block.remaining >> bit & 1 != 0) {
                    let own = bounds.primitives[next];
                    next += 1;
                    let depths = corners[number * BLOCK + bit].map(|corner| vertices[corner as usize].0[2]);
                    prop_assert_eq!(own.nearness, depths.into_iter().fold(f32::INFINITY, f32::min));
                    for mut joint in [block.extent, bounds.whole] {
                        let before = joint;
                        joint.join(&own);
                        prop_assert_eq!(joint, before);
                    }
                }
            }
            prop_assert_eq!(next, bounds.primitives.len());
            prop_assert_eq!(next + bounds.by_volume + bounds.by_facing, corners.len());
        }
    }
}
