//! Conformance-style suite: cases by specification chapter, and the runner that judges them.
//!
//! A case is a named function of a device. The runner runs each group in a process of its own (a crash or hang costs one case),
//! compares outcomes with expectation lists, and fails on unexpected passes as well as on unexpected failures.

pub mod cases;
pub mod chains;
mod expectations;
pub mod harness;
mod late;
pub mod numbers;
pub mod render;
mod runner;

use harness::{Case, Gpu};

pub use runner::main;

/// One case.
pub struct Entry {
    /// `chapter.group.case`.
    pub name: String,
    /// Section of the Vulkan specification.
    pub section: &'static str,
    /// What is run.
    pub run: Box<dyn Fn(&Gpu) -> Case>,
}

impl Entry {
    /// A case.
    pub fn new(name: impl Into<String>, section: &'static str, run: impl Fn(&Gpu) -> Case + 'static) -> Self {
        Self { name: name.into(), section, run: Box::new(run) }
    }
}
