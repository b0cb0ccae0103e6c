//! Reports about lost devices. Source: `VK_EXT_device_fault`, `VK_KHR_device_fault`.

use ash::vk;
use vitric_vulkan::names::KHR_DEVICE_FAULT_NAME;
use vitric_vulkan::{PhysicalDeviceFaultPropertiesKHR, commands};

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

case!("commands.device.fault_reports", "VK_KHR_device_fault", reports);

/// Checks that a device that is not lost has no report, also after a wait.
fn reports(gpu: &Gpu) -> Case {
    gpu.need(KHR_DEVICE_FAULT_NAME)?;
    let mut properties = PhysicalDeviceFaultPropertiesKHR::default();
    gpu.properties2(&mut properties);
    check(properties.max_device_fault_count > 0, || "maxDeviceFaultCount is 0".into())?;
    let reports = gpu.command::<commands::PFN_vkGetDeviceFaultReportsKHR>(c"vkGetDeviceFaultReportsKHR")?;
    for timeout in [0, 3_000_000] {
        let (mut count, begin) = (7, std::time::Instant::now());
        // SAFETY: the pointers are valid.
        let code = unsafe { reports(gpu.device.handle(), timeout, &raw mut count, std::ptr::null_mut()) };
        check(code == vk::Result::TIMEOUT && count == 0, || format!("{code:?} with {count} reports"))?;
        let waited = begin.elapsed().as_nanos();
        check(waited >= timeout.into(), || format!("a wait of {waited} ns, not {timeout} ns"))?;
    }
    Ok(())
}
