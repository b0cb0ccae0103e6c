//! Exact numbers of the fragments that the scoreboard drops.

use std::process::Command;

/// Runs a conformance case, and returns the numbers of its fragments: those that passed early
/// tests, those that were dropped, and those that were exported.
fn fragments_of(case: &str, knobs: &[(&str, &str)]) -> [u64; 3] {
    let folder = std::env::temp_dir().join(format!("vitric-{}-{case}-{}", std::process::id(), knobs.len()));
    let run = Command::new(env!("CARGO_BIN_EXE_vitric"))
        .args(["cts", "--filter", case])
        .env("VITRIC_COUNTERS", &folder)
        .envs(knobs.iter().copied())
        .output()
        .unwrap();
    assert!(run.status.success(), "{case}: {}", String::from_utf8_lossy(&run.stdout));
    let mut sums = [0; 3];
    for file in std::fs::read_dir(&folder).unwrap() {
        let report = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        for (sum, name) in sums.iter_mut().zip(["fragments", "dropped", "exported"]) {
            let counters = report["counters"].as_array().unwrap();
            *sum += counters.iter().find(|counter| counter["name"] == name).unwrap()["value"].as_u64().unwrap();
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    sums
}

/// Layers cover a target of 16x16 pixels, which is four groups, or parts of it.
#[test]
fn superseded_fragments_are_not_shaded() {
    for (name, [fragments, dropped]) in [
        // A half covers the first layer, and a group the half.
        ("small_by_small", [256 + 128 + 64, 128 + 64]),
        ("large_by_small", [256 + 128, 128]),
        ("quads_by_quads", [256 + 128, 128]),
        // Only the group of the layer between them is shaded before the last layer arrives.
        ("around_blended", [256 + 64 + 128, 128]),
        ("around_short", [256 + 64 + 128, 128]),
        // The layer between them needs one of the two groups that the last layer covers.
        ("below_blended", [256 + 64 + 128, 64]),
    ] {
        let case = format!("order.superseded.{name}");
        assert_eq!(fragments_of(&case, &[]), [fragments, dropped, fragments - dropped], "{name}");
        assert_eq!(fragments_of(&case, &[("VITRIC_SCOREBOARD", "off")]), [fragments, 0, fragments], "{name}");
    }
}
