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
const GAIN: i32 = 4;

/// Number of tests at the beginning, and after a pause.
const TRIAL: i32 = 96;

/// Maximum number of tests in vain where tests have paid.
const MAX_VAIN_TESTS: i32 = 4 * TRIAL;

/// Number of primitives without tests for each test in vain.
const REST: i32 = 16;

/// Costs and gains of tests.
#[derive(Debug, Clone)]
pub struct Balance {
    /// True if tests never pause.
    goes_on: bool,
    /// Number of tests that may still be in vain.
    credit: i32,
    /// Number of primitives that are still drawn without tests.
    rest: i32,
}

impl Balance {
    /// Returns the estimate before any test.
    pub fn new(hiz: Hiz) -> Self {
        Self { goes_on: hiz == Hiz::Always, credit: TRIAL, rest: 0 }
    }

    /// Notes that a number of primitives is drawn.
    pub fn expect(&mut self, primitives: u32) {
        if self.rest > 0 {
            self.rest -= primitives as i32;
        } else if self.credit <= 0 {
            self.credit = TRIAL;
        }
    }

    /// Returns true if tests go on.
    pub fn pays(&self) -> bool {
        self.goes_on || self.rest <= 0 && self.credit > 0
    }

    /// Notes a number of tests, of which some have hidden something.
    pub fn tested(&mut self, tests: u32, hidden: u32) {
        self.credit = (self.credit - tests as i32 + GAIN * hidden as i32).min(MAX_VAIN_TESTS);
        if self.credit <= 0 {
            self.rest = REST * (TRIAL - self.credit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_rest_when_they_do_not_pay_and_are_tried_again() {
        let mut balance = Balance::new(Hiz::Auto);
        balance.expect(100);
        balance.tested(TRIAL as u32 - 1, 0);
        assert!(balance.pays());
        balance.tested(1, 0);
        for primitives in [(REST * TRIAL) as u32 - 1, 1] {
            balance.expect(primitives);
            assert!(!balance.pays());
        }
        balance.expect(7);
        assert!(balance.pays());
    }

    #[test]
    fn tests_that_pay_go_on() {
        let mut balance = Balance::new(Hiz::Auto);
        for _ in 0..100 {
            balance.expect(100);
            balance.tested(4 * GAIN as u32, 4);
            assert!(balance.pays());
        }
        balance.tested(0, 1000);
        balance.tested(MAX_VAIN_TESTS as u32 - 1, 0);
        assert!(balance.pays());
    }

    #[test]
    fn tests_go_on_where_that_is_asked_for() {
        let mut balance = Balance::new(Hiz::Always);
        balance.tested(100_000, 0);
        balance.expect(1);
        assert!(balance.pays());
    }
}
