//! Checks of pipeline create infos. State that is dynamic or unused may have any value.

use ash::vk::{self, DynamicState as D, GraphicsPipelineLibraryFlagsEXT as Subsets};
use vitric_api::Result;
use vitric_api::physical::sample_counts;
use vitric_format as format;
use vitric_gpu::state::DynamicState;
use vitric_gpu::state::MAX_VIEWPORTS;
use vitric_vulkan::{
    CustomResolveCreateInfoEXT, PipelineBinaryCreateInfoKHR, PipelineBinaryInfoKHR,
    PipelineViewportDepthClampControlCreateInfoEXT, sys,
};

use super::super::DeviceObject;
use super::super::dynamic_state::{DYNAMIC_STATES, dynamic_state};
use super::{COMPARES, Check, limits, max_colors, rule, table};
use crate::call::Call;

const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::ALL_GRAPHICS.as_raw()
        | vk::ShaderStageFlags::TASK_EXT.as_raw()
        | vk::ShaderStageFlags::MESH_EXT.as_raw()
        | vk::ShaderStageFlags::COMPUTE.as_raw(),
);
/// Topologies of primitives.
pub const TOPOLOGIES: &[vk::PrimitiveTopology] = &[
    vk::PrimitiveTopology::POINT_LIST,
    vk::PrimitiveTopology::LINE_LIST,
    vk::PrimitiveTopology::LINE_STRIP,
    vk::PrimitiveTopology::TRIANGLE_LIST,
    vk::PrimitiveTopology::TRIANGLE_STRIP,
    vk::PrimitiveTopology::TRIANGLE_FAN,
    vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY,
    vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY,
    vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY,
    vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY,
    vk::PrimitiveTopology::PATCH_LIST,
];
/// Fill modes of polygons.
pub const POLYGON_MODES: &[vk::PolygonMode] = &[vk::PolygonMode::FILL, vk::PolygonMode::LINE, vk::PolygonMode::POINT];
/// Windings of front faces.
pub const FRONTS: &[vk::FrontFace] = &[vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE];
/// Rasterization modes of lines.
pub const LINE_MODES: &[vk::LineRasterizationModeKHR] = &[
    vk::LineRasterizationModeKHR::DEFAULT,
    vk::LineRasterizationModeKHR::RECTANGULAR,
    vk::LineRasterizationModeKHR::BRESENHAM,
    vk::LineRasterizationModeKHR::RECTANGULAR_SMOOTH,
];
/// Modes of conservative rasterization.
pub const CONSERVATIVE: &[vk::ConservativeRasterizationModeEXT] = &[
    vk::ConservativeRasterizationModeEXT::DISABLED,
    vk::ConservativeRasterizationModeEXT::OVERESTIMATE,
    vk::ConservativeRasterizationModeEXT::UNDERESTIMATE,
];
/// Provoking vertices of a primitive.
pub const PROVOKING: &[vk::ProvokingVertexModeEXT] =
    &[vk::ProvokingVertexModeEXT::FIRST_VERTEX, vk::ProvokingVertexModeEXT::LAST_VERTEX];
/// Origins of the tessellation domain.
pub const ORIGINS: &[vk::TessellationDomainOrigin] =
    &[vk::TessellationDomainOrigin::UPPER_LEFT, vk::TessellationDomainOrigin::LOWER_LEFT];
const RATES: &[vk::VertexInputRate] = &[vk::VertexInputRate::VERTEX, vk::VertexInputRate::INSTANCE];
const STENCIL_OPS: &[vk::StencilOp] = &[
    vk::StencilOp::KEEP,
    vk::StencilOp::ZERO,
    vk::StencilOp::REPLACE,
    vk::StencilOp::INCREMENT_AND_CLAMP,
    vk::StencilOp::DECREMENT_AND_CLAMP,
    vk::StencilOp::INVERT,
    vk::StencilOp::INCREMENT_AND_WRAP,
    vk::StencilOp::DECREMENT_AND_WRAP,
];
const COMBINERS: &[vk::FragmentShadingRateCombinerOpKHR] = &[
    vk::FragmentShadingRateCombinerOpKHR::KEEP,
    vk::FragmentShadingRateCombinerOpKHR::REPLACE,
    vk::FragmentShadingRateCombinerOpKHR::MIN,
    vk::FragmentShadingRateCombinerOpKHR::MAX,
    vk::FragmentShadingRateCombinerOpKHR::MUL,
];
/// Last values of enums that are numbered from 0 on.
const LAST_FACTOR: u64 = vk::BlendFactor::ONE_MINUS_SRC1_ALPHA.as_raw() as u64;
const LAST_BLEND_OP: u64 = vk::BlendOp::MAX.as_raw() as u64;
const OVERLAPS: &[vk::BlendOverlapEXT] =
    &[vk::BlendOverlapEXT::UNCORRELATED, vk::BlendOverlapEXT::DISJOINT, vk::BlendOverlapEXT::CONJOINT];
const LAST_LOGIC_OP: u64 = vk::LogicOp::SET.as_raw() as u64;

/// Returns true for an operation of `VK_EXT_blend_operation_advanced`.
fn is_advanced(op: vk::BlendOp) -> bool {
    (vk::BlendOp::ZERO_EXT.as_raw()..=vk::BlendOp::BLUE_EXT.as_raw()).contains(&op.as_raw())
}

/// Parts of a graphics pipeline that its create info describes, with its dynamic state.
pub struct Described {
    own: Subsets,
    dynamic: DynamicState,
    stages: vk::ShaderStageFlags,
}

impl Described {
    fn is_static(&self, state: DynamicState) -> bool {
        !self.dynamic.contains(state)
    }
}

table! {
    vk::PipelineShaderStageCreateInfo<'_> = "VkPipelineShaderStageCreateInfo" { stage: one_bit(STAGES), }
        then |stage, check| {
            check.points("p_name", stage.p_name, 1)?;
            check.call.get(stage.p_specialization_info).map_or(Ok(()), |info| check.nested(info))
        };
    vk::SpecializationInfo<'_> = "VkSpecializationInfo" { p_map_entries: points(map_entry_count), }
        then |info, check| check.points("p_data", info.p_data, u32::from(info.data_size > 0));
    vk::ComputePipelineCreateInfo<'_> = "VkComputePipelineCreateInfo" {} then |info, check| {
        check.nested(&info.stage)?;
        check.one_bit("stage", info.stage.stage.as_raw().into(), vk::ShaderStageFlags::COMPUTE.as_raw().into())
    };
    PipelineBinaryCreateInfoKHR = "VkPipelineBinaryCreateInfoKHR" {} then |info, check| {
        let sources = [
            !info.keys_and_data_info.is_null(),
            info.pipeline != sys::Pipeline::default(),
            !info.pipeline_create_info.is_null(),
        ];
        let count = sources.into_iter().filter(|is_named| *is_named).count();
        let allowed = "exactly one of pKeysAndDataInfo, pipeline and pPipelineCreateInfo";
        check.holds("sources", count, allowed, count == 1)?;
        check.call.get(info.keys_and_data_info).map_or(Ok(()), |data| check.nested(data))
    };
    sys::PipelineBinaryKeysAndDataKHR = "VkPipelineBinaryKeysAndDataKHR" {} then |info, check| {
        check.points("p_pipeline_binary_keys", info.pipeline_binary_keys, info.binary_count)?;
        check.points("p_pipeline_binary_data", info.pipeline_binary_data, info.binary_count)
    };
    PipelineBinaryInfoKHR = "VkPipelineBinaryInfoKHR" {}
        then |info, check| check.points("p_pipeline_binaries", info.pipeline_binaries, info.binary_count);
    vk::PipelineDynamicStateCreateInfo<'_> = "VkPipelineDynamicStateCreateInfo" {
        p_dynamic_states: points(dynamic_state_count),
    } then |info, check| {
        let is_known = |state: D| {
            state == D::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT || DYNAMIC_STATES.iter().any(|(known, _)| *known == state)
        };
        let states = check.call.slice(info.p_dynamic_states, info.dynamic_state_count);
        states.iter().try_for_each(|&state| {
            check.holds("p_dynamic_states", format_args!("{state:?}"), "a state that commands can set", is_known(state))
        })
    };
    vk::VertexInputBindingDescription = "VkVertexInputBindingDescription" {
        binding: within(0..=u64::from(limits().max_vertex_input_bindings - 1)),
        input_rate: any_of(RATES),
    };
    vk::VertexInputAttributeDescription = "VkVertexInputAttributeDescription" {
        binding: within(0..=u64::from(limits().max_vertex_input_bindings - 1)),
        location: within(0..=u64::from(limits().max_vertex_input_attributes - 1)),
    } then |attribute, check| vertex_format(attribute.format, check);
    vk::VertexInputBindingDescription2EXT<'_> = "VkVertexInputBindingDescription2EXT" {
        binding: within(0..=u64::from(limits().max_vertex_input_bindings - 1)),
        input_rate: any_of(RATES),
    };
    vk::VertexInputAttributeDescription2EXT<'_> = "VkVertexInputAttributeDescription2EXT" {
        binding: within(0..=u64::from(limits().max_vertex_input_bindings - 1)),
        location: within(0..=u64::from(limits().max_vertex_input_attributes - 1)),
    } then |attribute, check| vertex_format(attribute.format, check);
    vk::PipelineVertexInputStateCreateInfo<'_> = "VkPipelineVertexInputStateCreateInfo" {
        vertex_binding_description_count: within(0..=u64::from(limits().max_vertex_input_bindings)),
        p_vertex_binding_descriptions: each(vertex_binding_description_count),
        vertex_attribute_description_count: within(0..=u64::from(limits().max_vertex_input_attributes)),
        p_vertex_attribute_descriptions: each(vertex_attribute_description_count),
    };
    vk::PipelineRasterizationLineStateCreateInfoKHR<'_> = "VkPipelineRasterizationLineStateCreateInfo" {
        line_rasterization_mode: any_of(LINE_MODES),
    };
    vk::PipelineRasterizationConservativeStateCreateInfoEXT<'_> =
        "VkPipelineRasterizationConservativeStateCreateInfoEXT" { conservative_rasterization_mode: any_of(CONSERVATIVE), };
    vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'_> =
        "VkPipelineRasterizationProvokingVertexStateCreateInfoEXT" { provoking_vertex_mode: any_of(PROVOKING), };
    vk::PipelineRasterizationStateStreamCreateInfoEXT<'_> = "VkPipelineRasterizationStateStreamCreateInfoEXT" {
        rasterization_stream: within(0..=u64::from(vitric_ir::interface::STREAMS - 1)),
    };
    vk::PipelineTessellationDomainOriginStateCreateInfo<'_> = "VkPipelineTessellationDomainOriginStateCreateInfo" {
        domain_origin: any_of(ORIGINS),
    };
    vk::PipelineRenderingCreateInfo<'_> = "VkPipelineRenderingCreateInfo" {
        color_attachment_count: within(0..=u64::from(max_colors())),
        p_color_attachment_formats: points(color_attachment_count),
    };
    CustomResolveCreateInfoEXT = "VkCustomResolveCreateInfoEXT" {
        color_attachment_count: within(0..=u64::from(max_colors())),
    } then |info, check| {
        check.points("p_color_attachment_formats", info.color_attachment_formats, info.color_attachment_count)
    };
    vk::StencilOpState = "VkStencilOpState" {
        fail_op: any_of(STENCIL_OPS),
        pass_op: any_of(STENCIL_OPS),
        depth_fail_op: any_of(STENCIL_OPS),
        compare_op: any_of(COMPARES),
    };
    vk::PipelineColorBlendAttachmentState = "VkPipelineColorBlendAttachmentState" {} then |state, check| {
        if state.blend_enable == vk::FALSE {
            return Ok(());
        }
        let factors = [
            ("src_color_blend_factor", state.src_color_blend_factor),
            ("dst_color_blend_factor", state.dst_color_blend_factor),
            ("src_alpha_blend_factor", state.src_alpha_blend_factor),
            ("dst_alpha_blend_factor", state.dst_alpha_blend_factor),
        ];
        let number = |raw: i32| u64::from(raw as u32);
        factors.into_iter().try_for_each(|(name, factor)| check.within(name, number(factor.as_raw()), 0..=LAST_FACTOR))?;
        if is_advanced(state.color_blend_op) {
            let (color, alpha) = (state.color_blend_op, state.alpha_blend_op);
            return check.holds("alpha_blend_op", format_args!("{alpha:?}"), "color_blend_op", color == alpha);
        }
        check.within("color_blend_op", number(state.color_blend_op.as_raw()), 0..=LAST_BLEND_OP)?;
        check.within("alpha_blend_op", number(state.alpha_blend_op.as_raw()), 0..=LAST_BLEND_OP)
    };
    vk::PipelineColorBlendAdvancedStateCreateInfoEXT<'_> = "VkPipelineColorBlendAdvancedStateCreateInfoEXT" {
        blend_overlap: any_of(OVERLAPS),
    };
}

fn vertex_format(value: vk::Format, check: Check<'_>) -> Result<()> {
    let is_vertex = format::features(value).buffer.contains(vk::FormatFeatureFlags::VERTEX_BUFFER);
    check.holds("format", format_args!("{value:?}"), "a format for vertex buffers", is_vertex)
}

/// Checks a logic operation.
///
/// # Errors
/// An error if it is not supported: a message was sent.
pub fn logic_op(value: vk::LogicOp, check: Check<'_>) -> Result<()> {
    check.within("logic_op", u64::from(value.as_raw() as u32), 0..=LAST_LOGIC_OP)
}

/// Checks the number of samples of a pixel.
///
/// # Errors
/// An error if it is not supported: a message was sent.
pub fn samples(value: vk::SampleCountFlags, check: Check<'_>) -> Result<()> {
    check.one_bit("rasterization_samples", value.as_raw().into(), sample_counts().as_raw().into())
}

/// Checks the number of vertices of a patch.
///
/// # Errors
/// An error if it is outside of the limits: a message was sent.
pub fn patch_vertices(value: u32, check: Check<'_>) -> Result<()> {
    check.within("patch_control_points", value.into(), 1..=limits().max_tessellation_patch_size.into())
}

/// Checks the number of a vertex stream.
///
/// # Errors
/// An error if it is outside of the limits: a message was sent.
pub fn stream(value: u32, check: Check<'_>) -> Result<()> {
    check.within("rasterization_stream", value.into(), 0..=u64::from(vitric_ir::interface::STREAMS - 1))
}

/// Checks the range to which depths are clamped.
///
/// # Errors
/// An error if it is not allowed: a message was sent.
pub fn clamp_range(
    mode: sys::DepthClampModeEXT,
    range: Option<&sys::DepthClampRangeEXT>,
    check: Check<'_>,
) -> Result<()> {
    let (viewport, user) = (sys::DepthClampModeEXT::VIEWPORT_RANGE, sys::DepthClampModeEXT::USER_DEFINED_RANGE);
    check.any_of("depth_clamp_mode", mode, &[viewport, user])?;
    if mode == viewport {
        return Ok(());
    }
    check.holds("p_depth_clamp_range", "null", "a pointer to a range", range.is_some())?;
    let Some(range) = range else { return Ok(()) };
    let (min, max) = (range.min_depth_clamp, range.max_depth_clamp);
    check.holds("min_depth_clamp", min, &format!("at most maxDepthClamp, which is {max}"), min <= max)
}

/// Checks a number of viewports.
///
/// # Errors
/// An error if it exceeds the limit: a message was sent.
pub fn viewport_count(name: &str, value: u32, check: Check<'_>) -> Result<()> {
    check.within(name, value.into(), 0..=MAX_VIEWPORTS as u64)
}

/// Checks the used values of a compute pipeline's create info.
///
/// # Errors
/// An error if a value is not allowed: a message was sent.
pub fn compute(call: Call<'_>, object: &DeviceObject, info: &vk::ComputePipelineCreateInfo<'_>) -> Result<()> {
    super::info(call, object, Some(info)).map(drop)
}

/// Checks the used values of the parts that a graphics pipeline's create info describes.
///
/// # Errors
/// An error if a value is not allowed: a message was sent.
pub fn graphics(
    call: Call<'_>,
    object: &DeviceObject,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    own: Subsets,
) -> Result<()> {
    let check = Check { call, messages: object.messages(), structure: "VkGraphicsPipelineCreateInfo" };
    let state = call.get(info.p_dynamic_state);
    state.map_or(Ok(()), |state| check.nested(state))?;
    let dynamic = state.map_or(DynamicState::empty(), |state| dynamic_state(call, state));
    let shaders = own.intersects(Subsets::PRE_RASTERIZATION_SHADERS | Subsets::FRAGMENT_SHADER);
    if shaders {
        check.points("p_stages", info.p_stages, info.stage_count)?;
    }
    let all = call.slice(info.p_stages, if shaders { info.stage_count } else { 0 });
    let stages = all.iter().fold(vk::ShaderStageFlags::empty(), |all, stage| all | stage.stage);
    let described = Described { own, dynamic, stages };
    // Stages of other parts may have any value.
    let counts = |stage: &&vk::PipelineShaderStageCreateInfo<'_>| match stage.stage {
        vk::ShaderStageFlags::FRAGMENT => own.contains(Subsets::FRAGMENT_SHADER) && !discards(call, info, &described),
        _ => own.contains(Subsets::PRE_RASTERIZATION_SHADERS),
    };
    all.iter().filter(counts).try_for_each(|stage| check.nested(stage))?;
    if own.contains(Subsets::VERTEX_INPUT_INTERFACE) && !stages.contains(vk::ShaderStageFlags::MESH_EXT) {
        vertex_input(info, &described, check)?;
    }
    if own.contains(Subsets::PRE_RASTERIZATION_SHADERS) {
        before_rasterization(info, &described, check)?;
    }
    if discards(call, info, &described) {
        return Ok(());
    }
    if own.contains(Subsets::FRAGMENT_SHADER) {
        depth_stencil(info, &described, check)?;
    }
    if own.contains(Subsets::FRAGMENT_OUTPUT_INTERFACE) {
        output(object, info, &described, check)?;
    }
    Ok(())
}

/// Returns true if rasterization is discarded, so that later state is ignored.
fn discards(call: Call<'_>, info: &vk::GraphicsPipelineCreateInfo<'_>, described: &Described) -> bool {
    let raster = call.get(info.p_rasterization_state).filter(|_| {
        described.own.contains(Subsets::PRE_RASTERIZATION_SHADERS) && described.is_static(DynamicState::DISCARD)
    });
    raster.is_some_and(|raster| raster.rasterizer_discard_enable != 0)
}

fn vertex_input(info: &vk::GraphicsPipelineCreateInfo<'_>, described: &Described, check: Check<'_>) -> Result<()> {
    if described.is_static(DynamicState::VERTEX_INPUT) {
        check.each("p_vertex_input_state", check.call.array(info.p_vertex_input_state, 1))?;
    }
    let call = check.call;
    let is_needed = described.is_static(DynamicState::TOPOLOGY | DynamicState::RESTART);
    check.points("p_input_assembly_state", info.p_input_assembly_state, u32::from(is_needed))?;
    match call.get(info.p_input_assembly_state).filter(|_| described.is_static(DynamicState::TOPOLOGY)) {
        Some(assembly) => check.any_of("topology", assembly.topology, TOPOLOGIES),
        None => Ok(()),
    }
}

fn before_rasterization(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    described: &Described,
    check: Check<'_>,
) -> Result<()> {
    let call = check.call;
    let all = DynamicState::POLYGON_MODE | DynamicState::CULL_MODE | DynamicState::FRONT_FACE;
    check.points("p_rasterization_state", info.p_rasterization_state, u32::from(described.is_static(all)))?;
    if let Some(raster) = call.get(info.p_rasterization_state) {
        rasterization(raster, described, check)?;
    }
    if !discards(call, info, described) {
        let is_needed = described.is_static(DynamicState::VIEWPORT_COUNT);
        check.points("p_viewport_state", info.p_viewport_state, u32::from(is_needed))?;
        if let Some(viewport) = call.get(info.p_viewport_state) {
            viewports(viewport, described, check)?;
        }
    }
    let evaluates = described.stages.contains(vk::ShaderStageFlags::TESSELLATION_EVALUATION);
    if evaluates {
        let is_needed = described.is_static(DynamicState::PATCH_VERTICES);
        check.points("p_tessellation_state", info.p_tessellation_state, u32::from(is_needed))?;
        if let Some(patches) = call.get(info.p_tessellation_state).filter(|_| is_needed) {
            patch_vertices(patches.patch_control_points, check)?;
            check.chained::<vk::PipelineTessellationDomainOriginStateCreateInfo<'_>>(patches.p_next)?;
        }
    }
    match call.find::<vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>>(info.p_next) {
        Some(rate) if described.is_static(DynamicState::FRAGMENT_RATE) => fragment_rate(rate, check),
        _ => Ok(()),
    }
}

fn fragment_rate(rate: &vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>, check: Check<'_>) -> Result<()> {
    for side in [rate.fragment_size.width, rate.fragment_size.height] {
        check.any_of("fragment_size", side, &[1, 2, 4])?;
    }
    rate.combiner_ops.into_iter().try_for_each(|op| check.any_of("combiner_ops", op, COMBINERS))
}

fn rasterization(
    raster: &vk::PipelineRasterizationStateCreateInfo<'_>,
    described: &Described,
    check: Check<'_>,
) -> Result<()> {
    if described.is_static(DynamicState::POLYGON_MODE) {
        rule!(raster, check, polygon_mode, any_of(POLYGON_MODES))?;
    }
    if described.is_static(DynamicState::CULL_MODE) {
        rule!(raster, check, cull_mode, bits(vk::CullModeFlags::FRONT_AND_BACK))?;
    }
    if described.is_static(DynamicState::FRONT_FACE) {
        rule!(raster, check, front_face, any_of(FRONTS))?;
    }
    if described.is_static(DynamicState::LINE_MODE) {
        check.chained::<vk::PipelineRasterizationLineStateCreateInfoKHR<'_>>(raster.p_next)?;
    }
    if described.is_static(DynamicState::CONSERVATIVE) {
        check.chained::<vk::PipelineRasterizationConservativeStateCreateInfoEXT<'_>>(raster.p_next)?;
    }
    if described.is_static(DynamicState::PROVOKING) {
        check.chained::<vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'_>>(raster.p_next)?;
    }
    if described.is_static(DynamicState::STREAM) {
        check.chained::<vk::PipelineRasterizationStateStreamCreateInfoEXT<'_>>(raster.p_next)?;
    }
    Ok(())
}

fn viewports(
    viewport: &vk::PipelineViewportStateCreateInfo<'_>,
    described: &Described,
    check: Check<'_>,
) -> Result<()> {
    viewport_count("viewport_count", viewport.viewport_count, check)?;
    viewport_count("scissor_count", viewport.scissor_count, check)?;
    if described.is_static(DynamicState::VIEWPORT) {
        check.points("p_viewports", viewport.p_viewports, viewport.viewport_count)?;
    }
    if described.is_static(DynamicState::SCISSOR) {
        check.points("p_scissors", viewport.p_scissors, viewport.scissor_count)?;
    }
    let control: Option<&PipelineViewportDepthClampControlCreateInfoEXT> = check.call.find(viewport.p_next);
    if let Some(control) = control.filter(|_| described.is_static(DynamicState::CLAMP_RANGE)) {
        clamp_range(control.depth_clamp_mode, check.call.get(control.depth_clamp_range), check)?;
    }
    Ok(())
}

fn depth_stencil(info: &vk::GraphicsPipelineCreateInfo<'_>, described: &Described, check: Check<'_>) -> Result<()> {
    let Some(tests) = check.call.get(info.p_depth_stencil_state) else { return Ok(()) };
    let may_be_on = |enable: vk::Bool32, state| enable != 0 || !described.is_static(state);
    if may_be_on(tests.depth_test_enable, DynamicState::DEPTH_TEST) && described.is_static(DynamicState::DEPTH_COMPARE)
    {
        check.any_of("depth_compare_op", tests.depth_compare_op, COMPARES)?;
    }
    if may_be_on(tests.stencil_test_enable, DynamicState::STENCIL_TEST) && described.is_static(DynamicState::STENCIL_OP)
    {
        check.nested(&tests.front)?;
        check.nested(&tests.back)?;
    }
    Ok(())
}

fn output(
    object: &DeviceObject,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    described: &Described,
    check: Check<'_>,
) -> Result<()> {
    let call = check.call;
    let all = DynamicState::SAMPLES | DynamicState::SAMPLE_MASK | DynamicState::ALPHA_TO_COVERAGE;
    check.points("p_multisample_state", info.p_multisample_state, u32::from(described.is_static(all)))?;
    let multisample = call.get(info.p_multisample_state).filter(|_| described.is_static(DynamicState::SAMPLES));
    multisample.map_or(Ok(()), |multisample| samples(multisample.rasterization_samples, check))?;
    match object.passes.get(vk::Handle::as_raw(info.render_pass)) {
        Some(pass) => check.within("subpass", info.subpass.into(), 0..=pass.subpasses.len().max(1) as u64 - 1)?,
        None => {
            check.chained::<vk::PipelineRenderingCreateInfo<'_>>(info.p_next)?;
            check.chained::<CustomResolveCreateInfoEXT>(info.p_next)?;
        }
    }
    let Some(blend) = call.get(info.p_color_blend_state) else { return Ok(()) };
    if blend.logic_op_enable != 0 && described.is_static(DynamicState::LOGIC_OP) {
        logic_op(blend.logic_op, check)?;
    }
    check.chained::<vk::PipelineColorBlendAdvancedStateCreateInfoEXT<'_>>(blend.p_next)?;
    let all = DynamicState::BLEND_ENABLE | DynamicState::BLEND_EQUATION | DynamicState::WRITE_MASK;
    if !described.is_static(all) {
        return Ok(());
    }
    check.within("attachment_count", blend.attachment_count.into(), 0..=max_colors().into())?;
    match described.is_static(DynamicState::BLEND_ENABLE) && described.is_static(DynamicState::BLEND_EQUATION) {
        true => check.each("p_attachments", call.array(blend.p_attachments, blend.attachment_count)),
        false => check.points("p_attachments", blend.p_attachments, blend.attachment_count),
    }
}
