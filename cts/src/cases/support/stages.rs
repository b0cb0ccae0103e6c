//! State, draws and comparisons for cases of stages between vertices and fragments.

use ash::vk;

use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, SIZE, State};

/// A vertex shader of rectangles with interpolated outputs, and clip and cull distances.
pub(in crate::cases) const VERTEX: &[u8] = shader!("stages.vert");
/// A fragment shader that shows one of its inputs or built-ins.
pub(in crate::cases) const FRAGMENT: &[u8] = shader!("stages.frag");

/// Returns the state with both shaders.
pub(in crate::cases) fn state() -> State {
    State { vertex: VERTEX, fragment: FRAGMENT, ..State::default() }
}

/// Returns a draw over the whole target for case `show` of both shaders.
pub(in crate::cases) fn draw(show: u32, color: [f32; 4]) -> Draw {
    Draw { show: show as f32, ..Draw::rect(state(), FULL, color) }
}

/// Compares every pixel with a function of its position, to within one.
pub(in crate::cases) fn compare(pixels: &[[u8; 4]], expected: impl Fn(u32, u32) -> [u8; 4]) -> Case {
    for (index, pixel) in pixels.iter().enumerate() {
        let (x, y) = (index as u32 % SIZE, index as u32 / SIZE);
        let wanted = expected(x, y);
        let close = pixel.iter().zip(wanted).all(|(&a, b)| a.abs_diff(b) <= 1);
        check(close, || format!("({x}, {y}) is {pixel:?}, not {wanted:?}"))?;
    }
    Ok(())
}

/// Ends a case where a feature is not supported.
pub(in crate::cases) fn require(supported: vk::Bool32, what: &str) -> Case {
    if supported == vk::TRUE { Ok(()) } else { Err(Outcome::NotSupported(what.into())) }
}

/// Ends a case unless clip and cull distances are supported, which every draw here writes.
pub(in crate::cases) fn distances(gpu: &Gpu) -> Case {
    require(gpu.features.shader_clip_distance, "clip distances")?;
    require(gpu.features.shader_cull_distance, "cull distances")
}

/// Enables the depth test and depth writes.
pub(in crate::cases) fn depth_test(state: &mut State, op: vk::CompareOp) {
    state.depth_stencil.depth_test_enable = vk::TRUE;
    state.depth_stencil.depth_write_enable = vk::TRUE;
    state.depth_stencil.depth_compare_op = op;
}

/// Returns a state with a stencil test of both faces, whose masks are full.
pub(in crate::cases) fn stencil_state(compare_op: vk::CompareOp, pass_op: vk::StencilOp, reference: u32) -> State {
    let face = vk::StencilOpState {
        pass_op,
        compare_op,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference,
        ..Default::default()
    };
    let mut state = State::default();
    state.depth_stencil = state.depth_stencil.stencil_test_enable(true).front(face).back(face);
    state
}
