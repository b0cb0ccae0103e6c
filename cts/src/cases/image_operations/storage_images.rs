//! Storage images of cube arrays and of several samples.

use ash::vk;

use crate::cases::support::transfer_images::{
    ImageShape, download, equal, everything, image, part, region, upload, words,
};
use crate::harness::{Case, Gpu, ImageDesc, Outcome, Transition};

const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

case!("images.storage.cube_array", "Image Operations", storage_cube_array);

fn storage_cube_array(gpu: &Gpu) -> Case {
    if gpu.features.image_cube_array == vk::FALSE {
        return Err(Outcome::NotSupported("no cube arrays".into()));
    }
    let image = image(gpu, ImageShape { layers: 12, ..ImageShape::new(vk::Format::R32_UINT, [2, 2, 1]) }, COLOR)?;
    let all = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers { layer_count: 12, ..part(COLOR, 0, 0) },
        ..region(part(COLOR, 0, 0), [2, 2, 1])
    };
    upload(gpu, image, &(0..48u32).collect::<Vec<_>>(), all)?;
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::CUBE_ARRAY)
        .format(vk::Format::R32_UINT)
        .subresource_range(vk::ImageSubresourceRange { layer_count: 12, level_count: 1, ..everything(COLOR) });
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_IMAGE])?;
    // SAFETY: the info is valid, and the set is new.
    unsafe {
        let image_view = gpu.device.create_image_view(&info, None)?;
        let images = [vk::DescriptorImageInfo { image_view, image_layout: GENERAL, ..Default::default() }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).image_info(&images);
        gpu.device.update_descriptor_sets(&[write.descriptor_type(vk::DescriptorType::STORAGE_IMAGE)], &[]);
    }
    gpu.dispatch(&gpu.compute_with(shader!("cube_array.comp"), None, (set_layout, set))?, &[], [1, 1, 12])?;
    let expected: Vec<u32> = (0..48).map(|texel| texel + texel / 4 * 1000).collect();
    equal(&words(&download(gpu, image, 192, all)?), &expected)
}

case!("images.storage.samples", "Image Operations", storage_samples);

/// Stores, reads and counts each sample of storage images.
fn storage_samples(gpu: &Gpu) -> Case {
    if gpu.features.shader_storage_image_multisample == 0 {
        return Err(Outcome::NotSupported("storage images with samples".into()));
    }
    for count in [2, 4, 8, 16] {
        let samples = vk::SampleCountFlags::from_raw(count);
        if gpu.properties.limits.storage_image_sample_counts.contains(samples) {
            samples_of(gpu, samples)?;
        }
    }
    Ok(())
}

fn samples_of(gpu: &Gpu, samples: vk::SampleCountFlags) -> Case {
    let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(&ImageDesc { samples, ..ImageDesc::color(vk::Format::R32_UINT, [8; 2], usage) })?;
    let view = vk::ImageViewCreateInfo::default()
        .image(image.handle)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(vk::Format::R32_UINT)
        .subresource_range(vk::ImageSubresourceRange { layer_count: 1, level_count: 1, ..everything(COLOR) });
    // SAFETY: the info is valid.
    let image_view = unsafe { gpu.device.create_image_view(&view, None) }?;
    let words = gpu.buffer(256)?;
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_IMAGE, vk::DescriptorType::STORAGE_BUFFER])?;
    let images = [vk::DescriptorImageInfo { image_view, image_layout: GENERAL, ..Default::default() }];
    let buffers = [vk::DescriptorBufferInfo { buffer: words.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set);
    let writes = [
        write.descriptor_type(vk::DescriptorType::STORAGE_IMAGE).image_info(&images),
        write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&buffers),
    ];
    // SAFETY: the set is new.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    let compute = gpu.compute_with(shader!("samples.comp"), None, (set_layout, set))?;
    gpu.run(|commands| {
        gpu.barrier(commands, Some(Transition { image: &image, from: vk::ImageLayout::UNDEFINED, to: GENERAL }));
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    let count = samples.as_raw();
    let expected = |own: u32| {
        let other = (0..count).fold(0u32, |sum, i| sum.wrapping_mul(3).wrapping_add((63 - own) * 16 + i));
        let before = own * 16 + count - 1;
        other.wrapping_add(before * 1000 + (before + 5) * 7 + 8)
    };
    equal(&words.words(), &(0..64).map(expected).collect::<Vec<_>>())
}
