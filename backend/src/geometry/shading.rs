//! Vertex shading: 16 vertices a wave.

use std::sync::Arc;

use ash::vk;

use super::Vertex;
use super::kernel::{VertexKernel, input, output};
use crate::memory::Buffer;
use crate::shader::interp::{Environment, Lanes, Mask, Stop, WAVE, Wave};
use crate::shader::runtime::rows::scatter;
use crate::shader::runtime::{Bound, Ranges};
use crate::state::VertexBinding;

/// Where the vertices of a draw come from.
#[derive(Clone, Copy)]
pub struct VertexSource<'a> {
    /// The program.
    pub kernel: &'a VertexKernel,
    /// What it runs in; the viewport's numbers are its parameters, the vertex buffers its ranges.
    pub environment: &'a Environment<'a>,
    /// Instance, base instance added.
    pub instance: u32,
    /// What the draw's built-ins say.
    pub numbers: DrawNumbers,
}

/// The numbers of a draw. Source: SPIR-V, `BaseVertex`, `BaseInstance`, `DrawIndex`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawNumbers {
    /// The first vertex, or what is added to indices.
    pub base_vertex: u32,
    /// The first instance.
    pub base_instance: u32,
    /// Number of the draw in its command.
    pub draw: u32,
}

/// The parameters of a vertex kernel: the viewport's numbers, and the guard band.
pub fn vertex_parameters(viewport: &vk::Viewport, band: f32) -> [u32; 7] {
    let vk::Viewport { x, y, width, height, min_depth, max_depth } = *viewport;
    [x, y, width, height, min_depth, max_depth, band].map(f32::to_bits)
}

/// The vertex buffers of a pipeline's bindings, in their order.
pub fn vertex_ranges(bindings: &[VertexBinding], buffers: &[Option<(Arc<Buffer>, u64)>]) -> Ranges {
    let range = |binding: &VertexBinding| {
        let bound = buffers.get(binding.binding as usize).and_then(Option::as_ref);
        let located = bound.and_then(|(buffer, offset)| Some((buffer.binding()?, buffer.size(), *offset)));
        match located {
            Some(((memory, start), size, offset)) => {
                Bound::Buffer(Some(memory.clone()), start + offset, size.saturating_sub(offset))
            }
            None => Bound::Buffer(None, 0, 0),
        }
    };
    Ranges::new(bindings.iter().map(range).collect())
}

/// Vertices after their program: a row of output words each.
pub struct Shaded<'a> {
    rows: &'a [u32],
    /// Output words.
    stride: usize,
    varyings: usize,
}

impl<'a> Shaded<'a> {
    /// The words of a vertex.
    #[inline]
    pub(super) fn row(&self, vertex: u32) -> &'a [u32] {
        &self.rows[vertex as usize * self.stride..][..self.stride]
    }

    /// What follows the varyings of a vertex.
    fn rest(&self, vertex: u32) -> &'a [u32] {
        &self.row(vertex)[output::VARYINGS + self.varyings..]
    }

    /// Window coordinates x, y and z, and 1/w.
    #[inline]
    pub(super) fn window(&self, vertex: u32) -> [f32; 4] {
        let row = self.row(vertex);
        [0, 1, 2, 3].map(|component: usize| f32::from_bits(row[output::WINDOW + component]))
    }

    /// What a vertex lies outside of.
    #[inline]
    pub(super) fn outside(&self, vertex: u32) -> u32 {
        self.row(vertex)[output::OUTSIDE]
    }

    /// Input word `index` of the fragment program.
    #[inline]
    pub(super) fn varying(&self, vertex: u32, index: usize) -> u32 {
        self.row(vertex)[output::VARYINGS + index]
    }

    pub(super) fn point_size(&self, vertex: u32) -> f32 {
        f32::from_bits(self.rest(vertex)[output::POINT_SIZE])
    }

    /// A vertex as clipping takes it.
    pub(super) fn vertex(&self, vertex: u32) -> Vertex {
        let rest = self.rest(vertex);
        Vertex {
            position: [0, 1, 2, 3].map(|component| f32::from_bits(rest[output::POSITION + component])),
            point_size: self.point_size(vertex),
            clip: rest[output::CLIP..].iter().map(|&word| f32::from_bits(word)).collect(),
            varyings: self.row(vertex)[output::VARYINGS..][..self.varyings].into(),
        }
    }
}

/// What shading keeps from piece to piece.
#[derive(Default)]
pub struct ShadeScratch {
    wave: Wave,
    /// Output words of a wave.
    outputs: Vec<Lanes>,
    /// At least as many words as were needed so far.
    rows: Vec<u32>,
}

/// Shades vertices, by their numbers. `None` when the program was interrupted.
pub(super) fn shade<'w>(
    source: &VertexSource<'_>,
    vertices: &[u32],
    scratch: &'w mut ShadeScratch,
) -> Option<Shaded<'w>> {
    let program = &source.kernel.program;
    let stride = program.outputs.len();
    let ShadeScratch { wave, outputs, rows } = scratch;
    outputs.resize(stride, [0; WAVE]);
    let words = vertices.len().next_multiple_of(WAVE) * stride;
    if rows.len() < words {
        rows.resize(words, 0);
    }
    let mut inputs = [[0; WAVE]; input::COUNT];
    let DrawNumbers { base_vertex, base_instance, draw } = source.numbers;
    inputs[input::INSTANCE as usize] = [source.instance; WAVE];
    inputs[input::BASE_VERTEX as usize] = [base_vertex; WAVE];
    inputs[input::BASE_INSTANCE as usize] = [base_instance; WAVE];
    inputs[input::DRAW as usize] = [draw; WAVE];
    let places = std::array::from_fn(|lane| lane * stride);
    for (rows, vertices) in rows.chunks_mut(stride * WAVE).zip(vertices.chunks(WAVE)) {
        let lanes = ((1u32 << vertices.len()) - 1) as Mask;
        inputs[input::VERTEX as usize][..vertices.len()].copy_from_slice(vertices);
        if wave.call(program, source.environment, lanes, &inputs, outputs) == Stop::Interrupted {
            return None;
        }
        // Lanes that hold no vertex are not read.
        scatter(outputs, (rows, &places));
    }
    Some(Shaded { rows, stride, varyings: source.kernel.varyings })
}
