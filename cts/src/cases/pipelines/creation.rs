//! Feedback about creation, and control of pipeline caches.

use ash::vk::{self, Handle};

use crate::harness::{Case, Gpu, Outcome, check};

const ZEROED: &[u8] = shader!("zeroed.comp");

case!("core13.pipelines.feedback", "VK_EXT_pipeline_creation_feedback", feedback);

/// Checks creation feedback without a cache, and with a cache that has the program.
fn feedback(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_CREATION_FEEDBACK_NAME)?;
    // SAFETY: the info is valid.
    let cache = unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }?;
    for (number, cache) in [vk::PipelineCache::null(), cache, cache].into_iter().enumerate() {
        let marked =
            vk::PipelineCreationFeedback { flags: vk::PipelineCreationFeedbackFlags::from_raw(64), duration: 9 };
        let (mut whole, mut stage) = (marked, [marked]);
        let mut asked = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut whole)
            .pipeline_stage_creation_feedbacks(&mut stage);
        zeroed_pipeline(gpu, cache, vk::PipelineCreateFlags::empty(), Some(&mut asked))??;
        let known = vk::PipelineCreationFeedbackFlags::VALID
            | vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT
            | vk::PipelineCreationFeedbackFlags::BASE_PIPELINE_ACCELERATION;
        check(known.contains(whole.flags) && known.contains(stage[0].flags), || format!("{whole:?}, {stage:?}"))?;
        let hit = whole.flags.contains(vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT);
        check(!hit || number == 2, || format!("pipeline {number} was found in a cache"))?;
    }
    Ok(())
}

/// Creates a pipeline of a compute shader, or returns the result code.
fn zeroed_pipeline(
    gpu: &Gpu,
    cache: vk::PipelineCache,
    flags: vk::PipelineCreateFlags,
    asked: Option<&mut vk::PipelineCreationFeedbackCreateInfo<'_>>,
) -> Result<Result<vk::Pipeline, vk::Result>, Outcome> {
    let (set_layout, _) = gpu.set(&[vk::DescriptorType::STORAGE_BUFFER])?;
    let stage = vk::PipelineShaderStageCreateInfo::default();
    let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).module(gpu.module(ZEROED)?).name(c"main");
    let mut info =
        vk::ComputePipelineCreateInfo::default().stage(stage).layout(gpu.layout(&[set_layout])?).flags(flags);
    if let Some(asked) = asked {
        info.p_next = std::ptr::from_mut(asked).cast();
    }
    // SAFETY: the info is valid.
    let made = unsafe { gpu.device.create_compute_pipelines(cache, &[info], None) };
    Ok(made.map(|made| made[0]).map_err(|(_, code)| code))
}

case!("core13.pipelines.cache_control", "VK_EXT_pipeline_creation_cache_control", cache_control);

/// Checks that a pipeline that must not be compiled is created where its program is in a cache,
/// and is refused otherwise.
fn cache_control(gpu: &Gpu) -> Case {
    gpu.need(vk::EXT_PIPELINE_CREATION_CACHE_CONTROL_NAME)?;
    // The feedback of a pipeline that was not created is not valid.
    let marked = vk::PipelineCreationFeedback { flags: vk::PipelineCreationFeedbackFlags::from_raw(!0), duration: 9 };
    let (mut whole, mut stage) = (marked, [marked]);
    let mut asked = vk::PipelineCreationFeedbackCreateInfo::default()
        .pipeline_creation_feedback(&mut whole)
        .pipeline_stage_creation_feedbacks(&mut stage);
    let (fail, any) = (vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED, vk::PipelineCreateFlags::empty());
    // SAFETY: the info is valid.
    let cache = unsafe { gpu.device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }?;
    match zeroed_pipeline(gpu, cache, fail, Some(&mut asked))? {
        Err(vk::Result::PIPELINE_COMPILE_REQUIRED) => {
            let valid = vk::PipelineCreationFeedbackFlags::VALID;
            let all = [whole, stage[0]];
            check(!all.iter().any(|told| told.flags.contains(valid)), || format!("of no pipeline: {all:?}"))?;
        }
        Ok(_) => {}
        Err(code) => return Err(code.into()),
    }
    zeroed_pipeline(gpu, cache, any, None)??;
    match zeroed_pipeline(gpu, cache, fail, None)? {
        Ok(pipeline) => check(!pipeline.is_null(), || "there is no pipeline, and no error".into()),
        Err(vk::Result::PIPELINE_COMPILE_REQUIRED) => Ok(()),
        Err(code) => Err(code.into()),
    }
}
