//! Products of matrices of 1024 rows and columns: by cooperative matrices, and by hand-written
//! loops of the same arithmetic on as many threads as the driver uses. The results must be equal.

mod by_hand;
mod device;

use ash::vk;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Bind, Commands, ComputeDesc, Gpu};

/// Number of rows and of columns.
const SIDE: usize = 1024;

/// Number of rows and of columns that a workgroup of the shaders computes.
const OF_WORKGROUP: usize = 32;

/// Product of a shader.
struct Product<'a> {
    name: &'a str,
    shader: &'a [u8],
}

fn matrices(criterion: &mut Criterion) {
    let gpu = device::open();
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 20
    };
    let bytes: [Vec<i8>; 2] = [(); 2].map(|()| (0..SIDE * SIDE).map(|_| next() as i8).collect());
    // Halves between 1 and 2, of both signs.
    let half = |bits: u32| (0x3c00 | bits & 0x3ff | (bits & 0x400) << 5) as u16;
    let halves: [Vec<u16>; 2] = [(); 2].map(|()| (0..SIDE * SIDE).map(|_| half(next())).collect());
    let mut group = criterion.benchmark_group("matrices");
    group.throughput(Throughput::Elements((SIDE * SIDE * SIDE) as u64)).sample_size(10);
    let mut expected = vec![0u32; SIDE * SIDE];
    group.bench_function("halves_by_hand", |bencher| {
        bencher.iter(|| by_hand::halves(&halves[0], &halves[1], &mut expected));
    });
    let shader = include_bytes!("shaders/product_of_halves.comp.spv");
    let inputs = [bytemuck::cast_slice(&halves[0]), bytemuck::cast_slice(&halves[1])];
    cooperative(&gpu, &mut group, Product { name: "halves", shader }, inputs, &expected);
    group.bench_function("bytes_by_hand", |bencher| {
        bencher.iter(|| by_hand::bytes(&bytes[0], &bytes[1], &mut expected));
    });
    let shader = include_bytes!("shaders/product_of_bytes.comp.spv");
    let inputs = [bytemuck::cast_slice(&bytes[0]), bytemuck::cast_slice(&bytes[1])];
    cooperative(&gpu, &mut group, Product { name: "bytes", shader }, inputs, &expected);
    group.finish();
}

criterion_group!(benches, matrices);
criterion_main!(benches);

/// Measures a product by cooperative matrices, and compares its words with the expected ones.
fn cooperative(
    gpu: &Gpu,
    group: &mut BenchmarkGroup<'_, WallTime>,
    product: Product<'_>,
    inputs: [&[u8]; 2],
    expected: &[u32],
) {
    let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let [left, right] = inputs.map(|input| {
        let buffer = gpu.host_buffer(input.len() as u64, storage).expect("a buffer");
        gpu.write(&buffer, 0, input).expect("it is written");
        buffer
    });
    let sums = gpu.host_buffer((SIDE * SIDE * 4) as u64, storage).expect("a buffer");
    let bindings =
        [0, 1, 2].map(|binding| (binding, vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE));
    let layout = gpu.layout(&[&bindings], Some((vk::ShaderStageFlags::COMPUTE, 4))).expect("a layout");
    let binds = [&left, &right, &sums].map(|buffer| Bind::Buffer(buffer, None));
    let set = gpu.set(&layout, 0, &binds).expect("a set");
    let desc = ComputeDesc { shader: product.shader, layout: &layout, constants: &[] };
    let pipeline = gpu.compute(&desc).expect("a pipeline");
    let record = |commands: &Commands<'_>| {
        commands.pipeline(&pipeline);
        commands.compute_set(&layout, &set);
        commands.push(&layout, &(SIDE as u32));
        let workgroups = (SIDE / OF_WORKGROUP) as u32;
        commands.dispatch(workgroups, workgroups);
        Ok(())
    };
    group.bench_function(product.name, |bencher| bencher.iter(|| gpu.submit(record).expect("it is dispatched")));
    let found = gpu.read(&sums).expect("it is read");
    assert!(found == bytemuck::cast_slice::<u32, u8>(expected), "{} differ", product.name);
}
