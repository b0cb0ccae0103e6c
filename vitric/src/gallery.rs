//! `vitric gallery`: the sample scenes on the linked driver, as pictures and a page.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use vitric_samples::gallery::{Progress, make};
use vitric_samples::{Options, SceneInfo, find, scenes};

use crate::{Failure, compaction, driver, heatmaps};

/// Text before the times of a scene's frames.
pub const TIMES: &str = ": milliseconds of frames:";

struct Args {
    options: Options,
    out: PathBuf,
    scenes: Vec<&'static SceneInfo>,
    list: bool,
    times: bool,
    heatmaps: bool,
    compaction: bool,
}

/// Runs the command.
pub fn command(args: &[String]) -> Result<ExitCode, Failure> {
    let args = parse(args)?;
    if args.list {
        scenes().iter().for_each(|scene| println!("{:<12} {}: {}", scene.name, scene.title, scene.about));
        return Ok(ExitCode::SUCCESS);
    }
    if args.compaction {
        compaction::table(&args.scenes, &args.options)?.iter().for_each(|line| println!("{line}"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut bar = Bar { live: std::io::stderr().is_terminal() };
    let entry = driver::entry()?;
    let made = make(&entry, &args.scenes, &args.options, &args.out, |progress| bar.show(&progress));
    bar.clear();
    let (page, shots) = made.map_err(|e| Failure::new(e.to_string()))?;
    for shot in &shots {
        let file = args.out.join(format!("{}.png", shot.scene.name));
        println!("{:<12} {:>10.1} ms a frame   {}", shot.scene.name, shot.frame_ms(), file.display());
        if args.times {
            let times: String = shot.times.iter().map(|time| format!(" {time:.3}")).collect();
            println!("{}{TIMES}{times}", shot.scene.name);
        }
    }
    if args.heatmaps {
        for scene in &args.scenes {
            heatmaps::make(scene, &args.options, &args.out)?.iter().for_each(|line| println!("{line}"));
        }
    }
    println!("open {}", page.canonicalize().unwrap_or(page).display());
    Ok(ExitCode::SUCCESS)
}

/// Progress on the standard error stream: one line that redraws itself on a terminal, plain lines
/// elsewhere.
struct Bar {
    live: bool,
}

impl Bar {
    fn show(&mut self, progress: &Progress<'_>) {
        let line = match (progress, self.live) {
            (&Progress::Begin { scene, index, count }, true) => {
                let (done, left) = ("█".repeat(index), "░".repeat(count - index));
                format!("\r\x1b[K{done}{left} {}/{count}  {}", index + 1, scene.title)
            }
            (&Progress::Begin { scene, index, count }, false) => {
                format!("rendering {}/{count}: {}\n", index + 1, scene.name)
            }
            (Progress::Done { .. }, _) => return,
        };
        eprint!("{line}");
        // A closed error stream is no reason to stop rendering.
        let _ = std::io::stderr().flush();
    }

    fn clear(&self) {
        if self.live {
            eprint!("\r\x1b[K");
        }
    }
}

fn parse(words: &[String]) -> Result<Args, Failure> {
    let mut args = Args {
        options: Options::default(),
        out: PathBuf::from("out/gallery"),
        scenes: Vec::new(),
        list: false,
        times: false,
        heatmaps: false,
        compaction: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word}: expected a value after it")));
        match word.as_str() {
            "--out" => args.out = value()?.into(),
            "--size" => (args.options.width, args.options.height) = size(value()?)?,
            "--frames" => args.options.frames = count(word, value()?)?,
            "--list" => args.list = true,
            "--times" => args.times = true,
            "--store-all" => args.options.gpu.stores_all = true,
            "--heatmaps" => args.heatmaps = true,
            "--compaction" => args.compaction = true,
            option if option.starts_with('-') => {
                return Err(Failure::usage(format!("'{option}' is not an option of `vitric gallery`")));
            }
            name => args.scenes.push(find(name).map_err(|e| Failure::usage(e.to_string()))?),
        }
    }
    if args.scenes.is_empty() {
        args.scenes = scenes().iter().collect();
    }
    Ok(args)
}

/// Parses the value of an option that counts.
pub fn count(option: &str, text: &str) -> Result<u32, Failure> {
    let wrong = || Failure::usage(format!("{option} {text}: expected a whole number of at least 1"));
    text.parse().ok().filter(|&n| n > 0).ok_or_else(wrong)
}

/// Parses `WxH`, each side from 1 to 4096, which every Vulkan device supports.
pub fn size(text: &str) -> Result<(u32, u32), Failure> {
    let side = |text: &str| text.parse().ok().filter(|n| (1..=4096).contains(n));
    let sides = text.split_once('x').and_then(|(w, h)| Some((side(w)?, side(h)?)));
    sides.ok_or_else(|| Failure::usage(format!("--size {text}: expected WIDTHxHEIGHT, each from 1 to 4096")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Args, Failure> {
        parse(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_and_scenes_are_understood() {
        let args = parsed(&["--size", "320x180", "--frames", "3", "cube", "--out", "x", "--store-all", "--times"])
            .ok()
            .unwrap();
        assert!(args.times && args.options.gpu.stores_all && !Options::default().gpu.stores_all);
        assert_eq!((args.options.width, args.options.height, args.options.frames), (320, 180, 3));
        assert_eq!((args.scenes.len(), args.scenes[0].name), (1, "cube"));
        assert_eq!(parsed(&[]).ok().unwrap().scenes.len(), scenes().len());
    }

    #[test]
    fn wrong_usage_is_reported() {
        for words in
            [&["--size"][..], &["--size", "0x5"], &["--size", "9999x1"], &["--frames", "0"], &["nothing"], &["--x"]]
        {
            assert_eq!(parsed(words).err().map(|f| f.code), Some(2), "{words:?}");
        }
    }
}
