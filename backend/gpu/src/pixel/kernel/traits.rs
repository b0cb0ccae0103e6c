//! Properties of pipelines that determine how their kernels are built.

use vitric_exec::Program;

use super::Attachment;
use crate::geometry::Varies;
use crate::state::{DepthStencilState, PipelineState};

/// Bytes of a texel's word.
pub(super) const TEXEL: u32 = 4;

/// Primitives that one run of a kernel draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PrimitiveBatch {
    /// One primitive.
    #[default]
    One,
    /// An edge pair: a primitive and the next one, which share an edge and cover no common pixel.
    ///
    /// Each lane's pixel belongs to the primitive that covers it, so that blocks that both touch
    /// are processed once. Values that are constant within each primitive must be equal in both,
    /// see [`super::Stage::common`]. The window must contain all pixels of both.
    EdgePair,
}

/// Primitives that one run of a kernel draws, and the values that vary within them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchTraits {
    /// The primitives.
    pub batch: PrimitiveBatch,
    /// Values that may vary within each primitive.
    pub varies: Varies,
    /// True if the kernel tests blocks before their samples.
    pub tests_blocks: bool,
}

/// Options that select one of a pipeline's kernels of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelOptions {
    /// Bits of a stored depth.
    pub depth_bits: u32,
    /// True if the kernel counts fragments.
    pub counts: bool,
}

/// A fragment program, and the pipeline whose state surrounds it in kernels.
#[derive(Clone, Copy)]
pub(super) struct FragmentShading<'a> {
    pub(super) pipeline: &'a PipelineState,
    pub(super) program: &'a Program,
}

/// Planes that a kernel accesses.
#[derive(Clone, Copy)]
pub(super) struct KernelPlanes<'a> {
    pub(super) attachments: &'a [Attachment],
    pub(super) depth: &'a DepthTarget,
}

/// Event that is reported for the pixels of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaveEvent {
    /// The program runs for the pixels.
    Shaded,
    /// The pixels are written. Reported only if they may be fewer than the shaded pixels.
    Exported,
}

/// Returns true if a program's fragments are tested after it.
pub(super) fn is_late(pipeline: &PipelineState, program: &Program) -> bool {
    let facts = &program.fragment;
    let takes_samples = facts.may_discard || facts.writes_sample_mask || pipeline.multisample.alpha_to_coverage;
    !facts.early_tests && (takes_samples || facts.writes_depth)
}

/// Returns true if depths may be stored separately for each pixel, after a program that removes
/// samples.
///
/// Late tests with depths of two bytes do not allow that, because two depths share a word.
pub(super) fn stores_depths_apart(FragmentShading { pipeline, program }: FragmentShading<'_>, depth_bits: u32) -> bool {
    depth_bits != 16 || !is_late(pipeline, program) || tested(pipeline).is_none()
}

/// Returns the depth and stencil state of a pipeline if any test is on.
pub fn tested(pipeline: &PipelineState) -> Option<DepthStencilState> {
    let does_something = |tests: &DepthStencilState| tests.depth_test || tests.stencil_test || tests.depth_bounds_test;
    pipeline.depth_stencil.filter(does_something)
}

/// Depth plane of a kernel: bits of a depth, and number of the plane, which follows those of the
/// targets.
pub(super) struct DepthTarget {
    pub(super) bits: u32,
    pub(super) plane: usize,
}

impl DepthTarget {
    pub(super) fn bytes(&self) -> u32 {
        if self.bits == 16 { 2 } else { TEXEL }
    }
}

/// Returns the bytes of a texel of each attachment.
pub(super) fn bytes_of(attachments: &[Attachment]) -> impl Iterator<Item = u32> {
    attachments.iter().map(|attachment| attachment.export.info.bytes)
}
