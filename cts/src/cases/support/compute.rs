//! Compute pipelines with robust access, and descriptors of buffers.

use ash::vk;

use crate::harness::{Gpu, Outcome};

/// Creates a compute pipeline, with robust access where the device supports it.
pub(in crate::cases) fn pipeline(gpu: &Gpu, code: &[u8], layout: vk::PipelineLayout) -> Result<vk::Pipeline, Outcome> {
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(code)?)
        .name(c"main");
    let buffers = vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS_2;
    let mut robustness = vk::PipelineRobustnessCreateInfoEXT::default()
        .storage_buffers(buffers)
        .uniform_buffers(buffers)
        .images(vk::PipelineRobustnessImageBehaviorEXT::ROBUST_IMAGE_ACCESS_2);
    let mut info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    if gpu.has(vk::EXT_PIPELINE_ROBUSTNESS_NAME) {
        info[0] = info[0].push_next(&mut robustness);
    }
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    Ok(made.map_err(|(_, code)| code)?[0])
}

/// Returns the descriptor of a buffer's first `range` bytes.
pub(in crate::cases) fn range(buffer: vk::Buffer, range: u64) -> [vk::DescriptorBufferInfo; 1] {
    [vk::DescriptorBufferInfo { buffer, offset: 0, range }]
}
