//! Draws: from the vertex stream through shading, assembly and set-up to windows of primitives for the tiler.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ash::vk;
use parking_lot::Mutex;

use super::Command;
use super::pass::Pass;
use super::pending::{DrawState, MOST_PENDING};
use super::processor::{Dynamic, Processor, State, words};
use crate::format;
use crate::geometry::{
    Assembled, DrawNumbers, FrontScratch, PrimitiveContext, VertexSource, assemble, corners, vertex_ranges,
    viewport_words,
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
    /// Numbers of vertices, base vertex added.
    vertices: Vec<u32>,
    /// Where strips and fans end, in `vertices`, ascending.
    ends: Vec<usize>,
}

/// Executes a draw command.
pub(super) fn draw(processor: &mut Processor<'_>, command: &Command) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.graphics.clone() else { return Ok(()) };
    let programs = std::iter::once(&*pipeline.vertex).chain(pipeline.fragment.as_deref());
    let bindings = processor.state.graphics_sets.resolve(programs, processor.gpu.routines());
    if processor.pass.is_none() {
        return Ok(());
    }
    for draw in 0..draws(command) {
        let mut call = call(&processor.state, &pipeline, command, draw)?;
        call.numbers.draw = draw;
        run(processor, &bindings, &call)?;
    }
    Ok(())
}

/// Most vertices of one draw: a stream is held in memory, and a longer one would bring the process down.
const MAX_STREAM: u32 = 1 << 24;

/// The number of draws of a command.
fn draws(command: &Command) -> u32 {
    match command {
        Command::DrawIndirect { count, .. } | Command::DrawIndexedIndirect { count, .. } => *count,
        _ => 1,
    }
}

/// One draw of a command; one that is too long to hold loses the device.
fn call(state: &State, pipeline: &GraphicsPipeline, command: &Command, draw: u32) -> Result<Call, DeviceLost> {
    let direct = |[vertices, instances, first_vertex, first_instance]: [u32; 4]| {
        if vertices > MAX_STREAM {
            return Err(DeviceLost);
        }
        let ids = (0..vertices).map(|index| first_vertex.wrapping_add(index)).collect();
        let numbers = DrawNumbers { base_vertex: first_vertex, base_instance: first_instance, draw: 0 };
        Ok(Call { instances, numbers, vertices: ids, ends: vec![vertices as usize] })
    };
    let indexed = |[count, instances, first, offset, first_instance]: [u32; 5]| {
        let (vertices, ends) = indices(state, pipeline, first, count, offset as i32);
        let numbers = DrawNumbers { base_vertex: offset, base_instance: first_instance, draw: 0 };
        Ok(Call { instances, numbers, vertices, ends })
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

/// The vertices that indices name, `vertex_offset` added, and where restarts end strips.
fn indices(
    state: &State,
    pipeline: &GraphicsPipeline,
    first: u32,
    count: u32,
    vertex_offset: i32,
) -> (Vec<u32>, Vec<usize>) {
    let Some((buffer, offset, index_type)) = &state.index_buffer else { return Default::default() };
    let size: u64 = if *index_type == vk::IndexType::UINT16 { 2 } else { 4 };
    let restart = if size == 2 { 0xffff } else { u32::MAX };
    // Beyond the buffer there is nothing to draw: a count from a hostile indirect buffer costs nothing.
    let room = (buffer.size().saturating_sub(*offset) / size).saturating_sub(u64::from(first));
    let mut bytes = vec![0; (u64::from(count).min(room) * size) as usize];
    buffer.read(offset.saturating_add(u64::from(first) * size), &mut bytes);
    let (mut vertices, mut ends) = (Vec::with_capacity(bytes.len() / size as usize), Vec::new());
    let mut add = |index: u32| match pipeline.primitive_restart && index == restart {
        true => ends.push(vertices.len()),
        false => vertices.push(index.wrapping_add_signed(vertex_offset)),
    };
    match size {
        2 => bytes.as_chunks().0.iter().for_each(|&index| add(u16::from_le_bytes(index).into())),
        _ => bytes.as_chunks().0.iter().for_each(|&index| add(u32::from_le_bytes(index))),
    }
    ends.push(vertices.len());
    (vertices, ends)
}

/// The primitives of one instance: vertices, so many for each.
fn assembled(pipeline: &GraphicsPipeline, call: &Call) -> Vec<u32> {
    if pipeline.topology == vk::PrimitiveTopology::TRIANGLE_LIST && call.ends.len() == 1 {
        let mut vertices = call.vertices.clone();
        vertices.truncate(vertices.len() / 3 * 3);
        return vertices;
    }
    let (mut primitives, mut start) = (Vec::new(), 0);
    for &end in &call.ends {
        assemble(pipeline.topology, &call.vertices[start..end], |primitive| primitives.extend_from_slice(primitive));
        start = end;
    }
    primitives
}

/// Runs one draw of a command as far as windows.
fn run(processor: &mut Processor<'_>, bindings: &Arc<[Bindings]>, call: &Call) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.graphics.clone() else { return Ok(()) };
    let discards = pipeline.raster.discard;
    if discards && !pipeline.vertex.fragment.side_effects {
        return Ok(());
    }
    let viewport = viewport(&processor.state, &pipeline);
    let words = viewport_words(&viewport);
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
    let assembled = Assembled {
        source: VertexSource { kernel, environment: &environment, instance, numbers },
        primitives: &assembled(&pipeline, call),
        corners: corners(pipeline.topology),
        instances: call.instances,
        context: (!discards).then(|| primitive_context(processor, &pipeline, viewport)),
    };
    windows(processor, DrawState::new(&processor.state, &pipeline, bindings), &assembled)
}

/// Sorts the primitives of a draw into windows, on all threads when there are many.
fn windows(processor: &mut Processor<'_>, state: DrawState, assembled: &Assembled<'_>) -> Result<(), DeviceLost> {
    let size = processor.gpu.config().window.min(MOST_PRIMITIVES);
    let (count, mut start) = (assembled.count(), 0);
    while start < count {
        let end = count.min(start + MOST_PENDING);
        if processor.pending.is_full(end - start) {
            processor.flush()?;
        }
        let draw = processor.pending.draw(&state);
        let done = if end - start < size || !assembled.source.kernel.is_pure() {
            let mut open = processor.pending.open();
            let done = assembled.process(&mut FrontScratch::default(), start..end, &mut open);
            processor.pending.close_full(draw, open, size);
            done
        } else {
            processor.pending.close(draw);
            in_parallel(processor, draw, assembled, (start..end, size))
        };
        if !done {
            return Err(DeviceLost);
        }
        start = end;
    }
    Ok(())
}

/// Makes windows of `size` primitives each of a range. False when a program was interrupted.
fn in_parallel(
    processor: &mut Processor<'_>,
    draw: usize,
    assembled: &Assembled<'_>,
    (range, size): (Range<usize>, usize),
) -> bool {
    let count = (range.end - range.start).div_ceil(size);
    let made: Vec<Mutex<Vec<Window>>> = (0..count).map(|_| Mutex::default()).collect();
    let (grid, ok) = (*processor.pending.grid(), AtomicBool::new(true));
    processor.gpu.workers().parallel(count, FrontScratch::default, |scratch, index| {
        let start = range.start + index * size;
        let mut primitives = Vec::new();
        if !ok.load(Ordering::Relaxed)
            || !assembled.process(scratch, start..range.end.min(start + size), &mut primitives)
        {
            ok.store(false, Ordering::Relaxed);
        }
        let windows = primitives.into_iter().map(|primitives| Window::new(draw, primitives, &grid));
        *made[index].lock() = windows.collect();
    });
    processor.pending.extend(made.into_iter().flat_map(Mutex::into_inner));
    ok.into_inner()
}

/// A rectangle as `[x0, y0, x1, y1]`, clipped to not be negative.
pub(super) fn rect(rect: vk::Rect2D) -> [i64; 4] {
    let (x, y) = (i64::from(rect.offset.x), i64::from(rect.offset.y));
    [x.max(0), y.max(0), x + i64::from(rect.extent.width), y + i64::from(rect.extent.height)]
}

fn viewport(state: &State, pipeline: &GraphicsPipeline) -> vk::Viewport {
    match pipeline.dynamic.contains(DynamicState::VIEWPORT) {
        true => state.dynamic.viewport,
        false => pipeline.viewports.first().copied().unwrap_or_default(),
    }
}

fn primitive_context<'a>(
    processor: &Processor<'_>,
    pipeline: &'a GraphicsPipeline,
    viewport: vk::Viewport,
) -> PrimitiveContext<'a> {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let mut raster = pipeline.raster;
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
    let plane = |aspect| depth_view.and_then(|view| view.plane(aspect, 0, 0));
    let fixed = pipeline.scissors.first().copied().unwrap_or_default();
    let tests = pipeline
        .depth_stencil
        .filter(|_| depth_view.is_some())
        .filter(|tests| tests.depth_test || tests.stencil_test || tests.depth_bounds_test)
        .map(|tests| with_dynamic(state, pipeline, tests));
    let depth = plane(vk::ImageAspectFlags::DEPTH);
    let is_alone = |tests: &DepthStencilState| tests.depth_test && !tests.depth_bounds_test && !tests.stencil_test;
    let words = depth.as_ref().is_some_and(|plane| plane.bytes() == 4);
    let context = DrawContext {
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
        multisample: pipeline.multisample,
        blend_constants: match dynamic(DynamicState::BLEND_CONSTANTS) {
            true => state.blend_constants,
            false => pipeline.blend_constants,
        },
        scissor: rect(if dynamic(DynamicState::SCISSOR) { state.scissor } else { fixed }),
        overwrites: None,
        visibility: Visibility::default(),
        segment: None,
        direct: None,
        occlusion,
        deadline,
    };
    context.complete()
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
    let plane = |attachment: &Option<u32>| pass.view((*attachment)?)?.plane(vk::ImageAspectFlags::COLOR, 0, 0);
    pass.subpass().colors.iter().map(plane).collect()
}
