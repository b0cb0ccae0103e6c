//! Driver properties.

use ash::vk;

use crate::harness::{Case, Gpu, check};

case!("core12.device.properties", "VK_KHR_driver_properties", driver);

fn driver(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_DRIVER_PROPERTIES_NAME)?;
    let mut own = vk::PhysicalDeviceDriverProperties::default();
    gpu.properties2(&mut own);
    let named = own.driver_name_as_c_str().is_ok_and(|name| !name.is_empty());
    check(named && own.driver_info_as_c_str().is_ok(), || format!("{own:?}"))?;
    let mut timelines = vk::PhysicalDeviceTimelineSemaphoreProperties::default();
    gpu.properties2(&mut timelines);
    let difference = timelines.max_timeline_semaphore_value_difference;
    check(!gpu.has(vk::KHR_TIMELINE_SEMAPHORE_NAME) || difference >= (1 << 31) - 1, || format!("{difference}"))
}
