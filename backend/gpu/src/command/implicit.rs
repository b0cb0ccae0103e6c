//! Implicit multisampled images that replace single-sampled attachments. Source:
//! `VK_EXT_multisampled_render_to_single_sampled`.

use std::sync::Arc;

use ash::vk;
use vitric_memory::{Allocation, Surface, SurfaceDesc, SurfaceView, SurfaceViewDesc, Swizzle};

use crate::gpu::Gpu;

/// Returns a view of an image like the part that an attachment's view shows, with `samples`
/// samples.
///
/// The image has its own memory from the same heap. An image kept by [`keep`] is reused if its
/// description fits. Idle images are compacted if the heap has no room otherwise. The texels are
/// undefined. Returns `None` if no memory is left, or the attachment has no memory.
pub(super) fn create_view(gpu: &Gpu, attachment: &SurfaceView, samples: u32) -> Option<SurfaceView> {
    let vk::Extent3D { width, height, .. } = attachment.extent(0);
    let desc = SurfaceDesc {
        kind: vk::ImageType::TYPE_2D,
        format: attachment.desc.format,
        extent: vk::Extent3D { width, height, depth: 1 },
        levels: 1,
        layers: attachment.desc.layers,
        samples,
        linear: false,
        decoded: false,
    };
    let kept = attachment.surface.take_stand_in().filter(|kept| *kept.desc() == desc);
    let surface = kept.or_else(|| with_memory(gpu, desc, &attachment.surface))?;
    let desc =
        SurfaceViewDesc { base_level: 0, levels: 1, base_layer: 0, swizzle: Swizzle::IDENTITY, ..attachment.desc };
    Some(SurfaceView { surface, desc })
}

/// Keeps an attachment's implicit image for the next subpass that renders to the attachment.
pub(super) fn keep(attachment: &SurfaceView, implicit: &SurfaceView) {
    attachment.surface.keep_stand_in(Arc::clone(&implicit.surface));
}

fn with_memory(gpu: &Gpu, desc: SurfaceDesc, like: &Surface) -> Option<Arc<Surface>> {
    let (memory, _) = like.binding()?;
    let surface = Surface::new(desc)?;
    let size = surface.layout().size();
    let memory = gpu.with_room(size, || Allocation::new(memory.heap(), size)).ok()?;
    surface.bind(memory, 0);
    Some(surface)
}
