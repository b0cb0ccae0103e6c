//! Pipeline binaries. Source: Vulkan specification, "Pipeline Binaries".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk::{self, Handle};
use vitric_api::pipeline::{PipelineBinary, StageKey, global_key, pipeline_key};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_vulkan::sys::Handle as _;
use vitric_vulkan::{
    Newer, PipelineBinaryCreateInfoKHR, PipelineBinaryDataInfoKHR, PipelineBinaryHandlesInfoKHR, PipelineBinaryInfoKHR,
    PipelineBinaryKHR, PipelineBinaryKeyKHR, PipelineCreateInfoKHR, ReleaseCapturedPipelineDataInfoKHR, sys,
};

use super::PipelineBuilder;
use crate::call::{Call, In, Out, room_for};
use crate::object::{DeviceObject, check, destroy, need};

/// `VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR`. The lower half of the 64-bit flags has the numbers
/// of the 32-bit ones.
pub const CAPTURE_DATA: vk::PipelineCreateFlags = vk::PipelineCreateFlags::from_raw(1 << 31);

/// Returns the binaries that a pipeline is created from; empty if it is created from shader
/// modules.
pub fn named(call: Call<'_>, object: &DeviceObject, next: *const c_void) -> Result<Vec<Arc<PipelineBinary>>> {
    let Some(info) = call.find::<PipelineBinaryInfoKHR>(next) else { return Ok(Vec::new()) };
    check::info(call, object, Some(info))?;
    let handles = call.slice(info.pipeline_binaries, info.binary_count);
    handles.iter().map(|&binary| need(object, &object.binaries, Newer(binary))).collect()
}

/// Sends the message that none of a pipeline's binaries is of a stage.
#[cold]
pub fn refuse(object: &DeviceObject, stage: vk::ShaderStageFlags) -> Error {
    object.messages().error(&format!(
        "VkPipelineBinaryInfoKHR: no binary is of the {stage:?} stage: expected the binaries of a pipeline with equal \
         stages, entry points and specialization constants"
    ));
    Error::Unknown
}

/// Returns the keys of the stages of a described pipeline.
fn stage_keys(call: Call<'_>, object: &DeviceObject, info: &sys::PipelineCreateInfoKHR) -> Result<Vec<StageKey>> {
    if let Some(graphics) = call.find::<vk::GraphicsPipelineCreateInfo<'_>>(info.next) {
        PipelineBuilder::new(call, object, None, graphics).keys()
    } else if let Some(compute) = call.find::<vk::ComputePipelineCreateInfo<'_>>(info.next) {
        PipelineBuilder::new(call, object, None, compute).keys()
    } else {
        object.messages().error(
            "VkPipelineCreateInfoKHR::pNext has no pipeline: expected a VkGraphicsPipelineCreateInfo or a \
             VkComputePipelineCreateInfo",
        );
        Err(Error::Unknown)
    }
}

/// Writes a key.
fn put_key(key: &[u8], mut out: Out<'_, PipelineBinaryKeyKHR>) {
    out.key_size = key.len() as u32;
    out.key.0[..key.len()].copy_from_slice(key);
}

#[entry(vkGetPipelineKeyKHR)]
fn get_pipeline_key(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&PipelineCreateInfoKHR>,
    out: Out<'_, PipelineBinaryKeyKHR>,
) -> Result<vk::Result> {
    match info {
        None => put_key(&global_key(), out),
        Some(info) => put_key(&pipeline_key(stage_keys(call, object, info)?.iter()), out),
    }
    Ok(vk::Result::SUCCESS)
}

/// Binaries that one call creates. Reading data is left until the binaries are wanted.
type Sources<'c> = Vec<Box<dyn FnOnce() -> Result<Arc<PipelineBinary>> + 'c>>;

/// Returns the binaries of the only source that is named.
fn sources<'c>(call: Call<'c>, object: &'c DeviceObject, info: &'c PipelineBinaryCreateInfoKHR) -> Result<Sources<'c>> {
    if let Some(saved) = call.get(info.keys_and_data_info) {
        let keys = call.slice(saved.pipeline_binary_keys, saved.binary_count);
        let pairs = keys.iter().zip(call.slice(saved.pipeline_binary_data, saved.binary_count));
        return Ok(pairs.map(|(key, data)| Box::new(move || read(call, object, key, data)) as _).collect());
    }
    if let Some(described) = call.get(info.pipeline_create_info) {
        let find = |key: StageKey| Box::new(move || object.programs.binary(&key)) as _;
        return Ok(stage_keys(call, object, described)?.into_iter().map(find).collect());
    }
    let pipeline = vk::Pipeline::from_raw(info.pipeline.as_raw());
    need(object, &object.pipelines, pipeline)?;
    let captured = object.captured.lock().get(&pipeline.as_raw()).cloned();
    let captured = captured.ok_or_else(|| not_captured(object, pipeline))?;
    Ok(captured.into_iter().map(|binary| Box::new(move || Ok(binary)) as _).collect())
}

/// Reads a binary from the application's data.
fn read(
    call: Call<'_>,
    object: &DeviceObject,
    key: &sys::PipelineBinaryKeyKHR,
    data: &sys::PipelineBinaryDataKHR,
) -> Result<Arc<PipelineBinary>> {
    room_for(data.data_size)?;
    // A key that is too long is equal to none.
    let key = key.key.0.get(..key.key_size as usize).unwrap_or_default();
    PipelineBinary::read(object.messages(), key, call.bytes(data.data, data.data_size)).map(Arc::new)
}

/// Sends the message that a pipeline has no captured data.
#[cold]
fn not_captured(object: &DeviceObject, pipeline: vk::Pipeline) -> Error {
    object.messages().error(&format!(
        "{} has no captured data: expected a pipeline with VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR whose data were \
         not released",
        object.describe(pipeline)
    ));
    Error::Unknown
}

#[entry(vkCreatePipelineBinariesKHR)]
fn create_pipeline_binaries(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&PipelineBinaryCreateInfoKHR>,
    _: *const vk::AllocationCallbacks<'_>,
    mut out: Out<'_, PipelineBinaryHandlesInfoKHR>,
) -> Result<vk::Result> {
    let room = if out.pipeline_binaries.is_null() { 0 } else { out.pipeline_binary_count as usize };
    let handles = call.outputs(out.pipeline_binaries, room);
    handles.fill(sys::PipelineBinaryKHR::default());
    let sources = sources(call, object, check::info(call, object, info)?)?;
    let count = sources.len();
    if out.pipeline_binaries.is_null() {
        out.pipeline_binary_count = count as u32;
        return Ok(vk::Result::SUCCESS);
    }
    out.pipeline_binary_count = room.min(count) as u32;
    let mut result = Ok(if room < count { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS });
    let mut failure = None;
    for (slot, make) in handles.iter_mut().zip(sources) {
        match room_for(0).and_then(|()| make()) {
            Ok(binary) => *slot = sys::PipelineBinaryKHR::from_raw(object.binaries.insert(binary)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if let Some(error) = failure {
        result = Err(error);
    }
    result
}

#[entry(vkDestroyPipelineBinaryKHR)]
fn destroy_pipeline_binary(object: &DeviceObject, binary: PipelineBinaryKHR, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.binaries, binary);
}

#[entry(vkGetPipelineBinaryDataKHR)]
fn get_pipeline_binary_data(
    call: Call<'_>,
    object: &DeviceObject,
    info: In<'_, PipelineBinaryDataInfoKHR>,
    key: Out<'_, PipelineBinaryKeyKHR>,
    mut size: Out<'_, usize>,
    out: *mut c_void,
) -> Result<vk::Result> {
    let binary = need(object, &object.binaries, Newer(info.pipeline_binary))?;
    let room = std::mem::replace(&mut *size, binary.size());
    if !out.is_null() {
        if room < *size {
            return Err(Error::NotEnoughSpace);
        }
        call.outputs(out.cast::<u8>(), *size).copy_from_slice(&binary.data());
    }
    put_key(&binary.key(), key);
    Ok(vk::Result::SUCCESS)
}

#[entry(vkReleaseCapturedPipelineDataKHR)]
fn release_captured_pipeline_data(
    object: &DeviceObject,
    info: In<'_, ReleaseCapturedPipelineDataInfoKHR>,
    _: *const vk::AllocationCallbacks<'_>,
) -> Result<vk::Result> {
    let pipeline = vk::Pipeline::from_raw(info.pipeline.as_raw());
    need(object, &object.pipelines, pipeline)?;
    let released = object.captured.lock().remove(&pipeline.as_raw());
    released.map(|_| vk::Result::SUCCESS).ok_or_else(|| not_captured(object, pipeline))
}
