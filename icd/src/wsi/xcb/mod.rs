//! Windows of X servers on the application's xcb connection. libxcb is loaded when a surface is
//! created, so that the driver does not link to an X library. Frames use shared memory if the
//! server supports it, and else PutImage in strips that fit the server's longest request.

mod refresh;
mod shm;

use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use parking_lot::Mutex;
use vitric_api::families;
use vitric_api::swapchain::{Frame, PresentTarget, Refresh};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xproto::{ConnectionExt, CreateGCAux, Gcontext, ImageFormat, ImageOrder, Setup, VisualClass};
use x11rb::xcb_ffi::XCBConnection;

use self::shm::{FrameTarget, Segment};
use super::insert;
use crate::call::{Call, In, New};

/// An xcb window.
pub(super) struct Window {
    connection: XCBConnection,
    window: u32,
    drawing: Mutex<Drawing>,
    depth: u8,
    /// Refresh of the display, and the time of the query.
    refresh: Mutex<Option<(Instant, Refresh)>>,
}

/// Age at which the refresh is queried again, because windows move to other displays and modes
/// change.
const MAX_REFRESH_AGE: Duration = Duration::from_secs(1);

/// State that is created with the first frame.
#[derive(Default)]
struct Drawing {
    context: Option<Gcontext>,
    segment: Option<Segment>,
    /// True if the server does not share memory.
    only_requests: bool,
}

impl Window {
    /// Opens a window of the application's connection.
    ///
    /// # Safety
    /// The connection must be alive and outlive the result.
    pub(super) unsafe fn new(connection: *mut c_void, window: u32) -> Result<Self> {
        // SAFETY: the connection outlives the result, and is not closed here (`should_drop` is
        // false).
        let connection = unsafe { XCBConnection::from_raw_xcb_connection(connection, false) };
        let connection = connection.map_err(|_| Error::InitializationFailed)?;
        let geometry = connection.get_geometry(window).ok().and_then(|cookie| cookie.reply().ok());
        let geometry = geometry.ok_or(Error::SurfaceLost)?;
        Ok(Self { connection, window, drawing: Mutex::default(), depth: geometry.depth, refresh: Mutex::default() })
    }

    fn size(&self) -> Result<vk::Extent2D> {
        let geometry = self.connection.get_geometry(self.window).ok().and_then(|cookie| cookie.reply().ok());
        let geometry = geometry.ok_or(Error::SurfaceLost)?;
        Ok(vk::Extent2D { width: u32::from(geometry.width), height: u32::from(geometry.height) })
    }

    fn graphics_context(&self, drawing: &mut Drawing) -> Result<Gcontext> {
        if let Some(context) = drawing.context {
            return Ok(context);
        }
        let made = self.connection.generate_id().map_err(|_| Error::SurfaceLost)?;
        let request = self.connection.create_gc(made, self.window, &CreateGCAux::new().graphics_exposures(0));
        request.map_err(|_| Error::SurfaceLost)?.check().map_err(|_| Error::SurfaceLost)?;
        drawing.context = Some(made);
        Ok(made)
    }

    /// Returns shared memory for a frame, if the server supports it.
    fn segment<'a>(&self, drawing: &'a mut Drawing, bytes: usize) -> Option<&'a mut Segment> {
        if drawing.segment.as_ref().is_none_or(|segment| segment.len() < bytes) && !drawing.only_requests {
            if let Some(small) = drawing.segment.take() {
                small.release(&self.connection);
            }
            drawing.segment = Segment::new(&self.connection, bytes);
            drawing.only_requests = drawing.segment.is_none();
        }
        drawing.segment.as_mut()
    }

    fn put_in_requests(&self, target: &FrameTarget, read: &dyn Fn(&mut [u8])) -> Result<()> {
        let mut pixels = vec![0; target.bytes()];
        read(&mut pixels);
        let row = usize::from(target.size.0) * 4;
        // The request's header has 24 bytes.
        let rows = ((self.connection.maximum_request_bytes().saturating_sub(64)) / row.max(1)).max(1);
        for (strip, data) in pixels.chunks(rows * row.max(1)).enumerate() {
            let height = (data.len() / row.max(1)) as u16;
            let y = (strip * rows) as i16;
            let (format, width) = (ImageFormat::Z_PIXMAP, target.size.0);
            let sent = self.connection.put_image(
                format,
                target.window,
                target.context,
                width,
                height,
                0,
                y,
                0,
                target.depth,
                data,
            );
            // A later error must not appear among the application's events.
            sent.map_err(|_| Error::SurfaceLost)?.ignore_error();
        }
        Ok(())
    }
}

impl PresentTarget for Window {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        self.size().map(Some)
    }

    /// Compositors blend windows whose pixels have alpha.
    fn composite_alpha(&self) -> vk::CompositeAlphaFlagsKHR {
        let always = vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::INHERIT;
        if self.depth == 32 { always | vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED } else { always }
    }

    fn present(&self, Frame { extent, read, .. }: Frame<'_>) -> Result<()> {
        if self.size()? != extent {
            return Err(Error::OutOfDate);
        }
        let mut drawing = self.drawing.lock();
        let context = self.graphics_context(&mut drawing)?;
        let size = (extent.width as u16, extent.height as u16);
        let target = FrameTarget { window: self.window, context, depth: self.depth, size };
        match self.segment(&mut drawing, target.bytes()) {
            Some(segment) => segment.put(&self.connection, &target, read)?,
            None => self.put_in_requests(&target, read)?,
        }
        // A round trip limits the number of pending frames, keeps memory unchanged until the
        // server has read it, and detects a lost server.
        self.size().map(drop)
    }

    fn refresh(&self) -> Refresh {
        let mut known = self.refresh.lock();
        if let Some((asked, refresh)) = *known
            && asked.elapsed() < MAX_REFRESH_AGE
        {
            return refresh;
        }
        let refresh = refresh::period(&self.connection, self.window).map_or(Refresh::None, Refresh::Period);
        *known = Some((Instant::now(), refresh));
        refresh
    }

    fn poll(&self) -> Result<()> {
        self.size().map(drop)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let drawing = self.drawing.get_mut();
        if let Some(segment) = drawing.segment.take() {
            segment.release(&self.connection);
        }
        if let Some(context) = drawing.context.take()
            && let Ok(cookie) = self.connection.free_gc(context)
        {
            cookie.ignore_error();
        }
        // An error is ignored, because a lost server needs no requests.
        let _ = self.connection.flush();
    }
}

#[entry(vkCreateXcbSurfaceKHR)]
fn create_xcb_surface(
    call: Call<'_>,
    instance: vk::Instance,
    info: In<'_, vk::XcbSurfaceCreateInfoKHR<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SurfaceKHR>,
) -> Result<vk::Result> {
    // SAFETY: the application's connection outlives its surface, as `VK_KHR_xcb_surface` requires.
    let window = unsafe { Window::new(info.connection.cast(), info.window)? };
    Ok(out.put(insert(call, instance, Arc::new(window))?))
}

#[entry(vkGetPhysicalDeviceXcbPresentationSupportKHR)]
fn get_physical_device_xcb_presentation_support(
    _: vk::PhysicalDevice,
    family: u32,
    connection: *mut vk::xcb_connection_t,
    visual: vk::xcb_visualid_t,
) -> Result<vk::Bool32> {
    // SAFETY: the application passes a live connection, as the command requires.
    Ok(vk::Bool32::from(unsafe { shows(connection.cast(), family, visual) }))
}

/// Returns true if queues of a family can present to windows of a visual.
///
/// # Safety
/// The connection must be alive.
pub(super) unsafe fn shows(connection: *mut c_void, family: u32, visual: u32) -> bool {
    // SAFETY: the connection is alive, and is not closed here (`should_drop` is false).
    let connection = unsafe { XCBConnection::from_raw_xcb_connection(connection, false) };
    connection.is_ok_and(|connection| can_show(connection.setup(), visual)) && families::find(family).is_some()
}

/// Returns true if windows of a visual support frames: true colour with 24 or 32 bits of depth,
/// red above green above blue, and 32 bits a pixel in little-endian order.
fn can_show(setup: &Setup, visual: u32) -> bool {
    let little = setup.image_byte_order == ImageOrder::LSB_FIRST;
    let whole_words =
        |depth: u8| setup.pixmap_formats.iter().any(|format| format.depth == depth && format.bits_per_pixel == 32);
    let depths = setup.roots.iter().flat_map(|screen| &screen.allowed_depths);
    little
        && depths.filter(|depth| matches!(depth.depth, 24 | 32) && whole_words(depth.depth)).any(|depth| {
            depth.visuals.iter().any(|of| {
                of.visual_id == visual
                    && of.class == VisualClass::TRUE_COLOR
                    && (of.red_mask, of.green_mask, of.blue_mask) == (0xff_0000, 0xff00, 0xff)
            })
        })
}
