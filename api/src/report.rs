//! What a device counted, as a file: the knob `VITRIC_COUNTERS` names the folder, and each device leaves a file there when it goes.
//!
//! The file is JSON: `version` (1), `counters` (each with `name`, `unit`, `doc` and `value`), and `maps`, one for each size of what was
//! rendered to: `columns` and `rows` of groups of 8x8 pixels, and `values`, by the map's name, row by row. Counters are functional,
//! not timing.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::{Value, json};
use vitric_backend::counters::{Counters, MAPS, Maps, TABLE};

/// Most files of a folder.
const MOST_FILES: u32 = 10_000;

/// Writes what was counted to a new file in a folder, `counters-PROCESS-NUMBER.json`. What goes wrong is said in the log.
pub(crate) fn write(counters: &Counters, folder: &Path) {
    let text = report(counters).to_string();
    let written = std::fs::create_dir_all(folder).and_then(|()| new_file(folder)?.write_all(text.as_bytes()));
    if let Err(error) = written {
        log::error!("counters cannot be written to {}: {error}", folder.display());
    }
}

fn new_file(folder: &Path) -> std::io::Result<File> {
    for number in 0..MOST_FILES {
        match File::create_new(folder.join(format!("counters-{}-{number}.json", std::process::id()))) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => return done,
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn report(counters: &Counters) -> Value {
    let entry = |(entry, value): (&vitric_backend::counters::Entry, u64)| json!({ "name": entry.name, "unit": entry.unit, "doc": entry.doc, "value": value });
    let counted: Vec<Value> = TABLE.iter().zip(counters.values()).map(entry).collect();
    let maps: Vec<Value> = counters.maps().iter().map(maps).collect();
    json!({ "version": 1, "counters": counted, "maps": maps })
}

fn maps(maps: &Maps) -> Value {
    let values = MAPS.iter().map(|&(name, map)| (name.to_owned(), json!(maps.of(map)))).collect();
    json!({ "columns": maps.columns, "rows": maps.rows, "values": Value::Object(values) })
}

#[cfg(test)]
mod tests {
    use vitric_backend::counters::Counter;

    use super::*;

    #[test]
    fn reports_have_every_counter_and_do_not_replace_each_other() {
        let folder = std::env::temp_dir().join(format!("vitric-report-{}", std::process::id()));
        let counters = Counters::default();
        counters.count(Counter::Waves, 7);
        write(&counters, &folder);
        write(&counters, &folder);
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        let text = std::fs::read_to_string(&files[0]).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((files.len(), &read["version"]), (2, &json!(1)));
        let counted = read["counters"].as_array().unwrap();
        assert_eq!(counted.len(), TABLE.len());
        assert!(counted.iter().any(|entry| entry["name"] == "waves" && entry["value"] == 7));
    }

    #[test]
    fn a_folder_that_cannot_be_is_no_reason_to_stop() {
        write(&Counters::default(), Path::new("/proc/nowhere/at/all"));
    }
}
