//! Versions of Vulkan in the C interface: functions of instances and devices of each version, and
//! subgroup sizes.

mod common;

use std::ffi::{CStr, CString};

use ash::vk::{self, Handle};
use common::Driver;

const SIZED: &[u8] = include_bytes!("shaders/endless.comp.spv");

fn entry() -> ash::Entry {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function belongs to the driver.
    unsafe { ash::Entry::from_static_fn(functions) }
}

/// Creates an instance of a version, with or without extensions.
fn instance(version: u32, extensions: &[&CStr]) -> Result<ash::Instance, vk::Result> {
    let application = vk::ApplicationInfo::default().api_version(version);
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&names);
    // SAFETY: the info is valid.
    unsafe { entry().create_instance(&info, None) }
}

/// Returns for each name true if a device of a version with extensions has the function.
fn found(version: u32, extensions: [&[&CStr]; 2], names: &[&str]) -> Vec<bool> {
    let instance = instance(version, extensions[0]).unwrap();
    // SAFETY: valid usage; everything is destroyed once.
    unsafe {
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let enabled: Vec<_> = extensions[1].iter().map(|name| name.as_ptr()).collect();
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&enabled);
        let device = instance.create_device(physical, &info, None).unwrap();
        let names = names.iter().map(|name| CString::new(*name).unwrap());
        let found = names.map(|name| instance.get_device_proc_addr(device.handle(), name.as_ptr()).is_some()).collect();
        device.destroy_device(None);
        instance.destroy_instance(None);
        found
    }
}

#[test]
fn devices_find_commands_of_their_version_and_their_extensions() {
    let names = [
        "vkCmdDraw",
        "vkGetDeviceQueue2",
        "vkCreateRenderPass2",
        "vkCmdSetCullMode",
        "vkCmdSetCullModeEXT",
        "vkCmdSetLogicOpEXT",
        "vkCmdSetLogicOp",
        "vkQueueBeginDebugUtilsLabelEXT",
        "vkCreateDevice",
        "vkGetPhysicalDeviceFeatures2",
        "vkMapMemory2",
    ];
    let check = |version, extensions, expected: [u8; 11]| {
        assert_eq!(found(version, extensions, &names), expected.map(|flag| flag == 1), "{version:x}, {extensions:?}");
    };
    let dynamic: &[&CStr] = &[vk::EXT_EXTENDED_DYNAMIC_STATE_NAME, vk::EXT_EXTENDED_DYNAMIC_STATE2_NAME];
    let debug: &[&CStr] = &[vk::EXT_DEBUG_UTILS_NAME];
    check(vk::API_VERSION_1_0, [&[], &[]], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    check(vk::API_VERSION_1_0, [debug, dynamic], [1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0]);
    check(vk::API_VERSION_1_1, [&[], &[]], [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    check(vk::API_VERSION_1_2, [&[], &[]], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    check(vk::API_VERSION_1_3, [&[], &[]], [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    check(vk::API_VERSION_1_3, [&[], dynamic], [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
    check(vk::make_api_version(0, 1, 7, 0), [debug, &[]], [1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
}

#[test]
fn any_version_and_variant_may_be_asked_for() {
    // SAFETY: the entry is valid.
    let version = unsafe { entry().try_enumerate_instance_version() }.unwrap();
    let newer = [vk::make_api_version(0, 1, 99, 0), u32::MAX >> 3, vk::make_api_version(1, 1, 0, 0), u32::MAX];
    for asked in
        [0, vk::API_VERSION_1_0, vk::API_VERSION_1_3, vk::make_api_version(0, 1, 4, 0)].into_iter().chain(newer)
    {
        let made = instance(asked, &[]).unwrap();
        // SAFETY: the instance is destroyed once.
        unsafe {
            let physical = made.enumerate_physical_devices().unwrap()[0];
            assert_eq!(Some(made.get_physical_device_properties(physical).api_version), version);
            made.destroy_instance(None);
        }
    }
}

/// Extensions that are part of the version need not be enabled.
#[test]
fn needs_are_those_of_the_version() {
    for (version, warnings) in [(vk::API_VERSION_1_0, 2), (vk::API_VERSION_1_1, 0)] {
        let driver = Driver::open_for(version, &[vk::KHR_CREATE_RENDERPASS2_NAME]);
        assert_eq!(driver.messages.lock().unwrap().len(), warnings, "{:?}", driver.messages.lock().unwrap());
        driver.close();
    }
}

#[test]
fn subgroups_have_one_size() {
    let driver = Driver::open_for(vk::API_VERSION_1_3, &[]);
    let module = driver.module(SIZED).unwrap();
    // SAFETY: usage is valid except for unsupported sizes, which the driver refuses.
    unsafe {
        let info = vk::PipelineLayoutCreateInfo::default();
        let layout = driver.device.create_pipeline_layout(&info, None).unwrap();
        for (size, is_made) in [(16, true), (8, false), (32, false), (0, false)] {
            let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
                required_subgroup_size: size,
                ..Default::default()
            };
            let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE);
            let stage = stage.module(module).name(c"main").push_next(&mut required);
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let made = driver.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let pipeline = made.as_ref().map_or_else(|(all, _)| all[0], |all| all[0]);
            assert_eq!((made.is_ok(), pipeline.is_null()), (is_made, !is_made), "{size}");
        }
    }
    assert_eq!(driver.messages.lock().unwrap().len(), 3);
    driver.close();
}
