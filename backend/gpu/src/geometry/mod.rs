//! Geometry stages: vertex fetch and shading, primitive assembly, clipping, culling and viewport
//! transform.
//!
//! The module ends with triangles that wait for their tiles, and sets these triangles up, tile by
//! tile.

mod assembly;
mod batch;
mod clip;
mod corners;
mod cull;
mod cull_heuristic;
mod extent;
mod feedback;
mod front;
mod kernel;
mod lines;
mod lookahead;
mod merged;
mod mesh;
mod plan;
mod posh;
mod primitives;
mod reuse;
mod segments;
mod setup;
mod shading;
mod stream;
pub mod tessellation;
mod triangles;
mod varies;

pub use batch::TriangleBatch;
pub use clip::GUARD_BAND;
pub use corners::{Corners, Indices};
pub use feedback::{CapturePlan, Captured, CapturedStream};
pub use front::{Assembled, FrontScratch, InstanceRange, Strips};
pub use kernel::{LazyVertexKernel, PositionKernel, VertexKernel};
pub use lines::LINE_WIDTHS;
pub use lookahead::{BoundRules, ChunkBounds, ChunkCell, DrawBounds, DropCounts};
pub use merged::{GeometryStage, LazyMergedKernel, MergedKernel, MergedMode};
pub use mesh::{Launch, MeshScratch, MeshWorkgroups};
pub use plan::{Plan, PrimitiveContext, SIDES};
pub use posh::{MIN_POSH_PRIMITIVES, Posh};
pub use primitives::{PrimitiveBounds, PrimitiveWords, Primitives};

pub use shading::{DrawNumbers, Shaded, VIEWPORT_WORDS, VertexSource, vertex_limits, vertex_parameters, vertex_ranges};
pub use stream::{AssembledChunk, Assembly, Stream};
pub use triangles::{MAX_TRIANGLES, Pixels, TestLanes, Triangles};
pub use varies::Varies;

/// A vertex after the last vertex stage, as input of clipping.
#[derive(Debug, Clone, Default)]
struct Vertex {
    /// Clip coordinates.
    position: [f32; 4],
    /// Point size, pixels.
    point_size: f32,
    /// Signed distances to clip planes. Values that are not negative are inside.
    clip: smallvec::SmallVec<[f32; 8]>,
    /// User input components of the fragment program, in the order of its input slots.
    varyings: smallvec::SmallVec<[u32; 16]>,
}
