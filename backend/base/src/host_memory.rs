//! Checks of the host's memory before large allocations.
//!
//! A failed allocation in a collection of Rust's standard library ends the process. Large
//! allocations are therefore bounded and checked here first, and a margin stays free for the small
//! allocations that follow. The checks cannot detect overcommitment, where the system promises
//! memory that it does not have. They do detect a limit of the address space (`ulimit -v`).

use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::MmapOptions;

/// Bytes that must stay free for small allocations (16 MiB).
pub const MARGIN: usize = 16 << 20;

/// Bytes to reserve for a thread with a stack of the default size (4 MiB).
const THREAD_BYTES: usize = 4 << 20;

/// Calls of [`has_margin`] per check.
const PERIOD: u32 = 64;

/// Returns true if the host has room for `bytes` in addition to the margin.
pub fn has_room(bytes: usize) -> bool {
    let fits = |&bytes: &usize| bytes <= isize::MAX as usize;
    // The system maps the memory, not the allocator. After the release of so large an allocation
    // the allocator would retain more freed memory.
    let map = |bytes: usize| MmapOptions::new().len(bytes).map_anon();
    bytes.checked_add(MARGIN).filter(fits).is_some_and(|bytes| map(bytes).is_ok())
}

/// Returns true if the host has room for `count` more threads.
///
/// A thread that starts without memory for its signal handlers ends the process.
pub fn has_room_for_threads(count: usize) -> bool {
    has_room(count.saturating_mul(THREAD_BYTES))
}

/// Reserves room for `count` elements in total.
///
/// # Panics
/// Panics if the host has no memory for the elements. Running programs then lose their device, and
/// the process continues.
#[inline]
pub fn make_room<T>(list: &mut Vec<T>, count: usize) {
    if count > list.capacity() {
        let is_made = list.try_reserve(count - list.len()).is_ok();
        assert!(is_made, "the host has no memory for {count} elements of {} bytes", size_of::<T>());
    }
}

/// Returns true if the margin is free, as a check before a small allocation.
///
/// Only every 64th call checks the memory. After a failed check every call checks, until the
/// margin is free.
pub fn has_margin() -> bool {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    if CALLS.fetch_add(1, Ordering::Relaxed) % PERIOD != PERIOD - 1 {
        return true;
    }
    let found = has_room(0);
    if !found {
        CALLS.store(PERIOD - 1, Ordering::Relaxed);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_an_address_space_has_no_room() {
        assert!(has_room(1 << 20) && has_margin());
        assert!(!has_room(usize::MAX) && !has_room(isize::MAX as usize));
    }
}
