//! GPU memory: allocations, buffers, surfaces, and views of surfaces.
//!
//! An [`Allocation`] is raw storage that the host may map while the GPU accesses it. Each buffer
//! or surface is bound exactly once, to a range of one allocation. Surfaces with optimal tiling
//! are stored in lines. A line holds 8x8 texels at every sample, and each aspect has a separate
//! plane (DESIGN 2). Only this crate accesses raw storage.
//!
//! ```
//! use ash::vk;
//! use vitric_memory::{Allocation, Heap, Surface, SurfaceDesc};
//!
//! let surface = Surface::new(SurfaceDesc {
//!     kind: vk::ImageType::TYPE_2D,
//!     format: vk::Format::R8G8B8A8_UNORM,
//!     extent: vk::Extent3D { width: 100, height: 50, depth: 1 },
//!     levels: 1,
//!     layers: 1,
//!     samples: 1,
//!     linear: false,
//!     decoded: false,
//! })
//! .unwrap();
//! let memory = Allocation::new(&Heap::new(1 << 20), surface.layout().size()).unwrap();
//! assert!(surface.bind(memory, 0));
//! let plane = surface.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
//! plane.write(99, 49, 0, &[1, 2, 3, 4]);
//! assert_eq!(plane.read_word(99, 49, 0), 0x0403_0201);
//! ```

mod address;
mod allocation;
mod buffer;
mod counter;
mod dma_buf;
mod heap;
mod layout;
pub mod near;
mod placed;
mod plane;
mod private;
mod rows;
mod shared;
mod shared_access;
mod surface;

pub use address::{AddressKind, AddressSpace, Addresses};
pub use allocation::{Allocation, DescriptorType, ImportFailed};
pub use buffer::{Buffer, BufferAddress, BufferRange, BufferView};
pub use counter::Counter;
pub use dma_buf::can_make_dma_bufs;
pub use heap::{Heap, OutOfMemory};
pub use layout::{PlanePlacement, SubresourceLayout, SurfaceDesc, SurfaceLayout, level_extent};
pub use near::{FarFile, Hint, ImageAccess, InUse, NearConfig, Reading, Residency, Writing};
pub use placed::PLACED_ALIGNMENT;
pub use plane::{PlaneRef, TexelSample};
pub use shared::Shares;
pub use shared_access::{SharedAccess, SynchronizedMemory};
pub use surface::{
    DECODED, DecodedCache, DecodedTexels, DecodedUse, LevelPlace, Surface, SurfaceView, SurfaceViewDesc, Swizzle,
    ViewMemory,
};
