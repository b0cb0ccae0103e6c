//! `vitric bench --ablate --scenes`: each technique on each scene of the gallery, by what its
//! counters say that it saved, and by the time of a frame with the technique on and off.
//!
//! Each run is a process of its own, which renders a few frames of one scene. A round has a run
//! with each technique off, and one with all techniques on among them. The order of the runs is
//! reversed from round to round, so that slow changes of the machine's load affect all techniques.
//! Every run's picture must be that of the first. A scene's row is printed as soon as it is
//! measured.

use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;
use vitric_samples::{Options, Picture, SceneInfo, find, scenes};

use crate::bench::median;
use crate::{Failure, gallery, heatmaps};

/// A technique of the emulated GPU.
struct Technique {
    /// The column's name.
    name: &'static str,
    /// Knobs with the values that turn it off.
    off: &'static [(&'static str, &'static str)],
    /// The work that it saved.
    saved: Saved,
}

/// How saved work is counted.
enum Saved {
    /// By the sum of counters of the technique.
    Counted(&'static [&'static str]),
    /// By a counter that is lower with the technique than without it.
    Fewer(&'static str),
}

/// All techniques. A technique needs no other mention in this file.
const TECHNIQUES: [Technique; 7] = [
    Technique { name: "tbimr", off: &[("VITRIC_TBIMR", "off")], saved: Saved::Fewer("tiles_processed") },
    Technique { name: "coverage", off: &[("VITRIC_COVERAGE", "flat")], saved: Saved::Fewer("samples_standard") },
    Technique { name: "hiz", off: &[("VITRIC_HIZ", "off")], saved: Saved::Counted(&HIZ_KILLS) },
    Technique {
        name: "posh",
        off: &[("VITRIC_POSH", "off"), ("VITRIC_LOOKAHEAD", "0")],
        saved: Saved::Counted(&POSH_KILLS),
    },
    Technique { name: "scoreboard", off: &[("VITRIC_SCOREBOARD", "off")], saved: Saved::Counted(&["dropped"]) },
    Technique {
        name: "nearmem",
        off: &[("VITRIC_NEARMEM", "off")],
        saved: Saved::Counted(&["spans_cleared", "spans_compacted"]),
    },
    Technique {
        name: "merged",
        off: &[("VITRIC_MERGED", "off")],
        // Waves that keep the vertices between both stages in local memory.
        saved: Saved::Counted(&["merged_plain", "merged_replicated"]),
    },
];

const HIZ_KILLS: [&str; 6] =
    ["hiz_early_kills", "hiz_tile_kills", "hiz_group_kills", "hiz_block_kills", "hiz_quad_kills", "hiz_small_kills"];
const POSH_KILLS: [&str; 3] = ["posh_volume_kills", "posh_facing_kills", "posh_hidden_kills"];

/// Frames of a run that are not timed, in which kernels are compiled.
const WARM: usize = 3;
/// Least number of timed frames of a run.
const MIN_TIMED: usize = 4;
/// Largest number of timed frames of a run.
const MAX_TIMED: usize = 32;
/// Milliseconds that the timed frames of a run should take together. Short frames are many frames,
/// because the process spends most of its time on the resources of the scene.
const TIMED_MS: f64 = 60.0;
/// A smaller change of a frame's time is not counted as a gain.
const GAIN: f64 = 1.03;

struct Args {
    rounds: usize,
    options: Options,
    scenes: Vec<&'static SceneInfo>,
}

/// Results of a scene.
struct Row {
    /// Milliseconds of a frame in each run with all techniques on.
    on: Vec<f64>,
    /// Results of each technique.
    cells: Vec<Cell>,
}

/// Results of a technique on a scene.
struct Cell {
    saved: u64,
    /// Milliseconds of a frame in each run without the technique.
    off: Vec<f64>,
}

impl Row {
    /// Returns the time without a technique over the time with all techniques.
    fn gain(&self, technique: usize) -> f64 {
        median(&self.cells[technique].off) / median(&self.on)
    }

    /// Returns the row's line of the table.
    fn line(&self, scene: &str) -> String {
        let cell = |(number, cell): (usize, &Cell)| format!("{:>13}{:>8.3}", cell.saved, self.gain(number));
        let cells = self.cells.iter().enumerate().map(cell).collect::<String>();
        format!("{scene:<14}{:>9.2}{cells}\n", median(&self.on))
    }
}

/// Runs the command.
pub fn command(words: &[String]) -> Result<ExitCode, Failure> {
    let args = parse(words)?;
    let folder = std::env::temp_dir().join(format!("vitric-ablation-{}", std::process::id()));
    let result = measure_all(&args, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    result.map(|()| ExitCode::SUCCESS)
}

/// Measures all scenes, and prints the table line by line.
fn measure_all(args: &Args, folder: &Path) -> Result<(), Failure> {
    print_now(&head())?;
    let mut rows = Vec::new();
    for scene in &args.scenes {
        let runs = Runs { scene, options: &args.options, folder };
        let row = runs.measure(args.rounds)?;
        print_now(&row.line(scene.name))?;
        rows.push((scene.name, row));
    }
    print_now(&summary(&rows))
}

/// Prints text at once, also if the output is a file.
fn print_now(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(|e| Failure::new(format!("the table cannot be printed: {e}")))
}

/// Runs of a scene.
struct Runs<'a> {
    scene: &'static SceneInfo,
    options: &'a Options,
    /// Folder of the pictures.
    folder: &'a Path,
}

impl Runs<'_> {
    /// Measures the scene with each technique.
    fn measure(&self, rounds: usize) -> Result<Row, Failure> {
        let (_, with) = heatmaps::counted(self.scene, self.options, &[])?;
        let mut row = Row { on: Vec::new(), cells: Vec::new() };
        for technique in &TECHNIQUES {
            row.cells.push(Cell { saved: technique.saved(&with, self)?, off: Vec::new() });
        }
        let (expected, time) = self.frame(&[], MIN_TIMED)?;
        row.on.push(time);
        let timed = ((TIMED_MS / time) as usize).clamp(MIN_TIMED, MAX_TIMED);
        for number in (0..rounds).flat_map(order) {
            let off = number.map_or(&[][..], |number| TECHNIQUES[number].off);
            let (picture, time) = self.frame(off, timed)?;
            if picture != expected {
                return Err(self.failure(format!("{off:?} changes the picture: expected equal pictures")));
            }
            number.map_or(&mut row.on, |number| &mut row.cells[number].off).push(time);
        }
        Ok(row)
    }

    fn failure(&self, what: String) -> Failure {
        Failure::new(format!("{}: {what}", self.scene.name))
    }

    /// Renders the scene in a process with these knobs. Returns its picture and the median time of
    /// a frame in milliseconds.
    fn frame(&self, knobs: &[(&str, &str)], timed: usize) -> Result<(Vec<u8>, f64), Failure> {
        let (Options { width, height, .. }, frames) = (self.options, WARM + timed);
        let program = std::env::current_exe()
            .map_err(|e| self.failure(format!("the path of this program cannot be read: {e}")))?;
        let output = Command::new(program)
            .args(["gallery", "--times", "--size", &format!("{width}x{height}")])
            .args(["--frames", &frames.to_string(), "--out"])
            .arg(self.folder)
            .arg(self.scene.name)
            .envs(knobs.iter().copied())
            .stdin(Stdio::null())
            .output()
            .map_err(|e| self.failure(format!("the measured process cannot be started: {e}")))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(self.failure(format!("the measured process failed ({}): {}", output.status, errors.trim())));
        }
        let times = times(&String::from_utf8_lossy(&output.stdout));
        if times.len() != frames {
            return Err(self.failure(format!("{} times in the process's output: expected {frames}", times.len())));
        }
        let file = self.folder.join(format!("{}.png", self.scene.name));
        let picture = Picture::load(&file).map_err(|e| self.failure(e.to_string()))?;
        Ok((picture.rgba, median(&times[WARM..])))
    }
}

/// Returns the runs of a round: numbers of the techniques that are off, or `None` if all are on.
fn order(round: usize) -> Vec<Option<usize>> {
    let mut order: Vec<_> = (0..TECHNIQUES.len()).map(Some).collect();
    order.insert(TECHNIQUES.len() / 2, None);
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

impl Technique {
    /// Returns the saved work. `with` is the report of a run with all techniques.
    fn saved(&self, with: &Value, runs: &Runs<'_>) -> Result<u64, Failure> {
        match self.saved {
            Saved::Counted(names) => Ok(names.iter().map(|name| count(with, name)).sum()),
            Saved::Fewer(name) => {
                let (_, without) = heatmaps::counted(runs.scene, runs.options, self.off)?;
                Ok(count(&without, name).saturating_sub(count(with, name)))
            }
        }
    }
}

fn count(report: &Value, name: &str) -> u64 {
    let counters = report["counters"].as_array().into_iter().flatten();
    counters.filter(|entry| entry["name"] == name).filter_map(|entry| entry["value"].as_u64()).sum()
}

/// Returns the times in the line that `vitric gallery --times` prints.
fn times(text: &str) -> Vec<f64> {
    let line = text.lines().find_map(|line| line.split_once(gallery::TIMES));
    line.map_or(Vec::new(), |(_, times)| times.split_whitespace().filter_map(|time| time.parse().ok()).collect())
}

/// Returns the lines above the rows.
fn head() -> String {
    let names = TECHNIQUES.iter().map(|technique| format!("{:>21}", technique.name)).collect::<String>();
    let columns = format!("{:>13}{:>8}", "saved", "off/on").repeat(TECHNIQUES.len());
    format!("{:<23}{names}\n{:<14}{:>9}{columns}\n", "", "scene", "ms")
}

/// Result of a technique on a scene.
struct Measured<'a> {
    scene: &'a str,
    saved: u64,
    /// The time without the technique over the time with all techniques.
    gain: f64,
}

/// Returns the lines below the rows, which sum up each technique.
fn summary(rows: &[(&'static str, Row)]) -> String {
    let line = |name: &str, of: fn(&[Measured<'_>]) -> String| {
        let cells = (0..TECHNIQUES.len()).map(|number| {
            let measured = |(scene, row): &(&'static str, Row)| Measured {
                scene,
                saved: row.cells[number].saved,
                gain: row.gain(number),
            };
            format!("{:>21}", of(&rows.iter().map(measured).collect::<Vec<_>>()))
        });
        format!("{name:<23}{}\n", cells.collect::<String>())
    };
    let mean = line("geometric mean", |all| {
        let logarithms = all.iter().map(|one| one.gain.ln()).sum::<f64>();
        format!("{:.3}", (logarithms / all.len() as f64).exp())
    });
    let saving = line("scenes with saved work", |all| all.iter().filter(|one| one.saved > 0).count().to_string());
    let faster = line("scenes 3 % faster", |all| all.iter().filter(|one| one.gain >= GAIN).count().to_string());
    let loss = line("largest loss", |all| {
        let worst = all.iter().min_by(|a, b| a.gain.total_cmp(&b.gain));
        worst.map_or(String::new(), |one| format!("{} {:.3}", one.scene, one.gain))
    });
    mean + &saving + &faster + &loss
}

fn parse(words: &[String]) -> Result<Args, Failure> {
    let mut args = Args { rounds: 5, options: Options::default(), scenes: Vec::new() };
    let mut ablate = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word}: expected a value after it")));
        match word.as_str() {
            "--ablate" => ablate = true,
            "--scenes" => {}
            "--runs" => args.rounds = gallery::count(word, value()?)? as usize,
            "--size" => (args.options.width, args.options.height) = gallery::size(value()?)?,
            option if option.starts_with('-') => {
                return Err(Failure::usage(format!("'{option}' is not an option of `vitric bench --scenes`")));
            }
            name => args.scenes.push(find(name).map_err(|e| Failure::usage(e.to_string()))?),
        }
    }
    if !ablate {
        return Err(Failure::usage("vitric bench --scenes: expected --ablate"));
    }
    if args.scenes.is_empty() {
        args.scenes = scenes().iter().collect();
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vitric_base::{counters, knobs};

    #[test]
    fn techniques_name_knobs_and_counters_that_exist() {
        for technique in &TECHNIQUES {
            for (name, value) in technique.off {
                let knob = knobs::table().iter().find(|knob| knob.name == *name);
                assert!(knob.is_some_and(|knob| knob.off == Some(*value)), "{name}={value}");
            }
            let names: &[&str] = match &technique.saved {
                Saved::Counted(names) => names,
                Saved::Fewer(name) => &[*name],
            };
            assert!(names.iter().all(|name| counters::TABLE.iter().any(|counter| counter.name == *name)), "{names:?}");
        }
    }

    #[test]
    fn tables_sum_up_techniques() {
        let row = |saved, off: f64| {
            let cells = TECHNIQUES.iter().map(|_| Cell { saved, off: vec![off; 3] }).collect();
            Row { on: vec![2.0, 18.0, 2.0], cells }
        };
        let rows = [("cube", row(7, 4.0)), ("wire", row(0, 1.0))];
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&rows[0].1.line("cube"))[..4], ["cube", "2.00", "7", "2.000"]);
        assert_eq!(head().lines().map(str::len).collect::<Vec<_>>(), [rows[0].1.line("cube").len() - 1; 2]);
        let summary: Vec<_> = summary(&rows).lines().map(words).collect();
        assert_eq!((&*summary[0][2], &*summary[1][4], &*summary[2][4]), ("1.000", "1", "1"));
        assert_eq!(summary[3][2..4], ["wire", "0.500"]);
    }

    #[test]
    fn rounds_have_each_technique_once_and_reverse_their_order() {
        let mut order = [order(0), order(1)];
        order[1].reverse();
        assert_eq!(order[0], order[1]);
        assert_eq!(order[0].iter().filter(|number| number.is_none()).count(), 1);
        assert!(order[0].iter().flatten().copied().eq(0..TECHNIQUES.len()));
    }

    #[test]
    fn times_and_options_are_understood() {
        assert_eq!(times("cube  5 ms\ncube: milliseconds of frames: 1.5 2\n"), [1.5, 2.0]);
        let parsed = |words: &[&str]| parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let args = parsed(&["--ablate", "--scenes", "cube", "--runs", "2", "--size", "64x32"]).ok().unwrap();
        assert_eq!((args.rounds, args.options.width, args.options.height, args.scenes.len()), (2, 64, 32, 1));
        assert_eq!(parsed(&["--scenes", "--ablate"]).ok().unwrap().scenes.len(), scenes().len());
        for words in
            [&["--scenes"][..], &["--ablate", "--what"], &["--ablate", "nothing"], &["--ablate", "--runs", "0"]]
        {
            assert_eq!(parsed(words).err().map(|f| f.code), Some(2), "{words:?}");
        }
    }
}
