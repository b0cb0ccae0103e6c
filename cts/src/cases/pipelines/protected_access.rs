//! Pipelines without or with protected access only.

use ash::vk;
use ash::vk::DescriptorType as T;

use crate::harness::{Case, Compute, Gpu, Outcome, check};

const FILL: &[u8] = shader!("fill.comp");

case!("maintenance.protected.pipelines", "VK_EXT_pipeline_protected_access", unprotected);

/// Checks that the flags for no protected access and for protected access only create usual
/// pipelines where protected memory is not supported.
fn unprotected(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_PROTECTED_ACCESS_NAME)?;
    let target = gpu.buffer(256)?;
    let compute = gpu.compute_pipeline(FILL, 77, &[(T::STORAGE_BUFFER, target)])?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(gpu.module(FILL)?)
        .name(c"main");
    let flags = vk::PipelineCreateFlags::NO_PROTECTED_ACCESS_EXT;
    let info = [vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(compute.layout)];
    let run = |pipeline| {
        gpu.run(|commands| {
            gpu.bind_compute(commands, &Compute { pipeline, ..compute }, &[]);
            // SAFETY: the command buffer is recording, and everything named is alive.
            unsafe { gpu.device.cmd_dispatch(commands, 1, 1, 1) };
            gpu.barrier(commands, None);
        })?;
        Ok::<_, Outcome>(target.words())
    };
    let plain = run(compute.pipeline)?;
    check(plain == [77; 64], || format!("{plain:?}"))?;
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let got = run(made.map_err(|(_, code)| code)?[0])?;
    // The word is 0 without a specialization constant.
    check(got == [0; 64], || format!("{got:?}"))
}
