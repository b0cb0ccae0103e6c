//! Tessellation: control programs run over patches, the tessellator subdivides the patches, and
//! evaluation programs compute vertices.
//!
//! Patches are processed in two steps, so that tessellation levels bound the memory in use. First
//! the control programs of a batch of patches write one *block* for each patch to local memory
//! (see [`PatchFacts`](vitric_ir::interface::PatchFacts)). A block holds the components of the
//! patch, levels included, and the components of its vertices.
//!
//! Then chunks of the batch that become at most one window each are subdivided. Their vertices are
//! evaluated sixteen at a time, across patches, and read the control program's outputs in place.
//! With a geometry program, the evaluation programs write vertex components, which the waves of
//! the geometry program find in their local memory.

mod kernel;
mod patches;
mod tessellator;

pub(super) use kernel::{Evaluation, before_geometry, vertex_words};
pub use kernel::{LazyTessellationKernel, TessellationKernel};
pub use patches::{PATCHES_PER_BATCH, PatchChunk, Patches};
pub(super) use patches::{PatchInputs, PatchScratch};
pub use tessellator::{Levels, MAX_LEVEL, TessellatedPatch};
