//! Tests of routines with one correct result against the host, and of the special values of the
//! other routines.

use vitric_base::simd::WAVE;
use vitric_ir::{Builder, Type, Value, elementary};

use super::host::{Evaluator, Sequence};

type Build = fn(&mut Builder, [Value; 2]) -> Value;
type Host = fn(u32, u32) -> u32;

fn f(word: u32) -> f32 {
    f32::from_bits(word)
}

/// Returns the result of a routine for words.
fn word(words: &[u32], routine: impl FnOnce(&mut Builder, &[Value]) -> Value) -> u32 {
    let operands: Vec<(u64, Type)> = words.iter().map(|&word| (u64::from(word), Type::I32)).collect();
    elementary::evaluate(&operands, |b, values| Ok::<_, ()>(routine(b, values))).unwrap() as u32
}

/// Words that often reveal errors.
const EDGES: [u32; 20] = [
    0,
    1,
    2,
    31,
    32,
    33,
    0x007f_ffff,
    0x0080_0000,
    0x3f00_0000,
    0x3f7f_ffff,
    0x3f80_0000,
    0x4b00_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0x7fc0_0000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xff80_0000,
    0xffff_ffff,
];

/// Returns all pairs of edges, followed by random pairs, whose second word is often small.
fn pairs() -> Vec<[u32; 2]> {
    let mut sequence = Sequence::new(1);
    let edges = EDGES.iter().flat_map(|&x| EDGES.iter().map(move |&y| [x, y]));
    let any = (0..100_000).map(|index| {
        let [x, y] = [sequence.word(), sequence.word()];
        [x, if index % 2 == 0 { y } else { (y % 600).wrapping_sub(300) }]
    });
    edges.chain(any).collect()
}

fn compare(name: &str, types: [Type; 2], build: Build, host: Host) {
    let mut evaluator = Evaluator::of(types, |b, operands| {
        let value = build(b, operands);
        b.cast(value, Type::I32)
    });
    let pairs = pairs();
    for pairs in pairs.chunks(WAVE) {
        let lane = |operand: usize| std::array::from_fn(|lane| pairs.get(lane).map_or(0, |pair| pair[operand]));
        let results = evaluator.run(&[lane(0), lane(1)]);
        for (&[x, y], result) in pairs.iter().zip(results) {
            let truth = host(x, y);
            let no_numbers = f(truth).is_nan() && f(result).is_nan();
            assert!(truth == result || no_numbers, "{name} of {x:#x} {y:#x}: {result:#x}, not {truth:#x}");
        }
    }
}

const INTEGERS: [Type; 2] = [Type::I32; 2];
const FLOATS: [Type; 2] = [Type::F32; 2];

#[test]
fn integer_routines_are_the_hosts() {
    let table: [(&str, Build, Host); 9] = [
        ("sign", |b, [x, _]| elementary::sign_of_integer(b, x), |x, _| (x as i32).signum() as u32),
        ("bit_reverse", |b, [x, _]| elementary::bit_reverse(b, x), |x, _| x.reverse_bits()),
        ("find_lsb", |b, [x, _]| elementary::find_lsb(b, x), |x, _| if x == 0 { u32::MAX } else { x.trailing_zeros() }),
        ("find_umsb", |b, [x, _]| elementary::find_msb_unsigned(b, x), |x, _| 31u32.wrapping_sub(x.leading_zeros())),
        (
            "find_smsb",
            |b, [x, _]| elementary::find_msb_signed(b, x),
            |x, _| 31u32.wrapping_sub((x ^ ((x as i32) >> 31) as u32).leading_zeros()),
        ),
        (
            "floor_modulo",
            |b, [x, y]| elementary::floor_modulo(b, x, y),
            |x, y| {
                let (x, y) = (i64::from(x as i32), i64::from(y as i32));
                if y == 0 {
                    u32::MAX
                } else {
                    (x.rem_euclid(y) + if y < 0 && x.rem_euclid(y) != 0 { y } else { 0 }) as u32
                }
            },
        ),
        ("add_carry", |b, [x, y]| elementary::add_carry(b, x, y), |x, y| u32::from(x.checked_add(y).is_none())),
        ("sub_borrow", |b, [x, y]| elementary::sub_borrow(b, x, y), |x, y| u32::from(x < y)),
        (
            "is_infinite",
            |b, [x, _]| {
                let x = b.cast(x, Type::F32);
                elementary::is_infinite(b, x)
            },
            |x, _| u32::from(f(x).is_infinite()),
        ),
    ];
    for (name, build, host) in table {
        compare(name, INTEGERS, build, host);
    }
}

#[test]
fn bit_fields_are_the_hosts() {
    // The fields are inside of the word, because SPIR-V leaves the results of others undefined.
    let field = |word: u32| (word & 31, (word >> 5) % (33 - (word & 31)));
    for [x, y] in pairs() {
        let (offset, count) = field(y);
        let low = if count == 0 { 0 } else { x >> offset & (u32::MAX >> (32 - count)) };
        let signed = if count == 0 { 0 } else { ((low << (32 - count)) as i32 >> (32 - count)) as u32 };
        let of = |routine: fn(&mut Builder, Value, Value, Value) -> Value| {
            word(&[x, offset, count], |b, v| routine(b, v[0], v[1], v[2]))
        };
        assert_eq!(of(elementary::extract_unsigned), low, "{x:#x} {offset} {count}");
        assert_eq!(of(elementary::extract_signed), signed, "{x:#x} {offset} {count}");
        let mask = word(&[offset, count], |b, v| elementary::bit_field_mask(b, v[0], v[0], v[1]));
        assert_eq!(mask, if count == 0 { 0 } else { (u32::MAX >> (32 - count)) << offset });
        if y > 2000 {
            break;
        }
    }
}

#[test]
fn bits_beyond_the_width_are_copies_of_the_last_one() {
    for x in EDGES {
        for offset in [0, 1, 5, 16, 31] {
            for count in [32 - offset, 32, 33, 255] {
                let of = |routine: fn(&mut Builder, Value, Value, Value) -> Value| {
                    word(&[x, offset, count], |b, v| routine(b, v[0], v[1], v[2]))
                };
                assert_eq!(of(elementary::extract_unsigned), x >> offset, "{x:#x} {offset} {count}");
                assert_eq!(of(elementary::extract_signed), ((x as i32) >> offset) as u32, "{x:#x} {offset} {count}");
            }
        }
    }
}

/// Returns the result of a routine for a 64-bit number and two words.
fn wide(x: u64, words: [u32; 2], routine: impl FnOnce(&mut Builder, &[Value]) -> Value) -> u64 {
    let words = words.map(|word| (u64::from(word), Type::I32));
    elementary::evaluate(&[(x, Type::I64), words[0], words[1]], |b, values| Ok::<_, ()>(routine(b, values))).unwrap()
}

#[test]
fn wide_bit_fields_are_the_hosts() {
    for x in [0, 1, 0x8000_0000, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 1 << 63, u64::MAX] {
        for (offset, count) in [(0, 0), (64, 0), (0, 64), (0, 32), (32, 32), (31, 2), (5, 40), (63, 1), (1, 63)] {
            let low = if count == 0 { 0 } else { x >> offset & (u64::MAX >> (64 - count)) };
            let signed = if count == 0 { 0 } else { ((low << (64 - count)) as i64 >> (64 - count)) as u64 };
            let of = |routine: fn(&mut Builder, Value, Value, Value) -> Value| {
                wide(x, [offset, count], |b, v| routine(b, v[0], v[1], v[2]))
            };
            assert_eq!(of(elementary::extract_unsigned), low, "{x:#x} {offset} {count}");
            assert_eq!(of(elementary::extract_signed), signed, "{x:#x} {offset} {count}");
            let mask = if count == 0 { 0 } else { (u64::MAX >> (64 - count)) << offset };
            assert_eq!(of(elementary::bit_field_mask), mask, "{offset} {count}");
        }
        assert_eq!(wide(x, [0; 2], |b, v| elementary::bit_reverse(b, v[0])), x.reverse_bits());
    }
}

/// Returns the expected result of `frexp`.
fn host_frexp(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let exponent = (f64::from(x).abs().to_bits() >> 52) as i32 - 1022;
    ((f64::from(x) * 2f64.powi(-exponent)) as f32, exponent)
}

#[test]
fn float_routines_are_the_hosts() {
    let table: [(&str, Build, Host); 10] = [
        (
            "sign",
            |b, [x, _]| elementary::sign(b, x),
            |x, _| {
                let x = f(x);
                let sign = if x.is_nan() { 0.0 } else { x.signum() };
                (if x == 0.0 { 0.0 } else { sign }).to_bits()
            },
        ),
        ("fract", |b, [x, _]| elementary::fract(b, x), |x, _| (f(x) - f(x).floor()).to_bits()),
        ("step", |b, [x, y]| elementary::step(b, x, y), |x, y| (if f(y) < f(x) { 0.0f32 } else { 1.0 }).to_bits()),
        (
            "remainder",
            |b, [x, y]| elementary::remainder_of_floats(b, x, y),
            |x, y| {
                let (x, y) = (f(x), f(y));
                (x - y * (x / y).trunc()).to_bits()
            },
        ),
        (
            "floor_modulo",
            |b, [x, y]| elementary::floor_modulo_of_floats(b, x, y),
            |x, y| {
                let (x, y) = (f(x), f(y));
                (x - y * (x / y).floor()).to_bits()
            },
        ),
        (
            "min",
            |b, [x, y]| elementary::min_of_numbers(b, x, y),
            |x, y| (if f(y).is_nan() || f(x) < f(y) { f(x) } else { f(y) }).to_bits(),
        ),
        (
            "max",
            |b, [x, y]| elementary::max_of_numbers(b, x, y),
            |x, y| (if f(y).is_nan() || f(y) < f(x) { f(x) } else { f(y) }).to_bits(),
        ),
        (
            "quantize",
            |b, [x, _]| elementary::quantize_to_half(b, x),
            |x, _| {
                let half = half::f16::from_f32(f(x)).to_f32();
                (if half.abs() < 6.103_515_6e-5 { 0.0f32.copysign(f(x)) } else { half }).to_bits()
            },
        ),
        ("frexp mantissa", |b, [x, _]| elementary::frexp(b, x).0, |x, _| host_frexp(f(x)).0.to_bits()),
        ("frexp exponent", |b, [x, _]| elementary::frexp(b, x).1, |x, _| host_frexp(f(x)).1 as u32),
    ];
    for (name, build, host) in table {
        compare(name, FLOATS, build, host);
    }
    compare(
        "ldexp",
        [Type::F32, Type::I32],
        |b, [x, exponent]| elementary::ldexp(b, x, exponent),
        |x, exponent| ((f64::from(f(x)) * 2f64.powi((exponent as i32).clamp(-400, 400))) as f32).to_bits(),
    );
}

const INF: f32 = f32::INFINITY;

fn one(routine: fn(&mut Builder, Value) -> Value, x: f32) -> f32 {
    f(Evaluator::new(|b, [x, _]| routine(b, x)).word(x.to_bits(), 0))
}

fn two(routine: fn(&mut Builder, Value, Value) -> Value, x: f32, y: f32) -> f32 {
    f(Evaluator::new(|b, [x, y]| routine(b, x, y)).word(x.to_bits(), y.to_bits()))
}

#[test]
fn odd_functions_keep_the_sign_of_zero_and_every_routine_keeps_nan() {
    use elementary::*;
    let odd = [sin, tan, asin, atan, sinh, tanh, asinh, atanh];
    for (index, routine) in odd.into_iter().enumerate() {
        assert_eq!(one(routine, -0.0).to_bits(), (-0.0f32).to_bits(), "{index}");
        assert_eq!(one(routine, 0.0).to_bits(), 0, "{index}");
        // A denormal is the result of each of these functions for itself.
        assert_eq!(one(routine, f(0x8000_0003)).to_bits(), 0x8000_0003, "{index}");
    }
    let others = [cos, acos, cosh, acosh, exp, exp2, log, log2, inverse_sqrt];
    for (index, routine) in odd.into_iter().chain(others).enumerate() {
        for nan in [0x7fc0_0000, 0x7fc0_0002, 0xffff_ffff, 0x7fc0_01ff] {
            assert!(one(routine, f(nan)).is_nan(), "{index} of {nan:#x}");
        }
    }
    for nan in [0x7fc0_0000, 0x7fc0_0002, 0xffff_ffff] {
        for other in [1.5, -2.0, INF, 0.5] {
            assert!(two(pow, f(nan), other).is_nan() && two(pow, other, f(nan)).is_nan());
            assert!(two(atan2, f(nan), other).is_nan() && two(atan2, other, f(nan)).is_nan());
        }
    }
}

#[test]
fn values_that_must_be_exact() {
    use elementary::*;
    assert_eq!([one(sin, 0.0), one(cos, 0.0), one(cos, std::f32::consts::PI)], [0.0, 1.0, -1.0]);
    assert_eq!([one(exp, 0.0), one(exp2, 10.0), one(exp2, -149.0), one(exp2, 128.0)], [1.0, 1024.0, f(1), INF]);
    assert_eq!([one(exp, INF), one(exp, -INF), one(exp2, INF), one(exp2, -INF)], [INF, 0.0, INF, 0.0]);
    assert_eq!([one(log, 1.0), one(log2, 8.0), one(log2, f(1)), one(log2, INF)], [0.0, 3.0, -149.0, INF]);
    assert_eq!([one(log, 0.0), one(log, -0.0), one(log2, 0.0)], [-INF; 3]);
    assert_eq!([one(tanh, INF), one(tanh, -100.0), one(sinh, -INF), one(cosh, -INF)], [1.0, -1.0, -INF, INF]);
    assert_eq!([one(asinh, -INF), one(acosh, INF), one(acosh, 1.0), one(atanh, -1.0)], [-INF, INF, 0.0, -INF]);
    assert_eq!([one(inverse_sqrt, 0.0), one(inverse_sqrt, INF), one(inverse_sqrt, 4.0)], [INF, 0.0, 0.5]);
    let outside = [one(log, -1.0), one(sin, INF), one(cos, -INF), one(tan, INF), one(asin, 1.5), one(acos, -1.5)];
    assert!(outside.iter().all(|value| value.is_nan()), "{outside:?}");
    assert!([one(acosh, 0.5), one(acosh, -3.0), one(atanh, 1.5)].iter().all(|value| value.is_nan()));
}

#[test]
fn powers_of_special_operands() {
    use elementary::pow;
    let table = [
        (0.0, 2.0, 0.0),
        (0.0, -1.0, INF),
        (0.0, 0.0, 1.0),
        (5.0, 0.0, 1.0),
        (INF, 0.5, INF),
        (INF, -0.5, 0.0),
        (INF, f32::MIN_POSITIVE, INF),
        (INF, -f(1), 0.0),
        (0.0, f(1), 0.0),
        (0.0, -f32::MIN_POSITIVE, INF),
        (1.0, INF, 1.0),
        (2.0, INF, INF),
        (2.0, -INF, 0.0),
        (0.5, INF, 0.0),
        (2.0, -149.0, f(1)),
        (2.0, 127.0, f(0x7f00_0000)),
        (10.0, 40.0, INF),
        (3.0, 2.0, 9.0),
    ];
    for (x, y, power) in table {
        assert_eq!(two(pow, x, y), power, "{x}^{y}");
    }
    assert!(two(pow, -2.0, 2.0).is_nan());
    let mut sequence = Sequence::new(7);
    for x in (0..10_000).map(|_| f(sequence.word() & 0x7f7f_ffff)) {
        assert_eq!(two(pow, x, 1.0), x);
    }
}

#[test]
fn angles_of_points_on_the_axes_and_at_infinity() {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let of = |y: f32, x: f32| two(elementary::atan2, y, x);
    assert_eq!([of(1.0, 0.0), of(-1.0, 0.0), of(0.0, 1.0), of(0.0, -1.0)], [FRAC_PI_2, -FRAC_PI_2, 0.0, PI]);
    assert_eq!([of(0.0, 0.0), of(0.0, -0.0), of(-0.0, -1.0)], [0.0, PI, -PI]);
    assert_eq!([of(INF, INF), of(-INF, INF), of(INF, 1.0), of(1.0, -INF)], [FRAC_PI_4, -FRAC_PI_4, FRAC_PI_2, PI]);
    assert_eq!(of(INF, -INF), 3.0 * FRAC_PI_4);
}

#[test]
fn sines_of_any_angle_lie_between_minus_one_and_one() {
    let routines = [elementary::sin, elementary::cos].map(|routine| Evaluator::new(|b, [x, _]| routine(b, x)));
    for mut evaluator in routines {
        for first in (0..0x7f80_0000u32).step_by(WAVE * 1009) {
            let words = std::array::from_fn(|lane| (first + lane as u32 * 1009).min(0x7f7f_ffff));
            let sines = evaluator.run(&[words, words]);
            assert!(sines.iter().all(|&sine| f(sine).abs() <= 1.0), "near {first:#x}: {sines:x?}");
        }
    }
}
