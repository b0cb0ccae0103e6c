//! Lists of cases: a name on each line, as in the mustpass files and by
//! `--deqp-runmode=txt-caselist`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Optional beginning of a line. Lines of groups are skipped.
const TEST: &str = "TEST: ";
const GROUP: &str = "GROUP: ";

/// Reads the names of some lists, in order, each once. A folder stands for all `.txt` files in and
/// below it, by name.
///
/// # Errors
/// A list cannot be read, has a line that is no name, or has no name at all.
pub fn read(lists: &[PathBuf]) -> Result<Vec<String>, String> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for list in lists {
        let before = seen.len();
        for file in files(list)? {
            let text = std::fs::read_to_string(&file).map_err(|error| problem(&file, &error))?;
            for name in parse(&text).map_err(|line| format!("{}: {line}", file.display()))? {
                if seen.insert(name.to_owned()) {
                    names.push(name.to_owned());
                }
            }
        }
        if seen.len() == before && names.is_empty() {
            return Err(format!(
                "{} names no case: expected a list with the name of a case on each line",
                list.display()
            ));
        }
    }
    Ok(names)
}

/// Returns every `step`-th name, from the first on.
pub fn sample(names: Vec<String>, step: usize) -> Vec<String> {
    names.into_iter().step_by(step.max(1)).collect()
}

fn problem(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

/// Returns a file, or the lists in a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| problem(path, &error))? {
        entries.push(entry.map_err(|error| problem(path, &error))?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        // A link to a folder may lead back here.
        if entry.is_dir() && !entry.is_symlink() {
            found.extend(files(&entry)?);
        } else if entry.is_file() && entry.extension().is_some_and(|extension| extension == "txt") {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Returns the names of a text, or an error.
fn parse(text: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with(GROUP) {
            continue;
        }
        let name = line.strip_prefix(TEST).unwrap_or(line);
        if !is_name(name) {
            return Err(format!("line {}: expected the name of a case", number + 1));
        }
        names.push(name);
    }
    Ok(names)
}

/// Returns true if a word is a path of Khronos' tests: parts of letters, digits, `_` and `-`,
/// separated by points.
fn is_name(word: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    word.contains('.') && word.split('.').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_lists_are_read() {
        assert_eq!(parse("dEQP-VK.a.b\n\n# note\r\ndEQP-VK.a.c\r\n"), Ok(vec!["dEQP-VK.a.b", "dEQP-VK.a.c"]));
        assert_eq!(parse("GROUP: dEQP-VK.a\nTEST: dEQP-VK.a.b"), Ok(vec!["dEQP-VK.a.b"]));
    }

    #[test]
    fn other_files_are_not() {
        for text in ["{dEQP-VK{info{build}}}", "vk-default/api.txt", "a..b", "word", "a.b c", "a.b\u{e9}"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_sample_is_every_nth() {
        let names: Vec<String> = (0..7).map(|n| format!("a.{n}")).collect();
        assert_eq!(sample(names.clone(), 3), ["a.0", "a.3", "a.6"]);
        assert_eq!(sample(names.clone(), 0), names);
    }

    #[test]
    fn folders_stand_for_their_files_and_names_come_once() {
        let folder = std::env::temp_dir().join(format!("vitric-lists-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("b")).unwrap();
        std::fs::write(folder.join("c.txt"), "t.c\nt.a\n").unwrap();
        std::fs::write(folder.join("a.txt"), "t.a\n").unwrap();
        std::fs::write(folder.join("b/b.txt"), "t.b\n").unwrap();
        std::fs::write(folder.join("notes.md"), "no list").unwrap();
        let names = read(&[folder.clone(), folder.join("a.txt")]);
        let empty = folder.join("empty.txt");
        std::fs::write(&empty, "# nothing\n").unwrap();
        let nothing = read(std::slice::from_ref(&empty));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(names.unwrap(), ["t.a", "t.b", "t.c"]);
        assert!(nothing.is_err() && read(&[empty]).is_err());
    }
}
