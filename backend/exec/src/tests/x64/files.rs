//! Tests of passes on the text of the IR. Files of `tests/vir` contain a function before and after
//! the passes. Both must have equal results on the interpreter and on every target.
//!
//! `VITRIC_BLESS=1` writes the current result into the files.

use std::path::{Path, PathBuf};

use vitric_ir::passes::{PASSES, PASSES_OF_KERNELS};
use vitric_ir::{Function, Inst, parse, verify};

use super::{Run, check, program, run};

/// Line between the two functions of a file.
const BECOMES: &str = "; becomes\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vir");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "vir")).collect();
    files.sort();
    files
}

fn inputs(function: &Function) -> usize {
    let slot = |inst: &Inst| if let Inst::Input { slot, .. } = inst { *slot as usize + 1 } else { 0 };
    function.insts.iter().map(slot).max().unwrap_or(0)
}

#[test]
fn passes_do_what_the_files_say() {
    let bless = std::env::var_os("VITRIC_BLESS").is_some();
    let passes = || PASSES.iter().chain(PASSES_OF_KERNELS);
    let mut tested = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, after) = text.split_once(BECOMES).unwrap();
        let name = before.lines().find_map(|line| line.strip_prefix("; pass ")).unwrap();
        let (_, pass) = passes().find(|(known, _)| *known == name).unwrap();
        let original = parse(before).unwrap();
        let mut function = original.clone();
        pass(&mut function);
        verify(&function).unwrap();
        if bless {
            std::fs::write(&path, format!("{before}{BECOMES}{function}")).unwrap();
        } else {
            assert_eq!(function.to_string(), after, "{}", path.display());
        }
        let lanes = (0..inputs(&original)).map(|slot| std::array::from_fn(|lane| (lane * (slot + 3) % 11) as u32));
        let how = Run { inputs: lanes.collect(), lanes: 0xfff7, helpers: 0x20 };
        check(&original, &how);
        check(&function, &how);
        let outcomes = [&original, &function].map(|function| run(&program(function, how.inputs.len(), None), &how));
        assert_eq!(outcomes[0], outcomes[1], "{} computes something else", path.display());
        tested.push(name.to_owned());
    }
    for (name, _) in passes() {
        assert!(tested.iter().any(|tested| tested == name), "no file tests {name}");
    }
}
