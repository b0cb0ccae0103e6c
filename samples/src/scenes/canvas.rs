//! The target of most scenes: a colour image, an optional depth image, their pass, and a
//! background gradient.

use super::spv;
use crate::error::Result;
use crate::gpu::{
    Attachment, Commands, Gpu, GraphicsDesc, Image, ImageDesc, Layout, Pass, PassDesc, Pipeline, Set, Target,
};
use ash::vk;
use glam::{Vec2, Vec3};
use vk::{ImageLayout, ImageUsageFlags as ImageUse};

/// Format of finished pictures of scenes whose shaders write linear light.
pub(crate) const OUTPUT: vk::Format = vk::Format::R8G8B8A8_SRGB;
/// Format of finished pictures of scenes that write encoded values.
pub(crate) const OUTPUT_UNORM: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A colour image with an optional depth image, and the pass that draws to them.
pub(crate) struct Canvas {
    /// The colour image.
    pub color: Image,
    /// The pass.
    pub pass: Pass,
    /// The framebuffer.
    pub target: Target,
}

impl Canvas {
    /// Creates a canvas for a finished picture in sRGB with depth.
    pub fn output(gpu: &Gpu, size: vk::Extent2D) -> Result<Canvas> {
        Canvas::new(gpu, OUTPUT, size, true, ImageLayout::TRANSFER_SRC_OPTIMAL)
    }

    /// Creates a canvas. `end` is the colour image's layout after the pass.
    pub fn new(gpu: &Gpu, format: vk::Format, size: vk::Extent2D, depth: bool, end: ImageLayout) -> Result<Canvas> {
        let read = if end == ImageLayout::TRANSFER_SRC_OPTIMAL { ImageUse::TRANSFER_SRC } else { ImageUse::SAMPLED };
        let usage = ImageUse::COLOR_ATTACHMENT | read;
        let color = gpu.image(ImageDesc::new(format, size.width, size.height, usage))?;
        let depth = if depth { Some(depth_image(gpu, gpu.depth_format()?, size)?) } else { None };
        let attachment = Attachment::stored(&color, end);
        let desc = PassDesc::simple(attachment, depth.as_ref().map(Attachment::transient));
        let pass = gpu.pass(&desc)?;
        let views: Vec<_> = std::iter::once(color.view).chain(depth.map(|d| d.view)).collect();
        Ok(Canvas { color, pass, target: gpu.target(&pass, &views, size)? })
    }

    /// Returns width over height.
    pub fn aspect(&self) -> f32 {
        aspect(self.target.extent)
    }
}

/// Creates a depth attachment of one sample.
pub(crate) fn depth_image(gpu: &Gpu, format: vk::Format, size: vk::Extent2D) -> Result<Image> {
    depth_image_of(gpu, format, size, vk::SampleCountFlags::TYPE_1)
}

/// Creates a depth attachment of several samples.
pub(crate) fn depth_image_of(
    gpu: &Gpu,
    format: vk::Format,
    size: vk::Extent2D,
    samples: vk::SampleCountFlags,
) -> Result<Image> {
    let usage = ImageUse::DEPTH_STENCIL_ATTACHMENT;
    gpu.image(ImageDesc::new(format, size.width, size.height, usage).with_samples(samples))
}

/// Returns width over height.
pub(crate) fn aspect(size: vk::Extent2D) -> f32 {
    size.width as f32 / size.height as f32
}

/// Returns the share of full detail that a picture of a size deserves: 1 from 540 rows on. Scenes
/// of many objects draw fewer or coarser ones into small pictures.
pub(crate) fn detail(size: vk::Extent2D) -> f32 {
    (size.height as f32 / 540.0).clamp(0.25, 1.0)
}

/// Returns an opaque colour to clear with.
pub(crate) fn clear_color(color: Vec3) -> vk::ClearValue {
    vk::ClearValue { color: vk::ClearColorValue { float32: [color.x, color.y, color.z, 1.0] } }
}

/// Returns the far plane and stencil 0.
pub(crate) fn clear_depth() -> vk::ClearValue {
    vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } }
}

/// Draws a picture over a whole target, with a pipeline of one triangle and its set.
pub(crate) fn draw_fullscreen(cmd: &Commands<'_>, target: &Target, pipeline: &Pipeline, layout: &Layout, set: &Set) {
    cmd.begin(target, &[clear_color(Vec3::ZERO)]);
    cmd.pipeline(pipeline);
    cmd.graphics_set(layout, set);
    cmd.draw(3, 1);
    cmd.end();
}

/// The push constants of `backdrop.frag`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Gradient {
    top: [f32; 4],
    bottom: [f32; 4],
    glow: [f32; 4],
    place: [f32; 4],
}

/// A background gradient with a glow.
pub(crate) struct Backdrop {
    pipeline: Pipeline,
    layout: Layout,
    gradient: Gradient,
}

impl Backdrop {
    /// Creates a backdrop from `top` to `bottom`, in a pass with `samples` samples and one colour
    /// attachment.
    pub fn new(gpu: &Gpu, pass: &Pass, samples: vk::SampleCountFlags, top: Vec3, bottom: Vec3) -> Result<Backdrop> {
        let size = size_of::<Gradient>() as u32;
        let layout = gpu.layout(&[], Some((vk::ShaderStageFlags::FRAGMENT, size)))?;
        let mut desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("backdrop.frag"), &layout, pass);
        desc.samples = samples;
        let pipeline = gpu.graphics(&desc)?;
        let [top, bottom] = [top, bottom].map(|c| c.extend(0.0).to_array());
        let gradient = Gradient { top, bottom, glow: [0.0, 0.0, 0.0, 1.0], place: [0.5, 0.5, 1.0, 0.0] };
        Ok(Backdrop { pipeline, layout, gradient })
    }

    /// Adds a round glow at `place` (0 to 1 across the screen) with a radius in screen heights.
    pub fn glowing(mut self, color: Vec3, radius: f32, place: Vec2, aspect: f32) -> Backdrop {
        self.gradient.glow = color.extend(radius).to_array();
        self.gradient.place = [place.x, place.y, aspect, 0.0];
        self
    }

    /// Draws the gradient. It must be first in the pass.
    pub fn draw(&self, cmd: &Commands<'_>) {
        cmd.pipeline(&self.pipeline);
        cmd.push(&self.layout, &self.gradient);
        cmd.draw(3, 1);
    }
}
