//! Position-only shading (POSH): the cull pipe, which runs before the replay pipe.
//!
//! The cull pipe runs the part of a vertex program that computes positions and clip and cull
//! distances, on every vertex of a chunk of a draw. It rejects primitives that lie outside of the
//! view volume, are culled by their facing, or cover no sample. The replay pipe then shades the
//! vertices of the visible primitives in full. The cull pipe does not clip: it passes primitives
//! that cross the view volume on to the replay pipe.
//!
//! Source: DESIGN 3.3.

use vitric_base::simd::{Lanes, WAVE, kernel};

use super::cull::{Axes, Floats, Ints, cull};
use super::cull_heuristic::CullHeuristic;
use super::extent;
use super::kernel::{outside, position};
use super::plan::{Facing, Rules};
use super::reuse::Reuse;
use super::shading::{PositionSource, Positions, shade_positions};

/// Policy that selects the draws that go through the cull pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Posh {
    /// No draw.
    Off,
    /// Draws for which the cull pipe is expected to save time.
    #[default]
    Auto,
    /// Every draw that the cull pipe supports.
    Always,
}

/// Minimum number of primitives of a draw for which the cull pipe is worth its cost.
pub const MIN_POSH_PRIMITIVES: usize = 64;

/// Number of primitives in a block. The vertices of a block are tested for one common plane
/// together, and the look-ahead keeps a bit for each primitive in one word.
pub(super) const BLOCK: usize = 128;

/// Buffers that the cull pipe reuses from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct CullScratch {
    pub(super) positions: Positions,
    /// For each vertex between the lowest and the highest index: its place among the vertices to
    /// be shaded, plus one; 0 if it has none yet.
    places: Vec<u32>,
    /// Indices of the visible primitives in the chunk.
    pub(super) visible: Vec<u32>,
    /// Corners of the visible primitives, if the look-ahead found them.
    pub(super) corners: Vec<u32>,
}

/// Counts of the cull pipe's results for a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Culled {
    /// Number of vertices whose positions were shaded.
    pub(super) vertices: usize,
    /// Number of primitives outside of the view volume or of a clip or cull distance, or with NaN
    /// positions.
    pub(super) by_volume: usize,
    /// Number of primitives culled by their facing, or that cover no sample.
    pub(super) by_facing: usize,
}

impl Posh {
    /// Returns true if chunks of a draw with this number of primitives may go through the cull
    /// pipe.
    pub fn takes_draw(self, primitives: usize) -> bool {
        match self {
            Self::Off => false,
            Self::Auto => primitives >= MIN_POSH_PRIMITIVES,
            Self::Always => true,
        }
    }

    /// Returns true if a chunk goes through the cull pipe.
    pub(super) fn takes_chunk(self, heuristic: &CullHeuristic) -> bool {
        self == Self::Always || heuristic.is_cull_pipe_cheaper()
    }
}

/// Finds the visible triangles among those with the given corners, and numbers their vertices.
/// Returns `Ok(None)` if the vertex indices lie too far apart to shade the whole range.
///
/// # Errors
/// Returns an error if the program was interrupted.
pub(super) fn cull_chunk(
    draw: PositionSource<'_>,
    corners: &[u32],
    rules: &Rules,
    scratch: &mut CullScratch,
    reuse: &mut Reuse,
) -> Result<Option<Culled>, Interrupted> {
    let span = shade_span(draw, &ChunkIndices::of(corners), &mut scratch.positions)?;
    Ok(span.map(|span| find_visible(corners, span, rules, scratch, reuse)))
}

/// Consecutive vertices whose positions were shaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct VertexSpan {
    /// Lowest vertex index, without the offset that is added.
    pub(super) first: u32,
    pub(super) count: usize,
}

/// Triangles of vertices whose positions were shaded.
#[derive(Clone, Copy)]
pub(super) struct PositionedTriangles<'a> {
    pub(super) positions: &'a Positions,
    /// Vertex indices, three for each triangle.
    pub(super) corners: &'a [u32],
    /// Vertex index of the first position.
    pub(super) first: u32,
}

impl<'a> PositionedTriangles<'a> {
    /// Returns the index of a corner's position.
    #[inline]
    pub(super) fn position(&self, corner: usize) -> usize {
        (self.corners[corner] - self.first) as usize
    }

    /// Returns the triangles, at most sixteen at a time.
    pub(super) fn waves(self) -> impl Iterator<Item = Self> {
        self.corners.chunks(3 * WAVE).map(move |corners| Self { corners, ..self })
    }

    /// Returns the number of triangles.
    pub(super) fn len(&self) -> usize {
        self.corners.len() / 3
    }
}

/// The vertex indices of a chunk's corners.
pub(super) struct ChunkIndices<'c> {
    pub(super) vertices: &'c [u32],
    /// Lowest and highest vertex index.
    pub(super) span: [u32; 2],
    /// Offset that is added to each vertex index.
    pub(super) added: u32,
}

impl<'c> ChunkIndices<'c> {
    /// Creates the set of the given vertex indices, with an offset of 0.
    pub(super) fn of(vertices: &'c [u32]) -> Self {
        Self { vertices, span: span(vertices), added: 0 }
    }
}

/// Shades the positions of all vertices between the lowest and the highest index. Returns `None` if
/// the indices lie too far apart.
pub(super) fn shade_span(
    draw: PositionSource<'_>,
    &ChunkIndices { vertices, span: [least, greatest], added }: &ChunkIndices<'_>,
    positions: &mut Positions,
) -> Result<Option<VertexSpan>, Interrupted> {
    let span = greatest.wrapping_sub(least) as usize;
    let [first, last] = [least, greatest].map(|vertex| vertex.wrapping_add(added));
    if span >= vertices.len() || first > last {
        return Ok(None);
    }
    if !shade_positions(draw, first..=last, positions) {
        return Err(Interrupted);
    }
    Ok(Some(VertexSpan { first: least, count: span + 1 }))
}

#[inline(always)]
fn span_lanes(corners: &[u32]) -> [u32; 2] {
    let (mut least, mut greatest) = (u32::MAX, 0);
    for &corner in corners {
        least = least.min(corner);
        greatest = greatest.max(corner);
    }
    [least, greatest]
}

kernel!(
    /// Returns the lowest and the highest of the corners' vertex indices.
    pub(super) span, span_lanes, (corners: &[u32]) -> [u32; 2]
);

/// Finds the visible triangles and numbers their vertices. The positions in `scratch` are those of
/// the vertices in `span`.
fn find_visible(
    corners: &[u32],
    VertexSpan { first: least, count: vertices }: VertexSpan,
    rules: &Rules,
    scratch: &mut CullScratch,
    reuse: &mut Reuse,
) -> Culled {
    let CullScratch { positions, places, visible, .. } = scratch;
    places.clear();
    visible.clear();
    reuse.clear();
    let mut culled = Culled { vertices, by_volume: corners.len() / 3, ..Culled::default() };
    let outside = positions.words()[position::OUTSIDE];
    let blocks = corners.chunks(3 * BLOCK).enumerate().filter(|(_, corners)| {
        let [first, last] = span(corners).map(|vertex| (vertex - least) as usize);
        !extent::is_outside(&outside[first..=last])
    });
    let waves = blocks.flat_map(|(block, corners)| (block * (BLOCK / WAVE)..).zip(corners.chunks(3 * WAVE)));
    for (number, corners) in waves {
        places.resize(vertices, 0);
        let wave = PositionedTriangles { positions, corners, first: least };
        let found = cull_wave(wave, rules);
        let all = (1u32 << wave.len()) - 1;
        culled.by_volume -= (all & found.inside).count_ones() as usize;
        culled.by_facing += (all & found.inside & !found.visible).count_ones() as usize;
        let mut rest = found.visible & all;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            visible.push((number * WAVE + lane) as u32);
            for &vertex in &corners[lane * 3..lane * 3 + 3] {
                let place = &mut places[(vertex - least) as usize];
                if *place == 0 {
                    reuse.vertices.push(vertex);
                    *place = reuse.vertices.len() as u32;
                }
                reuse.places.push(*place - 1);
            }
        }
    }
    culled
}

/// Error of a draw whose time limit has expired.
#[derive(Debug)]
pub struct Interrupted;

/// Results for up to sixteen triangles, one bit or lane each.
#[derive(Debug, Default)]
pub(super) struct CulledWave {
    /// Triangles that may be visible.
    pub(super) visible: u32,
    /// Triangles that are not wholly outside.
    pub(super) inside: u32,
    /// Triangles that cross the view volume.
    pub(super) crossing: u32,
    /// Bounds of the pixels that the triangles may cover, valid for triangles that do not cross
    /// the view volume.
    pub(super) pixels: [Ints; 4],
}

/// Culls up to sixteen triangles.
pub(super) fn cull_wave(
    PositionedTriangles { positions, corners, first }: PositionedTriangles<'_>,
    rules: &Rules,
) -> CulledWave {
    let (mut place, mut out) = (Axes::<Floats>::default(), [[0; WAVE]; 3]);
    let [x, y, _, outside] = positions.words();
    for (lane, corners) in corners.as_chunks::<3>().0.iter().enumerate() {
        for (corner, &vertex) in corners.iter().enumerate() {
            let vertex = (vertex - first) as usize;
            place[0][corner][lane] = f32::from_bits(x[vertex]);
            place[1][corner][lane] = f32::from_bits(y[vertex]);
            out[corner][lane] = outside[vertex];
        }
    }
    let [rejected, crossing] = volumes(&out);
    let inside = !rejected & 0xffff;
    if inside == 0 {
        return CulledWave::default();
    }
    let (mut survives, mut pixels) = ([false; WAVE], [[0; WAVE]; 4]);
    cull(&place, &[Facing::ByWinding as u32; WAVE], rules, (&mut survives, &mut pixels));
    let survives = survives.iter().rev().fold(0, |bits, &survives| bits << 1 | u32::from(survives));
    CulledWave { visible: inside & (survives | crossing), inside, crossing, pixels }
}

#[inline(always)]
fn volume_bits([a, b, c]: &[Lanes; 3]) -> [u32; 2] {
    let (mut rejected, mut crossing) = (0, 0);
    for (lane, ((a, b), c)) in a.iter().zip(b).zip(c).enumerate() {
        let (any, all) = (a | b | c, a & b & c);
        let has_nan = any >> outside::NAN & 1 != 0;
        rejected |= u32::from(has_nan | (all & outside::REJECTED != 0)) << lane;
        crossing |= u32::from(any & outside::CLIPPED != 0) << lane;
    }
    [rejected, crossing]
}

kernel!(
    /// Returns two masks, a bit a triangle: the triangles that lie wholly outside, and those that
    /// cross a plane. `outside` holds the bits of each corner.
    volumes, volume_bits, (outside: &[Lanes; 3]) -> [u32; 2]
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(vertices: &[([f32; 2], u32)], corners: &[u32], least: u32) -> (Culled, Vec<u32>, Reuse) {
        let (mut scratch, mut reuse) = (CullScratch::default(), Reuse::default());
        scratch.positions =
            Positions::of(vertices.iter().map(|&([x, y], outside)| [x.to_bits(), y.to_bits(), 0, outside]));
        let span = VertexSpan { first: least, count: vertices.len() };
        let culled = find_visible(corners, span, &Rules::TEST, &mut scratch, &mut reuse);
        (culled, scratch.visible, reuse)
    }

    #[test]
    fn what_is_outside_or_turned_away_or_empty_is_not_visible() {
        let (left, right, clip) = (1 << outside::PLANE, 2 << outside::PLANE, 1 << outside::CLIP);
        let vertices = [
            ([0.0, 0.0], 0),
            ([9.0, 0.0], 0),
            ([0.0, 9.0], 0),
            ([-9.0, 0.0], left),
            ([-9.0, 9.0], left | clip),
            ([20.0, 0.0], right | clip),
            ([f32::NAN, 0.0], 1 << outside::NAN),
            ([1.0, 1.0], 1 << outside::CULL),
            ([0.2, 0.2], 0),
            ([0.3, 0.2], 0),
            ([-4.0, 1.0], 1 << outside::SIDE),
            ([-4.0, 2.0], 3 << outside::SIDE),
        ];
        let triangles = [
            ([0, 1, 2], true),
            ([0, 2, 1], false),    // turned away
            ([3, 4, 3], false),    // left of everything
            ([3, 5, 0], true),     // crosses two planes: its facing is unknown here
            ([5, 4, 5], false),    // behind the clip plane
            ([0, 1, 6], false),    // nowhere
            ([7, 7, 7], false),    // culled by distance
            ([0, 9, 8], false),    // between the centres of pixels
            ([7, 1, 2], true),     // a cull distance is about all corners
            ([10, 11, 10], false), // outside of the view volume, inside the guard band
            ([10, 1, 2], true),    // from the guard band into the view volume
        ];
        let corners: Vec<u32> = triangles.iter().flat_map(|(corners, _)| corners.map(|corner| corner + 40)).collect();
        let (culled, visible, reuse) = find(&vertices, &corners, 40);
        let expected: Vec<u32> = (0..).zip(&triangles).filter(|(_, (_, seen))| *seen).map(|(index, _)| index).collect();
        assert_eq!(visible, expected);
        assert_eq!(culled, Culled { vertices: 12, by_volume: 5, by_facing: 2 });
        let back: Vec<u32> = reuse.places.iter().map(|&place| reuse.vertices[place as usize]).collect();
        assert_eq!(back, [40, 41, 42, 43, 45, 40, 47, 41, 42, 50, 41, 42]);
        assert_eq!(reuse.vertices, [40, 41, 42, 43, 45, 47, 50], "each once, in the order of first use");
    }

    proptest! {
        /// Vertices of visible primitives are numbered as those of all primitives would be.
        #[test]
        fn visible_primitives_keep_their_vertices(corners in prop::collection::vec(prop::array::uniform3(0u32..20), 1..80)) {
            let vertices: Vec<_> = (0..20).map(|index| ([(index * 37 % 23) as f32, (index * 11 % 19) as f32], 0)).collect();
            let corners = corners.concat();
            let (culled, visible, reuse) = find(&vertices, &corners, 0);
            prop_assert_eq!(visible.len() + culled.by_facing, corners.len() / 3);
            let mut model = Reuse::default();
            let left: Vec<u32> = visible.iter().flat_map(|&index| corners[index as usize * 3..][..3].to_vec()).collect();
            model.number(&left);
            prop_assert_eq!((model.vertices, model.places), (reuse.vertices, reuse.places));
        }
    }

    #[test]
    fn of_blocks_is_seen_what_is_of_their_triangles() {
        let (left, right) = (1 << outside::PLANE, 2 << outside::PLANE);
        let place = |index: u32| [(index * 37 % 23) as f32, (index * 11 % 19) as f32];
        // Vertices by blocks: those of the second block lie outside together, those of the third
        // on either side, and some of the first do.
        let blocks = [[0, 0, 0, right], [left, left | right, left, left], [left, right, right, right], [0; 4]];
        let sides = |index: u32| blocks[index as usize / 20][index as usize % 4];
        let vertices: Vec<_> = (0..80).map(|index| (place(index), sides(index))).collect();
        let triangle =
            |number: u32| [7, 11, 13].map(|step: u32| number / BLOCK as u32 * 20 + (number * step + step / 3) % 20);
        let triangles: Vec<[u32; 3]> = (0..BLOCK as u32 * 3 + 21).map(triangle).collect();
        let (culled, visible, _) = find(&vertices, triangles.as_flattened(), 0);
        let alone = triangles.iter().map(|corners| find(&vertices, corners, 0).0);
        let sums = alone.clone().fold([0; 2], |[a, b], culled| [a + culled.by_volume, b + culled.by_facing]);
        assert_eq!([culled.by_volume, culled.by_facing], sums);
        assert!(culled.by_volume > BLOCK && culled.by_facing > 0 && !visible.is_empty());
        let is_seen = alone.map(|culled| culled.by_volume + culled.by_facing == 0);
        let seen: Vec<u32> = (0..).zip(is_seen).filter(|(_, seen)| *seen).map(|(number, _)| number).collect();
        assert_eq!(visible, seen);
    }
}
