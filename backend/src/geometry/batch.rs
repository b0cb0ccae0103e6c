//! Sixteen triangles at a time from window space to primitives: snapping, facing and culling, edges, planes, depth bias.
//!
//! Lines and points come as the triangles they are made of. Planes are solved in `f64` from unsnapped positions relative to the
//! first vertex, rounded to `f32`, and evaluated in `f32` the same way everywhere. Source: Vulkan specification, "Rasterization".

use ash::vk;

use super::lines::Cover;
use super::primitives::{Primitives, SIDES, Shape};
use super::setup::{PrimitiveContext, Window};
use super::shading::Shaded;
use crate::raster::{UNITS, snap};
use crate::shader::Interpolation;
use crate::shader::runtime::kernels::{Lanes, WAVE, kernel};

type Floats = [f32; WAVE];
type Ints = [i32; WAVE];

/// x and y, corner by corner.
type Axes<T> = [[T; 3]; 2];

/// What is known of a triangle's facing before it is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Facing {
    Back,
    Front,
    /// What its winding says; it may be culled.
    Own,
}

/// How an input word of the fragment program gets from vertices to fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Not at all: it is no varying.
    None,
    Flat,
    Linear,
    Perspective,
    /// A distance from a side of a smooth line, in the window: no varying, either.
    Side,
}

/// Triangles on their way: each lane one.
#[derive(Debug, Default)]
pub struct Batch {
    count: usize,
    corners: Corners,
    /// Corner by corner, for each input word of the fragment program.
    varyings: Vec<[Lanes; 3]>,
    ways: Vec<Way>,
    solved: Solved,
    /// The primitives' words.
    words: Vec<Lanes>,
    /// Lanes that cover something else than their corners say.
    covers: Vec<(usize, Cover)>,
}

/// What is known of triangles: by corner where there are three.
#[derive(Debug, Default)]
struct Corners {
    place: Axes<Floats>,
    z: [Floats; 3],
    inverse_w: [Floats; 3],
    point: [Floats; 3],
    facing: Lanes,
    id: Lanes,
}

/// What does not differ from triangle to triangle.
#[derive(Debug, Clone, Copy)]
struct Rules {
    clockwise_is_front: bool,
    /// Back faces, front faces.
    culls: [bool; 2],
    depth_range: [f32; 2],
    samples: u32,
    /// Whether pixels are covered where their centres are.
    centred: bool,
    /// The corner that gives flat inputs.
    provoking: usize,
}

/// What becomes of triangles besides words.
#[derive(Debug, Default)]
struct Solved {
    /// Whether anything is left.
    lives: [bool; WAVE],
    /// Corners on the grid, clockwise.
    grid: Axes<Ints>,
    /// The pixels that may be covered.
    pixels: [Ints; 4],
}

impl Batch {
    /// Gets ready for triangles of a draw.
    pub(super) fn start(&mut self, context: &PrimitiveContext<'_>) {
        let inputs = context.fragment.map_or(&[][..], |program| &program.inputs);
        self.count = 0;
        self.ways.clear();
        self.ways.extend(inputs.iter().map(|input| match input.interpolation {
            _ if !input.slot.is_varying() => Way::None,
            Interpolation::Flat => Way::Flat,
            Interpolation::NoPerspective => Way::Linear,
            Interpolation::Smooth => Way::Perspective,
        }));
        self.ways.resize(context.inputs(), Way::Side);
        self.varyings.resize(self.ways.len(), [[0; WAVE]; 3]);
        self.words.clear();
        self.words.resize(Shape::WORDS + self.ways.len() * 3, [0; WAVE]);
    }

    /// Whether there is no room for another one.
    pub(super) fn is_full(&self) -> bool {
        self.count == WAVE
    }

    /// Adds a triangle of shaded vertices; there must be room.
    #[inline]
    pub(super) fn add_shaded(&mut self, shaded: &Shaded<'_>, vertices: [u32; 3], id: u32) {
        let lane = self.count;
        for (corner, &vertex) in vertices.iter().enumerate() {
            let [x, y, z, inverse_w] = shaded.window(vertex);
            self.corners.place[0][corner][lane] = x;
            self.corners.place[1][corner][lane] = y;
            self.corners.z[corner][lane] = z;
            self.corners.inverse_w[corner][lane] = inverse_w;
            for (index, varying) in self.varyings.iter_mut().enumerate() {
                varying[corner][lane] = shaded.varying(vertex, index);
            }
        }
        self.tag(Facing::Own, [0.0; 3], id);
    }

    /// Adds a triangle in window space; there must be room. `provoking` gives the words of flat inputs.
    pub(super) fn add(
        &mut self,
        corners: [&Window<'_>; 3],
        provoking: impl Fn(usize) -> u32,
        (id, facing): (u32, Facing),
        point: [f32; 3],
    ) {
        let lane = self.count;
        for (corner, vertex) in corners.into_iter().enumerate() {
            self.corners.place[0][corner][lane] = vertex.x;
            self.corners.place[1][corner][lane] = vertex.y;
            self.corners.z[corner][lane] = vertex.z;
            self.corners.inverse_w[corner][lane] = vertex.inverse_w;
            for (index, (varying, way)) in self.varyings.iter_mut().zip(&self.ways).enumerate() {
                varying[corner][lane] = match way {
                    Way::Side => continue,
                    Way::Flat => provoking(index),
                    _ => vertex.varying(index),
                };
            }
        }
        self.tag(facing, point, id);
    }

    /// What the triangle that was added last covers, when it is not what its corners say.
    pub(super) fn cover(&mut self, cover: Cover) {
        self.covers.push((self.count - 1, cover));
    }

    /// Distances of its corners from the sides of the smooth line that it is a part of.
    pub(super) fn sides(&mut self, corners: [&[f32; 4]; 3]) {
        let (lane, first) = (self.count - 1, self.varyings.len() - SIDES);
        for (side, varying) in self.varyings[first..].iter_mut().enumerate() {
            for (corner, distances) in varying.iter_mut().zip(corners) {
                corner[lane] = distances[side].to_bits();
            }
        }
    }

    fn tag(&mut self, facing: Facing, point: [f32; 3], id: u32) {
        for (lanes, value) in self.corners.point.iter_mut().zip(point) {
            lanes[self.count] = value;
        }
        self.corners.facing[self.count] = facing as u32;
        self.corners.id[self.count] = id;
        self.count += 1;
    }

    /// Sets up what was added, behind the primitives in `out`.
    pub(super) fn flush(&mut self, context: &PrimitiveContext<'_>, out: &mut Primitives) {
        let count = std::mem::take(&mut self.count);
        if count == 0 {
            return;
        }
        let (near, far) = (context.viewport.min_depth, context.viewport.max_depth);
        let culls = |face| context.raster.cull_mode.contains(face);
        let rules = Rules {
            clockwise_is_front: context.raster.front_face == vk::FrontFace::CLOCKWISE,
            culls: [culls(vk::CullModeFlags::BACK), culls(vk::CullModeFlags::FRONT)],
            depth_range: [near.min(far), near.max(far)],
            samples: context.samples,
            centred: context.is_centred(),
            provoking: if context.raster.provoking_last { 2 } else { 0 },
        };
        solve(&self.corners, &rules, (&self.ways, &self.varyings), &mut self.solved, &mut self.words);
        if !self.covers.is_empty() {
            self.replace(&rules);
        }
        // Edges and corners of polygons come with that of the polygon.
        if let Some(area) = context.routed {
            self.cut(area);
        }
        if context.bias.is_some() && context.raster.polygon_mode == vk::PolygonMode::FILL {
            self.bias(context);
        }
        bound_depths(&self.solved.pixels, &rules, &mut self.words);
        let Solved { lives, grid, pixels } = &self.solved;
        for lane in (0..count).filter(|&lane| lives[lane]) {
            let corners = three(|corner| two(|axis| grid[axis][corner][lane]));
            out.push(
                corners,
                [0, 1, 2, 3].map(|bound: usize| pixels[bound][lane]),
                self.words.iter().map(|lanes| lanes[lane]),
            );
        }
    }

    /// Replaces what triangles cover.
    #[cold]
    fn replace(&mut self, rules: &Rules) {
        let Solved { lives, grid, pixels } = &mut self.solved;
        for (lane, cover) in &self.covers {
            for (corner, place) in cover.corners.iter().enumerate() {
                (grid[0][corner][*lane], grid[1][corner][*lane]) = (place[0], place[1]);
            }
        }
        let area = each(|lane| grid_area(grid, lane));
        turn_clockwise(grid, &area);
        let touched = bounds(grid, rules.centred);
        for (lane, Cover { window, .. }) in self.covers.drain(..) {
            let cut = [0, 1, 2, 3].map(|bound: usize| match bound {
                0 | 1 => touched[bound][lane].max(window[bound]),
                _ => touched[bound][lane].min(window[bound]),
            });
            (0..4).for_each(|bound| pixels[bound][lane] = cut[bound]);
            lives[lane] = area[lane] != 0 && cut[0] < cut[2] && cut[1] < cut[3];
        }
        for edge in 0..3 {
            edge_words(grid, edge, part(&mut self.words, Shape::EDGES + edge as u32 * 3));
        }
    }

    /// Cuts triangles to the pixels `[x0, y0, x1, y1]`.
    #[cold]
    fn cut(&mut self, area: [i64; 4]) {
        let Solved { lives, pixels, .. } = &mut self.solved;
        for (bound, lanes) in pixels.iter_mut().enumerate() {
            let limit = area[bound] as i32;
            *lanes = lanes.map(|pixel| if bound < 2 { pixel.max(limit) } else { pixel.min(limit) });
        }
        for (lane, lives) in lives.iter_mut().enumerate() {
            *lives &= pixels[0][lane] < pixels[2][lane] && pixels[1][lane] < pixels[3][lane];
        }
    }

    fn bias(&mut self, context: &PrimitiveContext<'_>) {
        let [origin, dx, dy] = [0, 1, 2].map(|word| (Shape::DEPTH + word) as usize);
        for lane in 0..WAVE {
            let slopes = [dx, dy].map(|word| f32::from_bits(self.words[word][lane]));
            let biased = f32::from_bits(self.words[origin][lane])
                + context.depth_bias(slopes, self.corners.z.iter().map(|corner| corner[lane]));
            self.words[origin][lane] = biased.to_bits();
        }
    }
}

#[inline(always)]
fn each<T: Copy + Default>(apply: impl Fn(usize) -> T) -> [T; WAVE] {
    let mut out = [T::default(); WAVE];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = apply(lane);
    }
    out
}

/// Like `array::map` of numbers, which the compiler does not always inline.
#[inline(always)]
fn two<T>(apply: impl Fn(usize) -> T) -> [T; 2] {
    [apply(0), apply(1)]
}

#[inline(always)]
fn three<T>(apply: impl Fn(usize) -> T) -> [T; 3] {
    [apply(0), apply(1), apply(2)]
}

/// Whether a triangle's own winding is clockwise on a screen with y down: by positions that are not snapped.
#[inline(always)]
fn is_clockwise([x, y]: &Axes<Floats>, lane: usize) -> bool {
    let wide = |corner: usize| [f64::from(x[corner][lane]), f64::from(y[corner][lane])];
    let turn = |[x0, y0]: [f64; 2], [x1, y1]: [f64; 2]| x0 * y1 - x1 * y0;
    0.0 + turn(wide(0), wide(1)) + turn(wide(1), wide(2)) + turn(wide(2), wide(0)) > 0.0
}

/// Twice the signed area on the grid: positive when clockwise.
#[inline(always)]
fn grid_area(grid: &Axes<Ints>, lane: usize) -> i64 {
    let step = |axis: usize, to: usize| i64::from(grid[axis][to][lane] - grid[axis][0][lane]);
    step(0, 1) * step(1, 2) - step(1, 1) * step(0, 2)
}

/// Makes corners clockwise.
#[inline(always)]
fn turn_clockwise(grid: &mut Axes<Ints>, area: &[i64; WAVE]) {
    for [_, second, third] in grid {
        for lane in 0..WAVE {
            let (b, c) = (second[lane], third[lane]);
            second[lane] = if area[lane] < 0 { c } else { b };
            third[lane] = if area[lane] < 0 { b } else { c };
        }
    }
}

/// First pixels and last ones, x and y, the last ones not included, which triangles may cover: all, or those whose centres they may.
#[inline(always)]
fn bounds(grid: &Axes<Ints>, centred: bool) -> [Ints; 4] {
    let units = UNITS as i32;
    let [before, after] = if centred { [units / 2 - 1, units / 2] } else { [0, 0] };
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

/// Some of the words of primitives, from `first` on.
#[inline(always)]
fn part<const N: usize>(words: &mut [Lanes], first: u32) -> &mut [Lanes; N] {
    words[first as usize..].first_chunk_mut().expect("every primitive has these words")
}

/// The words of the edge from a corner to the next.
#[inline(always)]
fn edge_words([x, y]: &Axes<Ints>, edge: usize, [dx, dy, origin]: &mut [Lanes; 3]) {
    let (next, units) = ((edge + 1) % 3, UNITS as i32);
    for lane in 0..WAVE {
        let (a, b) = (y[edge][lane] - y[next][lane], x[next][lane] - x[edge][lane]);
        // Left edges go up, top edges go right: with the inside positive and y down.
        let is_top_left = (a > 0) | ((a == 0) & (b > 0));
        let along_x = a.wrapping_mul((units / 2).wrapping_sub(x[edge][lane]));
        let along_y = b.wrapping_mul((units / 2).wrapping_sub(y[edge][lane]));
        dx[lane] = a.wrapping_mul(units) as u32;
        dy[lane] = b.wrapping_mul(units) as u32;
        origin[lane] = along_x.wrapping_add(along_y).wrapping_sub(i32::from(!is_top_left)) as u32;
    }
}

/// Edges from the first corner to the others, and the reciprocal of the area they span.
struct Solver {
    x: [[f64; WAVE]; 2],
    y: [[f64; WAVE]; 2],
    area: [f64; WAVE],
    inverse_area: [f64; WAVE],
}

impl Solver {
    #[inline(always)]
    fn new([x, y]: &Axes<Floats>) -> Self {
        let edge = |axis: &[Floats; 3], to: usize| each(|lane| f64::from(axis[to][lane]) - f64::from(axis[0][lane]));
        let (x, y) = ([edge(x, 1), edge(x, 2)], [edge(y, 1), edge(y, 2)]);
        let area = each(|lane| x[0][lane] * y[1][lane] - y[0][lane] * x[1][lane]);
        Self { x, y, inverse_area: each(|lane| 1.0 / area[lane]), area }
    }

    /// The plane through values at the corners: origin and slopes.
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
}

/// The words of an input word of the fragment program, from its values at the corners, of which the first or the last is provoking.
#[inline(always)]
fn input_words(
    solver: &Solver,
    (way, provoking): (Way, usize),
    values: &[Lanes; 3],
    inverse_w: &[Floats; 3],
    words: &mut [Lanes; 3],
) {
    let value = |corner: usize, lane: usize| f32::from_bits(values[corner][lane]);
    match way {
        Way::None => {}
        Way::Flat => words[0] = values[provoking],
        Way::Linear | Way::Side => {
            let [a, b, c] = three(|corner| each(|lane| value(corner, lane)));
            solver.plane([&a, &b, &c], words);
        }
        Way::Perspective => {
            let [a, b, c] = three(|corner| each(|lane| value(corner, lane) * inverse_w[corner][lane]));
            solver.plane([&a, &b, &c], words);
        }
    }
}

#[inline(always)]
fn solve_lanes(
    corners: &Corners,
    rules: &Rules,
    (ways, varyings): (&[Way], &[[Lanes; 3]]),
    solved: &mut Solved,
    words: &mut [Lanes],
) {
    let facing = &corners.facing;
    let front = each(|lane| {
        let own = is_clockwise(&corners.place, lane) == rules.clockwise_is_front;
        (facing[lane] == Facing::Front as u32) | ((facing[lane] == Facing::Own as u32) & own)
    });
    let mut grid = [[[0; WAVE]; 3]; 2];
    for (grid, place) in grid.as_flattened_mut().iter_mut().zip(corners.place.as_flattened()) {
        *grid = each(|lane| snap(place[lane]));
    }
    let area = each(|lane| grid_area(&grid, lane));
    turn_clockwise(&mut grid, &area);
    let pixels = bounds(&grid, rules.centred);
    let solver = Solver::new(&corners.place);
    let [culls_back, culls_front] = rules.culls;
    solved.lives = each(|lane| {
        let has_pixels = (pixels[0][lane] < pixels[2][lane]) & (pixels[1][lane] < pixels[3][lane]);
        let is_solvable = (solver.area[lane] != 0.0) & solver.area[lane].is_finite();
        let culled = if front[lane] { culls_front } else { culls_back };
        (area[lane] != 0) & has_pixels & is_solvable & !(culled & (facing[lane] == Facing::Own as u32))
    });
    let ([a, b, c], [d, e, f]) = (&corners.inverse_w, &corners.z);
    solver.plane([a, b, c], part(words, Shape::INVERSE_W));
    solver.plane([d, e, f], part(words, Shape::DEPTH));
    for edge in 0..3 {
        edge_words(&grid, edge, part(words, Shape::EDGES + edge as u32 * 3));
    }
    for (index, (way, values)) in ways.iter().zip(varyings).enumerate() {
        let words = part(words, Primitives::first_word(index));
        input_words(&solver, (*way, rules.provoking), values, &corners.inverse_w, words);
    }
    for lane in 0..WAVE {
        let mut put = |word: u32, value: u32| words[word as usize][lane] = value;
        put(Shape::FRONT, u32::from(front[lane]));
        put(Shape::ID, corners.id[lane]);
        put(Shape::REFERENCE, corners.place[0][0][lane].to_bits());
        put(Shape::REFERENCE + 1, corners.place[1][0][lane].to_bits());
        for (end, depth) in (0..).zip(rules.depth_range) {
            put(Shape::DEPTH_RANGE + end, depth.to_bits());
        }
        for (number, values) in (0..).zip(&corners.point) {
            put(Shape::POINT + number, values[lane].to_bits());
        }
    }
    (solved.grid, solved.pixels) = (grid, pixels);
}

kernel!(
    /// Sets triangles up: what becomes of them, and their words but for depth bias and the range of depths.
    solve, solve_wide, solve_lanes,
    (corners: &Corners, rules: &Rules, inputs: (&[Way], &[[Lanes; 3]]), solved: &mut Solved, words: &mut [Lanes])
);

/// The least and the greatest depth at the pixels that a triangle may cover, as `hiz::depths_over` has them for floats.
#[inline(always)]
fn bound_depths_lanes(pixels: &[Ints; 4], rules: &Rules, words: &mut [Lanes]) {
    let [first, last] = if rules.samples == 1 { [0.5, 0.5] } else { [0.0, 1.0] };
    let word = |first: u32, number: usize| each(|lane| f32::from_bits(words[first as usize + number][lane]));
    let (reference, [origin, dx, dy]) =
        (two(|axis| word(Shape::REFERENCE, axis)), three(|part| word(Shape::DEPTH, part)));
    let [near, far] = rules.depth_range;
    let low = |axis: usize| each(|lane| pixels[axis][lane] as f32 - reference[axis][lane] + first);
    let high = |axis: usize| each(|lane| (pixels[axis + 2][lane] - 1) as f32 - reference[axis][lane] + last);
    let (xs, ys) = ([low(0), high(0)], [low(1), high(1)]);
    let corner = |x: usize, y: usize| {
        each(|lane| (origin[lane] + dx[lane] * xs[x][lane] + dy[lane] * ys[y][lane]).max(near).min(far))
    };
    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
    words[Shape::DEPTHS as usize] = each(|lane| a[lane].min(b[lane]).min(c[lane].min(d[lane])).to_bits());
    words[Shape::DEPTHS as usize + 1] = each(|lane| a[lane].max(b[lane]).max(c[lane].max(d[lane])).to_bits());
}

kernel!(
    /// Fills the range of depths in.
    bound_depths, bound_depths_wide, bound_depths_lanes, (pixels: &[Ints; 4], rules: &Rules, words: &mut [Lanes])
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::Plane;
    use crate::hiz::depths_over;
    use crate::raster::Triangle;

    /// A coordinate of a small triangle, of a large one, or no number at all.
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

    /// The plane through three values, as it is defined.
    fn plane(corners: &[[f32; 4]; 3], values: [f32; 3]) -> Plane {
        let edge = |to: usize, axis: usize| f64::from(corners[to][axis]) - f64::from(corners[0][axis]);
        let rise = |to: usize| f64::from(values[to]) - f64::from(values[0]);
        let inverse_area = 1.0 / (edge(1, 0) * edge(2, 1) - edge(1, 1) * edge(2, 0));
        let dx = (rise(1) * edge(2, 1) - rise(2) * edge(1, 1)) * inverse_area;
        let dy = (rise(2) * edge(1, 0) - rise(1) * edge(2, 0)) * inverse_area;
        Plane { origin: values[0], dx: dx as f32, dy: dy as f32 }
    }

    /// Edges that words describe: whether all of them have the pixel's centre inside.
    fn covers(words: &[u32], [x, y]: [i64; 2]) -> bool {
        words[Shape::EDGES as usize..][..9].as_chunks::<3>().0.iter().all(|&[dx, dy, origin]| {
            let along = dx.wrapping_mul(x as u32).wrapping_add(dy.wrapping_mul(y as u32));
            origin.wrapping_add(along) as i32 >= 0
        })
    }

    /// Sets one triangle up, with a flat, a linear and a perspective input whose values are the depths.
    fn set_up(corners: &[[f32; 4]; 3], rules: &Rules) -> (Solved, Vec<u32>) {
        let ways = [Way::Flat, Way::Linear, Way::Perspective, Way::None];
        let mut batch = Batch { words: vec![[0; WAVE]; Shape::WORDS + 12], ..Batch::default() };
        let lane = 5;
        for (number, [x, y, z, inverse_w]) in corners.iter().enumerate() {
            batch.corners.place[0][number][lane] = *x;
            batch.corners.place[1][number][lane] = *y;
            batch.corners.z[number][lane] = *z;
            batch.corners.inverse_w[number][lane] = *inverse_w;
        }
        batch.corners.facing[lane] = Facing::Own as u32;
        let depths = batch.corners.z.map(|lanes| lanes.map(f32::to_bits));
        solve(&batch.corners, rules, (&ways, &[depths; 4]), &mut batch.solved, &mut batch.words);
        bound_depths(&batch.solved.pixels, rules, &mut batch.words);
        (batch.solved, batch.words.iter().map(|lanes| lanes[lane]).collect())
    }

    proptest! {
        #[test]
        fn triangles_are_set_up_as_defined(
            corners in prop::array::uniform3(corner()), samples in prop::sample::select(vec![1u32, 4]), culls: [bool; 2],
            clockwise_is_front: bool, provoking in prop::sample::select(vec![0usize, 2]),
        ) {
            let (depth_range, centred) = ([0.25, 0.75], samples == 1);
            let rules = Rules { clockwise_is_front, culls, depth_range, samples, centred, provoking };
            let (solved, words) = set_up(&corners, &rules);
            let lives = solved.lives[5];
            let grid = corners.map(|[x, y, ..]| [i64::from(snap(x)), i64::from(snap(y))]);
            let finite = corners.iter().all(|[x, y, ..]| x.is_finite() && y.is_finite());
            let triangle = Triangle::new(grid).filter(|_| finite);
            let Some(triangle) = triangle else { prop_assert!(!lives); return Ok(()) };
            let pixels = if samples == 1 { triangle.centre_bounds() } else { triangle.pixel_bounds() };
            let turn = |a: [f32; 4], b: [f32; 4]| f64::from(a[0]) * f64::from(b[1]) - f64::from(b[0]) * f64::from(a[1]);
            let area = turn(corners[0], corners[1]) + turn(corners[1], corners[2]) + turn(corners[2], corners[0]);
            let front = (area > 0.0) == clockwise_is_front;
            let expected = pixels[0] < pixels[2] && pixels[1] < pixels[3] && !culls[usize::from(front)];
            let edge = |to: usize, axis: usize| f64::from(corners[to][axis]) - f64::from(corners[0][axis]);
            let is_solvable = edge(1, 0) * edge(2, 1) - edge(1, 1) * edge(2, 0) != 0.0;
            prop_assert_eq!(lives, expected && is_solvable);
            if !lives {
                return Ok(());
            }
            let mut primitives = Primitives::default();
            primitives.start(4, 1, 0);
            let found = three(|corner| two(|axis| solved.grid[axis][corner][5]));
            primitives.push(found, solved.pixels.map(|bound| bound[5]), words.iter().copied());
            prop_assert_eq!(primitives.triangle(0), triangle);
            prop_assert_eq!(primitives.pixels(0), pixels);
            let shape = primitives.shape(0);
            prop_assert_eq!((shape.front, shape.depth_range), (front, [0.25, 0.75]));
            prop_assert_eq!(shape.inverse_w, plane(&corners, corners.map(|corner| corner[3])));
            prop_assert_eq!(shape.depth, plane(&corners, corners.map(|corner| corner[2])));
            let input = |index: usize| [0, 1, 2].map(|word| f32::from_bits(words[Shape::WORDS + index * 3 + word]));
            let [flat, linear, perspective] = [input(0), input(1), input(2)];
            prop_assert_eq!(flat, [corners[provoking][2], 0.0, 0.0]);
            prop_assert_eq!(linear, [shape.depth.origin, shape.depth.dx, shape.depth.dy]);
            let over_w = plane(&corners, corners.map(|corner| corner[2] * corner[3]));
            prop_assert_eq!(perspective, [over_w.origin, over_w.dx, over_w.dy]);
            let [low, high] = depths_over(&shape, pixels, 32, samples);
            prop_assert!(primitives.depths(0) == [low, high] || low.is_nan());
            // Edge words are exact near triangles that are small.
            if (0..2).all(|axis| pixels[axis + 2] - pixels[axis] <= 30) {
                for x in pixels[0] - 2..pixels[2] + 2 {
                    for y in pixels[1] - 2..pixels[3] + 2 {
                        let centre = [x, y].map(|pixel| pixel * UNITS + UNITS / 2);
                        prop_assert_eq!(covers(&words, [x, y]), triangle.covers_point(centre[0], centre[1]));
                    }
                }
            }
        }
    }
}
