//! Tests of the lower-level crates that need a SPIR-V compiler or an executor of functions.

mod elementary;
mod pair;
mod translation;
mod x64;
