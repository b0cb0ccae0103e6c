//! The visibility structure of the depth attachment that was used last: a later subpass or pass that goes on with it finds it again.
//!
//! It is kept within one submission, as long as nothing but passes ran that cannot have written the depth image's memory. What may have
//! done so, in any way, drops it: transfers, dispatches, waiting for the host, programs with side effects, attachments in the same
//! memory. Then a structure begins with nothing known.

use std::sync::Arc;

use crate::hiz::Hierarchy;
use crate::memory::SurfaceView;

/// The structure of a depth attachment over a render area.
pub(super) struct Kept {
    view: Arc<SurfaceView>,
    area: [i64; 4],
    hierarchy: Hierarchy,
}

/// Whether two views show the same texels in the same way.
fn is_same(a: &SurfaceView, b: &SurfaceView) -> bool {
    Arc::ptr_eq(&a.surface, &b.surface) && a.desc == b.desc
}

/// Whether writes through one view may show in another: their surfaces lie in the same bytes of memory.
fn may_alias(a: &SurfaceView, b: &SurfaceView) -> bool {
    let bytes = |view: &SurfaceView| {
        let (memory, start) = view.surface.binding()?;
        Some((Arc::as_ptr(memory), start..start + view.surface.layout().size()))
    };
    match (bytes(a), bytes(b)) {
        (Some((memory, a)), Some((other, b))) => memory == other && a.start < b.end && b.start < a.end,
        _ => true,
    }
}

/// What was kept, if anything.
#[derive(Default)]
pub(super) struct KeptDepth(Option<Kept>);

impl KeptDepth {
    /// Keeps a structure.
    pub(super) fn put(&mut self, view: &Arc<SurfaceView>, area: [i64; 4], hierarchy: Hierarchy) {
        self.0 = Some(Kept { view: view.clone(), area, hierarchy });
    }

    /// Takes the structure of an attachment over a render area, when it is the one that is kept.
    pub(super) fn take(&mut self, view: &SurfaceView, area: [i64; 4]) -> Option<Hierarchy> {
        let is_it = self.0.as_ref().is_some_and(|kept| is_same(&kept.view, view) && kept.area == area);
        if is_it { self.0.take().map(|kept| kept.hierarchy) } else { None }
    }

    /// Drops it where an attachment of a pass may be in its memory without being it.
    pub(super) fn drop_aliased(&mut self, views: &[Arc<SurfaceView>]) {
        let Some(kept) = &self.0 else { return };
        if views.iter().any(|view| may_alias(&kept.view, view) && !is_same(&kept.view, view)) {
            self.forget();
        }
    }

    /// Drops it.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use ash::vk;

    use super::*;
    use crate::memory::{Allocation, Heap, Surface, SurfaceDesc, SurfaceViewDesc, Swizzle};

    const AREA: [i64; 4] = [0, 0, 64, 64];

    /// A view of layer `layer` of two of a new surface at a byte of some memory.
    fn view(memory: &Arc<Allocation>, start: u64, layer: u32) -> Arc<SurfaceView> {
        let extent = vk::Extent3D { width: 64, height: 64, depth: 1 };
        let (kind, format) = (vk::ImageType::TYPE_2D, vk::Format::D32_SFLOAT);
        let surface = Surface::new(SurfaceDesc {
            kind,
            format,
            extent,
            levels: 1,
            layers: 2,
            samples: 1,
            linear: false,
            decoded: false,
        })
        .unwrap();
        assert!(surface.bind(memory.clone(), start));
        of_surface(&surface, layer)
    }

    fn of_surface(surface: &Arc<Surface>, base_layer: u32) -> Arc<SurfaceView> {
        let desc = SurfaceViewDesc {
            kind: vk::ImageViewType::TYPE_2D,
            format: vk::Format::D32_SFLOAT,
            swizzle: Swizzle::IDENTITY,
            aspects: vk::ImageAspectFlags::DEPTH,
            base_level: 0,
            levels: 1,
            base_layer,
            layers: 1,
            min_lod: 0.0,
        };
        Arc::new(SurfaceView { surface: surface.clone(), desc })
    }

    #[test]
    fn only_the_same_attachment_and_area_find_it_again() {
        let memory = Allocation::new(&Heap::new(1 << 20), 1 << 18).unwrap();
        let depth = view(&memory, 0, 0);
        let (same, other) = (of_surface(&depth.surface, 0), of_surface(&depth.surface, 1));
        let mut kept = KeptDepth::default();
        kept.put(&depth, AREA, Hierarchy::new(1, Some(0.5)));
        assert!(kept.take(&other, AREA).is_none() && kept.take(&same, [0, 0, 64, 63]).is_none());
        assert!(kept.take(&same, AREA).is_some() && kept.take(&same, AREA).is_none(), "it is taken once");
    }

    #[test]
    fn attachments_in_the_same_memory_drop_it() {
        let memory = Allocation::new(&Heap::new(1 << 20), 1 << 18).unwrap();
        let depth = view(&memory, 0, 0);
        let bytes = depth.surface.layout().size();
        let (behind, across) = (view(&memory, bytes, 0), view(&memory, bytes - 256, 0));
        let mut kept = KeptDepth::default();
        for (views, stays) in
            [(vec![depth.clone(), behind], true), (vec![across], false), (vec![of_surface(&depth.surface, 1)], false)]
        {
            kept.put(&depth, AREA, Hierarchy::new(1, None));
            kept.drop_aliased(&views);
            assert_eq!(kept.take(&depth, AREA).is_some(), stays);
        }
    }
}
