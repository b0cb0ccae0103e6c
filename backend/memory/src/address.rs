//! Addresses of the device: where programs that hold 64-bit addresses find memory.
//!
//! An address is only looked up, never dereferenced, so that one that was made up reaches nothing. Source: Vulkan
//! specification, "vkGetBufferDeviceAddress"; SPIR-V, `PhysicalStorageBufferAddresses`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Allocation;

/// The first address: none is null, or looks like a small number.
const FIRST: u64 = 1 << 32;
/// The first address of allocations whose addresses are captured to be asked for again: apart from the others, so that those
/// are never in the way.
const FIRST_CAPTURED: u64 = 1 << 46;
/// No address is as high.
const END: u64 = 1 << 47;
/// Addresses of allocations are multiples of this.
const STEP: u64 = 1 << 16;

/// Which address an allocation is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Any.
    Any,
    /// Any that can be asked for in another run.
    Captured,
    /// This one.
    At(u64),
}

/// Allocations by their addresses, as they are while a list of commands runs.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    /// First address and allocation, ascending; ranges do not overlap.
    ranges: Vec<(u64, Arc<Allocation>)>,
    /// That of no other table; 0 where it is empty.
    number: u64,
}

impl Addresses {
    /// The allocations at these addresses, which must not overlap.
    pub fn new(mut ranges: Vec<(u64, Arc<Allocation>)>) -> Self {
        static TABLES: AtomicU64 = AtomicU64::new(1);
        ranges.sort_by_key(|(address, _)| *address);
        Self { ranges, number: TABLES.fetch_add(1, Ordering::Relaxed) }
    }

    /// A number that tells tables apart: those with the same one have the same memory at the same addresses.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether an allocation has an address.
    pub fn hold(&self, allocation: &Arc<Allocation>) -> bool {
        self.ranges.iter().any(|(_, other)| Arc::ptr_eq(other, allocation))
    }

    /// The address of an allocation.
    fn of(&self, allocation: &Arc<Allocation>) -> Option<u64> {
        self.ranges.iter().find(|(_, other)| Arc::ptr_eq(other, allocation)).map(|(address, _)| *address)
    }

    /// The allocation that holds an address, and its first address.
    pub fn range(&self, address: u64) -> Option<(u64, &Allocation)> {
        let after = self.ranges.partition_point(|(first, _)| *first <= address);
        let (first, allocation) = self.ranges.get(after.checked_sub(1)?)?;
        (address - first < allocation.size()).then_some((*first, &**allocation))
    }
}

/// Gives allocations their addresses: in the order in which they come, so that the same program has the same ones in every run.
/// None is used twice, unless it is asked for.
#[derive(Debug)]
pub struct AddressSpace(Mutex<Space>);

#[derive(Debug)]
struct Space {
    /// The next addresses: any, and one that is captured.
    next: [u64; 2],
    now: Arc<Addresses>,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self(Mutex::new(Space { next: [FIRST, FIRST_CAPTURED], now: Arc::default() }))
    }
}

/// Addresses that an allocation takes.
fn room(allocation: &Allocation) -> u64 {
    // A byte between allocations belongs to none, so that the end of one is not the start of another.
    allocation.size().saturating_add(1).checked_next_multiple_of(STEP).unwrap_or(u64::MAX)
}

impl Space {
    /// The end of what is in the way of a range.
    fn obstacle(&self, start: u64, length: u64) -> Option<u64> {
        let ranges = self.now.ranges.iter().map(|(first, allocation)| (*first, first.saturating_add(room(allocation))));
        ranges.filter(|&(first, end)| first < start.saturating_add(length) && start < end).map(|(_, end)| end).max()
    }

    /// A free range of so many addresses.
    fn place(&mut self, kind: AddressKind, length: u64) -> Option<u64> {
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
    /// Gives an allocation an address, unless it has one. Returns whether it has the one that it is to have now.
    pub fn expose(&self, allocation: &Arc<Allocation>, kind: AddressKind) -> bool {
        let mut space = self.0.lock();
        if let Some(address) = space.now.of(allocation) {
            return !matches!(kind, AddressKind::At(other) if other != address);
        }
        let Some(address) = space.place(kind, room(allocation)) else { return false };
        let mut ranges = space.now.ranges.clone();
        ranges.push((address, allocation.clone()));
        space.now = Arc::new(Addresses::new(ranges));
        true
    }

    /// Takes an allocation's address away, if it has one.
    pub fn withdraw(&self, allocation: &Arc<Allocation>) {
        let mut space = self.0.lock();
        if space.now.of(allocation).is_some() {
            let mut ranges = space.now.ranges.clone();
            ranges.retain(|(_, other)| !Arc::ptr_eq(other, allocation));
            space.now = Arc::new(Addresses::new(ranges));
        }
    }

    /// The address of an allocation.
    pub fn of(&self, allocation: &Arc<Allocation>) -> Option<u64> {
        self.now().of(allocation)
    }

    /// All addresses as they are now.
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

    /// What one run captured another gets, in any order, if nothing has it.
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
