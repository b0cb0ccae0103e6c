//! Layers with late depth tests, because their fragment shaders discard fragments or write depths.

mod device;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Attachment, Commands, GraphicsDesc, ImageDesc, PassDesc};

const SIDE: u32 = 1024;
const LAYERS: u32 = 8;

fn late(criterion: &mut Criterion) {
    let gpu = device::open();
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let color = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE, usage)).expect("an image");
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let depth = gpu.image(ImageDesc::new(vk::Format::D32_SFLOAT, SIDE, SIDE, usage)).expect("an image");
    let stored = Attachment::stored(&color, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let pass = gpu.pass(&PassDesc::simple(stored, Some(Attachment::transient(&depth)))).expect("a pass");
    let extent = vk::Extent2D { width: SIDE, height: SIDE };
    let target = gpu.target(&pass, &[color.view, depth.view], extent).expect("a target");
    let layout = gpu.layout(&[], Some((vk::ShaderStageFlags::VERTEX, 4))).expect("a layout");
    let vert = include_bytes!("shaders/late.vert.spv");
    let mut group = criterion.benchmark_group("late");
    group.throughput(Throughput::Elements(u64::from(SIDE * SIDE * LAYERS))).sample_size(20);
    for (name, frag) in [
        ("discard", &include_bytes!("shaders/discard.frag.spv")[..]),
        ("depth", &include_bytes!("shaders/depth.frag.spv")[..]),
    ] {
        let mut desc = GraphicsDesc::new(vert, frag, &layout, &pass);
        desc.depth = (true, true);
        let pipeline = gpu.graphics(&desc).expect("a pipeline");
        // Back to front, so that no layer occludes another.
        let record = |commands: &Commands<'_>| {
            let far = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
            commands.begin(&target, &[vk::ClearValue::default(), vk::ClearValue { depth_stencil: far }]);
            commands.pipeline(&pipeline);
            for layer in 0..LAYERS {
                commands.push(&layout, &(0.9 - layer as f32 * 0.1));
                commands.draw(3, 1);
            }
            commands.end();
            Ok(())
        };
        group.bench_function(name, |bencher| bencher.iter(|| gpu.submit(record).expect("it is drawn")));
    }
    group.finish();
}

criterion_group!(benches, late);
criterion_main!(benches);
