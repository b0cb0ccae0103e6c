//! Cache of objects that depend on a fragment program with inlined routines.

use std::sync::Arc;

use parking_lot::Mutex;
use vitric_exec::Program;

/// Cache of objects, keyed by a fragment program with inlined routines.
#[derive(Debug)]
pub struct ByProgram<T>(Mutex<Vec<(Arc<Program>, Arc<T>)>>);

impl<T> Default for ByProgram<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Clone for ByProgram<T> {
    /// Returns an empty cache. Cached objects are not copied.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T> ByProgram<T> {
    /// Returns the object cached for a program, or makes and caches it.
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
