//! Execution of programs.
//!
//! A program is interpreted, which is the reference, or has generated code. Both access bound
//! descriptors in the same way. This crate also links programs and writes texture and format
//! routines as IR.
//!
//! Each of the modules uses only those before it: `runtime`, `program`, `link`, `texture`,
//! `bindings`, `inline`, `interp`, `workgroup`. A program knows no bindings. Bindings hold the
//! programs of texture routines.
//!
//! ```
//! use std::time::Duration;
//!
//! use vitric_codegen::Target;
//! use vitric_exec::Program;
//! use vitric_exec::bindings::Bindings;
//! use vitric_exec::interp::{Environment, Wave};
//! use vitric_exec::runtime::{Deadline, Stop};
//! use vitric_ir::passes::LaneVariance;
//!
//! let text = "%0: i32 = Input 0\n%1: i32 = IMul %0, %0\nOutput 0, %1\n";
//! let function = vitric_ir::parse(text).unwrap();
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

pub mod bindings;
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
pub use program::{Executable, Inlined, Program};
pub use workgroup::{WorkgroupScratch, Workgroups};
