//! One triangle on a shaded ground, in one draw.

use super::{Canvas, OUTPUT_UNORM, Scene, clear_color, spv};
use crate::error::Result;
use crate::gpu::{Buffer, Commands, Gpu, GraphicsDesc, Image, Pipeline, VertexInput};
use crate::math::Steady;
use ash::vk;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

struct Triangle {
    canvas: Canvas,
    pipeline: Pipeline,
    vertices: Buffer,
    aspect: f32,
}

/// Position in clip space and colour.
type Corner = [f32; 5];

fn corner(at: Vec2, color: Vec3) -> Corner {
    [at.x, at.y, color.x, color.y, color.z]
}

/// Returns the ground, a quad darker towards the corners, and the triangle, turned by `angle`.
fn corners(angle: f32, aspect: f32) -> Vec<Corner> {
    let ground = [Vec3::new(0.07, 0.08, 0.13), Vec3::new(0.13, 0.14, 0.21), Vec3::new(0.04, 0.05, 0.08)];
    let quad = [(-1.0, -1.0, 0), (-1.0, 1.0, 1), (1.0, -1.0, 1), (1.0, -1.0, 1), (-1.0, 1.0, 1), (1.0, 1.0, 2)];
    let colors = [Vec3::new(0.98, 0.27, 0.32), Vec3::new(0.16, 0.83, 0.55), Vec3::new(0.22, 0.42, 0.98)];
    let tip = |i: usize| {
        let (s, c) = (angle + i as f32 * TAU / 3.0).sine_cosine();
        corner(Vec2::new(-s / aspect, -c) * 0.86 + Vec2::new(0.0, 0.2), colors[i])
    };
    quad.map(|(x, y, i)| corner(Vec2::new(x, y), ground[i])).into_iter().chain([tip(0), tip(1), tip(2)]).collect()
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::new(gpu, OUTPUT_UNORM, size, false, vk::ImageLayout::TRANSFER_SRC_OPTIMAL)?;
    let layout = gpu.layout(&[], None)?;
    let mut desc = GraphicsDesc::new(spv!("triangle.vert"), spv!("triangle.frag"), &layout, &canvas.pass);
    desc.inputs = vec![VertexInput {
        stride: size_of::<Corner>() as u32,
        rate: vk::VertexInputRate::VERTEX,
        attributes: vec![(0, vk::Format::R32G32_SFLOAT, 0), (1, vk::Format::R32G32B32_SFLOAT, 8)],
    }];
    let pipeline = gpu.graphics(&desc)?;
    let bytes = 9 * size_of::<Corner>() as u64;
    let vertices = gpu.host_buffer(bytes, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let aspect = canvas.aspect();
    Ok(Box::new(Triangle { canvas, pipeline, vertices, aspect }))
}

impl Scene for Triangle {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        gpu.write(&self.vertices, 0, &corners(time * 0.8, self.aspect))
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO)]);
        cmd.pipeline(&self.pipeline);
        cmd.vertices(&[&self.vertices]);
        cmd.draw(9, 1);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
