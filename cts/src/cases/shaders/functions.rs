//! Functions of GLSL and atomics in compute shaders, compared with results of the host.

use crate::Entry;
use crate::harness::{Case, Gpu, check};

const UNARY: &[u8] = shader!("unary.comp");
const ATOMIC: &[u8] = shader!("atomic.comp");

/// A function's name, its definition, and the error that the specification permits, relative and
/// absolute.
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

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (number, &function) in FUNCTIONS.iter().enumerate() {
        let run = move |gpu: &Gpu| check_function(gpu, number as i32, function);
        cases.push(Entry::new(
            format!("shaders.functions.{}", function.0),
            "Precision and Operation of SPIR-V Instructions",
            run,
        ));
    }
    for (number, name) in ATOMICS.into_iter().enumerate() {
        cases.push(Entry::new(format!("shaders.atomics.{name}"), "Atomic Operations", move |gpu| {
            atomic(gpu, number as i32)
        }));
    }
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
            // Every value occurs once: as an old value, or as the remaining one.
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
