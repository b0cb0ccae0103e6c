//! Benchmarks of shader kernels on every executor, and of compilation.
//!
//! Run `cargo bench --package vitric-exec --bench shader [FILTER]`. A kernel is one wave of 16
//! lanes. The compile benchmarks measure straight-line code of four sizes, by stage.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vitric_codegen::Target;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Environment, Wave};
use vitric_exec::runtime::{Bound, Deadline, Descriptor, Sampler};
use vitric_exec::{Executable, Program};
use vitric_ir::interface::Shader;
use vitric_ir::passes::LaneVariance;
use vitric_ir::{BinaryOp, Builder, Function, Inst, TernaryOp, Type, passes};
use vitric_memory::{Allocation, Heap, Surface, SurfaceDesc, SurfaceView, SurfaceViewDesc, Swizzle};
use vitric_spirv as spirv;

/// Benchmark of a kernel that flushes denormals of single-precision floats to zero.
const FLUSHING: &str = "arithmetic_flushing";

const KERNELS: [(&str, vk::ShaderStageFlags, &[u8]); 5] = [
    ("arithmetic", vk::ShaderStageFlags::FRAGMENT, include_bytes!("shaders/arithmetic.frag.spv")),
    (FLUSHING, vk::ShaderStageFlags::FRAGMENT, include_bytes!("shaders/arithmetic.frag.spv")),
    ("divergence", vk::ShaderStageFlags::COMPUTE, include_bytes!("shaders/divergence.comp.spv")),
    ("memory", vk::ShaderStageFlags::COMPUTE, include_bytes!("shaders/memory.comp.spv")),
    ("sampling", vk::ShaderStageFlags::FRAGMENT, include_bytes!("shaders/sampling.frag.spv")),
];

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Adds the execution mode `DenormFlushToZero 32` to the entry point of a module.
fn flushing(mut words: Vec<u32>) -> Vec<u32> {
    const HEADER_WORDS: usize = 5;
    const ENTRY_POINT: u32 = 15;
    const EXECUTION_MODE: u32 = 16;
    const FLUSH_TO_ZERO: u32 = 4460;
    let mut at = HEADER_WORDS;
    while words[at] & 0xffff != ENTRY_POINT {
        at += (words[at] >> 16) as usize;
    }
    let (next, function) = (at + (words[at] >> 16) as usize, words[at + 2]);
    words.splice(next..next, [4 << 16 | EXECUTION_MODE, function, FLUSH_TO_ZERO, 32]);
    words
}

fn compile(stage: vk::ShaderStageFlags, words: &[u32]) -> Program {
    let module = spirv::parse(words).expect("the shader parses");
    Program::new(spirv::compile(&module, "main", stage, &Vec::new()).expect("the shader compiles"), "main")
}

fn executors() -> Vec<(&'static str, Option<Target>)> {
    let all = [("interp", None), ("avx2", Some(Target::Avx2)), ("avx512", Some(Target::Avx512))];
    all.into_iter().filter(|(_, target)| target.is_none_or(Target::is_supported)).collect()
}

/// Returns a buffer of 4 KiB, or an image of 64×64 texels with a bilinear sampler.
fn resources(name: &str) -> Bindings {
    let memory = Allocation::new(&Heap::new(1 << 20), 1 << 16).expect("the heap has room");
    for word in 0..1 << 14 {
        memory.write(word * 4, &(1.0f32 + word as f32 * 1e-3).to_le_bytes());
    }
    if name != "sampling" {
        return Bindings::new(vec![vec![Bound::Buffer(Some(memory), 0, 4096)]]);
    }
    let format = vk::Format::R8G8B8A8_UNORM;
    let surface = Surface::new(SurfaceDesc {
        kind: vk::ImageType::TYPE_2D,
        format,
        extent: vk::Extent3D { width: 64, height: 64, depth: 1 },
        levels: 1,
        layers: 1,
        samples: 1,
        linear: false,
        decoded: false,
    });
    let surface = surface.expect("a valid image");
    surface.bind(memory, 0);
    let desc = SurfaceViewDesc {
        kind: vk::ImageViewType::TYPE_2D,
        format,
        swizzle: Swizzle::IDENTITY,
        aspects: vk::ImageAspectFlags::COLOR,
        base_level: 0,
        levels: 1,
        base_layer: 0,
        layers: 1,
        slices: None,
        min_lod: 0.0,
        decodes_codes: false,
    };
    let view = SurfaceView { surface, desc };
    let sampler = Sampler {
        mag_filter: vk::Filter::LINEAR,
        min_filter: vk::Filter::LINEAR,
        mipmap_mode: vk::SamplerMipmapMode::NEAREST,
        address_mode: [vk::SamplerAddressMode::REPEAT; 3],
        ..Sampler::default()
    };
    let descriptor = Descriptor::CombinedImageSampler(Arc::new(view), Arc::new(sampler));
    Bindings::new(vec![vec![Bound::new(descriptor, 0)]])
}

fn kernels(criterion: &mut Criterion) {
    for (name, stage, bytes) in KERNELS {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(16));
        let bindings = resources(name);
        let deadline = Deadline::after(Duration::from_secs(3600));
        let environment = Environment::new(&bindings, &deadline);
        let words = if name == FLUSHING { flushing(words(bytes)) } else { words(bytes) };
        for (executor, target) in executors() {
            let mut program = compile(stage, &words);
            program.generate(target).expect("the generator knows it");
            let mut wave = Wave::default();
            group.bench_function(executor, |bencher| {
                bencher.iter(|| {
                    wave.start(&program, u16::MAX, 0);
                    for (slot, lanes) in wave.inputs.iter_mut().enumerate() {
                        *lanes = std::array::from_fn(|lane| match program.inputs[slot].ty {
                            Type::F32 => (lane as f32 * 0.05 + slot as f32 * 0.1).to_bits(),
                            _ => lane as u32,
                        });
                    }
                    wave.run(&program, &environment)
                });
            });
        }
        group.finish();
    }
}

/// Returns straight-line code of about `size` operations in eight dependency chains.
fn straight(size: u32) -> Function {
    let mut b = Builder::new();
    let mut chains: Vec<_> = (0..8).map(|slot| b.input(slot, Type::F32)).collect();
    for step in 0..size / 3 {
        let (at, other) = (step as usize % 8, (step as usize * 5 + 3) % 8);
        let factor = b.float(0.5 + (step % 61) as f32 * 0.01);
        let scaled = b.binary(BinaryOp::FMul, chains[at], factor);
        let sum = b.ternary(TernaryOp::Fma, scaled, chains[other], factor);
        chains[at] = b.binary(BinaryOp::FMax, sum, scaled);
    }
    for (slot, value) in chains.into_iter().enumerate() {
        b.push(Inst::Output { slot: slot as u32, value });
    }
    b.finish()
}

fn compile_time(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    group.sample_size(10);
    for size in [500, 5_000, 15_000, 50_000] {
        group.throughput(Throughput::Elements(u64::from(size)));
        let function = straight(size);
        group.bench_with_input(BenchmarkId::new("passes", size), &function, |bencher, function| {
            bencher.iter(|| {
                let mut function = function.clone();
                passes::optimize(&mut function, &mut |_, _| {});
                function
            });
        });
        let mut optimized = function.clone();
        passes::optimize(&mut optimized, &mut |_, _| {});
        let mut executable = Executable::new(optimized, |_| LaneVariance::Divergent);
        for (name, target) in executors().into_iter().filter(|(_, target)| target.is_some()) {
            group.bench_function(BenchmarkId::new(name, size), |bencher| bencher.iter(|| executable.generate(target)));
        }
    }
    group.finish();
}

/// Measures a fragment shader that is compiled from SPIR-V, and one that is restored from a
/// pipeline cache.
fn restore_time(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("restore");
    let bytes = include_bytes!("../../../samples/shaders/model.frag.spv");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let module = spirv::parse(&words).expect("a committed shader");
    let compile = || {
        let shader = spirv::compile(&module, "main", ash::vk::ShaderStageFlags::FRAGMENT, &Vec::new());
        Program::new(shader.expect("a committed shader"), "main")
    };
    let saved = compile().to_text();
    group.bench_function("compiled", |bencher| bencher.iter(compile));
    group.bench_function("restored", |bencher| {
        bencher.iter(|| Shader::from_text(&saved).map(|shader| Program::new(shader, "main")))
    });
    group.finish();
}

criterion_group!(benches, kernels, compile_time, restore_time);
criterion_main!(benches);
