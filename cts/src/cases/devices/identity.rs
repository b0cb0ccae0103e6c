//! External handle capabilities of a device, its identity, and limits of `VK_KHR_maintenance3`.

use ash::{khr, vk};

use crate::harness::{Case, Gpu, check};

case!("core11.external.queries", "VK_KHR_external_memory_capabilities", external);

/// Checks that capabilities of external handles are consistent: no handle type is compatible that
/// cannot be imported or exported.
fn external(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_EXTERNAL_MEMORY_NAME)?;
    let memory = khr::external_memory_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let fences = khr::external_fence_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let semaphores = khr::external_semaphore_capabilities::Instance::new(&gpu.entry, &gpu.instance);
    let (fd, win32) = (vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD, vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32);
    for kind in [fd, win32] {
        let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let mut out = vk::ExternalBufferProperties::default();
        // SAFETY: the info is valid.
        unsafe {
            let info = info.handle_type(kind);
            (memory.fp().get_physical_device_external_buffer_properties_khr)(
                gpu.physical,
                &raw const info,
                &raw mut out,
            );
        }
        let found = out.external_memory_properties;
        let usable = !found.external_memory_features.is_empty();
        check(usable || found.compatible_handle_types.is_empty(), || format!("{kind:?}: {found:?}"))?;
    }
    let (mut fence, mut semaphore) =
        (vk::ExternalFenceProperties::default(), vk::ExternalSemaphoreProperties::default());
    // SAFETY: valid infos.
    unsafe {
        let info = vk::PhysicalDeviceExternalFenceInfo::default();
        let info = info.handle_type(vk::ExternalFenceHandleTypeFlags::OPAQUE_WIN32);
        (fences.fp().get_physical_device_external_fence_properties_khr)(gpu.physical, &raw const info, &raw mut fence);
        let info = vk::PhysicalDeviceExternalSemaphoreInfo::default();
        let info = info.handle_type(vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_WIN32);
        (semaphores.fp().get_physical_device_external_semaphore_properties_khr)(
            gpu.physical,
            &raw const info,
            &raw mut semaphore,
        );
    }
    let none = fence.external_fence_features.is_empty() && semaphore.external_semaphore_features.is_empty();
    check(none, || "handles of another system".into())?;
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    gpu.properties2(&mut ids);
    check(ids.device_uuid != [0; 16] && ids.driver_uuid != [0; 16], || format!("{ids:?}"))
}

case!("core11.maintenance.properties", "VK_KHR_maintenance3", properties);

fn properties(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE3_NAME)?;
    let mut most = vk::PhysicalDeviceMaintenance3Properties::default();
    gpu.properties2(&mut most);
    check(most.max_memory_allocation_size >= 1 << 30, || format!("{most:?}"))?;
    let mut clipping = vk::PhysicalDevicePointClippingProperties {
        point_clipping_behavior: vk::PointClippingBehavior::from_raw(9),
        ..Default::default()
    };
    gpu.properties2(&mut clipping);
    let known = [vk::PointClippingBehavior::ALL_CLIP_PLANES, vk::PointClippingBehavior::USER_CLIP_PLANES_ONLY];
    check(known.contains(&clipping.point_clipping_behavior), || format!("{clipping:?}"))
}
