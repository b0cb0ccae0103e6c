//! Accesses to memory that other devices may access at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::Allocation;

/// Memory of a device that other devices may access by a dma-buf.
#[derive(Debug, Default)]
pub struct SynchronizedMemory {
    memory: Mutex<Vec<Weak<Allocation>>>,
    /// Number of entries, so that devices without such memory take no lock.
    count: AtomicUsize,
}

/// Access to all synchronized memory of a device. The access ends when the value is dropped.
#[derive(Debug)]
pub struct SharedAccess(Vec<Arc<Allocation>>);

impl SynchronizedMemory {
    /// Adds memory if accesses to it must be announced to the kernel.
    pub fn add(&self, memory: &Arc<Allocation>) {
        if !memory.is_synchronized() {
            return;
        }
        let mut all = self.memory.lock();
        all.retain(|memory| memory.strong_count() > 0);
        all.push(Arc::downgrade(memory));
        self.count.store(all.len(), Ordering::Release);
    }

    /// Begins an access to all memory that is still allocated.
    pub fn begin(&self) -> SharedAccess {
        if self.count.load(Ordering::Acquire) == 0 {
            return SharedAccess(Vec::new());
        }
        // The lock is not held while the kernel waits for other devices.
        let memory: Vec<_> = self.memory.lock().iter().filter_map(Weak::upgrade).collect();
        memory.iter().for_each(|memory| memory.begin_access());
        SharedAccess(memory)
    }
}

impl Drop for SharedAccess {
    fn drop(&mut self) {
        self.0.iter().for_each(|memory| memory.end_access());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Heap, can_make_dma_bufs};

    #[test]
    fn only_living_memory_of_dma_bufs_is_accessed() {
        let (heap, memory) = (Heap::new(1 << 20), SynchronizedMemory::default());
        memory.add(&Allocation::shared(&heap, 64).unwrap());
        assert!(memory.begin().0.is_empty());
        let Ok(first) = Allocation::shared_by_dma_buf(&heap, 64) else {
            return assert!(!can_make_dma_bufs());
        };
        memory.add(&first);
        memory.add(&Allocation::shared_by_dma_buf(&heap, 64).unwrap());
        assert_eq!(memory.begin().0.len(), 1);
    }
}
