//! Files of the tests: a head with a function, and sections with results.

use std::path::{Path, PathBuf};

use crate::directives::{Directive, directive};

/// Comment lines that start a section.
const TITLES: &[&str] = &["becomes", "gives", "machine avx512", "code avx512", "machine avx2", "code avx2"];

/// One file.
pub struct File {
    path: PathBuf,
    text: String,
    /// Text before the first section.
    pub head: String,
    /// First line without the comment's sign, such as `pass fold`.
    pub kind: String,
    /// Directives of the head, in order.
    pub directives: Vec<Directive>,
}

impl File {
    /// Reads all files of a folder, sorted by name.
    pub fn of_folder(folder: &str) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vir").join(folder);
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|is| is == "vir")).collect();
        paths.sort();
        paths.into_iter().map(Self::read).collect()
    }

    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_title = |line: &&str| line.strip_prefix("; ").is_some_and(|title| TITLES.contains(&title));
        let head: String = text.lines().take_while(|line| !is_title(line)).map(|line| format!("{line}\n")).collect();
        let first = head.lines().next().unwrap_or_default();
        let kind = first.strip_prefix("; ").unwrap_or_else(|| panic!("{} has no kind", path.display())).to_owned();
        let comments = head.lines().skip(1).take_while(|line| line.starts_with(';'));
        let prose = comments.clone().next().unwrap_or_default();
        assert!(prose.len() > 20, "{} does not say which behaviour it holds", path.display());
        let found = comments.filter_map(|line| directive(line.trim_start_matches(';').trim()));
        let directives = found.map(|found| found.unwrap_or_else(|problem| panic!("{}: {problem}", path.display())));
        Self { directives: directives.collect(), path, kind, head, text }
    }

    /// Returns the function's text.
    pub fn function_text(&self) -> String {
        self.head.lines().filter(|line| !line.starts_with(';')).map(|line| format!("{line} \n")).collect()
    }

    /// Returns the file's path for messages.
    pub fn name(&self) -> String {
        self.path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&self.path).display().to_string()
    }

    fn with(&self, sections: &[(String, String)]) -> String {
        let mut text = self.head.clone();
        for (title, body) in sections {
            assert!(TITLES.contains(&title.as_str()), "{title} is no title of a section");
            text += &format!("; {title}\n{body}");
        }
        text
    }

    /// Writes results into the file.
    pub fn bless(&self, sections: &[(String, String)]) {
        let text = self.with(sections);
        if text != self.text {
            println!("blessed {}", self.name());
            std::fs::write(&self.path, text).unwrap();
        }
    }

    /// Compares results with the file's. Returns a description of the first difference.
    pub fn compare(&self, sections: &[(String, String)]) -> Option<String> {
        let text = self.with(sections);
        if text == self.text {
            return None;
        }
        let same = text.lines().zip(self.text.lines()).take_while(|(new, old)| new == old).count();
        let around = |text: &str| text.lines().skip(same).take(4).map(|line| format!("  {line}\n")).collect::<String>();
        let (old, new) = (around(&self.text), around(&text));
        Some(format!("{}, line {}: the file says\n{old}and the result is\n{new}", self.name(), same + 1))
    }
}
