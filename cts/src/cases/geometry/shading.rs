//! Geometry shaders: inputs of every topology, and primitives of emitted vertices.

use ash::vk;
use ash::vk::{PrimitiveTopology as T, QueryPipelineStatisticFlags as F};

use crate::Entry;
use crate::cases::queries::pipeline_statistics::{counted, pool, results};
use crate::cases::support::conditions::{need_last_provoking, need_version};
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{Draw, FULL, Kind, SIZE, State, TRIANGLES, Target, render};

static IDS: &[u8] = shader!("ids.vert");

const INPUTS: [&[u8]; 5] = [
    shader!("inputs_points.geom"),
    shader!("inputs_lines.geom"),
    shader!("inputs_triangles.geom"),
    shader!("inputs_lines_adjacency.geom"),
    shader!("inputs_triangles_adjacency.geom"),
];

const THROUGH: [&[u8]; 5] = [
    shader!("through_points.geom"),
    shader!("through_lines.geom"),
    shader!("through_triangles.geom"),
    shader!("through_lines_adjacency.geom"),
    shader!("through_triangles_adjacency.geom"),
];

const CELLS: &[u8] = shader!("cells.geom");
const MANY: &[u8] = shader!("many.geom");
const NUMBERED: &[u8] = shader!("numbered.geom");
const UNNUMBERED: &[u8] = shader!("unnumbered.geom");
const PRIMITIVE_ID: &[u8] = shader!("primitive_id.frag");
const CUT: &[u8] = shader!("cut.geom");
const SIZED: &[u8] = shader!("sized.geom");
const SUBGROUP: &[u8] = shader!("subgroup.geom");

/// All topologies: name, topology, number of the input type in the shaders, and whether primitive
/// restart applies.
pub(in crate::cases) const TOPOLOGIES: [(&str, T, usize, bool); 10] = [
    ("points", T::POINT_LIST, 0, false),
    ("lines", T::LINE_LIST, 1, false),
    ("line_strip", T::LINE_STRIP, 1, true),
    ("triangles", T::TRIANGLE_LIST, 2, false),
    ("triangle_strip", T::TRIANGLE_STRIP, 2, true),
    ("triangle_fan", T::TRIANGLE_FAN, 2, true),
    ("lines_adjacency", T::LINE_LIST_WITH_ADJACENCY, 3, false),
    ("line_strip_adjacency", T::LINE_STRIP_WITH_ADJACENCY, 3, true),
    ("triangles_adjacency", T::TRIANGLE_LIST_WITH_ADJACENCY, 4, false),
    ("triangle_strip_adjacency", T::TRIANGLE_STRIP_WITH_ADJACENCY, 4, true),
];

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for (name, topology, kind, restarts) in TOPOLOGIES {
        let mut add = |group: &str, run: Box<dyn Fn(&Gpu) -> Case + Send + Sync>| {
            cases.push(Entry::new(format!("geometry.{group}.{name}"), "Geometry Shading", move |gpu| run(gpu)));
        };
        add("inputs", Box::new(move |gpu| inputs(gpu, (topology, kind), Mode::default())));
        add("inputs_last", Box::new(move |gpu| inputs(gpu, (topology, kind), Mode { last: true, ..Mode::default() })));
        add("through", Box::new(move |gpu| through(gpu, (topology, kind))));
        if restarts {
            add("restarts", Box::new(move |gpu| inputs(gpu, (topology, kind), Mode { restarts: true, last: false })));
        }
    }
}

fn supported(gpu: &Gpu) -> Case {
    match gpu.features.geometry_shader {
        0 => Err(Outcome::NotSupported("geometryShader".into())),
        _ => Ok(()),
    }
}

fn stores(gpu: &Gpu) -> Case {
    match gpu.features.vertex_pipeline_stores_and_atomics {
        0 => Err(Outcome::NotSupported("vertexPipelineStoresAndAtomics".into())),
        _ => Ok(()),
    }
}

fn state(vertex: &'static [u8], geometry: &'static [u8]) -> State {
    let mut state = State { vertex, ..State::default() };
    state.extensions.geometry = Some(geometry);
    state
}

/// Returns the primitives of a topology by the specification's equations.
pub(in crate::cases) fn primitives(topology: T, v: &[u32]) -> Vec<Vec<u32>> {
    let count = match topology {
        T::POINT_LIST => v.len(),
        T::LINE_LIST => v.len() / 2,
        T::LINE_STRIP => v.len().saturating_sub(1),
        T::TRIANGLE_LIST => v.len() / 3,
        T::TRIANGLE_STRIP | T::TRIANGLE_FAN => v.len().saturating_sub(2),
        T::LINE_LIST_WITH_ADJACENCY => v.len() / 4,
        T::LINE_STRIP_WITH_ADJACENCY => v.len().saturating_sub(3),
        T::TRIANGLE_LIST_WITH_ADJACENCY => v.len() / 6,
        _ => v.len().saturating_sub(4) / 2,
    };
    let corners = |i: usize| match topology {
        T::POINT_LIST => vec![i],
        T::LINE_LIST => vec![2 * i, 2 * i + 1],
        T::LINE_STRIP => vec![i, i + 1],
        T::TRIANGLE_LIST => vec![3 * i, 3 * i + 1, 3 * i + 2],
        T::TRIANGLE_STRIP => vec![i, i + (1 + i % 2), i + (2 - i % 2)],
        T::TRIANGLE_FAN => vec![i + 1, i + 2, 0],
        T::LINE_LIST_WITH_ADJACENCY => (4 * i..4 * i + 4).collect(),
        T::LINE_STRIP_WITH_ADJACENCY => (i..i + 4).collect(),
        T::TRIANGLE_LIST_WITH_ADJACENCY => (6 * i..6 * i + 6).collect(),
        _ if count == 1 => vec![0, 1, 2, 5, 4, 3],
        _ if i == 0 => vec![0, 1, 2, 6, 4, 3],
        _ => {
            let far = if i == count - 1 { 2 * i + 5 } else { 2 * i + 6 };
            match i % 2 {
                1 => vec![2 * i, 2 * i + 3, 2 * i + 4, far, 2 * i + 2, 2 * i - 2],
                _ => vec![2 * i, 2 * i - 2, 2 * i + 2, far, 2 * i + 4, 2 * i + 3],
            }
        }
    };
    (0..count).map(|i| corners(i).into_iter().map(|corner| v[corner]).collect()).collect()
}

/// Moves the provoking corner of a primitive to the end, as OpenGL orders vertices if the last one
/// is provoking. The specification permits any order of the same winding.
fn end_with_provoking(topology: T, number: usize, vertices: &mut [u32]) {
    match topology {
        T::TRIANGLE_FAN => vertices.rotate_right(1),
        T::TRIANGLE_STRIP => vertices.rotate_right(number % 2),
        T::TRIANGLE_STRIP_WITH_ADJACENCY => vertices.rotate_right(number % 2 * 2),
        _ => {}
    }
}

/// How primitives are assembled.
#[derive(Clone, Copy, Default)]
struct Mode {
    /// True if primitives restart.
    restarts: bool,
    /// True if the last vertex is provoking.
    last: bool,
}

/// Checks the vertices that every invocation gets.
fn inputs(gpu: &Gpu, (topology, kind): (T, usize), Mode { restarts, last }: Mode) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    if last {
        need_last_provoking(gpu)?;
    }
    // Three invocations take each triangle.
    let invocations = if kind == 2 { 3 } else { 1 };
    for count in [0, 1, 3, 5, 6, 7, 8, 12, 13, 47, 300] {
        let mut numbers = Random::new(u64::from(count));
        let indices: Vec<u16> = (0..count)
            .map(|_| if restarts && numbers.one_in(9) { u16::MAX } else { numbers.below(40) as u16 })
            .collect();
        let runs = indices.split(|&index| restarts && index == u16::MAX);
        let expected: Vec<Vec<u32>> = runs
            .flat_map(|run| {
                let indices: Vec<u32> = run.iter().map(|&index| index.into()).collect();
                let mut primitives = primitives(topology, &indices);
                if last {
                    let all = primitives.iter_mut().enumerate();
                    all.for_each(|(number, vertices)| end_with_provoking(topology, number, vertices));
                }
                primitives
            })
            .collect();
        let records = gpu.buffer_with(&vec![u32::MAX; 1 + 8 * 310 * invocations])?;
        records.write(&0u32.to_le_bytes());
        let buffers = (gpu.buffer(16)?, gpu.buffer_with(&[&indices[..], &[0]].concat())?);
        let drawn = Kind::Indexed { buffer: buffers.0, indices: buffers.1, count, kind: vk::IndexType::UINT16 };
        let mut state = State { topology, restart: restarts, ..state(IDS, INPUTS[kind]) };
        state.extensions.provoking_last = last;
        let draw = Draw { kind: drawn, storage: Some(records), ..Draw::rect(state, FULL, [1.0; 4]) };
        render(gpu, &Target::default(), &[draw])?;
        let words = records.words();
        check(words[0] as usize == expected.len() * invocations, || {
            format!("{} calls for {} primitives", words[0], expected.len())
        })?;
        for (call, record) in words[1..].chunks(8).enumerate().take(expected.len() * invocations) {
            let (primitive, invocation) = (call / invocations, call % invocations);
            let vertices = &expected[primitive];
            let good = record[..2] == [primitive as u32, invocation as u32] && record[2..].starts_with(vertices);
            check(good, || format!("{count} indices, call {call}: {record:?} instead of {vertices:?}"))?;
        }
    }
    Ok(())
}

/// Returns vertices with colours, some of them far outside.
fn random(gpu: &Gpu, count: u32) -> Result<Kind, Outcome> {
    let mut numbers = Random::new(u64::from(count) + 5);
    let mut float = |scale: f32| (numbers.below(2001) as f32 / 1000.0 - 1.0) * scale;
    let vertex = |index: u32| {
        let reach = if index.is_multiple_of(5) { 3.0 } else { 1.0 };
        let position = [float(reach), float(reach), float(0.3) + 0.5, 1.0 + float(0.4)];
        [position, [float(0.5) + 0.5, float(0.5) + 0.5, float(0.5) + 0.5, 0.5]]
    };
    let vertices: Vec<[[f32; 4]; 2]> = (0..count).map(vertex).collect();
    Ok(Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count })
}

/// Checks that shaders that pass primitives on change nothing.
fn through(gpu: &Gpu, (topology, kind): (T, usize)) -> Case {
    supported(gpu)?;
    let drawn = random(gpu, 61)?;
    let mut states = vec![State { topology, ..state(TRIANGLES, THROUGH[kind]) }; 4];
    states[1].blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        ..states[1].blend
    };
    states[2].depth_stencil = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    if gpu.features.fill_mode_non_solid != 0 {
        states[3].raster.polygon_mode = vk::PolygonMode::LINE;
    }
    states[3].raster.cull_mode = vk::CullModeFlags::BACK;
    let target = Target { depth: vk::Format::D32_SFLOAT, size: [96, 80], ..Target::default() };
    for (number, mut state) in states.into_iter().enumerate() {
        state.viewport = vk::Viewport { width: 96.0, height: 80.0, ..state.viewport };
        state.scissor.extent = vk::Extent2D { width: 96, height: 80 };
        let draw = |state: &State| Draw { kind: drawn, ..Draw::rect(state.clone(), FULL, [1.0; 4]) };
        let through = render(gpu, &target, &[draw(&state)])?;
        state.extensions.geometry = None;
        let plain = render(gpu, &target, &[draw(&state)])?;
        let different = through.iter().zip(&plain).filter(|(through, plain)| through != plain).count();
        let seen = plain.iter().filter(|pixel| **pixel != [0; 4]).count();
        check(different == 0 && seen > 10, || format!("state {number}: {different} pixels differ, {seen} seen"))?;
    }
    Ok(())
}

fn pixels(gpu: &Gpu, geometry: &'static [u8], (topology, kind): (T, Kind)) -> Result<Vec<[u8; 4]>, Outcome> {
    supported(gpu)?;
    let state = State { topology, ..state(IDS, geometry) };
    render(gpu, &Target::default(), &[Draw { kind, ..Draw::rect(state, FULL, [1.0; 4]) }])
}

case!("geometry.emit.cells", "Geometry Shading", cells);

/// Runs invocations that emit different numbers of strips, some of them too short.
fn cells(gpu: &Gpu) -> Case {
    let got = pixels(gpu, CELLS, (T::POINT_LIST, Kind::Vertices(16)))?;
    for (at, got) in (0..).zip(got) {
        let (x, y) = (at % SIZE, at / SIZE);
        let expected = match x % 8 < y % 9 {
            true => [y as u8, (x % 8) as u8, (x / 8) as u8, 255],
            false => [0; 4],
        };
        check(got == expected, || format!("({x}, {y}): {got:?} instead of {expected:?}"))?;
    }
    Ok(())
}

case!("geometry.emit.many", "Geometry Shading", many);

/// Emits the largest number of vertices.
fn many(gpu: &Gpu) -> Case {
    let got = pixels(gpu, MANY, (T::POINT_LIST, Kind::Vertices(16)))?;
    for (at, got) in (0..).zip(got) {
        let (x, y) = (at % SIZE, at / SIZE);
        let (red, number) = (x * 16 + 8, x * 4);
        // The last column ends between two vertices. Colours of other columns change from vertex to
        // vertex.
        let good = got[1] == y as u8
            && got[3] == 255
            && (red..red + 16).contains(&u32::from(got[0]))
            && (number..number + 4).contains(&u32::from(got[2]));
        check(good, || format!("({x}, {y}): {got:?}"))?;
    }
    Ok(())
}

case!("geometry.emit.nothing", "Geometry Shading", nothing);

/// Draws points whose number gives no cells.
fn nothing(gpu: &Gpu) -> Case {
    let got = pixels(gpu, CELLS, (T::POINT_LIST, Kind::Vertices(1)))?;
    check(got.iter().all(|pixel| *pixel == [0; 4]), || "something was drawn".into())
}

fn shown(gpu: &Gpu, geometry: &'static [u8], show: f32) -> Result<usize, Outcome> {
    supported(gpu)?;
    let state = State { topology: T::POINT_LIST, ..state(IDS, geometry) };
    let draw = Draw { kind: Kind::Vertices(1), show, ..Draw::rect(state, FULL, [1.0; 4]) };
    Ok(render(gpu, &Target::default(), &[draw])?.iter().filter(|pixel| **pixel == [255; 4]).count())
}

case!("geometry.emit.distances", "Geometry Shading", distances);

fn distances(gpu: &Gpu) -> Case {
    let features = &gpu.features;
    if features.shader_clip_distance == 0 || features.shader_cull_distance == 0 {
        return Err(Outcome::NotSupported("shaderClipDistance, shaderCullDistance".into()));
    }
    let all = (SIZE * SIZE) as usize;
    let clipped = shown(gpu, CUT, 0.0)?;
    check(clipped == all / 2, || format!("{clipped} pixels are left of {all}"))?;
    // All vertices of the first triangle are outside, and one vertex of the other is inside.
    let culled = shown(gpu, CUT, 1.0)?;
    check(culled.abs_diff(all / 2) <= SIZE as usize, || format!("{culled} pixels are left of two triangles"))?;
    let whole = shown(gpu, CUT, 2.0)?;
    check(whole == all, || format!("{whole} pixels of {all}"))
}

case!("geometry.emit.point_size", "Geometry Shading", point_size);

fn point_size(gpu: &Gpu) -> Case {
    if gpu.features.shader_tessellation_and_geometry_point_size == 0 || gpu.features.large_points == 0 {
        return Err(Outcome::NotSupported("shaderTessellationAndGeometryPointSize, largePoints".into()));
    }
    for size in [1, 2, 6, 10] {
        let got = shown(gpu, SIZED, size as f32)?;
        check(got == size * size, || format!("a point of size {size} has {got} pixels"))?;
    }
    Ok(())
}

case!("geometry.emit.primitive_id", "Geometry Shading", primitive_id);

/// Checks that fragments get the primitive number that the shader writes.
fn primitive_id(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let state = State { topology: T::POINT_LIST, fragment: PRIMITIVE_ID, ..state(IDS, NUMBERED) };
    let draw = Draw { kind: Kind::Vertices(2), ..Draw::rect(state, FULL, [1.0; 4]) };
    let got = render(gpu, &Target::default(), &[draw])?;
    for (at, got) in (0..).zip(got) {
        // The second point draws over the first one.
        let expected = 40 + 10 * (at / SIZE / 4) + 1;
        check(u32::from(got[0]) == expected, || format!("row {}: {got:?} instead of {expected}", at / SIZE))?;
    }
    Ok(())
}

case!("geometry.inputs.primitive_id", "Geometry Shading", input_primitive_id);

/// Checks that input primitives are numbered from 0 on.
fn input_primitive_id(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let state = State { topology: T::POINT_LIST, fragment: PRIMITIVE_ID, ..state(IDS, UNNUMBERED) };
    let draw = Draw { kind: Kind::Vertices(16), ..Draw::rect(state, FULL, [1.0; 4]) };
    let got = render(gpu, &Target::default(), &[draw])?;
    let row = (SIZE / 2 * SIZE) as usize;
    for (number, pixel) in got[row..row + 16].iter().enumerate() {
        check(usize::from(pixel[0]) == number && pixel[3] == 255, || format!("primitive {number}: {pixel:?}"))?;
    }
    Ok(())
}

fn has_subgroups(gpu: &Gpu) -> Case {
    need_version(gpu, vk::API_VERSION_1_1)?;
    let mut own = vk::PhysicalDeviceSubgroupProperties::default();
    gpu.properties2(&mut own);
    let operations = vk::SubgroupFeatureFlags::ARITHMETIC | vk::SubgroupFeatureFlags::BALLOT;
    match own.supported_stages.contains(vk::ShaderStageFlags::GEOMETRY) && own.supported_operations.contains(operations)
    {
        true => Ok(()),
        false => Err(Outcome::NotSupported("subgroups of geometry shaders".into())),
    }
}

case!("geometry.inputs.subgroups", "Geometry Shading", subgroups);

/// Checks subgroup operations between invocations.
fn subgroups(gpu: &Gpu) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    has_subgroups(gpu)?;
    let count = 45;
    let records = gpu.buffer_with(&vec![0u32; 1 + 4 * count])?;
    let state = State { topology: T::POINT_LIST, ..state(IDS, SUBGROUP) };
    let kind = Kind::Vertices(count as u32);
    render(gpu, &Target::default(), &[Draw { kind, storage: Some(records), ..Draw::rect(state, FULL, [1.0; 4]) }])?;
    let words = records.words();
    check(words[0] as usize == count, || format!("{} calls", words[0]))?;
    let records: Vec<&[u32]> = words[1..].chunks(4).collect();
    let mut sum = 0;
    for record in &records {
        let &[number, active, of_all, size] = *record else { return Ok(()) };
        check(number < size && active >= 1 && active <= size, || format!("{record:?}"))?;
        // Each invocation of a subgroup knows the sum of all.
        sum += u64::from(of_all) * 1_000_000 / u64::from(active);
    }
    let expected = (count * (count - 1) / 2) as u64 * 1_000_000;
    check(sum.abs_diff(expected) < 1000, || format!("{sum} instead of {expected}"))
}

case!("geometry.order.between_draws", "Geometry Shading", between_draws);

/// Checks that draws with and without geometry shaders keep their order.
fn between_draws(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let draws: Vec<Draw> = (0..40)
        .map(|number: u32| {
            let kind = random(gpu, 30 + number)?;
            let mut state = State { vertex: TRIANGLES, ..State::default() };
            state.extensions.geometry = (number % 3 != 1).then_some(THROUGH[2]);
            Ok(Draw { kind, ..Draw::rect(state, FULL, [1.0; 4]) })
        })
        .collect::<Result<_, Outcome>>()?;
    let mut plain = draws.clone();
    plain.iter_mut().for_each(|draw| draw.state.extensions.geometry = None);
    let (with, without) = (render(gpu, &Target::default(), &draws)?, render(gpu, &Target::default(), &plain)?);
    check(with == without, || "other primitives are on top".into())
}

case!("geometry.order.blended", "Geometry Shading", blended);

/// Checks that blended primitives keep their order.
fn blended(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let kind = random(gpu, 30_000)?;
    let mut state = state(TRIANGLES, THROUGH[2]);
    state.blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::SRC_ALPHA,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        ..state.blend
    };
    let draw = |state: &State| Draw { kind, ..Draw::rect(state.clone(), FULL, [1.0; 4]) };
    let through = render(gpu, &Target::default(), &[draw(&state)])?;
    state.extensions.geometry = None;
    let plain = render(gpu, &Target::default(), &[draw(&state)])?;
    check(through == plain, || "primitives are blended in another order".into())
}

case!("geometry.effects.discarded", "Geometry Shading", discarded);

/// Checks that shaders run once for each primitive and invocation, with side effects, even where
/// primitives are discarded.
fn discarded(gpu: &Gpu) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    let records = gpu.buffer_with(&vec![0u32; 1 + 8 * 3 * 100])?;
    let mut state = state(IDS, INPUTS[2]);
    state.raster.rasterizer_discard_enable = vk::TRUE;
    let draw = Draw { kind: Kind::Vertices(300), storage: Some(records), ..Draw::rect(state, FULL, [1.0; 4]) };
    render(gpu, &Target::default(), &[draw])?;
    let calls = records.words()[0];
    check(calls == 300, || format!("{calls} calls instead of 300"))
}

case!("geometry.effects.instances", "Geometry Shading", instances);

/// Checks that each instance runs the shaders.
fn instances(gpu: &Gpu) -> Case {
    supported(gpu)?;
    stores(gpu)?;
    let records = gpu.buffer_with(&vec![0u32; 1 + 8 * 3 * 20])?;
    let state = State { topology: T::POINT_LIST, ..state(IDS, INPUTS[0]) };
    let kind = Kind::Instances { first: 3, count: 5 };
    render(gpu, &Target::default(), &[Draw { kind, storage: Some(records), ..Draw::rect(state, FULL, [1.0; 4]) }])?;
    let words = records.words();
    // Records of all instances lie at the same offsets.
    let of_instance = |record: &[u32]| (3..8).contains(&(record[2] / 1000)) && record[2] % 1000 == record[0];
    check(words[0] == 30 && words[1..].chunks(8).take(6).all(of_instance), || format!("{:?}", &words[..49]))
}

case!("geometry.statistics.strips", "Geometry Shading", strips);

/// Checks the counts of invocations and primitives. Strips that are too short have none.
fn strips(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let named = F::INPUT_ASSEMBLY_PRIMITIVES
        | F::GEOMETRY_SHADER_INVOCATIONS
        | F::GEOMETRY_SHADER_PRIMITIVES
        | F::CLIPPING_INVOCATIONS;
    for discards in [false, true] {
        let pool = pool(gpu, named)?;
        let mut state = State { topology: T::POINT_LIST, ..state(IDS, CELLS) };
        state.raster.rasterizer_discard_enable = vk::Bool32::from(discards);
        let kind = Kind::Vertices(16);
        render(gpu, &Target::default(), &[counted(Draw { kind, ..Draw::rect(state, FULL, [1.0; 4]) }, pool)])?;
        let counts: [u64; 4] = results(gpu, pool)?;
        // Points emit 0 to 8 and 0 to 6 cells of two triangles, by two invocations.
        let emitted = (36 + 21) * 2 * 2;
        let good = counts[..3] == [16, 32, emitted] && (discards || counts[3] == emitted);
        check(good, || format!("{counts:?}, {emitted} primitives were emitted"))?;
    }
    Ok(())
}

case!("geometry.state.dynamic_topology", "Geometry Shading", dynamic_topology);

/// Checks dynamic topology with a geometry shader.
fn dynamic_topology(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if !gpu.has(vk::EXT_EXTENDED_DYNAMIC_STATE_NAME) {
        return Err(Outcome::NotSupported("VK_EXT_extended_dynamic_state".into()));
    }
    same_with(gpu, |state| (state.dynamic, state.extended) = (true, true))
}

case!("geometry.state.linked", "Geometry Shading", linked);

/// Checks geometry shaders in pipeline libraries.
fn linked(gpu: &Gpu) -> Case {
    supported(gpu)?;
    gpu.need(vk::EXT_GRAPHICS_PIPELINE_LIBRARY_NAME)?;
    same_with(gpu, |state| state.linked = true)
}

/// Checks that a strip gives the same picture with a changed pipeline.
fn same_with(gpu: &Gpu, change: impl Fn(&mut State)) -> Case {
    let drawn = random(gpu, 20)?;
    let plain = State { topology: T::TRIANGLE_STRIP, ..state(TRIANGLES, THROUGH[2]) };
    let mut other = plain.clone();
    change(&mut other);
    let draw = |state: &State| Draw { kind: drawn, ..Draw::rect(state.clone(), FULL, [1.0; 4]) };
    let (expected, got) =
        (render(gpu, &Target::default(), &[draw(&plain)])?, render(gpu, &Target::default(), &[draw(&other)])?);
    check(expected == got, || "the pictures differ".into())
}
