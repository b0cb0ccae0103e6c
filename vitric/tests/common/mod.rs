//! Counters of conformance cases, for tests of exact numbers.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs a conformance case with knobs. Returns the sums of its devices' counters by name.
pub fn counters_of(case: &str, knobs: &[(&str, &str)]) -> BTreeMap<String, u64> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("vitric-case-{}-{run}", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_vitric"))
        .args(["cts", "--filter", case])
        .env("VITRIC_COUNTERS", &folder)
        .envs(knobs.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stdout));
    let mut sums = BTreeMap::<String, u64>::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        for entry in report["counters"].as_array().unwrap() {
            *sums.entry(entry["name"].as_str().unwrap().to_owned()).or_default() += entry["value"].as_u64().unwrap();
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    sums
}
