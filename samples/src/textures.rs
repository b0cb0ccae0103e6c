//! Procedural textures: square, RGBA8, rows from the top, repeating without a seam.

use crate::geometry::chance;
use crate::math::Steady;
use glam::{Vec2, Vec3, Vec4};
use std::f32::consts::{PI, TAU};

/// Returns a picture of `size * size` texels from a function of u and v in 0..1 (texel centres).
pub fn paint(size: u32, at: impl Fn(f32, f32) -> Vec3) -> Vec<u8> {
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let centre = |i: u32| (i as f32 + 0.5) / size as f32;
    (0..size * size)
        .flat_map(|i| {
            let c = at(centre(i % size), centre(i / size));
            [byte(c.x), byte(c.y), byte(c.z), 255]
        })
        .collect()
}

/// Returns a picture like [`paint`], with alpha from the function.
pub fn paint_alpha(size: u32, at: impl Fn(f32, f32) -> Vec4) -> Vec<u8> {
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let centre = |i: u32| (i as f32 + 0.5) / size as f32;
    (0..size * size).flat_map(|i| at(centre(i % size), centre(i / size)).to_array().map(byte)).collect()
}

/// Returns smooth noise in 0..1 that repeats every 1 in u and v, with `cells` cells across.
pub fn noise(u: f32, v: f32, cells: u32, seed: u32) -> f32 {
    let (x, y) = (u.rem_euclid(1.0) * cells as f32, v.rem_euclid(1.0) * cells as f32);
    let (i, j) = (x as u32 % cells, y as u32 % cells);
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let (fx, fy) = (smooth(x.fract()), smooth(y.fract()));
    let corner = |i: u32, j: u32| chance(seed.wrapping_mul(7919) + (j % cells) * 1013 + (i % cells));
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let (top, bottom) = (mix(corner(i, j), corner(i + 1, j), fx), mix(corner(i, j + 1), corner(i + 1, j + 1), fx));
    mix(top, bottom, fy)
}

/// Returns four octaves of noise, in 0..1.
pub fn fractal(u: f32, v: f32, cells: u32, seed: u32) -> f32 {
    let octave = |i: u32| noise(u, v, cells << i, seed + i) * 0.5f32.powi(i as i32 + 1);
    (0..4).map(octave).sum::<f32>() / 0.9375
}

/// Returns the tangent-space normal map of a repeating height field.
pub fn normal_map(size: u32, strength: f32, height: impl Fn(f32, f32) -> f32) -> Vec<u8> {
    let step = 1.0 / size as f32;
    paint(size, |u, v| {
        let du = height(u + step, v) - height(u - step, v);
        let dv = height(u, v + step) - height(u, v - step);
        // The bitangent points up the texture, v points down.
        Vec3::new(-du * strength, dv * strength, 2.0 * step * size as f32 / 16.0).normalize() * 0.5 + 0.5
    })
}

/// Returns 0 to 1 as `x` goes from `a` to `b`, smoothly.
pub fn smoothstep(a: f32, b: f32, x: f32) -> f32 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Returns a star-shaped tile ornament: the distance to an eight-pointed star's lines.
fn star(u: f32, v: f32) -> (f32, f32) {
    let p = Vec2::new(u.rem_euclid(1.0) - 0.5, v.rem_euclid(1.0) - 0.5);
    let square = p.x.abs().max(p.y.abs());
    let diamond = (p.x.abs() + p.y.abs()) * std::f32::consts::FRAC_1_SQRT_2;
    (square.min(diamond), square.max(diamond))
}

/// Returns glazed tiles with eight-pointed stars: lapis blue, turquoise, ivory and gold.
pub fn tiles(u: f32, v: f32) -> Vec3 {
    let (u4, v4) = (u * 4.0, v * 4.0);
    let (inner, outer) = star(u4, v4);
    let glaze = 0.82 + 0.3 * fractal(u, v, 8, 3);
    let (lapis, sea) = (Vec3::new(0.05, 0.13, 0.42), Vec3::new(0.06, 0.5, 0.55));
    let (ivory, gold) = (Vec3::new(0.93, 0.89, 0.77), Vec3::new(0.85, 0.6, 0.18));
    let mut color = if outer > 0.44 { lapis } else { ivory };
    color = if inner < 0.30 { sea } else { color };
    color = if outer < 0.20 { gold } else { color };
    color = if outer < 0.13 { lapis } else { color };
    let line = ((inner - 0.30).abs()).min((outer - 0.20).abs());
    color = color.lerp(gold, 1.0 - smoothstep(0.012, 0.024, line));
    let edge = (0.5 - (u4.rem_euclid(1.0) - 0.5).abs()).min(0.5 - (v4.rem_euclid(1.0) - 0.5).abs());
    (color * glaze).lerp(Vec3::splat(0.16), 1.0 - smoothstep(0.01, 0.025, edge))
}

/// Returns polished floor squares.
pub fn floor(u: f32, v: f32) -> Vec3 {
    let (x, y) = (u * 2.0, v * 2.0);
    let dark = (x as i32 + y as i32) % 2 == 0;
    let vein = (fractal(u, v, 4, 11) * 9.0).sine().abs().power(0.35);
    let (a, b) = if dark { (0.10, 0.17) } else { (0.62, 0.74) };
    let shade = a + (b - a) * vein;
    let edge = (0.5 - (x.fract() - 0.5).abs()).min(0.5 - (y.fract() - 0.5).abs());
    Vec3::new(shade, shade * 0.98, shade * 0.95) * smoothstep(0.004, 0.014, edge)
}

/// Returns the height of the vase's relief: rings thrown on the wheel and a band of waves.
pub fn vase_height(u: f32, v: f32) -> f32 {
    let rings = (v * 60.0 * PI).sine() * 0.12;
    let band = smoothstep(0.38, 0.4, v) - smoothstep(0.6, 0.62, v);
    rings * (1.0 - band) + band * wave(u, v).clamp(0.0, 1.0) * 0.6 + fractal(u, v, 16, 21) * 0.1
}

/// Returns the coverage of the vase's painted ornament, 0 to 1.
pub fn vase_paint(u: f32, v: f32) -> f32 {
    let band = smoothstep(0.38, 0.39, v) - smoothstep(0.61, 0.62, v);
    let lines = [0.36, 0.64, 0.25, 0.72].map(|at: f32| 1.0 - smoothstep(0.004, 0.008, (v - at).abs()));
    (band * wave(u, v)).max(lines.into_iter().fold(0.0, f32::max))
}

fn wave(u: f32, v: f32) -> f32 {
    // A running dog: circles whose phase follows the height.
    let x = u * 10.0;
    let p = Vec2::new(x.rem_euclid(1.0) - 0.5, (v - 0.5) * 4.6);
    let spiral = (p.length() * 16.0 - p.y.angle(p.x)).sine();
    smoothstep(-0.1, 0.25, spiral) * (1.0 - smoothstep(0.42, 0.5, p.length()))
}

/// Returns wood: growth rings across, grain along.
pub fn wood(u: f32, v: f32) -> f32 {
    let bend = fractal(u, v, 3, 31);
    // Planks of an eighth each, their rings shifted; dark joints between them.
    let plank = (v * 8.0).floor();
    let joint = smoothstep(0.0, 0.025, 0.5 - ((v * 8.0).fract() - 0.5).abs());
    let ring = ((v * 16.0 + bend * 1.8 + plank * 0.37) * TAU).sine() * 0.5 + 0.5;
    let grain = noise(0.5, v + bend * 0.02, 128, 37);
    (0.4 * ring + 0.25 * grain + 0.35 * chance(plank as u32 % 8 + 91)) * joint
}

/// Returns the height of hammered metal: the nearest of jittered dents.
pub fn dents(u: f32, v: f32) -> f32 {
    const CELLS: i32 = 7;
    let p = Vec2::new(u, v) * CELLS as f32;
    let (i, j) = (p.x.floor() as i32, p.y.floor() as i32);
    let mut nearest = 9.0f32;
    for (di, dj) in (0..9).map(|k| (k % 3 - 1, k / 3 - 1)) {
        let (ci, cj) = (i + di, j + dj);
        let seed = (cj.rem_euclid(CELLS) * CELLS + ci.rem_euclid(CELLS)) as u32;
        let centre = Vec2::new(ci as f32 + chance(seed * 2 + 1), cj as f32 + chance(seed * 2 + 2));
        // Not `f32::min`: of a loop of nine, rustc 1.95 (LLVM 22.1) at opt-level 2 and 3 loses the
        // last.
        let distance = p.distance_squared(centre);
        if distance < nearest {
            nearest = distance;
        }
    }
    nearest.min(1.0)
}

/// Returns plaster; alpha is its height, as in the other surfaces of buildings.
pub fn plaster(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (coarse, fine) = (fractal(u, v, 6, 41), fractal(u, v, 32, 47));
        Vec3::splat(0.86 + 0.1 * coarse + 0.06 * fine).extend(0.4 * coarse + 0.6 * fine)
    })
}

/// Returns the distance to the nearest joint of courses of blocks, and the hash of the block.
/// Every second course is shifted by half a block.
fn courses(u: f32, v: f32, blocks: Vec2, seed: u32) -> (f32, f32) {
    let row = (v * blocks.y).floor();
    let x = u * blocks.x + if row as i32 % 2 == 0 { 0.0 } else { 0.5 };
    let cell = (x.floor() as i32).rem_euclid(blocks.x as i32) as u32;
    let edge = |t: f32| 0.5 - (t.fract() - 0.5).abs();
    let joint = (edge(x) / blocks.x).min(edge(v * blocks.y) / blocks.y);
    (joint, chance(seed + row as u32 * 64 + cell))
}

/// Returns bricks.
pub fn bricks(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (joint, hash) = courses(u, v, Vec2::new(8.0, 24.0), 100);
        let solid = smoothstep(0.002, 0.006, joint);
        let grain = fractal(u, v, 32, 53);
        let clay = Vec3::new(0.62, 0.30, 0.22).lerp(Vec3::new(0.45, 0.20, 0.16), hash) * (0.8 + 0.4 * grain);
        Vec3::new(0.66, 0.62, 0.56).lerp(clay, solid).extend(solid * (0.7 + 0.3 * grain))
    })
}

/// Returns cut stone.
pub fn stone(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (vein, fine) = (fractal(u, v, 4, 61), fractal(u, v, 48, 67));
        Vec3::new(0.84, 0.81, 0.74).lerp(Vec3::new(0.70, 0.66, 0.58), vein).extend(0.3 * vein + 0.7 * fine)
            * (0.9 + 0.15 * fine)
    })
}

/// Returns slates of a roof.
pub fn slates(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (joint, hash) = courses(u, v, Vec2::new(8.0, 10.0), 200);
        let lap = (v * 10.0).fract();
        let slate = Vec3::new(0.24, 0.28, 0.33) * (0.75 + 0.5 * hash) * (0.85 + 0.3 * fractal(u, v, 16, 71));
        (slate * smoothstep(0.0, 0.006, joint).max(0.35)).extend(1.0 - lap)
    })
}

/// Returns asphalt with patches.
pub fn asphalt(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (grit, patch) = (noise(u, v, 96, 73), fractal(u, v, 3, 79));
        Vec3::splat(0.25 + 0.12 * grit + 0.12 * patch).extend(grit)
    })
}

/// Returns square paving stones.
pub fn paving(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (joint, hash) = courses(u, v, Vec2::new(4.0, 4.0), 300);
        let solid = smoothstep(0.002, 0.008, joint);
        let grain = fractal(u, v, 24, 83);
        let flag = Vec3::new(0.66, 0.63, 0.58) * (0.75 + 0.25 * hash + 0.2 * grain);
        (flag * (0.45 + 0.55 * solid)).extend(solid * (0.6 + 0.4 * grain))
    })
}

/// Returns bark.
pub fn bark(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let ridge = (fractal(u, v * 0.25, 16, 89) * 9.0 * PI).sine().abs();
        Vec3::new(0.30, 0.24, 0.18).lerp(Vec3::new(0.56, 0.50, 0.42), ridge).extend(ridge)
    })
}

/// Returns smooth paint or metal.
pub fn enamel(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| Vec3::splat(0.92 + 0.08 * fractal(u, v, 12, 97)).extend(0.5))
}

/// Returns planks of oak.
pub fn boards(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let ring = wood(u, v);
        Vec3::new(0.40, 0.26, 0.15).lerp(Vec3::new(0.72, 0.52, 0.32), ring).extend(ring)
    })
}

/// Returns a label of paper with lines of writing; alpha cuts its corners.
pub fn paper(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let (x, y) = (u - 0.5, v - 0.5);
        let edge = (0.47 - x.abs()).min(0.45 - y.abs());
        let corner = Vec2::new(0.47 - x.abs(), 0.45 - y.abs()).length() - 0.09;
        let aged = fractal(u, v, 4, 131);
        let mut color = Vec3::new(0.90, 0.84, 0.68) * (0.8 + 0.3 * aged);
        let ink = Vec3::new(0.13, 0.09, 0.07);
        let frame = 1.0 - smoothstep(0.004, 0.012, (edge - 0.035).abs());
        let (line, at) = ((v * 9.0).floor(), (v * 9.0).fract());
        let stroke = smoothstep(0.52, 0.62, noise(u * 0.999, line * 0.11 + 0.05, 40, 137 + line as u32));
        let length = 0.22 + 0.12 * chance(line as u32 + 900);
        let written = (2.0..7.0).contains(&line) && at > 0.3 && at < 0.75 && x.abs() < length;
        color = color.lerp(ink, frame.max(if written { stroke } else { 0.0 }));
        color.extend(if edge > 0.0 && corner > 0.0 { 1.0 } else { 0.0 })
    })
}

/// Returns wear of machines: scratches in red, dirt in green, brushing in blue.
pub fn wear(size: u32) -> Vec<u8> {
    paint(size, |u, v| {
        let scratch = smoothstep(0.80, 0.95, noise(u, v + 0.05 * noise(u, v, 4, 7), 64, 111));
        let brushed = 0.5 * noise(u, 0.3, 128, 113) + 0.5 * noise(u, v, 64, 115);
        Vec3::new(scratch, fractal(u, v, 5, 117), brushed)
    })
}

/// Returns a twig with leaves, cut out by alpha.
pub fn twig(size: u32) -> Vec<u8> {
    paint_alpha(size, |u, v| {
        let p = Vec2::new(u - 0.5, v - 0.5);
        let mut color = Vec3::new(0.16, 0.22, 0.07).extend(0.0);
        for i in 0..46u32 {
            let r = |k: u32| chance(i * 8 + k + 5000);
            let (s, c) = (r(0) * TAU).sine_cosine();
            let at = Vec2::new(s, c) * 0.42 * r(1).sqrt();
            let (ls, lc) = ((r(0) + 0.3 * (r(2) - 0.5)) * TAU).sine_cosine();
            let d = p - at;
            let (along, across) = (d.x * ls + d.y * lc, d.x * lc - d.y * ls);
            let t = along / 0.085;
            let width = 0.036 * (1.0 - t * t).max(0.0) * (1.0 - 0.35 * t);
            if across.abs() < width {
                let vein = smoothstep(0.0, 0.004, across.abs()) * 0.25 + 0.75;
                let green = Vec3::new(0.30, 0.46, 0.12).lerp(Vec3::new(0.50, 0.60, 0.18), r(3));
                color = (green * vein * (0.8 + 0.4 * r(4))).extend(1.0);
            }
        }
        color
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_repeat_without_a_seam() {
        for v in [0.0, 0.3, 0.77] {
            assert!((fractal(0.0, v, 4, 1) - fractal(0.9999, v, 4, 1)).abs() < 0.01);
            assert!((dents(0.0, v) - dents(0.9999, v)).abs() < 0.02);
        }
    }

    #[test]
    fn a_flat_height_gives_an_upright_normal() {
        let map = normal_map(8, 4.0, |_, _| 0.25);
        assert!(map.chunks_exact(4).all(|t| t == [128, 128, 255, 255]));
    }
}
