//! Set-up: perspective division, viewport, snapping, facing and culling, plane equations, depth bias.
//!
//! Lines become rectangles and points squares of two triangles each, so that one rasterizer serves all. Planes are solved
//! in `f64` from unsnapped positions relative to the first vertex, rounded to `f32`, and evaluated in `f32` the same way
//! everywhere. Source: Vulkan specification, "Rasterization".

use ash::vk;
use smallvec::SmallVec;

use super::kernel::outside;
use super::primitives::{Plane, Primitives, Shape};
use super::{Shaded, Vertex, clip};
use crate::raster::{self, Triangle};
use crate::shader::{Interpolation, Program};
use crate::state::{DepthBias, RasterState};

/// What set-up needs to know besides vertices.
pub struct PrimitiveContext<'a> {
    /// Rasterization state, dynamic state applied.
    pub raster: RasterState,
    /// Depth bias, when enabled.
    pub bias: Option<DepthBias>,
    /// Viewport.
    pub viewport: vk::Viewport,
    /// Fragment program.
    pub fragment: Option<&'a Program>,
    /// Bits of the depth attachment's format, 0 without.
    pub depth_bits: u32,
    /// Samples of a pixel.
    pub samples: u32,
}

/// A vertex in window space.
#[derive(Clone, Copy)]
struct Window<'v> {
    x: f32,
    y: f32,
    z: f32,
    inverse_w: f32,
    source: Source<'v>,
}

/// Where the varyings of a vertex are.
#[derive(Clone, Copy)]
enum Source<'v> {
    Shaded(&'v Shaded<'v>, u32),
    Clipped(&'v Vertex),
}

impl Source<'_> {
    #[inline]
    fn varying(&self, index: usize) -> u32 {
        match self {
            Self::Shaded(shaded, vertex) => shaded.varying(*vertex, index),
            Self::Clipped(vertex) => vertex.varyings[index],
        }
    }
}

/// Clips, culls and sets up a primitive of 1, 2 or 3 shaded vertices; `out` gets what is left.
pub fn set_up(context: &PrimitiveContext<'_>, shaded: &Shaded<'_>, vertices: &[u32], id: u32, out: &mut Primitives) {
    let (any, all) = vertices.iter().fold((0, u32::MAX), |(any, all), &vertex| {
        let outside = shaded.outside(vertex);
        (any | outside, all & outside)
    });
    // Clipping would leave nothing of what is all outside of one plane.
    if any >> outside::NOWHERE & 1 != 0 || all & (outside::CULLED | outside::CLIPPED) != 0 {
        return;
    }
    let is_inside = any & outside::CLIPPED == 0;
    match *vertices {
        [point] => context.point((shaded, point), id, out),
        [a, b] => context.line(shaded, [a, b], id, out),
        [a, b, c] if is_inside => {
            let window = [a, b, c].map(|vertex| Window::of_shaded(shaded, vertex));
            context.polygon(&window, window[0].source, id, out);
        }
        [a, b, c] => context.clipped_triangle(shaded, [a, b, c], id, out),
        _ => {}
    }
}

impl<'v> Window<'v> {
    #[inline]
    fn of_shaded(shaded: &'v Shaded<'v>, vertex: u32) -> Self {
        let [x, y, z, inverse_w] = shaded.window(vertex);
        Self { x, y, z, inverse_w, source: Source::Shaded(shaded, vertex) }
    }
}

impl PrimitiveContext<'_> {
    /// Room for primitives.
    pub fn primitives(&self) -> Primitives {
        Primitives::new(self.fragment.map_or(0, |program| program.inputs.len()))
    }

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
            source: Source::Clipped(vertex),
        }
    }

    fn clipped_triangle(&self, shaded: &Shaded<'_>, corners: [u32; 3], id: u32, out: &mut Primitives) {
        let vertices = corners.map(|vertex| shaded.vertex(vertex)).to_vec();
        let clipped = clip::polygon(vertices, self.raster.depth_clamp);
        let window: SmallVec<[Window<'_>; 8]> = clipped.iter().map(|vertex| self.to_window(vertex)).collect();
        if window.len() >= 3 {
            self.polygon(&window, Source::Shaded(shaded, corners[0]), id, out);
        }
    }

    fn polygon(&self, window: &[Window<'_>], provoking: Source<'_>, id: u32, out: &mut Primitives) {
        let Some(front) = self.facing(window) else { return };
        match self.raster.polygon_mode {
            vk::PolygonMode::LINE => {
                for index in 0..window.len() {
                    let pair = [&window[index], &window[(index + 1) % window.len()]];
                    self.window_line(pair, provoking, (id, front), out);
                }
            }
            vk::PolygonMode::POINT => {
                for corner in window {
                    self.window_point(corner, 1.0, provoking, (id, front), out);
                }
            }
            _ => {
                for pair in window[1..].windows(2) {
                    let corners = [&window[0], &pair[0], &pair[1]];
                    self.filled(corners, provoking, (id, front), [0.0; 3], out);
                }
            }
        }
    }

    /// Whether a polygon faces front; `None` when it is culled.
    fn facing(&self, window: &[Window<'_>]) -> Option<bool> {
        let mut area = 0.0f64;
        for index in 0..window.len() {
            let (a, b) = (&window[index], &window[(index + 1) % window.len()]);
            area += f64::from(a.x) * f64::from(b.y) - f64::from(b.x) * f64::from(a.y);
        }
        // Positive is clockwise on a screen with y down.
        let clockwise = area > 0.0;
        let front = clockwise == (self.raster.front_face == vk::FrontFace::CLOCKWISE);
        let culled = if front { vk::CullModeFlags::FRONT } else { vk::CullModeFlags::BACK };
        (!self.raster.cull_mode.contains(culled)).then_some(front)
    }

    fn line(&self, shaded: &Shaded<'_>, ends: [u32; 2], id: u32, out: &mut Primitives) {
        let [a, b] = ends.map(|vertex| shaded.vertex(vertex));
        let Some([from, to]) = clip::line(a, b, self.raster.depth_clamp) else { return };
        let (from, to) = (self.to_window(&from), self.to_window(&to));
        self.window_line([&from, &to], Source::Shaded(shaded, ends[0]), (id, true), out);
    }

    /// A rectangle of the line's width around it. Attributes only change along the line.
    fn window_line(&self, [a, b]: [&Window<'_>; 2], provoking: Source<'_>, tag: (u32, bool), out: &mut Primitives) {
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = (dx * dx + dy * dy).sqrt();
        if length <= 0.0 || !length.is_finite() {
            return;
        }
        let half = 0.5 * self.raster.line_width / length;
        let (nx, ny) = (-dy * half, dx * half);
        let corners = [(a, 1.0), (b, 1.0), (b, -1.0), (a, -1.0)].map(|(base, sign)| Window {
            x: base.x + nx * sign,
            y: base.y + ny * sign,
            ..*base
        });
        self.filled([&corners[0], &corners[1], &corners[2]], provoking, tag, [0.0; 3], out);
        self.filled([&corners[0], &corners[2], &corners[3]], provoking, tag, [0.0; 3], out);
    }

    /// A point that is inside of every plane.
    fn point(&self, (shaded, vertex): (&Shaded<'_>, u32), id: u32, out: &mut Primitives) {
        let window = Window::of_shaded(shaded, vertex);
        self.window_point(&window, shaded.point_size(vertex), window.source, (id, true), out);
    }

    fn window_point(
        &self,
        centre: &Window<'_>,
        size: f32,
        provoking: Source<'_>,
        tag: (u32, bool),
        out: &mut Primitives,
    ) {
        let size = if size.is_nan() { 1.0 } else { size.clamp(1.0, MAX_POINT_SIZE) };
        let half = 0.5 * size;
        let corner = |x: f32, y: f32| Window { x: centre.x + x * half, y: centre.y + y * half, ..*centre };
        let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        let point = [centre.x - half, centre.y - half, 1.0 / size];
        self.filled([&corners[0], &corners[1], &corners[2]], provoking, tag, point, out);
        self.filled([&corners[0], &corners[2], &corners[3]], provoking, tag, point, out);
    }

    fn filled(
        &self,
        corners: [&Window<'_>; 3],
        provoking: Source<'_>,
        (id, front): (u32, bool),
        point: [f32; 3],
        out: &mut Primitives,
    ) {
        let Some(triangle) = Triangle::new(corners.map(|corner| [raster::snap(corner.x), raster::snap(corner.y)]))
        else {
            return;
        };
        // What lies between the centres of pixels covers none of them.
        let [x0, y0, x1, y1] = triangle.centre_bounds();
        if self.samples == 1 && (x0 >= x1 || y0 >= y1) {
            return;
        }
        let Some(solver) = Solver::new(corners) else { return };
        let mut depth = solver.plane(corners.map(|corner| corner.z));
        depth.origin += self.bias_of(&depth, corners);
        let inputs = self.fragment.map_or(&[][..], |program| &program.inputs);
        let (near, far) = (self.viewport.min_depth, self.viewport.max_depth);
        let shape = Shape {
            reference: [corners[0].x, corners[0].y],
            inverse_w: solver.plane(corners.map(|corner| corner.inverse_w)),
            depth,
            depth_range: [near.min(far), near.max(far)],
            point,
            front,
            id,
        };
        out.push(triangle, &shape, |index| {
            let values = || corners.map(|corner| f32::from_bits(corner.source.varying(index)));
            match inputs[index].interpolation {
                _ if !inputs[index].slot.is_varying() => [0; 3],
                Interpolation::Flat => [provoking.varying(index), 0, 0],
                Interpolation::NoPerspective => solver.plane(values()).into(),
                Interpolation::Smooth => {
                    let values = values();
                    solver.plane(std::array::from_fn(|corner| values[corner] * corners[corner].inverse_w)).into()
                }
            }
        });
    }

    fn bias_of(&self, depth: &Plane, corners: [&Window<'_>; 3]) -> f32 {
        let Some(bias) = self.bias else { return 0.0 };
        let resolvable = match self.depth_bits {
            16 => 1.0 / 65536.0,
            24 => 1.0 / 16_777_216.0,
            _ => {
                let largest = corners.iter().fold(0.0f32, |largest, corner| largest.max(corner.z.abs()));
                let exponent = (largest.to_bits() >> 23).saturating_sub(23).max(1);
                f32::from_bits(exponent << 23)
            }
        };
        let slope = depth.dx.abs().max(depth.dy.abs());
        let offset = slope * bias.slope + resolvable * bias.constant;
        if bias.clamp > 0.0 {
            offset.min(bias.clamp)
        } else if bias.clamp < 0.0 {
            offset.max(bias.clamp)
        } else {
            offset
        }
    }
}

/// Largest point size, pixels.
pub const MAX_POINT_SIZE: f32 = 1024.0;

/// Solves for planes through three window positions.
struct Solver {
    edges: [[f64; 2]; 2],
    inverse_area: f64,
}

impl Solver {
    fn new(corners: [&Window<'_>; 3]) -> Option<Self> {
        let edge = |corner: &Window| {
            [f64::from(corner.x) - f64::from(corners[0].x), f64::from(corner.y) - f64::from(corners[0].y)]
        };
        let edges = [edge(corners[1]), edge(corners[2])];
        let area = edges[0][0] * edges[1][1] - edges[0][1] * edges[1][0];
        (area != 0.0 && area.is_finite()).then(|| Self { edges, inverse_area: 1.0 / area })
    }

    fn plane(&self, values: [f32; 3]) -> Plane {
        let rise = [1, 2].map(|corner| f64::from(values[corner]) - f64::from(values[0]));
        let dx = (rise[0] * self.edges[1][1] - rise[1] * self.edges[0][1]) * self.inverse_area;
        let dy = (rise[1] * self.edges[0][0] - rise[0] * self.edges[1][0]) * self.inverse_area;
        Plane { origin: values[0], dx: dx as f32, dy: dy as f32 }
    }
}
