//! Buildings: a facade of windows to the street and one to the courtyard, between two bare walls,
//! below a mansard roof. Lengths are metres.
//!
//! A building stands on y = 0. Its front is at z = 0 and looks to +z; x goes from -width/2 to
//! width/2, and z back to -depth.

use crate::geometry::{Mesh, chance};
use glam::{Mat4, Vec2, Vec3};
use std::f32::consts::PI;

/// Depth of every building.
pub const DEPTH: f32 = 12.0;
/// Height of the ground floor.
const GROUND: f32 = 4.2;
/// Height of each other floor.
const FLOOR: f32 = 3.3;
/// Depth of the windows in the wall.
const RECESS: f32 = 0.24;

/// A kind of building.
#[derive(Clone, Copy)]
pub struct BuildingKind {
    /// Width of the front.
    pub width: f32,
    /// Number of floors above the ground floor.
    pub floors: u32,
    /// Number of windows of a floor.
    pub bays: u32,
    /// Seed of the building's other random choices.
    pub seed: u32,
}

impl BuildingKind {
    /// Returns the building kind of this number.
    pub fn new(number: u32) -> BuildingKind {
        let bays = 3 + number % 4;
        let width = bays as f32 * (2.3 + 0.5 * chance(number * 3 + 900));
        BuildingKind { width, floors: 3 + (number * 5 / 3) % 4, bays, seed: 1000 + number * 100 }
    }

    /// Returns the height of the eaves.
    fn eaves(&self) -> f32 {
        GROUND + self.floors as f32 * FLOOR
    }
}

/// The meshes of a building, one for each material.
#[derive(Default)]
pub struct Building {
    /// Plaster or bricks.
    pub walls: Mesh,
    /// Cornices, sills and surrounds of cut stone.
    pub stone: Mesh,
    /// Frames, doors, balconies.
    pub joinery: Mesh,
    /// Window panes.
    pub panes: Mesh,
    /// The roof.
    pub roof: Mesh,
}

impl Building {
    /// Makes a building.
    pub fn new(kind: &BuildingKind) -> Building {
        let mut all = Building::default();
        all.facade(kind, true);
        let mut back = Building::default();
        back.facade(kind, false);
        let turn = Mat4::from_translation(Vec3::Z * -DEPTH) * Mat4::from_rotation_y(PI);
        all.walls.add(&back.walls, turn);
        all.stone.add(&back.stone, turn);
        all.joinery.add(&back.joinery, turn);
        all.panes.add(&back.panes, turn);
        let (half, top) = (kind.width / 2.0, kind.eaves());
        for x in [-half, half] {
            let (near, far) = if x > 0.0 { (0.0, -DEPTH) } else { (-DEPTH, 0.0) };
            let at = |y, z| Vec3::new(x, y, z);
            all.walls.quad([at(0.0, near), at(0.0, far), at(top, far), at(top, near)]);
        }
        all.top(kind);
        all
    }

    /// Adds the facade at z = 0.
    fn facade(&mut self, kind: &BuildingKind, street: bool) {
        let (half, bay) = (kind.width / 2.0, kind.width / kind.bays as f32);
        let door = kind.seed % 7 % kind.bays;
        for column in 0..kind.bays {
            let x = column as f32 * bay - half;
            let cell = Cell { from: Vec2::new(x, 0.0), to: Vec2::new(x + bay, GROUND) };
            match (street, column == door) {
                (_, true) => self.door(&cell),
                (true, false) => self.shop(&cell),
                (false, false) => self.plain(&cell),
            }
            for floor in 0..kind.floors {
                let y = GROUND + floor as f32 * FLOOR;
                let cell = Cell { from: Vec2::new(x, y), to: Vec2::new(x + bay, y + FLOOR) };
                let tall = if kind.seed % 300 < 100 { 0.72 } else { 0.6 };
                if !street {
                    self.plain(&cell);
                    continue;
                }
                self.window(&cell, 0.5, tall);
                if floor > 0 && chance(kind.seed + floor * 16 + column) < 0.35 {
                    self.balcony(&cell);
                }
            }
        }
        if !street {
            return;
        }
        for floor in 0..kind.floors {
            let y = GROUND + floor as f32 * FLOOR;
            let out = if floor == 0 { 0.22 } else { 0.07 };
            self.stone.cuboid(Vec3::new(-half, y - 0.16, 0.0), Vec3::new(half, y + 0.1, out));
        }
        self.cornice(kind);
    }

    fn cornice(&mut self, kind: &BuildingKind) {
        let (half, top) = (kind.width / 2.0, kind.eaves());
        for (y, height, out) in [(-0.5, 0.18, 0.16), (-0.16, 0.12, 0.46), (-0.04, 0.12, 0.56)] {
            self.stone.cuboid(Vec3::new(-half, top + y, 0.0), Vec3::new(half, top + y + height, out));
        }
        let count = (kind.width / 0.42) as u32;
        for i in 0..count {
            let x = (i as f32 + 0.25) * kind.width / count as f32 - half;
            self.stone.cuboid(Vec3::new(x, top - 0.34, 0.0), Vec3::new(x + 0.2, top - 0.16, 0.38));
        }
    }

    /// Adds the wall of a cell around a hole, and the sides of the hole.
    fn opening(&mut self, cell: &Cell, hole: &Cell) {
        let (f, t, a, b) = (cell.from, cell.to, hole.from, hole.to);
        let wall = |mesh: &mut Mesh, x0, y0, x1, y1| mesh.quad(flat(x0, y0, x1, y1, 0.0));
        wall(&mut self.walls, f.x, f.y, a.x, t.y);
        wall(&mut self.walls, b.x, f.y, t.x, t.y);
        wall(&mut self.walls, a.x, b.y, b.x, t.y);
        if a.y > f.y {
            wall(&mut self.walls, a.x, f.y, b.x, a.y);
        }
        let at = |x, y, z| Vec3::new(x, y, z);
        let r = -RECESS;
        self.walls.quad([at(a.x, a.y, 0.0), at(a.x, a.y, r), at(a.x, b.y, r), at(a.x, b.y, 0.0)]);
        self.walls.quad([at(b.x, a.y, r), at(b.x, a.y, 0.0), at(b.x, b.y, 0.0), at(b.x, b.y, r)]);
        self.walls.quad([at(a.x, b.y, r), at(b.x, b.y, r), at(b.x, b.y, 0.0), at(a.x, b.y, 0.0)]);
        self.walls.quad([at(a.x, a.y, 0.0), at(b.x, a.y, 0.0), at(b.x, a.y, r), at(a.x, a.y, r)]);
    }

    /// Adds a window whose hole takes these fractions of the cell's width and height.
    fn window(&mut self, cell: &Cell, wide: f32, tall: f32) {
        let size = cell.to - cell.from;
        let (w, h) = (size.x * wide, (size.y.min(FLOOR)) * tall);
        let left = cell.from.x + (size.x - w) / 2.0;
        let sill = cell.from.y + (size.y - h) * 0.52;
        let hole = Cell { from: Vec2::new(left, sill), to: Vec2::new(left + w, sill + h) };
        self.opening(cell, &hole);
        self.glaze(&hole, 2, 3);
        let (a, b) = (hole.from, hole.to);
        let mut stone = |x0: f32, y0: f32, x1: f32, y1: f32, out: f32| {
            self.stone.cuboid(Vec3::new(x0, y0, 0.0), Vec3::new(x1, y1, out));
        };
        stone(a.x - 0.2, a.y - 0.14, b.x + 0.2, a.y, 0.17);
        stone(a.x - 0.15, a.y, a.x, b.y, 0.05);
        stone(b.x, a.y, b.x + 0.15, b.y, 0.05);
        stone(a.x - 0.15, b.y, b.x + 0.15, b.y + 0.2, 0.06);
        stone(a.x - 0.22, b.y + 0.2, b.x + 0.22, b.y + 0.29, 0.16);
    }

    /// Adds a window to the courtyard, without cut stone.
    fn plain(&mut self, cell: &Cell) {
        let middle = (cell.from + cell.to) / 2.0;
        let hole = Cell { from: middle - Vec2::new(0.6, 0.8), to: middle + Vec2::new(0.6, 0.8) };
        self.opening(cell, &hole);
        self.glaze(&hole, 2, 1);
    }

    /// Adds panes and their frame to a hole.
    fn glaze(&mut self, hole: &Cell, columns: u32, rows: u32) {
        let (a, b, z) = (hole.from, hole.to, -RECESS);
        self.panes.quad(flat(a.x, a.y, b.x, b.y, z + 0.02));
        let mut bar = |x0, y0, x1, y1| self.joinery.cuboid(Vec3::new(x0, y0, z), Vec3::new(x1, y1, z + 0.07));
        bar(a.x, a.y, a.x + 0.07, b.y);
        bar(b.x - 0.07, a.y, b.x, b.y);
        bar(a.x, a.y, b.x, a.y + 0.08);
        bar(a.x, b.y - 0.07, b.x, b.y);
        for i in 1..columns {
            let x = a.x + (b.x - a.x) * i as f32 / columns as f32;
            bar(x - 0.03, a.y, x + 0.03, b.y);
        }
        for i in 1..rows {
            let y = a.y + (b.y - a.y) * i as f32 / rows as f32;
            bar(a.x, y - 0.02, b.x, y + 0.02);
        }
    }

    fn shop(&mut self, cell: &Cell) {
        let (f, t) = (cell.from, cell.to);
        let hole = Cell { from: Vec2::new(f.x + 0.18, f.y + 0.55), to: Vec2::new(t.x - 0.18, f.y + 3.05) };
        self.opening(cell, &hole);
        self.glaze(&hole, 2, 1);
        let mut wood = |x0, y0, x1, y1, out| self.joinery.cuboid(Vec3::new(x0, y0, 0.0), Vec3::new(x1, y1, out));
        wood(f.x, f.y + 3.1, t.x, f.y + 3.75, 0.12);
        wood(f.x, f.y + 3.75, t.x, f.y + 3.85, 0.24);
        wood(f.x + 0.12, f.y, t.x - 0.12, f.y + 0.5, 0.05);
        wood(f.x, f.y, f.x + 0.14, f.y + 3.1, 0.08);
        wood(t.x - 0.14, f.y, t.x, f.y + 3.1, 0.08);
    }

    fn door(&mut self, cell: &Cell) {
        let (f, middle) = (cell.from, (cell.from.x + cell.to.x) / 2.0);
        let hole = Cell { from: Vec2::new(middle - 0.65, f.y), to: Vec2::new(middle + 0.65, f.y + 3.2) };
        self.opening(cell, &hole);
        let (a, z) = (hole.from, -RECESS);
        let light = Cell { from: Vec2::new(a.x, f.y + 2.5), to: hole.to };
        self.glaze(&light, 3, 1);
        self.joinery.cuboid(Vec3::new(a.x, f.y, z), Vec3::new(hole.to.x, f.y + 2.5, z + 0.06));
        for (x, y, h) in [(0.1, 0.2, 0.8), (0.7, 0.2, 0.8), (0.1, 1.2, 1.1), (0.7, 1.2, 1.1)] {
            let from = Vec3::new(a.x + x, f.y + y, z + 0.06);
            self.joinery.cuboid(from, from + Vec3::new(0.5, h, 0.03));
        }
        for x in [a.x - 0.28, hole.to.x] {
            self.stone.cuboid(Vec3::new(x, f.y, 0.0), Vec3::new(x + 0.28, f.y + 3.2, 0.1));
        }
        self.stone.cuboid(Vec3::new(a.x - 0.34, f.y + 3.2, 0.0), Vec3::new(hole.to.x + 0.34, f.y + 3.55, 0.2));
    }

    fn balcony(&mut self, cell: &Cell) {
        let (x0, x1, y) = (cell.from.x + 0.2, cell.to.x - 0.2, cell.from.y + 0.2);
        self.stone.cuboid(Vec3::new(x0, y, 0.0), Vec3::new(x1, y + 0.14, 0.75));
        for x in [x0 + 0.15, x1 - 0.35] {
            self.stone.cuboid(Vec3::new(x, y - 0.4, 0.0), Vec3::new(x + 0.2, y, 0.45));
        }
        let mut rail = |from, to| self.joinery.cuboid(from, to);
        for h in [0.25, 1.05] {
            rail(Vec3::new(x0, y + h, 0.68), Vec3::new(x1, y + h + 0.05, 0.73));
            rail(Vec3::new(x0, y + h, 0.0), Vec3::new(x0 + 0.05, y + h + 0.05, 0.7));
            rail(Vec3::new(x1 - 0.05, y + h, 0.0), Vec3::new(x1, y + h + 0.05, 0.7));
        }
        let count = ((x1 - x0) / 0.13) as u32;
        for i in 0..=count {
            let x = x0 + (x1 - x0 - 0.03) * i as f32 / count as f32;
            rail(Vec3::new(x, y + 0.14, 0.69), Vec3::new(x + 0.025, y + 1.05, 0.715));
        }
    }

    /// Adds the roof with its dormers and chimneys.
    fn top(&mut self, kind: &BuildingKind) {
        let (half, y) = (kind.width / 2.0, kind.eaves());
        let (ridge, inset) = (y + 2.7, 1.5);
        let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        let (near, far) = (0.1, -DEPTH - 0.1);
        let roof = &mut self.roof;
        roof.quad([at(-half, y, near), at(half, y, near), at(half, ridge, -inset), at(-half, ridge, -inset)]);
        let back = -DEPTH + inset;
        roof.quad([at(half, y, far), at(-half, y, far), at(-half, ridge, back), at(half, ridge, back)]);
        roof.quad([at(-half, ridge, -inset), at(half, ridge, -inset), at(half, ridge, back), at(-half, ridge, back)]);
        roof.quad([at(half, y, near), at(half, y, far), at(half, ridge, back), at(half, ridge, -inset)]);
        roof.quad([at(-half, y, far), at(-half, y, near), at(-half, ridge, -inset), at(-half, ridge, back)]);
        let bay = kind.width / kind.bays as f32;
        for column in 0..kind.bays {
            let x = (column as f32 + 0.5) * bay - half;
            let cell = Cell { from: Vec2::new(x - 0.75, y + 0.3), to: Vec2::new(x + 0.75, y + 2.2) };
            self.walls.cuboid(at(cell.from.x, cell.from.y, -1.5), at(cell.to.x, cell.to.y, -0.28));
            self.roof.cuboid(at(cell.from.x - 0.12, cell.to.y, -1.7), at(cell.to.x + 0.12, cell.to.y + 0.14, -0.1));
            let hole = Cell { from: cell.from + Vec2::splat(0.2), to: cell.to - Vec2::splat(0.2) };
            self.panes.quad(flat(hole.from.x, hole.from.y, hole.to.x, hole.to.y, -0.26));
            let mut bar = |x0, y0, x1, y1| self.joinery.cuboid(at(x0, y0, -0.28), at(x1, y1, -0.2));
            bar(hole.from.x, hole.from.y, hole.to.x, hole.from.y + 0.07);
            bar(hole.from.x, hole.to.y - 0.07, hole.to.x, hole.to.y);
            bar(hole.from.x, hole.from.y, hole.from.x + 0.07, hole.to.y);
            bar(hole.to.x - 0.07, hole.from.y, hole.to.x, hole.to.y);
            bar(x - 0.03, hole.from.y, x + 0.03, hole.to.y);
        }
        for x in [-half, half - 0.5] {
            let tall = ridge + 1.2 + chance(kind.seed + 77);
            self.walls.cuboid(at(x, y, -7.6), at(x + 0.5, tall, -5.0));
            for i in 0..4 {
                let mut pot = Mesh::default();
                pot.lathe(8, &[[0.0, 0.6], [0.13, 0.6], [0.17, 0.0]].map(Vec2::from));
                let place = Mat4::from_translation(at(x + 0.25, tall, -5.4 - i as f32 * 0.6));
                self.stone.add(&pot, place);
            }
        }
    }
}

/// A rectangle of a facade.
struct Cell {
    from: Vec2,
    to: Vec2,
}

/// Returns the corners of a rectangle that looks to +z.
fn flat(x0: f32, y0: f32, x1: f32, y1: f32, z: f32) -> [Vec3; 4] {
    [Vec3::new(x0, y0, z), Vec3::new(x1, y0, z), Vec3::new(x1, y1, z), Vec3::new(x0, y1, z)]
}
