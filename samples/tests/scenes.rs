//! All scenes on this driver: compared with reviewed reference pictures, with different knobs, and
//! under the validation layer through the system's loader.
//!
//! References are `samples/reference/NAME.png` at 320x180 pixels, rendered by this driver. Before
//! they were committed, they were reviewed and compared with another driver's pictures. The task
//! `cargo xtask bless` (`VITRIC_BLESS=1`) replaces references that differ. The comparison is
//! exact: the pictures do not depend on the machine, the number of threads or the size of batches.

use std::path::{Path, PathBuf};
use std::process::Command;
use vitric_samples::{Options, Picture, SceneInfo, render, scenes};

fn options() -> Options {
    Options { width: 320, height: 180, ..Options::default() }
}

fn picture(scene: &'static SceneInfo) -> Picture {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vitric::vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the driver's own and follows vkGetInstanceProcAddr's contract.
    let entry = unsafe { ash::Entry::from_static_fn(functions) };
    render(&entry, scene, &options()).unwrap_or_else(|e| panic!("{}: {e}", scene.name)).picture
}

fn reference(scene: &SceneInfo) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reference").join(format!("{}.png", scene.name))
}

/// Compares a picture with its reference. The error names the file with the new picture.
fn compare(scene: &SceneInfo, new: &Picture) -> Result<(), String> {
    let old = Picture::load(&reference(scene)).map_err(|e| format!("{}: {e}", scene.name))?;
    let difference = old.difference(new).map_err(|e| format!("{}: {e}", scene.name))?;
    if difference.max == 0 {
        return Ok(());
    }
    let kept = std::env::temp_dir().join(format!("vitric-{}-{}.png", std::process::id(), scene.name));
    new.save(&kept).map_err(|e| e.to_string())?;
    Err(format!("{}: {difference:?}; the new picture is {}", scene.name, kept.display()))
}

fn check(scene: &'static SceneInfo) -> Result<(), String> {
    let new = picture(scene);
    let compared = compare(scene, &new);
    if std::env::var_os("VITRIC_BLESS").is_none() {
        return compared;
    }
    if let Err(difference) = compared {
        println!("blessed {difference}");
        return new.save(&reference(scene)).map_err(|e| e.to_string());
    }
    Ok(())
}

#[test]
fn scenes_match_their_reference_pictures() {
    let wrong: Vec<_> = scenes().iter().filter_map(|scene| check(scene).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the driver library that was built for this test, which is among its dependencies.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let library = test.with_file_name("libvulkan_vitric.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// Writes a manifest of the driver to a folder and returns its path.
fn manifest(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).expect("a temporary folder can be made");
    let manifest = folder.join("icd.json");
    let icd = serde_json::json!({ "library_path": library(), "api_version": "1.3.0" });
    let text = serde_json::json!({ "file_format_version": "1.0.1", "ICD": icd }).to_string();
    std::fs::write(&manifest, text).expect("the manifest can be written");
    manifest
}

/// Renders the scenes in another process through the system's loader. Returns the program's output
/// and the folder of the pictures.
fn through_the_loader(name: &str, knobs: &[(&str, &str)], args: &[&str]) -> (String, PathBuf) {
    let folder = std::env::temp_dir().join(format!("vitric-{name}-{}", std::process::id()));
    let manifest = manifest(&folder);
    let output = Command::new(env!("CARGO_BIN_EXE_gallery-loader"))
        .args(["--size", "320x180", "--out"])
        .arg(&folder)
        .args(args)
        .env("VK_DRIVER_FILES", &manifest)
        .env("VK_ICD_FILENAMES", &manifest)
        .envs(knobs.iter().copied())
        .output()
        .expect("gallery-loader starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    (out.into_owned(), folder)
}

#[test]
fn scenes_pass_the_validation_layer_through_the_loader_without_a_message() {
    let (out, folder) = through_the_loader("validate", &[], &["--validate"]);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    for scene in scenes() {
        assert!(out.contains(scene.name), "{} was not rendered:\n{out}", scene.name);
    }
}

/// Renders the scenes with these knobs and compares them with the references.
fn compare_under(name: &str, knobs: &[(&str, &str)]) {
    let (_, folder) = through_the_loader(name, knobs, &[]);
    let wrong: Vec<_> = scenes()
        .iter()
        .filter_map(|scene| {
            let file = folder.join(format!("{}.png", scene.name));
            let picture = Picture::load(&file).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
            compare(scene, &picture).err()
        })
        .collect();
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pictures_depend_neither_on_threads_nor_on_batches() {
    compare_under("threads", &[("VITRIC_THREADS", "1"), ("VITRIC_WINDOW", "100"), ("VITRIC_CHUNK", "100")]);
    compare_under("small-batches", &[("VITRIC_WINDOW", "64K")]);
}

#[test]
fn pictures_do_not_depend_on_techniques() {
    compare_under("techniques", &[("VITRIC_SCOREBOARD", "off")]);
    compare_under("without-tbimr", &[("VITRIC_TBIMR", "off")]);
    compare_under("without-hiz", &[("VITRIC_HIZ", "off")]);
    compare_under("flat-coverage", &[("VITRIC_COVERAGE", "flat")]);
    compare_under("packed", &[("VITRIC_PACKING", "always")]);
    compare_under("inlined", &[("VITRIC_INLINE", "always")]);
    compare_under("not-inlined", &[("VITRIC_INLINE", "off")]);
    compare_under("positions-first", &[("VITRIC_POSH", "always")]);
    compare_under("without-positions-first", &[("VITRIC_POSH", "off")]);
    compare_under("replicated", &[("VITRIC_MERGED", "replicated")]);
    compare_under("unmerged", &[("VITRIC_MERGED", "off")]);
}

/// Draws of scenes are deferred, and the reasons of the draws that are not are counted.
#[test]
fn draws_wait_where_they_may() {
    let counters = std::env::temp_dir().join(format!("vitric-counted-{}", std::process::id()));
    let knobs = [("VITRIC_POSH", "always"), ("VITRIC_COUNTERS", counters.to_str().expect("the folder is a string"))];
    let (_, folder) = through_the_loader("waits", &knobs, &[]);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let mut counted = std::collections::BTreeMap::<String, u64>::new();
    for file in std::fs::read_dir(&counters).expect("devices leave what they counted") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("it can be read");
        let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        for entry in report["counters"].as_array().expect("a list") {
            let name = entry["name"].as_str().expect("a name").to_owned();
            *counted.entry(name).or_default() += entry["value"].as_u64().expect("a number");
        }
    }
    std::fs::remove_dir_all(&counters).expect("the folder can be removed");
    let happens = [
        "posh_deferred_draws",
        "posh_lookaheads",
        "posh_lookahead_chunks",
        "posh_hiz_updates",
        "posh_hidden_kills",
        "posh_scissor_kills",
        "posh_not_deferred_order",
    ];
    for name in happens {
        assert!(counted[name] > 0, "{name} is 0: {counted:?}");
    }
    assert_eq!(counted["posh_not_deferred_paused"], 0, "none is left out because it does not pay");
}

#[test]
fn pictures_do_not_depend_on_what_runs_the_programs() {
    if std::env::var_os("VITRIC_CODEGEN").is_some() {
        // `cargo xtask test` runs all tests with each executor, and each compares with references.
        return;
    }
    // A machine without AVX-512 uses its best executor instead. The pictures are equal there, too.
    for codegen in ["interp", "avx2", "avx512"] {
        compare_under(codegen, &[("VITRIC_CODEGEN", codegen)]);
    }
}

/// A far-memory folder that cannot be used is reported, and RAM replaces the file. A file that
/// cannot grow is an out-of-memory error and not a signal.
#[test]
fn far_memory_has_its_limits() {
    let folder = std::env::temp_dir().join(format!("vitric-far-{}", std::process::id()));
    let manifest = manifest(&folder);
    let run = |script: &str, far: &Path| {
        let output = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_near-memory")])
            .args(["--size", "1024x1024", "--count", "2"])
            .envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, &manifest)))
            .env("VITRIC_NEARMEM", "on,1")
            .env("VITRIC_FARMEM", far)
            .env("VITRIC_HEAP_MIB", "96")
            .output()
            .expect("a shell starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, errors) = run("exec \"$0\" \"$@\"", &folder.join("nowhere"));
    assert!(code == Some(0) && errors.matches("VITRIC_FARMEM").count() == 1, "{code:?} {errors}");
    let (code, errors) = run("exec \"$0\" \"$@\"", &folder);
    // The program allocates until the heap is full, which is a warning.
    assert!(code == Some(0) && !errors.contains("far memory") && !errors.contains("FARMEM"), "{code:?} {errors}");
    // `ulimit -f` counts blocks of 512 bytes.
    let (code, errors) = run("ulimit -f 8192; exec \"$0\" \"$@\"", &folder);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert!(code == Some(1) && errors.contains("the disk of far memory"), "{code:?} {errors}");
}

/// Idle targets are compacted when all memory is allocated. More can then be allocated than
/// without compaction, and they keep their contents. A host that has too little memory may compact
/// them earlier.
#[test]
fn idle_targets_are_compacted() {
    let folder = std::env::temp_dir().join(format!("vitric-idle-{}", std::process::id()));
    let manifest = manifest(&folder);
    let run = |near: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_near-memory"))
            .args(["--size", "1920x1080", "--count", "4"])
            .envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, &manifest)))
            .env("VITRIC_NEARMEM", near)
            .env("VITRIC_HEAP_MIB", "256")
            .output()
            .expect("near-memory starts");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
        let mib = |name: &str, what: &str| {
            let line = out.lines().find(|line| line.starts_with(name)).expect("a row");
            let before = line.split_once(what).expect("what it says").0;
            before.split_whitespace().last().and_then(|number| number.parse::<u64>().ok()).expect("a number")
        };
        let told = ["drawn", "idle", "filled"].map(|name| mib(name, " MiB in use"));
        let resident =
            ["drawn", "idle", "filled"].map(|name| mib(name, " MiB resident") - mib("start", " MiB resident"));
        (resident, told, mib("allocatable", " MiB"))
    };
    // Four targets with their depth image have 158 MiB.
    let ([drawn, idle, filled], told, allocatable) = run("off");
    assert!(drawn > 120 && idle > 120 && filled > 120, "{drawn} {idle} {filled}");
    assert!(told.iter().all(|told| *told > 120) && allocatable < 100, "{told:?} {allocatable}");
    let (resident, told, more) = run("on");
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert!(resident[2] < drawn / 2 && told[2] < 79, "{resident:?} {told:?}");
    assert!(more > allocatable + 79, "{more}, without {allocatable}");
}
