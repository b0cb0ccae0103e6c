//! What all crates of the emulated GPU stand on: waves of lanes and functions over them, worker threads, memory that is kept, counters
//! and knobs. Nothing here knows of Vulkan.

pub mod bag;
pub mod counters;
pub mod host_memory;
pub mod knobs;
pub mod simd;
pub mod sync;
pub mod workers;
