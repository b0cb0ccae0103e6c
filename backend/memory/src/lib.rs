//! GPU memory: allocations, buffers, surfaces, and views of surfaces.
//!
//! An [`Allocation`] is raw storage that the host may map while the GPU accesses it. Each buffer
//! or surface is bound exactly once, to a range of one allocation. Surfaces with optimal tiling
//! are stored in lines. A line holds 8x8 texels at every sample, and each aspect has a separate
//! plane (DESIGN 2). Only this crate accesses raw storage.

mod address;
mod allocation;
mod buffer;
mod counter;
mod decoded;
mod layout;
pub mod near;
mod plane;
mod rest;
mod rows;
mod shared;
mod surface;

pub use address::{AddressKind, AddressSpace, Addresses};
pub use allocation::{Allocation, Heap, ImportFailed, OutOfMemory};
pub use buffer::{Buffer, BufferAddress, BufferRange, BufferView};
pub use counter::Counter;
pub use decoded::{DecodedCache, DecodedTexels, DecodedUse};
pub use layout::{SubresourceLayout, SurfaceDesc, SurfaceLayout, level_extent};
pub use near::FarFile;
pub use plane::PlaneRef;
pub use rest::{Hint, InUse, NearConfig, Reading, Residency};
pub use shared::Shares;
pub use surface::{DECODED, LevelPlace, Surface, SurfaceView, SurfaceViewDesc, Swizzle, ViewMemory};
