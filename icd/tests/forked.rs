//! Children of a process that uses Vulkan: its devices are lost in a child at once, calls return,
//! and new devices work.
//!
//! Each child may run for one minute, after which the system ends it.

mod common;

use ash::vk;
use common::{Driver, swapchain_info};

/// Runs `work` in a child process. Fails if it panics or does not end.
fn in_child(work: impl FnOnce()) {
    // SAFETY: no other thread of this process holds a lock that the child needs. The child ends
    // without returning.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            libc::alarm(60);
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            libc::_exit(if done.is_ok() { 0 } else { 1 });
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
    }
}

/// This is the only test of the process, so no other thread forks or allocates.
#[test]
fn devices_are_lost_in_a_child_at_once_and_new_ones_work() {
    let names = [ash::khr::swapchain::NAME];
    let driver = Driver::open_for(vk::API_VERSION_1_2, &names);
    let device = &driver.device;
    let headless = ash::ext::headless_surface::Instance::new(&driver.entry, &driver.instance);
    let swapchains = ash::khr::swapchain::Device::new(&driver.instance, device);
    driver.run(|_, _| ()).unwrap();
    // SAFETY: infos are valid and handles alive.
    unsafe {
        let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None).unwrap();
        let chain = swapchains.create_swapchain(&swapchain_info(surface), None).unwrap();
        let fences = [0, 1].map(|_| device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap());
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let queries = device.create_query_pool(&info, None).unwrap();
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let semaphores =
            [device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None).unwrap()];
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).unwrap();
        // The pending submission belongs to a thread that does not exist in the child.
        let values = [1];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
            .push_next(&mut timeline);
        device.queue_submit(driver.queue, &[submit], fences[1]).unwrap();
        in_child(|| {
            let lost = vk::Result::ERROR_DEVICE_LOST;
            let calls: [&dyn Fn() -> Result<(), vk::Result>; 11] = [
                &|| device.queue_submit(driver.queue, &[vk::SubmitInfo::default()], vk::Fence::null()),
                &|| device.queue_wait_idle(driver.queue),
                &|| device.device_wait_idle(),
                &|| device.wait_for_fences(&fences, true, u64::MAX),
                &|| device.wait_for_fences(&fences, false, u64::MAX),
                &|| device.get_query_pool_results(queries, 0, &mut [0u64], vk::QueryResultFlags::WAIT),
                &|| {
                    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
                    device.wait_semaphores(&info, u64::MAX)
                },
                &|| swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fences[0]).map(drop),
                &|| device.create_fence(&vk::FenceCreateInfo::default(), None).map(drop),
                &|| device.get_fence_status(fences[0]).map(drop),
                &|| driver.run(|_, _| ()),
            ];
            for (number, call) in calls.iter().enumerate() {
                assert_eq!(call(), Err(lost), "call {number}");
            }
            // Recording and destruction have defined results.
            let _ = device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default());
            device.cmd_draw(commands[0], 3, 1, 0, 0);
            swapchains.destroy_swapchain(chain, None);
            device.destroy_fence(fences[0], None);
            device.destroy_command_pool(pool, None);
            device.destroy_device(None);
            assert_eq!(device.device_wait_idle(), Err(lost));
            // New devices work, of the inherited instance and of a new one.
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let same = driver.instance.create_device(driver.physical, &info, None).unwrap();
            same.queue_submit(same.get_device_queue(0, 0), &[vk::SubmitInfo::default()], vk::Fence::null()).unwrap();
            same.device_wait_idle().unwrap();
            same.destroy_device(None);
            driver.instance.destroy_instance(None);
            let fresh = Driver::open();
            fresh.run(|_, _| ()).unwrap();
            // In a child of the child, the new device is also lost.
            in_child(|| assert_eq!(fresh.device.device_wait_idle(), Err(lost)));
            fresh.close();
        });
        // The parent's device still works.
        device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphores[0]).value(1)).unwrap();
        device.wait_for_fences(&fences[1..], true, u64::MAX).unwrap();
        driver.run(|_, _| ()).unwrap();
        swapchains.destroy_swapchain(chain, None);
        driver.close_after(surface);
    }
}
