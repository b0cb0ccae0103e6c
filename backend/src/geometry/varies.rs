//! Which inputs of the fragment program change within primitives: what does not is the same for all of a primitive's fragments.
//!
//! Normals of flat surfaces, colours of what has one, everything of what is drawn without perspective and without a gradient: kernels that know
//! compute it once. A plane without slopes gives the value at its origin to the bit, unless that is a negative zero; and where all w are 1, so does its
//! division by the plane of 1/w.

use super::batch::Way;
use super::primitives::{Primitives, Shape};
use crate::shader::runtime::kernels::{Lanes, WAVE, kernel};

/// Inputs that may change within primitives, and whether w does.
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

    /// Bit of w: the planes of values that were divided by it are not those of the values.
    const W: u32 = 31;

    /// Whether an input may.
    pub fn input(self, number: usize) -> bool {
        number >= Self::W as usize || self.0 >> number & 1 != 0
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

    /// Of sixteen primitives, by their words.
    pub(super) fn of(ways: &[Way], words: &[Lanes]) -> Self {
        Self(of_words(ways, words))
    }
}

/// Whether a plane does not give the value at its origin everywhere, in any lane.
#[inline(always)]
fn has_slopes(words: &[Lanes], first: u32) -> bool {
    let Some([origin, dx, dy]) = words[first as usize..].first_chunk() else { return true };
    let mut found = 0;
    for lane in 0..WAVE {
        let is_negative_zero = origin[lane] == (-0.0f32).to_bits();
        found |= (dx[lane] | dy[lane]) << 1 | u32::from(is_negative_zero);
    }
    found != 0
}

#[inline(always)]
fn of_words_lanes(ways: &[Way], words: &[Lanes]) -> u32 {
    let mut varies = 0;
    let mut other = 0;
    for lane in 0..WAVE {
        other |= words[Shape::INVERSE_W as usize][lane] ^ 1.0f32.to_bits();
    }
    let w_varies = other != 0 || has_slopes(words, Shape::INVERSE_W);
    for (input, way) in ways.iter().enumerate().take(Varies::W as usize) {
        let may_be_same = match way {
            Way::Linear => true,
            // With it they are the same only by chance.
            Way::Perspective => !w_varies,
            _ => false,
        };
        let is_same = may_be_same && !has_slopes(words, Primitives::first_word(input));
        varies |= u32::from(!is_same) << input;
    }
    varies | u32::from(w_varies) << Varies::W
}

kernel!(
    /// [`Varies::of`] as a word.
    of_words, of_words_lanes, (ways: &[Way], words: &[Lanes]) -> u32
);
