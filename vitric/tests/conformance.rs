//! The project's conformance cases on the linked driver, against its expectation lists.

use std::process::Command;

/// Time limit of a command, in milliseconds. Long draws in a debug build take seconds on the
/// interpreter, and other passes may run at the same time.
const PATIENT: [(&str, &str); 1] = [("VITRIC_TIMEOUT_MS", "60000")];

#[test]
fn the_suite_gives_what_its_lists_expect() {
    let run = Command::new(env!("CARGO_BIN_EXE_vitric")).arg("cts").envs(PATIENT).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}");
    assert!(text.contains(" 0 unexpected"), "{text}");
}

/// Groups of cases whose pictures depend on techniques.
const PICTURES: [&str; 8] =
    ["scenes", "order", "conservative", "geometry", "lookahead", "filtering", "samplers", "images"];

/// Runs these cases with some knobs. Most are random scenes that are compared with the sequential
/// model. The executor is that of the whole test run. `VITRIC_SHARE=I/N` says that this run is the
/// `I`-th of `N` with different executors. Each of these runs then takes another `N`-th of the
/// cases with these knobs, so that together they run each case with each set of knobs.
fn pictures_are_right_with(test: &str, knobs: &[(&str, &str)]) {
    let filters = PICTURES.iter().flat_map(|group| ["--filter".to_owned(), format!("{group}.*")]);
    let run = Command::new(env!("CARGO_BIN_EXE_vitric"))
        .arg("cts")
        .args(filters)
        .args(["--share", &share_of(test)])
        .envs(PATIENT)
        .envs(knobs.iter().copied())
        .output()
        .unwrap();
    assert!(run.status.success(), "{knobs:?}: {}", String::from_utf8_lossy(&run.stdout));
}

/// Returns the share of a test in this run. Tests begin with different shares, so that each run has
/// all cases with some knobs.
fn share_of(test: &str) -> String {
    let Ok(share) = std::env::var("VITRIC_SHARE") else { return "0/1".to_owned() };
    let parts = share.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    let (index, count): (usize, usize) = parts.expect("VITRIC_SHARE is I/N");
    let position = KNOB_TESTS.iter().position(|name| *name == test).expect("the macro lists all tests");
    format!("{}/{count}", (index + position) % count)
}

/// Declares a test for each set of knobs: the pictures do not depend on them.
macro_rules! no_technique_changes_results {
    ($($test:ident: $($knob:ident = $value:literal)+;)+) => {
        const KNOB_TESTS: &[&str] = &[$(stringify!($test)),+];
        $(
        #[test]
        fn $test() {
            pictures_are_right_with(stringify!($test), &[$((stringify!($knob), $value)),+]);
        }
        )+
    };
}

no_technique_changes_results! {
    without_hiz: VITRIC_HIZ = "off";
    without_scoreboard: VITRIC_SCOREBOARD = "off";
    flat_coverage: VITRIC_COVERAGE = "flat";
    without_posh: VITRIC_POSH = "off";
    without_lookahead: VITRIC_LOOKAHEAD = "0";
    without_inlining: VITRIC_INLINE = "off";
    without_any_technique: VITRIC_TBIMR = "off" VITRIC_HIZ = "off" VITRIC_COVERAGE = "flat" VITRIC_SCOREBOARD = "off"
        VITRIC_PACKING = "always" VITRIC_POSH = "off" VITRIC_LOOKAHEAD = "0" VITRIC_INLINE = "off"
        VITRIC_MERGED = "off" VITRIC_NEARMEM = "off";
    packing_always: VITRIC_PACKING = "always";
    posh_always: VITRIC_POSH = "always";
    posh_always_far_ahead: VITRIC_POSH = "always" VITRIC_LOOKAHEAD = "300";
    inlining_always: VITRIC_INLINE = "always";
    without_tbimr: VITRIC_TBIMR = "off";
    batches_of_one_primitive: VITRIC_WINDOW = "1";
    one_thread_and_odd_batches: VITRIC_WINDOW = "37" VITRIC_CHUNK = "53" VITRIC_THREADS = "1" VITRIC_POSH = "always"
        VITRIC_MERGED = "replicated";
    chunks_of_one_primitive: VITRIC_CHUNK = "1";
}

/// Compressed images are sampled with equal results, whether decoded texels are cached, evicted,
/// do not fit or are compacted.
#[test]
fn room_for_decoded_texels_changes_no_results() {
    let knobs = [("VITRIC_DECODED", "0"), ("VITRIC_DECODED", "20K"), ("VITRIC_NEARMEM", "always")];
    for (name, value) in knobs {
        let run = Command::new(env!("CARGO_BIN_EXE_vitric"))
            .args(["cts", "--filter", "compressed.*", "--filter", "host.*"])
            .env(name, value)
            .output()
            .unwrap();
        assert!(run.status.success(), "{name}={value}: {}", String::from_utf8_lossy(&run.stdout));
    }
}

#[test]
fn an_unknown_filter_is_an_error() {
    let run = Command::new(env!("CARGO_BIN_EXE_vitric")).args(["cts", "--filter", "nothing.*"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
}

/// A crash and a hang fail one case each. Later cases still run.
#[test]
fn crashes_and_hangs_are_reported_and_the_rest_goes_on() {
    let report = std::env::temp_dir().join(format!("vitric-faults-{}.json", std::process::id()));
    let run = Command::new(env!("CARGO_BIN_EXE_vitric"))
        .args(["cts", "--filter", "runner.*", "--timeout", "10", "--json"])
        .arg(&report)
        .env(vitric_cts::cases::FAULTS, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{text}");
    assert!(text.contains("4 cases: 1 crash, 2 pass, 1 timeout; 2 unexpected"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
    std::fs::remove_file(&report).unwrap();
    let status = |name: &str| {
        let cases = json["cases"].as_array().unwrap();
        cases.iter().find(|case| case["name"] == name).map(|case| case["status"].clone()).unwrap()
    };
    assert_eq!(status("runner.crash.case"), "crash");
    assert_eq!(status("runner.crash.next"), "pass");
    assert_eq!(status("runner.hang.case"), "timeout");
    assert_eq!(status("runner.hang.next"), "pass");
}
