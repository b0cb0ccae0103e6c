//! Whether testing pays, which is not known before: what is hidden would often fail the depth test next, which is cheap.
//!
//! Tests are paid for by what they hide. Where they do not pay they rest: the next primitives are drawn as if there were no structure,
//! which forgets what they may change. Each tile decides for itself, visit by visit, and an image for what is ahead of the tiler, window by
//! window; so nothing depends on threads.

/// Which primitives are tested against the structure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hiz {
    /// None.
    Off,
    /// Those in tiles where tests have paid lately.
    #[default]
    Auto,
    /// All that can.
    Always,
}

/// Tests that pay for themselves by one that hides something.
const GAIN: i32 = 4;

/// Tests where nothing is known yet, or after a rest.
const TRIAL: i32 = 96;

/// Tests in vain, at most, where tests have paid.
const MAX_VAIN_TESTS: i32 = 4 * TRIAL;

/// Primitives that come without tests for each test in vain.
const REST: i32 = 16;

/// What tests have cost and gained.
#[derive(Debug, Clone)]
pub struct Balance {
    /// Whether they never rest.
    goes_on: bool,
    /// Tests that may still be in vain.
    credit: i32,
    /// Primitives that come without tests.
    rest: i32,
}

impl Balance {
    /// Of no tests yet.
    pub fn new(hiz: Hiz) -> Self {
        Self { goes_on: hiz == Hiz::Always, credit: TRIAL, rest: 0 }
    }

    /// So many primitives come.
    pub fn expect(&mut self, primitives: u32) {
        if self.rest > 0 {
            self.rest -= primitives as i32;
        } else if self.credit <= 0 {
            self.credit = TRIAL;
        }
    }

    /// Whether tests go on.
    pub fn pays(&self) -> bool {
        self.goes_on || self.rest <= 0 && self.credit > 0
    }

    /// So many tests were made, of which some have hidden something.
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
