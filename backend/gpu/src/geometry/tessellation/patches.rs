//! Batches of patches: runs of control programs, and the subdivision of chunks of their results.

use std::ops::Range;

use vitric_base::simd::{Lanes, Mask, Vectors, WAVE};
use vitric_exec::interp::{Environment, Wave, run_together};
use vitric_exec::runtime::SharedMemory;
use vitric_ir::interface::LOCAL_WORD;

use super::kernel::{TessellationKernel, control, evaluation};
use super::{Levels, TessellatedPatch};
use crate::geometry::VertexSource;
use crate::geometry::reuse::Reuse;
use crate::geometry::shading::{Feed, WaveBuffers, shade_words};
use crate::state::Subdivision;

/// Number of patches in a batch, whose control programs write their blocks to one buffer.
pub const PATCHES_PER_BATCH: usize = 128;

/// Buffers that a worker reuses from patch to patch.
#[derive(Default)]
pub struct PatchScratch {
    waves: [Wave; 2],
    vertex: Wave,
    words: Vectors,
    reuse: Reuse,
    mesh: TessellatedPatch,
    /// Result of the last subdivision.
    pub(in crate::geometry) subdivided: Subdivided,
}

/// Patches for which the control program has run.
#[derive(Default)]
pub struct Patches {
    memory: SharedMemory,
    /// Byte offset of the first block.
    blocks: u32,
    /// Size of a block, bytes.
    block: u32,
    /// Number of the first patch.
    first: u32,
    levels: Vec<Levels>,
}

/// A chunk of a batch of patches: whole patches, or a range of one patch's primitives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchChunk {
    /// Numbers of the patches in their batch.
    pub patches: Range<usize>,
    /// Range of primitives, if the chunk is a part of one patch.
    pub part: Option<Range<usize>>,
    /// Number of primitives.
    pub primitives: usize,
}

/// Vertices of consecutive patches.
#[derive(Clone, Copy)]
pub struct PatchInputs<'a> {
    /// Number of the first patch.
    pub first: u32,
    /// Number of input vertices of a patch.
    pub vertices: usize,
    /// Vertex indices.
    pub corners: &'a [u32],
}

/// Byte offsets in the local memory of control programs, which holds vertex components, tables of
/// vertex addresses, and blocks.
struct ControlLayout {
    tables: u32,
    blocks: u32,
    end: u32,
}

impl TessellationKernel {
    /// Runs vertex and control programs for patches. Returns the number of shaded vertices, or
    /// `None` if a program was interrupted.
    pub fn control(
        &self,
        source: &VertexSource<'_>,
        inputs: PatchInputs<'_>,
        scratch: &mut PatchScratch,
        out: &mut Patches,
    ) -> Option<usize> {
        let PatchInputs { first, vertices, corners } = inputs;
        scratch.reuse.number(corners);
        let layout = self.place(scratch.reuse.vertices.len(), corners.len(), corners.len() / vertices);
        let Patches { memory, .. } = out;
        memory.reserve(layout.end);
        memory.clear();
        self.shade(source, scratch, memory)?;
        self.fill_tables(&layout, &scratch.reuse.places, memory);
        (out.first, out.blocks, out.block) = (first, layout.blocks, self.block.words() * 4);
        let environment = Environment { shared: Some(&out.memory), ..*source.environment };
        let count = corners.len() / vertices;
        let of_wave = (WAVE / self.block.vertices as usize).max(1);
        for start in (0..count).step_by(of_wave) {
            let patches = start..count.min(start + of_wave);
            if !self.run_control(&environment, &layout, inputs, patches, scratch) {
                return None;
            }
        }
        out.levels.clear();
        out.levels.extend((0..count).map(|patch| self.levels(&out.memory, layout.blocks + patch as u32 * out.block)));
        Some(scratch.reuse.vertices.len())
    }

    fn place(&self, vertices: usize, corners: usize, patches: usize) -> ControlLayout {
        let tables = (vertices.div_ceil(WAVE) * self.points.outputs.len()) as u32 * LOCAL_WORD;
        let blocks = (tables + corners as u32 * 4).next_multiple_of(LOCAL_WORD);
        ControlLayout { tables, blocks, end: blocks + patches as u32 * self.block.words() * 4 }
    }

    /// Shades the vertices of patches. Stores their components at the start of the memory, sixteen
    /// lanes each.
    fn shade(&self, source: &VertexSource<'_>, scratch: &mut PatchScratch, memory: &mut SharedMemory) -> Option<()> {
        let PatchScratch { vertex, words, reuse, .. } = scratch;
        let (slots, lanes) = (self.points.outputs.len(), memory.lanes_mut());
        let (feed, buffers) = (source.feed(&reuse.vertices), WaveBuffers { wave: vertex, outputs: words });
        shade_words(&self.points, source.environment, feed, buffers, |number, words| {
            lanes[number * slots..][..slots].copy_from_slice(words);
        })
    }

    /// Writes the address of each corner's vertex.
    fn fill_tables(&self, layout: &ControlLayout, places: &[u32], memory: &mut SharedMemory) {
        let (slots, lanes) = (self.points.outputs.len() as u32, WAVE as u32);
        let table = &mut memory.lanes_mut().as_flattened_mut()[layout.tables as usize / 4..];
        for (entry, place) in table.iter_mut().zip(places) {
            *entry = place / lanes * slots * LOCAL_WORD + place % lanes * 4;
        }
    }

    /// Runs the control program for patches that fit in one wave, or for one patch that needs two
    /// waves.
    fn run_control(
        &self,
        environment: &Environment<'_>,
        layout: &ControlLayout,
        PatchInputs { first, vertices: given, .. }: PatchInputs<'_>,
        patches: Range<usize>,
        scratch: &mut PatchScratch,
    ) -> bool {
        let vertices = self.block.vertices as usize;
        let invocations = patches.len() * vertices;
        let waves = &mut scratch.waves[..invocations.div_ceil(WAVE)];
        for (number, wave) in waves.iter_mut().enumerate() {
            let lanes = (invocations - number * WAVE).min(WAVE);
            wave.start(&self.control, ((1u32 << lanes) - 1) as Mask, 0);
            wave.inputs[control::VERTICES as usize] = [given as u32; WAVE];
            for lane in 0..lanes {
                let invocation = number * WAVE + lane;
                let patch = patches.start + invocation / vertices;
                let mut set = |word: u32, value: u32| wave.inputs[word as usize][lane] = value;
                set(control::BASE, layout.blocks + patch as u32 * self.block.words() * 4);
                set(control::TABLE, layout.tables + (patch * given) as u32 * 4);
                set(control::INVOCATION, (invocation % vertices) as u32);
                set(control::PRIMITIVE, first + patch as u32);
            }
        }
        run_together(&self.control, waves, environment)
    }

    fn levels(&self, memory: &SharedMemory, block: u32) -> Levels {
        let level = |word: usize| {
            let word = self.levels[word].and_then(|word| memory.word(block + word * 4));
            word.map_or(0.0, |word| f32::from_bits(word.load(std::sync::atomic::Ordering::Relaxed)))
        };
        Levels { outer: [0, 1, 2, 3].map(level), inner: [4, 5].map(level) }
    }
}

impl Patches {
    /// Returns the number of patches.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Returns true if there are no patches.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Returns the memory that holds the blocks.
    pub(in crate::geometry) fn memory(&self) -> &SharedMemory {
        &self.memory
    }

    /// Splits the patches into chunks of about `size` primitives, and at most `most` but at least
    /// one.
    pub fn chunks(&self, subdivision: &Subdivision, (size, most): (usize, usize)) -> Vec<PatchChunk> {
        let mut chunks: Vec<PatchChunk> = Vec::new();
        for (patch, levels) in self.levels.iter().enumerate() {
            let (_, count) = subdivision.count(levels);
            match chunks.last_mut() {
                _ if count == 0 => {}
                _ if count > most => {
                    let parts = (0..count).step_by(most.max(1)).map(|start| start..count.min(start + most.max(1)));
                    let chunk = |part: Range<usize>| PatchChunk {
                        patches: patch..patch + 1,
                        primitives: part.len(),
                        part: Some(part),
                    };
                    chunks.extend(parts.map(chunk));
                }
                Some(last) if last.part.is_none() && last.primitives + count <= size => {
                    last.patches.end = patch + 1;
                    last.primitives += count;
                }
                _ => chunks.push(PatchChunk { patches: patch..patch + 1, part: None, primitives: count }),
            }
        }
        chunks
    }

    /// Subdivides a chunk.
    pub(in crate::geometry) fn subdivide(
        &self,
        subdivision: &Subdivision,
        chunk: &PatchChunk,
        PatchScratch { mesh, subdivided, reuse, .. }: &mut PatchScratch,
    ) {
        let corners_of_each = subdivision.corners();
        subdivided.clear();
        for patch in chunk.patches.clone() {
            subdivision.subdivide(&self.levels[patch], mesh);
            let of_patch = (self.blocks + patch as u32 * self.block, self.first + patch as u32);
            let has_third = subdivision.domain == vitric_ir::interface::Domain::Triangles;
            match &chunk.part {
                None => subdivided.add(of_patch, (&mesh.vertices, &mesh.corners), has_third),
                Some(part) => {
                    reuse.number(&mesh.corners[part.start * corners_of_each..part.end * corners_of_each]);
                    let vertices: Vec<_> =
                        reuse.vertices.iter().map(|&vertex| mesh.vertices[vertex as usize]).collect();
                    subdivided.add(of_patch, (&vertices, &reuse.places), has_third);
                }
            }
            let primitives = subdivided.corners.len() / corners_of_each;
            subdivided.numbers.resize(primitives, self.first + patch as u32);
        }
    }
}

/// Result of a subdivision: vertices for the evaluation program, and primitives of these vertices.
#[derive(Debug, Default)]
pub(crate) struct Subdivided {
    vertices: Vec<Generated>,
    /// Vertices of the primitives.
    pub corners: Vec<u32>,
    /// Number of each primitive's patch.
    pub numbers: Vec<u32>,
}

/// A vertex that the tessellator generated.
#[derive(Debug, Clone, Copy)]
struct Generated {
    /// Coordinates u, v and w.
    place: [f32; 3],
    /// Address of the patch's block.
    base: u32,
    /// Number of the patch.
    primitive: u32,
}

impl Subdivided {
    /// Returns the number of vertices.
    pub fn count(&self) -> usize {
        self.vertices.len()
    }

    fn clear(&mut self) {
        self.vertices.clear();
        self.corners.clear();
        self.numbers.clear();
    }

    fn add(&mut self, (base, primitive): (u32, u32), (vertices, corners): (&[[u32; 2]], &[u32]), has_third: bool) {
        let first = self.vertices.len() as u32;
        let one = super::tessellator::ONE;
        let scale = 1.0 / one as f32;
        self.vertices.extend(vertices.iter().map(|&[u, v]| {
            let w = if has_third { one - u - v } else { 0 };
            Generated { place: [u, v, w].map(|coordinate| coordinate as f32 * scale), base, primitive }
        }));
        self.corners.extend(corners.iter().map(|corner| first + corner));
    }

    /// Returns a feed of the vertices, wave by wave.
    pub fn feed(&self) -> impl Feed {
        Coordinates { vertices: &self.vertices, inputs: [[0; WAVE]; evaluation::COUNT] }
    }
}

/// Feed of inputs of evaluation programs.
struct Coordinates<'a> {
    vertices: &'a [Generated],
    inputs: [Lanes; evaluation::COUNT],
}

impl Feed for Coordinates<'_> {
    fn count(&self) -> usize {
        self.vertices.len()
    }

    fn wave(&mut self, number: usize) -> (Mask, &[Lanes]) {
        let vertices = &self.vertices[number * WAVE..];
        let vertices = &vertices[..vertices.len().min(WAVE)];
        for (lane, Generated { place, base, primitive }) in vertices.iter().enumerate() {
            for (word, coordinate) in place.iter().enumerate() {
                self.inputs[evaluation::PLACE as usize + word][lane] = coordinate.to_bits();
            }
            self.inputs[evaluation::BASE as usize][lane] = *base;
            self.inputs[evaluation::PRIMITIVE as usize][lane] = *primitive;
        }
        (((1u32 << vertices.len()) - 1) as Mask, &self.inputs)
    }
}
