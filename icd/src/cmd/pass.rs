//! Render pass instances. Source: Vulkan specification, "Render Pass Commands".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::Result;
use vitric_entry::entry;
use vitric_gpu::command::{Command, PassBegin};
use vitric_memory::SurfaceView;

use super::Recorder;
use super::transfer::clear_value;
use crate::call::{Call, In};
use crate::object::{DeviceObject, need};

#[entry(vkCmdBeginRenderPass)]
fn begin_render_pass(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, vk::RenderPassBeginInfo<'_>>,
    _: vk::SubpassContents,
) -> Result<()> {
    begin_render_pass2(call, recorder, info)
}

#[entry(vkCmdBeginRenderPass2)]
fn begin_render_pass2(
    call: Call<'_>,
    recorder: Recorder<'_>,
    info: In<'_, vk::RenderPassBeginInfo<'_>>,
    _: *const vk::SubpassBeginInfo<'_>,
) -> Result<()> {
    let object = recorder.device;
    let framebuffer = need(object, &object.framebuffers, info.framebuffer)?;
    let begin = PassBegin {
        pass: need(object, &object.passes, info.render_pass)?,
        views: named_views(call, object, &info)?.unwrap_or_else(|| framebuffer.views.clone()),
        area: device_area(call, info.p_next).unwrap_or(info.render_area),
        layers: framebuffer.layers,
        extent: framebuffer.extent,
        clears: call.slice(info.p_clear_values, info.clear_value_count).iter().map(clear_value).collect(),
    };
    recorder.record(Command::BeginPass(Box::new(begin)))
}

/// Returns the views of a render pass instance with an imageless framebuffer.
fn named_views(
    call: Call<'_>,
    object: &DeviceObject,
    info: &vk::RenderPassBeginInfo<'_>,
) -> Result<Option<Vec<Arc<SurfaceView>>>> {
    let named: Option<&vk::RenderPassAttachmentBeginInfo<'_>> = call.find(info.p_next);
    let Some(named) = named.filter(|named| named.attachment_count > 0) else { return Ok(None) };
    let views = call.slice(named.p_attachments, named.attachment_count).iter();
    views.map(|&view| need(object, &object.image_views, view)).collect::<Result<_>>().map(Some)
}

/// Returns the render area of a group's only device, if it is set separately.
pub fn device_area(call: Call<'_>, next: *const c_void) -> Option<vk::Rect2D> {
    let group: &vk::DeviceGroupRenderPassBeginInfo<'_> = call.find(next)?;
    call.slice(group.p_device_render_areas, group.device_render_area_count).first().copied()
}

#[entry(vkCmdNextSubpass)]
fn next_subpass(recorder: Recorder<'_>, _: vk::SubpassContents) -> Result<()> {
    next_subpass2(recorder)
}

#[entry(vkCmdNextSubpass2)]
fn next_subpass2(
    recorder: Recorder<'_>,
    _: *const vk::SubpassBeginInfo<'_>,
    _: *const vk::SubpassEndInfo<'_>,
) -> Result<()> {
    recorder.record(Command::NextSubpass)
}

#[entry(vkCmdEndRenderPass)]
pub(super) fn end_render_pass(recorder: Recorder<'_>) -> Result<()> {
    end_render_pass2(recorder)
}

#[entry(vkCmdEndRenderPass2)]
fn end_render_pass2(recorder: Recorder<'_>, _: *const vk::SubpassEndInfo<'_>) -> Result<()> {
    recorder.record(Command::EndPass)
}
