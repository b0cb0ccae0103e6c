//! Output of Khronos' runner.
//!
//! A case begins with `Test case 'NAME'..` and ends with two spaces, the status and a description
//! in parentheses, which may span several lines. Source:
//! `framework/common/tcuTestSessionExecutor.cpp` and the statuses of
//! `framework/qphelper/qpTestLog.c` in KhronosGroup/VK-GL-CTS.

use crate::outcome::{Record, Status};
use crate::process::Event;

/// Khronos' statuses.
const STATUSES: &[(&str, Status)] = &[
    ("Pass", Status::Pass),
    ("Fail", Status::Fail),
    ("QualityWarning", Status::Warning),
    ("CompatibilityWarning", Status::Warning),
    ("CapabilityWarning", Status::Warning),
    ("Pending", Status::Fail),
    ("NotSupported", Status::Unsupported),
    ("ResourceError", Status::Fail),
    ("InternalError", Status::Fail),
    ("Crash", Status::Crash),
    ("Timeout", Status::Timeout),
    ("Waiver", Status::Pass),
    ("DeviceLost", Status::Fail),
];

/// Interprets a line.
pub fn parse_line(line: &str) -> Event {
    let line = line.trim_end_matches('\r');
    if let Some(name) = line.strip_prefix("Test case '").and_then(|rest| rest.strip_suffix("'..")) {
        return Event::Begins(name.to_owned());
    }
    if line == "DONE!" || line == "ABORTED!" {
        return Event::Done;
    }
    line.strip_prefix("  ").and_then(result).unwrap_or(Event::Nothing)
}

/// Parses `STATUS (DESCRIPTION)`, whose end may be on another line.
fn result(text: &str) -> Option<Event> {
    let (word, description) = text.split_once(" (")?;
    let description = description.strip_suffix(')').unwrap_or(description);
    if let Some(&(_, status)) = STATUSES.iter().find(|(name, _)| *name == word) {
        return Some(Event::Ends(Record::new(status, message_of(word, status, description))));
    }
    let is_word = word.starts_with(|c: char| c.is_ascii_uppercase()) && word.chars().all(|c| c.is_ascii_alphanumeric());
    is_word.then(|| Event::Unknown(text.to_owned()))
}

/// Returns the description, with Khronos' status before it where ours says less.
fn message_of(word: &str, status: Status, description: &str) -> String {
    match (word, status) {
        ("Pass", _) => String::new(),
        ("Fail", _) | (_, Status::Unsupported) => description.to_owned(),
        _ => format!("{word}: {description}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: Status, message: &str) -> Event {
        Event::Ends(Record::new(status, message))
    }

    #[test]
    fn cases_begin_and_end() {
        assert_eq!(parse_line("Test case 'dEQP-VK.info.build'.."), Event::Begins("dEQP-VK.info.build".into()));
        assert_eq!(parse_line("  Pass (Not validated)"), end(Status::Pass, ""));
        assert_eq!(parse_line("  Fail (image (0) differs)\r"), end(Status::Fail, "image (0) differs"));
        assert_eq!(parse_line("  Fail (first of two lines"), end(Status::Fail, "first of two lines"));
        assert_eq!(parse_line("  NotSupported (no at vkt.cpp:1)"), end(Status::Unsupported, "no at vkt.cpp:1"));
        assert_eq!(parse_line("  DeviceLost (VK)"), end(Status::Fail, "DeviceLost: VK"));
        assert_eq!(parse_line("  InternalError ()"), end(Status::Fail, "InternalError:"));
        assert_eq!((parse_line("DONE!"), parse_line("ABORTED!")), (Event::Done, Event::Done));
    }

    #[test]
    fn every_status_is_one_of_ours() {
        for (word, status) in STATUSES {
            assert!(
                matches!(parse_line(&format!("  {word} (x)")), Event::Ends(record) if record.status == *status),
                "{word}"
            );
        }
    }

    #[test]
    fn other_lines_say_nothing() {
        for line in
            ["", "  target implementation = 'Default'", "  Passed:        1/1 (100.0%)", "Pass (x)", "Test case 'x"]
        {
            assert_eq!(parse_line(line), Event::Nothing, "{line}");
        }
        assert_eq!(parse_line("  Strange (x)"), Event::Unknown("Strange (x)".into()));
    }
}
