//! Procedural textures: square, RGBA8, rows from the top, repeating without a seam.

use crate::geometry::chance;
use crate::math::Steady;
use glam::{Vec2, Vec3};
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
