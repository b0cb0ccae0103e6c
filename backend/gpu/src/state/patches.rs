//! Tessellation state: programs of patches and the subdivision.

use std::sync::Arc;

use vitric_exec::Program;
use vitric_ir::interface::{Domain, Spacing};

use super::PipelineState;

/// Tessellation programs.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchPrograms {
    /// Tessellation control program.
    pub control: Arc<Program>,
    /// Tessellation evaluation program.
    pub evaluation: Arc<Program>,
}

/// State of patches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PatchState {
    /// Number of vertices of a patch, 1 to 32.
    pub vertices: u32,
    /// True if the origin of the domain is the lower left corner, rather than the upper left one.
    pub lower_left: bool,
}

/// Subdivision of patches by the tessellator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Subdivision {
    /// Domain that is subdivided.
    pub domain: Domain,
    /// Spacing of edges.
    pub spacing: Spacing,
    /// True if each vertex is a point, rather than a corner of lines or triangles.
    pub points: bool,
    /// True if triangles turn from u to v, so that the area of their corners in u and v is
    /// positive.
    pub positive: bool,
}

impl Subdivision {
    /// Returns the number of vertices of a primitive.
    pub fn corners(&self) -> usize {
        match self.domain {
            _ if self.points => 1,
            Domain::Isolines => 2,
            Domain::Triangles | Domain::Quads => 3,
        }
    }
}

impl PipelineState {
    /// Returns the subdivision, if there are tessellation programs. Either of them states the
    /// modes.
    pub fn subdivision(&self) -> Option<Subdivision> {
        let programs = self.patches.as_ref()?;
        let [evaluation, control] = [&programs.evaluation, &programs.control].map(|program| program.patch.as_deref());
        let (evaluation, control) = (evaluation?, control?);
        let is_clockwise = evaluation.clockwise.or(control.clockwise).unwrap_or(false);
        Some(Subdivision {
            domain: evaluation.domain.or(control.domain).unwrap_or_default(),
            spacing: evaluation.spacing.or(control.spacing).unwrap_or_default(),
            points: evaluation.points || control.points,
            // v points down if the origin is the upper left corner.
            positive: is_clockwise != self.patch_state.lower_left,
        })
    }
}
