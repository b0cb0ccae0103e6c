//! Benchmark of the line codec: encoding and decoding of constant lines, gradients, noise and
//! mixtures, for each kind of format that the codec distinguishes.
//!
//! `cargo bench --package vitric-memory --bench codec [FILTER]`. Throughput is in uncompressed
//! bytes, on one thread.

use std::hint::black_box;

use ash::vk;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use vitric_format as format;
use vitric_memory::near::codec::{Codec, Control, LINE, Line};

/// Lines of an input: 16 KiB, so that the first-level cache holds the input and the coded lines.
const LINES: usize = 64;

fn hashed(seed: u32) -> u32 {
    let word = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    let word = (word ^ word >> 15).wrapping_mul(0x2c1b_3c6d);
    (word ^ word >> 12).wrapping_mul(0x297a_2d39)
}

/// Returns column and row of texel `number` of a line of 8x8 texels, in the order in which
/// surfaces store them.
fn place(number: u32) -> (f32, f32) {
    let (strip, quad) = (number / 16, number / 4 % 4);
    ((quad * 2 + (number & 1)) as f32, (strip * 2 + (number >> 1 & 1)) as f32)
}

/// Returns texel `number` of line `line` of a gradient, at most four words.
fn gradient(codec: &str, line: u32, number: u32) -> [u32; 4] {
    let (x, y) = place(number);
    let at = |scale: f32| 0.2 + (x * 0.003 + y * 0.0017) * scale + (line % 16) as f32 * 0.01;
    let half = |scale: f32| u32::from(half::f16::from_f32(at(scale)).to_bits());
    match codec {
        "rgba8" => {
            [(at(1.0) * 255.0) as u32 | ((at(0.7) * 255.0) as u32) << 8 | ((at(0.3) * 255.0) as u32) << 16 | 0xff << 24;
                4]
        }
        "r11g11b10f" => [half(1.0) >> 4 | (half(0.7) >> 4) << 11 | (half(0.3) >> 5) << 22; 4],
        "rgba16f" => [half(1.0) | half(0.7) << 16, half(0.3) | 0x3c00 << 16, 0, 0],
        "rg16f" => [half(1.0) | half(0.7) << 16; 4],
        "rg32f" => [at(1.0).to_bits(), at(0.7).to_bits(), 0, 0],
        "rg8" => [((at(1.0) * 255.0) as u32 | ((at(0.7) * 255.0) as u32) << 8) * 0x0001_0001; 4],
        // Each word holds several texels.
        "r8" | "rgb8" => [(at(1.0) * 255.0) as u32 * 0x0101_0101; 4],
        "d16" => [(at(1.0) * 65535.0) as u32 * 0x0001_0001; 4],
        "r5g6b5" => {
            [((at(1.0) * 31.0) as u32 | ((at(0.7) * 63.0) as u32) << 5 | ((at(0.3) * 31.0) as u32) << 11) * 0x0001_0001;
                4]
        }
        _ => [at(1.0).to_bits(); 4],
    }
}

fn inputs(name: &str, words: usize) -> [(&'static str, Vec<Line>); 4] {
    let lines = |texel: &dyn Fn(u32, u32) -> [u32; 4]| {
        let line = |line| Line(std::array::from_fn(|word| texel(line, (word / words) as u32)[word % words]));
        (0..LINES as u32).map(line).collect()
    };
    [
        ("constant", lines(&|line, _| [hashed(line); 4])),
        ("gradient", lines(&|line, number| gradient(name, line, number))),
        (
            "detail",
            lines(&|line, number| {
                gradient(name, line, number).map(|word| word ^ hashed(line * 64 + number) & 0x0707_0707)
            }),
        ),
        ("noise", lines(&|line, number| std::array::from_fn(|word| hashed((line * 64 + number) * 4 + word as u32)))),
    ]
}

fn codec(criterion: &mut Criterion) {
    let color = |format| Codec::of_color(format::info(format).expect("a format of the table"));
    let codecs = [
        ("rgba8", color(vk::Format::R8G8B8A8_UNORM), 1),
        ("r11g11b10f", color(vk::Format::B10G11R11_UFLOAT_PACK32), 1),
        ("rgba16f", color(vk::Format::R16G16B16A16_SFLOAT), 2),
        ("rg16f", color(vk::Format::R16G16_SFLOAT), 1),
        ("rg32f", color(vk::Format::R32G32_SFLOAT), 2),
        ("rgba32f", color(vk::Format::R32G32B32A32_SFLOAT), 4),
        ("rg8", color(vk::Format::R8G8_UNORM), 1),
        ("r8", color(vk::Format::R8_UNORM), 1),
        ("r5g6b5", color(vk::Format::R5G6B5_UNORM_PACK16), 1),
        ("d32f", Codec::of_depth(32), 1),
        ("d16", Codec::of_depth(16), 1),
        // The codec has no specific arithmetic for these formats and codes their blocks as rows of
        // words.
        ("rgb8", color(vk::Format::R8G8B8_UNORM), 1),
    ];
    for (name, codec, words) in codecs {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes((LINES * LINE) as u64));
        for (input, lines) in inputs(name, words) {
            let mut coded = vec![Line::ZERO; LINES];
            let encode = |coded: &mut Vec<Line>, controls: &mut Vec<Control>| {
                controls.clear();
                controls.extend(lines.iter().zip(coded).map(|(line, out)| codec.encode(black_box(line), out)));
            };
            let mut controls = Vec::new();
            encode(&mut coded, &mut controls);
            let decode = |back: &mut Vec<Line>| {
                for ((coded, control), line) in coded.iter().zip(&controls).zip(back) {
                    codec.decode(*control, black_box(coded), line);
                }
            };
            let mut back = vec![Line::ZERO; LINES];
            decode(&mut back);
            assert!(back == lines, "what comes back is what went in");
            group.bench_function(BenchmarkId::new("decode", input), |bencher| bencher.iter(|| decode(&mut back)));
            let (mut again, mut of_again) = (coded.clone(), Vec::new());
            group.bench_function(BenchmarkId::new("encode", input), |bencher| {
                bencher.iter(|| encode(&mut again, &mut of_again));
            });
            let bytes: usize = controls.iter().map(|control| control.bytes()).sum();
            println!("{name}/{input}: {:.2} : 1", (LINES * LINE) as f64 / bytes as f64);
        }
        group.finish();
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
