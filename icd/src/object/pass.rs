//! Render passes and framebuffers. Source: Vulkan specification, "Render Pass".

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_gpu::state::{
    AttachmentDesc, DepthResolve, ImplicitSamples, PassDesc, RateAttachment, RateTexels, SubpassDesc,
};
use vitric_vulkan::sys;

use super::{DeviceObject, Framebuffer, check, destroy, need};
use crate::call::{Call, New, Out};

/// `VK_ATTACHMENT_DESCRIPTION_RESOLVE_SKIP_TRANSFER_FUNCTION_BIT_KHR`. Without the flag, samples
/// are averaged as linear values.
const SKIP_TRANSFER: vk::AttachmentDescriptionFlags = vk::AttachmentDescriptionFlags::from_raw(
    sys::AttachmentDescriptionFlags::RESOLVE_SKIP_TRANSFER_FUNCTION_KHR.bits(),
);

// Both versions of a render pass's description have most fields under the same names, in
// structures of different types.

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
            skips_transfer: $info.flags.contains(SKIP_TRANSFER),
        }
    };
}

/// A reference to an attachment.
trait Reference {
    /// Returns the number of the attachment, if one is used.
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

fn used<T: Reference>(call: Call<'_>, references: *const T, count: u32) -> Vec<Option<u32>> {
    call.slice(references, count).iter().map(T::used).collect()
}

macro_rules! subpass {
    ($call:ident, $info:ident) => {
        SubpassDesc {
            inputs: used($call, $info.p_input_attachments, $info.input_attachment_count),
            colors: used($call, $info.p_color_attachments, $info.color_attachment_count),
            resolves: used($call, $info.p_resolve_attachments, $info.color_attachment_count),
            depth_stencil: $call.get($info.p_depth_stencil_attachment).and_then(Reference::used),
            dithers: $info.flags.contains(vk::SubpassDescriptionFlags::ENABLE_LEGACY_DITHERING_EXT),
            ..SubpassDesc::default()
        }
    };
}

#[entry(vkCreateRenderPass)]
fn create_render_pass(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::RenderPassCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::RenderPass>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let attachments = call.slice(info.p_attachments, info.attachment_count).iter().map(|info| attachment!(info));
    let views: Option<&vk::RenderPassMultiviewCreateInfo<'_>> = call.find(info.p_next);
    let masks = views.map_or(&[][..], |views| call.slice(views.p_view_masks, views.subpass_count));
    let subpasses = call.slice(info.p_subpasses, info.subpass_count).iter().enumerate();
    let subpasses = subpasses.map(|(number, info)| SubpassDesc {
        view_mask: masks.get(number).copied().unwrap_or(0),
        ..subpass!(call, info)
    });
    let mut description = (attachments.collect(), subpasses.collect());
    add_density_map(call, info.p_next, &mut description);
    Ok(out.put(insert(object, description)?))
}

#[entry(vkCreateRenderPass2)]
fn create_render_pass2(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::RenderPassCreateInfo2<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::RenderPass>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let attachments = call.slice(info.p_attachments, info.attachment_count).iter().map(|info| attachment!(info));
    let subpasses = call.slice(info.p_subpasses, info.subpass_count).iter().map(|info| subpass2(call, info));
    let mut description = (attachments.collect(), subpasses.collect());
    add_density_map(call, info.p_next, &mut description);
    Ok(out.put(insert(object, description)?))
}

/// Adds the density map of a render pass to its subpasses.
fn add_density_map(call: Call<'_>, next: *const c_void, (attachments, subpasses): &mut Description) {
    let map: Option<&vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>> = call.find(next);
    let Some(attachment) = map.and_then(|map| map.fragment_density_map_attachment.used()) else { return };
    // The map is only read. Its texels are kept, whatever the operations are.
    if let Some(desc) = attachments.get_mut(attachment as usize) {
        (desc.load, desc.store) = (vk::AttachmentLoadOp::LOAD, vk::AttachmentStoreOp::STORE);
    }
    let rate = RateAttachment { attachment, texels: RateTexels::Densities };
    subpasses.iter_mut().for_each(|subpass| subpass.rate = Some(rate));
}

/// Describes a subpass of the second version with its chain.
fn subpass2(call: Call<'_>, info: &vk::SubpassDescription2<'_>) -> SubpassDesc {
    let resolve: Option<&vk::SubpassDescriptionDepthStencilResolve<'_>> = call.find(info.p_next);
    let implicit = implicit(call, info.p_next, |mode| {
        resolve.map_or(vk::ResolveModeFlags::NONE, |resolve| match mode {
            vk::ImageAspectFlags::DEPTH => resolve.depth_resolve_mode,
            _ => resolve.stencil_resolve_mode,
        })
    });
    let depth_resolve = resolve.and_then(|resolve| {
        let attachment = call.get(resolve.p_depth_stencil_resolve_attachment)?.used()?;
        let (depth, stencil) = (resolve.depth_resolve_mode, resolve.stencil_resolve_mode);
        Some(DepthResolve { attachment, depth, stencil })
    });
    let rate: Option<&vk::FragmentShadingRateAttachmentInfoKHR<'_>> = call.find(info.p_next);
    let rate = rate.and_then(|rate| {
        let attachment = call.get(rate.p_fragment_shading_rate_attachment)?.used()?;
        let texels = RateTexels::Sizes { area: texel_size(rate.shading_rate_attachment_texel_size) };
        Some(RateAttachment { attachment, texels })
    });
    SubpassDesc { view_mask: info.view_mask, depth_resolve, rate, implicit, ..subpass!(call, info) }
}

/// Returns the samples that attachments of one sample are rendered to with, as a chain says.
/// `mode` returns how an aspect is resolved.
pub fn implicit(
    call: Call<'_>,
    next: *const c_void,
    mode: impl Fn(vk::ImageAspectFlags) -> vk::ResolveModeFlags,
) -> Option<ImplicitSamples> {
    let info: &vk::MultisampledRenderToSingleSampledInfoEXT<'_> = call.find(next)?;
    let [depth, stencil] = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL].map(mode);
    let samples = info.rasterization_samples.as_raw();
    (info.multisampled_render_to_single_sampled_enable != vk::FALSE).then_some(ImplicitSamples {
        samples,
        depth,
        stencil,
    })
}

/// Returns the width and height, in pixels, of the area of a texel of an attachment.
pub fn texel_size(size: vk::Extent2D) -> [u32; 2] {
    [size.width, size.height]
}

// Layouts and dependencies are not read: attachments have no layouts, and subpasses are executed
// one after the other.

/// Attachments and subpasses of a render pass.
type Description = (Vec<AttachmentDesc>, Vec<SubpassDesc>);

fn insert(object: &DeviceObject, (attachments, subpasses): Description) -> Result<u64> {
    let desc = PassDesc::new(attachments, subpasses).ok_or_else(|| {
        object.messages().error(
            "render pass: expected at least one subpass, attachment indices below attachmentCount, and view masks for \
             all subpasses or none",
        );
        Error::Unknown
    })?;
    Ok(object.passes.insert(Arc::new(desc)))
}

#[entry(vkDestroyRenderPass)]
fn destroy_render_pass(object: &DeviceObject, pass: vk::RenderPass, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.passes, pass);
}

#[entry(vkGetRenderAreaGranularity)]
fn get_render_area_granularity(_: vk::Device, _: vk::RenderPass, mut out: Out<'_, vk::Extent2D>) {
    *out = vk::Extent2D { width: 1, height: 1 };
}

#[entry(vkGetRenderingAreaGranularityKHR)]
fn get_rendering_area_granularity(_: vk::Device, _: *const vk::RenderingAreaInfoKHR<'_>, out: Out<'_, vk::Extent2D>) {
    get_render_area_granularity(out);
}

#[entry(vkCreateFramebuffer)]
fn create_framebuffer(
    call: Call<'_>,
    object: &DeviceObject,
    info: Option<&vk::FramebufferCreateInfo<'_>>,
    _: *const vk::AllocationCallbacks<'_>,
    out: New<'_, vk::Framebuffer>,
) -> Result<vk::Result> {
    let info = check::info(call, object, info)?;
    let named_later = info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
    let count = need(object, &object.passes, info.render_pass)?.attachments.len();
    check::value(call, object, "VkFramebufferCreateInfo", |check| {
        check.within("attachment_count", info.attachment_count.into(), count as u64..=count as u64)
    })?;
    let views = call.slice(info.p_attachments, if named_later { 0 } else { info.attachment_count });
    let views = views.iter().map(|&view| need(object, &object.image_views, view)).collect::<Result<_>>()?;
    let framebuffer = Framebuffer { views, layers: info.layers, extent: [info.width, info.height] };
    Ok(out.put(object.framebuffers.insert(Arc::new(framebuffer))))
}

#[entry(vkDestroyFramebuffer)]
fn destroy_framebuffer(object: &DeviceObject, framebuffer: vk::Framebuffer, _: *const vk::AllocationCallbacks<'_>) {
    destroy(object, &object.framebuffers, framebuffer);
}
