//! Draws of occluded geometry: 500 boxes of 2,028 triangles each behind a wall that is drawn last
//! or first.
//!
//! `wall` is the wall alone. `outside` adds boxes that are outside of the view volume, so that
//! only their positions are fetched. `hidden` has the boxes behind the wall, and `front` has them
//! before it. Knobs disable the techniques: `VITRIC_POSH=off` disables position-only shading,
//! `VITRIC_LOOKAHEAD=0` disables lookahead, and `VITRIC_HIZ=off` disables Hi-Z. `fetch` reads all
//! positions once on one host thread.

mod device;

use std::hint::black_box;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::Result;
use vitric_samples::gpu::{
    Attachment, Buffer, Commands, Gpu, GraphicsDesc, ImageDesc, Layout, PassDesc, Pipeline, Target, VertexInput,
};

const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;
const BOXES: u32 = 500;
/// Number of cells along a side of a box. A cell is two triangles.
const CELLS: u32 = 13;

/// Position, normal and texture coordinates.
type Vertex = [f32; 8];

/// Position and size; cosine and sine of a rotation.
type Push = [[f32; 4]; 2];

/// Returns a box from -1 to 1 with its sides divided into cells.
fn divided_box() -> (Vec<Vertex>, Vec<u32>) {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for (axis, sign) in (0..3).flat_map(|axis| [(axis, -1.0f32), (axis, 1.0)]) {
        let first = vertices.len() as u32;
        let steps = 0..=CELLS;
        for (row, column) in steps.clone().flat_map(|row| steps.clone().map(move |column| (row, column))) {
            let [u, v] = [column, row].map(|step| step as f32 / CELLS as f32);
            let mut place = [0.0; 3];
            (place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]) = (sign, u * 2.0 - 1.0, v * 2.0 - 1.0);
            let mut normal = [0.0; 3];
            normal[axis] = sign;
            let [[x, y, z], [a, b, c]] = [place, normal];
            vertices.push([x, y, z, a, b, c, u, v]);
        }
        for (row, column) in (0..CELLS).flat_map(|row| (0..CELLS).map(move |column| (row, column))) {
            let corner = first + row * (CELLS + 1) + column;
            let (right, below) = (corner + 1, corner + CELLS + 1);
            indices.extend([corner, right, below, below, right, below + 1]);
        }
    }
    (vertices, indices)
}

struct Scene {
    target: Target,
    layout: Layout,
    pipeline: Pipeline,
    /// Vertices of the boxes, which share none.
    boxes: Buffer,
    indices: Buffer,
    wall: Buffer,
    wall_indices: Buffer,
    vertices: Vec<Vertex>,
    count: u32,
}

/// Draws of a frame.
#[derive(Clone, Copy, PartialEq)]
enum Drawn {
    Wall,
    /// Boxes at this depth (which may be outside of the view volume), and then the wall.
    Last(f32),
    /// The wall, and then boxes at this depth.
    First(f32),
}

impl Scene {
    fn new(gpu: &Gpu) -> Result<Self> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, WIDTH, HEIGHT, usage))?;
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let depth = gpu.image(ImageDesc::new(vk::Format::D32_SFLOAT, WIDTH, HEIGHT, usage))?;
        let stored = Attachment::stored(&color, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        let pass = gpu.pass(&PassDesc::simple(stored, Some(Attachment::transient(&depth))))?;
        let extent = vk::Extent2D { width: WIDTH, height: HEIGHT };
        let target = gpu.target(&pass, &[color.view, depth.view], extent)?;
        let layout = gpu.layout(&[], Some((vk::ShaderStageFlags::VERTEX, size_of::<Push>() as u32)))?;
        let shaders = (include_bytes!("shaders/wall.vert.spv"), include_bytes!("shaders/wall.frag.spv"));
        let mut desc = GraphicsDesc::new(shaders.0, shaders.1, &layout, &pass);
        let (vector, pair) = (vk::Format::R32G32B32_SFLOAT, vk::Format::R32G32_SFLOAT);
        let attributes = vec![(0, vector, 0), (1, vector, 12), (2, pair, 24)];
        desc.inputs = vec![VertexInput { stride: 32, rate: vk::VertexInputRate::VERTEX, attributes }];
        desc.depth = (true, true);
        let pipeline = gpu.graphics(&desc)?;
        let (own, indices) = divided_box();
        let vertices: Vec<Vertex> = (0..BOXES).flat_map(|_| own.iter().copied()).collect();
        let corner = |x: f32, y: f32| [x, y, 0.0, 0.0, 0.0, -1.0, x * 8.0, y * 5.0];
        let wall = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0)];
        let (vertex, index) = (vk::BufferUsageFlags::VERTEX_BUFFER, vk::BufferUsageFlags::INDEX_BUFFER);
        let count = indices.len() as u32;
        Ok(Self {
            target,
            pipeline,
            layout,
            boxes: filled(gpu, vertex, &vertices)?,
            indices: filled(gpu, index, &indices)?,
            wall: filled(gpu, vertex, &wall)?,
            wall_indices: filled(gpu, index, &[0u32, 1, 2, 2, 1, 3])?,
            vertices,
            count,
        })
    }

    fn record(&self, commands: &Commands<'_>, drawn: Drawn) {
        let depth = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
        commands.begin(&self.target, &[vk::ClearValue::default(), vk::ClearValue { depth_stencil: depth }]);
        commands.pipeline(&self.pipeline);
        match drawn {
            Drawn::Wall => self.draw_wall(commands),
            Drawn::Last(depth) => {
                self.draw_boxes(commands, depth);
                self.draw_wall(commands);
            }
            Drawn::First(depth) => {
                self.draw_wall(commands);
                self.draw_boxes(commands, depth);
            }
        }
        commands.end();
    }

    fn draw_wall(&self, commands: &Commands<'_>) {
        commands.vertices(&[&self.wall]);
        commands.indices(&self.wall_indices);
        commands.push(&self.layout, &[[0.0f32, 0.0, 0.5, 1.0], [1.0, 0.0, 0.0, 0.0]]);
        commands.draw_indexed(6, 1);
    }

    fn draw_boxes(&self, commands: &Commands<'_>, depth: f32) {
        commands.vertices(&[&self.boxes]);
        commands.indices(&self.indices);
        let vertices = self.vertices.len() as u32 / BOXES;
        for number in 0..BOXES {
            let [x, y] = [number % 25, number / 25].map(|step| step as f32);
            // Cosine and sine of the rotation, from the tangent of half its angle.
            let (tangent, scale) = (x * 0.15, 1.0 / (1.0 + x * x * 0.0225));
            let turn = [(1.0 - tangent * tangent) * scale, 2.0 * tangent * scale, 0.0, 0.0];
            let push: Push = [[x / 12.5 - 0.96, y / 10.0 - 0.95, depth, 0.05], turn];
            commands.push(&self.layout, &push);
            commands.draw_indexed_at(self.count, 0, (number * vertices) as i32);
        }
    }
}

/// Creates a buffer with contents.
fn filled<T: bytemuck::Pod>(gpu: &Gpu, usage: vk::BufferUsageFlags, data: &[T]) -> Result<Buffer> {
    let buffer = gpu.host_buffer(size_of_val(data) as u64, usage)?;
    gpu.write(&buffer, 0, data)?;
    Ok(buffer)
}

fn walls(criterion: &mut Criterion) {
    let gpu = device::open();
    let scene = Scene::new(&gpu).expect("the scene can be made");
    let mut group = criterion.benchmark_group("wall");
    group.throughput(Throughput::Elements(u64::from(BOXES * scene.count / 3))).sample_size(20);
    group.bench_function("fetch", |bencher| {
        let sum =
            |vertices: &[Vertex]| vertices.iter().fold([0.0; 3], |[a, b, c], [x, y, z, ..]| [a + x, b + y, c + z]);
        bencher.iter(|| black_box(sum(black_box(&scene.vertices))));
    });
    let scenes = [
        ("wall", Drawn::Wall),
        ("outside", Drawn::Last(-3.0)),
        ("hidden", Drawn::Last(0.8)),
        ("hidden-first", Drawn::First(0.8)),
        ("front", Drawn::Last(0.2)),
    ];
    for (name, drawn) in scenes {
        let record = |commands: &Commands<'_>| {
            scene.record(commands, drawn);
            Ok(())
        };
        group.bench_function(name, |bencher| bencher.iter(|| gpu.submit(record).expect("it is drawn")));
    }
    group.finish();
}

criterion_group!(benches, walls);
criterion_main!(benches);
