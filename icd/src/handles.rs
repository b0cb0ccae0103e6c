//! Non-dispatchable handles: `[type tag: 8 | generation: 28 | index: 28]`, never zero.
//!
//! A look-up takes no lock: it announces itself in the slot's state word (generation above, readers below), checks the
//! generation, clones the object or looks at it, and leaves. Removal raises the generation first, so that no new reader gets in, and waits
//! for those inside. A stale or foreign handle is therefore told apart from a good one, also under concurrent destruction.
//! Slots never move or go away while the table lives.

use std::cell::UnsafeCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

const SEGMENTS: usize = 22;
const FIRST_SEGMENT: usize = 64;
const FIELD: u64 = (1 << 28) - 1;

/// A slot is live while its generation is odd.
struct Slot<T> {
    state: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { state: AtomicU64::new(0), value: UnsafeCell::new(None) }
    }
}

/// A reader that is announced in a slot's state.
struct Reader<'a>(&'a AtomicU64);

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// A table of objects of one type.
pub struct Table<T> {
    tag: u64,
    segments: [OnceLock<Box<[Slot<T>]>>; SEGMENTS],
    /// Free indices, and the first index that was never used.
    free: Mutex<(Vec<usize>, usize)>,
}

// SAFETY: values are only reached by the protocol of the state word: shared while readers are announced, exclusively by
// `insert` before the slot is live and by `remove` after its readers have left.
unsafe impl<T: Send + Sync> Sync for Table<T> {}

/// The segment of an index and the place in it: segments double in size.
fn place(index: usize) -> (usize, usize) {
    let number = index / FIRST_SEGMENT + 1;
    let segment = number.ilog2() as usize;
    (segment, index - ((1 << segment) - 1) * FIRST_SEGMENT)
}

impl<T: Clone> Table<T> {
    /// An empty table whose handles carry `tag`.
    pub fn new(tag: u8) -> Self {
        Self { tag: u64::from(tag), segments: [const { OnceLock::new() }; SEGMENTS], free: Mutex::default() }
    }

    fn slot(&self, index: usize) -> Option<&Slot<T>> {
        let (segment, offset) = place(index);
        self.segments.get(segment)?.get()?.get(offset)
    }

    fn decode(&self, handle: u64) -> Option<(&Slot<T>, u64)> {
        if handle >> 56 != self.tag {
            return None;
        }
        let index = usize::try_from(handle & FIELD).ok()?;
        Some((self.slot(index)?, handle >> 28 & FIELD))
    }

    /// Adds an object; its handle.
    pub fn insert(&self, value: T) -> u64 {
        let mut free = self.free.lock();
        let index = free.0.pop().unwrap_or_else(|| {
            free.1 += 1;
            free.1 - 1
        });
        drop(free);
        let (segment, offset) = place(index);
        let slots =
            self.segments[segment].get_or_init(|| (0..FIRST_SEGMENT << segment).map(|_| Slot::default()).collect());
        let slot = &slots[offset];
        // SAFETY: the index was taken from the free list, so nobody else writes, and the generation is even, so nobody reads.
        unsafe { *slot.value.get() = Some(value) };
        let generation = (slot.state.load(Ordering::Relaxed) >> 32) + 1;
        slot.state.fetch_add(1 << 32, Ordering::Release);
        self.tag << 56 | (generation & FIELD) << 28 | index as u64
    }

    /// The object of a handle; `None` for a null, stale or foreign one.
    #[inline]
    pub fn get(&self, handle: u64) -> Option<T> {
        self.with(handle, T::clone)
    }

    /// Has something look at the object of a handle, which is not removed before that ends; `None` for a null, stale or foreign one.
    #[inline]
    pub fn with<R>(&self, handle: u64, look: impl FnOnce(&T) -> R) -> Option<R> {
        let (slot, generation) = self.decode(handle)?;
        let state = slot.state.fetch_add(1, Ordering::Acquire);
        // Leaves also when `look` panics.
        let _reader = Reader(&slot.state);
        if state >> 32 & FIELD != generation {
            return None;
        }
        // SAFETY: this reader is announced in a live generation, so the value is there and nobody writes it until the reader leaves.
        unsafe { (*slot.value.get()).as_ref() }.map(look)
    }

    /// Objects that are alive.
    pub fn count(&self) -> usize {
        let free = self.free.lock();
        free.1 - free.0.len()
    }

    /// Removes and returns the object of a handle; `None` for a null, stale or foreign one.
    pub fn remove(&self, handle: u64) -> Option<T> {
        let (value, index) = self.take(handle)?;
        self.free.lock().0.push(index);
        value
    }

    /// Removes the objects of many handles, but for null, stale and foreign ones.
    pub fn remove_all(&self, handles: impl Iterator<Item = u64>) {
        let freed: Vec<usize> = handles.filter_map(|handle| Some(self.take(handle)?.1)).collect();
        self.free.lock().0.extend(freed);
    }

    /// Takes an object out of its slot, whose index is not free yet.
    fn take(&self, handle: u64) -> Option<(Option<T>, usize)> {
        let (slot, generation) = self.decode(handle)?;
        let raise = |state: u64| (state >> 32 & FIELD == generation).then_some(state + (1 << 32));
        slot.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, raise).ok()?;
        while slot.state.load(Ordering::Acquire) & u64::from(u32::MAX) != 0 {
            std::hint::spin_loop();
        }
        // SAFETY: the generation was raised by this call alone, and all readers of the old one have left; late ones see the
        // new generation and do not touch the value.
        let value = unsafe { (*slot.value.get()).take() };
        Some((value, (handle & FIELD) as usize))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn stale_foreign_and_null_handles_are_told_apart() {
        let (table, other) = (Table::new(1), Table::new(2));
        let handle = table.insert(Arc::new(7));
        let foreign = other.insert(Arc::new(8));
        assert_eq!(table.get(handle).as_deref(), Some(&7));
        assert_eq!(table.get(foreign), None);
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(u64::MAX), None);
        assert_eq!(table.remove(handle).as_deref(), Some(&7));
        assert_eq!(table.remove(handle), None);
        let again = table.insert(Arc::new(9));
        assert_ne!(again, handle);
        assert_eq!(table.get(handle), None);
        assert_eq!(table.get(again).as_deref(), Some(&9));
    }

    #[test]
    fn many_handles_live_in_growing_segments() {
        let table = Table::new(3);
        let handles: Vec<u64> = (0..5000).map(|number| table.insert(Arc::new(number))).collect();
        for (number, &handle) in handles.iter().enumerate() {
            assert_eq!(table.get(handle).as_deref(), Some(&number));
        }
        handles[..70].iter().for_each(|&handle| drop(table.remove(handle)));
        assert_eq!(table.count(), 4930);
    }

    /// Readers race with removal and reuse: they see the right object or none.
    #[test]
    fn concurrent_look_up_and_removal() {
        let table = Table::new(4);
        let handles: Vec<u64> = (0..64).map(|number| table.insert(Arc::new(number))).collect();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 0..20_000usize {
                        let number = round % 64;
                        if let Some(value) = table.get(handles[number]) {
                            assert_eq!(*value, number);
                        }
                    }
                });
            }
            scope.spawn(|| {
                for (number, &handle) in handles.iter().enumerate() {
                    assert_eq!(table.remove(handle).as_deref(), Some(&number));
                    table.insert(Arc::new(1000));
                }
            });
        });
    }
}
