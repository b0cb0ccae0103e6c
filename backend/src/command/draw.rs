//! Draws: from the vertex stream through shading, assembly and set-up to windows of primitives for the tiler.

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;

use super::Command;
use super::pass::Pass;
use super::processor::{Processor, State, words};
use crate::format;
use crate::geometry::{DrawNumbers, PrimitiveContext, Primitives, VertexSource, VertexStream, assemble, set_up, shade};
use crate::gpu::DeviceLost;
use crate::memory::PlaneRef;
use crate::pixel::DrawContext;
use crate::shader::interp::{Environment, Wave};
use crate::shader::runtime::Bindings;
use crate::state::{DepthStencilState, DynamicState, GraphicsPipeline, StencilState};
use crate::tiling;

/// One draw with its arguments known.
struct Call {
    instances: u32,
    numbers: DrawNumbers,
    stream: VertexStream,
}

/// Executes a draw command.
pub(super) fn draw(processor: &mut Processor<'_>, command: &Command) -> Result<(), DeviceLost> {
    let Some(pipeline) = processor.state.graphics.clone() else { return Ok(()) };
    let programs = std::iter::once(&*pipeline.vertex).chain(pipeline.fragment.as_deref());
    let bindings = processor.state.graphics_sets.resolve(programs, processor.gpu.routines());
    let Some(pass) = processor.pass.as_ref() else { return Ok(()) };
    for (draw, call) in (0..).zip(calls(&processor.state, &pipeline, command)) {
        let mut call = call?;
        call.numbers.draw = draw;
        run(processor, &pipeline, (pass, &bindings), &call)?;
    }
    Ok(())
}

/// Most vertices of one draw: a stream is held in memory, and a longer one would bring the process down.
const MAX_STREAM: u32 = 1 << 24;

/// The draws of a command, one after the other; one that is too long to hold loses the device.
fn calls<'a>(
    state: &'a State,
    pipeline: &'a GraphicsPipeline,
    command: &'a Command,
) -> Box<dyn Iterator<Item = Result<Call, DeviceLost>> + 'a> {
    let direct = |vertices: u32, instances, first_vertex: u32, first_instance| {
        if vertices > MAX_STREAM {
            return Err(DeviceLost);
        }
        let stream = VertexStream::consecutive(first_vertex, vertices);
        let numbers = DrawNumbers { base_vertex: first_vertex, base_instance: first_instance, draw: 0 };
        Ok(Call { instances, numbers, stream })
    };
    let indexed = move |[count, instances, first, offset, first_instance]: [u32; 5]| {
        let stream = VertexStream::indexed(&indices(state, pipeline, first, count, offset as i32));
        let numbers = DrawNumbers { base_vertex: offset, base_instance: first_instance, draw: 0 };
        Ok(Call { instances, numbers, stream })
    };
    match command {
        Command::Draw { vertices, instances, first_vertex, first_instance } => {
            Box::new(std::iter::once(direct(*vertices, *instances, *first_vertex, *first_instance)))
        }
        Command::DrawIndexed { indices, instances, first_index, vertex_offset, first_instance } => {
            let arguments = [*indices, *instances, *first_index, *vertex_offset as u32, *first_instance];
            Box::new(std::iter::once(indexed(arguments)))
        }
        Command::DrawIndirect { buffer, offset, count, stride } => {
            let arguments = move |index: u32| words::<4>(buffer, offset + u64::from(index) * u64::from(*stride));
            Box::new((0..*count).map(arguments).map(move |[a, b, c, d]| direct(a, b, c, d)))
        }
        Command::DrawIndexedIndirect { buffer, offset, count, stride } => {
            let arguments = move |index: u32| words::<5>(buffer, offset + u64::from(index) * u64::from(*stride));
            Box::new((0..*count).map(arguments).map(indexed))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// The vertices that indices name, `vertex_offset` added; `None` is a restart.
fn indices(state: &State, pipeline: &GraphicsPipeline, first: u32, count: u32, vertex_offset: i32) -> Vec<Option<u32>> {
    let Some((buffer, offset, index_type)) = &state.index_buffer else { return Vec::new() };
    let size: u64 = if *index_type == vk::IndexType::UINT16 { 2 } else { 4 };
    let restart = if size == 2 { 0xffff } else { u32::MAX };
    // Beyond the buffer there is nothing to draw: a count from a hostile indirect buffer costs nothing.
    let room = (buffer.size().saturating_sub(*offset) / size).saturating_sub(u64::from(first));
    let mut bytes = vec![0; (u64::from(count).min(room) * size) as usize];
    buffer.read(offset.saturating_add(u64::from(first) * size), &mut bytes);
    let vertex = |value: u32| {
        let restarts = pipeline.primitive_restart && value == restart;
        (!restarts).then(|| value.wrapping_add_signed(vertex_offset))
    };
    match size {
        2 => bytes.as_chunks().0.iter().map(|&index| vertex(u16::from_le_bytes(index).into())).collect(),
        _ => bytes.as_chunks().0.iter().map(|&index| vertex(u32::from_le_bytes(index))).collect(),
    }
}

fn run(
    processor: &Processor<'_>,
    pipeline: &Arc<GraphicsPipeline>,
    (pass, bindings): (&Pass, &[Bindings]),
    call: &Call,
) -> Result<(), DeviceLost> {
    if pipeline.raster.discard && !pipeline.vertex.fragment.side_effects {
        return Ok(());
    }
    let state = &processor.state;
    let none = Bindings::default();
    let of_stage = |stage| bindings.get(stage).unwrap_or(&none);
    let context = draw_context(processor, pipeline, pass, of_stage(1));
    let set_up_context = primitive_context(state, pipeline, &context);
    let environment = Environment {
        parameters: &[],
        bindings: of_stage(0),
        push: &state.push,
        shared: None,
        deadline: &processor.deadline,
    };
    let mut pipe = Pipe {
        processor,
        pipeline,
        context: &context,
        set_up: &set_up_context,
        area: area(pass),
        window: Primitives::new(pipeline.fragment.as_ref().map_or(0, |program| program.inputs.len())),
        numbers: call.numbers,
        wave: Wave::default(),
    };
    for instance in 0..call.instances {
        pipe.instance(&environment, &call.stream, call.numbers.base_instance.wrapping_add(instance))?;
    }
    pipe.flush()
}

/// The units of one draw from vertex to window.
struct Pipe<'a> {
    processor: &'a Processor<'a>,
    pipeline: &'a GraphicsPipeline,
    context: &'a DrawContext<'a>,
    set_up: &'a PrimitiveContext<'a>,
    area: [i64; 4],
    window: Primitives,
    numbers: DrawNumbers,
    wave: Wave,
}

impl Pipe<'_> {
    fn instance(
        &mut self,
        environment: &Environment<'_>,
        stream: &VertexStream,
        instance: u32,
    ) -> Result<(), DeviceLost> {
        let buffers = &self.processor.state.vertex_buffers;
        let numbers = self.numbers;
        let source = VertexSource { pipeline: self.pipeline, buffers, vertices: &stream.vertices, instance, numbers };
        let shaded = shade(&source, environment, &mut self.wave).ok_or(DeviceLost)?;
        if self.pipeline.raster.discard {
            return Ok(());
        }
        let mut result = Ok(());
        let mut number = 0;
        assemble(self.pipeline.topology, &stream.order, |primitive| {
            let corners: SmallVec<[&crate::geometry::Vertex; 3]> =
                primitive.iter().map(|&index| &shaded[index as usize]).collect();
            set_up(self.set_up, &corners, number, &mut self.window);
            number += 1;
            if self.window.len() >= self.processor.gpu.config().window && result.is_ok() {
                result = flush_window(self.processor, self.context, &mut self.window, self.area);
            }
        });
        result
    }

    fn flush(&mut self) -> Result<(), DeviceLost> {
        flush_window(self.processor, self.context, &mut self.window, self.area)
    }
}

fn flush_window(
    processor: &Processor<'_>,
    context: &DrawContext<'_>,
    window: &mut Primitives,
    area: [i64; 4],
) -> Result<(), DeviceLost> {
    let done = window.is_empty() || tiling::walk(processor.gpu, context, window, area);
    window.clear();
    if done { Ok(()) } else { Err(DeviceLost) }
}

/// The render area in pixels, clipped to not be negative.
fn area(pass: &Pass) -> [i64; 4] {
    rect(pass.area)
}

fn rect(rect: vk::Rect2D) -> [i64; 4] {
    let (x, y) = (i64::from(rect.offset.x), i64::from(rect.offset.y));
    [x.max(0), y.max(0), x + i64::from(rect.extent.width), y + i64::from(rect.extent.height)]
}

fn primitive_context<'a>(
    state: &State,
    pipeline: &'a GraphicsPipeline,
    context: &DrawContext<'_>,
) -> PrimitiveContext<'a> {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let mut raster = pipeline.raster;
    if dynamic(DynamicState::LINE_WIDTH) {
        raster.line_width = state.dynamic.line_width;
    }
    if dynamic(DynamicState::DEPTH_BIAS) {
        raster.depth_bias = state.dynamic.depth_bias;
    }
    let fixed = pipeline.viewports.first().copied().unwrap_or_default();
    PrimitiveContext {
        raster,
        bias: raster.depth_bias_enable.then_some(raster.depth_bias),
        viewport: if dynamic(DynamicState::VIEWPORT) { state.dynamic.viewport } else { fixed },
        fragment: pipeline.fragment.as_deref(),
        depth_bits: context.depth_bits,
    }
}

fn draw_context<'a>(
    processor: &'a Processor<'_>,
    pipeline: &'a GraphicsPipeline,
    pass: &'a Pass,
    bindings: &'a Bindings,
) -> DrawContext<'a> {
    let state = &processor.state;
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    let depth_view = pass.subpass().depth_stencil.and_then(|attachment| pass.view(attachment));
    let plane = |aspect| depth_view.and_then(|view| view.plane(aspect, 0, 0));
    let depth_bits = depth_view.and_then(|view| format::info(view.desc.format)).map_or(0, |info| info.depth_bits);
    let fixed = pipeline.scissors.first().copied().unwrap_or_default();
    let tests = pipeline
        .depth_stencil
        .filter(|_| depth_view.is_some())
        .filter(|tests| tests.depth_test || tests.stencil_test || tests.depth_bounds_test)
        .map(|tests| with_dynamic(state, pipeline, tests));
    let depth = plane(vk::ImageAspectFlags::DEPTH);
    let is_alone = |tests: &DepthStencilState| tests.depth_test && !tests.depth_bounds_test && !tests.stencil_test;
    let quads = depth.as_ref().is_some_and(|plane| plane.bytes() == 4 && plane.samples() == 1);
    DrawContext {
        fragment: pipeline.fragment.as_deref(),
        bindings,
        push: &state.push,
        pipeline,
        colors: colors(pass),
        depth,
        stencil: plane(vk::ImageAspectFlags::STENCIL),
        depth_bits,
        tests,
        depth_alone: tests.filter(|tests| quads && is_alone(tests)),
        multisample: pipeline.multisample,
        blend_constants: match dynamic(DynamicState::BLEND_CONSTANTS) {
            true => state.dynamic.blend_constants,
            false => pipeline.blend_constants,
        },
        scissor: rect(if dynamic(DynamicState::SCISSOR) { state.dynamic.scissor } else { fixed }),
        occlusion: processor.occlusion.as_ref().map(|(_, _, count)| count),
        deadline: &processor.deadline,
    }
}

fn with_dynamic(state: &State, pipeline: &GraphicsPipeline, mut tests: DepthStencilState) -> DepthStencilState {
    let dynamic = |flag| pipeline.dynamic.contains(flag);
    if dynamic(DynamicState::DEPTH_BOUNDS) {
        tests.depth_bounds = state.dynamic.depth_bounds;
    }
    let faces: [&mut StencilState; 2] = [&mut tests.front, &mut tests.back];
    for (face, [compare_mask, write_mask, reference]) in faces.into_iter().zip(state.dynamic.stencil) {
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
