//! The GPU as a whole: worker threads and the entry point that executes command lists.
