//! Properties of `VK_KHR_maintenance7`.

use ash::vk;
use vitric_vulkan::names::KHR_MAINTENANCE7_NAME;
use vitric_vulkan::{Newer, PhysicalDeviceMaintenance7PropertiesKHR, sys};

use crate::harness::{Case, Gpu, check};

case!("maintenance.seven.properties", "VK_KHR_maintenance7", properties7);

/// Checks that totals are no less than the limits of one type, and that the list of layered
/// implementations is consistent with its count.
fn properties7(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE7_NAME)?;
    let mut list =
        Newer(sys::PhysicalDeviceLayeredApiPropertiesListKHR { layered_api_count: 77, ..Default::default() });
    let mut own = PhysicalDeviceMaintenance7PropertiesKHR::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut list).push_next(&mut own);
    // SAFETY: the chain is valid and alive.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    let limits = all.properties.limits;
    let (uniform, storage) =
        (limits.max_descriptor_set_uniform_buffers_dynamic, limits.max_descriptor_set_storage_buffers_dynamic);
    let uniforms = own.max_descriptor_set_total_uniform_buffers_dynamic;
    let storages = own.max_descriptor_set_total_storage_buffers_dynamic;
    let both = own.max_descriptor_set_total_buffers_dynamic;
    let flags = [own.robust_fragment_shading_rate_attachment_access, own.separate_depth_stencil_attachment_access];
    let good = flags.iter().all(|&flag| flag <= 1)
        && uniforms >= uniform.min(8)
        && storages >= storage.min(4)
        && both >= uniforms.max(storages)
        && own.max_descriptor_set_update_after_bind_total_uniform_buffers_dynamic >= uniforms
        && own.max_descriptor_set_update_after_bind_total_storage_buffers_dynamic >= storages
        && own.max_descriptor_set_update_after_bind_total_buffers_dynamic >= both;
    check(good, || format!("{own:?}"))?;
    check(list.layered_api_count < 77, || format!("{} layered implementations", list.layered_api_count))
}
