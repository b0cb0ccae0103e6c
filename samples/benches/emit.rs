//! Geometry shaders that emit few or many vertices. `VITRIC_MERGED=plain` and
//! `VITRIC_MERGED=replicated` select a mode. Without the knob the driver selects it.

mod device;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Attachment, Commands, GraphicsDesc, ImageDesc, PassDesc};

const SIDE: u32 = 512;
/// Approximate number of triangles that all points of a draw emit.
const TRIANGLES: u32 = 100_000;

fn emitted(criterion: &mut Criterion) {
    let gpu = device::open();
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE, usage)).expect("an image");
    let stored = Attachment::stored(&image, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let pass = gpu.pass(&PassDesc::simple(stored, None)).expect("a pass");
    let extent = vk::Extent2D { width: SIDE, height: SIDE };
    let target = gpu.target(&pass, &[image.view], extent).expect("a target");
    let layout = gpu.layout(&[], None).expect("a layout");
    let mut group = criterion.benchmark_group("emit");
    let few: &[u8] = include_bytes!("shaders/emit4.geom.spv");
    let many: &[u8] = include_bytes!("shaders/emit256.geom.spv");
    for (vertices, shader) in [(4, few), (256, many)] {
        let shaders = (include_bytes!("shaders/emit.vert.spv"), include_bytes!("shaders/emit.frag.spv"));
        let mut desc = GraphicsDesc::new(shaders.0, shaders.1, &layout, &pass);
        desc.geom = Some(shader);
        desc.topology = vk::PrimitiveTopology::POINT_LIST;
        let pipeline = gpu.graphics(&desc).expect("a pipeline");
        let points = TRIANGLES / (vertices - 2);
        let record = |commands: &Commands<'_>| {
            commands.begin(&target, &[vk::ClearValue::default()]);
            commands.pipeline(&pipeline);
            commands.draw(points, 1);
            commands.end();
            Ok(())
        };
        group.throughput(Throughput::Elements(u64::from(points * (vertices - 2)))).sample_size(20);
        group.bench_function(vertices.to_string(), |bencher| {
            bencher.iter(|| gpu.submit(record).expect("it is drawn"));
        });
    }
    group.finish();
}

criterion_group!(benches, emitted);
criterion_main!(benches);
