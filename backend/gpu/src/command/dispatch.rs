//! Compute dispatch: distribution of workgroups over the worker threads.

use vitric_base::counters::Counter;
use vitric_exec::{WorkgroupScratch, Workgroups};

use super::processor::Processor;
use crate::gpu::{DeviceLost, Stage};

/// Approximate number of invocations that a worker runs as one chunk.
const INVOCATIONS_AT_ONCE: usize = 2048;

/// Dispatches `groups` workgroups of the bound compute pipeline, numbered from `base` on.
pub(super) fn dispatch(processor: &mut Processor<'_>, base: [u32; 3], groups: [u32; 3]) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.compute.clone() else { return Ok(()) };
    let bindings = &*processor.state.compute_sets.resolve(0, &pipeline.program, &processor.shared);
    processor.wrote_bound(std::iter::once(&*pipeline.program), bindings);
    let (push, deadline) = (&processor.state.push, &*processor.deadline);
    pipeline.program.inlined.begin_pass();
    let with_routines = pipeline.program.inlined(bindings, processor.gpu.config().inlining);
    let program = with_routines.as_ref().unwrap_or(&pipeline.program);
    let all = Workgroups { program, bindings, push, deadline, base, groups, draw: 0 };
    let (count, invocations) = (all.count(), all.invocations());
    if let Some(counters) = processor.counters() {
        counters.count(Counter::Invocations, (count as u64).saturating_mul(invocations as u64));
        counters.count(Counter::Workgroups, count as u64);
    }
    let chunk = (INVOCATIONS_AT_ONCE / invocations.max(1)).max(1);
    processor.gpu.workers().parallel_while(count.div_ceil(chunk), WorkgroupScratch::default, |scratch, index| {
        let first = index * chunk;
        !deadline.expired() && all.run_all(scratch, first..(first + chunk).min(count))
    });
    if deadline.is_stopped() { Err(DeviceLost::TimedOut(Stage::Compute)) } else { Ok(()) }
}
