//! Blended layers over attachments of more and more bytes a pixel, as bytes a second. If tiles that
//! outgrow the second-level cache were slow, their rate would fall.

mod device;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Attachment, Blend, Commands, GraphicsDesc, ImageDesc, PassDesc, SubpassDesc};

const SIDE: u32 = 512;
const LAYERS: u32 = 16;
/// Bytes of a sample's texel in one attachment: four floats.
const TEXEL: u32 = 16;
/// Pixels of a tile.
const TILE_PIXELS: u32 = 64 * 64;

fn tiles(criterion: &mut Criterion) {
    let gpu = device::open();
    let layout = gpu.layout(&[], Some((vk::ShaderStageFlags::VERTEX, 4))).expect("a layout");
    let (vert, frag) = (include_bytes!("shaders/late.vert.spv"), include_bytes!("shaders/tiles.frag.spv"));
    let mut group = criterion.benchmark_group("tiles");
    group.sample_size(10);
    for (samples, attachments) in [(1, 1), (1, 4), (4, 1), (4, 2), (4, 4), (8, 2), (8, 4), (16, 4)] {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let desc = ImageDesc::new(vk::Format::R32G32B32A32_SFLOAT, SIDE, SIDE, usage);
        let desc = ImageDesc { samples: vk::SampleCountFlags::from_raw(samples), ..desc };
        let images: Vec<_> = (0..attachments).map(|_| gpu.image(desc).expect("an image")).collect();
        let pass = gpu.pass(&PassDesc {
            attachments: images.iter().map(Attachment::transient).collect(),
            subpasses: vec![SubpassDesc { colors: (0..attachments).collect(), ..SubpassDesc::default() }],
        });
        let pass = pass.expect("a pass");
        let views: Vec<_> = images.iter().map(|image| image.view).collect();
        let extent = vk::Extent2D { width: SIDE, height: SIDE };
        let target = gpu.target(&pass, &views, extent).expect("a target");
        let mut desc = GraphicsDesc::new(vert, frag, &layout, &pass);
        desc.blends = vec![Blend::Alpha; attachments as usize];
        desc.samples = vk::SampleCountFlags::from_raw(samples);
        let pipeline = gpu.graphics(&desc).expect("a pipeline");
        let record = |commands: &Commands<'_>| {
            commands.begin(&target, &vec![vk::ClearValue::default(); attachments as usize]);
            commands.pipeline(&pipeline);
            for _ in 0..LAYERS {
                commands.push(&layout, &0.5f32);
                commands.draw(3, 1);
            }
            commands.end();
            Ok(())
        };
        let bytes = samples * attachments * TEXEL;
        group.throughput(Throughput::Bytes(u64::from(bytes) * u64::from(SIDE * SIDE * LAYERS)));
        let name = format!("{} KiB: {samples} samples, {attachments} attachments", (bytes * TILE_PIXELS) >> 10);
        group.bench_function(name, |bencher| bencher.iter(|| gpu.submit(record).expect("it is drawn")));
    }
    group.finish();
}

criterion_group!(benches, tiles);
criterion_main!(benches);
