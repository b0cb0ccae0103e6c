//! Dynamic state of `VK_EXT_extended_dynamic_state3` and what goes with it, several draws by one command, transform feedback,
//! and pipelines that are linked of libraries, for rendering in cases.

use ash::vk;

use crate::draw::{Capture, Kind, SIZE, State, vertices};
use crate::harness::{Buffer, Gpu, Outcome};
use crate::more::{Lines, Locations};

/// What is dynamic. How lines are drawn is, too, where a case asks for any kind of lines.
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

/// The same state with other values where those are dynamic. The vertex input is left out altogether.
pub fn other_than(state: &State) -> State {
    let mut other = state.clone();
    let flip = |value: vk::Bool32| vk::TRUE - value;
    other.raster.polygon_mode = match state.raster.polygon_mode {
        vk::PolygonMode::FILL => vk::PolygonMode::POINT,
        _ => vk::PolygonMode::FILL,
    };
    other.raster.depth_clamp_enable = flip(state.raster.depth_clamp_enable);
    if let Some(patches) = &mut other.more.patches {
        patches.lower_left = !patches.lower_left;
    } else if state.extended {
        // Of another kind, which that extension allows.
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
    let more = &mut other.more;
    more.provoking_last = !state.more.provoking_last;
    more.negative_one_to_one = !state.more.negative_one_to_one;
    more.depth_clip = Some(!state.more.depth_clip.unwrap_or(state.raster.depth_clamp_enable == 0));
    more.color_write = Some(!state.more.color_write.unwrap_or(true));
    more.conservative = match state.more.conservative {
        Some(_) => None,
        None => Some(vk::ConservativeRasterizationModeEXT::OVERESTIMATE),
    };
    more.stream = 0;
    more.locations = state.more.locations.map(Locations::mirrored);
    more.lines = state.more.lines.map(|Lines { mode, stipple }| Lines {
        mode: if mode == BRESENHAM { RECTANGULAR } else { BRESENHAM },
        // The values stay, as they are not dynamic by themselves.
        stipple,
    });
    other
}

/// Another number of samples.
pub fn other_samples(samples: vk::SampleCountFlags) -> vk::SampleCountFlags {
    match samples {
        vk::SampleCountFlags::TYPE_1 => vk::SampleCountFlags::TYPE_4,
        _ => vk::SampleCountFlags::TYPE_1,
    }
}

/// Sets all of it.
///
/// # Safety
/// The command buffer is recording.
pub unsafe fn set(gpu: &Gpu, commands: vk::CommandBuffer, (state, samples): (&State, vk::SampleCountFlags)) {
    let third = ash::ext::extended_dynamic_state3::Device::new(&gpu.instance, &gpu.device);
    let writes = ash::ext::color_write_enable::Device::new(&gpu.instance, &gpu.device);
    let (raster, blend, more) = (&state.raster, &state.blend, &state.more);
    let equation = vk::ColorBlendEquationEXT {
        src_color_blend_factor: blend.src_color_blend_factor,
        dst_color_blend_factor: blend.dst_color_blend_factor,
        color_blend_op: blend.color_blend_op,
        src_alpha_blend_factor: blend.src_alpha_blend_factor,
        dst_alpha_blend_factor: blend.dst_alpha_blend_factor,
        alpha_blend_op: blend.alpha_blend_op,
    };
    let provoking = match more.provoking_last {
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
        third.cmd_set_color_blend_equation(commands, 0, &[equation]);
        third.cmd_set_color_write_mask(commands, 0, &[blend.color_write_mask]);
        third.cmd_set_depth_clamp_enable(commands, raster.depth_clamp_enable != 0);
        third.cmd_set_depth_clip_enable(commands, more.depth_clip.unwrap_or(raster.depth_clamp_enable == 0));
        third.cmd_set_depth_clip_negative_one_to_one(commands, more.negative_one_to_one);
        third.cmd_set_provoking_vertex_mode(commands, provoking);
        third.cmd_set_line_stipple_enable(commands, more.lines.is_some_and(|lines| lines.stipple.is_some()));
        let conservative = more.conservative.unwrap_or(vk::ConservativeRasterizationModeEXT::DISABLED);
        third.cmd_set_conservative_rasterization_mode(commands, conservative);
        if !state.feedback.is_empty() {
            let loops = ash::ext::attachment_feedback_loop_dynamic_state::Device::new(&gpu.instance, &gpu.device);
            (loops.fp().cmd_set_attachment_feedback_loop_enable_ext)(commands, state.feedback);
        }
        if let Some(locations) = &more.locations {
            locations.set(gpu, commands);
            third.cmd_set_sample_locations_enable(commands, true);
        }
        if let Some(patches) = more.patches {
            third.cmd_set_tessellation_domain_origin(commands, patches.origin());
        }
        if more.stream != 0 {
            third.cmd_set_rasterization_stream(commands, more.stream);
        }
        if let Some(lines) = more.lines {
            third.cmd_set_line_rasterization_mode(commands, lines.mode);
        }
        let enables = [vk::Bool32::from(more.color_write.unwrap_or(true))];
        (writes.fp().cmd_set_color_write_enable_ext)(commands, 1, enables.as_ptr());
        set_input(gpu, commands, state);
    }
}

/// Sets bindings and attributes of vertices.
///
/// # Safety
/// The command buffer is recording.
unsafe fn set_input(gpu: &Gpu, commands: vk::CommandBuffer, state: &State) {
    let input = ash::ext::vertex_input_dynamic_state::Device::new(&gpu.instance, &gpu.device);
    let (stride, attributes) = vertices(state);
    let input_rate = state.more.divisor.map_or(vk::VertexInputRate::VERTEX, |_| vk::VertexInputRate::INSTANCE);
    let bindings = [vk::VertexInputBindingDescription2EXT::default()
        .stride(stride)
        .input_rate(input_rate)
        .divisor(state.more.divisor.unwrap_or(1))];
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

/// A pipeline that is linked of four libraries, one for each part. Only the part of the vertex input says how attributes are read.
pub fn linked(
    gpu: &Gpu,
    whole: &vk::GraphicsPipelineCreateInfo<'_>,
    robustness: Option<vk::PipelineRobustnessCreateInfoEXT<'_>>,
) -> Result<vk::Pipeline, Outcome> {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    let parts = [
        Part::VERTEX_INPUT_INTERFACE,
        Part::PRE_RASTERIZATION_SHADERS,
        Part::FRAGMENT_SHADER,
        Part::FRAGMENT_OUTPUT_INTERFACE,
    ];
    let mut libraries = Vec::new();
    for part in parts {
        let mut named = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(part);
        let mut info = *whole;
        info.flags |= vk::PipelineCreateFlags::LIBRARY_KHR;
        info = info.push_next(&mut named);
        let mut robustness = robustness.filter(|_| part == Part::VERTEX_INPUT_INTERFACE);
        if let Some(robustness) = &mut robustness {
            info = info.push_next(robustness);
        }
        // What belongs to other parts is not looked at.
        let stages: Vec<vk::PipelineShaderStageCreateInfo<'_>> = match part {
            Part::PRE_RASTERIZATION_SHADERS => of_stages(whole, !vk::ShaderStageFlags::FRAGMENT),
            Part::FRAGMENT_SHADER => of_stages(whole, vk::ShaderStageFlags::FRAGMENT),
            _ => Vec::new(),
        };
        info = info.stages(&stages);
        if part != Part::VERTEX_INPUT_INTERFACE {
            info.p_vertex_input_state = std::ptr::null();
        }
        if part != Part::PRE_RASTERIZATION_SHADERS {
            (info.p_rasterization_state, info.p_viewport_state) = (std::ptr::null(), std::ptr::null());
            info.p_tessellation_state = std::ptr::null();
        }
        if part != Part::FRAGMENT_SHADER {
            info.p_depth_stencil_state = std::ptr::null();
        }
        if part != Part::FRAGMENT_OUTPUT_INTERFACE {
            info.p_color_blend_state = std::ptr::null();
        }
        // SAFETY: the info is valid for the part.
        let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        libraries.push(made.map_err(|(_, code)| code)?[0]);
    }
    let mut linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let info = vk::GraphicsPipelineCreateInfo::default().layout(whole.layout).push_next(&mut linked);
    // SAFETY: the libraries have all parts; they are not needed behind.
    unsafe {
        let made = gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
        libraries.iter().for_each(|&library| gpu.device.destroy_pipeline(library, None));
        Ok(made.map_err(|(_, code)| code)?[0])
    }
}

/// The stages of some kinds.
fn of_stages<'a>(
    info: &vk::GraphicsPipelineCreateInfo<'a>,
    stages: vk::ShaderStageFlags,
) -> Vec<vk::PipelineShaderStageCreateInfo<'a>> {
    // SAFETY: the pointer is to as many stages as the count says.
    let all = unsafe { std::slice::from_raw_parts(info.p_stages, info.stage_count as usize) };
    all.iter().filter(|info| stages.contains(info.stage)).copied().collect()
}

/// Records a draw of meshes.
///
/// # Safety
/// The command buffer is recording, in a pass, and the extension is enabled.
pub unsafe fn draw_meshes(gpu: &Gpu, commands: vk::CommandBuffer, kind: Kind) {
    let meshes = ash::ext::mesh_shader::Device::new(&gpu.instance, &gpu.device);
    // Two words lie between the arguments of draws, and one before them.
    let (offset, stride) = (4, 20);
    // SAFETY: as this function demands.
    unsafe {
        match kind {
            Kind::Meshes([x, y, z]) => meshes.cmd_draw_mesh_tasks(commands, x, y, z),
            Kind::MeshesIndirect { buffer, counts: None, count } => {
                meshes.cmd_draw_mesh_tasks_indirect(commands, buffer.handle, offset, count, stride);
            }
            Kind::MeshesIndirect { buffer, counts: Some(counts), count } => {
                let (arguments, counts) = (buffer.handle, counts.handle);
                meshes.cmd_draw_mesh_tasks_indirect_count(commands, arguments, offset, counts, 4, count, stride);
            }
            _ => {}
        }
    }
}

/// Records several draws as one command, whose infos do not lie side by side.
///
/// # Safety
/// The command buffer is recording, in a pass.
pub unsafe fn draw_multi(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    (draws, instances): (&[[u32; 2]], u32),
    indices: Option<(Buffer, Option<i32>)>,
) {
    // Sixteen bytes each: first, count, what is added, and nothing.
    let infos: Vec<[u32; 4]> = draws.iter().map(|[first, count]| [*first, *count, 1, 77]).collect();
    let multi = ash::ext::multi_draw::Device::new(&gpu.instance, &gpu.device);
    let (count, start) = (infos.len() as u32, infos.as_ptr());
    // SAFETY: as this function demands.
    unsafe {
        if let Some((buffer, offset)) = indices {
            gpu.device.cmd_bind_index_buffer(commands, buffer.handle, 0, vk::IndexType::UINT32);
            let offset = offset.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            (multi.fp().cmd_draw_multi_indexed_ext)(commands, count, start.cast(), instances, 2, 16, offset);
        } else {
            (multi.fp().cmd_draw_multi_ext)(commands, count, start.cast(), instances, 2, 16);
        }
    }
}

/// Sets the index that restarts primitives; nothing where there is no such command.
///
/// # Safety
/// The command buffer is recording, indices are bound, and the extension is enabled.
pub unsafe fn restart_index(gpu: &Gpu, commands: vk::CommandBuffer, index: u32) {
    type Set = unsafe extern "system" fn(vk::CommandBuffer, u32);
    // SAFETY: as this function demands; the name's function has this type.
    unsafe {
        let name = c"vkCmdSetPrimitiveRestartIndexEXT".as_ptr();
        let found = gpu.instance.get_device_proc_addr(gpu.device.handle(), name);
        if let Some(function) = found {
            std::mem::transmute::<unsafe extern "system" fn(), Set>(function)(commands, index);
        }
    }
}

/// Binds buffers, and begins queries and transform feedback.
///
/// # Safety
/// The command buffer is recording, in a pass, and the extension is enabled.
pub unsafe fn begin_capture(gpu: &Gpu, commands: vk::CommandBuffer, capture: &Capture) {
    let extension = ash::ext::transform_feedback::Device::new(&gpu.instance, &gpu.device);
    let handles: Vec<vk::Buffer> = capture.buffers.iter().map(|(buffer, ..)| buffer.handle).collect();
    let offsets: Vec<u64> = capture.buffers.iter().map(|(_, offset, _)| *offset).collect();
    let sizes: Vec<u64> = capture.buffers.iter().map(|(.., size)| *size).collect();
    // SAFETY: as this function demands.
    unsafe {
        let fp = extension.fp();
        let (count, offsets, sizes) = (handles.len() as u32, offsets.as_ptr(), sizes.as_ptr());
        for &(pool, query, stream) in &capture.queries {
            (fp.cmd_begin_query_indexed_ext)(commands, pool, query, vk::QueryControlFlags::empty(), stream);
        }
        if capture.only_queries {
            return;
        }
        (fp.cmd_bind_transform_feedback_buffers_ext)(commands, 0, count, handles.as_ptr(), offsets, sizes);
        let (counters, places) = counters(capture);
        let count = if capture.resumes { counters.len() as u32 } else { 0 };
        (fp.cmd_begin_transform_feedback_ext)(commands, 0, count, counters.as_ptr(), places.as_ptr());
    }
}

/// Ends transform feedback and queries. What was written may be used behind it.
///
/// # Safety
/// The command buffer is recording what was begun.
pub unsafe fn end_capture(gpu: &Gpu, commands: vk::CommandBuffer, capture: &Capture) {
    let extension = ash::ext::transform_feedback::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: as this function demands.
    unsafe {
        let (counters, places) = counters(capture);
        let (fp, count) = (extension.fp(), counters.len() as u32);
        if !capture.only_queries {
            (fp.cmd_end_transform_feedback_ext)(commands, 0, count, counters.as_ptr(), places.as_ptr());
        }
        for &(pool, query, stream) in &capture.queries {
            (fp.cmd_end_query_indexed_ext)(commands, pool, query, stream);
        }
    }
}

/// The buffers of counters, and places in them.
fn counters(capture: &Capture) -> (Vec<vk::Buffer>, Vec<u64>) {
    capture
        .counters
        .iter()
        .map(|counter| counter.map(|(buffer, place)| (buffer.handle, place)).unwrap_or_default())
        .unzip()
}

/// Draws what was captured.
///
/// # Safety
/// The command buffer is recording, in a pass, and the extension is enabled.
pub unsafe fn draw_byte_count(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    (counter, place): (Buffer, u64),
    [offset, stride]: [u32; 2],
) {
    let extension = ash::ext::transform_feedback::Device::new(&gpu.instance, &gpu.device);
    // SAFETY: as this function demands.
    unsafe { (extension.fp().cmd_draw_indirect_byte_count_ext)(commands, 1, 0, counter.handle, place, offset, stride) };
}

/// Begins what depends on a word of a buffer.
///
/// # Safety
/// The command buffer is recording.
pub unsafe fn begin_condition(gpu: &Gpu, commands: vk::CommandBuffer, (buffer, offset): (Buffer, u64)) {
    let extension = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let info = vk::ConditionalRenderingBeginInfoEXT::default().buffer(buffer.handle).offset(offset);
    // SAFETY: as this function demands.
    unsafe { (extension.fp().cmd_begin_conditional_rendering_ext)(commands, &raw const info) };
}

/// Clears the lower half to blue, and ends what depends on a word.
///
/// # Safety
/// The command buffer is recording, in a pass.
pub unsafe fn end_condition(gpu: &Gpu, commands: vk::CommandBuffer) {
    let extension = ash::ext::conditional_rendering::Device::new(&gpu.instance, &gpu.device);
    let color = vk::ClearColorValue { float32: [0.0, 0.0, 1.0, 1.0] };
    let clear = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: vk::ClearValue { color },
    };
    let rect = vk::Rect2D {
        offset: vk::Offset2D { x: 0, y: SIZE as i32 / 2 },
        extent: vk::Extent2D { width: SIZE, height: SIZE / 2 },
    };
    let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 };
    // SAFETY: as this function demands.
    unsafe {
        gpu.device.cmd_clear_attachments(commands, &[clear], &[rect]);
        (extension.fp().cmd_end_conditional_rendering_ext)(commands);
    }
}
