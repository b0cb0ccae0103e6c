//! Convolutions with fifteen samples of one image for each pixel, in a fragment shader and in a
//! compute shader. `VITRIC_INLINE=off` compiles the samples as calls.

mod device;

use ash::vk;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{
    Attachment, Bind, Commands, ComputeDesc, Gpu, GraphicsDesc, Image, ImageDesc, PassDesc, SamplerDesc, Use,
};

const SIDE: u32 = 1024;

/// Creates the sampled picture in a format.
fn picture(gpu: &Gpu, format: vk::Format) -> Image {
    // Bytes without a pattern.
    let texels: Vec<u8> = (0..SIDE * SIDE * 4).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    gpu.texture(format, SIDE, SIDE, &texels, false).expect("a texture")
}

fn fragments(criterion: &mut Criterion, gpu: &Gpu) {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = gpu.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE, usage)).expect("an image");
    let stored = Attachment::stored(&image, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
    let pass = gpu.pass(&PassDesc::simple(stored, None)).expect("a pass");
    let extent = vk::Extent2D { width: SIDE, height: SIDE };
    let target = gpu.target(&pass, &[image.view], extent).expect("a target");
    let bindings = [(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)];
    let layout = gpu.layout(&[&bindings], None).expect("a layout");
    let shaders = (include_bytes!("shaders/taps.vert.spv"), include_bytes!("shaders/taps.frag.spv"));
    let pipeline = gpu.graphics(&GraphicsDesc::new(shaders.0, shaders.1, &layout, &pass)).expect("a pipeline");
    let mut group = criterion.benchmark_group("taps");
    group.throughput(Throughput::Elements(u64::from(SIDE * SIDE))).sample_size(20);
    for (name, format, filter) in [
        ("nearest", vk::Format::R8G8B8A8_SRGB, vk::Filter::NEAREST),
        ("linear", vk::Format::R8G8B8A8_UNORM, vk::Filter::LINEAR),
    ] {
        let picture = picture(gpu, format);
        let sampler = gpu.sampler(&SamplerDesc { filter, ..SamplerDesc::REPEAT }).expect("a sampler");
        let set = gpu.set(&layout, 0, &[Bind::Texture(picture.view, sampler)]).expect("a set");
        let record = |commands: &Commands<'_>| {
            commands.begin(&target, &[vk::ClearValue::default()]);
            commands.pipeline(&pipeline);
            commands.graphics_set(&layout, &set);
            commands.draw(3, 1);
            commands.end();
            Ok(())
        };
        group.bench_function(name, |bencher| bencher.iter(|| gpu.submit(record).expect("it is drawn")));
    }
    group.finish();
}

fn invocations(criterion: &mut Criterion, gpu: &Gpu) {
    let result = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, SIDE, SIDE, vk::ImageUsageFlags::STORAGE);
    let (result, picture) = (gpu.image(result).expect("an image"), picture(gpu, vk::Format::R8G8B8A8_UNORM));
    let sampler = gpu.sampler(&SamplerDesc::CLAMP).expect("a sampler");
    let stage = vk::ShaderStageFlags::COMPUTE;
    let kinds = [vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::STORAGE_IMAGE];
    let layout = gpu.layout(&[&[(0, kinds[0], stage), (1, kinds[1], stage)]], None).expect("a layout");
    let shader = include_bytes!("shaders/taps.comp.spv");
    let pipeline = gpu.compute(&ComputeDesc { shader, layout: &layout, constants: &[] }).expect("a pipeline");
    let binds = [Bind::Texture(picture.view, sampler), Bind::Storage(result.view)];
    let set = gpu.set(&layout, 0, &binds).expect("a set");
    let record = |commands: &Commands<'_>| {
        commands.image_barrier(&result, Use::Undefined, Use::Storage);
        commands.pipeline(&pipeline);
        commands.compute_set(&layout, &set);
        commands.dispatch(SIDE / 8, SIDE / 8);
        Ok(())
    };
    let mut group = criterion.benchmark_group("taps");
    group.throughput(Throughput::Elements(u64::from(SIDE * SIDE))).sample_size(20);
    group.bench_function("compute", |bencher| bencher.iter(|| gpu.submit(record).expect("it is dispatched")));
    group.finish();
}

fn taps(criterion: &mut Criterion) {
    let gpu = device::open();
    fragments(criterion, &gpu);
    invocations(criterion, &gpu);
}

criterion_group!(benches, taps);
criterion_main!(benches);
