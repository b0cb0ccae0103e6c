//! Chapter "Resource Descriptors": sets, pools, layouts, templates, push descriptors, indexing,
//! robust access to what they name.

mod bind_commands2;
mod capacity;
pub(super) mod indexing;
mod inline_blocks;
mod mutable;
mod push;
pub(super) mod robustness;
mod sets;
mod templates;
