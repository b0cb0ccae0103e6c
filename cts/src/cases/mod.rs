//! The conformance cases, grouped in folders by the chapters of the Vulkan specification.

mod clears_and_copies;
mod command_buffers;
mod descriptors;
mod devices;
mod dispatch;
mod drawing;
mod formats;
mod fragment_operations;
mod framebuffer;
mod geometry;
mod image_operations;
mod memory;
mod mesh;
mod pipelines;
mod presentation;
mod queries;
mod rasterization;
mod render_passes;
mod resources;
mod samplers;
mod shaders;
mod support;
mod synchronization;
mod tessellation;
mod vertex_post_processing;

use crate::{Entry, registry};

/// Returns every case, in the order of their names.
pub fn all() -> Vec<Entry> {
    let mut all = registry::registered();
    if std::env::var_os(FAULTS).is_some() {
        faults(&mut all);
    }
    all
}

/// Environment variable that adds cases that crash and hang, for tests of the runner.
pub const FAULTS: &str = "VITRIC_CTS_FAULTS";

fn faults(all: &mut Vec<Entry>) {
    let mut add = |name: &str, run: fn()| {
        all.push(Entry::new(name, "none", move |_| {
            run();
            Ok(())
        }));
    };
    add("runner.crash.case", || std::process::abort());
    add("runner.crash.next", || ());
    add("runner.hang.case", || std::thread::sleep(std::time::Duration::from_secs(3600)));
    add("runner.hang.next", || ());
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    #[test]
    fn names_are_unique_and_many() {
        let mut names: Vec<String> = super::all().into_iter().map(|entry| entry.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count >= 3000, "{count} cases");
        assert!(names.iter().all(|name| name.split('.').count() == 3));
    }

    /// A file without a `mod` line is not compiled, so its cases would be missing silently.
    #[test]
    fn every_file_is_a_module() {
        let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cases"))];
        while let Some(folder) = folders.pop() {
            let parent = [folder.join("mod.rs"), folder.with_extension("rs")].into_iter().find(|file| file.exists());
            let parent = std::fs::read_to_string(parent.unwrap()).unwrap();
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                let is_declared = parent.lines().any(|line| line.ends_with(&format!("mod {name};")));
                assert!(is_declared || name == "mod", "{}: no line `mod {name};`", path.display());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
    }
}
