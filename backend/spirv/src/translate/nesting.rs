//! Limits of nesting. The translator is recursive, and applications compile on threads with small
//! stacks.

use std::thread::{Builder, scope};

use vitric_base::host_memory;
use vitric_ir::interface::Shader;

use crate::{Error, Result};

/// Limits of a module's nesting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nesting {
    /// Maximum nesting of constructs and inlined calls.
    pub(super) constructs: u32,
    pub(super) types: u32,
    /// Size of a sufficient stack in bytes; 0 if the stack of any thread suffices.
    stack: usize,
}

/// Nesting for which the stack of any thread suffices.
const SHALLOW: Nesting = Nesting { constructs: 64, types: 64, stack: 0 };

/// Nesting for which the stack of a dedicated thread suffices. The limits of SPIR-V itself are
/// 1,023 nested constructs in a function and 255 nested structures.
const DEEP: Nesting =
    Nesting { constructs: 1 << 13, types: 1 << 9, stack: if cfg!(debug_assertions) { 512 << 20 } else { 256 << 20 } };

/// Translates on this thread, or on a thread with a larger stack if the module nests deeply.
pub(super) fn with_stack(mut translate: impl FnMut(Nesting) -> Result<Shader> + Send) -> Result<Shader> {
    match translate(SHALLOW) {
        Err(Error::Deep(_)) if !host_memory::has_room(DEEP.stack) => Err(Error::OutOfMemory),
        Err(Error::Deep(_)) => scope(|scope| {
            let thread = Builder::new().name("vitric-compile".into()).stack_size(DEEP.stack);
            let thread = thread.spawn_scoped(scope, || translate(DEEP)).map_err(|_| Error::OutOfMemory)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }),
        done => done,
    }
}
