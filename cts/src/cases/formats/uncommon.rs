//! Formats beyond the required ones: 64-bit components, texels of three components, scaled
//! integers, compressed blocks in linear images.

use ash::vk;
use ash::vk::{DescriptorType as D, Format as F};

use crate::Entry;
use crate::cases::support::conditions::supports;
use crate::harness::{Buffer, Case, Gpu, ImageDesc, Outcome, Transition, check, layers};
use crate::render::{Draw, FULL, Kind, SampledImage, State, TEXTURE, Target, WIDE_VERTICES, render};

const IMAGES: &[u8] = shader!("wide_images.comp");
const TEXELS: &[u8] = shader!("wide_texels.comp");
const BUFFERS: &[u8] = shader!("texel_buffers.comp");

/// Texel buffer formats: of floats, and of signed and unsigned integers of the same size; bits of
/// a component, and the order of the three components in memory.
type Texels = (&'static str, [F; 3], u32, [usize; 3]);

const TEXEL_BUFFERS: &[Texels] = &[
    ("r8g8b8", [F::R8G8B8_UNORM, F::R8G8B8_SINT, F::R8G8B8_UINT], 8, [0, 1, 2]),
    ("b8g8r8", [F::B8G8R8_UNORM, F::B8G8R8_SINT, F::B8G8R8_UINT], 8, [2, 1, 0]),
    ("r8g8b8_srgb", [F::R8G8B8_SRGB, F::R8G8B8_SINT, F::R8G8B8_UINT], 8, [0, 1, 2]),
    ("b8g8r8_srgb", [F::B8G8R8_SRGB, F::B8G8R8_SINT, F::B8G8R8_UINT], 8, [2, 1, 0]),
    ("r16g16b16", [F::R16G16B16_UNORM, F::R16G16B16_SINT, F::R16G16B16_UINT], 16, [0, 1, 2]),
    ("r16g16b16_float", [F::R16G16B16_SFLOAT, F::R16G16B16_SINT, F::R16G16B16_UINT], 16, [0, 1, 2]),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for texels in TEXEL_BUFFERS {
        let run = move |gpu: &Gpu| three_components(gpu, texels);
        cases.push(Entry::new(format!("wide.three.{}", texels.0), "Buffer Views", run));
    }
    for (name, format) in [("uint", F::R32G32B32_UINT), ("sint", F::R32G32B32_SINT), ("sfloat", F::R32G32B32_SFLOAT)] {
        let run = move |gpu: &Gpu| words_of_three(gpu, format);
        cases.push(Entry::new(format!("wide.words.copied_{name}"), "Copy Commands", run));
    }
    let scaled = [("r8_uscaled", F::R8_USCALED, 1), ("r16g16b16a16_sscaled", F::R16G16B16A16_SSCALED, 8)];
    for (name, format, bytes) in scaled {
        let run = move |gpu: &Gpu| blitted(gpu, format, bytes);
        cases.push(Entry::new(format!("wide.scaled.{name}"), "Image Copies With Scaling", run));
    }
    for (name, format) in [("bc1", F::BC1_RGBA_UNORM_BLOCK), ("bc4", F::BC4_UNORM_BLOCK)] {
        let run = move |gpu: &Gpu| linear_blocks(gpu, format);
        cases.push(Entry::new(format!("wide.linear.{name}"), "Linear Tiling", run));
    }
}

/// Returns the features of a format in buffers.
fn buffer_features(gpu: &Gpu, format: F) -> vk::FormatFeatureFlags {
    // SAFETY: the physical device is valid.
    unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) }.buffer_features
}

fn longs(buffer: &Buffer) -> Vec<u64> {
    let long = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    buffer.words().chunks_exact(2).map(long).collect()
}

/// Returns a pseudo-random word.
fn mixed(number: u64) -> u64 {
    number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 7
}

case!("wide.vertices.locations", "Vertex Attributes", vertices);

/// Reads doubles and 64-bit integers of one to four components at their own offsets.
fn vertices(gpu: &Gpu) -> Case {
    let has = |format| buffer_features(gpu, format).contains(vk::FormatFeatureFlags::VERTEX_BUFFER);
    let formats = [F::R64G64B64A64_SFLOAT, F::R64G64B64_SINT, F::R64G64_UINT, F::R64_SFLOAT];
    let features = gpu.features.shader_float64 & gpu.features.shader_int64;
    if !formats.into_iter().all(has) || features & gpu.features.vertex_pipeline_stores_and_atomics == 0 {
        return Err(Outcome::NotSupported("attributes of 64 bits".into()));
    }
    let count = 37;
    // A vertex: four doubles at offset 8, one at 40, three integers at 48, two at 72, and a word
    // at 88.
    let words: Vec<u64> = (0..count * 12).map(mixed).collect();
    let out = gpu.buffer(count * 11 * 8)?;
    let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&words)?, count: count as u32 };
    let state = State { vertex: WIDE_VERTICES, topology: vk::PrimitiveTopology::POINT_LIST, ..State::default() };
    render(gpu, &Target::default(), &[Draw { kind, storage: Some(out), ..Draw::rect(state, FULL, [1.0; 4]) }])?;
    let expected: Vec<u64> = words
        .chunks_exact(12)
        .flat_map(|vertex| [&vertex[1..5], &vertex[6..11], &vertex[5..6], &[vertex[11] & 0xffff_ffff]].concat())
        .collect();
    let got = longs(&out);
    let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
    check(wrong.is_none(), || format!("word {wrong:?} of {}", expected.len()))
}

fn int64_images(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SHADER_IMAGE_ATOMIC_INT64_NAME)?;
    match gpu.extension_features.image_atomic_int64.shader_image_int64_atomics & gpu.features.shader_int64 {
        0 => Err(Outcome::NotSupported("atomics on images of 64 bits".into())),
        _ => Ok(()),
    }
}

/// Creates a view of `range` bytes of a buffer from `offset` on.
fn view(gpu: &Gpu, buffer: &Buffer, format: F, offset: u64, range: u64) -> Result<vk::BufferView, Outcome> {
    let info = vk::BufferViewCreateInfo::default().buffer(buffer.handle).format(format).offset(offset).range(range);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_buffer_view(&info, None) }?)
}

/// The resource of a descriptor.
enum Resource {
    Image(vk::ImageView),
    Texels(D, vk::BufferView),
    Storage(Buffer),
}

/// Runs a compute shader with descriptors at bindings 0 and up.
fn dispatch(gpu: &Gpu, code: &[u8], what: &[Resource], groups: u32) -> Case {
    let kind = |what: &Resource| match what {
        Resource::Image(_) => D::STORAGE_IMAGE,
        Resource::Texels(kind, _) => *kind,
        Resource::Storage(_) => D::STORAGE_BUFFER,
    };
    let kinds: Vec<D> = what.iter().map(kind).collect();
    let (set_layout, set) = gpu.set(&kinds)?;
    for (binding, what) in what.iter().enumerate() {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
        let write = write.descriptor_type(kinds[binding]);
        let (mut image, mut buffer, mut texels) = (Default::default(), Default::default(), Default::default());
        match what {
            Resource::Image(view) => {
                image = [vk::DescriptorImageInfo::default().image_view(*view).image_layout(vk::ImageLayout::GENERAL)];
            }
            Resource::Texels(_, view) => texels = [*view],
            Resource::Storage(bound) => {
                buffer = [vk::DescriptorBufferInfo { buffer: bound.handle, offset: 0, range: vk::WHOLE_SIZE }];
            }
        }
        let write = match what {
            Resource::Image(_) => write.image_info(&image),
            Resource::Texels(..) => write.texel_buffer_view(&texels),
            Resource::Storage(_) => write.buffer_info(&buffer),
        };
        // SAFETY: the write is valid, and the set is not in use.
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    }
    gpu.dispatch(&gpu.compute_with(code, None, (set_layout, set))?, &[], [groups, 1, 1])
}

/// Creates a storage image of 64-bit integers, all of one value.
fn long_image(gpu: &Gpu, format: F, value: u64) -> Result<(crate::harness::Image, vk::ImageView), Outcome> {
    let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc::color(format, [64, 3], usage))?;
    let aspect = vk::ImageAspectFlags::COLOR;
    let info = vk::ImageViewCreateInfo::default()
        .image(image.handle)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(crate::harness::range(aspect, 0, 1));
    let clear = vk::ClearColorValue { uint32: [value as u32, (value >> 32) as u32, 0, 0] };
    let general = vk::ImageLayout::GENERAL;
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: general }));
        let all = [crate::harness::range(aspect, 0, 1)];
        // SAFETY: the image is in the layout named.
        unsafe { gpu.device.cmd_clear_color_image(commands, image.handle, general, &clear, &all) };
        gpu.barrier(commands, Some(Transition { image: &image, from: general, to: general }));
    })?;
    // SAFETY: the info is valid.
    Ok((image, unsafe { gpu.device.create_image_view(&info, None) }?))
}

fn image_longs(gpu: &Gpu, image: &crate::harness::Image) -> Result<Vec<u64>, Outcome> {
    let (general, source) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    gpu.run(|commands| gpu.barrier(commands, Some(Transition { image, from: general, to: source })))?;
    let bytes = gpu.read_image(image, vk::ImageAspectFlags::COLOR, 8)?;
    Ok(bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or([0; 8]))).collect())
}

case!("wide.images.atomics", "VK_EXT_shader_image_atomic_int64", image_atomics);

/// Runs every atomic, a store and a load on images and on a texel buffer.
fn image_atomics(gpu: &Gpu) -> Case {
    int64_images(gpu)?;
    let (start, below) = (0xffff_fffe_0000_0005u64, -7i64);
    let (first, view_of_first) = long_image(gpu, F::R64_UINT, start)?;
    let (second, view_of_second) = long_image(gpu, F::R64_SINT, below as u64)?;
    let texels = gpu.buffer(66 * 8)?;
    let out = gpu.buffer(64 * 3 * 8)?;
    let view_of_texels = view(gpu, &texels, F::R64_UINT, 0, vk::WHOLE_SIZE)?;
    let what = [
        Resource::Image(view_of_first),
        Resource::Image(view_of_second),
        Resource::Texels(D::STORAGE_TEXEL_BUFFER, view_of_texels),
        Resource::Storage(out),
    ];
    dispatch(gpu, IMAGES, &what, 1)?;
    let values = || (0..64u64).map(|lane| lane << 31 | lane);
    let sum = values().sum::<u64>();
    let squares = values().fold(start, |all, value| all ^ value.wrapping_mul(value));
    let most = values().fold(start, u64::max);
    let least = values().fold(start, |all, value| all.min(!value));
    let mut expected = vec![start; 64 * 3];
    expected[..6].copy_from_slice(&[start.wrapping_add(sum), most, least, u64::MAX, 0, squares]);
    for (lane, value) in values().enumerate() {
        expected[64 + lane] = value;
    }
    let got = image_longs(gpu, &first)?;
    let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
    check(wrong.is_none(), || format!("texel {wrong:?} of {got:x?}"))?;
    let mut expected = vec![below; 64 * 3];
    let greatest = values().map(|value| -(value as i64)).fold(below, i64::min);
    expected[64 + 6..][..3].copy_from_slice(&[greatest, -1, below - sum as i64]);
    expected[128..].fill(9);
    let got: Vec<i64> = image_longs(gpu, &second)?.into_iter().map(|value| value as i64).collect();
    check(got == expected, || format!("{got:x?} instead of {expected:x?}"))?;
    let step = 0x1_0000_0001u64;
    let expected: Vec<u64> = [sum, 64 * step].into_iter().chain((1..=64).map(|lane| lane * step)).collect();
    check(longs(&texels) == expected, || format!("{:x?} instead of {expected:x?}", longs(&texels)))?;
    let expected: Vec<u64> = (0..64).flat_map(|lane| [(63 - lane) << 31 | (63 - lane), 1, 0]).collect();
    check(longs(&out) == expected, || format!("{:x?} instead of {expected:x?}", longs(&out)))
}

case!("wide.images.cleared", "Clearing Images", cleared);

/// Clears to a 64-bit value, and copies to a format of the same size.
fn cleared(gpu: &Gpu) -> Case {
    int64_images(gpu)?;
    let value = 0x8123_4567_89ab_cdefu64;
    for format in [F::R64_UINT, F::R64_SINT] {
        let (image, _) = long_image(gpu, format, value)?;
        let got = image_longs(gpu, &image)?;
        check(got.iter().all(|&got| got == value), || format!("{format:?}: {got:x?}"))?;
    }
    Ok(())
}

case!("wide.texels.fetched", "VK_EXT_shader_image_atomic_int64", fetched);

/// Fetches uniform texels of 64 bits. Texels behind the end are zeros.
fn fetched(gpu: &Gpu) -> Case {
    int64_images(gpu)?;
    if !buffer_features(gpu, F::R64_SINT).contains(vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER) {
        return Err(Outcome::NotSupported("texels of 64 bits".into()));
    }
    let words: Vec<u64> = (0..17).map(mixed).collect();
    let (source, out) = (gpu.buffer_with(&words)?, gpu.buffer(16 * 4 * 8)?);
    let texels = view(gpu, &source, F::R64_SINT, 8, 13 * 8)?;
    dispatch(gpu, TEXELS, &[Resource::Texels(D::UNIFORM_TEXEL_BUFFER, texels), Resource::Storage(out)], 1)?;
    let texel = |lane: usize| [if lane < 13 { words[lane + 1] } else { 0 }, 0, 0, 1];
    let expected: Vec<u64> = (0..16).flat_map(texel).collect();
    check(longs(&out) == expected, || format!("{:x?} instead of {expected:x?}", longs(&out)))
}

/// Runs the shader that fetches 16 texels as floats and integers, and returns four words of each
/// type for each texel.
fn fetch_all(gpu: &Gpu, buffer: &Buffer, formats: [F; 3], offset: u64, range: u64) -> Result<Vec<[u32; 4]>, Outcome> {
    let out = gpu.buffer(16 * 3 * 16)?;
    let mut what = Vec::new();
    for format in formats {
        if !buffer_features(gpu, format).contains(vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER) {
            return Err(Outcome::NotSupported(format!("texels of {format:?}")));
        }
        what.push(Resource::Texels(D::UNIFORM_TEXEL_BUFFER, view(gpu, buffer, format, offset, range)?));
    }
    what.push(Resource::Storage(out));
    dispatch(gpu, BUFFERS, &what, 1)?;
    Ok(out.words().chunks_exact(4).map(|words| [words[0], words[1], words[2], words[3]]).collect())
}

/// Returns offsets of texel buffers that are multiples of `bytes`.
fn offsets(gpu: &Gpu, bytes: u64) -> Vec<u64> {
    let mut alignment = vk::PhysicalDeviceTexelBufferAlignmentProperties::default();
    if gpu.has(vk::EXT_TEXEL_BUFFER_ALIGNMENT_NAME) {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut alignment);
        // SAFETY: the structures are valid.
        unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    }
    match alignment.uniform_texel_buffer_offset_single_texel_alignment {
        0 => vec![0, 256],
        _ => (0..5).map(|number| number * bytes).chain([256]).collect(),
    }
}

/// Fetches texels of three small components at any offset. The last texel ends with the buffer.
fn three_components(gpu: &Gpu, &(_, formats, bits, order): &Texels) -> Case {
    let bytes = u64::from(bits / 8);
    let data: Vec<u8> = (0..256 + 16 * 6 + 16).map(|index: u64| (mixed(index) >> 40) as u8).collect();
    for offset in offsets(gpu, bytes) {
        let range = 13 * 3 * bytes;
        let buffer = gpu.buffer_with(&data[..(offset + range) as usize])?;
        let got = fetch_all(gpu, &buffer, formats, offset, range)?;
        for texel in 0..16usize {
            let code = |place: usize| {
                let at = offset as usize + (texel * 3 + place) * bytes as usize;
                let code = if bits == 8 { u16::from(data[at]) } else { u16::from_le_bytes([data[at], data[at + 1]]) };
                if texel < 13 { code } else { 0 }
            };
            for (component, &place) in order.iter().enumerate() {
                let code = code(place);
                let signed = if bits == 8 { i32::from(code as u8 as i8) } else { i32::from(code as i16) };
                let integers = [got[texel * 3 + 1][component], got[texel * 3 + 2][component]];
                let float = f32::from_bits(got[texel * 3][component]);
                let good = integers == [signed as u32, code.into()] && is_decoded(formats[0], float, code, bits);
                check(good, || format!("texel {texel}, {component}, from {offset} on: {integers:?}, {float}"))?;
            }
            let alphas = [0, 1, 2].map(|kind| got[texel * 3 + kind][3]);
            check(alphas == [1.0f32.to_bits(), 1, 1], || format!("texel {texel}: alphas {alphas:?}"))?;
        }
    }
    Ok(())
}

/// Returns true if a float is the value of a code.
fn is_decoded(format: F, float: f32, code: u16, bits: u32) -> bool {
    let share = f32::from(code) / ((1u32 << bits) - 1) as f32;
    let linear = match format {
        F::R8G8B8_SRGB | F::B8G8R8_SRGB if share <= 0.04045 => share / 12.92,
        F::R8G8B8_SRGB | F::B8G8R8_SRGB => ((share + 0.055) / 1.055).powf(2.4),
        F::R16G16B16_SFLOAT => {
            let (exponent, mantissa) = (code >> 10 & 31, f32::from(code & 0x3ff));
            let magnitude = match exponent {
                31 if mantissa == 0.0 => f32::INFINITY,
                31 => return float.is_nan(),
                0 => mantissa * 2f32.powi(-24),
                _ => (mantissa + 1024.0) * 2f32.powi(i32::from(exponent) - 25),
            };
            let value = if code >> 15 == 0 { magnitude } else { -magnitude };
            return float == value;
        }
        _ => share,
    };
    (float - linear).abs() < 1e-6
}

case!("wide.texels.single_alignment", "Buffer Views", single_alignment);

/// Creates views of small texels that begin at any texel.
fn single_alignment(gpu: &Gpu) -> Case {
    let data: Vec<u8> = (0..64u64).map(|index| (mixed(index) >> 40) as u8).collect();
    let buffer = gpu.buffer_with(&data)?;
    for offset in offsets(gpu, 1).into_iter().filter(|offset| *offset < 16) {
        let got = fetch_all(gpu, &buffer, [F::R8_UNORM, F::R8_SINT, F::R8_UINT], offset, 16)?;
        let codes: Vec<u8> = (0..16).map(|texel| got[texel * 3 + 2][0] as u8).collect();
        check(codes == data[offset as usize..][..16], || format!("bytes from {offset} on: {codes:?}"))?;
        let offset = offset * 2;
        let got = fetch_all(gpu, &buffer, [F::R8G8_UNORM, F::R8G8_SINT, F::R8G8_UINT], offset, 32)?;
        let codes: Vec<u8> = (0..16).flat_map(|texel| [0, 1].map(|part| got[texel * 3 + 2][part] as u8)).collect();
        check(codes == data[offset as usize..][..32], || format!("pairs from {offset} on: {codes:?}"))?;
    }
    Ok(())
}

case!("wide.cubes.largest", "Image Limits", largest_cube);

/// Creates an image as large as the limit of cubes permits.
fn largest_cube(gpu: &Gpu) -> Case {
    // SAFETY: the physical device and the infos of this block are valid.
    let limits = unsafe { gpu.instance.get_physical_device_properties(gpu.physical) }.limits;
    let side = limits.max_image_dimension_cube;
    let (kind, tiling) = (vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
    let (usage, flags) = (vk::ImageUsageFlags::SAMPLED, vk::ImageCreateFlags::CUBE_COMPATIBLE);
    let (instance, format) = (&gpu.instance, F::R8_UNORM);
    // SAFETY: the physical device is valid, and so is the info.
    let properties = unsafe {
        instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, flags)
    }?;
    let fits = properties.max_extent.width >= side && properties.max_extent.height >= side;
    check(fits, || format!("{:?} for {side}", properties.max_extent))?;
    let levels = 32 - side.leading_zeros();
    check(properties.max_mip_levels >= levels, || format!("{} levels", properties.max_mip_levels))?;
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .flags(flags)
        .format(format)
        .extent(vk::Extent3D { width: side, height: side, depth: 1 })
        .mip_levels(levels)
        .array_layers(6)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    // SAFETY: the infos are valid; the image is used by nobody.
    let needs = unsafe {
        let image = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(image);
        gpu.device.destroy_image(image, None);
        needs
    };
    check(needs.size >= 6 * u64::from(side).pow(2), || format!("{} bytes", needs.size))
}

/// Copies texels of three words to an image and back, and from image to image.
fn words_of_three(gpu: &Gpu, format: F) -> Case {
    if !supports(gpu, format, vk::FormatFeatureFlags::SAMPLED_IMAGE | vk::FormatFeatureFlags::TRANSFER_SRC)? {
        return Err(Outcome::NotSupported(format!("images of {format:?}")));
    }
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let desc = ImageDesc::color(format, [19, 11], usage);
    let (first, second) = (gpu.image(&desc)?, gpu.image(&desc)?);
    let data: Vec<u8> = (0..19 * 11 * 12u64).map(|index| (mixed(index) >> 40) as u8).collect();
    let aspect = vk::ImageAspectFlags::COLOR;
    let (source, target) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    gpu.write_image(&first, aspect, &data, source)?;
    let (subresource, extent) = (layers(aspect), first.extent);
    let region =
        [vk::ImageCopy { src_subresource: subresource, dst_subresource: subresource, extent, ..Default::default() }];
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &second, from: vk::ImageLayout::UNDEFINED, to: target }));
        // SAFETY: both images are in the layouts named, and the region lies in both.
        unsafe { gpu.device.cmd_copy_image(commands, first.handle, source, second.handle, target, &region) };
        gpu.barrier(commands, Some(Transition { image: &second, from: target, to: source }));
    })?;
    check(gpu.read_image(&second, aspect, 12)? == data, || "texels changed on the way".into())
}

case!("wide.words.sampled", "Image Operations", sampled_words);

/// Samples texels of three floats, with linear filtering where the device supports it.
fn sampled_words(gpu: &Gpu) -> Case {
    let format = F::R32G32B32_SFLOAT;
    if !supports(gpu, format, vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR)? {
        return Err(Outcome::NotSupported("filtered texels of three floats".into()));
    }
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(format, [8, 8], usage))?;
    let texel = |x: u32, y: u32| [x as f32 / 8.0, y as f32 / 8.0, 0.5];
    let data: Vec<f32> = (0..64).flat_map(|index| texel(index % 8, index / 8)).collect();
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.write_image(&image, vk::ImageAspectFlags::COLOR, bytemuck::cast_slice(&data), layout)?;
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&info, None) }?;
    let state = State { fragment: TEXTURE, ..State::default() };
    let draw =
        Draw { image: Some(SampledImage { view: image.view, sampler, layout }), ..Draw::rect(state, FULL, [1.0; 4]) };
    let pixels = render(gpu, &Target::default(), &[draw])?;
    for (index, pixel) in (0u32..).zip(&pixels) {
        // Two pixels for each texel: their centres lie a quarter of a texel beside the texel's
        // centre.
        let at = |pixel: u32| ((pixel as f32 + 0.5) / 2.0 - 0.5).clamp(0.0, 7.0) / 8.0;
        let wanted = [at(index % 16), at(index / 16), 0.5, 1.0].map(|value| value * 255.0);
        let near = pixel.iter().zip(wanted).all(|(&got, wanted)| (f32::from(got) - wanted).abs() <= 1.0);
        check(near, || format!("pixel {index}: {pixel:?} instead of {wanted:?}"))?;
    }
    Ok(())
}

/// Blits numbers of a scaled format to floats and back.
fn blitted(gpu: &Gpu, format: F, bytes: u32) -> Case {
    let wanted = vk::FormatFeatureFlags::BLIT_SRC | vk::FormatFeatureFlags::BLIT_DST;
    if !supports(gpu, format, wanted | vk::FormatFeatureFlags::TRANSFER_SRC | vk::FormatFeatureFlags::TRANSFER_DST)? {
        return Err(Outcome::NotSupported(format!("blits of {format:?}")));
    }
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = |format| gpu.image(&ImageDesc::color(format, [16, 16], usage));
    let (first, floats, last) = (image(format)?, image(F::R32G32B32A32_SFLOAT)?, image(format)?);
    let data: Vec<u8> = (0..256 * u64::from(bytes)).map(|index| (mixed(index) >> 40) as u8).collect();
    let aspect = vk::ImageAspectFlags::COLOR;
    let (source, target) = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    gpu.write_image(&first, aspect, &data, source)?;
    let corners = [vk::Offset3D::default(), vk::Offset3D { x: 16, y: 16, z: 1 }];
    let region = [vk::ImageBlit {
        src_subresource: layers(aspect),
        dst_subresource: layers(aspect),
        src_offsets: corners,
        dst_offsets: corners,
    }];
    for (from, to) in [(&first, &floats), (&floats, &last)] {
        gpu.run(|commands| {
            gpu.barrier(commands, Some(Transition { image: to, from: vk::ImageLayout::UNDEFINED, to: target }));
            let filter = vk::Filter::NEAREST;
            // SAFETY: both images are in the layouts named, and the region lies in both.
            unsafe { gpu.device.cmd_blit_image(commands, from.handle, source, to.handle, target, &region, filter) };
            gpu.barrier(commands, Some(Transition { image: to, from: target, to: source }));
        })?;
    }
    let between = gpu.read_image(&floats, aspect, 16)?;
    for (number, code) in data.chunks_exact(bytes as usize).enumerate() {
        let red = f32::from_le_bytes(between[number * 16..][..4].try_into().unwrap_or([0; 4]));
        let wanted = if bytes == 1 { f32::from(code[0]) } else { f32::from(i16::from_le_bytes([code[0], code[1]])) };
        check(red == wanted, || format!("texel {number}: {red} instead of {wanted}"))?;
    }
    check(gpu.read_image(&last, aspect, bytes)? == data, || "numbers changed on the way".into())
}

/// Writes blocks into a linear image on the host, row by row, and samples them.
fn linear_blocks(gpu: &Gpu, format: F) -> Case {
    let (kind, tiling) = (vk::ImageType::TYPE_2D, vk::ImageTiling::LINEAR);
    let (usage, flags) = (vk::ImageUsageFlags::SAMPLED, vk::ImageCreateFlags::empty());
    // SAFETY: the physical device and the infos of this block are valid, and memory is bound
    // once.
    let properties = unsafe {
        gpu.instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, flags)
    };
    let _limits = properties.map_err(|_| Outcome::NotSupported(format!("linear images of {format:?}")))?;
    let extent = vk::Extent3D { width: 16, height: 16, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(tiling)
        .usage(usage)
        .initial_layout(vk::ImageLayout::PREINITIALIZED);
    let (aspects, block) = (vk::ImageAspectFlags::COLOR, 8);
    // SAFETY: the infos are valid, and memory is bound once; the host writes inside of the
    // mapped range, before anybody reads.
    let image = unsafe {
        let handle = gpu.device.create_image(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_image_memory_requirements(handle), true)?;
        gpu.device.bind_image_memory(handle, memory, 0)?;
        let subresource = vk::ImageSubresource { aspect_mask: aspects, ..Default::default() };
        let layout = gpu.device.get_image_subresource_layout(handle, subresource);
        check(layout.row_pitch >= 4 * block, || format!("{layout:?}"))?;
        let pointer = gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u8>();
        for (y, x) in (0..4u64).flat_map(|y| (0..4).map(move |x| (y, x))) {
            let bytes = flat_block(format, (y * 4 + x) as u8);
            let at = layout.offset + y * layout.row_pitch + x * block;
            pointer.add(at as usize).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        let view = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(crate::harness::range(aspects, 0, 1));
        let view = gpu.device.create_image_view(&view, None)?;
        crate::harness::Image { handle, view, extent, aspects, levels: 1 }
    };
    let (before, layout) = (vk::ImageLayout::PREINITIALIZED, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
    gpu.run(|commands| gpu.barrier(commands, Some(Transition { image: &image, from: before, to: layout })))?;
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
    let state = State { fragment: TEXTURE, ..State::default() };
    let draw =
        Draw { image: Some(SampledImage { view: image.view, sampler, layout }), ..Draw::rect(state, FULL, [1.0; 4]) };
    let pixels = render(gpu, &Target::default(), &[draw])?;
    for (index, pixel) in pixels.iter().enumerate() {
        let number = (index / 64 * 4 + index % 16 / 4) as u8;
        let wanted = if format == F::BC4_UNORM_BLOCK {
            [number * 16, 0, 0, 255]
        } else {
            [0, 0, (number * 2) << 3 | (number * 2) >> 2, 255]
        };
        // Devices may round five bits differently.
        let near = pixel.iter().zip(wanted).all(|(&got, wanted)| got.abs_diff(wanted) <= 1);
        check(near, || format!("pixel {index}: {pixel:?} instead of {wanted:?}"))?;
    }
    Ok(())
}

/// Returns a block of one colour: red of 8 bits, or blue of 5.
fn flat_block(format: F, number: u8) -> [u8; 8] {
    match format {
        F::BC4_UNORM_BLOCK => [number * 16, number * 16, 0, 0, 0, 0, 0, 0],
        _ => [number * 2, 0, number * 2, 0, 0, 0, 0, 0],
    }
}
