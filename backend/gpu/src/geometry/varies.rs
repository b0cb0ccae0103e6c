//! Which inputs of the fragment program change within primitives, and whether depths do: what does not is the same for all of a primitive's
//! fragments.
//!
//! Normals of flat surfaces, colours of what has one, everything of what is drawn without perspective and without a gradient: kernels that know
//! compute it once. A plane without slopes gives the value at its origin to the bit, unless that is a negative zero; and where all w are 1, so does its
//! division by the plane of 1/w.

/// Inputs that may change within primitives, and whether w and depths do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Varies(u32);

impl Default for Varies {
    fn default() -> Self {
        Self::ALL
    }
}

impl Varies {
    /// Anything may.
    pub const ALL: Self = Self(u32::MAX);

    /// Nothing does.
    pub const NONE: Self = Self(0);

    /// Bits of depths and w, behind those of inputs; of others nothing is known.
    const DEPTH: u32 = 30;
    const W: u32 = 31;

    /// Whether an input may.
    pub fn input(self, number: usize) -> bool {
        number >= Self::DEPTH as usize || self.0 >> number & 1 != 0
    }

    /// Whether depths may.
    pub fn depth(self) -> bool {
        self.0 >> Self::DEPTH & 1 != 0
    }

    /// Whether w may, or is not 1.
    pub fn w(self) -> bool {
        self.0 >> Self::W & 1 != 0
    }

    /// What may in either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this allows for all that the other one does.
    pub fn includes(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// The same, and an input if it may.
    #[inline(always)]
    pub(super) fn with_input(self, number: usize, may: bool) -> Self {
        let bit = if number < Self::DEPTH as usize { 1 << number } else { 0 };
        Self(self.0 | if may { bit } else { 0 })
    }

    /// The same, and depths if they may.
    #[inline(always)]
    pub(super) fn with_depth(self, may: bool) -> Self {
        Self(self.0 | u32::from(may) << Self::DEPTH)
    }

    /// The same, and w if it may.
    #[inline(always)]
    pub(super) fn with_w(self, may: bool) -> Self {
        Self(self.0 | u32::from(may) << Self::W)
    }

    /// What follows from that: where w changes, what is divided by it is the same only by chance.
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
