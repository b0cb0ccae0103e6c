//! Checks of the host's memory before work that takes much of it.
//!
//! An allocation of Rust's collections that fails ends the process. So what may take much is bounded beforehand and asked
//! for here, and a margin stays for the small allocations that follow. Memory that the system promises without having it
//! (overcommitment) cannot be seen; a limit of the address space (`ulimit -v`) can.

use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::MmapOptions;

/// Bytes that must stay free for small allocations.
pub const MARGIN: usize = 16 << 20;

/// Bytes that a thread takes with the stack that threads have unless they ask for another one.
const THREAD_BYTES: usize = 4 << 20;

/// Calls of [`has_margin`] between two checks.
const PERIOD: u32 = 64;

/// Returns true if the host has room for `bytes` besides the margin.
pub fn has_room(bytes: usize) -> bool {
    let fits = |&bytes: &usize| bytes <= isize::MAX as usize;
    // Not by the allocator: it would keep more freed memory after it had given back an allocation this large.
    let map = |bytes: usize| MmapOptions::new().len(bytes).map_anon();
    bytes.checked_add(MARGIN).filter(fits).is_some_and(|bytes| map(bytes).is_ok())
}

/// Returns true if the host has room for some more threads. A thread that starts without memory for its signal handlers ends
/// the process.
pub fn has_room_for_threads(count: usize) -> bool {
    has_room(count.saturating_mul(THREAD_BYTES))
}

/// Makes room for `count` elements in all.
///
/// # Panics
/// If the host has none: programs that run lose their device then, and the process lives.
#[inline]
pub fn make_room<T>(list: &mut Vec<T>, count: usize) {
    if count > list.capacity() {
        let is_made = list.try_reserve(count - list.len()).is_ok();
        assert!(is_made, "the host has no memory for {count} elements of {} bytes", size_of::<T>());
    }
}

/// Returns true if the margin is free: for calls that take little each. It is looked at now and then, and by every call once
/// it was not free.
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
