//! Frames through memory that the X server shares (MIT-SHM 1.2: an anonymous file whose descriptor goes over the
//! connection). A server elsewhere, or one without the extension, does not take it: frames are then sent in requests.

use std::os::fd::{FromRawFd, OwnedFd};

use memmap2::MmapMut;
use vitric_api::{Error, Result};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::shm::{self, ConnectionExt};
use x11rb::protocol::xproto::{Gcontext, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

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

impl Segment {
    /// Shares `bytes` with the server; none when it does not take them, which is logged.
    pub fn new(connection: &XCBConnection, bytes: usize) -> Option<Self> {
        let shared = share(connection, bytes);
        if let Err(problem) = &shared {
            log::info!("frames are sent in requests: {problem}");
        }
        shared.ok()
    }

    /// Bytes that it holds.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Shows a frame of as many bytes as the place's pixels have. The server reads it at its own time: a reply to a later
    /// request tells that it has.
    pub fn put(&mut self, connection: &XCBConnection, place: &Place, pixels: &[u8]) -> Result<()> {
        self.map[..pixels.len()].copy_from_slice(pixels);
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
    let file = std::fs::File::from(anonymous_file()?);
    file.set_len(bytes as u64).map_err(|error| error.to_string())?;
    // SAFETY: the file is this process's own and anonymous; the server maps it for reading only.
    let map = unsafe { MmapMut::map_mut(&file) }.map_err(|error| error.to_string())?;
    let id = connection.generate_id().map_err(|error| error.to_string())?;
    let attached = connection.shm_attach_fd(id, OwnedFd::from(file), true).map_err(|error| error.to_string())?;
    attached.check().map_err(|error| error.to_string())?;
    Ok(Segment { id, map })
}

fn anonymous_file() -> std::result::Result<OwnedFd, String> {
    // SAFETY: the name is a valid C string.
    let descriptor = unsafe { libc::memfd_create(c"vitric frame".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
