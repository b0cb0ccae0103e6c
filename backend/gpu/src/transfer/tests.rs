//! Tests of exact results of transfers on small surfaces.

use std::sync::{Arc, LazyLock};

use ash::vk;
use vitric_base::counters::Counter;
use vitric_base::workers::Workers;
use vitric_memory::{
    Allocation, Buffer, DecodedCache, Heap, ImageAccess, InUse, NearConfig, Residency, SurfaceDesc, SurfaceView,
    SurfaceViewDesc,
};

use super::*;
use crate::state::ClearValue;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

static WORKERS: LazyLock<Workers> = LazyLock::new(|| Workers::new(2));

fn surface(desc: SurfaceDesc) -> Arc<Surface> {
    let surface = Surface::new(desc).unwrap();
    let memory = Allocation::new(&Heap::new(1 << 24), surface.layout().size()).unwrap();
    assert!(surface.bind(memory, 0));
    surface
}

fn desc(format: vk::Format, [width, height, depth]: [u32; 3]) -> SurfaceDesc {
    let kind = if depth > 1 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D };
    let extent = vk::Extent3D { width, height, depth };
    SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples: 1, linear: false, decoded: false }
}

fn buffer(bytes: &[u8]) -> Arc<Buffer> {
    let buffer = Buffer::new(bytes.len() as u64);
    let memory = Allocation::new(&Heap::new(1 << 24), bytes.len() as u64).unwrap();
    assert!(buffer.bind(memory, 0));
    buffer.write(0, bytes);
    buffer
}

fn contents(buffer: &Buffer) -> Vec<u8> {
    let mut out = vec![0; buffer.size() as usize];
    buffer.read(0, &mut out);
    out
}

fn layers(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level: 0, base_array_layer: 0, layer_count: 1 }
}

fn offset([x, y, z]: [i32; 3]) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}

fn whole(surface: &Surface, aspect: vk::ImageAspectFlags) -> vk::BufferImageCopy {
    vk::BufferImageCopy { image_subresource: layers(aspect), image_extent: surface.desc().extent, ..Default::default() }
}

fn transfer(buffer: &Buffer, image: &Surface, regions: &[vk::BufferImageCopy], direction: CopyDirection) {
    let transfer = BufferImageTransfer { buffer, image, direction };
    copy_buffer_image(&mut CopyAccess::of_buffer_image(&WORKERS, None, transfer, regions), transfer, regions);
}

/// Copies between images as one command.
fn copy(in_use: Option<&InUse<'_>>, source: &Surface, target: &Surface, regions: &[vk::ImageCopy]) {
    let mut access = CopyAccess::of_images(&WORKERS, in_use, (source, target), regions);
    copy_image(&mut access, (source, target), regions);
}

/// Returns a surface that contains `bytes`, row by row.
fn holding(desc: SurfaceDesc, bytes: &[u8]) -> Arc<Surface> {
    let surface = surface(desc);
    transfer(&buffer(bytes), &surface, &[whole(&surface, COLOR)], CopyDirection::ToImage);
    surface
}

fn read_back(surface: &Surface, aspect: vk::ImageAspectFlags, length: usize) -> Vec<u8> {
    let target = buffer(&vec![0xee; length]);
    transfer(&target, surface, &[whole(surface, aspect)], CopyDirection::ToBuffer);
    contents(&target)
}

fn counting(count: usize) -> Vec<u8> {
    (0..count).map(|index| (index * 7 % 251) as u8).collect()
}

#[test]
fn buffer_to_image_and_back() {
    let formats = [(vk::Format::R8_UNORM, 1), (vk::Format::R16G16_UINT, 4), (vk::Format::R32G32B32A32_SFLOAT, 16)];
    for (format, bytes) in formats {
        for linear in [false, true] {
            for size in [[19, 11, 1], [9, 5, 3]] {
                let data = counting((size[0] * size[1] * size[2]) as usize * bytes);
                let image = holding(SurfaceDesc { linear, ..desc(format, size) }, &data);
                assert_eq!(read_back(&image, COLOR, data.len()), data, "{format:?} {linear} {size:?}");
            }
        }
    }
}

#[test]
fn row_length_and_offset_place_a_rectangle() {
    let image = surface(desc(vk::Format::R8_UINT, [12, 3, 1]));
    let data = counting(40);
    let region = vk::BufferImageCopy {
        buffer_offset: 2,
        buffer_row_length: 16,
        image_offset: offset([6, 1, 0]),
        image_extent: vk::Extent3D { width: 4, height: 2, depth: 1 },
        ..whole(&image, COLOR)
    };
    transfer(&buffer(&data), &image, &[region], CopyDirection::ToImage);
    let mut expected = vec![0; 36];
    expected[18..22].copy_from_slice(&data[2..6]);
    expected[30..34].copy_from_slice(&data[18..22]);
    assert_eq!(read_back(&image, COLOR, 36), expected);
}

#[test]
fn absurd_regions_end_and_change_nothing_outside() {
    let image = surface(desc(vk::Format::R32G32B32A32_UINT, [4, 4, 1]));
    let region = vk::BufferImageCopy {
        buffer_offset: u64::MAX - 3,
        buffer_row_length: u32::MAX,
        buffer_image_height: u32::MAX,
        image_subresource: vk::ImageSubresourceLayers { layer_count: u32::MAX, ..layers(COLOR) },
        image_offset: offset([i32::MAX, i32::MIN, 5]),
        image_extent: vk::Extent3D { width: u32::MAX, height: u32::MAX, depth: u32::MAX },
    };
    let data = buffer(&counting(64));
    for direction in [CopyDirection::ToImage, CopyDirection::ToBuffer] {
        transfer(&data, &image, &[region], direction);
    }
    let extreme = [offset([i32::MIN; 3]), offset([i32::MAX; 3])];
    let scaled = vk::ImageBlit {
        src_subresource: layers(COLOR),
        src_offsets: extreme,
        dst_subresource: layers(COLOR),
        dst_offsets: [extreme[1], extreme[0]],
    };
    blit(&WORKERS, (&image, &image), &[scaled], vk::Filter::NEAREST);
    let everything = vk::Extent3D { width: u32::MAX, height: u32::MAX, depth: u32::MAX };
    let region = vk::ImageCopy {
        src_subresource: layers(COLOR),
        dst_subresource: layers(COLOR),
        dst_offset: offset([i32::MAX; 3]),
        extent: everything,
        ..Default::default()
    };
    copy(None, &image, &image, &[region]);
    assert_eq!(contents(&data), counting(64));
    assert_eq!(read_back(&image, COLOR, 256), vec![0; 256]);
}

/// Copies of small parts between compacted images decode the lines that they read, code those that
/// they write, and make nothing resident.
#[test]
fn small_copies_between_compacted_images_make_nothing_resident() {
    let (heap, side) = (Heap::new(1 << 24), 256);
    let near =
        Residency::new(NearConfig { bytes: 1 << 24, far: None, wanted_by_host: || 0, always: true }, heap.clone());
    let texels =
        |seed: usize| (0..side * side).flat_map(move |texel| [seed + texel % side / 8, texel / side / 8, seed, 255]);
    let compacted = |seed: usize| {
        let surface = Surface::new(desc(vk::Format::R8G8B8A8_UNORM, [side as u32, side as u32, 1])).unwrap();
        let memory = Allocation::new_compactable(&heap, surface.layout().size(), &near).unwrap();
        assert!(surface.bind(memory, 0));
        let in_use = near.begin(&WORKERS);
        surface.begin_use(&in_use, ImageAccess::Overwrite);
        let bytes: Vec<u8> = texels(seed).map(|byte| byte as u8).collect();
        transfer(&buffer(&bytes), &surface, &[whole(&surface, COLOR)], CopyDirection::ToImage);
        (surface, bytes)
    };
    let ((source, from), (target, mut expected)) = (compacted(1), compacted(70));
    let counted = |counter: Counter| near.counted().iter().find(|(number, _)| *number == counter as usize).unwrap().1;
    let region = |[x, y]: [i32; 2], [to_x, to_y]: [i32; 2], [width, height]: [u32; 2]| vk::ImageCopy {
        src_subresource: layers(COLOR),
        src_offset: offset([x, y, 0]),
        dst_subresource: layers(COLOR),
        dst_offset: offset([to_x, to_y, 0]),
        extent: vk::Extent3D { width, height, depth: 1 },
    };
    // 64 whole lines, and 10 parts of two texels in each of 9 rows, from 6 lines.
    let regions = [region([64, 32], [128, 96], [64, 64]), region([3, 5], [10, 20], [20, 9])];
    for vk::ImageCopy { src_offset, dst_offset, extent, .. } in regions {
        let at = |offset: vk::Offset3D, row: u32| 4 * ((offset.y as u32 + row) as usize * side + offset.x as usize);
        for row in 0..extent.height {
            let (from_at, to_at, bytes) = (at(src_offset, row), at(dst_offset, row), 4 * extent.width as usize);
            expected[to_at..to_at + bytes].copy_from_slice(&from[from_at..from_at + bytes]);
        }
    }
    let in_use = near.begin(&WORKERS);
    copy(Some(&in_use), &source, &target, &regions);
    assert_eq!((counted(Counter::LinesRead), counted(Counter::LinesWritten)), (64 + 6, 64 + 9 * 10));
    assert_eq!((in_use.restored(), source.reading(Some(&in_use)).is_some()), (0, true));
    // A copy of more than an eighth makes the target resident, and the source stays compacted.
    copy(Some(&in_use), &source, &target, &[region([0, 0], [0, 128], [256, 33])]);
    let rows = 4 * side * 33;
    expected[4 * side * 128..4 * side * 128 + rows].copy_from_slice(&from[..rows]);
    assert_eq!(in_use.restored(), 4);
    assert!(read_back(&target, COLOR, 4 * side * side) == expected);
}

/// Slices of a volume become layers of an array. Its texels count once, also those of slices and
/// layers that do not exist.
#[test]
fn small_copies_from_volumes_to_arrays_make_nothing_resident() {
    let (heap, workers) = (Heap::new(1 << 24), &*WORKERS);
    let near =
        Residency::new(NearConfig { bytes: 1 << 24, far: None, wanted_by_host: || 0, always: true }, heap.clone());
    let volume = surface(desc(vk::Format::R8G8B8A8_UNORM, [64, 64, 8]));
    let array = Surface::new(SurfaceDesc { layers: 8, ..desc(vk::Format::R8G8B8A8_UNORM, [64, 64, 1]) }).unwrap();
    assert!(array.bind(Allocation::new_compactable(&heap, array.layout().size(), &near).unwrap(), 0));
    array.begin_use(&near.begin(workers), ImageAccess::Overwrite);
    let region = |height: u32, count: u32| vk::ImageCopy {
        src_subresource: layers(COLOR),
        dst_subresource: vk::ImageSubresourceLayers { layer_count: count, ..layers(COLOR) },
        extent: vk::Extent3D { width: 64, height, depth: count },
        ..Default::default()
    };
    for (height, count, restored) in [(8, 8, 0), (8, 1000, 0), (9, 8, 2)] {
        let in_use = near.begin(workers);
        copy(Some(&in_use), &volume, &array, &[region(height, count)]);
        assert_eq!(in_use.restored(), restored, "{height} rows of {count} slices");
    }
}

#[test]
fn depth_and_stencil_are_cleared_and_copied_apart() {
    let image = surface(desc(vk::Format::D24_UNORM_S8_UINT, [3, 2, 1]));
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let range = |aspect_mask| vk::ImageSubresourceRange {
        aspect_mask,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    };
    let value = ClearValue([1.0f32.to_bits(), 0x17f, 0, 0]);
    clear_image(None, &image, value, &[range(depth)]);
    assert_eq!(read_back(&image, stencil, 6), [0; 6]);
    clear_image(None, &image, value, &[range(stencil)]);
    assert_eq!(read_back(&image, stencil, 6), [0x7f; 6]);
    assert_eq!(read_back(&image, depth, 24), [0xff, 0xff, 0xff, 0].repeat(6));
}

#[test]
fn fill_rounds_down_to_words() {
    let target = buffer(&[0; 11]);
    fill_buffer(&target, 4, vk::WHOLE_SIZE, 0x0403_0201);
    assert_eq!(contents(&target), [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0]);
}

#[test]
fn image_copies_move_blocks_between_compressed_and_not() {
    let data = counting(32);
    let blocks = holding(desc(vk::Format::BC1_RGB_UNORM_BLOCK, [8, 8, 1]), &data);
    let words = surface(desc(vk::Format::R16G16B16A16_UINT, [3, 2, 1]));
    let region = vk::ImageCopy {
        src_subresource: layers(COLOR),
        dst_subresource: layers(COLOR),
        dst_offset: offset([1, 0, 0]),
        extent: vk::Extent3D { width: 8, height: 8, depth: 1 },
        ..Default::default()
    };
    copy(None, &blocks, &words, &[region]);
    let copied = read_back(&words, COLOR, 48);
    assert_eq!((&copied[8..24], &copied[32..48]), (&data[..16], &data[16..]));
    assert_eq!(copied[..8], [0; 8]);
}

fn scaled(from: [[i32; 3]; 2], to: [[i32; 3]; 2]) -> vk::ImageBlit {
    vk::ImageBlit {
        src_subresource: layers(COLOR),
        src_offsets: from.map(offset),
        dst_subresource: layers(COLOR),
        dst_offsets: to.map(offset),
    }
}

#[test]
fn copied_blocks_are_decoded_as_far_as_they_lie_in_the_image() {
    let formats =
        [vk::Format::ASTC_10X6_UNORM_BLOCK, vk::Format::ETC2_R8G8B8A8_SRGB_BLOCK, vk::Format::BC4_SNORM_BLOCK];
    for format in formats {
        let info = vitric_format::info(format).unwrap();
        let (size, [width, height]) = ([33, 14, 3], info.block_extent());
        let image = surface(SurfaceDesc { decoded: true, ..desc(format, size) });
        let view = SurfaceViewDesc {
            kind: vk::ImageViewType::TYPE_3D,
            format,
            swizzle: vitric_memory::Swizzle::IDENTITY,
            aspects: COLOR,
            base_level: 0,
            levels: 1,
            base_layer: 0,
            layers: 1,
            slices: None,
            min_lod: 0.0,
            decodes_codes: false,
        };
        // The first decode, before the copy, is of zeros. The copy must therefore decode the
        // blocks again.
        let cache = DecodedCache::new(1 << 20);
        let decoded = image.use_decoded(&cache, &view).unwrap();
        let (across, down) = (33u32.div_ceil(width), 14u32.div_ceil(height));
        let data = counting((across * down * 3 * info.bytes) as usize);
        // The copy covers all but the first column of blocks and the first slice.
        let region = vk::BufferImageCopy {
            buffer_offset: u64::from(info.bytes * (1 + across * down)),
            buffer_row_length: across * width,
            image_offset: offset([width as i32, 0, 1]),
            image_extent: vk::Extent3D { width: 33 - width, height: 14, depth: 2 },
            ..whole(&image, COLOR)
        };
        transfer(&buffer(&data), &image, &[region], CopyDirection::ToImage);
        let as_texels = vitric_format::decoded_format(info).unwrap();
        for (z, y, x) in (0..3).flat_map(|z| (0..14).flat_map(move |y| (0..33).map(move |x| (z, y, x)))) {
            let first = (((z * down + y / height) * across + x / width) * info.bytes) as usize;
            let mut block = [0; 16];
            if z > 0 && x >= width {
                block[..info.bytes as usize].copy_from_slice(&data[first..first + info.bytes as usize]);
            }
            let mut bytes = vec![0; as_texels.bytes as usize];
            decoded.surface().plane(COLOR, 0, z).unwrap().read(x, y, 0, &mut bytes);
            let expected = vitric_format::block_texel(info, &block, x, y);
            assert_eq!(vitric_format::decode(as_texels, &bytes), expected, "{format:?} ({x}, {y}, {z})");
        }
    }
}

#[test]
fn blits_flip_scale_and_filter() {
    let source = holding(desc(vk::Format::R8_UNORM, [2, 2, 1]), &[0, 100, 200, 40]);
    let flipped = surface(desc(vk::Format::R8_UNORM, [2, 2, 1]));
    blit(&WORKERS, (&source, &flipped), &[scaled([[0, 0, 0], [2, 2, 1]], [[2, 0, 0], [0, 2, 1]])], vk::Filter::NEAREST);
    assert_eq!(read_back(&flipped, COLOR, 4), [100, 0, 40, 200]);
    let large = surface(desc(vk::Format::R8_UNORM, [4, 2, 1]));
    blit(&WORKERS, (&source, &large), &[scaled([[0, 0, 0], [2, 2, 1]], [[0, 0, 0], [4, 2, 1]])], vk::Filter::LINEAR);
    assert_eq!(read_back(&large, COLOR, 8), [0, 25, 75, 100, 200, 160, 80, 40]);
    let converted = surface(desc(vk::Format::B8G8R8A8_SRGB, [2, 2, 1]));
    blit(
        &WORKERS,
        (&source, &converted),
        &[scaled([[0, 0, 0], [2, 2, 1]], [[0, 0, 0], [2, 2, 1]])],
        vk::Filter::NEAREST,
    );
    let red = vitric_format::linear_to_srgb8(100.0 / 255.0);
    assert_eq!(read_back(&converted, COLOR, 16)[4..8], [0, 0, red, 255]);
}

#[test]
fn blits_filter_between_slices() {
    let source = holding(desc(vk::Format::R8_UNORM, [1, 1, 2]), &[0, 200]);
    let target = surface(desc(vk::Format::R8_UNORM, [1, 1, 4]));
    blit(&WORKERS, (&source, &target), &[scaled([[0, 0, 0], [1, 1, 2]], [[0, 0, 0], [1, 1, 4]])], vk::Filter::LINEAR);
    assert_eq!(read_back(&target, COLOR, 4), [0, 50, 150, 200]);
    blit(&WORKERS, (&source, &target), &[scaled([[0, 0, 0], [1, 1, 2]], [[0, 0, 4], [1, 1, 0]])], vk::Filter::NEAREST);
    assert_eq!(read_back(&target, COLOR, 4), [200, 200, 0, 0]);
}

#[test]
fn resolves_average_or_take_sample_0() {
    for (format, expected) in [(vk::Format::R8_UNORM, 25), (vk::Format::R8_UINT, 10)] {
        let source = surface(SurfaceDesc { samples: 4, ..desc(format, [3, 2, 1]) });
        let plane = source.plane(COLOR, 0, 0).unwrap();
        for (sample, value) in [10u8, 20, 30, 40].into_iter().enumerate() {
            plane.write(2, 1, sample as u32, &[value]);
        }
        let target = surface(desc(format, [2, 2, 1]));
        let region = vk::ImageResolve {
            src_subresource: layers(COLOR),
            src_offset: offset([1, 1, 0]),
            dst_subresource: layers(COLOR),
            dst_offset: offset([0, 1, 0]),
            extent: vk::Extent3D { width: 2, height: 1, depth: 1 },
        };
        resolve(&WORKERS, (&source, &target), &[region], ResolveModes::default());
        assert_eq!(read_back(&target, COLOR, 4), [0, 0, 0, expected]);
    }
}

#[test]
fn lines_resolve_like_their_texels() {
    let format = vk::Format::B8G8R8A8_UNORM;
    for samples in [2u32, 4, 8, 16] {
        let source = surface(SurfaceDesc { samples, ..desc(format, [21, 19, 1]) });
        let target = surface(desc(format, [21, 19, 1]));
        let from = source.plane(COLOR, 0, 0).unwrap();
        let mut state = 5u32;
        let mut sums = std::collections::HashMap::new();
        for (x, y) in (0..19).flat_map(|y| (0..21).map(move |x| (x, y))) {
            for sample in 0..samples {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                from.write_word(x, y, sample, state);
                let sum: &mut [u32; 4] = sums.entry((x, y)).or_default();
                for (sum, byte) in sum.iter_mut().zip(state.to_le_bytes()) {
                    *sum += u32::from(byte);
                }
            }
        }
        let view = |surface: &Arc<Surface>| {
            let (kind, swizzle) = (vk::ImageViewType::TYPE_2D, vitric_memory::Swizzle::IDENTITY);
            let (base_level, levels, base_layer, layers) = (0, 1, 0, 1);
            let aspects = COLOR;
            let desc = SurfaceViewDesc {
                kind,
                format,
                swizzle,
                aspects,
                base_level,
                levels,
                base_layer,
                layers,
                slices: None,
                min_lod: 0.0,
                decodes_codes: false,
            };
            SurfaceView { surface: surface.clone(), desc }
        };
        let area = vk::Rect2D { offset: vk::Offset2D { x: 1, y: 2 }, extent: vk::Extent2D { width: 100, height: 16 } };
        let part = ResolveArea { layer: 0, area, skips_transfer: false };
        resolve_view(&Workers::new(2), (&view(&source), &view(&target)), part);
        let to = target.plane(COLOR, 0, 0).unwrap();
        for ((x, y), sum) in sums {
            let inside = x >= 1 && (2..18).contains(&y);
            // Halves are rounded up.
            let average = sum.map(|sum| ((2 * sum + samples) / (2 * samples)) as u8);
            let expected = if inside { u32::from_le_bytes(average) } else { 0 };
            assert_eq!(to.read_word(x, y, 0), expected, "({x}, {y}) of {samples} samples");
        }
    }
}

/// Rows converted by generated code equal texels converted separately.
#[test]
fn scaled_rows_are_texels() {
    use vk::Format as F;
    let formats = [
        F::R8_UNORM,
        F::R8G8_SNORM,
        F::R5G6B5_UNORM_PACK16,
        F::R16_SFLOAT,
        F::R8G8B8A8_UNORM,
        F::B8G8R8A8_SRGB,
        F::A2B10G10R10_UNORM_PACK32,
        F::B10G11R11_UFLOAT_PACK32,
        F::R16G16B16A16_UNORM,
        F::R16G16B16A16_SFLOAT,
        F::R32G32B32A32_SFLOAT,
    ];
    let regions = [
        ([[0, 0, 0], [21, 19, 1]], [[0, 0, 0], [21, 19, 1]]),
        ([[0, 0, 0], [21, 19, 1]], [[0, 0, 0], [10, 9, 1]]),
        ([[2, 3, 0], [9, 8, 1]], [[21, 0, 0], [1, 18, 1]]),
        ([[21, 19, 0], [0, 0, 1]], [[3, 2, 0], [7, 5, 1]]),
    ];
    let (mut shown, mut all) = (0, 0);
    for (index, &format) in formats.iter().enumerate() {
        let desc = |format| desc(format, [21, 19, 1]);
        let info = vitric_format::info(format).unwrap();
        // The data contains no infinity and no NaN.
        let data: Vec<u8> = counting(21 * 19 * info.bytes as usize).iter().map(|byte| byte & 0x3b).collect();
        let source = holding(desc(format), &data);
        for other in [format, formats[(index + 3) % formats.len()], formats[(index + 7) % formats.len()]] {
            let bytes = 21 * 19 * vitric_format::info(other).unwrap().bytes as usize;
            for ((from, to), filter) in regions
                .iter()
                .flat_map(|&region| [vk::Filter::NEAREST, vk::Filter::LINEAR].map(|filter| (region, filter)))
            {
                let results = [false, true].map(|is_reference| {
                    let target = surface(desc(other));
                    let region = [scaled([from[0], from[1]], [to[0], to[1]])];
                    let (source, target, workers) = (&*source, &*target, &*WORKERS);
                    blit::Blit { workers, source, target, filter, is_reference }.run(&region);
                    read_back(target, COLOR, bytes)
                });
                assert_eq!(results[0], results[1], "{format:?} to {other:?}, {filter:?}, {from:?} to {to:?}");
                shown += u32::from(results[0].iter().any(|byte| *byte != 0));
                all += 1;
            }
        }
    }
    // Small values become 0 in narrow formats.
    assert!(shown * 4 > all * 3, "{shown} of {all}");
}
