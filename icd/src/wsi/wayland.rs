//! Surfaces of Wayland, on the application's own connection; libwayland-client is loaded when one is made. Frames go through buffers of
//! memory that the compositor shares (`wl_shm`), each of which is written again when the compositor has released it. Answers come
//! in an event queue of the surface's own, so that nothing surprises the application. Source: `VK_KHR_wayland_surface`, the Wayland
//! protocol.

use std::ffi::c_void;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use memmap2::MmapMut;
use parking_lot::Mutex;
use vitric_api::families;
use vitric_api::swapchain::PresentTarget;
use vitric_api::{Error, Result};
use wayland_client::backend::{Backend, ObjectId};
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, delegate_noop};

use super::insert;
use super::shared::shared;
use crate::raw;

/// Buffers of a surface, at most. A compositor that holds them all takes no frame for now, and misses some.
const MOST_BUFFERS: usize = 4;

/// What hears the queue's events, and keeps nothing of them.
struct Listener;

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

/// What is needed to show frames.
struct Shown {
    queue: EventQueue<Listener>,
    shm: WlShm,
    buffers: Vec<Buffer>,
}

impl Shown {
    /// A buffer of a size that may be written; none while the compositor holds too many.
    fn free(&mut self, extent: vk::Extent2D) -> Result<Option<&mut Buffer>> {
        self.buffers.retain(|buffer| {
            let stays = buffer.extent == extent || !buffer.is_free();
            if !stays {
                buffer.buffer.destroy();
            }
            stays
        });
        let mut found = self.buffers.iter().position(|buffer| buffer.extent == extent && buffer.is_free());
        if found.is_none() && self.buffers.len() < MOST_BUFFERS {
            self.buffers.push(Buffer::new(&self.shm, &self.queue.handle(), extent)?);
            found = Some(self.buffers.len() - 1);
        }
        Ok(found.map(|index| &mut self.buffers[index]))
    }
}

/// A surface of a program.
struct Window {
    surface: WlSurface,
    shown: Mutex<Shown>,
    connection: Connection,
}

impl Window {
    /// A surface of the program's display.
    fn new(display: *mut c_void, surface: *mut c_void) -> Result<Self> {
        if display.is_null() || surface.is_null() {
            return Err(Error::Unknown);
        }
        // SAFETY: display and surface are alive and stay so while the Vulkan surface is used, as `VK_KHR_wayland_surface` demands; neither is
        // destroyed here.
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
        Ok(Self { surface, shown: Mutex::new(Shown { queue, shm, buffers: Vec::new() }), connection })
    }
}

impl PresentTarget for Window {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        Ok(None)
    }

    fn present(&self, extent: vk::Extent2D, read: &dyn Fn(&mut [u8])) -> Result<()> {
        let mut shown = self.shown.lock();
        // A round trip: frames do not pile up in the connection, releases are heard, and a lost compositor is noticed.
        shown.queue.roundtrip(&mut Listener).map_err(|_| Error::SurfaceLost)?;
        let Some(buffer) = shown.free(extent)? else { return Ok(()) };
        read(&mut buffer.map);
        buffer.is_held.store(true, Ordering::Release);
        self.surface.attach(Some(&buffer.buffer), 0, 0);
        self.surface.damage(0, 0, i32::MAX, i32::MAX);
        self.surface.commit();
        self.connection.flush().map_err(|_| Error::SurfaceLost)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.shown.get_mut().buffers.iter().for_each(|buffer| buffer.buffer.destroy());
        // A compositor that is gone needs nothing back.
        let _ = self.connection.flush();
    }
}

pub extern "system" fn create(
    instance: vk::Instance,
    info: *const vk::WaylandSurfaceCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    raw::create(out, || {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        insert(instance, Arc::new(Window::new(info.display.cast(), info.surface.cast())?))
    })
}

/// Every compositor shares memory, as the protocol demands: any family shows frames on any display.
pub extern "system" fn support(_: vk::PhysicalDevice, family: u32, _: *mut vk::wl_display) -> vk::Bool32 {
    vk::Bool32::from(families::find(family).is_some())
}
