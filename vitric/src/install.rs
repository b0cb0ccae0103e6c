//! `vitric install` and `vitric uninstall`: the manifest in a folder that the Vulkan loader
//! searches.
//!
//! The user's folder is $XDG_DATA_HOME/vulkan/icd.d (or ~/.local/share/vulkan/icd.d). The system's
//! folder is /etc/vulkan/icd.d, which the loader documents for packages outside of the
//! distribution.

use crate::{Failure, manifest};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The command to run.
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
    let folder = folder(&args, |name| std::env::var_os(name))?;
    match action {
        Action::Install => install(&folder),
        Action::Uninstall => uninstall(&folder),
    }
}

/// Returns the folder that the arguments and the environment's variables select.
fn folder(args: &[&str], variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
    match args {
        [] | ["--user"] => user_folder(variable),
        ["--system"] => Ok(PathBuf::from("/etc/vulkan/icd.d")),
        other => Err(Failure::usage(format!("'{}': expected --user or --system", other.join(" ")))),
    }
}

fn user_folder(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
    // Relative paths must be ignored ("XDG Base Directory Specification").
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    let data = data.ok_or_else(|| {
        Failure::new("neither XDG_DATA_HOME nor HOME is an absolute path: set one of them, or use --system")
    })?;
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
        Err(e) => return Err(Failure::new(format!("{} cannot be removed: {e}", path.display()))),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_user_and_of_the_system() {
        let folder = |args: &[&str], variables: &[(&str, &str)]| {
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            folder(args, variable).map(|path| path.display().to_string()).map_err(|failure| failure.code)
        };
        let (home, data) = (("HOME", "/home/a"), ("XDG_DATA_HOME", "/data"));
        assert_eq!(folder(&[], &[home]).as_deref(), Ok("/home/a/.local/share/vulkan/icd.d"));
        assert_eq!(folder(&["--user"], &[home, data]).as_deref(), Ok("/data/vulkan/icd.d"));
        let relative = folder(&[], &[home, ("XDG_DATA_HOME", "data")]);
        assert_eq!(relative.as_deref(), Ok("/home/a/.local/share/vulkan/icd.d"));
        assert_eq!(folder(&[], &[("HOME", "")]), Err(1));
        assert_eq!(folder(&["--system"], &[home, data]).as_deref(), Ok("/etc/vulkan/icd.d"));
        assert_eq!(folder(&["--user", "--system"], &[home]), Err(2));
    }
}
