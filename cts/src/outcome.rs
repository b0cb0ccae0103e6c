//! Outcomes of cases, which all runners, state files and reports of this crate share.

use std::collections::BTreeMap;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It passed.
    Pass,
    /// It passed with a warning.
    Warning,
    /// The device lacks a feature that the case tests.
    Unsupported,
    /// It failed.
    Fail,
    /// Its process ended during the case.
    Crash,
    /// It did not end in time.
    Timeout,
    /// Its runner does not know it.
    Missing,
}

impl Status {
    /// Every status, in the order of tables.
    pub const ALL: [Self; 7] =
        [Self::Pass, Self::Warning, Self::Fail, Self::Unsupported, Self::Crash, Self::Timeout, Self::Missing];

    /// Returns the word in lines and files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warning => "warning",
            Self::Unsupported => "unsupported",
            Self::Fail => "fail",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Missing => "missing",
        }
    }

    /// Returns the status of a word, or `None` for other words.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

/// The outcome of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// How the case ended.
    pub status: Status,
    /// The reason on one line, which may be empty.
    pub message: String,
}

impl Record {
    /// Returns an outcome. Control characters of the message become spaces.
    pub fn new(status: Status, message: impl AsRef<str>) -> Self {
        let message = message.as_ref().trim().replace(char::is_control, " ");
        Self { status, message }
    }
}

/// Outcomes by name.
pub type Records = BTreeMap<String, Record>;

/// Returns the first `depth` parts of a name.
pub fn group_of(name: &str, depth: usize) -> &str {
    name.match_indices('.').nth(depth.saturating_sub(1)).map_or(name, |(at, _)| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_one_status_each() {
        for status in Status::ALL {
            assert_eq!(Status::of(status.word()), Some(status));
        }
        assert_eq!(Status::of("passed"), None);
    }

    #[test]
    fn a_group_is_the_beginning_of_a_name() {
        assert_eq!(group_of("a.b.c.d", 2), "a.b");
        assert_eq!((group_of("a.b", 2), group_of("a", 2), group_of("a.b", 0)), ("a.b", "a", "a"));
    }

    #[test]
    fn messages_stay_on_a_line() {
        assert_eq!(Record::new(Status::Fail, " a\tb\n").message, "a b");
    }
}
