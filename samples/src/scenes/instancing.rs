//! A planet with a ring of a few thousand rocks: one indexed, instanced draw with per-instance
//! data.

use super::stage::{Object, Push, Stage, View, object_pipeline};
use super::{Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::{GpuMesh, Mesh, Vertex, chance};
use crate::gpu::{Buffer, Commands, Gpu, GraphicsDesc, Image, Layout, Pipeline, Set, VertexInput};
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use std::f32::consts::TAU;

const ROCKS: u32 = 2400;

/// One rock, as `asteroid.vert` reads it.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Rock {
    /// Angle, radius, height, scale.
    place: Vec4,
    /// Axis and speed of its spin.
    spin: Vec4,
    tint: Vec4,
}

struct Ring {
    canvas: Canvas,
    stage: Stage,
    layout: Layout,
    set: Set,
    stars: Pipeline,
    planet: (Pipeline, Object),
    rocks: (Pipeline, GpuMesh, Buffer),
}

/// Returns the density of the ring at a radius: two bands with a gap.
fn band(t: f32) -> f32 {
    let t = if t < 0.42 { t / 0.42 * 0.38 } else { 0.48 + (t - 0.42) / 0.58 * 0.52 };
    1.5 + 1.25 * t
}

fn rock(i: u32) -> Rock {
    let r = |k: u32| chance(i * 16 + k);
    let height = (r(2) + r(3) + r(4) - 1.5) * 0.05;
    // Few large ones, many small ones.
    let scale = 0.011 + 0.034 * r(5).powi(6);
    let axis = Vec3::new(r(6) - 0.5, r(7) - 0.5, r(8) - 0.5).normalize_or(Vec3::Y);
    let warm = Vec3::new(0.62, 0.52, 0.42).lerp(Vec3::new(0.42, 0.44, 0.50), r(9)) * (0.4 + 0.45 * r(10));
    let place = Vec4::new(r(0) * TAU, band(r(1)), height, scale);
    Rock { place, spin: axis.extend(0.4 + 2.0 * r(11)), tint: warm.extend(1.0) }
}

fn rock_input() -> VertexInput {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    VertexInput {
        stride: size_of::<Rock>() as u32,
        rate: vk::VertexInputRate::INSTANCE,
        attributes: vec![(2, format, 0), (3, format, 16), (4, format, 32)],
    }
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let set = stage.set(gpu, &layout, &[])?;
    let stars = gpu.graphics(&GraphicsDesc::new(spv!("fullscreen.vert"), spv!("stars.frag"), &layout, &canvas.pass))?;
    let solid = object_pipeline(spv!("planet.frag"), &layout, &canvas.pass);
    let planet = (gpu.graphics(&solid)?, Object::new(gpu, &Mesh::sphere(96, 48), Mat4::IDENTITY, Vec4::ONE)?);
    let mut desc = object_pipeline(spv!("asteroid.frag"), &layout, &canvas.pass);
    desc.vert = spv!("asteroid.vert");
    desc.inputs = vec![Vertex::input_short(), rock_input()];
    let all: Vec<_> = (0..ROCKS).map(rock).collect();
    let instances = gpu.static_buffer(&all, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let rocks = (gpu.graphics(&desc)?, Mesh::icosphere(1).upload(gpu)?, instances);
    Ok(Box::new(Ring { canvas, stage, layout, set, stars, planet, rocks }))
}

impl Scene for Ring {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let tilt = Mat4::from_rotation_z(0.32) * Mat4::from_rotation_x(0.12);
        self.planet.1.push.model = tilt * Mat4::from_rotation_y(time * 0.1);
        let eye = Vec3::new(-0.35, 0.85, 3.9);
        self.stage.update(gpu, &View::new(eye, Vec3::new(0.1, -0.05, 0.0), 0.76, self.canvas.aspect(), time))
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        cmd.graphics_set(&self.layout, &self.set);
        cmd.pipeline(&self.stars);
        cmd.draw(3, 1);
        let (pipeline, planet) = &self.planet;
        cmd.pipeline(pipeline);
        planet.draw(cmd, &self.layout);
        let (pipeline, mesh, instances) = &self.rocks;
        cmd.pipeline(pipeline);
        cmd.push(&self.layout, &Push { ..planet.push });
        mesh.bind(cmd, &[instances]);
        cmd.draw_indexed(mesh.count(), ROCKS);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
