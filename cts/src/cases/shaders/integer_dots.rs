//! Integer dot products of packed bytes, which are signed, unsigned or of both kinds, with and
//! without saturation.

use crate::harness::{Case, Gpu, check};
use crate::random::Random;

/// Number of pairs of dwords.
const PAIRS: usize = 256;

case!("functions.integer_dots.packed", "VK_KHR_shader_integer_dot_product", packed);

/// Multiplies random bytes. Some accumulators are near the limits of their type.
fn packed(gpu: &Gpu) -> Case {
    let mut random = Random::new(7);
    let mut inputs = Vec::with_capacity(3 * PAIRS);
    for _ in 0..PAIRS {
        let mut word = || random.below(1 << 16) << 16 | random.below(1 << 16);
        let (a, b) = (word(), word());
        let limit = random.pick(&[0, 0x7fff_8000, 0x8000_0000, 0xffff_8000u32]);
        inputs.extend([a, b, limit.wrapping_add(random.below(1 << 15))]);
    }
    // The largest products.
    inputs[..6].copy_from_slice(&[u32::MAX, u32::MAX, 5, 0x8080_8080, 0x8080_8080, 0x7fff_ffff]);
    let buffers = [gpu.buffer_with(&inputs)?, gpu.buffer(4 * 6 * PAIRS as u64)?];
    gpu.compute(shader!("integer_dots.comp"), 0, &[], &buffers, [PAIRS as u32 / 64, 1, 1])?;
    let results = buffers[1].words();
    for (input, found) in inputs.chunks(3).zip(results.chunks(6)) {
        let &[a, b, sum] = input else { continue };
        let [signed, unsigned, mixed] =
            [(true, true), (false, false), (true, false)].map(|(a_signed, b_signed)| dot((a, a_signed), (b, b_signed)));
        let saturated = |dot: i64| (dot + i64::from(sum as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32;
        let expected = [
            signed as u32,
            unsigned as u32,
            mixed as u32,
            saturated(signed),
            (unsigned + i64::from(sum)).min(u32::MAX.into()) as u32,
            saturated(mixed),
        ];
        check(found == expected, || format!("{a:x}, {b:x}, {sum:x}: {found:x?} instead of {expected:x?}"))?;
    }
    Ok(())
}

/// Returns the sum of the products of four bytes. Each operand has true if its bytes are signed.
fn dot((a, a_signed): (u32, bool), (b, b_signed): (u32, bool)) -> i64 {
    let byte = |byte: u8, is_signed: bool| if is_signed { i64::from(byte as i8) } else { byte.into() };
    a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| byte(a, a_signed) * byte(b, b_signed)).sum()
}
