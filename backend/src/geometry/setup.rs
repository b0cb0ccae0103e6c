//! Set-up: primitives of shaded vertices become triangles in window space, which wait for their tiles.
//!
//! Lines become rectangles and points squares of two triangles each, so that one rasterizer serves all. Source: Vulkan
//! specification, "Rasterization".

use ash::vk;
use smallvec::SmallVec;

use super::batch::{Plan, Way};
use super::cull::{Facing, Waiting};
use super::kernel::{output, outside};
use super::triangles::{Entry, Triangles};
use super::{Shaded, Vertex, clip};
use crate::bag::Bag;
use crate::shader::Program;
use crate::shader::interp::WAVE;
use crate::state::{DepthBias, RasterState};
use crate::tiling::MOST;

/// What set-up needs to know besides vertices.
pub struct PrimitiveContext<'a> {
    /// Rasterization state, dynamic state applied.
    pub raster: RasterState,
    /// Depth bias, when enabled.
    pub bias: Option<DepthBias>,
    /// Viewport.
    pub viewport: vk::Viewport,
    /// How far x and y may reach, in view volumes.
    pub band: f32,
    /// Fragment program.
    pub fragment: Option<&'a Program>,
    /// Bits of the depth attachment's format, 0 without.
    pub depth_bits: u32,
    /// Samples of a pixel.
    pub samples: u32,
}

/// A vertex in window space.
#[derive(Clone, Copy)]
pub(super) struct Window<'v> {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
    pub(super) inverse_w: f32,
    /// Input words of the fragment program.
    varyings: &'v [u32],
}

/// Makes room for about so many triangles of a draw, behind those in the last of `out` or in new ones, which are returned.
pub(super) fn room<'o>(
    context: &PrimitiveContext<'_>,
    (out, expected): (&'o mut Vec<Triangles>, usize),
    spare: &Bag<Triangles>,
) -> &'o mut Triangles {
    let plan = Plan::new(context);
    // One primitive may become many triangles.
    let fits = |last: &Triangles| last.len() + expected <= MOST / 2 && *last.plan() == plan;
    if !out.last().is_some_and(fits) {
        let mut fresh = spare.take();
        fresh.start(plan, expected.min(MOST));
        out.push(fresh);
    }
    out.last_mut().expect("there is one")
}

/// Set-up of primitives of one draw.
pub(super) struct SetUp<'a> {
    context: &'a PrimitiveContext<'a>,
    shaded: &'a Shaded<'a>,
    waiting: &'a mut Waiting,
    /// The last ones have the vertices.
    out: &'a mut Vec<Triangles>,
    /// Memory of triangles.
    spare: &'a Bag<Triangles>,
}

impl<'a> SetUp<'a> {
    /// Triangles go behind those in the last of `out`, which has the rows of the shaded vertices.
    pub(super) fn new(
        (context, shaded): (&'a PrimitiveContext<'a>, &'a Shaded<'a>),
        waiting: &'a mut Waiting,
        out: &'a mut Vec<Triangles>,
        spare: &'a Bag<Triangles>,
    ) -> Self {
        Self { context, shaded, waiting, out, spare }
    }

    fn triangles(&mut self) -> &mut Triangles {
        self.out.last_mut().expect("vertices have a place")
    }

    /// Clips, culls and sets up a primitive of 1, 2 or 3 shaded vertices.
    #[inline]
    pub(super) fn add(&mut self, vertices: &[u32], id: u32) {
        let shaded = self.shaded;
        let (any, all) = vertices.iter().fold((0, u32::MAX), |(any, all), &vertex| {
            let outside = shaded.outside(vertex);
            (any | outside, all & outside)
        });
        // Clipping would leave nothing of what is all outside of one plane.
        if any >> outside::NOWHERE & 1 != 0 || all & (outside::CULLED | outside::CLIPPED) != 0 {
            return;
        }
        let is_whole = any & outside::CLIPPED == 0 && self.context.raster.polygon_mode == vk::PolygonMode::FILL;
        match *vertices {
            [a, b, c] if is_whole => {
                let rows = [shaded.row(a), shaded.row(b), shaded.row(c)];
                self.push(Entry { rows, id, facing: Facing::Own });
            }
            [a, b, c] => self.triangle([a, b, c], id),
            [a, b] => self.line([a, b], id),
            [point] => self.point(point, id),
            _ => {}
        }
    }

    /// Sets up what waits.
    pub(super) fn finish(mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        if self.triangles().len() + WAVE > MOST {
            let mut fresh = self.spare.take();
            fresh.go_on(self.triangles());
            self.out.push(fresh);
        }
        let last = self.out.len() - 1;
        self.waiting.flush(&mut self.out[last]);
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        if self.waiting.is_full() {
            self.flush();
        }
        let last = self.out.len() - 1;
        self.waiting.push(entry, &self.out[last]);
    }

    /// A vertex as clipping takes it.
    fn vertex(&mut self, vertex: u32) -> Vertex {
        let shaded = self.shaded;
        shaded.vertex(vertex, self.triangles().row(shaded.row(vertex)))
    }

    fn triangle(&mut self, corners: [u32; 3], id: u32) {
        let vertices = corners.map(|vertex| self.vertex(vertex));
        let provoking = vertices[0].varyings.clone();
        let clipped = clip::polygon(vertices.to_vec(), self.context.raster.depth_clamp, self.context.band);
        let window: SmallVec<[Window<'_>; 8]> = clipped.iter().map(|vertex| self.context.to_window(vertex)).collect();
        if window.len() >= 3 {
            self.polygon(&window, &provoking, id);
        }
    }

    fn polygon(&mut self, window: &[Window<'_>], provoking: &[u32], id: u32) {
        let Some(facing) = self.context.facing(window) else { return };
        match self.context.raster.polygon_mode {
            vk::PolygonMode::LINE => {
                for index in 0..window.len() {
                    let pair = [&window[index], &window[(index + 1) % window.len()]];
                    self.window_line(pair, provoking, (id, facing));
                }
            }
            vk::PolygonMode::POINT => {
                for corner in window {
                    self.window_point(corner, 1.0, provoking, (id, facing));
                }
            }
            _ => {
                for pair in window[1..].windows(2) {
                    let corners = [&window[0], &pair[0], &pair[1]];
                    self.filled(corners, provoking, (id, facing), [0.0; 3]);
                }
            }
        }
    }

    fn line(&mut self, ends: [u32; 2], id: u32) {
        let [a, b] = ends.map(|vertex| self.vertex(vertex));
        let provoking = a.varyings.clone();
        let Some([from, to]) = clip::line(a, b, self.context.raster.depth_clamp, self.context.band) else { return };
        let (from, to) = (self.context.to_window(&from), self.context.to_window(&to));
        self.window_line([&from, &to], &provoking, (id, Facing::Front));
    }

    /// A rectangle of the line's width around it. Attributes only change along the line.
    fn window_line(&mut self, [a, b]: [&Window<'_>; 2], provoking: &[u32], tag: (u32, Facing)) {
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = (dx * dx + dy * dy).sqrt();
        if length <= 0.0 || !length.is_finite() {
            return;
        }
        let half = 0.5 * self.context.raster.line_width / length;
        let (nx, ny) = (-dy * half, dx * half);
        let corners = [(a, 1.0), (b, 1.0), (b, -1.0), (a, -1.0)].map(|(base, sign)| Window {
            x: base.x + nx * sign,
            y: base.y + ny * sign,
            ..*base
        });
        self.filled([&corners[0], &corners[1], &corners[2]], provoking, tag, [0.0; 3]);
        self.filled([&corners[0], &corners[2], &corners[3]], provoking, tag, [0.0; 3]);
    }

    /// A point that is inside of every plane.
    fn point(&mut self, vertex: u32, id: u32) {
        let size = self.shaded.point_size(vertex);
        let number = self.shaded.row(vertex);
        let row: SmallVec<[u32; 24]> = self.triangles().row(number).as_flattened().into();
        let [x, y, z, inverse_w] = [0, 1, 2, 3].map(|word| f32::from_bits(row[output::WINDOW + word]));
        let varyings = &row[output::VARYINGS..];
        let window = Window { x, y, z, inverse_w, varyings };
        self.window_point(&window, size, varyings, (id, Facing::Front));
    }

    fn window_point(&mut self, centre: &Window<'_>, size: f32, provoking: &[u32], tag: (u32, Facing)) {
        let size = if size.is_nan() { 1.0 } else { size.clamp(1.0, MAX_POINT_SIZE) };
        let half = 0.5 * size;
        let corner = |x: f32, y: f32| Window { x: centre.x + x * half, y: centre.y + y * half, ..*centre };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let point = [centre.x - half, centre.y - half, 1.0 / size];
        self.filled([&corners[0], &corners[1], &corners[2]], provoking, tag, point);
        self.filled([&corners[0], &corners[2], &corners[3]], provoking, tag, point);
    }

    fn filled(&mut self, corners: [&Window<'_>; 3], provoking: &[u32], (id, facing): (u32, Facing), point: [f32; 3]) {
        let triangles = self.out.last_mut().expect("vertices have a place");
        let rows = [0, 1, 2].map(|corner: usize| {
            let vertex = corners[corner];
            let word = |(index, way): (usize, &Way)| match way {
                Way::Flat => provoking[index],
                // A point's edge, and the reciprocal of its size.
                Way::Point(axis) => [point[*axis], point[2], 0.0][corner].to_bits(),
                _ => vertex.varyings[index],
            };
            let place = [vertex.x, vertex.y, vertex.z, vertex.inverse_w].map(f32::to_bits);
            let varyings = triangles.plan().ways.iter().enumerate().map(word);
            let words: SmallVec<[u32; 24]> = place.into_iter().chain(varyings).collect();
            triangles.add_row(&words)
        });
        self.push(Entry { rows, id, facing });
    }
}

impl PrimitiveContext<'_> {
    /// What the kernel does to a vertex that clipping made.
    fn to_window<'v>(&self, vertex: &'v Vertex) -> Window<'v> {
        let [x, y, z, w] = vertex.position;
        let inverse_w = 1.0 / w;
        let view = &self.viewport;
        let range = view.max_depth - view.min_depth;
        Window {
            x: (x * inverse_w + 1.0) * 0.5 * view.width + view.x,
            y: (y * inverse_w + 1.0) * 0.5 * view.height + view.y,
            z: z * inverse_w * range + view.min_depth,
            inverse_w,
            varyings: &vertex.varyings,
        }
    }

    /// Whether pixels are covered where their centres are.
    pub(super) fn is_centred(&self) -> bool {
        self.samples == 1 && self.raster.conservative.is_none()
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
}

/// Largest point size, pixels.
pub const MAX_POINT_SIZE: f32 = 1024.0;
