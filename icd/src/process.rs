//! The process: its memory, and its forks, whose children lack the devices' threads.

use std::sync::Once;

use vitric_api::process;

/// Returns freed memory to the operating system. The C library keeps free memory below an
/// allocation. The call takes milliseconds.
pub fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call only changes free memory.
    let _ = unsafe { libc::malloc_trim(0) };
}

extern "C" fn in_child() {
    process::forked();
}

/// Registers a handler that counts forks in child processes. Later calls do nothing.
pub fn watch_forks() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: the handler only changes one atomic number, and is async-signal-safe. If this is
        // a shared library, the C library removes the handler when it unloads the library.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) } != 0;
        if failed {
            log::warn!(
                "pthread_atfork failed: a child of this process must create devices of its own instead of using inherited ones"
            );
        }
    });
}
