//! Tests of the results of compiled programs against equal computations in Rust.

use super::scene::{Scene, check_lanes};

#[test]
fn switches_fall_through_continue_and_nest() {
    fn inner(a: u32, b: u32) -> u32 {
        match (a, b) {
            (0, 0) => 5,
            (0, 1) | (1, _) => 7,
            (0, _) => 6,
            (2, _) => 112,
            (3, _) => 103,
            (4, _) => 1004,
            _ => a + 110,
        }
    }
    fn total(lane: u32) -> u32 {
        let mut total = 0;
        for i in 0..lane {
            match i & 3 {
                0 => {
                    total += 1;
                    continue;
                }
                1 => total += 110,
                2 => total += 100,
                _ if i > 9 => {}
                _ => total += 1000,
            }
            total += 7;
        }
        total
    }
    check_lanes(&Scene::new("switches.comp.spv").run(), |lane| [total(lane), inner(lane % 6, lane / 6)]);
}

#[test]
fn loops_leave_and_continue_where_they_should() {
    let data: Vec<u32> = (0..16).map(|index| index * 5 % 11).collect();
    let model = |lane: u32| {
        let (mut a, mut n) = (0, lane);
        while n % 2 == 1 || n > 8 {
            if n == 13 {
                break;
            }
            n = if n > 8 { n - 3 } else { n + 1 };
            a += 1;
        }
        let b = (1..=lane.max(1)).filter(|i| i % 3 != 0).sum();
        let c = (lane / 3 + 1) * 3;
        let d = u32::from(lane > 3 && data[lane as usize] > 4 || lane == 1);
        let (mut x, mut y) = (1, 0);
        for _ in 0..lane {
            (x, y) = (x + y, x);
        }
        [a, b, if c > 12 { 99 } else { c }, d, y]
    };
    check_lanes(&Scene::new("loops.comp.spv").buffer(1, &data).run(), model);
}

#[test]
fn functions_take_and_return_by_value_and_reference() {
    let model = |lane: u32| {
        let z = if lane > 7 { 0 } else { lane * lane };
        let mut b = [1, 2, 3];
        b[lane as usize % 3] += lane;
        b[2] += lane;
        let early = (0..9).find(|i| i * i > lane).unwrap() + 100;
        let pair = 2 * 100 + b[0] * 49 + b[1] * 7 + b[2];
        [(lane + 2) * 3 + (lane + 4) * 3, lane + 4, (lane + 1) * 1000 + z, pair, lane + 1, early]
    };
    check_lanes(&Scene::new("calls.comp.spv").run(), model);
}

#[test]
fn arrays_are_indexed_and_copied() {
    const TABLE: [u32; 20] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4];
    let model = |lane: u32| {
        let pair = [lane % 3 * 2 + 1, lane % 3 * 2 + 2];
        [
            TABLE[lane as usize] + TABLE[lane as usize * 7 % 20],
            pair[1] + pair[lane as usize & 1],
            (0..3).flat_map(|i| (0..4).map(move |j| i * 10 + j)).sum::<u32>() + 100,
            100 + lane,
            (lane ^ 1) * 3,
        ]
    };
    check_lanes(&Scene::new("arrays.comp.spv").run(), model);
}

#[test]
fn vectors_are_swizzled_and_compared() {
    let model = |lane: u32| {
        let f = (lane + 1) as f32;
        let mut v = [1.0, 2.0, 3.0, 4.0].map(|x: f32| x * f);
        (v[2], v[0]) = (v[0], v[1]);
        v[lane as usize & 3] = 0.5;
        let i = [v[3], v[2], v[1]].map(|x| x as i32);
        let less = [i[0] < 5, i[1] < lane as i32, i[2] < 7];
        let mut bits = u32::from(less.contains(&true)) | u32::from(less == [true; 3]) << 1;
        bits |= u32::from(!less[1]) << 2 | u32::from(i[1] == i[0]) << 3;
        let mixed: [f32; 3] = std::array::from_fn(|c| if less[c] { v[3 - c] } else { v[c] });
        let sum = mixed[0] + mixed[1] * 100.0 + mixed[2] * 10000.0;
        [v[0].to_bits(), v[1].to_bits(), v[2].to_bits(), v[3].to_bits(), bits, sum.to_bits()]
    };
    check_lanes(&Scene::new("vectors.comp.spv").run(), model);
}

#[test]
fn matrices_multiply_and_invert() {
    let out = Scene::new("matrices.comp.spv").run();
    for lane in 0..16u32 {
        let f = lane as f32;
        let a = [[1.0, 2.0, 3.0], [4.0, 5.0, f]];
        let dot = |x: [f32; 3], y: [f32; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let c = [[dot(a[0], a[0]), dot(a[0], a[1])], [dot(a[1], a[0]), dot(a[1], a[1])]];
        let d = |column: usize, row: usize| {
            a[0][row] * a[0][column] + a[1][row] * a[1][column] + if row == column { 2.0 } else { 0.0 }
        };
        let minor = |r: usize, s: usize| d(1, r) * d(2, s) - d(1, s) * d(2, r);
        let determinant = d(0, 0) * minor(1, 2) - d(0, 1) * minor(0, 2) + d(0, 2) * minor(0, 1);
        let e: [f32; 3] = std::array::from_fn(|row| a[0][row] * 2.0 + a[1][row] * 3.0);
        let g = [dot([1.0, f, 2.0], a[0]), dot([1.0, f, 2.0], a[1])];
        let outer = [1.0, 2.0, 3.0][lane as usize / 3 % 3] * [4.0, 5.0, f][lane as usize % 3];
        let mut m = [[2.0, 0.0, 0.0, 0.0], [1.0, 4.0, 0.0, 0.0], [0.0, 0.0, 8.0, 0.0], [f, 1.0, 2.0, 1.0f32]];
        m[lane as usize & 3] = [9.0; 4];
        m[1][lane as usize & 3] = 5.0;
        let expected = [
            c[0][0] + c[0][1] * 10.0 + c[1][0] * 100.0 + c[1][1],
            determinant,
            e[0] + e[1] * 10.0 + e[2] * 100.0,
            g[0] + g[1] * 1000.0,
            outer,
            64.0,
            0.0,
            c[0][0] + c[0][1] * 2.0 + c[1][0] * 3.0 + c[1][1] * 4.0,
            m[0][0] + m[1][1] * 10.0 + m[2][2] * 100.0 + m[3][3] * 1000.0,
            -c[0][0] / 2.0 + (-c[1][1] / 2.0 + 1.0),
        ];
        for (index, &expected) in expected.iter().enumerate() {
            let value = f32::from_bits(out[lane as usize * 10 + index]);
            let close = (value - expected).abs() <= expected.abs() * 1e-4 + 1e-4;
            assert!(close, "lane {lane}, value {index}: {value}, expected {expected}");
        }
    }
}

/// Returns pairs of integers of both signs, near zero, and at the extremes.
fn integer_pairs() -> Vec<u32> {
    let special = [1, 2, 7, 31, 32, 33, 1000, 0x7fff_ffff, 0x8000_0001, 0xffff_ffff, 0xffff_fff9, 0x1234_5678];
    (0..16usize).flat_map(|lane| [special[lane % 12], special[(lane * 5 + 3) % 12]]).collect()
}

#[test]
fn integer_division_and_carries() {
    let data = integer_pairs();
    let out = Scene::new("integers.comp.spv").buffer(1, &data).run();
    for lane in 0..16 {
        let (a, b) = (data[lane * 2], data[lane * 2 + 1]);
        let (sa, sb) = (a as i32, b as i32);
        let wide = u64::from(a) * u64::from(b);
        let signed = i64::from(sa) * i64::from(sb);
        let expected = [
            sa.wrapping_div(sb) as u32,
            a / b,
            a % b,
            a.wrapping_add(b) ^ u32::from(a.checked_add(b).is_none()),
            a.wrapping_sub(b) ^ u32::from(a < b),
            (wide >> 32) as u32 ^ wide as u32,
            (signed >> 32) as u32 ^ signed as u32,
        ];
        assert_eq!(out[lane * 16..][..7], expected, "lane {lane}: {a:x} {b:x}");
    }
}

#[test]
fn bits_are_shifted_extracted_and_inserted() {
    let data = integer_pairs();
    let out = Scene::new("integers.comp.spv").buffer(1, &data).run();
    for lane in 0..16 {
        let (a, b) = (data[lane * 2], data[lane * 2 + 1]);
        let shift = b & 31;
        let field = 0x7ffu32 << 7;
        let insert = |base: u32, new: u32| base & !field | new << 7 & field;
        let expected = [
            (a << shift) ^ (a >> shift) ^ (a as i32 >> shift) as u32,
            ((a << 18) as i32 >> 23) as u32,
            a << 18 >> 23,
            insert(a, b),
            insert(b, a),
            a.reverse_bits() ^ a.count_ones(),
        ];
        assert_eq!(out[lane * 16 + 7..][..6], expected, "lane {lane}: {a:x} {b:x}");
    }
}

#[test]
fn integers_are_compared_and_searched() {
    let data = integer_pairs();
    let out = Scene::new("integers.comp.spv").buffer(1, &data).run();
    for lane in 0..16 {
        let (a, b) = (data[lane * 2], data[lane * 2 + 1]);
        let (sa, sb) = (a as i32, b as i32);
        let highest = |x: u32| 31u32.wrapping_sub(x.leading_zeros());
        let signed_highest = highest(if sa < 0 { !a } else { a });
        let found = a.trailing_zeros().wrapping_add(signed_highest.wrapping_mul(100));
        let expected = [
            found.wrapping_add(highest(b).wrapping_mul(10000)),
            sa.wrapping_abs() as u32 ^ sb.signum() as u32 ^ sa.min(sb) as u32 ^ a.max(b) ^ sa.clamp(-5, 5) as u32,
            u32::from(sa < sb)
                | u32::from(a < b) << 1
                | u32::from(sa >= sb) << 2
                | u32::from(a >= b) << 3
                | u32::from(a == b) << 4,
        ];
        assert_eq!(out[lane * 16 + 13..][..3], expected, "lane {lane}: {a:x} {b:x}");
    }
}

const FLOATS: [f32; 16] =
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.5, -0.5, -1.25, -1.5, -2.5, 7.125, 1000.75, -100.5, 2.0];

#[test]
fn floats_are_rounded() {
    let out = Scene::new("floats.comp.spv").floats(1, &FLOATS).run();
    for (lane, &x) in FLOATS.iter().enumerate() {
        let value = |index: usize| f32::from_bits(out[lane * 16 + index]);
        let expected = [x.floor(), x.ceil(), x.trunc(), x.round_ties_even(), x - x.floor(), x - x.trunc(), x.trunc()];
        assert_eq!(std::array::from_fn(value), expected, "{x}");
        assert_eq!((value(13), out[lane * 16 + 14] as i32), (x - 3.0 * (x / 3.0).floor(), x as i32), "{x}");
    }
}

#[test]
fn floats_are_taken_apart_and_put_together() {
    let out = Scene::new("floats.comp.spv").floats(1, &FLOATS).run();
    for (lane, &x) in FLOATS.iter().enumerate() {
        let (mantissa, exponent) = (f32::from_bits(out[lane * 16 + 7]), out[lane * 16 + 8] as i32);
        assert!(x == 0.0 || (0.5..1.0).contains(&mantissa.abs()), "{x}: {mantissa}");
        assert_eq!(mantissa * (exponent as f32).exp2(), x);
        assert_eq!(f32::from_bits(out[lane * 16 + 9]), x);
    }
}

#[test]
fn floats_are_packed() {
    let out = Scene::new("floats.comp.spv").floats(1, &FLOATS).run();
    for (lane, &x) in FLOATS.iter().enumerate() {
        let half = u32::from(half::f16::from_f32(x).to_bits()) | 0x3800_0000;
        let snorm = |x: f32| (x.clamp(-1.0, 1.0) * 127.0).round_ties_even() as i32 as u32 & 0xff;
        let bytes = snorm(x) | snorm(-x) << 8 | snorm(x * 0.1) << 16 | 127 << 24;
        let shorts = ((x * 0.01).clamp(0.0, 1.0) * 65535.0).round_ties_even() as u32 | 16384 << 16;
        assert_eq!(out[lane * 16 + 10..][..3], [half, bytes, shorts], "{x}");
    }
}

#[test]
fn floats_are_clamped_and_stepped() {
    let out = Scene::new("floats.comp.spv").floats(1, &FLOATS).run();
    for (lane, &x) in FLOATS.iter().enumerate() {
        let t = (x / 4.0).clamp(0.0, 1.0);
        let sign = if x == 0.0 { 0.0 } else { x.signum() };
        let step = if x < 1.0 { 0.0 } else { 10.0 };
        let expected = x.clamp(-1.5, 2.5) + step + sign * 100.0 + t * t * (3.0 - 2.0 * t);
        let value = f32::from_bits(out[lane * 16 + 15]);
        assert!((value - expected).abs() < 1e-4, "{x}: {value}, expected {expected}");
    }
}

#[test]
fn geometric_functions() {
    type V = [f32; 3];
    let dot = |a: V, b: V| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = |a: V| dot(a, a).sqrt();
    let scale = |a: V, s: f32| a.map(|x| x * s);
    let sub = |a: V, b: V| -> V { std::array::from_fn(|i| a[i] - b[i]) };
    let out = Scene::new("geometry.comp.spv").run();
    for lane in 0..16 {
        let (a, b) = ([1.0, lane as f32, -2.0], [0.5, 2.0, lane as f32 * 0.25]);
        let n = scale(b, 1.0 / length(b));
        let unit = scale(a, 1.0 / length(a));
        let k = 1.0 - 0.75 * 0.75 * (1.0 - dot(n, unit) * dot(n, unit));
        let refracted = sub(scale(unit, 0.75), scale(n, 0.75 * dot(n, unit) + k.max(0.0).sqrt()));
        let forward = if dot(b, a) < 0.0 { n } else { scale(n, -1.0) };
        let unpacked = [64.0 / 255.0, 0.0, 128.0 / 255.0];
        let expected = [
            [length(a), length(sub(a, b)), dot(a, b)],
            [a[1] * b[2] - b[1] * a[2], a[2] * b[0] - b[2] * a[0], a[0] * b[1] - b[0] * a[1]],
            sub(a, scale(n, 2.0 * dot(n, a))),
            if k < 0.0 { [0.0; 3] } else { refracted },
            std::array::from_fn(|i| forward[i] + a[i] * 0.75 + b[i] * 0.25 + unpacked[i]),
        ];
        for (index, &expected) in expected.as_flattened().iter().enumerate() {
            let value = f32::from_bits(out[lane * 15 + index]);
            assert!((value - expected).abs() < 1e-4, "lane {lane}, value {index}: {value}, expected {expected}");
        }
    }
}

#[test]
fn atomics_lose_nothing() {
    let out = Scene::new("atomics.comp.spv").buffer(0, &[]).run();
    assert_eq!(out[..5], [16, 225, 0xffff, 0, 77]);
    assert_eq!(out[5], 16, "a chain of compare-exchanges");
    assert_eq!((out[6], out[7] as i32), (136, -5));
    assert_eq!(out[8..12], [0x1111, 0x2222, 0x4444, 0x8888]);
    assert_eq!(out[16..32], std::array::from_fn::<u32, 16, _>(|index| index as u32 + 1000));
}

#[test]
fn runtime_arrays_know_their_length() {
    let read = Scene::new("lengths.comp.spv").buffer(2, &[]).run_and_read(&[0, 2]);
    let (out, nodes) = (&read[0], &read[1]);
    // The nodes start at byte 16 and take 32 bytes each.
    assert_eq!(out[..2], [2048, (8192 - 16) / 32]);
    assert_eq!(nodes[0], 123);
    for lane in 0..16u32 {
        let node = &nodes[4 + lane as usize * 8..][..8];
        let tail = if lane % 2 == 0 { [10, 0] } else { [1, 9] };
        assert_eq!(node[..6], [0, (lane as f32).to_bits(), 0, lane * 2, tail[0], tail[1]], "node {lane}");
    }
}

fn special(constants: &[(u32, u64)]) -> Vec<u32> {
    Scene::new("special.comp.spv").specialize(constants).run()
}

#[test]
fn specialization_constants_have_defaults() {
    let out = special(&[]);
    assert_eq!(out[..4], [21 + 300 + 7000, (-20i32) as u32, 11_001, 3.0f32.to_bits()]);
    assert_eq!(out[4], 0, "only one invocation ran");
}

#[test]
fn specialization_changes_sizes_and_expressions() {
    let out = special(&[(0, 4), (1, 3), (2, 5), (3, 1), (4, 0.25f32.to_bits().into()), (5, 9)]);
    for id in 0..12u32 {
        let size = 4 * 10000 + 3 * 1000 + id % 4 * 100 + id / 4 * 10 + 1;
        assert_eq!(out[id as usize * 4..][..4], [55 + 500 + 11000, 9, size, 0.5f32.to_bits()], "invocation {id}");
    }
    assert_eq!(out[48], 0);
}

#[test]
fn matrices_in_memory_are_read_by_their_layout() {
    // std140: `r` as 3 rows of 4, `c` as 2 columns of 4, then twice (2 rows of 4, `f` padded to
    // 4).
    let uniform: Vec<f32> = (0..12 + 8 + 24).map(|index| index as f32).collect();
    let scene = Scene::new("layouts.comp.spv").floats(2, &uniform).buffer(3, &[]);
    let out = scene.run();
    for lane in 0..16usize {
        let value = |index: usize| f32::from_bits(out[lane * 4 + index]);
        let inner = |element: usize, column: usize, row: usize| (20 + element * 12 + row * 4 + column) as f32;
        let (column, row) = (lane & 1, lane % 3);
        assert_eq!(value(0), (row * 4 + column) as f32, "row-major, lane {lane}");
        assert_eq!(value(1), (12 + column * 4 + row) as f32, "column-major, lane {lane}");
        let f = (20 + (lane & 1) * 12 + 8) as f32;
        let sum = inner(lane & 1, row, 0) + inner(lane & 1, row, 1) * 100.0 + f * 10000.0;
        assert_eq!(value(2), sum, "structure, lane {lane}");
        assert_eq!(value(3), inner(1, row, 0) + inner(1, row, 1) * 2.0, "dot, lane {lane}");
    }
}

#[test]
fn matrices_in_memory_are_written_by_their_layout() {
    let read = Scene::new("layouts.comp.spv").buffer(2, &[]).buffer(3, &[]).run_and_read(&[3]);
    let value = |index: usize| f32::from_bits(read[0][index]);
    for column in 0..4 {
        for row in 0..3 {
            assert_eq!(value(row * 4 + column), (column + row * 10) as f32);
        }
    }
    let columns: Vec<f32> = (12..28).map(value).collect();
    assert_eq!(columns[..12], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!(columns[12..15], [7.0, 8.0, 9.0]);
}

#[test]
fn arrays_of_arrays_of_buffers_are_numbered_row_by_row() {
    let scene = (0..6).fold(Scene::new("descriptors.comp.spv"), |scene, index| scene.buffer(2, &[index * 11]));
    let out = scene.run();
    for lane in 0..16u32 {
        assert_eq!(out[lane as usize], (lane % 2 * 3 + lane % 3) * 11, "lane {lane}");
    }
}

#[test]
fn sums_of_products_are_fused_unless_they_are_precise() {
    let values: Vec<f32> = (0..48).map(|index| 1.0 + (index * index % 37) as f32 / 8191.0).collect();
    // `spirv-opt` also fuses differences of two products.
    let out = Scene::new("contraction.comp.spv").only_as_compiled().floats(1, &values).run();
    let mut fused = 0;
    for lane in 0..16 {
        let (a, b, c) = (values[lane], values[lane + 16], -values[lane + 32]);
        fused += usize::from(a.mul_add(b, -c) != a * b - c);
        let c = -c;
        let expected = [
            a.mul_add(b, c),
            a.mul_add(b, c),
            a.mul_add(b, -c),
            (-a).mul_add(b, c),
            a * a - b * b,
            a * b + c,
            a.mul_add(c, b),
            b.mul_add(c, a),
        ];
        assert_eq!(std::array::from_fn(|index| f32::from_bits(out[lane * 8 + index])), expected, "{lane}");
    }
    assert!(fused > 0, "operands that tell the two apart");
}

#[test]
fn weights_of_0_are_not_computed_unless_that_is_asked_for() {
    let of = [f32::INFINITY, f32::NAN, -3.0, -0.0];
    let values: Vec<f32> = (0..32).map(|index| if index < 16 { of[index % 4] } else { index as f32 }).collect();
    let out = Scene::new("zero_weights.comp.spv").only_as_compiled().floats(1, &values).run();
    let kept = Scene::new("zero_weights_preserved.comp.spv").only_as_compiled().floats(1, &values).run();
    for lane in 0..16 {
        let (a, b) = (values[lane], values[lane + 16]);
        let found: [f32; 5] = std::array::from_fn(|index| f32::from_bits(out[lane * 5 + index]));
        assert_eq!(found[..4], [b, b, 0.0, b], "{lane}");
        // All bits must be equal, except for those of NaN.
        let bits = |value: f32| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() };
        let kept = [0, 1].map(|index| f32::from_bits(kept[lane * 2 + index]));
        assert_eq!([found[4], kept[0], kept[1]].map(bits), [a * 0.0, a * 0.0, a + 0.0].map(bits), "{lane}");
    }
}

#[test]
fn control_flow_computes_what_the_source_says() {
    fn collatz(mut n: i32) -> i32 {
        let mut steps = 0;
        while n > 1 {
            if steps > 50 {
                return -1;
            }
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    }
    fn classify(n: i32) -> i32 {
        match n {
            0 => 11,
            1 => 10,
            2 | 3 => 77,
            7 => 1 + 3,
            n if n > 10 => 100 + n,
            n => 1100 + n,
        }
    }
    fn nested(n: i32) -> i32 {
        let mut total = 0;
        for i in 0..n {
            for j in (0..4.min(i + 1)).filter(|j| (i + j) % 3 != 0) {
                total += i * j + 1;
            }
            let mut k = 0;
            loop {
                total ^= k;
                k += 2;
                if k >= i {
                    break;
                }
            }
        }
        total
    }
    let out = Scene::new("control.comp.spv").run();
    for lane in 0..16 {
        let expected = [collatz(lane), classify(lane), nested(lane)].map(|value| value as u32);
        assert_eq!(out[lane as usize * 3..][..3], expected, "lane {lane}");
    }
}

#[test]
fn layouts_are_those_of_the_decorations() {
    // std140: an item is position and weight (4), two columns of 4, three tags of 4 each: 24
    // floats.
    let mut uniform = vec![0.0; 24 * 2 + 12 + 1];
    for item in 0..2 {
        let at = item * 24;
        uniform[at..at + 12].copy_from_slice(&[1.0, 2.0, 3.0, 0.5, 10.0, 20.0, 30.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
        for tag in 0..3 {
            uniform[at + 12 + tag * 4] = f32::from_bits(100 * item as u32 + tag as u32);
        }
    }
    for row in 0..3 {
        for column in 0..3 {
            uniform[48 + row * 4 + column] = (row * 10 + column) as f32;
        }
    }
    uniform[57 + 2] = 0.25;
    let tail = 48 + 12 - 1;
    uniform[tail] = 0.25;
    let scene = Scene::new("layout.comp.spv").push(&[5, 7, 2.0f32.to_bits()]).floats(1, &uniform);
    let out = scene.specialize(&[(3, 16)]).run();
    let moved = [1.0 + 10.0 + 2.0, 2.0 + 20.0 + 4.0, 3.0 + 30.0 + 6.0f32];
    let sums = [0.0 + 1.0 + 2.0, 10.0 + 11.0 + 12.0, 20.0 + 21.0 + 22.0f32];
    let dot = moved[0] * sums[0] + moved[1] * sums[1] + moved[2] * sums[2];
    for lane in 0..16usize {
        let value = |word: usize| f32::from_bits(out[word]);
        let other = (15 - lane) * (15 - lane);
        assert_eq!(value(lane), other as f32 + 13.0 * 1000.0 + 0.5);
        let (column, row) = (lane % 3, lane / 3 % 3);
        let tag = 100 * (lane & 1) + lane % 3;
        assert_eq!(value(16 + lane), (row * 10 + column) as f32 + tag as f32 * 2.0 + 7.0);
        let diagonal = [0.5, 0.25, 0.125f32][lane % 3];
        let tail = value(32 + lane) - diagonal * 16.0 - dot;
        assert!((tail - uniform[60]).abs() < 1e-2, "lane {lane}: {tail}");
    }
}
