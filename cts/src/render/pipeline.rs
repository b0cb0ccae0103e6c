//! Pipelines of draws: with all values of a state, or with other values of dynamic state.

use ash::vk;

use super::chains::Chains;
use super::draw::{State, Target, vertices};
use super::extension_state::{Lines, Locations};
use super::{dynamic_state3, libraries};
use crate::harness::{Gpu, Outcome};

/// Creates the pipeline of a draw.
pub(super) fn pipeline(
    gpu: &Gpu,
    target: &Target,
    pass: vk::RenderPass,
    layout: vk::PipelineLayout,
    state: &State,
) -> Result<vk::Pipeline, Outcome> {
    let wanted = state;
    let baked = baked(state);
    let state = &baked;
    let stages = stages(gpu, state)?;
    let (stride, attributes) = vertices(state);
    // The command sets the right stride where it is dynamic.
    let stride = if state.extended && stride > 0 { stride + 4 } else { stride };
    let input_rate = state.extensions.divisor.map_or(vk::VertexInputRate::VERTEX, |_| vk::VertexInputRate::INSTANCE);
    let bindings = [vk::VertexInputBindingDescription { binding: 0, stride, input_rate }];
    let divisor = state.extensions.divisor.unwrap_or(1);
    let divisors = [vk::VertexInputBindingDivisorDescriptionKHR { binding: 0, divisor }];
    let mut by_instance =
        vk::PipelineVertexInputDivisorStateCreateInfoKHR::default().vertex_binding_divisors(&divisors);
    let mut input = vk::PipelineVertexInputStateCreateInfo::default();
    if divisor != 1 {
        input = input.push_next(&mut by_instance);
    }
    if !attributes.is_empty() && !state.dynamic3 {
        input = input.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
    }
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(state.topology);
    let assembly = assembly.primitive_restart_enable(state.restart);
    let (viewports, scissors) = ([state.viewport], [state.scissor]);
    let mut of_viewport = Chains::default();
    let mut viewport = of_viewport.viewport(state);
    if !state.extended {
        viewport = viewport.viewports(&viewports).scissors(&scissors);
    }
    let mask = [state.sample_mask];
    let (mut chains, mut of_samples) = (Chains::default(), Chains::default());
    let raster = chains.raster(state);
    let multisample = of_samples.multisample(state, multisample(gpu, target, state, &mask));
    let blends = [state.blend];
    let mut blend =
        vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends).blend_constants(state.constants);
    let op = state.logic.or(wanted.logic).unwrap_or_default();
    blend = blend.logic_op_enable(state.logic.is_some()).logic_op(op);
    let mut advanced = advanced_blend(state.extensions.advanced.unwrap_or_default());
    blend = if state.extensions.advanced.is_some() { blend.push_next(&mut advanced) } else { blend };
    let writes = [vk::Bool32::from(state.extensions.color_write != Some(false))];
    let mut writes = vk::PipelineColorWriteCreateInfoEXT::default().color_write_enables(&writes);
    if state.extensions.color_write.is_some() {
        blend = blend.push_next(&mut writes);
    }
    let dynamic = dynamic_states(wanted, stride > 0);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let mut of_patches = Chains::default();
    let tessellation = of_patches.tessellation(state);
    let mut info = vk::GraphicsPipelineCreateInfo::default()
        .flags(flags(state))
        .stages(&stages)
        .dynamic_state(&dynamic)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&state.depth_stencil)
        .color_blend_state(&blend)
        .layout(layout)
        .render_pass(pass);
    if let Some(tessellation) = &tessellation {
        info = info.tessellation_state(tessellation);
    }
    let exact = vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS_2;
    let exactly = vk::PipelineRobustnessCreateInfoEXT::default().vertex_inputs(exact);
    let mut robustness = exactly;
    if state.extensions.exact && !state.linked {
        info = info.push_next(&mut robustness);
    }
    let mut rate = state.extensions.rate();
    if let Some(rate) = &mut rate {
        info = info.push_next(rate);
    }
    if state.linked {
        libraries::linked(gpu, &info, state.extensions.exact.then_some(exactly))
    } else {
        create(gpu, &info)
    }
}

/// Returns the multisample state without its chain.
fn multisample<'a>(
    gpu: &Gpu,
    target: &Target,
    state: &State,
    mask: &'a [u32],
) -> vk::PipelineMultisampleStateCreateInfo<'a> {
    let samples = if state.dynamic3 { dynamic_state3::other_samples(target.samples) } else { target.samples };
    vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(samples)
        .sample_mask(mask)
        .sample_shading_enable(state.by_sample)
        .min_sample_shading(1.0)
        .alpha_to_one_enable(state.dynamic3 && gpu.features.alpha_to_one != 0)
        .alpha_to_coverage_enable(state.alpha_to_coverage)
}

/// Returns the stages of a pipeline.
fn stages(gpu: &Gpu, state: &State) -> Result<Vec<vk::PipelineShaderStageCreateInfo<'static>>, Outcome> {
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let mut stages = vec![stage(vk::ShaderStageFlags::FRAGMENT, gpu.module(state.fragment)?)];
    match state.extensions.mesh {
        None => stages.push(stage(vk::ShaderStageFlags::VERTEX, gpu.module(state.vertex)?)),
        Some((task, mesh)) => {
            stages.push(stage(vk::ShaderStageFlags::MESH_EXT, gpu.module(mesh)?));
            if let Some(task) = task {
                stages.push(stage(vk::ShaderStageFlags::TASK_EXT, gpu.module(task)?));
            }
        }
    }
    if let Some(geometry) = state.extensions.geometry {
        stages.push(stage(vk::ShaderStageFlags::GEOMETRY, gpu.module(geometry)?));
    }
    if let Some(patches) = state.extensions.patches {
        stages.push(stage(vk::ShaderStageFlags::TESSELLATION_CONTROL, gpu.module(patches.control)?));
        stages.push(stage(vk::ShaderStageFlags::TESSELLATION_EVALUATION, gpu.module(patches.evaluation)?));
    }
    Ok(stages)
}

/// Returns the state that a pipeline is created with, which has other values of dynamic state.
fn baked(state: &State) -> State {
    let mut baked = if state.dynamic { other_than(state) } else { state.clone() };
    if state.extended {
        baked = other_than_extended(&baked);
    }
    if state.dynamic3 {
        baked = dynamic_state3::other_than(&baked);
    }
    baked
}

/// Returns the flags of a pipeline.
fn flags(state: &State) -> vk::PipelineCreateFlags {
    match state.feedback {
        _ if state.dynamic3 => vk::PipelineCreateFlags::empty(),
        vk::ImageAspectFlags::COLOR => vk::PipelineCreateFlags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT,
        vk::ImageAspectFlags::DEPTH => vk::PipelineCreateFlags::DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_EXT,
        _ => vk::PipelineCreateFlags::empty(),
    }
}

/// Returns the static form of the parameters of advanced blend operations.
fn advanced_blend(parameters: vk::ColorBlendAdvancedEXT) -> vk::PipelineColorBlendAdvancedStateCreateInfoEXT<'static> {
    vk::PipelineColorBlendAdvancedStateCreateInfoEXT::default()
        .src_premultiplied(parameters.src_premultiplied != 0)
        .dst_premultiplied(parameters.dst_premultiplied != 0)
        .blend_overlap(parameters.blend_overlap)
}

/// Creates a pipeline.
fn create(gpu: &Gpu, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Result<vk::Pipeline, Outcome> {
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[*info], None) };
    Ok(made.map_err(|(_, code)| code)?[0])
}

/// Returns the dynamic states of a pipeline. `has_vertices` tells whether it has vertex buffers.
fn dynamic_states(state: &State, has_vertices: bool) -> Vec<vk::DynamicState> {
    let mut dynamic: Vec<_> = match state.dynamic {
        true => DYNAMIC.iter().copied().chain(state.extensions.dynamic_states()).collect(),
        false => Vec::new(),
    };
    if state.extended {
        // The states with counts replace these.
        dynamic.retain(|state| ![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR].contains(state));
        dynamic.extend_from_slice(EXTENDED);
        dynamic.extend(has_vertices.then_some(vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE));
        dynamic.extend(state.logic.map(|_| vk::DynamicState::LOGIC_OP_EXT));
        dynamic.extend(state.extensions.patches.map(|_| vk::DynamicState::PATCH_CONTROL_POINTS_EXT));
    }
    if state.dynamic3 {
        dynamic.extend_from_slice(dynamic_state3::STATES);
        dynamic.extend(state.extensions.dynamic3_states());
        let loops = !state.feedback.is_empty();
        dynamic.extend(loops.then_some(vk::DynamicState::ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT));
    }
    dynamic
}

/// All dynamic states of Vulkan 1.0.
const DYNAMIC: &[vk::DynamicState] = &[
    vk::DynamicState::VIEWPORT,
    vk::DynamicState::SCISSOR,
    vk::DynamicState::LINE_WIDTH,
    vk::DynamicState::DEPTH_BIAS,
    vk::DynamicState::BLEND_CONSTANTS,
    vk::DynamicState::DEPTH_BOUNDS,
    vk::DynamicState::STENCIL_COMPARE_MASK,
    vk::DynamicState::STENCIL_WRITE_MASK,
    vk::DynamicState::STENCIL_REFERENCE,
];

/// Returns the state with other values of the dynamic state of Vulkan 1.0.
fn other_than(state: &State) -> State {
    let mut other = state.clone();
    other.viewport = vk::Viewport { width: 1.0, height: 1.0, max_depth: 0.1, ..Default::default() };
    other.scissor = vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..Default::default() };
    other.constants = [0.111; 4];
    other.extensions.locations = state.extensions.locations.map(Locations::mirrored);
    other.raster.depth_bias_constant_factor = 1e6;
    other.raster.depth_bias_slope_factor = 1e6;
    if let Some(Lines { stipple: Some(stipple), .. }) = &mut other.extensions.lines {
        *stipple = (3, 0x1111);
    }
    for face in [&mut other.depth_stencil.front, &mut other.depth_stencil.back] {
        (face.compare_mask, face.write_mask, face.reference) = (0, 0, 77);
    }
    other
}

/// Dynamic states of `VK_EXT_extended_dynamic_state` and its successor.
const EXTENDED: &[vk::DynamicState] = &[
    vk::DynamicState::CULL_MODE,
    vk::DynamicState::FRONT_FACE,
    vk::DynamicState::PRIMITIVE_TOPOLOGY,
    vk::DynamicState::VIEWPORT_WITH_COUNT,
    vk::DynamicState::SCISSOR_WITH_COUNT,
    vk::DynamicState::DEPTH_TEST_ENABLE,
    vk::DynamicState::DEPTH_WRITE_ENABLE,
    vk::DynamicState::DEPTH_COMPARE_OP,
    vk::DynamicState::DEPTH_BOUNDS_TEST_ENABLE,
    vk::DynamicState::STENCIL_TEST_ENABLE,
    vk::DynamicState::STENCIL_OP,
    vk::DynamicState::RASTERIZER_DISCARD_ENABLE,
    vk::DynamicState::DEPTH_BIAS_ENABLE,
    vk::DynamicState::PRIMITIVE_RESTART_ENABLE,
];

/// Returns the state with other values of extended dynamic state. The topology stays in its class.
fn other_than_extended(state: &State) -> State {
    use vk::PrimitiveTopology as T;
    let mut other = state.clone();
    let flip = |value: vk::Bool32| vk::TRUE - value;
    other.topology = match state.topology {
        T::TRIANGLE_LIST => T::TRIANGLE_FAN,
        T::TRIANGLE_STRIP | T::TRIANGLE_FAN => T::TRIANGLE_LIST,
        T::LINE_LIST => T::LINE_STRIP,
        T::LINE_STRIP => T::LINE_LIST,
        same => same,
    };
    // Only strips and fans can restart.
    other.restart = !state.restart && !matches!(other.topology, T::TRIANGLE_LIST | T::LINE_LIST | T::POINT_LIST);
    if let Some(patches) = &mut other.extensions.patches {
        patches.vertices = patches.vertices % 32 + 1;
    }
    other.raster.cull_mode = vk::CullModeFlags::FRONT_AND_BACK;
    other.raster.front_face = vk::FrontFace::from_raw(1 - state.raster.front_face.as_raw());
    other.raster.depth_bias_enable = flip(state.raster.depth_bias_enable);
    other.raster.rasterizer_discard_enable = flip(state.raster.rasterizer_discard_enable);
    let tests = &mut other.depth_stencil;
    tests.depth_test_enable = flip(tests.depth_test_enable);
    tests.depth_write_enable = flip(tests.depth_write_enable);
    tests.depth_compare_op = vk::CompareOp::NEVER;
    tests.stencil_test_enable = flip(tests.stencil_test_enable);
    for face in [&mut tests.front, &mut tests.back] {
        (face.fail_op, face.pass_op, face.depth_fail_op) =
            (vk::StencilOp::INVERT, vk::StencilOp::ZERO, vk::StencilOp::INVERT);
        face.compare_op = vk::CompareOp::NEVER;
    }
    other.logic = state.logic.map(|_| vk::LogicOp::SET);
    other
}
