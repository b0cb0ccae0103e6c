//! Colour end points: decoding of a mode and its values to two colours.
//!
//! Source: Khronos Data Format Specification, "Endpoint Interpretation". Variable names in the
//! dense modes are the specification's.

/// Two colours, red to alpha.
///
/// Low-range components have 8 bits. High-range components are logarithms of 12 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Endpoints {
    pub(super) colors: [[i32; 4]; 2],
    /// First flag: red, green and blue have high range. Second flag: alpha has high range.
    pub(super) high_range: [bool; 2],
}

/// The value 1 as a high-range component.
const ONE: i32 = 0x780;
const GREATEST: i32 = 0xfff;

/// Returns the number of values that a mode has.
pub(super) fn value_count(mode: u32) -> usize {
    (mode as usize / 4 + 1) * 2
}

/// Decodes the end points of `mode` (0 to 15) from its values, each 0 to 255.
///
/// `v` has [`value_count`] values.
pub(super) fn endpoints(mode: u32, v: &[i32]) -> Endpoints {
    let low = |colors| Endpoints { colors, high_range: [false; 2] };
    let high = |colors| Endpoints { colors, high_range: [true; 2] };
    match mode {
        0 => low([gray(v[0], 255), gray(v[1], 255)]),
        1 => low(luminance_offset(v)),
        2 => high(high_luminance(v)),
        3 => high(high_luminance_offset(v)),
        4 => low([gray(v[0], v[2]), gray(v[1], v[3])]),
        5 => low(luminance_alpha_offset(v)),
        6 => low(scaled(v, [255; 2])),
        7 => high(high_scaled(v)),
        8 => low(direct(&[v[0], v[1], v[2], v[3], v[4], v[5], 255, 255])),
        // A base of 255 and an offset of 0 make alpha opaque.
        9 => low(offset(v, [255, 0])),
        10 => low(scaled(v, [v[4], v[5]])),
        11 => high(high_rgb(v, [ONE; 2])),
        12 => low(direct(v)),
        13 => low(offset(v, transferred(v[7], v[6]))),
        14 => Endpoints { colors: high_rgb(v, [v[6], v[7]]), high_range: [true, false] },
        _ => high(high_rgb(v, high_alpha(v[6], v[7]))),
    }
}

fn gray(luminance: i32, alpha: i32) -> [i32; 4] {
    [luminance, luminance, luminance, alpha]
}

fn luminance_offset(v: &[i32]) -> [[i32; 4]; 2] {
    let first = v[0] >> 2 | v[1] & 0xc0;
    let second = (first + (v[1] & 0x3f)).min(255);
    [gray(first, 255), gray(second, 255)]
}

fn luminance_alpha_offset(v: &[i32]) -> [[i32; 4]; 2] {
    let ([base, offset], [alpha, alpha_offset]) = (transferred(v[1], v[0]), transferred(v[3], v[2]));
    [gray(base, alpha), gray(base + offset, alpha + alpha_offset)].map(clamped)
}

fn scaled(v: &[i32], alpha: [i32; 2]) -> [[i32; 4]; 2] {
    let scaled = |value: i32| (value * v[3]) >> 8;
    [[scaled(v[0]), scaled(v[1]), scaled(v[2]), alpha[0]], [v[0], v[1], v[2], alpha[1]]]
}

fn direct(v: &[i32]) -> [[i32; 4]; 2] {
    let [first, second] = [0, 1].map(|which| [v[which], v[2 + which], v[4 + which], v[6 + which]]);
    let sum = |color: [i32; 4]| color[0] + color[1] + color[2];
    if sum(second) >= sum(first) { [first, second] } else { [contracted(second), contracted(first)] }
}

/// Decodes two colours from bases and offsets. `alpha` has the base and the offset of alpha.
fn offset(v: &[i32], alpha: [i32; 2]) -> [[i32; 4]; 2] {
    let channels = [transferred(v[1], v[0]), transferred(v[3], v[2]), transferred(v[5], v[4]), alpha];
    let (base, sum) = (channels.map(|[base, _]| base), channels.map(|[base, offset]| base + offset));
    let colors = match channels[..3].iter().map(|[_, offset]| offset).sum::<i32>() {
        0.. => [base, sum],
        _ => [contracted(sum), contracted(base)],
    };
    colors.map(clamped)
}

/// Moves the offset's top bit to the base, and returns the base and the signed 6-bit offset.
fn transferred(offset: i32, base: i32) -> [i32; 2] {
    let small = offset >> 1 & 0x3f;
    [base >> 1 | offset & 0x80, if small & 0x20 != 0 { small - 0x40 } else { small }]
}

/// Applies blue contraction, which increases the precision of colours near gray.
fn contracted([red, green, blue, alpha]: [i32; 4]) -> [i32; 4] {
    [(red + blue) >> 1, (green + blue) >> 1, blue, alpha]
}

fn clamped(color: [i32; 4]) -> [i32; 4] {
    color.map(|value| value.clamp(0, 255))
}

fn high_luminance(v: &[i32]) -> [[i32; 4]; 2] {
    let [first, second] = if v[1] >= v[0] { [v[0] << 4, v[1] << 4] } else { [(v[1] << 4) + 8, (v[0] << 4) - 8] };
    [gray(first, ONE), gray(second, ONE)]
}

fn high_luminance_offset(v: &[i32]) -> [[i32; 4]; 2] {
    let (base, offset) = if v[0] & 0x80 != 0 {
        ((v[1] & 0xe0) << 4 | (v[0] & 0x7f) << 2, (v[1] & 0x1f) << 2)
    } else {
        ((v[1] & 0xf0) << 4 | (v[0] & 0x7f) << 1, (v[1] & 0x0f) << 1)
    };
    [gray(base, ONE), gray((base + offset).min(GREATEST), ONE)]
}

fn bit(value: i32, number: u32) -> i32 {
    value >> number & 1
}

/// Returns a bit moved to a position if `mode` is in the mask `modes`, and 0 otherwise.
fn moved(mode: u32, modes: u32, bit: i32, position: u32) -> i32 {
    if modes >> mode & 1 == 1 { bit << position } else { 0 }
}

/// Exchanges red with the major component.
fn swizzled([red, green, blue]: [i32; 3], major: i32) -> [i32; 3] {
    match major {
        1 => [green, red, blue],
        2 => [blue, green, red],
        _ => [red, green, blue],
    }
}

fn high([red, green, blue]: [i32; 3], alpha: i32) -> [i32; 4] {
    let clamped = |value: i32| value.clamp(0, GREATEST);
    [clamped(red), clamped(green), clamped(blue), alpha]
}

/// Decodes mode 7: one colour, and the scale that the other colour is darker by.
fn high_scaled(v: &[i32]) -> [[i32; 4]; 2] {
    let bits = (v[0] & 0xc0) >> 6 | (v[1] & 0x80) >> 5 | (v[2] & 0x80) >> 4;
    let (major, mode) = match bits {
        15 => (0, 5),
        12..=14 => (bits & 3, 4),
        _ => (bits >> 2, (bits & 3) as u32),
    };
    let x = [bit(v[1], 6), bit(v[1], 5), bit(v[2], 6), bit(v[2], 5), bit(v[3], 7), bit(v[3], 6), bit(v[3], 5)];
    let at = |modes, bit, position| moved(mode, modes, bit, position);
    let green = v[1] & 0x1f | at(0x30, x[0], 6) | at(0x3a, x[1], 5);
    let blue = v[2] & 0x1f | at(0x30, x[2], 6) | at(0x3a, x[3], 5);
    let scale = v[3] & 0x1f | at(0x3d, x[6], 5) | at(0x2d, x[5], 6) | at(0x04, x[4], 7);
    let low = at(0x3b, x[4], 6) | at(0x04, x[3], 6) | at(0x10, x[5], 7) | at(0x0f, x[2], 7);
    let middle = at(0x05, x[1], 8) | at(0x0a, x[0], 8) | at(0x05, x[0], 9) | at(0x02, x[6], 9);
    let high_bits = at(0x01, x[3], 10) | at(0x02, x[5], 10);
    let red = v[0] & 0x3f | low | middle | high_bits;
    let shift = [1, 1, 2, 3, 4, 5][mode as usize];
    let [red, green, blue, scale] = [red, green, blue, scale].map(|value| value << shift);
    let color = if mode == 5 { [red, green, blue] } else { [red, red - green, red - blue] };
    let color = swizzled(color, major);
    [high(color.map(|value| value - scale), ONE), high(color, ONE)]
}

/// Decodes red, green and blue of the modes 11, 14 and 15.
fn high_rgb(v: &[i32], alpha: [i32; 2]) -> [[i32; 4]; 2] {
    let major = bit(v[4], 7) | bit(v[5], 7) << 1;
    if major == 3 {
        let color = |first: usize| [v[first] << 4, v[first + 2] << 4, (v[first + 4] & 0x7f) << 5, alpha[first]];
        return [color(0), color(1)];
    }
    let mode = (bit(v[1], 7) | bit(v[2], 7) << 1 | bit(v[3], 7) << 2) as u32;
    let x = [bit(v[2], 6), bit(v[3], 6), bit(v[4], 6), bit(v[5], 6), bit(v[4], 5), bit(v[5], 5)];
    let at = |modes, bit, position| moved(mode, modes, bit, position);
    let a_low = at(0xa4, x[0], 9) | at(0x08, x[2], 9) | at(0x50, x[4], 9);
    let a_top = at(0x50, x[5], 10) | at(0xa0, x[1], 10) | at(0xc0, x[2], 11);
    let a = v[0] | (v[1] & 0x40) << 2 | a_low | a_top;
    let c = v[1] & 0x3f | at(0x04, x[1], 6) | at(0xe8, x[3], 6) | at(0x20, x[2], 7);
    let b0 = v[2] & 0x3f | at(0x5b, x[0], 6) | at(0x12, x[2], 7);
    let b1 = v[3] & 0x3f | at(0x5b, x[1], 6) | at(0x12, x[3], 7);
    let unused = 32 - [7, 6, 7, 6, 5, 6, 5, 6][mode as usize];
    let [d0, d1] = [v[4], v[5]].map(|value| value << unused >> unused);
    // The shift moves the major component's top bit to bit 11.
    let shift = mode >> 1 ^ 3;
    let [a, b0, b1, c, d0, d1] = [a, b0, b1, c, d0, d1].map(|value| value << shift);
    let (first, second) = ([a - c, a - b0 - c - d0, a - b1 - c - d1], [a, a - b0, a - b1]);
    // Clamping after the exchange has the same result as clamping before it.
    [high(swizzled(first, major), alpha[0]), high(swizzled(second, major), alpha[1])]
}

/// Decodes the alpha of mode 15.
fn high_alpha(v6: i32, v7: i32) -> [i32; 2] {
    let mode = bit(v6, 7) | bit(v7, 7) << 1;
    let (first, second) = (v6 & 0x7f, v7 & 0x7f);
    if mode == 3 {
        return [first << 5, second << 5];
    }
    let base = (first | second << (mode + 1) & 0x780) << (4 - mode);
    let sign = 0x20 >> mode;
    let offset = (((second & (0x3f >> mode)) ^ sign) - sign) << (4 - mode);
    [base, (base + offset).clamp(0, GREATEST)]
}
