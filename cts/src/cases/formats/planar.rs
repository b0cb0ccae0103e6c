//! Multi-planar formats: copies and views of planes, and conversion of luma and chroma. Views of
//! slices of volumes.
//!
//! Source: Vulkan specification, "Formats of multi-planar images", "Sampler Y'CbCr Conversion",
//! "Chroma Reconstruction".

use ash::vk;
use ash::vk::{Format as F, SamplerYcbcrModelConversion as Model, SamplerYcbcrRange as Range};

use crate::Entry;
use crate::harness::{Case, Gpu, Image, Outcome, Transition, check, range};
use crate::render::{Draw, FULL, SIZE, SampledImage, State, TEXTURE, Target, render};

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Modifier of images in rows of texels.
const LINEAR: u64 = 0;

const PLANES: [vk::ImageAspectFlags; 3] =
    [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::PLANE_2];

/// A format: planes, columns and rows of the image for each sample of chroma, bits and bytes of a
/// component.
#[derive(Clone, Copy)]
struct Format {
    format: F,
    planes: usize,
    block: [u32; 2],
    bits: u32,
    /// Formats of planes with one component, and with two.
    views: [F; 2],
    tiling: vk::ImageTiling,
}

impl Format {
    fn bytes(self) -> u32 {
        if self.bits == 8 { 1 } else { 2 }
    }

    /// Returns the width and height of a plane.
    fn size(self, plane: usize) -> [u32; 2] {
        if plane == 0 { [SIZE; 2] } else { self.block.map(|block| SIZE / block) }
    }

    fn components(self, plane: usize) -> u32 {
        if self.planes == 2 && plane == 1 { 2 } else { 1 }
    }
}

fn formats() -> Vec<(&'static str, Format)> {
    let tiling = vk::ImageTiling::OPTIMAL;
    let views = [F::R8_UNORM, F::R8G8_UNORM];
    let eight = |format, planes, block| Format { format, planes, block, bits: 8, views, tiling };
    let linear = |format, planes| Format { tiling: vk::ImageTiling::LINEAR, ..eight(format, planes, [2, 2]) };
    let modifier =
        |format, planes| Format { tiling: vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT, ..eight(format, planes, [2, 2]) };
    let ten = [F::R10X6_UNORM_PACK16, F::R10X6G10X6_UNORM_2PACK16];
    let sixteen = [F::R16_UNORM, F::R16G16_UNORM];
    vec![
        ("three_420", eight(F::G8_B8_R8_3PLANE_420_UNORM, 3, [2, 2])),
        ("two_420", eight(F::G8_B8R8_2PLANE_420_UNORM, 2, [2, 2])),
        ("three_422", eight(F::G8_B8_R8_3PLANE_422_UNORM, 3, [2, 1])),
        ("two_422", eight(F::G8_B8R8_2PLANE_422_UNORM, 2, [2, 1])),
        ("three_444", eight(F::G8_B8_R8_3PLANE_444_UNORM, 3, [1, 1])),
        ("two_444", eight(F::G8_B8R8_2PLANE_444_UNORM, 2, [1, 1])),
        (
            "three_420_10",
            Format { bits: 10, views: ten, ..eight(F::G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16, 3, [2, 2]) },
        ),
        (
            "two_420_10",
            Format { bits: 10, views: ten, ..eight(F::G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, 2, [2, 2]) },
        ),
        ("two_422_16", Format { bits: 16, views: sixteen, ..eight(F::G16_B16R16_2PLANE_422_UNORM, 2, [2, 1]) }),
        ("linear_three_420", linear(F::G8_B8_R8_3PLANE_420_UNORM, 3)),
        ("linear_two_420", linear(F::G8_B8R8_2PLANE_420_UNORM, 2)),
        ("modifier_three_420", modifier(F::G8_B8_R8_3PLANE_420_UNORM, 3)),
        ("modifier_two_420", modifier(F::G8_B8R8_2PLANE_420_UNORM, 2)),
    ]
}

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format) in formats() {
        let copied = move |gpu: &Gpu| copied(gpu, format);
        cases.push(Entry::new(format!("planar.copied.{name}"), "Copying Data Between Buffers and Images", copied));
        let viewed = move |gpu: &Gpu| viewed(gpu, format);
        cases.push(Entry::new(format!("planar.viewed.{name}"), "Compatible Formats of Planes", viewed));
        let converted = move |gpu: &Gpu| converted(gpu, format, Model::YCBCR_709, Range::ITU_NARROW);
        cases.push(Entry::new(format!("planar.converted.{name}"), "Sampler YCbCr Conversion", converted));
    }
    let models = [
        ("rgb_identity", Model::RGB_IDENTITY),
        ("ycbcr_identity", Model::YCBCR_IDENTITY),
        ("ycbcr_601", Model::YCBCR_601),
        ("ycbcr_2020", Model::YCBCR_2020),
    ];
    for (name, model) in models {
        let run = move |gpu: &Gpu| converted(gpu, formats()[1].1, model, Range::ITU_FULL);
        cases.push(Entry::new(format!("planar.model.{name}"), "Sampler YCbCr Model Conversion", run));
    }
    for (name, location) in [("midpoint", vk::ChromaLocation::MIDPOINT), ("cosited", vk::ChromaLocation::COSITED_EVEN)]
    {
        let run = move |gpu: &Gpu| reconstructed(gpu, location);
        cases.push(Entry::new(format!("planar.reconstruction.{name}"), "Chroma Reconstruction", run));
    }
    for slice in [0, 2] {
        let run = move |gpu: &Gpu| slice_of_volume(gpu, slice);
        cases.push(Entry::new(format!("planar.slices.slice{slice}"), "Image Views", run));
    }
}

fn subresource(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level: 0, base_array_layer: 0, layer_count: 1 }
}

fn image(gpu: &Gpu, info: &vk::ImageCreateInfo<'_>) -> Result<Image, Outcome> {
    let info = info.mip_levels(1).array_layers(1).samples(vk::SampleCountFlags::TYPE_1);
    let mut modifiers = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&[LINEAR]);
    let has_modifier = info.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
    let info = if has_modifier { info.push_next(&mut modifiers) } else { info };
    let handle = gpu.bound_image(&info)?;
    let aspects = vk::ImageAspectFlags::COLOR;
    let image = Image { handle, view: vk::ImageView::null(), extent: info.extent, aspects, levels: 1 };
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }))
    })?;
    Ok(image)
}

/// Returns the code of a component (0 luma, 1 blue, 2 red) at a position of its plane.
fn code(format: Format, component: usize, [x, y]: [u32; 2]) -> u32 {
    let start = [40, 90, 150][component] + (x * [9, 5, 3][component] + y * [4, 7, 2][component]) % 60;
    // The lower bits are used as well.
    start << (format.bits - 8) | (start & 7).min((1 << (format.bits - 8)) - 1)
}

fn plane_bytes(format: Format, plane: usize) -> Vec<u8> {
    let [width, height] = format.size(plane);
    let mut bytes = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for component in 0..format.components(plane) as usize {
            match (code(format, plane + component, [x, y]), format.bytes()) {
                (code, 1) => bytes.push(code as u8),
                (code, _) => bytes.extend(((code << (16 - format.bits)) as u16).to_le_bytes()),
            }
        }
    }
    bytes
}

/// Creates an image and fills its planes one after the other.
fn filled(gpu: &Gpu, format: Format) -> Result<Image, Outcome> {
    gpu.need(vk::KHR_SAMPLER_YCBCR_CONVERSION_NAME)?;
    if format.planes == 2 && format.block == [1; 2] {
        gpu.need(vk::EXT_YCBCR_2PLANE_444_FORMATS_NAME)?;
    }
    let (kind, tiling) = (vk::ImageType::TYPE_2D, format.tiling);
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
    let flags = vk::ImageCreateFlags::MUTABLE_FORMAT;
    let (instance, physical) = (&gpu.instance, gpu.physical);
    if tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT {
        gpu.need(vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME)?;
    } else {
        // SAFETY: the parameters are valid.
        let limits = unsafe {
            instance.get_physical_device_image_format_properties(physical, format.format, kind, tiling, usage, flags)
        };
        let limits = limits.map_err(|_| Outcome::NotSupported(format!("{:?}", format.format)))?;
        check(limits.max_extent.width >= SIZE, || "too small".into())?;
    }
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };
    let info = vk::ImageCreateInfo::default().image_type(kind).format(format.format).usage(usage).flags(flags);
    let image = image(gpu, &info.tiling(tiling).extent(extent))?;
    for plane in 0..format.planes {
        let buffer = gpu.buffer_with(&plane_bytes(format, plane))?;
        let region = plane_region(format, plane);
        gpu.run(|commands| {
            // SAFETY: the image is in the general layout, and the buffer holds all of the plane.
            unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, GENERAL, &[region]) };
            gpu.barrier(commands, None);
        })?;
    }
    Ok(image)
}

fn plane_region(format: Format, plane: usize) -> vk::BufferImageCopy {
    let [width, height] = format.size(plane);
    vk::BufferImageCopy {
        image_subresource: subresource(PLANES[plane]),
        image_extent: vk::Extent3D { width, height, depth: 1 },
        ..Default::default()
    }
}

/// Copies each plane to an image of its own format, and from there to a buffer.
fn copied(gpu: &Gpu, format: Format) -> Case {
    let source = filled(gpu, format)?;
    for plane in 0..format.planes {
        let region = plane_region(format, plane);
        let usage = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = vk::ImageCreateInfo::default().image_type(vk::ImageType::TYPE_2D).usage(usage);
        let info = info.format(format.views[format.components(plane) as usize - 1]).extent(region.image_extent);
        let target = image(gpu, &info)?;
        let expected = plane_bytes(format, plane);
        let buffer = gpu.buffer(expected.len() as u64)?;
        let color = subresource(vk::ImageAspectFlags::COLOR);
        let copy = vk::ImageCopy {
            src_subresource: region.image_subresource,
            dst_subresource: color,
            extent: region.image_extent,
            ..Default::default()
        };
        let out = vk::BufferImageCopy { image_subresource: color, ..region };
        gpu.run(|commands| {
            // SAFETY: both images are in the general layout, and the regions lie in them.
            unsafe {
                gpu.device.cmd_copy_image(commands, source.handle, GENERAL, target.handle, GENERAL, &[copy]);
                gpu.barrier(commands, None);
                gpu.device.cmd_copy_image_to_buffer(commands, target.handle, GENERAL, buffer.handle, &[out]);
            }
            gpu.barrier(commands, None);
        })?;
        check(buffer.read(0, expected.len()) == expected, || format!("plane {plane} changed on the way"))?;
    }
    Ok(())
}

fn drawn(gpu: &Gpu, view: vk::ImageView, sampler: vk::Sampler, fixed_sampler: bool) -> Result<Vec<[u8; 4]>, Outcome> {
    let state = State { fragment: TEXTURE, ..State::default() };
    let image = Some(SampledImage { view, sampler, layout: GENERAL });
    render(gpu, &Target::default(), &[Draw { image, fixed_sampler, ..Draw::rect(state, FULL, [1.0; 4]) }])
}

fn nearest() -> vk::SamplerCreateInfo<'static> {
    let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    vk::SamplerCreateInfo::default().address_mode_u(edge).address_mode_v(edge).address_mode_w(edge)
}

/// Samples planes through views of their own format.
fn viewed(gpu: &Gpu, format: Format) -> Case {
    let image = filled(gpu, format)?;
    for (plane, aspect) in PLANES.into_iter().enumerate().take(format.planes) {
        let components = format.components(plane) as usize;
        let info = vk::ImageViewCreateInfo::default().image(image.handle).view_type(vk::ImageViewType::TYPE_2D);
        let info = info.format(format.views[components - 1]).subresource_range(range(aspect, 0, 1));
        // SAFETY: the infos are valid.
        let (view, sampler) =
            unsafe { (gpu.device.create_image_view(&info, None)?, gpu.device.create_sampler(&nearest(), None)?) };
        let pixels = drawn(gpu, view, sampler, false)?;
        let [width, height] = format.size(plane);
        for (number, pixel) in (0..).zip(&pixels) {
            let place = [number % SIZE * width / SIZE, number / SIZE * height / SIZE];
            for component in 0..components {
                let share = code(format, plane + component, place) as f32 / ((1u32 << format.bits) - 1) as f32;
                let good = (f32::from(pixel[component]) - share * 255.0).abs() <= 1.0;
                check(good, || format!("plane {plane}, pixel {number}: {pixel:?}"))?;
            }
        }
    }
    Ok(())
}

/// Creates a view and a sampler with a conversion.
fn conversion(
    gpu: &Gpu,
    image: &Image,
    info: &vk::SamplerYcbcrConversionCreateInfo<'_>,
    sampler: vk::SamplerCreateInfo<'_>,
) -> Result<(vk::ImageView, vk::Sampler), Outcome> {
    let extension = ash::khr::sampler_ycbcr_conversion::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the infos are valid.
    unsafe {
        let conversion = extension.create_sampler_ycbcr_conversion(info, None)?;
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let made = gpu.device.create_sampler(&sampler.push_next(&mut chained), None)?;
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let view = vk::ImageViewCreateInfo::default().image(image.handle).view_type(vk::ImageViewType::TYPE_2D);
        let view = view.format(info.format).subresource_range(range(vk::ImageAspectFlags::COLOR, 0, 1));
        Ok((gpu.device.create_image_view(&view.push_next(&mut chained), None)?, made))
    }
}

/// Compares every texel, without filtering, with the specification's equations.
fn converted(gpu: &Gpu, format: Format, model: Model, code_range: Range) -> Case {
    let image = filled(gpu, format)?;
    let info = vk::SamplerYcbcrConversionCreateInfo::default()
        .format(format.format)
        .ycbcr_model(model)
        .ycbcr_range(code_range)
        .x_chroma_offset(vk::ChromaLocation::MIDPOINT)
        .y_chroma_offset(vk::ChromaLocation::MIDPOINT);
    let (view, sampler) = conversion(gpu, &image, &info, nearest())?;
    let pixels = drawn(gpu, view, sampler, true)?;
    for (number, pixel) in (0..).zip(&pixels) {
        let place = [number % SIZE, number / SIZE];
        let chroma = [place[0] / format.block[0], place[1] / format.block[1]];
        let codes = [code(format, 0, place), code(format, 1, chroma), code(format, 2, chroma)];
        let expected = equations(codes.map(f64::from), format.bits, model, code_range);
        let good = pixel
            .iter()
            .zip(expected)
            .all(|(&code, value)| (f64::from(code) - value.clamp(0.0, 1.0) * 255.0).abs() <= 1.5);
        check(good && pixel[3] == 255, || format!("pixel {number}: {pixel:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Returns red, green and blue of codes of luma, blue and red.
fn equations([y, b, r]: [f64; 3], bits: u32, model: Model, code_range: Range) -> [f64; 3] {
    let (greatest, step) = (f64::from((1u32 << bits) - 1), f64::from(1u32 << (bits - 8)));
    if model == Model::RGB_IDENTITY {
        return [r, y, b].map(|code| code / greatest);
    }
    let [y, cb, cr] = match code_range {
        Range::ITU_NARROW => {
            let chroma = |code: f64| (code - 128.0 * step) / (224.0 * step);
            [(y - 16.0 * step) / (219.0 * step), chroma(b), chroma(r)]
        }
        _ => {
            let chroma = |code: f64| (code - 128.0 * step) / greatest;
            [y / greatest, chroma(b), chroma(r)]
        }
    };
    match model {
        Model::YCBCR_709 => [y + 1.5748 * cr, y - 0.187324 * cb - 0.468124 * cr, y + 1.8556 * cb],
        Model::YCBCR_601 => [y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb],
        Model::YCBCR_2020 => [y + 1.4746 * cr, y - 0.164553 * cb - 0.571353 * cr, y + 1.8814 * cb],
        _ => [cr, y, cb],
    }
}

/// Filters chroma at the positions of its samples, where blue grows evenly from sample to sample.
fn reconstructed(gpu: &Gpu, location: vk::ChromaLocation) -> Case {
    let format = formats()[1].1;
    let image = filled(gpu, format)?;
    let info = vk::SamplerYcbcrConversionCreateInfo::default()
        .format(format.format)
        .ycbcr_model(Model::RGB_IDENTITY)
        .chroma_filter(vk::Filter::LINEAR)
        .x_chroma_offset(location)
        .y_chroma_offset(location);
    // SAFETY: the physical device is valid.
    let features = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format.format) };
    let wanted = vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER;
    if !features.optimal_tiling_features.contains(wanted) {
        return Err(Outcome::NotSupported("filters of their own for chroma".into()));
    }
    let (view, sampler) = conversion(gpu, &image, &info, nearest())?;
    let pixels = drawn(gpu, view, sampler, true)?;
    let shift = if location == vk::ChromaLocation::MIDPOINT { -0.25 } else { 0.0 };
    // Positions where no code wraps around: there are 60 codes, 5 more for each column and 7 for
    // each row.
    for (y, x) in (1..4u32).flat_map(|y| (1..8u32).map(move |x| (y, x))) {
        let at = |place: u32| f64::from(place) / 2.0 + shift;
        let expected = 90.0 + 5.0 * at(x) + 7.0 * at(y);
        let pixel = pixels[(y * SIZE + x) as usize];
        check((f64::from(pixel[2]) - expected).abs() <= 1.0, || format!("({x}, {y}): {pixel:?} for {expected}"))?;
    }
    Ok(())
}

/// Samples a slice of a volume through a view of two dimensions.
fn slice_of_volume(gpu: &Gpu, slice: u32) -> Case {
    gpu.need(vk::EXT_IMAGE_2D_VIEW_OF_3D_NAME)?;
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 4 };
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT)
        .image_type(vk::ImageType::TYPE_3D)
        .format(F::R8G8B8A8_UNORM)
        .extent(extent)
        .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
    let image = image(gpu, &info)?;
    let texels: Vec<[u8; 4]> =
        (0..SIZE * SIZE * 4).map(|texel| [texel % 256, texel / 256, texel % 7, 255].map(|code| code as u8)).collect();
    let color = vk::ImageAspectFlags::COLOR;
    gpu.write_image(&image, color, texels.as_flattened(), GENERAL)?;
    let one = vk::ImageSubresourceRange { base_array_layer: slice, ..range(color, 0, 1) };
    let info = vk::ImageViewCreateInfo::default().image(image.handle).view_type(vk::ImageViewType::TYPE_2D);
    let info = info.format(F::R8G8B8A8_UNORM).subresource_range(one);
    // SAFETY: the infos are valid.
    let (view, sampler) =
        unsafe { (gpu.device.create_image_view(&info, None)?, gpu.device.create_sampler(&nearest(), None)?) };
    let pixels = drawn(gpu, view, sampler, false)?;
    let count = (SIZE * SIZE) as usize;
    check(pixels == texels[slice as usize * count..][..count], || format!("{:?}", &pixels[..2]))
}

case!("planar.slices.some", "Image Views", some_slices);

/// Reads and writes two of the eight slices of a volume through a view of just these slices.
fn some_slices(gpu: &Gpu) -> Case {
    const FIRST: u32 = 3;
    gpu.need(vk::EXT_IMAGE_SLICED_VIEW_OF_3D_NAME)?;
    let extent = vk::Extent3D { width: 4, height: 4, depth: 8 };
    let info =
        vk::ImageCreateInfo::default().image_type(vk::ImageType::TYPE_3D).format(F::R32_UINT).extent(extent).usage(
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
        );
    let image = image(gpu, &info)?;
    let (color, mut texels) = (vk::ImageAspectFlags::COLOR, (100..228u32).collect::<Vec<_>>());
    gpu.write_image(&image, color, bytemuck::cast_slice(&texels), GENERAL)?;
    let mut slices = vk::ImageViewSlicedCreateInfoEXT::default().slice_offset(FIRST).slice_count(2);
    let info = vk::ImageViewCreateInfo::default().image(image.handle).view_type(vk::ImageViewType::TYPE_3D);
    let info = info.format(F::R32_UINT).subresource_range(range(color, 0, 1)).push_next(&mut slices);
    // SAFETY: the info is valid.
    let view = unsafe { gpu.device.create_image_view(&info, None)? };
    let words = gpu.buffer(7 * 4)?;
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_IMAGE, vk::DescriptorType::STORAGE_BUFFER])?;
    let images = [vk::DescriptorImageInfo::default().image_view(view).image_layout(GENERAL)];
    let buffers = [vk::DescriptorBufferInfo { buffer: words.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set);
    let writes = [
        write.descriptor_type(vk::DescriptorType::STORAGE_IMAGE).image_info(&images),
        write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&buffers),
    ];
    // SAFETY: the set is new.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    let compute = gpu.compute_with(shader!("sliced.comp"), None, (set_layout, set))?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(
            commands,
            Some(Transition { image: &image, from: GENERAL, to: vk::ImageLayout::TRANSFER_SRC_OPTIMAL }),
        );
    })?;
    let at = |[x, y, z]: [u32; 3]| (((FIRST + z) * 4 + y) * 4 + x) as usize;
    let shown = [4, 4, 2, texels[at([1, 2, 0])], texels[at([1, 2, 1])], 0, texels[at([2, 2, 1])]];
    check(words.words() == shown, || format!("{:?} instead of {shown:?}", words.words()))?;
    texels[at([2, 2, 1])] += 5;
    texels[at([3, 1, 0])] = 777;
    let bytes = gpu.read_image(&image, color, 4)?;
    check(bytes == bytemuck::cast_slice::<u32, u8>(&texels), || "texels outside of the slices were written".into())
}
