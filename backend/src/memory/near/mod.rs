//! Near memory.

pub mod codec;
