//! Deferred shading in one pass: the first subpass writes a G-buffer, the second reads it as input
//! attachments.

use super::canvas::depth_image;
use super::stage::{Object, Stage, View, object_pipeline, place};
use super::{Canvas, OUTPUT, Scene, aspect, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::{Mesh, chance};
use crate::gpu::{
    Attachment, Bind, Blend, Buffer, Commands, Gpu, GraphicsDesc, Image, ImageDesc, Layout, PassDesc, Pipeline, Set,
    SubpassDesc, Target,
};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use std::f32::consts::TAU;
use vk::{DescriptorType as Kind, ImageUsageFlags as ImageUse, ShaderStageFlags as Stages};

const LAMPS: usize = 24;

/// The lamps of `light.frag`: position with squared reach, and colour.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Lamps {
    eye: Vec4,
    lamps: [[Vec4; 2]; LAMPS],
}

struct Deferred {
    output: Image,
    target: Target,
    stage: Stage,
    fill: (Layout, Pipeline, Set),
    light: (Layout, Pipeline, Set),
    lamps: Buffer,
    objects: Vec<Object>,
    bulb: Object,
    glow: [[Vec4; 2]; LAMPS],
}

/// The images of the first subpass, and the finished picture with the pass.
struct Targets {
    /// Colour with specular strength, normal, and position.
    buffers: [Image; 3],
    canvas: Canvas,
}

/// Creates the targets.
fn targets(gpu: &Gpu, size: vk::Extent2D) -> Result<Targets> {
    let usage = ImageUse::COLOR_ATTACHMENT | ImageUse::INPUT_ATTACHMENT;
    let image = |format, usage| gpu.image(ImageDesc::new(format, size.width, size.height, usage));
    let (half, full) = (vk::Format::R16G16B16A16_SFLOAT, vk::Format::R32G32B32A32_SFLOAT);
    let buffers = [image(half, usage)?, image(half, usage)?, image(full, usage)?];
    let depth = depth_image(gpu, gpu.depth_format()?, size)?;
    let output = image(OUTPUT, ImageUse::COLOR_ATTACHMENT | ImageUse::TRANSFER_SRC)?;
    let finished = Attachment::stored(&output, vk::ImageLayout::TRANSFER_SRC_OPTIMAL).overwritten();
    let attachments = buffers.iter().chain([&depth]).map(Attachment::transient).chain([finished]).collect();
    let fill = SubpassDesc { colors: vec![0, 1, 2], depth: Some(3), ..Default::default() };
    let light = SubpassDesc { colors: vec![4], inputs: vec![0, 1, 2], ..Default::default() };
    let pass = gpu.pass(&PassDesc { attachments, subpasses: vec![fill, light] })?;
    let views: Vec<_> = buffers.iter().chain([&depth, &output]).map(|i| i.view).collect();
    let target = gpu.target(&pass, &views, size)?;
    Ok(Targets { buffers, canvas: Canvas { color: output, pass, target } })
}

fn objects(gpu: &Gpu) -> Result<Vec<Object>> {
    let marble = Vec4::new(0.62, 0.60, 0.58, 0.35);
    let floor = Object::new(gpu, &Mesh::plane(1.0), place(Vec3::ZERO, Vec3::splat(16.0), 0.0), marble)?;
    let (ball, ring) = (Mesh::sphere(40, 20).upload(gpu)?, Mesh::torus(1.0, 0.36, 48, 20).upload(gpu)?);
    let (cube, knot) = (Mesh::cube().upload(gpu)?, Mesh::knot(2.0, 5.0, 0.2, 260, 14).upload(gpu)?);
    let mut all = vec![floor.looking(Vec4::X)];
    let centre = Mat4::from_translation(Vec3::Y * 1.15) * Mat4::from_scale(Vec3::splat(0.72));
    all.push(Object::of(knot, centre * Mat4::from_rotation_x(1.57), Vec4::new(0.85, 0.83, 0.80, 1.0)));
    for i in 0..26u32 {
        let r = |k: u32| chance(i * 8 + k + 500);
        let angle = i as f32 * 2.399_963;
        let radius = 1.6 + 0.72 * (i as f32).sqrt();
        let at = Vec3::new(angle.sine() * radius, 0.0, angle.cosine() * radius);
        let size = 0.22 + 0.22 * r(0);
        let color = Vec4::new(0.5 + 0.4 * r(1), 0.5 + 0.4 * r(2), 0.5 + 0.4 * r(3), 0.8);
        let lifted = |height: f32| place(at + Vec3::Y * height, Vec3::splat(size), r(4) * TAU);
        all.push(match i % 3 {
            0 => Object::of(ball, lifted(size), color),
            1 => Object::of(ring, lifted(size * 0.36), color),
            _ => Object::of(cube, place(at + Vec3::Y * size * 0.7, Vec3::splat(size * 0.7), r(4) * TAU), color),
        });
    }
    Ok(all)
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let Targets { buffers, canvas: Canvas { color: output, pass, target } } = targets(gpu, size)?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let mut desc = object_pipeline(spv!("gbuffer.frag"), &layout, &pass);
    desc.blends = vec![Blend::Off; 3];
    let pipeline = gpu.graphics(&desc)?;
    let set = stage.set(gpu, &layout, &[])?;
    let fill = (layout, pipeline, set);

    let inputs = (0..3).map(|i| (i, Kind::INPUT_ATTACHMENT, Stages::FRAGMENT));
    let bindings: Vec<_> = inputs.chain([(3, Kind::UNIFORM_BUFFER, Stages::FRAGMENT)]).collect();
    let layout = gpu.layout(&[&bindings], None)?;
    let mut desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("light.frag"), &layout, &pass);
    desc.pass = (&pass, 1);
    let pipeline = gpu.graphics(&desc)?;
    let lamps = gpu.host_buffer(size_of::<Lamps>() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let views = buffers.iter().map(|image| Bind::Input(image.view));
    let binds: Vec<_> = views.chain([Bind::Buffer(&lamps, None)]).collect();
    let set = gpu.set(&layout, 0, &binds)?;
    let light = (layout, pipeline, set);
    let (objects, bulb) = (objects(gpu)?, Object::new(gpu, &Mesh::sphere(16, 8), Mat4::IDENTITY, Vec4::ONE)?);
    let glow = [[Vec4::ZERO; 2]; LAMPS];
    Ok(Box::new(Deferred { output, target, stage, fill, light, lamps, objects, bulb, glow }))
}

/// Returns position and colour of a lamp at a time: three rings that turn in opposite directions.
fn lamp(i: usize, time: f32) -> [Vec4; 2] {
    let (ring, n) = (i % 3, i as f32 / LAMPS as f32 * TAU);
    let radius = 1.35 + 1.15 * ring as f32;
    let angle = n * 3.0 + time * [0.5, -0.35, 0.25][ring];
    let height = 0.55 + 0.25 * (n * 5.0 + time).sine();
    let wave = |phase: f32| (0.5 + 0.5 * (n * 2.0 + phase).cosine()).powi(2);
    let tint = Vec3::new(wave(0.0), wave(2.1) * 0.8, wave(4.2)) + Vec3::splat(0.04);
    [Vec3::new(angle.sine() * radius, height, angle.cosine() * radius).extend(4.2), (tint * 1.7).extend(1.0)]
}

impl Scene for Deferred {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let eye = Vec3::new(0.0, 3.3, 6.2);
        self.glow = std::array::from_fn(|i| lamp(i, time));
        let view = View::new(eye, Vec3::new(0.0, 0.5, 0.0), 0.70, aspect(self.target.extent), time);
        self.stage.update(gpu, &view)?;
        gpu.write(&self.lamps, 0, &[Lamps { eye: eye.extend(1.0), lamps: self.glow }])
    }

    fn record(&self, cmd: &Commands<'_>) {
        let (layout, pipeline, set) = &self.fill;
        let empty = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0; 4] } };
        cmd.begin(&self.target, &[empty, empty, empty, clear_depth(), clear_color(Vec3::ZERO)]);
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        self.objects.iter().for_each(|object| object.draw(cmd, layout));
        for [at, tint] in self.glow {
            let mut bulb = self.bulb;
            bulb.push.model = place(at.truncate(), Vec3::splat(0.055), 0.0);
            // A specular strength above one marks objects that emit light.
            bulb.push.color = (tint.truncate() * 0.5 + 0.25).extend(3.0);
            bulb.draw(cmd, layout);
        }
        cmd.next_subpass();
        let (layout, pipeline, set) = &self.light;
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        cmd.draw(3, 1);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.output
    }
}
