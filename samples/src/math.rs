//! Elementary functions with equal bits on every machine.
//!
//! The standard library's functions come from the host's C library, and differ in the last bit
//! between versions and processors. Meshes, textures and pictures would differ, too. The functions
//! here are from the `libm` crate (plain IEEE operations). For this reason `glam` is built on that
//! crate and without SIMD. `clippy.toml` beside the manifest forbids the other functions in this
//! crate.

/// The functions, with names that differ from the standard library's.
pub trait Steady: Copy {
    /// Returns the sine of an angle in radians.
    fn sine(self) -> Self;
    /// Returns the cosine of an angle in radians.
    fn cosine(self) -> Self;
    /// Returns sine and cosine of an angle in radians.
    fn sine_cosine(self) -> (Self, Self) {
        (self.sine(), self.cosine())
    }
    /// Returns the tangent of an angle in radians.
    fn tangent(self) -> Self;
    /// Returns e to this power.
    fn exponential(self) -> Self;
    /// Returns this number, which must not be negative, to a power.
    fn power(self, exponent: Self) -> Self;
    /// Returns the angle of the point (`x`, self) in -pi..pi.
    fn angle(self, x: Self) -> Self;
}

impl Steady for f32 {
    fn sine(self) -> f32 {
        libm::sinf(self)
    }

    fn cosine(self) -> f32 {
        libm::cosf(self)
    }

    fn tangent(self) -> f32 {
        libm::tanf(self)
    }

    fn exponential(self) -> f32 {
        libm::expf(self)
    }

    fn power(self, exponent: f32) -> f32 {
        libm::powf(self, exponent)
    }

    fn angle(self, x: f32) -> f32 {
        libm::atan2f(self, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_give_these_very_bits() {
        let got = [0.5f32.sine(), 100.0f32.cosine(), 0.3f32.tangent(), (-1.5f32).exponential(), 0.7f32.power(0.35)];
        assert_eq!(got.map(f32::to_bits), [0x3ef5_7744, 0x3f5c_c0ee, 0x3e9e_6153, 0x3e64_7c3c, 0x3f61_f4ca]);
        assert_eq!(1.0f32.angle(-1.0), 2.356_194_5);
    }
}
