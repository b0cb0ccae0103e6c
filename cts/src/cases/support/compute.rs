//! Compute pipelines with robust access, set layouts, and descriptors of buffers.

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

/// Creates a set layout of one descriptor at each of the bindings 0 and up, for compute shaders.
pub(in crate::cases) fn set_layout(
    gpu: &Gpu,
    kinds: &[vk::DescriptorType],
    flags: vk::DescriptorSetLayoutCreateFlags,
) -> Result<vk::DescriptorSetLayout, Outcome> {
    let binding = |(number, &kind): (usize, &vk::DescriptorType)| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number as u32)
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings: Vec<_> = kinds.iter().enumerate().map(binding).collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
    // SAFETY: the info is valid.
    Ok(unsafe { gpu.device.create_descriptor_set_layout(&info, None) }?)
}
