//! Tessellation: inputs and outputs of control shaders, primitive generation from levels, and
//! evaluation shaders.

use ash::vk;
use ash::vk::{PrimitiveTopology as T, QueryPipelineStatisticFlags as F};

use super::model::{self, Domain, Modes, Order, Spacing};
use crate::Entry;
use crate::cases::queries::pipeline_statistics::{pool, results};
use crate::cases::support::conditions::need_version;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{Capture, CaptureQuery, CaptureRange, Draw, Kind, Patches, RECT, State, TRIANGLES, Target, render};

pub(super) static IDS: &[u8] = shader!("ids.vert");

pub(super) const LEVELS: &[u8] = shader!("levels.tesc");
pub(super) const COORDINATES: &[u8] = shader!("coordinates.tese");
const NUMBERS: &[u8] = shader!("numbers.tese");

const COUNTS: [(u32, &[u8]); 3] =
    [(4, shader!("numbers_4.tesc")), (17, shader!("numbers_17.tesc")), (32, shader!("numbers_32.tesc"))];

pub(super) const EDGES: [&[u8]; 2] = [shader!("edges.tesc"), shader!("edges.tese")];
const HOSTILE: [&[u8]; 2] = [shader!("hostile.tesc"), shader!("hostile.tese")];
const MAX_VARIABLES: [&[u8]; 2] = [shader!("patch_most.tesc"), shader!("patch_most.tese")];
const KINDS: [&[u8]; 2] = [shader!("patch_kinds.tesc"), shader!("patch_kinds.tese")];
const SUBGROUP: &[u8] = shader!("subgroup.tesc");
const PATCH_NUMBERS: &[u8] = shader!("patch_numbers.geom");
const THROUGH_TRIANGLES: &[u8] = shader!("through_triangles.geom");
const THROUGH_LINES: &[u8] = shader!("through_lines.geom");
const PRIMITIVE_ID: &[u8] = shader!("primitive_id.frag");

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for domain in Domain::ALL {
        for (spacing, order) in Spacing::ALL.into_iter().flat_map(|s| Order::ALL.map(|order| (s, order))) {
            let name = format!("tessellation.{}.{}_{}", domain.name(), spacing.name(), order.name());
            let run = move |gpu: &Gpu| coordinates(gpu, Modes { domain, spacing, order });
            cases.push(Entry::new(name, "Tessellation Primitive Generation", run));
        }
    }
    for (count, control) in COUNTS {
        let run = move |gpu: &Gpu| control_points(gpu, (count, control));
        let name = format!("tessellation.control.{count}_vertices");
        cases.push(Entry::new(name, "Tessellation Control Shaders", run));
    }
}

pub(super) fn supported(gpu: &Gpu) -> Case {
    match gpu.features.tessellation_shader {
        0 => Err(Outcome::NotSupported("tessellationShader".into())),
        _ => Ok(()),
    }
}

fn stores(gpu: &Gpu) -> Case {
    match gpu.features.vertex_pipeline_stores_and_atomics {
        0 => Err(Outcome::NotSupported("vertexPipelineStoresAndAtomics".into())),
        _ => Ok(()),
    }
}

pub(super) fn state(vertex: &'static [u8], [control, evaluation]: [&'static [u8]; 2], vertices: u32) -> State {
    let mut state = State { vertex, topology: T::PATCH_LIST, ..State::default() };
    state.extensions.patches = Some(Patches { control, evaluation, vertices, lower_left: false });
    state
}

/// Returns a draw with four outer and two inner levels.
pub(super) fn with_levels(state: State, levels: [f32; 6], kind: Kind) -> Draw {
    let [a, b, c, d, inner @ ..] = levels;
    Draw { kind, ..Draw::rect(state, [a, b, c, d], [inner[0], inner[1], 0.0, 1.0]) }
}

/// Draws with transform feedback. Returns the words of captured vertices, which have `stride`
/// bytes each, and the number of primitives.
pub(super) fn captured(gpu: &Gpu, draw: Draw, (stride, most): (u64, u64)) -> Result<(Vec<u32>, u64), Outcome> {
    gpu.need(vk::EXT_TRANSFORM_FEEDBACK_NAME)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info.query_count(1), None) }?;
    let buffer = gpu.buffer(stride * most)?;
    let capture = Capture {
        buffers: vec![CaptureRange { buffer, offset: 0, size: stride * most }],
        queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
        ..Capture::default()
    };
    render(gpu, &Target::default(), &[Draw { capture: Some(capture), ..draw }])?;
    let [written, needed]: [u64; 2] = results(gpu, pool)?;
    check(written == needed, || format!("{written} primitives of {needed} were written"))?;
    Ok((buffer.words(), needed))
}

/// Compares every mode, with many levels, with the model.
fn coordinates(gpu: &Gpu, modes: Modes) -> Case {
    supported(gpu)?;
    let Modes { domain, spacing, order } = modes;
    let evaluation = model::with_modes(COORDINATES, modes);
    let mut numbers = Random::new(7);
    let mut level = |most: u32| 1.0 + numbers.below(most * 16) as f32 / 16.0;
    let mut all = vec![[1.0; 6], [64.0; 6], [2.0; 6], [3.0; 6], [1.0, 1.0, 1.0, 1.0, 5.0, 1.0]];
    all.extend([4, 4, 9, 20, 63].map(|most| [0; 6].map(|_| level(most))));
    all.push([100.0, 3.25, 1.5, 70.0, 0.5, -2.0]);
    for levels in all {
        let of_each = order.corners(domain);
        let state = state(IDS, [LEVELS, evaluation], 3);
        let (words, primitives) =
            captured(gpu, with_levels(state, levels, Kind::Vertices(6)), (32, 2 * 8192 * of_each as u64))?;
        let vertices: Vec<&[u32]> = words.chunks_exact(8).take(primitives as usize * of_each).collect();
        for (patch, ids) in [[0, 1, 2], [3, 4, 5]].into_iter().enumerate() {
            let of_patch = |vertex: &&&[u32]| f32::from_bits(vertex[3]) == patch as f32;
            let own: Vec<[f32; 3]> = vertices
                .iter()
                .filter(of_patch)
                .map(|vertex| [0, 1, 2].map(|word| f32::from_bits(vertex[word])))
                .collect();
            let good = vertices.iter().filter(of_patch).all(|vertex| vertex[4..7] == ids && vertex[7] == 3);
            check(good && !own.is_empty(), || format!("patch {patch}: what the control shader left is not there"))?;
            model::verify(modes, &levels, &own).map_err(|problem| {
                Outcome::Fail(format!("{} {} {levels:?}: {problem}", domain.name(), spacing.name()))
            })?;
        }
    }
    Ok(())
}

/// Checks patches of any number of input vertices with several numbers of outputs, where every
/// invocation reads the others' outputs behind a barrier.
fn control_points(gpu: &Gpu, (count, control): (u32, &'static [u8])) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    gpu.need(vk::EXT_TRANSFORM_FEEDBACK_NAME)?;
    for given in [1, 2, 3, 4, 5, 7, 16, 17, 31, 32] {
        let patches = [1, 3, 40, 150][given as usize % 4];
        let records = gpu.buffer_with(&vec![0u32; 1 + (patches * 32 * 4) as usize])?;
        let state = state(IDS, [control, NUMBERS], given);
        let draw = Draw { storage: Some(records), ..with_levels(state, [1.0; 6], Kind::Vertices(patches * given)) };
        let (captured, primitives) = captured(gpu, draw, (32, u64::from(patches) * 3))?;
        let words = records.words();
        let calls = patches * count;
        check(words[0] == calls && primitives == u64::from(patches), || {
            format!("{given} vertices: {} calls instead of {calls}, {primitives} primitives", words[0])
        })?;
        let id = |patch: u32, vertex: u32| patch * given + vertex % count % given;
        for patch in 0..patches {
            let sum: u32 = (0..count).map(|vertex| id(patch, vertex)).sum();
            for vertex in 0..count {
                let at = 1 + ((patch * 32 + vertex) * 4) as usize;
                let expected = [id(patch, vertex), id(patch, vertex + 1), sum, given];
                check(words[at..at + 4] == expected, || {
                    format!("{given} vertices, patch {patch}, {vertex}: {:?}, not {expected:?}", &words[at..at + 4])
                })?;
            }
            for corner in captured[patch as usize * 24..][..24].chunks(8) {
                let expected = [sum, sum, given, count];
                check(corner[4..] == expected, || {
                    format!("{given} vertices, patch {patch}: evaluated {:?}, not {expected:?}", &corner[4..])
                })?;
            }
        }
    }
    Ok(())
}

case!("tessellation.control.patch_variables", "Tessellation", patch_variables);

fn patch_variables(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.features.shader_float64 == 0 {
        return Err(Outcome::NotSupported("shaderFloat64".into()));
    }
    let draw = with_levels(state(IDS, KINDS, 1), [1.0; 6], Kind::Vertices(3));
    let pixels = render(gpu, &Target::default(), &[draw])?;
    match pixels.iter().find(|pixel| **pixel != [255; 4]) {
        Some(pixel) => Err(Outcome::Fail(format!("{pixel:?}: bits of red say what is wrong"))),
        None => Ok(()),
    }
}

case!("tessellation.control.patch_components", "Tessellation", patch_components);

/// Passes 128 components of a patch.
fn patch_components(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.properties.limits.max_tessellation_control_per_patch_output_components < 128 {
        return Err(Outcome::NotSupported("128 components of a patch".into()));
    }
    // One triangle, larger than the target.
    let draw = Draw::rect(state(RECT, MAX_VARIABLES, 3), [-1.0, -1.0, 3.0, 3.0], [0.0; 4]);
    let pixels = render(gpu, &Target::default(), &[Draw { kind: Kind::Vertices(3), ..draw }])?;
    check(pixels.iter().all(|pixel| *pixel == [0, 255, 0, 255]), || format!("{:?}", pixels[0]))
}

case!("tessellation.control.subgroups", "Tessellation", subgroups);

fn subgroups(gpu: &Gpu) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    need_version(gpu, vk::API_VERSION_1_1)?;
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    if !own.supported_stages.contains(vk::ShaderStageFlags::TESSELLATION_CONTROL) {
        return Err(Outcome::NotSupported("subgroups of control shaders".into()));
    }
    let count = 33 * 5;
    let records = gpu.buffer_with(&vec![0u32; 1 + 4 * count])?;
    let draw = with_levels(state(IDS, [SUBGROUP, COORDINATES], 3), [1.0; 6], Kind::Vertices(99));
    render(gpu, &Target::default(), &[Draw { storage: Some(records), ..draw }])?;
    let words = records.words();
    check(words[0] as usize == count, || format!("{} calls", words[0]))?;
    let mut sum = 0;
    for record in words[1..].chunks(4) {
        let &[number, others, of_all, size] = record else { return Ok(()) };
        check(number < size && (1..=size).contains(&others), || format!("{record:?}"))?;
        sum += u64::from(of_all) * 1_000_000 / u64::from(others);
    }
    let expected = (count * (count - 1) / 2) as u64 * 1_000_000;
    check(sum.abs_diff(expected) < 1000, || format!("{sum} instead of {expected}"))
}

case!("tessellation.control.hostile_indices", "Tessellation", hostile);

/// Checks that indices far outside of their arrays do no harm.
fn hostile(gpu: &Gpu) -> Case {
    supported(gpu)?;
    for far in [5, 33, 4096, 1 << 20, i32::MAX, -1, i32::MIN, -100_000] {
        let mut draw = with_levels(state(IDS, HOSTILE, 3), [3.0, 4.0, 5.0, 2.0, 0.0, 0.0], Kind::Vertices(300));
        draw.color[0] = f32::from_bits(far as u32);
        render(gpu, &Target::default(), &[draw])?;
    }
    // The device is not lost, and draws as usual.
    let draw =
        with_levels(state(IDS, [LEVELS, model::of_domain(COORDINATES, Domain::Quads)], 3), [2.0; 6], Kind::Vertices(3));
    let pixels = render(gpu, &Target::default(), &[draw])?;
    check(pixels.iter().all(|pixel| pixel[3] == 0), || "the patch has another number".into())?;
    check(pixels.iter().any(|pixel| *pixel != [0; 4]), || "nothing is drawn".into())
}

/// Returns the number of primitives of patches.
fn count(gpu: &Gpu, domain: Domain, levels: [f32; 6]) -> Result<u64, Outcome> {
    supported(gpu)?;
    let evaluation = model::of_domain(COORDINATES, domain);
    let draw = with_levels(state(IDS, [LEVELS, evaluation], 3), levels, Kind::Vertices(3));
    Ok(captured(gpu, draw, (32, 8192 * 3))?.1)
}

/// A domain, its levels, and the number of primitives that they give.
struct Expected(Domain, [f32; 6], u64);

fn expect(gpu: &Gpu, all: &[Expected]) -> Case {
    for &Expected(domain, levels, expected) in all {
        let got = count(gpu, domain, levels)?;
        check(got == expected, || format!("{} {levels:?}: {got} primitives, not {expected}", domain.name()))?;
    }
    Ok(())
}

case!("tessellation.levels.culled", "Tessellation", culled);

/// Checks that a patch with a relevant outer level that is not positive is discarded.
fn culled(gpu: &Gpu) -> Case {
    for (domain, outer) in [(Domain::Triangles, 3), (Domain::Quads, 4), (Domain::Isolines, 2)] {
        for (edge, level) in (0..outer).flat_map(|edge| [0.0, -0.0, -1.0, f32::NEG_INFINITY].map(|level| (edge, level)))
        {
            let mut levels = [2.0; 6];
            levels[edge] = level;
            expect(gpu, &[Expected(domain, levels, 0)])?;
        }
    }
    Ok(())
}

case!("tessellation.levels.ignored", "Tessellation", ignored);

/// Checks that irrelevant levels have no effect.
fn ignored(gpu: &Gpu) -> Case {
    expect(
        gpu,
        &[
            Expected(Domain::Triangles, [1.0, 1.0, 1.0, 0.0, 1.0, 0.0], 1),
            Expected(Domain::Triangles, [2.0, 2.0, 2.0, f32::NAN, 2.0, f32::NAN], 6),
            Expected(Domain::Isolines, [3.0, 5.0, 0.0, -1.0, 0.0, 0.0], 15),
            Expected(Domain::Isolines, [3.0, 5.0, f32::NAN, f32::NAN, f32::NAN, f32::NAN], 15),
        ],
    )
}

case!("tessellation.levels.clamped", "Tessellation", clamped);

/// Checks that levels are clamped to the limits.
fn clamped(gpu: &Gpu) -> Case {
    expect(
        gpu,
        &[
            Expected(Domain::Quads, [64.0; 6], 8192),
            Expected(Domain::Quads, [1e30; 6], 8192),
            Expected(Domain::Quads, [f32::INFINITY; 6], 8192),
            Expected(Domain::Quads, [1.0, 1.0, 1.0, 1.0, 0.0, -5.0], 2),
            Expected(Domain::Triangles, [0.001, 0.5, 1.0, 1.0, -1.0, 1.0], 1),
            Expected(Domain::Isolines, [1000.0, 1000.0, 1.0, 1.0, 1.0, 1.0], 4096),
        ],
    )
}

case!("tessellation.levels.not_a_number", "Tessellation", not_a_number);

fn not_a_number(gpu: &Gpu) -> Case {
    let nan = f32::NAN;
    expect(
        gpu,
        &[
            Expected(Domain::Triangles, [2.0, nan, 2.0, 2.0, 2.0, 2.0], 0),
            Expected(Domain::Quads, [nan, 2.0, 2.0, 2.0, 2.0, 2.0], 0),
            Expected(Domain::Quads, [2.0, 2.0, 2.0, nan, 2.0, 2.0], 0),
            Expected(Domain::Isolines, [2.0, nan, 2.0, 2.0, 2.0, 2.0], 0),
        ],
    )?;
    // The result of an inner NaN is undefined, but there are primitives.
    let inner = count(gpu, Domain::Quads, [2.0, 2.0, 2.0, 2.0, nan, nan])?;
    check((1..=8192).contains(&inner), || format!("{inner} primitives"))
}

/// Returns a grid of squares over clip space with slightly moved corners: four vertices each, or
/// three for each half.
pub(super) fn grid(gpu: &Gpu, (side, halves): (u32, bool)) -> Result<Kind, Outcome> {
    let mut numbers = Random::new(u64::from(side));
    let mut corner = |x: u32, y: u32| {
        let mut moved = |at: u32| {
            let place = at as f32 / side as f32 * 2.0 - 1.0;
            let inside = at > 0 && at < side;
            place + if inside { (numbers.below(1000) as f32 / 1000.0 - 0.5) * 0.5 / side as f32 } else { 0.0 }
        };
        let position = [moved(x), moved(y), 0.5, 1.0];
        [position, [position[0] * 0.5 + 0.5, position[1] * 0.5 + 0.5, 0.25, 0.5]]
    };
    let corners: Vec<_> = (0..=side).flat_map(|y| (0..=side).map(move |x| (x, y))).map(|(x, y)| corner(x, y)).collect();
    let at = |x: u32, y: u32| corners[(y * (side + 1) + x) as usize];
    let mut vertices = Vec::new();
    for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
        let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
        match halves {
            false => vertices.extend([a, b, c, d]),
            true => vertices.extend([a, b, c, c, d, a]),
        }
    }
    Ok(Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 })
}

pub(super) fn of_size(mut state: State, side: u32) -> State {
    state.viewport = vk::Viewport { width: side as f32, height: side as f32, ..state.viewport };
    state.scissor.extent = vk::Extent2D { width: side, height: side };
    state
}

pub(super) fn additive(mut state: State) -> State {
    state.blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::ONE,
        dst_color_blend_factor: vk::BlendFactor::ONE,
        src_alpha_blend_factor: vk::BlendFactor::ONE,
        dst_alpha_blend_factor: vk::BlendFactor::ONE,
        ..state.blend
    };
    state
}

/// Returns the pictures of draws.
pub(super) fn pictures(gpu: &Gpu, draws: &[Draw]) -> Result<Vec<[u8; 4]>, Outcome> {
    render(gpu, &Target { size: [64; 2], ..Target::default() }, draws)
}

pub(super) fn squares(kind: Kind) -> Draw {
    Draw { kind, ..Draw::rect(of_size(state(TRIANGLES, EDGES, 4), 64), [1.0, 6.0, 0.0, 0.0], [1.0; 4]) }
}

case!("tessellation.evaluation.clip_distances", "Tessellation", clip_distances);

fn clip_distances(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.features.shader_clip_distance == 0 {
        return Err(Outcome::NotSupported("shaderClipDistance".into()));
    }
    let kind = grid(gpu, (3, false))?;
    let seen = |clips: f32| -> Result<usize, Outcome> {
        let draw = Draw { show: clips, ..squares(kind) };
        Ok(pictures(gpu, &[draw])?.iter().filter(|pixel| pixel[3] > 0).count())
    };
    let (whole, clipped) = (seen(0.0)?, seen(1.0)?);
    check(whole == 64 * 64 && clipped == 32 * 64, || format!("{whole} pixels, {clipped} when the left is cut off"))
}

case!("tessellation.evaluation.primitive_id", "Tessellation", primitive_id);

/// Checks that fragments see the number of their patch.
fn primitive_id(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.features.geometry_shader == 0 {
        return Err(Outcome::NotSupported("geometryShader, for the number of a primitive".into()));
    }
    let kind = grid(gpu, (4, false))?;
    let mut draw = squares(kind);
    draw.state.fragment = PRIMITIVE_ID;
    let pixels = pictures(gpu, &[draw])?;
    for (x, y) in [(8, 8), (24, 8), (56, 8), (8, 40), (56, 56)] {
        let (got, expected) = (pixels[y * 64 + x][0], (y / 16 * 4 + x / 16) as u8);
        check(got == expected, || format!("({x}, {y}): patch {got} instead of {expected}"))?;
    }
    Ok(())
}

case!("tessellation.evaluation.side_effects", "Tessellation", side_effects);

/// Checks that control shaders run once for each vertex of each patch, even where nothing is
/// rasterized or all patches are culled.
fn side_effects(gpu: &Gpu) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    for discards in [false, true] {
        let records = gpu.buffer_with(&vec![0u32; 1 + 100 * 32 * 4])?;
        let mut state = state(IDS, [COUNTS[1].1, NUMBERS], 3);
        state.raster.rasterizer_discard_enable = vk::Bool32::from(discards);
        let draw = Draw { storage: Some(records), ..with_levels(state, [1.0; 6], Kind::Vertices(300)) };
        render(gpu, &Target::default(), &[draw])?;
        let calls = records.words()[0];
        check(calls == 100 * 17, || format!("{calls} calls"))?;
    }
    Ok(())
}

/// Checks that a geometry shader that passes primitives on changes nothing.
fn through(gpu: &Gpu, (domain, geometry): (Domain, &'static [u8])) -> Case {
    supported(gpu)?;
    if gpu.features.geometry_shader == 0 {
        return Err(Outcome::NotSupported("geometryShader".into()));
    }
    let kind = grid(gpu, (6, false))?;
    let mut plain = squares(kind);
    if let Some(patches) = &mut plain.state.extensions.patches {
        patches.evaluation = model::of_domain(EDGES[1], domain);
    }
    plain.state = additive(plain.state);
    plain.state.raster.cull_mode = vk::CullModeFlags::BACK;
    let mut with = plain.clone();
    with.state.extensions.geometry = Some(geometry);
    let (with, plain) = (pictures(gpu, &[with])?, pictures(gpu, &[plain])?);
    let (seen, different) =
        (plain.iter().filter(|pixel| pixel[3] > 0).count(), with.iter().zip(&plain).filter(|(a, b)| a != b).count());
    check(seen > 300 && different == 0, || format!("{different} pixels differ, {seen} are seen"))
}

case!("tessellation.geometry.triangles", "Tessellation", geometry_triangles);

fn geometry_triangles(gpu: &Gpu) -> Case {
    through(gpu, (Domain::Quads, THROUGH_TRIANGLES))
}

case!("tessellation.geometry.lines", "Tessellation", geometry_lines);

fn geometry_lines(gpu: &Gpu) -> Case {
    through(gpu, (Domain::Isolines, THROUGH_LINES))
}

case!("tessellation.geometry.patch_numbers", "Tessellation", geometry_numbers);

/// Checks that geometry shaders see the numbers of patches.
fn geometry_numbers(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.features.geometry_shader == 0 {
        return Err(Outcome::NotSupported("geometryShader".into()));
    }
    let mut draw = squares(grid(gpu, (4, false))?);
    draw.state.extensions.geometry = Some(PATCH_NUMBERS);
    let pixels = pictures(gpu, &[draw])?;
    for (x, y) in [(8, 8), (24, 8), (56, 8), (8, 40), (56, 56)] {
        let (got, expected) = (pixels[y * 64 + x][0], (y / 16 * 4 + x / 16) as u8);
        check(got == expected, || format!("({x}, {y}): patch {got} instead of {expected}"))?;
    }
    Ok(())
}

case!("tessellation.feedback.overflow", "Tessellation", feedback_overflow);

/// Checks that complete primitives are captured as long as there is room.
fn feedback_overflow(gpu: &Gpu) -> Case {
    supported(gpu)?;
    gpu.need(vk::EXT_TRANSFORM_FEEDBACK_NAME)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT);
    // SAFETY: the info is valid.
    let pool = unsafe { gpu.device.create_query_pool(&info.query_count(1), None) }?;
    let buffer = gpu.buffer_with(&vec![0xdead_beefu32; 8 * 1000])?;
    // Room for 100 triangles and a part of one.
    let size = 32 * 3 * 100 + 64;
    let capture = Capture {
        buffers: vec![CaptureRange { buffer, offset: 0, size }],
        queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
        ..Capture::default()
    };
    let draw = with_levels(state(IDS, [LEVELS, COORDINATES], 3), [8.0; 6], Kind::Vertices(30));
    render(gpu, &Target::default(), &[Draw { capture: Some(capture), ..draw }])?;
    let counts: [u64; 2] = results(gpu, pool)?;
    // Levels of 8 make rings of 24 and 18, 18 and 12, 12 and 6, and 6 triangles.
    check(counts == [100, 960], || format!("{counts:?}"))?;
    let words = buffer.words();
    let end = 8 * 300;
    let good =
        words[..end].chunks(8).all(|vertex| vertex[7] == 3) && words[end..].iter().all(|&word| word == 0xdead_beef);
    check(good, || "other words are written".into())
}

case!("tessellation.feedback.generated", "Tessellation", feedback_generated);

/// Checks that primitives are counted without transform feedback, and where they are discarded.
fn feedback_generated(gpu: &Gpu) -> Case {
    supported(gpu)?;
    gpu.need(vk::EXT_PRIMITIVES_GENERATED_QUERY_NAME)?;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::PRIMITIVES_GENERATED_EXT);
    for discards in [false, true] {
        if discards && gpu.extension_features.generated.primitives_generated_query_with_rasterizer_discard == 0 {
            continue;
        }
        // SAFETY: the info is valid.
        let pool = unsafe { gpu.device.create_query_pool(&info.query_count(1), None) }?;
        let capture = Capture {
            queries: vec![CaptureQuery { pool, query: 0, stream: 0 }],
            only_queries: true,
            ..Capture::default()
        };
        let mut state = state(IDS, [LEVELS, COORDINATES], 3);
        state.raster.rasterizer_discard_enable = vk::Bool32::from(discards);
        let draw = with_levels(state, [8.0; 6], Kind::Vertices(30));
        render(gpu, &Target::default(), &[Draw { capture: Some(capture), ..draw }])?;
        let [count]: [u64; 1] = results(gpu, pool)?;
        check(count == 960, || format!("{count} primitives"))?;
    }
    Ok(())
}

case!("tessellation.queries.statistics", "Tessellation", statistics);

fn statistics(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let named = F::INPUT_ASSEMBLY_VERTICES
        | F::INPUT_ASSEMBLY_PRIMITIVES
        | F::VERTEX_SHADER_INVOCATIONS
        | F::CLIPPING_INVOCATIONS
        | F::TESSELLATION_CONTROL_SHADER_PATCHES
        | F::TESSELLATION_EVALUATION_SHADER_INVOCATIONS;
    let pool = pool(gpu, named)?;
    let evaluation = model::of_domain(COORDINATES, Domain::Quads);
    let draw = with_levels(state(IDS, [LEVELS, evaluation], 3), [4.0; 6], Kind::Vertices(31));
    render(gpu, &Target::default(), &[Draw { query: Some(pool), ..draw }])?;
    let [vertices, primitives, shaded, clipped, patches, evaluated]: [u64; 6] = results(gpu, pool)?;
    // Inputs of an incomplete primitive may or may not be counted.
    let good = (30..=31).contains(&vertices) && primitives == 10 && (30..=31).contains(&shaded);
    // Each of the 25 vertices of a patch is evaluated at least once.
    let evaluates = (250..=960).contains(&evaluated);
    check(good && clipped == 320 && patches == 10 && evaluates, || {
        format!("{vertices} {primitives} {shaded} {clipped} {patches} {evaluated}")
    })
}

/// Checks that a picture of patches stays the same with a changed pipeline.
fn same_with(gpu: &Gpu, change: impl Fn(&mut State)) -> Case {
    supported(gpu)?;
    let kind = grid(gpu, (5, false))?;
    let plain = squares(kind);
    let mut other = plain.clone();
    change(&mut other.state);
    check(pictures(gpu, &[plain])? == pictures(gpu, &[other])?, || "the pictures differ".into())
}

case!("tessellation.state.dynamic", "Tessellation", dynamic);

/// Checks all dynamic state with patches.
fn dynamic(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_EXTENDED_DYNAMIC_STATE2_NAME)?;
    if gpu.extension_features.dynamic_state2.extended_dynamic_state2_patch_control_points == 0 {
        return Err(Outcome::NotSupported("extendedDynamicState2PatchControlPoints".into()));
    }
    same_with(gpu, |state| (state.dynamic, state.extended) = (true, true))?;
    gpu.need(vk::EXT_EXTENDED_DYNAMIC_STATE3_NAME)?;
    if gpu.extension_features.dynamic_state3.extended_dynamic_state3_tessellation_domain_origin == 0 {
        return Ok(());
    }
    same_with(gpu, |state| {
        (state.dynamic, state.extended, state.dynamic3) = (true, true, true);
        state.raster.cull_mode = vk::CullModeFlags::BACK;
    })
}

case!("tessellation.state.linked", "Tessellation", linked);

/// Checks tessellation shaders in pipeline libraries.
fn linked(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_GRAPHICS_PIPELINE_LIBRARY_NAME)?;
    same_with(gpu, |state| state.linked = true)
}

case!("tessellation.state.domain_origin", "Tessellation", domain_origin);

/// Checks that the domain origin changes the winding of triangles.
fn domain_origin(gpu: &Gpu) -> Case {
    supported(gpu)?;
    need_version(gpu, vk::API_VERSION_1_1)?;
    let kind = grid(gpu, (2, false))?;
    for (lower_left, order, cull) in [false, true].into_iter().flat_map(|origin| {
        [Order::Clockwise, Order::Counter].into_iter().flat_map(move |order| {
            [vk::CullModeFlags::BACK, vk::CullModeFlags::FRONT].map(|cull| (origin, order, cull))
        })
    }) {
        let mut draw = squares(kind);
        if let Some(patches) = &mut draw.state.extensions.patches {
            patches.lower_left = lower_left;
            patches.evaluation =
                model::with_modes(EDGES[1], Modes { domain: Domain::Quads, spacing: Spacing::Odd, order });
        }
        draw.state.raster.cull_mode = cull;
        // Positions follow u and v to the right and down. With an upper left origin, clockwise
        // triangles are clockwise on the screen.
        draw.state.raster.front_face = vk::FrontFace::CLOCKWISE;
        let is_front = (order == Order::Clockwise) != lower_left;
        let expected = if is_front == (cull == vk::CullModeFlags::BACK) { 64 * 64 } else { 0 };
        let seen = pictures(gpu, &[draw])?.iter().filter(|pixel| pixel[3] > 0).count();
        check(seen == expected, || format!("{lower_left} {} {cull:?}: {seen} pixels, not {expected}", order.name()))?;
    }
    Ok(())
}
