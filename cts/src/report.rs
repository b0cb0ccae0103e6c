//! Reports of a run: unexpected outcomes, a summary, a table by group, and files in JSON and JUnit
//! XML.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::expectations::Expectations;
use crate::outcome::{Record, Records, Status, group_of};

/// Files to write.
#[derive(Debug, Default)]
pub struct Files {
    /// All outcomes, counts, and the number of unexpected outcomes.
    pub json: Option<PathBuf>,
    /// A suite for each group. An unexpected outcome is a failure, any other outcome but a pass is
    /// skipped.
    pub junit: Option<PathBuf>,
}

/// A finished run. Groups are the first `depth` parts of names.
#[derive(Debug)]
pub struct Report<'a> {
    records: &'a Records,
    depth: usize,
    /// Problems of cases, by name.
    problems: BTreeMap<&'a str, &'static str>,
}

impl<'a> Report<'a> {
    /// Compares outcomes with the lists.
    pub fn new(records: &'a Records, expectations: &Expectations, depth: usize) -> Self {
        let judge = |(name, record): (&'a String, &Record)| {
            expectations.judge(name, record.status).map(|problem| (name.as_str(), problem))
        };
        Self { records, depth, problems: records.iter().filter_map(judge).collect() }
    }

    /// Returns true if all outcomes are expected.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns a line for each unexpected outcome.
    pub fn unexpected(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(|(name, problem)| {
            let record = &self.records[*name];
            format!("{name}: {problem} ({}) {}", record.status.word(), record.message)
        })
    }

    /// Returns a line for each unexpected outcome, and one of counts.
    pub fn summary(&self) -> String {
        let mut text: String = self.unexpected().map(|line| line + "\n").collect();
        let counts: Vec<String> = self.words().iter().map(|(word, count)| format!("{count} {word}")).collect();
        let _ =
            writeln!(text, "{} cases: {}; {} unexpected", self.records.len(), counts.join(", "), self.problems.len());
        text
    }

    /// Returns counts by status word, without zeros.
    fn words(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        self.records.values().for_each(|record| *counts.entry(record.status.word()).or_default() += 1);
        counts
    }

    /// Returns counts by group and status.
    fn groups(&self) -> BTreeMap<&'a str, BTreeMap<Status, usize>> {
        let mut groups: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for (name, record) in self.records {
            *groups.entry(group_of(name, self.depth)).or_default().entry(record.status).or_default() += 1;
        }
        groups
    }

    /// Returns a line for each group, and one of sums.
    pub fn table(&self) -> String {
        let groups = self.groups();
        let width = groups.keys().map(|group| group.len()).max().unwrap_or(0).max(5);
        let mut text = format!("{:width$} {:>8}", "group", "cases");
        for status in Status::ALL {
            let _ = write!(text, " {:>13}", heading(status));
        }
        text.push('\n');
        let mut sums = BTreeMap::new();
        for (group, counts) in &groups {
            counts.iter().for_each(|(status, count)| *sums.entry(*status).or_default() += count);
            row(&mut text, width, group, counts);
        }
        row(&mut text, width, "total", &sums);
        text
    }

    /// Writes the requested files.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, files: &Files) -> Result<(), String> {
        if let Some(file) = &files.json {
            write(file, &self.json())?;
        }
        if let Some(file) = &files.junit {
            write(file, &self.junit())?;
        }
        Ok(())
    }

    fn json(&self) -> String {
        let case = |(name, record): (&String, &Record)| serde_json::json!({ "name": name, "status": record.status.word(), "message": record.message });
        let groups: BTreeMap<_, BTreeMap<_, _>> = self
            .groups()
            .into_iter()
            .map(|(group, counts)| (group, counts.into_iter().map(|(status, count)| (status.word(), count)).collect()))
            .collect();
        let cases: Vec<_> = self.records.iter().map(case).collect();
        let unexpected = self.problems.len();
        serde_json::json!({ "cases": cases, "counts": self.words(), "groups": groups, "unexpected": unexpected })
            .to_string()
    }

    fn junit(&self) -> String {
        let mut suites: BTreeMap<&str, Vec<(&str, &Record)>> = BTreeMap::new();
        for (name, record) in self.records {
            suites.entry(group_of(name, self.depth)).or_default().push((name, record));
        }
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        for (group, cases) in suites {
            self.suite(&mut text, group, &cases);
        }
        text + "</testsuites>\n"
    }

    fn suite(&self, text: &mut String, group: &str, cases: &[(&str, &Record)]) {
        let failures = cases.iter().filter(|(name, _)| self.problems.contains_key(name)).count();
        let unremarkable =
            |(name, record): &&(&str, &Record)| !self.problems.contains_key(name) && !passed(record.status);
        let skipped = cases.iter().filter(unremarkable).count();
        let group = escape(group);
        let _ = writeln!(
            text,
            "<testsuite name=\"{group}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">",
            cases.len()
        );
        for (name, record) in cases {
            let told = escape(&format!("{}: {}", record.status.word(), record.message));
            let inner = match self.problems.get(name) {
                Some(problem) => format!("<failure message=\"{}\">{told}</failure>", escape(problem)),
                None if passed(record.status) => String::new(),
                None => format!("<skipped message=\"{told}\"/>"),
            };
            let _ = writeln!(text, "<testcase classname=\"{group}\" name=\"{}\">{inner}</testcase>", escape(name));
        }
        text.push_str("</testsuite>\n");
    }
}

fn passed(status: Status) -> bool {
    matches!(status, Status::Pass | Status::Warning)
}

/// Returns a status as the heading of a column.
fn heading(status: Status) -> &'static str {
    match status {
        Status::Pass => "passed",
        Status::Warning => "warned",
        Status::Fail => "failed",
        Status::Unsupported => "not supported",
        Status::Crash => "crashed",
        Status::Timeout => "timed out",
        Status::Missing => "missing",
    }
}

fn row(text: &mut String, width: usize, name: &str, counts: &BTreeMap<Status, usize>) {
    let _ = write!(text, "{name:width$} {:>8}", counts.values().sum::<usize>());
    for status in Status::ALL {
        let _ = write!(text, " {:>13}", counts.get(&status).copied().unwrap_or(0));
    }
    text.push('\n');
}

/// Escapes text for XML, also in attributes. Characters that XML forbids become spaces.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expectations::Skips;

    fn records() -> Records {
        let record = |name: &str, status, message: &str| (name.to_owned(), Record::new(status, message));
        Records::from([
            record("a.b.x", Status::Pass, ""),
            record("a.b.y", Status::Fail, "1 < 2 & \"so\" on"),
            record("a.c.z", Status::Unsupported, "no"),
            record("a.c.w", Status::Crash, ""),
        ])
    }

    fn report(records: &Records) -> Report<'_> {
        let lists = Expectations::of(&["a.c.w"], &[], &[], Skips::NotRun);
        Report::new(records, &lists, 2)
    }

    #[test]
    fn the_table_sums_up() {
        let records = records();
        let table = report(&records).table();
        let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["a.b", "2", "1", "0", "1", "0", "0", "0", "0"]);
        assert_eq!(rows[1], ["a.c", "2", "0", "0", "0", "1", "1", "0", "0"]);
        assert_eq!(rows[2], ["total", "4", "1", "0", "1", "1", "1", "0", "0"]);
    }

    #[test]
    fn only_what_is_unexpected_is_told() {
        let records = records();
        let report = report(&records);
        let summary = report.summary();
        assert!(!report.is_clean());
        assert_eq!(summary.lines().count(), 2);
        assert!(summary.ends_with("4 cases: 1 crash, 1 fail, 1 pass, 1 unsupported; 1 unexpected\n"), "{summary}");
    }

    #[test]
    fn json_and_junit_say_the_same() {
        let records = records();
        let report = report(&records);
        let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!((json["unexpected"].as_u64(), json["counts"]["pass"].as_u64()), (Some(1), Some(1)));
        assert_eq!(json["groups"]["a.c"]["crash"].as_u64(), Some(1));
        let xml = report.junit();
        assert!(xml.contains("<testsuite name=\"a.b\" tests=\"2\" failures=\"1\" skipped=\"0\">"), "{xml}");
        assert!(xml.contains("<testsuite name=\"a.c\" tests=\"2\" failures=\"0\" skipped=\"2\">"), "{xml}");
        assert!(xml.contains("1 &lt; 2 &amp; &quot;so&quot; on"), "{xml}");
    }

    #[test]
    fn an_empty_run_has_a_table_too() {
        let records = Records::new();
        assert!(report(&records).table().lines().nth(1).unwrap().starts_with("total"));
    }
}
