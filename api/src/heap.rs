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
        let size = heap_size();
        Heap::with_far(size, far_size(knobs::values(), size, host::memory(Path::new(host::ROOT))))
    })
    .clone()
}

/// Returns the bytes that can be allocated beyond the size of the heap while idle images are
/// compacted. Without a file as far memory, everything must fit in the host's memory when nothing
/// is compacted.
fn far_size(values: &knobs::Values, size: u64, memory: Option<u64>) -> u64 {
    if knobs::near(values.text("VITRIC_NEARMEM")).is_none_or(|(mode, _)| mode == "off") {
        return 0;
    }
    let most = size.saturating_mul(MAX_FAR_HEAPS);
    match values.text("VITRIC_FARMEM") {
        "" => most.min(memory.unwrap_or(0).saturating_sub(size)),
        _ => most,
    }
}

/// Returns the bytes of `heap` that are in use, and its budget (`VK_EXT_memory_budget`). Compacted
/// images count with the memory that they occupy. The budget is the smaller of the heap's free
/// bytes and the host's available memory, plus the bytes in use.
pub fn memory_budget(heap: &Heap) -> vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'static> {
    budget(heap, host::available_memory(Path::new(host::ROOT)).unwrap_or(u64::MAX))
}

fn budget(heap: &Heap, available: u64) -> vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'static> {
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let (resident, room) = (heap.resident(), heap.free());
    budget.heap_usage[0] = resident;
    // The specification does not allow a budget of 0.
    budget.heap_budget[0] = resident.saturating_add(available.min(room)).max(1);
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
}
