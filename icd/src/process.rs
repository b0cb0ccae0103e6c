//! The process: its memory, and its forks, which leave a child without the threads that devices
//! have.

use std::sync::Once;

use vitric_api::process;

/// Gives memory that was freed back to the system. C's library keeps what lies below anything that
/// is not free. This takes milliseconds.
pub fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it changes nothing but what is free.
    let _ = unsafe { libc::malloc_trim(0) };
}

extern "C" fn in_child() {
    process::forked();
}

/// Has this process's children know that they are, from the first call on.
pub fn watch_forks() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: the handler changes one atomic number and nothing else, as one that runs in a
        // forked process must. Where this is a library that is unloaded, C's library forgets it.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) } != 0;
        if failed {
            log::warn!(
                "children of this process cannot know that its devices are not theirs: no handler can be registered"
            );
        }
    });
}
