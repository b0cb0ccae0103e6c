//! Watches a process that runs cases and writes which case begins and how it ends.
//!
//! Common part of the runners: a case that crashes or hangs is identified, and its process ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::outcome::{Record, Status};

/// Bytes of a line that are kept. No result is longer, and a process that writes no line ends must
/// not fill the memory.
const MAX_LINE_BYTES: usize = 1 << 16;
/// Largest time between two looks at the clock that counts. In longer gaps this process was
/// suspended, and so was the watched one.
const MAX_STEP: Duration = Duration::from_secs(1);
/// Time that a process may take to end after it closed its output.
const MAX_EXIT_WAIT: Duration = Duration::from_secs(5);

/// Meaning of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The line is ignored.
    Nothing,
    /// A case begins.
    Begins(String),
    /// The running case has ended.
    Ends(Record),
    /// The running case has ended with an unknown status.
    Unknown(String),
    /// All cases have ended.
    Done,
}

/// How a process ended.
#[derive(Debug)]
pub struct Stop {
    /// The case that was running, with its outcome: a crash or a hang.
    pub case: Option<(String, Record)>,
    /// The process ended by itself and reported success.
    pub success: bool,
    /// Outcome of the running case: a crash or a hang.
    pub outcome: Status,
    /// Description of the end.
    pub how: String,
}

/// Runs a process to its end. `each` gets every outcome immediately. The process is killed if no
/// case begins or ends for `timeout`.
///
/// # Errors
/// The process cannot be started.
pub fn watch(
    command: &mut Command,
    timeout: Duration,
    parse: impl Fn(&str) -> Event,
    each: impl FnMut(String, Record),
) -> Result<Stop, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let problem = |error: std::io::Error| format!("{program} cannot be run: {error}");
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(problem)?;
    let lines = lines(process.stdout.take().ok_or_else(|| format!("{program} has no standard output"))?);
    let mut cases = Cases { running: None, unknown: String::new(), each };
    let timed_out = follow(&lines, timeout, |line| cases.take(parse(line)));
    let status = end(&mut process, timed_out).map_err(problem)?;
    let how = if timed_out { format!("no end within {} s", timeout.as_secs()) } else { describe(status) };
    let outcome = if timed_out { Status::Timeout } else { Status::Crash };
    let case = cases.running.map(|name| (name, Record::new(outcome, &how)));
    Ok(Stop { case, success: status.success() && !timed_out, outcome, how })
}

/// The running case.
struct Cases<E> {
    running: Option<String>,
    unknown: String,
    each: E,
}

impl<E: FnMut(String, Record)> Cases<E> {
    /// Applies a line, and returns true if it is progress.
    fn take(&mut self, said: Event) -> bool {
        match said {
            Event::Nothing => return false,
            Event::Unknown(text) => {
                self.unknown = text;
                return false;
            }
            Event::Begins(name) => {
                self.end_without_result();
                self.running = Some(name);
            }
            Event::Ends(record) => self.end(record),
            Event::Done => self.end_without_result(),
        }
        true
    }

    fn end(&mut self, record: Record) {
        self.unknown.clear();
        if let Some(name) = self.running.take() {
            (self.each)(name, record);
        }
    }

    /// Ends a case whose last line was not understood.
    fn end_without_result(&mut self) {
        let message = match self.unknown.as_str() {
            "" => "it ended without a result".to_owned(),
            unknown => format!("its status is unknown: {unknown}"),
        };
        self.end(Record::new(Status::Fail, message));
    }
}

/// Reads lines to their end. Returns true if there was no progress for too long.
fn follow(lines: &Receiver<String>, timeout: Duration, mut take: impl FnMut(&str) -> bool) -> bool {
    let mut watchdog = Watchdog { left: timeout, seen: Instant::now() };
    loop {
        let heard = lines.recv_timeout(watchdog.left.min(MAX_STEP));
        match heard {
            Ok(line) if take(&line) => watchdog = Watchdog { left: timeout, seen: Instant::now() },
            // Ignored lines are no progress, however many there are.
            Ok(_) | Err(RecvTimeoutError::Timeout) if watchdog.holds(Instant::now()) => {}
            Ok(_) | Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

/// Remaining time without progress.
struct Watchdog {
    left: Duration,
    /// Time of the last look at the clock.
    seen: Instant,
}

impl Watchdog {
    /// Looks at the clock, and returns true if time remains.
    fn holds(&mut self, now: Instant) -> bool {
        self.left = self.left.saturating_sub(now.saturating_duration_since(self.seen).min(MAX_STEP));
        self.seen = now;
        !self.left.is_zero()
    }
}

/// Waits for the end of a process, or kills it.
fn end(process: &mut Child, at_once: bool) -> std::io::Result<ExitStatus> {
    let deadline = Instant::now() + MAX_EXIT_WAIT;
    while !at_once && Instant::now() < deadline {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // The process may have ended by itself, which is no error.
    let _ = process.kill();
    process.wait()
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("ended with code {code}"),
        None => "ended".to_owned(),
    }
}

/// Returns complete lines of an output. An incomplete result has no meaning.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(256);
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        while let Some(line) = line(&mut reader) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Returns the next complete line, cut to the maximum length, or `None` at the end.
fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut kept = Vec::new();
    loop {
        let buffer = reader.fill_buf().ok().filter(|buffer| !buffer.is_empty())?;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        kept.extend_from_slice(&part[..part.len().min(MAX_LINE_BYTES - kept.len())]);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Some(String::from_utf8_lossy(&kept).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell script whose lines are `begin NAME`, `end`, `odd TEXT` and `done`.
    fn run(script: &str, seconds: u64) -> (Vec<(String, Record)>, Stop) {
        let parse = |line: &str| match line.split_once(' ').unwrap_or((line, "")) {
            ("begin", name) => Event::Begins(name.to_owned()),
            ("end", _) => Event::Ends(Record::new(Status::Pass, "")),
            ("odd", text) => Event::Unknown(text.to_owned()),
            ("done", _) => Event::Done,
            _ => Event::Nothing,
        };
        let mut ends = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let stop = watch(&mut command, Duration::from_secs(seconds), parse, |name, record| ends.push((name, record)));
        (ends, stop.unwrap())
    }

    #[test]
    fn outcomes_come_in_order() {
        let (ends, stop) = run("echo begin a; echo noise; echo end; echo begin b; echo end; echo done", 60);
        assert_eq!(ends.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(stop.case.is_none() && stop.success);
    }

    #[test]
    fn a_crash_is_told_with_its_signal() {
        let (ends, stop) = run("echo begin a; kill -9 $$", 60);
        assert!(ends.is_empty() && !stop.success);
        assert_eq!(stop.case, Some(("a".into(), Record::new(Status::Crash, "ended by signal 9"))));
    }

    #[test]
    fn a_hang_is_killed_also_when_it_talks() {
        for script in ["echo begin a; exec sleep 1000", "echo begin a; exec yes"] {
            let (_, stop) = run(script, 1);
            assert_eq!(stop.case.map(|(_, record)| record.status), Some(Status::Timeout), "{script}");
        }
    }

    #[test]
    fn time_in_which_the_watcher_stands_still_does_not_count() {
        let start = Instant::now();
        let mut watchdog = Watchdog { left: 3 * MAX_STEP, seen: start };
        assert!(watchdog.holds(start + 100 * MAX_STEP));
        assert_eq!(watchdog.left, 2 * MAX_STEP);
        assert!(watchdog.holds(start + 101 * MAX_STEP) && !watchdog.holds(start + 102 * MAX_STEP));
    }

    #[test]
    fn half_a_line_is_no_result() {
        let (ends, stop) = run("echo begin a; printf 'end of'", 60);
        assert!(ends.is_empty());
        assert_eq!(stop.case, Some(("a".into(), Record::new(Status::Crash, "ended with code 0"))));
    }

    #[test]
    fn a_case_without_a_known_end_has_failed() {
        let (ends, stop) = run("echo begin a; echo odd Strange; echo begin b; echo done", 60);
        let messages: Vec<_> = ends.iter().map(|(_, record)| record.message.as_str()).collect();
        assert_eq!(messages, ["its status is unknown: Strange", "it ended without a result"]);
        assert!(stop.case.is_none());
    }

    #[test]
    fn long_lines_and_odd_bytes_do_no_harm() {
        let (ends, _) = run("echo begin a; head -c 1000000 /dev/zero; echo; printf '\\377\\n'; echo end", 60);
        assert_eq!(ends.len(), 1);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let command = &mut Command::new("/nowhere/at/all");
        assert!(watch(command, Duration::from_secs(1), |_| Event::Nothing, |_, _| ()).is_err());
    }
}
