//! Sources of a draw's vertex numbers.

use ash::vk;

use super::super::state::IndexBuffer;
use super::params::DrawParams;
use crate::geometry::Indices;
use crate::pipeline::CompiledPipeline;

/// Source of a draw's vertex numbers.
#[derive(Clone, Copy)]
pub(super) enum IndexSource<'s> {
    /// Consecutive numbers, without indexing.
    Sequence,
    /// Indexing without an index buffer.
    Unbound,
    /// An index buffer.
    Buffer(Indices<'s>),
}

impl<'s> IndexSource<'s> {
    /// Returns the source of a draw.
    pub(super) fn of(pipeline: &CompiledPipeline, buffer: Option<&'s IndexBuffer>, params: &DrawParams) -> Self {
        match (params.first_index, buffer) {
            (None, _) => Self::Sequence,
            (Some(_), None) => Self::Unbound,
            (Some(first), Some(buffer)) => Self::Buffer(indices(pipeline, buffer, params, first)),
        }
    }

    /// Returns true if the draw is indexed.
    pub(super) fn is_indexed(&self) -> bool {
        !matches!(self, Self::Sequence)
    }

    /// Returns the indices, if there is an index buffer.
    pub(super) fn indices(&self) -> Option<Indices<'s>> {
        match self {
            Self::Buffer(indices) => Some(*indices),
            Self::Sequence | Self::Unbound => None,
        }
    }
}

/// Returns the indices of a draw from index number `first` on.
fn indices<'s>(
    pipeline: &CompiledPipeline,
    IndexBuffer { range, index_type, .. }: &'s IndexBuffer,
    params: &DrawParams,
    first: u32,
) -> Indices<'s> {
    let size: u64 = match *index_type {
        vk::IndexType::UINT8_KHR => 1,
        vk::IndexType::UINT16 => 2,
        _ => 4,
    };
    let room = range.as_ref().map_or(0, |range| (range.size / size).saturating_sub(u64::from(first)));
    // Indices beyond the buffer draw nothing, unless they must read as zeros. A large count in an
    // indirect buffer therefore costs nothing.
    let reads_zeros = pipeline.exact_vertices || range.is_none();
    let count = if reads_zeros { u64::from(params.count) } else { u64::from(params.count).min(room) } as usize;
    let offset = range.as_ref().map_or(0, |range| range.offset).saturating_add(u64::from(first) * size);
    let buffer = range.as_ref().map(|range| &*range.buffer);
    Indices { buffer, offset, size, base: params.numbers.base_vertex, count, room: room as usize }
}
