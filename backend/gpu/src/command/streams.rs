//! Vertices of draws of strips, fans, or with primitive restart, in chunks.
//!
//! Such draws are assembled in memory, so long ones are not assembled at once.

use ash::vk;

use super::draw::{DrawParams, of_each};
use crate::geometry::{AssembledChunk, Assembly, Indices, Stream};
use crate::pipeline::CompiledPipeline;

/// Maximum number of vertices in a chunk.
const MAX_PART_VERTICES: usize = 1 << 20;

/// The chunks of one instance of a draw.
pub(super) struct Parts<'s> {
    stream: Stream,
    /// Indices of the draw: `None` without indexing, `Some(None)` without an index buffer.
    indices: Option<Option<Indices<'s>>>,
    /// The index that ends a strip.
    restart: Option<u32>,
    base: u32,
    /// Vertices or indices in the chunks returned so far, and in all chunks.
    taken: usize,
    count: usize,
    is_done: bool,
}

impl<'s> Parts<'s> {
    /// Creates the chunks of a draw. `restart` is the index that ends strips, if it is not the
    /// maximum of the index type.
    pub(super) fn new(
        pipeline: &CompiledPipeline,
        call: &DrawParams,
        (indices, restart): (Option<Option<Indices<'s>>>, Option<u32>),
    ) -> Self {
        let assembly = Assembly {
            topology: pipeline.topology,
            of_each: of_each(pipeline),
            adjacent: pipeline.patches.is_none() && pipeline.geometry.is_some(),
            last: pipeline.raster.provoking_last,
        };
        let size = indices.flatten().map(|indices| indices.size).filter(|_| pipeline.primitive_restart);
        Self {
            stream: Stream::new(assembly),
            restart: size.map(|size| restart.unwrap_or(u32::MAX >> (32 - 8 * size))),
            base: call.numbers.base_vertex,
            taken: 0,
            count: match &indices {
                None => call.count as usize,
                Some(indices) => indices.map_or(0, |indices| indices.count),
            },
            indices,
            is_done: false,
        }
    }

    /// Returns true if there is more than one chunk.
    pub(super) fn are_several(&self) -> bool {
        self.count > MAX_PART_VERTICES
    }

    /// Returns the next chunk and its number of vertices. The first chunk always exists.
    pub(super) fn next(&mut self) -> Option<(AssembledChunk, usize)> {
        if self.is_done {
            return None;
        }
        let range = self.taken..self.count.min(self.taken + MAX_PART_VERTICES);
        let (base, mut vertices) = (self.base, range.len());
        self.taken = range.end;
        match self.indices.flatten() {
            None => self.stream.extend(range.map(|index| base.wrapping_add(index as u32))),
            Some(indices) => {
                let mut read = Vec::with_capacity(vertices);
                indices.read(range, &mut read);
                for (number, run) in read.split(|&index| self.restart == Some(index)).enumerate() {
                    if number > 0 {
                        self.stream.restart();
                        vertices -= 1;
                    }
                    self.stream.extend(run.iter().map(|index| index.wrapping_add(base)));
                }
            }
        }
        self.is_done = self.taken == self.count;
        if self.is_done {
            self.stream.restart();
        }
        Some((self.stream.take(), vertices))
    }
}

/// Returns true if the pipeline draws line strips with a stipple that continues from line to line.
pub(super) fn stipples_strips(pipeline: &CompiledPipeline) -> bool {
    let strips = [vk::PrimitiveTopology::LINE_STRIP, vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY];
    pipeline.geometry.is_none() && strips.contains(&pipeline.topology) && pipeline.stipples_lines()
}
