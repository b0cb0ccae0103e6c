//! The file of a ledger: a header that names the suite, the driver and the list of cases, and a
//! line for each finished shard, followed by its unexpected outcomes.
//!
//! Shards are appended, so that an interruption loses the shard that is running, and no other.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use super::shards::Shard;
use crate::outcome::{Records, Status};

/// First line.
const TITLE: &str = "vitric cts deqp, ledger 1";
/// Names of the columns, a comment behind the header.
const COLUMNS: &str = "# group part cases passed warned failed unsupported unexpected seconds";
/// Beginning of the line of an unexpected outcome.
const UNEXPECTED: &str = "! ";

/// Description of the runs that a ledger holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Commit of the suite.
    pub suite: String,
    /// Commit of the driver.
    pub driver: String,
    /// Digest of the sources from which the driver was built, or `unknown`.
    pub sources: String,
    /// Number of cases in the list.
    pub cases: usize,
    /// Digest of the list.
    pub list: String,
    /// Maximum number of cases of a shard.
    pub shard: usize,
}

/// Numbers of cases by outcome.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// All cases.
    pub cases: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that passed with a warning.
    pub warned: usize,
    /// Cases that failed, crashed, hung or were missing, expected ones too.
    pub failed: usize,
    /// Cases of features that the driver does not support.
    pub unsupported: usize,
}

impl Counts {
    /// Counts outcomes.
    pub fn of(records: &Records) -> Self {
        let mut counts = Self { cases: records.len(), ..Self::default() };
        for record in records.values() {
            *match record.status {
                Status::Pass => &mut counts.passed,
                Status::Warning => &mut counts.warned,
                Status::Unsupported => &mut counts.unsupported,
                Status::Fail | Status::Crash | Status::Timeout | Status::Missing => &mut counts.failed,
            } += 1;
        }
        counts
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.passed += other.passed;
        self.warned += other.warned;
        self.failed += other.failed;
        self.unsupported += other.unsupported;
    }
}

/// A finished shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedShard {
    /// Name of the group.
    pub group: String,
    /// Number of the shard in its group, from 1 on.
    pub index: usize,
    /// Number of shards of the group.
    pub count: usize,
    /// Outcomes.
    pub counts: Counts,
    /// Wall time of the run.
    pub seconds: u64,
    /// Names and outcomes of the cases whose outcomes the expectation lists do not allow.
    pub unexpected: Vec<String>,
}

impl FinishedShard {
    /// Returns true if this is the run of a shard.
    pub fn is_of(&self, shard: &Shard) -> bool {
        let same = (&self.group, self.index, self.count) == (&shard.group, shard.index, shard.count);
        same && self.counts.cases == shard.range.len()
    }

    /// Returns the line of the shard.
    pub fn line(&self) -> String {
        let Self { group, index, count, counts, seconds, unexpected } = self;
        let Counts { cases, passed, warned, failed, unsupported } = counts;
        let unexpected = unexpected.len();
        format!("{group} {index}/{count} {cases} {passed} {warned} {failed} {unsupported} {unexpected} {seconds}")
    }

    fn parse(line: &str) -> Option<(Self, usize)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [group, part, numbers @ ..] = words.as_slice() else { return None };
        let (index, count) = part.split_once('/')?;
        let (index, count) = (index.parse().ok()?, count.parse().ok()?);
        let numbers: Vec<usize> = numbers.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let &[cases, passed, warned, failed, unsupported, unexpected, seconds] = numbers.as_slice() else {
            return None;
        };
        let sum = [passed, warned, failed, unsupported].into_iter().try_fold(0_usize, usize::checked_add)?;
        let counts = Counts { cases, passed, warned, failed, unsupported };
        let entry =
            Self { group: (*group).to_owned(), index, count, counts, seconds: seconds as u64, unexpected: Vec::new() };
        ((1..=count).contains(&index) && sum == cases && unexpected <= cases).then_some((entry, unexpected))
    }
}

/// An open ledger. No other process can open it at the same time.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    /// Finished shards, in the order of the file.
    pub entries: Vec<FinishedShard>,
}

impl Ledger {
    /// Creates a file with a header.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, String> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let mut file = file.and_then(locked).map_err(|error| problem(path, &error))?;
        let Header { suite, driver, sources, cases, list, shard } = header;
        let text = format!(
            "{TITLE}\nsuite {suite}\ndriver {driver}\nsources {sources}\ncases {cases} {list}\nshard {shard}\n{COLUMNS}\n"
        );
        file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(|error| problem(path, &error))?;
        Ok(Self { path: path.to_owned(), file, entries: Vec::new() })
    }

    /// Opens a file. An incomplete shard at its end is cut off. `divide` returns the shards of the
    /// runs that a header describes.
    ///
    /// # Errors
    /// The file cannot be read or written, `divide` fails, or a line is wrong.
    pub fn open(
        path: &Path,
        divide: impl FnOnce(&Header) -> Result<Vec<Shard>, String>,
    ) -> Result<(Self, Vec<Shard>), String> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        let mut file = file.and_then(locked).map_err(|error| problem(path, &error))?;
        let Contents { shards, entries, whole } = contents(path, &mut file, divide)?;
        let length = file.metadata().map_err(|error| problem(path, &error))?.len();
        if length > whole as u64 {
            file.set_len(whole as u64).map_err(|error| problem(path, &error))?;
        }
        Ok((Self { path: path.to_owned(), file, entries }, shards))
    }

    /// Appends a finished shard, and waits until the file is on the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, entry: FinishedShard) -> Result<(), String> {
        let mut text = entry.line() + "\n";
        for outcome in &entry.unexpected {
            text += &format!("{UNEXPECTED}{outcome}\n");
        }
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| problem(&self.path, &error))?;
        self.entries.push(entry);
        Ok(())
    }
}

/// Reads a file that a run may have open. Returns its finished shards, and all shards. `divide`
/// returns the shards of the runs that a header describes.
///
/// # Errors
/// The file cannot be read, `divide` fails, or a line is wrong.
pub fn read(
    path: &Path,
    divide: impl FnOnce(&Header) -> Result<Vec<Shard>, String>,
) -> Result<(Vec<FinishedShard>, Vec<Shard>), String> {
    let mut file = File::open(path).map_err(|error| problem(path, &error))?;
    contents(path, &mut file, divide).map(|contents| (contents.entries, contents.shards))
}

fn problem(path: &Path, error: &std::io::Error) -> String {
    format!("the ledger {} cannot be used: {error}", path.display())
}

/// Locks a file until it is closed.
fn locked(file: File) -> std::io::Result<File> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(std::io::Error::other("another run has it open")),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Contents of a file.
#[derive(Debug)]
struct Contents {
    shards: Vec<Shard>,
    entries: Vec<FinishedShard>,
    /// Bytes up to the end of the last complete entry.
    whole: usize,
}

fn contents(
    path: &Path,
    file: &mut File,
    divide: impl FnOnce(&Header) -> Result<Vec<Shard>, String>,
) -> Result<Contents, String> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| problem(path, &error))?;
    // The end of the process or machine cut off the text behind the last line end.
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let text = std::str::from_utf8(&bytes[..end]);
    let text = text.map_err(|error| format!("the ledger {} is no text: {error}", path.display()))?;
    let mut lines = Lines { rest: text, number: 0, read: 0 };
    let parsed = header(&mut lines).and_then(|header| {
        let shards = divide(&header).map_err(|error| format!(": {error}"))?;
        let (entries, whole) = entries(&mut lines, &shards)?;
        Ok(Contents { shards, entries, whole })
    });
    parsed.map_err(|error| format!("{}{error}", path.display()))
}

/// Parses the header.
fn header(lines: &mut Lines) -> Result<Header, String> {
    lines.expect(|line| (line == TITLE).then_some(()), TITLE)?;
    let suite = lines.expect(|line| word(line.strip_prefix("suite ")?), "suite COMMIT")?;
    let driver = lines.expect(|line| word(line.strip_prefix("driver ")?), "driver COMMIT")?;
    let sources = lines.expect(|line| word(line.strip_prefix("sources ")?), "sources DIGEST")?;
    let of_cases = |line: &str| {
        let (cases, list) = line.strip_prefix("cases ")?.split_once(' ')?;
        Some((cases.parse().ok()?, word(list)?))
    };
    let (cases, list) = lines.expect(of_cases, "cases NUMBER DIGEST")?;
    let of_shard = |line: &str| line.strip_prefix("shard ")?.parse().ok().filter(|&size: &usize| size > 0);
    let shard = lines.expect(of_shard, "shard NUMBER")?;
    Ok(Header { suite, driver, sources, cases, list, shard })
}

/// Parses finished shards up to the end, or up to one whose unexpected outcomes are cut off.
/// Returns them, and the bytes up to the end of the last one.
fn entries(lines: &mut Lines, shards: &[Shard]) -> Result<(Vec<FinishedShard>, usize), String> {
    let mut entries: Vec<FinishedShard> = Vec::new();
    let mut whole = lines.read;
    while let Some(line) = lines.next() {
        if !line.is_empty() && !line.starts_with('#') {
            let parsed = FinishedShard::parse(line);
            let (mut entry, unexpected) = parsed.ok_or_else(|| {
                lines.wrong("GROUP INDEX/COUNT and seven numbers, of which the first is the sum of the next four")
            })?;
            if !shards.iter().any(|shard| entry.is_of(shard)) {
                return Err(lines.wrong("a shard that the list of cases has, with as many cases"));
            }
            if entries.iter().any(|other| (&other.group, other.index) == (&entry.group, entry.index)) {
                return Err(lines.wrong("a shard that no line before has"));
            }
            while entry.unexpected.len() < unexpected {
                let Some(line) = lines.next() else { return Ok((entries, whole)) };
                let outcome = line.strip_prefix(UNEXPECTED);
                let outcome = outcome.ok_or_else(|| lines.wrong("'! ' and an unexpected outcome of the shard"))?;
                entry.unexpected.push(outcome.to_owned());
            }
            entries.push(entry);
        }
        whole = lines.read;
    }
    Ok((entries, whole))
}

/// Returns a text that is one word.
fn word(text: &str) -> Option<String> {
    (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| text.to_owned())
}

/// Lines of a text that ends with a line end.
struct Lines<'a> {
    rest: &'a str,
    /// Number of the last line, from 1 on.
    number: usize,
    /// Bytes up to the end of the last line.
    read: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (line, rest) = self.rest.split_once('\n')?;
        self.read += line.len() + 1;
        self.number += 1;
        self.rest = rest;
        Some(line.trim_end_matches('\r'))
    }

    /// Returns the next line as `parse` reads it.
    fn expect<T>(&mut self, parse: impl Fn(&str) -> Option<T>, expected: &str) -> Result<T, String> {
        let parsed = self.next().and_then(parse);
        parsed.ok_or_else(|| self.wrong(&format!("'{expected}'")))
    }

    /// Returns an error about the last line.
    fn wrong(&self, expected: &str) -> String {
        format!(":{}: expected {expected}", self.number.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "vitric cts deqp, ledger 1\nsuite c0ffee0\ndriver f00d123\nsources 12ab\ncases 25 99ff\nshard 10\n";

    fn shards(_: &Header) -> Result<Vec<Shard>, String> {
        let shard = |group: &str, index, count, range| Shard { group: group.into(), index, count, range };
        Ok(vec![shard("a", 1, 2, 0..10), shard("a", 2, 2, 10..20), shard("b", 1, 1, 20..25)])
    }

    fn header() -> Header {
        let [suite, driver, sources, list] = ["c0ffee0", "f00d123", "12ab", "99ff"].map(str::to_owned);
        Header { suite, driver, sources, cases: 25, list, shard: 10 }
    }

    fn entry(group: &str, index: usize, cases: usize, unexpected: &[&str]) -> FinishedShard {
        let counts = Counts { cases, passed: cases - 2, warned: 0, failed: 1, unsupported: 1 };
        let count = if group == "a" { 2 } else { 1 };
        let unexpected = unexpected.iter().map(|&outcome| outcome.to_owned()).collect();
        FinishedShard { group: group.into(), index, count, counts, seconds: 7, unexpected }
    }

    /// A file that goes with the test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(test: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("vitric-ledger-{test}-{}", std::process::id()));
            std::fs::write(&path, text).unwrap();
            Self(path)
        }

        fn open(&self) -> Result<Vec<FinishedShard>, String> {
            Ledger::open(&self.0, shards).map(|(ledger, _)| ledger.entries)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn shards_come_back_with_their_unexpected_outcomes() {
        let file = Temporary::new("back", "");
        std::fs::remove_file(&file.0).unwrap();
        let mut ledger = Ledger::create(&file.0, &header()).unwrap();
        let entries =
            [entry("a", 2, 10, &["d.a.x: failed (fail) 1 # 2", "d.a.y: failed (crash) "]), entry("b", 1, 5, &[])];
        ledger.add(entries[0].clone()).unwrap();
        drop(ledger);
        let (mut ledger, _) = Ledger::open(&file.0, |found| {
            assert_eq!(*found, header());
            shards(found)
        })
        .unwrap();
        ledger.add(entries[1].clone()).unwrap();
        assert_eq!(ledger.entries, entries);
        assert_eq!(read(&file.0, shards).unwrap().0, entries);
        assert!(Ledger::create(&file.0, &header()).is_err());
        assert_eq!(entries[1].line(), "b 1/1 5 3 0 1 1 0 7");
    }

    #[test]
    fn a_ledger_is_open_once() {
        let file = Temporary::new("once", HEAD);
        let first = Ledger::open(&file.0, shards).unwrap();
        assert!(file.open().unwrap_err().contains("another run has it open"));
        assert!(read(&file.0, shards).is_ok());
        drop(first);
        assert!(file.open().is_ok());
    }

    #[test]
    fn an_interrupted_shard_is_cut_off() {
        let whole = format!("{HEAD}# a note\n\na 1/2 10 8 0 1 1 1 7\n! d.a.x: failed\n");
        for tail in
            ["", "a 2/", "a 2/2 10 8 0 1 1 0 7", "a 2/2 10 8 0 1 1 2 7\n", "a 2/2 10 8 0 1 1 2 7\n! d.a.y\n! d.a"]
        {
            let file = Temporary::new("cut", &format!("{whole}{tail}"));
            let entries = file.open().unwrap();
            assert_eq!(entries, [entry("a", 1, 10, &["d.a.x: failed"])], "{tail}");
            assert_eq!(std::fs::read_to_string(&file.0).unwrap(), whole, "{tail}");
        }
        let file = Temporary::new("half", "");
        std::fs::write(&file.0, [whole.as_bytes(), b"! \xc3"].concat()).unwrap();
        assert_eq!(file.open().unwrap().len(), 1);
    }

    #[test]
    fn wrong_lines_are_told_by_their_numbers() {
        let good = "a 1/2 10 8 0 1 1 0 7\n";
        for (text, told) in [
            (String::new(), ":1: expected 'vitric cts deqp, ledger 1'"),
            (HEAD.replace("ledger 1", "state 1"), ":1: expected 'vitric cts deqp, ledger 1'"),
            (HEAD.replace("suite c0ffee0", "suite two words"), ":2: expected 'suite COMMIT'"),
            (HEAD.replace("sources 12ab\n", ""), ":4: expected 'sources DIGEST'"),
            (HEAD.replace("25 99ff", "25"), ":5: expected 'cases NUMBER DIGEST'"),
            (HEAD.replace("shard 10", "shard 0"), ":6: expected 'shard NUMBER'"),
            (format!("{HEAD}{good}odd\n"), ":8: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}a 1/2 10 8 0 1 1 0\n"), ":7: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}a 1/2 10 8 0 1 2 0 7\n"), ":7: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}a 1/2 10 8 0 1 -1 0 7\n"), ":7: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}a 3/2 10 8 0 1 1 0 7\n"), ":7: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}a 1/2 10 {} 0 9 1 0 7\n", usize::MAX), ":7: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}c 1/2 10 8 0 1 1 0 7\n"), ":7: expected a shard that the list of cases has"),
            (format!("{HEAD}a 1/2 9 7 0 1 1 0 7\n"), ":7: expected a shard that the list of cases has"),
            (format!("{HEAD}{good}# again\n{good}"), ":9: expected a shard that no line before has"),
            (format!("{HEAD}! d.a.x\n{good}"), ":7: expected GROUP INDEX/COUNT"),
            (format!("{HEAD}a 1/2 10 8 0 1 1 1 7\na 2/2 10 8 0 1 1 0 7\n"), ":8: expected '! '"),
        ] {
            let file = Temporary::new("wrong", &text);
            let error = file.open().unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
            assert_eq!(std::fs::read_to_string(&file.0).unwrap(), text);
        }
        let file = Temporary::new("refused", HEAD);
        let refused = Ledger::open(&file.0, |_| Err("it is of other runs".into())).unwrap_err();
        assert!(refused.ends_with(": it is of other runs"), "{refused}");
    }

    #[test]
    fn every_status_is_counted_once() {
        let record =
            |(index, &status): (usize, &Status)| (format!("a.{index}"), crate::outcome::Record::new(status, ""));
        let counts = Counts::of(&Status::ALL.iter().enumerate().map(record).collect());
        assert_eq!(counts, Counts { cases: 7, passed: 1, warned: 1, failed: 4, unsupported: 1 });
    }
}
