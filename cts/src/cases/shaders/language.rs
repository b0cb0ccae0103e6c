//! The shading language: control flow, functions, arrays, integers, matrices, packing, each
//! compared with the host.

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};

const LANGUAGE: &[u8] = shader!("language.comp");
const NUMBERS: &[u8] = shader!("numbers.comp");

/// `group.case`, and the function of a word (and its lane) that the shader computes.
type Part = (&'static str, fn(u32, u32) -> u32);

/// In the order of the shader's cases.
const PARTS: &[Part] = &[
    ("control_flow.while_loop", |x, _| collatz(x % 97 + 1)),
    ("control_flow.break_and_continue", |x, _| (2..x % 60).filter(|&n| (2..n).all(|d| n % d != 0)).count() as u32),
    ("control_flow.switch_fall_through", |x, _| [11, 10, 7, 200, 5][(x % 5) as usize]),
    ("functions.out_parameters", |x, _| (x & 0xffff) * 3 + 4 + (x >> 16)),
    ("functions.return_in_loop", |x, _| (0..10).find(|i| x % (i + 2) == 0).unwrap_or(99)),
    ("control_flow.do_while", |x, _| (x % 20).div_ceil(3).max(1) * 3),
    ("arrays.dynamic_index", |x, _| (x & 7).wrapping_mul(x).wrapping_add((x >> 3 & 7).wrapping_mul(x))),
    ("integers.signed_division", |x, _| (x as i32 / 7) as u32),
    ("integers.arithmetic_shift", |x, _| (x as i32 >> 3) as u32),
    ("integers.left_shift", |x, _| x << (x & 31)),
    ("integers.bitfield_extract", |x, _| x >> 5 & 0x7ff),
    ("integers.signed_bitfield_extract", |x, _| (x as i32 >> 20) as u32),
    ("integers.bitfield_insert", |x, _| x & !(0x1ff << 7) | (0xabc & 0x1ff) << 7),
    ("integers.bitfield_reverse", |x, _| x.reverse_bits()),
    ("integers.find_lsb", |x, _| if x == 0 { u32::MAX } else { x.trailing_zeros() }),
    ("integers.wide_multiplication", |x, _| {
        let wide = u64::from(x) * 0x9e37_79b9;
        (wide >> 32) as u32 ^ wide as u32
    }),
    ("integers.signed_wide_multiplication", |x, _| {
        let wide = i64::from(x as i32) * -12345;
        (wide >> 32) as u32 ^ wide as u32
    }),
    ("integers.carry", |x, _| x.wrapping_add(1 << 31).wrapping_add(u32::from(x.checked_add(1 << 31).is_none()))),
    ("integers.borrow", |x, _| x.wrapping_sub(1 << 31).wrapping_add(u32::from(x < 1 << 31))),
    ("integers.abs_and_sign", |x, _| (x as i32).unsigned_abs().wrapping_add((x as i32).signum() as u32)),
    ("integers.min_max_clamp", |x, _| {
        let s = x as i32;
        x.min(1000).wrapping_add(s.max(-5) as u32).wrapping_add(s.clamp(-100, 100) as u32)
    }),
    ("integers.unsigned_division", |x, _| x % 13 + x / 13),
    ("packing.pack_unorm_4x8", |x, _| x),
    ("packing.unpack_unorm_4x8", |x, _| (x & 255) * 3 + (x >> 24)),
    ("vectors.swizzled_store", |x, _| {
        let (first, third) = (x.wrapping_add(1), x.wrapping_add(3));
        first.wrapping_mul(2).wrapping_add(third.wrapping_mul(5)).wrapping_add(x.wrapping_add(1))
    }),
    ("matrices.times_vector", |x, _| {
        let x = x & 15;
        (x + 18) + 100 * (2 * x + 21) + 10000 * (3 * x + 24)
    }),
    ("matrices.transpose_and_product", |x, _| 14 + 3200 + 770_000 + (x & 1)),
    ("matrices.inverse", |x, _| 4 + 200 + (x & 3)),
    ("arrays.of_structures", |x, _| {
        let mut y = [0, 1, 2];
        y[(x % 3) as usize] = 9;
        y[0] + y[1] * 16 + y[2] * 256 + x % 3 * 2 * 4096
    }),
    ("vectors.booleans", |x, _| match x & 15 {
        0 => 3,
        15 => 4,
        _ => 1,
    }),
    ("conversions.float_to_integer", |x, _| ((x as i32 / 1000) as f32 * 0.5) as i32 as u32),
    ("conversions.bit_casts", |x, _| (f32::from_bits(x & 0x7f_ffff | 0x3f80_0000) * 2.0).to_bits()),
    ("vectors.cross_product", |x, _| x & 7),
    ("floats.frexp", |x, _| {
        let value = (x & 1023) as f32 / 64.0 + 1.0;
        let exponent = value.log2().floor() as u32 + 1;
        exponent + (value / (1 << exponent) as f32 * 4096.0) as u32 * 16
    }),
    ("floats.modf", |x, _| (x & 1023) / 64 + (x & 63) * 1024),
    ("builtins.invocation_indices", |_, lane| lane + 64 + 64_000),
    ("control_flow.nested_loops", nested),
    ("control_flow.short_circuit", |x, _| if x & 1 != 0 && x > 5 || x == 0 { 1 } else { 2 }),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (number, &(name, reference)) in PARTS.iter().enumerate() {
        let run = move |gpu: &Gpu| run(gpu, LANGUAGE, number as i32, reference);
        cases.push(Entry::new(format!("language.{name}"), "Shaders", run));
    }
    for (number, &(name, reference)) in NUMBER_PARTS.iter().enumerate() {
        let run = move |gpu: &Gpu| {
            let features = [gpu.features.shader_int16, gpu.features.shader_int64, gpu.features.shader_float64];
            if features != [vk::TRUE; 3] {
                return Err(Outcome::NotSupported("16- and 64-bit numbers".into()));
            }
            run(gpu, NUMBERS, number as i32, reference)
        };
        cases.push(Entry::new(format!("language.{name}"), "shaderInt16, shaderInt64, shaderFloat64", run));
    }
}

fn wide(x: u32, lane: u32) -> u64 {
    u64::from(x).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(lane))
}

fn folded(value: u64) -> u32 {
    value as u32 ^ (value >> 32) as u32
}

fn folded_float(value: f64) -> u32 {
    folded(value.to_bits())
}

/// In the order of the cases of the shader of numbers.
const NUMBER_PARTS: &[Part] = &[
    ("int64.multiplication", |x, lane| folded(wide(x, lane).wrapping_mul(wide(x, lane)).wrapping_add(5))),
    ("int64.division", |x, lane| {
        let wide = wide(x, lane);
        folded(wide / u64::from((x & 255) + 3)).wrapping_add(folded(wide % 1_000_003))
    }),
    ("int64.signed_division_and_shifts", |x, lane| {
        let (wide, shift) = (wide(x, lane), x & 63);
        folded((wide as i64 / -7) as u64) ^ folded((wide as i64 >> shift) as u64) ^ folded(wide << shift)
    }),
    ("int64.comparison", |x, lane| {
        let wide = wide(x, lane);
        let same = i32::from(x as i16) == x as i32;
        u32::from((wide as i64) < 0) | u32::from(wide > 0xffff_ffff_0000_0000 >> 1) << 1 | u32::from(same) << 2
    }),
    ("int16.multiplication", |x, lane| {
        let (s, u) = (x as i16, (x >> 3) as u16);
        i32::from(s.wrapping_mul(3).wrapping_sub(lane as i16)) as u32 ^ u32::from(u.wrapping_mul(u)) << 3
    }),
    ("int16.division_and_conversion", |x, _| {
        let (s, u) = (x as i16, (x >> 3) as u16);
        let parts = [i32::from(s >> 2), i32::from(u / 7), i32::from(s.wrapping_div(-5)), i32::from(u as i16)];
        parts.into_iter().fold(0i32, i32::wrapping_add) as u32
    }),
    ("float64.arithmetic", |x, _| {
        let d = double(x);
        folded_float(d * d - 0.75) ^ folded_float(d / 3.0)
    }),
    ("float64.functions", |x, _| {
        let d = double(x);
        folded_float(d.sqrt()) ^ folded_float(d.floor()) ^ folded_float(d.fract()) ^ u32::from(d < 100.0)
    }),
    ("float64.conversions", |x, lane| {
        let d = double(x);
        folded_float(f64::from(d as f32)) ^ d as u32 ^ folded_float(wide(x, lane) as i64 as f64)
    }),
];

fn double(x: u32) -> f64 {
    f64::from(x) * 0.125 + 1.0
}

fn collatz(mut n: u32) -> u32 {
    let mut steps = 0;
    while n != 1 && steps < 200 {
        n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn nested(x: u32, _: u32) -> u32 {
    let row = |i: u32| (0..4).filter(|&j| j != x % 4).take_while(|_| i != x % 3 + 1).map(|j| i * 4 + j).sum::<u32>();
    (0..4).map(row).sum()
}

/// Returns small numbers, limits, and bits without a pattern.
fn inputs() -> Vec<u32> {
    let mut inputs: Vec<u32> = (0..24).collect();
    inputs.extend([u32::MAX, 1 << 31, i32::MAX as u32, u32::MAX - 1, (1 << 31) + 1, 1 << 30]);
    inputs.extend((1..=34u32).map(|index| index.wrapping_mul(0x9e37_79b9)));
    inputs
}

fn run(gpu: &Gpu, shader: &[u8], number: i32, reference: fn(u32, u32) -> u32) -> Case {
    let inputs = inputs();
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(256)?];
    gpu.compute(shader, number, &[], &buffers, [1; 3])?;
    for ((lane, &input), output) in (0..).zip(&inputs).zip(buffers[1].words()) {
        let expected = reference(input, lane);
        check(output == expected, || format!("of {input:#x}: {output:#x} instead of {expected:#x}"))?;
    }
    Ok(())
}
