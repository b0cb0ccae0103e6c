//! Merged waves in the front end: from corners of primitives through runs of the merged program to
//! primitives that are set up.

use std::ops::Range;

use smallvec::SmallVec;
use vitric_base::counters::{Counter, Counters};
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_exec::interp::{Environment, Stop, Wave};
use vitric_exec::runtime::SharedMemory;
use vitric_ir::interface::STREAMS;

use super::waves::{InvocationBatch, MergedMode, WaveAssignment};
use super::{MAX_VERTICES, MergedKernel, MergedLayout, input};
use crate::geometry::assembly::assemble;
use crate::geometry::feedback::{CapturePlan, Captured};
use crate::geometry::kernel::input as vertex_input;
use crate::geometry::reuse::Reuse;
use crate::geometry::setup::SetUp;
use crate::geometry::shading::{Records, ShadeScratch, Shaded, shade_waves};
use crate::geometry::triangles::Triangles;
use crate::geometry::{DrawNumbers, PrimitiveContext, VertexSource};
use crate::state::corners;

/// Buffers that a worker reuses from wave to wave.
#[derive(Default)]
pub struct EmitScratch {
    wave: Wave,
    memory: SharedMemory,
    reuse: Reuse,
    /// Number of vertices that each invocation of the batch emitted.
    counts: Vec<u32>,
    /// Records gathered from those with few occupied lanes.
    gathered: Vec<Lanes>,
    strip: Vec<u32>,
    shading: ShadeScratch,
}

/// Numbers of primitives as programs see them.
#[derive(Clone, Copy)]
pub(crate) enum PrimitiveNumbers<'a> {
    /// Consecutive numbers from this one on.
    From(usize),
    /// One number for each primitive.
    Each(&'a [u32]),
}

impl PrimitiveNumbers<'_> {
    fn of(self, primitive: usize) -> u32 {
        match self {
            Self::From(first) => (first + primitive) as u32,
            Self::Each(numbers) => numbers[primitive],
        }
    }
}

/// Primitives of one instance of a draw, to be processed by a merged program.
pub(crate) struct Emission<'a> {
    /// The program.
    pub kernel: &'a MergedKernel,
    /// The mode in which lanes are assigned.
    pub mode: MergedMode,
    /// Source of the vertices.
    pub source: VertexSource<'a>,
    /// Vertex indices, a fixed number for each primitive.
    pub corners: &'a [u32],
    /// Numbers of the primitives.
    pub numbers: PrimitiveNumbers<'a>,
    /// Components of vertices that are already shaded, in blocks of sixteen vertices. With `None`,
    /// the program shades them.
    pub shaded: Option<&'a [Lanes]>,
    /// Counters to update, if enabled.
    pub counters: Option<&'a Counters>,
}

/// Emitted vertices of a batch and their locations.
pub(crate) struct Emitted<'w> {
    kernel: &'w MergedKernel,
    waves: WaveAssignment,
    memory: &'w [Lanes],
    counts: &'w [u32],
    strip: &'w mut Vec<u32>,
    /// Number of the first invocation, counted over all primitives.
    first: usize,
    numbers: PrimitiveNumbers<'w>,
    /// Place of each invocation's first vertex, if the vertices were gathered.
    starts: Option<SmallVec<[u32; WAVE]>>,
    /// The vertices for setup.
    pub shaded: Shaded<'w>,
}

impl Emission<'_> {
    fn waves(&self) -> WaveAssignment {
        WaveAssignment { mode: self.mode, lanes: WAVE, max_vertices: self.kernel.facts.max_vertices }
    }

    /// Returns the batches of all invocations.
    pub fn batches(&self) -> impl Iterator<Item = InvocationBatch> {
        let primitives = self.corners.len() / self.kernel.vertices();
        self.waves().batches(primitives * self.kernel.facts.invocations as usize)
    }

    /// Returns the maximum number of primitives that a batch becomes.
    pub fn max_primitives(&self, batch: &InvocationBatch) -> usize {
        batch.items.len() * self.kernel.facts.max_vertices as usize
    }

    /// Runs a batch, and adds the rows of its vertices to `triangles`. Returns `None` if the
    /// program was interrupted.
    pub fn run<'w>(
        &'w self,
        batch: &InvocationBatch,
        scratch: &'w mut EmitScratch,
        triangles: &mut Triangles,
    ) -> Option<Emitted<'w>> {
        let waves = self.waves();
        let MergedLayout { record, .. } = self.kernel.layout;
        let rows = waves.records() as usize * batch.waves;
        scratch.memory.reserve(self.kernel.layout.record(rows as u32));
        scratch.counts.clear();
        for wave in 0..batch.waves {
            self.run_wave(batch, wave, scratch)?;
        }
        self.count(batch, scratch);
        let EmitScratch { memory, counts, gathered, strip, shading, .. } = scratch;
        let memory: &[Lanes] = memory.lanes_mut();
        let records = &memory[self.kernel.layout.record(0) as usize / 64..];
        let record = record as usize;
        let all: u32 = counts.iter().sum();
        let used = (0..counts.len()).filter(|&item| counts[item] > 0);
        let used = used.map(|item| waves.place(item, counts[item] - 1).0 + 1).max().unwrap_or(0);
        let starts = (all as usize * 2 < used * WAVE).then(|| gather(waves, counts, (records, record), gathered));
        let (words, used) = match &starts {
            Some(_) => (&gathered[..], (all as usize).div_ceil(WAVE)),
            None => (records, used),
        };
        let feed = Records { words, record, count: used * WAVE };
        let shaded = shade_waves(&self.kernel.finish, self.source.environment, feed, shading, triangles)?;
        let (first, numbers) = (batch.items.start, self.numbers);
        Some(Emitted { kernel: self.kernel, waves, memory: records, counts, strip, first, numbers, starts, shaded })
    }

    /// Returns the first primitive of a batch, and the corners of its primitives.
    fn primitives(&self, items: &Range<usize>) -> (usize, &[u32]) {
        let (of_each, invocations) = (self.kernel.vertices(), self.kernel.facts.invocations as usize);
        let (first, end) = (items.start / invocations, (items.end - 1) / invocations + 1);
        (first, &self.corners[first * of_each..end * of_each])
    }

    fn run_wave(&self, batch: &InvocationBatch, wave: usize, scratch: &mut EmitScratch) -> Option<()> {
        let (first, corners) = self.primitives(&batch.items);
        let EmitScratch { wave: runner, memory, reuse, counts, .. } = scratch;
        match self.mode {
            MergedMode::Plain => reuse.number(corners),
            MergedMode::Replicated => reuse.number_each(corners),
        }
        self.put_vertices(&reuse.vertices, memory);
        let inputs = self.inputs(batch, wave, (first, reuse));
        let mut outputs = [[0; WAVE]];
        let environment = Environment { shared: Some(memory), ..*self.source.environment };
        if runner.call(&self.kernel.program, &environment, Mask::MAX, &inputs, &mut outputs) == Stop::Interrupted {
            return None;
        }
        // Every wave of an invocation computes the number of emitted vertices, so the first wave's
        // is enough.
        if wave == 0 {
            let most = self.kernel.facts.max_vertices;
            counts.extend((0..batch.items.len()).map(|item| outputs[0][self.waves().counting_lane(item)].min(most)));
        }
        Some(())
    }

    /// Stores the indices of vertices to be shaded, or the components of shaded vertices, in local
    /// memory.
    fn put_vertices(&self, vertices: &[u32], memory: &mut SharedMemory) {
        let lanes = memory.lanes_mut();
        let Some(shaded) = self.shaded else {
            for (lanes, vertices) in lanes.iter_mut().zip(vertices.chunks(WAVE)) {
                lanes[..vertices.len()].copy_from_slice(vertices);
            }
            return;
        };
        let MergedLayout { slots, .. } = self.kernel.layout;
        let (slots, start) = (slots as usize, self.kernel.layout.words() as usize / size_of::<Lanes>());
        for (place, &vertex) in vertices.iter().enumerate() {
            let (from, to) = (vertex as usize / WAVE * slots, start + place / WAVE * slots);
            for word in 0..slots {
                lanes[to + word][place % WAVE] = shaded[from + word][vertex as usize % WAVE];
            }
        }
    }

    fn inputs(&self, batch: &InvocationBatch, wave: usize, (first, reuse): (usize, &Reuse)) -> [Lanes; input::COUNT] {
        let (waves, facts, layout) = (self.waves(), &self.kernel.facts, self.kernel.layout);
        let mut inputs = [[0; WAVE]; input::COUNT];
        let DrawNumbers { base_vertex, base_instance, draw } = self.source.numbers;
        let base = layout.record(wave as u32 * waves.records());
        for (word, same) in [
            (input::VERTICES, reuse.vertices.len() as u32),
            (vertex_input::INSTANCE, self.source.instance),
            (vertex_input::BASE_VERTEX, base_vertex),
            (vertex_input::BASE_INSTANCE, base_instance),
            (vertex_input::DRAW, draw),
            (input::EMIT_BASE, base),
            (input::EMIT_MASK, waves.mask()),
        ] {
            inputs[word as usize] = [same; WAVE];
        }
        let of_each = self.kernel.vertices();
        let shares = (0..WAVE).filter_map(|lane| Some((lane, waves.share(batch.items.len(), wave, lane)?)));
        for (lane, share) in shares {
            let item = batch.items.start + share.item;
            let primitive = item / facts.invocations as usize;
            inputs[input::EMIT_FIRST as usize][lane] = share.first;
            inputs[input::EMIT_SPAN as usize][lane] = share.span;
            inputs[input::PRIMITIVE as usize][lane] = self.numbers.of(primitive);
            inputs[input::INVOCATION as usize][lane] = (item % facts.invocations as usize) as u32;
            let places = &reuse.places[(primitive - first) * of_each..][..of_each.min(MAX_VERTICES)];
            for (word, &place) in places.iter().enumerate() {
                inputs[input::ADDRESS as usize + word][lane] = layout.vertex(place);
            }
        }
        inputs
    }

    fn count(&self, batch: &InvocationBatch, scratch: &EmitScratch) {
        let Some(counters) = self.counters else { return };
        let (waves, items) = (batch.waves as u64, batch.items.len() as u64);
        let (vertices, corners) = (scratch.reuse.vertices.len() as u64, scratch.reuse.places.len() as u64);
        let (runs, lanes) = match self.mode {
            MergedMode::Plain => (Counter::MergedPlain, items),
            MergedMode::Replicated => {
                (Counter::MergedReplicated, items * u64::from(self.kernel.facts.max_vertices.max(1)))
            }
        };
        counters.count(runs, waves);
        counters.count(Counter::MergedLanes, lanes);
        if self.shaded.is_none() {
            counters.count(Counter::Vertices, vertices * waves);
            counters.count(Counter::Reused, corners - vertices);
        }
        counters.count(Counter::GeometryInvocations, items);
        let stored = u64::from(self.waves().records()) * u64::from(self.kernel.layout.record) * 64;
        counters.count(Counter::MergedBytes, stored * waves);
    }
}

/// Gathers emitted vertices without gaps. Returns the place of each invocation's first vertex.
fn gather(
    waves: WaveAssignment,
    counts: &[u32],
    (records, record): (&[Lanes], usize),
    out: &mut Vec<Lanes>,
) -> SmallVec<[u32; WAVE]> {
    let all: u32 = counts.iter().sum();
    out.resize((all as usize).div_ceil(WAVE) * record, [0; WAVE]);
    let mut next = 0;
    let mut start = |(item, &count): (usize, &u32)| {
        let first = next;
        for vertex in 0..count {
            let (from, lane) = waves.place(item, vertex);
            let (to, target) = (next as usize / WAVE, next as usize % WAVE);
            for word in 0..record {
                out[to * record + word][target] = records[from * record + word][lane];
            }
            next += 1;
        }
        first
    };
    counts.iter().enumerate().map(&mut start).collect()
}

impl Emitted<'_> {
    /// Returns a component of an invocation's vertex.
    fn word(&self, item: usize, vertex: u32, word: usize) -> u32 {
        let (record, lane) = self.waves.place(item, vertex);
        self.memory[record * self.kernel.layout.record as usize + word][lane]
    }

    /// Returns all components of all vertices.
    #[cfg(test)]
    pub fn all_words(&self) -> Vec<u32> {
        let vertices = (0..self.counts.len()).flat_map(|item| (0..self.counts[item]).map(move |vertex| (item, vertex)));
        let words = 0..self.kernel.layout.record as usize;
        vertices.flat_map(|(item, vertex)| words.clone().map(move |word| self.word(item, vertex, word))).collect()
    }

    /// Returns the place of an invocation's vertex among those that were shaded.
    fn place(&self, item: usize, vertex: u32) -> u32 {
        match &self.starts {
            Some(starts) => starts[item] + vertex,
            None => {
                let (record, lane) = self.waves.place(item, vertex);
                (record * WAVE + lane) as u32
            }
        }
    }

    /// Calls `each` with an invocation and the vertices of a strip, for all strips of a stream, in
    /// order.
    fn strips(&mut self, stream: u32, mut each: impl FnMut(&Self, usize, &[u32])) {
        let mut strip = std::mem::take(self.strip);
        for item in 0..self.counts.len() {
            strip.clear();
            for vertex in 0..self.counts[item] {
                let flags = self.flags(item, vertex);
                if flags >> 1 != stream {
                    continue;
                }
                if flags & 1 != 0 {
                    each(self, item, &strip);
                    strip.clear();
                }
                strip.push(vertex);
            }
            each(self, item, &strip);
        }
        *self.strip = strip;
    }

    /// Sets up the primitives of all strips of the rasterized stream, in order. Returns the number
    /// of primitives.
    pub fn set_up(&mut self, set_up: &mut SetUp<'_>, context: &PrimitiveContext) -> u64 {
        let mut primitives = 0;
        self.strips(context.raster.stream, |emitted, item, strip| {
            primitives += emitted.add_strip(set_up, (item, strip), context);
        });
        primitives
    }

    /// Captures all primitives of all streams for transform feedback, each stream in order.
    pub fn capture(&mut self, plan: &CapturePlan, captured: &mut Captured) {
        for (stream, (words, out)) in (0..).zip(plan.streams().zip(&mut captured.streams)) {
            self.strips(stream, |emitted, item, strip| {
                assemble(emitted.kernel.facts.output, strip, plan.provoking_last, |corners| {
                    out.primitives += 1;
                    let of_vertex = |&vertex: &u32| words.clone().map(move |word| emitted.word(item, vertex, word));
                    out.words.extend(corners.iter().flat_map(of_vertex));
                });
            });
        }
    }

    /// Returns the flags of a vertex: bit 0 is set if a strip begins with it, the bits above are
    /// its stream.
    fn flags(&self, item: usize, vertex: u32) -> u32 {
        self.word(item, vertex, self.kernel.layout.record as usize - 1)
    }

    fn add_strip(&self, set_up: &mut SetUp<'_>, (item, strip): (usize, &[u32]), context: &PrimitiveContext) -> u64 {
        let (mut primitives, last) = (0, context.raster.provoking_last);
        set_up.begin_strip();
        assemble(self.kernel.facts.output, strip, last, |corners| {
            primitives += 1;
            let provoking = if last { corners.last() } else { corners.first() };
            let id = match (self.kernel.primitive_id, provoking) {
                (Some(word), Some(&vertex)) => self.word(item, vertex, word),
                _ => self.numbers.of((self.first + item) / self.kernel.facts.invocations as usize),
            };
            let places: SmallVec<[u32; 3]> = corners.iter().map(|&vertex| self.place(item, vertex)).collect();
            match context.routed {
                Some(_) => set_up.add_routed(&self.shaded, &places, id),
                None => set_up.add(&self.shaded, &places, id),
            }
        });
        primitives
    }

    /// Returns the number of primitives of all strips of all streams.
    pub fn primitives(&self) -> u64 {
        let mut primitives = 0;
        let of_each = corners(self.kernel.facts.output);
        for item in 0..self.counts.len() {
            let mut lengths = [0; STREAMS as usize];
            for vertex in 0..self.counts[item] {
                let flags = self.flags(item, vertex);
                let length = &mut lengths[(flags >> 1) as usize % STREAMS as usize];
                *length = if flags & 1 != 0 { 1 } else { *length + 1 };
                primitives += u64::from(*length >= of_each);
            }
        }
        primitives
    }
}
