//! The units of the emulated GPU and its command processor, without any Vulkan handle.
//!
//! Each folder is a unit. `ash::vk` is used only for its plain enums, flags and extents, as
//! vocabulary.

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
