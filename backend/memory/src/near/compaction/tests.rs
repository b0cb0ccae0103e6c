//! Tests of compaction: a span that becomes resident again has its previous bytes, under any
//! concurrent uses.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use ash::vk;

use super::*;
use crate::{Allocation, Buffer, FarFile, Heap, OutOfMemory, Surface, SurfaceDesc};

mod parts;
mod short_memory;

const HEAP: u64 = 64 << 20;

fn residency(heap: &Arc<Heap>, bytes: u64, always: bool) -> Residency {
    Residency::new(NearConfig { bytes, far: None, wanted_by_host: || 0, always }, heap.clone())
}

/// Compacts spans of memories that were used before submission `before`, until `max_bytes` bytes
/// were read.
fn compact(memories: &[Arc<CompactableMemory>], before: u64, max_bytes: usize) -> idle::Outcome {
    let memories: Vec<_> = memories.iter().map(Arc::downgrade).collect();
    idle::compact_idle(&memories, 1, &idle::Limits { before: &|_| before, is_enough: &|| false, max_bytes })
}

fn surface(format: vk::Format, side: u32, samples: u32) -> Arc<Surface> {
    let extent = vk::Extent3D { width: side, height: side, depth: 1 };
    let kind = vk::ImageType::TYPE_2D;
    let desc = SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples, linear: false, decoded: false };
    Surface::new(desc).unwrap()
}

/// Binds a surface at the start of a new allocation that is `more` bytes larger than the surface.
fn bound(heap: &Arc<Heap>, near: &Residency, surface: &Surface, more: u64) -> Arc<Allocation> {
    let memory = Allocation::new_compactable(heap, surface.layout().size() + more, near).unwrap();
    assert!(surface.bind(memory.clone(), 0));
    memory
}

/// Binds a surface like [`bound`], and fills the allocation as a submission.
fn filled(heap: &Arc<Heap>, near: &Residency, surface: &Surface, more: u64, kind: usize, seed: u32) -> Arc<Allocation> {
    let (memory, workers) = (bound(heap, near, surface, more), Workers::new(1));
    let in_use = near.begin(&workers);
    surface.begin_use(&in_use, ImageAccess::Overwrite);
    fill(&memory, 0..memory.size(), kind, seed);
    memory
}

fn byte(kind: usize, place: u64, seed: u32) -> u8 {
    let hash = (place as u32 ^ seed).wrapping_mul(0x9e37_79b9);
    match kind {
        0 => (place / 256) as u8,
        1 => (hash >> 13) as u8,
        2 => [7, 1, 200, 255][place as usize % 4],
        _ => ((place / 4096) as u32 ^ seed) as u8,
    }
}

fn fill(memory: &Allocation, range: Range<u64>, kind: usize, seed: u32) {
    let bytes: Vec<u8> = range.clone().map(|place| byte(kind, place, seed)).collect();
    memory.write(range.start, &bytes);
}

fn counted(near: &Residency, stat: Stat) -> u64 {
    near.counted().iter().find(|(number, _)| *number == stat as usize).unwrap().1
}

#[track_caller]
fn check(memory: &Allocation, range: Range<u64>, kind: usize, seed: u32) {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    memory.read(range.start, &mut bytes);
    let wrong = range.clone().zip(&bytes).find(|&(place, &found)| found != byte(kind, place, seed));
    assert_eq!(wrong, None, "of {kind}");
}

/// Returns the part of an allocation that compaction works on.
fn compactable(memory: &Allocation) -> &Arc<CompactableMemory> {
    memory.compactable().unwrap()
}

fn states(memory: &Allocation) -> Vec<SpanState> {
    compactable(memory).spans.iter().map(|span| span.get().state()).collect()
}

#[test]
fn compacted_spans_keep_their_bytes() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(2));
    let near = residency(&heap, 8 << 20, true);
    let kinds = [
        (vk::Format::R8G8B8A8_UNORM, 4),
        (vk::Format::D32_SFLOAT, 1),
        (vk::Format::D24_UNORM_S8_UINT, 1),
        (vk::Format::R16G16B16A16_SFLOAT, 1),
        (vk::Format::BC7_UNORM_BLOCK, 1),
        (vk::Format::R8_UNORM, 1),
    ];
    for (format, samples) in kinds {
        for kind in 0..4 {
            let surface = surface(format, 250, samples);
            let memory = filled(&heap, &near, &surface, 4, kind, 1);
            let all = 0..surface.layout().size();
            for _ in 0..2 {
                let in_use = near.begin(&workers);
                surface.begin_use(&in_use, ImageAccess::Write);
                check(&memory, all.clone(), kind, 1);
                drop(in_use);
                // Spans behind the image may contain no image.
                assert!(!states(&memory).contains(&SpanState::Resident), "{format:?} {kind}");
            }
            assert!(heap.resident() < heap.used() || kind == 1, "{format:?} {kind}: nothing is saved");
        }
    }
    assert_eq!((heap.used(), heap.resident()), (0, 0), "freed memory takes nothing");
    let of = |stat| counted(&near, stat);
    assert!(
        of(Stat::SpansUniform) > 0
            && of(Stat::SpansCompacted) > of(Stat::SpansUniform)
            && of(Stat::PeakCompactedImages) > 0
    );
    assert!(of(Stat::LinesOne) > 0 && of(Stat::LinesRaw) > 0);
}

/// An image that must stay resident is not compacted, and neither is an image in the same spans.
#[test]
fn images_that_stay_resident_are_not_compacted() {
    let heap = Heap::new(HEAP);
    let near = residency(&heap, HEAP, true);
    let surface = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    surface.stay_resident();
    assert!(surface.stays_resident() && !surface.is_compactable());
    let memory = filled(&heap, &near, &surface, 0, 3, 1);
    drop(near.begin(&Workers::new(1)));
    assert!(states(&memory).iter().all(|state| !matches!(state, SpanState::Compacted)), "{:?}", states(&memory));
    assert_eq!((heap.used(), heap.resident()), (memory.size(), memory.size()));
    check(&memory, 0..memory.size(), 3, 1);
}

/// All supported formats, with levels, layers, slices and samples, survive compaction unchanged.
#[test]
fn all_optimal_images_are_compacted() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(2));
    let near = residency(&heap, HEAP, true);
    let extent = |width, height, depth| vk::Extent3D { width, height, depth };
    let kinds = [
        (vk::ImageType::TYPE_1D, extent(300, 1, 1), 4, 3, 1),
        (vk::ImageType::TYPE_2D, extent(75, 41, 1), 7, 6, 1),
        (vk::ImageType::TYPE_2D, extent(75, 41, 1), 1, 2, 4),
        (vk::ImageType::TYPE_2D, extent(20, 20, 1), 1, 1, 16),
        (vk::ImageType::TYPE_3D, extent(33, 20, 9), 6, 1, 1),
    ];
    let formats: Vec<_> = vitric_format::all().collect();
    let mut compacted = 0;
    for (seed, info) in formats.iter().enumerate() {
        for (kind, extent, levels, layers, samples) in kinds {
            let format = info.format;
            let desc = SurfaceDesc { kind, format, extent, levels, layers, samples, linear: false, decoded: false };
            let surface = Surface::new(desc).unwrap();
            let memory = filled(&heap, &near, &surface, 0, seed % 4, seed as u32);
            assert!(states(&memory).iter().all(|state| *state == SpanState::Compacted), "{desc:?}");
            let in_use = near.begin(&workers);
            surface.begin_use(&in_use, ImageAccess::Write);
            check(&memory, 0..surface.layout().size(), seed % 4, seed as u32);
            compacted += 1;
        }
    }
    assert_eq!(compacted, 5 * formats.len());
    assert!(formats.len() > 100 && counted(&near, Stat::SpansCompacted) > compacted as u64);
}

/// A clear of a whole image is noted, and the first access that needs the bytes writes them. Bytes
/// of other objects in the same spans are unchanged.
#[test]
fn clears_are_noted() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(2));
    let near = residency(&heap, HEAP, false);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 300, 1);
    let memory = Allocation::new_compactable(&heap, image.layout().size() + 3 * SPAN as u64, &near).unwrap();
    // The image begins and ends in the middle of a span.
    let start = SPAN as u64 / 2;
    assert!(image.bind(memory.clone(), start));
    let range = start..start + image.layout().size();
    let color = vk::ImageAspectFlags::COLOR;
    let clear = |in_use: &InUse<'_>, texel: u32| {
        assert!(image.note_clear(in_use, color, &texel.to_le_bytes().repeat(64)));
    };
    let all_are = |texel: u32| {
        let mut bytes = vec![0; image.layout().size() as usize];
        memory.read(range.start, &mut bytes);
        bytes.chunks(4).all(|found| *found == texel.to_le_bytes())
    };
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Overwrite);
    fill(&memory, 0..memory.size(), 1, 5);
    let losses = in_use.losses();
    clear(&in_use, 0xff12_3456);
    // The image covers half of span 0, five spans, and four and a half groups of span 6.
    assert_eq!(states(&memory)[..7], [SpanState::Cleared; 7]);
    assert_eq!((counted(&near, Stat::SpansCleared), counted(&near, Stat::GroupsCleared)), (5, 16 + 5 * 32 + 4));
    assert!(in_use.losses() > losses, "sets look at the image again");
    check(&memory, 0..range.start, 1, 5);
    check(&memory, SPAN as u64..6 * SPAN as u64, 1, 5);
    // Copies read the clear, and nothing is written.
    let plane = image.plane(color, 0, 0).unwrap();
    for (x, y) in [(0, 0), (64, 200), (299, 299)] {
        let mut texel = [0; 4];
        image.reading(Some(&in_use)).unwrap().read_rows(&plane, [x, y, x + 1, y + 1], 0, &mut texel);
        assert_eq!(u32::from_le_bytes(texel), 0xff12_3456);
    }
    // The submission uses the image and clears it again.
    image.begin_use(&in_use, ImageAccess::Write);
    assert!(all_are(0xff12_3456));
    check(&memory, 0..range.start, 1, 5);
    check(&memory, range.end..memory.size(), 1, 5);
    clear(&in_use, 7);
    // A use that overwrites the image does not write the clear. A second clear replaces the first.
    image.begin_use(&in_use, ImageAccess::Overwrite);
    assert!(!all_are(7));
    clear(&in_use, 8);
    drop(in_use);
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Write);
    assert!(all_are(8));
    clear(&in_use, 9);
    drop(in_use);
    // When the image is idle, its pages are discarded without being read.
    let (compacted, raw) = (counted(&near, Stat::SpansCompacted), counted(&near, Stat::NearIn));
    let listed = std::slice::from_ref(compactable(&memory));
    let outcome = compact(listed, u64::MAX, usize::MAX);
    assert_eq!(outcome, idle::Outcome::AllCompacted);
    assert!(states(&memory)[1..6].iter().all(|state| *state == SpanState::Compacted));
    assert!(counted(&near, Stat::SpansCompacted) >= compacted + 5 && heap.resident() < heap.used());
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Write);
    assert!(all_are(9) && counted(&near, Stat::NearIn) >= raw);
    // A buffer is bound to a part of the image, so its bytes must be in memory. From then on
    // clears write that part immediately.
    clear(&in_use, 10);
    assert!(Buffer::new(100).bind(memory.clone(), 2 * SPAN as u64));
    let mut texel = [0; 4];
    memory.read(2 * SPAN as u64 + 96, &mut texel);
    assert_eq!((states(&memory)[2], u32::from_le_bytes(texel)), (SpanState::Pinned, 10));
    image.begin_use(&in_use, ImageAccess::Overwrite);
    clear(&in_use, 11);
    memory.read(2 * SPAN as u64 + 96, &mut texel);
    assert_eq!((states(&memory)[2], u32::from_le_bytes(texel)), (SpanState::Pinned, 11));
    image.begin_use(&in_use, ImageAccess::Write);
    assert!(all_are(11));
}

/// Clears are written if compaction is off, the image is small, or texels do not fill lines.
#[test]
fn some_clears_are_not_noted() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let in_use = near.begin(&workers);
    let color = vk::ImageAspectFlags::COLOR;
    for (format, side, bytes) in [
        (vk::Format::R8G8B8A8_UNORM, 60, 4),
        (vk::Format::R8G8B8_UNORM, 300, 3),
        (vk::Format::D32_SFLOAT_S8_UINT, 300, 4),
    ] {
        let image = surface(format, side, 1);
        let memory = bound(&heap, &near, &image, 0);
        image.begin_use(&in_use, ImageAccess::Overwrite);
        assert!(!image.note_clear(&in_use, color, &vec![1; 1024 * bytes]), "{format:?}");
        assert!(!states(&memory).contains(&SpanState::Cleared));
    }
    let image = surface(vk::Format::R8G8B8A8_UNORM, 300, 1);
    assert!(!image.note_clear(&in_use, color, &[1; 4096]), "nothing is bound");
    assert!(image.bind(Allocation::new(&heap, 1 << 20).unwrap(), 0));
    assert!(!image.note_clear(&in_use, color, &[1; 4096]));
    // Depth and stencil are separate planes.
    let image = surface(vk::Format::D32_SFLOAT_S8_UINT, 600, 1);
    let memory = bound(&heap, &near, &image, 0);
    image.begin_use(&in_use, ImageAccess::Write);
    fill(&memory, 0..memory.size(), 1, 3);
    assert!(image.note_clear(&in_use, vk::ImageAspectFlags::STENCIL, &[5; 1024]));
    image.begin_use(&in_use, ImageAccess::Write);
    let stencil = image.layout().planes().find(|(aspect, _)| *aspect == vk::ImageAspectFlags::STENCIL).unwrap().1;
    check(&memory, 0..stencil.start, 1, 3);
    let mut bytes = vec![0; (stencil.end - stencil.start) as usize];
    memory.read(stencil.start, &mut bytes);
    assert!(bytes.iter().all(|byte| *byte == 5));
}

#[test]
fn buffers_and_bytes_beside_images_stay_resident() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let size = image.layout().size();
    let memory = filled(&heap, &near, &image, 2 * SPAN as u64, 0, 3);
    drop(near.begin(&workers));
    assert_eq!(states(&memory), [[SpanState::Compacted; 4].as_slice(), &[SpanState::Pinned; 2]].concat());
    // A buffer is bound over the end of the image. The compacted spans there become resident and
    // stay resident.
    let buffer = Buffer::new(SPAN as u64);
    assert!(buffer.bind(memory.clone(), size - 5));
    check(&memory, size - 5..memory.size(), 0, 3);
    drop(near.begin(&workers));
    assert_eq!(states(&memory)[2..], [SpanState::Compacted, SpanState::Pinned, SpanState::Pinned, SpanState::Pinned]);
    memory.keep_resident(0..memory.size());
    check(&memory, 0..memory.size(), 0, 3);
    near.state_for(SPAN).unwrap().trim();
    assert_eq!((states(&memory), heap.resident()), (vec![SpanState::Pinned; 6], heap.used()));
    // Memory that the host maps or other processes share has no compaction state.
    let other = Allocation::new(&heap, 1 << 20).unwrap();
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    assert!(image.bind(other.clone(), 0) && !image.is_compactable());
    other.keep_resident(0..1 << 20);
}

#[test]
fn overwritten_spans_are_not_decoded() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = filled(&heap, &near, &image, 0, 1, 3);
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Overwrite);
    assert_eq!((states(&memory), in_use.restored()), (vec![SpanState::Resident; 4], 0));
    let mut bytes = vec![1; 1 << 18];
    memory.read(0, &mut bytes);
    assert!(bytes.iter().all(|byte| *byte == 0), "it is fresh memory");
    // Other bytes in the same span are kept.
    fill(&memory, 0..memory.size(), 1, 4);
    drop(in_use);
    let in_use = near.begin(&workers);
    in_use.make_resident(compactable(&memory), 0..100, true);
    check(&memory, 100..SPAN as u64, 1, 4);
    assert_eq!((in_use.restored(), states(&memory)[1]), (1, SpanState::Compacted));
}

/// Copies read compacted lines bit-exactly and make nothing resident. They keep resident spans
/// resident.
#[test]
fn copies_read_compacted_lines() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, 1 << 20, true);
    for (format, samples) in [
        (vk::Format::R8G8B8A8_UNORM, 1),
        (vk::Format::R16_UNORM, 1),
        (vk::Format::R32G32B32A32_SFLOAT, 1),
        (vk::Format::BC7_UNORM_BLOCK, 1),
        (vk::Format::R8G8B8A8_UNORM, 4),
    ] {
        for kind in 0..4 {
            let image = surface(format, 250, samples);
            let memory = filled(&heap, &near, &image, 0, kind, 9);
            let texels = |reading: &mut Option<Reading<'_>>| {
                let plane = image.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
                let mut all = Vec::new();
                for sample in 0..samples {
                    let rect = [0, 0, plane.width(), plane.height()];
                    let mut rows = vec![0; (plane.width() * plane.height()) as usize * plane.bytes()];
                    match reading {
                        Some(reading) => reading.read_rows(&plane, rect, sample, &mut rows),
                        None => plane.read_rows(rect, sample, &mut rows),
                    }
                    all.append(&mut rows);
                }
                all
            };
            let (before, resident) = (counted(&near, Stat::LinesRead), memory.resident());
            let in_use = near.begin(&workers);
            let mut reading = image.reading(Some(&in_use));
            assert!(reading.is_some(), "all of it is compacted");
            let compacted = texels(&mut reading);
            assert_eq!((in_use.restored(), memory.resident()), (0, resident), "{format:?} {kind}");
            assert!(!states(&memory).contains(&SpanState::Resident));
            assert!(counted(&near, Stat::LinesRead) > before);
            // First a part of the image is resident, then all of it.
            in_use.make_resident(compactable(&memory), 0..1, false);
            assert!(texels(&mut image.reading(Some(&in_use))) == compacted, "{format:?} {kind}");
            image.begin_use(&in_use, ImageAccess::Write);
            assert!(image.reading(Some(&in_use)).is_none());
            assert!(texels(&mut None) == compacted, "{format:?} {kind}");
        }
    }
    // Resident spans are not compacted while a submission reads them.
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = filled(&heap, &near, &image, 0, 1, 3);
    let first = near.begin(&workers);
    image.begin_use(&first, ImageAccess::Write);
    let second = near.begin(&workers);
    assert!(image.reading(Some(&second)).is_none());
    drop(first);
    check(&memory, 0..memory.size(), 1, 3);
    assert_eq!(states(&memory), [SpanState::Resident; 4]);
    drop(second);
    assert_eq!(states(&memory), [SpanState::Compacted; 4]);
}

/// Near memory has room for a span or two, then for none. Spans that do not fit go to far memory
/// or stay raw.
#[test]
fn contents_survive_if_near_memory_is_small() {
    let workers = Workers::new(2);
    for (bytes, size) in [(64 << 10, HEAP), (4 << 10, 256 << 10)] {
        let heap = Heap::new(size);
        let near = residency(&heap, bytes, true);
        let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
        let memory = filled(&heap, &near, &image, 0, 1, 3);
        for _ in 0..3 {
            drop(near.begin(&workers));
            let in_use = near.begin(&workers);
            image.begin_use(&in_use, ImageAccess::Write);
            check(&memory, 0..memory.size(), 1, 3);
        }
    }
}

/// The heap counts what compacted spans occupy in the process, also after evictions to a file.
#[test]
fn the_heap_knows_what_evicted_spans_occupy() {
    for (file, resident) in [(true, 64 << 10), (false, 1 << 20)] {
        let far = file.then(|| FarFile::create(&std::env::temp_dir()).unwrap());
        let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
        let near =
            Residency::new(NearConfig { bytes: 64 << 10, far, wanted_by_host: || 0, always: true }, heap.clone());
        let image = surface(vk::Format::R8G8B8A8_UNORM, 512, 1);
        let memory = filled(&heap, &near, &image, 0, 1, 3);
        // Noise is not compressible: 512 groups need 4 pages each, and near memory has 128 pages.
        assert_eq!((heap.used(), heap.resident()), (1 << 20, resident), "file: {file}");
        assert_eq!(counted(&near, Stat::GroupsEvicted), 512 - 32);
        assert_eq!(counted(&near, Stat::SpansCompacted), 16);
        let in_use = near.begin(&workers);
        image.begin_use(&in_use, ImageAccess::Write);
        check(&memory, 0..memory.size(), 1, 3);
        assert_eq!(counted(&near, Stat::GroupsDiscarded), 0, "nothing is lost");
        // Freed pages count until they return to the system.
        assert_eq!(heap.resident(), (1 << 20) + resident);
        near.state_for(SPAN).unwrap().trim();
        assert_eq!(heap.resident(), 1 << 20);
        drop(in_use);
        drop((image, memory));
        assert_eq!((heap.used(), heap.resident()), (0, 0));
        assert_eq!(counted(&near, Stat::GroupsDiscarded), 512);
    }
}

/// A far-memory file that cannot be read or written is an error of the submission. Lines that are
/// not stored are not counted.
#[test]
fn failures_of_far_memory_are_noted() {
    let far = FarFile::create(&std::env::temp_dir()).unwrap();
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let config = NearConfig { bytes: 64 << 10, far: Some(far.clone()), wanted_by_host: || 0, always: true };
    let near = Residency::new(config, heap.clone());
    let image = surface(vk::Format::R8G8B8A8_UNORM, 512, 1);
    let memory = filled(&heap, &near, &image, 0, 1, 3);
    let plane = image.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
    let in_use = near.begin(&workers);
    // The file loses its contents. Only the groups of the last span are in near memory.
    far.clear();
    let (read, written) = (counted(&near, Stat::FarOut), counted(&near, Stat::LinesWritten));
    let mut texels = [0; 256];
    image.reading(Some(&in_use)).unwrap().read_rows(&plane, [504, 504, 512, 512], 0, &mut texels);
    assert!(!in_use.has_failed());
    image.reading(Some(&in_use)).unwrap().read_rows(&plane, [0, 0, 8, 8], 0, &mut texels);
    assert!(in_use.has_failed());
    drop(in_use);
    // The group of the line cannot be read when the line is written.
    let in_use = near.begin(&workers);
    let writing = image.writing(&in_use, 1).unwrap();
    writing.write_rows(&plane, [0, 0, 1, 1], 0, &[1, 2, 3, 4]);
    assert!(in_use.has_failed());
    drop(writing);
    assert_eq!((counted(&near, Stat::FarOut), counted(&near, Stat::LinesWritten)), (read, written));
    drop(in_use);
    let in_use = near.begin(&workers);
    assert!(!in_use.has_failed());
    image.begin_use(&in_use, ImageAccess::Read);
    assert!(in_use.has_failed());
    drop(in_use);
    // Bytes that no submission made resident are lost for all later ones.
    memory.keep_resident(0..SPAN as u64);
    assert!(near.begin(&workers).has_failed());
}

/// Lost contents are not coded: their pages are discarded, and later reads are unspecified.
#[test]
fn lost_contents_are_not_coded() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = bound(&heap, &near, &image, 0);
    drop(near.begin(&workers));
    assert_eq!(
        (counted(&near, Stat::SpansLost), memory.resident()),
        (4, 0),
        "memory that was never used has no contents"
    );
    for round in 0..2 {
        let in_use = near.begin(&workers);
        image.begin_use(&in_use, ImageAccess::Write);
        fill(&memory, 0..memory.size(), 1, 3);
        image.hint(&in_use, Hint::Lost);
        drop(in_use);
        assert_eq!((counted(&near, Stat::SpansLost), heap.resident()), (8 + 4 * round, 0));
    }
    assert_eq!((counted(&near, Stat::NearIn), memory.resident()), (0, 0));
    // Bytes that the same submission writes after the loss are kept.
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Write);
    image.hint(&in_use, Hint::Lost);
    image.begin_use(&in_use, ImageAccess::Write);
    fill(&memory, 0..memory.size(), 1, 5);
    drop(in_use);
    assert_eq!(states(&memory), [SpanState::Compacted; 4]);
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Write);
    check(&memory, 0..memory.size(), 1, 5);
    drop(in_use);
    // Another image is bound to the same bytes. The bytes are lost only if both images lose their
    // contents.
    let alias = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    assert!(alias.bind(memory.clone(), 0));
    let in_use = near.begin(&workers);
    [&image, &alias].into_iter().for_each(|image| image.begin_use(&in_use, ImageAccess::Write));
    fill(&memory, 0..memory.size(), 1, 6);
    image.hint(&in_use, Hint::Lost);
    drop(in_use);
    let in_use = near.begin(&workers);
    alias.begin_use(&in_use, ImageAccess::Write);
    check(&memory, 0..memory.size(), 1, 6);
    drop((image, alias));
    drop(in_use);
    near.state_for(SPAN).unwrap().trim();
    assert_eq!((memory.resident(), heap.resident()), (0, 0), "the contents of destroyed images are lost");
}

/// A use of an image whose contents are lost finds the contents of another image in the same
/// memory.
#[test]
fn identical_images_share_their_contents() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(2));
    let near = residency(&heap, 8 << 20, true);
    let images = [(); 2].map(|()| surface(vk::Format::R8G8B8A8_UNORM, 256, 1));
    let memory = bound(&heap, &near, &images[0], 0);
    assert!(images[1].bind(memory.clone(), 0));
    for (round, seed) in (1..5).enumerate() {
        let (writer, reader) = (&images[round % 2], &images[(round + 1) % 2]);
        let in_use = near.begin(&workers);
        images.iter().for_each(|image| image.hint(&in_use, Hint::Lost));
        writer.begin_use(&in_use, ImageAccess::Write);
        fill(&memory, 0..memory.size(), 3, seed);
        drop(in_use);
        assert!(!states(&memory).contains(&SpanState::Resident));
        let in_use = near.begin(&workers);
        reader.begin_use(&in_use, ImageAccess::Write);
        check(&memory, 0..memory.size(), 3, seed);
    }
}

/// The order of compaction: first lost contents, then images that are only read, then the least
/// recently written images, then the fewest coded bytes.
#[test]
fn images_are_compacted_in_order_of_priority() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, false);
    // While this submission runs, the residency thread compacts none of the later ones.
    let first = near.begin(&workers);
    let use_of = |image: &Surface, memory: &Allocation, kind| {
        let in_use = near.begin(&workers);
        image.begin_use(&in_use, ImageAccess::Overwrite);
        fill(memory, 0..memory.size(), kind, 7);
        in_use
    };
    let images = [(); 5].map(|()| surface(vk::Format::R8G8B8A8_UNORM, 512, 1));
    let memories = images.each_ref().map(|image| bound(&heap, &near, image, 0));
    // The last two images have the same last submission. The first of the two is known to take
    // more bytes.
    drop(use_of(&images[2], &memories[2], 0));
    let both = use_of(&images[3], &memories[3], 1);
    images[4].begin_use(&both, ImageAccess::Overwrite);
    fill(&memories[4], 0..memories[4].size(), 0, 7);
    drop(both);
    let in_use = use_of(&images[1], &memories[1], 1);
    images[1].hint(&in_use, Hint::ReadOnly);
    drop(in_use);
    let in_use = use_of(&images[0], &memories[0], 1);
    images[0].hint(&in_use, Hint::Lost);
    drop(in_use);
    // Image 2 was written first. That it is read last does not matter.
    images[2].begin_use(&near.begin(&workers), ImageAccess::Read);
    compactable(&memories[4]).table.lock().last_bytes.fill(1000);
    let mut order = Vec::new();
    let is_resident = |number: usize| states(&memories[number]).contains(&SpanState::Resident);
    let listed = memories.each_ref().map(|memory| compactable(memory).clone());
    let mut outcome = idle::Outcome::SomeResident;
    while outcome == idle::Outcome::SomeResident {
        // One group of spans at a time. Spans with lost contents cost nothing.
        outcome = compact(&listed, 100, 1);
        let compacted: Vec<usize> = (0..5).filter(|number| !order.contains(number) && !is_resident(*number)).collect();
        order.extend(compacted);
    }
    assert_eq!(order, [0, 1, 2, 4, 3]);
    drop(first);
}

/// A far-memory file has room for every span that may be compacted, or the allocation fails. The
/// test runs in a separate process with a file size limit of 4 MiB, which acts like a full disk.
/// The signal for exceeding the limit would end the process.
#[test]
fn allocations_fail_if_the_disk_of_far_memory_is_full() {
    let test = "near::compaction::tests::on_a_full_disk";
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 8192; exec \"$0\" --exact \"$1\" --ignored --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && out.contains("1 passed"), "{out}");
}

#[test]
#[ignore = "runs where files are small, for the test above"]
fn on_a_full_disk() {
    let far = Some(FarFile::create(&std::env::temp_dir()).unwrap());
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let config = NearConfig { bytes: 64 << 10, far, wanted_by_host: || 0, always: true };
    let near = Residency::new(config, heap.clone());
    let image = surface(vk::Format::R8G8B8A8_UNORM, 512, 1);
    let memory = filled(&heap, &near, &image, 2 << 20, 1, 3);
    let used = heap.used();
    for _ in 0..2 {
        assert_eq!(Allocation::new_compactable(&heap, 2 << 20, &near).unwrap_err(), OutOfMemory::Far(2 << 20));
        assert_eq!(heap.used(), used, "a failed allocation reserves nothing");
    }
    // Smaller allocations still succeed, and earlier contents are unchanged.
    let other = Allocation::new_compactable(&heap, 1 << 20, &near).unwrap();
    assert!(counted(&near, Stat::GroupsEvicted) > 0 && counted(&near, Stat::FarIn) > 0);
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Write);
    check(&memory, 0..1 << 20, 1, 3);
    drop(in_use);
    drop((image, memory, other));
    let all = Allocation::new_compactable(&heap, 4 << 20, &near).unwrap();
    assert_eq!(Allocation::new_compactable(&heap, SPAN as u64, &near).unwrap_err(), OutOfMemory::Far(SPAN as u64));
    drop(all);
}

/// If the host wants memory, the residency thread compacts spans after an idle period, and no span
/// that a submission uses.
#[test]
fn the_residency_thread_compacts_idle_images() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let config = NearConfig { bytes: HEAP, far: None, wanted_by_host: || u64::MAX, always: false };
    let near = Residency::new(config, heap.clone());
    let images = [0, 1].map(|_| surface(vk::Format::R8G8B8A8_UNORM, 256, 1));
    let memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
    let in_use = near.begin(&workers);
    images[1].begin_use(&in_use, ImageAccess::Write);
    // Another submission has ended meanwhile.
    drop(near.begin(&workers));
    let begin = Instant::now();
    while states(&memories[0]).contains(&SpanState::Resident) {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing is compacted");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(states(&memories[1]), [SpanState::Resident; 4]);
    drop(in_use);
    while states(&memories[1]).contains(&SpanState::Resident) {
        assert!(begin.elapsed() < Duration::from_secs(60), "the other image is not compacted");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The residency thread then sleeps until a submission uses an image.
    std::thread::sleep(2 * residency::INTERVAL);
    let interval = near.state_for(SPAN).unwrap().interval();
    std::thread::sleep(5 * residency::INTERVAL);
    assert_eq!(near.state_for(SPAN).unwrap().interval(), interval, "the thread sleeps while nothing is resident");
    let in_use = near.begin(&workers);
    images.iter().for_each(|image| image.begin_use(&in_use, ImageAccess::Write));
    memories.iter().for_each(|memory| check(memory, 0..memory.size(), 0, 3));
}

/// Submissions of several queues use, rewrite and free images while all idle spans are compacted.
#[test]
fn concurrent_submissions_find_their_bytes() {
    let seconds = std::env::var("VITRIC_STRESS").ok().and_then(|value| value.parse().ok()).unwrap_or(3);
    let (heap, end) = (Heap::new(HEAP), Instant::now() + Duration::from_secs(seconds));
    let near = residency(&heap, 1 << 20, true);
    let image = || {
        let (image, workers) = (surface(vk::Format::R8G8B8A8_UNORM, 300, 1), Workers::new(1));
        let memory = bound(&heap, &near, &image, 0);
        let in_use = near.begin(&workers);
        image.begin_use(&in_use, ImageAccess::Overwrite);
        fill(&memory, 0..memory.size(), 3, 0);
        drop(in_use);
        (image, memory, 0)
    };
    let (images, done): (Vec<_>, _) = ((0..6).map(|_| Mutex::new(image())).collect(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for queue in 0..3u32 {
            let (images, near, done, image) = (&images, &near, &done, &image);
            scope.spawn(move || {
                let (workers, mut random) = (Workers::new(1), queue);
                while Instant::now() < end {
                    random = random.wrapping_mul(0x2c1b_3c6d).wrapping_add(12345);
                    let in_use = near.begin(&workers);
                    let mut one = images[(random >> 20) as usize % images.len()].lock();
                    if random >> 8 & 15 == 0 {
                        *one = image();
                    }
                    let (surface, memory, seed) = &mut *one;
                    surface.begin_use(&in_use, ImageAccess::Write);
                    check(memory, 0..memory.size(), 3, *seed);
                    *seed = random;
                    fill(memory, 0..memory.size(), 3, random);
                    drop(one);
                    drop(in_use);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(done.into_inner() > 0);
    drop(images);
    assert_eq!((heap.used(), heap.resident()), (0, 0));
}
