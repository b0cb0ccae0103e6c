//! `vitric bench`: time of a program and counters of the emulated GPU, with all techniques enabled
//! and with each one disabled.
//!
//! Times are those of whole processes, from start to end. The configurations alternate, so that
//! other load of the machine affects all of them. They are measured without counters, and one more
//! run of each configuration counts.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde_json::Value;
use vitric_base::counters::TABLE;
use vitric_base::knobs;

use crate::{Failure, counted};

#[derive(Debug, Default, PartialEq)]
struct Args {
    ablate: bool,
    runs: usize,
    program: OsString,
    rest: Vec<OsString>,
}

/// Knobs of a run, and its results.
struct Configuration {
    /// The column's name: that of the disabled knob.
    name: &'static str,
    knobs: Vec<(&'static str, &'static str)>,
    /// Milliseconds of each run.
    times: Vec<f64>,
    /// Counts by the number of the counter.
    counts: Vec<u64>,
}

/// Runs the command.
pub fn command(words: &[OsString]) -> Result<ExitCode, Failure> {
    let args = parse(words)?;
    let mut all = configurations(args.ablate);
    for _ in 0..args.runs {
        for configuration in &mut all {
            let start = Instant::now();
            run(&args, configuration, |command| command)?;
            configuration.times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let folder = counted::Folder::new()?;
    for configuration in &mut all {
        run(&args, configuration, |command| command.env("VITRIC_COUNTERS", folder.path()))?;
        configuration.counts = sum(&folder.take());
    }
    print!("{}", table(&all));
    Ok(ExitCode::SUCCESS)
}

/// Returns true if the options ask for scenes of the gallery instead of a program.
pub fn of_scenes(words: &[OsString]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--scenes") => return true,
            Some("--runs" | "--size") => _ = words.next(),
            Some("--ablate") => {}
            _ => break,
        }
    }
    false
}

/// Returns the configurations: all techniques enabled, then each one disabled, and all disabled.
fn configurations(ablate: bool) -> Vec<Configuration> {
    let new = |name, knobs| Configuration { name, knobs, times: Vec::new(), counts: Vec::new() };
    let mut all = vec![new("all on", Vec::new())];
    if ablate {
        let off: Vec<_> = knobs::table().iter().filter_map(|knob| Some((knob.name, knob.off?))).collect();
        let short = |name: &'static str| name.strip_prefix("VITRIC_").unwrap_or(name);
        all.extend(off.iter().map(|&(name, value)| new(short(name), vec![(name, value)])));
        all.push(new("all off", off));
    }
    all
}

fn run(
    args: &Args,
    configuration: &Configuration,
    prepare: impl Fn(&mut Command) -> &mut Command,
) -> Result<(), Failure> {
    let mut command = Command::new(&args.program);
    command.args(&args.rest).stdout(Stdio::null()).envs(configuration.knobs.iter().copied());
    let status = counted::wait(prepare(&mut command))?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure {
            code: counted::code(status),
            message: format!("the program {} failed ({status}): expected success in every run", args.program.display()),
        }),
    }
}

/// Returns the sums over devices, by the number of the counter.
fn sum(devices: &[String]) -> Vec<u64> {
    let mut counts = vec![0; TABLE.len()];
    for device in devices.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok()) {
        for entry in device["counters"].as_array().into_iter().flatten() {
            let place = TABLE.iter().position(|counter| entry["name"] == counter.name);
            if let (Some(place), Some(value)) = (place, entry["value"].as_u64()) {
                counts[place] += value;
            }
        }
    }
    counts
}

/// Returns the median: of an even number of times the mean of the middle two, of none NaN.
pub fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        many if many % 2 == 0 => (sorted[many / 2 - 1] + sorted[many / 2]) / 2.0,
        many => sorted[many / 2],
    }
}

/// Returns a row for the time and one for each counter that is not zero, with a column for each
/// configuration.
fn table(all: &[Configuration]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut row = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        let _ = write!(text, "{name:<22}");
        cells.for_each(|cell| {
            let _ = write!(text, "{cell:>14}");
        });
        text.push('\n');
    };
    row("off:", &mut all.iter().map(|configuration| configuration.name.to_lowercase()));
    row("milliseconds (median)", &mut all.iter().map(|configuration| format!("{:.1}", median(&configuration.times))));
    let base = all.first().map_or(0.0, |first| median(&first.times));
    if all.len() > 1 && base > 0.0 {
        row(
            "against all on",
            &mut all.iter().map(|configuration| format!("{:.2}", median(&configuration.times) / base)),
        );
    }
    for (number, counter) in TABLE.iter().enumerate() {
        if all.iter().any(|configuration| configuration.counts[number] > 0) {
            row(counter.name, &mut all.iter().map(|configuration| configuration.counts[number].to_string()));
        }
    }
    text
}

fn parse(words: &[OsString]) -> Result<Args, Failure> {
    let mut args = Args { runs: 3, ..Args::default() };
    let mut words = words.iter();
    let mut next = words.next();
    while let Some(word) = next {
        match word.to_str() {
            Some("--ablate") => args.ablate = true,
            Some("--runs") => args.runs = runs(words.next())?,
            Some("--") => {
                next = words.next();
                break;
            }
            Some(other) if other.starts_with('-') => {
                return Err(Failure::usage(format!(
                    "'{other}' is not an option of `vitric bench`: options of the program follow its name"
                )));
            }
            _ => break,
        }
        next = words.next();
    }
    args.program = next.cloned().ok_or_else(|| Failure::usage("vitric bench: expected a program"))?;
    args.rest = words.cloned().collect();
    Ok(args)
}

fn runs(word: Option<&OsString>) -> Result<usize, Failure> {
    let number = word.and_then(|word| word.to_str()).and_then(|word| word.parse().ok()).filter(|&runs| runs > 0);
    let text = word.map(|word| word.to_string_lossy()).unwrap_or_default();
    number.ok_or_else(|| Failure::usage(format!("--runs '{text}': expected a whole number of at least 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_technique_is_off_once_and_all_are_together() {
        let all = configurations(true);
        let off = knobs::table().iter().filter(|knob| knob.off.is_some()).count();
        assert_eq!((all.len(), all[0].knobs.len(), all[off + 1].knobs.len()), (off + 2, 0, off));
        assert!(all[1..=off].iter().all(|configuration| configuration.knobs.len() == 1));
        assert_eq!(configurations(false).len(), 1);
    }

    #[test]
    fn tables_have_what_counted() {
        let mut all = configurations(true);
        let (on, off) = (r#"{"counters":[{"name":"waves","value":7},{"name":"unheard_of","value":1}]}"#, "{}");
        for (number, configuration) in all.iter_mut().enumerate() {
            configuration.times = vec![4.0, 2.0 * (number + 1) as f64, 100.0];
            configuration.counts = sum(&[if number == 0 { on } else { off }.to_owned()]);
        }
        let text = table(&all[..2]);
        let words = |line: usize| text.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(words(0), ["off:", "all", "on", "tbimr"]);
        assert_eq!(words(1), ["milliseconds", "(median)", "4.0", "4.0"]);
        assert_eq!((words(3), text.lines().count()), (vec!["waves", "7", "0"], 4));
    }

    #[test]
    fn options_are_understood() {
        let parsed = |words: &[&str]| parse(&words.iter().map(OsString::from).collect::<Vec<_>>());
        let args = parsed(&["--runs", "5", "--ablate", "--", "vkcube", "--c", "2"]).ok().unwrap();
        assert_eq!((args.ablate, args.runs, args.program.to_str(), args.rest.len()), (true, 5, Some("vkcube"), 2));
        let scenes = |words: &[&str]| of_scenes(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(
            scenes(&["--ablate", "--runs", "3", "--scenes", "cube"]) && !scenes(&["--ablate", "program", "--scenes"])
        );
        for words in [&[][..], &["--"], &["--runs"], &["--runs", "0", "p"], &["--what", "p"]] {
            assert_eq!(parsed(words).err().map(|f| f.code), Some(2), "{words:?}");
        }
    }
}
