//! Meshes of objects on the street: trees, cars, lamps and furniture. Lengths are metres, and all
//! objects stand on y = 0.

use crate::geometry::{Mesh, Vertex, chance};
use crate::math::Steady;
use glam::{Mat4, Vec2, Vec3, Vec4};
use std::f32::consts::{PI, TAU};

/// Returns the trunk and branches of a tree.
pub fn trunk(seed: u32) -> Mesh {
    let r = |k: u32| chance(seed * 64 + k);
    let mut mesh = Mesh::default();
    let bend =
        |t: f32| Vec3::new((t * 2.0).sine() * 0.12 * (r(0) - 0.5), t * 3.4, (t * 1.7).sine() * 0.2 * (r(1) - 0.5));
    let rings: Vec<Vec2> = (0..=10)
        .map(|i| Vec2::new(0.1 + 0.012 * i as f32 + 0.08 * (i as f32 / 10.0).powi(8), 3.4 - 0.34 * i as f32))
        .collect();
    mesh.lathe(10, &rings);
    for i in 0..7 {
        let angle = i as f32 * 2.4 + r(i + 8);
        let (s, c) = angle.sine_cosine();
        let reach = 1.1 + 0.7 * r(i + 16);
        let path: Vec<Vec3> = (0..=5)
            .map(|k| {
                let t = k as f32 / 5.0;
                bend(0.8) + Vec3::new(s * reach * t, 0.3 + (1.6 + r(i + 24)) * t - 0.3 * t * t, c * reach * t)
            })
            .collect();
        mesh.tube(&path, 0.05, 6);
    }
    mesh
}

/// Returns the crown of a tree: crossed cards with the texture of a twig. Normals point away from
/// the middle of the crown, so that it is lit like one round object.
pub fn crown(seed: u32, cards: u32) -> Mesh {
    let r = |k: u32| chance(seed * 8192 + k);
    let mut mesh = Mesh::default();
    let middle = Vec3::new(0.0, 4.9, 0.0);
    for i in 0..cards {
        let k = i * 8;
        let (up, around) = (2.0 * r(k) - 1.0, r(k + 1) * TAU);
        let ring = (1.0 - up * up).max(0.0).sqrt();
        let (s, c) = around.sine_cosine();
        let out = Vec3::new(s * ring, up, c * ring);
        let lumps = 0.85 + 0.3 * (around * 3.0 + up * 4.0 + seed as f32).sine();
        let at = middle + out * Vec3::new(2.2, 2.0, 2.2) * lumps * (0.45 + 0.55 * r(k + 2).sqrt());
        let turn = Mat4::from_rotation_y(r(k + 3) * TAU) * Mat4::from_rotation_x((r(k + 4) - 0.5) * 2.0);
        let (x, y) = (turn.transform_vector3(Vec3::X), turn.transform_vector3(Vec3::Y));
        let half = 0.55 + 0.25 * r(k + 5);
        let base = mesh.vertices.len() as u32;
        for (u, v) in [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)] {
            let position = at + x * (2.0 * u - 1.0) * half + y * (1.0 - 2.0 * v) * half;
            let normal = (position - middle + Vec3::Y * 0.6).normalize();
            mesh.vertices.push(Vertex { position, normal, uv: Vec2::new(u, v), tangent: Vec4::X });
        }
        mesh.indices.extend([0, 1, 2, 0, 2, 3].map(|i| base + i));
    }
    mesh
}

/// A car's meshes, one for each material. It looks along +z.
pub struct Car {
    /// Painted sheet.
    pub body: Mesh,
    /// Windows.
    pub glass: Mesh,
    /// Tyres, trims and lights.
    pub rubber: Mesh,
}

/// Returns a closed hull whose cross section at `v` (0 to 1 along z) is a rounded rectangle.
/// `section` returns z, half the width, bottom and top.
fn hull(columns: u32, rows: u32, section: impl Fn(f32) -> [f32; 4]) -> Mesh {
    Mesh::surface(columns, rows, |u, v| {
        let [z, half, bottom, top] = section(v);
        let (s, c) = (u * TAU).sine_cosine();
        // A superellipse of the fourth degree.
        let k = 1.0 / (s.powi(4) + c.powi(4)).sqrt().sqrt();
        let (middle, tall) = ((bottom + top) / 2.0, (top - bottom) / 2.0);
        Vec3::new(s * k * half, middle + c * k * tall, z)
    })
}

/// Returns a car.
pub fn car(detail: u32) -> Car {
    let round = |v: f32| (1.0 - (2.0 * v - 1.0).abs().powi(10)).max(0.0).sqrt().sqrt();
    let body = hull(detail * 2, detail * 2, |v| {
        let (e, nose) = (round(v), (v - 0.5) * 2.0);
        let top = 0.94 - 0.16 * nose.max(0.0).powi(3) - 0.06 * (-nose).max(0.0).powi(4);
        [nose * 2.15, 0.88 * (0.25 + 0.75 * e) * (1.0 - 0.08 * nose * nose), 0.5 - 0.28 * e, 0.5 + (top - 0.5) * e]
    });
    let cabin = |v: f32, wide: f32, low: f32, high: f32| {
        let along = (v - 0.5) * 2.0;
        let e = (1.0 - along.abs().powi(4)).max(0.0).sqrt();
        [along * 1.3 - 0.25, wide * (0.45 + 0.55 * e), low, low + (high - low) * e]
    };
    let glass = hull(detail * 2, detail, |v| cabin(v, 0.76, 0.7, 1.42));
    let mut sheet = body;
    sheet.add(&hull(detail * 2, detail, |v| cabin(v * 0.62 + 0.19, 0.72, 1.3, 1.455)), Mat4::IDENTITY);
    let mut rubber = Mesh::default();
    let mut wheel = Mesh::default();
    let tread =
        [[0.0, 0.1], [0.17, 0.1], [0.19, 0.12], [0.3, 0.12], [0.33, 0.08], [0.33, -0.08], [0.3, -0.12], [0.0, -0.12]];
    wheel.lathe(detail * 2, &tread.map(Vec2::from));
    for (x, z) in [(0.8, 1.32), (0.8, -1.3), (-0.8, 1.32), (-0.8, -1.3)] {
        let turn = Mat4::from_rotation_z(if x > 0.0 { -PI / 2.0 } else { PI / 2.0 });
        rubber.add(&wheel, Mat4::from_translation(Vec3::new(x, 0.33, z)) * turn);
    }
    rubber.cuboid(Vec3::new(-0.7, 0.3, 2.02), Vec3::new(0.7, 0.42, 2.17));
    rubber.cuboid(Vec3::new(-0.7, 0.36, -2.17), Vec3::new(0.7, 0.5, -2.02));
    Car { body: sheet, glass, rubber }
}

/// Returns a street lamp with an arm along +x.
pub fn lamp(sides: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let profile = [[0.0, 6.4], [0.04, 6.4], [0.06, 2.0], [0.09, 1.9], [0.11, 0.6], [0.18, 0.5], [0.2, 0.0]];
    mesh.lathe(sides, &profile.map(Vec2::from));
    let arm: Vec<Vec3> = (0..=8)
        .map(|i| {
            let (s, c) = (i as f32 / 8.0 * PI / 2.0).sine_cosine();
            Vec3::new(1.3 * (1.0 - c), 6.2 + 0.9 * s, 0.0)
        })
        .collect();
    mesh.tube(&arm, 0.035, sides);
    let mut head = Mesh::default();
    head.lathe(sides, &[[0.0, 0.2], [0.12, 0.18], [0.3, 0.0], [0.22, -0.05], [0.0, -0.12]].map(Vec2::from));
    mesh.add(&head, Mat4::from_translation(Vec3::new(1.35, 7.02, 0.0)));
    mesh
}

/// Returns a bollard.
pub fn bollard(sides: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let profile = [[0.0, 0.98], [0.06, 0.95], [0.08, 0.86], [0.05, 0.8], [0.06, 0.3], [0.1, 0.22], [0.11, 0.0]];
    mesh.lathe(sides, &profile.map(Vec2::from));
    mesh
}

/// Returns a litter bin.
pub fn bin(sides: u32) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.lathe(sides, &[[0.0, 1.02], [0.2, 1.0], [0.26, 0.9], [0.26, 0.86], [0.22, 0.84], [0.19, 0.0]].map(Vec2::from));
    for i in 0..sides {
        let turn = Mat4::from_rotation_y(i as f32 / sides as f32 * TAU);
        let mut slat = Mesh::default();
        slat.cuboid(Vec3::new(-0.02, 0.06, 0.2), Vec3::new(0.02, 0.84, 0.245));
        mesh.add(&slat, turn);
    }
    mesh
}

/// Returns a bench that looks to +z.
pub fn bench() -> Mesh {
    let mut mesh = Mesh::default();
    for x in [-0.8, 0.76] {
        mesh.cuboid(Vec3::new(x, 0.0, -0.25), Vec3::new(x + 0.04, 0.42, 0.25));
        mesh.cuboid(Vec3::new(x, 0.42, -0.28), Vec3::new(x + 0.04, 0.9, -0.22));
    }
    for i in 0..5 {
        let z = -0.2 + i as f32 * 0.095;
        mesh.cuboid(Vec3::new(-0.9, 0.42, z), Vec3::new(0.9, 0.46, z + 0.075));
    }
    for i in 0..4 {
        let y = 0.52 + i as f32 * 0.1;
        mesh.cuboid(Vec3::new(-0.9, y, -0.22), Vec3::new(0.9, y + 0.08, -0.19));
    }
    mesh
}

/// Returns a shop's awning, which reaches out along +z from a height of 3 m.
pub fn awning() -> Mesh {
    let mut mesh = Mesh::default();
    let (w, top, low, out) = (1.25, 3.1, 2.5, 1.3);
    let at = |x, y, z| Vec3::new(x, y, z);
    mesh.quad([at(-w, low, out), at(w, low, out), at(w, top, 0.1), at(-w, top, 0.1)]);
    mesh.quad([at(w, low - 0.03, out), at(-w, low - 0.03, out), at(-w, top - 0.03, 0.1), at(w, top - 0.03, 0.1)]);
    for i in 0..10 {
        let x = -w + i as f32 * 0.25;
        mesh.cuboid(at(x, low - 0.22, out), at(x + 0.23, low, out + 0.02));
    }
    mesh
}

/// Returns the pavement of a block of the city, `half` its size: a slab with a kerb.
pub fn pavement(half: Vec2) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.cuboid(Vec3::new(-half.x, 0.0, -half.y), Vec3::new(half.x, 0.14, half.y));
    mesh
}

/// Returns the markings of a road along z: the dashes of its middle line, and a zebra crossing.
pub fn markings(length: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let mut stripe = |x0: f32, z0: f32, x1: f32, z1: f32| {
        let y = 0.015;
        mesh.quad([Vec3::new(x0, y, z1), Vec3::new(x1, y, z1), Vec3::new(x1, y, z0), Vec3::new(x0, y, z0)]);
    };
    let dashes = (length / 6.0) as u32;
    for i in 0..dashes {
        let z = (i as f32 + 0.25) * 6.0 - length / 2.0;
        stripe(-0.07, z, 0.07, z + 3.0);
    }
    for i in 0..9 {
        let x = -4.4 + i as f32 * 1.0;
        stripe(x, length / 2.0 + 0.6, x + 0.55, length / 2.0 + 3.4);
    }
    mesh
}
