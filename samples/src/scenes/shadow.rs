//! A court of columns in low sun: a depth pass from the light, sampled with a comparison sampler.

use super::stage::{Object, Stage, View, object_pipeline, place};
use super::{Backdrop, Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::{Mesh, Vertex};
use crate::gpu::{
    Attachment, Bind, Commands, Gpu, Image, ImageDesc, Layout, PassDesc, Pipeline, SamplerDesc, Set, Target,
};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec2, Vec3, Vec4};
use vk::{
    DescriptorType as Kind, FormatFeatureFlags as Feature, ImageUsageFlags as ImageUse, ShaderStageFlags as Stages,
};

/// Side of the shadow map in texels.
const MAP: u32 = 1024;

struct Court {
    canvas: Canvas,
    map: Target,
    backdrop: Backdrop,
    stage: Stage,
    cast: (Layout, Pipeline, Set),
    shade: (Layout, Pipeline, Set),
    objects: Vec<Object>,
    /// Index of the turning object.
    turning: usize,
}

/// Returns a column from the ground to height 2.4: base, tapered shaft, capital.
fn column() -> Mesh {
    let profile = |v: f32| {
        let y = 2.4 * (1.0 - v);
        let shaft = 0.17 - 0.03 * (y / 2.4);
        let base = 0.09 * (-(y / 0.09).powi(4)).exponential();
        let capital = 0.10 * (-((2.4 - y) / 0.12).powi(4)).exponential();
        Vec2::new(if v > 0.999 { shaft + base } else { shaft + base + capital }, y)
    };
    Mesh::revolved(28, 40, profile)
}

fn objects(gpu: &Gpu) -> Result<(Vec<Object>, usize)> {
    let stone = |k: f32| Vec4::new(0.72 * k, 0.64 * k, 0.54 * k, 0.08);
    let (column, cube) = (column().upload(gpu)?, Mesh::cube().upload(gpu)?);
    let ground = place(Vec3::ZERO, Vec3::splat(40.0), 0.0);
    let mut all = vec![Object::new(gpu, &Mesh::plane(1.0), ground, stone(0.78))?.looking(Vec4::X)];
    for i in 0..6 {
        let x = i as f32 * 1.25 - 3.1;
        all.push(Object::of(column, place(Vec3::new(x, 0.0, -1.5), Vec3::ONE, 0.0), stone(1.0)));
    }
    all.push(Object::of(cube, place(Vec3::new(0.02, 2.52, -1.5), Vec3::new(3.55, 0.12, 0.26), 0.0), stone(0.95)));
    all.push(Object::of(cube, place(Vec3::new(0.02, 2.70, -1.5), Vec3::new(3.75, 0.07, 0.34), 0.0), stone(1.05)));
    all.push(Object::of(cube, place(Vec3::new(0.1, 0.2, 0.15), Vec3::new(0.42, 0.2, 0.42), 0.5), stone(0.9)));
    let copper = Vec4::new(1.0, 0.50, 0.24, 1.4);
    all.push(Object::new(gpu, &Mesh::knot(2.0, 3.0, 0.17, 220, 18), Mat4::IDENTITY, copper)?);
    let turning = all.len() - 1;
    let sphere = Mesh::sphere(48, 24).upload(gpu)?;
    let balls = [
        (Vec3::new(-1.55, 0.36, 0.35), 0.36, Vec4::new(0.12, 0.38, 0.62, 1.0)),
        (Vec3::new(-0.98, 0.2, 1.0), 0.2, Vec4::new(0.78, 0.70, 0.22, 0.9)),
        (Vec3::new(1.65, 0.28, 0.75), 0.28, Vec4::new(0.55, 0.09, 0.12, 1.0)),
    ];
    all.extend(balls.map(|(at, r, color)| Object::of(sphere, place(at, Vec3::splat(r), 0.0), color)));
    Ok((all, turning))
}

/// Returns a depth format that can be drawn to and sampled, and a sampler that filters comparisons
/// linearly where the format supports it.
fn map_format(gpu: &Gpu) -> Result<(vk::Format, SamplerDesc)> {
    let formats = [vk::Format::D32_SFLOAT, vk::Format::D16_UNORM];
    let both = Feature::DEPTH_STENCIL_ATTACHMENT | Feature::SAMPLED_IMAGE;
    match gpu.first_format(&formats, both | Feature::SAMPLED_IMAGE_FILTER_LINEAR) {
        Ok(format) => Ok((format, SamplerDesc::SHADOW)),
        Err(_) => {
            let nearest = SamplerDesc { filter: vk::Filter::NEAREST, ..SamplerDesc::SHADOW };
            Ok((gpu.first_format(&formats, both)?, nearest))
        }
    }
}

/// A shadow map, with the pass that draws it and the sampler that compares with it.
pub(super) struct ShadowMap {
    /// The depth image.
    pub image: Image,
    /// The framebuffer.
    pub target: Target,
    /// The pass.
    pub pass: crate::gpu::Pass,
    /// The comparing sampler.
    pub sampler: vk::Sampler,
}

/// Creates a shadow map of `side` texels a side.
pub(super) fn shadow_map(gpu: &Gpu, side: u32) -> Result<ShadowMap> {
    let (format, sampler) = map_format(gpu)?;
    let usage = ImageUse::DEPTH_STENCIL_ATTACHMENT | ImageUse::SAMPLED;
    let map = gpu.image(ImageDesc::new(format, side, side, usage))?;
    let attachment = Attachment::stored(&map, vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL);
    let pass = gpu.pass(&PassDesc::depth_only(attachment))?;
    let target = gpu.target(&pass, &[map.view], vk::Extent2D { width: side, height: side })?;
    Ok(ShadowMap { image: map, target, pass, sampler: gpu.sampler(&sampler)? })
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let one = vk::SampleCountFlags::TYPE_1;
    let backdrop = Backdrop::new(gpu, &canvas.pass, one, Vec3::new(0.10, 0.20, 0.42), Vec3::new(1.62, 1.20, 0.70))?
        .glowing(Vec3::new(0.22, 0.10, 0.02), 0.4, Vec2::new(0.03, 0.36), canvas.aspect());
    let ShadowMap { image, target: map, pass, sampler } = shadow_map(gpu, MAP)?;
    let stage = Stage::new(gpu)?;

    let layout = Stage::layout(gpu, &[])?;
    let mut desc = object_pipeline(&[], &layout, &pass);
    desc.vert = spv!("depth.vert");
    desc.frag = None;
    desc.inputs = vec![Vertex::input_position()];
    desc.blends = Vec::new();
    desc.bias = Some((1.5, 2.0));
    let pipeline = gpu.graphics(&desc)?;
    let set = stage.set(gpu, &layout, &[])?;
    let cast = (layout, pipeline, set);

    let layout = Stage::layout(gpu, &[(1, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)])?;
    let pipeline = gpu.graphics(&object_pipeline(spv!("shadow.frag"), &layout, &canvas.pass))?;
    let set = stage.set(gpu, &layout, &[Bind::DepthTexture(image.view, sampler)])?;
    let shade = (layout, pipeline, set);
    let (objects, turning) = objects(gpu)?;
    Ok(Box::new(Court { canvas, map, backdrop, stage, cast, shade, objects, turning }))
}

/// Returns the matrix from world to the sun's clip space: a box around the court, seen along the
/// light (the direction in `shadow.frag`).
fn sun() -> Mat4 {
    let from = Vec3::new(-0.75, 0.62, 0.35).normalize() * 12.0;
    let middle = Vec3::new(0.6, 0.6, -0.6);
    let view = Mat4::look_at_rh(middle + from, middle, Vec3::Y);
    // Bottom above top: Vulkan's y points down, and faces keep their winding.
    Mat4::orthographic_rh(-4.6, 4.6, 3.4, -3.4, 4.0, 20.0) * view
}

impl Scene for Court {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let turn = Mat4::from_rotation_y(time * 0.5) * Mat4::from_rotation_x(1.2) * Mat4::from_scale(Vec3::splat(0.42));
        self.objects[self.turning].push.model = Mat4::from_translation(Vec3::new(0.1, 1.05, 0.15)) * turn;
        let eye = Vec3::new(0.55, 1.75, 5.3);
        let view = View::new(eye, Vec3::new(0.05, 1.02, 0.0), 0.72, self.canvas.aspect(), time);
        self.stage.update(gpu, &View { light: sun(), ..view })
    }

    fn record(&self, cmd: &Commands<'_>) {
        let (layout, pipeline, set) = &self.cast;
        cmd.begin(&self.map, &[clear_depth()]);
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        self.objects.iter().for_each(|object| object.draw(cmd, layout));
        cmd.end();

        let (layout, pipeline, set) = &self.shade;
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        self.backdrop.draw(cmd);
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        self.objects.iter().for_each(|object| object.draw(cmd, layout));
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
