//! Set of fragment inputs that vary within primitives, with flags for depths and w. Inputs outside
//! of the set are equal for all fragments of a primitive.
//!
//! Normals of flat surfaces, uniform colours, and all inputs drawn without perspective and without
//! a gradient do not vary. Kernels specialized for that compute them once. A plane without slopes
//! evaluates exactly to the value at its origin, unless that is a negative zero. If all w are 1,
//! its division by the plane of 1/w also results in exactly that value.

/// Set of inputs that may vary within primitives, with flags for w and depths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Varies(u32);

impl Default for Varies {
    fn default() -> Self {
        Self::ALL
    }
}

impl Varies {
    /// All inputs, w and depths may vary.
    pub const ALL: Self = Self(u32::MAX);

    /// Nothing varies.
    pub const NONE: Self = Self(0);

    /// Bits of depths and w, after those of inputs. Inputs without a bit may always vary.
    const DEPTH: u32 = 30;
    const W: u32 = 31;

    /// Returns true if an input may vary.
    pub fn input(self, number: usize) -> bool {
        number >= Self::DEPTH as usize || self.0 >> number & 1 != 0
    }

    /// Returns true if depths may vary.
    pub fn depth(self) -> bool {
        self.0 >> Self::DEPTH & 1 != 0
    }

    /// Returns true if w may vary, or may differ from 1.
    pub fn w(self) -> bool {
        self.0 >> Self::W & 1 != 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if this set contains all of the other one.
    pub fn includes(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns the set, with an input added if `may`.
    #[inline(always)]
    pub(super) fn with_input(self, number: usize, may: bool) -> Self {
        let bit = if number < Self::DEPTH as usize { 1 << number } else { 0 };
        Self(self.0 | if may { bit } else { 0 })
    }

    /// Returns the set, with depths added if `may`.
    #[inline(always)]
    pub(super) fn with_depth(self, may: bool) -> Self {
        Self(self.0 | u32::from(may) << Self::DEPTH)
    }

    /// Returns the set, with w added if `may`.
    #[inline(always)]
    pub(super) fn with_w(self, may: bool) -> Self {
        Self(self.0 | u32::from(may) << Self::W)
    }

    /// Returns the set with its consequences: everything may vary if w does, because every input
    /// is divided by it.
    #[inline(always)]
    pub(super) fn settled(self) -> Self {
        if self.w() { Self::ALL } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_may_change() {
        let varies = Varies::NONE.with_input(3, true).with_input(40, false);
        assert_eq!([0, 3, 29, 30, 31, 40].map(|number| varies.input(number)), [false, true, false, true, true, true]);
        assert!(!varies.w() && varies.with_w(true).w());
        assert!(!varies.depth() && varies.with_depth(true).depth() && !varies.with_depth(true).w());
        assert_eq!((varies.settled(), varies.with_w(true).settled()), (varies, Varies::ALL));
        assert_eq!(Varies::default(), Varies::ALL);
    }

    #[test]
    fn together_they_allow_for_each() {
        let [one, other] = [3, 7].map(|number| Varies::NONE.with_input(number, true));
        assert!(one.or(other).includes(one) && one.or(other).includes(other) && !one.includes(other));
        assert!(Varies::ALL.includes(one) && one.includes(Varies::NONE));
    }
}
