//! Render passes and framebuffers. Source: Vulkan specification, "Render Pass".

use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result};
use vitric_backend::state::{AttachmentDesc, PassDesc, SubpassDesc};

use crate::objects::{Framebuffer, destroy, device, need};
use crate::raw;

pub extern "system" fn create(
    handle: vk::Device,
    info: *const vk::RenderPassCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::RenderPass,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let attachments = raw::slice(info.p_attachments, info.attachment_count).iter().map(attachment).collect();
        let subpasses = raw::slice(info.p_subpasses, info.subpass_count).iter().map(subpass).collect();
        Ok(object.passes.insert(Arc::new(PassDesc { attachments, subpasses })))
    })
}

fn attachment(info: &vk::AttachmentDescription) -> AttachmentDesc {
    AttachmentDesc {
        format: info.format,
        samples: info.samples.as_raw(),
        load: info.load_op,
        store: info.store_op,
        stencil_load: info.stencil_load_op,
        stencil_store: info.stencil_store_op,
    }
}

fn reference(info: &vk::AttachmentReference) -> Option<u32> {
    (info.attachment != vk::ATTACHMENT_UNUSED).then_some(info.attachment)
}

fn subpass(info: &vk::SubpassDescription<'_>) -> SubpassDesc {
    let references = |pointer, count| raw::slice(pointer, count).iter().map(reference).collect();
    SubpassDesc {
        inputs: references(info.p_input_attachments, info.input_attachment_count),
        colors: references(info.p_color_attachments, info.color_attachment_count),
        resolves: references(info.p_resolve_attachments, info.color_attachment_count),
        depth_stencil: raw::input(info.p_depth_stencil_attachment).and_then(reference),
    }
}

pub extern "system" fn destroy_pass(handle: vk::Device, pass: vk::RenderPass, _: *const vk::AllocationCallbacks<'_>) {
    destroy(handle, |object| &object.passes, pass);
}

pub extern "system" fn granularity(_: vk::Device, _: vk::RenderPass, out: *mut vk::Extent2D) {
    if let Some(out) = raw::output(out) {
        *out = vk::Extent2D { width: 1, height: 1 };
    }
}

pub extern "system" fn create_framebuffer(
    handle: vk::Device,
    info: *const vk::FramebufferCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Framebuffer,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = raw::input(info).ok_or(Error::Unknown)?;
        let views = raw::slice(info.p_attachments, info.attachment_count);
        let views = views.iter().map(|&view| need(object, &object.image_views, view)).collect::<Result<_>>()?;
        Ok(object.framebuffers.insert(Arc::new(Framebuffer { views, layers: info.layers })))
    })
}

pub extern "system" fn destroy_framebuffer(
    handle: vk::Device,
    framebuffer: vk::Framebuffer,
    _: *const vk::AllocationCallbacks<'_>,
) {
    destroy(handle, |object| &object.framebuffers, framebuffer);
}
