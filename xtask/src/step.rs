//! Programs that the checks run, one after the other.

use std::path::Path;
use std::process::Command;

/// Runs a program and prints its command line before.
///
/// # Errors
/// The command line, if the program cannot be started or fails.
pub fn step(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    step_with(folder, program, arguments, &[])
}

/// Runs a program with additional environment variables, and prints its command line before.
///
/// # Errors
/// The command line, if the program cannot be started or fails.
pub fn step_with(folder: &Path, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let set: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    let line = format!("{set}{program} {}", arguments.join(" "));
    println!("==> {line}");
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("RUSTDOCFLAGS", "-D warnings")
        // Tests must compare pictures, even if the shell sets this variable.
        .env_remove("VITRIC_BLESS")
        .envs(variables.iter().copied())
        .status()
        .map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}
