//! Names this build of the backend: a digest of its sources, so that what another build saved is never taken for its own.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut files = BTreeMap::new();
    collect(Path::new("src"), &mut files);
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
