//! What the routines compute.

mod exact;
mod halves;
mod host;
mod precision;
