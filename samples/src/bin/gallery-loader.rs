//! The gallery through the system's Vulkan loader: the scenes on any driver that the loader finds.
//!
//! `gallery-loader [--validate] [--out DIR] [--size WxH] [--frames N] [SCENE..]`. `--validate`
//! enables the validation layer with synchronization validation, and any message makes the program
//! fail.

use std::path::PathBuf;
use std::process::ExitCode;
use vitric_samples::gallery::{self, Progress};
use vitric_samples::{Options, SceneInfo, Shot, find, scenes};

struct Args {
    options: Options,
    out: PathBuf,
    scenes: Vec<&'static SceneInfo>,
}

fn main() -> ExitCode {
    match parse().and_then(|args| run(&args)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(count) => {
            eprintln!("gallery-loader: {count} validation messages: expected none");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("gallery-loader: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse() -> Result<Args, String> {
    let mut args = Args { options: Options::default(), out: PathBuf::from("gallery"), scenes: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word}: expected a value after it"));
        match word.as_str() {
            "--validate" => args.options.gpu.validation = true,
            "--out" => args.out = value()?.into(),
            "--size" => (args.options.width, args.options.height) = size(&value()?)?,
            "--frames" => args.options.frames = value()?.parse().map_err(|_| "--frames: expected a whole number")?,
            name => args.scenes.push(find(name).map_err(|e| e.to_string())?),
        }
    }
    if args.scenes.is_empty() {
        args.scenes = scenes().iter().collect();
    }
    Ok(args)
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parsed.ok_or_else(|| format!("--size {text}: expected WIDTHxHEIGHT"))
}

/// Renders, prints measurements, and returns the number of validation messages.
fn run(args: &Args) -> Result<usize, String> {
    // SAFETY: the system's loader is a well-behaved library; it stays loaded as long as the entry.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|e| format!("the Vulkan loader cannot be opened: {e}: install it (libvulkan.so.1)"))?;
    let mut tell = |progress: Progress<'_>| {
        if let Progress::Done { shot, file } = progress {
            report(shot, file);
        }
    };
    let (page, shots) =
        gallery::make(&entry, &args.scenes, &args.options, &args.out, &mut tell).map_err(|e| e.to_string())?;
    println!("{}", page.display());
    Ok(shots.iter().map(|shot| shot.messages.len()).sum())
}

fn report(shot: &Shot, file: &std::path::Path) {
    println!("{:<12} {:>9.2} ms  {}  ({})", shot.scene.name, shot.frame_ms(), file.display(), shot.device);
    shot.messages.iter().for_each(|message| eprintln!("{}: {message}", shot.scene.name));
}
