//! Helpers that run routines in tests on every executor of this machine.

use vitric_base::simd::WAVE;
use vitric_codegen::Target;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Function, verify, verify_strictly};

use super::Program;
use super::bindings::Bindings;
use super::interp::{Environment, Stop, Wave};
use super::runtime::Deadline;

/// Runs a function on the interpreter and on all code generators.
///
/// Each element of `inputs` holds the input words of one lane. For each lane and executor, `check`
/// receives the input words and the `outputs` output words.
pub fn run_everywhere(function: &Function, inputs: &[Vec<u32>], outputs: usize, check: impl Fn(&[u32], &[u32])) {
    verify(function).unwrap();
    verify_strictly(function).unwrap();
    let words = inputs[0].len();
    let mut optimized = function.clone();
    passes::optimize(&mut optimized, &mut |_, _| {});
    let targets = [Target::Avx2, Target::Avx512].into_iter().filter(|target| target.is_supported()).map(Some);
    for target in std::iter::once(None).chain(targets) {
        let mut program = Program::routine(optimized.clone(), &vec![LaneVariance::Divergent; words], outputs);
        program.code.generate(target).unwrap();
        let mut wave = Wave::default();
        for lanes in inputs.chunks(WAVE) {
            run_lanes(&program, &mut wave, lanes);
            for (lane, input) in lanes.iter().enumerate() {
                let output: Vec<u32> = wave.outputs.iter().map(|words| words[lane]).collect();
                check(input, &output);
            }
        }
    }
}

fn run_lanes(program: &Program, wave: &mut Wave, lanes: &[Vec<u32>]) {
    wave.start(program, ((1u32 << lanes.len()) - 1) as u16, 0);
    for (lane, input) in lanes.iter().enumerate() {
        for (slot, &word) in input.iter().enumerate() {
            wave.inputs[slot][lane] = word;
        }
    }
    let (bindings, deadline) = (Bindings::default(), Deadline::after(std::time::Duration::from_secs(100)));
    let environment = Environment::new(&bindings, &deadline);
    assert_eq!(wave.run(program, &environment), Stop::Done);
}
