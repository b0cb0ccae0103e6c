//! Draws of mesh programs: batches of task workgroups run first, then the workgroups that they
//! launch.
//!
//! Source: Vulkan specification, "Programmable Mesh Shading", `vkCmdDrawMeshTasksEXT`.

use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use vitric_base::counters::Counter;
use vitric_exec::bindings::Bindings;
use vitric_exec::{WorkgroupScratch, Workgroups};
use vitric_ir::interface::MeshFacts;

use super::Command;
use super::draw::{FrontEndContext, Job, windows};
use super::processor::{Processor, words};
use crate::geometry::{Assembled, Corners, DrawNumbers, Launch, MeshWorkgroups, VertexSource};
use crate::gpu::{DeviceLost, Stage};

/// Approximate limits of a batch: bytes of payloads, and workgroups of task programs.
const PAYLOADS_AT_ONCE: usize = 1 << 22;
const TASKS_AT_ONCE: usize = 1 << 13;

/// Workgroups of a task program that a worker runs as one chunk.
const PART: usize = 32;

/// Returns the number of draws of a command; `None` if the command draws no meshes.
pub(super) fn draws(command: &Command) -> Option<u32> {
    match command {
        Command::DrawMesh { .. } => Some(1),
        Command::DrawMeshIndirect { count, counted, .. } => {
            let counted = counted.as_ref().map(|(buffer, offset)| words::<1>(buffer, *offset)[0]);
            Some(counted.map_or(*count, |counted| counted.min(*count)))
        }
        _ => None,
    }
}

/// Returns the number of workgroups of one draw of a command, along each axis.
pub(super) fn groups(command: &Command, draw: u32) -> [u32; 3] {
    match command {
        Command::DrawMesh { groups } => *groups,
        Command::DrawMeshIndirect { buffer, offset, stride, .. } => {
            words(buffer, offset + u64::from(draw) * u64::from(*stride))
        }
        _ => [0; 3],
    }
}

/// Runs one draw of a command and adds its primitives to windows.
pub(super) fn run(
    processor: &mut Processor<'_>,
    (job, of_task): (&Job<'_>, Option<&Bindings>),
    groups: [u32; 3],
) -> Result<(), DeviceLost> {
    let pipeline = &job.prepared.pipeline;
    let (deadline, draw) = (processor.deadline.clone(), job.call.numbers.draw);
    let of_program = |program, bindings| Workgroups {
        program,
        bindings,
        push: &job.push[..],
        deadline: &deadline,
        base: [0; 3],
        groups,
        draw,
    };
    let meshes = of_program(&pipeline.vertex, job.of_vertex);
    let Some((task, of_task)) = pipeline.task.as_deref().zip(of_task) else {
        return launch(processor, job, meshes, &[Launch { groups, ..Launch::default() }]);
    };
    let (tasks, facts) = (of_program(task, of_task), task.mesh.as_deref().cloned().unwrap_or_default());
    let count = tasks.count();
    if let Some(counters) = processor.counters() {
        counters.count(Counter::TaskInvocations, (count as u64).saturating_mul(tasks.invocations() as u64));
    }
    let at_once = (PAYLOADS_AT_ONCE / facts.payload.max(1) as usize).clamp(PART, TASKS_AT_ONCE);
    for first in (0..count).step_by(at_once) {
        let end = count.min(first + at_once);
        let made: Vec<Mutex<Vec<Launch>>> = (first..end).step_by(PART).map(|_| Mutex::default()).collect();
        processor.gpu.workers().parallel(made.len(), WorkgroupScratch::default, |scratch, part| {
            if deadline.expired() {
                return;
            }
            let start = first + part * PART;
            let mut left = made[part].lock();
            for number in start..end.min(start + PART) {
                if tasks.run(scratch, number, &[]) {
                    left.extend(left_by(scratch.memory(), &facts));
                }
            }
        });
        if deadline.is_stopped() {
            return Err(DeviceLost::TimedOut(Stage::Task));
        }
        let mut before = 0;
        let mut launches: Vec<Launch> = made.into_iter().flat_map(Mutex::into_inner).collect();
        for launch in &mut launches {
            launch.first = before;
            before = before.saturating_add(launch.count());
        }
        launch(processor, job, meshes, &launches)?;
    }
    Ok(())
}

/// Returns the launch that a workgroup of a task program has written, if it launches any
/// workgroup.
fn left_by(memory: &[u32], facts: &MeshFacts) -> Option<Launch> {
    let groups = [0, 1, 2].map(|axis| memory[facts.counts as usize / 4 + axis]);
    let payload = || memory[..facts.payload.div_ceil(4) as usize].to_vec();
    (!groups.contains(&0)).then(|| Launch { groups, payload: payload(), first: 0 })
}

/// Runs workgroups of the mesh program.
fn launch(
    processor: &mut Processor<'_>,
    job: &Job<'_>,
    meshes: Workgroups<'_>,
    launches: &[Launch],
) -> Result<(), DeviceLost> {
    let pipeline = &job.prepared.pipeline;
    let Some(mesh) = MeshWorkgroups::new(pipeline, meshes, launches) else { return Ok(()) };
    let Some(last) = launches.last() else { return Ok(()) };
    let (gpu, counters) = (processor.gpu, processor.counters().cloned());
    let environment = job.environment(meshes.deadline);
    let numbers = DrawNumbers { draw: meshes.draw, ..DrawNumbers::default() };
    let kernel = pipeline.vertex_kernel.get(pipeline);
    let layers = processor.pass.as_ref().map_or(1, |pass| pass.layers);
    let takers = FrontEndContext { gpu, layers, counters: counters.as_deref(), is_capturing: false, captures: None };
    let assembled = Assembled {
        corners: Corners::Sequence(0, last.first.saturating_add(last.count())),
        mesh: Some(&mesh),
        ..takers.open(job.prepared, VertexSource { kernel, environment: &environment, instance: 0, numbers })
    };
    let done = windows(processor, &job.drawn(), &assembled);
    processor.count_mesh_primitives(mesh.primitive_count.load(Ordering::Relaxed));
    done
}
