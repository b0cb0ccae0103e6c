//! Chapter "Pipelines": caches, libraries, creation feedback and dynamic state.

mod cache;
mod creation;
mod dynamic_state;
pub(super) mod modules;
mod protected_access;
