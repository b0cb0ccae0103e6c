//! Block-compressed formats: copies by blocks, sampling of every level and layer, blits.
//!
//! Blocks hold one colour each that follows from the format's definition. Every texel shows in
//! which block it lies. Memory sizes and aliasing are tested in `memory.rs`. Source: Khronos Data
//! Format Specification, "ETC2" and "ASTC Compressed Texture Image Formats"; Vulkan, "Copy
//! Commands".

mod decode_modes;
mod memory;

use ash::vk;
use ash::vk::Format as F;

use crate::Entry;
use crate::harness::{Case, Gpu, Image, Outcome, check};
use crate::render::{Draw, FULL, SampledImage, State, TEXTURE, Target, render};

/// Size of level 0 in texels: no multiple of any block size.
const SIZE: [u32; 2] = [37, 23];

const LEVELS: u32 = 4;
const LAYERS: u32 = 2;

/// Encodings of blocks of one colour.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Bc1,
    Etc2,
    PunchThrough,
    Etc2Alpha,
    Eac,
    EacPair,
    Astc,
    AstcHighRange,
}

/// A format with its blocks and decoded texels.
#[derive(Clone, Copy)]
struct Format {
    format: F,
    kind: Kind,
    block: [u32; 2],
    signed: bool,
    srgb: bool,
}

impl Format {
    fn bytes(self) -> u32 {
        if matches!(self.kind, Kind::Etc2Alpha | Kind::EacPair | Kind::Astc | Kind::AstcHighRange) { 16 } else { 8 }
    }

    /// Returns the columns and rows of blocks.
    fn blocks(self, [width, height]: [u32; 2]) -> [u32; 2] {
        [width.div_ceil(self.block[0]), height.div_ceil(self.block[1])]
    }
}

fn formats() -> Vec<(String, Format)> {
    let plain = |format, kind| Format { format, kind, block: [4; 2], signed: false, srgb: false };
    let mut all = vec![
        ("bc1_rgba_unorm".into(), plain(F::BC1_RGBA_UNORM_BLOCK, Kind::Bc1)),
        ("etc2_r8g8b8_unorm".into(), plain(F::ETC2_R8G8B8_UNORM_BLOCK, Kind::Etc2)),
        ("etc2_r8g8b8_srgb".into(), Format { srgb: true, ..plain(F::ETC2_R8G8B8_SRGB_BLOCK, Kind::Etc2) }),
        ("etc2_r8g8b8a1_unorm".into(), plain(F::ETC2_R8G8B8A1_UNORM_BLOCK, Kind::PunchThrough)),
        ("etc2_r8g8b8a8_unorm".into(), plain(F::ETC2_R8G8B8A8_UNORM_BLOCK, Kind::Etc2Alpha)),
        ("eac_r11_unorm".into(), plain(F::EAC_R11_UNORM_BLOCK, Kind::Eac)),
        ("eac_r11_snorm".into(), Format { signed: true, ..plain(F::EAC_R11_SNORM_BLOCK, Kind::Eac) }),
        ("eac_r11g11_unorm".into(), plain(F::EAC_R11G11_UNORM_BLOCK, Kind::EacPair)),
        ("eac_r11g11_snorm".into(), Format { signed: true, ..plain(F::EAC_R11G11_SNORM_BLOCK, Kind::EacPair) }),
    ];
    let extents = [[4, 4], [5, 4], [5, 5], [6, 5], [6, 6], [8, 5], [8, 6], [8, 8], [10, 5], [10, 6], [10, 8], [10, 10]];
    for (index, block) in extents.into_iter().chain([[12, 10], [12, 12]]).enumerate() {
        for srgb in [false, true] {
            let format = F::from_raw(F::ASTC_4X4_UNORM_BLOCK.as_raw() + 2 * index as i32 + i32::from(srgb));
            let name = format!("astc_{}x{}_{}", block[0], block[1], if srgb { "srgb" } else { "unorm" });
            all.push((name, Format { format, kind: Kind::Astc, block, signed: false, srgb }));
        }
        let format = F::from_raw(F::ASTC_4X4_SFLOAT_BLOCK.as_raw() + index as i32);
        let name = format!("astc_{}x{}_sfloat", block[0], block[1]);
        all.push((name, Format { format, kind: Kind::AstcHighRange, block, signed: false, srgb: false }));
    }
    all
}

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format) in formats() {
        let sampled = move |gpu: &Gpu| sampled(gpu, format);
        cases.push(Entry::new(format!("compressed.sampled.{name}"), "Compressed Image Formats", sampled));
        let copied = move |gpu: &Gpu| copied(gpu, format);
        cases.push(Entry::new(format!("compressed.copied.{name}"), "Copying Data Between Images", copied));
        let blitted = move |gpu: &Gpu| blitted(gpu, format);
        cases.push(Entry::new(format!("compressed.blitted.{name}"), "Image Copies With Scaling", blitted));
        if format.srgb {
            let viewed = move |gpu: &Gpu| viewed_as_srgb(gpu, format);
            cases.push(Entry::new(format!("compressed.viewed.{name}"), "Format Compatibility Classes", viewed));
        }
    }
}

/// Returns the codes of block `number`: red, green, blue and alpha.
fn codes(number: u32) -> [u8; 4] {
    [number.wrapping_mul(83), number.wrapping_mul(29) + 7, 255 - number % 256, number.wrapping_mul(57) + 100]
        .map(|code| code as u8)
}

/// Returns a block of one colour, and the texel that it decodes to.
fn block(format: Format, number: u32) -> (Vec<u8>, [f32; 4]) {
    let [red, green, blue, alpha] = codes(number);
    let color = |[red, green, blue]: [u8; 3], alpha: f32| {
        let [red, green, blue] = [red, green, blue].map(|code| decoded(format, code));
        [red, green, blue, alpha]
    };
    match format.kind {
        Kind::Bc1 => {
            let (r, g, b) = (red >> 3, green >> 2, blue >> 3);
            let word = u16::from(r) << 11 | u16::from(g) << 5 | u16::from(b);
            let rgb = [r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2];
            ([&word.to_le_bytes()[..], &word.to_le_bytes(), &[0; 4]].concat(), color(rgb, 1.0))
        }
        Kind::Etc2 | Kind::PunchThrough => {
            let clear = format.kind == Kind::PunchThrough && number.is_multiple_of(3);
            let (bytes, rgb) = etc2([red, green, blue], clear);
            (bytes, if clear { [0.0; 4] } else { color(rgb, 1.0) })
        }
        Kind::Etc2Alpha => {
            let (bytes, rgb) = etc2([red, green, blue], false);
            ([eac(alpha), bytes].concat(), color(rgb, f32::from(alpha) / 255.0))
        }
        Kind::Eac => (eac(red), [eleven(format, red), 0.0, 0.0, 1.0]),
        Kind::EacPair => ([eac(red), eac(green)].concat(), [eleven(format, red), eleven(format, green), 0.0, 1.0]),
        Kind::Astc => {
            // A void extent block without an extent.
            let head = (!0u64 << 12 | 0xdfc).to_le_bytes();
            let channels = [red, green, blue, alpha].map(|code| u16::from(code) << 8 | u16::from(code));
            let bytes = head.into_iter().chain(channels.into_iter().flat_map(u16::to_le_bytes)).collect();
            (bytes, color([red, green, blue], f32::from(alpha) / 255.0))
        }
        Kind::AstcHighRange => {
            // A void extent block of 16-bit floats: the upper bits of a code above 1/4, below 2.
            let head = (!0u64 << 12 | 0xffc).to_le_bytes();
            let halves = [red, green, blue, alpha].map(|code| 0x3400 + (u16::from(code) << 3));
            let value = |half: u16| f32::from_bits((u32::from(half) << 13) + ((127 - 15) << 23)).min(1.0);
            let bytes = head.into_iter().chain(halves.into_iter().flat_map(u16::to_le_bytes)).collect();
            (bytes, halves.map(value))
        }
    }
}

/// Returns the value that a shader reads of an 8-bit code.
fn decoded(format: Format, code: u8) -> f32 {
    let value = f32::from(code) / 255.0;
    match format.srgb {
        false => value,
        true if value <= 0.04045 => value / 12.92,
        true => ((value + 0.055) / 1.055).powf(2.4),
    }
}

/// Returns an ETC2 differential block without differences whose texels all have index 0 and are 2
/// brighter than 5 bits. With `clear` they have index 2 of a block that is not opaque, and are
/// transparent.
fn etc2(rgb: [u8; 3], clear: bool) -> (Vec<u8>, [u8; 3]) {
    let base = rgb.map(|code| code & 0xf8);
    let flags = if clear { 0 } else { 2 };
    let indices = if clear { [0xff, 0xff, 0, 0] } else { [0; 4] };
    let bytes = [&base[..], &[flags], &indices].concat();
    (bytes, base.map(|code| (code | code >> 5).saturating_add(2)))
}

/// Returns an EAC block whose modifiers are all zero: table 13, index 4.
fn eac(base: u8) -> Vec<u8> {
    let indices = (0..16).fold(0u64, |bits, _| bits << 3 | 4).to_be_bytes();
    [&[base, 0x1d], &indices[2..]].concat()
}

fn eleven(format: Format, base: u8) -> f32 {
    match format.signed {
        true => f32::from((base as i8).max(-127)) * 8.0 / 1023.0,
        false => (f32::from(base) * 8.0 + 4.0) / 2047.0,
    }
}

fn level_size(level: u32) -> [u32; 2] {
    SIZE.map(|side| (side >> level).max(1))
}

/// Returns the blocks of all layers of a level, numbered across levels from `first` on, with a
/// column and a row of other bytes around each layer.
fn level_data(format: Format, level: u32, first: u32) -> (Vec<u8>, [u32; 2]) {
    let [across, down] = format.blocks(level_size(level));
    let mut data = Vec::new();
    for layer in 0..LAYERS {
        for (y, x) in (0..=down).flat_map(|y| (0..=across).map(move |x| (y, x))) {
            match x < across && y < down {
                true => data.extend(block(format, first + number(level, layer, [x, y])).0),
                false => data.extend(vec![0x5a; format.bytes() as usize]),
            }
        }
    }
    (data, [(across + 1) * format.block[0], (down + 1) * format.block[1]])
}

/// Returns the number of a block.
fn number(level: u32, layer: u32, [x, y]: [u32; 2]) -> u32 {
    level * 1000 + layer * 500 + y * 16 + x
}

/// Creates an image without memory.
fn unbound(
    gpu: &Gpu,
    format: Format,
    usage: vk::ImageUsageFlags,
    (tiling, flags): (vk::ImageTiling, vk::ImageCreateFlags),
) -> Result<Image, Outcome> {
    let extent = vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 };
    let kind = vk::ImageType::TYPE_2D;
    if format.kind == Kind::AstcHighRange {
        gpu.need(vk::EXT_TEXTURE_COMPRESSION_ASTC_HDR_NAME)?;
    }
    // SAFETY: the infos are valid.
    unsafe {
        let instance = &gpu.instance;
        let limits = instance.get_physical_device_image_format_properties(
            gpu.physical,
            format.format,
            kind,
            tiling,
            usage,
            flags,
        );
        let limits = limits.map_err(|_| Outcome::NotSupported(format!("{:?}", format.format)))?;
        check(limits.max_mip_levels >= LEVELS, || "too few levels".into())?;
        let info = vk::ImageCreateInfo::default()
            .image_type(kind)
            .flags(flags)
            .format(format.format)
            .extent(extent)
            .mip_levels(LEVELS)
            .array_layers(LAYERS)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(tiling)
            .usage(usage);
        let handle = gpu.device.create_image(&info, None)?;
        let aspects = vk::ImageAspectFlags::COLOR;
        Ok(Image { handle, view: vk::ImageView::null(), extent, aspects, levels: LEVELS })
    }
}

/// Creates the image and binds it to memory of its own.
fn image(gpu: &Gpu, format: Format, usage: vk::ImageUsageFlags) -> Result<Image, Outcome> {
    let image = unbound(gpu, format, usage, (vk::ImageTiling::OPTIMAL, vk::ImageCreateFlags::MUTABLE_FORMAT))?;
    gpu.bind_image(image.handle)?;
    Ok(image)
}

const ASPECT: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

fn layers(mip_level: u32, base_array_layer: u32, layer_count: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask: ASPECT, mip_level, base_array_layer, layer_count }
}

fn extent([width, height]: [u32; 2]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth: 1 }
}

/// Creates an image and fills every level and layer.
fn filled(gpu: &Gpu, format: Format, usage: vk::ImageUsageFlags) -> Result<Image, Outcome> {
    let image = image(gpu, format, usage | vk::ImageUsageFlags::TRANSFER_DST)?;
    fill(gpu, format, &image, 0)?;
    Ok(image)
}

/// Fills every level and layer of an image with blocks that are numbered from `first` on.
fn fill(gpu: &Gpu, format: Format, image: &Image, first: u32) -> Case {
    gpu.to_general(image.handle)?;
    for level in 0..LEVELS {
        let (data, [length, height]) = level_data(format, level, first);
        let buffer = gpu.buffer_with(&data)?;
        let region = vk::BufferImageCopy {
            buffer_row_length: length,
            buffer_image_height: height,
            image_subresource: layers(level, 0, LAYERS),
            image_extent: extent(level_size(level)),
            ..Default::default()
        };
        gpu.run(|commands| {
            // SAFETY: the image is in the general layout, and the buffer holds all of the region.
            unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, GENERAL, &[region]) };
            gpu.barrier(commands, None);
        })?;
    }
    Ok(())
}

/// Draws a level and layer with one pixel for each texel.
fn drawn(gpu: &Gpu, format: Format, image: &Image, level: u32, layer: u32) -> Result<Vec<[u8; 4]>, Outcome> {
    let draw = draw(gpu, format, image, Subresource { level, layer }, [0; 2])?;
    render(gpu, &Target { size: level_size(level), ..Target::default() }, &[draw])
}

/// A level and a layer of an image.
#[derive(Clone, Copy)]
struct Subresource {
    level: u32,
    layer: u32,
}

/// Returns a draw that samples an image, to pixels from `[x, y]` on.
fn draw(
    gpu: &Gpu,
    format: Format,
    image: &Image,
    Subresource { level, layer }: Subresource,
    [x, y]: [u32; 2],
) -> Result<Draw, Outcome> {
    let range = vk::ImageSubresourceRange {
        aspect_mask: ASPECT,
        base_mip_level: level,
        level_count: 1,
        base_array_layer: layer,
        layer_count: 1,
    };
    let info = vk::ImageViewCreateInfo::default().image(image.handle).view_type(vk::ImageViewType::TYPE_2D);
    // SAFETY: valid infos.
    let (view, sampler) = unsafe {
        let view = gpu.device.create_image_view(&info.format(format.format).subresource_range(range), None)?;
        (view, gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None)?)
    };
    let size = level_size(level);
    let (width, height) = (size[0] as f32, size[1] as f32);
    let state = State {
        fragment: TEXTURE,
        viewport: vk::Viewport { x: x as f32, y: y as f32, width, height, min_depth: 0.0, max_depth: 1.0 },
        scissor: vk::Rect2D {
            offset: vk::Offset2D { x: x as i32, y: y as i32 },
            extent: vk::Extent2D { width: size[0], height: size[1] },
        },
        ..State::default()
    };
    Ok(Draw { image: Some(SampledImage { view, sampler, layout: GENERAL }), ..Draw::rect(state, FULL, [1.0; 4]) })
}

/// Compares pixels with the numbers of the blocks that they lie in.
fn check_pixels(format: Format, size: [u32; 2], pixels: &[[u8; 4]], number: impl Fn([u32; 2]) -> u32) -> Case {
    for (pixel, (y, x)) in pixels.iter().zip((0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (y, x)))) {
        let (_, texel) = block(format, number([x / format.block[0], y / format.block[1]]));
        let good =
            pixel.iter().zip(texel).all(|(&code, value)| (f32::from(code) - value.max(0.0) * 255.0).abs() <= 1.0);
        check(good, || format!("({x}, {y}): {pixel:?} instead of {texel:?}"))?;
    }
    Ok(())
}

/// Samples every level and layer.
fn sampled(gpu: &Gpu, format: Format) -> Case {
    let image = filled(gpu, format, vk::ImageUsageFlags::SAMPLED)?;
    for (level, layer) in (0..LEVELS).flat_map(|level| (0..LAYERS).map(move |layer| (level, layer))) {
        let pixels = drawn(gpu, format, &image, level, layer)?;
        check_pixels(format, level_size(level), &pixels, |place| number(level, layer, place))
            .map_err(|outcome| at_level(outcome, level, layer))?;
    }
    Ok(())
}

/// Samples an image of a linear format through an sRGB view.
fn viewed_as_srgb(gpu: &Gpu, format: Format) -> Case {
    let linear = Format { format: F::from_raw(format.format.as_raw() - 1), srgb: false, ..format };
    let image = filled(gpu, linear, vk::ImageUsageFlags::SAMPLED)?;
    check_pixels(format, SIZE, &drawn(gpu, format, &image, 0, 1)?, |place| number(0, 1, place))
}

fn at_level(outcome: Outcome, level: u32, layer: u32) -> Outcome {
    match outcome {
        Outcome::Fail(text) => Outcome::Fail(format!("level {level}, layer {layer}: {text}")),
        other => other,
    }
}

/// Copies all whole blocks but the first column through an image with a texel for each block to
/// another image.
fn copied(gpu: &Gpu, format: Format) -> Case {
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::SAMPLED;
    let (source, target) = (filled(gpu, format, usage)?, filled(gpu, format, usage)?);
    // Only whole blocks: blocks at the image's edges have no counterpart among texels.
    let [across, down] = [SIZE[0] / format.block[0] - 1, SIZE[1] / format.block[1]];
    let size = extent([across * format.block[0], down * format.block[1]]);
    let texel = if format.bytes() == 8 { F::R32G32_UINT } else { F::R32G32B32A32_UINT };
    let transfer = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let between = gpu.image(&crate::harness::ImageDesc::color(texel, [across, down], transfer))?;
    gpu.to_general(between.handle)?;
    let to_texels = vk::ImageCopy {
        src_subresource: layers(0, 1, 1),
        src_offset: vk::Offset3D { x: format.block[0] as i32, ..Default::default() },
        dst_subresource: layers(0, 0, 1),
        extent: size,
        ..Default::default()
    };
    let to_blocks = vk::ImageCopy {
        src_subresource: layers(0, 0, 1),
        dst_subresource: layers(0, 0, 1),
        extent: extent([across, down]),
        ..Default::default()
    };
    let buffer = gpu.buffer(u64::from(across * down * format.bytes()))?;
    let region = vk::BufferImageCopy { image_subresource: layers(0, 0, 1), image_extent: size, ..Default::default() };
    gpu.run(|commands| {
        let device = &gpu.device;
        // SAFETY: all images are in the general layout, and the regions lie in them.
        unsafe {
            device.cmd_copy_image(commands, source.handle, GENERAL, between.handle, GENERAL, &[to_texels]);
            gpu.barrier(commands, None);
            device.cmd_copy_image(commands, between.handle, GENERAL, target.handle, GENERAL, &[to_blocks]);
            gpu.barrier(commands, None);
            device.cmd_copy_image_to_buffer(commands, target.handle, GENERAL, buffer.handle, &[region]);
        }
        gpu.barrier(commands, None);
    })?;
    let moved = |[x, y]: [u32; 2]| if x < across && y < down { number(0, 1, [x + 1, y]) } else { number(0, 0, [x, y]) };
    let places = (0..down).flat_map(|y| (0..across).map(move |x| [x, y]));
    let expected: Vec<u8> = places.flat_map(|place| block(format, moved(place)).0).collect();
    check(buffer.read(0, expected.len()) == expected, || "blocks changed on the way".into())?;
    check_pixels(format, SIZE, &drawn(gpu, format, &target, 0, 0)?, moved)
}

/// Blits from a level to an uncompressed image of its size.
fn blitted(gpu: &Gpu, format: Format) -> Case {
    let source = filled(gpu, format, vk::ImageUsageFlags::TRANSFER_SRC)?;
    let transfer = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let size = level_size(1);
    let target = gpu.image(&crate::harness::ImageDesc::color(F::R8G8B8A8_UNORM, size, transfer))?;
    gpu.to_general(target.handle)?;
    let corner = vk::Offset3D { x: size[0] as i32, y: size[1] as i32, z: 1 };
    let region = vk::ImageBlit {
        src_subresource: layers(1, 1, 1),
        dst_subresource: layers(0, 0, 1),
        src_offsets: [vk::Offset3D::default(), corner],
        dst_offsets: [vk::Offset3D::default(), corner],
    };
    let buffer = gpu.buffer(u64::from(size[0] * size[1] * 4))?;
    let out =
        vk::BufferImageCopy { image_subresource: layers(0, 0, 1), image_extent: extent(size), ..Default::default() };
    gpu.run(|commands| {
        let (device, filter) = (&gpu.device, vk::Filter::NEAREST);
        // SAFETY: both images are in the general layout, and the regions lie in them.
        unsafe {
            device.cmd_blit_image(commands, source.handle, GENERAL, target.handle, GENERAL, &[region], filter);
            gpu.barrier(commands, None);
            device.cmd_copy_image_to_buffer(commands, target.handle, GENERAL, buffer.handle, &[out]);
        }
        gpu.barrier(commands, None);
    })?;
    let bytes = buffer.read(0, (size[0] * size[1] * 4) as usize);
    let pixels: Vec<[u8; 4]> = bytes.chunks_exact(4).map(|texel| [texel[0], texel[1], texel[2], texel[3]]).collect();
    check_pixels(format, size, &pixels, |place| number(1, 1, place))
}
