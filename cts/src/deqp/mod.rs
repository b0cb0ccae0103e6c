//! Khronos' conformance suite: its runner `deqp-vk` is started with lists of cases, watched, and
//! its outcomes compared with expectation lists.
//!
//! A crash or a hang costs one case. Every outcome is kept at once, so that a run of days can be
//! stopped and resumed. Khronos' program and lists are not part of this repository. Source:
//! KhronosGroup/VK-GL-CTS, `external/vulkancts/README.md`.

mod groups;
mod ledger;
mod list;
mod output;
mod progress;
mod state;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::expectations::{Expectations, Skips, matches};
use crate::outcome::Records;
use crate::report::{Files, Report};
use groups::{Runner, Sink};
use ledger::LedgerOptions;
use progress::Progress;
use state::StateFile;

const USAGE: &str = "usage: cts deqp --binary DEQP-VK --caselist FILE|DIR.. [--filter GLOB].. [--sample N] [--list] \
[--jobs N] [--group N] [--timeout SECONDS] [--state FILE [--resume]] [--json FILE] [--junit FILE] [--depth N] \
[--expectations DIR] [--loader], or with --ledger FILE [--suite-commit COMMIT] [--driver-commit COMMIT] [--shard N] \
[--budget MINUTES] in the place of --sample, --state, --json and --junit";

/// The driver under test.
#[derive(Debug, Default)]
pub struct Driver {
    /// Variables with which the system's loader finds it. Without them, it is the first device of
    /// the loader.
    pub variables: Vec<(String, PathBuf)>,
    /// Returns the digest of the sources from which it was built.
    pub sources: Option<fn() -> Result<String, String>>,
}

impl Driver {
    /// Returns the digest of its sources, or `unknown`.
    fn digest(&self) -> Result<String, String> {
        self.sources.map_or(Ok("unknown".to_owned()), |sources| sources())
    }
}

#[derive(Debug)]
struct Options {
    binary: Option<PathBuf>,
    lists: Vec<PathBuf>,
    filters: Vec<String>,
    sample: usize,
    list: bool,
    jobs: usize,
    group: usize,
    timeout: Duration,
    state: Option<PathBuf>,
    resume: bool,
    files: Files,
    depth: usize,
    expectations: PathBuf,
    loader: bool,
    ledger: LedgerOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            binary: None,
            lists: Vec::new(),
            filters: Vec::new(),
            sample: 1,
            list: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            group: 200,
            timeout: Duration::from_secs(60),
            state: None,
            resume: false,
            files: Files::default(),
            depth: 2,
            expectations: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/expectations/deqp")),
            loader: false,
            ledger: LedgerOptions::default(),
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg}: expected a value after it; {USAGE}"));
        match arg.as_str() {
            "--binary" => options.binary = Some(value()?.into()),
            "--caselist" => options.lists.push(value()?.into()),
            "--filter" => options.filters.push(value()?),
            "--sample" => options.sample = number(&arg, &value()?)?,
            "--list" => options.list = true,
            "--jobs" => options.jobs = number(&arg, &value()?)?,
            "--group" => options.group = number(&arg, &value()?)?,
            "--timeout" => options.timeout = Duration::from_secs(number(&arg, &value()?)? as u64),
            "--state" => options.state = Some(value()?.into()),
            "--resume" => options.resume = true,
            "--json" => options.files.json = Some(value()?.into()),
            "--junit" => options.files.junit = Some(value()?.into()),
            "--depth" => options.depth = number(&arg, &value()?)?,
            "--expectations" => options.expectations = value()?.into(),
            "--loader" => options.loader = true,
            "--ledger" => options.ledger.file = Some(value()?.into()),
            "--suite-commit" => options.ledger.suite = Some(commit(&arg, value()?)?),
            "--driver-commit" => options.ledger.driver = Some(commit(&arg, value()?)?),
            "--shard" => options.ledger.shard = Some(number(&arg, &value()?)?),
            "--budget" => options.ledger.budget = Some(Duration::from_secs(60 * number(&arg, &value()?)? as u64)),
            _ => return Err(format!("'{arg}' is not an option; {USAGE}")),
        }
    }
    if options.resume && options.state.is_none() {
        return Err(format!("--resume: expected --state with the file to continue; {USAGE}"));
    }
    let Files { json, junit } = &options.files;
    let is_part = options.sample > 1 || options.state.is_some() || json.is_some() || junit.is_some();
    match options.ledger.file {
        Some(_) if is_part => {
            Err(format!("--ledger: expected none of --sample, --state, --json and --junit with it; {USAGE}"))
        }
        None if options.ledger.is_given() => Err(format!("no ledger: expected --ledger with its file; {USAGE}")),
        _ => Ok(options),
    }
}

/// Parses a commit: its first 7 or more hexadecimal digits.
fn commit(option: &str, text: String) -> Result<String, String> {
    let is_hash = (7..=40).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hash {
        Ok(text)
    } else {
        Err(format!("{option} {text}: expected 7 to 40 hexadecimal digits in small letters"))
    }
}

/// Parses a number of an option: from 1 to a million.
fn number(option: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    number.ok_or_else(|| format!("{option} {text}: expected a whole number from 1 to 1000000"))
}

/// Runs Khronos' suite with command-line arguments. `driver` returns the driver under test. It is
/// not used with `--loader`.
pub fn main(args: impl Iterator<Item = String>, driver: impl FnOnce() -> Result<Driver, String>) -> ExitCode {
    match parse(args).and_then(|options| run(&options, driver)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("cts deqp: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options, driver: impl FnOnce() -> Result<Driver, String>) -> Result<bool, String> {
    let expectations = Expectations::read(&options.expectations, Skips::NotRun)?;
    if let Some(file) = &options.ledger.file {
        return ledger::run(file, options, &expectations, driver);
    }
    let names = chosen(options, &expectations)?;
    if options.list {
        names.iter().for_each(|name| println!("{name}"));
        return Ok(true);
    }
    let binary = binary(options.binary.as_deref())?;
    let environment = if options.loader { Vec::new() } else { driver()?.variables };
    let runner = Runner { binary, environment, timeout: options.timeout };
    let records = run_cases(options, &runner, names)?;
    let report = Report::new(&records, &expectations, options.depth);
    print!("{}\n{}", report.summary(), report.table());
    report.write(&options.files)?;
    Ok(report.is_clean())
}

/// Returns all cases but those of `skips.txt`.
fn listed(options: &Options, expectations: &Expectations) -> Result<Vec<String>, String> {
    if options.lists.is_empty() {
        return Err(format!("no list of cases: expected --caselist; {USAGE}"));
    }
    let mut names = list::read(&options.lists)?;
    names.retain(|name| !expectations.skips(name));
    Ok(names)
}

/// Returns the cases to run.
fn chosen(options: &Options, expectations: &Expectations) -> Result<Vec<String>, String> {
    let fits = |name: &String| options.filters.is_empty() || options.filters.iter().any(|filter| matches(filter, name));
    let names = listed(options, expectations)?.into_iter().filter(fits).collect();
    let names = list::sample(names, options.sample);
    if names.is_empty() {
        return Err(
            "no case is left to run: expected cases that --filter and --sample select and skips.txt does not list"
                .into(),
        );
    }
    Ok(names)
}

fn binary(path: Option<&Path>) -> Result<PathBuf, String> {
    let path = path.ok_or_else(|| format!("no runner: expected --binary with the path of deqp-vk; {USAGE}"))?;
    let found = path.canonicalize().map_err(|error| format!("--binary {}: {error}", path.display()))?;
    if found.is_file() { Ok(found) } else { Err(format!("--binary {}: expected a file", path.display())) }
}

/// Runs the cases without an outcome. Returns the outcomes of all chosen cases.
fn run_cases(options: &Options, runner: &Runner, names: Vec<String>) -> Result<Records, String> {
    let (state, mut known) = match &options.state {
        None => (None, Records::new()),
        Some(path) if options.resume => StateFile::resume(path).map(|(state, known)| (Some(state), known))?,
        Some(path) => (Some(StateFile::begin(path)?), Records::new()),
    };
    let chosen: std::collections::HashSet<&String> = names.iter().collect();
    known.retain(|name, _| chosen.contains(name));
    let total = names.len();
    let left: Vec<String> = names.into_iter().filter(|name| !known.contains_key(name)).collect();
    let progress = Progress::new(total, known.len());
    let sink = Sink { records: known, state, progress };
    Ok(groups::run(runner, &groups::groups(&left, options.group), options.jobs, sink)?.records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Options, String> {
        parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let options = parsed("--binary b --caselist x --caselist y --sample 3 --jobs 2 --state s --resume").unwrap();
        assert_eq!((options.lists.len(), options.sample, options.jobs), (2, 3, 2));
    }

    #[test]
    fn wrong_usage_is_reported() {
        for words in ["--what", "--binary", "--sample 0", "--jobs -1", "--timeout x", "--group 1000001", "--resume"] {
            assert!(parsed(words).is_err(), "{words}");
        }
    }

    #[test]
    fn a_ledger_is_of_whole_runs() {
        let options = parsed("--ledger l --suite-commit 0123abc --driver-commit fedcba9 --shard 9 --budget 2").unwrap();
        assert_eq!(options.ledger.budget, Some(Duration::from_secs(120)));
        assert_eq!((options.ledger.shard, options.ledger.suite.as_deref()), (Some(9), Some("0123abc")));
        for words in [
            "--ledger l --sample 2",
            "--ledger l --state s",
            "--ledger l --json j",
            "--budget 2",
            "--ledger l --budget 0",
            "--ledger l --driver-commit main",
            "--ledger l --suite-commit 0123ab",
        ] {
            assert!(parsed(words).is_err(), "{words}");
        }
    }
}
