//! Foundation of the emulated GPU's crates: waves of lanes and kernels over them, worker threads,
//! pools of reusable objects, counters and knobs.
//!
//! Nothing in this crate depends on Vulkan.

pub mod counters;
pub mod host_memory;
pub mod host_thread;
pub mod knobs;
pub mod object_pool;
pub mod simd;
pub mod sync;
pub mod workers;
