//! Dynamic state of `VK_EXT_extended_dynamic_state3` and of extensions that belong to it.

use ash::vk;
use vitric_vulkan::sys;

use super::draw::{State, vertices};
use super::extension_state::{Lines, Locations};
use crate::harness::Gpu;

/// Dynamic states of every pipeline. The line rasterization mode is dynamic as well where a case
/// sets any.
pub const STATES: &[vk::DynamicState] = &[
    vk::DynamicState::VERTEX_INPUT_EXT,
    vk::DynamicState::POLYGON_MODE_EXT,
    vk::DynamicState::RASTERIZATION_SAMPLES_EXT,
    vk::DynamicState::SAMPLE_MASK_EXT,
    vk::DynamicState::ALPHA_TO_COVERAGE_ENABLE_EXT,
    vk::DynamicState::ALPHA_TO_ONE_ENABLE_EXT,
    vk::DynamicState::LOGIC_OP_ENABLE_EXT,
    vk::DynamicState::COLOR_BLEND_ENABLE_EXT,
    vk::DynamicState::COLOR_BLEND_EQUATION_EXT,
    vk::DynamicState::COLOR_WRITE_MASK_EXT,
    vk::DynamicState::COLOR_WRITE_ENABLE_EXT,
    vk::DynamicState::DEPTH_CLAMP_ENABLE_EXT,
    vk::DynamicState::DEPTH_CLIP_ENABLE_EXT,
    vk::DynamicState::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT,
    vk::DynamicState::PROVOKING_VERTEX_MODE_EXT,
    vk::DynamicState::LINE_STIPPLE_ENABLE_EXT,
    vk::DynamicState::CONSERVATIVE_RASTERIZATION_MODE_EXT,
];

const RECTANGULAR: vk::LineRasterizationModeKHR = vk::LineRasterizationModeKHR::RECTANGULAR;

const BRESENHAM: vk::LineRasterizationModeKHR = vk::LineRasterizationModeKHR::BRESENHAM;

/// Returns the state with other values of dynamic state and without vertex input.
pub fn other_than(state: &State) -> State {
    let mut other = state.clone();
    let flip = |value: vk::Bool32| vk::TRUE - value;
    other.raster.polygon_mode = match state.raster.polygon_mode {
        vk::PolygonMode::FILL => vk::PolygonMode::POINT,
        _ => vk::PolygonMode::FILL,
    };
    other.raster.depth_clamp_enable = flip(state.raster.depth_clamp_enable);
    if let Some(patches) = &mut other.extensions.patches {
        patches.lower_left = !patches.lower_left;
    } else if state.extended {
        // A topology of another class, which the extension permits.
        (other.topology, other.restart) = (vk::PrimitiveTopology::POINT_LIST, false);
    }
    other.sample_mask = 0;
    other.alpha_to_coverage = !state.alpha_to_coverage;
    other.blend = vk::PipelineColorBlendAttachmentState {
        blend_enable: flip(state.blend.blend_enable),
        src_color_blend_factor: vk::BlendFactor::ZERO,
        dst_color_blend_factor: vk::BlendFactor::ZERO,
        ..Default::default()
    };
    other.logic = match state.logic {
        Some(_) => None,
        None => Some(vk::LogicOp::SET),
    };
    let extensions = &mut other.extensions;
    extensions.provoking_last = !state.extensions.provoking_last;
    extensions.negative_one_to_one = !state.extensions.negative_one_to_one;
    extensions.depth_clip = Some(!state.extensions.depth_clip.unwrap_or(state.raster.depth_clamp_enable == 0));
    extensions.color_write = Some(!state.extensions.color_write.unwrap_or(true));
    extensions.conservative = match state.extensions.conservative {
        Some(_) => None,
        None => Some(vk::ConservativeRasterizationModeEXT::OVERESTIMATE),
    };
    extensions.stream = 0;
    extensions.clamp_range = state.extensions.clamp_range.map(|[least, most]| [(least + most) / 2.0; 2]);
    extensions.locations = state.extensions.locations.map(Locations::mirrored);
    extensions.lines = state.extensions.lines.map(|Lines { mode, stipple }| Lines {
        mode: if mode == BRESENHAM { RECTANGULAR } else { BRESENHAM },
        // The stipple stays, since it is another dynamic state.
        stipple,
    });
    other
}

/// Returns another number of samples.
pub fn other_samples(samples: vk::SampleCountFlags) -> vk::SampleCountFlags {
    match samples {
        vk::SampleCountFlags::TYPE_1 => vk::SampleCountFlags::TYPE_4,
        _ => vk::SampleCountFlags::TYPE_1,
    }
}

/// Sets the dynamic state.
///
/// # Safety
/// The command buffer is recording.
pub unsafe fn set(gpu: &Gpu, commands: vk::CommandBuffer, (state, samples): (&State, vk::SampleCountFlags)) {
    let third = ash::ext::extended_dynamic_state3::Device::new(&gpu.instance, &gpu.device);
    let writes = ash::ext::color_write_enable::Device::new(&gpu.instance, &gpu.device);
    let (raster, blend, extensions) = (&state.raster, &state.blend, &state.extensions);
    let equation = vk::ColorBlendEquationEXT {
        src_color_blend_factor: blend.src_color_blend_factor,
        dst_color_blend_factor: blend.dst_color_blend_factor,
        color_blend_op: blend.color_blend_op,
        src_alpha_blend_factor: blend.src_alpha_blend_factor,
        dst_alpha_blend_factor: blend.dst_alpha_blend_factor,
        alpha_blend_op: blend.alpha_blend_op,
    };
    let provoking = match extensions.provoking_last {
        true => vk::ProvokingVertexModeEXT::LAST_VERTEX,
        false => vk::ProvokingVertexModeEXT::FIRST_VERTEX,
    };
    // SAFETY: as this function demands.
    unsafe {
        third.cmd_set_polygon_mode(commands, raster.polygon_mode);
        third.cmd_set_rasterization_samples(commands, samples);
        third.cmd_set_sample_mask(commands, samples, &[state.sample_mask]);
        third.cmd_set_alpha_to_coverage_enable(commands, state.alpha_to_coverage);
        third.cmd_set_alpha_to_one_enable(commands, false);
        third.cmd_set_logic_op_enable(commands, state.logic.is_some());
        third.cmd_set_color_blend_enable(commands, 0, &[blend.blend_enable]);
        match extensions.advanced {
            Some(advanced) => third.cmd_set_color_blend_advanced(commands, 0, &[advanced]),
            None => third.cmd_set_color_blend_equation(commands, 0, &[equation]),
        }
        third.cmd_set_color_write_mask(commands, 0, &[blend.color_write_mask]);
        third.cmd_set_depth_clamp_enable(commands, raster.depth_clamp_enable != 0);
        third.cmd_set_depth_clip_enable(commands, extensions.depth_clip.unwrap_or(raster.depth_clamp_enable == 0));
        third.cmd_set_depth_clip_negative_one_to_one(commands, extensions.negative_one_to_one);
        third.cmd_set_provoking_vertex_mode(commands, provoking);
        third.cmd_set_line_stipple_enable(commands, extensions.lines.is_some_and(|lines| lines.stipple.is_some()));
        let conservative = extensions.conservative.unwrap_or(vk::ConservativeRasterizationModeEXT::DISABLED);
        third.cmd_set_conservative_rasterization_mode(commands, conservative);
        if !state.feedback.is_empty() {
            let loops = ash::ext::attachment_feedback_loop_dynamic_state::Device::new(&gpu.instance, &gpu.device);
            (loops.fp().cmd_set_attachment_feedback_loop_enable_ext)(commands, state.feedback);
        }
        if let Some(locations) = &extensions.locations {
            locations.set(gpu, commands);
            third.cmd_set_sample_locations_enable(commands, true);
        }
        if let Some(patches) = extensions.patches {
            third.cmd_set_tessellation_domain_origin(commands, patches.origin());
        }
        if extensions.stream != 0 {
            third.cmd_set_rasterization_stream(commands, extensions.stream);
        }
        if let Some([min_depth_clamp, max_depth_clamp]) = extensions.clamp_range {
            let range = sys::DepthClampRangeEXT { min_depth_clamp, max_depth_clamp };
            let name = c"vkCmdSetDepthClampRangeEXT";
            if let Ok(set) = gpu.command::<sys::PFN_vkCmdSetDepthClampRangeEXT>(name) {
                set(commands, sys::DepthClampModeEXT::USER_DEFINED_RANGE, &raw const range);
            }
        }
        if let Some(lines) = extensions.lines {
            third.cmd_set_line_rasterization_mode(commands, lines.mode);
        }
        let enables = [vk::Bool32::from(extensions.color_write.unwrap_or(true))];
        (writes.fp().cmd_set_color_write_enable_ext)(commands, 1, enables.as_ptr());
        set_input(gpu, commands, state);
    }
}

/// Sets the vertex bindings and attributes.
///
/// # Safety
/// The command buffer is recording.
unsafe fn set_input(gpu: &Gpu, commands: vk::CommandBuffer, state: &State) {
    let input = ash::ext::vertex_input_dynamic_state::Device::new(&gpu.instance, &gpu.device);
    let (stride, attributes) = vertices(state);
    let input_rate = state.extensions.divisor.map_or(vk::VertexInputRate::VERTEX, |_| vk::VertexInputRate::INSTANCE);
    let bindings = [vk::VertexInputBindingDescription2EXT::default()
        .stride(stride)
        .input_rate(input_rate)
        .divisor(state.extensions.divisor.unwrap_or(1))];
    let attribute = |attribute: &vk::VertexInputAttributeDescription| {
        vk::VertexInputAttributeDescription2EXT::default()
            .location(attribute.location)
            .format(attribute.format)
            .offset(attribute.offset)
    };
    let count = usize::from(!attributes.is_empty());
    let attributes: Vec<_> = attributes.iter().map(attribute).collect();
    // SAFETY: as this function demands.
    unsafe { input.cmd_set_vertex_input(commands, &bindings[..count], &attributes) };
}
