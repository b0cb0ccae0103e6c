//! The vertices of draws of strips, fans, or with restarts, part after part: they are assembled in memory, so long ones are not at once.

use ash::vk;

use super::draw::{DrawParams, of_each};
use crate::geometry::{Assembly, Indices, Part, Stream};
use crate::pipeline::CompiledPipeline;

/// Most vertices of a part.
const MAX_PART_VERTICES: usize = 1 << 20;

/// The parts of an instance of a draw.
pub(super) struct Parts<'s> {
    stream: Stream,
    /// Where indices are, or nowhere; none where vertices follow each other.
    indices: Option<Option<Indices<'s>>>,
    /// The index that ends a strip.
    restart: Option<u32>,
    base: u32,
    /// Vertices, or indices, of parts that were taken, and of all.
    taken: usize,
    count: usize,
    is_done: bool,
}

impl<'s> Parts<'s> {
    /// Of a draw whose indices, if it has any, are known, and which of them ends strips, if not the greatest one.
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

    /// Whether they are more than one.
    pub(super) fn are_several(&self) -> bool {
        self.count > MAX_PART_VERTICES
    }

    /// The next one, and how many vertices it has. The first one is there always.
    pub(super) fn next(&mut self) -> Option<(Part, usize)> {
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

/// Whether strips of lines have stipples, which go on from line to line.
pub(super) fn stipples_strips(pipeline: &CompiledPipeline) -> bool {
    let strips = [vk::PrimitiveTopology::LINE_STRIP, vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY];
    pipeline.geometry.is_none() && strips.contains(&pipeline.topology) && pipeline.stipples_lines()
}
