//! Query pools: results that become available when the device has written them.
//!
//! A query is *reset* (unavailable, zero), *active* between begin and end, or *available*. Source:
//! Vulkan specification, "Queries".

use std::sync::Arc;

use ash::vk;
use parking_lot::{Condvar, Mutex};

/// Maximum number of queries in a pool.
const MAX_QUERIES: u32 = 1 << 22;

/// The quantity that the queries of a pool count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryKind {
    /// Samples that pass the per-fragment tests. The count is exact, even if precision is not
    /// requested.
    Occlusion,
    /// Nanoseconds since the device was created.
    Timestamp,
    /// The pipeline statistics in the flags.
    Statistics(vk::QueryPipelineStatisticFlags),
    /// Primitives of a vertex stream: those that transform feedback has written, and those that it
    /// would have written with sufficient buffer space.
    Stream,
    /// Primitives of a vertex stream, even if transform feedback is inactive.
    Generated,
    /// Primitives that mesh programs produce.
    MeshPrimitives,
}

impl QueryKind {
    /// Returns the number of values in each query.
    pub fn values(self) -> usize {
        match self {
            Self::Occlusion | Self::Timestamp | Self::Generated | Self::MeshPrimitives => 1,
            Self::Stream => 2,
            Self::Statistics(flags) => flags.as_raw().count_ones() as usize,
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Query {
    values: Vec<u64>,
    available: bool,
}

/// A pool of queries of one kind.
#[derive(Debug)]
pub struct QueryPool {
    kind: QueryKind,
    queries: Mutex<Vec<Query>>,
    written: Condvar,
}

impl QueryPool {
    /// Creates a pool of `count` reset queries. Returns `None` if `count` exceeds `MAX_QUERIES`.
    pub fn new(kind: QueryKind, count: u32) -> Option<Arc<Self>> {
        if count > MAX_QUERIES {
            return None;
        }
        let reset = Query { values: vec![0; kind.values()], available: false };
        let queries = Mutex::new(vec![reset; count as usize]);
        Some(Arc::new(Self { kind, queries, written: Condvar::new() }))
    }

    /// Returns the quantity that the queries count.
    pub fn kind(&self) -> QueryKind {
        self.kind
    }

    /// Returns the number of queries in the pool.
    pub fn count(&self) -> u32 {
        self.queries.lock().len() as u32
    }

    /// Resets `count` queries from `first` on. Queries outside the pool are ignored.
    pub fn reset(&self, first: u32, count: u32) {
        let mut queries = self.queries.lock();
        for query in queries.iter_mut().skip(first as usize).take(count as usize) {
            query.values.fill(0);
            query.available = false;
        }
    }

    /// Makes `values` the available result of a query. A query outside the pool is ignored.
    pub fn write(&self, query: u32, values: &[u64]) {
        if let Some(query) = self.queries.lock().get_mut(query as usize) {
            for (slot, value) in query.values.iter_mut().zip(values) {
                *slot = *value;
            }
            query.available = true;
        }
        self.written.notify_all();
    }

    /// Returns the values of a query and true if they are available; `None` outside the pool.
    pub fn read(&self, query: u32) -> Option<(Vec<u64>, bool)> {
        let queries = self.queries.lock();
        queries.get(query as usize).map(|query| (query.values.clone(), query.available))
    }

    /// Waits until a query is available or `give_up` returns true, then reads the query.
    ///
    /// `give_up` is called every 5 ms.
    pub fn wait(&self, query: u32, give_up: impl Fn() -> bool) -> Option<(Vec<u64>, bool)> {
        let mut queries = self.queries.lock();
        loop {
            let entry = queries.get(query as usize)?;
            if entry.available || give_up() {
                return Some((entry.values.clone(), entry.available));
            }
            self.written.wait_for(&mut queries, std::time::Duration::from_millis(5));
        }
    }

    /// Returns the result of one query as `vkGetQueryPoolResults` and `vkCmdCopyQueryPoolResults`
    /// write it.
    ///
    /// Values and availability are read at one moment. With `WAIT`, this is the moment when the
    /// query becomes available or `give_up` returns true.
    pub fn result(&self, query: u32, flags: vk::QueryResultFlags, give_up: impl Fn() -> bool) -> QueryResult {
        let waits = flags.contains(vk::QueryResultFlags::WAIT);
        let read = if waits { self.wait(query, give_up) } else { self.read(query) };
        let Some((values, available)) = read else { return QueryResult::default() };
        let wide = flags.contains(vk::QueryResultFlags::TYPE_64);
        let mut bytes = Vec::new();
        let mut put = |value: u64| match wide {
            true => bytes.extend_from_slice(&value.to_le_bytes()),
            false => bytes.extend_from_slice(&(value as u32).to_le_bytes()),
        };
        let shows_values = available || flags.contains(vk::QueryResultFlags::PARTIAL);
        if shows_values {
            values.iter().for_each(|&value| put(value));
        }
        if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
            put(u64::from(available));
        }
        let at = if shows_values { 0 } else { values.len() * if wide { 8 } else { 4 } };
        QueryResult { at, bytes, available }
    }
}

/// The bytes to write for one query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryResult {
    /// Offset of the first byte in the query's result. Unavailable values are not written, unless
    /// `PARTIAL` requests them. The memory of values that are not written keeps its contents.
    pub at: usize,
    /// The bytes; empty for a query outside the pool.
    pub bytes: Vec<u8>,
    /// True if the query was available.
    pub available: bool,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_and_their_availability_are_of_one_moment() {
        let pool = QueryPool::new(QueryKind::Timestamp, 1).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for _ in 0..20_000 {
                    pool.reset(0, 1);
                    pool.write(0, &[7]);
                }
            });
            while !writer.is_finished() {
                let result = pool.result(0, vk::QueryResultFlags::TYPE_64, || false);
                let expected = if result.available { &7u64.to_le_bytes()[..] } else { &[] };
                assert_eq!(result.bytes, expected);
            }
        });
    }

    #[test]
    fn results_are_waited_for_until_they_are_there_or_given_up() {
        let pool = QueryPool::new(QueryKind::Timestamp, 1).unwrap();
        let flags = vk::QueryResultFlags::WAIT | vk::QueryResultFlags::WITH_AVAILABILITY;
        let given_up = pool.result(0, flags, || true);
        assert_eq!(given_up, QueryResult { at: 4, bytes: vec![0; 4], available: false });
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| pool.result(0, flags, || false));
            std::thread::sleep(Duration::from_millis(20));
            pool.write(0, &[9]);
            let expected = QueryResult { at: 0, bytes: vec![9, 0, 0, 0, 1, 0, 0, 0], available: true };
            assert_eq!(waiter.join().unwrap(), expected);
        });
        assert_eq!(pool.result(1, flags, || false), QueryResult::default());
    }
}
