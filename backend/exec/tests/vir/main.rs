//! File tests of the IR: passes, execution and code generation on text.
//!
//! Each file of `backend/tests/vir` holds a function as text. Its first line names the kind of
//! test, the next lines say which behaviour the file holds, and lines such as `; input 0: 5` are
//! directives. Results follow the function, each behind a comment line of its own.
//!
//! - `pass/` holds functions before and after a pass, which compute equal results.
//! - `run/` holds functions with inputs and results. The interpreter and the code of every target
//!   that this machine supports compute these results.
//! - `lower/` holds functions with their machine IR and their assembly for AVX-512 and AVX2. They
//!   do not depend on the machine.
//!
//! `VITRIC_BLESS=1` writes the current results into the files.

mod directives;
mod file;
mod lower;
mod pass;
mod run;
mod scene;
mod words;

use file::File;

/// Runs the tests of a folder, and blesses the files or compares them. Returns the files.
fn run_folder(folder: &str, test: impl Fn(&File) -> Vec<(String, String)>) -> Vec<File> {
    let files = File::of_folder(folder);
    assert!(!files.is_empty(), "no file in {folder}");
    let bless = std::env::var_os("VITRIC_BLESS").is_some();
    let mut problems = Vec::new();
    for file in &files {
        // A panic names its file, and the other files are tested, too.
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(file))) {
            Err(_) => problems.push(format!("{}: panicked, see above", file.name())),
            Ok(sections) if bless => file.bless(&sections),
            Ok(sections) => problems.extend(file.compare(&sections)),
        }
    }
    assert!(problems.is_empty(), "{}\n\n{} of {} files differ", problems.join("\n\n"), problems.len(), files.len());
    files
}

/// Checks that a file of a folder uses each of some names.
fn assert_covered<T: std::fmt::Debug>(files: &[File], all: &[T], prefix: &str) {
    let texts: Vec<String> = files.iter().map(|file| file.function_text().replace([',', '['], " ")).collect();
    for item in all {
        let wanted = format!(" {prefix}{item:?} ");
        assert!(texts.iter().any(|text| text.contains(&wanted)), "no file has {}", wanted.trim());
    }
}

#[test]
fn passes_do_what_the_files_say() {
    let files = run_folder("pass", pass::test);
    for name in pass::names() {
        assert!(files.iter().any(|file| file.kind == format!("pass {name}")), "no file tests {name}");
    }
}

#[test]
fn executors_compute_what_the_files_say() {
    use vitric_ir::{AtomicOp, BinaryOp, TernaryOp, UnaryOp, WideOp};
    let files = run_folder("run", run::test);
    assert_covered(&files, UnaryOp::ALL, "= ");
    assert_covered(&files, BinaryOp::ALL, "= ");
    assert_covered(&files, TernaryOp::ALL, "= ");
    assert_covered(&files, WideOp::ALL, "Wide ");
    assert_covered(&files, AtomicOp::ALL, "Atomic ");
}

#[test]
fn code_is_as_the_files_say() {
    use vitric_ir::{AtomicOp, BinaryOp, TernaryOp, UnaryOp, WideOp};
    let files = run_folder("lower", lower::test);
    assert_covered(&files, UnaryOp::ALL, "= ");
    assert_covered(&files, BinaryOp::ALL, "= ");
    assert_covered(&files, TernaryOp::ALL, "= ");
    assert_covered(&files, WideOp::ALL, "Wide ");
    assert_covered(&files, AtomicOp::ALL, "Atomic ");
}
