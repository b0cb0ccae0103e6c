//! An apothecary's window: hundreds of glass vessels, steam and dust. Blended and cut-out draws
//! alternate with opaque ones, in the order of a scene graph.

mod plan;
mod vessels;

use super::stage::{Push, Stage, View};
use super::street::props::crown;
use super::{Canvas, Scene, clear_color, clear_depth, detail, spv};
use crate::error::Result;
use crate::geometry::{GpuMesh, Mesh, Vertex};
use crate::gpu::{Bind, Blend, Commands, Gpu, GraphicsDesc, Image, Layout, Pass, Pipeline, SamplerDesc, Set};
use crate::textures;
use ash::vk;
use glam::{Mat4, Vec2, Vec3, Vec4};
use plan::{Exhibit, Node};
use vessels::{SHAPES, Shape};
use vk::{DescriptorType as Kind, ShaderStageFlags as Stages};

/// Pipelines of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// The window.
    Window,
    /// Opaque objects.
    Solid,
    /// Paper and leaves, whose shapes are cut out by discard.
    Cut,
    /// Far sides of glass, blended.
    FarGlass,
    /// Liquids and near sides of glass, blended.
    NearGlass,
    /// Steam, blended.
    Steam,
    /// Flames and dust, added to the colour behind them.
    Glow,
}

const LOOKS: [Look; 7] =
    [Look::Window, Look::Solid, Look::Cut, Look::FarGlass, Look::NearGlass, Look::Steam, Look::Glow];

/// Textures by number.
const TEXTURES: [fn(u32) -> Vec<u8>; 6] =
    [textures::boards, textures::enamel, textures::stone, textures::paper, textures::twig, textures::bark];
const BOARDS: usize = 0;
const ENAMEL: usize = 1;
const STONE: usize = 2;
const PAPER: usize = 3;
const TWIG: usize = 4;
const CORK: usize = 5;

/// Geometry of a draw.
#[derive(Clone, Copy)]
enum Shown {
    /// An indexed mesh.
    Mesh(GpuMesh),
    /// A number of particles. The vertex program derives each one from its instance's number.
    Particles(u32),
    /// A triangle over the whole picture.
    Screen,
}

struct Draw {
    look: Look,
    texture: usize,
    shown: Shown,
    push: Push,
}

struct Apothecary {
    canvas: Canvas,
    stage: Stage,
    layout: Layout,
    pipelines: Vec<Pipeline>,
    sets: Vec<Set>,
    draws: Vec<Draw>,
}

/// Meshes of a shape of vessel.
struct Vessel {
    shape: Shape,
    glass: GpuMesh,
    liquid: GpuMesh,
    stopper: GpuMesh,
    paper_label: GpuMesh,
}

struct Meshes {
    vessels: Vec<Vessel>,
    cube: GpuMesh,
    burner: GpuMesh,
    mortar: GpuMesh,
    candle: GpuMesh,
    balance: GpuMesh,
    pot: GpuMesh,
    leaves: GpuMesh,
}

impl Meshes {
    fn new(gpu: &Gpu, detail: f32) -> Result<Meshes> {
        let n = |full: f32| ((full * detail) as u32).max(8) & !1;
        let vessel = |shape: Shape| -> Result<Vessel> {
            let level = if shape == Shape::Bell { 0.02 } else { 0.58 };
            Ok(Vessel {
                shape,
                glass: shape.glass(n(40.0), n(48.0)).upload(gpu)?,
                liquid: shape.liquid(level, n(32.0), n(20.0)).upload(gpu)?,
                stopper: shape.stopper(n(20.0)).upload(gpu)?,
                paper_label: shape.paper_label(n(12.0)).upload(gpu)?,
            })
        };
        let mut cube = Mesh::default();
        cube.cuboid(Vec3::splat(-0.5), Vec3::splat(0.5));
        let mut pot = Mesh::default();
        pot.lathe(
            n(28.0),
            &[
                [0.0, 0.16],
                [0.09, 0.16],
                [0.1, 0.19],
                [0.115, 0.19],
                [0.115, 0.15],
                [0.1, 0.15],
                [0.075, 0.0],
                [0.0, 0.0],
            ]
            .map(Vec2::from),
        );
        // The plant is the crown of a tree, made smaller.
        let leaves = crown(7, (170.0 * detail) as u32)
            .moved(Mat4::from_scale(Vec3::splat(0.25)) * Mat4::from_translation(Vec3::Y * -4.4));
        Ok(Meshes {
            vessels: SHAPES.into_iter().map(vessel).collect::<Result<_>>()?,
            cube: cube.upload(gpu)?,
            burner: vessels::burner(n(24.0)).upload(gpu)?,
            mortar: vessels::mortar(n(40.0)).upload(gpu)?,
            candle: vessels::candle(n(28.0)).upload(gpu)?,
            balance: vessels::balance(n(28.0)).upload(gpu)?,
            pot: pot.upload(gpu)?,
            leaves: leaves.upload(gpu)?,
        })
    }
}

/// Returns the draws of a node.
fn draws(node: &Node, meshes: &Meshes) -> Vec<Draw> {
    let draw = |look, texture, shown, color: Vec4, kind: Vec4| Draw {
        look,
        texture,
        shown,
        push: Push { model: node.model, color, look: kind },
    };
    let solid = |mesh: GpuMesh, texture, gloss: f32| {
        vec![draw(Look::Solid, texture, Shown::Mesh(mesh), node.color, Vec4::new(gloss, 0.0, 0.0, 0.0))]
    };
    let particles = |look, kind: f32| {
        let count = node.color.w as u32;
        vec![draw(look, ENAMEL, Shown::Particles(count), node.color, Vec4::new(kind, 0.0, 0.0, 0.0))]
    };
    match node.thing {
        Exhibit::Window => vec![draw(Look::Window, ENAMEL, Shown::Screen, node.color, Vec4::ZERO)],
        Exhibit::Wood => solid(meshes.cube, BOARDS, 0.25),
        Exhibit::Burner | Exhibit::Balance => {
            solid(if node.thing == Exhibit::Burner { meshes.burner } else { meshes.balance }, ENAMEL, 1.0)
        }
        Exhibit::Mortar => solid(meshes.mortar, STONE, 0.4),
        Exhibit::Candle => solid(meshes.candle, ENAMEL, 0.3),
        Exhibit::Pot => solid(meshes.pot, STONE, 0.1),
        Exhibit::Leaves => vec![draw(Look::Cut, TWIG, Shown::Mesh(meshes.leaves), node.color, Vec4::Y)],
        Exhibit::Steam => particles(Look::Steam, 0.0),
        Exhibit::Flame => particles(Look::Glow, 1.0),
        Exhibit::Dust => particles(Look::Glow, 2.0),
        Exhibit::Vessel { shape, closed } => {
            let Some(vessel) = meshes.vessels.iter().find(|vessel| vessel.shape == shape) else { return Vec::new() };
            let clear = Vec4::new(0.86, 0.92, 0.92, 0.3);
            // Closed vessels are coloured glass, and open ones are clear with a coloured liquid.
            let (glass, liquid) =
                if closed { (node.color, node.color * Vec4::new(0.8, 0.7, 0.7, 1.4)) } else { (clear, node.color) };
            let cork = Vec4::new(0.9, 0.66, 0.42, 0.0);
            let mut all = Vec::new();
            if closed {
                all.push(draw(Look::Solid, CORK, Shown::Mesh(vessel.stopper), cork, Vec4::ZERO));
            }
            all.push(draw(Look::FarGlass, ENAMEL, Shown::Mesh(vessel.glass), glass, Vec4::ZERO));
            if shape != Shape::Bell {
                all.push(draw(Look::NearGlass, ENAMEL, Shown::Mesh(vessel.liquid), liquid, Vec4::X));
            }
            all.push(draw(Look::NearGlass, ENAMEL, Shown::Mesh(vessel.glass), glass, Vec4::ZERO));
            if closed {
                all.push(draw(Look::Cut, PAPER, Shown::Mesh(vessel.paper_label), Vec4::ONE, Vec4::ZERO));
            }
            all
        }
    }
}

fn pipeline(gpu: &Gpu, look: Look, layout: &Layout, pass: &Pass) -> Result<Pipeline> {
    let (vert, frag): (&[u8], &[u8]) = match look {
        Look::Window => (spv!("fullscreen.vert"), spv!("casement.frag")),
        Look::Solid => (spv!("city.vert"), spv!("still.frag")),
        Look::Cut => (spv!("city.vert"), spv!("cut.frag")),
        Look::FarGlass | Look::NearGlass => (spv!("city.vert"), spv!("vessel.frag")),
        Look::Steam => (spv!("mote.vert"), spv!("steam.frag")),
        Look::Glow => (spv!("mote.vert"), spv!("glow.frag")),
    };
    let mut desc = GraphicsDesc::new(vert, frag, layout, pass);
    if !matches!(look, Look::Window | Look::Steam | Look::Glow) {
        desc.inputs = vec![Vertex::input_textured()];
    }
    if matches!(look, Look::Steam | Look::Glow) {
        desc.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
    }
    desc.depth = (look != Look::Window, matches!(look, Look::Solid | Look::Cut));
    desc.cull = match look {
        Look::Solid | Look::NearGlass => vk::CullModeFlags::BACK,
        Look::FarGlass => vk::CullModeFlags::FRONT,
        _ => vk::CullModeFlags::NONE,
    };
    desc.blends = vec![match look {
        Look::FarGlass | Look::NearGlass | Look::Steam => Blend::Alpha,
        Look::Glow => Blend::Add,
        _ => Blend::Off,
    }];
    gpu.graphics(&desc)
}

/// Builds the scene.
pub fn build(gpu: &Gpu, size: vk::Extent2D) -> Result<Box<dyn Scene>> {
    let canvas = Canvas::output(gpu, size)?;
    let (stage, detail) = (Stage::new(gpu)?, detail(size));
    let layout = Stage::layout(gpu, &[(1, Kind::COMBINED_IMAGE_SAMPLER, Stages::FRAGMENT)])?;
    let sampler = gpu.sampler(&SamplerDesc::REPEAT)?;
    let side = (256.0 * detail).max(64.0) as u32;
    let (mut sets, mut pipelines) = (Vec::new(), Vec::new());
    for paint in TEXTURES {
        let texture = gpu.texture(vk::Format::R8G8B8A8_SRGB, side, side, &paint(side), true)?;
        sets.push(stage.set(gpu, &layout, &[Bind::Texture(texture.view, sampler)])?);
    }
    for look in LOOKS {
        pipelines.push(pipeline(gpu, look, &layout, &canvas.pass)?);
    }
    let meshes = Meshes::new(gpu, detail)?;
    let draws = plan::nodes().iter().flat_map(|node| draws(node, &meshes)).collect();
    Ok(Box::new(Apothecary { canvas, stage, layout, pipelines, sets, draws }))
}

impl Scene for Apothecary {
    fn update(&mut self, gpu: &Gpu, time: f32) -> Result<()> {
        let eye = Vec3::new(0.35 + 0.05 * time, 1.52, 2.75);
        let view = View::new(eye, Vec3::new(0.02, 1.36, 0.0), 0.76, self.canvas.aspect(), time);
        // The window's fragment program makes the ray of a pixel from these vectors.
        let [right, down, forward] = view.rays().map(|ray| ray.extend(0.0));
        if let Some(window) = self.draws.first_mut() {
            window.push.model = Mat4::from_cols(right, down, forward, Vec4::W);
        }
        self.stage.update(gpu, &view)
    }

    fn record(&self, cmd: &Commands<'_>) {
        cmd.begin(&self.canvas.target, &[clear_color(Vec3::ZERO), clear_depth()]);
        let (mut look, mut texture) = (None, None);
        for draw in &self.draws {
            if look != Some(draw.look) {
                cmd.pipeline(&self.pipelines[draw.look as usize]);
                look = Some(draw.look);
            }
            if texture != Some(draw.texture) {
                cmd.graphics_set(&self.layout, &self.sets[draw.texture]);
                texture = Some(draw.texture);
            }
            cmd.push(&self.layout, &draw.push);
            match draw.shown {
                Shown::Mesh(mesh) => mesh.draw(cmd),
                Shown::Particles(count) => cmd.draw(4, count),
                Shown::Screen => cmd.draw(3, 1),
            }
        }
        cmd.end();
    }

    fn output(&self) -> &Image {
        &self.canvas.color
    }
}
