//! Chapter "Pipelines": caches, libraries, creation feedback and dynamic state.

mod binaries;
mod cache;
mod creation;
mod dynamic_state;
mod modules;
