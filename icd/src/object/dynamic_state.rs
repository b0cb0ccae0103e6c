//! Dynamic states of pipelines. Source: Vulkan specification, "Dynamic State".

use ash::vk;
use vitric_gpu::state::DynamicState;
use vitric_vulkan::sys;

use crate::call::Call;

/// Vulkan's dynamic states with the GPU's equivalents.
pub const DYNAMIC_STATES: &[(vk::DynamicState, DynamicState)] = {
    use vk::DynamicState as D;
    &[
        (D::VIEWPORT, DynamicState::VIEWPORT),
        (D::SCISSOR, DynamicState::SCISSOR),
        (D::LINE_WIDTH, DynamicState::LINE_WIDTH),
        (D::DEPTH_BIAS, DynamicState::DEPTH_BIAS),
        (D::BLEND_CONSTANTS, DynamicState::BLEND_CONSTANTS),
        (D::DEPTH_BOUNDS, DynamicState::DEPTH_BOUNDS),
        (D::STENCIL_COMPARE_MASK, DynamicState::STENCIL_COMPARE_MASK),
        (D::STENCIL_WRITE_MASK, DynamicState::STENCIL_WRITE_MASK),
        (D::STENCIL_REFERENCE, DynamicState::STENCIL_REFERENCE),
        (D::CULL_MODE, DynamicState::CULL_MODE),
        (D::FRONT_FACE, DynamicState::FRONT_FACE),
        (D::PRIMITIVE_TOPOLOGY, DynamicState::TOPOLOGY),
        (D::VIEWPORT_WITH_COUNT, DynamicState::VIEWPORT.union(DynamicState::VIEWPORT_COUNT)),
        (D::SCISSOR_WITH_COUNT, DynamicState::SCISSOR),
        (D::VERTEX_INPUT_BINDING_STRIDE, DynamicState::STRIDES),
        (D::DEPTH_TEST_ENABLE, DynamicState::DEPTH_TEST),
        (D::DEPTH_WRITE_ENABLE, DynamicState::DEPTH_WRITE),
        (D::DEPTH_COMPARE_OP, DynamicState::DEPTH_COMPARE),
        (D::DEPTH_BOUNDS_TEST_ENABLE, DynamicState::DEPTH_BOUNDS_TEST),
        (D::STENCIL_TEST_ENABLE, DynamicState::STENCIL_TEST),
        (D::STENCIL_OP, DynamicState::STENCIL_OP),
        (D::RASTERIZER_DISCARD_ENABLE, DynamicState::DISCARD),
        (D::DEPTH_BIAS_ENABLE, DynamicState::DEPTH_BIAS_ENABLE),
        (D::PRIMITIVE_RESTART_ENABLE, DynamicState::RESTART),
        (D::LOGIC_OP_EXT, DynamicState::LOGIC_OP),
        (D::LINE_STIPPLE_KHR, DynamicState::LINE_STIPPLE),
        (D::FRAGMENT_SHADING_RATE_KHR, DynamicState::FRAGMENT_RATE),
        (D::VERTEX_INPUT_EXT, DynamicState::VERTEX_INPUT),
        (D::POLYGON_MODE_EXT, DynamicState::POLYGON_MODE),
        (D::RASTERIZATION_SAMPLES_EXT, DynamicState::SAMPLES),
        (D::SAMPLE_MASK_EXT, DynamicState::SAMPLE_MASK),
        (D::ALPHA_TO_COVERAGE_ENABLE_EXT, DynamicState::ALPHA_TO_COVERAGE),
        (D::ALPHA_TO_ONE_ENABLE_EXT, DynamicState::ALPHA_TO_ONE),
        (D::LOGIC_OP_ENABLE_EXT, DynamicState::LOGIC_OP_ENABLE),
        (D::DEPTH_CLAMP_ENABLE_EXT, DynamicState::DEPTH_CLAMP),
        (D::from_raw(sys::DynamicState::DEPTH_CLAMP_RANGE_EXT.as_raw()), DynamicState::CLAMP_RANGE),
        (D::DEPTH_CLIP_ENABLE_EXT, DynamicState::DEPTH_CLIP),
        (D::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT, DynamicState::NEGATIVE_ONE_TO_ONE),
        (D::PROVOKING_VERTEX_MODE_EXT, DynamicState::PROVOKING),
        (D::LINE_RASTERIZATION_MODE_EXT, DynamicState::LINE_MODE),
        (D::LINE_STIPPLE_ENABLE_EXT, DynamicState::LINE_STIPPLE_ENABLE),
        (D::CONSERVATIVE_RASTERIZATION_MODE_EXT, DynamicState::CONSERVATIVE),
        (D::COLOR_BLEND_ENABLE_EXT, DynamicState::BLEND_ENABLE),
        (D::COLOR_BLEND_EQUATION_EXT, DynamicState::BLEND_EQUATION),
        (D::COLOR_BLEND_ADVANCED_EXT, DynamicState::BLEND_ADVANCED),
        (D::COLOR_WRITE_MASK_EXT, DynamicState::WRITE_MASK),
        (D::COLOR_WRITE_ENABLE_EXT, DynamicState::COLOR_WRITE),
        (D::SAMPLE_LOCATIONS_EXT, DynamicState::SAMPLE_LOCATIONS),
        (D::SAMPLE_LOCATIONS_ENABLE_EXT, DynamicState::SAMPLE_LOCATIONS_ENABLE),
        (D::ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT, DynamicState::FEEDBACK_LOOP),
        (D::PATCH_CONTROL_POINTS_EXT, DynamicState::PATCH_VERTICES),
        (D::TESSELLATION_DOMAIN_ORIGIN_EXT, DynamicState::DOMAIN_ORIGIN),
        (D::RASTERIZATION_STREAM_EXT, DynamicState::STREAM),
    ]
};

/// Returns the dynamic state of a pipeline.
pub fn dynamic_state(call: Call<'_>, state: &vk::PipelineDynamicStateCreateInfo<'_>) -> DynamicState {
    let named = call.slice(state.p_dynamic_states, state.dynamic_state_count);
    let flags = named.iter().filter_map(|name| DYNAMIC_STATES.iter().find(|(known, _)| known == name));
    flags.fold(DynamicState::empty(), |all, (_, flag)| all | *flag)
}
