//! Non-dispatchable handles: `[type tag: 8 | generation: 28 | index: 28]`, never zero.
//!
//! A lookup uses no lock. It increments the number of readers in the slot's state word (generation
//! in the upper half, readers in the lower half) and checks the generation. Then it clones or
//! reads the object, and decrements the number of readers. Removal first increments the
//! generation, so that later readers fail, and then waits for the earlier readers. Stale and
//! foreign handles are therefore detected, even under concurrent destruction. Slots do not move
//! and are not freed while the table lives.

use std::cell::UnsafeCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

const SEGMENTS: usize = 22;
const FIRST_SEGMENT: usize = 64;
const FIELD: u64 = (1 << 28) - 1;

/// A slot. Its object is live while the generation is odd.
struct Slot<T> {
    state: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { state: AtomicU64::new(0), value: UnsafeCell::new(None) }
    }
}

/// A registered reader in a slot's state.
struct Reader<'a>(&'a AtomicU64);

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Ownership of an object in a slot that has no handle at present.
#[derive(Debug)]
pub struct Retired {
    /// Address of the table.
    table: usize,
    index: usize,
}

/// Minimum number of objects from which on a strong decrease is detected.
const MIN_PEAK: usize = 1 << 14;

/// Detector for a strong decrease in the number of objects, after which free memory should return
/// to the operating system.
#[derive(Debug)]
pub struct Peak {
    live: usize,
    max: usize,
}

impl Peak {
    /// Returns a detector without objects.
    pub const fn new() -> Self {
        Self { live: 0, max: 0 }
    }

    /// Counts one more object.
    pub fn add(&mut self) {
        self.live += 1;
        self.max = self.max.max(self.live);
    }

    /// Counts fewer objects, and returns true if few of many are left.
    pub fn remove(&mut self, count: usize) -> bool {
        self.live -= count;
        let has_fallen = self.max >= MIN_PEAK && self.live <= self.max / 64;
        if has_fallen {
            self.max = self.live;
        }
        has_fallen
    }
}

/// Free slots, and the number of used ones.
#[derive(Debug)]
struct Free {
    indices: Vec<u32>,
    /// First index that was never used.
    end: usize,
    peak: Peak,
}

/// A table of objects of one type.
pub struct Table<T> {
    tag: u64,
    segments: [OnceLock<Box<[Slot<T>]>>; SEGMENTS],
    free: Mutex<Free>,
    /// True if few of many objects are left.
    has_fallen: AtomicBool,
}

// SAFETY: values are only accessed by the protocol of the state word. Access is shared while
// readers are registered. It is exclusive in `insert` before the slot is live, and in `remove`
// after its readers have left.
unsafe impl<T: Send + Sync> Sync for Table<T> {}

/// Returns the segment of an index and the position in it. Each segment is twice as long as the
/// previous one.
fn position(index: usize) -> (usize, usize) {
    let number = index / FIRST_SEGMENT + 1;
    let segment = number.ilog2() as usize;
    (segment, index - ((1 << segment) - 1) * FIRST_SEGMENT)
}

impl<T: Clone> Table<T> {
    /// Creates an empty table whose handles have the tag `tag`.
    pub fn new(tag: u8) -> Self {
        let free = Mutex::new(Free { indices: Vec::new(), end: 0, peak: Peak::new() });
        let (tag, has_fallen) = (u64::from(tag), AtomicBool::new(false));
        Self { tag, segments: [const { OnceLock::new() }; SEGMENTS], free, has_fallen }
    }

    fn slot(&self, index: usize) -> Option<&Slot<T>> {
        let (segment, offset) = position(index);
        self.segments.get(segment)?.get()?.get(offset)
    }

    fn decode(&self, handle: u64) -> Option<(&Slot<T>, u64)> {
        if handle >> 56 != self.tag {
            return None;
        }
        let index = usize::try_from(handle & FIELD).ok()?;
        Some((self.slot(index)?, handle >> 28 & FIELD))
    }

    /// Adds an object and returns its handle.
    pub fn insert(&self, value: T) -> u64 {
        let mut free = self.free.lock();
        free.peak.add();
        let index = match free.indices.pop() {
            Some(index) => index as usize,
            None => {
                free.end += 1;
                free.end - 1
            }
        };
        drop(free);
        let (segment, offset) = position(index);
        let slots =
            self.segments[segment].get_or_init(|| (0..FIRST_SEGMENT << segment).map(|_| Slot::default()).collect());
        let slot = &slots[offset];
        // SAFETY: the index was removed from the free list, so no other thread writes, and the
        // generation is even, so no thread reads.
        unsafe { *slot.value.get() = Some(value) };
        self.open(slot, index)
    }

    /// Makes a slot live and returns its handle. The caller must have exclusive access to the
    /// slot.
    fn open(&self, slot: &Slot<T>, index: usize) -> u64 {
        let generation = (slot.state.fetch_add(1 << 32, Ordering::Release) >> 32) + 1;
        self.tag << 56 | (generation & FIELD) << 28 | index as u64
    }

    /// Returns the object of a handle; `None` for a null, stale or foreign handle.
    #[inline]
    pub fn get(&self, handle: u64) -> Option<T> {
        self.with(handle, T::clone)
    }

    /// Calls `look` with the object of a handle, which is not removed during the call. Returns
    /// `None` for a null, stale or foreign handle.
    #[inline]
    pub fn with<R>(&self, handle: u64, look: impl FnOnce(&T) -> R) -> Option<R> {
        let (slot, generation) = self.decode(handle)?;
        let state = slot.state.fetch_add(1, Ordering::Acquire);
        // The drop also decrements the count if `look` panics.
        let _reader = Reader(&slot.state);
        if state >> 32 & FIELD != generation {
            return None;
        }
        // SAFETY: this reader is registered in a live generation, so the value exists, and no
        // thread writes it until the reader leaves.
        unsafe { (*slot.value.get()).as_ref() }.map(look)
    }

    /// Returns true if a handle is valid now. Another thread may remove its object at any time.
    #[inline]
    pub fn is_good(&self, handle: u64) -> bool {
        let good = |(slot, generation): (&Slot<T>, u64)| slot.state.load(Ordering::Acquire) >> 32 & FIELD == generation;
        self.decode(handle).is_some_and(good)
    }

    /// Invalidates the handle of an object, which keeps its slot and can get a new handle. Calls
    /// `look` with the object first.
    pub fn retire(&self, handle: u64, look: impl FnOnce(&mut T)) -> Option<Retired> {
        let (slot, index) = self.close(handle)?;
        // The value is created before `look`, which may panic. In that case the slot is leaked,
        // and no other thread can use it.
        let retired = Retired { table: std::ptr::from_ref(self).addr(), index };
        // SAFETY: only this call incremented the generation, all readers of the old one have left,
        // and late readers do not access the value.
        unsafe { (*slot.value.get()).as_mut() }.map(look);
        Some(retired)
    }

    /// Changes an object that was retired from this table, and returns a new handle for it.
    ///
    /// # Panics
    /// Panics if the object belongs to another table.
    pub fn revive(&self, retired: Retired, change: impl FnOnce(&mut T)) -> u64 {
        assert_eq!(retired.table, std::ptr::from_ref(self).addr(), "slots go back where they are from");
        let slot = self.slot(retired.index).expect("slots do not go away");
        // SAFETY: `retired` was created for this slot of this table, is consumed here, and is the
        // only value with access to the object. The generation is even, so no thread reads.
        unsafe { (*slot.value.get()).as_mut() }.map(change);
        self.open(slot, retired.index)
    }

    /// Drops objects that were retired from this table.
    ///
    /// # Panics
    /// Panics if an object belongs to another table.
    pub fn drop_retired(&self, retired: impl Iterator<Item = Retired>) {
        let drop_value = |retired: Retired| {
            assert_eq!(retired.table, std::ptr::from_ref(self).addr(), "slots go back where they are from");
            let slot = self.slot(retired.index).expect("slots do not go away");
            // SAFETY: `retired` has exclusive access to the object and is consumed here. The
            // generation is even, so no thread reads the value.
            drop(unsafe { (*slot.value.get()).take() });
            retired.index
        };
        let freed: Vec<usize> = retired.map(drop_value).collect();
        self.free_indices(&freed);
    }

    fn free_indices(&self, indices: &[usize]) {
        let mut free = self.free.lock();
        // All indices are below 2^28.
        free.indices.extend(indices.iter().map(|&index| index as u32));
        if free.peak.remove(indices.len()) {
            self.has_fallen.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if the number of objects has fallen strongly since the last call.
    pub fn take_fallen(&self) -> bool {
        self.has_fallen.load(Ordering::Relaxed) && self.has_fallen.swap(false, Ordering::Relaxed)
    }

    /// Returns all objects that have handles.
    pub fn all(&self) -> Vec<T> {
        let end = self.free.lock().end;
        let slots = (0..end).filter_map(|index| Some((self.slot(index)?, index)));
        let handle = |(slot, index): (&Slot<T>, usize)| {
            let generation = slot.state.load(Ordering::Acquire) >> 32;
            (generation % 2 == 1).then_some(self.tag << 56 | (generation & FIELD) << 28 | index as u64)
        };
        slots.filter_map(handle).filter_map(|handle| self.get(handle)).collect()
    }

    /// Returns the number of objects that are live or retired.
    pub fn count(&self) -> usize {
        let free = self.free.lock();
        free.end - free.indices.len()
    }

    /// Removes and returns the object of a handle; `None` for a null, stale or foreign handle.
    pub fn remove(&self, handle: u64) -> Option<T> {
        let (value, index) = self.take(handle)?;
        self.free_indices(&[index]);
        value
    }

    /// Removes an object from its slot. The slot's index is not free yet.
    fn take(&self, handle: u64) -> Option<(Option<T>, usize)> {
        let (slot, index) = self.close(handle)?;
        // SAFETY: only this call incremented the generation, and all readers of the old one have
        // left. Late readers see the new generation and do not access the value.
        let value = unsafe { (*slot.value.get()).take() };
        Some((value, index))
    }

    /// Invalidates a handle and waits for its readers. The caller then has exclusive access to the
    /// slot.
    fn close(&self, handle: u64) -> Option<(&Slot<T>, usize)> {
        let (slot, generation) = self.decode(handle)?;
        let raise = |state: u64| (state >> 32 & FIELD == generation).then_some(state + (1 << 32));
        slot.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, raise).ok()?;
        while slot.state.load(Ordering::Acquire) & u64::from(u32::MAX) != 0 {
            std::hint::spin_loop();
        }
        Some((slot, (handle & FIELD) as usize))
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
    fn objects_are_retired_and_come_back() {
        let table = Table::new(5);
        let handle = table.insert(Arc::new(7));
        assert!(table.is_good(handle));
        let retired = table.retire(handle, |value| *value = Arc::new(8)).unwrap();
        assert!(!table.is_good(handle));
        assert_eq!(table.get(handle), None);
        assert!(table.retire(handle, |_| ()).is_none());
        let again = table.revive(retired, |value| assert_eq!(**value, 8));
        assert_ne!(again, handle);
        assert_eq!(table.get(again).as_deref(), Some(&8));
        assert_eq!(table.get(handle), None);
        let value = table.get(again).unwrap();
        table.drop_retired(table.retire(again, |_| ()).into_iter());
        assert_eq!((Arc::strong_count(&value), table.count()), (1, 0));
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

    #[test]
    fn few_objects_left_of_many_are_noticed_once() {
        let table = Table::new(6);
        let handles: Vec<u64> = (0..MIN_PEAK).map(|number| table.insert(Arc::new(number))).collect();
        let falls = handles.iter().filter(|&&handle| table.remove(handle).is_some() && table.take_fallen()).count();
        assert_eq!((falls, table.count()), (1, 0));
        table.remove(table.insert(Arc::new(0)));
        assert!(!table.take_fallen());
        let all = [1, 2].map(|number| table.insert(Arc::new(number)));
        table.remove(all[0]);
        assert_eq!(table.all(), [Arc::new(2)]);
    }

    /// Readers race with removal and reuse, and see the right object or none.
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
