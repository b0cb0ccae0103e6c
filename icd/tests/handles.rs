//! Dispatchable handles after their objects are destroyed: each use sends a message and has a
//! defined result, and none accesses freed memory. The tests also destroy objects in wrong ways:
//! twice, from another pool, while pending, and devices before their children.

mod common;

use ash::vk::{self, Handle};
use common::Driver;

/// Returns and removes all messages.
fn heard(driver: &Driver) -> Vec<String> {
    std::mem::take(&mut *driver.messages.lock().unwrap())
}

fn assert_told(driver: &Driver, count: usize, part: &str) {
    let heard = heard(driver);
    let fits = heard.len() == count && heard.iter().all(|message| message.contains(part));
    assert!(fits, "{count} messages of {part:?}: {heard:?}");
}

fn pool(device: &ash::Device) -> vk::CommandPool {
    // SAFETY: here and below, infos are valid and handles live; the driver checks the handles
    // under test.
    unsafe { device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap() }
}

fn allocate(device: &ash::Device, pool: vk::CommandPool, count: u32) -> Vec<vk::CommandBuffer> {
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(count);
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe { device.allocate_command_buffers(&info).unwrap() }
}

/// Uses a command buffer in all ways, and returns the results of the calls that have one.
fn use_commands(driver: &Driver, device: &ash::Device, stale: vk::CommandBuffer) -> [Result<(), vk::Result>; 4] {
    let buffers = [stale];
    // SAFETY: the handle is stale, which the driver detects.
    unsafe {
        device.cmd_draw(stale, 3, 1, 0, 0);
        device.cmd_push_constants(stale, vk::PipelineLayout::null(), vk::ShaderStageFlags::ALL, 0, &[0; 4]);
        [
            device.begin_command_buffer(stale, &vk::CommandBufferBeginInfo::default()),
            device.end_command_buffer(stale),
            device.reset_command_buffer(stale, vk::CommandBufferResetFlags::RELEASE_RESOURCES),
            device.queue_submit(
                driver.queue,
                &[vk::SubmitInfo::default().command_buffers(&buffers)],
                vk::Fence::null(),
            ),
        ]
    }
}

/// Function that frees or destroys a pool's command buffers.
type End<'d> = &'d dyn Fn(vk::CommandPool, &[vk::CommandBuffer]);

#[test]
fn freed_command_buffers_are_told_of_and_do_nothing() {
    let driver = Driver::open();
    let device = &driver.device;
    let ends: [End<'_>; 2] = [
        // SAFETY: infos are valid and handles live; the driver checks the handles under test.
        &|pool, buffers| unsafe { device.free_command_buffers(pool, buffers) },
        // SAFETY: infos are valid and handles live; the driver checks the handles under test.
        &|pool, _| unsafe { device.destroy_command_pool(pool, None) },
    ];
    for end in ends {
        let pool = pool(device);
        let buffers = allocate(device, pool, 3);
        // SAFETY: infos are valid. The driver checks the buffers, which are freed while one is
        // recording and one is executable.
        unsafe {
            device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            device.begin_command_buffer(buffers[1], &vk::CommandBufferBeginInfo::default()).unwrap();
            device.end_command_buffer(buffers[1]).unwrap();
        }
        end(pool, &buffers);
        assert_eq!(heard(&driver).len(), 0);
        for &stale in &buffers {
            let results = use_commands(&driver, device, stale);
            assert!(results.iter().all(|result| *result == Err(vk::Result::ERROR_UNKNOWN)), "{results:?}");
            assert_told(&driver, 6, "is stale");
        }
        // A live command buffer does not execute a stale one.
        driver
            .run(|device, commands| {
                // SAFETY: infos are valid and handles live; the driver checks the handles under
                // test.
                unsafe { device.cmd_execute_commands(commands, &buffers[1..2]) };
            })
            .unwrap();
        assert_told(&driver, 1, "is stale");
    }
    driver.close();
}

/// Submits and executes command buffers that are not recorded, that still record, and that were
/// already submitted once.
#[test]
fn command_buffers_that_are_not_executable_are_refused() {
    let driver = Driver::open();
    let device = &driver.device;
    let pool = pool(device);
    let buffers = allocate(device, pool, 3);
    let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    let submit = |buffer: &vk::CommandBuffer| {
        let submits = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(buffer))];
        // SAFETY: the info is valid; the driver checks the command buffer.
        unsafe { device.queue_submit(driver.queue, &submits, vk::Fence::null()) }
    };
    // SAFETY: infos are valid.
    unsafe {
        device.begin_command_buffer(buffers[1], &once).unwrap();
        device.begin_command_buffer(buffers[2], &once).unwrap();
        device.end_command_buffer(buffers[2]).unwrap();
    }
    assert_eq!(submit(&buffers[2]), Ok(()));
    assert_eq!(heard(&driver).len(), 0);
    for buffer in &buffers {
        assert_eq!(submit(buffer), Err(vk::Result::ERROR_UNKNOWN));
        assert_told(&driver, 1, "is not executable");
    }
    // SAFETY: infos are valid; the driver checks the command buffers.
    let recorded = driver.run(|device, commands| unsafe { device.cmd_execute_commands(commands, &buffers[1..2]) });
    recorded.unwrap();
    assert_told(&driver, 1, "is not executable");
    // SAFETY: the queue is idle.
    unsafe { device.destroy_command_pool(pool, None) };
    driver.close();
}

#[test]
fn command_buffers_are_freed_once_and_from_their_own_pool() {
    let driver = Driver::open();
    let device = &driver.device;
    let [first, second] = [pool(device), pool(device)];
    let buffers = allocate(device, first, 3);
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe {
        device.free_command_buffers(second, &buffers);
        assert_told(&driver, 3, "is not of the pool");
        device.free_command_buffers(first, &[buffers[0], vk::CommandBuffer::null(), buffers[0]]);
        assert_told(&driver, 1, "is stale");
        device.free_command_buffers(first, &buffers[..1]);
        assert_told(&driver, 1, "is stale");
        // The other command buffers still work.
        device.begin_command_buffer(buffers[2], &vk::CommandBufferBeginInfo::default()).unwrap();
        device.end_command_buffer(buffers[2]).unwrap();
        device.destroy_command_pool(first, None);
        device.destroy_command_pool(first, None);
        assert_told(&driver, 1, "is stale");
        device.destroy_command_pool(second, None);
    }
    assert_eq!(heard(&driver).len(), 0);
    driver.close();
}

#[test]
fn handles_of_other_types_are_told_apart() {
    let driver = Driver::open();
    let device = &driver.device;
    let buffer = allocate(device, pool(device), 1)[0];
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe {
        let queue = vk::Queue::from_raw(buffer.as_raw());
        assert_eq!(device.queue_wait_idle(queue), Err(vk::Result::ERROR_DEVICE_LOST));
        assert_told(&driver, 1, "is a handle of type COMMAND_BUFFER");
        let commands = vk::CommandBuffer::from_raw(driver.queue.as_raw());
        assert_eq!(device.end_command_buffer(commands), Err(vk::Result::ERROR_UNKNOWN));
        assert_told(&driver, 1, "is a handle of type QUEUE");
    }
    driver.close();
}

/// Creates another device of the instance.
fn another_device(driver: &Driver) -> ash::Device {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: the info is valid.
    unsafe { driver.instance.create_device(driver.physical, &info, None).unwrap() }
}

#[test]
fn a_destroyed_device_and_all_that_was_of_it_are_lost() {
    let driver = Driver::open();
    let device = another_device(&driver);
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe {
        let queue = device.get_device_queue(0, 0);
        let pool = pool(&device);
        let buffers = allocate(&device, pool, 2);
        device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default()).unwrap();
        let info = vk::FenceCreateInfo::default();
        let fence = device.create_fence(&info, None).unwrap();
        device.free_command_buffers(pool, &buffers[1..]);
        device.destroy_device(None);
        assert_eq!(heard(&driver).len(), 0);
        let lost = Err(vk::Result::ERROR_DEVICE_LOST);
        assert_eq!(device.queue_wait_idle(queue), lost);
        assert_eq!(device.queue_submit(queue, &[], vk::Fence::null()), lost);
        assert_eq!(device.device_wait_idle(), lost);
        assert_eq!(device.create_fence(&info, None).map(drop), lost);
        assert_eq!(device.wait_for_fences(&[fence], true, u64::MAX), lost);
        let allocate = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        assert_eq!(device.allocate_command_buffers(&allocate).map(drop), lost);
        device.destroy_fence(fence, None);
        device.destroy_command_pool(pool, None);
        assert!(device.get_device_queue(0, 0).is_null());
        device.destroy_device(None);
        assert_told(&driver, 10, "is stale");
        for stale in buffers {
            assert!(use_commands(&driver, &device, stale).iter().all(|result| result.is_err()));
            assert_told(&driver, 6, "is stale");
        }
    }
    // The driver's first device still works.
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

/// The loader's trampolines find functions behind dead handles: the first word of a handle is the
/// address of a table that begins with a magic number.
#[test]
fn trampolines_of_the_loader_find_functions_behind_dead_handles() {
    type Function = extern "system" fn(u64, u64, u64, u64) -> vk::Result;
    let driver = Driver::open();
    let device = another_device(&driver);
    // SAFETY: infos are valid and handles live; the driver checks the handles under test. The
    // loader may read the words behind handles, also after the objects are destroyed.
    unsafe {
        let queue = device.get_device_queue(0, 0);
        let pool = pool(&device);
        let buffers = allocate(&device, pool, 2);
        device.free_command_buffers(pool, &buffers[..1]);
        let word = |handle: u64| (handle as *const *const u64).read();
        device.destroy_device(None);
        for handle in [device.handle().as_raw(), queue.as_raw(), buffers[0].as_raw(), buffers[1].as_raw()] {
            let table = word(handle);
            assert_eq!(table.read(), 0x10AD_ED04_0410_ADED);
            for place in [2, 4, 100, 1000, 2047] {
                let function: Function = std::mem::transmute(table.add(place).read());
                assert_eq!(function(handle, 0, 0, 0), vk::Result::ERROR_DEVICE_LOST);
            }
            assert_told(&driver, 5, "is stale");
        }
    }
    driver.close();
}

#[test]
fn a_destroyed_instance_is_told_apart_and_others_do_not_hear_of_it() {
    let (driver, other) = (Driver::open(), Driver::open());
    let (entry, instance, physical, device) =
        (driver.entry.clone(), driver.instance.clone(), driver.physical, driver.device.clone());
    driver.close();
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe {
        assert!(instance.enumerate_physical_devices().is_err());
        assert!(instance.create_device(physical, &vk::DeviceCreateInfo::default(), None).is_err());
        assert!(device.device_wait_idle().is_err());
        assert!(entry.get_instance_proc_addr(instance.handle(), c"vkDestroyInstance".as_ptr()).is_none());
        instance.destroy_instance(None);
    }
    assert_eq!(heard(&other).len(), 0);
    other.run(|_, _| ()).unwrap();
    other.close();
}

#[test]
fn a_destroyed_surface_is_lost() {
    let driver = Driver::open_with(&[ash::khr::swapchain::NAME]);
    let headless = ash::ext::headless_surface::Instance::new(&driver.entry, &driver.instance);
    let surfaces = ash::khr::surface::Instance::new(&driver.entry, &driver.instance);
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe {
        let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None).unwrap();
        surfaces.destroy_surface(surface, None);
        let found = surfaces.get_physical_device_surface_capabilities(driver.physical, surface);
        assert_eq!(found.map(drop), Err(vk::Result::ERROR_SURFACE_LOST_KHR));
        surfaces.destroy_surface(surface, None);
    }
    assert_told(&driver, 2, "is stale");
    driver.close();
}

/// A pending submission completes if its pool is reset or destroyed, or if its buffers are freed.
#[test]
fn what_is_pending_outlives_its_command_buffer() {
    let driver = Driver::open_for(vk::API_VERSION_1_2, &[]);
    let device = &driver.device;
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    // SAFETY: infos are valid and handles live; the driver checks the handles under test.
    unsafe {
        let semaphore =
            device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None).unwrap();
        let (target, memory) = driver.buffer(64).unwrap();
        for (number, value) in (1..=3).zip([7u32, 8, 9]) {
            let pool = pool(device);
            let buffers = allocate(device, pool, 1);
            device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            device.cmd_fill_buffer(buffers[0], target, 0, 64, value);
            device.end_command_buffer(buffers[0]).unwrap();
            let (waits, values) = ([semaphore], [number]);
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
            let submit = vk::SubmitInfo::default()
                .wait_semaphores(&waits)
                .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
                .command_buffers(&buffers)
                .push_next(&mut timeline);
            device.queue_submit(driver.queue, &[submit], vk::Fence::null()).unwrap();
            match number {
                1 => device.reset_command_pool(pool, vk::CommandPoolResetFlags::RELEASE_RESOURCES).unwrap(),
                2 => device.free_command_buffers(pool, &buffers),
                _ => device.destroy_command_pool(pool, None),
            }
            device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(number)).unwrap();
            device.queue_wait_idle(driver.queue).unwrap();
            let mapped = device.map_memory(memory, 0, 64, vk::MemoryMapFlags::empty()).unwrap().cast::<u32>();
            assert_eq!(mapped.read(), value);
            device.unmap_memory(memory);
        }
    }
    driver.close();
}
