//! Raw storage: memory shared by the host (which may map it), the GPU's worker threads and, on
//! request, other processes.
//!
//! Offsets and sizes are bytes from the start of the allocation. Every access is bounds-checked: a
//! read out of range returns zeros, and a write out of range is dropped. Vulkan leaves data races
//! to the application, so plain accesses promise no atomicity. The atomic views do. Source: Vulkan
//! specification, "Memory Allocation".

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::dma_buf::{self, DmaBuf};
use super::heap::{Heap, OutOfMemory, Reservation};
use super::near::{CompactableMemory, Residency};
use super::placed::{PLACED_ALIGNMENT, PlacedMap};
use super::private::PrivateMemory;
use super::shared::{SharedFile, Shares};

/// Reason why external memory could not be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImportFailed {
    /// The heap has no room for the memory.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The memory does not have the claimed size or type.
    #[error("this is no memory of that size that can be shared")]
    Foreign,
}

/// Range of storage reserved from a heap and returned to the heap on drop. It is zero at first,
/// unless it is imported.
#[derive(Debug)]
pub struct Allocation {
    storage: Storage,
    /// First byte, and length in bytes (a multiple of 4).
    pointer: *mut u8,
    length: usize,
    /// True while the host has the allocation mapped and may write to it.
    mapped: AtomicBool,
    /// True once texels of blocks in the allocation were decoded.
    decoded: AtomicBool,
    /// The host's own map of the bytes, if it has one.
    placed: Mutex<Option<PlacedMap>>,
    /// Bytes of the heap. The last field, because the heap gets its bytes back after the storage is
    /// released. Storage that may outlive the allocation shares it.
    reservation: Arc<Reservation>,
}

// SAFETY: the memory behind the pointer lives as long as the allocation. Only the functions below
// access it, and they treat concurrent accesses as device memory does: races can tear values but
// break nothing else.
unsafe impl Send for Allocation {}
// SAFETY: the memory behind the pointer lives as long as the allocation. Only the functions below
// access it, and they treat concurrent accesses as device memory does: races can tear values but
// break nothing else.
unsafe impl Sync for Allocation {}

/// Type of a file descriptor that names memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptorType {
    /// File that only this driver understands.
    Opaque,
    /// Buffer that the kernel shares between drivers (dma-buf).
    DmaBuf,
}

/// Returns the length of memory of `size` bytes: a multiple of 4 bytes, so that the last bytes of a
/// range can be accessed as part of a 32-bit word.
fn length_of(size: u64) -> Result<usize, OutOfMemory> {
    let length = size.max(1).checked_next_multiple_of(4).and_then(|length| usize::try_from(length).ok());
    length.ok_or(OutOfMemory::Host(size))
}

/// Owner of the bytes.
#[derive(Debug)]
enum Storage {
    /// Private memory of this process.
    Private(#[expect(dead_code, reason = "its drop unmaps the memory")] PrivateMemory),
    /// Memory of this process that can be mapped again.
    Placeable(#[expect(dead_code, reason = "its drop unmaps the memory")] PrivateMemory),
    /// Private memory of this process whose idle images are compacted.
    Compactable(Arc<CompactableMemory>),
    /// Private memory of this process that the host must not see.
    Protected(#[expect(dead_code, reason = "its drop unmaps the memory")] PrivateMemory),
    /// Memory that other processes may map, by the file or by a dma-buf of its pages.
    Shared(SharedFile, Option<OwnedFd>),
    /// Memory of another device or process, imported as a dma-buf.
    DmaBuf(DmaBuf),
    /// Memory of the application, which keeps it valid as long as the allocation lives.
    Application,
}

impl Allocation {
    /// Returns the heap from which the allocation was reserved.
    pub fn heap(&self) -> &Arc<Heap> {
        self.reservation.heap()
    }

    /// Allocates `size` bytes (at least 1) from `heap`.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the heap or the host has no room.
    pub fn new(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        Self::private(heap, size, None)
    }

    /// Allocates `size` bytes from `heap` on a device that compacts idle images. The host must not
    /// map this memory.
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`], and if the far-memory file cannot grow enough
    /// to hold the whole compacted allocation.
    pub fn new_compactable(heap: &Arc<Heap>, size: u64, near: &Residency) -> Result<Arc<Self>, OutOfMemory> {
        Self::private(heap, size, Some(near))
    }

    fn private(heap: &Arc<Heap>, size: u64, near: Option<&Residency>) -> Result<Arc<Self>, OutOfMemory> {
        let reservation = Arc::new(heap.reserve(size)?);
        let length = length_of(size)?;
        let bytes = PrivateMemory::new(length).map_err(|_| OutOfMemory::Host(size))?;
        let pointer = bytes.as_mut_ptr();
        let storage = match near.and_then(|near| near.state_for(length)) {
            Some(state) => CompactableMemory::new(state, bytes, &reservation).map(Storage::Compactable),
            None => Ok(Storage::Private(bytes)),
        };
        let storage = storage.map_err(|_| OutOfMemory::Far(size))?;
        Ok(Self::made(storage, pointer, length, reservation))
    }

    /// Allocates `size` bytes from `heap` that can be mapped again by [`Self::place`].
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`].
    pub fn placeable(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        let reservation = Arc::new(heap.reserve(size)?);
        let length = length_of(size)?;
        let bytes = PrivateMemory::new_shared(length).map_err(|_| OutOfMemory::Host(size))?;
        let pointer = bytes.as_mut_ptr();
        Ok(Self::made(Storage::Placeable(bytes), pointer, length, reservation))
    }

    /// Allocates `size` bytes of protected memory from `heap`. The caller must not let the host map
    /// it.
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`].
    pub fn protected(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        let reservation = Arc::new(heap.reserve(size)?);
        let length = length_of(size)?;
        let bytes = PrivateMemory::new(length).map_err(|_| OutOfMemory::Host(size))?;
        let pointer = bytes.as_mut_ptr();
        Ok(Self::made(Storage::Protected(bytes), pointer, length, reservation))
    }

    fn in_file(file: SharedFile, dma_buf: Option<OwnedFd>, reservation: Reservation) -> Arc<Self> {
        let (pointer, length) = (file.bytes().as_mut_ptr(), file.bytes().len());
        Self::made(Storage::Shared(file, dma_buf), pointer, length, Arc::new(reservation))
    }

    fn made(storage: Storage, pointer: *mut u8, length: usize, reservation: Arc<Reservation>) -> Arc<Self> {
        let (mapped, decoded) = (AtomicBool::new(false), AtomicBool::new(false));
        let placed = Mutex::new(None);
        Arc::new(Self { storage, pointer, length, mapped, decoded, placed, reservation })
    }

    /// Allocates `size` bytes from `heap` that other processes can import.
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`].
    pub fn shared(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        let reservation = heap.reserve(size)?;
        let file = SharedFile::create(Shares::Memory, size).map_err(|_| OutOfMemory::Host(size))?;
        Ok(Self::in_file(file, None, reservation))
    }

    /// Allocates `size` bytes from `heap` that other processes and devices can import as a dma-buf,
    /// or by an opaque descriptor.
    ///
    /// # Errors
    /// [`OutOfMemory`] as for [`Allocation::new`], and if the kernel makes no dma-buf of this size.
    pub fn shared_by_dma_buf(heap: &Arc<Heap>, size: u64) -> Result<Arc<Self>, OutOfMemory> {
        let reservation = heap.reserve(size)?;
        let file = SharedFile::create(Shares::Memory, size).map_err(|_| OutOfMemory::Host(size))?;
        let made = dma_buf::make(file.as_fd(), file.bytes().len() as u64);
        let dma_buf = made.map_err(|_| OutOfMemory::DmaBuf(size))?;
        Ok(Self::in_file(file, Some(dma_buf), reservation))
    }

    /// Imports the first `size` bytes of the dma-buf behind a descriptor. The caller keeps the
    /// descriptor. The memory counts as used in the heap like a new allocation.
    ///
    /// # Errors
    /// [`ImportFailed`].
    pub fn open_dma_buf(heap: &Arc<Heap>, size: u64, descriptor: BorrowedFd<'_>) -> Result<Arc<Self>, ImportFailed> {
        let reservation = heap.reserve(size)?;
        let opened = DmaBuf::open(descriptor, size).map_err(|_| ImportFailed::Foreign)?;
        let (pointer, length) = (opened.bytes().as_mut_ptr(), opened.bytes().len());
        Ok(Self::made(Storage::DmaBuf(opened), pointer, length, Arc::new(reservation)))
    }

    /// Returns the size in bytes of the dma-buf behind a descriptor, or `None` for any other file.
    pub fn size_of_dma_buf(descriptor: BorrowedFd<'_>) -> Option<u64> {
        dma_buf::size_of_file(descriptor).ok()
    }

    /// Imports the memory of `size` bytes behind a descriptor. The caller keeps the descriptor.
    /// The memory counts as used in the heap like a new allocation.
    ///
    /// # Errors
    /// [`ImportFailed`].
    pub fn open(heap: &Arc<Heap>, size: u64, descriptor: BorrowedFd<'_>) -> Result<Arc<Self>, ImportFailed> {
        let reservation = heap.reserve(size)?;
        let file = SharedFile::open(descriptor, Shares::Memory, size).map_err(|_| ImportFailed::Foreign)?;
        Ok(Self::in_file(file, None, reservation))
    }

    /// Imports memory of the application: `size` bytes (a multiple of 8) at `pointer`, which must
    /// be aligned to 8 bytes.
    ///
    /// # Safety
    /// The bytes must stay readable and writable as long as the allocation lives.
    ///
    /// # Errors
    /// [`ImportFailed`].
    pub unsafe fn of_application(heap: &Arc<Heap>, size: u64, pointer: *mut u8) -> Result<Arc<Self>, ImportFailed> {
        let reservation = heap.reserve(size)?;
        let length = usize::try_from(size).map_err(|_| ImportFailed::Foreign)?;
        if pointer.is_null() || !pointer.addr().is_multiple_of(8) || !length.is_multiple_of(8) {
            return Err(ImportFailed::Foreign);
        }
        Ok(Self::made(Storage::Application, pointer, length, Arc::new(reservation)))
    }

    /// Returns a descriptor for other processes, or `None` if the memory cannot be shared by
    /// descriptors of the type.
    ///
    /// # Errors
    /// The process has too many open files.
    pub fn descriptor(&self, kind: DescriptorType) -> Option<io::Result<OwnedFd>> {
        match (&self.storage, kind) {
            (Storage::Shared(file, _), DescriptorType::Opaque) => Some(file.descriptor()),
            (Storage::Shared(_, Some(dma_buf)), DescriptorType::DmaBuf) => Some(dma_buf.try_clone()),
            (Storage::DmaBuf(opened), DescriptorType::DmaBuf) => Some(opened.descriptor()),
            _ => None,
        }
    }

    /// Returns a number of the file that holds the memory, if there is one. Allocations of one file
    /// have equal numbers, in all processes. A dma-buf has a number of its own.
    pub fn file_number(&self) -> Option<u64> {
        let descriptor = self.descriptor(DescriptorType::DmaBuf).or_else(|| self.descriptor(DescriptorType::Opaque))?;
        let found = File::from(descriptor.ok()?).metadata().ok()?;
        // Files of different file systems may have equal inode numbers.
        Some(found.ino() ^ found.dev().rotate_left(40))
    }

    /// Returns the dma-buf whose accesses must be announced to the kernel, if there is one.
    fn synchronized(&self) -> Option<BorrowedFd<'_>> {
        match &self.storage {
            Storage::Shared(_, dma_buf) => dma_buf.as_ref().map(AsFd::as_fd),
            Storage::DmaBuf(opened) => opened.synchronized(),
            Storage::Private(_)
            | Storage::Placeable(_)
            | Storage::Compactable(_)
            | Storage::Protected(_)
            | Storage::Application => None,
        }
    }

    /// Returns true if other devices may access the memory, so that accesses of this process must
    /// lie between [`Self::begin_access`] and [`Self::end_access`].
    pub fn is_synchronized(&self) -> bool {
        self.synchronized().is_some()
    }

    /// Makes writes of other devices visible to this process, and waits for work of theirs that the
    /// kernel knows of.
    pub fn begin_access(&self) {
        if let Some(dma_buf) = self.synchronized() {
            dma_buf::synchronize(dma_buf, false);
        }
    }

    /// Makes writes of this process visible to other devices.
    pub fn end_access(&self) {
        if let Some(dma_buf) = self.synchronized() {
            dma_buf::synchronize(dma_buf, true);
        }
    }

    /// Returns the size of the allocation in bytes.
    pub fn size(&self) -> u64 {
        self.reservation.size()
    }

    /// Returns the memory that compaction works on, or `None` if the allocation is never compacted.
    pub(super) fn compactable(&self) -> Option<&Arc<CompactableMemory>> {
        match &self.storage {
            Storage::Compactable(memory) => Some(memory),
            Storage::Private(_)
            | Storage::Placeable(_)
            | Storage::Protected(_)
            | Storage::Shared(..)
            | Storage::DmaBuf(_)
            | Storage::Application => None,
        }
    }

    /// Keeps these bytes resident for ever, because their uses are not tracked. Compacted bytes
    /// become resident.
    pub fn keep_resident(&self, range: Range<u64>) {
        if let Some(memory) = self.compactable() {
            memory.keep_resident(range);
        }
    }

    /// Returns the bytes of the allocation in pages that are resident in the process. Returns the
    /// size of the allocation if the system does not report residency.
    pub fn resident(&self) -> u64 {
        let page = 4096;
        let mut pages = vec![0u8; self.length.div_ceil(page)];
        // SAFETY: the mapping begins on a page boundary, and `pages` has one byte for each of its
        // pages. The call neither reads nor writes the mapping.
        let is_known = unsafe { libc::mincore(self.pointer.cast(), self.length, pages.as_mut_ptr()) } == 0;
        let count = pages.iter().filter(|page| *page & 1 != 0).count() as u64;
        if is_known { (count * page as u64).min(self.size()) } else { self.size() }
    }

    /// Returns the host address of the storage, which stays valid as long as the allocation lives.
    pub fn host_pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// Returns true if the bytes can be mapped again.
    pub fn can_be_placed(&self) -> bool {
        matches!(self.storage, Storage::Placeable(_) | Storage::Shared(..) | Storage::DmaBuf(_))
    }

    /// Maps a range of bytes for the host, at `address` or anywhere if it is null, and returns the
    /// address of the first byte. Maps at these addresses are replaced. A range at an address
    /// consists of whole pages.
    ///
    /// # Safety
    /// Nothing may use the maps at these addresses any more.
    ///
    /// # Errors
    /// An error of the system; also if the host has a map already, or the bytes cannot have two.
    pub unsafe fn place(&self, range: Range<u64>, address: *mut u8) -> io::Result<*mut u8> {
        let mut placed = self.placed.lock();
        if placed.is_some() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the memory is mapped already"));
        }
        let is_inside = range.start < range.end && range.end <= self.size();
        let start = range.start - range.start % PLACED_ALIGNMENT;
        let length = usize::try_from(range.end.saturating_sub(start)).ok().filter(|_| is_inside);
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        let map = match &self.storage {
            Storage::Placeable(_) | Storage::Shared(..) => {
                // SAFETY: the caller gives up the maps at the address. The source is a part of a
                // shared map.
                unsafe { PlacedMap::of_shared(self.pointer.wrapping_add(start as usize), length, address)? }
            }
            // SAFETY: the caller gives up the maps at the address.
            Storage::DmaBuf(opened) => unsafe {
                PlacedMap::of_file(opened.descriptor()?.as_fd(), start, length, address)?
            },
            Storage::Private(_) | Storage::Compactable(_) | Storage::Protected(_) | Storage::Application => {
                return Err(io::ErrorKind::Unsupported.into());
            }
        };
        let first = map.start().wrapping_add((range.start - start) as usize);
        *placed = Some(map);
        Ok(first)
    }

    /// Ends the map that [`Self::place`] made, if there is one.
    pub fn unplace(&self) {
        *self.placed.lock() = None;
    }

    /// Ends the map that [`Self::place`] made, and keeps its addresses reserved.
    ///
    /// # Errors
    /// There is no such map, or an error of the system. The map remains then.
    pub fn unplace_reserved(&self) -> io::Result<()> {
        let mut placed = self.placed.lock();
        let map = placed.take().ok_or_else(|| io::Error::other("the memory has no map of its own"))?;
        map.reserve().map_err(|(map, error)| {
            *placed = Some(map);
            error
        })
    }

    /// Records that the host may write to the allocation at any time, or that it no longer may.
    pub fn set_mapped(&self, mapped: bool) {
        self.mapped.store(mapped, Ordering::Release);
    }

    /// Returns true if the host or another process may write to the allocation at any time.
    pub fn is_mapped(&self) -> bool {
        self.is_foreign() || self.mapped.load(Ordering::Acquire)
    }

    /// Returns true if the memory is protected: unprotected submissions must not access it, and
    /// protected submissions must write no other memory.
    pub fn is_protected(&self) -> bool {
        matches!(self.storage, Storage::Protected(_))
    }

    /// Returns true if another allocation may contain the same bytes.
    pub fn is_foreign(&self) -> bool {
        matches!(self.storage, Storage::Shared(..) | Storage::DmaBuf(_) | Storage::Application)
    }

    /// Records that texels of blocks in the allocation are decoded from now on.
    pub(super) fn set_decoded(&self) {
        self.decoded.store(true, Ordering::Release);
    }

    /// Returns true once texels of blocks in the allocation were decoded.
    pub(super) fn has_decoded(&self) -> bool {
        self.decoded.load(Ordering::Acquire)
    }

    /// Returns true if `length` bytes at `offset` lie inside the allocation, padded to whole
    /// words.
    fn holds(&self, offset: u64, length: usize) -> bool {
        offset.checked_add(length as u64).is_some_and(|end| end <= self.length as u64)
    }

    /// Copies bytes at `offset` to `out`. Fills `out` with zeros if the range is not wholly
    /// inside.
    #[inline]
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        if !self.holds(offset, out.len()) {
            out.fill(0);
            return;
        }
        // SAFETY: the range was checked to lie inside the mapping, `out` is a distinct Rust slice,
        // and the bytes are plain data. A concurrent writer can only tear values, as Vulkan allows
        // for unsynchronised access.
        unsafe { std::ptr::copy_nonoverlapping(self.host_pointer().add(offset as usize), out.as_mut_ptr(), out.len()) }
    }

    /// Copies `data` to `offset`. Does nothing if the range is not wholly inside.
    #[inline]
    pub fn write(&self, offset: u64, data: &[u8]) {
        if !self.holds(offset, data.len()) {
            return;
        }
        // SAFETY: the range was checked to lie inside the mapping, `data` is a distinct Rust
        // slice, and the bytes are plain data. A concurrent reader or writer can only tear values,
        // as Vulkan allows for unsynchronised access.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.host_pointer().add(offset as usize), data.len()) }
    }

    /// Copies `length` bytes between two ranges, which may overlap and may be in one allocation.
    /// Does nothing if either range is out of bounds.
    pub fn copy(source: &Self, source_offset: u64, target: &Self, target_offset: u64, length: u64) {
        let Ok(count) = usize::try_from(length) else { return };
        if !source.holds(source_offset, count) || !target.holds(target_offset, count) {
            return;
        }
        // SAFETY: both ranges were checked to lie inside their mappings. `copy` permits overlap.
        unsafe {
            let from = source.host_pointer().add(source_offset as usize);
            std::ptr::copy(from, target.host_pointer().add(target_offset as usize), count);
        }
    }

    /// Returns all pages to the system, so that later reads return zeros. Does nothing to memory
    /// that another map, allocation or process may share.
    pub(super) fn discard(&self) {
        if matches!(self.storage, Storage::Private(_) | Storage::Compactable(_)) {
            // SAFETY: the range is a private mapping of this allocation, and its last page holds
            // no data of another owner.
            unsafe {
                libc::madvise(self.pointer.cast(), self.length, libc::MADV_DONTNEED);
            }
        }
    }

    /// Fills `length` bytes at `offset` with `byte`. Does nothing if the range is out of bounds.
    pub fn fill(&self, offset: u64, length: u64, byte: u8) {
        let Ok(count) = usize::try_from(length) else { return };
        if self.holds(offset, count) {
            // SAFETY: the range was checked to lie inside the mapping.
            unsafe { std::ptr::write_bytes(self.host_pointer().add(offset as usize), byte, count) }
        }
    }

    /// Returns the 32-bit word at `offset` (a multiple of 4) as an atomic, or `None` if it is out
    /// of range or misaligned.
    #[inline]
    pub fn atomic_u32(&self, offset: u64) -> Option<&AtomicU32> {
        if !offset.is_multiple_of(4) || !self.holds(offset, 4) {
            return None;
        }
        // SAFETY: the word is in range, is aligned because mappings start on a page boundary, and
        // lives as long as `self`.
        Some(unsafe { AtomicU32::from_ptr(self.host_pointer().add(offset as usize).cast()) })
    }

    /// Returns the 32-bit words of `size` bytes (rounded up) at `start` as atomics, clipped to the
    /// allocation. Returns an empty slice if `start` is not a multiple of 4.
    #[inline]
    pub fn atomic_words(&self, start: u64, size: u64) -> &[AtomicU32] {
        let inside = size.next_multiple_of(4).min((self.length as u64).saturating_sub(start));
        if !start.is_multiple_of(4) || inside == 0 {
            return &[];
        }
        // SAFETY: the words are in range, are aligned because mappings start on a page boundary,
        // and live as long as `self`. Every bit pattern is a valid word.
        unsafe { std::slice::from_raw_parts(self.host_pointer().add(start as usize).cast(), inside as usize / 4) }
    }

    /// Returns the 64-bit word at `offset` (a multiple of 8) as an atomic, or `None` if it is out
    /// of range or misaligned.
    #[inline]
    pub fn atomic_u64(&self, offset: u64) -> Option<&AtomicU64> {
        if !offset.is_multiple_of(8) || !self.holds(offset, 8) {
            return None;
        }
        // SAFETY: the word is in range, is aligned because mappings start on a page boundary, and
        // lives as long as `self`.
        Some(unsafe { AtomicU64::from_ptr(self.host_pointer().add(offset as usize).cast()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shared_by_descriptors() {
        let heap = Heap::new(1 << 20);
        let first = Allocation::shared(&heap, 5000).unwrap();
        let descriptor = first.descriptor(DescriptorType::Opaque).unwrap().unwrap();
        let second = Allocation::open(&heap, 5000, descriptor.as_fd()).unwrap();
        first.write(4990, &[1, 2, 3]);
        drop((first, descriptor));
        let mut bytes = [9; 4];
        second.read(4990, &mut bytes);
        assert_eq!((bytes, heap.used()), ([1, 2, 3, 0], 5000));
        let again = second.descriptor(DescriptorType::Opaque).unwrap().unwrap();
        let wrong = Allocation::open(&heap, 4096, again.as_fd());
        assert_eq!(wrong.unwrap_err(), ImportFailed::Foreign);
        assert_eq!(heap.used(), 5000, "what failed takes nothing");
        assert!(second.descriptor(DescriptorType::DmaBuf).is_none());
        assert!(Allocation::new(&heap, 16).unwrap().descriptor(DescriptorType::Opaque).is_none());
        // A sealed memory file can be imported as a dma-buf, but as no opaque file of another size.
        let third = Allocation::open_dma_buf(&heap, 5000, again.as_fd()).unwrap();
        third.read(4990, &mut bytes);
        assert_eq!((bytes, third.is_foreign(), third.is_synchronized()), ([1, 2, 3, 0], true, false));
        assert!(third.descriptor(DescriptorType::DmaBuf).is_some());
        assert!(third.descriptor(DescriptorType::Opaque).is_none());
        assert_eq!(Allocation::open_dma_buf(&heap, 1 << 19, again.as_fd()).unwrap_err(), ImportFailed::Foreign);
    }

    #[test]
    fn memory_is_placed_at_addresses() {
        let heap = Heap::new(16 << 20);
        let reserved = PrivateMemory::new(1 << 20).unwrap();
        let address = reserved.as_mut_ptr().wrapping_add(4096);
        let exported = Allocation::shared(&heap, 65536).unwrap();
        for memory in [Allocation::placeable(&heap, 65536).unwrap(), exported] {
            memory.write(12288, &[7]);
            // SAFETY: the range at the address lies in a map that only this test uses.
            unsafe {
                assert_eq!(memory.place(8192..16384, address).unwrap(), address);
                assert!(memory.place(0..4096, address).is_err(), "it is mapped");
                address.add(4097).write_volatile(9);
                let mut bytes = [0; 2];
                memory.read(12288, &mut bytes);
                assert_eq!((bytes, address.add(4096).read_volatile()), ([7, 9], 7));
                memory.unplace_reserved().unwrap();
                assert!(memory.unplace_reserved().is_err());
                assert!(memory.place(0..65537, address).is_err() && memory.place(0..0, address).is_err());
                assert_eq!(memory.place(0..65536, address).unwrap(), address);
                assert_eq!(address.add(12289).read_volatile(), 9);
                memory.unplace_reserved().unwrap();
                // Any address has the offset in its page.
                let anywhere = memory.place(12289..12300, std::ptr::null_mut()).unwrap();
                assert_eq!((anywhere.addr() % 4096, anywhere.read_volatile()), (1, 9));
                memory.unplace();
            }
        }
        let private = Allocation::new(&heap, 65536).unwrap();
        // SAFETY: the call must fail before it replaces a map.
        assert!(unsafe { private.place(0..65536, address) }.is_err() && !private.can_be_placed());
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
        // SAFETY: the function refuses each import for its size or alignment before it accesses
        // the memory.
        unsafe {
            assert!(Allocation::of_application(&heap, 4095, pointer).is_err());
            assert!(Allocation::of_application(&heap, 4088, pointer.wrapping_add(4)).is_err());
            assert!(Allocation::of_application(&heap, 4096, std::ptr::null_mut()).is_err());
        }
        drop(memory);
        assert_eq!((words[1], words[511], heap.used()), (7, 0, 0));
    }
}
