//! Tests of operands at the edges: NaN, infinities, zeros of both signs, and counts beyond the
//! width. All executors return equal bits.

use vitric_format::{f32_to_half, half_to_f32};

use super::scene::{Scene, check_lanes};

const FLOATS: [u32; 16] = [
    0x7fc0_0000, // NaN
    0x3f80_0000, // 1
    0xbf80_0000, // -1
    0,
    0xffc0_0001, // NaN with sign
    0x8000_0000, // -0
    0x7f80_0000, // infinity
    0x7fa0_0000, // signalling NaN
    0xff80_0000, // -infinity
    0x3e80_0000, // 0.25
    1,           // smallest denormal
    0x8000_0001,
    0x7f7f_ffff, // largest finite number
    0xff7f_ffff,
    0x7fc0_0000,
    0xc020_0000, // -2.5
];

/// Upper words of doubles, whose lower words are 0.
const DOUBLES: [u32; 16] = [
    0x7ff8_0000,
    0x3ff0_0000,
    0xbff0_0000,
    0,
    0xfff8_0001,
    0x8000_0000,
    0x7ff0_0000,
    0x7ff4_0000,
    0xfff0_0000,
    0x3fd0_0000,
    1,
    0x8000_0001,
    0x7fef_ffff,
    0xffef_ffff,
    0x7ff8_0000,
    0xc004_0000,
];

const COUNTS: [i32; 16] = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, -1, i32::MIN];

/// Divisors, many of which are 0.
const DIVISORS: [i32; 16] = [0, 1, -1, 0, 2, -2, 3, 0, i32::MAX, i32::MIN, -5, 0, 0x1_0000, 640, 7, 0];

/// Minimum and maximum as programs expect them. If one operand is NaN the result is the other one.
/// If the operands are equal the result is the second one.
trait Number: Copy + PartialOrd {
    fn least(self, other: Self) -> Self {
        if is_nan(other) || self < other { self } else { other }
    }

    fn greatest(self, other: Self) -> Self {
        if is_nan(other) || self > other { self } else { other }
    }

    fn between(self, low: Self, high: Self) -> Self {
        self.greatest(low).least(high)
    }
}

impl Number for f32 {}
impl Number for f64 {}

fn is_nan<T: PartialOrd>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
}

/// Returns the smoothstep polynomial of a number, clamped to the range 0 to 1.
fn smooth(t: f32) -> f32 {
    let t = if t > 0.0 { t.min(1.0) } else { 0.0 };
    t * t * t.mul_add(-2.0, 3.0)
}

fn of_floats(x: f32, y: f32) -> Vec<u32> {
    let zero_first = if x > 0.0 { x } else { 0.0 };
    // The distance between equal edges is 0, or NaN for infinities.
    let (square, over, width) = (x * x, x - y, y.mul_add(-1.0, y));
    let floats = [
        x.least(y),
        x.greatest(y),
        x.least(1.0),
        x.greatest(0.0),
        zero_first,
        x.between(-1.0, 1.0),
        x.between(y, 1.0),
        x.least(0.5).least(y),
        smooth(x),
        smooth(over / width),
        1.0,
        square,
        x * (square * square),
    ];
    let snorm = |value: f32| (value.between(-1.0, 1.0) * 32767.0).round_ties_even() as i32 as u32 & 0xffff;
    let unorm = |value: f32| (value.between(0.0, 1.0) * 255.0).round_ties_even() as u32;
    let mut words: Vec<u32> = floats.map(f32::to_bits).to_vec();
    words.push(u32::from(x.is_nan() || y.is_nan()));
    words.push(snorm(x) | snorm(y) << 16);
    words.push(unorm(x) | unorm(y) << 8 | unorm(y) << 16 | unorm(x) << 24);
    words
}

fn of_doubles(x: f64, y: f64) -> Vec<u32> {
    let quiet = |rounded: f64| if x.is_nan() { x.to_bits() | 1 << 51 } else { rounded.to_bits() };
    let doubles = [x.least(y), x.greatest(y), x.between(0.0, 1.0)].map(f64::to_bits);
    let all = doubles.into_iter().chain([quiet(x.round_ties_even()), quiet(x.floor())]);
    all.flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect()
}

fn of_halves(x: f32, y: f32) -> [u32; 3] {
    let [x, y] = [x, y].map(|value| half_to_f32(f32_to_half(value)));
    [x.least(y), x.greatest(0.0), x * x].map(f32_to_half)
}

fn of_counts(count: i32) -> Vec<u32> {
    let count = count as u32;
    let wide = 0x8765_4321_1234_5678_u64;
    let shifted = [wide << (count & 63), (wide as i64 >> (count & 63)) as u64];
    let narrow = 0x8421_u16;
    let mut words = vec![0x1234_5678 << (count & 31)];
    words.push((0x8765_4321_u32 as i32 >> (count & 31)) as u32);
    words.push(0x8765_4321_u32 >> (count & 31));
    words.extend(shifted.iter().flat_map(|&bits| [bits as u32, (bits >> 32) as u32]));
    words.push(u32::from(narrow << (count & 15)));
    words.push(u32::from((narrow as i16 >> (count & 15)) as u16));
    words.push(u32::from((0x91_u8 as i8 >> (count & 7)) as u8));
    let field = 0x1234_5678_u32 >> (count & 31) & 15;
    words.push(((field as i32) << 28 >> 28) as u32);
    let offset = count & 3;
    words.push(0x1234_5678 & !(15 << offset) | 10 << offset);
    words
}

/// Returns bit fields whose width may exceed the word. Only the low byte of the width counts. Bits
/// beyond the last one are copies of the last one.
fn of_fields(count: i32) -> [u32; 3] {
    let (word, count) = (0x8765_4321_u32, count as u32);
    let signed = |offset: u32, count: u32| {
        let unused = 32u32.saturating_sub(count);
        if count == 0 { 0 } else { (((word as i32 >> offset) << unused) >> unused) as u32 }
    };
    let ones = 1u32.checked_shl(count & 255).unwrap_or(0).wrapping_sub(1);
    [signed(3, count & 255), word >> 3 & ones, signed(count & 31, 20)]
}

fn of_signs(x: f32, y: f64) -> [u32; 4] {
    let sign = |x: f64| if x.is_nan() || x == 0.0 { 0.0 } else { x.signum() };
    let wide = sign(y).to_bits();
    let half = sign(f64::from(half_to_f32(f32_to_half(x))));
    [(sign(f64::from(x)) as f32).to_bits(), wide as u32, (wide >> 32) as u32, f32_to_half(half as f32)]
}

/// Returns quotient and remainders of signed numbers. A quotient by 0 is 0, and a remainder by 0
/// is -1.
fn divided(a: i64, b: i64) -> [i64; 3] {
    if b == 0 {
        return [0, -1, -1];
    }
    let remainder = a.wrapping_rem(b);
    let moves = remainder != 0 && (remainder < 0) != (b < 0);
    [a.wrapping_div(b), if moves { remainder + b } else { remainder }, remainder]
}

/// Returns quotient and remainder of unsigned numbers. Both have all bits set if the divisor is 0.
fn divided_unsigned(a: u64, b: u64) -> [u64; 2] {
    [a.checked_div(b).unwrap_or(u64::MAX), a.checked_rem(b).unwrap_or(u64::MAX)]
}

fn of_divisions(lane: usize, a: u32, b: u32) -> Vec<u32> {
    let mut words = divided_unsigned(a.into(), b.into()).map(|number| number as u32).to_vec();
    words.extend(divided((a as i32).into(), (b as i32).into()).map(|number| number as u32));
    words.extend(divided_unsigned(77, b.into()).map(|number| number as u32));
    words.extend([u32::MAX, u32::MAX, a % 3]);
    let (wide_a, wide_b) = ((u64::from(a) << 32 | lane as u64) as i64, i64::from(b as i32));
    let signed = divided(wide_a, wide_b).map(|number| number as u64);
    let wide = divided_unsigned(wide_a as u64, wide_b as u64).into_iter().chain(signed).chain([u64::MAX]);
    words.extend(wide.flat_map(|number| [number as u32, (number >> 32) as u32]));
    let (high, low) = ((a >> 16) as u16, b as u16);
    words.extend(divided_unsigned(high.into(), low.into()).map(|number| u32::from(number as u16)));
    let [quotient, _, remainder] = divided((high as i16).into(), (low as i16).into());
    words.extend([quotient, remainder].map(|number| u32::from(number as u16)));
    words
}

#[test]
fn operands_at_the_edges() {
    let float = |lane: usize| f32::from_bits(FLOATS[lane]);
    let double = |lane: usize| f64::from_bits(u64::from(DOUBLES[lane]) << 32);
    let other = |lane: usize| (lane * 5 + 3) % 16;
    let numbers = |lanes: usize| (0..lanes).map(float).filter(|value| !value.is_nan());
    let model = |lane: u32| -> [u32; 77] {
        let lane = lane as usize;
        let (x, y) = (float(lane), float(other(lane)));
        let mut words = of_floats(x, y);
        words.push(f32::NEG_INFINITY.to_bits());
        words.push(f32::INFINITY.to_bits());
        words.push(numbers(lane + 1).fold(f32::NEG_INFINITY, f32::max).to_bits());
        words.extend(of_doubles(double(lane), double(other(lane))));
        words.extend(of_halves(x, y));
        words.extend(of_counts(COUNTS[lane]));
        words.extend(of_fields(COUNTS[lane]));
        words.extend(of_signs(x, double(lane)));
        words.extend(of_divisions(lane, FLOATS[other(lane)], DIVISORS[lane] as u32));
        words.try_into().unwrap()
    };
    let [counts, divisors] = [COUNTS, DIVISORS].map(|numbers| numbers.map(|number| number as u32));
    let data = [FLOATS, DOUBLES, counts, divisors].concat();
    check_lanes(&Scene::new("edges.comp.spv").buffer(1, &data).run(), model);
}
