//! Depth and stencil, quad packing, fragment waves, export and blending.

mod coarse;
mod coverage;
mod crumbs;
mod depth_group;
mod depth_stencil;
mod direct;
mod draw;
mod group_tests;
mod inputs;
mod kernel;
mod neighbours;
mod quad;
mod rates;
mod scoreboard;
mod teaching;
mod tile;
mod tiny;
mod wave;

use ash::vk;

pub use draw::{DrawContext, PixelContext, Segment, visibility};
pub use kernel::Kernels;
pub use rates::Rates;
pub use tile::{TileScratch, process_tile};

/// `a op b` of depths, or of depth references.
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
