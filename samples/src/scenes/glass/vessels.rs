//! Meshes of glass vessels, of their liquids, stoppers and labels, and of other objects on the
//! table. Lengths are metres, and all objects stand on y = 0.

use crate::geometry::{Mesh, Vertex};
use crate::math::Steady;
use crate::textures::smoothstep;
use glam::{Mat4, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Shapes of vessels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A bottle with round shoulders.
    Bottle,
    /// A wide jar with a lid.
    Jar,
    /// A slender phial.
    Phial,
    /// A conical flask.
    Flask,
    /// A spherical flask with a long neck.
    Balloon,
    /// A bell jar, open below.
    Bell,
}

/// All shapes.
pub const SHAPES: [Shape; 6] = [Shape::Bottle, Shape::Jar, Shape::Phial, Shape::Flask, Shape::Balloon, Shape::Bell];

impl Shape {
    /// Returns the height of the glass.
    pub fn height(self) -> f32 {
        match self {
            Shape::Bottle => 0.24,
            Shape::Jar => 0.2,
            Shape::Phial => 0.17,
            Shape::Flask => 0.21,
            Shape::Balloon => 0.27,
            Shape::Bell => 0.42,
        }
    }

    /// Returns the radius of the glass at its widest.
    pub fn widest(self) -> f32 {
        match self {
            Shape::Bottle => 0.062,
            Shape::Jar => 0.07,
            Shape::Phial => 0.032,
            Shape::Flask => 0.085,
            Shape::Balloon => 0.08,
            Shape::Bell => 0.17,
        }
    }

    /// Returns the outer radius at height `y`, as fractions of the widest radius and of the total
    /// height.
    fn radius(self, y: f32) -> f32 {
        let lip = 0.03 * smoothstep(0.94, 0.96, y) * (1.0 - smoothstep(0.985, 1.0, y));
        let foot = |r: f32| r * (1.0 - (1.0 - smoothstep(-0.02, 0.05, y)).powi(2) * 0.4);
        match self {
            Shape::Bottle => foot(0.34 + 0.66 * (1.0 - smoothstep(0.58, 0.8, y))) + lip * 3.0,
            Shape::Jar => foot(0.84 + 0.16 * (1.0 - smoothstep(0.8, 0.92, y))) + lip * 2.0,
            Shape::Phial => foot(0.5 + 0.5 * (1.0 - smoothstep(0.72, 0.86, y))) + lip * 4.0,
            Shape::Flask => foot(0.26 + 0.74 * (1.0 - y / 0.7).max(0.0)) + lip * 2.0,
            Shape::Balloon => {
                let t = (y / 0.6 - 1.0).clamp(-1.0, 1.0);
                let ball = (1.0 - t * t).max(0.0).sqrt();
                if y < 0.3 { ball.max(0.5 * smoothstep(0.0, 0.01, y)) } else { ball.max(0.2) + lip * 2.0 }
            }
            Shape::Bell => {
                let t = ((y - 0.55) / 0.45).clamp(0.0, 1.0);
                (1.0 - t * t).max(0.0).sqrt()
            }
        }
    }

    /// Returns the radius, scaled by `shrink`, and the height in metres at `v`, which goes from 0
    /// at the top to 1 at the bottom.
    fn profile(self, shrink: f32, v: f32) -> Vec2 {
        let y = 1.0 - v;
        Vec2::new(self.radius(y) * self.widest() * shrink, y * self.height())
    }

    /// Returns the outer surface of the glass.
    pub fn glass(self, columns: u32, rows: u32) -> Mesh {
        let mut mesh = Mesh::revolved(columns, rows, |v| self.profile(1.0, v));
        if self == Shape::Bell {
            let knob = Mesh::sphere(columns / 2, rows / 4);
            mesh.add(&knob, Mat4::from_translation(Vec3::Y * 0.44) * Mat4::from_scale(Vec3::splat(0.022)));
        }
        mesh
    }

    /// Returns the surface of a liquid that fills the vessel up to `level`, a fraction of the
    /// height.
    pub fn liquid(self, level: f32, columns: u32, rows: u32) -> Mesh {
        let mut mesh = Mesh::revolved(columns, rows, |v| {
            let inside = self.profile(0.93, 1.0 - level * (1.0 - v));
            Vec2::new(inside.x, inside.y + 0.004 * (1.0 - v))
        });
        let top = self.profile(0.93, 1.0 - level);
        mesh.lathe(columns, &[Vec2::new(0.0, top.y + 0.004), Vec2::new(top.x, top.y + 0.004)]);
        mesh
    }

    /// Returns the stopper.
    pub fn stopper(self, columns: u32) -> Mesh {
        let mut mesh = Mesh::default();
        let (r, top) = (self.radius(0.93) * self.widest(), self.height());
        if self == Shape::Jar {
            let lid = [
                [0.0, 0.05],
                [0.012, 0.048],
                [0.016, 0.035],
                [0.008, 0.022],
                [r * 0.9, 0.018],
                [r * 1.12, 0.008],
                [r * 1.12, 0.0],
                [0.0, 0.0],
            ];
            mesh.lathe(columns, &lid.map(|[x, y]| Vec2::new(x, y + top)));
            return mesh;
        }
        let cork = [[0.0, 0.026], [r * 0.9, 0.025], [r * 1.0, 0.018], [r * 0.82, -0.02], [0.0, -0.02]];
        mesh.lathe(columns, &cork.map(|[x, y]| Vec2::new(x, y + top)));
        mesh
    }

    /// Returns a paper label on the front of the glass, with texture coordinates from 0 to 1.
    pub fn paper_label(self, columns: u32) -> Mesh {
        // Lower and upper edge as fractions of the height, and half the angle around the axis.
        let (low, high, half_angle) = match self {
            Shape::Phial => (0.22, 0.62, 0.9),
            Shape::Jar => (0.22, 0.7, 0.7),
            _ => (0.16, 0.5, 0.75),
        };
        let mut mesh = Mesh::default();
        let rows = columns / 2;
        for row in 0..=rows {
            for column in 0..=columns {
                let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
                let (s, c) = ((u - 0.5) * 2.0 * half_angle).sine_cosine();
                let y = high + (low - high) * v;
                let r = self.radius(y) * self.widest() + 0.0012;
                let position = Vec3::new(s * r, y * self.height(), c * r);
                let normal = Vec3::new(s, 0.0, c);
                mesh.vertices.push(Vertex { position, normal, uv: Vec2::new(u, v), tangent: Vec3::X.extend(-1.0) });
            }
        }
        let stride = columns + 1;
        for i in (0..rows).flat_map(|row| (0..columns).map(move |column| row * stride + column)) {
            mesh.indices.extend([i, i + stride, i + 1, i + 1, i + stride, i + stride + 1]);
        }
        mesh
    }
}

/// Returns a burner with a tripod, on which a flask stands at a height of 0.16 m.
pub fn burner(columns: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let lamp = [[0.0, 0.085], [0.012, 0.085], [0.014, 0.06], [0.05, 0.05], [0.055, 0.02], [0.045, 0.0], [0.0, 0.0]];
    mesh.lathe(columns, &lamp.map(Vec2::from));
    mesh.add(&Mesh::torus(0.075, 0.005, columns, columns / 2), Mat4::from_translation(Vec3::Y * 0.152));
    for i in 0..3 {
        let (s, c) = (i as f32 / 3.0 * TAU + 0.4).sine_cosine();
        let foot = Vec3::new(s * 0.1, 0.0, c * 0.1);
        mesh.tube(&[foot, Vec3::new(s * 0.075, 0.15, c * 0.075)], 0.004, columns / 2);
    }
    mesh
}

/// Returns a mortar with its pestle.
pub fn mortar(columns: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let bowl = [
        [0.0, 0.035],
        [0.045, 0.04],
        [0.07, 0.075],
        [0.076, 0.125],
        [0.084, 0.13],
        [0.088, 0.122],
        [0.082, 0.07],
        [0.05, 0.03],
        [0.045, 0.018],
        [0.06, 0.0],
        [0.0, 0.0],
    ];
    mesh.lathe(columns, &bowl.map(Vec2::from));
    mesh.tube(&[Vec3::new(-0.02, 0.05, 0.0), Vec3::new(0.05, 0.13, 0.02), Vec3::new(0.12, 0.21, 0.04)], 0.014, columns);
    mesh
}

/// Returns a candle in a holder; its flame stands at a height of 0.2 m.
pub fn candle(columns: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let holder = [
        [0.0, 0.19],
        [0.016, 0.192],
        [0.018, 0.18],
        [0.018, 0.03],
        [0.024, 0.028],
        [0.026, 0.015],
        [0.06, 0.012],
        [0.065, 0.02],
        [0.07, 0.016],
        [0.062, 0.0],
        [0.0, 0.0],
    ];
    mesh.lathe(columns, &holder.map(Vec2::from));
    mesh
}

/// Returns a balance: a stand with a beam and two pans.
pub fn balance(columns: u32) -> Mesh {
    let mut mesh = Mesh::default();
    let stand = [
        [0.0, 0.4],
        [0.008, 0.395],
        [0.012, 0.38],
        [0.007, 0.36],
        [0.009, 0.06],
        [0.03, 0.04],
        [0.075, 0.022],
        [0.08, 0.0],
        [0.0, 0.0],
    ];
    mesh.lathe(columns, &stand.map(Vec2::from));
    let beam: Vec<Vec3> = (0..=16)
        .map(|i| {
            let t = i as f32 / 8.0 - 1.0;
            Vec3::new(t * 0.2, 0.365 + 0.012 * (t * PI).cosine() + 0.01 * t, 0.0)
        })
        .collect();
    mesh.tube(&beam, 0.005, columns / 2);
    for (x, y) in [(-0.2f32, 0.1), (0.2, 0.12)] {
        let top = Vec3::new(x, 0.355 + 0.05 * x, 0.0);
        let mut pan = Mesh::default();
        pan.lathe(
            columns,
            &[[0.0, 0.0], [0.05, 0.006], [0.07, 0.018], [0.072, 0.018], [0.052, -0.002], [0.0, -0.004]].map(Vec2::from),
        );
        mesh.add(&pan, Mat4::from_translation(Vec3::new(x, y, 0.0)));
        for i in 0..3 {
            let (s, c) = (i as f32 / 3.0 * TAU).sine_cosine();
            mesh.tube(&[Vec3::new(x + s * 0.07, y + 0.017, c * 0.07), top], 0.0012, 4);
        }
    }
    mesh
}
