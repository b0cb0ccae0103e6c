//! Front-end part of transform feedback: captures components of vertices, primitive by primitive.
//!
//! Chunks of a draw capture independently, on any thread. The command processor writes the
//! captured data in the order of the chunks (`command/feedback.rs`).
//!
//! Source: Vulkan specification, "Transform Feedback".

use vitric_exec::Program;
use vitric_ir::interface::{FEEDBACK_BUFFERS, Feedback, STREAMS};

use super::shading::Shaded;

/// Sources and destinations of captured vertex components, stream by stream.
#[derive(Debug, Default)]
pub struct CapturePlan {
    /// For each stream: indices of components among all outputs of the program, and their
    /// destinations.
    streams: [Vec<(usize, Feedback)>; STREAMS as usize],
    /// Number of vertices of a primitive.
    pub corners: usize,
    /// True if the provoking vertex of a primitive is the last one.
    pub provoking_last: bool,
}

/// Captured data of a stream.
#[derive(Debug, Default)]
pub struct CapturedStream {
    /// Number of primitives.
    pub primitives: u64,
    /// The components of the primitives' vertices, vertex by vertex.
    pub words: Vec<u32>,
}

/// Captured data by stream.
#[derive(Debug, Default)]
pub struct Captured {
    /// All streams.
    pub streams: [CapturedStream; STREAMS as usize],
}

impl CapturePlan {
    /// Creates the plan for a program, the last one before rasterization. `corners` is the number
    /// of vertices of its primitives.
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

    /// Creates a plan that captures no components and only counts primitives with `corners`
    /// vertices.
    pub fn counting(corners: usize, provoking_last: bool) -> Self {
        Self { corners, provoking_last, ..Self::default() }
    }

    /// Returns the components of a stream's vertices, and their destinations.
    pub fn words(&self, stream: usize) -> &[(usize, Feedback)] {
        &self.streams[stream]
    }

    /// Returns the strides of a stream's vertices in each of its buffers, bytes.
    pub fn strides(&self, stream: usize) -> [Option<u32>; FEEDBACK_BUFFERS as usize] {
        let mut strides = [None; FEEDBACK_BUFFERS as usize];
        for (_, feedback) in &self.streams[stream] {
            strides[feedback.buffer as usize] = Some(feedback.stride);
        }
        strides
    }

    /// Returns the indices of the components, stream by stream.
    pub(super) fn streams(&self) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone> {
        self.streams.iter().map(|words| words.iter().map(|(word, _)| *word))
    }

    /// Captures primitives of shaded vertices, given by the places of their vertices. They belong
    /// to the first stream.
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
