//! Windows of X servers, on the application's own xcb connection; libxcb is loaded when a surface is made, so that the
//! driver itself needs no X library. Frames are sent with PutImage, in strips that fit the server's longest request.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use parking_lot::Mutex;
use vitric_api::swapchain::PresentTarget;
use vitric_api::{Error, Result};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xproto::{ConnectionExt, CreateGCAux, Gcontext, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

use super::insert;
use crate::raw;

/// An xcb window.
struct Window {
    connection: XCBConnection,
    window: u32,
    context: Mutex<Option<Gcontext>>,
    depth: u8,
}

impl Window {
    fn new(connection: *mut c_void, window: u32) -> Result<Self> {
        // SAFETY: the application's connection outlives its surface, as `VK_KHR_xcb_surface` demands, and is not closed here
        // (`should_drop` is false).
        let connection = unsafe { XCBConnection::from_raw_xcb_connection(connection, false) };
        let connection = connection.map_err(|_| Error::InitializationFailed)?;
        let geometry = connection.get_geometry(window).ok().and_then(|cookie| cookie.reply().ok());
        let geometry = geometry.ok_or(Error::SurfaceLost)?;
        Ok(Self { connection, window, context: Mutex::new(None), depth: geometry.depth })
    }

    fn size(&self) -> Result<vk::Extent2D> {
        let geometry = self.connection.get_geometry(self.window).ok().and_then(|cookie| cookie.reply().ok());
        let geometry = geometry.ok_or(Error::SurfaceLost)?;
        Ok(vk::Extent2D { width: u32::from(geometry.width), height: u32::from(geometry.height) })
    }

    fn graphics_context(&self) -> Result<Gcontext> {
        let mut context = self.context.lock();
        if let Some(context) = *context {
            return Ok(context);
        }
        let made = self.connection.generate_id().map_err(|_| Error::SurfaceLost)?;
        let request = self.connection.create_gc(made, self.window, &CreateGCAux::new().graphics_exposures(0));
        request.map_err(|_| Error::SurfaceLost)?.check().map_err(|_| Error::SurfaceLost)?;
        *context = Some(made);
        Ok(made)
    }
}

impl PresentTarget for Window {
    fn extent(&self) -> Result<Option<vk::Extent2D>> {
        self.size().map(Some)
    }

    fn present(&self, extent: vk::Extent2D, pixels: &[u8]) -> Result<()> {
        if self.size()? != extent {
            return Err(Error::OutOfDate);
        }
        let context = self.graphics_context()?;
        let row = extent.width as usize * 4;
        // The request's own header takes 24 bytes.
        let rows = ((self.connection.maximum_request_bytes().saturating_sub(64)) / row.max(1)).max(1);
        for (strip, data) in pixels.chunks(rows * row).enumerate() {
            let (width, height) = (extent.width as u16, (data.len() / row) as u16);
            let y = (strip * rows) as i16;
            let sent = self.connection.put_image(
                ImageFormat::Z_PIXMAP,
                self.window,
                context,
                width,
                height,
                0,
                y,
                0,
                self.depth,
                data,
            );
            sent.map_err(|_| Error::SurfaceLost)?;
        }
        // A round trip: frames do not pile up in the connection, and a lost server is noticed.
        self.size().map(drop)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(context) = self.context.lock().take() {
            let _ = self.connection.free_gc(context);
            let _ = self.connection.flush();
        }
    }
}

pub extern "system" fn create_xcb(
    instance: vk::Instance,
    info: *const vk::XcbSurfaceCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    raw::create(out, || {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        insert(instance, Arc::new(Window::new(info.connection.cast(), info.window)?))
    })
}

pub extern "system" fn xcb_support(
    _: vk::PhysicalDevice,
    _family: u32,
    _connection: *mut vk::xcb_connection_t,
    _visual: vk::xcb_visualid_t,
) -> vk::Bool32 {
    vk::TRUE
}
