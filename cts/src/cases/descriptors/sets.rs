//! Reuse: descriptor sets that are written, copied, freed and allocated again, resources at the
//! addresses of destroyed ones, and equal or nearly equal pipelines.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::cases::support::compute::{pipeline, range, set_layout};
use crate::cases::support::pairs::{COMPUTE, PAIR, PAIR_KINDS};
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, State, Target, render};

/// A pool of sets, and a program that adds words of three buffers of set 0.
struct Sum {
    pool: vk::DescriptorPool,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    result: vk::DescriptorSet,
    out: Buffer,
    /// Buffer `i` holds `i + 1`.
    words: Vec<Buffer>,
}

impl Sum {
    fn new(gpu: &Gpu) -> Result<Self, Outcome> {
        let set_layout = set_layout(gpu, &PAIR_KINDS, Default::default())?;
        let (second, result) = gpu.set(&[T::STORAGE_BUFFER])?;
        let out = gpu.buffer(64)?;
        let info = range(out.handle, vk::WHOLE_SIZE);
        let write = vk::WriteDescriptorSet::default().dst_set(result).descriptor_type(T::STORAGE_BUFFER);
        // SAFETY: the set is new.
        unsafe { gpu.device.update_descriptor_sets(&[write.buffer_info(&info)], &[]) };
        let sizes = [T::UNIFORM_BUFFER, T::STORAGE_BUFFER]
            .map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(64));
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(16).pool_sizes(&sizes);
        let info = info.flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET);
        // SAFETY: the info is valid.
        let pool = unsafe { gpu.device.create_descriptor_pool(&info, None) }?;
        let layout = gpu.layout(&[set_layout, second])?;
        let pipeline = pipeline(gpu, PAIR, layout)?;
        let words = (1..=8u32).map(|word| gpu.buffer_with(&[word; 4])).collect::<Result<_, _>>()?;
        Ok(Self { pool, set_layout, layout, pipeline, result, out, words })
    }

    fn allocate(&self, gpu: &Gpu, layout: vk::DescriptorSetLayout) -> Result<vk::DescriptorSet, Outcome> {
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        // SAFETY: the info is valid.
        Ok(unsafe { gpu.device.allocate_descriptor_sets(&info) }?[0])
    }

    /// Writes buffers to bindings of a set.
    fn write(&self, gpu: &Gpu, set: vk::DescriptorSet, buffers: &[(u32, usize)]) {
        for &(binding, of) in buffers {
            write(gpu, set, binding, self.words[of].handle);
        }
    }

    /// Returns the sum that the program computes with this set.
    fn run(&self, gpu: &Gpu, set: vk::DescriptorSet) -> Result<u32, Outcome> {
        gpu.run(|commands| {
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_bind_pipeline(commands, COMPUTE, self.pipeline);
                gpu.device.cmd_bind_descriptor_sets(commands, COMPUTE, self.layout, 0, &[set, self.result], &[]);
                gpu.device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::ALL, 0, &[0; 4]);
                gpu.device.cmd_dispatch(commands, 1, 1, 1);
            }
            gpu.barrier(commands, None);
        })?;
        Ok(self.out.words()[0])
    }

    fn expect(&self, gpu: &Gpu, set: vk::DescriptorSet, words: [u32; 3], when: &str) -> Case {
        let (found, wanted) = (self.run(gpu, set)?, words[0] + 16 * words[1] + 256 * words[2]);
        check(found == wanted, || format!("{when}: {found:#x}, not {wanted:#x}"))
    }

    /// # Safety
    /// Nothing uses its sets.
    unsafe fn close(self, gpu: &Gpu) {
        // SAFETY: as this function demands.
        unsafe { gpu.device.destroy_descriptor_pool(self.pool, None) };
    }
}

fn write(gpu: &Gpu, set: vk::DescriptorSet, binding: u32, buffer: vk::Buffer) {
    let info = range(buffer, vk::WHOLE_SIZE);
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).buffer_info(&info);
    // SAFETY: nothing uses the set, and the buffer is alive.
    unsafe { gpu.device.update_descriptor_sets(&[write.descriptor_type(PAIR_KINDS[binding as usize])], &[]) };
}

case!("sets.pools.again", "Descriptor Set Updates, Descriptor Pools", |gpu| again(gpu, false));
case!("sets.pools.freed", "Descriptor Set Updates, Descriptor Pools", |gpu| again(gpu, true));

/// Allocates, writes, uses and frees sets of two layouts three times, and checks that reallocated
/// sets hold new descriptors.
fn again(gpu: &Gpu, are_freed: bool) -> Case {
    let sum = Sum::new(gpu)?;
    let longer = set_layout(
        gpu,
        &[PAIR_KINDS[0], PAIR_KINDS[1], PAIR_KINDS[2], T::UNIFORM_BUFFER, T::STORAGE_BUFFER],
        Default::default(),
    )?;
    for round in 0..3usize {
        let layouts = if round % 2 == 0 { [sum.set_layout, longer] } else { [longer, sum.set_layout] };
        let sets = [sum.allocate(gpu, layouts[0])?, sum.allocate(gpu, layouts[1])?];
        // The longer layout is compatible with no pipeline here. Its set is only written, before
        // and after the other.
        let (short, long) = if round % 2 == 0 { (sets[0], sets[1]) } else { (sets[1], sets[0]) };
        sum.write(gpu, long, &[(0, 7), (1, 7), (2, 7)]);
        sum.write(gpu, short, &[(0, round), (1, round + 1), (2, round + 2)]);
        sum.write(gpu, long, &[(0, 6), (1, 6), (2, 6)]);
        let first = round as u32 + 1;
        sum.expect(gpu, short, [first, first + 1, first + 2], &format!("round {round}"))?;
        // SAFETY: nothing uses the sets any more.
        unsafe {
            match are_freed {
                true => gpu.device.free_descriptor_sets(sum.pool, &sets)?,
                false => gpu.device.reset_descriptor_pool(sum.pool, vk::DescriptorPoolResetFlags::empty())?,
            }
        }
    }
    // The pool has all of its room again.
    for _ in 0..16 {
        sum.allocate(gpu, sum.set_layout)?;
    }
    // SAFETY: nothing uses the sets.
    unsafe { sum.close(gpu) };
    Ok(())
}

case!("sets.updates.copies", "Descriptor Set Updates, Descriptor Pools", copies);

/// Copies descriptors from set to set and within one set, before the source is written again.
fn copies(gpu: &Gpu) -> Case {
    let sum = Sum::new(gpu)?;
    let [one, other] = [sum.allocate(gpu, sum.set_layout)?, sum.allocate(gpu, sum.set_layout)?];
    sum.write(gpu, one, &[(0, 0), (1, 1), (2, 2)]);
    sum.write(gpu, other, &[(0, 3), (1, 4), (2, 5)]);
    sum.expect(gpu, one, [1, 2, 3], "before copies")?;
    sum.expect(gpu, other, [4, 5, 6], "before copies, the other")?;
    let copy = |from: (vk::DescriptorSet, u32), to: (vk::DescriptorSet, u32)| {
        let copy = vk::CopyDescriptorSet::default().src_set(from.0).src_binding(from.1);
        copy.dst_set(to.0).dst_binding(to.1).descriptor_count(1)
    };
    // SAFETY: nothing uses the sets.
    unsafe { gpu.device.update_descriptor_sets(&[], &[copy((one, 0), (other, 0)), copy((other, 1), (other, 2))]) };
    // Copies keep the descriptors from before the write.
    sum.write(gpu, one, &[(0, 7)]);
    sum.write(gpu, other, &[(1, 6)]);
    sum.expect(gpu, one, [8, 2, 3], "the source")?;
    sum.expect(gpu, other, [1, 7, 5], "the target")?;
    // SAFETY: nothing uses the sets any more.
    unsafe { sum.close(gpu) };
    Ok(())
}

case!("sets.updates.between", "Descriptor Set Updates, Descriptor Pools", between);

/// Writes a set again between submissions of one command buffer each.
fn between(gpu: &Gpu) -> Case {
    let sum = Sum::new(gpu)?;
    let set = sum.allocate(gpu, sum.set_layout)?;
    sum.write(gpu, set, &[(0, 0), (1, 1), (2, 2)]);
    for round in 0..5usize {
        sum.write(gpu, set, &[(round as u32 % 3, round + 2)]);
        let word = |binding: u32| {
            let last = (0..=round).rev().find(|last| *last as u32 % 3 == binding);
            last.map_or(binding + 1, |last| last as u32 + 3)
        };
        sum.expect(gpu, set, [0, 1, 2].map(word), &format!("round {round}"))?;
    }
    // SAFETY: nothing uses the set any more.
    unsafe { sum.close(gpu) };
    Ok(())
}

case!("sets.resources.replaced", "Descriptor Set Updates, Descriptor Pools", replaced);

/// Destroys a buffer that a set holds, creates others, and writes the set again before it is used.
fn replaced(gpu: &Gpu) -> Case {
    let sum = Sum::new(gpu)?;
    let set = sum.allocate(gpu, sum.set_layout)?;
    sum.write(gpu, set, &[(0, 0), (1, 1), (2, 2)]);
    for round in 0..4u32 {
        let info = vk::BufferCreateInfo::default().size(16).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: the infos are valid; the buffer is named by a set that is not used before it is
        // written again.
        unsafe {
            let gone = gpu.device.create_buffer(&info, None)?;
            let needs = gpu.device.get_buffer_memory_requirements(gone);
            let kind = needs.memory_type_bits.trailing_zeros();
            let memory = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = gpu.device.allocate_memory(&memory, None)?;
            gpu.device.bind_buffer_memory(gone, memory, 0)?;
            write(gpu, set, 1, gone);
            gpu.device.destroy_buffer(gone, None);
            gpu.device.free_memory(memory, None);
        }
        // Another buffer may have got the address of the destroyed one.
        let came = gpu.buffer_with(&[round + 3; 4])?;
        write(gpu, set, 1, came.handle);
        sum.expect(gpu, set, [1, round + 3, 3], &format!("round {round}"))?;
    }
    // SAFETY: nothing uses the set any more.
    unsafe { sum.close(gpu) };
    Ok(())
}

case!("sets.pipelines.again", "Pipelines", pipelines);

/// Creates pipelines of the same programs one after the other. Some are equal, others differ in
/// one word of their state.
fn pipelines(gpu: &Gpu) -> Case {
    let target = Target { clear: [0.0, 0.0, 1.0, 1.0], ..Target::default() };
    let masks = [vk::ColorComponentFlags::RGBA, vk::ColorComponentFlags::R, vk::ColorComponentFlags::G];
    let expected = [[255, 255, 0, 255], [255, 0, 255, 255], [0, 255, 255, 255]];
    for round in 0..3 {
        for (mask, expected) in masks.into_iter().zip(expected) {
            let state = || {
                let mut state = State::default();
                state.blend.color_write_mask = mask;
                state
            };
            let pixels = render(gpu, &target, &[Draw::rect(state(), FULL, [1.0, 1.0, 0.0, 1.0])])?;
            let found = pixels[0];
            check(found == expected, || format!("round {round}, {mask:?}: {found:?}, not {expected:?}"))?;
            let half = State { sample_mask: 0, ..state() };
            let pixels = render(gpu, &target, &[Draw::rect(half, FULL, [1.0, 1.0, 0.0, 1.0])])?;
            check(pixels[0] == [0, 0, 255, 255], || format!("without samples: {:?}", pixels[0]))?;
        }
    }
    Ok(())
}
