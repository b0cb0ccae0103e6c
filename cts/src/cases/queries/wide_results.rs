//! Query results of 32 bits that wrap around (`VK_KHR_maintenance7`).

use ash::vk;

use crate::harness::{Case, Gpu, check};
use vitric_vulkan::names::KHR_MAINTENANCE7_NAME;

case!("maintenance.seven.query_bits", "VK_KHR_maintenance7", query_bits);

/// Checks that a 32-bit result holds the low bits of the 64-bit result.
fn query_bits(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE7_NAME)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
    let copied = gpu.buffer(24)?;
    let (mut wide, mut narrow) = ([0u64; 2], [0u32; 2]);
    // SAFETY: the info is valid; queries are reset before they are written, and the pool and the
    // buffer are alive.
    unsafe {
        let pool = gpu.device.create_query_pool(&info, None)?;
        gpu.run(|commands| {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
            for query in 0..2 {
                gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, query);
            }
            let (waits, all) = (vk::QueryResultFlags::WAIT, vk::QueryResultFlags::WAIT | vk::QueryResultFlags::TYPE_64);
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, copied.handle, 0, 8, all);
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, copied.handle, 16, 4, waits);
            gpu.barrier(commands, None);
        })?;
        let flags = vk::QueryResultFlags::WAIT;
        gpu.device.get_query_pool_results(pool, 0, &mut wide, flags | vk::QueryResultFlags::TYPE_64)?;
        gpu.device.get_query_pool_results(pool, 0, &mut narrow, flags)?;
    }
    let low = wide.map(|result| result as u32);
    let expected = [wide.map(|result| [result as u32, (result >> 32) as u32]).concat(), low.to_vec()].concat();
    check(wide[1] >= wide[0] && low == narrow && copied.words() == expected, || {
        format!("{wide:x?}, {narrow:x?}, {:x?} copied", copied.words())
    })
}
