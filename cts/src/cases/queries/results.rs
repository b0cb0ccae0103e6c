//! Query results copied with strides and availability, and results that are not available.

use ash::vk;

use crate::cases::support::transfer_images::{equal, words};
use crate::harness::{Case, Gpu, check};

case!("queries.copy.stride_and_availability", "Query Operation", copy_results);

fn copy_results(gpu: &Gpu) -> Case {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let buffer = gpu.buffer_with(&[9u64; 8])?;
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::WAIT;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording; the buffer holds both results.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
            for query in 0..2 {
                gpu.device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::empty());
                gpu.device.cmd_end_query(commands, pool, query);
            }
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, buffer.handle, 8, 24, flags);
        }
        gpu.barrier(commands, None);
    })?;
    let got: Vec<u64> = words(&buffer.read(0, 64)).chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32).collect();
    equal(&got, &[9, 0, 1, 9, 0, 1, 9, 9])
}

case!("queries.results.unavailable", "Query Operation", unavailable_results);

/// Checks that only the availability of an unavailable query is written, by the commands of host
/// and device.
fn unavailable_results(gpu: &Gpu) -> Case {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info, None) }?;
    let buffer = gpu.buffer_with(&[9u32; 5])?;
    let flags = vk::QueryResultFlags::WITH_AVAILABILITY;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording; the buffer holds both results.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 2);
            gpu.device.cmd_begin_query(commands, pool, 1, vk::QueryControlFlags::empty());
            gpu.device.cmd_end_query(commands, pool, 1);
            gpu.device.cmd_copy_query_pool_results(commands, pool, 0, 2, buffer.handle, 4, 8, flags);
        }
        gpu.barrier(commands, None);
    })?;
    equal(&words(&buffer.read(0, 20)), &[9, 9, 0, 0, 1])?;
    let mut results = [[7u32; 2]; 2];
    // SAFETY: the pool is valid; there is room for both results.
    let code = unsafe { gpu.device.get_query_pool_results(pool, 0, &mut results, flags) };
    check(code == Err(vk::Result::NOT_READY), || format!("an unavailable query gave {code:?}"))?;
    equal(&results, &[[7, 0], [0, 1]])
}
