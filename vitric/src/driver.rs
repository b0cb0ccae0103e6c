//! The driver that is linked into this program, without a loader or system package.

use crate::Failure;

/// Returns the entry of the linked driver.
pub fn entry() -> Result<ash::Entry, Failure> {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own, linked statically, and follows
    // vkGetInstanceProcAddr's contract.
    Ok(unsafe { ash::Entry::from_static_fn(functions) })
}
