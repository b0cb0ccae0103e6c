//! What the routines compute.

mod exact;
mod host;
mod precision;
