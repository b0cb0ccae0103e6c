//! `vitric shader FILE.spv`: compilation steps of a shader, for people who debug shaders and the
//! compiler.

use std::path::Path;
use std::process::ExitCode;

use ash::vk;
use vitric_base::simd::Lanes;
use vitric_codegen as x64;
use vitric_exec::Program;
use vitric_exec::bindings::Bindings;
use vitric_exec::interp::{Environment, Wave};
use vitric_exec::runtime::{Deadline, SharedMemory};
use vitric_ir::{Type, passes};
use vitric_spirv as spirv;

use super::Failure;

/// Output of the command.
#[derive(Debug, Clone, PartialEq)]
enum Dump {
    /// The IR after a pass.
    Ir(String),
    Machine,
    Assembly,
}

struct Options {
    file: String,
    entry: String,
    dumps: Vec<Dump>,
    target: Option<x64::Target>,
    run: bool,
}

/// Name of the IR before the passes.
const FRONT_END: &str = "front end";

pub(crate) fn command(args: &[String]) -> Result<ExitCode, Failure> {
    let options = parse(args)?;
    let words = read(Path::new(&options.file))?;
    let module = spirv::parse(&words).map_err(|error| Failure::new(format!("{}: {error}", options.file)))?;
    let (program, versions) = compile(&module, &options)?;
    for dump in &options.dumps {
        print!("{}", dumped(dump, &program, &versions, options.target)?);
    }
    if options.run {
        run(program, options.target)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(args: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        file: String::new(),
        entry: "main".into(),
        dumps: Vec::new(),
        target: x64::Target::best(),
        run: false,
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| Failure::usage(format!("{arg}: expected a value after it")));
        match arg.as_str() {
            "--entry" => options.entry.clone_from(value()?),
            "--dump" => options.dumps.push(dump(value()?)?),
            "--target" => options.target = target(value()?)?,
            "--run" => options.run = true,
            file if options.file.is_empty() && !file.starts_with('-') => file.clone_into(&mut options.file),
            other => {
                return Err(Failure::usage(format!(
                    "'{other}': expected an option of `vitric shader`, or one SPIR-V file"
                )));
            }
        }
    }
    if options.file.is_empty() {
        return Err(Failure::usage("vitric shader: expected a SPIR-V file"));
    }
    if options.dumps.is_empty() && !options.run {
        options.dumps.push(Dump::Ir("dce".into()));
    }
    Ok(options)
}

fn dump(what: &str) -> Result<Dump, Failure> {
    let last = passes::PASSES.last().map_or(FRONT_END, |(name, _)| name);
    match what {
        "ir" => Ok(Dump::Ir(last.into())),
        "machine" => Ok(Dump::Machine),
        "asm" => Ok(Dump::Assembly),
        _ => {
            let names: Vec<&str> = passes::PASSES.iter().map(|(name, _)| *name).chain(["front-end"]).collect();
            match what.strip_prefix("after:").filter(|name| names.contains(name)) {
                Some("front-end") => Ok(Dump::Ir(FRONT_END.into())),
                Some(name) => Ok(Dump::Ir(name.into())),
                None => {
                    let names = names.join(", ");
                    Err(Failure::usage(format!(
                        "--dump {what}: expected ir, machine, asm, or after: and one of {names}"
                    )))
                }
            }
        }
    }
}

fn target(name: &str) -> Result<Option<x64::Target>, Failure> {
    match name {
        "avx512" => Ok(Some(x64::Target::Avx512)),
        "avx2" => Ok(Some(x64::Target::Avx2)),
        "interp" => Ok(None),
        _ => Err(Failure::usage(format!("--target {name}: expected avx512, avx2 or interp"))),
    }
}

fn read(path: &Path) -> Result<Vec<u32>, Failure> {
    let bytes =
        std::fs::read(path).map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    if !bytes.len().is_multiple_of(4) {
        let (file, size) = (path.display(), bytes.len());
        return Err(Failure::new(format!("{file} has {size} bytes: expected SPIR-V, whose size is a multiple of 4")));
    }
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

/// The IR after each pass, by name.
type Versions = Vec<(String, String)>;

fn compile(module: &spirv::Module, options: &Options) -> Result<(Program, Versions), Failure> {
    let stages = [
        vk::ShaderStageFlags::VERTEX,
        vk::ShaderStageFlags::GEOMETRY,
        vk::ShaderStageFlags::FRAGMENT,
        vk::ShaderStageFlags::COMPUTE,
    ];
    let mut problem = String::new();
    for stage in stages {
        let mut versions = Vec::new();
        let mut observe = |name: &str, function: &vitric_ir::Function| {
            versions.push((name.to_owned(), function.to_string()));
        };
        match spirv::compile_observed(module, &options.entry, stage, &Vec::new(), &mut observe) {
            Ok(shader) => return Ok((Program::new(shader, &options.entry), versions)),
            // The entry point may belong to another stage, whose error is the more useful one.
            Err(error) if problem.is_empty() || !error.to_string().contains("no such entry point") => {
                problem = error.to_string();
            }
            Err(_) => {}
        }
    }
    Err(Failure::new(format!("{}: {problem}", options.file)))
}

fn dumped(dump: &Dump, program: &Program, versions: &Versions, target: Option<x64::Target>) -> Result<String, Failure> {
    let (function, uniformity) = (program.code.function(), program.code.uniformity());
    let target = || {
        target.ok_or_else(|| {
            Failure::new(
                "this processor has neither AVX-512 nor AVX2: select code with --target avx512 or --target avx2",
            )
        })
    };
    match dump {
        Dump::Ir(pass) => {
            let found = versions.iter().find(|(name, _)| name == pass);
            Ok(found.map_or(String::new(), |(_, text)| text.clone()))
        }
        Dump::Machine => {
            x64::machine_text(function, uniformity, x64::CodegenOptions::default(), target()?).map_err(Failure::new)
        }
        Dump::Assembly => {
            let code = x64::generate(function, uniformity, x64::CodegenOptions::default(), target()?)
                .map_err(Failure::new)?
                .code;
            Ok(x64::disassemble(&code.bytes, code.entry))
        }
    }
}

/// Runs one wave on the interpreter and on the target. Every input is the lane's number, and
/// buffers are empty.
fn run(mut program: Program, target: Option<x64::Target>) -> Result<(), Failure> {
    let mut outputs = Vec::new();
    for target in [None, target] {
        program.generate(target).map_err(Failure::new)?;
        outputs.push(run_wave(&program));
    }
    for (slot, (output, lanes)) in program.outputs.iter().zip(&outputs[0]).enumerate() {
        let words: Vec<String> = lanes.iter().map(|&word| word_text(output.ty, word)).collect();
        println!("output {slot} {:?}: {}", output.slot, words.join(" "));
    }
    if outputs[0] != outputs[1] {
        let problem = "the interpreter and the generated code have different outputs";
        return Err(Failure::new(format!("{problem}. This is a bug in Vitric: please report it with the shader")));
    }
    Ok(())
}

fn word_text(ty: Type, word: u32) -> String {
    match ty {
        Type::F32 => f32::from_bits(word).to_string(),
        _ => (word as i32).to_string(),
    }
}

fn run_wave(program: &Program) -> Vec<Lanes> {
    let (bindings, shared) = (Bindings::default(), SharedMemory::new(program.shared_bytes));
    let deadline = Deadline::after(std::time::Duration::from_secs(10));
    let environment = Environment { push: &[0; 128], shared: Some(&shared), ..Environment::new(&bindings, &deadline) };
    let mut wave = Wave::default();
    wave.start(program, u16::MAX, 0);
    for (lanes, input) in wave.inputs.iter_mut().zip(&program.inputs) {
        *lanes = std::array::from_fn(|lane| match input.ty {
            Type::F32 => (lane as f32).to_bits(),
            Type::Bool => lane as u32 & 1,
            _ => lane as u32,
        });
    }
    while wave.run(program, &environment) == vitric_exec::runtime::Stop::Barrier {}
    wave.outputs.to_vec()
}
