//! What the pixel units need to know of a draw, and the attachments they work on.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

use vitric_exec::Program;
use vitric_exec::interp::{Deadline, Working};
use vitric_exec::runtime::{Bindings, Bound, Ranges};
use vitric_memory::PlaneRef;

use super::kernel::{
    Kernel, KernelTraits, Kernels, PrimitiveBatch, Stage, Target, discards_first, shades_samples, tested,
};
use super::rates::Rates;
use super::{BLOCK, any_of};
use crate::geometry::Varies;
use crate::hiz::{Direction, Visibility};
use crate::raster::{Criterion, has_all_samples};
use crate::state::{DepthStencilState, MultisampleState, PipelineState};

/// What all draws of a segment have in common, in which a later primitive may drop an earlier one: the locations that they overwrite, and in
/// which direction they compare depth.
pub type Segment = (u32, Direction);

/// A draw, as the pixel units see it.
pub struct DrawContext<'a> {
    /// What it has in common with others.
    pub pixel: &'a PixelContext<'a>,
    /// Resources of its fragment program.
    pub bindings: &'a Bindings,
    /// Push constants, if the fragment program reads any.
    pub push: &'a [u8],
}

impl<'a> Deref for DrawContext<'a> {
    type Target = PixelContext<'a>;

    #[inline]
    fn deref(&self) -> &PixelContext<'a> {
        self.pixel
    }
}

/// What draws with one state of the pixel units have in common.
pub struct PixelContext<'a> {
    /// Fragment program.
    pub fragment: Option<&'a Program>,
    /// The pipeline's state.
    pub pipeline: &'a PipelineState,
    /// What its fragment program becomes.
    pub kernels: &'a Kernels,
    /// Texels of the colour attachments by location.
    pub colors: Vec<Option<PlaneRef<'a>>>,
    /// Depth texels.
    pub depth: Option<PlaneRef<'a>>,
    /// Stencil texels.
    pub stencil: Option<PlaneRef<'a>>,
    /// Bits of depth.
    pub depth_bits: u32,
    /// Depth and stencil tests, dynamic state applied.
    pub tests: Option<DepthStencilState>,
    /// The same, when depth is compared and nothing else.
    pub depth_alone: Option<DepthStencilState>,
    /// How primitives cover pixels, where it is not by samples.
    pub criterion: Option<Criterion>,
    /// Multisampling.
    pub multisample: MultisampleState,
    /// Where the samples of a pixel lie, units.
    pub locations: Cow<'static, [[i64; 2]]>,
    /// Sizes of fragments, where any may be more than a pixel.
    pub rates: Option<Rates<'a>>,
    /// Blend constants.
    pub blend_constants: [f32; 4],
    /// Locations whose texels fragments overwrite, when nothing else of a fragment shows: no blending, no discarding, no side
    /// effects, no late tests, no look at the covered samples. Then only the newest fragment of a sample counts.
    pub overwrites: Option<u32>,
    /// What it does with the hierarchical visibility structure.
    pub visibility: Visibility,
    /// The segment that it is of, if it is of any.
    pub segment: Option<Segment>,
    /// The attachments' planes, those of colours and that of depth when it is tested, where kernels export themselves.
    pub direct: Option<Ranges>,
    /// Bytes from a row of their lines to the next.
    pub pitches: Vec<u32>,
    /// Pixels that may be written: `[x0, y0, x1, y1]`, the last ones not included.
    pub scissor: [i64; 4],
    /// Whether set-up has cut the pixels of primitives to what their viewports leave of them.
    pub cuts: bool,
    /// Samples that passed, when an occlusion query counts.
    pub occlusion: Option<&'a AtomicU64>,
    /// Whether what later draws hide may be dropped.
    pub drops: bool,
    /// When programs must stop.
    pub deadline: &'a Deadline,
}

impl<'a> PixelContext<'a> {
    /// Begins to shade its fragments, until the result is dropped, unless these wait on the scoreboard. Only programs with loops may run
    /// so long that their time counts.
    pub(super) fn enter(&self, on_scoreboard: bool) -> Option<Working<'a>> {
        let may_run_long = !on_scoreboard && self.fragment.is_some_and(|program| program.code.has_loop());
        may_run_long.then(|| self.deadline.enter()).flatten()
    }

    /// Whether depth and stencil tests come before the fragment program.
    pub fn tests_early(&self) -> bool {
        tests_early(self.fragment, &self.multisample, self.rates.is_some())
    }

    /// Whether the pipeline's sample mask is applied after early tests, and not before.
    pub(super) fn masks_late(&self) -> bool {
        self.tests.is_some() && self.fragment.is_some_and(|program| program.fragment.post_depth)
    }

    /// Whether the program, which runs behind the tests, sees what was covered before them. Source: SPIR-V specification,
    /// `EarlyFragmentTests`, `PostDepthCoverage`; Vulkan specification, "Built-In Variables" (`SampleMask`).
    pub(super) fn sees_untested(&self) -> bool {
        let has_samples = self.multisample.samples > 1 || self.rates.is_some();
        let sees = |program: &Program| {
            let facts = &program.fragment;
            facts.early_tests && facts.sees_coverage && !facts.post_depth
        };
        has_samples && self.tests.is_some() && self.fragment.is_some_and(sees)
    }

    /// What [`Self::overwrites`] is to be.
    fn overwritten(&self) -> Option<u32> {
        let (facts, traits) = (&self.fragment?.fragment, self.traits());
        let shows = facts.may_discard || facts.side_effects || traits.needs_stored || traits.changes_coverage;
        let written = traits.targets.iter().zip(self.targets()).filter(|(_, plane)| plane.is_some());
        let locations = written.fold(0, |locations, ((location, _), _)| locations | 1 << location);
        let sees_coverage = (self.multisample.samples > 1 || self.rates.is_some()) && traits.sees_samples;
        (self.tests_early() && !shows && !sees_coverage).then_some(locations)
    }

    /// Fills in what its draws overwrite and what they do with visibility structures.
    pub fn with_segment(mut self) -> Self {
        self.overwrites = self.overwritten();
        self.visibility = self.seen();
        let locations = if self.fragment.is_none() { Some(0) } else { self.overwrites };
        let segment = locations.zip(self.visibility.tests);
        self.segment = segment.filter(|_| self.visibility.looks_ahead);
        self
    }

    /// Fills in what follows from the rest, and whether fragments are packed into waves always.
    pub fn complete(self, packs_always: bool) -> Self {
        let mut this = self.with_segment();
        let exports_itself = !packs_always && this.rates.is_none();
        if let Some((ranges, pitches)) = this.reached().filter(|_| exports_itself) {
            (this.direct, this.pitches) = (Some(ranges), pitches);
        }
        this
    }

    /// What [`Self::direct`] and [`Self::pitches`] are to be.
    fn reached(&self) -> Option<(Ranges, Vec<u32>)> {
        let reach = |plane: Option<&PlaneRef<'a>>| {
            let plane = plane.filter(|plane| plane.samples() == self.multisample.samples)?;
            let ((memory, start), pitch) = (plane.reach()?, plane.pitch(plane.bytes())?);
            Some((Bound::Buffer(Some(memory.clone()), start, memory.size().saturating_sub(start)), pitch))
        };
        let tested = self.depth_alone.is_some().then_some(self.depth.as_ref());
        let KernelTraits { small, exports_whole, tests_late, .. } = *self.traits();
        let exports = small.is_some() || exports_whole || tests_late;
        let planes = exports.then(|| self.targets().chain(tested))?;
        let (ranges, pitches): (Vec<_>, Vec<_>) = planes.map(reach).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some((Ranges::new(ranges), pitches))
    }

    /// What [`Self::visibility`] is to be.
    fn seen(&self) -> Visibility {
        let tests = self.tests.as_ref().filter(|_| self.depth.is_some());
        let seen = visibility(self.pipeline, tests);
        let nothing_else = self.fragment.is_none() || self.overwrites.is_some();
        let nothing_else = nothing_else && self.drops;
        Visibility { looks_ahead: seen.updates_hiz && nothing_else && self.occlusion.is_none(), ..seen }
    }

    /// Whether the fragment program runs once for each sample.
    pub fn shades_samples(&self) -> bool {
        shades_samples(&self.multisample, self.fragment)
    }

    /// How often the fragment program runs for the samples with these pixels.
    pub(super) fn runs_of(&self, masks: &[u64]) -> u32 {
        if self.shades_samples() { masks.len() as u32 } else { 1 }
    }

    /// How many fragments those of a group are: the pixels where each sample is.
    pub(super) fn fragments_of(&self, masks: &[u64]) -> u32 {
        match self.shades_samples() {
            true => masks.iter().map(|mask| mask.count_ones()).sum(),
            false => any_of(masks).count_ones(),
        }
    }

    /// The fragment kernel for waves of one primitive, or of several.
    pub(super) fn kernel(&self, packed: bool) -> Option<&'a Kernel> {
        self.kernels.get(self.pipeline, packed)
    }

    /// The kernel for waves of fragments of several pixels.
    pub(super) fn coarse_kernel(&self) -> Option<&'a Kernel> {
        self.kernels.coarse(self.pipeline)
    }

    /// The kernel for groups of one primitive.
    pub(super) fn group_kernel(&self) -> Option<&'a Stage> {
        self.kernels.group(self.pipeline)
    }

    /// Whether an area of a tile cuts no blocks that small primitives are drawn in: kernels store all of a block, and beside an area that is
    /// drawn to others may store at the same time.
    pub(super) fn has_whole_blocks(&self, area: [i64; 4]) -> bool {
        let planes = self.targets().flatten().chain(&self.depth);
        cuts_no_block(area, planes.map(|plane| [plane.width(), plane.height()]))
    }

    /// The kernel for small primitives, where it does all that is to be done; it may count. It is told what changes within those.
    pub(super) fn primitive_kernel(&self, counts: bool, kind: (PrimitiveBatch, Varies)) -> Option<&'a Stage> {
        let (kernels, pipeline, depth_bits) = (self.kernels, self.pipeline, self.depth_bits);
        self.tests_in_kernels().then(|| kernels.primitive(pipeline, (depth_bits, counts), kind)).flatten()
    }

    /// The same for pixels of tiny ones.
    pub(super) fn mixed_kernel(&self, counts: bool, varies: Varies) -> Option<&'a Stage> {
        let (kernels, kind) = (self.kernels, (self.depth_bits, counts));
        self.tests_in_kernels().then(|| kernels.mixed(self.pipeline, kind, varies)).flatten()
    }

    /// The kernel for groups of one primitive whose fragments are tested behind the program, where it does all that is to be done; it may
    /// count.
    pub(super) fn late_kernel(&self, counts: bool) -> Option<&'a Stage> {
        self.tests_in_kernels().then(|| self.kernels.late(self.pipeline, (self.depth_bits, counts))).flatten()
    }

    /// Whether fragments are tested and written when it is known which the program discards.
    pub(super) fn discards_first(&self) -> bool {
        self.fragment.is_some_and(discards_first)
    }

    /// Whether kernels may test fragments on their own.
    fn tests_in_kernels(&self) -> bool {
        // What else tests say, and may be dynamic, concerns other tests.
        let depth = |tests: DepthStencilState| (tests.depth_test, tests.depth_write, tests.depth_compare);
        let as_linked = self.tests.map(depth) == tested(self.pipeline).map(depth);
        let serves = as_linked && self.rates.is_none() && (self.tests.is_none() || self.depth_alone.is_some());
        serves && self.occlusion.is_none() && self.criterion.is_none()
    }

    /// The kernel for whole groups of one primitive.
    pub(super) fn whole_kernel(&self) -> Option<&'a Stage> {
        self.kernels.whole(self.pipeline)
    }

    pub(super) fn traits(&self) -> &'a KernelTraits {
        self.kernels.traits(self.pipeline)
    }

    /// Conservative rasterization: pixels that primitives touch, or those that they cover fully.
    pub(super) fn is_conservative(&self) -> bool {
        matches!(self.criterion, Some(Criterion::Conservative | Criterion::Interior))
    }

    /// The criterion by which cells are covered with all their pixels.
    pub(super) fn wholly(&self) -> Criterion {
        match self.criterion {
            Some(Criterion::Interior) => Criterion::Interior,
            _ => Criterion::Inner,
        }
    }

    /// The texels of the attachments that kernels write; `None` where they are not as the pipeline says.
    pub(super) fn targets(&self) -> impl Iterator<Item = Option<&PlaneRef<'a>>> {
        let plane = |&(location, bytes): &(usize, usize)| {
            self.colors.get(location)?.as_ref().filter(|plane| plane.bytes() == bytes)
        };
        self.traits().targets.iter().map(plane)
    }

    /// The texels of an attachment that a kernel exports to; `None` where they are not as the pipeline says.
    pub(super) fn color(&self, target: &Target) -> Option<&PlaneRef<'a>> {
        let plane = self.colors.get(target.location)?.as_ref();
        plane.filter(|plane| plane.bytes() == target.bytes)
    }
}

/// Whether an area `[x0, y0, x1, y1]` has all of the blocks that it has a pixel of, in planes of these sizes.
fn cuts_no_block([x0, y0, x1, y1]: [i64; 4], mut sizes: impl Iterator<Item = [u32; 2]>) -> bool {
    let is_between = |edge: i64| edge % BLOCK == 0;
    let ends = |edge: i64, size: u32| is_between(edge) || edge >= size.into();
    is_between(x0) && is_between(y0) && sizes.all(|[width, height]| ends(x1, width) && ends(y1, height))
}

/// Whether an area `[x0, y0, x1, y1]` has some pixels of a block, and others not.
pub(super) fn cuts_blocks(area: [i64; 4]) -> bool {
    area.iter().any(|edge| edge % BLOCK != 0)
}

/// Whether depth and stencil tests come before a fragment program.
fn tests_early(program: Option<&Program>, multisample: &MultisampleState, has_rates: bool) -> bool {
    let Some(program) = program else { return true };
    let facts = &program.fragment;
    let changes_coverage = facts.may_discard || facts.writes_depth || facts.writes_sample_mask || facts.writes_stencil;
    // What is covered is seen before tests.
    let changes_coverage = changes_coverage || (facts.sees_coverage && (multisample.samples > 1 || has_rates));
    facts.early_tests || !(changes_coverage || multisample.alpha_to_coverage || facts.side_effects)
}

/// What draws with a pipeline do with the visibility structure of the depths that they are tested against, each primitive on its own.
pub fn visibility(pipeline: &PipelineState, tests: Option<&DepthStencilState>) -> Visibility {
    let Some(tests) = tests.filter(|tests| tests.depth_test) else { return Visibility::default() };
    let (program, multisample) = (pipeline.fragment.as_deref(), &pipeline.multisample);
    let (direction, early) = (Direction::of(tests.depth_compare), tests_early(program, multisample, false));
    let facts = program.map(|program| program.fragment).unwrap_or_default();
    // What fails the depth test must show nowhere else.
    let shows = tests.stencil_test || (!early && (facts.side_effects || facts.writes_depth));
    let certain = early && !tests.stencil_test && !tests.depth_bounds_test && has_all_samples(multisample);
    Visibility {
        tests: direction.filter(|_| !shows),
        updates_hiz: tests.depth_write && certain && direction.is_some(),
        looks_ahead: false,
        writes: tests.depth_write.then_some(tests.depth_compare),
    }
}

#[cfg(test)]
mod tests {
    use super::cuts_no_block;

    #[test]
    fn blocks_are_cut_where_areas_end_between_their_edges() {
        let sizes = [[150, 100], [149, 130]];
        let cuts = |area| !cuts_no_block(area, sizes.into_iter());
        assert!(!cuts([0, 64, 64, 100]) && !cuts([128, 64, 150, 100]) && !cuts([64, 0, 128, 64]));
        assert!(cuts([2, 64, 64, 100]) && cuts([0, 63, 64, 100]) && cuts([0, 0, 62, 64]) && cuts([0, 0, 64, 34]));
        // It ends with one plane and within another.
        assert!(cuts([128, 0, 149, 64]) && cuts([64, 64, 128, 110]));
    }
}
