//! Commands that set dynamic state of pipelines. Source: Vulkan specification, "Pipelines",
//! "Dynamic State"; `VK_EXT_extended_dynamic_state` and its successors,
//! `VK_EXT_vertex_input_dynamic_state`, `VK_EXT_color_write_enable`, `VK_EXT_sample_locations`,
//! `VK_EXT_attachment_feedback_loop_dynamic_state`.

use std::sync::Arc;

use ash::vk;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_gpu::command::Command;
use vitric_gpu::state::{
    AdvancedBlend, BlendEquation, DepthBias, DepthBiasUnit, DepthClampRange, LineStipple, SetBlend, SetState,
    StencilOps, VertexAttribute, VertexBinding, VertexInput,
};
use vitric_vulkan::sys;

use super::Recorder;
use crate::call::{Array, Call, In};
use crate::object::check::{COMPARES, Check, pipelines};
use crate::object::pipeline::{self, criterion, depth_bias_unit, line_mode, rate_of};

#[entry(vkCmdSetViewport)]
fn set_viewport(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    viewports: Array<'_, vk::Viewport>,
) -> Result<()> {
    recorder.record(Command::SetViewports { first, viewports: viewports.get().into() })
}

#[entry(vkCmdSetScissor)]
fn set_scissor(recorder: Recorder<'_>, first: u32, #[len] count: u32, scissors: Array<'_, vk::Rect2D>) -> Result<()> {
    recorder.record(Command::SetScissors { first, scissors: scissors.get().into() })
}

#[entry(vkCmdSetLineWidth)]
fn set_line_width(recorder: Recorder<'_>, width: f32) -> Result<()> {
    recorder.record(Command::SetLineWidth(width))
}

#[entry(vkCmdSetLineStippleKHR)]
fn set_line_stipple(recorder: Recorder<'_>, factor: u32, pattern: u16) -> Result<()> {
    recorder.record(Command::SetLineStipple(LineStipple { factor, pattern }))
}

#[entry(vkCmdSetDepthBias)]
fn set_depth_bias(recorder: Recorder<'_>, constant: f32, clamp: f32, slope: f32) -> Result<()> {
    recorder.record(Command::SetDepthBias(DepthBias { constant, clamp, slope, unit: DepthBiasUnit::default() }))
}

#[entry(vkCmdSetDepthBias2EXT)]
fn set_depth_bias2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::DepthBiasInfoEXT<'_>>) -> Result<()> {
    recorder.record(Command::SetDepthBias(DepthBias {
        constant: info.depth_bias_constant_factor,
        clamp: info.depth_bias_clamp,
        slope: info.depth_bias_slope_factor,
        unit: depth_bias_unit(call, info.p_next),
    }))
}

#[entry(vkCmdSetFragmentShadingRateKHR)]
fn set_fragment_shading_rate(
    recorder: Recorder<'_>,
    size: In<'_, vk::Extent2D>,
    ops: In<'_, [vk::FragmentShadingRateCombinerOpKHR; 2]>,
) -> Result<()> {
    recorder.record(Command::SetFragmentRate(rate_of(*size, *ops)))
}

#[entry(vkCmdSetBlendConstants)]
fn set_blend_constants(recorder: Recorder<'_>, constants: Option<&[f32; 4]>) -> Result<()> {
    recorder.record(Command::SetBlendConstants(constants.copied().unwrap_or_default()))
}

#[entry(vkCmdSetDepthBounds)]
fn set_depth_bounds(recorder: Recorder<'_>, low: f32, high: f32) -> Result<()> {
    recorder.record(Command::SetDepthBounds([low, high]))
}

#[entry(vkCmdSetStencilCompareMask)]
fn set_stencil_compare_mask(recorder: Recorder<'_>, faces: vk::StencilFaceFlags, mask: u32) -> Result<()> {
    recorder.record(Command::SetStencilCompareMask { faces, mask })
}

#[entry(vkCmdSetStencilWriteMask)]
fn set_stencil_write_mask(recorder: Recorder<'_>, faces: vk::StencilFaceFlags, mask: u32) -> Result<()> {
    recorder.record(Command::SetStencilWriteMask { faces, mask })
}

#[entry(vkCmdSetStencilReference)]
fn set_stencil_reference(recorder: Recorder<'_>, faces: vk::StencilFaceFlags, reference: u32) -> Result<()> {
    recorder.record(Command::SetStencilReference { faces, reference })
}

/// Entry points that set one value.
macro_rules! setters {
    ($($command:ident $name:ident: $parameter:ty => $value:expr $(, $check:expr)?;)*) => {
        $(
        #[entry($command)]
        fn $name(call: Call<'_>, recorder: Recorder<'_>, value: $parameter) -> Result<()> {
            let _ = call;
            $(recorder.check(call, stringify!($command), |check| {
                let test: fn($parameter, Check<'_>) -> Result<()> = $check;
                test(value, check)
            })?;)?
            let set: fn($parameter) -> SetState = $value;
            recorder.record(Command::SetState(set(value)))
        }
        )*
    };
}

#[entry(vkCmdSetPrimitiveRestartIndexEXT)]
fn set_primitive_restart_index(recorder: Recorder<'_>, index: u32) -> Result<()> {
    recorder.record(Command::SetRestartIndex(index))
}

setters! {
    vkCmdSetCullMode cull_mode: vk::CullModeFlags => SetState::CullMode,
        |value, check| check.bits("cull_mode", value.as_raw().into(), vk::CullModeFlags::FRONT_AND_BACK.as_raw().into());
    vkCmdSetFrontFace front_face: vk::FrontFace => SetState::FrontFace,
        |value, check| check.any_of("front_face", value, pipelines::FRONTS);
    vkCmdSetPrimitiveTopology topology: vk::PrimitiveTopology => SetState::Topology,
        |value, check| check.any_of("topology", value, pipelines::TOPOLOGIES);
    vkCmdSetDepthTestEnable depth_test: vk::Bool32 => |value| SetState::DepthTest(value != 0);
    vkCmdSetDepthWriteEnable depth_write: vk::Bool32 => |value| SetState::DepthWrite(value != 0);
    vkCmdSetDepthCompareOp depth_compare: vk::CompareOp => SetState::DepthCompare,
        |value, check| check.any_of("depth_compare_op", value, COMPARES);
    vkCmdSetDepthBoundsTestEnable depth_bounds_test: vk::Bool32 => |value| SetState::DepthBoundsTest(value != 0);
    vkCmdSetStencilTestEnable stencil_test: vk::Bool32 => |value| SetState::StencilTest(value != 0);
    vkCmdSetRasterizerDiscardEnable discard: vk::Bool32 => |value| SetState::Discard(value != 0);
    vkCmdSetDepthBiasEnable depth_bias: vk::Bool32 => |value| SetState::DepthBias(value != 0);
    vkCmdSetPrimitiveRestartEnable restart: vk::Bool32 => |value| SetState::Restart(value != 0);
    vkCmdSetLogicOpEXT logic_op: vk::LogicOp => SetState::LogicOp,
        pipelines::logic_op;
    vkCmdSetPolygonModeEXT polygon_mode: vk::PolygonMode => SetState::PolygonMode,
        |value, check| check.any_of("polygon_mode", value, pipelines::POLYGON_MODES);
    vkCmdSetRasterizationSamplesEXT samples: vk::SampleCountFlags => |value| SetState::Samples(value.as_raw()),
        pipelines::samples;
    vkCmdSetAlphaToCoverageEnableEXT alpha_to_coverage: vk::Bool32 => |value| SetState::AlphaToCoverage(value != 0);
    vkCmdSetAlphaToOneEnableEXT alpha_to_one: vk::Bool32 => |value| SetState::AlphaToOne(value != 0);
    vkCmdSetLogicOpEnableEXT logic_op_enable: vk::Bool32 => |value| SetState::LogicOpEnable(value != 0);
    vkCmdSetDepthClampEnableEXT depth_clamp: vk::Bool32 => |value| SetState::DepthClamp(value != 0);
    vkCmdSetDepthClipEnableEXT depth_clip: vk::Bool32 => |value| SetState::DepthClip(value != 0);
    vkCmdSetDepthClipNegativeOneToOneEXT negative_one_to_one: vk::Bool32 => |value| SetState::NegativeOneToOne(value != 0);
    vkCmdSetProvokingVertexModeEXT provoking: vk::ProvokingVertexModeEXT =>
        |value| SetState::ProvokingLast(value == vk::ProvokingVertexModeEXT::LAST_VERTEX),
        |value, check| check.any_of("provoking_vertex_mode", value, pipelines::PROVOKING);
    vkCmdSetLineRasterizationModeEXT line_rasterization: vk::LineRasterizationModeKHR => |value| SetState::LineMode(line_mode(value)),
        |value, check| check.any_of("line_rasterization_mode", value, pipelines::LINE_MODES);
    vkCmdSetLineStippleEnableEXT line_stipple_enable: vk::Bool32 => |value| SetState::LineStipple(value != 0);
    vkCmdSetSampleLocationsEnableEXT sample_locations_enable: vk::Bool32 => |value| SetState::SampleLocationsEnable(value != 0);
    vkCmdSetAttachmentFeedbackLoopEnableEXT feedback_loop: vk::ImageAspectFlags => SetState::FeedbackLoop;
    vkCmdSetPatchControlPointsEXT patch_control_points: u32 => SetState::PatchVertices,
        pipelines::patch_vertices;
    vkCmdSetTessellationDomainOriginEXT domain_origin: vk::TessellationDomainOrigin =>
        |value| SetState::LowerLeft(value == vk::TessellationDomainOrigin::LOWER_LEFT),
        |value, check| check.any_of("domain_origin", value, pipelines::ORIGINS);
    vkCmdSetRasterizationStreamEXT rasterization_stream: u32 => SetState::Stream,
        pipelines::stream;
    vkCmdSetConservativeRasterizationModeEXT conservative: vk::ConservativeRasterizationModeEXT => |value| SetState::Conservative(criterion(value)),
        |value, check| check.any_of("conservative_rasterization_mode", value, pipelines::CONSERVATIVE);
}

/// Sets the range to which depths are clamped.
#[entry(vkCmdSetDepthClampRangeEXT)]
fn set_depth_clamp_range(
    call: Call<'_>,
    recorder: Recorder<'_>,
    mode: sys::DepthClampModeEXT,
    range: Option<&sys::DepthClampRangeEXT>,
) -> Result<()> {
    recorder.check(call, "vkCmdSetDepthClampRangeEXT", |check| pipelines::clamp_range(mode, range, check))?;
    let range = range.filter(|_| mode == sys::DepthClampModeEXT::USER_DEFINED_RANGE);
    let range = range.map(|range| DepthClampRange::new(range.min_depth_clamp, range.max_depth_clamp));
    recorder.record(Command::SetState(SetState::ClampRange(range)))
}

// The maximum extra overestimation is 0, so the size has no effect.

#[entry(vkCmdSetExtraPrimitiveOverestimationSizeEXT)]
fn set_extra_primitive_overestimation_size(_: vk::CommandBuffer, _: f32) {}

#[entry(vkCmdSetSampleMaskEXT)]
fn set_sample_mask(recorder: Recorder<'_>, _: vk::SampleCountFlags, mask: Option<&vk::SampleMask>) -> Result<()> {
    recorder.record(Command::SetState(SetState::SampleMask(mask.copied().unwrap_or(u32::MAX))))
}

/// Records a value for each colour attachment from `first` on.
fn set_blend<T>(recorder: Recorder<'_>, first: u32, values: &[T], set: impl Fn(&T) -> SetBlend) -> Result<()> {
    recorder.record(Command::SetBlend { first, values: values.iter().map(set).collect() })
}

#[entry(vkCmdSetColorBlendEnableEXT)]
fn set_color_blend_enable(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    values: Array<'_, vk::Bool32>,
) -> Result<()> {
    set_blend(recorder, first, values.get(), |value| SetBlend::Enable(*value != 0))
}

#[entry(vkCmdSetColorBlendEquationEXT)]
fn set_color_blend_equation(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    values: Array<'_, vk::ColorBlendEquationEXT>,
) -> Result<()> {
    let equation = |value: &vk::ColorBlendEquationEXT| BlendEquation {
        src_color: value.src_color_blend_factor,
        dst_color: value.dst_color_blend_factor,
        color_op: value.color_blend_op,
        src_alpha: value.src_alpha_blend_factor,
        dst_alpha: value.dst_alpha_blend_factor,
        alpha_op: value.alpha_blend_op,
    };
    set_blend(recorder, first, values.get(), |value| SetBlend::Equation(equation(value)))
}

#[entry(vkCmdSetColorBlendAdvancedEXT)]
fn set_color_blend_advanced(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    values: Array<'_, vk::ColorBlendAdvancedEXT>,
) -> Result<()> {
    let advanced = |value: &vk::ColorBlendAdvancedEXT| AdvancedBlend {
        src_premultiplied: value.src_premultiplied != 0,
        dst_premultiplied: value.dst_premultiplied != 0,
        overlap: value.blend_overlap,
        clamps: value.clamp_results != 0,
    };
    set_blend(recorder, first, values.get(), |value| SetBlend::Advanced(value.advanced_blend_op, advanced(value)))
}

#[entry(vkCmdSetColorWriteMaskEXT)]
fn set_color_write_mask(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    values: Array<'_, vk::ColorComponentFlags>,
) -> Result<()> {
    set_blend(recorder, first, values.get(), |value| SetBlend::Mask(*value))
}

#[entry(vkCmdSetColorWriteEnableEXT)]
fn set_color_write_enable(recorder: Recorder<'_>, #[len] count: u32, values: Array<'_, vk::Bool32>) -> Result<()> {
    set_blend(recorder, 0, values.get(), |value| SetBlend::Write(*value != 0))
}

#[entry(vkCmdSetVertexInputEXT)]
fn set_vertex_input(
    call: Call<'_>,
    recorder: Recorder<'_>,
    #[len] binding_count: u32,
    bindings: Array<'_, vk::VertexInputBindingDescription2EXT<'_>>,
    #[len] attribute_count: u32,
    attributes: Array<'_, vk::VertexInputAttributeDescription2EXT<'_>>,
) -> Result<()> {
    recorder.check(call, "vkCmdSetVertexInputEXT", |check| {
        check.each("p_vertex_binding_descriptions", bindings)?;
        check.each("p_vertex_attribute_descriptions", attributes)
    })?;
    let binding = |entry: &vk::VertexInputBindingDescription2EXT<'_>| VertexBinding {
        binding: entry.binding,
        stride: entry.stride,
        rate: entry.input_rate,
        divisor: entry.divisor,
    };
    let attribute = |entry: &vk::VertexInputAttributeDescription2EXT<'_>| VertexAttribute {
        location: entry.location,
        binding: entry.binding,
        format: entry.format,
        offset: entry.offset,
    };
    let input = VertexInput {
        bindings: bindings.get().iter().map(binding).collect(),
        attributes: attributes.get().iter().map(attribute).collect(),
    };
    recorder.record(Command::SetVertexInput(Arc::new(input)))
}

#[entry(vkCmdSetSampleLocationsEXT)]
fn set_sample_locations(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: Option<&vk::SampleLocationsInfoEXT<'_>>,
) -> Result<()> {
    let locations = info.and_then(|info| pipeline::sample_locations(call, info));
    recorder.record(Command::SetSampleLocations(Box::new(locations)))
}

#[entry(vkCmdSetStencilOp)]
fn set_stencil_op(
    recorder: Recorder<'_>,
    faces: vk::StencilFaceFlags,
    fail: vk::StencilOp,
    pass: vk::StencilOp,
    depth_fail: vk::StencilOp,
    compare: vk::CompareOp,
) -> Result<()> {
    let ops = StencilOps { fail, pass, depth_fail, compare };
    recorder.record(Command::SetState(SetState::Stencil { faces, ops }))
}

#[entry(vkCmdSetViewportWithCount)]
fn set_viewport_with_count(
    recorder: Recorder<'_>,
    #[len] count: u32,
    viewports: Array<'_, vk::Viewport>,
) -> Result<()> {
    let count = viewports.count();
    set_viewport(recorder, 0, viewports)?;
    recorder.record(Command::SetState(SetState::ViewportCount(count)))
}

#[entry(vkCmdSetScissorWithCount)]
fn set_scissor_with_count(recorder: Recorder<'_>, #[len] count: u32, scissors: Array<'_, vk::Rect2D>) -> Result<()> {
    set_scissor(recorder, 0, scissors)
}
