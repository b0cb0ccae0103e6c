//! Passes over the IR, one file each, and their order.

mod closure;
mod common;
mod dead;
mod fold;
mod forward;
mod invariant;
pub mod uniformity;

use super::ir::Function;
use uniformity::Uniformity;

pub use fold::run as fold;

/// Rewrites a verified function into a shorter one that computes the same.
pub fn optimize(function: &mut Function) {
    forward::run(function);
    fold::run(function);
    common::run(function);
    invariant::run(function);
    dead::run(function);
}

/// Makes a verified function ready for executors: closes its regions, and marks what is the same in all lanes.
pub fn prepare(function: &mut Function, uniform_input: impl Fn(u32) -> bool) -> Uniformity {
    closure::run(function);
    uniformity::run(function, uniform_input)
}

#[cfg(test)]
mod tests;
