//! Chapter "Pipelines": caches, libraries, creation feedback and dynamic state.

mod cache;
mod creation;
mod dynamic_state;
mod modules;
mod protected_access;
