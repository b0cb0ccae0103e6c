//! Ranges of index buffers, and null index buffers.

use ash::vk;

use crate::cases::support::conditions::{need5, need6};
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{Draw, FULL, Kind, State, TRIANGLES, Target, render};

/// Draws a triangle by indices at the start of a buffer, which `range` binds where it is given.
fn indexed(gpu: &Gpu, numbers: &[u32], range: Option<(u64, u64)>) -> Result<Vec<[u8; 4]>, Outcome> {
    let corners: [[f32; 2]; 4] = [[-0.8, -0.9], [0.9, -0.5], [0.1, 0.8], [-0.9, 0.9]];
    let vertices: Vec<f32> =
        corners.iter().flat_map(|[x, y]| [*x, *y, 0.5, 1.0, (x + 1.0) / 2.0, 0.5, 1.0, 1.0]).collect();
    let buffer = gpu.buffer_with(&vertices)?;
    let indices = gpu.buffer_with(numbers)?;
    let mut state = State { vertex: TRIANGLES, ..State::default() };
    state.extensions.exact = range.is_some();
    let mut draw = Draw::rect(state, FULL, [0.0; 4]);
    draw.kind = Kind::Indexed { buffer, indices, count: 3, kind: vk::IndexType::UINT32 };
    draw.index_range = range;
    render(gpu, &Target::default(), &[draw])
}

case!("maintenance.five.index_ranges", "VK_KHR_maintenance5", index_ranges);

/// Binds a range of an index buffer. Indices behind the range are 0 where robust access is
/// enabled.
fn index_ranges(gpu: &Gpu) -> Case {
    need5(gpu)?;
    let expected = indexed(gpu, &[1, 2, 0], None)?;
    let whole = indexed(gpu, &[3, 1, 2, 0], Some((4, vk::WHOLE_SIZE)))?;
    check(whole == expected, || "the whole size is not the rest of the buffer".into())?;
    let cut = indexed(gpu, &[3, 1, 2, 3], Some((4, 8)))?;
    check(cut == expected, || "an index behind the range is not 0".into())
}

case!("maintenance.six.null_indices", "VK_KHR_maintenance6", null_indices);

/// Checks that all indices are 0 without an index buffer: only one point is drawn instead of
/// three.
fn null_indices(gpu: &Gpu) -> Case {
    need6(gpu)?;
    if gpu.extension_features.robustness.null_descriptor == vk::FALSE {
        return Err(Outcome::NotSupported("null descriptors".into()));
    }
    let vertices: Vec<f32> = [[-0.9375f32, -0.9375], [0.0625, 0.0625], [0.9375, 0.9375]]
        .iter()
        .flat_map(|[x, y]| [*x, *y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0])
        .collect();
    let topology = vk::PrimitiveTopology::POINT_LIST;
    let state = State { vertex: TRIANGLES, topology, ..State::default() };
    let mut draw = Draw::rect(state, FULL, [0.0; 4]);
    let (buffer, indices) = (gpu.buffer_with(&vertices)?, crate::harness::Buffer::null());
    draw.kind = Kind::Indexed { buffer, indices, count: 3, kind: vk::IndexType::UINT32 };
    let pixels = render(gpu, &Target::default(), &[draw])?;
    let drawn: Vec<usize> = (0..pixels.len()).filter(|&at| pixels[at] != [0; 4]).collect();
    check(drawn == [0], || format!("pixels {drawn:?}"))
}
