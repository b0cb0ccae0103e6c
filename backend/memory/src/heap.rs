//! Memory heaps of a device, and reservations of their bytes.
//!
//! The size of a heap bounds the bytes that the process really has. Compaction of idle images saves
//! bytes, which can be reserved again. All reservations together are bounded by the size and the
//! bytes of far memory, so that everything has a place even if nothing is compressible.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Fraction of a heap that should be free. Idle images are compacted when less is free.
const LOW_FRACTION: u64 = 16;

/// Error: an allocation of this many bytes does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutOfMemory {
    /// The heap has too few free bytes.
    #[error("the heap cannot hold another {0} bytes")]
    Heap(u64),
    /// The host has too little free memory.
    #[error("the host cannot provide another {0} bytes")]
    Host(u64),
    /// The disk that holds the far-memory file has too little free space.
    #[error("the disk of far memory cannot hold another {0} bytes")]
    Far(u64),
    /// The kernel makes no dma-buf of this size.
    #[error("the kernel makes no dma-buf of {0} bytes: expected less, or a higher size_limit_mb of its module udmabuf")]
    DmaBuf(u64),
}

/// Memory heap: its size and the bytes in use.
#[derive(Debug)]
pub struct Heap {
    size: u64,
    /// Bytes that may be reserved: the size, and the bytes of far memory behind it.
    capacity: u64,
    used: AtomicU64,
    /// Bytes that compaction of idle images saves in the process. It is negative if near memory
    /// occupies more bytes than compacted images would.
    saved: AtomicI64,
}

impl Heap {
    /// Creates a heap of `size` bytes, all of them free.
    pub fn new(size: u64) -> Arc<Self> {
        Self::with_far(size, 0)
    }

    /// Creates a heap of `size` bytes with `far` bytes of far memory behind it. While compaction
    /// saves enough bytes, the heap holds more than `size` bytes.
    pub fn with_far(size: u64, far: u64) -> Arc<Self> {
        let (used, saved) = (AtomicU64::new(0), AtomicI64::new(0));
        Arc::new(Self { size, capacity: size.saturating_add(far), used, saved })
    }

    /// Returns the size of the heap in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the bytes that can be reserved if enough of them are compacted.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the reserved bytes.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the reserved bytes minus the bytes saved by compaction of idle images.
    pub fn resident(&self) -> u64 {
        self.resident_of(self.used())
    }

    /// Returns how many of `used` reserved bytes are resident. The result is greater than `used`
    /// if near memory occupies more bytes than compaction saves.
    fn resident_of(&self, used: u64) -> u64 {
        used.saturating_add_signed(self.saved.load(Ordering::Relaxed).saturating_neg())
    }

    /// Returns the bytes that can be reserved now.
    pub fn free(&self) -> u64 {
        let (used, resident) = (self.used(), self.resident());
        self.size.saturating_sub(resident).min(self.capacity.saturating_sub(used))
    }

    /// Returns the bytes that compaction must save before `bytes` more bytes can be resident.
    pub(crate) fn missing(&self, bytes: u64) -> u64 {
        self.resident().saturating_add(bytes).saturating_sub(self.size)
    }

    /// Returns true if `bytes` more bytes can be reserved when enough of the heap is compacted.
    pub(crate) fn can_hold(&self, bytes: u64) -> bool {
        self.used().checked_add(bytes).is_some_and(|total| total <= self.capacity)
    }

    /// Returns the bytes that should be free: a sixteenth of the heap.
    pub(crate) fn low_bytes(&self) -> u64 {
        self.size / LOW_FRACTION
    }

    /// Returns the bytes that compaction should save because few bytes are free. With fewer than a
    /// sixteenth of the heap, it should free an eighth. Returns 0 otherwise.
    pub(crate) fn wanted(&self) -> u64 {
        let (free, low) = (self.size.saturating_sub(self.resident()), self.low_bytes());
        if free < low { (2 * low).saturating_sub(free) } else { 0 }
    }

    /// Adds `bytes` to the bytes that compaction saves. A negative number removes bytes.
    pub(crate) fn add_saved(&self, bytes: i64) {
        self.saved.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Reserves `size` bytes.
    ///
    /// # Errors
    /// [`OutOfMemory::Heap`] if fewer bytes are free.
    pub(crate) fn reserve(self: &Arc<Self>, size: u64) -> Result<Reservation, OutOfMemory> {
        let fits = |used: u64| {
            let is_allowed = |total: u64| total <= self.capacity && self.resident_of(total) <= self.size;
            used.checked_add(size).filter(|&total| is_allowed(total))
        };
        let reserved = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        reserved.map_err(|_| OutOfMemory::Heap(size))?;
        Ok(Reservation { heap: self.clone(), size })
    }
}

/// Bytes reserved from a heap. They return to the heap on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    heap: Arc<Heap>,
    size: u64,
}

impl Reservation {
    /// Returns the heap.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    /// Returns the number of reserved bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.heap.used.fetch_sub(self.size, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_bytes_can_be_reserved_up_to_the_capacity() {
        let heap = Heap::with_far(1600, 900);
        let first = heap.reserve(1600).unwrap();
        assert_eq!((heap.free(), heap.reserve(1).is_err(), heap.missing(300)), (0, true, 300));
        heap.add_saved(1000);
        assert_eq!((heap.resident(), heap.free(), heap.missing(1100)), (600, 900, 100));
        assert_eq!((heap.can_hold(900), heap.can_hold(901), heap.reserve(901).is_err()), (true, false, true));
        let second = heap.reserve(900).unwrap();
        assert_eq!((heap.used(), heap.resident(), heap.free()), (2500, 1500, 0), "the capacity is full");
        // All of it becomes resident: nothing more can be reserved.
        heap.add_saved(-1000);
        assert_eq!((heap.resident(), heap.free(), heap.missing(0)), (2500, 0, 900));
        drop((first, second));
        assert_eq!((heap.used(), heap.free()), (0, 1600));
    }

    #[test]
    fn compaction_is_wanted_when_a_sixteenth_is_free() {
        let heap = Heap::with_far(1600, 1600);
        let _held = heap.reserve(1500).unwrap();
        assert_eq!(heap.wanted(), 0);
        let _more = heap.reserve(1).unwrap();
        assert_eq!(heap.wanted(), 200 - 99);
        heap.add_saved(101);
        assert_eq!((heap.wanted(), heap.free()), (0, 200));
    }
}
