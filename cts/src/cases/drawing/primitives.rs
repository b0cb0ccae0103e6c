//! Primitive topologies, primitive restart, and indirect draws.

use ash::vk;
use ash::vk::PrimitiveTopology as T;

use crate::Entry;
use crate::cases::support::vertices::{red, vertices};
use crate::harness::{Case, Gpu};
use crate::render::{Draw, FULL, Kind, POINTS, State, Target};

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

cases!(append_drawing);

fn append_drawing(cases: &mut Vec<Entry>) {
    let topologies: [(&str, T, &[[f32; 2]], usize); 6] = [
        ("point_list", T::POINT_LIST, &[[-0.5, -0.5], [0.5, 0.5]], 2),
        ("line_list", T::LINE_LIST, &[[-1.0, 0.0625], [1.0, 0.0625]], 16),
        ("line_strip", T::LINE_STRIP, &[[-1.0, 0.0625], [0.0, 0.0625], [1.0, 0.0625]], 16),
        ("triangle_list", T::TRIANGLE_LIST, &[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]], 256),
        ("triangle_strip", T::TRIANGLE_STRIP, &[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]], 256),
        ("triangle_fan", T::TRIANGLE_FAN, &[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], 256),
    ];
    for (name, topology, vertices, pixels) in topologies {
        let run = move |gpu: &Gpu| draw_vertices(gpu, topology, vertices, pixels);
        cases.push(Entry::new(format!("drawing.topology.{name}"), "Primitive Topologies", run));
    }
    for (name, kind) in [("uint16", vk::IndexType::UINT16), ("uint32", vk::IndexType::UINT32)] {
        cases.push(Entry::new(format!("drawing.restart.{name}"), "Primitive Restart", move |gpu| restart(gpu, kind)));
    }
}

fn draw_vertices(gpu: &Gpu, topology: T, positions: &[[f32; 2]], pixels: usize) -> Case {
    red(gpu, &Target::default(), &[vertices(gpu, topology, positions)?], pixels)
}

/// Draws two strips of one index buffer: the left and the right half, with two columns between.
fn restart(gpu: &Gpu, kind: vk::IndexType) -> Case {
    let positions: Vec<[f32; 2]> = [[-1.0, -0.125], [0.125, 1.0]]
        .iter()
        .flat_map(|[left, right]| [[*left, -1.0], [*right, -1.0], [*left, 1.0], [*right, 1.0f32]])
        .collect();
    let stop = if kind == vk::IndexType::UINT16 { 0xffff } else { u32::MAX };
    let indices = [0, 1, 2, 3, stop, 4, 5, 6, 7];
    let state = State { vertex: POINTS, topology: T::TRIANGLE_STRIP, restart: true, ..State::default() };
    let indices = match kind {
        vk::IndexType::UINT16 => gpu.buffer_with(&indices.map(|index: u32| index as u16))?,
        _ => gpu.buffer_with(&indices)?,
    };
    let kind = Kind::Indexed { buffer: gpu.buffer_with(&positions)?, indices, count: 9, kind };
    red(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, RED) }], 14 * 16)
}

case!("drawing.indirect.two_draws", "Programmable Primitive Shading", indirect);

fn indirect(gpu: &Gpu) -> Case {
    let buffer = gpu.buffer_with(&[3u32, 1, 0, 0, 3, 1, 3, 0])?;
    let kind = Kind::Indirect { buffer, count: if gpu.features.multi_draw_indirect != 0 { 2 } else { 1 } };
    let expected = if gpu.features.multi_draw_indirect != 0 { 256 } else { 136 };
    red(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(State::default(), FULL, RED) }], expected)
}
