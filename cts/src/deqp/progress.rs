//! Progress of a run on the standard error output: a bar on terminals, otherwise a line every 30
//! seconds.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::outcome::Status;

/// Characters of the bar.
const WIDTH: usize = 24;
/// Time between two lines.
const PAUSE: Duration = Duration::from_secs(30);
/// Time between two updates of the bar.
const FRAME: Duration = Duration::from_millis(100);

/// Counts outcomes.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    done: usize,
    /// Cases with an outcome before the run.
    before: usize,
    /// Cases that failed, crashed or hung, expected ones too.
    failed: usize,
    start: Instant,
    shown: Instant,
    terminal: bool,
}

impl Progress {
    /// Begins with `before` of `total` cases done.
    pub fn new(total: usize, before: usize) -> Self {
        let now = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        Self { total, done: before, before, failed: 0, start: now, shown: now, terminal }
    }

    /// Counts an outcome, and shows the progress when it is due.
    pub fn add(&mut self, status: Status) {
        self.done += 1;
        self.failed += usize::from(!matches!(status, Status::Pass | Status::Warning | Status::Unsupported));
        let pause = if self.terminal { FRAME } else { PAUSE };
        if self.shown.elapsed() >= pause {
            self.shown = Instant::now();
            self.show();
        }
    }

    /// Erases the bar.
    pub fn end(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }

    fn show(&self) {
        let text = text(self.done, self.total, self.failed, rate(self.done - self.before, self.start.elapsed()));
        let mut out = std::io::stderr();
        // An error of the output is no reason to stop.
        let _ = if self.terminal { write!(out, "\r{text}\x1b[K") } else { writeln!(out, "{text}") };
        let _ = out.flush();
    }
}

/// Returns cases per second.
fn rate(done: usize, time: Duration) -> f64 {
    done as f64 / time.as_secs_f64().max(1e-3)
}

fn text(done: usize, total: usize, failed: usize, rate: f64) -> String {
    let full = (done * WIDTH).checked_div(total).unwrap_or(WIDTH).min(WIDTH);
    let left = total.saturating_sub(done) as f64 / rate.max(1e-3);
    let (minutes, seconds) = (left as u64 / 60, left as u64 % 60);
    format!(
        "[{}{}] {done}/{total}, {failed} failed, {rate:.1}/s, {minutes}:{seconds:02} left",
        "#".repeat(full),
        "-".repeat(WIDTH - full)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_long_as_the_run() {
        assert_eq!(text(50, 100, 2, 0.5), "[############------------] 50/100, 2 failed, 0.5/s, 1:40 left");
        assert!(text(0, 0, 0, 0.0).starts_with("[########################] 0/0"));
        assert!(text(5, 4, 0, 1.0).contains("0:00 left"));
    }
}
