//! Mesh programs in the front end: runs of workgroups, and the vertices and primitives that they
//! output.
//!
//! A workgroup stores its vertices and primitives in its memory. Per-primitive outputs are flat,
//! so setup receives them as components of the primitive's provoking vertex. Each primitive then
//! has its own copy of that vertex, and later stages need to know vertices only.
//!
//! Source: Vulkan specification, "Mesh Shading".

use std::sync::atomic::AtomicU64;

use vitric_base::simd::{Lanes, WAVE};
use vitric_exec::{Program, WorkgroupScratch, Workgroups};
use vitric_ir::interface::{Builtin, MeshFacts, MeshWord, Slot};

use super::shading::ShadeScratch;
use crate::state::PipelineState;

/// Number of workgroups that run between two checks of the time limit, unless their program loops.
pub(super) const WORKGROUPS_PER_CHECK: usize = 64;

/// Workgroups of a mesh program that are launched together.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Number of workgroups along x, y and z.
    pub groups: [u32; 3],
    /// Payload of the task program; empty without one.
    pub payload: Vec<u32>,
    /// Number of workgroups before this launch in the draw.
    pub first: usize,
}

impl Launch {
    /// Returns the number of workgroups, saturating.
    pub fn count(&self) -> usize {
        self.groups.iter().fold(1usize, |all, &count| all.saturating_mul(count as usize))
    }
}

/// The workgroups of a draw.
pub struct MeshWorkgroups<'a> {
    pub(super) facts: &'a MeshFacts,
    pub(super) outputs: &'a Program,
    /// True if primitives have outputs that fragments or setup read.
    has_primitive_outputs: bool,
    /// Location of the primitive's number, if the program writes it.
    primitive_id: Option<MeshWord>,
    /// Environment of the workgroups. Launches give the number of workgroups.
    pub workgroups: Workgroups<'a>,
    /// Launches in order, at least one.
    pub launches: &'a [Launch],
    /// Number of primitives output so far.
    pub primitive_count: AtomicU64,
}

/// A primitive that a workgroup outputs.
pub(super) struct MeshPrimitive {
    pub(super) corners: [u32; 3],
    /// Number of the primitive.
    pub(super) id: u32,
}

/// Buffers that a worker reuses from workgroup to workgroup.
#[derive(Default)]
pub struct MeshScratch {
    workgroup: WorkgroupScratch,
    /// Vertex components in blocks of sixteen vertices.
    pub(super) words: Vec<Lanes>,
    /// Primitives without the culled ones.
    pub(super) primitives: Vec<MeshPrimitive>,
    pub(super) shading: ShadeScratch,
}

impl<'a> MeshWorkgroups<'a> {
    /// Creates the workgroups of a pipeline, or returns `None` if it has no mesh program.
    pub fn new(pipeline: &'a PipelineState, workgroups: Workgroups<'a>, launches: &'a [Launch]) -> Option<Self> {
        let (facts, outputs) = (pipeline.mesh()?, workgroups.program);
        let (_, of_primitives) = facts.split();
        let slots = || outputs.outputs[facts.of_vertices..].iter().map(|output| output.slot);
        let is_seen = |slot: Slot| {
            matches!(slot, Slot::Builtin(Builtin::ViewportIndex | Builtin::Layer, _))
                || pipeline.varyings().any(|seen| seen == slot)
        };
        let id = slots().position(|slot| slot == Slot::Builtin(Builtin::PrimitiveId, 0));
        let primitive_id = id.map(|word| of_primitives[word]);
        Some(Self {
            facts,
            outputs,
            has_primitive_outputs: slots().any(is_seen),
            primitive_id,
            workgroups,
            launches,
            primitive_count: AtomicU64::new(0),
        })
    }

    /// Returns the maximum number of primitives of a workgroup.
    pub fn max_primitives(&self) -> usize {
        self.facts.primitives as usize
    }

    /// Runs a workgroup. Returns the numbers of vertices and primitives that it outputs, or `None`
    /// if it was interrupted.
    pub(super) fn run(&self, number: usize, scratch: &mut MeshScratch) -> Option<[u32; 2]> {
        let launch = &self.launches[self.launches.partition_point(|launch| launch.first <= number) - 1];
        let workgroups = Workgroups { groups: launch.groups, ..self.workgroups };
        // The workgroup's own memory follows the part of the payload that the program declares.
        let known = launch.payload.len().min(self.facts.payload.div_ceil(4) as usize);
        workgroups.run(&mut scratch.workgroup, number - launch.first, &launch.payload[..known]).then(|| {
            let memory = scratch.workgroup.memory();
            let count = |word: usize| memory[self.facts.counts as usize / 4 + word];
            [count(0).min(self.facts.vertices), count(1).min(self.facts.primitives)]
        })
    }

    /// Gathers the components of vertices, and the primitives with their corners. Returns the
    /// number of vertices.
    pub(super) fn gather(
        &self,
        [vertices, primitives]: [u32; 2],
        scratch: &mut MeshScratch,
        provoking_last: bool,
    ) -> usize {
        let MeshScratch { workgroup, words, primitives: kept, .. } = scratch;
        let (memory, record) = (workgroup.memory(), self.outputs.outputs.len());
        let word = |word: MeshWord, number: u32| memory[word.of(number) as usize / 4];
        let (of_vertices, of_primitives) = self.facts.split();
        let corners = self.facts.corners as usize;
        let provoking = if provoking_last { corners - 1 } else { 0 };
        let most = vertices + if self.has_primitive_outputs { primitives } else { 0 };
        words.clear();
        words.resize((most as usize).div_ceil(WAVE) * record, [0; WAVE]);
        for (number, &place) in of_vertices.iter().enumerate() {
            for vertex in 0..vertices {
                words[vertex as usize / WAVE * record + number][vertex as usize % WAVE] = word(place, vertex);
            }
        }
        kept.clear();
        let mut count = vertices;
        for primitive in 0..primitives {
            let corner = |corner: u32| self.facts.index(corner).map_or(0, |place| word(place, primitive));
            let mut of_primitive = [0, 1, 2].map(|number| if number < self.facts.corners { corner(number) } else { 0 });
            let is_culled = self.facts.culls.is_some_and(|place| word(place, primitive) != 0);
            // A primitive with a vertex that does not exist is undefined and is dropped.
            if is_culled || of_primitive[..corners].iter().any(|&corner| corner >= vertices) {
                continue;
            }
            if self.has_primitive_outputs {
                let (from, to) = (of_primitive[provoking] as usize, count as usize);
                for number in 0..of_vertices.len() {
                    words[to / WAVE * record + number][to % WAVE] = words[from / WAVE * record + number][from % WAVE];
                }
                for (number, &place) in (of_vertices.len()..).zip(of_primitives) {
                    words[to / WAVE * record + number][to % WAVE] = word(place, primitive);
                }
                of_primitive[provoking] = count;
                count += 1;
            }
            let id = self.primitive_id.map_or(primitive, |place| word(place, primitive));
            kept.push(MeshPrimitive { corners: of_primitive, id });
        }
        count as usize
    }
}
