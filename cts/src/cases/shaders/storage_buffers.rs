//! Scalar block layouts and 64-bit atomics in storage buffers.

use ash::vk;
use ash::vk::DescriptorType as D;

use crate::harness::{Case, Gpu, Outcome, check};

const SCALAR: &[u8] = shader!("scalar.comp");
const WIDE_ATOMICS: &[u8] = shader!("wide_atomics.comp");

case!("core12.shaders.scalar_layout", "VK_EXT_scalar_block_layout", scalar_layout);

fn scalar_layout(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SCALAR_BLOCK_LAYOUT_NAME)?;
    gpu.need(vk::KHR_UNIFORM_BUFFER_STANDARD_LAYOUT_NAME)?;
    // Small whole numbers, so that every order of operations has the same result.
    let numbers = |count: u32, step: u32| -> Vec<f32> { (0..count).map(|at| (at * step % 17) as f32).collect() };
    let (a, c, d) = (numbers(64, 3), numbers(17, 5), numbers(23, 7));
    // The pairs of C begin at byte 40: after 36, on a multiple of 8.
    let mut c_words = c.clone();
    c_words.insert(9, 99.0);
    let out = gpu.buffer(256)?;
    let buffers = [
        (D::STORAGE_BUFFER, gpu.buffer_with(&a)?),
        (D::STORAGE_BUFFER, out),
        (D::UNIFORM_BUFFER, gpu.buffer_with(&c_words)?),
        (D::UNIFORM_BUFFER, gpu.buffer_with(&d)?),
    ];
    let compute = gpu.compute_pipeline(SCALAR, 0, &buffers)?;
    gpu.run(|commands| {
        gpu.bind_compute(commands, &compute, &[]);
        // SAFETY: the command buffer is recording.
        unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
        gpu.barrier(commands, None);
    })?;
    for (lane, found) in out.floats().into_iter().enumerate() {
        let part = &a[1 + lane % 10 * 6..];
        let own = part[0] + 2.0 * part[2] + 3.0 * part[3] + 4.0 * part[5] + 5.0 * a[63];
        let others = 6.0 * c[1 + lane % 8] + 7.0 * c[9 + lane % 4 * 2 + 1] + 8.0 * d[3 + lane % 8];
        let expected = own + others + 9.0 * d[11 + lane % 4 * 3 + 2];
        check(found == expected, || format!("lane {lane} gives {found}, not {expected}"))?;
    }
    Ok(())
}

case!("core12.shaders.wide_atomics", "VK_KHR_shader_atomic_int64, VK_KHR_vulkan_memory_model", wide_atomics);

fn wide_atomics(gpu: &Gpu) -> Case {
    let (atomics, model) = (&gpu.extension_features.atomic_int64, &gpu.extension_features.memory_model);
    let features = [
        gpu.features.shader_int64,
        atomics.shader_buffer_int64_atomics,
        atomics.shader_shared_int64_atomics,
        model.vulkan_memory_model,
        model.vulkan_memory_model_device_scope,
    ];
    if features.contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("atomics of 64 bits in the Vulkan memory model".into()));
    }
    let a = gpu.buffer_with(&[5u64, 7, u64::MAX, 1 << 63, 0])?;
    let b = gpu.buffer(256)?;
    gpu.compute(WIDE_ATOMICS, 0, &[], &[a, b], [1, 1, 1])?;
    let words = a.words();
    let found: Vec<u64> = words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
    let sum = ((0..64).sum::<u64>() << 40) + 64;
    let largest = (63 << 40) + 1;
    let expected = [sum + 5, largest, !largest, u64::MAX ^ 1 << 63, sum];
    check(found == expected, || format!("{found:x?}, not {expected:x?}"))?;
    let expected: Vec<u32> = (0..64).map(|lane| (63 - lane) * 3 + 2016 * 1000).collect();
    check(b.words() == expected, || format!("{:?}", b.words()))
}
