//! Patches in the front end: from their vertex indices to primitives that are set up.

use std::ops::Range;

use vitric_base::counters::Counter;
use vitric_exec::Program;
use vitric_exec::interp::Environment;

use super::{Assembled, FrontScratch};
use crate::geometry::merged::{Emission, PrimitiveNumbers};
use crate::geometry::setup::{Routes, SetUp, room};
use crate::geometry::shading::{shade_waves, shade_words};
use crate::geometry::tessellation::{AT_ONCE, Evaluation, PatchScratch, Patches, Piece};
use crate::geometry::{Triangles, VertexSource};

impl Assembled<'_> {
    /// Returns the batches of patches whose control programs store their outputs in one buffer:
    /// instance, and numbers of the patches.
    pub fn patch_parts(&self) -> impl Iterator<Item = (u32, Range<usize>)> + use<> {
        let count = self.per_instance();
        let parts = move || (0..count).step_by(AT_ONCE).map(move |start| start..count.min(start + AT_ONCE));
        // A draw without patches may have any number of instances, which need no iteration.
        let instances = if count == 0 { 0 } else { self.instances };
        (0..instances).flat_map(move |instance| parts().map(move |part| (instance, part)))
    }

    /// Runs the control program for patches of an instance. Returns false if the time limit of the
    /// draw has expired.
    pub fn control(
        &self,
        scratch: &mut FrontScratch,
        (instance, range): (u32, Range<usize>),
        out: &mut Patches,
    ) -> bool {
        let Some((kernel, _)) = self.patches else { return true };
        let FrontScratch { indices, patches, .. } = scratch;
        self.read_corners(range.start * self.of_each..range.end * self.of_each, indices);
        let source = VertexSource { instance: self.source.instance.wrapping_add(instance), ..self.source };
        let named = (self.first_primitive + range.start as u32, self.of_each, &indices[..]);
        let Some(vertices) = kernel.control(&source, named, patches, out) else { return false };
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
        (patches, piece): (&Patches, &Piece),
        out: &mut Vec<Triangles>,
    ) -> bool {
        let Some((kernel, subdivision)) = &self.patches else { return true };
        patches.subdivide(subdivision, piece, &mut scratch.patches);
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
        let FrontScratch { patches, shading, waiting, captured, .. } = scratch;
        let subdivided = &patches.subdivided;
        let mut discarded = Triangles::default();
        let count = subdivided.numbers.len();
        let open = self.contexts.first().map(|context| room((context, 0), (out, count), self.spare));
        let triangles = open.map_or(&mut discarded, |open| &mut out[open]);
        let before = (triangles.len(), triangles.vertices());
        let vertices = (subdivided.count(), subdivided.feed());
        let shaded = shade_waves(self.source.kernel, environment, vertices, (shading, triangles))?;
        if let Some(plan) = self.captures {
            plan.capture_shaded(&shaded, subdivided.corners.chunks_exact(of_each), captured);
        }
        let Some(open) = open else { return Some(()) };
        let routes = Routes { contexts: self.contexts, layers: self.layers };
        let is_routed = self.contexts[0].routed.is_some();
        let mut set_up = SetUp::new(routes, waiting, (out, open), self.spare);
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
        let FrontScratch { patches, waiting, emission: emitting, captured, .. } = scratch;
        let PatchScratch { vertex, words, shaded, subdivided, .. } = &mut **patches;
        shaded.clear();
        let vertices = (subdivided.count(), subdivided.feed());
        shade_words(program, environment, vertices, (vertex, words), |_, words| shaded.extend_from_slice(words))?;
        let (kernel, mode) = self.merged?;
        let emission = Emission {
            kernel,
            mode,
            source: self.source,
            corners: &subdivided.corners,
            numbers: PrimitiveNumbers::Each(&subdivided.numbers),
            shaded: Some(shaded),
            counters: self.counters,
        };
        self.emit(&emission, (emitting, waiting, captured), out).then_some(())
    }
}
