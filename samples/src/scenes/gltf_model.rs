//! A glTF model with mipmapped material textures, lit by the format's material model.

use super::{Backdrop, Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::{GpuMesh, Vertex, camera};
use crate::gpu::{Bind, Buffer, Commands, Gpu, GraphicsDesc, Image, Layout, Pipeline, SamplerDesc, Set};
use crate::model::{self, Map, Part};
use ash::vk;
use glam::{Mat4, Vec2, Vec3};
use vk::{DescriptorType as Kind, ShaderStageFlags as Stages};

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Frame {
    view_proj: Mat4,
    model: Mat4,
    eye: [f32; 4],
    size: [f32; 4],
}

struct Model {
    canvas: Canvas,
    backdrop: Backdrop,
    layout: Layout,
    pipeline: Pipeline,
    frame: Buffer,
    parts: Vec<(GpuMesh, Set)>,
}

const FRAGMENT_MAP: (Kind, Stages) = (Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT);

fn texture(gpu: &Gpu, map: &Map, format: vk::Format) -> Result<Image> {
    gpu.texture(format, map.width, map.height, &map.rgba, true)
}

fn upload(gpu: &Gpu, part: &Part, layout: &Layout, frame: &Buffer, sampler: vk::Sampler) -> Result<(GpuMesh, Set)> {
    // Only the base colour is encoded for display; the other maps are data.
    let formats = [vk::Format::R8G8B8A8_SRGB, vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_UNORM];
    let mut binds = vec![Bind::Buffer(frame, None)];
    for (map, format) in part.maps.iter().zip(formats) {
        binds.push(Bind::Texture(texture(gpu, map, format)?.view, sampler));
    }
    Ok((part.mesh.upload(gpu)?, gpu.set(layout, 0, &binds)?))
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let one = vk::SampleCountFlags::TYPE_1;
    let backdrop = Backdrop::new(gpu, &canvas.pass, one, Vec3::new(0.012, 0.014, 0.02), Vec3::new(0.05, 0.04, 0.04))?
        .glowing(Vec3::new(0.16, 0.12, 0.10), 0.5, Vec2::new(0.5, 0.42), canvas.aspect());
    let (map, stages) = FRAGMENT_MAP;
    let uniform = (0, Kind::UNIFORM_BUFFER, Stages::VERTEX | Stages::FRAGMENT);
    let layout = gpu.layout(&[&[uniform, (1, map, stages), (2, map, stages), (3, map, stages)]], None)?;
    let mut desc = GraphicsDesc::new(spv!("model.vert"), spv!("model.frag"), &layout, &canvas.pass);
    desc.inputs = vec![Vertex::input()];
    desc.depth = (true, true);
    desc.cull = vk::CullModeFlags::BACK;
    let pipeline = gpu.graphics(&desc)?;
    let frame = gpu.host_buffer(size_of::<Frame>() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let sampler = gpu.sampler(&SamplerDesc::REPEAT)?;
    let parts = model::load(&model::glb()?)?;
    let parts = parts.iter().map(|part| upload(gpu, part, &layout, &frame, sampler)).collect::<Result<_>>()?;
    Ok(Box::new(Model { canvas, backdrop, layout, pipeline, frame, parts }))
}

impl Scene for Model {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let eye = Vec3::new(0.0, 2.0, 5.0);
        let aspect = self.canvas.aspect();
        let frame = Frame {
            view_proj: camera(eye, Vec3::new(0.0, 0.8, 0.0), 0.66, aspect),
            model: Mat4::from_rotation_y(time * 0.25 - 0.1),
            eye: eye.extend(1.0).to_array(),
            size: [aspect, 0.0, 0.0, 0.0],
        };
        gpu.write(&self.frame, 0, &[frame])
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        self.backdrop.draw(cmd);
        cmd.pipeline(&self.pipeline);
        for (mesh, set) in &self.parts {
            cmd.graphics_set(&self.layout, set);
            mesh.draw(cmd);
        }
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
