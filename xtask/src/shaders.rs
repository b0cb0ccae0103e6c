//! `cargo xtask shaders [--check]`: compiles every GLSL shader of the repository to the SPIR-V committed beside it.
//!
//! With `--check` nothing is written: a missing or differing `.spv`, or one without its source, is a failure.
//! Tool: `glslangValidator` (Debian: `glslang-tools`).

use std::path::{Path, PathBuf};
use std::process::Command;

const STAGES: [&str; 6] = ["vert", "frag", "comp", "geom", "tesc", "tese"];

/// Compiles or checks all shaders under `root`; the error says everything that is wrong.
pub fn run(root: &Path, check: bool) -> Result<(), String> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let (binaries, sources): (Vec<_>, Vec<_>) = files.into_iter().partition(|f| extension(f) == "spv");
    let compiled = sources.iter().map(|source| compile(source, check));
    let orphans = binaries.iter().filter(|b| !b.with_extension("").exists());
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

/// Shaders and SPIR-V below `dir`, outside hidden folders and build outputs.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        let skipped = name.starts_with('.') || name == "target";
        if path.is_dir() && !path.is_symlink() && !skipped {
            collect(&path, files)?;
        } else if STAGES.contains(&extension(&path)) || is_shader_binary(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// `FILE.STAGE.spv`: other `.spv` files (fuzzing corpora, hand-assembled tests) are none of ours.
fn is_shader_binary(path: &Path) -> bool {
    extension(path) == "spv" && STAGES.contains(&extension(&path.with_extension("")))
}

fn compile(source: &Path, check: bool) -> Result<(), String> {
    let committed = source.with_extension(format!("{}.spv", extension(source)));
    let target = if check { scratch(source) } else { committed.clone() };
    glslang(source, &target)?;
    if !check {
        return Ok(());
    }
    let fresh = std::fs::read(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    std::fs::remove_file(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    match std::fs::read(&committed) {
        Ok(bytes) if bytes == fresh => Ok(()),
        Ok(_) => Err(format!("{} differs from its source: run `cargo xtask shaders`", committed.display())),
        Err(e) => Err(format!("{}: {e}: run `cargo xtask shaders`", committed.display())),
    }
}

fn scratch(source: &Path) -> PathBuf {
    let name = source.file_name().and_then(|n| n.to_str()).unwrap_or("shader");
    std::env::temp_dir().join(format!("vitric-shaders-{}-{name}.spv", std::process::id()))
}

fn glslang(source: &Path, target: &Path) -> Result<(), String> {
    let output = Command::new("glslangValidator")
        .args(["-V", "--target-env", "vulkan1.0"])
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
