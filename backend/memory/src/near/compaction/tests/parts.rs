//! Tests of uses of parts of images: levels and layers of views, and copies into compacted images.

use super::*;
use crate::{SurfaceView, SurfaceViewDesc, Swizzle};

/// Returns incompressible bytes.
fn noise(seed: u32, bytes: usize) -> Vec<u8> {
    let mut state = u64::from(seed) << 32 | 0x9e37_79b9;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Copies into a compacted image change the lines that they write, through the compaction buffer,
/// and make nothing resident.
#[test]
fn copies_write_compacted_lines() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = filled(&heap, &near, &image, 0, 0, 3);
    let plane = image.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
    let mut expected: Vec<u8> = (0..memory.size()).map(|place| byte(0, place, 3)).collect();
    // A row of 32 lines has 8 KiB. In pages: the image before has one for each of 128 groups.
    assert_eq!(heap.resident(), 128 * 512);
    let mut write = |rect: [u32; 4], seed: u32| {
        let (columns, rows) = (rect[2] - rect[0], rect[3] - rect[1]);
        let texels = noise(seed, (columns * rows * 4) as usize);
        let in_use = near.begin(&workers);
        image.writing(&in_use, u64::from(columns * rows)).unwrap().write_rows(&plane, rect, 0, &texels);
        for (number, texel) in texels.chunks(4).enumerate() {
            let (x, y) = (rect[0] + number as u32 % columns, rect[1] + number as u32 / columns);
            let at = plane.address(x, y, 0) as usize;
            expected[at..at + 4].copy_from_slice(texel);
        }
        let mut rows = vec![0; 4 * 256 * 256];
        image.reading(Some(&in_use)).unwrap().read_rows(&plane, [0, 0, 256, 256], 0, &mut rows);
        for (number, texel) in rows.chunks(4).enumerate() {
            let at = plane.address(number as u32 % 256, number as u32 / 256, 0) as usize;
            assert_eq!(texel, &expected[at..at + 4], "{rect:?} {number}");
        }
        assert_eq!(in_use.restored(), 0);
        drop(in_use);
        assert_eq!(states(&memory), [SpanState::Compacted; 4]);
    };
    let groups =
        || [Stat::GroupsCompacted, Stat::GroupsExpanded, Stat::GroupsUnpacked].map(|stat| counted(&near, stat));
    // A line of noise has four sub-blocks, and its group 11, which are two pages.
    write([16, 8, 24, 16], 1);
    assert_eq!((groups(), heap.resident()), ([1, 1, 0], 129 * 512));
    // A group of noise needs all four pages.
    write([64, 32, 128, 40], 2);
    assert_eq!((groups(), heap.resident()), ([1, 2, 1], 132 * 512));
    // Three rows of texels, in two lines.
    write([254, 70, 256, 73], 3);
    assert_eq!(counted(&near, Stat::LinesWritten), 1 + 8 + 3);
    // The whole image becomes resident and has all bytes.
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Read);
    let mut bytes = vec![0; memory.size() as usize];
    memory.read(0, &mut bytes);
    assert!(bytes == expected);
}

/// A copy into an image of one repeated line, which has no near memory, codes what it writes.
#[test]
fn copies_write_uniform_spans() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = filled(&heap, &near, &image, 0, 2, 3);
    assert_eq!((heap.resident(), counted(&near, Stat::SpansUniform)), (0, 4));
    let plane = image.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
    let in_use = near.begin(&workers);
    image.writing(&in_use, 1).unwrap().write_rows(&plane, [8, 8, 9, 9], 0, &[1, 2, 3, 4]);
    // One group has lines now: seven of the repeated value, and one with another texel.
    assert_eq!(
        (counted(&near, Stat::LinesWritten), counted(&near, Stat::GroupsCompacted), in_use.restored()),
        (1, 1, 0)
    );
    assert!([512, 1024].contains(&heap.resident()));
    image.begin_use(&in_use, ImageAccess::Read);
    let mut texel = [0; 4];
    plane.read(8, 8, 0, &mut texel);
    assert_eq!(texel, [1, 2, 3, 4]);
    let at = plane.address(8, 8, 0);
    check(&memory, 0..at, 2, 3);
    check(&memory, at + 4..memory.size(), 2, 3);
}

/// Clears of tiles cost a bit for each of their page groups. Uses write the groups, copies read
/// them, and what was drawn to other tiles stays.
#[test]
fn clears_of_tiles_are_noted() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, false);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = filled(&heap, &near, &image, 0, 1, 3);
    let plane = image.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
    // A row of lines has 8 KiB: four groups, one of each tile. One of 16 tiles is drawn to.
    let rows = || {
        let columns = |y: u32| (0..4).filter(move |column| (y / 64, *column) != (1, 2));
        (0..256).step_by(8).flat_map(move |y| columns(y).map(move |column| (y, column * 64..column * 64 + 64)))
    };
    let note = |in_use: &InUse<'_>, texel: u32| {
        image.begin_use(in_use, ImageAccess::Overwrite);
        assert!(image.notes_tiles());
        let copies = texel.to_le_bytes().repeat(64);
        assert!(image.note_cleared_lines(in_use, vk::ImageAspectFlags::COLOR, &copies, rows()));
    };
    let is_right = |texels: &[u8], texel: u32| {
        (0..).zip(texels.chunks(4)).all(|(number, found)| {
            let [x, y] = [number % 256, number / 256];
            let at = plane.address(x, y, 0);
            match (x / 64, y / 64) {
                (2, 1) => found.iter().zip(at..).all(|(found, place)| *found == byte(1, place, 3)),
                _ => found == texel.to_le_bytes(),
            }
        })
    };
    let in_use = near.begin(&workers);
    note(&in_use, 7);
    // The second row of tiles is span 1.
    assert_eq!((counted(&near, Stat::GroupsCleared), counted(&near, Stat::SpansCleared)), (15 * 8, 3));
    assert_eq!(states(&memory), [SpanState::Cleared; 4]);
    check(&memory, 0..memory.size(), 1, 3);
    // A pass that clears again writes nothing.
    note(&in_use, 8);
    check(&memory, 0..memory.size(), 1, 3);
    let mut texels = vec![0; 256 * 256 * 4];
    image.reading(Some(&in_use)).unwrap().read_rows(&plane, [0, 0, 256, 256], 0, &mut texels);
    assert!(is_right(&texels, 8));
    drop(in_use);
    // Compaction keeps both kinds of groups.
    compact(std::slice::from_ref(compactable(&memory)), u64::MAX, usize::MAX);
    assert_eq!((states(&memory), counted(&near, Stat::SpansUniform)), (vec![SpanState::Compacted; 4], 3));
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, ImageAccess::Read);
    plane.read_rows([0, 0, 256, 256], 0, &mut texels);
    assert!(is_right(&texels, 8));
    // Because the clears had to be read, the next 64 passes write them.
    assert_eq!((0..65).map(|_| image.notes_tiles()).filter(|notes| *notes).count(), 1);
}

/// A view makes its levels and layers resident, and nothing else.
#[test]
fn views_make_their_levels_and_layers_resident() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let extent = vk::Extent3D { width: 256, height: 256, depth: 1 };
    let (kind, format) = (vk::ImageType::TYPE_2D, vk::Format::R8G8B8A8_UNORM);
    let desc = SurfaceDesc { kind, format, extent, levels: 3, layers: 4, samples: 1, linear: false, decoded: false };
    let image = Surface::new(desc).unwrap();
    let memory = filled(&heap, &near, &image, 0, 1, 3);
    // A layer has 4 spans of level 0, one of level 1, and a quarter of a span of level 2.
    let layer = image.layout().size() / 4;
    assert_eq!((layer, states(&memory)), (21 << 14, vec![SpanState::Compacted; 21]));
    let view = |[base_level, levels, base_layer, layers]: [u32; 4]| {
        let (kind, aspects) = (vk::ImageViewType::TYPE_2D_ARRAY, vk::ImageAspectFlags::COLOR);
        let (swizzle, slices, min_lod) = (Swizzle::IDENTITY, None, 0.0);
        let surface = image.clone();
        let desc = SurfaceViewDesc {
            kind,
            format,
            swizzle,
            aspects,
            base_level,
            levels,
            base_layer,
            layers,
            slices,
            min_lod,
            decodes_codes: false,
        };
        SurfaceView { surface, desc }
    };
    for (parts, restored) in [
        ([0, 1, 0, 1], vec![[0, 4]]),
        ([1, 1, 0, 1], vec![[4, 5]]),
        // The layers begin at spans 5.25, 10.5 and 15.75.
        ([2, 1, 0, 1], vec![[5, 6]]),
        ([0, 3, 1, 1], vec![[5, 11]]),
        ([1, 2, 1, 2], vec![[9, 11], [14, 16]]),
        ([0, 3, 0, 4], vec![[0, 21]]),
    ] {
        let in_use = near.begin(&workers);
        view(parts).begin_use(&in_use, ImageAccess::Read);
        let resident: Vec<usize> = restored.into_iter().flat_map(|[start, end]| start..end).collect();
        let found = states(&memory).into_iter().enumerate().filter(|(_, state)| *state == SpanState::Resident);
        assert_eq!(found.map(|(span, _)| span).collect::<Vec<_>>(), resident, "{parts:?}");
        assert_eq!(in_use.restored(), resident.len() as u64);
        for span in resident {
            check(&memory, (span * SPAN) as u64..((span + 1) * SPAN) as u64, 1, 3);
        }
    }
}
