//! Narrow floats of encodings other than IEEE 754. Sources: `SPV_KHR_bfloat16`, `SPV_EXT_float8`
//! and "FP8 Formats for Deep Learning" (Micikevicius et al., 2022).
//!
//! The IR has the single-precision float of equal value. Conversions round to nearest, ties to
//! even.

use std::convert::Infallible;

use vitric_ir::{BinaryOp as B, Builder, Type, UnaryOp as U, Value, elementary};

/// Bits of infinity in single precision.
const INFINITY: u32 = f32::INFINITY.to_bits();

/// Encoding of a narrow float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    /// The upper half of a single-precision float.
    Bfloat16,
    Float8(Float8),
}

/// Encoding in 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Float8 {
    /// Number of bits of the significand: 3 without infinity, or 2 with it.
    significand: u32,
    /// True if conversions of numbers that are too large yield the largest number.
    saturates: bool,
}

impl Float8 {
    const E4M3: Self = Self { significand: 3, saturates: false };
    const E5M2: Self = Self { significand: 2, saturates: false };

    const fn bias(self) -> u32 {
        if self.significand == 3 { 7 } else { 15 }
    }

    /// Returns the code of the largest number. The next code is that of numbers that are too large.
    const fn largest(self) -> u32 {
        if self.significand == 3 { 0x7e } else { 0x7b }
    }

    const fn nan(self) -> u32 {
        if self.significand == 3 { 0x7f } else { 0x7e }
    }
}

impl Encoding {
    /// Returns the encoding of a type with these operands (SPIR-V, 3.51 "FP Encoding").
    pub(crate) fn of_type(bits: u32, encoding: u32) -> Option<Self> {
        let encoding = spirv::FPEncoding::from_u32(encoding)?;
        match (bits, encoding) {
            (16, spirv::FPEncoding::BFloat16KHR) => Some(Self::Bfloat16),
            (8, spirv::FPEncoding::Float8E4M3EXT) => Some(Self::Float8(Float8::E4M3)),
            (8, spirv::FPEncoding::Float8E5M2EXT) => Some(Self::Float8(Float8::E5M2)),
            _ => None,
        }
    }

    /// Returns the size in memory in bytes.
    pub(crate) const fn bytes(self) -> u32 {
        if matches!(self, Self::Bfloat16) { 2 } else { 1 }
    }

    /// Returns the encoding with conversions that saturate, if it has them.
    pub(crate) const fn saturating(self) -> Self {
        match self {
            Self::Bfloat16 => self,
            Self::Float8(float) => Self::Float8(Float8 { saturates: true, ..float }),
        }
    }

    /// Returns the bits of the single-precision float with the given bits in memory.
    pub(crate) fn value_of(self, bits: u32) -> u64 {
        let decoded: Result<u64, Infallible> =
            elementary::evaluate(&[(bits.into(), Type::I32)], |b, word| Ok(self.decode(b, word[0])));
        let Ok(value) = decoded;
        value
    }

    /// Returns the float with the given bits in memory. The upper bits of the dword are ignored.
    pub(crate) fn decode(self, b: &mut Builder, word: Value) -> Value {
        let Self::Float8(float) = self else {
            let bits = shifted(b, B::Shl, word, 16);
            return b.cast(bits, Type::F32);
        };
        if float.significand == 2 {
            // The upper byte of a half.
            let half = shifted(b, B::Shl, word, 8);
            return b.unary(U::HalfToFloat, half);
        }
        // A half with the same bits has a larger bias of the exponent.
        let (sign, rest) = (masked(b, word, 0x80), masked(b, word, 0x7f));
        let (sign, moved) = (shifted(b, B::Shl, sign, 8), shifted(b, B::Shl, rest, 7));
        let half = b.binary(B::Or, sign, moved);
        let half = b.unary(U::HalfToFloat, half);
        let scale = b.float(256.0);
        let number = b.binary(B::FMul, half, scale);
        let (nan, not_a_number) = (b.int(float.nan()), b.float(f32::NAN));
        let is_nan = b.binary(B::IEq, rest, nan);
        b.select(is_nan, not_a_number, number)
    }

    /// Returns the bits in memory of the nearest number.
    pub(crate) fn encode(self, b: &mut Builder, value: Value) -> Value {
        let bits = b.cast(value, Type::I32);
        let size = masked(b, bits, 0x7fff_ffff);
        let infinity = b.int(INFINITY);
        let is_nan = b.binary(B::ULt, infinity, size);
        let Self::Float8(float) = self else {
            let rounded = rounded(b, bits, 16);
            let (upper, quiet) = (shifted(b, B::ShrLogical, bits, 16), b.int(0x40));
            let nan = b.binary(B::Or, upper, quiet);
            return b.select(is_nan, nan, rounded);
        };
        let normal = rounded(b, size, 23 - float.significand);
        let bias = b.int((127 - float.bias()) << float.significand);
        let normal = b.binary(B::ISub, normal, bias);
        // The sum with a power of two has denormals in its last bits, rounded.
        let power = f32::from_bits((127 + 1 - float.bias() + 23 - float.significand) << 23);
        let (size_float, power_float, power_bits) = (b.cast(size, Type::F32), b.float(power), b.int(power.to_bits()));
        let sum = b.binary(B::FAdd, size_float, power_float);
        let sum = b.cast(sum, Type::I32);
        let denormal = b.binary(B::ISub, sum, power_bits);
        let least_normal = b.int((127 + 1 - float.bias()) << 23);
        let is_denormal = b.binary(B::ULt, size, least_normal);
        let code = b.select(is_denormal, denormal, normal);
        let largest = b.int(float.largest());
        let above = b.int(if float.saturates { float.largest() } else { float.largest() + 1 });
        let is_above = b.binary(B::ULt, largest, code);
        let code = b.select(is_above, above, code);
        let nan = b.int(float.nan());
        let code = b.select(is_nan, nan, code);
        let sign = shifted(b, B::ShrLogical, bits, 24);
        let sign = masked(b, sign, 0x80);
        b.binary(B::Or, code, sign)
    }
}

fn shifted(b: &mut Builder, op: B, value: Value, count: u32) -> Value {
    let count = b.int(count);
    b.binary(op, value, count)
}

fn masked(b: &mut Builder, value: Value, mask: u32) -> Value {
    let mask = b.int(mask);
    b.binary(B::And, value, mask)
}

/// Removes the lowest `count` bits, rounded to nearest, ties to even.
fn rounded(b: &mut Builder, bits: Value, count: u32) -> Value {
    let kept = shifted(b, B::ShrLogical, bits, count);
    let odd = masked(b, kept, 1);
    let half = b.int((1 << (count - 1)) - 1);
    let sum = b.binary(B::IAdd, bits, half);
    let sum = b.binary(B::IAdd, sum, odd);
    shifted(b, B::ShrLogical, sum, count)
}
