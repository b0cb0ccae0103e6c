//! The memory heap and its budget.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use ash::vk;
use vitric_base::knobs;
use vitric_memory::Heap;

use crate::host;

/// Returns the size of the memory heap in bytes: the knob `VITRIC_HEAP_MIB`, or a default that
/// depends on the host's memory.
pub fn heap_size() -> u64 {
    match knobs::values().number("VITRIC_HEAP_MIB") {
        0 => host::default_heap(Path::new(host::ROOT)),
        mib => mib.saturating_mul(1 << 20),
    }
}

/// Most bytes of far memory, as a multiple of the heap's size.
const MAX_FAR_HEAPS: u64 = 15;

/// Returns the memory heap. All instances of a process share it, because the budget in
/// `VkPhysicalDeviceMemoryBudgetPropertiesEXT` is the process's.
pub fn heap() -> Arc<Heap> {
    static HEAP: OnceLock<Arc<Heap>> = OnceLock::new();
    HEAP.get_or_init(|| {
        let (size, near) = (heap_size(), knobs::values().text("VITRIC_NEARMEM"));
        Heap::with_far(size, far_size(near, size, host::memory(Path::new(host::ROOT))))
    })
    .clone()
}

/// Returns the bytes that can be allocated beyond the size of the heap while idle images are
/// compacted, on a host with `memory` bytes of memory. One submission may use everything, and
/// images in use are not compacted. So all allocations together are limited to three quarters of
/// the host's memory, with a file as far memory, too. Otherwise the system would end the process.
/// `near` is the value of the knob `VITRIC_NEARMEM`.
fn far_size(near: &str, size: u64, memory: Option<u64>) -> u64 {
    if knobs::near(near).is_none_or(|(mode, _)| mode == "off") {
        return 0;
    }
    let most = memory.unwrap_or(0) / 4 * 3;
    size.saturating_mul(MAX_FAR_HEAPS).min(most.saturating_sub(size))
}

/// Returns the bytes of `heap` that are in use, and its budget (`VK_EXT_memory_budget`). Compacted
/// images count with the memory that they occupy. The budget is the smaller of the heap's free
/// bytes and the host's available memory, plus the bytes in use, and at most the heap's size.
pub fn memory_budget(heap: &Heap) -> vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'static> {
    budget(heap, host::available_memory(Path::new(host::ROOT)).unwrap_or(u64::MAX))
}

fn budget(heap: &Heap, available: u64) -> vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'static> {
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let (resident, room) = (heap.resident(), heap.free());
    budget.heap_usage[0] = resident;
    // The specification allows neither a budget of 0 nor one above the size. A submission whose
    // images exceed the heap uses more than the size.
    budget.heap_budget[0] = resident.saturating_add(available.min(room)).min(heap.size()).max(1);
    budget
}

#[cfg(test)]
mod tests {
    use vitric_memory::Allocation;

    use super::*;

    #[test]
    fn the_budget_is_what_heap_and_host_have() {
        let heap = Heap::new(1 << 20);
        let held = Allocation::new(&heap, 1 << 12).unwrap();
        let [plenty, little, none] = [u64::MAX, 1 << 16, 0].map(|available| budget(&heap, available));
        assert_eq!(plenty.heap_usage[..2], [1 << 12, 0]);
        assert_eq!([plenty, little, none].map(|of| of.heap_budget[0]), [1 << 20, (1 << 16) + (1 << 12), 1 << 12]);
        drop(held);
        assert_eq!(budget(&heap, 0).heap_budget[0], 1);
    }

    #[test]
    fn far_memory_leaves_a_quarter_of_the_hosts_memory() {
        const GIB: u64 = 1 << 30;
        assert_eq!(far_size("on", 8 * GIB, Some(16 * GIB)), 4 * GIB);
        assert_eq!(far_size("on,100", GIB / 4, Some(16 * GIB)), 15 * GIB / 4, "16 times the size");
        assert_eq!(far_size("always", 13 * GIB, Some(16 * GIB)), 0);
        assert_eq!(far_size("on", 4 * GIB, None), 0);
        assert_eq!(far_size("off", GIB, Some(16 * GIB)), 0);
    }
}
