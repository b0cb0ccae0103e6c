//! The units of the emulated GPU and its command processor, without any Vulkan handle.
//!
//! Each folder is a unit. `ash::vk` is used only for its plain enums, flags and extents, as
//! vocabulary.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use vitric_base::knobs::BatchLimit;
//! use vitric_exec::Inlining;
//! use vitric_gpu::command::{Command, CommandList};
//! use vitric_gpu::geometry::Posh;
//! use vitric_gpu::gpu::{Gpu, GpuConfig};
//! use vitric_gpu::hiz::Hiz;
//! use vitric_gpu::raster::Coverage;
//! use vitric_memory::{Allocation, Buffer, Heap};
//!
//! let config = GpuConfig {
//!     threads: 2,
//!     timeout: Duration::from_secs(10),
//!     tbimr: true,
//!     batch: BatchLimit::default(),
//!     chunk: 8192,
//!     hiz: Hiz::Auto,
//!     coverage: Coverage::Hierarchical,
//!     scoreboard: true,
//!     packs_always: false,
//!     merged: None,
//!     posh: Posh::Auto,
//!     lookahead: 1 << 20,
//!     inlining: Inlining::Auto,
//!     counts: false,
//!     decoded_bytes: 0,
//! };
//! let target = Buffer::new(16);
//! target.bind(Allocation::new(&Heap::new(1 << 20), 16).unwrap(), 0);
//! let (offset, size, word) = (4, 8, 0x0102_0304);
//! let fill = Command::FillBuffer { target: target.clone(), offset, size, word };
//! let list = CommandList { commands: vec![fill], ..Default::default() };
//! Gpu::new(config).execute(&[Arc::new(list)]).unwrap();
//! let mut bytes = [0; 16];
//! target.read(0, &mut bytes);
//! assert_eq!(bytes, [0, 0, 0, 0, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 0, 0]);
//! ```

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
