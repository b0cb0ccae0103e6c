//! Arrays of images with several planes: copies of layers, and conversion of each layer. Source:
//! `VK_EXT_ycbcr_image_arrays`.

use ash::vk::{self, Format as F};

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, SampledImage, State, TEXTURE, Target, render};

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const LAYERS: u32 = 5;
const SIZE: u32 = 20;

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format, planes) in [
        ("two_420", F::G8_B8R8_2PLANE_420_UNORM, 2),
        ("three_420", F::G8_B8_R8_3PLANE_420_UNORM, 3),
        ("two_422", F::G8_B8R8_2PLANE_422_UNORM, 2),
        ("three_444", F::G8_B8_R8_3PLANE_444_UNORM, 3),
    ] {
        let run = move |gpu: &Gpu| copied(gpu, format, planes);
        cases.push(Entry::new(format!("planar.arrays.copied_{name}"), "Copying Data Between Images", run));
        for (view_name, is_array) in [("layer", false), ("array", true)] {
            let run = move |gpu: &Gpu| converted(gpu, (format, planes), is_array);
            let name = format!("planar.arrays.converted_{name}_{view_name}");
            cases.push(Entry::new(name, "Sampler YCbCr Conversion", run));
        }
    }
}

/// Returns the code of a component (0 luma, 1 blue, 2 red) of a layer.
fn code(component: u32, layer: u32) -> u8 {
    [10 + 45 * layer, 230 - 40 * layer, 60 + 30 * layer][component as usize] as u8
}

/// Returns the region of a plane of a layer, and its number of texels.
fn region(format: F, plane: u32, layer: u32) -> (vk::BufferImageCopy, u32) {
    let [x, y] = match format {
        _ if plane == 0 => [1, 1],
        F::G8_B8R8_2PLANE_422_UNORM => [2, 1],
        F::G8_B8_R8_3PLANE_444_UNORM => [1, 1],
        _ => [2, 2],
    };
    let aspects = [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::PLANE_2];
    let image_subresource = vk::ImageSubresourceLayers {
        aspect_mask: aspects[plane as usize],
        mip_level: 0,
        base_array_layer: layer,
        layer_count: 1,
    };
    let image_extent = vk::Extent3D { width: SIZE / x, height: SIZE / y, depth: 1 };
    let region = vk::BufferImageCopy { image_subresource, image_extent, ..Default::default() };
    (region, image_extent.width * image_extent.height)
}

/// Returns the bytes of a plane of a layer.
fn bytes(format: F, (plane, planes): (u32, u32), layer: u32) -> Vec<u8> {
    let (_, count) = region(format, plane, layer);
    let components = if planes == 2 && plane == 1 { vec![1, 2] } else { vec![plane] };
    (0..count).flat_map(|_| components.iter().map(|component| code(*component, layer))).collect()
}

/// Creates an array and fills the planes of its layers.
fn filled(gpu: &Gpu, format: F, planes: u32) -> Result<vk::Image, Outcome> {
    gpu.need(vk::EXT_YCBCR_IMAGE_ARRAYS_NAME)?;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
    let (kind, tiling, flags) = (vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL, vk::ImageCreateFlags::empty());
    // SAFETY: the parameters are valid.
    let limits = unsafe {
        gpu.instance.get_physical_device_image_format_properties(gpu.physical, format, kind, tiling, usage, flags)
    };
    let limits = limits.map_err(|_| Outcome::NotSupported(format!("{format:?}")))?;
    check(limits.max_array_layers >= LAYERS, || format!("{} layers", limits.max_array_layers))?;
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(format)
        .extent(vk::Extent3D { width: SIZE, height: SIZE, depth: 1 })
        .mip_levels(1)
        .array_layers(LAYERS)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let image = gpu.bound_image(&info)?;
    let all = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: LAYERS,
        ..Default::default()
    };
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .new_layout(GENERAL)
        .image(image)
        .subresource_range(all);
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the command buffer is recording, and the image alive.
    gpu.run(|commands| unsafe {
        let none = vk::DependencyFlags::empty();
        gpu.device.cmd_pipeline_barrier(commands, stages, stages, none, &[], &[], &[barrier]);
    })?;
    for (plane, layer) in (0..planes).flat_map(|plane| (0..LAYERS).map(move |layer| (plane, layer))) {
        let buffer = gpu.buffer_with(&bytes(format, (plane, planes), layer))?;
        let (region, _) = region(format, plane, layer);
        gpu.run(|commands| {
            // SAFETY: the image is in the general layout, and the buffer holds all of the plane.
            unsafe { gpu.device.cmd_copy_buffer_to_image(commands, buffer.handle, image, GENERAL, &[region]) };
            gpu.barrier(commands, None);
        })?;
    }
    Ok(image)
}

/// Copies the layers of an array to those of another array in the opposite order, and from there
/// to buffers.
fn copied(gpu: &Gpu, format: F, planes: u32) -> Case {
    let (source, target) = (filled(gpu, format, planes)?, filled(gpu, format, planes)?);
    for (plane, layer) in (0..planes).flat_map(|plane| (0..LAYERS).map(move |layer| (plane, layer))) {
        let ((from, _), (to, _)) = (region(format, plane, layer), region(format, plane, LAYERS - 1 - layer));
        let copy = vk::ImageCopy {
            src_subresource: from.image_subresource,
            dst_subresource: to.image_subresource,
            extent: from.image_extent,
            ..Default::default()
        };
        let expected = bytes(format, (plane, planes), layer);
        let buffer = gpu.buffer(expected.len() as u64)?;
        gpu.run(|commands| {
            // SAFETY: both images are in the general layout, and the regions lie in them.
            unsafe {
                gpu.device.cmd_copy_image(commands, source, GENERAL, target, GENERAL, &[copy]);
                gpu.barrier(commands, None);
                gpu.device.cmd_copy_image_to_buffer(commands, target, GENERAL, buffer.handle, &[to]);
            }
            gpu.barrier(commands, None);
        })?;
        let read = buffer.read(0, expected.len());
        check(read == expected, || format!("plane {plane} of layer {layer} has changed: {:?}", &read[..8]))?;
    }
    Ok(())
}

/// Samples each layer with a conversion that keeps the components.
fn converted(gpu: &Gpu, (format, planes): (F, u32), is_array: bool) -> Case {
    let image = filled(gpu, format, planes)?;
    let extension = ash::khr::sampler_ycbcr_conversion::Device::new(&gpu.instance, &gpu.device);
    let info = vk::SamplerYcbcrConversionCreateInfo::default()
        .format(format)
        .ycbcr_model(vk::SamplerYcbcrModelConversion::RGB_IDENTITY)
        .ycbcr_range(vk::SamplerYcbcrRange::ITU_FULL);
    // SAFETY: the infos are valid.
    let (conversion, sampler) = unsafe {
        let conversion = extension.create_sampler_ycbcr_conversion(&info, None)?;
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default().address_mode_u(edge).address_mode_v(edge).address_mode_w(edge);
        (conversion, gpu.device.create_sampler(&info.push_next(&mut chained), None)?)
    };
    // A view of several layers begins at the second one.
    let (kind, first) = match is_array {
        true => (vk::ImageViewType::TYPE_2D_ARRAY, 1),
        false => (vk::ImageViewType::TYPE_2D, 0),
    };
    for layer in first..LAYERS {
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: if is_array { first } else { layer },
            layer_count: if is_array { LAYERS - first } else { 1 },
        };
        let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(kind)
            .format(format)
            .subresource_range(range)
            .push_next(&mut chained);
        // SAFETY: the info is valid.
        let view = unsafe { gpu.device.create_image_view(&info, None)? };
        let fragment = if is_array { shader!("layer.frag") } else { TEXTURE };
        let image = Some(SampledImage { view, sampler, layout: GENERAL });
        let draw = Draw::rect(State { fragment, ..State::default() }, FULL, [1.0; 4]);
        let extra = if is_array { (layer - first) as f32 } else { 1.0 };
        let draw = Draw { image, fixed_sampler: true, extra, ..draw };
        let pixels = render(gpu, &Target::default(), &[draw])?;
        let expected = [code(2, layer), code(0, layer), code(1, layer), 255];
        let is_near = |pixel: &[u8; 4]| pixel.iter().zip(expected).all(|(found, code)| found.abs_diff(code) <= 1);
        check(pixels.iter().all(is_near), || format!("layer {layer}: {:?}, not {expected:?}", pixels[0]))?;
    }
    Ok(())
}
