//! Tests of the results of elementary routines.

mod exact;
mod halves;
mod host;
mod precision;
