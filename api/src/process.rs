//! How often the process was forked since Vulkan was first used in it. A child has copies of its parent's devices, but not of the threads
//! that do their work: those devices are lost there.

use std::sync::atomic::{AtomicU32, Ordering};

/// It is global since processes are.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Forks between the process that used Vulkan first and this one.
#[inline]
pub fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Says that this process is the child of a fork. It does what the handler of a fork may do.
pub fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
