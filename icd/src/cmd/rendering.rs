//! Rendering without render pass objects. Each instance is a pass, which is created when it
//! begins. It has one subpass, and a second one for a custom resolve. Source:
//! `VK_KHR_dynamic_rendering`, `VK_KHR_dynamic_rendering_local_read`, `VK_KHR_maintenance10`,
//! `VK_EXT_custom_resolve`.

use std::sync::Arc;

use ash::vk::{self, ImageAspectFlags as Aspect, ResolveModeFlags as Mode};
use vitric_api::{Error, Result};
use vitric_entry::entry;
use vitric_gpu::command::{Command, PassBegin};
use vitric_gpu::state::{AttachmentDesc, ClearValue, DepthResolve, PassDesc, RateAttachment, RateTexels, SubpassDesc};
use vitric_memory::SurfaceView;
use vitric_vulkan::{BeginCustomResolveInfoEXT, RenderingAttachmentFlagsInfoKHR, RenderingEndInfoKHR, sys};

use super::Recorder;
use super::pass::{device_area, end_render_pass};
use super::transfer::clear_value;
use crate::call::{Call, In};
use crate::object::pass::{implicit, texel_size};
use crate::object::{DeviceObject, check, need};

/// `VK_RENDERING_CUSTOM_RESOLVE_BIT_EXT`.
const CUSTOM_RESOLVE: vk::RenderingFlags = vk::RenderingFlags::from_raw(sys::RenderingFlags::CUSTOM_RESOLVE_EXT.bits());

/// `VK_RESOLVE_MODE_CUSTOM_BIT_EXT`: draws after `vkCmdBeginCustomResolveEXT` write the attachment.
const CUSTOM: Mode = Mode::from_raw(sys::ResolveModeFlags::CUSTOM_EXT.bits());

const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;

#[entry(vkCmdBeginRendering)]
fn begin_rendering(call: Call<'_>, recorder: Recorder<'_>, info: In<'_, vk::RenderingInfo<'_>>) -> Result<()> {
    let object = recorder.device;
    let mut attachments =
        Attachments { call, object, flags: info.flags, descs: Vec::new(), views: Vec::new(), clears: Vec::new() };
    let subpasses = attachments.subpasses(&info)?;
    let Attachments { descs, views, clears, .. } = attachments;
    let pass = PassDesc::new(descs, subpasses).ok_or(Error::Unknown)?;
    let area = device_area(call, info.p_next).unwrap_or(info.render_area);
    let begin = PassBegin { pass: Arc::new(pass), views, area, layers: info.layer_count, extent: end_of(area), clears };
    recorder.record(Command::BeginPass(Box::new(begin)))
}

#[entry(vkCmdEndRendering)]
fn end_rendering(recorder: Recorder<'_>) -> Result<()> {
    end_render_pass(recorder)
}

#[entry(vkCmdEndRendering2KHR)]
fn end_rendering2(recorder: Recorder<'_>, _: *const RenderingEndInfoKHR) -> Result<()> {
    end_render_pass(recorder)
}

#[entry(vkCmdBeginCustomResolveEXT)]
fn begin_custom_resolve(recorder: Recorder<'_>, _: *const BeginCustomResolveInfoEXT) -> Result<()> {
    recorder.record(Command::NextSubpass)
}

// By valid usage, pipelines have equal locations and indices. Pipelines move the colours, and
// input attachments are found by their descriptors.

#[entry(vkCmdSetRenderingAttachmentLocationsKHR)]
fn set_rendering_attachment_locations(_: vk::CommandBuffer, _: *const vk::RenderingAttachmentLocationInfoKHR<'_>) {}

#[entry(vkCmdSetRenderingInputAttachmentIndicesKHR)]
fn set_rendering_input_attachment_indices(
    _: vk::CommandBuffer,
    _: *const vk::RenderingInputAttachmentIndexInfoKHR<'_>,
) {
}

/// Returns the width and height of the smallest framebuffer that contains an area.
fn end_of(area: vk::Rect2D) -> [u32; 2] {
    let end = |first: i32, size: u32| size.saturating_add_signed(first);
    [end(area.offset.x, area.extent.width), end(area.offset.y, area.extent.height)]
}

/// Attachments of an instance, as they are collected.
struct Attachments<'a> {
    call: Call<'a>,
    object: &'a DeviceObject,
    flags: vk::RenderingFlags,
    descs: Vec<AttachmentDesc>,
    views: Vec<Arc<SurfaceView>>,
    clears: Vec<ClearValue>,
}

/// Returns an attachment if it is used.
fn used<'i, 'a>(info: Option<&'i vk::RenderingAttachmentInfo<'a>>) -> Option<&'i vk::RenderingAttachmentInfo<'a>> {
    info.filter(|info| info.image_view != vk::ImageView::null())
}

/// Returns the aspects of a resolve that draws write.
fn custom_aspects(resolve: DepthResolve) -> Aspect {
    let aspect = |mode, aspect| if mode == CUSTOM { aspect } else { Aspect::empty() };
    aspect(resolve.depth, Aspect::DEPTH) | aspect(resolve.stencil, Aspect::STENCIL)
}

/// Returns the part of a resolve that needs no draw.
fn fixed_function(resolve: DepthResolve) -> Option<DepthResolve> {
    let [depth, stencil] = [resolve.depth, resolve.stencil].map(|mode| if mode == CUSTOM { Mode::NONE } else { mode });
    (depth != Mode::NONE || stencil != Mode::NONE).then_some(DepthResolve { depth, stencil, ..resolve })
}

impl Attachments<'_> {
    /// Returns the subpass that is rendered first, and the subpass of the custom resolve, if the
    /// instance may have one. The second subpass writes the resolve attachments that the first one
    /// leaves to it.
    fn subpasses(&mut self, info: &vk::RenderingInfo<'_>) -> Result<Vec<SubpassDesc>> {
        let call = self.call;
        check::info(call, self.object, Some(info))?;
        let colors = call.slice(info.p_color_attachments, info.color_attachment_count);
        let (depth, stencil) = (used(call.get(info.p_depth_attachment)), used(call.get(info.p_stencil_attachment)));
        let mut unused_aspects = Aspect::empty();
        if depth.is_none() {
            unused_aspects |= Aspect::DEPTH;
        }
        if stencil.is_none() {
            unused_aspects |= Aspect::STENCIL;
        }
        let (written, targets): (_, Vec<_>) = (
            colors.iter().map(|color| self.color(color)).collect::<Result<_>>()?,
            colors.iter().map(|color| self.resolve(color)).collect::<Result<_>>()?,
        );
        let targets_of = |is_custom: bool| {
            let modes = colors.iter().map(|color| (color.resolve_mode == CUSTOM) == is_custom);
            targets.iter().zip(modes).map(|(target, takes)| target.filter(|_| takes)).collect()
        };
        let depth_stencil = self.depth_stencil(depth, stencil)?;
        let depth_resolve = self.depth_resolve(depth, stencil)?;
        let sizes: Option<&vk::RenderingFragmentShadingRateAttachmentInfoKHR<'_>> = call.find(info.p_next);
        let sizes = sizes.map(|info| {
            let area = texel_size(info.shading_rate_attachment_texel_size);
            (info.image_view, RateTexels::Sizes { area })
        });
        let densities: Option<&vk::RenderingFragmentDensityMapAttachmentInfoEXT<'_>> = call.find(info.p_next);
        let densities = densities.map(|info| (info.image_view, RateTexels::Densities));
        let rate = densities.into_iter().chain(sizes).find(|(view, _)| *view != vk::ImageView::null());
        let rate = rate.map(|(view, texels)| self.rate(view, texels)).transpose()?;
        let first = SubpassDesc {
            colors: written,
            resolves: targets_of(false),
            depth_stencil,
            depth_resolve: depth_resolve.and_then(fixed_function),
            implicit: implicit(call, info.p_next, |aspect| {
                let info = if aspect == Aspect::DEPTH { depth } else { stencil };
                info.map_or(Mode::NONE, |info| info.resolve_mode)
            }),
            unused_aspects,
            view_mask: info.view_mask,
            rate,
            ..SubpassDesc::default()
        };
        if !self.flags.contains(CUSTOM_RESOLVE) {
            return Ok(vec![first]);
        }
        let custom = SubpassDesc {
            colors: targets_of(true),
            depth_stencil: depth_resolve
                .filter(|resolve| !custom_aspects(*resolve).is_empty())
                .map(|resolve| resolve.attachment),
            unused_aspects: depth_resolve.map_or(Aspect::empty(), |resolve| !custom_aspects(resolve)),
            view_mask: info.view_mask,
            rate,
            ..SubpassDesc::default()
        };
        Ok(vec![first, custom])
    }

    /// Adds the attachment whose texels set fragment sizes.
    fn rate(&mut self, view: vk::ImageView, texels: RateTexels) -> Result<RateAttachment> {
        let attachment = self.add(view, [vk::AttachmentLoadOp::LOAD; 2], [STORE; 2], ClearValue::default())?;
        Ok(RateAttachment { attachment, texels })
    }

    fn add(
        &mut self,
        view: vk::ImageView,
        [own_load, stencil_load]: [vk::AttachmentLoadOp; 2],
        [own_store, stencil_store]: [vk::AttachmentStoreOp; 2],
        clear: ClearValue,
    ) -> Result<u32> {
        let view = need(self.object, &self.object.image_views, view)?;
        // A resumed instance continues a suspended one.
        let resumes = self.flags.contains(vk::RenderingFlags::RESUMING);
        let suspends = self.flags.contains(vk::RenderingFlags::SUSPENDING);
        let load = |load| if resumes { vk::AttachmentLoadOp::LOAD } else { load };
        let store = |store| if suspends { STORE } else { store };
        self.descs.push(AttachmentDesc {
            format: view.desc.format,
            samples: view.surface.desc().samples,
            load: load(own_load),
            store: store(own_store),
            stencil_load: load(stencil_load),
            stencil_store: store(stencil_store),
            final_layout: vk::ImageLayout::UNDEFINED,
            skips_transfer: false,
        });
        self.views.push(view);
        self.clears.push(clear);
        Ok(self.descs.len() as u32 - 1)
    }

    fn color(&mut self, info: &vk::RenderingAttachmentInfo<'_>) -> Result<Option<u32>> {
        let Some(info) = used(Some(info)) else { return Ok(None) };
        let clear = clear_value(&info.clear_value);
        let number = self.add(info.image_view, [info.load_op; 2], [info.store_op; 2], clear)?;
        self.descs[number as usize].skips_transfer = self.skips_transfer(info);
        Ok(Some(number))
    }

    /// Adds an attachment that is written without a previous use.
    fn add_target(&mut self, view: vk::ImageView) -> Result<u32> {
        self.add(view, [vk::AttachmentLoadOp::DONT_CARE; 2], [STORE; 2], ClearValue::default())
    }

    /// Returns true if an attachment is resolved at the end of this instance, which later
    /// instances may resume.
    fn resolves(&self, info: &vk::RenderingAttachmentInfo<'_>) -> bool {
        // Attachments with fewer samples than the rendering are resolved to themselves.
        let has_target = info.resolve_image_view != vk::ImageView::null();
        info.resolve_mode != Mode::NONE && has_target && !self.flags.contains(vk::RenderingFlags::SUSPENDING)
    }

    fn resolve(&mut self, info: &vk::RenderingAttachmentInfo<'_>) -> Result<Option<u32>> {
        let Some(info) = used(Some(info)).filter(|info| self.resolves(info)) else { return Ok(None) };
        let number = self.add_target(info.resolve_image_view)?;
        self.descs[number as usize].skips_transfer = self.skips_transfer(info);
        Ok(Some(number))
    }

    /// Returns true if sRGB samples of an attachment are averaged as they are encoded.
    fn skips_transfer(&self, info: &vk::RenderingAttachmentInfo<'_>) -> bool {
        let flags: Option<&RenderingAttachmentFlagsInfoKHR> = self.call.find(info.p_next);
        let skip = sys::RenderingAttachmentFlagsKHR::RESOLVE_SKIP_TRANSFER_FUNCTION;
        flags.is_some_and(|info| info.flags.contains(skip))
    }

    fn depth_stencil(
        &mut self,
        depth: Option<&vk::RenderingAttachmentInfo<'_>>,
        stencil: Option<&vk::RenderingAttachmentInfo<'_>>,
    ) -> Result<Option<u32>> {
        let Some(either) = depth.or(stencil) else { return Ok(None) };
        // An aspect that is not rendered to keeps its contents.
        let load = |info: Option<&vk::RenderingAttachmentInfo<'_>>| {
            info.map_or(vk::AttachmentLoadOp::NONE_KHR, |info| info.load_op)
        };
        let store = |info: Option<&vk::RenderingAttachmentInfo<'_>>| info.map_or(STORE, |info| info.store_op);
        let clear = |info: Option<&vk::RenderingAttachmentInfo<'_>>| {
            info.map_or(ClearValue::default(), |info| clear_value(&info.clear_value))
        };
        let value = ClearValue([clear(depth).0[0], clear(stencil).0[1], 0, 0]);
        self.add(either.image_view, [load(depth), load(stencil)], [store(depth), store(stencil)], value).map(Some)
    }

    fn depth_resolve(
        &mut self,
        depth: Option<&vk::RenderingAttachmentInfo<'_>>,
        stencil: Option<&vk::RenderingAttachmentInfo<'_>>,
    ) -> Result<Option<DepthResolve>> {
        let (depth, stencil) = (depth.filter(|info| self.resolves(info)), stencil.filter(|info| self.resolves(info)));
        let Some(either) = depth.or(stencil) else { return Ok(None) };
        let attachment = self.add_target(either.resolve_image_view)?;
        let mode = |info: Option<&vk::RenderingAttachmentInfo<'_>>| info.map_or(Mode::NONE, |info| info.resolve_mode);
        Ok(Some(DepthResolve { attachment, depth: mode(depth), stencil: mode(stencil) }))
    }
}
