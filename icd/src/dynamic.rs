//! Commands that set what pipelines leave open, beyond those of Vulkan 1.0.
//! Source: `VK_EXT_extended_dynamic_state` and its successors, `VK_EXT_vertex_input_dynamic_state`, `VK_EXT_color_write_enable`,
//! `VK_EXT_sample_locations`, `VK_EXT_attachment_feedback_loop_dynamic_state`.

use std::sync::Arc;

use ash::vk;
use vitric_gpu::command::Command;
use vitric_gpu::state::{BlendEquation, SetBlend, SetState, StencilOps, VertexAttribute, VertexBinding, VertexInput};

use crate::check::{self, COMPARES, Check, pipelines};
use crate::command::{self, plain};
use crate::pipeline::{self, criterion, line_mode};
use crate::raw;

/// Entry points that set one value.
macro_rules! setters {
    ($($name:ident: $parameter:ty => $value:expr $(, $check:expr)?;)*) => {
        $(
        pub extern "system" fn $name(handle: vk::CommandBuffer, value: $parameter) {
            let set: fn($parameter) -> SetState = $value;
            command::record(handle, |object| {
                let _ = object;
                $(check::value(object, "vkCmdSet", |check| {
                    let test: fn($parameter, Check<'_>) -> vitric_api::Result<()> = $check;
                    test(value, check)
                })?;)?
                Ok(Command::SetState(set(value)))
            });
        }
        )*
    };
}

pub extern "system" fn restart_index(handle: vk::CommandBuffer, index: u32) {
    plain(handle, Command::SetRestartIndex(index));
}

setters! {
    cull_mode: vk::CullModeFlags => SetState::CullMode,
        |value, check| check.bits("cull_mode", value.as_raw().into(), vk::CullModeFlags::FRONT_AND_BACK.as_raw().into());
    front_face: vk::FrontFace => SetState::FrontFace,
        |value, check| check.any_of("front_face", value, pipelines::FRONTS);
    topology: vk::PrimitiveTopology => SetState::Topology,
        |value, check| check.any_of("topology", value, pipelines::TOPOLOGIES);
    depth_test: vk::Bool32 => |value| SetState::DepthTest(value != 0);
    depth_write: vk::Bool32 => |value| SetState::DepthWrite(value != 0);
    depth_compare: vk::CompareOp => SetState::DepthCompare,
        |value, check| check.any_of("depth_compare_op", value, COMPARES);
    depth_bounds_test: vk::Bool32 => |value| SetState::DepthBoundsTest(value != 0);
    stencil_test: vk::Bool32 => |value| SetState::StencilTest(value != 0);
    discard: vk::Bool32 => |value| SetState::Discard(value != 0);
    depth_bias: vk::Bool32 => |value| SetState::DepthBias(value != 0);
    restart: vk::Bool32 => |value| SetState::Restart(value != 0);
    logic_op: vk::LogicOp => SetState::LogicOp,
        pipelines::logic_op;
    polygon_mode: vk::PolygonMode => SetState::PolygonMode,
        |value, check| check.any_of("polygon_mode", value, pipelines::POLYGON_MODES);
    samples: vk::SampleCountFlags => |value| SetState::Samples(value.as_raw()),
        pipelines::samples;
    alpha_to_coverage: vk::Bool32 => |value| SetState::AlphaToCoverage(value != 0);
    alpha_to_one: vk::Bool32 => |value| SetState::AlphaToOne(value != 0);
    logic_op_enable: vk::Bool32 => |value| SetState::LogicOpEnable(value != 0);
    depth_clamp: vk::Bool32 => |value| SetState::DepthClamp(value != 0);
    depth_clip: vk::Bool32 => |value| SetState::DepthClip(value != 0);
    negative_one_to_one: vk::Bool32 => |value| SetState::NegativeOneToOne(value != 0);
    provoking: vk::ProvokingVertexModeEXT =>
        |value| SetState::ProvokingLast(value == vk::ProvokingVertexModeEXT::LAST_VERTEX),
        |value, check| check.any_of("provoking_vertex_mode", value, pipelines::PROVOKING);
    line_rasterization: vk::LineRasterizationModeKHR => |value| SetState::LineMode(line_mode(value)),
        |value, check| check.any_of("line_rasterization_mode", value, pipelines::LINE_MODES);
    line_stipple_enable: vk::Bool32 => |value| SetState::LineStipple(value != 0);
    sample_locations_enable: vk::Bool32 => |value| SetState::SampleLocationsEnable(value != 0);
    feedback_loop: vk::ImageAspectFlags => SetState::FeedbackLoop;
    patch_control_points: u32 => SetState::PatchVertices,
        pipelines::patch_vertices;
    domain_origin: vk::TessellationDomainOrigin =>
        |value| SetState::LowerLeft(value == vk::TessellationDomainOrigin::LOWER_LEFT),
        |value, check| check.any_of("domain_origin", value, pipelines::ORIGINS);
    rasterization_stream: u32 => SetState::Stream,
        pipelines::stream;
    conservative: vk::ConservativeRasterizationModeEXT => |value| SetState::Conservative(criterion(value)),
        |value, check| check.any_of("conservative_rasterization_mode", value, pipelines::CONSERVATIVE);
}

// Nothing can be added to primitives: the size is 0.

pub extern "system" fn extra_overestimation(_: vk::CommandBuffer, _: f32) {}

pub extern "system" fn sample_mask(handle: vk::CommandBuffer, _: vk::SampleCountFlags, mask: *const vk::SampleMask) {
    let mask = raw::input(mask).copied().unwrap_or(u32::MAX);
    plain(handle, Command::SetState(SetState::SampleMask(mask)));
}

/// Sets a value of each colour attachment from `first` on.
fn blend<T>(handle: vk::CommandBuffer, first: u32, (values, count): (*const T, u32), set: impl Fn(&T) -> SetBlend) {
    raw::guard_void(|| {
        let values = raw::slice(values, count).iter().map(set).collect();
        plain(handle, Command::SetBlend { first, values });
    });
}

pub extern "system" fn blend_enable(handle: vk::CommandBuffer, first: u32, count: u32, values: *const vk::Bool32) {
    blend(handle, first, (values, count), |value| SetBlend::Enable(*value != 0));
}

pub extern "system" fn blend_equation(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    values: *const vk::ColorBlendEquationEXT,
) {
    let equation = |value: &vk::ColorBlendEquationEXT| BlendEquation {
        src_color: value.src_color_blend_factor,
        dst_color: value.dst_color_blend_factor,
        color_op: value.color_blend_op,
        src_alpha: value.src_alpha_blend_factor,
        dst_alpha: value.dst_alpha_blend_factor,
        alpha_op: value.alpha_blend_op,
    };
    blend(handle, first, (values, count), |value| SetBlend::Equation(equation(value)));
}

pub extern "system" fn write_mask(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    values: *const vk::ColorComponentFlags,
) {
    blend(handle, first, (values, count), |value| SetBlend::Mask(*value));
}

pub extern "system" fn color_write(handle: vk::CommandBuffer, count: u32, values: *const vk::Bool32) {
    blend(handle, 0, (values, count), |value| SetBlend::Write(*value != 0));
}

pub extern "system" fn vertex_input(
    handle: vk::CommandBuffer,
    binding_count: u32,
    bindings: *const vk::VertexInputBindingDescription2EXT<'_>,
    attribute_count: u32,
    attributes: *const vk::VertexInputAttributeDescription2EXT<'_>,
) {
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
    raw::guard_void(|| {
        let checked = command::checked(handle, "vkCmdSetVertexInputEXT", |check| {
            check.each("p_vertex_binding_descriptions", bindings, binding_count)?;
            check.each("p_vertex_attribute_descriptions", attributes, attribute_count)
        });
        if checked.is_err() {
            return;
        }
        let input = VertexInput {
            bindings: raw::slice(bindings, binding_count).iter().map(binding).collect(),
            attributes: raw::slice(attributes, attribute_count).iter().map(attribute).collect(),
        };
        plain(handle, Command::SetVertexInput(Arc::new(input)));
    });
}

pub extern "system" fn sample_locations(handle: vk::CommandBuffer, info: *const vk::SampleLocationsInfoEXT<'_>) {
    raw::guard_void(|| {
        let locations = raw::input(info).and_then(pipeline::sample_locations);
        plain(handle, Command::SetSampleLocations(Box::new(locations)));
    });
}

pub extern "system" fn stencil_op(
    handle: vk::CommandBuffer,
    faces: vk::StencilFaceFlags,
    fail: vk::StencilOp,
    pass: vk::StencilOp,
    depth_fail: vk::StencilOp,
    compare: vk::CompareOp,
) {
    let ops = StencilOps { fail, pass, depth_fail, compare };
    plain(handle, Command::SetState(SetState::Stencil { faces, ops }));
}

pub extern "system" fn viewports(handle: vk::CommandBuffer, count: u32, viewports: *const vk::Viewport) {
    command::set_viewport(handle, 0, count, viewports);
    plain(handle, Command::SetState(SetState::ViewportCount(count)));
}

pub extern "system" fn scissors(handle: vk::CommandBuffer, count: u32, scissors: *const vk::Rect2D) {
    command::set_scissor(handle, 0, count, scissors);
}

pub extern "system" fn bind_vertex_buffers(
    handle: vk::CommandBuffer,
    first: u32,
    count: u32,
    buffers: *const vk::Buffer,
    offsets: *const vk::DeviceSize,
    sizes: *const vk::DeviceSize,
    strides: *const vk::DeviceSize,
) {
    let ranges = [raw::slice(offsets, count), raw::slice(sizes, count)];
    command::bind_vertex_ranges(handle, first, raw::slice(buffers, count), ranges);
    let strides = raw::slice(strides, count);
    if !strides.is_empty() {
        let strides = strides.iter().map(|&stride| stride as u32).collect();
        plain(handle, Command::SetVertexStrides { first, strides });
    }
}
