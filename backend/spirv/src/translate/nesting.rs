//! How deeply modules nest: the translator calls itself, and applications compile on threads with little stack.

use std::thread::{Builder, scope};

use vitric_base::host_memory;
use vitric_ir::interface::Shader;

use crate::{Error, Result};

/// How deeply a module may nest: the translator calls itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nesting {
    /// Constructs and calls, inlined.
    pub(super) constructs: u32,
    pub(super) types: u32,
    /// Bytes of stack that are enough; 0 where any thread has them.
    stack: usize,
}

/// Nesting that the stack of any thread has room for.
const SHALLOW: Nesting = Nesting { constructs: 64, types: 64, stack: 0 };

/// Nesting that the stack of a dedicated thread has room for. SPIR-V's own limits are 1,023 constructs in a function and 255 structures.
const DEEP: Nesting =
    Nesting { constructs: 1 << 13, types: 1 << 9, stack: if cfg!(debug_assertions) { 512 << 20 } else { 256 << 20 } };

/// Translates on this thread, or if the module nests deeply on one that has the stack for it.
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
