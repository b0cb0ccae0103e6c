//! The tessellator: levels of a patch become vertices in its domain, and points, lines or triangles between them.
//!
//! Coordinates are integers, of which [`ONE`] is 1: floats hold them exactly, and 1 minus one of them, too. So edges are symmetric, those of
//! neighbours have the same vertices to the bit, and the weights of a triangle's corners have the sum 1.
//!
//! An edge of level `f` and `n` segments has `n - 2` segments of length `1 / f` and two that share the rest (where spacing is fractional);
//! these stand on both sides of the middle. Triangles between two subdivided edges are those that a walk along both makes: it goes on
//! where the middle of the next segment comes first. What lies between two edges depends on nothing but these two, as the rules of
//! invariance demand. Source: Vulkan specification, "Tessellation", and appendix "Invariance".

/// The coordinate 1.
pub const ONE: u32 = 1 << 24;

/// `maxTessellationGenerationLevel`.
pub const MOST_LEVEL: u32 = 64;

/// What is subdivided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Domain {
    /// A triangle.
    #[default]
    Triangles,
    /// A square, into triangles.
    Quads,
    /// A square, into lines along u.
    Isolines,
}

/// How an edge is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Into equal segments.
    #[default]
    Equal,
    /// Into an even number of segments, two of which may be shorter.
    FractionalEven,
    /// Into an odd number of segments, two of which may be shorter.
    FractionalOdd,
}

/// What a pipeline says to the tessellator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Subdivision {
    /// What is subdivided.
    pub domain: Domain,
    /// How edges are.
    pub spacing: Spacing,
    /// Whether each vertex is a point, instead of being one of lines or triangles.
    pub points: bool,
    /// Whether triangles turn from u to v: the area that u and v of their corners enclose is positive.
    pub positive: bool,
}

/// The levels of a patch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Levels {
    /// Of the outer edges.
    pub outer: [f32; 4],
    /// Of what is inside.
    pub inner: [f32; 2],
}

/// A subdivided patch.
#[derive(Debug, Default)]
pub struct Mesh {
    /// What it was made of last.
    of: Option<(Subdivision, Levels)>,
    /// Coordinates u and v of the vertices. In triangles w is what is left of 1.
    pub vertices: Vec<[u32; 2]>,
    /// Vertices of the primitives: one, two or three of each.
    pub corners: Vec<u32>,
    outer: Edge,
    inner: Edge,
    /// Subdivisions, inside, along u and v.
    across: [Vec<u32>; 2],
}

/// The vertices along an edge.
#[derive(Debug, Default)]
struct Edge {
    vertices: Vec<u32>,
    /// How far along it each is.
    places: Vec<u32>,
}

impl Edge {
    fn clear(&mut self) {
        self.vertices.clear();
        self.places.clear();
    }

    fn push(&mut self, vertex: u32, place: u32) {
        self.vertices.push(vertex);
        self.places.push(place);
    }
}

impl Spacing {
    /// A level, clamped to what there is; what is no number is least.
    fn clamp(self, level: f32) -> f32 {
        let most = MOST_LEVEL as f32;
        match self {
            Self::Equal => level.max(1.0).min(most),
            Self::FractionalEven => level.max(2.0).min(most),
            Self::FractionalOdd => level.max(1.0).min(most - 1.0),
        }
    }

    /// Segments of an edge of a clamped level.
    fn segments(self, level: f32) -> u32 {
        let whole = level.ceil() as u32;
        match self {
            Self::Equal => whole,
            Self::FractionalEven => whole.next_multiple_of(2),
            Self::FractionalOdd => whole | 1,
        }
    }

    /// Where the vertices of an edge of a clamped level and so many segments are.
    fn subdivide(self, level: f32, segments: u32, out: &mut Vec<u32>) {
        let n = segments as usize;
        out.clear();
        out.resize(n + 1, ONE);
        let one = f64::from(ONE);
        // The shorter segment of the first half, if there is one.
        let short = if self == Self::Equal { n } else { (n / 2).saturating_sub(1) };
        let (mut at, mut length) = (0.0, one / f64::from(level));
        if self == Self::Equal {
            length = one / n as f64;
        }
        let rest = (one - length * n.saturating_sub(2) as f64) / 2.0;
        for place in 0..=n / 2 {
            // What is in the middle is there exactly.
            let is_middle = 2 * place == n;
            out[place] = if is_middle { ONE / 2 } else { (at + 0.5) as u32 };
            out[n - place] = ONE - out[place];
            at += if place == short && n > 1 { rest } else { length };
        }
    }
}

impl Subdivision {
    /// Vertices of a primitive.
    pub fn corners(&self) -> usize {
        match self.domain {
            _ if self.points => 1,
            Domain::Isolines => 2,
            Domain::Triangles | Domain::Quads => 3,
        }
    }

    /// The outer levels that count.
    fn relevant(&self) -> usize {
        match self.domain {
            Domain::Triangles => 3,
            Domain::Quads => 4,
            Domain::Isolines => 2,
        }
    }

    /// Subdivides a patch; it has no vertices where an outer level is not positive. Patches like the last one are there already.
    pub fn subdivide(&self, levels: &Levels, mesh: &mut Mesh) {
        let of = Some((*self, *levels));
        if mesh.of == of {
            return;
        }
        mesh.of = of;
        mesh.vertices.clear();
        mesh.corners.clear();
        let outer = &levels.outer[..self.relevant()];
        // This is so for what is no number, too.
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

    /// How many vertices and primitives a patch becomes: those that [`Self::subdivide`] makes of it.
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

    /// Segments of all of some outer edges.
    fn around(&self, levels: &[f32]) -> usize {
        levels.iter().map(|&level| self.spacing.segments(self.spacing.clamp(level)) as usize).sum()
    }

    fn count_triangle(&self, levels: &Levels) -> (usize, usize) {
        let around = self.around(&levels.outer[..3]);
        if around == 3 && self.leaves_whole(&levels.inner[..1]) {
            return (3, 1);
        }
        // Each ring has a vertex for each of its segments; two rings have a triangle for each segment of both between them.
        let rings = (1..=(self.inside(levels.inner[0]).1 / 2)).map(|ring| self.inside(levels.inner[0]).1 - 2 * ring);
        let (mut vertices, mut primitives, mut outer) = (around, 0, around);
        for segments in rings {
            vertices += if segments == 0 { 1 } else { 3 * segments as usize };
            primitives += outer + 3 * segments as usize;
            outer = 3 * segments as usize;
            // The innermost one is a triangle of its own.
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

    /// An inner level as it counts when the patch is not left whole: one of 1 divides what is inside, too.
    fn inside(&self, level: f32) -> (f32, u32) {
        let level = self.spacing.clamp(level);
        let least = if self.spacing == Spacing::FractionalOdd { 3 } else { 2 };
        (level, self.spacing.segments(level).max(least))
    }

    /// Whether all of some levels leave their edges whole.
    fn leaves_whole(&self, levels: &[f32]) -> bool {
        levels.iter().all(|&level| self.spacing.segments(self.spacing.clamp(level)) == 1)
    }

    fn triangle(&self, levels: &Levels, mesh: &mut Mesh) {
        let outer = [levels.outer[0], levels.outer[1], levels.outer[2]];
        if self.leaves_whole(&[outer[0], outer[1], outer[2], levels.inner[0]]) {
            mesh.vertices.extend([[ONE, 0], [0, ONE], [0, 0]]);
            mesh.corners.extend([0, 1, 2]);
            return;
        }
        let (level, segments) = self.inside(levels.inner[0]);
        let [mut across, other] = std::mem::take(&mut mesh.across);
        self.spacing.subdivide(level, segments, &mut across);
        let n = segments as usize;
        // The outer edges go from u to v (w = 0), from v to w (u = 0), and from w to u (v = 0).
        let mut starts = [0; 4];
        let mut places = Vec::new();
        for (edge, level) in [outer[2], outer[0], outer[1]].into_iter().enumerate() {
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
                let Mesh { vertices, corners, outer, inner: inside, .. } = mesh;
                outer.list(vertices, rings, edge);
                inside.list(vertices, inner, edge);
                stitch(outer, inside, corners);
            }
            rings = inner;
        }
        // The innermost triangle, unless it is a point.
        if n % 2 == 1 {
            mesh.corners.extend([rings[0], rings[1], rings[2]]);
        }
        mesh.across = [across, other];
    }

    fn square(&self, levels: &Levels, mesh: &mut Mesh) {
        let [left, bottom, right, top] = levels.outer;
        let all = [left, bottom, right, top, levels.inner[0], levels.inner[1]];
        if self.leaves_whole(&all) {
            mesh.vertices.extend([[0, 0], [ONE, 0], [ONE, ONE], [0, ONE]]);
            mesh.corners.extend([0, 1, 2, 0, 2, 3]);
            return;
        }
        let mut across = std::mem::take(&mut mesh.across);
        for (places, level) in across.iter_mut().zip(levels.inner) {
            let (level, segments) = self.inside(level);
            self.spacing.subdivide(level, segments, places);
        }
        let [u, v] = &across;
        // Around: v = 0, u = 1, v = 1, u = 0.
        let mut starts = [0; 5];
        let mut places = Vec::new();
        for (edge, level) in [bottom, right, top, left].into_iter().enumerate() {
            starts[edge] = mesh.vertices.len() as u32;
            let level = self.spacing.clamp(level);
            self.spacing.subdivide(level, self.spacing.segments(level), &mut places);
            mesh.vertices.extend(places[..places.len() - 1].iter().map(|&place| match edge {
                0 => [place, 0],
                1 => [ONE, place],
                2 => [ONE - place, ONE],
                _ => [0, ONE - place],
            }));
        }
        starts[4] = mesh.vertices.len() as u32;
        let (columns, rows) = (u.len() - 2, v.len() - 2);
        for &v in &v[1..=rows] {
            mesh.vertices.extend(u[1..=columns].iter().map(|&u| [u, v]));
        }
        let at = |column: usize, row: usize| starts[4] + (row * columns + column) as u32;
        for (row, column) in (1..rows).flat_map(|row| (1..columns).map(move |column| (row, column))) {
            let [a, b, c, d] = [at(column - 1, row - 1), at(column, row - 1), at(column, row), at(column - 1, row)];
            // Rings around the middle have their corners on diagonals.
            mesh.corners.extend(match (2 * column < columns) == (2 * row < rows) {
                true => [a, b, c, a, c, d],
                false => [a, b, d, b, c, d],
            });
        }
        for edge in 0..4 {
            let Mesh { vertices, corners, outer, inner, .. } = mesh;
            let count = if edge % 2 == 0 { columns } else { rows };
            inner.clear();
            for step in 0..count {
                let vertex = match edge {
                    0 => at(step, 0),
                    1 => at(columns - 1, step),
                    2 => at(columns - 1 - step, rows - 1),
                    _ => at(0, rows - 1 - step),
                };
                inner.push(vertex, along(vertices[vertex as usize], edge));
            }
            outer.clear();
            for vertex in starts[edge]..starts[edge + 1] {
                outer.push(vertex, along(vertices[vertex as usize], edge));
            }
            outer.push(if edge == 3 { starts[0] } else { starts[edge + 1] }, ONE);
            stitch(outer, inner, corners);
        }
        mesh.across = across;
    }

    fn isolines(&self, levels: &Levels, mesh: &mut Mesh) {
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

/// How far along an edge of the square a vertex is.
fn along([u, v]: [u32; 2], edge: usize) -> u32 {
    match edge {
        0 => u,
        1 => v,
        2 => ONE - u,
        _ => ONE - v,
    }
}

/// The coordinates of a vertex that has these weights of an edge's first corner, its second one, and the third.
fn turned([first, second, third]: [u32; 3], edge: usize) -> [u32; 2] {
    match edge {
        0 => [first, second],
        1 => [third, first],
        _ => [second, third],
    }
}

impl Mesh {
    /// Adds the vertices of an inner triangle, around; where each edge begins, and the end. The innermost one may be a point.
    fn add_ring(&mut self, across: &[u32], ring: usize) -> [u32; 4] {
        let n = across.len() - 1;
        let inset = across[ring];
        // Perpendiculars through a place on two edges meet at two thirds of it.
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

impl Edge {
    /// The vertices of an edge of a triangle, whose edges begin at these.
    fn list(&mut self, vertices: &[[u32; 2]], starts: [u32; 4], edge: usize) {
        self.clear();
        // Projected on the edge: the weight of its second corner, and half of the third one's.
        let mut push = |vertex: u32| {
            let [u, v] = vertices[vertex as usize];
            let weights = [u, v, ONE - u - v];
            self.push(vertex, 2 * weights[(edge + 1) % 3] + weights[(edge + 2) % 3]);
        };
        let end = if edge == 2 { starts[3] } else { starts[edge + 1] };
        (starts[edge]..end.max(starts[edge] + u32::from(starts[0] == starts[1]))).for_each(&mut push);
        if starts[0] != starts[1] {
            push(if edge == 2 { starts[0] } else { starts[edge + 1] });
        }
    }
}

/// Fills what lies between two edges, the inner one to the left of the outer one. Either may be a point.
fn stitch(outer: &Edge, inner: &Edge, corners: &mut Vec<u32>) {
    let (mut out, mut at) = (0, 0);
    let (last_out, last_at) = (outer.vertices.len() - 1, inner.vertices.len() - 1);
    while out < last_out || at < last_at {
        // The segment whose middle comes first; the outer one where both are at one place.
        let middle = |edge: &Edge, place: usize| u64::from(edge.places[place]) + u64::from(edge.places[place + 1]);
        let goes_out = at == last_at || (out < last_out && middle(outer, out) <= middle(inner, at));
        if goes_out {
            corners.extend([outer.vertices[out], outer.vertices[out + 1], inner.vertices[at]]);
            out += 1;
        } else {
            corners.extend([outer.vertices[out], inner.vertices[at + 1], inner.vertices[at]]);
            at += 1;
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
