//! Draws of mesh programs: batches of task workgroups run first, then the workgroups that they
//! launch.
//!
//! Source: Vulkan specification, "Programmable MeshWorkgroups Shading", `vkCmdDrawMeshTasksEXT`.

use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use vitric_base::counters::Counter;
use vitric_exec::bindings::Bindings;
use vitric_exec::{WorkgroupScratch, Workgroups};
use vitric_ir::interface::MeshFacts;

use super::super::context::PassContext;
use super::front_end::{DrawJob, FrontEndContext};
use super::windows::{self, AssembledDraw};
use crate::geometry::{Assembled, Corners, DrawNumbers, Launch, MeshWorkgroups, VertexSource};
use crate::gpu::{DeviceLost, PipelineStage};

/// Approximate maximum of the payloads of a batch, in bytes.
const MAX_BATCH_PAYLOAD_BYTES: usize = 1 << 22;

/// Maximum number of workgroups of task programs in a batch.
const MAX_BATCH_TASKS: usize = 1 << 13;

/// Workgroups of a task program that a worker runs as one chunk.
const CHUNK_TASKS: usize = 32;

/// Runs one draw of a command and adds its primitives to windows.
///
/// # Errors
/// [`DeviceLost`] when a program was interrupted.
pub(super) fn run(
    context: &mut PassContext<'_>,
    job: &DrawJob<'_>,
    task_bindings: Option<&Bindings>,
    groups: [u32; 3],
) -> Result<(), DeviceLost> {
    let pipeline = &job.state.pipeline;
    let (gpu, deadline, draw) = (context.gpu, &**context.deadline, job.params.numbers.draw);
    let workgroups =
        |program, bindings| Workgroups { program, bindings, push: &job.push[..], deadline, base: [0; 3], groups, draw };
    let meshes = workgroups(&pipeline.vertex, job.vertex_bindings);
    let Some((task, task_bindings)) = pipeline.task.as_deref().zip(task_bindings) else {
        return launch(context, job, meshes, &[Launch { groups, ..Launch::default() }]);
    };
    let (tasks, facts) = (workgroups(task, task_bindings), task.mesh.as_deref().cloned().unwrap_or_default());
    let count = tasks.count();
    if let Some(counters) = context.queries.counters() {
        counters.count(Counter::TaskInvocations, (count as u64).saturating_mul(tasks.invocations() as u64));
    }
    let batch = (MAX_BATCH_PAYLOAD_BYTES / facts.payload.max(1) as usize).clamp(CHUNK_TASKS, MAX_BATCH_TASKS);
    for first in (0..count).step_by(batch) {
        let end = count.min(first + batch);
        let results: Vec<Mutex<Vec<Launch>>> = (first..end).step_by(CHUNK_TASKS).map(|_| Mutex::default()).collect();
        gpu.workers().parallel(results.len(), WorkgroupScratch::default, |scratch, chunk| {
            if deadline.expired() {
                return;
            }
            let start = first + chunk * CHUNK_TASKS;
            let mut launches = results[chunk].lock();
            for number in start..end.min(start + CHUNK_TASKS) {
                if tasks.run(scratch, number, &[]) {
                    launches.extend(read_launch(scratch.memory(), &facts));
                }
            }
        });
        if deadline.is_stopped() {
            return Err(DeviceLost::TimedOut(PipelineStage::Task));
        }
        let mut before = 0;
        let mut launches: Vec<Launch> = results.into_iter().flat_map(Mutex::into_inner).collect();
        for launch in &mut launches {
            launch.first = before;
            before = before.saturating_add(launch.count());
        }
        launch(context, job, meshes, &launches)?;
    }
    Ok(())
}

/// Returns the launch that a workgroup of a task program has written, if it launches any
/// workgroup.
fn read_launch(memory: &[u32], facts: &MeshFacts) -> Option<Launch> {
    let groups = [0, 1, 2].map(|axis| memory[facts.counts as usize / 4 + axis]);
    let payload = || memory[..facts.payload.div_ceil(4) as usize].to_vec();
    (!groups.contains(&0)).then(|| Launch { groups, payload: payload(), first: 0 })
}

/// Runs workgroups of the mesh program.
fn launch(
    context: &mut PassContext<'_>,
    job: &DrawJob<'_>,
    meshes: Workgroups<'_>,
    launches: &[Launch],
) -> Result<(), DeviceLost> {
    let pipeline = &job.state.pipeline;
    let Some(mesh) = MeshWorkgroups::new(pipeline, meshes, launches) else { return Ok(()) };
    let Some(last) = launches.last() else { return Ok(()) };
    let counters = context.queries.counters().cloned();
    let environment = job.environment(meshes.deadline);
    let numbers = DrawNumbers { draw: meshes.draw, ..DrawNumbers::default() };
    let kernel = pipeline.vertex_kernel.get(pipeline);
    let front_end = FrontEndContext {
        gpu: context.gpu,
        layers: context.pass.layers,
        counters: counters.as_deref(),
        is_capturing: false,
        captures: None,
    };
    let assembled = Assembled {
        corners: Corners::Sequence(0, last.first.saturating_add(last.count())),
        mesh: Some(&mesh),
        ..front_end.empty_draw(job.state, VertexSource { kernel, environment: &environment, instance: 0, numbers })
    };
    let draw = AssembledDraw { fragments: &job.fragments_in(context), assembled: &assembled };
    let done = windows::add(context, draw);
    context.queries.streams.count_mesh(mesh.primitive_count.load(Ordering::Relaxed));
    done
}
