//! Nodes of the apothecary's scene graph in drawing order, from the window to the front of the
//! table, because blended objects are drawn behind to front. All draws of a node come before those
//! of the next node.

use super::vessels::{SHAPES, Shape};
use crate::geometry::chance;
use crate::scenes::stage::place;
use glam::{Mat4, Vec3, Vec4};

/// Mesh or particles of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exhibit {
    /// The window behind everything.
    Window,
    /// A box of wood of size 1 around the origin.
    Wood,
    /// A vessel: its stopper, far side, liquid, near side and label.
    Vessel {
        /// Its shape.
        shape: Shape,
        /// True if it is stoppered and labelled.
        closed: bool,
    },
    /// A burner of brass.
    Burner,
    /// A mortar of stone.
    Mortar,
    /// A candle.
    Candle,
    /// A balance of brass.
    Balance,
    /// Leaves of a plant, 1 m across.
    Leaves,
    /// A flower pot.
    Pot,
    /// Steam that rises from the origin.
    Steam,
    /// A flame.
    Flame,
    /// Dust in the light of the window.
    Dust,
}

/// An object of the scene graph.
pub struct Node {
    /// Mesh or particles of the object.
    pub thing: Exhibit,
    /// Object to world.
    pub model: Mat4,
    /// Colour, with the density of glass or the number of particles.
    pub color: Vec4,
}

/// Heights of the shelf boards in metres.
const BOARDS: [f32; 4] = [0.98, 1.37, 1.76, 2.15];

const WOOD: Vec4 = Vec4::new(0.62, 0.42, 0.26, 0.0);

/// Returns the nodes.
pub fn nodes() -> Vec<Node> {
    let mut plan = Plan { nodes: Vec::new(), seed: 40_000 };
    plan.put(Exhibit::Window, Mat4::IDENTITY, Vec4::ONE);
    for x in [-1.62, -0.54, 0.54, 1.62] {
        plan.wood(Vec3::new(x, 1.6, -0.19), Vec3::new(0.035, 1.9, 0.36));
    }
    for y in BOARDS {
        plan.wood(Vec3::new(0.0, y - 0.012, -0.19), Vec3::new(3.24, 0.024, 0.36));
        plan.wood(Vec3::new(0.0, y - 0.02, 0.0), Vec3::new(3.3, 0.045, 0.02));
        for z in [-0.27, -0.1] {
            plan.row(y, z);
        }
    }
    plan.put(Exhibit::Dust, Mat4::from_translation(Vec3::new(0.0, 1.6, 0.2)), Vec4::new(1.0, 0.93, 0.8, 500.0));
    plan.table();
    plan.nodes
}

struct Plan {
    nodes: Vec<Node>,
    seed: u32,
}

impl Plan {
    fn chance(&mut self) -> f32 {
        self.seed += 1;
        chance(self.seed)
    }

    fn put(&mut self, thing: Exhibit, model: Mat4, color: Vec4) {
        self.nodes.push(Node { thing, model, color });
    }

    fn wood(&mut self, at: Vec3, size: Vec3) {
        let shade = 0.85 + 0.3 * self.chance();
        self.put(Exhibit::Wood, place(at, size, 0.0), WOOD * shade);
    }

    fn tint(&mut self) -> Vec4 {
        const TINTS: [[f32; 4]; 8] = [
            [0.78, 0.36, 0.06, 1.3],
            [0.80, 0.44, 0.10, 1.1],
            [0.10, 0.26, 0.78, 1.2],
            [0.12, 0.56, 0.24, 1.2],
            [0.72, 0.88, 0.84, 0.5],
            [0.82, 0.90, 0.92, 0.35],
            [0.46, 0.12, 0.52, 1.1],
            [0.10, 0.52, 0.56, 1.1],
        ];
        TINTS[(self.chance() * 8.0) as usize % 8].into()
    }

    /// Puts a row of vessels on a board.
    fn row(&mut self, y: f32, z: f32) {
        let mut x = -1.56;
        while x < 1.5 {
            let shape = SHAPES[(self.chance() * 5.0) as usize % 5];
            let size = 0.9 + 0.3 * self.chance();
            let wide = shape.widest() * size;
            x += wide + 0.008 + 0.03 * self.chance();
            let upright = [-0.54f32, 0.54].iter().any(|post| (x - post).abs() < wide + 0.03);
            if !upright && x + wide < 1.58 && self.chance() < 0.93 {
                let turn = (self.chance() - 0.5) * 0.9;
                let at = Vec3::new(x, y, z + 0.03 * (self.chance() - 0.5));
                let tint = self.tint();
                self.put(Exhibit::Vessel { shape, closed: true }, place(at, Vec3::splat(size), turn), tint);
            }
            x += wide;
        }
    }

    fn table(&mut self) {
        let top = 0.75;
        self.wood(Vec3::new(0.0, top - 0.03, 0.62), Vec3::new(4.6, 0.06, 1.1));
        let at =
            |x: f32, y: f32, z: f32, size: f32, turn: f32| place(Vec3::new(x, top + y, z), Vec3::splat(size), turn);
        let brass = Vec4::new(0.86, 0.60, 0.24, 0.0);
        // From the back of the table to its front.
        for (x, z, fill) in [
            (-0.95, 0.3, [0.20, 0.62, 0.30, 1.4]),
            (0.62, 0.34, [0.85, 0.30, 0.10, 1.4]),
            (1.25, 0.42, [0.25, 0.35, 0.85, 1.4]),
        ] {
            self.put(Exhibit::Burner, at(x, 0.0, z, 1.0, x * 3.0), brass);
            self.put(Exhibit::Flame, at(x, 0.085, z, 0.05, 0.0), Vec4::new(0.35, 0.55, 1.6, 14.0));
            let shape = if x < 0.0 { Shape::Balloon } else { Shape::Flask };
            self.put(Exhibit::Vessel { shape, closed: false }, at(x, 0.157, z, 1.25, 0.0), fill.into());
            self.put(
                Exhibit::Steam,
                at(x, 0.157 + shape.height() * 1.25, z, 1.0, x),
                Vec4::new(0.92, 0.94, 0.97, 80.0),
            );
        }
        self.put(Exhibit::Balance, at(-0.28, 0.0, 0.42, 1.1, 0.35), brass);
        self.put(Exhibit::Pot, at(-1.5, 0.0, 0.5, 1.0, 0.0), Vec4::new(0.62, 0.30, 0.18, 0.0));
        self.put(Exhibit::Leaves, at(-1.5, 0.30, 0.5, 0.62, 0.0), Vec4::new(0.8, 1.0, 0.6, 0.0));
        for i in 0..9 {
            let (x, z) = (-0.7 + 0.16 * i as f32 + 0.03 * self.chance(), 0.62 + 0.08 * self.chance());
            let (shape, tint, turn) = (SHAPES[i % 3], self.tint(), self.chance() - 0.5);
            if i != 4 && i != 5 {
                self.put(Exhibit::Vessel { shape, closed: true }, at(x, 0.0, z, 0.8, turn), tint);
            }
        }
        self.put(Exhibit::Pot, at(0.98, 0.0, 0.72, 0.55, 0.0), Vec4::new(0.55, 0.28, 0.18, 0.0));
        self.put(Exhibit::Leaves, at(0.98, 0.17, 0.72, 0.24, 1.0), Vec4::new(0.7, 1.0, 0.5, 0.0));
        self.put(
            Exhibit::Vessel { shape: Shape::Bell, closed: false },
            at(0.98, 0.0, 0.72, 1.0, 0.0),
            Vec4::new(0.9, 0.95, 0.96, 0.25),
        );
        self.put(Exhibit::Mortar, at(0.28, 0.0, 0.78, 1.0, 0.3), Vec4::new(0.8, 0.79, 0.75, 0.0));
        for (x, z) in [(-1.05, 0.85), (0.58, 0.92)] {
            self.put(Exhibit::Candle, at(x, 0.0, z, 1.0, 0.0), Vec4::new(0.93, 0.86, 0.68, 0.0));
            self.put(Exhibit::Flame, at(x, 0.195, z, 0.06, 0.0), Vec4::new(2.2, 1.15, 0.35, 16.0));
            self.put(Exhibit::Steam, at(x, 0.27, z, 0.5, x), Vec4::new(0.45, 0.44, 0.44, 30.0));
        }
        self.put(Exhibit::Dust, Mat4::from_translation(Vec3::new(0.0, 1.4, 0.9)), Vec4::new(1.0, 0.9, 0.7, 300.0));
    }
}
