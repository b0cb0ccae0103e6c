//! The plan of the hall: assemblies of parts in random order.

use super::parts::HallPart;
use crate::geometry::chance;
use glam::{Mat4, Vec3, Vec4};
use std::f32::consts::{PI, TAU};

/// Half the width of the hall, its height, and its length along -z.
pub const HALL: Vec3 = Vec3::new(7.0, 7.6, 42.0);

/// Parts of one kind in an assembly.
pub struct Group {
    /// The part.
    pub part: HallPart,
    /// Part to world, and its colour with its gloss.
    pub places: Vec<(Mat4, Vec4)>,
}

/// Parts that were designed together.
#[derive(Default)]
pub struct Assembly {
    /// Its parts by kind.
    pub groups: Vec<Group>,
    /// True for a copy from a catalogue, which is drawn by indirect commands.
    pub catalogue: bool,
}

const STEEL: Vec4 = Vec4::new(0.56, 0.57, 0.58, 0.5);
const ZINC: Vec4 = Vec4::new(0.66, 0.67, 0.66, 0.7);
const GREY: Vec4 = Vec4::new(0.45, 0.47, 0.48, 0.35);
const YELLOW: Vec4 = Vec4::new(0.85, 0.58, 0.05, 0.5);
const GREEN: Vec4 = Vec4::new(0.07, 0.30, 0.20, 0.6);
const BLUE: Vec4 = Vec4::new(0.06, 0.19, 0.42, 0.6);
const RED: Vec4 = Vec4::new(0.55, 0.05, 0.04, 0.6);
const CREAM: Vec4 = Vec4::new(0.78, 0.75, 0.66, 0.5);
const BLACK: Vec4 = Vec4::new(0.05, 0.05, 0.055, 0.4);
const ORANGE: Vec4 = Vec4::new(0.78, 0.28, 0.05, 0.5);

fn at(x: f32, y: f32, z: f32) -> Mat4 {
    Mat4::from_translation(Vec3::new(x, y, z))
}

fn size(x: f32, y: f32, z: f32) -> Mat4 {
    Mat4::from_scale(Vec3::new(x, y, z))
}

/// Turns y to the direction of -z.
fn along_z() -> Mat4 {
    Mat4::from_rotation_x(-PI / 2.0)
}

impl Assembly {
    fn put(&mut self, part: HallPart, place: Mat4, color: Vec4) {
        match self.groups.iter_mut().find(|group| group.part == part) {
            Some(group) => group.places.push((place, color)),
            None => self.groups.push(Group { part, places: vec![(place, color)] }),
        }
    }

    /// Puts two flanges with a ring of bolts around the y axis of `place`, for a pipe of `radius`.
    fn joint(&mut self, place: Mat4, radius: f32, color: Vec4) {
        self.put(HallPart::Flange, place * size(radius, radius, radius), color);
        let below = place * Mat4::from_rotation_x(PI) * size(radius, radius, radius);
        self.put(HallPart::Flange, below, color);
        let (bolts, thread) = (if radius > 0.12 { 12 } else { 8 }, radius * 0.11);
        for i in 0..bolts {
            let turn = Mat4::from_rotation_y((i as f32 + 0.5) / bolts as f32 * TAU);
            let hole = turn * at(radius * 1.57, radius * 0.22, 0.0);
            self.put(HallPart::Bolt, place * hole * size(thread, thread, thread), ZINC);
        }
    }

    /// Puts a pipe along the y axis of `place`.
    fn pipe(&mut self, place: Mat4, radius: f32, length: f32, color: Vec4) {
        self.put(HallPart::Pipe, place * size(radius, length, radius), color);
    }

    /// Puts four bolts around the origin of `place`, which stands on its xz plane.
    fn foot(&mut self, place: Mat4, x: f32, z: f32) {
        for (sx, sz) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            self.put(HallPart::Bolt, place * at(sx * x, 0.0, sz * z) * size(0.012, 0.012, 0.012), ZINC);
        }
    }
}

/// Returns the assemblies of the hall.
pub fn hall() -> Vec<Assembly> {
    let mut all = vec![shell()];
    let bays = (HALL.z / 3.5) as u32;
    for bay in 0..bays {
        let z = -(bay as f32) * 3.5;
        all.push(frame(z));
        all.push(skid(at(-3.6, 0.0, z - 1.6), bay));
        all.push(cabinets(z - 1.2, bay));
        all.push(walkway(z));
        all.push(overhead(z, bay));
        all.push(exchanger(at(1.5, 0.0, z - 0.5), bay));
        if bay % 4 != 3 {
            all.push(vessel(at(4.4, 0.0, z - 1.8), bay));
        }
        for line in 0..11 {
            all.push(line_of_pipe(z, line));
        }
        all.push(manifold(z, bay));
    }
    // Files of mechanical designs keep the order of insertion, which is unrelated to the view.
    let mut order: Vec<(u32, Assembly)> = (0..).zip(all).collect();
    order.sort_by(|a, b| chance(a.0 + 70_000).total_cmp(&chance(b.0 + 70_000)));
    order.into_iter().map(|(_, assembly)| assembly).collect()
}

/// Floor, walls and roof.
fn shell() -> Assembly {
    let mut assembly = Assembly::default();
    let (half, tall, long) = (HALL.x, HALL.y, HALL.z + 8.0);
    let middle = -HALL.z / 2.0;
    let floor = Vec4::new(0.42, 0.44, 0.44, 0.6);
    assembly.put(HallPart::Slab, at(0.0, -0.1, middle) * size(half * 2.0, 0.2, long), floor);
    assembly.put(HallPart::Slab, at(-half - 0.1, tall / 2.0, middle) * size(0.2, tall, long), CREAM * 0.8);
    assembly.put(HallPart::Slab, at(half + 0.1, tall / 2.0, middle) * size(0.2, tall, long), CREAM * 0.8);
    assembly.put(HallPart::Slab, at(0.0, tall + 0.1, middle) * size(half * 2.0, 0.2, long), GREY * 0.8);
    assembly.put(HallPart::Slab, at(0.0, tall / 2.0, -HALL.z - 0.1) * size(half * 2.0, tall, 0.2), CREAM * 0.7);
    for x in [-2.0, -0.8, 2.4, 2.5] {
        assembly.put(HallPart::Slab, at(x, 0.002, middle) * size(0.1, 0.004, long), YELLOW);
    }
    assembly
}

/// A frame of columns and a roof truss.
fn frame(z: f32) -> Assembly {
    let mut assembly = Assembly::default();
    let (half, tall) = (HALL.x - 0.2, HALL.y);
    let upright = Mat4::from_rotation_x(-PI / 2.0);
    for x in [-half, half] {
        assembly.put(HallPart::Beam, at(x, 0.0, z) * upright * size(0.3, 0.3, tall), BLUE);
        assembly.put(HallPart::Slab, at(x, 0.015, z) * size(0.5, 0.03, 0.5), STEEL);
        assembly.foot(at(x, 0.03, z), 0.2, 0.2);
    }
    let across = at(-half, tall - 0.2, z) * Mat4::from_rotation_y(PI / 2.0);
    assembly.put(HallPart::Beam, across * size(0.18, 0.18, half * 2.0), BLUE);
    assembly.put(HallPart::Beam, at(0.0, -0.9, 0.0) * across * size(0.18, 0.18, half * 2.0), BLUE);
    let panels = 12;
    let step = half * 2.0 / panels as f32;
    for i in 0..panels {
        let (rise, length) = (if i % 2 == 0 { 0.9f32 } else { -0.9 }, (step * step + 0.81).sqrt());
        let start = if i % 2 == 0 { tall - 1.1 } else { tall - 0.2 };
        let tilt = -crate::math::Steady::angle(rise, step);
        let place =
            at(-half + i as f32 * step, start, z) * Mat4::from_rotation_y(PI / 2.0) * Mat4::from_rotation_x(tilt);
        assembly.put(HallPart::Beam, place * size(0.08, 0.08, length), BLUE);
    }
    for x in [-4.5, -1.5, 1.5, 4.5] {
        assembly.put(HallPart::Beam, at(x, tall - 0.05, z - 3.5) * size(0.12, 0.12, 3.5), STEEL);
    }
    for x in [-3.2, 1.4] {
        assembly.put(HallPart::Lamp, at(x, tall - 1.35, z - 1.7), Vec4::new(1.0, 0.95, 0.85, 9.0));
        for dz in [-0.5, 0.5] {
            assembly.pipe(at(x, tall - 1.26, z - 1.7 + dz), 0.008, 1.2, STEEL);
        }
    }
    assembly
}

/// A motor with gear box and pump on a base, with its pipes.
fn skid(place: Mat4, number: u32) -> Assembly {
    let mut assembly = Assembly { catalogue: true, ..Assembly::default() };
    let paint = [GREEN, BLUE, GREEN, ORANGE][number as usize % 4];
    for z in [-0.45, 0.35] {
        let rail = place * at(-1.5, 0.15, z) * Mat4::from_rotation_y(PI / 2.0);
        assembly.put(HallPart::Beam, rail * size(0.16, 0.28, 3.0), GREY);
    }
    for x in [-1.4, -0.4, 0.6, 1.4] {
        assembly.put(HallPart::Beam, place * at(x, 0.15, -0.45) * size(0.12, 0.26, 0.8), GREY);
        assembly.foot(place * at(x, 0.29, -0.05), 0.05, 0.4);
    }
    let axis = place * at(0.0, 0.75, -0.05);
    assembly.put(HallPart::Motor, axis * at(-0.85, 0.0, 0.0) * size(1.35, 1.35, 1.35), paint);
    assembly.foot(axis * at(-0.85, -0.37, 0.0), 0.2, 0.26);
    assembly.put(HallPart::Gearbox, axis * at(0.12, 0.0, 0.0), GREY);
    assembly.foot(axis * at(0.12, -0.3, 0.0), 0.32, 0.22);
    assembly.put(HallPart::Pump, axis * at(1.0, 0.0, 0.0), paint);
    assembly.foot(axis * at(0.95, -0.38, 0.0), 0.2, 0.2);
    for x in [-0.4, 0.72] {
        assembly.joint(axis * at(x, 0.0, 0.0) * Mat4::from_rotation_z(PI / 2.0), 0.06, STEEL);
    }
    // Discharge, with a valve, up to the rack.
    let out = axis * at(1.0, 0.5, -0.42);
    assembly.joint(out, 0.1, STEEL);
    assembly.pipe(out, 0.1, 0.5, paint);
    assembly.put(HallPart::Valve, out * at(0.0, 0.72, 0.0) * size(0.1, 0.1, 0.1), RED);
    assembly.put(HallPart::Wheel, out * at(0.0, 0.72, 0.44) * size(0.2, 0.2, 0.2), RED);
    assembly.joint(out * at(0.0, 0.5, 0.0), 0.1, STEEL);
    assembly.joint(out * at(0.0, 0.95, 0.0), 0.1, STEEL);
    assembly.pipe(out * at(0.0, 0.95, 0.0), 0.1, 2.5, paint);
    assembly.joint(out * at(0.0, 2.2, 0.0), 0.1, STEEL);
    // Suction, along the floor.
    let suction = axis * at(1.34, 0.0, 0.0) * Mat4::from_rotation_z(-PI / 2.0);
    assembly.joint(suction, 0.12, STEEL);
    assembly.pipe(suction, 0.12, 0.3, paint);
    let bend = suction * at(0.0, 0.3, 0.0) * size(0.12, 0.12, 0.12);
    assembly.put(HallPart::Elbow, bend, paint);
    for (i, x) in [-0.2f32, 0.1, 0.5].into_iter().enumerate() {
        let gauge = axis * at(x, 0.42 + 0.05 * i as f32, 0.1);
        assembly.put(HallPart::Gauge, gauge * Mat4::from_rotation_y(0.5), ZINC);
        assembly.pipe(gauge * at(0.0, -0.3, 0.0), 0.012, 0.3, ZINC);
    }
    assembly.put(HallPart::Hose, axis * at(-1.1, 0.5, 0.1) * size(1.4, 1.0, 1.0), BLACK);
    assembly
}

fn cabinets(z: f32, bay: u32) -> Assembly {
    let mut assembly = Assembly { catalogue: true, ..Assembly::default() };
    for i in 0..3 {
        let place = at(-HALL.x + 0.3, 0.0, z + i as f32 * 0.84 - 0.6);
        assembly.put(HallPart::Cabinet, place, if (bay + i).is_multiple_of(5) { GREY } else { CREAM });
        assembly.foot(place * at(0.0, 0.02, 0.0), 0.24, 0.36);
    }
    assembly
}

fn walkway(z: f32) -> Assembly {
    let mut assembly = Assembly::default();
    let (y, x) = (2.9, 1.5);
    for i in 0..4 {
        for dx in [-0.5, 0.5] {
            let panel = at(x + dx, y, z - 0.45 - i as f32 * 0.875) * size(1.0, 1.0, 0.86);
            assembly.put(HallPart::Grating, panel, ZINC);
            assembly.foot(panel, 0.45, 0.45);
        }
    }
    for dx in [-1.0, 1.0] {
        assembly.put(HallPart::Beam, at(x + dx, y - 0.15, z - 3.5) * size(0.14, 0.24, 3.5), YELLOW);
        for i in 0..2 {
            assembly.put(HallPart::Rail, at(x + dx, y, z - 1.75 * (i + 1) as f32) * size(1.0, 1.0, 0.875), YELLOW);
        }
        assembly.put(
            HallPart::Beam,
            at(x + dx, 0.0, z) * Mat4::from_rotation_x(-PI / 2.0) * size(0.14, 0.14, y - 0.2),
            GREY,
        );
        assembly.foot(at(x + dx, 0.01, z), 0.1, 0.1);
    }
    assembly
}

/// Duct and cable trays under the roof.
fn overhead(z: f32, bay: u32) -> Assembly {
    let mut assembly = Assembly::default();
    for i in 0..2 {
        assembly.put(HallPart::Duct, at(5.2, 6.1, z - 1.75 * (i + 1) as f32) * size(1.2, 1.2, 0.875), ZINC);
    }
    for (i, x) in [-0.6f32, 0.0, 2.9].into_iter().enumerate() {
        let y = 5.7 + 0.25 * (i % 2) as f32;
        assembly.put(HallPart::Tray, at(x, y, z - 3.5) * size(1.0, 1.0, 1.16), if i == 1 { ORANGE } else { ZINC });
        for dx in [-0.27, 0.27] {
            assembly.pipe(at(x + dx, y, z - 1.0), 0.008, 1.5, STEEL);
            assembly.put(HallPart::Bolt, at(x + dx, y, z - 1.0) * size(0.01, 0.01, 0.01), ZINC);
        }
    }
    if bay % 3 == 1 {
        assembly.put(HallPart::Ladder, at(2.6, 0.0, z - 0.4) * Mat4::from_rotation_y(PI / 2.0), YELLOW);
    }
    assembly
}

fn vessel(place: Mat4, number: u32) -> Assembly {
    let mut assembly = Assembly { catalogue: true, ..Assembly::default() };
    let paint = [CREAM, STEEL, CREAM][number as usize % 3];
    assembly.put(HallPart::Vessel, place * size(1.25, 1.12, 1.25), paint);
    for i in 0..4 {
        let turn = Mat4::from_rotation_y(PI / 4.0 + PI / 2.0 * i as f32);
        assembly.foot(place * turn * at(1.02, 0.05, 0.0), 0.12, 0.12);
    }
    // A manhole and nozzles around it.
    let manhole = place * at(-1.22, 1.6, 0.0) * Mat4::from_rotation_z(PI / 2.0);
    assembly.joint(manhole, 0.24, paint);
    assembly.put(HallPart::Slab, manhole * at(0.0, 0.16, 0.0) * size(0.46, 0.03, 0.46), paint);
    for (turn, y, r) in [(0.6, 2.6, 0.09), (-0.7, 3.2, 0.12), (0.3, 0.8, 0.07), (-0.4, 4.0, 0.06)] {
        let nozzle = place * Mat4::from_rotation_y(turn) * at(-1.2, y, 0.0) * Mat4::from_rotation_z(PI / 2.0);
        assembly.pipe(nozzle, r, 0.25, paint);
        assembly.joint(nozzle * at(0.0, 0.25, 0.0), r, STEEL);
        assembly.pipe(nozzle * at(0.0, 0.25, 0.0), r, 0.3, GREEN);
        assembly.put(HallPart::Valve, nozzle * at(0.0, 0.55 + r * 2.2, 0.0) * size(r, r, r), BLUE);
        assembly.put(HallPart::Wheel, nozzle * at(0.0, 0.55 + r * 2.2, r * 4.4) * size(0.14, 0.14, 0.14), RED);
    }
    let top = place * at(0.0, 4.95, 0.0);
    assembly.joint(top, 0.14, STEEL);
    assembly.pipe(top, 0.14, 0.7, GREEN);
    assembly.put(HallPart::Gauge, place * at(-1.3, 2.1, 0.3) * Mat4::from_rotation_y(-PI / 2.0), ZINC);
    assembly.put(HallPart::Ladder, place * at(-0.4, 0.6, 1.3) * size(1.0, 1.35, 1.0), YELLOW);
    assembly
}

/// A heat exchanger that lies under the walkway along -z.
fn exchanger(place: Mat4, number: u32) -> Assembly {
    let mut assembly = Assembly { catalogue: true, ..Assembly::default() };
    let paint = [ORANGE, STEEL, GREEN, CREAM][number as usize % 4];
    let axis = place * at(0.0, 0.95, 0.0) * along_z();
    assembly.put(HallPart::Vessel, axis * at(0.0, -0.1, 0.0) * size(0.42, 0.5, 0.42), paint);
    for y in [0.35, 1.85] {
        assembly.joint(axis * at(0.0, y, 0.0), 0.32, STEEL);
        assembly.put(HallPart::Slab, place * at(0.0, 0.3, -y - 0.15) * size(0.7, 0.6, 0.12), GREY);
        assembly.foot(place * at(0.0, 0.02, -y - 0.15), 0.42, 0.1);
    }
    for (x, y) in [(-0.55, 0.7), (-0.55, 1.5), (0.55, 1.1)] {
        let side = if x < 0.0 { PI / 2.0 } else { -PI / 2.0 };
        let nozzle = place * at(x * 0.7, 0.95, -y) * Mat4::from_rotation_z(side);
        assembly.pipe(nozzle, 0.07, 0.22, paint);
        assembly.joint(nozzle * at(0.0, 0.22, 0.0), 0.07, STEEL);
        assembly.put(
            HallPart::Elbow,
            nozzle * at(0.0, 0.24, 0.0) * Mat4::from_rotation_y(PI / 2.0 * x.signum()) * size(0.07, 0.07, 0.07),
            BLUE,
        );
    }
    assembly.put(HallPart::Gauge, place * at(-0.3, 1.35, -1.0) * Mat4::from_rotation_y(-0.6), ZINC);
    assembly
}

/// One line of the pipe rack in a bay.
fn line_of_pipe(z: f32, line: u32) -> Assembly {
    let mut assembly = Assembly::default();
    let r = |k: u32| chance(line * 8 + k + 300);
    let radius = [0.16, 0.06, 0.1, 0.05, 0.2, 0.08, 0.05, 0.12, 0.06, 0.09, 0.14][line as usize];
    let color = [GREEN, ZINC, RED, YELLOW, CREAM, BLUE, ZINC, GREEN, ORANGE, STEEL, BLUE][line as usize];
    let (x, y) = (-5.9 + line as f32 * 0.44, 4.55 + if line.is_multiple_of(2) { 0.0 } else { 0.75 } - radius);
    let run = at(x, y, z) * along_z();
    assembly.pipe(run, radius, 3.5, color);
    assembly.joint(run * at(0.0, 0.4 + 2.4 * r(0), 0.0), radius, if radius > 0.1 { color } else { STEEL });
    assembly.put(HallPart::Clamp, run * at(0.0, 3.3, 0.0) * size(radius, radius.max(0.1), radius), STEEL);
    if r(1) > 0.55 {
        let valve = run * at(0.0, 0.9 + 1.6 * r(2), 0.0);
        assembly.put(HallPart::Valve, valve * Mat4::from_rotation_y(PI) * size(radius, radius, radius), BLUE);
        let wheel = (radius * 2.2).max(0.12);
        assembly.put(HallPart::Wheel, valve * at(0.0, 0.0, -radius * 4.4) * size(wheel, wheel, wheel), RED);
    }
    assembly
}

/// Beams of the rack, and pipes down the wall.
fn manifold(z: f32, bay: u32) -> Assembly {
    let mut assembly = Assembly::default();
    for y in [4.2, 5.0] {
        let beam = at(-HALL.x + 0.2, y, z - 3.3) * Mat4::from_rotation_y(PI / 2.0);
        assembly.put(HallPart::Beam, beam * size(0.12, 0.16, 5.2), GREY);
    }
    for x in [-6.0, -1.7] {
        assembly.put(
            HallPart::Beam,
            at(x, 4.2, z - 3.3) * Mat4::from_rotation_x(-PI / 2.0) * size(0.12, 0.12, 2.3),
            GREY,
        );
    }
    for i in 0..5 {
        let x = HALL.x - 0.25;
        let dz = z - 0.5 - i as f32 * 0.32;
        let radius = 0.035 + 0.02 * ((bay + i) % 3) as f32;
        let color = [RED, ZINC, YELLOW, BLUE, GREEN][((bay + i) % 5) as usize];
        assembly.pipe(at(x, 0.3, dz), radius, 5.5, color);
        assembly.joint(at(x, 1.2 + 0.3 * i as f32, dz), radius, STEEL);
        let bend =
            at(x, 0.3, dz) * Mat4::from_rotation_x(PI) * Mat4::from_rotation_y(PI) * size(radius, radius, radius);
        assembly.put(HallPart::Elbow, bend, color);
        assembly.put(
            HallPart::Valve,
            at(x, 2.2, dz) * Mat4::from_rotation_y(-PI / 2.0) * size(radius, radius, radius),
            BLUE,
        );
        assembly.put(
            HallPart::Wheel,
            at(x - radius * 4.4, 2.2, dz) * Mat4::from_rotation_y(PI / 2.0) * size(0.1, 0.1, 0.1),
            RED,
        );
    }
    assembly
}
