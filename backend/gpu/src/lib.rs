//! The emulated GPU: it knows formats, surfaces, programs and commands, and no Vulkan handle.
//!
//! One folder per block of the GPU, in the order in which data meets them. `ash::vk` is used only for its plain enums,
//! flags and extents, as vocabulary.

#![forbid(unsafe_code)]

pub mod command;
pub mod geometry;
pub mod gpu;
pub mod hiz;
pub mod pipeline;
pub mod pixel;
pub mod raster;
pub mod state;
pub mod tiling;
pub mod transfer;

/// Identifies the build that saves programs: what another one saved is of no use.
pub const BUILD: &str = env!("VITRIC_BUILD");
