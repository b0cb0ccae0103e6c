//! Waits for events and messages of the system.

use std::os::fd::AsRawFd;
use std::time::Duration;

/// Waits up to `timeout` until the descriptor is readable.
pub fn is_readable(descriptor: &impl AsRawFd, timeout: Duration) -> bool {
    let mut polled = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let milliseconds = i32::try_from(timeout.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: the pointer is to one structure, which lives until the call returns.
    unsafe { libc::poll(&raw mut polled, 1, milliseconds) > 0 }
}
