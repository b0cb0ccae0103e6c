//! Lines and points with four samples a pixel, resolved at the end of the pass.

use super::canvas::depth_image_of;
use super::stage::{Push, Stage, View};
use super::{Backdrop, Canvas, OUTPUT, Scene, aspect, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::{Mesh, Vertex};
use crate::gpu::{
    Attachment, Blend, Buffer, Commands, Gpu, GraphicsDesc, Image, ImageDesc, Layout, PassDesc, Pipeline, Set,
    SubpassDesc, Target,
};
use ash::vk;
use glam::{Mat4, Vec2, Vec3, Vec4};
use vk::{ImageLayout, ImageUsageFlags as ImageUse};

const SAMPLES: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;

struct Wire {
    output: Image,
    target: Target,
    backdrop: Backdrop,
    stage: Stage,
    layout: Layout,
    set: Set,
    lines: Pipeline,
    points: Pipeline,
    vertices: Buffer,
    /// The sphere's edges as a line list.
    edges: (Buffer, u32),
    count: u32,
    push: Push,
    point: f32,
}

/// Creates four-sample colour and depth images, and the image that the colour is resolved to.
fn canvas(gpu: &Gpu, size: vk::Extent2D) -> Result<Canvas> {
    let usage = ImageUse::COLOR_ATTACHMENT | ImageUse::TRANSIENT_ATTACHMENT;
    let many = gpu.image(ImageDesc::new(OUTPUT, size.width, size.height, usage).with_samples(SAMPLES))?;
    let depth = depth_image_of(gpu, gpu.depth_format()?, size, SAMPLES)?;
    let usage = ImageUse::COLOR_ATTACHMENT | ImageUse::TRANSFER_SRC;
    let output = gpu.image(ImageDesc::new(OUTPUT, size.width, size.height, usage))?;
    let resolved = Attachment::stored(&output, ImageLayout::TRANSFER_SRC_OPTIMAL).overwritten();
    let subpass = SubpassDesc { colors: vec![0], depth: Some(1), resolves: vec![2], ..Default::default() };
    let attachments = vec![Attachment::transient(&many), Attachment::transient(&depth), resolved];
    let pass = gpu.pass(&PassDesc { attachments, subpasses: vec![subpass] })?;
    let target = gpu.target(&pass, &[many.view, depth.view, output.view], size)?;
    Ok(Canvas { color: output, pass, target })
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let Canvas { color: output, pass, target } = canvas(gpu, size)?;
    let backdrop = Backdrop::new(gpu, &pass, SAMPLES, Vec3::new(0.004, 0.006, 0.016), Vec3::new(0.012, 0.010, 0.030))?
        .glowing(Vec3::new(0.010, 0.030, 0.06), 0.5, Vec2::new(0.5, 0.5), aspect(size));
    let (stage, layout) = (Stage::new(gpu)?, Stage::layout(gpu, &[])?);
    let set = stage.set(gpu, &layout, &[])?;
    let mut desc = GraphicsDesc::new(spv!("wire.vert"), spv!("wire.frag"), &layout, &pass);
    desc.inputs = vec![Vertex::input_position()];
    desc.samples = SAMPLES;
    desc.depth = (true, false);
    desc.blends = vec![Blend::Add];
    desc.topology = vk::PrimitiveTopology::LINE_LIST;
    let lines = gpu.graphics(&desc)?;
    desc.topology = vk::PrimitiveTopology::POINT_LIST;
    let points = gpu.graphics(&desc)?;

    let mesh = Mesh::icosphere(3);
    let edges = mesh.edges();
    let vertices = gpu.static_buffer(&mesh.vertices, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let edges = (gpu.static_buffer(&edges, vk::BufferUsageFlags::INDEX_BUFFER)?, edges.len() as u32);
    let point = if gpu.features().large_points == vk::TRUE { gpu.limits().point_size_range[1].min(9.0) } else { 1.0 };
    let push = Push { model: Mat4::IDENTITY, color: Vec4::ONE, look: Vec4::ZERO };
    let count = mesh.vertices.len() as u32;
    Ok(Box::new(Wire {
        output,
        target,
        backdrop,
        stage,
        layout,
        set,
        lines,
        points,
        vertices,
        edges,
        count,
        push,
        point,
    }))
}

impl Wire {
    /// Draws a sphere: its edges, then its vertices as points of `size` pixels.
    fn sphere(&self, cmd: &Commands<'_>, scale: f32, color: Vec4, swell: f32, size: f32) {
        let model = self.push.model * Mat4::from_scale(Vec3::splat(scale));
        cmd.pipeline(&self.lines);
        cmd.push(&self.layout, &Push { model, color: color * 0.85, look: Vec4::new(swell, 0.0, 0.0, 0.0) });
        cmd.draw_indexed(self.edges.1, 1);
        cmd.pipeline(&self.points);
        cmd.push(&self.layout, &Push { model, color, look: Vec4::new(swell, size, 0.0, 0.0) });
        cmd.draw(self.count, 1);
    }
}

impl Scene for Wire {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        self.push.model = Mat4::from_rotation_x(0.35) * Mat4::from_rotation_y(time * 0.3 + 0.4);
        let view = View::new(Vec3::new(0.0, 0.0, 4.6), Vec3::ZERO, 0.62, aspect(self.target.extent), time);
        self.stage.update(gpu, &View { point: self.point, ..view })
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        self.backdrop.draw(cmd);
        cmd.graphics_set(&self.layout, &self.set);
        cmd.vertices(&[&self.vertices]);
        cmd.indices(&self.edges.0);
        self.sphere(cmd, 1.22, Vec4::new(0.10, 0.48, 0.95, 1.0), 0.42, 4.5);
        self.sphere(cmd, 0.5, Vec4::new(0.55, 0.30, 0.95, 1.0), 0.25, 2.5);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.output
    }
}
