//! Cut stones on a mirror: the stencil marks the mirror, limits the reflections to it, and draws
//! outlines.
//!
//! Stencil values: 0 nothing, 1 the mirror, 2 a stone. Order: mirror (marks 1), reflected stones
//! where it is 1, the mirror's own colour blended over them, stones (mark 2), outlines where it is
//! not 2.

use super::canvas::depth_image;
use super::stage::{Object, Stage, View, object_pipeline};
use super::{Backdrop, Canvas, OUTPUT, Scene, aspect, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::Mesh;
use crate::gpu::{
    Attachment, Blend, Commands, Gpu, GraphicsDesc, Image, ImageDesc, Layout, Pass, PassDesc, Pipeline, Set, Target,
};
use ash::vk;
use glam::{Mat4, Vec2, Vec3, Vec4};
use vk::{CompareOp, CullModeFlags as Cull, ImageUsageFlags as ImageUse, StencilOp};

struct Gems {
    output: Image,
    target: Target,
    backdrop: Backdrop,
    stage: Stage,
    layout: Layout,
    set: Set,
    pipelines: Pipelines,
    stones: Vec<Stone>,
    mirror: Object,
}

struct Pipelines {
    mark: Pipeline,
    reflected: Pipeline,
    surface: Pipeline,
    stone: Pipeline,
    outline: Pipeline,
}

/// A stone, its position and rotation, and the colour of its outline if it is selected.
struct Stone {
    object: Object,
    at: Vec3,
    scale: f32,
    speed: f32,
    outline: Option<Vec4>,
}

fn stencil(compare_op: CompareOp, pass_op: StencilOp) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: StencilOp::KEEP,
        pass_op,
        depth_fail_op: StencilOp::KEEP,
        compare_op,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 0,
    }
}

fn pipelines(gpu: &Gpu, layout: &Layout, pass: &Pass) -> Result<Pipelines> {
    let make = |change: &dyn Fn(&mut GraphicsDesc<'_>)| {
        let mut desc = object_pipeline(spv!("gem.frag"), layout, pass);
        change(&mut desc);
        gpu.graphics(&desc)
    };
    Ok(Pipelines {
        mark: make(&|d| {
            d.depth = (true, false);
            d.stencil = Some(stencil(CompareOp::ALWAYS, StencilOp::REPLACE));
            d.blends = vec![Blend::Masked];
        })?,
        // Mirroring turns the faces around.
        reflected: make(&|d| {
            d.cull = Cull::FRONT;
            d.stencil = Some(stencil(CompareOp::EQUAL, StencilOp::KEEP));
        })?,
        surface: make(&|d| {
            d.depth = (false, false);
            d.stencil = Some(stencil(CompareOp::EQUAL, StencilOp::KEEP));
            d.blends = vec![Blend::Alpha];
        })?,
        stone: make(&|d| d.stencil = Some(stencil(CompareOp::ALWAYS, StencilOp::REPLACE)))?,
        outline: make(&|d| {
            d.stencil = Some(stencil(CompareOp::NOT_EQUAL, StencilOp::KEEP));
            d.depth = (false, false);
        })?,
    })
}

/// Returns a cut stone: a table, a crown, a girdle and a pavilion with `sides` sides.
fn brilliant(sides: u32) -> Mesh {
    let rings = [(0.0, 0.42), (0.55, 0.42), (0.86, 0.20), (1.0, 0.0), (0.96, -0.06), (0.52, -0.55), (0.0, -0.95)];
    let rows = rings.len() as u32 - 1;
    let mesh = Mesh::revolved(sides, rows, |v| {
        let t = (v * rows as f32).clamp(0.0, rows as f32 - 1e-3);
        let (i, f) = (t as usize, t.fract());
        let ((r0, y0), (r1, y1)) = (rings[i], rings[i + 1]);
        Vec2::new(r0 + (r1 - r0) * f, y0 + (y1 - y0) * f)
    });
    mesh.faceted()
}

fn stones(gpu: &Gpu) -> Result<Vec<Stone>> {
    let (round, eight, six) = (brilliant(16).upload(gpu)?, brilliant(8).upload(gpu)?, brilliant(6).upload(gpu)?);
    let crystal = Mesh::icosphere(0).faceted().upload(gpu)?;
    let stone = |mesh, at, scale, color: Vec3, speed, outline| Stone {
        object: Object::of(mesh, Mat4::IDENTITY, color.extend(1.0)),
        at,
        scale,
        speed,
        outline,
    };
    let glow = Some(Vec4::new(1.0, 0.72, 0.25, 1.0));
    Ok(vec![
        stone(round, Vec3::new(0.0, 1.08, 0.0), 1.0, Vec3::new(0.10, 0.42, 0.95), 0.5, glow),
        stone(eight, Vec3::new(-1.95, 0.72, 0.1), 0.66, Vec3::new(0.05, 0.62, 0.30), -0.7, None),
        stone(six, Vec3::new(1.9, 0.70, 0.15), 0.64, Vec3::new(0.88, 0.07, 0.16), 0.6, None),
        stone(crystal, Vec3::new(-0.95, 0.40, 1.25), 0.32, Vec3::new(0.92, 0.52, 0.06), 0.9, None),
        stone(crystal, Vec3::new(1.05, 0.36, 1.35), 0.28, Vec3::new(0.56, 0.16, 0.85), -0.8, None),
    ])
}

/// Creates the colour image and its pass, with a depth and stencil attachment.
fn canvas(gpu: &Gpu, size: vk::Extent2D) -> Result<Canvas> {
    let usage = ImageUse::COLOR_ATTACHMENT | ImageUse::TRANSFER_SRC;
    let output = gpu.image(ImageDesc::new(OUTPUT, size.width, size.height, usage))?;
    let depth = depth_image(gpu, gpu.stencil_format()?, size)?;
    let color = Attachment::stored(&output, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let pass = gpu.pass(&PassDesc::simple(color, Some(Attachment::transient(&depth))))?;
    let target = gpu.target(&pass, &[output.view, depth.view], size)?;
    Ok(Canvas { color: output, pass, target })
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let Canvas { color: output, pass, target } = canvas(gpu, size)?;
    let one = vk::SampleCountFlags::TYPE_1;
    let backdrop = Backdrop::new(gpu, &pass, one, Vec3::new(0.006, 0.007, 0.016), Vec3::new(0.03, 0.026, 0.05))?
        .glowing(Vec3::new(0.075, 0.06, 0.12), 0.5, Vec2::new(0.5, 0.4), aspect(size));
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let set = stage.set(gpu, &layout, &[])?;
    let pipelines = pipelines(gpu, &layout, &pass)?;
    let disc = Mesh::revolved(72, 1, |v| Vec2::new(v * 3.6, 0.0));
    let mirror = Object::new(gpu, &disc, Mat4::IDENTITY, Vec4::new(0.010, 0.012, 0.022, 0.5))?
        .looking(Vec4::new(1.0, 1.0, 0.0, 0.0));
    let stones = stones(gpu)?;
    Ok(Box::new(Gems { output, target, backdrop, stage, layout, set, pipelines, stones, mirror }))
}

impl Gems {
    fn reflections(&self, cmd: &Commands<'_>) {
        let mirrored = Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0));
        for stone in &self.stones {
            let mut object = stone.object;
            object.push.model = mirrored * object.push.model;
            object.draw(cmd, &self.layout);
        }
    }

    fn outlines(&self, cmd: &Commands<'_>) {
        for stone in &self.stones {
            let Some(color) = stone.outline else { continue };
            let mut object = stone.object;
            object.push.model *= Mat4::from_scale(Vec3::splat(1.045));
            (object.push.color, object.push.look) = (color, Vec4::X);
            object.draw(cmd, &self.layout);
        }
    }
}

impl Scene for Gems {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        for stone in &mut self.stones {
            let tilt = Mat4::from_rotation_x(0.22) * Mat4::from_rotation_y(time * stone.speed + stone.at.x);
            stone.object.push.model =
                Mat4::from_translation(stone.at) * tilt * Mat4::from_scale(Vec3::splat(stone.scale));
        }
        let eye = Vec3::new(0.0, 1.9, 5.4);
        let view = View::new(eye, Vec3::new(0.0, 0.42, 0.0), 0.68, aspect(self.target.extent), time);
        self.stage.update(gpu, &view)
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        self.backdrop.draw(cmd);
        cmd.graphics_set(&self.layout, &self.set);
        cmd.pipeline(&self.pipelines.mark);
        cmd.stencil_reference(1);
        self.mirror.draw(cmd, &self.layout);
        cmd.pipeline(&self.pipelines.reflected);
        self.reflections(cmd);
        cmd.pipeline(&self.pipelines.surface);
        self.mirror.draw(cmd, &self.layout);
        cmd.pipeline(&self.pipelines.stone);
        cmd.stencil_reference(2);
        self.stones.iter().for_each(|stone| stone.object.draw(cmd, &self.layout));
        cmd.pipeline(&self.pipelines.outline);
        self.outlines(cmd);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.output
    }
}
