//! Tessellation: programs of patches, and how they are subdivided.

use std::sync::Arc;

use vitric_exec::Program;
use vitric_ir::interface::{Domain, Spacing};

use super::PipelineState;

/// The programs that make patches of vertices, and vertices of patches.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchPrograms {
    /// The tessellation control program.
    pub control: Arc<Program>,
    /// The tessellation evaluation program.
    pub evaluation: Arc<Program>,
}

/// What patches are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PatchState {
    /// Vertices of a patch, 1 to 32.
    pub vertices: u32,
    /// The origin of the domain is in its lower left corner, not in the upper left one.
    pub lower_left: bool,
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

impl Subdivision {
    /// Vertices of a primitive.
    pub fn corners(&self) -> usize {
        match self.domain {
            _ if self.points => 1,
            Domain::Isolines => 2,
            Domain::Triangles | Domain::Quads => 3,
        }
    }
}

impl PipelineState {
    /// What the tessellator does, where there is one. Either of the programs says it.
    pub fn subdivision(&self) -> Option<Subdivision> {
        let programs = self.patches.as_ref()?;
        let [evaluation, control] = [&programs.evaluation, &programs.control].map(|program| program.patch.as_deref());
        let (evaluation, control) = (evaluation?, control?);
        let is_clockwise = evaluation.clockwise.or(control.clockwise).unwrap_or(false);
        Some(Subdivision {
            domain: evaluation.domain.or(control.domain).unwrap_or_default(),
            spacing: evaluation.spacing.or(control.spacing).unwrap_or_default(),
            points: evaluation.points || control.points,
            // With the origin in the upper left corner v goes down.
            positive: is_clockwise != self.patch_state.lower_left,
        })
    }
}
