//! State of a run: a file to which every outcome is appended immediately, so that a run can be
//! resumed.
//!
//! A header, then lines of `STATUS<tab>NAME<tab>MESSAGE`. An incomplete last line is ignored.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::outcome::{Record, Records, Status};

/// First line.
const HEADER: &str = "vitric cts deqp, state 1\n";

/// An open state file.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    file: File,
}

impl StateFile {
    /// Creates a file.
    ///
    /// # Errors
    /// The file cannot be created, or exists already: a forgotten option must not lose hours of
    /// results.
    pub fn begin(path: &Path) -> Result<Self, String> {
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{} exists already: continue it with --resume, or name another file", path.display())
            }
            _ => problem(path, &error),
        })?;
        let mut state = Self { path: path.to_owned(), file };
        state.write(HEADER)?;
        Ok(state)
    }

    /// Continues a file, and returns the outcomes in it. Creates the file if it does not exist.
    ///
    /// # Errors
    /// The file cannot be read, or is no state file.
    pub fn resume(path: &Path) -> Result<(Self, Records), String> {
        if !path.exists() {
            return Ok((Self::begin(path)?, Records::new()));
        }
        let text = std::fs::read(path).map_err(|error| problem(path, &error))?;
        // The end of the process or machine cut off the text behind the last line end.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let records = std::str::from_utf8(&text[..whole]).ok().and_then(parse);
        let records = records
            .ok_or_else(|| format!("{} cannot be resumed: expected a file that --state wrote", path.display()))?;
        let file = OpenOptions::new().append(true).open(path).map_err(|error| problem(path, &error))?;
        file.set_len(whole as u64).map_err(|error| problem(path, &error))?;
        Ok((Self { path: path.to_owned(), file }, records))
    }

    /// Appends an outcome.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, name: &str, record: &Record) -> Result<(), String> {
        self.write(&format!("{}\t{name}\t{}\n", record.status.word(), record.message))
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        self.file.write_all(text.as_bytes()).map_err(|error| problem(&self.path, &error))
    }
}

fn problem(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be used: {error}", path.display())
}

fn parse(text: &str) -> Option<Records> {
    let mut records = Records::new();
    for line in text.strip_prefix(HEADER)?.lines() {
        let mut parts = line.splitn(3, '\t');
        let status = Status::of(parts.next()?)?;
        let name = parts.next()?;
        records.insert(name.to_owned(), Record::new(status, parts.next()?));
    }
    Some(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(test: &str) -> PathBuf {
        std::env::temp_dir().join(format!("vitric-state-{test}-{}", std::process::id()))
    }

    #[test]
    fn a_run_goes_on_behind_the_last_whole_line() {
        let path = file("resume");
        let mut state = StateFile::begin(&path).unwrap();
        state.add("a.b", &Record::new(Status::Fail, "two words")).unwrap();
        drop(state);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("pass\ta.c");
        std::fs::write(&path, &text).unwrap();
        let (mut state, records) = StateFile::resume(&path).unwrap();
        assert_eq!(records, Records::from([("a.b".into(), Record::new(Status::Fail, "two words"))]));
        state.add("a.c", &Record::new(Status::Pass, "")).unwrap();
        let (_, records) = StateFile::resume(&path).unwrap();
        assert!(StateFile::begin(&path).is_err());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(records.len(), 2);
    }

    #[test]
    fn nothing_to_resume_is_a_beginning() {
        let path = file("begin");
        let (_, records) = StateFile::resume(&path).unwrap();
        let again = StateFile::resume(&path);
        std::fs::remove_file(&path).unwrap();
        assert!(records.is_empty() && again.unwrap().1.is_empty());
    }

    #[test]
    fn other_files_are_refused_and_left_as_they_are() {
        let path = file("other");
        for text in ["", "hello\n", "vitric cts deqp, state 1\nodd\ta.b\t\n", "vitric cts deqp, state 1\npass\ta.b\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(StateFile::resume(&path).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::remove_file(&path).unwrap();
        assert!(StateFile::begin(Path::new("/nowhere/at/all")).is_err());
    }
}
