//! Copies of images by the host (`VK_EXT_host_image_copy`).

use ash::vk;

use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, check, layers};
use crate::render::SIZE;
use vitric_vulkan::names::KHR_UNIFIED_IMAGE_LAYOUTS_NAME;

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

fn need(gpu: &Gpu) -> Result<ash::ext::host_image_copy::Device, Outcome> {
    match gpu.extension_features.host_copies.host_image_copy {
        vk::TRUE => Ok(ash::ext::host_image_copy::Device::new(&gpu.instance, &gpu.device)),
        _ => Err(Outcome::NotSupported("copies by the host".into())),
    }
}

/// Creates an image and moves it to the general layout on the host, without a command.
fn image(gpu: &Gpu, copies: &ash::ext::host_image_copy::Device, format: vk::Format) -> Result<Image, Outcome> {
    let usage =
        vk::ImageUsageFlags::HOST_TRANSFER_EXT | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::SAMPLED;
    let made = gpu.image(&ImageDesc::color(format, [SIZE; 2], usage))?;
    let range = crate::harness::range(COLOR, 0, 1);
    let transition = [vk::HostImageLayoutTransitionInfoEXT::default()
        .image(made.handle)
        .new_layout(GENERAL)
        .subresource_range(range)];
    // SAFETY: the image is new.
    unsafe { copies.transition_image_layout(&transition) }?;
    Ok(made)
}

fn texels() -> Vec<u32> {
    (0..SIZE * SIZE).map(|at| at.wrapping_mul(0x0101_2347) ^ 0x55aa).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    bytemuck::cast_slice(words).to_vec()
}

/// Copies all of an image from memory.
fn fill(copies: &ash::ext::host_image_copy::Device, image: &Image, memory: &[u32]) -> Case {
    let region = [vk::MemoryToImageCopyEXT {
        p_host_pointer: memory.as_ptr().cast(),
        image_subresource: layers(COLOR),
        image_extent: image.extent,
        ..Default::default()
    }];
    let info = vk::CopyMemoryToImageInfoEXT::default().dst_image(image.handle).dst_image_layout(GENERAL);
    // SAFETY: the memory has as many texels as the image.
    Ok(unsafe { copies.copy_memory_to_image(&info.regions(&region)) }?)
}

case!("host.copies.regions", "VK_EXT_host_image_copy", regions);

/// Copies a whole image from memory, then a part of it from longer rows, and reads another part
/// back.
fn regions(gpu: &Gpu) -> Case {
    let copies = need(gpu)?;
    let made = image(gpu, &copies, RGBA)?;
    let mut expected = texels();
    fill(&copies, &made, &expected)?;
    let (offset, extent) = (vk::Offset3D { x: 3, y: 9, z: 0 }, vk::Extent3D { width: 10, height: 4, depth: 1 });
    let patch: Vec<u32> = (0..13 * 4).map(|at| at + 0x7000_0000).collect();
    let region = [vk::MemoryToImageCopyEXT {
        p_host_pointer: patch.as_ptr().cast(),
        memory_row_length: 13,
        memory_image_height: 5,
        image_subresource: layers(COLOR),
        image_offset: offset,
        image_extent: extent,
        ..Default::default()
    }];
    let info = vk::CopyMemoryToImageInfoEXT::default().dst_image(made.handle).dst_image_layout(GENERAL);
    // SAFETY: the memory holds the region.
    unsafe { copies.copy_memory_to_image(&info.regions(&region)) }?;
    for (y, row) in patch.chunks(13).enumerate() {
        let start = (9 + y) * SIZE as usize + 3;
        expected[start..start + 10].copy_from_slice(&row[..10]);
    }
    check(gpu.read_image(&made, COLOR, 4)? == bytes(&expected), || "what commands see is different".into())?;
    let mut back = vec![0xdead_beefu32; 5 * 3];
    let region = [vk::ImageToMemoryCopyEXT {
        p_host_pointer: back.as_mut_ptr().cast(),
        memory_row_length: 5,
        image_subresource: layers(COLOR),
        image_offset: vk::Offset3D { x: 2, y: 8, z: 0 },
        image_extent: vk::Extent3D { width: 3, height: 3, depth: 1 },
        ..Default::default()
    }];
    let info = vk::CopyImageToMemoryInfoEXT::default().src_image(made.handle).src_image_layout(GENERAL);
    // SAFETY: the memory has room for the region.
    unsafe { copies.copy_image_to_memory(&info.regions(&region)) }?;
    for (at, &word) in back.iter().enumerate() {
        let (x, y) = (at % 5, at / 5);
        let wanted = if x < 3 { expected[(8 + y) * SIZE as usize + 2 + x] } else { 0xdead_beef };
        check(word == wanted, || format!("({x}, {y}) is {word:x}, not {wanted:x}"))?;
    }
    Ok(())
}

case!("host.copies.memory", "VK_EXT_host_image_copy", as_memory);

/// Copies an image to memory and back to another image by `MEMCPY`, in any layout of the driver.
fn as_memory(gpu: &Gpu) -> Case {
    let copies = need(gpu)?;
    let (first, second) = (image(gpu, &copies, RGBA)?, image(gpu, &copies, RGBA)?);
    fill(&copies, &first, &texels())?;
    let part = vk::ImageSubresource2KHR::default().image_subresource(vk::ImageSubresource {
        aspect_mask: COLOR,
        mip_level: 0,
        array_layer: 0,
    });
    let mut size = vk::SubresourceHostMemcpySizeEXT::default();
    let mut layout = vk::SubresourceLayout2KHR::default().push_next(&mut size);
    // SAFETY: the structures are alive.
    unsafe { copies.get_image_subresource_layout2(first.handle, &part, &mut layout) };
    check(size.size >= u64::from(SIZE * SIZE * 4), || format!("{} bytes", size.size))?;
    let mut memory = vec![0u8; size.size as usize];
    let out = [vk::ImageToMemoryCopyEXT {
        p_host_pointer: memory.as_mut_ptr().cast(),
        image_subresource: layers(COLOR),
        image_extent: first.extent,
        ..Default::default()
    }];
    let flags = vk::HostImageCopyFlagsEXT::MEMCPY;
    let info = vk::CopyImageToMemoryInfoEXT::default().src_image(first.handle).src_image_layout(GENERAL).flags(flags);
    // SAFETY: the memory has room for the image.
    unsafe { copies.copy_image_to_memory(&info.regions(&out)) }?;
    let back = [vk::MemoryToImageCopyEXT {
        p_host_pointer: memory.as_ptr().cast(),
        image_subresource: layers(COLOR),
        image_extent: first.extent,
        ..Default::default()
    }];
    let info = vk::CopyMemoryToImageInfoEXT::default().dst_image(second.handle).dst_image_layout(GENERAL).flags(flags);
    // SAFETY: the memory holds the image.
    unsafe { copies.copy_memory_to_image(&info.regions(&back)) }?;
    check(gpu.read_image(&second, COLOR, 4)? == bytes(&texels()), || "texels changed".into())
}

case!("host.copies.images", "VK_EXT_host_image_copy", between_images);

/// Copies a part of an image to a part of another image.
fn between_images(gpu: &Gpu) -> Case {
    let copies = need(gpu)?;
    let (first, second) = (image(gpu, &copies, RGBA)?, image(gpu, &copies, RGBA)?);
    fill(&copies, &first, &texels())?;
    fill(&copies, &second, &[0; (SIZE * SIZE) as usize])?;
    let region = [vk::ImageCopy2::default()
        .src_subresource(layers(COLOR))
        .src_offset(vk::Offset3D { x: 1, y: 2, z: 0 })
        .dst_subresource(layers(COLOR))
        .dst_offset(vk::Offset3D { x: 5, y: 0, z: 0 })
        .extent(vk::Extent3D { width: 7, height: 9, depth: 1 })];
    let info = vk::CopyImageToImageInfoEXT::default()
        .src_image(first.handle)
        .src_image_layout(GENERAL)
        .dst_image(second.handle)
        .dst_image_layout(GENERAL)
        .regions(&region);
    // SAFETY: the regions lie in the images.
    unsafe { copies.copy_image_to_image(&info) }?;
    let (source, mut expected) = (texels(), vec![0u32; (SIZE * SIZE) as usize]);
    for y in 0..9 {
        for x in 0..7 {
            expected[y * SIZE as usize + x + 5] = source[(y + 2) * SIZE as usize + x + 1];
        }
    }
    check(gpu.read_image(&second, COLOR, 4)? == bytes(&expected), || "other texels".into())
}

/// Layouts of colours, depths and stencils that equal the general layout where layouts are unified.
const UNIFIED: [vk::ImageLayout; 15] = [
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
    vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::READ_ONLY_OPTIMAL,
    vk::ImageLayout::ATTACHMENT_OPTIMAL,
    vk::ImageLayout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT,
];

case!("host.copies.properties", "VK_EXT_host_image_copy", properties);

/// Checks that the count of layouts matches the list, and that the general layout and all layouts
/// that equal it are in the list.
fn properties(gpu: &Gpu) -> Case {
    need(gpu)?;
    let query = ash::khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    let ask = |from: &mut [vk::ImageLayout], to: &mut [vk::ImageLayout]| {
        let mut properties = vk::PhysicalDeviceHostImageCopyPropertiesEXT::default();
        if !from.is_empty() {
            properties = properties.copy_src_layouts(from).copy_dst_layouts(to);
        }
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: the structures are alive.
        unsafe { query.get_physical_device_properties2(gpu.physical, &mut all) };
        (properties.copy_src_layout_count as usize, properties.copy_dst_layout_count as usize)
    };
    let (from, to) = ask(&mut [], &mut []);
    check(from > 0 && to > 0, || "no layout".into())?;
    let (mut sources, mut targets) = (vec![vk::ImageLayout::UNDEFINED; from], vec![vk::ImageLayout::UNDEFINED; to]);
    ask(&mut sources, &mut targets);
    let has_general = sources.contains(&GENERAL) && targets.contains(&GENERAL);
    check(has_general && !sources.contains(&vk::ImageLayout::UNDEFINED), || format!("{sources:?}, {targets:?}"))?;
    if !gpu.has(KHR_UNIFIED_IMAGE_LAYOUTS_NAME) {
        return Ok(());
    }
    let missing = UNIFIED.iter().find(|layout| !sources.contains(layout) || !targets.contains(layout));
    check(missing.is_none(), || format!("{missing:?} is missing"))
}
