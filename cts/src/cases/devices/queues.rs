//! Queue families and work on several of them at once: capabilities, order, ownership, sharing,
//! timestamps.

use ash::vk::QueueFlags as Q;
use ash::{khr, vk};
use vitric_vulkan::names::KHR_INTERNALLY_SYNCHRONIZED_QUEUES_NAME;
use vitric_vulkan::{Newer, sys};

use crate::harness::{Buffer, Case, Gpu, ImageDesc, Outcome, check, layers, range};

const UNARY: &[u8] = shader!("unary.comp");
const PRIORITIES: &[f32] = &[1.0; 16];
const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

fn families(gpu: &Gpu) -> Vec<vk::QueueFamilyProperties> {
    // SAFETY: the physical device is valid.
    unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) }
}

/// Returns the family that supports `flags` and as few others as possible.
fn family(gpu: &Gpu, flags: Q) -> Result<u32, Outcome> {
    let families = families(gpu);
    let fits = (0..families.len()).filter(|&index| families[index].queue_flags.contains(flags));
    let best = fits.min_by_key(|&index| families[index].queue_flags.as_raw().count_ones());
    best.map(|index| index as u32).ok_or(Outcome::NotSupported(format!("queues that do {flags:?}")))
}

/// Creates a device with queues of three families: graphics, compute without graphics, and
/// transfer only.
fn three(gpu: &Gpu) -> Result<[Gpu; 3], Outcome> {
    let wanted = [family(gpu, Q::GRAPHICS)?, family(gpu, Q::COMPUTE)?, family(gpu, Q::TRANSFER)?];
    if wanted[0] == wanted[1] || wanted[1] == wanted[2] {
        return Err(Outcome::NotSupported("three families of queues".into()));
    }
    let made = gpu.with_queues(&wanted.map(|family| (family, &[1.0][..])))?;
    made.try_into().map_err(|_| Outcome::Fail("a device has other queues than it was asked for".into()))
}

/// Creates a device with all queues of all families.
fn every(gpu: &Gpu) -> Result<Vec<Gpu>, Outcome> {
    let families = families(gpu);
    let wanted = families.iter().enumerate();
    let wanted = wanted.map(|(index, family)| (index as u32, &PRIORITIES[..family.queue_count.min(16) as usize]));
    gpu.with_queues(&wanted.collect::<Vec<_>>())
}

case!("queues.families.abilities", "Physical Device Enumeration", abilities);

fn abilities(gpu: &Gpu) -> Case {
    let families = families(gpu);
    let limits = &gpu.properties.limits;
    for family in &families {
        let works = family.queue_flags.intersects(Q::GRAPHICS | Q::COMPUTE);
        let granularity = family.min_image_transfer_granularity;
        let texels = [granularity.width, granularity.height, granularity.depth];
        check(family.queue_count > 0, || format!("a family without queues: {family:?}"))?;
        check(!works || texels == [1; 3], || format!("copies have to be of {texels:?} texels"))?;
        let times = family.timestamp_valid_bits;
        check(times == 0 || (36..=64).contains(&times), || format!("timestamps of {times} bits"))?;
        check(!works || limits.timestamp_compute_and_graphics == 0 || times > 0, || "no timestamps".into())?;
    }
    let both = Q::GRAPHICS | Q::COMPUTE;
    let draws = families.iter().any(|family| family.queue_flags.contains(Q::GRAPHICS));
    let does_both = families.iter().any(|family| family.queue_flags.contains(both));
    check(!draws || does_both, || "no family draws and computes".into())
}

case!("queues.families.handles", "Queue Creation", handles);

fn handles(gpu: &Gpu) -> Case {
    let queues = every(gpu)?;
    let mut all: Vec<vk::Queue> = queues.iter().map(|gpu| gpu.queue).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    check(all.len() == count && !all.contains(&vk::Queue::null()), || format!("{count} queues are {all:?}"))
}

case!("queues.families.refused", "Queue Creation", refused);

/// Checks that devices are refused whose family is unknown or has fewer queues.
fn refused(gpu: &Gpu) -> Case {
    let families = families(gpu);
    let none = families.len() as u32;
    check(gpu.with_queues(&[(none, &[1.0])]).is_err(), || "made of a family that is not there".into())?;
    match families[0].queue_count < 16 {
        true => check(gpu.with_queues(&[(0, PRIORITIES)]).is_err(), || "made with too many queues".into()),
        false => Ok(()),
    }
}

case!("queues.families.global_priority", "Queue Creation", global_priority);

/// Checks global queue priorities: those of a family are accepted and others refused. Low and
/// medium are permitted to every process.
fn global_priority(gpu: &Gpu) -> Case {
    type Level = vk::QueueGlobalPriorityKHR;
    gpu.need(vk::KHR_GLOBAL_PRIORITY_NAME)?;
    let mut found = vk::QueueFamilyGlobalPriorityPropertiesKHR::default();
    let mut families = [vk::QueueFamilyProperties2::default().push_next(&mut found)];
    // SAFETY: there is at least one family.
    unsafe { gpu.instance.get_physical_device_queue_family_properties2(gpu.physical, &mut families) };
    let there = found.priorities.get(..found.priority_count as usize).unwrap_or_default();
    check(there.starts_with(&[Level::LOW, Level::MEDIUM]) && there.is_sorted(), || format!("priorities {there:?}"))?;
    for level in [Level::LOW, Level::MEDIUM, Level::HIGH, Level::REALTIME] {
        let mut priority = vk::DeviceQueueGlobalPriorityCreateInfoKHR::default().global_priority(level);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0]).push_next(&mut priority)];
        let names = [vk::KHR_GLOBAL_PRIORITY_NAME.as_ptr()];
        let mut query = vk::PhysicalDeviceGlobalPriorityQueryFeaturesKHR::default().global_priority_query(true);
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        // SAFETY: the info is valid; the device is destroyed once.
        let made = unsafe { gpu.instance.create_device(gpu.physical, &info.push_next(&mut query), None) };
        // SAFETY: the device is destroyed once, and nothing of it is used.
        let made = made.map(|device| unsafe { device.destroy_device(None) });
        let is_good = match made {
            Ok(()) => there.contains(&level),
            // An unsupported priority may give either error code.
            Err(vk::Result::ERROR_INITIALIZATION_FAILED) => !there.contains(&level),
            Err(error) => level > Level::MEDIUM && error == vk::Result::ERROR_NOT_PERMITTED_KHR,
        };
        check(is_good, || format!("{level:?} of {there:?}: {made:?}"))?;
    }
    Ok(())
}

fn pool(gpu: &Gpu, count: u32) -> Result<vk::QueryPool, Outcome> {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_query_pool(&info, None) }?)
}

case!("queues.families.timestamps", "Timestamp Queries", timestamps);

/// Checks that timestamps of queues one after the other ascend, because all queues count by one
/// clock.
fn timestamps(gpu: &Gpu) -> Case {
    let queues = three(gpu)?;
    let pool = pool(&queues[0], 3)?;
    // SAFETY: the command buffers are recording, and the pool is alive.
    queues[0].run(|commands| unsafe { queues[0].device.cmd_reset_query_pool(commands, pool, 0, 3) })?;
    for (query, gpu) in queues.iter().enumerate() {
        // SAFETY: the command buffers are recording, and the pool is alive.
        gpu.run(|commands| unsafe { gpu.device.cmd_write_timestamp(commands, ALL, pool, query as u32) })?;
    }
    let mut times = [0u64; 3];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the queries are available.
    unsafe { queues[0].device.get_query_pool_results(pool, 0, &mut times, flags)? };
    check(times[0] <= times[1] && times[1] <= times[2], || format!("{times:?}"))
}

fn colors(gpu: &Gpu) -> Result<crate::harness::Image, Outcome> {
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    gpu.image(&ImageDesc::color(vk::Format::R32_UINT, [19, 13], usage))
}

case!("queues.families.granularity", "Queues", granularity);

/// Copies a single texel at an odd position on a queue whose granularity permits it.
fn granularity(gpu: &Gpu) -> Case {
    let [_, _, copies] = three(gpu)?;
    let families = families(gpu);
    let texel = families[family(gpu, Q::TRANSFER)? as usize].min_image_transfer_granularity;
    if (texel.width, texel.height) != (1, 1) {
        return Err(Outcome::NotSupported("copies of single texels".into()));
    }
    let image = colors(&copies)?;
    let numbers: Vec<u32> = (0..19 * 13).collect();
    let aspect = vk::ImageAspectFlags::COLOR;
    copies.write_image(&image, aspect, bytemuck::cast_slice(&numbers), vk::ImageLayout::TRANSFER_SRC_OPTIMAL)?;
    let target = copies.buffer(4)?;
    let region = vk::BufferImageCopy {
        image_subresource: layers(aspect),
        image_offset: vk::Offset3D { x: 7, y: 5, z: 0 },
        image_extent: vk::Extent3D { width: 1, height: 1, depth: 1 },
        ..Default::default()
    };
    let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    // SAFETY: the image is in the source layout, and the buffer holds a texel.
    copies.run(|commands| unsafe {
        copies.device.cmd_copy_image_to_buffer(commands, image.handle, layout, target.handle, &[region]);
    })?;
    check(target.words() == [5 * 19 + 7], || format!("{:?}", target.words()))
}

/// Records a command buffer of a queue.
fn record(gpu: &Gpu, work: impl FnOnce(vk::CommandBuffer)) -> Result<vk::CommandBuffer, Outcome> {
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(1);
    // SAFETY: the command buffer is new.
    unsafe {
        let commands = gpu.device.allocate_command_buffers(&info)?[0];
        gpu.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        work(commands);
        gpu.device.end_command_buffer(commands)?;
        Ok(commands)
    }
}

fn timeline(gpu: &Gpu) -> Result<vk::Semaphore, Outcome> {
    if gpu.extension_features.timeline.timeline_semaphore == 0 {
        return Err(Outcome::NotSupported("timeline semaphores".into()));
    }
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None) }?)
}

/// Values of a timeline semaphore that a submission waits for and signals.
#[derive(Clone, Copy)]
struct Step {
    line: vk::Semaphore,
    from: u64,
    to: u64,
}

/// Submits commands that wait until a timeline semaphore has the value `from`, and raise it to
/// `to`.
fn submit(gpu: &Gpu, commands: vk::CommandBuffer, step: Step) -> Case {
    let (commands, lines, stages, from, to) = ([commands], [step.line], [ALL], [step.from], [step.to]);
    let mut values =
        vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&from).signal_semaphore_values(&to);
    let info = vk::SubmitInfo::default()
        .command_buffers(&commands)
        .wait_semaphores(&lines)
        .wait_dst_stage_mask(&stages)
        .signal_semaphores(&lines)
        .push_next(&mut values);
    // SAFETY: everything named is alive.
    unsafe { gpu.device.queue_submit(gpu.queue, &[info], vk::Fence::null())? };
    Ok(())
}

fn wait(gpu: &Gpu, line: vk::Semaphore, value: u64) -> Case {
    let second = khr::timeline_semaphore::Device::new(&gpu.instance, &gpu.device);
    let (lines, values) = ([line], [value]);
    let info = vk::SemaphoreWaitInfo::default().semaphores(&lines).values(&values);
    // SAFETY: the semaphore is a timeline.
    unsafe { second.wait_semaphores(&info, 30_000_000_000)? };
    Ok(())
}

fn copy_word(gpu: &Gpu, commands: vk::CommandBuffer, buffer: &Buffer, from: usize, to: usize) {
    let region = vk::BufferCopy { src_offset: 4 * from as u64, dst_offset: 4 * to as u64, size: 4 };
    // SAFETY: the command buffer is recording, and the words lie in the buffer.
    unsafe { gpu.device.cmd_copy_buffer(commands, buffer.handle, buffer.handle, &[region]) };
}

case!("queues.progress.chain", "Semaphores", chain);

/// Passes a number from the last queue to the first, where each queue waits for the one behind it
/// and is submitted to before it.
fn chain(gpu: &Gpu) -> Case {
    let queues = every(gpu)?;
    let line = timeline(&queues[0])?;
    let last = queues.len() - 1;
    let buffer = shared_buffer(&queues[0], &families(gpu), last as u64 + 2)?;
    buffer.write(&77u32.to_le_bytes());
    for (number, gpu) in queues.iter().enumerate() {
        let turn = last - number;
        let commands = record(gpu, |commands| copy_word(gpu, commands, &buffer, turn, turn + 1))?;
        submit(gpu, commands, Step { line, from: turn as u64, to: turn as u64 + 1 })?;
    }
    wait(&queues[0], line, last as u64 + 1)?;
    check(buffer.words().iter().all(|&word| word == 77), || format!("{:?}", buffer.words()))
}

case!("queues.progress.blocked", "Queue Operation", blocked);

/// Checks that all other queues make progress while one queue waits for the host.
fn blocked(gpu: &Gpu) -> Case {
    let queues = every(gpu)?;
    let first = &queues[0];
    let line = timeline(first)?;
    let buffer = shared_buffer(first, &families(gpu), queues.len() as u64)?;
    // SAFETY: the info is valid.
    let event = unsafe { first.device.create_event(&vk::EventCreateInfo::default(), None)? };
    let fill = |gpu: &Gpu, commands, number: usize| {
        // SAFETY: the command buffer is recording, and the buffer holds a word for each queue.
        unsafe { gpu.device.cmd_fill_buffer(commands, buffer.handle, 4 * number as u64, 4, 5) };
    };
    let waits = record(first, |commands| {
        // SAFETY: the command buffer is recording, and the event is alive; the host sets it.
        unsafe { first.device.cmd_wait_events(commands, &[event], vk::PipelineStageFlags::HOST, ALL, &[], &[], &[]) };
        fill(first, commands, 0);
    })?;
    submit(first, waits, Step { line: timeline(first)?, from: 0, to: 1 })?;
    for (number, gpu) in queues.iter().enumerate().skip(1) {
        let commands = record(gpu, |commands| fill(gpu, commands, number))?;
        submit(gpu, commands, Step { line, from: number as u64 - 1, to: number as u64 })?;
    }
    wait(first, line, queues.len() as u64 - 1)?;
    let before = buffer.words();
    // SAFETY: everything named is alive.
    unsafe {
        first.device.set_event(event)?;
        first.device.queue_wait_idle(first.queue)?;
    }
    let is_filled = |words: &[u32]| words.iter().all(|&word| word == 5);
    check(before[0] == 0 && is_filled(&before[1..]), || format!("before the event: {before:?}"))?;
    check(is_filled(&buffer.words()), || format!("{:?}", buffer.words()))
}

case!("queues.progress.busy", "Queue Priority", busy);

/// Checks that a queue of low priority completes its work while others compute all the time.
fn busy(gpu: &Gpu) -> Case {
    let family = family(gpu, Q::COMPUTE)?;
    if families(gpu)[family as usize].queue_count < 2 {
        return Err(Outcome::NotSupported("two queues that compute".into()));
    }
    let queues = gpu.with_queues(&[(family, &[1.0, 0.0])])?;
    let mut results = Vec::new();
    let mut work = Vec::new();
    for gpu in &queues {
        let numbers: Vec<f32> = (0..64).map(|number| number as f32).collect();
        let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(256)?);
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let compute = gpu.compute_pipeline(UNARY, 0, &[(kind, source), (kind, target)])?;
        work.push(record(gpu, |commands| {
            gpu.bind_compute(commands, &compute, &[]);
            for _ in 0..64 {
                // SAFETY: the command buffer is recording, and everything named is alive.
                unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
                gpu.barrier(commands, None);
            }
        })?);
        results.push(target);
    }
    // SAFETY: all command buffers are complete, and each is waited for before it is submitted
    // again.
    unsafe {
        for _ in 0..4 {
            for (gpu, commands) in queues.iter().zip(&work) {
                let commands = [*commands];
                let info = vk::SubmitInfo::default().command_buffers(&commands);
                gpu.device.queue_submit(gpu.queue, &[info], vk::Fence::null())?;
            }
            queues[1].device.queue_wait_idle(queues[1].queue)?;
            queues[0].device.queue_wait_idle(queues[0].queue)?;
        }
    }
    let same = results[0].words() == results[1].words() && results[0].words().iter().any(|&word| word != 0);
    check(same, || format!("{:?} and {:?}", results[0].words(), results[1].words()))
}

/// Creates a mapped buffer that queues of all families share.
fn shared_buffer(gpu: &Gpu, families: &[vk::QueueFamilyProperties], words: u64) -> Result<Buffer, Outcome> {
    let all: Vec<u32> = (0..families.len() as u32).collect();
    let info = vk::BufferCreateInfo::default()
        .size(words * 4)
        .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST);
    match all.len() {
        1 => gpu.buffer_of(&info),
        _ => gpu.buffer_of(&info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&all)),
    }
}

case!("queues.sharing.concurrent", "Resource Sharing", concurrent);

fn concurrent(gpu: &Gpu) -> Case {
    let queues = three(gpu)?;
    let buffer = shared_buffer(&queues[0], &families(gpu), 6)?;
    for (number, gpu) in queues.iter().enumerate() {
        // SAFETY: the command buffer is recording, and the range lies in the buffer.
        gpu.run(|commands| unsafe {
            gpu.device.cmd_fill_buffer(commands, buffer.handle, 8 * number as u64, 8, number as u32 + 1);
        })?;
    }
    check(buffer.words() == [1, 1, 2, 2, 3, 3], || format!("{:?}", buffer.words()))
}

/// Executes both halves of an ownership transfer, each on its queue, with a wait between them.
fn hand_over(from: (&Gpu, u32), to: (&Gpu, u32), barrier: &Barrier<'_>) -> Case {
    [from.0, to.0]
        .into_iter()
        .zip([Half::Release, Half::Acquire])
        .try_for_each(|(gpu, half)| one_half(gpu, [from.1, to.1], barrier, half))
}

/// Half of an ownership transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Release,
    Acquire,
}

/// Executes one half of an ownership transfer from a family to another.
fn one_half(gpu: &Gpu, [from, to]: [u32; 2], barrier: &Barrier<'_>, half: Half) -> Case {
    let (access, none) = (vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE, vk::AccessFlags::empty());
    let (source, target) = if half == Half::Release { (access, none) } else { (none, access) };
    let (mut buffers, mut images) = (Vec::new(), Vec::new());
    match *barrier {
        Barrier::Buffer(barrier) => {
            let barrier = barrier.src_access_mask(source).dst_access_mask(target);
            buffers.push(barrier.src_queue_family_index(from).dst_queue_family_index(to));
        }
        Barrier::Image(barrier) => {
            let barrier = barrier.src_access_mask(source).dst_access_mask(target);
            images.push(barrier.src_queue_family_index(from).dst_queue_family_index(to));
        }
    }
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_pipeline_barrier(commands, ALL, ALL, vk::DependencyFlags::empty(), &[], &buffers, &images);
    })
}

enum Barrier<'a> {
    Buffer(vk::BufferMemoryBarrier<'a>),
    Image(vk::ImageMemoryBarrier<'a>),
}

case!("queues.ownership.buffer", "Queue Family Ownership Transfer", buffer_ownership);

/// Fills a buffer on the transfer queue, computes with it on the compute queue, and reads it on
/// the graphics queue.
fn buffer_ownership(gpu: &Gpu) -> Case {
    let [draws, computes, copies] = &three(gpu)?;
    let [of_draws, of_computes, of_copies] =
        [family(gpu, Q::GRAPHICS)?, family(gpu, Q::COMPUTE)?, family(gpu, Q::TRANSFER)?];
    let (buffer, target) = (draws.buffer(256)?, draws.buffer(256)?);
    let barrier = |buffer: &Buffer| {
        Barrier::Buffer(vk::BufferMemoryBarrier::default().buffer(buffer.handle).size(vk::WHOLE_SIZE))
    };
    let four = 4f32.to_bits();
    // SAFETY: the command buffer is recording, and the buffer is alive.
    copies.run(|commands| unsafe {
        copies.device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, four);
    })?;
    hand_over((copies, of_copies), (computes, of_computes), &barrier(&buffer))?;
    // Operation 10 of the shader is the square root.
    computes.compute(UNARY, 10, &[], &[buffer, target], [1, 1, 1])?;
    hand_over((computes, of_computes), (draws, of_draws), &barrier(&target))?;
    let read = draws.buffer(256)?;
    let region = vk::BufferCopy { size: 256, ..Default::default() };
    // SAFETY: the command buffer is recording, and the buffers are alive.
    draws.run(|commands| unsafe {
        draws.device.cmd_copy_buffer(commands, target.handle, read.handle, &[region]);
    })?;
    check(read.floats() == [2.0; 64], || format!("{:?}", read.floats()))
}

case!("queues.ownership.foreign", "VK_EXT_queue_family_foreign", foreign_ownership);

/// Transfers a buffer to the foreign queue family and back, and checks that its contents stay.
fn foreign_ownership(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_QUEUE_FAMILY_FOREIGN_NAME)?;
    let (buffer, foreign) = (gpu.buffer(256)?, vk::QUEUE_FAMILY_FOREIGN_EXT);
    // SAFETY: the command buffer is recording, and the buffer is alive.
    gpu.run(|commands| unsafe { gpu.device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 9) })?;
    let barrier = Barrier::Buffer(vk::BufferMemoryBarrier::default().buffer(buffer.handle).size(vk::WHOLE_SIZE));
    one_half(gpu, [0, foreign], &barrier, Half::Release)?;
    one_half(gpu, [foreign, 0], &barrier, Half::Acquire)?;
    let read = gpu.buffer(256)?;
    let region = vk::BufferCopy { size: 256, ..Default::default() };
    // SAFETY: the command buffer is recording, and the buffers are alive.
    gpu.run(|commands| unsafe { gpu.device.cmd_copy_buffer(commands, buffer.handle, read.handle, &[region]) })?;
    check(read.words() == [9; 64], || format!("{:?}", read.words()))
}

case!("queues.ownership.image", "Queue Family Ownership Transfer", image_ownership);

/// Writes an image on the transfer queue, and changes its layout during the transfer to the queue
/// that reads it.
fn image_ownership(gpu: &Gpu) -> Case {
    let [draws, _, copies] = &three(gpu)?;
    let (of_draws, of_copies) = (family(gpu, Q::GRAPHICS)?, family(gpu, Q::TRANSFER)?);
    let image = colors(draws)?;
    let numbers: Vec<u32> = (0..19 * 13).map(|number| number * 3).collect();
    let (aspect, written) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
    copies.write_image(&image, aspect, bytemuck::cast_slice(&numbers), written)?;
    let barrier = vk::ImageMemoryBarrier::default()
        .image(image.handle)
        .old_layout(written)
        .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
        .subresource_range(range(aspect, 0, 1));
    hand_over((copies, of_copies), (draws, of_draws), &Barrier::Image(barrier))?;
    let read = draws.read_image(&image, aspect, 4)?;
    check(read == bytemuck::cast_slice::<u32, u8>(&numbers), || "other texels".into())
}

case!("queues.synchronized.submissions", "VkDeviceQueueCreateFlagBits", synchronized);

/// Bit of queues that several threads use.
const SYNCHRONIZED: vk::DeviceQueueCreateFlags =
    vk::DeviceQueueCreateFlags::from_raw(sys::DeviceQueueCreateFlags::INTERNALLY_SYNCHRONIZED_KHR.bits());

/// Submits to one queue by several threads, which also wait for it. Each thread counts in a word of
/// its own.
fn synchronized(gpu: &Gpu) -> Case {
    gpu.need(KHR_INTERNALLY_SYNCHRONIZED_QUEUES_NAME)?;
    let mut feature = Newer(sys::PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR {
        internally_synchronized_queues: vk::TRUE,
        ..Default::default()
    });
    let names = [KHR_INTERNALLY_SYNCHRONIZED_QUEUES_NAME.as_ptr()];
    let infos = [vk::DeviceQueueCreateInfo::default().flags(SYNCHRONIZED).queue_priorities(&[1.0])];
    let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&infos).enabled_extension_names(&names);
    info.p_next = (&raw mut feature).cast();
    // SAFETY: infos are valid, and handles alive.
    let (device, queue) = unsafe {
        let device = gpu.instance.create_device(gpu.physical, &info, None)?;
        let info = vk::DeviceQueueInfo2::default().flags(SYNCHRONIZED);
        (device.clone(), device.get_device_queue2(&info))
    };
    check(queue != vk::Queue::null(), || "there is no queue with the flag".into())?;
    // SAFETY: the infos are valid.
    let without = unsafe { device.get_device_queue2(&vk::DeviceQueueInfo2::default()) };
    check(without == vk::Queue::null(), || "a queue has no flag though all were created with one".into())?;
    let types = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let visible = types.iter().position(|kind| kind.property_flags.contains(wanted)).unwrap_or_default() as u32;
    let counted = std::thread::scope(|scope| {
        let count = || count_up(&device, queue, visible);
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    for count in counted {
        let count = count.map_err(|_| Outcome::Fail("a thread panicked".into()))??;
        check(count == ROUNDS, || format!("{count} of {ROUNDS} submissions"))?;
    }
    // SAFETY: nothing uses the device any more.
    unsafe { device.destroy_device(None) };
    Ok(())
}

/// Number of threads that use a queue.
const THREADS: u32 = 6;
/// Number of submissions of a thread.
const ROUNDS: u32 = 120;

/// Submits commands that write a number, waits for each submission, and returns how many numbers
/// arrived in the memory of a host-visible type.
fn count_up(device: &ash::Device, queue: vk::Queue, memory_type: u32) -> Result<u32, Outcome> {
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
    // SAFETY: infos are valid, handles alive, and all commands complete before they end.
    unsafe {
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default().flags(flags), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?;
        let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(4).usage(usage), None)?;
        let size = device.get_buffer_memory_requirements(buffer).size;
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        let word = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u32>();
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let mut count = 0;
        for round in 1..=ROUNDS {
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            device.cmd_update_buffer(commands[0], buffer, 0, &round.to_le_bytes());
            device.end_command_buffer(commands[0])?;
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            if round % 3 == 0 {
                device.queue_submit(queue, &submit, vk::Fence::null())?;
                device.queue_wait_idle(queue)?;
            } else {
                device.queue_submit(queue, &submit, fence)?;
                device.wait_for_fences(&[fence], true, u64::MAX)?;
                device.reset_fences(&[fence])?;
            }
            count += u32::from(word.read_volatile() == round);
        }
        device.destroy_fence(fence, None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        device.destroy_command_pool(pool, None);
        Ok(count)
    }
}
