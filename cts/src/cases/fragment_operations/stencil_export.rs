//! Stencil references that shaders write.

use ash::vk;

use crate::cases::support::stages::stencil_state;
use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, SIZE, State, Target, render};

const STENCIL_REF: &[u8] = shader!("stencil_ref.frag");
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

fn need_export(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_SHADER_STENCIL_EXPORT_NAME)
}

fn stencil(fragment: &'static [u8], compare_op: vk::CompareOp, pass_op: vk::StencilOp, reference: u32) -> State {
    State { fragment, ..stencil_state(compare_op, pass_op, reference) }
}

fn stencil_target(samples: vk::SampleCountFlags, stencil: u32) -> Target {
    let clear_depth = vk::ClearDepthStencilValue { depth: 1.0, stencil };
    Target { samples, depth: vk::Format::D32_SFLOAT_S8_UINT, clear_depth, ..Target::default() }
}

/// Returns the columns in which something was drawn.
fn columns(pixels: &[[u8; 4]]) -> Vec<u32> {
    let is_lit = |x: &u32| pixels.iter().skip(*x as usize).step_by(SIZE as usize).all(|pixel| pixel[0] == 255);
    (0..SIZE).filter(is_lit).collect()
}

case!("shaders.stencil.replaced", "VK_EXT_shader_stencil_export", |gpu| stencil_replaced(gpu, ONE));
case!("shaders.stencil.replaced_samples", "VK_EXT_shader_stencil_export", |gpu| stencil_replaced(gpu, FOUR));

/// Checks that the shader's reference is stored, and that another draw finds it.
fn stencil_replaced(gpu: &Gpu, samples: vk::SampleCountFlags) -> Case {
    need_export(gpu)?;
    for column in [0, 5, 15] {
        let (always, replace) = (vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE);
        let first = Draw::rect(stencil(STENCIL_REF, always, replace, 0x5a), FULL, [0.0; 4]);
        let (equal, keep) = (vk::CompareOp::EQUAL, vk::StencilOp::KEEP);
        let second = Draw::rect(stencil(crate::render::COLOR, equal, keep, column), FULL, [1.0; 4]);
        let pixels = render(gpu, &stencil_target(samples, 99), &[first, second])?;
        check(columns(&pixels) == [column], || format!("{:?}, not {column}", columns(&pixels)))?;
    }
    Ok(())
}

case!("shaders.stencil.coarse", "VK_EXT_shader_stencil_export", stencil_coarse);

/// Checks that a fragment of several pixels gives all of them one reference: that of the column in
/// their middle.
fn stencil_coarse(gpu: &Gpu) -> Case {
    need_export(gpu)?;
    gpu.need(vk::KHR_FRAGMENT_SHADING_RATE_NAME)?;
    for (size, samples) in [([2, 1], ONE), ([2, 2], ONE), ([2, 2], FOUR)] {
        let (always, replace) = (vk::CompareOp::ALWAYS, vk::StencilOp::REPLACE);
        let mut state = stencil(STENCIL_REF, always, replace, 0x5a);
        state.extensions.fragment_size = Some(size);
        let first = Draw::rect(state, FULL, [0.0; 4]);
        for column in [0, 1, 7, 15] {
            let (equal, keep) = (vk::CompareOp::EQUAL, vk::StencilOp::KEEP);
            let second = Draw::rect(stencil(crate::render::COLOR, equal, keep, column), FULL, [1.0; 4]);
            let pixels = render(gpu, &stencil_target(samples, 99), &[first.clone(), second])?;
            let expected = if column % 2 == 0 { vec![] } else { vec![column - 1, column] };
            check(columns(&pixels) == expected, || format!("{size:?}: {:?} of {column}", columns(&pixels)))?;
        }
    }
    Ok(())
}

case!("shaders.stencil.compared", "VK_EXT_shader_stencil_export", stencil_compared);

/// Checks that the shader's reference is compared.
fn stencil_compared(gpu: &Gpu) -> Case {
    need_export(gpu)?;
    let draw = Draw::rect(stencil(STENCIL_REF, vk::CompareOp::LESS, vk::StencilOp::KEEP, 200), FULL, [1.0; 4]);
    let pixels = render(gpu, &stencil_target(ONE, 7), &[draw])?;
    check(columns(&pixels) == [0, 1, 2, 3, 4, 5, 6], || format!("{:?}", columns(&pixels)))
}
