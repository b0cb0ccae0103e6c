//! Runtime of programs: descriptors, buffer and image access, atomics, and shared numeric
//! functions.

mod access;
mod atomics;
mod bindings;
mod clock;
mod descriptor;
mod environment;
pub use vitric_codegen::frame;
mod image;
pub mod kernels;
mod lookups;
pub mod math;
pub mod native;
pub mod rows;
mod set;
pub mod symbols;

pub use access::{Access, Masks, lanes_of};
pub use atomics::{perform, perform_wide};
pub use bindings::{Bindings, Bound, Ranges, ResolvedSet, SharedMemory};
pub use descriptor::{Descriptor, SetBinding, SetLayout, is_dynamic};
pub use environment::{Deadline, Environment, Stop, Working};
pub use image::image;
pub use lookups::Lookups;
pub use set::{DescriptorResolver, DescriptorSet, Named, NoDescriptors, Slot};
