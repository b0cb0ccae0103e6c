//! Reports about lost devices (`VK_EXT_device_fault`).

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};

case!("commands.device.fault", "VK_EXT_device_fault", fault);

/// Checks that a device that is not lost reports no fault.
fn fault(gpu: &Gpu) -> Case {
    if gpu.extension_features.faults.device_fault == vk::FALSE {
        return Err(Outcome::NotSupported("faults".into()));
    }
    let extension = ash::ext::device_fault::Device::new(&gpu.instance, &gpu.device);
    let mut counts = vk::DeviceFaultCountsEXT { address_info_count: 7, ..Default::default() };
    // SAFETY: the structures are alive.
    let code = unsafe {
        (extension.fp().get_device_fault_info_ext)(gpu.device.handle(), &raw mut counts, std::ptr::null_mut())
    };
    check(code == vk::Result::SUCCESS, || format!("{code:?}"))?;
    check(counts.address_info_count == 0, || format!("{} addresses", counts.address_info_count))
}
