//! Set-up: primitives of shaded vertices become triangles in window space, which wait for their tiles.
//!
//! Points become squares of two triangles each; `segments.rs` has lines. Source: Vulkan specification, "Rasterization".

use std::ops::{Div, Mul};

use ash::vk;
use smallvec::SmallVec;
use vitric_base::object_pool::ObjectPool;
use vitric_base::simd::{Lanes, WAVE};
use vitric_ir::interface::{Builtin, InputSlot, Interpolation, Slot};

use super::clip::Volume;
use super::cull::Waiting;
use super::kernel::outside;
use super::lines::Cover;
use super::plan::{Facing, Plan, PrimitiveContext, SIDES, VaryingSource, depth_bias};
use super::triangles::{Entry, MAX_TRIANGLES, Triangles};
use super::{Shaded, Vertex, clip};
use crate::raster::{Criterion, hull, signed_area, snap};
use crate::state::RasterState;

/// A vertex in window space.
#[derive(Clone, Copy)]
pub(super) struct Window<'v> {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
    pub(super) inverse_w: f32,
    pub(super) source: Source<'v>,
}

/// Where the varyings of a vertex are.
#[derive(Clone, Copy)]
pub(super) enum Source<'v> {
    Shaded(&'v Shaded<'v>, u32),
    Clipped(&'v Vertex),
}

impl Source<'_> {
    fn varying(&self, index: usize) -> u32 {
        match self {
            Self::Shaded(shaded, vertex) => shaded.varying(*vertex, index),
            Self::Clipped(vertex) => vertex.varyings[index],
        }
    }
}

impl<'v> Window<'v> {
    /// Of a shaded vertex.
    pub(super) fn of(shaded: &'v Shaded<'v>, vertex: u32) -> Self {
        let [x, y, z, inverse_w] = shaded.window(vertex);
        Self { x, y, z, inverse_w, source: Source::Shaded(shaded, vertex) }
    }

    /// Input word `index` of the fragment program.
    pub(super) fn varying(&self, index: usize) -> u32 {
        self.source.varying(index)
    }
}

/// The vertices of a primitive: whose values fragments have that are not interpolated.
#[derive(Clone, Copy)]
pub(super) struct Origin<'v> {
    shaded: &'v Shaded<'v>,
    /// Where there are fewer than three, the last one stands for the others.
    vertices: [u32; 3],
    provoking: u32,
}

impl<'v> Origin<'v> {
    /// Of one to three vertices.
    pub(super) fn new<const N: usize>(context: &PrimitiveContext, shaded: &'v Shaded<'v>, of: [u32; N]) -> Self {
        Self {
            shaded,
            vertices: [0, 1, 2].map(|number: usize| of[number.min(N - 1)]),
            provoking: context.provoking(of),
        }
    }

    /// How much of a vertex is in a corner: input word `index` of one that clipping made.
    fn weight(&self, corner: &Source<'_>, vertex: usize, index: usize) -> u32 {
        match corner {
            Source::Clipped(corner) => corner.varyings[index],
            Source::Shaded(_, number) => {
                let found = self.vertices.iter().position(|known| known == number);
                f32::from(u8::from(found == Some(vertex))).to_bits()
            }
        }
    }
}

/// Where primitives of a draw may go.
#[derive(Clone, Copy)]
pub(super) struct Routes<'a> {
    /// By viewport, at least one.
    pub(super) contexts: &'a [PrimitiveContext],
    /// Layers.
    pub(super) layers: u32,
}

/// Set-up of primitives of one draw.
pub(super) struct SetUp<'a> {
    /// Of the viewport that is drawn to.
    pub(super) context: &'a PrimitiveContext,
    /// Of all viewports, and how many layers there are.
    routes: Routes<'a>,
    /// The layer that is drawn to.
    layer: u32,
    /// Whether triangles are filled as the kernel has placed them.
    is_direct: bool,
    waiting: &'a mut Waiting,
    /// Numbers of the first lines of strips, where a stipple goes on from line to line of a strip.
    pub(super) strips: Option<&'a [u32]>,
    /// The stipple counter.
    pub(super) counter: f64,
    /// What the polygon's depth is moved by whose edges or corners are drawn.
    pub(super) offset: f32,
    out: &'a mut Vec<Triangles>,
    /// Where triangles go among them: the shaded vertices have rows there, unless vertices name viewports.
    open: usize,
    /// How many more primitives clipping has left than came to it.
    gained: i64,
    /// Memory of triangles.
    spare: &'a ObjectPool<Triangles>,
}

/// What a triangle has besides its corners.
#[derive(Clone, Copy, Default)]
pub(super) struct Extras<'e> {
    /// The corner of the point that it is a part of, and the reciprocal of its size.
    pub(super) point: [f32; 3],
    /// What it covers, when it is not what its corners say.
    pub(super) cover: Option<Cover>,
    /// Distances of its corners from the sides of the smooth line that it is a part of.
    pub(super) sides: Option<[&'e [f32; 4]; 3]>,
}

/// Makes room for about so many triangles of a draw in a layer, behind those in the last of `out` of that layer or in new ones; their
/// number there.
pub(super) fn room(
    (context, layer): (&PrimitiveContext, u32),
    (out, expected): (&mut Vec<Triangles>, usize),
    spare: &ObjectPool<Triangles>,
) -> usize {
    // One primitive may become many triangles.
    let fits = |last: &Triangles| last.len() + expected <= MAX_TRIANGLES / 2 && *last.plan() == context.plan;
    let last = out.iter().rposition(|triangles| triangles.layer() == layer);
    last.filter(|&last| fits(&out[last])).unwrap_or_else(|| {
        let mut fresh = spare.take();
        fresh.start(context.plan.clone(), expected.min(MAX_TRIANGLES), layer);
        out.push(fresh);
        out.len() - 1
    })
}

impl<'a> SetUp<'a> {
    /// Triangles go to those of `out` with a number, which have the rows of the shaded vertices.
    pub(super) fn new(
        routes: Routes<'a>,
        waiting: &'a mut Waiting,
        (out, open): (&'a mut Vec<Triangles>, usize),
        spare: &'a ObjectPool<Triangles>,
    ) -> Self {
        let context = &routes.contexts[0];
        let is_direct = context.fills_as_placed();
        Self {
            context,
            routes,
            layer: 0,
            is_direct,
            waiting,
            strips: None,
            counter: 0.0,
            offset: 0.0,
            out,
            open,
            gained: 0,
            spare,
        }
    }

    /// Goes on with strips of lines that have a stipple: numbers of their first lines, and the stipple counter.
    pub(super) fn go_on(&mut self, strips: &'a [u32], counter: f64) {
        (self.strips, self.counter) = (Some(strips), counter);
    }

    /// The lines that follow are of another strip.
    pub(super) fn begin_strip(&mut self) {
        self.counter = 0.0;
    }

    /// Clips, culls and sets up a primitive of 1, 2 or 3 shaded vertices.
    #[inline(always)]
    pub(super) fn add(&mut self, shaded: &Shaded<'_>, vertices: &[u32], id: u32) {
        let (any, all) = vertices.iter().fold((0, u32::MAX), |(any, all), &vertex| {
            let outside = shaded.outside(vertex);
            (any | outside, all & outside)
        });
        // Clipping would leave nothing of what is all outside of one plane.
        if any >> outside::NOWHERE & 1 != 0 || all & outside::REJECTED != 0 {
            self.gained -= 1;
            // The next line of a strip goes on where this one ends all the same.
            if let (&[a, b], Some(_)) = (vertices, self.strips) {
                self.line_primitive(shaded, [a, b], id);
            }
            return;
        }
        let is_whole = any & outside::CLIPPED == 0 && self.is_direct;
        match *vertices {
            [a, b, c] if is_whole => {
                let rows = [shaded.row(a), shaded.row(b), shaded.row(c)];
                self.push(Entry { rows, id, facing: Facing::Own, cover: None });
            }
            [a, b, c] => self.triangle(shaded, [a, b, c], id),
            [a, b] => self.line_primitive(shaded, [a, b], id),
            [point] => self.point(shaded, point, id),
            _ => {}
        }
    }

    /// Adds triangles with these corners, three each, and numbers.
    pub(super) fn add_triangles(&mut self, shaded: &Shaded<'_>, corners: &[u32], id: impl Fn(usize) -> u32) {
        let (sixteens, rest) = corners.as_chunks::<{ 3 * WAVE }>();
        for (number, sixteen) in sixteens.iter().enumerate() {
            let first = number * WAVE;
            if !(self.is_direct && self.add_sixteen(shaded, sixteen, std::array::from_fn(|lane| id(first + lane)))) {
                (first..)
                    .zip(sixteen.chunks_exact(3))
                    .for_each(|(number, corners)| self.add(shaded, corners, id(number)));
            }
        }
        let first = sixteens.len() * WAVE;
        (first..).zip(rest.chunks_exact(3)).for_each(|(number, corners)| self.add(shaded, corners, id(number)));
    }

    /// Adds sixteen triangles, unless any of them is to be clipped.
    #[inline]
    fn add_sixteen(&mut self, shaded: &Shaded<'_>, corners: &[u32; 3 * WAVE], id: Lanes) -> bool {
        self.flush();
        let Some(rejected) = self.waiting.take((shaded.spots(), corners), shaded.row(0), id) else { return false };
        self.gained -= i64::from(rejected);
        self.flush();
        true
    }

    /// The same where vertices name viewport and layer: nothing becomes of what names none that there are.
    #[inline(never)]
    pub(super) fn add_routed(&mut self, shaded: &Shaded<'_>, vertices: &[u32], id: u32) {
        match self.enter(shaded, vertices) {
            true => self.add(shaded, vertices, id),
            false => self.gained -= 1,
        }
    }

    /// Goes on with the viewport and the layer that the provoking vertex names; false where there are none such.
    fn enter(&mut self, shaded: &Shaded<'_>, vertices: &[u32]) -> bool {
        let provoking = if self.context.raster.provoking_last { vertices.last() } else { vertices.first() };
        let Some([viewport, layer]) = provoking.map(|&vertex| shaded.route(vertex)) else { return false };
        let Some(context) = self.routes.contexts.get(viewport as usize) else { return false };
        if layer >= self.routes.layers {
            return false;
        }
        if !std::ptr::eq(context, self.context) || layer != self.layer {
            self.flush();
            (self.context, self.layer) = (context, layer);
            self.open = room((context, layer), (self.out, 0), self.spare);
        }
        true
    }

    /// Sets up what waits. Returns the stipple counter, and how many more primitives clipping has left than came to it.
    pub(super) fn finish(mut self) -> (f64, i64) {
        self.flush();
        (self.counter, self.gained)
    }

    fn flush(&mut self) {
        if self.out[self.open].len() + WAVE > MAX_TRIANGLES {
            let mut fresh = self.spare.take();
            fresh.go_on(&self.out[self.open]);
            self.out.push(fresh);
            self.open = self.out.len() - 1;
        }
        self.waiting.flush(&mut self.out[self.open], self.context.routed);
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        if self.waiting.is_full() {
            self.flush();
        }
        self.waiting.push(entry, &self.out[self.open]);
    }

    #[inline(never)]
    fn triangle(&mut self, shaded: &Shaded<'_>, corners: [u32; 3], id: u32) {
        if corners.iter().all(|&vertex| shaded.outside(vertex) & outside::CLIPPED == 0) {
            let window = corners.map(|vertex| self.context.in_window(shaded, vertex));
            return self.clipped_triangle(shaded, (corners, id), &window);
        }
        let vertices = self.context.unclipped(shaded, corners).to_vec();
        let mut clipped = clip::polygon(vertices, &self.context.volume());
        self.context.scale_linear(&mut clipped, Div::div);
        let window: SmallVec<[Window<'_>; 8]> = clipped.iter().map(|vertex| self.context.to_window(vertex)).collect();
        self.gained += window.len().max(2) as i64 - 3;
        if window.len() >= 3 {
            self.clipped_triangle(shaded, (corners, id), &window);
        }
    }

    /// What clipping leaves of a triangle: at least three corners.
    fn clipped_triangle(&mut self, shaded: &Shaded<'_>, (corners, id): ([u32; 3], u32), window: &[Window<'_>]) {
        let origin = Origin::new(self.context, shaded, corners);
        if self.context.draws_flat() && is_flat(window) {
            return self.flat(shaded, corners, window, (origin, id));
        }
        let Some(facing) = self.context.facing(window) else { return };
        if self.context.raster.polygon_mode != vk::PolygonMode::FILL {
            self.offset = self.context.offset(window);
        }
        match self.context.raster.polygon_mode {
            vk::PolygonMode::LINE => self.edges(shaded, corners, (origin, id, facing)),
            vk::PolygonMode::POINT => {
                // Corners that clipping made are no vertices.
                let is_inside = |vertex: &u32| shaded.outside(*vertex) & outside::CLIPPED == 0;
                for vertex in corners.into_iter().filter(is_inside) {
                    let corner = self.context.in_window(shaded, vertex);
                    self.window_point(&corner, 1.0, origin, (id, facing));
                }
            }
            _ if window.len() > 3 && self.context.is_conservative() => self.polygon(window, origin, (id, facing)),
            _ => {
                for pair in window[1..].windows(2) {
                    let corners = [&window[0], &pair[0], &pair[1]];
                    self.filled(corners, origin, (id, facing), &Extras::default());
                }
            }
        }
    }

    /// A polygon whose cells are covered once, also where triangles of it would meet. Its attributes are those of its largest triangle.
    fn polygon(&mut self, window: &[Window<'_>], origin: Origin<'_>, tag: (u32, Facing)) {
        let corners =
            hull(window.iter().map(|corner| [corner.x, corner.y].map(|pixels| snap(pixels).into())).collect());
        let area = |pair: &[Window<'_>]| {
            let [to_b, to_c] = [&pair[0], &pair[1]].map(|to| [to.x - window[0].x, to.y - window[0].y].map(f64::from));
            (to_b[0] * to_c[1] - to_b[1] * to_c[0]).abs()
        };
        let largest = window[1..].windows(2).max_by(|one, other| area(one).total_cmp(&area(other)));
        let Some([b, c]) = largest.filter(|pair| area(pair) > 0.0 && area(pair).is_finite() && corners.len() > 2)
        else {
            return;
        };
        let triangles = &mut self.out[self.open];
        let number = triangles.add_polygon(corners.clone());
        let extras = Extras { cover: Some(Cover::of_polygon(&corners, number)), ..Extras::default() };
        self.filled([&window[0], b, c], origin, tag, &extras);
    }

    /// A polygon without area, on the grid or off it: it touches what the line or point touches that is left of it, faces back, and has the
    /// attributes of its provoking vertex. Source: Vulkan specification, `degenerateTrianglesRasterized`.
    #[cold]
    fn flat(&mut self, shaded: &Shaded<'_>, corners: [u32; 3], window: &[Window<'_>], (origin, id): (Origin<'_>, u32)) {
        if self.context.raster.cull_mode.contains(vk::CullModeFlags::BACK) {
            return;
        }
        let places: Vec<[i64; 2]> =
            window.iter().map(|corner| [corner.x, corner.y].map(|pixels| snap(pixels).into())).collect();
        let around = hull(places.clone());
        // A unit of the grid more to the right and below: a point lies in one pixel, and what lies between two in the second.
        let more = |[x, y]: &[i64; 2]| [[*x, *y], [x + 1, *y], [*x, y + 1], [x + 1, y + 1]];
        let around = if around.len() > 2 { around } else { hull(places.iter().flat_map(more).collect()) };
        let provoking = self.context.provoking(corners);
        let is_inside = shaded.outside(provoking) & outside::CLIPPED == 0;
        let provoking = if is_inside { self.context.in_window(shaded, provoking) } else { window[0] };
        let number = self.out[self.open].add_polygon(around.clone());
        let extras = Extras { cover: Some(Cover::of_polygon(&around, number)), ..Extras::default() };
        // Planes through the same values are level.
        let [right, below] =
            [Window { x: provoking.x + 1.0, ..provoking }, Window { y: provoking.y + 1.0, ..provoking }];
        self.filled([&provoking, &right, &below], origin, (id, Facing::Back), &extras);
    }

    /// A point that is inside of every plane.
    #[inline(never)]
    fn point(&mut self, shaded: &Shaded<'_>, vertex: u32, id: u32) {
        let window = self.context.in_window(shaded, vertex);
        let origin = Origin::new(self.context, shaded, [vertex]);
        self.window_point(&window, shaded.point_size(vertex), origin, (id, Facing::Front));
    }

    fn window_point(&mut self, centre: &Window<'_>, size: f32, origin: Origin<'_>, tag: (u32, Facing)) {
        let size = if size.is_nan() { 1.0 } else { size.clamp(1.0, MAX_POINT_SIZE) };
        let half = 0.5 * size;
        let corner = |x: f32, y: f32| Window {
            x: centre.x + x * half,
            y: centre.y + y * half,
            z: centre.z + self.offset,
            ..*centre
        };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let extras = Extras { point: [centre.x - half, centre.y - half, 1.0 / size], ..Extras::default() };
        self.filled([&corners[0], &corners[1], &corners[2]], origin, tag, &extras);
        self.filled([&corners[0], &corners[2], &corners[3]], origin, tag, &extras);
    }

    pub(super) fn filled(
        &mut self,
        corners: [&Window<'_>; 3],
        origin: Origin<'_>,
        (id, facing): (u32, Facing),
        extras: &Extras<'_>,
    ) {
        let triangles = &mut self.out[self.open];
        let first_side = triangles.plan().ways.len().saturating_sub(SIDES);
        let mut row = |corner: usize| {
            let vertex = corners[corner];
            let word = |index: usize, way: &VaryingSource| match way {
                VaryingSource::Flat => origin.shaded.varying(origin.provoking, index),
                VaryingSource::Vertex(number) => origin.shaded.varying(origin.vertices[*number], index),
                VaryingSource::Weight(number, _) => origin.weight(&vertex.source, *number, index),
                // A point's edge, and the reciprocal of its size.
                VaryingSource::Point(axis) => [extras.point[*axis], extras.point[2], 0.0][corner].to_bits(),
                VaryingSource::Side => extras.sides.map_or(0, |sides| sides[corner][index - first_side].to_bits()),
                _ => vertex.varying(index),
            };
            triangles.add_row([vertex.x, vertex.y, vertex.z, vertex.inverse_w], word)
        };
        let rows = [row(0), row(1), row(2)];
        let cover = extras.cover.map(|cover| triangles.add_cover(cover));
        self.push(Entry { rows, id, facing, cover });
    }
}

impl PrimitiveContext {
    /// The same with what follows from the rest.
    pub fn complete(self) -> Self {
        Self { plan: Plan::new(&self), ..self }
    }

    /// Whether triangles are filled as the kernel has placed them, with nothing else than what it gave.
    pub fn fills_as_placed(&self) -> bool {
        let knows_vertices = self.inputs().iter().any(InputSlot::knows_vertices);
        let fills = self.raster.polygon_mode == vk::PolygonMode::FILL && !self.draws_flat();
        fills && self.routed.is_none() && !knows_vertices
    }

    /// A shaded vertex: the kernel knows of one viewport.
    pub(super) fn in_window<'v>(&self, shaded: &'v Shaded<'v>, vertex: u32) -> Window<'v> {
        match self.routed {
            None => Window::of(shaded, vertex),
            Some(_) => self.projected(shaded.position(vertex), Source::Shaded(shaded, vertex)),
        }
    }

    /// A vertex that clipping made.
    pub(super) fn to_window<'v>(&self, vertex: &'v Vertex) -> Window<'v> {
        self.projected(vertex.position, Source::Clipped(vertex))
    }

    /// What the kernel does.
    fn projected<'v>(&self, [x, y, z, w]: [f32; 4], source: Source<'v>) -> Window<'v> {
        let inverse_w = 1.0 / w;
        let view = &self.viewport;
        let (near, range) = (view.min_depth, view.max_depth - view.min_depth);
        let (scale, start) = match self.raster.negative_one_to_one {
            false => (range, near),
            true => (range * 0.5, (view.max_depth + near) * 0.5),
        };
        Window {
            x: (x * inverse_w + 1.0) * 0.5 * view.width + view.x,
            y: (y * inverse_w + 1.0) * 0.5 * view.height + view.y,
            z: z * inverse_w * scale + start,
            inverse_w,
            source,
        }
    }

    /// Words of input of the fragment program.
    fn inputs(&self) -> &[InputSlot] {
        self.fragment.as_ref().map_or(&[], |program| &program.inputs)
    }

    /// The vertices of a primitive, to be clipped: with their weights, and with what is linear in the window times w.
    pub(super) fn unclipped<const N: usize>(&self, shaded: &Shaded<'_>, vertices: [u32; N]) -> [Vertex; N] {
        let mut vertices = vertices.map(|vertex| shaded.vertex(vertex));
        for (index, input) in self.inputs().iter().enumerate() {
            if let (Slot::Builtin(_, of), true) = (input.slot, input.slot.is_weight()) {
                for (number, vertex) in vertices.iter_mut().enumerate() {
                    vertex.varyings[index] = f32::from(u8::from(number == of as usize)).to_bits();
                }
            }
        }
        self.scale_linear(&mut vertices, Mul::mul);
        vertices
    }

    /// Multiplies or divides inputs without perspective by the w of their vertices: what is linear in the window is, times w, linear in
    /// clip space, where primitives are cut. Source: Vulkan specification, "Clipping Shader Outputs".
    pub(super) fn scale_linear(&self, vertices: &mut [Vertex], op: fn(f32, f32) -> f32) {
        let is_linear = |input: &InputSlot| match input.slot {
            Slot::Builtin(Builtin::BaryCoordNoPersp, _) => true,
            slot => slot.is_varying() && input.interpolation == Interpolation::NoPerspective,
        };
        let linear = self.inputs().iter().enumerate().filter(|(_, input)| is_linear(input));
        for (index, _) in linear {
            for vertex in &mut *vertices {
                let w = vertex.position[3];
                vertex.varyings[index] = op(f32::from_bits(vertex.varyings[index]), w).to_bits();
            }
        }
    }

    /// What primitives are clipped to.
    pub(super) fn volume(&self) -> Volume {
        let RasterState { depth_clip, negative_one_to_one, .. } = self.raster;
        Volume { band: self.band, has_depth: depth_clip, is_symmetric: negative_one_to_one }
    }

    /// The provoking one of a primitive's vertices.
    pub(super) fn provoking<const N: usize>(&self, vertices: [u32; N]) -> u32 {
        vertices[if self.raster.provoking_last { N - 1 } else { 0 }]
    }

    /// Whether pixels are covered where primitives touch them, or cover all of them.
    fn is_conservative(&self) -> bool {
        matches!(self.criterion, Some(Criterion::Conservative | Criterion::Interior))
    }

    /// True if polygons without area cover pixels.
    fn draws_flat(&self) -> bool {
        self.criterion == Some(Criterion::Conservative)
    }

    /// Whether pixels are covered where their centres are.
    pub(super) fn is_centred(&self) -> bool {
        match self.criterion {
            None => self.samples == 1,
            Some(criterion) => criterion == Criterion::Centre,
        }
    }

    /// Where a polygon faces; `None` when it is culled.
    fn facing(&self, window: &[Window<'_>]) -> Option<Facing> {
        let mut area = 0.0f64;
        for index in 0..window.len() {
            let (a, b) = (&window[index], &window[(index + 1) % window.len()]);
            area += f64::from(a.x) * f64::from(b.y) - f64::from(b.x) * f64::from(a.y);
        }
        // Positive is clockwise on a screen with y down.
        let clockwise = area > 0.0;
        let front = clockwise == (self.raster.front_face == vk::FrontFace::CLOCKWISE);
        let (facing, culled) = match front {
            true => (Facing::Front, vk::CullModeFlags::FRONT),
            false => (Facing::Back, vk::CullModeFlags::BACK),
        };
        (!self.raster.cull_mode.contains(culled)).then_some(facing)
    }

    /// What the depth of a polygon is moved by.
    fn offset(&self, window: &[Window<'_>]) -> f32 {
        let edge = |to: usize| [window[to].x - window[0].x, window[to].y - window[0].y, window[to].z - window[0].z];
        let pairs = (1..window.len() - 1).map(|to| (edge(to), edge(to + 1)));
        let wide = pairs.map(|(a, b)| (a, b, a[0] * b[1] - a[1] * b[0]));
        // The largest part of it is the one that says most of its slopes.
        let found = wide.max_by(|one, other| one.2.abs().total_cmp(&other.2.abs()));
        let slopes = found
            .filter(|(.., area)| *area != 0.0)
            .map_or([0.0; 2], |(a, b, area)| [(a[2] * b[1] - a[1] * b[2]) / area, (a[0] * b[2] - a[2] * b[0]) / area]);
        self.bias.map_or(0.0, |bias| depth_bias(bias, self.depth_bits, slopes, window.iter().map(|corner| corner.z)))
    }
}

/// Returns true if a polygon has no area on the grid, or its unsnapped corners define no planes.
fn is_flat(window: &[Window<'_>]) -> bool {
    let on_grid = |corner: &Window<'_>| [corner.x, corner.y].map(|pixels| i64::from(snap(pixels)));
    let off_grid = |pair: &[Window<'_>]| {
        let [to_b, to_c] = [&pair[0], &pair[1]].map(|to| [to.x - window[0].x, to.y - window[0].y].map(f64::from));
        to_b[0] * to_c[1] - to_b[1] * to_c[0]
    };
    let has_area = |pair: &[Window<'_>]| {
        let area = off_grid(pair);
        signed_area([on_grid(&window[0]), on_grid(&pair[0]), on_grid(&pair[1])]) != 0 && area != 0.0 && area.is_finite()
    };
    !window[1..].windows(2).any(has_area)
}

/// Largest point size, pixels.
pub const MAX_POINT_SIZE: f32 = 1024.0;
