//! A machine hall put together from a library of parts, as a viewer for mechanical design shows it.
//!
//! All parts share one vertex and one index buffer. Each assembly draws its parts by kind, with a
//! transformation for each instance; copies from the catalogue do so by indirect commands. Faces
//! are lit on both sides, because imported surfaces have no known orientation. Assemblies are in
//! random order. A second pass adds ambient occlusion.

mod parts;
mod plan;

use super::stage::{Frustum, Stage, View};
use super::{Canvas, OUTPUT, Scene, clear_color, clear_depth, detail, spv};
use crate::error::Result;
use crate::geometry::{Mesh, Vertex};
use crate::gpu::{
    Attachment, Bind, Buffer, Commands, Gpu, GraphicsDesc, Image, ImageDesc, Layout, Pass, PassDesc, Pipeline,
    SamplerDesc, Set, Target, VertexInput,
};
use crate::textures;
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use parts::{HallPart, PARTS};
use vk::{
    BufferUsageFlags as Usage, DescriptorType as Kind, FormatFeatureFlags as Feature, ImageLayout,
    ImageUsageFlags as ImageUse, ShaderStageFlags as Stages,
};

const HALF_FLOAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// One part in the hall, as `part.vert` reads it: the rows of its transformation, and its colour.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Instance {
    rows: [Vec4; 3],
    color: Vec4,
}

/// Pipelines of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    Painted,
    Metal,
    Hall,
    Lamp,
}

const FINISHES: [Finish; 4] = [Finish::Painted, Finish::Metal, Finish::Hall, Finish::Lamp];

fn finish(part: HallPart) -> Finish {
    match part {
        HallPart::Bolt
        | HallPart::Flange
        | HallPart::Grating
        | HallPart::Clamp
        | HallPart::Gauge
        | HallPart::Duct
        | HallPart::Tray => Finish::Metal,
        HallPart::Slab => Finish::Hall,
        HallPart::Lamp => Finish::Lamp,
        _ => Finish::Painted,
    }
}

/// Consecutive draws of an assembly with one pipeline.
struct Run {
    finish: Finish,
    /// Index of the first draw in the list of commands.
    first: u32,
    count: u32,
}

/// Draws of an assembly, with its bounding sphere.
struct AssemblyDraws {
    runs: Vec<Run>,
    catalogue: bool,
    centre: Vec3,
    radius: f32,
}

/// The picture before ambient occlusion.
struct Raw {
    color: Image,
    depth: Image,
    pass: Pass,
    target: Target,
}

struct Hall {
    raw: Raw,
    canvas: Canvas,
    stage: Stage,
    layout: Layout,
    set: Set,
    pipelines: Vec<Pipeline>,
    occlusion: Occlusion,
    vertices: Buffer,
    indices: Buffer,
    instances: Buffer,
    commands: Vec<vk::DrawIndexedIndirectCommand>,
    indirect: Buffer,
    /// Maximum number of commands of one indirect draw. 0: the device does not support a first
    /// instance in indirect commands.
    batch: u32,
    assemblies: Vec<AssemblyDraws>,
    frustum: Frustum,
}

/// The library in one mesh, with the first index and the number of indices of each part.
struct Library {
    mesh: Mesh,
    ranges: Vec<(u32, u32)>,
    bounds: Vec<(Vec3, f32)>,
}

fn library(segments: u32) -> Library {
    let mut all = Library { mesh: Mesh::default(), ranges: Vec::new(), bounds: Vec::new() };
    for part in PARTS {
        let mesh = parts::make(part, segments);
        all.ranges.push((all.mesh.indices.len() as u32, mesh.indices.len() as u32));
        all.bounds.push(mesh.bounds());
        all.mesh.add(&mesh, Mat4::IDENTITY);
    }
    all
}

/// The hall as instances and commands.
#[derive(Default)]
struct Lists {
    instances: Vec<Instance>,
    commands: Vec<vk::DrawIndexedIndirectCommand>,
    assemblies: Vec<AssemblyDraws>,
}

impl Lists {
    fn add(&mut self, assembly: &plan::Assembly, library: &Library) {
        let mut spheres = Vec::new();
        let mut runs: Vec<Run> = Vec::new();
        for group in &assembly.groups {
            let part = PARTS.iter().position(|&part| part == group.part).unwrap_or(0);
            let (first_index, index_count) = library.ranges[part];
            let finish = finish(group.part);
            let first = self.commands.len() as u32;
            match runs.last_mut() {
                Some(run) if run.finish == finish => run.count += 1,
                _ => runs.push(Run { finish, first, count: 1 }),
            }
            self.commands.push(vk::DrawIndexedIndirectCommand {
                index_count,
                instance_count: group.places.len() as u32,
                first_index,
                vertex_offset: 0,
                first_instance: self.instances.len() as u32,
            });
            let (centre, radius) = library.bounds[part];
            for &(place, color) in &group.places {
                let scale = [place.x_axis, place.y_axis, place.z_axis].map(Vec4::length);
                spheres.push((place.transform_point3(centre), radius * scale.into_iter().fold(0.0, f32::max)));
                self.instances.push(Instance { rows: [place.row(0), place.row(1), place.row(2)], color });
            }
        }
        let centre = spheres.iter().map(|s| s.0).sum::<Vec3>() / spheres.len().max(1) as f32;
        let radius = spheres.iter().map(|s| s.0.distance(centre) + s.1).fold(0.0, f32::max);
        self.assemblies.push(AssemblyDraws { runs, catalogue: assembly.catalogue, centre, radius });
    }
}

fn instance_input() -> VertexInput {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    VertexInput {
        stride: size_of::<Instance>() as u32,
        rate: vk::VertexInputRate::INSTANCE,
        attributes: (0..4).map(|i| (2 + i, format, i * 16)).collect(),
    }
}

fn raw(gpu: &Gpu, size: vk::Extent2D) -> Result<Raw> {
    let color = ImageDesc::new(HALF_FLOAT, size.width, size.height, ImageUse::COLOR_ATTACHMENT | ImageUse::SAMPLED);
    let color = gpu.image(color)?;
    let formats = [vk::Format::D32_SFLOAT, vk::Format::D16_UNORM];
    let format = gpu.first_format(&formats, Feature::DEPTH_STENCIL_ATTACHMENT | Feature::SAMPLED_IMAGE)?;
    let usage = ImageUse::DEPTH_STENCIL_ATTACHMENT | ImageUse::SAMPLED;
    let depth = gpu.image(ImageDesc::new(format, size.width, size.height, usage))?;
    let pass = gpu.pass(&PassDesc::simple(
        Attachment::stored(&color, ImageLayout::SHADER_READ_ONLY_OPTIMAL),
        Some(Attachment::stored(&depth, ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL)),
    ))?;
    let target = gpu.target(&pass, &[color.view, depth.view], size)?;
    Ok(Raw { color, depth, pass, target })
}

/// The pass that adds ambient occlusion.
struct Occlusion {
    layout: Layout,
    pipeline: Pipeline,
    set: Set,
}

fn occlusion(gpu: &Gpu, stage: &Stage, raw: &Raw, canvas: &Canvas) -> Result<Occlusion> {
    let image = Kind::COMBINED_IMAGE_SAMPLER;
    let layout = Stage::layout(gpu, &[(1, image, Stages::FRAGMENT), (2, image, Stages::FRAGMENT)])?;
    let desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("occlusion.frag"), &layout, &canvas.pass);
    let pipeline = gpu.graphics(&desc)?;
    let nearest = SamplerDesc { filter: vk::Filter::NEAREST, ..SamplerDesc::CLAMP };
    let sampler = gpu.sampler(&nearest)?;
    let binds = [Bind::Texture(raw.color.view, sampler), Bind::DepthTexture(raw.depth.view, sampler)];
    let set = stage.set(gpu, &layout, &binds)?;
    Ok(Occlusion { layout, pipeline, set })
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::new(gpu, OUTPUT, size, false, ImageLayout::TRANSFER_SRC_OPTIMAL)?;
    let (raw, stage, detail) = (raw(gpu, size)?, Stage::new(gpu)?, detail(size));
    let layout = Stage::layout(gpu, &[(1, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)])?;
    let side = (256.0 * detail).max(64.0) as u32;
    let wear = gpu.texture(vk::Format::R8G8B8A8_UNORM, side, side, &textures::wear(side), true)?;
    let set = stage.set(gpu, &layout, &[Bind::Texture(wear.view, gpu.sampler(&SamplerDesc::REPEAT)?)])?;
    let mut pipelines = Vec::new();
    for finish in FINISHES {
        let frag: &[u8] = match finish {
            Finish::Painted => spv!("painted.frag"),
            Finish::Metal => spv!("steel.frag"),
            Finish::Hall => spv!("hall.frag"),
            Finish::Lamp => spv!("lamp.frag"),
        };
        let mut desc = GraphicsDesc::new(spv!("part.vert"), frag, &layout, &raw.pass);
        desc.inputs = vec![Vertex::input_short(), instance_input()];
        desc.depth = (true, true);
        pipelines.push(gpu.graphics(&desc)?);
    }
    // Circles of small pictures have fewer segments.
    let library = library(((16.0 * detail) as u32).max(6) & !1);
    let mut lists = Lists::default();
    plan::hall().iter().for_each(|assembly| lists.add(assembly, &library));
    let batch = match (gpu.features().draw_indirect_first_instance, gpu.features().multi_draw_indirect) {
        (vk::FALSE, _) => 0,
        (_, vk::FALSE) => 1,
        _ => gpu.limits().max_draw_indirect_count,
    };
    let words: Vec<[u32; 5]> = lists
        .commands
        .iter()
        .map(|c| [c.index_count, c.instance_count, c.first_index, c.vertex_offset as u32, c.first_instance])
        .collect();
    Ok(Box::new(Hall {
        occlusion: occlusion(gpu, &stage, &raw, &canvas)?,
        vertices: gpu.static_buffer(&library.mesh.vertices, Usage::VERTEX_BUFFER)?,
        indices: gpu.static_buffer(&library.mesh.indices, Usage::INDEX_BUFFER)?,
        instances: gpu.static_buffer(&lists.instances, Usage::VERTEX_BUFFER)?,
        indirect: gpu.static_buffer(&words, Usage::INDIRECT_BUFFER)?,
        commands: lists.commands,
        assemblies: lists.assemblies,
        frustum: Frustum::new(Mat4::IDENTITY),
        raw,
        canvas,
        stage,
        layout,
        set,
        pipelines,
        batch,
    }))
}

impl Hall {
    fn draw(&self, cmd: &Commands<'_>, run: &Run, catalogue: bool) {
        if catalogue && self.batch > 0 {
            let mut first = run.first;
            while first < run.first + run.count {
                let count = self.batch.min(run.first + run.count - first);
                cmd.draw_indexed_indirect_from(&self.indirect, first, count);
                first += count;
            }
            return;
        }
        for command in &self.commands[run.first as usize..(run.first + run.count) as usize] {
            cmd.draw_indexed_range(command);
        }
    }
}

impl Scene for Hall {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let eye = Vec3::new(0.45, 3.9, 3.2 - time * 0.4);
        let at = eye + Vec3::new(-0.10, -0.16, -1.0);
        let view = View::new(eye, at, 1.05, self.canvas.aspect(), time);
        self.frustum = Frustum::new(view.matrix());
        self.stage.update(gpu, &view)
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.raw.target, &[clear_color(Vec3::splat(0.3)), clear_depth()]);
        cmd.graphics_set(&self.layout, &self.set);
        cmd.vertices(&[&self.vertices, &self.instances]);
        cmd.indices(&self.indices);
        let mut bound = None;
        for assembly in self.assemblies.iter().filter(|assembly| self.frustum.sees(assembly.centre, assembly.radius)) {
            for run in &assembly.runs {
                if bound != Some(run.finish) {
                    cmd.pipeline(&self.pipelines[run.finish as usize]);
                    bound = Some(run.finish);
                }
                self.draw(cmd, run, assembly.catalogue);
            }
        }
        cmd.end();
        let Occlusion { layout, pipeline, set } = &self.occlusion;
        super::canvas::draw_fullscreen(cmd, &self.canvas.target, pipeline, layout, set);
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
