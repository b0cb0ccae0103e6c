//! Query pools that the host resets.

use ash::vk;

use crate::harness::{Case, Gpu, check};

case!("core12.queries.host_reset", "VK_EXT_host_query_reset", host_reset);

fn host_reset(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_HOST_QUERY_RESET_NAME)?;
    let second = ash::ext::host_query_reset::Device::new(&gpu.instance, &gpu.device);
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(4);
    let mut times = [0u64; 2];
    // SAFETY: valid usage: what is written was reset, and what is read was written.
    unsafe {
        let pool = gpu.device.create_query_pool(&info, None)?;
        (second.fp().reset_query_pool_ext)(gpu.device.handle(), pool, 0, 4);
        gpu.run(|commands| {
            for query in 1..3 {
                gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, query);
            }
        })?;
        gpu.device.get_query_pool_results(pool, 1, &mut times, vk::QueryResultFlags::TYPE_64)?;
        (second.fp().reset_query_pool_ext)(gpu.device.handle(), pool, 1, 1);
        let mut one = [0u64];
        let gone = gpu.device.get_query_pool_results(pool, 1, &mut one, vk::QueryResultFlags::TYPE_64);
        check(gone == Err(vk::Result::NOT_READY), || format!("a query that was reset is {gone:?}"))?;
        gpu.device.get_query_pool_results(pool, 2, &mut one, vk::QueryResultFlags::TYPE_64)?;
        check(one[0] == times[1], || "another query was reset".into())
    }
}
