//! Tool properties.

use ash::vk;

use crate::harness::{Case, Gpu, check};

case!("core13.device.tools", "VK_EXT_tooling_info", tools);

fn tools(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_TOOLING_INFO_NAME)?;
    let query = ash::ext::tooling_info::Instance::new(&gpu.entry, &gpu.instance);
    let mut count = u32::MAX;
    // SAFETY: the count is asked for.
    let code = unsafe {
        (query.fp().get_physical_device_tool_properties_ext)(gpu.physical, &raw mut count, std::ptr::null_mut())
    };
    check(code == vk::Result::SUCCESS && count < 16, || format!("{code:?}, {count} tools"))
}
