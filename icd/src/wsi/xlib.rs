//! Windows of Xlib programs. The library libX11-xcb returns the xcb connection of a display. Its
//! windows are then used through xcb. Source: `VK_KHR_xlib_surface`, XGetXCBConnection(3).

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use libloading::Library;
use vitric_api::{Error, Result};
use vitric_entry::entry;

use super::{insert, xcb};
use crate::call::{Call, In, New};

/// Returns the xcb connection of a display. The program has opened the display with Xlib, so
/// libX11-xcb is expected to be installed.
///
/// # Safety
/// The display must be null or alive. The connection lives as long as the display.
unsafe fn connection(display: *mut vk::Display) -> Result<*mut c_void> {
    if display.is_null() {
        return Err(Error::Unknown);
    }
    type Get = unsafe extern "C" fn(*mut vk::Display) -> *mut c_void;
    // SAFETY: loading the library only runs its initialisers. The function has this type, and the
    // display is alive. The connection belongs to the display and outlives the library.
    let connection = unsafe {
        let library = Library::new("libX11-xcb.so.1").map_err(|error| {
            log::error!("libX11-xcb.so.1 cannot be loaded: {error}: install the library, or create an xcb surface");
            Error::InitializationFailed
        })?;
        let get = library.get::<Get>(b"XGetXCBConnection\0").map_err(|_| Error::InitializationFailed)?;
        get(display)
    };
    if connection.is_null() { Err(Error::InitializationFailed) } else { Ok(connection) }
}

#[entry(vkCreateXlibSurfaceKHR)]
fn create_xlib_surface(
    call: Call<'_>,
    instance: vk::Instance,
    info: In<'_, vk::XlibSurfaceCreateInfoKHR<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::SurfaceKHR>,
) -> Result<vk::Result> {
    let window = u32::try_from(info.window).map_err(|_| Error::SurfaceLost)?;
    // SAFETY: the application's display outlives its surface, as `VK_KHR_xlib_surface` requires.
    let window = unsafe { xcb::Window::new(connection(info.dpy)?, window)? };
    Ok(out.put(insert(call, instance, Arc::new(window))?))
}

#[entry(vkGetPhysicalDeviceXlibPresentationSupportKHR)]
fn get_physical_device_xlib_presentation_support(
    _: vk::PhysicalDevice,
    family: u32,
    display: *mut vk::Display,
    visual: vk::VisualID,
) -> Result<vk::Bool32> {
    // SAFETY: the application passes a live display, as the command requires.
    Ok(vk::Bool32::from(unsafe { xcb::shows(connection(display)?, family, visual) }))
}
