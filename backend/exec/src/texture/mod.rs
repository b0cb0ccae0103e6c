//! Texture unit: sampling, gathering, and access to single texels.
//!
//! Sampling and gathering are routines written as IR (`routine`). Tests compare them with a simple
//! model (`reference`). The functions for single texels work on one lane. Results are four words,
//! red to alpha, as in `format`. Source: Vulkan specification, "Image Operations".

mod access;
#[cfg(test)]
mod reference;
mod routine;
mod texel;

use ash::vk;

pub use access::{TexelPosition, atomic, fetch, read, size, write};
pub use routine::{BoundRoutine, Routine, Routines};

/// Returns `a op b`, for depths or stencil values.
#[inline]
pub fn compare<T: PartialOrd>(op: vk::CompareOp, a: T, b: T) -> bool {
    match op {
        vk::CompareOp::LESS => a < b,
        vk::CompareOp::EQUAL => a == b,
        vk::CompareOp::LESS_OR_EQUAL => a <= b,
        vk::CompareOp::GREATER => a > b,
        vk::CompareOp::NOT_EQUAL => a != b,
        vk::CompareOp::GREATER_OR_EQUAL => a >= b,
        vk::CompareOp::ALWAYS => true,
        _ => false,
    }
}
