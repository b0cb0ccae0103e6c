//! `vitric bench --ablate --scenes`: each technique on each scene of the gallery, by what its
//! counters say that it saved, and by the time of a frame with the technique on and off.
//!
//! Each measurement is a process of its own, which renders a few frames of one scene. Runs with the
//! technique on and off alternate, and their order changes from run to run, so that slow changes of
//! the machine's load affect both. Every run's picture must be that of the first.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;
use vitric_samples::{Options, Picture, SceneInfo, find, scenes};

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
    Technique { name: "merged", off: &[("VITRIC_MERGED", "off")], saved: Saved::Fewer("vertices") },
];

const HIZ_KILLS: [&str; 6] =
    ["hiz_early_kills", "hiz_tile_kills", "hiz_group_kills", "hiz_block_kills", "hiz_quad_kills", "hiz_small_kills"];
const POSH_KILLS: [&str; 3] = ["posh_volume_kills", "posh_facing_kills", "posh_hidden_kills"];

/// Frames of a run that are not timed, in which kernels are compiled.
const WARM: usize = 3;
/// Timed frames of a run.
const TIMED: usize = 4;
/// A smaller change of a frame's time is not counted as a gain.
const GAIN: f64 = 1.03;

struct Args {
    runs: usize,
    options: Options,
    scenes: Vec<&'static SceneInfo>,
}

/// Results of a technique on a scene.
#[derive(Default)]
struct Cell {
    saved: u64,
    /// Milliseconds of a frame in each run, with the technique and without it.
    on: Vec<f64>,
    off: Vec<f64>,
}

impl Cell {
    /// Returns the time without the technique over the time with it.
    fn gain(&self) -> f64 {
        median(&self.off) / median(&self.on)
    }
}

/// Runs the command.
pub fn command(words: &[String]) -> Result<ExitCode, Failure> {
    let args = parse(words)?;
    let folder = std::env::temp_dir().join(format!("vitric-ablation-{}", std::process::id()));
    let mut rows = Vec::new();
    for scene in &args.scenes {
        let row = row(scene, &args, &folder);
        if row.is_err() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        rows.push((scene.name, row?));
        eprintln!("measured {} of {} scenes: {}", rows.len(), args.scenes.len(), scene.name);
    }
    let _ = std::fs::remove_dir_all(&folder);
    print!("{}", table(&rows));
    Ok(ExitCode::SUCCESS)
}

/// Measures a scene with each technique.
fn row(scene: &'static SceneInfo, args: &Args, folder: &Path) -> Result<Vec<Cell>, Failure> {
    let (_, with) = heatmaps::counted(scene, &args.options, &[])?;
    let expected = frame(scene, args, &[], folder)?.0;
    let mut cells = Vec::new();
    for technique in &TECHNIQUES {
        let mut cell = Cell { saved: technique.saved(&with, scene, args)?, ..Cell::default() };
        for run in 0..args.runs * 2 {
            // On, off, off, on, and so forth.
            let off = matches!(run % 4, 1 | 2);
            let knobs = if off { technique.off } else { &[] };
            let (picture, time) = frame(scene, args, knobs, folder)?;
            if picture != expected {
                return Err(Failure::new(format!(
                    "{}: {} changes the picture: expected equal pictures",
                    scene.name, technique.name
                )));
            }
            if off { cell.off.push(time) } else { cell.on.push(time) }
        }
        cells.push(cell);
    }
    Ok(cells)
}

impl Technique {
    /// Returns the saved work. `with` is the report of a run with all techniques.
    fn saved(&self, with: &Value, scene: &SceneInfo, args: &Args) -> Result<u64, Failure> {
        match self.saved {
            Saved::Counted(names) => Ok(names.iter().map(|name| count(with, name)).sum()),
            Saved::Fewer(name) => {
                let (_, without) = heatmaps::counted(scene, &args.options, self.off)?;
                Ok(count(&without, name).saturating_sub(count(with, name)))
            }
        }
    }
}

fn count(report: &Value, name: &str) -> u64 {
    let counters = report["counters"].as_array().into_iter().flatten();
    counters.filter(|entry| entry["name"] == name).filter_map(|entry| entry["value"].as_u64()).sum()
}

/// Renders a scene in a process with these knobs. Returns its picture and the median time of a
/// frame in milliseconds.
fn frame(scene: &SceneInfo, args: &Args, knobs: &[(&str, &str)], folder: &Path) -> Result<(Vec<u8>, f64), Failure> {
    let failed = |what: String| Failure::new(format!("{}: {what}", scene.name));
    let program =
        std::env::current_exe().map_err(|e| failed(format!("the path of this program cannot be read: {e}")))?;
    let output = Command::new(program)
        .args(["gallery", "--times", "--size", &format!("{}x{}", args.options.width, args.options.height)])
        .args(["--frames", &(WARM + TIMED).to_string(), "--out"])
        .arg(folder)
        .arg(scene.name)
        .envs(knobs.iter().copied())
        .stdin(Stdio::null())
        .output()
        .map_err(|e| failed(format!("the measured process cannot be started: {e}")))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("the measured process failed ({}): {}", output.status, errors.trim())));
    }
    let times = times(&String::from_utf8_lossy(&output.stdout));
    let picture = Picture::load(&folder.join(format!("{}.png", scene.name))).map_err(|e| failed(e.to_string()))?;
    if times.len() != WARM + TIMED {
        return Err(failed(format!("the measured process printed {} times: expected {}", times.len(), WARM + TIMED)));
    }
    Ok((picture.rgba, median(&times[WARM..])))
}

/// Returns the times in the line that `vitric gallery --times` prints.
fn times(text: &str) -> Vec<f64> {
    let line = text.lines().find_map(|line| line.split_once(gallery::TIMES));
    line.map_or(Vec::new(), |(_, times)| times.split_whitespace().filter_map(|time| time.parse().ok()).collect())
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        many if many % 2 == 0 => (sorted[many / 2 - 1] + sorted[many / 2]) / 2.0,
        many => sorted[many / 2],
    }
}

/// Function that sums up a technique's cells, each with the name of its scene.
type Summary<'a> = dyn Fn(&[(&str, &Cell)]) -> String + 'a;

fn table(rows: &[(&str, Vec<Cell>)]) -> String {
    let mut lines = vec![
        format!("{:<14}{:>9}", "", "") + &TECHNIQUES.iter().map(|t| format!("{:>21}", t.name)).collect::<String>(),
        format!("{:<14}{:>9}", "scene", "ms") + &format!("{:>13}{:>8}", "saved", "off/on").repeat(TECHNIQUES.len()),
    ];
    for (name, cells) in rows {
        let all: Vec<f64> = cells.iter().flat_map(|cell| cell.on.iter().copied()).collect();
        let cells = cells.iter().map(|cell| format!("{:>13}{:>8.3}", cell.saved, cell.gain())).collect::<String>();
        lines.push(format!("{name:<14}{:>9.2}{cells}", median(&all)));
    }
    let mut summary = |name: &str, of: &Summary<'_>| {
        let cells = (0..TECHNIQUES.len()).map(|number| {
            let column: Vec<_> = rows.iter().map(|(scene, cells)| (*scene, &cells[number])).collect();
            format!("{:>21}", of(&column))
        });
        lines.push(format!("{name:<23}{}", cells.collect::<String>()));
    };
    summary("geometric mean", &|column| {
        let logarithms = column.iter().map(|(_, cell)| cell.gain().ln()).sum::<f64>();
        format!("{:.3}", (logarithms / column.len() as f64).exp())
    });
    summary("scenes with saved work", &|column| column.iter().filter(|(_, cell)| cell.saved > 0).count().to_string());
    summary("scenes 3 % faster", &|column| column.iter().filter(|(_, cell)| cell.gain() >= GAIN).count().to_string());
    summary("largest loss", &|column| {
        let worst = column.iter().min_by(|a, b| a.1.gain().total_cmp(&b.1.gain()));
        worst.map_or(String::new(), |(scene, cell)| format!("{scene} {:.3}", cell.gain()))
    });
    lines.join("\n") + "\n"
}

fn parse(words: &[String]) -> Result<Args, Failure> {
    let mut args = Args { runs: 5, options: Options::default(), scenes: Vec::new() };
    let mut ablate = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word}: expected a value after it")));
        match word.as_str() {
            "--ablate" => ablate = true,
            "--scenes" => {}
            "--runs" => args.runs = gallery::count(word, value()?)? as usize,
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
        let cell = |saved, on: f64, off: f64| Cell { saved, on: vec![on, 9.0 * on, on], off: vec![off; 3] };
        let row = |saved, off: f64| (0..TECHNIQUES.len()).map(|_| cell(saved, 2.0, off)).collect::<Vec<_>>();
        let text = table(&[("cube", row(7, 4.0)), ("wire", row(0, 1.0))]);
        let words = |start: &str| {
            text.lines().find(|line| line.starts_with(start)).unwrap().split_whitespace().collect::<Vec<_>>()
        };
        assert_eq!(words("cube")[..4], ["cube", "2.00", "7", "2.000"]);
        assert_eq!(words("geometric")[2], "1.000");
        assert_eq!((words("scenes with")[4], words("scenes 3")[4], words("largest")[2]), ("1", "1", "wire"));
        assert_eq!(words("largest")[3], "0.500");
    }

    #[test]
    fn times_and_options_are_understood() {
        assert_eq!(times("cube  5 ms\ncube: milliseconds of frames: 1.5 2\n"), [1.5, 2.0]);
        let parsed = |words: &[&str]| parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let args = parsed(&["--ablate", "--scenes", "cube", "--runs", "2", "--size", "64x32"]).ok().unwrap();
        assert_eq!((args.runs, args.options.width, args.options.height, args.scenes.len()), (2, 64, 32, 1));
        assert_eq!(parsed(&["--scenes", "--ablate"]).ok().unwrap().scenes.len(), scenes().len());
        for words in
            [&["--scenes"][..], &["--ablate", "--what"], &["--ablate", "nothing"], &["--ablate", "--runs", "0"]]
        {
            assert_eq!(parsed(words).err().map(|f| f.code), Some(2), "{words:?}");
        }
    }
}
