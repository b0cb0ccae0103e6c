//! Files of memory that processes share: what is behind the opaque descriptors of external memory, fences and semaphores.
//!
//! A file has the shared bytes, up to a whole page, and a page behind them that says what they are. Nobody can make it shorter
//! (a seal sees to that), so that a mapping never loses its pages; a descriptor of something else is told apart when it comes
//! in. Sources: `VK_KHR_external_memory_fd`, `VK_KHR_external_semaphore_fd`, `VK_KHR_external_fence_fd`; memfd_create(2).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};

const PAGE: u64 = 4096;
const MAGIC: [u8; 16] = *b"vitric shared 1\0";

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Shares {
    /// Memory of a device.
    Memory = 1,
    /// A fence.
    Fence = 2,
    /// A binary semaphore.
    Binary = 3,
    /// A timeline semaphore.
    Timeline = 4,
}

/// A file, mapped.
#[derive(Debug)]
pub struct SharedFile {
    file: File,
    map: MmapRaw,
}

/// The page behind the bytes begins with this.
fn header(shares: Shares, size: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&(shares as u32).to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes
}

/// Where that page is.
fn end_of(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::InvalidInput.into())
}

/// The result of a call to the system.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl SharedFile {
    /// A new file of `size` zeros, at least 1.
    ///
    /// # Errors
    /// Those of the system: no memory, too many open files.
    pub fn create(shares: Shares, size: u64) -> io::Result<Self> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string; the descriptor is new and nobody else's.
        let mut file = unsafe { File::from_raw_fd(checked(libc::memfd_create(c"vitric".as_ptr(), flags))?) };
        let end = end_of(size)?;
        file.set_len(end + PAGE)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&header(shares, size))?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: the descriptor is open; the command takes an integer.
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
        Self::map(file, size)
    }

    /// The file behind a descriptor, which stays the caller's, when it holds `size` bytes of this.
    ///
    /// # Errors
    /// Those of the system, and for anything but such a file.
    pub fn open(descriptor: BorrowedFd<'_>, shares: Shares, size: u64) -> io::Result<Self> {
        let mut file = File::from(descriptor.try_clone_to_owned()?);
        // SAFETY: the descriptor is open; the command takes nothing. It fails for all but files of memory.
        let seals = checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) })?;
        let end = end_of(size)?;
        let mut found = vec![0; header(shares, size).len()];
        if seals & libc::F_SEAL_SHRINK == 0 || file.metadata()?.len() != end.saturating_add(PAGE) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Descriptors of one file share the place: others may move it meanwhile, which is then found to be no header.
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut found)?;
        if found != header(shares, size) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Self::map(file, size)
    }

    fn map(file: File, size: u64) -> io::Result<Self> {
        let length = usize::try_from(end_of(size)?).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let map = MmapOptions::new().len(length.max(PAGE as usize)).map_raw(&file)?;
        Ok(Self { file, map })
    }

    /// Another descriptor of the file.
    ///
    /// # Errors
    /// Too many open files.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        self.file.try_clone().map(OwnedFd::from)
    }

    /// The bytes, of whole pages.
    pub fn bytes(&self) -> &MmapRaw {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_file_is_opened_as_what_it_is_only() {
        let made = SharedFile::create(Shares::Memory, 5000).unwrap();
        let descriptor = made.descriptor().unwrap();
        let open = |shares, size| SharedFile::open(descriptor.as_fd(), shares, size);
        assert_eq!(open(Shares::Memory, 5000).unwrap().bytes().len(), 8192);
        assert!(open(Shares::Memory, 5001).is_err() && open(Shares::Timeline, 5000).is_err());
        assert!(open(Shares::Memory, u64::MAX).is_err());
        let other = File::open("/dev/null").unwrap();
        assert!(SharedFile::open(other.as_fd(), Shares::Memory, 5000).is_err());
        assert!(File::from(descriptor).set_len(0).is_err(), "nobody takes pages away");
    }
}
