//! Memory of compressed images: sizes, images that share memory, and many images in turns.
//!
//! Source: Vulkan specification, "Resource Memory Association" and "Memory Aliasing".

use ash::vk::{self, Format as F};

use super::{
    ASPECT, Format, GENERAL, Kind, LAYERS, LEVELS, SIZE, Subresource, block, check_pixels, draw, drawn, extent, fill,
    filled, formats, image, layers, level_size, number, unbound,
};
use crate::Entry;
use crate::harness::{Case, Gpu, Image, Outcome, check};
use crate::render::{Draw, FULL, Part, SampledImage, State, Target, render, render_parts};

/// A fragment shader that samples a volume, with another slice in each column.
const VOLUME: &[u8] = shader!("volume.frag");

/// Slices of a volume.
const SLICES: u32 = 6;

/// Formats, and KiB of an image of 512x256 texels.
const NEEDS: [(&str, F, u64); 11] = [
    ("bc1", F::BC1_RGB_UNORM_BLOCK, 64),
    ("bc3", F::BC3_UNORM_BLOCK, 128),
    ("bc4", F::BC4_UNORM_BLOCK, 64),
    ("bc5", F::BC5_UNORM_BLOCK, 128),
    ("bc6h", F::BC6H_UFLOAT_BLOCK, 128),
    ("bc7", F::BC7_UNORM_BLOCK, 128),
    ("etc2", F::ETC2_R8G8B8_UNORM_BLOCK, 64),
    ("astc_4x4", F::ASTC_4X4_UNORM_BLOCK, 128),
    ("astc_8x8", F::ASTC_8X8_UNORM_BLOCK, 32),
    ("rgba8", F::R8G8B8A8_UNORM, 512),
    ("d24s8", F::D24_UNORM_S8_UINT, 512),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format, kib) in NEEDS {
        let needs = move |gpu: &Gpu| needs(gpu, format, kib);
        cases.push(Entry::new(format!("compressed.needs.{name}"), "Resource Memory Association", needs));
    }
    let add = |cases: &mut Vec<Entry>, name: &str, chapter, run: fn(&Gpu, Format) -> Case| {
        for (of, format) in formats().into_iter().filter(|(_, format)| is_typical(*format)) {
            cases.push(Entry::new(format!("compressed.{name}.{of}"), chapter, move |gpu: &Gpu| run(gpu, format)));
        }
    };
    add(cases, "aliased", "Memory Aliasing", aliased);
    add(cases, "reused", "Memory Aliasing", reused);
    add(cases, "rewritten", "Copying Data Between Buffers and Images", rewritten);
    add(cases, "in_turns", "Compressed Image Formats", in_turns);
    add(cases, "volume", "Compressed Image Formats", |gpu, format| volume(gpu, format, vk::ImageTiling::OPTIMAL));
    add(cases, "linear", "Compressed Image Formats", linear);
    add(cases, "linear_volume", "Compressed Image Formats", |gpu, format| volume(gpu, format, vk::ImageTiling::LINEAR));
}

/// Returns true for one format of each texel type that blocks are decoded to.
fn is_typical(format: Format) -> bool {
    let all = [
        F::BC1_RGBA_UNORM_BLOCK,
        F::ETC2_R8G8B8_SRGB_BLOCK,
        F::EAC_R11G11_SNORM_BLOCK,
        F::ASTC_4X4_UNORM_BLOCK,
        F::ASTC_10X6_SRGB_BLOCK,
    ];
    all.contains(&format.format)
}

/// Checks that an image needs the memory of its blocks, plus at most a few pages.
fn needs(gpu: &Gpu, format: F, kib: u64) -> Case {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent([512, 256]))
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    // SAFETY: the info is valid where the format is supported.
    let size = unsafe {
        let (kind, tiling, none) = (info.image_type, info.tiling, vk::ImageCreateFlags::empty());
        let supported =
            gpu.instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, none);
        let _ = supported.map_err(|_| Outcome::NotSupported(format!("{format:?}")))?;
        let image = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(image);
        gpu.device.destroy_image(image, None);
        needs.size
    };
    let limit = (kib << 10) + (16 << 10);
    check((kib << 10..=limit).contains(&size), || format!("{size} bytes instead of {kib} KiB"))
}

/// Creates images in the same memory. Only images that are created alike have the same blocks.
fn in_one_memory(gpu: &Gpu, formats: &[Format]) -> Result<Vec<Image>, Outcome> {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let kind = (vk::ImageTiling::OPTIMAL, vk::ImageCreateFlags::ALIAS);
    let images: Result<Vec<_>, Outcome> = formats.iter().map(|&format| unbound(gpu, format, usage, kind)).collect();
    let images = images?;
    // SAFETY: memory is bound once to each image, and fits the largest.
    unsafe {
        let needs = images.iter().map(|image| gpu.device.get_image_memory_requirements(image.handle));
        let largest = needs.max_by_key(|needs| needs.size).unwrap_or_default();
        let memory = gpu.allocate(largest, false)?;
        for image in &images {
            gpu.device.bind_image_memory(image.handle, memory, 0)?;
        }
    }
    Ok(images)
}

fn check_level(
    gpu: &Gpu,
    format: Format,
    image: &Image,
    Subresource { level, layer }: Subresource,
    first: u32,
) -> Case {
    let pixels = drawn(gpu, format, image, level, layer)?;
    check_pixels(format, level_size(level), &pixels, |place| first + number(level, layer, place))
}

/// Samples all levels and layers of an image with linear tiling.
fn linear(gpu: &Gpu, format: Format) -> Case {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = unbound(gpu, format, usage, (vk::ImageTiling::LINEAR, vk::ImageCreateFlags::empty()))?;
    gpu.bind_image(image.handle)?;
    fill(gpu, format, &image, 40)?;
    for (level, layer) in (0..LEVELS).flat_map(|level| (0..LAYERS).map(move |layer| (level, layer))) {
        check_level(gpu, format, &image, Subresource { level, layer }, 40)?;
    }
    Ok(())
}

/// Checks that two images that are created alike in one memory show the last write through either.
fn aliased(gpu: &Gpu, format: Format) -> Case {
    let images = in_one_memory(gpu, &[format, format])?;
    images.iter().try_for_each(|image| gpu.to_general(image.handle))?;
    for (round, first) in [0, 333, 71].into_iter().enumerate() {
        fill(gpu, format, &images[round % 2], first)?;
        for image in &images {
            check_level(gpu, format, image, Subresource { level: 0, layer: 1 }, first)?;
            check_level(gpu, format, image, Subresource { level: 1, layer: 0 }, first)?;
        }
    }
    Ok(())
}

/// Uses one memory for two images of different formats in turns.
fn reused(gpu: &Gpu, format: Format) -> Case {
    let other = Format { format: F::BC1_RGBA_UNORM_BLOCK, kind: Kind::Bc1, block: [4; 2], signed: false, srgb: false };
    let formats = [format, other];
    let images = in_one_memory(gpu, &formats)?;
    for round in 0..4 {
        let (image, format) = (&images[round % 2], formats[round % 2]);
        let first = round as u32 * 131;
        fill(gpu, format, image, first)?;
        check_level(gpu, format, image, Subresource { level: 0, layer: 0 }, first)?;
        check_level(gpu, format, image, Subresource { level: 2, layer: 1 }, first)?;
    }
    Ok(())
}

/// Changes a part of a sampled image by a copy between two draws of one submission.
fn rewritten(gpu: &Gpu, format: Format) -> Case {
    let image = filled(gpu, format, vk::ImageUsageFlags::SAMPLED)?;
    let [across, down] = format.blocks(SIZE);
    let blocks = (0..down).flat_map(|y| (1..across).map(move |x| [x, y]));
    let data: Vec<u8> = blocks.flat_map(|place| block(format, 700 + number(0, 1, place)).0).collect();
    let buffer = gpu.buffer_with(&data)?;
    let region = vk::BufferImageCopy {
        image_subresource: layers(0, 1, 1),
        image_offset: vk::Offset3D { x: format.block[0] as i32, ..Default::default() },
        image_extent: extent([SIZE[0] - format.block[0], SIZE[1]]),
        ..Default::default()
    };
    let draws =
        [[0, 0], [SIZE[0], 0]].map(|origin| draw(gpu, format, &image, Subresource { level: 0, layer: 1 }, origin));
    let [before, after] = draws;
    let (before, after) = ([before?], [after?]);
    let copy = Some((buffer.handle, image.handle, region));
    let parts = [Part { draws: &before, ..Part::default() }, Part { draws: &after, copy, ..Part::default() }];
    let pixels = render_parts(gpu, &Target { size: [SIZE[0] * 2, SIZE[1]], ..Target::default() }, &parts)?;
    let half = |right: usize| -> Vec<[u8; 4]> {
        pixels.chunks_exact(SIZE[0] as usize).skip(right).step_by(2).flatten().copied().collect()
    };
    check_pixels(format, SIZE, &half(0), |place| number(0, 1, place))?;
    let changed = |place: [u32; 2]| if place[0] > 0 { 700 } else { 0 } + number(0, 1, place);
    check_pixels(format, SIZE, &half(1), changed)
}

/// Samples several images one after the other, repeatedly, in one submission and in several.
fn in_turns(gpu: &Gpu, format: Format) -> Case {
    let images = (0..6).map(|index| {
        let image = image(gpu, format, vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST)?;
        fill(gpu, format, &image, index * 97)?;
        Ok(image)
    });
    let images: Vec<_> = images.collect::<Result<_, Outcome>>()?;
    let draws = |layer: u32| -> Result<Vec<Draw>, Outcome> {
        let origin = |index: usize| [SIZE[0] * index as u32, 0];
        images
            .iter()
            .enumerate()
            .map(|(index, image)| draw(gpu, format, image, Subresource { level: 0, layer }, origin(index)))
            .collect()
    };
    let target = Target { size: [SIZE[0] * 6, SIZE[1]], ..Target::default() };
    for layer in 0..LAYERS {
        let (first, again) = (draws(layer)?, draws(layer)?);
        let parts = [Part { draws: &first, ..Part::default() }, Part { draws: &again, ..Part::default() }];
        let pixels = render_parts(gpu, &target, &parts)?;
        for index in 0..6u32 {
            let rows = pixels.chunks_exact(SIZE[0] as usize).skip(index as usize).step_by(6);
            let own: Vec<[u8; 4]> = rows.flatten().copied().collect();
            check_pixels(format, SIZE, &own, |place| index * 97 + number(0, layer, place))?;
        }
    }
    Ok(())
}

/// Samples all slices of a volume.
fn volume(gpu: &Gpu, format: Format, tiling: vk::ImageTiling) -> Case {
    let kind = vk::ImageType::TYPE_3D;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let size = vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: SLICES };
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(format.format)
        .extent(size)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(tiling)
        .usage(usage);
    let none = vk::ImageCreateFlags::empty();
    let [across, down] = format.blocks(SIZE);
    // SAFETY: infos are valid where the format is supported, and memory is bound once.
    let image = unsafe {
        let of = format.format;
        let found =
            gpu.instance.get_physical_device_image_format_properties(gpu.physical, of, kind, tiling, usage, none);
        let _ = found.map_err(|_| Outcome::NotSupported(format!("{of:?} of three dimensions")))?;
        let image = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(image);
        let blocks = u64::from(across.next_multiple_of(8) * down.next_multiple_of(8) * SLICES * format.bytes());
        check(needs.size <= blocks + (16 << 10), || format!("{} bytes", needs.size))?;
        gpu.device.bind_image_memory(image, gpu.allocate(needs, false)?, 0)?;
        image
    };
    gpu.to_general(image)?;
    let number = |slice: u32, [x, y]: [u32; 2]| slice * 1000 + y * 16 + x;
    let places = (0..SLICES).flat_map(|z| (0..down).flat_map(move |y| (0..across).map(move |x| (z, [x, y]))));
    let data: Vec<u8> = places.flat_map(|(z, place)| block(format, number(z, place)).0).collect();
    let buffer = gpu.buffer_with(&data)?;
    let region = vk::BufferImageCopy { image_subresource: layers(0, 0, 1), image_extent: size, ..Default::default() };
    gpu.run(|commands| {
        // SAFETY: the image is in the general layout, and the buffer holds all of the region.
        unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image, GENERAL, &[region]) };
        gpu.barrier(commands, None);
    })?;
    let range = vk::ImageSubresourceRange { aspect_mask: ASPECT, level_count: 1, layer_count: 1, ..Default::default() };
    let info = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_3D);
    // SAFETY: valid infos.
    let (view, sampler) = unsafe {
        let view = gpu.device.create_image_view(&info.format(format.format).subresource_range(range), None)?;
        (view, gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None)?)
    };
    let (width, height) = (SIZE[0] as f32, SIZE[1] as f32);
    let state = State {
        fragment: VOLUME,
        viewport: vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 },
        scissor: vk::Rect2D { extent: vk::Extent2D { width: SIZE[0], height: SIZE[1] }, ..Default::default() },
        ..State::default()
    };
    let draw =
        Draw { image: Some(SampledImage { view, sampler, layout: GENERAL }), ..Draw::rect(state, FULL, [1.0; 4]) };
    let pixels = render(gpu, &Target { size: SIZE, ..Target::default() }, &[draw])?;
    // Pixel by pixel, since slices change from column to column.
    for (index, pixel) in pixels.iter().enumerate() {
        let (x, y) = (index as u32 % SIZE[0], index as u32 / SIZE[0]);
        let place = [x / format.block[0], y / format.block[1]];
        let (_, texel) = block(format, number(x % SLICES, place));
        let is_right =
            pixel.iter().zip(texel).all(|(&code, value)| (f32::from(code) - value.max(0.0) * 255.0).abs() <= 1.0);
        check(is_right, || format!("({x}, {y}): {pixel:?} instead of {texel:?}"))?;
    }
    Ok(())
}
