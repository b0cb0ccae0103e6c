//! Single values of dynamic state, as commands set them.
//!
//! Source: `VK_EXT_extended_dynamic_state`, its successors, and `VK_EXT_extended_dynamic_state3`.

use ash::vk;

use super::{DepthClampRange, LineMode};
use crate::raster::Criterion;

/// A value that a command sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are Vulkan's commands")]
pub enum SetState {
    CullMode(vk::CullModeFlags),
    FrontFace(vk::FrontFace),
    Topology(vk::PrimitiveTopology),
    Restart(bool),
    Discard(bool),
    DepthBias(bool),
    DepthTest(bool),
    DepthWrite(bool),
    DepthCompare(vk::CompareOp),
    DepthBoundsTest(bool),
    StencilTest(bool),
    Stencil {
        faces: vk::StencilFaceFlags,
        ops: StencilOps,
    },
    LogicOp(vk::LogicOp),
    ViewportCount(u32),
    PolygonMode(vk::PolygonMode),
    Samples(u32),
    SampleMask(u32),
    AlphaToCoverage(bool),
    AlphaToOne(bool),
    LogicOpEnable(bool),
    DepthClamp(bool),
    /// The range; `None` for the viewport's.
    ClampRange(Option<DepthClampRange>),
    DepthClip(bool),
    NegativeOneToOne(bool),
    ProvokingLast(bool),
    LineMode(LineMode),
    LineStipple(bool),
    Conservative(Option<Criterion>),
    SampleLocationsEnable(bool),
    FeedbackLoop(vk::ImageAspectFlags),
    PatchVertices(u32),
    LowerLeft(bool),
    Stream(u32),
}

/// Operations of a stencil test, without its masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are Vulkan's parameters")]
pub struct StencilOps {
    pub fail: vk::StencilOp,
    pub pass: vk::StencilOp,
    pub depth_fail: vk::StencilOp,
    pub compare: vk::CompareOp,
}
