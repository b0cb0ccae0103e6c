//! Transform feedback: bound buffers, their write offsets, and the counts of stream queries.
//!
//! Draws capture vertices (`geometry/feedback.rs`). This module receives them in chunks, in the
//! order of primitives. Source: Vulkan specification, "Transform Feedback", "Transform Feedback
//! Queries".

use std::sync::Arc;

use vitric_ir::interface::{FEEDBACK_BUFFERS, Feedback};
use vitric_memory::BufferRange;

use super::processor::{Processor, words};
use super::{Command, CounterBuffer, QueryKind, QueryPool};
use crate::geometry::{CapturePlan, Captured, CapturedStream};
use crate::hiz::Bytes;
use crate::pipeline::CompiledPipeline;

const BUFFERS: usize = FEEDBACK_BUFFERS as usize;

/// The state of transform feedback.
#[derive(Clone, Default)]
pub(super) struct FeedbackState {
    buffers: [Option<BufferRange>; BUFFERS],
    /// While transform feedback is active, the offset in each buffer of the next byte to write.
    next: Option<[u64; BUFFERS]>,
}

/// An active query of a stream.
pub(super) struct StreamQuery {
    pool: Arc<QueryPool>,
    query: u32,
    stream: u32,
    /// Primitives that were written, and primitives that would have been written with sufficient
    /// space.
    counts: [u64; 2],
}

/// Captured dwords of a vertex that are contiguous in a buffer.
struct Span {
    /// Offset from the start of the vertex, in bytes.
    offset: u32,
    /// Indices of the dwords among all captured ones.
    words: Vec<usize>,
}

impl FeedbackState {
    /// Returns true if vertices are captured.
    pub(super) fn is_active(&self) -> bool {
        self.next.is_some()
    }

    /// Executes a command that sets the state. Returns false for all other commands.
    pub(super) fn set(&mut self, command: &Command) -> bool {
        match command {
            Command::BindFeedbackBuffers { first, buffers } => {
                for (bound, buffer) in self.buffers.iter_mut().skip(*first as usize).zip(buffers) {
                    *bound = Some(buffer.clone());
                }
            }
            Command::BeginFeedback { first, counters } => {
                let mut next = [0; BUFFERS];
                for (next, counter) in next.iter_mut().skip(*first as usize).zip(counters) {
                    *next = counter.as_ref().map_or(0, |(buffer, offset)| u64::from(words::<1>(buffer, *offset)[0]));
                }
                self.next = Some(next);
            }
            Command::EndFeedback { first, counters } => {
                let next = self.next.take().unwrap_or_default();
                for (next, counter) in next.into_iter().skip(*first as usize).zip(counters) {
                    if let Some((buffer, offset)) = counter {
                        buffer.write(*offset, &(next as u32).to_le_bytes());
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Returns the number of a stream's primitives that fit in all of its buffers; `u64::MAX` if
    /// no buffer limits them.
    fn room(&self, strides: &[Option<u32>; BUFFERS], corners: usize) -> u64 {
        let next = self.next.unwrap_or_default();
        let room = |(buffer, stride): (usize, &Option<u32>)| {
            let (range, size) = (self.buffers[buffer].as_ref()?, u64::from((*stride)?) * corners as u64);
            range.size.saturating_sub(next[buffer]).checked_div(size)
        };
        strides.iter().enumerate().filter_map(room).min().unwrap_or(u64::MAX)
    }

    /// Writes primitives of a stream. Returns the number of primitives that fit.
    fn write(&mut self, (plan, stream): (&CapturePlan, usize), captured: &CapturedStream) -> u64 {
        let strides = plan.strides(stream);
        let written = captured.primitives.min(self.room(&strides, plan.corners));
        let (vertices, of_vertex) = (written as usize * plan.corners, plan.words(stream));
        let Some(next) = &mut self.next else { return 0 };
        for (buffer, (range, stride)) in self.buffers.iter().zip(strides).enumerate() {
            let (Some(range), Some(stride)) = (range, stride) else { continue };
            let spans = spans(of_vertex, buffer as u32);
            let words = captured.words.chunks_exact(of_vertex.len()).take(vertices);
            write_spans((range, next[buffer], stride), &spans, words);
            next[buffer] += vertices as u64 * u64::from(stride);
        }
        written
    }
}

/// Returns the dwords of a vertex that go to a buffer, in as few spans as possible.
fn spans(of_vertex: &[(usize, Feedback)], buffer: u32) -> Vec<Span> {
    let mut placed: Vec<(u32, usize)> = of_vertex
        .iter()
        .enumerate()
        .filter(|(_, (_, feedback))| feedback.buffer == buffer)
        .map(|(number, (_, feedback))| (feedback.offset, number))
        .collect();
    placed.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    for (offset, number) in placed {
        match spans.last_mut() {
            Some(span) if span.offset + 4 * span.words.len() as u32 == offset => span.words.push(number),
            _ => spans.push(Span { offset, words: vec![number] }),
        }
    }
    spans
}

/// Writes vertices from a byte of a buffer's range on. Bytes between the spans are unchanged.
fn write_spans<'w>(
    (range, start, stride): (&BufferRange, u64, u32),
    spans: &[Span],
    vertices: impl Iterator<Item = &'w [u32]>,
) {
    let start = range.offset + start;
    let bytes = |span: &Span, vertex: &[u32], out: &mut Vec<u8>| {
        span.words.iter().for_each(|&word| out.extend_from_slice(&vertex[word].to_le_bytes()));
    };
    let mut out = Vec::new();
    match spans {
        // There are no gaps between vertices.
        [span] if span.words.len() as u32 * 4 == stride => {
            vertices.for_each(|vertex| bytes(span, vertex, &mut out));
            range.buffer.write(start, &out);
        }
        _ => {
            for (number, vertex) in vertices.enumerate() {
                for span in spans {
                    out.clear();
                    bytes(span, vertex, &mut out);
                    range.buffer.write(start + number as u64 * u64::from(stride) + u64::from(span.offset), &out);
                }
            }
        }
    }
}

impl Processor<'_> {
    /// Writes the captured vertices of a chunk of a draw behind those of all earlier chunks, and
    /// counts them.
    pub(super) fn write_captured(&mut self, plan: &CapturePlan, captured: &Captured) {
        let is_active = self.state.feedback.is_active();
        for (stream, captured) in captured.streams.iter().enumerate().filter(|(_, stream)| stream.primitives > 0) {
            let written = self.state.feedback.write((plan, stream), captured);
            for query in self.streams.iter_mut().filter(|query| query.stream as usize == stream) {
                let [of_written, of_needed] = &mut query.counts;
                *of_written += written;
                // Queries of transform feedback count only while it is active.
                if is_active || query.pool.kind() == QueryKind::Generated {
                    *of_needed += captured.primitives;
                }
            }
        }
    }

    /// Counts primitives that mesh programs have produced.
    pub(super) fn count_mesh_primitives(&mut self, primitives: u64) {
        let counting = self.streams.iter_mut().filter(|query| query.pool.kind() == QueryKind::MeshPrimitives);
        counting.for_each(|query| query.counts[1] += primitives);
    }

    /// Begins a query that counts primitives of a stream.
    pub(super) fn begin_stream(&mut self, (pool, query): (Arc<QueryPool>, u32), stream: u32) {
        self.streams.push(StreamQuery { pool, query, stream, counts: [0; 2] });
    }

    /// Ends a query that counts primitives of a stream.
    pub(super) fn end_stream(&mut self, (pool, query): (&Arc<QueryPool>, u32), stream: u32) {
        let query = query.saturating_add(self.view_number);
        let is_ended = |active: &mut StreamQuery| {
            Arc::ptr_eq(&active.pool, pool) && (active.query, active.stream) == (query, stream)
        };
        for StreamQuery { pool, query, counts, .. } in self.streams.extract_if(.., is_ended) {
            match pool.kind() {
                QueryKind::Generated | QueryKind::MeshPrimitives => pool.write(query, &counts[1..]),
                _ => pool.write(query, &counts),
            }
        }
    }

    /// Returns the plan of the vertex data to capture for a pipeline. If only a query is active,
    /// the plan counts primitives and captures nothing.
    pub(super) fn capture_plan(&self, pipeline: &CompiledPipeline) -> Option<CapturePlan> {
        let (corners, last) = (pipeline.corners(), pipeline.raster.provoking_last);
        if self.state.feedback.is_active() {
            return Some(CapturePlan::new(pipeline.last(), corners, last));
        }
        let counts = self.streams.iter().any(|query| query.pool.kind() == QueryKind::Generated);
        counts.then(|| CapturePlan::counting(corners, last))
    }

    /// Returns true if all vertices must be processed, including those of invisible primitives.
    pub(super) fn counts_vertices(&self) -> bool {
        self.statistics.counters().is_some() || self.state.feedback.is_active() || !self.streams.is_empty()
    }

    /// Reports the buffers that draws may write now to the visibility structures.
    pub(super) fn wrote_feedback(&self) {
        let (kept, state) = (self.gpu.depths(), &self.state.feedback);
        if !state.is_active() || kept.is_empty() {
            return;
        }
        for range in state.buffers.iter().flatten() {
            if let Some((memory, start)) = range.buffer.binding() {
                kept.wrote(&Bytes::new(memory, start, range.buffer.size()));
            }
        }
    }

    /// Reports the counter buffers that the end of transform feedback writes to the visibility
    /// structures.
    pub(super) fn wrote_counters(&self, counters: &[CounterBuffer]) {
        counters.iter().flatten().for_each(|(buffer, _)| super::depth::wrote_buffer(self.gpu.depths(), buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_side_by_side_are_one_span() {
        let place = |buffer, offset| Feedback { buffer, stride: 64, offset, stream: 0 };
        let of_vertex = [(9, place(0, 20)), (1, place(1, 0)), (4, place(0, 4)), (5, place(0, 8)), (7, place(0, 24))];
        let found =
            |buffer| spans(&of_vertex, buffer).into_iter().map(|span| (span.offset, span.words)).collect::<Vec<_>>();
        assert_eq!(found(0), [(4, vec![2, 3]), (20, vec![0, 4])]);
        assert_eq!(found(1), [(0, vec![1])]);
        assert!(found(2).is_empty());
    }

    #[test]
    fn without_buffers_there_is_room_for_all() {
        let state = FeedbackState { next: Some([0; BUFFERS]), ..FeedbackState::default() };
        assert_eq!(state.room(&[Some(4), None, Some(8), None], 3), u64::MAX);
    }
}
