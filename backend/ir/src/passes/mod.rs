//! Passes over the IR, one per file, and their order.

mod closure;
mod count;
mod cse;
mod dce;
mod denormals;
pub mod fold;
mod forward;
mod licm;
pub mod pair;
pub mod sharing;
mod stride;
mod trim;
pub mod uniformity;

use crate::{Function, verify};
use uniformity::Uniformity;

pub use count::Count;

/// Name of a pass and its function.
type Pass = (&'static str, fn(&mut Function));

/// Passes of [`optimize`], in order.
pub const PASSES: &[Pass] = &[
    ("forward", forward::run),
    ("fold", fold::run),
    ("denormals", denormals::run),
    ("cse", cse::run),
    ("licm", licm::run),
    ("dce", dce::run),
];

/// Passes of [`hoist`], in order.
pub const PASSES_OF_KERNELS: &[Pass] = &[("licm through ifs", licm::run_through_ifs)];

/// Callback that receives each intermediate function and the name of the pass that produced it.
pub type Observer<'a> = &'a mut (dyn FnMut(&str, &Function) + Send);

/// Optimizes a verified function without changing its results. In builds with debug assertions,
/// the verifier runs after each pass.
pub fn optimize(function: &mut Function, observe: Observer<'_>) {
    observe("front end", function);
    for (name, pass) in PASSES {
        pass(function);
        debug_assert_eq!(verify(function), Ok(()), "after {name}");
        observe(name, function);
    }
}

/// Hoists loop-invariant code out of kernel loops, including speculatively out of conditionals.
pub fn hoist(function: &mut Function) {
    for (name, pass) in PASSES_OF_KERNELS {
        pass(function);
        debug_assert_eq!(verify(function), Ok(()), "after {name}");
    }
}

/// Drops unused trailing results of image instructions. It must see the whole program.
pub fn trim_images(function: &mut Function) {
    trim::run(function);
}

/// Variation of a value across the lanes of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneVariance {
    /// Arbitrary variation.
    Divergent,
    /// Equal in all lanes.
    Uniform,
    /// Greater by one than in the previous lane.
    Consecutive,
}

/// Prepares a verified function for executors. Closes its regions, and finds values that are
/// uniform or have a constant stride between lanes.
pub fn prepare(function: &mut Function, input: impl Fn(u32) -> LaneVariance) -> Uniformity {
    closure::run(function);
    let mut facts = uniformity::run(function, |slot| input(slot) == LaneVariance::Uniform);
    facts.strides = stride::run(function, &facts.values, input);
    facts
}
