//! Clear, copy, blit and resolve, with the regions of Vulkan's commands, and reads of frames. Parts
//! of a region that lie outside the image or buffer are dropped.
//!
//! Source: Vulkan specification, "Clear Commands" and "Copy Commands".

mod blit;
mod clear;
mod copy;
mod indirect;
mod present;
mod resolve;
mod resolve_depth;
mod scaled;
#[cfg(test)]
mod tests;

pub(crate) use blit::blit;
pub(crate) use clear::{PlaneClear, clears_all};
pub use clear::{clear_image, fill_buffer};
pub(crate) use copy::{BufferImageTransfer, CopyAccess, copy_buffer_image, copy_image};
pub use copy::{CopyDirection, copy_buffer};
pub use indirect::IndirectRegions;
pub(crate) use indirect::{IndirectRegion, copy_memory, copy_memory_to_image};
pub use present::read_frame;
pub(crate) use resolve::{ResolveArea, replicate, resolve, resolve_view};
pub use resolve_depth::ResolveModes;
pub(crate) use resolve_depth::resolve_depth_stencil;

use ash::vk;
use vitric_memory::{PlaneRef, Surface};

/// Position in a plane at which a copied or resolved rectangle begins.
#[derive(Clone, Copy)]
struct PlaneOrigin<'a> {
    plane: &'a PlaneRef<'a>,
    /// First texel, x and y.
    origin: [u32; 2],
}

/// Returns the first slice of a region and the number of slices. Slices of 3D surfaces are depth
/// slices; slices of other surfaces are layers.
fn slices(surface: &Surface, layers: vk::ImageSubresourceLayers, offset: vk::Offset3D, depth: u32) -> (u32, u32) {
    if surface.desc().kind == vk::ImageType::TYPE_3D {
        (offset.z.max(0) as u32, depth)
    } else {
        (layers.base_array_layer, layers.layer_count)
    }
}
