//! Metal under an evening sky: a cube map drawn face by face, its mip chain made by blits,
//! reflected by roughness.

use super::stage::{Object, Stage, View, object_pipeline, place};
use super::{Canvas, Scene, clear_color, clear_depth, spv};
use crate::error::Result;
use crate::geometry::Mesh;
use crate::gpu::{
    Attachment, Bind, Commands, Gpu, GraphicsDesc, Image, ImageDesc, Layout, Pass, PassDesc, Pipeline, SamplerDesc,
    Set, Target, Use,
};
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use vk::{DescriptorType as Kind, ImageLayout, ImageUsageFlags as ImageUse, ShaderStageFlags as Stages};

/// Side of a face in texels: 256 has 9 levels.
const SIDE: u32 = 256;

/// Right, down and forward of each face, as Vulkan's cube map face selection has them.
const FACES: [[Vec3; 3]; 6] = [
    [Vec3::NEG_Z, Vec3::NEG_Y, Vec3::X],
    [Vec3::Z, Vec3::NEG_Y, Vec3::NEG_X],
    [Vec3::X, Vec3::Z, Vec3::Y],
    [Vec3::X, Vec3::NEG_Z, Vec3::NEG_Y],
    [Vec3::X, Vec3::NEG_Y, Vec3::Z],
    [Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z],
];

/// The push constants of `sky.frag` and `skybox.frag`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Rays {
    right: Vec4,
    down: Vec4,
    forward: Vec4,
}

impl Rays {
    fn new([right, down, forward]: [Vec3; 3], time: f32) -> Rays {
        Rays { right: right.extend(0.0), down: down.extend(0.0), forward: forward.extend(time) }
    }
}

struct Chrome {
    canvas: Canvas,
    stage: Stage,
    sky: Image,
    faces: (Layout, Pipeline, Vec<Target>),
    skybox: (Layout, Pipeline, Set),
    metal: (Layout, Pipeline, Set),
    objects: Vec<Object>,
    rays: Rays,
    time: f32,
}

/// The cube image of the sky, with a target for each face.
struct SkyFaces {
    image: Image,
    pass: Pass,
    targets: Vec<Target>,
}

fn sky_faces(gpu: &Gpu) -> Result<SkyFaces> {
    let usage = ImageUse::COLOR_ATTACHMENT | ImageUse::SAMPLED | ImageUse::TRANSFER_SRC | ImageUse::TRANSFER_DST;
    let desc = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, SIDE, SIDE, usage).with_mips().as_cube();
    let sky = gpu.image(desc)?;
    let attachment = Attachment::stored(&sky, ImageLayout::TRANSFER_SRC_OPTIMAL).overwritten();
    let pass = gpu.pass(&PassDesc::simple(attachment, None))?;
    let extent = vk::Extent2D { width: SIDE, height: SIDE };
    let target = |face| gpu.target(&pass, &[gpu.layer_view(&sky, 0, face)?], extent);
    let targets = (0..6).map(target).collect::<Result<_>>()?;
    Ok(SkyFaces { image: sky, pass, targets })
}

fn objects(gpu: &Gpu) -> Result<Vec<Object>> {
    let (gold, steel) = (Vec4::new(1.0, 0.76, 0.38, 1.0), Vec4::new(0.92, 0.94, 0.97, 1.0));
    let (copper, violet) = (Vec4::new(0.96, 0.56, 0.42, 1.0), Vec4::new(0.60, 0.52, 0.90, 1.0));
    let (ball, ring) = (Mesh::sphere(72, 36).upload(gpu)?, Mesh::torus(1.0, 0.34, 96, 32).upload(gpu)?);
    let knot = Object::new(gpu, &Mesh::knot(2.0, 3.0, 0.26, 320, 28), Mat4::IDENTITY, steel)?;
    let rough = |x: f32| Vec4::new(x, 0.0, 0.0, 0.0);
    let at = |x, y, z, r| place(Vec3::new(x, y, z), Vec3::splat(r), 0.0);
    Ok(vec![
        knot,
        Object::of(ring, Mat4::IDENTITY, copper).looking(rough(0.28)),
        Object::of(ball, at(2.35, -0.15, 0.35, 0.78), gold).looking(rough(0.12)),
        Object::of(ball, at(1.35, -0.78, 1.35, 0.30), violet).looking(rough(0.45)),
        Object::of(ball, at(-1.2, -0.82, 1.5, 0.26), gold).looking(rough(0.7)),
    ])
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let SkyFaces { image: sky, pass: face_pass, targets } = sky_faces(gpu)?;
    let push = Some((Stages::FRAGMENT, size_of::<Rays>() as u32));
    let bare = gpu.layout(&[], push)?;
    let paint = gpu.graphics(&GraphicsDesc::new(spv!("fullscreen.vert"), spv!("sky.frag"), &bare, &face_pass))?;
    let texture = Bind::Texture(sky.view, gpu.sampler(&SamplerDesc::CLAMP)?);

    let layout = gpu.layout(&[&[(0, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)]], push)?;
    let desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("skybox.frag"), &layout, &canvas.pass);
    let pipeline = gpu.graphics(&desc)?;
    let set = gpu.set(&layout, 0, &[texture])?;
    let skybox = (layout, pipeline, set);

    let (stage, layout) =
        (Stage::new(gpu)?, Stage::layout(gpu, &[(1, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)])?);
    let pipeline = gpu.graphics(&object_pipeline(spv!("chrome.frag"), &layout, &canvas.pass))?;
    let set = stage.set(gpu, &layout, &[texture])?;
    let metal = (layout, pipeline, set);
    let rays = Rays::new(FACES[0], 0.0);
    let (faces, objects) = ((bare, paint, targets), objects(gpu)?);
    Ok(Box::new(Chrome { canvas, stage, sky, faces, skybox, metal, objects, rays, time: 0.0 }))
}

impl Chrome {
    /// Draws the six faces, then halves them down to one texel.
    fn record_sky(&self, cmd: &Commands<'_>) {
        let (layout, pipeline, targets) = &self.faces;
        for (target, axes) in targets.iter().zip(FACES) {
            cmd.begin(target, &[clear_color(Vec3::ZERO)]);
            cmd.pipeline(pipeline);
            cmd.push(layout, &Rays::new(axes, self.time));
            cmd.draw(3, 1);
            cmd.end();
        }
        cmd.level_barrier(&self.sky, 0, Use::TransferRead, Use::TransferRead);
        for level in 1..self.sky.desc.mips {
            cmd.level_barrier(&self.sky, level, Use::Undefined, Use::TransferWrite);
            cmd.blit_down(&self.sky, level);
            cmd.level_barrier(&self.sky, level, Use::TransferWrite, Use::TransferRead);
        }
        cmd.image_barrier(&self.sky, Use::TransferRead, Use::Sample);
    }
}

impl Scene for Chrome {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        self.time = time;
        let knot =
            Mat4::from_rotation_y(time * 0.4) * Mat4::from_rotation_x(1.25) * Mat4::from_scale(Vec3::splat(0.92));
        self.objects[0].push.model = Mat4::from_translation(Vec3::Y * 0.25) * knot;
        let ring = Mat4::from_rotation_y(0.6 + time * 0.3) * Mat4::from_rotation_x(1.1);
        self.objects[1].push.model =
            Mat4::from_translation(Vec3::new(-2.35, 0.1, 0.2)) * ring * Mat4::from_scale(Vec3::splat(0.62));
        let view = View::new(Vec3::new(0.5, 0.45, 5.2), Vec3::new(0.0, 0.15, 0.0), 0.74, self.canvas.aspect(), time);
        self.rays = Rays::new(view.rays(), time);
        self.stage.update(gpu, &view)
    }

    fn record(&self, cmd: &Commands<'_>) {
        self.record_sky(cmd);
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        let (layout, pipeline, set) = &self.skybox;
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        cmd.push(layout, &self.rays);
        cmd.draw(3, 1);
        let (layout, pipeline, set) = &self.metal;
        cmd.pipeline(pipeline);
        cmd.graphics_set(layout, set);
        self.objects.iter().for_each(|object| object.draw(cmd, layout));
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
