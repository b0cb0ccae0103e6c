//! A spiral galaxy of blended particles: instanced strips without vertex buffers, accumulated in a
//! half-float image, then mapped to the screen's range.

use super::canvas::draw_fullscreen;
use super::stage::{Push, Stage, View};
use super::{Canvas, OUTPUT, Scene, clear_color, spv};
use crate::error::Result;
use crate::gpu::{Bind, Blend, Commands, Gpu, GraphicsDesc, Image, Layout, Pipeline, SamplerDesc, Set};
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use vk::{DescriptorType as Kind, ImageLayout, ShaderStageFlags as Stages};

const PARTICLES: u32 = 15_000;

struct Galaxy {
    sum: Canvas,
    canvas: Canvas,
    stage: Stage,
    draw: (Layout, Set),
    stars: Pipeline,
    particles: Pipeline,
    tone: (Layout, Pipeline, Set),
    push: Push,
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let half = vk::Format::R16G16B16A16_SFLOAT;
    let sum = Canvas::new(gpu, half, size, false, ImageLayout::SHADER_READ_ONLY_OPTIMAL)?;
    let canvas = Canvas::new(gpu, OUTPUT, size, false, ImageLayout::TRANSFER_SRC_OPTIMAL)?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let set = stage.set(gpu, &layout, &[])?;
    let stars = gpu.graphics(&GraphicsDesc::new(spv!("fullscreen.vert"), spv!("stars.frag"), &layout, &sum.pass))?;
    let mut desc = GraphicsDesc::new(spv!("galaxy.vert"), spv!("galaxy.frag"), &layout, &sum.pass);
    desc.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    desc.blends = vec![Blend::Add];
    let particles = gpu.graphics(&desc)?;

    let shown = gpu.layout(&[&[(0, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)]], None)?;
    let tone = gpu.graphics(&GraphicsDesc::new(spv!("fullscreen.vert"), spv!("tone.frag"), &shown, &canvas.pass))?;
    let texture = Bind::Texture(sum.color.view, gpu.sampler(&SamplerDesc::CLAMP)?);
    let tone_set = gpu.set(&shown, 0, &[texture])?;
    let push = Push { model: Mat4::IDENTITY, color: Vec4::ONE, look: Vec4::ZERO };
    let tone = (shown, tone, tone_set);
    Ok(Box::new(Galaxy { sum, canvas, stage, draw: (layout, set), stars, particles, tone, push }))
}

impl Scene for Galaxy {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        self.push.model = Mat4::from_rotation_z(-0.28) * Mat4::from_rotation_x(0.16);
        let eye = Vec3::new(0.0, 3.1, 5.0);
        self.stage.update(gpu, &View::new(eye, Vec3::new(0.0, -0.12, 0.0), 0.72, self.canvas.aspect(), time))
    }

    fn record(&self, cmd: &Commands<'_>) {
        let (layout, set) = &self.draw;
        cmd.begin(&self.sum.target, &[clear_color(Vec3::ZERO)]);
        cmd.graphics_set(layout, set);
        cmd.pipeline(&self.stars);
        cmd.draw(3, 1);
        cmd.pipeline(&self.particles);
        cmd.push(layout, &self.push);
        cmd.draw(4, PARTICLES);
        cmd.end();

        let (layout, pipeline, set) = &self.tone;
        draw_fullscreen(cmd, &self.canvas.target, pipeline, layout, set);
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
