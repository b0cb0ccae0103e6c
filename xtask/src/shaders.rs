//! `cargo xtask shaders [--check]`: compiles all GLSL shaders of the repository to the SPIR-V
//! files that are committed beside them. Modules that GLSL cannot express are assembled
//! (`FILE.STAGE.spvasm`).
//!
//! With `--check` nothing is written: a missing `.spv`, a differing one, or one without a source
//! is a failure. The shaders that test the SPIR-V front end also have two optimised forms:
//! `FILE.opt.spv` (`spirv-opt -O`) and `FILE.small.spv` (`spirv-opt -Os`). In a shader, a line
//! `// Environment: vulkan1.1` sets the version of Vulkan. Tools: `glslangValidator` and
//! `spirv-opt` (Debian: `glslang-tools`, `spirv-tools`).

use std::path::{Path, PathBuf};
use std::process::Command;

const STAGES: [&str; 8] = ["vert", "frag", "comp", "geom", "tesc", "tese", "task", "mesh"];

/// File extension of SPIR-V assembly.
const ASSEMBLY: &str = "spvasm";

/// Folder of the shaders that are also optimised.
const OPTIMISED: &str = "backend/tests/shaders";

/// Optimised forms: the extension, and the option of `spirv-opt`.
const FORMS: [(&str, &str); 2] = [("opt.spv", "-O"), ("small.spv", "-Os")];

/// Compiles or checks all shaders under `root`. The error lists all failures.
pub fn run(root: &Path, check: bool) -> Result<(), String> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let (binaries, sources): (Vec<_>, Vec<_>) = files.into_iter().partition(|f| extension(f) == "spv");
    let compiled = sources.iter().map(|source| compile(source, check)).collect::<Vec<_>>().into_iter();
    let optimised = sources.iter().filter(|source| source.starts_with(root.join(OPTIMISED)));
    let compiled = compiled.chain(optimised.flat_map(|source| FORMS.map(|form| optimise(source, form, check))));
    let orphans = binaries.iter().filter(|binary| !source_of(binary).exists());
    let orphans = orphans.map(|b| Err(format!("{} has no source beside it", b.display())));
    let wrong: Vec<_> = compiled.chain(orphans).filter_map(Result::err).collect();
    if wrong.is_empty() {
        println!("{} shaders {}", sources.len(), if check { "match their SPIR-V" } else { "compiled" });
        return Ok(());
    }
    Err(wrong.join("\n"))
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// Collects shaders and SPIR-V files below `dir`, except in hidden folders and build outputs.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        let skipped = name.starts_with('.') || name == "target";
        if path.is_dir() && !path.is_symlink() && !skipped {
            collect(&path, files)?;
        } else if is_source(&path) || is_shader_binary(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns true for `FILE.STAGE.spv` and its optimised forms. Other `.spv` files (fuzzing corpora,
/// hand-assembled tests) are ignored.
fn is_shader_binary(path: &Path) -> bool {
    extension(path) == "spv" && STAGES.contains(&extension(&shader_of(path)))
}

/// Returns true for a GLSL file or the assembly of a stage.
fn is_source(path: &Path) -> bool {
    STAGES.contains(&extension(path)) || (extension(path) == ASSEMBLY && STAGES.contains(&extension(&shader_of(path))))
}

/// Returns the shader's file name up to its stage, for a source or a binary.
fn shader_of(path: &Path) -> PathBuf {
    let inner = if STAGES.contains(&extension(path)) { path.to_owned() } else { path.with_extension("") };
    if ["opt", "small"].contains(&extension(&inner)) { inner.with_extension("") } else { inner }
}

/// Returns the source of a binary: assembly if it exists, else GLSL.
fn source_of(binary: &Path) -> PathBuf {
    let glsl = shader_of(binary);
    let assembly = with_suffix(&glsl, ASSEMBLY);
    if assembly.exists() { assembly } else { glsl }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}.{suffix}", path.display()))
}

/// Writes or checks an optimised form of a shader.
fn optimise(source: &Path, (form, option): (&str, &str), check: bool) -> Result<(), String> {
    let (plain, committed) = (with_suffix(&shader_of(source), "spv"), with_suffix(&shader_of(source), form));
    produce(&committed, check, |target| spirv_opt(&plain, option, target))
}

fn spirv_opt(plain: &Path, option: &str, target: &Path) -> Result<(), String> {
    let output = Command::new("spirv-opt")
        // Debian's validator does not support arrays of arrays of descriptors. The driver's tests
        // check the result instead.
        .args([option, &format!("--target-env={}", environment(&source_of(plain))), "--skip-validation"])
        .arg(plain)
        .arg("-o")
        .arg(target)
        .output()
        .map_err(|e| format!("spirv-opt could not be run (Debian package spirv-tools): {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}:\n{}", plain.display(), String::from_utf8_lossy(&output.stderr)))
}

fn compile(source: &Path, check: bool) -> Result<(), String> {
    let committed = with_suffix(&shader_of(source), "spv");
    let make = if extension(source) == ASSEMBLY { assemble } else { glslang };
    produce(&committed, check, |target| make(source, target))
}

/// Writes a file, or writes it to a temporary file and compares both.
fn produce(committed: &Path, check: bool, make: impl Fn(&Path) -> Result<(), String>) -> Result<(), String> {
    let target = if check { scratch(committed) } else { committed.to_owned() };
    make(&target)?;
    if !check {
        return Ok(());
    }
    let fresh = std::fs::read(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    std::fs::remove_file(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    match std::fs::read(committed) {
        Ok(bytes) if bytes == fresh => Ok(()),
        Ok(_) => Err(format!("{} differs from its source: run `cargo xtask shaders`", committed.display())),
        Err(e) => Err(format!("{}: {e}: run `cargo xtask shaders`", committed.display())),
    }
}

/// Returns the environment in a shader's line `// Environment: `, or Vulkan 1.0.
fn environment(source: &Path) -> String {
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let named =
        text.lines().find_map(|line| line.strip_prefix("// Environment: ").or(line.strip_prefix("; Environment: ")));
    named.map_or("vulkan1.0", str::trim).to_owned()
}

fn scratch(committed: &Path) -> PathBuf {
    let name = committed.file_name().and_then(|n| n.to_str()).unwrap_or("shader");
    std::env::temp_dir().join(format!("vitric-shaders-{}-{name}", std::process::id()))
}

fn assemble(source: &Path, target: &Path) -> Result<(), String> {
    let output = Command::new("spirv-as")
        .args(["--target-env", &environment(source)])
        .arg(source)
        .arg("-o")
        .arg(target)
        .output()
        .map_err(|e| format!("spirv-as could not be run (Debian package spirv-tools): {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}:\n{}", source.display(), String::from_utf8_lossy(&output.stderr)))
}

fn glslang(source: &Path, target: &Path) -> Result<(), String> {
    let output = Command::new("glslangValidator")
        .args(["-V", "--target-env", &environment(source)])
        .arg(source)
        .arg("-o")
        .arg(target)
        .output()
        .map_err(|e| format!("glslangValidator could not be run (Debian package glslang-tools): {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}:\n{}", source.display(), String::from_utf8_lossy(&output.stdout)))
}
