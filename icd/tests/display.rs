//! Displays of DRM nodes: listed displays, planes and modes, invalid parameters, frames that a
//! display shows, and displays that another program uses.
//!
//! The tests of displays need a DRM node of which the process can be the master, such as that of a
//! virtual machine without a compositor. They are left out elsewhere, and say so. The extensions
//! must be absent there, which is tested instead.

mod common;

use std::ffi::CStr;
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ash::vk::{self, Handle};
use common::Messages;
use drm::control::{Device as _, connector, crtc};
use drm::{Device as _, DriverCapability};
use memmap2::MmapOptions;

/// Longest wait for an image, in nanoseconds.
const TIMEOUT: u64 = 10_000_000_000;

/// The displays of the host have one master.
static DISPLAYS: Mutex<()> = Mutex::new(());

/// A DRM node that the test opens itself.
struct Node(File);

impl AsFd for Node {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl drm::Device for Node {}
impl drm::control::Device for Node {}

impl Node {
    /// Opens the first node with displays of which the process can be the master, which it is
    /// afterwards.
    fn open() -> Option<Self> {
        let mut paths: Vec<_> = fs::read_dir("/dev/dri").ok()?.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let is_primary = |path: &&std::path::PathBuf| path.to_string_lossy().contains("/card");
        let open = |path: &std::path::PathBuf| File::options().read(true).write(true).open(path).ok().map(Self);
        let can_show = |node: &Self| {
            let has_displays = node.resource_handles().is_ok_and(|found| !found.connectors().is_empty());
            let has_buffers = node.get_driver_capability(DriverCapability::DumbBuffer).is_ok_and(|value| value != 0);
            has_displays && has_buffers && node.acquire_master_lock().is_ok()
        };
        paths.iter().filter(is_primary).filter_map(open).find(can_show)
    }

    /// Returns the controller that drives the first connected display, with its state.
    fn controller(&self) -> Option<crtc::Info> {
        let resources = self.resource_handles().unwrap();
        let infos = resources.connectors().iter().map(|&connector| self.get_connector(connector, false).unwrap());
        let display = infos.into_iter().find(|info| info.state() == connector::State::Connected).unwrap();
        let encoder = self.get_encoder(display.current_encoder()?).unwrap();
        Some(self.get_crtc(encoder.crtc()?).unwrap())
    }

    /// Returns the first and the last pixel that the first connected display shows.
    fn pixels(&self) -> [u32; 2] {
        let shown = self.get_framebuffer(self.controller().unwrap().framebuffer().unwrap()).unwrap();
        let ((width, height), pitch) = (shown.size(), shown.pitch());
        let memory = self.buffer_to_prime_fd(shown.buffer().unwrap(), drm::RDWR | drm::CLOEXEC).unwrap();
        // SAFETY: the kernel keeps the memory while it is mapped, and the driver does not write it
        // before the next frame.
        let map = unsafe { MmapOptions::new().len((pitch * height) as usize).map(&memory) }.unwrap();
        let pixel = |x: u32, y: u32| {
            let place = (y * pitch + x * 4) as usize;
            u32::from_le_bytes(map[place..place + 4].try_into().unwrap()) & 0xFF_FFFF
        };
        [pixel(0, 0), pixel(width - 1, height - 1)]
    }
}

/// Returns the only user of the host's displays; `None`, with a message, if the host has none.
fn only_user(test: &str) -> Option<std::sync::MutexGuard<'static, ()>> {
    let guard = DISPLAYS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if Node::open().is_none() {
        eprintln!("{test} is left out: the process cannot be the master of a DRM node with displays");
        return None;
    }
    Some(guard)
}

fn entry() -> ash::Entry {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own.
    unsafe { ash::Entry::from_static_fn(functions) }
}

/// An instance that uses displays.
struct Application {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    displays: ash::khr::display::Instance,
    surfaces: ash::khr::surface::Instance,
    messages: Messages,
    debug: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
}

/// A display with one of its modes and a plane.
#[derive(Debug, Clone, Copy)]
struct Target {
    mode: vk::DisplayModePropertiesKHR,
    plane: u32,
}

impl Application {
    fn start() -> Self {
        let entry = entry();
        let names = [
            ash::ext::debug_utils::NAME,
            ash::khr::surface::NAME,
            ash::khr::display::NAME,
            ash::khr::get_display_properties2::NAME,
        ];
        let names = names.map(CStr::as_ptr);
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        // SAFETY: the infos are valid. The messages outlive the messenger.
        unsafe {
            let instance = entry.create_instance(&info, None).unwrap();
            let messages = Messages::default();
            let debug = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
                .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                .pfn_user_callback(Some(common::receive))
                .user_data(Arc::as_ptr(&messages).cast_mut().cast());
            let messenger = debug.create_debug_utils_messenger(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let displays = ash::khr::display::Instance::new(&entry, &instance);
            let surfaces = ash::khr::surface::Instance::new(&entry, &instance);
            Self { entry, instance, physical, displays, surfaces, messages, debug, messenger }
        }
    }

    /// Returns the preferred mode of the first display, and a plane that the display supports.
    fn target(&self) -> Target {
        // SAFETY: the handles are alive.
        unsafe {
            let display = self.displays.get_physical_device_display_properties(self.physical).unwrap()[0].display;
            let mode = self.displays.get_display_mode_properties(self.physical, display).unwrap()[0];
            let planes = self.displays.get_physical_device_display_plane_properties(self.physical).unwrap().len();
            let supports = |&plane: &u32| {
                let found = self.displays.get_display_plane_supported_displays(self.physical, plane).unwrap();
                found.contains(&display)
            };
            Target { mode, plane: (0..planes as u32).find(supports).unwrap() }
        }
    }

    /// Creates a surface with parameters that `change` modifies.
    fn surface(
        &self,
        target: &Target,
        change: impl FnOnce(vk::DisplaySurfaceCreateInfoKHR<'static>) -> vk::DisplaySurfaceCreateInfoKHR<'static>,
    ) -> Result<vk::SurfaceKHR, vk::Result> {
        let info = vk::DisplaySurfaceCreateInfoKHR::default()
            .display_mode(target.mode.display_mode)
            .plane_index(target.plane)
            .transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .alpha_mode(vk::DisplayPlaneAlphaFlagsKHR::OPAQUE)
            .image_extent(target.mode.parameters.visible_region);
        // SAFETY: the driver checks the parameters.
        unsafe { self.displays.create_display_plane_surface(&change(info), None) }
    }

    fn last_message(&self) -> String {
        self.messages.lock().unwrap().pop().unwrap_or_default()
    }

    /// Destroys the instance.
    fn end(self) {
        // SAFETY: nothing of the instance is used afterwards.
        unsafe {
            self.debug.destroy_debug_utils_messenger(self.messenger, None);
            self.instance.destroy_instance(None);
        }
    }
}

/// A device with a swapchain of a display.
struct Presenter<'a> {
    application: &'a Application,
    device: ash::Device,
    queue: vk::Queue,
    swapchains: ash::khr::swapchain::Device,
    pool: vk::CommandPool,
    fence: vk::Fence,
}

impl<'a> Presenter<'a> {
    fn new(application: &'a Application) -> Self {
        let names = [ash::khr::swapchain::NAME.as_ptr()];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        // SAFETY: the infos are valid.
        unsafe {
            let device = application.instance.create_device(application.physical, &info, None).unwrap();
            let queue = device.get_device_queue(0, 0);
            let swapchains = ash::khr::swapchain::Device::new(&application.instance, &device);
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default().flags(flags), None).unwrap();
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            Self { application, device, queue, swapchains, pool, fence }
        }
    }

    fn swapchain(&self, surface: vk::SurfaceKHR, target: &Target) -> Result<vk::SwapchainKHR, vk::Result> {
        self.swapchain_of(surface, target.mode.parameters.visible_region)
    }

    fn swapchain_of(&self, surface: vk::SurfaceKHR, extent: vk::Extent2D) -> Result<vk::SwapchainKHR, vk::Result> {
        let info = common::swapchain_info(surface).image_extent(extent);
        // SAFETY: the info is valid, except for the extent, which the driver checks.
        unsafe { self.swapchains.create_swapchain(&info, None) }
    }

    /// Presents an image of one colour.
    fn present(&self, chain: vk::SwapchainKHR, color: [f32; 4]) -> Result<bool, vk::Result> {
        let device = &self.device;
        // SAFETY: valid usage: the fence waits for the image, and the queue is idle afterwards.
        unsafe {
            let (index, _) = self.swapchains.acquire_next_image(chain, TIMEOUT, vk::Semaphore::null(), self.fence)?;
            device.wait_for_fences(&[self.fence], true, TIMEOUT)?;
            device.reset_fences(&[self.fence])?;
            let image = self.swapchains.get_swapchain_images(chain)?[index as usize];
            let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            let range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let barrier = |from, to| {
                let barrier = vk::ImageMemoryBarrier::default().old_layout(from).new_layout(to).image(image);
                let barriers = [barrier.subresource_range(range)];
                let (stages, flags) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
                device.cmd_pipeline_barrier(commands[0], stages, stages, flags, &[], &[], &barriers);
            };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            barrier(vk::ImageLayout::UNDEFINED, layout);
            let value = vk::ClearColorValue { float32: color };
            device.cmd_clear_color_image(commands[0], image, layout, &value, &[range]);
            barrier(layout, vk::ImageLayout::PRESENT_SRC_KHR);
            device.end_command_buffer(commands[0])?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            device.queue_submit(self.queue, &submits, vk::Fence::null())?;
            let (chains, images) = ([chain], [index]);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
            let presented = self.swapchains.queue_present(self.queue, &info);
            device.queue_wait_idle(self.queue)?;
            presented
        }
    }

    /// Destroys a swapchain, which shows its pending frames first, and its surface.
    fn destroy(&self, surface: vk::SurfaceKHR, chain: vk::SwapchainKHR) {
        // SAFETY: neither is used afterwards.
        unsafe {
            self.swapchains.destroy_swapchain(chain, None);
            self.application.surfaces.destroy_surface(surface, None);
        }
    }
}

impl Drop for Presenter<'_> {
    fn drop(&mut self) {
        // SAFETY: the device's objects are not used afterwards.
        unsafe {
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
    }
}

#[test]
fn displays_are_offered_where_the_process_can_use_them() {
    let _guard = DISPLAYS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let can_use = Node::open().is_some();
    let entry = entry();
    let names = [ash::khr::display::NAME, ash::khr::get_display_properties2::NAME];
    // SAFETY: the infos are valid.
    unsafe {
        let offered = entry.enumerate_instance_extension_properties(None).unwrap();
        for name in names {
            let is_offered = offered.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name));
            assert_eq!(is_offered, can_use, "{name:?}");
        }
        let names = [ash::khr::surface::NAME, names[0]].map(CStr::as_ptr);
        let create =
            |names| entry.create_instance(&vk::InstanceCreateInfo::default().enabled_extension_names(names), None);
        match create(&names[..]) {
            Ok(instance) => {
                assert!(can_use);
                instance.destroy_instance(None);
            }
            Err(error) => assert_eq!((error, can_use), (vk::Result::ERROR_EXTENSION_NOT_PRESENT, false)),
        }
        let instance = create(&names[..1]).unwrap();
        let command = entry.get_instance_proc_addr(instance.handle(), c"vkCreateDisplayPlaneSurfaceKHR".as_ptr());
        assert!(command.is_none(), "the extension is not enabled");
        instance.destroy_instance(None);
    }
}

#[test]
fn displays_planes_and_modes_are_listed() {
    let Some(_guard) = only_user("displays_planes_and_modes_are_listed") else { return };
    let application = Application::start();
    let (displays, physical) = (&application.displays, application.physical);
    let newer = ash::khr::get_display_properties2::Instance::new(&application.entry, &application.instance);
    // SAFETY: the handles are alive, and the queries have as many structures as the counts say.
    unsafe {
        let found = displays.get_physical_device_display_properties(physical).unwrap();
        assert!(!found.is_empty());
        let mut count = 0;
        let query = newer.fp().get_physical_device_display_properties2_khr;
        query(physical, &raw mut count, std::ptr::null_mut()).result().unwrap();
        assert_eq!(count as usize, found.len());
        for display in &found {
            let name = display.display_name_as_c_str().unwrap();
            let modes = displays.get_display_mode_properties(physical, display.display).unwrap();
            println!("{name:?}: {display:?}, {} modes", modes.len());
            assert!(!name.is_empty());
            assert_eq!(display.supported_transforms, vk::SurfaceTransformFlagsKHR::IDENTITY);
            assert_eq!(modes[0].parameters.visible_region, display.physical_resolution);
            let again = displays.get_display_mode_properties(physical, display.display).unwrap();
            let handles = |modes: &[vk::DisplayModePropertiesKHR]| -> Vec<_> {
                modes.iter().map(|mode| mode.display_mode).collect()
            };
            assert_eq!(handles(&modes), handles(&again));
            // A mode that is listed can be created, others cannot.
            for mode in &modes {
                let mut parameters = mode.parameters;
                let create = |parameters| {
                    let info = vk::DisplayModeCreateInfoKHR::default().parameters(parameters);
                    displays.create_display_mode(physical, display.display, &info, None)
                };
                assert_eq!(create(parameters), Ok(mode.display_mode));
                parameters.refresh_rate += 7;
                assert_eq!(create(parameters), Err(vk::Result::ERROR_INITIALIZATION_FAILED));
            }
        }
        let target = application.target();
        let planes = displays.get_physical_device_display_plane_properties(physical).unwrap();
        let used = planes.iter().filter(|plane| !plane.current_display.is_null());
        assert!(used.into_iter().all(|plane| found.iter().any(|display| display.display == plane.current_display)));
        let mode = target.mode;
        let extent = mode.parameters.visible_region;
        let plane = displays.get_display_plane_capabilities(physical, mode.display_mode, target.plane).unwrap();
        assert_eq!(plane.supported_alpha, vk::DisplayPlaneAlphaFlagsKHR::OPAQUE);
        assert_eq!(
            [plane.min_src_extent, plane.max_src_extent, plane.min_dst_extent, plane.max_dst_extent],
            [extent; 4]
        );

        // Handles that are null, or of another type.
        let wrong = vk::DisplayKHR::from_raw(mode.display_mode.as_raw());
        for display in [vk::DisplayKHR::null(), wrong] {
            let failed = displays.get_display_mode_properties(physical, display);
            assert_eq!(failed.map(drop), Err(vk::Result::ERROR_UNKNOWN));
            assert!(application.last_message().contains("expected a handle of the instance"));
        }
        let beyond = planes.len() as u32;
        let failed = displays.get_display_plane_supported_displays(physical, beyond);
        assert_eq!(failed.map(drop), Err(vk::Result::ERROR_UNKNOWN));
        assert!(application.last_message().contains("does not exist"));
    }
    application.end();
}

#[test]
fn surfaces_have_the_size_of_their_mode() {
    let Some(_guard) = only_user("surfaces_have_the_size_of_their_mode") else { return };
    let application = Application::start();
    let target = application.target();
    let extent = target.mode.parameters.visible_region;
    let small = vk::Extent2D { width: extent.width / 2, ..extent };
    let failures = [
        application.surface(&target, |info| info.image_extent(small)),
        application.surface(&target, |info| info.plane_stack_index(1)),
        application.surface(&target, |info| info.transform(vk::SurfaceTransformFlagsKHR::ROTATE_90)),
        application.surface(&target, |info| info.alpha_mode(vk::DisplayPlaneAlphaFlagsKHR::PER_PIXEL)),
        application.surface(&target, |info| info.plane_index(99)),
        application.surface(&target, |info| info.display_mode(vk::DisplayModeKHR::null())),
    ];
    assert_eq!(failures, [Err(vk::Result::ERROR_UNKNOWN); 6]);
    let messages = std::mem::take(&mut *application.messages.lock().unwrap());
    let expected =
        ["imageExtent is", "planeStackIndex is 1", "transform is", "alphaMode is", "plane 99", "null or foreign"];
    assert_eq!(messages.len(), expected.len(), "{messages:?}");
    assert!(expected.iter().zip(&messages).all(|(part, message)| message.contains(part)), "{messages:?}");
    let surface = application.surface(&target, |info| info).unwrap();
    // SAFETY: the handles are alive, and the surface is not used afterwards.
    unsafe {
        let found =
            application.surfaces.get_physical_device_surface_capabilities(application.physical, surface).unwrap();
        assert_eq!([found.current_extent, found.min_image_extent, found.max_image_extent], [extent; 3]);
        let modes =
            application.surfaces.get_physical_device_surface_present_modes(application.physical, surface).unwrap();
        let latest = vk::PresentModeKHR::from_raw(1_000_361_000);
        assert_eq!(modes, [vk::PresentModeKHR::FIFO, latest]);
        application.surfaces.destroy_surface(surface, None);
    }
    application.end();
}

#[test]
fn frames_are_shown_and_the_display_is_given_back() {
    let Some(_guard) = only_user("frames_are_shown_and_the_display_is_given_back") else { return };
    // The node stays open, but the driver is its master in between.
    let node = Node::open().unwrap();
    let before = node.controller();
    node.release_master_lock().unwrap();
    let application = Application::start();
    let target = application.target();
    let presenter = Presenter::new(&application);
    let surface = application.surface(&target, |info| info).unwrap();
    let chain = presenter.swapchain(surface, &target).unwrap();
    let colors = [([1.0, 0.0, 0.0, 1.0], 0xFF_0000), ([0.0, 1.0, 0.0, 1.0], 0xFF00), ([0.2, 0.4, 0.6, 1.0], 0x33_6699)];
    for (color, pixel) in colors {
        presenter.present(chain, color).unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while node.pixels() != [pixel; 2] {
            assert!(Instant::now() < until, "expected {pixel:06x}, found {:06x?}", node.pixels());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let begin = Instant::now();
    for frame in 0..20 {
        presenter.present(chain, [frame as f32 / 20.0, 0.0, 0.0, 1.0]).unwrap();
    }
    println!("20 frames of a mode with {} mHz in {:?}", target.mode.parameters.refresh_rate, begin.elapsed());
    presenter.destroy(surface, chain);
    drop(presenter);
    application.end();
    node.acquire_master_lock().expect("the driver is no longer the master");
    let state = |info: Option<crtc::Info>| info.map(|info| (info.framebuffer(), info.mode()));
    assert_eq!(state(node.controller()), state(before));
}

#[test]
fn displays_in_use_are_not_taken() {
    let Some(_guard) = only_user("displays_in_use_are_not_taken") else { return };
    let application = Application::start();
    let target = application.target();
    let presenter = Presenter::new(&application);
    let surface = application.surface(&target, |info| info).unwrap();
    let busy = Err(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
    let master = Node::open().unwrap();
    assert_eq!(presenter.swapchain(surface, &target), busy, "another file is the master");
    drop(master);
    let chain = presenter.swapchain(surface, &target).unwrap();
    let second = application.surface(&target, |info| info).unwrap();
    assert_eq!(presenter.swapchain(second, &target), busy, "another surface has the plane");
    presenter.present(chain, [0.0, 0.0, 1.0, 1.0]).unwrap();
    presenter.destroy(surface, chain);
    let chain = presenter.swapchain(second, &target).unwrap();
    presenter.present(chain, [0.0, 0.0, 1.0, 1.0]).unwrap();
    presenter.destroy(second, chain);
    let surface = application.surface(&target, |info| info).unwrap();
    let mut extent = target.mode.parameters.visible_region;
    extent.height += 16;
    let chain = presenter.swapchain_of(surface, extent).unwrap();
    let late = Err(vk::Result::ERROR_OUT_OF_DATE_KHR);
    assert_eq!(presenter.present(chain, [0.0, 0.0, 1.0, 1.0]), late, "images are larger than the display");
    presenter.destroy(surface, chain);
    drop(presenter);
    application.end();
}
