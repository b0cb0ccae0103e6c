//! Atomic operations of all lanes on words of a range: apart and on the same ones, and where some are outside of it, or do not take part.

use proptest::prelude::*;

use super::{Run, cases, check, word};
use crate::shader::ir::{AtomicOp, BinaryOp, Builder, Inst, Space, Type};
use crate::shader::runtime::kernels::{Mask, WAVE};

/// Which words lanes name.
#[derive(Debug, Clone, Copy)]
enum Which {
    Own,
    Any,
    One,
    /// Known to be one, by all lanes with one operand.
    Known,
    /// One is not aligned, or outside.
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
        op in prop::sample::select(AtomicOp::ALL.to_vec()), space in 0usize..2, which in which(),
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
        let space = [Space::Shared, Space::Buffer { resource: 0, element: None }][space];
        let comparator = (op == AtomicOp::CompareExchange).then_some(other);
        let before = b.atomic(space, offset, op, value, comparator);
        // Again, with what was found.
        let again = b.atomic(space, offset, op, before, comparator);
        let mask = b.int(!3);
        let place = b.binary(BinaryOp::And, offset, mask);
        let after = b.load(space, place, Type::I32);
        for (slot, value) in [before, again, after].into_iter().enumerate() {
            b.push(Inst::Output { slot: slot as u32, value });
        }
        check(&b.finish(), &Run { inputs: vec![places, values, others], lanes, helpers });
    }
}
