//! Windows that change or disappear: a resized one, a destroyed one, a killed X server; and frames
//! with and without shared memory.
//!
//! The test is the application: it creates windows on its connection and presents cleared images.
//! It needs Xvfb (Debian package xvfb) and fails without it.

use std::ffi::{c_char, c_int};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use ash::vk;
use libloading::{Library, Symbol};
use vitric_vulkan::{SwapchainTimingPropertiesEXT, Vocabulary, names, sys};
use x11rb::connection::Connection;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    ColormapAlloc, ConfigureWindowAux, ConnectionExt, CreateWindowAux, ImageFormat, WindowClass,
};
use x11rb::xcb_ffi::XCBConnection;

/// An X server for one test, stopped on drop.
struct Server {
    child: Child,
    display: String,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new("Xvfb")
            // Without a reset after its last client, the server keeps a client's screen mode for
            // later clients.
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts");
        let mut number = String::new();
        let output = child.stdout.as_mut().expect("Xvfb's output is piped");
        BufReader::new(output).read_line(&mut number).expect("Xvfb says its display's number");
        Self { child, display: format!(":{}", number.trim()) }
    }

    /// Sets a screen mode with a refresh rate in Hz. Xvfb's default mode has none.
    fn set_refresh(&self, hertz: u32) {
        let display = std::ffi::CString::new(self.display.clone()).unwrap();
        let (connection, screen) = XCBConnection::connect(Some(&display)).expect("the X server can be reached");
        let root = connection.setup().roots[screen].root;
        let (width, height, name) = (640, 480, b"test");
        let mode = randr::ModeInfo {
            width,
            height,
            htotal: width,
            vtotal: height,
            dot_clock: u32::from(width) * u32::from(height) * hertz,
            name_len: name.len() as u16,
            ..Default::default()
        };
        let mode = connection.randr_create_mode(root, mode, name).unwrap().reply().unwrap().mode;
        let screen = connection.randr_get_screen_resources_current(root).unwrap().reply().unwrap();
        let (crtc, outputs) = (screen.crtcs[0], [screen.outputs[0]]);
        connection.randr_add_output_mode(outputs[0], mode).unwrap().check().unwrap();
        let (times, rotation) = ([screen.timestamp, screen.config_timestamp], randr::Rotation::ROTATE0);
        let set = connection.randr_set_crtc_config(crtc, times[0], times[1], 0, 0, mode, rotation, &outputs);
        assert_eq!(set.unwrap().reply().unwrap().status, randr::SetConfig::SUCCESS);
    }

    fn kill(&mut self) {
        self.child.kill().expect("the server can be killed");
        self.child.wait().expect("the server ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An Xlib display.
struct Xlib {
    library: Library,
    display: *mut vk::Display,
}

impl Xlib {
    fn open(server: &Server) -> Self {
        let name = std::ffi::CString::new(server.display.clone()).unwrap();
        // SAFETY: the symbol is a function of this type.
        unsafe {
            let library = Library::new("libX11.so.6").expect("Xlib is there, which Xvfb needs as well");
            let open: Symbol<'_, unsafe extern "C" fn(*const c_char) -> *mut vk::Display> =
                library.get(b"XOpenDisplay\0").unwrap();
            let display = open(name.as_ptr());
            assert!(!display.is_null(), "the X server can be reached");
            Self { library, display }
        }
    }
}

impl Drop for Xlib {
    fn drop(&mut self) {
        // SAFETY: the symbol is a function of this type, and the display is not used afterwards.
        unsafe {
            let close: Symbol<'_, unsafe extern "C" fn(*mut vk::Display) -> c_int> =
                self.library.get(b"XCloseDisplay\0").unwrap();
            close(self.display);
        }
    }
}

/// A program with a window.
struct Application {
    /// Xlib display of the surface; `None` if the surface uses xcb.
    xlib: Option<Xlib>,
    connection: XCBConnection,
    window: u32,
    visual: u32,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    surface: vk::SurfaceKHR,
    surfaces: ash::khr::surface::Instance,
    windows: ash::khr::xcb_surface::Instance,
    xlib_windows: ash::khr::xlib_surface::Instance,
    swapchains: ash::khr::swapchain::Device,
}

const SIZE: (u16, u16) = (96, 64);

impl Application {
    fn start(server: &Server) -> Self {
        Self::start_with(server, None)
    }

    fn start_with(server: &Server, xlib: Option<Xlib>) -> Self {
        Self::start_of(server, xlib, 0)
    }

    /// Starts with a window of `depth` bits; 0 selects the screen's depth.
    fn start_of(server: &Server, xlib: Option<Xlib>, depth: u8) -> Self {
        let display = std::ffi::CString::new(server.display.clone()).unwrap();
        let (connection, screen) = XCBConnection::connect(Some(&display)).expect("the X server can be reached");
        let root = &connection.setup().roots[screen];
        let of_depth = root.allowed_depths.iter().find(|of| of.depth == depth).and_then(|of| of.visuals.first());
        let visual = of_depth.map_or(root.root_visual, |of| of.visual_id);
        let [window, colors] = [0, 1].map(|_| connection.generate_id().unwrap());
        connection.create_colormap(ColormapAlloc::NONE, colors, root.root, visual).unwrap().check().unwrap();
        let class = WindowClass::INPUT_OUTPUT;
        let aux = CreateWindowAux::new().colormap(colors).border_pixel(0).background_pixel(0);
        let made = connection.create_window(depth, window, root.root, 0, 0, SIZE.0, SIZE.1, 0, class, visual, &aux);
        made.unwrap().check().unwrap();
        connection.map_window(window).unwrap().check().unwrap();
        let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
        // SAFETY: the function belongs to the driver, all infos are valid, and the connection
        // outlives the surface.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let names = [
                ash::khr::surface::NAME,
                ash::khr::xcb_surface::NAME,
                ash::khr::xlib_surface::NAME,
                ash::khr::get_surface_capabilities2::NAME,
                ash::ext::surface_maintenance1::NAME,
            ];
            let names = names.map(|name| name.as_ptr());
            let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let names =
                [ash::khr::swapchain::NAME, ash::ext::swapchain_maintenance1::NAME, names::EXT_PRESENT_TIMING_NAME];
            let names = names.map(|name| name.as_ptr());
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            let device = instance.create_device(physical, &info, None).unwrap();
            let queue = device.get_device_queue(0, 0);
            let windows = ash::khr::xcb_surface::Instance::new(&entry, &instance);
            let xlib_windows = ash::khr::xlib_surface::Instance::new(&entry, &instance);
            let raw = connection.get_raw_xcb_connection();
            let info = vk::XcbSurfaceCreateInfoKHR::default().connection(raw.cast()).window(window);
            let surface = match &xlib {
                None => windows.create_xcb_surface(&info, None).unwrap(),
                Some(xlib) => {
                    let info = vk::XlibSurfaceCreateInfoKHR::default().dpy(xlib.display).window(window.into());
                    xlib_windows.create_xlib_surface(&info, None).unwrap()
                }
            };
            let surfaces = ash::khr::surface::Instance::new(&entry, &instance);
            let swapchains = ash::khr::swapchain::Device::new(&instance, &device);
            Self {
                xlib,
                connection,
                window,
                visual,
                instance,
                physical,
                device,
                queue,
                surface,
                surfaces,
                windows,
                xlib_windows,
                swapchains,
            }
        }
    }

    fn capabilities(&self) -> Result<vk::SurfaceCapabilitiesKHR, vk::Result> {
        // SAFETY: the physical device and the surface are live.
        unsafe { self.surfaces.get_physical_device_surface_capabilities(self.physical, self.surface) }
    }

    fn swapchain(&self, old: vk::SwapchainKHR) -> Result<vk::SwapchainKHR, vk::Result> {
        self.swapchain_of(|info| info.old_swapchain(old))
    }

    /// Creates a swapchain whose create info `describe` modifies.
    fn swapchain_of(
        &self,
        describe: impl FnOnce(vk::SwapchainCreateInfoKHR<'static>) -> vk::SwapchainCreateInfoKHR<'static>,
    ) -> Result<vk::SwapchainKHR, vk::Result> {
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(self.surface)
            .min_image_count(2)
            .image_format(vk::Format::B8G8R8A8_UNORM)
            .image_extent(self.capabilities()?.current_extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::IMMEDIATE)
            .clipped(true);
        // SAFETY: the info is valid.
        unsafe { self.swapchains.create_swapchain(&describe(info), None) }
    }

    /// Shows one frame of a colour and waits for it. Returns the error of acquiring or presenting.
    fn show(&self, swapchain: vk::SwapchainKHR, color: [f32; 4]) -> Result<(), vk::Result> {
        // SAFETY: the frame is shown before the fence and the pool are destroyed.
        unsafe {
            let shown = self.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let sent = self.send(swapchain, color, shown);
            if let Ok((pool, _)) = sent {
                self.device.wait_for_fences(&[shown], true, u64::MAX)?;
                self.device.destroy_command_pool(pool, None);
            }
            self.device.destroy_fence(shown, None);
            sent?.1
        }
    }

    /// Renders and presents a frame of a colour. Returns its command pool and the result of
    /// presenting. The fence, or a null handle, is signaled when the frame is shown.
    fn send(
        &self,
        swapchain: vk::SwapchainKHR,
        color: [f32; 4],
        shown: vk::Fence,
    ) -> Result<(vk::CommandPool, Result<(), vk::Result>), vk::Result> {
        let device = &self.device;
        // SAFETY: valid usage throughout.
        unsafe {
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let (image, _) =
                self.swapchains.acquire_next_image(swapchain, 5_000_000_000, vk::Semaphore::null(), fence)?;
            device.wait_for_fences(&[fence], true, u64::MAX)?;
            device.destroy_fence(fence, None);
            let target = self.swapchains.get_swapchain_images(swapchain)?[image as usize];
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            let range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            let barrier = vk::ImageMemoryBarrier::default().image(target).subresource_range(range);
            let stage = vk::PipelineStageFlags::ALL_COMMANDS;
            let to = barrier.new_layout(layout);
            device.cmd_pipeline_barrier(commands[0], stage, stage, Default::default(), &[], &[], &[to]);
            let value = vk::ClearColorValue { float32: color };
            device.cmd_clear_color_image(commands[0], target, layout, &value, &[range]);
            let back = barrier.old_layout(layout).new_layout(vk::ImageLayout::PRESENT_SRC_KHR);
            device.cmd_pipeline_barrier(commands[0], stage, stage, Default::default(), &[], &[], &[back]);
            device.end_command_buffer(commands[0])?;
            device.queue_submit(
                self.queue,
                &[vk::SubmitInfo::default().command_buffers(&commands)],
                vk::Fence::null(),
            )?;
            let (chains, indices) = ([swapchain], [image]);
            let mut shown = vk::SwapchainPresentFenceInfoEXT::default().fences(std::slice::from_ref(&shown));
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&indices).push_next(&mut shown);
            Ok((pool, self.swapchains.queue_present(self.queue, &info).map(drop)))
        }
    }

    /// Shows frames until an error occurs, and returns it. Panics if no error occurs.
    fn show_until_error(&self, swapchain: vk::SwapchainKHR) -> vk::Result {
        let shown = (0..10).map(|_| self.show(swapchain, [0.0; 4]));
        shown.filter_map(Result::err).next().expect("the window's end is noticed")
    }

    /// Returns the pixels of the window in the byte order blue, green, red, unused.
    fn pixels(&self) -> Vec<u8> {
        let (width, height) = SIZE;
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, self.window, 0, 0, width, height, u32::MAX);
        image.unwrap().reply().unwrap().data
    }

    fn close(self) {
        // SAFETY: the objects are not used afterwards, and the connection is closed last.
        unsafe {
            self.device.destroy_device(None);
            self.surfaces.destroy_surface(self.surface, None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Checks that frames arrive in the window, and that the application's events contain no error.
fn frames_arrive(args: &[&str], uses_xlib: bool) {
    let server = Server::start(args);
    let application = Application::start_with(&server, uses_xlib.then(|| Xlib::open(&server)));
    let swapchain = application.swapchain(vk::SwapchainKHR::null()).unwrap();
    for turn in 0..4 {
        let color = [f32::from(turn as u8) / 255.0, 1.0, 0.0, 1.0];
        application.show(swapchain, color).unwrap();
        let expected = [0, 255, turn as u8];
        assert!(application.pixels().chunks_exact(4).all(|pixel| pixel[..3] == expected), "frame {turn}");
    }
    while let Some(event) = application.connection.poll_for_event().unwrap() {
        assert!(!matches!(event, x11rb::protocol::Event::Error(_)), "{event:?}");
    }
    // SAFETY: the queue is idle.
    unsafe { application.swapchains.destroy_swapchain(swapchain, None) };
    application.close();
}

#[test]
fn frames_arrive_through_shared_memory() {
    frames_arrive(&[], false);
}

#[test]
fn frames_of_xlib_programs_arrive() {
    frames_arrive(&[], true);
}

#[test]
fn frames_arrive_in_requests() {
    frames_arrive(&["-extension", "MIT-SHM"], false);
}

#[test]
fn a_killed_server_loses_the_surface_but_not_the_process() {
    let mut server = Server::start(&[]);
    let application = Application::start(&server);
    let swapchain = application.swapchain(vk::SwapchainKHR::null()).unwrap();
    application.show(swapchain, [1.0; 4]).unwrap();
    server.kill();
    assert_eq!(application.show_until_error(swapchain), vk::Result::ERROR_SURFACE_LOST_KHR);
    assert_eq!(application.capabilities().unwrap_err(), vk::Result::ERROR_SURFACE_LOST_KHR);
    assert!(application.swapchain(swapchain).is_err());
    // SAFETY: an empty submission is valid, and the device is live.
    unsafe { application.device.queue_submit(application.queue, &[], vk::Fence::null()).unwrap() };
    application.close();
}

#[test]
fn a_destroyed_window_loses_the_surface() {
    let server = Server::start(&[]);
    let application = Application::start(&server);
    let swapchain = application.swapchain(vk::SwapchainKHR::null()).unwrap();
    application.show(swapchain, [1.0; 4]).unwrap();
    application.connection.destroy_window(application.window).unwrap().check().unwrap();
    assert_eq!(application.show_until_error(swapchain), vk::Result::ERROR_SURFACE_LOST_KHR);
    application.close();
}

#[test]
fn a_resized_window_needs_a_new_swapchain() {
    let server = Server::start(&[]);
    let application = Application::start(&server);
    let old = application.swapchain(vk::SwapchainKHR::null()).unwrap();
    application.show(old, [1.0; 4]).unwrap();
    let larger = ConfigureWindowAux::new().width(200).height(150);
    application.connection.configure_window(application.window, &larger).unwrap().check().unwrap();
    assert_eq!(application.show_until_error(old), vk::Result::ERROR_OUT_OF_DATE_KHR);
    let extent = application.capabilities().unwrap().current_extent;
    assert_eq!((extent.width, extent.height), (200, 150));
    let new = application.swapchain(old).unwrap();
    application.show(new, [1.0; 4]).unwrap();
    assert_eq!(
        application.show(old, [1.0; 4]).unwrap_err(),
        vk::Result::ERROR_OUT_OF_DATE_KHR,
        "the old one is retired"
    );
    application.close();
}

/// A swapchain is destroyed while frames wait for their periods. The driver must not use the
/// connection afterwards, because the application may close it.
#[test]
fn a_destroyed_swapchain_leaves_the_connection_alone() {
    let server = Server::start(&[]);
    server.set_refresh(60);
    let application = Application::start(&server);
    let fifo = |info: vk::SwapchainCreateInfoKHR<'static>| {
        info.min_image_count(8).present_mode(vk::PresentModeKHR::FIFO).image_usage(vk::ImageUsageFlags::TRANSFER_DST)
    };
    let swapchain = application.swapchain_of(fifo).unwrap();
    let (device, swapchains) = (&application.device, &application.swapchains);
    // SAFETY: all objects are alive. All submissions are complete, and only presentation is
    // pending.
    unsafe {
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        for _ in 0..8 {
            let (image, _) = swapchains.acquire_next_image(swapchain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            device.reset_fences(&[fence]).unwrap();
            let (chains, indices) = ([swapchain], [image]);
            let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&indices);
            swapchains.queue_present(application.queue, &info).unwrap();
        }
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(swapchain, None);
        application.surfaces.destroy_surface(application.surface, None);
    }
    // Requests of all senders on the connection are numbered.
    let number = || application.connection.get_input_focus().unwrap().sequence_number();
    let first = number();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(number(), first + 1, "requests since the surface was destroyed");
    // SAFETY: the objects are not used afterwards.
    unsafe {
        device.destroy_device(None);
        assert_eq!(number(), first + 2, "requests of the device's end");
        application.instance.destroy_instance(None);
    }
}

/// FIFO frames follow the display's refresh, also after a change, and do not wait on a display
/// without one.
#[test]
fn fifo_follows_the_refresh_of_the_display() {
    let server = Server::start(&[]);
    let application = Application::start(&server);
    let show = |count: u16| {
        let swapchain = application.swapchain_of(|info| info.present_mode(vk::PresentModeKHR::FIFO)).unwrap();
        let begin = std::time::Instant::now();
        for frame in 0..count {
            application.show(swapchain, [f32::from(frame) / 255.0, 0.0, 1.0, 1.0]).unwrap();
        }
        let elapsed = begin.elapsed().as_millis();
        let last = application.pixels()[2];
        assert_eq!(u16::from(last), count - 1, "the last frame is seen");
        // SAFETY: the queue is idle.
        unsafe { application.swapchains.destroy_swapchain(swapchain, None) };
        elapsed
    };
    let without = show(250);
    assert!(without < 4_000, "{without} ms for 250 frames, which take 4.2 s at 60 Hz");
    server.set_refresh(20);
    // The driver queries the server again after one second.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let with = show(11);
    assert!(with >= 495, "{with} ms for 11 frames at 20 Hz");
    application.close();
}

/// The refresh of the display is known to the application. A frame that waits for its target time
/// notices that its window is gone.
#[test]
fn timing_follows_the_window() {
    let server = Server::start(&[]);
    server.set_refresh(20);
    let application = Application::start(&server);
    let (device, swapchains) = (&application.device, &application.swapchains);
    let flags = sys::SwapchainCreateFlagsKHR::PRESENT_TIMING_EXT.bits();
    let timed = |info: vk::SwapchainCreateInfoKHR<'static>| {
        info.flags(vk::SwapchainCreateFlagsKHR::from_raw(flags)).present_mode(vk::PresentModeKHR::FIFO)
    };
    let swapchain = application.swapchain_of(timed).unwrap();
    application.show(swapchain, [1.0; 4]).unwrap();
    // SAFETY: all objects are alive, the function has this type, and the fence is waited for.
    unsafe {
        let name = c"vkGetSwapchainTimingPropertiesEXT".as_ptr();
        let get = (application.instance.fp_v1_0().get_device_proc_addr)(device.handle(), name).unwrap();
        type Get = <sys::PFN_vkGetSwapchainTimingPropertiesEXT as Vocabulary>::Own;
        let get: Get = std::mem::transmute::<unsafe extern "system" fn(), Get>(get);
        let (mut properties, mut counter) = (SwapchainTimingPropertiesEXT::default(), 0);
        let code = get(device.handle(), swapchain, &raw mut properties, &raw mut counter);
        let known = (properties.refresh_duration, properties.refresh_interval);
        assert_eq!((code, known, counter), (vk::Result::SUCCESS, (50_000_000, 50_000_000), 1));
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let (image, _) = swapchains.acquire_next_image(swapchain, u64::MAX, vk::Semaphore::null(), fence).unwrap();
        device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        device.destroy_fence(fence, None);
        let time_domain_id = vk::TimeDomainKHR::CLOCK_MONOTONIC.as_raw() as u64;
        let never = [sys::PresentTimingInfoEXT { target_time: u64::MAX, time_domain_id, ..Default::default() }];
        let timings =
            sys::PresentTimingsInfoEXT { swapchain_count: 1, timing_infos: never.as_ptr(), ..Default::default() };
        let (chains, indices) = ([swapchain], [image]);
        let mut info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&indices);
        info.p_next = (&raw const timings).cast();
        swapchains.queue_present(application.queue, &info).unwrap();
        device.queue_wait_idle(application.queue).unwrap();
        application.connection.destroy_window(application.window).unwrap().check().unwrap();
        let code = get(device.handle(), swapchain, &raw mut properties, &raw mut counter);
        assert_eq!(code, vk::Result::ERROR_SURFACE_LOST_KHR);
    }
    application.close();
}

/// A swapchain is destroyed, retired or not, with seven pending FIFO frames, which take 0.1 s. The
/// last frame is shown.
#[test]
fn the_last_frame_before_the_end_is_shown() {
    let server = Server::start(&[]);
    server.set_refresh(60);
    let application = Application::start(&server);
    let (device, swapchains) = (&application.device, &application.swapchains);
    for retires in [false, true] {
        let fifo =
            |info: vk::SwapchainCreateInfoKHR<'static>| info.min_image_count(8).present_mode(vk::PresentModeKHR::FIFO);
        let swapchain = application.swapchain_of(fifo).unwrap();
        let mut pools = Vec::new();
        for frame in 0..7u8 {
            let color = [f32::from(frame) / 255.0, f32::from(u8::from(retires)), 1.0, 1.0];
            let (pool, presented) = application.send(swapchain, color, vk::Fence::null()).unwrap();
            presented.unwrap();
            pools.push(pool);
        }
        let next = retires.then(|| application.swapchain(swapchain).unwrap());
        // SAFETY: rendering is complete, and only presentation is pending. The queue is idle
        // before its pools are destroyed.
        unsafe {
            swapchains.destroy_swapchain(swapchain, None);
            let pixels = application.pixels();
            let expected = [255, if retires { 255 } else { 0 }, 6];
            let whole = pixels.chunks_exact(4).all(|pixel| pixel[..3] == expected);
            assert!(whole, "retired: {retires}; {:?}", &pixels[..4]);
            device.queue_wait_idle(application.queue).unwrap();
            pools.into_iter().for_each(|pool| device.destroy_command_pool(pool, None));
            next.into_iter().for_each(|next| swapchains.destroy_swapchain(next, None));
        }
    }
    application.close();
}

/// A program that does not destroy its swapchain, and closes its connection after it destroys the
/// surface.
#[test]
fn a_destroyed_surface_closes_the_swapchain_that_was_forgotten() {
    let server = Server::start(&[]);
    let application = Application::start(&server);
    let swapchain = application.swapchain(vk::SwapchainKHR::null()).unwrap();
    application.show(swapchain, [1.0; 4]).unwrap();
    // SAFETY: the queue is idle. Acquiring from a swapchain without a surface is an error that the
    // driver detects.
    unsafe {
        application.surfaces.destroy_surface(application.surface, None);
        let acquired =
            application.swapchains.acquire_next_image(swapchain, 0, vk::Semaphore::null(), vk::Fence::null());
        assert_eq!(acquired.unwrap_err(), vk::Result::ERROR_SURFACE_LOST_KHR);
        let number = || application.connection.get_input_focus().unwrap().sequence_number();
        let first = number();
        application.device.destroy_device(None);
        assert_eq!(number(), first + 1, "requests of the device's end");
        application.instance.destroy_instance(None);
    }
}

#[test]
fn windows_with_room_for_alpha_get_it_unless_they_are_opaque() {
    let server = Server::start(&[]);
    let application = Application::start_of(&server, None, 32);
    let kinds = [
        (vk::CompositeAlphaFlagsKHR::OPAQUE, 255),
        (vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED, 51),
        (vk::CompositeAlphaFlagsKHR::INHERIT, 51),
    ];
    for (alpha, expected) in kinds {
        assert!(application.capabilities().unwrap().supported_composite_alpha.contains(alpha));
        let swapchain = application.swapchain_of(|info| info.composite_alpha(alpha)).unwrap();
        application.show(swapchain, [0.0, 1.0, 0.0, 0.2]).unwrap();
        let pixels = application.pixels();
        let whole = pixels.chunks_exact(4).all(|pixel| pixel == [0, 255, 0, expected]);
        assert!(whole, "{alpha:?}: {:?}", &pixels[..4]);
        // SAFETY: the queue is idle.
        unsafe { application.swapchains.destroy_swapchain(swapchain, None) };
    }
    application.close();
}

#[test]
fn presentation_is_supported_for_visuals_that_take_frames() {
    let server = Server::start(&[]);
    let application = Application::start_with(&server, Some(Xlib::open(&server)));
    let supports = |visual: u32| {
        let connection = application.connection.get_raw_xcb_connection();
        let display = application.xlib.as_ref().unwrap().display;
        let (windows, physical) = (&application.windows, application.physical);
        // SAFETY: connection and display are alive.
        unsafe {
            let connection = &mut *connection.cast();
            let windows = windows.get_physical_device_xcb_presentation_support(physical, 0, connection, visual);
            let of_xlib = &application.xlib_windows;
            [windows, of_xlib.get_physical_device_xlib_presentation_support(physical, 0, display, visual)]
        }
    };
    assert_eq!(supports(application.visual), [true; 2]);
    assert_eq!(supports(0xffff_0001), [false; 2]);
    application.close();
}
