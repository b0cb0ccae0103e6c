//! Waits of the host for a device that is lost during the wait return. The file has one test, so
//! that the knob is set before the driver reads it.

mod common;

use std::ffi::CStr;
use std::time::{Duration, Instant};

use ash::vk;
use common::{Driver, compute, swapchain_info};
use vitric_vulkan::names::KHR_DEVICE_FAULT_NAME;
use vitric_vulkan::{
    DEVICE_FAULT_FLAG_DEVICE_LOST_KHR, DEVICE_FAULT_FLAG_WATCHDOG_TIMEOUT_KHR, DeviceFaultInfoKHR, Vocabulary, commands,
};

const ENDLESS: &[u8] = include_bytes!("shaders/endless.comp.spv");

/// Loses the device with an endless shader.
fn lose(driver: &Driver) -> Result<(), vk::Result> {
    // SAFETY: called with a pipeline bound.
    compute(driver, ENDLESS, driver.buffer(256)?.0, |device, commands| unsafe {
        device.cmd_dispatch(commands, 1, 1, 1);
    })
}

/// Result of a wait for a report of a fault.
struct Report {
    code: vk::Result,
    flags: u32,
    text: String,
}

/// Waits for a report of a fault.
fn next_report(driver: &Driver, timeout: u64) -> Report {
    let mut info = [DeviceFaultInfoKHR::default(); 2];
    // SAFETY: the function has the type that belongs to its name, and all pointers are valid.
    unsafe {
        let get = driver.instance.fp_v1_0().get_device_proc_addr;
        let function = get(driver.device.handle(), c"vkGetDeviceFaultReportsKHR".as_ptr()).unwrap();
        type Reports = <commands::PFN_vkGetDeviceFaultReportsKHR as Vocabulary>::Own;
        let reports: Reports = std::mem::transmute::<unsafe extern "system" fn(), _>(function);
        let mut count = 0;
        if timeout > 0 {
            assert_eq!(
                reports(driver.device.handle(), timeout, &raw mut count, std::ptr::null_mut()),
                vk::Result::SUCCESS
            );
            assert_eq!(count, 1);
            count = 0;
            let code = reports(driver.device.handle(), timeout, &raw mut count, info.as_mut_ptr());
            assert_eq!((code, count), (vk::Result::INCOMPLETE, 0));
        }
        count = 2;
        let code = reports(driver.device.handle(), timeout, &raw mut count, info.as_mut_ptr());
        assert_eq!(count, u32::from(code == vk::Result::SUCCESS));
        let text = CStr::from_ptr(info[0].description.as_ptr()).to_string_lossy().into_owned();
        Report { code, flags: info[0].flags, text }
    }
}

#[test]
fn nobody_waits_for_a_lost_device() {
    // SAFETY: this is the process's only test, and no other thread runs yet.
    unsafe { std::env::set_var("VITRIC_TIMEOUT_MS", "300") };
    let names = [ash::khr::swapchain::NAME, vk::KHR_TIMELINE_SEMAPHORE_NAME, KHR_DEVICE_FAULT_NAME];
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
            let report = scope.spawn(|| next_report(&driver, u64::MAX));
            let waiters = waits.map(|wait| scope.spawn(wait));
            assert_eq!(lose(&driver), Err(vk::Result::ERROR_DEVICE_LOST));
            for (number, waiter) in waiters.into_iter().enumerate() {
                assert_eq!(waiter.join().unwrap(), Err(vk::Result::ERROR_DEVICE_LOST), "wait {number}");
            }
            let Report { code, flags: found, text } = report.join().unwrap();
            let flags = DEVICE_FAULT_FLAG_DEVICE_LOST_KHR | DEVICE_FAULT_FLAG_WATCHDOG_TIMEOUT_KHR;
            assert_eq!((code, found), (vk::Result::SUCCESS, flags));
            assert!(text.contains("timed out"), "{text}");
        });
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
        assert_eq!(next_report(&driver, 0).code, vk::Result::TIMEOUT);
        let info = swapchain_info(surface).old_swapchain(chain);
        assert_eq!(swapchains.create_swapchain(&info, None).unwrap_err(), vk::Result::ERROR_DEVICE_LOST);
        swapchains.destroy_swapchain(chain, None);
        driver.close_after(surface);
    }
}
