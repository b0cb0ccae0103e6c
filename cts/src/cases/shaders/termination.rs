//! Invocations that terminate or are demoted to helper invocations.

use ash::vk;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const LEAVING: &[u8] = shader!("leaving.frag");

case!("core13.shaders.terminate", "VK_KHR_shader_terminate_invocation", |gpu| {
    gpu.need(vk::KHR_SHADER_TERMINATE_INVOCATION_NAME)?;
    leaving(gpu, 1)
});

case!("core13.shaders.demote", "VK_EXT_shader_demote_to_helper_invocation", |gpu| {
    gpu.need(vk::EXT_SHADER_DEMOTE_TO_HELPER_INVOCATION_NAME)?;
    leaving(gpu, 2)
});

/// Runs a checkerboard of fragments that terminate (1) or are demoted to helper invocations (2).
fn leaving(gpu: &Gpu, how: u32) -> Case {
    let mut draw = Draw::rect(State { fragment: LEAVING, ..State::default() }, FULL, [0.0; 4]);
    draw.show = how as f32;
    let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
    for (at, pixel) in (0u32..).zip(pixels) {
        let (x, y) = (at % SIZE, at / SIZE);
        // The derivative of x squared in the pair of columns.
        let step = if how == 2 { 2 * (x & !1) + 1 } else { 3 };
        let expected = if (x + y) % 2 == 1 { [255; 4] } else { [step as u8, 0, 0, 255] };
        check(pixel == expected, || format!("({x}, {y}) is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}
