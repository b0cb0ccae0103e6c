//! Images of one layer as arrays, and the reverse. Source: `VK_KHR_maintenance11`.

use ash::vk;
use ash::vk::DescriptorType as D;
use vitric_vulkan::IMAGE_CREATE_ALIAS_SINGLE_LAYER_DESCRIPTOR_KHR;
use vitric_vulkan::names::KHR_MAINTENANCE11_NAME;

use crate::harness::{Case, Gpu, Outcome, check, layers, range};

const SHADER: &[u8] = shader!("single_layers.comp");
const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// Creates a view of a type of a new image of 4x4 texels, with texels that count from `first` on.
fn view(gpu: &Gpu, kind: vk::ImageViewType, format: vk::Format, first: u32) -> Result<vk::ImageView, Outcome> {
    let usage = match format {
        vk::Format::R32_UINT => vk::ImageUsageFlags::STORAGE,
        _ => vk::ImageUsageFlags::SAMPLED,
    };
    let info = vk::ImageCreateInfo::default()
        .flags(IMAGE_CREATE_ALIAS_SINGLE_LAYER_DESCRIPTOR_KHR)
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 4, height: 4, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .sharing_mode(vk::SharingMode::CONCURRENT)
        .queue_family_indices(&[0])
        .usage(usage | vk::ImageUsageFlags::TRANSFER_DST);
    let image = gpu.bound_image(&info)?;
    let info = vk::ImageViewCreateInfo::default().image(image).view_type(kind).format(format);
    // SAFETY: the info is valid.
    let view = unsafe { gpu.device.create_image_view(&info.subresource_range(range(COLOR, 0, 1)), None) }?;
    let number = |texel: u32| if format == vk::Format::R32_UINT { texel } else { (texel as f32).to_bits() };
    let texels: Vec<u32> = [0xffff].into_iter().chain((0..16).map(|texel| number(first + texel))).collect();
    let source = gpu.buffer_with(&texels)?;
    let barrier = vk::ImageMemoryBarrier::default().new_layout(GENERAL).image(image);
    let barrier = barrier.subresource_range(range(COLOR, 0, 1)).dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
    let region = vk::BufferImageCopy {
        buffer_offset: 4,
        image_subresource: layers(COLOR),
        image_extent: vk::Extent3D { width: 4, height: 4, depth: 1 },
        ..Default::default()
    };
    gpu.run(|commands| {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer is recording, and the buffer holds all of the region.
        unsafe {
            let none = vk::DependencyFlags::empty();
            gpu.device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]);
            gpu.device.cmd_copy_buffer_to_image(commands, source.handle, image, GENERAL, &[region]);
        }
        gpu.barrier(commands, None);
    })?;
    Ok(view)
}

case!("maintenance.eleven.single_layers", "VK_KHR_maintenance11", single_layers);

/// Reads, samples and writes images through descriptors whose views have the other type.
fn single_layers(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE11_NAME)?;
    let out = gpu.buffer(4 * 128)?;
    let kinds = [D::COMBINED_IMAGE_SAMPLER, D::COMBINED_IMAGE_SAMPLER, D::STORAGE_IMAGE, D::STORAGE_IMAGE];
    let (set_layout, set) = gpu.set(&[&kinds[..], &[D::STORAGE_BUFFER]].concat())?;
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
    let (plain, array) = (vk::ImageViewType::TYPE_2D, vk::ImageViewType::TYPE_2D_ARRAY);
    let formats = [vk::Format::R32_SFLOAT, vk::Format::R32_UINT];
    let views =
        [(plain, formats[0], 100), (array, formats[0], 200), (plain, formats[1], 300), (array, formats[1], 400)];
    for (binding, (kind, format, first)) in (0..).zip(views) {
        let image_view = view(gpu, kind, format, first)?;
        let info = [vk::DescriptorImageInfo { sampler, image_view, image_layout: GENERAL }];
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
        let write = write.descriptor_type(kinds[binding as usize]).image_info(&info);
        // SAFETY: the set is new, and nothing uses it.
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    }
    let info = [vk::DescriptorBufferInfo { buffer: out.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(4).descriptor_type(D::STORAGE_BUFFER);
    // SAFETY: the set is new, and nothing uses it.
    unsafe { gpu.device.update_descriptor_sets(&[write.buffer_info(&info)], &[]) };
    gpu.dispatch(&gpu.compute_with(SHADER, None, (set_layout, set))?, &[], [1; 3])?;
    for (at, found) in (0u32..).zip(out.words()) {
        let (part, lane) = (at / 16, at % 16);
        let wanted = match part {
            0 | 2 => 100 + lane,
            1 | 3 => 200 + lane,
            4 => 300 + lane,
            5 => 400 + lane,
            6 => 41,
            _ => 7 * lane + 9000 * lane,
        };
        check(found == wanted, || format!("part {part}, lane {lane}: {found}, not {wanted}"))?;
    }
    Ok(())
}

case!("maintenance.eleven.granularity", "VK_KHR_maintenance11", granularity);

/// Checks that queues of every family copy single texels, and their optimal granularity.
fn granularity(gpu: &Gpu) -> Case {
    gpu.need(KHR_MAINTENANCE11_NAME)?;
    // SAFETY: the structures of the chains are alive.
    unsafe {
        let count = gpu.instance.get_physical_device_queue_family_properties2_len(gpu.physical);
        let mut optimal =
            vec![vitric_vulkan::QueueFamilyOptimalImageTransferGranularityPropertiesKHR::default(); count];
        let chain = |own: &mut vitric_vulkan::QueueFamilyOptimalImageTransferGranularityPropertiesKHR| {
            vk::QueueFamilyProperties2 { p_next: (&raw mut *own).cast(), ..Default::default() }
        };
        let mut families: Vec<_> = optimal.iter_mut().map(chain).collect();
        gpu.instance.get_physical_device_queue_family_properties2(gpu.physical, &mut families);
        let smallest: Vec<_> =
            families.iter().map(|family| family.queue_family_properties.min_image_transfer_granularity).collect();
        for (family, (smallest, optimal)) in smallest.iter().zip(&optimal).enumerate() {
            let vk::Extent3D { width, height, depth } = *smallest;
            check([width, height, depth] == [1; 3], || format!("family {family} copies blocks of {smallest:?}"))?;
            let vk::Extent3D { width, height, depth } = optimal.optimal_image_transfer_granularity;
            let sides = [width, height, depth];
            let good = sides == [0; 3] || sides.iter().all(|side| side.is_power_of_two());
            check(good, || format!("family {family} is fastest with {sides:?}"))?;
        }
    }
    Ok(())
}
