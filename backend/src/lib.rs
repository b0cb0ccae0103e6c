//! The emulated GPU: it knows formats, surfaces, programs and commands, and no Vulkan handle.
//!
//! One folder per block of the GPU, in the order in which data meets them. `ash::vk` is used only for its plain enums,
//! flags and extents, as vocabulary.

use vitric_base::{bag, workers};
pub use vitric_base::{counters, host_memory, knobs, simd};
pub use vitric_format as format;
pub use vitric_memory as memory;

pub mod command;
mod format_ir;
pub mod geometry;
pub mod gpu;
pub mod hiz;
pub mod pixel;
pub mod raster;
pub mod shader;
pub mod state;
pub mod texture;
pub mod tiling;
pub mod transfer;
