//! Timestamps that ascend, and results of reset queries.

use ash::vk;

use crate::harness::{Case, Gpu, check};

fn pool(gpu: &Gpu, kind: vk::QueryType, count: u32) -> Result<vk::QueryPool, crate::harness::Outcome> {
    let info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(count);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_query_pool(&info, None) }?)
}

case!("queries.timestamps.ascend", "Timestamp Queries", timestamps);

fn timestamps(gpu: &Gpu) -> Case {
    let pool = pool(gpu, vk::QueryType::TIMESTAMP, 2)?;
    let buffer = gpu.buffer(1 << 20)?;
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
        gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 0);
        gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 1);
        gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 1);
    })?;
    let mut times = [0u64; 2];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the queries are available.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut times, flags)? };
    check(times[0] <= times[1], || format!("{times:?}"))
}

case!("queries.reset.unavailable", "Query Operation", reset_is_unavailable);

fn reset_is_unavailable(gpu: &Gpu) -> Case {
    let pool = pool(gpu, vk::QueryType::OCCLUSION, 1)?;
    // SAFETY: the command buffer is recording, and the pool is alive.
    gpu.run(|commands| unsafe { gpu.device.cmd_reset_query_pool(commands, pool, 0, 1) })?;
    let mut value = [7u32];
    // SAFETY: the query is reset.
    let got = unsafe { gpu.device.get_query_pool_results(pool, 0, &mut value, vk::QueryResultFlags::empty()) };
    check(got == Err(vk::Result::NOT_READY), || format!("{got:?}"))
}
