//! Conformance-style suite: cases by specification chapter, and their runner.
//!
//! A case is a named function of a device. The runner runs each group of cases in its own process,
//! so that a crash or hang costs one case. It compares outcomes with expectation lists, and fails
//! on unexpected passes as well as on unexpected failures. `deqp` does the same with Khronos'
//! suite, which is a separate program.
//!
//! ```no_run
//! // Runs every case of the group `synchronization.fences` with the system's loader.
//! let args = ["--loader", "--filter", "synchronization.fences.*"].map(String::from);
//! let status = vitric_cts::main(args.into_iter(), None);
//! ```

/// Returns the SPIR-V of a shader of `cts/shaders`, such as `shader!("fill.comp")`.
macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".spv"))
    };
}

#[macro_use]
mod registry;

pub mod cases;
pub mod deqp;
mod expectations;
pub mod harness;
mod outcome;
mod process;
pub mod random;
pub mod render;
mod report;
mod runner;

use harness::{Case, Gpu};

pub use runner::main;

/// A case.
pub struct Entry {
    /// `chapter.group.case`.
    pub name: String,
    /// Section of the Vulkan specification.
    pub section: &'static str,
    /// Runs the case.
    pub run: Box<dyn Fn(&Gpu) -> Case>,
}

impl Entry {
    /// Returns a case that `run` runs.
    pub fn new(name: impl Into<String>, section: &'static str, run: impl Fn(&Gpu) -> Case + 'static) -> Self {
        Self { name: name.into(), section, run: Box::new(run) }
    }
}
