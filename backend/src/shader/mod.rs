//! The shader core: SPIR-V to IR, passes over the IR, linking, the code generator, and the wave interpreter (the oracle).

pub mod inline;
pub mod interp;
pub mod link;
mod program;
pub mod runtime;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod workgroup;

pub use inline::Inlining;
pub use program::Program;
pub use vitric_codegen as x64;
pub use vitric_ir::interface::{
    Builtin, Domain, FEEDBACK_BUFFERS, FEEDBACK_STRIDE, Feedback, FragmentFacts, GeometryFacts, InputSlot, Interface,
    Interpolation, LOCAL_WORD, MOST_PATCH_VERTICES, MeshFacts, MeshWord, OutputSlot, PUSH_CONSTANT_BYTES, PatchFacts,
    Place, Resource, STREAMS, Shader, Slot, Spacing,
};
pub use vitric_ir::{self as ir, elementary, interface, passes};
pub use vitric_spirv as spirv;
pub use workgroup::{WorkgroupScratch, Workgroups};

/// Identifies the build that saves programs: what another one saved is of no use.
pub const BUILD: &str = env!("VITRIC_BUILD");
