//! Patches in the front end: from their vertex indices to primitives that are set up.

use vitric_base::counters::Counter;
use vitric_exec::Program;
use vitric_exec::interp::Environment;

use super::{Assembled, EmitBuffers, FrontScratch, InstanceRange};
use crate::geometry::Triangles;
use crate::geometry::merged::{Emission, PrimitiveNumbers};
use crate::geometry::setup::{Routes, SetUp, room};
use crate::geometry::shading::shade_waves;
use crate::geometry::tessellation::{Evaluation, PATCHES_PER_BATCH, PatchChunk, PatchInputs, Patches};

impl Assembled<'_> {
    /// Returns the batches of patches whose control programs store their outputs in one buffer.
    pub fn patch_parts(&self) -> impl Iterator<Item = InstanceRange> + use<> {
        let count = self.per_instance();
        let parts =
            move || (0..count).step_by(PATCHES_PER_BATCH).map(move |start| start..count.min(start + PATCHES_PER_BATCH));
        // A draw without patches may have any number of instances, which need no iteration.
        let instances = if count == 0 { 0 } else { self.instances };
        (0..instances).flat_map(move |instance| parts().map(move |primitives| InstanceRange { instance, primitives }))
    }

    /// Runs the control program for patches of an instance. Returns false if the time limit of the
    /// draw has expired.
    pub fn control(
        &self,
        scratch: &mut FrontScratch,
        InstanceRange { instance, primitives: range }: InstanceRange,
        out: &mut Patches,
    ) -> bool {
        let Some((kernel, _)) = self.patches else { return true };
        let FrontScratch { indices, patches, .. } = scratch;
        self.read_corners(range.start * self.of_each..range.end * self.of_each, indices);
        let first = self.first_primitive + range.start as u32;
        let inputs = PatchInputs { first, vertices: self.of_each, corners: indices };
        let Some(vertices) = kernel.control(&self.source_of(instance), inputs, patches, out) else { return false };
        if let Some(counters) = self.counters {
            counters.count(Counter::Vertices, vertices as u64);
            counters.count(Counter::Reused, (indices.len() - vertices) as u64);
            counters.count(Counter::Patches, range.len() as u64);
        }
        !self.source.environment.deadline.expired()
    }

    /// Subdivides a chunk of patches, evaluates its vertices and sets its primitives up, after
    /// those in the last buffer of `out`. Returns false if the time limit of the draw has expired.
    pub fn process_patches(
        &self,
        scratch: &mut FrontScratch,
        (patches, chunk): (&Patches, &PatchChunk),
        out: &mut Vec<Triangles>,
    ) -> bool {
        let Some((kernel, subdivision)) = &self.patches else { return true };
        patches.subdivide(subdivision, chunk, &mut scratch.patches);
        if let Some(counters) = self.counters {
            counters.count(Counter::EvaluatedVertices, scratch.patches.subdivided.count() as u64);
        }
        let environment = Environment { shared: Some(patches.memory()), ..*self.source.environment };
        let done = match &kernel.evaluation {
            Evaluation::Vertices(_) => self.set_up_patches(scratch, (&environment, subdivision.corners()), out),
            Evaluation::Words(program) => self.emit_patches(scratch, (&environment, program), out),
        };
        done.is_some() && !self.source.environment.deadline.expired()
    }

    /// Sets up primitives of evaluated vertices.
    fn set_up_patches(
        &self,
        scratch: &mut FrontScratch,
        (environment, of_each): (&Environment<'_>, usize),
        out: &mut Vec<Triangles>,
    ) -> Option<()> {
        let FrontScratch { patches, shading, cull_queue, captured, .. } = scratch;
        let subdivided = &patches.subdivided;
        let mut discarded = Triangles::default();
        let count = subdivided.numbers.len();
        let open = self.contexts.first().map(|context| room((context, 0), (out, count), self.spare));
        let triangles = open.map_or(&mut discarded, |open| &mut out[open]);
        let before = (triangles.len(), triangles.vertices());
        let shaded = shade_waves(self.source.kernel, environment, subdivided.feed(), shading, triangles)?;
        if let Some(plan) = self.captures {
            plan.capture_shaded(&shaded, subdivided.corners.chunks_exact(of_each), captured);
        }
        let Some(open) = open else { return Some(()) };
        let routes = Routes { contexts: self.contexts, layers: self.layers };
        let is_routed = self.contexts[0].routed.is_some();
        let mut set_up = SetUp::new(routes, cull_queue, (out, open), self.spare);
        for (&number, places) in subdivided.numbers.iter().zip(subdivided.corners.chunks_exact(of_each)) {
            match is_routed {
                true => set_up.add_routed(&shaded, places, number),
                false => set_up.add(&shaded, places, number),
            }
        }
        let (_, gained) = set_up.finish();
        self.count_clipped(count as u64, gained);
        if out[open].len() == before.0 {
            out[open].forget_rows(before.1);
        }
        Some(())
    }

    /// Processes primitives of evaluated vertices with a geometry program.
    fn emit_patches(
        &self,
        scratch: &mut FrontScratch,
        (environment, program): (&Environment<'_>, &Program),
        out: &mut Vec<Triangles>,
    ) -> Option<()> {
        let FrontScratch { patches, cull_queue, emission: scratch, captured, .. } = scratch;
        let (stage, subdivided) = (self.merged?, &patches.subdivided);
        scratch.shade(stage.kernel, program, environment, subdivided.feed())?;
        let emission = Emission {
            stage,
            source: self.source,
            corners: &subdivided.corners,
            is_shaded: true,
            numbers: PrimitiveNumbers::Each(&subdivided.numbers),
            counters: self.counters,
        };
        self.emit(&emission, EmitBuffers { scratch, cull_queue, captured }, out).then_some(())
    }
}
