//! Tests of accesses with a uniform index, and of accesses to missing memory: arrays and tables
//! with one index for the wave, and missing buffers.

use proptest::prelude::*;
use vitric_base::simd::Mask;
use vitric_ir::{BinaryOp, Builder, Function, Inst, Space, Type, Value};

use super::{Run, cases, check, lanes};

/// Number of words in the array and in the table.
const WORDS: u32 = 4;

/// Returns a function that stores to an array in some lanes and loads from it and from a table.
/// All lanes use one index.
fn by_one_index(index: u32, base: u32) -> Function {
    let mut b = Builder::new();
    let (value, first, five) = (b.input(0, Type::I32), b.int(0), b.int(5));
    // The index is not constant in the IR. The first push constants have bytes 0, 11, 22 and 33.
    let (pushed, known) = (b.load(Space::Push, first, Type::I32), b.int(0x2116_0b00u32.wrapping_sub(index)));
    let index = b.binary(BinaryOp::ISub, pushed, known);
    let array = b.local(WORDS);
    for word in 0..WORDS {
        let start = b.int(word * 100);
        b.local_store(array, word, None, start);
    }
    let is_less = b.binary(BinaryOp::SLt, value, five);
    b.push(Inst::If { condition: is_less });
    b.local_store(array, base, Some(index), value);
    b.push(Inst::EndIf);
    let loaded = b.local_load(array, base, Some(index), Type::I32);
    let table = b.table((0..WORDS).map(|word| word * 7 + 1).collect());
    let of_table: [Value; 2] = [Type::I32, Type::F32].map(|ty| {
        let result = b.value(ty);
        b.push(Inst::TableLoad { result, table, index });
        result
    });
    let last = b.local_load(array, WORDS - 1, None, Type::I32);
    for (slot, value) in [loaded, of_table[0], of_table[1], last].into_iter().enumerate() {
        b.push(Inst::Output { slot: slot as u32, value });
    }
    b.finish()
}

/// Returns a function that loads from a table of `words` words, indexed by the input, by its low
/// bits only, and by its high bits.
fn of_table(words: u32) -> Function {
    let mut b = Builder::new();
    let (given, table) = (b.input(0, Type::I32), b.table((0..words).map(|word| word * 7 + 1).collect()));
    let low = b.int(words.next_power_of_two() - 1);
    let (low, high) = (b.binary(BinaryOp::And, given, low), b.int(24));
    let high = b.binary(BinaryOp::ShrLogical, given, high);
    for (slot, index) in (0..).zip([given, low, high]) {
        let result = b.value(Type::I32);
        b.push(Inst::TableLoad { result, table, index });
        b.push(Inst::Output { slot, value: result });
    }
    b.finish()
}

/// Returns a function that loads words of a missing buffer at divergent offsets.
fn of_nothing() -> Function {
    let mut b = Builder::new();
    let (offset, element) = (b.input(0, Type::I32), b.int(9));
    let value = b.load(Space::Buffer { resource: 0, element: Some(element) }, offset, Type::I32);
    b.push(Inst::Output { slot: 0, value });
    b.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn one_index_for_all_lanes_is_checked(a in lanes(), index in -3i32..8, base in 0..WORDS, mask: Mask, helpers: Mask) {
        check(&by_one_index(index as u32, base), &Run { inputs: vec![a], lanes: mask, helpers });
    }

    #[test]
    fn tables_of_any_size_end_where_they_end(
        words in prop_oneof![1u32..70, 120u32..140, 250u32..300],
        near in prop::array::uniform16(-2i32..310),
        high in prop::array::uniform16(0u32..256),
        mask: Mask,
    ) {
        let given = std::array::from_fn(|lane| if high[lane] < 128 { near[lane] as u32 } else { high[lane] << 24 | 5 });
        check(&of_table(words), &Run { inputs: vec![given], lanes: mask, helpers: 0 });
    }

    #[test]
    fn buffers_that_are_not_there_give_zeros(a in lanes(), mask: Mask) {
        check(&of_nothing(), &Run { inputs: vec![a], lanes: mask, helpers: 0 });
    }
}
