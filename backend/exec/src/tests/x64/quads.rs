//! Tests of loads and stores of quads and blocks. Generated code and interpreter must leave equal
//! values in memory.

use std::time::Duration;

use proptest::prelude::*;
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_codegen::Target;
use vitric_ir::parse;
use vitric_memory::{Allocation, Heap};

use super::{cases, program, targets};
use crate::bindings::Bindings;
use crate::interp::{Environment, Wave};
use crate::runtime::{Bound, Deadline, Ranges};

/// Number of quads in memory.
const QUADS: u32 = 12;

/// Number of quads from the first one of a block to the end of its last one.
const BLOCK_QUADS: u32 = 6;

/// Program that loads words of quads, adds others to them, and stores the sums of some lanes.
const SUMS: &str = "%0: i32 = Input 0\n%1: i32 = Input 1\n%2: i32 = Input 2\n%3: i32 = Const 0x0\n%4: bool = INe %2, %3\n\
                    %5: i32 = Load quads 0, %0\n%6: i32 = IAdd %5, %1\nOutput 0, %5\nIf %4\nStore quads 0, %0, %6\nEndIf\n\
                    %7: i32 = Load quads 0, %0\nOutput 1, %7\n";

/// Program that does this with words of the block that starts at the first lane's offset.
const SUMS_OF_BLOCK: &str = "%0: i32 = Input 0\n%1: i32 = Input 1\n%2: i32 = Input 2\n%3: i32 = Const 0x0\n%4: bool = INe %2, %3\n\
                             %5: i32 = Shuffle %0, %3\n%6: i32 = Load block 0, %5\n%7: i32 = IAdd %6, %1\nOutput 0, %6\n\
                             If %4\nStore block 0, %5, %7\nEndIf\n%8: i32 = Load block 0, %5\nOutput 1, %8\n";

/// Runs a program. Returns the words it loaded before and after the stores, and the memory.
fn run(text: &str, target: Option<Target>, inputs: &[Lanes], helpers: Mask) -> (Vec<Lanes>, Vec<u8>) {
    let program = program(&parse(text).unwrap(), inputs.len(), target);
    let memory = Allocation::new(&Heap::new(1 << 20), u64::from(QUADS) * 16).unwrap();
    memory.write(0, &(0..QUADS * 16).map(|byte| (byte * 29) as u8).collect::<Vec<_>>());
    let (bindings, deadline) = (Bindings::default(), Deadline::after(Duration::from_secs(100)));
    let ranges = Ranges::new(vec![Bound::Buffer(Some(memory.clone()), 0, u64::from(QUADS) * 16)]);
    let environment = Environment { ranges: &ranges, ..Environment::new(&bindings, &deadline) };
    let mut wave = Wave::default();
    wave.start(&program, Mask::MAX, helpers);
    wave.inputs.clone_from_slice(inputs);
    wave.run(&program, &environment);
    let mut left = vec![0; QUADS as usize * 16];
    memory.read(0, &mut left);
    (wave.outputs[..2].to_vec(), left)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn quads_are_loaded_and_stored_lane_by_lane(
        quads in prop::sample::subsequence((0..QUADS + 3).collect::<Vec<_>>(), 4).prop_shuffle(),
        words: Lanes, stores: Mask, helpers: Mask,
    ) {
        let places = std::array::from_fn(|lane| (quads[lane / 4] * 4 + lane as u32 % 4) * 4);
        // Nothing is stored out of bounds.
        let is_stored = |lane: usize| stores >> lane & 1 != 0 && quads[lane / 4] < QUADS;
        let conditions = std::array::from_fn::<u32, WAVE, _>(|lane| is_stored(lane).into());
        let inputs = [places, words, conditions];
        let expected = run(SUMS, None, &inputs, helpers);
        for target in targets() {
            prop_assert_eq!(&run(SUMS, Some(target), &inputs, helpers), &expected, "{:?}", target);
        }
    }

    #[test]
    fn blocks_are_loaded_and_stored_lane_by_lane(first in 0..QUADS + 3, words: Lanes, stores: Mask, helpers: Mask) {
        // A block is either in bounds or out of bounds as a whole, and nothing is stored out of
        // bounds.
        let first = if first + BLOCK_QUADS <= QUADS { first } else { QUADS };
        let conditions = std::array::from_fn::<u32, WAVE, _>(|lane| u32::from(first < QUADS && stores >> lane & 1 != 0));
        let inputs = [[first * 16; WAVE], words, conditions];
        let expected = run(SUMS_OF_BLOCK, None, &inputs, helpers);
        for lane in 0..if first < QUADS { WAVE } else { 0 } {
            // A block has two rows, each of which is half of a row of quads.
            let byte = first as usize * 16 + lane / 8 * 64 + lane % 8 * 4;
            let held = std::array::from_fn(|at| ((byte + at) * 29) as u8);
            prop_assert_eq!(expected.0[0][lane], u32::from_le_bytes(held));
        }
        for target in targets() {
            prop_assert_eq!(&run(SUMS_OF_BLOCK, Some(target), &inputs, helpers), &expected, "{:?}", target);
        }
    }
}
