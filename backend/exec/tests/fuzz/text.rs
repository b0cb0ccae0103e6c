//! Fuzz target of the text form: functions come back as they were, and damaged texts are errors or
//! other functions, never a panic.
//!
//! Texts are random functions, the files of `backend/tests/vir`, compiled shaders, and files in
//! `texts`, which once caused a failure. A damaged text that both verifiers accept is optimized
//! and compiled for both targets. A pipeline cache reads such texts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ash::vk;
use vitric_codegen::{CodegenOptions, Target, generate};
use vitric_ir::interface::Shader;
use vitric_ir::passes::{self, LaneVariance};
use vitric_ir::{Function, parse, random, verify, verify_strictly};
use vitric_spirv as spirv;

use super::{MUTANTS, folder, modules, number};

/// Mutants of SPIR-V for each damaged text in a run.
const SHARE: u64 = 4;
/// Number of values above which code of a damaged text is not generated.
const LARGE: usize = 3000;

/// Pseudorandom number generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit.max(1)
    }
}

fn files(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "vir"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Returns the function of a file test as text.
fn head(text: &str) -> String {
    text.lines()
        .take_while(|line| *line != "; becomes" && *line != "; gives" && !line.starts_with("; machine"))
        .fold(String::new(), |text, line| text + line + "\n")
}

/// Returns the texts of functions.
fn functions() -> Vec<String> {
    let tests = ["pass", "run", "lower"].map(|kind| files(&folder("../tests/vir").join(kind))).concat();
    let random = (0..60).map(|seed| random::function(seed).to_string());
    tests.iter().map(|text| head(text)).chain(random).collect()
}

/// Returns compiled shaders as text, with their interfaces.
fn shaders() -> Vec<String> {
    let stages = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT, vk::ShaderStageFlags::COMPUTE];
    let modules = modules("../tests/shaders").into_iter().step_by(3);
    let compiled = modules.filter_map(|words| spirv::parse(&words).ok()).flat_map(|module| {
        stages.into_iter().filter_map(move |stage| spirv::compile(&module, "main", stage, &Vec::new()).ok())
    });
    compiled.map(|shader| shader.to_text(&shader.function)).collect()
}

/// Damages a text in one to three places: single bytes, words that another word replaces, and
/// lines that go, move or repeat.
fn damaged(numbers: &mut Numbers, text: &str, others: &[String]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + numbers.below(3) {
        let at = numbers.below(lines.len());
        let Some(line) = lines.get(at).cloned() else { return String::new() };
        match numbers.below(8) {
            0 => drop(lines.remove(at)),
            1 => {
                let to = numbers.below(lines.len());
                lines.insert(to, line);
            }
            2 => {
                let other = numbers.below(lines.len());
                lines.swap(at, other);
            }
            3 if !line.is_empty() => {
                let mut bytes = line.into_bytes();
                let byte = numbers.below(bytes.len());
                bytes[byte] ^= 1 << numbers.below(7);
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            4 => {
                let other = &others[numbers.below(others.len())];
                let count = other.lines().count();
                lines.insert(at, other.lines().nth(numbers.below(count)).unwrap_or_default().to_owned());
            }
            _ => {
                let mut words: Vec<&str> = line.split(' ').collect();
                let word = numbers.below(words.len());
                let number = ["0", "1", "7", "255", "65536", "0xffffffff", "%0", "%3", "l0[0]", "i32", "f32", "bool"];
                let from = &lines[numbers.below(lines.len())];
                let others: Vec<&str> = from.split(' ').collect();
                words[word] = if numbers.below(2) == 0 {
                    number[numbers.below(number.len())]
                } else {
                    others[numbers.below(others.len())]
                };
                lines[at] = words.join(" ");
            }
        }
    }
    lines.join("\n") + "\n"
}

/// Parses a text. A verified function has a printed form that is read back as the same function.
/// Returns true if the strict verifier accepts it, too.
fn try_function(text: &str) -> bool {
    let Some(function) = parse(text).ok().filter(|function| verify(function).is_ok()) else { return false };
    let printed = function.to_string();
    let again = parse(&printed).unwrap_or_else(|problem| panic!("{problem}, in what was printed:\n{printed}"));
    assert_eq!(again.to_string(), printed);
    assert_eq!(again.insts, function.insts);
    let is_valid = verify_strictly(&function).is_ok();
    if is_valid && function.types.len() < LARGE && function.locals.iter().sum::<u32>() < 1 << 12 {
        compile(function);
    }
    is_valid
}

/// Optimizes a function and generates code for both targets.
fn compile(mut function: Function) {
    function.number_images();
    passes::optimize(&mut function, &mut |_, _| {});
    assert_eq!(verify_strictly(&function), Ok(()), "after optimization");
    let facts = passes::prepare(&mut function, |_| LaneVariance::Divergent);
    for target in [Target::Avx512, Target::Avx2] {
        // A function that the generator does not support is interpreted.
        drop(generate(&function, &facts, CodegenOptions::default(), target));
    }
}

/// Runs `attempt` on a text. If it panics, the text is kept in a file.
fn survive(text: &str, attempt: impl FnOnce(&str) -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(|| attempt(text))).unwrap_or_else(|_| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("failing-{}.vir", std::process::id()));
        std::fs::write(&file, text).unwrap();
        panic!("{} fails (to be kept in tests/fuzz/texts, once it is understood)", file.display());
    })
}

#[test]
fn functions_come_back_and_damaged_ones_are_survived() {
    let (functions, count) = (functions(), number("VITRIC_FUZZ", MUTANTS).div_ceil(SHARE));
    for text in functions.iter().cloned().chain(files(&folder("tests/fuzz/texts"))) {
        survive(&text, try_function);
    }
    let (mut numbers, mut valid) = (Numbers(number("VITRIC_FUZZ_SEED", 1) | 1 << 40), 0);
    for _ in 0..count {
        let from = numbers.below(functions.len());
        let text = damaged(&mut numbers, &functions[from], &functions);
        valid += usize::from(survive(&text, try_function));
    }
    println!("{valid} of {count} damaged functions are valid");
    assert!(valid as u64 * 50 > count, "hardly any damaged text is worth the time: {valid} of {count} are valid");
}

#[test]
fn damaged_shaders_of_a_cache_are_survived() {
    let (shaders, count) = (shaders(), number("VITRIC_FUZZ", MUTANTS).div_ceil(2 * SHARE));
    let mut numbers = Numbers(number("VITRIC_FUZZ_SEED", 1) | 1 << 41);
    for _ in 0..count {
        let from = numbers.below(shaders.len());
        let text = damaged(&mut numbers, &shaders[from], &shaders);
        survive(&text, |text| {
            let Some(shader) = Shader::from_text(text) else { return false };
            if shader.function.types.len() < LARGE {
                compile(shader.function);
            }
            true
        });
    }
}
