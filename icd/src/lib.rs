//! The C face: loader negotiation, entry points, handles, pNext chains, window systems.
//!
//! Each entry point is a typed function: its stub translates what the application's pointers point
//! to (`call`) and handles to objects (`slots`, `handles`). The function calls `vitric-api`
//! and writes results back. Panics end at the boundary. Nothing here renders, and there is no
//! state but handles.

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
