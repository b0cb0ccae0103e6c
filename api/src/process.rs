//! Number of forks of this process since it first used Vulkan.
//!
//! A child process has copies of its parent's devices, but not the threads that do their work. The
//! parent's devices are therefore lost in the child.

use std::sync::atomic::{AtomicU32, Ordering};

/// Number of forks. It is global because it describes the process.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns the number of forks between the process that first used Vulkan and this one.
#[inline]
pub fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Records that this process is the child of a fork. The function is async-signal-safe, as the
/// child handler of a fork must be.
pub fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
