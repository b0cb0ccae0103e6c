//! Primitive restart by an index of choice.

use ash::vk;

use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, State, TRIANGLES, Target, render};
use vitric_vulkan::names::EXT_PRIMITIVE_RESTART_INDEX_NAME;

case!("assembly.restart.index", "VK_EXT_primitive_restart_index", restart_index);

/// Checks that a strip that restarts by a custom index equals one that the greatest index
/// restarts, until indices are bound again.
fn restart_index(gpu: &Gpu) -> Case {
    gpu.need(EXT_PRIMITIVE_RESTART_INDEX_NAME)?;
    let corners: [[f32; 2]; 7] =
        [[-0.9, -0.9], [-0.1, -0.9], [-0.5, 0.8], [0.1, -0.9], [0.9, -0.9], [0.5, 0.8], [0.0, 1.0]];
    let vertices: Vec<f32> =
        corners.iter().flat_map(|[x, y]| [*x, *y, 0.5, 1.0, (x + 1.0) / 2.0, 0.5, 1.0, 1.0]).collect();
    let buffer = gpu.buffer_with(&vertices)?;
    let picture = |numbers: &[u16], restart: Option<u32>| {
        let indices = gpu.buffer_with(numbers)?;
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let state = State { vertex: TRIANGLES, topology, restart: true, ..State::default() };
        let mut draw = Draw::rect(state, FULL, [0.0; 4]);
        let count = numbers.len() as u32;
        draw.kind = Kind::Indexed { buffer, indices, count, kind: vk::IndexType::UINT16 };
        draw.restart_index = restart;
        render(gpu, &Target::default(), &[draw])
    };
    let expected = picture(&[0, 1, 2, u16::MAX, 3, 4, 5], None)?;
    let custom = picture(&[0, 1, 2, 6, 3, 4, 5], Some(6))?;
    check(custom == expected, || "an index of its own restarts nothing".into())?;
    let whole = picture(&[0, 1, 2, 6, 3, 4, 5], None)?;
    check(whole != expected, || "an index restarts where none is set".into())?;
    let out_of_reach = picture(&[0, 1, 2, 6, 3, 4, 5], Some(0x1_0006))?;
    check(out_of_reach == whole, || "an index beyond the type's restarts".into())
}
