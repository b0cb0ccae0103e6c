//! Chapter "Resource Descriptors": sets, pools, layouts, templates, push descriptors, indexing,
//! robust access to what they name.

mod bind_commands2;
mod capacity;
mod far_indices;
mod indexing;
mod inline_blocks;
mod mutable;
mod push;
mod robustness;
mod sets;
mod templates;
