//! Protected memory: work of protected submissions, and its isolation from unprotected memory.
//!
//! Nothing that protected memory contains reaches the host. A shader compares it with expected
//! words instead, and does not end if they differ, which loses the device.

use ash::vk;
use ash::vk::MemoryPropertyFlags as P;

use crate::harness::{Buffer, Case, Compute, Gpu, Outcome, STORAGE, check, whole};
use crate::render::address_commands::address;
use crate::render::{ClearedTarget, Draw, Prepared, State, Target, clear_values, cleared_target, prepare, record};

const EXPECT: &[u8] = shader!("expect.comp");
const INCREMENT: &[u8] = shader!("increment.comp");
const INCREMENT_AT: &[u8] = shader!("increment_at.comp");

/// Number of words in buffers of these cases.
const WORDS: u32 = 64;
const BYTES: u64 = 4 * WORDS as u64;
/// Word in protected memory.
const SECRET: u32 = 0x5ec2_e701;

/// Creates a protected buffer.
fn protected_buffer(gpu: &Gpu) -> Result<Buffer, Outcome> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let info = vk::BufferCreateInfo::default().flags(vk::BufferCreateFlags::PROTECTED).size(BYTES).usage(usage);
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    // SAFETY: the infos are valid, and the memory is bound once.
    unsafe {
        let handle = gpu.device.create_buffer(&info, None)?;
        let needs = gpu.device.get_buffer_memory_requirements(handle);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros())
            .push_next(&mut flags);
        let memory = gpu.device.allocate_memory(&info, None)?;
        gpu.device.bind_buffer_memory(handle, memory, 0)?;
        Ok(Buffer::of(handle, BYTES))
    }
}

/// Creates a protected buffer that is filled with the secret.
fn secret(protected: &Gpu) -> Result<Buffer, Outcome> {
    let buffer = protected_buffer(protected)?;
    protected.run(|commands| {
        // SAFETY: the command buffer is recording, and the buffer is alive.
        unsafe { protected.device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, SECRET) };
        protected.barrier(commands, None);
    })?;
    Ok(buffer)
}

/// Checks the words of a protected buffer.
fn expect(protected: &Gpu, found: Buffer, expected: [u32; WORDS as usize]) -> Case {
    let expected = protected.buffer_with(&expected)?;
    let compute = protected.compute_pipeline(EXPECT, 0, &[(STORAGE, found), (STORAGE, expected)])?;
    protected.dispatch(&compute, &[], [1, 1, 1])
}

fn copy(gpu: &Gpu, source: Buffer, target: Buffer) -> Case {
    let region = vk::BufferCopy { size: BYTES, ..Default::default() };
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and the buffers are as large as the region.
        unsafe { gpu.device.cmd_copy_buffer(commands, source.handle, target.handle, &[region]) };
        gpu.barrier(commands, None);
    })
}

case!("memory.protected.types", "Protected Memory", types);

/// Checks that protected resources get protected memory, and no others do, and that the host does
/// not see it.
fn types(gpu: &Gpu) -> Case {
    let [gpu, _] = gpu.with_protection()?;
    let types = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
    let is_protected = |number: &usize| types[*number].property_flags.contains(P::PROTECTED);
    let protected = (0..types.len()).filter(is_protected).fold(0u32, |bits, number| bits | 1 << number);
    check(protected != 0, || "no memory type is protected".into())?;
    let visible = P::HOST_VISIBLE | P::HOST_COHERENT | P::HOST_CACHED;
    let is_visible =
        |kind: &vk::MemoryType| kind.property_flags.contains(P::PROTECTED) && kind.property_flags.intersects(visible);
    check(!types.iter().any(is_visible), || "the host sees protected memory".into())?;
    for is_protected in [false, true] {
        let (mut buffer, mut image) = (vk::BufferCreateFlags::empty(), vk::ImageCreateFlags::empty());
        if is_protected {
            (buffer, image) = (vk::BufferCreateFlags::PROTECTED, vk::ImageCreateFlags::PROTECTED);
        }
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = vk::BufferCreateInfo::default().flags(buffer).size(64).usage(usage);
        let image = vk::ImageCreateInfo::default()
            .flags(image)
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_DST);
        // SAFETY: the infos are valid.
        let needs = unsafe {
            let (buffer, image) = (gpu.device.create_buffer(&buffer, None)?, gpu.device.create_image(&image, None)?);
            let image = gpu.device.get_image_memory_requirements(image);
            [gpu.device.get_buffer_memory_requirements(buffer), image].map(|needs| needs.memory_type_bits)
        };
        let fits = |bits: &u32| *bits != 0 && bits & if is_protected { !protected } else { protected } == 0;
        check(needs.iter().all(fits), || format!("{needs:x?} of {protected:x}, protected: {is_protected}"))?;
    }
    Ok(())
}

case!("memory.protected.queues", "Protected Memory", queues);

/// Checks that a device has its protected queue by `vkGetDeviceQueue2` only.
fn queues(gpu: &Gpu) -> Case {
    let [plain, protected] = gpu.with_protection()?;
    let queues = [plain.queue, protected.queue];
    check(!queues.contains(&vk::Queue::null()) && queues[0] != queues[1], || format!("{queues:?}"))?;
    // SAFETY: the physical device is valid.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let wanted = vk::QueueFlags::PROTECTED | vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let has_all = families.iter().any(|family| family.queue_flags.contains(wanted));
    check(has_all, || "no family draws and computes in protected memory".into())
}

case!("memory.protected.transfers", "Protected Memory", transfers);

/// Fills, updates and copies in protected memory, and copies unprotected memory to it.
fn transfers(gpu: &Gpu) -> Case {
    let [_, protected] = gpu.with_protection()?;
    let (first, second) = (secret(&protected)?, protected_buffer(&protected)?);
    copy(&protected, first, second)?;
    protected.run(|commands| {
        // SAFETY: the command buffer is recording, and the buffer is alive.
        unsafe { protected.device.cmd_update_buffer(commands, second.handle, 4, &7u32.to_le_bytes()) };
        protected.barrier(commands, None);
    })?;
    let mut expected = [SECRET; WORDS as usize];
    expected[1] = 7;
    expect(&protected, second, expected)?;
    let numbers = std::array::from_fn(|number| number as u32);
    copy(&protected, protected.buffer_with(&numbers)?, second)?;
    expect(&protected, second, numbers)
}

case!("memory.protected.dispatch", "Protected Memory", dispatch);

/// Computes from unprotected to protected memory, and from there to other protected memory.
fn dispatch(gpu: &Gpu) -> Case {
    let [_, protected] = gpu.with_protection()?;
    let numbers: [u32; WORDS as usize] = std::array::from_fn(|number| 3 * number as u32);
    let (source, first) = (protected.buffer_with(&numbers)?, protected_buffer(&protected)?);
    let second = protected_buffer(&protected)?;
    for (from, to) in [(source, first), (first, second)] {
        let compute = protected.compute_pipeline(INCREMENT, 0, &[(STORAGE, from), (STORAGE, to)])?;
        protected.dispatch(&compute, &[], [1, 1, 1])?;
    }
    expect(&protected, second, numbers.map(|number| number + 2))
}

case!("memory.protected.addresses", "Protected Memory", addresses);

/// Reads unprotected and protected memory by addresses, and writes protected memory. Writes of
/// unprotected memory have no effect.
fn addresses(gpu: &Gpu) -> Case {
    if gpu.extension_features.addresses.buffer_device_address == vk::FALSE {
        return Err(Outcome::NotSupported("addresses of buffers".into()));
    }
    let [_, protected] = gpu.with_protection()?;
    let (source, first) = (protected.addressed(BYTES)?, protected_buffer(&protected)?);
    let numbers: [u32; WORDS as usize] = std::array::from_fn(|number| 5 * number as u32);
    source.write(bytemuck::cast_slice(&numbers));
    let second = protected_buffer(&protected)?;
    let compute = protected.compute_pipeline(INCREMENT_AT, 0, &[])?;
    for (from, to) in [(source, first), (first, second), (second, source)] {
        let push: Vec<u8> = [from, to].iter().flat_map(|buffer| address(&protected, buffer).to_le_bytes()).collect();
        // The last write may lose the device.
        let done = protected.dispatch(&compute, &push, [1, 1, 1]);
        if to.handle != source.handle {
            done?;
            expect(&protected, to, numbers.map(|number| number + 1 + u32::from(to.handle == second.handle)))?;
        }
    }
    check(source.words() == numbers, || format!("{:?}", source.words()))
}

case!("memory.protected.draw", "Protected Memory", draw);

/// Draws to a protected image, and copies its texels to a protected buffer.
fn draw(gpu: &Gpu) -> Case {
    let [_, protected] = gpu.with_protection()?;
    let texels = protected_buffer(&protected)?;
    let drawing = Drawing::new(&protected)?;
    drawing.run(&protected)?;
    drawing.copy(&protected, texels)?;
    expect(&protected, texels, std::array::from_fn(|texel| if texel % 8 < 4 { 0xff00_ff00 } else { 0 }))
}

/// A draw of a green rectangle to the left half of an image of 8x8 texels.
struct Drawing {
    target: Target,
    cleared: ClearedTarget,
    rect: Draw,
    prepared: Prepared,
}

impl Drawing {
    /// Creates the image, which is protected if the submissions are, and all other objects.
    fn new(gpu: &Gpu) -> Result<Self, Outcome> {
        let target = Target { size: [8, 8], ..Target::default() };
        let cleared = cleared_target(gpu, &target)?;
        let viewport = vk::Viewport { width: 8.0, height: 8.0, max_depth: 1.0, ..Default::default() };
        let state = State { viewport, ..State::default() };
        let rect = Draw::rect(state, [-1.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
        let prepared = prepare(gpu, &target, (cleared.pass, &[cleared.image.view]), &rect)?;
        Ok(Self { target, cleared, rect, prepared })
    }

    /// Clears the image and draws.
    fn run(&self, gpu: &Gpu) -> Case {
        let Self { target, cleared, rect, prepared } = self;
        let clears = clear_values(target, false);
        let begin = vk::RenderPassBeginInfo::default().render_pass(cleared.pass).framebuffer(cleared.framebuffer);
        let extent = vk::Extent2D { width: 8, height: 8 };
        let begin = begin.clear_values(&clears).render_area(vk::Rect2D { extent, ..Default::default() });
        gpu.run(|commands| {
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe {
                gpu.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
                record(gpu, commands, rect, prepared);
                gpu.device.cmd_end_render_pass(commands);
            }
            gpu.barrier(commands, None);
        })
    }

    /// Copies the image to a buffer.
    fn copy(&self, gpu: &Gpu, target: Buffer) -> Case {
        let image = &self.cleared.image;
        let region = whole(image, vk::ImageAspectFlags::COLOR);
        gpu.run(|commands| {
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: the command buffer is recording, the buffer holds all texels, and the pass
            // leaves the image in the source layout.
            unsafe { gpu.device.cmd_copy_image_to_buffer(commands, image.handle, layout, target.handle, &[region]) };
            gpu.barrier(commands, None);
        })
    }
}

case!("memory.protected.pipelines", "VK_EXT_pipeline_protected_access", pipelines);

/// Runs a pipeline without protected access and a pipeline with protected access only.
fn pipelines(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_PROTECTED_ACCESS_NAME)?;
    let [plain, protected] = gpu.with_protection()?;
    let numbers: [u32; WORDS as usize] = std::array::from_fn(|number| 7 * number as u32);
    let expected = numbers.map(|number| number + 1);
    let run = |gpu: &Gpu, flags: vk::PipelineCreateFlags, target: Buffer| {
        let source = gpu.buffer_with(&numbers)?;
        let compute = gpu.compute_pipeline(INCREMENT, 0, &[(STORAGE, source), (STORAGE, target)])?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(gpu.module(INCREMENT)?)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(compute.layout)];
        // SAFETY: the info is valid.
        let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        gpu.dispatch(&Compute { pipeline: made.map_err(|(_, code)| code)?[0], ..compute }, &[], [1, 1, 1])
    };
    let target = plain.buffer(BYTES)?;
    run(&plain, vk::PipelineCreateFlags::NO_PROTECTED_ACCESS_EXT, target)?;
    check(target.words() == expected, || format!("{:?}", target.words()))?;
    let target = protected_buffer(&protected)?;
    run(&protected, vk::PipelineCreateFlags::PROTECTED_ACCESS_ONLY_EXT, target)?;
    expect(&protected, target, expected)
}

case!("memory.protected.confidentiality", "Protected Memory Access Rules", confidentiality);

/// Checks that unprotected submissions find nothing of protected memory, though they use it.
fn confidentiality(gpu: &Gpu) -> Case {
    let [plain, protected] = gpu.with_protection()?;
    let (secret, found) = (secret(&protected)?, plain.addressed(BYTES)?);
    let drawing = Drawing::new(&protected)?;
    drawing.run(&protected)?;
    // Each submission may lose the device.
    let is_found = |by: &str, done: Case| {
        let words = found.words();
        let is_secret = |word: &u32| [SECRET, SECRET + 1, 0xff00_ff00].contains(word);
        check(!words.iter().any(is_secret), || format!("found by a {by}: {words:x?}, {done:?}"))
    };
    is_found("copy", copy(&plain, secret, found))?;
    is_found("copy of an image", drawing.copy(&plain, found))?;
    let compute = plain.compute_pipeline(INCREMENT, 0, &[(STORAGE, secret), (STORAGE, found)])?;
    is_found("dispatch", plain.dispatch(&compute, &[], [1, 1, 1]))?;
    let push: Vec<u8> = [secret, found].iter().flat_map(|buffer| address(&plain, buffer).to_le_bytes()).collect();
    let compute = plain.compute_pipeline(INCREMENT_AT, 0, &[])?;
    is_found("dispatch by addresses", plain.dispatch(&compute, &push, [1, 1, 1]))
}

case!("memory.protected.integrity", "Protected Memory Access Rules", integrity);

/// Checks that protected submissions do not change unprotected memory, though they use it, and that
/// unprotected submissions do not change protected memory.
fn integrity(gpu: &Gpu) -> Case {
    let [plain, protected] = gpu.with_protection()?;
    let (secret, kept) = (secret(&protected)?, plain.buffer(BYTES)?);
    let drawing = Drawing::new(&plain)?;
    drawing.run(&plain)?;
    drawing.copy(&plain, kept)?;
    let before = kept.words();
    // Each submission may lose the device.
    let is_kept = |by: &str, done: Case| {
        check(kept.words() == before, || format!("changed by a {by}: {:x?}, {done:?}", kept.words()))
    };
    is_kept("copy", copy(&protected, secret, kept))?;
    let compute = protected.compute_pipeline(INCREMENT, 0, &[(STORAGE, secret), (STORAGE, kept)])?;
    is_kept("dispatch", protected.dispatch(&compute, &[], [1, 1, 1]))?;
    let cleared = Drawing { target: Target { clear: [1.0; 4], ..drawing.target }, ..drawing };
    let _ = cleared.run(&protected);
    is_kept("draw", cleared.copy(&plain, kept))?;
    let _ = copy(&plain, kept, secret);
    expect(&protected, secret, [SECRET; WORDS as usize])
}
