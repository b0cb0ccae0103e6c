//! Runs of a whole list over several sittings on one driver: the list is divided into shards, and
//! a ledger keeps the outcomes of the finished ones.
//!
//! A ledger is a text file that is committed, so that the next sitting can be on another machine.
//! It refuses shards of another driver, suite or list than those of its header.

mod file;
mod shards;
mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::groups::{self, Runner, Sink};
use super::progress::Progress;
use super::{Driver, Options};
use crate::expectations::{Expectations, matches};
use crate::outcome::Records;
use crate::report::Report;
use file::{Counts, FinishedShard, Header, Ledger};
use shards::Shard;

/// Maximum number of cases of a shard, unless an option says another.
const DEFAULT_SHARD: usize = 10_000;

/// Options of a run with a ledger.
#[derive(Debug, Default)]
pub struct LedgerOptions {
    /// The file.
    pub file: Option<PathBuf>,
    /// Commit of the suite, for the header.
    pub suite: Option<String>,
    /// Commit of the driver, for the header.
    pub driver: Option<String>,
    /// Maximum number of cases of a shard, for the header.
    pub shard: Option<usize>,
    /// Time after which no shard begins.
    pub budget: Option<Duration>,
}

impl LedgerOptions {
    /// Returns true if one of the options is given.
    pub fn is_given(&self) -> bool {
        let Self { file, suite, driver, shard, budget } = self;
        file.is_some() || suite.is_some() || driver.is_some() || shard.is_some() || budget.is_some()
    }
}

/// The list of cases and the driver of this sitting.
struct Sitting<'a> {
    options: &'a LedgerOptions,
    cases: usize,
    list: String,
    /// Digest of the driver's sources, or `None` if no shard is to be run.
    sources: Option<String>,
}

/// Runs unfinished shards, until all are finished or the time is over, and prints the table of all.
/// Returns true if every outcome of this sitting is expected.
///
/// # Errors
/// The ledger is of other runs, or cannot be read or written, or the runner cannot be started.
pub fn run(
    path: &Path,
    options: &Options,
    expectations: &Expectations,
    driver: impl FnOnce() -> Result<Driver, String>,
) -> Result<bool, String> {
    let mut names = super::listed(options, expectations)?;
    let mut sitting =
        Sitting { options: &options.ledger, cases: names.len(), list: shards::digest(&names), sources: None };
    if options.list {
        let (entries, shards) = file::read(path, |header| sitting.divide(header, &mut names))?;
        print!("{}", table::table(&shards, &entries));
        return Ok(true);
    }
    let binary = super::binary(options.binary.as_deref())?;
    let driver = if options.loader { Driver::default() } else { driver()? };
    sitting.sources = Some(driver.digest()?);
    let (mut ledger, shards) = sitting.open(path, &mut names)?;
    let runner = Runner { binary, environment: driver.variables.clone(), timeout: options.timeout };
    let start = Instant::now();
    let mut is_clean = true;
    for shard in unfinished(&shards, &ledger.entries, &names, &options.filters) {
        if options.ledger.budget.is_some_and(|budget| start.elapsed() >= budget) {
            break;
        }
        let entry = run_shard(&runner, options, expectations, shard, &names)?;
        // The library may have been built again while the shard ran.
        driver.digest()?;
        is_clean &= entry.unexpected.is_empty();
        entry.unexpected.iter().for_each(|outcome| println!("{outcome}"));
        println!("{}", entry.line());
        ledger.add(entry)?;
    }
    print!("\n{}", table::table(&shards, &ledger.entries));
    Ok(is_clean)
}

/// Returns the shards without an entry that contain a case that one of the filters selects.
fn unfinished<'a>(
    shards: &'a [Shard],
    entries: &[FinishedShard],
    names: &[String],
    filters: &[String],
) -> Vec<&'a Shard> {
    let fits = |name: &String| filters.iter().any(|filter| matches(filter, name));
    let chosen = |shard: &&Shard| filters.is_empty() || names[shard.range.clone()].iter().any(fits);
    let open = |shard: &&Shard| !entries.iter().any(|entry| entry.is_of(shard));
    shards.iter().filter(open).filter(chosen).collect()
}

/// Runs the cases of a shard of the list `names`.
fn run_shard(
    runner: &Runner,
    options: &Options,
    expectations: &Expectations,
    shard: &Shard,
    names: &[String],
) -> Result<FinishedShard, String> {
    let names = &names[shard.range.clone()];
    let begin = Instant::now();
    let sink = Sink { records: Records::new(), state: None, progress: Progress::new(names.len(), 0) };
    let records = groups::run(runner, &groups::groups(names, options.group), options.jobs, sink)?.records;
    Ok(FinishedShard {
        group: shard.group.clone(),
        index: shard.index,
        count: shard.count,
        counts: Counts::of(&records),
        seconds: begin.elapsed().as_secs(),
        unexpected: Report::new(&records, expectations, options.depth).unexpected().collect(),
    })
}

impl Sitting<'_> {
    /// Opens or creates the ledger, and returns it and all shards.
    fn open(&self, path: &Path, names: &mut [String]) -> Result<(Ledger, Vec<Shard>), String> {
        if path.exists() {
            return Ledger::open(path, |header| self.divide(header, names));
        }
        let (Some(suite), Some(driver)) = (&self.options.suite, &self.options.driver) else {
            return Err(format!(
                "the ledger {} does not exist: expected --suite-commit and --driver-commit for a new one",
                path.display()
            ));
        };
        let header = Header {
            suite: suite.clone(),
            driver: driver.clone(),
            sources: self.sources.clone().unwrap_or_default(),
            cases: self.cases,
            list: self.list.clone(),
            shard: self.options.shard.unwrap_or(DEFAULT_SHARD),
        };
        let ledger = Ledger::create(path, &header)?;
        Ok((ledger, self.divide(&header, names)?))
    }

    /// Returns the shards of a ledger's runs, or an error if they are of another driver, suite or
    /// list.
    fn divide(&self, header: &Header, names: &mut [String]) -> Result<Vec<Shard>, String> {
        let Header { suite, driver, sources, cases, list, shard } = header;
        let differs = |what: &str, theirs: &dyn std::fmt::Display, ours: &dyn std::fmt::Display| {
            Err(format!("its runs are of {what} {theirs}, not {ours}: expected the same, or another ledger"))
        };
        if (cases, list) != (&self.cases, &self.list) {
            let ours = format!("{} ({} cases)", self.list, self.cases);
            return differs("the list of cases", &format!("{list} ({cases} cases)"), &ours);
        }
        if let Some(ours) = self.options.suite.as_ref().filter(|ours| *ours != suite) {
            return differs("the suite's commit", suite, ours);
        }
        if let Some(ours) = self.options.driver.as_ref().filter(|ours| *ours != driver) {
            return differs("the driver's commit", driver, ours);
        }
        if let Some(ours) = self.sources.as_ref().filter(|ours| *ours != sources) {
            return differs(&format!("the driver's commit {driver} with the sources"), sources, ours);
        }
        if let Some(ours) = self.options.shard.filter(|ours| ours != shard) {
            return differs("shards of at most", shard, &ours);
        }
        Ok(shards::divide(names, *shard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        (0..4).map(|n| format!("d.a.{n}")).chain((0..2).map(|n| format!("d.b.{n}"))).collect()
    }

    fn entry(group: &str, index: usize, count: usize) -> FinishedShard {
        let counts = Counts { cases: 2, passed: 2, ..Counts::default() };
        FinishedShard { group: group.into(), index, count, counts, seconds: 0, unexpected: Vec::new() }
    }

    #[test]
    fn unfinished_shards_are_taken_in_order_and_whole() {
        let mut names = names();
        let shards = shards::divide(&mut names, 2);
        let take = |entries: &[FinishedShard], filters: &[&str]| -> Vec<String> {
            let filters: Vec<String> = filters.iter().map(|&filter| filter.to_owned()).collect();
            let taken = unfinished(&shards, entries, &names, &filters);
            taken.iter().map(|shard| format!("{} {}", shard.group, shard.index)).collect()
        };
        assert_eq!(take(&[], &[]), ["a 1", "a 2", "b 1"]);
        assert_eq!(take(&[entry("a", 2, 2)], &[]), ["a 1", "b 1"]);
        assert_eq!(take(&[entry("a", 2, 2)], &["d.a.3", "*.b.*"]), ["b 1"]);
        assert_eq!(take(&[], &["d.a.1"]), ["a 1"]);
        assert!(take(&[entry("a", 1, 2), entry("a", 2, 2), entry("b", 1, 1)], &[]).is_empty());
    }

    #[test]
    fn other_runs_are_refused() {
        let [suite, driver, sources, list] = ["0123abc", "fedcba9", "12ab", "99ff"].map(str::to_owned);
        let header = Header { suite, driver, sources, cases: 6, list, shard: 4 };
        let divide = |options: &LedgerOptions, list: &str, sources: Option<&str>| {
            let sitting = Sitting { options, cases: 6, list: list.into(), sources: sources.map(str::to_owned) };
            sitting.divide(&header, &mut names()).map(|shards| shards.len())
        };
        let same = LedgerOptions {
            suite: Some("0123abc".into()),
            driver: Some("fedcba9".into()),
            shard: Some(4),
            ..LedgerOptions::default()
        };
        assert_eq!(divide(&same, "99ff", Some("12ab")), Ok(2));
        // A list of shards needs no driver.
        assert_eq!(divide(&LedgerOptions::default(), "99ff", None), Ok(2));
        let of = |options: LedgerOptions| divide(&options, "99ff", Some("12ab")).unwrap_err();
        let other = Some("aaaaaaa".to_owned());
        let errors = [
            of(LedgerOptions { suite: other.clone(), ..LedgerOptions::default() }),
            of(LedgerOptions { driver: other, ..LedgerOptions::default() }),
            of(LedgerOptions { shard: Some(5), ..LedgerOptions::default() }),
            divide(&same, "98ff", Some("12ab")).unwrap_err(),
            divide(&same, "99ff", Some("unknown")).unwrap_err(),
        ];
        let told = [
            "the suite's commit 0123abc, not aaaaaaa",
            "the driver's commit fedcba9, not aaaaaaa",
            "shards of at most 4, not 5",
            "the list of cases 99ff (6 cases), not 98ff (6 cases)",
            "the driver's commit fedcba9 with the sources 12ab, not unknown",
        ];
        for (error, told) in errors.iter().zip(told) {
            assert!(error.contains(told), "{error}");
        }
    }
}
