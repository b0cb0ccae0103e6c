//! Copies from buffers to images and back, and blits to smaller levels. The throughput's element
//! is one texel.

mod device;

use ash::vk;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Commands, ImageDesc, Use};

const SIDE: u32 = 1024;

fn transfers(criterion: &mut Criterion) {
    let gpu = device::open();
    let mut group = criterion.benchmark_group("transfers");
    group.throughput(Throughput::Elements(u64::from(SIDE * SIDE))).sample_size(20);
    let formats = [
        ("r8", vk::Format::R8_UNORM),
        ("rgba8", vk::Format::R8G8B8A8_UNORM),
        ("srgb8", vk::Format::R8G8B8A8_SRGB),
        ("rgba16f", vk::Format::R16G16B16A16_SFLOAT),
    ];
    for (name, format) in formats {
        let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let image = gpu.image(ImageDesc::new(format, SIDE, SIDE, usage).with_mips()).expect("an image");
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = gpu.host_buffer(u64::from(SIDE * SIDE * 8), usage).expect("a buffer");
        let upload = |commands: &Commands<'_>| {
            commands.image_barrier(&image, Use::Undefined, Use::TransferWrite);
            commands.copy_to_image(&buffer, &image);
            Ok(())
        };
        group.bench_function(BenchmarkId::new("upload", name), |bencher| {
            bencher.iter(|| gpu.submit(upload).expect("it is copied"));
        });
        let download = |commands: &Commands<'_>| {
            commands.image_barrier(&image, Use::TransferWrite, Use::TransferRead);
            commands.copy_from_image(&image, &buffer);
            commands.image_barrier(&image, Use::TransferRead, Use::TransferWrite);
            Ok(())
        };
        group.bench_function(BenchmarkId::new("download", name), |bencher| {
            bencher.iter(|| gpu.submit(download).expect("it is copied"));
        });
        let smaller = |commands: &Commands<'_>| {
            commands.level_barrier(&image, 0, Use::TransferWrite, Use::TransferRead);
            commands.blit_down(&image, 1);
            commands.level_barrier(&image, 0, Use::TransferRead, Use::TransferWrite);
            Ok(())
        };
        group.bench_function(BenchmarkId::new("level", name), |bencher| {
            bencher.iter(|| gpu.submit(smaller).expect("it is filtered"));
        });
    }
    group.finish();
}

criterion_group!(benches, transfers);
criterion_main!(benches);
