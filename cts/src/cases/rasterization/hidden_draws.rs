//! Late draws that hide earlier ones, unless a draw between them depends on the earlier ones:
//! meshes of many triangles with walls behind and in front, in every order. A model applies one
//! draw after the other, pixel by pixel.
//!
//! Meshes are rectangles of cells whose edges lie on edges of pixels, and a cell has one depth. So
//! pixels have exact values.

use ash::vk;

use crate::Entry;
use crate::cases::support::conditions::{holds, need_samples};
use crate::harness::{Buffer, Case, Gpu, Outcome, check};
use crate::random::Random;
use crate::render::{COLOR, Draw, Kind, Part, State, TRIANGLES, Target, render_parts};

static HOLES: &[u8] = shader!("holes.frag");
static HOLES_EARLY: &[u8] = shader!("holes_early.frag");

const SIZE: [u32; 2] = [200, 136];
const SCENES: u64 = 120;
const SHARED: u64 = 20;

/// Copied depth in 1/64 of the first columns of pixels, and the number of these columns. Others
/// get the farthest depth.
const COPIED_DEPTH: (i32, u32) = (32, 96);

/// State with which a mesh is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Opaque and depth-tested.
    Opaque,
    /// Its colours are added.
    Added,
    /// It writes some components.
    Masked,
    /// It writes no depth.
    ReadOnly,
    /// It has no depth test.
    Anywhere,
    /// It writes depth alone.
    Unseen,
    /// Its program discards every other pixel.
    Holed,
    /// Its program discards every other pixel after the pixel's depth was written.
    HoledEarly,
    /// Its colours are added, and it writes no depth.
    Glass,
    /// Its program discards every other pixel, and it writes no depth.
    HoledReadOnly,
    /// It is drawn where its depth is stored already.
    Equal,
    /// It is drawn behind stored depths, and it writes no depth.
    Behind,
}

impl Look {
    fn writes_depth(self) -> bool {
        !matches!(self, Self::ReadOnly | Self::Glass | Self::HoledReadOnly | Self::Equal | Self::Behind)
    }

    fn has_holes(self) -> bool {
        matches!(self, Self::Holed | Self::HoledEarly | Self::HoledReadOnly)
    }

    fn adds(self) -> bool {
        matches!(self, Self::Added | Self::Glass)
    }
}

/// A mesh of cells.
#[derive(Debug, Clone)]
struct Mesh {
    /// First pixel.
    place: [u32; 2],
    cell: [u32; 2],
    /// Cells along each axis.
    cells: [u32; 2],
    /// Depth of the first column in 1/64, and the difference from column to column.
    depth: [i32; 2],
    color: [u8; 4],
    look: Look,
    /// `[x0, y0, x1, y1]`, without the last ones.
    scissor: [u32; 4],
    counts: bool,
    /// Its triangles are drawn from the last to the first.
    backwards: bool,
    /// Cells share corners, by indices.
    indexed: bool,
    /// It begins another render pass.
    breaks: bool,
}

#[derive(Debug, Clone)]
struct Scene {
    meshes: Vec<Mesh>,
    greater: bool,
    depth: vk::Format,
    samples: u32,
    /// The corners of all indexed meshes are in one buffer, and so are their indices.
    shares: bool,
    /// Before the last pass, depths are copied to the depth image ([`COPIED_DEPTH`]).
    copies: bool,
}

/// A mesh's position in the shared buffers: the first index, and the vertex offset.
#[derive(Clone, Copy)]
struct Shared {
    buffer: Buffer,
    indices: Buffer,
    first: (u32, i32),
}

/// Corners of meshes, as position and colour, and indices.
type Corners = (Vec<[[f32; 4]; 2]>, Vec<u32>);

cases!(append_cases);

fn append_cases(cases: &mut Vec<Entry>) {
    let chapter = "Rasterization Order";
    for seed in 0..SCENES {
        let run = move |gpu: &Gpu| draw(gpu, &Scene::random(seed));
        cases.push(Entry::new(format!("lookahead.random.seed{seed}"), chapter, run));
    }
    for seed in 0..SHARED {
        let run = move |gpu: &Gpu| draw(gpu, &Scene::shared(seed));
        cases.push(Entry::new(format!("lookahead.shared.seed{seed}"), chapter, run));
    }
    // The counts of hidden parts of these scenes are compared with exact numbers by
    // `vitric/tests/hidden.rs`.
    let hidden = [
        ("early", Scene::hidden_early()),
        ("small", Scene::hidden_small()),
        ("large", Scene::hidden_large()),
        ("copied", Scene::hidden_copied()),
        ("overwritten", Scene::hidden_overwritten()),
        ("before_receding", Scene::hidden_before_receding()),
        ("beside_reversed", Scene::hidden_beside_reversed()),
    ];
    for (name, scene) in hidden {
        cases.push(Entry::new(format!("hidden.exact.{name}"), chapter, move |gpu: &Gpu| draw(gpu, &scene)));
    }
    let looks = [
        ("opaque", Look::Opaque),
        ("added", Look::Added),
        ("masked", Look::Masked),
        ("read_only", Look::ReadOnly),
        ("anywhere", Look::Anywhere),
        ("unseen", Look::Unseen),
        ("holed", Look::Holed),
        ("holed_early", Look::HoledEarly),
        ("glass", Look::Glass),
        ("holed_read_only", Look::HoledReadOnly),
        ("equal", Look::Equal),
        ("behind", Look::Behind),
    ];
    for (name, look) in looks {
        // The draw between the hidden one and the wall, the hidden one, and the hidden one behind
        // a draw that the wall must not skip.
        let scenes = [
            (name.to_owned(), [Look::Opaque, look]),
            (format!("hidden_{name}"), [look, Look::Opaque]),
            (format!("hidden_{name}_added"), [look, Look::Added]),
        ];
        for (name, looks) in scenes {
            for (format, depth) in [("d16", vk::Format::D16_UNORM), ("d32", vk::Format::D32_SFLOAT)] {
                for greater in [false, true] {
                    let scene = Scene { greater, depth, ..Scene::between(looks) };
                    let name = format!("lookahead.{name}.{format}{}", if greater { "_greater" } else { "" });
                    cases.push(Entry::new(name, chapter, move |gpu: &Gpu| draw(gpu, &scene)));
                }
            }
        }
    }
}

impl Mesh {
    /// Returns a wall of one cell.
    fn wall(depth: i32, color: [u8; 4]) -> Self {
        let scissor = [0, 0, SIZE[0], SIZE[1]];
        Self {
            place: [0, 0],
            cell: SIZE,
            cells: [1, 1],
            depth: [depth, 0],
            color,
            look: Look::Opaque,
            scissor,
            counts: false,
            backwards: false,
            indexed: false,
            breaks: false,
        }
    }

    /// Returns a cell of which the first triangle covers all pixels, drawn to a part of the target.
    fn screen([width, height]: [u32; 2]) -> Self {
        let cell = SIZE.map(|side| side * 2);
        Self { cell, scissor: [0, 0, width, height], ..Self::wall(32, [10, 20, 250, 255]) }
    }

    /// Returns a mesh of 32x16 cells of 4x4 pixels with a depth in 1/64.
    fn fine(depth: i32) -> Self {
        let color = [200, 40, depth as u8, 255];
        Self { place: [0, 0], cell: [4, 4], cells: [32, 16], depth: [depth, 0], color, ..Self::wall(0, [0; 4]) }
    }

    fn random(numbers: &mut Random, plain: bool) -> Self {
        let is_wall = numbers.one_in(3);
        let cells = match is_wall {
            true => [1, 1],
            false => [1 + numbers.below(16), 4 + numbers.below(20)],
        };
        let room = |axis: usize| SIZE[axis] / cells[axis];
        let most = if is_wall { [room(0), room(1)] } else { [room(0).min(12), room(1).min(6)] };
        let least = |axis: usize| if is_wall { most[axis] / 2 } else { 1 };
        let cell = [0, 1].map(|axis| least(axis) + numbers.below(most[axis] - least(axis) + 1));
        let place = [0, 1].map(|axis| numbers.below(SIZE[axis] - cell[axis] * cells[axis] + 1));
        let step = if numbers.one_in(2) { numbers.below(3) as i32 - 1 } else { 0 };
        let depth = [16 + numbers.below(33) as i32, step];
        let often = if plain { 20 } else { 5 };
        let looks = [
            Look::Added,
            Look::Masked,
            Look::ReadOnly,
            Look::Anywhere,
            Look::Unseen,
            Look::Holed,
            Look::HoledEarly,
            Look::Glass,
            Look::HoledReadOnly,
            Look::Equal,
        ];
        let mut scissor = [0, 0, SIZE[0], SIZE[1]];
        if numbers.one_in(6) {
            let [x, y] = [0, 1].map(|axis| numbers.below(SIZE[axis]));
            scissor = [x, y, x + 1 + numbers.below(SIZE[0] - x), y + 1 + numbers.below(SIZE[1] - y)];
        }
        Self {
            place,
            cell,
            cells,
            depth,
            color: [0; 4].map(|_: u8| numbers.below(256) as u8),
            look: if numbers.one_in(often) { numbers.pick(&looks) } else { Look::Opaque },
            scissor,
            counts: numbers.one_in(often * 2),
            backwards: numbers.one_in(2),
            indexed: numbers.one_in(2),
            breaks: numbers.one_in(8),
        }
    }

    /// Returns the cells: first pixel, and depth in 1/64.
    fn all_cells(&self) -> impl Iterator<Item = ([u32; 2], i32)> + '_ {
        let [columns, rows] = self.cells;
        let all = (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]));
        let cells: Vec<[u32; 2]> = all.collect();
        let count = cells.len();
        (0..count).map(move |number| {
            let [column, row] = cells[if self.backwards { count - 1 - number } else { number }];
            let place = [self.place[0] + column * self.cell[0], self.place[1] + row * self.cell[1]];
            (place, (self.depth[0] + column as i32 * self.depth[1]).clamp(0, 64))
        })
    }

    /// Returns a draw of the mesh from its own buffers or from shared ones.
    fn draw(&self, gpu: &Gpu, greater: bool, shared: Option<Shared>) -> Result<Draw, Outcome> {
        let flag = |value: bool| if value { vk::TRUE } else { vk::FALSE };
        let mut state = State { vertex: TRIANGLES, fragment: COLOR, ..State::default() };
        state.depth_stencil.depth_test_enable = vk::TRUE;
        state.depth_stencil.depth_write_enable = flag(self.look.writes_depth());
        if self.look.has_holes() {
            state.fragment = if self.look == Look::HoledEarly { HOLES_EARLY } else { HOLES };
        }
        state.depth_stencil.depth_compare_op = self.compare(greater);
        match self.look {
            Look::Masked => state.blend.color_write_mask = vk::ColorComponentFlags::R | vk::ColorComponentFlags::A,
            Look::Unseen => state.blend.color_write_mask = vk::ColorComponentFlags::empty(),
            Look::Added | Look::Glass => {
                let one = vk::BlendFactor::ONE;
                state.blend.blend_enable = vk::TRUE;
                (state.blend.src_color_blend_factor, state.blend.dst_color_blend_factor) = (one, one);
                (state.blend.src_alpha_blend_factor, state.blend.dst_alpha_blend_factor) = (one, one);
            }
            _ => {}
        }
        let [width, height] = SIZE.map(|side| side as f32);
        state.viewport = vk::Viewport { width, height, max_depth: 1.0, ..Default::default() };
        let [x0, y0, x1, y1] = self.scissor;
        state.scissor = vk::Rect2D {
            offset: vk::Offset2D { x: x0 as i32, y: y0 as i32 },
            extent: vk::Extent2D { width: x1 - x0, height: y1 - y0 },
        };
        let (vertices, indices) = self.corners(greater);
        let count = indices.len() as u32;
        let mut first_index = (0, 0);
        let kind = if self.indexed {
            let (buffer, indices) = match shared {
                Some(Shared { buffer, indices, first }) => {
                    first_index = first;
                    (buffer, indices)
                }
                None => (gpu.buffer_with(vertices.as_flattened())?, gpu.buffer_with(&indices)?),
            };
            Kind::Indexed { buffer, indices, count, kind: vk::IndexType::UINT32 }
        } else {
            let all: Vec<_> = indices.iter().map(|&number| vertices[number as usize]).collect();
            Kind::VertexBuffer { buffer: gpu.buffer_with(all.as_flattened())?, count }
        };
        let mut draw = Draw { kind, first_index, ..Draw::rect(state, [0.0; 4], [0.0; 4]) };
        if self.counts {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
            // SAFETY: the info is valid.
            draw.query = Some(unsafe { gpu.device.create_query_pool(&info, None) }?);
        }
        Ok(draw)
    }

    /// Returns the corners, four of each cell, and their indices.
    fn corners(&self, greater: bool) -> Corners {
        let [width, height] = SIZE.map(|side| side as f32);
        let color = self.color.map(|code| f32::from(code) / 255.0);
        let corner = |x: u32, y: u32, depth: i32| {
            let depth = if greater { 64 - depth } else { depth };
            [[x as f32 / (width / 2.0) - 1.0, y as f32 / (height / 2.0) - 1.0, depth as f32 / 64.0, 1.0], color]
        };
        let (mut vertices, mut indices) = (Vec::new(), Vec::new());
        for ([x, y], depth) in self.all_cells() {
            let (right, below, first) = (x + self.cell[0], y + self.cell[1], vertices.len() as u32);
            let corners =
                [corner(x, y, depth), corner(right, y, depth), corner(x, below, depth), corner(right, below, depth)];
            vertices.extend(corners);
            indices.extend([0, 1, 2, 2, 1, 3].map(|number| first + number));
        }
        (vertices, indices)
    }

    /// Appends corners to those of other meshes. Returns the first index and the vertex offset. A
    /// mesh with the indices of the first mesh shares them. Backward and other meshes get their
    /// own.
    fn append(&self, (own, indices): Corners, corners: &mut Corners) -> (u32, i32) {
        let (behind, first) = (corners.0.len() as u32, corners.1.len() as u32);
        corners.0.extend(own);
        if !self.backwards && corners.1.get(..indices.len()) == Some(&indices) {
            return (0, behind as i32);
        }
        corners.1.extend(indices.iter().map(|index| index + behind));
        (first, 0)
    }

    fn compare(&self, greater: bool) -> vk::CompareOp {
        match (self.look, greater) {
            (Look::Anywhere, _) => vk::CompareOp::ALWAYS,
            (Look::Equal, _) => vk::CompareOp::EQUAL,
            (Look::Behind, false) => vk::CompareOp::GREATER_OR_EQUAL,
            (Look::Behind, true) | (_, false) => vk::CompareOp::LESS_OR_EQUAL,
            (_, true) => vk::CompareOp::GREATER_OR_EQUAL,
        }
    }
}

impl Scene {
    /// Returns a far mesh, a near mesh, both of the given looks, and a wall between them that is
    /// drawn last. The wall hides the first mesh only if the second permits it.
    fn between([hidden, between]: [Look; 2]) -> Self {
        let far = Mesh {
            place: [9, 3],
            cell: [6, 5],
            cells: [30, 26],
            depth: [48, 0],
            color: [200, 40, 10, 255],
            ..Mesh::wall(0, [0; 4])
        };
        let near = Mesh {
            place: [64, 16],
            cell: [3, 6],
            cells: [24, 16],
            depth: [16, 0],
            color: [20, 90, 30, 90],
            ..far.clone()
        };
        let (far, near) = (Mesh { look: hidden, ..far }, Mesh { look: between, ..near });
        let wall = Mesh::wall(32, [10, 20, 250, 255]);
        let meshes = vec![far, near, wall];
        Self { meshes, greater: false, depth: vk::Format::D32_SFLOAT, samples: 1, shares: false, copies: false }
    }

    /// Returns a wall, and behind it two meshes of cells of 8x8 pixels that write no depth. The
    /// left half of the second mesh is not behind the wall.
    fn hidden_early() -> Self {
        let behind = Mesh {
            place: [0, 64],
            cell: [8, 8],
            cells: [16, 9],
            depth: [48, 0],
            color: [200, 40, 10, 255],
            look: Look::ReadOnly,
            ..Mesh::wall(0, [0; 4])
        };
        let across = Mesh { place: [0, 0], cells: [16, 8], depth: [25, 1], color: [9, 80, 40, 255], ..behind.clone() };
        Self { meshes: vec![Mesh::screen(SIZE), behind, across], ..Self::between([Look::Opaque; 2]) }
    }

    /// Returns a mesh of small cells that a later triangle hides in its left half.
    fn hidden_small() -> Self {
        Self { meshes: vec![Mesh::fine(48), Mesh::screen([64, 136])], ..Self::between([Look::Opaque; 2]) }
    }

    /// Returns a mesh of small cells that copied depths hide in part.
    fn hidden_copied() -> Self {
        let first = Mesh::wall(60, [9, 80, 40, 255]);
        let behind = Mesh { breaks: true, ..Mesh::fine(48) };
        Self { meshes: vec![first, behind], copies: true, ..Self::between([Look::Opaque; 2]) }
    }

    /// Returns [`Self::hidden_copied`] with a cell behind the copy that overwrites the copied
    /// depths of two tiles.
    fn hidden_overwritten() -> Self {
        let first = Mesh::wall(60, [9, 80, 40, 255]);
        let over = Mesh { cell: [128, 64], look: Look::Anywhere, breaks: true, ..Mesh::wall(40, [7, 7, 90, 255]) };
        let meshes = vec![first, over, Mesh::fine(48)];
        Self { meshes, copies: true, ..Self::between([Look::Opaque; 2]) }
    }

    /// Returns a wall, a mesh of small cells behind it, and a cell without a depth test.
    fn hidden_before_receding() -> Self {
        let over = Mesh { cell: [8, 8], look: Look::Anywhere, ..Mesh::wall(60, [9, 80, 40, 255]) };
        Self { meshes: vec![Mesh::screen(SIZE), Mesh::fine(48), over], ..Self::between([Look::Opaque; 2]) }
    }

    /// Returns a cell that is drawn behind stored depths, a wall, and seven rows of sixteen cells
    /// behind the wall.
    fn hidden_beside_reversed() -> Self {
        let reversed = Mesh { cell: [8, 8], look: Look::Behind, ..Mesh::wall(16, [9, 80, 40, 255]) };
        let hidden = Mesh { place: [0, 64], cell: [8, 8], cells: [16, 7], ..Mesh::fine(48) };
        Self { meshes: vec![reversed, Mesh::screen(SIZE), hidden], ..Self::between([Look::Opaque; 2]) }
    }

    /// Returns a wall that a later triangle hides in the first column of tiles and in five of the
    /// eight columns of groups of the second.
    fn hidden_large() -> Self {
        let wall = Mesh::wall(48, [200, 40, 10, 255]);
        Self { meshes: vec![wall, Mesh::screen([104, 136])], ..Self::between([Look::Opaque; 2]) }
    }

    fn random(seed: u64) -> Self {
        let mut numbers = Random::new(seed);
        let plain = !seed.is_multiple_of(3);
        Self {
            meshes: (0..3 + numbers.below(10)).map(|_| Mesh::random(&mut numbers, plain)).collect(),
            greater: numbers.one_in(3),
            depth: numbers.pick(&[vk::Format::D32_SFLOAT, vk::Format::D16_UNORM]),
            samples: numbers.pick(&[1, 1, 4]),
            shares: false,
            copies: false,
        }
    }

    /// Returns meshes of equally many cells each, behind a wall and in front of it.
    fn shared(seed: u64) -> Self {
        let mut numbers = Random::new(seed);
        let mesh = |number: i32| Mesh {
            place: [0, 1].map(|axis| numbers.below(SIZE[axis] / 2)),
            cell: [4, 3],
            cells: [20, 16],
            depth: [if numbers.one_in(2) { 16 } else { 48 } + number, 0],
            color: [0; 4].map(|_: u8| numbers.below(256) as u8),
            indexed: true,
            backwards: numbers.one_in(2),
            ..Mesh::wall(0, [0; 4])
        };
        let mut meshes: Vec<Mesh> = (0..12).map(mesh).collect();
        meshes.push(Mesh::wall(32, [10, 20, 250, 255]));
        Self { meshes, greater: false, depth: vk::Format::D32_SFLOAT, samples: 1, shares: true, copies: false }
    }
}

/// Colour of a pixel, and its depth in 1/64, where smaller is nearer.
type Pixel = ([u8; 4], i32);

/// Draws a mesh into the model. Returns the number of pixels that pass.
fn model(mesh: &Mesh, pixels: &mut [Pixel]) -> u64 {
    let (compare, mut passed) = (mesh.compare(false), 0);
    let [x0, y0, x1, y1] = mesh.scissor;
    for ([x, y], depth) in mesh.all_cells() {
        for y in (y..y + mesh.cell[1]).filter(|y| (y0..y1).contains(y)) {
            for x in (x..x + mesh.cell[0]).filter(|x| (x0..x1).contains(x)) {
                let (color, stored) = &mut pixels[(y * SIZE[0] + x) as usize];
                let is_hole = mesh.look.has_holes() && (x + y) % 2 == 1;
                let is_untested = is_hole && mesh.look != Look::HoledEarly;
                if is_untested || !holds(compare, i64::from(depth), i64::from(*stored)) {
                    continue;
                }
                passed += 1;
                if mesh.look.writes_depth() {
                    *stored = depth;
                }
                if is_hole {
                    continue;
                }
                for (component, value) in color.iter_mut().enumerate() {
                    *value = match (mesh.look, component) {
                        (look, _) if look.adds() => value.saturating_add(mesh.color[component]),
                        (Look::Unseen, _) | (Look::Masked, 1 | 2) => *value,
                        _ => mesh.color[component],
                    };
                }
            }
        }
    }
    passed
}

/// Collects the corners of all meshes in one buffer, and their indices in another.
fn share(gpu: &Gpu, scene: &Scene) -> Result<Vec<Shared>, Outcome> {
    let mut all = Corners::default();
    let firsts: Vec<_> = scene.meshes.iter().map(|mesh| mesh.append(mesh.corners(scene.greater), &mut all)).collect();
    let (buffer, indices) = (gpu.buffer_with(all.0.as_flattened())?, gpu.buffer_with(&all.1)?);
    Ok(firsts.into_iter().map(|first| Shared { buffer, indices, first }).collect())
}

fn draw(gpu: &Gpu, scene: &Scene) -> Case {
    need_samples(gpu, scene.samples)?;
    let target = Target {
        size: SIZE,
        samples: vk::SampleCountFlags::from_raw(scene.samples),
        depth: scene.depth,
        clear_depth: vk::ClearDepthStencilValue { depth: if scene.greater { 0.0 } else { 1.0 }, stencil: 0 },
        ..Target::default()
    };
    let places = scene.shares.then(|| share(gpu, scene)).transpose()?;
    let of = |number: usize| places.as_ref().map(|places| places[number]);
    let draws = scene.meshes.iter().enumerate().map(|(number, mesh)| mesh.draw(gpu, scene.greater, of(number)));
    let draws = draws.collect::<Result<Vec<_>, _>>()?;
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut start = 0;
    for number in 1..=draws.len() {
        if number == draws.len() || scene.meshes[number].breaks {
            parts.push(Part { draws: &draws[start..number], ..Part::default() });
            start = number;
        }
    }
    let copied: Vec<i32> = (0..SIZE[0] * SIZE[1])
        .map(|pixel| if pixel % SIZE[0] < COPIED_DEPTH.1 { COPIED_DEPTH.0 } else { 64 })
        .collect();
    if let (Some(last), true) = (parts.last_mut(), scene.copies) {
        let depths: Vec<f32> = copied.iter().map(|depth| *depth as f32 / 64.0).collect();
        last.depths = Some(gpu.buffer_with(&depths)?.handle);
    }
    let got = render_parts(gpu, &target, &parts)?;
    let mut pixels = vec![([0; 4], 64); (SIZE[0] * SIZE[1]) as usize];
    for (number, (mesh, draw)) in scene.meshes.iter().zip(&draws).enumerate() {
        if scene.copies && mesh.breaks {
            pixels.iter_mut().zip(&copied).for_each(|(pixel, depth)| pixel.1 = *depth);
        }
        let passed = model(mesh, &mut pixels) * u64::from(scene.samples);
        if let Some(pool) = draw.query {
            let counted = super::scenes::counted(gpu, pool)?;
            check(counted == passed, || format!("draw {number}: {counted} samples instead of {passed}"))?;
        }
    }
    for (index, (got, (color, _))) in got.iter().zip(&pixels).enumerate() {
        let [x, y] = [index as u32 % SIZE[0], index as u32 / SIZE[0]];
        check(got == color, || format!("({x}, {y}): {got:?} instead of {color:?}"))?;
    }
    Ok(())
}
