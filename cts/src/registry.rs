//! Registration of cases: a case registers itself beside its function, and there is no list of
//! cases.
//!
//! `case!` registers one case. `cases!` registers a function that appends generated cases. Both
//! are available at the top level of every file below `cases/`.

use crate::Entry;
use crate::harness::{Case, Gpu};

/// A function that appends cases, collected from every file by `inventory`.
pub(crate) struct Registration(pub(crate) fn(&mut Vec<Entry>));

inventory::collect!(Registration);

/// Returns every registered case, in the order of their names.
pub(crate) fn registered() -> Vec<Entry> {
    let mut entries = Vec::new();
    for Registration(append) in inventory::iter::<Registration> {
        append(&mut entries);
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Runs a case. This call gives closures in `case!` their argument type.
pub(crate) fn run(gpu: &Gpu, case: impl Fn(&Gpu) -> Case) -> Case {
    case(gpu)
}

/// Registers a case: its name `chapter.group.case`, the section of the specification, optionally
/// the required device extensions, and the function or closure of a `&Gpu` that runs it.
macro_rules! case {
    ($name:literal, $section:expr, [$($extension:expr),+], $run:expr $(,)?) => {
        case!($name, $section, |gpu: &$crate::harness::Gpu| {
            $(gpu.need($extension)?;)+
            $crate::registry::run(gpu, $run)
        });
    };
    ($name:literal, $section:expr, $run:expr $(,)?) => {
        inventory::submit! {
            $crate::registry::Registration(|cases| cases.push($crate::Entry::new($name, $section, $run)))
        }
    };
}

/// Registers a function that appends cases to a `&mut Vec<Entry>`.
macro_rules! cases {
    ($append:path) => {
        inventory::submit! { $crate::registry::Registration($append) }
    };
}
