//! Surfaces of Wayland, on the application's own connection; libwayland-client is loaded when one
//! is made. Frames go through buffers of memory that the compositor shares (`wl_shm`), each of
//! which is written again when the compositor has released it. Answers come in an event queue of
//! the surface's own, so that nothing surprises the application. Frame callbacks tell when a
//! display takes frames, and presentation-time whether it has a refresh at all. Source:
//! `VK_KHR_wayland_surface`, the Wayland protocol, `wp_presentation`.

use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use memmap2::MmapMut;
use parking_lot::Mutex;
use vitric_api::families;
use vitric_api::swapchain::{PresentTarget, Refresh};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use wayland_client::backend::{Backend, ObjectId};
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{self, Kind, WpPresentationFeedback};

use super::insert;
use super::shared::shared;
use crate::call::{Call, In, New};

/// Buffers of a surface, at most. They are made when the compositor holds all others: weston keeps
/// them until it repaints.
const MAX_BUFFERS: usize = 8;
/// Longest wait for a compositor that holds all buffers. After that it misses a frame.
const MAX_HELD: Duration = Duration::from_secs(1);

/// State that the queue's events have reported.
#[derive(Default)]
struct Listener {
    /// Frames that were committed and that the compositor has not taken.
    untaken: u32,
    /// A frame's feedback is on its way.
    is_asked: bool,
    /// True if the display synchronises frames with a refresh; `None` until it is known.
    has_refresh: Option<bool>,
}

delegate_noop!(Listener: ignore WpPresentation);
delegate_noop!(Listener: ignore WlShm);
delegate_noop!(Listener: WlShmPool);

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

impl Dispatch<WlBuffer, Arc<AtomicBool>> for Listener {
    fn event(
        _: &mut Self,
        _: &WlBuffer,
        event: wl_buffer::Event,
        is_held: &Arc<AtomicBool>,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_buffer::Event::Release = event {
            is_held.store(false, Ordering::Release);
        }
    }
}

impl Dispatch<WlCallback, ()> for Listener {
    fn event(
        listener: &mut Self,
        _: &WlCallback,
        event: wl_callback::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            listener.untaken = listener.untaken.saturating_sub(1);
        }
    }
}

impl Dispatch<WpPresentationFeedback, ()> for Listener {
    fn event(
        listener: &mut Self,
        _: &WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wp_presentation_feedback::Event::Presented { flags, .. } => {
                listener.is_asked = false;
                listener.has_refresh = Some(matches!(flags, WEnum::Value(kind) if kind.contains(Kind::Vsync)));
            }
            // A frame that a newer one replaced tells nothing.
            wp_presentation_feedback::Event::Discarded => listener.is_asked = false,
            _ => {}
        }
    }
}

/// A frame's memory.
struct Buffer {
    buffer: WlBuffer,
    map: MmapMut,
    extent: vk::Extent2D,
    /// The compositor may read it.
    is_held: Arc<AtomicBool>,
}

impl Buffer {
    fn new(shm: &WlShm, handle: &QueueHandle<Listener>, extent: vk::Extent2D) -> Result<Self> {
        let [width, height] = [extent.width, extent.height].map(i32::try_from);
        let (Ok(width), Ok(height)) = (width, height) else { return Err(Error::SurfaceLost) };
        let bytes = width.checked_mul(4).and_then(|pitch| pitch.checked_mul(height)).ok_or(Error::SurfaceLost)?;
        let (file, map) = shared(bytes as usize).map_err(|problem| {
            log::error!("no memory for a frame: {problem}");
            Error::OutOfHostMemory
        })?;
        let pool = shm.create_pool(file.as_fd(), bytes, handle, ());
        let is_held = Arc::new(AtomicBool::new(false));
        let buffer = pool.create_buffer(0, width, height, width * 4, Format::Xrgb8888, handle, is_held.clone());
        // The buffer keeps the pool's memory.
        pool.destroy();
        Ok(Self { buffer, map, extent, is_held })
    }

    fn is_free(&self) -> bool {
        !self.is_held.load(Ordering::Acquire)
    }
}

/// Objects that show frames.
struct Shown {
    queue: EventQueue<Listener>,
    listener: Listener,
    shm: WlShm,
    presentation: Option<WpPresentation>,
    buffers: Vec<Buffer>,
}

impl Shown {
    /// Returns the index of a buffer of a size that may be written, or `None` where the compositor
    /// holds all for too long.
    fn free(&mut self, extent: vk::Extent2D) -> Result<Option<usize>> {
        let until = Instant::now() + MAX_HELD;
        loop {
            let found = self.find_free(extent)?;
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || left.is_zero() {
                return Ok(found);
            }
            self.hear(left)?;
        }
    }

    fn find_free(&mut self, extent: vk::Extent2D) -> Result<Option<usize>> {
        self.buffers.retain(|buffer| {
            let stays = buffer.extent == extent || !buffer.is_free();
            if !stays {
                buffer.buffer.destroy();
            }
            stays
        });
        let found = self.buffers.iter().position(|buffer| buffer.extent == extent && buffer.is_free());
        if found.is_some() || self.buffers.len() >= MAX_BUFFERS {
            return Ok(found);
        }
        self.buffers.push(Buffer::new(&self.shm, &self.queue.handle(), extent)?);
        Ok(Some(self.buffers.len() - 1))
    }

    /// Handles events that have come, or the next ones to come within `timeout`.
    fn hear(&mut self, timeout: Duration) -> Result<()> {
        let lost = |_| Error::SurfaceLost;
        self.queue.flush().map_err(|_| Error::SurfaceLost)?;
        if self.queue.dispatch_pending(&mut self.listener).map_err(lost)? > 0 {
            return Ok(());
        }
        // `None`: other threads have put events in the queue.
        if let Some(guard) = self.queue.prepare_read()
            && is_readable(&guard.connection_fd(), timeout)
        {
            guard.read().map_err(|_| Error::SurfaceLost)?;
        }
        self.queue.dispatch_pending(&mut self.listener).map_err(lost)?;
        Ok(())
    }

    /// Asks to be told when the frame that is committed next is taken, and now and then how it was
    /// shown.
    fn follow(&mut self, surface: &WlSurface) {
        let handle = self.queue.handle();
        surface.frame(&handle, ());
        self.listener.untaken += 1;
        if let Some(presentation) = self.presentation.as_ref().filter(|_| !self.listener.is_asked) {
            presentation.feedback(surface, &handle, ());
            self.listener.is_asked = true;
        }
    }
}

/// Waits up to `timeout` until there is something to read.
fn is_readable(descriptor: &impl AsRawFd, timeout: Duration) -> bool {
    let mut polled = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let milliseconds = i32::try_from(timeout.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: the pointer is to one structure, which lives until the call returns.
    unsafe { libc::poll(&raw mut polled, 1, milliseconds) > 0 }
}

/// A surface of a program.
struct Window {
    surface: WlSurface,
    shown: Mutex<Shown>,
    connection: Connection,
}

impl Window {
    /// Opens a surface of the program's display.
    ///
    /// # Safety
    /// Display and surface are null, or alive, and outlive the result.
    unsafe fn new(display: *mut c_void, surface: *mut c_void) -> Result<Self> {
        if display.is_null() || surface.is_null() {
            return Err(Error::Unknown);
        }
        // SAFETY: display and surface are alive and outlive the result, and neither is destroyed
        // here.
        let (backend, id) = unsafe {
            let backend = Backend::from_foreign_display(display.cast());
            (backend, ObjectId::from_ptr(WlSurface::interface(), surface.cast()))
        };
        let connection = Connection::from_backend(backend);
        let id = id.map_err(|_| Error::SurfaceLost)?;
        let surface = WlSurface::from_id(&connection, id).map_err(|_| Error::SurfaceLost)?;
        let (globals, queue) = registry_queue_init::<Listener>(&connection).map_err(|error| {
            log::error!("{error}");
            Error::SurfaceLost
        })?;
        let shm = globals.bind(&queue.handle(), 1..=1, ()).map_err(|error| {
            log::error!("{error}");
            Error::InitializationFailed
        })?;
        let presentation = globals.bind(&queue.handle(), 1..=1, ()).ok();
        let shown = Shown { queue, listener: Listener::default(), shm, presentation, buffers: Vec::new() };
        Ok(Self { surface, shown: Mutex::new(shown), connection })
    }
}

impl PresentTarget for Window {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        Ok(None)
    }

    fn present(&self, extent: vk::Extent2D, read: &dyn Fn(&mut [u8])) -> Result<()> {
        let shown = &mut *self.shown.lock();
        // Releases are heard, and a lost compositor is noticed. Frames do not pile up: there are a
        // few buffers for them.
        shown.hear(Duration::ZERO)?;
        let Some(index) = shown.free(extent)? else { return Ok(()) };
        read(&mut shown.buffers[index].map);
        shown.follow(&self.surface);
        let buffer = &shown.buffers[index];
        buffer.is_held.store(true, Ordering::Release);
        self.surface.attach(Some(&buffer.buffer), 0, 0);
        self.surface.damage(0, 0, i32::MAX, i32::MAX);
        self.surface.commit();
        self.connection.flush().map_err(|_| Error::SurfaceLost)
    }

    /// Returns that frames have no refresh once the compositor has said so. Until then frame
    /// callbacks are followed.
    fn refresh(&self) -> Refresh {
        if self.shown.lock().listener.has_refresh == Some(false) { Refresh::None } else { Refresh::Told }
    }

    fn wait_until_taken(&self, timeout: Duration) -> bool {
        let shown = &mut *self.shown.lock();
        let until = Instant::now() + timeout;
        while shown.listener.untaken > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // Presenting tells that a compositor is gone.
            if shown.hear(left).is_err() {
                return true;
            }
        }
        true
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.shown.get_mut().buffers.iter().for_each(|buffer| buffer.buffer.destroy());
        // A compositor that is gone needs nothing back.
        let _ = self.connection.flush();
    }
}

#[entry(vkCreateWaylandSurfaceKHR)]
fn create_wayland_surface(
    call: Call<'_>,
    instance: vk::Instance,
    info: In<'_, vk::WaylandSurfaceCreateInfoKHR<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SurfaceKHR>,
) -> Result<vk::Result> {
    // SAFETY: display and surface outlive the Vulkan surface, as `VK_KHR_wayland_surface` demands.
    let window = unsafe { Window::new(info.display.cast(), info.surface.cast())? };
    Ok(out.put(insert(call, instance, Arc::new(window))?))
}

// Every compositor shares memory, as the protocol demands: any family shows frames on any display.

#[entry(vkGetPhysicalDeviceWaylandPresentationSupportKHR)]
fn get_physical_device_wayland_presentation_support(
    _: vk::PhysicalDevice,
    family: u32,
    _: *mut vk::wl_display,
) -> Result<vk::Bool32> {
    Ok(vk::Bool32::from(families::find(family).is_some()))
}
