//! Draws of patches: watertight edges, indices, restarts, instances, order.

use ash::vk;
use ash::vk::QueryPipelineStatisticFlags as F;

use super::model::{self, Domain, Spacing};
use crate::cases::queries::pipeline_statistics::{pool, results};
use crate::cases::tessellation::patches::{
    COORDINATES, EDGES, IDS, LEVELS, additive, captured, grid, of_size, pictures, squares, state, supported,
    with_levels,
};
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{Draw, Kind, TRIANGLES, Target, render};

const CORNERS: [&[u8]; 2] = [shader!("corners.tesc"), shader!("corners.tese")];

/// Checks that patches that share edges of equal levels cover each pixel once.
fn watertight(gpu: &Gpu, shaders: [&'static [u8]; 2], halves: bool) -> Case {
    supported(gpu)?;
    let side = 256;
    let kind = grid(gpu, (8, halves))?;
    for (number, scale) in [[1.0, 0.0], [1.0, 6.0], [2.0, 10.0], [3.0, 1.0]].into_iter().enumerate() {
        for spacing in Spacing::ALL {
            let evaluation = model::of_spacing(shaders[1], spacing);
            let state = state(TRIANGLES, [shaders[0], evaluation], if halves { 3 } else { 4 });
            let draw =
                Draw { kind, ..Draw::rect(additive(of_size(state, side)), [scale[0], scale[1], 0.0, 0.0], [1.0; 4]) };
            let pixels = render(gpu, &Target { size: [side; 2], ..Target::default() }, &[draw])?;
            // Each fragment adds half of alpha.
            let wrong = pixels.iter().filter(|pixel| !(127..=128).contains(&pixel[3])).count();
            check(wrong == 0, || {
                format!("levels {number}, {}: {wrong} pixels are covered not just once", spacing.name())
            })?;
        }
    }
    Ok(())
}

case!("tessellation.draws.watertight_quads", "Tessellation", watertight_quads);

fn watertight_quads(gpu: &Gpu) -> Case {
    watertight(gpu, EDGES, false)
}

case!("tessellation.draws.watertight_triangles", "Tessellation", watertight_triangles);

fn watertight_triangles(gpu: &Gpu) -> Case {
    watertight(gpu, CORNERS, true)
}

fn buffer_of(kind: Kind) -> (Buffer, u32) {
    match kind {
        Kind::VertexBuffer { buffer, count } => (buffer, count),
        _ => unreachable!("a grid is a buffer of vertices"),
    }
}

case!("tessellation.draws.indexed", "Tessellation", indexed);

/// Checks indexed patches.
fn indexed(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let kind = grid(gpu, (5, false))?;
    let (buffer, count) = buffer_of(kind);
    let expected = pictures(gpu, &[squares(kind)])?;
    let indices = gpu.buffer_with(&(0..count).collect::<Vec<u32>>())?;
    let indexed = Kind::Indexed { buffer, indices, count, kind: vk::IndexType::UINT32 };
    check(pictures(gpu, &[squares(indexed)])? == expected, || "indices make another picture".into())
}

case!("tessellation.draws.restarts", "Tessellation", restarts);

/// Checks that a restart drops the vertices of an incomplete patch.
fn restarts(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.extension_features.list_restart.primitive_topology_patch_list_restart == 0 {
        return Err(Outcome::NotSupported("primitiveTopologyPatchListRestart".into()));
    }
    let kind = grid(gpu, (5, false))?;
    let (buffer, count) = buffer_of(kind);
    let expected = pictures(gpu, &[squares(kind)])?;
    let mut numbers = Random::new(4);
    let mut all: Vec<u16> = Vec::new();
    for patch in 0..count as u16 / 4 {
        // Some vertices of an incomplete patch, and a restart.
        all.extend((0..numbers.below(4) as u16).map(|vertex| vertex * 7));
        all.push(u16::MAX);
        all.extend(patch * 4..patch * 4 + 4);
        if numbers.one_in(3) {
            all.push(u16::MAX);
        }
        if all.last() != Some(&u16::MAX) {
            all.push(u16::MAX);
        }
    }
    let indices = gpu.buffer_with(&[&all[..], &[0; 2][..all.len() % 2]].concat())?;
    let mut draw = squares(Kind::Indexed { buffer, indices, count: all.len() as u32, kind: vk::IndexType::UINT16 });
    draw.state.restart = true;
    check(pictures(gpu, &[draw])? == expected, || "restarts make another picture".into())
}

case!("tessellation.draws.instances", "Tessellation", instances);

/// Checks that each instance has its own patches, numbered from 0.
fn instances(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let kind = Kind::Instances { first: 3, count: 300 };
    let (words, primitives) =
        captured(gpu, with_levels(state(IDS, [LEVELS, COORDINATES], 3), [1.0; 6], kind), (32, 600 * 3))?;
    check(primitives == 600, || format!("{primitives} primitives of 300 instances of 2 patches"))?;
    for (vertex, words) in words.chunks_exact(8).enumerate() {
        let (instance, patch) = (vertex as u32 / 6, vertex as u32 / 3 % 2);
        let ids = [0, 1, 2].map(|corner| (instance + 3) * 1000 + patch * 3 + corner);
        let good = words[4..7] == ids && f32::from_bits(words[3]) == patch as f32;
        check(good, || format!("vertex {vertex}: {words:?}, instance {instance}, patch {patch}"))?;
    }
    Ok(())
}

case!("tessellation.draws.indirect", "Tessellation", indirect);

fn indirect(gpu: &Gpu) -> Case {
    supported(gpu)?;
    // Two draws, of two patches and of one.
    let buffer = gpu.buffer_with(&[[6u32, 1, 0, 0], [3, 1, 9, 0]])?;
    let kind = if gpu.features.multi_draw_indirect == 0 { 1 } else { 2 };
    let draw = with_levels(state(IDS, [LEVELS, COORDINATES], 3), [1.0; 6], Kind::Indirect { buffer, count: kind });
    let (words, primitives) = captured(gpu, draw, (32, 9))?;
    check(primitives == u64::from(kind) + 1, || format!("{primitives} primitives"))?;
    let last = &words[(primitives as usize * 3 - 1) * 8..][..8];
    let expected = if kind == 2 { [9, 10, 11] } else { [3, 4, 5] };
    check(last[4..7] == expected, || format!("the last vertex: {last:?}"))
}

case!("tessellation.draws.incomplete", "Tessellation", incomplete);

/// Checks that vertices of an incomplete patch are ignored.
fn incomplete(gpu: &Gpu) -> Case {
    supported(gpu)?;
    for (count, expected) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (1001, 333)] {
        let draw = with_levels(state(IDS, [LEVELS, COORDINATES], 3), [1.0; 6], Kind::Vertices(count));
        let (_, primitives) = captured(gpu, draw, (32, 333 * 3))?;
        check(primitives == expected, || format!("{count} vertices: {primitives} primitives"))?;
    }
    Ok(())
}

case!("tessellation.draws.blended_in_order", "Tessellation", blended_in_order);

/// Checks that primitives are blended in the order of the patches, also with other draws between
/// them.
fn blended_in_order(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let mut numbers = Random::new(12);
    let mut float = || numbers.below(2001) as f32 / 1000.0 - 1.0;
    let patches = 400;
    let vertices: Vec<[[f32; 4]; 2]> = (0..patches * 4)
        .map(|_| [[float(), float(), 0.5, 1.0], [float() * 0.5 + 0.5, float() * 0.5 + 0.5, float() * 0.5 + 0.5, 0.5]])
        .collect();
    let drawn = |kind| {
        let mut draw = squares(kind);
        draw.state.blend = vk::PipelineColorBlendAttachmentState {
            blend_enable: vk::TRUE,
            src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
            dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
            ..draw.state.blend
        };
        draw
    };
    let whole = drawn(Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: patches * 4 });
    let of_each = |patch: usize| {
        let buffer = gpu.buffer_with(&vertices[patch * 4..patch * 4 + 4])?;
        Ok(drawn(Kind::VertexBuffer { buffer, count: 4 }))
    };
    let each: Vec<Draw> = (0..patches as usize).map(of_each).collect::<Result<_, Outcome>>()?;
    let (whole, each) = (pictures(gpu, &[whole])?, pictures(gpu, &each)?);
    let different = whole.iter().zip(&each).filter(|(a, b)| a != b).count();
    check(different == 0, || format!("{different} pixels differ"))
}

case!("tessellation.draws.large", "Tessellation", large);

/// Draws two million triangles of 250 patches.
fn large(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let pool = pool(gpu, F::TESSELLATION_CONTROL_SHADER_PATCHES | F::CLIPPING_INVOCATIONS)?;
    let evaluation = model::of_domain(COORDINATES, Domain::Quads);
    let draw = with_levels(state(IDS, [LEVELS, evaluation], 3), [64.0; 6], Kind::Vertices(750));
    let pixels = render(gpu, &Target::default(), &[Draw { query: Some(pool), ..draw }])?;
    let counts: [u64; 2] = results(gpu, pool)?;
    check(counts == [250 * 8192, 250], || format!("{counts:?}"))?;
    // Blue is the third coordinate, alpha the number of the patch, clamped. The last patch is on
    // top.
    let good = |pixel: &[u8; 4]| pixel[2] == 0 && pixel[3] == 255;
    check(pixels.iter().all(good), || "pixels are missing".into())
}
