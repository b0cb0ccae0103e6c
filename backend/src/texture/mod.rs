//! The texture unit: sampling, gathering, and access to single texels.
//!
//! Everything works on one lane; coordinates are normalised unless the sampler says otherwise. Results are four words, red
//! to alpha, as in `format`. Source: Vulkan specification, "Image Operations".

mod access;
mod address;
mod cube;
mod filter;
mod lod;
mod sampler;
#[cfg(test)]
mod tests;
mod texel;
mod wave;

use std::sync::Arc;

use crate::memory::SurfaceView;
use crate::shader::runtime::Descriptor;

pub use access::{TexelPosition, atomic, fetch, read, size, write};
pub use filter::Sampling;
pub use lod::Levels;
pub use lod::query_lod;
pub use sampler::Sampler;

/// Where the level of detail comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelOfDetail {
    /// Given; the sampler's bias is added.
    Level(f32),
    /// From derivatives of the coordinates by window x and y.
    Gradient {
        /// By x.
        dx: [f32; 3],
        /// By y.
        dy: [f32; 3],
        /// The program's bias.
        bias: f32,
    },
}

/// One sampling operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRequest {
    /// Coordinates, as many as the view has dimensions (a direction for cubes).
    pub coords: [f32; 3],
    /// Layer of an arrayed view, not rounded yet.
    pub layer: f32,
    /// Offset in texels.
    pub offset: [i32; 3],
    /// Level of detail.
    pub lod: LevelOfDetail,
    /// Depth reference to compare with.
    pub reference: Option<f32>,
}

/// One gathering operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatherRequest {
    /// Coordinates, layer, offset and reference.
    pub request: SampleRequest,
    /// Component to gather, 0 to 3.
    pub component: u32,
    /// One offset for each of the four texels, on top of the common one.
    pub offsets: Option<[[i32; 2]; 4]>,
}

/// The image view of a descriptor that has one.
pub fn view(descriptor: &Descriptor) -> Option<&Arc<SurfaceView>> {
    match descriptor {
        Descriptor::SampledImage(view)
        | Descriptor::CombinedImageSampler(view, _)
        | Descriptor::StorageImage(view)
        | Descriptor::InputAttachment(view) => Some(view),
        _ => None,
    }
}
