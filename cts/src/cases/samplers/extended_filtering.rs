//! Samplers beyond Vulkan 1.0: anisotropy, minimum and maximum, custom borders, non-seamless
//! cubes, least levels of views.

use ash::vk;

use crate::Entry;
use crate::cases::support::sampling::{draw_sampled, sampler, usage};
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, range};
use crate::render::{SIZE, SampledImage, TEXTURE};

/// A fragment shader that samples a cube across the edges of one face.
const CUBE: &[u8] = shader!("cube.frag");

/// A fragment shader that samples a cube in one of 27 directions for each pixel.
const CUBE_TIES: &[u8] = shader!("cube_ties.frag");

/// A fragment shader that samples an image of integers.
const TEXTURE_UINT: &[u8] = shader!("texture_uint.frag");

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for most in [1.0f32, 2.0, 4.0, 8.0, 16.0] {
        let run = move |gpu: &Gpu| anisotropic_level(gpu, most);
        cases.push(Entry::new(format!("filtering.anisotropy.level_{most}"), "Scale Factor Operation", run));
    }
    for (name, from, texels) in [("to_the_left", -2.0, [0usize, 1, 1, 1]), ("to_the_right", 2.0, [0, 1, 1, 1])] {
        let run = move |gpu: &Gpu| mirrored_once(gpu, from, texels);
        cases.push(Entry::new(format!("filtering.mirror_clamp_to_edge.{name}"), "Wrapping Operation", run));
    }
    let modes = [("min", vk::SamplerReductionMode::MIN), ("max", vk::SamplerReductionMode::MAX)];
    for (name, mode) in modes {
        let run = move |gpu: &Gpu| reduced(gpu, mode);
        cases.push(Entry::new(format!("filtering.reduction.{name}"), "Texel Reduction", run));
        let run = move |gpu: &Gpu| reduced_levels(gpu, mode);
        cases.push(Entry::new(format!("filtering.reduction.levels_{name}"), "Texel Filtering", run));
    }
    for (name, mode) in [
        ("seamless", None),
        ("clamped", Some(vk::SamplerAddressMode::CLAMP_TO_EDGE)),
        ("repeated", Some(vk::SamplerAddressMode::REPEAT)),
        ("bordered", Some(vk::SamplerAddressMode::CLAMP_TO_BORDER)),
    ] {
        let run = move |gpu: &Gpu| across_faces(gpu, mode);
        cases.push(Entry::new(format!("filtering.cube.{name}"), "Cube Map Edge Handling", run));
    }
    for (name, least, linear, expected) in [
        ("whole", 2.0, false, 2.0),
        ("between", 1.5, true, 1.5),
        ("nearest", 1.75, false, 2.0),
        ("below", 0.25, true, 1.0),
    ] {
        let run = move |gpu: &Gpu| least_level(gpu, least, linear, expected);
        cases.push(Entry::new(format!("filtering.least_level.{name}"), "Image Level(s) Selection", run));
    }
}

fn linear() -> vk::SamplerCreateInfo<'static> {
    let (filter, edge) = (vk::Filter::LINEAR, vk::SamplerAddressMode::CLAMP_TO_EDGE);
    let info = vk::SamplerCreateInfo::default().mag_filter(filter).min_filter(filter).max_lod(20.0);
    info.address_mode_u(edge).address_mode_v(edge).address_mode_w(edge).mipmap_mode(vk::SamplerMipmapMode::LINEAR)
}

/// Creates an image with levels of one gray each, 40 more from level to level.
fn levels(gpu: &Gpu, size: [u32; 2], levels: u32) -> Result<Image, Outcome> {
    let image = gpu.image(&ImageDesc { levels, ..ImageDesc::color(vk::Format::R8G8B8A8_UNORM, size, usage()) })?;
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        for level in 0..levels {
            let value = vk::ClearColorValue { float32: [level as f32 * 40.0 / 255.0; 4] };
            let ranges = [range(COLOR, level, 1)];
            // SAFETY: the image is in the general layout.
            unsafe { gpu.device.cmd_clear_color_image(commands, image.handle, GENERAL, &value, &ranges) };
        }
        gpu.barrier(commands, None);
    })?;
    Ok(image)
}

fn all_near(pixels: &[[u8; 4]], expected: f32, tolerance: f32) -> Case {
    let good = |pixel: &[u8; 4]| (f32::from(pixel[0]) - expected).abs() <= tolerance;
    check(pixels.iter().all(good), || format!("{:?} instead of {expected}", pixels.iter().find(|pixel| !good(pixel))))
}

fn anisotropic(gpu: &Gpu, most: f32) -> Result<vk::SamplerCreateInfo<'static>, Outcome> {
    let most_there_is = gpu.properties.limits.max_sampler_anisotropy;
    if gpu.features.sampler_anisotropy == 0 || most > most_there_is {
        return Err(Outcome::NotSupported(format!("an anisotropy of {most}")));
    }
    Ok(linear().anisotropy_enable(true).max_anisotropy(most))
}

/// Checks that the level of a footprint of 8x1 texels is finer by the maximum anisotropy.
fn anisotropic_level(gpu: &Gpu, most: f32) -> Case {
    let image = levels(gpu, [SIZE * 8, SIZE], 5)?;
    let sampler = sampler(gpu, &anisotropic(gpu, most)?)?;
    let pixels = draw_sampled(gpu, TEXTURE, SampledImage { view: image.view, sampler, layout: GENERAL }, 1.0)?;
    all_near(&pixels, (8.0 / most.min(8.0)).log2() * 40.0, 2.0)
}

case!("filtering.anisotropy.average", "Texel Anisotropic Filtering", anisotropic_average);

/// Checks that columns of black and white, eight in a pixel, become gray.
fn anisotropic_average(gpu: &Gpu) -> Case {
    let size = [SIZE * 8, SIZE];
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, size, usage()))?;
    let texels: Vec<[u8; 4]> = (0..size[0] * size[1]).map(|texel| [if texel % 8 < 4 { 0 } else { 255 }; 4]).collect();
    gpu.write_image(&image, COLOR, texels.as_flattened(), GENERAL)?;
    let info = anisotropic(gpu, 16.0)?;
    let isotropic = draw_sampled(
        gpu,
        TEXTURE,
        SampledImage { view: image.view, sampler: sampler(gpu, &linear())?, layout: GENERAL },
        1.0,
    )?;
    let pixels = draw_sampled(
        gpu,
        TEXTURE,
        SampledImage { view: image.view, sampler: sampler(gpu, &info)?, layout: GENERAL },
        1.0,
    )?;
    check(isotropic[20][0] == 128 || isotropic[20][0] == 127, || format!("isotropic: {:?}", isotropic[20]))?;
    all_near(&pixels, 127.5, 24.0)
}

case!("filtering.anisotropy.isotropic", "Texel Anisotropic Filtering", isotropic);

/// Checks that square footprints, magnified or not, are sampled as without anisotropy.
fn isotropic(gpu: &Gpu) -> Case {
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [SIZE * 2; 2], usage()))?;
    let texels: Vec<u8> = (0..SIZE * SIZE * 16).map(|byte| (byte.wrapping_mul(97) >> 2) as u8).collect();
    gpu.write_image(&image, COLOR, &texels, GENERAL)?;
    let samplers = [sampler(gpu, &linear())?, sampler(gpu, &anisotropic(gpu, 16.0)?)?];
    for extent in [0.3, 1.0] {
        let [plain, anisotropic] = samplers.map(|sampler| {
            draw_sampled(gpu, TEXTURE, SampledImage { view: image.view, sampler, layout: GENERAL }, extent)
        });
        check(plain? == anisotropic?, || format!("coordinates up to {extent}"))?;
    }
    Ok(())
}

/// Samples coordinates to 2 on either side: mirrored once, then the last texel.
fn mirrored_once(gpu: &Gpu, to: f32, texels: [usize; 4]) -> Case {
    gpu.need(vk::KHR_SAMPLER_MIRROR_CLAMP_TO_EDGE_NAME)?;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [2, 1], usage()))?;
    let colors = [[255, 0, 0, 255], [0, 255, 0, 255]];
    gpu.write_image(&image, COLOR, colors.as_flattened(), GENERAL)?;
    let info = vk::SamplerCreateInfo::default().address_mode_u(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE);
    let pixels = draw_sampled(
        gpu,
        TEXTURE,
        SampledImage { view: image.view, sampler: sampler(gpu, &info)?, layout: GENERAL },
        to,
    )?;
    for (quarter, texel) in texels.into_iter().enumerate() {
        let pixel = pixels[(SIZE * 8) as usize + quarter * 4 + 1];
        check(pixel == colors[texel], || format!("quarter {quarter}: {pixel:?}"))?;
    }
    Ok(())
}

fn reducing(gpu: &Gpu, mode: vk::SamplerReductionMode) -> Result<vk::Sampler, Outcome> {
    gpu.need(vk::EXT_SAMPLER_FILTER_MINMAX_NAME)?;
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(mode);
    sampler(gpu, &linear().push_next(&mut reduction))
}

/// Checks the lesser or greater of each component between two texels, and the texel itself beyond
/// their centres.
fn reduced(gpu: &Gpu, mode: vk::SamplerReductionMode) -> Case {
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [2, 1], usage()))?;
    let (left, right) = ([10, 200, 30, 255], [90, 20, 30, 128]);
    gpu.write_image(&image, COLOR, &[left, right].concat(), GENERAL)?;
    let pixels = draw_sampled(
        gpu,
        TEXTURE,
        SampledImage { view: image.view, sampler: reducing(gpu, mode)?, layout: GENERAL },
        1.0,
    )?;
    let both = if mode == vk::SamplerReductionMode::MIN { [10, 20, 30, 128] } else { [90, 200, 30, 255] };
    for (x, pixel) in pixels[..SIZE as usize].iter().enumerate() {
        let expected = match x {
            0..4 => left,
            4..12 => both,
            _ => right,
        };
        check(*pixel == expected, || format!("column {x}: {pixel:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Checks reduction between two levels.
fn reduced_levels(gpu: &Gpu, mode: vk::SamplerReductionMode) -> Case {
    let image = levels(gpu, [SIZE; 2], 5)?;
    let pixels = draw_sampled(
        gpu,
        TEXTURE,
        SampledImage { view: image.view, sampler: reducing(gpu, mode)?, layout: GENERAL },
        3.0,
    )?;
    all_near(&pixels, if mode == vk::SamplerReductionMode::MIN { 40.0 } else { 80.0 }, 0.0)
}

case!("filtering.reduction.formats", "Format Features", reducible);

/// Checks that the formats of one component that the extension requires support reduction.
fn reducible(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SAMPLER_FILTER_MINMAX_NAME)?;
    use vk::Format as F;
    for format in [F::R8_UNORM, F::R8_SNORM, F::R16_UNORM, F::R16_SNORM, F::R16_SFLOAT, F::R32_SFLOAT, F::D16_UNORM] {
        // SAFETY: the physical device is valid.
        let features = unsafe { gpu.instance.get_physical_device_format_properties(gpu.physical, format) };
        let wanted = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX;
        check(features.optimal_tiling_features.contains(wanted), || format!("{format:?}"))?;
    }
    Ok(())
}

fn view(
    gpu: &Gpu,
    image: &Image,
    kind: vk::ImageViewType,
    layer_count: u32,
    components: vk::ComponentMapping,
) -> Result<vk::ImageView, Outcome> {
    let range = vk::ImageSubresourceRange { layer_count, ..range(COLOR, 0, 1) };
    let info = vk::ImageViewCreateInfo::default().image(image.handle).view_type(kind).components(components);
    let info = info.format(vk::Format::R8G8B8A8_UNORM).subresource_range(range);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_image_view(&info, None) }?)
}

case!("filtering.border.custom_float", "Texel Replacement", |gpu| custom_border(gpu, false));
case!("filtering.border.custom_swizzled", "Component Swizzle", |gpu| custom_border(gpu, true));

/// Samples only the border, directly or through a view with swizzled components.
fn custom_border(gpu: &Gpu, swizzled: bool) -> Case {
    gpu.need(vk::EXT_CUSTOM_BORDER_COLOR_NAME)?;
    let mut mapping = vk::ComponentMapping::default();
    let mut expected = [51, 102, 153, 204];
    if swizzled {
        gpu.need(vk::EXT_BORDER_COLOR_SWIZZLE_NAME)?;
        use vk::ComponentSwizzle as C;
        mapping = vk::ComponentMapping { r: C::A, g: C::R, b: C::ONE, a: C::G };
        expected = [204, 51, 255, 102];
    }
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UNORM, [4; 2], usage()))?;
    gpu.write_image(&image, COLOR, &[7; 64], GENERAL)?;
    let color = vk::ClearColorValue { float32: [0.2, 0.4, 0.6, 0.8] };
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default()
        .custom_border_color(color)
        .format(vk::Format::R8G8B8A8_UNORM);
    let mut components = vk::SamplerBorderColorComponentMappingCreateInfoEXT::default().components(mapping);
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    let mut info = linear().address_mode_u(border).border_color(vk::BorderColor::FLOAT_CUSTOM_EXT);
    info = info.push_next(&mut custom);
    if swizzled {
        info = info.push_next(&mut components);
    }
    let view = view(gpu, &image, vk::ImageViewType::TYPE_2D, 1, mapping)?;
    let pixels =
        draw_sampled(gpu, TEXTURE, SampledImage { view, sampler: sampler(gpu, &info)?, layout: GENERAL }, 8.0)?;
    check(pixels[15] == expected, || format!("{:?} instead of {expected:?}", pixels[15]))
}

case!("filtering.border.custom_integer", "Texel Replacement", custom_integer_border);

fn custom_integer_border(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_CUSTOM_BORDER_COLOR_NAME)?;
    let image = gpu.image(&ImageDesc::color(vk::Format::R8G8B8A8_UINT, [4; 2], usage()))?;
    gpu.write_image(&image, COLOR, &[7; 64], GENERAL)?;
    let color = vk::ClearColorValue { uint32: [11, 22, 33, 44] };
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(color);
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    let info = vk::SamplerCreateInfo::default().address_mode_u(border).address_mode_v(border);
    let info = info.border_color(vk::BorderColor::INT_CUSTOM_EXT).push_next(&mut custom);
    let pixels = draw_sampled(
        gpu,
        TEXTURE_UINT,
        SampledImage { view: image.view, sampler: sampler(gpu, &info)?, layout: GENERAL },
        4.0,
    )?;
    check(pixels[0] == [7; 4] && pixels[15] == [11, 22, 33, 44], || format!("{:?} and {:?}", pixels[0], pixels[15]))
}

/// Samples a cube of one texel for each face, with grays from 0 to 200, from the edge of +x with
/// -z to that with +z.
fn across_faces(gpu: &Gpu, mode: Option<vk::SamplerAddressMode>) -> Case {
    let image = cube(gpu)?;
    let mut info = linear().border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    if let Some(mode) = mode {
        gpu.need(vk::EXT_NON_SEAMLESS_CUBE_MAP_NAME)?;
        let flags = vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT;
        info = info.flags(flags).address_mode_u(mode).address_mode_v(mode);
    }
    let view = view(gpu, &image, vk::ImageViewType::CUBE, 6, vk::ComponentMapping::default())?;
    let pixels = draw_sampled(gpu, CUBE, SampledImage { view, sampler: sampler(gpu, &info)?, layout: GENERAL }, 1.0)?;
    // Half a texel beyond the middle of +x (0), half of the value is the neighbour's: -z is 200, +z
    // is 160.
    let [low, high] = match mode {
        None => [200.0, 160.0],
        Some(vk::SamplerAddressMode::CLAMP_TO_BORDER) => [255.0, 255.0],
        _ => [0.0, 0.0],
    };
    for (x, pixel) in pixels[..SIZE as usize].iter().enumerate() {
        let along = 1.99 * (x as f32 + 0.5) / SIZE as f32 - 0.995;
        let expected = along.abs() / 2.0 * if along < 0.0 { low } else { high };
        let good = (f32::from(pixel[0]) - expected).abs() <= 2.0;
        check(good, || format!("column {x}: {pixel:?} instead of {expected}"))?;
    }
    Ok(())
}

case!("filtering.cube.ties", "Cube Map Face Selection", cube_ties);

/// Checks that directions to edges and corners take the recommended face: z before y, and y before
/// x. One texel is read there, without its neighbour on the next face.
fn cube_ties(gpu: &Gpu) -> Case {
    let image = cube(gpu)?;
    let (nearest, edge) = (vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT);
    let info = vk::SamplerCreateInfo::default().mag_filter(nearest).min_filter(nearest);
    let info = info.address_mode_u(edge).address_mode_v(edge).address_mode_w(edge);
    let view = view(gpu, &image, vk::ImageViewType::CUBE, 6, vk::ComponentMapping::default())?;
    let pixels =
        draw_sampled(gpu, CUBE_TIES, SampledImage { view, sampler: sampler(gpu, &info)?, layout: GENERAL }, 1.0)?;
    for number in 0..27 {
        let direction = [number % 3, number / 3 % 3, number / 9].map(|digit| digit - 1);
        let Some(axis) = (0..3).rev().find(|&axis| direction[axis] != 0) else { continue };
        let face = 2 * axis + usize::from(direction[axis] < 0);
        let pixel = pixels[number as usize];
        check(usize::from(pixel[0]) == face * 40, || format!("{direction:?}: {pixel:?} is not of face {face}"))?;
    }
    Ok(())
}

fn cube(gpu: &Gpu) -> Result<Image, Outcome> {
    let extent = vk::Extent3D { width: 1, height: 1, depth: 1 };
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::CUBE_COMPATIBLE)
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent)
        .mip_levels(1)
        .array_layers(6)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage());
    let handle = gpu.bound_image(&info)?;
    let image = Image { handle, view: vk::ImageView::null(), extent, aspects: COLOR, levels: 1 };
    let all = |base_array_layer, layer_count| vk::ImageSubresourceRange {
        base_array_layer,
        layer_count,
        ..range(COLOR, 0, 1)
    };
    let barrier = vk::ImageMemoryBarrier::default().new_layout(GENERAL).image(handle).subresource_range(all(0, 6));
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and the image is in the general layout from
        // here on.
        unsafe {
            let none = vk::DependencyFlags::empty();
            gpu.device.cmd_pipeline_barrier(commands, stages, stages, none, &[], &[], &[barrier]);
            for face in 0..6 {
                let value = vk::ClearColorValue { float32: [face as f32 * 40.0 / 255.0; 4] };
                gpu.device.cmd_clear_color_image(commands, handle, GENERAL, &value, &[all(face, 1)]);
            }
        }
        gpu.barrier(commands, None);
    })?;
    Ok(image)
}

/// Samples a view from level 1 on that reads no level below `least` of the image, where level 0 of
/// the view would be used.
fn least_level(gpu: &Gpu, least: f32, between: bool, expected: f32) -> Case {
    gpu.need(vk::EXT_IMAGE_VIEW_MIN_LOD_NAME)?;
    let image = levels(gpu, [SIZE * 2; 2], 5)?;
    let mut least_lod = vk::ImageViewMinLodCreateInfoEXT::default().min_lod(least);
    let info = vk::ImageViewCreateInfo::default().image(image.handle).view_type(vk::ImageViewType::TYPE_2D);
    let info = info.format(vk::Format::R8G8B8A8_UNORM).subresource_range(range(COLOR, 1, 4)).push_next(&mut least_lod);
    // SAFETY: the info is valid.
    let view = unsafe { gpu.device.create_image_view(&info, None) }?;
    let mode = if between { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST };
    let pixels = draw_sampled(
        gpu,
        TEXTURE,
        SampledImage { view, sampler: sampler(gpu, &linear().mipmap_mode(mode))?, layout: GENERAL },
        1.0,
    )?;
    all_near(&pixels, expected * 40.0, 1.0)
}
