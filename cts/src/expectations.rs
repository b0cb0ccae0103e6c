//! Expectation lists: `fails.txt`, `flakes.txt` and `skips.txt`, one pattern a line, with `# reason` behind it.
//!
//! `*` in a pattern stands for any characters.

use std::path::Path;

/// The lists of one driver.
#[derive(Debug, Default)]
pub struct Expectations {
    fails: Vec<String>,
    flakes: Vec<String>,
    skips: Vec<String>,
}

impl Expectations {
    /// Reads the lists of a folder.
    ///
    /// # Errors
    /// When a list cannot be read, or a line has no reason.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let list = |name: &str| parse(&folder.join(name));
        Ok(Self { fails: list("fails.txt")?, flakes: list("flakes.txt")?, skips: list("skips.txt")? })
    }

    /// What is wrong with an outcome; `None` when it is as expected.
    pub fn judge(&self, name: &str, status: &str) -> Option<&'static str> {
        let listed = |list: &[String]| list.iter().any(|pattern| matches(pattern, name));
        match status {
            _ if listed(&self.flakes) => None,
            "pass" if listed(&self.fails) => Some("passed, but fails.txt expects a failure"),
            "pass" if listed(&self.skips) => Some("passed, but skips.txt expects that it is not supported"),
            "pass" => None,
            "unsupported" if listed(&self.skips) => None,
            "unsupported" => Some("is not supported, and skips.txt does not say why"),
            _ if listed(&self.fails) => None,
            _ => Some("failed"),
        }
    }
}

fn parse(file: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once('#') {
            Some((pattern, reason)) if !reason.trim().is_empty() => Ok(pattern.trim().to_owned()),
            _ => Err(format!("{}: '{line}' has no reason", file.display())),
        })
        .collect()
}

/// Whether a name fits a pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("a.*.c", "a.b.c") && matches("*", "x") && matches("a*", "a") && !matches("a", "ab"));
    }

    #[test]
    fn unexpected_passes_are_wrong_too() {
        let lists = Expectations { fails: vec!["a.*".into()], flakes: vec!["f".into()], skips: vec!["s".into()] };
        assert!(lists.judge("a.b", "pass").is_some() && lists.judge("a.b", "fail").is_none());
        assert!(lists.judge("x", "fail").is_some() && lists.judge("x", "pass").is_none());
        assert!(lists.judge("x", "unsupported").is_some() && lists.judge("s", "unsupported").is_none());
        assert!(lists.judge("f", "crash").is_none());
    }
}
