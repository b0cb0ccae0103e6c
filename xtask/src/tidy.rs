//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md that can be checked in the sources.
//!
//! The checks cover module headers, the direction of dependencies, cycles of imports, locations of
//! `unsafe`, lengths of files and functions, comments by the rules of style, and references in
//! documents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::imports;
use crate::signatures::Declarations;

/// Crates of the workspace, by folder.
const CRATES: [&str; 16] = [
    "backend/base",
    "backend/format",
    "backend/memory",
    "backend/ir",
    "backend/spirv",
    "backend/codegen",
    "backend/exec",
    "backend/gpu",
    "vulkan",
    "api",
    "icd/entry",
    "icd",
    "samples",
    "cts",
    "vitric",
    "xtask",
];

/// Crates of the emulated GPU, and the one of Vulkan's newer types.
const BELOW_API: &[&str] = &[
    "vitric-base",
    "vitric-exec",
    "vitric-format",
    "vitric-gpu",
    "vitric-ir",
    "vitric-memory",
    "vitric-spirv",
    "vitric-vulkan",
];
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
    "vitric-vulkan",
];

/// Crates of the workspace that each crate may depend on, except in tests.
const MAY_USE: &[(&str, &[&str])] = &[
    ("backend/base", &[]),
    ("backend/format", &["vitric-base"]),
    ("backend/memory", &["vitric-base", "vitric-format"]),
    ("backend/ir", &["vitric-base", "vitric-format"]),
    ("backend/spirv", &["vitric-base", "vitric-format", "vitric-ir"]),
    ("backend/codegen", &["vitric-base", "vitric-ir"]),
    ("backend/exec", &["vitric-base", "vitric-codegen", "vitric-format", "vitric-ir", "vitric-memory"]),
    ("backend/gpu", &["vitric-base", "vitric-codegen", "vitric-exec", "vitric-format", "vitric-ir", "vitric-memory"]),
    ("vulkan", &[]),
    ("api", BELOW_API),
    ("icd/entry", &[]),
    ("icd", ALL_BELOW_ICD),
    // Tests and programs link the driver statically, but use it through Vulkan.
    ("samples", &["vitric-icd"]),
    ("cts", &["vitric-icd", "vitric-vulkan"]),
];

/// Folders and files that may contain `unsafe`. Programs that call Vulkan through `ash` need it
/// everywhere.
const UNSAFE_ROOMS: &[&str] = &[
    "icd/",
    "vulkan/src/structures.rs",
    "vulkan/src/unbound.rs",
    "backend/memory/src/",
    "backend/base/src/clock.rs",
    "backend/base/src/host_thread.rs",
    "backend/base/src/simd.rs",
    "backend/base/src/workers/",
    "backend/codegen/src/frame.rs",
    "backend/exec/src/runtime/",
    "samples/",
    "cts/",
    "vitric/",
];

/// Maximum number of words of ARCHITECTURE.md. It says where things are, and design pages say how
/// they work.
const MAX_ARCHITECTURE_WORDS: usize = 4000;

/// Maximum number of lines of a file.
const MAX_FILE_LINES: usize = 800;
/// Maximum number of lines of a function.
const MAX_FUNCTION_LINES: usize = 90;
/// Maximum number of columns of a line of comment.
const MAX_COMMENT_COLUMNS: usize = 100;

/// Openings of sentences that hide what the sentence is about.
const FORBIDDEN_OPENINGS: &[&str] = &["What ", "Whether ", "The same", "So many ", "Those ", "Of ", "As so "];

/// Checks the tree.
///
/// # Errors
/// All violations, one a line.
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
        check_comments(&name, &text, &mut problems);
        let lines = text.lines().count();
        if lines > MAX_FILE_LINES {
            problems
                .push(format!("{name}: {lines} lines, at most {MAX_FILE_LINES}: move a part into a file of its own"));
        }
        functions.extend(
            function_lengths(&text).into_iter().map(|(function, lines)| (lines, format!("{name}: {function}"))),
        );
    }
    check_dependencies(root, &mut problems)?;
    for file in listed_files(root, "*.md")? {
        let text = fs::read_to_string(root.join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.to_string_lossy();
        check_references(root, &name, &text, &mut problems);
        check_links(root, &file, &text, &mut problems);
        let words = text.split_whitespace().count();
        if name == "ARCHITECTURE.md" && words > MAX_ARCHITECTURE_WORDS {
            problems.push(format!(
                "{name}: {words} words, at most {MAX_ARCHITECTURE_WORDS}: move how it works to docs/design"
            ));
        }
    }
    for krate in CRATES {
        let cycles = imports::cycles(&root.join(krate).join("src"))?;
        problems.extend(cycles.iter().map(|cycle| format!("{krate}: {cycle}")));
    }
    problems.extend(declaration_problems(root)?);
    report(&mut functions, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Returns the declarations of all crates that break the rules of style, one a line.
fn declaration_problems(root: &Path) -> Result<Vec<String>, String> {
    let mut crates: BTreeMap<&str, Declarations> = BTreeMap::new();
    for file in rust_files(root)? {
        let text = fs::read_to_string(root.join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
        let Some(krate) = CRATES.iter().find(|krate| file.starts_with(Path::new(krate).join("src"))) else { continue };
        crates.entry(krate).or_default().read(&file.to_string_lossy(), &text)?;
    }
    Ok(crates.into_values().flat_map(Declarations::problems).collect())
}

fn rust_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    listed_files(root, "*.rs")
}

/// Returns the files that git tracks and that match a pattern, relative to the root.
fn listed_files(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let listed = Command::new("git").args(["ls-files", pattern]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("git ls-files: {error}"))?;
    Ok(String::from_utf8_lossy(&listed.stdout)
        .lines()
        .map(PathBuf::from)
        .filter(|file| root.join(file).exists())
        .collect())
}

/// Reports references of a document to files that do not exist. A reference is a path in
/// backticks, relative to the root or to a crate's sources. The changelog is skipped, because it
/// names files that have since been removed.
fn check_references(root: &Path, name: &str, text: &str, problems: &mut Vec<String>) {
    if name == "CHANGELOG.md" {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        // Every second part is between backticks.
        for path in line.split('`').skip(1).step_by(2).filter(|part| is_file_path(part)) {
            let in_crate = |krate: &&str| root.join(krate).join("src").join(path).exists();
            if !root.join(path).exists() && !CRATES.iter().any(in_crate) {
                problems.push(format!("{name}:{}: `{path}` does not exist: name a file of the tree", number + 1));
            }
        }
    }
}

/// Reports links of a document, `[text](target)`, that lead to no file. Links to other sites and to
/// sections are not followed.
fn check_links(root: &Path, file: &Path, text: &str, problems: &mut Vec<String>) {
    let folder = root.join(file.parent().unwrap_or(Path::new("")));
    for (number, line) in text.lines().enumerate() {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") && !folder.join(path).exists() {
                problems.push(format!("{}:{}: the link {target} leads nowhere", file.display(), number + 1));
            }
        }
    }
}

/// Returns true if text is the path of a source file or a document in a folder.
fn is_file_path(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let has_ending = [".rs", ".md", ".toml", ".json", ".yml"].iter().any(|ending| text.ends_with(ending));
    text.contains('/') && has_ending && text.chars().all(is_plain) && !text.starts_with(['.', '/'])
}

/// Reports comments that are too wide, and sentences of comments with a forbidden opening. Comments
/// behind code on a line are not read.
fn check_comments(name: &str, text: &str, problems: &mut Vec<String>) {
    // Text of the comment line before, if its kind is `before.0`.
    let mut before = ("", "");
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        let code = line.trim_start();
        if code.starts_with("//") && line.chars().count() > MAX_COMMENT_COLUMNS {
            problems.push(format!("{place}: a comment over {MAX_COMMENT_COLUMNS} columns: wrap it"));
        }
        let kind = ["//!", "///", "//"].into_iter().find(|kind| code.starts_with(kind)).unwrap_or_default();
        let comment = if kind.is_empty() { "" } else { code[kind.len()..].trim() };
        let begins = before.0 != kind || ends_sentence(before.1);
        let sentences = comment.split(". ").enumerate().filter(|(part, _)| begins || *part > 0);
        for (_, sentence) in sentences {
            if let Some(opening) = FORBIDDEN_OPENINGS.iter().find(|opening| sentence.starts_with(**opening)) {
                problems.push(format!("{place}: a sentence begins with {opening:?}: begin with its subject or verb"));
            }
        }
        before = (kind, comment);
    }
}

/// Returns true if the next line of the comment begins a sentence.
fn ends_sentence(comment: &str) -> bool {
    comment.is_empty() || comment.starts_with("# ") || comment.ends_with(['.', ':', '?', '!'])
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

/// Returns the names and lengths of functions. A function ends at the brace with the indentation
/// of its `fn` line.
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

fn report(functions: &mut [(usize, String)], problems: &mut Vec<String>) {
    functions.sort_unstable();
    let Some(last) = functions.len().checked_sub(1) else { return };
    println!(
        "functions: {}, median {} lines, 99th percentile {}",
        last + 1,
        functions[last / 2].0,
        functions[last * 99 / 100].0
    );
    for (lines, name) in functions.iter().filter(|(lines, _)| *lines > MAX_FUNCTION_LINES) {
        problems
            .push(format!("{name}: {lines} lines, at most {MAX_FUNCTION_LINES}: move a part into another function"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_checked() {
        let check = |text: &str| {
            let mut problems = Vec::new();
            check_comments("f.rs", text, &mut problems);
            problems
        };
        let refused = |opening: &str| format!("a sentence begins with {opening:?}: begin with its subject or verb");
        assert_eq!(check(&format!("// {}\n", "x".repeat(100))), ["f.rs:1: a comment over 100 columns: wrap it"]);
        assert_eq!(
            check("/// Returns it.\nfn f() {}\n/// Whether it is.\n"),
            [format!("f.rs:3: {}", refused("Whether "))]
        );
        assert_eq!(check("    // What it is.\n"), [format!("f.rs:1: {}", refused("What "))]);
        assert_eq!(check("/// # Errors\n/// Those of `f`.\n"), [format!("f.rs:2: {}", refused("Those "))]);
        assert_eq!(check("//! Parts. Of a whole.\n"), [format!("f.rs:1: {}", refused("Of "))]);
        assert_eq!(check("// Parts\n// Of a line, and\n/// The samples.\nlet a = 1; // What\n"), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut problems = Vec::new();
        let text = "[a](../README.md#knobs) [b](https://example.org/x) [c](#here)\n[d](nothing.md)\n";
        check_links(&root, Path::new("docs/page.md"), text, &mut problems);
        assert_eq!(problems, ["docs/page.md:2: the link nothing.md leads nowhere"]);
    }

    #[test]
    fn references_to_missing_files_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut problems = Vec::new();
        let text = "`xtask/src/tidy.rs`, `raster/mod.rs` and `cargo test`\n`raster/nothing.rs` in `src`\n";
        check_references(&root, "docs/page.md", text, &mut problems);
        assert_eq!(problems, ["docs/page.md:2: `raster/nothing.rs` does not exist: name a file of the tree"]);
    }

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
    fn lengths_of_functions() {
        let text = "fn one() {\n    x\n}\n\nimpl T {\n    pub fn two(&self) -> u32 {\n        1\n    }\n}\n";
        assert_eq!(function_lengths(text), [("one".to_owned(), 3), ("two".to_owned(), 3)]);
    }
}
