//! Denormals by the modes of `VK_KHR_shader_float_controls`.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};

const DENORMALS: &[u8] = shader!("denormals.comp");

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
