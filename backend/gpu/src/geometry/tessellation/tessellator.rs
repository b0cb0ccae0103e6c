//! Tessellator: converts the levels of a patch to vertices in its domain, and to points, lines or
//! triangles between them.
//!
//! Coordinates are integers with [`ONE`] for 1. Floats represent them exactly, and also 1 minus a
//! coordinate. Edges are therefore symmetric, adjacent patches have bit-identical vertices on a
//! shared edge, and the barycentric weights of a triangle add up to 1.
//!
//! Vertices, primitives and their order are those of the reference tessellator of Direct3D 11,
//! which hardware follows. Vulkan leaves all of these open, but programs and tests rely on them.
//!
//! Source: Vulkan specification, "Tessellation", and appendix "Invariance"; Direct3D 11.3
//! functional specification, "Fixed Function Tessellator"; the published reference
//! (`tessellator.hpp`, for instance in Mesa).
//!
//! Transform feedback of 162 patches (squares and triangles, 3 spacings, 27 sets of levels) gives
//! the triangles that an NVIDIA H100 and lavapipe give. Positions differ by less than 10^-4,
//! because the other tessellators' coordinates are multiples of 2^-16.
//!
//! - Edges with fractional spacing: an edge of `n` segments lies between the uniform edges of
//!   `n - 2` and of `n` segments, in proportion to its level. The additional vertex of the longer
//!   edge starts at the next mark of a ruler. That is the middle of a half edge at first, then the
//!   middles of its halves, and so on. The shorter segments are at that vertex.
//! - Rings of vertices follow each other from the outside in. Rings of a square start at u = 0, v
//!   = 1 and go through u = 0, v = 0. Rings of a triangle start at v = 1 and go through w = 1.
//! - Between the outer ring and the first inner one, a traversal of both edges goes from both ends
//!   to the middle. It advances on each edge where the ruler has a mark at which the edge already
//!   has a vertex. The outer edge comes second before the middle, and first after it.
//! - Between inner rings lie quads. Diagonals go from the outer vertex that is nearer to the
//!   corner to the inner vertex that is nearer to the middle. The quad in the middle of an odd
//!   edge belongs to its first half.
//! - A row of quads in the middle of a square has diagonals from the second long side's vertices
//!   to the next ones of the first side. The middle quad is divided along the other diagonal if
//!   both levels are odd and the row does not lie along u. A whole square is divided from u = 1 to
//!   v = 1.

use vitric_ir::interface::{Domain, Spacing};

use crate::state::Subdivision;

/// The coordinate 1.
pub const ONE: u32 = 1 << 24;

/// Maximum tessellation level, `maxTessellationGenerationLevel`.
pub const MAX_LEVEL: u32 = 64;

/// The levels of a patch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Levels {
    /// Levels of the outer edges.
    pub outer: [f32; 4],
    /// Levels of the interior.
    pub inner: [f32; 2],
}

/// A subdivided patch.
#[derive(Debug, Default)]
pub struct TessellatedPatch {
    /// Settings and levels of the last subdivision.
    of: Option<(Subdivision, Levels)>,
    /// Coordinates u and v of the vertices. In triangles w is 1 - u - v.
    pub vertices: Vec<[u32; 2]>,
    /// Vertices of the primitives: one, two or three for each.
    pub corners: Vec<u32>,
    /// Vertices of an edge of a ring, and of the corresponding edge of the next inner ring.
    edges: [Vec<u32>; 2],
    /// Subdivisions of the interior along u and v.
    across: [Vec<u32>; 2],
    /// Indices of the inner vertices of a square, row by row, with room for those of its sides.
    grid: Vec<u32>,
}

/// Division of edges by a spacing mode.
trait DivideEdges {
    /// Clamps a level to the allowed range. NaN becomes the minimum.
    fn clamp(self, level: f32) -> f32;

    /// Returns the number of segments of an edge with a clamped level.
    fn segments(self, level: f32) -> u32;

    /// Writes the positions of the vertices of an edge with a clamped level and the given number
    /// of segments.
    fn subdivide(self, level: f32, segments: u32, out: &mut Vec<u32>);
}

impl DivideEdges for Spacing {
    fn clamp(self, level: f32) -> f32 {
        let most = MAX_LEVEL as f32;
        match self {
            Self::Equal => level.max(1.0).min(most),
            Self::FractionalEven => level.max(2.0).min(most),
            Self::FractionalOdd => level.max(1.0).min(most - 1.0),
        }
    }

    fn segments(self, level: f32) -> u32 {
        let whole = level.ceil() as u32;
        match self {
            Self::Equal => whole,
            Self::FractionalEven => whole.next_multiple_of(2),
            Self::FractionalOdd => whole | 1,
        }
    }

    fn subdivide(self, level: f32, segments: u32, out: &mut Vec<u32>) {
        let n = segments as usize;
        out.clear();
        out.resize(n + 1, ONE);
        // Positions lie between a uniform edge with two segments fewer and one with all of them.
        let fewer = segments.saturating_sub(2);
        let is_uniform = self == Self::Equal || fewer == 0;
        let share = if is_uniform { 1.0 } else { (f64::from(level) - f64::from(fewer)) / 2.0 };
        let last_before = last_before_shorter(fewer / 2);
        for place in 0..=n / 2 {
            let before = if place as u32 > last_before { place - 1 } else { place };
            let from = if is_uniform { 0.0 } else { before as f64 / f64::from(fewer) };
            let at = from * (1.0 - share) + place as f64 / f64::from(segments) * share;
            // The middle is exact.
            let is_middle = 2 * place == n;
            out[place] = if is_middle { ONE / 2 } else { (at * f64::from(ONE) + 0.5) as u32 };
            out[n - place] = ONE - out[place];
        }
    }
}

/// Returns the vertex before the shorter segment of a half edge that exceeds `segments` whole
/// segments.
fn last_before_shorter(segments: u32) -> u32 {
    match segments.checked_ilog2() {
        Some(bits) => 2 * (segments - (1 << bits)) + 1,
        None => 0,
    }
}

/// Number of ruler marks on half an edge: positions after the first one at which an edge of the
/// maximum level has vertices.
const MARKS: u32 = MAX_LEVEL / 2;

/// Returns the number of vertices that half of an edge has before it has one at a mark.
fn turn_of_mark(mark: u32) -> u32 {
    let zeros = mark.trailing_zeros();
    (MARKS >> 1 >> zeros) + (mark >> 1 >> zeros)
}

/// Returns the distance of the marks at which half of an edge with this number of vertices may
/// have one.
fn distance_of_marks(vertices: u32) -> usize {
    let bits = vertices.saturating_sub(1).checked_ilog2();
    bits.map_or(MARKS, |bits| MARKS >> 1 >> bits) as usize
}

impl Subdivision {
    /// Returns the number of outer levels that the domain uses.
    fn relevant(&self) -> usize {
        match self.domain {
            Domain::Triangles => 3,
            Domain::Quads => 4,
            Domain::Isolines => 2,
        }
    }

    /// Subdivides a patch into `mesh`. The patch has no vertices if an outer level is not
    /// positive. Keeps the mesh if settings and levels are those of the last call.
    pub fn subdivide(&self, levels: &Levels, mesh: &mut TessellatedPatch) {
        let of = Some((*self, *levels));
        if mesh.of == of {
            return;
        }
        mesh.of = of;
        mesh.vertices.clear();
        mesh.corners.clear();
        let outer = &levels.outer[..self.relevant()];
        // The comparison also rejects NaN.
        if !outer.iter().all(|&level| level > 0.0) {
            return;
        }
        match self.domain {
            Domain::Triangles => self.triangle(levels, mesh),
            Domain::Quads => self.square(levels, mesh),
            Domain::Isolines => self.isolines(levels, mesh),
        }
        if self.points {
            mesh.corners.clear();
            mesh.corners.extend(0..mesh.vertices.len() as u32);
        } else if self.domain != Domain::Isolines && !self.positive {
            mesh.corners.chunks_exact_mut(3).for_each(|corners| corners.swap(1, 2));
        }
    }

    /// Returns the numbers of vertices and primitives that [`Self::subdivide`] creates for a
    /// patch.
    pub fn count(&self, levels: &Levels) -> (usize, usize) {
        if !levels.outer[..self.relevant()].iter().all(|&level| level > 0.0) {
            return (0, 0);
        }
        let (vertices, primitives) = match self.domain {
            Domain::Triangles => self.count_triangle(levels),
            Domain::Quads => self.count_square(levels),
            Domain::Isolines => {
                let lines = Spacing::Equal.segments(Spacing::Equal.clamp(levels.outer[0])) as usize;
                let segments = self.spacing.segments(self.spacing.clamp(levels.outer[1])) as usize;
                (lines * (segments + 1), lines * segments)
            }
        };
        (vertices, if self.points { vertices } else { primitives })
    }

    /// Returns the number of segments of all given outer edges.
    fn around(&self, levels: &[f32]) -> usize {
        levels.iter().map(|&level| self.spacing.segments(self.spacing.clamp(level)) as usize).sum()
    }

    fn count_triangle(&self, levels: &Levels) -> (usize, usize) {
        let around = self.around(&levels.outer[..3]);
        if around == 3 && self.leaves_whole(&levels.inner[..1]) {
            return (3, 1);
        }
        // Each ring has one vertex for each of its segments. Between two rings lies one triangle
        // for each segment of both.
        let rings = (1..=(self.inside(levels.inner[0]).1 / 2)).map(|ring| self.inside(levels.inner[0]).1 - 2 * ring);
        let (mut vertices, mut primitives, mut outer) = (around, 0, around);
        for segments in rings {
            vertices += if segments == 0 { 1 } else { 3 * segments as usize };
            primitives += outer + 3 * segments as usize;
            outer = 3 * segments as usize;
            // The innermost ring is itself a triangle.
            primitives += usize::from(segments == 1);
        }
        (vertices, primitives)
    }

    fn count_square(&self, levels: &Levels) -> (usize, usize) {
        let around = self.around(&levels.outer);
        if around == 4 && self.leaves_whole(&levels.inner) {
            return (4, 2);
        }
        let [columns, rows] = levels.inner.map(|level| self.inside(level).1 as usize - 2);
        let between = around + 2 * (columns + rows);
        (around + (columns + 1) * (rows + 1), between + 2 * columns * rows)
    }

    /// Returns an inner level and its segments for a patch that is subdivided. An inner level of 1
    /// then divides the interior too.
    fn inside(&self, level: f32) -> (f32, u32) {
        let level = self.spacing.clamp(level);
        let least = if self.spacing == Spacing::FractionalOdd { 3 } else { 2 };
        (level, self.spacing.segments(level).max(least))
    }

    /// Returns true if none of the levels divides its edge.
    fn leaves_whole(&self, levels: &[f32]) -> bool {
        levels.iter().all(|&level| self.spacing.segments(self.spacing.clamp(level)) == 1)
    }

    fn triangle(&self, levels: &Levels, mesh: &mut TessellatedPatch) {
        let outer = [levels.outer[0], levels.outer[1], levels.outer[2]];
        if self.leaves_whole(&[outer[0], outer[1], outer[2], levels.inner[0]]) {
            mesh.vertices.extend([[0, ONE], [0, 0], [ONE, 0]]);
            mesh.corners.extend([0, 1, 2]);
            return;
        }
        let (level, segments) = self.inside(levels.inner[0]);
        let [mut across, other] = std::mem::take(&mut mesh.across);
        self.spacing.subdivide(level, segments, &mut across);
        let n = segments as usize;
        // The outer edges go from v to w (u = 0), from w to u (v = 0), and from u to v (w = 0).
        let mut starts = [0; 4];
        let mut places = Vec::new();
        for (edge, level) in outer.into_iter().enumerate() {
            starts[edge] = mesh.vertices.len() as u32;
            let level = self.spacing.clamp(level);
            self.spacing.subdivide(level, self.spacing.segments(level), &mut places);
            let along = places[..places.len() - 1].iter();
            mesh.vertices.extend(along.map(|&place| turned([ONE - place, place, 0], edge)));
        }
        starts[3] = mesh.vertices.len() as u32;
        let mut rings = starts;
        for ring in 1..=n / 2 {
            let inner = mesh.add_ring(&across, ring);
            for edge in 0..3 {
                for (list, starts) in mesh.edges.iter_mut().zip([rings, inner]) {
                    list.clear();
                    list.extend(edge_of_triangle(starts, edge));
                }
                stitch(&mesh.edges, ring == 1, &mut mesh.corners);
            }
            rings = inner;
        }
        // The innermost ring is a triangle unless it is a point.
        if n % 2 == 1 {
            mesh.corners.extend([rings[0], rings[1], rings[2]]);
        }
        mesh.across = [across, other];
    }

    fn square(&self, levels: &Levels, mesh: &mut TessellatedPatch) {
        let [left, bottom, right, top] = levels.outer;
        let all = [left, bottom, right, top, levels.inner[0], levels.inner[1]];
        if self.leaves_whole(&all) {
            mesh.vertices.extend([[0, 0], [ONE, 0], [ONE, ONE], [0, ONE]]);
            mesh.corners.extend([0, 1, 3, 1, 2, 3]);
            return;
        }
        let mut across = std::mem::take(&mut mesh.across);
        for (places, level) in across.iter_mut().zip(levels.inner) {
            let (level, segments) = self.inside(level);
            self.spacing.subdivide(level, segments, places);
        }
        // The outer edges in order: u = 0, v = 0, u = 1, v = 1.
        let mut starts = [0; 5];
        let mut places = Vec::new();
        for (edge, level) in levels.outer.into_iter().enumerate() {
            starts[edge] = mesh.vertices.len() as u32;
            let level = self.spacing.clamp(level);
            self.spacing.subdivide(level, self.spacing.segments(level), &mut places);
            mesh.vertices.extend(places[..places.len() - 1].iter().map(|&place| match edge {
                0 => [0, ONE - place],
                1 => [place, 0],
                2 => [ONE, place],
                _ => [ONE - place, ONE],
            }));
        }
        starts[4] = mesh.vertices.len() as u32;
        let square = Square::new([&across[0], &across[1]].map(|places| places.len() as u32 - 1));
        mesh.add_inside(&square, &across);
        for (ring, edge) in (1..=square.rings()).flat_map(|ring| (0..4).map(move |edge| (ring, edge))) {
            let [outer, inner] = &mut mesh.edges;
            outer.clear();
            match ring {
                1 => outer.extend((starts[edge]..starts[edge + 1]).chain([starts[(edge + 1) % 4]])),
                _ => outer.extend(square.edge(ring - 1, edge).map(|at| mesh.grid[at])),
            }
            inner.clear();
            inner.extend(square.edge(ring, edge).map(|at| mesh.grid[at]));
            stitch(&mesh.edges, ring == 1, &mut mesh.corners);
        }
        mesh.add_middle(&square);
        mesh.across = across;
    }

    fn isolines(&self, levels: &Levels, mesh: &mut TessellatedPatch) {
        let lines = Spacing::Equal.segments(Spacing::Equal.clamp(levels.outer[0]));
        let level = self.spacing.clamp(levels.outer[1]);
        let segments = self.spacing.segments(level);
        let [mut u, mut v] = std::mem::take(&mut mesh.across);
        self.spacing.subdivide(level, segments, &mut u);
        Spacing::Equal.subdivide(lines as f32, lines, &mut v);
        for &row in &v[..lines as usize] {
            let start = mesh.vertices.len() as u32;
            mesh.vertices.extend(u.iter().map(|&place| [place, row]));
            mesh.corners.extend((start..start + segments).flat_map(|vertex| [vertex, vertex + 1]));
        }
        mesh.across = [u, v];
    }
}

/// The inner vertices of a square, by their numbers along u and v.
struct Square {
    /// Number of segments along u and v from side to side.
    segments: [u32; 2],
}

impl Square {
    fn new(segments: [u32; 2]) -> Self {
        Self { segments }
    }

    /// Returns the number of inner rings. The last one may be a row of vertices.
    fn rings(&self) -> u32 {
        self.segments[0].min(self.segments[1]) / 2
    }

    /// Returns true if the middle is longer along u than along v.
    fn lies_along_u(&self) -> bool {
        self.segments[0] > self.segments[1]
    }

    /// Returns the grid index of a vertex.
    fn at(&self, [column, row]: [u32; 2]) -> usize {
        (row * (self.segments[0] + 1) + column) as usize
    }

    /// Returns the grid indices of an edge of a ring: u low, v low, u high or v high.
    fn edge(&self, ring: u32, edge: usize) -> impl Iterator<Item = usize> {
        self.places(ring, edge).map(|place| self.at(place))
    }

    /// Returns the numbers along u and v of the vertices of an edge of a ring.
    fn places(&self, ring: u32, edge: usize) -> impl Iterator<Item = [u32; 2]> + use<> {
        let [u, v] = self.segments.map(|segments| segments - ring);
        let steps = if edge.is_multiple_of(2) { v - ring } else { u - ring };
        (0..=steps).map(move |step| match edge {
            0 => [ring, v - step],
            1 => [ring + step, ring],
            2 => [u, ring + step],
            _ => [u - step, v],
        })
    }
}

/// Returns the vertices of an edge of a triangle's ring, whose edges begin at `starts`. The ring
/// may be a point.
fn edge_of_triangle(starts: [u32; 4], edge: usize) -> impl Iterator<Item = u32> {
    let is_point = starts[0] == starts[1];
    let [first, end] = if is_point { [starts[0], starts[0]] } else { [starts[edge], starts[edge + 1]] };
    (first..end).chain([if edge == 2 || is_point { starts[0] } else { end }])
}

/// Returns the coordinates of a vertex from its weights of an edge's first corner, its second one,
/// and the third.
fn turned([first, second, third]: [u32; 3], edge: usize) -> [u32; 2] {
    match edge {
        0 => [third, first],
        1 => [second, third],
        _ => [first, second],
    }
}

impl TessellatedPatch {
    /// Adds the inner vertices of a square, ring by ring. The last ones may be a row.
    fn add_inside(&mut self, square: &Square, [u, v]: &[Vec<u32>; 2]) {
        self.grid.clear();
        self.grid.resize(u.len() * v.len(), 0);
        let mut add = |[column, row]: [u32; 2]| {
            self.grid[square.at([column, row])] = self.vertices.len() as u32;
            self.vertices.push([u[column as usize], v[row as usize]]);
        };
        let [columns, rows] = square.segments;
        let shorter = columns.min(rows);
        for ring in 1..shorter.div_ceil(2) {
            for edge in 0..4 {
                // The last vertex of an edge is the first of the next.
                let steps = square.segments[1 - edge % 2] - 2 * ring;
                square.places(ring, edge).take(steps as usize).for_each(&mut add);
            }
        }
        if shorter.is_multiple_of(2) {
            let edge = usize::from(square.lies_along_u());
            square.places(shorter / 2, edge).for_each(&mut add);
        }
    }

    /// Adds the quads in the middle of a square, unless there is a row of vertices.
    fn add_middle(&mut self, square: &Square) {
        let [columns, rows] = square.segments;
        let ring = square.rings();
        if columns.min(rows).is_multiple_of(2) {
            return;
        }
        // The quads run along u from v low to v high, or against v from u low to u high.
        let along_u = square.lies_along_u();
        let sides = if along_u { [1, 3] } else { [0, 2] };
        for (list, side) in self.edges.iter_mut().zip(sides) {
            list.clear();
            list.extend(square.edge(ring, side).map(|at| self.grid[at]));
        }
        let [outer, inner] = &mut self.edges;
        inner.reverse();
        let quads = outer.len() - 1;
        let has_middle = !along_u && !rows.is_multiple_of(2);
        let mut strip = Strip { outer, inner, out: 0, at: 0, corners: &mut self.corners };
        for quad in 0..quads {
            if !has_middle || quad == quads / 2 {
                strip.advance_both(!has_middle);
            } else {
                strip.advance_outer();
                strip.advance_inner();
            }
        }
    }

    /// Adds the vertices of an inner ring of a triangle. Returns the beginning of each edge, and
    /// the end. The innermost ring may be a point.
    fn add_ring(&mut self, across: &[u32], ring: usize) -> [u32; 4] {
        let n = across.len() - 1;
        let inset = across[ring];
        // Perpendiculars through a point on two edges meet at two thirds of it.
        let corner = (2 * inset + 1) / 3;
        let start = self.vertices.len() as u32;
        if 2 * ring == n {
            self.vertices.push([corner, corner]);
            return [start, start, start, start + 1];
        }
        let of_edge = (n - 2 * ring) as u32;
        for edge in 0..3 {
            self.vertices.push(turned([ONE - 2 * corner, corner, corner], edge));
            let third = corner & !1;
            let between = across[ring + 1..n - ring].iter();
            self.vertices.extend(between.map(|&place| {
                let half = third / 2;
                turned([ONE - place - half, place - half, third], edge)
            }));
        }
        [start, start + of_edge, start + 2 * of_edge, start + 3 * of_edge]
    }
}

/// Fills the area between two edges, the outer one first. The inner edge lies to the left of the
/// outer one, and may be a point.
fn stitch([outer, inner]: &[Vec<u32>; 2], is_outermost: bool, corners: &mut Vec<u32>) {
    let mut strip = Strip { outer, inner, out: 0, at: 0, corners };
    if is_outermost {
        strip.fill_outermost();
    } else {
        strip.fill_between_rings();
    }
}

/// Traversal of two edges that adds triangles.
struct Strip<'a> {
    outer: &'a [u32],
    inner: &'a [u32],
    out: usize,
    at: usize,
    corners: &'a mut Vec<u32>,
}

impl Strip<'_> {
    /// Adds a triangle with the next segment of the outer edge.
    fn advance_outer(&mut self) {
        self.corners.extend([self.outer[self.out], self.outer[self.out + 1], self.inner[self.at]]);
        self.out += 1;
    }

    /// Adds a triangle with the next segment of the inner edge.
    fn advance_inner(&mut self) {
        self.corners.extend([self.inner[self.at], self.outer[self.out], self.inner[self.at + 1]]);
        self.at += 1;
    }

    /// Adds a quad with the next segment of both edges. Its diagonal ends in the next outer vertex
    /// if `to_outer`, or else in the next inner one.
    fn advance_both(&mut self, to_outer: bool) {
        let [out, next_out] = [0, 1].map(|step| self.outer[self.out + step]);
        let [at, next_at] = [0, 1].map(|step| self.inner[self.at + step]);
        self.corners.extend(match to_outer {
            true => [at, out, next_out, at, next_out, next_at],
            false => [out, next_at, at, out, next_out, next_at],
        });
        self.out += 1;
        self.at += 1;
    }

    /// Fills the area between the outer ring and the first inner one, whose numbers of segments
    /// are unrelated.
    fn fill_outermost(&mut self) {
        // The inner edge is shorter by a segment at each of its ends.
        let [outer, inner] = [self.outer.len() as u32 - 1, self.inner.len() as u32 + 1];
        let halves = [outer / 2, inner / 2];
        let step = distance_of_marks(halves[0].max(halves[1]));
        if halves[0] > 0 {
            self.advance_outer();
        }
        for turn in (step as u32..MARKS).step_by(step).map(turn_of_mark) {
            if turn < halves[1] {
                self.advance_inner();
            }
            if turn < halves[0] {
                self.advance_outer();
            }
        }
        let [outer_is_odd, inner_is_odd] = [outer, inner].map(|segments| segments % 2 == 1);
        if inner_is_odd {
            self.advance_inner();
        }
        if outer_is_odd {
            // The inner vertex is the first corner in the middle.
            self.corners.extend([self.inner[self.at], self.outer[self.out], self.outer[self.out + 1]]);
            self.out += 1;
        }
        for turn in (step as u32..MARKS).step_by(step).rev().map(turn_of_mark) {
            if turn < halves[0] {
                self.advance_outer();
            }
            if turn < halves[1] {
                self.advance_inner();
            }
        }
        if halves[0] > 0 {
            self.advance_outer();
        }
    }

    /// Fills the area between two inner rings: a triangle at each end, and quads between.
    fn fill_between_rings(&mut self) {
        let quads = self.inner.len() - 1;
        self.advance_outer();
        for quad in 0..quads {
            self.advance_both(quad >= self.inner.len() / 2);
        }
        self.advance_outer();
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
