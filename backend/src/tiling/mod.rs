//! Windows of primitives, bins, and the walk over tiles by worker threads.
