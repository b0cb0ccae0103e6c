//! Execution of programs.
//!
//! This crate holds the wave interpreter, which is the reference for generated code, and the
//! runtime that both use to access bound descriptors. It also links programs and writes texture
//! and format routines as IR.

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
