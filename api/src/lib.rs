//! Vulkan's objects and command recording in safe Rust, without the C ABI and without rendering.
//!
//! Objects are shared by `Arc`. A recorded command owns the objects that it refers to, so
//! destroying a handle never invalidates an object that the GPU uses. The interface uses `vk::`
//! enums, flags and plain structures. Raw handles and pointers do not reach this crate.

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
