//! xtask: set-up, checks and generated files, as `cargo xtask COMMAND`.

mod shaders;
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
        ["tidy"] => tidy::run(&root()),
        ["test"] => test::run(&root()),
        ["bless"] => bless(),
        _ => Err("usage: cargo xtask test | tidy | shaders [--check] | bless".to_owned()),
    }
}

/// Rewrites the reference images of the gallery from what the driver renders now: look at them before committing.
fn bless() -> Result<(), String> {
    let status = std::process::Command::new("cargo")
        .args(["test", "--package", "vitric-samples", "--test", "scenes", "scenes_match_their_reference_pictures"])
        .env("VITRIC_BLESS", "1")
        .current_dir(root())
        .status()
        .map_err(|error| format!("cargo test: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo test: {status}")) }
}

/// The repository's root folder: the parent of this crate's.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}
