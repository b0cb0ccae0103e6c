//! Mutable descriptor types.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::compute::range;
use crate::cases::support::pairs::{Pair, write};
use crate::harness::{Buffer, Case, Gpu, Outcome, check};

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const PAIR_KINDS: [T; 3] = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::STORAGE_BUFFER];

/// Expected sum of the bound buffers.
const SUM: u32 = 1 + 2 * 16 + 3 * 256;

case!("commands.descriptors.mutable", "VK_EXT_mutable_descriptor_type", mutable);

/// Writes and copies uniform and storage buffers to bindings of mutable type.
fn mutable(gpu: &Gpu) -> Case {
    if gpu.extension_features.mutable.mutable_descriptor_type == vk::FALSE {
        return Err(Outcome::NotSupported("descriptors of several types".into()));
    }
    let either = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER, T::COMBINED_IMAGE_SAMPLER];
    let lists = [vk::MutableDescriptorTypeListEXT::default().descriptor_types(&either); 3];
    let mut types = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
    let binding = |number| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(T::MUTABLE_EXT)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [0, 1, 2].map(binding);
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut types);
    let sizes = [vk::DescriptorPoolSize { ty: T::MUTABLE_EXT, descriptor_count: 6 }];
    let pool = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
    // SAFETY: valid infos.
    let (layout, sets) = unsafe {
        let layout = gpu.device.create_descriptor_set_layout(&info, None)?;
        let pool = gpu.device.create_descriptor_pool(&pool, None)?;
        let layouts = [layout; 2];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        (layout, gpu.device.allocate_descriptor_sets(&info)?)
    };
    let pair = Pair::new(gpu, layout)?;
    let buffers: Vec<Buffer> = (1..4u32).map(|word| gpu.buffer_with(&[word; 4])).collect::<Result<_, _>>()?;
    let infos: Vec<_> = buffers.iter().map(|buffer| range(buffer.handle, 16)).collect();
    // The bindings hold other types first: the last write counts.
    for kinds in [[T::STORAGE_BUFFER, T::UNIFORM_BUFFER, T::UNIFORM_BUFFER], PAIR_KINDS] {
        let writes: Vec<_> = (0..).zip(&infos).map(|(binding, info)| write(binding, info).dst_set(sets[0])).collect();
        let writes: Vec<_> = writes.iter().zip(kinds).map(|(write, kind)| write.descriptor_type(kind)).collect();
        // SAFETY: nothing uses the set.
        unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    }
    let copy = |binding| {
        let copy = vk::CopyDescriptorSet::default().src_set(sets[0]).dst_set(sets[1]).descriptor_count(1);
        copy.src_binding(binding).dst_binding(binding)
    };
    // SAFETY: nothing uses the sets.
    unsafe { gpu.device.update_descriptor_sets(&[], &[0, 1, 2].map(copy)) };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            pair.bind(gpu, commands);
            for (at, set) in (0..).zip(&sets) {
                gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, pair.layout, 0, &[*set], &[]);
                pair.dispatch(gpu, commands, at);
            }
        }
        gpu.barrier(commands, None);
    })?;
    check(pair.out.words()[..2] == [SUM; 2], || format!("{:?}", pair.out.words()))
}
