//! Vertices of draws of strips, fans, or with primitive restart, in chunks.
//!
//! Such draws are assembled in memory, so long ones are not assembled at once.

use ash::vk;
use vitric_ir::interface::MAX_PATCH_VERTICES;

use super::indices::IndexSource;
use super::params::DrawParams;
use crate::geometry::{AssembledChunk, Assembly, Stream};
use crate::pipeline::CompiledPipeline;
use crate::state::{corners, vertices};

/// Maximum number of vertices in a chunk.
const MAX_CHUNK_VERTICES: usize = 1 << 20;

/// The chunks of one instance of a draw.
pub(super) struct StripChunks<'s> {
    stream: Stream,
    source: IndexSource<'s>,
    /// The index that ends a strip.
    restart: Option<u32>,
    base: u32,
    /// Number of vertices or indices in the chunks returned so far.
    taken: usize,
    /// Number of vertices or indices in all chunks.
    count: usize,
    is_done: bool,
}

impl<'s> StripChunks<'s> {
    /// Creates the chunks of a draw. `restart` is the index that ends strips, if it is not the
    /// maximum of the index type.
    pub(super) fn new(
        pipeline: &CompiledPipeline,
        params: &DrawParams,
        source: IndexSource<'s>,
        restart: Option<u32>,
    ) -> Self {
        let assembly = Assembly {
            topology: pipeline.topology,
            of_each: primitive_vertices(pipeline),
            adjacent: pipeline.patches.is_none() && pipeline.geometry.is_some(),
            last: pipeline.raster.provoking_last,
        };
        let size = source.indices().map(|indices| indices.size).filter(|_| pipeline.primitive_restart);
        Self {
            stream: Stream::new(assembly),
            restart: size.map(|size| restart.unwrap_or(u32::MAX >> (32 - 8 * size))),
            base: params.numbers.base_vertex,
            taken: 0,
            count: match &source {
                IndexSource::Sequence => params.count as usize,
                IndexSource::Unbound => 0,
                IndexSource::Buffer(indices) => indices.count,
            },
            source,
            is_done: false,
        }
    }

    /// Returns true if there is more than one chunk.
    pub(super) fn has_several(&self) -> bool {
        self.count > MAX_CHUNK_VERTICES
    }

    /// Returns the next chunk and its number of vertices. The first chunk always exists.
    pub(super) fn next(&mut self) -> Option<(AssembledChunk, usize)> {
        if self.is_done {
            return None;
        }
        let range = self.taken..self.count.min(self.taken + MAX_CHUNK_VERTICES);
        let (base, mut vertices) = (self.base, range.len());
        self.taken = range.end;
        match self.source.indices() {
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

/// Returns the number of vertices of an assembled primitive. Geometry programs also get adjacent
/// vertices.
pub(super) fn primitive_vertices(pipeline: &CompiledPipeline) -> usize {
    match pipeline.geometry {
        _ if pipeline.patches.is_some() => pipeline.patch_state.vertices.clamp(1, MAX_PATCH_VERTICES) as usize,
        None => corners(pipeline.topology),
        Some(_) => vertices(pipeline.topology),
    }
}

/// Returns true if the pipeline draws line strips with a stipple that continues from line to line.
pub(super) fn stipples_strips(pipeline: &CompiledPipeline) -> bool {
    let strips = [vk::PrimitiveTopology::LINE_STRIP, vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY];
    pipeline.geometry.is_none() && strips.contains(&pipeline.topology) && pipeline.stipples_lines()
}
