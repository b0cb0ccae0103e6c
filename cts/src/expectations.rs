//! Expectation lists: `fails.txt`, `flakes.txt` and `skips.txt`, one pattern on each line,
//! followed by `# reason`.
//!
//! `*` in a pattern stands for any characters.

use std::path::Path;

use crate::outcome::Status;

/// Meaning of `skips.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skips {
    /// Cases that may be unsupported. Others may not.
    Unsupported,
    /// Cases that are not run. All others may be unsupported.
    NotRun,
}

/// The lists of one driver.
#[derive(Debug)]
pub struct Expectations {
    fails: Vec<String>,
    flakes: Vec<String>,
    skips: Vec<String>,
    meaning: Skips,
}

impl Expectations {
    /// Reads the lists of a folder.
    ///
    /// # Errors
    /// A list cannot be read, or a line has no reason.
    pub fn read(folder: &Path, meaning: Skips) -> Result<Self, String> {
        let list = |name: &str| parse(&folder.join(name));
        Ok(Self { fails: list("fails.txt")?, flakes: list("flakes.txt")?, skips: list("skips.txt")?, meaning })
    }

    /// Returns lists of patterns.
    #[cfg(test)]
    pub fn of(fails: &[&str], flakes: &[&str], skips: &[&str], meaning: Skips) -> Self {
        let list = |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Self { fails: list(fails), flakes: list(flakes), skips: list(skips), meaning }
    }

    /// Returns true if a case must not be run.
    pub fn skips(&self, name: &str) -> bool {
        self.meaning == Skips::NotRun && listed(&self.skips, name)
    }

    /// Returns the problem of an outcome, or `None` if it is expected.
    pub fn judge(&self, name: &str, status: Status) -> Option<&'static str> {
        match status {
            _ if listed(&self.flakes, name) => None,
            Status::Pass | Status::Warning => self.judge_pass(name),
            Status::Unsupported if self.meaning == Skips::NotRun || listed(&self.skips, name) => None,
            Status::Unsupported => Some("is not supported, and skips.txt does not say why"),
            _ if listed(&self.fails, name) => None,
            Status::Missing => Some("is not known to the runner"),
            _ => Some("failed"),
        }
    }

    fn judge_pass(&self, name: &str) -> Option<&'static str> {
        match self.meaning {
            _ if listed(&self.fails, name) => Some("passed, but fails.txt expects a failure"),
            Skips::Unsupported if listed(&self.skips, name) => {
                Some("passed, but skips.txt expects that it is not supported")
            }
            _ => None,
        }
    }
}

fn listed(list: &[String], name: &str) -> bool {
    list.iter().any(|pattern| matches(pattern, name))
}

fn parse(file: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once('#') {
            Some((pattern, reason)) if !reason.trim().is_empty() => Ok(pattern.trim().to_owned()),
            _ => Err(format!("{}: '{line}' has no reason: expected PATTERN # REASON", file.display())),
        })
        .collect()
}

/// Returns true if a name fits a pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    // The first match leaves the most text to the parts behind it.
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("a.*.c", "a.b.c") && matches("*", "x") && matches("a*", "a") && !matches("a", "ab"));
        assert!(matches("*a*b*", "xaxbx") && !matches("*a*b*", "bxa") && matches("a*a", "aba") && !matches("a*a", "a"));
        assert!(!matches("", "a") && matches("", "") && matches("**", "") && matches("*é*", "aéb"));
    }

    #[test]
    fn unexpected_passes_are_wrong_too() {
        let lists = Expectations::of(&["a.*"], &["f"], &["s"], Skips::Unsupported);
        assert!(lists.judge("a.b", Status::Pass).is_some() && lists.judge("a.b", Status::Fail).is_none());
        assert!(lists.judge("x", Status::Fail).is_some() && lists.judge("x", Status::Pass).is_none());
        assert!(lists.judge("x", Status::Unsupported).is_some() && lists.judge("s", Status::Unsupported).is_none());
        assert!(lists.judge("s", Status::Pass).is_some() && !lists.skips("s"));
        assert!(lists.judge("f", Status::Crash).is_none());
    }

    #[test]
    fn where_skips_are_not_run_anything_may_be_unsupported() {
        let lists = Expectations::of(&["a.*"], &[], &["s.*"], Skips::NotRun);
        assert!(lists.skips("s.t") && !lists.skips("x"));
        assert!(lists.judge("x", Status::Unsupported).is_none() && lists.judge("x", Status::Warning).is_none());
        assert!(lists.judge("x", Status::Missing).is_some() && lists.judge("a.b", Status::Timeout).is_none());
        assert!(lists.judge("a.b", Status::Pass).is_some());
    }
}
