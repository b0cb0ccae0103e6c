//! The cases, one file a part of the specification.

mod assembly;
mod barycentric;
mod capacity;
mod commands;
mod compressed;
mod compute;
mod conservative;
mod core11;
mod core12;
mod core13;
mod devices;
mod dynamic;
mod edges;
mod external;
mod extremes;
mod feedback;
mod filtering;
mod formats;
mod fragment;
mod framebuffer;
mod geometry;
mod host;
mod images;
mod language;
mod layers;
mod limits;
mod lines;
mod local;
mod locations;
mod lookahead;
mod maintenance;
mod memory12;
mod meshes;
mod multiview;
mod newer;
mod order;
mod ordered;
mod packed;
mod planar;
mod programs;
mod queues;
mod raster;
mod rates;
mod required;
mod residency;
mod robust;
mod samplers;
mod scenes;
mod sets;
mod shaders;
mod single;
mod stages;
mod statistics;
mod subgroups;
mod subpasses;
mod sync;
mod tessellation;
mod times;
mod transfers;
mod versions;
mod vertices;
mod visibility;
mod wide;

use crate::Entry;

/// Every case, grouped.
pub fn all() -> Vec<Entry> {
    let mut all = Vec::new();
    for add in [
        devices::cases,
        required::cases,
        versions::cases,
        sync::cases,
        sets::cases,
        capacity::cases,
        queues::cases,
        external::cases,
        formats::cases,
        compressed::cases,
        wide::cases,
        compute::cases,
        edges::cases,
        core11::cases,
        core12::cases,
        memory12::cases,
        core13::cases,
        dynamic::cases,
        language::cases,
        assembly::cases,
        raster::cases,
        extremes::cases,
        conservative::cases,
        locations::cases,
        barycentric::cases,
        rates::cases,
        layers::cases,
        feedback::cases,
        geometry::cases,
        limits::cases,
        meshes::cases,
        tessellation::cases,
        lines::cases,
        vertices::cases,
        fragment::cases,
        order::cases,
        ordered::cases,
        visibility::cases,
        packed::cases,
        scenes::cases,
        lookahead::cases,
        framebuffer::cases,
        samplers::cases,
        filtering::cases,
        planar::cases,
        images::cases,
        transfers::cases,
        stages::cases,
        shaders::cases,
        times::cases,
        programs::cases,
        statistics::cases,
        subgroups::cases,
        subpasses::cases,
        local::cases,
        single::cases,
        robust::cases,
        commands::cases,
        host::cases,
        maintenance::cases,
        newer::cases,
        residency::cases,
        multiview::cases,
    ] {
        add(&mut all);
    }
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
