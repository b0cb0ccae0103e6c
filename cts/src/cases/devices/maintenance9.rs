//! Devices without queues, and other rules of `VK_KHR_maintenance9`.

use ash::vk;
use vitric_vulkan::names::KHR_MAINTENANCE9_NAME;
use vitric_vulkan::sys;

use crate::harness::{Case, Gpu, check};

case!("maintenance.nine.no_queues", "VK_KHR_maintenance9", no_queues);

/// Creates a device without queues, and objects for programs on it.
fn no_queues(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE9_NAME)?;
    // SAFETY: the info is valid, and what is made is destroyed before its device.
    unsafe {
        let device = gpu.instance.create_device(gpu.physical, &vk::DeviceCreateInfo::default(), None)?;
        let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let cache = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)?;
        let data = device.get_pipeline_cache_data(cache)?;
        device.destroy_pipeline_cache(cache, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_device(None);
        check(data.len() >= 32, || format!("{} bytes of a cache", data.len()))
    }
}

case!("maintenance.nine.ownership", "VK_KHR_maintenance9", ownership);

/// Checks that the families that need no ownership transfer of images exist.
fn ownership(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE9_NAME)?;
    // SAFETY: the chains are valid and alive.
    unsafe {
        let count = gpu.instance.get_physical_device_queue_family_properties2_len(gpu.physical);
        let new = sys::QueueFamilyOwnershipTransferPropertiesKHR {
            optimal_image_transfer_to_queue_families: 0x8000_0000,
            ..Default::default()
        };
        let mut owners = vec![new; count];
        let family = |owner: &mut sys::QueueFamilyOwnershipTransferPropertiesKHR| vk::QueueFamilyProperties2 {
            p_next: (&raw mut *owner).cast(),
            ..Default::default()
        };
        let mut families: Vec<_> = owners.iter_mut().map(family).collect();
        gpu.instance.get_physical_device_queue_family_properties2(gpu.physical, &mut families);
        let found: Vec<u32> = owners.iter().map(|owner| owner.optimal_image_transfer_to_queue_families).collect();
        check(found.iter().all(|&families| families < 1 << count), || format!("{found:x?}"))
    }
}

case!("maintenance.nine.fresh_queries", "VK_KHR_maintenance9", fresh_queries);

/// Checks that queries of a pool with the flag `RESET` are reset at creation.
fn fresh_queries(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE9_NAME)?;
    const RESET: vk::QueryPoolCreateFlags = vk::QueryPoolCreateFlags::from_raw(1);
    let info = vk::QueryPoolCreateInfo::default().flags(RESET).query_type(vk::QueryType::TIMESTAMP).query_count(2);
    let mut results = [[7u64; 2]; 2];
    // SAFETY: the info is valid, and the pool is alive.
    unsafe {
        let pool = gpu.device.create_query_pool(&info, None)?;
        gpu.run(|commands| {
            gpu.device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, pool, 1);
        })?;
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        match gpu.device.get_query_pool_results(pool, 0, &mut results, flags) {
            Err(vk::Result::NOT_READY) => {}
            other => other?,
        }
        gpu.device.destroy_query_pool(pool, None);
    }
    check(results[0][1] == 0 && results[1][1] != 0, || format!("{results:?}"))
}
