//! Shader draw parameters: base vertex, base instance and draw index.

use ash::vk;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, Target, render};

const PARAMETERS: &[u8] = shader!("parameters.vert");

case!("core11.draws.parameters", "VK_KHR_shader_draw_parameters", draw_parameters);

/// Checks base vertex, base instance and draw index in each draw of an indirect command.
fn draw_parameters(gpu: &Gpu) -> Case {
    gpu.need(vk::KHR_SHADER_DRAW_PARAMETERS_NAME)?;
    let commands: Vec<u32> = [[6, 1, 12, 3], [6, 2, 60, 1], [6, 1, 0, 0], [0, 1, 6, 0]].concat();
    let buffer = gpu.buffer_with(&commands)?;
    let mut draw = Draw::rect(State { vertex: PARAMETERS, ..State::default() }, FULL, [0.0; 4]);
    draw.kind = Kind::Indirect { buffer, count: 4 };
    let pixels = render(gpu, &Target { clear: [1.0; 4], ..Target::default() }, &[draw])?;
    let expected = [[12, 3, 0, 255], [60, 17, 1, 255], [0, 0, 2, 255], [255; 4]];
    for (at, pixel) in pixels.iter().enumerate() {
        let expected = expected[at % SIZE as usize / 4];
        check(*pixel == expected, || format!("pixel {at} is {pixel:?}, not {expected:?}"))?;
    }
    Ok(())
}
