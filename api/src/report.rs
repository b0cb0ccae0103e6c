//! What a device counted, as a file: the knob `VITRIC_COUNTERS` names the folder, and each device leaves a file there when it goes, or when
//! the process ends before it.
//!
//! The file is JSON. Its schema has a version ([`VERSION`]) and is told in ARCHITECTURE.md, "Counters as a file". Counters are functional,
//! not timing.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Result, Write};
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use vitric_base::counters::{Counters, MAPS, Maps, Sample, Samples, TABLE};
use vitric_base::knobs;
use vitric_gpu::gpu::Gpu;

/// Version of the schema: it grows when something that was there goes or means another thing.
pub const VERSION: u32 = 2;

/// Most files of a folder.
const MAX_FILES: u32 = 10_000;

/// How long the end of a process waits for others to let go of the list of GPUs: a forked process may have it locked by nobody.
const PATIENCE: Duration = Duration::from_secs(1);

/// GPUs that count and have left no report yet, with the process that made them. It is global because the end of a process is.
static WATCHED: Mutex<Vec<(u32, Weak<Gpu>)>> = Mutex::new(Vec::new());

/// Has a GPU leave a report, if it counts: by [`leave`] or by [`leave_all`], whichever comes first.
pub(crate) fn watch(gpu: &Arc<Gpu>) {
    if gpu.counters().is_some() {
        WATCHED.lock().push((std::process::id(), Arc::downgrade(gpu)));
    }
}

/// A GPU that is watched leaves its report.
pub(crate) fn leave(gpu: &Arc<Gpu>) {
    if gpu.counters().is_some() {
        let taken = take(&mut WATCHED.lock(), |watched| std::ptr::eq(watched.as_ptr(), Arc::as_ptr(gpu)));
        taken.iter().for_each(|gpu| report_of(gpu));
    }
}

/// All GPUs of this process that count and have left no report leave one: for the end of a process whose devices were not destroyed. What
/// still runs is not waited for, and not in it.
pub fn leave_all() {
    let taken = WATCHED.try_lock_for(PATIENCE).map(|mut watched| take(&mut watched, |_| true));
    taken.iter().flatten().for_each(|gpu| report_of(gpu));
}

/// Takes GPUs of this process from the list: what was forked has another's there, too.
fn take(watched: &mut Vec<(u32, Weak<Gpu>)>, is_meant: impl Fn(&Weak<Gpu>) -> bool) -> Vec<Arc<Gpu>> {
    let process = std::process::id();
    let taken = watched.extract_if(.., |(of, gpu)| *of == process && is_meant(gpu));
    taken.filter_map(|(_, gpu)| gpu.upgrade()).collect()
}

fn report_of(gpu: &Gpu) {
    gpu.settle_counters();
    if let Some(counters) = gpu.counters() {
        write(counters, Path::new(knobs::values().text("VITRIC_COUNTERS")));
    }
}

/// Writes what was counted to a new file in a folder, `counters-PROCESS-NUMBER.json`. What goes wrong is said in the log.
fn write(counters: &Counters, folder: &Path) {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| report(counters, &counters.samples(), &mut BufWriter::new(new_file(folder)?)));
    if let Err(error) = written {
        log::error!("counters cannot be written to {}: {error}", folder.display());
    }
}

fn new_file(folder: &Path) -> Result<File> {
    for number in 0..MAX_FILES {
        match File::create_new(folder.join(format!("counters-{}-{number}.json", std::process::id()))) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => return done,
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Writes the report piece by piece: samples are many.
fn report(counters: &Counters, samples: &Samples, out: &mut impl Write) -> Result<()> {
    let entry = |(entry, value): (&vitric_base::counters::Entry, u64)| json!({ "name": entry.name, "unit": entry.unit, "doc": entry.doc, "value": value });
    let counted: Value = TABLE.iter().zip(counters.values()).map(entry).collect();
    let maps: Value = counters.maps().iter().map(maps).collect();
    let left_out = samples.left_out;
    write!(
        out,
        r#"{{"version":{VERSION},"counters":{counted},"maps":{maps},"samples_left_out":{left_out},"samples":["#
    )?;
    for (number, of) in samples.kept.iter().enumerate() {
        write!(out, "{}\n{}", if number > 0 { "," } else { "" }, sample(of))?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

fn sample(sample: &Sample) -> Value {
    let [begin, end] = sample.time;
    let values =
        sample.values.iter().map(|&(counter, value)| (TABLE[usize::from(counter)].name.to_owned(), json!(value)));
    let values = Value::Object(values.collect());
    json!({ "kind": sample.kind.name(), "within": sample.within, "begin_ns": begin, "end_ns": end, "values": values })
}

fn maps(maps: &Maps) -> Value {
    let values = MAPS.iter().map(|&(name, map)| (name.to_owned(), json!(maps.of(map)))).collect();
    json!({ "columns": maps.columns, "rows": maps.rows, "values": Value::Object(values) })
}

#[cfg(test)]
mod tests {
    use vitric_base::counters::{Counter, SampleKind, Sampler};

    use super::*;

    #[test]
    fn reports_have_every_counter_and_do_not_replace_each_other() {
        let folder = std::env::temp_dir().join(format!("vitric-report-{}", std::process::id()));
        let counters = Counters::default();
        counters.count(Counter::Waves, 7);
        let mut sampler = Sampler::new(3, &counters);
        sampler.begin(SampleKind::Pass, 4, None);
        sampler.counters.count(Counter::Waves, 2);
        sampler.finish(9, &counters);
        write(&counters, &folder);
        write(&counters, &folder);
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        let text = std::fs::read_to_string(&files[0]).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((files.len(), &read["version"], &read["samples_left_out"]), (2, &json!(VERSION), &json!(0)));
        let counted = read["counters"].as_array().unwrap();
        assert_eq!(counted.len(), TABLE.len());
        assert!(counted.iter().any(|entry| entry["name"] == "waves" && entry["value"] == 9));
        let pass = json!({ "kind": "pass", "within": 0, "begin_ns": 4, "end_ns": 9, "values": { "waves": 2 } });
        assert_eq!((read["samples"].as_array().unwrap().len(), &read["samples"][1]), (2, &pass));
    }

    #[test]
    fn a_folder_that_cannot_be_is_no_reason_to_stop() {
        write(&Counters::default(), Path::new("/proc/nowhere/at/all"));
    }
}
