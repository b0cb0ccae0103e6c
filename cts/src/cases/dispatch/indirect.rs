//! Indirect dispatches: workgroup counts from a buffer.

use crate::harness::{Case, Gpu, STORAGE, check};

const COUNTED_GROUPS: &[u8] = shader!("counted_groups.comp");

case!("dispatching.indirect.offset", "vkCmdDispatchIndirect", |gpu| dispatched(gpu, [5, 3, 2]));
case!("dispatching.indirect.one_axis_is_empty", "vkCmdDispatchIndirect", |gpu| dispatched(gpu, [5, 0, 2]));

/// Dispatches the given workgroups by a buffer whose arguments follow other words, and compares the
/// number of workgroups and their largest ids.
fn dispatched(gpu: &Gpu, groups: [u32; 3]) -> Case {
    let [x, y, z] = groups;
    let arguments = gpu.buffer_with(&[9, 9, 9, x, y, z])?;
    let result = gpu.buffer(16)?;
    let compute = gpu.compute_pipeline(COUNTED_GROUPS, 0, &[(STORAGE, result)])?;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and the arguments lie in the buffer.
        unsafe {
            gpu.bind_compute(commands, &compute, &[]);
            gpu.device.cmd_dispatch_indirect(commands, arguments.handle, 12);
        }
        gpu.barrier(commands, None);
    })?;
    let count = x * y * z;
    let expected = if count == 0 { vec![0; 4] } else { vec![count, x, y, z] };
    let words = result.words();
    check(words == expected, || format!("{groups:?}: {words:?} instead of {expected:?}"))
}
