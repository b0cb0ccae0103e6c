//! Transform feedback: bound buffers, their write offsets, and the counts of stream queries.
//!
//! Draws capture vertices (`geometry/feedback.rs`). This module receives them in chunks, in the
//! order of primitives. Source: Vulkan specification, "Transform Feedback", "Transform Feedback
//! Queries".

use vitric_ir::interface::{FEEDBACK_BUFFERS, Feedback};
use vitric_memory::BufferRange;

use super::Command;
use super::indirect::read_dwords;
use super::query::{StreamPrimitives, StreamQueries};
use crate::geometry::{CapturePlan, Captured, CapturedStream};

const BUFFERS: usize = FEEDBACK_BUFFERS as usize;

/// The state of transform feedback.
#[derive(Clone, Default)]
pub(super) struct FeedbackState {
    buffers: [Option<BufferRange>; BUFFERS],
    /// While transform feedback is active, the offset in each buffer of the next byte to write.
    next: Option<[u64; BUFFERS]>,
}

/// Captured dwords of a vertex that are contiguous in a buffer.
struct Span {
    /// Offset from the start of the vertex, in bytes.
    offset: u32,
    /// Indices of the dwords among all captured ones.
    dwords: Vec<usize>,
}

/// Place in a buffer where captured vertices are written.
struct CaptureTarget<'a> {
    range: &'a BufferRange,
    /// Offset of the first vertex in the range, in bytes.
    start: u64,
    /// Bytes from one vertex to the next.
    stride: u32,
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
                    *next =
                        counter.as_ref().map_or(0, |(buffer, offset)| u64::from(read_dwords::<1>(buffer, *offset)[0]));
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

    /// Returns the bound buffers, which draws write while transform feedback is active.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &BufferRange> {
        self.buffers.iter().flatten()
    }

    /// Writes the captured vertices of a chunk of a draw behind those of all earlier chunks, and
    /// counts them in queries.
    pub(super) fn write_captured(&mut self, streams: &mut StreamQueries, plan: &CapturePlan, captured: &Captured) {
        let is_capturing = self.is_active();
        for (stream, captured) in captured.streams.iter().enumerate().filter(|(_, stream)| stream.primitives > 0) {
            let written = self.write(plan, stream, captured);
            streams.count(stream, StreamPrimitives { written, needed: captured.primitives, is_capturing });
        }
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
    fn write(&mut self, plan: &CapturePlan, stream: usize, captured: &CapturedStream) -> u64 {
        let strides = plan.strides(stream);
        let written = captured.primitives.min(self.room(&strides, plan.corners));
        let (vertices, captured_dwords) = (written as usize * plan.corners, plan.words(stream));
        let Some(next) = &mut self.next else { return 0 };
        for (buffer, (range, stride)) in self.buffers.iter().zip(strides).enumerate() {
            let (Some(range), Some(stride)) = (range, stride) else { continue };
            let spans = spans(captured_dwords, buffer as u32);
            let captured = captured.words.chunks_exact(captured_dwords.len()).take(vertices);
            write_spans(CaptureTarget { range, start: next[buffer], stride }, &spans, captured);
            next[buffer] += vertices as u64 * u64::from(stride);
        }
        written
    }
}

/// Returns the dwords of a vertex that go to a buffer, in as few spans as possible.
fn spans(captured: &[(usize, Feedback)], buffer: u32) -> Vec<Span> {
    let mut placed: Vec<(u32, usize)> = captured
        .iter()
        .enumerate()
        .filter(|(_, (_, feedback))| feedback.buffer == buffer)
        .map(|(number, (_, feedback))| (feedback.offset, number))
        .collect();
    placed.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    for (offset, number) in placed {
        match spans.last_mut() {
            Some(span) if span.offset + 4 * span.dwords.len() as u32 == offset => span.dwords.push(number),
            _ => spans.push(Span { offset, dwords: vec![number] }),
        }
    }
    spans
}

/// Writes vertices to a buffer. Bytes between the spans are unchanged.
fn write_spans<'w>(target: CaptureTarget<'_>, spans: &[Span], vertices: impl Iterator<Item = &'w [u32]>) {
    let CaptureTarget { range, start, stride } = target;
    let start = range.offset + start;
    let bytes = |span: &Span, vertex: &[u32], out: &mut Vec<u8>| {
        span.dwords.iter().for_each(|&dword| out.extend_from_slice(&vertex[dword].to_le_bytes()));
    };
    let mut out = Vec::new();
    match spans {
        // There are no gaps between vertices.
        [span] if span.dwords.len() as u32 * 4 == stride => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_dwords_are_one_span() {
        let place = |buffer, offset| Feedback { buffer, stride: 64, offset, stream: 0 };
        let captured = [(9, place(0, 20)), (1, place(1, 0)), (4, place(0, 4)), (5, place(0, 8)), (7, place(0, 24))];
        let found =
            |buffer| spans(&captured, buffer).into_iter().map(|span| (span.offset, span.dwords)).collect::<Vec<_>>();
        assert_eq!(found(0), [(4, vec![2, 3]), (20, vec![0, 4])]);
        assert_eq!(found(1), [(0, vec![1])]);
        assert!(found(2).is_empty());
    }

    #[test]
    fn without_buffers_all_primitives_fit() {
        let state = FeedbackState { next: Some([0; BUFFERS]), ..FeedbackState::default() };
        assert_eq!(state.room(&[Some(4), None, Some(8), None], 3), u64::MAX);
    }
}
