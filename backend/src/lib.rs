//! The emulated GPU: it knows formats, surfaces, programs and commands, and no Vulkan handle.
//!
//! One folder per block of the GPU, in the order in which data meets them. `ash::vk` is used only for its plain enums,
//! flags and extents, as vocabulary.

mod bag;
pub mod command;
pub mod counters;
pub mod format;
mod format_ir;
pub mod geometry;
pub mod gpu;
pub mod hiz;
pub mod host_memory;
pub mod knobs;
pub mod memory;
pub mod pixel;
pub mod raster;
pub mod shader;
pub mod simd;
pub mod state;
mod sync;
pub mod texture;
pub mod tiling;
pub mod transfer;
mod workers;
