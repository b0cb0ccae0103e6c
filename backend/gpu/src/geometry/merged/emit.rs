//! Merged waves in the front end: from corners of primitives through runs of the merged program to
//! primitives that are set up.

use std::ops::Range;

use smallvec::SmallVec;
use vitric_base::counters::{Counter, Counters};
use vitric_base::simd::{Lanes, Mask, Vectors, WAVE};
use vitric_exec::Program;
use vitric_exec::interp::{Environment, Stop, Wave};
use vitric_exec::runtime::SharedMemory;
use vitric_ir::interface::{LOCAL_WORD, STREAMS};

use super::waves::{InvocationBatch, MergedMode, WaveAssignment};
use super::{GeometryStage, MAX_VERTICES, MergedKernel, input};
use crate::geometry::assembly::assemble;
use crate::geometry::feedback::{CapturePlan, Captured};
use crate::geometry::kernel::input as vertex_input;
use crate::geometry::reuse::Reuse;
use crate::geometry::setup::SetUp;
use crate::geometry::shading::{Feed, Records, ShadeScratch, Shaded, WaveBuffers, shade_waves, shade_words};
use crate::geometry::triangles::Triangles;
use crate::geometry::{DrawNumbers, PrimitiveContext, VertexSource};
use crate::state::corners;

/// Buffers that a worker reuses from wave to wave.
#[derive(Default)]
pub struct EmitScratch {
    wave: Wave,
    memory: SharedMemory,
    /// Number of rows of sixteen vertices in `memory`, in front of the records.
    rows: u32,
    /// Output components of a wave of the vertex stage.
    outputs: Vectors,
    reuse: Reuse,
    /// Number of vertices that each invocation of the batch emitted.
    counts: Vec<u32>,
    /// Records gathered from those with few occupied lanes.
    gathered: Vec<Lanes>,
    strip: Vec<u32>,
    shading: ShadeScratch,
}

impl EmitScratch {
    /// Shades vertices into local memory, for an emission whose corners are places among them.
    /// `program` writes the components that the geometry program reads. Returns `None` if it was
    /// interrupted.
    pub fn shade(
        &mut self,
        kernel: &MergedKernel,
        program: &Program,
        environment: &Environment<'_>,
        feed: impl Feed,
    ) -> Option<()> {
        let (layout, rows) = (kernel.layout, feed.count().div_ceil(WAVE) as u32);
        let (slots, start) = (layout.slots as usize, layout.words() as usize / size_of::<Lanes>());
        let Self { wave, memory, outputs, .. } = self;
        self.rows = rows;
        memory.reserve(layout.record(rows, 0));
        let shaded = &mut memory.lanes_mut()[start..];
        shade_words(program, environment, feed, WaveBuffers { wave, outputs }, |row, words| {
            shaded[row * slots..][..slots].copy_from_slice(&words[..slots]);
        })
    }
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
    /// The programs and their mode.
    pub stage: GeometryStage<'a>,
    /// Source of the vertices.
    pub source: VertexSource<'a>,
    /// Vertices, a fixed number for each primitive: indices, or places among the vertices that
    /// [`EmitScratch::shade`] has shaded.
    pub corners: &'a [u32],
    /// True if the vertices are shaded. Otherwise the merged program shades them.
    pub is_shaded: bool,
    /// Numbers of the primitives.
    pub numbers: PrimitiveNumbers<'a>,
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
        let GeometryStage { kernel, mode, .. } = self.stage;
        WaveAssignment { mode, lanes: WAVE, max_vertices: kernel.facts.max_vertices }
    }

    /// Returns the batches of all invocations.
    pub fn batches(&self) -> impl Iterator<Item = InvocationBatch> {
        let kernel = self.stage.kernel;
        let primitives = self.corners.len() / kernel.vertices();
        self.waves().batches(primitives * kernel.facts.invocations as usize)
    }

    /// Runs a batch. Returns the number of vertices that it emitted, or `None` if the program was
    /// interrupted.
    pub fn run(&self, batch: &InvocationBatch, scratch: &mut EmitScratch) -> Option<usize> {
        let (waves, kernel) = (self.waves(), self.stage.kernel);
        let layout = kernel.layout;
        if !self.is_shaded {
            scratch.rows = layout.vertices;
        }
        scratch.memory.reserve(layout.record(scratch.rows, waves.records() * batch.waves as u32));
        scratch.counts.clear();
        let mut run = 0;
        while run < batch.waves && (run == 0 || waves.may_continue(run, scratch.counts[0])) {
            self.run_wave(batch, run, scratch)?;
            run += 1;
        }
        self.count(batch, run, scratch);
        Some(scratch.counts.iter().sum::<u32>() as usize)
    }

    /// Adds the rows of the vertices that a batch has emitted to `triangles`. Returns `None` if the
    /// kernel was interrupted.
    pub fn finish<'w>(
        &'w self,
        batch: &InvocationBatch,
        scratch: &'w mut EmitScratch,
        triangles: &mut Triangles,
    ) -> Option<Emitted<'w>> {
        let (waves, kernel) = (self.waves(), self.stage.kernel);
        let layout = kernel.layout;
        let EmitScratch { memory, rows, counts, gathered, strip, shading, .. } = scratch;
        let memory: &[Lanes] = memory.lanes_mut();
        let records = &memory[layout.record(*rows, 0) as usize / size_of::<Lanes>()..];
        let record = layout.record as usize;
        let all: u32 = counts.iter().sum();
        let used = (0..counts.len()).filter(|&item| counts[item] > 0);
        let used = used.map(|item| waves.place(item, counts[item] - 1).0 + 1).max().unwrap_or(0);
        let starts = (all as usize * 2 < used * WAVE).then(|| gather(waves, counts, (records, record), gathered));
        let (words, used) = match &starts {
            Some(_) => (&gathered[..], (all as usize).div_ceil(WAVE)),
            None => (records, used),
        };
        let feed = Records { words, record, count: used * WAVE };
        let shaded = shade_waves(&kernel.finish, self.source.environment, feed, shading, triangles)?;
        let (first, numbers) = (batch.items.start, self.numbers);
        Some(Emitted { kernel, waves, memory: records, counts, strip, first, numbers, starts, shaded })
    }

    /// Records the number of vertices that all primitives emitted.
    pub fn record_vertices(&self, vertices: usize) {
        let kernel = self.stage.kernel;
        kernel.amplification.record(self.corners.len() / kernel.vertices(), vertices);
    }

    /// Returns the first primitive of a batch, and the corners of its primitives.
    fn primitives(&self, items: &Range<usize>) -> (usize, &[u32]) {
        let kernel = self.stage.kernel;
        let (of_each, invocations) = (kernel.vertices(), kernel.facts.invocations as usize);
        let (first, end) = (items.start / invocations, (items.end - 1) / invocations + 1);
        (first, &self.corners[first * of_each..end * of_each])
    }

    fn run_wave(&self, batch: &InvocationBatch, wave: usize, scratch: &mut EmitScratch) -> Option<()> {
        let (first, corners) = self.primitives(&batch.items);
        let EmitScratch { wave: runner, memory, rows, reuse, counts, .. } = scratch;
        let places = match self.stage.mode {
            _ if self.is_shaded => corners,
            MergedMode::Replicated => {
                reuse.number_each(corners);
                &reuse.places
            }
            MergedMode::Off | MergedMode::Plain => {
                reuse.number(corners);
                &reuse.places
            }
        };
        let mut inputs = self.inputs(batch, wave, *rows);
        self.set_addresses(&mut inputs, (batch, wave), (first, places));
        if !self.is_shaded {
            inputs[input::VERTICES as usize] = [reuse.vertices.len() as u32; WAVE];
            for (lanes, vertices) in memory.lanes_mut().iter_mut().zip(reuse.vertices.chunks(WAVE)) {
                lanes[..vertices.len()].copy_from_slice(vertices);
            }
        }
        let mut outputs = [[0; WAVE]];
        let environment = Environment { shared: Some(memory), ..*self.source.environment };
        if runner.call(self.stage.program, &environment, Mask::MAX, &inputs, &mut outputs) == Stop::Interrupted {
            return None;
        }
        let (waves, most) = (self.waves(), self.stage.kernel.facts.max_vertices);
        counts.resize(batch.items.len(), 0);
        for (item, count) in counts.iter_mut().enumerate() {
            let lanes = &outputs[0][waves.lanes_of(item, wave)];
            *count = lanes.iter().copied().max().unwrap_or(0).min(most).max(*count);
        }
        Some(())
    }

    /// Returns the inputs of a wave except for its vertices. Records begin behind `rows` rows of
    /// vertices.
    fn inputs(&self, batch: &InvocationBatch, wave: usize, rows: u32) -> [Lanes; input::COUNT] {
        let (waves, kernel) = (self.waves(), self.stage.kernel);
        let facts = &kernel.facts;
        let mut inputs = [[0; WAVE]; input::COUNT];
        let DrawNumbers { base_vertex, base_instance, draw } = self.source.numbers;
        let base = kernel.layout.record(rows, wave as u32 * waves.records());
        for (word, same) in [
            (vertex_input::INSTANCE, self.source.instance),
            (vertex_input::BASE_VERTEX, base_vertex),
            (vertex_input::BASE_INSTANCE, base_instance),
            (vertex_input::DRAW, draw),
            (input::EMIT_BASE, base),
            (input::EMIT_MASK, waves.mask()),
        ] {
            inputs[word as usize] = [same; WAVE];
        }
        let shares = (0..WAVE).filter_map(|lane| Some((lane, waves.share(batch.items.len(), wave, lane)?)));
        for (lane, share) in shares {
            let item = batch.items.start + share.item;
            let primitive = item / facts.invocations as usize;
            inputs[input::EMIT_FIRST as usize][lane] = share.first;
            inputs[input::EMIT_SPAN as usize][lane] = share.span;
            inputs[input::PRIMITIVE as usize][lane] = self.numbers.of(primitive);
            inputs[input::INVOCATION as usize][lane] = (item % facts.invocations as usize) as u32;
        }
        inputs
    }

    /// Sets the addresses of the vertices. `places` has the corners of the batch's primitives, from
    /// primitive `first` on.
    fn set_addresses(
        &self,
        inputs: &mut [Lanes; input::COUNT],
        (batch, wave): (&InvocationBatch, usize),
        (first, places): (usize, &[u32]),
    ) {
        let (waves, kernel) = (self.waves(), self.stage.kernel);
        let (of_each, invocations) = (kernel.vertices(), kernel.facts.invocations as usize);
        let shares = (0..WAVE).filter_map(|lane| Some((lane, waves.share(batch.items.len(), wave, lane)?)));
        for (lane, share) in shares {
            let primitive = (batch.items.start + share.item) / invocations;
            let places = &places[(primitive - first) * of_each..][..of_each.min(MAX_VERTICES)];
            for (word, &place) in places.iter().enumerate() {
                inputs[input::ADDRESS as usize + word][lane] = kernel.layout.vertex(place);
            }
        }
    }

    /// Counts a batch of which the first `run` waves ran.
    fn count(&self, batch: &InvocationBatch, run: usize, scratch: &EmitScratch) {
        let Some(counters) = self.counters else { return };
        let (waves, items) = (self.waves(), batch.items.len());
        let wave_counter = match self.stage.mode {
            MergedMode::Off => Counter::MergedOff,
            MergedMode::Plain => Counter::MergedPlain,
            MergedMode::Replicated => Counter::MergedReplicated,
        };
        let lanes: usize = (0..run).flat_map(|wave| (0..items).map(move |item| waves.lanes_of(item, wave).len())).sum();
        counters.count(wave_counter, run as u64);
        counters.count(Counter::MergedLanes, lanes as u64);
        if !self.is_shaded {
            let Reuse { vertices, places, .. } = &scratch.reuse;
            counters.count(Counter::Vertices, (vertices.len() * run) as u64);
            counters.count(Counter::Reused, (places.len() - vertices.len()) as u64);
        }
        counters.count(Counter::GeometryInvocations, items as u64);
        let stored = u64::from(waves.records() * self.stage.kernel.layout.record * LOCAL_WORD);
        counters.count(Counter::MergedBytes, stored * run as u64);
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
