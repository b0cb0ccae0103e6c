//! Tests of the routines on all 2^16 halves. A half is computed as a single-precision float, and
//! the result is rounded once at the end.
//!
//! `PRECISION_HALF.md` lists the worst errors, and `VITRIC_BLESS=1 cargo test -p vitric-exec
//! halves` rewrites it. Source: Vulkan specification, "Precision and Operation of SPIR-V
//! Instructions", the column of 16-bit floats.

use std::fmt::Write;
use std::path::Path;

use half::f16;
use vitric_base::simd::WAVE;

use super::precision::{CLAIMS, Claim, Function};

const HEAD: &str = "\
# Precision of the routines on halves

All 2^16 halves, against f64 rounded to nearest even. Written by `backend/exec/src/tests/elementary/halves.rs`, which says how. An ulp is one of the result's
half; a result that is not the nearest half is counted.

| routine | range | worst error | not the nearest | Vulkan allows |
| --- | --- | --- | --- | --- |
";

/// Returns the error that Vulkan allows for a half, in ulp or absolute, with its text.
fn allowed(claim: &Claim, x: f64) -> (f64, Option<f64>, &'static str) {
    match (claim.name, claim.range) {
        ("exp" | "exp2", _) => (1.0 + 2.0 * x.abs(), None, "1 + 2 * \\|x\\| ulp"),
        ("log" | "log2", "0.5 to 2") => (f64::INFINITY, Some(1.0 / 128.0), "2^-7"),
        ("log" | "log2", _) => (3.0, None, "3 ulp"),
        ("inverse_sqrt", _) => (2.0, None, "2 ulp"),
        ("sin" | "cos", _) => (f64::INFINITY, Some(1.0 / 128.0), "2^-7"),
        _ => (5.0, None, "5 ulp, or by a formula that leaves more"),
    }
}

#[derive(Debug, Default)]
struct Measured {
    worst: f64,
    wrong: u32,
    over: u32,
}

/// Returns the unit in the last place of a half near a value.
fn ulp(truth: f64) -> f64 {
    let exponent = truth.abs().max(f64::from(f16::MIN_POSITIVE)).log2().floor().min(15.0);
    (exponent - 10.0).exp2()
}

fn measure(claim: &Claim) -> Measured {
    let Function::One(_, truth) = claim.function else { return Measured::default() };
    let (mut evaluator, mut out) = (claim.function.evaluator(), Measured::default());
    let halves: Vec<u16> = (0..=u16::MAX).collect();
    for bits in halves.as_chunks::<WAVE>().0 {
        let inputs = bits.map(|bits| f16::from_bits(bits).to_f32());
        let results = evaluator.run(&[inputs.map(f32::to_bits), [0; WAVE]]);
        for (input, result) in inputs.into_iter().zip(results).filter(|(input, _)| (claim.inside)(*input)) {
            let (got, truth) = (f16::from_f32(f32::from_bits(result)), truth(f64::from(input)));
            let nearest = f16::from_f64(truth);
            if nearest.to_bits() == got.to_bits() || nearest.is_nan() && got.is_nan() {
                continue;
            }
            // Zeros of both signs are equal.
            let error = (f64::from(got) - truth).abs();
            let error = if error.is_nan() { f64::INFINITY } else { error };
            let (most, absolute, _) = allowed(claim, f64::from(input));
            out.wrong += u32::from(error != 0.0);
            out.worst = out.worst.max(error / ulp(truth));
            out.over += u32::from(error / ulp(truth) > most || absolute.is_some_and(|most| error > most));
        }
    }
    out
}

#[test]
fn precision_of_all_halves_is_as_written() {
    let mut table = HEAD.to_owned();
    for claim in CLAIMS.iter().filter(|claim| matches!(claim.function, Function::One(..))) {
        let measured = measure(claim);
        assert_eq!(measured.over, 0, "{} {}: over what Vulkan allows: {measured:?}", claim.name, claim.range);
        // If every result is the nearest half, the error is at most 0.5 ulp.
        let worst = if measured.wrong == 0 { "0.5 ulp".into() } else { format!("{:.3} ulp", measured.worst) };
        let (_, _, most) = allowed(claim, 0.0);
        writeln!(table, "| {} | {} | {worst} | {} | {most} |", claim.name, claim.range, measured.wrong).unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ir/src/elementary/PRECISION_HALF.md");
    if std::env::var_os("VITRIC_BLESS").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), table);
}
