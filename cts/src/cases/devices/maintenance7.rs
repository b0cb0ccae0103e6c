//! Properties of `VK_KHR_maintenance7`.

use ash::vk;

use crate::harness::unbound_extensions::MAINTENANCE7;
use crate::harness::{Case, Gpu, check};

/// `VkPhysicalDeviceMaintenance7PropertiesKHR`, as in the registry.
#[repr(C)]
struct Properties7 {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    flags: [vk::Bool32; 2],
    totals: [u32; 6],
}

/// `VkPhysicalDeviceLayeredApiPropertiesListKHR`, as in the registry.
#[repr(C)]
struct LayeredList {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    count: u32,
    list: *mut std::ffi::c_void,
}

case!("maintenance.seven.properties", "VK_KHR_maintenance7", properties7);

/// Checks that totals are no less than the limits of one type, and that the list of layered
/// implementations is consistent with its count.
fn properties7(gpu: &Gpu) -> Case {
    gpu.need(MAINTENANCE7)?;
    let mut list = LayeredList {
        s_type: vk::StructureType::from_raw(1_000_562_002),
        p_next: std::ptr::null_mut(),
        count: 77,
        list: std::ptr::null_mut(),
    };
    let mut own = Properties7 {
        s_type: vk::StructureType::from_raw(1_000_562_001),
        p_next: (&raw mut list).cast(),
        flags: [77; 2],
        totals: [0; 6],
    };
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut own).cast(), ..Default::default() };
    // SAFETY: the structures are laid out as the registry says, and are alive.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    let limits = all.properties.limits;
    let (uniform, storage) =
        (limits.max_descriptor_set_uniform_buffers_dynamic, limits.max_descriptor_set_storage_buffers_dynamic);
    let [uniforms, storages, both, later_uniforms, later_storages, later] = own.totals;
    let good = own.flags.iter().all(|&flag| flag <= 1)
        && uniforms >= uniform.min(8)
        && storages >= storage.min(4)
        && both >= uniforms.max(storages)
        && later_uniforms >= uniforms
        && later_storages >= storages
        && later >= both;
    check(good, || format!("{:?}, {:?}", own.flags, own.totals))?;
    check(list.count < 77, || format!("{} layered implementations", list.count))
}
