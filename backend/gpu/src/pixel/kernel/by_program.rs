//! What something has become with routines in its fragment program.

use std::sync::Arc;

use parking_lot::Mutex;
use vitric_exec::Program;

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
    /// Returns what was made for a program, or makes it.
    pub fn or_make(&self, program: &Arc<Program>, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut all = self.0.lock();
        if let Some((_, known)) = all.iter().find(|(of, _)| Arc::ptr_eq(of, program)) {
            return known.clone();
        }
        let made = make();
        all.push((program.clone(), made.clone()));
        made
    }
}
