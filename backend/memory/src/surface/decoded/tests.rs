//! Tests of decoded texels against their blocks: when they are decoded, when they are dropped, and
//! which writes make them stale.

use std::sync::LazyLock;

use super::*;
use crate::Swizzle;

static WORKERS: LazyLock<Workers> = LazyLock::new(|| Workers::new(2));

const BC1: vk::Format = vk::Format::BC1_RGBA_UNORM_BLOCK;
/// Bytes of the decoded texels of [`desc`]: two layers of 16x16 and 8x8 texels.
const TEXELS: u64 = 2 * (1024 + 256);

/// Returns the description of a surface of two levels (32 and 8 blocks) and two layers.
fn desc(format: vk::Format) -> SurfaceDesc {
    let extent = vk::Extent3D { width: 16, height: 16, depth: 1 };
    let kind = vk::ImageType::TYPE_2D;
    SurfaceDesc { kind, format, extent, levels: 2, layers: 2, samples: 1, linear: false, decoded: true }
}

fn bound(heap: &Arc<Heap>, desc: SurfaceDesc) -> Arc<Surface> {
    let surface = Surface::new(desc).unwrap();
    assert!(surface.bind(Allocation::new(heap, surface.layout().size()).unwrap(), 0));
    surface
}

fn heap() -> Arc<Heap> {
    Heap::new(1 << 24)
}

/// Returns a view of a whole surface.
fn view(surface: &Surface) -> SurfaceViewDesc {
    let &SurfaceDesc { format, levels, layers, kind, .. } = surface.desc();
    let is_volume = kind == vk::ImageType::TYPE_3D;
    SurfaceViewDesc {
        kind: if is_volume { vk::ImageViewType::TYPE_3D } else { vk::ImageViewType::TYPE_2D_ARRAY },
        format,
        swizzle: Swizzle::IDENTITY,
        aspects: COLOR,
        base_level: 0,
        levels,
        base_layer: 0,
        layers,
        slices: None,
        min_lod: 0.0,
        decodes_codes: false,
    }
}

/// Fills the blocks of a surface with bytes derived from `seed`, as another image in the same
/// memory would.
fn fill(surface: &Surface, seed: u8) {
    let (memory, start) = surface.binding().unwrap();
    let bytes: Vec<u8> = (0..surface.layout().size()).map(|byte| (byte as u8).wrapping_mul(31) ^ seed).collect();
    memory.write(start, &bytes);
}

/// Checks that the decoded texels match the blocks.
fn check(surface: &Surface, decoded: &DecodedUse) {
    let info = format::info(surface.desc().format).unwrap();
    let as_texels = format::decoded_format(info).unwrap();
    let [width, height] = info.block_extent();
    for level in 0..surface.desc().levels {
        let extent = surface.level_extent(level);
        for slice in 0..surface.desc().layers.max(extent.depth) {
            let blocks = surface.plane(COLOR, level, slice).unwrap();
            let texels = decoded.surface().plane(COLOR, level, slice).unwrap();
            for (x, y) in (0..extent.height).flat_map(|y| (0..extent.width).map(move |x| (x, y))) {
                let (mut block, mut bytes) = ([0; 16], [0; 16]);
                blocks.read(x / width, y / height, 0, &mut block[..info.bytes as usize]);
                texels.read(x, y, 0, &mut bytes[..as_texels.bytes as usize]);
                let expected = format::block_texel(info, &block, x, y);
                assert_eq!(format::decode(as_texels, &bytes), expected, "({x}, {y}) of {level}, {slice}");
            }
        }
    }
}

fn stat(cache: &DecodedCache, stat: Stat) -> u64 {
    cache.stats[stat as usize].load(Ordering::Relaxed)
}

#[test]
fn texels_are_decoded_when_an_image_is_used() {
    let formats = [BC1, vk::Format::ASTC_10X6_UNORM_BLOCK, vk::Format::BC4_SNORM_BLOCK, vk::Format::BC6H_UFLOAT_BLOCK];
    for format in formats {
        let (cache, surface) = (DecodedCache::new(1 << 20), bound(&heap(), desc(format)));
        fill(&surface, 5);
        assert_eq!(cache.used(), 0);
        let mut first = view(&surface);
        (first.base_level, first.levels, first.base_layer, first.layers) = (1, 1, 1, 1);
        let part = surface.use_decoded(&cache, &first).unwrap();
        let all = part.surface().layout().size();
        assert_eq!(cache.used(), all / 10, "one level of one layer");
        drop(surface.use_decoded(&cache, &SurfaceViewDesc { min_lod: 1.5, ..view(&surface) }).unwrap());
        assert_eq!(cache.used(), all / 5, "the last level");
        let used = surface.use_decoded(&cache, &view(&surface)).unwrap();
        assert_eq!((cache.used(), stat(&cache, Stat::Decoded)), (all, all), "each part once");
        check(&surface, &used);
        drop((part, used, surface));
        assert_eq!(cache.used(), 0, "the image is gone");
    }
}

#[test]
fn volumes_are_decoded_slice_by_slice() {
    let (cache, heap) = (DecodedCache::new(1 << 20), heap());
    let extent = vk::Extent3D { width: 13, height: 9, depth: 5 };
    let desc = SurfaceDesc { kind: vk::ImageType::TYPE_3D, extent, layers: 1, ..desc(vk::Format::ASTC_4X4_SRGB_BLOCK) };
    let surface = bound(&heap, desc);
    fill(&surface, 77);
    check(&surface, &surface.use_decoded(&cache, &view(&surface)).unwrap());
}

#[test]
fn copies_keep_texels_and_other_writers_make_them_stale() {
    let (cache, surface) = (DecodedCache::new(1 << 20), bound(&heap(), desc(BC1)));
    fill(&surface, 1);
    let (memory, _) = surface.binding().unwrap();
    let used = surface.use_decoded(&cache, &view(&surface)).unwrap();
    let decoded = || stat(&cache, Stat::Decoded);
    surface.plane(COLOR, 0, 1).unwrap().write(2, 3, 0, &[9, 8, 7, 6, 5, 4, 3, 2]);
    surface.wrote_blocks(&WORKERS, (0, 1), [[2, 3], [7, 1]]);
    cache.wrote(memory, &(0..u64::MAX), Some(&surface));
    check(&surface, &used);
    assert_eq!((decoded(), cache.losses()), (TEXELS, 0));
    // First a writer outside of the image, then a writer that writes unchanged bytes.
    cache.wrote(memory, &(surface.layout().size()..u64::MAX), None);
    assert_eq!(cache.losses(), 0);
    fill(&surface, 1);
    cache.wrote(memory, &(8..9), None);
    assert_eq!(cache.losses(), 1, "somebody is using them");
    check(&surface, &surface.use_decoded(&cache, &view(&surface)).unwrap());
    assert_eq!(decoded(), TEXELS + 1024, "parts whose blocks are what they were stay");
    fill(&surface, 2);
    cache.wrote_any(|_| true);
    assert_eq!(cache.losses(), 1, "nobody else has the memory");
    cache.wrote_all();
    check(&surface, &surface.use_decoded(&cache, &view(&surface)).unwrap());
    drop(used);
    fill(&surface, 3);
    let losses = cache.losses();
    cache.wrote(memory, &(0..1), None);
    assert_eq!(cache.losses(), losses, "nobody was using them");
    check(&surface, &surface.use_decoded(&cache, &view(&surface)).unwrap());
}

#[test]
fn memory_of_other_processes_is_looked_at_again() {
    let (cache, heap) = (DecodedCache::new(1 << 20), heap());
    let surfaces = [(); 2].map(|()| Surface::new(desc(BC1)).unwrap());
    let size = surfaces[0].layout().size();
    let memory = Allocation::shared(&heap, size).unwrap();
    let descriptor = memory.descriptor(crate::DescriptorType::Opaque).unwrap().unwrap();
    let same = Allocation::open(&heap, size, std::os::fd::AsFd::as_fd(&descriptor)).unwrap();
    assert!(surfaces[0].bind(memory, 0) && surfaces[1].bind(same, 0));
    for seed in 0..4 {
        fill(&surfaces[usize::from(seed) % 2], seed);
        match seed {
            // A submission begins, or a command names one of the surfaces.
            0 | 1 => cache.wrote_any(|memory| memory.is_mapped()),
            _ => cache.wrote(surfaces[1].binding().unwrap().0, &(0..1), None),
        }
        for surface in &surfaces {
            check(surface, &surface.use_decoded(&cache, &view(surface)).unwrap());
        }
    }
    cache.wrote_any(|memory| memory.is_mapped());
    surfaces.iter().for_each(|surface| drop(surface.use_decoded(&cache, &view(surface))));
    assert_eq!(stat(&cache, Stat::Decoded), 8 * TEXELS, "what did not change is not decoded again");
}

#[test]
fn images_in_the_same_memory_have_texels_of_their_own() {
    let (cache, heap) = (DecodedCache::new(1 << 20), heap());
    let surfaces = [BC1, vk::Format::BC7_UNORM_BLOCK].map(|format| Surface::new(desc(format)).unwrap());
    let memory = Allocation::new(&heap, surfaces[1].layout().size()).unwrap();
    assert!(surfaces.iter().all(|surface| surface.bind(memory.clone(), 0)));
    for seed in 0..4u8 {
        let (writer, other) = (&surfaces[usize::from(seed) % 2], &surfaces[usize::from(seed + 1) % 2]);
        fill(writer, seed * 40);
        cache.wrote(&memory, &(0..writer.layout().size()), None);
        for surface in [writer, other] {
            check(surface, &surface.use_decoded(&cache, &view(surface)).unwrap());
        }
    }
}

#[test]
fn least_recently_used_texels_are_dropped() {
    let (cache, heap) = (DecodedCache::new(2 * TEXELS), heap());
    let surfaces = [0u8, 1, 2].map(|seed| {
        let surface = bound(&heap, desc(BC1));
        fill(&surface, seed);
        surface
    });
    let use_one = |number: usize| surfaces[number].use_decoded(&cache, &view(&surfaces[number]));
    drop((use_one(0), use_one(1), use_one(0)));
    assert_eq!((cache.used(), stat(&cache, Stat::Dropped)), (2 * TEXELS, 0));
    let used = use_one(2).unwrap();
    assert_eq!((cache.used(), stat(&cache, Stat::Dropped)), (2 * TEXELS, 1));
    check(&surfaces[2], &used);
    let first = use_one(0).unwrap();
    assert_eq!(stat(&cache, Stat::Decoded), 3 * TEXELS, "it was used after the second one");
    assert!(use_one(1).is_none(), "the others are in use");
    assert_eq!(stat(&cache, Stat::Refused), 1);
    check(&surfaces[0], &first);
    drop(first);
    check(&surfaces[1], &use_one(1).unwrap());
    assert_eq!(stat(&cache, Stat::Peak), 2 * TEXELS);
}

#[test]
fn a_full_heap_leaves_little() {
    let heap = Heap::new(32 * TEXELS);
    let cache = DecodedCache::new(16 * TEXELS);
    let surfaces: Vec<_> = (0..8).map(|_| bound(&heap, desc(BC1))).collect();
    surfaces.iter().for_each(|surface| drop(surface.use_decoded(&cache, &view(surface))));
    assert_eq!(cache.used(), 8 * TEXELS);
    let all = Allocation::new(&heap, heap.size() - heap.used()).unwrap();
    cache.trim(&heap);
    assert_eq!(cache.used(), 2 * TEXELS);
    assert!(surfaces[0].use_decoded(&cache, &view(&surfaces[0])).is_some());
    assert_eq!(cache.used(), 2 * TEXELS);
    drop(all);
    surfaces.iter().for_each(|surface| drop(surface.use_decoded(&cache, &view(surface))));
    assert_eq!(cache.used(), 8 * TEXELS);
}

#[test]
fn surfaces_without_a_cache_are_not_decoded() {
    let heap = heap();
    let surface = bound(&heap, desc(BC1));
    assert!(surface.use_decoded(&DecodedCache::new(0), &view(&surface)).is_none());
    let other = bound(&heap, desc(BC1));
    assert!(other.use_decoded(&DecodedCache::new(TEXELS - 1), &view(&other)).is_none(), "too large");
    let cache = DecodedCache::new(1 << 20);
    let plain = bound(&heap, SurfaceDesc { decoded: false, ..desc(BC1) });
    assert!(plain.use_decoded(&cache, &view(&plain)).is_none());
    let astc = bound(&heap, desc(vk::Format::ASTC_4X4_UNORM_BLOCK));
    let as_srgb = SurfaceViewDesc { format: vk::Format::ASTC_4X4_SRGB_BLOCK, ..view(&astc) };
    assert!(astc.use_decoded(&cache, &as_srgb).is_none(), "these are other texels");
    assert!(cache.is_empty());
}

#[test]
fn threads_decode_together() {
    let (cache, heap) = (DecodedCache::new(1 << 24), heap());
    let extent = vk::Extent3D { width: 256, height: 256, depth: 1 };
    for seed in 0..8 {
        let surface = bound(&heap, SurfaceDesc { extent, ..desc(BC1) });
        fill(&surface, seed);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| check(&surface, &surface.use_decoded(&cache, &view(&surface)).unwrap()));
            }
        });
        let size = surface.use_decoded(&cache, &view(&surface)).unwrap().surface().layout().size();
        assert_eq!(stat(&cache, Stat::Decoded), u64::from(seed + 1) * size, "no part twice");
    }
}
