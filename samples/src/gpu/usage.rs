//! Uses of images: each use defines its layout, stages and accesses once.
//!
//! Source: Vulkan specification, "Synchronization and Cache Control".

use ash::vk;
use vk::{AccessFlags as Access, ImageLayout, PipelineStageFlags as Stage};

/// Use of an image between two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Contents do not matter; nothing to wait for.
    Undefined,
    /// Source of copies and blits.
    TransferRead,
    /// Destination of copies and blits.
    TransferWrite,
    /// Sampled by vertex, fragment or compute shaders.
    Sample,
    /// Read and written by compute shaders as a storage image.
    Storage,
    /// Colour attachment.
    Color,
}

/// Layout of an image, and the stages and accesses of its use.
pub(super) struct Scope {
    pub layout: ImageLayout,
    pub stages: Stage,
    pub accesses: Access,
}

impl Use {
    /// Returns the layout, stages and accesses of the use.
    pub(super) fn scope(self) -> Scope {
        let shaders = Stage::VERTEX_SHADER | Stage::FRAGMENT_SHADER | Stage::COMPUTE_SHADER;
        let color = Access::COLOR_ATTACHMENT_READ | Access::COLOR_ATTACHMENT_WRITE;
        let (layout, stages, accesses) = match self {
            Use::Undefined => (ImageLayout::UNDEFINED, Stage::TOP_OF_PIPE, Access::empty()),
            Use::TransferRead => (ImageLayout::TRANSFER_SRC_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_READ),
            Use::TransferWrite => (ImageLayout::TRANSFER_DST_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_WRITE),
            Use::Sample => (ImageLayout::SHADER_READ_ONLY_OPTIMAL, shaders, Access::SHADER_READ),
            Use::Storage => (ImageLayout::GENERAL, Stage::COMPUTE_SHADER, Access::SHADER_READ | Access::SHADER_WRITE),
            Use::Color => (ImageLayout::COLOR_ATTACHMENT_OPTIMAL, Stage::COLOR_ATTACHMENT_OUTPUT, color),
        };
        Scope { layout, stages, accesses }
    }
}
