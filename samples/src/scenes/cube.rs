//! A turning textured cube over a floor: uniforms, push constants, depth, mipmapped textures.

use super::{Backdrop, Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::{GpuMesh, Mesh, Vertex, camera};
use crate::gpu::{Bind, Buffer, Commands, Gpu, GraphicsDesc, Image, Layout, Pipeline, SamplerDesc, Set};
use crate::textures;
use ash::vk;
use glam::{Mat4, Vec2, Vec3};
use vk::{DescriptorType as Kind, ShaderStageFlags as Stages};

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Frame {
    view_proj: Mat4,
    eye: [f32; 4],
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Push {
    model: Mat4,
    look: [f32; 4],
}

struct Cube {
    canvas: Canvas,
    backdrop: Backdrop,
    layout: Layout,
    pipeline: Pipeline,
    frame: Buffer,
    cube: (GpuMesh, Set),
    floor: (GpuMesh, Set),
    turn: Mat4,
}

fn texture(gpu: &Gpu, size: u32, at: fn(f32, f32) -> Vec3) -> Result<Image> {
    gpu.texture(vk::Format::R8G8B8A8_SRGB, size, size, &textures::paint(size, at), true)
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let one = vk::SampleCountFlags::TYPE_1;
    let backdrop = Backdrop::new(gpu, &canvas.pass, one, Vec3::new(0.09, 0.16, 0.33), Vec3::new(1.35, 1.50, 1.48))?
        .glowing(Vec3::new(0.25, 0.17, 0.08), 0.3, Vec2::new(0.78, 0.36), canvas.aspect());
    let both = Stages::VERTEX | Stages::FRAGMENT;
    let bindings = [(0, Kind::UNIFORM_BUFFER, both), (1, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)];
    let layout = gpu.layout(&[&bindings], Some((both, size_of::<Push>() as u32)))?;
    let mut desc = GraphicsDesc::new(spv!("cube.vert"), spv!("cube.frag"), &layout, &canvas.pass);
    let mut input = Vertex::input();
    input.attributes.truncate(3);
    desc.inputs = vec![input];
    desc.depth = (true, true);
    desc.cull = vk::CullModeFlags::BACK;
    let pipeline = gpu.graphics(&desc)?;
    let frame = gpu.host_buffer(size_of::<Frame>() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let sampler = gpu.sampler(&SamplerDesc::REPEAT)?;
    let set = |image: Image| gpu.set(&layout, 0, &[Bind::Buffer(&frame, None), Bind::Texture(image.view, sampler)]);
    let cube = (Mesh::cube().upload(gpu)?, set(texture(gpu, 512, textures::tiles)?)?);
    let floor = (Mesh::plane(24.0).upload(gpu)?, set(texture(gpu, 256, textures::floor)?)?);
    Ok(Box::new(Cube { canvas, backdrop, layout, pipeline, frame, cube, floor, turn: Mat4::IDENTITY }))
}

impl Scene for Cube {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let eye = Vec3::new(0.0, 2.1, 5.2);
        let view_proj = camera(eye, Vec3::new(0.0, 0.75, 0.0), 0.75, self.canvas.aspect());
        self.turn = Mat4::from_translation(Vec3::Y * 1.0)
            * Mat4::from_rotation_y(time * 0.9)
            * Mat4::from_rotation_x(0.35)
            * Mat4::from_rotation_z(0.2)
            * Mat4::from_scale(Vec3::splat(0.82));
        gpu.write(&self.frame, 0, &[Frame { view_proj, eye: eye.extend(1.0).to_array() }])
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        self.backdrop.draw(cmd);
        cmd.pipeline(&self.pipeline);
        let ground = Mat4::from_translation(Vec3::Y * -0.45) * Mat4::from_scale(Vec3::splat(40.0));
        let objects = [(&self.floor, ground, [9.0, 0.0, 1.0, 0.0]), (&self.cube, self.turn, [29.0, 0.5, 0.0, 0.0])];
        for ((mesh, set), model, look) in objects {
            cmd.graphics_set(&self.layout, set);
            cmd.push(&self.layout, &Push { model, look });
            mesh.draw(cmd);
        }
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
