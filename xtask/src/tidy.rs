//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md that can be checked by reading.
//!
//! Module headers, the direction of dependencies, cycles of imports, where `unsafe` may be, and budgets of files and functions.
//! Budgets are reported; everything else fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::imports::{self, Cycle};

/// Crates of the workspace, by folder.
pub const CRATES: [&str; 15] = [
    "backend/base",
    "backend/format",
    "backend/memory",
    "backend/ir",
    "backend/spirv",
    "backend/codegen",
    "backend/exec",
    "backend/gpu",
    "api",
    "icd/entry",
    "icd",
    "samples",
    "cts",
    "vitric",
    "xtask",
];

/// Crates of the emulated GPU.
const BACKEND: &[&str] =
    &["vitric-base", "vitric-exec", "vitric-format", "vitric-gpu", "vitric-ir", "vitric-memory", "vitric-spirv"];
const ALL_BELOW_ICD: &[&str] = &[
    "vitric-api",
    "vitric-base",
    "vitric-entry",
    "vitric-exec",
    "vitric-format",
    "vitric-gpu",
    "vitric-ir",
    "vitric-memory",
    "vitric-spirv",
];

/// Which crates of the workspace each crate may name, tests apart.
const MAY_USE: &[(&str, &[&str])] = &[
    ("backend/base", &[]),
    ("backend/format", &["vitric-base"]),
    ("backend/memory", &["vitric-base", "vitric-format"]),
    ("backend/ir", &["vitric-base", "vitric-format"]),
    ("backend/spirv", &["vitric-base", "vitric-format", "vitric-ir"]),
    ("backend/codegen", &["vitric-base", "vitric-ir"]),
    ("backend/exec", &["vitric-base", "vitric-codegen", "vitric-format", "vitric-ir", "vitric-memory"]),
    ("backend/gpu", &["vitric-base", "vitric-codegen", "vitric-exec", "vitric-format", "vitric-ir", "vitric-memory"]),
    ("api", BACKEND),
    ("icd/entry", &[]),
    ("icd", ALL_BELOW_ICD),
    // Tests and programs link the driver statically; they still speak Vulkan to it.
    ("samples", &["vitric-icd"]),
    ("cts", &["vitric-icd"]),
];

/// Folders and files in which `unsafe` may stand. Programs that speak Vulkan through `ash` need it everywhere.
const UNSAFE_ROOMS: &[&str] = &[
    "icd/",
    "backend/memory/src/",
    "backend/base/src/simd.rs",
    "backend/base/src/workers/",
    "backend/codegen/src/frame.rs",
    "backend/exec/src/runtime/",
    "samples/",
    "cts/",
    "vitric/",
];

/// Modules among whose children there are still cycles, as crate and path. No line is added here; lines go when cycles go.
const CYCLES_LEFT: &[(&str, &str)] =
    &[("backend/exec", ""), ("backend/exec", "runtime"), ("backend/gpu", "command"), ("backend/memory", "")];

/// Lines that a file should not exceed.
const FILE_BUDGET: usize = 800;
/// Lines that a function should not exceed.
const FUNCTION_BUDGET: usize = 90;

/// Checks the tree.
///
/// # Errors
/// All violations, a line each.
pub fn run(root: &Path) -> Result<(), String> {
    let mut problems = Vec::new();
    let mut functions = Vec::new();
    for file in rust_files(root)? {
        let text = fs::read_to_string(root.join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.to_string_lossy().into_owned();
        if !text.starts_with("//!") {
            problems.push(format!("{name}: no `//!` header"));
        }
        check_unsafe(&name, &text, &mut problems);
        if text.lines().count() > FILE_BUDGET {
            println!("budget: {name} has {} lines", text.lines().count());
        }
        functions.extend(
            function_lengths(&text).into_iter().map(|(function, lines)| (lines, format!("{name}: {function}"))),
        );
    }
    check_dependencies(root, &mut problems)?;
    for krate in CRATES {
        let cycles = imports::cycles(&root.join(krate).join("src"))?;
        check_cycles(krate, CYCLES_LEFT, &cycles, &mut problems);
    }
    report(&mut functions);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn rust_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("git ls-files: {error}"))?;
    Ok(String::from_utf8_lossy(&listed.stdout)
        .lines()
        .map(PathBuf::from)
        .filter(|file| root.join(file).exists())
        .collect())
}

fn check_unsafe(name: &str, text: &str, problems: &mut Vec<String>) {
    if UNSAFE_ROOMS.iter().any(|room| name.starts_with(room)) || name.starts_with("xtask/") {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        let forbids = code.contains("unsafe_code") || code.contains('"');
        if !forbids && code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
            problems.push(format!("{name}:{}: `unsafe` outside of its rooms", number + 1));
        }
    }
}

fn check_dependencies(root: &Path, problems: &mut Vec<String>) -> Result<(), String> {
    for (krate, allowed) in MAY_USE {
        let manifest = root.join(krate).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
        let dependencies = text.split("[dev-dependencies]").next().unwrap_or_default();
        for line in dependencies.lines().filter(|line| line.starts_with("vitric")) {
            let name = line.split(['.', ' ', '=']).next().unwrap_or("");
            if !allowed.contains(&name) {
                problems.push(format!("{krate} must not depend on {name}"));
            }
        }
    }
    Ok(())
}

/// Refuses cycles of imports that are not in the table, and lines of the table without a cycle.
fn check_cycles(krate: &str, left: &[(&str, &str)], cycles: &[Cycle], problems: &mut Vec<String>) {
    let known = |parent: &str| left.contains(&(krate, parent));
    problems.extend(cycles.iter().filter(|cycle| !known(&cycle.parent)).map(|cycle| format!("{krate}: {cycle}")));
    for (_, parent) in left.iter().filter(|(of, _)| *of == krate) {
        if cycles.iter().all(|cycle| cycle.parent != *parent) {
            problems.push(format!(
                "xtask/src/tidy.rs: {krate} {parent:?} has no cycle any more: take it out of CYCLES_LEFT"
            ));
        }
    }
}

/// Names and lengths of functions, by indentation: a function ends at the brace that stands where its `fn` line starts.
fn function_lengths(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let is_function = code.starts_with("fn ")
            || (code.starts_with("pub") && code.contains(" fn "))
            || code.starts_with("extern \"system\" fn ");
        if !is_function || line.trim_end().ends_with(';') {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        let length =
            lines[start..].iter().position(|line| *line == closing || (line.ends_with('}') && line.contains(" fn ")));
        let name = code.split("fn ").nth(1).and_then(|rest| rest.split(['(', '<']).next()).unwrap_or("?");
        out.push((name.to_owned(), length.unwrap_or(0) + 1));
    }
    out
}

fn report(functions: &mut [(usize, String)]) {
    functions.sort_unstable();
    let Some(last) = functions.len().checked_sub(1) else { return };
    println!(
        "functions: {}, median {} lines, 99th percentile {}",
        last + 1,
        functions[last / 2].0,
        functions[last * 99 / 100].0
    );
    for (lines, name) in functions.iter().filter(|(lines, _)| *lines > FUNCTION_BUDGET) {
        println!("budget: {name} has {lines} lines");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_outside_of_its_rooms_is_found() {
        let mut problems = Vec::new();
        check_unsafe(
            "backend/gpu/src/raster/mod.rs",
            "fn f() { unsafe { g() } }\n// unsafe in a comment\n",
            &mut problems,
        );
        check_unsafe("backend/memory/src/buffer.rs", "unsafe {}", &mut problems);
        assert_eq!(problems, ["backend/gpu/src/raster/mod.rs:1: `unsafe` outside of its rooms"]);
    }

    #[test]
    fn cycles_may_only_become_fewer() {
        let cycle =
            Cycle { parent: "room".to_owned(), members: vec!["a".to_owned(), "b".to_owned()], edges: Vec::new() };
        let check = |left: &[(&str, &str)], cycles: &[Cycle]| {
            let mut problems = Vec::new();
            check_cycles("crate", left, cycles, &mut problems);
            problems.len()
        };
        assert_eq!(check(&[("crate", "room")], std::slice::from_ref(&cycle)), 0);
        assert_eq!(check(&[("other", "room")], std::slice::from_ref(&cycle)), 1);
        assert_eq!(check(&[("crate", "room")], &[]), 1);
    }

    #[test]
    fn lengths_of_functions() {
        let text = "fn one() {\n    x\n}\n\nimpl T {\n    pub fn two(&self) -> u32 {\n        1\n    }\n}\n";
        assert_eq!(function_lengths(text), [("one".to_owned(), 3), ("two".to_owned(), 3)]);
    }
}
