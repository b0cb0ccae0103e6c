//! Denormals by the modes of `VK_KHR_shader_float_controls`.

use std::num::FpCategory;

use ash::vk;

use crate::Entry;
use crate::harness::{Case, Gpu, Outcome, check};

const DENORMALS: &[u8] = shader!("denormals.comp");
const FLUSHED: &[u8] = shader!("flushed.comp");

case!("core12.shaders.denormals", "VK_KHR_shader_float_controls", denormals);

fn denormals(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SHADER_FLOAT_CONTROLS_NAME)?;
    let mut own = vk::PhysicalDeviceFloatControlsProperties::default();
    gpu.properties2(&mut own);
    let needed = [
        gpu.extension_features.float16_int8.shader_float16,
        own.shader_denorm_preserve_float16,
        own.shader_denorm_preserve_float32,
        own.shader_rounding_mode_rte_float16,
        own.shader_rounding_mode_rte_float32,
        own.shader_signed_zero_inf_nan_preserve_float16,
        own.shader_signed_zero_inf_nan_preserve_float32,
    ];
    if needed.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("kept denormals".into()));
    }
    let singles =
        [0x0080_0000u32, 0x0000_0003, 0x8000_0001, 0x807f_ffff, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x0000_0002];
    let halves = [0x0400u32, 0x0003, 0x8001, 0x83ff, 0x8000, 0x7c00, 0xfc00, 0x0002];
    let input: Vec<u32> =
        (0..64).map(|at| if at % 2 == 0 { singles[at / 2 % 8] } else { halves[at / 2 % 8] }).collect();
    let (a, b) = (gpu.buffer_with(&input)?, gpu.buffer(256)?);
    gpu.compute(DENORMALS, 0, &[], &[a, b], [1, 1, 1])?;
    for (at, (&word, found)) in input.iter().zip(b.words()).enumerate() {
        let expected = match at % 2 {
            0 => (f32::from_bits(word) * 0.5).to_bits(),
            _ => u32::from(half::f16::from_f32(half::f16::from_bits(word as u16).to_f32() * 0.5).to_bits()),
        };
        check(found == expected, || format!("half of {word:x} is {found:x}, not {expected:x}"))?;
    }
    Ok(())
}

/// Execution modes `DenormPreserve` and `DenormFlushToZero`.
const PRESERVE: u32 = 4459;
const FLUSH: u32 = 4460;

/// Widths of floats in bits, in the order of the modes of a case.
const WIDTHS: [u32; 3] = [16, 32, 64];

/// Words of the results of an invocation of `flushed.comp`.
const RESULT_WORDS: usize = 20;

/// Modes of each width. A width without a mode is not checked.
type Modes = [Option<u32>; 3];

const FLUSHING: [(&str, Modes); 8] = [
    ("flush_halves", [Some(FLUSH), None, None]),
    ("flush_singles", [None, Some(FLUSH), None]),
    ("flush_doubles", [None, None, Some(FLUSH)]),
    ("flush_all", [Some(FLUSH); 3]),
    ("flush_none", [Some(PRESERVE); 3]),
    ("flush_only_halves", [Some(FLUSH), Some(PRESERVE), Some(PRESERVE)]),
    ("flush_only_singles", [Some(PRESERVE), Some(FLUSH), Some(PRESERVE)]),
    ("flush_only_doubles", [Some(PRESERVE), Some(PRESERVE), Some(FLUSH)]),
];

cases!(append_flushing);

fn append_flushing(cases: &mut Vec<Entry>) {
    for (name, modes) in FLUSHING {
        let name = format!("core12.shaders.{name}");
        cases.push(Entry::new(name, "VK_KHR_shader_float_controls", move |gpu| flushed(gpu, modes)));
    }
}

/// Runs operations of all widths in a program with modes, and compares their results.
fn flushed(gpu: &Gpu, modes: Modes) -> Case {
    gpu.need(vk::KHR_SHADER_FLOAT_CONTROLS_NAME)?;
    let mut own = vk::PhysicalDeviceFloatControlsProperties::default();
    gpu.properties2(&mut own);
    let needed = [
        gpu.extension_features.float16_int8.shader_float16,
        gpu.features.shader_float64 & gpu.features.shader_int64 & gpu.features.shader_int16,
        own.shader_denorm_preserve_float16 & own.shader_denorm_flush_to_zero_float16,
        own.shader_denorm_preserve_float32 & own.shader_denorm_flush_to_zero_float32,
        own.shader_denorm_preserve_float64 & own.shader_denorm_flush_to_zero_float64,
    ];
    let is_independent = own.denorm_behavior_independence == vk::ShaderFloatControlsIndependence::ALL;
    if needed.contains(&vk::FALSE) || !is_independent {
        return Err(Outcome::NotSupported("flushed denormals of all widths".into()));
    }
    let input = numbers();
    let (a, b) = (gpu.buffer_with(input.as_flattened())?, gpu.buffer(input.len() as u64 * 4 * RESULT_WORDS as u64)?);
    gpu.compute(&with_modes(FLUSHED, modes), 0, &[], &[a, b], [1, 1, 1])?;
    let found = b.words();
    for (at, (numbers, found)) in input.iter().zip(found.chunks(RESULT_WORDS)).enumerate() {
        for (word, (expected, &found)) in results(*numbers, at < 8, modes).into_iter().zip(found).enumerate() {
            let same = expected.is_none_or(|expected| expected == found);
            check(same, || format!("result {word} of {numbers:x?} is {found:x}, not {expected:x?}"))?;
        }
    }
    Ok(())
}

/// Returns the bits of a single float, a half and a double for each invocation.
fn numbers() -> Vec<[u32; 4]> {
    let singles = [1u32, 0x007f_ffff, 0x0080_0000, 0x0100_0000, 0, 0x3f80_0000, 0x3500_0000, 0x7f80_0000];
    let halves = [1u32, 0x03ff, 0x0400, 0x0800, 0, 0x3c00, 0x0200, 0x7c00];
    let doubles: [u64; 8] = [1, (1 << 52) - 1, 1 << 52, 2 << 52, 0, 1023 << 52, 1 << 51, 2047 << 52];
    let of = |at: usize| {
        let (sign, at) = ((at / 8) as u32, at % 8);
        let double = doubles[at] | u64::from(sign) << 63;
        [singles[at] | sign << 31, halves[at] | sign << 15, double as u32, (double >> 32) as u32]
    };
    (0..16).map(of).collect()
}

/// Replaces the mode of a module by one for each width that has one.
fn with_modes(module: &[u8], modes: Modes) -> Vec<u8> {
    let old = [4 << 16 | 16u32, FLUSH, 32];
    let words: Vec<u32> = module.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let is_old = |words: &[u32]| [words[0], words[2], words[3]] == old;
    let at = words.windows(4).position(is_old).unwrap_or(words.len());
    let modes = modes.into_iter().zip(WIDTHS).filter_map(|(mode, width)| Some([old[0], words[at + 1], mode?, width]));
    let modes: Vec<u32> = modes.flatten().collect();
    let words = [&words[..at], &modes, &words[at + 4..]].concat();
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Returns the results of an invocation; `None` for one that depends on a width without a mode.
fn results(numbers: [u32; 4], copies: bool, modes: Modes) -> Vec<Option<u32>> {
    let [flush16, flush32, flush64] = modes.map(|mode| mode == Some(FLUSH));
    let half = |number: half::f16| {
        let is_denormal = number.classify() == FpCategory::Subnormal;
        if flush16 && is_denormal { half::f16::ZERO.copysign(number) } else { number }
    };
    let single = |number: f32| if flush32 && number.is_subnormal() { 0f32.copysign(number) } else { number };
    let double = |number: f64| if flush64 && number.is_subnormal() { 0f64.copysign(number) } else { number };
    let [has_half, has_single, has_double] = modes.map(|mode| mode.is_some());
    let bits = |number: f32| number.to_bits();
    let code = |number: half::f16| u32::from(number.to_bits());
    let x = single(f32::from_bits(numbers[0]));
    let copy = if copies { numbers[0] } else { bits(1.0) };
    let singles = [bits(single(x * 0.5)), bits(-x), copy, u32::from(x == 0.0)];
    let h = half(half::f16::from_bits(numbers[1] as u16));
    let copy = if copies { numbers[1] } else { code(half::f16::ONE) };
    let half_of_h = half(half::f16::from_f32(h.to_f32() * 0.5));
    let halves = [code(half_of_h), code(-h), copy, u32::from(h == half::f16::ZERO)];
    let whole = u64::from(numbers[2]) | u64::from(numbers[3]) << 32;
    let d = double(f64::from_bits(whole));
    let copy = if copies { f64::from_bits(whole) } else { 1.0 };
    let doubles = [double(d * 0.5), -d, copy, f64::from(u8::from(d == 0.0))];
    let doubles = doubles.map(|number| [number.to_bits() as u32, (number.to_bits() >> 32) as u32]);
    let of_single = [bits(x.max(-1.0)), bits(x.abs().sqrt())];
    let of_both = [bits(single(h.to_f32())), code(half(half::f16::from_f32(x)))];
    let checked = |is_checked: bool, word: u32| is_checked.then_some(word);
    let singles = singles.map(|word| checked(has_single, word));
    let halves = halves.map(|word| checked(has_half, word));
    let doubles: Vec<_> = doubles.as_flattened().iter().map(|&word| checked(has_double, word)).collect();
    let of_single = of_single.map(|word| checked(has_single, word));
    let of_both = of_both.map(|word| checked(has_single && has_half, word));
    [&singles[..], &halves, &doubles, &of_single, &of_both].concat()
}
