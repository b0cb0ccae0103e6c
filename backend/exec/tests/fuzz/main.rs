//! Fuzz target that translates bytes to SPIR-V, IR and code, and runs a wave on every executor.
//!
//! Modules are mutations of the committed shaders, and of each other, by whole instructions and by
//! single operands. Modules that once caused a failure are in `regressions` and run first. No
//! module may cause a panic, a hang or unbounded memory use. A module that passes the strict
//! verifier has equal results on all executors.
//!
//! The number of mutants and the seed are fixed. `VITRIC_FUZZ=COUNT` and `VITRIC_FUZZ_SEED=NUMBER`
//! select longer and other runs.
//!
//! A mutant is written to `/dev/shm/vitric-fuzz-PROCESS-HALF.spv` before it runs. The file remains
//! if the mutant fails the test or ends the process. The file is in memory because replacing a file
//! on a shared disk waits for its last write, which took most of the test's time.
//!
//! A second target makes modules that are valid by construction (`generate`) and must compile. A
//! failing module is shrunk. Others damage the text form of functions (`text`).

mod generate;
mod mutate;
mod text;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ash::vk;
use generate::Tape;
use mutate::Mutator;
use vitric_base::simd::{Lanes, Mask};
use vitric_codegen::Target;
use vitric_exec::Program;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Environment, Wave};
use vitric_exec::runtime::{Bound, Deadline, SharedMemory, Stop};
use vitric_ir::passes::LaneVariance;
use vitric_ir::{Type, verify_strictly};
use vitric_memory::{Allocation, Heap};
use vitric_spirv as spirv;

/// Default number of mutants in a run.
const MUTANTS: u64 = 150_000;
/// Number of generated modules in a run, per hundred mutants.
const GENERATED: u64 = 4;
/// Time limit of a mutant's wave.
const WAVE_TIME: Duration = Duration::from_millis(20);
/// Number of IR instructions above which a mutant is not run on all executors.
const LARGE: usize = 20_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the modules in a folder, sorted by name.
fn modules(name: &str) -> Vec<Vec<u32>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder(name)).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "spv"));
    files.sort();
    let words = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    files.iter().map(words).collect()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Effects of a wave. All NaNs are mapped to one, because an operation on two NaNs may return
/// either.
#[derive(Debug, PartialEq)]
struct Outcome {
    stop: Stop,
    killed: Mask,
    outputs: Vec<Lanes>,
    memory: Vec<u8>,
}

fn run(program: &Program) -> Outcome {
    let memory = Allocation::new(&Heap::new(1 << 16), 256).unwrap();
    memory.write(0, &(0..=255u8).collect::<Vec<_>>());
    let bound = || vec![Bound::Buffer(Some(memory.clone()), 4, 246)];
    let bindings = Bindings::new(program.resources.iter().map(|_| bound()).collect());
    let (shared, deadline) = (SharedMemory::new(program.shared_bytes), Deadline::after(WAVE_TIME));
    let environment = Environment { push: &[7; 64], shared: Some(&shared), ..Environment::new(&bindings, &deadline) };
    let mut wave = Wave::default();
    wave.start(program, 0xfff7, 0x0100);
    for (slot, lanes) in wave.inputs.iter_mut().enumerate() {
        let input = &program.inputs[slot];
        *lanes = std::array::from_fn(|lane| match input.slot.variance(program.local_size, program.in_squares) {
            LaneVariance::Uniform => slot as u32,
            LaneVariance::Consecutive => (lane + slot) as u32,
            LaneVariance::Divergent if input.ty == Type::Bool => lane as u32 & 1,
            LaneVariance::Divergent => (lane * (slot + 1)) as u32,
        });
    }
    let mut stop = wave.run(program, &environment);
    // A single wave resumes immediately after a barrier. The deadline stops a wave that reaches
    // barriers forever.
    while stop == Stop::Barrier && !deadline.expired() {
        stop = wave.run(program, &environment);
    }
    let mut bytes = vec![0; 256];
    memory.read(0, &mut bytes);
    let mut outputs = wave.outputs.to_vec();
    for word in outputs.as_flattened_mut() {
        *word = if f32::from_bits(*word).is_nan() { 0x7fc0_0000 } else { *word };
    }
    Outcome { stop, killed: wave.killed(), outputs, memory: bytes }
}

/// Compiles a module for every stage and runs the results. Returns the number of stages that
/// compiled.
fn try_module(words: &[u32]) -> usize {
    let Ok(module) = spirv::parse(words) else { return 0 };
    let stages = [
        vk::ShaderStageFlags::VERTEX,
        vk::ShaderStageFlags::GEOMETRY,
        vk::ShaderStageFlags::FRAGMENT,
        vk::ShaderStageFlags::COMPUTE,
        vk::ShaderStageFlags::TESSELLATION_CONTROL,
        vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        vk::ShaderStageFlags::TASK_EXT,
        vk::ShaderStageFlags::MESH_EXT,
    ];
    let programs = stages.iter().filter_map(|&stage| spirv::compile(&module, "main", stage, &Vec::new()).ok());
    programs.map(|shader| try_program(Program::new(shader, "main"))).count()
}

fn try_program(mut program: Program) {
    if program.code.function().insts.len() > LARGE {
        return;
    }
    let targets = [Target::Avx2, Target::Avx512].into_iter().filter(|target| target.is_supported());
    let mut first: Option<Outcome> = None;
    for executor in std::iter::once(None).chain(targets.map(Some)) {
        if program.generate(executor).is_err() {
            continue;
        }
        let outcome = run(&program);
        if outcome.stop != Stop::Done {
            return;
        }
        let strict = verify_strictly(program.code.function()).is_ok();
        let expected = first.get_or_insert_with(|| run(&program));
        // The memory is not compared, because float atomics may produce any NaN.
        let same = expected.outputs == outcome.outputs && expected.killed == outcome.killed;
        let function = program.code.function();
        assert!(!strict || same, "{executor:?} does something else:\n{function}\n{expected:?}\n{outcome:?}");
    }
}

#[test]
fn regressions_are_survived_and_compute_the_same_everywhere() {
    modules("tests/fuzz/regressions").iter().for_each(|words| _ = try_module(words));
}

/// Tries half of the mutants. Mutants of one seed derive from each other, so each half has its own.
fn try_mutants(half: u64) {
    let current = format!("/dev/shm/vitric-fuzz-{}-{half}.spv", std::process::id());
    let seeds = [modules("../tests/shaders"), modules("../tests/modules")].concat();
    let mut mutator = Mutator::new(seeds, number("VITRIC_FUZZ_SEED", 1) << 1 | half);
    let (count, mut compiled) = (number("VITRIC_FUZZ", MUTANTS) / 2, 0);
    for _ in 0..count {
        let words = mutator.next();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&current, bytes).unwrap();
        let stages = try_module(&words);
        compiled += usize::from(stages > 0);
        if stages > 0 {
            mutator.keep(words);
        }
    }
    std::fs::remove_file(&current).unwrap();
    println!("{compiled} of {count} mutants compile");
    assert!(compiled as u64 * 20 > count, "hardly any mutant is worth the time: {compiled} of {count} compile");
}

#[test]
fn mutants_are_survived_and_compute_the_same_everywhere() {
    try_mutants(0);
}

#[test]
fn more_mutants_are_survived_and_compute_the_same_everywhere() {
    try_mutants(1);
}

/// Returns true if a generated module does not compile, or if executors disagree on its results.
fn fails(tape: &Tape) -> bool {
    let attempt = || {
        let words = generate::module(tape);
        let module = spirv::parse(&words).expect("a generated module parses");
        let stage = vk::ShaderStageFlags::FRAGMENT;
        let shader = spirv::compile(&module, "main", stage, &Vec::new()).expect("a generated module compiles");
        try_program(Program::new(shader, "main"));
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt)).is_err()
}

#[test]
fn generated_modules_compile_and_compute_the_same_everywhere() {
    let (seed, count) = (number("VITRIC_FUZZ_SEED", 1), number("VITRIC_FUZZ", MUTANTS) * GENERATED / 100);
    let corpus = std::fs::read_dir(folder("tests/fuzz/tapes")).into_iter().flatten().flatten();
    let kept = corpus.map(|entry| Tape(std::fs::read(entry.path()).unwrap()));
    let fresh = (0..count).map(|number| Tape::new(seed << 32 | number, 40 + number as usize % 400));
    let mut instructions = 0;
    for tape in kept.chain(fresh) {
        instructions += generate::module(&tape).len();
        if fails(&tape) {
            let shrunk = generate::shrunk(tape, fails);
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("failing-{}.tape", std::process::id()));
            std::fs::write(&file, &shrunk.0).unwrap();
            let bytes: Vec<u8> = generate::module(&shrunk).iter().flat_map(|word| word.to_le_bytes()).collect();
            std::fs::write(file.with_extension("spv"), bytes).unwrap();
            panic!("{} fails (to be kept in tests/fuzz/tapes, once it is understood)", file.display());
        }
    }
    println!("{instructions} words of SPIR-V");
}
