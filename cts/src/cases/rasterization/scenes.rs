//! Random scenes of triangles of all sizes, states, queries and side effects. A model applies one
//! triangle after the other, sample by sample.

mod model;

use ash::vk;
use half::f16;

use self::model::{Model, Sample};
use crate::Entry;
use crate::cases::support::conditions::need_samples;
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{COLOR, Draw, Kind, Part, State, TRIANGLES, Target, render_parts};

static EARLY: &[u8] = shader!("early.frag");
static LATE: &[u8] = shader!("late.frag");
static HOLES: &[u8] = shader!("holes.frag");
static HOLES_QUADS: &[u8] = shader!("holes_quads.frag");
static HOLES_EARLY: &[u8] = shader!("holes_early.frag");
static OWN_DEPTH: &[u8] = shader!("own_depth.frag");
static OWN_DEPTH_HOLES: &[u8] = shader!("own_depth_holes.frag");
static OWN_MASK: &[u8] = shader!("own_mask.frag");
static BY_SAMPLE: &[u8] = shader!("by_sample.frag");
static LONG: &[u8] = shader!("long.frag");
static LONG_QUADS: &[u8] = shader!("long_quads.frag");

/// A group of scenes.
struct Group {
    name: &'static str,
    /// Section of the specification.
    section: &'static str,
    count: u64,
    scene: fn(u64) -> Scene,
    draw: fn(&Gpu, &Scene) -> Case,
}

const GROUPS: [Group; 12] = [
    Group::new("random", ORDER, 200, Scene::random),
    Group::new("crowded", ORDER, 40, Scene::crowded),
    Group::new("long", ORDER, 40, Scene::long),
    Group::new("holes", ORDER, 40, Scene::with_holes),
    Group::new("late", ORDER, 60, Scene::tested_late),
    Group::new("samples", "Sample Shading", 40, Scene::by_samples),
    Group::new("wide", ORDER, 40, Scene::wide),
    Group::new("narrow", ORDER, 56, Scene::narrow),
    Group::new("masked", "Multisample Coverage", 50, Scene::masked),
    Group::new("walls", ORDER, 72, Scene::with_walls),
    Group { draw: draw_twice, ..Group::new("gradients", POLYGONS, 40, Scene::with_gradients) },
    Group { draw: draw_whole_and_in_pieces, ..Group::new("meshes", POLYGONS, 40, Scene::of_meshes) },
];

const ORDER: &str = "Rasterization Order";
const POLYGONS: &str = "Basic Polygon Rasterization";

/// Cells of a mesh along an axis, of two triangles each.
const CELLS: usize = 12;

/// Triangles in each part of a split mesh: too few for a device to gather statistics.
const PIECE: usize = 30;

/// Pixels that hold all corners of a crowded scene.
const CROWD: [u32; 2] = [40, 24];

/// Pixels of a row of the target: no multiple of a tile of any size.
const WIDTH: u32 = 150;

const HEIGHT: u32 = 100;

/// Width and height of the viewport. Corners lie on the grid exactly.
const VIEW: f32 = 128.0;

/// Grid units of a pixel.
const UNITS: i64 = 256;

/// Corners lie on multiples of this number of units.
const STEP: i64 = 16;

/// Work of a fragment shader beside writing the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Plain,
    /// A long computation.
    Long,
    /// A long computation with derivatives.
    LongQuads,
    /// Counts its runs, with early tests.
    Early,
    /// Counts its runs and discards every second pixel, with late tests.
    Late,
    /// Discards every second pixel, with late tests.
    Holes,
    /// Discards every second pixel and takes derivatives, with late tests.
    HolesQuads,
    /// Discards every second pixel, with early tests.
    HolesEarly,
    /// Writes its own depth.
    OwnDepth,
    /// Writes its own depth and discards every second pixel.
    OwnDepthHoles,
    /// Keeps few of the covered samples.
    OwnMask,
    /// Runs for each sample, with different colours.
    BySample,
}

impl Program {
    fn discards(self) -> bool {
        matches!(self, Self::Late | Self::Holes | Self::HolesQuads | Self::HolesEarly | Self::OwnDepthHoles)
    }

    /// Returns the depth that it writes to a pixel.
    fn own_depth(self, [x, y]: [u32; 2]) -> Option<f64> {
        let writes = matches!(self, Self::OwnDepth | Self::OwnDepthHoles);
        writes.then(|| f64::from((x * 3 + y * 5) % 64) / 64.0)
    }

    /// Returns the samples of a pixel that it keeps.
    fn mask(self, [x, y]: [u32; 2]) -> u32 {
        if self == Self::OwnMask { 1 << ((x + y) % 4) | 1 << ((x * 3 + y) % 16) } else { u32::MAX }
    }
}

/// Returns the colour of a sample. With sample shading, components are rotated by the sample's
/// number.
fn turned(program: Program, color: [u8; 4], sample: usize) -> [u8; 4] {
    let turn = if program == Program::BySample { sample } else { 0 };
    [0, 1, 2, 3].map(|component: usize| color[(component + turn) % 4])
}

#[derive(Debug, Clone)]
struct Triangle {
    /// In grid units.
    corners: [[i64; 2]; 3],
    depths: [f32; 3],
    color: [u8; 4],
}

/// One draw.
#[derive(Debug, Clone)]
struct Layer {
    triangles: Vec<Triangle>,
    program: Program,
    test: bool,
    write: bool,
    op: vk::CompareOp,
    blend: Option<vk::BlendOp>,
    mask: u32,
    /// Samples that may be covered.
    samples: u32,
    /// Alpha decides the number of samples that stay.
    alpha_to_coverage: bool,
    cull: vk::CullModeFlags,
    front: vk::FrontFace,
    /// `[x0, y0, x1, y1]`, without the last ones.
    scissor: [u32; 4],
    counts: bool,
    /// It begins another render pass.
    breaks: bool,
    /// Depth of a clear before that pass.
    clear: Option<f32>,
}

#[derive(Debug, Clone)]
struct Scene {
    layers: Vec<Layer>,
    samples: u32,
    color: vk::Format,
    depth: vk::Format,
    clear_depth: f32,
}

impl Group {
    const fn new(name: &'static str, section: &'static str, count: u64, scene: fn(u64) -> Scene) -> Self {
        Self { name, section, count, scene, draw }
    }
}

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    for Group { name, section, count, scene, draw } in GROUPS {
        for seed in 0..count {
            let run = move |gpu: &Gpu| {
                let scene = scene(seed);
                scene.need(gpu)?;
                draw(gpu, &scene)
            };
            cases.push(Entry::new(format!("scenes.{name}.seed{seed}"), section, run));
        }
    }
}

/// Returns the corners of a triangle near the first pixels of the target, within `size` pixels.
fn corners(numbers: &mut Random, area: [u32; 2], size: u32) -> [[i64; 2]; 3] {
    let steps = |pixels: u32| pixels * (UNITS / STEP) as u32;
    let origin = area.map(|side| i64::from(numbers.below(steps(side + size))) - i64::from(steps(size)));
    let mut corner = || origin.map(|start| (start + i64::from(numbers.below(steps(size) + 1))) * STEP);
    [corner(), corner(), corner()]
}

/// Returns a mesh of cells of some size with slightly moved corners. The triangles of a cell may
/// share a colour, and some cells overlap.
fn mesh(numbers: &mut Random) -> Vec<Triangle> {
    let [width, height] = [0; 2].map(|_| i64::from(2 + numbers.below(10)) * UNITS);
    let origin = [0; 2].map(|_| i64::from(numbers.below(20 * (UNITS / STEP) as u32)) * STEP);
    let (alike, turned) = (!numbers.one_in(3), numbers.one_in(2));
    let mut point = |column: usize, row: usize| {
        let mut moved = |side: i64| i64::from(numbers.below((side / 3 / STEP) as u32)) * STEP;
        let place = [moved(width) + width * column as i64, moved(height) + height * row as i64];
        ([0, 1].map(|axis: usize| origin[axis] + place[axis]), numbers.below(1024) as f32 / 1024.0)
    };
    let points: Vec<Vec<_>> = (0..=CELLS).map(|row| (0..=CELLS).map(|column| point(column, row)).collect()).collect();
    let mut triangles = Vec::new();
    for (row, column) in (0..CELLS).flat_map(|row| (0..CELLS).map(move |column| (row, column))) {
        let [a, b, c, d] = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[x, y]| points[row + y][column + x]);
        let halves = match (numbers.one_in(6), turned) {
            (true, _) => [[a, b, c], [a, b, d]],
            (false, true) => [[a, b, d], [a, d, c]],
            (false, false) => [[a, b, c], [d, c, b]],
        };
        let mut color = [0; 4].map(|_| numbers.below(256) as u8);
        for corners in halves {
            let corners_of = corners.map(|(place, _)| place);
            triangles.push(Triangle { corners: corners_of, depths: corners.map(|(_, depth)| depth), color });
            color = if alike { color } else { color.map(|component| component ^ 0x55) };
        }
    }
    triangles
}

impl Scene {
    /// Returns a random scene. Seeds differ in the mix of states. Opaque layers in one direction
    /// enable most optimizations.
    fn random(seed: u64) -> Self {
        let mut numbers = Random::new(seed);
        let plain = seed.is_multiple_of(3);
        let op = numbers.pick(&[vk::CompareOp::LESS, vk::CompareOp::GREATER_OR_EQUAL, vk::CompareOp::LESS_OR_EQUAL]);
        let layers = (0..4 + numbers.below(8)).map(|_| Layer::random(&mut numbers, plain, op)).collect();
        Self {
            layers,
            samples: numbers.pick(&[1, 1, 1, 4, 4, 2, 8, 16]),
            color: vk::Format::R8G8B8A8_UNORM,
            depth: numbers.pick(&[vk::Format::D32_SFLOAT, vk::Format::D32_SFLOAT, vk::Format::D16_UNORM]),
            clear_depth: if op == vk::CompareOp::GREATER_OR_EQUAL { 0.0 } else { 1.0 },
        }
    }

    /// Returns a random scene with many tiny triangles in a small part of the target.
    fn crowded(seed: u64) -> Self {
        let (mut scene, mut numbers) = (Self::random(seed), Random::new(seed));
        scene.samples = 1;
        for layer in &mut scene.layers {
            let (size, slopes) = (numbers.pick(&[2, 4, 5]), numbers.one_in(2));
            layer.counts &= numbers.one_in(4);
            layer.triangles = (0..300).map(|_| Triangle::random(&mut numbers, CROWD, (size, slopes))).collect();
        }
        scene
    }

    /// Returns a random scene of long shaders and one sample.
    fn long(seed: u64) -> Self {
        Self::of(seed, &[Program::Long, Program::Long, Program::LongQuads, Program::Plain], &[3, 8, 20, 40, 60])
    }

    /// Returns a random scene of shaders that discard fragments.
    fn with_holes(seed: u64) -> Self {
        let programs = [Program::Holes, Program::HolesQuads, Program::HolesEarly, Program::Plain, Program::Long];
        Self::of(seed, &programs, &[3, 8, 20, 60, 300])
    }

    /// Returns a random scene of shaders with late tests, with one or more samples.
    fn tested_late(seed: u64) -> Self {
        let late = [Program::OwnDepth, Program::OwnDepthHoles, Program::OwnMask, Program::Holes];
        let others = [Program::Holes, Program::HolesQuads, Program::HolesEarly, Program::Plain];
        let mut scene = Self::of(seed, &[late, others].concat(), &[3, 8, 20, 60, 300]);
        scene.samples = [1, 4, 1, 2, 4, 8][seed as usize % 6];
        scene
    }

    /// Returns a random scene with several samples, of shaders that run for each sample, and of
    /// others.
    fn by_samples(seed: u64) -> Self {
        let programs = [Program::BySample, Program::BySample, Program::BySample, Program::Plain, Program::Holes];
        let mut scene = Self::of(seed, &programs, &[3, 8, 20, 60, 300]);
        scene.samples = [4, 2, 4, 8][seed as usize % 4];
        scene
    }

    /// Returns a random scene with several samples, in a float format.
    fn wide(seed: u64) -> Self {
        let programs = [Program::Plain, Program::Plain, Program::Holes, Program::OwnMask];
        let mut scene = Self::of(seed, &programs, &[3, 20, 60, 100]);
        (scene.samples, scene.color) = ([4, 2, 8, 16, 1][seed as usize % 5], vk::Format::R32G32B32A32_SFLOAT);
        scene.without_sums()
    }

    /// Returns a random scene with one or more samples, in formats with texels smaller than a
    /// word.
    fn narrow(seed: u64) -> Self {
        use vk::Format as F;
        let short = [Program::Plain, Program::Plain, Program::Holes, Program::HolesQuads, Program::OwnMask];
        let long = [Program::Plain, Program::Long, Program::LongQuads, Program::Holes, Program::OwnDepth];
        let mut scene = Self::of(seed, if seed.is_multiple_of(3) { &long } else { &short }, &[3, 8, 20, 60, 300]);
        scene.samples = [1, 4, 1, 2, 1, 8, 16][seed as usize % 7];
        scene.color = [F::R8_UNORM, F::R8G8_UNORM, F::R16_UNORM, F::R16_SFLOAT][seed as usize % 4];
        if scene.color == F::R16_SFLOAT { scene.without_sums() } else { scene }
    }

    /// Returns a random scene with one or more samples, some of them masked or selected by alpha.
    fn masked(seed: u64) -> Self {
        let programs = [Program::Plain, Program::Plain, Program::Holes, Program::HolesEarly, Program::OwnMask];
        let programs = [&programs[..], &[Program::OwnDepth, Program::Long]].concat();
        let (mut scene, mut numbers) = (Self::of(seed, &programs, &[3, 8, 20, 60, 300]), Random::new(seed));
        scene.samples = [4, 2, 8, 16, 1][seed as usize % 5];
        for layer in &mut scene.layers {
            let some = numbers.below(1 << 16);
            layer.samples = numbers.pick(&[u32::MAX, u32::MAX, 0b0110_1101_1001_0101, some]);
            layer.alpha_to_coverage = numbers.one_in(2);
        }
        scene
    }

    /// Returns a random scene whose draws begin with a triangle over all or most of the target. It
    /// may pass all tests against cleared depths, so a device may write it without reading the
    /// cleared contents.
    fn with_walls(seed: u64) -> Self {
        let programs = [Program::Plain, Program::Plain, Program::Plain, Program::Long, Program::Early, Program::Holes];
        let programs = [&programs[..], &[Program::OwnDepth, Program::BySample]].concat();
        let (mut scene, mut numbers) = (Self::random(seed), Random::new(seed));
        scene.samples = [1, 1, 4, 1, 2, 1][seed as usize % 6];
        scene.depth = [vk::Format::D32_SFLOAT, vk::Format::D16_UNORM][seed as usize / 6 % 2];
        for (number, layer) in scene.layers.iter_mut().enumerate() {
            if number > 0 && numbers.one_in(2) {
                continue;
            }
            layer.program = numbers.pick(&programs);
            layer.samples = if numbers.one_in(6) { 0b0101 } else { u32::MAX };
            let op = numbers.pick(&[layer.op, layer.op, vk::CompareOp::ALWAYS]);
            (layer.test, layer.op, layer.cull) = (!numbers.one_in(6), op, vk::CullModeFlags::NONE);
            // Far beyond the target, or so that some tiles are cut.
            let first = numbers.pick(&[-300, -300, 20]) * UNITS;
            let slopes = numbers.one_in(2);
            let mut wall = Triangle::random(&mut numbers, [WIDTH, HEIGHT], (3, slopes));
            wall.corners = [[first, -300 * UNITS], [900 * UNITS, -300 * UNITS], [first, 900 * UNITS]];
            layer.triangles.insert(0, wall);
        }
        scene
    }

    /// Returns the scene without additive blending, since sums of floats are not clamped.
    fn without_sums(mut self) -> Self {
        let sums = self.layers.iter_mut().filter(|layer| layer.blend == Some(vk::BlendOp::ADD));
        sums.for_each(|layer| layer.blend = Some(vk::BlendOp::MAX));
        self
    }

    /// Returns a random scene of every shader, with one or more samples.
    fn with_gradients(seed: u64) -> Self {
        let programs = [Program::Plain, Program::Plain, Program::Long, Program::LongQuads, Program::OwnDepth];
        let mut scene = Self::of(seed, &programs, &[3, 3, 8, 20, 60]);
        scene.samples = [1, 1, 4][seed as usize % 3];
        scene
    }

    /// Returns a random scene of meshes.
    fn of_meshes(seed: u64) -> Self {
        let programs =
            [Program::Plain, Program::Plain, Program::Plain, Program::Holes, Program::OwnDepth, Program::Long];
        let mut scene = Self::of(seed, &programs, &[3]);
        let mut numbers = Random::new(seed);
        scene.samples = [1, 1, 1, 4][seed as usize % 4];
        scene.layers.truncate(3);
        for layer in &mut scene.layers {
            layer.triangles = mesh(&mut numbers);
        }
        // The first layer is visible.
        let first = &mut scene.layers[0];
        (first.op, first.mask, first.cull) = (vk::CompareOp::ALWAYS, 15, vk::CullModeFlags::NONE);
        first.scissor = [0, 0, WIDTH, HEIGHT];
        scene
    }

    /// Returns the scene with draws of a few triangles each.
    fn in_pieces(&self) -> Self {
        let layers = self.layers.iter().flat_map(|layer| {
            let pieces = layer.triangles.chunks(PIECE).enumerate();
            pieces.map(|(number, piece)| Layer {
                triangles: piece.to_vec(),
                breaks: layer.breaks && number == 0,
                ..layer.clone()
            })
        });
        Self { layers: layers.collect(), ..self.clone() }
    }

    fn target(&self) -> Target {
        Target {
            size: [WIDTH, HEIGHT],
            format: self.color,
            samples: vk::SampleCountFlags::from_raw(self.samples),
            depth: self.depth,
            clear_depth: vk::ClearDepthStencilValue { depth: self.clear_depth, stencil: 0 },
            ..Target::default()
        }
    }

    /// Returns a random scene of some shaders and sizes, and of one sample.
    fn of(seed: u64, programs: &[Program], sizes: &[u32]) -> Self {
        let (mut scene, mut numbers) = (Self::random(seed), Random::new(seed));
        scene.samples = 1;
        for layer in &mut scene.layers {
            let (size, slopes) = (numbers.pick(sizes), numbers.one_in(2));
            let area = if numbers.one_in(2) { CROWD } else { [WIDTH, HEIGHT] };
            layer.program = numbers.pick(programs);
            layer.counts &= numbers.one_in(4);
            layer.triangles = (0..100).map(|_| Triangle::random(&mut numbers, area, (size, slopes))).collect();
        }
        scene
    }

    /// Ends a case unless the device has the features of the scene.
    fn need(&self, gpu: &Gpu) -> Case {
        let has = |programs: &[Program]| self.layers.iter().any(|layer| programs.contains(&layer.program));
        if has(&[Program::Holes, Program::HolesQuads, Program::HolesEarly, Program::OwnDepthHoles]) {
            gpu.need(vk::EXT_SHADER_DEMOTE_TO_HELPER_INVOCATION_NAME)?;
        }
        if has(&[Program::BySample]) && gpu.features.sample_rate_shading == 0 {
            return Err(Outcome::NotSupported("sampleRateShading".into()));
        }
        need_samples(gpu, self.samples)
    }

    /// Returns the draws by render passes.
    fn parts<'a>(&self, draws: &'a [Draw]) -> Vec<Part<'a>> {
        let breaks = |number: &usize| *number > 0 && self.layers[*number].breaks;
        let starts: Vec<usize> = (0..draws.len()).filter(|number| *number == 0 || breaks(number)).collect();
        let part = |(index, &start): (usize, &usize)| {
            let end = starts.get(index + 1).copied().unwrap_or(draws.len());
            let clear = self.layers[start].clear.filter(|_| start > 0);
            Part { draws: &draws[start..end], clear, ..Part::default() }
        };
        starts.iter().enumerate().map(part).collect()
    }
}

impl Layer {
    fn random(numbers: &mut Random, plain: bool, op: vk::CompareOp) -> Self {
        let size = numbers.pick(&[3, 6, 12, 24, 60, 300]);
        let count = 1 + numbers.below(if size > 30 { 6 } else { 60 });
        let slopes = numbers.one_in(2);
        let mut scissor = [0, 0, WIDTH, HEIGHT];
        if numbers.one_in(4) {
            let [x, y] = [numbers.below(WIDTH), numbers.below(HEIGHT)];
            scissor = [x, y, x + 1 + numbers.below(WIDTH - x), y + 1 + numbers.below(HEIGHT - y)];
        }
        let often = if plain { 12 } else { 4 };
        Self {
            triangles: (0..count).map(|_| Triangle::random(numbers, [WIDTH, HEIGHT], (size, slopes))).collect(),
            program: if numbers.one_in(often) {
                numbers.pick(&[Program::Early, Program::Late])
            } else {
                Program::Plain
            },
            test: !numbers.one_in(often),
            write: !numbers.one_in(often),
            op: if numbers.one_in(often) { vk::CompareOp::from_raw(numbers.below(8) as i32) } else { op },
            blend: numbers.one_in(often).then(|| numbers.pick(&[vk::BlendOp::ADD, vk::BlendOp::MAX, vk::BlendOp::MIN])),
            mask: if numbers.one_in(often) { numbers.below(16) } else { 15 },
            samples: u32::MAX,
            alpha_to_coverage: false,
            cull: numbers.pick(&[vk::CullModeFlags::NONE, vk::CullModeFlags::NONE, vk::CullModeFlags::BACK]),
            front: numbers.pick(&[vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE]),
            scissor,
            counts: numbers.one_in(4),
            breaks: numbers.one_in(4),
            clear: numbers.one_in(4).then(|| numbers.below(65) as f32 / 64.0),
        }
    }

    fn draw(&self, gpu: &Gpu) -> Result<Draw, Outcome> {
        self.draw_with(gpu, 1.0, |color, _| color)
    }

    /// Returns draws with the given w, and with colours by corner.
    fn draw_with(&self, gpu: &Gpu, w: f32, color_at: impl Fn([u8; 4], usize) -> [u8; 4]) -> Result<Draw, Outcome> {
        let flag = |value: bool| if value { vk::TRUE } else { vk::FALSE };
        let mut state = State { vertex: TRIANGLES, ..State::default() };
        state.fragment = match self.program {
            Program::Plain => COLOR,
            Program::Long => LONG,
            Program::LongQuads => LONG_QUADS,
            Program::Early => EARLY,
            Program::Late => LATE,
            Program::Holes => HOLES,
            Program::HolesQuads => HOLES_QUADS,
            Program::HolesEarly => HOLES_EARLY,
            Program::OwnDepth => OWN_DEPTH,
            Program::OwnDepthHoles => OWN_DEPTH_HOLES,
            Program::OwnMask => OWN_MASK,
            Program::BySample => BY_SAMPLE,
        };
        state.depth_stencil.depth_test_enable = flag(self.test);
        state.depth_stencil.depth_write_enable = flag(self.write);
        state.depth_stencil.depth_compare_op = self.op;
        (state.sample_mask, state.alpha_to_coverage) = (self.samples, self.alpha_to_coverage);
        state.blend.color_write_mask = vk::ColorComponentFlags::from_raw(self.mask);
        if let Some(op) = self.blend {
            let one = vk::BlendFactor::ONE;
            state.blend.blend_enable = vk::TRUE;
            (state.blend.color_blend_op, state.blend.alpha_blend_op) = (op, op);
            (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) = (one, one);
            (state.blend.src_alpha_blend_factor, state.blend.dst_alpha_blend_factor) = (one, one);
        }
        (state.raster.cull_mode, state.raster.front_face) = (self.cull, self.front);
        state.viewport = vk::Viewport { width: VIEW, height: VIEW, max_depth: 1.0, ..Default::default() };
        let [x0, y0, x1, y1] = self.scissor;
        state.scissor = vk::Rect2D {
            offset: vk::Offset2D { x: x0 as i32, y: y0 as i32 },
            extent: vk::Extent2D { width: x1 - x0, height: y1 - y0 },
        };
        let mut vertices = Vec::new();
        for Triangle { corners, depths, color } in &self.triangles {
            for (number, ([x, y], depth)) in corners.iter().zip(depths).enumerate() {
                let place = |units: i64| units as f32 / (UNITS as f32 * VIEW / 2.0) - 1.0;
                vertices.push([place(*x), place(*y), *depth, 1.0].map(|coordinate| coordinate * w));
                vertices.push(color_at(*color, number).map(|code| f32::from(code) / 255.0));
            }
        }
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(&vertices)?, count: vertices.len() as u32 / 2 };
        let mut draw = Draw { kind, ..Draw::rect(state, [0.0; 4], [0.0; 4]) };
        if self.counts {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
            // SAFETY: the info is valid.
            draw.query = Some(unsafe { gpu.device.create_query_pool(&info, None) }?);
        }
        if matches!(self.program, Program::Early | Program::Late) {
            draw.storage = Some(gpu.buffer(4)?);
        }
        Ok(draw)
    }
}

impl Triangle {
    /// Returns a triangle with its corners in an area, of a size in pixels, whose depth may slope.
    fn random(numbers: &mut Random, area: [u32; 2], (size, slopes): (u32, bool)) -> Self {
        let depth = numbers.below(65) as f32 / 64.0;
        let other = |numbers: &mut Random| if slopes { numbers.below(65) as f32 / 64.0 } else { depth };
        let depths = [depth, other(numbers), other(numbers)];
        let color = [0; 4].map(|_: u8| numbers.below(256) as u8);
        Self { corners: corners(numbers, area, size), depths, color }
    }
}

pub(in crate::cases) fn counted(gpu: &Gpu, pool: vk::QueryPool) -> Result<u64, vk::Result> {
    let mut count = [0u64];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: the pool has one query, which ended.
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut count, flags) }?;
    Ok(count[0])
}

/// Returns the components of pixels as 8-bit codes.
fn codes(format: vk::Format, words: &[[u8; 4]]) -> Vec<Vec<u8>> {
    use vk::Format as F;
    let code = |value: f32| (value * 255.0).round() as u8;
    let bytes = words.as_flattened();
    let pairs = || bytes.as_chunks::<2>().0.iter();
    match format {
        F::R32G32B32A32_SFLOAT => {
            let components = |words: &[[u8; 4]; 4]| words.map(|word| code(f32::from_le_bytes(word))).to_vec();
            words.as_chunks::<4>().0.iter().map(components).collect()
        }
        F::R16_SFLOAT => pairs().map(|&pair| vec![code(f16::from_le_bytes(pair).to_f32())]).collect(),
        F::R16_UNORM => pairs().map(|&pair| vec![code(f32::from(u16::from_le_bytes(pair)) / 65535.0)]).collect(),
        F::R8G8_UNORM => pairs().map(|pair| pair.to_vec()).collect(),
        F::R8_UNORM => bytes.iter().map(|&code| vec![code]).collect(),
        _ => words.iter().map(|components| components.to_vec()).collect(),
    }
}

fn draw(gpu: &Gpu, scene: &Scene) -> Case {
    let draws = scene.layers.iter().map(|layer| layer.draw(gpu)).collect::<Result<Vec<_>, _>>()?;
    let pixels = codes(scene.color, &render_parts(gpu, &scene.target(), &scene.parts(&draws))?);
    let depth = f64::from(scene.clear_depth);
    let start = Sample { color: [0; 4], depth, exact: true, unsure: false, depth_unsure: false };
    let mut model = Model { scene, samples: vec![start; (WIDTH * HEIGHT * scene.samples) as usize] };
    for (number, (layer, draw)) in scene.layers.iter().zip(&draws).enumerate() {
        if let (true, Some(depth)) = (layer.breaks && number > 0, layer.clear) {
            for sample in &mut model.samples {
                (sample.depth, sample.exact, sample.depth_unsure) = (f64::from(depth), true, false);
            }
        }
        let effects = model.layer(layer);
        if let Some(pool) = draw.query {
            let passed = counted(gpu, pool)?;
            check(effects.passed.holds(passed), || format!("draw {number}: {passed} passed, {:?}", effects.passed))?;
        }
        let runs = draw.storage.as_ref().map(Buffer::words).map(|words| u64::from(words[0]));
        let holds = runs.is_none_or(|runs| effects.runs.holds(runs));
        check(holds, || format!("draw {number}, {:?}: {runs:?} runs, {:?}", layer.program, effects.runs))?;
    }
    for (index, (got, samples)) in pixels.iter().zip(model.samples.chunks(scene.samples as usize)).enumerate() {
        let (x, y) = (index as u32 % WIDTH, index as u32 / WIDTH);
        let sum = |component: usize| samples.iter().map(|sample| u32::from(sample.color[component])).sum::<u32>();
        let near = got.iter().enumerate().all(|(component, &code)| {
            let average = sum(component) as f32 / scene.samples as f32;
            (f32::from(code) - average).abs() <= if scene.samples == 1 { 0.0 } else { 1.0 }
        });
        let unsure = samples.iter().any(|sample| sample.unsure);
        check(near || unsure, || format!("({x}, {y}): {got:?} instead of {samples:?}"))?;
    }
    Ok(())
}

/// Returns the colour of a corner with gradients in all but the last component.
fn bent([red, green, blue, alpha]: [u8; 4], corner: usize) -> [u8; 4] {
    let turned = |component: u8, by: u8| component.wrapping_add((corner as u8).wrapping_mul(by));
    [turned(red, 85), turned(green, 150), turned(blue, 40), alpha]
}

/// Draws a scene with gradients and the given w.
fn render_bent(gpu: &Gpu, scene: &Scene, w: f32) -> Result<Vec<[u8; 4]>, Outcome> {
    let draws = scene.layers.iter().map(|layer| layer.draw_with(gpu, w, bent)).collect::<Result<Vec<_>, _>>()?;
    render_parts(gpu, &scene.target(), &scene.parts(&draws))
}

/// Draws a scene with gradients once with all w equal to 1, which needs no perspective, and once
/// with 2, which loses no bits. The pictures must be equal.
fn draw_twice(gpu: &Gpu, scene: &Scene) -> Case {
    same_pictures(&render_bent(gpu, scene, 1.0)?, &render_bent(gpu, scene, 2.0)?)
}

/// Draws a scene as it is, then with gradients, both whole and in parts. The pictures must be
/// equal.
fn draw_whole_and_in_pieces(gpu: &Gpu, scene: &Scene) -> Case {
    draw(gpu, scene)?;
    let pieces = scene.in_pieces();
    [1.0, 2.0].iter().try_for_each(|&w| same_pictures(&render_bent(gpu, scene, w)?, &render_bent(gpu, &pieces, w)?))
}

fn same_pictures(plain: &[[u8; 4]], other: &[[u8; 4]]) -> Case {
    let differs = plain.iter().zip(other).position(|(a, b)| a != b);
    let told =
        |at: usize| format!("({}, {}): {:?}, not {:?}", at as u32 % WIDTH, at as u32 / WIDTH, plain[at], other[at]);
    check(differs.is_none(), || differs.map(told).unwrap_or_default())?;
    check(plain.iter().any(|texel| *texel != plain[0]), || "nothing was drawn".into())
}
