//! Vulkan's objects and command recording in safe Rust, without the C ABI and without rendering.
//!
//! Objects are shared by `Arc`. A recorded command owns the objects that it refers to, so
//! destroying a handle never invalidates an object that the GPU uses. The interface uses `vk::`
//! enums, flags and plain structures. Raw handles and pointers do not reach this crate.
//!
//! ```
//! use vitric_api::Error;
//! use vitric_api::command::CommandBuffer;
//! use vitric_api::protection::Protection;
//! use vitric_gpu::command::Command;
//! use vitric_memory::{Allocation, Buffer, Heap};
//!
//! let target = Buffer::new(16);
//! target.bind(Allocation::new(&Heap::new(1 << 20), 16).unwrap(), 0);
//! let (secondary, family) = (false, 0);
//! let commands = CommandBuffer::new(secondary, family, Protection::default())?;
//! commands.begin(false);
//! commands.record(Command::FillBuffer { target, offset: 0, size: 16, word: 7 });
//! assert_eq!(commands.list().unwrap_err(), Error::Unknown);
//! commands.end()?;
//! assert_eq!(commands.list()?.commands.len(), 1);
//! # Ok::<(), Error>(())
//! ```

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
pub mod modifiers;
pub mod physical;
pub mod pipeline;
pub mod process;
pub mod protection;
pub mod queue;
pub mod report;
pub mod structures;
pub mod swapchain;
pub mod sync;

pub use error::{Error, Result};
