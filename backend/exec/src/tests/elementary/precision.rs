//! Precision tests of the routines. The interpreter's kernels run each routine on 16 words at a
//! time, and the results are compared with the host's f64 function.
//!
//! `PRECISION.md` lists the worst errors over all 2^32 words. The ordinary test takes every
//! 4,001st word. It checks that no error exceeds the listed one, that Vulkan's table is met, and
//! that no routine has grown. The full run takes an hour of processor time and rewrites the file.
//! It is needed after a change of a routine:
//!
//!     VITRIC_BLESS=1 cargo test --release -p vitric-exec precision -- --ignored
//!
//! Errors in ulp are in units of the last place of the true result, including denormals. An
//! infinity counts as 2^128. Source: Vulkan specification, "Precision and Operation of SPIR-V
//! Instructions".

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use vitric_base::simd::{Lanes, WAVE};
use vitric_ir::{Builder, Value, elementary};

use super::host::{Evaluator, Sequence};

/// Unit of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Ulp,
    Absolute,
}

/// Error that Vulkan allows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Allowed {
    /// Number of units.
    Units(f64),
    /// `3 + 2 * |exponent|` ulp, where the function computes the exponent from the operands.
    Exponential(fn(f64, f64) -> f64),
    /// Error inherited from the named formula of other functions. The number is the stricter claim
    /// of this test, in units.
    Inherited(&'static str, f64),
}

impl Allowed {
    fn units(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Units(units) | Self::Inherited(_, units) => units,
            Self::Exponential(exponent) => 3.0 + 2.0 * exponent(x, y).abs(),
        }
    }

    fn text(self, unit: Unit) -> String {
        match self {
            Self::Units(units) => show(units, unit),
            Self::Exponential(_) => "3 + 2 * \\|exponent\\| ulp".into(),
            Self::Inherited(formula, _) => formula.into(),
        }
    }
}

/// Routine, and the function on the host that returns the true result.
#[derive(Clone, Copy)]
pub(super) enum Function {
    One(fn(&mut Builder, Value) -> Value, fn(f64) -> f64),
    Two(fn(&mut Builder, Value, Value) -> Value, fn(f64, f64) -> f64),
}

impl Function {
    pub(super) fn evaluator(self) -> Evaluator {
        match self {
            Self::One(build, _) => Evaluator::new(|b, [x, _]| build(b, x)),
            Self::Two(build, _) => Evaluator::new(|b, [x, y]| build(b, x, y)),
        }
    }

    fn truth(self, x: f64, y: f64) -> f64 {
        match self {
            Self::One(_, truth) => truth(x),
            Self::Two(_, truth) => truth(x, y),
        }
    }
}

/// Claim about a routine's error over a range of its first operand.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) name: &'static str,
    pub(super) function: Function,
    pub(super) range: &'static str,
    pub(super) inside: fn(f32) -> bool,
    unit: Unit,
    allowed: Allowed,
}

impl Claim {
    const fn ulp(name: &'static str, function: Function, allowed: Allowed) -> Self {
        Self { name, function, range: "all", inside: |_| true, unit: Unit::Ulp, allowed }
    }

    const fn within(self, range: &'static str, inside: fn(f32) -> bool) -> Self {
        Self { range, inside, ..self }
    }

    const fn absolute(self, allowed: Allowed) -> Self {
        Self { unit: Unit::Absolute, allowed, ..self }
    }
}

use Allowed::{Exponential, Inherited, Units};
use Function::{One, Two};

const EXP: Allowed = Exponential(|x, _| x);
const ARC: Allowed = Units(4096.0);
/// Allowance of functions without a bound in Vulkan's table, which must still be as precise as the
/// others.
const FREE: Allowed = Inherited("none", 4.0);

const SIN: Claim = Claim::ulp("sin", One(elementary::sin, f64::sin), FREE);
const COS: Claim = Claim::ulp("cos", One(elementary::cos, f64::cos), FREE);
const TAN: Claim = Claim::ulp("tan", One(elementary::tan, f64::tan), Inherited("sin(x) / cos(x)", 4.0));
const LOG: Claim = Claim::ulp("log", One(elementary::log, f64::ln), Units(3.0));
const LOG2: Claim = Claim::ulp("log2", One(elementary::log2, f64::log2), Units(3.0));

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ulp("exp", One(elementary::exp, f64::exp), EXP),
    Claim::ulp("exp2", One(elementary::exp2, f64::exp2), EXP),
    LOG.within("outside 0.5 to 2", |x| !middle(x)),
    LOG.within("0.5 to 2", middle).absolute(Units(TWO_TO_MINUS_21)),
    LOG2.within("outside 0.5 to 2", |x| !middle(x)),
    LOG2.within("0.5 to 2", middle).absolute(Units(TWO_TO_MINUS_21)),
    Claim::ulp("pow", Two(elementary::pow, pow), Exponential(|x, y| y * x.log2())),
    Claim::ulp("inverse_sqrt", One(elementary::inverse_sqrt, |x| 1.0 / x.sqrt()), Units(2.0)),
    SIN.within("to pi", |x| x.abs() <= std::f32::consts::PI).absolute(Units(TWO_TO_MINUS_11)),
    SIN.within("to 2^17", |x| x.abs() <= TWO_TO_17).absolute(Inherited("none", TWO_TO_MINUS_21)),
    COS.within("to pi", |x| x.abs() <= std::f32::consts::PI).absolute(Units(TWO_TO_MINUS_11)),
    COS.within("to 2^17", |x| x.abs() <= TWO_TO_17).absolute(Inherited("none", TWO_TO_MINUS_21)),
    TAN.within("to 2^17", |x| x.abs() <= TWO_TO_17),
    Claim::ulp("asin", One(elementary::asin, f64::asin), Inherited("atan(x / sqrt(1 - x^2))", 4.0)),
    Claim::ulp("acos", One(elementary::acos, f64::acos), Inherited("atan(sqrt(1 - x^2) / x)", 4.0)),
    Claim::ulp("atan", One(elementary::atan, f64::atan), ARC),
    Claim::ulp("atan2", Two(elementary::atan2, f64::atan2), ARC),
    Claim::ulp("sinh", One(elementary::sinh, f64::sinh), Inherited("(exp(x) - exp(-x)) / 2", 4.0)),
    Claim::ulp("cosh", One(elementary::cosh, f64::cosh), Inherited("(exp(x) + exp(-x)) / 2", 4.0)),
    Claim::ulp("tanh", One(elementary::tanh, f64::tanh), Inherited("sinh(x) / cosh(x)", 4.0)),
    Claim::ulp("asinh", One(elementary::asinh, f64::asinh), Inherited("log(x + sqrt(x^2 + 1))", 4.0)),
    Claim::ulp("acosh", One(elementary::acosh, f64::acosh), Inherited("log(x + sqrt(x^2 - 1))", 4.0)),
    Claim::ulp("atanh", One(elementary::atanh, atanh), Inherited("log((1 + x) / (1 - x)) / 2", 4.0)),
];

const TWO_TO_17: f32 = 131_072.0;
const TWO_TO_MINUS_11: f64 = 1.0 / 2048.0;
const TWO_TO_MINUS_21: f64 = 1.0 / 2_097_152.0;

fn middle(x: f32) -> bool {
    (0.5..=2.0).contains(&x)
}

/// Returns the host's power, or NaN for a negative base, which the routine does not support.
fn pow(x: f64, y: f64) -> f64 {
    if x < 0.0 { f64::NAN } else { x.powf(y) }
}

/// Returns the inverse hyperbolic tangent, because the host's function loses digits near 0.
fn atanh(x: f64) -> f64 {
    let size = x.abs();
    (0.5 * (2.0 * size / (1.0 - size)).ln_1p()).copysign(x)
}

/// Worst error of a claim.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    error: f64,
    at: [f32; 2],
    /// Largest fraction of Vulkan's allowance.
    share: f64,
}

impl Worst {
    fn or(self, other: Self) -> Self {
        let share = self.share.max(other.share);
        Self { share, ..if other.error > self.error { other } else { self } }
    }

    fn note(&mut self, claim: &Claim, at: [f32; 2], got: f32) {
        let [x, y] = at.map(f64::from);
        let truth = claim.function.truth(x, y);
        // A result that is the nearest float is never the worst.
        if truth as f32 == got {
            return;
        }
        let error = error(got, truth, claim.unit);
        self.share = self.share.max(error / claim.allowed.units(x, y));
        if error > self.error {
            (self.error, self.at) = (error, at);
        }
    }
}

/// Returns the distance of a result from the true one.
fn error(got: f32, truth: f64, unit: Unit) -> f64 {
    const LIMIT: f64 = 2.0 * 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if truth.is_nan() || got.is_nan() {
        return if truth.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let (got, truth) = (f64::from(got).clamp(-LIMIT, LIMIT), truth.clamp(-LIMIT, LIMIT));
    let size = match unit {
        Unit::Absolute => 1.0,
        Unit::Ulp => {
            let exponent = (truth.abs().to_bits() >> 52).clamp(1023 - 126, 1023 + 127);
            f64::from_bits((exponent - 23) << 52)
        }
    };
    (got - truth).abs() / size
}

/// Number of words per work item.
const PIECE: u32 = 1 << 22;

/// Returns the worst error of a claim over every `stride`th word, or over an equal number of pairs
/// of words.
fn measure(claim: &Claim, stride: u32) -> Worst {
    let pieces = (u32::MAX / PIECE) + 1;
    let next = AtomicU32::new(0);
    let work = || {
        let (mut evaluator, mut worst) = (claim.function.evaluator(), Worst::default());
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return worst;
            }
            measure_piece(claim, &mut evaluator, piece, stride, &mut worst);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).fold(Worst::default(), Worst::or)
    })
}

fn measure_piece(claim: &Claim, evaluator: &mut Evaluator, piece: u32, stride: u32, worst: &mut Worst) {
    let first = piece * PIECE;
    let mut sequence = Sequence::new(u64::from(piece));
    let mut offset = 0;
    while offset < PIECE {
        let pairs: [[u32; 2]; WAVE] = std::array::from_fn(|lane| match claim.function {
            One(..) => [first | offset.saturating_add(lane as u32 * stride).min(PIECE - 1), 0],
            Two(..) => pair(&mut sequence, lane),
        });
        let operands = [pairs.map(|[x, _]| x), pairs.map(|[_, y]| y)];
        note_lanes(claim, evaluator, &operands, worst);
        offset = offset.saturating_add(WAVE as u32 * stride);
    }
}

fn note_lanes(claim: &Claim, evaluator: &mut Evaluator, operands: &[Lanes; 2], worst: &mut Worst) {
    let inside = |lane: usize| (claim.inside)(f32::from_bits(operands[0][lane]));
    if !(0..WAVE).any(inside) {
        return;
    }
    let results = evaluator.run(operands);
    for lane in (0..WAVE).filter(|&lane| inside(lane)) {
        let at = [operands[0][lane], operands[1][lane]].map(f32::from_bits);
        worst.note(claim, at, f32::from_bits(results[lane]));
    }
}

/// Returns two operands of one of three kinds: arbitrary words, numbers of similar magnitude, or a
/// power whose result has an ordinary magnitude.
fn pair(sequence: &mut Sequence, lane: usize) -> [u32; 2] {
    let [x, y] = [sequence.word(), sequence.word()];
    match lane % 3 {
        0 => [x, y],
        1 => [x, (x & 0x7f80_0000).wrapping_add(y & 0x83ff_ffff)],
        _ => {
            let base = f32::from_bits(x & 0x7fff_ffff);
            let result = f64::from(y) / f64::from(u32::MAX) * 300.0 - 150.0;
            [base.to_bits(), ((result / f64::from(base).log2()) as f32).to_bits()]
        }
    }
}

/// Formats an error for the table, rounded up.
fn show(error: f64, unit: Unit) -> String {
    match unit {
        Unit::Ulp => format!("{} ulp", (error * 100.0).ceil() / 100.0),
        Unit::Absolute => format!("2^{}", (error.log2() * 100.0).ceil() / 100.0),
    }
}

/// Parses the number in a cell of the table.
fn parse(cell: &str) -> Option<f64> {
    match cell.strip_prefix("2^") {
        Some(exponent) => exponent.parse().ok().map(f64::exp2),
        None => cell.strip_suffix(" ulp")?.parse().ok(),
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ir/src/elementary/PRECISION.md")
}

const HEAD: &str = "\
# Precision of the routines

The worst errors over all 2^32 words, and over as many pairs of words for functions of two; against f64. Written by the
ignored test of `backend/exec/src/tests/elementary/precision.rs`, which says how. `operations` are those left after the passes, without changes of type.

| routine | operations | range | worst error | at | Vulkan allows |
| --- | --- | --- | --- | --- | --- |
";

fn row(claim: &Claim, worst: &Worst) -> String {
    let at = match claim.function {
        One(..) => format!("{:e}", worst.at[0]),
        Two(..) => format!("{:e}, {:e}", worst.at[0], worst.at[1]),
    };
    let operations = claim.function.evaluator().operations();
    let (error, allowed) = (show(worst.error, claim.unit), claim.allowed.text(claim.unit));
    format!("| {} | {operations} | {} | {error} | {at} | {allowed} |", claim.name, claim.range)
}

/// Checks a measurement against Vulkan's table and against the row of the file.
fn check(claim: &Claim, worst: &Worst, written: &str) -> Result<(), String> {
    let found = row(claim, worst);
    if worst.share > 1.0 {
        return Err(format!("over what Vulkan allows: {found}"));
    }
    let cells = |row: &str| row.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    let same = |row: &Vec<String>| (row.first(), row.get(2)) == (cells(&found).first(), cells(&found).get(2));
    let Some(row) = written.lines().map(cells).find(same) else {
        return Err(format!("not in PRECISION.md: {found}"));
    };
    let limit = row.get(3).and_then(|cell| parse(cell)).ok_or_else(|| format!("no number beside {found}"))?;
    let most = row.get(1).and_then(|cell| cell.parse().ok()).unwrap_or(0);
    if worst.error > limit || claim.function.evaluator().operations() > most {
        return Err(format!("worse than written: {found}"));
    }
    Ok(())
}

#[test]
fn precision_of_a_sample_is_as_written() {
    let written = std::fs::read_to_string(file()).unwrap();
    let wrong: Vec<_> = CLAIMS.iter().filter_map(|claim| check(claim, &measure(claim, 4001), &written).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "an hour of processor time; see the head of the file"]
fn precision_of_every_word() {
    let mut table = HEAD.to_owned();
    let mut wrong = Vec::new();
    let written = std::fs::read_to_string(file()).unwrap_or_default();
    let bless = std::env::var_os("VITRIC_BLESS").is_some();
    for claim in CLAIMS {
        let worst = measure(claim, 1);
        let line = row(claim, &worst);
        println!("{line}");
        writeln!(table, "{line}").unwrap();
        let against = if bless { &line } else { &written };
        wrong.extend(check(claim, &worst, against).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if bless {
        std::fs::write(file(), table).unwrap();
    }
}
