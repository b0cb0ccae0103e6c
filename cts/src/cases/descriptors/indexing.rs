//! Arrays of descriptors that shaders index without constant indices
//! (`VK_EXT_descriptor_indexing`).

use ash::vk;
use ash::vk::{DescriptorBindingFlags as B, DescriptorType as D};

use crate::harness::{Buffer, Case, Gpu, ImageDesc, Outcome, check};

const BINDLESS: &[u8] = shader!("bindless.comp");
const MILLION: &[u8] = shader!("million.comp");

/// Creates a set layout, and a set of it whose last binding has 3 of at most 40 descriptors.
fn bindless_set(gpu: &Gpu) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
    let kinds = [
        (D::STORAGE_BUFFER, 1, B::empty()),
        (D::STORAGE_BUFFER, 8, B::UPDATE_AFTER_BIND | B::PARTIALLY_BOUND),
        (D::UNIFORM_BUFFER, 3, B::UPDATE_AFTER_BIND),
        (D::STORAGE_TEXEL_BUFFER, 2, B::UPDATE_AFTER_BIND | B::UPDATE_UNUSED_WHILE_PENDING),
        (D::COMBINED_IMAGE_SAMPLER, 40, B::UPDATE_AFTER_BIND | B::VARIABLE_DESCRIPTOR_COUNT),
    ];
    let binding = |(number, &(kind, count, _)): (usize, &(D, u32, B))| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(kind)
            .descriptor_count(count)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings: Vec<_> = kinds.iter().enumerate().map(binding).collect();
    let flags = kinds.map(|(_, _, flags)| flags);
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let sizes = kinds
        .map(|(ty, count, _)| vk::DescriptorPoolSize { ty, descriptor_count: if count == 40 { 3 } else { count + 1 } });
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut flags);
    late_set(gpu, info, &sizes, Some(3))
}

/// Creates a set that may be written after it was bound. `count` is the number of descriptors of
/// a last binding of variable size.
fn late_set(
    gpu: &Gpu,
    info: vk::DescriptorSetLayoutCreateInfo<'_>,
    sizes: &[vk::DescriptorPoolSize],
    count: Option<u32>,
) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
    let counts = [count.unwrap_or_default()];
    let mut counts = vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(&counts);
    // SAFETY: valid infos.
    unsafe {
        let info = info.flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL);
        let layout = gpu.device.create_descriptor_set_layout(&info, None)?;
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND)
            .max_sets(1)
            .pool_sizes(sizes);
        let pool = gpu.device.create_descriptor_pool(&info, None)?;
        let layouts = [layout];
        let mut info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        if count.is_some() {
            info = info.push_next(&mut counts);
        }
        Ok((layout, gpu.device.allocate_descriptor_sets(&info)?[0]))
    }
}

fn texel_view(gpu: &Gpu, words: &[u32]) -> Result<vk::BufferView, Outcome> {
    let info = vk::BufferCreateInfo::default().size(words.len() as u64 * 4);
    let info = info.usage(vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER | vk::BufferUsageFlags::TRANSFER_DST);
    // SAFETY: valid infos; memory is bound once.
    unsafe {
        let buffer = gpu.device.create_buffer(&info, None)?;
        let memory = gpu.allocate(gpu.device.get_buffer_memory_requirements(buffer), false)?;
        gpu.device.bind_buffer_memory(buffer, memory, 0)?;
        gpu.run(|commands| {
            gpu.device.cmd_update_buffer(commands, buffer, 0, bytemuck::cast_slice(words));
            gpu.barrier(commands, None);
        })?;
        let info = vk::BufferViewCreateInfo::default().buffer(buffer).format(vk::Format::R32_UINT);
        Ok(gpu.device.create_buffer_view(&info.range(vk::WHOLE_SIZE), None)?)
    }
}

case!("core12.descriptors.after_bind", "VK_EXT_descriptor_indexing", after_bind);

/// Writes descriptors after the command buffer was recorded, and leaves some unwritten.
fn after_bind(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DESCRIPTOR_INDEXING_NAME)?;
    let features = &gpu.extension_features.descriptor_indexing;
    let needed = [
        features.shader_storage_buffer_array_non_uniform_indexing,
        features.shader_uniform_buffer_array_non_uniform_indexing,
        features.shader_storage_texel_buffer_array_non_uniform_indexing,
        features.shader_sampled_image_array_non_uniform_indexing,
        features.descriptor_binding_storage_buffer_update_after_bind,
        features.descriptor_binding_uniform_buffer_update_after_bind,
        features.descriptor_binding_storage_texel_buffer_update_after_bind,
        features.descriptor_binding_sampled_image_update_after_bind,
        features.descriptor_binding_update_unused_while_pending,
        features.descriptor_binding_partially_bound,
        features.descriptor_binding_variable_descriptor_count,
        features.runtime_descriptor_array,
    ];
    if needed.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("all of what is used here".into()));
    }
    let (set_layout, set) = bindless_set(gpu)?;
    let compute = gpu.compute_with(BINDLESS, None, (set_layout, set))?;
    let out = gpu.buffer(256)?;
    // SAFETY: valid infos; what the shader names is written before it runs.
    unsafe {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(1);
        let commands = gpu.device.allocate_command_buffers(&info)?;
        write_buffers(gpu, set, Slot { kind: D::STORAGE_BUFFER, binding: 0, element: 0 }, &[out]);
        gpu.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
        gpu.bind_compute(commands[0], &compute, &[]);
        gpu.device.cmd_dispatch(commands[0], 1, 1, 1);
        gpu.barrier(commands[0], None);
        gpu.device.end_command_buffer(commands[0])?;
        for round in 0..2u32 {
            fill(gpu, set, round)?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            gpu.device.queue_submit(gpu.queue, &submits, vk::Fence::null())?;
            gpu.device.queue_wait_idle(gpu.queue)?;
            for (lane, found) in (0u32..).zip(out.words()) {
                let which = if lane % 5 == 2 { 0 } else { lane % 5 };
                let expected = which
                    + round * 10
                    + (which + 1)
                    + (lane % 3 + round) * 1000
                    + ((lane / 7 % 2) * 4 + lane % 4 + round) * 100_000
                    + (lane % 3 + round + 1) * 10_000_000;
                check(found == expected, || format!("lane {lane} has {found}, not {expected}"))?;
            }
        }
    }
    Ok(())
}

/// Writes every storage buffer but element 2, with values that depend on the round.
fn fill(gpu: &Gpu, set: vk::DescriptorSet, round: u32) -> Case {
    let parts = (0..5u32).map(|number| gpu.buffer_with(&vec![number + round * 10; number as usize + 2]));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let small = (0..3u32).map(|number| gpu.buffer_with(&[9, number + round, 9, 9]));
    let small = small.collect::<Result<Vec<_>, _>>()?;
    write_buffers(gpu, set, Slot { kind: D::STORAGE_BUFFER, binding: 1, element: 0 }, &parts[..2]);
    write_buffers(gpu, set, Slot { kind: D::STORAGE_BUFFER, binding: 1, element: 3 }, &parts[3..]);
    write_buffers(gpu, set, Slot { kind: D::UNIFORM_BUFFER, binding: 2, element: 0 }, &small);
    let words: Vec<u32> = (0..8).map(|at| at + round).collect();
    let views = [texel_view(gpu, &words[..4])?, texel_view(gpu, &words[4..])?];
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(3);
    let write = write.descriptor_type(D::STORAGE_TEXEL_BUFFER).texel_buffer_view(&views);
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    // SAFETY: the info is valid.
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
    let mut infos = Vec::new();
    for number in 0..3u32 {
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let image = gpu.image(&ImageDesc::color(vk::Format::R32_UINT, [1, 1], usage))?;
        let bytes = (number + round + 1).to_le_bytes();
        gpu.write_image(&image, vk::ImageAspectFlags::COLOR, &bytes, layout)?;
        infos.push(vk::DescriptorImageInfo { sampler, image_view: image.view, image_layout: layout });
    }
    let images = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(4);
    let images = images.descriptor_type(D::COMBINED_IMAGE_SAMPLER).image_info(&infos);
    // SAFETY: the set may be updated after it was bound, and nothing runs.
    unsafe { gpu.device.update_descriptor_sets(&[write, images], &[]) };
    Ok(())
}

/// The first descriptor that a write updates.
#[derive(Clone, Copy)]
struct Slot {
    kind: D,
    binding: u32,
    element: u32,
}

fn write_buffers(gpu: &Gpu, set: vk::DescriptorSet, slot: Slot, buffers: &[Buffer]) {
    let Slot { kind, binding, element } = slot;
    let info = |buffer: &Buffer| vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE };
    let infos: Vec<_> = buffers.iter().map(info).collect();
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).dst_array_element(element);
    // SAFETY: the set may be updated, and nothing runs.
    unsafe { gpu.device.update_descriptor_sets(&[write.descriptor_type(kind).buffer_info(&infos)], &[]) };
}

/// Creates a set of an output and `count` storage buffers that may be written after the set was
/// bound.
fn large_set(gpu: &Gpu, count: u32) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
    let kind = D::STORAGE_BUFFER;
    let binding = vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(kind)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE);
    let bindings = [binding, binding.binding(1).descriptor_count(count)];
    let flags = [B::empty(), B::UPDATE_AFTER_BIND | B::PARTIALLY_BOUND];
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let sizes = [vk::DescriptorPoolSize { ty: kind, descriptor_count: count + 1 }];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut flags);
    late_set(gpu, info, &sizes, None)
}

case!("core12.descriptors.million", "VK_EXT_descriptor_indexing", million);

/// Writes a million descriptors at once, and reads a different one in each lane.
fn million(gpu: &Gpu) -> Case {
    const COUNT: u32 = 1_000_000;
    gpu.need(vk::EXT_DESCRIPTOR_INDEXING_NAME)?;
    let own = indexing_properties(gpu);
    let features = &gpu.extension_features.descriptor_indexing;
    let has = features.shader_storage_buffer_array_non_uniform_indexing
        & features.descriptor_binding_storage_buffer_update_after_bind
        & features.descriptor_binding_partially_bound
        & features.runtime_descriptor_array;
    let most = own.max_descriptor_set_update_after_bind_storage_buffers;
    if has == 0 || most.min(own.max_per_stage_update_after_bind_resources) <= COUNT {
        return Err(Outcome::NotSupported("a million descriptors".into()));
    }
    let (set_layout, set) = large_set(gpu, COUNT)?;
    // The first word of each 256 bytes is their number.
    let parts: Vec<u32> = (0..1024 * 64).map(|word| if word % 64 == 0 { word / 64 } else { u32::MAX }).collect();
    let (source, out) = (gpu.buffer_with(&parts)?, gpu.buffer(256)?);
    write_buffers(gpu, set, Slot { kind: D::STORAGE_BUFFER, binding: 0, element: 0 }, &[out]);
    let info = |number: u32| {
        let offset = u64::from(number % 1024) * 256;
        vk::DescriptorBufferInfo { buffer: source.handle, offset, range: 256 }
    };
    let infos: Vec<_> = (0..COUNT).map(info).collect();
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(1).descriptor_type(D::STORAGE_BUFFER);
    // SAFETY: the set is new, and everything named is alive.
    unsafe { gpu.device.update_descriptor_sets(&[write.buffer_info(&infos)], &[]) };
    gpu.dispatch(&gpu.compute_with(MILLION, None, (set_layout, set))?, &[], [1; 3])?;
    let expected: Vec<u32> = (0..64).map(|lane| lane * 15873 % 1024).collect();
    check(out.words() == expected, || format!("{:?}, not {expected:?}", out.words()))
}

pub(in crate::cases) fn indexing_properties(gpu: &Gpu) -> vk::PhysicalDeviceDescriptorIndexingProperties<'static> {
    let mut own = vk::PhysicalDeviceDescriptorIndexingProperties::default();
    gpu.properties2(&mut own);
    own.p_next = std::ptr::null_mut();
    own
}

case!("core12.descriptors.limits", "VK_EXT_descriptor_indexing", limits);

fn limits(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DESCRIPTOR_INDEXING_NAME)?;
    let own = indexing_properties(gpu);
    let least = [
        own.max_per_stage_descriptor_update_after_bind_samplers,
        own.max_per_stage_descriptor_update_after_bind_storage_buffers,
        own.max_per_stage_descriptor_update_after_bind_sampled_images,
        own.max_per_stage_descriptor_update_after_bind_storage_images,
        own.max_per_stage_update_after_bind_resources,
        own.max_update_after_bind_descriptors_in_all_pools,
    ];
    check(least.iter().all(|&most| most >= 500_000), || format!("{own:?}"))
}
