//! Generated meshes of every surface in the samples.
//!
//! Right-handed, y up, counter-clockwise front faces, texture v downwards.

use crate::error::Result;
use crate::gpu::{Buffer, Commands, Gpu, VertexInput};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec2, Vec3, Vec4};
use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

/// A vertex of every mesh in the samples.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Vertex {
    /// Position in object space.
    pub position: Vec3,
    /// Unit normal.
    pub normal: Vec3,
    /// Texture coordinate.
    pub uv: Vec2,
    /// Unit tangent in xyz (along +u), handedness of the bitangent in w.
    pub tangent: Vec4,
}

impl Vertex {
    /// Returns the vertex layout: position 0, normal 1, texture coordinate 2, tangent 3.
    pub fn input() -> VertexInput {
        VertexInput {
            stride: size_of::<Vertex>() as u32,
            rate: vk::VertexInputRate::VERTEX,
            attributes: vec![
                (0, vk::Format::R32G32B32_SFLOAT, 0),
                (1, vk::Format::R32G32B32_SFLOAT, 12),
                (2, vk::Format::R32G32_SFLOAT, 24),
                (3, vk::Format::R32G32B32A32_SFLOAT, 32),
            ],
        }
    }

    /// Returns the layout with position, normal and texture coordinate.
    pub fn input_textured() -> VertexInput {
        VertexInput { attributes: Self::input().attributes[..3].to_vec(), ..Self::input() }
    }

    /// Returns the layout with position and normal only.
    pub fn input_short() -> VertexInput {
        VertexInput { attributes: Self::input().attributes[..2].to_vec(), ..Self::input() }
    }

    /// Returns the layout with the position only, for depth passes.
    pub fn input_position() -> VertexInput {
        VertexInput { attributes: Self::input().attributes[..1].to_vec(), ..Self::input() }
    }
}

/// Vertices and triangle indices.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// The vertices.
    pub vertices: Vec<Vertex>,
    /// Three indices for each triangle.
    pub indices: Vec<u32>,
}

/// A mesh in device memory.
#[derive(Clone, Copy)]
pub struct GpuMesh {
    vertices: Buffer,
    indices: Buffer,
    count: u32,
}

impl GpuMesh {
    /// Returns the number of indices.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Binds the mesh's buffers, followed by the vertex buffers in `more`.
    pub fn bind(&self, cmd: &Commands<'_>, more: &[&Buffer]) {
        let buffers: Vec<_> = std::iter::once(&self.vertices).chain(more.iter().copied()).collect();
        cmd.vertices(&buffers);
        cmd.indices(&self.indices);
    }

    /// Binds and draws the mesh once.
    pub fn draw(&self, cmd: &Commands<'_>) {
        self.bind(cmd, &[]);
        cmd.draw_indexed(self.count, 1);
    }
}

impl Mesh {
    /// Copies the mesh to device memory.
    pub fn upload(&self, gpu: &Gpu) -> Result<GpuMesh> {
        Ok(GpuMesh {
            vertices: gpu.static_buffer(&self.vertices, vk::BufferUsageFlags::VERTEX_BUFFER)?,
            indices: gpu.static_buffer(&self.indices, vk::BufferUsageFlags::INDEX_BUFFER)?,
            count: self.indices.len() as u32,
        })
    }

    /// Adds another mesh, moved by `transform` (rotation, translation and uniform scale only).
    pub fn add(&mut self, other: &Mesh, transform: Mat4) {
        let base = self.vertices.len() as u32;
        self.vertices.extend(other.vertices.iter().map(|v| {
            let tangent = transform.transform_vector3(v.tangent.truncate()).normalize_or_zero();
            Vertex {
                position: transform.transform_point3(v.position),
                normal: transform.transform_vector3(v.normal).normalize_or_zero(),
                uv: v.uv,
                tangent: tangent.extend(v.tangent.w),
            }
        }));
        self.indices.extend(other.indices.iter().map(|i| i + base));
    }

    /// Returns the surface `at(u, v)` for u and v in 0..1, as `columns` by `rows` cells. The faces
    /// look outwards if u goes to the right and v downwards, seen from outside.
    pub fn surface(columns: u32, rows: u32, at: impl Fn(f32, f32) -> Vec3) -> Mesh {
        let mut mesh = Mesh::default();
        for row in 0..=rows {
            for column in 0..=columns {
                let (u, v) = (column as f32 / columns as f32, row as f32 / rows as f32);
                mesh.vertices.push(surface_vertex(&at, u, v));
            }
        }
        let stride = columns + 1;
        for row in 0..rows {
            for column in 0..columns {
                let i = row * stride + column;
                mesh.indices.extend([i, i + stride, i + 1, i + 1, i + stride, i + stride + 1]);
            }
        }
        mesh
    }

    /// Returns a sphere of radius 1.
    pub fn sphere(columns: u32, rows: u32) -> Mesh {
        Mesh::surface(columns, rows, |u, v| {
            let (ring, y) = (v * PI).sine_cosine();
            let (x, z) = (u * TAU).sine_cosine();
            Vec3::new(ring * x, y, ring * z)
        })
    }

    /// Returns a torus around the y axis.
    pub fn torus(major: f32, minor: f32, columns: u32, rows: u32) -> Mesh {
        Mesh::surface(columns, rows, |u, v| {
            let (x, z) = (u * TAU).sine_cosine();
            let (y, out) = (-v * TAU).sine_cosine();
            Vec3::new(x * (major + minor * out), minor * y, z * (major + minor * out))
        })
    }

    /// Returns a (p, q) torus knot as a tube of radius `tube`.
    pub fn knot(p: f32, q: f32, tube: f32, columns: u32, rows: u32) -> Mesh {
        let curve = |t: f32| {
            let (s, c) = (t * p * TAU).sine_cosine();
            let (sq, cq) = (t * q * TAU).sine_cosine();
            Vec3::new(c * (1.0 + 0.42 * cq), 0.42 * sq, s * (1.0 + 0.42 * cq))
        };
        Mesh::surface(columns, rows, |u, v| {
            let centre = curve(u);
            let along = (curve(u + 1e-3) - curve(u - 1e-3)).normalize();
            let side = along.cross(centre).normalize();
            let up = side.cross(along);
            let (s, c) = (v * TAU).sine_cosine();
            centre + tube * (side * s + up * c)
        })
    }

    /// Returns a surface of revolution around y. `profile(v)` returns radius and height, from the
    /// top down.
    pub fn revolved(columns: u32, rows: u32, profile: impl Fn(f32) -> Vec2) -> Mesh {
        Mesh::surface(columns, rows, |u, v| {
            let (x, z) = (u * TAU).sine_cosine();
            let p = profile(v);
            Vec3::new(x * p.x, p.y, z * p.x)
        })
    }

    /// Returns an upward square in the xz plane from -1 to 1, with the texture repeated `repeat`
    /// times.
    pub fn plane(repeat: f32) -> Mesh {
        let mut mesh = Mesh::surface(1, 1, |u, v| Vec3::new(2.0 * u - 1.0, 0.0, 2.0 * v - 1.0));
        mesh.vertices.iter_mut().for_each(|v| v.uv *= repeat);
        mesh
    }

    /// Returns a cube from -1 to 1, each side with the whole texture.
    pub fn cube() -> Mesh {
        let mut mesh = Mesh::default();
        let top = Mesh::surface(1, 1, |u, v| Vec3::new(2.0 * u - 1.0, 1.0, 2.0 * v - 1.0));
        let sides = (0..4).map(|i| Mat4::from_rotation_y(i as f32 * PI / 2.0) * Mat4::from_rotation_x(PI / 2.0));
        let all = sides.chain([Mat4::IDENTITY, Mat4::from_rotation_x(PI)]);
        all.for_each(|turn| mesh.add(&top, turn));
        mesh
    }

    /// Returns a sphere of radius 1 from a subdivided icosahedron: 20 * 4^levels triangles.
    pub fn icosphere(levels: u32) -> Mesh {
        let mut positions = icosahedron();
        let mut indices = ICOSAHEDRON.to_vec();
        for _ in 0..levels {
            indices = subdivide(&mut positions, &indices);
        }
        let vertex = |&p: &Vec3| Vertex { position: p, normal: p, ..Default::default() };
        Mesh { vertices: positions.iter().map(vertex).collect(), indices }
    }

    /// Returns the mesh with flat normals: each triangle has three separate vertices.
    pub fn faceted(&self) -> Mesh {
        let mut mesh = Mesh::default();
        for t in self.indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|i| self.vertices[t[i] as usize]);
            let [a, b, c] = corners.map(|v| v.position);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            mesh.vertices.extend(corners.map(|v| Vertex { normal, ..v }));
        }
        mesh.indices = (0..mesh.vertices.len() as u32).collect();
        mesh
    }

    /// Returns the distinct edges as pairs of indices.
    pub fn edges(&self) -> Vec<u32> {
        let mut edges: Vec<(u32, u32)> = self
            .indices
            .chunks_exact(3)
            .flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])])
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges.into_iter().flat_map(|(a, b)| [a, b]).collect()
    }
}

fn surface_vertex(at: &impl Fn(f32, f32) -> Vec3, u: f32, v: f32) -> Vertex {
    // Central differences, moved off the ends of v so that the poles of closed surfaces get a
    // direction.
    let step = 2e-3;
    let inner = v.clamp(2.0 * step, 1.0 - 2.0 * step);
    let along_u = at(u + step, inner) - at(u - step, inner);
    let along_v = at(u, inner + step) - at(u, inner - step);
    let normal = along_v.cross(along_u).normalize_or_zero();
    let tangent = along_u.normalize_or_zero();
    Vertex { position: at(u, v), normal, uv: Vec2::new(u, v), tangent: tangent.extend(-1.0) }
}

fn icosahedron() -> Vec<Vec3> {
    let t = (1.0 + 5f32.sqrt()) / 2.0;
    [
        [-1.0, t, 0.0],
        [1.0, t, 0.0],
        [-1.0, -t, 0.0],
        [1.0, -t, 0.0],
        [0.0, -1.0, t],
        [0.0, 1.0, t],
        [0.0, -1.0, -t],
        [0.0, 1.0, -t],
        [t, 0.0, -1.0],
        [t, 0.0, 1.0],
        [-t, 0.0, -1.0],
        [-t, 0.0, 1.0],
    ]
    .into_iter()
    .map(|p| Vec3::from(p).normalize())
    .collect()
}

const ICOSAHEDRON: [u32; 60] = [
    0, 11, 5, 0, 5, 1, 0, 1, 7, 0, 7, 10, 0, 10, 11, 1, 5, 9, 5, 11, 4, 11, 10, 2, 10, 7, 6, 7, 1, 8, 3, 9, 4, 3, 4, 2,
    3, 2, 6, 3, 6, 8, 3, 8, 9, 4, 9, 5, 2, 4, 11, 6, 2, 10, 8, 6, 7, 9, 8, 1,
];

fn subdivide(positions: &mut Vec<Vec3>, indices: &[u32]) -> Vec<u32> {
    let mut middles = HashMap::new();
    let mut middle = |a: u32, b: u32| {
        *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let point = (positions[a as usize] + positions[b as usize]).normalize();
            positions.push(point);
            positions.len() as u32 - 1
        })
    };
    indices
        .chunks_exact(3)
        .flat_map(|t| {
            let (ab, bc, ca) = (middle(t[0], t[1]), middle(t[1], t[2]), middle(t[2], t[0]));
            [t[0], ab, ca, t[1], bc, ab, t[2], ca, bc, ab, bc, ca]
        })
        .collect()
}

/// Returns projection times view of a camera, for Vulkan's clip space (y down, depth 0 to 1).
pub fn camera(eye: Vec3, at: Vec3, field: f32, aspect: f32) -> Mat4 {
    camera_to(100.0, eye, at, field, aspect)
}

/// Returns the matrix of [`camera`] with the far plane at distance `far`.
pub fn camera_to(far: f32, eye: Vec3, at: Vec3, field: f32, aspect: f32) -> Mat4 {
    let mut projection = Mat4::perspective_rh(field, aspect, 0.1, far);
    projection.y_axis.y *= -1.0;
    projection * Mat4::look_at_rh(eye, at, Vec3::Y)
}

/// Returns a hash of a number as a fraction in 0..1, which is the samples' only source of
/// randomness.
pub fn chance(seed: u32) -> f32 {
    let mut x = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    ((x ^ (x >> 16)) >> 8) as f32 / 16_777_216.0
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
    fn closed_meshes_look_outwards() {
        for mesh in [Mesh::sphere(24, 12), Mesh::cube(), Mesh::icosphere(2)] {
            assert_eq!(inward(&mesh), 0);
            assert!(mesh.vertices.iter().all(|v| v.normal.dot(v.position) > 0.0), "a normal looks inwards");
        }
        assert_eq!(inward(&Mesh::torus(1.0, 0.3, 24, 12)), 0);
        assert_eq!(inward(&Mesh::knot(2.0, 3.0, 0.2, 200, 16)), 0);
        let torus = Mesh::torus(1.0, 0.3, 24, 12);
        assert!(torus.vertices.iter().all(|v| {
            let ring = Vec3::new(v.position.x, 0.0, v.position.z).normalize();
            (v.position - ring).dot(v.normal) > 0.29
        }));
        let knot = Mesh::knot(2.0, 3.0, 0.2, 200, 16);
        for u in 0..200 {
            // Opposite points of the tube's ring: the normal looks away from the middle.
            let (a, b) = (knot.vertices[u], knot.vertices[u + 8 * 201]);
            assert!(a.normal.dot(a.position - b.position) > 0.0);
        }
        assert!(Mesh::plane(1.0).vertices.iter().all(|v| v.normal.y > 0.99));
    }

    #[test]
    fn an_icosphere_has_four_times_the_triangles_per_level() {
        assert_eq!(Mesh::icosphere(2).indices.len(), 20 * 16 * 3);
        assert_eq!(Mesh::icosphere(2).vertices.len(), 162);
        assert_eq!(Mesh::icosphere(1).edges().len(), 120 * 2);
    }
}
