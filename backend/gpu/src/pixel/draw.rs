//! State of a draw that the pixel back end needs, including its attachments.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

use vitric_exec::Program;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Deadline, WorkerGuard};
use vitric_exec::runtime::{Bound, Ranges};
use vitric_memory::PlaneRef;

use super::kernel::{
    BatchTraits, Kernel, KernelOptions, KernelTraits, Kernels, Stage, Target, discards_first, shades_samples, tested,
};
use super::rates::Rates;
use super::{BLOCK, any_of};
use crate::geometry::Varies;
use crate::hiz::{DepthDirection, DepthFormat, Visibility};
use crate::raster::{Coverage, Criterion, has_all_samples};
use crate::state::{DepthStencilState, MultisampleState, PipelineState};

/// Key of a segment: locations that all its draws overwrite, and their direction of depth
/// comparison.
///
/// Later primitives of a segment may hide earlier ones.
pub type Segment = (u32, DepthDirection);

/// A draw as the pixel back end sees it.
pub struct DrawContext<'a> {
    /// State that the draw shares with other draws.
    pub pixel: &'a PixelContext<'a>,
    /// Resources of the fragment program.
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

/// State that draws share if their state of the pixel back end is equal.
pub struct PixelContext<'a> {
    /// Fragment program.
    pub fragment: Option<&'a Program>,
    /// State of the pipeline.
    pub pipeline: &'a PipelineState,
    /// Kernels made of the fragment program.
    pub kernels: &'a Kernels,
    /// Texels of the colour attachments by location.
    pub colors: Vec<Option<PlaneRef<'a>>>,
    /// Texels of the depth attachment.
    pub depth: Option<PlaneRef<'a>>,
    /// Texels of the stencil attachment.
    pub stencil: Option<PlaneRef<'a>>,
    /// Bits of a depth.
    pub depth_bits: u32,
    /// Depth and stencil tests with dynamic state applied.
    pub tests: Option<DepthStencilState>,
    /// Equals `tests` if depth comparison is the only test.
    pub depth_alone: Option<DepthStencilState>,
    /// Coverage criterion, if coverage is not determined by samples.
    pub criterion: Option<Criterion>,
    /// Evaluation of coverage.
    pub coverage: Coverage,
    /// Multisample state.
    pub multisample: MultisampleState,
    /// Locations of the samples in a pixel, in `UNITS`.
    pub locations: Cow<'static, [[i64; 2]]>,
    /// Sizes of fragments, if any fragment may be larger than a pixel.
    pub rates: Option<Rates<'a>>,
    /// Blend constants.
    pub blend_constants: [f32; 4],
    /// Mask of the locations that fragments overwrite, if a fragment has no other effect.
    ///
    /// This excludes blending, reads of attachments, discarding, side effects, late tests and
    /// programs that read coverage. Then only the newest fragment of a sample is visible.
    pub overwrites: Option<u32>,
    /// Use of the Hi-Z structure by the draw.
    pub visibility: Visibility,
    /// Segment of the draw, if it has one.
    pub segment: Option<Segment>,
    /// Attachment planes for kernels that export directly: the colour planes, then the depth plane
    /// if depth is tested.
    pub direct: Option<Ranges>,
    /// Bytes from one row of lines to the next, for each plane of `direct`.
    pub pitches: Vec<u32>,
    /// Pixels that may be written: `[x0, y0, x1, y1]`, end exclusive.
    pub scissor: [i64; 4],
    /// True if set-up has clipped the pixels of primitives to their viewports.
    pub cuts: bool,
    /// Counter of samples that passed, if an occlusion query is active.
    pub occlusion: Option<&'a AtomicU64>,
    /// True if fragments that later draws hide may be dropped.
    pub drops: bool,
    /// Deadline of the draw's programs.
    pub deadline: &'a Deadline,
}

impl<'a> PixelContext<'a> {
    /// Starts to measure the time that fragments are shaded, until the result is dropped. Returns
    /// `None` if they wait on the scoreboard.
    ///
    /// Only programs with loops may run long enough that their time matters.
    pub(super) fn enter(&self, on_scoreboard: bool) -> Option<WorkerGuard<'a>> {
        let may_run_long = !on_scoreboard && self.fragment.is_some_and(|program| program.code.has_loop());
        may_run_long.then(|| self.deadline.enter()).flatten()
    }

    /// Returns the format of the depth attachment.
    #[inline]
    pub(super) fn depth_format(&self) -> DepthFormat {
        DepthFormat { bits: self.depth_bits, samples: self.multisample.samples }
    }

    /// Returns true if fragments are shaded. They are not if there is no program, or if it would
    /// have no effect, because write masks exclude all that it writes.
    #[inline]
    pub(super) fn shades(&self) -> bool {
        self.fragment.is_some() && self.overwrites != Some(0)
    }

    /// Returns true if depth and stencil tests come before the fragment program.
    pub fn tests_early(&self) -> bool {
        tests_early(self.fragment, &self.multisample, self.rates.is_some())
    }

    /// Returns true if the pipeline's sample mask is applied after early tests instead of before
    /// them.
    pub(super) fn masks_late(&self) -> bool {
        self.tests.is_some() && self.fragment.is_some_and(|program| program.fragment.post_depth)
    }

    /// Returns true if the program runs after the tests but reads the coverage from before them.
    ///
    /// Source: SPIR-V specification, `EarlyFragmentTests`, `PostDepthCoverage`; Vulkan
    /// specification, "Built-In Variables" (`SampleMask`).
    pub(super) fn sees_untested(&self) -> bool {
        let has_samples = self.multisample.samples > 1 || self.rates.is_some();
        let sees = |program: &Program| {
            let facts = &program.fragment;
            facts.early_tests && facts.sees_coverage && !facts.post_depth
        };
        has_samples && self.tests.is_some() && self.fragment.is_some_and(sees)
    }

    /// Computes [`Self::overwrites`].
    fn overwritten(&self) -> Option<u32> {
        let (facts, traits) = (&self.fragment?.fragment, self.traits());
        let shows = facts.may_discard || facts.side_effects || traits.changes_coverage;
        let is_ordered = facts.interlock || traits.needs_stored;
        let written = traits.targets.iter().zip(self.targets()).filter(|(_, plane)| plane.is_some());
        let locations = written.fold(0, |locations, ((location, _), _)| locations | 1 << location);
        let sees_coverage = (self.multisample.samples > 1 || self.rates.is_some()) && traits.sees_samples;
        (self.tests_early() && !shows && !is_ordered && !sees_coverage).then_some(locations)
    }

    /// Fills in the overwritten locations, the use of Hi-Z and the segment.
    pub fn with_segment(mut self) -> Self {
        self.overwrites = self.overwritten();
        self.visibility = self.effective_visibility();
        let locations = if self.fragment.is_none() { Some(0) } else { self.overwrites };
        let segment = locations.zip(self.visibility.tests);
        self.segment = segment.filter(|_| self.visibility.looks_ahead);
        self
    }

    /// Fills in all derived fields. With `packs_always`, fragments always go through packed waves.
    pub fn complete(self, packs_always: bool) -> Self {
        let mut this = self.with_segment();
        let exports_itself = !packs_always && this.rates.is_none();
        if let Some((ranges, pitches)) = this.reached().filter(|_| exports_itself) {
            (this.direct, this.pitches) = (Some(ranges), pitches);
        }
        this
    }

    /// Computes [`Self::direct`] and [`Self::pitches`].
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

    /// Computes [`Self::visibility`].
    fn effective_visibility(&self) -> Visibility {
        let tests = self.tests.as_ref().filter(|_| self.depth.is_some());
        let alone = visibility(self.pipeline, tests);
        let nothing_else = self.fragment.is_none() || self.overwrites.is_some();
        let nothing_else = nothing_else && self.drops;
        Visibility { looks_ahead: alone.updates_hiz && nothing_else && self.occlusion.is_none(), ..alone }
    }

    /// Returns true if the fragment program runs once for each sample.
    pub fn shades_samples(&self) -> bool {
        shades_samples(&self.multisample, self.fragment)
    }

    /// Returns the number of program runs for samples with the pixel masks `masks`.
    pub(super) fn runs_of(&self, masks: &[u64]) -> u32 {
        if self.shades_samples() { masks.len() as u32 } else { 1 }
    }

    /// Returns the number of fragments in a group. `masks` are the covered pixels of each sample.
    pub(super) fn fragments_of(&self, masks: &[u64]) -> u32 {
        match self.shades_samples() {
            true => masks.iter().map(|mask| mask.count_ones()).sum(),
            false => any_of(masks).count_ones(),
        }
    }

    /// Returns the fragment kernel for waves that are `packed` of several primitives, or for waves
    /// of one.
    pub(super) fn kernel(&self, packed: bool) -> Option<&'a Kernel> {
        self.kernels.get(self.pipeline, packed)
    }

    /// Returns the kernel for waves of fragments that span several pixels.
    pub(super) fn coarse_kernel(&self) -> Option<&'a Kernel> {
        self.kernels.coarse(self.pipeline)
    }

    /// Returns the kernel for partially covered groups of one primitive.
    pub(super) fn group_kernel(&self) -> Option<&'a Stage> {
        self.kernels.group(self.pipeline)
    }

    /// Returns true if an area of a tile cuts no blocks of small primitives.
    ///
    /// Kernels store whole blocks. Another thread may write at the same time next to the area that
    /// is drawn to.
    pub(super) fn has_whole_blocks(&self, area: [i64; 4]) -> bool {
        let planes = self.targets().flatten().chain(&self.depth);
        cuts_no_block(area, planes.map(|plane| [plane.width(), plane.height()]))
    }

    /// Returns the kernel for small primitives, or `None` if it cannot run all tests.
    ///
    /// With `counts`, the kernel counts.
    pub(super) fn primitive_kernel(&self, counts: bool, batch: BatchTraits) -> Option<&'a Stage> {
        let (kernels, options) = (self.kernels, self.kernel_options(counts));
        self.tests_in_kernels().then(|| kernels.primitive(self.pipeline, options, batch)).flatten()
    }

    fn kernel_options(&self, counts: bool) -> KernelOptions {
        KernelOptions { depth_bits: self.depth_bits, counts }
    }

    /// Returns the kernel for pixels of tiny primitives, or `None` if it cannot run all tests.
    pub(super) fn mixed_kernel(&self, counts: bool, varies: Varies) -> Option<&'a Stage> {
        let (kernels, options) = (self.kernels, self.kernel_options(counts));
        self.tests_in_kernels().then(|| kernels.mixed(self.pipeline, options, varies)).flatten()
    }

    /// Returns the kernel for groups of one primitive that are tested after the program, or `None`
    /// if it cannot run all tests.
    pub(super) fn late_kernel(&self, counts: bool) -> Option<&'a Stage> {
        self.tests_in_kernels().then(|| self.kernels.late(self.pipeline, self.kernel_options(counts))).flatten()
    }

    /// Returns true if fragments are tested and written only after the program has discarded some.
    pub(super) fn discards_first(&self) -> bool {
        self.fragment.is_some_and(discards_first)
    }

    /// Returns true if kernels can test fragments without help.
    fn tests_in_kernels(&self) -> bool {
        // The other fields, which may be dynamic, do not matter because they belong to other
        // tests.
        let depth = |tests: DepthStencilState| (tests.depth_test, tests.depth_write, tests.depth_compare);
        let as_linked = self.tests.map(depth) == tested(self.pipeline).map(depth);
        let serves = as_linked && self.rates.is_none() && (self.tests.is_none() || self.depth_alone.is_some());
        serves && self.occlusion.is_none() && self.criterion.is_none()
    }

    /// Returns the kernel for fully covered groups of one primitive.
    pub(super) fn whole_kernel(&self) -> Option<&'a Stage> {
        self.kernels.whole(self.pipeline)
    }

    pub(super) fn traits(&self) -> &'a KernelTraits {
        self.kernels.traits(self.pipeline)
    }

    /// Returns true with conservative rasterization, which covers touched pixels or fully covered
    /// pixels.
    pub(super) fn is_conservative(&self) -> bool {
        matches!(self.criterion, Some(Criterion::Touching | Criterion::Interior))
    }

    /// Returns the criterion that a cell must meet for any of its pixels to be covered.
    pub(super) fn outer_criterion(&self) -> Criterion {
        match self.criterion {
            Some(Criterion::Touching) => Criterion::Touching,
            _ => Criterion::Conservative,
        }
    }

    /// Returns the criterion that a cell must meet for all its pixels to be covered.
    pub(super) fn inner_criterion(&self) -> Criterion {
        Criterion::of_full_cells(self.criterion)
    }

    /// Returns the planes of the attachments that kernels write, with `None` where a plane does
    /// not match the pipeline.
    pub(super) fn targets(&self) -> impl Iterator<Item = Option<&PlaneRef<'a>>> {
        let plane = |&(location, bytes): &(usize, usize)| {
            self.colors.get(location)?.as_ref().filter(|plane| plane.bytes() == bytes)
        };
        self.traits().targets.iter().map(plane)
    }

    /// Returns the plane that a kernel exports to, or `None` if it does not match the pipeline.
    pub(super) fn color(&self, target: &Target) -> Option<&PlaneRef<'a>> {
        let plane = self.colors.get(target.location)?.as_ref();
        plane.filter(|plane| plane.bytes() == target.bytes)
    }
}

/// Returns true if no block is partly in an area `[x0, y0, x1, y1]`, for planes of these sizes.
fn cuts_no_block([x0, y0, x1, y1]: [i64; 4], mut sizes: impl Iterator<Item = [u32; 2]>) -> bool {
    let is_between = |edge: i64| edge % BLOCK == 0;
    let ends = |edge: i64, size: u32| is_between(edge) || edge >= size.into();
    is_between(x0) && is_between(y0) && sizes.all(|[width, height]| ends(x1, width) && ends(y1, height))
}

/// Returns true if an edge of an area `[x0, y0, x1, y1]` lies within a block.
pub(super) fn cuts_blocks(area: [i64; 4]) -> bool {
    area.iter().any(|edge| edge % BLOCK != 0)
}

/// Returns true if depth and stencil tests come before a fragment program.
fn tests_early(program: Option<&Program>, multisample: &MultisampleState, has_rates: bool) -> bool {
    let Some(program) = program else { return true };
    let facts = &program.fragment;
    let changes_coverage = facts.may_discard || facts.writes_depth || facts.writes_sample_mask || facts.writes_stencil;
    // Programs read coverage from before the tests.
    let changes_coverage = changes_coverage || (facts.sees_coverage && (multisample.samples > 1 || has_rates));
    facts.early_tests || !(changes_coverage || multisample.alpha_to_coverage || facts.side_effects)
}

/// Returns how draws with a pipeline use the Hi-Z structure of their depth attachment, without
/// regard to other primitives.
pub fn visibility(pipeline: &PipelineState, tests: Option<&DepthStencilState>) -> Visibility {
    let Some(tests) = tests.filter(|tests| tests.depth_test) else { return Visibility::default() };
    let (program, multisample) = (pipeline.fragment.as_deref(), &pipeline.multisample);
    let (direction, early) = (DepthDirection::of(tests.depth_compare), tests_early(program, multisample, false));
    let facts = program.map(|program| program.fragment).unwrap_or_default();
    // Primitives that fail the depth test must have no other effect.
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
        // The area ends at the edge of one plane and inside the other.
        assert!(cuts([128, 0, 149, 64]) && cuts([64, 64, 128, 110]));
    }
}
