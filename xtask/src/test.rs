//! `cargo xtask test`: installs missing programs that the tests run, then runs all checks and
//! tests.

use std::path::Path;

use crate::step::{step, step_in_file};

/// Debian packages, each with a file that shows that it is installed.
const PACKAGES: &[(&str, &str)] = &[
    ("libx11-6", "/usr/lib/x86_64-linux-gnu/libX11.so.6"),
    ("libx11-xcb1", "/usr/lib/x86_64-linux-gnu/libX11-xcb.so.1"),
    ("libvulkan1", "/usr/lib/x86_64-linux-gnu/libvulkan.so.1"),
    ("vulkan-tools", "/usr/bin/vulkaninfo"),
    ("vulkan-validationlayers", "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"),
    ("mesa-vulkan-drivers", "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"),
    ("glslang-tools", "/usr/bin/glslangValidator"),
    ("spirv-tools", "/usr/bin/spirv-opt"),
    ("xvfb", "/usr/bin/Xvfb"),
    ("xauth", "/usr/bin/xauth"),
    ("weston", "/usr/bin/weston"),
    ("x11-apps", "/usr/bin/xwd"),
    ("imagemagick", "/usr/bin/convert-im6.q16"),
];

/// Time limit of a command in all passes, in milliseconds. Builds without optimization run beside
/// each other, and long commands take seconds on the interpreter.
const TIMEOUT_MS: &str = "60000";

/// A run of all tests.
struct Pass {
    /// Value of `VITRIC_CODEGEN`.
    executor: &'static str,
    /// Runs the fuzz targets and the stress test of near memory in full. One pass does: the targets
    /// try each input on every executor, and near memory does not depend on it.
    is_thorough: bool,
}

/// Installs missing packages, then runs all checks and tests.
///
/// # Errors
/// The first step that fails, and the first failing check by tools, which run beside the tests.
pub fn run(root: &Path) -> Result<(), String> {
    install()?;
    crate::shaders::run(root, true)?;
    crate::tidy::run(root)?;
    step(root, "cargo", &["fmt", "--all", "--check"])?;
    // The tools are built in a folder of their own, so they do not wait for the other builds.
    std::thread::scope(|scope| {
        let tools = scope.spawn(|| crate::tools::run(root));
        let tests = build_and_test(root);
        let tools = tools.join().expect("checks by tools return errors");
        match (tests, tools) {
            (Err(tests), Err(tools)) => Err(format!("{tests}\n{tools}")),
            (tests, tools) => tests.and(tools),
        }
    })
}

fn build_and_test(root: &Path) -> Result<(), String> {
    step(root, "cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    // `RUSTDOCFLAGS` makes broken documentation links errors.
    step(root, "cargo", &["doc", "--quiet", "--workspace", "--no-deps"])?;
    // Tests start these programs and load this library.
    step(root, "cargo", &["build", "--workspace", "--all-targets"])?;
    let passes = passes();
    // A pass alone leaves a quarter of two processors idle, when the last tests of a program run.
    std::thread::scope(|scope| {
        let share = |index| format!("{index}/{}", passes.len());
        let runs: Vec<_> =
            passes.iter().enumerate().map(|(index, pass)| scope.spawn(move || pass.run(root, &share(index)))).collect();
        let results: Vec<_> = runs.into_iter().map(|run| run.join().expect("a pass returns its errors")).collect();
        results.into_iter().collect()
    })
}

impl Pass {
    /// Runs the tests with this executor. `share` is `I/N` for the `I`-th of `N` passes, which take
    /// a part each of the conformance cases with other knobs.
    fn run(&self, root: &Path, share: &str) -> Result<(), String> {
        // The first variable names the pass in messages and files.
        let mut variables =
            vec![("VITRIC_CODEGEN", self.executor), ("VITRIC_TIMEOUT_MS", TIMEOUT_MS), ("VITRIC_SHARE", share)];
        if self.is_thorough {
            variables.push(("VITRIC_STRESS", "20"));
        } else {
            variables.extend([("VITRIC_STRESS", "1"), ("VITRIC_FUZZ", "1000")]);
        }
        step_in_file(root, "cargo", &["test", "--workspace", "--no-fail-fast"], &variables)
    }
}

/// Returns the passes of all tests, one for each executor of this machine. `auto` is the best one,
/// which the driver selects.
fn passes() -> Vec<Pass> {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |flag: &str| flags.split_ascii_whitespace().any(|word| word == flag);
    let mut passes = vec![Pass { executor: "auto", is_thorough: true }];
    if has("avx2") {
        passes.push(Pass { executor: "interp", is_thorough: false });
    }
    if has("avx512bw") && has("avx512vl") {
        passes.push(Pass { executor: "avx2", is_thorough: false });
    } else {
        println!("==> this machine has no AVX-512: its code is not tested here");
    }
    passes
}

fn install() -> Result<(), String> {
    let missing: Vec<&str> =
        PACKAGES.iter().filter(|(_, file)| !Path::new(file).exists()).map(|(package, _)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    let here = Path::new("/");
    step(here, "apt-get", &["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(&missing);
    step(here, "apt-get", &arguments)
}
