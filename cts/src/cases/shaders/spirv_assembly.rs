//! SPIR-V without a GLSL equivalent: other structured control flow, and operations of other
//! widths, compared with the host.

use crate::harness::{Case, Gpu, Outcome, check};

const WAYS: &[u8] = shader!("ways.comp");
const WIDTHS: &[u8] = shader!("widths.comp");

case!("assembly.control_flow.fall_into_default", "SPIR-V 2.11", |gpu| {
    run(gpu, WAYS, 4, 0, |x| [3, 333, 33, 3][(x & 3) as usize])
});

case!("assembly.control_flow.ways_meet", "SPIR-V 2.11", |gpu| {
    let met = |x: u32| if x < 7 { x.wrapping_add(100) } else { x.wrapping_mul(2) };
    run(gpu, WAYS, 4, 2, move |x| met(x).wrapping_mul(5).wrapping_add(1))
});

case!("assembly.integers.extended_products_of_long", "SPIR-V 3.42.13", |gpu| {
    needs_numbers(gpu)?;
    let unsigned = |x| u128::from(longs(x).0) * u128::from(longs(x).1);
    let signed = |x| i128::from(longs(x).0 as i64) * i128::from(longs(x).1 as i64);
    run(gpu, WIDTHS, 8, 0, move |x| (unsigned(x) >> 64) as u32)?;
    run(gpu, WIDTHS, 8, 1, move |x| (unsigned(x) >> 96) as u32)?;
    run(gpu, WIDTHS, 8, 2, move |x| (signed(x) >> 64) as u32)?;
    run(gpu, WIDTHS, 8, 3, move |x| (signed(x) >> 96) as u32)?;
    run(gpu, WIDTHS, 8, 4, move |x| (unsigned(x) >> 32) as u32)
});

case!("assembly.integers.extended_products_of_short", "SPIR-V 3.42.13", |gpu| {
    needs_numbers(gpu)?;
    run(gpu, WIDTHS, 8, 5, |x| {
        let (a, b) = (x as u16, (x >> 16) as u16);
        let unsigned = (u32::from(a) * u32::from(b)) >> 16;
        let signed = (i32::from(a as i16) * i32::from(b as i16)) as u32 >> 16;
        unsigned | signed << 16
    })
});

case!("assembly.integers.carry_of_short", "SPIR-V 3.42.13", |gpu| {
    needs_numbers(gpu)?;
    run(gpu, WIDTHS, 8, 6, |x| ((x & 0xffff) + (x >> 16)) >> 16)
});

case!("assembly.functions.ldexp_of_long", "GLSL.std.450 Ldexp", |gpu| {
    needs_numbers(gpu)?;
    run(gpu, WIDTHS, 8, 7, |x| {
        let exponent = longs(x).1 as i64 >> (20 + 37 * (x & 1));
        ((3.0 * f64::from(exponent.clamp(-1000, 1000) as i32).exp2()) as f32).to_bits()
    })
});

/// Returns the result of control flow whose branches meet twice.
fn met_twice(x: u32) -> u32 {
    let once = if x < 7 { x } else { x.wrapping_add(7) };
    let twice = if x & 1 == 0 { once.wrapping_mul(2) } else { once };
    twice.wrapping_mul(3).wrapping_add(x)
}

/// Returns the factors of a word.
fn longs(x: u32) -> (u64, u64) {
    let a = u64::from(x).wrapping_mul(11_400_714_819_323_198_485);
    (a, u64::from(x).wrapping_sub(a))
}

fn needs_numbers(gpu: &Gpu) -> Case {
    match (gpu.features.shader_int16, gpu.features.shader_int64) {
        (0, _) | (_, 0) => Err(Outcome::NotSupported("integers of 16 and 64 bits".into())),
        _ => Ok(()),
    }
}

/// Returns small numbers, limits, and bits without a pattern: a word for each lane.
fn inputs() -> Vec<u32> {
    let mut inputs: Vec<u32> = (0..24).collect();
    inputs.extend([u32::MAX, 1 << 31, 0xffff, 0x8000_8000, 0x7fff_ffff, 0xffff_0001, 0x8000_ffff, 0x0001_ffff]);
    inputs.extend((1..=32u32).map(|index| index.wrapping_mul(0x9e37_79b9)));
    inputs
}

case!("assembly.control_flow.one_target", "SPIR-V 2.11", |gpu| run(gpu, WAYS, 4, 1, |x| x
    .wrapping_mul(3)
    .wrapping_add(1)));

case!("assembly.control_flow.ways_meet_twice", "SPIR-V 2.11", |gpu| run(gpu, WAYS, 4, 3, met_twice));

/// Runs a shader that writes `count` words for each lane, and compares word `which`.
fn run(gpu: &Gpu, shader: &[u8], count: usize, which: usize, model: impl Fn(u32) -> u32) -> Case {
    let inputs = inputs();
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(64 * 4 * count as u64)?];
    gpu.compute(shader, 0, &[], &buffers, [1; 3])?;
    for (&input, words) in inputs.iter().zip(buffers[1].words().chunks(count)) {
        let (found, expected) = (words[which], model(input));
        check(found == expected, || format!("of {input:#x}: {found:#x} instead of {expected:#x}"))?;
    }
    Ok(())
}
