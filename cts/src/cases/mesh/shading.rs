//! Task and mesh shaders (`VK_EXT_mesh_shader`).

use ash::vk;
use vitric_vulkan::names::KHR_DEVICE_ADDRESS_COMMANDS_NAME;

use crate::cases::queries::pipeline_statistics::{counted, pool, results};
use crate::harness::{Case, Gpu, Outcome, check};
use crate::render::{COLOR, Draw, FULL, Kind, SIZE, State, Target, render};

const CELLS: &[u8] = shader!("mesh_cells.mesh");
const POINTS: &[u8] = shader!("mesh_points.mesh");
const LINES: &[u8] = shader!("mesh_lines.mesh");
const OWN: &[u8] = shader!("mesh_own.mesh");
const OWN_COLOR: &[u8] = shader!("mesh_own.frag");
const NARROW: &[u8] = shader!("mesh_narrow.mesh");
const NARROW_COLOR: &[u8] = shader!("mesh_narrow.frag");
const ODD: &[u8] = shader!("mesh_odd.mesh");
const ALONE: &[u8] = shader!("mesh_alone.mesh");
const TASKS: (&[u8], &[u8]) = (shader!("mesh_tasks.task"), shader!("mesh_tasks.mesh"));

/// Sum of the counts of all invocations of a workgroup of cells.
const SUM: u32 = {
    let (mut sum, mut index) = (0, 0);
    while index < 40 {
        sum += index * index % 7;
        index += 1;
    }
    sum
};

/// Returns a state with a mesh shader.
fn state(mesh: &'static [u8]) -> State {
    let mut state = State { fragment: COLOR, ..State::default() };
    state.extensions.mesh = Some((None, mesh));
    // Vertex input and assembly are ignored.
    state.topology = vk::PrimitiveTopology::LINE_STRIP;
    state
}

fn draw(state: State, groups: [u32; 3]) -> Draw {
    Draw { kind: Kind::Meshes(groups), ..Draw::rect(state, FULL, [1.0; 4]) }
}

fn supported(gpu: &Gpu) -> Case {
    match (gpu.extension_features.meshes.mesh_shader, gpu.extension_features.meshes.task_shader) {
        (vk::TRUE, vk::TRUE) => Ok(()),
        _ => Err(Outcome::NotSupported("mesh shaders".into())),
    }
}

/// Compares each pixel with the expected colour at its position.
fn compare(pixels: &[[u8; 4]], expected: impl Fn(u32, u32) -> [u32; 4]) -> Case {
    for (at, pixel) in (0..).zip(pixels) {
        let (x, y) = (at % SIZE, at / SIZE);
        let expected = expected(x, y);
        check(pixel.map(u32::from) == expected, || format!("({x}, {y}) is {pixel:?} instead of {expected:?}"))?;
    }
    Ok(())
}

/// Returns the colour of a pixel of cells, for the number of the draw.
fn cell(x: u32, y: u32, draw: u32) -> [u32; 4] {
    [x / 2 * 8 + y / 2, draw, SUM, 255]
}

case!("meshes.draws.cells", "Mesh Shading", |gpu| cells(gpu, &state(CELLS)));
case!("meshes.draws.linked", "Mesh Shading", |gpu| cells(gpu, &State { linked: true, ..state(CELLS) }));

case!("meshes.draws.dynamic", "Mesh Shading", |gpu| cells(
    gpu,
    &State { dynamic: true, extended: true, ..state(CELLS) }
));

/// Draws cells with shared vertices, memory that invocations share, and workgroup numbers.
fn cells(gpu: &Gpu, state: &State) -> Case {
    supported(gpu)?;
    let target = Target::default();
    compare(&render(gpu, &target, &[draw(state.clone(), [8, 8, 1])])?, |x, y| cell(x, y, 0))?;
    // Later workgroups draw over earlier ones.
    compare(&render(gpu, &target, &[draw(state.clone(), [8, 8, 3])])?, |x, y| cell(x, y, 0))?;
    compare(&render(gpu, &target, &[draw(state.clone(), [3, 5, 1])])?, |x, y| match x < 6 && y < 10 {
        true => cell(x, y, 0),
        false => [0; 4],
    })
}

case!("meshes.draws.indirect", "Mesh Shading", |gpu| indirect(gpu, false, false));
case!("meshes.draws.counted", "Mesh Shading", |gpu| indirect(gpu, true, false));
case!("meshes.draws.indirect_at_address", "VK_KHR_device_address_commands", |gpu| indirect(gpu, false, true));
case!("meshes.draws.counted_at_address", "VK_KHR_device_address_commands", |gpu| indirect(gpu, true, true));

/// Draws with arguments from a buffer, which may be named by its address.
fn indirect(gpu: &Gpu, is_counted: bool, by_address: bool) -> Case {
    supported(gpu)?;
    if by_address {
        gpu.need(KHR_DEVICE_ADDRESS_COMMANDS_NAME)?;
    }
    let padded = |groups: [u32; 3]| [groups[0], groups[1], groups[2], 7, 7];
    let groups = [[8, 8, 1], [5, 2, 1], [0, 9, 9], [2, 4, 1], [8, 8, 1]];
    let arguments: Vec<u32> = [99].into_iter().chain(groups.into_iter().flat_map(padded)).collect();
    let memory = |words: &[u32]| gpu.buffer_of_words(words, by_address);
    let (buffer, counts) = (memory(&arguments)?, memory(&[9, 4])?);
    let kind = match is_counted {
        true => Kind::MeshesIndirect { buffer, counts: Some(counts), count: 5 },
        false => Kind::MeshesIndirect { buffer, counts: None, count: 4 },
    };
    if gpu.features.multi_draw_indirect == 0 {
        return Err(Outcome::NotSupported("several indirect draws".into()));
    }
    let pixels =
        render(gpu, &Target::default(), &[Draw { kind, by_address, ..Draw::rect(state(CELLS), FULL, [1.0; 4]) }])?;
    let number = |x: u32, y: u32| {
        let inside =
            |number: &usize| x / 2 < groups[*number][0] && y / 2 < groups[*number][1] && groups[*number][2] > 0;
        (0..4usize).rev().find(|number| *number != 2 && inside(number)).unwrap_or(0) as u32
    };
    compare(&pixels, |x, y| cell(x, y, number(x, y)))
}

case!("meshes.draws.nothing", "Mesh Shading", nothing);

/// Draws with a workgroup count of 0 along one axis.
fn nothing(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let draws = [[0, 1, 1], [4, 0, 4], [1, 1, 0]].map(|groups| draw(state(CELLS), groups));
    compare(&render(gpu, &Target::default(), &draws)?, |_, _| [0; 4])
}

case!("meshes.kinds.points", "Mesh Shading", points);

/// Emits the largest number of vertices and primitives.
fn points(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(state(POINTS), [1, 1, 1])])?;
    compare(&pixels, |x, y| [x + 16 * y, 255 - (x + 16 * y), 7, 255])
}

case!("meshes.kinds.lines", "Mesh Shading", lines);

fn lines(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(state(LINES), [1, 1, 1])])?;
    compare(&pixels, |_, y| [y * 9, 3, 0, 255])
}

case!("meshes.primitives.first", "Mesh Shading", |gpu| own(gpu, false));
case!("meshes.primitives.last", "Mesh Shading", |gpu| own(gpu, true));

/// Checks outputs for each primitive, which share vertices, and culled primitives.
fn own(gpu: &Gpu, last: bool) -> Case {
    supported(gpu)?;
    let mut state = State { fragment: OWN_COLOR, ..state(OWN) };
    state.extensions.provoking_last = last;
    let pixels = render(gpu, &Target::default(), &[draw(state, [16, 1, 1])])?;
    compare(&pixels, |x, y| {
        let provoking = match (last, x % 2) {
            (false, 0) | (true, 1) => 2 * x,
            (false, _) => 2 * x + 2,
            (true, _) => 2 * x + 1,
        };
        if x % 3 == 2 { [0; 4] } else { [x * 15, y, provoking, x + 16 * y] }
    })
}

case!("meshes.primitives.narrow", "Mesh Shading", narrow);

/// Checks outputs of 16 bits for each primitive and for each vertex.
fn narrow(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let (numbers, small) = (&gpu.extension_features.float16_int8, &gpu.extension_features.storage16);
    if [numbers.shader_float16, gpu.features.shader_int16, small.storage_input_output16].contains(&vk::FALSE) {
        return Err(Outcome::NotSupported("numbers of 16 bits between stages".into()));
    }
    let state = State { fragment: NARROW_COLOR, ..state(NARROW) };
    let pixels = render(gpu, &Target::default(), &[draw(state, [1; 3])])?;
    compare(&pixels, |x, y| [15, 15, 15, u32::from(x + y + 1 >= SIZE)])
}

case!("meshes.tasks.payload", "Mesh Shading", tasks);

/// Launches mesh workgroups from task shaders, and passes them a payload.
fn tasks(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let mut state = state(TASKS.1);
    state.extensions.mesh = Some((Some(TASKS.0), TASKS.1));
    let pixels = render(gpu, &Target::default(), &[draw(state, [16, 1, 1])])?;
    compare(&pixels, |x, y| if x < y % 6 * 2 { [x * 12 + y, 2, 0, 255] } else { [0; 4] })
}

fn primitives_pool(gpu: &Gpu) -> Result<vk::QueryPool, Outcome> {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::MESH_PRIMITIVES_GENERATED_EXT);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_query_pool(&info.query_count(1), None) }?)
}

case!("meshes.tasks.unknown", "Mesh Shading", unknown);

/// Checks mesh shaders without a payload behind task shaders: their memory is their own, and
/// workgroups that emit nothing draw nothing.
fn unknown(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let mut state = state(ALONE);
    state.extensions.mesh = Some((Some(TASKS.0), ALONE));
    let pool = if gpu.extension_features.meshes.mesh_shader_queries != 0 { Some(primitives_pool(gpu)?) } else { None };
    let draw = draw(state, [6, 1, 1]);
    let draw = match pool {
        Some(pool) => counted(draw, pool),
        None => draw,
    };
    compare(&render(gpu, &Target::default(), &[draw])?, |x, y| if y == 0 && x < 5 { [255; 4] } else { [0; 4] })?;
    let Some(pool) = pool else { return Ok(()) };
    let [count]: [u64; 1] = results(gpu, pool)?;
    check(count == 30, || format!("{count} primitives instead of 30"))
}

case!("meshes.order.blended", "Mesh Shading", blended);

/// Checks that workgroups and their primitives keep the order of their numbers.
fn blended(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let mut state = state(CELLS);
    state.blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::ONE,
        dst_color_blend_factor: vk::BlendFactor::ONE,
        ..state.blend
    };
    let target = Target { clear: [0.0, 0.0, 0.0, 1.0], ..Target::default() };
    let pixels = render(gpu, &target, &[draw(state, [4, 4, 2])])?;
    compare(&pixels, |x, y| match x < 8 && y < 8 {
        true => [2 * (x / 2 * 8 + y / 2), 0, (2 * SUM).min(255), 0],
        false => [0, 0, 0, 255],
    })
}

case!("meshes.queries.primitives", "Mesh Shading", primitives);

/// Checks that emitted primitives are counted, including culled ones.
fn primitives(gpu: &Gpu) -> Case {
    supported(gpu)?;
    if gpu.extension_features.meshes.mesh_shader_queries == 0 {
        return Err(Outcome::NotSupported("queries of meshes".into()));
    }
    for discards in [false, true] {
        let pool = primitives_pool(gpu)?;
        let mut state = State { fragment: OWN_COLOR, ..state(OWN) };
        state.raster.rasterizer_discard_enable = vk::Bool32::from(discards);
        render(gpu, &Target::default(), &[counted(draw(state, [5, 2, 1]), pool)])?;
        let [count]: [u64; 1] = results(gpu, pool)?;
        check(count == 160, || format!("{count} primitives instead of 160"))?;
    }
    Ok(())
}

case!("meshes.queries.statistics", "Mesh Shading", statistics);

fn statistics(gpu: &Gpu) -> Case {
    use vk::QueryPipelineStatisticFlags as F;
    supported(gpu)?;
    if gpu.extension_features.meshes.mesh_shader_queries == 0 || gpu.features.pipeline_statistics_query == 0 {
        return Err(Outcome::NotSupported("statistics of meshes".into()));
    }
    let named = F::CLIPPING_INVOCATIONS | F::TASK_SHADER_INVOCATIONS_EXT | F::MESH_SHADER_INVOCATIONS_EXT;
    let pool = pool(gpu, named)?;
    let mut state = state(TASKS.1);
    state.extensions.mesh = Some((Some(TASKS.0), TASKS.1));
    render(gpu, &Target::default(), &[counted(draw(state, [12, 1, 1]), pool)])?;
    let counts: [u64; 3] = results(gpu, pool)?;
    // Twice 0 to 5 in two rows each.
    check(counts == [2 * 60, 12 * 20, 60 * 3], || format!("{counts:?}"))
}

case!("meshes.bad.numbers", "Mesh Shading", odd);

/// Checks that counts that are too large and vertices that do not exist do no harm.
fn odd(gpu: &Gpu) -> Case {
    supported(gpu)?;
    let pixels = render(gpu, &Target::default(), &[draw(state(ODD), [6, 1, 1])])?;
    compare(&pixels, |_, _| [255; 4])
}
