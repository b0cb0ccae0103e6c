//! What the pixel units need to know of a draw, and the attachments they work on.

use std::sync::atomic::AtomicU64;

use ash::vk;

use super::Words;
use crate::format::FormatInfo;
use crate::memory::PlaneRef;
use crate::shader::Program;
use crate::shader::interp::Deadline;
use crate::shader::runtime::Bindings;
use crate::state::{BlendState, DepthStencilState, MultisampleState};

/// One colour attachment of a draw.
#[derive(Clone, Copy)]
pub struct ColorTarget<'a> {
    /// Texels.
    pub plane: PlaneRef<'a>,
    /// Format of the view.
    pub info: &'static FormatInfo,
    /// Blending and write mask.
    pub blend: BlendState,
    /// Output words of the fragment program for red to alpha; `None` where it writes nothing.
    pub outputs: [Option<usize>; 4],
    /// The same for the second source of dual-source blending.
    pub second: [Option<usize>; 4],
    /// How whole waves are exported, when nothing but the colours counts.
    pub words: Option<Words>,
}

/// A draw, as the pixel units see it.
pub struct DrawContext<'a> {
    /// Fragment program.
    pub fragment: Option<&'a Program>,
    /// Its resources.
    pub bindings: &'a Bindings,
    /// Push constants.
    pub push: &'a [u8],
    /// Colour attachments that are written.
    pub colors: Vec<ColorTarget<'a>>,
    /// Depth texels.
    pub depth: Option<PlaneRef<'a>>,
    /// Stencil texels.
    pub stencil: Option<PlaneRef<'a>>,
    /// Bits of depth.
    pub depth_bits: u32,
    /// Depth and stencil tests, dynamic state applied.
    pub tests: Option<DepthStencilState>,
    /// The same, when depth is compared and nothing else, of one sample.
    pub depth_alone: Option<DepthStencilState>,
    /// Multisampling.
    pub multisample: MultisampleState,
    /// Logic operation.
    pub logic_op: Option<vk::LogicOp>,
    /// Blend constants.
    pub blend_constants: [f32; 4],
    /// Pixels that may be written: `[x0, y0, x1, y1]`, the last ones not included.
    pub scissor: [i64; 4],
    /// Samples that passed, when an occlusion query counts.
    pub occlusion: Option<&'a AtomicU64>,
    /// When programs must stop.
    pub deadline: &'a Deadline,
}

impl DrawContext<'_> {
    /// Whether depth and stencil tests come before the fragment program.
    pub fn tests_early(&self) -> bool {
        let Some(program) = self.fragment else { return true };
        let facts = &program.fragment;
        let changes_coverage = facts.may_discard || facts.writes_depth || facts.writes_sample_mask;
        facts.early_tests || !(changes_coverage || self.multisample.alpha_to_coverage || facts.side_effects)
    }

    /// Whether the fragment program runs once for each sample.
    pub fn shades_samples(&self) -> bool {
        let samples = self.multisample.samples as f32;
        let asked = self.multisample.min_sample_shading.is_some_and(|share| share * samples > 1.0);
        self.multisample.samples > 1 && (asked || self.fragment.is_some_and(|program| program.fragment.per_sample))
    }
}
