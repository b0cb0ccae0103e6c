//! Query pools. Source: Vulkan specification, "Queries".

use std::ffi::c_void;

use ash::vk;
use vitric_api::Error;
use vitric_api::queue::QueryWait;
use vitric_gpu::command::{QueryKind, QueryPool};

use crate::objects::{destroy as destroy_handle, device, need};
use crate::{check, raw};

pub extern "system" fn create(
    handle: vk::Device,
    info: *const vk::QueryPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::QueryPool,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
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
        Ok(object.queries.insert(pool))
    })
}

pub extern "system" fn destroy(handle: vk::Device, pool: vk::QueryPool, _: *const vk::AllocationCallbacks<'_>) {
    destroy_handle(handle, |object| &object.queries, pool);
}

pub extern "system" fn results(
    handle: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    data: *mut c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let (handle_of_pool, pool) = (pool, need(object, &object.queries, pool)?);
        object.device.health().check()?;
        check::array(object, "pData", data.cast_const(), u32::from(size > 0 || count > 0))?;
        let out = raw::slice_mut(data.cast::<u8>(), size);
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
            let pool = object.describe(handle_of_pool);
            object.messages().error(&format!("queries of {pool} are waited for that no submitted command ends"));
        }
        Ok(if complete { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
    })
}

pub extern "system" fn reset(handle: vk::Device, pool: vk::QueryPool, first: u32, count: u32) {
    raw::guard_void(|| {
        if let Ok(pool) = device(handle).and_then(|object| need(object, &object.queries, pool)) {
            pool.reset(first, count);
        }
    });
}

/// What can be told beside the device's own time: the host's clocks.
const TIME_DOMAINS: [vk::TimeDomainKHR; 3] =
    [vk::TimeDomainKHR::DEVICE, vk::TimeDomainKHR::CLOCK_MONOTONIC, vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW];

pub extern "system" fn time_domains(_: vk::PhysicalDevice, count: *mut u32, out: *mut vk::TimeDomainKHR) -> vk::Result {
    raw::enumerate(&TIME_DOMAINS, count, out)
}

/// A clock of the host, nanoseconds; 0 where there is no such clock.
fn host_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is there to be written.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    if failed { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

pub extern "system" fn calibrated_timestamps(
    handle: vk::Device,
    count: u32,
    infos: *const vk::CalibratedTimestampInfoKHR<'_>,
    timestamps: *mut u64,
    deviation: *mut u64,
) -> vk::Result {
    raw::guard(|| {
        let object = device(handle)?;
        let gpu = object.device.gpu();
        let infos = check::array(object, "pTimestampInfos", infos, count)?;
        let timestamps = check::output(object, "pTimestamps", timestamps, count)?;
        let begin = host_clock(libc::CLOCK_MONOTONIC_RAW);
        for (info, out) in infos.iter().zip(timestamps) {
            *out = match info.time_domain {
                vk::TimeDomainKHR::DEVICE => gpu.now(),
                vk::TimeDomainKHR::CLOCK_MONOTONIC => host_clock(libc::CLOCK_MONOTONIC),
                vk::TimeDomainKHR::CLOCK_MONOTONIC_RAW => host_clock(libc::CLOCK_MONOTONIC_RAW),
                _ => return Err(Error::Unknown),
            };
        }
        // All were read in this time, and a clock may stand up to a nanosecond.
        if let Some(deviation) = raw::output(deviation) {
            *deviation = host_clock(libc::CLOCK_MONOTONIC_RAW).saturating_sub(begin) + 1;
        }
        Ok(vk::Result::SUCCESS)
    })
}
