//! Descriptors that commands push, and commands that bind by structures instead of parameters.
//! Source: `VK_KHR_push_descriptor`, `VK_KHR_maintenance6`.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result};
use vitric_exec::runtime::{Named, SetLayout};
use vitric_gpu::command::Command;

use crate::command::{bind_sets, push_constants, record};
use crate::descriptor::{pushed, pushed_with};
use crate::objects::{DeviceObject, need};
use crate::raw;

/// The layout of a set of a pipeline layout whose descriptors are pushed.
fn set_layout(object: &DeviceObject, layout: vk::PipelineLayout, set: u32) -> Result<Arc<SetLayout>> {
    let layout = need(object, &object.pipeline_layouts, layout)?;
    let found = layout.sets.get(set as usize).cloned().flatten();
    found.filter(|layout| layout.pushed).ok_or(Error::Unknown)
}

/// Pushes what `describe` finds, at one bind point.
fn push(
    handle: vk::CommandBuffer,
    point: Option<vk::PipelineBindPoint>,
    (layout, set): (vk::PipelineLayout, u32),
    describe: impl FnOnce(&DeviceObject, &SetLayout) -> Result<(Option<vk::PipelineBindPoint>, Vec<(u32, Named)>)>,
) {
    record(handle, |object| {
        let layout = set_layout(object, layout, set)?;
        let (of_template, writes) = describe(object, &layout)?;
        let point = point.or(of_template).ok_or(Error::Unknown)?;
        Ok(Command::PushDescriptors { point, set, layout, writes })
    });
}

pub extern "system" fn push_descriptors(
    handle: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    let writes = raw::slice(writes, count);
    push(handle, Some(point), (layout, set), |object, layout| Ok((None, pushed(object, layout, writes)?)));
}

pub extern "system" fn push_with_template(
    handle: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    push(handle, None, (layout, set), |object, layout| {
        let template = need(object, &object.templates, template)?;
        Ok((Some(template.point), pushed_with(object, layout, &template, data)?))
    });
}

/// Bind points of stages.
fn points(stages: vk::ShaderStageFlags) -> impl Iterator<Item = vk::PipelineBindPoint> {
    let meshes = vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT;
    let graphics = stages.intersects(vk::ShaderStageFlags::ALL_GRAPHICS | meshes);
    let compute = stages.contains(vk::ShaderStageFlags::COMPUTE);
    let all = [(graphics, vk::PipelineBindPoint::GRAPHICS), (compute, vk::PipelineBindPoint::COMPUTE)];
    all.into_iter().filter(|(is_named, _)| *is_named).map(|(_, point)| point)
}

pub extern "system" fn bind_sets2(handle: vk::CommandBuffer, info: *const vk::BindDescriptorSetsInfoKHR<'_>) {
    let Some(info) = raw::input(info) else { return };
    for point in points(info.stage_flags) {
        bind_sets(
            handle,
            point,
            info.layout,
            info.first_set,
            info.descriptor_set_count,
            info.p_descriptor_sets,
            info.dynamic_offset_count,
            info.p_dynamic_offsets,
        );
    }
}

pub extern "system" fn push_constants2(handle: vk::CommandBuffer, info: *const vk::PushConstantsInfoKHR<'_>) {
    let Some(info) = raw::input(info) else { return };
    push_constants(handle, info.layout, info.stage_flags, info.offset, info.size, info.p_values);
}

pub extern "system" fn push_descriptors2(handle: vk::CommandBuffer, info: *const vk::PushDescriptorSetInfoKHR<'_>) {
    let Some(info) = raw::input(info) else { return };
    for point in points(info.stage_flags) {
        let (count, writes) = (info.descriptor_write_count, info.p_descriptor_writes);
        push_descriptors(handle, point, info.layout, info.set, count, writes);
    }
}

pub extern "system" fn push_with_template2(
    handle: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
) {
    let Some(info) = raw::input(info) else { return };
    push_with_template(handle, info.descriptor_update_template, info.layout, info.set, info.p_data);
}
