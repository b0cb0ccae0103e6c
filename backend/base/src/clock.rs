//! Clocks of the host, in nanoseconds. Source: clock_gettime(2).

/// Returns the time of `CLOCK_MONOTONIC`, which is common to all threads and never goes back.
pub fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the time of `CLOCK_MONOTONIC_RAW`, which no time server adjusts.
pub fn monotonic_raw() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to `time`, which is borrowed mutably. It fails only for clocks
    // that do not exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_goes_on() {
        for clock in [super::monotonic, super::monotonic_raw] {
            let times: Vec<u64> = (0..100).map(|_| clock()).collect();
            assert!(times.is_sorted() && times[0] > 0);
        }
    }
}
