//! Sets with more descriptors than the limit of one type, pools with too few descriptors, pipeline
//! layouts with many dynamic buffers, and sixteen bound sets.

use ash::vk;
use ash::vk::{DescriptorBindingFlags as B, DescriptorType as D};

use crate::cases::descriptors::indexing::indexing_properties;
use crate::cases::support::compute::{pipeline, range};
use crate::harness::{Buffer, Case, Gpu, ImageDesc, Outcome, check};

const LAST_IMAGE: &[u8] = shader!("last_image.comp");
const ALL_SETS: &[u8] = shader!("all_sets.comp");
const DYNAMIC_MANY: &[u8] = shader!("dynamic_many.comp");
const POINT: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// Number of dynamic buffers of each type.
const MANY: u32 = 512;

fn binding(number: u32, kind: D, count: u32) -> vk::DescriptorSetLayoutBinding<'static> {
    let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(kind);
    binding.descriptor_count(count).stage_flags(vk::ShaderStageFlags::COMPUTE)
}

/// Creates the layout of a set of bindings, and allocates a set of it from a pool of the given
/// sizes.
fn set(
    gpu: &Gpu,
    info: vk::DescriptorSetLayoutCreateInfo<'_>,
    sizes: &[(D, u32)],
) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet), Outcome> {
    let sizes: Vec<_> =
        sizes.iter().map(|&(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count }).collect();
    let mut pool = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
    if info.flags.contains(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL) {
        pool = pool.flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND);
    }
    // SAFETY: valid infos.
    unsafe {
        let layout = gpu.device.create_descriptor_set_layout(&info, None)?;
        let pool = gpu.device.create_descriptor_pool(&pool, None)?;
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        Ok((layout, gpu.device.allocate_descriptor_sets(&info)?[0]))
    }
}

/// Creates an image of two texels, the second of which is `word`.
fn image(gpu: &Gpu, word: u32) -> Result<vk::DescriptorImageInfo, Outcome> {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = gpu.image(&ImageDesc::color(vk::Format::R32_UINT, [2, 1], usage))?;
    let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.write_image(&image, vk::ImageAspectFlags::COLOR, bytemuck::cast_slice(&[7, word]), layout)?;
    Ok(vk::DescriptorImageInfo { image_view: image.view, image_layout: layout, ..Default::default() })
}

/// Writes a storage buffer to a binding of a set.
fn write_buffer(gpu: &Gpu, set: vk::DescriptorSet, binding: u32, buffer: &Buffer) {
    let info = range(buffer.handle, vk::WHOLE_SIZE);
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
    // SAFETY: nothing uses the set, and the buffer is alive.
    unsafe { gpu.device.update_descriptor_sets(&[write.descriptor_type(D::STORAGE_BUFFER).buffer_info(&info)], &[]) };
}

case!("capacity.sets.beyond_one_type", "Descriptor Set Layout", beyond_one_type);

/// Checks a set with a storage buffer and as many sampled images as a set may have. The limit
/// holds for one type, not for the set.
fn beyond_one_type(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_DESCRIPTOR_INDEXING_NAME)?;
    let features = &gpu.extension_features.descriptor_indexing;
    let has = features.descriptor_binding_sampled_image_update_after_bind
        & features.descriptor_binding_partially_bound
        & features.runtime_descriptor_array
        & gpu.features.shader_sampled_image_array_dynamic_indexing;
    let limits = indexing_properties(gpu);
    let most = limits.max_descriptor_set_update_after_bind_sampled_images;
    let most = most.min(limits.max_per_stage_descriptor_update_after_bind_sampled_images);
    if has == 0 || most > 1 << 22 || limits.max_per_stage_update_after_bind_resources <= most {
        return Err(Outcome::NotSupported("a set of all sampled images and a buffer".into()));
    }
    let bindings = [binding(0, D::STORAGE_BUFFER, 1), binding(1, D::SAMPLED_IMAGE, most)];
    let flags = [B::empty(), B::UPDATE_AFTER_BIND | B::PARTIALLY_BOUND];
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
        .bindings(&bindings)
        .push_next(&mut flags);
    let mut support = vk::DescriptorSetLayoutSupport::default();
    let second = ash::khr::maintenance3::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: the info is valid.
    unsafe { second.get_descriptor_set_layout_support(&info, &mut support) };
    check(support.supported == vk::TRUE, || format!("a buffer and {most} images are not supported"))?;
    let (set_layout, set) = set(gpu, info, &[(D::STORAGE_BUFFER, 1), (D::SAMPLED_IMAGE, most)])?;
    let out = gpu.buffer(12)?;
    write_buffer(gpu, set, 0, &out);
    let layout = gpu.layout(&[set_layout])?;
    let pipeline = pipeline(gpu, LAST_IMAGE, layout)?;
    let numbers = [0, most / 2, most - 1];
    // Writes few descriptors first, and then one far behind them.
    for (written, words) in [(1, [11, 0, 0]), (3, [11, 12, 13])] {
        for (&number, word) in numbers[..written].iter().zip(11..) {
            let info = [image(gpu, word)?];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(1).dst_array_element(number);
            let write = write.descriptor_type(D::SAMPLED_IMAGE).image_info(&info);
            // SAFETY: nothing uses the set, and the image is alive.
            unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
        }
        // The shader does not read descriptors that were not written.
        let read = std::array::from_fn(|at| numbers[at.min(written - 1)]);
        let expected: [u32; 3] = std::array::from_fn(|at| words[at.min(written - 1)]);
        gpu.run(|commands| {
            let push: [u32; 3] = read;
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_bind_pipeline(commands, POINT, pipeline);
                gpu.device.cmd_bind_descriptor_sets(commands, POINT, layout, 0, &[set], &[]);
                let (stages, bytes) = (vk::ShaderStageFlags::ALL, bytemuck::cast_slice(&push));
                gpu.device.cmd_push_constants(commands, layout, stages, 0, bytes);
                gpu.device.cmd_dispatch(commands, 1, 1, 1);
            }
            gpu.barrier(commands, None);
        })?;
        check(out.words() == expected, || format!("{:?}, not {expected:?}", out.words()))?;
    }
    Ok(())
}

case!("capacity.pools.too_few", "Descriptor Pools", too_few);

/// Checks that sets of types that their pool lacks are allocated, or that the pool is out of
/// memory.
fn too_few(gpu: &Gpu) -> Case {
    let short: [(D, u32, D); 3] = [
        (D::COMBINED_IMAGE_SAMPLER, 100, D::UNIFORM_BUFFER),
        (D::UNIFORM_BUFFER, 1, D::UNIFORM_BUFFER),
        (D::STORAGE_BUFFER, 1, D::SAMPLER),
    ];
    for (named, count, kind) in short {
        let bindings = [binding(0, kind, 3)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        match set(gpu, info, &[(named, count)]) {
            Ok(_) | Err(Outcome::NotSupported(_)) => {}
            // The specification allows this error, but software devices are expected to allocate
            // the set.
            Err(_) if gpu.properties.device_type != vk::PhysicalDeviceType::CPU => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

case!("capacity.sets.all", "Descriptor Set Binding", all_sets);

/// Binds sixteen sets, and then each of them alone to another buffer.
fn all_sets(gpu: &Gpu) -> Case {
    const SETS: usize = 16;
    let most = gpu.properties.limits.max_bound_descriptor_sets;
    if (most as usize) < SETS {
        return Err(Outcome::NotSupported(format!("{most} sets")));
    }
    let bindings = [binding(0, D::STORAGE_BUFFER, 1)];
    let make = |word: u32| {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let (layout, set) = set(gpu, info, &[(D::STORAGE_BUFFER, 1)])?;
        let buffer = gpu.buffer_with(&[word, 0])?;
        write_buffer(gpu, set, 0, &buffer);
        Ok((layout, set, buffer))
    };
    let made = (0..SETS).map(|_| make(1)).collect::<Result<Vec<_>, Outcome>>()?;
    let layouts: Vec<_> = made.iter().map(|(layout, ..)| *layout).collect();
    let layout = gpu.layout(&layouts)?;
    let pipeline = pipeline(gpu, ALL_SETS, layout)?;
    let sets: Vec<_> = made.iter().map(|(_, set, _)| *set).collect();
    let (_, other, last) = make(2)?;
    for slot in 0..SETS {
        gpu.run(|commands| {
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_bind_pipeline(commands, POINT, pipeline);
                gpu.device.cmd_bind_descriptor_sets(commands, POINT, layout, 0, &sets, &[]);
                gpu.device.cmd_dispatch(commands, 1, 1, 1);
                gpu.barrier(commands, None);
                gpu.device.cmd_bind_descriptor_sets(commands, POINT, layout, slot as u32, &[other], &[]);
                gpu.device.cmd_dispatch(commands, 1, 1, 1);
            }
            gpu.barrier(commands, None);
        })?;
        let out = if slot + 1 < SETS { &made[SETS - 1].2 } else { &last };
        let expected = (1 << SETS) - 1 + (1u32 << slot);
        check(out.words()[1] == expected, || format!("set {slot}: {:#x}, not {expected:#x}", out.words()[1]))?;
    }
    Ok(())
}

case!("capacity.dynamic.many", "Descriptor Set Binding", many_dynamic);

/// Binds more than a thousand dynamic buffers, at offsets with the least distance.
fn many_dynamic(gpu: &Gpu) -> Case {
    let limits = &gpu.properties.limits;
    let most = limits.max_descriptor_set_uniform_buffers_dynamic.min(limits.max_descriptor_set_storage_buffers_dynamic);
    let per_stage =
        limits.max_per_stage_descriptor_uniform_buffers.min(limits.max_per_stage_descriptor_storage_buffers - 1);
    let has = gpu.features.shader_uniform_buffer_array_dynamic_indexing
        & gpu.features.shader_storage_buffer_array_dynamic_indexing;
    if most.min(per_stage) < MANY || has == 0 {
        return Err(Outcome::NotSupported(format!("{most} dynamic buffers")));
    }
    let steps = [limits.min_uniform_buffer_offset_alignment, limits.min_storage_buffer_offset_alignment];
    let [uniform, storage] = steps.map(|step| step.max(4) as u32 / 4);
    let kinds = [D::UNIFORM_BUFFER_DYNAMIC, D::STORAGE_BUFFER_DYNAMIC];
    let bindings = [binding(0, kinds[0], MANY), binding(1, kinds[1], MANY), binding(2, D::STORAGE_BUFFER, 1)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let (set_layout, set) = set(gpu, info, &[(kinds[0], MANY), (kinds[1], MANY), (D::STORAGE_BUFFER, 1)])?;
    let words: Vec<u32> = (0..MANY * uniform.max(storage)).collect();
    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
    let info = vk::BufferCreateInfo::default().size(words.len() as u64 * 4).usage(usage);
    let (source, out) = (gpu.buffer_of(&info)?, gpu.buffer(u64::from(MANY) * 4)?);
    source.write(bytemuck::cast_slice(&words));
    write_buffer(gpu, set, 2, &out);
    let infos = vec![vk::DescriptorBufferInfo { buffer: source.handle, offset: 0, range: 4 }; MANY as usize];
    let write = vk::WriteDescriptorSet::default().dst_set(set).buffer_info(&infos);
    let writes = [0, 1].map(|at| write.dst_binding(at).descriptor_type(kinds[at as usize]));
    // SAFETY: nothing uses the set, and the buffer is alive.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    let layout = gpu.layout(&[set_layout])?;
    let pipeline = pipeline(gpu, DYNAMIC_MANY, layout)?;
    // Uniform buffers have ascending offsets, storage buffers have descending ones.
    let descending = (0..MANY).rev().map(|number| number * storage);
    let offsets: Vec<u32> = (0..MANY).map(|number| number * uniform).chain(descending).map(|word| word * 4).collect();
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.device.cmd_bind_pipeline(commands, POINT, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, POINT, layout, 0, &[set], &offsets);
            gpu.device.cmd_dispatch(commands, 1, 1, 1);
        }
        gpu.barrier(commands, None);
    })?;
    let sum = |number| number * uniform * 1000 + (MANY - 1 - number) * storage;
    let expected: Vec<u32> = (0..MANY).map(sum).collect();
    check(out.words() == expected, || format!("{:?}, not {expected:?}", out.words()))
}

case!("capacity.limits.of_heap", "VK_KHR_maintenance4", of_heap);

/// Checks that buffers and allocations are limited by the largest heap, and that the alignments of
/// WebGPU and of layers for Direct3D 12 hold.
fn of_heap(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_MAINTENANCE4_NAME)?;
    let (mut buffers, mut allocations) =
        (vk::PhysicalDeviceMaintenance4Properties::default(), vk::PhysicalDeviceMaintenance3Properties::default());
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut buffers).push_next(&mut allocations);
    let query = ash::khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the chain is valid, and so is the physical device.
    let memory = unsafe {
        query.get_physical_device_properties2(gpu.physical, &mut all);
        gpu.instance.get_physical_device_memory_properties(gpu.physical)
    };
    let heap = memory.memory_heaps[..memory.memory_heap_count as usize].iter().map(|heap| heap.size).max();
    let (heap, buffer, allocation) =
        (heap.unwrap_or(0), buffers.max_buffer_size, allocations.max_memory_allocation_size);
    if gpu.properties.device_type == vk::PhysicalDeviceType::CPU {
        check(buffer <= heap && allocation <= heap, || format!("{buffer} {allocation}: more than the heap's {heap}"))?;
        let alignment = gpu.properties.limits.min_storage_buffer_offset_alignment;
        check(alignment <= 16, || format!("storage buffers at multiples of {alignment} bytes"))?;
    }
    let limits = &gpu.properties.limits;
    let alignments = [limits.min_uniform_buffer_offset_alignment, limits.min_storage_buffer_offset_alignment];
    let powers = alignments.iter().all(|alignment| alignment.is_power_of_two() && *alignment <= 256);
    check(powers, || format!("{alignments:?}"))?;
    let info = vk::BufferCreateInfo::default().size(256).usage(vk::BufferUsageFlags::UNIFORM_BUFFER);
    // SAFETY: the info is valid, and the buffer is used no more.
    let needs = unsafe {
        let handle = gpu.device.create_buffer(&info, None)?;
        let needs = gpu.device.get_buffer_memory_requirements(handle);
        gpu.device.destroy_buffer(handle, None);
        needs
    };
    check(needs.alignment % alignments[0] == 0, || format!("memory of uniform buffers: {}", needs.alignment))
}
