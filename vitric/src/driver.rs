//! The driver that is linked into this program: no loader and no system package is needed.

use crate::Failure;

/// The entry through which this program itself speaks Vulkan.
pub fn entry() -> Result<ash::Entry, Failure> {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own, linked statically, and follows vkGetInstanceProcAddr's contract.
    Ok(unsafe { ash::Entry::from_static_fn(functions) })
}
