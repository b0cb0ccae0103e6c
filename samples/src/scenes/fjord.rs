//! A fjord in the last light: mountains that tessellation generates from flat patches, and their
//! reflection.

use super::stage::{Push, Stage, View};
use super::{Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::gpu::{Blend, Commands, Gpu, GraphicsDesc, Image, Layout, Patches, Pipeline, Set};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec3, Vec4};

/// Patches across and along; `ground.vert` places them.
const PATCHES: [u32; 2] = [48, 64];
/// Wanted length of triangle edges on the screen in pixels, for the mountains and their
/// reflection.
const EDGES: [f32; 2] = [7.0, 14.0];

struct Fjord {
    canvas: Canvas,
    stage: Stage,
    layout: Layout,
    set: Set,
    sky: Pipeline,
    ground: Pipeline,
    water: Pipeline,
    /// Push constants of the mountains, and of their reflection.
    push: [Push; 2],
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let set = stage.set(gpu, &layout, &[])?;
    let sky = gpu.graphics(&GraphicsDesc::new(spv!("fullscreen.vert"), spv!("dusk.frag"), &layout, &canvas.pass))?;
    let mut desc = GraphicsDesc::new(spv!("ground.vert"), spv!("ground.frag"), &layout, &canvas.pass);
    desc.patches = Some(Patches { control: spv!("ground.tesc"), evaluation: spv!("ground.tese"), points: 4 });
    desc.topology = vk::PrimitiveTopology::PATCH_LIST;
    desc.depth = (true, true);
    let ground = gpu.graphics(&desc)?;
    let mut desc = GraphicsDesc::new(spv!("water.vert"), spv!("water.frag"), &layout, &canvas.pass);
    desc.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    desc.depth = (true, true);
    desc.blends = vec![Blend::Alpha];
    let water = gpu.graphics(&desc)?;
    // Direction of the mountains (up or down), and the number of edges of a patch for each unit of
    // length at distance 1.
    let push = [1.0, -1.0].into_iter().zip(EDGES).map(|(up, edge)| {
        let scale = size.height as f32 * 0.5 / edge;
        Push { model: Mat4::IDENTITY, color: Vec4::ONE, look: Vec4::new(up, scale, 0.0, 0.0) }
    });
    let push: Vec<Push> = push.collect();
    Ok(Box::new(Fjord { canvas, stage, layout, set, sky, ground, water, push: [push[0], push[1]] }))
}

impl Scene for Fjord {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let sway = (time * 0.2).sine() * 0.25;
        let eye = Vec3::new(0.25 + sway, 0.55, 1.2 - time * 0.15);
        let at = eye + Vec3::new(-0.12 - sway * 0.3, 0.16, -1.0);
        self.stage.update(gpu, &View::new(eye, at, 0.95, self.canvas.aspect(), time))
    }

    fn record(&self, cmd: &Commands<'_>) {
        let patches = |push: &Push| {
            cmd.push(&self.layout, push);
            cmd.draw(PATCHES[0] * PATCHES[1] * 4, 1);
        };
        let [mountains, reflection] = &self.push;
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        cmd.graphics_set(&self.layout, &self.set);
        cmd.pipeline(&self.sky);
        cmd.push(&self.layout, mountains);
        cmd.draw(3, 1);
        cmd.pipeline(&self.ground);
        patches(reflection);
        cmd.pipeline(&self.water);
        cmd.draw(4, 1);
        cmd.pipeline(&self.ground);
        patches(mountains);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
