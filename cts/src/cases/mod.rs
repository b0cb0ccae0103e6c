//! The cases, one file a part of the specification.

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

/// Environment variable that adds cases which crash and hang, for tests of the runner.
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
    #[test]
    fn names_are_unique_and_many() {
        let mut names: Vec<String> = super::all().into_iter().map(|entry| entry.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count >= 250, "{count} cases");
        assert!(names.iter().all(|name| name.split('.').count() == 3));
    }
}
