//! Implicit images: what attachments of one sample are rendered to with several.
//! Source: `VK_EXT_multisampled_render_to_single_sampled`.

use std::sync::Arc;

use ash::vk;

use crate::memory::{Allocation, Surface, SurfaceDesc, SurfaceView, SurfaceViewDesc, Swizzle};

/// An image like the part of one that a view of an attachment shows, with so many samples and memory of its own, of the same heap; `None`
/// where there is none left, or the attachment has none.
pub(super) fn view(of: &SurfaceView, samples: u32) -> Option<SurfaceView> {
    let (memory, _) = of.surface.binding()?;
    let vk::Extent3D { width, height, .. } = of.extent(0);
    let surface = Surface::new(SurfaceDesc {
        kind: vk::ImageType::TYPE_2D,
        format: of.desc.format,
        extent: vk::Extent3D { width, height, depth: 1 },
        levels: 1,
        layers: of.desc.layers,
        samples,
        linear: false,
        decoded: false,
    })?;
    let memory = Allocation::new(memory.heap(), surface.layout().size()).ok()?;
    surface.bind(memory, 0);
    let desc = SurfaceViewDesc { base_level: 0, levels: 1, base_layer: 0, swizzle: Swizzle::IDENTITY, ..of.desc };
    Some(SurfaceView { surface: Arc::clone(&surface), desc })
}
