//! Trimming: drops the trailing results of image instructions that are not used, so that routines
//! need not compute them.
//!
//! The pass runs once, when a program is created, and not again when kernels are linked from it.
//! All kernels share the state that was resolved for the program's instructions, which fixes the
//! number of results.

use foldhash::HashSet;

use super::dce;
use crate::{Function, Inst, Value};

/// Drops all results after the last one that is used. The first result always stays.
pub fn run(function: &mut Function) {
    let mut used: HashSet<Value> = HashSet::default();
    for inst in &function.insts {
        inst.operands(|value| {
            used.insert(value);
        });
    }
    for inst in &mut function.insts {
        if let Inst::Image(image) = inst {
            let is_used = |result: &u32| used.contains(&Value(image.result.0 + result));
            image.results = (0..image.results).rev().find(is_used).map_or(image.results.min(1), |last| last + 1);
        }
    }
    dce::renumber(function);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Dim, Image, ImageOp, Type};

    #[test]
    fn results_behind_the_last_used_one_go() {
        let mut b = Builder::new();
        let at = b.input(0, Type::I32);
        let fetch = Image {
            op: ImageOp::Fetch { level: None, sample: None },
            resource: 0,
            element: None,
            sampler: None,
            dim: Dim::D1,
            arrayed: false,
            coords: vec![at],
            offset: Vec::new(),
            number: 0,
            result: Value(0),
            results: 4,
        };
        let first = b.image(fetch.clone(), Type::F32);
        let second = b.image(fetch, Type::F32);
        for (slot, value) in (0..).zip([first[0], first[2], second[0]]) {
            b.push(Inst::Output { slot, value });
        }
        let mut function = b.finish();
        run(&mut function);
        let results = function.insts.iter().filter_map(|inst| match inst {
            Inst::Image(image) => Some(image.results),
            _ => None,
        });
        assert_eq!(results.collect::<Vec<_>>(), [3, 1]);
        assert_eq!(crate::verify(&function), Ok(()));
        assert_eq!(function.types.len(), 5);
    }
}
