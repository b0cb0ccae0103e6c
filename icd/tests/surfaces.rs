//! Headless surfaces: extended queries, image usage, changes of the present mode, present fences,
//! waits for presented frames, released images, and views of other formats.

use std::process::Command;
use std::time::{Duration, Instant};

use ash::vk;
use vitric_vulkan::{
    Newer, PresentWait2InfoKHR, SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT,
    SurfaceCapabilitiesPresentWait2KHR, SwapchainFlagsSurfaceCapabilitiesEXT, Vocabulary, names, sys,
};

const FIFO_LATEST_READY: vk::PresentModeKHR = vk::PresentModeKHR::from_raw(1_000_361_000);

/// All supported present modes.
const PRESENT_MODES: [vk::PresentModeKHR; 5] = [
    vk::PresentModeKHR::FIFO,
    vk::PresentModeKHR::FIFO_RELAXED,
    FIFO_LATEST_READY,
    vk::PresentModeKHR::MAILBOX,
    vk::PresentModeKHR::IMMEDIATE,
];

/// A device with a headless surface.
struct Application {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    surface: vk::SurfaceKHR,
}

impl Application {
    fn start() -> Self {
        let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
        // SAFETY: the function is the driver's own; all infos are valid.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let names = [
                ash::khr::surface::NAME,
                ash::ext::headless_surface::NAME,
                ash::khr::get_surface_capabilities2::NAME,
                vk::EXT_SURFACE_MAINTENANCE1_NAME,
                vk::KHR_SURFACE_PROTECTED_CAPABILITIES_NAME,
                c"VK_KHR_surface_maintenance1",
            ];
            let names = names.map(|name| name.as_ptr());
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info.enabled_extension_names(&names), None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let names = [
                ash::khr::swapchain::NAME,
                vk::EXT_SWAPCHAIN_MAINTENANCE1_NAME,
                vk::KHR_SWAPCHAIN_MUTABLE_FORMAT_NAME,
                vk::KHR_IMAGE_FORMAT_LIST_NAME,
                vk::KHR_INCREMENTAL_PRESENT_NAME,
                vk::KHR_PRESENT_ID_NAME,
                ash::khr::present_wait::NAME,
                c"VK_KHR_swapchain_maintenance1",
                names::KHR_PRESENT_ID2_NAME,
                names::KHR_PRESENT_WAIT2_NAME,
                names::KHR_PRESENT_MODE_FIFO_LATEST_READY_NAME,
                vk::EXT_IMAGE_COMPRESSION_CONTROL_NAME,
                vk::EXT_IMAGE_COMPRESSION_CONTROL_SWAPCHAIN_NAME,
                vk::EXT_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_NAME,
                names::EXT_MULTISAMPLED_RENDER_TO_SWAPCHAIN_NAME,
                vk::KHR_DYNAMIC_RENDERING_NAME,
                vk::KHR_DEPTH_STENCIL_RESOLVE_NAME,
                vk::KHR_CREATE_RENDERPASS2_NAME,
            ];
            let (priorities, names) = ([1.0], names.map(|name| name.as_ptr()));
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let mut features =
                vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default().swapchain_maintenance1(true);
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true);
            let mut waits = vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true);
            let (mut ids2, mut waits2) = (
                Newer(sys::PhysicalDevicePresentId2FeaturesKHR { present_id2: 1, ..Default::default() }),
                Newer(sys::PhysicalDevicePresentWait2FeaturesKHR { present_wait2: 1, ..Default::default() }),
            );
            let mut latest = Newer(sys::PhysicalDevicePresentModeFifoLatestReadyFeaturesKHR {
                present_mode_fifo_latest_ready: 1,
                ..Default::default()
            });
            waits2.next = (&raw mut latest).cast();
            ids2.next = (&raw mut waits2).cast();
            waits.p_next = (&raw mut ids2).cast();
            let info = info.push_next(&mut waits).push_next(&mut features).push_next(&mut ids);
            let device = instance.create_device(physical, &info, None).unwrap();
            let headless = ash::ext::headless_surface::Instance::new(&entry, &instance);
            let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None).unwrap();
            Self { entry, instance, physical, device, surface }
        }
    }

    fn swapchain(&self, flags: vk::SwapchainCreateFlagsKHR, mode: vk::PresentModeKHR) -> vk::SwapchainKHR {
        self.swapchain_after(vk::SwapchainKHR::null(), flags, mode).unwrap()
    }

    fn swapchain_after(
        &self,
        old: vk::SwapchainKHR,
        flags: vk::SwapchainCreateFlagsKHR,
        mode: vk::PresentModeKHR,
    ) -> Result<vk::SwapchainKHR, vk::Result> {
        let all = PRESENT_MODES;
        let mut modes = vk::SwapchainPresentModesCreateInfoEXT::default().present_modes(&all);
        let formats = [vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB];
        let mut list = vk::ImageFormatListCreateInfo::default().view_formats(&formats);
        let info = vk::SwapchainCreateInfoKHR::default()
            .flags(flags)
            .surface(self.surface)
            .min_image_count(2)
            .image_format(formats[0])
            .image_extent(vk::Extent2D { width: 32, height: 16 })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(mode)
            .old_swapchain(old)
            .push_next(&mut modes)
            .push_next(&mut list);
        let extension = ash::khr::swapchain::Device::new(&self.instance, &self.device);
        // SAFETY: the info is valid.
        unsafe { extension.create_swapchain(&info, None) }
    }

    fn close(self) {
        let surfaces = ash::khr::surface::Instance::new(&self.entry, &self.instance);
        // SAFETY: no object is in use.
        unsafe {
            self.device.destroy_device(None);
            surfaces.destroy_surface(self.surface, None);
            self.instance.destroy_instance(None);
        }
    }
}

#[test]
fn second_queries_say_what_first_ones_say_and_more() {
    let application = Application::start();
    let first = ash::khr::surface::Instance::new(&application.entry, &application.instance);
    let second = ash::khr::get_surface_capabilities2::Instance::new(&application.entry, &application.instance);
    let (physical, surface) = (application.physical, application.surface);
    let mut asked = vk::SurfacePresentModeEXT::default().present_mode(vk::PresentModeKHR::MAILBOX);
    let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface).push_next(&mut asked);
    let mut modes = [vk::PresentModeKHR::SHARED_DEMAND_REFRESH; 6];
    let mut compatible = vk::SurfacePresentModeCompatibilityEXT::default().present_modes(&mut modes);
    let mut protected = vk::SurfaceProtectedCapabilitiesKHR { supports_protected: 7, ..Default::default() };
    let mut scaling = vk::SurfacePresentScalingCapabilitiesEXT {
        supported_present_scaling: vk::PresentScalingFlagsEXT::ONE_TO_ONE,
        ..Default::default()
    };
    let mut found = vk::SurfaceCapabilities2KHR::default()
        .push_next(&mut compatible)
        .push_next(&mut protected)
        .push_next(&mut scaling);
    // SAFETY: the surface is alive, and the chains are valid.
    let (known, formats, formats2) = unsafe {
        second.get_physical_device_surface_capabilities2(physical, &info, &mut found).unwrap();
        let formats = first.get_physical_device_surface_formats(physical, surface).unwrap();
        let count = second.get_physical_device_surface_formats2_len(physical, &info).unwrap();
        let mut formats2 = vec![vk::SurfaceFormat2KHR::default(); count];
        second.get_physical_device_surface_formats2(physical, &info, &mut formats2).unwrap();
        (first.get_physical_device_surface_capabilities(physical, surface).unwrap(), formats, formats2)
    };
    let found = found.surface_capabilities;
    assert_eq!((found.min_image_count, found.max_image_extent), (known.min_image_count, known.max_image_extent));
    assert_eq!(formats2.iter().map(|format| format.surface_format).collect::<Vec<_>>(), formats);
    assert_eq!((compatible.present_mode_count, protected.supports_protected), (5, 0));
    assert!(scaling.supported_present_scaling.is_empty());
    assert!(PRESENT_MODES.iter().all(|mode| modes[..5].contains(mode)));
    assert_eq!(modes[5], vk::PresentModeKHR::SHARED_DEMAND_REFRESH);
    // An array with room for one mode gets the requested mode, and the call succeeds.
    for asked in PRESENT_MODES {
        let mut of_mode = vk::SurfacePresentModeEXT::default().present_mode(asked);
        let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface).push_next(&mut of_mode);
        let mut modes = [vk::PresentModeKHR::SHARED_DEMAND_REFRESH; 2];
        let mut compatible = vk::SurfacePresentModeCompatibilityEXT::default().present_modes(&mut modes);
        compatible.present_mode_count = 1;
        let mut found = vk::SurfaceCapabilities2KHR::default().push_next(&mut compatible);
        // SAFETY: the surface is alive, and the chain is valid.
        unsafe { second.get_physical_device_surface_capabilities2(physical, &info, &mut found) }.unwrap();
        assert_eq!(compatible.present_mode_count, 1);
        assert_eq!(modes, [asked, vk::PresentModeKHR::SHARED_DEMAND_REFRESH]);
    }
    application.close();
}

#[test]
fn a_surface_has_one_swapchain_at_a_time() {
    let application = Application::start();
    let swapchains = ash::khr::swapchain::Device::new(&application.instance, &application.device);
    let (flags, mode) = (vk::SwapchainCreateFlagsKHR::empty(), vk::PresentModeKHR::FIFO);
    let after = |old| application.swapchain_after(old, flags, mode);
    let none = vk::SwapchainKHR::null();
    let first = after(none).unwrap();
    assert_eq!(after(none).unwrap_err(), vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
    let second = after(first).unwrap();
    assert_eq!(after(none).unwrap_err(), vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
    // SAFETY: neither swapchain is in use.
    unsafe {
        swapchains.destroy_swapchain(first, None);
        assert_eq!(after(none).unwrap_err(), vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
        swapchains.destroy_swapchain(second, None);
        let third = after(none).unwrap();
        swapchains.destroy_swapchain(third, None);
    }
    application.close();
}

#[test]
fn images_are_for_all_that_the_surface_says() {
    let application = Application::start();
    let surfaces = ash::khr::surface::Instance::new(&application.entry, &application.instance);
    let swapchains = ash::khr::swapchain::Device::new(&application.instance, &application.device);
    let (physical, surface) = (application.physical, application.surface);
    // SAFETY: all objects are alive. Infos are valid except where a format does not support a
    // usage.
    unsafe {
        let usage = surfaces.get_physical_device_surface_capabilities(physical, surface).unwrap().supported_usage_flags;
        assert!(usage.contains(vk::ImageUsageFlags::STORAGE));
        for format in surfaces.get_physical_device_surface_formats(physical, surface).unwrap() {
            let properties = application.instance.get_physical_device_format_properties(physical, format.format);
            let stores = properties.optimal_tiling_features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE);
            let info = vk::SwapchainCreateInfoKHR::default()
                .surface(surface)
                .min_image_count(2)
                .image_format(format.format)
                .image_extent(vk::Extent2D { width: 32, height: 16 })
                .image_array_layers(1)
                .image_usage(usage)
                .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .present_mode(vk::PresentModeKHR::FIFO);
            let made = swapchains.create_swapchain(&info, None);
            assert_eq!(made.is_ok(), stores, "{format:?}: {made:?}");
            made.into_iter().for_each(|chain| swapchains.destroy_swapchain(chain, None));
            let is_linear = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM].contains(&format.format);
            assert_eq!(stores, is_linear, "{format:?}");
        }
    }
    application.close();
}

#[test]
fn images_go_back_unseen_and_fences_tell_of_presenting() {
    let application = Application::start();
    let (instance, device) = (&application.instance, &application.device);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let maintenance = ash::ext::swapchain_maintenance1::Device::new(instance, device);
    let chain = application.swapchain(vk::SwapchainCreateFlagsKHR::empty(), vk::PresentModeKHR::IMMEDIATE);
    // SAFETY: all objects are alive. Fences are waited for before they are used again.
    unsafe {
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let acquire = |timeout| swapchains.acquire_next_image(chain, timeout, vk::Semaphore::null(), fence);
        let next = |timeout| {
            let (image, _) = acquire(timeout)?;
            device.wait_for_fences(&[fence], true, u64::MAX)?;
            device.reset_fences(&[fence])?;
            Ok::<u32, vk::Result>(image)
        };
        let images = [next(u64::MAX).unwrap(), next(u64::MAX).unwrap()];
        assert_eq!(next(0).unwrap_err(), vk::Result::NOT_READY);
        let info = vk::ReleaseSwapchainImagesInfoEXT::default().swapchain(chain).image_indices(&images[1..]);
        (maintenance.fp().release_swapchain_images_ext)(device.handle(), &raw const info).result().unwrap();
        assert_eq!(next(0), Ok(images[1]));
        // Presents ten frames in a mode that differs from the swapchain's.
        let queue = device.get_device_queue(0, 0);
        let mut image = images[0];
        for _ in 0..10 {
            let (modes, fences) = ([vk::PresentModeKHR::FIFO], [fence]);
            let mut mode = vk::SwapchainPresentModeInfoEXT::default().present_modes(&modes);
            let mut told = vk::SwapchainPresentFenceInfoEXT::default().fences(&fences);
            let (chains, images) = ([chain], [image]);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
            swapchains.queue_present(queue, &info.push_next(&mut mode).push_next(&mut told)).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
            image = next(u64::MAX).unwrap();
        }
        device.device_wait_idle().unwrap();
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(chain, None);
    }
    application.close();
}

/// Present ids can be waited for. The promoted command `vkReleaseSwapchainImagesKHR` releases
/// images.
#[test]
fn presented_frames_are_waited_for() {
    [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::FIFO_RELAXED].into_iter().for_each(wait_for_frames);
}

/// The surface supports ids and waits of the second version, which a frame of the latest-ready mode
/// uses. A wait without a structure, or for a stale swapchain, fails.
#[test]
fn second_versions_of_ids_and_waits_work() {
    let application = Application::start();
    let (instance, device) = (&application.instance, &application.device);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let surfaces = ash::khr::get_surface_capabilities2::Instance::new(&application.entry, instance);
    let mut waits = SurfaceCapabilitiesPresentWait2KHR::default();
    let mut ids = Newer(sys::SurfaceCapabilitiesPresentId2KHR { next: (&raw mut waits).cast(), ..Default::default() });
    let mut all = vk::SurfaceCapabilities2KHR { p_next: (&raw mut ids).cast(), ..Default::default() };
    let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(application.surface);
    // SAFETY: the chains are valid, all objects are alive, and the function has this type.
    unsafe {
        surfaces.get_physical_device_surface_capabilities2(application.physical, &info, &mut all).unwrap();
        assert_eq!((ids.present_id2_supported, waits.present_wait2_supported), (1, 1));
        let name = c"vkWaitForPresent2KHR".as_ptr();
        let found = (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name).unwrap();
        type Wait = <sys::PFN_vkWaitForPresent2KHR as Vocabulary>::Own;
        let wait2: Wait = std::mem::transmute::<unsafe extern "system" fn(), Wait>(found);
        let flags = sys::SwapchainCreateFlagsKHR::PRESENT_ID_2 | sys::SwapchainCreateFlagsKHR::PRESENT_WAIT_2;
        let flags = vk::SwapchainCreateFlagsKHR::from_raw(flags.bits());
        let chain = application.swapchain(flags, FIFO_LATEST_READY);
        let wait = |present_id, timeout| {
            let info = Newer(sys::PresentWait2InfoKHR { present_id, timeout, ..Default::default() });
            wait2(device.handle(), chain, &raw const info)
        };
        assert_eq!(wait(1, 0), vk::Result::TIMEOUT);
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let (image, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        let (chains, images, numbers) = ([chain], [image], [7u64]);
        let ids = sys::PresentId2KHR { swapchain_count: 1, present_ids: numbers.as_ptr(), ..Default::default() };
        let mut info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
        info.p_next = (&raw const ids).cast();
        swapchains.queue_present(device.get_device_queue(0, 0), &info).unwrap();
        assert_eq!([wait(7, u64::MAX), wait(8, 0)], [vk::Result::SUCCESS, vk::Result::TIMEOUT]);
        let info = PresentWait2InfoKHR::default();
        assert_eq!(wait2(device.handle(), chain, std::ptr::null()), vk::Result::ERROR_UNKNOWN);
        device.device_wait_idle().unwrap();
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(chain, None);
        assert!(wait2(device.handle(), chain, &raw const info) != vk::Result::SUCCESS);
    }
    application.close();
}

fn wait_for_frames(mode: vk::PresentModeKHR) {
    let application = Application::start();
    let (instance, device) = (&application.instance, &application.device);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let waits = ash::khr::present_wait::Device::new(instance, device);
    let chain = application.swapchain(vk::SwapchainCreateFlagsKHR::empty(), mode);
    let wait = |number, timeout| {
        // SAFETY: the swapchain is alive.
        unsafe { (waits.fp().wait_for_present_khr)(device.handle(), chain, number, timeout) }
    };
    // SAFETY: all objects are alive. Fences are waited for before they are used again.
    unsafe {
        let queue = device.get_device_queue(0, 0);
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let acquire = || {
            let (image, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
            image
        };
        assert_eq!(
            [wait(0, 0), wait(1, 0), wait(1, 1_000_000)],
            [vk::Result::SUCCESS, vk::Result::TIMEOUT, vk::Result::TIMEOUT]
        );
        // Present ids grow with gaps, and a frame may have none.
        for number in [1, 2, 5, 0, 9] {
            let (chains, images, numbers) = ([chain], [acquire()], [number]);
            let mut ids = vk::PresentIdKHR::default().present_ids(&numbers);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
            swapchains.queue_present(queue, &info.push_next(&mut ids)).unwrap();
            assert_eq!(wait(number, u64::MAX), vk::Result::SUCCESS);
            assert_eq!(wait(number.max(5) + 1, 0), vk::Result::TIMEOUT);
        }
        assert_eq!([wait(4, 0), wait(10, 0)], [vk::Result::SUCCESS, vk::Result::TIMEOUT]);
        let name = c"vkReleaseSwapchainImagesKHR".as_ptr();
        let found = (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name).unwrap();
        let release: vk::PFN_vkReleaseSwapchainImagesEXT = std::mem::transmute(found);
        let images = [acquire(), acquire()];
        let info = vk::ReleaseSwapchainImagesInfoEXT::default().swapchain(chain).image_indices(&images);
        assert_eq!(release(device.handle(), &raw const info), vk::Result::SUCCESS);
        acquire();
        device.device_wait_idle().unwrap();
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(chain, None);
    }
    application.close();
}

/// Variable of the process that shows frames at the rate of `VITRIC_VSYNC`: the number of frames.
const SHOWS: &str = "VITRIC_TEST_SHOWS";

/// Presents frames in FIFO mode, also with a swapchain that replaces another one. Returns the
/// elapsed time.
fn show_frames(count: u32) -> Duration {
    let application = Application::start();
    let (instance, device) = (&application.instance, &application.device);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let chain = application.swapchain(vk::SwapchainCreateFlagsKHR::empty(), vk::PresentModeKHR::IMMEDIATE);
    // SAFETY: all objects are alive. The fence is waited for before it is used again.
    let elapsed = unsafe {
        let queue = device.get_device_queue(0, 0);
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let begin = Instant::now();
        for _ in 0..count {
            let (image, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
            let (modes, chains, images) = ([vk::PresentModeKHR::FIFO], [chain], [image]);
            let mut mode = vk::SwapchainPresentModeInfoEXT::default().present_modes(&modes);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
            swapchains.queue_present(queue, &info.push_next(&mut mode)).unwrap();
        }
        // An image is free after its frame is shown.
        for _ in 0..swapchains.get_swapchain_images(chain).unwrap().len() {
            swapchains.acquire_next_image(chain, 10_000_000_000, vk::Semaphore::null(), fence).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
        }
        let elapsed = begin.elapsed();
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(chain, None);
        elapsed
    };
    application.close();
    elapsed
}

/// A headless surface has no refresh, so frames are shown at once. With a rate, each frame waits
/// for its period.
#[test]
fn fifo_has_the_pace_of_the_knob() {
    if let Some(count) = std::env::var_os(SHOWS) {
        let elapsed = show_frames(count.to_str().unwrap().parse().unwrap());
        println!("elapsed: {}", elapsed.as_millis());
        return;
    }
    let show = |pace: &str, count: u64| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "--nocapture", "fifo_has_the_pace_of_the_knob"]).env(SHOWS, count.to_string());
        let output = child.env("VITRIC_VSYNC", pace).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let elapsed = text.lines().find_map(|line| line.split_once("elapsed: "));
        elapsed.unwrap_or_else(|| panic!("{text}")).1.parse::<u64>().unwrap()
    };
    // All frames except the first wait.
    let paced = show("50", 11);
    assert!(paced >= 195, "{paced} ms for 11 frames at 50 Hz");
    for pace in ["auto", "off", "60Hz"] {
        let elapsed = show(pace, 600);
        assert!(elapsed < 5_000, "{pace}: {elapsed} ms for 600 frames, which take 10 s at 60 Hz");
    }
}

#[test]
fn images_that_are_mutable_have_views_of_other_formats() {
    let application = Application::start();
    let (instance, device) = (&application.instance, &application.device);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let chain = application.swapchain(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT, vk::PresentModeKHR::MAILBOX);
    // SAFETY: all objects are alive.
    unsafe {
        let images = swapchains.get_swapchain_images(chain).unwrap();
        let subresource_range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        for format in [vk::Format::B8G8R8A8_UNORM, vk::Format::B8G8R8A8_SRGB] {
            let info = vk::ImageViewCreateInfo::default()
                .image(images[0])
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(subresource_range);
            let view = device.create_image_view(&info, None).unwrap();
            device.destroy_image_view(view, None);
        }
        swapchains.destroy_swapchain(chain, None);
    }
    application.close();
}

#[test]
fn images_of_swapchains_are_not_compressed() {
    use vk::ImageCompressionFlagsEXT as F;
    let application = Application::start();
    let (entry, instance, device) = (&application.entry, &application.instance, &application.device);
    let (formats, swapchains) = (
        ash::khr::get_surface_capabilities2::Instance::new(entry, instance),
        ash::khr::swapchain::Device::new(instance, device),
    );
    let unset = vk::ImageCompressionPropertiesEXT::default().image_compression_flags(F::from_raw(77));
    let surface = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(application.surface);
    // SAFETY: all objects are alive, and the infos valid apart from the flags that are refused.
    unsafe {
        let mut of_format = unset;
        let mut first = [vk::SurfaceFormat2KHR::default().push_next(&mut of_format)];
        let get = formats.fp().get_physical_device_surface_formats2_khr;
        let code = get(application.physical, &raw const surface, &mut 1, first.as_mut_ptr());
        assert_eq!((code, of_format.image_compression_flags), (vk::Result::INCOMPLETE, F::DISABLED));
        for (flags, expected) in
            [(F::DISABLED, Ok(())), (F::DEFAULT, Ok(())), (F::from_raw(6), Err(vk::Result::ERROR_UNKNOWN))]
        {
            let mut control = vk::ImageCompressionControlEXT::default().flags(flags);
            let info = vk::SwapchainCreateInfoKHR::default()
                .surface(application.surface)
                .min_image_count(2)
                .image_format(vk::Format::B8G8R8A8_UNORM)
                .image_extent(vk::Extent2D { width: 32, height: 16 })
                .image_array_layers(1)
                .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
                .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .present_mode(vk::PresentModeKHR::FIFO)
                .push_next(&mut control);
            let made = swapchains.create_swapchain(&info, None);
            assert_eq!(made.map(|_| ()), expected);
            let Ok(chain) = made else { continue };
            let mut found = unset;
            let mut layout = vk::SubresourceLayout2KHR::default().push_next(&mut found);
            let aspect_mask = vk::ImageAspectFlags::COLOR;
            let part = vk::ImageSubresource2KHR::default()
                .image_subresource(vk::ImageSubresource { aspect_mask, ..Default::default() });
            let image = swapchains.get_swapchain_images(chain).unwrap()[0];
            let layouts = ash::ext::host_image_copy::Device::new(instance, device);
            let get = layouts.fp().get_image_subresource_layout2_ext;
            get(device.handle(), image, &raw const part, &raw mut layout);
            assert_eq!(found.image_compression_flags, F::DISABLED);
            swapchains.destroy_swapchain(chain, None);
        }
    }
    application.close();
}

/// The flag of images that are rendered to with more samples than they have is supported, and such
/// an image is cleared by a pass with four samples.
#[test]
fn images_of_swapchains_are_rendered_to_with_several_samples() {
    let application = Application::start();
    let device = &application.device;
    let capabilities = ash::khr::get_surface_capabilities2::Instance::new(&application.entry, &application.instance);
    let mut flags = SwapchainFlagsSurfaceCapabilitiesEXT::default();
    let wanted = SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT;
    // SAFETY: infos are valid and handles alive.
    unsafe {
        let mut all = vk::SurfaceCapabilities2KHR { p_next: (&raw mut flags).cast(), ..Default::default() };
        let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(application.surface);
        capabilities.get_physical_device_surface_capabilities2(application.physical, &info, &mut all).unwrap();
        assert!(flags.swapchain_supported_flags.contains(wanted), "{:?}", flags.swapchain_supported_flags);
        let chain = application.swapchain(wanted, vk::PresentModeKHR::FIFO);
        let swapchains = ash::khr::swapchain::Device::new(&application.instance, device);
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let (index, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        let image = swapchains.get_swapchain_images(chain).unwrap()[index as usize];
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default().image(image).view_type(vk::ImageViewType::TYPE_2D);
        let info = info.format(vk::Format::B8G8R8A8_UNORM).subresource_range(range);
        let view = device.create_image_view(&info, None).unwrap();
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .resolve_mode(vk::ResolveModeFlags::AVERAGE)];
        let mut samples = vk::MultisampledRenderToSingleSampledInfoEXT::default()
            .multisampled_render_to_single_sampled_enable(true)
            .rasterization_samples(vk::SampleCountFlags::TYPE_4);
        let area = vk::Rect2D { extent: vk::Extent2D { width: 32, height: 16 }, ..Default::default() };
        let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colors);
        let rendering = ash::khr::dynamic_rendering::Device::new(&application.instance, device);
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
        let info_of_list = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let lists = device.allocate_command_buffers(&info_of_list).unwrap();
        device.begin_command_buffer(lists[0], &vk::CommandBufferBeginInfo::default()).unwrap();
        rendering.cmd_begin_rendering(lists[0], &info.push_next(&mut samples));
        rendering.cmd_end_rendering(lists[0]);
        device.end_command_buffer(lists[0]).unwrap();
        let queue = device.get_device_queue(0, 0);
        device.queue_submit(queue, &[vk::SubmitInfo::default().command_buffers(&lists)], vk::Fence::null()).unwrap();
        device.queue_wait_idle(queue).unwrap();
        swapchains.destroy_swapchain(chain, None);
    }
    application.close();
}
