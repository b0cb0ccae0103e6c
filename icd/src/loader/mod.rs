//! The interface to the loader, the table of entry points, instances, physical devices, and
//! devices with their queues.

mod device;
mod instance;
mod physical;
mod table;

use std::ffi::c_char;

use ash::vk;

use crate::call::answer;

/// Newest supported version of the interface between loader and driver.
const LOADER_INTERFACE: u32 = 7;

/// Returns functions for the loader, and for programs that link the driver statically. It also
/// returns the functions that only loaders use, as version 7 of their interface requires.
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
        answer("vk_icdGetInstanceProcAddr", instance, |call| {
            let of_loader = call.c_str(name).and_then(table::loader_proc);
            Ok(of_loader.or_else(|| table::instance_proc(call, instance, name)))
        })
    }
}

/// Returns the functions of [`vk_icdGetInstanceProcAddr`], except the loader's functions. It has
/// Vulkan's name, for programs that open the driver instead of the loader.
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

/// Returns functions of physical devices only.
///
/// # Safety
/// `name` must be null or a C string, and `instance` null or an instance of this driver.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the contract of this function.
    unsafe {
        answer("vk_icdGetPhysicalDeviceProcAddr", instance, |call| {
            Ok(table::physical_device_proc(call, instance, name))
        })
    }
}

/// Negotiates the version of the interface with the loader: the newest one that both support.
///
/// # Safety
/// `version` must be null or point to a version.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the contract of this function.
    unsafe {
        answer("vk_icdNegotiateLoaderICDInterfaceVersion", (), |call| {
            let Some(mut version) = call.output(version) else { return Ok(vk::Result::ERROR_INCOMPATIBLE_DRIVER) };
            *version = (*version).min(LOADER_INTERFACE);
            Ok(if *version == 0 { vk::Result::ERROR_INCOMPATIBLE_DRIVER } else { vk::Result::SUCCESS })
        })
    }
}
