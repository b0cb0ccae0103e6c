//! Tests of atomic operations on words of a range and by address.
//!
//! Lanes name distinct or equal words, some are out of bounds or inactive. Loops repeat the
//! operations, so that cached lookups are used. A further test runs several threads on equal
//! words.

use std::time::Duration;

use proptest::prelude::*;
use vitric_base::simd::{Mask, WAVE};
use vitric_ir::{AtomicOp, BinaryOp, Builder, Inst, Space, Type};
use vitric_memory::{Allocation, Heap};

use super::addresses::PLACES;
use super::{BUFFER_BYTES, Run, cases, check, program, targets, word};
use crate::bindings::Bindings;
use crate::interp::{Environment, Wave};
use crate::runtime::{Bound, Deadline, Stop};

/// Choice of the words that lanes name.
#[derive(Debug, Clone, Copy)]
enum Which {
    Own,
    Any,
    One,
    /// All lanes name one word through a uniform operand.
    Known,
    /// One lane's offset is not aligned, or is out of bounds.
    Beside(u32),
}

fn which() -> impl Strategy<Value = Which> {
    let beside = prop_oneof![1u32..4, 4000u32..5000, Just(u32::MAX)];
    prop_oneof![
        Just(Which::Own),
        Just(Which::Any),
        Just(Which::One),
        Just(Which::Known),
        beside.prop_map(Which::Beside)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn lanes_operate_on_words_as_the_interpreter_says(
        op in prop::sample::select(AtomicOp::ALL.to_vec()), space in 0usize..4, which in which(),
        words in prop::array::uniform16(0u32..20), values in prop::array::uniform16(word()),
        others in prop::array::uniform16(word()), odd in 0..WAVE,
        lanes in prop_oneof![3 => Just(Mask::MAX), 1 => any::<Mask>()], helpers in prop_oneof![3 => Just(0), 1 => any::<Mask>()],
    ) {
        let mut places: [u32; WAVE] = std::array::from_fn(|lane| match which {
            Which::Own => (lane as u32 ^ words[0]) % 16 * 4,
            Which::One | Which::Known => words[0] * 4,
            Which::Any | Which::Beside(_) => words[lane] * 4,
        });
        if let Which::Beside(bytes) = which {
            places[odd] = places[odd].wrapping_add(bytes);
        }
        let mut b = Builder::new();
        let [mut offset, mut value, other] = [0, 1, 2].map(|slot| b.input(slot, Type::I32));
        if let Which::Known = which {
            let bytes = if odd < 4 { odd as u32 } else { places[0] };
            (offset, value) = (b.int(bytes), b.int(values[0]));
        }
        let [low, high] = [PLACES[1] as u32, (PLACES[1] >> 32) as u32].map(|word| b.int(word));
        let buffer = Space::Buffer { resource: 0, element: None };
        // Push constants are not modified by atomics.
        let space = [Space::Shared, buffer, Space::Address { high }, Space::Push][space];
        if let Space::Address { .. } = space {
            offset = b.binary(BinaryOp::IAdd, offset, low);
        }
        let comparator = (op == AtomicOp::CompareExchange).then_some(other);
        let local = b.local(2);
        let [zero, one, five] = [0, 1, 5].map(|word| b.int(word));
        (0..2).for_each(|word| b.local_store(local, word, None, zero));
        b.push(Inst::Loop);
        let [round, sum] = [0, 1].map(|word| b.local_load(local, word, None, Type::I32));
        let ends = b.binary(BinaryOp::ULt, five, round);
        b.push(Inst::If { condition: ends });
        b.push(Inst::Break { depth: 0 });
        b.push(Inst::EndIf);
        let before = b.atomic(space, offset, op, value, comparator);
        // The second operation uses the result of the first one.
        let again = b.atomic(space, offset, op, before, comparator);
        let turned = b.binary(BinaryOp::IMul, sum, five);
        let sum = b.binary(BinaryOp::IAdd, turned, before);
        let sum = b.binary(BinaryOp::Xor, sum, again);
        let round = b.binary(BinaryOp::IAdd, round, one);
        for (word, value) in (0..).zip([round, sum]) {
            b.local_store(local, word, None, value);
        }
        b.push(Inst::Continuing);
        b.push(Inst::EndLoop);
        let found = b.local_load(local, 1, None, Type::I32);
        let mask = b.int(!3);
        let place = b.binary(BinaryOp::And, offset, mask);
        let after = b.load(space, place, Type::I32);
        for (slot, value) in (0..).zip([found, after]) {
            b.push(Inst::Output { slot, value });
        }
        check(&b.finish(), &Run { inputs: vec![places, values, others], lanes, helpers });
    }
}

/// Checks that concurrent operations of threads on one word are all effective.
#[test]
fn threads_do_not_undo_what_others_do() {
    const ROUNDS: u32 = 2000;
    for target in targets() {
        let memory = Allocation::new(&Heap::new(1 << 20), BUFFER_BYTES as u64).unwrap();
        let bindings = Bindings::new(vec![vec![Bound::Buffer(Some(memory.clone()), 0, BUFFER_BYTES as u64)]]);
        memory.fill(0, BUFFER_BYTES as u64, 0);
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let bindings = &bindings;
                scope.spawn(move || {
                    // Each thread toggles a separate bit.
                    let mut b = Builder::new();
                    let (lane, four) = (b.lane(), b.int(4));
                    let offset = b.binary(BinaryOp::IMul, lane, four);
                    let value = b.int(1 << thread);
                    b.atomic(Space::Buffer { resource: 0, element: None }, offset, AtomicOp::Xor, value, None);
                    let (program, mut wave) = (program(&b.finish(), 0, Some(target)), Wave::default());
                    let deadline = Deadline::after(Duration::from_secs(100));
                    for _ in 0..ROUNDS + thread % 2 {
                        wave.start(&program, Mask::MAX, 0);
                        assert_eq!(wave.run(&program, &Environment::new(bindings, &deadline)), Stop::Done);
                    }
                });
            }
        });
        for lane in 0..WAVE as u64 {
            let mut word = [0; 4];
            memory.read(lane * 4, &mut word);
            assert_eq!(u32::from_le_bytes(word), 0b1010, "{target:?}, lane {lane}");
        }
    }
}
