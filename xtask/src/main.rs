//! Set-up, checks and generated files of the repository, as `cargo xtask COMMAND`.

mod imports;
mod shaders;
mod signatures;
mod step;
mod test;
mod tidy;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask test | tidy | tools | shaders [--check] | bless [documents]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[&str]) -> Result<(), String> {
    match args {
        ["shaders"] => shaders::run(&root(), false),
        ["shaders", "--check"] => shaders::run(&root(), true),
        ["tidy"] => tidy::run(&root()),
        ["tools"] => tools::run(&root()),
        ["test"] => test::run(&root()),
        ["bless"] => bless_documents().and_then(|()| bless_pictures()),
        ["bless", "documents"] => bless_documents(),
        _ => Err(USAGE.to_owned()),
    }
}

/// Writes the tables of documents that are made from tables of the code, and prints the documents
/// that changed.
fn bless_documents() -> Result<(), String> {
    bless(&["--test", "documents"], &["README.md", "docs"])
}

/// Replaces the gallery's reference pictures that differ from the driver's output, and prints
/// their names. Look at them before you commit.
fn bless_pictures() -> Result<(), String> {
    let test = ["--exact", "scenes_match_their_reference_pictures"];
    let arguments = [&["--test", "scenes", "--"], &test[..]].concat();
    bless(&arguments, &["samples/reference"])
}

/// Runs tests that write expected files instead of comparing them, and prints the files below
/// `paths` that differ from the committed ones.
fn bless(tests: &[&str], paths: &[&str]) -> Result<(), String> {
    let status = std::process::Command::new("cargo")
        // A build of one package has other features, and would compile all crates again.
        .args(["test", "--workspace"])
        .args(tests)
        .env("VITRIC_BLESS", "1")
        .current_dir(root())
        .status()
        .map_err(|error| format!("cargo test: {error}"))?;
    if !status.success() {
        return Err(format!("cargo test: {status}"));
    }
    let changed = std::process::Command::new("git")
        .args(["status", "--short", "--"])
        .args(paths)
        .current_dir(root())
        .output()
        .map_err(|error| format!("git status: {error}"))?;
    let paths = paths.join(", ");
    match String::from_utf8_lossy(&changed.stdout).trim_end() {
        "" => println!("{paths}: every file is as it was committed"),
        files => println!("{paths}: these files differ from the committed ones; look at them\n{files}"),
    }
    Ok(())
}

/// Returns the repository's root folder: the parent of this crate's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}
