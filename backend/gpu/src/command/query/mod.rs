//! Queries: their pools, the active queries of a submission, and the commands that begin, end and
//! copy them.
//!
//! Source: Vulkan specification, "Queries".

mod active;
mod pool;

use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use vitric_base::counters::{Counter, Counters, DrawSample, SampleKind, Sampler};
use vitric_memory::InUse;

use super::Command;
use super::time::WAIT_TIMEOUT;
use crate::gpu::Gpu;

pub(super) use active::{OcclusionQueries, StatisticsQueries, StreamPrimitives, StreamQueries};
pub use pool::{QueryKind, QueryPool, QueryResult};

/// Active queries and counters of a submission.
pub(super) struct Queries {
    pub(super) occlusion: OcclusionQueries,
    pub(super) statistics: StatisticsQueries,
    pub(super) streams: StreamQueries,
    /// Number of the subpass's views that were rendered before the current one. Each view has its
    /// own queries.
    pub(super) view_number: u32,
    /// Sampler of counters, if the GPU counts.
    sampler: Option<Sampler>,
}

impl Queries {
    /// Creates the queries of a submission that begins now. No query is active.
    pub(super) fn new(gpu: &Gpu) -> Self {
        Self {
            occlusion: OcclusionQueries::default(),
            statistics: StatisticsQueries::default(),
            streams: StreamQueries::default(),
            view_number: 0,
            sampler: gpu.counters().map(|counters| Sampler::new(gpu.now(), counters)),
        }
    }

    /// Returns the counters of the active query, or of the submission. When a query ends, its
    /// counts are added to the counters of the submission.
    pub(super) fn counters(&self) -> Option<&Arc<Counters>> {
        self.statistics.counters().or(self.sampler.as_ref().map(|sampler| &sampler.counters))
    }

    /// Begins a sample of the counters.
    pub(super) fn begin_sample(&mut self, kind: SampleKind, gpu: &Gpu) {
        let query = self.statistics.counters().map(|counters| &**counters);
        if let Some(sampler) = &mut self.sampler {
            sampler.begin(kind, gpu.now(), query);
        }
    }

    /// Ends the sample that [`Self::begin_sample`] has begun.
    pub(super) fn end_sample(&mut self, gpu: &Gpu) {
        let query = self.statistics.counters().map(|counters| &**counters);
        if let Some(sampler) = &mut self.sampler {
            sampler.end(gpu.now(), query);
        }
    }

    /// Begins a draw's sample and returns its number, if the GPU counts.
    pub(super) fn begin_draw_sample(&mut self) -> Option<DrawSample> {
        let query = self.statistics.counters().map(|counters| &**counters);
        self.sampler.as_mut().and_then(|sampler| sampler.begin_draw(query))
    }

    /// Assigns the counts of the front end since the last call to a draw, or to no draw.
    pub(super) fn add_to_sample(&mut self, draw: Option<DrawSample>) {
        let query = self.statistics.counters().map(|counters| &**counters);
        if let Some(sampler) = &mut self.sampler {
            sampler.add_to_draw(draw, query);
        }
    }

    /// Ends the submission and adds its counts to the counters of the GPU.
    pub(super) fn finish(&mut self, gpu: &Gpu, in_use: Option<&InUse<'_>>) {
        self.statistics = StatisticsQueries::default();
        if let (Some(sampler), Some(all)) = (self.sampler.take(), gpu.counters()) {
            sampler.counters.count(Counter::SpansRestored, in_use.map_or(0, InUse::restored));
            sampler.finish(gpu.now(), all);
        }
    }

    /// Executes a command of queries. Returns false for all other commands.
    pub(super) fn execute(&mut self, gpu: &Gpu, command: &Command) -> bool {
        match command {
            Command::BeginQuery { pool, query, stream, .. } => self.begin(pool.clone(), *query, *stream),
            Command::EndQuery { pool, query, stream } => self.end(pool, *query, *stream),
            Command::ResetQueryPool { pool, first, count } => pool.reset(*first, *count),
            Command::WriteTimestamp { pool, query } => {
                pool.write(query.saturating_add(self.view_number), &[gpu.now()]);
            }
            Command::CopyQueryPoolResults { pool, first, count, target, offset, stride, flags } => {
                let until = Instant::now() + WAIT_TIMEOUT;
                // Earlier submissions to this queue are complete, so only other queues may still
                // end a query.
                let give_up = || gpu.is_alone() || gpu.ends_waits() || Instant::now() >= until;
                for (index, query) in (*first..pool.count()).take(*count as usize).enumerate() {
                    let result = pool.result(query, *flags, give_up);
                    if !result.available && flags.contains(vk::QueryResultFlags::WAIT) {
                        log::warn!(
                            target: "vitric",
                            "results of query {query} are copied, which nothing has ended: there are none"
                        );
                    }
                    let at = offset.saturating_add(stride.saturating_mul(index as u64));
                    target.write(at.saturating_add(result.at as u64), &result.bytes);
                }
            }
            _ => return false,
        }
        true
    }

    fn begin(&mut self, pool: Arc<QueryPool>, query: u32, stream: u32) {
        let query = query.saturating_add(self.view_number);
        match pool.kind() {
            QueryKind::Stream | QueryKind::Generated | QueryKind::MeshPrimitives => {
                self.streams.begin(pool, query, stream);
            }
            QueryKind::Statistics(_) => {
                let sampled = self.sampler.as_ref().map(|sampler| sampler.counters.of_part());
                self.statistics.begin(pool, query, || sampled.unwrap_or_else(Counters::without_maps));
            }
            _ => self.occlusion.begin(pool, query),
        }
    }

    fn end(&mut self, pool: &Arc<QueryPool>, query: u32, stream: u32) {
        let query = query.saturating_add(self.view_number);
        match pool.kind() {
            QueryKind::Stream | QueryKind::Generated | QueryKind::MeshPrimitives => {
                self.streams.end(pool, query, stream);
            }
            QueryKind::Statistics(_) => {
                let Some(counters) = self.statistics.end(pool, query) else { return };
                if let Some(sampler) = &self.sampler {
                    sampler.counters.add(&counters);
                }
            }
            _ => self.occlusion.end(pool, query),
        }
    }
}
