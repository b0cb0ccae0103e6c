//! `cargo xtask test`: installs missing programs that the tests run, then runs all checks and
//! tests.

use std::path::Path;

use crate::step::{step, step_with};

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

/// Installs missing packages, then runs all checks and tests.
///
/// # Errors
/// The first step that fails.
pub fn run(root: &Path) -> Result<(), String> {
    install()?;
    crate::shaders::run(root, true)?;
    crate::tidy::run(root)?;
    step(root, "cargo", &["fmt", "--all", "--check"])?;
    step(root, "cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    crate::tools::run(root)?;
    // `RUSTDOCFLAGS` makes broken documentation links errors.
    step(root, "cargo", &["doc", "--quiet", "--workspace", "--no-deps"])?;
    // Tests start these programs and load this library.
    step(root, "cargo", &["build", "--workspace", "--all-targets"])?;
    for (codegen, mutants) in executors() {
        // The stress test of near memory does not depend on the executor, so only one pass runs it
        // in full.
        let stress = if mutants.is_empty() { "20" } else { "1" };
        let variables = [("VITRIC_CODEGEN", codegen), ("VITRIC_FUZZ", mutants), ("VITRIC_STRESS", stress)];
        let variables: Vec<_> = variables.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        step_with(root, "cargo", &["test", "--workspace"], &variables)?;
    }
    Ok(())
}

/// Returns the executor of each pass of all tests, as a value of `VITRIC_CODEGEN`, and its number
/// of fuzz mutants. Only one pass tries all mutants, because the fuzz target runs them on every
/// executor. The last pass uses the processor's best executor, which the driver selects.
fn executors() -> Vec<(&'static str, &'static str)> {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |flag: &str| flags.split_ascii_whitespace().any(|word| word == flag);
    let mut executors = Vec::new();
    if has("avx2") {
        executors.push(("interp", "1000"));
    }
    if has("avx512bw") && has("avx512vl") {
        executors.push(("avx2", "1000"));
    } else {
        println!("==> this machine has no AVX-512: its code is not tested here");
    }
    executors.push(("auto", ""));
    executors
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
