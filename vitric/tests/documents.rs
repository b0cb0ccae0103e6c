//! Tables of documents that are made from tables of the code. `cargo xtask bless documents` writes
//! them anew.

use std::path::Path;

use ash::vk;
use vitric_api::extensions::{self, Extension, Level};
use vitric_base::{counters, knobs};

/// Compares the table below `head` in a document with `rows`. Writes the rows into the document
/// instead if `VITRIC_BLESS` is set.
fn check_table(document: &str, head: &str, rows: impl Iterator<Item = String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let columns = head.matches('|').count() - 1;
    let head = format!("{head}\n|{}\n", " --- |".repeat(columns));
    let (before, rest) =
        text.split_once(&head).unwrap_or_else(|| panic!("{document} has no table with the head {head}"));
    let (found, after) = rest.split_once("\n\n").unwrap_or((rest.trim_end(), ""));
    let expected = rows.collect::<Vec<_>>().join("\n");
    if std::env::var_os("VITRIC_BLESS").is_some() {
        let end = if after.is_empty() { "\n".to_owned() } else { format!("\n\n{after}") };
        std::fs::write(path, format!("{before}{head}{expected}{end}")).unwrap();
        return;
    }
    assert_eq!(found, expected, "{document} is out of date: `cargo xtask bless documents` writes the table anew");
}

#[test]
fn readme_has_the_table_of_knobs() {
    let row =
        |knob: &knobs::Knob| format!("| `{}` | {} | {} |", knob.name, knob.default, knob.doc).replace("|  |", "| |");
    check_table("README.md", "| variable | default | meaning |", knobs::table().iter().map(row));
}

#[test]
fn the_page_of_counters_has_their_table() {
    let row = |entry: &counters::Entry| format!("| `{}` | {} | {} |", entry.name, entry.unit, entry.doc);
    check_table("docs/counters.md", "| counter | unit | meaning |", counters::TABLE.iter().map(row));
}

#[test]
fn the_page_of_extensions_has_their_tables() {
    let row = |extension: &Extension| {
        let core = |version| format!("{}.{}", vk::api_version_major(version), vk::api_version_minor(version));
        let core = extension.core.map(core).unwrap_or_default();
        let limits = if extension.limits.is_empty() { "all" } else { extension.limits };
        format!("| `{}` | {} | {core} | {limits} |", extension.name, extension.version).replace("|  |", "| |")
    };
    for (level, name) in [(Level::Instance, "instance"), (Level::Device, "device")] {
        let mut extensions: Vec<&Extension> = extensions::of(level).collect();
        extensions.sort_by_key(|extension| extension.name);
        let head = format!("| {name} extension | version | core since | supported |");
        check_table("docs/extensions.md", &head, extensions.into_iter().map(row));
    }
}
