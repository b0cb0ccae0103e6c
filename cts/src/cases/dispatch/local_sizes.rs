//! Local sizes by specialization constants, and zero-initialized workgroup memory.

use ash::vk;

use crate::harness::{Case, Gpu, check};

const ZEROED: &[u8] = shader!("zeroed.comp");
const SIZED: &[u8] = shader!("sized.comp");

case!("core13.shaders.local_size_id", "VK_KHR_maintenance4", local_size);

/// Runs workgroups of 5 by 2 invocations, where a specialization constant sets the 5.
fn local_size(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE4_NAME)?;
    let out = gpu.buffer_with(&[u32::MAX; 32])?;
    gpu.compute(SIZED, 5, &[], &[out], [2, 1, 1])?;
    let one = |at: u32| if at < 10 { at % 5 + 100 * (at / 5) } else { u32::MAX };
    let expected: Vec<u32> = (0..32).map(|at| one(at % 16)).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}

case!("core13.shaders.zeroed_memory", "VK_KHR_zero_initialize_workgroup_memory", zeroed);

fn zeroed(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_ZERO_INITIALIZE_WORKGROUP_MEMORY_NAME)?;
    let groups = 64;
    let out = gpu.buffer(u64::from(groups * 64 * 4))?;
    gpu.compute(ZEROED, 0, &[], &[out], [groups, 1, 1])?;
    let wrong = out.words().into_iter().zip(0u32..).find(|(found, at)| *found != at % 64 + 1);
    check(wrong.is_none(), || format!("{wrong:?}"))
}
