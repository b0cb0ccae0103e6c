//! The table is complete, and what it hands out works through plain function pointers.

use std::ffi::CString;

use super::*;

fn get(instance: vk::Instance, name: &str) -> vk::PFN_vkVoidFunction {
    let name = CString::new(name).unwrap();
    instance_proc(instance, name.as_ptr())
}

fn entry() -> ash::Entry {
    let static_fn = ash::StaticFn { get_instance_proc_addr: crate::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is this driver's own and follows Vulkan.
    unsafe { ash::Entry::from_static_fn(static_fn) }
}

fn instance() -> ash::Instance {
    // SAFETY: an empty create info is valid.
    unsafe { entry().create_instance(&vk::InstanceCreateInfo::default(), None) }.unwrap()
}

#[test]
fn names_are_unique_and_levels_are_kept_apart() {
    let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENTRIES.len());
    // 137 core commands of 1.0.
    assert_eq!(ENTRIES.iter().filter(|entry| entry.extension.is_empty()).count(), 137);
    let null = vk::Instance::null();
    assert!(get(null, "vkCreateInstance").is_some());
    assert!(get(null, "vkCreateDevice").is_none());
    assert!(get(null, "vkNoSuchCommand").is_none());
    assert_eq!(get(null, "vkEnumerateInstanceVersion").is_some(), API_VERSION >= vk::API_VERSION_1_1);
    let instance = instance();
    assert!(get(instance.handle(), "vkCreateDevice").is_some());
    assert!(get(instance.handle(), "vkCmdDraw").is_some());
    assert!(get(instance.handle(), "vkCreateHeadlessSurfaceEXT").is_none(), "the extension is not enabled");
    assert!(get(instance.handle(), "vkCreateRenderPass2KHR").is_some());
    assert_eq!(get(instance.handle(), "vkCreateRenderPass2").is_some(), API_VERSION >= vk::API_VERSION_1_2);
    assert_eq!(get(instance.handle(), "vkGetDeviceQueue2").is_some(), API_VERSION >= vk::API_VERSION_1_1);
    // SAFETY: destroyed once.
    unsafe { instance.destroy_instance(None) };
}

#[test]
fn commands_are_of_extensions_that_are_there() {
    for entry in ENTRIES.iter().filter(|entry| !["", VERSION_1_1].contains(&entry.extension)) {
        let known = extensions::TABLE.iter().any(|extension| extension.name == entry.extension);
        assert!(known, "{} of {}", entry.name, entry.extension);
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
fn stale_handles_are_errors_or_ignored() {
    let instance = instance();
    // SAFETY: valid usage but for the handles that are the point of the test, which the driver promises to survive.
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
