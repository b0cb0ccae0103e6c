//! Memory, semaphores and fences that two processes share. The test starts itself again as the
//! other process.

mod common;

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process::Command;

use ash::{khr, vk};
use common::Driver;

/// Variable with the second process's file descriptors.
const DESCRIPTORS: &str = "VITRIC_TEST_DESCRIPTORS";
const SIZE: u64 = 70_000;
const SECONDS: u64 = 1_000_000_000;

struct Process {
    driver: Driver,
    memory: khr::external_memory_fd::Device,
    semaphores: khr::external_semaphore_fd::Device,
    fences: khr::external_fence_fd::Device,
    timelines: khr::timeline_semaphore::Device,
}

impl Process {
    fn new() -> Self {
        let driver = Driver::open_with(&[
            vk::KHR_EXTERNAL_MEMORY_NAME,
            vk::KHR_EXTERNAL_MEMORY_FD_NAME,
            vk::KHR_EXTERNAL_SEMAPHORE_NAME,
            vk::KHR_EXTERNAL_SEMAPHORE_FD_NAME,
            vk::KHR_EXTERNAL_FENCE_NAME,
            vk::KHR_EXTERNAL_FENCE_FD_NAME,
            vk::KHR_TIMELINE_SEMAPHORE_NAME,
        ]);
        let (instance, device) = (&driver.instance, &driver.device);
        Self {
            memory: khr::external_memory_fd::Device::new(instance, device),
            semaphores: khr::external_semaphore_fd::Device::new(instance, device),
            fences: khr::external_fence_fd::Device::new(instance, device),
            timelines: khr::timeline_semaphore::Device::new(instance, device),
            driver,
        }
    }

    fn semaphore(&self, kind: vk::SemaphoreType, exports: bool) -> vk::Semaphore {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(kind);
        let types = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(types);
        let mut info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        if exports {
            info = info.push_next(&mut export);
        }
        // SAFETY: infos are valid and handles alive, here and below.
        unsafe { self.driver.device.create_semaphore(&info, None).unwrap() }
    }

    fn fence(&self, exports: bool) -> vk::Fence {
        let mut export = vk::ExportFenceCreateInfo::default().handle_types(vk::ExternalFenceHandleTypeFlags::OPAQUE_FD);
        let info = vk::FenceCreateInfo::default();
        let info = if exports { info.push_next(&mut export) } else { info };
        // SAFETY: infos are valid and handles alive.
        unsafe { self.driver.device.create_fence(&info, None).unwrap() }
    }

    fn export_semaphore(&self, semaphore: vk::Semaphore) -> Result<RawFd, vk::Result> {
        let info = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(semaphore)
            .handle_type(vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD);
        // SAFETY: infos are valid and handles alive.
        unsafe { self.semaphores.get_semaphore_fd(&info) }
    }

    fn import_semaphore(
        &self,
        semaphore: vk::Semaphore,
        fd: RawFd,
        flags: vk::SemaphoreImportFlags,
    ) -> Result<(), vk::Result> {
        let info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(semaphore)
            .flags(flags)
            .handle_type(vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD)
            .fd(fd);
        // SAFETY: infos are valid and handles alive.
        unsafe { self.semaphores.import_semaphore_fd(&info) }
    }

    fn import_fence(&self, fence: vk::Fence, fd: RawFd, flags: vk::FenceImportFlags) -> Result<(), vk::Result> {
        let info = vk::ImportFenceFdInfoKHR::default()
            .fence(fence)
            .flags(flags)
            .handle_type(vk::ExternalFenceHandleTypeFlags::OPAQUE_FD)
            .fd(fd);
        // SAFETY: infos are valid and handles alive.
        unsafe { self.fences.import_fence_fd(&info) }
    }

    fn export_fence(&self, fence: vk::Fence) -> Result<RawFd, vk::Result> {
        let info =
            vk::FenceGetFdInfoKHR::default().fence(fence).handle_type(vk::ExternalFenceHandleTypeFlags::OPAQUE_FD);
        // SAFETY: infos are valid and handles alive.
        unsafe { self.fences.get_fence_fd(&info) }
    }

    fn allocate(&self, size: u64, import: Option<RawFd>) -> Result<vk::DeviceMemory, vk::Result> {
        let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
        let mut import_info = vk::ImportMemoryFdInfoKHR::default().handle_type(kind).fd(import.unwrap_or(-1));
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(1);
        let info = match import {
            Some(_) => info.push_next(&mut import_info),
            None => info.push_next(&mut export),
        };
        // SAFETY: infos are valid and handles alive.
        unsafe { self.driver.device.allocate_memory(&info, None) }
    }

    fn export_memory(&self, memory: vk::DeviceMemory) -> Result<RawFd, vk::Result> {
        let info =
            vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        // SAFETY: infos are valid and handles alive.
        unsafe { self.memory.get_memory_fd(&info) }
    }

    /// Creates a buffer that covers the memory.
    fn buffer(&self, memory: vk::DeviceMemory) -> vk::Buffer {
        let types = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(types);
        let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
        let info = vk::BufferCreateInfo::default().size(SIZE).usage(usage).push_next(&mut external);
        // SAFETY: infos are valid and handles alive.
        unsafe {
            let buffer = self.driver.device.create_buffer(&info, None).unwrap();
            self.driver.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            buffer
        }
    }

    fn words(&self, memory: vk::DeviceMemory) -> &[u32] {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is mapped as a whole, and lives as long as the process.
        unsafe {
            let pointer = self.driver.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).unwrap();
            std::slice::from_raw_parts(pointer.cast(), SIZE as usize / 4)
        }
    }

    /// Fills the buffer after a wait, then signals a semaphore and a fence.
    fn fill(
        &self,
        buffer: vk::Buffer,
        word: u32,
        wait: (vk::Semaphore, u64),
        signal: (vk::Semaphore, u64),
        fence: vk::Fence,
    ) {
        let device = &self.driver.device;
        let (waits, signals, stages) = ([wait.0], [signal.0], [vk::PipelineStageFlags::ALL_COMMANDS]);
        let (wait_values, signal_values) = ([wait.1], [signal.1]);
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        // SAFETY: infos are valid and handles alive. The pool lives as long as the device.
        unsafe {
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap();
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            device.cmd_fill_buffer(commands[0], buffer, 0, vk::WHOLE_SIZE, word);
            device.end_command_buffer(commands[0]).unwrap();
            let info = vk::SubmitInfo::default()
                .command_buffers(&commands)
                .wait_semaphores(&waits)
                .wait_dst_stage_mask(&stages)
                .signal_semaphores(&signals)
                .push_next(&mut values);
            device.queue_submit(self.driver.queue, &[info], fence).unwrap();
        }
    }

    fn wait(&self, line: vk::Semaphore, value: u64) -> Result<(), vk::Result> {
        let (lines, values) = ([line], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&lines).values(&values);
        // SAFETY: infos are valid and handles alive.
        unsafe { self.timelines.wait_semaphores(&info, 20 * SECONDS) }
    }
}

fn close(fd: RawFd) {
    // SAFETY: the test owns the descriptor.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
}

/// Runs the second process: it waits for the first one's write, then writes and signals.
fn second(descriptors: &str) {
    let fds: Vec<RawFd> = descriptors.split(',').map(|fd| fd.parse().unwrap()).collect();
    let process = Process::new();
    let (line, done) =
        (process.semaphore(vk::SemaphoreType::TIMELINE, false), process.semaphore(vk::SemaphoreType::BINARY, false));
    let fence = process.fence(false);
    let memory = process.allocate(SIZE, Some(fds[0])).unwrap();
    process.import_semaphore(line, fds[1], vk::SemaphoreImportFlags::empty()).unwrap();
    process.import_semaphore(done, fds[2], vk::SemaphoreImportFlags::empty()).unwrap();
    process.import_fence(fence, fds[3], vk::FenceImportFlags::empty()).unwrap();
    let buffer = process.buffer(memory);
    process.wait(line, 1).unwrap();
    assert!(process.words(memory)[..SIZE as usize / 4].iter().all(|&word| word == 5), "what the first has written");
    // The host signals the semaphore that the queue waits for. The first process checks the
    // results.
    process.fill(buffer, 7, (line, 2), (done, 0), fence);
    let info = vk::SemaphoreSignalInfo::default().semaphore(line).value(2);
    // SAFETY: the semaphore is a timeline, and its value is below 2.
    unsafe {
        process.timelines.signal_semaphore(&info).unwrap();
        process.driver.device.device_wait_idle().unwrap();
    }
}

#[test]
fn two_processes_take_turns() {
    if let Ok(descriptors) = std::env::var(DESCRIPTORS) {
        return second(&descriptors);
    }
    let first = Process::new();
    let memory = first.allocate(SIZE, None).unwrap();
    let buffer = first.buffer(memory);
    let line = first.semaphore(vk::SemaphoreType::TIMELINE, true);
    let done = first.semaphore(vk::SemaphoreType::BINARY, true);
    let (fence, start) = (first.fence(true), first.semaphore(vk::SemaphoreType::TIMELINE, false));
    let fds = [
        first.export_memory(memory).unwrap(),
        first.export_semaphore(line).unwrap(),
        first.export_semaphore(done).unwrap(),
        first.export_fence(fence).unwrap(),
    ];
    for fd in fds {
        // SAFETY: the descriptor is open. Without `FD_CLOEXEC` it stays open in the other process.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }, 0);
    }
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "two_processes_take_turns", "--nocapture"])
        .env(DESCRIPTORS, fds.map(|fd| fd.to_string()).join(","))
        .spawn()
        .unwrap();
    fds.into_iter().for_each(close);
    first.fill(buffer, 5, (start, 0), (line, 1), vk::Fence::null());
    // The queue waits for the other process's semaphore, and the host waits for its fence.
    let ended = first.semaphore(vk::SemaphoreType::TIMELINE, false);
    first.fill(buffer, 9, (done, 0), (ended, 1), vk::Fence::null());
    // SAFETY: the fence is alive.
    unsafe { first.driver.device.wait_for_fences(&[fence], true, 20 * SECONDS).unwrap() };
    first.wait(ended, 1).unwrap();
    assert!(other.wait().unwrap().success());
    assert!(first.words(memory).iter().all(|&word| word == 9));
    first.driver.close();
}

#[test]
fn descriptors_of_other_things_are_refused_and_stay_open() {
    let process = Process::new();
    let memory = process.allocate(SIZE, None).unwrap();
    let line = process.semaphore(vk::SemaphoreType::TIMELINE, true);
    let fd = process.export_memory(memory).unwrap();
    let invalid = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
    assert_eq!(process.import_semaphore(line, fd, vk::SemaphoreImportFlags::empty()), Err(invalid));
    assert_eq!(process.import_fence(process.fence(false), fd, vk::FenceImportFlags::empty()), Err(invalid));
    assert_eq!(process.allocate(SIZE + 1, Some(fd)).unwrap_err(), invalid);
    assert_eq!(process.allocate(SIZE, Some(-1)).unwrap_err(), invalid);
    assert_eq!(process.allocate(SIZE, Some(0x7fff_fff0)).unwrap_err(), invalid);
    assert!(process.allocate(SIZE, Some(fd)).is_ok(), "it was not closed");
    let own = process.driver.allocate(64).unwrap();
    assert!(process.export_memory(own).is_err(), "what was not made to be exported");
    assert!(process.export_semaphore(process.semaphore(vk::SemaphoreType::BINARY, false)).is_err());
    process.driver.close();
}

/// A temporarily imported payload is removed by a wait or a reset.
#[test]
fn imports_for_a_time() {
    let process = Process::new();
    let device = &process.driver.device;
    let (given, taken) = (process.fence(true), process.fence(false));
    let fd = process.export_fence(given).unwrap();
    process.import_fence(taken, fd, vk::FenceImportFlags::TEMPORARY).unwrap();
    // SAFETY: handles are alive.
    unsafe {
        device.queue_submit(process.driver.queue, &[], given).unwrap();
        device.wait_for_fences(&[taken], true, 20 * SECONDS).unwrap();
        device.reset_fences(&[taken]).unwrap();
        assert!(device.get_fence_status(given).unwrap() && !device.get_fence_status(taken).unwrap());
    }
    let line = process.semaphore(vk::SemaphoreType::TIMELINE, true);
    let fd = process.export_semaphore(line).unwrap();
    let refused = process.import_semaphore(line, fd, vk::SemaphoreImportFlags::TEMPORARY);
    assert!(refused.is_err(), "timelines are had for good only");
    close(fd);
    process.driver.close();
}

#[test]
fn memory_for_one_resource_takes_no_other() {
    let driver = Driver::open_with(&[vk::KHR_DEDICATED_ALLOCATION_NAME, vk::KHR_GET_MEMORY_REQUIREMENTS2_NAME]);
    let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::TRANSFER_DST);
    // SAFETY: usage is valid except for the imports that the driver must refuse.
    unsafe {
        let [owner, other] = [0, 1].map(|_| driver.device.create_buffer(&info, None).unwrap());
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(owner);
        let info = vk::MemoryAllocateInfo::default().allocation_size(64).memory_type_index(1);
        let memory = driver.device.allocate_memory(&info.push_next(&mut dedicated), None).unwrap();
        assert!(driver.device.bind_buffer_memory(other, memory, 0).is_err());
        assert!(driver.device.bind_buffer_memory(owner, memory, 16).is_err());
        driver.device.bind_buffer_memory(owner, memory, 0).unwrap();
    }
    driver.close();
}

/// With the older extension, memory needs no flag, and a buffer requests the address.
#[test]
fn addresses_that_buffers_ask_for() {
    let driver = Driver::open_with(&[vk::EXT_BUFFER_DEVICE_ADDRESS_NAME]);
    let second = ash::ext::buffer_device_address::Device::new(&driver.instance, &driver.device);
    let make = |asked: u64| {
        let mut address = vk::BufferDeviceAddressCreateInfoEXT::default().device_address(asked);
        let info = vk::BufferCreateInfo::default()
            .size(256)
            .usage(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
            .flags(vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY)
            .push_next(&mut address);
        // SAFETY: usage is valid except for addresses that are in use, which the driver must
        // refuse.
        unsafe {
            let buffer = driver.device.create_buffer(&info, None)?;
            let memory = driver.allocate(1024)?;
            driver.device.bind_buffer_memory(buffer, memory, 512)?;
            let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            let address = second.get_buffer_device_address(&info);
            Ok::<_, vk::Result>((memory, buffer, address))
        }
    };
    let (memory, buffer, address) = make(0).unwrap();
    assert!(address != 0);
    assert_eq!(make(address).unwrap_err(), vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "it is taken");
    // SAFETY: neither object is in use.
    unsafe {
        driver.device.destroy_buffer(buffer, None);
        driver.device.free_memory(memory, None);
    }
    assert_eq!(make(address).unwrap().2, address);
    driver.close();
}

type Reports = std::sync::Mutex<Vec<(vk::ObjectType, u64, u64, bool)>>;

unsafe extern "system" fn hear(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut std::ffi::c_void,
) -> vk::Bool32 {
    if kind == vk::DebugUtilsMessageTypeFlagsEXT::DEVICE_ADDRESS_BINDING {
        // SAFETY: the driver passes the messenger's user pointer, and chains the structure of this
        // type.
        unsafe {
            let binding = &*(*data).p_next.cast::<vk::DeviceAddressBindingCallbackDataEXT<'_>>();
            let object = &*(*data).p_objects;
            let is_bound = binding.binding_type == vk::DeviceAddressBindingTypeEXT::BIND;
            let report = (object.object_type, binding.base_address, binding.size, is_bound);
            (*user.cast::<Reports>()).lock().unwrap().push(report);
        }
    }
    vk::FALSE
}

#[test]
fn addresses_are_reported() {
    let reports = Reports::default();
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: infos are valid and handles alive. The reports outlive the instance.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let names = [ash::ext::debug_utils::NAME.as_ptr()];
        let messenger = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::DEVICE_ADDRESS_BINDING)
            .pfn_user_callback(Some(hear))
            .user_data((&raw const reports).cast_mut().cast());
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        let instance = entry.create_instance(&info, None).unwrap();
        let messengers = ash::ext::debug_utils::Instance::new(&entry, &instance);
        let messenger = messengers.create_debug_utils_messenger(&messenger, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let names = [vk::KHR_BUFFER_DEVICE_ADDRESS_NAME, vk::EXT_DEVICE_ADDRESS_BINDING_REPORT_NAME];
        let names = names.map(|name| name.as_ptr());
        let mut feature = vk::PhysicalDeviceAddressBindingReportFeaturesEXT::default().report_address_binding(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut feature);
        let device = instance.create_device(physical, &info, None).unwrap();
        let allocate = |flags| {
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
            let info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(1);
            device.allocate_memory(&info.push_next(&mut flags), None).unwrap()
        };
        let silent = allocate(vk::MemoryAllocateFlags::empty());
        let memory = allocate(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::BufferCreateInfo::default().size(256).usage(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
        let buffer = device.create_buffer(&info, None).unwrap();
        device.bind_buffer_memory(buffer, memory, 1024).unwrap();
        let start = reports.lock().unwrap()[0].1;
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        device.free_memory(silent, None);
        let (of_memory, of_buffer) = (vk::ObjectType::DEVICE_MEMORY, vk::ObjectType::BUFFER);
        let expected = [
            (of_memory, start, 4096, true),
            (of_buffer, start + 1024, 256, true),
            (of_buffer, start + 1024, 256, false),
            (of_memory, start, 4096, false),
        ];
        assert_eq!(*reports.lock().unwrap(), expected);
        device.destroy_device(None);
        messengers.destroy_debug_utils_messenger(messenger, None);
        instance.destroy_instance(None);
    }
}
