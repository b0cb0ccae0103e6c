//! Hi-Z structures of depth images, kept from pass to pass and from submission to submission.
//!
//! Each pass that uses an image finds the image's structure again, whatever its render area,
//! unless something else may have written the image's memory. All writers other than depth tests
//! report here: transfers, programs with side effects, attachments of other images in the same
//! memory, and the host. Clears update the structure exactly. Programs, the host and copies drop
//! it. These calls also tell the cache of decoded texels (`surface/decoded.rs` of `backend/memory`)
//! that blocks may have changed. Source: DESIGN 3.2, "the pyramid belongs to the depth image".

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use ash::vk;
use parking_lot::Mutex;
use vitric_format as format;
use vitric_memory::{Allocation, DecodedCache, Surface, SurfaceView};

use super::{Hierarchy, Hiz};

/// Approximate maximum of the tiles of all structures that are kept. The most recently used
/// structures stay.
const MAX_TILES: usize = 1 << 14;

/// Range of bytes of an allocation.
#[derive(Debug, Clone)]
pub struct Bytes<'a> {
    memory: &'a Arc<Allocation>,
    bytes: Range<u64>,
}

impl<'a> Bytes<'a> {
    /// Returns a number of bytes from `start` on.
    pub fn new(memory: &'a Arc<Allocation>, start: u64, size: u64) -> Self {
        Self { memory, bytes: start..start.saturating_add(size) }
    }

    /// Returns all bytes of a surface, which must be bound.
    pub fn of(surface: &'a Surface) -> Option<Self> {
        let (memory, start) = surface.binding()?;
        Some(Self::new(memory, start, surface.layout().size()))
    }

    fn overlaps(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.memory, other.memory)
            && self.bytes.start < other.bytes.end
            && other.bytes.start < self.bytes.end
    }
}

/// Structure of one level and layer of an image.
#[derive(Debug)]
struct CachedHierarchy {
    surface: Weak<Surface>,
    level: u32,
    layer: u32,
    hierarchy: Arc<Hierarchy>,
}

impl CachedHierarchy {
    fn is_of(&self, surface: &Arc<Surface>) -> bool {
        std::ptr::eq(self.surface.as_ptr(), Arc::as_ptr(surface))
    }

    /// Returns true if the image lies in memory for which `wrote` holds, or if the image is
    /// destroyed.
    fn is_lost(&self, wrote: impl Fn(&Bytes<'_>) -> bool) -> bool {
        let surface = self.surface.upgrade();
        surface.is_none_or(|surface| Bytes::of(&surface).is_none_or(|bytes| wrote(&bytes)))
    }
}

/// Structures of a device's depth images.
#[derive(Debug, Default)]
pub struct HizCache {
    /// Setting of the tests.
    hiz: Hiz,
    /// Structures in the order of their last use.
    cached: Mutex<Vec<CachedHierarchy>>,
    /// Number of structures, read without the lock by writers that need not report if there are
    /// none.
    count: AtomicUsize,
    /// Cache of the decoded texels of compressed images.
    decoded: Arc<DecodedCache>,
}

impl HizCache {
    /// Returns an empty set for a setting of the tests, beside a cache of decoded texels.
    pub fn new(hiz: Hiz, decoded: Arc<DecodedCache>) -> Self {
        Self { hiz, decoded, ..Self::default() }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<CachedHierarchy>) -> T) -> T {
        let mut cached = self.cached.lock();
        let result = change(&mut cached);
        self.count.store(cached.len(), Ordering::Relaxed);
        result
    }

    /// Drops the structures for which a predicate holds.
    fn retain(&self, stays: impl Fn(&CachedHierarchy) -> bool) {
        if self.count.load(Ordering::Relaxed) > 0 {
            self.change(|cached| cached.retain(stays));
        }
    }

    /// Returns true if there are neither structures nor decoded texels.
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0 && self.decoded.is_empty()
    }

    /// Returns the structure of a layer of a depth attachment, counted from the view's first
    /// layer. A new structure has no bounds.
    pub fn of(&self, view: &SurfaceView, layer: u32) -> Arc<Hierarchy> {
        let (level, layer) = (view.desc.base_level, view.desc.base_layer.saturating_add(layer));
        self.change(|cached| {
            let is_it = |one: &CachedHierarchy| one.is_of(&view.surface) && (one.level, one.layer) == (level, layer);
            let found = cached.iter().position(is_it).map(|number| cached.remove(number));
            let one = found.unwrap_or_else(|| {
                cached.retain(|one| one.surface.strong_count() > 0);
                let vk::Extent3D { width, height, .. } = view.surface.level_extent(level);
                let hierarchy = Arc::new(Hierarchy::new([width, height], self.hiz));
                CachedHierarchy { surface: Arc::downgrade(&view.surface), level, layer, hierarchy }
            });
            let hierarchy = one.hierarchy.clone();
            let mut room = MAX_TILES.saturating_sub(hierarchy.tiles());
            let fits = cached.iter().rev().take_while(|one| {
                let fits = one.hierarchy.tiles() <= room;
                room = room.saturating_sub(one.hierarchy.tiles());
                fits
            });
            let too_many = cached.len() - fits.count();
            cached.drain(..too_many);
            cached.push(one);
            hierarchy
        })
    }

    /// Notes that memory may have been written.
    pub fn wrote(&self, bytes: &Bytes<'_>) {
        self.decoded.wrote(bytes.memory, &bytes.bytes, None);
        self.retain(|one| !one.is_lost(|own| own.overlaps(bytes)));
    }

    /// Notes that a copy wrote a surface and decoded again the blocks that were decoded.
    pub fn copied_to(&self, surface: &Surface) {
        if let Some(bytes) = Bytes::of(surface) {
            self.decoded.wrote(bytes.memory, &bytes.bytes, Some(surface));
            self.retain(|one| !one.is_lost(|own| own.overlaps(&bytes)));
        }
    }

    /// Notes that a surface may have been written.
    pub fn wrote_surface(&self, surface: &Surface) {
        if let Some(bytes) = Bytes::of(surface) {
            self.wrote(&bytes);
        }
    }

    /// Notes that a surface was written with updates of its own structures. Structures of other
    /// surfaces in its memory are dropped.
    pub fn wrote_knowingly(&self, surface: &Arc<Surface>) {
        if let Some(bytes) = Bytes::of(surface) {
            self.decoded.wrote(bytes.memory, &bytes.bytes, None);
            self.retain(|one| one.is_of(surface) || !one.is_lost(|own| own.overlaps(&bytes)));
        }
    }

    /// Notes that memory for which `wrote` holds may have been written.
    pub fn wrote_any(&self, wrote: impl Fn(&Arc<Allocation>) -> bool) {
        self.decoded.wrote_any(&wrote);
        self.retain(|one| !one.is_lost(|own| wrote(own.memory)));
    }

    /// Notes that the depths of all texels in some ranges of an image were cleared.
    pub fn cleared(&self, surface: &Arc<Surface>, ranges: &[vk::ImageSubresourceRange], depth: f32) {
        self.wrote_knowingly(surface);
        let Some(info) = format::info(surface.desc().format) else { return };
        let depth = format::stored_depth(info.depth_bits, depth);
        let has = |first: u32, count: u32, number: u32| number >= first && number - first < count;
        let is_in = |one: &CachedHierarchy, range: &vk::ImageSubresourceRange| {
            range.aspect_mask.contains(vk::ImageAspectFlags::DEPTH)
                && has(range.base_mip_level, range.level_count, one.level)
                && has(range.base_array_layer, range.layer_count, one.layer)
        };
        for one in self.cached.lock().iter().filter(|one| one.is_of(surface)) {
            if ranges.iter().any(|range| is_in(one, range)) {
                one.hierarchy.clear([0, 0, i64::MAX, i64::MAX], depth);
            }
        }
    }

    /// Drops all structures.
    pub fn forget(&self) {
        self.decoded.wrote_all();
        self.retain(|_| false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiz::{DepthDirection, DepthRange};
    use vitric_memory::{Heap, SurfaceDesc, SurfaceViewDesc, Swizzle};

    /// A view of the first of two levels and of layer `layer` of two of a new surface at a byte of
    /// some memory.
    fn view(memory: &Arc<Allocation>, start: u64, layer: u32) -> Arc<SurfaceView> {
        let surface = Surface::new(SurfaceDesc {
            kind: vk::ImageType::TYPE_2D,
            format: vk::Format::D16_UNORM,
            extent: vk::Extent3D { width: 100, height: 70, depth: 1 },
            levels: 2,
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
            format: vk::Format::D16_UNORM,
            swizzle: Swizzle::IDENTITY,
            aspects: vk::ImageAspectFlags::DEPTH,
            base_level: 0,
            levels: 1,
            base_layer,
            layers: 1,
            slices: None,
            min_lod: 0.0,
            decodes_codes: false,
        };
        Arc::new(SurfaceView { surface: surface.clone(), desc })
    }

    fn memory() -> Arc<Allocation> {
        Allocation::new(&Heap::new(1 << 20), 1 << 19).unwrap()
    }

    /// Returns true if the bounds of a structure say that all depths are about a half.
    fn knows(hierarchy: &Hierarchy) -> bool {
        hierarchy.tile([64, 64]).unwrap().hides_in_tile(DepthDirection::Less, DepthRange { min: 0.6, max: 0.7 })
    }

    const ALL: [i64; 4] = [0, 0, 100, 70];

    #[test]
    fn each_layer_finds_its_own_again() {
        let depth = view(&memory(), 0, 0);
        let (same, other) = (of_surface(&depth.surface, 0), of_surface(&depth.surface, 1));
        let cache = HizCache::default();
        assert!(cache.is_empty());
        cache.of(&depth, 0).clear(ALL, 0.5);
        assert!(knows(&cache.of(&same, 0)) && !knows(&cache.of(&other, 0)));
        assert!(Arc::ptr_eq(&cache.of(&same, 1), &cache.of(&other, 0)));
        drop((depth, same, other));
        cache.wrote_any(|_| false);
        assert!(cache.is_empty(), "images that are gone take theirs along");
    }

    #[test]
    fn what_writes_its_memory_drops_it() {
        let (memory, elsewhere) = (memory(), memory());
        let depth = view(&memory, 0, 0);
        let size = depth.surface.layout().size();
        let (behind, across, far) = (view(&memory, size, 0), view(&memory, size - 256, 0), view(&elsewhere, 0, 0));
        let cache = HizCache::default();
        for (writes, stays) in [
            (Box::new(|| cache.wrote_surface(&behind.surface)) as Box<dyn Fn()>, true),
            (Box::new(|| cache.wrote_surface(&far.surface)), true),
            (Box::new(|| cache.wrote_surface(&across.surface)), false),
            (Box::new(|| cache.wrote_knowingly(&across.surface)), false),
            (Box::new(|| cache.wrote_knowingly(&depth.surface)), true),
            (Box::new(|| cache.wrote_surface(&depth.surface)), false),
            (Box::new(|| cache.wrote(&Bytes::new(&memory, size - 1, 1))), false),
            (Box::new(|| cache.wrote(&Bytes::new(&memory, size, u64::MAX))), true),
            (Box::new(|| cache.wrote_any(|written| Arc::ptr_eq(written, &memory))), false),
            (Box::new(|| cache.wrote_any(|written| Arc::ptr_eq(written, &elsewhere))), true),
            (Box::new(|| cache.forget()), false),
        ] {
            cache.of(&depth, 0).clear(ALL, 0.5);
            writes();
            assert_eq!(knows(&cache.of(&depth, 0)), stays);
        }
    }

    #[test]
    fn clears_are_followed() {
        let depth = view(&memory(), 0, 0);
        let cache = HizCache::default();
        let [zeroth, first] = [0, 1].map(|layer| cache.of(&depth, layer));
        let range = |aspect_mask, base_mip_level, base_array_layer, layer_count| vk::ImageSubresourceRange {
            aspect_mask,
            base_mip_level,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer,
            layer_count,
        };
        let (depths, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
        cache.cleared(&depth.surface, &[range(stencil, 0, 0, 2), range(depths, 1, 0, 2)], 0.5);
        assert!(!knows(&zeroth) && !knows(&first));
        cache.cleared(&depth.surface, &[range(depths, 0, 1, vk::REMAINING_ARRAY_LAYERS)], 0.5);
        assert!(!knows(&zeroth) && knows(&first));
        let exact = format::stored_depth(16, 0.5);
        assert!(
            first.tile([0, 0]).unwrap().hides_in_tile(DepthDirection::Less, DepthRange { min: exact + 1e-6, max: 1.0 })
        );
        assert!(!first.tile([0, 0]).unwrap().hides_in_tile(DepthDirection::Less, DepthRange { min: exact, max: 1.0 }));
    }

    #[test]
    fn few_are_cached() {
        let cache = HizCache::default();
        let memory = Allocation::new(&Heap::new(1 << 30), 1 << 29).unwrap();
        let views: Vec<_> = (0..MAX_TILES as u64 / 4 + 10).map(|number| view(&memory, number * 0x1_0000, 0)).collect();
        for view in &views {
            cache.of(view, 0).clear(ALL, 0.5);
        }
        assert_eq!(cache.cached.lock().len(), MAX_TILES / 4);
        assert!(knows(&cache.of(&views[views.len() - 1], 0)) && !knows(&cache.of(&views[0], 0)));
    }
}
