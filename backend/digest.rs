//! A digest of sources, which build scripts share.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Returns a digest of 16 bytes of the files at and below some paths, in hexadecimal digits, and
/// tells cargo to run the build script again when one of them changes.
pub fn of(paths: &[PathBuf]) -> String {
    let mut files = BTreeMap::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
        collect(path, &mut files);
    }
    let digest = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, &files).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", digest(1), digest(2))
}

fn collect(path: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    if path.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| collect(&entry.path(), files));
    } else if let Ok(bytes) = std::fs::read(path) {
        files.insert(path.display().to_string(), bytes);
    }
}
