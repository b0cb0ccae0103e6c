//! Modes of displays: visible pixels and refresh rates.

use std::time::Duration;

use ash::vk;
use drm::control::{Mode, ModeFlags};

/// Timing of a mode.
struct Timing {
    /// Pixels a millisecond.
    clock: u32,
    /// Columns and rows with the pauses between them.
    total: [u16; 2],
    /// Number of times that each row is shown.
    repeats: u16,
    flags: ModeFlags,
}

impl Timing {
    fn of(mode: &Mode) -> Self {
        let ((_, _, columns), (_, _, rows)) = (mode.hsync(), mode.vsync());
        Self { clock: mode.clock(), total: [columns, rows], repeats: mode.vscan(), flags: mode.flags() }
    }

    /// Returns the refresh rate in thousandths of a hertz; `None` without a refresh.
    fn millihertz(&self) -> Option<u32> {
        let doubled = |flag, number: u64| if self.flags.contains(flag) { number * 2 } else { number };
        let pixels = self.total.map(u64::from).iter().product::<u64>() * u64::from(self.repeats.max(1));
        let pixels = doubled(ModeFlags::DBLSCAN, pixels);
        // Each field of an interlaced picture is a refresh.
        let clock = doubled(ModeFlags::INTERLACE, u64::from(self.clock) * 1_000_000);
        let rate = (clock + pixels / 2).checked_div(pixels)?;
        u32::try_from(rate).ok().filter(|&rate| rate > 0)
    }
}

/// Returns the parameters of a mode; `None` for a mode without pixels or without a refresh.
pub fn parameters(mode: &Mode) -> Option<vk::DisplayModeParametersKHR> {
    let (width, height) = mode.size();
    let visible_region = vk::Extent2D { width: width.into(), height: height.into() };
    let refresh_rate = Timing::of(mode).millihertz()?;
    (width > 0 && height > 0).then_some(vk::DisplayModeParametersKHR { visible_region, refresh_rate })
}

/// Returns the time between two refreshes of a mode; `None` without a refresh.
pub fn period(mode: &Mode) -> Option<Duration> {
    Timing::of(mode).millihertz().map(|rate| Duration::from_nanos(1_000_000_000_000 / u64::from(rate)))
}

/// Returns true if two modes have equal parameters.
pub fn are_equal(one: &vk::DisplayModeParametersKHR, other: &vk::DisplayModeParametersKHR) -> bool {
    (one.visible_region, one.refresh_rate) == (other.visible_region, other.refresh_rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_follow_the_clock() {
        let rate = |clock, total, repeats, flags| Timing { clock, total, repeats, flags }.millihertz();
        let none = ModeFlags::empty();
        assert_eq!(rate(148_500, [2200, 1125], 0, none), Some(60_000));
        assert_eq!(rate(148_352, [2200, 1125], 0, none), Some(59_940));
        assert_eq!(rate(74_250, [2200, 1125], 0, ModeFlags::INTERLACE), Some(60_000));
        assert_eq!(rate(297_000, [2200, 1125], 0, ModeFlags::DBLSCAN), Some(60_000));
        assert_eq!(rate(297_000, [2200, 1125], 2, none), Some(60_000));
        // Modes without a clock, without pixels, and beyond the range of the rate.
        for (clock, total) in [(0, [2200, 1125]), (148_500, [0, 1125]), (148_500, [2200, 0]), (u32::MAX, [1, 1])] {
            assert_eq!(rate(clock, total, 0, none), None, "{clock} {total:?}");
        }
    }
}
