//! `cts deqp` as a user meets it, with a script in the place of Khronos' runner.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RUNNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runner.sh");

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("vitric-cts-deqp-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for list in ["fails", "flakes", "skips"] {
            std::fs::write(path.join(list).with_extension("txt"), "").unwrap();
        }
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs a list with more options.
    fn run(&self, list: &Path, options: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_vitric-cts-loader"))
            .args(["deqp", "--binary", RUNNER, "--timeout", "5", "--expectations"])
            .arg(&self.0)
            .arg("--caselist")
            .arg(list)
            .args(options)
            .env("RUNNER_TRACE", self.0.join("trace"))
            .output()
            .unwrap()
    }

    fn trace(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join("trace")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A list of cases by their last parts.
fn list(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("dEQP-VK.fake.{part}\n")).collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn every_end_of_a_case_is_told_and_the_rest_goes_on() {
    let folder = Folder::new("ends");
    let parts = ["pass", "fail", "unsupported", "warning", "strange", "silent", "half", "crash", "hang", "resources"];
    let mut parts = parts.to_vec();
    parts.extend(["unknown", "pass.last"]);
    let cases = folder.file("cases.list", &list(&parts));
    let json = folder.0.join("out.json");
    let junit = folder.0.join("out.xml");
    let files = ["--json", json.to_str().unwrap(), "--junit", junit.to_str().unwrap()];
    let output = folder.run(&cases, &files);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let cases = json["cases"].as_array().unwrap();
    let find = |part: &str| {
        let name = format!("dEQP-VK.fake.{part}");
        let case = cases.iter().find(|case| case["name"] == *name).unwrap();
        (case["status"].as_str().unwrap(), case["message"].as_str().unwrap())
    };
    assert_eq!(find("pass").0, "pass");
    assert_eq!(find("fail"), ("fail", "got 1,"));
    assert_eq!(find("unsupported"), ("unsupported", "no such thing"));
    assert_eq!(find("warning").0, "warning");
    assert_eq!(find("strange"), ("fail", "its status is unknown: Strange (what)"));
    assert_eq!(find("silent").0, "fail");
    assert_eq!(find("half").0, "crash");
    assert_eq!(find("crash"), ("crash", "ended by signal 9: assertion"));
    assert_eq!(find("hang"), ("timeout", "no end within 5 s"));
    assert_eq!(find("resources"), ("fail", "ResourceError: no memory"));
    assert_eq!(find("unknown").0, "missing");
    assert_eq!(find("pass.last").0, "pass");
    assert_eq!(json["unexpected"], 8);
    // Each case was begun once.
    assert_eq!(folder.trace().len(), parts.len() - 1);
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("tests=\"12\" failures=\"8\" skipped=\"1\""), "{xml}");
}

#[test]
fn lists_say_what_is_expected() {
    let folder = Folder::new("expected");
    folder.file("fails.txt", "*.crash # known\n*.fail # known\n");
    folder.file("flakes.txt", "*.silent # sometimes\n");
    folder.file("skips.txt", "*.hang # takes too long\n");
    let cases = folder.file("cases.list", &list(&["pass", "crash", "fail", "silent", "hang", "unsupported"]));
    let output = folder.run(&cases, &[]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        text(&output).contains("5 cases: 1 crash, 2 fail, 1 pass, 1 unsupported; 0 unexpected"),
        "{}",
        text(&output)
    );
    folder.file("fails.txt", "*.pass # wrong\n*.crash # known\n*.fail # known\n");
    let output = folder.run(&cases, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("dEQP-VK.fake.pass: passed, but fails.txt expects a failure"), "{}", text(&output));
}

#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let folder = Folder::new("resume");
    let first = folder.file("first.list", &list(&["pass", "crash"]));
    let all = folder.file("all.list", &list(&["pass", "crash", "fail"]));
    let state = folder.0.join("state");
    let state = ["--state", state.to_str().unwrap()];
    folder.run(&first, &state);
    assert_eq!(folder.trace().len(), 2);
    let again = folder.run(&all, &state);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
    let resumed = folder.run(&all, &[state[0], state[1], "--resume"]);
    assert!(text(&resumed).contains("3 cases: 1 crash, 1 fail, 1 pass"), "{}", text(&resumed));
    assert_eq!(folder.trace(), ["dEQP-VK.fake.pass", "dEQP-VK.fake.crash", "dEQP-VK.fake.fail"]);
}

#[test]
fn samples_groups_and_jobs_run_each_case_once() {
    let folder = Folder::new("jobs");
    let parts: Vec<String> = (0..90).map(|n| format!("pass.{n}")).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let cases = folder.file("cases.list", &list(&parts));
    let output = folder.run(&cases, &["--sample", "3", "--group", "4", "--jobs", "3", "--depth", "3"]);
    assert!(output.status.success(), "{}", text(&output));
    let mut trace = folder.trace();
    trace.sort();
    trace.dedup();
    assert_eq!((trace.len(), folder.trace().len()), (30, 30));
    assert!(trace.iter().all(|name| name.rsplit('.').next().unwrap().parse::<u32>().unwrap() % 3 == 0));
}

#[test]
fn a_runner_that_does_not_start_ends_the_run() {
    let folder = Folder::new("mute");
    let cases = folder.file("cases.list", &list(&["mute7", "pass"]));
    let output = folder.run(&cases, &[]);
    assert!(text(&output).contains("2 cases: 2 crash; 2 unexpected"), "{}", text(&output));
    assert!(text(&output).contains("the runner ended with code 7 before any case"), "{}", text(&output));
}

#[test]
fn a_runner_that_hangs_before_any_case_has_not_crashed() {
    let folder = Folder::new("stuck");
    let cases = folder.file("cases.list", &list(&["stuck", "pass"]));
    let output = folder.run(&cases, &["--timeout", "1"]);
    assert!(text(&output).contains("2 cases: 2 timeout; 2 unexpected"), "{}", text(&output));
    assert!(text(&output).contains("the runner began no case: no end within 1 s"), "{}", text(&output));
}

/// Options of a new ledger with shards of two cases.
fn ledger(file: &Path) -> Vec<&str> {
    let commits = ["--suite-commit", "0123abc", "--driver-commit", "fedcba9", "--shard", "2"];
    [&["--ledger", file.to_str().unwrap()][..], &commits].concat()
}

#[test]
fn a_ledger_keeps_whole_shards_over_several_sittings() {
    let folder = Folder::new("ledger");
    folder.file("fails.txt", "*.crash # known\n*.warning # wrong\n");
    folder.file("flakes.txt", "*.silent # sometimes\n");
    let names = ["a.pass", "a.crash", "b.fail", "a.unsupported", "b.silent", "b.warning", "a.pass2"];
    let names: String = names.iter().map(|name| format!("dEQP-VK.{name}\n")).collect();
    let cases = folder.file("cases.list", &names);
    let file = folder.0.join("ledger.txt");
    // The first sitting runs the shard of one case only.
    let output = folder.run(&cases, &[&ledger(&file)[..], &["--filter", "*.crash"]].concat());
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("| a | 4 | 1 | 0 | 1 | 0 | 2 |"), "{}", text(&output));
    let before = std::fs::read_to_string(&file).unwrap();
    // The end of the machine cut off a shard of the second sitting.
    std::fs::write(&file, before.clone() + "b 1/2 1 1 0 0 0 1 0\n").unwrap();
    let file_only = ["--ledger", file.to_str().unwrap()];
    let output = folder.run(&cases, &file_only);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("| b | 3 | 0 | 1 | 2 | 0 | 0 |"), "{}", text(&output));
    let kept = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = kept.strip_prefix(&before).unwrap().lines().collect();
    let counts: Vec<&str> = lines.iter().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(
        counts,
        [
            "a 2/2 2 1 0 0 1 0",
            "b 1/2 1 0 0 1 0 1",
            "! dEQP-VK.b.fail: failed (fail) got",
            "b 2/2 2 0 1 1 0 1",
            "! dEQP-VK.b.warning: passed, but fails.txt expects a failure (warning) QualityWarning:",
        ]
    );
    // Nothing is left, and each case was begun once.
    let output = folder.run(&cases, &file_only);
    assert!(output.status.success() && text(&output).contains("| all | 7 | 2 | 1 | 3 | 1 | 0 |"), "{}", text(&output));
    assert_eq!(folder.trace().len(), 7);
    let listed = folder.run(&cases, &[file_only[0], file_only[1], "--list", "--binary", "/no/such/binary"]);
    assert_eq!(text(&listed), text(&output).trim_start());
}

#[test]
fn a_ledger_stays_of_one_suite_and_driver() {
    let folder = Folder::new("other");
    let cases = folder.file("cases.list", &list(&["pass", "fail"]));
    let file = folder.0.join("ledger.txt");
    let new = folder.run(&cases, &["--ledger", file.to_str().unwrap()]);
    assert_eq!(new.status.code(), Some(2), "{}", text(&new));
    assert!(text(&new).contains("expected --suite-commit and --driver-commit for a new one"), "{}", text(&new));
    assert_eq!(folder.run(&cases, &ledger(&file)).status.code(), Some(1));
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains("sources unknown\n"), "{kept}");
    let more = folder.file("more.list", &list(&["pass", "fail", "pass2"]));
    let other = ["--ledger", file.to_str().unwrap(), "--driver-commit", "aaaaaaa"];
    for (cases, options, told) in
        [(&more, &other[..2], "the list of cases"), (&cases, &other[..], "the driver's commit fedcba9, not aaaaaaa")]
    {
        let output = folder.run(cases, options);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(told), "{}", text(&output));
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept);
    std::fs::write(&file, kept + "odd\n").unwrap();
    let output = folder.run(&cases, &other[..2]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("ledger.txt:10: expected GROUP INDEX/COUNT"), "{}", text(&output));
}

#[test]
fn bad_input_is_told() {
    let folder = Folder::new("bad");
    let good = folder.file("good.list", &list(&["pass"]));
    let empty = folder.file("empty.list", "\n# nothing\n");
    let odd = folder.file("odd.list", "no case\n");
    for (list, options) in [
        (Path::new("/no/such/list"), &[][..]),
        (empty.as_path(), &[]),
        (odd.as_path(), &[]),
        (good.as_path(), &["--binary", "/no/such/binary"]),
        (good.as_path(), &["--binary", "/"]),
        // Not executable.
        (good.as_path(), &["--binary", good.to_str().unwrap()]),
        (good.as_path(), &["--filter", "nothing*"]),
        (good.as_path(), &["--sample", "0"]),
        (good.as_path(), &["--json"]),
        (good.as_path(), &["--expectations", "/no/such/folder"]),
        (good.as_path(), &["--state", "/no/such/folder/state"]),
        (good.as_path(), &["--ledger", "/no/such/ledger", "--list"]),
        (good.as_path(), &ledger(Path::new("/no/such/folder/ledger"))),
    ] {
        let output = folder.run(list, options);
        assert_eq!(output.status.code(), Some(2), "{list:?} {options:?}: {}", text(&output));
        assert!(!text(&output).contains("panicked"), "{}", text(&output));
    }
    assert!(folder.trace().is_empty());
}
