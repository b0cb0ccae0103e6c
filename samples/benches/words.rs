//! Compute shaders beyond 32-bit arithmetic: doubles, divisions of 64-bit integers, and atomics.
//! The atomics address separate or shared words, compute maxima and disjunctions, run in a quarter
//! of the lanes, or address texels.

mod device;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Bind, Commands, ComputeDesc, ImageDesc, Use};

const INVOCATIONS: u32 = 1 << 17;

/// Number of texels in a row of the image, which has one texel for each invocation.
const COLUMNS: u32 = 512;

fn words(criterion: &mut Criterion) {
    let gpu = device::open();
    let size = u64::from(INVOCATIONS + 64) * 4;
    let results = gpu.scratch_buffer(size, vk::BufferUsageFlags::STORAGE_BUFFER).expect("a buffer");
    let desc = ImageDesc::new(vk::Format::R32_UINT, COLUMNS, INVOCATIONS / COLUMNS, vk::ImageUsageFlags::STORAGE);
    let image = gpu.image(desc).expect("an image");
    let to_general = |commands: &Commands<'_>| {
        commands.image_barrier(&image, Use::Undefined, Use::Storage);
        Ok(())
    };
    gpu.submit(to_general).expect("a barrier");
    let bindings = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::STORAGE_IMAGE];
    let bindings = [0, 1].map(|binding| (binding, bindings[binding as usize], vk::ShaderStageFlags::COMPUTE));
    let layout = gpu.layout(&[&bindings], None).expect("a layout");
    let set = gpu.set(&layout, 0, &[Bind::Buffer(&results, None), Bind::Storage(image.view)]).expect("a set");
    let mut group = criterion.benchmark_group("words");
    group.throughput(Throughput::Elements(INVOCATIONS.into())).sample_size(20);
    for (name, shader) in [
        ("doubles", &include_bytes!("shaders/doubles.comp.spv")[..]),
        ("divisions", &include_bytes!("shaders/divisions.comp.spv")[..]),
        ("atomics", &include_bytes!("shaders/atomics.comp.spv")[..]),
        ("chosen", &include_bytes!("shaders/chosen.comp.spv")[..]),
        ("partial", &include_bytes!("shaders/partial.comp.spv")[..]),
        ("texels", &include_bytes!("shaders/texels.comp.spv")[..]),
    ] {
        let pipeline = gpu.compute(&ComputeDesc { shader, layout: &layout, constants: &[] }).expect("a pipeline");
        let record = |commands: &Commands<'_>| {
            commands.pipeline(&pipeline);
            commands.compute_set(&layout, &set);
            commands.dispatch(INVOCATIONS / 64, 1);
            Ok(())
        };
        group.bench_function(name, |bencher| bencher.iter(|| gpu.submit(record).expect("it is dispatched")));
    }
    group.finish();
}

criterion_group!(benches, words);
criterion_main!(benches);
