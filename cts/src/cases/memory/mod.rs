//! Chapters "Memory Allocation" and "Additional Capabilities: External Memory": allocation,
//! binding, aliasing, external handles, contents of lazily stored attachments.

mod binding;
mod contents;
mod external;
mod placed_maps;
mod reports;
mod zeroed;
