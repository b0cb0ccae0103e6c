//! Vertex shading: 16 vertices a wave.

use std::sync::Arc;

use ash::vk;

use super::Vertex;
use super::kernel::{VertexKernel, input, output};
use crate::memory::Buffer;
use crate::shader::interp::{Environment, Lanes, Mask, Stop, WAVE, Wave};
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

/// Vertices after their program: words by wave, output and lane.
pub struct Shaded<'a> {
    words: &'a [Lanes],
    /// Output words.
    stride: usize,
    clip_distances: usize,
    varyings: usize,
}

impl Shaded<'_> {
    #[inline]
    fn word(&self, vertex: u32, output: usize) -> u32 {
        self.words[vertex as usize / WAVE * self.stride + output][vertex as usize % WAVE]
    }

    #[inline]
    fn float(&self, vertex: u32, output: usize) -> f32 {
        f32::from_bits(self.word(vertex, output))
    }

    /// Window coordinates x, y and z, and 1/w.
    #[inline]
    pub(super) fn window(&self, vertex: u32) -> [f32; 4] {
        let lanes = &self.words[vertex as usize / WAVE * self.stride + output::WINDOW..][..4];
        [0, 1, 2, 3].map(|component: usize| f32::from_bits(lanes[component][vertex as usize % WAVE]))
    }

    /// Clip coordinates.
    pub(super) fn position(&self, vertex: u32) -> [f32; 4] {
        [0, 1, 2, 3].map(|component| self.float(vertex, output::POSITION + component))
    }

    /// Numbers of the viewport and the layer that a vertex of a program which routes names.
    pub(super) fn route(&self, vertex: u32) -> [u32; 2] {
        [2, 1].map(|before| self.word(vertex, self.varyings - before))
    }

    /// What a vertex lies outside of.
    #[inline]
    pub(super) fn outside(&self, vertex: u32) -> u32 {
        self.word(vertex, output::OUTSIDE)
    }

    /// Input word `index` of the fragment program.
    #[inline]
    pub(super) fn varying(&self, vertex: u32, index: usize) -> u32 {
        self.word(vertex, self.varyings + index)
    }

    pub(super) fn point_size(&self, vertex: u32) -> f32 {
        self.float(vertex, output::POINT_SIZE)
    }

    /// A vertex as clipping takes it.
    pub(super) fn vertex(&self, vertex: u32) -> Vertex {
        Vertex {
            position: self.position(vertex),
            point_size: self.float(vertex, output::POINT_SIZE),
            clip: (0..self.clip_distances).map(|index| self.float(vertex, output::CLIP + index)).collect(),
            varyings: (self.varyings..self.stride).map(|word| self.word(vertex, word)).collect(),
        }
    }
}

/// Shades vertices, by their numbers. `None` when the program was interrupted.
pub(super) fn shade<'w>(
    source: &VertexSource<'_>,
    vertices: &[u32],
    (wave, words): (&mut Wave, &'w mut Vec<Lanes>),
) -> Option<Shaded<'w>> {
    let program = &source.kernel.program;
    let stride = program.outputs.len();
    // Lanes that hold no vertex are not read, and kernels write all others.
    words.resize(vertices.len().div_ceil(WAVE) * stride, [0; WAVE]);
    let mut inputs = [[0; WAVE]; input::COUNT];
    let DrawNumbers { base_vertex, base_instance, draw } = source.numbers;
    inputs[input::INSTANCE as usize] = [source.instance; WAVE];
    inputs[input::BASE_VERTEX as usize] = [base_vertex; WAVE];
    inputs[input::BASE_INSTANCE as usize] = [base_instance; WAVE];
    inputs[input::DRAW as usize] = [draw; WAVE];
    for (outputs, vertices) in words.chunks_mut(stride).zip(vertices.chunks(WAVE)) {
        let lanes = ((1u32 << vertices.len()) - 1) as Mask;
        inputs[input::VERTEX as usize][..vertices.len()].copy_from_slice(vertices);
        if wave.call(program, source.environment, lanes, &inputs, outputs) == Stop::Interrupted {
            return None;
        }
    }
    let (clip_distances, varyings) = (source.kernel.clip_distances, source.kernel.varyings());
    Some(Shaded { words, stride, clip_distances, varyings })
}
