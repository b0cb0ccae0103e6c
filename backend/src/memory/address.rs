//! Addresses of the device: where programs that hold 64-bit addresses find memory.
//!
//! An address is only looked up, never dereferenced, so that one that was made up reaches nothing. Source: Vulkan
//! specification, "vkGetBufferDeviceAddress"; SPIR-V, `PhysicalStorageBufferAddresses`.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Allocation;

/// The first address: none is null, or looks like a small number.
const FIRST: u64 = 1 << 32;
/// Addresses of allocations are multiples of this.
const STEP: u64 = 1 << 16;

/// Allocations by their addresses, as they are while a list of commands runs.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    /// First address and allocation, ascending; ranges do not overlap.
    ranges: Vec<(u64, Arc<Allocation>)>,
}

impl Addresses {
    /// The allocations at these addresses, which must not overlap.
    pub fn new(mut ranges: Vec<(u64, Arc<Allocation>)>) -> Self {
        ranges.sort_by_key(|(address, _)| *address);
        Self { ranges }
    }

    /// Whether an allocation has an address.
    pub fn hold(&self, allocation: &Arc<Allocation>) -> bool {
        self.ranges.iter().any(|(_, other)| Arc::ptr_eq(other, allocation))
    }

    /// The allocation that holds an address, and the offset in it.
    pub fn find(&self, address: u64) -> Option<(&Allocation, u64)> {
        let after = self.ranges.partition_point(|(first, _)| *first <= address);
        let (first, allocation) = self.ranges.get(after.checked_sub(1)?)?;
        let offset = address - first;
        (offset < allocation.size()).then_some((allocation, offset))
    }
}

/// Gives allocations their addresses: in the order in which they come, so that the same program has the same ones in every run.
/// None is used twice.
#[derive(Debug)]
pub struct AddressSpace(Mutex<(u64, Arc<Addresses>)>);

impl Default for AddressSpace {
    fn default() -> Self {
        Self(Mutex::new((FIRST, Arc::default())))
    }
}

impl AddressSpace {
    /// Gives an allocation an address.
    pub fn expose(&self, allocation: &Arc<Allocation>) {
        let mut space = self.0.lock();
        let (address, mut ranges) = (space.0, space.1.ranges.clone());
        // A byte between allocations belongs to none, so that the end of one is not the start of another.
        space.0 = address + (allocation.size() + 1).next_multiple_of(STEP);
        ranges.push((address, allocation.clone()));
        space.1 = Arc::new(Addresses { ranges });
    }

    /// Takes an allocation's address away, if it has one.
    pub fn withdraw(&self, allocation: &Arc<Allocation>) {
        let mut space = self.0.lock();
        if space.1.ranges.iter().any(|(_, other)| Arc::ptr_eq(other, allocation)) {
            let mut ranges = space.1.ranges.clone();
            ranges.retain(|(_, other)| !Arc::ptr_eq(other, allocation));
            space.1 = Arc::new(Addresses { ranges });
        }
    }

    /// The address of an allocation.
    pub fn of(&self, allocation: &Arc<Allocation>) -> Option<u64> {
        let ranges = self.now();
        let found = ranges.ranges.iter().find(|(_, other)| Arc::ptr_eq(other, allocation));
        found.map(|(address, _)| *address)
    }

    /// All addresses as they are now.
    pub fn now(&self) -> Arc<Addresses> {
        self.0.lock().1.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Heap;

    #[test]
    fn addresses_are_given_once_and_taken_away() {
        let (heap, space) = (Heap::new(1 << 20), AddressSpace::default());
        let made = [1u64 << 16, 100, 7].map(|size| Allocation::new(&heap, size).unwrap());
        assert_eq!(space.of(&made[0]), None);
        made.iter().for_each(|allocation| space.expose(allocation));
        let addresses = made.each_ref().map(|allocation| space.of(allocation).unwrap());
        assert_eq!(addresses, [FIRST, FIRST + 2 * STEP, FIRST + 3 * STEP]);
        let before = space.now();
        space.withdraw(&made[1]);
        assert!(before.find(addresses[1]).is_some() && space.now().find(addresses[1]).is_none());
        let again = Allocation::new(&heap, 1).unwrap();
        space.expose(&again);
        assert_eq!(space.of(&again), Some(FIRST + 4 * STEP));
        assert_eq!(space.now().find(addresses[0] + (1 << 16)).map(|_| ()), None);
    }

    #[test]
    fn addresses_are_found_inside_of_their_allocations_only() {
        let heap = Heap::new(1 << 20);
        let make = |size| Allocation::new(&heap, size).unwrap();
        let addresses = Addresses::new(vec![(0x3000, make(16)), (0x1000, make(256))]);
        let offset = |address| addresses.find(address).map(|(memory, offset)| (memory.size(), offset));
        assert_eq!(offset(0xfff), None);
        assert_eq!(offset(0x1000), Some((256, 0)));
        assert_eq!(offset(0x10ff), Some((256, 255)));
        assert_eq!(offset(0x1100), None);
        assert_eq!(offset(0x300f), Some((16, 15)));
        assert_eq!(offset(u64::MAX), None);
    }
}
