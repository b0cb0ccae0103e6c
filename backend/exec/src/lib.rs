//! Execution of programs.
//!
//! This crate holds the wave interpreter, which is the reference for generated code, and the
//! runtime that both use to access bound descriptors. It also links programs and writes texture
//! and format routines as IR.
//!
//! ```
//! use std::time::Duration;
//!
//! use vitric_codegen::Target;
//! use vitric_exec::Program;
//! use vitric_exec::interp::{Deadline, Environment, Stop, Wave};
//! use vitric_exec::runtime::Bindings;
//! use vitric_ir::passes::LaneVariance;
//!
//! let function = vitric_ir::parse("%0: i32 = Input 0\n%1: i32 = IMul %0, %0\nOutput 0, %1\n").unwrap();
//! let mut program = Program::routine(function, &[LaneVariance::Divergent], 1);
//! // Without a target the interpreter runs the program.
//! program.code.generate(Target::best())?;
//!
//! let (bindings, deadline) = (Bindings::default(), Deadline::after(Duration::from_secs(10)));
//! let mut wave = Wave::default();
//! wave.start(&program, 0xffff, 0);
//! wave.inputs[0] = std::array::from_fn(|lane| lane as u32);
//! assert_eq!(wave.run(&program, &Environment::new(&bindings, &deadline)), Stop::Done);
//! assert_eq!(wave.outputs[0][..4], [0, 1, 4, 9]);
//! # Ok::<(), String>(())
//! ```

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
