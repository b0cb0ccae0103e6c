//! Memory heaps of a device, and reservations of their bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Error: an allocation of this many bytes does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutOfMemory {
    /// The heap or the host has too little free memory.
    #[error("the heap cannot hold another {0} bytes")]
    Heap(u64),
    /// The disk that holds the far-memory file has too little free space.
    #[error("the disk of far memory cannot hold another {0} bytes")]
    Far(u64),
}

/// Memory heap: its size and the bytes in use.
#[derive(Debug)]
pub struct Heap {
    size: u64,
    used: AtomicU64,
    /// Bytes that compaction of idle images saves in the process.
    saved: AtomicI64,
}

impl Heap {
    /// Creates a heap of `size` bytes, all of them free.
    pub fn new(size: u64) -> Arc<Self> {
        Arc::new(Self { size, used: AtomicU64::new(0), saved: AtomicI64::new(0) })
    }

    /// Returns the size of the heap in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the bytes in use minus the bytes saved by compaction of idle images.
    pub fn resident(&self) -> u64 {
        let saved = self.saved.load(Ordering::Relaxed).max(0) as u64;
        self.used().saturating_sub(saved)
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
        let fits = |used: u64| used.checked_add(size).filter(|&total| total <= self.size);
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
