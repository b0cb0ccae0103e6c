//! Vertex attributes at addresses that no component is aligned to, and of another type than the
//! shader's input. Source: `VK_EXT_legacy_vertex_attributes`.

use ash::vk::{self, Format as F};
use vitric_vulkan::names::EXT_LEGACY_VERTEX_ATTRIBUTES_NAME;

use crate::Entry;
use crate::harness::{Case, Gpu, check};
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, VertexLayout, render};

/// Strips of the target.
const STRIPS: u32 = 4;

/// Shares of red and green of each strip.
const SHARES: [[f32; 2]; STRIPS as usize] = [[0.0, 1.0], [0.25, 0.5], [0.5, 0.25], [1.0, 0.0]];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let formats = [
        ("rgba8", F::R8G8B8A8_UNORM),
        ("rgb10", F::A2B10G10R10_UNORM_PACK32),
        ("rg16", F::R16G16_UNORM),
        ("rgba16", F::R16G16B16A16_UNORM),
        ("rg16_half", F::R16G16_SFLOAT),
        ("rgb32", F::R32G32B32_SFLOAT),
        ("rgba32", F::R32G32B32A32_SFLOAT),
    ];
    for (name, format) in formats {
        for start in 0..4 {
            let run = move |gpu: &Gpu| addresses(gpu, format, start);
            let name = format!("vertices.legacy.{name}_at_{start}");
            cases.push(Entry::new(name, "Vertex Input Extraction", run));
        }
    }
}

/// Returns the bytes of a colour.
fn color(format: F, [red, green]: [f32; 2]) -> Vec<u8> {
    let unorm = |share: f32, largest: f32| (share * largest).round() as u32;
    let floats = |count: usize| [red, green, 0.0, 1.0][..count].iter().flat_map(|part| part.to_le_bytes()).collect();
    let shorts = |all: &[u32]| all.iter().flat_map(|code| (*code as u16).to_le_bytes()).collect();
    let half = |share: f32| if share == 0.0 { 0 } else { 0x3c00 - (-share.log2()) as u32 * 0x400 };
    match format {
        F::R8G8B8A8_UNORM => vec![unorm(red, 255.0) as u8, unorm(green, 255.0) as u8, 0, 255],
        F::A2B10G10R10_UNORM_PACK32 => {
            (unorm(red, 1023.0) | unorm(green, 1023.0) << 10 | 3 << 30).to_le_bytes().to_vec()
        }
        F::R16G16_UNORM => shorts(&[unorm(red, 65535.0), unorm(green, 65535.0)]),
        F::R16G16B16A16_UNORM => shorts(&[unorm(red, 65535.0), unorm(green, 65535.0), 0, 65535]),
        F::R16G16_SFLOAT => shorts(&[half(red), half(green)]),
        F::R32G32B32_SFLOAT => floats(3),
        _ => floats(4),
    }
}

/// Returns vertices of rectangles in strips from the left to the right.
fn vertices(layout: &VertexLayout) -> Vec<u8> {
    let mut bytes = vec![0xa5u8; layout.start as usize + (layout.stride * STRIPS * 6) as usize + 32];
    let corners = [[0u8, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]];
    for number in 0..STRIPS * 6 {
        let (strip, [right, low]) = (number / 6, corners[number as usize % 6]);
        let x = (strip as f32 + f32::from(right)) * 2.0 / STRIPS as f32 - 1.0;
        let position = [x, f32::from(low) * 2.0 - 1.0].into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
        let first = layout.start as usize + (number * layout.stride) as usize;
        let parts = [(layout.position.1, position), (layout.color.1, color(layout.color.0, SHARES[strip as usize]))];
        for (offset, part) in parts {
            bytes[first + offset as usize..][..part.len()].copy_from_slice(&part);
        }
    }
    bytes
}

/// Draws with all strides and offsets of attributes up to a few bytes.
fn addresses(gpu: &Gpu, format: F, start: u64) -> Case {
    gpu.need(EXT_LEGACY_VERTEX_ATTRIBUTES_NAME)?;
    for (stride, offset) in [(27, 0), (28, 1), (29, 2), (30, 3), (32, 4), (33, 0), (36, 3)] {
        let layout = VertexLayout { start, stride, position: (F::R32G32_SFLOAT, offset), color: (format, offset + 9) };
        let layout = VertexLayout { stride: stride.max(layout.color.1 + 16), ..layout };
        let mut state = State { vertex: TRIANGLES, dynamic3: true, ..State::default() };
        state.extensions.layout = Some(layout);
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices(&layout))?, count: STRIPS * 6 };
        let pixels = render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, [0.0; 4]) }])?;
        for (number, pixel) in (0..).zip(&pixels) {
            let [red, green] = SHARES[(number % SIZE * STRIPS / SIZE) as usize].map(|share| share * 255.0);
            let distance = |code: u8, share: f32| (f32::from(code) - share).abs();
            let is_right = distance(pixel[0], red) <= 1.0 && distance(pixel[1], green) <= 1.0;
            check(is_right, || format!("a stride of {stride}, an offset of {offset}, pixel {number}: {pixel:?}"))?;
        }
    }
    Ok(())
}

case!("vertices.legacy.types", "Vertex Input Extraction", types);

/// Draws with integers for floats of the shader. Any colour is allowed.
fn types(gpu: &Gpu) -> Case {
    gpu.need(EXT_LEGACY_VERTEX_ATTRIBUTES_NAME)?;
    for format in [F::R32G32B32A32_UINT, F::R16G16_SINT, F::R8G8B8A8_UINT] {
        let layout = VertexLayout { start: 1, stride: 31, position: (F::R32G32_SFLOAT, 3), color: (format, 13) };
        let mut state = State { vertex: TRIANGLES, dynamic3: true, ..State::default() };
        state.extensions.layout = Some(layout);
        state.blend.color_write_mask = vk::ColorComponentFlags::R;
        state.blend.blend_enable = vk::TRUE;
        state.blend.dst_color_blend_factor = vk::BlendFactor::ONE;
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices(&layout))?, count: STRIPS * 6 };
        let target = Target { clear: [0.0, 1.0, 0.0, 0.0], ..Target::default() };
        let pixels = render(gpu, &target, &[Draw { kind, ..Draw::rect(state, FULL, [0.0; 4]) }])?;
        check(pixels.iter().all(|pixel| pixel[1] == 255), || format!("{format:?}: {:?}", pixels[0]))?;
    }
    Ok(())
}
