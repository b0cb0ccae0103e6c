//! The C interface: loader negotiation, entry points, handles, pNext chains, window systems.
//!
//! Each entry point is a typed function. Its stub converts the application's pointers (`call`)
//! and resolves handles to objects (`slots`, `handles`). The function calls `vitric-api` and
//! writes results. Panics do not cross the interface. The crate renders nothing, and its state
//! consists of handles.

mod call;
mod cmd;
mod handles;
mod loader;
mod logging;
mod messengers;
mod object;
mod process;
mod slots;
mod wsi;

pub use loader::{
    vk_icdGetInstanceProcAddr, vk_icdGetPhysicalDeviceProcAddr, vk_icdNegotiateLoaderICDInterfaceVersion,
    vkGetInstanceProcAddr,
};
