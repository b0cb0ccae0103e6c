//! Vulkan's objects and recording, in safe Rust. No C ABI, no pixels.
//!
//! Objects are shared by `Arc`: commands own what they name, so destroying a handle never pulls anything away from under
//! the GPU. `vk::` enums, flags and plain structures are the vocabulary; raw handles and pointers never get here.

#![forbid(unsafe_code)]

pub mod command;
pub mod debug;
pub mod descriptor;
pub mod device;
pub mod error;
pub mod extensions;
pub mod families;
pub mod health;
pub mod heap;
pub mod host;
pub mod image;
pub mod physical;
pub mod pipeline;
pub mod process;
pub mod queue;
pub mod report;
pub mod structures;
pub mod swapchain;
pub mod sync;

pub use error::{Error, Result};
