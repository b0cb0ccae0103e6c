//! Running programs: the wave interpreter (the oracle), generated code, what both find in bound
//! descriptors, linking, and texture and format routines as IR.

pub mod format_ir;
pub mod inline;
pub mod interp;
pub mod link;
mod program;
pub mod runtime;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
pub mod texture;
mod workgroup;

pub use inline::Inlining;
pub use program::Program;
pub use workgroup::{WorkgroupScratch, Workgroups};
