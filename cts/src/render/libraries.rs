//! Pipelines that are linked of libraries.

use ash::vk;

use crate::harness::{Gpu, Outcome};

/// Creates a pipeline that is linked of four libraries, one for each part. Only the vertex input
/// library requests robust vertex inputs.
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
        // State of other parts is ignored.
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

/// Returns the stages of some types.
fn of_stages<'a>(
    info: &vk::GraphicsPipelineCreateInfo<'a>,
    stages: vk::ShaderStageFlags,
) -> Vec<vk::PipelineShaderStageCreateInfo<'a>> {
    // SAFETY: the pointer is to as many stages as the count says.
    let all = unsafe { std::slice::from_raw_parts(info.p_stages, info.stage_count as usize) };
    all.iter().filter(|info| stages.contains(info.stage)).copied().collect()
}
