//! Chapter "Dispatching Commands": workgroups and their shared memory.

mod indirect;
mod local_sizes;
mod workgroups;
