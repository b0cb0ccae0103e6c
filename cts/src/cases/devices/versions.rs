//! Versions of Vulkan: instances of each, core commands without extensions, and features of
//! versions without a command: SPIR-V versions, subgroup sizes and types.

use std::ffi::CStr;

use ash::vk;
use ash::vk::Handle;
use vitric_vulkan::{API_VERSION_1_4, PhysicalDeviceVulkan14Features};

use crate::Entry;
use crate::cases::support::conditions::need_version;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const SIZES: &[u8] = shader!("subgroup_sizes.comp");
const NUMBERS: &[u8] = shader!("subgroup_numbers.comp");
const STAGES_VERTEX: &[u8] = shader!("subgroup_stages.vert");
const STAGES_FRAGMENT: &[u8] = shader!("subgroup_stages.frag");
const LEAVING: &[u8] = shader!("leaving_newer.frag");
const V1_3: u32 = vk::API_VERSION_1_3;

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (kind, name) in (0..).zip(["bytes", "shorts", "wide", "halves"]) {
        let run = move |gpu: &Gpu| subgroup_numbers(gpu, kind);
        cases.push(Entry::new(format!("versions.subgroups.{name}"), "VK_KHR_shader_subgroup_extended_types", run));
    }
}

/// Creates an instance without extensions for an application of a version.
fn instance(gpu: &Gpu, version: u32) -> Result<ash::Instance, vk::Result> {
    let application = vk::ApplicationInfo::default().api_version(version);
    // SAFETY: the info is valid.
    unsafe { gpu.entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&application), None) }
}

case!("versions.instance.requested", "Instances", instances);

/// Checks that instances of version 1.1 and later accept every version, including 0 and newer
/// ones.
fn instances(gpu: &Gpu) -> Case {
    // SAFETY: the entry is good.
    let own = unsafe { gpu.entry.try_enumerate_instance_version() }?.unwrap_or(vk::API_VERSION_1_0);
    check(own >= gpu.properties.api_version & !0xfff, || format!("the device is newer than the instance ({own:x})"))?;
    let newer = vk::make_api_version(0, 1, 99, 5);
    let all = [0, vk::API_VERSION_1_0, vk::API_VERSION_1_1, vk::API_VERSION_1_2, V1_3, own, newer];
    for version in all.into_iter().filter(|&version| own >= vk::API_VERSION_1_1 || version <= own) {
        let made = instance(gpu, version);
        let made = made.map_err(|code| Outcome::Fail(format!("an instance of version {version:x}: {code:?}")))?;
        // SAFETY: the instance is good, and destroyed once.
        unsafe {
            let devices = made.enumerate_physical_devices()?;
            let found = devices.first().map(|&device| made.get_physical_device_properties(device).api_version);
            made.destroy_instance(None);
            check(found.is_some(), || format!("no device for version {version:x}"))?;
        }
    }
    Ok(())
}

case!("versions.instance.commands", "Command Function Pointers", instance_commands);

/// Checks that commands of a version exist without their extensions where the application asks for
/// the version.
fn instance_commands(gpu: &Gpu) -> Case {
    need_version(gpu, V1_3)?;
    let made = instance(gpu, V1_3)?;
    let names: [&CStr; 6] = [
        c"vkGetPhysicalDeviceFeatures2",
        c"vkEnumeratePhysicalDeviceGroups",
        c"vkGetPhysicalDeviceExternalBufferProperties",
        c"vkGetPhysicalDeviceToolProperties",
        c"vkCreateRenderPass2",
        c"vkCmdPipelineBarrier2",
    ];
    let get = |name: &CStr| {
        // SAFETY: the instance is good.
        unsafe { (gpu.entry.static_fn().get_instance_proc_addr)(made.handle(), name.as_ptr()) }.is_some()
    };
    let missing = names.into_iter().find(|name| !get(name));
    // SAFETY: destroyed once.
    unsafe { made.destroy_instance(None) };
    check(missing.is_none(), || format!("{missing:?} is not there"))
}

case!("versions.device.core_commands", "Command Function Pointers", core_commands);

/// Creates a device of version 1.3 without extensions and with all features of the versions. Fills
/// and copies a buffer there, and the host waits for it.
fn core_commands(gpu: &Gpu) -> Case {
    need_version(gpu, V1_3)?;
    let made = instance(gpu, V1_3)?;
    // SAFETY: valid usage; everything is destroyed once, after its last use.
    unsafe {
        let result = made.enumerate_physical_devices().map_err(Outcome::from).and_then(|devices| {
            let mut first = vk::PhysicalDeviceVulkan11Features::default();
            let mut second = vk::PhysicalDeviceVulkan12Features::default();
            let mut third = vk::PhysicalDeviceVulkan13Features::default();
            let mut all = vk::PhysicalDeviceFeatures2::default()
                .push_next(&mut first)
                .push_next(&mut second)
                .push_next(&mut third);
            made.get_physical_device_features2(devices[0], &mut all);
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut all);
            let device = made.create_device(devices[0], &info, None)?;
            let done = copied(&made, devices[0], &device);
            device.destroy_device(None);
            done
        });
        made.destroy_instance(None);
        result
    }
}

/// Commands that Vulkan 1.4 added.
const COMMANDS14: [&CStr; 19] = [
    c"vkCmdBindDescriptorSets2",
    c"vkCmdBindIndexBuffer2",
    c"vkCmdPushConstants2",
    c"vkCmdPushDescriptorSet",
    c"vkCmdPushDescriptorSet2",
    c"vkCmdPushDescriptorSetWithTemplate",
    c"vkCmdPushDescriptorSetWithTemplate2",
    c"vkCmdSetLineStipple",
    c"vkCmdSetRenderingAttachmentLocations",
    c"vkCmdSetRenderingInputAttachmentIndices",
    c"vkCopyImageToImage",
    c"vkCopyImageToMemory",
    c"vkCopyMemoryToImage",
    c"vkGetDeviceImageSubresourceLayout",
    c"vkGetImageSubresourceLayout2",
    c"vkGetRenderingAreaGranularity",
    c"vkMapMemory2",
    c"vkTransitionImageLayout",
    c"vkUnmapMemory2",
];

case!("versions.device.commands_1_4", "Command Function Pointers", commands14);

/// Creates devices without extensions and with all features of Vulkan 1.4, for instances of 1.3 and
/// 1.4. Only the latter has the commands of 1.4, one of which maps memory.
fn commands14(gpu: &Gpu) -> Case {
    need_version(gpu, API_VERSION_1_4)?;
    for version in [V1_3, API_VERSION_1_4] {
        let made = instance(gpu, version)?;
        // SAFETY: valid usage; everything is destroyed once, after its last use.
        unsafe {
            let result = made.enumerate_physical_devices().map_err(Outcome::from).and_then(|devices| {
                let mut fourth = PhysicalDeviceVulkan14Features::default();
                let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut fourth);
                made.get_physical_device_features2(devices[0], &mut all);
                let priorities = [1.0];
                let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
                let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut all);
                let device = made.create_device(devices[0], &info, None)?;
                let get = |name: &CStr| made.get_device_proc_addr(device.handle(), name.as_ptr());
                let wrong = COMMANDS14.into_iter().find(|name| get(name).is_some() != (version == API_VERSION_1_4));
                let mapped = match wrong.or(get(c"vkMapMemory2").is_none().then_some(c"")) {
                    None => mapped(&device, get(c"vkMapMemory2"), get(c"vkUnmapMemory2")),
                    Some(_) => Ok(()),
                };
                device.destroy_device(None);
                mapped?;
                check(wrong.is_none(), || format!("{wrong:?} in {version:x}"))
            });
            made.destroy_instance(None);
            result?;
        }
    }
    Ok(())
}

/// Maps memory by the commands of Vulkan 1.4, writes, and reads what another mapping contains.
///
/// # Safety
/// The functions are the device's `vkMapMemory2` and `vkUnmapMemory2`.
unsafe fn mapped(device: &ash::Device, map: vk::PFN_vkVoidFunction, unmap: vk::PFN_vkVoidFunction) -> Case {
    let (Some(map), Some(unmap)) = (map, unmap) else { return Ok(()) };
    // SAFETY: the functions have these types, usage is valid, and the memory is freed once.
    unsafe {
        let map = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkMapMemory2KHR>(map);
        let unmap = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkUnmapMemory2KHR>(unmap);
        let info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(1);
        let memory = device.allocate_memory(&info, None)?;
        let (mut words, mut both) = (std::ptr::null_mut(), [0u32; 2]);
        for word in &mut both {
            let info = vk::MemoryMapInfoKHR::default().memory(memory).size(vk::WHOLE_SIZE);
            map(device.handle(), &info, &mut words).result()?;
            *word = words.cast::<u32>().read();
            words.cast::<u32>().write(7);
            unmap(device.handle(), &vk::MemoryUnmapInfoKHR::default().memory(memory)).result()?;
        }
        device.free_memory(memory, None);
        check(both[1] == 7, || format!("{both:?}"))
    }
}

/// # Safety
/// The device is one of version 1.3 with all its features.
unsafe fn copied(instance: &ash::Instance, physical: vk::PhysicalDevice, device: &ash::Device) -> Case {
    // SAFETY: valid usage; everything is destroyed once, after its last use.
    unsafe {
        let queue = device.get_device_queue2(&vk::DeviceQueueInfo2::default());
        check(!queue.is_null(), || "no queue".into())?;
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(512).usage(usage);
        let mut needs = vk::MemoryRequirements2::default();
        device.get_device_buffer_memory_requirements(
            &vk::DeviceBufferMemoryRequirements::default().create_info(&info),
            &mut needs,
        );
        let buffer = device.create_buffer(&info, None)?;
        let memory = visible_memory(instance, physical, device, needs.memory_requirements)?;
        device.bind_buffer_memory2(&[vk::BindBufferMemoryInfo::default().buffer(buffer).memory(memory)])?;
        let mut timeline = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let semaphore = device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut timeline), None)?;
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
        device.cmd_fill_buffer(commands, buffer, 0, 256, 0x1234_5678);
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(all)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(all)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ)];
        device.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barrier));
        let regions = [vk::BufferCopy2::default().dst_offset(256).size(256)];
        device.cmd_copy_buffer2(
            commands,
            &vk::CopyBufferInfo2::default().src_buffer(buffer).dst_buffer(buffer).regions(&regions),
        );
        device.end_command_buffer(commands)?;
        let lists = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let signals = [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(5).stage_mask(all)];
        let submits = [vk::SubmitInfo2::default().command_buffer_infos(&lists).signal_semaphore_infos(&signals)];
        device.queue_submit2(queue, &submits, vk::Fence::null())?;
        let (semaphores, values) = ([semaphore], [5]);
        device.wait_semaphores(&vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values), u64::MAX)?;
        let value = device.get_semaphore_counter_value(semaphore)?;
        let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u32>();
        let words = std::slice::from_raw_parts(mapped, 128).to_vec();
        device.queue_wait_idle(queue)?;
        device.destroy_semaphore(semaphore, None);
        device.destroy_command_pool(pool, None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        check(value == 5 && words == [0x1234_5678; 128], || format!("{value}: {words:x?}"))
    }
}

/// # Safety
/// The handles are good.
unsafe fn visible_memory(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
    needs: vk::MemoryRequirements,
) -> Result<vk::DeviceMemory, Outcome> {
    let mut memory = vk::PhysicalDeviceMemoryProperties2::default();
    // SAFETY: as this function demands.
    unsafe {
        instance.get_physical_device_memory_properties2(physical, &mut memory);
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let types = memory.memory_properties.memory_types.iter().enumerate();
        let mut fitting = types
            .filter(|(index, kind)| needs.memory_type_bits >> index & 1 != 0 && kind.property_flags.contains(wanted));
        let (index, _) = fitting.next().ok_or(Outcome::Fail("no memory type fits".into()))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
        Ok(device.allocate_memory(&info, None)?)
    }
}

case!("versions.device.driver", "VkPhysicalDeviceDriverProperties", driver);

/// Checks that the structure of version 1.2 has the values of the extension's structure.
fn driver(gpu: &Gpu) -> Case {
    need_version(gpu, vk::API_VERSION_1_2)?;
    let mut own = vk::PhysicalDeviceDriverProperties::default();
    let mut version = vk::PhysicalDeviceVulkan12Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own).push_next(&mut version);
    // SAFETY: the chain is valid, and the device's version has the command.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    let same = own.driver_id == version.driver_id && own.driver_name == version.driver_name;
    check(same && own.driver_info == version.driver_info, || format!("{own:?}, {version:?}"))
}

case!("versions.shaders.helpers_now", "HelperInvocation", helpers_now);

/// Checks that `HelperInvocation` of SPIR-V 1.6 and later changes when an invocation is demoted.
fn helpers_now(gpu: &Gpu) -> Case {
    need_version(gpu, V1_3)?;
    let mut draw = Draw::rect(State { fragment: LEAVING, ..State::default() }, FULL, [0.0; 4]);
    draw.show = 2.0;
    let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
    for (at, pixel) in (0u32..).zip(pixels) {
        let (x, y) = (at % SIZE, at / SIZE);
        let expected = if (x + y) % 2 == 1 { [255; 4] } else { [(2 * (x & !1) + 1) as u8, 0, 0, 255] };
        check(pixel == expected, || format!("({x}, {y}) is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}

case!("versions.subgroups.stages", "Group Operations", subgroup_stages);

/// Checks that subgroup operations of vertices and fragments are consistent, and that quads are
/// quads of pixels.
fn subgroup_stages(gpu: &Gpu) -> Case {
    need_version(gpu, V1_3)?;
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    let wanted = vk::SubgroupFeatureFlags::ARITHMETIC
        | vk::SubgroupFeatureFlags::SHUFFLE
        | vk::SubgroupFeatureFlags::BALLOT
        | vk::SubgroupFeatureFlags::QUAD
        | vk::SubgroupFeatureFlags::VOTE;
    let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
    if !own.supported_stages.contains(stages) || !own.supported_operations.contains(wanted) {
        return Err(Outcome::NotSupported("subgroups of vertices and fragments".into()));
    }
    for rect in [FULL, [-0.83, -0.71, 0.6, 0.9], [-0.3, -0.9, -0.2, 0.8]] {
        let state = State { vertex: STAGES_VERTEX, fragment: STAGES_FRAGMENT, ..State::default() };
        let pixels =
            render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[Draw::rect(state, rect, [0.0; 4])])?;
        for (at, pixel) in (0u32..).zip(pixels) {
            check(pixel == [255; 4], || format!("({}, {}) of {rect:?} is {pixel:?}", at % SIZE, at / SIZE))?;
        }
    }
    Ok(())
}

/// Runs a workgroup of 64 invocations whose subgroups have the given size, if any.
fn sized(gpu: &Gpu, flags: vk::PipelineShaderStageCreateFlags, size: Option<u32>) -> Result<Vec<u32>, Outcome> {
    let out = gpu.buffer(2 * 64 * 6 * 4)?;
    let (set_layout, set) = gpu.set(&[vk::DescriptorType::STORAGE_BUFFER])?;
    let layout = gpu.layout(&[set_layout])?;
    let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .flags(flags)
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(SIZES)?)
        .name(c"main");
    if let Some(size) = size {
        required.required_subgroup_size = size;
        stage = stage.push_next(&mut required);
    }
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    let buffer = [vk::DescriptorBufferInfo { buffer: out.handle, offset: 0, range: vk::WHOLE_SIZE }];
    let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
    // SAFETY: valid usage.
    unsafe {
        gpu.device.update_descriptor_sets(&[write.buffer_info(&buffer)], &[]);
        let made = gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        let pipeline = made.map_err(|(_, code)| code)?[0];
        gpu.run(|commands| {
            gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            gpu.device.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
            gpu.device.cmd_dispatch(commands, 2, 1, 1);
            gpu.barrier(commands, None);
        })?;
    }
    Ok(out.words())
}

case!("versions.subgroups.sizes", "VK_EXT_subgroup_size_control", subgroup_sizes);

fn subgroup_sizes(gpu: &Gpu) -> Case {
    type Flags = vk::PipelineShaderStageCreateFlags;
    need_version(gpu, V1_3)?;
    gpu.need(vk::EXT_SUBGROUP_SIZE_CONTROL_NAME)?;
    let mut control = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut control).push_next(&mut own);
    // SAFETY: the chain is valid, and the device's version has the command.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut all) };
    let own = own.subgroup_size;
    let mut tries = vec![(Flags::empty(), None), (Flags::REQUIRE_FULL_SUBGROUPS, None)];
    tries.push((Flags::ALLOW_VARYING_SUBGROUP_SIZE, None));
    if control.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        let sizes = (0..8).map(|bit| 1 << bit).filter(|size| *size >= control.min_subgroup_size);
        let sizes = sizes.filter(|&size| size <= control.max_subgroup_size.min(64));
        tries.extend(sizes.flat_map(|size| [Flags::empty(), Flags::REQUIRE_FULL_SUBGROUPS].map(|f| (f, Some(size)))));
    }
    for (flags, size) in tries {
        let words = sized(gpu, flags, size)?;
        let varies = flags.contains(Flags::ALLOW_VARYING_SUBGROUP_SIZE);
        let found = words[0];
        let good = if varies {
            (control.min_subgroup_size..=control.max_subgroup_size).contains(&found)
        } else {
            found == size.unwrap_or(own)
        };
        check(good, || format!("subgroups of {found}, where {size:?} are asked for and {own} usual"))?;
        let full = flags.contains(Flags::REQUIRE_FULL_SUBGROUPS);
        words.chunks(64 * 6).try_for_each(|group| complete(group, found, full))?;
    }
    Ok(())
}

/// Checks that each invocation has its own index in its subgroup, and that full subgroups are
/// full.
fn complete(group: &[u32], size: u32, full: bool) -> Case {
    let rows: Vec<&[u32]> = group.chunks(6).collect();
    let mut places: Vec<u32> = rows.iter().map(|row| row[2] * size + row[3]).collect();
    places.sort_unstable();
    places.dedup();
    let count = rows[0][1];
    let good = rows.iter().all(|row| {
        row[0] == size && row[1] == count && row[2] < count && row[3] < size && row[5] == 1 && (!full || row[4] == size)
    });
    check(good && places.len() == 64, || format!("size {size}: {rows:?}"))?;
    check(!full || count * size == 64, || format!("{count} full subgroups of {size}"))
}

/// Checks sums over subgroups and values of neighbouring invocations, by type.
fn subgroup_numbers(gpu: &Gpu, kind: i32) -> Case {
    need_version(gpu, V1_3)?;
    let numbers = &gpu.extension_features.float16_int8;
    let needed = [numbers.shader_int8, gpu.features.shader_int16, gpu.features.shader_int64, numbers.shader_float16];
    let wanted = vk::SubgroupFeatureFlags::ARITHMETIC | vk::SubgroupFeatureFlags::SHUFFLE;
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    if needed.contains(&vk::FALSE) || !own.supported_operations.contains(wanted) {
        return Err(Outcome::NotSupported("sums of all numbers in subgroups".into()));
    }
    let out = gpu.buffer(64 * 16)?;
    gpu.compute(NUMBERS, kind, &[], &[out], [1, 1, 1])?;
    let words = out.words();
    let narrow = |value: i64| match kind {
        0 => i64::from(value as i8),
        1 => i64::from(value as i16),
        _ => value,
    };
    let number = |at: usize| narrow(if kind == 3 { at as i64 } else { at as i64 * 0x1_2345_6789 - 77 });
    let place = |at: usize| words[at * 4 + 3];
    for at in 0..64 {
        let same = (0..64).filter(|&other| place(other) >> 8 == place(at) >> 8);
        let sum = narrow(same.map(number).fold(0, i64::wrapping_add));
        let beside = (0..64).find(|&other| place(other) == place(at) ^ 1).map_or(0, number);
        let found = i64::from(words[at * 4]) | i64::from(words[at * 4 + 1]) << 32;
        let good = found == sum && words[at * 4 + 2] == beside as u32;
        check(good, || format!("invocation {at} has {found:x}, not {sum:x}, beside {beside:x}"))?;
    }
    Ok(())
}
