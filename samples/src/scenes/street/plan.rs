//! The plan of the city: blocks of buildings around courtyards, in a grid of streets, with trees,
//! parked cars and furniture. Items are in the order of the scene graph: block by block, and in a
//! block by kind.

use super::buildings::{BuildingKind, DEPTH};
use super::props;
use crate::geometry::chance;
use crate::scenes::stage::place;
use glam::{Mat4, Vec2, Vec3, Vec4};
use std::f32::consts::PI;

/// Half the size of a block, along x and z, without its streets.
pub const BLOCK: Vec2 = Vec2::new(30.0, 38.0);
/// Width of a street between two blocks.
pub const STREET: f32 = 11.0;
/// Width of the pavement around a block's buildings, which belongs to the block.
const PAVEMENT: f32 = 4.0;
/// Number of building kinds.
const KINDS: u32 = 14;
/// Number of tree kinds.
const TREES: u32 = 3;

/// A type of object in the city.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CityObject {
    /// Asphalt around a block.
    Road,
    /// White lines on the road.
    Markings,
    /// A block's pavement.
    Pavement,
    /// A building of a kind.
    Building(u32),
    /// A tree of a kind.
    Tree(u32),
    /// A car.
    Car,
    /// A lamp.
    Lamp,
    /// A bollard.
    Bollard,
    /// A litter bin.
    Bin,
    /// A bench.
    Bench,
    /// An awning.
    Awning,
}

/// An object of the city.
pub struct Item {
    /// Type of the object.
    pub thing: CityObject,
    /// Object to world.
    pub model: Mat4,
    /// Colour of the object's main material.
    pub color: Vec4,
}

/// Returns the items of a city of `columns` blocks to each side of the street at x = 0, and of
/// `rows` blocks ahead of z = 0. One more row is behind.
pub fn city(columns: i32, rows: i32) -> Vec<Item> {
    let mut plan = Plan::default();
    let pitch = (BLOCK + STREET / 2.0) * 2.0;
    for column in -columns..columns {
        for row in -1..rows {
            let middle = Vec3::new((column as f32 + 0.5) * pitch.x, 0.0, -(row as f32 + 0.5) * pitch.y);
            plan.seed = ((column + 64) * 256 + row + 64) as u32 * 4096;
            plan.block(middle);
        }
    }
    plan.items
}

#[derive(Default)]
struct Plan {
    items: Vec<Item>,
    seed: u32,
}

impl Plan {
    fn chance(&mut self) -> f32 {
        self.seed += 1;
        chance(self.seed)
    }

    fn put(&mut self, thing: CityObject, model: Mat4, color: Vec3) {
        self.items.push(Item { thing, model, color: color.extend(1.0) });
    }

    fn block(&mut self, middle: Vec3) {
        let here = Mat4::from_translation(middle);
        self.put(CityObject::Road, here, Vec3::splat(0.9));
        self.put(
            CityObject::Markings,
            here * Mat4::from_translation(Vec3::X * -(BLOCK.x + STREET / 2.0)),
            Vec3::splat(0.8),
        );
        self.put(CityObject::Pavement, here, Vec3::splat(1.0));
        let (inner, gap) = (BLOCK - PAVEMENT, STREET / 2.0);
        // Long sides along z first, then the short sides between them.
        for side in 0..4 {
            let turn = [PI / 2.0, -PI / 2.0, 0.0, PI][side];
            let (reach, half) = if side < 2 { (inner.x, inner.y) } else { (inner.y, inner.x - DEPTH) };
            let edge = here * Mat4::from_rotation_y(turn) * Mat4::from_translation(Vec3::Z * reach);
            self.row(edge, half);
        }
        for side in 0..4 {
            let turn = [PI / 2.0, -PI / 2.0, 0.0, PI][side];
            let (reach, half) = if side < 2 { (BLOCK.x, BLOCK.y) } else { (BLOCK.y, BLOCK.x) };
            let kerb = here * Mat4::from_rotation_y(turn) * Mat4::from_translation(Vec3::new(0.0, 0.0, reach));
            self.kerb(kerb, half, gap);
        }
        for _ in 0..5 {
            let at = Vec3::new((self.chance() - 0.5) * 20.0, 0.0, (self.chance() - 0.5) * 34.0);
            self.tree(here * Mat4::from_translation(at));
        }
    }

    /// Puts a row of buildings along the x axis of `edge`, on both sides of its origin.
    fn row(&mut self, edge: Mat4, half: f32) {
        let mut kinds = Vec::new();
        let mut width = 0.0;
        while width < half * 2.0 - 4.0 {
            let number = (self.chance() * KINDS as f32) as u32 % KINDS;
            kinds.push(number);
            width += BuildingKind::new(number).width;
        }
        // The row fills its side: buildings are a little wider or narrower than their kind.
        let stretch = half * 2.0 / width;
        let mut x = -half;
        for number in kinds {
            let wide = BuildingKind::new(number).width * stretch;
            let at = Mat4::from_translation(Vec3::new(x + wide / 2.0, 0.14, 0.0));
            let paint = [
                Vec3::new(0.92, 0.86, 0.72),
                Vec3::new(0.86, 0.72, 0.52),
                Vec3::new(0.80, 0.62, 0.50),
                Vec3::new(0.92, 0.90, 0.86),
                Vec3::new(0.74, 0.76, 0.70),
            ];
            let color = paint[(self.chance() * 5.0) as usize % 5] * (0.85 + 0.2 * self.chance());
            self.put(CityObject::Building(number), edge * at * Mat4::from_scale(Vec3::new(stretch, 1.0, 1.0)), color);
            if self.chance() < 0.7 {
                let shop = edge * Mat4::from_translation(Vec3::new(x + wide * 0.5, 0.3, 0.0));
                let cloth = [Vec3::new(0.5, 0.06, 0.05), Vec3::new(0.05, 0.2, 0.12), Vec3::new(0.6, 0.42, 0.12)];
                let color = cloth[(self.chance() * 3.0) as usize % 3];
                self.put(CityObject::Awning, shop, color);
            }
            x += wide;
        }
    }

    fn tree(&mut self, at: Mat4) {
        let (kind, turn) = ((self.chance() * TREES as f32) as u32 % TREES, self.chance() * 6.0);
        let size = Vec3::splat(0.85 + 0.4 * self.chance());
        let green = Vec3::new(0.75 + 0.4 * self.chance(), 0.9 + 0.2 * self.chance(), 0.7);
        self.put(CityObject::Tree(kind), at * place(Vec3::Y * 0.12, size, turn), green);
    }

    /// Puts trees, furniture and parked cars along a kerb, which is the x axis of `kerb`. The road
    /// is at positive z.
    fn kerb(&mut self, kerb: Mat4, half: f32, road: f32) {
        let steps = (half * 2.0 / 8.5) as u32;
        for i in 0..steps {
            let x = (i as f32 + 0.5) * half * 2.0 / steps as f32 - half;
            self.tree(kerb * Mat4::from_translation(Vec3::new(x, 0.0, -1.1)));
        }
        for i in 0..steps * 3 {
            let x = (i as f32 + 0.5) * half * 2.0 / (steps * 3) as f32 - half;
            let at = |dx: f32, z: f32, turn: f32| kerb * place(Vec3::new(x + dx, 0.14, z), Vec3::ONE, turn);
            match i % 9 {
                2 => self.put(CityObject::Lamp, at(0.0, -0.6, -PI / 2.0), Vec3::new(0.03, 0.05, 0.04)),
                3 | 6 => self.put(CityObject::Bench, at(0.0, -1.2, PI), Vec3::new(0.32, 0.18, 0.09)),
                5 => self.put(CityObject::Bin, at(0.4, -0.7, 0.0), Vec3::new(0.04, 0.12, 0.07)),
                _ => self.put(CityObject::Bollard, at(0.0, -0.35, 0.0), Vec3::splat(0.05)),
            }
        }
        let places = (half * 2.0 / 5.6) as u32;
        for i in 0..places {
            if self.chance() < 0.3 {
                continue;
            }
            let x = (i as f32 + 0.5) * half * 2.0 / places as f32 - half;
            let turn = if self.chance() < 0.8 { PI / 2.0 } else { -PI / 2.0 };
            let paint = [
                Vec3::new(0.03, 0.03, 0.035),
                Vec3::new(0.55, 0.56, 0.57),
                Vec3::new(0.36, 0.03, 0.03),
                Vec3::new(0.03, 0.07, 0.2),
                Vec3::new(0.7, 0.69, 0.65),
                Vec3::new(0.04, 0.14, 0.1),
            ];
            let color = paint[(self.chance() * 6.0) as usize % 6];
            let nudge = (self.chance() - 0.5) * 0.5;
            let size = Vec3::splat(0.96 + 0.1 * self.chance());
            self.put(
                CityObject::Car,
                kerb * place(Vec3::new(x + nudge, 0.0, (road - 4.2).max(1.1)), size, turn),
                color,
            );
        }
    }
}

/// Returns the mesh of an object of one material, with `sides` sides of round parts.
pub fn single(thing: CityObject, sides: u32) -> crate::geometry::Mesh {
    match thing {
        CityObject::Lamp => props::lamp(sides),
        CityObject::Bollard => props::bollard(sides),
        CityObject::Bin => props::bin(sides),
        CityObject::Bench => props::bench(),
        CityObject::Awning => props::awning(),
        CityObject::Markings => props::markings(BLOCK.y * 2.0),
        CityObject::Pavement => props::pavement(BLOCK),
        _ => {
            let mut road = crate::geometry::Mesh::default();
            let half = BLOCK + STREET / 2.0;
            let at = |x, z| Vec3::new(x * half.x, 0.0, z * half.y);
            road.quad([at(-1.0, 1.0), at(1.0, 1.0), at(1.0, -1.0), at(-1.0, -1.0)]);
            road
        }
    }
}
