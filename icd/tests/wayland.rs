//! Frames under a Wayland compositor without a refresh: FIFO shows them at once, frames of a hidden
//! surface do not wait without end, a compositor that reads nothing is not lost, and the compositor
//! blends frames with alpha.
//!
//! The test is the application. It needs weston (Debian package weston) and fails without it.

use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use sys::{Handle as _, PresentStageFlagsEXT as Stages};
use vitric_vulkan::{Newer, PresentTimingSurfaceCapabilitiesEXT, Vocabulary, names, sys};
use wayland_client::backend::WaylandError;
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, delegate_noop};
use wayland_protocols::xdg::shell::client::xdg_surface::{self, XdgSurface};
use wayland_protocols::xdg::shell::client::xdg_toplevel::XdgToplevel;
use wayland_protocols::xdg::shell::client::xdg_wm_base::{self, XdgWmBase};

/// Number of compositors that were started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A headless compositor, stopped on drop.
struct Compositor {
    child: Child,
    folder: PathBuf,
}

impl Compositor {
    fn start() -> Self {
        let folder = std::env::temp_dir().join(format!(
            "vitric-headless-{}-{}",
            std::process::id(),
            STARTED.fetch_add(1, Ordering::Relaxed)
        ));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).expect("a folder for the socket");
        let child = Command::new("weston")
            .args(["--backend=headless-backend.so", "--no-config", "--use-pixman", "--idle-time=0", "--socket=test"])
            // Allows screenshots.
            .arg("--debug")
            .env("XDG_RUNTIME_DIR", &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("weston starts");
        Self { child, folder }
    }

    fn connect(&self) -> Connection {
        let begin = Instant::now();
        loop {
            match UnixStream::connect(self.folder.join("test")) {
                Ok(stream) => return Connection::from_socket(stream).expect("libwayland-client is there"),
                Err(error) => assert!(begin.elapsed() < Duration::from_secs(60), "weston does not listen: {error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Compositor {
    /// Sends a signal to the compositor.
    fn signal(&self, signal: libc::c_int) {
        let process = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: the process is a child that was not waited for, so the number is its own.
        assert_eq!(unsafe { libc::kill(process, signal) }, 0);
    }

    /// Returns red, green and blue of all pixels on the display.
    fn screenshot(&self) -> Vec<[u8; 3]> {
        let status = Command::new("weston-screenshooter")
            .current_dir(&self.folder)
            .env("XDG_RUNTIME_DIR", &self.folder)
            .env("WAYLAND_DISPLAY", "test")
            .stdout(Stdio::null())
            .status()
            .expect("weston-screenshooter starts");
        assert!(status.success(), "{status}");
        let is_picture = |path: &Path| path.extension().is_some_and(|extension| extension == "png");
        let files = std::fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
        let file = files.into_iter().find(|path| is_picture(path)).expect("a screenshot");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        data.chunks_exact(info.color_type.samples()).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// State that the compositor has reported.
#[derive(Default)]
struct Listener {
    is_configured: bool,
}

delegate_noop!(Listener: WlCompositor);
delegate_noop!(Listener: ignore WlSurface);
delegate_noop!(Listener: ignore XdgToplevel);

impl Dispatch<WlRegistry, GlobalListContents> for Listener {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<XdgWmBase, ()> for Listener {
    fn event(
        _: &mut Self,
        base: &XdgWmBase,
        event: xdg_wm_base::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            base.pong(serial);
        }
    }
}

impl Dispatch<XdgSurface, ()> for Listener {
    fn event(
        listener: &mut Self,
        surface: &XdgSurface,
        event: xdg_surface::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            listener.is_configured = true;
        }
    }
}

/// A surface, with or without a role that makes it visible.
struct Window {
    connection: Connection,
    surface: WlSurface,
    // The queue must live as long as the surface.
    _queue: EventQueue<Listener>,
}

impl Window {
    fn new(compositor: &Compositor, is_shown: bool) -> Self {
        let connection = compositor.connect();
        let (globals, mut queue) = registry_queue_init::<Listener>(&connection).unwrap();
        let (handle, mut listener) = (queue.handle(), Listener::default());
        let compositor: WlCompositor = globals.bind(&handle, 1..=4, ()).unwrap();
        let surface = compositor.create_surface(&handle, ());
        if is_shown {
            let base: XdgWmBase = globals.bind(&handle, 1..=1, ()).unwrap();
            let window = base.get_xdg_surface(&surface, &handle, ());
            window.get_toplevel(&handle, ());
            surface.commit();
            while !listener.is_configured {
                queue.blocking_dispatch(&mut listener).unwrap();
            }
        }
        connection.flush().unwrap();
        Self { connection, surface, _queue: queue }
    }

    /// Sends requests until the compositor has no room for more.
    fn fill(&self) {
        loop {
            self.surface.damage(0, 0, 1, 1);
            match self.connection.flush() {
                Ok(()) => {}
                Err(WaylandError::Io(error)) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Presents frames in FIFO mode, and returns the elapsed time.
    fn show(&self, count: u32) -> Duration {
        // SAFETY: all objects are alive.
        self.run(|application| unsafe { present(application, count) })
    }

    /// Calls a function with a device and a surface of the window.
    fn run<R>(&self, test: impl FnOnce(&Application) -> R) -> R {
        let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
        // SAFETY: the function belongs to the driver, all infos are valid, and all objects are
        // alive.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let names =
                [ash::khr::surface::NAME, ash::khr::wayland_surface::NAME, ash::khr::get_surface_capabilities2::NAME];
            let names = names.map(|name| name.as_ptr());
            let instance =
                entry.create_instance(&vk::InstanceCreateInfo::default().enabled_extension_names(&names), None);
            let instance = instance.unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let names = [
                ash::khr::swapchain::NAME,
                names::KHR_PRESENT_ID2_NAME,
                vk::KHR_CALIBRATED_TIMESTAMPS_NAME,
                names::EXT_PRESENT_TIMING_NAME,
            ];
            let names = names.map(|name| name.as_ptr());
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let device = instance.create_device(physical, &info, None).unwrap();
            let info = vk::WaylandSurfaceCreateInfoKHR::default()
                .display(self.connection.backend().display_ptr().cast())
                .surface(self.surface.id().as_ptr().cast());
            let windows = ash::khr::wayland_surface::Instance::new(&entry, &instance);
            let surface = windows.create_wayland_surface(&info, None).unwrap();
            let application = Application { entry, instance, physical, device, surface };
            let result = test(&application);
            let Application { entry, instance, device, surface, .. } = application;
            device.destroy_device(None);
            ash::khr::surface::Instance::new(&entry, &instance).destroy_surface(surface, None);
            instance.destroy_instance(None);
            result
        }
    }
}

/// A device with a Wayland surface.
struct Application {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    surface: vk::SurfaceKHR,
}

fn swapchain_info(surface: vk::SurfaceKHR) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR::default()
        .surface(surface)
        .min_image_count(3)
        .image_format(vk::Format::B8G8R8A8_UNORM)
        .image_extent(vk::Extent2D { width: 48, height: 32 })
        .image_array_layers(1)
        .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
        .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
        .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
        .present_mode(vk::PresentModeKHR::FIFO)
}

/// # Safety
/// All objects must be alive.
unsafe fn present(application: &Application, count: u32) -> Duration {
    let device = &application.device;
    let swapchains = ash::khr::swapchain::Device::new(&application.instance, device);
    // SAFETY: the infos are valid. The fence is waited for before it is used again, and the queue
    // is idle before its swapchain is destroyed.
    unsafe {
        let chain = swapchains.create_swapchain(&swapchain_info(application.surface), None).unwrap();
        let (queue, begin) = (device.get_device_queue(0, 0), Instant::now());
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        for _ in 0..count {
            let (image, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
            let (chains, images) = ([chain], [image]);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
            swapchains.queue_present(queue, &info).unwrap();
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
    }
}

/// Presents a frame of one colour, and calls `check` until it returns true.
///
/// # Safety
/// All objects must be alive.
unsafe fn show_color(
    application: &Application,
    alpha: vk::CompositeAlphaFlagsKHR,
    color: [f32; 4],
    mut check: impl FnMut() -> bool,
) {
    let Application { entry, instance, physical, device, surface } = application;
    let surfaces = ash::khr::surface::Instance::new(entry, instance);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    // SAFETY: the infos are valid, the fence is waited for, and the queue is idle at the end.
    unsafe {
        let capabilities = surfaces.get_physical_device_surface_capabilities(*physical, *surface).unwrap();
        assert!(capabilities.supported_composite_alpha.contains(alpha), "{alpha:?}");
        let info = swapchain_info(*surface).composite_alpha(alpha).image_usage(vk::ImageUsageFlags::TRANSFER_DST);
        let chain = swapchains.create_swapchain(&info, None).unwrap();
        let (queue, fence) = (device.get_device_queue(0, 0), device.create_fence(&Default::default(), None).unwrap());
        let (image, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        let pool = device.create_command_pool(&Default::default(), None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).unwrap();
        device.begin_command_buffer(commands[0], &Default::default()).unwrap();
        let target = swapchains.get_swapchain_images(chain).unwrap()[image as usize];
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        let barrier = |old, new| {
            let barrier = vk::ImageMemoryBarrier::default().old_layout(old).new_layout(new).image(target);
            let barriers = [barrier.subresource_range(range)];
            let (all, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
            device.cmd_pipeline_barrier(commands[0], all, all, none, &[], &[], &barriers);
        };
        let (layout, color) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::ClearColorValue { float32: color });
        barrier(vk::ImageLayout::UNDEFINED, layout);
        device.cmd_clear_color_image(commands[0], target, layout, &color, &[range]);
        barrier(layout, vk::ImageLayout::PRESENT_SRC_KHR);
        device.end_command_buffer(commands[0]).unwrap();
        device.queue_submit(queue, &[vk::SubmitInfo::default().command_buffers(&commands)], vk::Fence::null()).unwrap();
        let (chains, images) = ([chain], [image]);
        let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
        swapchains.queue_present(queue, &info).unwrap();
        device.queue_wait_idle(queue).unwrap();
        let begin = Instant::now();
        while !check() {
            assert!(begin.elapsed() < Duration::from_secs(30), "{alpha:?}: the display does not show the frame");
        }
        device.destroy_command_pool(pool, None);
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(chain, None);
    }
}

#[test]
fn frames_with_multiplied_alpha_are_blended() {
    let compositor = Compositor::start();
    let window = Window::new(&compositor, true);
    let count = |expected: fn(u8) -> bool| {
        let pixels = compositor.screenshot();
        pixels.iter().filter(|&&[red, green, blue]| (red, blue) == (255, 255) && expected(green)).count()
    };
    // The frame adds red and blue to the background, which is not black.
    let color = [1.0, 0.0, 1.0, 0.0];
    // SAFETY: all objects are alive.
    window.run(|application| unsafe {
        show_color(application, vk::CompositeAlphaFlagsKHR::OPAQUE, color, || count(|green| green == 0) == 48 * 32);
        show_color(application, vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED, color, || {
            count(|green| green > 0) >= 48 * 32
        });
    });
}

#[test]
fn frames_do_not_wait_for_a_refresh_that_there_is_not() {
    let compositor = Compositor::start();
    let elapsed = Window::new(&compositor, true).show(600);
    assert!(elapsed < Duration::from_secs(8), "{elapsed:?} for 600 frames, which take 10 s at 60 Hz");
    // The compositor takes no frames of a hidden surface. The presentation still ends.
    let elapsed = Window::new(&compositor, false).show(4);
    assert!(elapsed < Duration::from_secs(30), "{elapsed:?} for 4 frames that nobody takes");
}

#[test]
fn a_compositor_without_room_for_requests_is_not_lost() {
    let compositor = Compositor::start();
    let window = Window::new(&compositor, true);
    // SAFETY: all objects are alive.
    window.run(|application| unsafe {
        compositor.signal(libc::SIGSTOP);
        window.fill();
        present(application, 2);
        compositor.signal(libc::SIGCONT);
        present(application, 2);
    });
}

/// Presents a frame with all stages of the surface, and returns the times of the last two: when
/// the compositor received the frame and when it was visible.
///
/// # Safety
/// All objects must be alive.
unsafe fn stages_of_a_frame(application: &Application) -> [u64; 2] {
    let Application { entry, instance, physical, device, surface } = application;
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let capabilities = ash::khr::get_surface_capabilities2::Instance::new(entry, instance);
    let flags = sys::SwapchainCreateFlagsKHR::PRESENT_TIMING_EXT.bits();
    let info = swapchain_info(*surface).flags(vk::SwapchainCreateFlagsKHR::from_raw(flags));
    // SAFETY: the infos are valid, the functions have these types, and the fence is waited for.
    unsafe {
        let mut timing = PresentTimingSurfaceCapabilitiesEXT::default();
        let mut all = vk::SurfaceCapabilities2KHR { p_next: (&raw mut timing).cast(), ..Default::default() };
        let surface_info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(*surface);
        capabilities.get_physical_device_surface_capabilities2(*physical, &surface_info, &mut all).unwrap();
        assert_eq!(timing.present_stage_queries, Stages::all(), "weston has a monotonic clock");
        let find =
            |name: &std::ffi::CStr| (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()).unwrap();
        type Resize = <sys::PFN_vkSetSwapchainPresentTimingQueueSizeEXT as Vocabulary>::Own;
        type Past = <sys::PFN_vkGetPastPresentationTimingEXT as Vocabulary>::Own;
        let resize: Resize = std::mem::transmute(find(c"vkSetSwapchainPresentTimingQueueSizeEXT"));
        let past: Past = std::mem::transmute(find(c"vkGetPastPresentationTimingEXT"));
        let chain = swapchains.create_swapchain(&info, None).unwrap();
        resize(device.handle(), chain, 1).result().unwrap();
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let (image, _) = swapchains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        let request = [sys::PresentTimingInfoEXT {
            present_stage_queries: Stages::all(),
            time_domain_id: vk::TimeDomainKHR::CLOCK_MONOTONIC.as_raw() as u64,
            ..Default::default()
        }];
        let request =
            sys::PresentTimingsInfoEXT { swapchain_count: 1, timing_infos: request.as_ptr(), ..Default::default() };
        let (chains, images) = ([chain], [image]);
        let mut info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&images);
        info.p_next = (&raw const request).cast();
        swapchains.queue_present(device.get_device_queue(0, 0), &info).unwrap();
        let (begin, mut stages) = (Instant::now(), [sys::PresentStageTimeEXT::default(); 4]);
        let found = loop {
            let mut timing = sys::PastPresentationTimingEXT {
                present_stage_count: 4,
                present_stages: stages.as_mut_ptr(),
                ..Default::default()
            };
            let mut all = Newer(sys::PastPresentationTimingPropertiesEXT {
                presentation_timing_count: 1,
                presentation_timings: &raw mut timing,
                ..Default::default()
            });
            let swapchain = sys::SwapchainKHR::from_raw(vk::Handle::as_raw(chain));
            let info = Newer(sys::PastPresentationTimingInfoEXT { swapchain, ..Default::default() });
            past(device.handle(), &raw const info, &raw mut all).result().unwrap();
            if all.presentation_timing_count == 1 {
                break timing;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "the frame has no timing");
            std::thread::sleep(Duration::from_millis(1));
        };
        assert_eq!((found.present_stage_count, found.report_complete), (4, vk::TRUE));
        device.device_wait_idle().unwrap();
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(chain, None);
        [stages[2].time, stages[3].time]
    }
}

#[test]
fn the_compositor_tells_when_a_frame_is_visible() {
    let compositor = Compositor::start();
    // SAFETY: all objects are alive.
    let stages =
        |is_shown| Window::new(&compositor, is_shown).run(|application| unsafe { stages_of_a_frame(application) });
    let [given, visible] = stages(true);
    assert!(0 < given && visible.abs_diff(given) < 10_000_000_000, "given at {given}, visible at {visible}");
    // A hidden frame has no time.
    let [given, visible] = stages(false);
    assert!(0 < given && visible == 0, "given at {given}, visible at {visible}");
}
