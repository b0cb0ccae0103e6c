//! Programs that the checks run.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

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
    let line = line(program, arguments, variables);
    println!("==> {line}");
    finish(&mut command(folder, program, arguments, variables), &line)
}

/// Runs a program beside others: its output goes to a file in `target/`, named by the first
/// variable's value, and is printed when the program ends.
///
/// # Errors
/// The command line, if the file cannot be written, or the program cannot be started or fails.
pub fn step_in_file(
    folder: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<(), String> {
    let line = line(program, arguments, variables);
    let target = folder.join("target");
    let path = target.join(format!("test-{}.txt", variables.first().map_or(program, |first| first.1)));
    println!("==> {line} > {}", path.display());
    let failed = |error| format!("{line}: {}: {error}", path.display());
    // The folder is missing if `CARGO_TARGET_DIR` names another one.
    std::fs::create_dir_all(&target).map_err(failed)?;
    let output = File::create(&path).map_err(failed)?;
    let errors = output.try_clone().map_err(failed)?;
    let mut command = command(folder, program, arguments, variables);
    let result = finish(command.stdout(Stdio::from(output)).stderr(Stdio::from(errors)), &line);
    let text = std::fs::read(&path).map_err(failed)?;
    println!("==> output of {line}\n{}", String::from_utf8_lossy(&text));
    result
}

fn line(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let set: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    format!("{set}{program} {}", arguments.join(" "))
}

fn command(folder: &Path, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    // Knobs of the calling shell would change what is tested, and `VITRIC_BLESS` would write
    // expected files instead of comparing them.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("VITRIC_")) {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(folder)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("RUSTDOCFLAGS", "-D warnings")
        .envs(variables.iter().copied());
    command
}

fn finish(command: &mut Command, line: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}
