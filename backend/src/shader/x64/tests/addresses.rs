//! Memory by address: in one place, in several, outside of any; again and again, so that what was found before is of use or is not.

use proptest::prelude::*;

use super::{BUFFER_BYTES, Run, cases, check, lanes};
use crate::shader::ir::{BinaryOp, Builder, Function, Inst, Space, Type, Value};
use crate::shader::runtime::kernels::{Lanes, Mask, WAVE};

/// Addresses of what can be reached: one of them goes over the end of a low word.
pub(super) const PLACES: [u64; 2] = [(2 << 32) - 96, 5 << 32];

/// Walks from addresses by steps, adding up what it loads, and then stores that at addresses.
fn walk(uniform: bool) -> Function {
    let mut b = Builder::new();
    let [low, high, step, word] = match uniform {
        // Bytes of the push constants are 0, 11, 22, 33 and so on: these are no constants for all that.
        true => [0, 4, 8, 12].map(|offset| {
            let (at, known) =
                (b.int(offset), b.int(u32::from_le_bytes([0, 1, 2, 3].map(|byte| (offset as u8 + byte) * 11))));
            let pushed = b.load(Space::Push, at, Type::I32);
            let zero = b.binary(BinaryOp::ISub, pushed, known);
            let wanted = b.int([PLACES[0] as u32, (PLACES[0] >> 32) as u32, 20, 7][offset as usize / 4]);
            b.binary(BinaryOp::IAdd, zero, wanted)
        }),
        false => [0, 1, 2, 3].map(|slot| b.input(slot, Type::I32)),
    };
    let local = b.local(4);
    let [zero, one, four, rounds] = [0, 1, 4, 5].map(|word| b.int(word));
    for (word, value) in (0..).zip([low, high, zero, zero]) {
        b.local_store(local, word, None, value);
    }
    b.push(Inst::Loop);
    let [low, high, sum, round] = [0, 1, 2, 3].map(|word| b.local_load(local, word, None, Type::I32));
    let ends = b.binary(BinaryOp::ULe, rounds, round);
    b.push(Inst::If { condition: ends });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    let loaded = b.load(Space::Address { high }, low, Type::I32);
    let behind = b.binary(BinaryOp::IAdd, low, four);
    let float = b.load(Space::Address { high }, behind, Type::F32);
    let float = b.cast(float, Type::I32);
    let turned = b.binary(BinaryOp::IMul, sum, rounds);
    let sum = b.binary(BinaryOp::IAdd, turned, loaded);
    let sum = b.binary(BinaryOp::Xor, sum, float);
    let steps = b.extend(step, true);
    let address = b.join(low, high, Type::I64);
    let address = b.binary(BinaryOp::IAdd, address, steps);
    let [next_low, next_high] = b.split(address);
    let round = b.binary(BinaryOp::IAdd, round, one);
    for (word, value) in (0..).zip([next_low, next_high, sum, round]) {
        b.local_store(local, word, None, value);
    }
    let value: Value = b.binary(BinaryOp::IAdd, word, sum);
    b.push(Inst::Store { space: Space::Address { high }, offset: low, value });
    b.push(Inst::Continuing);
    b.push(Inst::EndLoop);
    for slot in 0..3 {
        let value = b.local_load(local, slot, None, Type::I32);
        b.push(Inst::Output { slot, value });
    }
    b.finish()
}

fn address() -> impl Strategy<Value = u64> {
    let near = (0..2usize, -8i64..BUFFER_BYTES as i64 + 8);
    prop_oneof![
        4 => near.prop_map(|(place, bytes)| PLACES[place].wrapping_add_signed(bytes & !3)),
        1 => Just(PLACES[1]),
        1 => any::<u64>(),
    ]
}

fn all_lanes(addresses: [u64; WAVE]) -> [Lanes; 2] {
    [addresses.map(|address| address as u32), addresses.map(|address| (address >> 32) as u32)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * cases()))]

    #[test]
    fn addresses_lead_where_the_runtime_finds_them(
        apart in prop::array::uniform16(address()), start in address(), distance in 0u64..8, alike: bool,
        step in -5i32..6, words in lanes(), lanes: Mask, helpers: Mask,
    ) {
        let follow = std::array::from_fn(|lane| start.wrapping_add(distance * lane as u64));
        let [low, high] = all_lanes(if alike { follow } else { apart });
        let inputs = vec![low, high, [(step * 4) as u32; WAVE], words];
        check(&walk(false), &Run { inputs: inputs.clone(), lanes, helpers });
        check(&walk(true), &Run { inputs, lanes, helpers });
    }
}
