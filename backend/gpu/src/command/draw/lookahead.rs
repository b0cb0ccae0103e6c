//! Look-ahead: draws are deferred, so that the cull pipe can run for many of them before any is
//! shaded in full, and late draws can hide early ones.
//!
//! Draws of one *segment* are deferred here (`pixel/lookahead.rs` says which draws these are).
//! When a draw of another segment or another command comes, or enough draws are deferred,
//! `replay.rs` runs the cull pipe and draws what remains. Source: DESIGN 3.3.

use std::sync::Arc;

use vitric_base::counters::Counter;

use super::super::context::PassContext;
use super::super::pixel_state::PixelState;
use super::deferred::DeferredDraw;
use super::front_end::DrawJob;
use super::replay::{self, Outcome};
use crate::geometry::{MIN_POSH_PRIMITIVES, Posh, PositionKernel};
use crate::gpu::DeviceLost;
use crate::hiz::EarlyBounds;
use crate::pipeline::CompiledPipeline;
use crate::pixel::{LookaheadRole, LookaheadSegment, PixelContext};
use crate::state::{is_list, vertices};

/// Maximum number of deferred draws.
const MAX_DRAWS: usize = 1 << 12;

/// Maximum number of vertices of a deferred strip or fan, which is assembled in memory.
const MAX_ASSEMBLED_VERTICES: u32 = 1 << 14;

/// Minimum number of primitives of consecutive small draws from which on these are deferred, too.
/// Programs for few draws are then not compiled for the cull pipe.
const MIN_SMALL_PRIMITIVES: usize = 512;

/// Deferred draws, all of one segment.
#[derive(Default)]
pub(super) struct DeferredDraws {
    draws: Vec<DeferredDraw>,
    segment: LookaheadSegment,
    /// Number of primitives of all draws.
    primitives: usize,
    /// Number of primitives of small draws of the pass that were not deferred.
    small: usize,
    /// Hi-Z bounds that hide primitives; kept to reuse the memory.
    early: EarlyBounds,
}

impl DeferredDraws {
    /// Begins a pass, and discards all deferred draws.
    pub(super) fn begin_pass(&mut self) {
        self.draws.clear();
        (self.segment, self.primitives, self.small) = Default::default();
    }

    /// Returns true if no draw is deferred.
    pub(super) fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// Returns the role of a draw that may be deferred, if deferral is expected to pay.
    pub(super) fn deferrable(&mut self, context: &PassContext<'_>, job: &DrawJob<'_>) -> Option<LookaheadRole> {
        let config = context.gpu.config();
        if config.posh == Posh::Off || config.lookahead == 0 {
            return None;
        }
        let role = self.check(context, job);
        if let (Some(counters), Err(obstacle)) = (context.queries.counters(), role) {
            counters.count(obstacle, 1);
        }
        role.ok()
    }

    /// Returns the role of a draw that may be deferred, if deferral is expected to pay.
    ///
    /// # Errors
    /// The counter of the reason for which the draw is not deferred.
    fn check(&mut self, context: &PassContext<'_>, job: &DrawJob<'_>) -> Result<LookaheadRole, Counter> {
        let (config, pipeline, primitives) = (context.gpu.config(), &job.state.pipeline, job.params.primitives());
        let is_first = self.draws.is_empty();
        if is_first {
            self.may_start(config.posh, pipeline, primitives)?;
        }
        // Primitives that a query counts must be drawn.
        if context.queries.occlusion.counter().is_some() || context.counts_vertices() {
            return Err(Counter::PoshNotDeferredOrder);
        }
        let is_in_memory = !is_list(pipeline.topology, vertices(pipeline.topology)) || pipeline.primitive_restart;
        if primitives > config.lookahead || is_in_memory && job.params.count > MAX_ASSEMBLED_VERTICES {
            return Err(Counter::PoshNotDeferredKind);
        }
        let role = (*job.state.role.get_or_init(|| role(context, job)))?;
        if !is_first {
            if self.segment.with(&role).is_some() {
                return Ok(role);
            }
            self.may_start(config.posh, pipeline, primitives)?;
        }
        // Without a draw that may be dropped there is nothing to gain.
        let begun = LookaheadSegment::default().with(&role).and_then(|segment| segment.direction());
        let can_drop = begun.is_some_and(|direction| role.fails.covers(direction));
        if can_drop { Ok(role) } else { Err(Counter::PoshNotDeferredOrder) }
    }

    /// Checks if a draw of a number of primitives may be the first one of a deferral.
    ///
    /// # Errors
    /// The counter of the reason for which it may not.
    fn may_start(&mut self, posh: Posh, pipeline: &CompiledPipeline, primitives: usize) -> Result<(), Counter> {
        if posh == Posh::Always {
            return Ok(());
        }
        if primitives < MIN_POSH_PRIMITIVES && self.small < MIN_SMALL_PRIMITIVES {
            self.small += primitives;
            return Err(Counter::PoshNotDeferredFew);
        }
        // Pauses are known as soon as a program was deferred.
        let is_paused = |kernel: &PositionKernel| kernel.heuristic.skips_deferral(primitives);
        match pipeline.vertex_kernel.known_positions().is_some_and(is_paused) {
            true => Err(Counter::PoshNotDeferredPaused),
            false => Ok(()),
        }
    }

    /// Defers a draw with the role that [`Self::deferrable`] returned.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program of an earlier deferred draw was interrupted.
    pub(super) fn defer(
        &mut self,
        context: &mut PassContext<'_>,
        job: &DrawJob<'_>,
        role: &LookaheadRole,
    ) -> Result<(), DeviceLost> {
        let (primitives, max_primitives) = (job.params.primitives(), context.gpu.config().lookahead);
        let is_full = self.primitives + primitives > max_primitives || self.draws.len() >= MAX_DRAWS;
        if is_full || self.segment.with(role).is_none() {
            self.replay(context)?;
        }
        self.segment = self.segment.with(role).unwrap_or_default();
        self.primitives += primitives;
        self.draws.push(DeferredDraw::new(job));
        Ok(())
    }

    /// Replays all deferred draws and adds their primitives to windows.
    ///
    /// # Errors
    /// [`DeviceLost`] when a program was interrupted.
    pub(super) fn replay(&mut self, context: &mut PassContext<'_>) -> Result<(), DeviceLost> {
        if self.draws.is_empty() {
            return Ok(());
        }
        let Self { mut draws, segment, small, mut early, .. } = std::mem::take(self);
        let suspended = context.queued_time.begin_deferred(context.deadline);
        let done = replay::run(context, &draws, segment, &mut early);
        context.queued_time.end_deferred(context.deadline, &suspended);
        if let (Ok(outcome), Posh::Auto) = (&done, context.gpu.config().posh) {
            record_outcome(&draws, outcome);
        }
        draws.clear();
        *self = Self { draws, early, small, ..Self::default() };
        done.map(drop)
    }
}

/// Records for each program of the draws if deferral paid.
fn record_outcome(draws: &[DeferredDraw], outcome: &Outcome) {
    let mut programs: Vec<(&Arc<CompiledPipeline>, usize)> = Vec::new();
    for draw in draws {
        let (own, primitives) = (&draw.state.pipeline, draw.params.primitives());
        match programs.iter_mut().find(|(pipeline, _)| Arc::ptr_eq(pipeline, own)) {
            Some((_, all)) => *all += primitives,
            None => programs.push((own, primitives)),
        }
    }
    for (pipeline, primitives) in programs {
        pipeline.vertex_kernel.positions(pipeline).heuristic.record_deferral(outcome.pays(), primitives);
    }
}

/// Returns the role of draws with a draw's state, and stores their segment.
///
/// # Errors
/// The counter of the reason for which the draws cannot be deferred.
fn role(context: &PassContext<'_>, job: &DrawJob<'_>) -> Result<LookaheadRole, Counter> {
    let pipeline = &job.state.pipeline;
    let primitives = job.state.contexts.first().ok_or(Counter::PoshNotDeferredKind)?;
    let is_merged = pipeline.merged_kernel.get(pipeline).is_some();
    let is_plain = pipeline.corners() == 3 && primitives.fills_as_placed() && !pipeline.has_side_effects();
    if is_merged || pipeline.patches.is_some() || !is_plain || pipeline.reads_attachments {
        return Err(Counter::PoshNotDeferredKind);
    }
    if context.pass.layers != 1 || context.pending.depth(0).is_none() {
        return Err(Counter::PoshNotDeferredOrder);
    }
    let state = PixelState::of(job.dynamic, pipeline);
    let pixels: PixelContext<'_> = state.context(context.pass, context.deadline, None).with_segment();
    job.state.segment.get_or_init(|| pixels.segment);
    let role = pixels.lookahead_role().ok_or(Counter::PoshNotDeferredOrder)?;
    Ok(if primitives.depths_within_corners { role } else { role.with_unknown_depths() })
}
