//! Tests of the elementary routines, which are the longest straight-line code. Generated code and
//! interpreter return equal bits.

use vitric_base::simd::{Lanes, Mask, WAVE};
use vitric_ir::{Builder, Type, Value, elementary};

use super::{Run, canonical_outcome, of_inputs, program, run, targets};

type Routine = fn(&mut Builder, &[Value]) -> Value;

const ROUTINES: &[(&str, Routine)] = &[
    ("exp", |b, v| elementary::exp(b, v[0])),
    ("exp2", |b, v| elementary::exp2(b, v[0])),
    ("log", |b, v| elementary::log(b, v[0])),
    ("log2", |b, v| elementary::log2(b, v[0])),
    ("pow", |b, v| elementary::pow(b, v[0], v[1])),
    ("inverse_sqrt", |b, v| elementary::inverse_sqrt(b, v[0])),
    ("sin", |b, v| elementary::sin(b, v[0])),
    ("cos", |b, v| elementary::cos(b, v[0])),
    ("tan", |b, v| elementary::tan(b, v[0])),
    ("asin", |b, v| elementary::asin(b, v[0])),
    ("acos", |b, v| elementary::acos(b, v[0])),
    ("atan", |b, v| elementary::atan(b, v[0])),
    ("atan2", |b, v| elementary::atan2(b, v[0], v[1])),
    ("sinh", |b, v| elementary::sinh(b, v[0])),
    ("cosh", |b, v| elementary::cosh(b, v[0])),
    ("tanh", |b, v| elementary::tanh(b, v[0])),
    ("asinh", |b, v| elementary::asinh(b, v[0])),
    ("acosh", |b, v| elementary::acosh(b, v[0])),
    ("atanh", |b, v| elementary::atanh(b, v[0])),
    ("sign", |b, v| elementary::sign(b, v[0])),
    ("fract", |b, v| elementary::fract(b, v[0])),
    ("step", |b, v| elementary::step(b, v[0], v[1])),
    ("remainder", |b, v| elementary::remainder_of_floats(b, v[0], v[1])),
    ("floor_modulo", |b, v| elementary::floor_modulo_of_floats(b, v[0], v[1])),
    ("min", |b, v| elementary::min_of_numbers(b, v[0], v[1])),
    ("max", |b, v| elementary::max_of_numbers(b, v[0], v[1])),
    ("quantize", |b, v| elementary::quantize_to_half(b, v[0])),
    ("frexp mantissa", |b, v| elementary::frexp(b, v[0]).0),
    ("frexp exponent", |b, v| elementary::frexp(b, v[0]).1),
    ("ldexp", |b, v| {
        let exponent = b.cast(v[1], Type::I32);
        elementary::ldexp(b, v[0], exponent)
    }),
];

/// Returns words spread over all floats. The second operand traverses them in a different order.
fn inputs(wave: u32) -> Vec<Lanes> {
    let word = |lane: usize, step: u32| (wave * WAVE as u32 + lane as u32).wrapping_mul(step);
    [0x0010_0101, 0x9e37_79b1].map(|step| std::array::from_fn(|lane| word(lane, step))).to_vec()
}

#[test]
fn every_routine_gives_the_interpreters_bits() {
    for (name, routine) in ROUTINES {
        let function = of_inputs(&[Type::F32; 2], routine);
        let oracle = program(&function, 2, None);
        let generated: Vec<_> =
            targets().into_iter().map(|target| (target, program(&function, 2, Some(target)))).collect();
        for wave in 0..256 {
            let how = Run { inputs: inputs(wave), lanes: Mask::MAX, helpers: 0 };
            let expected = canonical_outcome(run(&oracle, &how));
            for (target, program) in &generated {
                assert_eq!(canonical_outcome(run(program, &how)), expected, "{name} on {target:?}, wave {wave}");
            }
        }
    }
}
