//! Compute: the functions of GLSL against the host's, atomics, shared memory, dispatch.

use crate::Entry;
use crate::harness::{Case, Gpu, check};

const UNARY: &[u8] = include_bytes!("../../shaders/unary.comp.spv");
const ATOMIC: &[u8] = include_bytes!("../../shaders/atomic.comp.spv");
pub(super) const SHARED: &[u8] = include_bytes!("../../shaders/shared.comp.spv");
const FEW: &[u8] = include_bytes!("../../shaders/few.comp.spv");
const AWAITED: &[u8] = include_bytes!("../../shaders/awaited.comp.spv");

/// A function's name, what it computes, and the error that the specification allows, relative and absolute.
type Function = (&'static str, fn(f64) -> f64, f64, f64);

fn small(x: f64) -> f64 {
    x.abs() + 0.5
}

const EXACT: f64 = 1e-6;

/// In the order of the shader's cases.
const FUNCTIONS: &[Function] = &[
    ("sin", f64::sin, 0.0, 1.0 / 2048.0),
    ("cos", f64::cos, 0.0, 1.0 / 2048.0),
    ("tan", |x| (x * 0.4).tan(), 2e-3, 2e-3),
    ("asin", |x| (x / 4.0).asin(), 5e-3, 5e-3),
    ("acos", |x| (x / 4.0).acos(), 5e-3, 5e-3),
    ("atan", f64::atan, 5e-4, 5e-4),
    ("exp", f64::exp, 2e-6, EXACT),
    ("log", |x| small(x).ln(), 1e-5, 1e-5),
    ("exp2", f64::exp2, 2e-6, EXACT),
    ("log2", |x| small(x).log2(), 1e-5, 1e-5),
    ("sqrt", |x| x.abs().sqrt(), EXACT, EXACT),
    ("inversesqrt", |x| 1.0 / small(x).sqrt(), EXACT, EXACT),
    ("floor", f64::floor, 0.0, 0.0),
    ("ceil", f64::ceil, 0.0, 0.0),
    ("trunc", f64::trunc, 0.0, 0.0),
    ("fract", |x| x - x.floor(), EXACT, EXACT),
    ("sign", |x| if x == 0.0 { 0.0 } else { x.signum() }, 0.0, 0.0),
    ("abs", f64::abs, 0.0, 0.0),
    ("sinh", f64::sinh, 1e-4, 1e-4),
    ("cosh", f64::cosh, 1e-4, 1e-4),
    ("tanh", f64::tanh, 1e-3, 1e-3),
    ("pow", |x| (x.abs() + 0.25).powf(1.5), 2e-5, 1e-6),
    (
        "smoothstep",
        |x| ((x + 2.0) / 4.0).clamp(0.0, 1.0).powi(2) * (3.0 - 2.0 * ((x + 2.0) / 4.0).clamp(0.0, 1.0)),
        1e-5,
        1e-5,
    ),
    ("mix", |x| 1.0 + 2.0 * x, 1e-5, 1e-5),
    ("clamp", |x| x.clamp(-1.0, 1.0), 0.0, 0.0),
    ("mod", |x| x - 0.75 * (x / 0.75).floor(), 1e-5, 1e-5),
    ("round_even", f64::round_ties_even, 0.0, 0.0),
    ("step", |x| if x < 0.5 { 0.0 } else { 1.0 }, 0.0, 0.0),
    ("length", |x| (x * x + 13.0).sqrt(), 1e-5, EXACT),
    ("dot", |x| 3.0 * x + 8.0, 1e-5, 1e-5),
    ("radians", f64::to_radians, 1e-5, EXACT),
    ("determinant", |x| 4.0 * x - 6.0, 1e-5, 1e-5),
    ("ldexp", |x| x * 8.0, 0.0, 0.0),
    ("half_round_trip", |x| x, 1e-3, 1e-6),
    ("bit_count", |x| f64::from((x as f32).to_bits().count_ones()), 0.0, 0.0),
    (
        "find_msb",
        |x| {
            let n = (x * 100.0) as i32;
            f64::from(31 - (if n < 0 { !n } else { n }).leading_zeros() as i32)
        },
        0.0,
        0.0,
    ),
    ("atan2", |x| x.atan2(2.0), 5e-4, 5e-4),
    ("asinh", f64::asinh, 1e-3, 1e-3),
];

const ATOMICS: [&str; 8] = ["add", "min", "max", "and", "or", "xor", "exchange", "compare_exchange"];

pub(super) fn cases(all: &mut Vec<Entry>) {
    for (number, &function) in FUNCTIONS.iter().enumerate() {
        let run = move |gpu: &Gpu| check_function(gpu, number as i32, function);
        all.push(Entry::new(
            format!("shaders.functions.{}", function.0),
            "Precision and Operation of SPIR-V Instructions",
            run,
        ));
    }
    for (number, name) in ATOMICS.into_iter().enumerate() {
        all.push(Entry::new(format!("shaders.atomics.{name}"), "Atomic Operations", move |gpu| {
            atomic(gpu, number as i32)
        }));
    }
    all.push(Entry::new("dispatching.workgroups.shared_memory", "Dispatching Commands", prefix_sum));
    for size in [1, 2, 3, 5, 8, 9] {
        let run = move |gpu: &Gpu| few_invocations(gpu, size);
        all.push(Entry::new(format!("dispatching.workgroups.of{size}"), "Dispatching Commands", run));
    }
    all.push(Entry::new("dispatching.workgroups.awaited", "Dispatching Commands", awaited));
    all.push(Entry::new("dispatching.workgroups.none", "Dispatching Commands", |gpu| {
        let buffers = [gpu.buffer_with(&[7u32; 64])?, gpu.buffer(256)?];
        gpu.compute(SHARED, 0, &0u32.to_le_bytes(), &buffers, [0, 1, 1])?;
        check(buffers[1].words().iter().all(|&word| word == 0), || "an empty dispatch wrote".into())
    }));
}

/// What an invocation of `few.comp` leaves, by its workgroup and its number in that, of so many invocations in so many workgroups.
fn left_by(group: [u32; 3], lane: u32, (size, all): (u32, [u32; 3])) -> [u32; 4] {
    let ([x, y, z], number) = (group, group[0] + all[0] * (group[1] + all[1] * group[2]));
    let at = x * size + lane;
    let sum = (0..number % 7).filter(|i| i & 1 != lane & 1).map(|i| i * x + at).sum::<u32>() + 100;
    if number % 3 == 1 { [0; 4] } else { [at | y << 16 | z << 24, x | y << 8 | z << 16, lane, sum] }
}

fn few_invocations(gpu: &Gpu, size: u32) -> Case {
    let all = [7, 3, 2];
    let groups = (0..all[2]).flat_map(|z| (0..all[1]).flat_map(move |y| (0..all[0]).map(move |x| [x, y, z])));
    let expected: Vec<[u32; 4]> =
        groups.flat_map(|group| (0..size).map(move |lane| left_by(group, lane, (size, all)))).collect();
    let buffers = [gpu.buffer(256)?, gpu.buffer(16 * expected.len() as u64)?];
    gpu.compute(FEW, size as i32, &100u32.to_le_bytes(), &buffers, all)?;
    let count = expected.iter().filter(|words| words[3] != 0).count();
    check(buffers[0].words()[0] == count as u32, || format!("{} instead of {count}", buffers[0].words()[0]))?;
    let got = buffers[1].words();
    let wrong = got.as_chunks::<4>().0.iter().zip(&expected).position(|(got, expected)| got != expected);
    check(wrong.is_none(), || {
        let number = wrong.unwrap_or(0);
        format!("invocation {number}: {:x?} instead of {:x?}", &got[number * 4..][..4], expected[number])
    })
}

/// Not promised, but what programs with tickets and chained sums build on: workgroups end whatever later ones wait for.
fn awaited(gpu: &Gpu) -> Case {
    let buffers = [gpu.buffer(256)?, gpu.buffer(4 * 100)?];
    gpu.compute(AWAITED, 0, &[], &buffers, [100, 1, 1])?;
    let expected: Vec<u32> = (0..100)
        .scan(0u32, |sum, _| {
            *sum = sum.wrapping_mul(3).wrapping_add(1);
            Some(*sum)
        })
        .collect();
    check(buffers[1].words() == expected, || format!("{:?}", buffers[1].words()))
}

fn check_function(gpu: &Gpu, number: i32, (_, reference, relative, absolute): Function) -> Case {
    let inputs: Vec<f32> = (0..64).map(|index| index as f32 / 8.0 - 3.96875).map(|x| x.clamp(-3.9, 3.9)).collect();
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(256)?];
    gpu.compute(UNARY, number, &[], &buffers, [1; 3])?;
    for (&input, output) in inputs.iter().zip(buffers[1].floats()) {
        let expected = reference(f64::from(input));
        let error = (f64::from(output) - expected).abs();
        check(error <= absolute + relative * expected.abs(), || format!("f({input}) = {output}, not {expected}"))?;
    }
    Ok(())
}

fn atomic(gpu: &Gpu, number: i32) -> Case {
    let start: u32 = [0, 1000, 3, u32::MAX, 0, 0, 777, 0][number as usize];
    let buffers = [gpu.buffer_with(&[start, 0, 0, 0])?, gpu.buffer(256)?];
    gpu.compute(ATOMIC, number, &[], &buffers, [1; 3])?;
    let (result, mut before) = (buffers[0].words(), buffers[1].words());
    let expected = match number {
        0 => (0..64).sum(),
        1 => 5,
        2 => 63,
        3 => 0,
        4 => u32::MAX,
        5 => (0..64).fold(0, |all, lane| all ^ lane),
        6 => {
            // Every value is seen once: as what was there before, or as what is left.
            before.push(result[0]);
            before.sort_unstable();
            let mut all: Vec<u32> = (0..64).chain([777]).collect();
            all.sort_unstable();
            return check(before == all, || format!("{before:?}"));
        }
        _ => {
            let winners = before.iter().filter(|&&word| word == 0).count();
            let kept = result.iter().enumerate().all(|(slot, &word)| word >= 1 && (word as usize - 1) % 4 == slot);
            return check(winners == 4 && kept, || format!("{winners} lanes won: {result:?}"));
        }
    };
    check(result[0] == expected, || format!("{} instead of {expected}", result[0]))
}

fn prefix_sum(gpu: &Gpu) -> Case {
    let inputs: Vec<u32> = (0..64).map(|index| index * 3 + 1).collect();
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(3 * 256)?];
    gpu.compute(SHARED, 0, &10u32.to_le_bytes(), &buffers, [3, 1, 1])?;
    let out = buffers[1].words();
    for group in 0..3usize {
        let mut sum = 0;
        for (lane, input) in inputs.iter().enumerate() {
            sum += input + 10;
            let got = out[group * 64 + lane];
            check(got == sum + group as u32, || format!("group {group}, lane {lane}: {got}"))?;
        }
    }
    Ok(())
}
