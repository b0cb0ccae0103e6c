//! What running programs may call: descriptors, buffer and image access, atomics, and shared numeric routines.

mod bindings;
mod descriptor;
pub mod kernels;
pub mod math;

pub use bindings::{Bindings, Bound, SharedMemory, perform as bindings_perform};
pub use descriptor::{Descriptor, DescriptorSet, SetBinding, SetLayout, is_dynamic};
