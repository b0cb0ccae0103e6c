//! The C face: loader negotiation, entry points, handles, pNext chains, window systems.
//!
//! Every entry point reads what the application's pointers point to (`raw`), turns handles into objects (`handles`), calls
//! `vitric-api`, and writes results back. Panics end at the boundary. Nothing here renders, and there is no state but
//! handles.

mod address;
mod check;
mod command;
mod command2;
mod debug;
mod descriptor;
mod device;
mod draws;
mod dynamic;
mod entry;
mod external;
mod feedback;
mod handles;
mod host;
mod instance;
mod logging;
mod memory;
mod newer;
mod objects;
mod pass;
mod physical;
mod pipeline;
mod private;
mod process;
mod push;
mod query;
mod raw;
mod rendering;
mod sampler;
mod slots;
mod sync;
mod transfer;
mod transition;
mod wsi;

use std::ffi::c_char;

use ash::vk;

/// Newest version of the interface between loader and driver that is spoken here.
const LOADER_INTERFACE: u32 = 7;

/// `vkGetInstanceProcAddr` for the loader, and for programs that link the driver statically. It also finds the functions that only
/// loaders know, as version 7 of their interface demands.
///
/// # Safety
/// `name` must be null or a C string, and `instance` null or an instance of this driver.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    entry::loader_proc(name).or_else(|| entry::instance_proc(instance, name))
}

/// The same under Vulkan's own name, for programs that open the driver as if it were the loader.
///
/// # Safety
/// As for [`vk_icdGetInstanceProcAddr`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    entry::instance_proc(instance, name)
}

/// `vkGetInstanceProcAddr` for commands of physical devices only.
///
/// # Safety
/// As for [`vk_icdGetInstanceProcAddr`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    entry::physical_device_proc(instance, name)
}

/// Agrees with the loader on a version of their interface: the older one's newest.
///
/// # Safety
/// `version` must be null or point to a version.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    let Some(version) = raw::output(version) else { return vk::Result::ERROR_INCOMPATIBLE_DRIVER };
    *version = (*version).min(LOADER_INTERFACE);
    if *version == 0 { vk::Result::ERROR_INCOMPATIBLE_DRIVER } else { vk::Result::SUCCESS }
}
