//! Misuse of protected memory is refused or dropped, with messages.

mod common;

use ash::vk::{self, Handle};
use common::Driver;

/// Index of the protected memory type.
const PROTECTED: u32 = 4;

fn heard(driver: &Driver) -> usize {
    std::mem::take(&mut *driver.messages.lock().unwrap()).len()
}

/// A device with an unprotected queue and a protected queue.
struct Opened {
    driver: Driver,
    device: ash::Device,
    /// The queues, the protected one last.
    queues: [vk::Queue; 2],
    /// Command pools, the protected one last.
    pools: [vk::CommandPool; 2],
}

fn open() -> Opened {
    let driver = Driver::open_for(vk::API_VERSION_1_1, &[]);
    let flags = [vk::DeviceQueueCreateFlags::empty(), vk::DeviceQueueCreateFlags::PROTECTED];
    let infos = flags.map(|flags| vk::DeviceQueueCreateInfo::default().flags(flags).queue_priorities(&[1.0]));
    let names = [ash::khr::external_memory_fd::NAME.as_ptr(), ash::khr::swapchain::NAME.as_ptr()];
    let mut feature = vk::PhysicalDeviceProtectedMemoryFeatures::default().protected_memory(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&infos).enabled_extension_names(&names);
    // SAFETY: the infos are valid.
    unsafe {
        let device = driver.instance.create_device(driver.physical, &info.push_next(&mut feature), None).unwrap();
        let queues = flags.map(|flags| device.get_device_queue2(&vk::DeviceQueueInfo2::default().flags(flags)));
        let pools = [vk::CommandPoolCreateFlags::empty(), vk::CommandPoolCreateFlags::PROTECTED];
        let pools = pools
            .map(|flags| device.create_command_pool(&vk::CommandPoolCreateInfo::default().flags(flags), None).unwrap());
        Opened { driver, device, queues, pools }
    }
}

impl Opened {
    fn close(self) {
        // SAFETY: the device is idle.
        unsafe { self.device.destroy_device(None) };
        self.driver.close();
    }

    fn allocate(&self, kind: u32) -> Result<vk::DeviceMemory, vk::Result> {
        let info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(kind);
        // SAFETY: the info is valid.
        unsafe { self.device.allocate_memory(&info, None) }
    }

    /// Creates a buffer without memory.
    fn unbound(&self, flags: vk::BufferCreateFlags) -> vk::Buffer {
        let usage = vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC;
        let info = vk::BufferCreateInfo::default().flags(flags).size(64).usage(usage);
        // SAFETY: the info is valid.
        unsafe { self.device.create_buffer(&info, None).unwrap() }
    }

    /// Creates a buffer with memory of its protection.
    fn buffer(&self, is_protected: bool) -> vk::Buffer {
        let flags = if is_protected { vk::BufferCreateFlags::PROTECTED } else { vk::BufferCreateFlags::empty() };
        let (buffer, memory) = (self.unbound(flags), self.allocate(if is_protected { PROTECTED } else { 1 }).unwrap());
        // SAFETY: the memory is large enough, and is bound once.
        unsafe { self.device.bind_buffer_memory(buffer, memory, 0).unwrap() };
        buffer
    }

    /// Records a command buffer of a pool.
    fn record(
        &self,
        pool: usize,
        level: vk::CommandBufferLevel,
        work: impl FnOnce(vk::CommandBuffer),
    ) -> vk::CommandBuffer {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pools[pool]).level(level);
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: usage is valid except for the deliberate errors of `work`, which the driver
        // drops.
        unsafe {
            let commands = self.device.allocate_command_buffers(&info.command_buffer_count(1)).unwrap()[0];
            self.device.begin_command_buffer(commands, &begin).unwrap();
            work(commands);
            self.device.end_command_buffer(commands).unwrap();
            commands
        }
    }

    /// Submits a command buffer of a pool to a queue, in a batch that is protected or not.
    fn submit(&self, commands: vk::CommandBuffer, queue: usize, is_protected: bool) -> Result<(), vk::Result> {
        let mut protected = vk::ProtectedSubmitInfo::default().protected_submit(is_protected);
        let commands = [commands];
        let info = [vk::SubmitInfo::default().command_buffers(&commands).push_next(&mut protected)];
        // SAFETY: usage is valid except for the protection, which the driver checks.
        unsafe {
            self.device.queue_submit(self.queues[queue], &info, vk::Fence::null())?;
            self.device.queue_wait_idle(self.queues[queue])
        }
    }
}

#[test]
fn a_device_without_the_feature_has_nothing_protected() {
    let driver = Driver::open_for(vk::API_VERSION_1_1, &[]);
    let pool = vk::CommandPoolCreateInfo::default().flags(vk::CommandPoolCreateFlags::PROTECTED);
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let buffer = vk::BufferCreateInfo::default().flags(vk::BufferCreateFlags::PROTECTED).size(64).usage(usage);
    let memory = vk::MemoryAllocateInfo::default().allocation_size(64).memory_type_index(PROTECTED);
    let missing = vk::Result::ERROR_FEATURE_NOT_PRESENT;
    // SAFETY: usage is valid except for the missing feature, which the driver checks.
    unsafe {
        assert_eq!(driver.device.create_command_pool(&pool, None), Err(missing));
        assert_eq!(driver.device.create_buffer(&buffer, None), Err(missing));
        assert_eq!(driver.device.create_image(&image(vk::ImageUsageFlags::TRANSFER_DST), None), Err(missing));
        assert_eq!(driver.device.allocate_memory(&memory, None), Err(missing));
    }
    assert_eq!(heard(&driver), 4);
    driver.close();
}

/// Returns the info of a protected image.
fn image(usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::PROTECTED)
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 8, height: 8, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage)
}

#[test]
fn the_host_gets_no_protected_memory() {
    let opened = open();
    let memory = opened.allocate(PROTECTED).unwrap();
    let (device, flags) = (&opened.device, vk::MemoryMapFlags::empty());
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
    let info = vk::MemoryAllocateInfo::default().allocation_size(64).memory_type_index(PROTECTED);
    let files = ash::khr::external_memory_fd::Device::new(&opened.driver.instance, device);
    let get = vk::MemoryGetFdInfoKHR::default().memory(memory);
    // SAFETY: usage is valid except for the protection, which the driver checks.
    unsafe {
        assert_eq!(device.map_memory(memory, 0, 64, flags).err(), Some(vk::Result::ERROR_MEMORY_MAP_FAILED));
        let exported = device.allocate_memory(&info.push_next(&mut export), None);
        assert_eq!(exported, Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
        let get = get.handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        assert_eq!(files.get_memory_fd(&get), Err(vk::Result::ERROR_UNKNOWN));
    }
    assert_eq!(heard(&opened.driver), 3);
    let refused = Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    for usage in [vk::ImageUsageFlags::HOST_TRANSFER_EXT, vk::ImageUsageFlags::TRANSFER_SRC] {
        // SAFETY: usage is valid except for the combination with host copies.
        let made = unsafe { device.create_image(&image(usage), None) };
        assert_eq!(made.err(), refused.filter(|_| usage == vk::ImageUsageFlags::HOST_TRANSFER_EXT));
    }
    opened.close();
}

#[test]
fn resources_are_bound_to_memory_of_their_protection() {
    let opened = open();
    for (flags, kind) in [(vk::BufferCreateFlags::PROTECTED, 1), (vk::BufferCreateFlags::empty(), PROTECTED)] {
        let (buffer, memory) = (opened.unbound(flags), opened.allocate(kind).unwrap());
        // SAFETY: usage is valid except for the protection, which the driver checks.
        let bound = unsafe { opened.device.bind_buffer_memory(buffer, memory, 0) };
        assert_eq!(bound, Err(vk::Result::ERROR_UNKNOWN));
    }
    // SAFETY: usage is valid except for the protection, which the driver checks.
    let bound = unsafe {
        let image = opened.device.create_image(&image(vk::ImageUsageFlags::TRANSFER_DST), None).unwrap();
        opened.device.bind_image_memory(image, opened.allocate(1).unwrap(), 0)
    };
    assert_eq!(bound, Err(vk::Result::ERROR_UNKNOWN));
    assert_eq!(heard(&opened.driver), 3);
    opened.close();
}

#[test]
fn batches_have_command_buffers_of_their_protection() {
    let opened = open();
    let primary = vk::CommandBufferLevel::PRIMARY;
    let [plain, protected] = [0, 1].map(|pool| opened.record(pool, primary, |_| ()));
    let refused = Err(vk::Result::ERROR_UNKNOWN);
    assert_eq!(opened.submit(protected, 1, false), refused);
    assert_eq!(opened.submit(plain, 1, true), refused);
    assert_eq!(opened.submit(protected, 0, true), refused, "the queue is not protected");
    assert_eq!(heard(&opened.driver), 3);
    assert_eq!(opened.submit(plain, 1, false), Ok(()), "a protected queue takes other batches, too");
    assert_eq!(opened.submit(protected, 1, true), Ok(()));
    // SAFETY: the queue does not exist.
    let second = unsafe { opened.device.get_device_queue(0, 1) };
    assert!(second.is_null(), "only vkGetDeviceQueue2 returns the protected queue");
    assert_eq!(heard(&opened.driver), 0);
    opened.close();
}

#[test]
fn commands_of_the_wrong_protection_are_dropped() {
    let opened = open();
    let (device, primary) = (&opened.device, vk::CommandBufferLevel::PRIMARY);
    let [plain, protected] = [false, true].map(|is_protected| opened.buffer(is_protected));
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
    // SAFETY: the info is valid.
    let queries = unsafe { device.create_query_pool(&info, None).unwrap() };
    let secondary = [0, 1].map(|pool| opened.record(pool, vk::CommandBufferLevel::SECONDARY, |_| ()));
    let region = [vk::BufferCopy { size: 64, ..Default::default() }];
    for (pool, others) in [(0, 1), (1, 0)] {
        let commands = opened.record(pool, primary, |commands| {
            // SAFETY: usage is valid except for the protection, which the driver checks.
            unsafe {
                device.cmd_fill_buffer(commands, [protected, plain][pool], 0, 64, 1);
                device.cmd_copy_buffer(commands, protected, plain, &region);
                device.cmd_execute_commands(commands, &[secondary[others]]);
                assert_eq!(heard(&opened.driver), 3);
                device.cmd_execute_commands(commands, &[secondary[pool]]);
                device.cmd_dispatch_indirect(commands, plain, 0);
                device.cmd_begin_query(commands, queries, 0, vk::QueryControlFlags::empty());
                device.cmd_end_query(commands, queries, 0);
                assert_eq!(heard(&opened.driver), 3 * pool);
            }
        });
        // The indirect dispatch has no pipeline.
        assert_eq!(opened.submit(commands, pool, pool == 1), Ok(()));
    }
    opened.close();
}

#[test]
fn swapchains_are_not_protected() {
    let opened = open();
    let headless = ash::ext::headless_surface::Instance::new(&opened.driver.entry, &opened.driver.instance);
    let swapchains = ash::khr::swapchain::Device::new(&opened.driver.instance, &opened.device);
    // SAFETY: usage is valid except for the protection, which the driver checks.
    let (surface, made) = unsafe {
        let surface = headless.create_headless_surface(&Default::default(), None).unwrap();
        let info = common::swapchain_info(surface).flags(vk::SwapchainCreateFlagsKHR::PROTECTED);
        (surface, swapchains.create_swapchain(&info, None))
    };
    assert_eq!(made, Err(vk::Result::ERROR_INITIALIZATION_FAILED));
    assert_eq!(heard(&opened.driver), 1);
    let surfaces = ash::khr::surface::Instance::new(&opened.driver.entry, &opened.driver.instance);
    // SAFETY: the surface has no swapchain.
    unsafe { surfaces.destroy_surface(surface, None) };
    opened.close();
}
