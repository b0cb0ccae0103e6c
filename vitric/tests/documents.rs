//! Tables of documents that are made from tables of the code. `VITRIC_BLESS=1` writes them anew.

use std::path::Path;

use vitric_base::knobs;

/// Head of README's table of knobs.
const HEAD: &str = "| variable | default | meaning |\n| --- | --- | --- |\n";

#[test]
fn readme_has_the_table_of_knobs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(HEAD).expect("README.md has the table's head");
    let (found, after) = rest.split_once("\n\n").expect("an empty line ends the table");
    let row =
        |knob: &knobs::Knob| format!("| `{}` | {} | {} |", knob.name, knob.default, knob.doc).replace("|  |", "| |");
    let expected = knobs::table().iter().map(row).collect::<Vec<_>>().join("\n");
    if std::env::var_os("VITRIC_BLESS").is_some() {
        std::fs::write(path, format!("{before}{HEAD}{expected}\n\n{after}")).unwrap();
        return;
    }
    assert_eq!(found, expected, "VITRIC_BLESS=1 writes the table anew");
}
