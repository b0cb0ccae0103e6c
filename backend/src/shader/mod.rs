//! The shader core: SPIR-V to IR, passes over the IR, linking, the code generator, and the wave interpreter (the oracle).

pub mod inline;
pub mod interp;
pub mod ir;
pub mod link;
mod mesh;
pub mod passes;
mod program;
pub mod routines;
pub mod runtime;
mod saved;
pub mod spirv;
pub mod tessellation;
#[cfg(test)]
pub(crate) mod testing;
mod workgroup;
pub mod x64;

pub use inline::Inlining;
pub use mesh::{MeshFacts, MeshWord};
pub use program::{
    Builtin, FEEDBACK_BUFFERS, FEEDBACK_STRIDE, Feedback, FragmentFacts, GeometryFacts, InputSlot, Interpolation,
    LOCAL_WORD, OutputSlot, PUSH_CONSTANT_BYTES, PatchFacts, Place, Program, Resource, STREAMS, Slot,
};
pub use saved::BUILD;
pub use workgroup::{WorkgroupScratch, Workgroups};
