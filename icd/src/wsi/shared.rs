//! Memory for frames that is shared with a window system: an anonymous file, whose descriptor the
//! window system receives.

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd};

use memmap2::MmapMut;

/// Creates an anonymous file with a size in bytes and maps it.
///
/// # Errors
/// The system's message if a call fails.
pub fn shared(bytes: usize) -> Result<(File, MmapMut), String> {
    let file = File::from(anonymous_file()?);
    file.set_len(bytes as u64).map_err(|error| error.to_string())?;
    // SAFETY: the file is anonymous and belongs to this process. The window system only maps it
    // for reading.
    let map = unsafe { MmapMut::map_mut(&file) }.map_err(|error| error.to_string())?;
    Ok((file, map))
}

fn anonymous_file() -> Result<OwnedFd, String> {
    // SAFETY: the name is a valid C string.
    let descriptor = unsafe { libc::memfd_create(c"vitric frame".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: the descriptor was just created and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
