//! Render passes and framebuffers.
//!
//! A pass is a list of attachments and of subpasses that name them by index. The external
//! dependencies are the same for every pass: before it, earlier attachment writes, transfers and
//! shader reads; after it, shader reads, transfers and later attachments. Source: Vulkan 1.0
//! chapter 8.

use super::{Gpu, Image, Owned};
use crate::error::{Named, Result};
use ash::vk;
use vk::{AccessFlags as Access, ImageLayout, PipelineStageFlags as Stage};

/// One attachment of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Attachment {
    format: vk::Format,
    samples: vk::SampleCountFlags,
    load: vk::AttachmentLoadOp,
    store: vk::AttachmentStoreOp,
    begin: ImageLayout,
    end: ImageLayout,
}

impl Attachment {
    /// Returns an attachment that is cleared at the start, stored, and left in layout `end`.
    pub fn stored(image: &Image, end: ImageLayout) -> Attachment {
        let (load, store) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentStoreOp::STORE);
        let begin = ImageLayout::UNDEFINED;
        Attachment { format: image.desc.format, samples: image.desc.samples, load, store, begin, end }
    }

    /// Returns an attachment that an earlier pass left in layout `end`, where it stays.
    pub fn loaded(image: &Image, end: ImageLayout) -> Attachment {
        Attachment { load: vk::AttachmentLoadOp::LOAD, begin: end, ..Attachment::stored(image, end) }
    }

    /// Returns an attachment that is cleared at the start and discarded at the end (depth,
    /// G-buffers, multisampled colour).
    pub fn transient(image: &Image) -> Attachment {
        let depth = !image.desc.aspect().contains(vk::ImageAspectFlags::COLOR);
        let (depth_layout, color_layout) =
            (ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL, ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
        let end = if depth { depth_layout } else { color_layout };
        Attachment { store: vk::AttachmentStoreOp::DONT_CARE, ..Attachment::stored(image, end) }
    }

    /// Returns the attachment without a clear, since every pixel will be written.
    pub fn overwritten(self) -> Attachment {
        Attachment { load: vk::AttachmentLoadOp::DONT_CARE, ..self }
    }

    fn description(&self) -> vk::AttachmentDescription {
        let depth_stencil = matches!(self.format, vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT);
        let (stencil_load, stencil_store) = if depth_stencil {
            (self.load, self.store)
        } else {
            (vk::AttachmentLoadOp::DONT_CARE, vk::AttachmentStoreOp::DONT_CARE)
        };
        vk::AttachmentDescription {
            flags: vk::AttachmentDescriptionFlags::empty(),
            format: self.format,
            samples: self.samples,
            load_op: self.load,
            store_op: self.store,
            stencil_load_op: stencil_load,
            stencil_store_op: stencil_store,
            initial_layout: self.begin,
            final_layout: self.end,
        }
    }
}

/// One subpass: indices into the pass's attachments.
#[derive(Clone, Debug, Default)]
pub struct SubpassDesc {
    /// Colour attachments, by fragment output location.
    pub colors: Vec<u32>,
    /// Depth/stencil attachment.
    pub depth: Option<u32>,
    /// Resolve targets, one for each colour, or none.
    pub resolves: Vec<u32>,
    /// Input attachments, by input attachment index.
    pub inputs: Vec<u32>,
}

/// A whole pass.
#[derive(Clone, Debug, Default)]
pub struct PassDesc {
    /// All attachments.
    pub attachments: Vec<Attachment>,
    /// The subpasses in order; each depends by region on the one before.
    pub subpasses: Vec<SubpassDesc>,
}

impl PassDesc {
    /// Returns a pass of one subpass with a colour attachment (number 0) and an optional depth
    /// attachment (number 1).
    pub fn simple(color: Attachment, depth: Option<Attachment>) -> PassDesc {
        let subpass = SubpassDesc { colors: vec![0], depth: depth.map(|_| 1), ..Default::default() };
        PassDesc { attachments: std::iter::once(color).chain(depth).collect(), subpasses: vec![subpass] }
    }

    /// Returns a pass of one subpass with a depth attachment only.
    pub fn depth_only(depth: Attachment) -> PassDesc {
        let subpass = SubpassDesc { depth: Some(0), ..Default::default() };
        PassDesc { attachments: vec![depth], subpasses: vec![subpass] }
    }
}

/// A render pass object.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The Vulkan handle.
    pub handle: vk::RenderPass,
}

/// A framebuffer with the pass it was made for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The pass.
    pub pass: vk::RenderPass,
    /// The framebuffer.
    pub framebuffer: vk::Framebuffer,
    /// Its size in pixels.
    pub extent: vk::Extent2D,
}

fn reference(layout: ImageLayout) -> impl Fn(&u32) -> vk::AttachmentReference {
    move |&attachment| vk::AttachmentReference { attachment, layout }
}

/// The references of one subpass, kept alive while the pass is created.
struct References {
    colors: Vec<vk::AttachmentReference>,
    depth: Vec<vk::AttachmentReference>,
    resolves: Vec<vk::AttachmentReference>,
    inputs: Vec<vk::AttachmentReference>,
}

impl References {
    fn new(subpass: &SubpassDesc) -> References {
        let color = reference(ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
        let input = reference(ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        References {
            colors: subpass.colors.iter().map(&color).collect(),
            depth: subpass.depth.iter().map(reference(ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL)).collect(),
            resolves: subpass.resolves.iter().map(&color).collect(),
            inputs: subpass.inputs.iter().map(input).collect(),
        }
    }

    fn description(&self) -> vk::SubpassDescription<'_> {
        let description = vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&self.colors)
            .input_attachments(&self.inputs);
        let description =
            if self.resolves.is_empty() { description } else { description.resolve_attachments(&self.resolves) };
        match self.depth.first() {
            Some(depth) => description.depth_stencil_attachment(depth),
            None => description,
        }
    }
}

const TESTS: Stage = Stage::from_raw(Stage::EARLY_FRAGMENT_TESTS.as_raw() | Stage::LATE_FRAGMENT_TESTS.as_raw());
const WRITES: Access =
    Access::from_raw(Access::COLOR_ATTACHMENT_WRITE.as_raw() | Access::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw());
const READS: Access =
    Access::from_raw(Access::COLOR_ATTACHMENT_READ.as_raw() | Access::DEPTH_STENCIL_ATTACHMENT_READ.as_raw());

fn dependencies(count: u32) -> Vec<vk::SubpassDependency> {
    let attachments = Stage::COLOR_ATTACHMENT_OUTPUT | TESTS;
    let readers = Stage::VERTEX_SHADER | Stage::FRAGMENT_SHADER | Stage::COMPUTE_SHADER | Stage::TRANSFER;
    let before = vk::SubpassDependency {
        src_subpass: vk::SUBPASS_EXTERNAL,
        dst_subpass: 0,
        src_stage_mask: attachments | readers,
        dst_stage_mask: attachments,
        src_access_mask: WRITES,
        dst_access_mask: WRITES | READS,
        dependency_flags: vk::DependencyFlags::empty(),
    };
    let between = (1..count).map(|subpass| vk::SubpassDependency {
        src_subpass: subpass - 1,
        dst_subpass: subpass,
        src_stage_mask: attachments,
        dst_stage_mask: Stage::FRAGMENT_SHADER | attachments,
        src_access_mask: WRITES,
        dst_access_mask: Access::INPUT_ATTACHMENT_READ | READS | WRITES,
        dependency_flags: vk::DependencyFlags::BY_REGION,
    });
    let after = vk::SubpassDependency {
        src_subpass: count - 1,
        dst_subpass: vk::SUBPASS_EXTERNAL,
        src_stage_mask: attachments,
        dst_stage_mask: readers | attachments,
        src_access_mask: WRITES,
        dst_access_mask: Access::SHADER_READ | Access::TRANSFER_READ | READS | WRITES,
        dependency_flags: vk::DependencyFlags::empty(),
    };
    std::iter::once(before).chain(between).chain([after]).collect()
}

impl Gpu {
    /// Creates a render pass.
    pub fn pass(&self, desc: &PassDesc) -> Result<Pass> {
        let store = |attachment: &Attachment| match self.stores_all {
            true => Attachment { store: vk::AttachmentStoreOp::STORE, ..*attachment },
            false => *attachment,
        };
        let attachments: Vec<_> = desc.attachments.iter().map(|attachment| store(attachment).description()).collect();
        let references: Vec<_> = desc.subpasses.iter().map(References::new).collect();
        let subpasses: Vec<_> = references.iter().map(References::description).collect();
        let dependencies = dependencies(subpasses.len() as u32);
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: all arrays outlive the call, and the subpasses name existing attachments.
        let handle = unsafe { self.device.create_render_pass(&info, None) }.named("vkCreateRenderPass")?;
        self.own(Owned::RenderPass(handle));
        Ok(Pass { handle })
    }

    /// Creates a framebuffer from views in the order of the pass's attachments.
    pub fn target(&self, pass: &Pass, views: &[vk::ImageView], extent: vk::Extent2D) -> Result<Target> {
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass.handle)
            .attachments(views)
            .width(extent.width)
            .height(extent.height)
            .layers(1);
        // SAFETY: the views are live and as many as the pass has attachments.
        let framebuffer = unsafe { self.device.create_framebuffer(&info, None) }.named("vkCreateFramebuffer")?;
        self.own(Owned::Framebuffer(framebuffer));
        Ok(Target { pass: pass.handle, framebuffer, extent })
    }
}
