//! Shader clocks, assumptions, and atomics of floats.

use ash::vk;
use ash::vk::DescriptorType as D;

use crate::cases::image_operations::image_types::texel_view;
use crate::harness::{Case, Gpu, Outcome, check};

const CLOCK: &[u8] = shader!("clock.comp");
const ASSUME: &[u8] = shader!("assume.comp");
const FLOAT_ATOMICS: &[u8] = shader!("float_atomics.comp");

case!("shaders.clock.ascends", "VK_KHR_shader_clock", clock);

/// Checks that clocks never go back, neither around some work nor from one dispatch to the next.
fn clock(gpu: &Gpu) -> Case {
    let features = &gpu.extension_features.shader_clock;
    if features.shader_device_clock == 0 || features.shader_subgroup_clock == 0 {
        return Err(Outcome::NotSupported("clocks in shaders".into()));
    }
    let mut latest = 0;
    for _ in 0..2 {
        let (state, times) = (gpu.buffer(8)?, gpu.buffer(64 * 16)?);
        gpu.compute(CLOCK, 0, &[], &[state, times], [1, 1, 1])?;
        check(state.words()[0] == 0, || format!("a clock went back: {}", state.words()[0]))?;
        let words = times.words();
        let times: Vec<u64> = words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
        let first = times.iter().copied().min().unwrap_or(0);
        check(first >= latest && first != 0, || format!("{first} after {latest}"))?;
        latest = times.iter().copied().max().unwrap_or(0);
    }
    Ok(())
}

case!("shaders.assume.changes_nothing", "VK_KHR_shader_expect_assume", assume);

fn assume(gpu: &Gpu) -> Case {
    if gpu.extension_features.expect_assume.shader_expect_assume == 0 {
        return Err(Outcome::NotSupported("assumptions".into()));
    }
    let numbers: Vec<u32> = (0..64).map(|number| number * 7 % 11).collect();
    let (source, target) = (gpu.buffer_with(&numbers)?, gpu.buffer(256)?);
    gpu.compute(ASSUME, 0, &[], &[source, target], [1, 1, 1])?;
    let expected: Vec<u32> = (0..).zip(&numbers).map(|(lane, number)| lane + number).collect();
    check(target.words() == expected, || format!("{:?}", target.words()))
}

case!("shaders.atomics.floats", "VK_EXT_shader_atomic_float2", float_atomics);

/// Checks sums of small integers, which are exact in any order.
fn float_atomics(gpu: &Gpu) -> Case {
    let (first, second) = (&gpu.extension_features.atomic_float, &gpu.extension_features.atomic_float2);
    let has = first.shader_buffer_float32_atomic_add
        & first.shader_buffer_float64_atomic_add
        & first.shader_shared_float64_atomic_add
        & first.shader_image_float32_atomic_add
        & second.shader_buffer_float64_atomic_min_max
        & second.shader_shared_float32_atomic_min_max
        & second.shader_image_float32_atomic_min_max;
    if has == 0 {
        return Err(Outcome::NotSupported("atomics on floats".into()));
    }
    let state = gpu.buffer(48)?;
    let texels = vec![0u32; 80];
    let usage = vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
    let view = [texel_view(gpu, usage, vk::Format::R32_SFLOAT, &texels)?];
    let out = gpu.buffer(256)?;
    let (kind, texel) = (D::STORAGE_BUFFER, D::STORAGE_TEXEL_BUFFER);
    let (set_layout, set) = gpu.set(&[kind, kind, texel])?;
    let infos = [state, out]
        .map(|buffer| [vk::DescriptorBufferInfo { buffer: buffer.handle, offset: 0, range: vk::WHOLE_SIZE }]);
    let write = |binding: u32| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
    let writes = [
        write(0).descriptor_type(kind).buffer_info(&infos[0]),
        write(1).descriptor_type(kind).buffer_info(&infos[1]),
        write(2).descriptor_type(texel).texel_buffer_view(&view),
    ];
    // SAFETY: the set is new, and everything named is alive.
    unsafe { gpu.device.update_descriptor_sets(&writes, &[]) };
    gpu.dispatch(&gpu.compute_with(FLOAT_ATOMICS, None, (set_layout, set))?, &[], [1; 3])?;
    let sum = 2016.0;
    let floats = &state.floats()[..4];
    check(floats == [sum, -53.0, 189.0, 7.5], || format!("of single precision: {floats:?}"))?;
    let wide = state.read(16, 32);
    let wide: Vec<f64> =
        wide.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or([0; 8]))).collect();
    let halves = 0.25 + f64::from(sum) * 0.5;
    check(wide == [f64::from(sum) + 8.0, -63.0, 63e100, halves], || format!("of double precision: {wide:?}"))?;
    let shared = sum + 0.5 + 630_000.0 + halves as f32;
    check(out.floats().iter().all(|&value| value == shared), || format!("{:?}, not {shared}", out.floats()))
}
