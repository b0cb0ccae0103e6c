//! Mesh programs in the front end: from workgroups to primitives that are set up.

use std::ops::Range;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use vitric_base::counters::Counter;

use super::Assembled;
use crate::geometry::PrimitiveContext;
use crate::geometry::cull::CullQueue;
use crate::geometry::mesh::{MeshPrimitive, MeshScratch, MeshWorkgroups, WORKGROUPS_PER_CHECK};
use crate::geometry::setup::{Routes, SetUp, room};
use crate::geometry::shading::{Records, Shaded, shade_waves};
use crate::geometry::triangles::Triangles;

impl Assembled<'_> {
    /// Processes a range of workgroups. Returns false if the time limit of the draw has expired.
    pub(super) fn mesh_chunk(
        &self,
        mesh: &MeshWorkgroups<'_>,
        (scratch, cull_queue): (&mut MeshScratch, &mut CullQueue),
        workgroups: Range<usize>,
        out: &mut Vec<Triangles>,
    ) -> bool {
        for number in workgroups {
            if number % WORKGROUPS_PER_CHECK == 0 && self.source.environment.deadline.expired() {
                return false;
            }
            let Some(counts) = mesh.run(number, scratch) else { return false };
            if let Some(counters) = self.counters {
                counters.count(Counter::MeshInvocations, mesh.workgroups.invocations() as u64);
                counters.count(Counter::MeshPrimitives, u64::from(counts[1]));
            }
            mesh.primitive_count.fetch_add(u64::from(counts[1]), Ordering::Relaxed);
            let Some(context) = self.contexts.first() else { continue };
            let vertices = mesh.gather(counts, scratch, context.raster.provoking_last);
            let MeshScratch { words, primitives, shading, .. } = &mut *scratch;
            if primitives.is_empty() {
                continue;
            }
            let open = room((context, 0), (out, primitives.len()), self.spare);
            let triangles = &mut out[open];
            let before = (triangles.len(), triangles.vertices());
            let feed = Records { words, record: mesh.outputs.outputs.len(), count: vertices };
            let source = &self.source;
            let shaded = shade_waves(source.kernel, source.environment, feed, shading, triangles);
            let Some(shaded) = shaded else { return false };
            let routes = Routes { contexts: self.contexts, layers: self.layers };
            let set_up = SetUp::new(routes, cull_queue, (out, open), self.spare);
            let gained = set_up_all(set_up, &shaded, (primitives, mesh.facts.corners as usize), context);
            self.count_clipped(primitives.len() as u64, gained);
            if out[open].len() == before.0 {
                out[open].forget_rows(before.1);
            }
        }
        true
    }
}

/// Sets up primitives with `corners` corners each. Returns the number of primitives after clipping
/// minus the number before.
fn set_up_all(
    mut set_up: SetUp<'_>,
    shaded: &Shaded<'_>,
    (primitives, corners): (&[MeshPrimitive], usize),
    context: &PrimitiveContext,
) -> i64 {
    for MeshPrimitive { corners: of_primitive, id } in primitives {
        let places: SmallVec<[u32; 3]> = of_primitive[..corners].into();
        match context.routed {
            Some(_) => set_up.add_routed(shaded, &places, *id),
            None => set_up.add(shaded, &places, *id),
        }
    }
    set_up.finish().1
}
