//! The library of parts. Lengths are metres, except of parts with a length or radius of 1, which
//! are scaled where they are placed. `n` is the number of segments of a circle.

use crate::geometry::Mesh;
use crate::math::Steady;
use glam::{Mat4, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// The parts, in the order of [`make`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HallPart {
    /// A hexagon bolt of radius 1 along y, with washer and thread.
    Bolt,
    /// A flange around y for a pipe of radius 1.
    Flange,
    /// A pipe of radius 1 along y from 0 to 1.
    Pipe,
    /// A bend of a pipe of radius 1, from +y at the origin to +x.
    Elbow,
    /// A valve on a pipe of radius 1 along y, with its stem along z.
    Valve,
    /// A handwheel of radius 1 around z.
    Wheel,
    /// A motor along x.
    Motor,
    /// A pump along x.
    Pump,
    /// A standing vessel.
    Vessel,
    /// An I-beam along z from 0 to 1.
    Beam,
    /// A panel of grating, 1 m by 1 m, around the origin.
    Grating,
    /// Two metres of handrail along z.
    Rail,
    /// A cabinet that looks to +x.
    Cabinet,
    /// A gauge that looks to +z.
    Gauge,
    /// A gear box.
    Gearbox,
    /// Three metres of cable tray along z.
    Tray,
    /// A lamp along z.
    Lamp,
    /// Three metres of ladder along y.
    Ladder,
    /// A clamp around a pipe of radius 1 along y.
    Clamp,
    /// Two metres of rectangular duct along z.
    Duct,
    /// A corrugated hose from the origin to (-1, 0, 0).
    Hose,
    /// A slab of 1 m around the origin.
    Slab,
}

/// All parts.
pub const PARTS: [HallPart; 22] = [
    HallPart::Bolt,
    HallPart::Flange,
    HallPart::Pipe,
    HallPart::Elbow,
    HallPart::Valve,
    HallPart::Wheel,
    HallPart::Motor,
    HallPart::Pump,
    HallPart::Vessel,
    HallPart::Beam,
    HallPart::Grating,
    HallPart::Rail,
    HallPart::Cabinet,
    HallPart::Gauge,
    HallPart::Gearbox,
    HallPart::Tray,
    HallPart::Lamp,
    HallPart::Ladder,
    HallPart::Clamp,
    HallPart::Duct,
    HallPart::Hose,
    HallPart::Slab,
];

/// Makes a part.
pub fn make(part: HallPart, n: u32) -> Mesh {
    match part {
        HallPart::Bolt => bolt(n),
        HallPart::Flange => turned(n * 2, &FLANGE),
        HallPart::Pipe => turned(n, &[[1.0, 1.0], [1.0, 0.0]]),
        HallPart::Elbow => elbow(n),
        HallPart::Valve => valve(n),
        HallPart::Wheel => wheel(n),
        HallPart::Motor => motor(n),
        HallPart::Pump => pump(n),
        HallPart::Vessel => vessel(n),
        HallPart::Beam => beam(),
        HallPart::Grating => grating(),
        HallPart::Rail => rail(n),
        HallPart::Cabinet => cabinet(n),
        HallPart::Gauge => gauge(n),
        HallPart::Gearbox => gearbox(n),
        HallPart::Tray => tray(n),
        HallPart::Lamp => lamp(n),
        HallPart::Ladder => ladder(n),
        HallPart::Clamp => clamp(n),
        HallPart::Duct => duct(),
        HallPart::Hose => hose(n),
        HallPart::Slab => boxes(&[[[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]]]),
    }
}

const FLANGE: [[f32; 2]; 7] =
    [[1.0, 0.62], [1.12, 0.6], [1.2, 0.24], [1.9, 0.22], [1.95, 0.18], [1.95, 0.0], [1.0, 0.0]];

fn turned(n: u32, profile: &[[f32; 2]]) -> Mesh {
    let mut mesh = Mesh::default();
    let profile: Vec<Vec2> = profile.iter().copied().map(Vec2::from).collect();
    mesh.lathe(n, &profile);
    mesh
}

fn boxes(corners: &[[[f32; 3]; 2]]) -> Mesh {
    let mut mesh = Mesh::default();
    corners.iter().for_each(|&[from, to]| mesh.cuboid(from.into(), to.into()));
    mesh
}

fn regular(count: u32, radius: f32) -> Vec<Vec2> {
    let corner = |i: u32| {
        let (s, c) = (i as f32 / count as f32 * TAU).sine_cosine();
        Vec2::new(c, s) * radius
    };
    (0..count).map(corner).collect()
}

fn turn_x(degrees: f32) -> Mat4 {
    Mat4::from_rotation_x(degrees / 180.0 * PI)
}

fn turn_y(degrees: f32) -> Mat4 {
    Mat4::from_rotation_y(degrees / 180.0 * PI)
}

fn turn_z(degrees: f32) -> Mat4 {
    Mat4::from_rotation_z(degrees / 180.0 * PI)
}

fn at(x: f32, y: f32, z: f32) -> Mat4 {
    Mat4::from_translation(Vec3::new(x, y, z))
}

fn bolt(n: u32) -> Mesh {
    let mut mesh = turned(n, &[[1.0, 0.3], [2.1, 0.3], [2.1, 0.0], [1.0, 0.0]]);
    let mut head = Mesh::default();
    head.extrude(&regular(6, 1.85), Vec2::ZERO, 1.2);
    mesh.add(&head, at(0.0, 0.3, 0.0) * turn_x(-90.0));
    mesh.add(&turned(n, &[[0.0, 1.72], [1.2, 1.7], [1.5, 1.5]]), Mat4::IDENTITY);
    // The thread rises by one pitch a turn.
    let thread = |u: f32, v: f32| {
        let (x, z) = (u * TAU).sine_cosine();
        let phase = (v * 9.0 + u).fract();
        let r = 0.86 + 0.28 * (phase - 0.5).abs();
        Vec3::new(x * r, -3.6 * v, z * r)
    };
    mesh.add(&Mesh::surface(n, n * 2, thread), Mat4::IDENTITY);
    let mut nut = Mesh::default();
    nut.extrude(&regular(6, 1.8), Vec2::ZERO, 1.3);
    mesh.add(&nut, at(0.0, -2.9, 0.0) * turn_x(-90.0));
    mesh
}

fn elbow(n: u32) -> Mesh {
    Mesh::surface(n, n / 2, |u, v| {
        let (s, c) = (u * TAU).sine_cosine();
        let (t, k) = ((1.0 - v) * PI / 2.0).sine_cosine();
        // Around (2, 0): the bend has twice the pipe's radius.
        let r = 2.0 - c;
        Vec3::new(2.0 - r * k, r * t, s)
    })
}

fn valve(n: u32) -> Mesh {
    let belly: Vec<[f32; 2]> = (0..=n / 2)
        .map(|i| {
            let t = i as f32 / (n / 2) as f32 * 2.0 - 1.0;
            [1.0 + 0.75 * (1.0 - t * t).max(0.0).sqrt(), -2.2 * t]
        })
        .collect();
    let mut mesh = turned(n, &belly);
    for y in [2.2, -2.2] {
        let over = if y > 0.0 { 180.0 } else { 0.0 };
        mesh.add(&turned(n, &FLANGE), at(0.0, y, 0.0) * turn_x(over) * at(0.0, -0.6, 0.0));
    }
    let bonnet =
        [[0.0, 4.4], [0.22, 4.4], [0.22, 3.2], [0.5, 3.1], [0.6, 2.4], [1.3, 2.3], [1.3, 1.9], [0.8, 1.8], [0.9, 1.0]];
    mesh.add(&turned(n, &bonnet), turn_x(90.0));
    mesh
}

fn wheel(n: u32) -> Mesh {
    let mut mesh = Mesh::torus(0.92, 0.09, n * 2, n / 2).moved(turn_x(90.0));
    mesh.add(&turned(n, &[[0.0, 0.2], [0.2, 0.2], [0.24, -0.2], [0.0, -0.2]]), turn_x(90.0));
    for i in 0..6 {
        let (s, c) = (i as f32 / 6.0 * TAU).sine_cosine();
        let point = |r: f32| Vec3::new(c * r, s * r, 0.12 * (0.9 - r));
        mesh.tube(&[point(0.15), point(0.5), point(0.9)], 0.05, n / 2);
    }
    mesh
}

fn motor(n: u32) -> Mesh {
    let shell = [
        [0.0, 0.46],
        [0.2, 0.46],
        [0.24, 0.42],
        [0.26, 0.3],
        [0.2, 0.28],
        [0.2, -0.3],
        [0.26, -0.32],
        [0.27, -0.5],
        [0.24, -0.52],
        [0.0, -0.52],
    ];
    let mut mesh = turned(n * 2, &shell).moved(turn_z(-90.0));
    for i in 0..n * 2 {
        let fin = boxes(&[[[-0.29, 0.19, -0.004], [0.28, 0.255, 0.004]]]);
        mesh.add(&fin, turn_x(i as f32 * 180.0 / n as f32));
    }
    // Openings of the fan's hood.
    for ring in 1..6 {
        let torus = Mesh::torus(0.04 * ring as f32, 0.006, n * 2, n / 2);
        mesh.add(&torus, at(-0.525, 0.0, 0.0) * turn_z(90.0));
    }
    mesh.add(&turned(n, &[[0.0, 0.3], [0.04, 0.3], [0.04, 0.0]]), at(0.44, 0.0, 0.0) * turn_z(-90.0));
    let plates = [
        [[-0.2, -0.32, -0.24], [0.2, -0.28, 0.24]],
        [[-0.18, -0.3, -0.2], [-0.14, -0.1, 0.2]],
        [[0.14, -0.3, -0.2], [0.18, -0.1, 0.2]],
        [[-0.12, 0.2, -0.1], [0.12, 0.36, 0.1]],
        [[-0.13, 0.36, -0.11], [0.13, 0.385, 0.11]],
    ];
    mesh.add(&boxes(&plates), Mat4::IDENTITY);
    mesh.add(&Mesh::torus(0.05, 0.014, n, n / 2), at(-0.2, 0.28, 0.0) * turn_x(90.0));
    mesh
}

fn pump(n: u32) -> Mesh {
    let volute = |u: f32, v: f32| {
        let turn = v * TAU * 0.97;
        let (s, c) = turn.sine_cosine();
        let (ss, sc) = (-u * TAU).sine_cosine();
        let tube = 0.06 + 0.075 * v;
        let r = 0.2 + tube * (1.0 + sc);
        Vec3::new(ss * tube, s * r, -c * r)
    };
    let mut mesh = Mesh::surface(n, n * 2, volute);
    let hub = [
        [0.0, 0.2],
        [0.12, 0.2],
        [0.14, 0.1],
        [0.28, 0.08],
        [0.3, 0.0],
        [0.28, -0.08],
        [0.16, -0.12],
        [0.12, -0.34],
        [0.0, -0.34],
    ];
    mesh.add(&turned(n * 2, &hub), turn_z(-90.0));
    mesh.add(&turned(n, &[[0.1, 0.5], [0.1, 0.0]]), at(0.0, 0.05, -0.42));
    mesh.add(
        &boxes(&[[[-0.12, -0.4, -0.2], [0.12, -0.2, 0.2]], [[-0.3, -0.44, -0.24], [0.2, -0.4, 0.24]]]),
        Mat4::IDENTITY,
    );
    mesh
}

fn vessel(n: u32) -> Mesh {
    let (mut profile, steps) = (Vec::new(), n);
    for i in 0..=steps {
        let (s, c) = (i as f32 / steps as f32 * PI / 2.0).sine_cosine();
        profile.push(Vec2::new(s, 3.9 + 0.55 * c));
    }
    for i in 0..=steps {
        let (s, c) = (i as f32 / steps as f32 * PI / 2.0).sine_cosine();
        profile.push(Vec2::new(c, 0.9 - 0.5 * s));
    }
    let mut mesh = Mesh::default();
    mesh.lathe(n * 4, &profile);
    for y in [1.0, 1.9, 2.8, 3.8] {
        mesh.add(&turned(n * 4, &[[1.0, 0.05], [1.035, 0.05], [1.035, -0.05], [1.0, -0.05]]), at(0.0, y, 0.0));
    }
    for i in 0..4 {
        let turn = turn_y(45.0 + 90.0 * i as f32);
        mesh.add(&boxes(&[[[0.72, 0.0, -0.09], [0.9, 1.3, 0.09]], [[0.66, 0.0, -0.15], [0.98, 0.04, 0.15]]]), turn);
    }
    mesh
}

fn beam() -> Mesh {
    let (w, t, h) = (0.5, 0.07, 0.5);
    boxes(&[
        [[-w, h - t, 0.0], [w, h, 1.0]],
        [[-w, -h, 0.0], [w, -h + t, 1.0]],
        [[-0.03, -h + t, 0.0], [0.03, h - t, 1.0]],
    ])
}

fn grating() -> Mesh {
    let mut mesh = boxes(&[[[-0.5, -0.04, -0.5], [-0.49, 0.0, 0.5]], [[0.49, -0.04, -0.5], [0.5, 0.0, 0.5]]]);
    for i in 0..28 {
        let z = (i as f32 + 0.5) / 28.0 - 0.5;
        mesh.cuboid(Vec3::new(-0.5, -0.035, z), Vec3::new(0.5, 0.0, z + 0.006));
    }
    for i in 0..12 {
        let x = (i as f32 + 0.5) / 12.0 - 0.5;
        mesh.cuboid(Vec3::new(x, -0.012, -0.5), Vec3::new(x + 0.005, -0.004, 0.5));
    }
    mesh
}

fn rail(n: u32) -> Mesh {
    let mut mesh = boxes(&[[[-0.005, 0.0, 0.0], [0.005, 0.1, 2.0]]]);
    for y in [0.55, 1.1] {
        mesh.tube(&[Vec3::new(0.0, y, 0.0), Vec3::new(0.0, y, 2.0)], 0.022, n);
    }
    for z in [0.0, 1.0] {
        mesh.tube(&[Vec3::new(0.0, 0.0, z), Vec3::new(0.0, 1.1, z)], 0.022, n);
        mesh.add(&Mesh::sphere(n, n / 2), at(0.0, 1.1, z) * Mat4::from_scale(Vec3::splat(0.03)));
    }
    mesh
}

fn cabinet(n: u32) -> Mesh {
    let mut mesh = boxes(&[
        [[-0.25, 0.1, -0.4], [0.22, 2.1, 0.4]],
        [[-0.23, 0.0, -0.38], [0.2, 0.1, 0.38]],
        [[0.22, 0.14, -0.385], [0.24, 2.06, -0.005]],
        [[0.22, 0.14, 0.005], [0.24, 2.06, 0.385]],
    ]);
    for side in [-0.2f32, 0.2] {
        for i in 0..12 {
            let y = 0.3 + i as f32 * 0.035;
            mesh.cuboid(Vec3::new(0.24, y, side - 0.12), Vec3::new(0.25, y + 0.014, side + 0.12));
        }
        let grip = side - side.signum() * 0.15;
        mesh.tube(
            &[
                Vec3::new(0.24, 1.0, grip),
                Vec3::new(0.28, 1.02, grip),
                Vec3::new(0.28, 1.2, grip),
                Vec3::new(0.24, 1.22, grip),
            ],
            0.01,
            n / 2,
        );
    }
    for i in 0..12 {
        let (row, column) = (i / 4, i % 4);
        let button = turned(n, &[[0.0, 0.025], [0.012, 0.024], [0.016, 0.012], [0.02, 0.01], [0.02, 0.0]]);
        let place = at(0.24, 1.5 + 0.1 * row as f32, 0.06 + 0.09 * column as f32);
        mesh.add(&button, place * turn_z(-90.0));
    }
    for i in 0..3 {
        mesh.add(
            &gauge(n),
            at(0.24, 1.72, -0.32 + 0.12 * i as f32) * turn_y(90.0) * Mat4::from_scale(Vec3::splat(0.5)),
        );
    }
    mesh
}

fn gauge(n: u32) -> Mesh {
    let case = [
        [0.0, 0.03],
        [0.085, 0.03],
        [0.09, 0.05],
        [0.1, 0.05],
        [0.105, 0.04],
        [0.105, 0.0],
        [0.03, -0.02],
        [0.0, -0.02],
    ];
    let mut mesh = turned(n * 2, &case).moved(turn_x(90.0));
    mesh.add(&boxes(&[[[-0.004, -0.02, 0.03], [0.004, 0.07, 0.034]]]), turn_z(-35.0));
    for i in 0..20 {
        let tick = boxes(&[[[-0.0015, 0.065, 0.03], [0.0015, 0.08, 0.032]]]);
        mesh.add(&tick, turn_z(135.0 - i as f32 * 14.0));
    }
    mesh
}

fn gearbox(n: u32) -> Mesh {
    let mut mesh = boxes(&[
        [[-0.3, -0.3, -0.22], [0.3, 0.02, 0.22]],
        [[-0.34, 0.02, -0.26], [0.34, 0.06, 0.26]],
        [[-0.28, 0.06, -0.2], [0.28, 0.26, 0.2]],
        [[-0.36, -0.36, -0.26], [0.36, -0.3, 0.26]],
    ]);
    for i in 0..9 {
        let x = -0.28 + i as f32 * 0.066;
        mesh.cuboid(Vec3::new(x, 0.26, -0.18), Vec3::new(x + 0.02, 0.3, 0.18));
    }
    for x in [-0.3, 0.3] {
        let hub = [[0.0, 0.2], [0.05, 0.2], [0.05, 0.06], [0.12, 0.05], [0.14, 0.0]];
        mesh.add(&turned(n * 2, &hub), at(x, 0.0, 0.0) * turn_z(if x > 0.0 { -90.0 } else { 90.0 }));
    }
    mesh.add(&gear(n), at(0.44, 0.0, 0.0) * turn_y(90.0));
    mesh
}

/// Returns a gear wheel around z.
fn gear(n: u32) -> Mesh {
    let teeth = n * 2;
    let mut outline = Vec::new();
    for i in 0..teeth {
        for (step, r) in [(0.0, 0.13), (0.2, 0.155), (0.5, 0.155), (0.7, 0.13)] {
            let (s, c) = ((i as f32 + step) / teeth as f32 * TAU).sine_cosine();
            outline.push(Vec2::new(c, s) * r);
        }
    }
    let mut mesh = Mesh::default();
    mesh.extrude(&outline, Vec2::ZERO, 0.05);
    mesh
}

fn tray(n: u32) -> Mesh {
    let mut mesh = boxes(&[[[-0.25, 0.0, 0.0], [-0.24, 0.1, 3.0]], [[0.24, 0.0, 0.0], [0.25, 0.1, 3.0]]]);
    for i in 0..12 {
        let z = i as f32 * 0.25 + 0.1;
        mesh.cuboid(Vec3::new(-0.24, 0.0, z), Vec3::new(0.24, 0.02, z + 0.03));
    }
    for cable in 0..9 {
        let path: Vec<Vec3> = (0..=n)
            .map(|i| {
                let z = i as f32 / n as f32 * 3.0;
                let sway = (z * TAU / 3.0 + cable as f32 * 1.7).sine();
                Vec3::new(-0.2 + cable as f32 * 0.05 + 0.012 * sway, 0.04 + 0.008 * sway.abs(), z)
            })
            .collect();
        mesh.tube(&path, 0.014 + 0.004 * (cable % 3) as f32, n / 2);
    }
    mesh
}

fn lamp(n: u32) -> Mesh {
    let mut mesh = boxes(&[[[-0.12, 0.05, -0.75], [0.12, 0.1, 0.75]]]);
    for x in [-0.06, 0.06] {
        mesh.tube(&[Vec3::new(x, 0.0, -0.72), Vec3::new(x, 0.0, 0.72)], 0.025, n);
    }
    mesh
}

fn ladder(n: u32) -> Mesh {
    let mut mesh = boxes(&[[[-0.24, 0.0, -0.03], [-0.22, 3.0, 0.03]], [[0.22, 0.0, -0.03], [0.24, 3.0, 0.03]]]);
    for i in 0..11 {
        let y = 0.15 + i as f32 * 0.27;
        mesh.tube(&[Vec3::new(-0.22, y, 0.0), Vec3::new(0.22, y, 0.0)], 0.014, n);
    }
    mesh
}

fn clamp(n: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for y in [-0.25, 0.25] {
        let bow: Vec<Vec3> = (0..=n)
            .map(|i| {
                let (s, c) = (i as f32 / n as f32 * PI).sine_cosine();
                Vec3::new(c * 1.08, y, s * 1.08)
            })
            .collect();
        mesh.tube(&bow, 0.08, n / 2);
    }
    mesh.add(&boxes(&[[[-1.3, -0.4, -1.35], [1.3, 0.4, -1.05]]]), Mat4::IDENTITY);
    mesh
}

fn duct() -> Mesh {
    let (w, h) = (0.45, 0.3);
    let mut mesh = boxes(&[[[-w, -h, 0.0], [w, h, 2.0]]]);
    for z in [0.0, 0.97, 1.94] {
        mesh.cuboid(Vec3::new(-w - 0.03, -h - 0.03, z), Vec3::new(w + 0.03, h + 0.03, z + 0.03));
    }
    mesh
}

fn hose(n: u32) -> Mesh {
    Mesh::surface(n, n * 6, |u, v| {
        let ripple = 0.06 + 0.007 * (v * TAU * 30.0).sine();
        let (s, c) = (u * TAU).sine_cosine();
        let (sag, x) = (-0.5 * (v * PI).sine(), v - 1.0);
        Vec3::new(x, sag + c * ripple, s * ripple)
    })
}
