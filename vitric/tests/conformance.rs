//! The conformance-style suite on the linked driver, against its expectation lists.

use std::process::Command;

#[test]
fn the_suite_gives_what_its_lists_expect() {
    let run = Command::new(env!("CARGO_BIN_EXE_vitric")).arg("cts").output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}");
    assert!(text.contains(" 0 unexpected"), "{text}");
}

#[test]
fn an_unknown_filter_is_an_error() {
    let run = Command::new(env!("CARGO_BIN_EXE_vitric")).args(["cts", "--filter", "nothing.*"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
}
