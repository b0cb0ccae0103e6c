//! A city street at eye level: thousands of objects, most of them behind facades.
//!
//! Objects are drawn as a scene graph holds them: block by block, and each with its own pipeline,
//! material and push constants. Objects outside of the view are omitted, but hidden objects are
//! drawn.

mod buildings;
mod plan;
pub(super) mod props;

use super::shadow::{ShadowMap, shadow_map};
use super::stage::{Frustum, Push, Stage, View};
use super::{Canvas, Scene, clear_color, clear_depth, detail, spv};
use crate::error::Result;
use crate::geometry::{GpuMesh, Mesh, Vertex};
use crate::gpu::{Bind, Commands, Gpu, GraphicsDesc, Image, Layout, Pass, Pipeline, SamplerDesc, Set};
use crate::textures;
use ash::vk;
use buildings::{Building, BuildingKind};
use glam::{Mat4, Vec3, Vec4};
use plan::CityObject;
use vk::{DescriptorType as Descriptor, ShaderStageFlags as Stages};

/// Towards the sun, as in `sunlight.glsl`.
const SUN: Vec3 = Vec3::new(0.62, 0.58, 0.53);

/// Function that makes the texels of a square texture with a side in texels.
type TextureMaker = fn(u32) -> Vec<u8>;

/// Materials by their number: their texture, and their pipeline.
const MATERIALS: [(TextureMaker, Shading); 11] = [
    (textures::plaster, Shading::Solid),
    (textures::bricks, Shading::Solid),
    (textures::stone, Shading::Solid),
    (textures::slates, Shading::Solid),
    (textures::asphalt, Shading::Solid),
    (textures::paving, Shading::Solid),
    (textures::bark, Shading::Solid),
    (textures::enamel, Shading::Solid),
    (textures::enamel, Shading::Paint),
    (textures::enamel, Shading::Glass),
    (textures::twig, Shading::Leaves),
];
const PLASTER: usize = 0;
const BRICK: usize = 1;
const STONE: usize = 2;
const SLATE: usize = 3;
const ASPHALT: usize = 4;
const PAVING: usize = 5;
const BARK: usize = 6;
const METAL: usize = 7;
const PAINT: usize = 8;
const GLASS: usize = 9;
const LEAVES: usize = 10;

/// Pipelines of materials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shading {
    Solid,
    Paint,
    Glass,
    Leaves,
}

/// A mesh with a material. An object consists of one or several parts.
struct Part {
    mesh: GpuMesh,
    centre: Vec3,
    radius: f32,
    material: usize,
    /// Colour of the part. None: the colour of the object.
    color: Option<Vec3>,
}

/// A draw of a part, with its bounding sphere in the world.
struct Object {
    part: usize,
    push: Push,
    centre: Vec3,
    radius: f32,
}

struct Street {
    canvas: Canvas,
    stage: Stage,
    map: ShadowMap,
    layout: Layout,
    sky: (Pipeline, Push),
    /// Pipelines by [`Shading`].
    pipelines: [Pipeline; 4],
    /// Pipelines of the shadow map: opaque objects, and leaves.
    casting: [Pipeline; 2],
    sets: Vec<Set>,
    /// Sets for the shadow map's pass, which cannot sample the map: opaque objects, and leaves.
    casting_sets: [Set; 2],
    casting_layout: Layout,
    parts: Vec<Part>,
    objects: Vec<Object>,
    frustum: Frustum,
    light: Frustum,
}

/// All parts, and the numbers of the parts of each object.
struct Parts<'a> {
    gpu: &'a Gpu,
    detail: f32,
    all: Vec<Part>,
    known: Vec<(CityObject, Vec<usize>)>,
}

impl Parts<'_> {
    fn add(&mut self, mesh: &Mesh, material: usize, color: Option<Vec3>) -> Result<usize> {
        let (centre, radius) = mesh.bounds();
        self.all.push(Part { mesh: mesh.upload(self.gpu)?, centre, radius, material, color });
        Ok(self.all.len() - 1)
    }

    /// Returns the numbers of an object's parts. The first call for an object makes its parts.
    fn of(&mut self, thing: CityObject) -> Result<Vec<usize>> {
        if let Some((_, parts)) = self.known.iter().find(|(known, _)| *known == thing) {
            return Ok(parts.clone());
        }
        let sides = (12.0 * self.detail) as u32;
        let parts = match thing {
            CityObject::Building(number) => {
                let made = Building::new(&BuildingKind::new(number));
                let walls = if number % 3 == 0 { BRICK } else { PLASTER };
                let paint = [Vec3::new(0.9, 0.9, 0.86), Vec3::new(0.16, 0.2, 0.18), Vec3::new(0.3, 0.17, 0.1)];
                vec![
                    self.add(&made.walls, walls, None)?,
                    self.add(&made.stone, STONE, Some(Vec3::new(0.95, 0.92, 0.85)))?,
                    self.add(&made.joinery, METAL, Some(paint[number as usize % 3]))?,
                    self.add(&made.panes, GLASS, Some(Vec3::new(0.05, 0.06, 0.07)))?,
                    self.add(&made.roof, SLATE, Some(Vec3::ONE))?,
                ]
            }
            CityObject::Tree(number) => vec![
                self.add(&props::trunk(number), BARK, Some(Vec3::ONE))?,
                self.add(&props::crown(number, (260.0 * self.detail) as u32), LEAVES, None)?,
            ],
            CityObject::Car => {
                let made = props::car(sides);
                vec![
                    self.add(&made.body, PAINT, None)?,
                    self.add(&made.glass, GLASS, Some(Vec3::splat(0.02)))?,
                    self.add(&made.rubber, METAL, Some(Vec3::splat(0.03)))?,
                ]
            }
            single => {
                let material = match single {
                    CityObject::Road => ASPHALT,
                    CityObject::Pavement => PAVING,
                    _ => METAL,
                };
                vec![self.add(&plan::single(single, sides), material, None)?]
            }
        };
        self.known.push((thing, parts.clone()));
        Ok(parts)
    }
}

fn graphics(gpu: &Gpu, shading: Shading, layout: &Layout, pass: &Pass) -> Result<Pipeline> {
    let frag: &[u8] = match shading {
        Shading::Solid => spv!("masonry.frag"),
        Shading::Paint => spv!("paint.frag"),
        Shading::Glass => spv!("pane.frag"),
        Shading::Leaves => spv!("leaves.frag"),
    };
    let mut desc = GraphicsDesc::new(spv!("city.vert"), frag, layout, pass);
    desc.inputs = vec![Vertex::input_textured()];
    desc.depth = (true, true);
    if shading != Shading::Leaves {
        desc.cull = vk::CullModeFlags::BACK;
    }
    gpu.graphics(&desc)
}

fn casting(gpu: &Gpu, has_cutouts: bool, layout: &Layout, pass: &Pass) -> Result<Pipeline> {
    let mut desc = GraphicsDesc::new(spv!("cutout.vert"), spv!("cutout.frag"), layout, pass);
    let mut input = Vertex::input_textured();
    input.attributes.remove(1);
    desc.inputs = vec![input];
    if !has_cutouts {
        desc.vert = spv!("depth.vert");
        desc.frag = None;
        desc.inputs = vec![Vertex::input_position()];
        desc.cull = vk::CullModeFlags::BACK;
    }
    desc.depth = (true, true);
    desc.blends = Vec::new();
    desc.bias = Some((1.5, 2.5));
    gpu.graphics(&desc)
}

/// Returns the pipeline of the sky, which is drawn last, behind all objects.
fn sky(gpu: &Gpu, layout: &Layout, pass: &Pass) -> Result<Pipeline> {
    let mut desc = GraphicsDesc::new(spv!("fullscreen.vert"), spv!("daysky.frag"), layout, pass);
    desc.depth = (true, false);
    desc.depth_compare = vk::CompareOp::LESS_OR_EQUAL;
    gpu.graphics(&desc)
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let (stage, detail) = (Stage::new(gpu)?, detail(size));
    let map = shadow_map(gpu, (2048.0 * detail) as u32)?;
    let image = Descriptor::COMBINED_IMAGE_SAMPLER;
    let layout = Stage::layout(gpu, &[(1, image, Stages::FRAGMENT), (2, image, Stages::FRAGMENT)])?;
    let casting_layout = Stage::layout(gpu, &[(2, image, Stages::FRAGMENT)])?;
    let sampler = gpu.sampler(&SamplerDesc::REPEAT)?;
    let shadow = Bind::DepthTexture(map.image.view, map.sampler);
    let side = (256.0 * detail).max(64.0) as u32;
    let (mut sets, mut casting_sets) = (Vec::new(), Vec::new());
    for (paint, shading) in MATERIALS {
        let texture = gpu.texture(vk::Format::R8G8B8A8_SRGB, side, side, &paint(side), true)?;
        let texture = Bind::Texture(texture.view, sampler);
        sets.push(stage.set(gpu, &layout, &[shadow, texture])?);
        if casting_sets.is_empty() || shading == Shading::Leaves {
            casting_sets.push(stage.set(gpu, &casting_layout, &[texture])?);
        }
    }
    let shadings = [Shading::Solid, Shading::Paint, Shading::Glass, Shading::Leaves];
    let mut pipelines = Vec::new();
    for shading in shadings {
        pipelines.push(graphics(gpu, shading, &layout, &canvas.pass)?);
    }
    let mut parts = Parts { gpu, detail, all: Vec::new(), known: Vec::new() };
    let mut objects = Vec::new();
    let (columns, rows) = if detail < 1.0 { (1, 3) } else { (2, 5) };
    for item in plan::city(columns, rows) {
        for number in parts.of(item.thing)? {
            let part = &parts.all[number];
            let color = part.color.map_or(item.color, |color| color.extend(1.0));
            // The axis with the greatest scale determines the size of the bounding sphere.
            let scale = [item.model.x_axis, item.model.y_axis, item.model.z_axis].map(Vec4::length);
            let radius = part.radius * scale.into_iter().fold(0.0, f32::max);
            let centre = item.model.transform_point3(part.centre);
            let push = Push { model: item.model, color, look: Vec4::ZERO };
            objects.push(Object { part: number, push, centre, radius });
        }
    }
    Ok(Box::new(Street {
        sky: (sky(gpu, &layout, &canvas.pass)?, Push { model: Mat4::IDENTITY, color: Vec4::ONE, look: Vec4::ZERO }),
        pipelines: [pipelines[0], pipelines[1], pipelines[2], pipelines[3]],
        casting: [casting(gpu, false, &casting_layout, &map.pass)?, casting(gpu, true, &casting_layout, &map.pass)?],
        casting_sets: [casting_sets[0], casting_sets[1]],
        frustum: Frustum::new(Mat4::IDENTITY),
        light: Frustum::new(Mat4::IDENTITY),
        parts: parts.all,
        canvas,
        stage,
        map,
        layout,
        casting_layout,
        sets,
        objects,
    }))
}

/// Returns the matrix from world to the sun's clip space: a box ahead of the camera.
fn sun(eye: Vec3) -> Mat4 {
    let middle = Vec3::new(0.0, 8.0, eye.z - 44.0);
    let view = Mat4::look_at_rh(middle + SUN.normalize() * 120.0, middle, Vec3::Y);
    // Bottom and top are exchanged, because y points down in Vulkan's clip space. So faces keep
    // their winding.
    Mat4::orthographic_rh(-48.0, 48.0, 48.0, -48.0, 20.0, 220.0) * view
}

impl Street {
    fn draw_map(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.map.target, &[clear_depth()]);
        let mut bound = None;
        for object in self.objects.iter().filter(|object| self.light.sees(object.centre, object.radius)) {
            let part = &self.parts[object.part];
            let variant = usize::from(part.material == LEAVES);
            if bound != Some(variant) {
                cmd.pipeline(&self.casting[variant]);
                cmd.graphics_set(&self.casting_layout, &self.casting_sets[variant]);
                bound = Some(variant);
            }
            cmd.push(&self.casting_layout, &object.push);
            part.mesh.draw(cmd);
        }
        cmd.end();
    }
}

impl Scene for Street {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        // The viewer walks at 1.4 m/s.
        let eye = Vec3::new(-2.2, 1.68, 2.0 - time * 1.4);
        let at = eye + Vec3::new(0.16, 0.1, -1.0);
        let view = View { far: 700.0, light: sun(eye), ..View::new(eye, at, 1.0, self.canvas.aspect(), time) };
        let [right, down, forward] = view.rays().map(|ray| ray.extend(0.0));
        self.sky.1.model = Mat4::from_cols(right, down, forward, Vec4::W);
        self.frustum = Frustum::new(view.matrix());
        self.light = Frustum::new(view.light);
        self.stage.update(gpu, &view)
    }

    fn record(&self, cmd: &Commands<'_>) {
        self.draw_map(cmd);
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        let (mut shading, mut material) = (None, None);
        for object in self.objects.iter().filter(|object| self.frustum.sees(object.centre, object.radius)) {
            let part = &self.parts[object.part];
            let pipeline = MATERIALS[part.material].1;
            if shading != Some(pipeline) {
                cmd.pipeline(&self.pipelines[pipeline as usize]);
                shading = Some(pipeline);
            }
            if material != Some(part.material) {
                cmd.graphics_set(&self.layout, &self.sets[part.material]);
                material = Some(part.material);
            }
            cmd.push(&self.layout, &object.push);
            part.mesh.draw(cmd);
        }
        cmd.pipeline(&self.sky.0);
        cmd.graphics_set(&self.layout, &self.sets[PLASTER]);
        cmd.push(&self.layout, &self.sky.1);
        cmd.draw(3, 1);
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
