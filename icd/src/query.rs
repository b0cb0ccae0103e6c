//! Query pools. Source: Vulkan specification, "Queries".

use std::ffi::c_void;

use ash::vk;
use vitric_api::Error;
use vitric_backend::command::{QueryKind, QueryPool};

use crate::objects::{destroy as destroy_handle, device, need};
use crate::raw;

pub extern "system" fn create(
    handle: vk::Device,
    info: *const vk::QueryPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::QueryPool,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let kind = match info.query_type {
            vk::QueryType::OCCLUSION => QueryKind::Occlusion,
            vk::QueryType::TIMESTAMP => QueryKind::Timestamp,
            vk::QueryType::PIPELINE_STATISTICS => QueryKind::Statistics(info.pipeline_statistics),
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
        let pool = need(object, &object.queries, pool)?;
        object.device.health().check()?;
        let out = raw::slice_mut(data.cast::<u8>(), size);
        let mut complete = true;
        for index in 0..count {
            let (at, bytes) = pool.result_bytes(first + index, flags);
            complete &= pool.read(first + index).is_some_and(|(_, available)| available);
            let start = u64::from(index).saturating_mul(stride).saturating_add(at as u64);
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            if let Some(target) = out.get_mut(start..).and_then(|rest| rest.get_mut(..bytes.len())) {
                target.copy_from_slice(&bytes);
            }
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
