//! Passes over the IR, one file each, and their order.

mod dead;
mod forward;

use super::ir::Function;

/// Rewrites a verified function into a shorter one that computes the same.
pub fn optimize(function: &mut Function) {
    forward::run(function);
    dead::run(function);
}

#[cfg(test)]
mod tests;
