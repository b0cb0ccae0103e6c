//! Private memory of this process, placed at the boundaries of large pages.

use std::io;

use memmap2::{MmapOptions, MmapRaw};

/// Bytes of a large page of the system on most hosts.
pub(crate) const LARGE_PAGE: usize = 2 << 20;

/// Zeroed memory. It begins at a boundary of large pages if it has at least the size of one.
///
/// Compaction discards large pages as a whole. A page that is discarded in two parts is split by
/// the system, and becomes resident again in hundreds of small pages.
#[derive(Debug)]
pub(crate) struct PrivateMemory {
    map: MmapRaw,
    /// Offset of the first byte in the mapping.
    start: usize,
    length: usize,
}

impl PrivateMemory {
    /// Maps `length` bytes, at least 1.
    ///
    /// # Errors
    /// The system has no memory.
    pub fn new(length: usize) -> io::Result<Self> {
        let is_large = length >= LARGE_PAGE;
        // The additional bytes are never touched, so they occupy no memory.
        let mapped = length.checked_add(if is_large { LARGE_PAGE } else { 0 }).ok_or(io::ErrorKind::OutOfMemory)?;
        let map = MmapOptions::new().len(mapped).map_anon()?;
        let start = if is_large { map.as_ptr().addr().next_multiple_of(LARGE_PAGE) - map.as_ptr().addr() } else { 0 };
        // Large pages make the first touches of large images rare. On a host without large pages
        // the call has no effect.
        #[cfg(target_os = "linux")]
        if is_large {
            let _ = map.advise_range(memmap2::Advice::HugePage, start, length);
        }
        Ok(Self { map: MmapRaw::from(map), start, length })
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns the address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.as_mut_ptr()
    }

    /// Returns the address of the first byte.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.map.as_mut_ptr().wrapping_add(self.start)
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
