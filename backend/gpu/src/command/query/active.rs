//! Active queries: their counts when they began, and the counters that run for them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ash::vk;
use vitric_base::counters::{Counter, Counters, Counts};

use super::pool::{QueryKind, QueryPool};

/// Returns the counter of a statistic; `None` for statistics of stages that are not supported.
fn counter(statistic: vk::QueryPipelineStatisticFlags) -> Option<Counter> {
    type Flags = vk::QueryPipelineStatisticFlags;
    Some(match statistic {
        Flags::INPUT_ASSEMBLY_VERTICES => Counter::InputVertices,
        Flags::INPUT_ASSEMBLY_PRIMITIVES => Counter::InputPrimitives,
        Flags::VERTEX_SHADER_INVOCATIONS => Counter::Vertices,
        Flags::GEOMETRY_SHADER_INVOCATIONS => Counter::GeometryInvocations,
        Flags::GEOMETRY_SHADER_PRIMITIVES => Counter::GeometryPrimitives,
        Flags::TASK_SHADER_INVOCATIONS_EXT => Counter::TaskInvocations,
        Flags::MESH_SHADER_INVOCATIONS_EXT => Counter::MeshInvocations,
        Flags::TESSELLATION_CONTROL_SHADER_PATCHES => Counter::Patches,
        Flags::TESSELLATION_EVALUATION_SHADER_INVOCATIONS => Counter::EvaluatedVertices,
        Flags::CLIPPING_INVOCATIONS => Counter::ClipInputs,
        Flags::CLIPPING_PRIMITIVES => Counter::ClipOutputs,
        Flags::FRAGMENT_SHADER_INVOCATIONS => Counter::Lanes,
        Flags::COMPUTE_SHADER_INVOCATIONS => Counter::Invocations,
        _ => return None,
    })
}

/// Returns the named statistics from `counts`, in the order of their bits. Source: Vulkan
/// specification, "Pipeline Statistics Queries".
fn statistics(named: vk::QueryPipelineStatisticFlags, counts: &Counts) -> Vec<u64> {
    let bits = (0..u32::BITS).map(|bit| vk::QueryPipelineStatisticFlags::from_raw(1 << bit));
    bits.filter(|&bit| named.contains(bit))
        .map(|bit| counter(bit).map_or(0, |counter| counts[counter as usize]))
        .collect()
}

/// An active query, and the count when it began.
#[derive(Debug)]
struct ActiveQuery<C> {
    pool: Arc<QueryPool>,
    query: u32,
    begin: C,
}

/// Removes a query from the active queries and returns the count when it began.
fn take<C>(active: &mut Vec<ActiveQuery<C>>, pool: &Arc<QueryPool>, query: u32) -> Option<C> {
    let at = active.iter().position(|active| Arc::ptr_eq(&active.pool, pool) && active.query == query)?;
    Some(active.swap_remove(at).begin)
}

/// Active occlusion queries. Vulkan allows one, but layers begin several and GPUs support them.
#[derive(Debug, Default)]
pub(in crate::command) struct OcclusionQueries {
    samples: AtomicU64,
    active: Vec<ActiveQuery<u64>>,
}

impl OcclusionQueries {
    /// Returns the counter of samples that pass if a query is active.
    pub(in crate::command) fn counter(&self) -> Option<&AtomicU64> {
        (!self.active.is_empty()).then_some(&self.samples)
    }

    /// Begins a query. An active query is restarted.
    pub(in crate::command) fn begin(&mut self, pool: Arc<QueryPool>, query: u32) {
        take(&mut self.active, &pool, query);
        let begin = *self.samples.get_mut();
        self.active.push(ActiveQuery { pool, query, begin });
    }

    /// Ends a query. Does nothing if the query is not active.
    pub(in crate::command) fn end(&mut self, pool: &Arc<QueryPool>, query: u32) {
        if let Some(begin) = take(&mut self.active, pool, query) {
            pool.write(query, &[*self.samples.get_mut() - begin]);
        }
    }
}

/// Active queries of pipeline statistics. Several may be active, as with occlusion queries.
#[derive(Debug, Default)]
pub(in crate::command) struct StatisticsQueries {
    counters: Option<Arc<Counters>>,
    active: Vec<ActiveQuery<Counts>>,
}

impl StatisticsQueries {
    /// Returns the counters of the active queries, if there are any.
    pub(in crate::command) fn counters(&self) -> Option<&Arc<Counters>> {
        self.counters.as_ref()
    }

    /// Begins a query. An active query is restarted. The first active query uses new counters.
    pub(in crate::command) fn begin(&mut self, pool: Arc<QueryPool>, query: u32, new: impl FnOnce() -> Counters) {
        take(&mut self.active, &pool, query);
        let counters = self.counters.get_or_insert_with(|| Arc::new(new()));
        self.active.push(ActiveQuery { pool, query, begin: counters.values() });
    }

    /// Ends a query. Returns the counters if no query is active any more.
    pub(in crate::command) fn end(&mut self, pool: &Arc<QueryPool>, query: u32) -> Option<Arc<Counters>> {
        let begin = take(&mut self.active, pool, query)?;
        let mut counts = self.counters.as_ref()?.values();
        counts.iter_mut().zip(begin).for_each(|(count, begin)| *count = count.saturating_sub(begin));
        if let QueryKind::Statistics(named) = pool.kind() {
            pool.write(query, &statistics(named, &counts));
        }
        self.counters.take_if(|_| self.active.is_empty())
    }
}

/// Primitives of a stream that a chunk of a draw has produced.
pub(in crate::command) struct StreamPrimitives {
    /// Primitives that transform feedback has written.
    pub(in crate::command) written: u64,
    /// Primitives that it would have written with sufficient space.
    pub(in crate::command) needed: u64,
    /// True if transform feedback is active.
    pub(in crate::command) is_capturing: bool,
}

/// Active queries that count primitives of vertex streams or of mesh programs.
#[derive(Default)]
pub(in crate::command) struct StreamQueries {
    active: Vec<StreamQuery>,
}

/// An active query of a stream.
struct StreamQuery {
    pool: Arc<QueryPool>,
    query: u32,
    stream: u32,
    written: u64,
    /// Primitives that would have been written with sufficient space.
    needed: u64,
}

impl StreamQueries {
    /// Returns true if no query is active.
    pub(in crate::command) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Returns true if a query counts primitives that are not captured.
    pub(in crate::command) fn counts_generated(&self) -> bool {
        self.active.iter().any(|query| query.pool.kind() == QueryKind::Generated)
    }

    /// Begins a query.
    pub(in crate::command) fn begin(&mut self, pool: Arc<QueryPool>, query: u32, stream: u32) {
        self.active.push(StreamQuery { pool, query, stream, written: 0, needed: 0 });
    }

    /// Ends a query. Does nothing if the query is not active.
    pub(in crate::command) fn end(&mut self, pool: &Arc<QueryPool>, query: u32, stream: u32) {
        let is_ended = |active: &mut StreamQuery| {
            Arc::ptr_eq(&active.pool, pool) && (active.query, active.stream) == (query, stream)
        };
        for StreamQuery { pool, query, written, needed, .. } in self.active.extract_if(.., is_ended) {
            match pool.kind() {
                QueryKind::Generated | QueryKind::MeshPrimitives => pool.write(query, &[needed]),
                _ => pool.write(query, &[written, needed]),
            }
        }
    }

    /// Adds primitives to the counts of the queries of a stream.
    pub(in crate::command) fn count(&mut self, stream: usize, primitives: StreamPrimitives) {
        let StreamPrimitives { written, needed, is_capturing } = primitives;
        for query in self.active.iter_mut().filter(|query| query.stream as usize == stream) {
            query.written += written;
            // Queries of transform feedback count only while it is active.
            if is_capturing || query.pool.kind() == QueryKind::Generated {
                query.needed += needed;
            }
        }
    }

    /// Counts primitives that mesh programs have produced.
    pub(in crate::command) fn count_mesh(&mut self, primitives: u64) {
        let counting = self.active.iter_mut().filter(|query| query.pool.kind() == QueryKind::MeshPrimitives);
        counting.for_each(|query| query.needed += primitives);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_a_kind_count_side_by_side() {
        let pool = QueryPool::new(QueryKind::Occlusion, 3).unwrap();
        let mut queries = OcclusionQueries::default();
        assert!(queries.counter().is_none());
        let pass = |queries: &OcclusionQueries, samples| {
            queries.counter().unwrap().fetch_add(samples, std::sync::atomic::Ordering::Relaxed);
        };
        queries.begin(pool.clone(), 0);
        queries.begin(pool.clone(), 1);
        pass(&queries, 5);
        queries.end(&pool, 1);
        queries.begin(pool.clone(), 2);
        pass(&queries, 7);
        queries.end(&pool, 0);
        queries.end(&pool, 2);
        queries.end(&pool, 2);
        assert!(queries.counter().is_none());
        let counted = [0, 1, 2].map(|query| pool.read(query).unwrap());
        assert_eq!(counted, [12, 5, 7].map(|samples| (vec![samples], true)));
    }

    #[test]
    fn statistics_count_side_by_side() {
        let named = vk::QueryPipelineStatisticFlags::CLIPPING_INVOCATIONS;
        let pool = QueryPool::new(QueryKind::Statistics(named), 2).unwrap();
        let mut queries = StatisticsQueries::default();
        let count = |queries: &StatisticsQueries, many| queries.counters().unwrap().count(Counter::ClipInputs, many);
        queries.begin(pool.clone(), 0, Counters::without_maps);
        count(&queries, 2);
        queries.begin(pool.clone(), 1, Counters::without_maps);
        count(&queries, 3);
        assert!(queries.end(&pool, 0).is_none(), "another one counts");
        count(&queries, 4);
        assert!(queries.end(&pool, 1).is_some());
        assert!(queries.counters().is_none());
        assert_eq!([0, 1].map(|query| pool.read(query).unwrap()), [5, 7].map(|count| (vec![count], true)));
    }
}
