//! Images of any shape, in the general layout, whose texels are uploaded and downloaded.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};

pub(in crate::cases) const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Shape of a test image. An image of 12 layers is a storage image of two cubes.
#[derive(Clone, Copy)]
pub(in crate::cases) struct ImageShape {
    pub(in crate::cases) format: vk::Format,
    pub(in crate::cases) extent: [u32; 3],
    pub(in crate::cases) levels: u32,
    pub(in crate::cases) layers: u32,
    pub(in crate::cases) samples: vk::SampleCountFlags,
}

impl ImageShape {
    pub(in crate::cases) fn new(format: vk::Format, extent: [u32; 3]) -> Self {
        Self { format, extent, levels: 1, layers: 1, samples: vk::SampleCountFlags::TYPE_1 }
    }
}

/// Returns the range of every level and layer of some aspects.
pub(in crate::cases) fn everything(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    let (level_count, layer_count) = (vk::REMAINING_MIP_LEVELS, vk::REMAINING_ARRAY_LAYERS);
    vk::ImageSubresourceRange { aspect_mask, level_count, layer_count, ..Default::default() }
}

/// Creates an image of undefined contents in the general layout.
pub(in crate::cases) fn image(
    gpu: &Gpu,
    shape: ImageShape,
    aspects: vk::ImageAspectFlags,
) -> Result<vk::Image, Outcome> {
    let [width, height, depth] = shape.extent;
    let more = match (shape.samples == vk::SampleCountFlags::TYPE_1, shape.layers == 12) {
        (false, _) => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        (_, true) => vk::ImageUsageFlags::STORAGE,
        _ => vk::ImageUsageFlags::empty(),
    };
    let cubes = if shape.layers == 12 { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { Default::default() };
    let info = vk::ImageCreateInfo::default()
        .flags(cubes)
        .image_type(if depth > 1 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
        .format(shape.format)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(shape.levels)
        .array_layers(shape.layers)
        .samples(shape.samples)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | more);
    let handle = gpu.bound_image(&info)?;
    let barrier = vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .new_layout(GENERAL)
        .image(handle)
        .subresource_range(everything(aspects));
    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: the command buffer is recording.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_pipeline_barrier(commands, stage, stage, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
    })?;
    Ok(handle)
}

/// Returns some aspects of one level and layer.
pub(in crate::cases) fn part(
    aspect_mask: vk::ImageAspectFlags,
    mip_level: u32,
    base_array_layer: u32,
) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer, layer_count: 1 }
}

/// Converts an extent.
pub(in crate::cases) fn extent([width, height, depth]: [u32; 3]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth }
}

/// Returns the copy of the tightly packed texels of one subresource.
pub(in crate::cases) fn region(subresource: vk::ImageSubresourceLayers, size: [u32; 3]) -> vk::BufferImageCopy {
    vk::BufferImageCopy { image_subresource: subresource, image_extent: extent(size), ..Default::default() }
}

/// Copies texels to a region of an image.
pub(in crate::cases) fn upload<T: bytemuck::Pod>(
    gpu: &Gpu,
    image: vk::Image,
    data: &[T],
    region: vk::BufferImageCopy,
) -> Case {
    let source = gpu.buffer_with(data)?;
    // SAFETY: the image is in the general layout, and the buffer holds all of the region.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_copy_buffer_to_image(commands, source.handle, image, GENERAL, &[region]);
        gpu.barrier(commands, None);
    })
}

/// Returns the bytes of a region of an image.
pub(in crate::cases) fn download(
    gpu: &Gpu,
    image: vk::Image,
    bytes: u64,
    region: vk::BufferImageCopy,
) -> Result<Vec<u8>, Outcome> {
    let target = gpu.buffer(bytes)?;
    gpu.run(|commands| {
        gpu.barrier(commands, None);
        // SAFETY: the image is in the general layout, and the buffer holds all of the region.
        unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image, GENERAL, target.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    Ok(target.read(0, bytes as usize))
}

/// Compares two slices.
pub(in crate::cases) fn equal<T: PartialEq + std::fmt::Debug>(got: &[T], expected: &[T]) -> Case {
    check(got == expected, || format!("{got:?} instead of {expected:?}"))
}

/// Converts bytes to words.
pub(in crate::cases) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}
