//! Transform feedback, as far as the front end goes: the words of vertices that are captured, primitive by primitive.
//!
//! Pieces of a draw capture on their own, on any thread; the command processor writes what they have captured in the order of the pieces
//! (`command/feedback.rs`). Source: Vulkan specification, "Transform Feedback".

use vitric_exec::Program;
use vitric_ir::interface::{FEEDBACK_BUFFERS, Feedback, STREAMS};

use super::shading::Shaded;

/// Where the words of captured vertices come from and go to, stream by stream.
#[derive(Debug, Default)]
pub struct CapturePlan {
    /// Of each stream: words by their numbers among all outputs of the program, and where they go.
    streams: [Vec<(usize, Feedback)>; STREAMS as usize],
    /// Vertices of a primitive.
    pub corners: usize,
    /// Whether the provoking vertex of a primitive is the last one.
    pub provoking_last: bool,
}

/// What was captured of a stream.
#[derive(Debug, Default)]
pub struct CapturedStream {
    /// Primitives.
    pub primitives: u64,
    /// The words of their vertices, one vertex after the other.
    pub words: Vec<u32>,
}

/// What was captured, by stream.
#[derive(Debug, Default)]
pub struct Captured {
    /// All streams.
    pub streams: [CapturedStream; STREAMS as usize],
}

impl CapturePlan {
    /// What is captured of the vertices of a program, the last one before rasterization. `corners` are those of its primitives.
    pub fn new(program: &Program, corners: usize, provoking_last: bool) -> Self {
        let mut plan = Self::counting(corners, provoking_last);
        for (word, output) in program.outputs.iter().enumerate() {
            if let Some(feedback) = output.feedback {
                // Only geometry programs have several streams.
                let stream = if program.geometry.is_some() { feedback.stream } else { 0 };
                plan.streams[stream as usize].push((word, feedback));
            }
        }
        plan
    }

    /// Nothing but how many primitives of such corners there are.
    pub fn counting(corners: usize, provoking_last: bool) -> Self {
        Self { corners, provoking_last, ..Self::default() }
    }

    /// The words of a stream's vertices, and where they go.
    pub fn words(&self, stream: usize) -> &[(usize, Feedback)] {
        &self.streams[stream]
    }

    /// Bytes from vertex to vertex in the buffers that a stream goes to.
    pub fn strides(&self, stream: usize) -> [Option<u32>; FEEDBACK_BUFFERS as usize] {
        let mut strides = [None; FEEDBACK_BUFFERS as usize];
        for (_, feedback) in &self.streams[stream] {
            strides[feedback.buffer as usize] = Some(feedback.stride);
        }
        strides
    }

    /// The numbers of the words, stream by stream.
    pub(super) fn streams(&self) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
        self.streams.iter().map(|words| words.iter().map(|(word, _)| *word))
    }

    /// Captures primitives of shaded vertices, which are those of the first stream, by the places of their vertices.
    pub(super) fn capture_shaded<'p>(
        &self,
        shaded: &Shaded<'_>,
        primitives: impl Iterator<Item = &'p [u32]>,
        captured: &mut Captured,
    ) {
        let [out, ..] = &mut captured.streams;
        for places in primitives {
            out.primitives += 1;
            out.words.extend(places.iter().flat_map(|&place| shaded.captured(place)));
        }
    }
}
