//! Frames through memory that the X server shares (MIT-SHM 1.2: an anonymous file whose descriptor
//! goes over the connection). A server elsewhere, or one without the extension, does not take it:
//! frames are then sent in requests.

use std::os::fd::OwnedFd;

use memmap2::MmapMut;
use vitric_api::{Error, Result};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::shm::{self, ConnectionExt};
use x11rb::protocol::xproto::{Gcontext, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

use crate::wsi::shared::shared;

/// Memory that the server shares.
pub struct Segment {
    id: shm::Seg,
    map: MmapMut,
}

/// Where a frame goes.
pub struct Place {
    /// Window.
    pub window: u32,
    /// Its graphics context.
    pub context: Gcontext,
    /// Its depth, bits.
    pub depth: u8,
    /// Size, pixels.
    pub size: (u16, u16),
}

impl Place {
    /// Returns the bytes of its pixels.
    pub fn bytes(&self) -> usize {
        usize::from(self.size.0) * usize::from(self.size.1) * 4
    }
}

impl Segment {
    /// Shares `bytes` with the server; none when it does not take them, which is logged.
    pub fn new(connection: &XCBConnection, bytes: usize) -> Option<Self> {
        let shared = share(connection, bytes);
        if let Err(problem) = &shared {
            log::info!("frames are sent in requests: {problem}");
        }
        shared.ok()
    }

    /// Returns the bytes that it holds.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Shows a frame, which `read` puts in memory of as many bytes as the place's pixels have. The
    /// server reads it at its own time: a reply to a later request tells that it has.
    pub fn put(&mut self, connection: &XCBConnection, place: &Place, read: &dyn Fn(&mut [u8])) -> Result<()> {
        read(&mut self.map[..place.bytes()]);
        let (width, height) = place.size;
        let format = ImageFormat::Z_PIXMAP.into();
        let sent = connection.shm_put_image(
            place.window,
            place.context,
            width,
            height,
            0,
            0,
            width,
            height,
            0,
            0,
            place.depth,
            format,
            false,
            self.id,
            0,
        );
        sent.map_err(|_| Error::SurfaceLost)?.ignore_error();
        Ok(())
    }

    /// Takes the memory back.
    pub fn release(self, connection: &XCBConnection) {
        if let Ok(cookie) = connection.shm_detach(self.id) {
            cookie.ignore_error();
        }
    }
}

fn share(connection: &XCBConnection, bytes: usize) -> std::result::Result<Segment, String> {
    let present = connection.extension_information(shm::X11_EXTENSION_NAME).map_err(|error| error.to_string())?;
    present.ok_or("the X server has no MIT-SHM")?;
    let version = connection.shm_query_version().map_err(|error| error.to_string())?;
    let version = version.reply().map_err(|error| error.to_string())?;
    if (version.major_version, version.minor_version) < (1, 2) {
        return Err("the X server's MIT-SHM takes no descriptors".into());
    }
    let (file, map) = shared(bytes)?;
    let id = connection.generate_id().map_err(|error| error.to_string())?;
    let attached = connection.shm_attach_fd(id, OwnedFd::from(file), true).map_err(|error| error.to_string())?;
    attached.check().map_err(|error| error.to_string())?;
    Ok(Segment { id, map })
}
