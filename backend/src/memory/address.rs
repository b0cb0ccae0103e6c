//! Addresses of the device: where programs that hold 64-bit addresses find memory.
//!
//! An address is only looked up, never dereferenced, so that one that was made up reaches nothing. Source: Vulkan
//! specification, "vkGetBufferDeviceAddress"; SPIR-V, `PhysicalStorageBufferAddresses`.

use std::sync::Arc;

use super::Allocation;

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

    /// The allocation that holds an address, and the offset in it.
    pub fn find(&self, address: u64) -> Option<(&Allocation, u64)> {
        let after = self.ranges.partition_point(|(first, _)| *first <= address);
        let (first, allocation) = self.ranges.get(after.checked_sub(1)?)?;
        let offset = address - first;
        (offset < allocation.size()).then_some((allocation, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Heap;

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
