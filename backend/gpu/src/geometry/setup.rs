//! Triangle setup: shaded vertices become triangles in window space, which wait for their tiles.
//!
//! Points become squares of two triangles each. `segments.rs` sets lines up.
//!
//! Source: Vulkan specification, "Rasterization".

use std::ops::{Div, Mul};

use ash::vk;
use smallvec::SmallVec;
use vitric_base::object_pool::ObjectPool;
use vitric_base::simd::{Lanes, WAVE};
use vitric_ir::interface::{Builtin, InputSlot, Interpolation, Slot};

use super::clip::Volume;
use super::cull::CullQueue;
use super::kernel::outside;
use super::lines::Cover;
use super::plan::{Facing, PixelBounds, Plan, PrimitiveContext, SIDES, VaryingSource, depth_bias};
use super::triangles::{Entry, MAX_TRIANGLES, Triangles};
use super::{Shaded, Vertex, clip};
use crate::raster::{Criterion, hull, signed_area, snap};
use crate::state::RasterState;

/// A vertex in window space.
#[derive(Clone, Copy)]
pub(super) struct WindowVertex<'v> {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
    pub(super) inverse_w: f32,
    pub(super) source: CornerSource<'v>,
}

/// Source of a vertex's varyings.
#[derive(Clone, Copy)]
pub(super) enum CornerSource<'v> {
    Shaded(&'v Shaded<'v>, u32),
    Clipped(&'v Vertex),
}

impl CornerSource<'_> {
    fn varying(&self, index: usize) -> u32 {
        match self {
            Self::Shaded(shaded, vertex) => shaded.varying(*vertex, index),
            Self::Clipped(vertex) => vertex.varyings[index],
        }
    }
}

impl<'v> WindowVertex<'v> {
    /// Creates the window-space vertex of a shaded vertex, as the kernel transformed it.
    pub(super) fn of(shaded: &'v Shaded<'v>, vertex: u32) -> Self {
        let [x, y, z, inverse_w] = shaded.window(vertex);
        Self { x, y, z, inverse_w, source: CornerSource::Shaded(shaded, vertex) }
    }

    /// Returns input component `index` of the fragment program.
    pub(super) fn varying(&self, index: usize) -> u32 {
        self.source.varying(index)
    }
}

/// The vertices of a primitive, from which inputs that are not interpolated are read.
#[derive(Clone, Copy)]
pub(super) struct Origin<'v> {
    shaded: &'v Shaded<'v>,
    /// Vertex indices. The last vertex is repeated if the primitive has fewer than three.
    vertices: [u32; 3],
    provoking: u32,
}

impl<'v> Origin<'v> {
    /// Creates the origin of a primitive with one to three vertices.
    pub(super) fn new<const N: usize>(context: &PrimitiveContext, shaded: &'v Shaded<'v>, of: [u32; N]) -> Self {
        Self {
            shaded,
            vertices: [0, 1, 2].map(|number: usize| of[number.min(N - 1)]),
            provoking: context.provoking(of),
        }
    }

    /// Returns the bits of the weight of a primitive's vertex at a corner. `index` is the input
    /// component that holds the weight if clipping made the corner.
    fn weight(&self, corner: &CornerSource<'_>, vertex: usize, index: usize) -> u32 {
        match corner {
            CornerSource::Clipped(corner) => corner.varyings[index],
            CornerSource::Shaded(_, number) => {
                let found = self.vertices.iter().position(|known| known == number);
                f32::from(u8::from(found == Some(vertex))).to_bits()
            }
        }
    }
}

/// A primitive's vertices, number and facing.
#[derive(Clone, Copy)]
pub(super) struct PrimitiveTag<'v> {
    pub(super) origin: Origin<'v>,
    pub(super) id: u32,
    pub(super) facing: Facing,
}

/// The viewports and layers to which primitives of a draw may be routed.
#[derive(Clone, Copy)]
pub(super) struct Routes<'a> {
    /// One context for each viewport, at least one.
    pub(super) contexts: &'a [PrimitiveContext],
    /// Number of layers.
    pub(super) layers: u32,
}

/// Setup of the primitives of one draw.
pub(super) struct SetUp<'a> {
    /// Context of the current viewport.
    pub(super) context: &'a PrimitiveContext,
    /// Contexts of all viewports, and the number of layers.
    routes: Routes<'a>,
    /// The current layer.
    layer: u32,
    /// True if triangles are filled at the window coordinates that the kernel wrote.
    is_direct: bool,
    cull_queue: &'a mut CullQueue,
    /// Numbers of the first lines of strips, if the stipple continues from line to line of a
    /// strip.
    pub(super) strips: Option<&'a [u32]>,
    /// The stipple counter, pixels.
    pub(super) counter: f64,
    /// Depth bias of the polygon whose edges or corners are being drawn.
    pub(super) offset: f32,
    out: &'a mut Vec<Triangles>,
    /// Index in `out` of the triangles that are being added to. They hold the rows of the shaded
    /// vertices unless vertices name viewports.
    open: usize,
    /// Number of primitives after clipping minus the number before.
    gained: i64,
    /// Pool of empty triangle buffers.
    spare: &'a ObjectPool<Triangles>,
}

/// Attributes of a triangle beyond its corners.
#[derive(Clone, Copy, Default)]
pub(super) struct Extras<'e> {
    /// Top left corner of the point that the triangle is a part of, pixels, and the reciprocal of
    /// the point's size.
    pub(super) point: [f32; 3],
    /// Area that the triangle covers, if it differs from that of its corners.
    pub(super) cover: Option<Cover>,
    /// Distances of the corners from the sides of the smooth line that the triangle is a part of.
    pub(super) sides: Option<[&'e [f32; 4]; 3]>,
}

/// Finds or adds a triangle buffer of a layer with room for about `expected` triangles. Returns
/// its index in `out`.
pub(super) fn room(
    (context, layer): (&PrimitiveContext, u32),
    (out, expected): (&mut Vec<Triangles>, usize),
    spare: &ObjectPool<Triangles>,
) -> usize {
    // Half of the capacity stays free because one primitive may become many triangles.
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
    /// Starts the setup of primitives. Triangles go to `out[open]`, which holds the rows of the
    /// shaded vertices.
    pub(super) fn new(
        routes: Routes<'a>,
        cull_queue: &'a mut CullQueue,
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
            cull_queue,
            strips: None,
            counter: 0.0,
            offset: 0.0,
            out,
            open,
            gained: 0,
            spare,
        }
    }

    /// Enables stippled strips of lines. `strips` holds the numbers of their first lines,
    /// `counter` the stipple counter to continue with.
    pub(super) fn continue_strips(&mut self, strips: &'a [u32], counter: f64) {
        (self.strips, self.counter) = (Some(strips), counter);
    }

    /// Begins a new strip of lines.
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
        // Clipping leaves nothing of a primitive that lies wholly outside of one plane.
        if any >> outside::NAN & 1 != 0 || all & outside::REJECTED != 0 {
            self.gained -= 1;
            // The stipple of the next line in the strip continues from the end of this line,
            // visible or not.
            if let (&[a, b], Some(_)) = (vertices, self.strips) {
                self.line_primitive(shaded, [a, b], id);
            }
            return;
        }
        let is_whole = any & outside::CLIPPED == 0 && self.is_direct;
        match *vertices {
            [a, b, c] if is_whole => {
                let rows = [shaded.row(a), shaded.row(b), shaded.row(c)];
                self.push(Entry { rows, id, facing: Facing::ByWinding, cover: None });
            }
            [a, b, c] => self.triangle(shaded, [a, b, c], id),
            [a, b] => self.line_primitive(shaded, [a, b], id),
            [point] => self.point(shaded, point, id),
            _ => {}
        }
    }

    /// Adds triangles with three corners each. `id` returns the number of a triangle.
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

    /// Adds sixteen triangles, unless one of them has to be clipped. Returns true if they were
    /// added.
    #[inline]
    fn add_sixteen(&mut self, shaded: &Shaded<'_>, corners: &[u32; 3 * WAVE], id: Lanes) -> bool {
        self.flush();
        let Some(rejected) = self.cull_queue.take((shaded.cull_vertices(), corners), shaded.row(0), id) else {
            return false;
        };
        self.gained -= i64::from(rejected);
        self.flush();
        true
    }

    /// Adds a primitive whose vertices name viewport and layer. Drops the primitive if either does
    /// not exist.
    #[inline(never)]
    pub(super) fn add_routed(&mut self, shaded: &Shaded<'_>, vertices: &[u32], id: u32) {
        match self.enter(shaded, vertices) {
            true => self.add(shaded, vertices, id),
            false => self.gained -= 1,
        }
    }

    /// Switches to the viewport and layer that the provoking vertex names. Returns false if either
    /// does not exist.
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

    /// Sets up all waiting triangles. Returns the stipple counter, and the number of primitives
    /// after clipping minus the number before.
    pub(super) fn finish(mut self) -> (f64, i64) {
        self.flush();
        (self.counter, self.gained)
    }

    fn flush(&mut self) {
        if self.out[self.open].len() + WAVE > MAX_TRIANGLES {
            let mut fresh = self.spare.take();
            fresh.start_after(&self.out[self.open]);
            self.out.push(fresh);
            self.open = self.out.len() - 1;
        }
        self.cull_queue.flush(&mut self.out[self.open], self.context.routed);
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        if self.cull_queue.is_full() {
            self.flush();
        }
        self.cull_queue.push(entry, &self.out[self.open]);
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
        let window: SmallVec<[WindowVertex<'_>; 8]> =
            clipped.iter().map(|vertex| self.context.to_window(vertex)).collect();
        self.gained += window.len().max(2) as i64 - 3;
        if window.len() >= 3 {
            self.clipped_triangle(shaded, (corners, id), &window);
        }
    }

    /// Sets up the polygon that clipping left of a triangle. It has at least three corners.
    fn clipped_triangle(&mut self, shaded: &Shaded<'_>, (corners, id): ([u32; 3], u32), window: &[WindowVertex<'_>]) {
        let origin = Origin::new(self.context, shaded, corners);
        if self.context.draws_flat() && is_flat(window) {
            return self.flat(shaded, corners, window, PrimitiveTag { origin, id, facing: Facing::Back });
        }
        let Some(facing) = self.context.facing(window) else { return };
        let tag = PrimitiveTag { origin, id, facing };
        if self.context.raster.polygon_mode != vk::PolygonMode::FILL {
            self.offset = self.context.offset(window);
        }
        match self.context.raster.polygon_mode {
            vk::PolygonMode::LINE => self.edges(shaded, corners, tag),
            vk::PolygonMode::POINT => {
                // Corners that clipping made are not vertices and get no points.
                let is_inside = |vertex: &u32| shaded.outside(*vertex) & outside::CLIPPED == 0;
                for vertex in corners.into_iter().filter(is_inside) {
                    let corner = self.context.in_window(shaded, vertex);
                    self.window_point(&corner, shaded.point_size(vertex), tag);
                }
            }
            _ if window.len() > 3 && self.context.is_conservative() => self.polygon(window, tag),
            _ => {
                for pair in window[1..].windows(2) {
                    let corners = [&window[0], &pair[0], &pair[1]];
                    self.filled(corners, tag, &Extras::default());
                }
            }
        }
    }

    /// Adds a polygon as one cover, so that pixels that several of its triangles touch are covered
    /// once. Its attributes are those of its largest triangle.
    fn polygon(&mut self, window: &[WindowVertex<'_>], tag: PrimitiveTag<'_>) {
        let corners =
            hull(window.iter().map(|corner| [corner.x, corner.y].map(|pixels| snap(pixels).into())).collect());
        let area = |pair: &[WindowVertex<'_>]| {
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
        self.filled([&window[0], b, c], tag, &extras);
    }

    /// Adds a polygon without area, on the grid or before snapping. The polygon covers every pixel
    /// that the remaining line or point touches, faces back, and has the attributes of its
    /// provoking vertex.
    ///
    /// Source: Vulkan specification, `degenerateTrianglesRasterized`.
    #[cold]
    fn flat(&mut self, shaded: &Shaded<'_>, corners: [u32; 3], window: &[WindowVertex<'_>], tag: PrimitiveTag<'_>) {
        if self.context.raster.cull_mode.contains(vk::CullModeFlags::BACK) {
            return;
        }
        let places: Vec<[i64; 2]> =
            window.iter().map(|corner| [corner.x, corner.y].map(|pixels| snap(pixels).into())).collect();
        let around = hull(places.clone());
        // Extending the polygon by one grid unit to the right and below makes a point lie in one
        // pixel. A point between two pixels then lies in the second.
        let more = |[x, y]: &[i64; 2]| [[*x, *y], [x + 1, *y], [*x, y + 1], [x + 1, y + 1]];
        let around = if around.len() > 2 { around } else { hull(places.iter().flat_map(more).collect()) };
        let provoking = self.context.provoking(corners);
        let is_inside = shaded.outside(provoking) & outside::CLIPPED == 0;
        let provoking = if is_inside { self.context.in_window(shaded, provoking) } else { window[0] };
        let number = self.out[self.open].add_polygon(around.clone());
        let extras = Extras { cover: Some(Cover::of_polygon(&around, number)), ..Extras::default() };
        // Equal values at all three corners make every attribute's plane level.
        let [right, below] =
            [WindowVertex { x: provoking.x + 1.0, ..provoking }, WindowVertex { y: provoking.y + 1.0, ..provoking }];
        self.filled([&provoking, &right, &below], tag, &extras);
    }

    /// Sets up a point that lies inside every plane.
    #[inline(never)]
    fn point(&mut self, shaded: &Shaded<'_>, vertex: u32, id: u32) {
        let window = self.context.in_window(shaded, vertex);
        let origin = Origin::new(self.context, shaded, [vertex]);
        let tag = PrimitiveTag { origin, id, facing: Facing::Front };
        self.window_point(&window, shaded.point_size(vertex), tag);
    }

    fn window_point(&mut self, centre: &WindowVertex<'_>, size: f32, tag: PrimitiveTag<'_>) {
        let size = if size.is_nan() { 1.0 } else { size.clamp(1.0, MAX_POINT_SIZE) };
        let half = 0.5 * size;
        let corner = |x: f32, y: f32| WindowVertex {
            x: centre.x + x * half,
            y: centre.y + y * half,
            z: centre.z + self.offset,
            ..*centre
        };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let extras = Extras { point: [centre.x - half, centre.y - half, 1.0 / size], ..Extras::default() };
        self.filled([&corners[0], &corners[1], &corners[2]], tag, &extras);
        self.filled([&corners[0], &corners[2], &corners[3]], tag, &extras);
    }

    pub(super) fn filled(
        &mut self,
        corners: [&WindowVertex<'_>; 3],
        PrimitiveTag { origin, id, facing }: PrimitiveTag<'_>,
        extras: &Extras<'_>,
    ) {
        let triangles = &mut self.out[self.open];
        let first_side = triangles.plan().sources.len().saturating_sub(SIDES);
        let mut row = |corner: usize| {
            let vertex = corners[corner];
            let word = |index: usize, source: &VaryingSource| match source {
                VaryingSource::Flat => origin.shaded.varying(origin.provoking, index),
                VaryingSource::Vertex(number) => origin.shaded.varying(origin.vertices[*number], index),
                VaryingSource::Weight(number, _) => origin.weight(&vertex.source, *number, index),
                // Top left corner of the point along the axis, and the reciprocal of the point's
                // size.
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
    /// Returns the context with its plan computed from the other fields.
    pub fn complete(self) -> Self {
        Self { plan: Plan::new(&self), ..self }
    }

    /// Returns true if triangles are filled at the window coordinates that the kernel wrote, and
    /// need none but the kernel's outputs.
    pub fn fills_as_placed(&self) -> bool {
        let knows_vertices = self.inputs().iter().any(InputSlot::knows_vertices);
        let fills = self.raster.polygon_mode == vk::PolygonMode::FILL && !self.draws_flat();
        fills && self.routed.is_none() && !knows_vertices
    }

    /// Returns a shaded vertex in window space. The kernel transforms to one viewport only, so the
    /// function transforms anew if vertices name viewports.
    pub(super) fn in_window<'v>(&self, shaded: &'v Shaded<'v>, vertex: u32) -> WindowVertex<'v> {
        match self.routed {
            None => WindowVertex::of(shaded, vertex),
            Some(_) => self.projected(shaded.position(vertex), CornerSource::Shaded(shaded, vertex)),
        }
    }

    /// Returns a vertex that clipping made in window space.
    pub(super) fn to_window<'v>(&self, vertex: &'v Vertex) -> WindowVertex<'v> {
        self.projected(vertex.position, CornerSource::Clipped(vertex))
    }

    /// Applies the viewport transform, with the operations of the kernel.
    fn projected<'v>(&self, [x, y, z, w]: [f32; 4], source: CornerSource<'v>) -> WindowVertex<'v> {
        let inverse_w = 1.0 / w;
        let view = &self.viewport;
        let (near, range) = (view.min_depth, view.max_depth - view.min_depth);
        let (scale, start) = match self.raster.negative_one_to_one {
            false => (range, near),
            true => (range * 0.5, (view.max_depth + near) * 0.5),
        };
        WindowVertex {
            x: (x * inverse_w + 1.0) * 0.5 * view.width + view.x,
            y: (y * inverse_w + 1.0) * 0.5 * view.height + view.y,
            z: z * inverse_w * scale + start,
            inverse_w,
            source,
        }
    }

    /// Returns the input components of the fragment program.
    fn inputs(&self) -> &[InputSlot] {
        self.fragment.as_ref().map_or(&[], |program| &program.inputs)
    }

    /// Returns the vertices of a primitive as input of clipping. Weights are filled in, and inputs
    /// that are linear in the window are multiplied by w.
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

    /// Multiplies or divides the inputs without perspective by the w of their vertices. An input
    /// that is linear in the window becomes linear in clip space, where primitives are clipped,
    /// once it is multiplied by w.
    ///
    /// Source: Vulkan specification, "Clipping Shader Outputs".
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

    /// Returns the volume that primitives are clipped to.
    pub(super) fn volume(&self) -> Volume {
        let RasterState { depth_clip, negative_one_to_one, .. } = self.raster;
        Volume { band: self.band, has_depth: depth_clip, is_symmetric: negative_one_to_one }
    }

    /// Returns the provoking vertex of a primitive.
    pub(super) fn provoking<const N: usize>(&self, vertices: [u32; N]) -> u32 {
        vertices[if self.raster.provoking_last { N - 1 } else { 0 }]
    }

    /// Returns true if a primitive covers the pixels that it touches, or the pixels that lie
    /// wholly inside of it.
    fn is_conservative(&self) -> bool {
        matches!(self.criterion, Some(Criterion::Touching | Criterion::Interior))
    }

    /// Returns true if polygons without area cover pixels.
    fn draws_flat(&self) -> bool {
        self.criterion == Some(Criterion::Touching)
    }

    /// Returns the pixels that primitives may cover.
    pub(super) fn pixel_bounds(&self) -> PixelBounds {
        match self.criterion {
            None if self.samples == 1 => PixelBounds::Centres,
            Some(Criterion::Centre) => PixelBounds::Centres,
            Some(Criterion::Touching) => PixelBounds::Touched,
            _ => PixelBounds::Partial,
        }
    }

    /// Returns the facing of a polygon, or `None` if the polygon is culled.
    fn facing(&self, window: &[WindowVertex<'_>]) -> Option<Facing> {
        let mut area = 0.0f64;
        for index in 0..window.len() {
            let (a, b) = (&window[index], &window[(index + 1) % window.len()]);
            area += f64::from(a.x) * f64::from(b.y) - f64::from(b.x) * f64::from(a.y);
        }
        // A positive area is clockwise on a screen with y down.
        let clockwise = area > 0.0;
        let front = clockwise == (self.raster.front_face == vk::FrontFace::CLOCKWISE);
        let (facing, culled) = match front {
            true => (Facing::Front, vk::CullModeFlags::FRONT),
            false => (Facing::Back, vk::CullModeFlags::BACK),
        };
        (!self.raster.cull_mode.contains(culled)).then_some(facing)
    }

    /// Returns the depth bias of a polygon.
    fn offset(&self, window: &[WindowVertex<'_>]) -> f32 {
        let edge = |to: usize| [window[to].x - window[0].x, window[to].y - window[0].y, window[to].z - window[0].z];
        let pairs = (1..window.len() - 1).map(|to| (edge(to), edge(to + 1)));
        let wide = pairs.map(|(a, b)| (a, b, a[0] * b[1] - a[1] * b[0]));
        // The slopes of the largest triangle have the smallest error.
        let found = wide.max_by(|one, other| one.2.abs().total_cmp(&other.2.abs()));
        let slopes = found
            .filter(|(.., area)| *area != 0.0)
            .map_or([0.0; 2], |(a, b, area)| [(a[2] * b[1] - a[1] * b[2]) / area, (a[0] * b[2] - a[2] * b[0]) / area]);
        self.bias.map_or(0.0, |bias| depth_bias(bias, self.depth_bits, slopes, window.iter().map(|corner| corner.z)))
    }
}

/// Returns true if a polygon has no area on the grid, or its unsnapped corners define no planes.
fn is_flat(window: &[WindowVertex<'_>]) -> bool {
    let on_grid = |corner: &WindowVertex<'_>| [corner.x, corner.y].map(|pixels| i64::from(snap(pixels)));
    let off_grid = |pair: &[WindowVertex<'_>]| {
        let [to_b, to_c] = [&pair[0], &pair[1]].map(|to| [to.x - window[0].x, to.y - window[0].y].map(f64::from));
        to_b[0] * to_c[1] - to_b[1] * to_c[0]
    };
    let has_area = |pair: &[WindowVertex<'_>]| {
        let area = off_grid(pair);
        signed_area([on_grid(&window[0]), on_grid(&pair[0]), on_grid(&pair[1])]) != 0 && area != 0.0 && area.is_finite()
    };
    !window[1..].windows(2).any(has_area)
}

/// Maximum point size, pixels.
pub const MAX_POINT_SIZE: f32 = 1024.0;
