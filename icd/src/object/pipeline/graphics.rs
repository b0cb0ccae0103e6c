//! Graphics pipelines. Each consists of four parts, which its create info describes or which come
//! from other pipelines (libraries).
//!
//! A part holds the programs of its stages and its state. Parts are compiled together only when
//! all of them are known. Source: Vulkan specification, "Graphics Pipelines", "Pipeline
//! Libraries"; `VK_EXT_graphics_pipeline_library`.

use std::sync::Arc;

use ash::vk::{self, GraphicsPipelineLibraryFlagsEXT as Subsets, Handle, PipelineCreateFlags as Flags};
use vitric_api::{Error, Result};
use vitric_exec::Program;
use vitric_format::FormatInfo;
use vitric_gpu::pipeline::CompiledPipeline;
use vitric_gpu::raster::{RateState, SampleLocations};
use vitric_gpu::state::{
    BlendState, DepthClampRange, DepthLimits, DepthStencilState, DynamicDefaults, DynamicState, LineStipple,
    MultisampleState, PatchPrograms, PatchState, PipelineState, RasterState, VertexInput, Viewport,
};

use vitric_vulkan::{PipelineViewportDepthClampControlCreateInfoEXT, sys};

use super::{
    PipelineBuilder, PipelineInfo, attachment_formats, attributes, bindings, blend_states, color_formats, color_writes,
    counted, custom_locations, depth_stencil_state, is_compilation_forbidden, multisample_state, negative_one_to_one,
    raster, rate_state, stipple,
};
use crate::call::Call;
use crate::object::dynamic_state::dynamic_state;
use crate::object::{Pipeline, need};

/// Known parts of a graphics pipeline.
#[derive(Clone, Default)]
pub struct Parts {
    input: Option<Arc<Input>>,
    shaders: Option<Arc<Shaders>>,
    fragment: Option<Arc<Fragment>>,
    output: Option<Arc<Output>>,
}

/// The vertex input interface.
struct Input {
    vertices: VertexInput,
    topology: vk::PrimitiveTopology,
    restart: bool,
    /// True if vertex attributes use robust buffer access 2; `None` if the part does not specify
    /// it.
    exact: Option<bool>,
    dynamic: DynamicState,
}

/// Shaders before rasterization.
struct Shaders {
    /// A vertex shader or a mesh shader.
    vertex: Arc<Program>,
    task: Option<Arc<Program>>,
    patches: Option<PatchPrograms>,
    patch_state: PatchState,
    geometry: Option<Arc<Program>>,
    raster: RasterState,
    depth_clip: Option<bool>,
    depth_clamp: bool,
    depth_limits: DepthLimits,
    clamp_range: Option<DepthClampRange>,
    stipple: LineStipple,
    viewports: Vec<vk::Viewport>,
    scissors: Vec<vk::Rect2D>,
    /// True if vertex attributes use robust buffer access 2, unless the input part specifies it.
    exact_vertices: bool,
    rate: RateState,
    dynamic: DynamicState,
}

impl Shaders {
    /// Returns the vertex input interface of a pipeline with a mesh shader, which has no
    /// attributes.
    fn input(&self) -> Option<Input> {
        let topology = match self.vertex.mesh.as_deref()?.corners {
            1 => vk::PrimitiveTopology::POINT_LIST,
            2 => vk::PrimitiveTopology::LINE_LIST,
            _ => vk::PrimitiveTopology::TRIANGLE_LIST,
        };
        let (vertices, dynamic) = (VertexInput::default(), DynamicState::empty());
        Some(Input { vertices, topology, restart: false, exact: None, dynamic })
    }

    /// Returns true if rasterization is discarded, so that later state is ignored.
    fn discards(&self) -> bool {
        self.raster.discard && !self.dynamic.contains(DynamicState::DISCARD)
    }
}

/// The fragment shader and its tests.
#[derive(Default)]
struct Fragment {
    program: Option<Arc<Program>>,
    depth_stencil: Option<DepthStencilState>,
    min_sample_shading: Option<f32>,
    reads_attachments: bool,
    /// True if fragments read depths or stencils that earlier fragments of their pixel wrote.
    in_order: bool,
    dynamic: DynamicState,
}

/// The fragment output interface.
struct Output {
    multisample: MultisampleState,
    /// True if colours are dithered.
    dithers: bool,
    /// True if sample locations are custom, and the custom locations.
    locations: (bool, Option<SampleLocations>),
    logic_op_enable: bool,
    logic_op: vk::LogicOp,
    blend: Vec<BlendState>,
    blend_constants: [f32; 4],
    writes: Vec<bool>,
    color_formats: Vec<Option<&'static FormatInfo>>,
    /// Locations of the attachments' colours, if they differ from the attachment indices.
    color_locations: Option<Vec<u32>>,
    reads_attachments: bool,
    /// Aspects without an attachment. They are not tested, and attachments of passes are not used.
    unused_aspects: vk::ImageAspectFlags,
    /// True if fragments read colours that earlier fragments of their pixel wrote.
    in_order: bool,
    dynamic: DynamicState,
}

/// Dynamic state of the vertex input interface.
const OF_INPUT: DynamicState =
    DynamicState::VERTEX_INPUT.union(DynamicState::STRIDES).union(DynamicState::TOPOLOGY).union(DynamicState::RESTART);

/// Dynamic state of the fragment shader.
const OF_FRAGMENT: DynamicState = DynamicState::DEPTH_BOUNDS
    .union(DynamicState::DEPTH_TEST)
    .union(DynamicState::DEPTH_WRITE)
    .union(DynamicState::DEPTH_COMPARE)
    .union(DynamicState::DEPTH_BOUNDS_TEST)
    .union(DynamicState::STENCIL_TEST)
    .union(DynamicState::STENCIL_OP)
    .union(DynamicState::STENCIL_COMPARE_MASK)
    .union(DynamicState::STENCIL_WRITE_MASK)
    .union(DynamicState::STENCIL_REFERENCE);

/// Dynamic state of the fragment output interface.
const OF_OUTPUT: DynamicState = DynamicState::BLEND_CONSTANTS
    .union(DynamicState::LOGIC_OP)
    .union(DynamicState::LOGIC_OP_ENABLE)
    .union(DynamicState::SAMPLES)
    .union(DynamicState::SAMPLE_MASK)
    .union(DynamicState::ALPHA_TO_COVERAGE)
    .union(DynamicState::ALPHA_TO_ONE)
    .union(DynamicState::BLEND_ENABLE)
    .union(DynamicState::BLEND_EQUATION)
    .union(DynamicState::BLEND_ADVANCED)
    .union(DynamicState::WRITE_MASK)
    .union(DynamicState::COLOR_WRITE)
    .union(DynamicState::SAMPLE_LOCATIONS)
    .union(DynamicState::SAMPLE_LOCATIONS_ENABLE)
    .union(DynamicState::FEEDBACK_LOOP);

/// Dynamic state of the pre-rasterization shaders: all state of no other part.
const OF_SHADERS: DynamicState = OF_INPUT.union(OF_FRAGMENT).union(OF_OUTPUT).complement();

/// Returns the parts that a pipeline's create info describes.
pub fn own_parts(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Subsets {
    let named: Option<&vk::GraphicsPipelineLibraryCreateInfoEXT<'_>> = call.find(info.p_next);
    let links = libraries(call, info).is_some_and(|libraries| libraries.library_count > 0);
    match named {
        Some(named) => named.flags,
        None if links || info.has(call, Flags::LIBRARY_KHR) => Subsets::empty(),
        None => Subsets::from_raw(0xf),
    }
}

/// Returns true if rasterization is discarded, so that the fragment shader is ignored.
pub fn discards(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    let raster = call.get(info.p_rasterization_state);
    let dynamic = call.get(info.p_dynamic_state).map_or(DynamicState::empty(), |state| dynamic_state(call, state));
    raster.is_some_and(|raster| raster.rasterizer_discard_enable != 0) && !dynamic.contains(DynamicState::DISCARD)
}

fn libraries<'c>(
    call: Call<'c>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
) -> Option<&'c vk::PipelineLibraryCreateInfoKHR<'c>> {
    call.find(info.p_next)
}

/// Creates a pipeline, or a library of parts.
pub fn make(builder: &PipelineBuilder<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Result<Pipeline> {
    let (call, mut parts) = (builder.call, Parts::default());
    let links =
        libraries(call, info).map_or(&[][..], |libraries| call.slice(libraries.p_libraries, libraries.library_count));
    for &library in links {
        match need(builder.object, &builder.object.pipelines, library)? {
            Pipeline::Library(library) => parts.take(&library),
            _ => return Err(Error::Unknown),
        }
    }
    parts.describe(builder, info)?;
    if info.has(call, Flags::LIBRARY_KHR) {
        return Ok(Pipeline::Library(parts));
    }
    let mut pipeline = parts.assemble().ok_or(Error::Unknown)?;
    builder.object.programs.share(&mut pipeline);
    // Compilation waits until the first draw if it is forbidden now, depends on dynamic state, or
    // if fast linking is requested.
    let is_fast = !links.is_empty() && !info.has(call, Flags::LINK_TIME_OPTIMIZATION_EXT);
    if !is_compilation_forbidden(call, info) && !is_fast && !pipeline.dynamic.intersects(DynamicState::EXTENDED) {
        pipeline.prepare();
    }
    Ok(Pipeline::Graphics(Arc::new(pipeline)))
}

impl Parts {
    /// Adds the parts of another pipeline.
    fn take(&mut self, other: &Self) {
        self.input = other.input.clone().or(self.input.take());
        self.shaders = other.shaders.clone().or(self.shaders.take());
        self.fragment = other.fragment.clone().or(self.fragment.take());
        self.output = other.output.clone().or(self.output.take());
    }

    /// Adds the parts that a create info describes.
    fn describe(&mut self, builder: &PipelineBuilder<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Result<()> {
        let (call, own) = (builder.call, own_parts(builder.call, info));
        let dynamic = call.get(info.p_dynamic_state).map_or(DynamicState::empty(), |state| dynamic_state(call, state));
        if own.contains(Subsets::VERTEX_INPUT_INTERFACE) && !builder.has_stage(vk::ShaderStageFlags::MESH_EXT) {
            let has_stages = own.contains(Subsets::PRE_RASTERIZATION_SHADERS);
            let exact = exact_vertices(builder, info, has_stages);
            self.input = Some(Arc::new(Input { exact, ..input(call, info, dynamic & OF_INPUT) }));
        }
        if own.contains(Subsets::PRE_RASTERIZATION_SHADERS) {
            self.shaders = Some(Arc::new(shaders(builder, info, dynamic & OF_SHADERS)?));
        }
        // Pointers to state that rasterizer discard makes irrelevant may be invalid.
        if self.shaders.as_ref().is_some_and(|shaders| shaders.discards()) {
            return Ok(());
        }
        if own.contains(Subsets::FRAGMENT_SHADER) {
            self.fragment = Some(Arc::new(fragment(builder, info, dynamic & OF_FRAGMENT)?));
        }
        if own.contains(Subsets::FRAGMENT_OUTPUT_INTERFACE) {
            self.output = Some(Arc::new(output(builder, info, dynamic & OF_OUTPUT)));
        }
        Ok(())
    }

    /// Returns the pipeline; `None` if a required part is missing.
    fn assemble(&self) -> Option<CompiledPipeline> {
        let shaders = self.shaders.as_deref()?;
        let of_mesh = shaders.input();
        let input = of_mesh.as_ref().or(self.input.as_deref())?;
        let (no_fragment, no_output);
        let (fragment, output) = match (&self.fragment, &self.output) {
            (Some(fragment), Some(output)) => (&**fragment, &**output),
            _ if shaders.discards() => {
                (no_fragment, no_output) = (Fragment::default(), Output::none());
                (&no_fragment, &no_output)
            }
            _ => return None,
        };
        let (unused, dynamic) =
            (output.unused_aspects, input.dynamic | shaders.dynamic | fragment.dynamic | output.dynamic);
        let min_sample_shading = fragment.min_sample_shading.or(output.multisample.min_sample_shading);
        Some(CompiledPipeline::new(PipelineState {
            vertex: shaders.vertex.clone(),
            task: shaders.task.clone(),
            patches: shaders.patches.clone(),
            patch_state: shaders.patch_state,
            geometry: shaders.geometry.clone(),
            fragment: program(fragment, output),
            bindings: input.vertices.bindings.clone(),
            attributes: input.vertices.attributes.clone(),
            topology: input.topology,
            primitive_restart: input.restart,
            viewports: shaders.viewports.iter().copied().map(Viewport).collect(),
            scissors: shaders.scissors.clone(),
            raster: shaders.raster,
            multisample: MultisampleState { min_sample_shading, ..output.multisample },
            dithers: output.dithers,
            rate: shaders.rate,
            depth_stencil: fragment.depth_stencil.map(|state| without_aspects(state, unused)),
            logic_op: output.logic_op_enable.then_some(output.logic_op),
            blend: output.blend.clone(),
            color_formats: output.color_formats.clone(),
            blend_constants: output.blend_constants,
            dynamic: dynamic & !tests_of(unused),
            dynamic_defaults: DynamicDefaults {
                depth_clip: shaders.depth_clip,
                depth_clamp: shaders.depth_clamp,
                depth_limits: shaders.depth_limits,
                clamp_range: shaders.clamp_range,
                stipple: shaders.stipple,
                logic_op: output.logic_op,
                writes: output.writes.clone(),
                custom_locations: output.locations.0,
                locations: output.locations.1,
            },
            reads_attachments: fragment.reads_attachments || output.reads_attachments,
            exact_vertices: input.exact.unwrap_or(shaders.exact_vertices),
        }))
    }
}

/// Returns the dynamic state that enables tests of some aspects.
fn tests_of(aspects: vk::ImageAspectFlags) -> DynamicState {
    let of_depth = DynamicState::DEPTH_TEST | DynamicState::DEPTH_WRITE | DynamicState::DEPTH_BOUNDS_TEST;
    let mut states = DynamicState::empty();
    if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        states |= of_depth;
    }
    if aspects.contains(vk::ImageAspectFlags::STENCIL) {
        states |= DynamicState::STENCIL_TEST;
    }
    states
}

/// Returns the state of tests without those of some aspects.
fn without_aspects(mut state: DepthStencilState, aspects: vk::ImageAspectFlags) -> DepthStencilState {
    if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        (state.depth_test, state.depth_write, state.depth_bounds_test) = (false, false, false);
    }
    state.stencil_test &= !aspects.contains(vk::ImageAspectFlags::STENCIL);
    state
}

/// Returns the aspects for which a pipeline of dynamic rendering has no attachment format.
fn unused_aspects(builder: &PipelineBuilder<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> vk::ImageAspectFlags {
    use vk::ImageAspectFlags as Aspect;
    if !info.render_pass.is_null() {
        return Aspect::empty();
    }
    let formats = attachment_formats(builder.call, info);
    let unused = |format, aspect| if format == vk::Format::UNDEFINED { aspect } else { Aspect::empty() };
    unused(formats.depth, Aspect::DEPTH) | unused(formats.stencil, Aspect::STENCIL)
}

/// Returns the fragment shader, adapted to the fragment output interface.
fn program(fragment: &Fragment, output: &Output) -> Option<Arc<Program>> {
    let mut program = fragment.program.clone()?;
    if let Some(locations) = &output.color_locations {
        program = Arc::new(program.with_colors_moved(locations));
    }
    if fragment.in_order || output.in_order {
        program = Arc::new(program.with_interlock());
    }
    Some(program)
}

fn input(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>, dynamic: DynamicState) -> Input {
    // The pointer may be invalid if all of its state is dynamic.
    let is_static = !dynamic.contains(DynamicState::VERTEX_INPUT);
    let state = call.get(info.p_vertex_input_state).filter(|_| is_static);
    let assembly = call.get(info.p_input_assembly_state);
    Input {
        vertices: VertexInput {
            bindings: state.map_or_else(Vec::new, |state| bindings(call, state)),
            attributes: state.map_or_else(Vec::new, |state| attributes(call, state)),
        },
        topology: assembly.map_or(vk::PrimitiveTopology::TRIANGLE_LIST, |state| state.topology),
        restart: assembly.is_some_and(|state| state.primitive_restart_enable != 0),
        exact: None,
        dynamic,
    }
}

/// Returns the tessellation shaders: both or none.
fn patch_programs(builder: &PipelineBuilder<'_>) -> Result<Option<PatchPrograms>> {
    use vk::ShaderStageFlags as S;
    match (builder.program(S::TESSELLATION_CONTROL)?, builder.program(S::TESSELLATION_EVALUATION)?) {
        (Some(control), Some(evaluation)) => Ok(Some(PatchPrograms { control, evaluation })),
        (None, None) => Ok(None),
        _ => Err(Error::Unknown),
    }
}

fn patch_state(call: Call<'_>, state: &vk::PipelineTessellationStateCreateInfo<'_>) -> PatchState {
    let origin: Option<&vk::PipelineTessellationDomainOriginStateCreateInfo<'_>> = call.find(state.p_next);
    let lower_left = |origin: &vk::PipelineTessellationDomainOriginStateCreateInfo<'_>| {
        origin.domain_origin == vk::TessellationDomainOrigin::LOWER_LEFT
    };
    PatchState { vertices: state.patch_control_points, lower_left: origin.is_some_and(lower_left) }
}

fn shaders(
    builder: &PipelineBuilder<'_>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    dynamic: DynamicState,
) -> Result<Shaders> {
    let call = builder.call;
    let state = call.get(info.p_rasterization_state);
    let default = vk::PipelineRasterizationStateCreateInfo { line_width: 1.0, ..Default::default() };
    let state = state.unwrap_or(&default);
    let mut raster = raster(call, state);
    let discards = raster.discard && !dynamic.contains(DynamicState::DISCARD);
    let viewport = if discards { None } else { call.get(info.p_viewport_state) };
    raster.negative_one_to_one = viewport.is_some_and(|state| negative_one_to_one(call, state));
    let clamp_range = viewport.and_then(|state| clamp_range(call, state));
    raster.depth_limits = match clamp_range {
        _ if state.depth_clamp_enable == 0 => builder.object.depth_limits,
        Some(range) => DepthLimits::Range(range),
        None => DepthLimits::Viewport,
    };
    let vertex = match builder.program(vk::ShaderStageFlags::MESH_EXT)? {
        Some(mesh) => Some(mesh),
        None => builder.program(vk::ShaderStageFlags::VERTEX)?,
    };
    let patches = patch_programs(builder)?;
    let clip: Option<&vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'_>> = call.find(state.p_next);
    Ok(Shaders {
        vertex: vertex.ok_or(Error::Unknown)?,
        task: builder.program(vk::ShaderStageFlags::TASK_EXT)?,
        patch_state: match &patches {
            Some(_) => {
                call.get(info.p_tessellation_state).map_or_else(PatchState::default, |state| patch_state(call, state))
            }
            // The pointer may be invalid.
            None => PatchState::default(),
        },
        patches,
        geometry: builder.program(vk::ShaderStageFlags::GEOMETRY)?,
        raster,
        depth_clip: clip.map(|clip| clip.depth_clip_enable != 0),
        depth_clamp: state.depth_clamp_enable != 0,
        depth_limits: builder.object.depth_limits,
        clamp_range,
        stipple: stipple(call, state),
        viewports: viewport.map_or_else(Vec::new, |state| {
            counted(call, state.p_viewports, state.viewport_count, dynamic.contains(DynamicState::VIEWPORT))
        }),
        scissors: viewport.map_or_else(Vec::new, |state| {
            counted(call, state.p_scissors, state.scissor_count, dynamic.contains(DynamicState::SCISSOR))
        }),
        exact_vertices: exact_vertices(builder, info, true).unwrap_or(builder.object.exact_vertices),
        rate: rate_state(call, info.p_next),
        dynamic,
    })
}

/// Returns the range to which a viewport state clamps depths; `None` for the viewport's.
fn clamp_range(call: Call<'_>, state: &vk::PipelineViewportStateCreateInfo<'_>) -> Option<DepthClampRange> {
    let control: &PipelineViewportDepthClampControlCreateInfoEXT = call.find(state.p_next)?;
    let range = call.get(control.depth_clamp_range);
    let range = range.filter(|_| control.depth_clamp_mode == sys::DepthClampModeEXT::USER_DEFINED_RANGE)?;
    Some(DepthClampRange::new(range.min_depth_clamp, range.max_depth_clamp))
}

/// Returns true if vertex attributes use robust buffer access 2. The vertex stage has precedence
/// over the pipeline if there are stages. `None` if neither specifies it.
fn exact_vertices(
    builder: &PipelineBuilder<'_>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    has_stages: bool,
) -> Option<bool> {
    use vk::PipelineRobustnessBufferBehaviorEXT as Behavior;
    let call = builder.call;
    let stages = if has_stages { call.slice(info.p_stages, info.stage_count) } else { &[] };
    let stage = stages.iter().filter(|stage| stage.stage == vk::ShaderStageFlags::VERTEX).map(|stage| stage.p_next);
    let mut chains = stage.chain([info.p_next]);
    let robustness: &vk::PipelineRobustnessCreateInfoEXT<'_> = chains.find_map(|next| call.find(next))?;
    Some(match robustness.vertex_inputs {
        Behavior::DEVICE_DEFAULT => builder.object.exact_vertices,
        behavior => behavior == Behavior::ROBUST_BUFFER_ACCESS_2,
    })
}

/// Returns true if shaders may read the attachments that they render to.
fn reads_attachments(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    info.has(call, Flags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT | Flags::DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_EXT)
}

/// Returns true if fragments may read the depth and stencil that they are tested against. They
/// read the values before their tests write them.
fn reads_depths(builder: &PipelineBuilder<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    let call = builder.call;
    let pass = builder.object.passes.get(info.render_pass.as_raw());
    info.has(call, Flags::DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_EXT)
        || pass.is_some_and(|pass| pass.reads_depths(info.subpass))
}

fn fragment(
    builder: &PipelineBuilder<'_>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    dynamic: DynamicState,
) -> Result<Fragment> {
    use vk::PipelineDepthStencilStateCreateFlags as F;
    let call = builder.call;
    let state = call.get(info.p_depth_stencil_state);
    let ordered =
        F::RASTERIZATION_ORDER_ATTACHMENT_DEPTH_ACCESS_EXT | F::RASTERIZATION_ORDER_ATTACHMENT_STENCIL_ACCESS_EXT;
    let depth_stencil = state.map(depth_stencil_state);
    let is_ordered = state.is_some_and(|state| state.flags.intersects(ordered));
    let may_write = depth_stencil.is_some_and(|tests| tests.may_write(dynamic));
    Ok(Fragment {
        program: builder.program(vk::ShaderStageFlags::FRAGMENT)?,
        depth_stencil,
        in_order: is_ordered || (reads_depths(builder, info) && may_write),
        min_sample_shading: multisample_state(call, call.get(info.p_multisample_state)).min_sample_shading,
        reads_attachments: reads_attachments(call, info),
        dynamic,
    })
}

impl Output {
    /// Returns the output interface of a pipeline without fragments.
    fn none() -> Self {
        Self {
            multisample: MultisampleState {
                samples: 1,
                min_sample_shading: None,
                sample_mask: u32::MAX,
                alpha_to_coverage: false,
                alpha_to_one: false,
                custom: None,
            },
            dithers: false,
            locations: (false, None),
            logic_op_enable: false,
            logic_op: vk::LogicOp::default(),
            blend: Vec::new(),
            blend_constants: [0.0; 4],
            writes: Vec::new(),
            color_formats: Vec::new(),
            color_locations: None,
            reads_attachments: false,
            unused_aspects: vk::ImageAspectFlags::empty(),
            in_order: false,
            dynamic: DynamicState::empty(),
        }
    }
}

/// Returns the attachment of each colour, unless each location has the attachment of its number.
fn color_locations(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Option<Vec<u32>> {
    let moved: &vk::RenderingAttachmentLocationInfoKHR<'_> = call.find(info.p_next)?;
    let locations = call.slice(moved.p_color_attachment_locations, moved.color_attachment_count);
    (!locations.iter().copied().eq(0..locations.len() as u32)).then(|| locations.to_vec())
}

/// Returns true if a pipeline dithers colours: by its subpass, or by its own flag without one.
fn dithers(builder: &PipelineBuilder<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    let flag = sys::PipelineCreateFlags2::ENABLE_LEGACY_DITHERING_EXT.bits();
    match builder.object.passes.get(info.render_pass.as_raw()) {
        Some(pass) => pass.dithers(info.subpass),
        None => info.has_newer(builder.call, flag),
    }
}

fn output(builder: &PipelineBuilder<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>, dynamic: DynamicState) -> Output {
    let ordered = vk::PipelineColorBlendStateCreateFlags::RASTERIZATION_ORDER_ATTACHMENT_ACCESS_EXT;
    let call = builder.call;
    let (state, multisample) = (call.get(info.p_color_blend_state), call.get(info.p_multisample_state));
    let (all, writes) = (
        DynamicState::BLEND_ENABLE | DynamicState::BLEND_EQUATION | DynamicState::WRITE_MASK,
        state.map_or_else(Vec::new, |state| color_writes(call, state)),
    );
    // The attachments' pointer may be invalid if all of its state is dynamic.
    let mut blend = state.filter(|_| !dynamic.contains(all)).map_or_else(Vec::new, |state| blend_states(call, state));
    if !dynamic.contains(DynamicState::COLOR_WRITE) {
        for (blend, _) in blend.iter_mut().zip(&writes).filter(|(_, writes)| !**writes) {
            blend.write_mask = vk::ColorComponentFlags::empty();
        }
    }
    Output {
        dithers: dithers(builder, info),
        multisample: multisample_state(call, multisample),
        locations: multisample.and_then(|state| custom_locations(call, state)).unwrap_or_default(),
        logic_op_enable: state.is_some_and(|state| state.logic_op_enable != 0),
        logic_op: state.map_or_else(vk::LogicOp::default, |state| state.logic_op),
        blend,
        blend_constants: state.map_or([0.0; 4], |state| state.blend_constants),
        writes,
        color_formats: color_formats(builder, info),
        color_locations: color_locations(call, info),
        reads_attachments: reads_attachments(call, info),
        unused_aspects: unused_aspects(builder, info),
        in_order: state.is_some_and(|state| state.flags.contains(ordered)),
        dynamic,
    }
}
