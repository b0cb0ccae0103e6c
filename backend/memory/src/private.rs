//! Memory of this process, placed at the boundaries of large pages.

use std::io;

/// Bytes of a large page of the system on most hosts.
pub(crate) const LARGE_PAGE: usize = 2 << 20;
/// Bytes of a page of the system.
const PAGE: usize = 4096;

/// Zeroed memory. It begins at a boundary of large pages if it has at least the size of one.
///
/// Compaction discards a large page at once if all its spans are idle. A page that is discarded in
/// two parts is split by the system, and becomes resident again in hundreds of small pages.
#[derive(Debug)]
pub(crate) struct PrivateMemory {
    pointer: *mut u8,
    length: usize,
}

// SAFETY: the pointer owns the mapping, which lives as long as `self`. The type itself accesses no
// byte of it.
unsafe impl Send for PrivateMemory {}
// SAFETY: the pointer owns the mapping, which lives as long as `self`. The type itself accesses no
// byte of it.
unsafe impl Sync for PrivateMemory {}

impl PrivateMemory {
    /// Maps `length` bytes, at least 1.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(length: usize) -> io::Result<Self> {
        Self::map(length, libc::MAP_PRIVATE)
    }

    /// Maps `length` bytes, at least 1, which can be mapped again. Forked processes share them.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new_shared(length: usize) -> io::Result<Self> {
        Self::map(length, libc::MAP_SHARED)
    }

    fn map(length: usize, sharing: libc::c_int) -> io::Result<Self> {
        let is_large = length >= LARGE_PAGE;
        let pages = length.checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapped = pages.checked_add(if is_large { LARGE_PAGE } else { 0 }).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new anonymous mapping at an address that the system chooses.
        let map = unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, sharing | libc::MAP_ANONYMOUS);
            libc::mmap(std::ptr::null_mut(), mapped, access, kind, -1, 0)
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = map.cast::<u8>();
        if !is_large {
            return Ok(Self { pointer: map, length });
        }
        let head = map.addr().next_multiple_of(LARGE_PAGE) - map.addr();
        let pointer = map.wrapping_add(head);
        // The bytes in front of the memory and behind it are returned, because systems without
        // overcommit count every mapped byte.
        // SAFETY: both ranges lie in the mapping and outside of the memory, and nothing uses them.
        unsafe {
            unmap(map, head);
            unmap(pointer.wrapping_add(pages), LARGE_PAGE - head);
        }
        // Large pages make the first touches of large images rare. On a host without large pages
        // the call has no effect.
        // SAFETY: the range is a mapping of its own. The advice does not change its contents.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::madvise(pointer.cast(), length, libc::MADV_HUGEPAGE);
        }
        Ok(Self { pointer, length })
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns the address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.pointer
    }

    /// Returns the address of the first byte.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.pointer
    }
}

impl Drop for PrivateMemory {
    fn drop(&mut self) {
        // SAFETY: `self` owns the mapping, which ends with the page of its last byte.
        unsafe { unmap(self.pointer, self.length) };
    }
}

/// Unmaps the pages of `length` bytes, which may be 0.
///
/// # Safety
/// The bytes must belong to mappings of the caller that nothing uses any more.
unsafe fn unmap(start: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: the caller's contract.
        let done = unsafe { libc::munmap(start.cast(), length) };
        debug_assert_eq!(done, 0, "munmap");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_memory_begins_at_a_large_page() {
        for length in [1, LARGE_PAGE - 4, LARGE_PAGE, LARGE_PAGE + 4, 5 * LARGE_PAGE / 2] {
            let memory = PrivateMemory::new(length).unwrap();
            assert!(length < LARGE_PAGE || memory.as_ptr().addr().is_multiple_of(LARGE_PAGE));
            // SAFETY: the byte is the last of the mapping, which nothing else accesses.
            unsafe { *memory.as_mut_ptr().add(length - 1) = 7 };
            assert_eq!((memory.len(), memory.as_ptr()), (length, memory.as_mut_ptr().cast_const()));
        }
        assert!(PrivateMemory::new(usize::MAX - 7).is_err());
    }
}
