//! Overhead of draws: recording and executing command buffers of many draws with almost no pixels,
//! as programs with many small objects have them. The throughput's element is one draw.

mod device;

use ash::vk;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::Result;
use vitric_samples::gpu::{
    Attachment, Bind, Buffer, Commands, Gpu, GraphicsDesc, ImageDesc, Layout, PassDesc, Pipeline, Set, Target,
};

const DRAWS: u32 = 10_000;
const SIDE: u32 = 512;
const SETS: u64 = 64;
/// Distance of uniform buffers in bytes, at least `minUniformBufferOffsetAlignment`.
const STRIDE: u64 = 256;

/// State that changes from draw to draw.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Nothing,
    PushConstants,
    /// Push constants and a descriptor set.
    Set,
}

struct Scene {
    target: Target,
    layout: Layout,
    pipeline: Pipeline,
    sets: Vec<Set>,
}

impl Scene {
    fn new(gpu: &Gpu) -> Result<Self> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE, usage))?;
        let stored = Attachment::stored(&color, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        let pass = gpu.pass(&PassDesc::simple(stored, None))?;
        let extent = vk::Extent2D { width: SIDE, height: SIDE };
        let target = gpu.target(&pass, &[color.view], extent)?;
        let vertex = vk::ShaderStageFlags::VERTEX;
        let binding = [(0, vk::DescriptorType::UNIFORM_BUFFER, vertex)];
        let layout = gpu.layout(&[&binding], Some((vertex, 16)))?;
        let shaders = (include_bytes!("shaders/draw.vert.spv"), include_bytes!("shaders/draw.frag.spv"));
        let pipeline = gpu.graphics(&GraphicsDesc::new(shaders.0, shaders.1, &layout, &pass))?;
        let set = |number: u64| {
            let tint = [number as f32 / SETS as f32, 0.5, 1.0, 1.0];
            let buffer: Buffer = gpu.host_buffer(STRIDE, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
            gpu.write(&buffer, 0, &tint)?;
            gpu.set(&layout, 0, &[Bind::Buffer(&buffer, None)])
        };
        Ok(Self { target, pipeline, sets: (0..SETS).map(set).collect::<Result<_>>()?, layout })
    }

    fn record(&self, commands: &Commands<'_>, change: Change, is_visible: bool) -> Result<()> {
        commands.begin(&self.target, &[vk::ClearValue::default()]);
        if !is_visible {
            let offset = vk::Offset2D { x: SIDE as i32, y: 0 };
            commands.viewport(vk::Rect2D { offset, extent: vk::Extent2D { width: 1, height: 1 } });
        }
        commands.pipeline(&self.pipeline);
        commands.graphics_set(&self.layout, &self.sets[0]);
        commands.push(&self.layout, &[0.0f32; 4]);
        for draw in 0..DRAWS {
            if change != Change::Nothing {
                let place = [draw % 100, draw / 100 % 100].map(|step| step as f32 / 50.0 - 1.0);
                commands.push(&self.layout, &[place[0], place[1], 0.01, 0.01]);
            }
            if change == Change::Set {
                commands.graphics_set(&self.layout, &self.sets[(u64::from(draw) % SETS) as usize]);
            }
            commands.draw(3, 1);
        }
        commands.end();
        Ok(())
    }
}

fn draws(criterion: &mut Criterion) {
    let gpu = device::open();
    let scene = Scene::new(&gpu).expect("the scene can be made");
    let mut group = criterion.benchmark_group("draws");
    group.throughput(Throughput::Elements(DRAWS.into())).sample_size(20);
    let changes = [("same", Change::Nothing), ("push", Change::PushConstants), ("set", Change::Set)];
    for (place, is_visible) in [("small", true), ("outside", false)] {
        for (name, change) in changes {
            group.bench_function(BenchmarkId::new(place, name), |bencher| {
                bencher
                    .iter(|| gpu.submit(|commands| scene.record(commands, change, is_visible)).expect("it is drawn"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
