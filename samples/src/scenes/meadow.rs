//! Grass in the evening: blades and fireflies that geometry shaders generate from points.

use super::stage::{Push, Stage, View};
use super::{Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::gpu::{Blend, Commands, Gpu, GraphicsDesc, Image, Layout, Pipeline, Set};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec3, Vec4};

const BLADES: u32 = 16_000;
const FIREFLIES: u32 = 90;

/// Pitch of the camera in radians, upwards.
const PITCH: f32 = 0.03;

struct Meadow {
    canvas: Canvas,
    stage: Stage,
    layout: Layout,
    set: Set,
    sky: Pipeline,
    blades: Pipeline,
    fireflies: Pipeline,
    push: Push,
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let set = stage.set(gpu, &layout, &[])?;
    let sky = gpu.graphics(&GraphicsDesc::new(spv!("fullscreen.vert"), spv!("meadow.frag"), &layout, &canvas.pass))?;
    let mut desc = GraphicsDesc::new(spv!("blade.vert"), spv!("blade.frag"), &layout, &canvas.pass);
    desc.geom = Some(spv!("blade.geom"));
    desc.topology = vk::PrimitiveTopology::POINT_LIST;
    desc.depth = (true, true);
    let blades = gpu.graphics(&desc)?;
    desc.vert = spv!("firefly.vert");
    desc.geom = Some(spv!("firefly.geom"));
    desc.frag = Some(spv!("firefly.frag"));
    desc.depth = (true, false);
    desc.blends = vec![Blend::Add];
    let fireflies = gpu.graphics(&desc)?;
    let look = Vec4::new(PITCH.cosine(), PITCH.sine(), 0.0, 0.0);
    let push = Push { model: Mat4::IDENTITY, color: Vec4::ONE, look };
    Ok(Box::new(Meadow { canvas, stage, layout, set, sky, blades, fireflies, push }))
}

impl Scene for Meadow {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let eye = Vec3::new(0.0, 0.44, 0.35);
        let at = eye + Vec3::new(0.0, self.push.look.y, -self.push.look.x);
        self.stage.update(gpu, &View::new(eye, at, 0.85, self.canvas.aspect(), time))
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        cmd.graphics_set(&self.layout, &self.set);
        cmd.push(&self.layout, &self.push);
        cmd.pipeline(&self.sky);
        cmd.draw(3, 1);
        cmd.pipeline(&self.blades);
        cmd.draw(BLADES, 1);
        cmd.pipeline(&self.fireflies);
        cmd.draw(FIREFLIES, 1);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
