//! Front end: processes chunks of a draw, from vertex indices through vertex reuse, shading and
//! culling to triangles.

mod mesh;
mod patches;

use std::ops::Range;

use parking_lot::Mutex;
use vitric_base::counters::{Counter, Counters};
use vitric_base::object_pool::ObjectPool;

use super::corners::IndexRange;
use super::cull::CullQueue;
use super::feedback::{CapturePlan, Captured};
use super::lookahead::{self, BoundRules, ChunkBounds, DrawBounds, LOOKAHEAD_CHUNK};
use super::merged::{Emission, EmitScratch, Emitted, GeometryStage, PrimitiveNumbers};
use super::mesh::{MeshScratch, MeshWorkgroups};
use super::plan::Rules;
use super::posh::{self, ChunkIndices, CullScratch, Culled, Interrupted, Posh};
use super::reuse::Reuse;
use super::setup::{Routes, SetUp, room};
use super::shading::{PositionSource, ShadeScratch, shade};
use super::tessellation::{PatchScratch, TessellationKernel};
use super::triangles::Triangles;
use super::{Corners, PositionKernel, PrimitiveContext, VertexSource};
use crate::hiz::DepthRange;
use crate::state::Subdivision;

/// Number of primitives in a chunk, whose vertices are shaded at once. A high number avoids
/// shading vertices that chunks share twice. A low number keeps the vertices in the second-level
/// cache until their primitives are set up.
const MAX_CHUNK: usize = 1 << 12;

/// Primitives of one instance of a draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceRange {
    /// Number of the instance in the draw.
    pub instance: u32,
    /// Numbers of the primitives in the instance.
    pub primitives: Range<usize>,
}

/// A draw after primitive assembly.
pub struct Assembled<'a> {
    /// Source of the vertices. Its instance is the draw's first.
    pub source: VertexSource<'a>,
    /// The corners of one instance's primitives.
    pub corners: Corners<'a>,
    /// Number of vertices of a primitive: 1 to 3, or more with a geometry program.
    pub of_each: usize,
    /// The tessellation programs and the tessellator's settings, if primitives are patches.
    pub patches: Option<(&'a TessellationKernel, Subdivision)>,
    /// The geometry stage, if there is a geometry program.
    pub merged: Option<GeometryStage<'a>>,
    /// The workgroups of a mesh program. They are processed like primitives, with their numbers as
    /// corners.
    pub mesh: Option<&'a MeshWorkgroups<'a>>,
    /// Number of instances.
    pub instances: u32,
    /// Number of the first primitive in its instance.
    pub first_primitive: u32,
    /// Pool of empty triangle buffers.
    pub spare: &'a ObjectPool<Triangles>,
    /// Counters to update, if enabled.
    pub counters: Option<&'a Counters>,
    /// Stippled strips of lines, which must be processed in order. `None` for strips that geometry
    /// programs emit.
    pub strips: Option<Strips>,
    /// Contexts for setup, one for each viewport if vertices name it. Empty if primitives are
    /// discarded after shading.
    pub contexts: &'a [PrimitiveContext],
    /// Number of layers that are drawn to.
    pub layers: u32,
    /// The policy and the kernel of the cull pipe, or `None` if the draw does not use it.
    pub posh: Option<(Posh, &'a PositionKernel)>,
    /// Layout of the vertices that transform feedback writes, if active. The vertex kernel then
    /// writes the captured components too.
    pub captures: Option<&'a CapturePlan>,
}

/// Primitives of a chunk that are set up, whose vertices are numbered.
struct Selection {
    /// True if `CullScratch::visible` lists them; false if all primitives of the chunk are set up.
    is_culled: bool,
    /// Number of primitives that are counted as inputs of clipping, and of those outside.
    inputs: usize,
    outside: usize,
    /// Number of primitives that remained after culling, if that is known.
    remaining: Option<usize>,
}

/// Strips of lines whose stipple continues from line to line.
#[derive(Debug, Default)]
pub struct Strips {
    /// Number of each strip's first line among the lines of an instance, in order.
    pub starts: Vec<u32>,
    /// The stipple counter after the last processed line.
    counter: Mutex<f64>,
}

impl Strips {
    /// Creates strips that begin with the given lines. With `before`, the draw continues an
    /// earlier part of itself, and the first lines continue its last strip.
    pub fn new(starts: Vec<u32>, before: Option<&Self>) -> Self {
        Self { starts, counter: Mutex::new(before.map_or(0.0, |before| *before.counter.lock())) }
    }
}

/// Buffers that a worker reuses from chunk to chunk.
#[derive(Default)]
pub struct FrontScratch {
    reuse: Reuse,
    pub(super) indices: Vec<u32>,
    /// Location of the indices in `indices`, and the lowest and highest of them. The look-ahead
    /// does not read indices again if the next chunk has the same location, as with instances.
    last_read: Option<(IndexRange, [u32; 2])>,
    /// The corners that `reuse` has numbered.
    numbered: Option<Range<usize>>,
    cull: CullScratch,
    pub(super) shading: ShadeScratch,
    /// Boxed because it is large and the scratch is moved.
    pub(super) cull_queue: Box<CullQueue>,
    pub(super) emission: Box<EmitScratch>,
    pub(super) patches: Box<PatchScratch>,
    mesh: Box<MeshScratch>,
    /// Captured vertices, until transform feedback writes them.
    pub captured: Captured,
}

/// Buffers that a worker reuses for emitted vertices, and captured ones.
pub(super) struct EmitBuffers<'a> {
    pub(super) scratch: &'a mut EmitScratch,
    pub(super) cull_queue: &'a mut CullQueue,
    pub(super) captured: &'a mut Captured,
}

impl FrontScratch {
    /// Begins a look-ahead. Forgets the indices read before, because the index buffer may have
    /// changed.
    pub fn look_ahead(&mut self) {
        self.last_read = None;
    }
}

impl Assembled<'_> {
    /// Returns the number of primitives of one instance.
    pub(super) fn per_instance(&self) -> usize {
        self.corners.count() / self.of_each
    }

    /// Returns the number of primitives that one primitive is expected to become. Programs other
    /// than geometry programs do not exceed it.
    pub fn amplification(&self) -> usize {
        let of_mesh = self.mesh.map_or(1, |mesh| mesh.max_primitives().max(1));
        self.merged.map_or(of_mesh, |stage| stage.kernel.amplification())
    }

    /// Returns a number of primitives, rounded down to whole waves of a geometry program. Fewer
    /// than a wave are returned as they are.
    pub fn whole_waves(&self, primitives: usize) -> usize {
        match self.merged.map_or(1, |stage| stage.kernel.primitives_of_waves()) {
            step if step <= primitives => primitives / step * step,
            _ => primitives,
        }
    }

    /// Returns true if chunks may be processed in any order.
    pub fn is_pure(&self) -> bool {
        self.source.kernel.is_pure() && self.patches.is_none_or(|(kernel, _)| kernel.is_pure())
    }

    /// Returns the number of primitives of all instances.
    pub fn count(&self) -> usize {
        self.per_instance() * self.instances as usize
    }

    /// Shades and sets up a range of all primitives, after those in the last buffer of `out`.
    /// Returns false if the time limit of the draw has expired.
    pub fn process(&self, scratch: &mut FrontScratch, range: Range<usize>, out: &mut Vec<Triangles>) -> bool {
        self.process_visible(scratch, range, None, out)
    }

    /// Processes primitives like [`Self::process`], without those that the look-ahead culled or
    /// that Hi-Z hides by their bounds.
    pub fn process_visible(
        &self,
        scratch: &mut FrontScratch,
        mut range: Range<usize>,
        bounds: Option<&DrawBounds<'_>>,
        out: &mut Vec<Triangles>,
    ) -> bool {
        scratch.numbered = None;
        while range.start < range.end {
            let (instance, first) = (range.start / self.per_instance(), range.start % self.per_instance());
            let whole = bounds.map_or(MAX_CHUNK, |_| LOOKAHEAD_CHUNK - first % LOOKAHEAD_CHUNK);
            let count = (self.per_instance() - first).min(range.end - range.start).min(whole);
            let (instance, primitives) = (instance as u32, first..first + count);
            let done = match (self.merged, self.mesh) {
                (None, None) => self.shade_chunk(scratch, InstanceRange { instance, primitives }, bounds, out),
                (None, Some(mesh)) => {
                    self.mesh_chunk(mesh, (&mut scratch.mesh, &mut scratch.cull_queue), primitives, out)
                }
                (Some(stage), _) => self.emit_chunk(stage, scratch, InstanceRange { instance, primitives }, out),
            };
            if !done {
                return false;
            }
            range.start += count;
            if range.start < range.end && self.source.environment.deadline.expired() {
                return false;
            }
        }
        true
    }

    /// Returns the range that depths of filled triangles are clamped to.
    pub fn depth_range(&self) -> DepthRange {
        let [min, max] = self.contexts.first().map_or([0.0, 1.0], |context| context.plan.rules.depth_range);
        DepthRange { min, max }
    }

    /// Returns the number of look-ahead chunks of one instance.
    fn chunks_of_each(&self) -> usize {
        self.per_instance().div_ceil(LOOKAHEAD_CHUNK)
    }

    /// Returns the chunks of the look-ahead.
    pub fn lookahead_chunks(&self) -> impl Iterator<Item = InstanceRange> + use<> {
        let count = self.per_instance();
        // A draw without primitives may have any number of instances, which need no iteration.
        let instances = if count == 0 { 0 } else { self.instances };
        (0..instances).flat_map(move |instance| {
            let starts = (0..count).step_by(LOOKAHEAD_CHUNK);
            starts.map(move |start| InstanceRange { instance, primitives: start..count.min(start + LOOKAHEAD_CHUNK) })
        })
    }

    /// Returns a look-ahead chunk as a range of the primitives of all instances.
    pub fn range_of(&self, InstanceRange { instance, primitives }: &InstanceRange) -> Range<usize> {
        let first = *instance as usize * self.per_instance();
        first + primitives.start..first + primitives.end
    }

    /// Runs the cull pipe of the look-ahead for a chunk. Returns `Ok(None)` if its vertices lie too
    /// far apart.
    ///
    /// # Errors
    /// Returns an error if the time limit of the draw has expired.
    pub fn bound_chunk(
        &self,
        FrontScratch { indices, last_read, cull, .. }: &mut FrontScratch,
        InstanceRange { instance, primitives: range }: InstanceRange,
        rules: &BoundRules,
    ) -> Result<Option<ChunkBounds>, Interrupted> {
        let Some((_, kernel)) = self.posh else { return Ok(None) };
        let source = self.source_of(instance);
        let chunk = match &self.corners {
            Corners::Indexed(buffer) => {
                let corners = range.start * self.of_each..range.end * self.of_each;
                let place = buffer.identity(corners.clone());
                let known = last_read.take().filter(|(of, _)| *of == place).map(|(_, span)| span);
                let span = known.unwrap_or_else(|| {
                    buffer.read_anew(corners, indices);
                    ChunkIndices::of(indices).span
                });
                *last_read = Some((place, span));
                ChunkIndices { vertices: indices, span, added: buffer.base }
            }
            _ => ChunkIndices::of(self.corners_in(range, indices)),
        };
        let plan = &self.contexts[0].plan;
        let draw = PositionSource { source: &source, kernel };
        lookahead::bound_chunk(draw, &chunk, (rules, plan), &mut cull.positions)
    }

    /// Returns the corners of a range of primitives. May store them in `indices`.
    fn corners_in<'i>(&'i self, range: Range<usize>, indices: &'i mut Vec<u32>) -> &'i [u32] {
        let corners = range.start * self.of_each..range.end * self.of_each;
        match &self.corners {
            Corners::Assembled(vertices) => &vertices[corners],
            _ => {
                self.read_corners(corners, indices);
                indices
            }
        }
    }

    /// Numbers the vertices of a range of corners.
    fn number(&self, FrontScratch { reuse, indices, .. }: &mut FrontScratch, range: Range<usize>) {
        match &self.corners {
            Corners::Sequence(first, _) => {
                reuse.number_all(first.wrapping_add(range.start as u32), range.len() as u32);
            }
            Corners::Assembled(vertices) => reuse.number(&vertices[range]),
            Corners::Indexed(buffer) => {
                buffer.read_based(range, indices);
                reuse.number(indices);
            }
        }
    }

    /// Returns true if the draw can use the cull pipe: it must draw filled triangles by programs
    /// without side effects.
    pub fn suits_posh(&self) -> bool {
        let is_filled = self.contexts.first().is_some_and(PrimitiveContext::fills_as_placed);
        self.merged.is_none() && self.patches.is_none() && self.of_each == 3 && is_filled && self.is_pure()
    }

    /// Runs the cull pipe: finds the primitives that may be visible and numbers their vertices.
    /// Returns `Ok(None)` if the chunk does not use the cull pipe, so that all primitives may be
    /// visible.
    ///
    /// # Errors
    /// Returns an error if the time limit of the draw has expired.
    fn cull(
        &self,
        source: &VertexSource<'_>,
        scratch: &mut FrontScratch,
        range: &Range<usize>,
    ) -> Result<Option<Culled>, Interrupted> {
        let Some((_, kernel)) = self.posh.filter(|(posh, kernel)| posh.takes_chunk(&kernel.heuristic)) else {
            return Ok(None);
        };
        let FrontScratch { reuse, indices, cull, numbered, .. } = scratch;
        // Culling overwrites the numbering of the previous chunk.
        *numbered = None;
        let (corners, rules) = (self.corners_in(range.clone(), indices), Rules::new(&self.contexts[0]));
        let culled = posh::cull_chunk(PositionSource { source, kernel }, corners, &rules, cull, reuse)?;
        if let Some(counters) = self.counters {
            counters.count(if culled.is_some() { Counter::PoshChunks } else { Counter::PoshScattered }, 1);
            let Culled { vertices, by_volume, by_facing } = culled.unwrap_or_default();
            counters.count(Counter::PoshVertices, vertices as u64);
            counters.count(Counter::PoshVolumeKills, by_volume as u64);
            counters.count(Counter::PoshFacingKills, by_facing as u64);
        }
        Ok(culled)
    }

    /// Returns the source of the vertices of an instance.
    pub(super) fn source_of(&self, instance: u32) -> VertexSource<'_> {
        VertexSource { instance: self.source.instance.wrapping_add(instance), ..self.source }
    }

    /// Finds the primitives of a chunk that are set up, and numbers their vertices.
    ///
    /// # Errors
    /// Returns an error if the time limit of the draw has expired.
    fn select(
        &self,
        source: &VertexSource<'_>,
        scratch: &mut FrontScratch,
        InstanceRange { instance, primitives: range }: &InstanceRange,
        bounds: Option<&DrawBounds<'_>>,
    ) -> Result<Selection, Interrupted> {
        let corners = range.start * self.of_each..range.end * self.of_each;
        let number = *instance as usize * self.chunks_of_each() + range.start / LOOKAHEAD_CHUNK;
        if let Some((bounds, chunk)) = bounds.and_then(|bounds| Some((bounds, bounds.chunk(number)?))) {
            let start = range.start / LOOKAHEAD_CHUNK * LOOKAHEAD_CHUNK;
            let in_chunk = range.start - start..range.end - start;
            let remaining = Some(bounds.list_visible(chunk, &in_chunk, &mut scratch.cull.visible));
            self.number_visible(scratch, range);
            // The look-ahead counts the others.
            let inputs = scratch.cull.visible.len();
            return Ok(Selection { is_culled: true, inputs, outside: 0, remaining });
        }
        let culled = self.cull(source, scratch, range)?;
        if culled.is_none() && scratch.numbered.as_ref() != Some(&corners) {
            self.number(scratch, corners.clone());
            scratch.numbered = Some(corners);
        }
        Ok(Selection {
            is_culled: culled.is_some(),
            inputs: range.len(),
            outside: culled.map_or(0, |culled| culled.by_volume),
            remaining: culled.map(|_| scratch.cull.visible.len()),
        })
    }

    /// Numbers the vertices of those primitives of a range that are listed as visible.
    fn number_visible(
        &self,
        FrontScratch { reuse, indices, cull, numbered, .. }: &mut FrontScratch,
        range: &Range<usize>,
    ) {
        *numbered = None;
        cull.corners.clear();
        if !cull.visible.is_empty() {
            let all = self.corners_in(range.clone(), indices);
            for &number in &cull.visible {
                cull.corners.extend_from_slice(&all[number as usize * 3..][..3]);
            }
        }
        reuse.number(&cull.corners);
    }

    /// Shades and sets up primitives of an instance.
    fn shade_chunk(
        &self,
        scratch: &mut FrontScratch,
        range: InstanceRange,
        bounds: Option<&DrawBounds<'_>>,
        out: &mut Vec<Triangles>,
    ) -> bool {
        let source = self.source_of(range.instance);
        let Ok(selection) = self.select(&source, scratch, &range, bounds) else { return false };
        let range = range.primitives;
        if selection.is_culled && scratch.cull.visible.is_empty() {
            self.record_remaining(selection.remaining.unwrap_or(0), range.len());
            self.count_clipped(selection.inputs as u64, -(selection.outside as i64));
            return true;
        }
        let FrontScratch { reuse, shading, cull_queue, cull, captured, .. } = scratch;
        let mut discarded = Triangles::default();
        let open = self
            .contexts
            .first()
            .map(|context| room((context, 0), (out, reuse.places.len() / self.of_each), self.spare));
        let triangles = open.map_or(&mut discarded, |open| &mut out[open]);
        let before = (triangles.len(), triangles.vertices());
        let Some(shaded) = shade(&source, &reuse.vertices, shading, triangles) else { return false };
        self.count_shaded(reuse);
        if let Some(plan) = self.captures {
            plan.capture_shaded(&shaded, reuse.places.chunks_exact(self.of_each), captured);
        }
        if let Some(open) = open {
            let routes = Routes { contexts: self.contexts, layers: self.layers };
            let mut set_up = SetUp::new(routes, cull_queue, (out, open), self.spare);
            if let Some(Strips { starts, counter }) = &self.strips {
                set_up.continue_strips(starts, *counter.lock());
            }
            let (places, first) = (reuse.places.chunks_exact(self.of_each), self.first_primitive + range.start as u32);
            let number = |place: usize| first + if selection.is_culled { cull.visible[place] } else { place as u32 };
            if self.contexts[0].routed.is_some() {
                (0..).zip(places).for_each(|(place, places)| set_up.add_routed(&shaded, places, number(place)));
            } else if self.of_each == 3 {
                set_up.add_triangles(&shaded, &reuse.places, number);
            } else {
                (0..).zip(places).for_each(|(place, places)| set_up.add(&shaded, places, number(place)));
            }
            let (counter, gained) = set_up.finish();
            let set_up = || out[open].len().saturating_sub(before.0);
            self.record_remaining(selection.remaining.unwrap_or_else(set_up), range.len());
            self.count_clipped(selection.inputs as u64, gained - selection.outside as i64);
            if out[open].len() == before.0 {
                out[open].forget_rows(before.1);
            }
            if let Some(strips) = &self.strips {
                *strips.counter.lock() = counter;
            }
        }
        true
    }
}

impl Assembled<'_> {
    /// Records the number of primitives of a chunk that remained after culling.
    fn record_remaining(&self, remaining: usize, of: usize) {
        if let Some((_, kernel)) = self.posh {
            kernel.heuristic.record_visible(remaining, of);
        }
    }

    /// Counts the shaded vertices of a chunk.
    fn count_shaded(&self, reuse: &Reuse) {
        if let Some(counters) = self.counters {
            counters.count(Counter::Vertices, reuse.vertices.len() as u64);
            counters.count(Counter::Reused, (reuse.places.len() - reuse.vertices.len()) as u64);
        }
    }

    /// Counts the primitives before clipping, and `gained` more after it.
    pub(super) fn count_clipped(&self, inputs: u64, gained: i64) {
        if let Some(counters) = self.counters {
            counters.count(Counter::ClipInputs, inputs);
            counters.count(Counter::ClipOutputs, inputs.saturating_add_signed(gained));
        }
    }

    /// Reads the vertex indices of a range of corners.
    pub(super) fn read_corners(&self, range: Range<usize>, out: &mut Vec<u32>) {
        match &self.corners {
            Corners::Sequence(first, _) => {
                out.clear();
                out.extend(range.map(|corner| first.wrapping_add(corner as u32)));
            }
            Corners::Assembled(vertices) => vertices[range].clone_into(out),
            Corners::Indexed(buffer) => buffer.read_based(range, out),
        }
    }

    /// Processes primitives of an instance with a geometry program.
    fn emit_chunk(
        &self,
        stage: GeometryStage<'_>,
        scratch: &mut FrontScratch,
        InstanceRange { instance, primitives: range }: InstanceRange,
        out: &mut Vec<Triangles>,
    ) -> bool {
        let (source, all) = (self.source_of(instance), range.start * self.of_each..range.end * self.of_each);
        match stage.separate {
            Some(_) => self.number(scratch, all),
            None => self.read_corners(all, &mut scratch.indices),
        }
        let FrontScratch { indices, reuse, cull_queue, emission: scratch, captured, .. } = scratch;
        let mut corners = &*indices;
        if let Some(stages) = stage.separate {
            let feed = source.feed(&reuse.vertices);
            if scratch.shade(stage.kernel, &stages.vertex, source.environment, feed).is_none() {
                return false;
            }
            corners = &reuse.places;
            self.count_shaded(reuse);
        }
        let emission = Emission {
            stage,
            source,
            corners,
            is_shaded: stage.separate.is_some(),
            numbers: PrimitiveNumbers::From(self.first_primitive as usize + range.start),
            counters: self.counters,
        };
        self.emit(&emission, EmitBuffers { scratch, cull_queue, captured }, out)
    }

    /// Processes the primitives of an emission with a merged program.
    pub(super) fn emit(
        &self,
        emission: &Emission<'_>,
        EmitBuffers { scratch, cull_queue, captured }: EmitBuffers<'_>,
        out: &mut Vec<Triangles>,
    ) -> bool {
        let mut all = 0;
        for batch in emission.batches() {
            let Some(vertices) = emission.run(&batch, scratch) else { return false };
            all += vertices;
            let Some(context) = self.contexts.first() else {
                let mut unused = Triangles::default();
                let Some(mut emitted) = emission.finish(&batch, scratch, &mut unused) else { return false };
                self.count_emitted(&emitted);
                self.capture_emitted(&mut emitted, captured);
                continue;
            };
            let open = room((context, 0), (out, vertices), self.spare);
            let triangles = &mut out[open];
            let before = (triangles.len(), triangles.vertices());
            let Some(mut emitted) = emission.finish(&batch, scratch, triangles) else { return false };
            self.count_emitted(&emitted);
            self.capture_emitted(&mut emitted, captured);
            let routes = Routes { contexts: self.contexts, layers: self.layers };
            let mut set_up = SetUp::new(routes, cull_queue, (out, open), self.spare);
            if self.contexts[0].raster.line_stipple.is_some() {
                // Emitted strips mark their own beginnings.
                set_up.continue_strips(&[], 0.0);
            }
            let primitives = emitted.set_up(&mut set_up, &self.contexts[0]);
            let (_, gained) = set_up.finish();
            self.count_clipped(primitives, gained);
            if out[open].len() == before.0 {
                out[open].forget_rows(before.1);
            }
            if self.source.environment.deadline.expired() {
                return false;
            }
        }
        emission.record_vertices(all);
        true
    }

    fn count_emitted(&self, emitted: &Emitted<'_>) {
        if let Some(counters) = self.counters {
            counters.count(Counter::GeometryPrimitives, emitted.primitives());
        }
    }

    /// Captures emitted vertices for transform feedback.
    fn capture_emitted(&self, emitted: &mut Emitted<'_>, captured: &mut Captured) {
        if let Some(plan) = self.captures {
            emitted.capture(plan, captured);
        }
    }
}
