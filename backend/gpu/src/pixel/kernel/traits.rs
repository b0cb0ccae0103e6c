//! Facts of pipelines that decide how their kernels are built.

use vitric_exec::Program;

use super::Attachment;
use crate::state::{DepthStencilState, PipelineState};

/// Bytes of a word of a texel.
pub(super) const TEXEL: u32 = 4;

/// What a run draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PrimitiveBatch {
    /// One primitive.
    #[default]
    One,
    /// That, and the one behind it, with which it shares an edge: no point is of both. A lane's pixel is of the one that covers it, so that
    /// blocks which both of them touch are gone through once. What does not change within them is the same for
    /// both: [`Stage::common`]. Of neither the window cuts off any pixels.
    Neighbours,
}

/// What is told of pixels of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The program runs for them.
    Shaded,
    /// They are written, where that are not all of those.
    Exported,
}

/// Whether a program's fragments are tested behind it.
pub(super) fn is_late(pipeline: &PipelineState, program: &Program) -> bool {
    let facts = &program.fragment;
    let takes_samples = facts.may_discard || facts.writes_sample_mask || pipeline.multisample.alpha_to_coverage;
    !facts.early_tests && (takes_samples || facts.writes_depth)
}

/// Whether depths of fragments are stored behind a program that takes samples away, where it must be so: of two bytes, a word is that of two.
pub(super) fn stores_depths_apart(pipeline: &PipelineState, (program, depth_bits): (&Program, u32)) -> bool {
    depth_bits != 16 || !is_late(pipeline, program) || tested(pipeline).is_none()
}

/// The tests of a pipeline that do something.
pub fn tested(pipeline: &PipelineState) -> Option<DepthStencilState> {
    let does_something = |tests: &DepthStencilState| tests.depth_test || tests.stencil_test || tests.depth_bounds_test;
    pipeline.depth_stencil.filter(does_something)
}

/// The plane of depths: its bits, and its number, which is that behind the targets'.
pub(super) struct Depths {
    pub(super) bits: u32,
    pub(super) plane: usize,
}

impl Depths {
    pub(super) fn bytes(&self) -> u32 {
        if self.bits == 16 { 2 } else { TEXEL }
    }
}

/// Bytes of the texels of attachments.
pub(super) fn bytes_of(attachments: &[Attachment]) -> impl Iterator<Item = u32> {
    attachments.iter().map(|attachment| attachment.export.info.bytes)
}
