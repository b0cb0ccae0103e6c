//! Frames in memory that the X server shares (MIT-SHM 1.2: an anonymous file whose descriptor is
//! sent over the connection). A remote server, or one without the extension, does not support it.
//! Frames are then sent in requests.

use std::os::fd::OwnedFd;

use memmap2::MmapMut;
use vitric_api::{Error, Result};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::shm::{self, ConnectionExt};
use x11rb::protocol::xproto::{Gcontext, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

use crate::wsi::shared::shared;

/// Memory that is shared with the server.
pub struct Segment {
    id: shm::Seg,
    map: MmapMut,
}

/// Target of a frame.
pub struct FrameTarget {
    /// Window.
    pub window: u32,
    /// Graphics context of the window.
    pub context: Gcontext,
    /// Depth of the window in bits.
    pub depth: u8,
    /// Size in pixels.
    pub size: (u16, u16),
}

impl FrameTarget {
    /// Returns the size of the pixels in bytes.
    pub fn bytes(&self) -> usize {
        usize::from(self.size.0) * usize::from(self.size.1) * 4
    }
}

impl Segment {
    /// Shares `bytes` with the server. Returns `None` if the server does not support it, which is
    /// logged.
    pub fn new(connection: &XCBConnection, bytes: usize) -> Option<Self> {
        let shared = share(connection, bytes);
        if let Err(problem) = &shared {
            log::info!("frames are sent in requests instead of shared memory: {problem}");
        }
        shared.ok()
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Shows a frame. `read` writes the pixels of `target` to the memory. The server reads the
    /// memory asynchronously, and has read it when it replies to a later request.
    pub fn put(&mut self, connection: &XCBConnection, target: &FrameTarget, read: &dyn Fn(&mut [u8])) -> Result<()> {
        read(&mut self.map[..target.bytes()]);
        let (width, height) = target.size;
        let format = ImageFormat::Z_PIXMAP.into();
        let sent = connection.shm_put_image(
            target.window,
            target.context,
            width,
            height,
            0,
            0,
            width,
            height,
            0,
            0,
            target.depth,
            format,
            false,
            self.id,
            0,
        );
        sent.map_err(|_| Error::SurfaceLost)?.ignore_error();
        Ok(())
    }

    /// Detaches the memory from the server.
    pub fn release(self, connection: &XCBConnection) {
        if let Ok(cookie) = connection.shm_detach(self.id) {
            cookie.ignore_error();
        }
    }
}

fn share(connection: &XCBConnection, bytes: usize) -> std::result::Result<Segment, String> {
    let present = connection.extension_information(shm::X11_EXTENSION_NAME).map_err(|error| error.to_string())?;
    present.ok_or("the X server has no extension MIT-SHM")?;
    let version = connection.shm_query_version().map_err(|error| error.to_string())?;
    let version = version.reply().map_err(|error| error.to_string())?;
    if (version.major_version, version.minor_version) < (1, 2) {
        let (major, minor) = (version.major_version, version.minor_version);
        return Err(format!("the X server has MIT-SHM {major}.{minor}: expected 1.2 or newer"));
    }
    let (file, map) = shared(bytes)?;
    let id = connection.generate_id().map_err(|error| error.to_string())?;
    let attached = connection.shm_attach_fd(id, OwnedFd::from(file), true).map_err(|error| error.to_string())?;
    attached.check().map_err(|error| error.to_string())?;
    Ok(Segment { id, map })
}
