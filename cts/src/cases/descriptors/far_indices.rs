//! Indices of 64 bits into storage buffers of more than 4 GiB: by an execution mode of the program,
//! and by a flag of the pipeline.

use ash::vk;
use ash::vk::DescriptorType as D;
use vitric_vulkan::names::EXT_SHADER_64BIT_INDEXING_NAME;
use vitric_vulkan::sys;

use crate::Entry;
use crate::harness::{Buffer, Case, Compute, Gpu, Outcome, check};

const FAR_INDICES: &[u8] = shader!("far_indices.comp");
const FAR_ELEMENTS: &[u8] = shader!("far_elements.comp");
const BUFFER_BLOCK: &[u8] = shader!("buffer_block.comp");
/// Number of the capability, and of the execution mode.
const NUMBERS: [u32; 2] = [5426, 5427];
/// Index of the word that the shader names by a constant, 64 KiB behind the first 4 GiB.
const FAR: u64 = 0x4000_4000;
/// Number of words of the buffer.
const WORDS: u64 = FAR + 1024;
/// Number of lanes of the shader.
const LANES: u64 = 16;

/// How a program gets 64-bit indexing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Mode,
    Flag,
    Nothing,
}

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    const PARTS: [&str; 8] = ["store", "load", "length", "choose", "walk", "constant", "matrix", "boundary"];
    for (group, by) in [("far_by_mode", By::Mode), ("far_by_flag", By::Flag)] {
        for (part, name) in (0..).zip(PARTS) {
            let run = move |gpu: &Gpu| far(gpu, part, by);
            cases.push(Entry::new(format!("descriptors.{group}.{name}"), "64-Bit Indexing", run));
        }
    }
}

/// A shader, and the part of it that runs.
struct Program {
    code: Vec<u8>,
    part: i32,
    by: By,
}

impl Program {
    fn new(part: i32, by: By) -> Self {
        let code = if by == By::Mode { FAR_INDICES.to_vec() } else { without_mode(FAR_INDICES) };
        Self { code, part, by }
    }
}

/// A buffer that is too large to be written as a whole, and one of results.
struct Scene<'a> {
    gpu: &'a Gpu,
    memory: vk::DeviceMemory,
    values: Buffer,
    out: Buffer,
}

/// Cases run side by side, and the heap has no room for the buffers of all.
impl Drop for Scene<'_> {
    fn drop(&mut self) {
        // SAFETY: the case waits for its work, and uses neither afterwards.
        unsafe {
            self.gpu.device.destroy_buffer(self.values.handle, None);
            self.gpu.device.free_memory(self.memory, None);
        }
    }
}

impl<'a> Scene<'a> {
    fn new(gpu: &'a Gpu) -> Result<Self, Outcome> {
        gpu.need(EXT_SHADER_64BIT_INDEXING_NAME)?;
        if gpu.extension_features.variable_pointers.variable_pointers == 0 || gpu.features.shader_int64 == 0 {
            return Err(Outcome::NotSupported("variable pointers or integers of 64 bits".into()));
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(WORDS * 4).usage(usage);
        let too_large = |_| Outcome::NotSupported(format!("buffers of {} bytes", WORDS * 4));
        // SAFETY: the info is valid, and memory is bound once.
        let (handle, memory) = unsafe {
            let handle = gpu.device.create_buffer(&info, None).map_err(too_large)?;
            let needs = gpu.device.get_buffer_memory_requirements(handle);
            let memory = gpu.allocate(needs, false).map_err(|_| Outcome::NotSupported(format!("{needs:?}")))?;
            gpu.device.bind_buffer_memory(handle, memory, 0)?;
            (handle, memory)
        };
        let out = gpu.buffer_with(&(0..1024).collect::<Vec<u32>>())?;
        Ok(Self { gpu, memory, values: Buffer::of(handle, WORDS * 4), out })
    }

    /// Writes words from `index` on: a multiple of the word's index.
    fn fill(&self, index: u64, count: u64) -> Result<Vec<u32>, Outcome> {
        let words: Vec<u32> = (index..index + count).map(|index| (index % 9973) as u32 * 3 + 7).collect();
        let gpu = self.gpu;
        let source = gpu.buffer_with(&words)?;
        let region = vk::BufferCopy { src_offset: 0, dst_offset: index * 4, size: count * 4 };
        gpu.run(|commands| {
            // SAFETY: the region lies in both buffers.
            unsafe { gpu.device.cmd_copy_buffer(commands, source.handle, self.values.handle, &[region]) };
            gpu.barrier(commands, None);
        })?;
        Ok(words)
    }

    /// Runs a program from an index on, and returns the words that it leaves.
    fn run(&self, program: &Program, first: u64) -> Result<Vec<u32>, Outcome> {
        let compute = pipeline(self.gpu, program, [self.values, self.out])?;
        self.gpu.dispatch(&compute, &first.to_le_bytes(), [1; 3])?;
        Ok(self.out.words())
    }
}

/// Returns the shader without the execution mode and its capability.
fn without_mode(code: &[u8]) -> Vec<u8> {
    let words: Vec<u32> = code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (header, mut rest) = words.split_at(5);
    let mut kept = header.to_vec();
    while let [first, ..] = rest {
        let (inst, after) = rest.split_at((first >> 16) as usize);
        let is_mode = matches!(first & 0xffff, 16 | 17) && inst.last().is_some_and(|word| NUMBERS.contains(word));
        kept.extend(inst.iter().filter(|_| !is_mode));
        rest = after;
    }
    bytemuck::cast_slice(&kept).to_vec()
}

fn write(gpu: &Gpu, set: vk::DescriptorSet, buffers: [Buffer; 2]) {
    let infos =
        buffers.map(|buffer| [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: buffer.size }]);
    let write = |binding: usize| {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding as u32);
        write.descriptor_type(D::STORAGE_BUFFER).buffer_info(&infos[binding])
    };
    // SAFETY: nothing uses the set, and the buffers are alive.
    unsafe { gpu.device.update_descriptor_sets(&[write(0), write(1)], &[]) };
}

fn pipeline(gpu: &Gpu, program: &Program, buffers: [Buffer; 2]) -> Result<Compute, Outcome> {
    let (set_layout, set) = gpu.set(&[D::STORAGE_BUFFER; 2])?;
    write(gpu, set, buffers);
    let layout = gpu.layout(&[set_layout])?;
    let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
    let data = program.part.to_le_bytes();
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(&program.code)?)
        .name(c"main")
        .specialization_info(&specialization);
    let flags = vk::PipelineCreateFlags2KHR::from_raw(sys::PipelineCreateFlags2::_64_BIT_INDEXING_EXT.bits());
    let mut flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(flags);
    let mut info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
    if program.by == By::Flag {
        info = info.push_next(&mut flags);
    }
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
    Ok(Compute { pipeline: made.map_err(|(_, code)| code)?[0], layout, set })
}

/// Runs a part of the shader behind the first 4 GiB of a buffer. The words 4 GiB before differ.
fn far(gpu: &Gpu, part: i32, by: By) -> Case {
    let scene = Scene::new(gpu)?;
    scene.fill(FAR - (1 << 30), 256)?;
    let boundary = scene.fill(1 << 30, 1)?;
    let words = scene.fill(FAR, 256)?;
    let lanes = words.iter().copied().take(LANES as usize);
    let expected: Vec<u32> = match part {
        0 => (0..LANES as u32).map(|lane| lane * 3 + 1).collect(),
        2 => [WORDS as u32].into_iter().chain([(WORDS >> 32) as u32; LANES as usize - 1]).collect(),
        3 => lanes.enumerate().map(|(lane, word)| if lane % 2 == 1 { word } else { lane as u32 + 32 }).collect(),
        5 => vec![words[0]; LANES as usize],
        6 => words.clone(),
        7 => vec![boundary[0]; LANES as usize],
        _ => lanes.collect(),
    };
    let found = scene.run(&Program::new(part, by), FAR)?;
    check(found.starts_with(&expected), || format!("{:?} instead of {expected:?}", &found[..expected.len()]))?;
    if part != 0 {
        return Ok(());
    }
    // The words that the shader stored and added to.
    let region = vk::BufferCopy { src_offset: FAR * 4, dst_offset: 0, size: LANES * 4 };
    gpu.run(|commands| {
        // SAFETY: the region lies in both buffers.
        unsafe { gpu.device.cmd_copy_buffer(commands, scene.values.handle, scene.out.handle, &[region]) };
        gpu.barrier(commands, None);
    })?;
    let (found, expected) = (scene.out.words(), expected.iter().map(|word| word + 5));
    check(found.iter().copied().zip(expected).all(|(word, wanted)| word == wanted), || format!("{found:?}"))
}

case!("descriptors.far_by_mode.outside", "64-Bit Indexing", outside);

/// Checks that loads behind a buffer, and before it, return 0.
fn outside(gpu: &Gpu) -> Case {
    if gpu.extension_features.robustness.robust_buffer_access2 == 0 {
        return Err(Outcome::NotSupported("robustBufferAccess2".into()));
    }
    let scene = Scene::new(gpu)?;
    let (start, end) = (scene.fill(0, 64)?, scene.fill(WORDS - 64, 64)?);
    let zeros = [0; LANES as usize];
    let cases: [(u64, Vec<u32>); 5] = [
        (WORDS - 8, [&end[56..], &zeros[..8]].concat()),
        (u64::MAX - 3, [&zeros[..4], &start[..12]].concat()),
        (WORDS + 1, zeros.to_vec()),
        (1 << 41, zeros.to_vec()),
        (1 << 61, zeros.to_vec()),
    ];
    for (first, expected) in cases {
        let found = scene.run(&Program::new(1, By::Mode), first)?;
        check(found.starts_with(&expected), || format!("{first:#x}: {:?} instead of {expected:?}", &found[..16]))?;
    }
    Ok(())
}

case!("descriptors.far_by_mode.elements", "64-Bit Indexing", elements);

/// Checks loads of lanes from different elements of an array of buffers.
fn elements(gpu: &Gpu) -> Case {
    gpu.need(EXT_SHADER_64BIT_INDEXING_NAME)?;
    if gpu.extension_features.descriptor_indexing.shader_storage_buffer_array_non_uniform_indexing == 0
        || gpu.features.shader_int64 == 0
    {
        return Err(Outcome::NotSupported("elements that differ or integers of 64 bits".into()));
    }
    let binding = |number, count| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(D::STORAGE_BUFFER)
            .descriptor_count(count)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let (set_layout, set) = gpu.set_of(&[D::STORAGE_BUFFER; 4], &[binding(0, 3), binding(1, 1)])?;
    let values = |element: u32| (0..LANES as u32).map(|lane| element * 100 + lane).collect::<Vec<_>>();
    let out = gpu.buffer(LANES * 4)?;
    let buffers = [gpu.buffer_with(&values(0))?, gpu.buffer_with(&values(1))?, gpu.buffer_with(&values(2))?, out];
    let infos = buffers.map(|buffer| vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: buffer.size });
    let write = |binding, infos| {
        let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
        write.descriptor_type(D::STORAGE_BUFFER).buffer_info(infos)
    };
    // SAFETY: the set is new, and the buffers are alive.
    unsafe { gpu.device.update_descriptor_sets(&[write(0, &infos[..3]), write(1, &infos[3..])], &[]) };
    gpu.dispatch(&gpu.compute_with(FAR_ELEMENTS, None, (set_layout, set))?, &[], [1; 3])?;
    let expected: Vec<u32> = (0..LANES as u32).map(|lane| lane % 3 * 100 + lane).collect();
    check(out.words() == expected, || format!("{:?}", out.words()))
}

case!("descriptors.far_by_nothing.large_range", "Buffer Indexing Calculations", large_range);

/// Checks that programs with 32-bit offsets access the first 4 GiB of a larger range.
fn large_range(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu)?;
    for first in [0, (1 << 29) - 8, (1 << 30) - 64] {
        let words = scene.fill(first, LANES)?;
        let found = scene.run(&Program::new(1, By::Nothing), first)?;
        check(found.starts_with(&words), || format!("{first:#x}: {:?} instead of {words:?}", &found[..16]))?;
    }
    Ok(())
}

case!("descriptors.far_by_flag.buffer_block", "64-Bit Indexing", buffer_block);

/// Checks loads from storage buffers in the form of SPIR-V 1.0.
fn buffer_block(gpu: &Gpu) -> Case {
    let scene = Scene::new(gpu)?;
    let words = scene.fill(FAR, LANES * 4)?;
    let program = Program { code: BUFFER_BLOCK.to_vec(), part: 0, by: By::Flag };
    let found = scene.run(&program, FAR / 4)?;
    let expected: Vec<u32> = words.iter().copied().step_by(4).collect();
    check(found.starts_with(&expected), || format!("{:?} instead of {expected:?}", &found[..LANES as usize]))
}
