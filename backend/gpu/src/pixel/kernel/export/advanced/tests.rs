//! Advanced blend operations against the specification's tables in double precision.

use vitric_exec::testing::run_everywhere;
use vitric_ir::{Inst, Type};

use super::*;

type Color = [f64; 4];

/// Returns p0, p1 and p2.
fn weights(overlap: vk::BlendOverlapEXT, s: f64, d: f64) -> [f64; 3] {
    match overlap {
        vk::BlendOverlapEXT::CONJOINT => [s.min(d), (s - d).max(0.0), (d - s).max(0.0)],
        vk::BlendOverlapEXT::DISJOINT => [(s + d - 1.0).max(0.0), s.min(1.0 - d), d.min(1.0 - s)],
        _ => [s * d, s * (1.0 - d), d * (1.0 - s)],
    }
}

/// Returns X, Y and Z.
fn terms(number: i32) -> [f64; 3] {
    match number {
        0 => [0.0, 0.0, 0.0],
        1 | 10 => [1.0, 1.0, 0.0],
        2 | 9 | 23 | 24 => [1.0, 0.0, 1.0],
        5 | 6 => [1.0, 0.0, 0.0],
        7 => [0.0, 1.0, 0.0],
        8 => [0.0, 0.0, 1.0],
        11 => [0.0, 1.0, 1.0],
        _ => [1.0; 3],
    }
}

/// Returns f of a separable operation.
fn separable(number: i32, s: f64, d: f64) -> f64 {
    let light = |s: f64, d: f64| if s <= 0.5 { 2.0 * s * d } else { 1.0 - 2.0 * (1.0 - s) * (1.0 - d) };
    match number {
        1 | 3 | 5 | 9 => s,
        2 | 4 | 6 | 10 => d,
        12 => s * d,
        13 => s + d - s * d,
        14 => light(d, s),
        15 => s.min(d),
        16 => s.max(d),
        17 if d <= 0.0 => 0.0,
        17 if s < 1.0 => (d / (1.0 - s)).min(1.0),
        17 => 1.0,
        18 if d >= 1.0 => 1.0,
        18 if s > 0.0 => 1.0 - ((1.0 - d) / s).min(1.0),
        18 => 0.0,
        19 => light(s, d),
        20 if s <= 0.5 => d - (1.0 - 2.0 * s) * d * (1.0 - d),
        20 if d <= 0.25 => d + (2.0 * s - 1.0) * d * ((16.0 * d - 12.0) * d + 3.0),
        20 => d + (2.0 * s - 1.0) * (d.sqrt() - d),
        21 => (d - s).abs(),
        22 => s + d - 2.0 * s * d,
        23 => 1.0 - d,
        24 => s * (1.0 - d),
        25 => (s + d).min(1.0),
        26 => (s + d - 1.0).max(0.0),
        27 if s <= 0.0 => 0.0,
        27 if s < 0.5 => 1.0 - ((1.0 - d) / (2.0 * s)).min(1.0),
        27 if s < 1.0 => (d / (2.0 * (1.0 - s))).min(1.0),
        27 => 1.0,
        28 => (2.0 * s + d - 1.0).clamp(0.0, 1.0),
        29 if 2.0 * s - 1.0 > d => {
            if s < 0.5 {
                0.0
            } else {
                2.0 * s - 1.0
            }
        }
        29 => {
            if s < 0.5 * d {
                2.0 * s
            } else {
                d
            }
        }
        30 => {
            if s + d < 1.0 {
                0.0
            } else {
                1.0
            }
        }
        _ => 0.0,
    }
}

fn luminosity(c: [f64; 3]) -> f64 {
    0.30 * c[0] + 0.59 * c[1] + 0.11 * c[2]
}

fn ends(c: [f64; 3]) -> [f64; 2] {
    [c[0].min(c[1]).min(c[2]), c[0].max(c[1]).max(c[2])]
}

fn set_luminosity(base: [f64; 3], of: [f64; 3]) -> [f64; 3] {
    let difference = luminosity(of) - luminosity(base);
    let mut color = base.map(|part| part + difference);
    let (middle, [least, most]) = (luminosity(color), ends(color));
    if least < 0.0 {
        color = color.map(|part| middle + (part - middle) * middle / (middle - least));
    }
    if most > 1.0 {
        color = color.map(|part| middle + (part - middle) * (1.0 - middle) / (most - middle));
    }
    color
}

fn set_both(base: [f64; 3], saturation: [f64; 3], of: [f64; 3]) -> [f64; 3] {
    let ([least, most], [low, high]) = (ends(base), ends(saturation));
    let scale = if most > least { (high - low) / (most - least) } else { 0.0 };
    set_luminosity(base.map(|part| (part - least) * scale), of)
}

/// Returns the result of a sum from premultiplied colours.
fn sum(number: i32, s: Color, d: Color) -> Color {
    let cover = (s[3] + d[3]).min(1.0);
    let each = |of: &dyn Fn(f64, f64) -> f64, alpha: f64| [of(s[0], d[0]), of(s[1], d[1]), of(s[2], d[2]), alpha];
    match number {
        35 => each(&|s, d| s + d, s[3] + d[3]),
        36 => each(&|s, d| (s + d).min(1.0), cover),
        37 => each(&|s, d| (s + d).min(cover), cover),
        38 => each(&|part, other| (cover - ((s[3] - part) + (d[3] - other))).max(0.0), cover),
        39 => each(&|s, d| d - s, d[3] - s[3]),
        40 => each(&|s, d| (d - s).max(0.0), (d[3] - s[3]).max(0.0)),
        41 => each(&|part, other| d[3] / 2.0 + 2.0 * (other - d[3] / 2.0) * (part - s[3] / 2.0), d[3]),
        42 => each(&|_, other| s[3] * (1.0 - other) + (1.0 - s[3]) * other, s[3] + d[3] - s[3] * d[3]),
        43 => [s[0], d[1], d[2], d[3]],
        44 => [d[0], s[1], d[2], d[3]],
        _ => [d[0], d[1], s[2], d[3]],
    }
}

fn base(color: Color) -> Color {
    let [red, green, blue, alpha] = color;
    if alpha == 0.0 { [0.0, 0.0, 0.0, 0.0] } else { [red / alpha, green / alpha, blue / alpha, alpha] }
}

fn premultiplied([red, green, blue, alpha]: Color) -> Color {
    [red * alpha, green * alpha, blue * alpha, alpha]
}

fn expected(number: i32, state: AdvancedBlend, s: Color, d: Color) -> Color {
    let result = if number >= 35 {
        let s = if state.src_premultiplied { s } else { premultiplied(s) };
        let d = if state.dst_premultiplied { d } else { premultiplied(d) };
        sum(number, s, d)
    } else {
        let s = if state.src_premultiplied { base(s) } else { s };
        let d = if state.dst_premultiplied { base(d) } else { d };
        let rgb = |color: Color| [color[0], color[1], color[2]];
        let f = match number {
            31 => set_both(rgb(s), rgb(d), rgb(d)),
            32 => set_both(rgb(d), rgb(s), rgb(d)),
            33 => set_luminosity(rgb(s), rgb(d)),
            34 => set_luminosity(rgb(d), rgb(s)),
            _ => [0, 1, 2].map(|part| separable(number, s[part], d[part])),
        };
        let (p, [x, y, z]) = (weights(state.overlap, s[3], d[3]), terms(number));
        let part = |part: usize| f[part] * p[0] + y * s[part] * p[1] + z * d[part] * p[2];
        [part(0), part(1), part(2), x * p[0] + y * p[1] + z * p[2]]
    };
    let result = if state.dst_premultiplied { result } else { base(result) };
    if state.clamps { result.map(|part| part.clamp(0.0, 1.0)) } else { result }
}

#[test]
fn operations_follow_the_tables() {
    let overlaps = [vk::BlendOverlapEXT::UNCORRELATED, vk::BlendOverlapEXT::DISJOINT, vk::BlendOverlapEXT::CONJOINT];
    // Colours, not premultiplied. No sum or product of two is at a step of an operation.
    let parts = [0.0, 0.07, 0.21, 0.34, 0.58, 0.83, 1.0];
    let alphas = [1.0, 0.625, 0.25];
    let colors: Vec<Color> = (0..24)
        .map(|number: usize| {
            let part = |step: usize| parts[(number * step + number / 5) % parts.len()];
            [part(1), part(3), part(5), alphas[number % 3]]
        })
        .collect();
    for number in 0..46 {
        for (index, overlap) in overlaps.into_iter().enumerate() {
            let state = AdvancedBlend {
                src_premultiplied: (number + index as i32) % 2 == 0,
                dst_premultiplied: (number / 2 + index as i32) % 2 == 0,
                overlap,
                clamps: number % 5 == 0,
            };
            check(number, state, &colors);
        }
    }
}

fn check(number: i32, state: AdvancedBlend, colors: &[Color]) {
    let op = Op::from_raw(Op::ZERO_EXT.as_raw() + number);
    assert!(is_advanced(op));
    let mut b = Builder::new();
    let inputs: Vec<Value> = (0..8).map(|slot| b.input(slot, Type::F32)).collect();
    let four = |first: usize| std::array::from_fn(|index| inputs[first + index]);
    let result = blended(&mut b, op, state, [four(0), four(4)]);
    for (slot, value) in (0..).zip(result) {
        b.push(Inst::Output { slot, value });
    }
    let stored = |color: Color, premultiplies: bool| if premultiplies { premultiplied(color) } else { color };
    let lane = |at: usize| -> Vec<u32> {
        let (s, d) = (colors[at % colors.len()], colors[(at * 7 + 5) % colors.len()]);
        let (s, d) = (stored(s, state.src_premultiplied), stored(d, state.dst_premultiplied));
        s.iter().chain(&d).map(|part| (*part as f32).to_bits()).collect()
    };
    let lanes: Vec<Vec<u32>> = (0..64).map(lane).collect();
    run_everywhere(&b.finish(), &lanes, 4, |input, output| {
        let color = |first: usize| std::array::from_fn(|index| f64::from(f32::from_bits(input[first + index])));
        let wanted = expected(number, state, color(0), color(4));
        let found: [f32; 4] = std::array::from_fn(|index| f32::from_bits(output[index]));
        // Colours of no alpha are ill-formed unless they are black.
        let is_formed = state.dst_premultiplied || found[3] > 1e-3;
        let close = found.iter().zip(wanted).all(|(&found, wanted)| (f64::from(found) - wanted).abs() < 2e-5);
        assert!(close || !is_formed, "{op:?} {state:?} {:?} {:?}: {found:?} for {wanted:?}", color(0), color(4));
    });
}
