//! Vertex shading: 16 vertices a wave.

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

/// Parameters of a vertex kernel that say where its vertices go.
pub const VIEWPORT_WORDS: usize = 7;

/// The parameters of a vertex kernel: the viewport's numbers, and the guard band.
pub fn vertex_parameters(viewport: &vk::Viewport, band: f32) -> [Lanes; VIEWPORT_WORDS] {
    let vk::Viewport { x, y, width, height, min_depth, max_depth } = *viewport;
    [x, y, width, height, min_depth, max_depth, band].map(|number| [number.to_bits(); WAVE])
}

/// The vertex buffers of a pipeline's bindings, in their order.
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

/// Parameters that follow those of the viewport where attributes are read exactly: the bytes of each binding's buffer.
pub fn vertex_limits(bindings: &[VertexBinding], buffers: &[Option<BufferRange>]) -> impl Iterator<Item = Lanes> {
    bindings.iter().map(|binding| {
        let bound = buffers.get(binding.binding as usize).and_then(Option::as_ref);
        [bound.map_or(0, |range| range.size.min(u64::from(u32::MAX)) as u32); WAVE]
    })
}

/// Where a vertex is in the window, and what it lies outside of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spot {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) outside: u32,
}

/// Vertices after their program: words by wave, output and lane. What is kept of them are rows, too.
pub struct Shaded<'a> {
    spots: &'a [Spot],
    words: &'a [Lanes],
    /// Output words.
    stride: usize,
    /// First of them behind the varyings.
    rest: usize,
    /// First of those that transform feedback writes.
    end: usize,
    /// Whether numbers of viewports and layers are among them.
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

    /// The row of a vertex.
    #[inline]
    pub(super) fn row(&self, vertex: u32) -> u32 {
        self.first + vertex
    }

    /// What a vertex lies outside of.
    #[inline]
    pub(super) fn outside(&self, vertex: u32) -> u32 {
        self.spots[vertex as usize].outside
    }

    /// Where vertices are, by their numbers.
    #[inline]
    pub(super) fn spots(&self) -> &[Spot] {
        self.spots
    }

    /// Window coordinates x, y and z, and 1/w.
    pub(super) fn window(&self, vertex: u32) -> [f32; 4] {
        [0, 1, 2, 3].map(|component| self.float(vertex, output::WINDOW + component))
    }

    /// Clip coordinates.
    pub(super) fn position(&self, vertex: u32) -> [f32; 4] {
        [0, 1, 2, 3].map(|component| self.float(vertex, self.rest + output::POSITION + component))
    }

    /// Numbers of the viewport and the layer that a vertex of a program which routes names.
    pub(super) fn route(&self, vertex: u32) -> [u32; 2] {
        [2, 1].map(|before| self.word(vertex, self.end - before))
    }

    /// Input word `index` of the fragment program.
    pub(super) fn varying(&self, vertex: u32, index: usize) -> u32 {
        self.word(vertex, output::VARYINGS + index)
    }

    /// The words that transform feedback writes.
    pub(super) fn captured(&self, vertex: u32) -> impl Iterator<Item = u32> {
        (self.end..self.stride).map(move |word| self.word(vertex, word))
    }

    pub(super) fn point_size(&self, vertex: u32) -> f32 {
        self.float(vertex, self.rest + output::POINT_SIZE)
    }

    /// A vertex as clipping takes it.
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

/// What shading keeps from piece to piece.
#[derive(Default)]
pub struct ShadeScratch {
    wave: Wave,
    /// Output words of a wave.
    outputs: Vectors,
    spots: Vec<Spot>,
    words: Vectors,
}

/// What vertices are made of, wave by wave.
pub(super) trait Feed {
    /// The lanes of a wave that have a vertex, and its input words.
    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]);
}

/// Numbers of vertices.
struct Numbers<'v> {
    vertices: &'v [u32],
    inputs: [Lanes; input::COUNT],
}

impl Feed for Numbers<'_> {
    #[inline(always)]
    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]) {
        let vertices = &self.vertices[number * WAVE..];
        let vertices = &vertices[..vertices.len().min(WAVE)];
        self.inputs[input::VERTEX as usize][..vertices.len()].copy_from_slice(vertices);
        (((1u32 << vertices.len()) - 1) as Mask, &self.inputs)
    }
}

/// Records of sixteen vertices, so many words each, as a program has left them.
pub(super) struct Records<'w> {
    pub(super) words: &'w [Lanes],
    pub(super) record: usize,
}

impl Feed for Records<'_> {
    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]) {
        (Mask::MAX, &self.words[number * self.record..][..self.record])
    }
}

impl VertexSource<'_> {
    /// Vertices, by their numbers, as inputs of the vertex program.
    pub(super) fn feed(&self, vertices: &[u32]) -> impl Feed {
        Numbers { vertices, inputs: self.inputs() }
    }

    /// Input words, but for the numbers of vertices.
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

/// Positions of vertices that follow each other.
#[derive(Debug, Default)]
pub(super) struct Positions {
    wave: Wave,
    /// Each output of the program, vertex by vertex.
    words: [Vec<u32>; position::COUNT],
}

impl Positions {
    /// Those words.
    #[cfg(test)]
    pub(super) fn of(vertices: impl Iterator<Item = [u32; position::COUNT]>) -> Self {
        let mut positions = Self::default();
        vertices.for_each(|words| positions.words.iter_mut().zip(words).for_each(|(all, word)| all.push(word)));
        positions
    }

    /// Window coordinates x, y and z, and what each vertex lies outside of.
    pub(super) fn words(&self) -> [&[u32]; position::COUNT] {
        self.words.each_ref().map(Vec::as_slice)
    }
}

/// Vertices that are fetched ahead.
const AHEAD: usize = 8 * WAVE;

/// Shades no more of vertices than their positions. Returns false when the program was interrupted.
pub(super) fn shade_positions(
    (source, PositionKernel { program, streams, .. }): (&VertexSource<'_>, &PositionKernel),
    vertices: RangeInclusive<u32>,
    Positions { wave, words }: &mut Positions,
) -> bool {
    let count = (vertices.end() - vertices.start()) as usize + 1;
    // What is there is written over.
    words.iter_mut().for_each(|words| words.resize(count.next_multiple_of(WAVE), 0));
    // Those of a wave are numbered before the one in front of it runs: just afterwards they are not at hand as a whole.
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
            let ahead = (start as usize + AHEAD) * stride as usize;
            source.environment.ranges.expect(range, ahead..ahead + WAVE * stride as usize);
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

/// Shades vertices, by their numbers, whose rows become `triangles`'. `None` when the program was interrupted.
pub(super) fn shade<'w>(
    source: &VertexSource<'_>,
    vertices: &[u32],
    keep: (&'w mut ShadeScratch, &mut Triangles),
) -> Option<Shaded<'w>> {
    shade_waves(source.kernel, source.environment, (vertices.len(), source.feed(vertices)), keep)
}

/// Runs a program for so many vertices and gives the output words of each wave to `take`, by its number. `None` when it was interrupted.
pub(super) fn shade_words(
    program: &Program,
    environment: &Environment<'_>,
    (count, mut feed): (usize, impl Feed),
    (wave, outputs): (&mut Wave, &mut Vectors),
    mut take: impl FnMut(usize, &[Lanes]),
) -> Option<()> {
    outputs.resize(program.outputs.len());
    let mut calls = wave.calls(program, environment);
    for number in 0..count.div_ceil(WAVE) {
        let (lanes, inputs) = feed.wave(number);
        if calls.call(lanes, inputs, outputs) == Stop::Interrupted {
            return None;
        }
        take(number, outputs);
    }
    Some(())
}

/// Runs a vertex kernel for so many vertices, whose rows become `triangles`'. `None` when it was interrupted.
pub(super) fn shade_waves<'w>(
    kernel: &VertexKernel,
    environment: &Environment<'_>,
    (count, mut feed): (usize, impl Feed),
    (scratch, triangles): (&'w mut ShadeScratch, &mut Triangles),
) -> Option<Shaded<'w>> {
    let VertexKernel { program, varyings, routes, captured, .. } = kernel;
    let (stride, rest) = (program.outputs.len(), output::VARYINGS + varyings);
    let ShadeScratch { wave, outputs, spots, words } = scratch;
    words.clear();
    spots.clear();
    let chunks = triangles.row_chunks();
    outputs.resize(stride.max(chunks * BLOCK));
    let (rows, first) = triangles.add_rows(count.next_multiple_of(WAVE));
    let mut calls = wave.calls(program, environment);
    for (number, rows) in rows.chunks_mut(chunks * WAVE).enumerate() {
        let (lanes, inputs) = feed.wave(number);
        if calls.call(lanes, inputs, outputs) == Stop::Interrupted {
            return None;
        }
        // Lanes that hold no vertex are not read.
        scatter(&outputs[..chunks * BLOCK], rows);
        let [x, y, outside] = [output::WINDOW, output::WINDOW + 1, rest + output::OUTSIDE].map(|word| &outputs[word]);
        let float = |lanes: &Lanes, lane: usize| f32::from_bits(lanes[lane]);
        spots.extend((0..WAVE).map(|lane| Spot { x: float(x, lane), y: float(y, lane), outside: outside[lane] }));
        words.extend_from_slice(&outputs[..stride]);
    }
    Some(Shaded { spots, words, stride, rest, end: stride - captured, routes: *routes, first })
}
