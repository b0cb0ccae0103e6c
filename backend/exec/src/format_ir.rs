//! Format conversion written as IR. It computes the results of `convert` bit for bit, for every
//! lane of a wave.
//!
//! A texel in memory is one to four little-endian words. Formats of fewer than 4 bytes occupy the
//! low bits of one word. Vertex fetch, sampling and export consist of these routines, each
//! specialised for its format.

use smallvec::SmallVec;
use vitric_format::{Channel, Class, FormatInfo, WHOLE, one, srgb};
use vitric_ir::{BinaryOp as B, Builder, TernaryOp as T, Type, UnaryOp as U, Value};

/// Words of a texel in memory.
pub type Words = SmallVec<[Value; 4]>;

/// 2^23. Adding it rounds a non-negative number below 2^23 to an integer, which the low mantissa
/// bits then hold.
const ROUND_NONNEGATIVE: f32 = 8_388_608.0;

/// Number of top bits of a word that hold the bits of [`ROUND_NONNEGATIVE`].
const ROUND_EXPONENT_BITS: u32 = 8;

/// Maximum width in bits of fixed-point codes whose quotients [`divided`] computes without a
/// division.
const MAX_RECIPROCAL_BITS: u8 = 16;

/// Returns the number of 32-bit words of a format's texel.
pub fn words(info: &FormatInfo) -> usize {
    info.bytes.div_ceil(4) as usize
}

fn max_code(bits: u8) -> u32 {
    u32::MAX >> (32 - u32::from(bits))
}

/// Returns true if the format has a shared exponent: three mantissas of 9 bits, with 5 bits of
/// exponent above them.
fn shares_exponent(info: &FormatInfo) -> bool {
    info.class == Class::Ufloat && info.channels[0].bits == 9
}

/// Decodes a texel of an uncompressed colour format to red, green, blue and alpha. Missing
/// components are 0, 0, 0, 1. Integers are `I32`, all other values are `F32`.
pub fn decode(b: &mut Builder, info: &FormatInfo, words: &[Value]) -> [Value; 4] {
    if shares_exponent(info) {
        let [red, green, blue] = shared_exponent(b, words[0]);
        return [red, green, blue, b.float(1.0)];
    }
    [0, 1, 2, 3].map(|component| decode_component(b, info, words, component))
}

/// Returns true if each component can be decoded independently of the others.
pub fn has_components(info: &FormatInfo) -> bool {
    !shares_exponent(info)
}

/// Decodes one component, 0 to 3, of a texel. The format must satisfy [`has_components`].
pub fn decode_component(b: &mut Builder, info: &FormatInfo, words: &[Value], component: u8) -> Value {
    let ty = if info.class.is_integer() { Type::I32 } else { Type::F32 };
    match channel_of(info, component) {
        Some(channel) => decode_channel(b, info.class, channel, words),
        None => b.constant(if component == 3 { one(info.class) } else { 0 }, ty),
    }
}

fn channel_of(info: &FormatInfo, component: u8) -> Option<&Channel> {
    info.channels.iter().find(|channel| channel.component == component)
}

fn decode_channel(b: &mut Builder, class: Class, channel: &Channel, words: &[Value]) -> Value {
    let bits = channel.bits;
    match class {
        Class::Uint => unsigned_code(b, channel, words),
        Class::Sint => signed_code(b, channel, words),
        Class::Srgb if channel.component != 3 => {
            let code = unsigned_code(b, channel, words);
            srgb_value(b, code)
        }
        Class::Unorm | Class::Srgb => {
            let code = unsigned_code(b, channel, words);
            let code = b.unary(U::SToF, code);
            divided(b, code, bits, max_code(bits))
        }
        Class::Snorm => {
            let code = signed_code(b, channel, words);
            let code = b.unary(U::SToF, code);
            let (value, low) = (divided(b, code, bits, max_code(bits - 1)), b.float(-1.0));
            b.binary(B::FMax, value, low)
        }
        Class::Uscaled => {
            let code = unsigned_code(b, channel, words);
            b.unary(U::UToF, code)
        }
        Class::Sscaled => {
            let code = signed_code(b, channel, words);
            b.unary(U::SToF, code)
        }
        Class::Sfloat if bits == 16 => {
            // `HalfToFloat` reads only the low 16 bits.
            let (word, shift) = (words[usize::from(channel.offset) / 32], u32::from(channel.offset) % 32);
            let half = if shift == 0 { word } else { with_constant(b, B::ShrLogical, word, shift) };
            b.unary(U::HalfToFloat, half)
        }
        Class::Sfloat => {
            let word = unsigned_code(b, channel, words);
            b.cast(word, Type::F32)
        }
        Class::Ufloat => {
            // The format is a half without a sign and with fewer mantissa bits.
            let (code, shift) = (unsigned_code(b, channel, words), b.int(15 - u32::from(bits)));
            let half = b.binary(B::Shl, code, shift);
            b.unary(U::HalfToFloat, half)
        }
    }
}

/// Returns the largest code of a format whose texels can be filtered as codes: unsigned fixed
/// point with channels of equal width. Returns `None` for other formats.
pub fn filterable_max_code(info: &FormatInfo) -> Option<u32> {
    let bits = info.channels.first()?.bits;
    let equal = info.channels.iter().all(|channel| channel.bits == bits);
    (info.class == Class::Unorm && equal && (2..=MAX_RECIPROCAL_BITS).contains(&bits)).then(|| max_code(bits))
}

/// Decodes the code of a component, 0 to 3, as a float. The format must have a
/// [`filterable_max_code`]. Missing components have the codes of 0, 0, 0, 1.
pub fn decode_code(b: &mut Builder, info: &FormatInfo, words: &[Value], component: u8) -> Value {
    match channel_of(info, component) {
        Some(channel) => {
            let code = unsigned_code(b, channel, words);
            b.unary(U::SToF, code)
        }
        None => b.float(if component == 3 { max_code(info.channels[0].bits) as f32 } else { 0.0 }),
    }
}

/// Divides a code, or a number between two codes, by the largest code.
pub fn normalize_code(b: &mut Builder, code: Value, max_code: u32) -> Value {
    divided(b, code, max_code.count_ones() as u8, max_code)
}

/// Decodes a depth of `bits` bits from the word of its plane.
pub fn decode_depth(b: &mut Builder, bits: u32, word: Value) -> Value {
    if bits == 32 {
        return b.cast(word, Type::F32);
    }
    let code = with_constant(b, B::And, word, max_code(bits as u8));
    let code = b.unary(U::SToF, code);
    divided(b, code, bits as u8, max_code(bits as u8))
}

/// Encodes a depth as fixed point of 16 or 24 bits, as `format::depth_code` does.
pub fn depth_code(b: &mut Builder, bits: u32, depth: Value) -> Value {
    let [zero, half, one] = [0.0, 0.5, 1.0].map(|value| b.float(value));
    let depth = b.binary(B::FMax, zero, depth);
    let depth = b.binary(B::FMin, one, depth);
    let ([no, yes], max_code) = ([0, 1].map(|value| b.int(value)), max_code(bits as u8));
    if bits == 16 {
        // The fused multiply-add subtracts the midpoint between two codes from the exact product.
        // Only the sign of the result is used, which rounding preserves. Floats represent the
        // midpoint exactly.
        let scale = b.float(max_code as f32);
        let scaled = b.binary(B::FMul, depth, scale);
        let below = b.unary(U::Floor, scaled);
        let middle = b.binary(B::FAdd, below, half);
        let middle = b.unary(U::FNeg, middle);
        let rest = b.ternary(T::Fma, depth, scale, middle);
        let reaches = b.binary(B::FLe, zero, rest);
        let (below, more) = (b.unary(U::FToS, below), b.select(reaches, yes, no));
        return b.binary(B::IAdd, below, more);
    }
    // The largest code is 2^24 - 1. Scaling by 2^24 instead makes the product too large by exactly
    // the depth.
    let scale = b.float((max_code + 1) as f32);
    let scaled = b.binary(B::FMul, depth, scale);
    let below = b.unary(U::Floor, scaled);
    let rest = b.binary(B::FSub, scaled, below);
    let (over, under) = (b.binary(B::FSub, rest, depth), b.binary(B::FSub, depth, rest));
    let (rises, falls) = (b.binary(B::FLe, half, over), b.binary(B::FLt, half, under));
    let (more, less) = (b.select(rises, yes, no), b.select(falls, yes, no));
    let code = b.unary(U::FToS, below);
    let code = b.binary(B::IAdd, code, more);
    b.binary(B::ISub, code, less)
}

/// Extracts the bits of a channel, zero-extended.
fn unsigned_code(b: &mut Builder, channel: &Channel, words: &[Value]) -> Value {
    let (word, shift) = (words[usize::from(channel.offset) / 32], u32::from(channel.offset) % 32);
    let shifted = if shift == 0 { word } else { with_constant(b, B::ShrLogical, word, shift) };
    if u32::from(channel.bits) + shift == 32 {
        return shifted;
    }
    with_constant(b, B::And, shifted, max_code(channel.bits))
}

/// Extracts the bits of a channel, sign-extended.
fn signed_code(b: &mut Builder, channel: &Channel, words: &[Value]) -> Value {
    let (word, first) = (words[usize::from(channel.offset) / 32], u32::from(channel.offset) % 32);
    let unused = 32 - u32::from(channel.bits);
    let upper = with_constant(b, B::Shl, word, unused - first);
    with_constant(b, B::ShrArithmetic, upper, unused)
}

fn with_constant(b: &mut Builder, op: B, x: Value, constant: u32) -> Value {
    let constant = b.int(constant);
    b.binary(op, x, constant)
}

/// Computes `code / divisor`, correctly rounded. For codes of at most [`MAX_RECIPROCAL_BITS`] bits
/// it multiplies by the reciprocal and corrects the error with one step. The tests check all such
/// codes.
fn divided(b: &mut Builder, code: Value, bits: u8, divisor: u32) -> Value {
    let denominator = b.float(divisor as f32);
    if bits > MAX_RECIPROCAL_BITS {
        return b.binary(B::FDiv, code, denominator);
    }
    let (reciprocal, negated) = (b.float(1.0 / divisor as f32), b.float(-(divisor as f32)));
    let quotient = b.binary(B::FMul, code, reciprocal);
    let error = b.ternary(T::Fma, quotient, negated, code);
    b.ternary(T::Fma, error, reciprocal, quotient)
}

fn shared_exponent(b: &mut Builder, word: Value) -> [Value; 3] {
    let exponent = with_constant(b, B::ShrLogical, word, 27);
    // One unit of a mantissa is 2^(exponent - 15 - 9).
    let biased = with_constant(b, B::IAdd, exponent, 127 - 24);
    let step = with_constant(b, B::Shl, biased, 23);
    let step = b.cast(step, Type::F32);
    [0, 9, 18].map(|offset| {
        let mantissa = unsigned_code(b, &Channel { component: 0, offset, bits: 9 }, &[word]);
        let mantissa = b.unary(U::SToF, mantissa);
        b.binary(B::FMul, mantissa, step)
    })
}

/// Encodes red, green, blue and alpha as the words of a texel. The components are `F32`, or `I32`
/// in integer formats. Returns `None` for formats that are never written: scaled formats and
/// shared exponents.
pub fn encode(b: &mut Builder, info: &FormatInfo, texel: [Value; 4]) -> Option<Words> {
    if matches!(info.class, Class::Uscaled | Class::Sscaled) || shares_exponent(info) {
        return None;
    }
    let mut codes: SmallVec<[SmallVec<[Value; 4]>; 4]> = std::iter::repeat_n(SmallVec::new(), words(info)).collect();
    for channel in info.channels {
        let (word, shift) = (usize::from(channel.offset) / 32, u32::from(channel.offset) % 32);
        let code = encode_channel(b, info.class, (channel, shift), texel[usize::from(channel.component)]);
        codes[word].push(if shift == 0 { code } else { with_constant(b, B::Shl, code, shift) });
    }
    Some(codes.iter().map(|codes| or_all(b, codes)).collect())
}

/// Combines codes by bitwise or. Splitting in halves lets the two sides run in parallel and groups
/// constant operands together.
fn or_all(b: &mut Builder, codes: &[Value]) -> Value {
    match codes {
        [] => b.int(0),
        [code] => *code,
        _ => {
            let (first, rest) = codes.split_at(codes.len().div_ceil(2));
            let (first, rest) = (or_all(b, first), or_all(b, rest));
            b.binary(B::Or, first, rest)
        }
    }
}

/// Encodes a channel whose code is shifted left by `shift` bits afterwards. Bits that the shift
/// drops are undefined.
fn encode_channel(b: &mut Builder, class: Class, (channel, shift): (&Channel, u32), value: Value) -> Value {
    let bits = channel.bits;
    match class {
        Class::Uint if bits == 32 => value,
        Class::Uint => with_constant(b, B::UMin, value, max_code(bits)),
        Class::Sint if bits == 32 => value,
        Class::Sint => {
            let high = max_code(bits - 1);
            let value = with_constant(b, B::SMin, value, high);
            let value = with_constant(b, B::SMax, value, !high);
            with_constant(b, B::And, value, max_code(bits))
        }
        Class::Srgb if channel.component != 3 => srgb_code(b, value),
        Class::Unorm | Class::Srgb if shift >= ROUND_EXPONENT_BITS => {
            let value = clamped(b, value, 0.0);
            scaled_bits(b, value, (max_code(bits), ROUND_NONNEGATIVE))
        }
        Class::Unorm | Class::Srgb => unorm_code(b, value, bits),
        Class::Snorm => {
            let value = clamped(b, value, -1.0);
            rounded_code(b, value, max_code(bits - 1), bits)
        }
        Class::Sfloat if bits == 16 => b.unary(U::FloatToHalf, value),
        Class::Ufloat => ufloat_code(b, value, u32::from(bits) - 5),
        _ => b.cast(value, Type::I32),
    }
}

/// Clamps `value` to the range from `low` to 1. NaN becomes 0.
pub fn clamped(b: &mut Builder, value: Value, low: f32) -> Value {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let value = if low == 0.0 {
        // `FMax` returns its first operand for NaN.
        b.binary(B::FMax, zero, value)
    } else {
        let (is_nan, low) = (b.unary(U::IsNan, value), b.float(low));
        let value = b.select(is_nan, zero, value);
        b.binary(B::FMax, value, low)
    };
    b.binary(B::FMin, value, one)
}

fn unorm_code(b: &mut Builder, value: Value, bits: u8) -> Value {
    let value = clamped(b, value, 0.0);
    rounded_code(b, value, max_code(bits), bits)
}

/// Returns the low `bits` bits of `value * scale`, rounded to the nearest integer with ties to
/// even.
fn rounded_code(b: &mut Builder, value: Value, scale: u32, bits: u8) -> Value {
    let word = scaled_bits(b, value, (scale, WHOLE));
    with_constant(b, B::And, word, max_code(bits))
}

/// Returns the bits of `value * scale + unit`. The low bits hold the rounded integer, and the bits
/// above are undefined.
fn scaled_bits(b: &mut Builder, value: Value, (scale, unit): (u32, f32)) -> Value {
    let (scale, unit) = (b.float(scale as f32), b.float(unit));
    let sum = b.ternary(T::Fma, value, scale, unit);
    b.cast(sum, Type::I32)
}

/// Returns the linear value of an 8-bit sRGB code.
fn srgb_value(b: &mut Builder, code: Value) -> Value {
    let (line, white, last) = (b.float(srgb::LINE), b.float(255.0), b.int(srgb::LAST_OF_LINE));
    let number = b.unary(U::SToF, code);
    let from_white = b.binary(B::FSub, number, white);
    let curve = polynomial(b, &srgb::CURVE, from_white);
    let (of_line, on_line) = (b.binary(B::FMul, number, line), b.binary(B::ULe, code, last));
    b.select(on_line, of_line, curve)
}

/// Evaluates a polynomial in the order of `srgb::polynomial`.
fn polynomial(b: &mut Builder, coefficients: &[f32], mut power: Value) -> Value {
    let mut sums: Vec<_> = coefficients.iter().map(|&coefficient| b.float(coefficient)).collect();
    while sums.len() > 1 {
        let mut joined =
            |pair: &[Value]| if let &[low, high] = pair { b.ternary(T::Fma, high, power, low) } else { pair[0] };
        sums = sums.chunks(2).map(&mut joined).collect();
        power = b.binary(B::FMul, power, power);
    }
    sums[0]
}

/// Returns the 8-bit sRGB code of a linear value.
fn srgb_code(b: &mut Builder, value: Value) -> Value {
    let value = clamped(b, value, 0.0);
    let mantissa_bits = f32::MANTISSA_DIGITS - 1;
    let word = b.cast(value, Type::I32);
    let exponent = with_constant(b, B::ShrLogical, word, mantissa_bits);
    let exponent = with_constant(b, B::And, exponent, srgb::POWERS.len() as u32 - 1);
    let powers = b.table(srgb::POWERS.map(f32::to_bits).to_vec());
    let power = b.table_load(powers, exponent, Type::F32);
    let mantissa = with_constant(b, B::And, word, (1 << mantissa_bits) - 1);
    let mantissa = with_constant(b, B::Or, mantissa, 1.0f32.to_bits());
    let mantissa = b.cast(mantissa, Type::F32);
    let (root, shift) = (polynomial(b, &srgb::ROOT, mantissa), b.float(srgb::SHIFT));
    let (curve, line) = (b.ternary(T::Fma, root, power, shift), b.float(srgb::LINE_CODES));
    let (line, end) = (b.binary(B::FMul, value, line), b.float(srgb::END_OF_LINE));
    let on_line = b.binary(B::FLe, value, end);
    let code = b.select(on_line, line, curve);
    rounded_code(b, code, 1, 8)
}

/// Encodes an unsigned float with 5 exponent bits. Excess mantissa bits are truncated.
fn ufloat_code(b: &mut Builder, value: Value, mantissa: u32) -> Value {
    let infinity = 31 << mantissa;
    let word = b.cast(value, Type::I32);
    let kept = with_constant(b, B::ShrLogical, word, 23 - mantissa);
    let normal = with_constant(b, B::ISub, kept, (127 - 15) << mantissa);
    let normal = with_constant(b, B::UMin, normal, infinity - 1);
    // One unit of a denormal is 2^-14 / 2^mantissa.
    let steps = b.float(f32::from_bits((127 + 14 + mantissa) << 23));
    let scaled = b.binary(B::FMul, value, steps);
    let denormal = b.unary(U::FToU, scaled);
    let (smallest, zero) = (b.float(f32::from_bits((127 - 14) << 23)), b.float(0.0));
    let is_denormal = b.binary(B::FLt, value, smallest);
    let finite = b.select(is_denormal, denormal, normal);
    let is_positive = b.binary(B::FLt, zero, value);
    let nothing = b.int(0);
    let code = b.select(is_positive, finite, nothing);
    let (infinite, code_of_infinite) = (b.float(f32::INFINITY), b.int(infinity));
    let is_infinite = b.binary(B::FEq, value, infinite);
    let code = b.select(is_infinite, code_of_infinite, code);
    let (is_nan, nan) = (b.unary(U::IsNan, value), b.int(infinity | 1));
    b.select(is_nan, nan, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run_everywhere;
    use vitric_format as format;
    use vitric_format::Texel;
    use vitric_ir::Inst;

    fn formats() -> impl Iterator<Item = &'static FormatInfo> {
        let alone =
            |info: &&FormatInfo| info.compression.is_none() && !info.is_planar() && info.second_half().is_none();
        format::all().filter(|info| !info.channels.is_empty()).filter(alone)
    }

    fn random(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (*state >> 32) as u32
    }

    /// Returns the bits of a random float: arbitrary bits, a number from 0 to 1, or a number next
    /// to the midpoint of two codes.
    fn interesting(state: &mut u64) -> u32 {
        let word = random(state);
        let special = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 65535.9, 3e-5];
        match word & 7 {
            0 => random(state),
            1 => special[random(state) as usize % special.len()].to_bits(),
            2 | 3 => {
                let codes = (1u32 << (random(state) % 10 + 1)) - 1;
                let middle = (random(state) % codes) as f32 + 0.5;
                (middle / codes as f32).to_bits().wrapping_add(random(state) % 3).wrapping_sub(1)
            }
            4 => (random(state) as i32 as f32 * 1e-7).to_bits(),
            _ => (random(state) as f32 / u32::MAX as f32).to_bits(),
        }
    }

    fn same(info: &FormatInfo, a: u32, b: u32) -> bool {
        let nan = |word: u32| !info.class.is_integer() && f32::from_bits(word).is_nan();
        a == b || nan(a) && nan(b)
    }

    #[test]
    fn depths_have_the_codes_of_the_table() {
        let mut state = 5;
        for bits in [16, 24] {
            let mut b = Builder::new();
            let depth = b.input(0, Type::F32);
            let value = depth_code(&mut b, bits, depth);
            b.push(Inst::Output { slot: 0, value });
            let function = b.finish();
            let codes = max_code(bits as u8);
            let middles = |code: u32| {
                let middle = (((f64::from(code) + 0.5) / f64::from(codes)) as f32).to_bits();
                [middle.wrapping_sub(1), middle, middle + 1]
            };
            let mut depths: Vec<Vec<u32>> = (0..65536).map(|_| vec![interesting(&mut state)]).collect();
            depths.extend((0..codes).step_by(codes as usize / 65535).flat_map(middles).map(|word| vec![word]));
            run_everywhere(&function, &depths, 1, |input, output| {
                let depth = f32::from_bits(input[0]);
                assert_eq!(output[0], format::depth_code(bits, depth), "{bits} bits of {depth}");
            });
        }
    }

    #[test]
    fn every_format_decodes_as_the_table_says() {
        let mut state = 1;
        for info in formats() {
            let count = words(info);
            let mut b = Builder::new();
            let inputs: Vec<Value> = (0..count as u32).map(|slot| b.input(slot, Type::I32)).collect();
            for (slot, value) in (0..).zip(decode(&mut b, info, &inputs)) {
                b.push(Inst::Output { slot, value });
            }
            let function = b.finish();
            let all = info.bytes <= 2;
            let texels: Vec<Vec<u32>> = (0..if all { 65536 } else { 4096 })
                .map(|number| (0..count).map(|_| if all { number } else { random(&mut state) }).collect())
                .collect();
            run_everywhere(&function, &texels, 4, |input, output| {
                let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
                let expected: Texel = format::decode(info, &bytes);
                for component in 0..4 {
                    let (got, expected) = (output[component], expected[component]);
                    assert!(same(info, got, expected), "{:?} {input:x?}: {got:x} for {expected:x}", info.format);
                }
            });
        }
    }

    #[test]
    fn every_code_of_16_bits_and_less_is_divided_correctly() {
        let mut b = Builder::new();
        let code = b.input(0, Type::F32);
        for bits in 1..=MAX_RECIPROCAL_BITS {
            let value = divided(&mut b, code, bits, max_code(bits));
            b.push(Inst::Output { slot: u32::from(bits) - 1, value });
        }
        let codes: Vec<Vec<u32>> = (-32768i32..65536).map(|code| vec![(code as f32).to_bits()]).collect();
        run_everywhere(&b.finish(), &codes, usize::from(MAX_RECIPROCAL_BITS), |input, output| {
            for bits in 1..=MAX_RECIPROCAL_BITS {
                let code = f32::from_bits(input[0]);
                let expected = code / max_code(bits) as f32;
                if code.abs() <= max_code(bits) as f32 {
                    assert_eq!(f32::from_bits(output[usize::from(bits) - 1]), expected, "{code} of {bits} bits");
                }
            }
        });
    }

    #[test]
    fn every_format_encodes_as_the_table_says() {
        let mut state = 2;
        for info in formats() {
            let ty = if info.class.is_integer() { Type::I32 } else { Type::F32 };
            let mut b = Builder::new();
            let inputs = [0, 1, 2, 3].map(|slot| b.input(slot, ty));
            let Some(encoded) = encode(&mut b, info, inputs) else { continue };
            for (slot, value) in (0..).zip(encoded) {
                b.push(Inst::Output { slot, value });
            }
            let function = b.finish();
            let texels: Vec<Vec<u32>> = (0..16384).map(|_| (0..4).map(|_| interesting(&mut state)).collect()).collect();
            run_everywhere(&function, &texels, words(info), |input, output| {
                let mut expected = [0; 16];
                format::encode(info, [input[0], input[1], input[2], input[3]], &mut expected);
                let expected: Vec<u32> =
                    expected.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
                let is_nan = info.class == Class::Sfloat && input.iter().any(|&word| f32::from_bits(word).is_nan());
                assert!(
                    is_nan || output == &expected[..output.len()],
                    "{:?} {input:x?}: {output:x?} for {expected:x?}",
                    info.format
                );
            });
        }
    }

    #[test]
    fn srgb_codes_are_those_of_the_host() {
        let mut b = Builder::new();
        let value = b.input(0, Type::F32);
        let code = srgb_code(&mut b, value);
        b.push(Inst::Output { slot: 0, value: code });
        let others = [f32::NAN, f32::INFINITY, -1.0, -0.0, 1.0, 2.0].map(f32::to_bits);
        let values: Vec<_> = (0..1 << 30).step_by(9973).chain(others).map(|word| vec![word]).collect();
        run_everywhere(&b.finish(), &values, 1, |input, output| {
            assert_eq!(output[0], u32::from(format::linear_to_srgb8(f32::from_bits(input[0]))));
        });
    }
}
