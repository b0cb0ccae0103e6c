//! Query pools. Source: Vulkan specification, "Queries".

use ash::vk;
use vitric_api::queue::QueryWait;
use vitric_api::swapchain::timing::{PRESENT_STAGE_LOCAL, SWAPCHAIN_LOCAL};
use vitric_api::{Error, Result};
use vitric_base::clock;
use vitric_gpu::command::{QueryKind, QueryPool};

use vitric_entry::entry;

use super::{DeviceObject, check, destroy, need, time_domain};
use crate::call::{Array, ArrayMut, BytesMut, Call, Listing, New, Out};

#[entry(vkCreateQueryPool)]
fn create_query_pool(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::QueryPoolCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::QueryPool>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let kind = match info.query_type {
        vk::QueryType::OCCLUSION => QueryKind::Occlusion,
        vk::QueryType::TIMESTAMP => QueryKind::Timestamp,
        vk::QueryType::PIPELINE_STATISTICS => QueryKind::Statistics(info.pipeline_statistics),
        vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT => QueryKind::Stream,
        vk::QueryType::PRIMITIVES_GENERATED_EXT => QueryKind::Generated,
        vk::QueryType::MESH_PRIMITIVES_GENERATED_EXT => QueryKind::MeshPrimitives,
        _ => return Err(Error::FeatureNotPresent),
    };
    let pool = QueryPool::new(kind, info.query_count).ok_or(Error::OutOfHostMemory)?;
    Ok(out.put(object.queries.insert(pool)))
}

#[entry(vkDestroyQueryPool)]
fn destroy_query_pool(object: &DeviceObject, pool: vk::QueryPool, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.queries, pool);
}

#[entry(vkGetQueryPoolResults)]
fn get_query_pool_results(
    object: &DeviceObject,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    #[len] size: usize,
    data: BytesMut<'_>,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> Result<vk::Result> {
    let (handle, pool) = (pool, need(object, &object.queries, pool)?);
    object.device.health().check()?;
    let is_needed = data.size() > 0 || count > 0;
    let out = check::output_bytes(object, "pData", data, is_needed)?;
    let waits = flags.contains(vk::QueryResultFlags::WAIT);
    let (mut complete, wait) =
        (true, QueryWait::new(if waits { object.device.queues() } else { &[] }, object.device.health()));
    for index in 0..count {
        let result = pool.result(first.saturating_add(index), flags, || wait.is_over());
        complete &= result.available;
        let start = u64::from(index).saturating_mul(stride).saturating_add(result.at as u64);
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        if let Some(target) = out.get_mut(start..).and_then(|rest| rest.get_mut(..result.bytes.len())) {
            target.copy_from_slice(&result.bytes);
        }
    }
    wait.check()?;
    if !complete && waits {
        let pool = object.describe(handle);
        object.messages().error(&format!(
            "{pool}: no submitted command ends the queries that are waited for: submit vkCmdEndQuery first"
        ));
    }
    Ok(if complete { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
}

#[entry(vkResetQueryPool)]
fn reset_query_pool(object: &DeviceObject, pool: vk::QueryPool, first: u32, count: u32) -> Result<()> {
    need(object, &object.queries, pool)?.reset(first, count);
    Ok(())
}

/// The device's own time, the clocks of the host, and the clock of swapchains.
const TIME_DOMAINS: [vk::TimeDomainKHR; 5] = [
    vk::TimeDomainKHR::DEVICE,
    vk::TimeDomainKHR::CLOCK_MONOTONIC,
    vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW,
    PRESENT_STAGE_LOCAL,
    SWAPCHAIN_LOCAL,
];

#[entry(vkGetPhysicalDeviceCalibrateableTimeDomainsKHR)]
fn get_physical_device_calibrateable_time_domains(
    _: vk::PhysicalDevice,
    #[len] count: *mut u32,
    out: Listing<'_, vk::TimeDomainKHR>,
) -> Result<vk::Result> {
    out.put(&TIME_DOMAINS)
}

#[entry(vkGetCalibratedTimestampsKHR)]
fn get_calibrated_timestamps(
    call: Call<'_>,
    object: &DeviceObject,
    #[len] count: u32,
    infos: Array<'_, vk::CalibratedTimestampInfoKHR<'_>>,
    timestamps: ArrayMut<'_, u64>,
    deviation: Option<Out<'_, u64>>,
) -> Result<vk::Result> {
    let gpu = object.device.gpu();
    let infos = check::array(object, "pTimestampInfos", infos)?;
    let timestamps = check::output(object, "pTimestamps", timestamps)?;
    let begin = clock::monotonic_raw();
    for (info, out) in infos.iter().zip(timestamps) {
        *out = match info.time_domain {
            vk::TimeDomainKHR::DEVICE => gpu.now(),
            vk::TimeDomainKHR::CLOCK_MONOTONIC => clock::monotonic(),
            vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => clock::monotonic_raw(),
            PRESENT_STAGE_LOCAL | SWAPCHAIN_LOCAL => time_domain::calibrated(call, object, info)?,
            _ => return Err(Error::Unknown),
        };
    }
    // All were read in this time, and a clock may stand up to a nanosecond.
    if let Some(mut deviation) = deviation {
        *deviation = clock::monotonic_raw().saturating_sub(begin) + 1;
    }
    Ok(vk::Result::SUCCESS)
}
