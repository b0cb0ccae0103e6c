//! Device addresses: the 64-bit addresses by which shader programs access memory.
//!
//! The device looks an address up in a table and never dereferences it as a host pointer. An
//! invalid address therefore accesses no memory. Source: Vulkan specification,
//! "vkGetBufferDeviceAddress"; SPIR-V, `PhysicalStorageBufferAddresses`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Allocation;

/// First device address. No address is null or small enough to be mistaken for a plain integer.
const FIRST: u64 = 1 << 32;
/// First address of allocations whose addresses are captured for replay in another run. This range
/// is separate from the range of other allocations, so that other allocations never occupy a
/// captured address.
const FIRST_CAPTURED: u64 = 1 << 46;
/// Exclusive upper bound of device addresses.
const END: u64 = 1 << 47;
/// Alignment of the first address of an allocation, in bytes.
const STEP: u64 = 1 << 16;

/// Address requested for an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Any free address.
    Any,
    /// Any free address that another run can request with [`AddressKind::At`].
    Captured,
    /// Exactly this address.
    At(u64),
}

/// Snapshot of all allocations by address, constant while a command list runs.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    /// First address and allocation, in ascending order of address. Ranges do not overlap.
    ranges: Vec<(u64, Arc<Allocation>)>,
    /// Unique number of the table; 0 for the default empty table.
    number: u64,
    /// True if only protected memory may be written.
    is_protected: bool,
}

impl Addresses {
    /// Builds a table of allocations with their first addresses. The ranges must not overlap.
    pub fn new(mut ranges: Vec<(u64, Arc<Allocation>)>) -> Self {
        static TABLES: AtomicU64 = AtomicU64::new(1);
        ranges.sort_by_key(|(address, _)| *address);
        Self { ranges, number: TABLES.fetch_add(1, Ordering::Relaxed), is_protected: false }
    }

    /// Returns the table of a submission. A protected one may write protected memory only. An
    /// unprotected one finds no protected memory.
    pub fn of_submission(&self, is_protected: bool) -> Self {
        let is_found = |(_, memory): &&(u64, Arc<Allocation>)| is_protected || !memory.is_protected();
        let ranges = self.ranges.iter().filter(is_found).cloned().collect();
        Self { is_protected, ..Self::new(ranges) }
    }

    /// Returns true if programs may write memory of the table.
    pub fn is_writable(&self, memory: &Allocation) -> bool {
        !self.is_protected || memory.is_protected()
    }

    /// Returns the number of the table. Tables with equal numbers map equal addresses to the same
    /// memory.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns true if the allocation has an address.
    pub fn hold(&self, allocation: &Arc<Allocation>) -> bool {
        self.ranges.iter().any(|(_, other)| Arc::ptr_eq(other, allocation))
    }

    /// Returns the first address of an allocation, or `None` if it has no address.
    fn of(&self, allocation: &Arc<Allocation>) -> Option<u64> {
        self.ranges.iter().find(|(_, other)| Arc::ptr_eq(other, allocation)).map(|(address, _)| *address)
    }

    /// Returns the allocation that contains `size` bytes at an address, and their offset in it.
    pub fn locate(&self, address: u64, size: u64) -> Option<(&Arc<Allocation>, u64)> {
        let after = self.ranges.partition_point(|(first, _)| *first <= address);
        let (first, allocation) = self.ranges.get(after.checked_sub(1)?)?;
        let offset = address - first;
        (offset.checked_add(size)? <= allocation.size()).then_some((allocation, offset))
    }

    /// Returns the allocation that contains an address, and the first address of that allocation.
    pub fn range(&self, address: u64) -> Option<(u64, &Allocation)> {
        let after = self.ranges.partition_point(|(first, _)| *first <= address);
        let (first, allocation) = self.ranges.get(after.checked_sub(1)?)?;
        (address - first < allocation.size()).then_some((*first, &**allocation))
    }
}

/// Allocator of device addresses. It assigns ascending addresses in the order of requests, so that
/// a program gets the same addresses in every run. It reuses an address only if a request names it
/// with [`AddressKind::At`].
#[derive(Debug)]
pub struct AddressSpace(Mutex<Space>);

#[derive(Debug)]
struct Space {
    /// Next candidates: for [`AddressKind::Any`] and for [`AddressKind::Captured`].
    next: [u64; 2],
    now: Arc<Addresses>,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self(Mutex::new(Space { next: [FIRST, FIRST_CAPTURED], now: Arc::default() }))
    }
}

/// Returns the number of addresses that an allocation occupies, a multiple of [`STEP`].
fn address_count(allocation: &Allocation) -> u64 {
    // At least one unassigned byte follows each allocation, so that the end of an allocation is
    // never the start of another.
    allocation.size().saturating_add(1).checked_next_multiple_of(STEP).unwrap_or(u64::MAX)
}

impl Space {
    /// Returns the greatest end of the assigned ranges that overlap a range, or `None` if it is
    /// free.
    fn obstacle(&self, start: u64, length: u64) -> Option<u64> {
        let ranges =
            self.now.ranges.iter().map(|(first, allocation)| (*first, first.saturating_add(address_count(allocation))));
        ranges.filter(|&(first, end)| first < start.saturating_add(length) && start < end).map(|(_, end)| end).max()
    }

    /// Returns the start of a free range of `length` addresses, or `None` if no range of this kind
    /// is free.
    fn find_free(&mut self, kind: AddressKind, length: u64) -> Option<u64> {
        let slot = match kind {
            AddressKind::At(start) => {
                let fits = start >= FIRST && start.is_multiple_of(STEP) && start.checked_add(length)? <= END;
                return (fits && self.obstacle(start, length).is_none()).then_some(start);
            }
            AddressKind::Any => 0,
            AddressKind::Captured => 1,
        };
        let mut start = self.next[slot];
        while let Some(end) = self.obstacle(start, length) {
            start = end;
        }
        let end = start.checked_add(length).filter(|&end| end <= END)?;
        self.next[slot] = end;
        Some(start)
    }
}

impl AddressSpace {
    /// Assigns an address to an allocation that has none. Returns true if the allocation has an
    /// address that satisfies `kind` afterwards.
    pub fn expose(&self, allocation: &Arc<Allocation>, kind: AddressKind) -> bool {
        let mut space = self.0.lock();
        if let Some(address) = space.now.of(allocation) {
            return !matches!(kind, AddressKind::At(other) if other != address);
        }
        let Some(address) = space.find_free(kind, address_count(allocation)) else { return false };
        let mut ranges = space.now.ranges.clone();
        ranges.push((address, allocation.clone()));
        space.now = Arc::new(Addresses::new(ranges));
        true
    }

    /// Assigns an address below those of all other allocations, which must be free.
    pub fn reserve(&self, allocation: &Arc<Allocation>, address: u64) {
        let mut space = self.0.lock();
        let mut ranges = space.now.ranges.clone();
        ranges.push((address, allocation.clone()));
        space.now = Arc::new(Addresses::new(ranges));
    }

    /// Removes the address of an allocation, if it has one.
    pub fn withdraw(&self, allocation: &Arc<Allocation>) {
        let mut space = self.0.lock();
        if space.now.of(allocation).is_some() {
            let mut ranges = space.now.ranges.clone();
            ranges.retain(|(_, other)| !Arc::ptr_eq(other, allocation));
            space.now = Arc::new(Addresses::new(ranges));
        }
    }

    /// Returns the first address of an allocation, or `None` if it has no address.
    pub fn of(&self, allocation: &Arc<Allocation>) -> Option<u64> {
        self.now().of(allocation)
    }

    /// Returns a snapshot of all addresses.
    pub fn now(&self) -> Arc<Addresses> {
        self.0.lock().now.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Heap;

    #[test]
    fn addresses_are_given_once_and_taken_away() {
        let (heap, space) = (Heap::new(1 << 20), AddressSpace::default());
        let made = [1u64 << 16, 100, 7].map(|size| Allocation::new(&heap, size).unwrap());
        assert_eq!(space.of(&made[0]), None);
        assert!(made.iter().all(|allocation| space.expose(allocation, AddressKind::Any)));
        let addresses = made.each_ref().map(|allocation| space.of(allocation).unwrap());
        assert_eq!(addresses, [FIRST, FIRST + 2 * STEP, FIRST + 3 * STEP]);
        let before = space.now();
        space.withdraw(&made[1]);
        assert!(before.range(addresses[1]).is_some() && space.now().range(addresses[1]).is_none());
        let again = Allocation::new(&heap, 1).unwrap();
        assert!(space.expose(&again, AddressKind::Any));
        assert_eq!(space.of(&again), Some(FIRST + 4 * STEP));
        assert_eq!(space.now().range(addresses[0] + (1 << 16)).map(|_| ()), None);
    }

    /// A second run can request the addresses that a first run captured, in any order, if they are
    /// free.
    #[test]
    fn addresses_are_asked_for_again() {
        let heap = Heap::new(1 << 20);
        let make = || [1u64 << 16, 100, 7].map(|size| Allocation::new(&heap, size).unwrap());
        let (first, second) = (AddressSpace::default(), AddressSpace::default());
        let (captured, replayed) = (make(), make());
        assert!(captured.iter().all(|allocation| first.expose(allocation, AddressKind::Captured)));
        let addresses = captured.each_ref().map(|allocation| first.of(allocation).unwrap());
        assert!(second.expose(&make()[0], AddressKind::Any), "is not in the way");
        for number in [2, 0, 1] {
            assert!(second.expose(&replayed[number], AddressKind::At(addresses[number])));
            assert_eq!(second.of(&replayed[number]), Some(addresses[number]));
        }
        assert_eq!(
            second.now().range(addresses[1] + 99).map(|(first, memory)| (memory.size(), first)),
            Some((100, addresses[1]))
        );
        let other = make();
        for bad in [addresses[0], addresses[0] + STEP, addresses[2] + 1, 0, END - STEP, u64::MAX - STEP + 1] {
            assert!(!second.expose(&other[0], AddressKind::At(bad)), "{bad:#x}");
        }
        assert!(second.expose(&other[0], AddressKind::Captured), "next to those that were asked for");
        assert!(second.of(&other[0]) >= Some(addresses[2] + STEP));
        second.withdraw(&replayed[0]);
        assert!(second.expose(&other[1], AddressKind::At(addresses[0])));
        assert!(!second.expose(&other[1], AddressKind::At(addresses[0] + STEP)), "it has another already");
    }

    #[test]
    fn submissions_find_what_they_may_access() {
        let heap = Heap::new(1 << 20);
        let (plain, protected) = (Allocation::new(&heap, 16).unwrap(), Allocation::protected(&heap, 16).unwrap());
        let all = Addresses::new(vec![(0x1000, plain.clone()), (0x2000, protected.clone())]);
        let [open, closed] = [false, true].map(|is_protected| all.of_submission(is_protected));
        let found = |table: &Addresses| [0x1000, 0x2000].map(|address| table.range(address).is_some());
        assert_eq!((found(&open), found(&closed)), ([true, false], [true, true]));
        assert!(open.is_writable(&plain));
        assert_eq!([&plain, &protected].map(|memory| closed.is_writable(memory)), [false, true]);
        assert_ne!(open.number(), closed.number(), "ranges that waves have cached are not shared");
    }

    #[test]
    fn addresses_are_found_inside_of_their_allocations_only() {
        let heap = Heap::new(1 << 20);
        let make = |size| Allocation::new(&heap, size).unwrap();
        let addresses = Addresses::new(vec![(0x3000, make(16)), (0x1000, make(256))]);
        let offset = |address| addresses.range(address).map(|(first, memory)| (memory.size(), address - first));
        assert_eq!(offset(0xfff), None);
        assert_eq!(offset(0x1000), Some((256, 0)));
        assert_eq!(offset(0x10ff), Some((256, 255)));
        assert_eq!(offset(0x1100), None);
        assert_eq!(offset(0x300f), Some((16, 15)));
        assert_eq!(offset(u64::MAX), None);
    }
}
