//! Neon over dark lacquer, and its post-processing: high dynamic range, three widths of bloom,
//! tone mapping.
//!
//! There are eleven passes: the scene, then a reduction and a blur in two directions for each of
//! three sizes, then the composition.

use super::canvas::draw_fullscreen;
use super::stage::{Object, Stage, View, object_pipeline, place};
use super::{Canvas, OUTPUT, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::Mesh;
use crate::gpu::{Bind, Binding, Commands, Gpu, GraphicsDesc, Image, Layout, Pipeline, SamplerDesc, Set};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use std::f32::consts::TAU;
use vk::{DescriptorType as Kind, ImageLayout, ShaderStageFlags as Stages};

const HALF_FLOAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const PICTURE: (Kind, Stages) = (Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT);

/// A full-screen pass: its target, its pipeline and its inputs.
struct Step {
    canvas: Canvas,
    pipeline: Pipeline,
    set: Set,
    /// Push constants: a texel's size in xy, a threshold in z.
    push: Vec4,
}

struct Neon {
    scene: Canvas,
    stage: Stage,
    objects: (Layout, Pipeline, Set),
    list: Vec<Object>,
    filter: Layout,
    steps: Vec<Step>,
    composite: (Layout, Pipeline, Set),
    canvas: Canvas,
}

/// Common objects of the filter steps.
struct Filters<'a> {
    gpu: &'a Gpu,
    layout: &'a Layout,
    sampler: vk::Sampler,
}

impl Filters<'_> {
    fn step(&self, frag: &[u8], from: &Image, size: vk::Extent2D, push: Vec4) -> Result<Step> {
        let canvas = Canvas::new(self.gpu, HALF_FLOAT, size, false, ImageLayout::SHADER_READ_ONLY_OPTIMAL)?;
        let desc = GraphicsDesc::new(spv!("fullscreen.vert"), frag, self.layout, &canvas.pass);
        let pipeline = self.gpu.graphics(&desc)?;
        let set = self.gpu.set(self.layout, 0, &[Bind::Texture(from.view, self.sampler)])?;
        Ok(Step { canvas, pipeline, set, push })
    }

    /// Creates the reduction to half the size, and the blurs across and down.
    fn level(&self, from: &Image, threshold: f32) -> Result<[Step; 3]> {
        let (w, h) = (from.desc.width, from.desc.height);
        let size = vk::Extent2D { width: w.div_ceil(2), height: h.div_ceil(2) };
        let texel = Vec4::new(1.0 / w as f32, 1.0 / h as f32, threshold, 0.0);
        let reduced = self.step(spv!("bright.frag"), from, size, texel)?;
        let across = Vec4::new(1.0 / size.width as f32, 0.0, 0.0, 0.0);
        let down = Vec4::new(0.0, 1.0 / size.height as f32, 0.0, 0.0);
        let first = self.step(spv!("blur.frag"), &reduced.canvas.color, size, across)?;
        let second = self.step(spv!("blur.frag"), &first.canvas.color, size, down)?;
        Ok([reduced, first, second])
    }
}

fn tint(i: usize) -> Vec3 {
    let wave = |phase: f32| 0.5 + 0.5 * (phase + i as f32 * 2.1).cosine();
    Vec3::new(wave(0.0), wave(2.1), wave(4.2))
}

/// Creates the objects. `look.x` is the light of a tube, and `look.y` enables the floor's grid.
fn objects(gpu: &Gpu) -> Result<Vec<Object>> {
    let lacquer = Vec4::new(0.05, 0.05, 0.065, 1.0);
    let tube = Mesh::torus(1.0, 0.022, 128, 10).upload(gpu)?;
    let ball = Mesh::sphere(64, 32).upload(gpu)?;
    let floor = Mesh::plane(1.0).upload(gpu)?;
    let mut list = vec![Object::of(floor, place(Vec3::Y * -1.45, Vec3::splat(14.0), 0.0), lacquer).looking(Vec4::Y)];
    list.push(Object::of(ball, Mat4::from_scale(Vec3::splat(0.62)), lacquer));
    list.extend((0..3).map(|i| {
        let color = (tint(i) * 0.95 + 0.03).extend(1.0);
        Object::of(tube, Mat4::IDENTITY, color).looking(Vec4::X * 2.6)
    }));
    for i in 0..9 {
        let color = tint(i).extend(1.0) * 0.16;
        list.push(Object::of(ball, Mat4::IDENTITY, color));
    }
    Ok(list)
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let scene = Canvas::new(gpu, HALF_FLOAT, size, true, ImageLayout::SHADER_READ_ONLY_OPTIMAL)?;
    let canvas = Canvas::new(gpu, OUTPUT, size, false, ImageLayout::TRANSFER_SRC_OPTIMAL)?;
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let pipeline = gpu.graphics(&object_pipeline(spv!("neon.frag"), &layout, &scene.pass))?;
    let set = stage.set(gpu, &layout, &[])?;

    let push = Some((Stages::FRAGMENT, size_of::<Vec4>() as u32));
    let filter = gpu.layout(&[&[(0, PICTURE.0, PICTURE.1)]], push)?;
    let sampler = gpu.sampler(&SamplerDesc::CLAMP)?;
    let filters = Filters { gpu, layout: &filter, sampler };
    let mut steps: Vec<Step> = Vec::new();
    for threshold in [1.0, 0.0, 0.0] {
        let from = steps.last().map_or(scene.color, |step| step.canvas.color);
        steps.extend(filters.level(&from, threshold)?);
    }

    let bindings: Vec<Binding> = (0..4).map(|i| (i, PICTURE.0, PICTURE.1)).collect();
    let last = gpu.layout(&[&bindings], None)?;
    let desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("composite.frag"), &last, &canvas.pass);
    let compose = gpu.graphics(&desc)?;
    let blurred = steps.chunks(3).map(|level| level[2].canvas.color.view);
    let views = std::iter::once(scene.color.view).chain(blurred);
    let binds: Vec<_> = views.map(|view| Bind::Texture(view, sampler)).collect();
    let composite = (last.clone(), compose, gpu.set(&last, 0, &binds)?);
    let (objects, list) = ((layout, pipeline, set), objects(gpu)?);
    Ok(Box::new(Neon { scene, stage, objects, list, filter, steps, composite, canvas }))
}

impl Scene for Neon {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        for i in 0..3 {
            let turn = Mat4::from_rotation_y(time * (0.5 + 0.2 * i as f32) + i as f32 * 1.3);
            let tilt = Mat4::from_rotation_x(0.5 + 0.75 * i as f32) * Mat4::from_rotation_z(0.4 * i as f32);
            self.list[2 + i].push.model = turn * tilt * Mat4::from_scale(Vec3::splat(1.02 + 0.16 * i as f32));
        }
        for i in 0..9 {
            let angle = i as f32 * TAU / 9.0 + time * 0.25;
            let at = Vec3::new(angle.sine() * 2.3, -1.2, angle.cosine() * 2.3);
            self.list[5 + i].push.model = place(at, Vec3::splat(0.25), 0.0);
        }
        let view = View::new(Vec3::new(0.0, 0.75, 5.4), Vec3::new(0.0, -0.15, 0.0), 0.68, self.canvas.aspect(), time);
        self.stage.update(gpu, &view)
    }

    fn record(&self, cmd: &Commands<'_>) {
        let (layout, pipeline, set) = &self.objects;
        cmd.begin(&self.scene.target, &[clear_color(Vec3::new(0.002, 0.002, 0.006)), clear_depth()]);
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        self.list.iter().for_each(|object| object.draw(cmd, layout));
        cmd.end();

        for step in &self.steps {
            cmd.begin(&step.canvas.target, &[clear_color(Vec3::ZERO)]);
            cmd.pipeline(&step.pipeline);
            cmd.graphics_set(&self.filter, &step.set);
            cmd.push(&self.filter, &step.push);
            cmd.draw(3, 1);
            cmd.end();
        }

        let (layout, pipeline, set) = &self.composite;
        draw_fullscreen(cmd, &self.canvas.target, pipeline, layout, set);
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
