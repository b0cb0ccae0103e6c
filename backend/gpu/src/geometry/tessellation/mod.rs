//! Tessellation: control programs run over patches, the tessellator subdivides these, and evaluation programs make vertices.
//!
//! Patches go through in two steps, so that memory is bounded by what their levels say. First the control programs of some patches leave a
//! *block* for each in local memory (see [`PatchFacts`](vitric_ir::interface::PatchFacts)): words of the patch, levels among them, and words of its
//! vertices. Then parts of them that become at most a window each are subdivided, and their vertices evaluated, sixteen at a time, as
//! vertices of many patches. What the control program wrote is read where it lies. With a geometry program, it is the vertices' words that
//! evaluation gives, which the waves of that program find in their local memory.

mod kernel;
mod patches;
mod tessellator;

pub(super) use kernel::{Evaluation, before_geometry};
pub use kernel::{LazyTessellationKernel, TessellationKernel};
pub(super) use patches::PatchScratch;
pub use patches::{AT_ONCE, Patches, Piece};
pub use tessellator::{Levels, MAX_LEVEL, Mesh};
