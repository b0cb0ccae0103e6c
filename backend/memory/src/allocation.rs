//! Raw storage: memory shared between the host (which may map it) and the GPU's worker threads, and with other processes
//! where that was asked for.
//!
//! Conventions: offsets and sizes are bytes from the start of the allocation; every access is bounds-checked, and one that
//! is out of range reads zeros or is dropped. Vulkan makes races the application's problem, so plain accesses promise no
//! atomicity; the atomic views do. Source: Vulkan specification, "Memory Allocation".

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use super::rest::{Residency, Rest};
use super::shared::{SharedFile, Shares};

/// Bytes of a huge page, as most hosts have them.
const HUGE: usize = 2 << 20;

/// There is no room for an allocation of so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutOfMemory {
    /// In the heap, or in the host's memory.
    #[error("the heap cannot hold another {0} bytes")]
    Heap(u64),
    /// On the disk of the file that is far memory.
    #[error("the disk of far memory cannot hold another {0} bytes")]
    Far(u64),
}

/// A memory heap: a size and how much of it is in use.
#[derive(Debug)]
pub struct Heap {
    size: u64,
    used: AtomicU64,
    /// Bytes that images at rest do not take of the process's memory.
    saved: AtomicI64,
}

impl Heap {
    /// A heap of `size` bytes, all of it free.
    pub fn new(size: u64) -> Arc<Self> {
        Arc::new(Self { size, used: AtomicU64::new(0), saved: AtomicI64::new(0) })
    }

    /// Bytes in the heap.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes in use now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes in use now that the process has memory for: what rests takes less.
    pub fn resident(&self) -> u64 {
        let saved = self.saved.load(Ordering::Relaxed).max(0) as u64;
        self.used().saturating_sub(saved)
    }

    /// So many bytes more are not needed while something rests; or fewer.
    pub(super) fn rests(&self, saved: i64) {
        self.saved.fetch_add(saved, Ordering::Relaxed);
    }

    fn reserve(&self, size: u64) -> Result<(), OutOfMemory> {
        let fits = |used: u64| used.checked_add(size).filter(|&total| total <= self.size);
        let reserved = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        reserved.map(drop).map_err(|_| OutOfMemory::Heap(size))
    }
}

/// Why memory from outside of the device could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImportFailed {
    /// As for any memory.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// It is not what it is said to be.
    #[error("this is no memory of that size that can be shared")]
    Foreign,
}

/// A range of storage taken from a heap, given back when dropped: zeros at first, unless it came from outside.
#[derive(Debug)]
pub struct Allocation {
    storage: Storage,
    /// Where the bytes are, and how many: whole words.
    pub(super) pointer: *mut u8,
    pub(super) length: usize,
    size: u64,
    heap: Arc<Heap>,
    /// Whether the host may be writing to it.
    mapped: AtomicBool,
    /// True once texels of blocks in the allocation were decoded.
    decoded: AtomicBool,
    /// What of it rests, where images may.
    pub(super) rest: Option<Rest>,
}

// SAFETY: the pointer is to memory that lives as long as the allocation, and is reached by the functions below only, which
// treat what threads do at the same time as memory of a device does.
unsafe impl Send for Allocation {}
// SAFETY: the pointer is to memory that lives as long as the allocation, and is reached by the
// functions below only, which treat what threads do at the same time as memory of a device
// does.
unsafe impl Sync for Allocation {}

/// What keeps the bytes alive.
#[derive(Debug)]
enum Storage {
    /// Memory of this process.
    Own(#[expect(dead_code, reason = "what is dropped with it counts")] memmap2::MmapRaw),
    /// Memory that other processes may have, too.
    Shared(SharedFile),
    /// The application, which keeps it as long as the allocation.
    Application,
}

impl Allocation {
    /// The heap that it was taken from.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    /// Takes `size` bytes (at least 1) from `heap`.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the heap or the host has no room.
    pub fn new(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        Self::own(heap, size, None).map(Arc::new)
    }

    /// The same for a device where images rest, and where the host sees nothing of the memory.
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`], and when a file that is far memory cannot grow so that all may rest.
    pub fn resting(heap: &Arc<Heap>, size: u64, near: &Residency) -> Result<Arc<Self>, OutOfMemory> {
        Self::own(heap, size, Some(near)).map(Arc::new)
    }

    fn own(heap: &Arc<Heap>, size: u64, near: Option<&Residency>) -> Result<Self, OutOfMemory> {
        let out_of_memory = OutOfMemory::Heap(size);
        // Whole words, so that the last bytes of a range can be reached as part of one.
        let length = size.max(1).checked_next_multiple_of(4).and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or(out_of_memory)?;
        let taken = Taken::from(heap, size)?;
        let map = memmap2::MmapOptions::new().len(length).map_anon().map_err(|_| out_of_memory)?;
        // First touches of large images are then few; a host without huge pages loses nothing.
        #[cfg(target_os = "linux")]
        if length >= HUGE {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        let map = memmap2::MmapRaw::from(map);
        let pointer = map.as_mut_ptr();
        let mut made = taken.made(Storage::Own(map), pointer, length);
        let rest = near.and_then(|near| near.shared(length)).map(|shared| Rest::new(shared, length));
        made.rest = rest.transpose().map_err(|_| OutOfMemory::Far(size))?;
        Ok(made)
    }

    /// Takes `size` bytes from `heap` that other processes can be given.
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`].
    pub fn shared(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        let taken = Taken::from(heap, size)?;
        let file = SharedFile::create(Shares::Memory, size).map_err(|_| OutOfMemory::Heap(size))?;
        Ok(taken.in_file(file))
    }

    /// The memory of `size` bytes behind a descriptor, which stays the caller's. It counts in the heap as if it were new.
    ///
    /// # Errors
    /// [`ImportFailed`].
    pub fn open(heap: &Arc<Heap>, size: u64, descriptor: BorrowedFd<'_>) -> Result<Arc<Self>, ImportFailed> {
        let taken = Taken::from(heap, size)?;
        let file = SharedFile::open(descriptor, Shares::Memory, size).map_err(|_| ImportFailed::Foreign)?;
        Ok(taken.in_file(file))
    }

    /// Memory of the application: `size` bytes, a multiple of 8, from `pointer` on, which is aligned to 8.
    ///
    /// # Safety
    /// The bytes can be read and written as long as the allocation lives.
    ///
    /// # Errors
    /// [`ImportFailed`].
    pub unsafe fn of_application(heap: &Arc<Heap>, size: u64, pointer: *mut u8) -> Result<Arc<Self>, ImportFailed> {
        let taken = Taken::from(heap, size)?;
        let length = usize::try_from(size).map_err(|_| ImportFailed::Foreign)?;
        if pointer.is_null() || !pointer.addr().is_multiple_of(8) || !length.is_multiple_of(8) {
            return Err(ImportFailed::Foreign);
        }
        Ok(Arc::new(taken.made(Storage::Application, pointer, length)))
    }

    /// A descriptor for other processes; `None` when the memory cannot be shared.
    ///
    /// # Errors
    /// Too many open files.
    pub fn descriptor(&self) -> Option<io::Result<OwnedFd>> {
        match &self.storage {
            Storage::Shared(file) => Some(file.descriptor()),
            Storage::Own(_) | Storage::Application => None,
        }
    }

    /// Bytes in the allocation.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of it that the process has memory for: pages come when they are first touched. All of them, where the system does not say.
    pub fn resident(&self) -> u64 {
        let page = 4096;
        let mut pages = vec![0u8; self.length.div_ceil(page)];
        // SAFETY: the mapping begins on a page and has as many as there is room for; nothing is read or written there.
        let is_known = unsafe { libc::mincore(self.pointer.cast(), self.length, pages.as_mut_ptr()) } == 0;
        let count = pages.iter().filter(|page| *page & 1 != 0).count() as u64;
        if is_known { (count * page as u64).min(self.size) } else { self.size }
    }

    /// The address at which the host sees the storage; valid as long as the allocation lives.
    pub fn host_pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// The host begins to write to it at any time, or ends.
    pub fn set_mapped(&self, mapped: bool) {
        self.mapped.store(mapped, Ordering::Release);
    }

    /// Whether the host may write to it at any time, or another process.
    pub fn is_mapped(&self) -> bool {
        self.is_foreign() || self.mapped.load(Ordering::Acquire)
    }

    /// Whether the same bytes may be another allocation's, too.
    pub fn is_foreign(&self) -> bool {
        !matches!(self.storage, Storage::Own(_))
    }

    /// Texels of blocks in it are decoded from now on.
    pub(super) fn set_decoded(&self) {
        self.decoded.store(true, Ordering::Release);
    }

    /// True once texels of blocks in the allocation were decoded.
    pub(super) fn has_decoded(&self) -> bool {
        self.decoded.load(Ordering::Acquire)
    }

    /// Whether `length` bytes at `offset` lie inside the allocation, which is padded to whole words.
    fn holds(&self, offset: u64, length: usize) -> bool {
        offset.checked_add(length as u64).is_some_and(|end| end <= self.length as u64)
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
        // SAFETY: the range was checked to lie inside the mapping, `data` is a distinct
        // Rust slice, and the bytes are plain data; a concurrent reader or writer can
        // only tear values, as Vulkan allows for unsynchronised access.
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

    /// Gives all pages back to the system; what is read from then on is zeros. Memory that others may have is left as it is.
    pub(super) fn discard(&self) {
        if !self.is_foreign() {
            // SAFETY: the range is a mapping of this allocation's own, of whose last page nothing belongs to anybody else.
            unsafe {
                libc::madvise(self.pointer.cast(), self.length, libc::MADV_DONTNEED);
            }
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

    /// The 32-bit words of `size` bytes from `start` (a multiple of 4) on, rounded up, as atomics: those that are inside; none when misaligned.
    #[inline]
    pub fn atomic_words(&self, start: u64, size: u64) -> &[AtomicU32] {
        let inside = size.next_multiple_of(4).min((self.length as u64).saturating_sub(start));
        if !start.is_multiple_of(4) || inside == 0 {
            return &[];
        }
        // SAFETY: in range, aligned (mappings start on a page), and living as long as `self`; a word has every value.
        unsafe { std::slice::from_raw_parts(self.host_pointer().add(start as usize).cast(), inside as usize / 4) }
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

/// Bytes of a heap for an allocation that is being made.
struct Taken<'h> {
    heap: &'h Arc<Heap>,
    size: u64,
}

impl<'h> Taken<'h> {
    fn from(heap: &'h Arc<Heap>, size: u64) -> Result<Self, OutOfMemory> {
        heap.reserve(size)?;
        Ok(Self { heap, size })
    }

    fn in_file(self, file: SharedFile) -> Arc<Allocation> {
        let (pointer, length) = (file.bytes().as_mut_ptr(), file.bytes().len());
        Arc::new(self.made(Storage::Shared(file), pointer, length))
    }

    fn made(self, storage: Storage, pointer: *mut u8, length: usize) -> Allocation {
        let (mapped, decoded) = (AtomicBool::new(false), AtomicBool::new(false));
        let (size, heap) = (self.size, self.heap.clone());
        let made = Allocation { storage, pointer, length, size, heap, mapped, decoded, rest: None };
        // They are the allocation's now.
        std::mem::forget(self);
        made
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.heap.used.fetch_sub(self.size, Ordering::Relaxed);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(rest) = &mut self.rest {
            rest.release(self.length);
        }
        self.heap.used.fetch_sub(self.size, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn memory_is_shared_by_descriptors() {
        let heap = Heap::new(1 << 20);
        let first = Allocation::shared(&heap, 5000).unwrap();
        let descriptor = first.descriptor().unwrap().unwrap();
        let second = Allocation::open(&heap, 5000, descriptor.as_fd()).unwrap();
        first.write(4990, &[1, 2, 3]);
        drop((first, descriptor));
        let mut bytes = [9; 4];
        second.read(4990, &mut bytes);
        assert_eq!((bytes, heap.used()), ([1, 2, 3, 0], 5000));
        let wrong = Allocation::open(&heap, 4096, second.descriptor().unwrap().unwrap().as_fd());
        assert_eq!(wrong.unwrap_err(), ImportFailed::Foreign);
        assert_eq!(heap.used(), 5000, "what failed takes nothing");
        assert!(Allocation::new(&heap, 16).unwrap().descriptor().is_none());
    }

    #[test]
    fn memory_of_the_application_is_used_in_place() {
        let heap = Heap::new(1 << 20);
        let mut words = vec![0u64; 512];
        let pointer = words.as_mut_ptr().cast::<u8>();
        // SAFETY: the words live longer than the allocation.
        let memory = unsafe { Allocation::of_application(&heap, 4096, pointer) }.unwrap();
        memory.write(8, &7u64.to_le_bytes());
        memory.write(4090, &[1; 16]);
        assert_eq!(memory.host_pointer(), pointer);
        // SAFETY: refused for its size and its alignment, before anything is touched.
        unsafe {
            assert!(Allocation::of_application(&heap, 4095, pointer).is_err());
            assert!(Allocation::of_application(&heap, 4088, pointer.wrapping_add(4)).is_err());
            assert!(Allocation::of_application(&heap, 4096, std::ptr::null_mut()).is_err());
        }
        drop(memory);
        assert_eq!((words[1], words[511], heap.used()), (7, 0, 0));
    }
}
