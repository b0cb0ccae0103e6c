//! `vitric run`: runs any Vulkan program on this driver.
//!
//! The command writes a manifest, points the loader at it and becomes the program, unless it
//! collects counters afterwards.

use crate::{Failure, counted, manifest};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[derive(Debug, Default, PartialEq)]
struct Args {
    knobs: Vec<(String, OsString)>,
    counters: Option<PathBuf>,
    program: OsString,
    rest: Vec<OsString>,
}

/// Runs the command.
pub fn command(args: &[OsString]) -> Result<ExitCode, Failure> {
    let args = parse(args)?;
    let mut program = Command::new(&args.program);
    program.args(&args.rest).envs(args.knobs.iter().map(|(name, value)| (name, value)));
    if let Some(path) = &args.counters {
        match File::create(path) {
            Ok(file) => {
                let words: Vec<_> = std::iter::once(&args.program).chain(&args.rest).cloned().collect();
                return counted::run(program, &words, (path, file)).map(ExitCode::from);
            }
            Err(error) => eprintln!("vitric: --counters {}: the file cannot be created: {error}", path.display()),
        }
    }
    let error = program.envs(manifest::variables()?).exec();
    Err(counted::start_failure(&args.program, &error))
}

fn parse(words: &[OsString]) -> Result<Args, Failure> {
    let mut args = Args::default();
    let mut words = words.iter();
    let mut next = words.next();
    while let Some(word) = next {
        match word.to_str() {
            Some("--set") => args.knobs.push(knob(words.next())?),
            Some("--counters") => {
                let file = words.next().ok_or_else(|| Failure::usage("--counters: expected a file name after it"))?;
                args.counters = Some(file.into());
            }
            Some("--") => {
                next = words.next();
                break;
            }
            Some(other) if other.starts_with('-') => {
                return Err(Failure::usage(format!(
                    "'{other}' is not an option of `vitric run`: options of the program follow its name"
                )));
            }
            _ => break,
        }
        next = words.next();
    }
    args.program = next.cloned().ok_or_else(|| Failure::usage("vitric run: expected a program"))?;
    args.rest = words.cloned().collect();
    Ok(args)
}

/// Parses `NAME=VALUE` as an environment variable of the driver.
fn knob(word: Option<&OsString>) -> Result<(String, OsString), Failure> {
    let wrong = || Failure::usage(format!("--set {:?}: expected KNOB=VALUE", word.unwrap_or(&OsString::new())));
    let (name, value) = word.and_then(|w| w.to_str()).and_then(|w| w.split_once('=')).ok_or_else(wrong)?;
    if name.is_empty() {
        return Err(wrong());
    }
    let name = name.to_ascii_uppercase();
    let name = if name.starts_with("VITRIC_") { name } else { format!("VITRIC_{name}") };
    Ok((name, value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Args, Failure> {
        parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_end_at_the_program_or_at_two_dashes() {
        let args = parsed(&["--set", "threads=2", "vkcube", "--c", "120"]).ok().unwrap();
        assert_eq!(args.knobs, [("VITRIC_THREADS".to_owned(), "2".into())]);
        assert_eq!((args.program.to_str(), args.rest.len()), (Some("vkcube"), 2));
        let args = parsed(&["--", "--odd"]).ok().unwrap();
        assert_eq!((args.program.to_str(), args.rest.len()), (Some("--odd"), 0));
    }

    #[test]
    fn wrong_usage_is_reported() {
        for words in [
            &[][..],
            &["--"],
            &["--set"],
            &["--counters"],
            &["--counters", "x"],
            &["--set", "x", "p"],
            &["--set", "=x", "p"],
            &["--what", "p"],
        ] {
            assert_eq!(parsed(words).err().map(|f| f.code), Some(2), "{words:?}");
        }
    }

    #[test]
    fn a_missing_program_is_127() {
        let error = Command::new("/nowhere/at/all").exec();
        assert_eq!(counted::start_failure(std::ffi::OsStr::new("/nowhere/at/all"), &error).code, 127);
    }
}
