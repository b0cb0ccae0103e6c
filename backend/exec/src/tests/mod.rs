//! Tests of the crates below, on what compiles SPIR-V and on what runs functions.

mod elementary;
mod pair;
mod translation;
mod x64;
