//! The command line: `vitric COMMAND`. Without a command it renders the gallery.
//!
//! Each command has its file. Exit codes: 0 success, 1 failure, 2 wrong usage. `run` returns 127
//! when the program is missing, and otherwise the program's own code.

mod ablation;
mod bench;
mod compaction;
mod counted;
mod cts;
mod driver;
mod gallery;
mod heatmaps;
mod info;
mod install;
mod manifest;
mod run;
mod shader;

use std::process::ExitCode;

/// Reason why a command failed.
pub(crate) struct Failure {
    /// The exit code.
    pub code: u8,
    /// One sentence for the user.
    pub message: String,
}

impl Failure {
    /// Returns a failure of the work itself.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure { code: 1, message: message.into() }
    }

    /// Returns a failure of the command line.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { code: 2, message: message.into() + " (see `vitric help`)" }
    }
}

fn main() -> ExitCode {
    // A closed pipe (`vitric info | head`) ends the program quietly, as it ends other tools.
    // SAFETY: no other thread exists yet, and the default action is a valid disposition.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("vitric: {}", failure.message);
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(args: &[std::ffi::OsString]) -> Result<ExitCode, Failure> {
    let Some(command) = args.first() else { return gallery::command(&[]) };
    let rest = &args[1..];
    match command.to_str().unwrap_or_default() {
        "gallery" => gallery::command(&text(rest)?),
        "run" => run::command(rest),
        "bench" if bench::of_scenes(rest) => ablation::command(&text(rest)?),
        "bench" => bench::command(rest),
        "install" => install::command(&text(rest)?, install::Action::Install),
        "uninstall" => install::command(&text(rest)?, install::Action::Uninstall),
        "cts" => cts::command(text(rest)?),
        "info" => info::command(&text(rest)?),
        "shader" => shader::command(&text(rest)?),
        "help" | "--help" | "-h" => help(),
        "--version" | "-V" => version(),
        other => Err(Failure::usage(format!("'{other}' is not a command"))),
    }
}

/// Returns the arguments of commands without file names of other programs, which must be UTF-8.
fn text(args: &[std::ffi::OsString]) -> Result<Vec<String>, Failure> {
    let one = |arg: &std::ffi::OsString| {
        arg.to_str().map(str::to_owned).ok_or_else(|| Failure::usage(format!("{arg:?}: expected text in UTF-8")))
    };
    args.iter().map(one).collect()
}

fn help() -> Result<ExitCode, Failure> {
    print!("{HELP}");
    Ok(ExitCode::SUCCESS)
}

fn version() -> Result<ExitCode, Failure> {
    println!("vitric {}", env!("CARGO_PKG_VERSION"));
    Ok(ExitCode::SUCCESS)
}

const HELP: &str = "\
vitric: a Vulkan driver whose GPU is emulated

  vitric [gallery] [--out DIR] [--size WxH] [--frames N] [--times] [--list] [--heatmaps | --compaction] [--store-all]
                   [SCENE..]
        Renders the sample scenes with the driver linked into this program, as PNGs and one HTML page. Default: all
        scenes, 960x540, one frame each, into ./out/gallery. --times prints the time of each frame. --heatmaps adds
        pictures of overdraw, Hi-Z kills, fragments that the scoreboard dropped, and wave occupancy, and the counters
        of each scene as JSON. --store-all lets passes store attachments whose contents nothing reads. --compaction
        prints instead how well near memory codes the scenes' images, by kind, with --store-all.
  vitric run [--set KNOB=VALUE].. [--counters FILE] [--] PROGRAM [ARGS..]
        Runs any Vulkan program on this driver, through the system's Vulkan loader. KNOB is the name of an
        environment variable with or without its VITRIC_ prefix. --counters writes what each of its devices counted,
        by submission, pass and draw, as JSON.
  vitric bench [--ablate] [--runs N] [--] PROGRAM [ARGS..]
        Runs a program N times (default 3) and prints its time and its counters. --ablate also runs it with each
        technique of the emulated GPU off. These runs alternate, and the results stand side by side.
  vitric bench --ablate --scenes [SCENE..] [--runs N] [--size WxH]
        Renders scenes of the gallery in N rounds (default 5), each with all techniques on and with each one off.
        Prints the work that each technique saved by its own counters, and the time of a frame without the technique
        over that with it.
  vitric install [--user | --system]
  vitric uninstall [--user | --system]
        Writes or removes the loader's manifest for this driver, so that every Vulkan program finds it: for this
        user ($XDG_DATA_HOME/vulkan/icd.d or ~/.local/share/vulkan/icd.d, the default) or for all (/etc/vulkan/icd.d).
  vitric info
        Shows the device, its limits, extensions, memory, queues and formats, and the knobs with their values.
  vitric shader FILE.spv [--entry NAME] [--dump ir|after:PASS|machine|asm].. [--target avx512|avx2|interp] [--run]
        Shows what becomes of a shader: its IR, the IR after a pass, machine IR, assembly. --run runs one wave on the
        interpreter and on the target, with lane numbers as inputs, and prints its outputs.
  vitric cts [--filter GLOB].. [--share I/N] [--list] [--timeout SECONDS] [--json FILE] [--junit FILE] [--loader]
             [--expectations DIR]
        Runs the conformance-style suite on the driver linked into this program, or with --loader on the first device
        of the system's loader. Fails on unexpected passes as well as on unexpected failures. --share 0/3, 1/3 and 2/3
        run a third of the cases each.
  vitric cts deqp --binary DEQP-VK --caselist FILE|DIR.. [--filter GLOB].. [--sample N] [--list] [--jobs N] [--group N]
             [--timeout SECONDS] [--state FILE [--resume]] [--json FILE] [--junit FILE] [--depth N]
             [--expectations DIR] [--loader]
        Runs a build of Khronos' conformance suite, which is not part of Vitric, on this driver or on the first
        device of the system's loader. A crash or hang fails one case. --sample takes every Nth case. --resume goes
        on with a run that was stopped.
  vitric cts deqp --ledger FILE [--budget MINUTES] [--suite-commit COMMIT --driver-commit COMMIT] [--shard N] ..
        Runs the whole list in shards of N cases (default 10000), over several sittings on one commit of the driver.
        FILE keeps the outcomes of finished shards. No shard begins after MINUTES. A new FILE needs both commits.
        --list prints the table of what is finished and left.
  vitric help
";
