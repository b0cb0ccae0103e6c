//! Checks by programs of crates.io: `typos` for spelling and `cargo-deny` for dependencies.
//!
//! The programs are built into `target/tools` once and stay there. A build without optimization
//! takes half as long as an optimized one, and the checks take seconds.

use std::path::Path;
use std::process::Command;

use crate::step::step_with;

/// A program of crates.io.
struct Tool {
    package: &'static str,
    /// Name of its executable.
    program: &'static str,
    /// Version that is built. It needs no newer compiler than the workspace.
    version: &'static str,
    /// Arguments of the check.
    arguments: &'static [&'static str],
}

const TOOLS: [Tool; 2] = [
    // `typos.toml` lists the words that are right.
    Tool { package: "typos-cli", program: "typos", version: "1.40.0", arguments: &[] },
    // `deny.toml` is the policy.
    Tool {
        package: "cargo-deny",
        program: "cargo-deny",
        version: "0.20.2",
        arguments: &["check", "--hide-inclusion-graph", "bans", "licenses", "sources"],
    },
];

/// Checks the spelling of all files and the dependencies in `Cargo.lock`, after building the
/// programs that are missing.
///
/// # Errors
/// The first step that fails.
pub fn run(root: &Path) -> Result<(), String> {
    let folder = root.join("target/tools");
    for tool in TOOLS {
        let program = folder.join("bin").join(tool.program);
        if !tool.is_installed(&program) {
            let (folder, package) = (folder.to_string_lossy(), format!("{}@{}", tool.package, tool.version));
            let arguments = ["install", "--quiet", "--debug", "--locked", "--root", &folder, &package];
            step_with(root, "cargo", &arguments, &[("CARGO_PROFILE_DEV_DEBUG", "0")])?;
        }
        step_with(root, &program.to_string_lossy(), tool.arguments, &[])?;
    }
    Ok(())
}

impl Tool {
    /// Returns true if the executable has the version.
    fn is_installed(&self, program: &Path) -> bool {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim_end().ends_with(self.version))
    }
}
