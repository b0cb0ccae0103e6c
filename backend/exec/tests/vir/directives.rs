//! Directives of a file: comment lines of the form `NAME [ARGUMENT...]: VALUE`.

/// Names of all directives.
const NAMES: &[&str] = &[
    // Lanes that run, and lanes that are helpers, as bit masks.
    "lanes",
    "helpers",
    // Words of an input slot by lane. A second argument, `uniform` or `consecutive`, is its
    // declared variance.
    "input",
    // Words of memory: a buffer, a numbered range, push constants, shared memory, and memory by
    // address.
    "buffer",
    "range",
    "push",
    "shared",
    "address",
    // A parameter's words by lane.
    "parameter",
    // Options of code generation: `all-lanes`, `by-lane`, `filled` and `quads`.
    "options",
    // Input slots that are equal for the two waves of a pair.
    "same",
];

/// One directive.
#[derive(Debug, Clone)]
pub struct Directive {
    /// Name.
    pub name: String,
    /// Arguments between the name and the colon.
    pub arguments: Vec<String>,
    /// Text behind the colon.
    pub value: String,
}

impl Directive {
    /// Returns the first argument as a number.
    pub fn number(&self) -> u64 {
        let text = self.arguments.first().map_or("", String::as_str);
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        parsed.unwrap_or_else(|_| panic!("{}: {text:?} is no number", self.name))
    }

    /// Returns the value as a bit mask of lanes.
    pub fn mask(&self) -> u16 {
        let digits = self.value.strip_prefix("0x").unwrap_or_else(|| panic!("{}: no hexadecimal mask", self.name));
        u16::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{}: {digits} is no mask", self.name))
    }
}

/// Parses a comment. Returns `None` for prose. A comment is a directive if a word in lower case
/// starts it, and only numbers and variances are between the word and a colon.
pub fn directive(comment: &str) -> Option<Result<Directive, String>> {
    let (before, value) = comment.split_once(':')?;
    let mut words = before.split(' ');
    let name = words.next()?.to_owned();
    let arguments: Vec<String> = words.map(str::to_owned).collect();
    let is_argument = |word: &String| {
        word.starts_with(|first: char| first.is_ascii_digit()) || matches!(word.as_str(), "uniform" | "consecutive")
    };
    if !name.chars().all(|c| c.is_ascii_lowercase()) || !arguments.iter().all(is_argument) {
        return None;
    }
    if !NAMES.contains(&name.as_str()) {
        return Some(Err(format!("there is no directive {name:?}")));
    }
    Some(Ok(Directive { name, arguments, value: value.trim().to_owned() }))
}
