//! A picture made by a compute shader in a storage image, then shown by a full-screen pass that
//! samples it.

use super::canvas::draw_fullscreen;
use super::{Canvas, OUTPUT_UNORM, Scene, spv};
use crate::error::Result;
use crate::gpu::{
    Bind, Commands, ComputeDesc, Gpu, GraphicsDesc, Image, ImageDesc, Layout, Pipeline, SamplerDesc, Set, Use,
};
use crate::math::Steady;
use ash::vk;
use glam::Vec2;
use vk::{DescriptorType as Kind, ImageUsageFlags as ImageUse, ShaderStageFlags as Stages};

/// Workgroup width and height, which the shader gets as specialization constants.
const GROUP: u32 = 8;
/// Iterations before a point counts as inside.
const STEPS: u32 = 96;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Push {
    constant: Vec2,
    centre: Vec2,
    scale: f32,
    turn: f32,
}

struct Julia {
    canvas: Canvas,
    storage: Image,
    compute: (Layout, Pipeline, Set),
    show: (Layout, Pipeline, Set),
    push: Push,
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::new(gpu, OUTPUT_UNORM, size, false, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)?;
    let usage = ImageUse::STORAGE | ImageUse::SAMPLED;
    let storage = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, size.width, size.height, usage))?;

    let push = Some((Stages::COMPUTE, size_of::<Push>() as u32));
    let layout = gpu.layout(&[&[(0, Kind::STORAGE_IMAGE, Stages::COMPUTE)]], push)?;
    let constants = [STEPS, GROUP, GROUP];
    let pipeline = gpu.compute(&ComputeDesc { shader: spv!("julia.comp"), layout: &layout, constants: &constants })?;
    let set = gpu.set(&layout, 0, &[Bind::Storage(storage.view)])?;
    let compute = (layout, pipeline, set);

    let layout = gpu.layout(&[&[(0, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)]], None)?;
    let desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("show.frag"), &layout, &canvas.pass);
    let pipeline = gpu.graphics(&desc)?;
    let set = gpu.set(&layout, 0, &[Bind::Texture(storage.view, gpu.sampler(&SamplerDesc::CLAMP)?)])?;
    let show = (layout, pipeline, set);
    let push = Push { constant: Vec2::ZERO, centre: Vec2::ZERO, scale: 1.75, turn: 0.0 };
    Ok(Box::new(Julia { canvas, storage, compute, show, push }))
}

impl Scene for Julia {
    fn update(&mut self, _: &Gpu, time: f32) -> Result<()> {
        let (s, c) = (time * 0.3).sine_cosine();
        self.push.constant = Vec2::new(-0.79 + 0.02 * s, 0.156 + 0.012 * c);
        self.push.turn = 0.35 + 0.05 * time;
        Ok(())
    }

    fn record(&self, cmd: &Commands<'_>) {
        let size = self.canvas.target.extent;
        let (layout, pipeline, set) = &self.compute;
        cmd.image_barrier(&self.storage, Use::Undefined, Use::Storage);
        cmd.pipeline(pipeline);
        cmd.compute_set(layout, set);
        cmd.push(layout, &self.push);
        cmd.dispatch(size.width.div_ceil(GROUP), size.height.div_ceil(GROUP));
        cmd.image_barrier(&self.storage, Use::Storage, Use::Sample);

        let (layout, pipeline, set) = &self.show;
        draw_fullscreen(cmd, &self.canvas.target, pipeline, layout, set);
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
