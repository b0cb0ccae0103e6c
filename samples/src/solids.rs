//! Solids of which the meshes of buildings, machines and vessels are assembled.
//!
//! Edges are sharp: faces that meet at an edge have vertices of their own. Texture coordinates are
//! lengths in object space.

use crate::geometry::{Mesh, Vertex};
use crate::math::Steady;
use glam::{Mat4, Vec2, Vec3};
use std::f32::consts::TAU;

impl Mesh {
    /// Adds a flat quadrilateral. The corners are counter-clockwise, seen from its front.
    pub fn quad(&mut self, corners: [Vec3; 4]) {
        let [a, b, c, d] = corners;
        let normal = (b - a).cross(d - a).normalize_or_zero();
        let along = (b - a).normalize_or_zero();
        let up = normal.cross(along);
        let base = self.vertices.len() as u32;
        self.vertices.extend([a, b, c, d].map(|position| Vertex {
            position,
            normal,
            uv: Vec2::new(position.dot(along), -position.dot(up)),
            tangent: along.extend(-1.0),
        }));
        self.indices.extend([0, 1, 2, 0, 2, 3].map(|i| base + i));
    }

    /// Adds a box between two opposite corners, of which `from` has the smaller coordinates.
    pub fn cuboid(&mut self, from: Vec3, to: Vec3) {
        let at = |x: bool, y: bool, z: bool| {
            Vec3::new(if x { to.x } else { from.x }, if y { to.y } else { from.y }, if z { to.z } else { from.z })
        };
        let (o, i) = (false, true);
        self.quad([at(o, o, i), at(i, o, i), at(i, i, i), at(o, i, i)]);
        self.quad([at(i, o, o), at(o, o, o), at(o, i, o), at(i, i, o)]);
        self.quad([at(i, o, i), at(i, o, o), at(i, i, o), at(i, i, i)]);
        self.quad([at(o, o, o), at(o, o, i), at(o, i, i), at(o, i, o)]);
        self.quad([at(o, i, i), at(i, i, i), at(i, i, o), at(o, i, o)]);
        self.quad([at(o, o, o), at(i, o, o), at(i, o, i), at(o, o, i)]);
    }

    /// Adds a polygon in xy, extruded along z from 0 to `length`. The polygon is counter-clockwise,
    /// and all of it is visible from `heart`.
    pub fn extrude(&mut self, polygon: &[Vec2], heart: Vec2, length: f32) {
        let next = |i: usize| polygon[(i + 1) % polygon.len()];
        for (i, &a) in polygon.iter().enumerate() {
            let b = next(i);
            self.quad([a.extend(0.0), b.extend(0.0), b.extend(length), a.extend(length)]);
        }
        for (z, facing) in [(length, Vec3::Z), (0.0, Vec3::NEG_Z)] {
            let base = self.vertices.len() as u32;
            let vertex =
                |p: Vec2| Vertex { position: p.extend(z), normal: facing, uv: p, tangent: Vec3::X.extend(-1.0) };
            self.vertices.push(vertex(heart));
            self.vertices.extend(polygon.iter().map(|&p| vertex(p)));
            let count = polygon.len() as u32;
            for i in 0..count {
                let (a, b) = (base + 1 + i, base + 1 + (i + 1) % count);
                self.indices.extend(if z > 0.0 { [base, a, b] } else { [base, b, a] });
            }
        }
    }

    /// Adds a body of revolution around y. `profile` has radius and height, from the top down; its
    /// corners are sharp.
    pub fn lathe(&mut self, columns: u32, profile: &[Vec2]) {
        let mut length = 0.0;
        for pair in profile.windows(2) {
            let (top, bottom) = (pair[0], pair[1]);
            let out = Vec2::new(top.y - bottom.y, bottom.x - top.x).normalize_or_zero();
            let base = self.vertices.len() as u32;
            let widest = top.x.max(bottom.x);
            for (p, v) in [(top, length), (bottom, length + top.distance(bottom))] {
                for column in 0..=columns {
                    let angle = column as f32 / columns as f32 * TAU;
                    let (x, z) = if column == columns { (0.0, 1.0) } else { angle.sine_cosine() };
                    self.vertices.push(Vertex {
                        position: Vec3::new(x * p.x, p.y, z * p.x),
                        normal: Vec3::new(x * out.x, out.y, z * out.x),
                        uv: Vec2::new(angle * widest, v),
                        tangent: Vec3::new(z, 0.0, -x).extend(-1.0),
                    });
                }
            }
            length += top.distance(bottom);
            self.strip(base, columns);
        }
    }

    /// Adds a tube along a path, whose ends are open.
    pub fn tube(&mut self, path: &[Vec3], radius: f32, sides: u32) {
        let base = self.vertices.len() as u32;
        let first = (path[1] - path[0]).normalize_or_zero();
        let mut side = first.any_orthonormal_vector();
        let mut length = 0.0;
        for (i, &at) in path.iter().enumerate() {
            let (before, after) = (path[i.saturating_sub(1)], path[(i + 1).min(path.len() - 1)]);
            let along = (after - before).normalize_or_zero();
            side = (side - along * side.dot(along)).normalize_or_zero();
            let up = along.cross(side);
            length += before.distance(at);
            for column in 0..=sides {
                let angle = if column == sides { 0.0 } else { column as f32 / sides as f32 * TAU };
                let (s, c) = angle.sine_cosine();
                let normal = side * c + up * s;
                let uv = Vec2::new(column as f32 / sides as f32 * TAU * radius, length);
                let position = at + normal * radius;
                self.vertices.push(Vertex { position, normal, uv, tangent: (up * c - side * s).extend(-1.0) });
            }
        }
        // Seen from outside with the path going up, columns go to the right.
        let stride = sides + 1;
        for i in (0..path.len() as u32 - 1).flat_map(|row| (0..sides).map(move |column| base + row * stride + column)) {
            self.indices.extend([i, i + 1, i + stride, i + stride, i + 1, i + stride + 1]);
        }
    }

    /// Adds the triangles between the last two rows of `columns` cells, of which the first begins
    /// with vertex `base`.
    fn strip(&mut self, base: u32, columns: u32) {
        let stride = columns + 1;
        for i in base..base + columns {
            self.indices.extend([i, i + stride, i + 1, i + 1, i + stride, i + stride + 1]);
        }
    }

    /// Returns the mesh, moved by `transform` (rotation, translation and uniform scale only).
    pub fn moved(&self, transform: Mat4) -> Mesh {
        let mut mesh = Mesh::default();
        mesh.add(self, transform);
        mesh
    }

    /// Returns the middle of the mesh's bounds, and the distance of the vertex farthest from it.
    pub fn bounds(&self) -> (Vec3, f32) {
        let of = |pick: fn(Vec3, Vec3) -> Vec3| self.vertices.iter().map(|v| v.position).reduce(pick);
        let middle = (of(Vec3::min).unwrap_or_default() + of(Vec3::max).unwrap_or_default()) * 0.5;
        let far = self.vertices.iter().map(|v| v.position.distance_squared(middle));
        (middle, far.fold(0.0, f32::max).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts triangles whose winding disagrees with their vertices' normals.
    fn inward(mesh: &Mesh) -> usize {
        let wrong = |t: &&[u32]| {
            let v = [0, 1, 2].map(|i| mesh.vertices[t[i] as usize]);
            let face = (v[1].position - v[0].position).cross(v[2].position - v[0].position);
            face.dot(v[0].normal + v[1].normal + v[2].normal) < -1e-6
        };
        mesh.indices.chunks_exact(3).filter(wrong).count()
    }

    #[test]
    fn solids_look_outwards() {
        let mut cuboid = Mesh::default();
        cuboid.cuboid(Vec3::splat(-1.0), Vec3::new(1.0, 2.0, 3.0));
        assert_eq!((inward(&cuboid), cuboid.indices.len()), (0, 36));
        let (middle, radius) = cuboid.bounds();
        assert!(cuboid.vertices.iter().all(|v| v.normal.dot(v.position - middle) > 0.0));
        assert_eq!((middle, radius), (Vec3::new(0.0, 0.5, 1.0), 7.25f32.sqrt()));

        let mut prism = Mesh::default();
        let polygon = [Vec2::new(0.0, 0.0), Vec2::new(2.0, 0.0), Vec2::new(1.0, 1.0)];
        prism.extrude(&polygon, Vec2::new(1.0, 0.3), 2.0);
        let heart = Vec3::new(1.0, 0.3, 1.0);
        assert!(inward(&prism) == 0 && prism.vertices.iter().all(|v| v.normal.dot(v.position - heart) > 0.0));

        let mut drum = Mesh::default();
        drum.lathe(12, &[[0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [0.0, -1.0]].map(Vec2::from));
        assert!(inward(&drum) == 0 && drum.vertices.iter().all(|v| v.normal.dot(v.position) > 0.0));

        let mut tube = Mesh::default();
        tube.tube(&[Vec3::ZERO, Vec3::Y, Vec3::new(0.5, 2.0, 0.0)], 0.2, 9);
        assert_eq!((inward(&tube), tube.indices.len()), (0, 2 * 9 * 6));
    }
}
