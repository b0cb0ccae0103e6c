//! Images with a modifier of the kernel's format codes: lists of modifiers, layouts of memory
//! planes, and use of the images beside images of optimal tiling.
//!
//! Source: Vulkan specification, "Resource Creation", `VK_EXT_image_drm_format_modifier`.

use std::os::fd::RawFd;

use ash::vk::{ExternalMemoryHandleTypeFlags as Handles, Format as F};
use ash::{ext, khr, vk};

use crate::Entry;
use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check, range};
use crate::render::{Draw, FULL, SampledImage, State, TEXTURE, Target, render};

/// Modifier of images in rows of texels.
const LINEAR: u64 = 0;
/// A modifier of a vendor that the kernel's header does not register.
const UNKNOWN: u64 = 0x7f << 56 | 1;
const TILING: vk::ImageTiling = vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;

/// Formats with the number of their planes.
const FORMATS: [(&str, F, u32); 6] = [
    ("rgba8", F::R8G8B8A8_UNORM, 1),
    ("bgra8_srgb", F::B8G8R8A8_SRGB, 1),
    ("rgb10", F::A2B10G10R10_UNORM_PACK32, 1),
    ("rgba16", F::R16G16B16A16_SFLOAT, 1),
    ("nv12", F::G8_B8R8_2PLANE_420_UNORM, 2),
    ("yuv420", F::G8_B8_R8_3PLANE_420_UNORM, 3),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, format, planes) in FORMATS {
        let run = move |gpu: &Gpu| lists(gpu, format, planes);
        cases.push(Entry::new(format!("modifiers.lists.{name}"), "VkDrmFormatModifierPropertiesListEXT", run));
        let run = move |gpu: &Gpu| layout(gpu, format, planes);
        cases.push(Entry::new(format!("modifiers.layout.{name}"), "vkGetImageSubresourceLayout", run));
    }
    for (name, format, texel) in [
        ("rgba8", F::R8G8B8A8_UNORM, 4),
        ("bgra8_srgb", F::B8G8R8A8_SRGB, 4),
        ("rgb10", F::A2B10G10R10_UNORM_PACK32, 4),
        ("rgba16", F::R16G16B16A16_SFLOAT, 8),
        ("r8", F::R8_UNORM, 1),
        ("r16", F::R16_SFLOAT, 2),
    ] {
        for (padding, bytes) in [("tight", 0), ("padded", 24)] {
            let run = move |gpu: &Gpu| rendered(gpu, format, texel, bytes);
            let name = format!("modifiers.rendered.{name}_{padding}");
            cases.push(Entry::new(name, "VkImageDrmFormatModifierExplicitCreateInfoEXT", run));
        }
        let run = move |gpu: &Gpu| sampled(gpu, format, texel);
        let section = "VkImageDrmFormatModifierExplicitCreateInfoEXT";
        cases.push(Entry::new(format!("modifiers.sampled.{name}"), section, run));
    }
    for (name, kind) in [("opaque", Handles::OPAQUE_FD), ("dma_buf", Handles::DMA_BUF_EXT)] {
        let run = move |gpu: &Gpu| shared(gpu, kind);
        cases.push(Entry::new(format!("modifiers.shared.{name}"), "VK_EXT_external_memory_dma_buf", run));
    }
}

fn query(gpu: &Gpu) -> khr::get_physical_device_properties2::Instance {
    khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance)
}

/// Returns the limits of images of a format with a modifier, and the properties of a handle type.
fn limits(
    gpu: &Gpu,
    format: F,
    modifier: u64,
    kind: Handles,
) -> Result<(vk::ImageFormatProperties, vk::ExternalMemoryProperties), vk::Result> {
    let mut modifier = vk::PhysicalDeviceImageDrmFormatModifierInfoEXT::default().drm_format_modifier(modifier);
    let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(kind);
    let info = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(format)
        .ty(vk::ImageType::TYPE_2D)
        .tiling(TILING)
        .usage(vk::ImageUsageFlags::SAMPLED)
        .push_next(&mut modifier)
        .push_next(&mut external);
    let mut found = vk::ExternalImageFormatProperties::default();
    let mut out = vk::ImageFormatProperties2::default().push_next(&mut found);
    // SAFETY: the structures live as long as the call.
    unsafe { query(gpu).get_physical_device_image_format_properties2(gpu.physical, &info, &mut out)? };
    Ok((out.image_format_properties, found.external_memory_properties))
}

/// Compares both lists of modifiers, and limits of images with a listed and another modifier.
fn lists(gpu: &Gpu, format: F, planes: u32) -> Case {
    gpu.need(vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME)?;
    let mut first = [vk::DrmFormatModifierPropertiesEXT::default(); 8];
    let mut second = [vk::DrmFormatModifierProperties2EXT::default(); 8];
    let mut narrow = vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut first);
    let mut wide = vk::DrmFormatModifierPropertiesList2EXT::default().drm_format_modifier_properties(&mut second);
    let mut counted = vk::DrmFormatModifierPropertiesListEXT::default();
    let count = {
        let mut out = vk::FormatProperties2::default().push_next(&mut counted);
        // SAFETY: the structures live as long as the call, here and below.
        unsafe { query(gpu).get_physical_device_format_properties2(gpu.physical, format, &mut out) };
        counted.drm_format_modifier_count
    };
    let mut out = vk::FormatProperties2::default().push_next(&mut narrow).push_next(&mut wide);
    // SAFETY: see above.
    unsafe { query(gpu).get_physical_device_format_properties2(gpu.physical, format, &mut out) };
    let counts = [narrow.drm_format_modifier_count, wide.drm_format_modifier_count];
    check(counts == [count; 2], || format!("{counts:?} modifiers, not {count}"))?;
    let listed = first[..count.min(8) as usize].iter().find(|found| found.drm_format_modifier == LINEAR);
    let Some(listed) = listed else {
        return Err(Outcome::NotSupported(format!("linear images of {format:?}")));
    };
    check(listed.drm_format_modifier_plane_count == planes, || format!("{listed:?}"))?;
    let same = second.iter().find(|found| found.drm_format_modifier == LINEAR);
    let is_same = same.is_some_and(|same| {
        let features = same.drm_format_modifier_tiling_features.as_raw() as u32 & (u32::MAX >> 1);
        same.drm_format_modifier_plane_count == planes
            && features == listed.drm_format_modifier_tiling_features.as_raw()
    });
    check(is_same, || format!("{listed:?} and {same:?}"))?;
    let found = limits(gpu, format, LINEAR, Handles::OPAQUE_FD);
    check(found.is_ok_and(|(limits, _)| limits.max_extent.width >= 4096), || format!("{found:?}"))?;
    let refused = limits(gpu, format, UNKNOWN, Handles::OPAQUE_FD);
    let is_refused = refused.as_ref().is_err_and(|&code| code == vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    check(is_refused, || format!("{refused:?}"))
}

fn info(format: F, usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 38, height: 22, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(TILING)
        .usage(usage)
}

const MEMORY_PLANES: [vk::ImageAspectFlags; 3] = [
    vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
];

/// Checks the layout that the driver chooses, and creates an image with it.
fn layout(gpu: &Gpu, format: F, planes: u32) -> Case {
    gpu.need(vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME)?;
    let queries = ext::image_drm_format_modifier::Device::new(&gpu.instance, &gpu.device);
    let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&[LINEAR]);
    let info = info(format, vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC);
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        let device = &gpu.device;
        let image = device.create_image(&info.push_next(&mut list), None)?;
        let mut found = vk::ImageDrmFormatModifierPropertiesEXT { drm_format_modifier: UNKNOWN, ..Default::default() };
        queries.get_image_drm_format_modifier_properties(image, &mut found)?;
        check(found.drm_format_modifier == LINEAR, || format!("{found:?}"))?;
        let size = device.get_image_memory_requirements(image).size;
        let part = |aspect_mask| vk::ImageSubresource { aspect_mask, ..Default::default() };
        let mut layouts: Vec<_> = MEMORY_PLANES[..planes as usize]
            .iter()
            .map(|&plane| device.get_image_subresource_layout(image, part(plane)))
            .collect();
        let mut end = 0;
        for (number, plane) in layouts.iter().enumerate() {
            let [width, height] = if number == 0 { [38, 22] } else { [19, 11] };
            let is_inside = plane.offset >= end && plane.offset + (height - 1) * plane.row_pitch + width <= size;
            check(is_inside && plane.row_pitch >= width, || format!("{plane:?} in {size} bytes"))?;
            end = plane.offset + (height - 1) * plane.row_pitch + width;
        }
        for plane in &mut layouts {
            (plane.size, plane.array_pitch, plane.depth_pitch) = (0, 0, 0);
        }
        let mut placed = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().plane_layouts(&layouts);
        let same = device.create_image(&info.push_next(&mut placed), None)?;
        for (&plane, layout) in MEMORY_PLANES.iter().zip(&layouts) {
            let found = device.get_image_subresource_layout(same, part(plane));
            let is_same = (found.offset, found.row_pitch) == (layout.offset, layout.row_pitch);
            check(is_same, || format!("{found:?}, not {layout:?}"))?;
        }
        [image, same].into_iter().for_each(|image| device.destroy_image(image, None));
    }
    Ok(())
}

/// Draws that cover parts of tiles and lines, and blend.
fn draws() -> Vec<Draw> {
    let blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        ..State::default().blend
    };
    let blended = State { blend, ..state() };
    vec![
        Draw::rect(state(), [-0.9, -0.8, 0.7, 0.35], [0.2, 0.6, 0.9, 1.0]),
        Draw::rect(blended, [-0.5, -0.3, 0.95, 0.9], [0.9, 0.3, 0.1, 0.6]),
    ]
}

const SIZE: [u32; 2] = [75, 41];

fn state() -> State {
    let [width, height] = SIZE;
    let viewport = vk::Viewport { width: width as f32, height: height as f32, ..State::default().viewport };
    State {
        viewport,
        scissor: vk::Rect2D { extent: vk::Extent2D { width, height }, ..Default::default() },
        ..State::default()
    }
}

/// Renders to an image in rows, and compares it with an image of optimal tiling.
fn rendered(gpu: &Gpu, format: F, texel: u64, padding: u64) -> Case {
    let target = Target { size: SIZE, format, clear: [0.1, 0.2, 0.3, 0.4], ..Target::default() };
    let rows = Some([padding / 3, u64::from(SIZE[0]) * texel + padding]);
    let [optimal, in_rows] = [None, rows].map(|rows| render(gpu, &Target { rows, ..target }, &draws()));
    check(optimal? == in_rows?, || "other pixels".into())
}

/// Samples an image in rows with a filter, and compares it with an image of optimal tiling.
fn sampled(gpu: &Gpu, format: F, texel: u64) -> Case {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let desc = ImageDesc::color(format, [37, 19], usage);
    let sampler = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR).min_filter(vk::Filter::LINEAR);
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&sampler, None)? };
    // The bytes are finite numbers in all formats.
    let texels: Vec<u8> = (0..37 * 19 * texel).map(|byte| (byte * 7 % 120) as u8).collect();
    let shown = |image: Result<Image, Outcome>| {
        let (image, layout) = (image?, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        gpu.write_image(&image, vk::ImageAspectFlags::COLOR, &texels, layout)?;
        let image = Some(SampledImage { view: image.view, sampler, layout });
        let state = State { fragment: TEXTURE, ..state() };
        let target = Target { size: SIZE, ..Target::default() };
        render(gpu, &target, &[Draw { image, ..Draw::rect(state, FULL, [1.0; 4]) }])
    };
    let in_rows = shown(gpu.image_in_rows(&desc, [16, 37 * texel + 56]))?;
    check(shown(gpu.image(&desc))? == in_rows, || "other pixels".into())
}

/// An image in rows with its memory.
struct External {
    image: Image,
    memory: vk::DeviceMemory,
    layout: vk::SubresourceLayout,
}

/// Creates an image in rows with external memory, which is either exported or imported.
fn external(gpu: &Gpu, kind: Handles, import: Option<(RawFd, vk::SubresourceLayout)>) -> Result<External, Outcome> {
    let planes = [import.map_or_else(Default::default, |(_, layout)| layout)];
    let mut list = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&[LINEAR]);
    let mut placed = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().plane_layouts(&planes);
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(kind);
    let info = info(F::R8G8B8A8_UNORM, vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    let info = info.push_next(&mut external);
    let info = if import.is_some() { info.push_next(&mut placed) } else { info.push_next(&mut list) };
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
    let fd = import.map_or(-1, |(fd, _)| fd);
    let mut from = vk::ImportMemoryFdInfoKHR::default().handle_type(kind).fd(fd);
    let files = khr::external_memory_fd::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        let image = gpu.device.create_image(&info, None)?;
        let needs = gpu.device.get_image_memory_requirements(image);
        let mut types = vk::MemoryFdPropertiesKHR { memory_type_bits: u32::MAX, ..Default::default() };
        if import.is_some() && kind == Handles::DMA_BUF_EXT {
            files.get_memory_fd_properties(kind, fd, &mut types)?;
        }
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(image);
        let bits = types.memory_type_bits & needs.memory_type_bits;
        check(bits != 0, || "no type of memory".into())?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(bits.trailing_zeros())
            .push_next(&mut dedicated);
        let info = if import.is_some() { info.push_next(&mut from) } else { info.push_next(&mut export) };
        let memory = gpu.device.allocate_memory(&info, None)?;
        gpu.device.bind_image_memory(image, memory, 0)?;
        let plane = vk::ImageSubresource { aspect_mask: MEMORY_PLANES[0], ..Default::default() };
        let layout = gpu.device.get_image_subresource_layout(image, plane);
        let layout = vk::SubresourceLayout { offset: layout.offset, row_pitch: layout.row_pitch, ..Default::default() };
        let extent = vk::Extent3D { width: 38, height: 22, depth: 1 };
        let aspects = vk::ImageAspectFlags::COLOR;
        let image = Image { handle: image, view: vk::ImageView::null(), extent, aspects, levels: 1 };
        Ok(External { image, memory, layout })
    }
}

/// Reads an image on one device that another device wrote.
fn shared(gpu: &Gpu, kind: Handles) -> Case {
    gpu.need(vk::EXT_IMAGE_DRM_FORMAT_MODIFIER_NAME)?;
    gpu.need(vk::KHR_EXTERNAL_MEMORY_FD_NAME)?;
    if kind == Handles::DMA_BUF_EXT {
        gpu.need(vk::EXT_EXTERNAL_MEMORY_DMA_BUF_NAME)?;
    }
    let (_, found) = limits(gpu, F::R8G8B8A8_UNORM, LINEAR, kind)?;
    let (exports, imports) = (vk::ExternalMemoryFeatureFlags::EXPORTABLE, vk::ExternalMemoryFeatureFlags::IMPORTABLE);
    check(found.external_memory_features.contains(imports), || format!("{found:?}"))?;
    // Some kernels make no dma-bufs.
    if !found.external_memory_features.contains(exports) {
        return Ok(());
    }
    let other = gpu.with_queues(&[(0, &[1.0])])?.remove(0);
    let External { image, memory, layout } = external(&other, kind, None)?;
    let texels: Vec<u32> = (0..38 * 22).map(|texel| texel * 77).collect();
    let (aspect, state) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::GENERAL);
    other.write_image(&image, aspect, bytemuck::cast_slice(&texels), state)?;
    let files = khr::external_memory_fd::Device::new(&other.instance, &other.device);
    let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(kind);
    // SAFETY: the memory was made to be exported.
    let descriptor = unsafe { files.get_memory_fd(&info)? };
    let External { image, .. } = external(gpu, kind, Some((descriptor, layout)))?;
    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(access)
        .old_layout(state)
        .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
        .src_queue_family_index(vk::QUEUE_FAMILY_EXTERNAL)
        .dst_queue_family_index(0)
        .image(image.handle)
        .subresource_range(range(aspect, 0, 1));
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        let none = vk::DependencyFlags::empty();
        gpu.device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]);
    })?;
    let read = gpu.read_image(&image, aspect, 4)?;
    check(read == bytemuck::cast_slice::<u32, u8>(&texels), || "other texels".into())
}
