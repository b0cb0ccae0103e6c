//! Runs cases in groups: a process for each group, several at the same time, and another process
//! for the rest of a group after a crash or hang.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::output;
use super::progress::Progress;
use super::state::StateFile;
use crate::outcome::{Record, Records, Status, group_of};
use crate::process::{Stop, watch};

/// How the runner is started.
#[derive(Debug)]
pub struct Runner {
    /// Absolute path of Khronos' program. It runs in its folder, where its data are.
    pub binary: PathBuf,
    /// Environment variables beside those of this process.
    pub environment: Vec<(String, PathBuf)>,
    /// Longest time without the beginning or end of a case.
    pub timeout: Duration,
}

/// Receiver of outcomes.
#[derive(Debug)]
pub struct Sink {
    /// Outcomes so far.
    pub records: Records,
    /// The file that keeps them.
    pub state: Option<StateFile>,
    /// The display of the progress.
    pub progress: Progress,
}

impl Sink {
    fn add(&mut self, name: &str, record: Record) -> Result<(), String> {
        if let Some(state) = &mut self.state {
            state.add(name, &record)?;
        }
        self.progress.add(record.status);
        self.records.insert(name.to_owned(), record);
        Ok(())
    }
}

/// Cuts a list into groups of at most `size` cases whose names begin with the same two parts,
/// because Khronos' runner builds the trees of all tests that its list names.
pub fn groups(names: &[String], size: usize) -> Vec<&[String]> {
    names
        .chunk_by(|a, b| group_of(a, 2) == group_of(b, 2))
        .flat_map(|of_a_kind| of_a_kind.chunks(size.max(1)))
        .collect()
}

/// Runs all groups, `jobs` at a time.
///
/// # Errors
/// The runner cannot be started, or a file cannot be written.
pub fn run(runner: &Runner, groups: &[&[String]], jobs: usize, sink: Sink) -> Result<Sink, String> {
    let sink = Mutex::new(sink);
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = |number: usize| {
        let folder = Folder::new(number)?;
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            run_group(runner, &folder.0, group, &sink).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.clamp(1, 256)).map(|number| scope.spawn(move || work(number))).collect();
        threads
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    Err("a thread of the runner panicked. This is a bug in Vitric: please report it".into())
                })
            })
            .collect()
    });
    let sink = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
    sink.progress.end();
    results.into_iter().collect::<Result<Vec<()>, String>>().map(|_| sink)
}

/// A temporary folder for the files of one worker.
struct Folder(PathBuf);

impl Folder {
    fn new(number: usize) -> Result<Self, String> {
        // Only tests run several times in a process, and then at the same time.
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("vitric-deqp-{}-{run}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("the folder {} cannot be created: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The cases of a group that have no outcome yet.
struct Waiting<'a> {
    names: HashSet<&'a str>,
    sink: &'a Mutex<Sink>,
    problem: Result<(), String>,
}

impl Waiting<'_> {
    /// Takes an outcome. Outcomes of unknown or finished cases are ignored.
    fn end(&mut self, name: &str, record: Record) {
        if self.names.remove(name) && self.problem.is_ok() {
            self.problem = self.sink.lock().unwrap_or_else(PoisonError::into_inner).add(name, record);
        }
    }
}

/// Runs a group. Every process ends at least one case, or the last one ends all that are left.
fn run_group(runner: &Runner, folder: &Path, group: &[String], sink: &Mutex<Sink>) -> Result<(), String> {
    let mut waiting = Waiting { names: group.iter().map(String::as_str).collect(), sink, problem: Ok(()) };
    while !waiting.names.is_empty() && waiting.problem.is_ok() {
        let left: Vec<&str> = group.iter().map(String::as_str).filter(|name| waiting.names.contains(name)).collect();
        let stop = run_process(runner, folder, &left, |name, record| waiting.end(&name, record))?;
        if let Some((name, record)) = &stop.case {
            waiting.end(name, with_last_output(record.clone(), folder));
        }
        if waiting.names.len() == left.len() {
            let record = not_run(&stop, folder);
            left.iter().for_each(|name| waiting.end(name, record.clone()));
        }
    }
    waiting.problem
}

/// Runs a process with a list of cases.
fn run_process(
    runner: &Runner,
    folder: &Path,
    names: &[&str],
    each: impl FnMut(String, Record),
) -> Result<Stop, String> {
    let list = folder.join("cases.txt");
    let errors = folder.join("errors.txt");
    let problem = |path: &Path, error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    std::fs::write(&list, names.join("\n") + "\n").map_err(|error| problem(&list, error))?;
    let log = File::create(&errors).map_err(|error| problem(&errors, error))?;
    watch(&mut command(runner, folder, &list, log), runner.timeout, output::parse_line, each)
}

fn command(runner: &Runner, folder: &Path, list: &Path, errors: File) -> Command {
    let option = |name: &str, file: &Path| {
        let mut word = std::ffi::OsString::from(name);
        word.push(file);
        word
    };
    let mut command = Command::new(&runner.binary);
    command
        .arg(option("--deqp-caselist-file=", list))
        .arg(option("--deqp-log-filename=", &folder.join("results.qpa")))
        .arg(option("--deqp-shadercache-filename=", &folder.join("shaders.bin")))
        .args(["--deqp-log-images=disable", "--deqp-log-shader-sources=disable", "--deqp-log-decompiled-spirv=disable"])
        .stderr(Stdio::from(errors))
        .envs(runner.environment.iter().map(|(name, value)| (name, value)));
    if let Some(home) = runner.binary.parent() {
        command.current_dir(home);
    }
    command
}

/// Returns the outcome of cases that did not run before the process ended.
fn not_run(stop: &Stop, folder: &Path) -> Record {
    if stop.success {
        return Record::new(Status::Missing, "the runner did not run it");
    }
    let message = match stop.outcome {
        Status::Timeout => format!("the runner began no case: {}", stop.how),
        _ => format!("the runner {} before any case", stop.how),
    };
    with_last_output(Record::new(stop.outcome, message), folder)
}

/// Adds the last output of the process to a crash.
fn with_last_output(record: Record, folder: &Path) -> Record {
    match last_line(&folder.join("errors.txt")) {
        Some(line) if record.status == Status::Crash => {
            Record::new(record.status, format!("{}: {line}", record.message))
        }
        _ => record,
    }
}

/// Returns the last line of a file that is not empty.
fn last_line(file: &Path) -> Option<String> {
    use std::io::{Read, Seek, SeekFrom};
    const TAIL: u64 = 4096;
    let mut file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let text = String::from_utf8_lossy(&tail);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_small_and_of_a_kind() {
        let names: Vec<String> = ["d.a.x", "d.a.y", "d.a.z", "d.b.x", "d.a.w"].map(str::to_owned).to_vec();
        let lengths = |size| groups(&names, size).iter().map(|group| group.len()).collect::<Vec<_>>();
        assert_eq!(lengths(2), [2, 1, 1, 1]);
        assert_eq!(lengths(100), [3, 1, 1]);
        assert_eq!(lengths(0), [1; 5]);
        assert!(groups(&[], 5).is_empty());
    }
}
