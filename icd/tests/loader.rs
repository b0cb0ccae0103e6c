//! Stale handles through the system's loader, whose trampolines read a handle's first word before
//! they call the driver.
//!
//! The file has one test, so that the driver is selected before other code runs.

use std::ffi::CStr;

use ash::vk::{self, Handle};

/// Makes the loader select the driver beside this test. Returns the manifest's path.
fn choose_driver() -> std::path::PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let folder = std::env::temp_dir().join(format!("vitric-loader-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let library = test.with_file_name("libvulkan_vitric.so");
    let icd = format!(r#"{{ "library_path": {:?}, "api_version": "1.3.0" }}"#, library.to_str().unwrap());
    let manifest = folder.join("icd.json");
    std::fs::write(&manifest, format!(r#"{{ "file_format_version": "1.0.1", "ICD": {icd} }}"#)).unwrap();
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        // SAFETY: this is the process's only test, and no other thread runs yet.
        unsafe { std::env::set_var(name, &manifest) };
    }
    folder
}

#[test]
fn stale_handles_go_through_the_loader() {
    let folder = choose_driver();
    // SAFETY: infos are valid and handles live, except the stale handles under test.
    unsafe {
        let loader = libloading::Library::new("libvulkan.so.1").expect("the system has a loader");
        let get = *loader.get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0").unwrap();
        let entry = ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get });
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let name = instance.get_physical_device_properties(physical).device_name;
        assert!(CStr::from_ptr(name.as_ptr()).to_string_lossy().contains("Vitric"), "{name:?}");
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let made = instance.create_device(physical, &vk::DeviceCreateInfo::default().queue_create_infos(&queues), None);
        // An instance returns the trampolines, and a device returns the driver's functions.
        let trampoline =
            |name: &CStr| get(instance.handle(), name.as_ptr()).map_or(std::ptr::null(), |f| f as *const _);
        let device = ash::Device::load_with(trampoline, made.unwrap().handle());
        let queue = device.get_device_queue(0, 0);
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(2);
        let buffers = device.allocate_command_buffers(&info).unwrap();
        let begin = vk::CommandBufferBeginInfo::default();
        device.free_command_buffers(pool, &buffers[..1]);
        assert_eq!(device.begin_command_buffer(buffers[0], &begin), Err(vk::Result::ERROR_UNKNOWN));
        device.cmd_draw(buffers[0], 3, 1, 0, 0);
        device.begin_command_buffer(buffers[1], &begin).unwrap();
        device.destroy_device(None);
        let lost = Err(vk::Result::ERROR_DEVICE_LOST);
        for &stale in &buffers {
            device.cmd_draw(stale, 3, 1, 0, 0);
            assert_eq!(device.end_command_buffer(stale), lost);
        }
        assert_eq!(device.queue_submit(queue, &[], vk::Fence::null()), lost);
        assert_eq!(device.device_wait_idle(), lost);
        assert_eq!(device.create_fence(&vk::FenceCreateInfo::default(), None).map(drop), lost);
        assert!(device.get_device_queue(0, 0).is_null());
        device.destroy_device(None);
        // Another device still works.
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let another = instance.create_device(physical, &info, None).unwrap();
        another.device_wait_idle().unwrap();
        another.destroy_device(None);
        instance.destroy_instance(None);
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}
