//! Rasterization order: overlapping layers of all types give the result of one layer after the
//! other.

use ash::vk;

use crate::Entry;
use crate::cases::support::conditions::holds;
use crate::harness::{Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{COLOR, Draw, Kind, ROUTED, SIZE, State, TRIANGLES, Target, render};

static DEPTH: &[u8] = shader!("depth.frag");
/// Fragment shaders that write their colour like `COLOR`, but count as long. The second one needs
/// whole quads.
static LOOP: &[u8] = shader!("loop_color.frag");
static SLOPE: &[u8] = shader!("slope_color.frag");

/// Side of the target of the case with known counts, two tiles of Vitric.
const TWO_TILES: u32 = 128;

/// Draws of a random case.
const LAYERS: usize = 24;

/// A rectangle of one colour.
#[derive(Debug, Clone, Copy)]
struct Layer {
    /// Pixels `[x0, y0, x1, y1]`, without the last ones.
    rect: [u32; 4],
    color: [u8; 4],
    /// In 64ths.
    depth: u32,
    op: vk::CompareOp,
    test: bool,
    write: bool,
    blend: bool,
    mask: u32,
    /// The fragment shader, unless it replaces the depth.
    program: &'static [u8],
    /// The fragment shader replaces the depth.
    replaces: bool,
    /// Where the rectangle touches the target's edges, it reaches far beyond them.
    reaches: bool,
}

const OPAQUE: Layer = Layer {
    rect: [0, 0, SIZE, SIZE],
    color: [255; 4],
    depth: 32,
    op: vk::CompareOp::LESS,
    test: true,
    write: true,
    blend: false,
    mask: 15,
    program: COLOR,
    replaces: false,
    reaches: false,
};

/// A layer without depth test, whose fragments may wait on the scoreboard.
const LONG: Layer = Layer { test: false, program: LOOP, ..OPAQUE };

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let section = "Rasterization Order";
    let red = [255, 0, 0, 255];
    let green = [0, 255, 0, 128];
    let blue = [0, 0, 255, 255];
    let layer = |color, depth| Layer { color, depth, ..OPAQUE };
    let half = |layer: Layer| Layer { rect: [0, 0, SIZE / 2, SIZE], ..layer };
    let fixed: [(&str, Vec<Layer>); 8] = [
        ("far_then_near", vec![layer(red, 48), layer(blue, 16)]),
        ("near_then_far", vec![layer(red, 16), layer(blue, 48)]),
        // The last layer would hide the first, but lies behind the second, through which the first
        // is visible.
        ("hidden_behind_blended", vec![layer(red, 48), Layer { blend: true, ..layer(green, 8) }, layer(blue, 32)]),
        ("other_components", vec![layer(red, 48), Layer { mask: 4, ..layer(blue, 16) }]),
        ("part_of_it", vec![layer(red, 48), half(layer(blue, 16))]),
        ("without_write", vec![layer(red, 48), Layer { write: false, ..layer(green, 16) }, layer(blue, 32)]),
        (
            "other_direction",
            vec![
                layer(red, 48),
                Layer { op: vk::CompareOp::GREATER, ..layer(green, 56) },
                Layer { op: vk::CompareOp::ALWAYS, ..half(layer(blue, 60)) },
                layer(red, 52),
            ],
        ),
        ("replaced_depth", vec![layer(red, 32), Layer { replaces: true, ..layer(blue, 48) }, layer(green, 40)]),
    ];
    for (name, layers) in fixed {
        cases.push(Entry::new(format!("order.layers.{name}"), section, move |gpu| draw(gpu, &layers)));
    }
    // `vitric/tests/scoreboard.rs` counts the fragments of these cases.
    for (name, layers) in superseded() {
        cases.push(Entry::new(format!("order.superseded.{name}"), section, move |gpu| draw(gpu, &layers)));
    }
    cases.push(Entry::new("order.batches.counted", section, draw_batches));
    cases.push(Entry::new("order.layers.routed", section, draw_routed));
    for seed in 0..24 {
        let run = move |gpu: &Gpu| draw(gpu, &random(seed));
        cases.push(Entry::new(format!("order.random.seed{seed}"), section, run));
        let run = move |gpu: &Gpu| draw(gpu, &random_long(seed));
        cases.push(Entry::new(format!("order.long.seed{seed}"), section, run));
    }
}

/// Returns layers that supersede fragments of earlier ones. A group has 8x8 pixels.
fn superseded() -> [(&'static str, Vec<Layer>); 7] {
    let (half, group) = ([0, 0, SIZE / 2, SIZE], SIZE / 2);
    let at = |x: u32, y: u32| [x * group, y * group, (x + 1) * group, (y + 1) * group];
    let red = Layer { color: [255, 0, 0, 255], ..LONG };
    let blue = Layer { color: [0, 0, 255, 255], rect: half, ..LONG };
    let green = Layer { color: [0, 255, 0, 128], rect: at(1, 1), program: COLOR, ..LONG };
    let blended = Layer { blend: true, ..green };
    [
        ("small_by_small", vec![red, blue, Layer { rect: at(0, 0), ..red }]),
        ("large_by_small", vec![Layer { reaches: true, ..red }, blue]),
        ("quads_by_quads", vec![Layer { program: SLOPE, ..red }, Layer { program: SLOPE, ..blue }]),
        ("around_blended", vec![red, blended, blue]),
        ("around_short", vec![red, green, blue]),
        ("below_blended", vec![red, Layer { rect: at(0, 0), ..blended }, blue]),
        ("around_unwritten", vec![red, Layer { color: [0, 255, 0, 128], mask: 0, ..LONG }, blue]),
    ]
}

/// Returns random layers, most of which have a long program or reach beyond the target.
fn random_long(seed: u64) -> Vec<Layer> {
    let mut numbers = Random::new(seed + 1000);
    let long = |layer: Layer| Layer {
        program: [COLOR, LOOP, SLOPE][numbers.below(3) as usize],
        reaches: numbers.below(3) == 0,
        ..layer
    };
    random(seed).into_iter().map(long).collect()
}

/// Draws a red triangle over the target, a green one whose vertices select the layer, and a blue
/// one over the upper left corner.
fn draw_routed(gpu: &Gpu) -> Case {
    let red = [1.0, 0.0, 0.0, 1.0];
    let green = [0.0, 1.0, 0.0, 1.0];
    let blue = [0.0, 0.0, 1.0, 1.0];
    let triangle = |vertex: &'static [u8], size: f32, color: [f32; 4]| {
        // The fourth coordinate of a routed vertex is the number of its layer.
        let w = if std::ptr::eq(vertex, TRIANGLES) { 1.0 } else { 0.0 };
        let corners = [[-1.0, -1.0], [size - 1.0, -1.0], [-1.0, size - 1.0]].map(|[x, y]| [[x, y, 0.5, w], color]);
        let kind = Kind::VertexBuffer { buffer: gpu.buffer_with(corners.as_flattened())?, count: 3 };
        Ok(Draw { kind, ..Draw::rect(State { vertex, ..State::default() }, [0.0; 4], [0.0; 4]) })
    };
    let draws = [triangle(TRIANGLES, 4.0, red), triangle(ROUTED, 4.0, green), triangle(TRIANGLES, 1.0, blue)];
    let draws = draws.into_iter().collect::<Result<Vec<_>, Outcome>>()?;
    let got = render(gpu, &Target::default(), &draws)?;
    for (pixel, color) in [(0, [0, 0, 255, 255]), (got.len() - 1, [0, 255, 0, 255])] {
        check(got[pixel] == color, || format!("pixel {pixel}: {:?} instead of {color:?}", got[pixel]))?;
    }
    Ok(())
}

/// Draws a red rectangle over the target, a nearer green one in the first tile, and a
/// blue one that lies behind both.
///
/// `vitric/tests/tile_counters.rs` asserts the counters of this case.
fn draw_batches(gpu: &Gpu) -> Case {
    let size = TWO_TILES * 3 / 8;
    let target = Target { size: [TWO_TILES; 2], depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let layers = [
        ([1.0, 1.0], [1.0, 0.0, 0.0, 1.0], 0.5),
        ([-0.25, -0.25], [0.0, 1.0, 0.0, 1.0], 0.25),
        ([1.0, 1.0], [0.0, 0.0, 1.0, 1.0], 0.75),
    ];
    let draws = layers.map(|([right, bottom], color, depth)| {
        let mut state = State::default();
        (state.viewport.width, state.viewport.height) = (TWO_TILES as f32, TWO_TILES as f32);
        state.scissor.extent = vk::Extent2D { width: TWO_TILES, height: TWO_TILES };
        state.depth_stencil.depth_test_enable = vk::TRUE;
        state.depth_stencil.depth_write_enable = vk::TRUE;
        state.depth_stencil.depth_compare_op = vk::CompareOp::LESS;
        Draw::rect(state, [-1.0, -1.0, right, bottom], color).at(depth)
    });
    for (index, got) in (0..).zip(render(gpu, &target, &draws)?) {
        let (x, y) = (index % TWO_TILES, index / TWO_TILES);
        let expected = if x < size && y < size { [0, 255, 0, 255] } else { [255, 0, 0, 255] };
        check(got == expected, || format!("({x}, {y}): {got:?} instead of {expected:?}"))?;
    }
    Ok(())
}

fn random(seed: u64) -> Vec<Layer> {
    let mut numbers = Random::new(seed);
    let mut below = |limit: u32| numbers.below(limit);
    // Seeds differ in the mix of layers. Opaque layers in one direction enable most optimizations.
    let (plain, ops) = (seed % 3, [vk::CompareOp::LESS, vk::CompareOp::GREATER_OR_EQUAL, vk::CompareOp::LESS_OR_EQUAL]);
    let mut layer = || {
        let [x, y] = [below(2) * below(12), below(2) * below(12)];
        let mut end = |start: u32| if below(2) == 0 { SIZE } else { start + 1 + below(SIZE - start) };
        let rect = [x, y, end(x), end(y)];
        let color = [0, 1, 2].map(|_| below(256) as u8);
        let op = match below(6) {
            0 if plain > 0 => vk::CompareOp::from_raw(below(8) as i32),
            _ => ops[(seed / 3 % 3) as usize],
        };
        Layer {
            rect,
            color: [color[0], color[1], color[2], [0, 128, 255][below(3) as usize]],
            depth: below(65),
            op,
            test: below(12) != 0,
            write: below(8) != 0,
            blend: plain > 1 && below(5) == 0,
            mask: if plain > 0 && below(8) == 0 { below(2) * below(16) } else { 15 },
            replaces: plain > 0 && below(10) == 0,
            ..OPAQUE
        }
    };
    (0..LAYERS).map(|_| layer()).collect()
}

impl Layer {
    fn draw(&self) -> Draw {
        let flag = |value: bool| if value { vk::TRUE } else { vk::FALSE };
        let mut state = State::default();
        state.depth_stencil.depth_test_enable = flag(self.test);
        state.depth_stencil.depth_write_enable = flag(self.write);
        state.depth_stencil.depth_compare_op = self.op;
        state.blend.color_write_mask = vk::ColorComponentFlags::from_raw(self.mask);
        state.blend.blend_enable = flag(self.blend);
        state.blend.src_color_blend_factor = vk::BlendFactor::SRC_ALPHA;
        state.blend.dst_color_blend_factor = vk::BlendFactor::ONE_MINUS_SRC_ALPHA;
        state.blend.src_alpha_blend_factor = vk::BlendFactor::ONE;
        state.fragment = if self.replaces { DEPTH } else { self.program };
        let reach = if self.reaches { 8.0 } else { 0.0 };
        let place = |pixel: u32| match pixel {
            0 => -1.0 - reach,
            SIZE => 1.0 + reach,
            pixel => pixel as f32 / (SIZE as f32 / 2.0) - 1.0,
        };
        let color = self.color.map(|code| f32::from(code) / 255.0);
        Draw::rect(state, self.rect.map(place), color).at(self.depth as f32 / 64.0)
    }

    /// Draws the layer over a pixel: its colour and depth.
    fn cover(&self, x: u32, (color, depth): (&mut [f32; 4], &mut f32)) {
        let own = match self.replaces {
            false => self.depth as f32 / 64.0,
            true if x < 8 => 0.1,
            true => 0.9,
        };
        if self.test && !holds(self.op, own, *depth) {
            return;
        }
        if self.test && self.write {
            *depth = own;
        }
        let alpha = f32::from(self.color[3]) / 255.0;
        for (component, stored) in color.iter_mut().enumerate().filter(|(component, _)| self.mask >> component & 1 != 0)
        {
            let source = f32::from(self.color[component]);
            *stored = if self.blend && component < 3 { source * alpha + *stored * (1.0 - alpha) } else { source };
        }
    }
}

fn draw(gpu: &Gpu, layers: &[Layer]) -> Case {
    let target = Target { depth: vk::Format::D32_SFLOAT, ..Target::default() };
    let draws: Vec<Draw> = layers.iter().map(Layer::draw).collect();
    let pixels = render(gpu, &target, &draws)?;
    for (index, got) in (0..).zip(&pixels) {
        let (x, y) = (index % SIZE, index / SIZE);
        let (mut color, mut depth) = ([0.0; 4], 1.0);
        for layer in layers {
            let [x0, y0, x1, y1] = layer.rect;
            if (x0..x1).contains(&x) && (y0..y1).contains(&y) {
                layer.cover(x, (&mut color, &mut depth));
            }
        }
        let near = got.iter().zip(color).all(|(&got, expected)| (f32::from(got) - expected).abs() <= 3.0);
        check(near, || format!("({x}, {y}): {got:?} instead of {color:?}"))?;
    }
    Ok(())
}
