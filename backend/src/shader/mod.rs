//! The shader core: SPIR-V to IR, passes over the IR, linking, the code generator, and the wave interpreter (the oracle).

pub mod inline;
pub mod interface;
pub mod interp;
pub mod ir;
pub mod link;
pub mod passes;
mod program;
pub mod routines;
pub mod runtime;
pub mod spirv;
#[cfg(test)]
pub(crate) mod testing;
mod workgroup;
pub mod x64;

pub use inline::Inlining;
pub use interface::{
    Builtin, Domain, FEEDBACK_BUFFERS, FEEDBACK_STRIDE, Feedback, FragmentFacts, GeometryFacts, InputSlot, Interface,
    Interpolation, LOCAL_WORD, MOST_PATCH_VERTICES, MeshFacts, MeshWord, OutputSlot, PUSH_CONSTANT_BYTES, PatchFacts,
    Place, Resource, STREAMS, Shader, Slot, Spacing,
};
pub use program::Program;
pub use workgroup::{WorkgroupScratch, Workgroups};

/// Identifies the build that saves programs: what another one saved is of no use.
pub const BUILD: &str = env!("VITRIC_BUILD");
