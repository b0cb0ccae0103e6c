//! Further maps of an allocation's bytes, at addresses that the application chooses or that may
//! stay reserved afterwards. Source: `VK_EXT_map_memory_placed`; mremap(2).

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Alignment of addresses, offsets and sizes of placed maps, in bytes: a page of the system.
pub const PLACED_ALIGNMENT: u64 = 4096;

/// Map of bytes that another map of this process also has. Dropping it unmaps the bytes.
#[derive(Debug)]
pub(crate) struct PlacedMap {
    start: *mut u8,
    length: usize,
}

// SAFETY: the pointer owns the map. The type itself accesses no byte of it.
unsafe impl Send for PlacedMap {}
// SAFETY: the pointer owns the map. The type itself accesses no byte of it.
unsafe impl Sync for PlacedMap {}

/// Converts the result of a system call that maps memory.
fn checked(map: *mut libc::c_void) -> io::Result<*mut u8> {
    if map == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(map.cast()) }
}

impl PlacedMap {
    /// Maps `length` bytes at `source`, which are a part of a shared map, once more. They are
    /// mapped at `address`, where they replace all maps, or anywhere if it is null.
    ///
    /// # Safety
    /// Nothing may use the maps in front of the call that lie in `length` bytes at `address`.
    ///
    /// # Errors
    /// The system cannot map the bytes there.
    pub unsafe fn of_shared(source: *mut u8, length: usize, address: *mut u8) -> io::Result<Self> {
        if length == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let placing = if address.is_null() { 0 } else { libc::MREMAP_FIXED };
        // SAFETY: an old size of 0 leaves the shared map in place, and makes another one of its
        // pages. The caller gives up the maps at the new address.
        let map = unsafe { libc::mremap(source.cast(), 0, length, libc::MREMAP_MAYMOVE | placing, address) };
        Ok(Self { start: checked(map)?, length })
    }

    /// Maps `length` bytes of a file at `offset`, like [`Self::of_shared`].
    ///
    /// # Safety
    /// Nothing may use the maps in front of the call that lie in `length` bytes at `address`.
    ///
    /// # Errors
    /// The system cannot map the bytes there.
    pub unsafe fn of_file(file: BorrowedFd<'_>, offset: u64, length: usize, address: *mut u8) -> io::Result<Self> {
        let placing = if address.is_null() { 0 } else { libc::MAP_FIXED };
        let offset = offset.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the descriptor is open. The caller gives up the maps at the new address.
        let map =
            unsafe { libc::mmap(address.cast(), length, access, libc::MAP_SHARED | placing, file.as_raw_fd(), offset) };
        Ok(Self { start: checked(map)?, length })
    }

    /// Returns the address of the first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Unmaps the bytes, and keeps their addresses reserved until the application uses them.
    ///
    /// # Errors
    /// The map, with an error of the system. Nothing has changed then.
    pub fn reserve(self) -> Result<(), (Self, io::Error)> {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: the new map only replaces the one that `self` owns.
        let map = unsafe { libc::mmap(self.start.cast(), self.length, libc::PROT_NONE, kind, -1, 0) };
        match checked(map) {
            Ok(_) => {
                mem::forget(self);
                Ok(())
            }
            Err(error) => Err((self, error)),
        }
    }
}

impl Drop for PlacedMap {
    fn drop(&mut self) {
        // SAFETY: `self` owns the map.
        let done = unsafe { libc::munmap(self.start.cast(), self.length) };
        debug_assert_eq!(done, 0, "munmap");
    }
}
