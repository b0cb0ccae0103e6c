//! The runner: filter, processes, timeout, summary in text and JSON.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::expectations::{Expectations, matches};
use crate::harness::{Gpu, Outcome};
use crate::{Entry, cases};

/// Line that a child process starts before and ends behind each case with.
const BEGIN: &str = "begin ";
const END: &str = "end ";

#[derive(Debug)]
struct Options {
    filters: Vec<String>,
    list: bool,
    timeout: Duration,
    json: Option<PathBuf>,
    loader: bool,
    expectations: PathBuf,
    isolation: bool,
    /// Runs these cases in this process: what a child is started with.
    child: Option<String>,
}

const USAGE: &str = "usage: cts [--filter GLOB]... [--list] [--timeout SECONDS] [--json FILE] [--loader] \
[--expectations DIR] [--no-isolation]";

fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let default = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/expectations"));
    let mut options = Options {
        filters: Vec::new(),
        list: false,
        timeout: Duration::from_secs(60),
        json: None,
        loader: false,
        expectations: default,
        isolation: true,
        child: None,
    };
    let mut args = args;
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value; {USAGE}"));
        match arg.as_str() {
            "--filter" => options.filters.push(value()?),
            "--list" => options.list = true,
            "--timeout" => options.timeout = Duration::from_secs(value()?.parse().map_err(|_| USAGE.to_owned())?),
            "--json" => options.json = Some(value()?.into()),
            "--loader" => options.loader = true,
            "--expectations" => options.expectations = value()?.into(),
            "--no-isolation" => options.isolation = false,
            "--child" => options.child = Some(value()?),
            _ => return Err(format!("'{arg}' is unknown; {USAGE}")),
        }
    }
    Ok(options)
}

/// Runs the suite with command-line arguments. `linked` gives the entry of a linked driver, when there is one.
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
    let entries: Vec<Entry> = cases::all().into_iter().filter(chosen).collect();
    if options.list {
        entries.iter().for_each(|entry| println!("{} ({})", entry.name, entry.section));
        return Ok(true);
    }
    if entries.is_empty() {
        return Err("no case fits the filters".into());
    }
    let source = || match (options.loader, &linked) {
        (false, Some(entry)) => Ok(entry.clone()),
        // SAFETY: the system's loader is a well-behaved library; it stays loaded as long as the entry.
        _ => unsafe { ash::Entry::load() }.map_err(|error| error.to_string()),
    };
    if let Some(group) = &options.child {
        run_here(&entries, Some(group), &source()?)?;
        return Ok(true);
    }
    let mut outcomes = BTreeMap::new();
    if options.isolation {
        for group in groups(&entries) {
            run_group(options, &entries, &group, &mut outcomes)?;
        }
    } else {
        outcomes.extend(run_here(&entries, None, &source()?)?);
    }
    report(options, &outcomes)
}

/// `chapter.group` of a name.
fn group_of(name: &str) -> String {
    name.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}

fn groups(entries: &[Entry]) -> Vec<String> {
    // A group runs once, also when its cases do not stand together.
    let mut seen = std::collections::HashSet::new();
    entries.iter().map(|entry| group_of(&entry.name)).filter(|group| seen.insert(group.clone())).collect()
}

type Outcomes = BTreeMap<String, (String, String)>;

/// Runs cases in this process, from `first` on when it is `group:case`.
fn run_here(entries: &[Entry], child: Option<&str>, source: &ash::Entry) -> Result<Outcomes, String> {
    let (group, after) = child.map_or((None, None), |child| match child.split_once(':') {
        Some((group, after)) => (Some(group), Some(after)),
        None => (Some(child), None),
    });
    let gpu = Gpu::new(source.clone()).map_err(|outcome| format!("{outcome:?}"))?;
    let mut outcomes = Outcomes::new();
    let mut skipping = after.is_some();
    for entry in entries.iter().filter(|entry| group.is_none_or(|group| group_of(&entry.name) == group)) {
        if skipping {
            skipping = after != Some(entry.name.as_str());
            continue;
        }
        if child.is_some() {
            println!("{BEGIN}{}", entry.name);
        }
        let (status, message) = status_of((entry.run)(&gpu));
        if child.is_some() {
            println!("{END}{status} {}", message.replace('\n', " "));
        }
        let _ = std::io::stdout().flush();
        outcomes.insert(entry.name.clone(), (status.to_owned(), message));
    }
    Ok(outcomes)
}

fn status_of(outcome: Result<(), Outcome>) -> (&'static str, String) {
    match outcome {
        Ok(()) => ("pass", String::new()),
        Err(Outcome::Fail(message)) => ("fail", message),
        Err(Outcome::NotSupported(message)) => ("unsupported", message),
    }
}

/// Runs a group in processes: after a crash or hang, a new one goes on behind the case that caused it.
fn run_group(options: &Options, entries: &[Entry], group: &str, outcomes: &mut Outcomes) -> Result<(), String> {
    let mut child = group.to_owned();
    loop {
        let stopped_in = run_child(options, &child, outcomes)?;
        let Some((name, why)) = stopped_in else { break };
        outcomes.insert(name.clone(), (why.to_owned(), String::new()));
        child = format!("{group}:{name}");
    }
    for entry in entries.iter().filter(|entry| group_of(&entry.name) == group) {
        let missing = || ("crash".to_owned(), "the process ended before it".to_owned());
        outcomes.entry(entry.name.clone()).or_insert_with(missing);
    }
    Ok(())
}

/// Runs a child; the case in which it crashed or hung.
fn run_child(
    options: &Options,
    group: &str,
    outcomes: &mut Outcomes,
) -> Result<Option<(String, &'static str)>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    if std::env::args().nth(1).as_deref() == Some("cts") {
        command.arg("cts");
    }
    command.args(["--child", group]).stdout(Stdio::piped());
    for filter in &options.filters {
        command.args(["--filter", filter]);
    }
    if options.loader {
        command.arg("--loader");
    }
    let mut process = command.spawn().map_err(|error| error.to_string())?;
    let (sender, lines) = mpsc::channel();
    let output = process.stdout.take().ok_or("no output")?;
    std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
    });
    let mut running: Option<String> = None;
    let mut deadline = Instant::now() + options.timeout;
    let why = loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if let Some(name) = line.strip_prefix(BEGIN) {
                    running = Some(name.to_owned());
                    deadline = Instant::now() + options.timeout;
                } else if let (Some(rest), Some(name)) = (line.strip_prefix(END), running.clone()) {
                    let (status, message) = rest.split_once(' ').unwrap_or((rest, ""));
                    outcomes.insert(name, (status.to_owned(), message.to_owned()));
                    running = None;
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => break "timeout",
            Err(mpsc::RecvTimeoutError::Disconnected) => break "crash",
        }
    };
    let _ = process.kill();
    let _ = process.wait();
    Ok(running.map(|name| (name, why)))
}

fn report(options: &Options, outcomes: &Outcomes) -> Result<bool, String> {
    let expectations = Expectations::read(&options.expectations)?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unexpected = 0;
    for (name, (status, message)) in outcomes {
        *counts.entry(status).or_default() += 1;
        if let Some(problem) = expectations.judge(name, status) {
            unexpected += 1;
            println!("{name}: {problem} ({status}) {message}");
        }
    }
    let summary: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    println!("{} cases: {}; {unexpected} unexpected", outcomes.len(), summary.join(", "));
    if let Some(file) = &options.json {
        let cases: Vec<_> = outcomes
            .iter()
            .map(|(name, (status, message))| serde_json::json!({ "name": name, "status": status, "message": message }))
            .collect();
        let document = serde_json::json!({ "cases": cases, "counts": counts, "unexpected": unexpected });
        std::fs::write(file, document.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(unexpected == 0)
}
