//! Copies between depth and colour, and blits between layers and slices (`VK_KHR_maintenance8`).

use ash::vk;

use crate::harness::{Case, Gpu, Image, ImageDesc, Outcome, Transition, check, layers};
use vitric_vulkan::names::KHR_MAINTENANCE8_NAME;

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

case!("maintenance.eight.depth_copies", "VK_KHR_maintenance8", depth_copies);

/// Copies integers from a colour image to the depth and stencil aspects, and back.
fn depth_copies(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE8_NAME)?;
    type CopyKind = (vk::Format, u32, vk::Format, vk::ImageAspectFlags);
    let kinds: [CopyKind; 3] = [
        (vk::Format::R32_SFLOAT, 4, vk::Format::D32_SFLOAT, vk::ImageAspectFlags::DEPTH),
        (vk::Format::R16_UNORM, 2, vk::Format::D16_UNORM, vk::ImageAspectFlags::DEPTH),
        (vk::Format::R8_UINT, 1, vk::Format::D32_SFLOAT_S8_UINT, vk::ImageAspectFlags::STENCIL),
    ];
    for (color, bytes, depth, aspect) in kinds {
        let words: Vec<u8> = match bytes {
            4 => (0..256).flat_map(|texel| (texel as f32 / 256.0).to_le_bytes()).collect(),
            _ => (0..256 * bytes).map(|byte| (byte * 37 % 251) as u8).collect(),
        };
        let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let [from, to] = [(); 2].map(|()| gpu.image(&ImageDesc::color(color, [16; 2], usage)));
        let (from, to) = (from?, to?);
        let aspects = match depth {
            vk::Format::D32_SFLOAT_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            _ => aspect,
        };
        let between = gpu.image(&ImageDesc { aspects, ..ImageDesc::color(depth, [16; 2], usage) })?;
        gpu.write_image(&from, COLOR, &words, GENERAL)?;
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        gpu.run(|commands| {
            for image in [&between, &to] {
                gpu.barrier(commands, Some(Transition { image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
            }
            copy(gpu, commands, Plane { image: &from, aspect: COLOR }, Plane { image: &between, aspect });
            gpu.barrier(commands, None);
            copy(gpu, commands, Plane { image: &between, aspect }, Plane { image: &to, aspect: COLOR });
            gpu.barrier(commands, Some(Transition { image: &to, from: GENERAL, to: source }));
        })?;
        let found = gpu.read_image(&to, COLOR, bytes)?;
        check(found == words, || format!("{color:?} by {depth:?}: {:?}, not {:?}", &found[..16], &words[..16]))?;
    }
    Ok(())
}

/// One aspect of an image.
#[derive(Clone, Copy)]
struct Plane<'a> {
    image: &'a Image,
    aspect: vk::ImageAspectFlags,
}

fn copy(gpu: &Gpu, commands: vk::CommandBuffer, from: Plane<'_>, to: Plane<'_>) {
    let region = vk::ImageCopy {
        src_subresource: layers(from.aspect),
        dst_subresource: layers(to.aspect),
        extent: from.image.extent,
        ..Default::default()
    };
    // SAFETY: the images are in the general layout, and the region is all of both.
    unsafe { gpu.device.cmd_copy_image(commands, from.image.handle, GENERAL, to.image.handle, GENERAL, &[region]) };
}

case!("maintenance.eight.blit_layers", "VK_KHR_maintenance8", blit_layers);

/// Blits slices of a volume to layers of an array, one each, and layers to slices.
fn blit_layers(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE8_NAME)?;
    let words: Vec<u32> = (1..=16).collect();
    let (source, out) = (gpu.buffer_with(&words)?, gpu.buffer(64)?);
    let extent = |depth| vk::Extent3D { width: 2, height: 2, depth };
    let volumes = [bare(gpu, vk::ImageType::TYPE_3D, extent(4), 1)?, bare(gpu, vk::ImageType::TYPE_3D, extent(4), 1)?];
    let flat = bare(gpu, vk::ImageType::TYPE_2D, extent(1), 4)?;
    let all = |depth| vk::BufferImageCopy {
        image_subresource: layers(COLOR),
        image_extent: extent(depth),
        ..Default::default()
    };
    let ends = |z: [i32; 2]| [vk::Offset3D { z: z[0], ..Default::default() }, vk::Offset3D { x: 2, y: 2, z: z[1] }];
    let layer = |layer: u32| vk::ImageSubresourceLayers { base_array_layer: layer, ..layers(COLOR) };
    let to_layers = [0, 1, 2, 3].map(|slice: i32| vk::ImageBlit {
        src_subresource: layers(COLOR),
        src_offsets: ends([slice, slice + 1]),
        dst_subresource: layer(3 - slice as u32),
        dst_offsets: ends([0, 1]),
    });
    // A slice that is mirrored along its depth stays the same slice.
    let to_slices = [1, 2].map(|slice: i32| vk::ImageBlit {
        src_subresource: layer(3 - slice as u32),
        src_offsets: ends([0, 1]),
        dst_subresource: layers(COLOR),
        dst_offsets: ends([slice + 1, slice]),
    });
    let begin = |image| {
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(COLOR)
            .level_count(1)
            .layer_count(vk::REMAINING_ARRAY_LAYERS);
        let barrier = vk::ImageMemoryBarrier::default().image(image).subresource_range(range);
        barrier.new_layout(GENERAL).dst_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE)
    };
    gpu.run(|commands| {
        // SAFETY: the images are used in the general layout, and the regions lie in them.
        unsafe {
            let (transfer, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
            let images = [begin(volumes[0]), begin(volumes[1]), begin(flat)];
            let first = vk::PipelineStageFlags::TOP_OF_PIPE;
            gpu.device.cmd_pipeline_barrier(commands, first, transfer, none, &[], &[], &images);
            gpu.device.cmd_copy_buffer_to_image(commands, source.handle, volumes[0], GENERAL, &[all(4)]);
            gpu.barrier(commands, None);
            let nearest = vk::Filter::NEAREST;
            gpu.device.cmd_blit_image(commands, volumes[0], GENERAL, flat, GENERAL, &to_layers, nearest);
            gpu.barrier(commands, None);
            gpu.device.cmd_blit_image(commands, flat, GENERAL, volumes[1], GENERAL, &to_slices, nearest);
            gpu.barrier(commands, None);
            gpu.device.cmd_copy_image_to_buffer(commands, volumes[1], GENERAL, out.handle, &[all(4)]);
        }
        gpu.barrier(commands, None);
    })?;
    // The blits wrote the slices in the middle of the second volume.
    check(out.words()[4..12] == words[4..12], || format!("{:?}", out.words()))
}

/// Creates an image of 32-bit integers without a view.
fn bare(gpu: &Gpu, kind: vk::ImageType, extent: vk::Extent3D, layers: u32) -> Result<vk::Image, Outcome> {
    let info = vk::ImageCreateInfo::default()
        .image_type(kind)
        .format(vk::Format::R32_UINT)
        .extent(extent)
        .mip_levels(1)
        .array_layers(layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC);
    gpu.bound_image(&info)
}
