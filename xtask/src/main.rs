//! Set-up, checks and generated files of the repository, as `cargo xtask COMMAND`.

mod imports;
mod shaders;
mod signatures;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
        ["imports"] => print_cycles(),
        ["signatures"] => print_signatures(),
        ["tidy"] => tidy::run(&root()),
        ["test"] => test::run(&root()),
        ["bless"] => bless(),
        _ => Err("usage: cargo xtask test | tidy | imports | signatures | shaders [--check] | bless".to_owned()),
    }
}

/// Prints the cycles among the modules of every crate of the workspace.
fn print_cycles() -> Result<(), String> {
    for krate in tidy::CRATES {
        for cycle in imports::cycles(&root().join(krate).join("src"))? {
            println!("{krate}: {cycle}");
        }
    }
    Ok(())
}

/// Prints the declarations of every crate of the workspace that break the rules of style.
fn print_signatures() -> Result<(), String> {
    tidy::declaration_problems(&root())?.iter().for_each(|problem| println!("{problem}"));
    Ok(())
}

/// Replaces the gallery's reference pictures that differ from the driver's output, and prints
/// their names. Look at them before you commit.
fn bless() -> Result<(), String> {
    const REFERENCES: &str = "samples/reference";
    let arguments = ["test", "--package", "vitric-samples", "--test", "scenes", "--", "--exact", "--nocapture"];
    let status = std::process::Command::new("cargo")
        .args(arguments)
        .arg("scenes_match_their_reference_pictures")
        .env("VITRIC_BLESS", "1")
        .current_dir(root())
        .status()
        .map_err(|error| format!("cargo test: {error}"))?;
    if !status.success() {
        return Err(format!("cargo test: {status}"));
    }
    let changed = std::process::Command::new("git")
        .args(["status", "--short", "--", REFERENCES])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git status: {error}"))?;
    match String::from_utf8_lossy(&changed.stdout).trim_end() {
        "" => println!("{REFERENCES}: every picture is as it was committed"),
        files => println!("{REFERENCES}: these differ from what is committed; look at them\n{files}"),
    }
    Ok(())
}

/// Returns the repository's root folder: the parent of this crate's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}
