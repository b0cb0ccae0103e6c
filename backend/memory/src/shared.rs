//! Files of memory shared by processes: the objects behind opaque descriptors of external memory,
//! fences and semaphores.
//!
//! A file holds the shared bytes, padded to a whole page, and a trailing page that identifies the
//! content. A seal prevents every process from shrinking the file, so that a mapping never loses
//! its pages. Opening a descriptor verifies the trailing page and rejects any other file. Sources:
//! `VK_KHR_external_memory_fd`, `VK_KHR_external_semaphore_fd`, `VK_KHR_external_fence_fd`;
//! memfd_create(2).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};

pub(super) const PAGE: u64 = 4096;
const MAGIC: [u8; 16] = *b"vitric shared 1\0";

/// Type of the content of a shared file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Shares {
    /// Memory of a device.
    Memory = 1,
    /// Fence.
    Fence = 2,
    /// Binary semaphore.
    Binary = 3,
    /// Timeline semaphore.
    Timeline = 4,
}

/// Mapped file.
#[derive(Debug)]
pub struct SharedFile {
    file: File,
    map: MmapRaw,
}

/// Returns the first bytes of the trailing page, which identify the content.
fn header(shares: Shares, size: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&(shares as u32).to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes
}

/// Returns the offset of the trailing page in bytes.
fn end_of(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::InvalidInput.into())
}

/// Converts the result of a system call into a `Result`.
pub(super) fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl SharedFile {
    /// Creates a file of `size` zero bytes (at least 1).
    ///
    /// # Errors
    /// An error of the system: no memory, or too many open files.
    pub fn create(shares: Shares, size: u64) -> io::Result<Self> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string. The descriptor is new and has no other owner.
        let mut file = unsafe { File::from_raw_fd(checked(libc::memfd_create(c"vitric".as_ptr(), flags))?) };
        let end = end_of(size)?;
        file.set_len(end + PAGE)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&header(shares, size))?;
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: the descriptor is open, and the command takes an integer argument.
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
        Self::map(file, size)
    }

    /// Opens the file behind a descriptor if it holds `size` bytes of type `shares`. The caller
    /// keeps the descriptor.
    ///
    /// # Errors
    /// An error of the system, or a file of another size or type.
    pub fn open(descriptor: BorrowedFd<'_>, shares: Shares, size: u64) -> io::Result<Self> {
        let mut file = File::from(descriptor.try_clone_to_owned()?);
        // SAFETY: the descriptor is open, and the command takes no argument. It fails for every
        // file that is not a memory file.
        let seals = checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) })?;
        let end = end_of(size)?;
        let mut found = vec![0; header(shares, size).len()];
        if seals & libc::F_SEAL_SHRINK == 0 || file.metadata()?.len() != end.saturating_add(PAGE) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Descriptors of one file share the file position. If another process moves it meanwhile,
        // the bytes read here do not match the header and the file is rejected.
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

    /// Returns a new descriptor of the file.
    ///
    /// # Errors
    /// The process has too many open files.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        self.file.try_clone().map(OwnedFd::from)
    }

    /// Returns the descriptor of the file.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns the mapped bytes, padded to whole pages.
    pub fn bytes(&self) -> &MmapRaw {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_opened_only_by_their_type_and_size() {
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
