//! The running render pass as draws see it.

use std::sync::Arc;

use vitric_exec::interp::Deadline;

use super::feedback::FeedbackState;
use super::pass::Pass;
use super::pending::PendingDraws;
use super::query::Queries;
use super::time::QueuedTime;
use crate::geometry::{CapturePlan, Captured, FrontScratch};
use crate::gpu::Gpu;
use crate::pipeline::CompiledPipeline;

/// The running render pass with the units that its draws use, borrowed from the command processor
/// for one command.
pub(super) struct PassContext<'p> {
    pub(super) gpu: &'p Gpu,
    pub(super) pass: &'p Pass,
    /// Draws of the pass that are queued for the tile pass.
    pub(super) pending: &'p mut PendingDraws,
    /// Time limit of the programs of the running command.
    pub(super) deadline: &'p Arc<Deadline>,
    /// Unused time of commands whose work is queued.
    pub(super) queued_time: &'p mut QueuedTime,
    pub(super) queries: &'p mut Queries,
    pub(super) feedback: &'p mut FeedbackState,
    /// Scratch memory of the front end.
    pub(super) front: &'p mut FrontScratch,
}

impl PassContext<'_> {
    /// Returns true if all vertices must be processed, including those of invisible primitives.
    pub(super) fn counts_vertices(&self) -> bool {
        let Self { queries, feedback, .. } = self;
        queries.statistics.counters().is_some() || feedback.is_active() || !queries.streams.is_empty()
    }

    /// Returns the plan of the vertex data to capture for a pipeline. If only a query is active,
    /// the plan counts primitives and captures nothing.
    pub(super) fn capture_plan(&self, pipeline: &CompiledPipeline) -> Option<CapturePlan> {
        let (corners, last) = (pipeline.corners(), pipeline.raster.provoking_last);
        if self.feedback.is_active() {
            return Some(CapturePlan::new(pipeline.last(), corners, last));
        }
        self.queries.streams.counts_generated().then(|| CapturePlan::counting(corners, last))
    }

    /// Writes the captured vertices of a chunk of a draw behind those of all earlier chunks, and
    /// counts them in queries.
    pub(super) fn write_captured(&mut self, plan: &CapturePlan, captured: &Captured) {
        self.feedback.write_captured(&mut self.queries.streams, plan, captured);
    }
}
