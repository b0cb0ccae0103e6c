//! Draws: from the vertex stream through shading, assembly and set-up to windows of primitives for the tiler.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ash::vk;
use parking_lot::Mutex;

use super::Command;
use super::pass::Pass;
use super::pending::{DrawState, MOST_PENDING};
use super::processor::{Dynamic, IndexBuffer, Processor, words};
use crate::format;
use crate::geometry::{
    Assembled, Corners, DrawNumbers, GUARD_BAND, Indices, PrimitiveContext, VertexSource, assemble, corners, is_list,
    vertex_parameters, vertex_ranges,
};
use crate::gpu::DeviceLost;
use crate::hiz::Visibility;
use crate::memory::{PlaneRef, SurfaceView};
use crate::pixel::DrawContext;
use crate::shader::interp::{Deadline, Environment};
use crate::shader::runtime::Bindings;
use crate::state::{DepthStencilState, DynamicState, GraphicsPipeline, StencilState};
use crate::tiling::Window;

/// Most primitives that are handed to the front end for one window.
const MOST_PRIMITIVES: usize = 1 << 14;

/// One draw with its arguments known.
struct Call {
    instances: u32,
    numbers: DrawNumbers,
    /// Vertices, or indices.
    count: u32,
    /// The first index; `None` where the first vertex is the base.
    first_index: Option<u32>,
}

/// Executes a draw command.
pub(super) fn draw(processor: &mut Processor<'_>, command: &Command) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.pipeline() else { return Ok(()) };
    let programs = std::iter::once(&*pipeline.vertex).chain(pipeline.fragment.as_deref());
    if programs.clone().any(|program| program.fragment.side_effects) {
        processor.distrust_memory();
    }
    let bindings = processor.state.graphics_sets.resolve(programs, &processor.shared);
    if processor.pass.is_none() {
        return Ok(());
    }
    for draw in 0..draws(command) {
        run(processor, &bindings, &call(command, draw))?;
    }
    Ok(())
}

/// Most vertices of one draw of strips, fans, or with restarts: they are assembled in memory, and a longer one would bring the
/// process down.
const MAX_STREAM: u32 = 1 << 24;

/// The number of draws of a command.
fn draws(command: &Command) -> u32 {
    match command {
        Command::DrawIndirect { count, counted, .. } | Command::DrawIndexedIndirect { count, counted, .. } => {
            let counted = counted.as_ref().map(|(buffer, offset)| words::<1>(buffer, *offset)[0]);
            counted.map_or(*count, |counted| counted.min(*count))
        }
        _ => 1,
    }
}

/// One draw of a command.
fn call(command: &Command, draw: u32) -> Call {
    let direct = |[count, instances, first_vertex, first_instance]: [u32; 4]| {
        let numbers = DrawNumbers { base_vertex: first_vertex, base_instance: first_instance, draw };
        Call { instances, numbers, count, first_index: None }
    };
    let indexed = |[count, instances, first, offset, first_instance]: [u32; 5]| {
        let numbers = DrawNumbers { base_vertex: offset, base_instance: first_instance, draw };
        Call { instances, numbers, count, first_index: Some(first) }
    };
    let place = |offset: u64, stride: u32| offset + u64::from(draw) * u64::from(stride);
    match command {
        Command::Draw { vertices, instances, first_vertex, first_instance } => {
            direct([*vertices, *instances, *first_vertex, *first_instance])
        }
        Command::DrawIndexed { indices, instances, first_index, vertex_offset, first_instance } => {
            indexed([*indices, *instances, *first_index, *vertex_offset as u32, *first_instance])
        }
        Command::DrawIndirect { buffer, offset, stride, .. } => direct(words(buffer, place(*offset, *stride))),
        Command::DrawIndexedIndirect { buffer, offset, stride, .. } => indexed(words(buffer, place(*offset, *stride))),
        _ => direct([0; 4]),
    }
}

/// The corners of a draw's primitives; strips, fans and restarts that are too long to hold lose the device.
fn corners_of<'s>(
    pipeline: &GraphicsPipeline,
    call: &Call,
    index_buffer: Option<&'s IndexBuffer>,
) -> Result<Corners<'s>, DeviceLost> {
    let restarts = pipeline.primitive_restart && call.first_index.is_some();
    let indices = call.first_index.map(|first| index_buffer.map(|buffer| indices(buffer, call, first)));
    if is_list(pipeline.topology) && !restarts {
        let whole = |count: usize| count / corners(pipeline.topology) * corners(pipeline.topology);
        return Ok(match indices {
            None => Corners::Sequence(call.numbers.base_vertex, whole(call.count as usize)),
            Some(None) => Corners::Assembled(Vec::new()),
            Some(Some(indices)) => Corners::Indexed(Indices { count: whole(indices.count), ..indices }),
        });
    }
    let count = match &indices {
        None => call.count as usize,
        Some(indices) => indices.map_or(0, |indices| indices.count),
    };
    if count > MAX_STREAM as usize {
        return Err(DeviceLost);
    }
    let base = call.numbers.base_vertex;
    let (mut vertices, mut ends, mut primitives) = (Vec::with_capacity(count), Vec::new(), Vec::new());
    match indices.flatten() {
        None => vertices.extend((0..count as u32).map(|index| base.wrapping_add(index))),
        Some(indices) => {
            let restart = if indices.size == 2 { 0xffff } else { u32::MAX };
            let mut read = Vec::with_capacity(count);
            indices.read(0..count, &mut read);
            for index in read {
                match restarts && index == restart {
                    true => ends.push(vertices.len()),
                    false => vertices.push(index.wrapping_add(base)),
                }
            }
        }
    }
    ends.push(vertices.len());
    let mut start = 0;
    for end in ends {
        assemble(pipeline.topology, &vertices[start..end], |primitive| primitives.extend_from_slice(primitive));
        start = end;
    }
    Ok(Corners::Assembled(primitives))
}

/// The indices of a draw.
fn indices<'s>((buffer, offset, index_type): &'s IndexBuffer, call: &Call, first: u32) -> Indices<'s> {
    let size: u64 = if *index_type == vk::IndexType::UINT16 { 2 } else { 4 };
    // Beyond the buffer there is nothing to draw: a count from a hostile indirect buffer costs nothing.
    let room = (buffer.size().saturating_sub(*offset) / size).saturating_sub(u64::from(first));
    let count = u64::from(call.count).min(room) as usize;
    let offset = offset.saturating_add(u64::from(first) * size);
    Indices { buffer, offset, size, base: call.numbers.base_vertex, count }
}

/// Runs one draw of a command as far as windows.
fn run(processor: &mut Processor<'_>, bindings: &Arc<[Bindings]>, call: &Call) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.pipeline() else { return Ok(()) };
    let discards = pipeline.raster.discard;
    if discards && !pipeline.vertex.fragment.side_effects {
        return Ok(());
    }
    let viewport = viewport(&processor.state.dynamic, &pipeline);
    let words = vertex_parameters(&viewport, guard_band(&pipeline, &viewport));
    let ranges = vertex_ranges(&pipeline.bindings, &processor.state.vertex_buffers);
    let none = Bindings::default();
    let (push, deadline) = (processor.state.push.clone(), processor.deadline.clone());
    let environment = Environment {
        parameters: &words,
        ranges: &ranges,
        push: &push,
        ..Environment::new(bindings.first().unwrap_or(&none), &deadline)
    };
    let kernel = pipeline.vertex_kernel.get(&pipeline);
    let (instance, numbers) = (call.numbers.base_instance, call.numbers);
    let index_buffer = processor.state.index_buffer.clone();
    let assembled = Assembled {
        source: VertexSource { kernel, environment: &environment, instance, numbers },
        corners: corners_of(&pipeline, call, index_buffer.as_ref())?,
        of_each: corners(pipeline.topology),
        instances: call.instances,
        spare: processor.gpu.primitives(),
        counters: processor.gpu.counters(),
        context: (!discards).then(|| primitive_context(processor, &pipeline, viewport)),
    };
    windows(processor, DrawState::new(&processor.state, &pipeline, bindings), &assembled)
}

/// Sorts the primitives of a draw into windows, on all threads when there are many: then tiles of what waits are walked beside.
fn windows(processor: &mut Processor<'_>, state: DrawState, assembled: &Assembled<'_>) -> Result<(), DeviceLost> {
    let size = processor.gpu.config().window.min(MOST_PRIMITIVES);
    let (count, mut start) = (assembled.count(), 0);
    while start < count {
        let range = start..count.min(start + MOST_PENDING);
        if start > 0 && assembled.source.environment.deadline.expired() {
            return Err(DeviceLost);
        }
        start = range.end;
        let is_full = processor.pending.is_full(range.len());
        if range.len() >= size && assembled.source.kernel.is_pure() {
            in_parallel(processor, &state, assembled, (range, size), is_full)?;
            continue;
        }
        if is_full {
            processor.flush()?;
        }
        let draw = processor.pending.draw(&state);
        let mut open = processor.pending.open();
        let done = assembled.process(&mut processor.gpu.fronts().lend(), range, &mut open);
        processor.pending.close_full(draw, open, size);
        if !done {
            return Err(DeviceLost);
        }
    }
    Ok(())
}

/// Makes windows of `size` primitives each of a range, after a flush when it `flushes`.
fn in_parallel(
    processor: &mut Processor<'_>,
    state: &DrawState,
    assembled: &Assembled<'_>,
    (range, size): (Range<usize>, usize),
    flushes: bool,
) -> Result<(), DeviceLost> {
    let count = range.len().div_ceil(size);
    let made: Vec<Mutex<Vec<Window>>> = (0..count).map(|_| Mutex::default()).collect();
    let (grid, ok, gpu) = (*processor.pending.grid(), AtomicBool::new(true), processor.gpu);
    let piece = |index: usize| {
        let start = range.start + index * size;
        let mut primitives = Vec::new();
        if !ok.load(Ordering::Relaxed)
            || !assembled.process(&mut gpu.fronts().lend(), start..range.end.min(start + size), &mut primitives)
        {
            ok.store(false, Ordering::Relaxed);
        }
        *made[index].lock() = primitives.into_iter().map(|primitives| Window::new(primitives, &grid)).collect();
    };
    if flushes {
        processor.flush_beside((count, &piece))?;
    } else {
        gpu.workers().parallel(count, || (), |(), index| piece(index));
    }
    if !ok.into_inner() {
        return Err(DeviceLost);
    }
    let draw = processor.pending.draw(state);
    processor.pending.close(draw);
    processor.pending.extend(draw, made.into_iter().flat_map(Mutex::into_inner));
    Ok(())
}

/// A rectangle as `[x0, y0, x1, y1]`, clipped to not be negative.
pub(super) fn rect(rect: vk::Rect2D) -> [i64; 4] {
    let (x, y) = (i64::from(rect.offset.x), i64::from(rect.offset.y));
    [x.max(0), y.max(0), x + i64::from(rect.extent.width), y + i64::from(rect.extent.height)]
}

fn viewport(state: &Dynamic, pipeline: &GraphicsPipeline) -> vk::Viewport {
    match pipeline.dynamic.contains(DynamicState::VIEWPORT) {
        true => state.viewport,
        false => pipeline.viewports.first().copied().unwrap_or_default(),
    }
}

/// How far x and y may reach, in view volumes. Filled polygons may where the viewport's edges are those of pixels: what lies
/// outside of it is dropped with them.
fn guard_band(pipeline: &GraphicsPipeline, viewport: &vk::Viewport) -> f32 {
    let vk::Viewport { x, y, width, height, .. } = *viewport;
    let is_whole = [x, y, width, height].iter().all(|edge| edge.fract() == 0.0);
    if pipeline.fills_polygons() && is_whole { GUARD_BAND } else { 1.0 }
}

/// The pixels that a draw may touch: the scissor, and the viewport where clipping leaves more than that.
fn touchable(state: &Dynamic, pipeline: &GraphicsPipeline) -> [i64; 4] {
    let fixed = pipeline.scissors.first().copied().unwrap_or_default();
    let scissor = rect(if pipeline.dynamic.contains(DynamicState::SCISSOR) { state.scissor } else { fixed });
    let viewport = viewport(state, pipeline);
    if guard_band(pipeline, &viewport) == 1.0 {
        return scissor;
    }
    let vk::Viewport { x, y, width, height, .. } = viewport;
    let ends = |start: f32, size: f32| [start.min(start + size) as i64, start.max(start + size) as i64];
    let ([left, right], [top, bottom]) = (ends(x, width), ends(y, height));
    [scissor[0].max(left), scissor[1].max(top), scissor[2].min(right), scissor[3].min(bottom)]
}

fn primitive_context<'a>(
    processor: &Processor<'_>,
    pipeline: &'a GraphicsPipeline,
    viewport: vk::Viewport,
) -> PrimitiveContext<'a> {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let mut raster = pipeline.raster;
    raster.conservative = pipeline.conservative();
    if dynamic(DynamicState::LINE_WIDTH) {
        raster.line_width = processor.state.dynamic.line_width;
    }
    if dynamic(DynamicState::DEPTH_BIAS) {
        raster.depth_bias = processor.state.dynamic.depth_bias;
    }
    PrimitiveContext {
        raster,
        bias: raster.depth_bias_enable.then_some(raster.depth_bias),
        viewport,
        band: guard_band(pipeline, &viewport),
        fragment: pipeline.fragment.as_deref(),
        depth_bits: processor.pass.as_ref().map_or(0, depth_bits),
        samples: pipeline.multisample.samples,
    }
}

fn depth_view(pass: &Pass) -> Option<&Arc<SurfaceView>> {
    pass.subpass().depth_stencil.and_then(|attachment| pass.view(attachment))
}

fn depth_bits(pass: &Pass) -> u32 {
    depth_view(pass).and_then(|view| format::info(view.desc.format)).map_or(0, |info| info.depth_bits)
}

/// What the pixel units need to know of a draw.
pub(super) fn draw_context<'a>(
    draw: &'a DrawState,
    pass: &'a Pass,
    (bindings, deadline): (&'a Bindings, &'a Deadline),
    occlusion: Option<&'a AtomicU64>,
) -> DrawContext<'a> {
    let (pipeline, state) = (&*draw.pipeline, &draw.dynamic);
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let depth_view = depth_view(pass);
    let used = |aspect| !pass.subpass().unused_aspects.contains(aspect);
    let plane = |aspect| depth_view.filter(|_| used(aspect)).and_then(|view| view.plane(aspect, 0, pass.view_index()));
    let tests = pipeline
        .depth_stencil
        .filter(|_| depth_view.is_some())
        .filter(|tests| tests.depth_test || tests.stencil_test || tests.depth_bounds_test)
        .map(|tests| with_dynamic(state, pipeline, tests));
    let depth = plane(vk::ImageAspectFlags::DEPTH);
    let is_alone = |tests: &DepthStencilState| tests.depth_test && !tests.depth_bounds_test && !tests.stencil_test;
    let words = depth.as_ref().is_some_and(|plane| plane.bytes() == 4);
    DrawContext {
        fragment: pipeline.fragment.as_deref(),
        bindings: draw.bindings.get(1).unwrap_or(bindings),
        push: &draw.push,
        pipeline,
        colors: colors(pass),
        depth,
        stencil: plane(vk::ImageAspectFlags::STENCIL),
        depth_bits: depth_bits(pass),
        tests,
        depth_alone: tests.filter(|tests| words && is_alone(tests)),
        conservative: pipeline.conservative(),
        multisample: pipeline.multisample,
        blend_constants: match dynamic(DynamicState::BLEND_CONSTANTS) {
            true => state.blend_constants,
            false => pipeline.blend_constants,
        },
        scissor: touchable(state, pipeline),
        overwrites: None,
        visibility: Visibility::default(),
        segment: None,
        direct: None,
        pitches: Vec::new(),
        occlusion,
        deadline,
    }
}

fn with_dynamic(state: &Dynamic, pipeline: &GraphicsPipeline, mut tests: DepthStencilState) -> DepthStencilState {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    if dynamic(DynamicState::DEPTH_BOUNDS) {
        tests.depth_bounds = state.depth_bounds;
    }
    let faces: [&mut StencilState; 2] = [&mut tests.front, &mut tests.back];
    for (face, [compare_mask, write_mask, reference]) in faces.into_iter().zip(state.stencil) {
        if dynamic(DynamicState::STENCIL_COMPARE_MASK) {
            face.compare_mask = compare_mask;
        }
        if dynamic(DynamicState::STENCIL_WRITE_MASK) {
            face.write_mask = write_mask;
        }
        if dynamic(DynamicState::STENCIL_REFERENCE) {
            face.reference = reference;
        }
    }
    tests
}

/// Texels of a subpass's colour attachments.
fn colors(pass: &Pass) -> Vec<Option<PlaneRef<'_>>> {
    let color = vk::ImageAspectFlags::COLOR;
    let plane = |attachment: &Option<u32>| pass.view((*attachment)?)?.plane(color, 0, pass.view_index());
    pass.subpass().colors.iter().map(plane).collect()
}
