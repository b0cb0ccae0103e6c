//! Windows of Xlib programs. A display has an xcb connection below it, which the library libX11-xcb names; from there on a window is one
//! of xcb. Source: `VK_KHR_xlib_surface`, XGetXCBConnection(3).

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use libloading::Library;
use vitric_api::{Error, Result};

use super::{insert, xcb};
use crate::raw;

/// The xcb connection of a display, which the program has made with Xlib: so the library is there that tells.
fn connection(display: *mut vk::Display) -> Result<*mut c_void> {
    if display.is_null() {
        return Err(Error::Unknown);
    }
    type Get = unsafe extern "C" fn(*mut vk::Display) -> *mut c_void;
    // SAFETY: loading the library runs nothing but its own start; the function has this type, and the display is alive, as the
    // specification demands. The connection is the display's and outlives the library.
    let connection = unsafe {
        let library = Library::new("libX11-xcb.so.1").inspect_err(|e| log::error!("{e}"));
        let library = library.map_err(|_| Error::InitializationFailed)?;
        let get = library.get::<Get>(b"XGetXCBConnection\0").map_err(|_| Error::InitializationFailed)?;
        get(display)
    };
    if connection.is_null() { Err(Error::InitializationFailed) } else { Ok(connection) }
}

pub extern "system" fn create(
    instance: vk::Instance,
    info: *const vk::XlibSurfaceCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::SurfaceKHR,
) -> vk::Result {
    raw::create(out, || {
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let window = u32::try_from(info.window).map_err(|_| Error::SurfaceLost)?;
        insert(instance, Arc::new(xcb::Window::new(connection(info.dpy)?, window)?))
    })
}

pub extern "system" fn support(
    _: vk::PhysicalDevice,
    family: u32,
    display: *mut vk::Display,
    visual: vk::VisualID,
) -> vk::Bool32 {
    let mut supported = false;
    raw::guard_void(|| {
        supported = connection(display).is_ok_and(|raw| xcb::shows(raw, family, visual));
    });
    vk::Bool32::from(supported)
}
