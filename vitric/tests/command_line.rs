//! The `vitric` program's user interface: exit codes, messages, manifests and the environment of
//! started programs.
//!
//! Every test has a separate home folder, so the user's files are neither read nor written.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home folder that is removed on drop.
struct Home(PathBuf);

impl Home {
    fn new(test: &str) -> Home {
        let path = std::env::temp_dir().join(format!("vitric-cli-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder can be made");
        Home(path)
    }

    fn vitric(&self, args: &[&str]) -> Output {
        self.with(&[], args)
    }

    /// Runs the program with additional environment variables.
    fn with(&self, variables: &[(&str, &str)], args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_vitric"))
            .args(args)
            .env("HOME", &self.0)
            .env_remove("VITRIC_CODEGEN")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CACHE_HOME")
            .envs(variables.iter().copied())
            .output()
            .expect("vitric starts")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the library that a manifest names. It must be an existing file at an absolute path.
fn library_of(manifest: &Path) -> PathBuf {
    let text = std::fs::read_to_string(manifest).expect("the manifest can be read");
    let json: serde_json::Value = serde_json::from_str(&text).expect("the manifest is JSON");
    let library = PathBuf::from(json["ICD"]["library_path"].as_str().expect("a library path"));
    assert!(library.is_absolute() && library.is_file(), "{}", library.display());
    library
}

#[test]
fn a_run_program_sees_the_manifest_and_the_knobs_and_gives_its_exit_code() {
    let home = Home::new("run");
    let script = "echo $VK_DRIVER_FILES; echo $VK_ICD_FILENAMES; echo $VITRIC_THREADS; exit 7";
    let output = home.vitric(&["run", "--set", "threads=3", "--", "sh", "-c", script]);
    assert_eq!(code(&output), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let text = out(&output);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], lines[1]);
    assert_eq!(lines[2], "3");
    library_of(Path::new(lines[0]));
}

/// Khronos' runner finds this driver. A script replaces the runner.
#[test]
fn the_suite_of_khronos_runs_on_this_driver() {
    let home = Home::new("deqp");
    let runner = concat!(env!("CARGO_MANIFEST_DIR"), "/../cts/tests/runner.sh");
    let list = home.0.join("cases.list");
    std::fs::write(&list, "dEQP-VK.fake.driver\n").expect("a list can be written");
    let output = home.vitric(&["cts", "deqp", "--binary", runner, "--caselist", list.to_str().expect("UTF-8")]);
    assert_eq!(code(&output), Some(1), "{}", err(&output));
    let text = out(&output);
    let line = text.lines().next().expect("a line");
    let manifest = line.strip_prefix("dEQP-VK.fake.driver: failed (fail) ").expect(line);
    library_of(Path::new(manifest));
    assert_eq!(code(&home.vitric(&["cts", "deqp"])), Some(2));
}

/// A ledger names the sources of the driver's library.
#[test]
fn a_ledger_of_khronos_suite_names_the_driver() {
    let home = Home::new("ledger");
    let runner = concat!(env!("CARGO_MANIFEST_DIR"), "/../cts/tests/runner.sh");
    let [list, ledger] = ["cases.list", "ledger.txt"].map(|name| home.0.join(name));
    std::fs::write(&list, "dEQP-VK.fake.pass\n").expect("a list can be written");
    let [list, file] = [&list, &ledger].map(|path| path.to_str().expect("UTF-8"));
    let words = ["cts", "deqp", "--binary", runner, "--caselist", list, "--ledger", file];
    let commits = ["--suite-commit", "0123abc", "--driver-commit", "fedcba9"];
    let output = home.vitric(&[&words[..], &commits].concat());
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    let text = std::fs::read_to_string(&ledger).expect("a ledger");
    let header = format!("suite 0123abc\ndriver fedcba9\nsources {}\n", vulkan_vitric::SOURCES);
    assert!(text.contains(&header) && text.contains("\nfake 1/1 1 1 0 0 0 0 "), "{text}");
    std::fs::write(&ledger, text.replace(vulkan_vitric::SOURCES, "0123")).expect("a ledger can be written");
    assert_eq!(code(&home.vitric(&words)), Some(2));
}

#[test]
fn a_missing_program_is_127_with_one_sentence() {
    let output = Home::new("missing").vitric(&["run", "/no/such/program"]);
    assert_eq!(code(&output), Some(127));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "vitric: the program '/no/such/program' was not found: expected a path, or a name in PATH\n"
    );
}

#[test]
fn wrong_usage_is_2() {
    let home = Home::new("usage");
    let wrong: [&[&str]; 6] = [
        &["nonsense"],
        &["run"],
        &["run", "--set", "x", "true"],
        &["install", "--here"],
        &["info", "x"],
        &["gallery", "x"],
    ];
    for args in wrong {
        let output = home.vitric(args);
        assert_eq!(code(&output), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("vitric: "), "{args:?}");
    }
}

#[test]
fn install_and_uninstall_are_each_others_inverse() {
    let home = Home::new("install");
    let manifest = home.0.join(".local/share/vulkan/icd.d/vitric_icd.json");
    assert_eq!(code(&home.vitric(&["install"])), Some(0));
    library_of(&manifest);
    assert_eq!(code(&home.vitric(&["uninstall", "--user"])), Some(0));
    assert!(!manifest.exists());
    let again = home.vitric(&["uninstall"]);
    assert_eq!(code(&again), Some(0));
    assert!(out(&again).contains("is not installed"));
}

#[test]
fn the_users_folders_are_those_of_the_xdg_variables() {
    let home = Home::new("xdg");
    let data = home.0.join("data");
    let variables = [("XDG_DATA_HOME", data.to_str().expect("UTF-8")), ("XDG_CACHE_HOME", "not/absolute")];
    assert_eq!(code(&home.with(&variables, &["install"])), Some(0));
    let manifest = data.join("vulkan/icd.d/vitric_icd.json");
    library_of(&manifest);
    assert!(!home.0.join(".local").exists());
    // A program that is started with the manifest of `run` gets a manifest in the cache folder.
    let shown = home.with(&variables, &["run", "sh", "-c", "echo $VK_DRIVER_FILES"]);
    assert!(Path::new(out(&shown).trim()).starts_with(home.0.join(".cache/vitric")), "{}", out(&shown));
    let cache = home.0.join("cache");
    let variables = [("XDG_CACHE_HOME", cache.to_str().expect("UTF-8")), variables[0]];
    let shown = home.with(&variables, &["run", "sh", "-c", "echo $VK_DRIVER_FILES"]);
    assert!(Path::new(out(&shown).trim()).starts_with(cache.join("vitric")), "{}", out(&shown));
    assert_eq!(code(&home.with(&variables, &["uninstall"])), Some(0));
    assert!(!manifest.exists());
}

#[test]
fn a_missing_library_is_told_with_where_it_was_looked_for() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("alone-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let alone = folder.join("vitric");
    std::fs::hard_link(env!("CARGO_BIN_EXE_vitric"), &alone).expect("the program can be linked");
    for args in [&["run", "true"][..], &["install"]] {
        let output = Command::new(&alone).args(args).env("HOME", &folder).output().expect("vitric starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(code(&output), Some(1), "{args:?}");
        assert!(error.starts_with("vitric: the driver library libvulkan_vitric.so is neither in "), "{error}");
        assert!(error.contains(&folder.display().to_string()) && error.lines().count() == 1, "{error}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn info_shows_the_device_its_limits_extensions_and_the_knobs_in_force() {
    let home = Home::new("info");
    let output = home.with(&[("VITRIC_THREADS", "3"), ("VITRIC_HEAP_MIB", "77")], &["info"]);
    assert_eq!(code(&output), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = out(&output);
    let rows = [
        "VITRIC_THREADS=3",
        "VITRIC_HEAP_MIB=77",
        "VITRIC_CODEGEN=auto",
        "device          Vitric",
        "type            CPU",
        "VK_KHR_xcb_surface",
        "VK_KHR_swapchain",
        "heap 0: 77 MiB",
    ];
    for row in rows {
        assert!(text.contains(row), "{row} is missing in\n{text}");
    }
    let limit = |name: &str| {
        let row = text.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
        row.map(|row| row.trim_start()[name.len()..].trim().to_owned())
    };
    assert_eq!(limit("max_image_dimension2_d").as_deref(), Some("16384"));
    assert_eq!(limit("max_compute_work_group_size").as_deref(), Some("1024 1024 1024"));
    assert_eq!(limit("non_coherent_atom_size").as_deref(), Some("64"), "the last one");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let home = Home::new("pipe");
    let script = format!("'{}' help | true", env!("CARGO_BIN_EXE_vitric"));
    for _ in 0..20 {
        let output = home.vitric(&["run", "sh", "-c", &script]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn help_names_every_command() {
    let text = out(&Home::new("help").vitric(&["help"]));
    for command in ["gallery", "run", "install", "uninstall", "info"] {
        assert!(text.contains(&format!("vitric {command}")) || text.contains(&format!("[{command}]")), "{command}");
    }
}

/// Heat maps and counters are written beside the pictures.
#[test]
fn heat_maps_lie_beside_the_pictures() {
    let home = Home::new("heatmaps");
    let out = home.0.join("gallery").to_string_lossy().into_owned();
    let run = home.vitric(&["gallery", "--heatmaps", "--size", "96x64", "--out", &out, "shadow", "particles"]);
    assert_eq!(code(&run), Some(0), "{}", err(&run));
    for kind in ["overdraw", "hiz_kills", "dropped", "occupancy"] {
        assert!(Path::new(&out).join(format!("shadow-{kind}.png")).is_file(), "{kind}");
    }
    let counters = |scene: &str| {
        let file = std::fs::read_to_string(Path::new(&out).join(format!("{scene}-counters.json"))).unwrap();
        let report: serde_json::Value = serde_json::from_str(&file).unwrap();
        move |name: &str| {
            let entries = report["counters"].as_array().unwrap();
            entries.iter().find(|entry| entry["name"] == name).unwrap()["value"].as_u64().unwrap()
        }
    };
    let value = counters("shadow");
    assert!(value("vertices") > 0 && value("tiles_processed") > 0 && value("dropped") > 0);
    let (waves, lanes) = (value("waves"), value("lanes"));
    assert!(waves > 0 && lanes > waves && lanes <= waves * 16, "{lanes} lanes in {waves} waves");
    assert_eq!((value("exported"), value("discarded")), (lanes, 0));
    for (evaluated, covered) in [
        ("tiles_conservative", "tiles_touched"),
        ("tiles_inner", "tiles_covered"),
        ("groups_conservative", "groups_touched"),
        ("groups_inner", "groups_covered"),
        ("samples_standard", "samples_covered"),
    ] {
        let (evaluated, covered) = (value(evaluated), value(covered));
        assert!(0 < covered && covered <= evaluated, "{covered} of {evaluated}");
    }
    // Round points are squares without their corners.
    let value = counters("particles");
    assert!(value("discarded") > 0 && value("discarded") + value("exported") == value("lanes"));
    // Without `--heatmaps` no counters are written.
    let plain = home.vitric(&["gallery", "--size", "96x64", "--out", &out, "triangle"]);
    assert_eq!(code(&plain), Some(0));
    assert!(!Path::new(&out).join("triangle-counters.json").exists());
}

/// The knob selects the resolutions at which coverage is evaluated, in exact numbers. Both settings
/// find the same covered samples. Kernels test blocks only in the one tile whose primitives have
/// bounds of at least 64 pixels on average.
#[test]
fn coverage_is_counted_by_resolution() {
    let home = Home::new("coverage");
    let folder = home.0.join("gallery").to_string_lossy().into_owned();
    let counted = |coverage: &str| {
        let knobs = [("VITRIC_COVERAGE", coverage), ("VITRIC_HIZ", "off")];
        let run = home.with(&knobs, &["gallery", "--heatmaps", "--size", "480x320", "--out", &folder, "wire"]);
        assert_eq!(code(&run), Some(0), "{}", err(&run));
        let file = std::fs::read_to_string(Path::new(&folder).join("wire-counters.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&file).unwrap();
        move |name: &str| {
            let entries = report["counters"].as_array().unwrap();
            entries.iter().find(|entry| entry["name"] == name).unwrap()["value"].as_u64().unwrap()
        }
    };
    let (hierarchical, flat) = (counted("hierarchical"), counted("flat"));
    for (name, big, samples) in [
        ("tiles_inner", 80, 0),
        ("tiles_covered", 78, 0),
        ("groups_conservative", 32, 0),
        ("groups_touched", 32, 0),
        ("groups_inner", 32, 0),
        ("groups_covered", 32, 0),
        ("blocks_conservative", 4_579, 0),
        ("blocks_touched", 2_644, 0),
        ("blocks", 73_477, 75_412),
        ("samples_standard", 4_702_528, 5_440_768),
        ("samples_covered", 248_721, 863_121),
        ("covered", 863_121, 863_121),
        ("fragments", 283_746, 283_746),
        ("exported", 283_746, 283_746),
    ] {
        assert_eq!((hierarchical(name), flat(name)), (big, samples), "{name}");
    }
}

fn shader(name: &str) -> String {
    format!("{}/../backend/tests/shaders/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn shader_shows_what_becomes_of_a_module() {
    let home = Home::new("shader");
    let file = shader("simple.frag.spv");
    let shown = |args: &[&str]| {
        let output = home.vitric(&[&["shader", &file], args].concat());
        assert_eq!(code(&output), Some(0), "{}", err(&output));
        out(&output)
    };
    let (first, last) = (shown(&["--dump", "after:front-end"]), shown(&[]));
    assert!(first.contains("Output ") && last.contains("Output "), "{last}");
    assert!(last.lines().count() < first.lines().count(), "the passes drop what is not needed");
    assert_eq!(last, shown(&["--dump", "ir"]));
    for target in ["avx2", "avx512"] {
        assert!(shown(&["--target", target, "--dump", "machine"]).contains("block 0()"));
        assert!(shown(&["--target", target, "--dump", "asm"]).contains("vzeroupper"));
    }
    assert!(shown(&["--run"]).contains("output 0"));
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn generated_code_is_named_for_perf_when_the_knob_says_so() {
    let home = Home::new("symbols");
    // An earlier process with this number may have left a map.
    let script = format!(
        "rm -f /tmp/perf-$$.map; echo $$; exec '{}' shader '{}'",
        env!("CARGO_BIN_EXE_vitric"),
        shader("arrays.comp.spv")
    );
    for (value, is_named) in [("perf", true), ("off", false)] {
        let output = home.with(&[("VITRIC_SYMBOLS", value)], &["run", "sh", "-c", &script]);
        let text = out(&output);
        let map =
            PathBuf::from(format!("/tmp/perf-{}.map", text.lines().next().expect("the process tells its number")));
        let names = std::fs::read_to_string(&map).unwrap_or_default();
        let _ = std::fs::remove_file(&map);
        // Machines without AVX2 run no generated code.
        let is_named = is_named && std::is_x86_feature_detected!("avx2");
        assert_eq!(names.contains(" vitric::compute main ("), is_named, "{value}: {names}");
        assert_eq!(names.lines().count(), usize::from(is_named));
    }
}

#[test]
fn shader_refuses_what_it_cannot_read() {
    let home = Home::new("shader-bad");
    let text = home.0.join("text.spv");
    std::fs::write(&text, "this is no module").expect("the file can be written");
    let file = text.to_string_lossy();
    assert_eq!(code(&home.vitric(&["shader", &file])), Some(1));
    assert_eq!(code(&home.vitric(&["shader", "/nothing.spv"])), Some(1));
    assert_eq!(code(&home.vitric(&["shader"])), Some(2));
    let file = shader("simple.frag.spv");
    assert_eq!(code(&home.vitric(&["shader", &file, "--dump", "after:nothing"])), Some(2));
    let missing = home.vitric(&["shader", &file, "--entry", "nothing"]);
    assert_eq!(code(&missing), Some(1));
    assert!(err(&missing).contains("entry point"), "{}", err(&missing));
}

/// Returns the counters of a scene's device, read from the file.
fn counters_of(home: &Home, scene: &str) -> serde_json::Value {
    counters_with(home, &[], scene)
}

/// Returns the counters of a scene's device that has some knobs.
fn counters_with(home: &Home, knobs: &[(&str, &str)], scene: &str) -> serde_json::Value {
    let file = home.0.join("counters.json");
    let pictures = home.0.join("pictures");
    let [file_text, pictures] = [&file, &pictures].map(|path| path.to_str().expect("a path in UTF-8"));
    let itself = env!("CARGO_BIN_EXE_vitric");
    let args = ["run", "--counters", file_text, "--", itself, "gallery", scene, "--size", "64x64", "--out", pictures];
    let out = home.with(knobs, &args);
    assert_eq!(code(&out), Some(0), "{}", err(&out));
    let text = std::fs::read_to_string(&file).expect("counters were written");
    serde_json::from_str(&text).expect("they are JSON")
}

#[test]
fn counters_are_sampled_by_submission_pass_and_draw() {
    let home = Home::new("counters");
    let report = counters_of(&home, "shadow");
    assert_eq!((&report["version"], &report["program"][1]), (&2.into(), &"gallery".into()));
    let device = &report["devices"][0];
    let samples = device["samples"].as_array().expect("samples");
    let of = |kind: &str| samples.iter().filter(|sample| sample["kind"] == kind).collect::<Vec<_>>();
    let sum = |kind: &str, name: &str| of(kind).iter().filter_map(|of| of["values"][name].as_u64()).sum::<u64>();
    assert!(!of("submission").is_empty() && of("pass").len() >= 2 && of("draw").len() >= of("pass").len());
    for draw in of("draw") {
        let pass = &samples[draw["within"].as_u64().expect("a draw is in a pass") as usize];
        let submission = &samples[pass["within"].as_u64().expect("a pass is in a submission") as usize];
        assert_eq!([&pass["kind"], &submission["kind"]], ["pass", "submission"]);
    }
    let total = |name: &str| {
        let entry = device["counters"].as_array().into_iter().flatten().find(|entry| entry["name"] == name);
        entry.and_then(|entry| entry["value"].as_u64()).expect("a counter")
    };
    for name in ["input_vertices", "vertices", "tiles_processed", "fragments"] {
        assert!(total(name) > 0, "{name}");
        assert_eq!([sum("submission", name), sum("pass", name)], [total(name); 2], "{name}");
    }
    for name in ["input_vertices", "bin_entries", "fragments", "dropped", "hiz_group_kills", "hiz_small_kills"] {
        assert_eq!(sum("draw", name), total(name), "{name}");
    }
    assert!(total("dropped") > 0 && total("hiz_small_kills") > 0);
    assert_eq!((sum("draw", "waves"), device["samples_left_out"].as_u64()), (0, Some(0)));
}

#[test]
fn dispatches_have_samples() {
    let report = counters_of(&Home::new("dispatches"), "compute");
    let samples = report["devices"][0]["samples"].as_array().expect("samples");
    let dispatches: Vec<_> = samples.iter().filter(|sample| sample["kind"] == "dispatch").collect();
    assert!(!dispatches.is_empty());
    for dispatch in dispatches {
        let [invocations, groups] = ["invocations", "workgroups"].map(|name| dispatch["values"][name].as_u64());
        // A workgroup of the scene has 8x8 invocations.
        assert!(groups > Some(0) && invocations == groups.map(|groups| groups * 64), "{dispatch}");
    }
}

/// Geometry programs of 16,000 and of 90 points, which emit at most 9 and 4 vertices.
#[test]
fn geometry_programs_run_in_whole_waves() {
    let (plain, replicated) = ([16_090, 1_006], [16_000 * 9 + 90 * 4, 16_023]);
    for (mode, [lanes, waves]) in [("off", plain), ("plain", plain), ("replicated", replicated), ("auto", plain)] {
        let home = Home::new(&format!("geometry-{mode}"));
        let report = counters_with(&home, &[("VITRIC_MERGED", mode)], "meadow");
        let value = |name: &str| {
            let entries = report["devices"][0]["counters"].as_array().into_iter().flatten();
            entries.filter(|entry| entry["name"] == name).filter_map(|entry| entry["value"].as_u64()).sum::<u64>()
        };
        let counter = if mode == "auto" { "merged_plain" } else { &format!("merged_{mode}") };
        let all = ["merged_off", "merged_plain", "merged_replicated"].map(value).iter().sum::<u64>();
        assert_eq!([value(counter), all, value("merged_lanes")], [waves, waves, lanes], "{mode}");
        // Three vertices are those of the sky.
        let runs = ["vertices", "geometry_invocations", "reused"].map(value);
        assert_eq!(runs, [16_093, 16_090, 0], "{mode}");
    }
}

#[test]
fn a_program_runs_where_its_counters_cannot_be_written() {
    let home = Home::new("no-counters");
    let out_of_reach = home.0.join("no/such/folder/counters.json");
    let out = home.vitric(&[
        "run",
        "--counters",
        out_of_reach.to_str().expect("UTF-8"),
        "--",
        "sh",
        "-c",
        "echo ran; exit 3",
    ]);
    assert_eq!((code(&out), self::out(&out).as_str()), (Some(3), "ran\n"));
    assert_eq!(err(&out).lines().count(), 1, "{}", err(&out));
    assert!(err(&out).contains("no/such/folder/counters.json: the file cannot be created"), "{}", err(&out));
    // The disk is full.
    let out = home.vitric(&["run", "--counters", "/dev/full", "--", "sh", "-c", "echo ran; kill -9 $$"]);
    assert_eq!((code(&out), self::out(&out).as_str()), (Some(137), "ran\n"));
    assert!(err(&out).contains("/dev/full: counters cannot be written"), "{}", err(&out));
}

#[test]
fn bench_shows_each_technique_off() {
    let home = Home::new("bench");
    let itself = env!("CARGO_BIN_EXE_vitric");
    let pictures = home.0.join("pictures");
    let scene = [itself, "gallery", "cube", "--size", "64x64", "--out", pictures.to_str().expect("UTF-8")];
    let out = home.vitric(&[&["bench", "--ablate", "--runs", "1", "--"][..], &scene].concat());
    assert_eq!(code(&out), Some(0), "{}", err(&out));
    let text = self::out(&out);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    let numbers = |name: &str| row(name).split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
    let columns: Vec<&str> = row("off:").split_whitespace().skip(3).collect();
    let queries = numbers("hiz_tile_queries");
    let hiz = 1 + columns.iter().position(|name| *name == "hiz").expect("a column");
    assert!(queries[0] > 0.0 && queries[hiz] == 0.0, "{text}");
    assert_eq!(numbers("milliseconds").len(), queries.len());
    let failed = home.vitric(&["bench", "--runs", "1", "sh", "-c", "exit 5"]);
    assert_eq!(code(&failed), Some(5));
}
