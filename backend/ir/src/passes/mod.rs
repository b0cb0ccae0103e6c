//! Passes over the IR, one file each, and their order.

mod closure;
mod count;
mod cse;
mod dce;
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

/// A pass: its name and what it does to a function.
type Pass = (&'static str, fn(&mut Function));

/// The passes of [`optimize`], in order.
pub const PASSES: &[Pass] =
    &[("forward", forward::run), ("fold", fold::run), ("cse", cse::run), ("licm", licm::run), ("dce", dce::run)];

/// The passes of [`hoist`].
pub const PASSES_OF_KERNELS: &[Pass] = &[("licm through ifs", licm::run_through_ifs)];

/// Is shown a function, and after which pass.
pub type Observer<'a> = &'a mut (dyn FnMut(&str, &Function) + Send);

/// Rewrites a verified function into a shorter one that computes the same. In builds with debug assertions the verifier
/// runs after each pass.
pub fn optimize(function: &mut Function, observe: Observer<'_>) {
    observe("front end", function);
    for (name, pass) in PASSES {
        pass(function);
        debug_assert_eq!(verify(function), Ok(()), "after {name}");
        observe(name, function);
    }
}

/// Moves what a kernel's loops compute anew though it stays the same in front of them, also from where they may not come.
pub fn hoist(function: &mut Function) {
    for (name, pass) in PASSES_OF_KERNELS {
        pass(function);
        debug_assert_eq!(verify(function), Ok(()), "after {name}");
    }
}

/// Has image instructions of a whole program give no more results than are used.
pub fn trim_images(function: &mut Function) {
    trim::run(function);
}

/// How a value differs from lane to lane of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneVariance {
    /// In any way.
    Divergent,
    /// It is the same in all lanes.
    Uniform,
    /// It is greater by one than in the lane before.
    Consecutive,
}

/// Makes a verified function ready for executors: closes its regions, and finds what is the same in all lanes or steps from
/// lane to lane.
pub fn prepare(function: &mut Function, input: impl Fn(u32) -> LaneVariance) -> Uniformity {
    closure::run(function);
    let mut facts = uniformity::run(function, |slot| input(slot) == LaneVariance::Uniform);
    facts.strides = stride::run(function, &facts.values, input);
    facts
}
