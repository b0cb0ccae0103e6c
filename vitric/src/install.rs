//! `vitric install` and `vitric uninstall`: the manifest where the Vulkan loader looks for drivers.
//!
//! The user's folder is $XDG_DATA_HOME/vulkan/icd.d (or ~/.local/share/vulkan/icd.d); the system's is
//! /etc/vulkan/icd.d, which the loader documents for packages outside the distribution.

use crate::{Failure, manifest};
use std::path::PathBuf;
use std::process::ExitCode;

/// Which of the two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Write the manifest.
    Install,
    /// Remove it.
    Uninstall,
}

/// Runs the command.
pub fn command(args: &[String], action: Action) -> Result<ExitCode, Failure> {
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let folder = match args.as_slice() {
        [] | ["--user"] => user_folder()?,
        ["--system"] => PathBuf::from("/etc/vulkan/icd.d"),
        other => return Err(Failure::usage(format!("unexpected arguments: {}", other.join(" ")))),
    };
    match action {
        Action::Install => install(&folder),
        Action::Uninstall => uninstall(&folder),
    }
}

fn user_folder() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    let data = data.ok_or_else(|| Failure::new("neither XDG_DATA_HOME nor HOME is set to an absolute path"))?;
    Ok(data.join("vulkan/icd.d"))
}

fn install(folder: &std::path::Path) -> Result<ExitCode, Failure> {
    let library = manifest::library()?;
    let path = manifest::write(folder, &library)?;
    println!("installed {} for {}", path.display(), library.display());
    Ok(ExitCode::SUCCESS)
}

fn uninstall(folder: &std::path::Path) -> Result<ExitCode, Failure> {
    let path = folder.join(manifest::MANIFEST);
    match std::fs::remove_file(&path) {
        Ok(()) => println!("removed {}", path.display()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => println!("{} is not installed", path.display()),
        Err(e) => return Err(Failure::new(format!("{} can not be removed: {e}", path.display()))),
    }
    Ok(ExitCode::SUCCESS)
}
