//! xtask: set-up, checks and generated files, as `cargo xtask COMMAND`.

mod shaders;

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
        _ => Err("usage: cargo xtask shaders [--check]".to_owned()),
    }
}

/// The repository's root folder: the parent of this crate's.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}
