//! Geometry: vertex fetch and shading, primitive assembly, clipping, culling, viewport; ends with primitives on the grid.

mod assembly;
mod clip;
mod fetch;
mod primitives;
mod setup;
mod shading;
mod stream;

pub use assembly::assemble;
pub use primitives::{Plane, Primitives, Shape};
pub use setup::{PrimitiveContext, set_up};
pub use shading::{DrawNumbers, Shaded, VertexSource, shade};
pub use stream::{RESTART, VertexStream};

/// A vertex after the last vertex stage.
#[derive(Debug, Clone, Default)]
pub struct Vertex {
    /// Clip coordinates.
    pub position: [f32; 4],
    /// Point size, pixels.
    pub point_size: f32,
    /// Signed distances to clip planes; not negative is inside.
    pub clip: smallvec::SmallVec<[f32; 8]>,
    /// One bit per cull distance that is negative.
    pub culled: u8,
    /// Words of the fragment program's user inputs, in the order of its input slots.
    pub varyings: smallvec::SmallVec<[u32; 16]>,
}
