//! Wayland surfaces on the application's connection. libwayland-client is loaded when a surface is
//! created.
//!
//! Frames are in memory buffers that the compositor shares (`wl_shm`). A buffer is reused when the
//! compositor has released it. Events arrive in a separate queue of the surface, so that the
//! application does not receive them. Frame callbacks report when a display takes frames, and
//! presentation-time reports whether it has a refresh. Source: `VK_KHR_wayland_surface`, the
//! Wayland protocol, `wp_presentation`.

use std::ffi::c_void;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;
use memmap2::MmapMut;
use parking_lot::Mutex;
use vitric_api::families;
use vitric_api::swapchain::timing::{FrameReport, driver_stages};
use vitric_api::swapchain::{Frame, PresentTarget, Refresh};
use vitric_api::{Error, Result};
use vitric_base::clock;
use vitric_entry::entry;
use vitric_vulkan::sys;
use wayland_client::backend::{Backend, ObjectId, WaylandError};
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::presentation_time::client::wp_presentation::{self, WpPresentation};
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{self, Kind, WpPresentationFeedback};

use super::insert;
use super::shared::shared;
use crate::call::{Call, In, New};
use crate::poll::is_readable;

/// Maximum number of buffers of a surface. A buffer is created when the compositor uses all
/// others: weston uses them until it repaints.
const MAX_BUFFERS: usize = 8;
/// Longest wait for a compositor that uses all buffers. After that, a frame is dropped.
const MAX_BUSY_WAIT: Duration = Duration::from_secs(1);

/// State from the queue's events.
struct Listener {
    /// Number of committed frames.
    committed: u64,
    /// Number of the latest committed frame that has a frame callback. Callbacks arrive in order.
    taken: u64,
    /// True while a frame's feedback is pending.
    awaits_feedback: bool,
    /// Refresh of the display. It has its own lock, because a thread that waits for events holds
    /// the lock of the other objects.
    refresh: Arc<Mutex<Refresh>>,
    /// Conversion of the times of feedback to `CLOCK_MONOTONIC`; `None` for an unknown clock.
    to_monotonic: Option<fn(u64) -> u64>,
}

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
        is_busy: &Arc<AtomicBool>,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_buffer::Event::Release = event {
            is_busy.store(false, Ordering::Release);
        }
    }
}

impl Dispatch<WlCallback, u64> for Listener {
    fn event(
        listener: &mut Self,
        _: &WlCallback,
        event: wl_callback::Event,
        &frame: &u64,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            listener.taken = frame;
        }
    }
}

impl Dispatch<WpPresentation, ()> for Listener {
    fn event(
        listener: &mut Self,
        _: &WpPresentation,
        event: wp_presentation::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wp_presentation::Event::ClockId { clk_id } = event {
            listener.to_monotonic = match libc::clockid_t::try_from(clk_id) {
                Ok(libc::CLOCK_MONOTONIC) => Some(std::convert::identity),
                Ok(libc::CLOCK_MONOTONIC_RAW) => Some(from_raw),
                _ => None,
            };
        }
    }
}

/// Converts a recent time of `CLOCK_MONOTONIC_RAW`, whose rate differs, to `CLOCK_MONOTONIC`.
fn from_raw(time: u64) -> u64 {
    clock::monotonic().wrapping_add(time.wrapping_sub(clock::monotonic_raw()))
}

impl Dispatch<WpPresentationFeedback, Option<FrameReport>> for Listener {
    fn event(
        listener: &mut Self,
        _: &WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        report: &Option<FrameReport>,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, flags, .. } => {
                listener.awaits_feedback = false;
                let has_refresh = matches!(flags, WEnum::Value(kind) if kind.contains(Kind::Vsync));
                let period = Refresh::Reported(Some(Duration::from_nanos(refresh.into())));
                *listener.refresh.lock() = if has_refresh { period } else { Refresh::None };
                if let (Some(report), Some(to_monotonic)) = (report, listener.to_monotonic) {
                    let seconds = u64::from(tv_sec_hi) << 32 | u64::from(tv_sec_lo);
                    let time = seconds.saturating_mul(1_000_000_000).saturating_add(tv_nsec.into());
                    report.visible(to_monotonic(time));
                }
            }
            // A frame that was replaced by a newer one has no feedback about the refresh.
            wp_presentation_feedback::Event::Discarded => listener.awaits_feedback = false,
            _ => {}
        }
    }
}

/// Converts the result of sending requests. A compositor without room for all of them is not lost:
/// libwayland sends the rest next time.
fn sent(result: std::result::Result<(), WaylandError>) -> Result<()> {
    match result {
        Err(WaylandError::Io(error)) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        result => result.map_err(|_| Error::SurfaceLost),
    }
}

/// Memory of a frame.
struct Buffer {
    buffer: WlBuffer,
    map: MmapMut,
    extent: vk::Extent2D,
    format: Format,
    /// True while the compositor may read the buffer.
    is_busy: Arc<AtomicBool>,
}

impl Buffer {
    fn new(shm: &WlShm, handle: &QueueHandle<Listener>, extent: vk::Extent2D, format: Format) -> Result<Self> {
        let [width, height] = [extent.width, extent.height].map(i32::try_from);
        let (Ok(width), Ok(height)) = (width, height) else { return Err(Error::SurfaceLost) };
        let bytes = width.checked_mul(4).and_then(|pitch| pitch.checked_mul(height)).ok_or(Error::SurfaceLost)?;
        let (file, map) = shared(bytes as usize).map_err(|problem| {
            log::error!("shared memory of {bytes} bytes for a frame cannot be created: {problem}");
            Error::OutOfHostMemory
        })?;
        let pool = shm.create_pool(file.as_fd(), bytes, handle, ());
        let is_busy = Arc::new(AtomicBool::new(false));
        let buffer = pool.create_buffer(0, width, height, width * 4, format, handle, is_busy.clone());
        // The buffer keeps the pool's memory alive.
        pool.destroy();
        Ok(Self { buffer, map, extent, format, is_busy })
    }

    fn is_free(&self) -> bool {
        !self.is_busy.load(Ordering::Acquire)
    }
}

/// Objects that present frames.
struct Presenter {
    queue: EventQueue<Listener>,
    listener: Listener,
    shm: WlShm,
    presentation: Option<WpPresentation>,
    buffers: Vec<Buffer>,
}

impl Presenter {
    /// Returns the index of a writable buffer of a size and format, or `None` if the compositor
    /// uses all buffers for too long.
    fn free(&mut self, extent: vk::Extent2D, format: Format) -> Result<Option<usize>> {
        let until = Instant::now() + MAX_BUSY_WAIT;
        loop {
            let found = self.find_free(extent, format)?;
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || left.is_zero() {
                return Ok(found);
            }
            self.dispatch_events(left)?;
        }
    }

    fn find_free(&mut self, extent: vk::Extent2D, format: Format) -> Result<Option<usize>> {
        let fits = |buffer: &Buffer| buffer.extent == extent && buffer.format == format;
        self.buffers.retain(|buffer| {
            let stays = fits(buffer) || !buffer.is_free();
            if !stays {
                buffer.buffer.destroy();
            }
            stays
        });
        let found = self.buffers.iter().position(|buffer| fits(buffer) && buffer.is_free());
        if found.is_some() || self.buffers.len() >= MAX_BUFFERS {
            return Ok(found);
        }
        self.buffers.push(Buffer::new(&self.shm, &self.queue.handle(), extent, format)?);
        Ok(Some(self.buffers.len() - 1))
    }

    /// Handles pending events, or the next events that arrive within `timeout`.
    fn dispatch_events(&mut self, timeout: Duration) -> Result<()> {
        let lost = |_| Error::SurfaceLost;
        sent(self.queue.flush())?;
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

    /// Requests a frame callback for the next commit, and its presentation feedback for a report,
    /// else only from time to time.
    fn request_feedback(&mut self, surface: &WlSurface, report: Option<FrameReport>) {
        let handle = self.queue.handle();
        self.listener.committed += 1;
        surface.frame(&handle, self.listener.committed);
        let is_needed = report.is_some() || !self.listener.awaits_feedback;
        if let Some(presentation) = self.presentation.as_ref().filter(|_| is_needed) {
            presentation.feedback(surface, &handle, report);
            self.listener.awaits_feedback = true;
        }
    }
}

/// A surface of the application.
struct Window {
    surface: WlSurface,
    presenter: Mutex<Presenter>,
    refresh: Arc<Mutex<Refresh>>,
    reports_times: bool,
    connection: Connection,
}

impl Window {
    /// Opens a surface of the application's display.
    ///
    /// # Safety
    /// Display and surface must be null, or alive and outlive the result.
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
        let (globals, mut queue) = registry_queue_init::<Listener>(&connection).map_err(|error| {
            log::error!("the registry of the Wayland compositor cannot be read: {error}");
            Error::SurfaceLost
        })?;
        let shm = globals.bind(&queue.handle(), 1..=1, ()).map_err(|error| {
            log::error!("wl_shm cannot be bound: {error}: expected a Wayland compositor with shared memory");
            Error::InitializationFailed
        })?;
        let presentation = globals.bind(&queue.handle(), 1..=1, ()).ok();
        // The period of the refresh stays unknown without feedback.
        let period = presentation.is_none().then_some(Duration::ZERO);
        let refresh = Arc::new(Mutex::new(Refresh::Reported(period)));
        let mut listener =
            Listener { committed: 0, taken: 0, awaits_feedback: false, refresh: refresh.clone(), to_monotonic: None };
        // Receives the clock of feedback.
        queue.roundtrip(&mut listener).map_err(|_| Error::SurfaceLost)?;
        let reports_times = listener.to_monotonic.is_some();
        let presenter = Mutex::new(Presenter { queue, listener, shm, presentation, buffers: Vec::new() });
        Ok(Self { surface, presenter, refresh, reports_times, connection })
    }
}

impl PresentTarget for Window {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        Ok(None)
    }

    /// The protocol defines colours of buffers with alpha as multiplied by it.
    fn composite_alpha(&self) -> vk::CompositeAlphaFlagsKHR {
        vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED
    }

    fn present(&self, Frame { extent, read, is_opaque, report }: Frame<'_>) -> Result<()> {
        let presenter = &mut *self.presenter.lock();
        // Handles releases of buffers and detects a lost compositor. The number of buffers limits
        // the number of pending frames.
        presenter.dispatch_events(Duration::ZERO)?;
        let format = if is_opaque { Format::Xrgb8888 } else { Format::Argb8888 };
        let Some(index) = presenter.free(extent, format)? else { return Ok(()) };
        read(&mut presenter.buffers[index].map);
        presenter.request_feedback(&self.surface, report);
        let buffer = &presenter.buffers[index];
        buffer.is_busy.store(true, Ordering::Release);
        self.surface.attach(Some(&buffer.buffer), 0, 0);
        self.surface.damage(0, 0, i32::MAX, i32::MAX);
        self.surface.commit();
        sent(self.connection.flush())
    }

    /// Returns no refresh if the compositor has reported that. Until then, frames follow the frame
    /// callbacks.
    fn refresh(&self) -> Refresh {
        *self.refresh.lock()
    }

    fn stages(&self) -> sys::PresentStageFlagsEXT {
        match self.reports_times {
            true => driver_stages() | sys::PresentStageFlagsEXT::IMAGE_FIRST_PIXEL_VISIBLE,
            false => driver_stages(),
        }
    }

    /// Handles pending events, unless another thread waits for them.
    fn poll(&self) -> Result<()> {
        self.presenter.try_lock().map_or(Ok(()), |mut presenter| presenter.dispatch_events(Duration::ZERO))
    }

    fn wait_until_shown(&self, timeout: Duration) -> bool {
        let presenter = &mut *self.presenter.lock();
        let until = Instant::now() + timeout;
        while presenter.listener.taken < presenter.listener.committed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // The next presentation reports a lost compositor.
            if presenter.dispatch_events(left).is_err() {
                return true;
            }
        }
        true
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.presenter.get_mut().buffers.iter().for_each(|buffer| buffer.buffer.destroy());
        // An error is ignored, because a lost compositor needs no requests.
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
    // SAFETY: display and surface outlive the Vulkan surface, as `VK_KHR_wayland_surface`
    // requires.
    let window = unsafe { Window::new(info.display.cast(), info.surface.cast())? };
    Ok(out.put(insert(call, instance, Arc::new(window))?))
}

// The protocol requires shared memory of all compositors, so all families support all displays.

#[entry(vkGetPhysicalDeviceWaylandPresentationSupportKHR)]
fn get_physical_device_wayland_presentation_support(
    _: vk::PhysicalDevice,
    family: u32,
    _: *mut vk::wl_display,
) -> Result<vk::Bool32> {
    Ok(vk::Bool32::from(families::find(family).is_some()))
}
