//! Clock of the device, as programs read it, in nanoseconds. It is common to all threads and never
//! goes back.
//!
//! Source: `VK_KHR_shader_clock`; clock_gettime(2).

/// Returns the current time, in nanoseconds.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to `time`, which is borrowed mutably. It fails only for clocks
    // that do not exist.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_goes_on() {
        let times: Vec<u64> = (0..100).map(|_| super::now()).collect();
        assert!(times.is_sorted() && times[0] > 0);
    }
}
