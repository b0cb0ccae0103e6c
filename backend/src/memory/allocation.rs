//! Raw storage: anonymous memory shared between the host (which may map it) and the GPU's worker threads.
//!
//! Conventions: offsets and sizes are bytes from the start of the allocation; every access is bounds-checked, and one that
//! is out of range reads zeros or is dropped. Vulkan makes races the application's problem, so plain accesses promise no
//! atomicity; the atomic views do. Source: Vulkan specification, "Memory Allocation".

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Bytes of a huge page, as most hosts have them.
const HUGE: usize = 2 << 20;

/// The heap has no room for an allocation of this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the heap cannot hold another {requested} bytes")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: u64,
}

/// A memory heap: a size and how much of it is in use.
#[derive(Debug)]
pub struct Heap {
    size: u64,
    used: AtomicU64,
}

impl Heap {
    /// A heap of `size` bytes, all of it free.
    pub fn new(size: u64) -> Arc<Self> {
        Arc::new(Self { size, used: AtomicU64::new(0) })
    }

    /// Bytes in the heap.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes in use now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn reserve(&self, size: u64) -> Result<(), OutOfMemory> {
        let fits = |used: u64| used.checked_add(size).filter(|&total| total <= self.size);
        let reserved = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        reserved.map(drop).map_err(|_| OutOfMemory { requested: size })
    }
}

/// A range of zero-initialised storage taken from a heap, given back when dropped.
#[derive(Debug)]
pub struct Allocation {
    storage: memmap2::MmapRaw,
    size: u64,
    heap: Arc<Heap>,
    /// Whether the host may be writing to it.
    mapped: AtomicBool,
}

impl Allocation {
    /// Takes `size` bytes (at least 1) from `heap`.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the heap or the host has no room.
    pub fn new(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        let out_of_memory = OutOfMemory { requested: size };
        // Whole words, so that the last bytes of a range can be reached as part of one.
        let length = size.max(1).checked_next_multiple_of(4).and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or(out_of_memory)?;
        heap.reserve(size)?;
        let mapped = memmap2::MmapOptions::new().len(length).map_anon();
        match mapped {
            Ok(map) => {
                // First touches of large images are then few; a host without huge pages loses nothing.
                #[cfg(target_os = "linux")]
                if length >= HUGE {
                    let _ = map.advise(memmap2::Advice::HugePage);
                }
                Ok(Arc::new(Self { storage: map.into(), size, heap: heap.clone(), mapped: AtomicBool::new(false) }))
            }
            Err(_) => {
                heap.used.fetch_sub(size, Ordering::Relaxed);
                Err(out_of_memory)
            }
        }
    }

    /// Bytes in the allocation.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The address at which the host sees the storage; valid as long as the allocation lives.
    pub fn host_pointer(&self) -> *mut u8 {
        self.storage.as_mut_ptr()
    }

    /// The host begins to write to it at any time, or ends.
    pub fn set_mapped(&self, mapped: bool) {
        self.mapped.store(mapped, Ordering::Release);
    }

    /// Whether the host may write to it at any time.
    pub fn is_mapped(&self) -> bool {
        self.mapped.load(Ordering::Acquire)
    }

    /// Whether `length` bytes at `offset` lie inside the allocation, which is padded to whole words.
    fn holds(&self, offset: u64, length: usize) -> bool {
        offset.checked_add(length as u64).is_some_and(|end| end <= self.storage.len() as u64)
    }

    /// Copies bytes at `offset` to `out`; zeros when the range is not wholly inside.
    #[inline]
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        if !self.holds(offset, out.len()) {
            out.fill(0);
            return;
        }
        // SAFETY: the range was checked to lie inside the mapping, `out` is a distinct Rust slice, and the bytes are plain
        // data; a concurrent writer can only tear values, as Vulkan allows for unsynchronised access.
        unsafe { std::ptr::copy_nonoverlapping(self.host_pointer().add(offset as usize), out.as_mut_ptr(), out.len()) }
    }

    /// Copies `data` to `offset`; dropped when the range is not wholly inside.
    #[inline]
    pub fn write(&self, offset: u64, data: &[u8]) {
        if !self.holds(offset, data.len()) {
            return;
        }
        // SAFETY: as in `read`, with the roles of source and destination exchanged.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host_pointer().add(offset as usize), data.len()) }
    }

    /// Copies `length` bytes between two ranges that may overlap (also of one allocation); dropped when out of range.
    pub fn copy(source: &Self, source_offset: u64, target: &Self, target_offset: u64, length: u64) {
        let Ok(count) = usize::try_from(length) else { return };
        if !source.holds(source_offset, count) || !target.holds(target_offset, count) {
            return;
        }
        // SAFETY: both ranges were checked to lie inside their mappings; `copy` permits overlap.
        unsafe {
            let from = source.host_pointer().add(source_offset as usize);
            std::ptr::copy(from, target.host_pointer().add(target_offset as usize), count);
        }
    }

    /// Fills `length` bytes at `offset` with `byte`; dropped when out of range.
    pub fn fill(&self, offset: u64, length: u64, byte: u8) {
        let Ok(count) = usize::try_from(length) else { return };
        if self.holds(offset, count) {
            // SAFETY: the range was checked to lie inside the mapping.
            unsafe { std::ptr::write_bytes(self.host_pointer().add(offset as usize), byte, count) }
        }
    }

    /// The 32-bit word at `offset` (a multiple of 4) as an atomic; `None` when out of range or misaligned.
    #[inline]
    pub fn atomic_u32(&self, offset: u64) -> Option<&AtomicU32> {
        if !offset.is_multiple_of(4) || !self.holds(offset, 4) {
            return None;
        }
        // SAFETY: in range, aligned (mappings start on a page), and living as long as `self`.
        Some(unsafe { AtomicU32::from_ptr(self.host_pointer().add(offset as usize).cast()) })
    }

    /// The 64-bit word at `offset` (a multiple of 8) as an atomic; `None` when out of range or misaligned.
    #[inline]
    pub fn atomic_u64(&self, offset: u64) -> Option<&AtomicU64> {
        if !offset.is_multiple_of(8) || !self.holds(offset, 8) {
            return None;
        }
        // SAFETY: in range, aligned (mappings start on a page), and living as long as `self`.
        Some(unsafe { AtomicU64::from_ptr(self.host_pointer().add(offset as usize).cast()) })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.heap.used.fetch_sub(self.size, Ordering::Relaxed);
    }
}
