//! Tests of subgroup operations on numbers of every width, against equal computations in Rust.

use super::scene::{Scene, check_lanes};

/// Operations of a type, on a type `V` that can represent all its values.
struct Ops<'a, V> {
    add: &'a dyn Fn(V, V) -> V,
    mul: &'a dyn Fn(V, V) -> V,
    min: &'a dyn Fn(V, V) -> V,
    max: &'a dyn Fn(V, V) -> V,
    zero: V,
    one: V,
    /// Neutral element of the minimum. `least` is that of the maximum.
    most: V,
    least: V,
}

/// Returns the results in one lane that all types have, except for the votes.
fn shared<V: Copy>(ops: &Ops<'_, V>, x: &[V; 16], y: &[V; 16], lane: usize) -> [V; 19] {
    let fold = |op: &dyn Fn(V, V) -> V, start: V, values: &[V]| values.iter().fold(start, |a, &b| op(a, b));
    let (up_to, below) = (&x[..=lane], &x[..lane]);
    let is_apart = |lane: &usize| lane % 3 == 1;
    let beside: Vec<V> = (0..16).filter(|other| is_apart(other) == is_apart(&lane)).map(|lane| x[lane]).collect();
    [
        fold(ops.add, ops.zero, x),
        fold(ops.mul, ops.one, y),
        fold(ops.min, ops.most, x),
        fold(ops.max, ops.least, x),
        fold(ops.add, ops.zero, up_to),
        fold(ops.add, ops.zero, below),
        fold(ops.mul, ops.one, &y[..=lane]),
        fold(ops.min, ops.most, below),
        fold(ops.max, ops.least, below),
        fold(ops.add, ops.zero, &x[lane & !3..(lane & !3) + 4]),
        fold(ops.min, ops.most, &x[lane & !7..(lane & !7) + 8]),
        x[15 - lane],
        x[lane ^ 5],
        if lane < 13 { x[lane + 3] } else { x[lane] },
        x[3],
        y[0],
        x[lane ^ 3],
        x[lane & !3 | 1],
        if is_apart(&lane) { fold(ops.max, ops.least, &beside) } else { fold(ops.add, ops.zero, &beside) },
    ]
}

/// Returns the words that a lane writes, as 64 bits per result. Votes precede the last shared
/// result.
fn rows(shared: [u64; 19], own: &[u64], lane: usize, equal: bool) -> Vec<u64> {
    let mut out = shared[..18].to_vec();
    out.push(u64::from(equal) | 1 << 32);
    out.push(shared[18]);
    out.extend(own);
    out.push(15 | 44 << 8 | 7 << 16 | 1 << 32);
    out.push(u64::from(lane >= 2) | (lane as u64 & 1) << 32);
    out
}

fn check(kind: u64, data: &[u64], model: impl Fn(usize) -> Vec<u64>) {
    let words: Vec<u32> = data.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
    let out = Scene::new("subgroup_types.comp.spv").specialize(&[(0, kind)]).buffer(1, &words).run();
    for lane in 0..16 {
        for (row, expected) in model(lane).into_iter().enumerate() {
            let at = (lane * 28 + row) * 2;
            let found = u64::from(out[at]) | u64::from(out[at + 1]) << 32;
            assert_eq!(found, expected, "kind {kind}, lane {lane}, row {row}: {found:x}, not {expected:x}");
        }
    }
}

fn integers(kind: u64, bits: u32, is_signed: bool, data: &[u64]) {
    let wrap = |value: i128| -> i128 {
        let low = value as u64 & (u64::MAX >> (64 - bits));
        let has_sign = is_signed && low >> (bits - 1) != 0;
        i128::from(low) - if has_sign { 1i128 << bits } else { 0 }
    };
    let [x, y]: [[i128; 16]; 2] = [0, 16].map(|first| std::array::from_fn(|lane| wrap(i128::from(data[first + lane]))));
    let ops = Ops {
        add: &|a, b| wrap(a + b),
        mul: &|a: i128, b| wrap(a.wrapping_mul(b)),
        min: &|a: i128, b| a.min(b),
        max: &|a: i128, b| a.max(b),
        zero: 0,
        one: 1,
        most: (1i128 << (bits - u32::from(is_signed))) - 1,
        least: if is_signed { -(1i128 << (bits - 1)) } else { 0 },
    };
    let fold = |op: fn(i128, i128) -> i128, start, values: &[i128]| values.iter().fold(start, |a, &b| op(a, b));
    let model = |lane: usize| {
        let own = [
            fold(|a, b| a & b, -1, &x),
            fold(|a, b| a | b, 0, &x),
            fold(|a, b| a ^ b, 0, &x),
            fold(|a, b| a ^ b, 0, &x[..=lane]),
            fold(|a, b| a & b, -1, &x[..lane]),
            x[lane & !1] | x[lane | 1],
        ];
        let own = own.map(|value| wrap(value) as u64);
        let equal = x.iter().all(|&value| value == x[0]);
        rows(shared(&ops, &x, &y, lane).map(|value| value as u64), &own, lane, equal)
    };
    check(kind, data, model);
}

/// Returns random words with some edge values.
fn words() -> Vec<u64> {
    let mut random = super::Random(29);
    let edges = [0, 0x7f, 0x80, 0xffff_8000, 0x7fff, 1 << 63, (1 << 63) - 1, u64::MAX, 0x8000_0000];
    (0..32).map(|index| edges.get(index).copied().unwrap_or_else(|| random.next())).collect()
}

#[test]
fn integers_of_every_width() {
    for (kind, bits) in (0..).step_by(2).zip([8, 16, 64, 32]) {
        for (is_signed, kind) in [(true, kind), (false, kind + 1)] {
            integers(kind, bits, is_signed, &words());
            integers(kind, bits, is_signed, &[0x5a5a_5a5a_5a5a_5a5a; 32]);
        }
    }
}

/// Sums and products of these numbers are exact in all widths.
#[test]
fn floats_of_every_width() {
    let x: [f64; 16] = std::array::from_fn(|lane| (lane * 7 % 16) as f64 * 0.75 - 4.5);
    let y: [f64; 16] = std::array::from_fn(|lane| [2.0, -0.5, 1.0, 4.0, 0.25][lane % 5]);
    let ops = Ops {
        add: &|a, b| a + b,
        mul: &|a, b| a * b,
        min: &f64::min,
        max: &f64::max,
        zero: 0.0,
        one: 1.0,
        most: f64::INFINITY,
        least: f64::NEG_INFINITY,
    };
    let data: Vec<u64> = x.iter().chain(&y).map(|value| value.to_bits()).collect();
    for kind in 8..11 {
        check(kind, &data, |lane| rows(shared(&ops, &x, &y, lane).map(f64::to_bits), &[], lane, false));
    }
}

#[test]
fn values_move_round_subgroups_and_clusters() {
    let out = Scene::new("rotate.comp.spv").buffer(1, &[11]).run();
    check_lanes(&out, |lane| {
        let round = |by: u32, size: u32| (lane & !(size - 1)) | (lane + by) & (size - 1);
        let high = (u64::from(round(5, 16)) * 0x1_0000_0001) >> 8;
        [round(5, 16), round(11, 16), round(1, 4), round(11, 8), round(1, 16), high as u32, 0, 0]
    });
}

#[test]
fn votes_and_ballots_of_older_extensions() {
    let data: Vec<u32> = words().iter().take(16).map(|&word| (word >> 7) as u32).collect();
    let odd: u32 = (0..).zip(&data).map(|(lane, word)| (word & 1) << lane).sum();
    let out = Scene::new("older_subgroups.comp.spv").buffer(1, &data).run();
    check_lanes(&out, |lane| {
        let below = (1 << lane) - 1;
        let parted = if lane % 2 == 1 { 1 } else { 0x5500 };
        [odd, data[0], data[9], 1 | 4, below | 16 << 16, parted, lane, 0xffff & !below & !(1 << lane)]
    });
}
