//! The interface to the loader, the table of entry points, instances, physical devices, and
//! devices with their queues.

mod device;
mod instance;
mod newer;
mod physical;
mod table;

use std::ffi::c_char;

use ash::vk;

use crate::call::answer;

/// Newest version of the interface between loader and driver that is spoken here.
const LOADER_INTERFACE: u32 = 7;

/// `vkGetInstanceProcAddr` for the loader, and for programs that link the driver statically. It
/// also finds the functions that only loaders know, as version 7 of their interface demands.
///
/// # Safety
/// `name` must be null or a C string, and `instance` null or an instance of this driver.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract of this function.
    unsafe {
        answer(|call| {
            let of_loader = call.c_str(name).and_then(table::loader_proc);
            Ok(of_loader.or_else(|| table::instance_proc(call, instance, name)))
        })
    }
}

/// [`vk_icdGetInstanceProcAddr`] without the loader's own functions, under Vulkan's own name, for
/// programs that open the driver as if it were the loader.
///
/// # Safety
/// `name` must be null or a C string, and `instance` null or an instance of this driver.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract of this function.
    unsafe { table::vkGetInstanceProcAddr(instance, name) }
}

/// `vkGetInstanceProcAddr` for commands of physical devices only.
///
/// # Safety
/// `name` must be null or a C string, and `instance` null or an instance of this driver.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract of this function.
    unsafe { answer(|call| Ok(table::physical_device_proc(call, instance, name))) }
}

/// Agrees with the loader on a version of their interface: the older one's newest.
///
/// # Safety
/// `version` must be null or point to a version.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the contract of this function.
    unsafe {
        answer(|call| {
            let Some(mut version) = call.output(version) else { return Ok(vk::Result::ERROR_INCOMPATIBLE_DRIVER) };
            *version = (*version).min(LOADER_INTERFACE);
            Ok(if *version == 0 { vk::Result::ERROR_INCOMPATIBLE_DRIVER } else { vk::Result::SUCCESS })
        })
    }
}
