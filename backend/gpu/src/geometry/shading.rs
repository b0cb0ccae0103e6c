//! Vertex shading, 16 vertices a wave.

use std::ops::RangeInclusive;

use ash::vk;
use bytemuck::{must_cast_slice as cast_slice, must_cast_slice_mut as cast_slice_mut};
use vitric_base::simd::{Lanes, Mask, Vector, Vectors, WAVE};
use vitric_exec::Program;
use vitric_exec::interp::{Environment, Stop, Wave};
use vitric_exec::runtime::rows::{BLOCK, scatter};
use vitric_exec::runtime::{Bound, Ranges};
use vitric_memory::BufferRange;

use super::Vertex;
use super::kernel::{PositionKernel, VertexKernel, input, output, position};
use super::triangles::Triangles;
use crate::state::VertexBinding;

/// Source of a draw's vertices.
#[derive(Clone, Copy)]
pub struct VertexSource<'a> {
    /// The vertex kernel.
    pub kernel: &'a VertexKernel,
    /// Environment of the kernel. The viewport's values are its parameters, and the vertex buffers
    /// its ranges.
    pub environment: &'a Environment<'a>,
    /// Instance index, base instance included.
    pub instance: u32,
    /// Values of the draw's built-in inputs.
    pub numbers: DrawNumbers,
}

/// Built-in inputs of a draw. Source: SPIR-V, `BaseVertex`, `BaseInstance`, `DrawIndex`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawNumbers {
    /// First vertex, or the offset added to indices.
    pub base_vertex: u32,
    /// First instance.
    pub base_instance: u32,
    /// Number of the draw in its command.
    pub draw: u32,
}

/// Number of a vertex kernel's parameters that describe the viewport.
pub const VIEWPORT_WORDS: usize = 7;

/// Returns the viewport parameters of a vertex kernel: the viewport's values, and the guard band.
pub fn vertex_parameters(viewport: &vk::Viewport, band: f32) -> [Lanes; VIEWPORT_WORDS] {
    let vk::Viewport { x, y, width, height, min_depth, max_depth } = *viewport;
    [x, y, width, height, min_depth, max_depth, band].map(|number| [number.to_bits(); WAVE])
}

/// Returns the vertex buffers of a pipeline's bindings, in their order.
pub fn vertex_ranges(bindings: &[VertexBinding], buffers: &[Option<BufferRange>]) -> Ranges {
    let range = |binding: &VertexBinding| {
        let bound = buffers.get(binding.binding as usize).and_then(Option::as_ref);
        let located = bound.and_then(|range| Some((range.buffer.binding()?, range)));
        match located {
            Some(((memory, start), range)) => Bound::Buffer(Some(memory.clone()), start + range.offset, range.size),
            None => Bound::Buffer(None, 0, 0),
        }
    };
    Ranges::new(bindings.iter().map(range).collect())
}

/// Returns the parameters that follow those of the viewport if attributes are bounds-checked
/// exactly: the size of each binding's buffer, bytes.
pub fn vertex_limits(bindings: &[VertexBinding], buffers: &[Option<BufferRange>]) -> impl Iterator<Item = Lanes> {
    bindings.iter().map(|binding| {
        let bound = buffers.get(binding.binding as usize).and_then(Option::as_ref);
        [bound.map_or(0, |range| range.size.min(u64::from(u32::MAX)) as u32); WAVE]
    })
}

/// Values of a vertex that culling reads: window coordinates and `outside` bits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CullVertex {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) outside: u32,
}

/// Shaded vertices: their output components by wave, output and lane. The components that
/// fragments need are also stored as rows.
pub struct Shaded<'a> {
    cull_vertices: &'a [CullVertex],
    words: &'a [Lanes],
    /// Number of output components.
    stride: usize,
    /// First output component after the varyings.
    rest: usize,
    /// First output component that transform feedback writes.
    end: usize,
    /// True if the output contains viewport and layer indices.
    routes: bool,
    /// Row of the first vertex.
    first: u32,
}

impl Shaded<'_> {
    #[inline]
    fn word(&self, vertex: u32, word: usize) -> u32 {
        self.words[vertex as usize / WAVE * self.stride + word][vertex as usize % WAVE]
    }

    fn float(&self, vertex: u32, word: usize) -> f32 {
        f32::from_bits(self.word(vertex, word))
    }

    /// Returns the row of a vertex.
    #[inline]
    pub(super) fn row(&self, vertex: u32) -> u32 {
        self.first + vertex
    }

    /// Returns the `outside` bits of a vertex.
    #[inline]
    pub(super) fn outside(&self, vertex: u32) -> u32 {
        self.cull_vertices[vertex as usize].outside
    }

    /// Returns the window coordinates and `outside` bits of all vertices, in order.
    #[inline]
    pub(super) fn cull_vertices(&self) -> &[CullVertex] {
        self.cull_vertices
    }

    /// Returns the window coordinates x, y and z, and 1/w.
    pub(super) fn window(&self, vertex: u32) -> [f32; 4] {
        [0, 1, 2, 3].map(|component| self.float(vertex, output::WINDOW + component))
    }

    /// Returns the clip coordinates.
    pub(super) fn position(&self, vertex: u32) -> [f32; 4] {
        [0, 1, 2, 3].map(|component| self.float(vertex, self.rest + output::POSITION + component))
    }

    /// Returns the viewport and layer indices of a vertex. The program must write them.
    pub(super) fn route(&self, vertex: u32) -> [u32; 2] {
        [2, 1].map(|before| self.word(vertex, self.end - before))
    }

    /// Returns input component `index` of the fragment program.
    pub(super) fn varying(&self, vertex: u32, index: usize) -> u32 {
        self.word(vertex, output::VARYINGS + index)
    }

    /// Returns the components that transform feedback writes.
    pub(super) fn captured(&self, vertex: u32) -> impl Iterator<Item = u32> {
        (self.end..self.stride).map(move |word| self.word(vertex, word))
    }

    pub(super) fn point_size(&self, vertex: u32) -> f32 {
        self.float(vertex, self.rest + output::POINT_SIZE)
    }

    /// Returns a vertex as input of clipping.
    pub(super) fn vertex(&self, vertex: u32) -> Vertex {
        let end = self.end - if self.routes { 2 } else { 0 };
        Vertex {
            position: self.position(vertex),
            point_size: self.point_size(vertex),
            clip: (self.rest + output::CLIP..end).map(|word| self.float(vertex, word)).collect(),
            varyings: (output::VARYINGS..self.rest).map(|word| self.word(vertex, word)).collect(),
        }
    }
}

/// Buffers that shading reuses from chunk to chunk.
#[derive(Default)]
pub struct ShadeScratch {
    wave: Wave,
    /// Output components of a wave.
    outputs: Vectors,
    cull_vertices: Vec<CullVertex>,
    words: Vectors,
}

/// Inputs of vertices, wave by wave.
pub(super) trait Feed {
    /// Returns the number of vertices.
    fn count(&self) -> usize;

    /// Returns the mask of a wave's lanes that have a vertex, and the wave's input components.
    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]);
}

/// Feed of vertex indices.
struct Numbers<'v> {
    vertices: &'v [u32],
    inputs: [Lanes; input::COUNT],
}

impl Feed for Numbers<'_> {
    fn count(&self) -> usize {
        self.vertices.len()
    }

    #[inline(always)]
    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]) {
        let vertices = &self.vertices[number * WAVE..];
        let vertices = &vertices[..vertices.len().min(WAVE)];
        self.inputs[input::VERTEX as usize][..vertices.len()].copy_from_slice(vertices);
        (((1u32 << vertices.len()) - 1) as Mask, &self.inputs)
    }
}

/// Feed of records that a program has written, sixteen vertices each.
pub(super) struct Records<'w> {
    pub(super) words: &'w [Lanes],
    /// Number of components of a vertex.
    pub(super) record: usize,
    /// Number of vertices.
    pub(super) count: usize,
}

impl Feed for Records<'_> {
    fn count(&self) -> usize {
        self.count
    }

    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]) {
        (Mask::MAX, &self.words[number * self.record..][..self.record])
    }
}

impl VertexSource<'_> {
    /// Returns a feed of vertex indices for the vertex program.
    pub(super) fn feed(&self, vertices: &[u32]) -> impl Feed {
        Numbers { vertices, inputs: self.inputs() }
    }

    /// Returns the input components without the vertex indices.
    fn inputs(&self) -> [Lanes; input::COUNT] {
        let mut inputs = [[0; WAVE]; input::COUNT];
        let DrawNumbers { base_vertex, base_instance, draw } = self.numbers;
        inputs[input::INSTANCE as usize] = [self.instance; WAVE];
        inputs[input::BASE_VERTEX as usize] = [base_vertex; WAVE];
        inputs[input::BASE_INSTANCE as usize] = [base_instance; WAVE];
        inputs[input::DRAW as usize] = [draw; WAVE];
        inputs
    }
}

/// Vertices of a draw, and the kernel that shades their positions.
#[derive(Clone, Copy)]
pub(super) struct PositionSource<'a> {
    pub(super) source: &'a VertexSource<'a>,
    pub(super) kernel: &'a PositionKernel,
}

/// Positions of consecutive vertices.
#[derive(Debug, Default)]
pub(super) struct Positions {
    wave: Wave,
    /// Each output of the position kernel, vertex by vertex.
    words: [Vec<u32>; position::COUNT],
}

impl Positions {
    /// Creates positions from their components.
    #[cfg(test)]
    pub(super) fn of(vertices: impl Iterator<Item = [u32; position::COUNT]>) -> Self {
        let mut positions = Self::default();
        vertices.for_each(|words| positions.words.iter_mut().zip(words).for_each(|(all, word)| all.push(word)));
        positions
    }

    /// Returns the window coordinates x, y and z, and the `outside` bits of all vertices.
    pub(super) fn words(&self) -> [&[u32]; position::COUNT] {
        self.words.each_ref().map(Vec::as_slice)
    }
}

/// Prefetch distance, in vertices.
const PREFETCH_DISTANCE: usize = 8 * WAVE;

/// Shades the positions of vertices. Returns false if the program was interrupted.
pub(super) fn shade_positions(
    PositionSource { source, kernel: PositionKernel { program, streams, .. } }: PositionSource<'_>,
    vertices: RangeInclusive<u32>,
    Positions { wave, words }: &mut Positions,
) -> bool {
    let count = (vertices.end() - vertices.start()) as usize + 1;
    // The loop overwrites all components, so earlier values need no clearing.
    words.iter_mut().for_each(|words| words.resize(count.next_multiple_of(WAVE), 0));
    // A wave's indices are written one wave ahead, because a load directly after the narrower
    // stores would stall.
    let mut inputs = [source.inputs().map(Vector); 2];
    let number = |inputs: &mut [Vector; input::COUNT], first: u32| {
        inputs[input::VERTEX as usize] = Vector(std::array::from_fn(|lane| first.wrapping_add(lane as u32)));
    };
    let [mut now, mut next] = inputs.each_mut();
    number(now, *vertices.start());
    let mut outputs = [Vector([0; WAVE]); position::COUNT];
    let mut calls = wave.calls(program, source.environment);
    for first in (0..count).step_by(WAVE) {
        let lanes = ((1u32 << (count - first).min(WAVE)) - 1) as Mask;
        let start = vertices.start() + first as u32;
        for &(range, stride) in streams {
            let prefetched = (start as usize + PREFETCH_DISTANCE) * stride as usize;
            source.environment.ranges.prefetch(range, prefetched..prefetched + WAVE * stride as usize);
        }
        number(next, start.wrapping_add(WAVE as u32));
        if calls.call(lanes, cast_slice(now), cast_slice_mut(&mut outputs)) == Stop::Interrupted {
            return false;
        }
        for (words, output) in words.iter_mut().zip(&outputs) {
            if let Some(chunk) = words[first..].first_chunk_mut::<WAVE>() {
                *chunk = output.0;
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
    true
}

/// Shades vertices by their indices, and adds their rows to `triangles`. Returns `None` if the
/// program was interrupted.
pub(super) fn shade<'w>(
    source: &VertexSource<'_>,
    vertices: &[u32],
    scratch: &'w mut ShadeScratch,
    triangles: &mut Triangles,
) -> Option<Shaded<'w>> {
    shade_waves(source.kernel, source.environment, source.feed(vertices), scratch, triangles)
}

/// Reusable memory for waves that shade vertices.
pub(super) struct WaveBuffers<'a> {
    pub(super) wave: &'a mut Wave,
    /// Output components of a wave.
    pub(super) outputs: &'a mut Vectors,
}

/// Runs a program for all vertices and passes each wave's number and output components to `take`.
/// Returns `None` if the program was interrupted.
pub(super) fn shade_words(
    program: &Program,
    environment: &Environment<'_>,
    mut feed: impl Feed,
    WaveBuffers { wave, outputs }: WaveBuffers<'_>,
    mut take: impl FnMut(usize, &[Lanes]),
) -> Option<()> {
    outputs.resize(program.outputs.len());
    let mut calls = wave.calls(program, environment);
    for number in 0..feed.count().div_ceil(WAVE) {
        let (lanes, inputs) = feed.wave(number);
        if calls.call(lanes, inputs, outputs) == Stop::Interrupted {
            return None;
        }
        take(number, outputs);
    }
    Some(())
}

/// Runs a vertex kernel for all vertices, and adds their rows to `triangles`. Returns `None` if the
/// program was interrupted.
pub(super) fn shade_waves<'w>(
    kernel: &VertexKernel,
    environment: &Environment<'_>,
    mut feed: impl Feed,
    scratch: &'w mut ShadeScratch,
    triangles: &mut Triangles,
) -> Option<Shaded<'w>> {
    let VertexKernel { program, varyings, routes, captured, .. } = kernel;
    let (stride, rest) = (program.outputs.len(), output::VARYINGS + varyings);
    let ShadeScratch { wave, outputs, cull_vertices, words } = scratch;
    words.clear();
    cull_vertices.clear();
    let chunks = triangles.row_chunks();
    outputs.resize(stride.max(chunks * BLOCK));
    let (rows, first) = triangles.add_rows(feed.count().next_multiple_of(WAVE));
    let mut calls = wave.calls(program, environment);
    for (number, rows) in rows.chunks_mut(chunks * WAVE).enumerate() {
        let (lanes, inputs) = feed.wave(number);
        if calls.call(lanes, inputs, outputs) == Stop::Interrupted {
            return None;
        }
        // Rows of lanes without a vertex are written too, but never read.
        scatter(&outputs[..chunks * BLOCK], rows);
        let [x, y, outside] = [output::WINDOW, output::WINDOW + 1, rest + output::OUTSIDE].map(|word| &outputs[word]);
        let float = |lanes: &Lanes, lane: usize| f32::from_bits(lanes[lane]);
        cull_vertices.extend((0..WAVE).map(|lane| CullVertex {
            x: float(x, lane),
            y: float(y, lane),
            outside: outside[lane],
        }));
        words.extend_from_slice(&outputs[..stride]);
    }
    Some(Shaded { cull_vertices, words, stride, rest, end: stride - captured, routes: *routes, first })
}
