//! Tests of operations on 64-bit numbers, alone and in sequence, with divergent, uniform and
//! constant operands.

use proptest::prelude::*;
use vitric_base::simd::{Lanes, Mask};
use vitric_ir::{BinaryOp, Builder, Function, Inst, Space, Type, Value, WideOp};

use super::{Run, cases, check};

/// Operand of an operation.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// Divergent words, by their input slots.
    Inputs([u32; 2]),
    /// Uniform words that are not known at compile time.
    Pushed(u32),
    Constant(u64),
}

fn operand(b: &mut Builder, of: Of) -> Value {
    match of {
        Of::Inputs(slots) => {
            let [low, high] = slots.map(|slot| b.input(slot, Type::I32));
            b.join(low, high, Type::F64)
        }
        Of::Pushed(offset) => {
            let [low, high] = [offset, offset + 4].map(|offset| {
                let offset = b.int(offset);
                b.load(Space::Push, offset, Type::I32)
            });
            b.join(low, high, Type::F64)
        }
        Of::Constant(bits) => b.wide_constant(bits, Type::F64),
    }
}

fn apply(b: &mut Builder, op: WideOp, operands: [Value; 3]) -> Value {
    let (words, results) = op.shape();
    match (words, results, op.is_comparison()) {
        (1, ..) => {
            let low = b.split(operands[0])[0];
            b.wide(op, &[low], Type::F64)
        }
        (_, _, true) => b.wide(op, &operands[..2], Type::Bool),
        (2, 1, _) => b.wide(op, &operands[..1], Type::F32),
        _ => b.wide(op, &operands[..words as usize / 2], Type::F64),
    }
}

/// Returns true if an operation does not distinguish between NaNs.
fn works_on_floats(op: WideOp) -> bool {
    use WideOp as W;
    !matches!(
        op,
        W::SDiv | W::UDiv | W::SRem | W::UMod | W::F32ToF64 | W::S64ToF64 | W::U64ToF64 | W::S64ToF32 | W::U64ToF32
    )
}

/// Returns the words of a result. All NaNs are mapped to one, because an operation on two NaNs may
/// return either.
fn words(b: &mut Builder, value: Value) -> [Value; 2] {
    let value = match b.type_of(value) {
        Type::F64 => {
            let (is_nan, one) = (b.binary(BinaryOp::FNe, value, value), b.wide_constant(f64::NAN.to_bits(), Type::F64));
            b.select(is_nan, one, value)
        }
        _ => value,
    };
    b.split(value).map(|word| b.cast(word, Type::I32))
}

/// Returns a function that applies one operation, and a second one to operands and the first
/// result's rejoined words. It outputs the words of both results and the sum of the first result's
/// words.
fn function([op, next]: [WideOp; 2], operands: [Of; 3]) -> Function {
    let mut b = Builder::new();
    let operands = operands.map(|of| operand(&mut b, of));
    let first = apply(&mut b, op, operands);
    let [low, high] = words(&mut b, first);
    let both = b.join(low, high, Type::F64);
    let second = match b.type_of(first) {
        Type::F64 if works_on_floats(next) => apply(&mut b, next, [first, operands[1], both]),
        _ => apply(&mut b, next, [operands[2], both, operands[0]]),
    };
    let sum = b.binary(BinaryOp::IAdd, low, high);
    let [next_low, next_high] = words(&mut b, second);
    for (slot, value) in [low, high, next_low, next_high, sum].into_iter().enumerate() {
        b.push(Inst::Output { slot: slot as u32, value });
    }
    b.finish()
}

/// Returns a function that carries a sum around a loop, which lanes leave one after the other.
fn looped() -> Function {
    let mut b = Builder::new();
    let (step, local) = (operand(&mut b, Of::Inputs([0, 1])), b.local(3));
    let [zero, one, three] = [0, 1, 3].map(|word| b.int(word));
    let counts = b.input(2, Type::I32);
    let count = b.binary(BinaryOp::And, counts, three);
    (0..3).for_each(|word| b.local_store(local, word, None, zero));
    b.push(Inst::Loop);
    let at = b.local_load(local, 2, None, Type::I32);
    let ends = b.binary(BinaryOp::ULe, count, at);
    b.push(Inst::If { condition: ends });
    b.push(Inst::Break { depth: 0 });
    b.push(Inst::EndIf);
    let [low, high] = [0, 1].map(|word| b.local_load(local, word, None, Type::I32));
    let sum = b.join(low, high, Type::F64);
    let sum = b.wide(WideOp::FAdd, &[sum, step], Type::F64);
    for (word, value) in (0..).zip(words(&mut b, sum)) {
        b.local_store(local, word, None, value);
    }
    let next = b.binary(BinaryOp::IAdd, at, one);
    b.local_store(local, 2, None, next);
    b.push(Inst::Continuing);
    b.push(Inst::EndLoop);
    for word in 0..2 {
        let value = b.local_load(local, word, None, Type::I32);
        b.push(Inst::Output { slot: word, value });
    }
    b.finish()
}

/// Generates numbers of every kind, as floats and as integers.
fn number() -> impl Strategy<Value = u64> {
    let float = prop::sample::select(vec![
        0.0,
        -0.0,
        0.5,
        -1.5,
        2.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        9_223_372_036_854_775_808.0,
        -9_223_372_036_854_775_808.0,
        18_446_744_073_709_551_616.0,
        1e300,
        f64::MIN_POSITIVE / 4.0,
        f64::from(f32::MAX),
    ]);
    prop_oneof![
        float.prop_map(f64::to_bits),
        (-1e6..1e6f64).prop_map(f64::to_bits),
        any::<f64>().prop_map(f64::to_bits),
        any::<f32>().prop_map(|float| u64::from(float.to_bits())),
        0u64..40,
        any::<u64>(),
        Just(i64::MIN as u64),
        Just(u64::MAX),
    ]
}

fn inputs() -> impl Strategy<Value = Vec<Lanes>> {
    prop::collection::vec(prop::array::uniform16(number()), 3).prop_map(|numbers| {
        let words =
            |numbers: [u64; 16]| [numbers.map(|number| number as u32), numbers.map(|number| (number >> 32) as u32)];
        numbers.into_iter().flat_map(words).collect()
    })
}

fn of(operand: u32) -> impl Strategy<Value = Of> {
    prop_oneof![
        3 => Just(Of::Inputs([2 * operand, 2 * operand + 1])),
        1 => (0..3u32).prop_map(|word| Of::Pushed(word * 8)),
        1 => number().prop_map(Of::Constant),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn wide_operations_are_those_of_the_interpreter(
        inputs in inputs(), next in prop::sample::select(WideOp::ALL.to_vec()), of in (of(0), of(1), of(2)), lanes: Mask,
    ) {
        let run = Run { inputs, lanes, helpers: 0 };
        WideOp::ALL.iter().for_each(|&op| check(&function([op, next], [of.0, of.1, of.2]), &run));
        check(&looped(), &run);
    }
}
