//! Compute dispatch: distribution of workgroups over the worker threads.

use vitric_base::counters::{Counter, Counters};
use vitric_exec::interp::Deadline;
use vitric_exec::{WorkgroupScratch, Workgroups};

use super::depth;
use super::sets::DeviceContext;
use super::state::{ComputeState, PUSH_BYTES};
use crate::gpu::{DeviceLost, Gpu, PipelineStage};

/// Approximate number of invocations that a worker runs as one chunk.
const CHUNK_INVOCATIONS: usize = 2048;

/// Units and state that a dispatch uses.
pub(super) struct DispatchContext<'p> {
    pub(super) gpu: &'p Gpu,
    pub(super) device: &'p DeviceContext<'p>,
    pub(super) deadline: &'p Deadline,
    pub(super) counters: Option<&'p Counters>,
    pub(super) push: &'p [u8; PUSH_BYTES],
}

/// Dispatches `groups` workgroups of the bound compute pipeline, numbered from `base` on.
///
/// # Errors
/// [`DeviceLost`] when the program was interrupted.
pub(super) fn dispatch(
    context: DispatchContext<'_>,
    state: &mut ComputeState,
    base: [u32; 3],
    groups: [u32; 3],
) -> Result<(), DeviceLost> {
    let DispatchContext { gpu, device, deadline, counters, push } = context;
    let Some(pipeline) = &state.pipeline else { return Ok(()) };
    let bindings = &*state.sets.resolve(0, &pipeline.program, device, None);
    depth::written_by_programs(gpu.depths(), std::iter::once(&*pipeline.program), bindings, &device.addresses);
    pipeline.program.inlined.begin_pass();
    let inlined = pipeline.program.inlined(bindings, gpu.config().inlining);
    let program = inlined.as_ref().unwrap_or(&pipeline.program);
    let all = Workgroups { program, bindings, push, deadline, base, groups, draw: 0 };
    let (count, invocations) = (all.count(), all.invocations());
    if let Some(counters) = counters {
        counters.count(Counter::Invocations, (count as u64).saturating_mul(invocations as u64));
        counters.count(Counter::Workgroups, count as u64);
    }
    let chunk = (CHUNK_INVOCATIONS / invocations.max(1)).max(1);
    gpu.workers().parallel_while(count.div_ceil(chunk), WorkgroupScratch::default, |scratch, index| {
        let first = index * chunk;
        !deadline.expired() && all.run_all(scratch, first..(first + chunk).min(count))
    });
    if deadline.is_stopped() { Err(DeviceLost::TimedOut(PipelineStage::Compute)) } else { Ok(()) }
}
