//! Reading of a line's tokens.

use super::Value;

/// Maximum for counts in a text, such as the number of values or the words of a local.
const LIMIT: u32 = 1 << 20;

/// Result of parsing a part of a line.
pub(crate) type Result<T> = std::result::Result<T, &'static str>;

/// Splits a line into words and signs. Commas count as spaces.
pub(crate) fn tokens(line: &str) -> Vec<&str> {
    let is_sign = |c: char| matches!(c, '[' | ']' | '(' | ')' | '=' | ':' | '+');
    let mut out = Vec::new();
    for part in line.split(|c: char| c.is_whitespace() || c == ',') {
        let mut rest = part;
        while let Some(at) = rest.find(is_sign) {
            out.extend([&rest[..at], &rest[at..=at]].into_iter().filter(|token| !token.is_empty()));
            rest = &rest[at + 1..];
        }
        out.extend((!rest.is_empty()).then_some(rest));
    }
    out
}

fn unsigned(token: &str) -> Result<u32> {
    let parsed = match token.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => token.parse(),
    };
    parsed.map_err(|_| "not a number")
}

/// Rest of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// Tokens that follow.
    pub rest: &'a [&'a str],
    /// First result of the line's instruction.
    pub result: Value,
    /// Number of results.
    pub results: u32,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at the first of these tokens.
    pub const fn new(rest: &'a [&'a str]) -> Self {
        Self { rest, result: Value(0), results: 0 }
    }

    /// Returns the next token without consuming it.
    pub fn peek(&self) -> Option<&'a str> {
        self.rest.first().copied()
    }

    /// Returns the next token.
    pub fn next(&mut self) -> Result<&'a str> {
        let (first, rest) = self.rest.split_first().ok_or("the line ends early")?;
        self.rest = rest;
        Ok(first)
    }

    /// Consumes a token. Returns false if another one follows.
    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    /// Consumes a sign without its spaces and commas. Returns false if another token follows, or if
    /// no token follows a sign of only spaces and commas.
    pub fn eat_sign(&mut self, sign: &str) -> bool {
        match sign.trim_matches([' ', ',']) {
            "" => !self.rest.is_empty(),
            token => self.eat(token),
        }
    }

    /// Consumes a sign that must follow, without its spaces and commas.
    pub fn sign(&mut self, sign: &str) -> Result<()> {
        let token = sign.trim_matches([' ', ',']);
        if token.is_empty() || self.eat(token) { Ok(()) } else { Err("a sign is missing") }
    }

    /// Parses any 32-bit number.
    pub fn word(&mut self) -> Result<u32> {
        unsigned(self.next()?)
    }

    /// Parses a number below [`LIMIT`] after a prefix.
    pub fn prefixed(&mut self, prefix: &str) -> Result<u32> {
        let number = unsigned(self.next()?.strip_prefix(prefix).ok_or("another kind of operand")?)?;
        if number < LIMIT { Ok(number) } else { Err("a number this large") }
    }

    /// Parses the fields of an image instruction.
    pub fn fields(&mut self) -> Result<Fields<'a>> {
        let mut out = Vec::new();
        while !self.rest.is_empty() {
            let name = self.next()?;
            self.sign("=")?;
            self.sign("(")?;
            let end = self.rest.iter().position(|&token| token == ")").ok_or("a sign is missing")?;
            out.push((name, &self.rest[..end]));
            self.rest = &self.rest[end + 1..];
        }
        Ok(Fields(out))
    }
}

/// Fields of an image instruction, as names and their tokens.
pub(crate) struct Fields<'a>(Vec<(&'a str, &'a [&'a str])>);

impl<'a> Fields<'a> {
    /// Returns the tokens of the field with this name.
    pub fn tokens(&self, name: &str) -> Option<Cursor<'a>> {
        self.0.iter().find(|(field, _)| *field == name).map(|(_, tokens)| Cursor::new(tokens))
    }
}
