//! Memory for frames that a window system shares: an anonymous file, whose descriptor is passed
//! on.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};

use memmap2::MmapMut;

/// Makes an anonymous file of a size in bytes, and maps it.
///
/// # Errors
/// The system's message when it gives none.
pub fn shared(bytes: usize) -> Result<(File, MmapMut), String> {
    let file = File::from(anonymous_file()?);
    file.set_len(bytes as u64).map_err(|error| error.to_string())?;
    // SAFETY: the file is this process's own and anonymous; the window system maps it for reading
    // only.
    let map = unsafe { MmapMut::map_mut(&file) }.map_err(|error| error.to_string())?;
    Ok((file, map))
}

fn anonymous_file() -> Result<OwnedFd, String> {
    // SAFETY: the name is a valid C string.
    let descriptor = unsafe { libc::memfd_create(c"vitric frame".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
