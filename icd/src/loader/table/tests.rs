//! The table is complete, and its functions work through plain function pointers.

use std::ffi::CString;

use super::*;

fn get(instance: vk::Instance, name: &str) -> vk::PFN_vkVoidFunction {
    let name = CString::new(name).unwrap();
    // SAFETY: the name is a C string.
    unsafe { vkGetInstanceProcAddr(instance, name.as_ptr()) }
}

fn entry() -> ash::Entry {
    let static_fn = ash::StaticFn { get_instance_proc_addr: crate::vk_icdGetInstanceProcAddr };
    // SAFETY: the function belongs to this driver and follows Vulkan.
    unsafe { ash::Entry::from_static_fn(static_fn) }
}

fn instance_of(version: u32) -> ash::Instance {
    let application = vk::ApplicationInfo::default().api_version(version);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the info is valid.
    unsafe { entry().create_instance(&info, None) }.unwrap()
}

fn instance() -> ash::Instance {
    // SAFETY: an empty create info is valid.
    unsafe { entry().create_instance(&vk::InstanceCreateInfo::default(), None) }.unwrap()
}

/// Returns the core commands of each version from ash's tables, which are generated from the
/// specification's registry.
fn core_names() -> Vec<(u32, String)> {
    let mut names = Vec::new();
    macro_rules! of {
        ($($version:ident: $($table:ident),+;)*) => { $($({
            let mut take = |name: &CStr| {
                names.push((vk::$version, name.to_str().unwrap().to_owned()));
                std::ptr::null()
            };
            let _ = ash::$table::load(&mut take);
        })+)* };
    }
    of! {
        API_VERSION_1_0: EntryFnV1_0, InstanceFnV1_0, DeviceFnV1_0;
        API_VERSION_1_1: EntryFnV1_1, InstanceFnV1_1, DeviceFnV1_1;
        API_VERSION_1_2: DeviceFnV1_2;
        API_VERSION_1_3: InstanceFnV1_3, DeviceFnV1_3;
    }
    names.extend(COMMANDS14.map(|name| (V1_4, name.to_owned())));
    names
}

/// Commands of Vulkan 1.4, which ash's tables lack.
const COMMANDS14: [&str; 19] = [
    "vkCmdBindDescriptorSets2",
    "vkCmdBindIndexBuffer2",
    "vkCmdPushConstants2",
    "vkCmdPushDescriptorSet",
    "vkCmdPushDescriptorSet2",
    "vkCmdPushDescriptorSetWithTemplate",
    "vkCmdPushDescriptorSetWithTemplate2",
    "vkCmdSetLineStipple",
    "vkCmdSetRenderingAttachmentLocations",
    "vkCmdSetRenderingInputAttachmentIndices",
    "vkCopyImageToImage",
    "vkCopyImageToMemory",
    "vkCopyMemoryToImage",
    "vkGetDeviceImageSubresourceLayout",
    "vkGetImageSubresourceLayout2",
    "vkGetRenderingAreaGranularity",
    "vkMapMemory2",
    "vkTransitionImageLayout",
    "vkUnmapMemory2",
];

#[test]
fn every_core_command_has_its_row_and_no_row_another_core_name() {
    let mut known: Vec<(u32, String)> = ENTRIES
        .iter()
        .filter_map(|entry| Some((entry.core?, entry.core_name()?.to_owned())))
        .filter(|(version, _)| *version <= API_VERSION)
        .collect();
    let mut wanted = core_names();
    // `vkGetInstanceProcAddr` is in none of ash's tables.
    wanted.push((vk::API_VERSION_1_0, "vkGetInstanceProcAddr".into()));
    known.sort();
    wanted.sort();
    let missing: Vec<_> = wanted.iter().filter(|name| !known.contains(name)).collect();
    let invented: Vec<_> = known.iter().filter(|name| !wanted.contains(name)).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing: {missing:?}; invented: {invented:?}");
}

#[test]
fn names_are_unique_and_levels_are_kept_apart() {
    let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENTRIES.len());
    let null = vk::Instance::null();
    assert!(get(null, "vkCreateInstance").is_some());
    assert!(get(null, "vkCreateDevice").is_none());
    assert!(get(null, "vkNoSuchCommand").is_none());
    assert!(get(null, "vkEnumerateInstanceVersion").is_some() && get(null, "vkGetInstanceProcAddr").is_some());
    let instance = instance();
    assert!(get(instance.handle(), "vkCreateDevice").is_some());
    assert!(get(instance.handle(), "vkCmdDraw").is_some());
    assert!(get(instance.handle(), "vkCreateInstance").is_none(), "a global command");
    assert!(get(instance.handle(), "vkCreateHeadlessSurfaceEXT").is_none(), "the extension is not enabled");
    assert!(get(instance.handle(), "vkGetPhysicalDeviceFeatures2KHR").is_none(), "the extension is not enabled");
    // A device's extension need not be enabled.
    assert!(get(instance.handle(), "vkCreateRenderPass2KHR").is_some());
    // SAFETY: the instance is destroyed once.
    unsafe { instance.destroy_instance(None) };
}

#[test]
fn names_without_suffix_are_known_from_their_version_on() {
    let older = [vk::API_VERSION_1_0, vk::API_VERSION_1_1, vk::API_VERSION_1_2, vk::API_VERSION_1_3];
    for version in older.into_iter().chain([vk::make_api_version(0, 1, 2, 199), vk::make_api_version(0, 1, 4, 0)]) {
        let instance = instance_of(version);
        for (core, name) in core_names() {
            let is_global = ENTRIES.iter().any(|entry| entry.name == name && entry.level == Level::Global);
            let expected = core <= version && !is_global;
            assert_eq!(get(instance.handle(), &name).is_some(), expected, "{name} in {version:x}");
        }
        for name in ["vkCmdSetLogicOp", "vkCmdSetPatchControlPoints", "vkCreateSwapchain", "vkCmdSetDepthBias2"] {
            assert!(get(instance.handle(), name).is_none(), "{name} was never promoted to this version");
        }
        // SAFETY: the instance is destroyed once.
        unsafe { instance.destroy_instance(None) };
    }
}

#[test]
fn commands_are_of_extensions_that_are_there() {
    for entry in ENTRIES.iter().filter(|entry| !entry.extension.is_empty()) {
        let found = extensions::TABLE.iter().find(|extension| extension.name == entry.extension);
        let found = found.unwrap_or_else(|| panic!("{} of {}", entry.name, entry.extension));
        let same = entry.core.is_none_or(|version| found.core == Some(version));
        assert!(same, "{} and {} became core in different versions", entry.name, entry.extension);
        assert!(entry.core.is_none() || entry.core_name() != Some(entry.name), "{} has no suffix", entry.name);
    }
}

#[test]
fn negotiation_settles_on_the_older_version() {
    for (offered, agreed) in [(1, 1), (5, 5), (7, 7), (99, 7)] {
        let mut version = offered;
        // SAFETY: the pointer is to a version.
        let code = unsafe { crate::vk_icdNegotiateLoaderICDInterfaceVersion(&raw mut version) };
        assert_eq!((code, version), (vk::Result::SUCCESS, agreed));
    }
}

#[test]
fn the_loaders_own_functions_are_found_by_name() {
    let find = |name: &CStr| {
        // SAFETY: the name is a C string.
        unsafe { crate::vk_icdGetInstanceProcAddr(vk::Instance::null(), name.as_ptr()) }
    };
    let found = find(c"vk_icdNegotiateLoaderICDInterfaceVersion").unwrap();
    let mut version = 99;
    // SAFETY: the function has this type.
    let negotiate: unsafe extern "system" fn(*mut u32) -> vk::Result = unsafe { std::mem::transmute(found) };
    // SAFETY: the pointer is to a version.
    assert_eq!((unsafe { negotiate(&raw mut version) }, version), (vk::Result::SUCCESS, 7));
    let found = find(c"vk_icdGetPhysicalDeviceProcAddr").unwrap();
    // SAFETY: the function has this type.
    let physical: unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction =
        unsafe { std::mem::transmute(found) };
    let instance = instance();
    // SAFETY: the names are C strings. The instance is alive, and destroyed once.
    unsafe {
        assert!(physical(instance.handle(), c"vkGetPhysicalDeviceFeatures".as_ptr()).is_some());
        assert!(physical(instance.handle(), c"vkCreateDevice".as_ptr()).is_some());
        assert!(physical(instance.handle(), c"vkCmdDraw".as_ptr()).is_none());
        instance.destroy_instance(None);
    }
    assert!(find(c"vk_icdNoSuchFunction").is_none());
    assert!(get(vk::Instance::null(), "vk_icdGetPhysicalDeviceProcAddr").is_none(), "Vulkan has no such command");
}

#[test]
fn stale_handles_are_errors_or_ignored() {
    let instance = instance();
    // SAFETY: usage is valid except for the handles under test, which the driver checks.
    unsafe {
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let priority = [1.0];
        let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priority)];
        let device =
            instance.create_device(physical, &vk::DeviceCreateInfo::default().queue_create_infos(&queue), None);
        let device = device.unwrap();
        let buffer = device.create_buffer(&vk::BufferCreateInfo::default().size(64), None).unwrap();
        assert_eq!(device.get_buffer_memory_requirements(buffer).size, 64);
        device.destroy_buffer(buffer, None);
        device.destroy_buffer(buffer, None);
        let memory = device.allocate_memory(&vk::MemoryAllocateInfo::default().allocation_size(64), None).unwrap();
        assert!(device.bind_buffer_memory(buffer, memory, 0).is_err());
        assert!(device.get_fence_status(vk::Handle::from_raw(0x1234)).is_err());
        device.free_memory(memory, None);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
}

/// An entry point that creates an object. Arguments: parent, info, allocation callbacks, and
/// output for the handle.
type Create = unsafe extern "system" fn(u64, *const (), *const (), *mut u64) -> vk::Result;

/// An entry point that creates a mode. Arguments: physical device, display, info, allocation
/// callbacks, and output for the handle.
type CreateMode = unsafe extern "system" fn(u64, u64, *const (), *const (), *mut u64) -> vk::Result;

/// An entry point that creates pipelines. Arguments: device, cache, number of infos, infos,
/// allocation callbacks, and output for the handles.
type CreatePipelines = unsafe extern "system" fn(u64, u64, u32, *const (), *const (), *mut u64) -> vk::Result;

#[test]
fn null_infos_are_refused_by_everything_that_creates_something() {
    use vk::Handle;
    let instance = instance();
    // SAFETY: usage is valid except for null pointers, which the driver checks. Every function has
    // the type that belongs to its name.
    unsafe {
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let priority = [1.0];
        let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priority)];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue);
        let device = instance.create_device(physical, &info, None).unwrap();
        let parents = [instance.handle().as_raw(), physical.as_raw(), device.handle().as_raw()];
        let mut count = 0;
        for entry in ENTRIES.iter().filter(|entry| entry.name.starts_with("vkCreate")) {
            // The output is a structure. `tests/binaries.rs` passes a null info.
            if entry.name == "vkCreatePipelineBinariesKHR" {
                continue;
            }
            let mut made = 7;
            let parent = match entry.level {
                Level::Global => continue,
                Level::Instance => parents[0],
                Level::Physical => parents[1],
                Level::Device => parents[2],
            };
            let null = std::ptr::null();
            let code = if entry.name.ends_with("Pipelines") {
                let create = std::mem::transmute::<unsafe extern "system" fn(), CreatePipelines>(entry.function);
                create(parent, 0, 1, null, null, &raw mut made)
            } else if entry.name == "vkCreateDisplayModeKHR" {
                let create = std::mem::transmute::<unsafe extern "system" fn(), CreateMode>(entry.function);
                create(parent, 0, null, null, &raw mut made)
            } else {
                let create = std::mem::transmute::<unsafe extern "system" fn(), Create>(entry.function);
                create(parent, null, null, &raw mut made)
            };
            assert!(code.as_raw() < 0, "{}: {code:?}", entry.name);
            assert!(made == 0 || entry.name.ends_with("Pipelines"), "{} leaves no handle", entry.name);
            count += 1;
        }
        assert!(count >= 30, "{count}");
        let mut made = vk::Instance::null();
        let create = entry().fp_v1_0().create_instance;
        assert!(create(std::ptr::null(), std::ptr::null(), &raw mut made).as_raw() < 0);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
}
