//! A model of subdivided patches, and shaders with replaced execution modes.

use std::collections::BTreeSet;

/// Abstract patch types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    Triangles,
    Quads,
    Isolines,
}

/// Spacing of edges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    Equal,
    Even,
    Odd,
}

/// Winding of triangles, or points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Counter,
    Clockwise,
    Points,
}

impl Domain {
    /// Every domain.
    pub const ALL: [Self; 3] = [Self::Triangles, Self::Quads, Self::Isolines];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ["triangles", "quads", "isolines"][self as usize]
    }

    fn mode(self) -> u32 {
        [22, 24, 25][self as usize]
    }
}

impl Spacing {
    /// Every spacing.
    pub const ALL: [Self; 3] = [Self::Equal, Self::Even, Self::Odd];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ["equal", "even", "odd"][self as usize]
    }

    fn mode(self) -> u32 {
        [1, 2, 3][self as usize]
    }

    /// Returns a level after clamping and rounding, and its segments.
    fn segments(self, level: f32) -> (f64, usize) {
        let level = f64::from(level);
        let clamp = |least: f64, most: f64| if level >= least { level.min(most) } else { least };
        match self {
            Self::Equal => (clamp(1.0, 64.0), clamp(1.0, 64.0).ceil() as usize),
            Self::Even => (clamp(2.0, 64.0), 2 * (clamp(2.0, 64.0) / 2.0).ceil() as usize),
            Self::Odd => (clamp(1.0, 63.0), 2 * ((clamp(1.0, 63.0) - 1.0) / 2.0).ceil() as usize + 1),
        }
    }
}

impl Order {
    /// Every order.
    pub const ALL: [Self; 3] = [Self::Counter, Self::Clockwise, Self::Points];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ["ccw", "cw", "points"][self as usize]
    }

    /// Returns the vertices of a primitive.
    pub fn corners(self, domain: Domain) -> usize {
        match (self, domain) {
            (Self::Points, _) => 1,
            (_, Domain::Isolines) => 2,
            _ => 3,
        }
    }
}

/// Execution modes that replace those of a shader. Others stay.
#[derive(Clone, Copy, Default)]
struct ReplacedModes {
    domain: Option<Domain>,
    spacing: Option<Spacing>,
    order: Option<Order>,
}

/// Returns a shader with replaced modes. It is leaked, once for each case.
fn patched(shader: &[u8], replaced: ReplacedModes) -> &'static [u8] {
    let ReplacedModes { domain, spacing, order } = replaced;
    const EXECUTION_MODE: u32 = 16;
    const POINT_MODE: u32 = 10;
    let words: Vec<u32> = shader.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let mut out = words[..5].to_vec();
    let mut rest = &words[5..];
    while let Some(&first) = rest.first() {
        let (inst, behind) = rest.split_at(first as usize >> 16);
        rest = behind;
        out.extend_from_slice(inst);
        if first & 0xffff != EXECUTION_MODE {
            continue;
        }
        let at = out.len() - inst.len() + 2;
        out[at] = match out[at] {
            mode @ 1..=3 => spacing.map_or(mode, Spacing::mode),
            mode @ 4..=5 => order.map_or(mode, |order| if order == Order::Clockwise { 4 } else { 5 }),
            mode @ (22 | 24 | 25) => {
                if order == Some(Order::Points) {
                    out.extend([3 << 16 | EXECUTION_MODE, inst[1], POINT_MODE]);
                }
                domain.map_or(mode, Domain::mode)
            }
            other => other,
        };
    }
    let bytes: Vec<u8> = out.into_iter().flat_map(u32::to_le_bytes).collect();
    Box::leak(bytes.into_boxed_slice())
}

/// Returns a shader with these modes.
pub fn with_modes(shader: &[u8], modes: Modes) -> &'static [u8] {
    let Modes { domain, spacing, order } = modes;
    patched(shader, ReplacedModes { domain: Some(domain), spacing: Some(spacing), order: Some(order) })
}

/// Returns a shader of another domain.
pub fn of_domain(shader: &[u8], domain: Domain) -> &'static [u8] {
    patched(shader, ReplacedModes { domain: Some(domain), ..ReplacedModes::default() })
}

/// Returns a shader of another spacing.
pub fn of_spacing(shader: &[u8], spacing: Spacing) -> &'static [u8] {
    patched(shader, ReplacedModes { spacing: Some(spacing), ..ReplacedModes::default() })
}

/// The execution modes of an evaluation shader.
#[derive(Clone, Copy)]
pub struct Modes {
    /// The abstract patch type.
    pub domain: Domain,
    /// Spacing of edges.
    pub spacing: Spacing,
    /// Winding of triangles, or points instead of primitives.
    pub order: Order,
}

/// Checks the coordinates of all vertices of a patch's primitives, in order. `levels` are four
/// outer and two inner levels.
pub fn verify(modes: Modes, levels: &[f32; 6], vertices: &[[f32; 3]]) -> Result<(), String> {
    let Modes { domain, spacing, order } = modes;
    in_domain(domain, vertices)?;
    if domain == Domain::Isolines {
        return lines(spacing, order, levels, vertices);
    }
    if order != Order::Points {
        areas(domain, order, vertices)?;
    }
    let inner = if domain == Domain::Triangles { &levels[4..5] } else { &levels[4..] };
    let outer = if domain == Domain::Triangles { &levels[..3] } else { &levels[..4] };
    let is_whole = outer.iter().chain(inner).all(|&level| spacing.segments(level).1 == 1);
    // Inner vertices may lie on the edges where the inner level is 1.
    if spacing == Spacing::Odd && !is_whole && inner.iter().any(|&level| level <= 1.0) {
        return Ok(());
    }
    for (edge, &level) in outer.iter().enumerate() {
        let along: Vec<f64> = vertices.iter().filter_map(|vertex| on_edge(domain, edge, *vertex)).collect();
        check_edge(spacing, level, along).map_err(|problem| format!("edge {edge}: {problem}"))?;
    }
    let found: BTreeSet<[u32; 3]> = vertices.iter().map(|vertex| vertex.map(f32::to_bits)).collect();
    let expected = unique(domain, spacing, (outer, inner), is_whole);
    let is_once = order != Order::Points || vertices.len() == expected;
    match found.len() == expected && is_once {
        true => Ok(()),
        false => Err(format!("{} vertices, {} of them different, not {expected}", vertices.len(), found.len())),
    }
}

fn in_domain(domain: Domain, vertices: &[[f32; 3]]) -> Result<(), String> {
    for vertex @ [u, v, w] in vertices {
        let inside = [u, v, w].iter().all(|coordinate| (0.0..=1.0).contains(*coordinate));
        let sum = u + v + w;
        let good = if domain == Domain::Triangles { (sum - 1.0).abs() < 1e-6 } else { *w == 0.0 };
        if !inside || !good {
            return Err(format!("a vertex at {vertex:?}"));
        }
    }
    Ok(())
}

/// Checks that all triangles have one winding, and that their areas add up to the domain's.
fn areas(domain: Domain, order: Order, vertices: &[[f32; 3]]) -> Result<(), String> {
    let sign = if order == Order::Clockwise { 1.0 } else { -1.0 };
    let mut sum = 0.0;
    for triangle in vertices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|corner| triangle[corner].map(f64::from));
        let area = sign * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2.0;
        if area < -1e-6 {
            return Err(format!("{triangle:?} turns the other way"));
        }
        sum += area;
    }
    let whole = if domain == Domain::Triangles { 0.5 } else { 1.0 };
    if (sum - whole).abs() < 1e-5 { Ok(()) } else { Err(format!("an area of {sum}")) }
}

/// Returns how far along an outer edge a vertex lies, if it lies on the edge.
fn on_edge(domain: Domain, edge: usize, [u, v, w]: [f32; 3]) -> Option<f64> {
    let (is_on, along) = match (domain, edge) {
        (Domain::Triangles, 0) => (u == 0.0, v),
        (Domain::Triangles, 1) => (v == 0.0, w),
        (Domain::Triangles, _) => (w == 0.0, u),
        (_, 0) => (u == 0.0, v),
        (_, 1) => (v == 0.0, u),
        (_, 2) => (u == 1.0, v),
        _ => (v == 1.0, u),
    };
    is_on.then_some(f64::from(along))
}

/// Checks that an edge is symmetric with as many segments as its level, of which two may be
/// shorter and equally long. The specification leaves their position and length open.
fn check_edge(spacing: Spacing, level: f32, mut along: Vec<f64>) -> Result<(), String> {
    along.sort_by(f64::total_cmp);
    along.dedup();
    let (level, segments) = spacing.segments(level);
    if along.len() != segments + 1 {
        return Err(format!("{} segments, not {segments}", along.len() - 1));
    }
    let is_symmetric = along.iter().zip(along.iter().rev()).all(|(a, b)| (a + b - 1.0).abs() < 1e-6);
    let lengths: Vec<f64> = along.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let long = lengths.iter().copied().fold(0.0, f64::max);
    let shorter: Vec<f64> = lengths.iter().copied().filter(|length| long - length > 1e-6).collect();
    let is_whole = spacing == Spacing::Equal || level == segments as f64;
    let are_alike = match shorter[..] {
        [] => is_whole || segments <= 2,
        [first, second] => !is_whole && (first - second).abs() < 1e-6,
        _ => false,
    };
    match is_symmetric && are_alike {
        true => Ok(()),
        false => Err(format!("segments of {lengths:?}")),
    }
}

/// Returns the number of vertices of a patch.
fn unique(domain: Domain, spacing: Spacing, (outer, inner): (&[f32], &[f32]), is_whole: bool) -> usize {
    let around: usize = outer.iter().map(|&level| spacing.segments(level).1).sum();
    if is_whole {
        return around;
    }
    let least = if spacing == Spacing::Odd { 3 } else { 2 };
    let inside = |level: f32| spacing.segments(level).1.max(least);
    if domain == Domain::Quads {
        return around + (inside(inner[0]) - 1) * (inside(inner[1]) - 1);
    }
    let (mut count, mut segments) = (around, inside(inner[0]));
    while segments > 1 {
        segments -= 2;
        count += if segments == 0 { 1 } else { 3 * segments };
    }
    count
}

/// Checks lines along u, at even distances from v = 0 on.
fn lines(spacing: Spacing, order: Order, levels: &[f32; 6], vertices: &[[f32; 3]]) -> Result<(), String> {
    let (_, rows) = Spacing::Equal.segments(levels[0]);
    let (_, segments) = spacing.segments(levels[1]);
    let of_row = if order == Order::Points { segments + 1 } else { 2 * segments };
    if vertices.len() != rows * of_row {
        return Err(format!("{} vertices of {rows} lines of {segments} segments", vertices.len()));
    }
    for row in 0..rows {
        let place = row as f64 / rows as f64;
        let own: Vec<_> = vertices.iter().filter(|vertex| (f64::from(vertex[1]) - place).abs() < 1e-6).collect();
        if own.len() != of_row {
            return Err(format!("{} vertices in row {row} of {rows}", own.len()));
        }
        check_edge(spacing, levels[1], own.iter().map(|vertex| f64::from(vertex[0])).collect())?;
    }
    let is_line = |pair: &[[f32; 3]]| pair[0][1] == pair[1][1] && pair[0][0] < pair[1][0];
    match order == Order::Points || vertices.chunks_exact(2).all(is_line) {
        true => Ok(()),
        false => Err("a line that does not go along u".into()),
    }
}
