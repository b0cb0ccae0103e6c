//! Vertex shading: 16 vertices a wave, each vertex of a draw's instance once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::Vertex;
use super::kernel::{VertexKernel, input, output};
use crate::memory::Buffer;
use crate::shader::interp::{Environment, Lanes, Mask, Stop, WAVE, Wave};
use crate::shader::runtime::{Bound, Ranges};
use crate::state::VertexBinding;
use crate::workers::Workers;

/// Waves that a worker shades at once.
const WAVES: usize = 32;

/// Where the vertices of a draw come from.
pub struct VertexSource<'a> {
    /// The program.
    pub kernel: &'a VertexKernel,
    /// What it runs in; the viewport's numbers are its parameters, the vertex buffers its ranges.
    pub environment: &'a Environment<'a>,
    /// Vertex indices, base vertex added, to be shaded.
    pub vertices: &'a [u32],
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

/// The parameters of a vertex kernel.
pub fn viewport_words(viewport: &vk::Viewport) -> [u32; 6] {
    let vk::Viewport { x, y, width, height, min_depth, max_depth } = *viewport;
    [x, y, width, height, min_depth, max_depth].map(f32::to_bits)
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

/// The vertices of one instance after their program: words by wave, output and lane, in the order of
/// [`VertexSource::vertices`].
pub struct Shaded {
    words: Vec<Lanes>,
    /// Output words.
    stride: usize,
    clip_distances: usize,
    varyings: usize,
}

impl Shaded {
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
            position: [0, 1, 2, 3].map(|component| self.float(vertex, output::POSITION + component)),
            point_size: self.float(vertex, output::POINT_SIZE),
            clip: (0..self.clip_distances).map(|index| self.float(vertex, output::CLIP + index)).collect(),
            varyings: (self.varyings..self.stride).map(|word| self.word(vertex, word)).collect(),
        }
    }
}

/// Shades the vertices of one instance, on all threads where the order does not show; `None` when the program was
/// interrupted.
pub(crate) fn shade(workers: &Workers, source: &VertexSource<'_>) -> Option<Shaded> {
    let kernel = source.kernel;
    let stride = kernel.program.outputs.len();
    let waves = source.vertices.len().div_ceil(WAVE);
    let mut words = vec![[0; WAVE]; waves * stride];
    let pieces = words.chunks_mut(stride * WAVES).zip(source.vertices.chunks(WAVE * WAVES));
    let ok = AtomicBool::new(true);
    let shade_piece = |wave: &mut Wave, words: &mut [Lanes], vertices: &[u32]| {
        if ok.load(Ordering::Relaxed) && !shade_waves(source, wave, words, vertices) {
            ok.store(false, Ordering::Relaxed);
        }
    };
    if kernel.is_pure {
        let pieces: Vec<_> = pieces.map(Mutex::new).collect();
        workers.parallel(pieces.len(), Wave::default, |wave, index| {
            let mut piece = pieces[index].lock().unwrap_or_else(PoisonError::into_inner);
            let (words, vertices) = &mut *piece;
            shade_piece(wave, words, vertices);
        });
    } else {
        let mut wave = Wave::default();
        pieces.for_each(|(words, vertices)| shade_piece(&mut wave, words, vertices));
    }
    let varyings = kernel.varyings();
    ok.into_inner().then_some(Shaded { words, stride, clip_distances: kernel.clip_distances, varyings })
}

fn shade_waves(source: &VertexSource<'_>, wave: &mut Wave, words: &mut [Lanes], vertices: &[u32]) -> bool {
    let program = &source.kernel.program;
    let mut inputs = [[0; WAVE]; input::COUNT];
    let DrawNumbers { base_vertex, base_instance, draw } = source.numbers;
    inputs[input::INSTANCE as usize] = [source.instance; WAVE];
    inputs[input::BASE_VERTEX as usize] = [base_vertex; WAVE];
    inputs[input::BASE_INSTANCE as usize] = [base_instance; WAVE];
    inputs[input::DRAW as usize] = [draw; WAVE];
    for (outputs, vertices) in words.chunks_mut(program.outputs.len()).zip(vertices.chunks(WAVE)) {
        let lanes = ((1u32 << vertices.len()) - 1) as Mask;
        inputs[input::VERTEX as usize][..vertices.len()].copy_from_slice(vertices);
        if wave.call(program, source.environment, lanes, &inputs, outputs) == Stop::Interrupted {
            return false;
        }
    }
    true
}
