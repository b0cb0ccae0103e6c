//! Execution of waves, by generated code or by the interpreter. The interpreter is the reference
//! that every code generator is checked against.
//!
//! A wave has 16 lanes. In the interpreter its state (program counter, lane masks, registers) is
//! explicit, so that it can stop at a barrier and resume later. A lane that leaves a region early
//! has *exited* until the target region ends. A killed lane never returns. If the mask is empty,
//! execution jumps to the end of the region.
//!
//! Values are computed in all lanes. Values that an inactive lane must keep are in locals (see
//! `passes::closure`). Stores to locals are masked unless marked otherwise.
//!
//! Generated code leaves some instructions to this module: image instructions without a routine
//! that it can enter (`image`), and memory accesses (`memory`).

mod environment;
mod image;
mod matrix;
mod memory;
mod wave;

pub use environment::Environment;
pub use wave::{Calls, Runs, Wave, run_together};

pub use super::runtime::{Deadline, Stop, WorkerGuard};

#[cfg(test)]
mod tests;
