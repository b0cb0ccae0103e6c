//! Render passes and framebuffers. Source: Vulkan specification, "Render Pass".

use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result};
use vitric_gpu::state::{AttachmentDesc, DepthResolve, ImplicitSamples, PassDesc, RateAttachment, SubpassDesc};

use crate::objects::{Framebuffer, destroy, device, need};
use crate::{check, raw};

// Both versions of a render pass's description have most fields under the same names, in structures of different types.

macro_rules! attachment {
    ($info:ident) => {
        AttachmentDesc {
            format: $info.format,
            samples: $info.samples.as_raw(),
            load: $info.load_op,
            store: $info.store_op,
            stencil_load: $info.stencil_load_op,
            stencil_store: $info.stencil_store_op,
            final_layout: $info.final_layout,
        }
    };
}

/// A reference to an attachment.
trait Reference {
    /// Number of the attachment, if one is used.
    fn used(&self) -> Option<u32>;
}

macro_rules! is_reference {
    ($($ty:ty),*) => {
        $(impl Reference for $ty {
            fn used(&self) -> Option<u32> {
                (self.attachment != vk::ATTACHMENT_UNUSED).then_some(self.attachment)
            }
        })*
    };
}
is_reference!(vk::AttachmentReference, vk::AttachmentReference2<'_>);

fn used<T: Reference>(references: *const T, count: u32) -> Vec<Option<u32>> {
    raw::slice(references, count).iter().map(T::used).collect()
}

macro_rules! subpass {
    ($info:ident) => {
        SubpassDesc {
            inputs: used($info.p_input_attachments, $info.input_attachment_count),
            colors: used($info.p_color_attachments, $info.color_attachment_count),
            resolves: used($info.p_resolve_attachments, $info.color_attachment_count),
            depth_stencil: raw::input($info.p_depth_stencil_attachment).and_then(Reference::used),
            ..SubpassDesc::default()
        }
    };
}

pub extern "system" fn create(
    handle: vk::Device,
    info: *const vk::RenderPassCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::RenderPass,
) -> vk::Result {
    raw::create(out, || {
        let info = check::info(device(handle)?, info)?;
        let attachments = raw::slice(info.p_attachments, info.attachment_count).iter().map(|info| attachment!(info));
        let views: Option<&vk::RenderPassMultiviewCreateInfo<'_>> = raw::find(info.p_next);
        let masks = views.map_or(&[][..], |views| raw::slice(views.p_view_masks, views.subpass_count));
        let subpasses = raw::slice(info.p_subpasses, info.subpass_count).iter().enumerate();
        let subpasses = subpasses
            .map(|(number, info)| SubpassDesc { view_mask: masks.get(number).copied().unwrap_or(0), ..subpass!(info) });
        insert(handle, attachments.collect(), subpasses.collect())
    })
}

pub extern "system" fn create2(
    handle: vk::Device,
    info: *const vk::RenderPassCreateInfo2<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::RenderPass,
) -> vk::Result {
    raw::create(out, || {
        let info = check::info(device(handle)?, info)?;
        let attachments = raw::slice(info.p_attachments, info.attachment_count).iter().map(|info| attachment!(info));
        let subpasses = raw::slice(info.p_subpasses, info.subpass_count).iter().map(subpass2);
        insert(handle, attachments.collect(), subpasses.collect())
    })
}

/// A subpass of the second version, with what its chain says.
fn subpass2(info: &vk::SubpassDescription2<'_>) -> SubpassDesc {
    let resolve: Option<&vk::SubpassDescriptionDepthStencilResolve<'_>> = raw::find(info.p_next);
    let implicit = implicit(info.p_next, |mode| {
        resolve.map_or(vk::ResolveModeFlags::NONE, |resolve| match mode {
            vk::ImageAspectFlags::DEPTH => resolve.depth_resolve_mode,
            _ => resolve.stencil_resolve_mode,
        })
    });
    let depth_resolve = resolve.and_then(|resolve| {
        let attachment = raw::input(resolve.p_depth_stencil_resolve_attachment)?.used()?;
        let (depth, stencil) = (resolve.depth_resolve_mode, resolve.stencil_resolve_mode);
        Some(DepthResolve { attachment, depth, stencil })
    });
    let rate: Option<&vk::FragmentShadingRateAttachmentInfoKHR<'_>> = raw::find(info.p_next);
    let rate = rate.and_then(|rate| {
        let attachment = raw::input(rate.p_fragment_shading_rate_attachment)?.used()?;
        Some(RateAttachment { attachment, texel: texel_size(rate.shading_rate_attachment_texel_size) })
    });
    SubpassDesc { view_mask: info.view_mask, depth_resolve, rate, implicit, ..subpass!(info) }
}

/// Samples that attachments of one are rendered to with, as a chain says; `mode` tells how an aspect is resolved.
pub fn implicit(
    next: *const std::ffi::c_void,
    mode: impl Fn(vk::ImageAspectFlags) -> vk::ResolveModeFlags,
) -> Option<ImplicitSamples> {
    let info: &vk::MultisampledRenderToSingleSampledInfoEXT<'_> = raw::find(next)?;
    let [depth, stencil] = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL].map(mode);
    let samples = info.rasterization_samples.as_raw();
    (info.multisampled_render_to_single_sampled_enable != vk::FALSE).then_some(ImplicitSamples {
        samples,
        depth,
        stencil,
    })
}

/// Pixels along the sides of what a texel of an attachment is for.
pub fn texel_size(size: vk::Extent2D) -> [u32; 2] {
    [size.width, size.height]
}

// What is not read has nothing to say here: attachments have no layouts, subpasses are executed in order, and each one after
// the other, whatever depends on what.

fn insert(handle: vk::Device, attachments: Vec<AttachmentDesc>, subpasses: Vec<SubpassDesc>) -> Result<u64> {
    let object = device(handle)?;
    let desc = PassDesc::new(attachments, subpasses).ok_or_else(|| {
        object
            .messages()
            .error("a render pass names an attachment that it has not got, has no subpass, or only some with views");
        Error::Unknown
    })?;
    Ok(object.passes.insert(Arc::new(desc)))
}

pub extern "system" fn destroy_pass(handle: vk::Device, pass: vk::RenderPass, _: *const vk::AllocationCallbacks<'_>) {
    destroy(handle, |object| &object.passes, pass);
}

pub extern "system" fn granularity(_: vk::Device, _: vk::RenderPass, out: *mut vk::Extent2D) {
    if let Some(out) = raw::output(out) {
        *out = vk::Extent2D { width: 1, height: 1 };
    }
}

pub extern "system" fn granularity_of_info(
    handle: vk::Device,
    _: *const vk::RenderingAreaInfoKHR<'_>,
    out: *mut vk::Extent2D,
) {
    granularity(handle, vk::RenderPass::null(), out);
}

pub extern "system" fn create_framebuffer(
    handle: vk::Device,
    info: *const vk::FramebufferCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Framebuffer,
) -> vk::Result {
    raw::create(out, || {
        let object = device(handle)?;
        let info = check::info(object, info)?;
        let named_later = info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
        let count = need(object, &object.passes, info.render_pass)?.attachments.len();
        check::value(object, "VkFramebufferCreateInfo", |check| {
            check.within("attachment_count", info.attachment_count.into(), count as u64..=count as u64)
        })?;
        let views = raw::slice(info.p_attachments, if named_later { 0 } else { info.attachment_count });
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
