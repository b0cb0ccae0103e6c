//! Pipelines whose fragment program has routines in it: what a pipeline becomes for draws whose descriptors are known, and nothing behind
//! that knows of it.

use std::sync::Arc;

use parking_lot::Mutex;
use vitric_exec::runtime::Bindings;
use vitric_exec::{Inlining, Program};

use super::GraphicsPipeline;
use crate::pixel::Kernels;

/// What something has become, by the fragment program with routines in it.
#[derive(Debug)]
pub struct ByProgram<T>(Mutex<Vec<(Arc<Program>, Arc<T>)>>);

impl<T> Default for ByProgram<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Clone for ByProgram<T> {
    /// What is copied has become nothing yet.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> ByProgram<T> {
    fn or_make(&self, program: &Arc<Program>, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut all = self.0.lock();
        if let Some((_, known)) = all.iter().find(|(of, _)| Arc::ptr_eq(of, program)) {
            return known.clone();
        }
        let made = make();
        all.push((program.clone(), made.clone()));
        made
    }
}

impl GraphicsPipeline {
    /// The pipeline for draws whose fragment program finds these bindings, with the routines in the program that it finds there; `None` where
    /// the pipeline serves as it is.
    pub fn with_routines(&self, bindings: Option<&Bindings>, inlining: Inlining) -> Option<Arc<Self>> {
        let program = self.fragment.as_deref()?.inlined(bindings?, inlining)?;
        let kernels = || self.kernels.inlined.or_make(&program, || Arc::new(Kernels::default()));
        let made = || Arc::new(Self { fragment: Some(program.clone()), kernels: kernels(), ..self.clone() });
        Some(self.inlined.or_make(&program, made))
    }
}
