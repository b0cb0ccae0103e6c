//! Counters of a program's devices, collected in one file.
//!
//! The driver writes a file for each device to the folder that its knob `VITRIC_COUNTERS` names
//! (`vitric-api`'s `report.rs`). `docs/counters.md` describes the schema of both files.

use crate::{Failure, manifest};
use serde_json::json;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Version of the schema.
const VERSION: u32 = 2;

/// A temporary folder for the files of devices, which is removed on drop.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a temporary folder.
    pub fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("vitric-counters-{}", std::process::id()));
        // A folder of an earlier process with this number.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).map_err(|e| {
            Failure::new(format!(
                "the folder {} cannot be created: {e}: set TMPDIR to a writable folder",
                path.display()
            ))
        })?;
        Ok(Self(path))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Removes all files and returns their texts.
    pub fn take(&self) -> Vec<String> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&self.0).into_iter().flatten().flatten().map(|file| file.path()).collect();
        files.sort();
        let text = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).ok();
            let _ = std::fs::remove_file(file);
            text
        };
        files.iter().filter_map(text).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

extern "C" fn ignore(_: libc::c_int) {}

/// Runs a program on this driver and waits for its end. The program handles interrupts from the
/// terminal itself.
pub fn wait(command: &mut Command) -> Result<ExitStatus, Failure> {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: the handler does nothing, so it may run at any time; the program that is started
        // gets the default action.
        unsafe { libc::signal(signal, ignore as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
    let program = command.get_program().to_owned();
    command.envs(manifest::variables()?).status().map_err(|error| start_failure(&program, &error))
}

/// Returns the failure of a program that cannot be started, with the exit codes of shells.
pub fn start_failure(program: &OsStr, error: &std::io::Error) -> Failure {
    let program = program.to_string_lossy();
    if error.kind() == std::io::ErrorKind::NotFound {
        return Failure {
            code: 127,
            message: format!("the program '{program}' was not found: expected a path, or a name in PATH"),
        };
    }
    Failure {
        code: 126,
        message: format!("the program '{program}' cannot be started: {error}: expected an executable file"),
    }
}

/// Returns the exit code of a program by the rules of shells.
pub fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Runs a program and writes the counters of its devices to an open file. Returns its exit code.
pub fn run(mut command: Command, words: &[OsString], (path, file): (&Path, File)) -> Result<u8, Failure> {
    let folder = Folder::new()?;
    let status = wait(command.env("VITRIC_COUNTERS", folder.path()))?;
    let devices = folder.take();
    if devices.is_empty() {
        eprintln!(
            "vitric: no counters: expected a program that creates a Vulkan device and destroys it, or exits normally"
        );
    }
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    if let Err(error) = write(&words, &devices, &mut BufWriter::new(file)) {
        eprintln!("vitric: --counters {}: counters cannot be written: {error}", path.display());
    }
    Ok(code(status))
}

/// Writes the file's JSON. The texts of devices are JSON already.
fn write(words: &[Cow<'_, str>], devices: &[String], out: &mut impl Write) -> std::io::Result<()> {
    write!(out, r#"{{"version":{VERSION},"program":{},"devices":["#, json!(words))?;
    for (number, device) in devices.iter().enumerate() {
        write!(out, "{}\n{}", if number > 0 { "," } else { "" }, device.trim_end())?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_gathered_as_json() {
        let mut out = Vec::new();
        write(&["a \"program\"".into()], &["{\"version\":2}\n".into(), "{}".into()], &mut out).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&read["version"], &read["program"][0]), (&json!(VERSION), &json!("a \"program\"")));
        assert_eq!(read["devices"], json!([{ "version": 2 }, {}]));
    }

    #[test]
    fn a_folder_goes_with_its_owner() {
        let folder = Folder::new().ok().unwrap();
        std::fs::write(folder.path().join("b"), "2").unwrap();
        std::fs::write(folder.path().join("a"), "1").unwrap();
        assert_eq!((folder.take(), folder.take()), (vec!["1".to_owned(), "2".to_owned()], vec![]));
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn exit_codes_are_those_of_shells() {
        let status = |script: &str| Command::new("sh").args(["-c", script]).status().unwrap();
        assert_eq!([code(status("exit 7")), code(status("kill -9 $$"))], [7, 137]);
    }
}
