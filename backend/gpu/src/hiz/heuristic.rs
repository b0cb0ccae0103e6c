//! Estimates whether tests pay. Hidden pixels would often fail the depth test next, which is
//! cheap.
//!
//! Tests that hide something pay for others. Where tests do not pay they pause: the next
//! primitives are drawn without tests, and the bounds that they may change are dropped. Each tile
//! has an estimate for its tests, and each image one for tests in front of the tiler, so results
//! do not depend on threads.

/// Setting of the tests against Hi-Z.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hiz {
    /// No primitives are tested.
    Off,
    /// Primitives are tested in tiles where tests have paid lately.
    #[default]
    Auto,
    /// All primitives that can be tested are.
    Always,
}

/// Number of tests that one test that hides something pays for.
const GAIN: u32 = 4;

/// Divisor of the credit that gives the maximum number of updates before the next test. Without
/// tests, updates are made in vain.
const UPDATE_SHARE: i32 = 2;

/// Number of tests at the beginning, and after a pause.
const TRIAL: i32 = 96;

/// Maximum number of tests in vain where tests have paid.
const MAX_VAIN_TESTS: i32 = 4 * TRIAL;

/// Number of primitives that are drawn without tests for each test in vain: the first time, and at
/// most. The number doubles each time, until tests earn credit.
const PAUSES: [i32; 2] = [16, 256];

/// Heuristic that pauses tests which do not pay.
#[derive(Debug, Clone, Copy)]
pub struct HizHeuristic {
    /// True if tests never pause.
    is_always_on: bool,
    /// Number of tests that may still be in vain.
    credit: i32,
    /// Number of primitives that are still drawn without tests.
    paused: i32,
    /// Number of primitives that a pause lasts for each test in vain.
    pause: i32,
}

impl HizHeuristic {
    /// Returns the estimate before any test.
    pub fn new(hiz: Hiz) -> Self {
        Self { is_always_on: hiz == Hiz::Always, credit: TRIAL, paused: 0, pause: PAUSES[0] }
    }

    /// Counts primitives that are about to be drawn.
    pub fn count_primitives(&mut self, primitives: u32) {
        if self.paused > 0 {
            self.paused = self.paused.saturating_sub_unsigned(primitives);
        } else if self.credit <= 0 {
            self.credit = TRIAL;
            self.pause = PAUSES[1].min(2 * self.pause);
        }
    }

    /// Ends a pause, so that updates can precede the next tests.
    pub fn end_pause(&mut self) {
        self.paused = 0;
        self.count_primitives(0);
    }

    /// Returns true if tests are expected to pay.
    pub fn allows_tests(&self) -> bool {
        self.is_always_on || self.paused <= 0 && self.credit > 0
    }

    /// Returns true if no test is expected to pay for this number of primitives.
    pub fn is_paused_for(&self, primitives: u32) -> bool {
        !self.is_always_on && i64::from(self.paused) > i64::from(primitives)
    }

    /// Returns the maximum number of updates that may be made for tests only, before the next test.
    pub fn max_updates(&self) -> u32 {
        if self.is_always_on { u32::MAX } else { (self.credit / UPDATE_SHARE).max(0) as u32 }
    }

    /// Counts updates that are made for tests only, each like a test in vain. While tests pause
    /// they do not prolong the pause.
    pub fn count_updates(&mut self, updates: u32) {
        if self.allows_tests() {
            self.count_tests(updates, 0);
        }
    }

    /// Counts tests, and those of them that found something hidden.
    pub fn count_tests(&mut self, tests: u32, hidden: u32) {
        if self.is_always_on {
            return;
        }
        let gain = hidden.saturating_mul(GAIN);
        self.credit = self.credit.saturating_sub_unsigned(tests).saturating_add_unsigned(gain).min(MAX_VAIN_TESTS);
        if self.credit > TRIAL {
            self.pause = PAUSES[0];
        } else if self.credit <= 0 {
            self.paused = self.pause.saturating_mul(TRIAL.saturating_sub(self.credit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_pause_when_they_do_not_pay_and_are_tried_again() {
        let mut heuristic = HizHeuristic::new(Hiz::Auto);
        heuristic.count_primitives(100);
        heuristic.count_tests(TRIAL as u32 - 1, 0);
        assert!(heuristic.allows_tests());
        heuristic.count_tests(1, 0);
        for primitives in [(PAUSES[0] * TRIAL) as u32 - 1, 1] {
            heuristic.count_primitives(primitives);
            assert!(!heuristic.allows_tests());
        }
        heuristic.count_primitives(7);
        assert!(heuristic.allows_tests());
    }

    #[test]
    fn pauses_double_until_tests_pay() {
        let mut heuristic = HizHeuristic::new(Hiz::Auto);
        let pause_after = |heuristic: &mut HizHeuristic, hidden: u32| {
            heuristic.count_tests(TRIAL as u32, hidden);
            let is_paused = |_: &usize| {
                heuristic.count_primitives(TRIAL as u32);
                !heuristic.allows_tests()
            };
            (0..).take_while(is_paused).count()
        };
        for times in [16, 32, 64, 128, 256, 256] {
            assert_eq!(pause_after(&mut heuristic, 0), times);
        }
        assert_eq!(pause_after(&mut heuristic, TRIAL as u32), 0);
        heuristic.count_tests(TRIAL as u32 * (GAIN - 1), 0);
        assert_eq!(pause_after(&mut heuristic, 0), 16);
    }

    #[test]
    fn tests_that_pay_go_on() {
        let mut heuristic = HizHeuristic::new(Hiz::Auto);
        for _ in 0..100 {
            heuristic.count_primitives(100);
            heuristic.count_tests(4 * GAIN, 4);
            assert!(heuristic.allows_tests());
        }
        heuristic.count_tests(0, 1000);
        heuristic.count_tests(MAX_VAIN_TESTS as u32 - 1, 0);
        assert!(heuristic.allows_tests());
    }

    #[test]
    fn updates_leave_credit_for_tests() {
        let mut heuristic = HizHeuristic::new(Hiz::Auto);
        assert_eq!(heuristic.max_updates(), 48);
        heuristic.count_tests(10, 2);
        assert_eq!(heuristic.max_updates(), 47);
        heuristic.count_updates(47);
        assert_eq!((heuristic.max_updates(), heuristic.allows_tests()), (23, true));
        heuristic.count_tests(47, 0);
        assert_eq!((heuristic.max_updates(), heuristic.allows_tests()), (0, false));
        assert_eq!(HizHeuristic::new(Hiz::Always).max_updates(), u32::MAX);
    }

    #[test]
    fn pauses_end_before_updates() {
        let mut heuristic = HizHeuristic::new(Hiz::Auto);
        heuristic.count_tests(100, 0);
        assert!(heuristic.is_paused_for(1599) && !heuristic.is_paused_for(1600));
        heuristic.end_pause();
        assert_eq!((heuristic.max_updates(), heuristic.allows_tests()), (48, true));
        // Credit that is left is kept.
        heuristic.count_tests(90, 0);
        heuristic.end_pause();
        assert_eq!(heuristic.max_updates(), 3);
    }

    #[test]
    fn great_counts_do_not_overflow() {
        for hiz in [Hiz::Auto, Hiz::Always] {
            let mut heuristic = HizHeuristic::new(hiz);
            let is_always = hiz == Hiz::Always;
            for _ in 0..3 {
                heuristic.count_tests(u32::MAX, 0);
            }
            assert_eq!(
                (heuristic.allows_tests(), heuristic.is_paused_for(i32::MAX as u32 - 1)),
                (is_always, !is_always)
            );
            assert!(!heuristic.is_paused_for(u32::MAX));
            heuristic.count_primitives(u32::MAX);
            heuristic.count_primitives(1);
            heuristic.count_tests(u32::MAX, u32::MAX);
            heuristic.count_tests(1 << 31, 0);
            heuristic.end_pause();
            assert!(heuristic.allows_tests());
        }
    }

    #[test]
    fn tests_never_pause_if_always_on() {
        let mut heuristic = HizHeuristic::new(Hiz::Always);
        heuristic.count_tests(100_000, 0);
        heuristic.count_primitives(1);
        assert!(heuristic.allows_tests());
    }
}
