//! Common parts of the scenes of plain objects: one camera, its uniforms, and objects placed by
//! push constants.
//!
//! The shader side is `shaders/frame.glsl`.

use super::spv;
use crate::error::Result;
use crate::geometry::{GpuMesh, Mesh, Vertex, camera_to};
use crate::gpu::{Bind, Binding, Buffer, Commands, Gpu, GraphicsDesc, Layout, Pass, Set};
use crate::math::Steady;
use ash::vk;
use glam::{Mat4, Vec3, Vec4};
use vk::{DescriptorType as Kind, ShaderStageFlags as Stages};

const STAGES: Stages = Stages::ALL_GRAPHICS;

/// The uniforms of `frame.glsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniforms {
    view_proj: Mat4,
    light: Mat4,
    eye: Vec4,
    misc: Vec4,
}

/// The push constants of `frame.glsl`: an object's transformation, colour and look. Each shader
/// defines the meaning of `look`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Push {
    /// Object to world.
    pub model: Mat4,
    /// Colour, and one more number.
    pub color: Vec4,
    /// Parameters of the shader.
    pub look: Vec4,
}

/// The camera and the clock of one frame.
#[derive(Clone, Copy)]
pub(crate) struct View {
    /// Position of the camera.
    pub eye: Vec3,
    /// The point that the camera looks at.
    pub at: Vec3,
    /// Vertical field of view in radians.
    pub field: f32,
    /// Width over height.
    pub aspect: f32,
    /// Seconds.
    pub time: f32,
    /// World to the light's clip space, for shadow maps.
    pub light: Mat4,
    /// Largest point size in pixels.
    pub point: f32,
    /// Distance of the far plane.
    pub far: f32,
}

impl View {
    /// Returns a camera at time `time`, without a light.
    pub fn new(eye: Vec3, at: Vec3, field: f32, aspect: f32, time: f32) -> View {
        View { eye, at, field, aspect, time, light: Mat4::IDENTITY, point: 1.0, far: 100.0 }
    }

    /// Returns the matrix from world to clip space.
    pub fn matrix(&self) -> Mat4 {
        camera_to(self.far, self.eye, self.at, self.field, self.aspect)
    }

    /// Returns right, down and forward across the image plane: a pixel's ray is `forward + x right
    /// + y down` for x and y in -1..1.
    pub fn rays(&self) -> [Vec3; 3] {
        let forward = (self.at - self.eye).normalize();
        let right = forward.cross(Vec3::Y).normalize();
        let half = (self.field * 0.5).tangent();
        [right * half * self.aspect, forward.cross(right) * half, forward]
    }
}

/// The uniform buffer of a scene.
pub(crate) struct Stage {
    frame: Buffer,
}

impl Stage {
    /// Creates a buffer that [`Stage::update`] must fill before the first frame.
    pub fn new(gpu: &Gpu) -> Result<Stage> {
        let frame = gpu.host_buffer(size_of::<Uniforms>() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        Ok(Stage { frame })
    }

    /// Creates a layout with the uniforms at binding 0, `more` bindings and the push constants.
    pub fn layout(gpu: &Gpu, more: &[Binding]) -> Result<Layout> {
        let bindings: Vec<_> = [(0, Kind::UNIFORM_BUFFER, STAGES)].into_iter().chain(more.iter().copied()).collect();
        gpu.layout(&[&bindings], Some((STAGES, size_of::<Push>() as u32)))
    }

    /// Creates a descriptor set for such a layout.
    pub fn set(&self, gpu: &Gpu, layout: &Layout, more: &[Bind<'_>]) -> Result<Set> {
        let binds: Vec<_> = [Bind::Buffer(&self.frame, None)].into_iter().chain(more.iter().copied()).collect();
        gpu.set(layout, 0, &binds)
    }

    /// Fills the uniforms.
    pub fn update(&self, gpu: &Gpu, view: &View) -> Result<()> {
        let uniforms = Uniforms {
            view_proj: view.matrix(),
            light: view.light,
            eye: view.eye.extend(1.0),
            misc: Vec4::new(view.time, view.aspect, view.point, (view.field * 0.5).tangent()),
        };
        gpu.write(&self.frame, 0, &[uniforms])
    }
}

/// Returns the description of a pipeline for objects: `object.vert`, depth test and write, back
/// faces culled.
pub(crate) fn object_pipeline<'a>(frag: &'a [u8], layout: &'a Layout, pass: &'a Pass) -> GraphicsDesc<'a> {
    let mut desc = GraphicsDesc::new(spv!("object.vert"), frag, layout, pass);
    desc.inputs = vec![Vertex::input_short()];
    desc.depth = (true, true);
    desc.cull = vk::CullModeFlags::BACK;
    desc
}

/// The volume that a matrix brings to the screen, as planes that look inwards.
pub(crate) struct Frustum([Vec4; 6]);

impl Frustum {
    /// Returns the volume of a matrix from world to clip space.
    pub fn new(matrix: Mat4) -> Frustum {
        let (x, y, z, w) = (matrix.row(0), matrix.row(1), matrix.row(2), matrix.row(3));
        Frustum([w + x, w - x, w + y, w - y, z, w - z].map(|plane| plane / plane.truncate().length()))
    }

    /// Returns false if a sphere is outside.
    pub fn sees(&self, centre: Vec3, radius: f32) -> bool {
        self.0.iter().all(|plane| plane.dot(centre.extend(1.0)) > -radius)
    }
}

/// A mesh with its push constants.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    /// The mesh.
    pub mesh: GpuMesh,
    /// The object's push constants.
    pub push: Push,
}

impl Object {
    /// Returns an object with a mesh that is already on the device.
    pub fn of(mesh: GpuMesh, model: Mat4, color: Vec4) -> Object {
        Object { mesh, push: Push { model, color, look: Vec4::ZERO } }
    }

    /// Uploads a mesh and returns an object with it.
    pub fn new(gpu: &Gpu, mesh: &Mesh, model: Mat4, color: Vec4) -> Result<Object> {
        Ok(Object::of(mesh.upload(gpu)?, model, color))
    }

    /// Returns the object with another look.
    pub fn looking(mut self, look: Vec4) -> Object {
        self.push.look = look;
        self
    }

    /// Draws the object with the bound pipeline and set.
    pub fn draw(&self, cmd: &Commands<'_>, layout: &Layout) {
        cmd.push(layout, &self.push);
        self.mesh.draw(cmd);
    }
}

/// Returns a transformation that scales, then rotates around y, then translates.
pub(crate) fn place(at: Vec3, scale: Vec3, turn: f32) -> Mat4 {
    Mat4::from_translation(at) * Mat4::from_rotation_y(turn) * Mat4::from_scale(scale)
}
