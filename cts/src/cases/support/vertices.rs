//! Draws of vertex lists, and counts of the pixels that they cover.

use ash::vk::PrimitiveTopology as T;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, POINTS, State, Target, render};

pub(in crate::cases) const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

/// Returns the number of pixels of a colour.
pub(in crate::cases) fn count(pixels: &[[u8; 4]], color: [u8; 4]) -> usize {
    pixels.iter().filter(|&&pixel| pixel == color).count()
}

/// Draws, and checks the number of red pixels.
pub(in crate::cases) fn red(gpu: &Gpu, target: &Target, draws: &[Draw], expected: usize) -> Case {
    let pixels = render(gpu, target, draws)?;
    let got = count(&pixels, [255, 0, 0, 255]);
    check(got == expected, || format!("{got} pixels instead of {expected}"))
}

/// Returns a red draw of a list of vertices.
pub(in crate::cases) fn vertices(
    gpu: &Gpu,
    topology: T,
    vertices: &[[f32; 2]],
) -> Result<Draw, crate::harness::Outcome> {
    let state = State { vertex: POINTS, topology, ..State::default() };
    let buffer = gpu.buffer_with(vertices)?;
    let kind = Kind::VertexBuffer { buffer, count: vertices.len() as u32 };
    Ok(Draw { kind, ..Draw::rect(state, FULL, RED) })
}
