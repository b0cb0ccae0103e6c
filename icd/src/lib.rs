//! The C interface: loader negotiation, entry points, handles, pNext chains, window systems.
//!
//! Each entry point is a typed function. Its stub converts the application's pointers (`call`)
//! and resolves handles to objects (`slots`, `handles`). The function calls `vitric-api` and
//! writes results. Panics do not cross the interface. The crate renders nothing, and its state
//! consists of handles.
//!
//! Programs use the driver through the Vulkan loader, or link it:
//!
//! ```
//! use vulkan_vitric::vk_icdGetInstanceProcAddr;
//!
//! let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
//! // SAFETY: the function has the contract of `vkGetInstanceProcAddr`, and the instance is
//! // destroyed after its last use.
//! unsafe {
//!     let entry = ash::Entry::from_static_fn(functions);
//!     let instance = entry.create_instance(&ash::vk::InstanceCreateInfo::default(), None)?;
//!     let devices = instance.enumerate_physical_devices()?;
//!     let properties = instance.get_physical_device_properties(devices[0]);
//!     assert_eq!(properties.device_type, ash::vk::PhysicalDeviceType::CPU);
//!     instance.destroy_instance(None);
//! }
//! # Ok::<(), ash::vk::Result>(())
//! ```

mod call;
mod cmd;
mod displays;
mod handles;
mod loader;
mod logging;
mod messengers;
mod object;
mod poll;
mod process;
mod slots;
mod wsi;

pub use loader::{
    vk_icdGetInstanceProcAddr, vk_icdGetPhysicalDeviceProcAddr, vk_icdNegotiateLoaderICDInterfaceVersion,
    vkGetInstanceProcAddr,
};

/// Digest of the sources of all crates of the driver, in hexadecimal digits, which the library
/// contains as text.
pub const SOURCES: &str = env!("VITRIC_SOURCES");
