//! The front end: pieces of a draw from the numbers of vertices through reuse, shading and culling to triangles.

mod mesh;
mod patches;

use std::ops::Range;

use parking_lot::Mutex;
use vitric_base::counters::{Counter, Counters};
use vitric_base::object_pool::ObjectPool;

use super::corners::IndexPlace;
use super::cull::Waiting;
use super::feedback::{CapturePlan, Captured};
use super::merged::{Emission, EmitScratch, Emitted, MergedKernel, MergedMode, PrimitiveNumbers};
use super::mesh::{Mesh, MeshScratch};
use super::plan::Rules;
use super::posh::{self, BLOCK, BLOCKS, CullScratch, Culled, Interrupted, Named, Posh, Sketch};
use super::reuse::Reuse;
use super::setup::{Routes, SetUp, room};
use super::shading::{ShadeScratch, shade};
use super::tessellation::{PatchScratch, TessellationKernel};
use super::triangles::Triangles;
use super::{Corners, PositionKernel, PrimitiveContext, VertexSource};
use crate::hiz::Hiding;
use crate::state::Subdivision;

/// Primitives whose vertices are shaded at once: many, as vertices that pieces share are shaded in each; few enough that they are still
/// in the second cache when they are set up.
const PIECE: usize = 1 << 12;

/// A draw, assembled.
pub struct Assembled<'a> {
    /// Its vertices. The instance is that of the first.
    pub source: VertexSource<'a>,
    /// The corners of an instance's primitives.
    pub corners: Corners<'a>,
    /// Vertices of a primitive, 1 to 3; more where a geometry program takes them.
    pub of_each: usize,
    /// The tessellation programs, and what the tessellator does; primitives are patches then.
    pub patches: Option<(&'a TessellationKernel, Subdivision)>,
    /// The geometry program, linked with the vertex program, and how its waves are made.
    pub merged: Option<(&'a MergedKernel, MergedMode)>,
    /// The workgroups of a mesh program, which then stand for primitives: corners are their numbers.
    pub mesh: Option<&'a Mesh<'a>>,
    /// Instances.
    pub instances: u32,
    /// Number of the first primitive in its instance.
    pub first_primitive: u32,
    /// Memory of triangles.
    pub spare: &'a ObjectPool<Triangles>,
    /// Who counts, if anybody does.
    pub counters: Option<&'a Counters>,
    /// Strips of lines that have a stipple, which must be taken in order; none of those that geometry programs emit.
    pub strips: Option<Strips>,
    /// What set-up needs to know, by viewport where vertices name it; none when primitives are discarded after shading.
    pub contexts: &'a [PrimitiveContext],
    /// Layers that are drawn to.
    pub layers: u32,
    /// The cull pipe, and which pieces go through it; none where the draw is to be left out.
    pub posh: Option<(Posh, &'a PositionKernel)>,
    /// What the cull pipe has found ahead of this draw; none where all may be visible.
    pub seen: Option<Seen<'a>>,
    /// What transform feedback takes of vertices, where it is active. The kernel gives that then.
    pub captures: Option<&'a CapturePlan>,
}

/// What the cull pipe has found of a draw's blocks.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Whether each may be visible, instance by instance.
    pub blocks: &'a [bool],
    /// What primitives of those are tested against.
    pub hiding: Hiding<'a>,
}

/// Strips of lines whose stipple goes on from line to line.
#[derive(Debug, Default)]
pub struct Strips {
    /// Number of each strip's first line among the lines of an instance, in order.
    pub starts: Vec<u32>,
    /// The stipple counter behind the last line that was taken.
    counter: Mutex<f64>,
}

impl Strips {
    /// Strips that begin with these lines, in the middle of one if they are part of a draw that has come so far.
    pub fn new(starts: Vec<u32>, before: Option<&Self>) -> Self {
        Self { starts, counter: Mutex::new(before.map_or(0.0, |before| *before.counter.lock())) }
    }
}

/// What a worker keeps from piece to piece.
#[derive(Default)]
pub struct FrontScratch {
    reuse: Reuse,
    pub(super) indices: Vec<u32>,
    /// Which ones these are, and the least and the greatest of them: where pieces are looked at ahead, one after the other.
    last_read: Option<(IndexPlace, [u32; 2])>,
    /// The corners that `reuse` has numbered.
    numbered: Option<Range<usize>>,
    cull: CullScratch,
    pub(super) shading: ShadeScratch,
    /// It is large, and what holds it moves.
    pub(super) waiting: Box<Waiting>,
    pub(super) emission: Box<EmitScratch>,
    pub(super) patches: Box<PatchScratch>,
    mesh: Box<MeshScratch>,
    /// What transform feedback is to write, until somebody takes it.
    pub captured: Captured,
}

impl FrontScratch {
    /// Begins to look at pieces ahead: what was read before may be something else by now.
    pub fn look_ahead(&mut self) {
        self.last_read = None;
    }
}

impl Assembled<'_> {
    /// Primitives of one instance.
    pub(super) fn per_instance(&self) -> usize {
        self.corners.count() / self.of_each
    }

    /// Most primitives that may become of one.
    pub fn amplification(&self) -> usize {
        let of_mesh = self.mesh.map_or(1, |mesh| mesh.most_primitives().max(1));
        self.merged.map_or(of_mesh, |(kernel, _)| kernel.amplification())
    }

    /// Whether pieces may be taken in any order.
    pub fn is_pure(&self) -> bool {
        self.source.kernel.is_pure() && self.patches.is_none_or(|(kernel, _)| kernel.is_pure())
    }

    /// Primitives of all instances.
    pub fn count(&self) -> usize {
        self.per_instance() * self.instances as usize
    }

    /// Shades and sets up a range of all primitives, behind those in the last of `out`. Returns false when the time of the draw is
    /// up.
    pub fn process(&self, scratch: &mut FrontScratch, mut range: Range<usize>, out: &mut Vec<Triangles>) -> bool {
        scratch.numbered = None;
        while range.start < range.end {
            let (instance, first) = (range.start / self.per_instance(), range.start % self.per_instance());
            let count = (self.per_instance() - first).min(range.end - range.start).min(PIECE);
            let (is_seen, count) = self.run_of_blocks(instance, first..first + count);
            if !is_seen {
                range.start += count;
                continue;
            }
            let piece = first..first + count;
            let done = match (self.merged, self.mesh) {
                (None, None) => self.piece(scratch, instance as u32, piece, out),
                (None, Some(mesh)) => self.mesh_piece(mesh, (&mut scratch.mesh, &mut scratch.waiting), piece, out),
                (Some(merged), _) => self.emit_piece(merged, scratch, (instance as u32, piece), out),
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

    /// What depths of filled triangles are clamped to.
    pub fn depth_range(&self) -> [f32; 2] {
        self.contexts.first().map_or([0.0, 1.0], |context| context.plan.rules.depth_range)
    }

    /// Blocks of an instance.
    fn blocks_of_each(&self) -> usize {
        self.per_instance().div_ceil(BLOCK)
    }

    /// Blocks of all instances.
    pub fn blocks(&self) -> usize {
        self.blocks_of_each() * self.instances as usize
    }

    /// Whether the first primitives of a range of an instance may be visible, and for how many that holds.
    fn run_of_blocks(&self, instance: usize, range: Range<usize>) -> (bool, usize) {
        let Some(Seen { blocks, .. }) = &self.seen else { return (true, range.len()) };
        let blocks = &blocks[instance * self.blocks_of_each()..];
        let (first, end) = (range.start / BLOCK, range.end.div_ceil(BLOCK));
        let count = blocks[first..end].iter().take_while(|seen| **seen == blocks[first]).count();
        (blocks[first], ((first + count) * BLOCK).min(range.end) - range.start)
    }

    /// The pieces that the cull pipe takes ahead: instance, primitives, and number of the first block.
    pub fn pieces(&self) -> impl Iterator<Item = (u32, Range<usize>, usize)> + use<> {
        let (count, blocks) = (self.per_instance(), self.blocks_of_each());
        // Nobody counts instances of nothing.
        let instances = if count == 0 { 0 } else { self.instances as usize };
        (0..instances).flat_map(move |instance| {
            let starts = (0..count).step_by(BLOCK * BLOCKS);
            starts.map(move |start| {
                (instance as u32, start..count.min(start + BLOCK * BLOCKS), instance * blocks + start / BLOCK)
            })
        })
    }

    /// Finds where the blocks of a piece lie. `Ok(None)` where that is not known.
    ///
    /// # Errors
    /// The time of the draw is up.
    pub fn sketch(
        &self,
        FrontScratch { indices, last_read, cull, .. }: &mut FrontScratch,
        (instance, range): (u32, Range<usize>),
        with_blocks: bool,
    ) -> Result<Option<Sketch>, Interrupted> {
        let Some((_, kernel)) = self.posh else { return Ok(None) };
        let source = VertexSource { instance: self.source.instance.wrapping_add(instance), ..self.source };
        let named = match &self.corners {
            Corners::Indexed(buffer) => {
                let corners = range.start * self.of_each..range.end * self.of_each;
                let place = buffer.place(corners.clone());
                let known = last_read.take().filter(|(of, _)| *of == place).map(|(_, span)| span);
                let span = known.unwrap_or_else(|| {
                    buffer.read_anew(corners, indices);
                    Named::of(indices).span
                });
                *last_read = Some((place, span));
                Named { vertices: indices, span, added: buffer.base }
            }
            _ => Named::of(self.corners_in(range, indices)),
        };
        let plan = &self.contexts[0].plan;
        posh::sketch_piece((&source, kernel), (&named, with_blocks), plan, &mut cull.positions)
    }

    /// The corners of some primitives, which may be put in `indices`.
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

    /// Numbers the vertices of some corners.
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

    /// Whether the cull pipe can serve: it does for triangles that are filled, by programs without side effects.
    pub fn suits_posh(&self) -> bool {
        let is_filled = self.contexts.first().is_some_and(PrimitiveContext::fills_as_placed);
        self.merged.is_none() && self.patches.is_none() && self.of_each == 3 && is_filled && self.is_pure()
    }

    /// The cull pipe: finds the primitives that may be seen, and numbers their vertices. Without it all may.
    ///
    /// # Errors
    /// The time of the draw is up.
    fn cull(
        &self,
        source: &VertexSource<'_>,
        scratch: &mut FrontScratch,
        range: &Range<usize>,
    ) -> Result<Option<Culled>, Interrupted> {
        let Some((_, kernel)) = self.posh.filter(|(posh, kernel)| posh.takes_piece(&kernel.balance)) else {
            return Ok(None);
        };
        let FrontScratch { reuse, indices, cull, numbered, .. } = scratch;
        // Those of the last piece are not what they were.
        *numbered = None;
        let (corners, rules) = (self.corners_in(range.clone(), indices), Rules::new(&self.contexts[0]));
        let hiding = self.seen.as_ref().map(|seen| &seen.hiding);
        let culled = posh::cull_piece((source, kernel), corners, (&rules, hiding), (cull, reuse))?;
        if let Some(counters) = self.counters {
            counters.count(if culled.is_some() { Counter::PoshPieces } else { Counter::PoshScattered }, 1);
            let Culled { vertices, by_volume, by_facing, by_others } = culled.unwrap_or_default();
            counters.count(Counter::PoshVertices, vertices as u64);
            counters.count(Counter::PoshVolumeKills, by_volume as u64);
            counters.count(Counter::PoshFacingKills, by_facing as u64);
            counters.count(Counter::PoshHiddenKills, by_others as u64);
        }
        Ok(culled)
    }

    fn piece(&self, scratch: &mut FrontScratch, instance: u32, range: Range<usize>, out: &mut Vec<Triangles>) -> bool {
        let source = VertexSource { instance: self.source.instance.wrapping_add(instance), ..self.source };
        let Ok(culled) = self.cull(&source, scratch, &range) else { return false };
        let corners = range.start * self.of_each..range.end * self.of_each;
        if culled.is_none() && scratch.numbered.as_ref() != Some(&corners) {
            self.number(scratch, corners.clone());
            scratch.numbered = Some(corners);
        }
        let FrontScratch { reuse, shading, waiting, cull, captured, .. } = scratch;
        let mut discarded = Triangles::default();
        let open = self.contexts.first().map(|context| room((context, 0), (out, range.len()), self.spare));
        let triangles = open.map_or(&mut discarded, |open| &mut out[open]);
        let before = (triangles.len(), triangles.vertices());
        let Some(shaded) = shade(&source, &reuse.vertices, (shading, triangles)) else { return false };
        if let Some(counters) = self.counters {
            counters.count(Counter::Vertices, reuse.vertices.len() as u64);
            counters.count(Counter::Reused, (reuse.places.len() - reuse.vertices.len()) as u64);
        }
        if let Some(plan) = self.captures {
            plan.capture_shaded(&shaded, reuse.places.chunks_exact(self.of_each), captured);
        }
        if let Some(open) = open {
            let routes = Routes { contexts: self.contexts, layers: self.layers };
            let mut set_up = SetUp::new(routes, waiting, (out, open), self.spare);
            if let Some(Strips { starts, counter }) = &self.strips {
                set_up.go_on(starts, *counter.lock());
            }
            let (inputs, count) = (range.len() as u64, range.len());
            let (places, first) = (reuse.places.chunks_exact(self.of_each), self.first_primitive + range.start as u32);
            let number =
                |place: usize| if culled.is_some() { first + cull.visible[place] } else { first + place as u32 };
            if self.contexts[0].routed.is_some() {
                (0..).zip(places).for_each(|(place, places)| set_up.add_routed(&shaded, places, number(place)));
            } else if self.of_each == 3 {
                set_up.add_triangles(&shaded, &reuse.places, number);
            } else {
                (0..).zip(places).for_each(|(place, places)| set_up.add(&shaded, places, number(place)));
            }
            let (counter, gained) = set_up.finish();
            let left = culled.map_or(out[open].len().saturating_sub(before.0), |_| cull.visible.len());
            if let Some((_, kernel)) = self.posh {
                kernel.balance.learn(left, count);
            }
            let outside = culled.map_or(0, |culled| culled.by_volume as i64);
            self.count_clipped(inputs, gained - outside);
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
    /// Counts primitives that came to clipping, and how many more are left.
    pub(super) fn count_clipped(&self, inputs: u64, gained: i64) {
        if let Some(counters) = self.counters {
            counters.count(Counter::ClipInputs, inputs);
            counters.count(Counter::ClipOutputs, inputs.saturating_add_signed(gained));
        }
    }

    /// The numbers of the vertices of some corners.
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

    /// Primitives of an instance through a merged program.
    fn emit_piece(
        &self,
        (kernel, mode): (&MergedKernel, MergedMode),
        scratch: &mut FrontScratch,
        (instance, range): (u32, Range<usize>),
        out: &mut Vec<Triangles>,
    ) -> bool {
        let FrontScratch { indices, waiting, emission: emitting, captured, .. } = scratch;
        self.read_corners(range.start * self.of_each..range.end * self.of_each, indices);
        let source = VertexSource { instance: self.source.instance.wrapping_add(instance), ..self.source };
        let (numbers, shaded) = (PrimitiveNumbers::From(self.first_primitive as usize + range.start), None);
        let emission = Emission { kernel, mode, source, corners: indices, numbers, shaded, counters: self.counters };
        self.emit(&emission, (emitting, waiting, captured), out)
    }

    /// Primitives through a merged program.
    pub(super) fn emit(
        &self,
        emission: &Emission<'_>,
        (emitting, waiting, captured): (&mut EmitScratch, &mut Waiting, &mut Captured),
        out: &mut Vec<Triangles>,
    ) -> bool {
        for batch in emission.batches() {
            let Some(context) = self.contexts.first() else {
                let Some(mut emitted) = emission.run(&batch, emitting, &mut Triangles::default()) else { return false };
                self.count_emitted(&emitted);
                self.capture_emitted(&mut emitted, captured);
                continue;
            };
            let open = room((context, 0), (out, emission.most_primitives(&batch)), self.spare);
            let triangles = &mut out[open];
            let before = (triangles.len(), triangles.vertices());
            let Some(mut emitted) = emission.run(&batch, emitting, triangles) else { return false };
            self.count_emitted(&emitted);
            self.capture_emitted(&mut emitted, captured);
            let routes = Routes { contexts: self.contexts, layers: self.layers };
            let mut set_up = SetUp::new(routes, waiting, (out, open), self.spare);
            if self.contexts[0].raster.line_stipple.is_some() {
                // Strips say themselves where they begin.
                set_up.go_on(&[], 0.0);
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
        true
    }

    fn count_emitted(&self, emitted: &Emitted<'_>) {
        if let Some(counters) = self.counters {
            counters.count(Counter::GeometryPrimitives, emitted.primitives());
        }
    }

    /// What transform feedback takes of emitted vertices.
    fn capture_emitted(&self, emitted: &mut Emitted<'_>, captured: &mut Captured) {
        if let Some(plan) = self.captures {
            emitted.capture(plan, captured);
        }
    }
}
