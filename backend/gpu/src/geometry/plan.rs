//! Properties that the triangles of a draw share: rules of culling, and the conversion to
//! primitives.

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use vitric_exec::Program;
use vitric_exec::runtime::rows::BLOCK;
use vitric_ir::interface::{Builtin, Interpolation, Slot};

use super::kernel::output;
use crate::raster::{Criterion, Plane, Shape, UNITS, snap};
use crate::state::{DepthBias, DepthBiasUnit, DepthLimits, RasterState};

/// Number of planes of smooth lines, which follow those of inputs: a pixel's distances from the
/// four sides of the rectangle, two along each of its axes.
pub const SIDES: usize = 4;

/// Data that setup needs besides vertices.
#[derive(Clone)]
pub struct PrimitiveContext {
    /// Rasterization state with dynamic state applied.
    pub raster: RasterState,
    /// Depth bias, if enabled.
    pub bias: Option<DepthBias>,
    /// Viewport.
    pub viewport: vk::Viewport,
    /// Size of the guard band in x and y, in view volumes.
    pub band: f32,
    /// Fragment program.
    pub fragment: Option<Arc<Program>>,
    /// True if primitives set the shading rate of their fragments.
    pub gives_rate: bool,
    /// Number of bits of the depth attachment's format, or 0 without one.
    pub depth_bits: u32,
    /// True if depths of fragments stay between those of the primitive's corners. This holds for
    /// filled triangles without bias that cover pixels by samples and whose depths nothing else
    /// replaces.
    pub depths_within_corners: bool,
    /// Number of samples of a pixel.
    pub samples: u32,
    /// Rule by which primitives cover pixels, or `None` for coverage of samples.
    pub criterion: Option<Criterion>,
    /// True if alpha is multiplied by the share of a pixel that a line covers.
    pub smooth: bool,
    /// Pixels of this viewport, `[x0, y0, x1, y1]`, exclusive at the end, if vertices name the
    /// viewport.
    pub routed: Option<[i64; 4]>,
    /// Plan computed from the other fields by `complete`.
    pub plan: Plan,
}

/// Facing of a triangle before it is set up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Facing {
    #[default]
    Back,
    Front,
    /// Facing by winding. The triangle may be culled.
    ByWinding,
}

/// Pixels that a triangle may cover.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PixelBounds {
    /// Pixels whose centres may be covered.
    #[default]
    Centres,
    /// Pixels of which a part may be covered.
    Partial,
    /// Pixels that the triangle may touch, if only in their sides.
    Touched,
}

/// Rules that all triangles of a draw share.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rules {
    pub(super) clockwise_is_front: bool,
    /// True for back faces and for front faces if they are culled.
    pub(super) culls: [bool; 2],
    pub(super) depth_range: [f32; 2],
    /// True if depths of fragments stay between those of their primitive's corners.
    pub(super) depths_within_corners: bool,
    pub(super) samples: u32,
    pub(super) bounds: PixelBounds,
    /// Number of the corner that supplies flat inputs.
    pub(super) provoking: usize,
}

impl Rules {
    /// Rules of tests: back faces are culled, and clockwise triangles are front faces.
    #[cfg(test)]
    pub(super) const TEST: Self = Self {
        clockwise_is_front: true,
        culls: [true, false],
        depth_range: [0.0, 1.0],
        depths_within_corners: true,
        samples: 1,
        bounds: PixelBounds::Centres,
        provoking: 0,
    };

    pub(super) fn new(context: &PrimitiveContext) -> Self {
        let (near, far) = (context.viewport.min_depth, context.viewport.max_depth);
        let culls = |face| context.raster.cull_mode.contains(face);
        Self {
            clockwise_is_front: context.raster.front_face == vk::FrontFace::CLOCKWISE,
            culls: [culls(vk::CullModeFlags::BACK), culls(vk::CullModeFlags::FRONT)],
            depth_range: match context.raster.depth_limits {
                DepthLimits::Viewport => [near.min(far), near.max(far)],
                DepthLimits::Range(range) => range.ends(),
                DepthLimits::ZeroOne => [0.0, 1.0],
                DepthLimits::Format => [f32::NEG_INFINITY, f32::INFINITY],
            },
            depths_within_corners: context.depths_within_corners,
            samples: context.samples,
            bounds: context.pixel_bounds(),
            provoking: if context.raster.provoking_last { 2 } else { 0 },
        }
    }

    /// Returns the range that depths of a triangle's fragments are clamped to, from the depths of
    /// its corners. Steep planes may have depths at pixels of the edges that no corner has. The
    /// clamp keeps such depths within the range of the corners.
    #[inline(always)]
    pub(super) fn depths_of(&self, [a, b, c]: [f32; 3]) -> [f32; 2] {
        let [near, far] = self.depth_range;
        match self.depths_within_corners {
            true => [a.min(b).min(c), a.max(b).max(c)].map(|depth| depth.max(near).min(far)),
            false => [near, far],
        }
    }
}

/// Source of an input component of the fragment program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VaryingSource {
    /// None: the input is not a varying.
    None,
    Flat,
    Linear,
    Perspective,
    /// Point coordinate along an axis.
    Point(usize),
    /// Distance from a side of a smooth line, in window space.
    Side,
    /// Value of the vertex with this number in the primitive.
    Vertex(usize),
    /// Barycentric weight of the vertex with this number, with perspective if true.
    Weight(usize, bool),
}

/// Conversion of a draw's triangles to primitives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    pub(super) rules: Rules,
    pub(super) bias: Option<DepthBias>,
    pub(super) depth_bits: u32,
    /// Source of each input component of the fragment program.
    pub(super) sources: SmallVec<[VaryingSource; 16]>,
}

impl Plan {
    pub(super) fn new(context: &PrimitiveContext) -> Self {
        let inputs = context.fragment.as_ref().map_or(&[][..], |program| &program.inputs);
        let sources = inputs.iter().map(|input| match input.interpolation {
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
        // The shading rate is that of the provoking vertex.
        let rate = context.gives_rate.then_some(VaryingSource::Flat);
        let sides = [VaryingSource::Side; SIDES].into_iter().take(if context.smooth { SIDES } else { 0 });
        Self {
            rules: Rules::new(context),
            // In other modes, setup adds the polygon's bias to its edges and corners.
            bias: context.bias.filter(|_| context.raster.polygon_mode == vk::PolygonMode::FILL),
            depth_bits: context.depth_bits,
            sources: sources.chain(rate).chain(sides).collect(),
        }
    }

    /// Returns the number of chunks in a vertex's row.
    #[inline]
    pub(super) fn row_chunks(&self) -> usize {
        (output::VARYINGS + self.sources.len()).div_ceil(BLOCK)
    }

    /// Returns the reference point and depths of a triangle with the given window coordinates,
    /// bit-identical to those of `TriangleBatch::set_up`.
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

    /// Returns the number of dwords of a primitive.
    pub(super) fn primitive_words(&self) -> usize {
        Shape::WORDS + self.sources.len() * 3
    }
}

/// Returns the depth bias of a polygon with the given slopes of depth in x and y, and the given
/// depths at its corners.
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

/// Returns the factor of slopes for an area in units, which also converts units to pixels. The
/// factor of a triangle without area is 0.
#[inline(always)]
pub(super) fn inverse_of_area(area: f64) -> f64 {
    if area == 0.0 { 0.0 } else { UNITS as f64 / area }
}
