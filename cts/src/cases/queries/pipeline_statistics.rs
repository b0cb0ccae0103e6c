//! Pipeline statistics queries, and queries that secondary command buffers inherit.

use ash::vk;
use ash::vk::QueryPipelineStatisticFlags as F;

use crate::harness::{Case, Gpu, Outcome, STORAGE, check};
use crate::render::{Draw, FULL, Kind, POINTS, SIZE, State, Target, render};

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

/// A rectangle of 8 by 12 pixels.
const RECT: [f32; 4] = [-1.0, -1.0, 0.0, 0.5];

const PIXELS: u64 = 8 * 12;

/// Statistics of a device without geometry and tessellation stages.
const ALL: F = F::from_raw(
    F::INPUT_ASSEMBLY_VERTICES.as_raw()
        | F::INPUT_ASSEMBLY_PRIMITIVES.as_raw()
        | F::VERTEX_SHADER_INVOCATIONS.as_raw()
        | F::CLIPPING_INVOCATIONS.as_raw()
        | F::CLIPPING_PRIMITIVES.as_raw()
        | F::FRAGMENT_SHADER_INVOCATIONS.as_raw(),
);

/// Indices of the counters of [`ALL`].
const VERTICES: usize = 0;

const PRIMITIVES: usize = 1;
const SHADED: usize = 2;
const CLIPPED: usize = 3;
const LEFT: usize = 4;
const FRAGMENTS: usize = 5;

pub(in crate::cases) fn pool(gpu: &Gpu, named: F) -> Result<vk::QueryPool, Outcome> {
    if gpu.features.pipeline_statistics_query == 0 {
        return Err(Outcome::NotSupported("pipelineStatisticsQuery".into()));
    }
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::PIPELINE_STATISTICS).query_count(1);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_query_pool(&info.pipeline_statistics(named), None) }?)
}

pub(in crate::cases) fn results<const N: usize>(gpu: &Gpu, pool: vk::QueryPool) -> Result<[u64; N], Outcome> {
    let mut values = [[u64::MAX; N]];
    let flags = vk::QueryResultFlags::WAIT | vk::QueryResultFlags::TYPE_64;
    // SAFETY: the query was ended, and has so many values.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut values, flags) }?;
    Ok(values[0])
}

/// Returns a draw whose statistics go to a pool.
pub(in crate::cases) fn counted(draw: Draw, pool: vk::QueryPool) -> Draw {
    Draw { query: Some(pool), control: vk::QueryControlFlags::empty(), ..draw }
}

/// Returns the statistics of a draw.
fn count(gpu: &Gpu, draw: Draw) -> Result<[u64; 6], Outcome> {
    let pool = pool(gpu, ALL)?;
    render(gpu, &Target::default(), &[counted(draw, pool)])?;
    results(gpu, pool)
}

case!("queries.statistics.of_a_draw", "Pipeline Statistics Queries", of_a_draw);

fn of_a_draw(gpu: &Gpu) -> Case {
    let counts = count(gpu, Draw::rect(State::default(), RECT, RED))?;
    check(counts[..FRAGMENTS] == [6, 2, 6, 2, 2] && counts[FRAGMENTS] == PIXELS, || format!("{counts:?}"))
}

case!("queries.statistics.named_ones", "Pipeline Statistics Queries", named_ones);

/// Checks that values have the order of their bits.
fn named_ones(gpu: &Gpu) -> Case {
    let pool = pool(gpu, F::FRAGMENT_SHADER_INVOCATIONS | F::INPUT_ASSEMBLY_PRIMITIVES)?;
    render(gpu, &Target::default(), &[counted(Draw::rect(State::default(), RECT, RED), pool)])?;
    let counts: [u64; 2] = results(gpu, pool)?;
    check(counts == [2, PIXELS], || format!("{counts:?}"))
}

case!("queries.statistics.hidden_fragments", "Pipeline Statistics Queries", hidden_fragments);

/// Checks that fragments count that later ones hide, but not fragments that earlier ones hide.
fn hidden_fragments(gpu: &Gpu) -> Case {
    let state = State {
        depth_stencil: vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::LESS),
        ..State::default()
    };
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let pools = [pool(gpu, ALL)?, pool(gpu, ALL)?, pool(gpu, ALL)?];
    let draw = |number: usize, depth: f32| counted(Draw::rect(state.clone(), RECT, RED).at(depth), pools[number]);
    render(gpu, &target, &[draw(0, 0.8), draw(1, 0.4), draw(2, 0.6)])?;
    for (pool, fragments) in pools.into_iter().zip([PIXELS, PIXELS, 0]) {
        let counts: [u64; 6] = results(gpu, pool)?;
        check(counts[FRAGMENTS] == fragments, || format!("{counts:?} instead of {fragments} fragments"))?;
    }
    Ok(())
}

case!("queries.statistics.clipped_primitives", "Pipeline Statistics Queries", clipped_primitives);

fn clipped_primitives(gpu: &Gpu) -> Case {
    // Clipping may leave any number of primitives without a vertex inside.
    let is_right = |counts: [u64; 6]| counts[..LEFT] == [6, 2, 6, 2] && counts[FRAGMENTS] == 0;
    let outside = count(gpu, Draw::rect(State::default(), [2.0, 2.0, 3.0, 3.0], RED))?;
    check(is_right(outside), || format!("outside: {outside:?}"))?;
    let behind = count(gpu, Draw::rect(State::default(), FULL, RED).at(1.5))?;
    check(is_right(behind), || format!("behind: {behind:?}"))?;
    let large = count(gpu, Draw::rect(State::default(), [-40.0, -40.0, 40.0, 40.0], RED))?;
    let side = u64::from(SIZE);
    check(large[CLIPPED] == 2 && large[LEFT] >= 2 && large[FRAGMENTS] == side * side, || format!("large: {large:?}"))
}

case!("queries.statistics.nothing_touched", "Pipeline Statistics Queries", nothing_touched);

/// Checks that vertices count even if no pixel is covered.
fn nothing_touched(gpu: &Gpu) -> Case {
    let state = State { scissor: vk::Rect2D::default(), ..State::default() };
    let counts = count(gpu, Draw::rect(state, FULL, RED))?;
    check(counts == [6, 2, 6, 2, 2, 0], || format!("{counts:?}"))
}

case!("queries.statistics.discarded_primitives", "Pipeline Statistics Queries", discarded_primitives);

fn discarded_primitives(gpu: &Gpu) -> Case {
    let mut state = State::default();
    state.raster.rasterizer_discard_enable = vk::TRUE;
    let counts = count(gpu, Draw::rect(state, FULL, RED))?;
    check(counts[..CLIPPED] == [6, 2, 6] && counts[FRAGMENTS] == 0, || format!("{counts:?}"))
}

fn corners(gpu: &Gpu, topology: vk::PrimitiveTopology, indices: &[u16], restart: bool) -> Result<Draw, Outcome> {
    let positions = [[-1.0f32, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    let (buffer, count) = (gpu.buffer_with(&positions)?, indices.len() as u32);
    let kind = Kind::Indexed { buffer, indices: gpu.buffer_with(indices)?, count, kind: vk::IndexType::UINT16 };
    let state = State { vertex: POINTS, topology, restart, ..State::default() };
    Ok(Draw { kind, ..Draw::rect(state, FULL, RED) })
}

case!("queries.statistics.strips_with_restarts", "Pipeline Statistics Queries", strips_with_restarts);

fn strips_with_restarts(gpu: &Gpu) -> Case {
    let indices = [0, 1, 2, 3, u16::MAX, 0, 1, 2];
    let counts = count(gpu, corners(gpu, vk::PrimitiveTopology::TRIANGLE_STRIP, &indices, true)?)?;
    let vertices = counts[VERTICES];
    check((7..=8).contains(&vertices) && counts[PRIMITIVES] == 3, || format!("{counts:?}"))
}

case!("queries.statistics.shared_vertices", "Pipeline Statistics Queries", shared_vertices);

/// Checks that vertices may be shaded once for several primitives.
fn shared_vertices(gpu: &Gpu) -> Case {
    let counts = count(gpu, corners(gpu, vk::PrimitiveTopology::TRIANGLE_LIST, &[0, 1, 2, 2, 1, 3], false)?)?;
    let is_right = counts[..SHADED] == [6, 2] && (4..=6).contains(&counts[SHADED]);
    check(is_right && counts[FRAGMENTS] == u64::from(SIZE * SIZE), || format!("{counts:?}"))?;
    let kind = Kind::Instances { first: 0, count: 10 };
    let counts = count(gpu, Draw { kind, ..Draw::rect(State::default(), RECT, RED) })?;
    let is_right = counts[..CLIPPED] == [60, 20, 60] && counts[FRAGMENTS] == 10 * PIXELS;
    check(is_right, || format!("{counts:?} of instances"))
}

case!("queries.statistics.of_dispatches", "Pipeline Statistics Queries", of_dispatches);

fn of_dispatches(gpu: &Gpu) -> Case {
    let pool = pool(gpu, F::COMPUTE_SHADER_INVOCATIONS)?;
    let buffers = [(STORAGE, gpu.buffer(256)?), (STORAGE, gpu.buffer(256 * 6)?)];
    let compute = gpu.compute_pipeline(shader!("shared.comp"), 0, &buffers)?;
    gpu.run(|commands| {
        // SAFETY: the command buffer is recording, and everything named is alive.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, 0, 1);
            gpu.bind_compute(commands, &compute, &0u32.to_le_bytes());
            gpu.device.cmd_begin_query(commands, pool, 0, vk::QueryControlFlags::empty());
            gpu.device.cmd_dispatch(commands, 3, 1, 1);
            gpu.device.cmd_dispatch(commands, 2, 0, 1);
            gpu.device.cmd_dispatch(commands, 1, 2, 1);
            gpu.device.cmd_end_query(commands, pool, 0);
        }
    })?;
    let [counted] = results(gpu, pool)?;
    check(counted == 5 * 64, || format!("{counted} invocations"))
}

case!("queries.statistics.inherited", "Pipeline Statistics Queries", inherited);

/// Checks that secondary command buffers count in the query that is active when they are executed.
fn inherited(gpu: &Gpu) -> Case {
    let pool = pool(gpu, F::COMPUTE_SHADER_INVOCATIONS)?;
    if gpu.features.inherited_queries == 0 {
        return Err(Outcome::NotSupported("inheritedQueries".into()));
    }
    let buffers = [(STORAGE, gpu.buffer(256)?), (STORAGE, gpu.buffer(256)?)];
    let compute = gpu.compute_pipeline(shader!("shared.comp"), 0, &buffers)?;
    let info = vk::CommandBufferAllocateInfo::default().command_pool(gpu.pool).command_buffer_count(1);
    let inheritance = vk::CommandBufferInheritanceInfo::default().pipeline_statistics(F::COMPUTE_SHADER_INVOCATIONS);
    let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
    // SAFETY: the secondary buffer is complete before it is executed, and everything named is
    // alive.
    let inner = unsafe {
        let inner = gpu.device.allocate_command_buffers(&info.level(vk::CommandBufferLevel::SECONDARY))?;
        gpu.device.begin_command_buffer(inner[0], &begin)?;
        gpu.bind_compute(inner[0], &compute, &0u32.to_le_bytes());
        gpu.device.cmd_dispatch(inner[0], 1, 1, 1);
        gpu.device.end_command_buffer(inner[0])?;
        inner
    };
    // SAFETY: the command buffer is recording, and everything named is alive.
    gpu.run(|commands| unsafe {
        gpu.device.cmd_reset_query_pool(commands, pool, 0, 1);
        gpu.device.cmd_begin_query(commands, pool, 0, vk::QueryControlFlags::empty());
        gpu.device.cmd_execute_commands(commands, &inner);
        gpu.device.cmd_end_query(commands, pool, 0);
    })?;
    let [counted] = results(gpu, pool)?;
    check(counted == 64, || format!("{counted} invocations"))
}
