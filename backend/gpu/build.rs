//! Names this build of the emulated GPU by a digest of its crates' sources. A pipeline cache that
//! another build saved is so never taken for its own.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Crates that make of SPIR-V what is saved, or run it.
const CRATES: [&str; 8] = ["base", "codegen", "exec", "format", "gpu", "ir", "memory", "spirv"];

fn main() {
    let mut files = BTreeMap::new();
    for krate in CRATES {
        let sources = Path::new("..").join(krate).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files);
    }
    let digest = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, &files).hash(&mut hasher);
        hasher.finish()
    };
    println!("cargo::rustc-env=VITRIC_BUILD={:016x}{:016x}", digest(1), digest(2));
}

fn collect(folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if let Ok(bytes) = std::fs::read(&path) {
            files.insert(path.display().to_string(), bytes);
        }
    }
}
