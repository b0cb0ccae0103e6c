//! Commands that bind pipelines, descriptor sets and buffers, and that push constants and
//! descriptors. Source: Vulkan specification, "Pipelines", "Resource Descriptors", "Fixed-Function
//! Vertex Processing"; `VK_KHR_push_descriptor`, `VK_KHR_maintenance6`.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_exec::bindings::DescriptorName;
use vitric_exec::runtime::SetLayout;
use vitric_gpu::command::Command;
use vitric_memory::BufferRange;

use super::Recorder;
use crate::call::{Array, Bytes, Call, In};
use crate::object::descriptor::{pushed, pushed_with};
use crate::object::{DeviceObject, Pipeline, good, need, optional};

#[entry(vkCmdBindPipeline)]
fn bind_pipeline(recorder: Recorder<'_>, _: vk::PipelineBindPoint, pipeline: vk::Pipeline) -> Result<()> {
    let object = recorder.device;
    recorder.record(match need(object, &object.pipelines, pipeline)? {
        Pipeline::Graphics(pipeline) => Command::BindGraphicsPipeline(pipeline),
        Pipeline::Compute(pipeline) => Command::BindComputePipeline(pipeline),
        Pipeline::Library(_) => return Err(Error::Unknown),
    })
}

#[entry(vkCmdBindDescriptorSets)]
fn bind_descriptor_sets(
    recorder: Recorder<'_>,
    point: vk::PipelineBindPoint,
    _: vk::PipelineLayout,
    first: u32,
    #[len] count: u32,
    sets: Array<'_, vk::DescriptorSet>,
    #[len] offset_count: u32,
    offsets: Array<'_, u32>,
) -> Result<()> {
    bind_sets(recorder, point, first, sets.get(), offsets.get())
}

#[entry(vkCmdBindDescriptorSets2KHR)]
fn bind_descriptor_sets2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::BindDescriptorSetsInfoKHR<'_>>) {
    let sets = call.slice(info.p_descriptor_sets, info.descriptor_set_count);
    let offsets = call.slice(info.p_dynamic_offsets, info.dynamic_offset_count);
    for point in points(info.stage_flags) {
        let _ = bind_sets(recorder, point, info.first_set, sets, offsets);
    }
}

/// Records the binding of descriptor sets to one bind point.
fn bind_sets(
    recorder: Recorder<'_>,
    point: vk::PipelineBindPoint,
    first: u32,
    sets: &[vk::DescriptorSet],
    offsets: &[u32],
) -> Result<()> {
    let object = recorder.device;
    let sets = sets.iter().map(|&set| good(object, &object.sets, set)).collect::<Result<_>>()?;
    recorder.record(Command::BindDescriptorSets { point, first, sets, dynamic_offsets: offsets.into() })
}

/// Returns the bind points of shader stages.
fn points(stages: vk::ShaderStageFlags) -> impl Iterator<Item = vk::PipelineBindPoint> {
    let meshes = vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT;
    let graphics = stages.intersects(vk::ShaderStageFlags::ALL_GRAPHICS | meshes);
    let compute = stages.contains(vk::ShaderStageFlags::COMPUTE);
    let all = [(graphics, vk::PipelineBindPoint::GRAPHICS), (compute, vk::PipelineBindPoint::COMPUTE)];
    all.into_iter().filter(|(is_named, _)| *is_named).map(|(_, point)| point)
}

#[entry(vkCmdBindVertexBuffers)]
fn bind_vertex_buffers(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    buffers: Array<'_, vk::Buffer>,
    offsets: Array<'_, vk::DeviceSize>,
) -> Result<()> {
    bind_vertex_ranges(recorder, first, buffers.get(), [offsets.get(), &[]])
}

#[entry(vkCmdBindVertexBuffers2)]
fn bind_vertex_buffers2(
    recorder: Recorder<'_>,
    first: u32,
    #[len] count: u32,
    buffers: Array<'_, vk::Buffer>,
    offsets: Array<'_, vk::DeviceSize>,
    sizes: Array<'_, vk::DeviceSize>,
    strides: Array<'_, vk::DeviceSize>,
) -> Result<()> {
    // Strides are set even if a buffer is invalid.
    let _ = bind_vertex_ranges(recorder, first, buffers.get(), [offsets.get(), sizes.get()]);
    match strides.get() {
        [] => Ok(()),
        strides => {
            let strides = strides.iter().map(|&stride| stride as u32).collect();
            recorder.record(Command::SetVertexStrides { first, strides })
        }
    }
}

/// Records the binding of vertex buffers with their offsets, and with sizes if there are any.
fn bind_vertex_ranges(
    recorder: Recorder<'_>,
    first: u32,
    buffers: &[vk::Buffer],
    [offsets, sizes]: [&[vk::DeviceSize]; 2],
) -> Result<()> {
    let object = recorder.device;
    let range = |(number, (&buffer, &offset)): (usize, (&vk::Buffer, &vk::DeviceSize))| {
        let size = sizes.get(number).copied().unwrap_or(vk::WHOLE_SIZE);
        let buffer = optional(object, &object.buffers, buffer)?;
        Ok(buffer.map(|buffer| BufferRange::new(buffer, offset, size)))
    };
    let buffers = buffers.iter().zip(offsets).enumerate().map(range).collect::<Result<_>>()?;
    recorder.record(Command::BindVertexBuffers { first, buffers })
}

#[entry(vkCmdBindIndexBuffer)]
fn bind_index_buffer(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    index_type: vk::IndexType,
) -> Result<()> {
    bind_index_buffer2(recorder, buffer, offset, vk::WHOLE_SIZE, index_type)
}

#[entry(vkCmdBindIndexBuffer2KHR)]
fn bind_index_buffer2(
    recorder: Recorder<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    index_type: vk::IndexType,
) -> Result<()> {
    let object = recorder.device;
    let buffer = optional(object, &object.buffers, buffer)?;
    let range = buffer.map(|buffer| BufferRange::new(buffer, offset, size));
    recorder.record(Command::BindIndexBuffer { range, index_type })
}

#[entry(vkCmdPushConstants)]
fn push_constants(
    recorder: Recorder<'_>,
    _: vk::PipelineLayout,
    _: vk::ShaderStageFlags,
    offset: u32,
    #[len] size: u32,
    values: Bytes<'_>,
) -> Result<()> {
    recorder.record_with(values.get(), |data| Command::PushConstants { offset, data })
}

#[entry(vkCmdPushConstants2KHR)]
fn push_constants2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::PushConstantsInfoKHR<'_>>) -> Result<()> {
    let (offset, values) = (info.offset, call.bytes(info.p_values, info.size as usize));
    recorder.record_with(values, |data| Command::PushConstants { offset, data })
}

/// Returns the layout of a push descriptor set in a pipeline layout.
fn set_layout(object: &DeviceObject, layout: vk::PipelineLayout, set: u32) -> Result<Arc<SetLayout>> {
    let layout = need(object, &object.pipeline_layouts, layout)?;
    let found = layout.sets.get(set as usize).cloned().flatten();
    found.filter(|layout| layout.pushed).ok_or(Error::Unknown)
}

/// Records push descriptors for a set of a pipeline layout at one bind point. `describe` returns
/// the descriptors.
fn push(
    recorder: Recorder<'_>,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    describe: impl FnOnce(&SetLayout) -> Result<Vec<(u32, DescriptorName)>>,
) -> Result<()> {
    let layout = set_layout(recorder.device, layout, set)?;
    let writes = describe(&layout)?;
    recorder.record(Command::PushDescriptors { point, set, layout, writes })
}

#[entry(vkCmdPushDescriptorSetKHR)]
fn push_descriptor_set(
    call: Call<'_>,
    recorder: Recorder<'_>,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    #[len] count: u32,
    writes: Array<'_, vk::WriteDescriptorSet<'_>>,
) -> Result<()> {
    push(recorder, point, layout, set, |layout| pushed(call, recorder.device, layout, writes.get()))
}

#[entry(vkCmdPushDescriptorSet2KHR)]
fn push_descriptor_set2(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::PushDescriptorSetInfoKHR<'_>>) {
    let writes = call.slice(info.p_descriptor_writes, info.descriptor_write_count);
    for point in points(info.stage_flags) {
        let _ = push(recorder, point, info.layout, info.set, |layout| pushed(call, recorder.device, layout, writes));
    }
}

#[entry(vkCmdPushDescriptorSetWithTemplateKHR)]
fn push_descriptor_set_with_template(
    call: Call<'_>,
    recorder: Recorder<'_>,
    template: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) -> Result<()> {
    let object = recorder.device;
    let layout = set_layout(object, layout, set)?;
    let template = need(object, &object.templates, template)?;
    let writes = pushed_with(call, object, &layout, &template, data)?;
    recorder.record(Command::PushDescriptors { point: template.point, set, layout, writes })
}

#[entry(vkCmdPushDescriptorSetWithTemplate2KHR)]
fn push_descriptor_set_with_template2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, vk::PushDescriptorSetWithTemplateInfoKHR<'_>>,
) -> Result<()> {
    let template = info.descriptor_update_template;
    push_descriptor_set_with_template(call, recorder, template, info.layout, info.set, info.p_data)
}
