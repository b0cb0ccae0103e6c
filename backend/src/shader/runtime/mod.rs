//! What running programs may call: descriptors, buffer and image access, atomics, and shared numeric routines.

mod descriptor;

pub use descriptor::{Descriptor, DescriptorSet, SetBinding, SetLayout};
