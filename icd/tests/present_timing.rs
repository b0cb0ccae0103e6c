//! Invalid input to the timing of presentations, and the end of a swapchain or device while a frame
//! waits for its target time.

mod common;

use std::time::{Duration, Instant};

use ash::vk::{self, Handle};
use common::{Driver, swapchain_info};
use sys::{Handle as _, PresentStageFlagsEXT as Stages};
use vitric_vulkan::names::EXT_PRESENT_TIMING_NAME;
use vitric_vulkan::{Newer, SwapchainTimeDomainPropertiesEXT, Vocabulary, commands, sys};

/// Longest wait for an image, in nanoseconds.
const TIMEOUT: u64 = 10_000_000_000;

/// Numbers of the time domains, which are also their identifiers.
const STAGE_LOCAL: u64 = 1_000_208_000;
const SWAPCHAIN_LOCAL: u64 = 1_000_208_001;

/// Returns a command of the device by its raw type.
macro_rules! command {
    ($driver:expr, $name:ident, $raw:ident) => {{
        type Own = <commands::$raw as Vocabulary>::Own;
        let name = std::ffi::CString::new(stringify!($name)).unwrap();
        // SAFETY: the function has this type.
        unsafe {
            let get = $driver.instance.fp_v1_0().get_device_proc_addr;
            std::mem::transmute::<unsafe extern "system" fn(), Own>(
                get($driver.device.handle(), name.as_ptr()).unwrap(),
            )
        }
    }};
}

struct Application {
    driver: Driver,
    surface: vk::SurfaceKHR,
    swapchains: ash::khr::swapchain::Device,
    chain: vk::SwapchainKHR,
    fence: vk::Fence,
}

impl Application {
    /// Starts with a swapchain, with or without timing.
    fn start(has_timing: bool) -> Self {
        let names = [ash::khr::swapchain::NAME, vk::KHR_CALIBRATED_TIMESTAMPS_NAME, EXT_PRESENT_TIMING_NAME];
        let driver = Driver::open_with(&names);
        let headless = ash::ext::headless_surface::Instance::new(&driver.entry, &driver.instance);
        let swapchains = ash::khr::swapchain::Device::new(&driver.instance, &driver.device);
        let flags = sys::SwapchainCreateFlagsKHR::PRESENT_TIMING_EXT.bits();
        let flags = vk::SwapchainCreateFlagsKHR::from_raw(if has_timing { flags } else { 0 });
        // SAFETY: the infos are valid.
        unsafe {
            let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None).unwrap();
            let chain = swapchains.create_swapchain(&swapchain_info(surface).flags(flags), None).unwrap();
            let fence = driver.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            driver.messages.lock().unwrap().clear();
            Self { driver, surface, swapchains, chain, fence }
        }
    }

    /// Acquires an image and presents it.
    fn present(&self, timing: sys::PresentTimingInfoEXT) -> Result<bool, vk::Result> {
        self.present_image(self.acquire()?, timing)
    }

    fn acquire(&self) -> Result<u32, vk::Result> {
        // SAFETY: the handles are alive, and the fence is waited for.
        unsafe {
            let (image, _) =
                self.swapchains.acquire_next_image(self.chain, TIMEOUT, vk::Semaphore::null(), self.fence)?;
            self.driver.device.wait_for_fences(&[self.fence], true, u64::MAX)?;
            self.driver.device.reset_fences(&[self.fence])?;
            Ok(image)
        }
    }

    fn present_image(&self, image: u32, timing: sys::PresentTimingInfoEXT) -> Result<bool, vk::Result> {
        let timings = [timing];
        let timings =
            sys::PresentTimingsInfoEXT { swapchain_count: 1, timing_infos: timings.as_ptr(), ..Default::default() };
        let (chains, images) = ([self.chain], [image]);
        let mut info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
        info.p_next = (&raw const timings).cast();
        // SAFETY: the handles are alive.
        unsafe { self.swapchains.queue_present(self.driver.queue, &info) }
    }

    /// Waits until all frames are shown, and acquires all images. Returns the images.
    fn acquire_all(&self) -> Vec<u32> {
        // SAFETY: the swapchain is alive.
        let count = unsafe { self.swapchains.get_swapchain_images(self.chain) }.unwrap().len();
        (0..count).map(|_| self.acquire().unwrap()).collect()
    }

    /// Reads the timing of one frame, if there is one, with the times of its stages. Returns the
    /// number of timings.
    fn read_stages(&self, times: &mut [sys::PresentStageTimeEXT; 4]) -> usize {
        let past = command!(self.driver, vkGetPastPresentationTimingEXT, PFN_vkGetPastPresentationTimingEXT);
        let mut timing = sys::PastPresentationTimingEXT {
            present_stage_count: 4,
            present_stages: times.as_mut_ptr(),
            ..Default::default()
        };
        let mut all = Newer(sys::PastPresentationTimingPropertiesEXT {
            presentation_timing_count: 1,
            presentation_timings: &raw mut timing,
            ..Default::default()
        });
        let swapchain = sys::SwapchainKHR::from_raw(self.chain.as_raw());
        let info = Newer(sys::PastPresentationTimingInfoEXT { swapchain, ..Default::default() });
        // SAFETY: the structures are valid.
        unsafe { past(self.driver.device.handle(), &raw const info, &raw mut all) }.result().unwrap();
        all.presentation_timing_count as usize
    }

    fn resize(&self, slots: u32) -> vk::Result {
        let resize =
            command!(self.driver, vkSetSwapchainPresentTimingQueueSizeEXT, PFN_vkSetSwapchainPresentTimingQueueSizeEXT);
        // SAFETY: the driver checks the handle.
        unsafe { resize(self.driver.device.handle(), self.chain, slots) }
    }

    /// Checks that a call failed with a message that contains `expected`.
    fn assert_refused<T: std::fmt::Debug>(&self, result: Result<T, vk::Result>, expected: &str) {
        let message = self.driver.last_message();
        assert!(matches!(result, Err(vk::Result::ERROR_UNKNOWN)), "{result:?}: {message}");
        assert!(message.contains(expected), "{message} has no {expected}");
        self.driver.messages.lock().unwrap().clear();
    }

    fn close(self) {
        // SAFETY: the objects are not used afterwards.
        unsafe {
            self.driver.device.destroy_fence(self.fence, None);
            self.swapchains.destroy_swapchain(self.chain, None);
        }
        self.driver.close_after(self.surface);
    }
}

/// A request without times and without a target.
fn nothing() -> sys::PresentTimingInfoEXT {
    sys::PresentTimingInfoEXT { time_domain_id: SWAPCHAIN_LOCAL, ..Default::default() }
}

#[test]
fn swapchains_without_timing_refuse_it() {
    let application = Application::start(false);
    application.assert_refused(application.resize(4).result(), "PRESENT_TIMING_BIT");
    for _ in 0..6 {
        let timed = sys::PresentTimingInfoEXT { target_time: 1, ..nothing() };
        application.assert_refused(application.present(timed), "PRESENT_TIMING_BIT");
    }
    assert_eq!(application.present(nothing()), Ok(false), "the images of refused frames can be acquired again");
    application.close();
}

#[test]
fn requests_are_checked() {
    let application = Application::start(true);
    assert_eq!(application.resize(1), vk::Result::SUCCESS);
    let bad = [
        (sys::PresentTimingInfoEXT { target_time: 1, time_domain_id: 0, ..nothing() }, "timeDomainId"),
        (sys::PresentTimingInfoEXT { target_time: 1, time_domain_id: STAGE_LOCAL, ..nothing() }, "DomainPresentStage"),
        (
            sys::PresentTimingInfoEXT {
                // SAFETY: the driver checks the bits.
                present_stage_queries: unsafe { Stages::from_bits_unchecked(1 << 4) },
                ..nothing()
            },
            "presentStageQueries",
        ),
    ];
    for (request, field) in bad {
        application.assert_refused(application.present(request), field);
    }
    let timed = sys::PresentTimingInfoEXT { present_stage_queries: Stages::IMAGE_FIRST_PIXEL_OUT, ..nothing() };
    assert_eq!(application.present(timed), Ok(false), "refused frames have no slots");
    application.acquire_all();
    let (device, chain) = (application.driver.device.handle(), application.chain);
    let past = command!(application.driver, vkGetPastPresentationTimingEXT, PFN_vkGetPastPresentationTimingEXT);
    let raw = sys::SwapchainKHR::from_raw(chain.as_raw());
    let info = |swapchain| Newer(sys::PastPresentationTimingInfoEXT { swapchain, ..Default::default() });
    let mut stage = sys::PresentStageTimeEXT::default();
    for room in [0, 1] {
        let mut timing = sys::PastPresentationTimingEXT {
            present_stage_count: room,
            present_stages: &raw mut stage,
            ..Default::default()
        };
        let mut all = Newer(sys::PastPresentationTimingPropertiesEXT {
            presentation_timing_count: 1,
            presentation_timings: &raw mut timing,
            ..Default::default()
        });
        // SAFETY: the structures are valid, except that one has no room.
        let code = unsafe { past(device, &info(raw), &raw mut all) };
        match room {
            0 => application.assert_refused(code.result(), "presentStageCount"),
            _ => assert_eq!((code, timing.report_complete), (vk::Result::SUCCESS, vk::TRUE)),
        }
    }
    let mut all = Newer(sys::PastPresentationTimingPropertiesEXT::default());
    let stale = sys::SwapchainKHR::from_raw(7);
    // SAFETY: the driver checks the pointers and handles under test.
    unsafe {
        application.assert_refused(past(device, &info(stale), &raw mut all).result(), "expected a live");
        assert_eq!(past(device, std::ptr::null(), &raw mut all), vk::Result::ERROR_UNKNOWN);
        assert_eq!(past(device, &info(raw), std::ptr::null_mut()), vk::Result::ERROR_UNKNOWN);
    }
    application.close();
}

/// A frame for which the queue has no slot is refused. Its image can be presented again without
/// acquiring it, and each image can be acquired once afterwards.
#[test]
fn refused_images_can_be_presented_again() {
    let application = Application::start(true);
    let timed = sys::PresentTimingInfoEXT { present_stage_queries: Stages::IMAGE_FIRST_PIXEL_OUT, ..nothing() };
    let full = vk::Result::from_raw(sys::Result::ERROR_PRESENT_TIMING_QUEUE_FULL_EXT.as_raw());
    let never = sys::PresentTimingInfoEXT { target_time: u64::MAX, ..nothing() };
    for again in [nothing(), timed, never] {
        assert_eq!(application.resize(0), vk::Result::SUCCESS);
        let image = application.acquire().unwrap();
        assert_eq!(application.present_image(image, timed), Err(full));
        assert_eq!(application.resize(1), vk::Result::SUCCESS);
        assert_eq!(application.present_image(image, again), Ok(false));
        if again.target_time > 0 {
            let other = application.acquire().unwrap();
            assert_ne!(other, image, "the image waits to be shown");
            break;
        }
        let mut images = application.acquire_all();
        images.sort_unstable();
        assert!(images.windows(2).all(|pair| pair[0] < pair[1]), "{images:?}");
        for image in images {
            assert_eq!(application.present_image(image, nothing()), Ok(false));
        }
        assert_eq!(
            application.read_stages(&mut Default::default()),
            usize::from(again.present_stage_queries == timed.present_stage_queries)
        );
    }
    application.close();
}

/// The time of a stage that the surface does not report is 0.
#[test]
fn unknown_stages_have_the_time_0() {
    let application = Application::start(true);
    assert_eq!(application.resize(1), vk::Result::SUCCESS);
    let timed = sys::PresentTimingInfoEXT { present_stage_queries: Stages::all(), ..nothing() };
    assert_eq!(application.present(timed), Ok(false));
    application.acquire_all();
    let mut times = [sys::PresentStageTimeEXT::default(); 4];
    assert_eq!(application.read_stages(&mut times), 1);
    for time in times {
        assert_eq!(time.time == 0, time.stage == Stages::IMAGE_FIRST_PIXEL_VISIBLE, "{time:?}");
    }
    application.close();
}

#[test]
fn queries_of_time_domains_are_checked() {
    let application = Application::start(true);
    let (driver, raw) = (&application.driver, sys::SwapchainKHR::from_raw(application.chain.as_raw()));
    let get = command!(driver, vkGetSwapchainTimeDomainPropertiesEXT, PFN_vkGetSwapchainTimeDomainPropertiesEXT);
    let mut ids = [0; 8];
    let mut domains = SwapchainTimeDomainPropertiesEXT::default();
    (domains.time_domain_count, domains.time_domain_ids) = (8, ids.as_mut_ptr());
    // SAFETY: the structure is valid, except that it has one array of two.
    let code = unsafe { get(driver.device.handle(), application.chain, &raw mut domains, std::ptr::null_mut()) };
    application.assert_refused(code.result(), "pTimeDomainIds");
    let timestamps = ash::khr::calibrated_timestamps::Device::new(&driver.instance, &driver.device);
    let calibrate = |domain: u64, own: Option<sys::SwapchainCalibratedTimestampInfoEXT>| {
        let domain = vk::TimeDomainKHR::from_raw(domain as i32);
        let mut info = vk::CalibratedTimestampInfoKHR::default().time_domain(domain);
        info.p_next = own.as_ref().map_or(std::ptr::null(), |own| std::ptr::from_ref(own).cast());
        // SAFETY: the chain is valid.
        unsafe { timestamps.get_calibrated_timestamps(&[info]) }
    };
    let own = |swapchain, time_domain_id, present_stage| {
        Some(sys::SwapchainCalibratedTimestampInfoEXT {
            swapchain,
            time_domain_id,
            present_stage,
            ..Default::default()
        })
    };
    application.assert_refused(calibrate(SWAPCHAIN_LOCAL, None), "VkSwapchainCalibratedTimestampInfoEXT");
    let (none, first) = (Stages::empty(), Stages::QUEUE_OPERATIONS_END);
    let null = sys::SwapchainKHR::null();
    application.assert_refused(calibrate(SWAPCHAIN_LOCAL, own(null, SWAPCHAIN_LOCAL, none)), "expected a live");
    application.assert_refused(calibrate(SWAPCHAIN_LOCAL, own(raw, 5, none)), "timeDomainId");
    application.assert_refused(calibrate(SWAPCHAIN_LOCAL, own(raw, STAGE_LOCAL, first)), "timeDomainId");
    application.assert_refused(calibrate(STAGE_LOCAL, own(raw, STAGE_LOCAL, none)), "presentStage");
    application.assert_refused(calibrate(STAGE_LOCAL, own(raw, STAGE_LOCAL, Stages::all())), "presentStage");
    assert!(calibrate(STAGE_LOCAL, own(raw, STAGE_LOCAL, first)).unwrap().0[0] > 0);
    assert!(calibrate(SWAPCHAIN_LOCAL, own(raw, SWAPCHAIN_LOCAL, none)).unwrap().0[0] > 0);
    application.close();
}

/// Swapchains and devices are destroyed while frames wait for a time that never comes.
#[test]
fn no_destruction_waits_for_a_target_time() {
    let never = sys::PresentTimingInfoEXT { target_time: u64::MAX, ..nothing() };
    for destroys_chain in [true, false] {
        let application = Application::start(true);
        assert_eq!(application.present(never), Ok(false));
        let begin = Instant::now();
        let Application { driver, surface, swapchains, chain, .. } = application;
        if destroys_chain {
            // SAFETY: the swapchain is not used afterwards.
            unsafe { swapchains.destroy_swapchain(chain, None) };
            // SAFETY: the device is alive.
            unsafe { driver.device.device_wait_idle() }.unwrap();
            driver.close_after(surface);
        } else {
            driver.close();
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
}
