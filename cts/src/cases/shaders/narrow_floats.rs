//! Narrow floats of encodings other than IEEE 754: conversions of all their numbers, and of floats
//! that are at and beside the middle of two.

use ash::vk;
use half::bf16;
use vitric_vulkan::names::{EXT_SHADER_FLOAT8_NAME, KHR_SHADER_BFLOAT16_NAME};
use vitric_vulkan::sys;
use vk::ComponentTypeKHR as T;

use crate::harness::{Case, Gpu, check};

pub(super) const BFLOAT16: T = T::from_raw(sys::ComponentTypeKHR::BFLOAT16.as_raw());
pub(super) const E4M3: T = T::from_raw(sys::ComponentTypeKHR::FLOAT8_E4M3_EXT.as_raw());
pub(super) const E5M2: T = T::from_raw(sys::ComponentTypeKHR::FLOAT8_E5M2_EXT.as_raw());

/// Returns the number with a code. Codes of NaN and infinity are those of SPIR-V.
pub(super) fn number_of(ty: T, code: u32) -> f32 {
    let (significand, bias) = match ty {
        BFLOAT16 => return bf16::from_bits(code as u16).to_f32(),
        E4M3 => (3, 7),
        _ => (2, 15),
    };
    let size = code & 0x7f;
    let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
    match (ty, size) {
        (E4M3, 0x7f) | (E5M2, 0x7d..) => f32::NAN,
        (E5M2, 0x7c) => sign * f32::INFINITY,
        _ => sign * size_of_code(size, significand, bias),
    }
}

/// Returns the number of a code as if all were finite.
fn size_of_code(code: u32, significand: u32, bias: i32) -> f32 {
    let (exponent, rest) = ((code >> significand) as i32, (code & ((1 << significand) - 1)) as f32);
    let unit = 2.0f32.powi(exponent.max(1) - bias - significand as i32);
    let leading = if exponent == 0 { 0.0 } else { (1 << significand) as f32 };
    (leading + rest) * unit
}

/// Returns the code of the nearest number, ties to even. Numbers that are too large become
/// infinity, or NaN if there is none, or saturate.
fn code_of(ty: T, number: f32, saturates: bool) -> u32 {
    let (significand, bias, largest) = match ty {
        BFLOAT16 => return bf16::from_f32(number).to_bits().into(),
        E4M3 => (3, 7, 0x7e),
        _ => (2, 15, 0x7b),
    };
    let sign = if number.is_sign_negative() { 0x80 } else { 0 };
    if number.is_nan() {
        return sign | 0x7f;
    }
    // The code behind the largest number counts as a number when it is rounded.
    let distance = |code: u32| (size_of_code(code, significand, bias) - number.abs()).abs();
    let nearest = (0..=largest).min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))));
    let behind = size_of_code(largest, significand, bias).midpoint(size_of_code(largest + 1, significand, bias));
    let nearest = match nearest {
        Some(nearest) if number.abs() < behind || (number.abs() == behind && largest % 2 == 0) => nearest,
        _ => largest + 1,
    };
    sign | if saturates { nearest.min(largest) } else { nearest }
}

case!("conversions.narrow_floats.bfloats", "VK_KHR_shader_bfloat16", |gpu| {
    gpu.need(KHR_SHADER_BFLOAT16_NAME)?;
    convert(gpu, BFLOAT16, shader!("convert_bfloats.comp"))
});

case!("conversions.narrow_floats.e4m3", "VK_EXT_shader_float8", |gpu| {
    gpu.need(EXT_SHADER_FLOAT8_NAME)?;
    convert(gpu, E4M3, shader!("convert_e4m3.comp"))
});

case!("conversions.narrow_floats.e5m2", "VK_EXT_shader_float8", |gpu| {
    gpu.need(EXT_SHADER_FLOAT8_NAME)?;
    convert(gpu, E5M2, shader!("convert_e5m2.comp"))
});

/// Converts all numbers to floats, and floats to numbers. Odd results are those of `second`.
fn convert(gpu: &Gpu, ty: T, shader: &[u8]) -> Case {
    let codes: u32 = if ty == BFLOAT16 { 1 << 16 } else { 1 << 8 };
    let mut floats = vec![f32::NAN, f32::INFINITY, -f32::INFINITY, f32::MAX, -f32::MAX, f32::from_bits(1), 1e-39];
    for code in 0..codes {
        let (number, next) = (number_of(ty, code), number_of(ty, (code + 1) % codes));
        // Bfloats that follow each other differ in the upper half of their bits.
        let middle = if ty == BFLOAT16 { f32::from_bits(code << 16 | 0x8000) } else { number.midpoint(next) };
        floats.extend([number, middle, middle.next_down(), middle.next_up()]);
    }
    floats.extend([464.0, 464.0f32.next_up(), 480.0, 61440.0, 61440.0f32.next_down(), -1e9]);
    floats.resize(floats.len().next_multiple_of(64), 0.0);
    let is_wide = ty == BFLOAT16;
    let inputs = (0..2 * floats.len() as u32).map(|at| at / 2 % codes);
    let inputs: Vec<u8> = if is_wide {
        inputs.flat_map(|code| (code as u16).to_le_bytes()).collect()
    } else {
        inputs.map(|code| code as u8).collect()
    };
    let numbers = gpu.buffer_with(&inputs)?;
    let buffers = [gpu.buffer_with(&floats)?, numbers, gpu.buffer(4 * floats.len() as u64)?];
    gpu.compute(shader, 0, &[], &buffers, [floats.len() as u32 / 64, 1, 1])?;
    let (words, results) = (buffers[1].words(), buffers[2].words());
    let found = |at: usize| match is_wide {
        true => u32::from(bytemuck::cast_slice::<u32, u16>(&words)[at]),
        false => u32::from(bytemuck::cast_slice::<u32, u8>(&words)[at]),
    };
    for (at, &float) in floats.iter().enumerate() {
        let code = code_of(ty, float, false);
        let pairs = [
            (f32::from_bits(results[at]), number_of(ty, at as u32 % codes)),
            (number_of(ty, found(2 * at)), number_of(ty, code)),
            (number_of(ty, found(2 * at + 1)), second(ty, float)),
        ];
        for (kind, (found, expected)) in ["to a float", "from a float", "second"].into_iter().zip(pairs) {
            let is_equal = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
            check(is_equal, || format!("{kind}: {found:e} instead of {expected:e} for {at}, {float:e}"))?;
        }
    }
    Ok(())
}

/// Returns the second result: a conversion that saturates, or the dot product `x * x + x * 1.5` of
/// bfloats. Vitric rounds it once; Vulkan leaves that open.
fn second(ty: T, float: f32) -> f32 {
    if ty != BFLOAT16 {
        return number_of(ty, code_of(ty, float, true));
    }
    let number = bf16::from_f32(float).to_f32();
    bf16::from_f32(number.mul_add(1.5, number * number)).to_f32()
}
