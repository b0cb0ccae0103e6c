//! Waits of the host for a device that is lost during the wait return. The file has one test, so
//! that the knob is set before the driver reads it.

mod common;

use std::time::{Duration, Instant};

use ash::vk;
use common::{Driver, compute, swapchain_info};

const ENDLESS: &[u8] = include_bytes!("shaders/endless.comp.spv");

/// Loses the device with an endless shader.
fn lose(driver: &Driver) -> Result<(), vk::Result> {
    // SAFETY: called with a pipeline bound.
    compute(driver, ENDLESS, driver.buffer(256)?.0, |device, commands| unsafe {
        device.cmd_dispatch(commands, 1, 1, 1);
    })
}

#[test]
fn nobody_waits_for_a_lost_device() {
    // SAFETY: this is the process's only test, and no other thread runs yet.
    unsafe { std::env::set_var("VITRIC_TIMEOUT_MS", "300") };
    let names = [ash::khr::swapchain::NAME, vk::KHR_TIMELINE_SEMAPHORE_NAME];
    let driver = Driver::open_for(vk::API_VERSION_1_2, &names);
    let device = &driver.device;
    let surfaces = ash::ext::headless_surface::Instance::new(&driver.entry, &driver.instance);
    let swapchains = ash::khr::swapchain::Device::new(&driver.instance, device);
    // SAFETY: infos are valid and handles alive. The waits end because the device is lost,
    // although nothing signals their objects.
    unsafe {
        let surface = surfaces.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None).unwrap();
        let chain = swapchains.create_swapchain(&swapchain_info(surface), None).unwrap();
        let [first, second] = [0, 1].map(|_| device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap());
        for _ in 0..2 {
            swapchains.acquire_next_image(chain, 0, vk::Semaphore::null(), first).unwrap();
            device.reset_fences(&[first]).unwrap();
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let semaphores = [device.create_semaphore(&info, None).unwrap()];
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let pool = device.create_query_pool(&info, None).unwrap();
        let begin = Instant::now();
        let waits: [&(dyn Fn() -> Result<(), vk::Result> + Sync); 5] = [
            &|| device.wait_for_fences(&[first, second], true, u64::MAX),
            &|| device.wait_for_fences(&[first, second], false, u64::MAX),
            &|| {
                let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
                device.wait_semaphores(&info, u64::MAX)
            },
            &|| device.get_query_pool_results(pool, 0, &mut [0u64], vk::QueryResultFlags::WAIT),
            &|| swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), second).map(drop),
        ];
        std::thread::scope(|scope| {
            let waiters = waits.map(|wait| scope.spawn(wait));
            assert_eq!(lose(&driver), Err(vk::Result::ERROR_DEVICE_LOST));
            for (number, waiter) in waiters.into_iter().enumerate() {
                assert_eq!(waiter.join().unwrap(), Err(vk::Result::ERROR_DEVICE_LOST), "wait {number}");
            }
        });
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
        let info = swapchain_info(surface).old_swapchain(chain);
        assert_eq!(swapchains.create_swapchain(&info, None).unwrap_err(), vk::Result::ERROR_DEVICE_LOST);
        swapchains.destroy_swapchain(chain, None);
        driver.close_after(surface);
    }
}
