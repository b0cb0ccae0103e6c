//! Waits for objects that are never signaled end when the device is destroyed, or with a defined
//! result.
//!
//! The time bounds are generous, because the tests detect hangs.

mod common;

use std::time::{Duration, Instant};

use ash::vk;
use common::{Driver, swapchain_info};

/// Time bound: far below a hang, but enough for a busy machine.
const LONG: Duration = Duration::from_secs(8);

/// Opens a device with two queues of the first family.
fn two_queues(driver: &Driver) -> ash::Device {
    let priorities = [1.0; 2];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let mut timelines = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut timelines);
    // SAFETY: infos are valid and handles alive, here and below.
    unsafe { driver.instance.create_device(driver.physical, &info, None).unwrap() }
}

fn timeline(device: &ash::Device) -> vk::Semaphore {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    // SAFETY: infos are valid, and handles alive.
    unsafe { device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None).unwrap() }
}

/// Submits only a wait for a value and a signal.
fn submit(device: &ash::Device, queue: vk::Queue, wait: (vk::Semaphore, u64), signal: Option<(vk::Semaphore, u64)>) {
    let (waits, signals): (_, Vec<_>) = ([wait.0], signal.iter().map(|signal| signal.0).collect());
    let (waited, signaled): (_, Vec<_>) = ([wait.1], signal.iter().map(|signal| signal.1).collect());
    let mut timeline =
        vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&waited).signal_semaphore_values(&signaled);
    let submit = vk::SubmitInfo::default()
        .wait_semaphores(&waits)
        .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
        .signal_semaphores(&signals)
        .push_next(&mut timeline);
    // SAFETY: infos are valid, and handles alive.
    unsafe { device.queue_submit(queue, &[submit], vk::Fence::null()).unwrap() }
}

#[test]
fn a_device_is_destroyed_while_queues_wait_for_what_nobody_signals() {
    let driver = Driver::open_for(vk::API_VERSION_1_2, &[]);
    let device = two_queues(&driver);
    // SAFETY: infos are valid and handles alive. The driver handles the pending work, which is the
    // case under test.
    unsafe {
        let [first, second] = [0, 1].map(|number| device.get_device_queue(0, number));
        let [one, other] = [timeline(&device), timeline(&device)];
        // Each queue waits for the other one, and the second one also for a binary semaphore that
        // nothing signals.
        submit(&device, first, (one, 1), Some((other, 1)));
        submit(&device, second, (other, 1), Some((one, 1)));
        let binary = device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None).unwrap();
        submit(&device, second, (binary, 0), None);
        let begin = Instant::now();
        device.destroy_device(None);
        assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    }
    let heard = std::mem::take(&mut *driver.messages.lock().unwrap());
    assert!(heard.iter().any(|message| message.contains("a semaphore that nothing signals")), "{heard:?}");
    driver.close();
}

#[test]
fn what_can_still_complete_does_before_the_device_goes() {
    let driver = Driver::open_for(vk::API_VERSION_1_2, &[]);
    let device = two_queues(&driver);
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        let [first, second] = [0, 1].map(|number| device.get_device_queue(0, number));
        let line = timeline(&device);
        // Each submission waits for the previous one, which is on the other queue.
        for number in 0..200 {
            submit(&device, if number % 2 == 0 { first } else { second }, (line, number), Some((line, number + 1)));
        }
        device.destroy_device(None);
    }
    assert_eq!(driver.messages.lock().unwrap().len(), 0);
    driver.close();
}

#[test]
fn a_device_is_destroyed_while_a_command_waits_for_an_event() {
    let driver = Driver::open();
    let device = two_queues(&driver);
    // SAFETY: infos are valid, and handles alive.
    unsafe {
        let event = device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).unwrap();
        device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
        let (host, all) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::ALL_COMMANDS);
        device.cmd_wait_events(commands[0], &[event], host, all, &[], &[], &[]);
        device.end_command_buffer(commands[0]).unwrap();
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        device.queue_submit(device.get_device_queue(0, 0), &[submit], vk::Fence::null()).unwrap();
        let begin = Instant::now();
        device.destroy_device(None);
        assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    }
    driver.close();
}

#[test]
fn results_of_queries_that_never_end_are_none() {
    let driver = Driver::open();
    let device = &driver.device;
    // SAFETY: infos are valid and handles alive. The driver ends the waits for results that never
    // arrive.
    unsafe {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
        let pool = device.create_query_pool(&info, None).unwrap();
        let (target, memory) = driver.buffer(64).unwrap();
        let begin = Instant::now();
        let flags = vk::QueryResultFlags::WAIT | vk::QueryResultFlags::WITH_AVAILABILITY;
        driver
            .run(|device, commands| {
                device.cmd_fill_buffer(commands, target, 0, 64, 7);
                device.cmd_reset_query_pool(commands, pool, 0, 2);
                device.cmd_begin_query(commands, pool, 1, vk::QueryControlFlags::empty());
                device.cmd_copy_query_pool_results(commands, pool, 0, 2, target, 0, 8, flags);
            })
            .unwrap();
        let mapped = device.map_memory(memory, 0, 64, vk::MemoryMapFlags::empty()).unwrap().cast::<u32>();
        assert_eq!([0, 1, 2, 3].map(|word| mapped.add(word).read()), [7, 0, 7, 0], "values stay, none is available");
        // The host's waits also end.
        let result = device.get_query_pool_results(pool, 0, &mut [[0u32; 2]; 2], flags);
        assert_eq!(result, Err(vk::Result::NOT_READY));
        assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
        assert!(driver.messages.lock().unwrap().iter().any(|message| message.contains("no submitted command ends")));
    }
    driver.run(|_, _| ()).unwrap();
    driver.close();
}

#[test]
fn waits_of_other_threads_end_with_the_device() {
    let driver = Driver::open_for(vk::API_VERSION_1_2, &[]);
    let device = two_queues(&driver);
    // SAFETY: the driver supports the destruction of a device during waits. The waits begin long
    // before.
    unsafe {
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let semaphores = [timeline(&device)];
        let waits: [&(dyn Fn() -> Result<(), vk::Result> + Sync); 2] =
            [&|| device.wait_for_fences(&[fence], true, u64::MAX), &|| {
                let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
                device.wait_semaphores(&info, u64::MAX)
            }];
        std::thread::scope(|scope| {
            let waiters = waits.map(|wait| scope.spawn(wait));
            std::thread::sleep(Duration::from_millis(500));
            device.destroy_device(None);
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Err(vk::Result::ERROR_DEVICE_LOST));
            }
        });
    }
    driver.close();
}

#[test]
fn waits_for_an_image_end_with_the_swapchain() {
    let driver = Driver::open_with(&[ash::khr::swapchain::NAME]);
    let surfaces = ash::ext::headless_surface::Instance::new(&driver.entry, &driver.instance);
    let swapchains = ash::khr::swapchain::Device::new(&driver.instance, &driver.device);
    // SAFETY: infos are valid. The driver supports the destruction of a swapchain during a wait.
    unsafe {
        let surface = surfaces.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None).unwrap();
        let chain = swapchains.create_swapchain(&swapchain_info(surface), None).unwrap();
        let fence = driver.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let acquire = |timeout| swapchains.acquire_next_image(chain, timeout, vk::Semaphore::null(), fence).map(drop);
        assert_eq!((acquire(0), acquire(0)), (Ok(()), Ok(())));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| acquire(u64::MAX));
            std::thread::sleep(Duration::from_millis(500));
            swapchains.destroy_swapchain(chain, None);
            assert_eq!(waiter.join().unwrap(), Err(vk::Result::ERROR_SURFACE_LOST_KHR));
        });
        driver.close_after(surface);
    }
}
