//! Geometry: vertex fetch and shading, primitive assembly, clipping, culling, viewport; ends with primitives on the grid.

mod assembly;
mod clip;
mod kernel;
mod primitives;
mod setup;
mod shading;
mod stream;

pub use assembly::assemble;
pub use kernel::{LazyVertexKernel, VertexKernel};
pub use primitives::{Plane, Primitives, Shape};
pub use setup::{PrimitiveContext, set_up};
pub(crate) use shading::shade;
pub use shading::{DrawNumbers, Shaded, VertexSource, vertex_ranges, viewport_words};
pub use stream::{RESTART, VertexStream};

/// A vertex after the last vertex stage, as clipping takes it.
#[derive(Debug, Clone, Default)]
struct Vertex {
    /// Clip coordinates.
    position: [f32; 4],
    /// Point size, pixels.
    point_size: f32,
    /// Signed distances to clip planes; not negative is inside.
    clip: smallvec::SmallVec<[f32; 8]>,
    /// Words of the fragment program's user inputs, in the order of its input slots.
    varyings: smallvec::SmallVec<[u32; 16]>,
}
