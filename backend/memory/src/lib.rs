//! Memory: allocations, buffers, surfaces and their views.
//!
//! An [`Allocation`] is raw storage that the host may map while the GPU works on it. Buffers and surfaces are bound to a
//! range of one allocation exactly once. Surfaces with optimal tiling are stored in lines: 8x8 texels at every sample,
//! one plane per aspect (DESIGN 2). Nothing outside this folder touches raw storage.

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
