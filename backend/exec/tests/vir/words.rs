//! Words as text: integers, floats, and short forms of regular lists.
//!
//! `1 2 ...` continues in steps of 1 up to the wanted number of words, `1 2 ... 9` up to 9, and
//! `7*3` is 7 three times. A number with a point or an exponent is a float, and so are `nan`,
//! `inf` and `-inf`.

/// Largest distance from 0 of integers that are printed as decimals.
const MAX_DECIMAL: u32 = 0xffff;

/// Minimum number of words of a list that the form with `...` replaces.
const MIN_STEPS: usize = 4;

/// Form in which a word is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Signed decimal, or hexadecimal if the number is large.
    Integer,
    /// Shortest decimal that is the float.
    Float,
}

fn is_float(token: &str) -> bool {
    let has_sign_of_float = token.contains(['.', 'e']) && !token.starts_with("0x") && token != "...";
    has_sign_of_float || matches!(token, "nan" | "inf" | "-inf")
}

fn word(token: &str) -> u32 {
    let parsed = if is_float(token) {
        token.parse::<f32>().ok().map(|float| if float.is_nan() { 0x7fc0_0000 } else { float.to_bits() })
    } else if let Some(digits) = token.strip_prefix("0x") {
        u32::from_str_radix(digits, 16).ok()
    } else {
        token.parse::<i64>().ok().map(|number| number as u32)
    };
    parsed.unwrap_or_else(|| panic!("{token:?} is no word"))
}

/// Returns the form in which a list is written.
pub fn form(text: &str) -> Form {
    if text.split_whitespace().any(is_float) { Form::Float } else { Form::Integer }
}

/// Parses a list. `count` is the number of words that an open `...` reaches and that a single word
/// fills.
pub fn parse(text: &str, count: Option<usize>) -> Vec<u32> {
    let mut words: Vec<u32> = Vec::new();
    let mut tokens = text.split_whitespace().peekable();
    while let Some(token) = tokens.next() {
        if let Some((repeated, times)) = token.split_once('*') {
            words.extend(std::iter::repeat_n(word(repeated), times.parse().unwrap()));
        } else if token == "..." {
            let [.., before, last] = words[..] else { panic!("nothing continues in {text:?}") };
            let step = last.wrapping_sub(before);
            let end = tokens.peek().map(|token| word(token));
            let mut next = last.wrapping_add(step);
            while end.map_or(Some(words.len()) < count, |end| next != end) {
                words.push(next);
                next = next.wrapping_add(step);
                assert!(words.len() < 1 << 16, "{text:?} does not end");
            }
        } else {
            words.push(word(token));
        }
    }
    match (count, &words[..]) {
        (Some(count), [single]) => vec![*single; count],
        (Some(count), words) => {
            assert_eq!(words.len(), count, "{text:?} has another number of words");
            words.to_vec()
        }
        (None, _) => words,
    }
}

fn printed(word: u32, form: Form) -> String {
    let float = f32::from_bits(word);
    match form {
        Form::Float if float.is_nan() => "nan".into(),
        Form::Float => format!("{float:?}"),
        Form::Integer if (word as i32).unsigned_abs() <= MAX_DECIMAL => format!("{}", word as i32),
        Form::Integer => format!("{word:#x}"),
    }
}

/// Returns a list as text, in the form that [`parse`] reads. `all` is true for the words of all
/// lanes.
pub fn print(words: &[u32], form: Form, all: bool) -> String {
    let print = |word: &u32| printed(*word, form);
    let step = |pair: &[u32]| pair[1].wrapping_sub(pair[0]);
    if let [first, rest @ ..] = words
        && !rest.is_empty()
        && rest.iter().all(|word| print(word) == print(first))
    {
        return if all { print(first) } else { format!("{}*{}", print(first), words.len()) };
    }
    if form == Form::Integer && words.len() >= MIN_STEPS && words.windows(2).all(|pair| step(pair) == step(words)) {
        let end = if all { String::new() } else { format!(" {}", print(&words[words.len() - 1])) };
        return format!("{} {} ...{end}", print(&words[0]), print(&words[1]));
    }
    words.iter().map(print).collect::<Vec<_>>().join(" ")
}
