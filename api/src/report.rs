//! Reports of a device's counters as files. The knob `VITRIC_COUNTERS` names the folder. Each
//! device writes a file there when it is destroyed, or when the process ends before that.
//!
//! The file is JSON. `docs/counters.md` documents its schema, which has a version ([`VERSION`]).
//! Counters are functional and do not measure time.

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

/// Version of the schema. It grows when a field is removed or changes its meaning.
pub const VERSION: u32 = 3;

/// Maximum number of files of one process in a folder.
const MAX_FILES: u32 = 10_000;

/// Longest wait at the end of a process for the lock of the list of GPUs. After a fork, the lock
/// may be held by a thread that does not exist in the child.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(1);

/// GPUs that count and have written no report, with the process that created them. The list is
/// global because the end of a process is global.
static WATCHED: Mutex<Vec<(u32, Weak<Gpu>)>> = Mutex::new(Vec::new());

/// Registers a GPU for a report if it counts. [`leave`] or [`leave_all`] writes the report,
/// whichever is called first.
pub(crate) fn watch(gpu: &Arc<Gpu>) {
    if gpu.counters().is_some() {
        WATCHED.lock().push((std::process::id(), Arc::downgrade(gpu)));
    }
}

/// Writes the report of a registered GPU.
pub(crate) fn leave(gpu: &Arc<Gpu>) {
    if gpu.counters().is_some() {
        let taken = take(&mut WATCHED.lock(), |watched| std::ptr::eq(watched.as_ptr(), Arc::as_ptr(gpu)));
        taken.iter().for_each(|gpu| report_of(gpu));
    }
}

/// Writes the reports of all registered GPUs of this process, at the end of a process that did not
/// destroy its devices. Work that still runs is not waited for, and not part of the report.
pub fn leave_all() {
    let taken = WATCHED.try_lock_for(MAX_LOCK_WAIT).map(|mut watched| take(&mut watched, |_| true));
    taken.iter().flatten().for_each(|gpu| report_of(gpu));
}

/// Removes and returns the matching GPUs of this process. After a fork the list also contains GPUs
/// of the parent process.
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

/// Writes counters to a new file `counters-PROCESS-NUMBER.json` in a folder. Errors are logged.
fn write(counters: &Counters, folder: &Path) {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| report(counters, &counters.samples(), &mut BufWriter::new(new_file(folder)?)));
    if let Err(error) = written {
        log::error!(
            "VITRIC_COUNTERS={}: counters cannot be written: {error}: expected a writable folder",
            folder.display()
        );
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

/// Writes the report in parts, because there may be many samples.
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
