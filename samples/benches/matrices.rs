//! Products of matrices of 1024 rows and columns: by cooperative matrices, and by hand-written
//! loops of the same arithmetic on as many threads as the driver uses. The results must be equal.

mod device;

use ash::vk;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use vitric_samples::gpu::{Bind, Commands, ComputeDesc, Gpu};

/// Number of rows and of columns.
const SIDE: usize = 1024;

/// Number of rows and of columns that a workgroup of the shaders computes.
const OF_WORKGROUP: usize = 32;

/// Number of rows and of columns that a loop computes in registers.
const TILE: [usize; 2] = [8, 32];

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

/// Hand-written loops for AVX-512 with VNNI.
#[cfg(target_arch = "x86_64")]
mod by_hand {
    use std::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps,
        _mm512_loadu_si512, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
        _mm512_storeu_si512,
    };

    use super::{SIDE, TILE};

    /// Calls `rows` on each thread with its first row and its rows of the sums.
    fn on_threads(sums: &mut [u32], rows: impl Fn(usize, &mut [u32]) + Sync) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let of_thread = (SIDE / threads).next_multiple_of(TILE[0]);
        std::thread::scope(|scope| {
            for (thread, sums) in sums.chunks_mut(of_thread * SIDE).enumerate() {
                let rows = &rows;
                scope.spawn(move || rows(thread * of_thread, sums));
            }
        });
    }

    /// Multiplies halves. The sums are floats.
    pub fn halves(left: &[u16], right: &[u16], sums: &mut [u32]) {
        assert!(std::is_x86_feature_detected!("avx512f"), "the loop needs AVX-512");
        // SAFETY: the processor has AVX-512.
        on_threads(sums, |first, sums| unsafe { rows_of_halves(left, right, first, sums) });
    }

    #[target_feature(enable = "avx512f,avx,fma")]
    unsafe fn rows_of_halves(left: &[u16], right: &[u16], first: usize, sums: &mut [u32]) {
        // SAFETY: all accesses are of 16 elements that the assertions leave in bounds.
        unsafe {
            let rows = sums.len() / SIDE;
            assert!(left.len() == SIDE * SIDE && right.len() == SIDE * SIDE && rows.is_multiple_of(TILE[0]));
            let floats = |from: *const u16| _mm512_cvtph_ps(_mm256_loadu_si256(from.cast::<__m256i>()));
            let mut factors = vec![0.0f32; rows * SIDE];
            for at in (0..factors.len()).step_by(16) {
                _mm512_storeu_ps(factors.as_mut_ptr().add(at), floats(left.as_ptr().add(first * SIDE + at)));
            }
            let mut panel = vec![0.0f32; SIDE * TILE[1]];
            for column in (0..SIDE).step_by(TILE[1]) {
                for at in (0..panel.len()).step_by(16) {
                    let from = right.as_ptr().add(at / TILE[1] * SIDE + column + at % TILE[1]);
                    _mm512_storeu_ps(panel.as_mut_ptr().add(at), floats(from));
                }
                for row in (0..rows).step_by(TILE[0]) {
                    let mut tile = [[_mm512_setzero_ps(); 2]; TILE[0]];
                    for k in 0..SIDE {
                        let pair = [0, 16].map(|at| _mm512_loadu_ps(panel.as_ptr().add(k * TILE[1] + at)));
                        for (at, sum) in tile.iter_mut().enumerate() {
                            let factor = _mm512_set1_ps(*factors.as_ptr().add((row + at) * SIDE + k));
                            *sum = [0, 1].map(|half| _mm512_fmadd_ps(factor, pair[half], sum[half]));
                        }
                    }
                    for (at, sum) in tile.into_iter().enumerate() {
                        let to = sums.as_mut_ptr().add((row + at) * SIDE + column).cast::<f32>();
                        [0, 1].into_iter().for_each(|half| _mm512_storeu_ps(to.add(16 * half), sum[half]));
                    }
                }
            }
        }
    }

    /// Multiplies signed bytes.
    pub fn bytes(left: &[i8], right: &[i8], sums: &mut [u32]) {
        assert!(std::is_x86_feature_detected!("avx512vnni"), "the loop needs AVX-512 VNNI");
        // SAFETY: the processor has AVX-512 VNNI.
        on_threads(sums, |first, sums| unsafe { rows_of_bytes(left, right, first, sums) });
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    unsafe fn rows_of_bytes(left: &[i8], right: &[i8], first: usize, sums: &mut [u32]) {
        // SAFETY: all accesses are of 16 elements that the assertions leave in bounds.
        unsafe {
            let rows = sums.len() / SIDE;
            assert!(left.len() == SIDE * SIDE && right.len() == SIDE * SIDE && rows.is_multiple_of(TILE[0]));
            let row_sum = |row: &[i8]| row.iter().map(|&byte| i32::from(byte)).sum::<i32>();
            let corrections: Vec<i32> = left[first * SIDE..].chunks(SIDE).take(rows).map(row_sum).collect();
            // Four rows of bytes in a dword, moved by 128 to be unsigned.
            let mut panel = vec![0u32; SIDE / 4 * TILE[1]];
            for column in (0..SIDE).step_by(TILE[1]) {
                for (at, word) in panel.iter_mut().enumerate() {
                    let from = |byte: usize| right[(at / TILE[1] * 4 + byte) * SIDE + column + at % TILE[1]] as u8;
                    *word = u32::from_le_bytes([0, 1, 2, 3].map(from)) ^ 0x8080_8080;
                }
                for row in (0..rows).step_by(TILE[0]) {
                    let start = |at: usize| _mm512_set1_epi32(-128 * corrections[row + at]);
                    let mut tile: [_; TILE[0]] = std::array::from_fn(|at| [start(at); 2]);
                    for k in 0..SIDE / 4 {
                        let pair = [0, 16].map(|at| _mm512_loadu_si512(panel.as_ptr().add(k * TILE[1] + at).cast()));
                        for (at, sum) in tile.iter_mut().enumerate() {
                            let word = left.as_ptr().add((first + row + at) * SIDE + 4 * k).cast::<i32>();
                            let factor = _mm512_set1_epi32(word.read_unaligned());
                            *sum = [0, 1].map(|half| _mm512_dpbusd_epi32(sum[half], pair[half], factor));
                        }
                    }
                    for (at, sum) in tile.into_iter().enumerate() {
                        let to = sums.as_mut_ptr().add((row + at) * SIDE + column);
                        [0, 1].into_iter().for_each(|half| _mm512_storeu_si512(to.add(16 * half).cast(), sum[half]));
                    }
                }
            }
        }
    }
}
