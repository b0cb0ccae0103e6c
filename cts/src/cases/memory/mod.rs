//! Chapters "Memory Allocation" and "Additional Capabilities: External Memory": allocation,
//! binding, aliasing, external handles, contents of lazily stored attachments, protected memory.

mod binding;
mod contents;
mod external;
mod placed_maps;
mod protected;
mod reports;
mod zeroed;
