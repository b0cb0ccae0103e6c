//! Tests of numbers of 8, 16 and 64 bits, subgroups and addresses: results of compiled programs
//! against equal computations in Rust.

use std::sync::Arc;

use vitric_format::{f32_to_half, half_to_f32};
use vitric_memory::Addresses;

use super::scene::{Scene, check_lanes};

/// Returns 64-bit numbers that often reveal errors, followed by random ones.
fn words(count: usize) -> Vec<u64> {
    let mut random = super::Random(11);
    let edges = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0xffff_ffff, 1 << 32, 0x8000_0000, 0x3_0000_0001];
    (0..count).map(|index| edges.get(index).copied().unwrap_or_else(|| random.next() >> (index % 5 * 9))).collect()
}

fn halves_of(words: &[u64]) -> Vec<u32> {
    words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect()
}

#[test]
fn integers_of_64_bits() {
    const TABLE: [u64; 4] = [1 << 40, 5, 0xfff_ffff_ffff_ffff, 3 << 33];
    const OTHER: [u64; 4] = [7 << 32, 0x9_0000_0005, 0xffff_ffff, 2 << 50];
    let data = words(32);
    let model = |lane: u32| -> [u64; 24] {
        let [a, b] = [0, 1].map(|part| data[lane as usize * 2 + part]);
        let (sa, sb, shift) = (a as i64, b as i64, b as u32 & 63);
        let flags = [a < b, sa < sb, a <= b, sa >= sb, a == b];
        let key = [0x3_0000_0001, 1, a][(lane as usize / 4).min(2)];
        let chosen = match key {
            0x3_0000_0001 => 77,
            1 => 88,
            _ => key,
        };
        [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a / (b | 1),
            a % (b | 1),
            sa.wrapping_div(sb | 1) as u64,
            sa.wrapping_neg() as u64,
            !a,
            a & b,
            a ^ b,
            a << shift,
            a >> shift,
            (sa >> shift) as u64,
            flags.iter().enumerate().map(|(bit, &flag)| u64::from(flag) << bit).sum(),
            a.max(b) ^ sa.min(sb) as u64,
            (sa.wrapping_abs() as u64).wrapping_add(sb.signum() as u64),
            i64::from(a as i32) as u64 ^ u64::from(b as u32),
            (i64::from(a as i16) as u64).wrapping_add(u64::from(b as u8)),
            u64::from((a as f32).to_bits()) << 32 | u64::from((sb as f32).to_bits()),
            ((a >> 1) as f32 as u64).wrapping_add(-((b >> 40) as f32) as i64 as u64),
            ([a, b, a.wrapping_add(b)][lane as usize % 3] ^ TABLE[lane as usize % 4])
                .wrapping_add(OTHER[lane as usize % 4]),
            data[(15 - lane as usize) * 2],
            u64::wrapping_add(chosen, 0x1_0000_0002),
            (0..u64::from(lane)).map(|turn| 0xffff_fffe + turn).sum(),
        ]
    };
    let out = Scene::new("wide.comp.spv").buffer(1, &halves_of(&data)).run();
    check_lanes(&out, |lane| -> [u32; 48] { halves_of(&model(lane)).try_into().unwrap() });
    let special = Scene::new("wide.comp.spv").specialize(&[(7, 9 << 40)]).buffer(1, &halves_of(&data)).run();
    assert_eq!(special[44..46], [77, 9 << 8], "a specialization constant of 64 bits");
}

#[test]
fn doubles() {
    let data: Vec<f64> = (0..32)
        .map(|index| (f64::from(index) - 15.3) * 1.7f64.powi(index % 9) * [1.0, 0.001][index as usize % 2])
        .collect();
    let model = |lane: usize| {
        let (a, b) = (data[lane * 2], data[lane * 2 + 1]);
        let flags = [a < b, a >= b, true, a != 0.0];
        let exponent = if a == 0.0 { 0 } else { a.abs().log2().floor() as i32 + 1 };
        vec![
            a + b,
            a - b,
            a * b,
            a / b,
            a.mul_add(b, 0.5),
            a.abs().sqrt(),
            a.floor(),
            b.ceil(),
            a.trunc(),
            b.round_ties_even(),
            a - a.floor(),
            b.abs(),
            if a == 0.0 { 0.0 } else { a.signum() },
            -b,
            a.min(b),
            a.max(b),
            a - b * (a / b).floor(),
            if b < a { 0.0 } else { 1.0 },
            flags.iter().enumerate().map(|(bit, &flag)| f64::from(u32::from(flag) << bit)).sum(),
            f64::from(a as f32),
            f64::from(b as i32),
            (a * 1e9) as i64 as f64,
            f64::from(b.abs() as u32),
            a / 2f64.powi(exponent),
            b * 2f64.powi(exponent) + f64::from(exponent),
            b.fract() + b.trunc() * 2.0,
            f64::NAN,
            f64::NAN,
        ]
    };
    let input: Vec<u64> = data.iter().map(|value| value.to_bits()).collect();
    let out = Scene::new("doubles.comp.spv").buffer(1, &halves_of(&input)).run();
    let word = |index: usize| f64::from_bits(u64::from(out[2 * index]) | u64::from(out[2 * index + 1]) << 32);
    for lane in 0..16 {
        let (a, b) = (data[lane * 2], data[lane * 2 + 1]);
        for (index, expected) in model(lane).into_iter().enumerate().take(26) {
            assert_eq!(word(lane * 28 + index), expected, "lane {lane}, value {index}");
        }
        // Results of expressions that may be contracted.
        let close = |value: f64, expected: f64| (value - expected).abs() <= expected.abs().max(1.0) * 1e-12;
        assert!(close(word(lane * 28 + 26), a * 2.0 - b), "determinant {lane}");
        assert!(close(word(lane * 28 + 27), 5.0 * a.abs()), "length {lane}");
    }
}

/// Rounds a float to a half and converts it back.
fn half(value: f32) -> f32 {
    half_to_f32(f32_to_half(value))
}

#[test]
fn integers_and_floats_of_8_and_16_bits() {
    let data: Vec<u32> = words(32).iter().map(|word| (word ^ word >> 17) as u32).collect();
    let memory: Vec<u32> = words(512).iter().map(|word| (word ^ word >> 21) as u32 & 0x3bff_3bff).collect();
    let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_le_bytes()).collect();
    let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let model = |lane: usize| -> [u32; 20] {
        let (a, b) = (data[lane * 2], data[lane * 2 + 1]);
        let (ua, ub, sa, sb) = (a as u8, b as u8, a as i8, b as i8);
        let (va, vb, wa, wb) = (a as u16, b as u16, a as i16, b as i16);
        let quotient = u32::from(ua / (ub | 1)) << 24;
        let (ha, hb) = (half(f32::from(wa) * 0.01), half(f32::from(wb) * 0.37));
        let pack = |x: f32, y: f32| f32_to_half(x) | f32_to_half(y) << 16;
        let node = lane * 32;
        let flags = [ua < ub, sa < sb, va >= vb, wa > wb];
        [
            u32::from(ua.wrapping_add(ub))
                | u32::from(ua.wrapping_sub(ub)) << 8
                | u32::from(ua.wrapping_mul(ub)) << 16
                | quotient,
            i32::from(sa.wrapping_div(sb | 1)) as u32 ^ (i32::from(sa >> 2) as u32) << 8,
            u32::from(va.wrapping_add(vb)) | u32::from(va.wrapping_mul(vb)) << 16,
            i32::from(wa.wrapping_div(wb | 1)) as u32,
            flags.iter().enumerate().map(|(bit, &flag)| u32::from(flag) << bit).sum(),
            i32::from(sa.min(sb)) as u32
                ^ i32::from(wa.max(wb)) as u32
                ^ i32::from(wa.wrapping_abs()) as u32
                ^ u32::from(ua.clamp(9, 200)),
            f32::from(wa).to_bits() ^ f32::from(ub).to_bits(),
            (a & 255) | (b & 0xffff) << 8,
            u32::from(!ua) | u32::from(va.wrapping_neg()) << 8,
            pack(half(ha + hb), half(ha * hb)),
            pack(half(ha / hb), half(ha.abs().sqrt())),
            pack(half(ha + hb * 2.0), ha.max(hb)),
            u32::from(ha < hb) | (ha as i32 as u32) << 8,
            u32::from_le_bytes([ua, ub, 7, sa as u8]) ^ (u32::from(va) | u32::from(vb) << 16),
            f32_to_half(ha) | u32::from(half_to_f32(u32::from(va & 0x7bff)) > 1.0) << 16,
            u32::from(bytes[lane]) | u32::from(bytes[lane * 3 + 1]) << 8 | 0x1234 << 16,
            i32::from(short(lane * 2) as i16) as u32 ^ 0x56 << 24 ^ 1.5f32.to_bits(),
            u32::from((data[(15 - lane) * 2] as u16).wrapping_mul(data[(15 - lane) * 2 + 1] as u16)),
            half_to_f32(u32::from(short(node))).to_bits()
                ^ u32::from(bytes[node + 2])
                ^ u32::from(short(node + 12)) << 16,
            half_to_f32(u32::from(short(node + 28))).to_bits(),
        ]
    };
    let push = [0x1234 | 0x56 << 16, f32_to_half(1.5)];
    let scene = Scene::new("narrow.comp.spv").buffer(1, &data).push(&push);
    let scene = [2, 3, 4].into_iter().fold(scene, |scene, binding| scene.buffer(binding, &memory));
    let out = scene.run_and_read(&[0, 2, 3, 4]);
    for lane in 0..16 {
        let expected = model(lane);
        assert_eq!(out[0][lane * 20..][..20], expected, "lane {lane}");
    }
    let stored: Vec<Vec<u8>> =
        out.iter().map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()).collect();
    for lane in 0..16 {
        assert_eq!(stored[1][lane], data[lane * 2 + 1] as u8, "byte {lane}");
        assert_eq!(stored[2][lane * 2..][..2], (data[lane * 2] as u16).to_le_bytes(), "short {lane}");
    }
    for lane in 0..16 {
        let (node, doubled) = (lane * 32, half(2.0 * half_to_f32(u32::from(short(lane * 32)))));
        assert_eq!(stored[3][node..][..2], (f32_to_half(doubled) as u16).to_le_bytes(), "half {lane}");
        assert_eq!(stored[3][node + 2..][..8], bytes[node + 2..][..8], "what lies between {lane}");
        assert_eq!(stored[3][node + 10..][..2], (data[lane * 2] as u16).to_le_bytes(), "component {lane}");
    }
    assert_eq!(stored[1][16..2000], bytes[16..2000], "nothing else was stored to");
    assert_eq!(stored[2][32..2000], bytes[32..2000], "nothing else was stored to");
}

#[test]
fn subgroups() {
    let data: Vec<u32> = words(40)[9..25].iter().map(|word| (word >> 3) as u32).collect();
    let x = |lane: u32| data[lane as usize];
    let all = || 0..16u32;
    let sum = |lanes: &mut dyn Iterator<Item = u32>| lanes.fold(0u32, |sum, lane| sum.wrapping_add(x(lane)));
    let odd: u32 = all().map(|lane| (x(lane) & 1) << lane).sum();
    let split = |lane: u32| lane % 3 == 1;
    let wide: u64 = all().map(|lane| u64::from(x(lane)) << 20).sum();
    let model = |lane: u32| -> [u32; 40] {
        let same = |other: &u32| split(*other) == split(lane);
        let active = all().filter(same).map(|lane| 1 << lane).sum::<u32>();
        let first = active.trailing_zeros();
        let below = all().filter(same).filter(|&other| other < lane).count() as u32;
        let divergent = if split(lane) {
            [sum(&mut all().filter(same)), active, u32::from(lane == first), below, first, 1]
        } else {
            let least = all().filter(same).map(x).min().unwrap();
            [least, active & 0xfe00, u32::from(lane == first), 2 * (below + 1), 15, active]
        };
        let mut out = vec![
            16 | lane << 8 | 1 << 16,
            ((1 << lane) - 1) | (0xffff & !((1 << lane) - 1)) << 16,
            (1 << lane) | 0xffff << 16,
            sum(&mut all()),
            all().fold(1, |product: u32, lane| product.wrapping_mul(x(lane) | 1)),
            all().map(x).min().unwrap(),
            all().map(|lane| x(lane) as i32).max().unwrap() as u32,
            all().fold(!0, |bits, lane| bits & (x(lane) | 3)),
            all().fold(0, |bits, lane| bits | x(lane)),
            all().fold(0, |bits, lane| bits ^ x(lane)),
            sum(&mut (0..=lane)),
            sum(&mut (0..lane)),
            (0..lane).fold(f32::NEG_INFINITY, |most, lane| most.max((x(lane) & 255) as f32)).to_bits(),
            sum(&mut (lane & !3..(lane & !3) + 4)),
            (lane & 8..(lane & 8) + 8).map(x).max().unwrap(),
            x(5),
            x(0),
            x(15 - lane),
            x(lane ^ 3),
            if lane >= 2 { x(lane - 2) } else { 0 },
            if lane < 13 { x(lane + 3) } else { 0 },
            x(lane & !3 | 2),
            x(lane ^ 1),
            x(lane ^ 2) ^ x(lane ^ 3),
            odd,
            odd.count_ones()
                | (odd & ((2 << lane) - 1)).count_ones() << 8
                | (odd & ((1 << lane) - 1)).count_ones() << 16,
            odd >> lane & 1,
            odd.trailing_zeros() | (31 - odd.leading_zeros()) << 8,
            u32::from(all().all(|lane| x(lane) > 0)) | 2 | 8,
        ];
        out.extend(divergent);
        out.extend([wide as u32, (wide >> 32) as u32]);
        out.push(i32::from(all().map(|lane| x(lane) as i8).min().unwrap()) as u32);
        out.push((0..=lane).map(|turn| 16 - turn).sum());
        out.push(0);
        out.try_into().unwrap()
    };
    let out = Scene::new("subgroups.comp.spv").buffer(1, &data).run();
    check_lanes(&out, model);
}

/// Checks that diverged lanes communicate with the lanes on their path, and with all lanes after
/// reconvergence.
#[test]
fn lanes_come_together_again() {
    let data: Vec<u32> = (0..16u32).map(|lane| (lane * 37 + 11) ^ lane << 3).collect();
    let x = |lane: u32| data[lane as usize];
    let mask =
        |holds: &dyn Fn(u32) -> bool| (0..16u32).filter(|&lane| holds(lane)).map(|lane| 1u32 << lane).sum::<u32>();
    let find = |lane: u32| {
        let lowest = x(lane).trailing_zeros();
        if lane == 3 && lowest > 2 {
            77
        } else if lowest < 8 {
            lowest
        } else {
            99
        }
    };
    let model = |lane: u32| -> [u32; 11] {
        let turns = (0..x(lane) % 7).map(|turn| mask(&|other| turn < x(other) % 7).count_ones());
        let clear = (0..4).filter(|turn| x(lane) >> turn & 1 == 0);
        let clear = clear.map(|turn| mask(&|other| x(other) >> turn & 1 == 0).count_ones() << (turn * 8));
        let case = match x(lane) % 4 {
            0 => 1,
            1 => 6,
            2 => 4,
            _ => {
                if lane > 7 {
                    0
                } else {
                    9
                }
            }
        };
        let branch = mask(&|other| (x(other) % 3 == 0) == (x(lane) % 3 == 0));
        let all = 0xffff;
        [branch, all, turns.sum(), all, clear.sum(), all, case, all, find(lane), all, all]
    };
    let out = Scene::new("reconvergence.comp.spv").only_as_compiled().buffer(1, &data).run();
    check_lanes(&out, model);
}

#[test]
fn atomics_of_64_bits_and_on_floats() {
    let sums: Vec<u64> = vec![7, 1, u64::MAX, 5, 0, u64::MAX, 0, 1, 99];
    let out = Scene::new("atomics64.comp.spv")
        .buffer(1, &halves_of(&sums))
        .floats(2, &[1.0, 2.0, 77.0])
        .run_and_read(&[0, 1, 2]);
    let step = |lane: u64| 0x8000_0001 * (lane + 1);
    let total: u64 = (0..16).map(step).sum();
    let before = |lane: u64| 5 + (0..lane).map(step).sum::<u64>();
    for lane in 0..16u64 {
        let at = lane as usize * 6;
        assert_eq!(out[0][at..at + 2], halves_of(&[before(lane)]), "lane {lane}");
        assert_eq!(out[0][at + 2..at + 4], halves_of(&[total + 5]), "lane {lane}");
        assert_eq!(out[0][at + 4], 120.5f32.to_bits(), "lane {lane}");
        assert_eq!(out[0][at + 5], if lane == 0 { 77.0 } else { lane as f32 - 1.0 }.to_bits(), "lane {lane}");
    }
    let xor = (0..16).fold(5, |bits, lane| bits ^ step(lane));
    let or = (0..16).fold(0u64, |bits, lane| bits | 1 << (lane * 4));
    let and = (0..16).fold(u64::MAX, |bits, lane| bits & !(1 << (lane * 2)));
    let expected = [total + 7, step(15), step(0), xor, or, and, 16, step(15), 0];
    assert_eq!(out[1][..18], halves_of(&expected));
    assert_eq!(out[2][..2], [5.0f32, 122.0].map(f32::to_bits));
}

#[test]
fn memory_is_reached_by_address() {
    let scene = Scene::new("addresses.comp.spv");
    let (first, second) = (scene.memory(), scene.memory());
    let (nodes, items) = (0x7_0000_0000u64, 0x9_1234_5000u64);
    // Three nodes of the fields next, value, small, count.
    let node = |next: u64, value: u32, small: u32| [next as u32, (next >> 32) as u32, value, small, 0, 0];
    let (list_memory, array_memory) = (first.clone(), second.clone());
    let start = move || {
        let list = [node(nodes + 48, 5, 0xffff_0003), node(0, 11, 2), node(nodes + 24, 7, 1)].concat();
        list_memory.write(0, &list.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        let array: Vec<u8> = (0..40u32).flat_map(|index| (index * 100).to_le_bytes()).collect();
        array_memory.write(0, &array);
    };
    let addresses = Addresses::new(vec![(nodes, first.clone()), (items, second.clone())]);
    let push = halves_of(&[nodes, items]);
    let out = scene.addresses(Arc::new(addresses), start).push(&push).run();
    let sum = ((5 + 3) * 3 + 7 + 1) * 3 + 11 + 2;
    check_lanes(&out, |lane| [sum, lane * 100 + (lane + 1) * 100, lane, 0]);
    let mut word = [0; 4];
    first.read(16, &mut word);
    assert_eq!(u32::from_le_bytes(word), 16, "the counter");
    first.read(12, &mut word);
    assert_eq!(u32::from_le_bytes(word), 0xffff_0007, "a 16-bit member, and what lies beside it");
    second.read(15 * 4, &mut word);
    assert_eq!(u32::from_le_bytes(word), 75);
}

#[test]
fn pointers_are_chosen_walked_and_kept() {
    let [a, b] = [1u32, 1000].map(|scale| (0..64).map(|index| index * scale + 3).collect::<Vec<u32>>());
    // Debian's spirv-opt confuses a stored pointer with the word it points to.
    let scene = Scene::new("pointers.comp.spv").only_as_compiled();
    let out = scene.buffer(1, &a).buffer(2, &b).run_and_read(&[0, 1, 2]);
    let (mut left, mut right) = (a.clone(), b.clone());
    check_lanes(&out[0], |lane| {
        let odd = lane % 2 == 1;
        let (source, first) = if odd { (&a, lane as usize) } else { (&b, 15 - lane as usize) };
        let sum = (0..3).map(|turn| source[first + 2 * turn]).sum();
        let shared = lane * 100 * if odd { 1 } else { 3 };
        [source[first], source[first + 1], sum, source[first + 1] + 2 * source[first], shared]
    });
    for lane in 0..16usize {
        if lane % 2 == 1 { left[lane + 16] += 5 } else { right[15 - lane + 16] += 5 }
    }
    assert_eq!((&out[1][..64], &out[2][..64]), (&left[..], &right[..]), "atomics");
}

#[test]
fn integer_dot_products() {
    let data: Vec<u32> = words(40)[4..36].iter().map(|word| (word ^ word >> 13) as u32).collect();
    let out = Scene::new("dots.comp.spv").buffer(1, &data).run();
    check_lanes(&out, |lane| {
        let (a, b) = (data[lane as usize * 2], data[lane as usize * 2 + 1]);
        let (ua, ub) = (a.to_le_bytes(), b.to_le_bytes());
        let dot = |x: &dyn Fn(usize) -> i64, y: &dyn Fn(usize) -> i64| (0..4).map(|at| x(at) * y(at)).sum::<i64>();
        let [signed_a, signed_b]: [&dyn Fn(usize) -> i64; 2] =
            [&|at| i64::from(ua[at] as i8), &|at| i64::from(ub[at] as i8)];
        let [plain_a, plain_b]: [&dyn Fn(usize) -> i64; 2] = [&|at| i64::from(ua[at]), &|at| i64::from(ub[at])];
        let saturated = (dot(signed_a, signed_b) + 2_147_483_000).clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        let bytes = (dot(plain_a, plain_b) + i64::from(a as u8)).min(255);
        let wide = u64::from(a) * u64::from(b) + u64::from(b) * 3;
        let half = f32_to_half(a as f32);
        let truncated = if half_to_f32(half) > a as f32 { half - 1 } else { half };
        [
            dot(signed_a, signed_b) as u32,
            dot(plain_a, plain_b) as u32,
            dot(signed_a, plain_b) as u32,
            saturated as u32,
            bytes as u32,
            (wide >> 32) as u32,
            half_to_f32(truncated).to_bits(),
            [5, 6].get(lane as usize).copied().unwrap_or(7),
        ]
    });
}

#[test]
fn shared_blocks_have_the_layout_they_declare() {
    let out = Scene::new("blocks.comp.spv").run();
    let values = |lane: u32| lane.wrapping_mul(0x0102_0304);
    let bytes: Vec<u8> = (200..216).collect();
    // `rows[1]` follows 3 rows of 2 floats (row major, stride 8).
    let mut words: Vec<u32> = (0..16).map(values).collect();
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(4)) {
        *word = u32::from_le_bytes(bytes.try_into().unwrap());
    }
    let after_bytes = words.clone();
    words[6 + 2 * 2 + 1] = 7.5f32.to_bits();
    words[6 + 2] = 2.5f32.to_bits();
    check_lanes(&out, |lane| {
        let low = values(lane) & 255 | values(15 - lane) >> 24 << 8;
        [low, after_bytes[lane as usize & 3], words[8 + (lane as usize & 7)]]
    });
}
