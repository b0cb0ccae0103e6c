//! Mesh programs in the front end: from workgroups to primitives that are set up.
//!
//! A workgroup leaves its vertices and primitives in its memory. What primitives have for themselves is flat, so it is given to set-up as
//! the words of their provoking vertex, of which each primitive then has one of its own: what comes behind knows vertices only. Source:
//! Vulkan specification, "Mesh Shading".

use std::sync::atomic::AtomicU64;

use vitric_base::simd::{Lanes, WAVE};
use vitric_exec::{Program, WorkgroupScratch, Workgroups};
use vitric_ir::interface::{Builtin, MeshFacts, MeshWord, Slot};

use super::shading::ShadeScratch;
use crate::state::PipelineState;

/// Workgroups that are run without a look at the clock, unless their program loops.
pub(super) const RUNS_AT_ONCE: usize = 64;

/// Workgroups of a mesh program that are launched together.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// How many there are along x, y and z.
    pub groups: [u32; 3],
    /// What their task program leaves for them; nothing without one.
    pub payload: Vec<u32>,
    /// How many come before them in the draw.
    pub first: usize,
}

impl Launch {
    /// How many workgroups it is, saturating.
    pub fn count(&self) -> usize {
        self.groups.iter().fold(1usize, |all, &count| all.saturating_mul(count as usize))
    }
}

/// The workgroups of a draw.
pub struct Mesh<'a> {
    pub(super) facts: &'a MeshFacts,
    pub(super) outputs: &'a Program,
    /// Whether primitives have words of which fragments or set-up know.
    has_own: bool,
    /// Where the number of a primitive is, if they have one of their own.
    primitive_id: Option<MeshWord>,
    /// What workgroups run in; how many there are is said by launches.
    pub workgroups: Workgroups<'a>,
    /// At least one, in order.
    pub launches: &'a [Launch],
    /// Primitives that were given so far.
    pub given: AtomicU64,
}

/// What a worker keeps from workgroup to workgroup.
#[derive(Default)]
pub struct MeshScratch {
    workgroup: WorkgroupScratch,
    /// The words of sixteen vertices after those of others.
    pub(super) words: Vec<Lanes>,
    /// For each primitive its corners and its number; those that are left out are not there.
    pub(super) primitives: Vec<([u32; 3], u32)>,
    pub(super) shading: ShadeScratch,
}

impl<'a> Mesh<'a> {
    /// Of a pipeline; `None` where it has no mesh program.
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
            has_own: slots().any(is_seen),
            primitive_id,
            workgroups,
            launches,
            given: AtomicU64::new(0),
        })
    }

    /// Most primitives of a workgroup.
    pub fn most_primitives(&self) -> usize {
        self.facts.primitives as usize
    }

    /// Runs a workgroup. How many vertices and primitives it gives; `None` when it was interrupted.
    pub(super) fn run(&self, number: usize, scratch: &mut MeshScratch) -> Option<[u32; 2]> {
        let launch = &self.launches[self.launches.partition_point(|launch| launch.first <= number) - 1];
        let workgroups = Workgroups { groups: launch.groups, ..self.workgroups };
        // Behind what it knows of the payload lies its own memory.
        let known = launch.payload.len().min(self.facts.payload.div_ceil(4) as usize);
        workgroups.run(&mut scratch.workgroup, number - launch.first, &launch.payload[..known]).then(|| {
            let memory = scratch.workgroup.memory();
            let count = |word: usize| memory[self.facts.counts as usize / 4 + word];
            [count(0).min(self.facts.vertices), count(1).min(self.facts.primitives)]
        })
    }

    /// Gathers the words of vertices, and the primitives with their corners. How many vertices there are.
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
        let most = vertices + if self.has_own { primitives } else { 0 };
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
            // There is no such vertex, which is undefined.
            if is_culled || of_primitive[..corners].iter().any(|&corner| corner >= vertices) {
                continue;
            }
            if self.has_own {
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
            kept.push((of_primitive, self.primitive_id.map_or(primitive, |place| word(place, primitive))));
        }
        count as usize
    }
}
