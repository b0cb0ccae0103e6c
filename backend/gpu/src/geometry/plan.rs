//! What triangles of a draw have in common: how they are culled, and how they become primitives.

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::Program;
use vitric_exec::runtime::rows::BLOCK;
use vitric_ir::interface::{Builtin, Interpolation, Slot};

use super::kernel::output;
use crate::raster::{Criterion, Plane, Shape, UNITS, snap};
use crate::state::{DepthBias, DepthBiasUnit, DepthLimits, RasterState};

/// Planes of smooth lines behind those of inputs: a pixel's distances from the four sides of the rectangle, two along each axis of it.
pub const SIDES: usize = 4;

/// What set-up needs to know besides vertices.
#[derive(Clone)]
pub struct PrimitiveContext {
    /// Rasterization state, dynamic state applied.
    pub raster: RasterState,
    /// Depth bias, when enabled.
    pub bias: Option<DepthBias>,
    /// Viewport.
    pub viewport: vk::Viewport,
    /// How far x and y may reach, in view volumes.
    pub band: f32,
    /// Fragment program.
    pub fragment: Option<Arc<Program>>,
    /// Whether primitives say how large their fragments are.
    pub gives_rate: bool,
    /// Bits of the depth attachment's format, 0 without.
    pub depth_bits: u32,
    /// Whether depths of fragments stay between those of their primitive's corners: those of triangles that are filled, not biased, cover
    /// pixels by samples, and have depths by nobody else.
    pub own_depths: bool,
    /// Samples of a pixel.
    pub samples: u32,
    /// How primitives cover pixels, where it is not by samples.
    pub criterion: Option<Criterion>,
    /// Whether alpha is multiplied by how much of a pixel a line covers.
    pub smooth: bool,
    /// Where vertices name the viewport: the pixels of this one, `[x0, y0, x1, y1]`, the last ones not included.
    pub routed: Option<[i64; 4]>,
    /// What follows from the rest, once it is complete.
    pub plan: Plan,
}

/// What is known of a triangle's facing before it is set up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Facing {
    #[default]
    Back,
    Front,
    /// What its winding says; it may be culled.
    Own,
}

/// What does not differ from triangle to triangle.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rules {
    pub(super) clockwise_is_front: bool,
    /// Back faces, front faces.
    pub(super) culls: [bool; 2],
    pub(super) depth_range: [f32; 2],
    /// Whether depths of fragments stay between those of their primitive's corners.
    pub(super) own_depths: bool,
    pub(super) samples: u32,
    /// Whether pixels are covered where their centres are.
    pub(super) centred: bool,
    /// The corner that gives flat inputs.
    pub(super) provoking: usize,
}

impl Rules {
    pub(super) fn new(context: &PrimitiveContext) -> Self {
        let (near, far) = (context.viewport.min_depth, context.viewport.max_depth);
        let culls = |face| context.raster.cull_mode.contains(face);
        Self {
            clockwise_is_front: context.raster.front_face == vk::FrontFace::CLOCKWISE,
            culls: [culls(vk::CullModeFlags::BACK), culls(vk::CullModeFlags::FRONT)],
            depth_range: match context.raster.depth_limits {
                DepthLimits::Viewport => [near.min(far), near.max(far)],
                DepthLimits::ZeroOne => [0.0, 1.0],
                DepthLimits::Format => [f32::NEG_INFINITY, f32::INFINITY],
            },
            own_depths: context.own_depths,
            samples: context.samples,
            centred: context.is_centred(),
            provoking: if context.raster.provoking_last { 2 } else { 0 },
        }
    }

    /// What depths of a triangle's fragments are clamped to, from those of its corners. Planes are those of corners that are not on the grid:
    /// where they are steep, pixels at the edges may have depths that no corner has; they are not to have any that lies outside.
    #[inline(always)]
    pub(super) fn depths_of(&self, [a, b, c]: [f32; 3]) -> [f32; 2] {
        let [near, far] = self.depth_range;
        match self.own_depths {
            true => [a.min(b).min(c), a.max(b).max(c)].map(|depth| depth.max(near).min(far)),
            false => [near, far],
        }
    }
}

/// How an input word of the fragment program gets from vertices to fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VaryingSource {
    /// Not at all: it is no varying.
    None,
    Flat,
    Linear,
    Perspective,
    /// It is a coordinate of points along this axis.
    Point(usize),
    /// A distance from a side of a smooth line, in the window.
    Side,
    /// The value of the vertex with a number.
    Vertex(usize),
    /// How much of the vertex with a number is in it, with or without perspective.
    Weight(usize, bool),
}

/// How the triangles of a draw become primitives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    pub(super) rules: Rules,
    pub(super) bias: Option<DepthBias>,
    pub(super) depth_bits: u32,
    pub(super) ways: SmallVec<[VaryingSource; 16]>,
}

impl Plan {
    pub(super) fn new(context: &PrimitiveContext) -> Self {
        let inputs = context.fragment.as_ref().map_or(&[][..], |program| &program.inputs);
        let ways = inputs.iter().map(|input| match input.interpolation {
            _ if !input.slot.is_varying() => match input.slot {
                Slot::Builtin(Builtin::PointCoord, component) => VaryingSource::Point(component as usize & 1),
                _ => VaryingSource::None,
            },
            interpolation => match (input.slot, interpolation.vertex()) {
                (Slot::Builtin(Builtin::BaryCoord, vertex), _) => VaryingSource::Weight(vertex as usize, true),
                (Slot::Builtin(Builtin::BaryCoordNoPersp, vertex), _) => VaryingSource::Weight(vertex as usize, false),
                (_, Some(vertex)) => VaryingSource::Vertex(vertex),
                _ if interpolation == Interpolation::Flat => VaryingSource::Flat,
                _ if interpolation == Interpolation::NoPerspective => VaryingSource::Linear,
                _ => VaryingSource::Perspective,
            },
        });
        // The size of fragments is that of the provoking vertex.
        let rate = context.gives_rate.then_some(VaryingSource::Flat);
        let sides = [VaryingSource::Side; SIDES].into_iter().take(if context.smooth { SIDES } else { 0 });
        Self {
            rules: Rules::new(context),
            // Edges and corners of polygons come with that of the polygon.
            bias: context.bias.filter(|_| context.raster.polygon_mode == vk::PolygonMode::FILL),
            depth_bits: context.depth_bits,
            ways: ways.chain(rate).chain(sides).collect(),
        }
    }

    /// Chunks of a vertex's row.
    #[inline]
    pub(super) fn row_chunks(&self) -> usize {
        (output::VARYINGS + self.ways.len()).div_ceil(BLOCK)
    }

    /// Reference point and depths of a triangle with these corners in the window, to the bit as `Batch::set_up` has them.
    pub(super) fn depth_shape(&self, corners: [[f32; 3]; 3]) -> Shape {
        let grid = corners.map(|[x, y, _]| [snap(x), snap(y)]);
        let edge = |to: usize| [0, 1].map(|axis| f64::from(grid[to][axis] - grid[0][axis]));
        let rise = |to: usize| f64::from(corners[to][2]) - f64::from(corners[0][2]);
        let ([[xb, yb], [xc, yc]], [to_b, to_c]) = ([1, 2].map(edge), [1, 2].map(rise));
        let inverse_area = inverse_of_area(xb * yc - yb * xc);
        let dx = ((to_b * yc - to_c * yb) * inverse_area) as f32;
        let dy = ((to_c * xb - to_b * xc) * inverse_area) as f32;
        let depths = corners.map(|[_, _, z]| z);
        let moved = |bias| depth_bias(bias, self.depth_bits, [dx, dy], depths.into_iter());
        let origin = self.bias.map_or(depths[0], |bias| depths[0] + moved(bias));
        let reference = grid[0].map(|units| units as f32 / UNITS as f32);
        let depth = Plane { origin, dx, dy };
        Shape { reference, depth, depth_range: self.rules.depths_of(depths), ..Shape::default() }
    }

    /// Words of a primitive.
    pub(super) fn primitive_words(&self) -> usize {
        Shape::WORDS + self.ways.len() * 3
    }
}

/// What depth is moved by, of a polygon with these slopes of depth in x and y, and these depths at its corners.
pub(super) fn depth_bias(bias: DepthBias, depth_bits: u32, slopes: [f32; 2], depths: impl Iterator<Item = f32>) -> f32 {
    let resolvable = match (bias.unit, depth_bits) {
        (DepthBiasUnit::One, _) => 1.0,
        (_, 16) => 1.0 / 65536.0,
        (DepthBiasUnit::Constant, _) | (_, 24) => 1.0 / 16_777_216.0,
        _ => {
            let largest = depths.fold(0.0f32, |largest, depth| largest.max(depth.abs()));
            let exponent = (largest.to_bits() >> 23).saturating_sub(23).max(1);
            f32::from_bits(exponent << 23)
        }
    };
    let slope = slopes[0].abs().max(slopes[1].abs());
    let offset = slope * bias.slope + resolvable * bias.constant;
    if bias.clamp > 0.0 {
        offset.min(bias.clamp)
    } else if bias.clamp < 0.0 {
        offset.max(bias.clamp)
    } else {
        offset
    }
}

/// Returns what slopes are multiplied by, given an area in units: from units to pixels. Slopes of a triangle without an area are 0.
#[inline(always)]
pub(super) fn inverse_of_area(area: f64) -> f64 {
    if area == 0.0 { 0.0 } else { UNITS as f64 / area }
}
