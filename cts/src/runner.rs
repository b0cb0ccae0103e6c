//! Runner of this crate's own cases: filters, a process for each group, timeouts, reports.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::expectations::{Expectations, Skips, matches};
use crate::harness::{Gpu, Outcome};
use crate::outcome::{Record, Records, Status, group_of};
use crate::process::{Event, Stop, watch};
use crate::report::{Files, Report};
use crate::{Entry, cases};

/// Parts of a name that form the group: `chapter.group`.
const DEPTH: usize = 2;

/// Beginnings of the lines that a child process writes before and after each case.
const BEGIN: &str = "begin ";
const END: &str = "end ";

#[derive(Debug)]
struct Options {
    filters: Vec<String>,
    share: Share,
    list: bool,
    timeout: Duration,
    files: Files,
    loader: bool,
    expectations: PathBuf,
    isolation: bool,
    /// Runs these cases in this process. Child processes are started with this option.
    child: Option<String>,
}

/// A part of the cases: those whose position among the filtered ones is `index` modulo `count`.
#[derive(Debug, Clone, Copy)]
struct Share {
    index: usize,
    count: usize,
}

impl Share {
    /// Parses `index/count`.
    fn parse(text: &str) -> Option<Self> {
        let (index, count) = text.split_once('/')?;
        let share = Self { index: index.parse().ok()?, count: count.parse().ok()? };
        (share.index < share.count).then_some(share)
    }
}

const USAGE: &str = "usage: cts [--filter GLOB]... [--share I/N] [--list] [--timeout SECONDS] \
[--json FILE] [--junit FILE] [--loader] [--expectations DIR] [--no-isolation]";

fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let default = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/expectations"));
    let mut options = Options {
        filters: Vec::new(),
        share: Share { index: 0, count: 1 },
        list: false,
        timeout: Duration::from_secs(60),
        files: Files::default(),
        loader: false,
        expectations: default,
        isolation: true,
        child: None,
    };
    let mut args = args;
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg}: expected a value after it; {USAGE}"));
        match arg.as_str() {
            "--filter" => options.filters.push(value()?),
            "--share" => options.share = share(&value()?)?,
            "--list" => options.list = true,
            "--timeout" => options.timeout = seconds(&value()?)?,
            "--json" => options.files.json = Some(value()?.into()),
            "--junit" => options.files.junit = Some(value()?.into()),
            "--loader" => options.loader = true,
            "--expectations" => options.expectations = value()?.into(),
            "--no-isolation" => options.isolation = false,
            "--child" => options.child = Some(value()?),
            _ => return Err(format!("'{arg}' is not an option; {USAGE}")),
        }
    }
    Ok(options)
}

fn share(text: &str) -> Result<Share, String> {
    Share::parse(text).ok_or_else(|| format!("--share {text}: expected I/N with I less than N, such as 0/3; {USAGE}"))
}

/// Parses a time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| format!("--timeout {text}: expected a whole number of seconds; {USAGE}"))?;
    Ok(Duration::from_secs(seconds))
}

/// Runs the suite with command-line arguments. `linked` is the entry of a linked driver, if there
/// is one.
pub fn main(args: impl Iterator<Item = String>, linked: Option<ash::Entry>) -> ExitCode {
    match parse(args).and_then(|options| run(&options, linked)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("cts: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options, linked: Option<ash::Entry>) -> Result<bool, String> {
    let chosen =
        |entry: &Entry| options.filters.is_empty() || options.filters.iter().any(|filter| matches(filter, &entry.name));
    let mut entries: Vec<Entry> = cases::all().into_iter().filter(chosen).collect();
    if entries.is_empty() {
        return Err(format!(
            "--filter {}: no case matches: expected a pattern of a name that --list prints",
            options.filters.join(" --filter ")
        ));
    }
    let Share { index, count } = options.share;
    entries = entries.into_iter().skip(index).step_by(count).collect();
    if options.list {
        entries.iter().for_each(|entry| println!("{} ({})", entry.name, entry.section));
        return Ok(true);
    }
    let source = || match (options.loader, &linked) {
        (false, Some(entry)) => Ok(entry.clone()),
        // SAFETY: the system's loader is a well-behaved library; it stays loaded as long as the
        // entry.
        _ => unsafe { ash::Entry::load() }
            .map_err(|error| format!("the Vulkan loader cannot be opened: {error}: install it (libvulkan.so.1)")),
    };
    if let Some(group) = &options.child {
        run_here(&entries, Some(group), &source()?)?;
        return Ok(true);
    }
    let mut outcomes = Records::new();
    if options.isolation {
        for group in groups(&entries) {
            run_group(options, &entries, &group, &mut outcomes)?;
        }
    } else {
        outcomes.extend(run_here(&entries, None, &source()?)?);
    }
    report(options, &outcomes)
}

fn groups(entries: &[Entry]) -> Vec<String> {
    // A group runs once, also when its cases do not stand together.
    let mut seen = std::collections::HashSet::new();
    entries
        .iter()
        .map(|entry| group_of(&entry.name, DEPTH).to_owned())
        .filter(|group| seen.insert(group.clone()))
        .collect()
}

/// Runs cases in this process, after the given case if `child` is `group:case`.
fn run_here(entries: &[Entry], child: Option<&str>, source: &ash::Entry) -> Result<Records, String> {
    let (group, after) = child.map_or((None, None), |child| match child.split_once(':') {
        Some((group, after)) => (Some(group), Some(after)),
        None => (Some(child), None),
    });
    let gpu = Gpu::new(source.clone()).map_err(|outcome| format!("no device can be opened: {outcome:?}"))?;
    let mut outcomes = Records::new();
    let mut skipping = after.is_some();
    for entry in entries.iter().filter(|entry| group.is_none_or(|group| group_of(&entry.name, DEPTH) == group)) {
        if skipping {
            skipping = after != Some(entry.name.as_str());
            continue;
        }
        if child.is_some() {
            println!("{BEGIN}{}", entry.name);
        }
        let record = record_of((entry.run)(&gpu));
        if child.is_some() {
            println!("{END}{} {}", record.status.word(), record.message);
        }
        let _ = std::io::stdout().flush();
        outcomes.insert(entry.name.clone(), record);
    }
    Ok(outcomes)
}

fn record_of(outcome: Result<(), Outcome>) -> Record {
    match outcome {
        Ok(()) => Record::new(Status::Pass, ""),
        Err(Outcome::Fail(message)) => Record::new(Status::Fail, message),
        Err(Outcome::NotSupported(message)) => Record::new(Status::Unsupported, message),
    }
}

/// Runs a group in processes. After a crash or hang, a new process continues behind the case.
fn run_group(options: &Options, entries: &[Entry], group: &str, outcomes: &mut Records) -> Result<(), String> {
    let mut child = group.to_owned();
    while let Some((name, record)) = run_child(options, &child, outcomes)?.case {
        child = format!("{group}:{name}");
        outcomes.insert(name, record);
    }
    for entry in entries.iter().filter(|entry| group_of(&entry.name, DEPTH) == group) {
        let missing = || Record::new(Status::Crash, "the process ended before it");
        outcomes.entry(entry.name.clone()).or_insert_with(missing);
    }
    Ok(())
}

/// Runs a child process.
fn run_child(options: &Options, group: &str, outcomes: &mut Records) -> Result<Stop, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("the path of this program cannot be read: {error}"))?;
    let mut command = Command::new(program);
    if std::env::args().nth(1).as_deref() == Some("cts") {
        command.arg("cts");
    }
    command.args(["--child", group]);
    for filter in &options.filters {
        command.args(["--filter", filter]);
    }
    command.args(["--share", &format!("{}/{}", options.share.index, options.share.count)]);
    if options.loader {
        command.arg("--loader");
    }
    watch(&mut command, options.timeout, parse_line, |name, record| drop(outcomes.insert(name, record)))
}

/// Interprets a child's line.
fn parse_line(line: &str) -> Event {
    if let Some(name) = line.strip_prefix(BEGIN) {
        return Event::Begins(name.to_owned());
    }
    let Some(rest) = line.strip_prefix(END) else { return Event::Nothing };
    let (word, message) = rest.split_once(' ').unwrap_or((rest, ""));
    Status::of(word).map_or_else(|| Event::Unknown(rest.to_owned()), |status| Event::Ends(Record::new(status, message)))
}

fn report(options: &Options, outcomes: &Records) -> Result<bool, String> {
    let expectations = Expectations::read(&options.expectations, Skips::Unsupported)?;
    let report = Report::new(outcomes, &expectations, DEPTH);
    print!("{}", report.summary());
    report.write(&options.files)?;
    Ok(report.is_clean())
}
