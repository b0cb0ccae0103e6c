//! Tests of memory by address, with lanes in one allocation, in several, or outside of any. Loops
//! repeat the accesses, so that cached lookups are sometimes valid and sometimes not.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::{BinaryOp, Builder, Function, Inst, Space, Type, Value};
use vitric_memory::{Addresses, Allocation, Heap};

use super::{BUFFER_BYTES, Run, cases, check, lanes, program, targets};
use crate::bindings::Bindings;
use crate::interp::{Environment, Wave};
use crate::runtime::{Deadline, Stop};

/// Start addresses of the memory. The first range crosses a multiple of 2^32.
pub(super) const PLACES: [u64; 2] = [(2 << 32) - 96, 5 << 32];

/// Returns a function that loads words at increasing addresses, sums them, and then stores the sum
/// at addresses.
fn walk(uniform: bool) -> Function {
    let mut b = Builder::new();
    let [low, high, step, word] = match uniform {
        // The push constants have bytes 0, 11, 22, 33 and so on. Values computed from them are
        // therefore known to the test, but not constant in the IR.
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

/// Checks that the cached lookup of an address is dropped when the table has other memory there,
/// or none.
#[test]
fn other_tables_of_addresses_lead_elsewhere() {
    let mut b = Builder::new();
    let [low, high] = [PLACES[1] as u32, (PLACES[1] >> 32) as u32].map(|word| b.int(word));
    let lane = b.lane();
    let four = b.int(4);
    let bytes = b.binary(BinaryOp::IMul, lane, four);
    let apart = b.binary(BinaryOp::IAdd, low, bytes);
    for (slot, offset) in [low, apart].into_iter().enumerate() {
        let value = b.load(Space::Address { high }, offset, Type::I32);
        b.push(Inst::Output { slot: slot as u32, value });
    }
    let function = b.finish();
    let filled = |byte: u8| {
        let memory = Allocation::new(&Heap::new(1 << 20), BUFFER_BYTES as u64).unwrap();
        memory.fill(0, BUFFER_BYTES as u64, byte);
        memory
    };
    let (one, other) = (filled(1), filled(2));
    for target in targets() {
        let (program, mut wave) = (program(&function, 0, Some(target)), Wave::default());
        // Each table is used twice. The second use finds the cached lookup.
        for (memory, byte) in [(Some(&one), 1), (Some(&one), 1), (Some(&other), 2), (Some(&other), 2), (None, 0)] {
            let table = memory.map(|memory| (PLACES[1], memory.clone())).into_iter().collect();
            let bindings = Bindings::default().with_addresses(Arc::new(Addresses::new(table)));
            let deadline = Deadline::after(Duration::from_secs(100));
            for _ in 0..2 {
                wave.start(&program, Mask::MAX, 0);
                assert_eq!(wave.run(&program, &Environment::new(&bindings, &deadline)), Stop::Done);
                let expected = [u32::from_le_bytes([byte; 4]); WAVE];
                assert_eq!([wave.outputs[0], wave.outputs[1]], [expected; 2], "{target:?}");
            }
        }
    }
}
